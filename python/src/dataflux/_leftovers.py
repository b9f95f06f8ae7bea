"""Leftovers: what killed uploads and reads have left in a bucket, where it is billed."""

from __future__ import annotations

from . import _abi
from ._calls import Call, calling, json_of
from ._library import byref, library, struct
from ._object import time_of
from ._place import nanoseconds, one_of
from ._reports import Leftover, Leftovers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable

    from ._object import Place

_KINDS = {"uploads": _abi.LEFTOVERS_UPLOADS, "composites": _abi.LEFTOVERS_COMPOSITES}


def _kinds_of(kinds):
    if kinds is None:
        return 0
    try:
        given = None if isinstance(kinds, (str, bytes)) else list(kinds)
    except TypeError:
        given = None
    if given is None:
        raise TypeError(f"kinds: names in a list are needed, and not a {type(kinds).__name__}")
    bits = 0
    for kind in given:
        bits |= _KINDS[one_of(kind, "kinds", _KINDS)]
    if not bits:
        raise ValueError("kinds: an empty list asks for nothing; None asks for all")
    return bits


def _options(client, url, kinds, older_than, timeout):
    bucket, prefix = client._prefix_place(url)
    # To the library 0 is "no age given", and what is negative is "of any age".
    age = -1 if older_than == 0 and not isinstance(older_than, bool) else \
        nanoseconds(older_than, "older_than")
    return struct("leftovers_options", bucket=bucket, prefix=prefix, kinds=_kinds_of(kinds),
                  older_than_ns=age, timeout_ns=nanoseconds(timeout))


def _row(known):
    generation = known.get("generation")
    return Leftover(
        kind=known["kind"], verdict=known["verdict"], target=known["target"],
        whole_target=known["whole_target"], name=known["name"], upload_id=known.get("upload_id"),
        generation=None if generation is None else int(generation), size=known.get("size"),
        noncurrent=known.get("noncurrent"), began=time_of(known.get("began")),
        age=known.get("age_seconds"), error=known.get("error"))


def _report(operation, record):
    known = json_of(operation)
    known["rows"] = tuple(_row(row) for row in known["rows"])
    return Leftovers(**{name: known[name] for name in Leftovers.__slots__})


class LeftoverVerbs:
    """What a client does with leftovers."""

    def find_leftovers(self, url: Place, *, kinds: Iterable[str] | None = None,
                       older_than: float | None = None, timeout: float | None = None) -> Leftovers:
        """Finds what killed uploads and reads have left in a bucket. Removes nothing.

        Arguments:
            url: "gs://bucket", or "gs://bucket/prefix" of the names that the uploads were for.
            kinds: which: "uploads" (open ones, and temporary objects of uploads), "composites" (of
                reads; looked for where no prefix is given); None = both.
            older_than: the age from which one is stale, in seconds; 0 = all are. None = composites
                whose own time has passed, and nothing else.
            timeout: seconds for the whole call, with all its retries; None = no limit.

        Raises: NotFoundError where there is no such bucket; PermissionDeniedError.
        """
        options = _options(self, url, kinds, older_than, timeout)
        return self._run(Call(calling("find_leftovers", byref(options)), _report))

    def remove_leftovers(self, url: Place, *, kinds: Iterable[str] | None = None,
                         older_than: float | None = None,
                         timeout: float | None = None) -> Leftovers:
        """Finds them, and removes what is stale.

        An upload that somebody is at work on fails then: choose an age that none takes. One that
        could not be removed is a row with the verdict "failed", and no exception.

        Arguments: as of find_leftovers().
        Raises: NotFoundError where there is no such bucket; PermissionDeniedError.
        """
        options = _options(self, url, kinds, older_than, timeout)
        return self._run(Call(calling("remove_leftovers", byref(options)), _report))
