"""Samples of two indexes of tar shards that have the same key, as the samples of a dataset."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections import deque
from typing import Any, Iterator, Sequence

from .._client import Client
from .._errors import DataLossError, Error, InvalidArgumentError, PreconditionError
from .._listing import Row
from .._pairing import PairedRows, write_rows
from .._place import named, scheme_of
from .._shard_join import NOBODY, ShardJoin
from ._sizes import SizeError, Sizes
from ._tars import Fields, Planned, Tars


_OWN = ("__key__", "__url__")  # of the left side


class Joined:
    """Rows of a join, in a file that all processes map. What is read of a row are the fields of both sides."""

    def __init__(self, sides: Sequence[Tars], path: str, digest: str, prefix: str | None) -> None:
        self._sides = tuple(sides)
        self.path = path
        self.digest = digest
        self._prefix = prefix
        self.bucket = named(" ".join(side.bucket for side in self._sides), scheme_of(self._sides[0].bucket))
        self.sample_bytes = sum(side.sample_bytes for side in self._sides)
        self.shard_samples = self._sides[0].shard_samples
        self._rows: PairedRows | None = None

    @classmethod
    def write(cls, join: ShardJoin, path: str) -> Joined:
        """The join, written to a file."""
        sides = Tars.of(join.left), Tars.of(join.right)
        told = "\n".join([*(side.digest for side in sides), repr(join.prefix)])
        of = hashlib.sha256(told.encode()).digest()
        write_rows(path, *join._columns(), (join.left_alone, join.right_alone), of)
        return cls(sides, path, PairedRows(path).digest, join.prefix)

    def __getstate__(self) -> Any:
        return self._sides, self.path, self.digest, self._prefix

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def open(self, client: Client) -> PairedRows:
        """Which rows there are, mapped, with both indexes."""
        if self._rows is None:
            rows = PairedRows(self.path)
            if rows.digest != self.digest:
                raise PreconditionError(f"{self.path}: it has other rows than the dataset was made with: it was "
                                        "replaced since")
            for side in self._sides:
                side.open(client)
            self._rows = rows
        return self._rows

    def left_out(self) -> dict[str, int]:
        """Samples of each side without a partner."""
        alone = zip(("left_alone", "right_alone"), (self._rows or PairedRows(self.path)).unpaired)
        return {name: count for name, count in alone if count}

    def _left(self, number):
        rows = self._rows or PairedRows(self.path)
        return rows.first[number]

    def listed(self, number: int) -> Row:
        """The left side's shard, as it was indexed."""
        return self._sides[0].listed(self._left(number))

    def row(self, number: int, size: int, generation: int, crc32c: int) -> Row:
        return self.listed(number)

    def place(self, number: int) -> tuple[str, str, int]:
        return self._sides[0].place(self._left(number))

    def size_error(self, number: int, sizes: Sizes) -> SizeError | None:
        return None

    def stream(self, client: Client, stretches: Iterator[array[int]]) -> _Stream:
        rows = self.open(client)
        numbers: deque[int] = deque()
        taken: deque[array[int] | None] = deque()
        left, right = _left(rows.first, stretches, numbers, taken), _right(rows.second, taken)
        return _Stream(rows, numbers, self._sides[0].stream(client, left), self._sides[1].stream(client, right),
                       self._prefix)

    def in_plans(self, client: Client, plans: Iterator[array[int]]) -> Planned:
        return Planned(plans, lambda stretches: self.stream(client, stretches))

    def some(self, client: Client, rows: Sequence[int]) -> Iterator[Fields]:
        return self.stream(client, iter([array("Q", rows)])).items()


def _left(column, stretches, numbers, taken):
    """Numbers of the left side, of stretches of rows. Tells the rows to who puts both sides together (`numbers`),
    and to the right side (`taken`, at whose end is None)."""
    for rows in stretches:
        numbers.extend(rows)
        if rows:
            taken.append(rows)
        yield array("Q", map(column.__getitem__, rows))
    taken.append(None)


def _right(column, taken):
    """Numbers of the right side, of the rows that the left side has taken: beyond those there is none for now. So it
    passes over rows without a partner, and does not look for one through whole epochs."""
    while True:
        rows = taken.popleft() if taken else array("Q")
        if rows is None:
            return
        found = array("Q", [number for number in map(column.__getitem__, rows) if number != NOBODY])
        if found or not rows:
            yield found


class _Stream:
    """Lists of items: of both sides, which go side by side."""

    def __init__(self, rows, numbers, left, right, prefix):
        self._rows = rows
        self._numbers = numbers  # of rows that are to come
        self._streams = left, right
        self._items: tuple[deque[Any], deque[Any]] = deque(), deque()
        self._prefix = prefix

    def __iter__(self):
        return self

    def __next__(self):
        (left, right), (of_left, of_right) = self._streams, self._items
        if not of_left:
            of_left.extend(next(left))
        made = []
        while of_left:
            alone = self._rows.second[self._numbers[0]] == NOBODY
            if not alone and not of_right:
                if made:
                    break
                of_right.extend(next(right))
                continue
            self._numbers.popleft()
            made.append(of_left.popleft() if alone else self._both(of_left.popleft(), of_right.popleft()))
        return made

    def _both(self, left, right):
        for side in (left, right):
            if side.error is not None:
                return side
        error = self._error(left.data, right.data)
        if error is not None:
            return Fields({"__error__": error}, left.known)
        for name, value in right.data.items():
            if name not in _OWN:
                left.data[(self._prefix or "") + name] = value
        return left

    def _error(self, left, right) -> Error | None:
        key, url = left["__key__"], left["__url__"]
        if right["__key__"] != key:
            return DataLossError(f"{url}: the sample {key!r} was joined with {right['__key__']!r}: their keys have the "
                                 "same hash. Rename one of them")
        names = {(self._prefix or "") + name for name in right if name not in _OWN}
        for name in sorted(names & left.keys()):
            return InvalidArgumentError(f"{url}: the sample {key!r} has the field {name!r} on both sides of the join: "
                                        'join with a prefix for those of the right side, as in prefix="r."')
        return None

    def items(self):
        """All of them, one by one."""
        for some in self:
            yield from some

    def _fill(self):
        for stream in self._streams:
            stream._fill()

    def close(self):
        for stream in self._streams:
            stream.close()


def join_of(shards: Any, folder: str, number: int) -> Joined | None:
    """Of a join that a dataset was given; None for anything else."""
    if not isinstance(shards, ShardJoin):
        return None
    return Joined.write(shards, os.path.join(folder, f"join-{number}"))
