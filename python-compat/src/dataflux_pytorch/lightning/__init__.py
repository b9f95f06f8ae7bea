"""Checkpoints of Lightning and of torch.distributed.checkpoint. Names are found when they are first used, for
only the first two need Lightning."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .dataflux_lightning_checkpoint import (
        DatafluxLightningAsyncCheckpoint as DatafluxLightningAsyncCheckpoint,
    )
    from .dataflux_lightning_checkpoint import DatafluxLightningCheckpoint as DatafluxLightningCheckpoint
    from .gcs_filesystem import GCSDistributedReader as GCSDistributedReader
    from .gcs_filesystem import GCSDistributedWriter as GCSDistributedWriter
    from .gcs_filesystem import GCSFileSystem as GCSFileSystem

_WHERE = {
    "DatafluxLightningCheckpoint": "dataflux_lightning_checkpoint",
    "DatafluxLightningAsyncCheckpoint": "dataflux_lightning_checkpoint",
    "GCSFileSystem": "gcs_filesystem",
    "GCSDistributedWriter": "gcs_filesystem",
    "GCSDistributedReader": "gcs_filesystem",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> object:
    if name in _WHERE:
        from importlib import import_module

        return getattr(import_module("." + _WHERE[name], __name__), name)
    raise AttributeError(f"module 'dataflux_pytorch.lightning' has no attribute {name!r}")
