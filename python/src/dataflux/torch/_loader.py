"""A loader without a DataLoader: batches of a dataset, in its order."""

from __future__ import annotations

import _thread
import sys
from array import array
from collections import deque
from functools import partial
from time import monotonic, perf_counter_ns
from typing import TYPE_CHECKING, Any, Callable, Iterator

import torch
from torch.utils.data import get_worker_info

from .. import _events, _progress, _threads, _wait
from .._errors import Error, PreconditionError
from .._metrics import loader_in_prometheus
from .._passes import Pass
from .._place import count_of
from ._copies import Copies
from ._decoding import Batch, Closing, How, Making, Now
from ._forming import Blocks, Rules
from ._receiving import Receiving, receiving
from ._share import memory_of

if TYPE_CHECKING:
    from .._progress import Progress
    from ._iterable import IterableDataset

_LOOKS = 4  # how often a watchdog looks, in the time after which it warns


class Batches:
    """The batches of a dataset, as IterableDataset.batches() says: each `for` over it is a pass, in the same order
    as that of a DataLoader without workers on the same dataset.

    Threads: one iterates; metrics() any. Processes: a pass is of the one that began it.
    """

    _loads = True  # for dataflux.opentelemetry

    def __init__(self, dataset: IterableDataset, batch_size: int | None, *, drop_last: bool, decode_threads: int,
                 collate_fn: Callable[[list[Any]], Any] | None, dtype: Any, shape: Any, pad: Any, packed: bool,
                 device: Any, ahead: int, warn_after: float | None, progress: Progress) -> None:
        self.dataset = dataset
        size = dataset._batch if batch_size is None else batch_size
        if not size:
            raise ValueError("batch_size: tell it here or to the dataset")
        self.batch_size = count_of(size, "batch_size", 1)
        self.drop_last = bool(drop_last)
        self._threads = count_of(decode_threads, "decode_threads", 0, 16)
        self._ahead = count_of(ahead, "ahead", 1)
        if collate_fn is not None and not callable(collate_fn):
            raise TypeError(f"collate_fn: a callable is needed, and not a {type(collate_fn).__name__}")
        self._collate = collate_fn
        self._rules = Rules(dtype, shape, pad, packed)
        if collate_fn is not None and self._rules.given:
            raise ValueError("dtype, shape, pad, packed: they say how bytes become a batch, which collate_fn does here")
        if collate_fn is None and dataset._maker.on_error == "return":
            raise ValueError('on_error="return" gives errors as samples: tell batches() a collate_fn that takes them, '
                             'or the dataset on_error="skip"')
        device = None if device is None else torch.device(device)
        self._copies = None if device is None else Copies(device, self._ahead)
        self._blocks = Blocks(self._copies is not None and self._copies.pinned)
        if warn_after is not None and not warn_after > 0:
            raise ValueError(f"warn_after: seconds above 0 are needed, and not {warn_after!r}")
        self._warn_after = warn_after
        self._progress = progress
        self._told = Told()

    def __repr__(self) -> str:
        return f"<{len(self)} batches of {self.batch_size} of {self.dataset!r}>"

    def __len__(self) -> int:
        """Batches of this rank in a whole epoch."""
        return len(self._counts(len(self.dataset)))

    def _counts(self, samples):
        whole, rest = divmod(samples, self.batch_size)
        counts = array("Q", [self.batch_size]) * whole
        if rest and not self.drop_last:
            counts.append(rest)
        return counts

    def state_dict(self) -> dict[str, Any]:
        """Where this is: behind the batch that was given last, whatever was read ahead. It is the dataset's state,
        for load_state_dict() of this one, of the dataset, or of a loader of another kind."""
        return self.dataset.state_dict()

    def load_state_dict(self, state: Any) -> None:
        """The next pass goes on where a state was saved, as IterableDataset.load_state_dict() says."""
        self.dataset.load_state_dict(state)

    def metrics(self) -> dict[str, Any]:
        """What the loader has done, and does now. Any thread.

        Returns: since it was made: "batches" and "samples" given; "elapsed_ns" of its passes, "waited_ns", of
            that, for batches, and "waited", their quotient; "read_ns", for which whoever makes samples waited for
            bytes, and "decode_ns", of all threads together. Now: "bytes_ahead", that have been read and are in no
            batch that was given; "batches_ahead", that are begun; "decoding", samples that are in decode. Of the
            newest pass: "slowest", None or the sample that took longest, as {"url", "read_ns", "decode_ns"}.
        """
        told, making = self._told, self._told.making
        client = self.dataset._own
        held = 0
        if client is not None and client[1]._opened is not None:
            try:
                held = client[1].metrics()["memory"]["held"]
            except Error:  # it was closed meanwhile
                pass
        doing = [] if making is None else [now.doing for now in list(making.threads.values())]
        return {"batches": told.batches, "samples": told.samples, "elapsed_ns": told.elapsed_ns,
                "waited_ns": told.waited_ns, "waited": told.share,
                "read_ns": told.read_ns, "decode_ns": told.decode_ns,
                "bytes_ahead": held + (0 if making is None else making.bytes),
                "batches_ahead": 0 if making is None else making.under_way,
                "decoding": sum(each is not None and not each[2] for each in doing), "slowest": told.slowest()}

    def prometheus(self) -> str:
        """Those in Prometheus' text format, as Client.prometheus() gives a client's: names begin with
        "dataflux_loader_", times are seconds."""
        return loader_in_prometheus(self.metrics())

    def __iter__(self) -> Iterator[Any]:
        if get_worker_info() is not None:
            raise PreconditionError("batches() is a loader by itself, and this is a worker of a DataLoader: iterate it "
                                    "in the process of the step, with decode_threads in place of num_workers")
        kind = receiving(self.dataset, self._collate, self._rules)
        reads, order, _, place, _, _ = self.dataset._pass(kind and partial(kind, self), kind and self)
        return Pass(self._pass(reads, order, place))

    def _making(self, reads, order, place, counts):
        """What the batches of a pass come from."""
        if isinstance(reads, Receiving):
            return reads
        how = How(self.dataset._maker, reads._client, self._rules, self._blocks, self._collate)
        return Making(reads, lambda at, count: order.rows(place.yielded + at, count), counts, how, self._threads,
                      self._ahead, memory_of(reads._client), self._told.note)

    def _pass(self, reads, order, place):
        dataset, told = self.dataset, self._told
        counts = self._counts(order.size - place.yielded)
        told.begin()
        teller = _progress.of(self._progress, "epoch", "samples", order.size)
        now, process = Now(""), _wait._process
        making = told.making = self._making(reads, order, place, counts)
        making.threads[-1] = now
        closing = Closing(making)
        watchdog = Watchdog(making, self._warn_after) if self._warn_after is not None else None
        batches, yielded = self._in_turn(making, now, len(counts)), place.yielded
        try:
            making.start()
            if watchdog is not None:
                watchdog.start()
            for number, count in enumerate(counts):
                began = perf_counter_ns()
                if watchdog is not None:
                    watchdog.waits(number)
                given = [next(batches)]
                if watchdog is not None:
                    watchdog.waits(None)
                yielded += count
                told.given(count, began)
                if teller is not None:
                    teller.at(yielded, label=f"epoch {place.epoch}, waited {told.share:.0%}")
                dataset._now = place, 0, 0, yielded
                yield given.pop()
            if making is not reads and reads._step is not None and yielded < order.size:
                for _ in reads.asked(order.rows(yielded, order.size - yielded))[2]:
                    pass  # what drop_last leaves out stands before the next epoch's
            dataset._now = place, 0, 0, order.size
            reads = dataset._passed_by(reads, place, 0, 0)
        finally:
            if _wait is not None:  # the interpreter takes modules apart
                if isinstance(making, Making):
                    making.close()
                if watchdog is not None:
                    watchdog.close()
                if reads is not None:
                    reads.close()
                if teller is not None:
                    teller.end()
                if self._copies is not None and process == _wait._process:
                    self._copies.close()
                told.making = None
            del closing

    def _in_turn(self, making, now, total):
        """The batches, where the step wants them."""
        copies = self._copies
        if copies is None:
            for number in range(total):
                yield making.take(number, now)
            return
        begun: deque[Any] = deque()
        number, why = 0, None
        while begun or number < total:
            while why is None and number < total and (
                    not begun or (len(begun) <= copies.ahead and making.formed(number))):
                copies.recycle()
                try:
                    begun.append(copies.begin(making.take(number, now)))
                except Exception as failed:
                    if not begun:
                        raise
                    why = failed  # behind those that come before it
                number += 1
            if not begun:
                try:
                    raise why
                finally:
                    del why
            yield copies.end(begun.popleft())


