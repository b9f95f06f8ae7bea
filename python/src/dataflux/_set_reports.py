"""What calls for sets say of them."""

from __future__ import annotations

from ._calls import json_of
from ._errors import Error
from ._object import time_of
from ._reports import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Tuple

    from ._object import Object


class RemovedSets(Report):
    """What a removal of sets has done.

    objects    that are gone
    uploads    that were open, and are aborted
    bytes      of the objects
    sets       prefixes of the sets that are gone
    failures   what could not be removed, an Error for each
    spared     how many objects were not tried because of those
    """

    __slots__ = ("objects", "uploads", "bytes", "sets", "failures", "spared")
    objects: int
    uploads: int
    bytes: int
    sets: Tuple[str, ...]
    failures: Tuple[Error, ...]
    spared: int


class CommittedSet(Report):
    """What the commit of a set gives.

    last       the last object, as stat() gives it
    manifest   the name of the set's manifest
    members    how many there are
    bytes      of all members
    replaced   RemovedSets: what a save over the set has removed
    """

    __slots__ = ("last", "manifest", "members", "bytes", "replaced")
    last: Object
    manifest: str
    members: int
    bytes: int
    replaced: RemovedSets


class Member(Report):
    """A member of a complete set.

    name         within the set
    size         bytes
    generation   that was committed
    crc32c       of its bytes
    """

    __slots__ = ("name", "size", "generation", "crc32c")
    name: str
    size: int
    generation: int
    crc32c: int


class SetInfo(Report):
    """A set that list_sets() has found. What is not known is None.

    prefix      where it is
    last        the name of its last object; None of one that is unfinished
    committed   when, a datetime; None of one that is unfinished
    written     when something was written for one that is unfinished; else None
    members     how many, or how many objects of one that is unfinished
    bytes       of them
    uploads     how many are open for one that is unfinished: parts without an object, which are billed
    why         an Error, of a damaged one
    """

    __slots__ = ("prefix", "last", "committed", "written", "members", "bytes", "uploads", "why")
    prefix: str
    last: str | None
    committed: datetime | None
    written: datetime | None
    members: int
    bytes: int
    uploads: int
    why: Error | None


class Sets(Report):
    """The sets below a prefix: `complete`, the oldest commit first; `damaged`; `unfinished`. Each is
    a tuple of SetInfo.

    uploads_unknown   an Error where open uploads may not be listed, and so are not counted; else None
    """

    __slots__ = ("complete", "damaged", "unfinished", "uploads_unknown")
    complete: Tuple[SetInfo, ...]
    damaged: Tuple[SetInfo, ...]
    unfinished: Tuple[SetInfo, ...]
    uploads_unknown: Error | None


def removed(bucket, known):
    failures = tuple(Error(row["why"], bucket=bucket, object=row["name"])
                     for row in known["failures"])
    return RemovedSets(objects=known["objects"], uploads=known["uploads"], bytes=int(known["bytes"]),
                       sets=tuple(known["sets"]), failures=failures, spared=known["spared"])


def removal(bucket):
    """For `finish`."""
    return lambda operation, record: removed(bucket, json_of(operation))


def info_of(known, bucket):
    why = known.get("why")
    return SetInfo(prefix=known["prefix"], last=known.get("last"),
                   committed=time_of(known.get("committed")), written=time_of(known.get("written")),
                   members=known["members"] if "members" in known else known["objects"],
                   bytes=int(known["bytes"]), uploads=known.get("uploads", 0),
                   why=why and Error(why, bucket=bucket))
