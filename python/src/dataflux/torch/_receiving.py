"""Batches of objects whose bytes are received straight into the memory of the batch."""

from __future__ import annotations

from array import array
from collections import deque
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from .._client import Client
from .._errors import Error
from .._items import FailedItem
from .._rows import RowStream
from ._decoding import Now, as_view, row_at
from ._forming import Blocks, Forming, Layout, Rules, bytes_of
from ._reads import Parts
from ._samples import Failed, Maker
from ._share import memory_of
from ._sizes import size_error
from ._source import Listed, Source
from ._state import Place

if TYPE_CHECKING:
    from ._iterable import IterableDataset
    from ._loader import Batches

# What is asked for ahead where memory_cap goes so far: as many rows as may be in flight; of small ones some more, as
# caches hold about. Batches of 100 KiB that are four times as far ahead cost a tenth more CPU.
ROWS, MOST_ROWS, BYTES = 256, 1024, 32 << 20


def receives(dataset: IterableDataset, collate: Any) -> bool:
    """Whether samples are bytes of objects whose sizes are known before, and nothing else is wanted of them: of one
    object each, or of two."""
    kinds = {getattr(part, "listings", 0) for part in dataset._source.parts}
    return collate is None and dataset._maker.copies and len(kinds) == 1 and 0 not in kinds


class _Side:
    """Objects of one listing, which a stream receives.

    rows_of   gives their rows, of numbers of samples of the part
    """

    def __init__(self, client: Client, listed: Listed, rows_of: Callable[[array[int]], array[int]]) -> None:
        self.rows_of = rows_of
        self.sizes_at = listed.sizes_at
        self.stream = RowStream(client, None, listed.open(client))


class _Column:
    """One object of each sample of a batch.

    sizes      of all, as they were listed
    failures   by place among those that were pushed
    """

    def __init__(self, sizes: array[int]) -> None:
        self.sizes = sizes
        self.layout: Any = None
        self.made: Any = None
        self.failures: dict[int, Error] = {}

    def view(self, place: int, at: int) -> memoryview:
        """A copy of the bytes of a sample, which is at this place of the memory."""
        size = self.sizes[at]
        if not size:
            return memoryview(b"")
        begin = self.layout.begins[place]
        return memoryview(bytearray(bytes_of(self.made)[begin:begin + size]))


class _Bytes:
    """An item that was received."""

    __slots__ = ("data",)

    error = None
    generation = crc32c = 0

    def __init__(self, data: memoryview) -> None:
        self.data = data


class _Row:
    """A batch that was pushed.

    number   of its pass, from 0
    part     whose numbers `rows` are
    pushed   the streams that have some of it, and which places each of them has; None = all
    """

    def __init__(self, number: int, part: Any, rows: Sequence[int], columns: list[_Column]) -> None:
        self.number, self.part, self.rows, self.columns = number, part, rows, columns
        self.bytes = sum(sum(column.sizes) for column in columns)
        self.row_at: Callable[[int], Any] = partial(row_at, part, rows)
        self.pushed: list[tuple[_Column, RowStream, Sequence[int] | None]] = []
        self.failed: dict[int, Error] = {}  # by place, what was known before it was pushed
        self.places: Iterator[int] = iter(())
        self.broken: Error | None = None

    def sample(self, parts: list[Any]) -> Any:
        """One of what each column has of it."""
        return tuple(parts) if len(parts) > 1 else parts[0]

    def drop(self) -> None:
        self.failed, self.broken, self.columns, self.pushed = {}, None, [], []


