"""Paths of fsspec: "bucket/name", with or without the protocol before it."""

from __future__ import annotations

import os
from errno import EISDIR
from pathlib import PurePath

from fsspec.utils import stringify_path

from .._place import check_local, cut_bucket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROTOCOLS = ("dataflux", "gs", "gcs")
S3_PROTOCOLS = ("s3", "s3a")


def _prefixes_of(protocols):
    return tuple(name + mark for name in protocols for mark in ("://", "::"))


def is_text(path):
    """It is one path, and not several."""
    return isinstance(path, (str, bytes, os.PathLike)) or not hasattr(path, "__iter__")


def is_folder(path):
    return path.endswith("/")


def without_slash(path):
    """The path of a folder. One slash alone is taken off: behind "bucket/a//" lie objects whose names
    begin with "a//"."""
    return path[:-1] if path.endswith("/") else path


def in_bucket(path):
    """Whether it goes on behind the bucket, if only by a slash."""
    return bool(cut_bucket(path)[1])


def prefix_of(path):
    """(bucket, what the names of all that lies below a folder begin with)"""
    bucket, below, name = cut_bucket(without_slash(path))
    return bucket, name + "/" if below else ""


class Paths:
    """What a filesystem does with paths. A slash at the end stays, as with gcsfs: it may be of an
    object's name."""

    protocol = PROTOCOLS
    _prefixes = _prefixes_of(PROTOCOLS)
    _scheme = "gs"
    _no_buckets = "dataflux makes and removes no buckets: use `gcloud storage buckets create` or `delete`"
    _no_signing = ("dataflux signs no URLs: use `gcloud storage sign-url`, or google-cloud-storage's "
                   "generate_signed_url()")
    root_marker = ""
    version_aware = False

    @classmethod
    def _strip_protocol(cls, path):
        if not is_text(path):
            return [cls._strip_protocol(each) for each in path]
        given, path = path, stringify_path(path)
        if not isinstance(path, str):
            raise TypeError(f"path: a str is needed, and not a {type(path).__name__}")
        for prefix in cls._prefixes:
            if path.startswith(prefix):
                path = path[len(prefix):]
                break
        else:
            for name in cls.protocol:
                if path.startswith(name + ":/"):
                    raise ValueError(f"path: {path!r} has lost a slash, as a pathlib.Path takes it "
                                     f"away: {name}://bucket/name is meant")
            if isinstance(given, PurePath):
                check_local(path)
        return path.lstrip("/")

    def unstrip_protocol(self, name: Any) -> str:
        """The path as a URL that others can read, too: "gs://bucket/name", or "s3://..."."""
        return f"{self._scheme}://{self._strip_protocol(name)}"

    @classmethod
    def _split_path(cls, path, version_aware=False):
        """(bucket, name, generation as a str or None)"""
        bucket, _, name = cut_bucket(cls._strip_protocol(path))
        if version_aware and name:
            before, mark, generation = name.rpartition("#")
            if not mark:
                before, mark, generation = name.rpartition("?generation=")
            if mark and before and generation.isascii() and generation.isdigit():
                return bucket, before, generation
        return bucket, name, None

    def split_path(self, path: Any) -> tuple[str, str, str | None]:
        """(bucket, name, generation): the last is a str where the path ends in "#" and a number,
        and the filesystem is `version_aware`; else None."""
        return self._split_path(path, self._fs.version_aware)

    @classmethod
    def _parent(cls, path):
        path = cls._strip_protocol(path).rstrip("/")
        return path.rpartition("/")[0] if in_bucket(path) else ""

    def _object(self, path, generation=None):
        """(bucket, name, generation as a number, 0 = the live one) of a path that names an object."""
        bucket, name, of_path = self.split_path(path)
        if not bucket or not name:
            raise IsADirectoryError(f"path: {path!r} names no object: it has the form bucket/name")
        if generation and of_path and str(generation) != of_path:
            raise ValueError(f"generation: {generation!r} is not that of the path {path!r}")
        return bucket, name, int(generation or of_path or 0)

    def _target(self, path, argument="path", as_folder=False):
        """(bucket, name) of what is to be written; as_folder: it may be an object that makes a
        folder, which is empty."""
        self._writable(path, argument)
        bucket, name, generation = self._object(path)
        if is_folder(name) and not as_folder:
            raise IsADirectoryError(EISDIR, f"{argument}: it names a folder, and a file is to be "
                                    "written: name the object", path)
        if generation:
            raise ValueError(f"{argument}: {path!r} names a generation, and what is written gets a "
                             "new one")
        return bucket, name

    def _writable(self, path, argument="path"):
        if self._fs.access == "read_only":
            raise PermissionError(f"{argument}: {path!r} cannot be changed: this filesystem was made "
                                  'with access="read_only"')


class S3Paths:
    """The same of S3."""

    protocol = S3_PROTOCOLS
    _prefixes = _prefixes_of(S3_PROTOCOLS)
    _scheme = "s3"
    _no_buckets = "dataflux makes and removes no buckets: use `aws s3 mb` or `aws s3 rb`"
    _no_signing = "dataflux signs no URLs of S3: use `aws s3 presign`, or boto3's generate_presigned_url()"
