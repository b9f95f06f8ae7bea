"""Very many objects, read through one window."""

from __future__ import annotations

import _thread
import ctypes
from itertools import accumulate, islice
from struct import Struct

from . import _abi, _progress, _wait
from ._calls import INTERRUPTED, RECORD, RECORD_SIZE, checked, failure
from ._errors import PreconditionError
from ._handles import ErrorHandle, handle
from ._library import Size, addressof, byref, library, struct
from ._listing import Listing
from ._place import count_of, flag_of, nanoseconds, object_place, one_of
from ._slabs import give_back, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Tuple, Union

    from ._client import Client
    from ._object import Place
    from ._progress import Progress

    # An object; or a range of one: the place, the offset, and the length or None for its end.
    Request = Union[Place, Tuple[Place, int, Union[int, None]]]

GetterHandle = handle("getter")
iter_unpack = Struct(RECORD).iter_unpack
_ORDER = {"asked": _abi.ORDER_AS_ASKED, "ready": _abi.ORDER_AS_READY}
_ON_ERROR = ("raise", "return", "omit")
_WHOLE = 2**64 - 1
_AHEAD = 4096  # requests of an iterable that are taken from it before their items came
_AT_ONCE = 512
_END, _VERIFIED = _abi.RECORD_END, _abi.RECORD_VERIFIED


class Item:
    """The bytes of a request.

    index        which request it answers, from 0 in their order
    data         a memoryview of bytes, which keeps its memory as long as it, or a slice of it, is
                 there; None where the request failed
    generation   of the object
    crc32c       of the bytes
    verified     they are a whole object, and were compared with its checksum
    error        an Error where the request failed, else None
    """

    __slots__ = ("index", "data", "generation", "crc32c", "verified", "error")

    def __init__(self, index: int, data: memoryview, generation: int, crc32c: int, verified: bool,
                 error: BaseException | None = None) -> None:
        self.index = index
        self.data = data
        self.generation = generation
        self.crc32c = crc32c
        self.verified = verified
        self.error = error

    def __repr__(self) -> str:
        if self.error is not None:
            return f"<dataflux.Item {self.index}, {self.error.status}>"
        return f"<dataflux.Item {self.index}, {len(self.data)} bytes>"


class Columns:
    """Requests as the library takes them, of one bucket. They are taken from the iterator when there
    is room for them."""

    def __init__(self, requests):
        self._from = requests
        self.bucket = None
        self._first = []
        self._numbers = None
        self._texts = None
        self._left = 0  # requests of the columns that were not taken yet
        self._at = 0
        # Whose bucket it is has to be known at the beginning.
        for request in self._from:
            self._first.append(self._row(request))
            break
        self.ended = not self._first

    def _row(self, request):
        """(name, generation, offset, length)"""
        offset, length = 0, _WHOLE
        place = request
        if isinstance(request, tuple) and len(request) == 3:
            place, offset, length = request
            offset = count_of(offset, "requests: an offset")
            length = _WHOLE if length is None else count_of(length, "requests: a length")
        bucket, name, generation = object_place(place, "requests")
        if bucket != self.bucket:
            if self.bucket is not None:
                raise ValueError(f"requests: all are of one bucket, and not of {self.bucket.decode()}"
                                 f" and {bucket.decode()}: call get_many() for each")
            self.bucket = bucket
        return name, generation, offset, length

    def push(self, getter, most):
        """Pushes at most so many requests; gives how many were taken."""
        pushed = 0
        while pushed < most:
            if not self._left and not self._take(min(_AT_ONCE, most - pushed)):
                break
            taken, error = Size(), ErrorHandle()
            checked(library.getter_push(getter, byref(self._columns(self._at)), self._left,
                                        byref(taken), byref(error)), error)
            pushed += taken.value
            self._at += taken.value
            self._left -= taken.value
            if self._left:
                break
        return pushed

    def _take(self, most):
        rows = self._first
        self._first = []
        row = self._row
        for request in islice(self._from, most - len(rows)):
            rows.append(row(request))
        if len(rows) < most:
            self.ended = True
        if not rows:
            return False
        count = len(rows)
        names, generations, offsets, lengths = zip(*rows)
        self._texts = b"".join(names)
        self._numbers = (ctypes.c_uint64 * (count + 1))(0, *accumulate(map(len, names)))
        self._more = ((ctypes.c_int64 * count)(*generations), (ctypes.c_uint64 * count)(*offsets),
                      (ctypes.c_uint64 * count)(*lengths))
        self._left, self._at = count, 0
        return True

    def _columns(self, at):
        made = struct("get_columns")
        made.names = ctypes.cast(ctypes.c_char_p(self._texts), ctypes.c_void_p).value
        made.name_offsets = addressof(self._numbers) + 8 * at
        made.generations, made.offsets, made.lengths = (addressof(each) + 8 * at
                                                        for each in self._more)
        return made


