"""Downloads: the bytes of objects by their names and sizes, many at a time, small ones by way of composites
where that is asked for.

A failed object fails the call with a dataflux.Error that names it. Nothing is left in the bucket when a call
ends, a generator is closed, or a program is interrupted; what a killed process has left `dataflux sweep`
removes.
"""

from __future__ import annotations

import queue
from typing import Any, Iterator, Sequence

from dataflux import Client, DataLossError, Item, NotFoundError
from dataflux._errors import again
from dataflux._passes import Pass

from ._clients import client_of
from ._objects import Found, requests_of
from ._retry import MODIFIED_RETRY, times_of

MAX_NUM_OBJECTS_TO_COMPOSE = 32
COMPOSED_PREFIX = "dataflux-composed-objects/"


class DataFluxDownloadOptimizationParams:
    """How objects are downloaded.

    Arguments:
        max_composite_object_size: most bytes of a composite; 0 = objects are read one by one, and nothing
            is written to the bucket.
    """

    def __init__(self, max_composite_object_size: int) -> None:
        self.max_composite_object_size = max_composite_object_size


class ComposedObject:
    """An object that compose() has made.

    name, bucket_name
    size, generation
    """

    def __init__(self, client: Client, bucket_name: str, name: str, size: int, generation: int) -> None:
        self._client = client
        self.bucket_name = bucket_name
        self.name = name
        self.size = size
        self.generation = generation

    def delete(self, retry: Any = MODIFIED_RETRY) -> None:
        """Removes it. Where something else has its name by now, that stays."""
        self._client.delete((self.bucket_name, self.name), generation=self.generation, missing_ok=True,
                            timeout=times_of(retry).limit)

    def __repr__(self) -> str:
        return f"<ComposedObject gs://{self.bucket_name}/{self.name}, {self.size} bytes>"


def compose(project_name: str, bucket_name: str, destination_blob_name: str, objects: Sequence[Found],
            storage_client: Any = None, retry_config: Any = MODIFIED_RETRY) -> ComposedObject:
    """Puts up to 32 objects together into one of the same bucket, within the service. They stay.

    Raises: ValueError for more, before any request; NotFoundError; PermissionDeniedError.
    """
    if len(objects) > MAX_NUM_OBJECTS_TO_COMPOSE:
        raise ValueError(f"objects: at most {MAX_NUM_OBJECTS_TO_COMPOSE} can be composed, and not "
                         f"{len(objects)}")
    client = client_of(storage_client, retry_config)
    limit = times_of(retry_config).limit
    target = bucket_name, destination_blob_name
    try:
        there = client.stat(target, fields=[], timeout=limit).generation
    except NotFoundError:
        there = 0
    # With a condition a request whose reply was lost can be sent again.
    made = client.compose([(bucket_name, str(name)) for name, _ in objects], target,
                          if_generation_match=there, timeout=limit)
    return ComposedObject(client, bucket_name, destination_blob_name, made.size, made.generation)


def decompose(project_name: str, bucket_name: str, composite_object_name: str, objects: Sequence[Found],
              storage_client: Any = None, retry_config: Any = MODIFIED_RETRY) -> list[bytes]:
    """The bytes of objects, of one that was composed of them, by their sizes.

    Raises: DataLossError where the sizes do not make up the object.
    """
    whole = download_single(storage_client, bucket_name, composite_object_name, retry_config)
    total = sum(size for _, size in objects)
    if total != len(whole):
        raise DataLossError(f"gs://{bucket_name}/{composite_object_name} has {len(whole)} bytes, and the "
                            f"objects that it was made of {total}: some were overwritten since they were "
                            "listed", bucket=bucket_name, object=composite_object_name)
    parts, begin = [], 0
    for _, size in objects:
        parts.append(whole[begin:begin + size])
        begin += size
    return parts


def download_single(storage_client: Any, bucket_name: str, object_name: str,
                    retry_config: Any = MODIFIED_RETRY) -> bytes:
    """The bytes of an object as they are stored."""
    return client_of(storage_client, retry_config).get((bucket_name, str(object_name)),
                                                       timeout=times_of(retry_config).limit)


