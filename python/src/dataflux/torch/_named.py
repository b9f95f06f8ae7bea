"""Objects that are known by their names one by one, in a file that processes map."""

from __future__ import annotations

import hashlib
import mmap
import struct
from array import array
from typing import Any, Iterator, Sequence

from .._client import Client
from .._errors import DataLossError
from .._get_many import GetMany
from .._items import Item
from .._listing import Row
from .._requests import Requests
from ._sizes import SizeError, Sizes

# Columns of 8 bytes for each object: where its name ends, its generation, its size, its CRC32C; then the names.
# Behind them how many there are, how long the names are together, and the digest.
_COLUMNS = 4
_END = struct.Struct("<QQ32s")
_UNKNOWN = 2**64 - 1  # a size, a checksum


class Named:
    """Objects of a file that write() has made. A generation that was known is the one that is read; of a
    name alone it is the newest one."""

    def __init__(self, bucket: str, path: str, digest: str) -> None:
        self.bucket = bucket
        self.path = path
        self.digest = digest
        self._columns: list[Any] | None = None

    def __getstate__(self) -> Any:
        return self.bucket, self.path, self.digest

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def open(self, client: Client) -> Named:
        """Maps the file, once in a process."""
        if self._columns is None:
            with open(self.path, "rb") as file:
                mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            count, length, digest = _END.unpack(mapped[max(0, len(mapped) - _END.size):])
            names = 8 * _COLUMNS * count
            if len(mapped) != names + length + _END.size or digest.hex() != self.digest:
                raise DataLossError(f"{self.path}: the names of the dataset are not those that it was made "
                                    "with", path=self.path)
            self._names = mapped[names:names + length]
            self._columns = [mapped[8 * count * n:8 * count * (n + 1)].cast("Q") for n in range(_COLUMNS)]
        return self

    def _name(self, number):
        ends = self._columns[0]
        return str(self._names[ends[number - 1] if number else 0:ends[number]], "utf-8")

    def listed(self, number: int) -> Row:
        _, generations, sizes, checksums = self._columns or ()
        size, crc32c = sizes[number], checksums[number]
        return Row(self.bucket, self._name(number), 0 if size == _UNKNOWN else size, generations[number],
                   None if crc32c == _UNKNOWN else crc32c)

    def row(self, number: int, size: int, generation: int, crc32c: int) -> Row:
        return Row(self.bucket, self._name(number), size, generation, crc32c)

    def place(self, number: int) -> tuple[str, str, int]:
        return self.bucket, self._name(number), self._columns[1][number]  # type: ignore[index]

    def size_error(self, number: int, sizes: Sizes) -> SizeError | None:
        """Where its size is known; else nobody knows before the object was read."""
        size = self._columns[2][number]  # type: ignore[index]
        return None if size == _UNKNOWN else sizes.error(self.bucket, self._name(number), size)

    def stream(self, client: Client, stretches: Iterator[array[int]]) -> GetMany:
        self.open(client)
        # An empty stretch says that there is none for now.
        asked = (each for rows in stretches for each in (map(self.listed, rows) if rows else (...,)))
        requests: Any = Requests(asked, client, self.bucket.encode())
        return client.get_many(requests, on_error="return")

    def some(self, client: Client, rows: Sequence[int]) -> Iterator[Item]:
        self.open(client)
        return client.get_many([self.listed(row) for row in rows], on_error="return").items()


def write(client: Client, path: str, places: Any) -> tuple[Named, int]:
    """Writes a file of objects, each "gs://bucket/name", (bucket, name), or a row of a listing, of the client's
    service. Gives it, and how many there are.

    Raises: TypeError and ValueError, which name the argument, for what is no object, for objects of several
    buckets or of another service, and for none.
    """
    if isinstance(places, (str, bytes)) or not hasattr(places, "__iter__"):
        raise TypeError(f"names: a sequence of places is needed, and not a {type(places).__name__}")
    columns = [array("Q") for _ in range(_COLUMNS)]
    names, first, end = [], b"", 0
    for each in places:
        bucket, name, generation = client._object_place(each, "names")
        first = first or bucket
        if bucket != first:
            raise ValueError(f"names: all are of one bucket, and not of {first.decode()} and {bucket.decode()}")
        if b"\n" in name:
            raise ValueError(f"names: no object's name has a line feed: {name!r}")
        names.append(name)
        end += len(name)
        # What has a generation, a row or what stat() gives, has a size.
        size, crc32c = (each.size, each.crc32c) if generation else (_UNKNOWN, None)
        for column, value in zip(columns, (end, generation, size, _UNKNOWN if crc32c is None else crc32c)):
            column.append(value)
    if not names:
        raise ValueError("names: it is empty, and there is nothing to read")
    digest = hashlib.sha256(b"\n".join(names))
    if any(columns[1]):
        digest.update(columns[1])
    with open(path, "wb") as file:
        for column in columns:
            file.write(column)
        file.writelines(names)
        file.write(_END.pack(len(names), end, digest.digest()))
    return Named(first.decode(), path, digest.hexdigest()), len(names)
