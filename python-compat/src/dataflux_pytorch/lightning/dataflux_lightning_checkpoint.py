"""Lightning's checkpoints, as plugins of a Trainer."""

from __future__ import annotations

import os
from typing import Any, Mapping

from dataflux.lightning import AsyncCheckpointIO, CheckpointIO
from dataflux_core._carried import Carried
from dataflux_core._clients import client_of
from dataflux_core._retry import DEFAULT_RETRY

from .path_utils import url_of

AnyPath = str | os.PathLike[str]


class _Paths(Carried):
    """What both are beside those of dataflux: a path that is none of Google Cloud Storage is a ValueError."""

    _holds = "_given"

    def __init__(self, project_name: str, storage_client: Any = None,
                 disable_multipart: bool = False) -> None:
        super().__init__(client_of(storage_client, DEFAULT_RETRY))  # type: ignore[call-arg]
        self.project_name = project_name
        self.storage_client = storage_client
        self.disable_multipart = disable_multipart

    def save_checkpoint(self, checkpoint: dict[str, Any], path: AnyPath,
                        storage_options: Mapping[str, Any] | None = None) -> None:
        above: Any = super()
        above.save_checkpoint(checkpoint, url_of(path), storage_options)

    def load_checkpoint(self, path: AnyPath, map_location: Any = None,
                        weights_only: bool | None = None) -> Any:
        above: Any = super()
        return above.load_checkpoint(url_of(path), map_location, weights_only)

    def remove_checkpoint(self, path: AnyPath) -> None:
        above: Any = super()
        above.remove_checkpoint(url_of(path))


class DatafluxLightningCheckpoint(_Paths, CheckpointIO):  # type: ignore[misc, unused-ignore]
    """Saves and loads a Trainer's checkpoints: dataflux.lightning.CheckpointIO, which says how.

    Arguments:
        project_name: not used: objects are named by their bucket.
        storage_client: as of DataFluxMapStyleDataset.
        disable_multipart: not used: by how many requests a checkpoint goes is found by its size.

    Paths: "gs://bucket/name", "gcs://bucket/name", and a pathlib.Path of those. Others are a ValueError,
    before any request.
    """


class DatafluxLightningAsyncCheckpoint(_Paths, AsyncCheckpointIO):  # type: ignore[misc, unused-ignore]
    """Saves them while training goes on: dataflux.lightning.AsyncCheckpointIO, which says how. A save that
    has failed raises once, from the next one or from teardown(). Arguments: as of
    DatafluxLightningCheckpoint."""
