"""The driver of threads: it waits for calls on the thread that makes them. Each thread has a queue of
its own; a signal ends a wait, so that Python's handlers run, and it goes on."""

from __future__ import annotations

import _thread
import ctypes
import os
import sys
from itertools import count
from operator import attrgetter, methodcaller
from struct import Struct

from ._abi import RECORD_END
from ._calls import FLAGS, INTERRUPTED, RECORD, RECORD_SIZE, SLAB, STATUS, TAG, Body, Call, failure
from ._errors import taken
from ._handles import ErrorHandle, OperationHandle, QueueHandle
from ._library import Size, byref, library, method

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
    """What calls of a thread use, and none uses now: a queue, an empty OperationHandle, and room for a
    record. A signal's handler or a destructor may make calls while another one waits: each has its
    own."""

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


class _Slab(ctypes.c_uint64):
    """What a record has lent: it lies within the record's room. Letting go of it gives that back."""


# Gives back what it is, which 0 is nobody's, and empties it, by one call of C.
_give_back = attrgetter("_given", "_emptied")


def _new_parts():
    queue = new_queue()
    if not hasattr(_Slab, "_given"):
        release = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Slab), Size)(
            ("dataflux_slabs_release", library._loaded), ((1, "slabs"), (1, "count", 1)))
        _Slab._emptied = property(methodcaller("__setattr__", "value", 0))
        _Slab.__del__ = method(_give_back)
        _Slab._given = property(release)
    buffer = ctypes.create_string_buffer(RECORD_SIZE)
    return queue, OperationHandle(), buffer, _Slab.from_buffer(buffer, 8 * SLAB), Size()


def _record(queue, buffer, number, tag, tick, every_ns):
    """The record with that tag, which is in the buffer then, too. `tick` is called every so often
    while there is none."""
    count = byref(number)
    while True:
        status = library.queue_next(queue, buffer, RECORD_SIZE, 1, every_ns, count)
        if status == 0 and number.value:
            record = unpack(buffer)
            if record[TAG] == tag and record[FLAGS] & RECORD_END:
                return record
        elif status == 0:
            if tick is not None:
                tick()
        elif status != INTERRUPTED:
            raise AssertionError(f"dataflux_queue_next: {status}")


def run(client, work, tick=None, every=0.1):
    """Makes a call and gives its value; `tick()` is called every `every` seconds. Or runs a body, and
    gives what it returns."""
    if isinstance(work, Call):
        return _made(client, work, tick, every)
    body = Body(work)
    try:
        while True:
            try:
                call = body.step()
                if not isinstance(call, Call):
                    raise RuntimeError("a body has waited for an event loop, and was run without one")
                body.value = _made(client, call, None, every)
            except StopIteration as end:
                return end.value
            except BaseException as why:
                if not body.fails(why):
                    raise
    finally:
        body.close()


def _made(client, call, tick, every):
    if call.watch is None:
        while isinstance(call, Call):
            call = _run_one(client, call, tick, every)
        return call
    telling = client._telling(call)
    try:
        while isinstance(call, Call):
            call = _run_one(client, call, telling.tick, telling.every)
        telling.feed.catch_up()
        return call
    finally:
        telling.end()


def _run_one(client, call, tick, every):
    idle = _mine.ready()
    parts = idle.pop() if idle else _new_parts()
    queue, operation, buffer, slab, number = parts
    tag = next(tags)
    # However the two are let go of, the operation is freed before what was lent to it.
    operation.call = call
    under_way = client._under_way
    record = None
    try:
        under_way[tag] = (operation, call)
        call.start(client._handle(), queue, tag, operation)
        record = _record(queue, buffer, number, tag, tick,
                         -1 if tick is None else int(every * 1e9))
        if record[STATUS]:
            return call.failed(failure(queue, record))
        return call.value(operation, record)
    finally:
        try:
            # Cancels what has not ended, and waits: memory that was lent is the caller's again.
            operation.free()
            _give_back(slab)
            call.ended()
            operation.call = None
            idle.append(parts)
        finally:
            # An interrupt may have come before the operation was freed: its end frees it.
            under_way.pop(tag, None)
