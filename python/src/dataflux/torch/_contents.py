"""Objects as streams, in the turn of one reader: many short ones by a request each at the same time, others opened
before their turn."""

from __future__ import annotations

from array import array
from collections import deque
from io import BytesIO
from typing import Any, Iterator

from .._client import Client
from .._errors import NotFoundError, PreconditionError
from .._file_reader import FileReader
from .._opening import Opening
from .._place import url_of
from .._sampler import Sampler
from ._order import STRETCH
from ._rest import Rest
from ._samples import Maker, gone
from ._share import memory_of
from ._sizes import Sizes
from ._source import Source

_WHOLE = 8 << 20  # an object of so many bytes is read at once, and one that fits 8 times into the memory for reads
_LOOK = 64        # objects that are looked at ahead of their turn
_OPENED = 16      # of those, how many are opened, and have a block of theirs here


class Content:
    """An object whose turn has come, or is to come.

    done         objects of the reader that are before it
    url          of the object
    byte         from which one on it is read
    generation   of what was opened
    size         bytes of that
    """

    def __init__(self, done: int, part: int, row: int, begun: tuple[int, int], place: tuple[str, str, int],
                 whole: bool) -> None:
        self.done = done
        self.part = part
        self.row = row
        self.byte, self.generation = begun
        self.place = place
        self.url = url_of(*place[:2])
        self.whole = whole and not self.byte
        self.size = 0
        self.opening: Opening | None = None


class Contents:
    """The objects of a reader in turn, from one on. Its close() ends what is under way.

    Arguments:
        rest: which ones, by their positions in the epoch's order.
        done: how many of them are behind it.
        sampler: the epoch's order.
        maker: what becomes of generations that are gone.
        read_ahead: bytes that an opened object is read ahead; None = as of Client.open().
    """

    def __init__(self, client: Client, source: Source, sampler: Sampler, rest: Rest, done: int, maker: Maker,
                 read_ahead: int | None) -> None:
        self._client = client
        self._source = source
        self._sampler = sampler
        self._rest = rest
        self._done = done
        self._maker = maker
        self._whole = max(_WHOLE, memory_of(client) // 8) if read_ahead is None else _WHOLE
        self._how: Any = {} if read_ahead is None else {"read_ahead": read_ahead}
        for part in source.parts:
            part.open(client)
        self._streams: dict[int, Any] = {}  # of objects that are read at once, by part
        self._items: dict[int, deque[Any]] = {}
        self._waiting: deque[Content] = deque()

    def _stretches(self):
        """(positions, rows of all), many at a time."""
        for first in range(self._done, len(self._rest.positions), STRETCH):
            positions = self._rest.positions[first:first + STRETCH]
            yield positions, self._sampler._rows_at(array("Q", positions))

    def _is_whole(self, part, row):
        """It was listed with its size, and that is not much."""
        known = part.listed(row)
        return bool(known.generation) and known.size <= self._whole

    def _whole_rows(self, number):
        """Those rows of a part that are read at once."""
        part = self._source.parts[number]
        for positions, rows in self._stretches():
            begun = self._rest.begun
            if begun:
                rows = array("Q", [row for position, row in zip(positions, rows) if position not in begun])
            for some in self._source.of_part(number, [rows], Sizes(0, None)):
                found = array("Q", [row for row in some if self._is_whole(part, row)])
                if found:
                    yield found

    def _each(self):
        done = self._done
        for positions, rows in self._stretches():
            for position, row in zip(positions, rows):
                part, row = self._source.part_of(row)
                of = self._source.parts[part]
                yield Content(done, part, row, self._rest.begun.get(position, (0, 0)), of.place(row),
                              self._is_whole(of, row))
                done += 1

    def __iter__(self) -> Iterator[Content]:
        each = self._each()
        waiting = self._waiting
        while True:
            while len(waiting) < _LOOK:
                content = next(each, None)
                if content is None:
                    break
                waiting.append(content)
            if not waiting:
                return
            opened = [content for content in waiting if not content.whole][:1 + _OPENED]
            for content in opened:
                if content.opening is None:
                    content.opening = Opening(self._open, content)
            yield waiting.popleft()

    def stream(self, content: Content) -> Any:
        """The bytes of one, as a binary file, which the caller closes. Each is asked for once, in turn.

        Raises: what it has failed with.
        """
        if content.opening is not None:
            return content.opening.opened()
        data, content.generation, _ = self._maker.content(self._client, self._source.parts[content.part], content.row,
                                                          self._item(content.part))
        content.size = len(data)
        return BytesIO(data)

    def _item(self, part):
        if part not in self._streams:
            self._streams[part] = self._source.parts[part].stream(self._client, self._whole_rows(part))
            self._items[part] = deque()
        items = self._items[part]
        if not items:
            items.extend(next(self._streams[part]))
        return items.popleft()

    def _open(self, content):
        bucket, name, listed = content.place
        generation = content.generation or listed
        try:
            file = self._client.open((bucket, name), generation=generation, **self._how)
        except NotFoundError as why:
            if not generation:
                raise
            if content.byte or self._maker.overwritten == "raise":
                raise self._gone(content, generation, why) from why
            file = self._client.open((bucket, name), **self._how)
        try:
            self._begin(file, content)
        except BaseException:
            file.close()
            raise
        return file

    def _begin(self, file: FileReader, content: Content) -> None:
        content.size, content.generation = file.size, file.generation
        if content.byte > content.size:
            raise PreconditionError(f"{content.url}: it has {content.size} bytes, and the state goes on behind "
                                    f"{content.byte} of them: it is of another object", object=content.place[1],
                                    bucket=content.place[0])
        file.seek(content.byte)
        file.peek(1)  # brings a block, before it is wanted

    def _gone(self, content, generation, why):
        bucket, name, _ = content.place
        if not content.byte:
            return gone(bucket, name, generation, why)
        return NotFoundError(f"{content.url}: generation {generation}, of which {content.byte} bytes were read before the "
                             "state was saved, is gone: the object was overwritten or deleted since", bucket=bucket,
                             object=name, generation=generation, http_status=why.http_status, attempts=why.attempts)

    def close(self) -> None:
        """Cancels what is under way."""
        for stream in self._streams.values():
            stream.close()
        self._streams.clear()
        while self._waiting:
            opening = self._waiting.popleft().opening
            if opening is not None:
                opening.close()