class Told:
    """What a loader tells of itself."""

    def __init__(self) -> None:
        self.batches = self.samples = 0
        self.elapsed_ns = self.waited_ns = self.read_ns = self.decode_ns = 0
        self.making: Making | Receiving | None = None  # of the pass that is under way
        self._seen = 0  # up to where elapsed_ns has counted
        self._slowest: tuple[int, Batch, int, int, int] | None = None  # time, batch, place, and of what it is made
        self._lock = _thread.RLock()  # an interrupt at the end of a `with` may leave it to the thread of the loop

    def begin(self) -> None:
        """A pass begins."""
        self._slowest = None
        self._seen = perf_counter_ns()

    def given(self, count: int, began: int) -> None:
        """A batch of so many samples is there, which was waited for since then."""
        now = perf_counter_ns()
        self.batches += 1
        self.samples += count
        self.waited_ns += now - began
        self.elapsed_ns += now - self._seen
        self._seen = now

    def note(self, batch: Batch, at: int, read_ns: int, decode_ns: int) -> None:
        """Of each sample, by the thread that has made it."""
        took = read_ns + decode_ns
        with self._lock:
            self.read_ns += read_ns
            self.decode_ns += decode_ns
            if self._slowest is None or took > self._slowest[0]:
                self._slowest = took, batch, at, read_ns, decode_ns

    @property
    def share(self) -> float:
        """Of the time, that was waited."""
        return self.waited_ns / max(1, self.elapsed_ns)

    def slowest(self) -> dict[str, Any] | None:
        found = self._slowest
        return None if found is None else {"url": found[1].row_at(found[2]).url, "read_ns": found[3],
                                           "decode_ns": found[4]}


