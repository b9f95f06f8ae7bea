"""Objects as files of tasks. One that is read is a file of Client, which runs on a thread where it has to
wait; one that is written stands on an AsyncWriter, and needs none."""

from __future__ import annotations

import io
from _thread import allocate_lock
from collections import deque
from ctypes import memmove, string_at
from functools import partial
from math import inf
from operator import index
from weakref import ref

from . import _threads
from ._errors import CancelledError, PreconditionError
from ._file import UNSEEN, asked, exists, only_new
from ._file_reader import BUFFER, READ_AHEAD, FileReader, RawReader
from ._handles import cancel
from ._lent import Lent
from ._loops import aside, current
from ._place import count_of
from ._reader import AsyncReader, OfReader, Reader
from ._wait import Blocking
from ._writer import Guard, OfWriter, abort_in_task, not_committed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal, NoReturn, overload

    from typing_extensions import Buffer, Self, Unpack

    from ._file import HowToRead, HowToWrite
    from ._object import Object, Place
    from ._writer import AsyncWriter

_CALLS = 64  # that may answer in place before the loop has a turn
_LINES = BUFFER // 4  # bytes or characters after which no more lines are read at a time


class AsyncFile:
    """What all files of tasks have: `async with` closes them. They have no descriptor, and belong to
    their process."""

    mode: str

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The same as `url`."""
        return self.url

    @property
    def closed(self) -> bool:
        """It was closed."""
        raise NotImplementedError

    def _check(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")

    def readable(self) -> bool:
        """Whether it was opened to be read."""
        self._check()
        return self.mode[0] == "r"

    def writable(self) -> bool:
        """Whether it was opened to be written."""
        self._check()
        return self.mode[0] != "r"

    def seekable(self) -> bool:
        """Whether seek() works, as it does where it was opened to be read."""
        return self.readable()

    def isatty(self) -> bool:
        """False."""
        self._check()
        return False

    def fileno(self) -> NoReturn:
        """There is none: io.UnsupportedOperation."""
        raise io.UnsupportedOperation("fileno")

    async def close(self) -> None:
        """Closes it."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """The same as close()."""
        await self.close()

    async def __aenter__(self) -> Self:
        self._check()
        return self

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        await self.close()

    def __reduce__(self):
        raise TypeError("a file of tasks cannot be pickled: carry its url, and open it again")


# -- Reading: a file of Client, which waits on a thread, and else answers where it is asked ---------


class _UnderWay(dict):
    """The operations of one file, which those of its client have among them. Once it is stopped none
    is begun."""

    stopped = False

    def __init__(self, client):
        self._client = client

    def __setitem__(self, tag, entry):
        if self.stopped:
            raise CancelledError("cancelled: the file is closed, or its task was cancelled")
        super().__setitem__(tag, entry)
        self._client._under_way[tag] = entry

    def pop(self, tag, default=None):
        self._client._under_way.pop(tag, None)
        return super().pop(tag, default)


class _OnThreads(Blocking):
    """An AsyncClient as the threads of one file use it: calls block, until stop() ends them."""

    def __init__(self, client):
        self._client = client
        self._under_way = _UnderWay(client)

    def __getattr__(self, name):
        return getattr(self._client, name)

    def stop(self):
        """Ends what is under way. What just begins may be missed: so it is called until nothing runs."""
        self._under_way.stopped = True
        for operation, call in list(self._under_way.values()):
            cancel(operation, call)


class _BlockingReader(Reader):
    """The object that an AsyncReader has open, for threads."""

    def __init__(self, client, reader):
        self._of_tasks = reader
        self._of_object(client, reader._of, reader._options)
        self._reader, self._opened_by, self._size = reader._reader, reader._opened_by, reader.size

    def _opening(self):
        return self._of_tasks._opening()


class _Lacks(Exception):
    """A file that must not wait has not what it was asked for."""


class _RawReader(RawReader):
    """It keeps what the last two short reads gave, so that a file goes back to where a call or a block of
    lines began, and asks nobody. Where `waits` is False it raises _Lacks and asks nobody, either."""

    waits = False

    def __init__(self, reader, read_ahead):
        super().__init__(reader, read_ahead)
        self._kept = deque(maxlen=2)

    def _filled(self, address, size, lent):
        for start, kept in self._kept:
            if start <= self._at < start + len(kept):
                part = kept[self._at - start:self._at - start + size]
                memmove(address, part, len(part))
                self._at += len(part)
                return len(part)
        if not self.waits:
            raise _Lacks
        start = self._at
        super()._filled(address, size, lent)
        if size <= BUFFER:
            self._kept.append((start, string_at(address, size)))
        return size


class _Use:
    """Of a file, by a task."""

    __slots__ = ("__weakref__",)


_nobody = ref(_Use())


class _File(FileReader):
    _raw_kind = _RawReader


class _FileOfText(_File):
    # What is on top of it reads little at a time, by what else passes over the buffer.
    read1 = FileReader.read


class AsyncReadFile(OfReader, AsyncFile):
    """What files of tasks have that are read. One task at a time uses one.

    A call is answered in place where the file has what it asks for; else it runs on a thread. One that
    fails or is cancelled leaves the file where it was: the next one goes back there first.
    """

    mode = "rb"
    _closed = True
    _kind = _File
    # Where the last call began, and how many lines were given since: to there the next one goes back.
    # None: the file is where it is.
    _back = None
    _most = 1        # lines that are read at a time: twice as many each time, until a call comes between
    _failed = False  # the last call that ran on a thread has
    _calls = 0       # since the loop had its turn: what answers in place gives it none

    def __init__(self, reader: AsyncReader, read_ahead: int = READ_AHEAD) -> None:
        self._reader = reader
        self._client = _OnThreads(reader._client)
        self._file = self._kind(_BlockingReader(self._client, reader), read_ahead)
        self._raw = self._file.raw
        self._ahead = self._raw.ahead
        self._user = _nobody          # of tasks: a weak reference to the use of one
        self._one = allocate_lock()   # of threads: one whose task is gone may be there still
        self._closed = False

    @property
    def closed(self) -> bool:
        """It was closed."""
        return self._closed

    def _use(self):
        """A use of the file, which ends with what this gives, should an interrupt come before all else."""
        self._check()
        if self._user() is not None:
            raise PreconditionError("another task uses the file; one at a time does")
        self._calls += 1
        mine = _Use()
        self._user = ref(mine)
        return mine

    async def _call(self, method, *arguments, short=True):
        """A method of the file. One that is not short has a thread at once."""
        mine = self._use()
        try:
            if self._calls > _CALLS:
                await self._turn()
            value = await self._done(method, arguments, short)
            self._back = None
            return value
        finally:
            self._user = _nobody

    async def _turn(self):
        """Other tasks go on, and this one can be cancelled."""
        self._calls = 0
        await current().turn()
        self._check()

    async def _done(self, method, arguments=(), short=True):
        if short and not self._one.locked():
            try:
                return self._moved(False, method, arguments)
            except _Lacks:
                pass
        self._client._under_way.stopped = self._closed
        try:
            # The reference alone, for a thread may have it for some time after the task is gone.
            return await current().on_thread(partial(self._on_thread, self._user, method, arguments),
                                             self._client.stop)
        except BaseException as why:
            self._failed = True
            if self._ahead._chunks:
                aside(self._dropped)
            if self._closed and isinstance(why, CancelledError):
                raise ValueError("I/O operation on closed file.") from None
            raise

    def _dropped(self):
        # At the interpreter's end a thread that uses the file is frozen, and never lets go of it.
        if self._one.acquire(not _threads._ended):
            try:
                self._ahead.drop()
            finally:
                self._one.release()

    def _on_thread(self, use, method, arguments):
        with self._one:
            if self._user is not use or use() is None:
                return None  # its task has gone, and another one may use the file
            if self._failed:
                self._ahead.drop()
                self._failed = False
            return self._moved(True, method, arguments)

    def _moved(self, waits, method, arguments):
        """Calls a method where the file is, having gone back there if need be."""
        self._raw.waits = waits
        if self._back is None:
            self._back = self._file.tell(), (), 0
        elif method == self._file.seek and arguments[1] != io.SEEK_CUR:
            self._most = 1  # what it was at may be unreadable
        else:
            at, lines, count = self._back
            self._file.seek(at)
            for _ in range(count - len(lines)):
                self._file.readline()
            if count:
                self._most = 1
                self._back = self._file.tell(), (), 0
        return method(*arguments)

    def _read_lines(self, most, number=inf, lines=None):
        """Reads lines, until they are so many, or have more than so many bytes or characters together."""
        size, lines = 0, [] if lines is None else lines
        while size <= most and len(lines) < number and (line := self._file.readline()):
            lines.append(line)
            size += len(line)
        return lines

    def _more_lines(self):
        """Lines, and whether the file is behind them. What fails behind the first of them fails again
        when they are given."""
        lines = []
        try:
            self._read_lines(_LINES, self._most, lines)
        except _Lacks:
            raise
        except Exception:
            if not lines:
                raise
            return lines, False
        return lines, True

    async def _line(self, size=-1):
        if size >= 0:
            return await self._call(self._file.readline, size)
        mine = self._use()
        try:
            if self._calls > _CALLS:
                await self._turn()
            if self._back is None or not self._back[1]:
                lines, self._whole = await self._done(self._more_lines)
                if not lines:
                    self._back = None
                    return self._file.readline(0)
                self._most = min(2 * self._most, _LINES)
                self._back = self._back[0], deque(lines), len(lines)
            line = self._back[1].popleft()
            if self._whole and not self._back[1]:
                self._back = None
            return line
        finally:
            self._user = _nobody

    async def __anext__(self):
        line = await self._line()
        if not line:
            raise StopAsyncIteration
        return line

    async def close(self) -> None:
        """Closes it, and ends what was read ahead. It does not wait: a read of another task ends with a
        ValueError. Again it does nothing."""
        if not self._closed:
            self._closed = True
            self._client.stop()
            self._reader.close()
            self._end()

    def _end(self):
        # Where nothing is to be waited for it needs no thread.
        if self._ahead._chunks or self._one.locked():
            aside(_closed, self._one, self._client, self._file)
        else:
            _closed(self._one, self._client, self._file)

    def __aiter__(self) -> Self:
        self._check()
        return self

    def __del__(self):
        if not self._closed and _threads is not None:
            self._end()


def _closed(one, client, file):
    """Closes a file that a thread may use still, which is stopped."""
    client.stop()
    while not one.acquire(timeout=0.05):
        if _threads._ended:
            return  # as of _dropped()
        client.stop()
    try:
        file.close()
    finally:
        one.release()


class AsyncFileReader(AsyncReadFile):
    """An object opened for reading, as AsyncClient.open() gives it: lines by `async for`, and
    methods that are those of a binary file and give coroutines.

    It has one generation of the object. Reads in sequence are read ahead; long ones go straight into
    the caller's memory. A read that fails or is cancelled leaves the file where it was, and nothing
    under way.

    One task at a time uses it; read_at(), read_into_at() and get_ranges() any number at once. The others
    run on threads where they are to wait, of which an event loop has 40: where many files wait at once
    those three wait for no other. It works in a forked child, which opens that generation again.
    """

    @property
    def size(self) -> int:
        """Bytes of the object."""
        return self._reader.size

    async def read_at(self, offset: int, size: int) -> bytes:
        """Reads a range, wherever the file is; as AsyncReader.read_at()."""
        return await self._reader.read_at(offset, size)

    async def read_into_at(self, offset: int, buffer: Buffer) -> int:
        """Fills memory, wherever the file is; as AsyncReader.read_into_at()."""
        return await self._reader.read_into_at(offset, buffer)

    async def get_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """Reads many ranges at once, wherever the file is; as AsyncReader.get_ranges()."""
        return await self._reader.get_ranges(ranges)

    async def read(self, size: int | None = -1) -> bytes:
        """Reads `size` bytes, fewer only at the end; all of the rest for None and what is less than
        0."""
        size = _length(size)
        return await self._call(self._file.read, size, short=size <= BUFFER)

    async def read1(self, size: int = -1) -> bytes:
        """Reads what is there already, and some 128 KiB where nothing is; at most `size` bytes."""
        return await self._call(self._read_some, size)

    def _read_some(self, size):
        if self._file.tell() == self._raw.tell():  # nothing is there
            self._file.peek(1)
        return self._file.read1(size)

    async def readinto(self, buffer: Buffer) -> int:
        """Fills memory, as much of it as there are bytes, and gives their number. Cancelled, it ends
        when the memory is in use no more."""
        with Lent(buffer, "buffer", writable=True) as lent:
            return await self._call(self._file.readinto, buffer, short=lent.size <= BUFFER)

    async def readline(self, size: int | None = -1) -> bytes:
        """Reads to the end of a line, at most `size` bytes. b"" at the end of the object."""
        return await self._line(_length(size))

    async def readlines(self, hint: int | None = -1) -> list[bytes]:
        """Reads lines to the end, or until they have `hint` bytes together."""
        return await self._call(self._file.readlines, hint)

    if TYPE_CHECKING:
        async def __anext__(self) -> bytes: ...

    async def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a place, and gives it; sends nothing. It may be behind the end."""
        return await self._call(self._file.seek, offset, _whence(whence))

    async def tell(self) -> int:
        """Where it is."""
        return await self._call(self._file.tell)

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self.size} bytes"
        return f"<dataflux.AsyncFileReader {self.url}, {state}>"


