"""Listings: all objects below a prefix, by many calls at a time."""

from __future__ import annotations

from typing import Any

from dataflux._place import count_of

from ._clients import client_of
from ._objects import Found, pairs_of
from ._retry import MODIFIED_RETRY

DEFAULT_ALLOWED_CLASS = ["STANDARD"]


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
        allowed_storage_classes: other than the default, objects of other classes are left out.
        retry_config: how long a failing request is tried again. Where `client` is a dataflux.Client that
            keeps its own max_attempts, and this changes nothing.

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
        if classes is not None and not classes:
            return []
        listing = client.list((self.bucket, self.prefix or ""), composites=not self.skip_compose,
                              storage_classes=classes or (), parallelism=parallelism)
        return pairs_of(row for row in listing if not row.name.endswith("/"))


def _classes_of(allowed):
    """The classes that are listed; None = all."""
    if allowed is None or allowed is DEFAULT_ALLOWED_CLASS:
        return None
    if isinstance(allowed, str) or not all(isinstance(each, str) for each in allowed):
        raise TypeError("allowed_storage_classes: a list of str is needed, such as [\"STANDARD\"]")
    return list(allowed)