def dataflux_download(project_name: str, bucket_name: str, objects: Sequence[Found],
                      storage_client: Any = None,
                      dataflux_download_optimization_params: DataFluxDownloadOptimizationParams
                      | None = None, threading_enabled: bool = False,
                      retry_config: Any = MODIFIED_RETRY) -> list[bytes]:
    """The bytes of objects, in their order.

    Arguments:
        objects: (name, size) of each. Those of a listing of ours know their generations; others are never
            composed.
        dataflux_download_optimization_params: None = nothing is composed.
        threading_enabled: not used: no signal's handler is installed.
    """
    return list(dataflux_download_lazy(project_name, bucket_name, objects, storage_client,
                                       dataflux_download_optimization_params, threading_enabled,
                                       retry_config))


def dataflux_download_threaded(project_name: str, bucket_name: str, objects: Sequence[Found],
                               storage_client: Any = None,
                               dataflux_download_optimization_params: DataFluxDownloadOptimizationParams
                               | None = None, threads: int = 1,
                               retry_config: Any = MODIFIED_RETRY) -> list[bytes]:
    """As dataflux_download(), which reads many objects at a time without threads of Python's: `threads`
    counts for nothing."""
    return dataflux_download(project_name, bucket_name, objects, storage_client,
                             dataflux_download_optimization_params, True, retry_config)


def dataflux_download_parallel(project_name: str, bucket_name: str, objects: Sequence[Found],
                               storage_client: Any = None,
                               dataflux_download_optimization_params: DataFluxDownloadOptimizationParams
                               | None = None, parallelization: int = 1,
                               retry_config: Any = MODIFIED_RETRY) -> list[bytes]:
    """As dataflux_download(), without processes: `parallelization` counts for nothing."""
    return dataflux_download(project_name, bucket_name, objects, storage_client,
                             dataflux_download_optimization_params, True, retry_config)


def df_download_thread(results_queue: queue.Queue[list[bytes]], project_name: str, bucket_name: str,
                       objects: Sequence[Found], storage_client: Any = None,
                       dataflux_download_optimization_params: DataFluxDownloadOptimizationParams
                       | None = None, retry_config: Any = MODIFIED_RETRY) -> None:
    """Puts what dataflux_download() gives on a queue."""
    results_queue.put(dataflux_download(project_name, bucket_name, objects, storage_client,
                                        dataflux_download_optimization_params, True, retry_config))


def dataflux_download_lazy(project_name: str, bucket_name: str, objects: Sequence[Found],
                           storage_client: Any = None,
                           dataflux_download_optimization_params: DataFluxDownloadOptimizationParams
                           | None = None, threading_enabled: bool = False,
                           retry_config: Any = MODIFIED_RETRY) -> Iterator[bytes]:
    """The bytes of objects, in their order, one after the other: later ones are read ahead meanwhile, as far
    as the client's memory goes. close() of the iterator ends that. After a failure it fails again, each time.

    An object that was overwritten since it was listed is read as it is now, whole, as one that is not
    composed.
    """
    return Pass(_lazily(bucket_name, objects, storage_client, dataflux_download_optimization_params,
                        retry_config))


def _lazily(bucket_name, objects, storage_client, dataflux_download_optimization_params, retry_config):
    client = client_of(storage_client, retry_config)
    most = 0
    if dataflux_download_optimization_params is not None:
        most = dataflux_download_optimization_params.max_composite_object_size
    requests = requests_of(bucket_name, objects, most)
    with client.get_many(requests, on_error="return", compose=most > 0) as reads:
        for item in reads.items():
            yield bytes(_data_of(client, item))


def _data_of(client: Client, item: Item) -> Any:
    error = item.error
    if error is None:
        return item.data
    row = item.request
    if isinstance(error, NotFoundError) and not isinstance(row, tuple):
        return client.get((error.bucket, error.object))
    raise again(error)
