"""What names an object or a prefix: "gs://bucket/name" (s3://, ais://), (bucket, name), or a listing's row."""

from __future__ import annotations

import os
from operator import index

_COROUTINE, _ASYNC_GENERATOR = 0x80, 0x200  # of co_flags; inspect costs milliseconds to import


# What URLs begin with, and the service that each is of.
SCHEMES = {"gs": "gs", "gcs": "gs", "s3": "s3", "ais": "ais"}
# Of each service the option of a client, and what people call it.
SERVICES = {"gs": "gcs", "s3": "s3", "ais": "ais"}
_NAMES = {"gs": "Google Cloud Storage", "s3": "S3", "ais": "AIStore"}


class _InS3(bytes):
    """The name of a bucket of S3, as the library takes it."""

    __slots__ = ()
    scheme = "s3"

    def decode(self, *how):
        return BucketInS3(bytes.decode(self, *how))


class BucketInS3(str):
    """The name of a bucket of S3: what has it knows whose it is. Other names are of Google Cloud Storage, or
    of the service of whoever takes them."""

    __slots__ = ()
    scheme = "s3"

    def encode(self, *how):
        return _InS3(str.encode(self, *how))


class _InAis(bytes):
    """The name of a bucket of AIStore, as the library takes it."""

    __slots__ = ()
    scheme = "ais"

    def decode(self, *how):
        return BucketInAis(bytes.decode(self, *how))


class BucketInAis(str):
    """The same of AIStore."""

    __slots__ = ()
    scheme = "ais"

    def encode(self, *how):
        return _InAis(str.encode(self, *how))


_NAMED = {"s3": (BucketInS3, _InS3), "ais": (BucketInAis, _InAis)}


def scheme_of(bucket):
    """"gs", "s3" or "ais", of a bucket as bytes or str."""
    return getattr(bucket, "scheme", "gs")


def named(bucket, scheme):
    """The same name of a bucket of that service."""
    if scheme not in _NAMED or scheme_of(bucket) == scheme:
        return bucket
    return _NAMED[scheme][not isinstance(bucket, str)](bucket)


def scheme_of_url(value):
    """"gs", "s3" or "ais" of a URL as a str; "" of what is none."""
    return SCHEMES.get(value.partition("://")[0], "") if isinstance(value, str) and "://" in value else ""


# `_scheme` of a class whose objects a service has told of: "gs", "s3" or "ais".
scheme_of_told = property(lambda self: scheme_of(self.bucket))


def scheme_of_place(value):
    """The same of a place of any form, of a listing or an index, and of the first of a list; "" where none is told."""
    if isinstance(value, (list, tuple)):
        return scheme_of_place(value[0]) if value else ""
    if isinstance(value, str):
        return getattr(value, "scheme", "") or scheme_of_url(value)
    return getattr(value, "_scheme", "") or getattr(getattr(value, "bucket", None), "scheme", "")


def check_service(scheme, bucket, argument, value=None):
    """Refuses a place that is of another service than a client's."""
    own = scheme_of_place(value) or getattr(bucket, "scheme", scheme)
    if own != scheme:
        told = value if isinstance(value, str) else getattr(value, "url", f"{own}://{bucket.decode()}/")
        raise ValueError(f"{argument}: {told!r} is of {_NAMES[own]}, and the client is of "
                         f"{_NAMES[scheme]}: take a Client(service={SERVICES[own]!r}), or the "
                         "module's functions, which choose by the URL")


class Places:
    """Places of a client's own service."""

    _scheme = "gs"

    def _object_place(self, value, argument="url"):
        """object_place(), of this service."""
        return self._own_bucket(value, argument, *object_place(value, argument))

    def _prefix_place(self, value, argument="url"):
        """prefix_place(), of this service."""
        return self._own_bucket(value, argument, *prefix_place(value, argument))

    def _own_bucket(self, value, argument, bucket, *rest):
        scheme = self._scheme
        if scheme == "gs" and type(bucket) is bytes:
            return bucket, *rest
        check_service(scheme, bucket, argument, value)
        return named(bucket, scheme), *rest


