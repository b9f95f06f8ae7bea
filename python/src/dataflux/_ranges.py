"""Many ranges of one object, each into memory of its own."""

from __future__ import annotations

from array import array

from ._calls import Call
from ._lent import Lent, new_bytes
from ._library import byref, filled, library
from ._place import count_of


class Columns:
    """Ranges, (offset, size) of each, and the addresses that they are read into, as the library takes
    them."""

    __slots__ = ("_arrays", "_count")

    def __init__(self, rows, into):
        self._count = len(rows)
        # A type of C for each number of them would be dear to make, and has cycles.
        self._arrays = (array("Q", [offset for offset, _ in rows]), array("Q", [size for _, size in rows]),
                        array("Q", [address or 0 for address in into]))

    def read(self, reader, queue, tag, out, err):
        """Begins to read them by a handle of a reader; the status."""
        columns = filled("range_columns", *[each.buffer_info()[0] for each in self._arrays])
        return library.reader_read_ranges(reader, byref(columns), self._count, queue, tag, out, err)


class Ranges:
    """What was asked for, and the memory that it is read into, lent until release(); as of Lent."""

    __slots__ = ("_rows", "_made", "_lent", "call")

    __enter__, __exit__ = Lent.__enter__, Lent.__exit__

    def __init__(self, ranges):
        self._rows = [_range_of(each) for each in _each(ranges, "ranges")]
        self._made, self._lent = [], []
        self.call = None

    def lend(self, into):
        """Memory for each, which is read into. Without it, and for None, it is read into new bytes."""
        if into is None:
            return
        self._made = None
        for i, memory in enumerate(_each(into, "into")):
            self._lent.append(Lent(memory, f"into[{i}]", writable=True))
        sizes = [lent.size for lent in self._lent]
        if sizes != [size for _, size in self._rows]:
            raise ValueError("into: as many buffers as there are ranges are needed, of their "
                             f"sizes, and not {len(sizes)} of {sizes[:10]} bytes")

    def _make(self, there):
        """Memory for each, of an object of so many bytes. What it has not gets none, however long:
        the library refuses it before anything is read."""
        for offset, size in self._rows:
            self._made.append(new_bytes(size if offset + size <= there else 0))
            self._lent.append(Lent(self._made[-1], "ranges"))
        return [lent.address if lent.size == size else None
                for lent, (_, size) in zip(self._lent, self._rows)]

    def read(self, reader):
        """The Call that reads them by a handle of a reader. It gives the bytes of each, or None
        where they were read into memory of the caller's."""
        if self._made is None:
            into = [lent.address for lent in self._lent]
        else:
            into = self._make(library.reader_size(reader))
        columns = Columns(self._rows, into)
        self.call = Call(lambda client, queue, tag, out, err:
                         columns.read(reader, queue, tag, out, err),
                         lambda operation, record: self._made, self)
        return self.call

    def release(self):
        """The memory is the caller's alone again."""
        for lent in self._lent:
            lent.release()


def _each(given, argument):
    try:
        return iter(given)
    except TypeError:
        raise TypeError(f"{argument}: an iterable is needed, and not a "
                        f"{type(given).__name__}") from None


def _range_of(given):
    try:
        offset, size = given
    except (TypeError, ValueError):
        raise TypeError(f"ranges: pairs (offset, size) are needed, and not {given!r}") from None
    return count_of(offset, "ranges: an offset"), count_of(size, "ranges: a size")
