"""What goes wrong, as exceptions. Each has the fields of the library's error; those that the
standard library has a name for are of that kind, too, so that a program written for files goes on."""

from __future__ import annotations

import errno as _errno
import sys

from ._place import BucketInAis, BucketInS3, named, url_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FIELDS = ("status", "message", "verb", "bucket", "object", "reason", "request_id", "generation",
           "http_status", "attempts", "retryable", "outcome_unknown", "retry_after", "report",
           "path")


class Error(Exception):
    """A call that failed. Its text says what failed, why, and what to do.

    status           such as "not_found"; "unknown" where it was made of a text alone
    message          what went wrong, without where
    verb             such as "objects.get"; "" before a request
    bucket, object   of what; "" where it is of none
    reason           the service's own word for it, such as "notFound"
    request_id       for the service's support
    generation       of the object; 0 = not known
    http_status      of the last answer; 0 = there was none
    attempts         requests that were sent
    retryable        the same call may succeed later without any change
    outcome_unknown  an attempt may have been carried out, whatever the last answer says
    retry_after      seconds that the service asked to wait; 0 = it did not
    report           of a call for many names: what it has done, with all failures; else None
    path             of a failure in such a report: the file here, as os.fsdecode() gives it; else ""

    It pickles whole, and so does a class of yours that derives from it, however that is made. An error
    of a DataLoader's worker has what are texts and numbers; other programs that carry errors between
    processes by their texts make it again of that alone.
    """

    status: str = "unknown"
    message: str = ""
    verb: str = ""
    bucket: str = ""
    object: str = ""
    reason: str = ""
    request_id: str = ""
    generation: int = 0
    http_status: int = 0
    attempts: int = 0
    retryable: bool = False
    outcome_unknown: bool = False
    retry_after: float = 0.0
    report: Any = None
    path: str = ""
    _errno: int | None = None

    def __init__(self, text: str = "", **fields: Any) -> None:
        text = text or fields.get("message", "")
        super().__init__(text)
        self.args = (text,)
        self.message = text
        self._text = text
        for name, value in fields.items():
            if name not in _FIELDS:
                raise TypeError(f"Error() has no field {name!r}")
            setattr(self, name, value)
        if self._errno is not None:
            # OSError's own; its errno and filename are no fields of what is none.
            vars_of: Any = self
            vars_of.errno = self._errno
            vars_of.strerror = self.message
            vars_of.filename = self.url or self.path or None

    @property
    def url(self) -> str:
        """Of what it is: "gs://bucket/object", "s3://bucket/object", or ""."""
        return url_of(self.bucket, self.object) if self.bucket else ""

    def __str__(self) -> str:
        # A program's own kind may never have called __init__ of this one.
        return self._text if "_text" in vars(self) else super().__str__()

    def __reduce__(self) -> Any:
        kept = dict(vars(self))
        text = kept.pop("_text", str(self))
        fields = {name: kept.pop(name) for name in _FIELDS if name in kept}
        # What is left are notes, and what a program has put to it.
        return _again, (_plain(type(self)), text, fields), kept or None


def _again(kind: Any, text: str, own: dict[str, Any]) -> Any:
    made = Error.__new__(kind, text)
    # Not by the kind itself, for a program's own may be made of something else.
    Error.__init__(made, text, **{name: value for name, value in own.items() if name in _FIELDS})
    vars(made).update(own)
    return made


class _Carrying(type):
    """The class of one exception of a DataLoader's worker. torch carries classes and texts to the process
    that waits, and no exceptions; the pickle of this class has the fields, too."""

    _of: dict[str, Any]


def _new(kind, *given, **fields):
    info = getattr(sys.modules.get("torch.utils.data"), "get_worker_info", None)
    if info is None or info() is None:
        return super(Error, kind).__new__(kind, *given)
    copyreg = sys.modules["copyreg"]  # which torch, as all that pickles, has imported
    copyreg.pickle(_Carrying, _carried)
    kind = _plain(kind)
    kind = _Carrying(kind.__name__, (kind,), {"__module__": kind.__module__, "__qualname__": kind.__qualname__})
    made = super(Error, kind).__new__(kind, *given)
    kind._of = vars(made)
    return made


setattr(Error, "__new__", staticmethod(_new))  # so that type checkers look at __init__


def _plain(kind):
    return kind.__bases__[0] if isinstance(kind, _Carrying) else kind


def _carried(kind):
    return _Carried, (_plain(kind), {name: value for name, value in kind._of.items()
                                     if name != "_text" and type(value) in (str, int, float, bool, BucketInS3, BucketInAis)})


class _Carried:
    """What torch calls with the text that it has made, in the process that waits."""

    def __init__(self, kind: Any, fields: dict[str, Any]) -> None:
        self.__name__ = kind.__name__
        self._kind, self._fields = kind, fields

    def __call__(self, text: str) -> Any:
        return _again(self._kind, text, self._fields)


class NotFoundError(Error, FileNotFoundError):
    """There is no such object, generation or bucket."""
    status = "not_found"
    _errno = _errno.ENOENT