def cut_bucket(path):
    """path.partition("/") of a bucket and what lies in it. The name of an access point has a slash, too:
    arn:aws:s3:REGION:ACCOUNT:accesspoint/NAME."""
    bucket, slash, name = path.partition("/")
    if bucket.startswith("arn:"):
        point, slash, name = name.partition("/")
        bucket = f"{bucket}/{point}"
    return bucket, slash, name


def _checked(text, argument):
    if "\0" in text:
        raise ValueError(f"{argument}: a name has a NUL, which no name may have: {text!r}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{argument}: a name is not UTF-8: {text!r}") from None


def _parts(value, argument):
    """(bucket, name, generation) as bytes and a number."""
    if isinstance(value, str):
        scheme, found, rest = value.partition("://")
        if not found or scheme not in SCHEMES:
            raise ValueError(f"{argument}: {value!r} is no gs://bucket/name, s3:// or ais://bucket/name")
        bucket, _, name = cut_bucket(rest)
        return _checked(named(bucket, SCHEMES[scheme]), argument), _checked(name, argument), 0
    if isinstance(value, tuple) and len(value) == 2:
        bucket, name = value
        if not isinstance(bucket, str) or not isinstance(name, str):
            raise TypeError(f"{argument}: (bucket, name) are two str, and not "
                            f"({type(bucket).__name__}, {type(name).__name__})")
        return _checked(bucket, argument), _checked(name, argument), 0
    if isinstance(value, os.PathLike):
        raise TypeError(f"{argument}: a {type(value).__name__} makes one slash of two, so it cannot "
                        "name an object: give a str or (bucket, name)")
    names = getattr(value, "_place", None)  # a listing's row, what stat() gives
    if names is not None:
        return names(argument)
    raise TypeError(f'{argument}: "gs://bucket/name", (bucket, name) or a row of a listing is '
                    f"needed, and not a {type(value).__name__}")


def place_of(row, argument):
    """(bucket, name, generation) of a listing's row or an Object, which may be made by hand."""
    bucket, name = row.bucket, row.name
    if not isinstance(bucket, str) or not isinstance(name, str):
        raise TypeError(f"{argument}: bucket and name of a {type(row).__name__} are two str, and not "
                        f"({type(bucket).__name__}, {type(name).__name__})")
    return (_checked(bucket, argument), _checked(name, argument),
            count_of(row.generation, f"{argument}: its generation"))


def object_place(value, argument="url"):
    """(bucket, name, generation) of an object: bytes, bytes, and 0 for the live one."""
    bucket, name, generation = _parts(value, argument)
    if not bucket or not name:
        raise ValueError(f"{argument}: {value!r} names no object: it has the form gs://bucket/name")
    return bucket, name, generation


def member_of(name, argument="member"):
    """The name of a file of an archive, as bytes."""
    if not isinstance(name, str):
        raise TypeError(f"{argument}: the name of a file in the archive is a str, and not a {type(name).__name__}")
    if not name:
        raise ValueError(f"{argument}: an empty name is no file's; leave it out for the object")
    return _checked(name, argument)


def prefix_place(value, argument="url"):
    """(bucket, prefix); the prefix may be empty, and so may be the slash before it."""
    bucket, prefix, _ = _parts(value, argument)
    if not bucket:
        raise ValueError(f"{argument}: {value!r} names no bucket: it has the form gs://bucket/prefix")
    return bucket, prefix


def url_of(bucket, name):
    """"gs://bucket/name", "s3://..." or "ais://...", of two str."""
    return f"{scheme_of(bucket)}://{bucket}/{name}"


def bucket_url(bucket):
    """"gs://bucket", "s3://bucket" or "ais://bucket"."""
    return f"{scheme_of(bucket)}://{bucket}"


def is_url(text):
    """Whether a str or bytes begins as URLs of objects do."""
    schemes = ("gs://", "gcs://", "s3://", "ais://")
    return text.startswith(schemes if isinstance(text, str) else tuple(map(str.encode, schemes)))


