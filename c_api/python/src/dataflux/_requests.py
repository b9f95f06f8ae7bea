"""Requests of get_many() that come from an iterable, as the library takes them: by columns."""

from __future__ import annotations

from array import array
from itertools import accumulate, islice

from ._calls import checked
from ._handles import ErrorHandle
from ._library import Size, byref, library, struct
from ._place import count_of, object_place, url_of

_ALL = 2**64 - 1  # of a length, to the end; of an object's size, not known
AHEAD = 4096  # requests that are taken from an iterable before their items came
_FIRST, _AT_ONCE = 16, 512


class Requests:
    """Takes requests of one bucket from an iterable when there is room for them, and pushes them.
    One thread at a time.

    bucket   None where there is not one request
    asked    by index: what was taken from the iterable, until its item takes it
    """

    def __init__(self, iterable):
        self._from = iter(iterable)
        self.bucket = None
        self.asked = {}
        self._number = 0
        self._some = _FIRST
        self._begins = ""  # of the bucket's URLs
        self._columns = None
        self._at = self._left = 0  # of the columns: where those begin that were not pushed yet
        # Whose bucket it is has to be known at the beginning.
        self._first = [self._row(each) for each in islice(self._from, 1)]
        self.ended = not self._first

    def _row(self, request):
        """(request, name, generation, size, offset, length)"""
        if type(request) is str and self._begins and request.startswith(self._begins):
            name = request[len(self._begins):]
            if name and name.isascii() and "\0" not in name:
                return request, name.encode(), 0, _ALL, 0, _ALL
        place, offset, length = request, 0, _ALL
        if isinstance(request, tuple) and len(request) == 3:
            place, offset, length = request
            offset = count_of(offset, "requests: an offset")
            length = _ALL if length is None else count_of(length, "requests: a length")
        bucket, name, generation = object_place(place, "requests")
        if bucket != self.bucket:
            if self.bucket is not None:
                raise ValueError(f"requests: all are of one bucket, and not of {self.bucket.decode()}"
                                 f" and {bucket.decode()}: call get_many() for each")
            self.bucket = bucket
            self._begins = url_of(bucket.decode(), "")
        size = place.size if generation else _ALL  # a row or an Object has both
        return request, name, generation, size, offset, length

    def push(self, getter, most):
        """Pushes at most so many; gives how many. What the iterable raises comes out of it."""
        pushed = 0
        while pushed < most and (self._left or self._take(min(self._some, most - pushed))):
            # The first few go out at once; later many at a time are cheaper.
            self._some = min(2 * self._some, _AT_ONCE)
            taken, error = Size(), ErrorHandle()
            checked(library.getter_push(getter, byref(self._columns_left()), self._left,
                                        byref(taken), byref(error)), error)
            pushed += taken.value
            self._at += taken.value
            self._left -= taken.value
            if self._left:  # the library has no room for more
                break
        return pushed

    def finished(self):
        """All were pushed."""
        return self.ended and not self._left

    def _take(self, most):
        if self.ended:
            return False
        rows, self._first = self._first, []
        rows += map(self._row, islice(self._from, most - len(rows)))
        self.ended = len(rows) < most
        if not rows:
            return False
        asked, names, *numbers = zip(*rows)
        self.asked.update(enumerate(asked, self._number))
        self._number += len(rows)
        # A column that has its default everywhere is left out.
        self._columns = (b"".join(names), array("Q", accumulate(map(len, names), initial=0)), [
            array(letter, column) if column.count(default) < len(rows) else None
            for letter, column, default in zip("qQQQ", numbers, (0, _ALL, 0, _ALL))])
        self._left, self._at = len(rows), 0
        return True

    def _columns_left(self):
        texts, ends, numbers = self._columns
        made = struct("get_columns", names=texts)
        made.name_offsets, made.generations, made.object_sizes, made.offsets, made.lengths = (
            None if column is None else column.buffer_info()[0] + 8 * self._at
            for column in (ends, *numbers))
        return made
