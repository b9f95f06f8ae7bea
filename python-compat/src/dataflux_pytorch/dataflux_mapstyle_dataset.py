"""The objects of a bucket as a map-style dataset of PyTorch."""

from __future__ import annotations

import os
from typing import Any, Callable, Sequence

from torch.utils import data

import dataflux_core as dataflux_core

from ._listed import LONG_RETRY, Listed, ListedConfig, data_format_default

MODIFIED_RETRY = LONG_RETRY


class Config(ListedConfig):
    """How a DataFluxMapStyleDataset lists and reads: see ListedConfig.

    Arguments, beside those of ListedConfig:
        threads_per_process: not used: many objects are read at a time without threads of Python's.
    """

    def __init__(self, sort_listing_results: bool = False, max_composite_object_size: int = 100000000,
                 num_processes: int | None = os.cpu_count(), prefix: str | None = None,
                 max_listing_retries: int = 3, threads_per_process: int = 1,
                 disable_compose: bool = False, list_retry_config: Any = MODIFIED_RETRY,
                 download_retry_config: Any = MODIFIED_RETRY) -> None:
        super().__init__(sort_listing_results, max_composite_object_size, num_processes, prefix,
                         max_listing_retries, disable_compose, list_retry_config, download_retry_config)
        self.threads_per_process = threads_per_process


class DataFluxMapStyleDataset(Listed, data.Dataset):  # type: ignore[misc, unused-ignore]
    """The objects below a prefix by their numbers, in order of names. They are listed when it is made.

    Arguments:
        project_name: not used: objects are named by their bucket.
        bucket_name: where they are.
        config: a Config; None = one of defaults.
        data_format_fn: what makes a sample of an object's bytes, in the process that reads it.
        storage_client: a google.cloud.storage.Client, whose credentials and endpoint are used; None =
            Application Default Credentials; a dataflux.Client.

    Members: those names, `objects`, a list of (name, size in bytes), and
        `dataflux_download_optimization_params`.

    Raises: PermissionError where a client is given, composing is on, and the account may not create and
        delete objects; a dataflux.Error of the listing.

    Processes: fork, spawn and forkserver; each has a client of its own. Threads: any may read.
    """

    def __init__(self, project_name: str, bucket_name: str, config: Config | None = None,
                 data_format_fn: Callable[[bytes], Any] = data_format_default,
                 storage_client: Any = None) -> None:
        self._list(project_name, bucket_name, Config() if config is None else config, data_format_fn,
                   storage_client, asked=storage_client is not None)

    def __len__(self) -> int:
        return len(self.objects)

    def __getitem__(self, idx: int) -> Any:
        """A sample. Raises: IndexError; a dataflux.Error that names the object."""
        return self.data_format_fn(dataflux_core.download.download_single(
            storage_client=self._client(), bucket_name=self.bucket_name,
            object_name=self.objects[idx][0], retry_config=self.config.download_retry_config))

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Samples of these numbers, in their order, read together: what a DataLoader asks for."""
        return [self.data_format_fn(content) for content in
                dataflux_core.download.dataflux_download_lazy(
                    project_name=self.project_name, bucket_name=self.bucket_name,
                    objects=[self.objects[idx] for idx in indices], storage_client=self._client(),
                    dataflux_download_optimization_params=self.dataflux_download_optimization_params,
                    retry_config=self.config.download_retry_config)]
