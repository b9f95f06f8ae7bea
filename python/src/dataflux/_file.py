"""Objects as Python's files: how a client opens them."""

from __future__ import annotations

import io
from _codecs import lookup_error

from ._attributes import ATTRIBUTES, attributes, taken
from ._errors import AlreadyExistsError, NotFoundError, PermissionDeniedError
from ._file_reader import READ_AHEAD, FileReader
from ._file_writer import FileWriter
from ._place import count_of
from ._reader import Reader
from ._text_file_writer import TextFileWriter
from ._writer import Writer, abort_quietly, opening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypedDict, overload

    from typing_extensions import Unpack

    from ._attributes import Attributes
    from ._object import Place

    class HowToRead(TypedDict, total=False):
        generation: int
        block: int
        cache: int
        read_ahead: int
        timeout: float | None

    class HowToWrite(Attributes, total=False):
        if_generation_match: int | None
        size_hint: int
        part_size: int
        timeout: float | None

_READ = ("generation", "block", "cache", "read_ahead", "timeout")
WRITE_OPTIONS = (*ATTRIBUTES, "if_generation_match", "size_hint", "part_size", "timeout")
_MODES = {"r": "r", "rt": "r", "w": "w", "wt": "w", "x": "x", "xt": "x",
          "rb": "rb", "wb": "wb", "xb": "xb"}


def _mode_of(mode):
    """One of "r", "rb", "w", "wb", "x", "xb"."""
    if not isinstance(mode, str):
        raise TypeError(f"mode: a str is needed, and not a {type(mode).__name__}")
    known = _MODES.get(mode)
    if known is None and "a" in mode:
        raise ValueError(f"mode: {mode!r}: nothing can be appended to an object, which is written as "
                         "a whole: compose() puts objects together, and open() of dataflux.fsspec "
                         "appends")
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
    else:
        io.TextIOWrapper(io.BytesIO(), encoding or "utf-8", errors, newline)  # for its checks
        if errors is not None:
            lookup_error(errors)
    for name in how:
        if name not in (_READ if known[0] == "r" else WRITE_OPTIONS):
            raise TypeError(f"{name}: open() takes no such argument with mode {mode!r}")
    return known


def only_new(client, url, how):
    """The options of mode "x", all of which are checked."""
    bucket, name, _ = client._object_place(url)
    opening(bucket, name, attributes(**how), how.get("if_generation_match"),
            how.get("size_hint", 0), how.get("part_size", 0), how.get("timeout"))
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

    def writer(self, url: Place, *, if_generation_match: int | None = None, size_hint: int = 0,
               part_size: int = 0, timeout: float | None = None,
               **how: Unpack[Attributes]) -> Writer:
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
            part_size: bytes that are sent at a time; 0 = a sixteenth of upload_memory, 8 to 32 MiB.
            timeout: seconds from here to the end of commit(); None = no limit.

        Raises: TypeError and ValueError for a bad argument before any request;
            ResourceExhaustedError where there are more writers than the client's upload_memory has
            parts for: commit some first, raise it, or lower part_size. put() writes what is small.
        """
        taken(how, "writer", ATTRIBUTES)
        return Writer(self, url, attributes=attributes(**how), if_generation_match=if_generation_match,
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
            how: to read, those of reader(), whose `timeout` is of opening alone, and read_ahead: most
                bytes that are read ahead of reads in sequence (32 MiB; 0 = none). A read has the
                client's limits: first_byte_timeout and stall_timeout of each attempt, max_attempts.
                To write, those of writer(), whose `timeout` goes from here to the end of close().

        Returns: a FileReader; a FileWriter, which commits when it is closed and no exception passes;
            for text a file on top of one.
        Raises: NotFoundError; AlreadyExistsError for "x" when it is opened, and when it is closed
            if somebody was faster. Closing what "w" has opened is a PreconditionError where another
            writer has committed since then: its object stays.
            TypeError and ValueError for a bad argument before any request.
        Requests: one to open, one more for a short object that is read; "w" one to open.
        """
        known = asked(mode, encoding, errors, newline, how)
        text = not known.endswith("b")
        if known[0] == "r":
            read_ahead = count_of(how.pop("read_ahead", READ_AHEAD), "read_ahead")
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
        only_new(self, url, how)
        try:
            there = self.stat(url, timeout=how.get("timeout"))
        except UNSEEN:
            return
        raise exists(there)
