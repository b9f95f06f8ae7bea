"""Writer and AsyncWriter: one object, written by a thread, or by a task, while its bytes are being made."""

from __future__ import annotations

import _thread
import sys
from weakref import WeakSet

from . import _abi, _events, _wait
from ._calls import Call, checked, json_of, taker
from ._errors import PreconditionError
from ._forms import awaiting, blocking
from ._handles import ErrorHandle, handle
from ._lent import Lent
from ._library import Size, addressof, byref, filled, library
from ._loops import aside, current
from ._object import Object, known_of
from ._place import count_of, nanoseconds, scheme_of, url_of
from ._threads import all_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

    from ._calls import Caller
    from ._object import Place

WriterHandle = handle("writer")
take_writer = taker("writer", WriterHandle)
_writers = WeakSet()
_STEP = 4 << 20  # bytes that a task copies at a time: a millisecond or two
_ABORT_LIMIT = 5.0  # seconds that a task which is cancelled waits for what was sent to be removed


def opening(bucket, name, attributes, if_generation_match, size_hint, part_size, timeout):
    """The call that opens one: it gives a WriterHandle."""
    options = filled("writer_options", bucket, name, None, None, count_of(size_hint, "size_hint"),
                     count_of(part_size, "part_size"), nanoseconds(timeout))
    if attributes is not None:
        options.attributes = addressof(attributes)
    conditions = None
    if if_generation_match is not None:
        conditions = filled("conditions", _abi.IF_GENERATION_MATCH, 0,
                            count_of(if_generation_match, "if_generation_match"))
        options.conditions = addressof(conditions)
    return Call(lambda client, queue, tag, out, err:
                library.writer_open(client, byref(options), queue, tag, out, err),
                take_writer, (attributes, conditions))


def handled_now():
    """The exception that this thread handles: one that passes through a `with` or a `finally`, or
    was caught by an `except` that has not ended. None where there is none."""
    return sys.exc_info()[1]


class Guard:
    """Says whether an exception passes that did not when the guard was made."""

    __slots__ = ("_before",)

    def __init__(self):
        self._before = handled_now()

    def passing(self):
        now = handled_now()
        before = self._before
        seen = 0
        while before is not None and seen < 100:  # what was handled around it, too
            if before is now:
                return None
            before, seen = before.__context__, seen + 1
        return now


def not_committed(url, why):
    """Tells that a write was discarded where no exception says it."""
    import warnings

    warnings.warn(f"{url} was not committed: {why}; commit() commits whatever is handled",
                  RuntimeWarning, stacklevel=3)


class OfWriter:
    """What a file knows of the writer that it stands on, its `_writer`."""

    _writer: _Body

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return self._writer.url

    @property
    def object(self) -> Object | None:
        """What is known of the object once it is committed, as stat() gives it; None before."""
        return self._writer.object

    @property
    def generation(self) -> int:
        """Of the object once it is committed; 0 before."""
        return self._writer.generation


class Life:
    """What all writers are, while they are open and after it: their state.

    _state   opening, open, broken (it can only be aborted), committed, aborted
    """

    _state = "opening"
    _over = None  # of the file on top of it, a weak reference
    _who = "thread"  # who uses it

    def _of_client(self, client, bucket, name):
        self._of = bucket, name
        self._client = client
        self._why = None
        self._told = False
        self._process = _wait._process
        self._lock = _thread.allocate_lock()  # one at a time uses it

    def _is_open(self):
        self._state = "open"
        _writers.add(self)
        return self

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return url_of(*(text.decode() for text in self._of))

    @property
    def closed(self) -> bool:
        """It is committed or aborted."""
        return self._state in ("committed", "aborted")

    @property
    def forked(self) -> bool:
        """This is a forked child of the process that it belongs to: it can do nothing here."""
        return self._process != _wait._process

    def _usable(self):
        if self.forked:
            raise PreconditionError(f"{self.url}: a writer belongs to the process that opened it, "
                                    "and this is a forked child of it")
        if self.closed:
            raise ValueError(f"{self.url}: the writer is {self._state}")
        if self._state == "broken":
            raise PreconditionError(f"{self.url}: {self._why}, so it cannot be committed")

    def left_open(self, source):
        """Tells once that nobody closed it, where this is its process. `source` is what was left."""
        if not (self._told or self.closed or self.forked):
            import warnings

            self._told = True
            text = f"{self.url} was written and never closed: it is discarded"
            # Python shows no ResourceWarning unless it is asked to, and what was put on top of a file, gzip for
            # one, may have left it open.
            _events.log("warning", text, always=True)
            warnings.warn(text, ResourceWarning, stacklevel=3, source=source)

    def _end(self, state):
        self._state = state
        over = self._over and self._over()
        if over is not None:
            over.ended()
        self._free()
        _writers.discard(self)

    def _entered(self):
        """For a `with`, whose first line is _usable(): another thread may have ended it before this one had it."""
        self._usable()
        return self._taken()

    def _taken(self):
        """For a `with`, which no interrupt comes in front of: that this thread or task alone uses it."""
        if self._lock.locked():
            raise PreconditionError(f"{self.url}: another {self._who} uses the writer; one at a time "
                                    "does")
        return self._lock

    async def _abort(self) -> None:
        """Gives up and removes what was sent: what was there before stays. After a commit, and
        again, it does nothing.

        Raises: an error that names what could not be removed.
        """
        if self.closed or self.forked:
            return
        with self._taken():
            if self.closed:  # by another thread, before this one had it
                return
            try:
                await Call(lambda client, *where: self._aborting(*where))
            finally:
                self._end("aborted")

    def __reduce__(self):
        raise TypeError("a writer belongs to its process, and cannot be pickled")


