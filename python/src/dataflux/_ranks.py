"""Which rank this process is, of how many."""

from __future__ import annotations

import os
import sys
from typing import Any

from ._errors import PreconditionError
from ._place import count_of


def distributed():
    """torch.distributed, where it is there and its process group was made; else None."""
    module = sys.modules.get("torch.distributed")
    if module is not None and module.is_available() and module.is_initialized():
        return module
    return None


def agree(told: dict[str, Any], rank: int, world_size: int) -> None:
    """All ranks that torch.distributed joins have the same order of the same samples: each calls it.

    Raises: PreconditionError, in all of them, which names the rank and what differs.
    """
    group = distributed() if world_size > 1 else None
    if group is None or group.get_world_size() != world_size:
        return
    each: list[Any] = [None] * world_size
    group.all_gather_object(each, told)
    for other, there in enumerate(each):
        for name, value in there.items():
            if value != each[0][name]:
                raise PreconditionError(f"rank {other}: {name} is {value!r} there, and {each[0][name]!r} on rank 0: all "
                                        "ranks have to be given the same samples and the same order")


def ranks(rank: int | None, world_size: int | None) -> tuple[int, int]:
    """(rank, world_size): as given, else torch.distributed's, else RANK and WORLD_SIZE, else (0, 1).

    Raises: ValueError where only one is given, or the rank is not below the world size.
    """
    if (rank is None) != (world_size is None):
        raise ValueError("rank, world_size: give both, or none")
    source = "rank"
    if rank is None:
        group = distributed()
        if group is not None:
            return group.get_rank(), group.get_world_size()
        told = os.environ.get("RANK"), os.environ.get("WORLD_SIZE")
        if told == (None, None):
            return 0, 1
        source = "RANK, WORLD_SIZE"
        try:
            rank, world_size = (int(each) for each in told)
        except (TypeError, ValueError):
            raise ValueError(f"RANK={told[0]!r}, WORLD_SIZE={told[1]!r} of the environment: both have to "
                             "be numbers; or give rank and world_size") from None
    world_size = count_of(world_size, "world_size", 1, 32)
    rank = count_of(rank, "rank", 0, 32)
    if rank >= world_size:
        raise ValueError(f"{source}: {rank} of {world_size}: ranks are counted from 0")
    return rank, world_size
