"""The strategy of the original's demo of training on several nodes."""

from __future__ import annotations

from typing import Any

from dataflux.lightning import FSDPStrategy
from dataflux_core._carried import Carried
from dataflux_core._clients import client_of
from dataflux_core._retry import DEFAULT_RETRY


class DatafluxFSDPStrategy(Carried, FSDPStrategy):  # type: ignore[misc, unused-ignore]
    """Saves and loads the shards of an FSDP model: dataflux.lightning.FSDPStrategy, which says how. Unless
    `state_dict_type` says otherwise, checkpoints are sharded.

    Arguments:
        project_name: not used: objects are named by their bucket.
        storage_client: as of DataFluxMapStyleDataset.
        use_async: a save goes on while training does.
        kwargs: those of Lightning's FSDPStrategy.
    """

    _holds = "_given"

    def __init__(self, project_name: str, storage_client: Any, use_async: bool = False,
                 **kwargs: Any) -> None:
        client = client_of(storage_client, DEFAULT_RETRY)
        super().__init__(client=client,  # type: ignore[call-arg, unused-ignore]
                         use_async=use_async, **{"state_dict_type": "sharded", **kwargs})
        self.project_name = project_name
        self.storage_client = storage_client
