"""What the library gives: a pointer that is freed once, however it is let go of."""

from __future__ import annotations

import _thread
import os

from ._library import Pointer, library


# Two threads may let go of one handle, and without the interpreter's lock both might find it. A
# destructor may come while it is held, so a thread may take it again.
_one_frees = _thread.RLock()


class Handle(Pointer):
    """A pointer to something of the library's. It is made before the call that fills it, so that
    nothing is lost when an exception, a KeyboardInterrupt for one, comes between the two.

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

    def __del__(self):
        # The interpreter takes modules apart at its end, and the process frees everything. It is not
        # the library's function itself: of a cycle that is collected others may still use the handle,
        # and must find it empty.
        if self.value and library is not None:
            self.free()

    def __reduce__(self):
        raise TypeError("a handle of the library belongs to its process, and cannot be pickled")


def handle(name):
    """The class of handles that dataflux_<name>_free() frees."""
    return type(name, (Handle,), {"_free": name + "_free", "__slots__": ()})


ClientHandle = handle("client")
QueueHandle = handle("queue")
OperationHandle = handle("operation")
ErrorHandle = handle("error")
EventsHandle = handle("events")


def _in_child():
    global _one_frees
    _one_frees = _thread.RLock()  # another thread may have held it


os.register_at_fork(after_in_child=_in_child)
