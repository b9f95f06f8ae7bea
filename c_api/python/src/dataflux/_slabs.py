"""Memory of the library's as memoryviews. Each view keeps its slab; the slab goes back when the last
view of it is gone, together with others, since a call for each is dear."""

from __future__ import annotations

import _thread
import ctypes
from array import array
from itertools import count

from ._library import library, method

_TOGETHER = 256  # slabs that go back at once
_SMALL = 1 << 20  # bytes of a slab that waits for others
_made = count(1)
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
            # An interrupt may have come before one got its number.
            numbers = array("Q", [each.slab for each in slabs if hasattr(each, "slab")])
            address, count, release = *numbers.buffer_info(), library.slabs_release
            # Between these two no interrupt comes.
            del _gone[:len(slabs)]
            release(address, count)
        finally:
            _releasing.release()


# What the exporters of small slabs have as their destructor puts them to _gone, where they live until
# give_back(). No bytecode runs in it: a KeyboardInterrupt that came there would be lost to who is to
# get it, and items go by the thousand.
_is_gone = method(_gone.append)


def _last_is_gone(self):
    _gone.append(self)
    give_back()


def _kind(bits, last):
    """A type of 2**bits bytes. One for each size would be dear to make; one that is larger than the
    item is not seen to be, since its view is cut."""
    kind = _kinds[bits, last] = type("Slab", (ctypes.c_ubyte * (1 << bits),), {
        "__slots__": ("slab",), "__del__": _last_is_gone if last else _is_gone})
    return kind


def view(address, size, slab):
    """The bytes at an address, as a memoryview of format "B" that keeps the slab, a number of the
    library's."""
    if not size and not slab:
        return memoryview(b"")
    bits = size.bit_length() if size > 0xFFFF else 16
    # Of small ones each so manieth gives back all that are gone when it goes.
    last = size >= _SMALL or not next(_made) % _TOGETHER
    exporter = (_kinds.get((bits, last)) or _kind(bits, last)).from_address(address)
    exporter.slab = slab
    return memoryview(exporter).cast("B")[:size] if size else memoryview(b"")
