"""The objects of a bucket as an iterable dataset of PyTorch."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterator

from torch.utils import data

import dataflux_core as dataflux_core
from dataflux._passes import Pass

from ._listed import LONG_RETRY, Listed, ListedConfig, data_format_default

MODIFIED_RETRY = LONG_RETRY


class Config(ListedConfig):
    """How a DataFluxIterableDataset lists and reads: see ListedConfig."""

    def __init__(self, sort_listing_results: bool = False, max_composite_object_size: int = 100000000,
                 num_processes: int | None = os.cpu_count(), prefix: str | None = None,
                 max_listing_retries: int = 3, disable_compose: bool = False,
                 list_retry_config: Any = MODIFIED_RETRY,
                 download_retry_config: Any = MODIFIED_RETRY) -> None:
        super().__init__(sort_listing_results, max_composite_object_size, num_processes, prefix,
                         max_listing_retries, disable_compose, list_retry_config, download_retry_config)


class DataFluxIterableDataset(Listed, data.IterableDataset):  # type: ignore[misc, unused-ignore]
    """The objects below a prefix, one after the other, in order of names. They are listed when it is made.
    A DataLoader's workers have a block of the list each, by their numbers: with n objects and w workers
    ceil(n / w).

    Arguments and members: as of DataFluxMapStyleDataset.

    Raises: PermissionError where composing is on, and the account may not create and delete objects; a
        dataflux.Error of the listing.

    Processes: fork, spawn and forkserver; each has a client of its own.
    """

    def __init__(self, project_name: str, bucket_name: str, config: Config | None = None,
                 data_format_fn: Callable[[bytes], Any] = data_format_default,
                 storage_client: Any = None) -> None:
        self._list(project_name, bucket_name, Config() if config is None else config, data_format_fn,
                   storage_client, asked=True)

    def __iter__(self) -> Iterator[Any]:
        """Samples; later ones are read ahead meanwhile. Raises: a dataflux.Error that names the object, and
        that again each time a failed pass is asked for more."""
        return Pass(self._samples())

    def _samples(self):
        objects, worker = self.objects, data.get_worker_info()
        if worker is not None:
            each = -(-len(objects) // worker.num_workers)
            objects = objects[worker.id * each:(worker.id + 1) * each]
        for content in dataflux_core.download.dataflux_download_lazy(
                project_name=self.project_name, bucket_name=self.bucket_name, objects=objects,
                storage_client=self._client(),
                dataflux_download_optimization_params=self.dataflux_download_optimization_params,
                retry_config=self.config.download_retry_config):
            yield self.data_format_fn(content)
