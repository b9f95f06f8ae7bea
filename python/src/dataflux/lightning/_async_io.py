"""AsyncCheckpointIO: Lightning's checkpoints are saved while training goes on."""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any, Mapping

from torch.serialization import DEFAULT_PROTOCOL

from .._client import Client
from .._lending import Lending
from ..torch._save import send
from ._background import Background
from ._io import CheckpointIO, checked_options
from ._paths import url_of
from ._staging import Staging

if TYPE_CHECKING:
    from .._writer import Writer
    from ._io import Path


class AsyncCheckpointIO(CheckpointIO):
    """As CheckpointIO, but a save goes on while training does: save_checkpoint() returns when the
    state has been copied to this machine's memory, tensors of the CPU too, as torch.save would write
    it. That memory, the size of one checkpoint, is used again until teardown().

    One save is carried out at a time. Those of one step (`global_step` of the checkpoint), as ModelCheckpoint
    makes two with save_last=True, go one behind the other while training goes on; of the second one only
    what differs takes more memory. The first save of a later step waits for their end.

    A save that has failed raises once: from the next save_checkpoint(), which then saves nothing, from
    wait(), or from teardown(), which the Trainer calls at its end. One that nobody asks for is logged.

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
        self._step: Any = None  # of the save that was begun last
        self._saves = Background(self._remove_now)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items()
                if name not in ("_staging", "_saves", "_step")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

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
        options = checked_options(storage_options)
        step = checkpoint.get("global_step") if isinstance(checkpoint, dict) else None
        behind = step is not None and step == self._step and self._saves.under_way
        if not behind or self._saves.failed:
            self.wait()
            behind = False
        staging = Staging(self._staging) if behind else self._staging
        staging.fill(checkpoint, pickle, DEFAULT_PROTOCOL, options.pop("crc32", False))
        self._step = step
        self._saves.begin(url, partial(self._send, staging, url, options))
        self._origins.saved(url)

    def _send(self, staging: Staging, url: str, options: dict[str, Any]) -> None:
        def produce(writer: Writer, settle: Any) -> None:
            lending = Lending(writer)
            settle(lending)
            for part in staging.parts():
                lending.write(part)

        send(self._client_of(url).writer(url, **options), produce)

    def load_checkpoint(self, path: Path, map_location: Any = "cpu",
                        weights_only: bool | None = None) -> dict[str, Any]:
        """Loads a checkpoint, once the saves that are under way have ended. As CheckpointIO."""
        self._saves.join()
        return super().load_checkpoint(path, map_location, weights_only)

    def remove_checkpoint(self, path: Path) -> None:
        """Removes a checkpoint, as CheckpointIO; while a save is under way, when that is committed."""
        if not self._origins.keeps(path):
            self._saves.remove(path)

    def wait(self) -> None:
        """Waits for the saves that are under way. Raises what the first of them has failed with, once."""
        self._saves.wait()

    def teardown(self) -> None:
        """As wait(), and lets go of the memory. Of several failures the others are logged."""
        try:
            self._saves.end()
        finally:
            if not self._saves.under_way:
                self._staging.clear()
