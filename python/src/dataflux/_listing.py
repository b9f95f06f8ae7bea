"""Listing: objects in order of their names, as a sequence of rows on the library's columns; and its rows in
any order."""

from __future__ import annotations

from _collections_abc import Sequence
from array import array
from itertools import compress, repeat
from operator import eq

from ._calls import checked
from ._columns import Table, chosen
from ._handles import ErrorHandle
from ._library import Size, byref, library
from ._place import _checked, bucket_url, count_of, place_of, scheme_of_told, url_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, Iterator, overload

    import numpy
    import pandas
    import pyarrow


def text_of(value, argument):
    """A text as the service has names: UTF-8 without a NUL."""
    if not isinstance(value, str):
        raise TypeError(f"{argument}: a str is needed, and not a {type(value).__name__}")
    return _checked(value, argument)


class Row:
    """An object of a listing. A plain record: changing it changes nothing else.

    bucket, name
    size         bytes
    generation   of its content: what is written anew has another one
    crc32c       of its content; None where the service gave none
    """

    __slots__ = ("bucket", "name", "size", "generation", "crc32c", "__weakref__")
    _scheme = scheme_of_told

    bucket: str
    name: str
    size: int
    generation: int
    crc32c: int | None

    def __init__(self, bucket: str, name: str, size: int, generation: int,
                 crc32c: int | None) -> None:
        self.bucket = bucket
        self.name = name
        self.size = size
        self.generation = generation
        self.crc32c = crc32c

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return url_of(self.bucket, self.name)

    def _place(self, argument):
        return place_of(self, argument)

    def _key(self):
        return self.bucket, self.name, self.generation, self.size, self.crc32c

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Row) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.bucket, self.name, self.generation))

    def __repr__(self) -> str:
        return f"<dataflux.Row {self.url}, {self.size} bytes, generation {self.generation}>"

    def __reduce__(self):
        return Row, (self.bucket, self.name, self.size, self.generation, self.crc32c)


