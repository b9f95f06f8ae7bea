"""Reading ahead of torch.load, which asks for one tensor at a time."""

from __future__ import annotations

import ctypes
from collections import deque
from typing import TYPE_CHECKING, Any, Iterable, Iterator

from .._ahead import _Chunk, _Part
from .._calls import FLAGS, Call
from .._library import library
from .._lent import Lent
from ._records import Span, gaps, merged, pieces

if TYPE_CHECKING:
    from .._reader import Reader

CHUNK = 4 << 20      # what one request brings
_TAIL = 1 << 20      # of the file: the zip file's directory
_VERIFIED = 1
_LITTLE = 16 << 20   # what torch has passed over is read for the checksum, if it is no more


class Planned:
    """Serves the reads of one reader, as _ahead.Ahead does. What is to come is known.

    most      bytes that may be under way or waiting
    failure   what a read has raised: torch's own error about it says less

    One thread at a time uses it.
    """

    def __init__(self, reader: Reader, most: int) -> None:
        self._reader = reader
        self.most = most
        self.failure: BaseException | None = None
        self._plan: Iterator[Span] = iter(())
        self._upcoming: Span | None = None  # the piece that is begun next
        self._chunks: deque[Any] = deque()
        self._spare: list[bytearray] = []
        self._read: list[Span] = []
        self._tail_at = max(0, reader.size - _TAIL)
        self._tail = reader.read_at(self._tail_at, _TAIL)
        self._note(self._tail_at, reader.size)

    @property
    def end(self) -> int:
        """Where the part begins that is there already."""
        return self._tail_at

    def follow(self, spans: Iterable[Span]) -> None:
        """From now on these are read ahead, in this order."""
        self._plan = pieces(spans, CHUNK)
        self._step()
        self._go_on()

    def _step(self):
        self._upcoming = next(self._plan, None)

    def fill(self, offset: int, address: int, size: int, lent: object) -> None:
        """Fills memory; the object does not end before."""
        try:
            self._fill(offset, offset + size, address - offset, lent)
        except BaseException as why:
            self.failure = self.failure or why
            raise

    def _fill(self, at, end, base, lent):
        if end > self._tail_at:
            begin = max(at, self._tail_at)
            ctypes.memmove(base + begin, self._tail[begin - self._tail_at:end - self._tail_at], end - begin)
            end = begin
        self._go_to(at)
        start, straight = self._straight(at, end, base, lent)
        try:
            self._go_on()
            while at < end:
                chunk, until = self._there(at, end)
                if chunk is not None:
                    chunk.reading.wait()
                    ctypes.memmove(base + at, chunk.lent.address + at - chunk.start, until - at)
                    self._taken(chunk, until)
                elif straight is not None and at == start:
                    straight.wait()
                    until = end
                    self._note(at, until)
                else:
                    self._reader._filled(at, base + at, until - at, lent)
                    self._note(at, until)
                at = until
        finally:
            if straight is not None:
                straight.free()

    def _go_to(self, at):
        """A read begins: what lies before it in the plan is not wanted any more."""
        for number, chunk in enumerate(self._chunks):
            if chunk.start <= at < chunk.end:
                for _ in range(number):
                    self._done_with(self._chunks.popleft())
                return

    def _straight(self, at, end, base, lent):
        """Begins to read what is long, and not under way yet, into its own place."""
        start = at
        for chunk in self._chunks:
            if chunk.start <= start < chunk.end:
                start = chunk.end
        upcoming = self._upcoming
        if end - start < CHUNK or upcoming is None or not upcoming[0] <= start < upcoming[1]:
            return start, None
        reading = self._reader.begin(start, _Part(base + start, end - start, lent))
        while self._upcoming is not None and upcoming[0] <= self._upcoming[0] < end:
            if self._upcoming[1] > end:
                self._upcoming = end, self._upcoming[1]
            else:
                self._step()
        return start, reading

    def _there(self, at, end):
        """The chunk that has bytes from `at` on, and where they end; None, and up to where none has
        any."""
        for chunk in self._chunks:
            if chunk.start <= at < chunk.end:
                return chunk, min(end, chunk.end)
        return None, min([end, *(chunk.start for chunk in self._chunks if at < chunk.start < end)])

    def _go_on(self):
        while self._upcoming is not None and (len(self._chunks) + 1) * CHUNK <= self.most:
            start, end = self._upcoming
            memory = self._spare.pop() if self._spare else bytearray(CHUNK)
            self._chunks.append(_Chunk(self._reader.begin, start, end, memory))
            self._step()

    def _taken(self, chunk, until):
        self._note(chunk.start, chunk.end)
        if until == chunk.end and chunk is self._chunks[0]:
            self._done_with(self._chunks.popleft())
            self._go_on()

    def _done_with(self, chunk):
        chunk.free()
        self._spare.append(chunk.memory)

    def _note(self, begin, end):
        if self._read and self._read[-1] == (begin, end):
            return
        if self._read and self._read[-1][1] == begin:
            self._read[-1] = self._read[-1][0], end
        else:
            self._read.append((begin, end))

    def finish(self) -> bool:
        """Reads the little that torch has passed over, so that the whole is compared with its
        checksum. Gives whether it was: not where torch wanted a part only, as with "meta".

        Raises: DataLossError.
        """
        self.drop()
        missing = gaps(merged(self._read), self._reader.size)
        if sum(end - begin for begin, end in missing) > _LITTLE:
            return False
        if missing:
            self._reader.get_ranges([(begin, end - begin) for begin, end in missing])
        return bool(self._reader.size) and self._compared()

    def _compared(self):
        memory = bytearray(1)
        with Lent(memory, writable=True) as lent:
            reader = self._reader._handle()
            flags: int = self._reader._client._run(Call(
                lambda client, queue, tag, out, err: library.reader_read(
                    reader, 0, lent.address, 1, queue, tag, out, err),
                lambda operation, record: record[FLAGS], lent))
        return bool(flags & _VERIFIED)

    def drop(self) -> None:
        """Cancels what is under way."""
        self._upcoming, self._plan = None, iter(())
        while self._chunks:
            self._chunks.popleft().free()
        self._spare.clear()
