"""Arrays of numpy as bytes: the fields .ten, as webdataset and tensorcom write them.

A list of arrays is a list of chunks, two for each array: what it is, and its bytes. A chunk is "~TenBin~",
its length as int64, and its bytes, padded to a multiple of 64. What an array is are int64s: its type and a text of
the caller's, eight ASCII bytes each, the number of dimensions, and these. Data are not aligned to 64 bytes, since
each chunk begins 16 bytes behind a multiple of it."""

from __future__ import annotations

import struct
from typing import Any, Iterator, List, Sequence

from ._optional import optional

_MAGIC = b"~TenBin~"
_HEAD = struct.Struct("<8sq")
_ALIGNED = 64
_TYPES = {"float16": "f2", "float32": "f4", "float64": "f8", "int8": "i1", "int16": "i2", "int32": "i4",
          "int64": "i8", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8"}
_NAMES = {short: name for name, short in _TYPES.items()}
_MOST_DIMENSIONS = 9


def _numpy():
    return optional("numpy", "fields .ten")


def _eight(text):
    data = text.encode("ascii")
    if len(data) > 8:
        raise ValueError(f"infos: {text!r} has more than 8 letters")
    return data.ljust(8, b"\0")


def _infos_of(arrays, infos):
    infos = [""] * len(arrays) if infos is None else list(infos)
    if len(infos) != len(arrays):
        raise ValueError(f"infos: {len(infos)} of {len(arrays)} arrays")
    return infos


def _header(array, info):
    if array.dtype.name not in _TYPES:
        raise ValueError(f"a .ten has no arrays of {array.dtype.name}, but of {', '.join(_TYPES)}")
    if array.ndim > _MOST_DIMENSIONS:
        raise ValueError(f"a .ten has arrays of at most {_MOST_DIMENSIONS} dimensions, and not of {array.ndim}")
    return _eight(_TYPES[array.dtype.name]) + _eight(info) + struct.pack(f"<{1 + array.ndim}q", array.ndim, *array.shape)


def _chunks_of(arrays, infos) -> Iterator[bytes]:
    numpy = _numpy()
    for array, info in zip(arrays, _infos_of(arrays, infos)):
        array = numpy.asarray(array)
        for data in (_header(array, info), array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()):
            yield _HEAD.pack(_MAGIC, len(data)) + data + b"\0" * (-len(data) % _ALIGNED)


def encode_buffer(l: List[Any], infos: Sequence[str] | None = None) -> bytearray:  # noqa: E741, webdataset's name
    """Arrays as bytes.

    Arguments:
        l: a list of arrays.
        infos: a text of at most 8 letters for each.

    Raises: TypeError for what is no list; ValueError for arrays of other types than numbers.
    """
    if not isinstance(l, list):
        raise TypeError(f"a list of arrays is needed, and not a {type(l).__name__}")
    return bytearray().join(_chunks_of(l, infos))


def _chunk(data, at):
    """(the bytes of a chunk, where the next one begins)"""
    if len(data) - at < _HEAD.size:
        raise ValueError(f"a .ten is cut off at byte {at}")
    magic, size = _HEAD.unpack_from(data, at)
    begin = at + _HEAD.size
    if magic != _MAGIC:
        raise ValueError(f"this is no .ten: no chunk begins at byte {at}")
    if not 0 <= size <= len(data) - begin:
        raise ValueError(f"a .ten is damaged: the chunk at byte {at} has {size} bytes of {len(data) - begin}")
    return data[begin:begin + size], begin + size + -size % _ALIGNED


def _array(header, data):
    """(array, text) of two chunks."""
    if len(header) < 24 or len(header) % 8:
        raise ValueError("a .ten is damaged: a header is cut off")
    short, info = (bytes(header[at:at + 8]).rstrip(b"\0").decode("ascii", "replace") for at in (0, 8))
    count, *shape = struct.unpack(f"<{len(header) // 8 - 2}q", header[16:])
    if short not in _NAMES:
        raise ValueError(f"a .ten has an array of the type {short!r}, which is none of {', '.join(_NAMES)}")
    if not 0 <= count <= _MOST_DIMENSIONS or count > len(shape) or any(each < 0 for each in shape[:count]):
        raise ValueError("a .ten is damaged: an array has no such dimensions")
    shape, numpy, elements = shape[:count], _numpy(), 1
    for each in shape:
        elements *= each
    kind = numpy.dtype("<" + short)
    if elements * kind.itemsize != len(data):
        raise ValueError(f"a .ten is damaged: an array of {shape} {_NAMES[short]} has {len(data)} bytes")
    return numpy.frombuffer(data, kind).reshape(shape), info


def decode_buffer(buf: Any, infos: bool = False) -> Any:
    """Arrays of bytes, whose memory they share; with infos=True (arrays, texts).

    Raises: ValueError for bytes that are none.
    """
    data, at, found = memoryview(buf).cast("B"), 0, []
    while at < len(data):
        header, at = _chunk(data, at)
        if at >= len(data):
            raise ValueError("a .ten is cut off: the bytes of the last array are missing")
        content, at = _chunk(data, at)
        found.append(_array(header, content))
    arrays = [array for array, _ in found]
    return (arrays, [info for _, info in found]) if infos else arrays


def write(stream: Any, l: Sequence[Any], infos: Sequence[str] | None = None) -> None:  # noqa: E741
    """Arrays into a stream."""
    for chunk in _chunks_of(l, infos):
        stream.write(chunk)


def read(stream: Any, infos: bool = False) -> Any:
    """Arrays of the rest of a stream."""
    return decode_buffer(stream.read(), infos)


def _suffix(fname, nocheck):
    if not nocheck and not fname.endswith(".ten"):
        raise ValueError(f"fname: {fname} does not end in .ten")


def save(fname: str, *args: Any, infos: Sequence[str] | None = None, nocheck: bool = False) -> None:
    """Arrays into a file, whose name ends in .ten."""
    _suffix(fname, nocheck)
    with open(fname, "wb") as stream:
        write(stream, args, infos)


def load(fname: str, infos: bool = False, nocheck: bool = False) -> Any:
    """Arrays of a file."""
    _suffix(fname, nocheck)
    with open(fname, "rb") as stream:
        return read(stream, infos)
