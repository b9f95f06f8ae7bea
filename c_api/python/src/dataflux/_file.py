"""Objects as Python's files: what open() gives, on a Reader or a Writer."""

from __future__ import annotations

import io
from weakref import ref

from ._ahead import Ahead
from ._attributes import attributes
from ._errors import AlreadyExistsError, NotFoundError, PermissionDeniedError
from ._lent import Lent, new_bytes
from ._place import count_of
from ._reader import Reader
from ._writer import Guard, Writer, abort_quietly, not_committed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from typing import Any, Literal, TypedDict, overload

    from typing_extensions import Buffer, Unpack

    from ._objects import Object, Place

    class HowToRead(TypedDict, total=False):
        generation: int
        block: int
        cache: int
        read_ahead: int
        timeout: float | None

    class HowToWrite(TypedDict, total=False):
        content_type: str | None
        content_encoding: str | None
        content_disposition: str | None
        content_language: str | None
        cache_control: str | None
        storage_class: str | None
        kms_key_name: str | None
        custom_time: datetime | float | None
        metadata: Mapping[str, str] | None
        if_generation_match: int | None
        size_hint: int
        part_size: int
        timeout: float | None

_READ = ("generation", "block", "cache", "read_ahead", "timeout")
_WRITE = ("content_type", "content_encoding", "content_disposition", "content_language",
          "cache_control", "storage_class", "kms_key_name", "custom_time", "metadata",
          "if_generation_match", "size_hint", "part_size", "timeout")
# Reads and writes that are shorter than it cost one call of the library together.
_BUFFER = 128 << 10
_READ_AHEAD = 32 << 20


class _RawReader(io.RawIOBase):
    """A Reader with a position."""

    mode = "rb"
    ahead = None

    def __init__(self, reader, read_ahead):
        self.reader = reader
        self.ahead = Ahead(reader, read_ahead)
        self._at = 0

    @property
    def name(self):
        return self.reader.url

    def readable(self):
        self._checkClosed()
        return True

    def seekable(self):
        self._checkClosed()
        return True

    def tell(self):
        self._checkClosed()
        return self._at

    def seek(self, offset, whence=io.SEEK_SET):
        self._checkClosed()
        offset = offset.__index__()
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError(f"whence: {whence!r} is none of 0, 1 and 2")
        at = offset + (0, self._at, self.reader.size)[whence]
        if at < 0:
            raise ValueError(f"offset: {offset} is before the first byte")
        self._at = at
        return at

    def readinto(self, buffer):
        self._checkClosed()
        with Lent(buffer, "buffer", writable=True) as lent:
            size = min(lent.size, self.reader.size - self._at)
            if size <= 0:
                return 0
            self.ahead.fill(self._at, lent.address, size, lent)
            self._at += size
            return size

    def readall(self):
        self._checkClosed()
        size = self.reader.size - self._at
        if size <= 0:
            return b""
        memory = new_bytes(size)
        with Lent(memory, "memory") as lent:
            self.ahead.fill(self._at, lent.address, size, lent)
        self._at += size
        return memory

    def close(self):
        if not self.closed:
            try:
                if self.ahead is not None:  # an interrupt may have come while it was made
                    self.ahead.drop()
                    self.reader.close()
            finally:
                super().close()


class FileReader(io.BufferedReader):
    """An object opened for reading, as open() gives it: whatever reads a binary file reads this.

    It has one generation of the object. Reads in sequence are read ahead; long ones go straight into
    the caller's memory. It pickles, and works in a forked child, which opens that generation again.

    Threads: any; read_at() and get_ranges() at once, the others one after another.
    """

    def __init__(self, reader: Reader, read_ahead: int = _READ_AHEAD) -> None:
        raw = _RawReader(reader, read_ahead)
        super().__init__(raw, max(1, min(reader.size, _BUFFER)))
        self._reader = reader

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

    def read_at(self, offset: int, size: int) -> bytes:
        """Reads a range, wherever the file is; as Reader.read_at()."""
        return self._reader.read_at(offset, size)

    def read_into_at(self, offset: int, buffer: Buffer) -> int:
        """Fills memory, wherever the file is; as Reader.read_into_at()."""
        return self._reader.read_into_at(offset, buffer)

    def get_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """Reads many ranges at once, wherever the file is; as Reader.get_ranges()."""
        return self._reader.get_ranges(ranges)

    def __reduce__(self):
        at = self.tell()  # a ValueError once it is closed
        return _read_again, (type(self), self._reader, self.raw.ahead.most, at)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"at {self.tell()} of {self.size} bytes"
        return f"<dataflux.FileReader {self.url}, {state}>"


