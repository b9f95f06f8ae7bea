"""Reader and AsyncReader: one object, read from anywhere in it by threads, or by tasks."""

from __future__ import annotations

from functools import partial
from operator import methodcaller

from . import _abi, _wait
from ._calls import Call, forget, taker
from ._forms import awaiting, blocking
from ._handles import ErrorHandle, OperationHandle, handle
from ._lent import Lent, new_bytes
from ._library import byref, filled, library, method
from ._place import count_of, nanoseconds, url_of
from ._ranges import Columns, Ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import overload

    from typing_extensions import Buffer, Self

    from ._calls import Caller
    from ._object import Place

ReaderHandle = handle("reader")
take_reader = taker("reader", ReaderHandle)


def opening(bucket, name, generation, block, cache, limit_ns):
    """The call that opens one: it gives a ReaderHandle."""
    options = filled("reader_options", bucket, name, generation, block, cache, limit_ns)
    return Call(lambda client, queue, tag, out, err:
                library.reader_open(client, byref(options), queue, tag, out, err), take_reader)


class Reading:
    """A read that goes on while nobody waits for it. What it fills is kept until it has ended, also
    at the interpreter's end."""

    _gone = int  # what its destructor calls

    def __init__(self, client, begin, lent):
        """begin(out, err) -> status"""
        self._operation = OperationHandle()
        self._client = client
        tag = next(_wait.tags)
        self._gone = partial(client._under_way.pop, tag, None)
        # In whatever order they are let go of, the memory is there until the operation is freed.
        self._operation.call = lent
        client._under_way[tag] = (self._operation, lent)
        error = ErrorHandle()
        try:
            client._checked(begin(byref(self._operation), byref(error)), error)
        except BaseException:
            self.free()
            raise

    def wait(self):
        """Until it has ended. Raises what it failed with."""
        error = ErrorHandle()
        while True:
            status = library.operation_wait(self._operation, -1, byref(error))
            if status == _abi.OK:
                break
            if status != _abi.INTERRUPTED:
                self._client._checked(status, error)
        self._client._checked(library.operation_result(self._operation, byref(error)), error)

    def free(self):
        """Cancels what has not ended. Then the memory is the caller's again."""
        self._operation.free()
        self._gone()

    # Files make one for each stretch that they read ahead: no bytecode runs in it.
    __del__ = method(methodcaller("_gone"))


class OfReader:
    """What a file knows of the reader that it stands on, its `_reader`."""

    _reader: _Body

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return self._reader.url

    @property
    def generation(self) -> int:
        """Of the object: what is read is of this one alone."""
        return self._reader.generation


