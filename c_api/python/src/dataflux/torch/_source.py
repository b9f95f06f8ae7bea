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
from pathlib import Path
from typing import Any, Iterable, Iterator, Sequence

from .._client import Client
from .._errors import DataLossError, Error, NotFoundError, PreconditionError
from .._get_many import GetMany
from .._items import Item
from .._listing import Listing, Row
from .._pairing import PairedRows
from .._place import object_place, one_of, prefix_place, url_of
from .._rows import RowFeed
from ._ranks import distributed
from ._sizes import SizeError, Sizes

# The end of a manifest: docs/manifest.md.
_END = struct.Struct("<QQQQ32x")
_BEGIN_OF_TABLE = 2


class Folder:
    """A folder for the files of a dataset, which goes with the dataset in the process that made it."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="dataflux-")
        weakref.finalize(self, _remove, self.path, os.getpid())


def _remove(path, process):
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


class Listed:
    """Objects of a manifest, which lies in a file."""

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

    def stream(self, client: Client, stretches: Iterator[array[int]]) -> GetMany:
        return client.get_many(RowFeed(self.open(client), stretches), on_error="return")

    def some(self, client: Client, rows: Sequence[int]) -> Iterator[Item]:
        return client.get_many(self.open(client).take(rows), on_error="return").items()


class Named:
    """Objects that are known by their names alone: their newest generation is read."""

    def __init__(self, bucket: str, path: str, digest: str) -> None:
        self.bucket = bucket
        self.path = path
        self.digest = digest
        self._names: list[str] | None = None

    def __getstate__(self) -> Any:
        return self.bucket, self.path, self.digest

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def open(self, client: Client) -> list[str]:
        if self._names is None:
            text = Path(self.path).read_text("utf-8")
            if _digest(text.encode()) != self.digest:
                raise DataLossError(f"{self.path}: the names of the dataset are not those that it was made "
                                    "with")
            self._names = text.split("\n")
        return self._names

    def listed(self, number: int) -> Row:
        return Row(self.bucket, self._names[number], 0, 0, None)  # type: ignore[index]

    def row(self, number: int, size: int, generation: int, crc32c: int) -> Row:
        return Row(self.bucket, self._names[number], size, generation, crc32c)  # type: ignore[index]

    def place(self, number: int) -> tuple[str, str, int]:
        return self.bucket, self._names[number], 0  # type: ignore[index]

    def size_error(self, number: int, sizes: Sizes) -> SizeError | None:
        return None  # nobody knows it before the object was read

    def stream(self, client: Client, stretches: Iterator[array[int]]) -> GetMany:
        names = self.open(client)
        return client.get_many(((self.bucket, names[row]) for rows in stretches for row in rows),
                               on_error="return")

    def some(self, client: Client, rows: Sequence[int]) -> Iterator[Item]:
        names = self.open(client)
        return client.get_many([(self.bucket, names[row]) for row in rows], on_error="return").items()


class Source:
    """All objects of a dataset, in one sequence: those of its parts, one part behind the other.

    digest   tells one sequence from another one
    """

    def __init__(self, parts: list[Any], sizes: list[int], folder: Folder,
                 unpaired: tuple[int, int] = (0, 0)) -> None:
        self.parts = parts
        self.unpaired = unpaired
        self.begins = list(accumulate(sizes, initial=0))
        self.folder = folder
        self.path = folder.path
        told = "\n".join(f"{part.bucket} {part.digest}" for part in parts)
        self.digest = _digest(told.encode())[:16]

    def __getstate__(self) -> Any:
        return self.parts, self.begins, self.path, self.digest, self.unpaired

    def __setstate__(self, state: Any) -> None:
        self.parts, self.begins, self.path, self.digest, self.unpaired = state

    def __len__(self) -> int:
        return self.begins[-1]

    def part_of(self, row: int) -> tuple[int, int]:
        """(part, row of that part)"""
        from bisect import bisect_right

        part = bisect_right(self.begins, row) - 1
        return part, row - self.begins[part]

    def row(self, client: Client, number: int) -> Any:
        """What is known of a row of all; of a pair, a tuple of two."""
        part, row = self.part_of(range(len(self))[number])
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
    """Of the rows of a manifest, by the checksums of its blocks in the table at its end: 64 bytes for
    65,536 rows. A listing of the same objects at another time has the same one.

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


def source_of(client: Client, url: Any, manifest: Any, names: Any, pairs: Any, unpaired: str,
              filters: dict[str, Any], rank: int, world_size: int) -> Source:
    """What a dataset was told: one of the four, but pairs may be of manifests. Rank 0 lists and pairs for
    all, where torch.distributed joins them."""
    given = [name for name, value in (("url", url), ("manifest", manifest), ("names", names),
                                      ("pairs", pairs)) if value is not None]
    if len(given) != 1 and given != ["manifest", "pairs"]:
        raise TypeError("url, manifest, names, pairs: exactly one of them says what is read, or pairs of a "
                        f"manifest, and {' and '.join(given) or 'none'} was given")
    one_of(unpaired, "unpaired", ("refuse", "omit"))
    folder = Folder()
    if filters and url is None:
        raise ValueError(f"{next(iter(filters))}: goes with url alone, whose listing it narrows")
    if names is not None:
        return _named(names, folder)
    if pairs is not None:
        return _of_pairs(client, pairs, unpaired, manifest, folder, rank, world_size)
    if manifest is not None:
        paths = _manifest_files(client, manifest, folder)
    else:
        urls = _several(url)
        paths = _once(lambda: _list(client, [(each, filters) for each in urls], folder), folder, rank,
                      world_size)
    parts, sizes = [], []
    for path in paths:
        part = Listed(path, digest_of(path))
        sizes.append(len(part.open(client)))
        parts.append(part)
    return Source(parts, sizes, folder)