class AsyncTextFileReader(AsyncReadFile):
    """An object opened for reading text, as AsyncClient.open() gives it: lines by `async for`, and
    methods that are those of a text file and give coroutines.

    A read that fails or is cancelled leaves the file where it was. One task at a time uses it.
    """

    _kind = _FileOfText

    def __init__(self, reader: AsyncReader, read_ahead: int, encoding: str | None,
                 errors: str | None, newline: str | None, mode: str) -> None:
        super().__init__(reader, read_ahead)
        self._file = io.TextIOWrapper(self._file, encoding or "utf-8", errors, newline)
        self.mode = mode

    @property
    def encoding(self) -> str:
        """By which the bytes are decoded."""
        return self._file.encoding

    @property
    def errors(self) -> str | None:
        """What is done with bytes that are none of the encoding."""
        return self._file.errors

    @property
    def newlines(self) -> str | tuple[str, ...] | None:
        """The ends of lines that were met so far, where any kind ends one."""
        return self._file.newlines

    async def read(self, size: int | None = -1) -> str:
        """Reads `size` characters, fewer only at the end; all of the rest for None and what is less
        than 0."""
        return await self._call(self._file.read, _length(size))

    async def readline(self, size: int = -1) -> str:
        """Reads to the end of a line, at most `size` characters. "" at the end of the object."""
        return await self._line(index(size))

    async def readlines(self, hint: int | None = -1) -> list[str]:
        """Reads lines to the end, or until they have `hint` characters together."""
        # By a `for`, as its own, a TextIOWrapper would no longer tell where it is.
        most = inf if hint is None or hint <= 0 else hint
        return await self._call(self._read_lines, most)

    if TYPE_CHECKING:
        async def __anext__(self) -> str: ...

    async def tell(self) -> int:
        """Where it is: a number for seek(), and for nothing else."""
        return await self._call(self._file.tell)

    async def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a place that tell() gave, to the begin, or, by (0, 2), to the end."""
        return await self._call(self._file.seek, offset, _whence(whence))

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"<dataflux.AsyncTextFileReader {self.url}, {self.encoding}{state}>"


def _length(size):
    """What io's files take for all of the rest."""
    return -1 if size is None else max(-1, index(size))


