"""Objects of two prefixes that belong together by their names, as the objects of a dataset."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections import deque
from functools import partial
from itertools import tee
from typing import Any, Callable, Iterator, Sequence

from .._client import Client
from .._errors import NotFoundError, PreconditionError
from .._items import Item
from .._listing import Row, text_of
from .._pairing import PairedRows, Side, write_pairs
from .._place import bucket_url, named, scheme_of, url_of
from ._source import Listed

FILE = "pairs"


class Paired:
    """Rows of two manifests, two by two. Row n is a pair; what is read of it is a tuple of two items."""

    listings = 2

    def __init__(self, sides: Sequence[Listed], path: str, digest: str) -> None:
        self._sides = tuple(sides)
        self.path = path
        self.digest = digest
        self._rows: PairedRows | None = None

    def __getstate__(self) -> Any:
        return self._sides, self.path, self.digest

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]

    @property
    def bucket(self) -> str:
        """Of both sides, once they are open."""
        return named(" ".join(side.bucket for side in self._sides), scheme_of(self._sides[0].bucket))

    def open(self, client: Client) -> PairedRows:
        """Which rows are pairs, mapped, with both manifests."""
        if self._rows is None:
            rows = PairedRows(self.path)
            if rows.digest != self.digest:
                raise PreconditionError(f"{self.path}: it has other pairs than the dataset was made with: it "
                                        "was replaced since")
            if rows.of != both_digests(self._sides):
                raise PreconditionError("manifest: it is another one here than where its rows were paired: "
                                        "all ranks have to be given the same")
            for side in self._sides:
                side.open(client)
            self._rows = rows
        return self._rows

    def sides(self, number: int) -> tuple[tuple[Listed, int], tuple[Listed, int]]:
        """(manifest, its row) of both."""
        rows, (first, second) = self._rows, self._sides
        return (first, rows.first[number]), (second, rows.second[number])  # type: ignore[union-attr]

    def listed(self, number: int) -> tuple[Row, ...]:
        return tuple(side.listed(row) for side, row in self.sides(number))

    def size_error(self, number: int, sizes: Any) -> Any:
        """Of the first side that has a wrong size."""
        return next(filter(None, (side.size_error(row, sizes) for side, row in self.sides(number))), None)

    def received(self, client: Client) -> list[tuple[Listed, Callable[[array[int]], array[int]]]]:
        """As of Listed."""
        rows = self.open(client)
        return [(side, partial(_chosen, column)) for side, column in zip(self._sides, (rows.first, rows.second))]

    def stream(self, client: Client, stretches: Iterator[array[int]]) -> PairStream:
        rows = self.open(client)
        return PairStream([side.stream(client, _rows_of(column, each)) for side, column, each
                           in zip(self._sides, (rows.first, rows.second), tee(stretches))])

    def some(self, client: Client, numbers: Sequence[int]) -> Iterator[tuple[Item, ...]]:
        """Both sides by one get_many() where they are in one bucket; else by one for each."""
        self.open(client)
        found = [self.listed(number) for number in numbers]
        if self._sides[0].bucket == self._sides[1].bucket:
            items = client.get_many([row for pair in found for row in pair], on_error="return").items()
            return zip(items, items)
        return zip(*[client.get_many(rows, on_error="return").items() for rows in map(list, zip(*found))])


def _rows_of(column, stretches):
    """The rows of one side, of stretches of numbers of pairs."""
    for numbers in stretches:
        yield _chosen(column, numbers)


def _chosen(column, numbers):
    return array("Q", map(column.__getitem__, numbers))


class PairStream:
    """Two streams of get_many() that go side by side, as one of tuples of two items."""

    def __init__(self, streams: list[Any]) -> None:
        self._streams = streams
        self._items: list[deque[Item]] = [deque() for _ in streams]

    def __next__(self) -> list[tuple[Item, ...]]:
        for stream, items in zip(self._streams, self._items):
            if not items:
                items.extend(next(stream))
        most = min(map(len, self._items))
        return [tuple(items.popleft() for items in self._items) for _ in range(most)]

    def _fill(self) -> None:
        for stream in self._streams:
            stream._fill()

    def close(self) -> None:
        for stream in self._streams:
            stream.close()


def both_digests(sides: Sequence[Listed]) -> bytes:
    return hashlib.sha256("\n".join(side.digest for side in sides).encode()).digest()


def pairs_of(client: Client, value: Any) -> list[tuple[str, str, str]]:
    """(bucket, prefix, suffix) of both sides of an argument, which are of the client's service.

    Raises: TypeError and ValueError, which name it.
    """
    told = 'pairs: two tuples ("gs://bucket/prefix", "suffix") are needed'
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise TypeError(told)
    sides = []
    for each in value:
        if not isinstance(each, (list, tuple)) or len(each) != 2:
            raise TypeError(f"{told}, and not {each!r}")
        bucket, prefix = client._prefix_place(each[0], "pairs")
        text_of(each[1], "pairs")
        sides.append((bucket.decode(), prefix.decode(), each[1]))
    if sides[0] == sides[1]:
        raise ValueError(f"pairs: both sides are {value[0]!r}, and each object would be its own partner")
    return sides


def write(client: Client, both: Sequence[Listed], sides: Sequence[tuple[str, str, str]], unpaired: str,
          folder: str) -> str:
    """Pairs the rows of two manifests. Gives the path of the file that says which they are.

    Raises: ValueError for manifests of other buckets, or with more than one generation of a name;
    NotFoundError where a side has no object, no pair is there, or objects without a partner are refused.
    """
    found = []
    for listed, (bucket, prefix, suffix) in zip(both, sides):
        manifest = client.open_manifest(listed.path)
        if manifest.bucket != bucket:
            raise ValueError(f"manifest: it is of {bucket_url(manifest.bucket)}, and pairs are of {bucket_url(bucket)}")
        if manifest.summary.get("versions"):
            raise ValueError(f"manifest: {listed.path} has all generations of its objects, of which none can "
                             "be chosen")
        found.append(Side(manifest.rows(), prefix, suffix))
    path = os.path.join(folder, FILE)
    write_pairs(path, *found, both_digests(both))
    rows = PairedRows(path)
    for side, (bucket, prefix, suffix) in zip(found, sides):
        if not side.count:
            raise NotFoundError(f"{url_of(bucket, prefix)}: no object below it has a name that ends in "
                                f"{suffix!r}", bucket=bucket)
    what_to_do = ('; with unpaired="omit" they are left out' if len(rows)
                  else ": compare the prefixes and suffixes")
    for side, (bucket, prefix, suffix), alone in zip(found, sides, rows.unpaired):
        if alone and (unpaired == "refuse" or not len(rows)):
            raise NotFoundError(f"{alone} of {side.count} objects {url_of(bucket, prefix)}*{suffix} have no "
                                f"partner, {url_of(bucket, side.alone)} for one{what_to_do}", bucket=bucket,
                                object=side.alone)
    return path
