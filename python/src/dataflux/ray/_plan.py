"""Which rows each task reads, and rows in a form that is small in a pickle. Pure: nothing of Ray."""

from __future__ import annotations

import pickle
import zlib
from array import array
from typing import Any, Iterator, List, Sequence

from .._columns import chosen
from .._listing import Listing, Row

REQUEST = 16 << 10  # bytes that a request counts for, so that no task has all the empty objects


def parts_of(sizes: Sequence[int], count: int) -> List[range]:
    """Runs of rows of about equal bytes, in order: each row is in one, and none is empty.

    Arguments:
        sizes: of the rows, in bytes.
        count: most runs.
    """
    rows = len(sizes)
    count = max(1, min(count, rows))
    whole = sum(sizes) + rows * REQUEST
    made: List[range] = []
    begin = done = row = 0
    for row, size in enumerate(sizes, 1):
        done += size + REQUEST
        # The last row of a run may be in the next one for the most part: it ends where it is nearest. As many rows
        # stay as there are runs to come.
        left = count - len(made) - 1
        if left and (done * count >= whole * (len(made) + 1) or rows - row == left):
            made.append(range(begin, row))
            begin = row
    if begin < row:
        made.append(range(begin, row))
    return made


class Packed:
    """Rows of one bucket. Its pickle is small: 10 to 20 bytes a row where names resemble each other.

    sizes   in bytes, of each row
    """

    __slots__ = ("_bucket", "_names", "_generations", "sizes")

    def __init__(self, bucket: str, names: List[str], sizes: array[int], generations: array[int]) -> None:
        self._bucket = bucket
        self._names = names
        self.sizes = sizes
        self._generations = generations

    @classmethod
    def of(cls, listing: Listing) -> Packed:
        """All rows of a listing."""
        sizes, generations = array("Q"), array("q")
        for chunk, rows in listing._table.runs(listing._rows):
            for made, column in (sizes, chunk.sizes), (generations, chunk.generations):
                made.extend(chosen(column, rows))
        return cls(listing.bucket, list(listing.names), sizes, generations)

    def part(self, rows: range) -> Packed:
        """Some of them."""
        some = slice(rows.start, rows.stop)
        return Packed(self._bucket, self._names[some], self.sizes[some], self._generations[some])

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Row]:
        for name, size, generation in zip(self._names, self.sizes, self._generations):
            yield Row(self._bucket, name, size, generation, None)

    def __reduce__(self) -> Any:
        return _unpacked, (zlib.compress(pickle.dumps(
            (self._bucket, self._names, self.sizes, self._generations), pickle.HIGHEST_PROTOCOL), 1),)


def _unpacked(data: bytes) -> Packed:
    return Packed(*pickle.loads(zlib.decompress(data)))