def _whence(whence):
    if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
        raise ValueError(f"whence: {whence!r} is none of 0, 1 and 2")
    return whence


# -- Writing: an AsyncWriter, whose calls wait for room and block nobody ---------------------------


class AsyncWrittenFile(OfWriter, AsyncFile):
    """What files of tasks have that are written: see AsyncFileWriter."""

    def __init__(self, writer: AsyncWriter, mode: str = "wb") -> None:
        self.mode = mode
        self._writer = writer
        self._guard = Guard()

    @property
    def closed(self) -> bool:
        """It is committed or aborted."""
        return self._writer.closed

    async def flush(self) -> None:
        """Does nothing, since what is written is sent as it comes. Commits nothing."""
        self._check()

    async def tell(self) -> int:
        """Bytes that were written so far."""
        self._check()
        return self._writer.tell()

    async def seek(self, offset: int, whence: int = io.SEEK_SET) -> NoReturn:
        """An object is written in order: io.UnsupportedOperation."""
        self._check()
        raise io.UnsupportedOperation("seek")

    async def commit(self) -> Object:
        """Makes the object, whatever exception is handled, and closes the file; as
        AsyncWriter.commit()."""
        try:
            return await self._writer.commit()
        except BaseException as why:
            await abort_in_task(self._writer, why)
            raise

    async def abort(self) -> None:
        """Closes the file; what was there before stays. After a commit it does nothing.

        Raises: an error that names what could not be removed.
        """
        await self._writer.abort()

    async def close(self) -> None:
        """Commits, or aborts where an exception passes: see the class. Again it does nothing.

        Raises: what commit() does.
        """
        if self.closed or self._writer.forked:
            return
        passing = self._guard.passing()
        if passing is None:
            await self.commit()
        else:
            await abort_in_task(self._writer, passing)
            not_committed(self.url, f"close() was called while {passing!r} was handled")

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            await abort_in_task(self._writer, value)
        elif not self.closed:
            await self.commit()

    def __repr__(self) -> str:
        return (f"<dataflux.{type(self).__name__} {self.url}, {self._writer.tell()} bytes, "
                f"{self._writer._state}>")


