"""Waiting for calls on the thread that makes them. Each thread has a queue of its own; a signal ends
a wait, so that Python's handlers run, and it goes on."""

from __future__ import annotations

import _thread
import os
import sys
from itertools import count
from struct import Struct

from ._abi import RECORD_END
from ._calls import (FLAGS, INTERRUPTED, RECORD, RECORD_SIZE, STATUS, TAG, Call, failure,
                     returned)
from ._errors import taken
from ._handles import ErrorHandle, OperationHandle, QueueHandle
from ._library import Size, byref, library

unpack = Struct(RECORD).unpack


class Tags:
    """Numbers, each given once: without the interpreter's lock itertools.count would give one to
    several threads."""

    def __init__(self):
        self._numbers = count(1)
        self._new_lock()
        os.register_at_fork(after_in_child=self._new_lock)

    def _new_lock(self):
        self._lock = _thread.RLock()  # a signal's handler may make a call, too

    def __next__(self):
        with self._lock:
            return next(self._numbers)


# The lock may come back when something is imported; it never goes.
_has_lock = getattr(sys, "_is_gil_enabled", None)
tags = count(1) if _has_lock is None or _has_lock() else Tags()


def new_queue():
    queue, error = QueueHandle(), ErrorHandle()
    if library.queue_create(byref(queue), byref(error)):
        raise taken(error)
    queue.error = error  # for Call.start(): a handle for each call would cost more than it does
    return queue


class _Thread(_thread._local):
    """The queues of a thread that no call of it uses, each with an empty OperationHandle. A signal's
    handler or a destructor may make calls while another one waits: each has a queue of its own."""

    def __init__(self):
        self.process = 0

    def ready(self):
        if self.process != _process:
            self.idle = []
            self.process = _process
        return self.idle


def _new_process():
    global _process
    _process = os.getpid()


_process = os.getpid()
_mine = _Thread()
os.register_at_fork(after_in_child=_new_process)


def _record(queue, tag, tick, every_ns):
    """The record with that tag. `tick` is called every so often while there is none."""
    import ctypes

    buffer, number = ctypes.create_string_buffer(RECORD_SIZE), Size()
    while True:
        status = library.queue_next(queue, buffer, RECORD_SIZE, 1, every_ns, byref(number))
        if status == 0 and number.value:
            record = unpack(buffer)
            if record[TAG] == tag and record[FLAGS] & RECORD_END:
                return record
        elif status == 0:
            if tick is not None:
                tick()
        elif status != INTERRUPTED:
            raise AssertionError(f"dataflux_queue_next: {status}")


def run(client, call, tick=None, every=0.1):
    """Makes a call and gives its value. `tick()` is called every `every` seconds."""
    while isinstance(call, Call):
        call = _run_one(client, call, tick, every)
    return call


def _run_one(client, call, tick, every):
    idle = _mine.ready()
    both = idle.pop() if idle else (new_queue(), OperationHandle())
    queue, operation = both
    tag = next(tags)
    # However the two are let go of, the operation is freed before what was lent to it.
    operation.call = call
    under_way = client._under_way
    record = None
    try:
        under_way[tag] = (operation, call)
        call.start(client._handle(), queue, tag, operation)
        record = _record(queue, tag, tick, -1 if tick is None else int(every * 1e9))
        if record[STATUS]:
            return call.failed(failure(queue, record))
        return call.value(operation, record)
    finally:
        try:
            # Cancels what has not ended, and waits: memory that was lent is the caller's again.
            operation.free()
            returned(record)
            call.ended()
            operation.call = None
            idle.append(both)
        finally:
            # An interrupt may have come before the operation was freed: its end frees it.
            under_way.pop(tag, None)
