"""Reads of one worker, an epoch after the other; and samples of rows that lie in several parts."""

from __future__ import annotations

from array import array
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from .._client import Client
from .._items import FailedItem
from ._order import plans, stretches
from ._samples import Maker
from ._source import Source
from ._state import Place
from ._tars import Tars

if TYPE_CHECKING:
    from ._iterable import IterableDataset


class Reads:
    """Reads of one worker: items in the order of its batches, of this epoch and of those that follow,
    as far as memory goes."""

    def __init__(self, dataset: IterableDataset, client: Client, place: Place, worker: int,
                 workers: int, step: int | None) -> None:
        self.key = place.epoch, place.begin, worker, workers
        self._dataset = dataset
        self._client = client
        self._worker = worker, workers
        self._step = step  # from an epoch to the next one; None: reads end with this one
        source = dataset._source
        self._parts = source.parts
        self._most = source.kept(client) if dataset._plans else 0  # samples of a plan
        self._streams = [self._stream(client, number, place) for number in range(len(self._parts))]
        self._items: list[deque[Any]] = [deque() for _ in self._parts]

    def _stream(self, client, number, place):
        part, dataset = self._parts[number], self._dataset
        rows = dataset._source.of_part(number, self._all(place), dataset._maker.sizes)
        return part.in_plans(client, rows) if self._most and isinstance(part, Tars) else part.stream(client, rows)

    def _all(self, place: Place) -> Iterator[array[int]]:
        epoch, begin, yielded = place.epoch, place.begin, place.yielded
        while True:
            order, turns = self._dataset._order(epoch, begin, *self._worker)
            some = False
            for rows in plans(order, turns, yielded, self._most) if self._most else stretches(order, turns, yielded):
                some = True
                yield rows
            if self._step is None or not (some or yielded):
                return
            epoch, begin, yielded = epoch + self._step, 0, 0

    def take(self, rows: array[int]) -> Iterator[Any]:
        """Samples of the next rows, as they come."""
        return of_parts(self._dataset._source, self._dataset._maker, self._client, rows, self._next)

    def _next(self, part):
        items = self._items[part]
        if not items:
            items.extend(next(self._streams[part]))
        return items.popleft()

    def go_on(self) -> None:
        """Nobody takes samples for now: what comes next is asked for all the same."""
        for stream in self._streams:
            stream._fill()

    def close(self) -> None:
        for stream in self._streams:
            stream.close()


def of_parts(source: Source, maker: Maker, client: Client, rows: Sequence[int],
             item_of: Callable[[int], Any]) -> Iterator[Any]:
    """Samples of rows that may lie in several parts; `item_of(part)` gives the next item of one."""
    def item(part, row):
        error = source.parts[part].size_error(row, maker.sizes) if maker.sizes else None
        return item_of(part) if error is None else FailedItem(0, 0, (), error)

    if len(source.parts) == 1:
        return maker.samples(client, source.parts[0], rows, (item(0, row) for row in rows))
    known = [source.part_of(row) for row in rows]
    return maker.samples(client, _Parts(source, known), range(len(known)),
                         (item(part, row) for part, row in known))


class _Parts:
    """Rows of several parts as rows of one, by their numbers in `known`."""

    def __init__(self, source, known):
        self._source = source
        self._known = known

    def row(self, number, *content):
        part, row = self._known[number]
        return self._source.parts[part].row(row, *content)

    def listed(self, number):
        part, row = self._known[number]
        return self._source.parts[part].listed(row)

    def place(self, number):
        part, row = self._known[number]
        return self._source.parts[part].place(row)