class AsyncFileWriter(AsyncWrittenFile):
    """An object opened for writing, as AsyncClient.open() gives it: methods that are those of a
    binary file and give coroutines. It tells where it is, and cannot seek.

    The object appears when it is closed without an exception, whole and verified, and not before:
    flush() commits nothing. What was there stays

    - where an exception, cancellation for one, leaves its `async with`;
    - where close() is called while an exception passes or is handled that was not when the file was
      opened, as a `finally` does. Then a RuntimeWarning says so, for an `except` that ends well
      would otherwise lose it in silence; commit() commits there, too;
    - where a write failed or was cancelled: close() is an error then;
    - where it is let go of, or open at the interpreter's end: a ResourceWarning says so;
    - by abort().

    What it cannot see: an exception in another task than the one that closes it, and one that has
    been caught before it is closed. One task at a time uses it.
    """

    async def write(self, data: Buffer) -> int:
        """Appends bytes, all of them, and gives their number. Waits for room while all of the
        client's upload_memory is in use."""
        self._check()
        return await self._writer.write(data)

    async def writelines(self, lines: Iterable[Buffer]) -> None:
        """Appends each of them."""
        for line in lines:
            await self.write(line)


class AsyncTextFileWriter(AsyncWrittenFile):
    """An object opened for writing text. It commits and aborts as AsyncFileWriter does, and what is
    written is sent as it comes."""

    def __init__(self, writer: AsyncWriter, encoding: str | None, errors: str | None,
                 newline: str | None, mode: str) -> None:
        super().__init__(writer, mode)
        self._bytes = io.BytesIO()
        self._encoder = io.TextIOWrapper(self._bytes, encoding or "utf-8", errors, newline)

    @property
    def encoding(self) -> str:
        """By which text becomes bytes."""
        return self._encoder.encoding

    @property
    def errors(self) -> str | None:
        """What is done with characters that the encoding has not."""
        return self._encoder.errors

    async def write(self, text: str) -> int:
        """Appends text, and gives the number of its characters."""
        self._check()
        written = self._encoder.write(text)
        self._encoder.flush()
        data = self._bytes.getvalue()
        self._bytes.seek(0)
        self._bytes.truncate()
        await self._writer.write(data)
        return written

    async def writelines(self, lines: Iterable[str]) -> None:
        """Appends each of them; it adds no ends of lines."""
        for line in lines:
            await self.write(line)


