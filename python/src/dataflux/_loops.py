"""The driver of event loops: each has a queue, whose descriptor it watches.

An operation that its task has let go of, being cancelled, is kept with the memory that it was lent
until its record comes: freeing it before waits, and an event loop must not.
"""

from __future__ import annotations

import _thread
import ctypes
import sys
from struct import Struct

from . import _threads, _wait
from ._abi import RECORD_END
from ._calls import FLAGS, RECORD, RECORD_SIZE, STATUS, TAG, failure, returned
from ._handles import OperationHandle
from ._library import Size, byref, library
from ._wait import new_queue, tags

BATCH = 64  # records that are taken at a time
THREADS = 40  # that an event loop uses at a time: each has a queue, and so a descriptor
AGAIN = 0.05  # seconds after which a thread that has not stopped is told again
_CATCH_UP = 1000  # milliseconds that the last counts of a call may take to be known
iter_unpack = Struct(RECORD).iter_unpack


class Loop:
    """What all frameworks have in common. It has:

    waiting  by tag: who waits for a record, as wake() wants it; None = nobody at the moment
    came     by tag: records that whoever waits has not seen yet
    left     by tag: (client, operation, call) that nobody waits for any more

    All is touched by the thread of the event loop alone. A KeyboardInterrupt may come anywhere: the
    records of the batch at hand are gone through again then, so nothing here minds a second time.
    """

    left = None
    gone = False  # its destructor has run: of a cycle that is collected, before that of its tasks perhaps

    def __init__(self):
        self.queue = new_queue()
        self.process = _wait._process
        self.fd = library.queue_fd(self.queue)
        self.waiting = {}
        self.came = {}
        self.left = {}
        self._idle = []  # operations that are empty
        self._buffer = ctypes.create_string_buffer(BATCH * RECORD_SIZE)
        self._views = memoryview(self._buffer).cast("B")
        self._number = Size()
        self._arguments = (self.queue, self._buffer, RECORD_SIZE, BATCH, 0, byref(self._number))

    # Of a framework: wake(who); record(tag), an awaitable that ends when the record came;
    # within(tag, seconds), whether it came in that time;
    # settled(tag), the same, which being cancelled does not end; readable(fd); turn(seconds), which
    # lets other tasks run; shielded(function, limit), which a task that is cancelled can await;
    # threads, one of so many for an `async with`; bell(), an event, and what sets it from any thread;
    # silent(event, stop), which calls stop() until it is set, and which being cancelled does not end.

    def drain(self):
        """Hands out records that are there, at most a batch; the descriptor stays readable as long
        as there are more. Never waits."""
        number = self._number
        if not number.value:
            status = library.queue_next(*self._arguments)
            if status:
                raise AssertionError(f"dataflux_queue_next: {status}")
        waiting, came = self.waiting, self.came
        for record in iter_unpack(self._views[:number.value * RECORD_SIZE]):
            if not record[FLAGS] & RECORD_END:
                continue  # of a part of a call, whose end is what counts
            tag = record[TAG]
            if tag in waiting:
                came[tag] = record
                self.wake(waiting[tag])
                del waiting[tag]
            elif tag in self.left:
                entry = self.left.pop(tag)
                forget(tag, entry, record)
        number.value = 0

    def unread(self):
        """Records were taken from the queue, and not yet gone through: an exception came between."""
        return self._number.value != 0

    def run(self, client, call):
        """Makes a call and gives its value: a coroutine."""
        if call.watch is None:
            return self._run_one(client, call, None, 0)
        return self._run_telling(client, call)

    async def _run_telling(self, client, call):
        telling = client._telling(call)
        try:
            value = await self._run_one(client, call, telling.tick, telling.every)
            for _ in range(_CATCH_UP):
                if not telling.feed.behind():
                    break
                await self.turn(0.001)
            return value
        finally:
            telling.end()

    async def _run_one(self, client, call, tick, every):
        """Makes a call and gives its value. `tick()` is called every `every` seconds."""
        idle = self._idle
        tag = next(tags)
        operation = idle.pop() if idle else OperationHandle()
        # In whatever order they are let go of, what was lent is there until the operation is
        # freed.
        operation.call = call
        self.waiting[tag] = None
        client._under_way[tag] = (operation, call)
        try:
            call.start(client._handle(), self.queue, tag, operation)
            if tick is None:
                await self.record(tag)
            else:
                while not await self.within(tag, every):
                    tick()
            record = self.came.pop(tag)
        except BaseException as why:
            await self._given_up(client, tag, operation, call, why)
            raise
        try:
            if record[STATUS]:
                raise failure(self.queue, record)
            return call.value(operation, record)
        finally:
            operation.free()
            returned(record)
            call.ended()
            client._under_way.pop(tag, None)
            operation.call = None
            idle.append(operation)

    async def _given_up(self, client, tag, operation, call, why):
        """An exception has come before the record: cancellation, for one."""
        if not operation:  # it was not begun
            self.waiting.pop(tag, None)
            client._under_way.pop(tag, None)
            call.ended()
            return
        library.operation_cancel(operation)
        self.leave(tag, (client, operation, call))
        # Memory that was lent is the caller's again when this ends. A coroutine that is being closed
        # cannot wait: then it is kept.
        if call.lent is not None and not isinstance(why, GeneratorExit):
            await self.ended(tag)

    async def told(self, ask):
        """Waits for the record that ask(queue, tag) makes come. Cancelled, it is passed over."""
        tag = next(tags)
        self.waiting[tag] = None
        try:
            ask(self.queue, tag)
            await self.record(tag)
        finally:
            self.waiting.pop(tag, None)
            self.came.pop(tag, None)

    async def on_thread(self, function, stop):
        """What a function gives, which is called on one of a few threads. Cancelled, it calls stop() until
        the thread has done with it; a coroutine that is being closed cannot wait, and calls it once."""
        async with self.threads:
            ended, ring = self.bell()
            outcome, claim = [], _thread.allocate_lock()
            try:
                _threads.use(_on_thread, function, outcome, claim, ring)
                await ended.wait()
                value, error = outcome[0]
            except BaseException as why:
                stop()
                # Where no thread has begun with it none will.
                if not (claim.acquire(False) or isinstance(why, GeneratorExit)):
                    await self.silent(ended, stop)
                raise
            finally:
                outcome.clear()  # an exception has the frame that has it
        try:
            if error is not None:
                raise error
            return value
        finally:
            del error

    def leave(self, tag, entry):
        """Nobody waits for it any more. Its record may be there already."""
        record = self.came.pop(tag, None)
        if record is None and self.gone:
            self.waiting.pop(tag, None)
            self._free_aside({tag: entry})
        elif record is None:
            self.left[tag] = entry
            self.waiting.pop(tag, None)
        else:
            forget(tag, entry, record)

    async def ended(self, tag, settled=None):
        """Waits until what nobody waits for has ended."""
        entry = self.left.get(tag)
        if entry is None:
            return
        self.waiting[tag] = None
        del self.left[tag]
        try:
            await (settled or self.settled)(tag)
        finally:
            self.leave(tag, entry)

    async def all_ended(self, client):
        """Waits until all of a client has ended that nobody waits for."""
        for tag in [tag for tag, entry in self.left.items() if entry[0] is client]:
            await self.ended(tag, self.record)

    def _free_aside(self, left):
        if left and _wait is not None and self.process == _wait._process:
            aside(free_all, {tag: (client, operation.moved(), call)
                             for tag, (client, operation, call) in left.items()})

    def __del__(self):
        self.gone = True
        self._free_aside(self.left)


