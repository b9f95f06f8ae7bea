"""Lightning's ckpt_path="last" on Google Cloud Storage."""

from __future__ import annotations

import posixpath
import re
from functools import partial
from typing import Any, TypeVar

from ._paths import LAST_OBJECT, url_of

Callback = TypeVar("Callback")


def resumable(callback: Callback) -> Callback:
    """Makes `fit(ckpt_path="last")` find what a ModelCheckpoint has saved below gs://, which Lightning
    takes for a path of this machine. It needs fsspec for gs:// as the callback itself does:
    dataflux.fsspec.register("gs").

        Trainer(callbacks=[resumable(ModelCheckpoint(dirpath="gs://bucket/run", save_last=True))])

    Returns: the same callback.
    Raises: TypeError for what is no ModelCheckpoint, or one of a Lightning that looks another way.
    """
    found: Any = callback
    if not callable(getattr(found, "_find_last_checkpoints", None)):
        raise TypeError("callback: a ModelCheckpoint is needed, and not a "
                        f"{type(callback).__name__} that has no _find_last_checkpoints()")
    found._find_last_checkpoints = partial(_last_of, found)
    return callback


def _last_of(callback: Any, trainer: Any) -> set[str]:
    if callback.dirpath is None or url_of(f"{callback.dirpath}/any") is None:
        local: set[str] = type(callback)._find_last_checkpoints(callback, trainer)
        return local
    folder = str(url_of(f"{callback.dirpath}/any"))[:-len("/any")]
    if not callback._fs.exists(folder):
        return set()
    pattern = re.compile(rf"{re.escape(callback.CHECKPOINT_NAME_LAST)}(-\d+)?.*"
                         rf"{re.escape(callback.FILE_EXTENSION)}")
    found = set()
    for each in callback._fs.ls(folder, detail=True):
        name = posixpath.basename(each["name"].rstrip("/"))
        if pattern.fullmatch(name):
            # Lightning asks which one is the newest, and a folder has no time: its last object has.
            found.add(f"{folder}/{name}" + (LAST_OBJECT if each["type"] == "directory" else ""))
    return found