def _read_again(kind, reader, read_ahead, at):
    made = kind(reader, read_ahead)
    made.seek(at)
    return made


class _RawWriter(io.RawIOBase):
    """A Writer as a file without a buffer. Closing it never commits."""

    def __init__(self, writer, mode):
        self.writer = writer
        self.mode = mode
        self.asked_by_text = False
        writer._over = ref(self)

    @property
    def name(self):
        return self.writer.url

    def ended(self):
        # `closed` is a flag of the base, and no property: what a signal's handler raises in one that
        # BufferedWriter asks for becomes a ValueError.
        super().close()

    def writable(self):
        self._checkClosed()
        return True

    def seekable(self):
        self._checkClosed()
        return self.asked_by_text

    def tell(self):
        self._checkClosed()
        return self.writer.tell()

    def write(self, data):
        self._checkClosed()
        return self.writer.write(data)

    def close(self):
        abort_quietly(self.writer)


class FileWriter(io.BufferedWriter):
    """An object opened for writing, as open() gives it: whatever writes a binary file in order
    writes this. It tells where it is, and cannot seek.

    The object appears when it is closed without an exception, whole and verified, and not before:
    flush() sends, and commits nothing. What was there stays

    - where an exception leaves its `with`;
    - where close() is called while an exception passes or is handled that was not when the file was
      opened, as a `finally` does, an ExitStack, and the files of the standard library that were put
      on top of it. Then a RuntimeWarning says so, for an `except` that ends well would otherwise
      lose it in silence; commit() commits there, too;
    - where a write or a flush failed or was interrupted: close() is an error then;
    - where it is let go of, itself or what was put on top of it, or open at the interpreter's end:
      a ResourceWarning says so;
    - by abort().

    What it cannot see: an exception in another thread than the one that closes it, and one that has
    been caught before it is closed.
    """

    def __init__(self, writer: Writer, mode: str = "wb") -> None:
        self._writer = writer
        self._let_go = False
        self._guard = Guard()
        super().__init__(_RawWriter(writer, mode), _BUFFER)

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return self._writer.url

    @property
    def object(self) -> Object | None:
        """What is known of the object once it is committed, as stat() gives it; None before."""
        return self._writer.object

    @property
    def generation(self) -> int:
        """Of the object once it is committed; 0 before."""
        return self._writer.generation

    def write(self, data: Buffer) -> int:
        """Appends bytes, all of them, and gives their number. Waits for room while all of the
        client's upload_memory is in use."""
        try:
            return super().write(data)
        except TypeError:
            raise
        except BaseException:
            self._writer.spoil("a write failed or was interrupted")
            raise

    def flush(self) -> None:
        """Hands what was written to the library, which sends it. Commits nothing."""
        try:
            super().flush()
        except BaseException:
            self._writer.spoil("a flush failed or was interrupted")
            raise

    def commit(self) -> Object:
        """Makes the object, whatever exception is handled, and closes the file; as
        Writer.commit()."""
        try:
            self.flush()
            return self._writer.commit()
        except BaseException:
            abort_quietly(self._writer)
            raise

    def abort(self) -> None:
        """Closes the file; what was there before stays. After a commit it does nothing.

        Raises: an error that names what could not be removed.
        """
        self._writer.abort()

    def close(self) -> None:
        """Commits, or aborts where an exception passes: see the class. Again it does nothing.

        Raises: what commit() does.
        """
        if self.closed or self._writer.forked:
            return
        passing = self._guard.passing()
        if self._let_go:
            abort_quietly(self._writer)
        elif passing is not None:
            abort_quietly(self._writer)
            not_committed(self.url, f"close() was called while {passing!r} was handled")
        else:
            self.commit()

    def __enter__(self) -> FileWriter:
        self._checkClosed()
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            abort_quietly(self._writer)
        elif not self.closed:
            self.commit()

    def _dealloc_warn(self, source):
        # What was put on top of it is collected, and will call close().
        self._let_go = True
        self._writer.left_open(source)

    def __del__(self):
        writer = self.__dict__.get("_writer")
        if writer is not None:
            writer.left_open(self)
            abort_quietly(writer)

    def __reduce_ex__(self, protocol):
        raise TypeError("a file that is being written belongs to its process, and cannot be pickled")

    def __repr__(self) -> str:
        return f"<dataflux.FileWriter {self.url}, {self._writer.tell()} bytes, {self._writer._state}>"