# -- open() ----------------------------------------------------------------------------------------


class AsyncFileVerbs:
    """Objects as files of tasks."""

    if TYPE_CHECKING:
        @overload
        async def open(self, url: Place, mode: Literal["rb"] = "rb",
                       **how: Unpack[HowToRead]) -> AsyncFileReader: ...
        @overload
        async def open(self, url: Place, mode: Literal["wb", "xb"],
                       **how: Unpack[HowToWrite]) -> AsyncFileWriter: ...
        @overload
        async def open(self, url: Place, mode: Literal["r", "rt"], *, encoding: str | None = None,
                       errors: str | None = None, newline: str | None = None,
                       **how: Unpack[HowToRead]) -> AsyncTextFileReader: ...
        @overload
        async def open(self, url: Place, mode: Literal["w", "wt", "x", "xt"], *,
                       encoding: str | None = None, errors: str | None = None,
                       newline: str | None = None,
                       **how: Unpack[HowToWrite]) -> AsyncTextFileWriter: ...
        @overload
        async def open(self, url: Place, mode: str, *, encoding: str | None = None,
                       errors: str | None = None, newline: str | None = None, **how: Any
                       ) -> (AsyncFileReader | AsyncFileWriter | AsyncTextFileReader
                             | AsyncTextFileWriter): ...

    async def open(self, url: Place, mode: str = "rb", *, encoding: str | None = None,
                   errors: str | None = None, newline: str | None = None, **how: Any
                   ) -> (AsyncFileReader | AsyncFileWriter | AsyncTextFileReader
                         | AsyncTextFileWriter):
        """Opens an object as a file, whose methods give coroutines.

            async with await client.open("gs://bucket/name", "r") as file:
                async for line in file:
                    ...

        Arguments, Raises, Requests: as of Client.open().

        Returns: an AsyncFileReader; an AsyncFileWriter, which commits when it is closed and no
            exception passes; for text an AsyncTextFileReader or an AsyncTextFileWriter.
        """
        known = asked(mode, encoding, errors, newline, how)
        text = not known.endswith("b")
        if known[0] == "r":
            read_ahead = count_of(how.pop("read_ahead", READ_AHEAD), "read_ahead")
            reader = await self.reader(url, **how)
            if text:
                return AsyncTextFileReader(reader, read_ahead, encoding, errors, newline, mode)
            return AsyncFileReader(reader, read_ahead)
        if known[0] == "x":
            await self._refuse_existing(url, how)
        writer = await self.writer(url, **how)
        if text:
            return AsyncTextFileWriter(writer, encoding, errors, newline, mode)
        return AsyncFileWriter(writer, known)

    async def _refuse_existing(self, url, how):
        only_new(self, url, how)
        try:
            there = await self.stat(url, timeout=how.get("timeout"))
        except UNSEEN:
            return
        raise exists(there)
