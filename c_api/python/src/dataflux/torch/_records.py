"""In which order torch.load reads a file: pure."""

from __future__ import annotations

import zipfile
from typing import IO, Any, Iterable, Iterator

Span = tuple[int, int]  # of bytes: begin, end


def spans_of(file: IO[bytes], end: int) -> list[Span]:
    """The spans of the file, to `end`, that torch.load reads, in its order.

    A file that torch.save has written is a zip file, each of whose storages is a record. They are
    asked for by their numbers. Up to torch 2.6 they lie in the order of the numbers' texts: 1, 10,
    11, 2. Any other file is read from its beginning on.
    """
    try:
        with zipfile.ZipFile(file) as known:
            records = [(info.header_offset, info.filename) for info in known.infolist()]
    except zipfile.BadZipFile:
        return [(0, end)]
    return merged(_ordered(records, end))


def _ordered(records: list[tuple[int, str]], end: int) -> list[Span]:
    records = sorted(record for record in records if record[0] < end)
    begins = [begin for begin, _ in records] + [end]
    head: list[Span] = []
    storages: list[tuple[int, Span]] = []
    for number, (begin, name) in enumerate(records):
        span = begin, begins[number + 1]
        folder, _, key = name.rpartition("/")
        if folder.endswith("/data") and key.isdecimal():
            storages.append((int(key), span))
        elif not storages:
            head.append(span)
    return head + [span for _, span in sorted(storages)]


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


def pieces(spans: Iterable[Span], longest: int) -> Iterator[Span]:
    """The spans, cut."""
    for begin, end in spans:
        while begin < end:
            yield begin, min(begin + longest, end)
            begin += longest
