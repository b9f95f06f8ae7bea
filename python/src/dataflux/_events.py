"""What a client tells of itself: log lines, retries, progress, and that a token is needed. A thread
of its own takes them from the library's queue, since Python must not be called from the library's
threads."""

from __future__ import annotations

import _thread
import sys

# Here, and not first by logging in the thread below: before 3.13 the thread that imports it passes for
# the main one, and the interpreter's end waits for it.
import threading
from time import monotonic, sleep
from weakref import ref

from . import _abi, _threads
from ._calls import DATA, INDEX, RECORD, RECORD_SIZE, SIZE, SLAB, STATUS, checked
from ._handles import ErrorHandle, EventsHandle
from ._library import Size, byref, library

CAPACITY = 4096  # events that the library keeps until they are taken


class Sink:
    """How far a call is, by the newest event."""

    __slots__ = ("done", "total")

    def __init__(self):
        self.done = 0
        self.total = None


class _State:
    """What the thread has. It keeps neither the Client nor the library's client, so that both end
    with who uses them."""

    __slots__ = ("queue", "client", "tokens", "sinks", "busy", "dropped")

    def __init__(self, queue, client, tokens):
        self.queue = queue
        self.client = ref(client)
        self.tokens = tokens
        self.sinks = {}
        self.busy = False  # it has taken events, and not gone through them all
        self.dropped = 0

    def follow(self):
        """Goes through all events until the queue is closed, or the client is."""
        import ctypes
        # For go_through(), now: an event may tell that a token is needed when no descriptor is left to
        # import by.
        import json  # noqa: F401
        import select
        from struct import Struct

        unpack = Struct(RECORD).unpack
        buffer, number = ctypes.create_string_buffer(RECORD_SIZE), Size()
        ready = select.poll()
        ready.register(library.queue_fd(self.queue), select.POLLIN)
        while True:
            ready.poll()
            # Before anything is taken: see Feed.catch_up().
            self.busy = True
            while True:
                status = library.queue_next(self.queue, buffer, RECORD_SIZE, 1, 0, byref(number))
                if status == 0 and number.value == 0:
                    break
                if status == _abi.INTERRUPTED:
                    continue
                record = unpack(buffer) if status == 0 else None
                if record is None or record[STATUS]:
                    return
                lines = ctypes.string_at(record[DATA], record[SIZE])
                library.slabs_release(byref(ctypes.c_uint64(record[SLAB])), 1)
                self.go_through(lines)
                if record[INDEX] != self.dropped:
                    new, self.dropped = record[INDEX] - self.dropped, record[INDEX]
                    log("warning", f"{new} events of a client were dropped: they come faster than "
                        "logging's handlers take them", always=True)
            self.busy = False

    def go_through(self, lines):
        import json

        for line in lines.splitlines():
            try:
                self.take(json.loads(line))
            except Exception as why:
                # A filter of logging's, or no descriptor to import logging by. What comes after it is
                # told, too.
                if is_new(place_of(why)):
                    report()

    def take(self, event):
        kind = event["kind"]
        if kind == "progress":
            sink = self.sinks.get(event["tag"])
            if sink is not None:
                sink.done = event["done"]
                sink.total = event["total"] or sink.total
        elif kind == "token_needed":
            if self.tokens is not None:
                self.tokens.needed(self.client)
        elif kind in ("log", "retry"):
            log(event.get("level", "info"), event.get("text", ""), event)


class Feed:
    """A client's events. Letting go of it ends its thread, in the child of a fork nothing."""

    def __init__(self, client, tokens=None):
        # logging imports it, too. The thread that does so first is threading's main thread, which
        # the interpreter waits for at its end: it must not be that of the events.
        import threading  # noqa: F401

        from ._wait import new_queue

        self._events, error = EventsHandle(), ErrorHandle()
        self._state = state = _State(new_queue(), client, tokens)
        self._ended = ended = _thread.allocate_lock()
        self.runs = False
        checked(library.client_events(client, state.queue, 1, byref(self._events), byref(error)),
                error)
        ended.acquire()
        try:
            _threads.begin(_follow, state, ended)
            self.runs = True
        except RuntimeError as why:
            ended.release()
            # At the interpreter's end there are no new threads; nor does a call need one then.
            if "shutdown" not in str(why) and tokens is not None:
                raise

    def watch(self, tag, sink):
        """`sink` is told how far the call is that is about to begin with that tag; forget() it."""
        self._state.sinks[tag] = sink

    def forget(self, tag):
        self._state.sinks.pop(tag, None)

    def behind(self):
        """Whether there are events that the thread has not gone through. Its queue's descriptor is
        asked first: the thread says that it is busy before it takes anything."""
        import select

        ready = select.poll()
        ready.register(library.queue_fd(self._state.queue), select.POLLIN)
        return self.runs and (bool(ready.poll(0)) or self._state.busy)

    def catch_up(self, limit=1.0):
        """Waits until what came until now has been gone through."""
        until = monotonic() + limit
        while self.behind() and monotonic() < until:
            sleep(0.0005)

    @property
    def tokens(self):
        """The client's Tokens; None where the library has its own."""
        return self._state.tokens

    def end(self, wait=0.0):
        """Ends the thread, and waits for that so many seconds. Again it does nothing."""
        self.runs = False
        if self._state.tokens is not None:
            self._state.tokens.end()
        library.queue_close(self._state.queue)
        if wait and self._ended.acquire(timeout=wait):
            self._ended.release()

    def __del__(self):
        if library is not None and getattr(self, "_state", None) is not None:
            self.end()


def _follow(state, ended):
    try:
        state.follow()
    except BaseException:
        report()
    finally:
        state.busy = False
        ended.release()


def report():
    """Tells an exception that no caller is there for as Python tells those of threads."""
    threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))


_told = {}
_MOST_TOLD = 4096
_nobodys = {"verb": "", "bucket": "", "object": "", "attempt": 0, "delay": 0.0}


def is_new(what):
    """Whether that was not told before."""
    if len(_told) >= _MOST_TOLD and what not in _told:
        _told.clear()
    mine = object()  # the first of several threads has it there, by one call of C
    return _told.setdefault(what, mine) is mine


def place_of(why):
    """What tells an exception from others: its class, and where it was raised."""
    at = why.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    return type(why), at.tb_frame.f_code, at.tb_lineno


def log(level, text, event=None, always=False, exc_info=None):
    """A line to logging's "dataflux". A warning is one only once: a text, and a retry by verb and
    bucket, that was told before is told at the level INFO."""
    import logging

    logger = logging.getLogger("dataflux")
    if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
        # Without it logging prints warnings where a program has not set it up.
        logger.addHandler(logging.NullHandler())
    fields = dict(_nobodys)
    number = {"debug": 10, "info": 20, "warning": 30, "error": 40}.get(level, 20)
    if event is not None:
        for name in ("verb", "bucket", "object", "attempt"):
            fields[name] = event.get(name, fields[name])
        fields["delay"] = event.get("delay_ns", 0) / 1e9
    if event is not None and event["kind"] == "retry":
        once = (fields["verb"], fields["bucket"])
        wait = f"in {fields['delay']:.3g} s" if fields["delay"] else "at once"
        text = f"attempt {fields['attempt']} failed, the next one comes {wait}: {text}"
    else:
        once = text
    if number == 30 and not always:
        if not is_new(once):
            number, exc_info = 20, None
    if logger.isEnabledFor(number):
        logger.log(number, "%s", text, extra=fields, exc_info=exc_info)