class _Body:
    """What both readers are: their state, and their verbs, each written once.

    _opened_by   the process that the library's reader belongs to
    """

    _reader = _size = None
    _closed = False
    _opened_by = 0

    def __init__(self, client, url, generation, block, cache, timeout):
        bucket, name, of_place = client._object_place(url)
        self._of_object(client, (bucket, name),
                        (count_of(generation, "generation") or of_place, count_of(block, "block"),
                         count_of(cache, "cache"), nanoseconds(timeout)))

    def _of_object(self, client, place, options):
        self._client, self._of, self._options = client, place, options

    def _opening(self):
        return opening(*self._of, *self._options)

    def _there(self):
        """The library's reader where it is open, as it is for nearly every read; else None, as once it is closed."""
        return self._reader if self._opened_by == _wait._process else None

    async def _opened(self):
        """The library's reader, opened when it is first wanted: of a forked child, and of a pickle,
        again."""
        reader = self._there()  # once: another thread may close it
        if reader is None:
            if self._closed:
                raise ValueError("I/O operation on closed file.")
            reader = await self._opening()
            self._size = library.reader_size(reader)
            self._options = (library.reader_generation(reader), *self._options[1:])
            self._reader = reader
            self._opened_by = _wait._process
            if self._closed:
                self._reader = None
        return reader

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return url_of(*(text.decode() for text in self._of))

    @property
    def size(self) -> int:
        """Bytes of the object."""
        return self._size

    @property
    def generation(self) -> int:
        """Of the object: what is read is of this one alone."""
        return self._options[0]

    @property
    def block(self) -> int:
        """Bytes that a short read brings."""
        return self._options[1] or 1 << 20

    @property
    def closed(self) -> bool:
        """It was closed."""
        return self._closed

    def _filling(self, reader, offset, memory, size, lent):
        """The call that reads into an address, or new bytes."""
        return Call(lambda client, queue, tag, out, err:
                    library.reader_read(reader, offset, memory, size, queue, tag, out, err), None, lent)

    async def _read_at(self, offset: int, size: int) -> bytes:
        """Reads a range into new bytes, without a copy where it is long.

        Arguments:
            offset: of the first byte.
            size: bytes; fewer come where the object ends before.

        Raises: what the service says; DataLossError where bytes are not those that were written.
        Threads, tasks: any number at once.
        """
        offset, size = count_of(offset, "offset"), count_of(size, "size")
        reader = self._there() or await self._opened()
        size = max(0, min(size, self._size - offset))
        if size == 0:
            return b""
        memory = new_bytes(size)
        await self._filling(reader, offset, memory, size, memory)
        return memory

    async def _read_into_at(self, offset: int, buffer: Buffer) -> int:
        """Fills memory with the bytes from `offset` on, without a copy where that is long.

        Arguments:
            offset: of the first byte.
            buffer: anything whose memory can be written and is contiguous: a bytearray, a
                memoryview, an array of numpy.

        Returns: the number of bytes, fewer than there is room for where the object ends before.
        Raises: as read_at(). After a failure the content of the buffer is undefined. A task that is
            cancelled ends when the buffer is in use no more.
        Threads, tasks: any number at once.
        """
        offset = count_of(offset, "offset")
        reader = self._there() or await self._opened()
        with Lent(buffer, "buffer", writable=True) as lent:
            size = max(0, min(lent.size, self._size - offset))
            if size:
                lent.call = self._filling(reader, offset, lent.address, size, lent)
                await lent.call
            return size

    async def _get_ranges(self, ranges: Iterable[tuple[int, int]],
                          into: Sequence[Buffer] | None = None) -> list[bytes] | None:
        """Reads many ranges at once. Short ones that lie close together go by one request.

        Arguments:
            ranges: (offset, size) of each, in any order, overlapping or not.
            into: memory for each, of exactly its size; None = new bytes.

        Returns: the bytes of each, in the order of `ranges`; None with `into`.
        Raises: Error with status "out_of_range" where a range ends behind the object, before
            anything is read. The first failure ends the call. A task that is cancelled ends when the
            buffers are in use no more.
        Threads, tasks: any number at once.
        """
        reader = self._there() or await self._opened()
        with Ranges(ranges) as wanted:
            wanted.lend(into)
            found: list[bytes] | None = await wanted.read(reader)
            return found

    def _forget(self):
        """What was read is damaged: no cache is to give it again."""
        forget(self._client, *self._of, self._options[0])

    def close(self) -> None:
        """Lets go of it. Reads that are under way go on. Again it does nothing."""
        self._closed = True
        # Freed when the last read that has it ends.
        self._reader = None

    def __repr__(self) -> str:
        size = "" if self._size is None else f", {self._size} bytes"
        state = ", closed" if self._closed else ""
        return f"<dataflux.{type(self).__name__} {self.url}{size}{state}>"


