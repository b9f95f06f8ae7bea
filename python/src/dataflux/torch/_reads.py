"""Reads of one worker, an epoch after the other; and samples of rows that lie in several parts."""

from __future__ import annotations

from array import array
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from .._client import Client
from .._items import FailedItem
from ._samples import Maker
from ._source import Source
from ._state import Place

if TYPE_CHECKING:
    from ._iterable import IterableDataset


class Reads:
    """Reads of one worker: items in the order of its batches, of this epoch and of those that follow,
    as far as memory goes."""

    of = None  # whoever passes over samples

    def __init__(self, dataset: IterableDataset, client: Client, place: Place, worker: int,
                 workers: int, step: int | None) -> None:
        self.key: tuple[int, int, int, int] = (place.epoch, place.begin, worker, workers)
        self._dataset = dataset
        self._client = client
        self._worker = worker, workers
        self._step = step  # from an epoch to the next one; None: reads end with this one
        source = dataset._source
        self._parts = source.parts
        self._streams = [self._stream(client, number, place) for number in range(len(self._parts))]
        self._items: list[deque[Any]] = [deque() for _ in self._parts]

    def _stream(self, client, number, place):
        most = self._dataset._kept(client, number)  # samples of a plan; 0 = none is made
        rows = self._rows_of(number, place, most)
        return self._parts[number].in_plans(client, rows) if most else self._parts[number].stream(client, rows)

    def _rows_of(self, number: int, place: Place, most: int) -> Iterator[array[int]]:
        """The rows of one part, by its own numbers, of this epoch and of those that follow."""
        epoch, begin, yielded = place.epoch, place.begin, place.yielded
        while True:
            order, turns = self._dataset._order(epoch, begin, *self._worker)
            if yielded >= len(turns) and self._step is None:
                return
            yield from self._dataset._rows_of(number, order, turns, yielded, most)
            if self._step is None or not len(turns):
                return
            epoch, begin, yielded = epoch + self._step, 0, 0

    def take(self, rows: array[int]) -> Iterator[Any]:
        """Samples of the next rows, as they come."""
        return self._dataset._maker.samples(self._client, *self.asked(rows))

    def asked(self, rows: array[int]) -> tuple[Any, Sequence[int], Iterator[Any]]:
        """What samples of the next rows are made of."""
        return asked_of(self._dataset._source, self._dataset._maker, rows, self._next)

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
    return maker.samples(client, *asked_of(source, maker, rows, item_of))


def asked_of(source: Source, maker: Maker, rows: Sequence[int],
             item_of: Callable[[int], Any]) -> tuple[Any, Sequence[int], Iterator[Any]]:
    """(part, its rows, their items as they come) of rows that may lie in several parts."""
    def item(part, row):
        sizes = maker.sizes_of(part)
        error = source.parts[part].size_error(row, sizes) if sizes else None
        return item_of(part) if error is None else FailedItem(0, 0, (), error)

    if len(source.parts) == 1 and not maker.mixed:
        return source.parts[0], rows, (item(0, row) for row in rows)
    known = [source.part_of(row) for row in rows]
    return Parts(source, known), range(len(known)), (item(part, row) for part, row in known)


class Parts:
    """Rows of several parts as rows of one, by their numbers in `known`."""

    def __init__(self, source: Source, known: Sequence[tuple[int, int]]) -> None:
        self._source = source
        self._known = known

    def place_of(self, number: int) -> tuple[int, int]:
        """(part, its own number)"""
        return self._known[number]

    def part(self, number: int) -> Any:
        return self._source.parts[number]

    def row(self, number: int, *content: Any) -> Any:
        part, row = self._known[number]
        return self._source.parts[part].row(row, *content)

    def listed(self, number: int) -> Any:
        part, row = self._known[number]
        return self._source.parts[part].listed(row)

    def place(self, number: int) -> Any:
        part, row = self._known[number]
        return self._source.parts[part].place(row)