class Watchdog:
    """A thread that warns, once a batch, where one is waited for too long, and names what holds it up."""

    def __init__(self, making: Making | Receiving, seconds: float) -> None:
        from _queue import SimpleQueue

        self._making, self._seconds = making, seconds
        self._waiting: tuple[int, float] | None = None
        self._closed: Any = SimpleQueue()

    def start(self) -> None:
        _threads.use(self._watch)

    def waits(self, number: int | None) -> None:
        """A batch is waited for now; None = the step goes on."""
        self._waiting = None if number is None else (number, monotonic())

    def close(self) -> None:
        self._closed.put(None)

    def _watch(self):
        from _queue import Empty

        told = None
        while not self._making.over:
            try:
                return self._closed.get(timeout=self._seconds / _LOOKS)
            except Empty:
                pass
            waiting = self._waiting
            if waiting is not None and waiting[0] != told and monotonic() - waiting[1] >= self._seconds:
                told = waiting[0]
                _events.log("warning", self._text(*waiting), always=True)

    def _text(self, number, since):
        held = [self._of(now) for now in list(self._making.threads.values())]
        told = "; ".join(filter(None, held)) or "nothing of it is under way"
        return f"batch {number} has been waited for for {monotonic() - since:.3g} s: {told}"

    def _of(self, now):
        doing = now.doing
        if doing is None:
            return None
        batch, at, reads, since = doing
        took = f"for {monotonic() - since:.3g} s"
        whose = now.name or "the thread of the loop"
        places = batch.lacking() if at is None else [at]
        url = batch.row_at(places[0]).url if places else "a sample"
        if reads:
            more = f" and {len(places) - 1} more" * (len(places) > 1)
            return f"{whose} has waited for the bytes of {url}{more} of batch {batch.number} {took}"
        frame = sys._current_frames().get(now.ident)
        where = "" if frame is None else f", now in {frame.f_code.co_filename}:{frame.f_lineno}"
        return f"{whose} has been in decode of {url} of batch {batch.number} {took}{where}"
