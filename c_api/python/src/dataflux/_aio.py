"""AsyncClient: the verbs of Client for asyncio, uvloop and trio."""

from __future__ import annotations

from ._client import Client, Core
from ._loops import current


class AsyncClient(Core, *Client.__bases__[1:]):
    """A client of Google Cloud Storage for programs with an event loop: of asyncio, of uvloop, of
    trio, and so of anyio. It has Client's methods and their arguments; each gives a coroutine.

        async with dataflux.AsyncClient() as client:
            known = await client.stat("gs://bucket/name")

    Nothing is begun before the coroutine is awaited, or made a task of. Cancelling the task cancels
    the call. What was lent memory, such as read_into(), ends when the memory is in use no more,
    which takes milliseconds; other calls end at once.

    Any number of event loops, on any threads, use one client. The options are those of Client. A
    pickle carries them, and a forked child has a client of its own.
    """

    async def _run(self, call, progress=None, told=None):
        return await current().run(self, call)

    async def aclose(self) -> None:
        """Ends what is under way, in all event loops, with CancelledError; and waits for the end of
        calls of this event loop that were cancelled. Closing again does nothing."""
        self.close()
        await current().all_ended(self)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
