"""Reading ahead: while a reader goes through an object in order, what it will want next is under
way."""

from __future__ import annotations

import ctypes
from collections import deque

from . import _wait
from ._lent import Lent

_CHUNK = 4 << 20   # what one request brings
_LONG = 16 << 20   # a longer read keeps the link busy by itself, and needs no copy
_IN_SEQUENCE = 3   # so many reads behind one another are no accident


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
        self._next = 0
        self._reads = 0
        self._window = _CHUNK
        self._process = _wait._process

    def _begin(self, offset, lent):
        return self._reader.begin(offset, lent)

    def fill(self, offset, address, size, lent):
        """Fills memory; the object does not end before."""
        self._goes_to(offset, size)
        at, end = offset, offset + size
        while at < end:
            chunk, until = self._there(at, end)
            if chunk is not None:
                try:
                    chunk.reading.wait()
                except Exception:
                    self.drop()
                    raise
                self._take(chunk, at, until, address + at - offset)
            else:
                self._reader._filled(at, address + at - offset, until - at, lent)
            at = until

    def _goes_to(self, offset, size):
        """A read begins."""
        if self._process != _wait._process:
            self._chunks.clear()  # the parent's; freeing them does nothing here
            self._process = _wait._process
        if offset != self._next:
            self._skip_to(offset)
        self._next = offset + size
        self._reads += 1
        if self._reads >= _IN_SEQUENCE and size < _LONG:
            self._go_on()

    def _there(self, at, end):
        """The chunk that has bytes from `at` on, and where they end; None, and up to where none
        has any."""
        chunks = self._chunks
        if chunks and chunks[0].start <= at:
            return chunks[0], min(end, chunks[0].end)
        return None, min(end, chunks[0].start) if chunks else end

    def _skip_to(self, offset):
        chunks = self._chunks
        if chunks and chunks[0].start <= offset < chunks[-1].end:
            while chunks[0].end <= offset:
                self._done_with(chunks.popleft())
        else:
            self.drop()

    def _go_on(self):
        chunks, reader = self._chunks, self._reader
        # Short reads before have brought the block that this one ends in.
        block = reader.block
        start = chunks[-1].end if chunks else -(-self._next // block) * block
        limit = min(reader.size, self._next + min(self._window, self.most))
        while start < limit:
            end = min(start + _CHUNK, reader.size)
            memory = self._spare.pop() if self._spare else bytearray(_CHUNK)
            chunks.append(_Chunk(self._begin, start, end, memory))
            start = end

    def _take(self, chunk, at, until, address):
        """Copies bytes of a chunk that is there."""
        ctypes.memmove(address, chunk.lent.address + at - chunk.start, until - at)
        if until == chunk.end:
            self._done_with(self._chunks.popleft())
            self._window = min(2 * self._window, max(self.most, _CHUNK))
            self._go_on()

    def _done_with(self, chunk):
        chunk.free()
        if len(self._spare) < 2:
            self._spare.append(chunk.memory)

    def drop(self):
        """Cancels what is under way: reading goes on elsewhere, or nowhere."""
        while self._chunks:
            self._chunks.popleft().free()
        self._spare.clear()
        self._reads = 0
        self._window = _CHUNK
