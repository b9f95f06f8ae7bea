"""What a file of torch.save's consists of: pure."""

from __future__ import annotations

import struct
import zipfile
from typing import IO, Iterable, NamedTuple, Sequence

Span = tuple[int, int]  # of bytes: begin, end

_HEADER = struct.Struct("<4s22xHH")  # of a record: signature, lengths of its name and of what follows it
HEADER_SIZE = _HEADER.size


class Record(NamedTuple):
    """A storage in a zip file.

    name        as torch asks for it: "data/0"
    begin, end  all that belongs to it: its header, its bytes and what is behind them
    size        of its bytes
    """

    name: str
    begin: int
    end: int
    size: int


def records_of(file: IO[bytes]) -> tuple[list[Span], list[Record]] | None:
    """The spans of all else than storages, and the storages in the order in which torch.load asks for
    them: by their numbers. None for a file that is no zip file.

    A file that torch.save has written is a zip file, each of whose storages is a record. Up to torch
    2.6 they lie in the order of the numbers' texts: 1, 10, 11, 2.
    """
    try:
        with zipfile.ZipFile(file) as known:
            infos = sorted(known.infolist(), key=lambda info: info.header_offset)
            ends = [info.header_offset for info in infos[1:]] + [known.start_dir]
    except (zipfile.BadZipFile, NotImplementedError):
        return None
    others: list[Span] = []
    storages: dict[int, Record] = {}
    for info, end in zip(infos, ends):
        number = _number_of(info.filename)
        whole = info.compress_type == zipfile.ZIP_STORED and info.header_offset + info.file_size < end
        if number is not None and whole and number not in storages:
            storages[number] = Record(f"data/{number}", info.header_offset, end, info.file_size)
        else:
            others.append((info.header_offset, end))
    return merged(others), [storages[number] for number in sorted(storages)]


def _number_of(name: str) -> int | None:
    """Of "archive/data/12"."""
    folder, _, key = name.partition("/")[2].rpartition("/")
    if folder != "data" or not key.isdecimal() or len(key) > 18:
        return None
    return int(key) if key == str(int(key)) else None


def data_at(header: bytes, record: Record) -> int | None:
    """Where a record's bytes are, from its begin on, by its first bytes. None where they do not lie
    within it."""
    signature, name, extra = _HEADER.unpack(header)
    at: int = HEADER_SIZE + name + extra
    fits = signature == b"PK\3\4" and record.begin + at + record.size <= record.end
    return at if fits else None


def batches(records: Iterable[Record], least: int) -> list[list[Record]]:
    """The records, as they follow each other, in lists of so many bytes or more."""
    found: list[list[Record]] = []
    room = 0
    for record in records:
        if room <= 0:
            found.append([])
            room = least
        found[-1].append(record)
        room -= record.end - record.begin
    return found


def merged(spans: Iterable[Span]) -> list[Span]:
    """Those that follow each other directly are one."""
    found: list[Span] = []
    for begin, end in spans:
        if begin >= end:
            continue
        if found and found[-1][1] == begin:
            found[-1] = found[-1][0], end
        else:
            found.append((begin, end))
    return found


def gaps(spans: Iterable[Span], end: int) -> list[Span]:
    """What of the bytes to `end` is in none of the spans, in any order."""
    found, at = [], 0
    for begin, until in sorted(spans):
        if begin > at:
            found.append((at, begin))
        at = max(at, until)
    if at < end:
        found.append((at, end))
    return found


def size_of(spans: Sequence[Span]) -> int:
    """Bytes of spans that do not overlap."""
    return sum(end - begin for begin, end in spans)
