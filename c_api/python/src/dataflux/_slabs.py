"""Memory of the library's as memoryviews. Each view keeps its slab; the slab goes back when the last
view of it is gone, together with others, since a call for each is dear.

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
        _gone.append(self.slab)
    except AttributeError:  # it was never lent
        return
    if len(_gone) >= self.together or not _asking:
        give_back()


def _kind(bits):
    """A type of 2**bits bytes. One for each size would be dear to make; one that is larger than the
    item is not seen to be, since its view is cut."""
    kind = _kinds[bits] = type("Slab", (ctypes.c_ubyte * (1 << bits),), {
        "__slots__": ("slab",), "__del__": _is_gone,
        "together": max(1, _WAITING >> bits)})
    return kind


_SMALL = _kind(16)


def _kind_of(size):
    return _SMALL if size <= 0x10000 else \
        _kinds.get((size - 1).bit_length()) or _kind((size - 1).bit_length())


def export(exporters, addresses, sizes, slabs):
    """Adds what keeps the slabs to `exporters`, in order. Whatever interrupts this: exported() says
    whether it keeps all of them, or none. A slab of 0 is nobody's."""
    if max(sizes) <= 0x10000:
        exporters.extend(map(_SMALL.from_address, addresses))
    else:
        exporters.extend([_kind_of(size).from_address(address)
                          for address, size in zip(addresses, sizes)])
    _all(map(setattr, exporters, repeat("slab"), slabs))


def hand_back(slabs):
    """Gives back slabs that no exporter has."""
    _gone.extend(slabs)
    give_back()


def exported(exporters):
    return bool(exporters) and hasattr(exporters[-1], "slab")


def _in_child():
    _asking.clear()  # they are the parent's


os.register_at_fork(after_in_child=_in_child)
