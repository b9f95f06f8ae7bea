"""Memory of the library's as memoryviews. A view keeps its slab, which goes back when the last view of
it is gone. Short items share a slab, and those that come together share what exports it: a slab's
memory is used again when all its items are gone.

What has to happen wholly or not at all, since a KeyboardInterrupt may come between two bytecodes, is
a single call of C that goes through an iterator. A destructor in Python would swallow an interrupt,
and a loop that lets go of items would be in one most of the time: that of what exports a slab is made
of parts in C, and calls the library itself.
"""

from __future__ import annotations

import ctypes
from array import array
from collections import deque
from functools import partial
from itertools import repeat
from operator import methodcaller

from ._library import byref, library, method

_all = deque(maxlen=0).extend  # goes through an iterator
_number_in = ctypes.c_uint64.from_buffer

# What exports memory, by its address. Its own size is beyond all items, since a type for each size
# would be dear to make: nobody sees it, for a view is cut. Letting go of it calls its `back`.
exporter_at = type("Memory", (ctypes.c_ubyte * (1 << 46),), {
    "__slots__": ("back",), "__del__": method(methodcaller("back"))}).from_address


def lend(exporters, slabs, counts):
    """Each exporter keeps as many of the slabs, in their order, as `counts` says of it, and gives them
    back when it is let go of. Whatever interrupts this: lent() says whether they keep all of them, or
    none. A slab of 0 is nobody's."""
    numbers = array("Q", slabs)
    begins, begin = [], 0
    for count in counts:
        begins.append(8 * begin)
        begin += count
    _all(map(setattr, exporters, repeat("back"),
             map(partial, repeat(library.slabs_release),
                 map(byref, map(_number_in, repeat(numbers), begins)), counts)))


def lent(exporters):
    return bool(exporters) and hasattr(exporters[-1], "back")


def hand_back(exporters, slabs):
    """Gives back slabs that the exporters were to keep, and do not."""
    numbers = array("Q", slabs)
    _all(map(setattr, exporters, repeat("back"), repeat(int)))  # something to call
    library.slabs_release(numbers.buffer_info()[0], len(numbers))
