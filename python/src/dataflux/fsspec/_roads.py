"""What the filesystem's verbs await, each of which is written once, as a body: on Blocking it is run by a
thread, on Awaiting it is a coroutine of the caller's event loop."""

from __future__ import annotations

from .._aio import AsyncClient
from .._client import Client, Verbs
from .._errors import Error
from .._loops import current
from .._wait import run_all

_LIMITED = frozenset(("stat", "exists", "delete", "copy", "move", "compose", "patch", "bucket",
                      "buckets", "list"))
AT_ONCE = 64  # calls of one verb for many objects
STEP = 8 << 20  # bytes that go into a file of somebody else's at a time


class Road:
    """
    client   of its kind, made when it is first used, in a forked child again by itself
    scheme   of its service
    limit    seconds for a call that carries no bytes; None = no limit
    """

    kind = Client

    def __init__(self, options, limit=None):
        self.client = self.kind(**options)
        self.scheme = self.client._scheme
        self._verbs = Verbs()
        self._verbs._scheme = self.scheme
        self.limit = limit

    def work(self, verb, *arguments, **how):
        """The call or the body of a client's verb, with the limit that it has here."""
        if self.limit is not None and verb in _LIMITED:
            how.setdefault("timeout", self.limit)
        return getattr(self._verbs, verb)(*arguments, **how)

    def works_of(self, verb, arguments):
        """A call or a body for each of the arguments, (tuple, dict), made when it is asked for."""
        for positional, named in arguments:
            yield self.work(verb, *positional, **named)


class Blocking(Road):
    """For threads: a body on it is run by client._run()."""

    call = Road.work

    async def aside(self, function, *arguments):
        """What blocks, and is no call of the client."""
        return function(*arguments)

    async def write(self, place, data, **how):
        """Writes an object part by part."""
        with self.client.writer(place, **how) as writer:
            writer.write(data)

    async def read_out(self, place, generation, begun, take):
        """Reads an object from its beginning to its end: begun(size), take(bytes)."""
        with self.client.reader(place, generation=generation) as reader:
            begun(reader.size)
            for offset in range(0, reader.size, STEP):
                take(reader.read_at(offset, STEP))

    async def read(self, requests, on_error, take):
        """Reads many objects of one bucket, in whatever order they come: take(item)."""
        with self.client.get_many(requests, order="ready", on_error=on_error) as batches:
            for batch in batches:
                for item in batch:
                    take(item)

    async def each(self, verb, arguments, tell=None, at_once=AT_ONCE):
        """Runs a verb for each of the arguments, many at a time, and gives what each has ended with:
        its value, or the Error. tell(number, outcome) as they end."""
        return run_all(self.client, self.works_of(verb, arguments), len(arguments), tell, at_once)


class Awaiting(Road):
    """For tasks of any event loop."""

    kind = AsyncClient

    async def _ready(self):
        if self.client._opened is None:
            await current().in_thread(self.client._handle)
        return self.client

    async def call(self, verb, *arguments, **how):
        return await self.client._run(self.work(verb, *arguments, **how))

    async def aside(self, function, *arguments):
        return await current().in_thread(function, *arguments)

    async def write(self, place, data, **how):
        async with await self.client.writer(place, **how) as writer:
            await writer.write(data)

    async def read_out(self, place, generation, begun, take):
        async with await self.client.reader(place, generation=generation) as reader:
            begun(reader.size)
            for offset in range(0, reader.size, STEP):
                take(await reader.read_at(offset, STEP))

    async def read(self, requests, on_error, take):
        client = await self._ready()
        async with client.get_many(requests, order="ready", on_error=on_error) as batches:
            async for batch in batches:
                for item in batch:
                    take(item)

    async def each(self, verb, arguments, tell=None, at_once=AT_ONCE):
        from asyncio import ensure_future, gather

        numbered = enumerate(self.works_of(verb, arguments))
        outcomes = [None] * len(arguments)

        async def some():
            for number, work in numbered:
                try:
                    outcome = await self.client._run(work)
                except Error as error:
                    outcome = error.with_traceback(None)  # that has this frame
                outcomes[number] = outcome
                if tell is not None:
                    tell(number, outcome)

        tasks = [ensure_future(some()) for _ in range(min(at_once, len(arguments)))]
        try:
            await gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await gather(*tasks, return_exceptions=True)
        return outcomes
