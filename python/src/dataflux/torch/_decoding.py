"""Batches of one pass that are made of samples as they come: here, or by threads that go ahead."""

from __future__ import annotations

import _thread
import atexit
from array import array
from functools import partial
from time import monotonic, perf_counter_ns, sleep
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple, Sequence
from weakref import WeakSet

from .. import _threads, _wait
from .._errors import Error, PreconditionError
from ._forming import Blocks, Forming, Rules
from ._samples import DecodeError, Failed, Maker

if TYPE_CHECKING:
    from ._reads import Reads

_AT_EXIT = 1.0  # seconds that the interpreter's end waits for samples in decode
_all: WeakSet[Making] = WeakSet()


def as_view(data: Any, row: Any) -> Any:
    """In place of a `decode` that copies: the bytes are copied into the batch."""
    return data


class How(NamedTuple):
    """What a pass does with its samples.

    maker     makes them
    client    reads what the maker wants once more
    rules     of bytes
    blocks    memory of batches
    collate   what was given; None = as default_collate()
    """

    maker: Maker
    client: Any
    rules: Rules
    blocks: Blocks
    collate: Callable[[list[Any]], Any] | None


class Batch:
    """One on its way.

    number   of the pass, from 0
    count    samples
    bytes    of those that are made, about
    broken   what has ended it, which is no failure of a sample
    row_at   gives the Row of a sample; of a pair, of a side, and of the first one
    """

    def __init__(self, number: int, count: int, asked: tuple[Any, Sequence[int], Iterator[Any]], how: How) -> None:
        self.number, self.count = number, count
        self.part, self.rows, self.items = asked
        self.bytes = 0
        self.broken: BaseException | None = None
        self._how = how
        self.row_at: Callable[..., Any] = partial(row_at, self.part, self.rows)
        self._forming = self._new()
        self._left = count
        self._failed = 0
        self._made: Any = None
        self._lock = _thread.allocate_lock()

    def _new(self):
        return Forming(self.count, self._how.rules, self._how.blocks, self.row_at, self._how.collate)

    def make(self, at: int, item: Any, thread: str) -> bool:
        """Makes a sample of an item. Gives whether it was the last one: then the batch is formed. Any thread."""
        how, kept, made = self._how, 0, None
        decode = as_view if how.collate is None else None
        try:
            made = how.maker.outcome(how.client, self.part, self.rows[at], item, decode)
            if type(made) is not Failed:
                try:
                    kept = self._forming.put(at, made)
                except Error as wrong:
                    made = Failed(wrong)
            if type(made) is Failed:
                self._forming.samples[at] = Failed(_of_thread(made.error, thread))
        except BaseException as why:
            if not thread and not isinstance(why, Exception):
                raise  # an interrupt of whoever waits for it
            self.broken = self.broken or why
        with self._lock:
            self.bytes += kept
            self._failed += type(made) is Failed
            self._left -= 1
            last = not self._left
        made = None  # an error has this frame
        if last and not self._failed and self.broken is None:
            try:
                self._made = self._forming.batch()
            except BaseException as why:
                self.broken = why
        return last

    def taken(self) -> Any:
        """The batch, for whoever has all that come before it; once. Raises: what it has failed with."""
        maker = self._how.maker
        try:
            if self.broken is not None:
                raise self.broken
            if self._failed:
                forming = self._new()
                for at, sample in enumerate(maker.settled(map(self._outcome, range(self.count)))):
                    forming.put(at, sample)
                return forming.batch()
            if maker.on_error == "skip":
                maker.stands_in(self._forming.sample(self.count - 1))
            maker.succeeds()
            return self._made
        finally:
            self.drop()

    def _outcome(self, at):
        made = self._forming.samples[at]
        return made if type(made) is Failed else self._forming.sample(at)

    def drop(self) -> None:
        """Nobody wants it any more. An error that it has may have frames that have the batch."""
        self.broken = self._made = None
        self._forming.samples = [None] * self.count


