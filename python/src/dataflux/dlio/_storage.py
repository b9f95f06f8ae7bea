"""DLIO's storage in a bucket: what lists the data, and where its generators' files go."""

from __future__ import annotations

import os
import tempfile
from fnmatch import fnmatchcase
from typing import Any, List

from dlio_benchmark.common.enumerations import MetadataType, NamespaceType
from dlio_benchmark.data_generator.generator_factory import GeneratorFactory
from dlio_benchmark.storage.storage_factory import StorageFactory
from dlio_benchmark.storage.storage_handler import DataStorage, Namespace

from .._client import client_for


class Buckets(DataStorage):  # type: ignore[misc]
    """Objects below a URL as DLIO's nodes."""

    def __init__(self, namespace: str, framework: Any = None) -> None:
        super().__init__(framework)
        self.namespace = Namespace(namespace.rstrip("/"), NamespaceType.FLAT)
        self._client = client_for(namespace)

    def get_uri(self, id: str) -> str:
        return f"{self.namespace.name}/{os.path.normpath(id)}"

    def create_namespace(self, exist_ok: bool = False) -> bool:
        return True

    def get_namespace(self) -> str:
        name: str = self.namespace.name
        return name

    def create_node(self, id: str, exist_ok: bool = False) -> bool:
        return True  # there are no folders

    def get_node(self, id: str) -> Any:
        url = self.get_uri(id)
        if self._client.exists(url):
            return MetadataType.FILE
        return MetadataType.DIRECTORY if self._below(url) else None

    def walk_node(self, id: str, use_pattern: bool = False) -> List[str]:
        if not use_pattern:
            return self._below(self.get_uri(id))
        pattern = self.get_uri(id)
        listed = self._client.list(pattern[:pattern.index("*")])
        return [row.url for row in listed
                if row.url.count("/") == pattern.count("/") and fnmatchcase(row.url, pattern)]

    def delete_node(self, id: str) -> bool:
        self._client.remove_prefix(self.get_uri(id) + "/")
        return True

    def get_basename(self, id: str) -> str:
        return os.path.basename(id)

    def _below(self, url):
        """Names of what is in a folder."""
        listed = self._client.list(url + "/", delimiter="/")
        return [os.path.basename(name.rstrip("/")) for name in (*listed.names, *listed.prefixes)]


class Generated(Buckets):
    """Where generators write, one file after the other: each is a file here, which is sent when the next one is
    begun, or this ends."""

    def __enter__(self) -> Generated:
        self._folder = tempfile.TemporaryDirectory(prefix="dataflux-dlio-")
        self._file: tuple[str, str] | None = None
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self._send()
        finally:
            self._folder.cleanup()

    def get_uri(self, id: str) -> str:
        self._send()
        path = os.path.join(self._folder.name, os.path.basename(id))
        self._file = path, super().get_uri(id)
        return path

    def _send(self):
        if self._file is not None:
            path, url = self._file
            self._client.upload(path, url)
            os.unlink(path)
            self._file = None


def use_buckets() -> None:
    """From now on what DLIO asks its factories for is in a bucket, where `storage_root` is a URL. It lets nobody
    name classes for these, as it does for loaders and readers."""
    storage, generator = StorageFactory.get_storage, GeneratorFactory.get_generator

    def get_storage(type: Any, namespace: Any, framework: Any = None) -> Any:
        return Buckets(namespace, framework) if "://" in str(namespace) else storage(type, namespace, framework)

    def get_generator(type: Any) -> Any:
        made = generator(type)
        if isinstance(made.storage, Buckets):
            made.generate = _sending(made)
        return made

    StorageFactory.get_storage = staticmethod(get_storage)
    GeneratorFactory.get_generator = staticmethod(get_generator)


def _sending(made):
    """generate() of a generator, whose files are sent."""
    generate = made.generate

    def sending() -> None:
        with Generated(made.storage.namespace.name) as made.storage:
            generate()

    return sending
