"""Requests of get_many() that come from an iterable, as the library takes them: by columns."""

from __future__ import annotations

from array import array
from itertools import accumulate, islice
from time import monotonic

from ._calls import checked
from ._handles import ErrorHandle
from ._library import Size, byref, library, struct
from ._place import count_of, is_url, member_of, url_of

_ALL = 2**64 - 1  # of a length, to the end; of an object's size, not known
AHEAD = 4096  # requests that are taken from an iterable before their items came
_AT_ONCE = 512  # taken from it before they are pushed; the first few go out at once
_SLOW = 0.001  # seconds that taking some of them may last, so that items are not kept waiting


class Requests:
    """Takes requests of one bucket from an iterable when there is room for them, and pushes them.
    One thread at a time. Where the bucket is told nothing is taken before that.

    bucket   None where there is not one request
    asked    by index: what was taken from the iterable, until its item takes it
    pushed   how many the library has taken
    """

    def __init__(self, iterable, client, bucket=None):
        self._client = client
        self._from = iter(iterable)
        self.bucket = bucket
        self.asked = {}
        self.pushed = 0
        self._number = 0
        self._some = 1
        self._begins = url_of(bucket.decode(), "") if bucket else ""  # of the bucket's URLs
        self._columns = None
        self._at = self._left = 0  # of the columns: where those begin that were not pushed yet
        # Whose bucket it is has to be known at the beginning.
        self._first = [] if bucket else list(islice(self._from, 1))
        self.ended = not bucket and not self._first
        if self._first:
            if self._first[0] is ...:
                raise ValueError("requests: the first is ..., and has to name the bucket")
            self._row(self._first[0])

    def _row(self, request):
        """(name, member, generation, size, offset, length)"""
        place, member, offset, length = request, b"", 0, _ALL
        if isinstance(request, tuple) and len(request) == 3:
            place, offset, length = request
            offset = count_of(offset, "requests: an offset")
            length = _ALL if length is None else count_of(length, "requests: a length")
        elif isinstance(request, tuple) and len(request) == 2 and isinstance(request[0], str) and is_url(request[0]):
            place, member = request[0], member_of(request[1], "requests: a member")
        bucket, name, generation = self._client._object_place(place, "requests")
        if bucket != self.bucket:
            if self.bucket is not None:
                raise ValueError(f"requests: all are of one bucket, and not of {self.bucket.decode()}"
                                 f" and {bucket.decode()}: call get_many() for each")
            self.bucket = bucket
            self._begins = url_of(bucket.decode(), "")
        # A row or an Object has both; fsspec's paths with a generation have no size.
        size = count_of(place.size, "requests: its size") \
            if generation and place.size != _ALL else _ALL
        return name, member, generation, size, offset, length

    def push(self, getter, most):
        """Pushes some of at most so many. Gives whether more could follow now. What the iterable
        raises comes out of it."""
        some = min(self._some, most)
        going_on = True
        if not self._left:
            before = monotonic()
            going_on = self._take(some)
            self._some = max(1, self._some // 2) if monotonic() - before > _SLOW else \
                min(2 * self._some, _AT_ONCE)
        if self._left:
            taken, error = Size(), ErrorHandle()
            checked(library.getter_push(getter, byref(self._columns_left()), self._left,
                                        byref(taken), byref(error)), error)
            self.pushed += taken.value
            self._at += taken.value
            self._left -= taken.value
        return going_on and not self._left and most > some

    def finished(self):
        """All were pushed."""
        return self.ended and not self._left

    def _take(self, most):
        """Takes at most so many from the iterable. Gives whether it has more for now."""
        if self.ended:
            return False
        asked, self._first = self._first, []
        for request in islice(self._from, most - len(asked)):
            if request is ...:
                going_on = False
                break
            asked.append(request)
        else:
            self.ended = len(asked) < most
            going_on = not self.ended
        if asked:
            self._columns = self._of_urls(asked) or self._of_rows(map(self._row, asked))
            self.asked.update(enumerate(asked, self._number))
            self._number += len(asked)
            self._left, self._at = len(asked), 0
        return going_on

    def _of_urls(self, asked):
        """The columns, where all are plain URLs of the bucket, as most are; else None."""
        begins = self._begins
        if set(map(type, asked)) != {str}:
            return None
        # What lies between two texts begins as they do.
        if not min(asked).startswith(begins) or not max(asked).startswith(begins):
            return None
        cut = len(begins)
        names = [url[cut:] for url in asked]
        text = "".join(names)
        if not text.isascii() or "\0" in text or not all(names):
            return None
        return (text.encode(), _ends(names)), _NO_TEXTS, _DEFAULTS

    def _of_rows(self, rows):
        names, members, *numbers = zip(*rows)
        # A column that has its default everywhere is left out.
        return _texts(names), _texts(members) if any(members) else _NO_TEXTS, [
            array(letter, column) if column.count(default) < len(names) else None
            for letter, column, default in zip("qQQQ", numbers, (0, _ALL, 0, _ALL))]

    def _columns_left(self):
        (names, name_ends), (members, member_ends), numbers = self._columns
        made = struct("get_columns", names=names, members=members)
        (made.name_offsets, made.member_offsets, made.generations, made.object_sizes, made.offsets,
         made.lengths) = (None if column is None else column.buffer_info()[0] + 8 * self._at
                          for column in (name_ends, member_ends, *numbers))
        return made


def _ends(texts):
    return array("Q", accumulate(map(len, texts), initial=0))


def _texts(texts):
    return b"".join(texts), _ends(texts)


_NO_TEXTS = (None, None)
_DEFAULTS = (None,) * 4
