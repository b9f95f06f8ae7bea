"""Saves that go on while their caller does: one after the other, each failure told once, and none lost."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from typing import TYPE_CHECKING, Any, Callable
from weakref import WeakSet

from .._threads import all_of

if TYPE_CHECKING:
    from ._io import Path

_log = logging.getLogger("dataflux")
_all: WeakSet[Background] = WeakSet()


class Job:
    """A save, the one before it, and the removals that wait for it. What is behind `lock` is of two
    threads."""

    def __init__(self, url: str, save: Callable[[], object], remove: Callable[[Path], object],
                 before: Job | None) -> None:
        self.url = url
        self._before = before
        self.failure: BaseException | None = None
        self._save = save
        self._remove = remove
        self._removals: list[Path] = []
        self._done = False
        self._lock = threading.Lock()
        # Not a daemon: the interpreter's end waits for it.
        self._thread = threading.Thread(target=self._run, name=f"save of {url}")
        self._ran = False

    def start(self) -> None:
        self._thread.start()

    @property
    def started(self) -> bool:
        """It runs, will run, or has run. An interrupt may leave start() when it has begun."""
        return self._thread in threading.enumerate() or self._ran

    @property
    def ended(self) -> bool:
        return self._ran and not self._thread.is_alive()

    def join(self) -> None:
        self._thread.join()

    def remove_after(self, path: Path) -> bool:
        """Removes a checkpoint once this save is committed; not at all if it fails, for then that may
        be the newest one. False where the save has ended well already."""
        with self._lock:
            if self._done and self.failure is None:
                return False
            if self.failure is not None:
                _stays(path, self.url)
            else:
                self._removals.append(path)
            return True

    def _run(self):
        self._ran = True
        try:
            if self._before is not None:
                self._before.join()
                self._before = None
            self._save()
            while (path := self._next_removal()) is not None:
                self._remove(path)
        except BaseException as why:
            with self._lock:
                self.failure = why
                self._done = True
                left = self._removals
            for path in left:
                _stays(path, self.url)
        finally:
            del self._save  # and what was staged for it
        if not threading.main_thread().is_alive():
            _log.warning("the interpreter's end has waited for the save of %s, which has %s: call "
                         "wait() or teardown() before", self.url,
                         "failed" if self.failure else "ended well")

    def _next_removal(self):
        with self._lock:
            if self._removals:
                return self._removals.pop(0)
            self._done = True
            return None


def _stays(path, url):
    _log.warning("%s stays, since the save of %s has failed", path, url)


class Background:
    """The saves of one CheckpointIO or strategy that are under way, or have ended and were not asked for. One
    is carried out at a time, in the order in which they were begun.

    Each failure raises once, from wait(). One that nobody asks for is logged when the interpreter ends,
    which waits for the saves. A forked child has none of its parent's.

    Threads: one at a time.

    Arguments:
        remove: removes a checkpoint; called by the save's thread, or by remove().
    """

    def __init__(self, remove: Callable[[Path], Any]) -> None:
        self._remove = remove
        self._jobs: list[Job] = []
        self._process = os.getpid()
        _all.add(self)

    @property
    def jobs(self) -> list[Job]:
        """Those of this process, until wait() has taken their ends."""
        if self._process != os.getpid():
            self._jobs, self._process = [], os.getpid()
        return self._jobs

    @property
    def under_way(self) -> bool:
        return any(not job.ended for job in self.jobs)

    @property
    def failed(self) -> bool:
        """One has ended, and failed."""
        return any(job.ended and job.failure is not None for job in self.jobs)

    def begin(self, url: str, save: Callable[[], object]) -> None:
        """Begins save(), by a thread, behind those that are under way."""
        jobs = self.jobs
        job = Job(url, save, self._remove, jobs[-1] if jobs else None)
        jobs.append(job)
        try:
            job.start()
        except BaseException:
            if not job.started:
                jobs.remove(job)
            raise

    def remove(self, path: Path) -> None:
        """Removes a checkpoint; while a save is under way, when that is committed: the one begun last."""
        jobs = self.jobs
        if not jobs or not jobs[-1].remove_after(path):
            self._remove(path)

    def join(self) -> None:
        """Waits for the saves that are under way. Failures stay for wait()."""
        for job in list(self.jobs):
            job.join()

    def wait(self) -> None:
        """Waits for the saves that are under way. Raises what the first of them has failed with, once; the
        next one has its turn at the next call."""
        self.join()
        jobs = self.jobs
        while jobs:
            job = jobs.pop(0)
            if job.failure is not None:
                try:
                    raise job.failure
                finally:
                    del job  # its failure has this frame, by its traceback

    def end(self) -> None:
        """As wait(), and logs all other failures: nobody will ask again."""
        try:
            self.wait()
        finally:
            if not self.under_way:
                self.log_failures()

    def log_failures(self) -> None:
        """Of what has ended."""
        jobs = self.jobs
        for job in [each for each in jobs if each.ended]:
            jobs.remove(job)
            if job.failure is not None:
                _log.error("the save of %s has failed, and nobody has asked: %s", job.url, job.failure)


def _tell_unheard() -> None:
    for saves in all_of(_all):
        saves.log_failures()


atexit.register(_tell_unheard)
