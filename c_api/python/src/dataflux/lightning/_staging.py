"""Staging: a checkpoint as bytes in this machine's memory, which is used again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from ..torch._save import serialize

if TYPE_CHECKING:
    from typing_extensions import Buffer

_CHUNK = 32 << 20


class Staging:
    """What torch.save would write to a file, in chunks of memory. The next one takes the same memory:
    pages that are there already are filled ten times as fast.

    size   bytes that are in it
    """

    def __init__(self) -> None:
        self._chunks: list[bytearray] = []
        self.size = 0

    def fill(self, checkpoint: Any, pickle_module: Any, pickle_protocol: int, crc32: bool) -> None:
        """Takes in a checkpoint as it is now. Raises what pickling raises."""
        self.size = 0
        serialize(checkpoint, self, pickle_module, pickle_protocol, crc32)

    def write(self, data: Buffer) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while done < view.nbytes:
            number, at = divmod(self.size, _CHUNK)
            if number == len(self._chunks):
                self._chunks.append(bytearray(_CHUNK))
            some = min(view.nbytes - done, _CHUNK - at)
            memoryview(self._chunks[number])[at:at + some] = view[done:done + some]
            done += some
            self.size += some
        return done

    def flush(self) -> None:
        pass

    def parts(self) -> Iterator[memoryview]:
        """What is in it, in order."""
        for number in range(-(-self.size // _CHUNK)):
            yield memoryview(self._chunks[number])[:min(_CHUNK, self.size - number * _CHUNK)]

    def clear(self) -> None:
        """Lets go of the memory."""
        self._chunks.clear()
        self.size = 0
