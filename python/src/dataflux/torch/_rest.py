"""Which objects of an epoch's order each reader has, and what of an epoch is left: pure. A reader is a worker of a
rank. Of the objects that are left reader r of n has those at r, r + n, ..., each as a whole."""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple, Sequence

from .._place import count_of
from ._state import differs, found

VERSION = 1
_MARK = "dataflux.torch.pipe"
_NUMBERS = ("version", "epoch", "readers", "reader", "world_size")
_SAME = ("epoch", "before", "readers", "world_size")  # in the states of all readers
_ORDER = ("digest", "stage", "seed", "shuffle", "buffer_size", "buffer_seed")


class Spot(NamedTuple):
    """Where a reader is.

    done         objects of its own that are behind it
    byte         of the next one, up to where it was read
    generation   of that, 0 where none of it was read
    given        lines of the shuffled ones that begin there
    check        of all that are shuffled with those: where they lie, and in which generations; 0 where `given` is
    """

    done: int = 0
    byte: int = 0
    generation: int = 0
    given: int = 0
    check: int = 0


class Rest:
    """Objects that are left of an epoch.

    positions   in the epoch's order, ascending
    begun       by position: from which byte on, of which generation
    """

    def __init__(self, positions: Sequence[int], begun: dict[int, tuple[int, int]] | None = None) -> None:
        self.positions = positions
        self.begun = begun or {}

    def of(self, reader: int, readers: int) -> Rest:
        """What one of so many readers has."""
        return Rest(self.positions[reader::readers], self.begun)

    def behind(self, spots: Sequence[Spot]) -> Rest:
        """What is left behind readers that are at these places."""
        positions, begun = array("Q"), {}
        for reader, spot in enumerate(spots):
            mine = self.of(reader, len(spots)).positions[spot.done:]
            positions.extend(mine)
            begun.update({position: self.begun[position] for position in mine if position in self.begun})
            if spot.byte and mine:
                begun[mine[0]] = spot.byte, spot.generation
        return Rest(array("Q", sorted(positions)), begun)


class Start:
    """Where a pass begins.

    before    the places of all readers at each time that others went on behind them
    readers   of those whose places are known
    spots     their places, by their numbers
    """

    def __init__(self, epoch: int, before: Sequence[Sequence[Spot]] = (), readers: int = 0,
                 spots: dict[int, Spot] | None = None) -> None:
        self.epoch = epoch
        self.before = [[Spot(*spot) for spot in spots] for spots in before]
        self.readers = readers
        self.spots = spots or {}

    def of(self, reader: int, readers: int) -> tuple[list[list[Spot]], Spot]:
        """(before, its place) of a reader. Raises: ValueError where it cannot go on."""
        if not self.readers:
            return self.before, Spot()
        if readers == self.readers and reader in self.spots:
            return self.before, self.spots[reader]
        if len(self.spots) < self.readers:
            raise ValueError(f"state: it is of {len(self.spots)} of {self.readers} readers (ranks times workers), and "
                             f"{readers} are to go on: give a list with the states of all ranks' loaders")
        if any(spot.given for spot in self.spots.values()):
            raise ValueError(f"state: its lines are shuffled, and only {self.readers} readers (ranks times workers) go on "
                             f"in the midst of them; here there are {readers}")
        return [*self.before, [self.spots[number] for number in range(self.readers)]], Spot()


def left(count: int, before: Sequence[Sequence[Spot]]) -> Rest:
    """What is left of an epoch of so many objects."""
    rest = Rest(range(count))
    for spots in before:
        rest = rest.behind(spots)
    return rest


def state_of(known: dict[str, Any], *, epoch: int, before: Sequence[Sequence[Spot]], readers: int, reader: int,
             world_size: int, spot: Sequence[int]) -> dict[str, Any]:
    """Of one reader."""
    return {"format": _MARK, "version": VERSION, **known, "epoch": epoch,
            "before": [[list(each) for each in spots] for spots in before], "readers": readers, "reader": reader,
            "world_size": world_size, "spot": list(spot)}


def start_of(state: Any, known: dict[str, Any], reader: tuple[int, int] | None) -> Start:
    """Of what state_dict() gave, of what a StatefulDataLoader saved of its workers, or of a list of those of all
    ranks.

    Arguments:
        known: digest, stage, orders and world_size of the pipe that goes on.
        reader: (which, of how many) where a worker is told its own; else None.

    Raises: ValueError, which names the field that does not fit.
    """
    states = found(state, _MARK, _check)
    if not states:
        raise ValueError("state: it has no state of dataflux.torch.list_files() or load_files()")
    first = states[0]
    for name in _ORDER:
        if first[name] != known[name]:
            raise differs(name, first[name], known[name])
    for each in states:
        for name in (*_ORDER, *_SAME):
            if each[name] != first[name]:
                raise ValueError(f"state: its parts are of different {name}: {first[name]} and {each[name]}")
    if reader is not None and len(states) == 1:
        for name, here in zip(("reader", "readers"), reader):
            if first[name] != here:
                raise ValueError(f"state: {name} is {first[name]}, and here it is {here}: to go on with other numbers "
                                 "of workers or ranks give the loader's state to the pipe's load_state_dict() before the "
                                 "loader is made")
    elif _stepped(state):
        raise ValueError("state: the loader has given batches since it asked its workers for their places: save states "
                         "with snapshot_every_n_steps=1, or give this one to a StatefulDataLoader with as many workers")
    if first["world_size"] != known["world_size"] and len(states) < first["readers"]:
        raise ValueError(f"state: world_size is {first['world_size']}, and here it is {known['world_size']}: to go on "
                         "with another number of ranks give a list with the states of all")
    return Start(first["epoch"], first["before"], first["readers"],
                 {each["reader"]: Spot(*each["spot"]) for each in states})


def _check(state):
    for name in (*_NUMBERS, *_ORDER, "before", "spot"):
        if name not in state:
            raise ValueError(f"state: {name} is missing")
    for name in _NUMBERS:
        count_of(state[name], f"state: {name}", bits=64)
    if state["version"] != VERSION:
        raise ValueError(f"state: version is {state['version']}, and this one knows {VERSION}")
    if state["reader"] >= state["readers"]:
        raise ValueError(f"state: reader is {state['reader']} of {state['readers']}: they are counted from 0")
    for spots in (_listed(state["before"], "before"), [[state["spot"]]]):
        for some in spots:
            for spot in _listed(some, "before"):
                if len(_listed(spot, "spot")) != len(Spot._fields):
                    raise ValueError(f"state: spot has {len(spot)} numbers, and not {len(Spot._fields)}")
                for number in spot:
                    count_of(number, "state: spot", bits=63)


def _listed(value, name):
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"state: {name} is a {type(value).__name__}, and not a list")
    return value


def _stepped(state):
    """Whether a StatefulDataLoader gave batches since it asked its workers for their states."""
    if isinstance(state, dict):
        return bool(state.get("_steps_since_snapshot")) or any(map(_stepped, state.values()))
    return isinstance(state, (list, tuple)) and any(map(_stepped, state))
