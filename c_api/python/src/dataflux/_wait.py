"""Waiting for calls on the thread that makes them. Each thread has a queue of its own; a signal ends
a wait, so that Python's handlers run, and it goes on."""

from __future__ import annotations

import _thread
import os
from itertools import count
from struct import Struct

from ._calls import INTERRUPTED, RECORD, RECORD_SIZE, STATUS, TAG, failure
from ._errors import taken
from ._handles import ErrorHandle, OperationHandle, QueueHandle
from ._library import Size, byref, library

unpack = Struct(RECORD).unpack
tags = count(1)


def new_queue():
    queue, error = QueueHandle(), ErrorHandle()
    if library.queue_create(byref(queue), byref(error)):
        raise taken(error)
    return queue


class _Thread(_thread._local):
    """The queue of a thread, and records that came while another call of it was waited for: a signal
    handler or a destructor may make calls of its own."""

    def __init__(self):
        self.process = 0

    def ready(self):
        if self.process != _process:
            self.queue = new_queue()
            self.seen = {}
            self.process = _process
        return self.queue


def _new_process():
    global _process
    _process = os.getpid()


_process = os.getpid()
_mine = _Thread()
os.register_at_fork(after_in_child=_new_process)


def _record(queue, seen, tag, tick, every_ns):
    """The record with that tag. `tick` is called every so often while there is none."""
    import ctypes

    while True:
        found = seen.pop(tag, None)
        if found is not None:
            return found
        # Not shared with a call that interrupts this one.
        buffer, number = ctypes.create_string_buffer(RECORD_SIZE), Size()
        status = library.queue_next(queue, buffer, RECORD_SIZE, 1, every_ns, byref(number))
        if status == 0 and number.value:
            record = unpack(buffer)
            if record[TAG] == tag:
                return record
            seen[record[TAG]] = record
        elif status == 0:
            if tick is not None:
                tick()
        elif status != INTERRUPTED:
            raise AssertionError(f"dataflux_queue_next: {status}")


def run(client, call, tick=None, every=0.1):
    """Makes a call and gives its value. `tick()` is called every `every` seconds, and once at the
    end of a call that went well."""
    queue = _mine.ready()
    seen = _mine.seen
    tag = next(tags)
    operation = OperationHandle()
    under_way = client._under_way
    try:
        under_way[tag] = (operation, call)
        call.start(client._handle(), queue, tag, operation)
        record = _record(queue, seen, tag, tick, -1 if tick is None else int(every * 1e9))
        if record[STATUS]:
            value = call.failed(failure(queue, record))
        else:
            value = call.value(operation, record)
    finally:
        # Cancels what has not ended, and waits: memory that was lent is the caller's again.
        operation.free()
        call.ended()
        under_way.pop(tag, None)
        seen.pop(tag, None)
    if tick is not None:
        tick()
    return value
