"""AsyncClient: the verbs of Client for asyncio, uvloop and trio."""

from __future__ import annotations

from functools import wraps

from ._async_files import AsyncFileVerbs
from ._calls import Call, watched
from ._client import Core, Verbs, named_init
from ._driver import alone
from ._driver import awaited as run_body
from ._errors import UnauthenticatedError
from ._verbs_list import ListStream, list_options
from ._loops import current
from ._manifest import opening_manifest
from ._sets import opening_latest, with_warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import EllipsisType
    from typing import Literal

    from typing_extensions import Unpack

    from ._attributes import Attributes
    from ._get_many import AsyncGetMany
    from ._verbs_list import AsyncListStream
    from ._manifest import AsyncManifest
    from ._reader import AsyncReader
    from ._sets import AsyncCheckpointSet, AsyncSetReader
    from ._writer import AsyncWriter
    from ._items import Request
    from ._listing import Listing, RowFeed, Rows
    from ._shard_writer import AsyncShardWriter
    from ._shards import AsyncGetSamples, Numbers, ShardIndex
    from ._manifest import Target
    from ._object import Place
    from ._progress import Progress


class AsyncClient(Core, AsyncFileVerbs, Verbs):
    """A client of Google Cloud Storage for programs with an event loop: of asyncio, of uvloop, of
    trio, and so of anyio. It has Client's methods and their arguments; each gives a coroutine, but
    list_batches(), get_many() and get_samples() asynchronous iterators, and checkpoint_set() what sends
    nothing.

        async with dataflux.AsyncClient() as client:
            known = await client.stat("gs://bucket/name")

    Nothing is begun before the coroutine is awaited, or made a task of: a bad argument is told then,
    too. list_batches(), get_many() and get_samples() tell it at once. Cancelling the task cancels
    the call. What was lent memory, such as read_into(), ends when the memory is in use no more,
    which takes milliseconds; other calls end at once.

    Any number of event loops, on any threads, use one client. The options are those of Client. A
    pickle carries them, and a forked child has a client of its own.
    """

    _plain = ("metrics", "prometheus")  # they do not wait

    def _run(self, work, progress=None, told=None):
        """A coroutine that makes a call, or runs a body, and gives what comes of it."""
        if told is not None:
            watched(work, progress, *told)
        return run_body(self._made, alone(work) if isinstance(work, Call) else work)

    def _made(self, call):
        """Makes a call: what a task awaits."""
        if self._opened is not None and self._options.source is None:
            return current().run(self, call)  # each coroutine around another costs
        return self._made_with_tokens(call)

    async def _made_with_tokens(self, call):
        loop = current()
        if self._opened is None:
            await loop.in_thread(self._handle)
        if self._options.source is None:
            return await loop.run(self, call)
        handle = self._handle()
        tokens = self._tokens()
        if tokens is not None and tokens.lacking():
            await loop.in_thread(tokens.again, handle)
        try:
            return await loop.run(self, call)
        except UnauthenticatedError as error:
            if tokens is not None:
                tokens.explain(error)
            raise

    async def reader(self, url: Place, *, generation: int = 0, block: int = 0, cache: int = 0,
                     timeout: float | None = None) -> AsyncReader:
        """Opens an object to be read from anywhere in it. That is one request; each read is more.

            async with await client.reader("gs://bucket/name") as reader:
                head = await reader.read_at(0, 512)

        Arguments, Raises: as of Client.reader().
        """
        from ._reader import AsyncReader

        made = AsyncReader(self, url, generation, block, cache, timeout)
        await self._run(made._opened())
        return made

    async def writer(self, url: Place, *, if_generation_match: int | None = None, size_hint: int = 0,
                     part_size: int = 0, timeout: float | None = None,
                     **how: Unpack[Attributes]) -> AsyncWriter:
        """Opens an object to be written while its bytes are being made.

            async with await client.writer("gs://bucket/name") as writer:
                await writer.write(b"bytes")

        Arguments, Raises: as of Client.writer().
        """
        from ._attributes import ATTRIBUTES, attributes, taken
        from ._writer import AsyncWriter, opening

        taken(how, "writer", ATTRIBUTES)
        made = AsyncWriter(self, url)
        return await self._run(made._opened(opening(
            *made._of, attributes(**how), if_generation_match, size_hint, part_size, timeout)))

    async def shard_writer(self, url: Place, *, count: int = 0, bytes: int = 0, first: int = 0,
                           rank: int = 0, ranks: int = 1, resume: bool = False) -> AsyncShardWriter:
        """Opens a writer of tar shards.

            async with await client.shard_writer("gs://bucket/%06d.tar", count=10_000) as shards:
                await shards.write({"__key__": "0001", "jpg": image})

        Arguments, Raises: as of Client.shard_writer().
        """
        from ._shard_writer import AsyncShardWriter, opening

        made = AsyncShardWriter(self, url)
        return await self._run(made._opened_behind(opening(*made._of, count, bytes, first, rank, ranks,
                                                           resume)))

    def list_batches(self, url: str | tuple[str, str], *, start: str | None = None,
                     end: str | None = None, delimiter: str | None = None, glob: str | None = None,
                     suffix: str | None = None, regex: str | None = None, min_size: int = 0,
                     max_size: int | None = None, storage_classes: Iterable[str] = (),
                     directories: bool = False, composites: bool = False, versions: bool = False,
                     parallelism: int = 0, max_calls: int = 0, memory_cap: int = 0,
                     on_error: Literal["raise", "omit"] = "raise",
                     timeout: float | None = None, in_order: bool = False) -> AsyncListStream:
        """Lists objects batch by batch, each a Listing, while later ones are under way.

            async for batch in client.list_batches("gs://bucket/prefix"):
                ...

        Arguments, Raises: as of Client.list_batches(). It begins at once.
        """
        from ._verbs_list import AsyncListStream

        place = self._prefix_place(url)
        return AsyncListStream(ListStream(self, list_options(place, locals()),
                                          *(part.decode() for part in place)))

    def get_many(self, requests: Listing | Rows | RowFeed | Iterable[Request | EllipsisType],
                 *, order: Literal["asked", "ready"] = "asked",
                 on_error: Literal["raise", "return", "omit"] = "raise", compose: bool = False,
                 batch: int = 256, timeout: float | None = None, progress: Progress = None) -> AsyncGetMany:
        """Reads many objects, as fast as the service and this machine can.

            async for batch in client.get_many(await client.list("gs://bucket/train/")):
                for item in batch:
                    use(item.data)

        Arguments, Raises: as of Client.get_many(). It begins at once; an iterable of requests is
        gone on with whenever a batch is asked for, and must not block.
        """
        from ._get_many import AsyncGetMany, GetMany

        return AsyncGetMany(GetMany(self, requests, order=order, on_error=on_error, compose=compose,
                                    batch=batch, timeout=timeout, progress=progress))

    def get_samples(self, index: ShardIndex, numbers: Numbers, *,
                    order: Literal["asked", "ready"] = "asked",
                    on_error: Literal["raise", "return", "omit"] = "raise",
                    timeout: float | None = None, progress: Progress = None) -> AsyncGetSamples:
        """Reads samples of tar shards by number, as fast as the service and this machine can.

            async for sample in client.get_samples(index, dataflux.Sampler(len(index), seed=7)):
                use(sample["__key__"], sample["jpg"])

        Arguments, Raises: as of Client.get_samples(). It begins at once; an iterable of numbers must
        not block.
        """
        from ._shards import AsyncGetSamples, sample_batches

        return AsyncGetSamples(sample_batches(self, index, numbers, order=order, on_error=on_error,
                                              timeout=timeout, progress=progress))

    def checkpoint_set(self, url: Place, *, timeout: float | None = None) -> AsyncCheckpointSet:
        """A set below a prefix, to be saved or opened. Sends nothing, and gives no coroutine.

        Arguments: as of Client.checkpoint_set().
        """
        from ._sets import AsyncCheckpointSet

        return AsyncCheckpointSet(self, url, timeout)

    async def latest_set(self, url: Place, *, timeout: float | None = None) -> AsyncSetReader:
        """Opens the newest complete set below a prefix, by the time of its commit. Where newer sets are
        damaged it warns (RuntimeWarning), and the set's `passed_over` has them.

        Raises: NotFoundError when there is no set; DataLossError when all sets are damaged.
        """
        from ._sets import AsyncSetReader

        found: AsyncSetReader = with_warning(
            await self._run(opening_latest(self, url, timeout, AsyncSetReader)))
        return found

    async def open_manifest(self, target: Target, *, timeout: float | None = None) -> AsyncManifest:
        """Opens a manifest: maps a file, or reads an object into memory.

        Arguments, Raises: as of Client.open_manifest().
        """
        from ._manifest import AsyncManifest

        found: AsyncManifest = await self._run(opening_manifest(self, target, timeout,
                                                                AsyncManifest))
        return found

    async def aclose(self) -> None:
        """Ends what is under way, in all event loops, with CancelledError; and waits for the end of
        calls of this event loop that were cancelled. Closing again does nothing."""
        self.close()
        await current().all_ended(self)

    async def __aenter__(self) -> AsyncClient:
        await current().in_thread(self._handle)  # it starts threads and reads certificates
        self._enter()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._left():
            await self.aclose()


def _awaited(verb):
    """A verb of Client's as a coroutine function: what it lends, it lends when it is awaited."""

    @wraps(verb)
    async def awaited(self, *arguments, **named):
        return await verb(self, *arguments, **named)

    return awaited


_COROUTINE = 0x80  # inspect.CO_COROUTINE: importing that costs milliseconds


def _verbs_of(kind):
    """Makes coroutine functions of the verbs that a class has of Client, and that wait."""
    for name in {name for base in Verbs.__bases__ for name in vars(base)
                 if not name.startswith("_")}:
        verb = getattr(kind, name)
        own = name in vars(kind) or verb.__code__.co_flags & _COROUTINE
        if not (own or name in kind._plain):
            setattr(kind, name, _awaited(verb))


named_init(AsyncClient)
_verbs_of(AsyncClient)
