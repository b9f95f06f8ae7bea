"""Batches of objects whose bytes are received straight into the memory of the batch."""

from __future__ import annotations

import os
from array import array
from collections import deque
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

import torch

from .._client import Client
from .._errors import Error
from .._items import FailedItem
from .._rows import RowStream
from .._shards import Splitter
from ._decoding import Now, as_view, row_at
from ._forming import Blocks, Forming, Layout, Rules, bytes_of
from ._reads import Parts
from ._samples import Failed, Maker
from ._share import memory_of
from ._sizes import size_error
from ._source import Listed, Source
from ._state import Place
from ._tars import Tars

if TYPE_CHECKING:
    from ._iterable import IterableDataset
    from ._loader import Batches

# What is asked for ahead where memory_cap goes so far: as many rows as may be in flight; of small ones some more, as
# caches hold about. Batches of 100 KiB that are four times as far ahead cost a tenth more CPU.
ROWS, MOST_ROWS, BYTES = 256, 1024, 32 << 20
_MARK = os.urandom(16)  # what the end of a row has until its bytes are there, where a watchdog asks for that


def receiving(dataset: IterableDataset, collate: Any, rules: Rules) -> type[Receiving] | None:
    """What receives batches: where samples are bytes of objects whose sizes are known before, of one object each or
    of two, or samples of shards one by one; and nothing else is wanted of them. Else None."""
    parts = dataset._source.parts
    if collate is not None or not dataset._maker.copies:
        return None
    if all(isinstance(part, Tars) for part in parts):
        sized = any(map(dataset._maker.sizes_of, range(len(parts))))
        return None if dataset._plans or sized or rules.pad or rules.packed else ReceivingShards
    kinds = {getattr(part, "listings", 0) for part in parts}
    return Receiving if len(kinds) == 1 and 0 not in kinds else None


