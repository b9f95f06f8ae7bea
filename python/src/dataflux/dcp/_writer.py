"""StorageWriter: saves distributed checkpoints."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import pickle
import threading
import uuid
import warnings
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Iterator, Mapping, Sequence

from torch.distributed.checkpoint import storage
from torch.distributed.checkpoint._extension import StreamTransformExtension
from torch.distributed.checkpoint.metadata import Metadata, StorageMeta
from torch.distributed.checkpoint.planner import SavePlan, SavePlanner
from torch.distributed.checkpoint.storage import WriteResult
from torch.futures import Future

from .. import _client
from .._attributes import attributes
from .._client import Client, given_client
from .._errors import AlreadyExistsError, Error, PreconditionError, again
from .._place import count_of, flag_of
from .._set_reports import CommittedSet
from .._sets import CheckpointSet, save_folder
from ._files import File, Writing, split, write_more, write_nothing
from ._path import METADATA, folder_of, is_path, of_rank, place_of, url_of_path

_log = logging.getLogger("dataflux")
_VERSION = "1.0.0"  # of the layout, as torch's writers name it
_SUFFIX = ".distcp"

# The save that was begun last at a place, as its coordinator told it: see Begun.
_begun: dict[str, Begun] = {}


class Begun:
    """What the coordinator tells each rank with its plan: where files go, and in which save.

    It is noted where it arrives, and taken from there: a planner that caches plans hands out that of an
    earlier save, which names that save, or what another writer has told its ranks.
    """

    def __init__(self, prefix: str, url: str, text: str) -> None:
        self.prefix, self.url, self.text = prefix, url, text
        _begun[place_of(url)] = self

    def __reduce__(self) -> Any:
        return Begun, (self.prefix, self.url, self.text)


def _begun_at(place: str, told: Any) -> Begun:
    """What was told of the save at a place. `told` came with the plan."""
    noted = _begun.pop(place_of(place), None)
    if noted is not None:
        return noted
    # Of a planner's own process, say, that carries plans in a way of its own.
    if isinstance(told, Begun) and place_of(told.url) == place_of(place):
        return told
    other = next(reversed(_begun.values()), told)
    if isinstance(other, Begun):
        raise ValueError(f"path: this rank saves to {place}, and the coordinator to {other.url}: all ranks "
                         "need the same path. Let one make the name, and tell the others")
    raise PreconditionError(f"{place}: the planner gives no plan of this save, but one of another writer's "
                            f"({type(told).__name__})")


class StorageWriter(storage.StorageWriter):
    """Saves a distributed checkpoint below a prefix of a bucket: complete, or not there.

        torch.distributed.checkpoint.save(state, storage_writer=StorageWriter("gs://bucket/run/10"))

    All files are members of a set (Client.checkpoint_set()), whose last object is `.metadata`. Until
    that is there, nobody takes the checkpoint for one; whoever reads meanwhile has the one that was
    there before, whole. A file that fails fails the save, on all ranks. What a save that failed or was
    killed has left is removed by the next one to this path, and shown by Client.list_sets().

    For save() and async_save(), by threads and by processes, with any stager. torch's FsspecReader
    reads what it saves.

    Arguments:
        path: "gs://bucket/folder", or a pathlib.Path of that.
        client: by default the process's own, dataflux.client().
        thread_count: files of a rank, which are written side by side; with
            single_file_per_rank=False, how many at a time. One file is sent in parts, many at a time,
            whatever it is; several help where making the bytes takes longer than sending them.
        single_file_per_rank: False: a file for each item.
        overwrite: a checkpoint that is there is replaced, in one step, and then removed. False: it is
            an AlreadyExistsError, before anything is written.
        extensions: torch's StreamTransformExtension, which transform each item's bytes.
        files: more objects to be saved by torch.save(), by name: members of the same set, so that
            one commit covers them. Those of the coordinator, rank 0, are written.
        storage_class, kms_key_name, custom_time, metadata: of the files, as of Client.writer(). The key
            encrypts the set's own two small objects, too.

    Raises, by save(): CheckpointException with an exception of each rank that failed:
        AlreadyExistsError, also where something is at the path that no StorageWriter has written;
        Error with status "aborted" where another job has saved there meanwhile: of several, one is
        committed.

    Memory: `upload_memory` of the client, whatever the state. Tensors of the state that lie in the
    processor's memory are sent from where they are, without a copy: they must stay as they are until
    the save has ended. Others, a GPU's for one, are copied one at a time for each file. A pickle
    carries the options.
    """

    def __init__(self, path: str | os.PathLike[str], *, client: Client | None = None,
                 thread_count: int = 1, single_file_per_rank: bool = True, overwrite: bool = True,
                 extensions: Sequence[StreamTransformExtension] | None = None,
                 files: Mapping[str, Any] | None = None, storage_class: str | None = None,
                 kms_key_name: str | None = None, custom_time: datetime | float | None = None,
                 metadata: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._url = url_of_path(path)
        self._client = given_client(client)
        self._thread_count = count_of(thread_count, "thread_count", 1, 16)
        self._single_file = flag_of(single_file_per_rank, "single_file_per_rank")
        self._overwrite = flag_of(overwrite, "overwrite")
        self._extensions = tuple(extensions or ())
        for each in self._extensions:
            if not isinstance(each, StreamTransformExtension):
                raise TypeError("extensions: each is a StreamTransformExtension, and not a "
                                f"{type(each).__name__}")
        self._more = dict(files or {})
        self._how = {name: value for name, value in (
            ("storage_class", storage_class), ("kms_key_name", kms_key_name), ("custom_time", custom_time),
            ("metadata", metadata)) if value is not None}
        attributes(**self._how)
        self._new_save()

    def _new_save(self) -> None:
        self._save_id = str(uuid.uuid4())
        self._rank: int | None = None  # where each rank saves for itself
        self._saving: CheckpointSet | None = None
        self._text = ""
        self._commits = False
        self._committed: CommittedSet | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_saving": None, "_committed": None}

    def _of_process(self) -> Client:
        return _client.client_for(self._url) if self._client is None else self._client

    @property
    def checkpoint_id(self) -> str:
        """Where it is saved: gs://bucket/folder."""
        return self._url

    @property
    def committed(self) -> CommittedSet | None:
        """What the commit of the last save gave, where this is the coordinator; else None."""
        return self._committed

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: str | os.PathLike[str]) -> bool:
        """It is a gs://bucket/folder."""
        return is_path(checkpoint_id)

    def reset(self, checkpoint_id: str | os.PathLike[str] | None = None) -> None:
        """A new save begins; torch calls it."""
        if checkpoint_id:
            self._url = url_of_path(checkpoint_id)
        self._new_save()

    def storage_meta(self) -> StorageMeta:
        return StorageMeta(checkpoint_id=self._url, save_id=self._save_id)

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        alone = not kwargs.get("use_collectives", True)
        self._rank = (kwargs.get("rank") or 0) if alone else None
        self._saving, self._commits = None, False
        self._committed = None

    def _place(self) -> str:
        """Of the set. A rank that saves without the others has one of its own."""
        return self._url if self._rank is None else of_rank(self._url, self._rank)

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Begins the save: nothing is written yet. By the coordinator."""
        place = self._place()
        with _telling_what_is_there(place):
            text = self._begin(place)
        first = 0 if self._rank is None else self._rank
        return [dataclasses.replace(plan, storage_data=Begun(f"__{number}_", place, text))
                for number, plan in enumerate(plans, first)]

    def _begin(self, place: str) -> str:
        client = self._of_process()
        saving = client.checkpoint_set(place)
        text = saving.begin_over()
        bucket, folder = folder_of(place)
        last = (bucket, folder + METADATA)
        if not self._overwrite or not _replaces(text):
            if client.exists(last):
                raise AlreadyExistsError(
                    f"{place}: a checkpoint is there"
                    + (" already, and overwrite=False" if not self._overwrite else
                       ", which is no set: another program has written it, and it cannot be replaced "
                       "in one step: remove it first (Client.remove_prefix()), or save to another "
                       "path"), bucket=bucket, object=last[1])
        if self._rank is not None:
            bucket, folder = folder_of(self._url)
            if client.exists((bucket, folder + METADATA)):
                raise PreconditionError(
                    f"{self._url}: a checkpoint of all ranks together is there, which every load would "
                    "take: save those of single ranks to another path", bucket=bucket,
                    object=folder + METADATA)
        self._saving, self._text = saving.over(text), text
        return text

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[WriteResult]]:
        place = self._place()
        with _telling_what_is_there(place):
            return self._write(plan, planner, place, _begun_at(place, plan.storage_data))

    def _write(self, plan: SavePlan, planner: SavePlanner, place: str,
               begun: Begun) -> Future[list[WriteResult]]:
        saving = self._of_process().checkpoint_set(place).over(begun.text)
        groups = split(plan.items, self._thread_count) if self._single_file else \
            [[item] for item in plan.items]
        files = [File(f"{begun.prefix}{number}{_SUFFIX}", items)
                 for number, items in enumerate(groups)]
        writing = Writing(saving, folder_of(place)[1], planner, self._extensions, self._how)
        future: Future[list[WriteResult]] = Future()
        future.set_result(writing.write(files, self._thread_count))
        return future

    def abandon(self) -> None:
        """Removes what a save that failed has left, for paths that no other save will go to: the next one
        there removes it, too. Called when save() has raised, by any rank: the coordinator removes. Once
        the commit was begun nothing is removed, since that may have come about all the same.

        Raises: Error with the first of what could not be removed.
        """
        saving, self._saving = self._saving, None
        if saving is None or self._commits:
            return
        bucket, folder = folder_of(self._place())
        left = (bucket, folder + save_folder(json.loads(self._text)["id"]))
        for failure in self._of_process().remove_sets(left).failures:  # open uploads, too
            raise again(failure)

    def finish(self, metadata: Metadata, results: list[list[WriteResult]]) -> None:
        """Commits: `.metadata` is written, and with it the checkpoint is there. By the coordinator."""
        if self._saving is None:
            raise PreconditionError(f"{self._url}: finish() without a save that was begun")
        with _telling_what_is_there(self._place()):
            done = self._committed = self._commit(self._saving, metadata, results)
        if done.replaced.failures:
            first = done.replaced.failures[0]
            warnings.warn(
                f"{self._place()} is saved; of what it replaces {len(done.replaced.failures)} objects "
                f"could not be removed, {first.object} for one: {first}; the next save there "
                "removes them", RuntimeWarning, stacklevel=2)

    def _commit(self, saving: CheckpointSet, metadata: Metadata,
                results: list[list[WriteResult]]) -> CommittedSet:
        stored = [(each.index, each.storage_data) for of_rank in results for each in of_rank]
        records = [data.record for _, data in stored if data.record is not None]
        for name, value in self._more.items():
            records.append(write_more(saving, name, value, self._how))
        if not records:  # a set has a member
            records.append(write_nothing(saving, "__0_0" + _SUFFIX, self._how))
        metadata.version = _VERSION
        metadata.storage_data = {index: data.info for index, data in stored}
        metadata.storage_meta = self.storage_meta()
        self._commits = True
        return saving.commit(records, last=METADATA, data=pickle.dumps(metadata),
                             kms_key_name=self._how.get("kms_key_name"))


@contextmanager
def _telling_what_is_there(place: str) -> Iterator[None]:
    """Notes on an error what has become of the save, and what to do. By a thread of async_save() it is
    logged, too: nobody need ever ask what has become of that."""
    try:
        yield
    except Error as why:
        if hasattr(why, "add_note"):
            unknown = why.outcome_unknown and why.object.endswith("/" + METADATA)
            what = f"a load of {place} tells whether this save is there, whole, or what was there before" \
                if unknown else f"the save to {place} is not committed: what was there before stays"
            why.add_note(f"{what}; the next save there removes what this one has left"
                         + (", and may succeed: try again" if why.retryable else ""))
        _log_aside(place, why)
        raise
    except Exception as why:
        _log_aside(place, why)
        raise


def _log_aside(place: str, why: Exception) -> None:
    # By a process of its own torch logs it.
    if threading.current_thread() is not threading.main_thread():
        _log.error("the save to %s has failed: %s", place, why)


def _replaces(text: str) -> bool:
    """A save over something."""
    return bool(json.loads(text)["last"])
