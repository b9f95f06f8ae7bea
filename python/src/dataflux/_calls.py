"""A call of the library: how it is begun, and what its end gives.

What takes several calls is a body: a coroutine, written once, that awaits them. Two drivers run calls
and bodies: that of threads (_wait.py) for Client, that of event loops (_loops.py) for AsyncClient.
"""

from __future__ import annotations

from ctypes import c_uint64
from struct import calcsize

from . import _abi, _errors
from ._handles import ErrorHandle, OperationHandle
from ._library import Pointer, byref, library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Caller(Protocol):
        """What makes calls: a Client or an AsyncClient, for those that both of them make."""

        _under_way: dict[int, Any]

        def _handle(self) -> Any: ...
        def _handle_for_stream(self, queue: Any) -> Any: ...
        def _checked(self, status: int, error: Any) -> None: ...
        def _run(self, work: Any, progress: Any = None, told: Any = None) -> Any: ...

# A dataflux_record, as the struct module reads it; pointers are numbers.
RECORD = "".join(letter for _, letter in _abi.STRUCTS["record"]).replace("P", "Q")
RECORD_SIZE = calcsize(RECORD)
TAG, INDEX, DATA, SIZE, SLAB, GENERATION, CRC32C, STATUS, FLAGS, ERROR = range(10)


class Call:
    """One call, to be begun once.

    begin   begin(client, queue, tag, out, err) -> status: calls the function of the ABI; see calling()
    finish  finish(operation, record) -> the value; None gives None
    lent    memory that the call uses until its operation is free
    watch   (progress, (verb, bucket, name)): who is told how far it is, and of what; None = nobody

    What the record lends, it lends until `finish` has returned.
    """

    __slots__ = ("begin", "finish", "lent", "watch", "begun")

    def __init__(self, begin, finish=None, lent=None):
        self.begin = begin
        self.finish = finish
        self.lent = lent
        self.watch = None
        self.begun = False

    def __await__(self):
        return (yield self)  # to the driver, which sends the value

    def start(self, client, queue, tag, operation):
        """Begins it; `operation` is an empty OperationHandle. Raises what the call says at once. One
        thread at a time uses the queue for it."""
        self.begun = True
        error = queue.error
        if self.begin(client, queue, tag, byref(operation), byref(error)):
            raise _errors.taken(error)

    def value(self, operation, record):
        return None if self.finish is None else self.finish(operation, record)

    def ended(self):
        """Lets go of what was lent, once the operation is free: a traceback that somebody keeps must
        not keep it."""
        release = getattr(self.lent, "release", None)
        if release is not None:
            release()
        self.lent = None

    def left(self):
        """An exception has come out of whatever was to make it. Where it was never begun, nobody else
        lets go of what was lent."""
        if not self.begun:
            self.ended()


def calling(name, *arguments):
    """For `begin`: calls a function that takes a client, those arguments, and where the call goes."""
    def begin(client, queue, tag, out, err):
        return getattr(library, name)(client, *arguments, queue, tag, out, err)

    return begin


def watched(call, progress, verb, bucket, name):
    """The call; `progress`, where it is wanted, is told how far it is."""
    if progress is not None and progress is not False:
        call.watch = progress, (verb, bucket, name)
    return call


def failure(queue, record):
    """The exception of a record whose status is not OK."""
    error = ErrorHandle(library.queue_error(queue, record[ERROR])) if record[ERROR] else None
    if error:
        made, tokens = _errors.taken(error), getattr(queue, "tokens", None)
        if tokens is not None:
            tokens.explain(made)
        return made
    name = library.status_name(record[STATUS]).decode()
    return _errors.of_status(name, f"the call failed: {name}")


def forget(client, bucket, name, generation):
    """Bytes of an object are damaged, as somebody has found: a cache of the client's gives none of it again that
    was not compared when it came. It never fails, since something else has: a client that is closed forgets
    nothing."""
    error = ErrorHandle()
    try:
        if library.client_forget(client._handle(), bucket, name, generation, byref(error)):
            _errors.taken(error)
    except _errors.Error:
        pass


def checked(status, error):
    """Raises what `error`, an ErrorHandle, says where the status is not OK."""
    if status:
        raise _errors.taken(error)


def json_bytes(operation):
    """The JSON that an operation gives, as bytes."""
    text, error = Pointer(), ErrorHandle()
    checked(library.operation_json(operation, byref(text), byref(error)), error)
    import ctypes

    return ctypes.string_at(text.value)


def json_of(operation):
    """The JSON that an operation gives, as a dict."""
    import json

    return json.loads(json_bytes(operation))


def taker(what, kind):
    """For `finish`: takes the handle that an operation has made, by
    dataflux_operation_take_<what>(), into a new `kind`."""

    function = "operation_take_" + what

    def take(operation, record):
        made, error = kind(), ErrorHandle()
        checked(getattr(library, function)(operation, byref(made), byref(error)), error)
        return made

    return take


def returned(record):
    """Gives back what a record has lent."""
    if record is not None and record[SLAB]:
        library.slabs_release(byref(c_uint64(record[SLAB])), 1)


INTERRUPTED = _abi.INTERRUPTED
new_operation = OperationHandle
