"""Objects and samples as datasets of Ray: what is read is planned here, and read by Ray's tasks."""

from __future__ import annotations

import os
import tempfile
from array import array
from typing import Any, Callable, Dict, Iterable, Iterator, List, Literal, Sequence

import pyarrow
import ray
from ray.data import Dataset, Datasource, ReadTask
from ray.data.block import BlockMetadata

from .._client import Client, client_for_saved, given_client
from .._listing import Listing
from .._manifest import Manifest
from .._place import flag_of, one_of
from .._shard_lists import is_saved_index
from .._shards import ShardIndex
from ._clients import carried, client_of
from ._plan import Packed, parts_of
from ._tables import tables_of

_OBJECT_COLUMNS = {"name": pyarrow.string(), "bytes": pyarrow.large_binary(), "size": pyarrow.int64(),
                   "generation": pyarrow.int64()}
_indexes: Dict[int, ShardIndex] = {}  # of this process, by digest


def read_objects(objects: str | os.PathLike[str] | tuple[str, str] | Listing | Manifest, *,
                 client: Client | None = None, columns: Sequence[str] | None = None, include_paths: bool = False,
                 on_error: Literal["raise", "omit"] = "raise", override_num_blocks: int | None = None,
                 concurrency: int | None = None, ray_remote_args: Dict[str, Any] | None = None) -> Dataset:
    """Objects as a dataset of Ray, a row each: "name", "bytes", "size" and "generation".

    They are read in the generation that was listed. A task reads a run of them, and all have about the same bytes.

    Arguments:
        objects: "gs://bucket/prefix", which is listed here; the path of a manifest; a Listing, or a Manifest.
        client: its options go to the workers, and each has one of its own; None = the module's.
        columns: which of the four; without "bytes" no object is read. None = all.
        include_paths: the URL of each, as the column "path".
        on_error: "raise": an object that cannot be read ends its task by an error that names it; "omit": it has no row.
        override_num_blocks, concurrency, ray_remote_args: as of ray.data.read_datasource().

    Raises: what listing has failed with; TypeError for a client whose options have a secret.
    """
    one_of(on_error, "on_error", ("raise", "omit"))
    wanted = {name: _kind(name, _OBJECT_COLUMNS) for name in (_OBJECT_COLUMNS if columns is None else columns)}
    if flag_of(include_paths, "include_paths"):
        wanted["path"] = pyarrow.string()
    client = given_client(client) or client_for_saved(objects)
    source = ObjectsDatasource(carried(client), Packed.of(_listing_of(client, objects)), wanted, on_error)
    return ray.data.read_datasource(source, override_num_blocks=override_num_blocks, concurrency=concurrency,
                                    ray_remote_args=ray_remote_args or {})


def read_shards(shards: str | os.PathLike[str] | tuple[str, str] | List[str] | Listing | ShardIndex, *,
                client: Client | None = None, columns: Sequence[str] | None = None, include_paths: bool = False,
                on_error: Literal["raise", "omit"] = "raise", override_num_blocks: int | None = None,
                concurrency: int | None = None, ray_remote_args: Dict[str, Any] | None = None) -> Dataset:
    """Samples of tar shards as a dataset of Ray, a row each: "__key__", and a column of bytes for each field.

    A task reads a run of samples, also a part of a shard, and all have about the same bytes. A field that a sample
    lacks is null.

    Arguments:
        shards: a ShardIndex, or its path; "gs://bucket/name.dfx", an index that was saved; or shards as of
            index_shards(), which are indexed here.
        client: its options go to the workers, and each has one of its own; None = the module's.
        columns: "__key__" and fields: these are in each block, and others in none. None = all fields that there are.
        include_paths: the URL of each sample's shard, as the column "path".
        on_error: "raise": a sample that cannot be read ends its task by an error that names it; "omit": it has no row.
        override_num_blocks, concurrency, ray_remote_args: as of ray.data.read_datasource().

    Raises: what indexing has failed with; TypeError for a client whose options have a secret.
    """
    one_of(on_error, "on_error", ("raise", "omit"))
    wanted = {"__key__": pyarrow.string()} if columns is None else \
        {name: pyarrow.string() if name == "__key__" else pyarrow.large_binary() for name in columns}
    if flag_of(include_paths, "include_paths"):
        wanted["path"] = pyarrow.string()
    client = given_client(client) or client_for_saved(shards)
    source = ShardsDatasource(carried(client), _index_of(client, shards), wanted, columns is None, on_error)
    return ray.data.read_datasource(source, override_num_blocks=override_num_blocks, concurrency=concurrency,
                                    ray_remote_args=ray_remote_args or {})


def _kind(name, kinds):
    if name not in kinds:
        raise ValueError(f"columns: {name!r} is none of {', '.join(kinds)}")
    return kinds[name]


def _listing_of(client, objects):
    if isinstance(objects, (str, os.PathLike)) and "://" not in os.fspath(objects):
        objects = client.open_manifest(objects)
    if isinstance(objects, Manifest):
        objects = objects.rows()
    return objects if isinstance(objects, Listing) else client.list(objects)


