"""AsyncFileReader: an object as a file that a task reads."""

from __future__ import annotations

import ctypes
import io
from errno import EINVAL

from ._async_ahead import AsyncAhead
from ._async_file import AsyncFile
from ._errors import PreconditionError
from ._file_reader import BUFFER, READ_AHEAD
from ._lent import Lent, new_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer, Self

    from ._async_reader import AsyncReader


class _Turn:
    """One task at a time uses a file."""

    __slots__ = ("_busy",)

    def __init__(self):
        self._busy = False

    def __enter__(self):
        if self._busy:
            raise PreconditionError("another task uses the file; one at a time does")
        self._busy = True

    def __exit__(self, *_):
        self._busy = False


class AsyncFileReader(AsyncFile):
    """An object opened for reading, as AsyncClient.open() gives it: lines by `async for`, and
    methods that are those of a binary file and give coroutines.

    It has one generation of the object. Reads in sequence are read ahead; long ones go straight into
    the caller's memory. A read that fails or is cancelled leaves the file where it was, and nothing
    under way.

    One task at a time uses it; read_at(), read_into_at() and get_ranges() any number at once. It
    works in a forked child, which opens that generation again.
    """

    mode = "rb"

    def __init__(self, reader: AsyncReader, read_ahead: int = READ_AHEAD) -> None:
        self._reader = reader
        self._ahead = AsyncAhead(reader, read_ahead)
        self._turn = _Turn()
        self._at = 0
        self._buffer = b""  # bytes of the object from _start on
        self._start = 0

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return self._reader.url

    @property
    def size(self) -> int:
        """Bytes of the object."""
        return self._reader.size

    @property
    def generation(self) -> int:
        """Of the object: what is read is of this one alone."""
        return self._reader.generation

    @property
    def closed(self) -> bool:
        """It was closed."""
        return self._reader.closed

    async def read_at(self, offset: int, size: int) -> bytes:
        """Reads a range, wherever the file is; as AsyncReader.read_at()."""
        return await self._reader.read_at(offset, size)

    async def read_into_at(self, offset: int, buffer: Buffer) -> int:
        """Fills memory, wherever the file is; as AsyncReader.read_into_at()."""
        return await self._reader.read_into_at(offset, buffer)

    async def get_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """Reads many ranges at once, wherever the file is; as AsyncReader.get_ranges()."""
        return await self._reader.get_ranges(ranges)

    def _rest(self, at, size):
        """How many bytes a read of `size` gives there."""
        rest = max(0, self.size - at)
        if size is None:
            return rest
        size = size.__index__()
        return rest if size < 0 else min(size, rest)

    def _buffered(self, at):
        """How many bytes of the buffer there are from `at` on."""
        return max(0, self._start + len(self._buffer) - at) if at >= self._start else 0

    async def _refill(self, at):
        memory = new_bytes(min(BUFFER, self.size - at))
        with Lent(memory) as lent:
            await self._ahead.fill(at, lent.address, lent.size, lambda: memory)
        self._buffer, self._start = memory, at

    async def _bytes(self, at, size):
        """Bytes that are there, wherever the file is."""
        if size <= 0:
            return b""
        have, of = self._buffered(at), at - self._start
        if have >= size:
            return self._buffer[of:of + size]
        if size - have < BUFFER:
            head = self._buffer[of:] if have else b""
            await self._refill(at + have)
            return head + self._buffer[:size - have]
        memory = new_bytes(size)
        with Lent(memory) as lent:
            await self._fill(at, lent, have, lambda: memory)
        return memory

    async def _fill(self, at, lent, have, lend):
        if have:
            ctypes.memmove(lent.address, self._buffer[at - self._start:], have)
        await self._ahead.fill(at + have, lent.address + have, lent.size - have, lend)

    async def _line(self, at, limit):
        parts = []
        while limit > 0:
            if not self._buffered(at):
                await self._refill(at)
            begin = at - self._start
            end = self._buffer.find(b"\n", begin, begin + limit) + 1
            piece = self._buffer[begin:end or begin + limit]
            parts.append(piece)
            at += len(piece)
            limit = 0 if end else limit - len(piece)
        return b"".join(parts)

    async def read(self, size: int | None = -1) -> bytes:
        """Reads `size` bytes, fewer only at the end; all of the rest for None and what is less than
        0."""
        with self._turn:
            self._check()
            data = await self._bytes(self._at, self._rest(self._at, size))
            self._at += len(data)
            return data

    async def read1(self, size: int = -1) -> bytes:
        """Reads what is there already, and some 128 KiB where nothing is; at most `size` bytes."""
        with self._turn:
            self._check()
            limit = self._buffered(self._at) or BUFFER
            data = await self._bytes(self._at, min(limit, self._rest(self._at, size)))
            self._at += len(data)
            return data

    async def readinto(self, buffer: Buffer) -> int:
        """Fills memory, as much of it as there are bytes, and gives their number. Cancelled, it ends
        when the memory is in use no more."""
        with self._turn, Lent(buffer, "buffer", writable=True) as lent:
            self._check()
            lent.size = size = self._rest(self._at, lent.size)
            have = min(size, self._buffered(self._at))
            if size - have < BUFFER:
                ctypes.memmove(lent.address, await self._bytes(self._at, size), size)
            else:
                await self._fill(self._at, lent, have,
                                 lambda: Lent(buffer, "buffer", writable=True))
            self._at += size
            return size

    async def readline(self, size: int | None = -1) -> bytes:
        """Reads to the end of a line, at most `size` bytes. b"" at the end of the object."""
        with self._turn:
            self._check()
            line = await self._line(self._at, self._rest(self._at, size))
            self._at += len(line)
            return line

    async def readlines(self, hint: int | None = -1) -> list[bytes]:
        """Reads lines to the end, or until they have `hint` bytes together."""
        lines, at = [], self._at
        with self._turn:
            self._check()
            while line := await self._line(at, self.size - at):
                lines.append(line)
                at += len(line)
                if hint is not None and 0 < hint <= at - self._at:
                    break
            self._at = at
            return lines

    def __aiter__(self) -> Self:
        self._check()
        return self

    async def __anext__(self) -> bytes:
        line = await self.readline()
        if not line:
            raise StopAsyncIteration
        return line

    async def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a place, and gives it; sends nothing. It may be behind the end."""
        self._check()
        offset = offset.__index__()
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError(f"whence: {whence!r} is none of 0, 1 and 2")
        at = offset + (0, self._at, self.size)[whence]
        if at < 0:
            raise OSError(EINVAL, f"offset: {offset} is before the first byte", self.url)
        with self._turn:
            self._at = at
        return at

    async def tell(self) -> int:
        """Where it is."""
        self._check()
        return self._at

    async def close(self) -> None:
        """Closes it, and ends what was read ahead. It does not wait. Again it does nothing."""
        self._ahead.drop()
        self._reader.close()
        self._buffer = b""

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"at {self._at} of {self.size} bytes"
        return f"<dataflux.AsyncFileReader {self.url}, {state}>"