def _on_thread(function, outcome, claim, ring):
    if not claim.acquire(False):
        return
    try:
        outcome.append((function(), None))
    except BaseException as why:
        outcome.append((None, why))
    try:
        ring()
    except RuntimeError:
        pass  # the event loop is closed


def forget(tag, entry, record):
    """Frees what has ended, and what it gave."""
    client, operation, call = entry
    client._under_way.pop(tag, None)
    returned(record)
    call.ended()
    if record[STATUS]:
        operation.free()
    else:  # it may have made something whose end takes requests, such as a writer
        aside(operation.free)


def free_all(left):
    for tag, (client, operation, call) in left.items():
        operation.free()
        call.ended()
        client._under_way.pop(tag, None)


def aside(function, *arguments):
    """Calls what may wait on a thread of its own."""
    try:
        _threads.begin(function, *arguments)
    except RuntimeError:  # no more threads, or the interpreter ends
        function(*arguments)


_of_asyncio = None  # of _loop_asyncio, once an event loop of asyncio was met


def current():
    """That of the event loop that runs on this thread."""
    modules = sys.modules
    asyncio = modules.get("asyncio")
    loop = asyncio._get_running_loop() if asyncio is not None else None
    # Of two frameworks on one thread, one as the guest of the other, it is that whose task this is.
    if "trio" in modules and (loop is None or asyncio.current_task(loop) is None):
        from ._loop_trio import of_task
        found = of_task()
        if found is not None:
            return found
    if loop is not None:
        return (_of_asyncio or _met_asyncio())(loop)
    raise RuntimeError("an AsyncClient is for a running event loop, of asyncio or trio, and there is "
                       "none: dataflux.Client is the same for programs without one")


def _met_asyncio():
    global _of_asyncio
    from ._loop_asyncio import of

    _of_asyncio = of
    return of