def nanoseconds(seconds, argument="timeout"):
    """Of a number of seconds; None is 0, which stands for no limit."""
    if seconds is None:
        return 0
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool):
        seconds = number_of(seconds, argument)
    if not 0 < seconds < 9e9:
        raise ValueError(f"{argument}: {seconds!r} is not a number of seconds above 0")
    return max(1, int(seconds * 1e9))


def number_of(value, argument, needed="seconds as a number are needed"):
    """A float of any number, such as numpy's or a Decimal."""
    kind = type(value)
    if not hasattr(kind, "__float__") or hasattr(kind, "__len__") or kind.__name__ in ("bool_", "bool"):
        raise TypeError(f"{argument}: {needed}, and not a {kind.__name__}")
    return float(value)


def count_of(value, argument, least=0, bits=63):
    """A whole number, at least `least` and below 2**bits; anything that has __index__ will do."""
    try:
        # By operator's own: a class has an __index__, too, and an array of numpy has one that fails.
        number = index(value) if not isinstance(value, bool) else None
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{argument}: a whole number is needed, and not a {type(value).__name__}")
    if number < least:
        raise ValueError(f"{argument}: {number} is out of range: at least {least}")
    if number >> bits:
        raise ValueError(f"{argument}: it is out of range: less than 2**{bits}")
    return number


def not_async(function, argument):
    """Refuses what has to be awaited: it is called by a thread that has no event loop."""
    from functools import partial

    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    for each in (inner, getattr(type(inner), "__call__", None)):
        code = getattr(getattr(each, "__func__", each), "__code__", None)
        if code is not None and code.co_flags & (_COROUTINE | _ASYNC_GENERATOR):
            raise TypeError(f"{argument}: a plain function is needed, and not an async one, which "
                            "nobody would await")


def plain(value, argument):
    """What a callable has returned. Raises: TypeError for what would have to be awaited."""
    if hasattr(value, "__await__"):
        close = getattr(value, "close", None)
        if close is not None:
            close()  # else Python warns that it was never awaited
        raise TypeError(f"{argument}: a plain function is needed, and not one that returns what has "
                        f"to be awaited, such as a {type(value).__name__}")
    return value


def range_of(offset, length, argument="length"):
    """(offset, length) of a range; None for the length stays None."""
    offset = count_of(offset, "offset")
    if length is not None:
        length = count_of(length, "length")
        if offset + length >= 2**63:
            raise ValueError(f"{argument}: {length} bytes from {offset} on end beyond 2**63 - 1, the last "
                             "that a request can name")
    return offset, length


def one_of(value, argument, names):
    """One of some names."""
    if not isinstance(value, str):
        raise TypeError(f"{argument}: a str is needed, and not a {type(value).__name__}")
    if value not in names:
        raise ValueError(f"{argument}: {value!r} is none of {', '.join(map(repr, names))}")
    return value


def flag_of(value, argument):
    """True or False, or numpy's. Of what else passes for true a "no" from a command line would be."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TypeError(f"{argument}: True or False is needed, and not a {type(value).__name__}")


def with_both_slashes(text: str) -> str:
    """The text of a path, in which pathlib.Path and os.path.normpath have made one slash of the two behind
    the scheme. What they took away further on nobody can give back."""
    scheme, found, rest = text.partition(":/")
    return f"{scheme}://{rest}" if found and scheme in SCHEMES and not rest.startswith("/") else text


def lost_url(text: str) -> str:
    """The URL of which pathlib.Path, os.path.abspath and the like have made a path of this machine, such as
    "/home/me/gs:/bucket/name"; "" where it is none."""
    for scheme in SCHEMES:
        _, found, rest = ("/" + text).partition(f"/{scheme}:/")
        if found and rest.strip("/"):
            return f"{scheme}://{rest.lstrip('/')}"
    return ""


def check_local(text: str, argument: str = "path") -> None:
    """Refuses a path of this machine that was a URL: files would lie here, and nobody look for them."""
    url = lost_url(text)
    if url:
        raise ValueError(f"{argument}: {text!r} is a path of this machine, as pathlib.Path and os.path make "
                         f"one of a URL. If {url} is meant, give it as a str")
