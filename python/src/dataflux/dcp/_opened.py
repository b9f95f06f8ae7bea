"""A checkpoint that is open: what it holds, and its files."""

from __future__ import annotations

import threading
from typing import NamedTuple

from torch.distributed.checkpoint.metadata import Metadata

from .._client import Client
from .._errors import DataLossError, Error, NotFoundError, PreconditionError
from .._file_reader import READ_AHEAD, FileReader
from .._place import url_of
from .._reader import Reader
from .._sets import SetReader
from ._metadata import parsed
from ._path import METADATA, folder_of, member_of, of_rank, place_of


# Bytes from which on a range is read by itself. What lies between shorter ones may be read with them.
_ALONE = 64 << 10
_TIMES = 10  # a checkpoint that is saved over while it is being opened is opened again


class _Replaced(Exception):
    """The set that was found is not there any more."""


class Identity(NamedTuple):
    """Of one commit: when, as the service numbers generations; the larger one is the newer. And where."""

    generation: int
    url: str


class Opened:
    """Made of what is there: a set of StorageWriter's, whose members are all as they were written, or
    what torch's FsspecWriter and FileSystemWriter write.

    rank   of a checkpoint that each rank has saved for itself; None = of all together

    Raises: DataLossError that names a member which is missing or has changed; NotFoundError where
    there is no checkpoint.
    """

    def __init__(self, client: Client, url: str, rank: int | None) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._readers: dict[str, Reader] = {}
        self._members: dict[str, tuple[int, int]] | None = None  # (size, generation) of a set's
        self._set: SetReader | None = None
        place = url if rank is None else of_rank(url, rank)
        for left in reversed(range(_TIMES)):
            try:
                name, data, generation = self._open(url, place, rank)
                break
            except _Replaced as why:  # there is another one now
                if not left:
                    raise replaced(place) from why
        self.identity = Identity(generation, place_of(place))
        self.metadata: Metadata = parsed(data, url_of(self.bucket, self.folder + name))
        if self._members is not None:
            self._check()

    def _open(self, url: str, place: str, rank: int | None) -> tuple[str, bytes, int]:
        """Name, bytes and generation of its metadata."""
        try:
            found = self._client.checkpoint_set(place).open(last=METADATA)
        except PreconditionError as why:
            self.bucket, self.folder = folder_of(url)
            name = METADATA if rank is None else f"__{rank}{METADATA}"
            return name, *self._plain(name, place, why)
        self.bucket, self.folder = folder_of(place)
        self._set = found
        self._members = {each.name: (each.size, each.generation) for each in found.members}
        try:
            with found.reader(METADATA) as reader:
                return METADATA, reader.read_at(0, reader.size), reader.generation
        except NotFoundError as why:
            self._set = self._members = None
            raise _Replaced from why

    def _plain(self, name: str, place: str, why: PreconditionError) -> tuple[bytes, int]:
        try:
            with self._client.reader((self.bucket, self.folder + name)) as reader:
                return reader.read_at(0, reader.size), reader.generation
        except NotFoundError as missing:
            raise NotFoundError(
                f"{place}: no checkpoint is there: neither a complete set nor an object {name} ({why})",
                bucket=self.bucket, object=self.folder + name) from missing

    def _check(self) -> None:
        """What `.metadata` says lies within the set's members."""
        for index, info in self.metadata.storage_data.items():
            size, _ = self._member(info.relative_path)
            if info.offset + info.length > size:
                raise self._short(info.relative_path, index.fqn, size)

    def _member(self, relative_path: str) -> tuple[int, int]:
        known = None if self._members is None else self._members.get(member_of(relative_path))
        if known is None:
            raise DataLossError(f"{self.url_of(relative_path)}: {METADATA} names it, and it is no member "
                                "of the set", bucket=self.bucket, object=self.folder + relative_path)
        return known

    def _short(self, relative_path: str, fqn: str, size: int) -> DataLossError:
        return DataLossError(
            f"{self.url_of(relative_path)}: it has {size} bytes, and ends before {fqn!r} does: it is "
            f"not the file that {METADATA} was written for", bucket=self.bucket,
            object=self.folder + relative_path)

    def url_of(self, relative_path: str) -> str:
        return url_of(self.bucket, self.folder + relative_path)

    def reader(self, relative_path: str) -> Reader:
        """Of a file, opened once. Any thread. Of a set the generation that was committed. As soon as
        all of a file has been read, it is compared with its checksum."""
        with self._lock:
            found = self._readers.get(relative_path)
        if found is not None:
            return found
        generation = 0 if self._members is None else self._member(relative_path)[1]
        place = (self.bucket, self.folder + relative_path)
        try:
            made = self._client.reader(place, generation=generation, block=_ALONE)
        except NotFoundError as why:
            if self._members is None:
                raise DataLossError(f"{self.url_of(relative_path)}: {METADATA} names this file, and "
                                    "it is missing", bucket=self.bucket, object=place[1]) from why
            raise replaced(self.url_of(relative_path)) from why
        with self._lock:
            return self._readers.setdefault(relative_path, made)

    def damaged(self, relative_path: str, what: str) -> DataLossError:
        """Of a file that is open: what was read of it is not what was written."""
        self.reader(relative_path)._forget()
        return DataLossError(f"{self.url_of(relative_path)}: {what}", bucket=self.bucket,
                             object=self.folder + relative_path)

    def file(self, name: str) -> FileReader:
        """Of an object beside the items' files, such as StorageWriter's `files` are.

        Raises: NotFoundError where there is none.
        """
        if self._set is None:
            return FileReader(self._client.reader((self.bucket, self.folder + name)), READ_AHEAD)
        known = self._members is not None and name in self._members
        try:
            return self._set.open(name)
        except NotFoundError as why:
            if known:
                raise replaced(self.url_of(name)) from why
            raise

    def check_size(self, relative_path: str, end: int, fqn: str) -> None:
        """Raises DataLossError where the file, whose reader is open, is shorter."""
        size = self.reader(relative_path).size
        if end > size:
            raise self._short(relative_path, fqn, size)

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._readers = {}


def replaced(url: str) -> Error:
    """The checkpoint was saved over while it was being loaded."""
    return Error(f"{url}: the checkpoint was replaced or removed while it was being loaded: load it again, "
                 "all of it", status="aborted", retryable=True)
