"""What calls for many objects, and for files, say they have done."""

from __future__ import annotations

from ._place import place_of, scheme_of_told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, Dict, Tuple

    from ._errors import Error
    from ._object import Object


class Report:
    """Named values, immutable; equal where all of them are. A pickle carries them."""

    __slots__: Tuple[str, ...] = ("__weakref__",)

    def __init__(self, **values: Any) -> None:
        for name in self.__slots__:
            object.__setattr__(self, name, values.pop(name))
        if values:
            raise TypeError(f"{type(self).__name__}() has no {next(iter(values))!r}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} cannot be changed: {name!r}")

    def _values(self):
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), *self._values().values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self._values().items())
        return f"dataflux.{type(self).__name__}({values})"

    def __reduce__(self):
        return _again, (type(self), self._values())


def _again(kind, values):
    return kind(**values)


class UploadedFile(Report):
    """What upload() has made.

    object: what is known of it.
    upload_path: how its bytes went: "insert", "multipart" or "resumable".
    commit_mode: how it appeared: "staged" or "direct".
    fallback: why it did not go as it should; "" = it did.
    resumed: bytes that the service had of an earlier call.
    """

    __slots__ = ("object", "upload_path", "commit_mode", "fallback", "resumed")
    object: Object
    upload_path: str
    commit_mode: str
    fallback: str
    resumed: int


class DownloadedFile(Report):
    """What download() has written.

    bytes: of the file.
    object_size: bytes of the whole object.
    generation: of the object.
    resumed: bytes that an earlier call had left.
    verified: they are a whole object, and compared with its checksum.
    """

    __slots__ = ("bytes", "object_size", "generation", "resumed", "verified")
    bytes: int
    object_size: int
    generation: int
    resumed: int
    verified: bool


class CopiedFolder(Report):
    """What upload_folder() or download_folder() has done, or, with dry_run, would do.

    found: files or objects of the source.
    copied: of those; bytes: of what was copied.
    already_there: of those found, which `resume` left out.
    folders: made.
    removed: by delete_extra.
    not_removed: why delete_extra removed nothing; "" = it did.
    failed: how many; failures: an Error for each of the first of them. Its `bucket` and `object` are
        "" where the object is not what failed. Its `path` is the file here.
    """

    __slots__ = ("found", "copied", "bytes", "already_there", "folders", "removed", "not_removed",
                 "failed", "failures")
    found: int
    copied: int
    bytes: int
    already_there: int
    folders: int
    removed: int
    not_removed: str
    failed: int
    failures: Tuple[Error, ...]


class RemovedObjects(Report):
    """What remove_prefix() has removed, or, with dry_run, would remove.

    objects, bytes: gone.
    young: left for `older_than`.
    failed: how many; failures: an Error for each of the first of them.
    """

    __slots__ = ("objects", "bytes", "young", "failed", "failures")
    objects: int
    bytes: int
    young: int
    failed: int
    failures: Tuple[Error, ...]


class Leftover(Report):
    """One thing that a killed upload or read has left.

    kind: "upload" (open), "temporary_object" (of an upload) or "composite" (of a read).
    verdict: "stale" (its time has passed, and remove_leftovers() removes it), "young", "foreign"
        (somebody else's, which is never removed) or "failed" (could not be removed).
    target: the name of what it was going to be; whole_target: False where that is the beginning of
        a long one.
    name: its own.
    upload_id: of an upload, else None.
    generation, size, noncurrent: of an object, else None.
    began: a datetime in UTC, cut to microseconds; age: seconds since then, by this machine's clock.
        None where they are not known.
    error: why it could not be removed, else None.
    """

    __slots__ = ("kind", "verdict", "target", "whole_target", "name", "upload_id", "generation",
                 "size", "noncurrent", "began", "age", "error")
    kind: str
    verdict: str
    target: str
    whole_target: bool
    name: str
    upload_id: str | None
    generation: int | None
    size: int | None
    noncurrent: bool | None
    began: datetime | None
    age: int | None
    error: str | None


class Leftovers(Report):
    """What find_leftovers() has found, or remove_leftovers() has seen to.

    stale, young, foreign, failed: how many of each verdict.
    stale_bytes: of those that are stale.
    rows: a Leftover for each.
    """

    __slots__ = ("stale", "stale_bytes", "young", "foreign", "failed", "rows")
    stale: int
    stale_bytes: int
    young: int
    foreign: int
    failed: int
    rows: Tuple[Leftover, ...]


class RestoredObjects(Report):
    """What bulk_restore() has done.

    operation: the service's id of it.
    restored: objects that are there again.
    skipped: deleted generations that were not wanted, or that a live object stands in the way of.
    failed: deleted generations that the service could not restore.
    """

    __slots__ = ("operation", "restored", "skipped", "failed")
    operation: str
    restored: int
    skipped: int
    failed: int


