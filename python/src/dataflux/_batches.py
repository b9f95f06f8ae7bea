"""Batches: what tasks have of a stream, of a listing or of many reads, whose batches threads take."""

from __future__ import annotations

from ._errors import PreconditionError
from ._loops import current

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

_AGAIN = 0.1  # seconds until an iterable that had nothing to ask for is gone on with


class Batches:
    """An asynchronous iterator of the batches of `_stream`, which has: ended, taken() without a wait, fd to
    wait for, and why(), what is raised at its end."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._busy = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        stream = self._stream
        if self._busy:
            raise PreconditionError("another task takes from this stream; one at a time does")
        self._busy = True
        try:
            while not stream.ended:
                batch = stream.taken()
                if batch is not None:
                    return batch
                if getattr(stream, "idle", False):
                    await current().turn(_AGAIN)
                elif not stream.ended:
                    await current().readable(stream.fd)
            raise stream.why()
        except StopIteration:
            raise StopAsyncIteration from None
        finally:
            self._busy = False

    def close(self) -> None:
        """Ends it; the next step raises PreconditionError, if batches were still to come. Closing
        again does nothing."""
        self._stream.close()

    async def aclose(self) -> None:
        """The same as close(), which does not wait."""
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        name = type(self).__name__
        return repr(self._stream).replace(name[len("Async"):], name, 1)
