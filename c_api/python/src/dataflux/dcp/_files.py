"""Files of a checkpoint, written as members of a set: items one behind the other."""

from __future__ import annotations

import ctypes
import io
import threading
from collections import deque
from typing import IO, Any, Callable, NamedTuple, Sequence, cast

import torch
from torch.distributed.checkpoint._extension import StreamTransformExtension
from torch.distributed.checkpoint.filesystem import _StorageInfo
from torch.distributed.checkpoint.metadata import MetadataIndex
from torch.distributed.checkpoint.planner import SavePlanner, WriteItem, WriteItemType
from torch.distributed.checkpoint.storage import WriteResult

from .._set_members import MemberWriter
from .._sets import CheckpointSet

_GATHERED = 256 << 10  # bytes of short pieces that are sent on together


class Stored(NamedTuple):
    """What a rank tells the coordinator of an item: `record` is that of the item's file, in the first
    item of each."""

    info: _StorageInfo
    record: str | None


class File(NamedTuple):
    name: str  # within the set
    items: Sequence[WriteItem]


class _Stopped(Exception):
    """Another file has failed."""


class _Stream(io.RawIOBase):
    """What torch.save() and extensions write to. Closing it leaves the file open for the next item."""

    def __init__(self, member: MemberWriter) -> None:
        self._member = member
        self._pieces = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        if len(view) + len(self._pieces) <= _GATHERED:
            self._pieces += view
        else:
            self.send()
            self._member.write(view)
        return len(view)

    def position(self) -> int:
        return self._member.tell() + len(self._pieces)

    def send(self) -> None:
        if self._pieces:
            self._member.write(self._pieces)
            self._pieces = bytearray()

    def close(self) -> None:
        pass


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor in memory of the processor, with a storage of its own size, so that no more than it
    is saved. What is contiguous there is not copied."""
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    tensor = tensor.resolve_conj().resolve_neg()
    storage = tensor.untyped_storage()
    if storage.nbytes() == tensor.nbytes:
        return tensor
    if tensor.nbytes == 0 or type(tensor) is not torch.Tensor or not tensor.is_contiguous():
        return tensor.clone()
    memory = (ctypes.c_char * tensor.nbytes).from_address(tensor.data_ptr())
    memory.tensor = tensor  # type: ignore[attr-defined]  # it is its memory
    flat = torch.frombuffer(memory, dtype=torch.uint8)
    return torch.empty(0, dtype=tensor.dtype).set_(
        flat.untyped_storage(), 0, tensor.size(), tensor.stride())


def _write_item(stream: _Stream, item: WriteItem, planner: SavePlanner,
                extensions: Sequence[StreamTransformExtension]) -> list[str]:
    data = planner.resolve_data(item)
    target = cast("IO[bytes]", stream)
    for extension in extensions:
        target = extension.transform_to(target)
    if item.type == WriteItemType.BYTE_IO:
        if not isinstance(data, io.BytesIO):
            raise TypeError(f"{item.index.fqn}: the planner gives a {type(data).__name__} for an item "
                            "of bytes, and not a BytesIO")
        target.write(data.getbuffer())
    else:
        if not isinstance(data, torch.Tensor):
            raise TypeError(f"{item.index.fqn}: the planner gives a {type(data).__name__} for a "
                            "tensor")
        torch.save(on_host(data), target)
    if target is not cast(Any, stream):
        target.close()
    return [extension.get_descriptor() for extension in reversed(extensions)]


class Writing:
    """Writes files into a set. One that fails ends all."""

    def __init__(self, saving: CheckpointSet, folder: str, planner: SavePlanner,
                 extensions: Sequence[StreamTransformExtension]) -> None:
        self._saving = saving
        self._folder = folder  # of the set, in the bucket
        self._planner = planner
        self._extensions = extensions
        self._failed = threading.Event()

    def write(self, files: Sequence[File], thread_count: int) -> list[WriteResult]:
        """Writes them side by side. Returns when all are there.

        Raises: what the first one that failed says. Then none of those that were under way is there.
        """
        left = deque(files)
        results: list[WriteResult] = []
        failures: list[BaseException] = []

        def work() -> None:
            try:
                while not self._failed.is_set():
                    try:
                        file = left.popleft()
                    except IndexError:
                        return
                    results.extend(self._write_file(file))
            except _Stopped:
                pass
            except BaseException as why:
                failures.append(why)
                self._failed.set()

        # Not concurrent.futures, which begins no thread at the interpreter's end: an asynchronous
        # save that is under way then is ended well.
        threads = [threading.Thread(target=work, name="dataflux-dcp", daemon=True)
                   for _ in range(1, min(thread_count, len(files)))]
        try:
            for thread in threads:
                thread.start()
            work()
            for thread in threads:
                thread.join()
        finally:
            if any(thread.is_alive() for thread in threads):  # interrupted
                self._failed.set()
                for thread in threads:
                    if thread.ident is not None:
                        thread.join()
        if failures:
            raise failures[0]
        return results

    def _write_file(self, file: File) -> list[WriteResult]:
        written: list[tuple[MetadataIndex, int, int, list[str]]] = []
        with self._saving.open_member(file.name) as member:
            stream = _Stream(member)
            # Bytes first, as torch does.
            for item in sorted(file.items, key=lambda each: each.type != WriteItemType.BYTE_IO):
                if self._failed.is_set():
                    raise _Stopped
                offset = stream.position()
                how = _write_item(stream, item, self._planner, self._extensions)
                written.append((item.index, offset, stream.position() - offset, how))
            stream.send()
        path, record = place_and_record(member, self._folder)
        return [WriteResult(index=index, size_in_bytes=length, storage_data=Stored(
            _StorageInfo(path, offset, length, how or None), record if number == 0 else None))
            for number, (index, offset, length, how) in enumerate(written)]


def write_more(saving: CheckpointSet, name: str, write: Callable[[_Stream], object]) -> str:
    """Writes one more member by a function, and gives its record."""
    with saving.open_member(name) as member:
        stream = _Stream(member)
        write(stream)
        stream.send()
    return member.record


def place_and_record(member: MemberWriter, folder: str) -> tuple[str, str]:
    """(where a member lies below the set's folder, its record)"""
    if member.object is None:
        raise AssertionError("a member without an object was committed")
    return member.object.name[len(folder):], member.record


def split(items: Sequence[WriteItem], count: int) -> list[list[WriteItem]]:
    """Items for so many files, by their sizes. None is empty."""
    files: list[list[WriteItem]] = [[] for _ in range(count)]
    sizes = [0] * count
    for item in sorted(items, key=_size_of, reverse=True):
        least = min(range(count), key=lambda i: (sizes[i], len(files[i])))
        files[least].append(item)
        sizes[least] += _size_of(item)
    return [each for each in files if each]


def _size_of(item: WriteItem) -> int:
    """Bytes of it, as far as is known."""
    if item.tensor_data is None:
        return 0
    return item.tensor_data.chunk.sizes.numel() * item.tensor_data.properties.dtype.itemsize