class _Body(Life):
    """What both writers of an object are: their verbs, each written once."""

    # Of a form: what may come between, and how it waits for room and copies.
    _cut, _patience, _step = "interrupted", -1, 1 << 62

    def _of_client(self, client, bucket, name):
        super()._of_client(client, bucket, name)
        self._position = 0
        self._object = None

    async def _opened(self, call):
        self._writer = await call
        return self._is_open()

    @property
    def object(self) -> Object | None:
        """What is known of the object once it is committed, as stat() gives it; None before."""
        return self._object

    @property
    def generation(self) -> int:
        """Of the object once it is committed; 0 before."""
        return self._object.generation if self._object is not None else 0

    def tell(self) -> int:
        """Bytes that were written so far."""
        return self._position

    def _committed(self, operation, record):
        return Object(known_of(json_of(operation)["object"], scheme_of(self._of[0])))

    def _aborting(self, *where):
        return library.writer_abort(self._writer, *where)

    def spoil(self, why):
        """From now on it never commits."""
        if self._state == "open":
            self._state, self._why = "broken", why

    async def _write(self, buffer: Buffer) -> int:
        """Appends bytes. Waits for room while all of the client's upload_memory is in use.

        Arguments:
            buffer: anything with contiguous memory. It is the caller's again on return.

        Returns: their number, always all of them.
        Raises: what an earlier part has failed with, too. After it, and after a KeyboardInterrupt or
            a cancellation, the writer can only be aborted.
        """
        with self._entered(), Lent(buffer, "buffer") as lent:
            self._usable()
            written, whole, size, number = 0, False, lent.size, Size()
            try:
                while written < size:
                    error, step = ErrorHandle(), min(size - written, self._step)
                    status = library.writer_write(self._writer, lent.address + written, step,
                                                  self._patience, byref(number), byref(error))
                    written += number.value
                    self._position += number.value
                    if status and status != _abi.INTERRUPTED:
                        self._client._checked(status, error)
                    if written < size:
                        await self._room(number.value == step)
                whole = True
                return size
            finally:
                if not whole:
                    self.spoil(f"a write failed or was {self._cut}")

    async def _room(self, there):
        """Between two parts of what is written; waits for room, unless it is there."""

    async def _commit(self) -> Object:
        """Sends the rest, makes the object and verifies it.

        Returns: what stat() gives of it, its generation for one. It is kept as `object`.
        Raises: PreconditionError where somebody has written the object since the writer was opened
            (AlreadyExistsError where if_generation_match is 0); what a part has failed with; PreconditionError
            after a write that failed. Then nothing is committed. What an error says with
            `outcome_unknown` may have been carried out, as a whole; so may one of a task that is
            cancelled.
        """
        with self._entered():
            self._usable()
            end = "aborted"  # it is over, whatever comes of it
            try:
                self._object = await Call(
                    lambda client, queue, tag, out, err:
                        library.writer_commit(self._writer, queue, tag, out, err), self._committed)
                end = "committed"
                return self._object
            finally:
                self._end(end)

    def __repr__(self) -> str:
        return f"<dataflux.{type(self).__name__} {self.url}, {self._position} bytes, {self._state}>"


