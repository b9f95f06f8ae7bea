"""AsyncWriter: one object, written by a task while its bytes are being made."""

from __future__ import annotations

from ._calls import checked
from ._errors import PreconditionError
from ._handles import ErrorHandle
from ._lent import Lent
from ._library import Size, byref, library
from ._loops import aside, current
from ._place import object_place
from ._writer import Writing, _writers, aborting, committing, opening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

    from ._aio import AsyncClient
    from ._object import Object, Place

_STEP = 4 << 20  # bytes that are copied at a time: a millisecond or two
_ABORT_LIMIT = 5.0  # seconds that a task which is cancelled waits for what was sent to be removed


class AsyncWriter(Writing):
    """An object that is being written, in bounded memory (the client's `upload_memory`).

    It appears by commit() alone, whole and verified; until then, and whatever else happens, what was
    there before stays. Leaving its `async with` commits; an exception that passes, cancellation for
    one, aborts. One that is let go of is aborted with a ResourceWarning. Once a call has failed, or
    was cancelled, it never commits.

    Made by AsyncClient.writer(), for `async with await client.writer(url) as writer`. One task at a
    time uses it.
    """

    def __init__(self, client: AsyncClient, url: Place) -> None:
        bucket, name, _ = object_place(url)
        self._of_client(client, bucket, name)
        self._busy = False

    async def _open(self, attributes, if_generation_match, size_hint, part_size, timeout):
        return await self._opened(opening(*self._of, attributes, if_generation_match, size_hint,
                                          part_size, timeout))

    async def _opened(self, call):
        self._writer = await self._client._run(call)
        self._state = "open"
        _writers.add(self)
        return self

    def _give_up(self):
        self._state = "aborted"  # at the interpreter's end no thread would be waited for
        self._writer.free()

    def _enter(self):
        self._usable()
        self._take()

    def _take(self):
        if self._busy:
            raise PreconditionError(f"{self.url}: another task uses the writer; one at a time does")
        self._busy = True

    async def write(self, buffer: Buffer) -> int:
        """Appends bytes. Waits for room while all of the client's upload_memory is in use.

        Arguments:
            buffer: anything with contiguous memory. It is the caller's again on return.

        Returns: their number, always all of them.
        Raises: what an earlier part has failed with, too. After it, and when it was cancelled, the
            writer can only be aborted.
        """
        self._enter()
        try:
            with Lent(buffer, "buffer") as lent:
                await self._append(lent)
                return lent.size
        finally:
            self._busy = False

    async def _append(self, lent):
        written, size, number = 0, lent.size, Size()
        whole = False
        try:
            loop = current()
            while written < size:
                step = min(size - written, _STEP)
                error = ErrorHandle()
                status = library.writer_write(self._writer, lent.address + written, step, 0,
                                              byref(number), byref(error))
                written += number.value
                self._position += number.value
                self._client._checked(status, error)
                if number.value < step:
                    await loop.told(self._notify)
                elif written < size:
                    await loop.turn()  # others have theirs
            whole = True
        finally:
            if not whole:
                self.spoil("a write failed or was cancelled")

    def _notify(self, queue, tag):
        error = ErrorHandle()
        checked(library.writer_notify(self._writer, queue, tag, byref(error)), error)

    async def commit(self) -> Object:
        """Sends the rest, makes the object and verifies it.

        Returns: what stat() gives of it, its generation for one. It is kept as `object`.
        Raises: PreconditionError where somebody has written the object since the writer was opened
            (AlreadyExistsError where if_generation_match is 0); what a part has failed with; PreconditionError
            after a write that failed. Then nothing is committed. What an error says with
            `outcome_unknown` may have been carried out, as a whole; so may one that is cancelled.
        """
        self._enter()
        end = "aborted"  # it is over, whatever comes of it
        try:
            self._object = await self._client._run(committing(self._writer, self._committed))
            end = "committed"
            return self._object
        finally:
            self._busy = False
            self._end(end)

    async def abort(self) -> None:
        """Gives up and removes what was sent: what was there before stays. After a commit, and
        again, it does nothing.

        Raises: an error that names what could not be removed.
        """
        if self.closed or self.forked:
            return
        self._take()
        try:
            await self._client._run(aborting(self._writer))
        finally:
            self._busy = False
            self._end("aborted")

    def _end(self, state):
        self._state = state
        # That of a writer whose last call was cancelled may wait.
        aside(self._writer.moved().free)

    async def __aenter__(self) -> Self:
        self._usable()
        return self

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        if self.closed:
            return
        if kind is None:
            await self.commit()
        else:
            await abort_quietly(self, value)

    def __del__(self):
        if self._state in ("open", "broken") and not self.forked:
            self.left_open(self)
            self._end("aborted")


async def abort_quietly(writer, why):
    """Aborts where an exception, `why`, says what went wrong: what could not be removed is what
    find_leftovers() finds."""
    try:
        if not isinstance(why, GeneratorExit):  # a coroutine that is being closed cannot wait
            await current().shielded(writer.abort, _ABORT_LIMIT)
    except Exception:
        pass
    finally:
        # Or there is no event loop any more. What another task still uses, that one ends.
        if not (writer.closed or writer.forked or writer._busy):
            writer._end("aborted")
