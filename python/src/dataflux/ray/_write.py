"""Datasets of Ray as objects and shards: all of them or none, by a manifest or an index that is written last."""

from __future__ import annotations

import os
import tempfile
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, Iterable, List, Tuple

from ray.data import Dataset
from ray.data.block import BlockAccessor
from ray.data.datasource import Datasink

from .._client import Client, client_for, given_client
from .._errors import AlreadyExistsError, NotFoundError, PreconditionError
from .._listing import Listing
from .._place import count_of, url_of
from ..webdataset._encode import default_handlers, encode_field
from ._clients import carried, client_of

_PUTS = 32  # of a task at a time
_Written = List[Tuple[str, int]]  # names and generations


def write_objects(dataset: Dataset, url: str | tuple[str, str], *, manifest: str | os.PathLike[str],
                  name: str = "name", bytes: str = "bytes", client: Client | None = None,
                  concurrency: int | None = None, ray_remote_args: Dict[str, Any] | None = None) -> None:
    """Writes a dataset of Ray as objects, one for each row; and last the manifest, by which they are read.

    Until the manifest is there, nothing counts. A task that Ray repeats writes no object twice. Where anything fails,
    all that lies below the prefix is removed.

    Arguments:
        url: "gs://bucket/folder", below which nothing lies. It is the job's own.
        manifest: a path, or "gs://bucket/name", which does not lie below `url`; what is there is replaced.
        name, bytes: the columns of the names, below `url`, and of the bytes or texts.
        client: its options go to the workers, and each has one of its own; None = the module's.
        concurrency, ray_remote_args: as of Dataset.write_datasink().

    Raises: AlreadyExistsError where something lies below the prefix, or two rows of one name differ. What a task has
        failed with.
    """
    sink = ObjectsDatasink(*_begun(client, url, manifest, "manifest"), name, bytes)
    dataset.write_datasink(sink, concurrency=concurrency, ray_remote_args=ray_remote_args or {})


def write_shards(dataset: Dataset, url: str | tuple[str, str], *, index: str | os.PathLike[str], count: int = 0,
                 bytes: int = 0, client: Client | None = None, concurrency: int | None = None,
                 ray_remote_args: Dict[str, Any] | None = None) -> None:
    """Writes a dataset of Ray as tar shards, a sample for each row; and last their index, by which they are read.

    "__key__" is the sample's key, and each other column a field. Bytes and texts are written as they are; other values
    as dataflux.webdataset's writers encode them: "cls" as a number, "ten" as arrays. What is null is left out.

    Until the index is there, nothing counts. Where anything fails, all that lies below the prefix is removed.

    Arguments:
        url: "gs://bucket/folder", below which nothing lies. It is the job's own.
        index: a path, or "gs://bucket/name.dfx", which does not lie below `url`; what is there is replaced.
        count, bytes: of a shard at most, as of shard_writer(). Ray gives a task rows for about one shard.
        client: its options go to the workers, and each has one of its own; None = the module's.
        concurrency, ray_remote_args: as of Dataset.write_datasink().

    Raises: AlreadyExistsError where something lies below the prefix; NotFoundError for a dataset without rows. What a
        task has failed with.
    """
    if not count_of(count, "count", 0, 64) and not count_of(bytes, "bytes", 0, 64):
        raise ValueError("count, bytes: one of them is needed, for it says where a shard ends")
    sink = ShardsDatasink(*_begun(client, url, index, "index"), count, bytes)
    dataset.write_datasink(sink, concurrency=concurrency, ray_remote_args=ray_remote_args or {})


def _begun(client, url, last, argument):
    """(options of the client, bucket, prefix, what is written last), where nothing lies below the prefix."""
    client = given_client(client) or client_for(url)
    bucket, prefix = (part.decode() for part in client._prefix_place(url))
    prefix = prefix.rstrip("/") + "/"
    if prefix == "/":
        raise ValueError(f"url: {url!r} names no prefix: it has the form gs://bucket/prefix")
    last = os.fspath(last)
    if "://" not in last:
        last = os.path.abspath(last)
    else:
        of, name, _ = client._object_place(last, argument)
        if (of.decode(), name.decode()[:len(prefix)]) == (bucket, prefix):
            raise ValueError(f"{argument}: {last} lies below {url_of(bucket, prefix)}, where the job's objects lie "
                             "alone")
    for batch in client.list_batches((bucket, prefix)):
        if len(batch):
            raise AlreadyExistsError(f"{batch[0].url} lies below the prefix, which is to be empty: give another one, "
                                     "or remove what is there by remove_prefix()", bucket=bucket,
                                     object=batch[0].name)
    return carried(client), bucket, prefix, last


