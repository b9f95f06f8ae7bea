"""Lightning's ckpt_path="last" on Google Cloud Storage."""

from __future__ import annotations

import logging
import os
import posixpath
import re
from functools import partial
from typing import Any, NamedTuple, TypeVar

from fsspec.core import url_to_fs

from .._place import is_url, lost_url, with_both_slashes
from ._paths import LAST_OBJECT

Callback = TypeVar("Callback")
_log = logging.getLogger("dataflux")
_RESOLVE = "_ModelCheckpoint__resolve_ckpt_dir"  # by which a callback finds its folder
_FIND = "_find_last_checkpoints"  # by which Lightning asks for what "last" may mean


def resumable(callback: Callback) -> Callback:
    """Makes `fit(ckpt_path="last")` find what a ModelCheckpoint has saved below gs://, which Lightning
    takes for a path of this machine. It needs fsspec for gs:// as the callback itself does:
    dataflux.fsspec.register("gs").

        Trainer(callbacks=[resumable(ModelCheckpoint(dirpath="gs://bucket/run", save_last=True))])

    The folder is the callback's `dirpath`, or else what its logger or the Trainer's `default_root_dir` say; a
    pathlib.Path is made the URL again that it was. Other ModelCheckpoints of the Trainer are asked, too. The
    newest counts. Where there is none, it is logged what there is instead, and training begins anew.

    Returns: the same callback.
    Raises: TypeError for what is no ModelCheckpoint, or one of a Lightning that looks another way.
    """
    found: Any = callback
    if not all(callable(getattr(found, name, None)) for name in (_FIND, _RESOLVE)):
        raise TypeError("callback: a ModelCheckpoint is needed, and not a "
                        f"{type(callback).__name__} that has no _find_last_checkpoints()")
    setattr(found, _RESOLVE, partial(_resolved, found))
    setattr(found, _FIND, partial(_last_of, found))
    return callback


def _resolved(callback: Any, trainer: Any) -> Any:
    """The callback's folder, as a URL where it was one."""
    folder = getattr(type(callback), _RESOLVE)(callback, trainer)
    return _folder_of(folder) or folder


def _folder_of(path: Any) -> str:
    """A folder of a bucket, as it was given, but with the slashes that a pathlib.Path has lost; "" for one of
    this machine."""
    text = with_both_slashes(os.fspath(path))
    return text if is_url(text) else lost_url(text)


class _Seen(NamedTuple):
    """What a folder holds. `lasts`: of what is a last one. `half`: sharded, and not committed."""

    lasts: set[str]
    half: list[str]
    others: list[str]


def _last_of(callback: Any, trainer: Any) -> set[str]:
    found: set[str] = set()
    folders: list[tuple[Any, str, _Seen]] = []
    for each in _callbacks(callback, trainer):
        folder = _folder_of(getattr(type(each), _RESOLVE)(each, trainer)).rstrip("/")
        if not folder:
            if each is callback:  # Lightning asks the others itself
                found |= getattr(type(each), _FIND)(each, trainer)
            continue
        seen = _look(each, folder)
        folders.append((each, folder, seen))
        found |= seen.lasts
    if not found and getattr(trainer, "is_global_zero", True):
        for each, folder, seen in folders:
            _log.warning('ckpt_path="last": %s: training begins anew', _why(each, trainer, folder, seen))
    return found


def _callbacks(callback: Any, trainer: Any) -> list[Any]:
    """This one, and those that look as Lightning does, which finds nothing below gs://."""
    others = getattr(trainer, "checkpoint_callbacks", ())
    return [callback, *(each for each in others
                        if each is not callback and hasattr(each, _RESOLVE) and _FIND not in vars(each))]


def _look(callback: Any, folder: str) -> _Seen:
    # The callback's own filesystem is that of this machine until setup().
    files, path = url_to_fs(folder)
    seen = _Seen(set(), [], [])
    if not files.exists(path):
        return seen
    pattern = _pattern_of(callback)
    for each in files.ls(path, detail=True):
        name = posixpath.basename(each["name"].rstrip("/"))
        if not name.endswith(callback.FILE_EXTENSION):
            continue
        url = f"{folder}/{name}"
        if not pattern.fullmatch(name):
            seen.others.append(name)
        elif each["type"] != "directory":
            seen.lasts.add(url)
        # Lightning asks which one is the newest, and a folder has no time: its last object has.
        elif files.exists(f"{path}/{name}{LAST_OBJECT}"):
            seen.lasts.add(url + LAST_OBJECT)
        else:
            seen.half.append(url)
    return seen


def _pattern_of(callback: Any) -> re.Pattern[str]:
    """Of names of last ones: "last.ckpt", "last-v1.ckpt"; where CHECKPOINT_NAME_LAST has fields, such as
    "{epoch}-last", anything is in their places."""
    name = ".*".join(re.escape(text) for text in re.split(r"\{.*?\}", callback.CHECKPOINT_NAME_LAST))
    return re.compile(rf"{name}.*{re.escape(callback.FILE_EXTENSION)}")


def _why(callback: Any, trainer: Any, folder: str, seen: _Seen) -> str:
    """Why there is no last one."""
    if seen.half:
        return f"{seen.half[0]} is a sharded checkpoint that was not committed, since its save was ended"
    if seen.others:
        example = max(seen.others)
        return (f"{folder} has {', '.join(sorted(seen.others)[:5])}"
                + (" and more" if len(seen.others) > 5 else "")
                + f", and none whose name begins with {callback.CHECKPOINT_NAME_LAST!r}, as "
                f'ModelCheckpoint(save_last=True) writes it; ckpt_path="{folder}/{example}" goes on from one')
    above, version = posixpath.split(posixpath.dirname(folder))
    if callback.dirpath is None and getattr(trainer, "loggers", ()):
        files, path = url_to_fs(above)
        there = [posixpath.basename(each["name"].rstrip("/")) for each in files.ls(path, detail=True)] \
            if files.exists(path) else []
        earlier = sorted(name for name in there if name != version)
        if earlier:
            return (f"{above} has {', '.join(earlier[-5:])}, and this run's logger has begun {version}: give "
                    "ModelCheckpoint a dirpath, or the logger a version, that stays")
    return f"nothing is below {folder}"