class GetMany:
    """The items of many requests, as an iterator of batches: lists of Item, of whatever is there.

    Reads go ahead of the consumer within the client's `memory_cap`. What the consumer has does not
    count: it is his until the last view of it is gone.

    It is a context manager. close(), and letting go of it, ends what is under way. Threads: any
    number take batches from it; each batch goes to one. In a forked child it is PreconditionError;
    items that were taken before are good there.
    """

    _getter = None

    def __init__(self, client: Client, requests: Listing | Iterable[Request], *, order: str,
                 on_error: str, compose: bool, batch: int, timeout: float | None,
                 progress: Progress) -> None:
        one_of(order, "order", _ORDER)
        one_of(on_error, "on_error", _ON_ERROR)
        # More have no use: a batch is what is there.
        self._batch = min(count_of(batch, "batch", 1), _AHEAD)
        options = struct("get_many_options", order=_ORDER[order], compose=flag_of(compose, "compose"),
                         on_error=_abi.ON_ERROR_STOP if on_error == "raise" else
                         _abi.ON_ERROR_ITEM, timeout_ns=nanoseconds(timeout))
        self._on_error = on_error
        self._lock = _thread.allocate_lock()
        self._columns = None
        self._pushed = self._done = self._omitted = 0
        self._ended = False
        self._why = None
        self._process = _wait._process
        self._client = client
        total = listing = rows = None
        if isinstance(requests, Listing):
            total = len(requests)
            bucket = requests.bucket.encode()
            listing, rows = requests._handle, requests._rows
        else:
            try:
                each = None if isinstance(requests, (str, bytes)) else iter(requests)
            except TypeError:
                each = None
            if each is None:
                raise TypeError("requests: a Listing or an iterable of places is needed, and not a "
                                f"{type(requests).__name__}")
            self._columns = Columns(each)
            bucket = self._columns.bucket
            options.feed = 1
            if hasattr(requests, "__len__"):
                total = len(requests)
        self._teller = _progress.of(progress, "get_many", "objects", total)
        if bucket is None:  # nothing is asked for
            self._ended = True
            return
        options.bucket = bucket
        self._queue = _wait.new_queue()
        made, error = GetterHandle(), ErrorHandle()
        numbers, count = _numbers(rows)
        checked(library.get_many(client._handle(), byref(options), listing, numbers, count,
                                 self._queue, 0, byref(made), byref(error)), error)
        self._getter = made

    @property
    def omitted(self) -> int:
        """How many requests have failed and were left out, with on_error="omit"."""
        return self._omitted

    def __iter__(self) -> Iterator[list[Item]]:
        return self

    def __next__(self) -> list[Item]:
        """The next batch: at least one item. Waits for it; a signal ends the wait. Where an exception
        comes between, and items were lost by it, all later ones are PreconditionError."""
        done = self._done
        try:
            while not self._ended:
                items = self._more()
                if items:
                    return items
        except BaseException as why:
            if self._done != done:  # an interrupt came after the items
                self._spoil(why)
            raise
        self.check()
        raise StopIteration

    def items(self) -> Iterator[Item]:
        """All items, one by one."""
        for batch in self:
            yield from batch

    # For AsyncGetMany, which waits in another way.

    @property
    def ended(self) -> bool:
        """No more batches come."""
        return self._ended

    def check(self):
        """Raises where items were lost: a part must not pass for the whole."""
        if self._why is not None:
            raise PreconditionError(f"get_many: {self._why}")

    @property
    def fd(self) -> int:
        """Readable while taken() may give something."""
        number: int = library.queue_fd(self._queue)
        return number

    def taken(self) -> list[Item]:
        """What is there now."""
        return self._more(0)

    def _more(self, wait_ns=-1):
        if self._process != _wait._process:
            raise PreconditionError("get_many: it belongs to the process that began it, and this is "
                                    "a forked child of it")
        give_back()
        getter = self._getter
        if getter is None:
            return ()
        if self._columns is not None:
            self._feed(getter)
        buffer, number = ctypes.create_string_buffer(self._batch * RECORD_SIZE), Size()
        records = None
        try:
            status = library.queue_next(self._queue, buffer, RECORD_SIZE, self._batch, wait_ns,
                                        byref(number))
            if status:
                if status == INTERRUPTED:
                    return ()
                if self._ended:  # another thread has closed it
                    return ()
                raise AssertionError(f"dataflux_queue_next: {status}")
            records = iter_unpack(memoryview(buffer)[:number.value * RECORD_SIZE])
            return self._items(records)
        except BaseException as why:
            if number.value:
                if records is None:
                    records = iter_unpack(memoryview(buffer)[:number.value * RECORD_SIZE])
                for _, _, data, size, slab, *_ in records:
                    view(data, size, slab)  # those that are left go back
                self._spoil(why)
            raise

    def _feed(self, getter):
        """Pushes requests, so that enough are ahead of the items."""
        with self._lock:
            columns = self._columns
            if columns is None or self._pushed - self._done > _AHEAD // 2:
                return
            try:
                self._pushed += columns.push(getter, _AHEAD - (self._pushed - self._done))
            except BaseException:
                self.close()
                raise
            if columns.ended and not columns._left:
                self._columns = None
                library.getter_finish(getter)

    def _items(self, records):
        items = []
        add = items.append
        ended = None
        count = 0
        for _, index, data, size, slab, generation, crc32c, status, flags, error in records:
            if flags & _END:
                ended = (0, 0, 0, 0, 0, 0, 0, status, flags, error)
            elif status:
                count += 1
                if self._on_error == "omit":
                    self._omitted += 1
                elif self._on_error == "return":
                    add(Item(index, None, generation, 0, False,
                             failure(self._queue, (0, 0, 0, 0, 0, 0, 0, status, flags, error))))
            else:
                count += 1
                add(Item(index, view(data, size, slab), generation, crc32c,
                         flags & _VERIFIED != 0))
        self._done += count
        if self._teller is not None:
            self._teller.at(self._done)
        if ended is not None:
            self._end(ended)
        return items

    def _spoil(self, why):
        """An exception comes between the consumer and items that were there: a KeyboardInterrupt, or
        one of `progress`."""
        if not self._ended:
            self._why = (f"items were lost by a {type(why).__name__} that came while they were "
                         "handed over: call get_many() again")
            self.close()

    def _end(self, record):
        """The last record came."""
        self._ended = True
        why = failure(self._queue, record) if record[7] else None
        self._let_go()
        if why is not None:
            raise why

    def _let_go(self):
        getter, self._getter = self._getter, None
        self._columns = None
        if getter is not None:
            getter.free()
            library.queue_close(self._queue)  # whoever waits in another thread is to end
        give_back()
        teller, self._teller = self._teller, None
        if teller is not None:
            teller.end()

    def close(self) -> None:
        """Ends what is under way; no more batches come. Again it does nothing."""
        self._ended = True
        self._let_go()

    def __enter__(self) -> GetMany:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self._getter is not None:
            self.close()

    def __reduce__(self):
        raise TypeError("reads that are under way belong to their process, and cannot be pickled")


def _numbers(rows):
    """Of rows as the library takes them: (memory, count); (None, 0) = all."""
    if rows is None:
        return None, 0
    made = (ctypes.c_uint64 * len(rows)).from_buffer_copy(rows) if not isinstance(rows, range) else \
        (ctypes.c_uint64 * len(rows))(*rows)
    return made, len(rows)


class GetManyVerbs:
    """How a client reads very many objects."""

    def get_many(self, requests: Listing | Iterable[Request], *, order: str = "asked",
                 on_error: str = "raise", compose: bool = False, batch: int = 256,
                 timeout: float | None = None, progress: Progress = None) -> GetMany:
        """Reads many objects, as fast as the service and this machine can.

            for batch in client.get_many(client.list("gs://bucket/train/")):
                for item in batch:
                    use(item.data)

        Arguments:
            requests: a Listing, whose names never pass through Python; or an iterable, which may
                have no end, of places ("gs://bucket/name", (bucket, name), rows), or of (place,
                offset, length), length None = to the end. All are of one bucket.
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
