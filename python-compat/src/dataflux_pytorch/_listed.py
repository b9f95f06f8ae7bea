"""What both datasets are: a listing, and how its objects are read in each process."""

from __future__ import annotations

import logging
import os
from typing import Any, Callable

from torch.utils.data import get_worker_info

import dataflux
import dataflux_core
from dataflux.torch._share import client_for
from dataflux_core._carried import Carried
from dataflux_core._clients import client_of
from dataflux_core._retry import MODIFIED_RETRY

# Of both datasets.
LONG_RETRY = MODIFIED_RETRY.with_deadline(100000.0).with_delay(initial=1.0, multiplier=1.5, maximum=30.0)

_NEEDED = ("storage.objects.create", "storage.objects.delete")


class ListedConfig:
    """How a dataset lists and reads. Its members may be changed before it is given to a dataset.

    Arguments:
        sort_listing_results: not used: names come in order in any case.
        max_composite_object_size: most bytes of a composite, by way of which small objects are read
            together; 0 = objects are read one by one.
        num_processes: most calls in flight while the bucket is listed.
        prefix: of names; None = the whole bucket.
        max_listing_retries: how often the listing is begun, at least once: anew where that may help, such as
            while the service does not serve.
        disable_compose: sets max_composite_object_size to 0.
        list_retry_config, download_retry_config: how long a failing request is tried again: a Retry of
            google.api_core, or None for a single attempt. A dataflux.Client as storage_client keeps its own
            max_attempts: then list_retry_config changes nothing, and of the other one the deadline counts.
    """

    def __init__(self, sort_listing_results: bool, max_composite_object_size: int,
                 num_processes: int | None, prefix: str | None, max_listing_retries: int,
                 disable_compose: bool, list_retry_config: Any, download_retry_config: Any) -> None:
        self.sort_listing_results = sort_listing_results
        self.max_composite_object_size = 0 if disable_compose else max_composite_object_size
        self.num_processes = num_processes
        self.prefix = prefix
        self.max_listing_retries = max_listing_retries
        self.list_retry_config = list_retry_config
        self.download_retry_config = download_retry_config


def data_format_default(data: Any) -> Any:
    """What an object is made into unless a dataset is told otherwise: its bytes."""
    return data


class Listed(Carried):
    """What a dataset has: the members of the original's."""

    def _list(self, project_name: str, bucket_name: str, config: Any,
              data_format_fn: Callable[[bytes], Any], storage_client: Any, asked: bool) -> None:
        """Sets the members. `asked`: whether the account has the permissions that composing needs is asked,
        where composing is on.

        Raises: PermissionError where it has not; a dataflux.Error of the listing.
        """
        if not isinstance(config, ListedConfig):
            raise TypeError(f"config: a Config is needed, and not a {type(config).__name__}")
        if not callable(data_format_fn):
            raise TypeError("data_format_fn: a callable is needed, and not a "
                            f"{type(data_format_fn).__name__}")
        self.project_name = project_name
        self.bucket_name = bucket_name
        self.config = config
        self.data_format_fn = data_format_fn
        self.storage_client = storage_client
        self._own: tuple[int, int, dataflux.Client] | None = None
        if asked and config.max_composite_object_size:
            self._check_permissions()
        self.dataflux_download_optimization_params = \
            dataflux_core.download.DataFluxDownloadOptimizationParams(config.max_composite_object_size)
        self.objects = self._listed()

    def _check_permissions(self):
        client = client_of(self.storage_client, self.config.list_retry_config)
        granted = client.permissions(f"gs://{self.bucket_name}", _NEEDED)
        missing = [each for each in _NEEDED if each not in granted]
        if missing:
            raise PermissionError(
                f"bucket {self.bucket_name}: composed download needs {' and '.join(missing)}, which the "
                "account lacks. Set disable_compose=True in the dataset's Config, or grant it")

    def _listed(self):
        lister = dataflux_core.fast_list.ListingController(
            max_parallelism=self.config.num_processes or 0, project=self.project_name,
            bucket=self.bucket_name, sort_results=self.config.sort_listing_results,
            prefix=self.config.prefix, retry_config=self.config.list_retry_config)
        lister.client = self.storage_client
        left = self.config.max_listing_retries
        while True:
            try:
                return lister.run()
            except dataflux.Error as error:
                left -= 1
                if not error.retryable or left <= 0:
                    raise
                logging.getLogger("dataflux").warning("the listing is begun anew: %s", error)

    def _client(self):
        """The client of this process, with its share of the machine in a DataLoader's worker."""
        worker = get_worker_info()
        workers = worker.num_workers if worker is not None else 0
        if self._own is None or self._own[:2] != (os.getpid(), workers):
            whole = client_of(self.storage_client, self.config.download_retry_config)
            self._own = os.getpid(), workers, client_for(whole, workers) if workers else whole
        return self._own[2]

    def _retry(self):
        return self.config.download_retry_config

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_own": None}
