"""Samples of tar shards: a part whose objects hold many, by an index that lies in a file."""

from __future__ import annotations

from array import array
from itertools import chain
from typing import Any, Iterator, Sequence

from .._client import Client
from .._errors import Error, PreconditionError
from .._listing import Row
from .._shards import ShardIndex, sample_batches
from ._sizes import SizeError, Sizes


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


class _Stream:
    """Lists of items, one for each sample."""

    def __init__(self, index, batches):
        self._index = index
        self._batches = batches
        self._known: dict[str, Row] = {}  # by URL of the shard

    def __iter__(self):
        return self

    def __next__(self):
        return [Fields(sample, self._known.get(sample["__url__"]) or self._row(sample["__url__"]))
                for sample in next(self._batches)]

    def _row(self, url):
        row = self._known[url] = Row(self._index.bucket, url.split("/", 3)[3], 0, 0, None)
        return row

    def items(self):
        """All of them, one by one."""
        return chain.from_iterable(self)

    def _fill(self):
        self._batches._fill()

    def close(self):
        self._batches.close()


class Tars:
    """Samples of an index of shards."""

    def __init__(self, path: str, digest: str, bucket: str) -> None:
        self.path = path
        self.digest = digest
        self.bucket = bucket
        self._index: ShardIndex | None = None

    @classmethod
    def of(cls, index: ShardIndex) -> Tars:
        return cls(index.path, f"{index.digest:016x}", index.bucket)

    def __getstate__(self) -> Any:
        return self.path, self.digest, self.bucket

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def open(self, client: Client) -> ShardIndex:
        """The index, mapped once in a process."""
        if self._index is None:
            index = ShardIndex.open(self.path)
            if f"{index.digest:016x}" != self.digest:
                raise PreconditionError(f"{self.path}: it is another index than the one that the dataset was "
                                        "made with: it was made again since")
            self._index = index
        return self._index

    def listed(self, number: int) -> Row:
        """The shard, as it was indexed."""
        index = self._index or ShardIndex.open(self.path)
        shard = index.shards[index.sample(number).shard]
        return Row(shard.bucket, shard.name, shard.size, shard.generation, shard.crc32c)

    def row(self, number: int, size: int, generation: int, crc32c: int) -> Row:
        return self.listed(number)

    def place(self, number: int) -> tuple[str, str, int]:
        return self.bucket, self.listed(number).name, 0

    def size_error(self, number: int, sizes: Sizes) -> SizeError | None:
        """Nobody knows the sizes of its fields together before it was read."""
        return None

    def stream(self, client: Client, stretches: Iterator[array[int]]) -> _Stream:
        index = self.open(client)
        return _Stream(index, sample_batches(client, index, chain.from_iterable(stretches), order="asked",
                                             on_error="return", timeout=None, progress=None))

    def some(self, client: Client, rows: Sequence[int]) -> Iterator[Fields]:
        return self.stream(client, iter([array("Q", rows)])).items()