def _index_of(client, shards):
    """The bytes of an index."""
    if isinstance(shards, (str, os.PathLike)) and "://" not in os.fspath(shards):
        shards = ShardIndex.open(shards)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "shards.dfx")
        if isinstance(shards, ShardIndex):
            path = shards.path
        elif is_saved_index(shards):
            client.open_shard_index(shards, path)
        else:
            client.index_shards(shards, path)
        with open(path, "rb") as file:
            return file.read()


def _index_in(data):
    """The index of these bytes, which a file without a name has."""
    with tempfile.NamedTemporaryFile(suffix=".dfx") as file:
        file.write(data)
        file.flush()
        return ShardIndex.open(file.name)


def _opened(reference, digest):
    """An index in this process: from Ray's objects."""
    index = _indexes.get(digest)
    if index is None:
        index = _indexes[digest] = _index_in(ray.get(reference))
    return index


class _Reads(Datasource):
    """What both have: a plan of runs, and a task for each. A pickle of it goes to Ray's own actors."""

    def __init__(self, client: bytes, columns: Dict[str, Any], on_error: str) -> None:
        super().__init__()
        self._client, self._columns, self._on_error = client, columns, on_error

    def _plan(self, count: int) -> Iterator[tuple[int, int, Callable[[], Iterable[Any]]]]:
        """(rows, bytes, what reads them) of each task."""
        raise NotImplementedError

    def get_read_tasks(self, parallelism: int, per_task_row_limit: int | None = None,
                       data_context: Any = None) -> List[ReadTask]:
        omits = self._on_error == "omit"
        return [ReadTask(read, BlockMetadata(num_rows=None if omits else rows, size_bytes=size, input_files=None,
                                             exec_stats=None), per_task_row_limit=per_task_row_limit)
                for rows, size, read in self._plan(parallelism)]


class ObjectsDatasource(_Reads):
    """Objects of one bucket."""

    def __init__(self, client: bytes, rows: Packed, columns: Dict[str, Any], on_error: str) -> None:
        super().__init__(client, columns, on_error)
        self._rows = rows

    def estimate_inmemory_data_size(self) -> int | None:
        return sum(self._rows.sizes) if "bytes" in self._columns else 64 * len(self._rows)

    def _plan(self, count):
        rows = self._rows
        for run in parts_of(rows.sizes, count):
            part = rows.part(run)
            yield len(part), sum(part.sizes), _reading(_objects, self._client, part, self._columns, self._on_error)


class ShardsDatasource(_Reads):
    """Samples of shards, whose index is among Ray's objects, so that each worker has it."""

    def __init__(self, client: bytes, index: bytes, columns: Dict[str, Any], others: bool, on_error: str) -> None:
        super().__init__(client, columns, on_error)
        self._others = others
        self._index = ray.put(index)
        opened = _index_in(index)
        self._digest = opened.digest
        _indexes[self._digest] = opened
        self._bytes = sum(shard.size for shard in opened.shards)

    def estimate_inmemory_data_size(self) -> int | None:
        return self._bytes

    def _plan(self, count):
        index = _opened(self._index, self._digest)
        sizes = array("Q", bytes(8 * len(index)))
        index._columns(array("Q", range(len(index))), {"sizes": sizes})
        for run in parts_of(sizes, count):
            yield len(run), sum(sizes[run.start:run.stop]), _reading(
                _samples, self._client, self._index, self._digest, run, self._columns, self._others, self._on_error)


def _reading(function, *arguments):
    """A function without arguments, by which Ray names the task."""

    def read() -> Iterable[Any]:
        return function(*arguments)

    return read


def _objects(client, rows, columns, on_error):
    return tables_of(_object_rows(client_of(client), rows, columns, on_error), columns)


def _object_rows(client, rows, columns, on_error):
    if "bytes" not in columns:
        for row in rows:
            yield _object_row(row, None, row.generation, columns)
        return
    with client.get_many(rows, on_error=on_error) as batches:
        for item in batches.items():
            yield _object_row(item.request, item.data, item.generation, columns)


def _object_row(row, data, generation, columns):
    known = {"name": row.name, "bytes": data, "size": row.size if data is None else len(data), "generation": generation}
    if "path" in columns:
        known["path"] = row.url
    return known


def _samples(client, reference, digest, run, columns, others, on_error):
    index = _opened(reference, digest)
    return tables_of(_sample_rows(client_of(client), index, run, columns, others, on_error), columns,
                     pyarrow.large_binary() if others else None)


def _sample_rows(client, index, run, columns, others, on_error):
    with client.get_samples(index, run, on_error=on_error) as samples:
        for sample in samples:
            url = sample.pop("__url__")
            if "path" in columns:
                if "path" in sample:
                    raise ValueError(f"include_paths: {url}: the sample {sample['__key__']!r} has a field \"path\"")
                sample["path"] = url
            yield sample if others else {name: sample.get(name) for name in columns}
