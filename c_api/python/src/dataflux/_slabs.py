"""Memory of the library's as memoryviews. A view keeps its slab, which goes back when the last view of
it is gone, together with others, since a call for each is dear. Short items share a slab, and those
that come together share what exports it: a slab's memory is used again when all its items are gone.

What has to happen wholly or not at all, since a KeyboardInterrupt may come between two bytecodes, is
a single call of C that goes through an iterator.
"""

from __future__ import annotations

import ctypes
import os
from array import array
from collections import deque
from itertools import repeat

from ._library import library

_WAITING = 4 << 20  # bytes that may wait until they go back
_gone = []  # slabs of views that are gone
_asking = []  # ids of streams that will give back before they ask for more
_kinds = {}
_all = deque(maxlen=0).extend  # goes through an iterator

begin_asking = _asking.append


def end_asking(stream):
    """That stream gives nothing back any more: whatever waits does so now, and later at once."""
    if stream in _asking:
        _asking.remove(stream)
    give_back()


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


def _is_gone(self):
    try:
        _gone.extend(self.slabs)
    except AttributeError:  # it was never lent
        return
    if len(_gone) >= self.together or not _asking:
        give_back()


def _kind(bits):
    """What exports memory that has items of at most 2**bits bytes. Its own size is beyond all of
    them, since a type for each size would be dear to make: nobody sees it, for a view is cut."""
    kind = _kinds[bits] = type("Slab", (ctypes.c_ubyte * (1 << 46),), {
        "__slots__": ("slabs",), "__del__": _is_gone, "together": max(1, _WAITING >> bits)})
    return kind


SMALL = 0x10000
small_at = _kind(16).from_address  # what exports items of at most SMALL bytes, by their address


def large_at(address, size):
    """What exports a larger one."""
    bits = (size - 1).bit_length()
    return (_kinds.get(bits) or _kind(bits)).from_address(address)


def lend(exporters, slabs):
    """Each exporter keeps a list of slabs from now on. Whatever interrupts this: lent() says whether
    they keep all of them, or none. A slab of 0 is nobody's."""
    _all(map(setattr, exporters, repeat("slabs"), slabs))


def hand_back(slabs):
    """Gives back slabs that no exporter keeps."""
    _gone.extend(slabs)
    give_back()


def lent(exporters):
    return bool(exporters) and hasattr(exporters[-1], "slabs")


def _in_child():
    _asking.clear()  # they are the parent's


os.register_at_fork(after_in_child=_in_child)
