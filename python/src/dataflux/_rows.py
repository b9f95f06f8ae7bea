"""Batches of rows, which arrive in memory of the caller's: what torch's loader stands on.

Python does nothing for a row, and once a batch: a push, and a record of the queue. A row that failed has
a record of its own, before its batch's.
"""

from __future__ import annotations

import _thread
import ctypes
from array import array
from collections import deque
from struct import Struct
from time import monotonic

from . import _abi, _wait
from ._calls import FLAGS, INDEX, INTERRUPTED, RECORD, RECORD_SIZE, SIZE, STATUS, checked, failure
from ._errors import PreconditionError, after
from ._get_many import Records
from ._handles import ErrorHandle, handle
from ._library import byref, library, struct
from ._place import nanoseconds, one_of
from ._shards import ShardIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ._calls import Caller
    from ._errors import Error
    from ._listing import Listing
    from ._lent import Bytes

BatchGetterHandle = handle("batch_getter")
_unpack = Struct(RECORD).unpack_from
_ON_ERROR = {"raise": _abi.ON_ERROR_STOP, "item": _abi.ON_ERROR_ITEM}
_AT_ONCE = 64  # records
_NONE = 2**64 - 1  # the number of what was not pushed


class Batch:
    """A batch that is complete.

    number     from 0, in the order of the pushes
    sizes      array("Q"): the bytes of each row; 0 for one that was refused
    failures   [(its place in the batch, Error)]: the rows that failed, in no order. What lies in their
               memory is not specified.
    verified   all other rows were compared with a checksum
    """

    __slots__ = ("number", "sizes", "failures", "verified")

    number: int
    sizes: array[int]
    failures: list[tuple[int, Error]]
    verified: bool

    def __init__(self, number, sizes, failures, verified):
        self.number = number
        self.sizes = sizes
        self.failures = failures
        self.verified = verified


