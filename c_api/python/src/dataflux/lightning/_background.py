"""A save that goes on while its caller does: at most one, each failure told once, and none lost."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from typing import TYPE_CHECKING, Any, Callable
from weakref import WeakSet

if TYPE_CHECKING:
    from ._io import Path

_log = logging.getLogger("dataflux")
_all: WeakSet[Background] = WeakSet()


class Job:
    """A save, and the removals that wait for it. What is behind `lock` is of two threads."""

    def __init__(self, url: str, save: Callable[[], object], remove: Callable[[Path], object]) -> None:
        self.url = url
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
    """The save of one CheckpointIO or strategy that is under way, or has ended and was not asked for.

    A failure raises once, from wait(). One that nobody asks for is logged when the interpreter ends,
    which waits for the save. A forked child has none of its parent's.

    Threads: one at a time.

    Arguments:
        remove: removes a checkpoint; called by the save's thread, or by remove().
    """

    def __init__(self, remove: Callable[[Path], Any]) -> None:
        self._remove = remove
        self._last: Job | None = None
        self._process = os.getpid()
        _all.add(self)

    @property
    def job(self) -> Job | None:
        """That of this process, until wait() has taken its end."""
        if self._process != os.getpid():
            self._last, self._process = None, os.getpid()
        return self._last

    def begin(self, url: str, save: Callable[[], object]) -> None:
        """Begins save(), by a thread. wait() comes before."""
        job = self._last = Job(url, save, self._remove)
        try:
            job.start()
        except BaseException:
            if not job.started:
                self._last = None
            raise

    def remove(self, path: Path) -> None:
        """Removes a checkpoint; while a save is under way, when that is committed."""
        job = self.job
        if job is None or not job.remove_after(path):
            self._remove(path)

    def join(self) -> None:
        """Waits for the save that is under way. A failure stays for wait()."""
        job = self.job
        if job is not None:
            job.join()

    def wait(self) -> None:
        """Waits for the save that is under way. Raises what it has failed with, once."""
        job = self.job
        if job is None:
            return
        job.join()
        self._last = None
        if job.failure is not None:
            raise job.failure


def _tell_unheard() -> None:
    for saves in list(_all):
        job = saves.job
        if job is not None and job.failure is not None:
            _log.error("the save of %s has failed, and nobody has asked: %s", job.url, job.failure)


atexit.register(_tell_unheard)
