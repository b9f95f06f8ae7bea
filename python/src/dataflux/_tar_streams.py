"""Samples of one tar shard that is read in sequence, from bytes that come from anywhere."""

from __future__ import annotations

from struct import Struct

from . import _abi
from ._calls import checked
from ._errors import again, kept
from ._handles import ErrorHandle, handle
from ._library import Pointer, byref, kind_of, library, struct
from ._place import count_of
from ._shards import reading_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Dict, Literal, Tuple

StreamHandle = handle("shard_stream")
_MOST_NAMES = 4096  # that are kept
_FIELD = Struct("".join(letter for _, letter in _abi.STRUCTS["sample_field"]).replace("s", "Q"))


class ShardStream:
    """The samples of one shard: an iterator of pairs of a key and a dict of fields, whose values are
    bytes. A shard is plain tar, or compressed by gzip or zstd, as its first bytes say.

        stream = ShardStream(pieces)
        for key, fields in stream:
            use(key, fields["jpg"])
        stream.counts  # what was left out

    Samples come in the archive's order, those before damage too; then comes the error, which does not
    name the shard. The last pieces need not be asked for if the iterator is let go of. One thread at a
    time.

    Arguments:
        pieces: of the shard's bytes, in sequence: an iterable of anything with the buffer protocol. Each
            is used until the next one is asked for.
        concatenated, trailing, damaged, keep_case, strip_dot_slash, repeated: as in
            Client.index_shards().
        most_bytes: a sample with more data is an error; 0 = 1 GiB.

    Raises: what `pieces` raises; DataLossError for damage; PreconditionError for what an argument could
        allow; InvalidArgumentError for a field that comes again; Error for sparse files, for other
        compression, and for a sample that is too large.
    """

    def __init__(self, pieces: Iterable[Any], *, concatenated: Literal["error", "read"] = "error",
                 trailing: Literal["error", "ignore"] = "error",
                 damaged: Literal["error", "end"] = "error", keep_case: bool = False,
                 strip_dot_slash: bool = False, repeated: Literal["error", "keep_first"] = "error",
                 most_bytes: int = 0) -> None:
        options = struct("shard_stream_options", most_bytes=count_of(most_bytes, "most_bytes", 0, 64),
                         **reading_rules(concatenated, trailing, damaged, keep_case, strip_dot_slash,
                                         repeated))
        self._handle = StreamHandle()
        error = ErrorHandle()
        checked(library.shard_stream_new(byref(options), byref(self._handle), byref(error)), error)
        self._over: BaseException | None = None
        self._each = _samples(self._handle, iter(pieces), {})

    def __iter__(self) -> Iterator[Tuple[str, Dict[str, bytes]]]:
        return self

    def __next__(self) -> Tuple[str, Dict[str, bytes]]:
        if self._over is not None:
            raise again(self._over)
        try:
            return next(self._each)
        except Exception as e:
            if not isinstance(e, StopIteration):
                self._over = kept(e)  # a part of a shard never passes for the whole
            raise

    @property
    def counts(self) -> Dict[str, int]:
        """What was met so far: see ShardCounts for the names."""
        import ctypes
        import json

        text, error = Pointer(), ErrorHandle()
        checked(library.shard_stream_counts(self._handle, byref(text), byref(error)), error)
        counts: Dict[str, int] = json.loads(ctypes.string_at(text.value or 0))
        return counts


def _samples(stream, pieces, names):
    """Of a stream's handle: a generator that knew the ShardStream would be a cycle with it."""
    for piece in pieces:
        yield from _samples_of(stream, memoryview(piece).cast("B"), names)
    error = ErrorHandle()
    checked(library.shard_stream_finish(stream, byref(error)), error)
    yield from _ready(stream, names)


def _samples_of(stream, piece, names):
    import ctypes

    if not piece.nbytes:
        return
    if piece.readonly:  # whose address ctypes does not give: of bytes it is that of a char pointer
        own = piece.obj if isinstance(piece.obj, bytes) and len(piece.obj) == piece.nbytes else bytes(piece)
        at = ctypes.cast(ctypes.c_char_p(own), ctypes.c_void_p)
    else:
        own = ctypes.c_char.from_buffer(piece)  # a type for each size would be a cycle
        at = byref(own)
    error = ErrorHandle()
    checked(library.shard_stream_feed(stream, at, piece.nbytes, byref(error)), error)
    yield from _ready(stream, names)
    del own  # the library has used all of it


def _ready(stream, names):
    import ctypes

    raw, error = kind_of("streamed_sample")(), ErrorHandle()
    size, where, failure = ctypes.sizeof(raw), byref(raw), byref(error)
    key_at, string_at = type(raw).key.offset, ctypes.string_at
    while True:
        checked(library.shard_stream_next(stream, where, size, failure), error)
        # The key is declared a text, which ctypes would copy up to a NUL that is not there.
        key = Pointer.from_buffer(raw, key_at).value
        if key is None:
            return
        fields, data = {}, raw.data
        rows = string_at(raw.fields or 0, raw.field_count * _FIELD.size)
        for address, length, offset, count in _FIELD.iter_unpack(rows):
            text = string_at(address, length)
            name = names.get(text)
            if name is None:
                name = text.decode("utf-8", "surrogateescape")
                if len(names) < _MOST_NAMES:
                    names[text] = name
            fields[name] = string_at(data + offset, count) if count else b""
        yield string_at(key, raw.key_size).decode("utf-8", "surrogateescape"), fields
