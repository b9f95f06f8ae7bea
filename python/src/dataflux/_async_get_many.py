"""AsyncGetMany: very many objects, read through one window, for tasks."""

from __future__ import annotations

from collections import deque

from ._errors import PreconditionError
from ._loops import aside, current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ._get_many import GetMany
    from ._items import Item

_AGAIN = 0.1  # seconds until an iterable that had nothing to ask for is gone on with


class _Items:
    """The items of batches. A generator would end after the first failure, as if that were all."""

    def __init__(self, batches):
        self._batches = batches
        self._ready = deque()

    def __aiter__(self):
        return self

    async def __anext__(self):
        while not self._ready:
            self._ready.extend(await self._batches.__anext__())
        return self._ready.popleft()


class AsyncGetMany:
    """The items of many requests, as an asynchronous iterator of batches: lists of Item, of whatever
    is there.

    Reads go ahead of the consumer within the client's `memory_cap`. What the consumer has does not
    count: it is his until the last view of it is gone. `async with` ends what is under way; so does
    letting go of it. A failure ends it, too, and until then every next step fails as well, so that a
    part never passes for the whole. One that was cancelled while it waited has lost nothing, and can go on.

    One task at a time takes from it. In a forked child it is PreconditionError.
    """

    def __init__(self, stream: GetMany) -> None:
        self._stream = stream
        self._busy = False

    @property
    def omitted(self) -> int:
        """How many requests have failed and were left out, with on_error="omit"."""
        return self._stream.omitted

    def __aiter__(self) -> AsyncGetMany:
        return self

    async def __anext__(self) -> list[Item]:
        stream = self._stream
        if self._busy:
            raise PreconditionError("another task takes from these reads; one at a time does")
        self._busy = True
        try:
            while not stream.ended:
                items = stream.taken()
                if items:
                    return items
                if stream.idle:
                    await current().turn(_AGAIN)
                elif not stream.ended:
                    await current().readable(stream.fd)
            raise stream.why()
        except StopIteration:
            raise StopAsyncIteration from None
        finally:
            self._busy = False

    def items(self) -> AsyncIterator[Item]:
        """All items, one by one. Tasks and failures are as for batches."""
        return _Items(self)

    def close(self) -> None:
        """Ends what is under way; no more batches come, nor what it has failed with. Again it does
        nothing."""
        if self._stream.ended:
            self._stream.close()
        else:
            aside(self._stream.close)  # that waits for milliseconds

    async def aclose(self) -> None:
        """The same as close(), which does not wait."""
        self.close()

    async def __aenter__(self) -> AsyncGetMany:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._stream).replace("GetMany", "AsyncGetMany", 1)

    def __del__(self) -> None:
        # Here, for milliseconds, and not on another thread: of a cycle that is collected what that one
        # would use is freed meanwhile.
        if aside is not None and not self._stream.ended:  # the interpreter takes modules apart
            self._stream.close()

    def __reduce__(self):
        raise TypeError("reads that are under way belong to their process, and cannot be pickled")
