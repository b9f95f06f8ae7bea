"""dataflux-pytorch's names: datasets and checkpoints for PyTorch, on dataflux. The differences that are meant
are in docs/from-the-original.md."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import dataflux_mapstyle_dataset as dataflux_mapstyle_dataset


def __getattr__(name: str) -> object:
    # It needs torch, which dataflux_checkpoint does not.
    if name == "dataflux_mapstyle_dataset":
        from importlib import import_module

        return import_module("." + name, __name__)
    raise AttributeError(f"module 'dataflux_pytorch' has no attribute {name!r}")
