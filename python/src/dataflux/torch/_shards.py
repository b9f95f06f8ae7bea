"""What is said of a name that is no object, and the folder of a distributed checkpoint."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

from .._client import Client
from .._errors import Error, NotFoundError

_FIELDS = ("verb", "bucket", "object", "reason", "request_id", "http_status", "attempts")


@contextmanager
def telling_of_shards(client: Client, bucket: str, name: str) -> Iterator[None]:
    """Where an object is missing one request looks whether there is a distributed checkpoint, and the error
    says so."""
    try:
        yield
    except NotFoundError as why:
        try:
            there = client.exists((bucket, name + "/.metadata"))
        except Error:
            raise why from None
        if not there:
            raise
        raise NotFoundError(
            f"{why}; a sharded checkpoint is there, and no file: dataflux.dcp.StorageReader loads it, and so do "
            "dataflux.lightning's strategies; consolidated() of either makes one state of it",
            **{each: getattr(why, each) for each in _FIELDS}) from why
