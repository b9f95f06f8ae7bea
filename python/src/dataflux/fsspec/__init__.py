"""Google Cloud Storage and S3 for whatever opens files by fsspec: pandas, pyarrow, polars, zarr, torch,
Lightning. It needs the package fsspec.

    import fsspec

    with fsspec.open("dataflux://bucket/name", "rb") as file:
        ...

    dataflux.fsspec.register("gs", "gcs")  # from now on "gs://bucket/name" is ours, too
    dataflux.fsspec.register("s3")         # and "s3://bucket/name"

DatafluxFileSystem has the methods of fsspec's filesystems and takes gcsfs's arguments, DatafluxS3FileSystem
s3fs's.
"""

from __future__ import annotations

from ._filesystem import DatafluxFileSystem as DatafluxFileSystem
from ._filesystem import DatafluxS3FileSystem as DatafluxS3FileSystem
from ._registry import register as register

__all__ = ["DatafluxFileSystem", "DatafluxS3FileSystem", "register"]
