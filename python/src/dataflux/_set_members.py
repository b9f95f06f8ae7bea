"""Members of sets: each is written by a Writer, and read by a Reader, or by those of tasks."""

from __future__ import annotations

from ._async_files import AsyncFileWriter
from ._calls import Call, checked
from ._file_writer import FileWriter
from ._handles import ErrorHandle
from ._library import Pointer, addressof, byref, filled, library, text_at
from ._place import count_of, nanoseconds
from ._reader import AsyncReader, Reader, take_reader
from ._writer import AsyncWriter, Writer, take_writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def name_of(name, argument="name"):
    if not isinstance(name, str):
        raise TypeError(f"{argument}: a str is needed, and not a {type(name).__name__}")
    if not name or "\0" in name:
        raise ValueError(f"{argument}: {name!r} is no name")
    try:
        return name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{argument}: {name!r} is not UTF-8") from None


class MemberWriting:
    """What the writer of a member is for the blocking client and for the asynchronous one."""

    _record = None

    def _opening(self, owner, name, attributes, size_hint, part_size, timeout):
        """(bucket, name of the object, the call that opens it)"""
        member = name_of(name)
        options = filled("writer_options", None, None, None, None, count_of(size_hint, "size_hint"),
                         count_of(part_size, "part_size"), nanoseconds(timeout))
        if attributes is not None:
            options.attributes = addressof(attributes)

        def begin(client, queue, tag, out, err):
            self._set = owner._usable()
            return library.set_open_member(self._set, member, byref(options), queue, tag, out, err)

        return owner._bucket, owner._object_of(member), Call(begin, take_writer, attributes)

    def _committed(self, operation, record):
        text, error = Pointer(), ErrorHandle()
        checked(library.set_record(self._set, operation, byref(text), byref(error)), error)
        try:
            self._record = text_at(text.value)
        finally:
            library.text_free(text)
        return super()._committed(operation, record)

    @property
    def record(self) -> str:
        """A text for the commit() of the set, here or in another process.

        Raises: ValueError before the member is committed.
        """
        if self._record is None:
            raise ValueError(f"{self.url}: the member is not committed")
        return self._record


class MemberWriter(MemberWriting, Writer):
    """The writer of a set's member: a Writer. Once it is committed `record` is what the commit of
    the set needs."""

    def __init__(self, owner: Any, name: str, attributes: object, size_hint: int,
                 part_size: int, timeout: float | None) -> None:
        self._open(owner._client, *self._opening(owner, name, attributes, size_hint, part_size,
                                                 timeout))


class MemberFile(FileWriter):
    """A set's member as a file that is written: a FileWriter. Once it is closed `record` is what the
    commit of the set needs."""

    def __init__(self, writer: MemberWriter) -> None:
        super().__init__(writer)
        self._member = writer

    @property
    def record(self) -> str:
        """As of MemberWriter."""
        return self._member.record


def opening_member(owner, name, options):
    """The call that opens the reader of a member."""
    _, block, cache, limit = options
    how = filled("reader_options", None, None, 0, block, cache, limit)
    return Call(lambda client, queue, tag, out, err: library.set_reader_open(
        owner._usable(), name, byref(how), queue, tag, out, err), take_reader)


class MemberReading:
    """What the reader of a member is for the blocking client and for the asynchronous one."""

    def _of_member(self, owner, name, block, cache, timeout):
        self._set = owner
        self._name = name_of(name)
        self._of_object(owner._client, (owner._bucket, owner._object_of(name)),
                        (0, count_of(block, "block"), count_of(cache, "cache"), nanoseconds(timeout)))

    def _opening(self):
        return opening_member(self._set, self._name, self._options)


class MemberReader(MemberReading, Reader):
    """A member of a complete set, or its last object: a Reader, each of whose ranges is compared
    with what was committed."""

    def __init__(self, owner: Any, name: str, block: int, cache: int,
                 timeout: float | None) -> None:
        self._of_member(owner, name, block, cache, timeout)
        self._handle()

    def __reduce__(self):
        raise TypeError("the reader of a member belongs to its process: open the set again there")


class AsyncMemberWriter(MemberWriting, AsyncWriter):
    """The writer of a set's member: an AsyncWriter. Once it is committed `record` is what the commit
    of the set needs."""

    def __init__(self, owner, name, attributes, size_hint, part_size, timeout):
        bucket, whole, self._call = self._opening(owner, name, attributes, size_hint, part_size,
                                                  timeout)
        self._of_client(owner._client, bucket, whole)


class AsyncMemberFile(AsyncFileWriter):
    """A set's member as a file that is written: an AsyncFileWriter. Once it is closed `record` is what
    the commit of the set needs."""

    def __init__(self, writer: AsyncMemberWriter) -> None:
        super().__init__(writer)
        self._member = writer

    @property
    def record(self) -> str:
        """As of AsyncMemberWriter."""
        return self._member.record


class AsyncMemberReader(MemberReading, AsyncReader):
    """A member of a complete set, or its last object: an AsyncReader, each of whose ranges is
    compared with what was committed."""

    def __init__(self, owner: Any, name: str, block: int, cache: int,
                 timeout: float | None) -> None:
        self._of_member(owner, name, block, cache, timeout)