class Receiving:
    """The batches of a pass, in order, and of those that follow it: as Making, which makes them of samples.

    of, key   whose they are, and of which pass, for the dataset
    """

    def __init__(self, batches: Batches, client: Client, place: Place, step: int | None) -> None:
        dataset = batches.dataset
        self.of = batches
        self.key: tuple[int, int, int, int] = (place.epoch, place.begin, 0, 1)
        self.threads: dict[int, Now] = {}
        self.over = False
        self._client = client
        self._step = step
        self._dataset, self._place = dataset, place
        self._source: Source = dataset._source
        self._maker: Maker = dataset._maker
        self._rules: Rules = batches._rules
        self._blocks: Blocks = batches._blocks
        self._ahead, self._most = batches._ahead, memory_of(client)
        self.bytes = self._count = 0  # of batches that are not taken: their bytes, and rows
        self._wanted: Iterator[tuple[int, array[int]]] = self._rows()
        self._pushed: deque[_Row] = deque()
        self._sides = [[_Side(client, *side) for side in part.received(client)] for part in self._source.parts]

    def _rows(self) -> Iterator[tuple[int, array[int]]]:
        """(number, rows) of the batches of this epoch, and of those that follow."""
        epoch, begin, at = self._place.epoch, self._place.begin, self._place.yielded
        while True:
            order, _ = self._dataset._order(epoch, begin, 0, 1)
            counts = self.of._counts(order.size - at)
            for number, count in enumerate(counts):
                yield number, order.rows(at, count)
                at += count
            if self._step is None or not counts:
                return
            epoch, begin, at = epoch + self._step, 0, 0

    def start(self) -> None:
        """As Making: the library's threads are there."""

    stop = start  # the streams end with this one

    @property
    def under_way(self) -> int:
        """Batches that are begun and not taken."""
        return len(self._pushed)

    def go_on(self) -> None:
        """Nobody takes batches for now: what comes next is asked for all the same."""
        while self._has_room():
            wanted = next(self._wanted, None)
            if wanted is None:
                return
            self._push(*wanted)

    def _has_room(self):
        if not self._pushed:
            return True
        wanted = len(self._pushed) <= self._ahead or self._count < ROWS
        return self.bytes < self._most and (wanted or (self.bytes < BYTES and self._count < MOST_ROWS))

    def _push(self, number, rows):
        part, shares = self._shared(rows)
        columns = [_Column(self._sizes(side, shares, len(rows))) for side in range(len(self._sides[0]))]
        batch = _Row(number, part, rows if len(self._sides) == 1 else range(len(rows)), columns)
        self._pushed.append(batch)
        self.bytes += batch.bytes
        self._count += len(rows)
        self._refuse(batch, shares)
        good = [at for at in range(len(rows)) if at not in batch.failed] if batch.failed else range(len(rows))
        if not good or not self._laid_out(batch, good):
            return
        place_of = {at: place for place, at in enumerate(good)} if batch.failed else None
        for side, column in enumerate(columns):
            column.made = self._blocks.tensor(side if columns[1:] else None, self._rules.dtype, column.layout.shape)
            room = len(column.layout.cleared(column.made))
            for of, numbers, places in shares:
                self._begin(batch, column, self._sides[of][side], numbers, places, place_of, room)

    def _shared(self, rows):
        """What `rows` are numbers of; and (part, its numbers, their places) of each part that has some of them. None
        for the places: it has all."""
        if len(self._sides) == 1:
            return self._source.parts[0], [(0, rows, None)]
        known = [self._source.part_of(row) for row in rows]
        shares: dict[int, tuple[int, array[int], array[int]]] = {}
        for at, (of, number) in enumerate(known):
            share = shares.get(of) or shares.setdefault(of, (of, array("Q"), array("Q")))
            share[1].append(number)
            share[2].append(at)
        return Parts(self._source, known), list(shares.values())

    def _sizes(self, side, shares, count):
        """Bytes of an object of each sample."""
        sizes = array("Q", bytes(8 * count))
        for of, numbers, places in shares:
            one = self._sides[of][side]
            found = one.sizes_at(one.rows_of(numbers))
            if places is None:
                return found
            for at, size in zip(places, found):
                sizes[at] = size
        return sizes

    def _refuse(self, batch, shares):
        """Notes what has a wrong size: samples of one size are asked about once."""
        for of, numbers, places in shares:
            sizes = self._maker.sizes_of(of)
            if not sizes:
                continue
            for at, number in zip(range(len(numbers)) if places is None else places, numbers):
                if any(sizes.wrong(column.sizes[at]) for column in batch.columns):
                    batch.failed[at] = self._source.parts[of].size_error(number, sizes)
        for column in batch.columns:
            wrong = {size: told for size in set(column.sizes) if (told := self._rules.wrong(size)) is not None}
            for at, size in enumerate(column.sizes) if wrong else ():
                if size in wrong and at not in batch.failed:
                    batch.failed[at] = size_error(batch.row_at(at), wrong[size])

    def _laid_out(self, batch, good):
        """Lays out the memory. Gives False where sizes differ, and are not to."""
        for column in batch.columns:
            sizes = array("Q", [column.sizes[at] for at in good]) if batch.failed else column.sizes
            column.layout = layout = Layout(self._rules, sizes)
            if layout.odd is not None:
                told = layout.told(batch.row_at(good[0]).url)
                batch.broken = size_error(batch.row_at(good[layout.odd]), told)
                return False
        return True

    def _begin(self, batch, column, side, numbers, places, place_of, room):
        """Begins to receive what one stream has of a column."""
        begins = column.layout.begins
        if place_of is not None:
            some = [at for at in (range(len(numbers)) if places is None else places)]
            numbers = array("Q", [number for at, number in zip(some, numbers) if at in place_of])
            places = [place_of[at] for at in some if at in place_of]
        if not numbers:
            return
        if places is not None:
            begins = array("Q", [begins[place] for place in places])
        side.stream.push(side.rows_of(numbers), column.made.data_ptr(), room, begins, owner=column.made)
        batch.pushed.append((column, side.stream, places))

    def formed(self, number: int) -> bool:
        """Whether a batch can be taken at once, as far as is known."""
        return True

    def take(self, number: int, now: Now) -> Any:
        """The next batch, once it is there. Raises: what it has failed with."""
        self.go_on()
        batch = self._pushed[0]
        now.doing = batch, 0, True, monotonic()
        for column, stream, places in batch.pushed:
            for place, why in stream.next().failures:  # type: ignore[union-attr]
                column.failures[place if places is None else places[place]] = why
        now.doing = None
        self._pushed.popleft()
        self.bytes -= batch.bytes
        self._count -= len(batch.rows)
        try:
            if batch.broken is not None:
                raise batch.broken
            if batch.failed or any(column.failures for column in batch.columns):
                return self._settled(batch)
            if self._maker.on_error == "skip":
                last = len(batch.rows) - 1
                self._maker.stands_in(batch.sample([column.view(last, last) for column in batch.columns]))
            self._maker.succeeds()
            made = [column.layout.batch(column.made) for column in batch.columns]
            return made if made[1:] else made[0]
        finally:
            batch.drop()  # an error that it has may have frames that have the batch

    def _settled(self, batch):
        """The batch in spite of failures."""
        batch.places = iter(range(len(batch.rows)))  # of what was pushed
        forming = Forming(len(batch.rows), self._rules, self._blocks, batch.row_at, None)
        outcomes = (self._outcome(batch, at) for at in range(len(batch.rows)))
        for at, sample in enumerate(self._maker.settled(outcomes)):
            forming.put(at, sample)
        return forming.batch()

    def _outcome(self, batch, at):
        known = batch.failed.get(at)
        if known is not None:
            return Failed(known)
        place = next(batch.places)
        if not any(place in column.failures for column in batch.columns):
            return batch.sample([column.view(place, at) for column in batch.columns])
        items = [FailedItem(0, 0, (), column.failures.pop(place)) if place in column.failures
                 else _Bytes(column.view(place, at)) for column in batch.columns]
        return self._maker.outcome(self._client, batch.part, batch.rows[at], batch.sample(items), as_view)

    def close(self) -> None:
        """Ends what is under way: nothing is written into memory of batches any more."""
        self.over = True
        for sides in self._sides:
            for side in sides:
                side.stream.close()
        self._pushed.clear()
        self._wanted = iter(())