class AlreadyExistsError(Error, FileExistsError):
    """What was to be created is there already."""
    status = "already_exists"
    _errno = _errno.EEXIST


class PermissionDeniedError(Error, PermissionError):
    """The credentials do not permit it, or are none."""
    status = "permission_denied"
    _errno = _errno.EACCES


class UnauthenticatedError(PermissionDeniedError):
    """There are no credentials, or the service refuses them."""
    status = "unauthenticated"


class DeadlineError(Error, TimeoutError):
    """The call's `timeout` has passed."""
    status = "deadline_exceeded"
    _errno = _errno.ETIMEDOUT


class InvalidArgumentError(Error, ValueError):
    """What was asked for cannot be, whoever is asked."""
    status = "invalid_argument"


class PreconditionError(Error):
    """A condition on a generation did not hold, or the call does not fit the state of things."""
    status = "failed_precondition"


class DataLossError(Error):
    """Bytes are not those that were written: a checksum differs, or something is missing."""
    status = "data_loss"


class ResourceExhaustedError(Error):
    """Memory, descriptors or quota do not suffice."""
    status = "resource_exhausted"


class UnavailableError(Error, ConnectionError):
    """The network, or the service, cannot serve now. The library has tried as often as it may."""
    status = "unavailable"
    _errno = _errno.EIO


class CancelledError(Error):
    """The call was cancelled, or its client closed. It is none of asyncio's, which means that the
    caller's own task is to end."""
    status = "cancelled"


KINDS = {kind.status: kind for kind in (
    NotFoundError, AlreadyExistsError, PermissionDeniedError, DeadlineError, InvalidArgumentError,
    UnauthenticatedError, UnavailableError, PreconditionError, DataLossError,
    ResourceExhaustedError, CancelledError)}


def of_status(status, text, **fields):
    """The exception for a status by its name."""
    kind = KINDS.get(status)
    if kind is None:
        kind, fields = Error, {"status": status, **fields}
    elif kind.status != status:
        fields["status"] = status
    return kind(text, **fields)


def again(error):
    """The same failure for somebody else: an Error, or another exception that is copied as it is. Each
    who is told one gets his own. A traceback has the frames of who was told, and of what those have."""
    from copy import copy

    try:
        made = copy(error)
    except Exception:  # its class is called with others than its args
        made = type(error).__new__(type(error), *error.args)
        made.__dict__.update(error.__dict__)
    made.__cause__ = error.__cause__
    return made


_CAUSES = 8  # of causes, that are kept


def kept(error):
    """The same failure for who keeps it: without frames, also of what it was raised from. They have those that
    waited for them, from Python 3.12 on beyond generators, too, and so whoever keeps it: a cycle."""
    made = last = again(error)
    for _ in range(_CAUSES):
        if last.__cause__ is None:
            return made
        cause = last.__cause__ = again(last.__cause__)
        last = cause
    last.__cause__ = None  # some lead to each other
    return made


def after(why, text):
    """What makes an exception for everybody who asks after the one to whom `why` went: the same failure
    of an Error, else a PreconditionError of that text."""
    if isinstance(why, Error):
        mine = kept(why)
        return lambda: again(mine)
    return lambda: PreconditionError(text)


# Fields of an Error, each with the library's function that gives it: names made for each error would
# fill Python's cache of attributes.
_TEXTS = tuple((name, "error_" + name) for name in
               ("message", "verb", "bucket", "object", "reason", "request_id"))
_NUMBERS = tuple((name, "error_" + name) for name in ("generation", "http_status", "attempts"))


def taken(error):
    """The exception that an ErrorHandle says, which is freed."""
    from ._library import library

    if not error:
        return Error("the library failed and did not say why: memory may be short")
    fields = {}
    for name, function in _TEXTS:
        fields[name] = getattr(library, function)(error).decode("utf-8", "replace")
    for name, function in _NUMBERS:
        fields[name] = getattr(library, function)(error)
    fields["bucket"] = named(fields["bucket"], library.error_scheme(error).decode())
    fields["retryable"] = library.error_retryable(error) != 0
    fields["outcome_unknown"] = library.error_outcome_unknown(error) != 0
    fields["retry_after"] = library.error_retry_after_ns(error) / 1e9
    status = library.status_name(library.error_status(error)).decode()
    text = library.error_text(error).decode("utf-8", "replace")
    error.free()
    return of_status(status, advised(text, status, fields["http_status"]), **fields)


def advised(text, status, http_status=0):
    """The text of a failure, and what to do, in Python's names. Of all else the library says it."""
    if status == "unavailable" and http_status:
        late = "no time for another attempt" in text
        return text + "; try again later, or allow more " + ("time (timeout)" if late else
                                                             "attempts (max_attempts)")
    if status == "deadline_exceeded" and "timeout" in text:
        return text + "; allow more time (timeout)"
    if status == "data_loss" and " in objects.media of " in text:
        return text + "; read it again, and where it stays so write the object anew"
    return text
