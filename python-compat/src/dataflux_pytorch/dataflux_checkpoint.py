"""A checkpoint as one object: a file that is written, and a file that is read."""

from __future__ import annotations

from typing import Any

from dataflux import FileReader, FileWriter
from dataflux_core._carried import Carried
from dataflux_core._clients import client_of
from dataflux_core._retry import DEFAULT_RETRY


class DatafluxCheckpoint(Carried):
    """Saves checkpoints to a bucket and loads them from it.

    Arguments:
        project_name: not used: objects are named by their bucket.
        bucket_name: where they are.
        storage_client: as of DataFluxMapStyleDataset.

    Threads: any. Processes: it pickles, without credentials.
    """

    def __init__(self, project_name: str, bucket_name: str, storage_client: Any = None) -> None:
        self.project_name = project_name
        self.bucket_name = bucket_name
        self.storage_client = storage_client
        self._client = client_of(storage_client, DEFAULT_RETRY)

    def reader(self, object_name: str) -> FileReader:
        """An object opened for reading: it reads ahead, and can seek. Raises: NotFoundError."""
        return self._client.open((self.bucket_name, object_name), "rb")

    def writer(self, object_name: str) -> FileWriter:
        """An object opened for writing. It is sent while it is written, and appears when the file is closed
        without an exception, whole and verified; until then what was there stays."""
        return self._client.open((self.bucket_name, object_name), "wb")
