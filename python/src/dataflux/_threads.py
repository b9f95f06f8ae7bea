"""Threads of the package's own. They are raw ones: the interpreter does not wait for them at its end.

Until 3.12 the interpreter's end takes a thread's state away from under it where the thread was
started, and has not begun: a crash. So who starts one notes that before, the thread strikes that out
when it begins, and the interpreter's end waits until nothing is noted, and lets none be started
after that.
"""

from __future__ import annotations

import _thread
import os

_LIMIT = 30.0  # seconds that a thread may take to begin

_IDLE = 5.0  # seconds that a thread waits for another call

_waiting = []  # of threads that use() may use again: by what each is given its next call
_beginning = {}  # by id: a lock that is held until a thread has begun
_ended = False


def begin(function, *arguments):
    """Begins a thread that calls a function. Does not wait for it. Any thread, destructors too.

    Raises: RuntimeError where there are no more threads; at the interpreter's end with "shutdown" in
    its text, as Python itself.
    """
    begun = _thread.allocate_lock()
    begun.acquire()
    number = []  # of the thread, by one call of C: an interrupt may come between two bytecodes
    _beginning[id(begun)] = begun  # first, since no_more() sets _ended first
    try:
        if _ended:
            raise RuntimeError("can't create new thread at interpreter shutdown")
        number.extend(map(_thread.start_new_thread, (_run,), ((begun, function, arguments),)))
    finally:
        if not number:
            _beginning.pop(id(begun), None)


def _run(begun, function, arguments):
    _beginning.pop(id(begun), None)
    begun.release()
    function(*arguments)


def use(function, *arguments):
    """As begin(), by a thread that waits behind such a call, where there is one: starting one costs
    more than short calls do."""
    try:
        put = _waiting.pop()
    except IndexError:
        begin(_serve, [(function, arguments)])
    else:
        put((function, arguments))


def _serve(given):
    from _queue import Empty, SimpleQueue

    mine = SimpleQueue()
    put = mine.put
    function, arguments = given.pop()
    while True:
        function(*arguments)
        function = arguments = None  # it keeps nothing of them
        _waiting.append(put)
        try:
            function, arguments = mine.get(timeout=_IDLE)
        except Empty:
            try:
                _waiting.remove(put)
                return
            except ValueError:  # it was taken in the meantime
                function, arguments = mine.get()


def all_of(weak):
    """What a WeakSet has, whatever other threads put into it meanwhile."""
    while True:
        try:
            return list(weak)
        except RuntimeError:  # it has changed
            pass


def no_more():
    """The interpreter ends: no thread is begun from now on, and all that were have begun."""
    global _ended
    _ended = True
    for begun in list(_beginning.values()):
        begun.acquire(timeout=_LIMIT)


def _in_child():
    _beginning.clear()  # they are the parent's
    _waiting.clear()


os.register_at_fork(after_in_child=_in_child)
