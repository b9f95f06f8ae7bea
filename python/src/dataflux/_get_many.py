"""Very many objects, read through one window."""

from __future__ import annotations

import _thread
import ctypes
from array import array
from collections import deque
from itertools import chain, islice
from struct import Struct

from . import _abi, _progress, _slabs, _wait
from ._batches import Batches
from ._calls import INTERRUPTED, RECORD, RECORD_SIZE, SLAB, STATUS, checked, failure
from ._errors import PreconditionError, after
from ._handles import ErrorHandle, handle
from ._items import FailedItem, Item
from ._library import Size, byref, library, struct
from ._listing import Listing, RowFeed, Rows
from ._loops import aside
from ._place import count_of, flag_of, nanoseconds, one_of
from ._requests import AHEAD, Requests
from ._slabs import exporter_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from types import EllipsisType
    from typing import Literal

    from ._calls import Caller
    from ._items import Request
    from ._progress import Progress

GetterHandle = handle("getter")
iter_unpack = Struct(RECORD).iter_unpack
_ORDER = {"asked": _abi.ORDER_AS_ASKED, "ready": _abi.ORDER_AS_READY}
_ON_ERROR = {"raise": _abi.ON_ERROR_STOP, "return": _abi.ON_ERROR_ITEM, "omit": _abi.ON_ERROR_ITEM}
_VERIFIED, _END = _abi.RECORD_VERIFIED, _abi.RECORD_END
_AGAIN = 100_000_000  # ns until an iterable that had nothing to ask for is gone on with


class Records:
    """Room for records."""

    __slots__ = ("bytes", "number", "before", "count")

    def __init__(self, queue, most):
        room = bytearray(most * RECORD_SIZE)
        self.bytes = memoryview(room)
        self.number = Size()
        # A type of C for each size would be dear to make, and has cycles.
        self.before = (queue, byref(ctypes.c_char.from_buffer(room)), RECORD_SIZE, most)
        self.count = byref(self.number)

    def taken(self):
        return self.bytes[:self.number.value * RECORD_SIZE]


class _Items:
    """The items of batches. A generator would end after the first failure, as if that were all."""

    def __init__(self, batches):
        self._batches = batches
        self._ready = deque()
        self._process = _wait._process

    def __iter__(self):
        return self

    def __next__(self):
        if self._process != _wait._process:
            self._ready.clear()  # the parent has those
        while True:
            if self._ready:
                try:
                    return self._ready.popleft()
                except IndexError:  # another thread has taken it
                    continue
            if self._batches.ended:
                raise self._batches.why()
            # In C: no interrupt comes between a batch and where it is kept.
            self._ready.extend(chain.from_iterable(islice(self._batches, 1)))


