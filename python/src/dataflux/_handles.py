"""What the library gives: a pointer that is freed once, however it is let go of.

Its destructor is made of parts in C. One in Python would swallow a KeyboardInterrupt, or whatever
else a signal's handler raises, where that came while it runs: Python tells of exceptions in
destructors, and goes on.
"""

from __future__ import annotations

import _thread
import os
from operator import attrgetter, methodcaller

from ._library import Pointer, library, method


# Two threads may let go of one handle, and without the interpreter's lock both might find it. A
# destructor may come while it is held, so a thread may take it again.
_one_frees = _thread.RLock()


class Handle(Pointer):
    """A pointer to something of the library's. It is made before the call that fills it, so that
    nothing is lost when an exception, a KeyboardInterrupt for one, comes between the two. Letting go
    of it frees it, and after that what is in its __dict__.

    In the child of a fork freeing does nothing: what the parent had is not the child's.
    """

    _free = ""  # the function that frees it, without "dataflux_"

    def free(self):
        """Lets go; again does nothing. Any thread."""
        release = getattr(library, self._free)
        value = None
        try:
            with _one_frees:
                value, self.value = self.value, None
        finally:  # an interrupt may come once it is empty
            if value:
                release(value)

    def moved(self):
        """A handle that has what this one had, which is empty then. For a destructor that leaves the
        rest to another thread: of a cycle that is collected this handle's destructor follows, and
        would free what that thread frees."""
        other = type(self)()
        with _one_frees:
            other.value, self.value = self.value, None
        other.__dict__.update(self.__dict__)
        return other

    def __reduce__(self):
        raise TypeError("a handle of the library belongs to its process, and cannot be pickled")


def handle(name):
    """The class of handles that dataflux_<name>_free() frees."""
    kind = type(name, (Handle,), {"_free": name + "_free", "__slots__": ()})
    library.when_loaded(lambda: _let_go_frees(kind))
    return kind


def _let_go_frees(kind):
    # Two steps by what reads two attributes, which are functions in C of the handle. Of a cycle that
    # is collected others may still use it, and find it empty.
    kind._freed = property(getattr(library, kind._free))
    kind._emptied = property(methodcaller("__setattr__", "value", None))
    kind.__del__ = method(attrgetter("_freed", "_emptied"))


ClientHandle = handle("client")
QueueHandle = handle("queue")
OperationHandle = handle("operation")
ErrorHandle = handle("error")
EventsHandle = handle("events")


def cancel(operation, call):
    """Cancels a call that another thread waits for, which may free its operation meanwhile, and use the
    handle for its next call: who frees one names no call any more."""
    with _one_frees:
        if operation and operation.call is call:
            library.operation_cancel(operation)


def _in_child():
    global _one_frees
    _one_frees = _thread.RLock()  # another thread may have held it


os.register_at_fork(after_in_child=_in_child)