class Writer(_Body):
    """An object that is being written, in bounded memory (Client's `upload_memory`).

    It appears by commit() alone, whole and verified; until then, and whatever else happens, what was
    there before stays. Leaving its `with` commits; an exception that passes aborts. One that is let
    go of, or open when the interpreter ends, is aborted with a ResourceWarning. Once a call has
    failed, or was interrupted, it never commits.

    Made by Client.writer(). Threads: one at a time uses a writer.
    """

    def __init__(self, client: Caller, url: Place, *, attributes: object = None,
                 if_generation_match: int | None = None, size_hint: int = 0, part_size: int = 0,
                 timeout: float | None = None) -> None:
        bucket, name, _ = client._object_place(url)
        self._open(client, bucket, name, opening(bucket, name, attributes, if_generation_match,
                                                 size_hint, part_size, timeout))

    def _open(self, client, bucket, name, call):
        self._of_client(client, bucket, name)
        client._run(self._opened(call))

    def _free(self):
        self._writer.free()

    def _give_up(self):
        abort_quietly(self)

    write = blocking(_Body._write)
    commit = blocking(_Body._commit)
    abort = blocking(_Body._abort)

    def __enter__(self) -> Self:
        self._usable()
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            abort_quietly(self)
        elif not self.closed:
            commit_or_abort(self)

    def __del__(self):
        if self._state in ("open", "broken") and not self.forked:
            self.left_open(self)
            abort_quietly(self)


class AsyncWriter(_Body):
    """An object that is being written, in bounded memory (the client's `upload_memory`).

    It appears by commit() alone, whole and verified; until then, and whatever else happens, what was
    there before stays. Leaving its `async with` commits; an exception that passes, cancellation for
    one, aborts. One that is let go of is aborted with a ResourceWarning. Once a call has failed, or
    was cancelled, it never commits.

    Made by AsyncClient.writer(), for `async with await client.writer(url) as writer`. One task at a
    time uses it.
    """

    _who, _cut, _patience, _step = "task", "cancelled", 0, _STEP

    def __init__(self, client: Caller, url: Place) -> None:
        bucket, name, _ = client._object_place(url)
        self._of_client(client, bucket, name)

    def _free(self):
        # That of a writer whose last call was cancelled may wait.
        aside(self._writer.moved().free)

    def _give_up(self):
        self._state = "aborted"  # at the interpreter's end no thread would be waited for
        self._writer.free()

    write = awaiting(_Body._write)
    commit = awaiting(_Body._commit)
    abort = awaiting(_Body._abort)

    async def _room(self, there):
        if there:
            await current().turn()  # others have theirs
        else:
            await current().told(self._notify)

    def _notify(self, queue, tag):
        error = ErrorHandle()
        checked(library.writer_notify(self._writer, queue, tag, byref(error)), error)

    async def __aenter__(self) -> Self:
        self._usable()
        return self

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        if self.closed:
            return
        if kind is None:
            await self.commit()
        else:
            await abort_in_task(self, value)

    def __del__(self):
        if self._state in ("open", "broken") and not self.forked:
            self.left_open(self)
            self._end("aborted")


def commit_or_abort(writer):
    """Commits. What fails is removed as far as it can be."""
    try:
        return writer.commit()
    except BaseException:
        abort_quietly(writer)
        raise


def abort_quietly(writer):
    """Aborts where another exception says what went wrong, or nobody is there to hear of it: what
    could not be removed is what find_leftovers() finds."""
    try:
        writer.abort()
    except Exception:
        pass


async def abort_in_task(writer, why):
    """Aborts where an exception, `why`, says what went wrong: what could not be removed is what
    find_leftovers() finds."""
    try:
        if not isinstance(why, GeneratorExit):  # a coroutine that is being closed cannot wait
            await current().shielded(writer.abort, _ABORT_LIMIT)
    except Exception:
        pass
    finally:
        # Or there is no event loop any more. What another task still uses, that one ends.
        if not (writer.closed or writer.forked or writer._lock.locked()):
            writer._end("aborted")


def _at_exit():
    for writer in all_of(_writers):
        if not writer.forked and not writer.closed:
            writer.left_open(writer)
            writer._give_up()


def _register():
    import atexit

    atexit.register(_at_exit)


_register()
