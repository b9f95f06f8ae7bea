"""Memory of the library's as memoryviews. A view keeps its slab, which goes back when the last view of
it is gone, together with others, since a call for each is dear. Short items share a slab, and those
that come together share what exports it: a slab's memory is used again when all its items are gone.

What has to happen wholly or not at all, since a KeyboardInterrupt may come between two bytecodes, is
a single call of C that goes through an iterator. A destructor in Python would swallow an interrupt,
and a loop that lets go of items would be in one most of the time: that of a slab is made of parts
in C, and only notes the slabs' numbers. Streams give back what was noted before they ask for more;
when none is open, each goes back by itself.
"""

from __future__ import annotations

import ctypes
import os
from array import array
from collections import deque
from functools import partial
from itertools import repeat
from operator import methodcaller
from weakref import ref

from ._library import library

_gone = []  # numbers of slabs whose views are gone
_asking = []  # ids of streams that will give back before they ask for more
_all = deque(maxlen=0).extend  # goes through an iterator
_batches = {}  # weak references to those that are not gone
# Calls self.slab(), which notes them, as a method that is written in C.
_call_slab = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(
    ("PyInstanceMethod_New", ctypes.pythonapi))(methodcaller("slab"))

begin_asking = _asking.append
# Kept for ever: where there is no interpreter's lock, a thread may call what another one has just
# taken out of a batch.
_notes = _gone.extend
_nothing = {}


def _goes_back(slabs):
    _gone.extend(slabs)
    give_back()


def end_asking(stream):
    """That stream gives nothing back any more: whatever waits goes back now."""
    try:
        _asking.remove(stream)
    except ValueError:
        pass  # it was ended before, or another thread does so now
    if not _asking:
        _arm()
    give_back()


def _arm():
    """Nobody will ask: from now on slabs of all batches go back by themselves."""
    for reference in list(_batches):
        batch = reference()
        if batch is not None:
            batch.__setstate__((_goes_back, (), _nothing, {}))


def _new_batch():
    """What slabs of a batch call with their number: one for all, so that it can be changed."""
    batch = partial(_notes)
    # One with attributes stays a part of those that are made of it.
    batch.__setstate__((_notes, (), _nothing, {}))
    _batches[ref(batch, _batches.pop)] = None
    # Looked at last: another thread that ends the last stream sees this batch, or is seen here.
    if not _asking:
        batch.__setstate__((_goes_back, (), _nothing, {}))
    return batch


def give_back():
    """Gives back all slabs of views that are gone. Any thread, destructors among them."""
    taken, done = [], []
    try:
        try:
            taken.extend(map(_gone.pop, repeat(-1, len(_gone))))
        except IndexError:
            pass  # another thread took the others
        if taken:
            numbers = array("Q", taken)
            done.extend(map(library.slabs_release, (numbers.buffer_info()[0],), (len(numbers),)))
    finally:
        if not done:
            _gone.extend(taken)


def _large_is_gone(self):
    self.slab()
    give_back()


def _exporter(ends):
    # Its own size is beyond all items, since a type for each size would be dear to make: nobody sees
    # it, for a view is cut.
    return type("Slab", (ctypes.c_ubyte * (1 << 46),), {"__slots__": ("slab",), "__del__": ends})


SMALL = (1 << 20) - 1  # bytes up to which an item is small; one that is larger goes back at once
small_at = _exporter(_call_slab).from_address  # what exports memory, by its address
large_at = _exporter(_large_is_gone).from_address


def lend(exporters, slabs):
    """Each exporter keeps a list of slabs from now on. Whatever interrupts this: lent() says whether
    they keep all of them, or none. A slab of 0 is nobody's."""
    _all(map(setattr, exporters, repeat("slab"), map(partial, repeat(_new_batch()), slabs)))


def lent(exporters):
    return bool(exporters) and hasattr(exporters[-1], "slab")


def hand_back(exporters, slabs):
    """Gives back slabs that the exporters were to keep, and do not."""
    _all(map(setattr, exporters, repeat("slab"), repeat(int)))  # something to call
    _gone.extend(slabs)
    give_back()


def _in_child():
    _asking.clear()  # they are the parent's
    _arm()


os.register_at_fork(after_in_child=_in_child)