class _Side:
    """Objects of one listing, or samples of an index, which a stream receives.

    rows_of   gives their rows, of numbers of samples of the part
    """

    def __init__(self, client: Client, of: Listed | Tars, rows_of: Callable[[array[int]], array[int]]) -> None:
        self.rows_of = rows_of
        self.sizes_at = of.sizes_at
        self.stream = RowStream(client, None, of.open(client))


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

    def ends(self, good: Sequence[int]) -> Iterator[tuple[int, memoryview]]:
        """(place of the sample, the last bytes of its row)"""
        room = bytes_of(self.made) if self.made.numel() else memoryview(b"")
        for begin, at in zip(self.layout.begins, good):
            end = begin + self.sizes[at]
            yield at, room[max(begin, end - len(_MARK)):end]

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
    shares   (part, its numbers, their places) of each part that has some of it; None for the places: it has all
    pushed   the streams that have some of it, and which places each of them has; None = all
    good     the places of samples that were pushed
    urls     of the shards of its samples, where it is put together
    """

    good: Sequence[int] = ()
    urls: list[str]

    def __init__(self, number: int, part: Any, rows: Sequence[int], columns: list[_Column], shares: list[Any]) -> None:
        self.number, self.part, self.rows, self.columns, self.shares = number, part, rows, columns, shares
        self.bytes = sum(sum(column.sizes) for column in columns)
        self.row_at: Callable[..., Any] = partial(row_at, part, rows)
        self.pushed: list[tuple[_Column, RowStream, Sequence[int] | None]] = []
        self.failed: dict[int, Error] = {}  # by place, what was known before it was pushed
        self.places: Iterator[int] = iter(())
        self.broken: Error | None = None

    def sample(self, parts: list[Any]) -> Any:
        """One of what each column has of it."""
        return tuple(parts) if len(parts) > 1 else parts[0]

    def mark(self) -> None:
        """So that lacking() knows, before it is pushed."""
        for column in self.columns:
            for _, end in column.ends(self.good):
                end[:] = _MARK[:len(end)]

    def lacking(self) -> list[int]:
        """The places of samples whose bytes are not there, of those that were marked. Any thread, meanwhile."""
        return sorted({at for column in self.columns if column.made is not None
                       for at, end in column.ends(self.good) if end and end == _MARK[:len(end)]})

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
        self._one = len(self._source.parts) == 1 and not self._maker.mixed  # rows are those of one part
        self._rules: Rules = batches._rules
        self._laid = self._rules  # how bytes lie in memory
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
        batch = _Row(number, part, rows if self._one else range(len(rows)), columns, shares)
        self._pushed.append(batch)
        self.bytes += batch.bytes
        self._count += len(rows)
        self._refuse(batch)
        good = [at for at in range(len(rows)) if at not in batch.failed] if batch.failed else range(len(rows))
        if not good or not self._laid_out(batch, good):
            return
        batch.good = good
        place_of = {at: place for place, at in enumerate(good)} if batch.failed else None
        for side, column in enumerate(columns):
            column.made = self._blocks.tensor(side if columns[1:] else None, self._laid.dtype, column.layout.shape)
        if self.of._warn_after is not None:
            batch.mark()
        for side, column in enumerate(columns):
            room = len(column.layout.cleared(column.made))
            for of, numbers, places in shares:
                self._begin(batch, column, self._sides[of][side], numbers, places, place_of, room)

    def _shared(self, rows):
        """What `rows` are numbers of; and the shares of the parts."""
        if self._one:
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

    def _refuse(self, batch):
        """Notes what has a wrong size: samples of one size are asked about once."""
        for of, numbers, places in batch.shares:
            sizes = self._maker.sizes_of(of)
            if not sizes:
                continue
            for at, number in zip(range(len(numbers)) if places is None else places, numbers):
                if any(sizes.wrong(column.sizes[at]) for column in batch.columns):
                    batch.failed[at] = self._source.parts[of].size_error(number, sizes)
        for side, column in enumerate(batch.columns):
            wrong = {size: told for size in set(column.sizes) if (told := self._rules.wrong(size)) is not None}
            for at, size in enumerate(column.sizes) if wrong else ():
                if size in wrong and at not in batch.failed:
                    batch.failed[at] = size_error(batch.row_at(at, side), wrong[size])

    def _laid_out(self, batch, good):
        """Lays out the memory. Gives False where sizes differ, and are not to."""
        for side, column in enumerate(batch.columns):
            sizes = array("Q", [column.sizes[at] for at in good]) if batch.failed else column.sizes
            column.layout = layout = Layout(self._laid, sizes)
            if layout.odd is not None:
                told = layout.told(batch.row_at(good[0], side).url)
                batch.broken = size_error(batch.row_at(good[layout.odd], side), told)
                return False
        return True

    def _begin(self, batch, column, side, numbers, places, place_of, room):
        """Begins to receive what one stream has of a column."""
        begins = column.layout.begins
        if place_of is not None:
            some = range(len(numbers)) if places is None else places
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
        now.doing = batch, None, True, monotonic()
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
            good = not batch.failed and not any(column.failures for column in batch.columns)
            made = self._whole(batch) if good else None
            return self._settled(batch) if made is None else made
        finally:
            batch.drop()  # an error that it has may have frames that have the batch

    def _whole(self, batch):
        """A batch of which nothing has failed; None: it is put together."""
        if self._maker.on_error == "skip":
            last = len(batch.rows) - 1
            self._maker.stands_in(batch.sample([column.view(last, last) for column in batch.columns]))
        self._maker.succeeds()
        made = [column.layout.batch(column.made) for column in batch.columns]
        return made if made[1:] else made[0]

    def _settled(self, batch):
        """The batch in spite of failures, sample by sample."""
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


class ReceivingShards(Receiving):
    """The same of samples of shards: the bytes of a sample are received as they lie in its shard. Where all samples of
    a batch have the same fields, of the same sizes, each field is a view of that memory; else they are put together."""

    def __init__(self, batches: Batches, client: Client, place: Place, step: int | None) -> None:
        super().__init__(batches, client, place, step)
        self._laid = Rules(packed=True)
        self._splitters = [Splitter(part.open(client)) for part in self._source.parts]

    def _refuse(self, batch):
        """The sizes of fields are looked at when they are there."""

    def _whole(self, batch):
        column, rules = batch.columns[0], self._rules
        size, count = column.sizes[0], len(batch.rows)
        if len(batch.shares) > 1 or column.sizes.count(size) != count:
            return None
        of, numbers, _ = batch.shares[0]
        keys, fields = self._keys(self._splitters[of], numbers, column.made.data_ptr(), size)
        if fields is None or any(name == "__error__" or rules.wrong(length) for name, _, length in fields):
            return None
        rows, maker = column.made.view(count, size), self._maker
        made = {"__key__": keys, "__url__": self._source.parts[of].urls_of(numbers)}
        if maker.on_error == "skip":
            data = column.view(count - 1, count - 1)
            last = {name: value[-1] for name, value in made.items()}
            maker.stands_in({**last, **{name: data[begin:begin + length] for name, begin, length in fields}})
        maker.succeeds()
        for name, begin, length in fields:
            made[name] = self._field(name, rows[:, begin:begin + length])
        return made

    def _keys(self, splitter, numbers, address, size):
        """The keys of the samples, and (name, begin, length) of the fields of each of them; None where they differ."""
        keys, first = [], None
        for at, number in enumerate(numbers):
            told = splitter.told(number, address + at * size, size)
            if not isinstance(told, tuple) or (first is not None and told[1] != first):
                return [], None
            keys.append(told[0])
            first = told[1]
        return keys, list(splitter.places(first))

    def _field(self, name, field):
        """A field of all samples, as the rules say. For a device its rows lie side by side."""
        rules = self._rules
        if self.of._copies is not None:
            made = self._blocks.tensor(name, torch.uint8, field.shape)
            made.copy_(field)
            field = made
        field = field.view(rules.dtype)
        return field.unflatten(1, rules.shape) if rules.shape else field

    def _settled(self, batch):
        urls = [""] * len(batch.rows)
        for of, numbers, places in batch.shares:
            for at, url in zip(range(len(numbers)) if places is None else places,
                               self._source.parts[of].urls_of(numbers)):
                urls[at] = url
        batch.urls = urls
        return super()._settled(batch)

    def _outcome(self, batch, at):
        of, number = (0, batch.rows[at]) if self._one else batch.part.place_of(at)
        column, sample = batch.columns[0], {"__key__": None, "__url__": batch.urls[at]}
        why = column.failures.pop(at, None)
        if why is None:
            begin = column.layout.begins[at]
            data = bytes_of(column.made)[begin:begin + column.sizes[at]]
            why = self._splitters[of].split(number, data, sample)
            if why is None:
                return sample
            self._splitters[of].forget(self._client, number, why)
        return self._maker.outcome(self._client, batch.part, batch.rows[at], FailedItem(0, 0, (), why), as_view)
