"""Runs of trio. No task of this package watches the descriptor: one of those who wait does so for
all, and passes that on when it has what it waits for. So there is nothing to be ended."""

from __future__ import annotations

from functools import partial

import trio
from trio.lowlevel import Abort, RunVar, current_task, current_trio_token, reschedule, \
    wait_readable, wait_task_rescheduled

from . import _wait
from ._loops import AGAIN, THREADS, Loop

_loop = RunVar("dataflux")


def of_task():
    """That of the run whose task this is; None where it is none."""
    try:
        current_task()
    except RuntimeError:
        return None
    found = _loop.get(None)
    if found is None or found.process != _wait._process:
        found = TrioLoop()
        _loop.set(found)
    return found


class TrioLoop(Loop):
    def __init__(self):
        super().__init__()
        self.watched = False
        self.threads = trio.Semaphore(THREADS)

    def wake(self, who):
        if who is not None:
            reschedule(who)

    async def record(self, tag):
        while tag not in self.came:
            if self.watched:
                await self._parked(tag)
            else:
                await self._watch(tag)

    async def _parked(self, tag):
        def abort(_):
            self.waiting[tag] = None
            return Abort.SUCCEEDED

        self.waiting[tag] = current_task()
        await wait_task_rescheduled(abort)

    async def _watch(self, tag):
        self.watched = True
        try:
            while tag not in self.came:
                if not self.unread():
                    await wait_readable(self.fd)
                self.drain()
        finally:
            self.watched = False
            for other, task in self.waiting.items():
                if task is not None:
                    self.waiting[other] = None
                    reschedule(task)
                    break

    async def settled(self, tag):
        with trio.CancelScope(shield=True):
            await self.record(tag)

    async def within(self, tag, seconds):
        with trio.move_on_after(seconds):
            await self.record(tag)
        return tag in self.came

    def turn(self, seconds=0):
        return trio.sleep(seconds)

    async def shielded(self, function, limit):
        with trio.move_on_after(limit, shield=True):
            await function()

    def in_thread(self, function, *arguments):
        return trio.to_thread.run_sync(function, *arguments)

    def bell(self):
        event = trio.Event()
        return event, partial(current_trio_token().run_sync_soon, event.set)

    async def silent(self, event, stop):
        with trio.CancelScope(shield=True):
            while not event.is_set():
                with trio.move_on_after(AGAIN):
                    await event.wait()
                stop()

    async def readable(self, fd):
        """Waits until a descriptor is readable."""
        await wait_readable(fd)
