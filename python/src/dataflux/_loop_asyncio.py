"""The event loops of asyncio, and those that are like it, such as uvloop."""

from __future__ import annotations

import asyncio
import weakref
from functools import partial

from . import _wait
from ._loops import AGAIN, THREADS, Loop
from ._library import library

# id of an event loop: weak references to it and to its AsyncioLoop. Nothing here may keep either:
# what waits are futures, which keep their loop, so that one that was closed in the midst of calls
# would never go.
_loops = {}


def of(loop):
    known = _loops.get(id(loop))
    if known is not None and known[0]() is loop:
        mine = known[1]()
        if mine is not None and mine.process == _wait._process:
            return mine
    return _made(loop)


def _made(loop):
    mine = AsyncioLoop()
    key = id(loop)

    def gone(reference):
        if key in _loops and _loops[key][0] is reference:
            del _loops[key]

    loop.add_reader(mine.fd, mine.read)
    _loops[key] = weakref.ref(loop, gone), weakref.ref(mine)
    return mine


class AsyncioLoop(Loop):
    """The event loop keeps it, by the reader of its descriptor, until it is closed."""

    def __init__(self):
        super().__init__()
        self.threads = asyncio.Semaphore(THREADS)

    def wake(self, who):
        if who is not None and not who.done():
            who.set_result(None)

    def record(self, tag):
        future = self.waiting[tag] = asyncio.get_running_loop().create_future()
        return future

    async def settled(self, tag):
        while tag not in self.came:
            try:
                await self.record(tag)
            except asyncio.CancelledError:
                pass  # cancelled already: it ends as soon as it may

    def read(self):
        try:
            self.drain()
        except BaseException:  # a KeyboardInterrupt: the descriptor may tell of nothing any more
            asyncio.get_running_loop().call_soon(self.read)
            raise

    async def within(self, tag, seconds):
        if tag not in self.came:
            await asyncio.wait([self.record(tag)], timeout=seconds)
        return tag in self.came

    def turn(self, seconds=0):
        return asyncio.sleep(seconds)

    def shielded(self, function, limit):
        return function()  # being cancelled is told once

    def in_thread(self, function, *arguments):
        return asyncio.get_running_loop().run_in_executor(None, function, *arguments)

    def bell(self):
        event = asyncio.Event()
        # The thread must not keep the loop, either.
        return event, partial(_ring, weakref.ref(asyncio.get_running_loop()), weakref.ref(event))

    async def silent(self, event, stop):
        while not event.is_set():
            try:
                await asyncio.wait_for(event.wait(), AGAIN)
            except (asyncio.TimeoutError, asyncio.CancelledError):
                stop()

    async def readable(self, fd):
        """Waits until a descriptor is readable."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        loop.add_reader(fd, _readable, future)
        try:
            await future
        finally:
            loop.remove_reader(fd)


def _ring(loop, event):
    loop, event = loop(), event()
    if loop is not None and event is not None:
        loop.call_soon_threadsafe(event.set)


def _readable(future):
    if not future.done():
        future.set_result(None)