class RowStream:
    """Batches that are received in the caller's memory: rows of a listing, or samples of an index, by number.

    Memory of a batch is lent from push() until next() has given that batch, or close() has returned. It has
    to stay until then: where `owner` is told, the stream keeps that.

    on_error: "item": a row that failed is told by its batch; "raise": it ends the stream.

    Threads: one at a time; close() from any. In a forked child it is PreconditionError.
    """

    _getter = None

    def __init__(self, client: Caller, bucket: str | None, listing: Listing | ShardIndex, *,
                 on_error: Literal["raise", "item"] = "item", compose: bool = False,
                 timeout: float | None = None) -> None:
        one_of(on_error, "on_error", _ON_ERROR)
        self._process = _wait._process
        self._client = client
        self._listing = listing  # which the index's handle is of
        self._index = listing._handle if isinstance(listing, ShardIndex) else None
        self._lock = _thread.RLock()  # a signal's handler may close it, too
        self._closed = False
        self._over = None
        self._open = deque()  # (number, sizes, owner) of each batch that was pushed and not given
        self._failures = {}  # of the next batch, by place in it
        bucket = (listing.bucket if bucket is None else bucket).encode()
        options = struct("get_many_options", bucket=client._own_bucket(listing, "listing", bucket)[0],
                         on_error=_ON_ERROR[on_error], compose=int(compose), timeout_ns=nanoseconds(timeout))
        self._queue = queue = _wait.new_queue()
        self._records, self._at = Records(queue, _AT_ONCE), 0  # those that were gone through
        getter, error = BatchGetterHandle(), ErrorHandle()
        getter.queue = queue  # which lives as long as whoever brings something to it
        self._tag = next(_wait.tags)
        checked(library.get_batches(client._handle_for_stream(queue), byref(options),
                                    None if self._index else listing._handle, queue, 0, byref(getter),
                                    byref(error)), error)
        self._getter = getter
        client._under_way[self._tag] = getter, self._open

    def push(self, rows: array[int] | Bytes, address: int, size: int, offsets: array[int] | Bytes | None = None,
             *, stride: int | None = None, owner: Any = None) -> int:
        """Begins a batch, and gives its number. Does not wait.

        Arguments:
            rows: numbers, as an array("Q") or any memory of uint64.
            address, size: of the memory.
            offsets: where each row begins, ascending. The room of a row ends where the next one begins:
                a row with more bytes fails with OUT_OF_RANGE.
            stride: in place of offsets, row i begins at i * stride; None = size // len(rows).
            owner: what is kept as long as the memory is lent.

        Raises: InvalidArgumentError for offsets that descend or leave the memory; PreconditionError behind
            finish() or close(); with an index, what its samples fail with; what has ended the stream.
        """
        self._check()
        rows = _numbers(rows)
        sizes = array("Q", bytes(8 * len(rows)))
        batch = struct("batch", count=len(rows), numbers=rows.buffer_info()[0], index=self._index and self._index.value,
                       data=address, size=size, stride=stride, sizes=sizes.buffer_info()[0])
        if offsets is not None:
            offsets = _numbers(offsets)
            if len(offsets) != len(rows):
                raise ValueError(f"offsets: {len(offsets)} for {len(rows)} rows")
            batch.offsets = offsets.buffer_info()[0]
        number, error = ctypes.c_uint64(_NONE), ErrorHandle()
        with self._lock:
            self._check()
            # Before the call, since an interrupt may come behind it: what has a number was pushed.
            self._open.append((number, sizes, owner))
            status = library.batch_getter_push(self._getter, byref(batch), byref(number), byref(error))
            if status:
                self._open.pop()
        self._client._checked(status, error)
        return number.value

    def next(self, timeout: float | None = None) -> Batch | None:
        """The next batch in the order of the pushes; None where finish() was called and all were given. Waits
        for it; a signal's handler runs meanwhile, and what that raises loses nothing.

        Raises: TimeoutError where none is complete within so many seconds: it may be called again.
            PreconditionError after close(). What has ended the stream, each time: DeadlineError,
            CancelledError; with on_error="raise" what a row failed with.
        """
        self._check()
        until = None if timeout is None else monotonic() + timeout
        while True:
            while self._at < self._records.number.value:
                record = _unpack(self._records.bytes, self._at * RECORD_SIZE)
                if record[FLAGS] & _abi.RECORD_END:
                    self._check()  # close() cancels first: its waiter may be here before the queue is closed
                    return self._end_of(record)  # which stays
                if not record[FLAGS] & _abi.RECORD_ROW:
                    return self._given(record)
                # The same again, should an interrupt come before the next line.
                self._failures[record[SIZE]] = failure(self._queue, record)
                self._at += 1
            self._fetch(until, timeout)

    def _fetch(self, until, timeout):
        self._records.number.value = self._at = 0
        wait_ns = -1 if until is None else max(0, int((until - monotonic()) * 1e9))
        status = library.queue_next(*self._records.before, wait_ns, self._records.count)
        if status and status != INTERRUPTED:
            self._check()
            raise AssertionError(f"dataflux_queue_next: {status}")
        if not self._records.number.value and not status and until is not None and monotonic() >= until:
            raise TimeoutError(f"no batch is complete within {timeout} seconds")

    def _given(self, record):
        with self._lock:
            self._check()
            while self._open[0][0].value != record[INDEX]:
                self._open.popleft()  # an interrupt came before its push
            number, sizes, _ = self._open[0]
            batch = Batch(number.value, sizes, list(self._failures.items()),
                          record[FLAGS] & _abi.RECORD_VERIFIED != 0)
            self._failures = {}
            self._open.popleft()
            self._at += 1
        return batch

    def _end_of(self, record):
        if not record[STATUS]:
            return None
        if self._over is None:
            self._over = after(failure(self._queue, record), "")
        raise self._over()

    def finish(self) -> None:
        """No more is pushed. Batches that were are still read."""
        self._check()
        with self._lock:
            library.batch_getter_finish(self._getter)

    def close(self) -> None:
        """Ends what is under way, and waits until nothing is written into memory of its batches any more:
        milliseconds. Again it does nothing. Any thread."""
        if self._getter is None or self._process != _wait._process:
            return
        self._closed = True
        with self._lock:
            library.batch_getter_cancel(self._getter)
            library.queue_close(self._queue)  # whoever waits on another thread is to end
            self._getter.free()
            self._open.clear()
        self._client._under_way.pop(self._tag, None)

    def _check(self):
        if self._process != _wait._process:
            raise PreconditionError("a stream of batches belongs to the process that began it, and this is a "
                                    "forked child of it")
        if self._closed:
            raise PreconditionError("the stream of batches is closed: begin another one")

    def __enter__(self) -> RowStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if _wait is not None:
            self.close()

    def __repr__(self) -> str:
        return f"<dataflux.RowStream of {self._listing!r}: {len(self._open)} batches pushed and not given>"

    def __reduce__(self):
        raise TypeError("reads that are under way belong to their process, and cannot be pickled")


def _numbers(rows):
    """An array("Q") of what has uint64 in its memory."""
    if type(rows) is array and rows.typecode == "Q":
        return rows
    view = memoryview(rows)
    if view.ndim != 1 or not view.contiguous or view.format not in ("Q", "L"):
        raise TypeError(f"rows: numbers as uint64 are needed, and not a {type(rows).__name__} of {view.format}")
    numbers = array("Q")
    numbers.frombytes(view.cast("B"))
    return numbers
