"""StorageReader: loads distributed checkpoints."""

from __future__ import annotations

import dataclasses
import os
import uuid
from typing import Any

import torch
from torch.distributed.checkpoint import storage
from torch.distributed.checkpoint._extension import ExtensionRegistry
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta
from torch.distributed.checkpoint.planner import LoadPlan, LoadPlanner
from torch.futures import Future

from .. import _client
from .._client import Client, given_client
from .._errors import Error, NotFoundError
from ._load import Load
from ._opened import Identity, Opened, replaced
from ._path import is_path, url_of_path


class StorageReader(storage.StorageReader):
    """Loads a distributed checkpoint from below a prefix of a bucket, into any number of ranks.

        torch.distributed.checkpoint.load(state, storage_reader=StorageReader("gs://bucket/run/10"))

    It reads what StorageWriter has saved, and what torch's FsspecWriter and FileSystemWriter have. All
    files are read at once, and of them what the plan asks for: of a tensor the rows that this rank has,
    where that spares 128 KiB or more. Those go straight into memory of the processor where type and
    layout permit.

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
        client = _client.client_for(self._url) if self._client is None else self._client
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
            try:
                raise why  # there is one, and something is wrong with it
            finally:
                del why  # it has this frame, by its traceback
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
        places = sorted({each.url for each in known})
        if len(places) > 1:
            raise ValueError(f"path: ranks load from different places, {places[0]} and {places[1]} for two: all "
                             "need the same path. Let one look for the newest, and tell the others")
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
        except Error as why:
            if hasattr(why, "add_note"):
                why.add_note(f"while {self._url} was loaded: tensors may have a part of it, so load again "
                             "before the state is used")
            raise
        finally:
            opened.close()
        future: Future[None] = Future()
        future.set_result(None)
        return future
