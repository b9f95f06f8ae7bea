"""Buckets: what is known of them, and what may be done there."""

from __future__ import annotations

from ._attributes import _text, nanoseconds_since_1970
from ._calls import Call, calling, json_of
from ._library import addressof, byref, struct
from ._object import time_of
from ._place import bucket_url, named, nanoseconds, scheme_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, FrozenSet, Iterable, List

    from ._reports import RestoredObjects


class Bucket:
    """What is known of a bucket. What the service does not say is None. Immutable.

    It names the bucket wherever a bucket or a prefix is asked for.
    """

    __slots__ = ("_known", "__weakref__")
    _scheme = property(lambda self: scheme_of(self.name))

    def __init__(self, known: dict[str, Any]) -> None:
        self._known = known

    def _at(self, *names):
        found = self._known
        for name in names:
            found = found.get(name, {})
        return found

    def _number(self, *names):
        return int(self._at(*names) or 0) or None

    def _on(self, *names):
        return bool(self._at(*names))

    @property
    def known(self) -> dict[str, Any]:
        """All that is known, under the names and in the forms of the service's JSON."""
        return dict(self._known)

    @property
    def name(self) -> str:
        """Of the bucket, without gs://."""
        return self._known["name"]

    @property
    def url(self) -> str:
        """gs://name"""
        return bucket_url(self.name)

    @property
    def project_number(self) -> int | None:
        """Of the project that it belongs to."""
        return self._number("projectNumber")

    @property
    def metageneration(self) -> int | None:
        """Counts the changes of the bucket's settings, from 1."""
        return self._number("metageneration")

    @property
    def location(self) -> str | None:
        """Such as "EUROPE-WEST4"."""
        return self._known.get("location")

    @property
    def location_type(self) -> str | None:
        """"region", "dual-region", "multi-region" or "zone"."""
        return self._known.get("locationType")

    @property
    def storage_class(self) -> str | None:
        """Of objects that name none."""
        return self._known.get("storageClass")

    @property
    def time_created(self) -> datetime | None:
        """In UTC. Nanoseconds are cut to microseconds."""
        return time_of(self._known.get("timeCreated"))

    @property
    def hierarchical(self) -> bool:
        """Whether folders are things of their own."""
        return self._on("hierarchicalNamespace", "enabled")

    @property
    def versioning(self) -> bool:
        """Whether what is replaced or removed stays as a noncurrent version."""
        return self._on("versioning", "enabled")

    @property
    def requester_pays(self) -> bool:
        """Whether requests must name who pays: Client(user_project=...)."""
        return self._on("billing", "requesterPays")

    @property
    def uniform_access(self) -> bool:
        """Whether permissions are the bucket's alone, and no object has its own."""
        return self._on("iamConfiguration", "uniformBucketLevelAccess", "enabled")

    @property
    def soft_delete_seconds(self) -> int | None:
        """How long what was removed can be restored."""
        return self._number("softDeletePolicy", "retentionDurationSeconds")

    @property
    def retention_seconds(self) -> int | None:
        """How long objects cannot be removed."""
        return self._number("retentionPolicy", "retentionPeriod")

    @property
    def default_event_based_hold(self) -> bool:
        """Whether new objects are held until somebody lifts that."""
        return self._on("defaultEventBasedHold")

    def _place(self, argument):
        return self.name.encode(), b"", 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bucket) and self._known == other._known

    def __hash__(self) -> int:
        return hash((Bucket, self.name))

    def __repr__(self) -> str:
        return f"<dataflux.Bucket {self.url}, {self.location or 'somewhere'}>"

    def __reduce__(self):
        return Bucket, (self._known,)


def _options(client, url, timeout):
    bucket, name = client._prefix_place(url)
    if name:
        raise ValueError(f"url: {url!r} names something in a bucket: {bucket_url(bucket.decode())} is "
                         "the bucket")
    return struct("bucket_options", bucket=bucket, timeout_ns=nanoseconds(timeout))


def _known_of(known, scheme):
    known["name"] = named(known["name"], scheme)
    return known


def _optional(value, argument):
    return None if value is None else _text(value, argument)


def _texts(given, argument, what):
    """Of a list of str: an array of C."""
    import ctypes

    try:
        rows = None if isinstance(given, (str, bytes)) else list(given)
    except TypeError:
        rows = None
    if rows is None:
        raise TypeError(f"{argument}: {what}, and not a {type(given).__name__}")
    return (ctypes.c_char_p * len(rows))(*(_text(row, f"{argument}[{i}]")
                                           for i, row in enumerate(rows)))


