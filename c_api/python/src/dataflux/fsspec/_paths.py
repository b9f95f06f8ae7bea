"""Paths of fsspec: "bucket/name", with or without the protocol before it."""

from __future__ import annotations

from fsspec.utils import stringify_path

PROTOCOLS = ("dataflux", "gs", "gcs")
_PREFIXES = tuple(name + mark for name in PROTOCOLS for mark in ("://", "::"))


class Paths:
    """What a filesystem does with paths. A slash at the end stays, as with gcsfs: it may be of an
    object's name."""

    protocol = PROTOCOLS
    root_marker = ""
    version_aware = False

    @classmethod
    def _strip_protocol(cls, path):
        if isinstance(path, (list, tuple)):
            return [cls._strip_protocol(each) for each in path]
        path = stringify_path(path)
        if not isinstance(path, str):
            raise TypeError(f"path: a str is needed, and not a {type(path).__name__}")
        for prefix in _PREFIXES:
            if path.startswith(prefix):
                path = path[len(prefix):]
                break
        else:
            for name in PROTOCOLS:
                if path.startswith(name + ":/"):
                    raise ValueError(f"path: {path!r} has lost a slash, as a pathlib.Path takes it "
                                     f"away: {name}://bucket/name is meant")
        return path.lstrip("/")

    @classmethod
    def _split_path(cls, path, version_aware=False):
        """(bucket, name, generation as a str or None)"""
        bucket, _, name = cls._strip_protocol(path).partition("/")
        if version_aware and name:
            before, mark, generation = name.rpartition("#")
            if not mark:
                before, mark, generation = name.rpartition("?generation=")
            if mark and before and generation.isascii() and generation.isdigit():
                return bucket, before, generation
        return bucket, name, None

    def split_path(self, path):
        """(bucket, name, generation): the last is a str where the path ends in "#" and a number,
        and the filesystem is `version_aware`; else None."""
        return self._split_path(path, self._fs.version_aware)

    @classmethod
    def _parent(cls, path):
        return cls._strip_protocol(path).rstrip("/").rpartition("/")[0]

    def _object(self, path, generation=None):
        """(bucket, name, generation as a number, 0 = the live one) of a path that names an object."""
        bucket, name, of_path = self.split_path(path)
        if not bucket or not name:
            raise IsADirectoryError(f"path: {path!r} names no object: it has the form bucket/name")
        if generation and of_path and str(generation) != of_path:
            raise ValueError(f"generation: {generation!r} is not that of the path {path!r}")
        return bucket, name, int(generation or of_path or 0)

    def _target(self, path, argument="path"):
        """(bucket, name) of what is to be written."""
        self._writable(path, argument)
        bucket, name, generation = self._object(path)
        if generation:
            raise ValueError(f"{argument}: {path!r} names a generation, and what is written gets a "
                             "new one")
        return bucket, name

    def _writable(self, path, argument="path"):
        if self._fs.access == "read_only":
            raise PermissionError(f"{argument}: {path!r} cannot be changed: this filesystem was made "
                                  'with access="read_only"')
