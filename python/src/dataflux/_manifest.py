"""Manifests: listings that are saved, so that many processes open one instead of listing again; and
what has changed between two listings."""

from __future__ import annotations

import operator
import os
from _collections_abc import Sequence
from array import array

from ._calls import Call, checked, taker, watched
from ._columns import ListingHandle, Table
from ._forms import awaiting, blocking
from ._handles import ErrorHandle, handle
from ._library import Pointer, byref, kind_of, library, struct
from ._listing import Listing, Row
from ._verbs_objects import object_of
from ._place import (
    bucket_url,
    check_local,
    check_service,
    count_of,
    is_url,
    named,
    nanoseconds,
    object_place,
    scheme_of_place,
    scheme_of_told,
    url_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, Tuple, Union

    from ._object import Object, Place
    from ._progress import Progress

    Target = Union[Place, os.PathLike[str]]

ManifestHandle = handle("manifest")
ChangesHandle = handle("changes")
_take_listing = taker("listing", ListingHandle)
_take_manifest = taker("manifest", ManifestHandle)
_take_changes = taker("changes", ChangesHandle)
_ALL = 2**64 - 1


def whole_listing(listing, argument):
    """The library's handle of a listing that has all its rows."""
    if not isinstance(listing, Listing):
        raise TypeError(f"{argument}: a Listing is needed, and not a {type(listing).__name__}")
    if listing._rows is not None:
        raise ValueError(f"{argument}: a whole listing is needed, and this is {len(listing)} of "
                         f"{listing._table.size} rows")
    return listing._handle


def _manifest_options(target, timeout, client=None):
    """dataflux_manifest_options: a str that is no URL, and what has a path, is a file."""
    limit = nanoseconds(timeout)
    if isinstance(target, (str, os.PathLike)) and not (isinstance(target, str) and is_url(target)):
        path = os.fspath(target)
        if not isinstance(path, str):
            raise TypeError(f"target: a path of str is needed, and not of {type(path).__name__}")
        if path.startswith(("gs:/", "gcs:/", "s3:/", "ais:/")):
            raise TypeError(f"target: a {type(target).__name__} makes one slash of two, so it "
                            "cannot name an object: give a str or (bucket, name)")
        if not path or "\0" in path:
            raise ValueError(f"target: {path!r} is no path")
        if not os.path.exists(path):
            check_local(path, "target")
        try:
            path = os.fsencode(path)
        except UnicodeEncodeError:
            raise ValueError(f"target: {path!r} has what no name of a file can have") from None
        return struct("manifest_options", path=path, timeout_ns=limit), False
    bucket, name, _ = (object_place if client is None else client._object_place)(target, "target")
    return struct("manifest_options", bucket=bucket, object=name, timeout_ns=limit), True


def scheme_in_file(path):
    """Whose a manifest or an index of shards in a file is, such as "s3"; "" for any other file."""
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, "rb") as file:
            head = file.read(8)
            file.seek(-64, os.SEEK_END)
            end = file.read(64)
            if head not in (b"\x89dflist\n", b"\x89dfshrd\n"):
                return ""
            file.seek(int.from_bytes(end[24:32], "little"))
            import json

            told = json.loads(file.read(min(int.from_bytes(end[32:36], "little"), 1 << 24))).get("scheme", "gs")
    except (OSError, ValueError, AttributeError, OverflowError):
        return ""  # whoever opens it tells what is wrong
    return told if isinstance(told, str) else ""


def scheme_of_saved(target):
    """The same of what names a manifest or an index: a URL, or a path; of several the first."""
    if isinstance(target, list) and target:
        return scheme_of_place(target) or scheme_of_saved(target[0])
    told = scheme_of_place(target)
    if not told and isinstance(target, (str, os.PathLike)) and "://" not in os.fspath(target):
        return scheme_in_file(target)
    return told


def manifest_path(target, what):
    """The path of what goes to a file only."""
    if _manifest_options(target, None)[1]:
        raise ValueError(f"target: {what} to a file, which upload() brings to a bucket")
    return os.fsencode(target)


class Pairs(Sequence["Tuple[Row, Row]"]):
    """What has changed: a sequence of pairs, the row before and the row after.

    before, after   the rows of each, as listings
    """

    __slots__ = ("before", "after")

    before: Listing
    after: Listing

    def __init__(self, before: Listing, after: Listing) -> None:
        self.before = before
        self.after = after

    def __len__(self) -> int:
        return len(self.before)

    def __getitem__(self, index: Any) -> Any:
        """A pair by its number, or some of them by a slice."""
        if isinstance(index, slice):
            return Pairs(self.before[index], self.after[index])
        return self.before[index], self.after[index]

    def __iter__(self) -> Iterator[Tuple[Row, Row]]:
        return zip(self.before, self.after)

    def __repr__(self) -> str:
        return f"<{len(self)} pairs of rows>"


def _numbers(address, count):
    """Numbers at an address, as an array of its own."""
    import ctypes

    made = array("Q")
    made.frombytes(ctypes.string_at(address, 8 * count) if count else b"")
    return made