class GetMany:
    """The items of many requests, as an iterator of batches: lists of Item, of whatever is there.

    Reads go ahead of the consumer within the client's `memory_cap`. What the consumer has does not
    count: it is his until the last view of it is gone. So list(client.get_many(...)) is safe where
    all of it has room in memory.

    It is a context manager. close(), and letting go of it, ends what is under way. An exception that
    comes out of it ends it, so that a part never passes for the whole: until close() every next batch
    fails, too, with the same Error, or with PreconditionError where it was none. But after a
    KeyboardInterrupt while it waits it can go on.

    Threads: any number take batches from it. Each batch goes to one; a failure goes to all. In a
    forked child it is PreconditionError; items that were taken before are good there.
    """

    _verb, _unit, _shown_as = "get_many", "objects", "GetMany"
    _getter = _feed = _teller = _process = _listing = _asked = _over = None

    def __init__(self, client: Caller,
                 requests: Listing | Rows | RowFeed | Iterable[Request | EllipsisType], *,
                 order: Literal["asked", "ready"], on_error: Literal["raise", "return", "omit"],
                 compose: bool, batch: int, timeout: float | None,
                 progress: Progress) -> None:
        one_of(order, "order", _ORDER)
        one_of(on_error, "on_error", _ON_ERROR)
        # More have no use: a batch is what is there.
        self._batch = min(count_of(batch, "batch", 1), AHEAD)
        options = struct("get_many_options", order=_ORDER[order], on_error=_ON_ERROR[on_error],
                         compose=flag_of(compose, "compose"), timeout_ns=nanoseconds(timeout))
        self._on_error = on_error
        self._process = _wait._process
        self._client = client
        self._feeding = _thread.allocate_lock()
        self._counting = _thread.allocate_lock()
        self._pushed = self._done = self._omitted = 0
        self._rooms = {}  # by thread
        if isinstance(requests, (Listing, Rows)):
            self._listing = requests
            bucket, total = requests.bucket.encode() if len(requests) else None, len(requests)
        else:
            self._feed = requests if isinstance(requests, RowFeed) else _requests_of(requests, client)
            self._asked = self._feed.asked
            bucket = self._feed.bucket
            total = requests.total if isinstance(requests, RowFeed) else \
                len(requests) if hasattr(requests, "__len__") else None
            options.feed = 1
        self._total = total
        self._teller = _progress.of(progress, self._verb, self._unit, total)
        self._ended = bucket is None  # nothing is asked for
        if bucket is not None:
            told = requests if isinstance(requests, (Listing, Rows, RowFeed)) else None
            options.bucket = client._own_bucket(told, "requests", bucket)[0]
            self._begin(client, options, requests)

    def _begin(self, client, options, listing):
        handle_of, numbers, count = None, None, 0
        if isinstance(listing, (Listing, Rows, RowFeed)):
            handle_of = listing._handle
            if self._feed is None and listing._rows is not None:
                rows = listing._rows
                rows = array("Q", rows) if isinstance(rows, range) else rows
                numbers, count = rows.buffer_info()
        self._queue = _wait.new_queue()
        made, error = GetterHandle(), ErrorHandle()
        made.queue = self._queue  # which lives as long as whoever brings something to it
        checked(library.get_many(client._handle_for_stream(self._queue), byref(options), handle_of,
                                 numbers, count, self._queue, 0, byref(made), byref(error)), error)
        self._getter = made

    @property
    def omitted(self) -> int:
        """How many requests have failed and were left out, with on_error="omit"."""
        return self._omitted

    def __iter__(self) -> Iterator[list[Item]]:
        return self

    def __next__(self) -> list[Item]:
        """The next batch: at least one item. Waits for it; a signal's handler runs meanwhile."""
        while not self._ended:
            items = self._next(-1)
            if items:
                return items
        raise self.why()

    def items(self) -> Iterator[Item]:
        """All items, one by one. Threads and failures are as for batches."""
        return _Items(self)

    # For AsyncGetMany, which waits in another way.

    @property
    def ended(self) -> bool:
        """No more batches come."""
        return self._ended

    @property
    def fd(self) -> int:
        """Readable while taken() may give something."""
        number: int = library.queue_fd(self._queue)
        return number

    def taken(self) -> list[Item] | None:
        """What is there now; None for nothing."""
        return self._next(0) or None

    @property
    def idle(self) -> bool:
        """Nothing is under way that would make fd readable: the iterable is to be gone on with."""
        return self._feed is not None and self._pushed == self._done

    def why(self) -> Exception:
        """What the end of the batches raises."""
        over = self._over
        why: Exception = StopIteration() if over is None else over()
        return why

    def _fill(self):
        """Asks for what there is room for, of an iterable, where nobody waits for items now."""
        while self._push():
            pass

    def _next(self, wait_ns):
        """A batch, which may be empty."""
        if self._process != _wait._process:
            raise PreconditionError(f"{self._verb}: it belongs to the process that began it, and this "
                                    "is a forked child of it")
        records = exporters = None
        going_on = True  # after an interrupt: nothing is lost by it
        try:
            teller = self._teller  # once: another thread may end it
            if teller is not None:
                teller.at(self._done)
            thread = _thread.get_ident()
            records = self._rooms.pop(thread, None) or Records(self._queue, self._batch)
            records.number.value = 0
            exporters = []
            status, more = 0, True
            while more and not records.number.value and not status:
                more, limit_ns = False, wait_ns
                if self._feed is not None:
                    going_on = False
                    more = self._push()
                    going_on = True
                    # Items that are there do not wait for requests.
                    limit_ns = 0 if more else wait_ns and _AGAIN
                status = library.queue_next(*records.before, limit_ns, records.count)
                going_on = False
            if status and status != INTERRUPTED and not self._ended:
                raise AssertionError(f"dataflux_queue_next: {status}")
            items = self._items(records.taken(), exporters) if records.number.value else []
            records.number.value = 0
            self._rooms[thread] = records
            return items
        except BaseException as why:
            if records is not None and records.number.value:
                if not _slabs.lent(exporters):
                    _slabs.hand_back(exporters, [record[SLAB] for record
                                                 in iter_unpack(records.taken())])
                going_on = False
            if not going_on or not isinstance(why, KeyboardInterrupt):
                # First, for others look at it as soon as it has ended.
                self._over = self._over or after(why, f"{self._verb}: items were lost by a "
                                                 f"{type(why).__name__} that ended it: begin another one")
                self._end()
            raise

    def _push(self):
        """Pushes some requests, where few are ahead of the items. Gives whether more are to follow at
        once. One thread does it; others have items to wait for."""
        feed, getter = self._feed, self._getter
        room = AHEAD - (self._pushed - self._done)
        if feed is None or getter is None or room < AHEAD // 2 or not self._feeding.acquire(False):
            return False
        try:
            if self._feed is None:
                return False
            more = feed.push(getter, room)
            self._pushed = feed.pushed
            if feed.finished():
                self._feed = None
                library.getter_finish(getter)
            return more
        finally:
            self._feeding.release()

    def _items(self, taken, exporters):
        """The items of records, whose memory is the exporters' when this ends."""
        items, slabs, counts = [], [], []
        listing, asked, on_error = self._listing, self._asked, self._on_error
        begins = slab_before = last = None
        passed = 0
        for record in iter_unpack(taken):
            _, index, address, size, slab, generation, crc32c, status, flags, _ = record
            if status or flags & _END:
                if flags & _END:
                    last = record
                    continue
                of = asked.pop(index) if listing is None else listing
                if on_error == "return":
                    items.append(FailedItem(index, generation, of, failure(self._queue, record)))
                else:
                    passed += 1
                continue
            if slab != slab_before or address < begins:
                # One call of C: none may be left over, since its end wants what it is lent.
                exporters.extend(map(exporter_at, (address,)))
                memory = memoryview(exporters[-1]).cast("B")
                counts.append(0)
                begins, slab_before = address, slab
            slabs.append(slab)
            counts[-1] += 1
            begin = address - begins
            items.append(Item(index, memory[begin:begin + size], generation, crc32c,
                              flags & _VERIFIED == _VERIFIED,
                              asked.pop(index) if listing is None else listing))
        _slabs.lend(exporters, slabs, counts)
        with self._counting:
            self._done += passed + len(items)
            self._omitted += passed if on_error == "omit" else 0
        if last is not None:
            done = None
            if not last[STATUS]:  # other threads may not have counted theirs yet
                done = self._pushed if listing is None else self._total
            elif not self._ended:
                # It is told after the items that came before it.
                self._over = after(failure(self._queue, last), "")
            self._end(done)
        return items

    def close(self) -> None:
        """Ends what is under way, on all threads; no more batches come, nor what it has failed with.
        Again it does nothing. Any thread, what `progress` calls for one."""
        self._ended = True
        self._over = None  # whoever closes it knows that it is a part
        self._end()

    def _end(self, done=None):
        self._ended = True
        getter, self._getter = self._getter, None
        self._feed = None
        if getter is not None and self._process == _wait._process:
            library.getter_cancel(getter)
            library.queue_close(self._queue)  # whoever waits on another thread is to end
        # Freed now, or by the thread that pushes requests just now.
        del getter
        teller, self._teller = self._teller, None
        if teller is not None:
            teller.end(self._done if done is None else done)

    def __repr__(self) -> str:
        whole = "" if self._total is None else f" of {self._total}"
        return f"<dataflux.{self._shown_as}: {self._done}{whole} items, {'ended' if self._ended else 'under way'}>"

    def __enter__(self) -> GetMany:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if _wait is not None:
            self.close()  # an interrupt may have come into one before

    def __reduce__(self):
        raise TypeError("reads that are under way belong to their process, and cannot be pickled")


