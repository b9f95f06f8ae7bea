"""Reading ahead for tasks."""

from __future__ import annotations

import ctypes

from . import _wait
from ._abi import RECORD_END
from ._ahead import Ahead
from ._calls import FLAGS, RECORD_SIZE, STATUS, TAG, failure
from ._library import Size, byref, library
from ._loops import aside, current
from ._reader import Reading
from ._wait import tags, unpack


class AsyncAhead(Ahead):
    """Serves the reads of one AsyncReader. One task at a time uses it.

    What is under way has a queue of its own, so that it is of no event loop: reads may go on in
    another one.
    """

    _queue = None  # made with the first chunk
    _handle = None
    _awaited = None  # the chunk that is waited for: who waits frees it

    async def fill(self, offset, address, size, lend):
        """Fills memory; the object does not end before. `lend()` gives what keeps the memory for one
        call, and releases it then."""
        self._handle = await self._reader._handle()
        try:
            if self._goes_to(offset, size):
                self._go_on()
            at, end = offset, offset + size
            while at < end:
                chunk, until = self._there(at, end)
                target = address + at - offset
                if chunk is not None:
                    await self._come(chunk)
                    self._take(chunk, at, until, target)
                else:
                    await self._reader._filled(self._handle, at, target, until - at, lend())
                at = until
        except BaseException:
            self.drop()
            raise
        finally:
            self._handle = None

    def _goes_to(self, offset, size):
        if self._process != _wait._process:
            self._queue = None  # the parent's
        return super()._goes_to(offset, size)

    def _begin(self, offset, lent):
        if self._queue is None:
            self._queue = _wait.new_queue()
            self._queue.tokens = self._reader._client._tokens()
            self._came = {}
        tag, handle, queue = next(tags), self._handle, self._queue
        reading = Reading(self._reader._client, lambda out, err: library.reader_read(
            handle, offset, lent.address, lent.size, queue, tag, out, err), lent)
        reading.tag = tag
        return reading

    async def _come(self, chunk):
        """Waits until a chunk is there. Raises what it failed with."""
        self._awaited = chunk
        try:
            record = await self._record(chunk.reading.tag)
            if record[STATUS]:
                raise failure(self._queue, record)
        finally:
            self._awaited = None
            if chunk not in self._chunks:  # it was dropped in the meantime
                aside(chunk.free)
        if chunk not in self._chunks:
            raise ValueError("I/O operation on closed file.")

    async def _record(self, tag):
        queue = self._queue
        buffer, number = ctypes.create_string_buffer(RECORD_SIZE), Size()
        while tag not in self._came:
            status = library.queue_next(queue, buffer, RECORD_SIZE, 1, 0, byref(number))
            if status:
                raise AssertionError(f"dataflux_queue_next: {status}")
            if number.value:
                record = unpack(buffer)
                if record[FLAGS] & RECORD_END:
                    self._came[record[TAG]] = record
            else:
                await current().readable(library.queue_fd(queue))
        return self._came[tag]

    def _done_with(self, chunk):
        self._came.pop(chunk.reading.tag, None)
        super()._done_with(chunk)

    def drop(self):
        # Freeing what has not ended waits, and an event loop must not.
        chunks = list(self._chunks)
        self._chunks.clear()
        super().drop()
        if chunks:
            for chunk in chunks:
                library.operation_cancel(chunk.reading._operation)
                chunk.reading._operation = chunk.reading._operation.moved()
            self._came.clear()
            if self._awaited in chunks:
                chunks.remove(self._awaited)
            aside(_free_all, chunks)

    def __del__(self):
        if _wait is not None and self._process == _wait._process:
            self.drop()


def _free_all(chunks):
    for chunk in chunks:
        chunk.free()
