"""Where a checkpoint lies."""

from __future__ import annotations

import os
import re
from typing import Any

from .._place import check_local, is_url, prefix_place, url_of, with_both_slashes

METADATA = ".metadata"  # the last object, as torch names it
# What a save writes lies in a folder of its own below the set's prefix.
_SAVE_FOLDER = re.compile(r"\.dataflux-save-[0-9a-f]{16}/")


def url_of_path(path: Any) -> str:
    """"gs://bucket/folder" of a str, or of a pathlib.Path, which has made one slash of the two.

    Raises: ValueError for what is no folder of a bucket, TypeError for what is no path.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: gs://bucket/folder is needed, and not a {type(path).__name__}")
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError("path: gs://bucket/folder is needed as a str, and not as bytes")
    if isinstance(path, os.PathLike):
        text = with_both_slashes(text)
    if not is_url(text):
        check_local(text)
        raise ValueError(
            f"path: {text!r} is no gs://bucket/folder, nor s3://bucket/folder; for a path of this machine take "
            "torch.distributed.checkpoint.FileSystemWriter and FileSystemReader")
    bucket, prefix = prefix_place(text, "path")
    if not prefix.strip(b"/"):
        raise ValueError(f"path: {text!r} names no folder: a checkpoint has one of its own, as in "
                         "gs://bucket/run/step-10")
    return url_of(bucket.decode(), prefix.decode())


def is_path(path: Any) -> bool:
    """It names a folder of a bucket."""
    try:
        url_of_path(path)
    except (TypeError, ValueError):
        return False
    return True


def folder_of(url: str) -> tuple[str, str]:
    """(bucket, prefix with its slash)"""
    bucket, prefix = prefix_place(url, "path")
    name = prefix.decode()
    return bucket.decode(), name if name.endswith("/") else name + "/"


def place_of(url: str) -> str:
    """One text for a folder, with and without its slash."""
    return url_of(*folder_of(url))


def of_rank(url: str, rank: int) -> str:
    """Where a rank has its own checkpoint, when ranks save without each other."""
    return f"{url}{'' if url.endswith('/') else '/'}__{rank}"


def member_of(relative_path: str) -> str:
    """The name within the set of a file that `.metadata` names."""
    return _SAVE_FOLDER.sub("", relative_path, count=1)
