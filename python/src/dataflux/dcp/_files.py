"""Files of a checkpoint, written as members of a set."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import torch
from torch.distributed.checkpoint._extension import StreamTransformExtension
from torch.distributed.checkpoint.filesystem import _StorageInfo
from torch.distributed.checkpoint.metadata import MetadataIndex
from torch.distributed.checkpoint.planner import SavePlanner, WriteItem, WriteItemType
from torch.distributed.checkpoint.storage import WriteResult

from .._lending import Lending
from .._set_members import MemberWriter
from .._sets import CheckpointSet
from .._writer import Writer
from ..torch._save import Sink, noting, send
from ._items import Items


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


class Writing:
    """Writes files into a set. One that fails ends all."""

    def __init__(self, saving: CheckpointSet, folder: str, planner: SavePlanner,
                 extensions: Sequence[StreamTransformExtension], how: Mapping[str, Any]) -> None:
        self._how = how  # attributes of each
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
            try:
                raise failures[0]
            finally:
                failures.clear()  # they have this frame, by their tracebacks
        return results

    def _write_file(self, file: File) -> list[WriteResult]:
        written: list[tuple[MetadataIndex, int, int, list[str]]] = []

        def produce(writer: Writer, lends: Callable[[Lending], None]) -> None:
            items = Items(writer, self._planner, self._extensions)
            lends(items.sink.lending)
            # Bytes first, as torch does.
            for item in sorted(file.items, key=lambda each: each.type != WriteItemType.BYTE_IO):
                if self._failed.is_set():
                    raise _Stopped
                offset = items.sink.position()
                how = items.write(item)
                written.append((item.index, offset, items.sink.position() - offset, how))
            items.sink.finish()

        member = self._saving.open_member(file.name, **self._how)
        send(member, produce)
        path, record = place_and_record(member, self._folder)
        return [WriteResult(index=index, size_in_bytes=length, storage_data=Stored(
            _StorageInfo(path, offset, length, how or None), record if number == 0 else None))
            for number, (index, offset, length, how) in enumerate(written)]


def write_more(saving: CheckpointSet, name: str, value: Any, how: Mapping[str, Any]) -> str:
    """Writes one more member by torch.save(), and gives its record."""
    storages: dict[int, Any] = {}

    def produce(writer: Writer, lends: Callable[[Lending], None]) -> None:
        sink = Sink(writer, storages)
        lends(sink.lending)
        with sink:
            torch.save(value, sink, pickle_module=noting(storages))  # type: ignore[arg-type]
            sink.finish()

    member = saving.open_member(name, **how)
    send(member, produce)
    return member.record


def write_nothing(saving: CheckpointSet, name: str, how: Mapping[str, Any]) -> str:
    """A member without bytes, for a set has one. Its record."""
    member = saving.open_member(name, **how)
    send(member, lambda writer, lends: None)
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
