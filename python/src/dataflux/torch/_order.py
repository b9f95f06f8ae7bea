"""Which rows a worker of a rank reads in an epoch, from any place of the epoch on: pure."""

from __future__ import annotations

from array import array
from typing import Any, Iterator

from .._sampler import Sampler

STRETCH = 4096  # rows that are asked for at a time, about


class Order:
    """The rest of an epoch for one rank, whose positions are counted from where the rest begins.

    Arguments:
        count: rows of the dataset.
        how: seed, shuffle, block, window of a Sampler.
        epoch: which one.
        begin: how many places of the epoch's order, of all ranks, are behind it.
        rank, world_size, equalize: as of a Sampler.
    """

    def __init__(self, count: int, how: dict[str, Any], epoch: int, begin: int, rank: int,
                 world_size: int, equalize: str) -> None:
        left = max(0, count - begin)
        self.size = left // world_size if equalize == "drop" else -(-left // world_size)
        # The ranks take turns from `begin` on: this one is another one of those from 0 on.
        place = begin + rank
        self._first = place // world_size
        self._turn = place % world_size
        self._world_size = world_size
        self._rows = Sampler(count, epoch=epoch, rank=self._turn, world_size=world_size,
                             equalize="pad", **how)
        self._all = Sampler(count, epoch=epoch, **how)

    def window_end(self, position: int) -> int:
        """The first position behind the window of one."""
        return min(self.size, self._rows._window_end(self._first + position) - self._first)

    def cost(self, **reads: Any) -> dict[str, float]:
        """What the library tells of a whole epoch."""
        return self._rows._cost(**reads)

    def rows(self, first: int, count: int) -> array[int]:
        """Those at positions first, first + 1, ..., up to the end."""
        count = max(0, min(count, self.size - first))
        found = self._rows.rows(self._first + first, count)
        # What is added at the end where ranks are made equal comes from the epoch's beginning.
        for position in range(first + len(found), first + count):
            place = (self._first + position) * self._world_size + self._turn
            found.append(self._all[place % len(self._all)])
        return found


class Turns:
    """The positions of one worker: batches go around among the workers, as a DataLoader takes them."""

    def __init__(self, size: int, batch: int, worker: int, workers: int) -> None:
        self._size = size
        self._batch = batch
        self._worker = worker
        self._workers = workers

    def __len__(self) -> int:
        """How many positions."""
        rounds, rest = divmod(self._size, self._batch * self._workers)
        mine = min(max(0, rest - self._worker * self._batch), self._batch)
        return rounds * self._batch + mine

    def batches(self, done: int) -> Iterator[tuple[int, int]]:
        """(first position, count) of each batch behind the worker's first `done` positions; the rest of
        one that is done in part."""
        number, part = divmod(done, self._batch)
        while True:
            first = (number * self._workers + self._worker) * self._batch
            count = min(self._batch, self._size - first)
            if count <= part:
                if count < self._batch:
                    return
            else:
                yield first + part, count - part
            number, part = number + 1, 0


def stretches(order: Order, turns: Turns, done: int) -> Iterator[array[int]]:
    """The rows of those batches, many at a time."""
    rows = array("Q")
    for first, count in turns.batches(done):
        rows.extend(order.rows(first, count))
        if len(rows) >= STRETCH:
            yield rows
            rows = array("Q")
    if rows:
        yield rows


def plans(order: Order, turns: Turns, done: int, most: int) -> Iterator[array[int]]:
    """The rows of those batches, a window at a time, or of a window as many as may be kept: who reads them by
    their numbers reads neighbours together."""
    rows, end = array("Q"), 0
    for first, count in turns.batches(done):
        at, behind = first, first + count
        while at < behind:
            if at >= end or len(rows) >= most:
                if rows:
                    yield rows
                    rows = array("Q")
                end = order.window_end(at)
            some = order.rows(at, min(behind, end, at + most - len(rows)) - at)
            rows.extend(some)
            at += len(some)
    if rows:
        yield rows
