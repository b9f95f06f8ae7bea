"""What is written beside an object's bytes: its content type, its metadata and the like."""

from __future__ import annotations

from ._library import addressof, struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import TypedDict

    class Removable(TypedDict, total=False):
        content_type: str | None
        content_encoding: str | None
        content_disposition: str | None
        content_language: str | None
        cache_control: str | None
        custom_time: datetime | float | None

    class Attributes(Removable, total=False):
        storage_class: str | None
        kms_key_name: str | None
        metadata: Mapping[str, str] | None

    class MemberAttributes(TypedDict, total=False):
        content_type: str | None
        storage_class: str | None
        kms_key_name: str | None
        custom_time: datetime | float | None
        metadata: Mapping[str, str] | None

    class Conditions(TypedDict, total=False):
        if_generation_match: int | None
        if_generation_not_match: int | None
        if_metageneration_match: int | None
        if_metageneration_not_match: int | None

    class SourceConditions(TypedDict, total=False):
        source_if_generation_match: int | None
        source_if_generation_not_match: int | None
        source_if_metageneration_match: int | None
        source_if_metageneration_not_match: int | None

    class HowToPut(Attributes, Conditions, total=False):
        pass

    class HowToMove(Conditions, SourceConditions, total=False):
        pass

    class HowToCopy(Attributes, Conditions, SourceConditions, total=False):
        encryption_key: bytes | str | None
        source_encryption_key: bytes | str | None

    class HowToCompose(Attributes, total=False):
        if_generation_match: int | None
        if_metageneration_match: int | None

    class HowToPatch(Removable, Conditions, total=False):
        metadata: Mapping[str, str | None] | None

    class HowToUpload(Attributes, total=False):
        if_generation_match: int | None


def _text(value, argument):
    if not isinstance(value, str):
        raise TypeError(f"{argument}: a str is needed, and not a {type(value).__name__}")
    if "\0" in value:
        raise ValueError(f"{argument}: it has a NUL: {value!r}")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{argument}: it is not UTF-8: {value!r}") from None


def nanoseconds_since_1970(value, argument):
    """Of a datetime that knows its time zone, or a number of seconds since 1970."""
    if hasattr(value, "utcoffset"):
        from datetime import datetime, timezone

        if value.utcoffset() is None:
            raise ValueError(f"{argument}: {value!r} has no time zone")
        since = value - datetime(1970, 1, 1, tzinfo=timezone.utc)
        number = ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1000
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if value != value:
            raise ValueError(f"{argument}: {value!r} is no number of seconds since 1970")
        number = int(max(-1e10, min(value, 1e10)) * 1_000_000_000)
    else:
        raise TypeError(f"{argument}: a datetime with a time zone or seconds since 1970 are needed, "
                        f"and not a {type(value).__name__}")
    if abs(number) >= 2**63:
        raise ValueError(f"{argument}: {value!r} is out of range: until the year 2262")
    if number == 0:
        raise ValueError(f"{argument}: the first instant of 1970 stands for no time at all")
    return number


def _metadata(value, removable):
    """(name, value) of each as bytes; a value may be None where that removes it."""
    try:
        rows = list(value.items())
    except AttributeError:
        raise TypeError("metadata: a dict of str to str is needed, and not a "
                        f"{type(value).__name__}") from None
    made = []
    for name, text in rows:
        checked = _text(name, "metadata: a name")
        if text is None and removable:
            made.append((checked, None))
        else:
            made.append((checked, _text(text, f"metadata[{name!r}]")))
    return made


ATTRIBUTES = ("content_type", "content_encoding", "content_disposition", "content_language",
              "cache_control", "storage_class", "kms_key_name", "custom_time", "metadata")
# Of a set's member.
MEMBER_ATTRIBUTES = ("content_type", "storage_class", "kms_key_name", "custom_time", "metadata")
CONDITIONS = ("if_generation_match", "if_generation_not_match", "if_metageneration_match",
              "if_metageneration_not_match")
SOURCE_CONDITIONS = tuple("source_" + name for name in CONDITIONS)


def encryption_key(value, argument, may_be_none=False):
    """A customer's key as 32 bytes; b"" stands for none, where that may be. No error shows it."""
    if isinstance(value, str):
        from base64 import b64decode

        try:
            value = b64decode(value, validate=True)
        except ValueError:
            raise ValueError(f"{argument}: the text is no Base64") from None
    elif not isinstance(value, (bytes, bytearray)):
        raise TypeError(f"{argument}: 32 bytes, or their Base64, are needed, and not a {type(value).__name__}")
    if len(value) != 32 and not (may_be_none and not value):
        raise ValueError(f"{argument}: 32 bytes are needed, and not {len(value)}")
    return bytes(value)


def taken(given, verb, *groups):
    """Refuses what a verb does not take, in Python's own words; `groups` are names of what it takes."""
    for name in given:
        if not any(name in group for group in groups):
            raise TypeError(f"{verb}() got an unexpected keyword argument {name!r}")


def attributes(*, removable=False, **given):
    """dataflux_attributes of what was given for ATTRIBUTES, among other things; it keeps alive what it
    points to. None where nothing is given.

    `removable`: for dataflux_patch(), where metadata's values may be None.
    """
    custom_time, metadata = given.get("custom_time"), given.get("metadata")
    texts = {name: given[name] for name in ATTRIBUTES[:7] if given.get(name) is not None}
    if not texts and custom_time is None and metadata is None:
        return None
    made = struct("attributes", **{name: _text(value, name) for name, value in texts.items()})
    if custom_time is not None:
        if removable and isinstance(custom_time, str) and not custom_time:
            raise ValueError("custom_time: one that is set cannot be removed, for the service only lets "
                             "it be moved forward")
        made.custom_time_ns = nanoseconds_since_1970(custom_time, "custom_time")
    if metadata is not None:
        import ctypes

        rows = _metadata(metadata, removable)
        kind = ctypes.c_char_p * len(rows)
        made.kept = names, values = (kind(*(name for name, _ in rows)),
                                     kind(*(value for _, value in rows)))
        made.metadata_names = addressof(names)
        made.metadata_values = addressof(values)
        made.metadata_count = len(rows)
    return made
