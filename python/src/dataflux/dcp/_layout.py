"""Where a tensor's bytes lie in what torch.save() has made of it, so that they are read straight to
where they belong, and of a large one only what is wanted."""

from __future__ import annotations

import collections
import io
import pickle
import struct
import sys
import zlib
from typing import Any, NamedTuple

import torch

HEAD = 4096  # bytes, of which the beginning of the data is among the first ones
_LOCAL = struct.Struct("<4sHHHHHIIIHH")  # a local header of a zip file
_DESCRIPTOR = struct.Struct("<4sI")  # what follows a record: its mark, its CRC-32


class Layout(NamedTuple):
    """A tensor that is stored without gaps, its last dimension innermost."""

    offset: int  # of its first byte, within the item
    size: torch.Size
    dtype: torch.dtype
    of_all: bool  # its storage has nothing else

    @property
    def bytes(self) -> int:
        return self.size.numel() * self.dtype.itemsize


class _Storage(NamedTuple):
    dtype: torch.dtype
    numel: int


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]


def _rebuilt(storage: Any, offset: int, size: Any, stride: Any, *_: Any) -> _Tensor:
    return _Tensor(storage, offset, tuple(size), tuple(stride))


class _Unpickler(pickle.Unpickler):
    """Reads what describes a plain tensor, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuilt
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if module == "torch" and name.endswith("Storage"):
            return _Kind(torch.serialization.StorageType(name).dtype)
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> _Storage:
        mark, kind, key, _, count = pid
        if mark != "storage" or key != "0" or not isinstance(kind, _Kind):
            raise pickle.UnpicklingError("no single storage")
        return _Storage(kind.dtype, int(count))


class _Kind(NamedTuple):
    dtype: torch.dtype


def _record(head: bytes, name: bytes) -> int:
    """Where the content of a record begins; -1 where it is not found, or is compressed."""
    at = -1
    while True:
        at = head.find(name, at + 1)
        if at < 0:
            return -1
        begin = head.rfind(b"PK\x03\x04", 0, at)
        if begin < 0 or begin + _LOCAL.size > at:
            continue
        fields = _LOCAL.unpack_from(head, begin)
        method, names, extra = fields[3], fields[9], fields[10]
        if begin + _LOCAL.size + names == at + len(name) and method == 0:
            return int(at + len(name) + extra)


def layout_of(head: bytes) -> Layout | None:
    """Of the first bytes of an item, HEAD of them or all; None where it is anything but a plain tensor
    without gaps, of this machine's order of bytes: then torch.load() reads it."""
    described, data = _record(head, b"/data.pkl"), _record(head, b"/data/0")
    order = _record(head, b"/byteorder")
    if described < 0 or data < 0 or data > len(head):
        return None
    if order >= 0 and not head.startswith(sys.byteorder.encode(), order):
        return None
    try:
        found = _Unpickler(io.BytesIO(head[described:])).load()
    except Exception:  # a pickle of anything raises anything
        return None
    if not isinstance(found, _Tensor):
        return None
    kind, size = found.storage.dtype, torch.Size(found.size)
    dense = torch.empty(size, dtype=kind, device="meta").stride()
    if size.numel() and found.stride != dense:
        return None
    if found.offset + size.numel() > found.storage.numel:
        return None
    return Layout(data + found.offset * kind.itemsize, size, kind,
                  found.offset == 0 and size.numel() == found.storage.numel)


def is_damaged(item: Any, layout: Layout) -> bool:
    """The checksum that torch.save() has put behind the data is another one."""
    end = layout.offset + layout.bytes
    if not layout.of_all or not layout.bytes or end + _DESCRIPTOR.size > len(item):
        return False
    mark, crc = _DESCRIPTOR.unpack_from(item, end)
    # 0 where torch was told to compute none.
    return bool(mark == b"PK\x07\x08" and crc and crc != zlib.crc32(item[layout.offset:end]))
