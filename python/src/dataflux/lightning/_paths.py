"""Lightning's paths: texts and pathlib.Paths, here and on Google Cloud Storage. Pure."""

from __future__ import annotations

import os
from typing import Any

from .._place import check_local, is_url, with_both_slashes

LAST_OBJECT = "/.metadata"  # behind the URL of a checkpoint that is sharded


def url_of(path: Any) -> str | None:
    """The URL of a checkpoint on Google Cloud Storage, without a slash at its end; None for a path of
    this machine.

    pathlib.Path("gs://bucket/a//b") has lost a slash that no one can give back: an object with "//" in
    its name needs a str.

    Raises: ValueError for what names no object, and for a path of this machine that was a URL, as
        ModelCheckpoint makes one of Path("gs://bucket/run"): it would look for its files here.
    """
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"path: a str or a pathlib.Path is needed, and not {type(path).__name__}")
    text = with_both_slashes(text)
    if not is_url(text):
        check_local(text)
        return None
    found = text.rstrip("/")
    if found.count("/") < 3:
        raise ValueError(f"path: {text!r} names no object: it has the form gs://bucket/name")
    return found