class TextFileWriter(io.TextIOWrapper):
    """An object opened for writing text. It commits and aborts as FileWriter does."""

    def __init__(self, file: FileWriter, encoding: str | None, errors: str | None,
                 newline: str | None) -> None:
        self._file = file
        # A TextIOWrapper tells where it is, and begins UTF-16 and UTF-32 with their mark, only where
        # it finds that it could seek.
        file.raw.asked_by_text = True
        super().__init__(file, encoding, errors, newline)
        file.raw.asked_by_text = False

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

    def commit(self) -> Object:
        """As FileWriter.commit()."""
        try:
            self.flush()
        except BaseException:
            abort_quietly(self._file)
            raise
        return self._file.commit()

    def abort(self) -> None:
        """As FileWriter.abort()."""
        self._file.abort()

    def close(self) -> None:
        """As FileWriter.close()."""
        if self.closed or self._file._writer.forked:
            return
        if self._file._guard.passing() is None:
            self.commit()
        else:
            self._file.close()

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            abort_quietly(self._file)
        elif not self.closed:
            self.commit()

    def __del__(self):
        pass  # not close(): the file warns and aborts, as nobody else has it


_MODES = {"r": "r", "rt": "r", "w": "w", "wt": "w", "x": "x", "xt": "x",
          "rb": "rb", "wb": "wb", "xb": "xb"}


def _mode_of(mode):
    """One of "r", "rb", "w", "wb", "x", "xb"."""
    if not isinstance(mode, str):
        raise TypeError(f"mode: a str is needed, and not a {type(mode).__name__}")
    known = _MODES.get(mode)
    if known is None and "a" in mode:
        raise ValueError(f"mode: {mode!r}: nothing can be appended to an object, which is written as "
                         "a whole; compose() puts objects together")
    if known is None and "+" in mode:
        raise ValueError(f"mode: {mode!r}: an object cannot be changed in place: it is read, or "
                         "written as a whole")
    if known is None:
        raise ValueError(f"mode: {mode!r} is none of rb, wb, xb, r, w and x")
    return known


def asked(mode, encoding, errors, newline, how):
    """What open() was asked for: one of "r", "rb", "w", "wb", "x", "xb"."""
    known = _mode_of(mode)
    if known.endswith("b"):
        for name, value in (("encoding", encoding), ("errors", errors), ("newline", newline)):
            if value is not None:
                raise ValueError(f"{name}: mode {mode!r} is of bytes, which have none")
    for name in how:
        if name not in (_READ if known[0] == "r" else _WRITE):
            raise TypeError(f"{name}: open() takes no such argument with mode {mode!r}")
    return known


def only_new(how):
    """The options of mode "x"."""
    if how.setdefault("if_generation_match", 0) != 0:
        raise ValueError("if_generation_match: mode \"x\" writes where nothing is")


# Of a look at what mode "x" would write: who may not look may write.
UNSEEN = (NotFoundError, PermissionDeniedError)


def exists(there):
    """The error of mode "x"."""
    return AlreadyExistsError(f"{there.url} exists: generation {there.generation}",
                              verb="open", bucket=there.bucket, object=there.name,
                              generation=there.generation)


