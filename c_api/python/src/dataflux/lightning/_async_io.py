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
from ._io import CheckpointIO, _checked
from ._paths import url_of
from ._staging import Staging

if TYPE_CHECKING:
    from .._writer import Writer
    from ._io import Path


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
        self._saves = Background(partial(CheckpointIO.remove_checkpoint, self))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items()
                if name not in ("_staging", "_saves")}

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
        options = _checked(storage_options)
        self.wait()
        self._staging.fill(checkpoint, pickle, DEFAULT_PROTOCOL, options.pop("crc32", False))
        self._saves.begin(url, partial(self._send, url, options))

    def _send(self, url: str, options: dict[str, Any]) -> None:
        def produce(writer: Writer, settle: Any) -> None:
            lending = Lending(writer)
            settle(lending)
            for part in self._staging.parts():
                lending.write(part)

        send(self.client.writer(url, **options), produce)

    def load_checkpoint(self, path: Path, map_location: Any = "cpu",
                        weights_only: bool | None = None) -> dict[str, Any]:
        """Loads a checkpoint, once the save that is under way has ended. As CheckpointIO."""
        self._saves.join()
        return super().load_checkpoint(path, map_location, weights_only)

    def remove_checkpoint(self, path: Path) -> None:
        """Removes a checkpoint; while a save is under way, when that is committed."""
        self._saves.remove(path)

    def wait(self) -> None:
        """Waits for the save that is under way. Raises what it has failed with, once."""
        self._saves.wait()

    def teardown(self) -> None:
        """As wait(), and lets go of the memory."""
        try:
            self.wait()
        finally:
            if self._saves.job is None:
                self._staging.clear()
