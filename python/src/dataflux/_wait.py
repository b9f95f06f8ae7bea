"""The driver of threads: it waits for calls on the thread that makes them. Each thread has a queue of
its own; a signal ends a wait, so that Python's handlers run, and it goes on."""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
from itertools import count, islice, starmap
from operator import attrgetter, methodcaller
from struct import Struct

from ._abi import RECORD_END
from ._calls import FLAGS, INTERRUPTED, RECORD, RECORD_SIZE, SLAB, STATUS, TAG, Call, failure, \
    returned, watched
from ._driver import Body, alone, left
from ._driver import run as run_body
from ._errors import Error, UnauthenticatedError, taken
from ._handles import ErrorHandle, OperationHandle, QueueHandle
from ._library import Size, byref, library, method

unpack = Struct(RECORD).unpack


_ONCE = ((),)  # a call without arguments


class Tags:
    """Numbers, each given once: without the interpreter's lock itertools.count would give one to
    several threads. By one call of C, so that no interrupt comes while the lock is held."""

    def __init__(self):
        self._numbers = count(1)
        self._new_lock()
        os.register_at_fork(after_in_child=self._new_lock)

    def _new_lock(self):
        self._lock = _thread.allocate_lock()

    def __next__(self):
        lock = self._lock
        return list(zip(starmap(lock.acquire, _ONCE), self._numbers, starmap(lock.release, _ONCE)))[0][1]


# The lock may come back when something is imported; it never goes.
_has_lock = getattr(sys, "_is_gil_enabled", None)
tags = count(1) if _has_lock is None or _has_lock() else Tags()


def new_queue():
    queue, error = QueueHandle(), ErrorHandle()
    if library.queue_create(byref(queue), byref(error)):
        raise taken(error)
    queue.error = error  # for Call.start(): a handle for each call would cost more than it does
    return queue


class _Thread(_thread._local):
    """What calls of a thread use, and none uses now: a queue, an empty OperationHandle, and room for a
    record. A signal's handler or a destructor may make calls while another one waits: each has its
    own."""

    def __init__(self):
        self.process = 0

    def ready(self):
        if self.process != _process:
            self.idle = []
            self.process = _process
        return self.idle


def _new_process():
    global _process
    _process = os.getpid()


_process = os.getpid()
_mine = _Thread()
os.register_at_fork(after_in_child=_new_process)


class _Slab(ctypes.c_uint64):
    """What a record has lent: it lies within the record's room. Letting go of it gives that back."""


# Gives back what it is, which 0 is nobody's, and empties it, by one call of C.
_give_back = attrgetter("_given", "_emptied")


def _new_parts():
    queue = new_queue()
    if not hasattr(_Slab, "_given"):
        release = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Slab), Size)(
            ("dataflux_slabs_release", library._loaded), ((1, "slabs"), (1, "count", 1)))
        _Slab._emptied = property(methodcaller("__setattr__", "value", 0))
        _Slab.__del__ = method(_give_back)
        _Slab._given = property(release)
    buffer = ctypes.create_string_buffer(RECORD_SIZE)
    return queue, OperationHandle(), buffer, _Slab.from_buffer(buffer, 8 * SLAB), Size()


class Records:
    """Takes records of a queue of a stream's own, one by one. One thread at a time."""

    __slots__ = ("_queue", "_buffer", "_number")

    def __init__(self, queue):
        self._queue = queue
        self._buffer, self._number = ctypes.create_string_buffer(RECORD_SIZE), Size()

    def take(self, wait_ns):
        """The next one, which left() gives until another is taken; None where none came in that time, or a
        signal did. Below 0: no limit."""
        self._number.value = 0
        status = library.queue_next(self._queue, self._buffer, RECORD_SIZE, 1, wait_ns,
                                    byref(self._number))
        if status and status != INTERRUPTED:
            raise AssertionError(f"dataflux_queue_next: {status}")
        return self.left()

    def left(self):
        return unpack(self._buffer) if self._number.value else None

    def forget(self):
        """It has been gone through."""
        self._number.value = 0


def _record(queue, buffer, number, tag, tick, every_ns):
    """The record with that tag, None = any, which is in the buffer then, too. `tick` is called every so
    often while there is none."""
    count = byref(number)
    while True:
        status = library.queue_next(queue, buffer, RECORD_SIZE, 1, every_ns, count)
        if status == 0 and number.value:
            record = unpack(buffer)
            if (record[TAG] == tag or tag is None) and record[FLAGS] & RECORD_END:
                return record
        elif status == 0:
            if tick is not None:
                tick()
        elif status != INTERRUPTED:
            raise AssertionError(f"dataflux_queue_next: {status}")


