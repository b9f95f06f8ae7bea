"""Google Cloud Storage for whatever opens files by fsspec: pandas, pyarrow, polars, zarr, torch,
Lightning. It needs the package fsspec.

    import fsspec

    with fsspec.open("dataflux://bucket/name", "rb") as file:
        ...

    dataflux.fsspec.register("gs", "gcs")  # from now on "gs://bucket/name" is ours, too

DatafluxFileSystem has the methods of fsspec's filesystems and takes gcsfs's arguments.
"""

from __future__ import annotations

from ._filesystem import DatafluxFileSystem as DatafluxFileSystem
from ._registry import register as register

__all__ = ["DatafluxFileSystem", "register"]
