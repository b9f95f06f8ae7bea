"""Paths of objects, as a str or as a pathlib.Path."""

from __future__ import annotations

import os
from pathlib import PurePath

from dataflux._place import with_both_slashes

_SCHEMES = ("gs", "gcs")


def process_input_path(path: str | os.PathLike[str]) -> str:
    """A URL. Of a Path, which makes one slash of two, the one after the scheme is put back; what lies
    behind it is as the Path has it.

    Raises: TypeError for anything else.
    """
    if isinstance(path, str):
        return path
    if isinstance(path, PurePath):
        return with_both_slashes(str(path))
    raise TypeError(f"path: a str or a pathlib.Path is needed, and not a {type(path).__name__}")


def parse_gcs_path(path: str | os.PathLike[str]) -> tuple[str, str]:
    """(bucket, name) of "gs://bucket/name" or "gcs://bucket/name"; the name may be empty.

    Raises: TypeError; ValueError where it is none.
    """
    if isinstance(path, str) and not path:
        raise ValueError("path: it is empty, and has the form gs://bucket/name")
    text = process_input_path(path)
    scheme, found, rest = text.partition("://")
    if not found or scheme not in _SCHEMES:
        raise ValueError(f"path: {text!r} has not the form gs://bucket/name")
    bucket, _, name = rest.partition("/")
    if not bucket:
        raise ValueError(f"path: {text!r} names no bucket: it has the form gs://bucket/name")
    return bucket, name


def url_of(path: str | os.PathLike[str]) -> str:
    """"gs://bucket/name" of a path. Raises: as parse_gcs_path()."""
    bucket, name = parse_gcs_path(path)
    return f"gs://{bucket}/{name}"
