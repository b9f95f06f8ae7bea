"""Listings: all objects below a prefix, by many calls at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Iterable, Sequence

from dataflux import Client, NotFoundError, Row
from dataflux._place import count_of

from ._clients import client_of
from ._objects import Found, pairs_of
from ._retry import MODIFIED_RETRY

DEFAULT_ALLOWED_CLASS = ["STANDARD"]
ALL_CLASSES = frozenset(("STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE", "MULTI_REGIONAL", "REGIONAL",
                         "DURABLE_REDUCED_AVAILABILITY"))
_STATS = 64  # requests at a time


def remove_prefix(text: str, prefix: str) -> str:
    """`text` without `prefix` at its beginning."""
    return text.removeprefix(prefix)


class ListingController:
    """Lists a bucket. No process is started for it, so that it runs in daemonic processes, too.

    Arguments:
        max_parallelism: most calls in flight; 0 = found by measuring.
        project: not used: objects are named by their bucket.
        sort_results: not used: names come in order in any case.
        skip_compose: temporary objects of composed downloads are left out.
        prefix: of names; "" or None = all.
        allowed_storage_classes: other than the default, objects of other classes are left out, which
            costs a request for each object, since a listing does not say their classes.
        retry_config: how long a failing request is tried again.

    `client`, an attribute, is the client that lists; None = Application Default Credentials.

    Threads: one at a time.
    """

    def __init__(self, max_parallelism: int, project: str, bucket: str, sort_results: bool = False,
                 skip_compose: bool = True, prefix: str | None = "",
                 allowed_storage_classes: list[str] = DEFAULT_ALLOWED_CLASS,
                 retry_config: Any = MODIFIED_RETRY) -> None:
        self.max_parallelism = max_parallelism
        self.gcs_project = project
        self.bucket = bucket
        self.sort_results = sort_results
        self.client: Any = None
        self.skip_compose = skip_compose
        self.prefix = prefix
        self.allowed_storage_classes = allowed_storage_classes
        self.retry_config = retry_config

    def run(self) -> list[Found]:
        """Lists all objects but those whose names end in "/".

        Returns: (name, size in bytes) of each, in order of names.
        Raises: a dataflux.Error, for it gives all of them or fails; NotFoundError for a bucket that is not
            there, for one. TypeError and ValueError for a bad argument before any request.
        """
        parallelism = count_of(self.max_parallelism, "max_parallelism", bits=32)
        client = client_of(self.client, self.retry_config)
        classes = _classes_of(self.allowed_storage_classes)
        listing = client.list((self.bucket, self.prefix or ""), composites=not self.skip_compose,
                              parallelism=parallelism)
        rows: Iterable[Row] = (row for row in listing if not row.name.endswith("/"))
        return pairs_of(rows if classes is None else _of_classes(client, list(rows), classes))


def _classes_of(allowed):
    """The classes that are left; None = of all."""
    if allowed is None or allowed is DEFAULT_ALLOWED_CLASS:
        return None
    if isinstance(allowed, str) or not all(isinstance(each, str) for each in allowed):
        raise TypeError("allowed_storage_classes: a list of str is needed, such as [\"STANDARD\"]")
    return None if ALL_CLASSES.issubset(allowed) else frozenset(allowed)


def _of_classes(client: Client, rows: Sequence[Row], classes: frozenset[str]) -> Iterable[Row]:
    def allowed(row: Row) -> bool:
        try:
            return client.stat(row, fields=["storage_class"]).storage_class in classes
        except NotFoundError:
            return False  # removed since it was listed

    with ThreadPoolExecutor(_STATS) as pool:
        for row, kept in zip(rows, pool.map(allowed, rows)):
            if kept:
                yield row
