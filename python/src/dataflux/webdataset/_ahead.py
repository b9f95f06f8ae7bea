"""Shards of a bucket in sequence: those that come next are opened, and begun, while one is taken apart."""

from __future__ import annotations

from collections import deque
from io import RawIOBase
from typing import Any, Callable, Deque, Iterable, Iterator, List, Tuple

from .. import _opening, _wait
from .._ahead import _CHUNK, _Chunk
from .._errors import PreconditionError
from .._reader import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._client import Client

_BEGUN = 2 * _CHUNK   # bytes that are asked for of a shard whose turn has not come
_WINDOW = 8 * _CHUNK  # and of the one that is read
_SHARDS = 2           # that wait for their turn


class Pieces:
    """The bytes of an object, in order, in pieces of 4 MiB. Each is there until the next one is asked for."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._chunks: Deque[_Chunk] = deque()
        self._spare: List[bytearray] = []
        self._begun = self._given = 0
        self._held: _Chunk | None = None
        self._process = _wait._process

    def begin(self, window: int) -> None:
        """Asks for what is not asked for yet of the next so many bytes."""
        size = self._reader.size
        while self._begun < min(size, self._given + window):
            end = min(self._begun + _CHUNK, size)
            memory = self._spare.pop() if self._spare else bytearray(min(_CHUNK, size))
            self._chunks.append(_Chunk(self._reader.begin, self._begun, end, memory))
            self._begun = end

    def __iter__(self) -> Iterator[memoryview]:
        return self

    def __next__(self) -> memoryview:
        if self._process != _wait._process:
            raise PreconditionError(f"{self._reader.url}: it is read by the process that this one was forked from: begin "
                                    "a pass of your own")
        self._release()
        self.begin(_WINDOW)
        if not self._chunks:
            raise StopIteration
        chunk = self._chunks[0]
        chunk.reading.wait()
        self._held = self._chunks.popleft()
        self._given = chunk.end
        return memoryview(chunk.memory)[:chunk.end - chunk.start]

    def _release(self):
        held, self._held = self._held, None
        if held is not None:
            held.free()
            self._spare.append(held.memory)

    def forget(self) -> None:
        """What was read is damaged: no cache is to give it again."""
        self._reader._forget()

    def close(self) -> None:
        """Cancels what is under way."""
        self._release()
        while self._chunks:
            self._chunks.popleft().free()
        self._spare.clear()
        self._reader.close()


class InSequence(RawIOBase):
    """An object as a stream that cannot seek, and is read ahead from its first byte on."""

    def __init__(self, client: Client, url: str) -> None:
        self._pieces = Pieces(Reader(client, url))
        self._pieces.begin(_BEGUN)
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = next(self._pieces, self._left)
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def close(self) -> None:
        if not self.closed:
            self._left = memoryview(b"")
            if "_pieces" in self.__dict__:
                self._pieces.close()
            super().close()


def _begun(client, url):
    made = Pieces(Reader(client, url))
    try:
        made.begin(_BEGUN)
    except BaseException:
        made.close()
        raise
    return made


class Opening(_opening.Opening):
    """An object whose Pieces are begun by another thread."""

    def __init__(self, client: Client, url: str) -> None:
        super().__init__(_begun, client, url)


def opened_ahead(urls: Iterable[str], opening_of: Callable[[str], Opening | None]) -> \
        Iterator[Tuple[str, Opening | None]]:
    """URLs, each with its Opening, which has begun some turns before; None for those that are opened otherwise.
    Who is given an Opening closes it."""
    waiting: Deque[Tuple[str, Opening | None]] = deque()
    source, why = iter(urls), None
    try:
        while True:
            # Of a bucket more than one; of other places no sooner than it is read.
            while source is not None and (not waiting or len(waiting) <= _SHARDS and waiting[-1][1] is not None):
                try:
                    url = next(source)
                except StopIteration:
                    source = None  # type: ignore[assignment]
                except Exception as failed:  # what came before it comes before it
                    source, why = None, failed  # type: ignore[assignment]
                else:
                    waiting.append((url, opening_of(url)))
            if not waiting:
                break
            yield waiting.popleft()
        if why is not None:
            raise why
    finally:
        del why
        for _, opening in waiting:
            if opening is not None:
                opening.close()
