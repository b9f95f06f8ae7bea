"""AsyncReader: one object, read from anywhere in it by tasks."""

from __future__ import annotations

from . import _wait
from ._calls import Call
from ._lent import Lent, new_bytes
from ._library import library
from ._place import count_of, nanoseconds, object_place, url_of
from ._ranges import Ranges
from ._reader import opening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import overload

    from typing_extensions import Buffer, Self

    from ._aio import AsyncClient
    from ._object import Place


class AsyncReader:
    """An object that was opened to be read from anywhere, by any number of tasks at once.

    What is read is of one generation, that which was there when it was opened. A forked child opens
    that generation again when it first reads.

    As soon as all of the object has come it is compared with its checksum: `verified`, or DataLossError
    from then on. Of a set's member each read is compared. Bytes that come again are compared with
    those that came first: DataLossError where they differ, for this read alone once it is verified.

    Made by AsyncClient.reader(), and `async with await client.reader(url) as reader` closes it.
    """

    def __init__(self, client: AsyncClient, url: Place, generation: int, block: int, cache: int,
                 timeout: float | None) -> None:
        bucket, name, of_place = object_place(url)
        self._of = bucket, name
        self._client = client
        self._options = (count_of(generation, "generation") or of_place, count_of(block, "block"),
                         count_of(cache, "cache"), nanoseconds(timeout))
        self._closed = False
        self._process = 0

    def _opening(self):
        return opening(*self._of, *self._options)

    async def _handle(self):
        if self._closed:
            raise ValueError("I/O operation on closed file.")
        if self._process != _wait._process:
            made = await self._client._run(self._opening())
            self._size = library.reader_size(made)
            self._options = (library.reader_generation(made), *self._options[1:])
            self._reader = made
            self._process = _wait._process
        return self._reader

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
    def verified(self) -> bool:
        """What it has read was compared with a checksum, and so is what it reads: all of the object
        has come, or it is a member of a set. False in a forked child that has not read."""
        return self._process == _wait._process and bool(library.reader_verified(self._reader))

    @property
    def block(self) -> int:
        """Bytes that a short read brings."""
        return self._options[1] or 1 << 20

    @property
    def closed(self) -> bool:
        """It was closed."""
        return self._closed

    async def read_at(self, offset: int, size: int) -> bytes:
        """Reads a range into new bytes, without a copy where it is long.

        Arguments:
            offset: of the first byte.
            size: bytes; fewer come where the object ends before.

        Raises: what the service says; DataLossError where bytes are not those that were written.
        """
        offset, size = count_of(offset, "offset"), count_of(size, "size")
        reader = await self._handle()
        size = max(0, min(size, self._size - offset))
        memory = new_bytes(size)
        if size:
            await self._filled(reader, offset, memory, size, memory)
        return memory

    async def read_into_at(self, offset: int, buffer: Buffer) -> int:
        """Fills memory with the bytes from `offset` on, without a copy where that is long.

        Arguments:
            offset: of the first byte.
            buffer: anything whose memory can be written and is contiguous: a bytearray, a
                memoryview, an array of numpy.

        Returns: the number of bytes, fewer than there is room for where the object ends before.
        Raises: as read_at(). After a failure the content of the buffer is undefined. Cancelled, it
            ends when the buffer is in use no more.
        """
        offset = count_of(offset, "offset")
        reader = await self._handle()
        lent = Lent(buffer, "buffer", writable=True)
        size = max(0, min(lent.size, self._size - offset))
        if size:
            await self._filled(reader, offset, lent.address, size, lent)
        else:
            lent.release()
        return size

    def _filled(self, reader, offset, memory, size, lent):
        return self._client._run(Call(
            lambda client, queue, tag, out, err:
                library.reader_read(reader, offset, memory, size, queue, tag, out, err),
            None, lent))

    if TYPE_CHECKING:
        @overload
        async def get_ranges(self, ranges: Iterable[tuple[int, int]],
                             into: None = None) -> list[bytes]: ...
        @overload
        async def get_ranges(self, ranges: Iterable[tuple[int, int]],
                             into: Sequence[Buffer]) -> None: ...

    async def get_ranges(self, ranges: Iterable[tuple[int, int]],
                         into: Sequence[Buffer] | None = None) -> list[bytes] | None:
        """Reads many ranges at once. Short ones that lie close together go by one request.

        Arguments:
            ranges: (offset, size) of each, in any order, overlapping or not.
            into: memory for each, of exactly its size; None = new bytes.

        Returns: the bytes of each, in the order of `ranges`; None with `into`.
        Raises: Error with status "out_of_range" where a range ends behind the object, before
            anything is read. The first failure ends the call.
        """
        reader = await self._handle()
        found: list[bytes] | None = await self._client._run(Ranges(ranges, into).read(reader))
        return found

    def close(self) -> None:
        """Lets go of it. Reads that are under way go on. Again it does nothing."""
        self._closed = True
        self._reader = None

    async def aclose(self) -> None:
        """The same as close(), which does not wait for anything."""
        self.close()

    async def __aenter__(self) -> Self:
        await self._handle()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("an AsyncReader cannot be pickled: carry url and generation, and open it again")

    def __repr__(self) -> str:
        state = ", closed" if self._closed else ""
        return f"<dataflux.AsyncReader {self.url}{state}>"