class _Chosen:
    """Rows of a table: `_rows` is None for all, a range, or an array("Q") of their numbers."""

    __slots__ = ("_table", "_rows", "__weakref__")

    def __init__(self, table, rows=None):
        self._table = table
        self._rows = None if rows == range(table.size) else rows

    def __len__(self) -> int:
        return self._table.size if self._rows is None else len(self._rows)

    def _numbers(self):
        return range(self._table.size) if self._rows is None else self._rows

    def _number(self, index):
        """The number in the table of a row, by its index here."""
        try:
            return self._numbers()[index]
        except IndexError:
            raise IndexError(f"row {index} of {len(self)}") from None
        except TypeError:
            raise TypeError("rows are chosen by numbers and slices, and not by a "
                            f"{type(index).__name__}") from None

    def _found(self, value):
        """The table's numbers of rows that are equal to `value`."""
        raise NotImplementedError

    def _indices(self, value):
        """Where `value` is, in this order."""
        numbers = self._numbers()
        if isinstance(numbers, range):
            return sorted(numbers.index(each) for each in self._found(value) if each in numbers)
        # A filter's rows: each at most once.
        wanted = self._found(value)
        return sorted(numbers.index(each) for each in wanted if each in numbers) if wanted else []

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Where it is first. Raises: ValueError where it is not."""
        start, stop, _ = slice(start, stop).indices(len(self))
        for index in self._indices(value):
            if start <= index < stop:
                return index
        raise ValueError(f"{value!r} is not there")

    def count(self, value: Any) -> int:
        """How often it is there: more than once is a name with several generations only."""
        return len(self._indices(value))

    def __contains__(self, value: object) -> bool:
        return bool(self._indices(value))

    def __reversed__(self):
        return iter(self[::-1])

    def __copy__(self):
        return self  # immutable

    def __deepcopy__(self, memo):
        return self


class Names(_Chosen, Sequence["str"]):
    """The names of a listing's rows: a sequence of str, which are made when they are asked for.
    Whether a name is there is found in the time of some 20 comparisons."""

    __slots__ = ()

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Names(self._table, self._numbers()[index])
        row = self._number(index)
        chunk = self._table.chunk(row)
        return chunk.name(row - chunk.first)

    def __iter__(self) -> Iterator[str]:
        for chunk, rows in self._table.runs(self._rows):
            yield from chunk.names(rows)

    def _found(self, value):
        return self._table.of_name(value) if isinstance(value, str) else range(0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Names, list, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"<names of {len(self)} rows: {shown}{', ...' if len(self) > 3 else ''}>"

    def __reduce__(self):
        return list, (list(self),)


class Listing(_Chosen, Sequence["Row"]):
    """Objects in order of their names' UTF-8 bytes: an immutable sequence of Row.

    Slices, where() and filter() give listings of some of the rows, which copy no column. `row in
    listing` and index() accept a name, too. Arrow libraries read it without a copy: pyarrow.table(
    listing), polars.from_arrow(listing), and the like.

    It is plain memory, which outlives its client, and may be used in the child of a fork. It is not
    pickled: save_manifest() is how many processes share one, and its rows pickle one by one.

    Threads: any.
    """

    __slots__ = ("_bytes",)
    _scheme = scheme_of_told

    def __init__(self, table: Table, rows: Any = None) -> None:
        super().__init__(table, rows)
        self._bytes = None

    @property
    def _handle(self):
        """The library's listing; `_rows` of it are chosen."""
        return self._table.handle

    @property
    def bucket(self) -> str:
        """Where the objects are."""
        return self._table.bucket

    @property
    def prefixes(self) -> Sequence[str]:
        """What a `delimiter` has folded, of the whole listing."""
        return tuple(self._table.json().get("prefixes", ()))

    @property
    def summary(self) -> Dict[str, Any]:
        """What was done to list, of the whole listing: "objects", "bytes", "pages", "calls",
        "dropped" by reason, and "missing", the ranges of names that on_error="omit" left out, with
        their "cause". Of a batch, and of a manifest's rows, there is less."""
        return dict(self._table.json())

    @property
    def total_bytes(self) -> int:
        """Of all objects together."""
        if self._bytes is None:
            whole = self._table.json().get("bytes") if self._rows is None else None
            self._bytes = whole if whole is not None else sum(
                sum(chosen(chunk.sizes, rows)) for chunk, rows in self._table.runs(self._rows))
        return self._bytes

    @property
    def names(self) -> Sequence[str]:
        """Of the rows: a sequence, whose str are made when they are asked for."""
        return Names(self._table, self._rows)

    if TYPE_CHECKING:
        @overload
        def __getitem__(self, index: int) -> Row: ...
        @overload
        def __getitem__(self, index: slice) -> Listing: ...

    def __getitem__(self, index: Any) -> Any:
        """A row by its number, or a Listing of some of them by a slice."""
        if isinstance(index, slice):
            return Listing(self._table, self._numbers()[index])
        return self._row(self._number(index))

    def _row(self, number):
        chunk = self._table.chunk(number)
        row = number - chunk.first
        return Row(self._table.bucket, chunk.name(row), chunk.sizes[row], chunk.generations[row],
                   chunk.crc32c(row))

    def __iter__(self) -> Iterator[Row]:
        bucket = repeat(self._table.bucket)
        for chunk, rows in self._table.runs(self._rows):
            yield from map(Row, bucket, chunk.names(rows), chosen(chunk.sizes, rows),
                           chosen(chunk.generations, rows), chunk.crc32cs(rows))

    def _found(self, value):
        if isinstance(value, str):
            return self._table.of_name(value)
        if isinstance(value, Row) and value.bucket == self.bucket:
            return [row for row in self._table.of_name(value.name) if self._row(row) == value]
        return range(0)

    def take(self, rows: Iterable[int]) -> Rows:
        """Rows by their numbers here, in that order, each as often as it is named: for
        client.get_many(), to which no name goes. A Sampler's rows() are such numbers.

        Arguments:
            rows: an array of uint64, such as array("Q") or numpy's, or any sequence of int.

        Raises: IndexError for a number that is not there; TypeError, ValueError for what is none.
        """
        numbers = numbers_of(rows, len(self))
        if self._rows is not None:
            numbers = array("Q", map(self._rows.__getitem__, numbers))
        return Rows(Listing(self._table), numbers)

    def where(self, *, min_size: int = 0, max_size: int | None = None, prefix: str | None = None,
              suffix: str | None = None, glob: str | None = None) -> Listing:
        """The rows that all conditions hold of.

        Arguments:
            min_size, max_size: bytes; both are within. None = no bound.
            prefix, suffix: of the name.
            glob: a pattern of the whole name, as fnmatch has it: "*" stands for any characters, "/"
                among them. Case counts.
        """
        count_of(min_size, "min_size")
        if max_size is not None:
            count_of(max_size, "max_size")
        for text, argument in ((prefix, "prefix"), (suffix, "suffix"), (glob, "glob")):
            if text is not None:
                text_of(text, argument)
        left, tests = self, []
        if prefix:
            numbers = self._numbers()
            if isinstance(numbers, range) and numbers.step == 1:
                left = self._between(*self._table.of_prefix(prefix))
            else:
                tests.append(lambda name: name.startswith(prefix))
        if suffix:
            tests.append(lambda name: name.endswith(suffix))
        if glob is not None:
            import fnmatch
            import re

            tests.append(re.compile(fnmatch.translate(glob)).match)
        most = float("inf") if max_size is None else max_size
        if min_size or max_size is not None:
            left = left._kept(lambda chunk, rows: [min_size <= size <= most for size
                                                   in chosen(chunk.sizes, rows)])
        for test in tests:
            left = left._kept(lambda chunk, rows: map(test, chunk.names(rows)))
        return left

    def _between(self, least, end):
        """Of rows that have no gap, those of the table's rows from `least` to `end`."""
        numbers = self._numbers()
        least = max(least, numbers.start)
        return Listing(self._table, range(least, max(least, min(end, numbers.stop))))

    def _kept(self, choose):
        """The rows for which `choose(chunk, rows)` says so, in this order."""
        kept = array("Q")
        for chunk, rows in self._table.runs(self._rows):
            first = chunk.first
            kept.extend([first + row for row in compress(rows, choose(chunk, rows))])
        return Listing(self._table, kept)

    def filter(self, keep: Callable[[Row], object] | Iterable[object]) -> Listing:
        """The rows that `keep` says: a function of a Row, or a sequence with a truth for each row,
        such as an array of numpy's or of pyarrow's.

        Raises: TypeError for anything else; ValueError where there is not one for each row.
        """
        if callable(keep):
            chosen_rows = map(keep, self)
            return Listing(self._table, array("Q", compress(self._numbers(), chosen_rows)))
        # The elements of numpy's and pyarrow's arrays are dear one by one.
        as_list = getattr(keep, "tolist", None) or getattr(keep, "to_pylist", None)
        if as_list is not None:
            keep = as_list()
        if isinstance(keep, (str, bytes)) or not hasattr(keep, "__len__"):
            raise TypeError("keep: a function of a row, or a truth for each row is needed, and not "
                            f"a {type(keep).__name__}")
        if len(keep) != len(self):
            raise ValueError(f"keep: {len(keep)} truths for {len(self)} rows")
        if any(isinstance(each, int) and not isinstance(each, bool) for each in keep):
            raise TypeError("keep: its elements are bool, and no numbers of rows")
        return Listing(self._table, array("Q", compress(self._numbers(), keep)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows for any Arrow library: columns "name" (utf8), "size" (uint64), "generation"
        (int64), "crc32c" (uint32, null where the service gave none), a batch for each chunk.

        Nothing is copied of a whole listing. A slice, and what a filter has left, need pyarrow.
        """
        from ._arrow import stream_of

        return stream_of(self, requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow.Table; of all rows, and of slices that have every row, without a copy."""
        from ._arrow import table_of

        return table_of(self)

    def to_numpy(self) -> Dict[str, numpy.ndarray[Any, Any]]:
        """The columns as arrays: "name" (str, as objects), "size" (uint64), "generation" (int64),
        and "crc32c" (uint32, a masked array where the service gave none of some rows).

        Numbers are not copied, and cannot be written to, where all rows lie in one chunk.
        """
        from ._arrow import arrays_of

        return arrays_of(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas.DataFrame with the columns of to_numpy()."""
        import pandas

        return pandas.DataFrame(self.to_numpy())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Listing):
            return NotImplemented
        if self._table is other._table and self._rows == other._rows:
            return True
        return (self.bucket == other.bucket and len(self) == len(other)
                and all(map(Row.__eq__, self, other)))

    __hash__ = None

    def __repr__(self) -> str:
        folded = f", {len(self.prefixes)} prefixes" if self._rows is None and self.prefixes else ""
        missing = ", INCOMPLETE" if self._table.json().get("missing") else ""
        return (f"<dataflux.Listing of {self._table.url}: {len(self)} objects, "
                f"{self.total_bytes} bytes{folded}{missing}>")

    def _repr_html_(self) -> str:
        from html import escape

        shown = list(self) if len(self) <= 10 else [*self[:5], None, *self[-5:]]
        lines = ["<tr><td colspan=4>&#8942;</td></tr>" if row is None else
                 f"<tr><td>{escape(row.name)}</td><td>{row.size}</td><td>{row.generation}</td>"
                 f"<td>{'' if row.crc32c is None else format(row.crc32c, '08x')}</td></tr>"
                 for row in shown]
        return (f"<p>{escape(repr(self)[1:-1])}</p><table><thead><tr><th>name</th><th>size</th>"
                "<th>generation</th><th>crc32c</th></tr></thead><tbody>" + "".join(lines)
                + "</tbody></table>")

    def __reduce__(self):
        raise TypeError("a Listing is not pickled, since each process would have a copy of its own: "
                        "save it by client.save_manifest(), and open that in each, or pickle rows")


def numbers_of(rows, size, argument="rows", what="row"):
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
            raise TypeError(f"{argument}: numbers of {what}s are needed, as a sequence or as an array of "
                            f"uint64, and not a {type(rows).__name__}")
        as_list = getattr(rows, "tolist", None)  # an array of another type, such as int64
        numbers = array("Q", [count_of(each, argument) for each in (as_list() if as_list else rows)])
    if numbers and max(numbers) >= size:
        raise IndexError(f"{argument}: {what} {max(numbers)} of {size}")
    return numbers


class Rows(Sequence["Row"]):
    """Rows of a listing in the order in which they were asked for, by Listing.take(): an immutable
    sequence of Row, for client.get_many() above all, to which only numbers go.

    Threads: any.
    """

    __slots__ = ("_listing", "_rows", "__weakref__")
    _scheme = scheme_of_told

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
        return f"<dataflux.Rows of {bucket_url(self.bucket)}: {len(self)} of {len(self._listing)}>"

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

    total: int | None = None  # how many there are, where it is known
    _scheme = scheme_of_told

    def __init__(self, listing: Listing, stretches: Iterable[array[int]]) -> None:
        self._listing = listing
        self._begin(listing.bucket, stretches)

    def _begin(self, bucket, stretches):
        self._from: Iterator[array[int]] = iter(stretches)
        self._rows = array("Q")
        self._at = 0
        self.bucket = bucket.encode()
        self.asked: dict[int, int] = {}
        self.pushed = 0
        self.ended = False

    def __repr__(self) -> str:
        return f"<dataflux.RowFeed of {bucket_url(self.bucket.decode())}: {self.pushed} rows so far>"

    @property
    def _handle(self):
        return self._listing._handle

    def _push(self, getter, *rows):
        return library.getter_push_rows(getter, *rows)

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
            # First, for another thread may have the items before this one goes on.
            self.asked.update(zip(range(self.pushed, self.pushed + some),
                                  self._rows[self._at:self._at + some]))
            checked(self._push(getter, begin, some, byref(taken), byref(error)), error)
            count = taken.value
            self.pushed += count
            self._at += count
            return count == some and most > some
        return False

    def finished(self):
        """All were pushed."""
        return self.ended