class _AsyncItems:
    """The items of batches. A generator would end after the first failure, as if that were all."""

    def __init__(self, batches):
        self._batches = batches
        self._ready = deque()
        self._process = _wait._process

    def __aiter__(self):
        return self

    async def __anext__(self):
        if self._process != _wait._process:
            self._ready.clear()  # the parent has those
        while not self._ready:
            self._ready.extend(await self._batches.__anext__())
        return self._ready.popleft()


class AsyncGetMany(Batches):
    """The items of many requests, as an asynchronous iterator of batches: lists of Item, of whatever
    is there.

    Reads go ahead of the consumer within the client's `memory_cap`. What the consumer has does not
    count: it is his until the last view of it is gone. `async with` ends what is under way; so does
    letting go of it. A failure ends it, too, and until then every next step fails as well, so that a
    part never passes for the whole. One that was cancelled while it waited has lost nothing, and can go on.

    One task at a time takes from it. In a forked child it is PreconditionError.
    """

    if TYPE_CHECKING:
        async def __anext__(self) -> list[Item]: ...

    @property
    def omitted(self) -> int:
        """How many requests have failed and were left out, with on_error="omit"."""
        return self._stream.omitted

    def items(self) -> AsyncIterator[Item]:
        """All items, one by one. Tasks and failures are as for batches."""
        return _AsyncItems(self)

    def close(self) -> None:
        """Ends what is under way; no more batches come, nor what it has failed with. Again it does
        nothing."""
        if self._stream.ended:
            self._stream.close()
        else:
            aside(self._stream.close)  # that waits for milliseconds

    def __del__(self) -> None:
        # Here, for milliseconds, and not on another thread: of a cycle that is collected what that one
        # would use is freed meanwhile.
        if aside is not None and not self._stream.ended:  # the interpreter takes modules apart
            self._stream.close()

    def __reduce__(self):
        raise TypeError("reads that are under way belong to their process, and cannot be pickled")


