"""Reads of single objects: into new bytes, into memory of the caller's, many ranges at once."""

from __future__ import annotations

import ctypes

from ._calls import DATA, GENERATION, SIZE, Call, calling
from ._errors import ResourceExhaustedError
from ._lent import Lent, new_bytes
from ._library import byref, filled, library
from ._object import object_options
from ._place import count_of, member_of, nanoseconds, range_of
from ._ranges import Ranges
from ._reader import take_reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import overload

    from typing_extensions import Buffer

    from ._object import Place

_END = 2**64 - 1


def _into(options, offset, address, size, finish, lent):
    """Reads so many bytes into memory that is lent."""
    return Call(calling("get_one", byref(options), offset, address, size), finish, lent)


def _into_new_bytes(options, offset, size, whole=False):
    memory = new_bytes(size)
    options.whole = whole
    lent = Lent(memory)
    return _into(options, offset, lent.address, size, lambda operation, record: memory, lent)


def _nothing(options, value):
    """For no bytes at all: `value`, where the object is there."""
    return Call(calling("stat", byref(options)), lambda operation, record: value)


def _copied(operation, record):
    return ctypes.string_at(record[DATA], record[SIZE]) if record[SIZE] else b""


async def _whole(options, offset, wanted):
    """What may be larger than the client's memory for reads goes straight into its bytes, once the
    object's size is known."""
    try:
        return await _piece(options, offset, wanted)
    except ResourceExhaustedError as error:
        if error.http_status:
            raise
    there, options.generation = await Call(
        calling("stat", byref(options)), lambda operation, record: (record[SIZE], record[GENERATION]))
    size = min(wanted, there - offset)
    # Where nothing is there the service says what that is.
    return await (_into_new_bytes(options, offset, size) if size > 0 else _piece(options, offset, 1))


def _piece(options, offset, size):
    return Call(calling("get", byref(options), offset, size), _copied)


async def _of_one(opening, ranges, into):
    """Ranges of an object that is opened for them."""
    with Ranges(ranges) as wanted:
        wanted.lend(into)
        return await wanted.read(await opening)


async def _filled(options, offset, buffer):
    """Reads into memory of the caller's."""
    with Lent(buffer, "buffer", writable=True) as lent:
        size = lent.size
        if size and offset + size < 2**63:
            lent.call = _into(options, offset, lent.address, size, None, lent)
            await lent.call
            return size
    range_of(offset, size, "offset")
    await _nothing(options, None)
    return 0


class ReadVerbs:
    """How a client reads single objects."""

    def get(self, url: Place, *, offset: int = 0, length: int | None = None, generation: int = 0,
            member: str | None = None, timeout: float | None = None) -> bytes:
        """Reads an object, or a range of it, into new bytes. They are compared with the object's
        checksum where all of it is read, and a part of it with nothing: there is no checksum of parts.

        Arguments:
            url: "gs://bucket/name", (bucket, name), or a listing's row, whose size is known: then
                the bytes come straight to their place.
            offset: of the first byte.
            length: bytes; fewer come where the object ends before. None = to the end. 0 only asks
                whether it is there.
            generation: of the object; 0 = that of the row, or the live one.
            member: a file of this name in a tar, tgz or zip archive, which AIStore takes out of it:
                get("ais://bucket/x.tar", member="dir/a.jpg"). It comes as a whole, and is compared
                with nothing. It goes with the URL alone, not with a row.
            timeout: seconds for the whole call, with all its retries; None = no limit.

        Raises: NotFoundError; Error with status "out_of_range" where `offset` is the object's end or
            behind it, but for an empty object; DataLossError for a checksum; Error with status
            "unimplemented" for a `member` of gs:// or s3://.
        """
        offset, length = range_of(offset, length)
        wanted = _END if length is None else length
        options = object_options(self._object_place(url), generation, timeout)
        if member is not None:
            options.member = member_of(member)
            return self._run(_piece(options, offset, wanted))
        if wanted == 0:
            return self._run(_nothing(options, b""))
        size = getattr(url, "size", None) if options.generation else None
        if size is not None and generation == 0 and offset < count_of(size, "url: its size"):
            return self._run(_into_new_bytes(options, offset, min(wanted, size - offset),
                                             whole=offset == 0 and wanted >= size))
        return self._run(_whole(options, offset, wanted))

    def read_into(self, url: Place, buffer: Buffer, *, offset: int = 0, generation: int = 0,
                  timeout: float | None = None) -> int:
        """Fills memory with as many bytes of an object as it has room for, without a copy, by ranges
        in parallel where that is long.

        Arguments:
            url: "gs://bucket/name", (bucket, name), or a listing's row.
            buffer: anything whose memory can be written and is contiguous: a bytearray, a
                memoryview, an array of numpy. It cannot change its size until the call has ended.
            offset: of the first byte.
            generation: of the object; 0 = that of the row, or the live one.
            timeout: seconds for the whole call; None = no limit.

        Returns: the number of bytes, always all of the buffer.
        Raises: Error with status "out_of_range" where the object ends before. After a failure the
            content of the buffer is undefined.
        """
        offset = count_of(offset, "offset")
        options = object_options(self._object_place(url), generation, timeout)
        return self._run(_filled(options, offset, buffer))

    if TYPE_CHECKING:
        @overload
        def get_ranges(self, url: Place, ranges: Iterable[tuple[int, int]], *, into: None = None,
                       generation: int = 0, timeout: float | None = None) -> list[bytes]: ...
        @overload
        def get_ranges(self, url: Place, ranges: Iterable[tuple[int, int]], *,
                       into: Sequence[Buffer], generation: int = 0,
                       timeout: float | None = None) -> None: ...

    def get_ranges(self, url: Place, ranges: Iterable[tuple[int, int]], *,
                   into: Sequence[Buffer] | None = None, generation: int = 0,
                   timeout: float | None = None) -> list[bytes] | None:
        """Reads many ranges of an object at once. Short ones that lie close together go by one
        request. All are of one generation. Parts of an object are compared with nothing.

        Arguments:
            url: "gs://bucket/name", (bucket, name), or a listing's row.
            ranges: (offset, size) of each, in any order, overlapping or not.
            into: memory for each, of exactly its size; None = new bytes.
            generation: of the object; 0 = that of the row, or the live one.
            timeout: seconds for opening the object; None = no limit.

        Returns: the bytes of each, in the order of `ranges`; None with `into`.
        Raises: Error with status "out_of_range" where a range ends behind the object, before
            anything is read. The first failure ends the call.
        """
        bucket, name, of_place = self._object_place(url)
        options = filled("reader_options", bucket, name,
                         count_of(generation, "generation") or of_place, 0, 0, nanoseconds(timeout))
        opening = Call(calling("reader_open", byref(options)), take_reader)
        return self._run(_of_one(opening, ranges, into))
