"""`.metadata`: what a checkpoint holds, and where. It is a pickle of torch's own classes."""

from __future__ import annotations

import collections
import enum
import io
import pathlib
import pickle
from typing import Any

import torch
from torch.distributed.checkpoint import filesystem, metadata
from torch.distributed.checkpoint.metadata import Metadata

from .._errors import DataLossError

_PLAIN = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("collections", "defaultdict"): collections.defaultdict,
    ("torch", "Size"): torch.Size,
    ("torch.serialization", "_get_layout"): torch.serialization._get_layout,
    **{("builtins", kind.__name__): kind
       for kind in (set, frozenset, list, dict, tuple, int, float, complex, str, bytes, bytearray,
                    bool, slice, range)},
    # The folder that FileSystemWriter was given: a name, whatever the system.
    **{(module, kind): pathlib.PurePosixPath for module in ("pathlib", "pathlib._local")
       for kind in ("Path", "PosixPath", "PurePath", "PurePosixPath")},
    **{(module, kind): pathlib.PureWindowsPath for module in ("pathlib", "pathlib._local")
       for kind in ("WindowsPath", "PureWindowsPath")},
    **{("torch.distributed.checkpoint.metadata", name): getattr(metadata, name)
       for name in ("Metadata", "MetadataIndex", "StorageMeta", "TensorProperties",
                    "TensorStorageMetadata", "BytesStorageMetadata", "ChunkStorageMetadata",
                    "_MEM_FORMAT_ENCODING")},
    ("torch.distributed.checkpoint.filesystem", "_StorageInfo"): filesystem._StorageInfo,
    ("torch.distributed.checkpoint.filesystem", "_StoragePrefix"): filesystem._StoragePrefix,
}


def _member_of(kind: Any, name: Any) -> Any:
    """Stands for getattr, by which early versions of Python 3.11 pickle a member of an Enum."""
    if isinstance(kind, enum.EnumMeta) and isinstance(name, str) and name in kind.__members__:
        return kind[name]
    raise pickle.UnpicklingError("it wants an attribute of something else than an Enum, so nothing of it was run")


_PLAIN["builtins", "getattr"] = _member_of


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        known = _PLAIN.get((module, name))
        if known is not None:
            return known
        if module == "torch":
            kind = getattr(torch, name, None)
            if isinstance(kind, torch.dtype):
                return kind
        for each in torch.serialization.get_safe_globals():
            kind = each[0] if isinstance(each, tuple) else each
            full = each[1] if isinstance(each, tuple) else f"{kind.__module__}.{kind.__qualname__}"
            if full == f"{module}.{name}":
                return kind
        raise pickle.UnpicklingError(
            f"it wants {module}.{name}, which is none of the classes that a checkpoint's metadata "
            "is made of, so nothing of it was run; if you trust it and it is a planner's own, name "
            "it by torch.serialization.add_safe_globals()")


def parsed(data: bytes, url: str) -> Metadata:
    """The Metadata of a pickle. No class is made, and no function called, that is not in a list.

    Raises: DataLossError, which names the object, for what is no such pickle.
    """
    try:
        found = _Unpickler(io.BytesIO(data)).load()
    except Exception as why:  # a damaged pickle raises whatever it comes across
        raise DataLossError(f"{url}: it is no metadata of a checkpoint: {why}") from why
    if not isinstance(found, Metadata) or not isinstance(found.storage_data, dict):
        raise DataLossError(f"{url}: it is no metadata of a checkpoint, but a "
                            f"{type(found).__name__}")
    for info in found.storage_data.values():
        good = isinstance(info, filesystem._StorageInfo) and isinstance(info.relative_path, str) \
            and all(isinstance(each, int) and each >= 0 for each in (info.offset, info.length))
        if not good:
            raise DataLossError(f"{url}: it does not say where its items are, as torch's "
                                "FileSystemWriter does")
    return found