def first_of(requests):
    """([the first place that tells whose all are], the same requests): of an iterator another one, which gives the
    first again."""
    if isinstance(requests, (list, tuple, str, Listing, Rows, RowFeed, Requests)) or not hasattr(requests, "__iter__"):
        return [requests], requests
    each = iter(requests)
    first = list(islice(each, 1))
    return first, requests if hasattr(requests, "__len__") else chain(first, each)


def _requests_of(requests, client):
    if isinstance(requests, Requests):
        return requests
    try:
        each = None if isinstance(requests, (str, bytes)) else iter(requests)
    except TypeError:
        each = None
    if each is None:
        listed = ": client.list(url) gives the Listing of a prefix" if isinstance(requests, str) else ""
        raise TypeError("requests: a Listing, Rows or an iterable of places is needed, and not a "
                        f"{type(requests).__name__}{listed}")
    return Requests(each, client)


class GetManyVerbs:
    """How a client reads very many objects."""

    def get_many(self, requests: Listing | Rows | RowFeed | Iterable[Request | EllipsisType],
                 *, order: Literal["asked", "ready"] = "asked",
                 on_error: Literal["raise", "return", "omit"] = "raise", compose: bool = False,
                 batch: int = 256, timeout: float | None = None, progress: Progress = None) -> GetMany:
        """Reads many objects, as fast as the service and this machine can.

            for batch in client.get_many(client.list("gs://bucket/train/")):
                for item in batch:
                    use(item.data)

        Arguments:
            requests: a Listing, whose names never pass through Python; or an iterable, which may
                have no end, of places ("gs://bucket/name", (bucket, name), rows), or of (place,
                offset, length), length None = to the end, or of AIStore's (URL, member of an archive).
                All are of one bucket. An iterable is asked for some thousands of requests ahead of
                their items, by whoever asks for a batch: one that waits holds that batch back. Where
                requests come of earlier items, or of other threads, it gives `...` while it has none:
                it is gone on with when the next batch is asked for, or after 0.1 s.
            order: "asked": items come in the order of the requests; "ready": as they are there.
            on_error: "raise": the first request that fails ends all with its error; "return": its
                item has the error, and no data; "omit": it has no item, and is counted.
            compose: runs of small whole objects are composed within the service, and read as one:
                fewer requests, which cost writes.
            batch: most items of a batch.
            timeout: seconds for all of it; None = no limit.
            progress: True for a bar, or a callable.

        Raises: TypeError and ValueError for a bad argument. With on_error="raise" what a request has
            failed with; in any case what ends all: CancelledError, DeadlineError.
        """
        return GetMany(self, requests, order=order, on_error=on_error, compose=compose, batch=batch,
                       timeout=timeout, progress=progress)
