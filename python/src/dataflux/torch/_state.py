"""Where a job is in an epoch: what is saved of it, and what goes on from there."""

from __future__ import annotations

from typing import Any, Callable

from .._place import count_of
from ._order import Turns

VERSION = 1
_MARK = "dataflux.torch"
_ORDER = ("seed", "shuffle", "block", "window")  # what the order of an epoch is a function of
_SAME = ("version", "digest", *_ORDER, "epoch", "begin", "world_size", "num_workers", "batch_size")


def order_of(how: dict[str, Any]) -> dict[str, Any]:
    """Of a Sampler's arguments, for a state: 0 stands for what was left open."""
    return {name: how[name] or 0 for name in _ORDER}


def state_of(*, digest: str, how: dict[str, Any], epoch: int, begin: int, rank: int, world_size: int,
             worker: int, num_workers: int, batch_size: int, yielded: int) -> dict[str, Any]:
    """Of one worker. begin: places of the epoch's order, of all ranks, that were behind the pass when it
    began. yielded: samples of this worker in the pass. consumed: of its rank since the epoch's
    beginning, as far as this worker knows."""
    return {"format": _MARK, "version": VERSION, "digest": digest, **order_of(how), "epoch": epoch,
            "consumed": begin // world_size + yielded, "begin": begin, "yielded": yielded,
            "rank": rank, "world_size": world_size, "worker": worker, "num_workers": num_workers,
            "batch_size": batch_size}


class Place:
    """Where to go on. Either a worker's own place in a pass, where it has the same worker again, or
    one for all workers and ranks, at which a new pass begins."""

    def __init__(self, epoch: int, begin: int, worker: int | None = None, yielded: int = 0) -> None:
        self.epoch = epoch
        self.begin = begin
        self.worker = worker
        self.yielded = yielded


def place_of(state: Any, known: dict[str, Any], workers: int, worker: int | None) -> Place:
    """Of what state_dict() gave, of what a StatefulDataLoader saved of all its workers, or of a list of
    those of all ranks.

    Arguments:
        known: digest, seed, shuffle, block, window, world_size, batch_size of the dataset that goes on.
        workers, worker: of the DataLoader in whose worker this is; (0, None) outside of one.

    Raises: ValueError, which names the field that does not fit.
    """
    states = _found(state)
    if not states:
        raise ValueError("state: it has no state of a dataflux.torch dataset")
    first = states[0]
    _check(first, known)
    if worker is not None and len(states) == 1:
        if first["num_workers"] != workers:
            raise ValueError(f"state: num_workers is {first['num_workers']}, and here it is {workers}: to go on "
                             "with another number of workers give the loader's state to the dataset's "
                             "load_state_dict() before the loader is made")
        if first["world_size"] != known["world_size"]:
            raise differs("world_size", first["world_size"], known["world_size"])
        return Place(first["epoch"], first["begin"], first["worker"], first["yielded"])
    consumed = {}
    for each in states:
        for name in _SAME:
            if each[name] != first[name]:
                raise ValueError(f"state: its parts are of different {name}: {first[name]} and {each[name]}")
        consumed.setdefault(each["rank"], {})[each["worker"]] = each["yielded"]
    steps = _steps_since(state)
    passed = {rank: sum(of_workers.values()) + steps.get(rank, 0) * first["batch_size"]
              for rank, of_workers in consumed.items()}
    for rank, of_workers in consumed.items():
        if len(of_workers) != max(1, first["num_workers"]):
            raise ValueError(f"state: num_workers is {first['num_workers']}, and of rank {rank} it has "
                             f"{len(of_workers)}: give the state of the loader as a whole")
        _check_turns(first, of_workers)
    if len(set(passed.values())) > 1:
        raise ValueError(f"state: the ranks have consumed different numbers of samples: {passed}")
    if first["world_size"] != known["world_size"] and len(passed) != first["world_size"]:
        raise ValueError(f"state: world_size is {first['world_size']}, and here it is {known['world_size']}: to go "
                         "on with another number of ranks give a list with the states of all")
    begin = first["begin"] + next(iter(passed.values())) * first["world_size"]
    return Place(first["epoch"], begin)


def _check_turns(state, of_workers):
    """What several workers have yielded is the beginning of the order only where they took turns by batches,
    those of the DataLoader."""
    workers, batch = state["num_workers"], state["batch_size"]
    if workers <= 1:
        return
    total = sum(of_workers.values())
    if not batch or any(done != len(Turns(total, batch, worker, workers)) for worker, done in of_workers.items()):
        raise ValueError(f"state: batch_size is {batch or None}, which was not that of the DataLoader: its {workers} "
                         "workers have not yielded what stands first in the order. Only a loader with as many workers "
                         "goes on exactly, by its own load_state_dict(); tell the dataset batch_size= for all else")


def _check(state, known):
    if state["version"] != VERSION:
        raise ValueError(f"state: version is {state['version']}, and this one knows {VERSION}")
    for name in ("digest", *_ORDER):
        if state[name] != known[name]:
            raise differs(name, state[name], known[name])
    if state["batch_size"] != known["batch_size"] and state["num_workers"] > 1:
        raise differs("batch_size", state["batch_size"], known["batch_size"])


def differs(name: str, there: Any, here: Any) -> ValueError:
    """Of a field that does not fit."""
    if name == "digest":
        return ValueError(f"state: the listing differs: digest is {there}, and here it is {here}. Objects have come, "
                          "gone or been overwritten since, or it is another prefix, index or mix. Go on from the "
                          "manifest that the job began with: save one by client.save_manifest(), and give it as "
                          "manifest=; of shards keep the index")
    return ValueError(f"state: {name} is {there}, and here it is {here}")


_DEEPEST = 64  # of what loaders make of states


def found(state: Any, mark: str, check: Callable[[dict[str, Any]], None], depth: int = 0) -> list[dict[str, Any]]:
    """States of a kind, wherever in it they are."""
    if not isinstance(state, (dict, list, tuple)):
        return []
    if depth == _DEEPEST:
        raise ValueError("state: it is nested too deep for that of a loader")
    if isinstance(state, dict) and state.get("format") == mark:
        check(state)
        return [state]
    return [each for value in (state.values() if isinstance(state, dict) else state)
            for each in found(value, mark, check, depth + 1)]


def _found(state):
    return found(state, _MARK, _check_fields)


def _check_fields(state):
    for name in (*_SAME, "rank", "worker", "yielded"):
        if name not in state:
            raise ValueError(f"state: {name} is missing")
        if name not in ("digest", "shuffle"):
            count_of(state[name], f"state: {name}", bits=64)


def _steps_since(state):
    """By rank: batches that a StatefulDataLoader gave since it asked its workers for their states."""
    if isinstance(state, dict):
        steps = state.get("_steps_since_snapshot", 0)
        return {each["rank"]: steps for each in _found(state)} if steps else {}
    found = {}
    for each in state if isinstance(state, (list, tuple)) else ():
        found.update(_steps_since(each))
    return found
