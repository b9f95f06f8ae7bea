"""What is written beside an object's bytes: its content type, its metadata and the like."""

from __future__ import annotations

from ._library import addressof, struct


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


def attributes(*, content_type=None, content_encoding=None, content_disposition=None,
               content_language=None, cache_control=None, storage_class=None, kms_key_name=None,
               custom_time=None, metadata=None, removable=False):
    """dataflux_attributes, which keeps alive what it points to; None where nothing is given.

    Each verb hands over what its user gave, under the same names: an error names that argument.
    `removable`: for dataflux_patch(), where metadata's values may be None.
    """
    texts = {name: value for name, value in (
        ("content_type", content_type), ("content_encoding", content_encoding),
        ("content_disposition", content_disposition), ("content_language", content_language),
        ("cache_control", cache_control), ("storage_class", storage_class),
        ("kms_key_name", kms_key_name)) if value is not None}
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