def _names(names):
    """1 to 100 permissions, as an array of C."""
    asked = _texts(names, "names", "permissions in a list are needed, such as "
                   "[\"storage.objects.create\"]")
    if not 1 <= len(asked) <= 100:
        raise ValueError(f"names: 1 to 100 permissions can be asked for, not {len(asked)}")
    return asked


def _restored(operation, record):
    from ._reports import RestoredObjects

    return RestoredObjects(**json_of(operation))


class BucketVerbs:
    """What a client does with buckets. It makes and removes none."""

    def bucket(self, url: str | Bucket, *, timeout: float | None = None) -> Bucket:
        """Asks what is known of a bucket.

        Arguments:
            url: "gs://name".
            timeout: seconds for the whole call, with all its retries; None = no limit.

        Raises: NotFoundError; PermissionDeniedError.
        """
        options = _options(self, url, timeout)
        return self._run(Call(calling("bucket", byref(options)),
                              lambda operation, record: Bucket(_known_of(json_of(operation), self._scheme))))

    def buckets(self, project: str | None = None, prefix: str | None = None, *,
                timeout: float | None = None) -> List[Bucket]:
        """Lists the buckets of a project, in order of names.

        Arguments:
            project: its id; None = that of the credentials.
            prefix: which the names begin with; None = all.
            timeout: seconds for the whole call, with all its retries; None = no limit.

        Raises: PermissionDeniedError; InvalidArgumentError where no project is known.
        """
        options = struct("list_buckets_options", project=_optional(project, "project"),
                         prefix=_optional(prefix, "prefix"), timeout_ns=nanoseconds(timeout))
        return self._run(Call(
            calling("list_buckets", byref(options)),
            lambda operation, record: [Bucket(known) for known in json_of(operation)["items"]]))

    def permissions(self, url: str | Bucket, names: Iterable[str], *,
                    timeout: float | None = None) -> FrozenSet[str]:
        """Asks which of some permissions the account has on a bucket.

        Arguments:
            url: "gs://name".
            names: 1 to 100, such as ["storage.objects.create", "storage.objects.delete"].
            timeout: seconds for the whole call, with all its retries; None = no limit.

        Raises: NotFoundError; InvalidArgumentError for one that there is not.
        """
        options = _options(self, url, timeout)
        asked = _names(names)
        return self._run(Call(
            calling("test_permissions", byref(options), byref(asked), len(asked)),
            lambda operation, record: frozenset(json_of(operation)["permissions"])))

    def bulk_restore(self, url: str | Bucket, globs: Iterable[str] | None = None, *,
                     deleted_after: datetime | float | None = None,
                     deleted_before: datetime | float | None = None,
                     created_after: datetime | float | None = None,
                     created_before: datetime | float | None = None,
                     overwrite: bool = False, timeout: float | None = None) -> RestoredObjects:
        """Brings soft-deleted objects of a bucket back.

        Of each name the last generation that meets all conditions is restored, as a new generation.
        The service takes minutes at least, and the call ends when it is done. A call that ends
        early leaves the service at work.

        Arguments:
            url: "gs://name" of a bucket with a soft delete policy.
            globs: patterns of names, such as ["train/**"]; None = all names.
            deleted_after: only what was deleted after that time: a datetime with a time zone, or
                seconds since 1970; None = whenever.
            deleted_before: the same, before it.
            created_after: only what was created after that time.
            created_before: the same, before it.
            overwrite: replace live objects of the same names; else their deleted generations stay
                deleted.
            timeout: seconds for the whole call, with all its waiting; None = no limit.

        Raises: InvalidArgumentError for a bucket without a soft delete policy; NotFoundError;
            PermissionDeniedError.
        """
        bucket = _options(self, url, timeout)
        options = struct("bulk_restore_options", bucket=bucket.bucket,
                         timeout_ns=bucket.timeout_ns, overwrite=bool(overwrite))
        for name, time in (("deleted_after", deleted_after), ("deleted_before", deleted_before),
                           ("created_after", created_after), ("created_before", created_before)):
            if time is not None:
                setattr(options, name + "_ns", nanoseconds_since_1970(time, name))
        if globs is not None:
            options.kept = asked = _texts(globs, "globs", "patterns in a list are needed, such as "
                                          "[\"train/**\"]")
            options.match_globs = addressof(asked)
            options.match_glob_count = len(asked)
        return self._run(Call(calling("bulk_restore", byref(options)), _restored))