def _changed_rows(changes):
    import ctypes

    raw, error = kind_of("changed_rows")(), ErrorHandle()
    checked(library.changes_rows(changes, byref(raw), ctypes.sizeof(raw), byref(error)), error)
    return raw


def _needs_earlier(changes):
    """Whether rows of the earlier listing are among what has changed."""
    raw = _changed_rows(changes)
    return bool(raw.removed_count or raw.changed_count)


class Changes:
    """What became of a listing: true if anything did. Immutable; any thread, a forked child, too.

    added             rows that are new, as a Listing
    removed           rows of the earlier listing that are gone
    changed           objects that were written anew: pairs of Row, before and after, in order of
                      names; `changed.before` and `changed.after` are listings
    unchanged_count   how many rows are in both
    listing           the later listing
    """

    __slots__ = ("added", "removed", "changed", "unchanged_count", "listing")

    added: Listing
    removed: Listing
    changed: Sequence[Tuple[Row, Row]]
    unchanged_count: int
    listing: Listing

    def __init__(self, changes: Any, before: Listing | None, bucket: str) -> None:
        """`before` is the earlier listing; None where _needs_earlier() says that it is not needed."""
        later, error = ListingHandle(), ErrorHandle()
        raw = _changed_rows(changes)
        checked(library.changes_listing(changes, byref(later), byref(error)), error)
        pairs = _numbers(raw.changed, 2 * raw.changed_count)
        self.listing = Listing(Table(later, bucket))
        table = self.listing._table
        earlier = table if before is None else before._table
        self.added = Listing(table, _numbers(raw.added, raw.added_count))
        self.removed = Listing(earlier, _numbers(raw.removed, raw.removed_count))
        self.changed = Pairs(Listing(earlier, pairs[::2]), Listing(table, pairs[1::2]))
        self.unchanged_count = raw.unchanged_count

    def __bool__(self) -> bool:
        return bool(len(self.added) or len(self.removed) or len(self.changed))

    def __repr__(self) -> str:
        return (f"<dataflux.Changes of {bucket_url(self.listing.bucket)}: {len(self.added)} added, "
                f"{len(self.removed)} removed, {len(self.changed)} changed, "
                f"{self.unchanged_count} unchanged>")


def compare(before: Listing, after: Listing) -> Changes:
    """Compares two whole listings of the same place, by names and generations. Nothing is asked of
    the service; it takes about 10 ns a row.

    Raises: ValueError for slices and filtered listings, for listings of two buckets, and where one
    has all generations and the other has not.
    """
    first, second = whole_listing(before, "before"), whole_listing(after, "after")
    if bucket_url(before.bucket) != bucket_url(after.bucket):
        raise ValueError(f"after: a listing of {bucket_url(before.bucket)} is needed, like `before`, and "
                         f"this is of {bucket_url(after.bucket)}")
    made, error = ChangesHandle(), ErrorHandle()
    checked(library.listing_compare(first, second, byref(made), byref(error)), error)
    return Changes(made, before, after.bucket)


