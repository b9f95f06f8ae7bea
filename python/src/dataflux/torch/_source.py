"""Where the objects of a dataset are known from, in every process that reads them: files of names, which
whoever lists writes once, and all others map."""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import tempfile
import weakref
from array import array
from itertools import accumulate
from operator import index
from typing import Any, Callable, Iterable, Iterator, Protocol, Sequence

from .._client import Client
from .._errors import DataLossError, PreconditionError
from .._get_many import GetMany
from .._items import Item
from .._listing import Listing, Row, RowFeed
from ._share import memory_of
from ._sizes import SizeError, Sizes

# The end of a manifest: docs/manifest.md.
_END = struct.Struct("<QQQQ32x")
_BEGIN_OF_TABLE = 2


class Folder:
    """A folder for the files of a dataset, which goes with the dataset, and its copies, in the process
    that made it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="dataflux-")
        weakref.finalize(self, _remove, self.path, os.getpid())
        _folders[self.path] = self


_folders: weakref.WeakValueDictionary[str, Folder] = weakref.WeakValueDictionary()


def _remove(path, process):
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


class Part(Protocol):
    """Samples that come from one place, numbered from 0: Listed and Named, whose objects are a sample each.
    An object may hold many, too. (Paired has sides() in place of row() and place(): those of its Listed.)

    The dataset says which rows are read, and in which order. A part reads what holds them, in units of its
    own, an object for one, and gives one item for each row, in the order that was asked for. Rows of one
    unit follow each other where the dataset has a `block`, or does not shuffle: keep a unit as long as they
    do.

    An item has `error`, None or an Error; else `data`, the bytes of the sample, and `generation` and `crc32c`
    of what was read.

    Pickles go to all processes of a dataset: they carry where things are, and open() maps or reads them.
    """

    bucket: str  # of its objects
    digest: str  # another one where a number stands for another sample: a state fits one digest alone

    def open(self, client: Client) -> Any:
        """Makes the other methods ready, once in a process. Raises: PreconditionError or DataLossError where
        the samples are not those that the dataset was made with."""

    def listed(self, number: int) -> Any:
        """The Row of the object that holds a sample, as it was listed."""

    def row(self, number: int, size: int, generation: int, crc32c: int) -> Row:
        """What `decode` is given of a sample of so many bytes, beside those."""

    def place(self, number: int) -> tuple[str, str, int]:
        """(bucket, name, generation) of the object that holds a sample. With a generation, all of the object
        is the sample: where that is gone, overwritten="read" reads what is there now. Else it is 0."""

    def size_error(self, number: int, sizes: Sizes) -> SizeError | None:
        """Where the size of a sample is known to be a wrong one, so that it is not worth reading."""

    def stream(self, client: Client, stretches: Iterator[array[int]]) -> Any:
        """An iterator over lists of items, one for each row of all stretches, which are taken as far ahead
        as memory goes. Its _fill() reads on while nobody takes items; close() ends it."""

    def some(self, client: Client, rows: Sequence[int]) -> Iterator[Any]:
        """An item for each of those rows."""


class Listed:
    """Objects of a manifest, which lies in a file."""

    listings = 1  # that have the objects of a sample, whose sizes are known

    def __init__(self, path: str, digest: str, bucket: str = "") -> None:
        self.path = path
        self.digest = digest
        self.bucket = bucket
        self._rows: Listing | None = None

    def __getstate__(self) -> Any:
        return self.path, self.digest, self.bucket

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def open(self, client: Client) -> Listing:
        """The rows, mapped: by the first who asks in a process, and for those that it forks."""
        if self._rows is None:
            if digest_of(self.path) != self.digest:
                raise PreconditionError(f"{self.path}: it is another manifest than the one that the dataset "
                                        "was made with: it was replaced since")
            self._rows = client.open_manifest(self.path).rows()
            self.bucket = self._rows.bucket
        return self._rows

    def listed(self, number: int) -> Row:
        return self._rows[number]  # type: ignore[index]

    def row(self, number: int, size: int, generation: int, crc32c: int) -> Row:
        """Of what was read, which may be another generation than was listed."""
        row = self.listed(number)
        if row.generation and row.generation != generation:
            return Row(row.bucket, row.name, size, generation, crc32c)
        return row

    def place(self, number: int) -> tuple[str, str, int]:
        row = self.listed(number)
        return row.bucket, row.name, row.generation

    def size_error(self, number: int, sizes: Sizes) -> SizeError | None:
        """Where it was listed with a wrong size, so that it is not worth reading."""
        row = self.listed(number)
        return sizes.error(row.bucket, row.name, row.size)

    def sizes_at(self, rows: array[int]) -> array[int]:
        """Bytes of rows, as they were listed."""
        found: array[int] = self._rows._table.sizes(rows)  # type: ignore[union-attr]
        return found

    def received(self, client: Client) -> list[tuple[Listed, Callable[[array[int]], array[int]]]]:
        """(manifest, what gives its rows of numbers) of each object of a sample."""
        return [(self, as_they_are)]

    def stream(self, client: Client, stretches: Iterator[array[int]]) -> GetMany:
        return client.get_many(RowFeed(self.open(client), stretches), on_error="return")

    def some(self, client: Client, rows: Sequence[int]) -> Iterator[Item]:
        return client.get_many(self.open(client).take(rows), on_error="return").items()


def as_they_are(rows: array[int]) -> array[int]:
    """Numbers that are rows."""
    return rows


class Source:
    """All samples of a dataset, in one sequence: those of its parts, one part behind the other.

    told     where they are, for people
    pairs    whether an object is two of them
    digest   tells one sequence from another one
    """

    def __init__(self, parts: Sequence[Part], sizes: list[int], folder: Folder, told: str,
                 unpaired: tuple[int, int] | None = None) -> None:
        self.parts = parts
        self.told = told
        self.pairs = unpaired is not None
        self.unpaired = unpaired or (0, 0)
        self.begins = list(accumulate(sizes, initial=0))
        self.folder: Folder | None = folder
        self.path = folder.path
        told = "\n".join(f"{part.bucket} {part.digest}" for part in parts)
        self.digest = _digest(told.encode())[:16]

    def __getstate__(self) -> Any:
        return self.parts, self.begins, self.path, self.digest, self.told, self.pairs, self.unpaired

    def __setstate__(self, state: Any) -> None:
        self.parts, self.begins, self.path, self.digest, self.told, self.pairs, self.unpaired = state
        self.folder = _folders.get(self.path)  # None in another process

    def __len__(self) -> int:
        return self.begins[-1]

    def means(self) -> tuple[float, float]:
        """(bytes of a sample, samples of a shard), of all shards; (0, 0) where samples are objects."""
        tars = [(part, end - begin) for part, begin, end in zip(self.parts, self.begins, self.begins[1:])
                if hasattr(part, "shard_samples")]
        samples = sum(count for _, count in tars)
        if not samples:
            return 0, 0
        return (sum(part.sample_bytes * count for part, count in tars) / samples,
                samples / sum(count / part.shard_samples for part, count in tars))

    def kept(self, client: Client) -> int:
        """How many samples of shards a process keeps until their turn comes, at most; 0 where there are none."""
        size, _ = self.means()
        return max(1, int(memory_of(client) / size)) if size else 0

    def number_of(self, number: Any) -> int:
        """Of a number that may count from the end. Raises: TypeError and IndexError."""
        try:
            return range(len(self))[index(number)]
        except TypeError:
            raise TypeError("objects are chosen by whole numbers, and not by a "
                            f"{type(number).__name__}") from None
        except IndexError:
            raise IndexError(f"object {number} of {len(self)}") from None

    def part_of(self, row: int) -> tuple[int, int]:
        """(part, row of that part)"""
        from bisect import bisect_right

        part = bisect_right(self.begins, row) - 1
        return part, row - self.begins[part]

    def row(self, client: Client, number: int) -> Any:
        """What is known of a row of all; of a pair, a tuple of two."""
        part, row = self.part_of(self.number_of(number))
        self.parts[part].open(client)
        return self.parts[part].listed(row)

    def of_part(self, part: int, stretches: Iterable[array[int]], sizes: Sizes) -> Iterator[array[int]]:
        """The rows of one part, by its own numbers, of stretches of rows of all: those that are worth
        reading. A stretch may be empty."""
        begin, end = self.begins[part:part + 2]
        of = self.parts[part]
        for rows in stretches:
            if len(self.parts) > 1:
                rows = array("Q", [row - begin for row in rows if begin <= row < end])
                if not rows:
                    continue
            if sizes:
                rows = array("Q", [row for row in rows if of.size_error(row, sizes) is None])
            yield rows


def _digest(data):
    return hashlib.sha256(data).hexdigest()


def digest_of(path: str) -> str:
    """Of the rows of a manifest, or the samples of an index, by the checksums of its blocks in the table at its end:
    64 bytes for 65,536 rows. A listing of the same objects at another time has the same one.

    Raises: DataLossError where it has no such table.
    """
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size >= _END.size:
            file.seek(size - _END.size)
            end = _END.unpack(file.read(_END.size))
            begin = end[_BEGIN_OF_TABLE]
            if end[0] == size and begin < size:
                file.seek(begin)
                return _digest(file.read(size - _END.size - begin))
    raise DataLossError(f"{path}: it is no manifest, or was cut off", path=path)
