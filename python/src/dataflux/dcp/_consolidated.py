"""consolidated(): a distributed checkpoint as one state."""

from __future__ import annotations

import os
from typing import Any

from torch.distributed.checkpoint.default_planner import _EmptyStateDictLoadPlanner
from torch.distributed.checkpoint.state_dict_loader import _load_state_dict

from .._client import Client
from ._reader import StorageReader


def consolidated(path: str | os.PathLike[str], *, client: Client | None = None) -> dict[str, Any]:
    """Loads a distributed checkpoint whole, in one process and without a state to load into, as torch's
    dcp_to_torch_save() does with a folder. Saved by dataflux.torch.save() it is one file.

        dataflux.torch.save(consolidated("gs://bucket/run/step-10"), "gs://bucket/run/step-10.pt")

    Arguments:
        path: as of StorageReader, with whatever number of ranks it was saved.
        client: None = that of dataflux's functions.

    Returns: the state as it was saved, in this machine's memory.
    Raises: CheckpointException, as loads do. TypeError and ValueError for a bad argument before any request.
    Memory: all of the checkpoint.
    """
    return whole(StorageReader(path, client=client))


def whole(reader: StorageReader) -> dict[str, Any]:
    """All that a reader's checkpoint has."""
    found: dict[str, Any] = {}
    planner = _EmptyStateDictLoadPlanner()  # type: ignore[no-untyped-call]
    _load_state_dict(found, storage_reader=reader, planner=planner, no_dist=True)
    return found
