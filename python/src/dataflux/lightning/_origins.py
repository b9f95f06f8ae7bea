"""Which checkpoints a run has come from: those are not its own to remove."""

from __future__ import annotations

import logging
from typing import Any

from ._paths import LAST_OBJECT, url_of

_log = logging.getLogger("dataflux")


class Origins:
    """What was loaded and not saved by the same CheckpointIO or strategy. ModelCheckpoint removes the
    checkpoint that a run has gone on from, in whatever folder, as if it had saved it; Lightning has a guard
    against that for paths of this machine alone.

    Threads: any.
    """

    def __init__(self) -> None:
        self._loaded: set[str] = set()
        self._saved: set[str] = set()

    def loaded(self, path: Any) -> None:
        name = _name_of(path)
        if name and name not in self._saved:
            self._loaded.add(name)

    def saved(self, path: Any) -> None:
        """What is there now is the run's own."""
        name = _name_of(path)
        self._saved.add(name)
        self._loaded.discard(name)

    def keeps(self, path: Any) -> bool:
        """It is one of them, and stays; that is logged."""
        name = _name_of(path)
        if name not in self._loaded:
            self._saved.discard(name)
            return False
        _log.warning("%s stays: this run has come from it, and has not saved it. Remove it yourself", name)
        return True


def _name_of(path: Any) -> str:
    """One name of a checkpoint; "" of this machine's, where Lightning has its own guard."""
    url = url_of(path)
    return "" if url is None else url.removesuffix(LAST_OBJECT).replace("gcs://", "gs://", 1)
