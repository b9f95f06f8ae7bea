"""Staging: a checkpoint as bytes in this machine's memory, which is used again."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Iterator

import torch

from ..torch._save import serialize

if TYPE_CHECKING:
    from typing_extensions import Buffer

_CHUNK = 32 << 20
_LONG = 128 << 10  # bytes of a write from which on it is looked for in the other one


class Staging:
    """What torch.save would write to a file, in chunks of memory. The next one takes the same memory:
    pages that are there already are filled ten times as fast.

    With `like`, the staging of another checkpoint, long writes that are byte for byte what that has are not
    copied, and refer to its memory: of two checkpoints of one step the second takes what differs. `like` may
    then not be filled anew before this one is let go of.

    size   bytes that are in it
    own    of them, in memory of its own
    """

    def __init__(self, like: Staging | None = None) -> None:
        self._chunks: list[bytearray] = []
        self._like = like
        self._new()

    def _new(self) -> None:
        self.size = self.own = 0
        self._runs: list[list[memoryview] | tuple[int, int]] = []  # in order: of another's, or (start, end)
        self._long: list[tuple[int, int]] = []  # (start, end) of each long write

    def fill(self, checkpoint: Any, pickle_module: Any, pickle_protocol: int, crc32: bool) -> None:
        """Takes in a checkpoint as it is now. Raises what pickling raises."""
        self._new()
        serialize(checkpoint, self, pickle_module, pickle_protocol, crc32)

    def write(self, data: Buffer) -> int:
        view = memoryview(data).cast("B")
        if view.nbytes >= _LONG:
            known = None if self._like is None else self._like._same(len(self._long), view)
            self._long.append((self.own, self.own + view.nbytes))
            if known is not None:
                self._runs.append(known)
                self.size += view.nbytes
                return view.nbytes
        self._copy(view)
        return view.nbytes

    def _copy(self, view: memoryview) -> None:
        start, done = self.own, 0
        while done < view.nbytes:
            number, at = divmod(self.own, _CHUNK)
            if number == len(self._chunks):
                self._chunks.append(bytearray(_CHUNK))
            some = min(view.nbytes - done, _CHUNK - at)
            memoryview(self._chunks[number])[at:at + some] = view[done:done + some]
            done += some
            self.own += some
        self.size += done
        if self._runs and isinstance(self._runs[-1], tuple):
            start = self._runs.pop()[0]  # type: ignore[assignment]
        self._runs.append((start, self.own))

    def _same(self, number: int, view: memoryview) -> list[memoryview] | None:
        """The memory of its long write of that number, where it has the same bytes."""
        if number >= len(self._long) or self._like is not None:
            return None
        start, end = self._long[number]
        if end - start != view.nbytes:
            return None
        mine, at = list(self._between(start, end)), 0
        for part in mine:
            if not torch.equal(_numbers(part), _numbers(view[at:at + part.nbytes])):
                return None
            at += part.nbytes
        return mine

    def flush(self) -> None:
        pass

    def parts(self) -> Iterator[memoryview]:
        """What is in it, in order."""
        for run in self._runs:
            yield from self._between(*run) if isinstance(run, tuple) else run

    def _between(self, start: int, end: int) -> Iterator[memoryview]:
        """Of its own bytes."""
        while start < end:
            number, at = divmod(start, _CHUNK)
            some = min(end - start, _CHUNK - at)
            yield memoryview(self._chunks[number])[at:at + some]
            start += some

    def clear(self) -> None:
        """Lets go of the memory."""
        self._chunks.clear()
        self._new()


def _numbers(view: memoryview) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given buffer is not writable")  # it is only read
        return torch.frombuffer(view, dtype=torch.uint8)
