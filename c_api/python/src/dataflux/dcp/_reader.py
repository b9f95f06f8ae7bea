"""StorageReader: loads distributed checkpoints."""

from __future__ import annotations

import dataclasses
import io
import os
import uuid
from itertools import zip_longest
from typing import Any, Iterator

import torch
from torch.distributed._shard._utils import narrow_tensor_by_index
from torch.distributed.checkpoint import storage
from torch.distributed.checkpoint._extension import ExtensionRegistry, StreamTransformExtension
from torch.distributed.checkpoint.filesystem import _StorageInfo
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta
from torch.distributed.checkpoint.planner import LoadItemType, LoadPlan, LoadPlanner, ReadItem
from torch.futures import Future

from .. import _client
from .._client import Client, given_client
from .._errors import DataLossError, Error, NotFoundError
from ._fetch import Blocks, Job, carry_out, memory_of
from ._layout import HEAD, Layout, is_damaged, layout_of
from ._opened import Identity, Opened, replaced
from ._path import is_path, url_of_path
from ._region import region_jobs

_LARGE = 4 << 20  # bytes from which on an item is read by what is wanted of it
_TOGETHER = 8 << 20  # bytes of items that one job reads
_ALIGNED = 64


class StorageReader(storage.StorageReader):
    """Loads a distributed checkpoint from below a prefix of a bucket, into any number of ranks.

        torch.distributed.checkpoint.load(state, storage_reader=StorageReader("gs://bucket/run/10"))

    It reads what StorageWriter has saved, and what torch's FsspecWriter and FileSystemWriter have. All
    files are read at once, and of them what the plan asks for: of a large tensor the rows that this
    rank has. Those go straight into memory of the processor where type and layout permit.

    Whether a checkpoint of StorageWriter's is whole is looked at before a tensor is touched: a member
    that is missing or has changed is a DataLossError, which names it. Bytes are compared as soon as all
    of a file has been read, and small items by the checksum that torch.save() has put to them.
    `.metadata` is unpickled by a list of classes, so it runs nothing. What is no tensor is unpickled
    by the planner, torch's by torch.load(weights_only=False): load from those only whom you trust.

    Ranks load one checkpoint: where it is saved over meanwhile, all take the newer one, or fail with
    an error of status "aborted", which says to load it again; so does who has begun to read by then.

    Arguments:
        path: "gs://bucket/folder", or a pathlib.Path of that.
        client: by default the process's own, dataflux.client().
        extension_registry: torch's ExtensionRegistry, of extensions besides its own.

    Memory: some 64 MiB besides the state; what is read in one piece although it is large: items of
    extensions, tensors that are stored transposed.
    Threads: one load at a time.
    """

    def __init__(self, path: str | os.PathLike[str], *, client: Client | None = None,
                 extension_registry: ExtensionRegistry | None = None) -> None:
        super().__init__()
        self._url = url_of_path(path)
        self._client = given_client(client)
        self._registry = ExtensionRegistry() if extension_registry is None else extension_registry
        self.reset()

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """A new load begins; torch calls it."""
        if checkpoint_id:
            self._url = url_of_path(checkpoint_id)
        self._load_id = str(uuid.uuid4())
        self._opened: Opened | None = None
        self._rank: int | None = None
        self._why: Exception | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None, "_why": None}

    @property
    def checkpoint_id(self) -> str:
        """Where it is: gs://bucket/folder."""
        return self._url

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """It is a gs://bucket/folder."""
        return is_path(checkpoint_id)

    def _open(self) -> Opened:
        client = _client.client() if self._client is None else self._client
        if self._opened is not None:
            self._opened.close()
        self._opened = Opened(client, self._url, self._rank)
        return self._opened

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Opens the checkpoint; with `rank`, that which this rank has saved by itself, which torch asks
        for when there is none of all together."""
        self._rank = kwargs.get("rank")
        if self._rank is not None and self._why is not None:
            why, self._why = self._why, None
            raise why  # there is one, and something is wrong with it
        try:
            found = self._open().metadata
        except NotFoundError:
            raise
        except Exception as why:
            if self._rank is None:
                self._why = why
            raise
        if getattr(found, "storage_meta", None) is None:
            found.storage_meta = StorageMeta()
        found.storage_meta.load_id = self._load_id  # type: ignore[union-attr]
        return found

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any,
                              **kwargs: Any) -> None:
        if self._opened is None:
            self._open()

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        # What ranks have saved without each other are different checkpoints, though torch asks for all
        # plans together.
        opened = self._now()
        return dataclasses.replace(plan, storage_data=opened.identity if self._rank is None else None)

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """All ranks load the newest that one of them has seen."""
        known = [each.storage_data for each in plans]
        if not all(isinstance(each, Identity) for each in known):
            return plans
        newest = max(known)
        return [dataclasses.replace(each, storage_data=newest) for each in plans]

    def load_file(self, name: str, *, map_location: Any = None, weights_only: bool | None = True) -> Any:
        """Loads by torch.load() one of the objects that StorageWriter has saved as `files`: that of the
        checkpoint which was loaded, and of no later one.

        Arguments:
            name: as it was saved.
            map_location, weights_only: as of torch.load.

        Raises: NotFoundError where there is none; Error with status "aborted" where the checkpoint was
            replaced meanwhile; what torch.load() raises.
        """
        with self._now().file(name) as file:
            return torch.load(file, map_location=map_location, weights_only=weights_only)

    def _now(self) -> Opened:
        return self._open() if self._opened is None else self._opened

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        opened = self._now()
        if isinstance(plan.storage_data, Identity) and plan.storage_data != opened.identity:
            before = opened.metadata
            opened = self._open()
            same = opened.metadata.state_dict_metadata == before.state_dict_metadata
            if opened.identity != plan.storage_data or not same:
                raise replaced(self._url)
        try:
            Load(opened, self._registry, planner).load(plan.items)
        except NotFoundError as why:  # of a generation that was there when it was opened
            raise replaced(self._url) from why
        finally:
            opened.close()
        future: Future[None] = Future()
        future.set_result(None)
        return future


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
        files: dict[str, dict[int, tuple[_StorageInfo, list[ReadItem]]]] = {}
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
        jobs = [self._jobs(path, entries) for path, entries in ordered.items()]
        carry_out(job for turn in zip_longest(*jobs) for job in turn if job is not None)

    def _head_jobs(self, path: str, entries: list[tuple[_StorageInfo, list[ReadItem]]]) -> Job:
        """Reads the beginnings of large tensors, which say where their bytes are."""
        large = [info for info, wanted in entries if info.length >= _LARGE
                 and wanted[0].type != LoadItemType.BYTE_IO and not _transforms(info)]

        def take(heads: list[bytes]) -> None:
            for info, head in zip(large, heads):
                layout = layout_of(head)
                if layout is not None and layout.offset + layout.bytes <= info.length:
                    self._layouts[path, info.offset] = layout

        return Job(lambda: self._opened.reader(path).get_ranges(
            [(info.offset, HEAD) for info in large]) if large else [], take)

    def _jobs(self, path: str, entries: list[tuple[_StorageInfo, list[ReadItem]]]) -> Iterator[Job]:
        together: list[tuple[_StorageInfo, list[ReadItem]]] = []
        ends: list[tuple[int, int]] = []
        total = 0
        for info, wanted in entries:
            layout = self._layouts.get((path, info.offset))
            if layout is not None:
                # What is behind the data is read, too, so that a file of which all is wanted is
                # compared with its checksum.
                end = layout.offset + layout.bytes
                if end < info.length and sum(each.lengths.numel() for each in wanted) >= layout.size.numel():
                    ends.append((info.offset + end, info.length - end))
                for item in wanted:
                    yield from self._region(path, info, layout, item)
                continue
            if together and total + info.length > _TOGETHER:
                yield self._items(path, together)
                together, total = [], 0
            together.append((info, wanted))
            total += info.length
        if together:
            yield self._items(path, together)
        if ends:
            yield Job(lambda: self._opened.reader(path).get_ranges(ends), lambda _: None)

    def _region(self, path: str, info: _StorageInfo, layout: Layout, item: ReadItem) -> Iterator[Job]:
        target = self._planner.resolve_tensor(item).detach()
        self._same_size(item, target, item.lengths)
        left = [1]

        def ended() -> None:
            left[0] -= 1
            if left[0] == 0:
                self._planner.commit_tensor(item, target)

        for job in region_jobs(self._opened.reader(path), info.offset + layout.offset, layout,
                               item.storage_offsets, item.lengths, target, self._blocks, ended):
            left[0] += 1
            yield job
        ended()

    def _same_size(self, item: ReadItem, target: torch.Tensor, there: torch.Size) -> None:
        if target.size() != there:
            raise ValueError(f"{item.storage_index.fqn!r}: a tensor of {tuple(there)} is stored, and "
                             f"one of {tuple(target.size())} is to be loaded")

    def _items(self, path: str, entries: list[tuple[_StorageInfo, list[ReadItem]]]) -> Job:
        """Reads whole items, of which several may come by one request."""
        starts, size = [], 0
        for info, _ in entries:
            starts.append(size)
            size += -(-info.length // _ALIGNED) * _ALIGNED

        def read() -> torch.Tensor:
            memory = self._blocks.take(size)
            view = memoryview(memory_of(memory))
            self._opened.reader(path).get_ranges(
                [(info.offset, info.length) for info, _ in entries],
                [view[start:start + info.length] for start, (info, _) in zip(starts, entries)])
            return memory

        def take(memory: torch.Tensor) -> None:
            for start, (info, wanted) in zip(starts, entries):
                self._take_item(path, info, wanted, memory[start:start + info.length])
            self._blocks.give(memory)

        return Job(read, take)

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
                    raise DataLossError(
                        f"{self._opened.url_of(path)}: {item.storage_index.fqn!r}, {info.length} bytes at "
                        f"{info.offset}: its checksum differs", bucket=self._opened.bucket,
                        object=self._opened.folder + path)
                data = memory[layout.offset:layout.offset + layout.bytes]
                if layout.offset % layout.dtype.itemsize:
                    data = data.clone()
                return data.view(layout.dtype).view(layout.size)
        try:
            found = torch.load(io.BytesIO(self._transformed(info, memory)), map_location="cpu",
                               weights_only=True)
        except Error:
            raise
        except Exception as why:
            raise DataLossError(
                f"{self._opened.url_of(path)}: {item.storage_index.fqn!r}, {info.length} bytes at "
                f"{info.offset}, is no tensor that can be read: {why}", bucket=self._opened.bucket,
                object=self._opened.folder + path) from why
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