class Reader(_Body):
    """An object that was opened to be read from anywhere, by any number of threads at once.

    What is read is of one generation, that which was there when it was opened. In a forked child,
    and made again of a pickle, it opens that generation again when it is first used.

    As soon as all of the object has come it is compared with its checksum: `verified`, or DataLossError
    from then on. Of a set's member each read is compared. Bytes that come again are compared with
    those that came first: DataLossError where they differ, for this read alone once it is verified.

    Made by Client.reader(). It is a context manager; letting go of it closes it, too.
    """

    def __init__(self, client: Caller, url: Place, *, generation: int = 0, block: int = 0,
                 cache: int = 0, timeout: float | None = None) -> None:
        super().__init__(client, url, generation, block, cache, timeout)
        self._handle()

    def _handle(self):
        return self._there() or self._client._run(self._opened())

    @property
    def size(self) -> int:
        """Bytes of the object."""
        if self._size is None:
            self._handle()
        return self._size

    @property
    def generation(self) -> int:
        """Of the object: what is read is of this one alone."""
        if not self._options[0]:
            self._handle()
        return self._options[0]

    @property
    def verified(self) -> bool:
        """What it has read was compared with a checksum, and so is what it reads: all of the object
        has come, or it is a member of a set."""
        return bool(library.reader_verified(self._handle()))

    def _filled(self, offset, memory, size, lent):
        """Reads into an address, or new bytes; waits for it."""
        self._client._run(self._filling(self._handle(), offset, memory, size, lent))

    def begin(self, offset, lent):
        """A Reading into memory that was lent."""
        reader = self._handle()
        return Reading(self._client, lambda out, err: library.reader_read(
            reader, offset, lent.address, lent.size, None, 0, out, err), lent)

    def begin_ranges(self, rows, into, lent):
        """A Reading of ranges, (offset, size) of each, to addresses within what was lent."""
        reader, columns = self._handle(), Columns(rows, into)
        return Reading(self._client, lambda out, err: columns.read(reader, None, 0, out, err), lent)

    read_at = blocking(_Body._read_at)
    read_into_at = blocking(_Body._read_into_at)
    if TYPE_CHECKING:
        @overload
        def get_ranges(self, ranges: Iterable[tuple[int, int]],
                       into: None = None) -> list[bytes]: ...
        @overload
        def get_ranges(self, ranges: Iterable[tuple[int, int]],
                       into: Sequence[Buffer]) -> None: ...

        def get_ranges(self, ranges: Iterable[tuple[int, int]],
                       into: Sequence[Buffer] | None = None) -> list[bytes] | None: ...
    else:
        get_ranges = blocking(_Body._get_ranges)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        if self._closed:
            raise TypeError("a reader that is closed cannot be pickled")
        return _again, (type(self), self._client, self._of, self._options, self._size)


def _again(kind, client, place, options, size):
    made = kind.__new__(kind)
    made._of_object(client, place, options)
    made._size = size
    return made


class AsyncReader(_Body):
    """An object that was opened to be read from anywhere, by any number of tasks at once.

    What is read is of one generation, that which was there when it was opened. A forked child opens
    that generation again when it first reads.

    As soon as all of the object has come it is compared with its checksum: `verified`, or DataLossError
    from then on. Of a set's member each read is compared. Bytes that come again are compared with
    those that came first: DataLossError where they differ, for this read alone once it is verified.

    Made by AsyncClient.reader(), and `async with await client.reader(url) as reader` closes it.
    """

    @property
    def verified(self) -> bool:
        """What it has read was compared with a checksum, and so is what it reads: all of the object
        has come, or it is a member of a set. False in a forked child that has not read."""
        return self._opened_by == _wait._process and bool(library.reader_verified(self._reader))

    read_at = awaiting(_Body._read_at)
    read_into_at = awaiting(_Body._read_into_at)
    if TYPE_CHECKING:
        @overload
        async def get_ranges(self, ranges: Iterable[tuple[int, int]],
                             into: None = None) -> list[bytes]: ...
        @overload
        async def get_ranges(self, ranges: Iterable[tuple[int, int]],
                             into: Sequence[Buffer]) -> None: ...

        async def get_ranges(self, ranges: Iterable[tuple[int, int]],
                             into: Sequence[Buffer] | None = None) -> list[bytes] | None: ...
    else:
        get_ranges = awaiting(_Body._get_ranges)

    async def aclose(self) -> None:
        """The same as close(), which does not wait for anything."""
        self.close()

    async def __aenter__(self) -> Self:
        await self._client._run(self._opened())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("an AsyncReader cannot be pickled: carry url and generation, and open it again")
