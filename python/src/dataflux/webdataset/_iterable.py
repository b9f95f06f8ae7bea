"""What all datasets here are to torch, which is not imported for it; and which worker of which rank this is."""

from __future__ import annotations

import os
import sys
from typing import Any, Iterator, Tuple

_joined: Any = None  # torch's class, once it knows of ours


def _join():
    global _joined
    kind = getattr(sys.modules.get("torch.utils.data"), "IterableDataset", None)
    if kind is not None and kind is not _joined:
        kind.register(IterableDataset)
        _joined = kind


class IterableDataset:
    """A DataLoader takes it for one of torch's IterableDatasets, whichever was imported or made first."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    # isinstance() asks for it, and that is where a DataLoader finds out what it was given.
    @property
    def __class__(self) -> Any:
        _join()
        return type(self)


def world() -> Tuple[int, int, int, int]:
    """(rank, ranks, worker, workers): of RANK and WORLD_SIZE, else of torch.distributed; of WORKER and
    NUM_WORKERS, else of torch's DataLoader; else (0, 1, 0, 1)."""
    rank, ranks, worker, workers = 0, 1, 0, 1
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    else:
        group = sys.modules.get("torch.distributed")
        if group is not None and group.is_available() and group.is_initialized():
            rank, ranks = group.get_rank(), group.get_world_size()
    if "WORKER" in os.environ and "NUM_WORKERS" in os.environ:
        worker, workers = int(os.environ["WORKER"]), int(os.environ["NUM_WORKERS"])
    else:
        asked = getattr(sys.modules.get("torch.utils.data"), "get_worker_info", None)
        info = asked() if asked is not None else None
        if info is not None:
            worker, workers = info.id, info.num_workers
    return rank, ranks, worker, workers
