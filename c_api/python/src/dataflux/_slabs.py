"""Memory of the library's as memoryviews. Each view keeps its slab; the slab goes back when the last
view of it is gone, together with others, since a call for each is dear."""

from __future__ import annotations

import _thread
import ctypes
from array import array

from ._library import library

_TOGETHER = 256  # slabs that go back at once
_SMALL = 1 << 20  # bytes of a slab that waits for others
_gone = []
_releasing = _thread.allocate_lock()
_kinds = {}


def give_back():
    """Gives back all slabs of views that are gone."""
    # Appending is one step for all threads, and nothing else is done while this holds the lock: so
    # what is copied is what stands at the beginning still. A destructor may come anywhere.
    while _gone and _releasing.acquire(False):
        try:
            slabs = _gone[:]
            del _gone[:len(slabs)]
            numbers = array("Q", slabs)
            library.slabs_release(numbers.buffer_info()[0], len(numbers))
        finally:
            _releasing.release()


def _small_is_gone(self):
    _gone.append(self.slab)
    if len(_gone) >= _TOGETHER:
        give_back()


def _large_is_gone(self):
    _gone.append(self.slab)
    give_back()


def _kind(bits):
    """A type of 2**bits bytes. One for each size would be dear to make; one that is larger than the
    item is not seen to be, since its view is cut."""
    ends = _small_is_gone if 1 << bits <= _SMALL else _large_is_gone
    kind = _kinds[bits] = type("Slab", (ctypes.c_ubyte * (1 << bits),),
                               {"__slots__": ("slab",), "__del__": ends})
    return kind


def view(address, size, slab):
    """The bytes at an address, as a memoryview of format "B" that keeps the slab, a number of the
    library's."""
    if not size:
        if slab:
            _gone.append(slab)
        return memoryview(b"")
    bits = size.bit_length() if size > 0xFFFF else 16
    exporter = (_kinds.get(bits) or _kind(bits)).from_address(address)
    exporter.slab = slab
    return memoryview(exporter).cast("B")[:size]
