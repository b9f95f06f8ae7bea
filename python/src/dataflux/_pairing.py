"""Which rows of two listings belong together, by their names; and the file that says so."""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
from array import array
from itertools import compress

from ._errors import DataLossError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator

    from ._listing import Listing

BATCH = 8192  # names that are compared at a time
_NOBODY = 2**64 - 1
# Behind the rows of the first side and those of the second, 8 bytes each: how many pairs there are,
# how many rows of each side are in none, what the rows are of, and the SHA-256 of all before it.
_SUM = 32
_END = struct.Struct(f"<QQQ{_SUM}s{_SUM}s")


class Side:
    """The rows of a listing whose names are `prefix`, a key, and `suffix`. The key pairs them.

    Arguments:
        listing: a whole one, in which each name is there once.
        prefix, suffix: what is around the key.

    count     rows that have a key, as far as it was read
    alone     the name of one that has no partner; None while none is known
    """

    def __init__(self, listing: Listing, prefix: str, suffix: str) -> None:
        self._table = listing._table
        self._prefix = prefix
        self._suffix = suffix
        self.begin, self.end = self._table.of_prefix(prefix) if prefix else (0, self._table.size)
        self.count = 0
        self.alone: str | None = None
        self.ended = False
        # Without the prefix, names ascend; keys do not, since the suffix counts in a name's place.
        self.tail = ""
        self.waiting: dict[str, int] = {}  # rows whose partner may still come, by key
        self._most = 4 * BATCH
        self._batches = self._in_batches()

    def _in_batches(self) -> Iterator[tuple[int, list[str]]]:
        for chunk, rows in self._table.runs(range(self.begin, self.end)):
            for first in range(rows.start, rows.stop, BATCH):
                some = range(first, min(rows.stop, first + BATCH))
                yield chunk.first + first, chunk.names(some)

    def keys(self) -> dict[str, int]:
        """The next rows that have a key, by it; none behind the end."""
        batch = next(self._batches, None)
        if batch is None:
            self.ended = True
            return {}
        first, names = batch
        before, behind = len(self._prefix), len(self._suffix)
        self.tail = names[-1][before:]
        suffix, least = self._suffix, before + behind
        found = {name[before:len(name) - behind]: row for row, name in enumerate(names, first)
                 if name.endswith(suffix) and len(name) >= least}
        self.count += len(found)
        return found

    def let_go(self, other: Side) -> None:
        """Forgets rows whose partner would have come by now, where many wait."""
        if len(self.waiting) > self._most or other.ended:
            suffix, tail = other._suffix, other.tail
            left = {} if other.ended else {key: row for key, row in self.waiting.items()
                                           if key + suffix > tail}
            if self.alone is None and len(left) < len(self.waiting):
                key = next(key for key in self.waiting if key not in left)
                self.alone = self._prefix + key + self._suffix
            self.waiting = left
            self._most = max(4 * BATCH, 2 * len(left))


def write_pairs(path: str, first: Side, second: Side, of: bytes = bytes(_SUM)) -> None:
    """Pairs the rows of two sides by their keys and writes them to a file, in the order of the first
    side. It needs 8 bytes for each row of the first side, and some names at a time.

    Arguments:
        of: a digest of both listings, 32 bytes, which the file keeps.
    """
    partner = array("Q", [_NOBODY]) * (first.end - first.begin)
    while not (first.ended and second.ended):
        # Whoever is behind reads on, so that few have to wait.
        here, there = (first, second) if second.ended or (not first.ended and first.tail <= second.tail) \
            else (second, first)
        keys = here.keys()
        for key in keys.keys() & there.waiting.keys():
            row, other = keys.pop(key), there.waiting.pop(key)
            row, other = (row, other) if here is first else (other, row)
            partner[row - first.begin] = other
        here.waiting.update(keys)
        here.let_go(there)
        there.let_go(here)
    digest, count = hashlib.sha256(), 0
    with open(path, "wb") as file:
        for of_second in (False, True):
            for at in range(0, len(partner), 1 << 16):
                some = partner[at:at + (1 << 16)]
                paired = [row != _NOBODY for row in some]
                begin = first.begin + at
                rows = array("Q", compress(some if of_second else range(begin, begin + len(some)), paired))
                count += len(rows)
                digest.update(rows)
                file.write(rows)
        count //= 2
        end = count, first.count - count, second.count - count, of
        digest.update(_END.pack(*end, bytes(_SUM))[:-_SUM])
        file.write(_END.pack(*end, digest.digest()))


def write_rows(path: str, first: Any, second: Any, alone: tuple[int, int], of: bytes) -> None:
    """Writes rows that are known, of two columns of uint64, as write_pairs() does."""
    end = len(first), *alone, of
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        for column in (first, second):
            digest.update(column)
            file.write(column)
        digest.update(_END.pack(*end, bytes(_SUM))[:-_SUM])
        file.write(_END.pack(*end, digest.digest()))


class PairedRows:
    """Rows that belong together, of a file that write_pairs() has written and that processes map.

    first, second   views of uint64: rows of each side
    unpaired        how many rows of each side have no partner
    of              what write_pairs() was told that the rows are of
    digest          of all of it, as the file says

    Raises: DataLossError where the file is not as long as it says.
    """

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            mapped = memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b"")
        if size >= _END.size:
            count, first, second, self.of, digest = _END.unpack(mapped[size - _END.size:])
            if size == 16 * count + _END.size:
                self.first = mapped[:8 * count].cast("Q")
                self.second = mapped[8 * count:16 * count].cast("Q")
                self.unpaired = first, second
                self.digest: str = digest.hex()
                return
        raise DataLossError(f"{path}: it is no file of pairs, or was cut off", path=path)

    def __len__(self) -> int:
        return len(self.first)