def _of_pairs(client, pairs, unpaired, manifest, folder, rank, world_size):
    from . import _pairs

    sides = _pairs.pairs_of(pairs)
    paths = []

    def saved():
        """The files of both manifests that were given."""
        if not paths:
            found = _manifest_files(client, manifest, folder)
            if len(found) > 2:
                raise ValueError("manifest: one for both sides of pairs, or one for each, and not "
                                 f"{len(found)}")
            paths.extend([found[0], found[-1]])
        return paths

    def listed():
        return _list(client, [((bucket, prefix), {"suffix": suffix} if suffix else {})
                              for bucket, prefix, suffix in sides], folder)

    def paired():
        """What rank 0 makes, so that whatever fails there is told to all."""
        both = saved() if manifest is not None else listed()
        made = _pairs.write(client, [Listed(path, digest_of(path)) for path in both], sides, unpaired,
                            folder.path)
        return [made] if manifest is not None else [*both, made]

    *both, path = _once(paired, folder, rank, world_size)
    listings = [Listed(each, digest_of(each)) for each in both or saved()]
    part = _pairs.Paired(listings, path, PairedRows(path).digest)
    rows = part.open(client)
    return Source([part], [len(rows)], folder, rows.unpaired)


def _several(value):
    """Several URLs are a list; a tuple may be one: (bucket, prefix)."""
    if isinstance(value, list):
        if not value:
            raise ValueError("url: an empty list names nothing")
        return value
    return [value]


def _named(names, folder):
    if isinstance(names, (str, bytes)) or not hasattr(names, "__iter__"):
        raise TypeError(f"names: a sequence of places is needed, and not a {type(names).__name__}")
    places = [object_place(each, "names")[:2] for each in names]
    buckets = sorted({bucket for bucket, _ in places})
    if len(buckets) > 1:
        raise ValueError("names: all are of one bucket, and not of "
                         f"{' and '.join(each.decode() for each in buckets[:2])}")
    broken = next((name for _, name in places if b"\n" in name), None)
    if broken is not None:
        raise ValueError(f"names: no object's name has a line feed: {broken!r}")
    text = b"\n".join(name for _, name in places)
    path = os.path.join(folder.path, "names")
    Path(path).write_bytes(text)
    bucket = buckets[0].decode() if buckets else ""
    return Source([Named(bucket, path, _digest(text))], [len(places)], folder)


def _manifest_files(client, manifest, folder):
    paths = [_manifest_file(client, each, folder, number) for number, each in enumerate(_several(manifest))]
    for path, each in zip(paths, _several(manifest)):
        if not len(client.open_manifest(path)):
            raise NotFoundError(f"manifest: {each} has no object", path=path)
    return paths


def _manifest_file(client, manifest, folder, number):
    """The path of a manifest. An object is copied here once, so that processes share its pages."""
    if isinstance(manifest, os.PathLike) or (isinstance(manifest, str) and "://" not in manifest):
        return os.path.abspath(os.fspath(manifest))
    path = os.path.join(folder.path, f"manifest-{number}")
    client.download(manifest, path)
    return path


def _list(client, wanted, folder):
    """Manifests of what is below several (url, filters)."""
    paths = []
    for number, (url, filters) in enumerate(wanted):
        bucket, prefix = prefix_place(url)
        path = os.path.join(folder.path, f"manifest-{number}")
        listing = client.list(url, **filters)
        if not len(listing):
            told = f" that {', '.join(f'{name}={value!r}' for name, value in filters.items())} leaves"
            raise NotFoundError(f"{url_of(bucket.decode(), prefix.decode())}: there is no object below it"
                                + told * bool(filters), bucket=bucket.decode())
        client.save_manifest(listing, path)
        paths.append(path)
    return paths


def _once(make, folder, rank, world_size):
    """The paths of files that make() makes in the folder: by rank 0, which gives them to all."""
    group = distributed() if world_size > 1 else None
    if group is None or group.get_world_size() != world_size:
        return make()
    told: list[Any] = [None]
    if rank == 0:
        try:
            told = [[(os.path.basename(path), Path(path).read_bytes()) for path in make()]]
        except Exception as why:  # all ranks end by it
            told = [why if isinstance(why, (Error, TypeError, ValueError)) else Error(str(why))]
    group.broadcast_object_list(told, src=0)
    if isinstance(told[0], Exception):
        raise told[0]
    paths = [os.path.join(folder.path, name) for name, _ in told[0]]
    for path, (_, content) in zip(paths, told[0]):
        if rank != 0:
            Path(path).write_bytes(content)
    return paths
