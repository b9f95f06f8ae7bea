"""AsyncListStream: a listing, batch by batch, for tasks."""

from __future__ import annotations

import ctypes

from ._calls import RECORD_SIZE
from ._errors import PreconditionError
from ._library import Size, byref, library
from ._loops import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict

    from ._list import ListStream
    from ._listing import Listing


class AsyncListStream:
    """Batches of a listing, each a Listing of at most some 65,536 rows, as they arrive: an
    asynchronous iterator.

    The listing goes on while a batch is used, as far as `memory_cap` allows. `async with` closes it;
    so does letting go of it. A failure ends it: each next step fails then, so that a part never
    passes for the whole. One that was cancelled while it waited has lost nothing, and can go on.

    One task at a time takes from it.
    """

    def __init__(self, stream: ListStream) -> None:
        self._stream = stream
        self._busy = False

    def __aiter__(self) -> AsyncListStream:
        return self

    async def __anext__(self) -> Listing:
        stream = self._stream
        if self._busy:
            raise PreconditionError("another task takes from this stream; one at a time does")
        self._busy = True
        try:
            while stream.under_way:
                buffer, number = ctypes.create_string_buffer(RECORD_SIZE), Size()
                status = library.queue_next(stream._queue, buffer, RECORD_SIZE, 1, 0, byref(number))
                if status or number.value:
                    return stream.taken(status, buffer)
                await current().readable(library.queue_fd(stream._queue))
            raise stream.over()
        except StopIteration:
            raise StopAsyncIteration from None
        finally:
            self._busy = False

    @property
    def summary(self) -> Dict[str, Any]:
        """What was done so far: what Listing.summary has, but for prefixes, which the batches have."""
        return self._stream.summary

    def close(self) -> None:
        """Ends it; the next step raises PreconditionError, if batches were still to come. Closing
        again does nothing."""
        self._stream.close()

    async def aclose(self) -> None:
        """The same as close(), which does not wait."""
        self.close()

    async def __aenter__(self) -> AsyncListStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._stream).replace("ListStream", "AsyncListStream", 1)
