"""Shards that are kept in a folder here, each as a whole file."""

from __future__ import annotations

import hashlib
import os
import re
import time
from typing import Any, Callable, Iterator

from ._open import gopen, open_gs, path_of
from ._urls import scheme_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._client import Client

_PIECE = 4 << 20
_ABANDONED = 24 * 3600.0  # seconds after which what a killed process has begun is removed


class Cache:
    """A folder with copies of shards, by their whole URLs; of gs:// by the generation, too, so that a shard
    that was written anew is read anew.

    Arguments:
        folder: must be there.
        size: most bytes of all copies; what was used longest ago goes. Below 1: no limit.
        url_to_name: the name of a copy; None = by a digest of the URL.

    Processes: any number share a folder.
    """

    def __init__(self, folder: str, size: int, url_to_name: Callable[[str], str] | None,
                 client: Client | None) -> None:
        self._folder = os.path.expanduser(folder)
        if not os.path.isdir(self._folder):
            raise ValueError(f"cache_dir: there is no folder {self._folder}")
        self._size = size
        self._url_to_name = url_to_name
        self._client = client

    def _place(self, url):
        """(path of the copy, arguments to open the shard by)"""
        if self._url_to_name is not None:
            name = self._url_to_name(url)
            if "/" in name or not name:
                raise ValueError(f"url_to_name: {name!r} of {url} is no name of a file")
            return os.path.join(self._folder, name), {}
        identity, how = url, {}
        if scheme_of(url) in ("gs", "s3", "ais"):
            from .._client import client_for

            generation = (self._client or client_for(url)).stat(url).generation
            identity, how = f"{url}#{generation}", {"generation": generation}
        digest = hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        readable = re.sub(r"[^A-Za-z0-9._-]", "_", url.rpartition("/")[2])[-100:]
        return os.path.join(self._folder, f"{digest}-{readable}"), how

    def file(self, url: str) -> str:
        """The path of the copy of a shard, which is made where there is none; of a local one its own."""
        own = path_of(url)
        if own is not None:
            return own
        path, how = self._place(url)
        try:
            os.utime(path)
        except FileNotFoundError:
            self._fetch(url, path, how)
            self._make_room(path)
        return path

    def _fetch(self, url, path, how):
        source = open_gs(url, client=self._client, **how) if how else gopen(url, client=self._client)
        beside = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.part"
        try:
            with source, open(beside, "xb") as file:
                for piece in iter(lambda: source.read(_PIECE), b""):
                    file.write(piece)
            os.replace(beside, path)
        except BaseException:
            try:
                os.unlink(beside)
            except FileNotFoundError:
                pass
            raise

    def _files(self) -> Iterator[Any]:
        with os.scandir(self._folder) as entries:
            for entry in entries:
                try:
                    if entry.is_file(follow_symlinks=False):
                        yield entry.stat(follow_symlinks=False), entry.path
                except FileNotFoundError:  # another process has removed it
                    pass

    def _make_room(self, newest):
        if self._size < 1:
            return
        files = sorted((known.st_mtime, known.st_size, path) for known, path in self._files())
        total = sum(size for _, size, _ in files)
        for when, size, path in files:
            part = path.endswith(".part")
            if path == newest or part and time.time() - when < _ABANDONED:
                continue
            if total <= self._size and not part:
                break
            try:
                os.unlink(path)  # who reads it reads on
            except FileNotFoundError:
                pass
            total -= size
