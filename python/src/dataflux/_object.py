"""An object: what is known of it, which one is meant, and under which conditions."""

from __future__ import annotations

from . import _abi
from ._library import addressof, filled, struct
from ._place import count_of, named, nanoseconds, place_of, scheme_of_told, url_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, Tuple, Union

    from ._listing import Row

    Place = Union[str, Tuple[str, str], "Row", "Object"]


def time_of(text):
    """The datetime of "2033-05-18T03:33:20.123456789Z"; what is below a microsecond is cut. None of
    None."""
    if text is None:
        return None
    from datetime import datetime, timezone

    microseconds = (text[20:-1] + "000000")[:6] if text[19:20] == "." else 0
    return datetime(int(text[:4]), int(text[5:7]), int(text[8:10]), int(text[11:13]),
                    int(text[14:16]), int(text[17:19]), int(microseconds), timezone.utc)


def _whole(value):
    return None if value is None else int(value)


class Object:
    """What is known of an object. What was not asked for, and what it has not, is None. Immutable.

    It names the object, and that generation of it, wherever a place is asked for.
    """

    __slots__ = ("_known", "__weakref__")
    _scheme = scheme_of_told

    def __init__(self, known: dict[str, Any]) -> None:
        self._known = known

    @property
    def known(self) -> dict[str, Any]:
        """All that is known, under the names and in the forms of the service's JSON."""
        return dict(self._known)

    @property
    def bucket(self) -> str:
        """Where it is."""
        return self._known["bucket"]

    @property
    def name(self) -> str:
        """Of the object, without its bucket."""
        return self._known["name"]

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return url_of(self.bucket, self.name)

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self._known["size"])

    @property
    def generation(self) -> int:
        """Of its content: what is written anew has another one."""
        return int(self._known["generation"])

    @property
    def metageneration(self) -> int | None:
        """Of what stands beside the content: counts the changes of this generation, from 1."""
        return _whole(self._known.get("metageneration"))

    @property
    def crc32c(self) -> int | None:
        """The checksum of the content."""
        text = self._known.get("crc32c")
        if text is None:
            return None
        from binascii import a2b_base64

        return int.from_bytes(a2b_base64(text), "big")

    @property
    def md5_hash(self) -> str | None:
        """In base64, as the service gives it; objects that were composed have none."""
        return self._known.get("md5Hash")

    @property
    def etag(self) -> str | None:
        """The service's mark of content and metadata."""
        return self._known.get("etag")

    @property
    def content_type(self) -> str | None:
        """Such as "image/png"."""
        return self._known.get("contentType")

    @property
    def content_encoding(self) -> str | None:
        """Of the bytes as they are kept, such as "gzip"."""
        return self._known.get("contentEncoding")

    @property
    def content_disposition(self) -> str | None:
        """How a browser is to show it, such as "attachment"."""
        return self._known.get("contentDisposition")

    @property
    def content_language(self) -> str | None:
        """Such as "en"."""
        return self._known.get("contentLanguage")

    @property
    def cache_control(self) -> str | None:
        """How long others may keep a copy, such as "no-store"."""
        return self._known.get("cacheControl")

    @property
    def storage_class(self) -> str | None:
        """Such as "STANDARD" or "NEARLINE"."""
        return self._known.get("storageClass")

    @property
    def kms_key_name(self) -> str | None:
        """The key that it is encrypted by; None where that is the service's own."""
        return self._known.get("kmsKeyName")

    @property
    def time_created(self) -> datetime | None:
        """When this generation was made, in UTC. Nanoseconds are cut to microseconds; `known` has
        them all."""
        return time_of(self._known.get("timeCreated"))

    @property
    def updated(self) -> datetime | None:
        """When it was last changed, in UTC, cut to microseconds."""
        return time_of(self._known.get("updated"))

    @property
    def custom_time(self) -> datetime | None:
        """The time that its user gave it, in UTC, cut to microseconds."""
        return time_of(self._known.get("customTime"))

    @property
    def component_count(self) -> int | None:
        """Of how many it was composed; None where it was not."""
        return _whole(self._known.get("componentCount"))

    @property
    def metadata(self) -> dict[str, str] | None:
        """A copy of what its user wrote beside it; {} where that is nothing."""
        found = self._known.get("metadata")
        return None if found is None else dict(found)

    def _place(self, argument):
        return place_of(self, argument)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and self._known == other._known

    def __hash__(self) -> int:
        return hash((self.bucket, self.name, self.generation))

    def __repr__(self) -> str:
        return f"<dataflux.Object {self.url}, {self.size} bytes, generation {self.generation}>"

    def __reduce__(self):
        return Object, (self._known,)


def known_of(known, scheme):
    """What is known of an object of that service, of JSON."""
    if scheme != "gs":
        known["bucket"] = named(known["bucket"], scheme)
    return known


FIELDS = {name: getattr(_abi, "FIELD_" + name.upper()) for name in (
    "metageneration", "md5_hash", "etag", "content_type", "content_encoding",
    "content_disposition", "content_language", "cache_control", "storage_class", "kms_key_name",
    "time_created", "updated", "custom_time", "component_count", "metadata")}
_BASIC = ("bucket", "name", "url", "size", "generation", "crc32c")


def fields_of(names, argument="fields"):
    """DATAFLUX_FIELD_* of names of Object's properties; None is 0, which stands for all."""
    if names is None:
        return 0
    try:
        given = None if isinstance(names, (str, bytes)) else list(names)
    except TypeError:
        given = None
    if given is None:
        raise TypeError(f"{argument}: names in a list are needed, and not a {type(names).__name__}")
    bits = _abi.FIELD_BASIC
    for name in given:
        if name in _BASIC:
            continue
        if name not in FIELDS:
            raise ValueError(f"{argument}: {name!r} is none of {', '.join(_BASIC)}, "
                             f"{', '.join(FIELDS)}")
        bits |= FIELDS[name]
    return bits


_CONDITIONS = (("generation_match", _abi.IF_GENERATION_MATCH),
               ("generation_not_match", _abi.IF_GENERATION_NOT_MATCH),
               ("metageneration_match", _abi.IF_METAGENERATION_MATCH),
               ("metageneration_not_match", _abi.IF_METAGENERATION_NOT_MATCH))


def conditions(given, before="if_"):
    """dataflux_conditions of what was given for if_generation_match, if_generation_not_match,
    if_metageneration_match and if_metageneration_not_match, among other things; None where all are
    None."""
    made = None
    for name, bit in _CONDITIONS:
        value = given.get(before + name)
        if value is None:
            continue
        if made is None:
            made = struct("conditions")
        setattr(made, name, count_of(value, before + name))
        made.has |= bit
    return made


def object_options(place, generation=0, timeout=None, conditions=None, fields=0):
    """dataflux_object_options; `conditions` is a struct or None, and kept by what is made."""
    bucket, name, of_place = place
    made = filled("object_options", bucket, name, count_of(generation, "generation") or of_place,
                  nanoseconds(timeout))
    if conditions is not None:
        made.conditions = addressof(conditions)
        made.kept = conditions
    if fields:
        made.fields = fields
    return made