class SavedListing:
    """What a saved listing is in both forms: what it knows, and its verbs, each written once."""

    __slots__ = ("_client", "_handle", "_json", "__weakref__")
    _scheme = scheme_of_told

    def __init__(self, client: Any, handle: Any) -> None:
        self._handle = handle
        import ctypes
        import json

        text, error = Pointer(), ErrorHandle()
        checked(library.manifest_json(handle, byref(text), byref(error)), error)
        self._json = json.loads(ctypes.string_at(text.value))
        self._json["bucket"] = named(self._json["bucket"], self._json["scheme"])
        from ._client import in_place_of

        self._client = in_place_of(client, self._json["scheme"])

    @property
    def bucket(self) -> str:
        """Of what was listed."""
        return self._json["bucket"]

    @property
    def prefix(self) -> str:
        """Of what was listed."""
        return self._json["prefix"]

    @property
    def summary(self) -> Dict[str, Any]:
        """What was listed, how, and when: "scheme" (of the service: "gs" or "s3"), "bucket", "prefix",
        "start_offset", "end_offset", "match_glob", "versions", "taken" (a time by RFC 3339), "options"
        (pairs of name and value), "rows", and "bytes", which the manifest has itself."""
        return dict(self._json)

    def __len__(self) -> int:
        return library.manifest_size(self._handle)

    def __bool__(self) -> bool:
        return True

    async def _rows(self, first: int = 0, count: int | None = None) -> Listing:
        """Rows from `first` on, `count` of them at most, None = all, as a Listing without a copy. It
        may outlive the manifest.

        Raises: DataLossError where the file is damaged there; Error for a `first` behind the end.
        """
        count_of(first, "first")
        number = _ALL if count is None else count_of(count, "count")
        found: Listing = await Call(
            lambda client, queue, tag, out, err:
                library.manifest_rows(client, self._handle, first, number, queue, tag, out, err),
            lambda operation, record:
                Listing(Table(_take_listing(operation, record), self.bucket, self.prefix)))
        return found

    async def _refresh(self, *, parallelism: int = 0, timeout: float | None = None,
                       progress: Progress = None) -> Changes:
        """Lists again what the manifest lists, and compares. The manifest stays as it is: save
        `changes.listing` for a new one.

        Arguments:
            parallelism: calls in flight; 0 = found by measuring.
            timeout: seconds for all of it; None = no limit.
            progress: True for a bar, or a callable: see Progress. It counts entries.

        Raises: ValueError for a manifest of another service than the client's.
        """
        check_service(self._client._scheme, self.bucket.encode(), "manifest", self)
        if count_of(parallelism, "parallelism") >= 2**32:
            raise ValueError(f"parallelism: {parallelism} is out of range: less than 2**32")
        options = struct("refresh_options", parallelism=parallelism,
                         timeout_ns=nanoseconds(timeout))
        changes = await watched(
            Call(lambda client, queue, tag, out, err: library.manifest_refresh(
                client, self._handle, byref(options), queue, tag, out, err), _take_changes),
            progress, "listing", self.bucket, self.prefix)
        before = await self._rows() if _needs_earlier(changes) else None
        return Changes(changes, before, self.bucket)

    def row(self, index: int) -> Row:
        """One row, without a listing around it.

        Arguments:
            index: from 0; below 0 it is counted from the end, as of any sequence.

        Raises: IndexError; DataLossError where the file is damaged there.
        """
        size = len(self)
        try:
            number = operator.index(index)
        except TypeError:
            raise TypeError("index: a whole number is needed, and not a "
                            f"{type(index).__name__}") from None
        if not -size <= number < size:
            raise IndexError(f"row {number} of {size}")
        import ctypes

        raw, error = kind_of("row")(), ErrorHandle()
        checked(library.manifest_row(self._handle, number % size, byref(raw), ctypes.sizeof(raw),
                                     byref(error)), error)
        # `name` is declared a text, which ctypes would copy up to a NUL that is not there.
        address = Pointer.from_buffer(raw, type(raw).name.offset).value
        return Row(self.bucket, ctypes.string_at(address, raw.name_size).decode(), raw.size,
                   raw.generation, raw.crc32c if raw.has_crc32c else None)

    def __repr__(self) -> str:
        return (f"<dataflux.{type(self).__name__} of {url_of(self.bucket, self.prefix)}: {len(self)} objects, "
                f"listed {self._json['taken']}>")

    def __copy__(self):
        return self  # immutable

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} is not pickled: each process opens it by open_manifest()")


class Manifest(SavedListing):
    """A saved listing. Opening reads no rows; those that are asked for are checked then.

    Its length is the number of rows. A file must stay as it is while it is in use. Immutable; any
    thread, and a forked child, too.
    """

    __slots__ = ()

    rows = blocking(SavedListing._rows)
    refresh = blocking(SavedListing._refresh)


class AsyncManifest(SavedListing):
    """A saved listing. Opening reads no rows; those that are asked for are checked then.

    Its length is the number of rows. A file must stay as it is while it is in use. Immutable; any
    number of tasks, on any threads, and a forked child, too. Made by AsyncClient.open_manifest().
    """

    __slots__ = ()

    rows = awaiting(SavedListing._rows)
    refresh = awaiting(SavedListing._refresh)


def opening_manifest(client, target, timeout, kind):
    """The call that opens one."""
    options, _ = _manifest_options(target, timeout, client)
    return Call(lambda handle, queue, tag, out, err:
                library.manifest_open(handle, byref(options), queue, tag, out, err),
                lambda operation, record: kind(client, _take_manifest(operation, record)))


class ManifestVerbs:
    """What a client does with manifests."""

    def save_manifest(self, listing: Listing, target: Target, *,
                      timeout: float | None = None) -> Object | None:
        """Saves a listing, so that other processes open it instead of listing again. It is there
        whole or not at all, and replaces what was there.

        Arguments:
            listing: a whole one, by list() without a delimiter, by a manifest's rows() or refresh().
            target: "gs://bucket/name" or (bucket, name) for an object; any other str, or a path, for
                a file.
            timeout: seconds for an object's requests; None = no limit.

        Returns: what is known of the object; None for a file.

        Raises: ValueError for a slice, a filtered listing, one with a delimiter, or one of which
        something is missing; Error for what fails in the service or the file system.
        """
        whole = whole_listing(listing, "listing")
        options, is_object = _manifest_options(target, timeout, self)
        return self._run(Call(
            lambda client, queue, tag, out, err:
                library.manifest_save(client, byref(options), whole, queue, tag, out, err),
            object_of(self._scheme) if is_object else None))

    def open_manifest(self, target: Target, *, timeout: float | None = None) -> Manifest:
        """Opens a manifest: maps a file, or reads an object into memory.

        Arguments:
            target: what save_manifest() was given.
            timeout: seconds for an object's requests; None = no limit.

        Raises: NotFoundError; InvalidArgumentError for what is no manifest; DataLossError for one
        that is damaged.
        """
        return self._run(opening_manifest(self, target, timeout, Manifest))
