"""How a verb waits. Each verb is written once, as a coroutine that awaits what its road gives: that
of Blocking is there at once, so such a coroutine never stops, and is run to its end by driven(); that
of Awaiting comes by the caller's event loop."""

from __future__ import annotations

from .._aio import AsyncClient
from .._client import Client
from .._errors import Error
from .._loops import current
from .._wait import run_all

_LIMITED = frozenset(("stat", "exists", "delete", "copy", "move", "compose", "patch", "bucket",
                      "buckets", "list"))
AT_ONCE = 64  # calls of one verb for many objects
STEP = 8 << 20  # bytes that go into a file of somebody else's at a time


def driven(coroutine):
    """Runs a coroutine that never stops, and gives what it returns."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    finally:
        coroutine.close()
    raise RuntimeError("a verb has waited for an event loop, and was called without one")


class _Works(*Client.__bases__[1:]):
    """The verbs of a client, which give the call, or the body, instead of running it."""

    def _run(self, work, progress=None, told=None):
        return work


works = _Works()


class Road:
    """
    client   of its kind, made when it is first used, in a forked child again by itself
    limit    seconds for a call that carries no bytes; None = no limit
    """

    kind = Client

    def __init__(self, options, limit=None):
        self.client = self.kind(**options)
        self.limit = limit

    def _limited(self, verb, how):
        if self.limit is not None and verb in _LIMITED:
            how.setdefault("timeout", self.limit)

    def works_of(self, verb, arguments):
        """A call or a body for each of the arguments, (tuple, dict), made when it is asked for."""
        make = getattr(works, verb)
        for positional, named in arguments:
            named = dict(named)
            self._limited(verb, named)
            yield make(*positional, **named)


class Blocking(Road):
    """For threads."""

    async def call(self, verb, *arguments, **how):
        """A verb of the client."""
        self._limited(verb, how)
        return getattr(self.client, verb)(*arguments, **how)

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
        self._limited(verb, how)
        return await getattr(self.client, verb)(*arguments, **how)

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
