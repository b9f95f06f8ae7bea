"""One rank's reading of its plan."""

from __future__ import annotations

import io
from functools import partial
from itertools import zip_longest
from typing import Any, Iterator

import torch
from torch.distributed._shard._utils import narrow_tensor_by_index
from torch.distributed.checkpoint._extension import ExtensionRegistry, StreamTransformExtension
from torch.distributed.checkpoint.filesystem import _StorageInfo
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.planner import LoadItemType, LoadPlanner, ReadItem

from .._errors import DataLossError, Error
from ._fetch import Blocks, Job, Piece, carry_out, jobs_of, of_type
from ._layout import HEAD, Layout, is_damaged, layout_of
from ._opened import Opened
from ._region import bytes_read, region

_LARGE = 4 << 20  # bytes from which on an item goes straight into its tensor
_SPARED = 128 << 10  # bytes that are worth two requests, one for where an item's bytes are
Entry = tuple[_StorageInfo, list[ReadItem]]  # what is stored, and what is wanted of it


class Load:
    """One rank's reading of its plan."""

    def __init__(self, opened: Opened, registry: ExtensionRegistry, planner: LoadPlanner) -> None:
        self._opened = opened
        self._registry = registry
        self._planner = planner
        self._blocks = Blocks()
        self._layouts: dict[tuple[str, int], Layout] = {}

    def load(self, items: list[ReadItem]) -> None:
        # By file, and there by where they are stored: an item may be wanted in several places.
        files: dict[str, dict[int, Entry]] = {}
        for item in items:
            info = self._opened.metadata.storage_data.get(item.storage_index)
            if info is None:
                raise DataLossError(f"{self._opened.url_of('.metadata')}: it does not say where "
                                    f"{item.storage_index.fqn!r} is")
            there = files.setdefault(info.relative_path, {})
            there.setdefault(info.offset, (info, []))[1].append(item)
        ordered = {path: [there[offset] for offset in sorted(there)] for path, there in files.items()}
        # Before a tensor is touched: all files are there, and as long as they have to be.
        carry_out(Job(lambda path=path: self._opened.reader(path),  # type: ignore[misc]
                      lambda _: None) for path in ordered)
        for path, entries in ordered.items():
            info, wanted = max(entries, key=lambda entry: entry[0].offset + entry[0].length)
            self._opened.check_size(path, info.offset + info.length, wanted[0].storage_index.fqn)
        carry_out(self._head_jobs(path, entries) for path, entries in ordered.items())
        jobs = [jobs_of(self._opened.reader(path), self._pieces(path, entries), self._blocks)
                for path, entries in ordered.items()]
        carry_out(job for turn in zip_longest(*jobs) for job in turn if job is not None)

    def _head_jobs(self, path: str, entries: list[Entry]) -> Job:
        """Reads the beginnings of those of which a part is read, or that go straight into their tensors:
        they say where the bytes are."""
        wanted = [info for info, items in entries if self._by_layout(info, items)]

        def take(heads: list[bytes]) -> None:
            for info, head in zip(wanted, heads):
                layout = layout_of(head)
                if layout is not None and layout.offset + layout.bytes <= info.length:
                    self._layouts[path, info.offset] = layout

        return Job(lambda: self._opened.reader(path).get_ranges(
            [(info.offset, HEAD) for info in wanted]) if wanted else [], take)

    def _by_layout(self, info: _StorageInfo, items: list[ReadItem]) -> bool:
        if items[0].type == LoadItemType.BYTE_IO or _transforms(info):
            return False
        if info.length >= _LARGE:
            return True
        if info.length < _SPARED:
            return False
        known = self._stored_size(items[0])
        return known is not None and info.length - HEAD - sum(
            bytes_read(known[0], item.lengths, known[1]) for item in items) >= _SPARED

    def _stored_size(self, item: ReadItem) -> tuple[torch.Size, int] | None:
        """(size, bytes of a number) of the tensor that an item is of, as `.metadata` has it."""
        index = item.storage_index
        known = self._opened.metadata.state_dict_metadata.get(index.fqn)
        if not isinstance(known, TensorStorageMetadata) or index.index is None \
                or index.index >= len(known.chunks):
            return None
        chunk = known.chunks[index.index]
        if chunk.offsets != index.offset or len(chunk.sizes) != len(item.lengths):
            return None
        return chunk.sizes, known.properties.dtype.itemsize

    def _pieces(self, path: str, entries: list[Entry]) -> Iterator[Piece]:
        ends: list[tuple[int, int]] = []
        for info, wanted in entries:
            layout = self._layouts.get((path, info.offset))
            if layout is None:
                yield Piece([(info.offset, info.length)], None, partial(self._take_item, path, info, wanted))
                continue
            # What is behind the data is read, too, so that a file of which all is wanted is compared
            # with its checksum.
            end = layout.offset + layout.bytes
            if end < info.length and sum(each.lengths.numel() for each in wanted) >= layout.size.numel():
                ends.append((info.offset + end, info.length - end))
            for item in wanted:
                yield from self._region(path, info, layout, item)
        if ends:
            yield Piece(ends, None, lambda _: None)

    def _region(self, path: str, info: _StorageInfo, layout: Layout, item: ReadItem) -> Iterator[Piece]:
        target = self._planner.resolve_tensor(item).detach()
        self._same_size(item, target, item.lengths)
        if not _lies_within(layout.size, item.storage_offsets, item.lengths):
            raise self._opened.damaged(
                path, f"{item.storage_index.fqn!r}, {info.length} bytes at {info.offset}, has the size "
                f"{tuple(layout.size)}, and not that which .metadata says")
        left = [1]

        def ended() -> None:
            left[0] -= 1
            if left[0] == 0:
                self._planner.commit_tensor(item, target)

        for piece in region(info.offset + layout.offset, layout, item.storage_offsets, item.lengths,
                            target, ended):
            left[0] += 1
            yield piece
        ended()

    def _same_size(self, item: ReadItem, target: torch.Tensor, there: torch.Size) -> None:
        if target.size() != there:
            raise ValueError(f"{item.storage_index.fqn!r}: a tensor of {tuple(there)} is stored, and "
                             f"one of {tuple(target.size())} is to be loaded")

    def _take_item(self, path: str, info: _StorageInfo, wanted: list[ReadItem],
                   memory: torch.Tensor) -> None:
        stored: torch.Tensor | None = None
        for item in wanted:
            if item.type == LoadItemType.BYTE_IO:
                stream = io.BytesIO(self._transformed(info, memory))
                self._planner.load_bytes(item, stream)
                continue
            if stored is None:
                stored = self._tensor(path, info, item, memory)
            found = narrow_tensor_by_index(stored, item.storage_offsets, item.lengths)
            target = self._planner.resolve_tensor(item).detach()
            self._same_size(item, target, found.size())
            target.copy_(found)
            self._planner.commit_tensor(item, target)

    def _tensor(self, path: str, info: _StorageInfo, item: ReadItem,
                memory: torch.Tensor) -> torch.Tensor:
        bytes_of: Any = memory.numpy().data  # a memoryview
        if not _transforms(info):
            layout = layout_of(bytes(bytes_of[:HEAD]))
            if layout is not None and layout.offset + layout.bytes <= info.length:
                if is_damaged(bytes_of, layout):
                    raise self._opened.damaged(
                        path, f"{item.storage_index.fqn!r}, {info.length} bytes at {info.offset}: its checksum "
                        "differs")
                data = memory[layout.offset:layout.offset + layout.bytes]
                return of_type(data, layout.dtype).view(layout.size)
        try:
            found = torch.load(io.BytesIO(self._transformed(info, memory)), map_location="cpu",
                               weights_only=True)
        except Error:
            raise
        except Exception as why:
            raise self._opened.damaged(
                path, f"{item.storage_index.fqn!r}, {info.length} bytes at {info.offset}, is no tensor that can be "
                f"read: {why}") from why
        if not isinstance(found, torch.Tensor):
            raise DataLossError(f"{self._opened.url_of(path)}: {item.storage_index.fqn!r} is no tensor, "
                                f"but a {type(found).__name__}")
        return found

    def _transformed(self, info: _StorageInfo, memory: torch.Tensor) -> bytes:
        data = memory.numpy().tobytes()
        if not _transforms(info):
            return data
        stream: Any = io.BytesIO(data)
        for each in self._registry.from_descriptor_list(_transforms(info)):
            if isinstance(each, StreamTransformExtension):
                stream = each.transform_from(stream)
        found: bytes = stream.read(-1)
        return found


def _transforms(info: _StorageInfo) -> Any:
    return getattr(info, "transform_descriptors", None) or ()


def _lies_within(size: torch.Size, offsets: torch.Size, lengths: torch.Size) -> bool:
    return len(size) == len(offsets) == len(lengths) and all(
        begin + length <= there for there, begin, length in zip(size, offsets, lengths))
