"""torch.distributed.checkpoint's storage, by the original's names."""

from __future__ import annotations

import os
from typing import Any

from dataflux.dcp import StorageReader, StorageWriter
from dataflux_core._carried import Carried
from dataflux_core._clients import client_of
from dataflux_core._retry import DEFAULT_RETRY

from ._filesystem import GCSFileSystem as GCSFileSystem

AnyPath = str | os.PathLike[str]

# Of torch's FileSystemWriter, without a meaning here: nothing is synced, or copied ahead, or staged twice.
_NOT_USED = ("sync_files", "per_thread_copy_ahead", "cache_staged_state_dict")


class GCSDistributedWriter(Carried, StorageWriter):  # type: ignore[misc, unused-ignore]
    """Saves a distributed checkpoint: dataflux.dcp.StorageWriter, which says how.

    Arguments:
        path: "gs://bucket/folder", or a pathlib.Path of that.
        project_name: not used: objects are named by their bucket.
        storage_client: as of DataFluxMapStyleDataset.
        debug: of `fs`.
        kwargs: options of StorageWriter; those of torch's FileSystemWriter that have no meaning here count
            for nothing.

    fs   a GCSFileSystem with the same client
    """

    def __init__(self, path: AnyPath, project_name: str, storage_client: Any = None,
                 debug: bool | None = False, **kwargs: Any) -> None:
        options = {name: value for name, value in kwargs.items() if name not in _NOT_USED}
        if "_extensions" in options:  # torch's name
            options["extensions"] = options.pop("_extensions")
        client = client_of(storage_client, DEFAULT_RETRY)
        super().__init__(path, client=client, **options)  # type: ignore[call-arg, unused-ignore]
        self.storage_client = storage_client
        self.fs = GCSFileSystem(project_name, bool(debug), storage_client)


class GCSDistributedReader(Carried, StorageReader):  # type: ignore[misc, unused-ignore]
    """Loads a distributed checkpoint: dataflux.dcp.StorageReader, which says how. Arguments and members: as
    of GCSDistributedWriter."""

    def __init__(self, path: AnyPath, project_name: str, storage_client: Any = None,
                 debug: bool | None = False, **kwargs: Any) -> None:
        if "_extension_registry" in kwargs:  # torch's name
            kwargs["extension_registry"] = kwargs.pop("_extension_registry")
        client = client_of(storage_client, DEFAULT_RETRY)
        super().__init__(path, client=client, **kwargs)  # type: ignore[call-arg, unused-ignore]
        self.storage_client = storage_client
        self.fs = GCSFileSystem(project_name, bool(debug), storage_client)
