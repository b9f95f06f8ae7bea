"""Lightning by the names that it is installed by: `lightning` and `pytorch_lightning` have classes of
their own, and each knows its own only."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

_NAMES = {"lightning": "lightning.fabric", "lightning_fabric": "lightning_fabric"}


def _found() -> list[str]:
    found = [fabric for top, fabric in _NAMES.items() if find_spec(top) is not None]
    if not found:
        raise ImportError("dataflux.lightning needs Lightning: pip install lightning, or "
                          "pytorch-lightning")
    return found


def _classes(module: str, name: str) -> list[Any]:
    kinds: list[Any] = []
    for fabric in _found():
        kind = getattr(import_module(f"{fabric}.plugins.io.{module}"), name)
        if kind not in kinds:
            kinds.append(kind)
    return kinds


# Whoever asks for a CheckpointIO of either name gets it.
Base: Any = type("Base", tuple(_classes("checkpoint_io", "CheckpointIO")), {})
# What saves to paths of this machine.
Local: Any = _classes("torch_io", "TorchCheckpointIO")[0]


def strategies() -> Any:
    """The module of the Trainer's strategies: of `lightning`, where both are installed, since a strategy is
    for the Trainer of its own name alone."""
    return import_module({"lightning": "lightning.pytorch.strategies",
                          "lightning_fabric": "pytorch_lightning.strategies"}[_found()[0].partition(".")[0]])
