"""What ranks do together: all fail where one has; what one has read, all have. By torch's collectives, in
the order in which all ranks call them."""

from __future__ import annotations

import pickle
from typing import Any, Callable, TypeVar

import torch.distributed as dist

Value = TypeVar("Value")


def together() -> bool:
    """There are ranks."""
    return dist.is_available() and dist.is_initialized()


def agreed(what: Callable[[], Value], group: Any = None) -> Value:
    """Does something on each rank.

    Returns: what it gives on this one.
    Raises: what it has raised here; else what it has raised on the first rank that failed.
    """
    mine: BaseException | None = None
    failure: BaseException | None = None
    failures: list[Any] = []
    try:
        try:
            value = what()
        except BaseException as why:
            mine = why
        failures = each_rank(None if mine is None else _portable(mine), group)
        if mine is not None:
            raise mine
        for failure in failures:
            if failure is not None:
                raise failure
        return value
    finally:
        del mine, failure, failures  # they have this frame, by their tracebacks


def each_rank(value: Any, group: Any = None) -> list[Any]:
    """What each rank has."""
    if not together():
        return [value]
    told: list[Any] = [None] * dist.get_world_size(group)
    dist.all_gather_object(told, value, group=group)
    return told


def _portable(why: BaseException) -> BaseException:
    """An exception that arrives at another rank."""
    try:
        return why if isinstance(pickle.loads(pickle.dumps(why)), type(why)) else RuntimeError(repr(why))
    except Exception:
        return RuntimeError(repr(why))


def of_rank_zero(value: Value) -> Value:
    """An object of rank 0's, on all ranks."""
    if not together():
        return value
    told = [value]
    dist.broadcast_object_list(told, src=0)
    return told[0]
