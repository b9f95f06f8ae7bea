"""AsyncCheckpointIO: Lightning's checkpoints are saved while training goes on."""

from __future__ import annotations

import atexit
import logging
import os
import pickle
import threading
from typing import TYPE_CHECKING, Any, Callable, Mapping
from weakref import WeakSet

from torch.serialization import DEFAULT_PROTOCOL

from .._client import Client
from .._lending import Lending
from ..torch._save import send
from ._io import CheckpointIO, _checked
from ._paths import url_of
from ._staging import Staging

if TYPE_CHECKING:
    from .._writer import Writer
    from ._io import Path

_log = logging.getLogger("dataflux")
_all: WeakSet[AsyncCheckpointIO] = WeakSet()


class _Job:
    """A save, and the removals that wait for it. What is behind `lock` is of two threads."""

    def __init__(self, io: AsyncCheckpointIO, url: str, options: dict[str, Any]) -> None:
        self.url = url
        self.failure: BaseException | None = None
        self._io = io
        self._options = options
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
                CheckpointIO.remove_checkpoint(self._io, path)
        except BaseException as why:
            with self._lock:
                self.failure = why
                self._done = True
                left = self._removals
            for path in left:
                _stays(path, self.url)
        if not threading.main_thread().is_alive():
            _log.warning("the interpreter's end has waited for the save of %s, which has %s: call "
                         "wait() or teardown() before", self.url,
                         "failed" if self.failure else "ended well")

    def _save(self):
        staging = self._io._staging

        def produce(writer: Writer, lends: Callable[[Lending], None]) -> None:
            lending = Lending(writer)
            lends(lending)
            for part in staging.parts():
                lending.write(part)

        send(self._io.client.writer(self.url, **self._options), produce)

    def _next_removal(self):
        with self._lock:
            if self._removals:
                return self._removals.pop(0)
            self._done = True
            return None


def _stays(path, url):
    _log.warning("%s stays, since the save of %s has failed", path, url)


class AsyncCheckpointIO(CheckpointIO):
    """As CheckpointIO, but a save goes on while training does: save_checkpoint() returns when the
    state has been copied to this machine's memory, tensors of the CPU too, as torch.save would write
    it. That memory, the size of one checkpoint, is used again until teardown().

    At most one save is under way: the next one waits for it. A save that has failed raises once: from
    the next save_checkpoint(), which then saves nothing, from wait(), or from teardown(), which the
    Trainer calls at its end. One that nobody asks for is logged when the interpreter ends.

    remove_checkpoint() while a save is under way removes when that is committed, and not if it fails:
    so ModelCheckpoint never takes away the last good checkpoint for one that does not come.
    load_checkpoint() waits for the save. The interpreter's end waits for it, too, and says so; a
    process that is killed leaves what was there before.

    Paths of this machine are saved before the call returns, by Lightning's own TorchCheckpointIO.

    Threads: one at a time saves. A forked child has none of its parent's saves.
    """

    def __init__(self, client: Client | None = None) -> None:
        super().__init__(client)
        self._begin()

    def _begin(self):
        self._staging = Staging()
        self._job: _Job | None = None
        self._process = os.getpid()
        _all.add(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items()
                if name not in ("_staging", "_job", "_process")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def _current(self) -> _Job | None:
        """The job of this process."""
        if self._process != os.getpid():
            self._begin()
        return self._job

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Path,
                        storage_options: Mapping[str, Any] | None = None) -> None:
        """Copies the state, and begins to save it. Arguments as of CheckpointIO.

        Raises: what pickling raises; what the save before has failed with, and then this one is not
            begun. TypeError and ValueError for a bad argument.
        """
        url = url_of(path)
        if url is None:
            self.wait()
            super().save_checkpoint(checkpoint, path, storage_options)
            return
        options = _checked(storage_options)
        self.wait()
        self._staging.fill(checkpoint, pickle, DEFAULT_PROTOCOL, options.pop("crc32", False))
        job = self._job = _Job(self, url, options)
        try:
            job.start()
        except BaseException:
            if not job.started:
                self._job = None
            raise

    def load_checkpoint(self, path: Path, map_location: Any = "cpu",
                        weights_only: bool | None = None) -> dict[str, Any]:
        """Loads a checkpoint, once the save that is under way has ended. As CheckpointIO."""
        job = self._current()
        if job is not None:
            job.join()
        return super().load_checkpoint(path, map_location, weights_only)

    def remove_checkpoint(self, path: Path) -> None:
        """Removes a checkpoint; while a save is under way, when that is committed."""
        job = self._current()
        if job is None or not job.remove_after(path):
            super().remove_checkpoint(path)

    def wait(self) -> None:
        """Waits for the save that is under way. Raises what it has failed with, once."""
        job = self._current()
        if job is None:
            return
        job.join()
        self._job = None
        if job.failure is not None:
            raise job.failure

    def teardown(self) -> None:
        """As wait(), and lets go of the memory."""
        try:
            self.wait()
        finally:
            if self._job is None:
                self._staging.clear()


def _tell_unheard() -> None:
    for io in list(_all):
        job = io._job
        if job is not None and job.failure is not None and io._process == os.getpid():
            _log.error("the save of %s has failed, and nobody has asked: %s", job.url, job.failure)


atexit.register(_tell_unheard)