class FileVerbs:
    """Objects as files."""

    def reader(self, url: Place, *, generation: int = 0, block: int = 0, cache: int = 0,
               timeout: float | None = None) -> Reader:
        """Opens an object to be read from anywhere in it. That is one request; each read is more.

        Arguments:
            url: "gs://bucket/name", (bucket, name), or a listing's row.
            generation: of the object; 0 = that of the row, or the live one.
            block: bytes that a short read brings, for those behind it; 0 = 1 MiB.
            cache: most bytes of such blocks; 0 = 64 MiB.
            timeout: seconds for the opening; None = no limit.

        Raises: NotFoundError; TypeError and ValueError for a bad argument before any request.
        """
        return Reader(self, url, generation=generation, block=block, cache=cache, timeout=timeout)

    def writer(self, url: Place, *, content_type: str | None = None,
               content_encoding: str | None = None, content_disposition: str | None = None,
               content_language: str | None = None, cache_control: str | None = None,
               storage_class: str | None = None, kms_key_name: str | None = None,
               custom_time: datetime | float | None = None,
               metadata: Mapping[str, str] | None = None,
               if_generation_match: int | None = None, size_hint: int = 0, part_size: int = 0,
               timeout: float | None = None) -> Writer:
        """Opens an object to be written while its bytes are being made.

        Arguments:
            url: "gs://bucket/name" or (bucket, name).
            content_type, content_encoding, content_disposition, content_language, cache_control,
                storage_class, kms_key_name: of the object; None = the service's default.
            custom_time: a datetime with a time zone, or seconds since 1970.
            metadata: a dict of str to str.
            if_generation_match: what must be there at the end; 0 = nothing. None = what is there
                now, which costs a request.
            size_hint: how many bytes there will be, as far as is known; 0 = not at all.
            part_size: bytes that are sent at a time; 0 = found by measuring, 8 to 32 MiB.
            timeout: seconds from here to the end of commit(); None = no limit.

        Raises: TypeError and ValueError for a bad argument before any request;
            ResourceExhaustedError where there are more writers than upload_memory has parts for.
        """
        beside = attributes(
            content_type=content_type, content_encoding=content_encoding,
            content_disposition=content_disposition, content_language=content_language,
            cache_control=cache_control, storage_class=storage_class, kms_key_name=kms_key_name,
            custom_time=custom_time, metadata=metadata)
        return Writer(self, url, attributes=beside, if_generation_match=if_generation_match,
                      size_hint=size_hint, part_size=part_size, timeout=timeout)

    if TYPE_CHECKING:
        @overload
        def open(self, url: Place, mode: Literal["rb"] = "rb",
                 **how: Unpack[HowToRead]) -> FileReader: ...
        @overload
        def open(self, url: Place, mode: Literal["wb", "xb"],
                 **how: Unpack[HowToWrite]) -> FileWriter: ...
        @overload
        def open(self, url: Place, mode: Literal["r", "rt"], *, encoding: str | None = None,
                 errors: str | None = None, newline: str | None = None,
                 **how: Unpack[HowToRead]) -> io.TextIOWrapper: ...
        @overload
        def open(self, url: Place, mode: Literal["w", "wt", "x", "xt"], *,
                 encoding: str | None = None, errors: str | None = None,
                 newline: str | None = None,
                 **how: Unpack[HowToWrite]) -> TextFileWriter: ...
        @overload
        def open(self, url: Place, mode: str, *, encoding: str | None = None,
                 errors: str | None = None, newline: str | None = None,
                 **how: Any) -> FileReader | FileWriter | io.TextIOWrapper: ...

    def open(self, url: Place, mode: str = "rb", *, encoding: str | None = None,
             errors: str | None = None, newline: str | None = None,
             **how: Any) -> FileReader | FileWriter | io.TextIOWrapper:
        """Opens an object as a file.

        Arguments:
            url: "gs://bucket/name", (bucket, name), or, to be read, a listing's row.
            mode: "rb" reads bytes, "wb" writes them in place of what is there, "xb" where nothing
                is. "r", "w" and "x" are the same with text.
            encoding, errors, newline: of text, as the built-in open() has them; encoding=None is
                UTF-8.
            how: to read, those of reader(), and read_ahead: most bytes that are read ahead of reads
                in sequence (32 MiB; 0 = none). To write, those of writer().

        Returns: a FileReader; a FileWriter, which commits when it is closed and no exception passes;
            for text a file on top of one.
        Raises: NotFoundError; AlreadyExistsError for "x" when it is opened, and when it is closed
            if somebody was faster; TypeError and ValueError for a bad argument before any request.
        Requests: one to open, one more for a short object that is read; "w" one to open.
        """
        known = asked(mode, encoding, errors, newline, how)
        text = not known.endswith("b")
        if known[0] == "r":
            read_ahead = count_of(how.pop("read_ahead", _READ_AHEAD), "read_ahead")
            made = FileReader(self.reader(url, **how), read_ahead)
            if text:
                made = io.TextIOWrapper(made, encoding or "utf-8", errors, newline)
                made.mode = mode
            return made
        if known[0] == "x":
            self._refuse_existing(url, how)
        made = FileWriter(self.writer(url, **how), known if not text else known + "b")
        if not text:
            return made
        try:
            over = TextFileWriter(made, encoding or "utf-8", errors, newline)
        except BaseException:
            abort_quietly(made)
            raise
        over.mode = mode
        return over

    def _refuse_existing(self, url, how):
        only_new(how)
        try:
            there = self.stat(url, timeout=how.get("timeout"))
        except UNSEEN:
            return
        raise exists(there)