def row_at(part: Any, rows: Sequence[int], at: int, side: Any = 0) -> Any:
    """The Row of a sample; of a pair, of this side, and of the first one where there is no such side."""
    listed = part.listed(rows[at])
    if not isinstance(listed, tuple):
        return listed
    return listed[side if type(side) is int and side < len(listed) else 0]


def _of_thread(failed, thread):
    """An Error of `decode` says in which thread."""
    if not thread or not isinstance(failed, DecodeError):
        return failed
    made = type(failed)(f"{failed} (in {thread})", **failed.__reduce__()[1][2])
    made.__cause__ = failed.__cause__  # with the traceback of `decode`
    return made


class Now:
    """What a thread does now.

    name    of the thread, for people; "" = the one that takes batches
    ident   as of threading.get_ident()
    doing   (batch, place in it, whether it waits for the bytes, since when); None = it waits for its turn, or for room;
            None for the place: of a batch that knows itself which it lacks
    """

    __slots__ = ("name", "ident", "doing")

    def __init__(self, name: str) -> None:
        self.name = name
        self.ident = _thread.get_ident()
        self.doing: tuple[Any, int | None, bool, float] | None = None


class Making:
    """The batches of a pass, in order. Threads make them ahead; with 0 threads whoever takes them does.

    Arguments:
        reads: gives the items.
        rows_of: the rows of so many positions from one on.
        counts: samples of each batch.
        threads: how many.
        ahead: how many batches they are ahead of the one that is to be taken, at most.
        most: bytes of samples in those, about; the next batch in turn is made all the same.
        note: is given (batch, place, ns that its bytes were waited for, ns in decode) of each sample.
    """

    def __init__(self, reads: Reads, rows_of: Callable[[int, int], array[int]], counts: Sequence[int], how: How,
                 threads: int, ahead: int, most: int, note: Callable[[Batch, int, int, int], None]) -> None:
        from _queue import SimpleQueue

        self._reads, self._rows_of, self._counts, self._how = reads, rows_of, counts, how
        self._threads, self._ahead, self._most, self._note = threads, ahead, most, note
        self._process = _wait._process
        self._over = False
        self._turn = 0  # the batch that is to be taken next
        self._begun: Batch | None = None  # whose items are taken; the number of the next one, and its first position
        self._next, self._first, self._at = 0, 0, 0
        self._under_way: dict[int, Batch] = {}
        self._formed: dict[int, Batch] = {}
        self._came: Any = SimpleQueue()  # batches that are formed; None = it is over
        self._room: Any = SimpleQueue()  # something, where there may be room
        self._taking = _thread.allocate_lock()  # whoever has it takes the next item
        self.threads: dict[int, Now] = {}  # by a number
        _all.add(self)

    def start(self) -> None:
        """Begins the threads. Raises: RuntimeError where there is not even one more."""
        for number in range(self._threads):
            self._start(number)

    @property
    def over(self) -> bool:
        """No more samples are begun."""
        return self._over

    def _start(self, number):
        try:
            _threads.use(self._run, number)
        except RuntimeError:
            if not number:
                raise  # else fewer do it

    def _run(self, number):
        now = self.threads[number] = Now(f"decode thread {number + 1} of {self._threads}")
        try:
            while self._step(now):
                pass
        finally:
            del self.threads[number]

    def _step(self, now):
        """Makes one sample. Gives False where there is none any more."""
        with self._taking:
            try:
                found = self._item(now)
            except BaseException as why:
                if not now.name and not isinstance(why, Exception):
                    raise
                self._break(why)
                found = None
        if found is None:
            now.doing = None
            return False
        batch, at, item, waited = found
        del found
        now.doing = batch, at, False, monotonic()
        began = perf_counter_ns()
        last = batch.make(at, item, now.name)
        item = now.doing = None  # whoever has an error has this frame
        self._note(batch, at, waited, perf_counter_ns() - began)
        if batch.broken is not None:
            self._over = True  # never back: stop() may come at the same time
        if last or batch.broken is not None:
            self._came.put(batch)
        return True

    def _item(self, now):
        """(batch, place, item, ns that it was waited for) of the next sample; None where there is none."""
        batch = self._begun
        if batch is None or self._at == batch.count:
            batch = self._begin()
            if batch is None:
                return None
        if self._over:
            return None
        at = self._at
        now.doing = batch, at, True, monotonic()
        began = perf_counter_ns()
        item = next(batch.items)
        self._at = at + 1
        return batch, at, item, perf_counter_ns() - began

    def _begin(self):
        """The next batch, once there is room for it; None where there is none, or it is over."""
        number = self._next
        if number == len(self._counts):
            return None
        while self._threads and not self._over and not self._has_room(number):
            self._room.get()
        if self._over:
            return None
        count = self._counts[number]
        asked = self._reads.asked(self._rows_of(self._first, count))
        self._begun = self._under_way[number] = Batch(number, count, asked, self._how)
        self._next, self._first, self._at = number + 1, self._first + count, 0
        return self._begun

    def _has_room(self, number):
        ahead = number - self._turn
        return ahead <= 0 or (ahead <= self._ahead and self.bytes < self._most)

    def _break(self, why):
        """No more items come: the batch that wanted one fails, in its turn."""
        if self._over:
            return
        self._over = True
        batch = self._begun
        if batch is None or self._at == batch.count:  # the next one could not be begun
            batch = Batch(self._next, 0, (None, (), iter(())), self._how)
        batch.broken = why
        self._came.put(batch)

    @property
    def bytes(self) -> int:
        """Of samples of batches that are not taken, about."""
        return sum(batch.bytes for batch in list(self._under_way.values()))

    @property
    def under_way(self) -> int:
        """Batches that are begun and not taken."""
        return len(self._under_way)

    def formed(self, number: int) -> bool:
        """Whether a batch can be taken at once; with 0 threads any can be."""
        while not self._came.empty():
            self._keep(self._came.get())
        return not self._threads or number in self._formed

    def _keep(self, batch):
        if batch is None:
            raise PreconditionError("batches: the pass was closed, by another thread or a destructor")
        self._formed[batch.number] = batch

    def take(self, number: int, now: Now) -> Any:
        """The next batch, once it is there. One thread. Raises: what it has failed with."""
        if self._process != _wait._process:
            raise PreconditionError("batches: the pass belongs to the process that began it, and this is a forked "
                                    "child of it: begin another one")
        while number not in self._formed:
            while not self._threads and self._came.empty() and self._step(now):
                pass
            self._keep(self._came.get())
        batch = self._formed.pop(number)
        self._under_way.pop(number, None)
        self._turn = number + 1
        if self._threads:
            self._room.put(None)
        return batch.taken()

    def stop(self) -> None:
        """No more samples are begun. Those that are in decode just now end by themselves. Any thread."""
        self._over = True
        if self._process == _wait._process:
            self._room.put(None)

    def close(self) -> None:
        """The same, and whoever waits for a batch fails."""
        self.stop()
        if self._process == _wait._process:
            self._came.put(None)
        for batch in list(self._under_way.values()):
            batch.drop()


class Closing:
    """Stops what a pass has under way when the pass is gone, should an interrupt have kept it from that."""

    __slots__ = ("stop",)

    def __init__(self, making: Any) -> None:
        self.stop = making.stop

    def __del__(self) -> None:
        if _wait is not None:
            self.stop()


def _at_exit():
    """Threads that the interpreter's end would stop in the midst of a sample end before, if that is soon."""
    every = [making for making in _threads.all_of(_all) if making._process == _wait._process]
    for making in every:
        making.stop()
    until = monotonic() + _AT_EXIT
    while monotonic() < until and any(now.doing is not None and not now.doing[2]
                                      for making in every for now in list(making.threads.values())):
        sleep(0.005)


atexit.register(_at_exit)
