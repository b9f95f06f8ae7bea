"""Batches of objects whose bytes are received straight into the memory of the batch."""

from __future__ import annotations

from array import array
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any, Iterator

from .._client import Client
from .._errors import Error
from .._items import FailedItem
from .._rows import RowStream
from ._decoding import Now, as_view
from ._forming import Blocks, Forming, Layout, Rules, bytes_of
from ._samples import Failed, Maker
from ._share import memory_of
from ._sizes import size_error
from ._source import Listed
from ._state import Place

if TYPE_CHECKING:
    from ._iterable import IterableDataset
    from ._loader import Batches

# What is asked for ahead where memory_cap goes so far: as many rows as may be in flight; of small ones some more, as
# caches hold about. Batches of 100 KiB that are four times as far ahead cost a tenth more CPU.
ROWS, MOST_ROWS, BYTES = 256, 1024, 32 << 20


def receives(dataset: IterableDataset, collate: Any) -> bool:
    """Whether samples are bytes of objects whose sizes are known before, and nothing else is wanted of them."""
    parts = dataset._source.parts
    maker = dataset._maker
    return (collate is None and maker.copies and not maker.mixed and not maker.sizes and len(parts) == 1
            and isinstance(parts[0], Listed))


class _Row:
    """A batch that was pushed.

    number   of its pass, from 0
    """

    def __init__(self, number: int, rows: array[int], sizes: array[int], part: Any) -> None:
        self.number, self.rows, self.sizes = number, rows, sizes
        self.bytes = sum(sizes)
        self._part = part
        self.made: Any = None
        self.layout: Any = None
        self.failed: dict[int, Error] = {}  # by place, what was known before it was pushed
        self.failures: dict[int, Error] = {}  # by place among those that were
        self.places: Iterator[int] = iter(())
        self.broken: Error | None = None

    def row_at(self, at: int) -> Any:
        return self._part.listed(self.rows[at])

    def drop(self) -> None:
        self.failed, self.failures, self.broken, self.made = {}, {}, None, None


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
        self._part: Any = dataset._source.parts[0]
        self._maker: Maker = dataset._maker
        self._rules: Rules = batches._rules
        self._blocks: Blocks = batches._blocks
        self._ahead, self._most = batches._ahead, memory_of(client)
        self.bytes = self._count = 0  # of batches that are not taken: their bytes, and rows
        self._wanted: Iterator[tuple[int, array[int]]] = self._rows()
        self._pushed: deque[_Row] = deque()
        self._stream = RowStream(client, None, self._part.open(client))

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

    stop = start  # the stream ends with this one

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
        batch = _Row(number, rows, self._part.sizes_at(rows), self._part)
        self._pushed.append(batch)
        self.bytes += batch.bytes
        self._count += len(rows)
        # Samples of one size are asked about once.
        wrong = {size: told for size in set(batch.sizes) if (told := self._rules.wrong(size)) is not None}
        if wrong:
            batch.failed = {at: size_error(batch.row_at(at), wrong[size])
                            for at, size in enumerate(batch.sizes) if size in wrong}
        good = batch.sizes
        if batch.failed:
            good = array("Q", [size for at, size in enumerate(batch.sizes) if at not in batch.failed])
            rows = array("Q", [row for at, row in enumerate(rows) if at not in batch.failed])
        if not rows:
            return
        batch.layout = layout = Layout(self._rules, good)
        if layout.odd is not None:
            at = [at for at in range(len(batch.sizes)) if at not in batch.failed][layout.odd]
            batch.broken = size_error(batch.row_at(at), layout.told(batch.row_at(0).url))
            batch.layout = None
            return
        batch.made = self._blocks.tensor(None, self._rules.dtype, layout.shape)
        room = layout.cleared(batch.made)
        self._stream.push(rows, batch.made.data_ptr(), len(room), layout.begins, owner=batch.made)

    def formed(self, number: int) -> bool:
        """Whether a batch can be taken at once, as far as is known."""
        return True

    def take(self, number: int, now: Now) -> Any:
        """The next batch, once it is there. Raises: what it has failed with."""
        self.go_on()
        batch = self._pushed[0]
        if batch.made is not None:
            now.doing = batch, 0, True, monotonic()
            batch.failures = dict(self._stream.next().failures)  # type: ignore[union-attr]
            now.doing = None
        self._pushed.popleft()
        self.bytes -= batch.bytes
        self._count -= len(batch.rows)
        try:
            if batch.broken is not None:
                raise batch.broken
            if batch.failures or batch.failed:
                return self._settled(batch)
            if self._maker.on_error == "skip":
                last = len(batch.rows) - 1
                self._maker.stands_in(self._view(batch, last, last))
            self._maker.succeeds()
            return batch.layout.batch(batch.made)
        finally:
            batch.drop()  # an error that it has may have frames that have the batch

    def _view(self, batch, place, at):
        """A copy of the bytes of a sample, which is at this place of the memory."""
        size = batch.sizes[at]
        if not size:
            return memoryview(b"")
        begin = batch.layout.begins[place]
        return memoryview(bytearray(bytes_of(batch.made)[begin:begin + size]))

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
        if place not in batch.failures:
            return self._view(batch, place, at)
        return self._maker.outcome(self._client, self._part, batch.rows[at],
                                   FailedItem(0, 0, (), batch.failures.pop(place)), as_view)

    def close(self) -> None:
        """Ends what is under way: nothing is written into memory of batches any more."""
        self.over = True
        self._stream.close()
        self._pushed.clear()
        self._wanted = iter(())
