"""Lightning's checkpoints on dataflux. Importing this imports Lightning; nothing else of dataflux
does. What is here is for both of its names, `lightning` and `pytorch_lightning`; the strategies are for
one, `lightning` where both are installed."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ._async_io import AsyncCheckpointIO
from ._io import CheckpointIO
from ._last import resumable

if _TYPE_CHECKING:
    from ._sharded import consolidated
    from ._strategies import FSDPStrategy, ModelParallelStrategy

__all__ = ["AsyncCheckpointIO", "CheckpointIO", "FSDPStrategy", "ModelParallelStrategy", "consolidated",
           "resumable"]

# Fabric is there without a Trainer, and torch without its distributed part: what needs them is imported
# when it is asked for.
_LATER = {"FSDPStrategy": "_strategies", "ModelParallelStrategy": "_strategies", "consolidated": "_sharded"}


def __getattr__(name: str) -> _Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_LATER[name]}", __name__), name)