def run(client, call, tick=None, every=0.1):
    """Makes a call and gives its value. `tick()` is called every `every` seconds."""
    if call.watch is None:
        return _run_one(client, call, tick, every)
    telling = client._telling(call)
    try:
        value = _run_one(client, call, telling.tick, telling.every)
        telling.feed.catch_up()
        return value
    finally:
        telling.end()


def _run_one(client, call, tick, every):
    idle = _mine.ready()
    parts = idle.pop() if idle else _new_parts()
    queue, operation, buffer, slab, number = parts
    tag = next(tags)
    # However the two are let go of, the operation is freed before what was lent to it.
    operation.call = call
    under_way = client._under_way
    record = None
    try:
        try:
            under_way[tag] = (operation, call)
            call.start(client._handle(), queue, tag, operation)
            record = _record(queue, buffer, number, tag, tick,
                             -1 if tick is None else int(every * 1e9))
            if record[STATUS]:
                raise failure(queue, record)
            return call.value(operation, record)
        finally:
            # Cancels what has not ended, and waits: memory that was lent is the caller's again.
            operation.free()
            _give_back(slab)
            call.ended()
            operation.call = None
            idle.append(parts)
    except BaseException:
        # An interrupt may have come in between: a traceback that is kept must not keep what was lent.
        operation.free()
        call.ended()
        raise
    finally:
        under_way.pop(tag, None)


class Blocking:
    """A client whose calls and bodies are waited for by the thread that makes them."""

    def _run(self, work, progress=None, told=None):
        """Makes a call, or runs a body, and gives what comes of it."""
        try:
            if told is not None:
                watched(work, progress, *told)
            if isinstance(work, Call):
                return self._made(work)
            return run_body(self._made, work)
        except BaseException:
            left(work)
            raise

    def _made(self, call):
        if self._options.source is None:
            return run(self, call)
        handle = self._handle()
        tokens = self._tokens()
        if tokens is None:
            return run(self, call)
        tokens.again(handle)
        try:
            return run(self, call)
        except UnauthenticatedError as error:
            tokens.explain(error)
            raise


class _Together:
    """Bodies, each of which has a call under way on one queue."""

    def __init__(self, client):
        self.client = client
        self.queue = new_queue()
        self.calls = {}  # by tag: (number, body, operation, call)
        self.buffer, self.number = ctypes.create_string_buffer(RECORD_SIZE), Size()

    def go_on(self, number, body):
        """Begins the next call of a body. Where none follows: (number, what it has ended with)."""
        while True:
            try:
                self._begin(number, body, body.step())
                return None
            except BaseException as why:
                if body.fails(why):
                    continue
                if isinstance(why, StopIteration):
                    return number, why.value
                if not isinstance(why, Error):
                    raise
                return number, why.with_traceback(None)  # that has the frame that has all of them

    def _begin(self, number, body, call):
        tag = next(tags)
        operation = OperationHandle()
        operation.call = call  # freed before what was lent to it
        self.calls[tag] = (number, body, operation, call)
        self.client._under_way[tag] = (operation, call)
        try:
            call.start(self.client._handle(), self.queue, tag, operation)
        except BaseException:
            self._end(tag)
            raise

    def _end(self, tag):
        number, body, operation, call = self.calls.pop(tag)
        operation.free()
        call.ended()
        self.client._under_way.pop(tag, None)

    def next(self):
        """Goes on with the body whose call ends next; as go_on()."""
        record = _record(self.queue, self.buffer, self.number, None, None, -1)
        tag = record[TAG]
        number, body, operation, call = self.calls[tag]
        try:
            if record[STATUS]:
                raise failure(self.queue, record)
            body.value = call.value(operation, record)
        except BaseException as why:
            body.fails(why)
        finally:
            operation.free()
            returned(record)
            self._end(tag)
        return self.go_on(number, body)

    def close(self):
        for tag, (_, body, _, _) in list(self.calls.items()):
            self._end(tag)
            body.close()


def run_all(client, works, count, tell=None, at_once=64):
    """Makes so many calls, or runs so many bodies, several at a time on one queue. Gives what each has
    ended with: its value, or the Error. tell(number, outcome) as they end."""
    outcomes, left = [None] * count, count
    numbered = enumerate(works)
    together = _Together(client)
    client._handle_for_stream(together.queue)
    try:
        while left:
            ended = []
            for number, work in islice(numbered, at_once - len(together.calls)):
                body = Body(alone(work) if isinstance(work, Call) else work)
                ended.append(together.go_on(number, body))
            ended = list(filter(None, ended)) or list(filter(None, [together.next()]))
            for number, outcome in ended:
                outcomes[number] = outcome
                left -= 1
                if tell is not None:
                    tell(number, outcome)
        return outcomes
    finally:
        together.close()
