"""Reading ahead: while a reader goes through an object in order, what it will want next is under
way."""

from __future__ import annotations

import ctypes
from collections import deque

from . import _wait
from ._lent import Lent

_CHUNK = 4 << 20   # what one request brings
_NEAR = 1 << 20    # a shorter step forward, as over a header, is none
_IN_SEQUENCE = 3   # so many reads behind one another are no accident


class _Part:
    """A part of memory that was lent, which it keeps."""

    __slots__ = ("address", "size", "lent")

    def __init__(self, address, size, lent):
        self.address, self.size, self.lent = address, size, lent


class _Chunk:
    """Bytes from `start` to `end` that are on their way into memory of their own."""

    __slots__ = ("start", "end", "memory", "lent", "reading")

    def __init__(self, begin, start, end, memory):
        self.start, self.end, self.memory = start, end, memory
        self.lent = Lent(memory, "memory", writable=True)
        self.lent.size = end - start
        self.reading = begin(start, self.lent)

    def free(self):
        self.reading.free()
        self.lent.release()


class Ahead:
    """Serves the reads of one reader. One thread at a time uses it.

    most    bytes that may be under way or waiting; 0 = nothing is read ahead
    """

    def __init__(self, reader, most):
        self._reader = reader
        self.most = most
        self._chunks = deque()
        self._spare = []
        self._next = 0    # where a read in sequence begins
        self._begun = 0   # to there it is under way
        self._reads = 0
        self._window = _CHUNK
        self._process = _wait._process

    def fill(self, offset, address, size, lent):
        """Fills memory; the object does not end before."""
        in_sequence = self._goes_to(offset, size)
        at, end = offset, offset + size
        start, straight = end, None
        try:
            if in_sequence:
                # What is long and not under way yet goes to its place without a copy, while what is
                # behind it is on its way, too.
                start = max(offset, self._begun)
                if end - start >= _CHUNK:
                    straight = self._reader.begin(
                        start, _Part(address + start - offset, end - start, lent))
                    self._begun = end
                    self._grow()
                self._go_on()
            while at < end:
                chunk, until = self._there(at, end)
                if chunk is not None:
                    try:
                        chunk.reading.wait()
                    except Exception:
                        self.drop()
                        raise
                    self._take(chunk, at, until, address + at - offset)
                elif straight is not None and at == start:
                    straight.wait()
                    until = end
                else:
                    self._reader._filled(at, address + at - offset, until - at, lent)
                at = until
        finally:
            if straight is not None:
                straight.free()

    def _goes_to(self, offset, size):
        """A read begins. Gives whether it is one of a sequence."""
        if self._process != _wait._process:
            self._chunks.clear()  # the parent's; freeing them does nothing here
            self._begun = 0
            self._process = _wait._process
        if offset != self._next:
            self._go_to(offset)
        self._next = offset + size
        self._reads += 1
        return self._reads >= _IN_SEQUENCE

    def _there(self, at, end):
        """The chunk that has bytes from `at` on, and where they end; None, and up to where none
        has any."""
        chunks = self._chunks
        if chunks and chunks[0].start <= at:
            return chunks[0], min(end, chunks[0].end)
        return None, min(end, chunks[0].start) if chunks else end

    def _go_to(self, offset):
        chunks = self._chunks
        if (0 < offset - self._next <= _NEAR
                or chunks and chunks[0].start <= offset < chunks[-1].end):
            while chunks and chunks[0].end <= offset:
                self._done_with(chunks.popleft())
        else:
            self.drop()

    def _grow(self):
        self._window = min(2 * self._window, max(self.most, _CHUNK))

    def _go_on(self):
        chunks, reader = self._chunks, self._reader
        start = self._begun
        if start < self._next:
            # Short reads before have brought the block that this one ends in.
            start = -(-self._next // reader.block) * reader.block
        limit = min(reader.size, self._next + min(self._window, self.most))
        while start < limit:
            end = min(start + _CHUNK, reader.size)
            memory = self._spare.pop() if self._spare else bytearray(_CHUNK)
            chunks.append(_Chunk(reader.begin, start, end, memory))
            self._begun = start = end

    def _take(self, chunk, at, until, address):
        """Copies bytes of a chunk that is there."""
        ctypes.memmove(address, chunk.lent.address + at - chunk.start, until - at)
        if until == chunk.end:
            self._done_with(self._chunks.popleft())
            self._grow()
            self._go_on()

    def _done_with(self, chunk):
        chunk.free()
        if len(self._spare) + len(self._chunks) < self.most // _CHUNK:
            self._spare.append(chunk.memory)

    def drop(self):
        """Cancels what is under way: reading goes on elsewhere, or nowhere."""
        while self._chunks:
            self._chunks.popleft().free()
        self._spare.clear()
        self._begun = 0
        self._reads = 0
        self._window = _CHUNK
