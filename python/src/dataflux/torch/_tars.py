"""Samples of tar shards: a part whose objects hold many, by an index that lies in a file."""

from __future__ import annotations

from array import array
from collections import deque
from itertools import chain
from typing import Any, Callable, Iterator, Sequence

from .._client import Client
from .._errors import Error, PreconditionError
from .._listing import Row
from .._place import url_of
from .._reports import SHARD_COUNTS
from .._shards import SampleFeed, ShardIndex, sample_batches
from ._sizes import SizeError, Sizes
from ._source import as_they_are, digest_of


class Fields:
    """An item: the fields of a sample, or an error.

    known    the shard, as `decode` is given it
    """

    __slots__ = ("data", "error", "known")

    generation = crc32c = 0

    def __init__(self, data: dict[str, Any], known: Row | None) -> None:
        self.data = data
        self.error: Error | None = data.get("__error__")
        self.known = known


class _Feed(SampleFeed):
    """Numbers for a stream, from stretches. An empty one says that there is none for now."""

    def __init__(self, index, stretches):
        self._index = index
        self._begin(index.bucket, stretches)


class _Stream:
    """Lists of items, one for each sample."""

    def __init__(self, bucket, batches):
        self._bucket = bucket
        self._batches = batches
        self._known: dict[str, Row] = {}  # by URL of the shard

    def __iter__(self):
        return self

    def __next__(self):
        return [Fields(sample, self._known.get(sample["__url__"]) or self._row(sample["__url__"]))
                for sample in next(self._batches)]

    def _row(self, url):
        row = self._known[url] = _row_of(self._bucket, self._batches.shard_of(url))
        return row

    def items(self):
        """All of them, one by one."""
        return chain.from_iterable(self)

    def _fill(self):
        self._batches._fill()

    def close(self):
        self._batches.close()


def _row_of(bucket, shard):
    return Row(bucket, shard.name, shard.size, shard.generation, shard.crc32c)


class Planned:
    """Lists of items, of a plan each: read by their numbers, and given in the order of the plan. Those that
    wait for their turn are kept."""

    def __init__(self, plans, begin):
        self._turns: deque[Any] = deque()  # of plans that are read: where each item goes
        self._plans = plans
        self._stream = begin(self._sorted())
        self._items: deque[Fields] = deque()

    def _sorted(self):
        for rows in self._plans:
            if not rows:
                yield rows
                continue
            turns = sorted(range(len(rows)), key=rows.__getitem__)
            self._turns.append(turns)
            yield array("Q", map(rows.__getitem__, turns))

    def __iter__(self):
        return self

    def __next__(self):
        while not self._turns or len(self._items) < len(self._turns[0]):
            self._items.extend(next(self._stream))
        turns = self._turns.popleft()
        made: list[Any] = [None] * len(turns)
        for turn in turns:
            made[turn] = self._items.popleft()
        return made

    def _fill(self):
        self._stream._fill()

    def close(self):
        self._stream.close()


_LOOKED_AT = 256  # shards, for the mean size of a sample
BLOCK = 4 << 20  # bytes of a block, where nobody says how many samples it has


class Tars:
    """Samples of an index of shards.

    sample_bytes, shard_samples     means over shards, by which reads are planned
    """

    def __init__(self, path: str, digest: str, bucket: str, sample_bytes: float, shard_samples: float,
                 made: int) -> None:
        self.path = path
        self.digest = digest
        self.bucket = bucket
        self.sample_bytes = sample_bytes
        self.shard_samples = shard_samples
        self._made = made  # another number for each time that shards were indexed; `digest` is of what was found
        self._index: ShardIndex | None = None
        self._urls: dict[int, str] = {}  # by shard

    @classmethod
    def of(cls, index: ShardIndex) -> Tars:
        shards = index.shards
        some = [shards[number] for number in range(0, len(shards), max(1, len(shards) // _LOOKED_AT))]
        samples = max(1, sum(shard.samples for shard in some))
        return cls(index.path, digest_of(index.path), index.bucket, sum(shard.size for shard in some) / samples,
                   samples / max(1, len(some)), index.digest)

    def __getstate__(self) -> Any:
        return self.path, self.digest, self.bucket, self.sample_bytes, self.shard_samples, self._made

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def open(self, client: Client | None) -> ShardIndex:
        """The index, mapped once in a process."""
        if self._index is None:
            index = ShardIndex.open(self.path)
            if index.digest != self._made:
                raise PreconditionError(f"{self.path}: it is another index than the one that the dataset was "
                                        "made with: it was made again since")
            self._index = index
        return self._index

    def left_out(self) -> dict[str, int]:
        """What indexing has met that is in no sample, by reason."""
        found = dict.fromkeys(SHARD_COUNTS, 0)
        for shard in (self._index or ShardIndex.open(self.path)).shards:
            for name in found:
                found[name] += getattr(shard, name)
        return {name: count for name, count in found.items() if count}

    def listed(self, number: int) -> Row:
        """The shard, as it was indexed."""
        index = self._index or ShardIndex.open(self.path)
        return _row_of(self.bucket, index.shards[index.sample(number).shard])

    def row(self, number: int, size: int, generation: int, crc32c: int) -> Row:
        return self.listed(number)

    def place(self, number: int) -> tuple[str, str, int]:
        return self.bucket, self.listed(number).name, 0

    def size_error(self, number: int, sizes: Sizes) -> SizeError | None:
        """Nobody knows the sizes of its fields together before it was read."""
        return None

    def received(self, client: Client) -> list[tuple[Tars, Callable[[array[int]], array[int]]]]:
        """As of Listed: a sample is one run of bytes."""
        return [(self, as_they_are)]

    def sizes_at(self, rows: array[int]) -> array[int]:
        """Bytes of samples: headers, data and padding of their members."""
        found = array("Q", bytes(8 * len(rows)))
        self.open(None)._columns(rows, {"sizes": found})
        return found

    def urls_of(self, rows: array[int]) -> list[str]:
        """Of the shard of each sample."""
        index, shards = self.open(None), array("Q", bytes(8 * len(rows)))
        index._columns(rows, {"shards": shards})
        for number in set(shards) - self._urls.keys():
            self._urls[number] = url_of(index.bucket, index.shards[number].name)
        return [self._urls[number] for number in shards]

    def stream(self, client: Client, stretches: Iterator[array[int]]) -> _Stream:
        index = self.open(client)
        return _Stream(self.bucket, sample_batches(client, index, _Feed(index, stretches), order="asked",
                                                   on_error="return", timeout=None, progress=None))

    def in_plans(self, client: Client, plans: Iterator[array[int]]) -> Planned:
        """A stream whose stretches are plans, each of which is read by its numbers."""
        return Planned(plans, lambda stretches: self.stream(client, stretches))

    def some(self, client: Client, rows: Sequence[int]) -> Iterator[Fields]:
        return self.stream(client, iter([array("Q", rows)])).items()
