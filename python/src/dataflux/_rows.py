"""Rows of a listing in any order."""

from __future__ import annotations

from _collections_abc import Sequence
from array import array
from operator import eq

from ._calls import checked
from ._handles import ErrorHandle
from ._library import Size, byref, library
from ._place import count_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable, Iterator, overload

    from ._listing import Listing, Row


def numbers_of(rows, size):
    """An array("Q") of numbers below `size`."""
    try:
        view = memoryview(rows)
    except TypeError:
        view = None
    if view is not None and view.ndim == 1 and view.contiguous and view.format in ("Q", "L"):
        numbers = array("Q")
        numbers.frombytes(view.cast("B"))
    else:
        if isinstance(rows, (str, bytes)) or not hasattr(rows, "__iter__"):
            raise TypeError("rows: numbers of rows are needed, as a sequence or as an array of "
                            f"uint64, and not a {type(rows).__name__}")
        as_list = getattr(rows, "tolist", None)  # an array of another type, such as int64
        numbers = array("Q", [count_of(each, "rows") for each in (as_list() if as_list else rows)])
    if numbers and max(numbers) >= size:
        raise IndexError(f"rows: row {max(numbers)} of a listing of {size}")
    return numbers


class Rows(Sequence["Row"]):
    """Rows of a listing in the order in which they were asked for, by Listing.take(): an immutable
    sequence of Row, for client.get_many() above all, to which only numbers go.

    Threads: any.
    """

    __slots__ = ("_listing", "_rows", "__weakref__")

    def __init__(self, listing: Listing, rows: array[int]) -> None:
        self._listing = listing  # all rows of a table
        self._rows = rows

    @property
    def bucket(self) -> str:
        """Where the objects are."""
        return self._listing.bucket

    @property
    def numbers(self) -> array[int]:
        """The numbers of the rows in the whole listing."""
        return self._rows[:]

    def __len__(self) -> int:
        return len(self._rows)

    if TYPE_CHECKING:
        @overload
        def __getitem__(self, index: int) -> Row: ...
        @overload
        def __getitem__(self, index: slice) -> Rows: ...

    def __getitem__(self, index: Any) -> Any:
        """A row by its place here, or Rows by a slice."""
        if isinstance(index, slice):
            return Rows(self._listing, self._rows[index])
        return self._listing[self._rows[index]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        if self._listing._table is other._listing._table and self._rows == other._rows:
            return True
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # as of any sequence that is compared by value

    def __copy__(self):
        return self  # immutable

    def __deepcopy__(self, memo):
        return self

    def __repr__(self) -> str:
        return f"<dataflux.Rows of gs://{self.bucket}: {len(self)} of {len(self._listing)}>"

    def __reduce__(self):
        return self._listing.__reduce__()

    # For get_many().

    @property
    def _handle(self):
        return self._listing._handle

    def _numbers(self):
        return self._rows


class RowFeed:
    """Rows of a listing for get_many(), from an iterable that may have no end: stretches of numbers
    of rows, each an array("Q"). They are taken while items come, some thousands ahead of them. An
    item's `row` is its number.

    One get_many() takes from it.
    """

    def __init__(self, listing: Listing, stretches: Iterable[array[int]]) -> None:
        self._listing = listing
        self._from: Iterator[array[int]] = iter(stretches)
        self._rows = array("Q")
        self._at = 0
        self.bucket = listing.bucket.encode()
        self.asked: dict[int, int] = {}
        self.pushed = 0
        self.ended = False

    def __repr__(self) -> str:
        return f"<dataflux.RowFeed of gs://{self._listing.bucket}: {self.pushed} rows so far>"

    @property
    def _handle(self):
        return self._listing._handle

    def push(self, getter, most):
        """Pushes some of at most so many. Gives whether more could follow now."""
        if self._at == len(self._rows):
            rows = next(self._from, None)
            if rows is None:
                self.ended = True
                return False
            self._rows, self._at = rows, 0
        some = min(most, len(self._rows) - self._at)
        if some:
            taken, error = Size(), ErrorHandle()
            begin = self._rows.buffer_info()[0] + 8 * self._at
            checked(library.getter_push_rows(getter, begin, some, byref(taken), byref(error)), error)
            count = taken.value
            self.asked.update(zip(range(self.pushed, self.pushed + count),
                                  self._rows[self._at:self._at + count]))
            self.pushed += count
            self._at += count
            return count == some and most > some
        return False

    def finished(self):
        """All were pushed."""
        return self.ended