class ShardCounts(Report):
    """What indexing has met in shards, and which members are in no sample: numbers.

    concatenated: archives behind the first one; trailing: shards with other bytes behind the end.
    damaged: shards that end where they are damaged; missing_ends: those without blocks of zeros there.
    bytes_behind: not read, from such a place on.
    hard_links, symlinks, directories, devices, other: members that have no data of their own.
    hidden: members called "__name__", or below one; no_field: those without a dot in the last part of
        the name, or with nothing before it; repeated: those left out by repeated="keep_first".
    """

    __slots__ = ()
    concatenated: int
    trailing: int
    damaged: int
    missing_ends: int
    bytes_behind: int
    hard_links: int
    symlinks: int
    directories: int
    devices: int
    other: int
    hidden: int
    no_field: int
    repeated: int


SHARD_COUNTS = ("concatenated", "trailing", "damaged", "missing_ends", "bytes_behind", "hard_links",
                "symlinks", "directories", "devices", "other", "hidden", "no_field", "repeated")


class IndexedShards(ShardCounts):
    """What index_shards() has found; and the counts of ShardCounts, over all shards.

    shards, samples, members: how many.
    checksummed: shards whose samples have checksums, which together agree with the service's.
    taken_over: shards that this call did not read, since an earlier call, another process, a part or an
        index beside them knew them.
    orphans: objects NAME.dfx without their shard, which a killed writer has left. They are passed over.
    bytes: of all shards; bytes_read: of them.
    """

    __slots__ = ("shards", "samples", "members", "checksummed", "taken_over", "orphans", "bytes",
                 "bytes_read", *SHARD_COUNTS)
    shards: int
    samples: int
    members: int
    checksummed: int
    taken_over: int
    orphans: int
    bytes: int
    bytes_read: int


class WrongShard(Report):
    """A shard that is not what its index says.

    shard: its number; name: of the object.
    fault: "changed" (another object has its name), "deleted", "damaged", or "samples" (it is whole, and
        the index has others).
    error: what exactly.
    """

    __slots__ = ("shard", "name", "fault", "error")
    shard: int
    name: str
    fault: str
    error: Error


class VerifiedShards(Report):
    """What verify_shards() has found.

    shards: of the index; samples: of those that are right.
    bytes_read: of all shards.
    filled: shards whose samples had no checksums, and have them in the index that was written.
    wrong_count: how many shards are wrong; wrong: a WrongShard for each of the first of them.
    """

    __slots__ = ("shards", "samples", "bytes_read", "filled", "wrong_count", "wrong")
    shards: int
    samples: int
    bytes_read: int
    filled: int
    wrong_count: int
    wrong: Tuple[WrongShard, ...]


class IndexedShard(ShardCounts):
    """A shard as it was indexed; and the counts of ShardCounts.

    bucket, name, size, generation, crc32c: of the object; crc32c is None where the service gave none.
    first_sample: the number of its first one; samples: how many it has.
    checksummed: they have checksums.
    """

    __slots__ = ("bucket", "name", "size", "generation", "crc32c", "first_sample", "samples",
                 "checksummed", *SHARD_COUNTS)
    bucket: str
    name: str
    size: int
    generation: int
    crc32c: int | None
    first_sample: int
    samples: int
    checksummed: bool

    def _place(self, argument):
        return place_of(self, argument)


class IndexedSample(Report):
    """Where a sample lies.

    shard: the number of its shard.
    offset, size: of its bytes in the shard, from its first header to the padding of its last member.
    crc32c: of these bytes; None where the shard is not checksummed.
    fields: a dict: of each field the offset of its data in the shard, and their size.
    """

    __slots__ = ("shard", "offset", "size", "crc32c", "fields")
    shard: int
    offset: int
    size: int
    crc32c: int | None
    fields: Dict[str, Tuple[int, int]]

    __hash__ = None  # type: ignore[assignment]  # as of what has a dict


class ResumedShards(Report):
    """What a writer of shards has found when it was opened with resume=True.

    shards, samples, bytes: of the shards that were there.
    """

    __slots__ = ("shards", "samples", "bytes")
    shards: int
    samples: int
    bytes: int


class WrittenShard(Report):
    """A shard that a writer has made.

    bucket, name, generation, crc32c: of the object; bytes: its size.
    samples: how many it has.
    ended: what made it end: "count", "bytes" or "finished".
    """

    __slots__ = ("bucket", "name", "samples", "bytes", "crc32c", "generation", "ended")
    _scheme = scheme_of_told
    bucket: str
    name: str
    samples: int
    bytes: int
    crc32c: int
    generation: int
    ended: str

    def _place(self, argument):
        return place_of(self, argument)


class WrittenShards(Report):
    """What a writer of shards has made.

    shards: each in its order; samples, bytes: of all of them.
    resumed: what was there before.
    """

    __slots__ = ("shards", "samples", "bytes", "resumed")
    shards: Tuple[WrittenShard, ...]
    samples: int
    bytes: int
    resumed: ResumedShards
