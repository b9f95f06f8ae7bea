"""Objects as text that tasks read and write."""

from __future__ import annotations

import codecs
import io

from ._async_file import AsyncFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

    from ._async_file import AsyncFileWriter
    from ._async_file_reader import AsyncFileReader
    from ._object import Object

_CHUNK = 8 << 10  # bytes that are decoded at a time: tell() goes through them again


class TextKind:
    """Encoding, errors and newline as the built-in open() has them.

    Raises: what that raises: LookupError, ValueError.
    """

    def __init__(self, encoding, errors, newline):
        self._sink = io.BytesIO()
        self._encoder = io.TextIOWrapper(self._sink, encoding or "utf-8", errors, newline)
        self.encoding = self._encoder.encoding
        self.errors = self._encoder.errors
        self.newline = newline

    def encoded(self, text):
        """The bytes of what is written behind what was written before."""
        sink = self._sink
        written = self._encoder.write(text)
        self._encoder.flush()
        data = sink.getvalue()
        sink.seek(0)
        sink.truncate()
        return data, written

    def decoder(self):
        made = codecs.getincrementaldecoder(self.encoding)(self.errors)
        if self.newline:
            return made
        return io.IncrementalNewlineDecoder(made, translate=self.newline is None)


class AsyncTextFileReader(AsyncFile):
    """An object opened for reading text, as AsyncClient.open() gives it: lines by `async for`, and
    methods that are those of a text file and give coroutines.

    A read that fails or is cancelled leaves the file where it was. One task at a time uses it.
    """

    def __init__(self, file: AsyncFileReader, kind: TextKind, mode: str = "r") -> None:
        self.mode = mode
        self._file = file
        self._kind = kind
        self._decoder = kind.decoder()
        self._at = 0              # of the bytes that are decoded next
        self._text = ""           # what was decoded,
        self._used = 0            # how much of it was read,
        self._of = (0, 0, b"")    # and of what: the place, the decoder's flags there, the bytes

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return self._file.url

    @property
    def generation(self) -> int:
        """Of the object: what is read is of this one alone."""
        return self._file.generation

    @property
    def closed(self) -> bool:
        """It was closed."""
        return self._file.closed

    @property
    def encoding(self) -> str:
        """By which the bytes are decoded."""
        return self._kind.encoding

    @property
    def errors(self) -> str | None:
        """What is done with bytes that are none of the encoding."""
        return self._kind.errors

    @property
    def newlines(self) -> str | tuple[str, ...] | None:
        """The ends of lines that were met so far, where any kind ends one."""
        return getattr(self._decoder, "newlines", None)

    async def _more(self):
        """Decodes the next bytes; False at the end."""
        kept, flags = self._decoder.getstate()
        data = await self._file._bytes(self._at, self._file._rest(self._at, _CHUNK))
        text = self._decoder.decode(data, not data)
        self._of = (self._at - len(kept), flags, kept + data)
        self._at += len(data)
        self._text, self._used = text, 0
        return bool(data or text)

    def _line_end(self, start, before):
        """Behind the end of the line that goes on at `start`; 0 where there is none. `before` is
        what of the line stands before it."""
        text, newline = self._text, self._kind.newline
        if newline == "\r\n":
            if before.endswith("\r") and text.startswith("\n", start):
                return start + 1
            at = text.find("\r\n", start)
            return at + 2 if at >= 0 else 0
        if newline != "":
            return text.find(newline or "\n", start) + 1
        first, other = text.find("\n", start), text.find("\r", start)
        if other < 0 or 0 <= first < other:
            return first + 1
        return other + 2 if text.startswith("\n", other + 1) else other + 1

    async def _line(self, limit):
        parts = []
        while limit:
            start = self._used
            end = self._line_end(start, parts[-1] if parts else "")
            stop = end or len(self._text)
            if 0 <= limit < stop - start:
                stop = start + limit
            part = self._text[start:stop]
            self._used = stop
            if part:
                parts.append(part)
            limit -= len(part) if limit > 0 else 0
            if end and end == stop or not (limit and await self._more()):
                break
        return "".join(parts)

    async def _characters(self, count):
        parts = []
        while count > 0:
            part = self._text[self._used:self._used + count]
            self._used += len(part)
            count -= len(part)
            parts.append(part)
            if count and not await self._more():
                break
        return "".join(parts)

    async def _all(self):
        file = self._file
        head = self._text[self._used:]
        data = await file._bytes(self._at, file._rest(self._at, None))
        text = head + self._decoder.decode(data, final=True)
        self._go(self._at + len(data), self._decoder.getstate()[1])
        return text

    def _go(self, at, flags, data=b"", used=0):
        """Goes to where the decoder is, or was before `data`."""
        self._text, self._used, self._of = "", used, (at, flags, data)
        self._at = at + len(data)

    async def _undone(self, read, *arguments):
        """What read() gives. Failed or cancelled, it has changed nothing."""
        with self._file._turn:
            self._check()
            before = self._text, self._used, self._of, self._at
            state = self._decoder.getstate()
            try:
                return await read(*arguments)
            except BaseException:
                self._text, self._used, self._of, self._at = before
                self._decoder.setstate(state)
                raise

    async def read(self, size: int | None = -1) -> str:
        """Reads `size` characters, fewer only at the end; all of the rest for None and what is less
        than 0."""
        size = -1 if size is None else size.__index__()
        if size < 0:
            return await self._undone(self._all)
        return await self._undone(self._characters, size)

    async def readline(self, size: int = -1) -> str:
        """Reads to the end of a line, at most `size` characters. "" at the end of the object."""
        return await self._undone(self._line, max(-1, size.__index__()))

    async def readlines(self, hint: int | None = -1) -> list[str]:
        """Reads lines to the end, or until they have `hint` characters together."""
        return await self._undone(self._lines, -1 if hint is None else hint)

    async def _lines(self, hint):
        lines, length = [], 0
        while line := await self._line(-1):
            lines.append(line)
            length += len(line)
            if 0 < hint <= length:
                break
        return lines

    def __aiter__(self) -> Self:
        self._check()
        return self

    async def __anext__(self) -> str:
        line = await self.readline()
        if not line:
            raise StopAsyncIteration
        return line

    async def tell(self) -> int:
        """Where it is: a number for seek(), and for nothing else."""
        self._check()
        at, flags, data = self._of
        if not self._used:
            return _cookie(at, flags)
        decoder = self._kind.decoder()

        def after(size):
            """How many characters so many bytes give, and the decoder's state behind them."""
            decoder.setstate((b"", flags))
            return len(decoder.decode(data[:size])), decoder.getstate()

        # The fewest bytes that give what was read.
        low, high = 0, len(data)
        while low < high:
            middle = (low + high) // 2
            if after(middle)[0] >= self._used:
                high = middle
            else:
                low = middle + 1
        # From there back to where the decoder keeps no bytes and has given no more than was read.
        # Behind the object's last byte its end was decoded, too: that is one more byte here.
        start, over = low, after(low)[0] < self._used
        while start:
            number, (kept, then) = after(start)
            if not kept and number <= self._used:
                return _cookie(at + start, then, low - start + over, self._used - number)
            start -= 1
        return _cookie(at, flags, low + over, self._used)

    async def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a place that tell() gave, to the begin, or, by (0, 2), to the end."""
        self._check()
        offset = offset.__index__()
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError(f"whence: {whence!r} is none of 0, 1 and 2")
        if whence and offset:
            raise io.UnsupportedOperation("text goes by numbers of tell() alone")
        if whence == io.SEEK_CUR:
            return await self.tell()
        if offset < 0:
            raise ValueError(f"offset: {offset} is before the first byte")
        return await self._undone(self._seek, self._file.size if whence else offset)

    async def _seek(self, cookie):
        at, flags, size, used = (cookie >> bits & _MASK for bits in (0, 64, 128, 192))
        data = await self._file._bytes(at, self._file._rest(at, size))
        if flags or at:
            self._decoder.setstate((b"", flags))
        else:
            self._decoder.reset()
        self._go(at, flags, data, used)
        self._text = self._decoder.decode(data, size > len(data))
        if used > len(self._text):
            raise OSError(f"offset: {cookie} is no place that tell() gave")
        return cookie

    async def close(self) -> None:
        """Closes it. It does not wait. Again it does nothing."""
        await self._file.close()

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"<dataflux.AsyncTextFileReader {self.url}, {self.encoding}{state}>"


_MASK = 2**64 - 1


def _cookie(at, flags, size=0, used=0):
    """A place as a number: that of a byte where it can be, as of text files of Python."""
    return at | flags << 64 | size << 128 | used << 192


class AsyncTextFileWriter(AsyncFile):
    """An object opened for writing text. It commits and aborts as AsyncFileWriter does, and what is
    written is sent as it comes."""

    def __init__(self, file: AsyncFileWriter, kind: TextKind, mode: str = "w") -> None:
        self.mode = mode
        self._file = file
        self._kind = kind

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return self._file.url

    @property
    def object(self) -> Object | None:
        """What is known of the object once it is committed, as stat() gives it; None before."""
        return self._file.object

    @property
    def generation(self) -> int:
        """Of the object once it is committed; 0 before."""
        return self._file.generation

    @property
    def closed(self) -> bool:
        """It is committed or aborted."""
        return self._file.closed

    @property
    def encoding(self) -> str:
        """By which text becomes bytes."""
        return self._kind.encoding

    @property
    def errors(self) -> str | None:
        """What is done with characters that the encoding has not."""
        return self._kind.errors

    async def write(self, text: str) -> int:
        """Appends text, and gives the number of its characters."""
        self._check()
        data, written = self._kind.encoded(text)
        await self._file.write(data)
        return written

    async def writelines(self, lines: Iterable[str]) -> None:
        """Appends each of them; it adds no ends of lines."""
        for line in lines:
            await self.write(line)

    async def flush(self) -> None:
        """As AsyncFileWriter.flush(): it commits nothing."""
        await self._file.flush()

    async def tell(self) -> int:
        """Bytes that were written so far."""
        return await self._file.tell()

    async def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """An object is written in order: io.UnsupportedOperation."""
        return await self._file.seek(offset, whence)

    async def commit(self) -> Object:
        """As AsyncFileWriter.commit()."""
        return await self._file.commit()

    async def abort(self) -> None:
        """As AsyncFileWriter.abort()."""
        await self._file.abort()

    async def close(self) -> None:
        """As AsyncFileWriter.close()."""
        await self._file.close()

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        await self._file.__aexit__(kind, value, traceback)

    def __repr__(self) -> str:
        return repr(self._file).replace("AsyncFileWriter", "AsyncTextFileWriter", 1)