class _Writes(Datasink[_Written]):
    """What both have: what is written counts by what is written last."""

    def __init__(self, client: bytes, bucket: str, prefix: str, last: str) -> None:
        self._client, self._bucket, self._prefix, self._last = client, bucket, prefix, last

    @property
    def _place(self):
        return self._bucket, self._prefix

    def _commit(self, client: Client, listing: Listing) -> None:
        """Makes what is listed count."""
        raise NotImplementedError

    def _leftover(self, name: str, written: Dict[str, int]) -> bool:
        """Whether an object is of an attempt that Ray has repeated."""
        return name not in written

    def on_write_complete(self, write_result: Any) -> None:
        client = client_of(self._client)
        written = dict(each for task in write_result.write_returns for each in task or ())
        listing = client.list(self._place)
        left = [row for row in listing if self._leftover(row.name, written)]
        for row in left:
            client.delete(row, missing_ok=True)
        listing = client.list(self._place) if left else listing
        there = dict(zip(listing.names, (row.generation for row in listing)))
        for name, generation in written.items():
            if there.get(name) != generation:
                raise PreconditionError(f"{url_of(self._bucket, name)} is not what this job has written: nobody else "
                                        "is to write below the prefix", bucket=self._bucket, object=name)
        self._commit(client, listing)

    def on_write_failed(self, error: Exception) -> None:
        client_of(self._client).remove_prefix(self._place, on_error="return")


def _rows_of(blocks):
    for block in blocks:
        yield BlockAccessor.for_block(block).iter_rows(public_row_format=True)


class ObjectsDatasink(_Writes):
    """Rows as objects."""

    def __init__(self, client: bytes, bucket: str, prefix: str, last: str, name: str, data: str) -> None:
        super().__init__(client, bucket, prefix, last)
        self._name, self._data = name, data

    def write(self, blocks: Iterable[Any], ctx: Any) -> _Written:
        client, made = client_of(self._client), []
        with ThreadPoolExecutor(_PUTS) as threads:
            for rows in _rows_of(blocks):
                made += threads.map(lambda row: self._put(client, row), rows)
        return made

    def _put(self, client, row):
        name, data = self._prefix + row[self._name], row[self._data]
        data = data.encode() if isinstance(data, str) else data
        place = self._bucket, name
        try:
            return name, client.put(place, data, if_generation_match=0).generation
        except (AlreadyExistsError, PreconditionError):
            # By an attempt that was killed, or whose reply was lost.
            there = client.stat(place)
            if there.size != len(data) or client.get(place, generation=there.generation) != data:
                raise AlreadyExistsError(f"{url_of(*place)} is there with other bytes: two rows have this name, or a "
                                         "task that was repeated has made others", bucket=self._bucket,
                                         object=name) from None
            return name, there.generation

    def _commit(self, client, listing):
        client.save_manifest(listing, self._last)


class ShardsDatasink(_Writes):
    """Rows as samples of shards. Each attempt of a task has names of its own."""

    def __init__(self, client: bytes, bucket: str, prefix: str, last: str, count: int, size: int) -> None:
        super().__init__(client, bucket, prefix, last)
        self._count, self._size = count, size

    @property
    def min_rows_per_write(self) -> int | None:
        return self._count or None

    @property
    def min_bytes_per_write(self) -> int | None:
        return None if self._count else self._size

    def write(self, blocks: Iterable[Any], ctx: Any) -> _Written:
        pattern = f"{self._prefix}{ctx.task_idx:06}-{uuid.uuid4().hex[:8]}-%06d.tar"
        writer = client_of(self._client).shard_writer((self._bucket, pattern), count=self._count, bytes=self._size)
        with writer:
            for rows in _rows_of(blocks):
                for row in rows:
                    writer.write({name: encode_field(value, name, default_handlers) for name, value in row.items()
                                  if value is not None and (name == "__key__" or name[:2] != "__")})
        written = writer.written
        return [] if written is None else [(shard.name, shard.generation) for shard in written.shards]

    def _leftover(self, name, written):
        return name.removesuffix(".dfx") not in written

    def _commit(self, client, listing):
        if not len(listing):
            raise NotFoundError(f"{url_of(*self._place)}: the dataset has no row, and so there are no shards")
        if "://" not in self._last:
            client.index_shards(self._place, self._last)
            return
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "shards.dfx")
            client.index_shards(self._place, path)
            client.upload(path, self._last)
