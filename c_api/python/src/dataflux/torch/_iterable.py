"""A dataset that reads ahead through the whole epoch."""

from __future__ import annotations

import mmap
import os
from array import array
from collections import deque
from typing import Any, Callable, Iterator, Sequence

from torch.utils.data import IterableDataset as TorchIterable
from torch.utils.data import get_worker_info

from .._client import Client
from .._items import FailedItem
from .._place import count_of, one_of
from ._order import STRETCH, Order, Turns, stretches
from ._ranks import ranks
from ._samples import Decode, Maker, as_bytes
from ._share import client_for
from ._sizes import sizes_of
from ._source import Source, source_of
from ._state import Place, order_of, place_of, state_of



class _Shared:
    """A number that all processes of a dataset see, workers that live on among them: in a file of the
    dataset's folder."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "epoch")
        with open(self._path, "wb") as file:
            file.write(bytes(8))
        self._open()

    def _open(self):
        with open(self._path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 8)

    def __getstate__(self) -> str:
        return self._path

    def __setstate__(self, path: str) -> None:
        self._path = path
        self._open()

    @property
    def value(self) -> int:
        return int.from_bytes(self._map[:8], "little")

    @value.setter
    def value(self, number: int) -> None:
        self._map[:8] = number.to_bytes(8, "little")


class _Reads:
    """Reads of one worker: items in the order of its batches, of this epoch and of those that follow,
    as far as memory goes."""

    def __init__(self, dataset: IterableDataset, client: Client, place: Place, worker: int,
                 workers: int, step: int | None) -> None:
        self.key = place.epoch, place.begin, worker, workers
        self._dataset = dataset
        self._client = client
        self._worker = worker, workers
        self._step = step  # from an epoch to the next one; None: reads end with this one
        source = dataset._source
        self._parts = source.parts
        self._streams = [part.stream(client, source.of_part(number, self._all(place), dataset._maker.sizes))
                         for number, part in enumerate(self._parts)]
        self._items: list[deque[Any]] = [deque() for _ in self._parts]

    def _all(self, place: Place) -> Iterator[array[int]]:
        epoch, begin, yielded = place.epoch, place.begin, place.yielded
        while True:
            order, turns = self._dataset._order(epoch, begin, *self._worker)
            some = False
            for rows in stretches(order, turns, yielded):
                some = True
                yield rows
            if self._step is None or not (some or yielded):
                return
            epoch, begin, yielded = epoch + self._step, 0, 0

    def take(self, rows: array[int]) -> Iterator[Any]:
        """Samples of the next rows, as they come."""
        return of_parts(self._dataset._source, self._dataset._maker, self._client, rows, self._next)

    def _next(self, part):
        items = self._items[part]
        if not items:
            items.extend(next(self._streams[part]))
        return items.popleft()

    def go_on(self) -> None:
        """Nobody takes samples for now: what comes next is asked for all the same."""
        for stream in self._streams:
            stream._fill()

    def close(self) -> None:
        for stream in self._streams:
            stream.close()


def of_parts(source: Source, maker: Maker, client: Client, rows: Sequence[int],
             item_of: Callable[[int], Any]) -> Iterator[Any]:
    """Samples of rows that may lie in several parts; `item_of(part)` gives the next item of one."""
    def item(part, row):
        error = source.parts[part].size_error(row, maker.sizes) if maker.sizes else None
        return item_of(part) if error is None else FailedItem(0, 0, (), error)

    if len(source.parts) == 1:
        return maker.samples(client, source.parts[0], rows, (item(0, row) for row in rows))
    known = [source.part_of(row) for row in rows]
    return maker.samples(client, _Parts(source, known), range(len(known)),
                         (item(part, row) for part, row in known))


class _Parts:
    """Rows of several parts as rows of one, by their numbers in `known`."""

    def __init__(self, source, known):
        self._source = source
        self._known = known

    def row(self, number, *content):
        part, row = self._known[number]
        return self._source.parts[part].row(row, *content)

    def place(self, number):
        part, row = self._known[number]
        return self._source.parts[part].place(row)


class IterableDataset(TorchIterable):  # type: ignore[misc]
    """The objects below a prefix, of a manifest, or of names, or pairs of objects, as samples for a
    DataLoader: in an order of their own in each epoch, read ahead through all of it, shared by ranks and
    workers, and gone on with anywhere.

        dataset = IterableDataset("gs://bucket/train/", batch_size=64, seed=7)
        for epoch in range(90):
            dataset.set_epoch(epoch)
            for batch in DataLoader(dataset, batch_size=64, num_workers=4):
                ...

    The order is a pure function of (seed, epoch, number of objects). With the DataLoader's batch_size told,
    batches are the same whatever the number of workers. The generation of an object that was listed is
    the one that is read.

    Arguments:
        url: "gs://bucket/prefix" or (bucket, prefix), which is listed; or a list of those, whose objects
            come one prefix behind the other. Where torch.distributed joins the ranks, rank 0 lists and
            gives it to all. A prefix with no object below it is a NotFoundError.
        manifest: instead, a saved listing: the path of a file, or "gs://bucket/name".
        names: instead, a sequence of objects of one bucket, by their names alone.
        pairs: instead, two of ("gs://bucket/prefix", "suffix"). Objects whose names have the same
            between prefix and suffix are one sample, and row and decode get tuples of two. Both prefixes
            are listed; with `manifest`, which may be a list of two, that is where they are looked up.
        unpaired: of an object without a partner: "refuse" it by a NotFoundError that names it, or
            "omit" it and count it (`unpaired`).
        batch_size: that of the DataLoader; None = the samples of a batch depend on the number of
            workers, but not which samples there are.
        decode: makes a sample of (memoryview of the bytes, Row), in the worker; of a pair, of ((view,
            view), (Row, Row)). By default as_bytes; `tensor` gives uint8 tensors. A view keeps its memory
            while it is there.
        seed, shuffle, block, window: as of dataflux.Sampler.
        equalize: "drop" or "pad", as of dataflux.Sampler: all ranks make the same number of steps.
        rank, world_size: by default those of torch.distributed, else RANK and WORLD_SIZE.
        epoch: the first one; set_epoch() sets later ones, also in workers that live on.
        consumed: how many samples of the epoch this rank has consumed already, for a job that goes on
            with a plain DataLoader: they are left out of the first pass.
        on_error: of an object that cannot be read or decoded: "raise"; "return" gives the error in place
            of the sample; "skip" lets another sample of its batch stand in for it, and counts it
            (`skipped`), so that batches, steps and states stay what they are.
        overwritten: where the listed generation is gone: "raise" a NotFoundError that says so, or "read"
            what is there now.
        min_size, max_size, suffix: with `url`, as of Client.list(): what they leave out is no sample.
        wrong_size: "error" makes of an object outside of min_size and max_size, which then go with any
            source, a failure that on_error decides about, a SizeError; it is not read where its size was
            listed. "omit" leaves it out of the listing.
        client: whose options are used; by default Client(). Each process has its own; in a worker its
            memory, connections and threads are the machine's share, unless the options say more.

    A pickle carries the place of the names and their digest, and no names.

    Threads: one iterates. Processes: fork, spawn and forkserver, persistent workers or not.
    """

    def __init__(self, url: Any = None, *, manifest: Any = None, names: Sequence[Any] | None = None,
                 pairs: Any = None, unpaired: str = "refuse", batch_size: int | None = None,
                 decode: Decode = as_bytes, seed: int = 0, shuffle: str = "full",
                 block: int | None = None, window: int | None = None, equalize: str = "drop",
                 rank: int | None = None, world_size: int | None = None, epoch: int = 0,
                 consumed: int = 0, on_error: str = "raise", overwritten: str = "raise",
                 min_size: int = 0, max_size: int | None = None, wrong_size: str = "omit",
                 suffix: str | None = None, client: Client | None = None) -> None:
        super().__init__()
        self._batch = 0 if batch_size is None else count_of(batch_size, "batch_size", 1)
        sizes, filters = sizes_of(min_size, max_size, wrong_size, suffix)
        self._maker = Maker(decode, on_error, overwritten, sizes)
        self._equalize = one_of(equalize, "equalize", ("drop", "pad"))
        self._how = {"seed": seed, "shuffle": shuffle, "block": block, "window": window}
        self._rank, self._world_size = ranks(rank, world_size)
        epoch, consumed = count_of(epoch, "epoch"), count_of(consumed, "consumed")
        Order(0, self._how, epoch, 0, self._rank, self._world_size, equalize)  # for its checks
        self._client = Client() if client is None else client
        self._source = source_of(self._client, url, manifest, names, pairs, unpaired, filters, self._rank,
                                 self._world_size)
        self._epoch = _Shared(self._source.path)
        self._epoch.value = epoch
        self._begin()
        if consumed:
            if consumed > len(self):
                raise ValueError(f"consumed: {consumed} of {len(self)} samples")
            self._place = Place(epoch, consumed * self._world_size)

    def _begin(self):
        self._place: Place | None = None  # where the next pass begins, if that is no epoch's beginning
        self._own: tuple[int, Client] | None = None  # of this process
        self._ahead: _Reads | None = None  # reads that have gone on behind the last pass
        self._passed: int | None = None  # the epoch of that
        self._now: tuple[Place, int, int, int] | None = None  # place, worker, workers, yielded

    def __getstate__(self) -> dict[str, Any]:
        kept = dict(self.__dict__)
        for name in ("_own", "_ahead", "_passed", "_now"):
            del kept[name]
        return kept

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._begin()
        self.__dict__.update(state)

    @property
    def skipped(self) -> int:
        """Objects that gave no sample, with on_error="skip": of this process."""
        return self._maker.skipped

    @property
    def digest(self) -> str:
        """Of what was listed: a state fits a dataset of the same digest."""
        return self._source.digest

    @property
    def unpaired(self) -> tuple[int, int]:
        """How many objects of each side have no partner, with unpaired="omit"."""
        return self._source.unpaired

    def row(self, number: int) -> Any:
        """The object of a number, below `count`, as a Row: its name, and where it was listed its size and
        generation. Of a pair, a tuple of both."""
        return self._source.row(self._client, number)

    @property
    def count(self) -> int:
        """Objects, or pairs, of all ranks together."""
        return len(self._source)

    def __len__(self) -> int:
        """Samples of this rank in a whole epoch."""
        return self._order(0, 0, 0, 1)[0].size

    def set_epoch(self, epoch: int) -> None:
        """Which epoch the next pass is of, in all processes that have this dataset. Call it before each
        pass. What load_state_dict() has said of that epoch stays; of another one it is forgotten."""
        self._epoch.value = count_of(epoch, "epoch")
        if self._place is not None and self._place.epoch != epoch:
            self._place = None

    def state_dict(self, consumed: int | None = None) -> dict[str, Any]:
        """Where this is: for load_state_dict(), and what a StatefulDataLoader asks its workers for.

        Arguments:
            consumed: samples of the epoch that this rank has consumed, where a plain DataLoader's
                workers have read them; None = what was yielded here.
        """
        place, worker, workers, yielded = self._now or (self._next_place(), 0, 0, 0)
        if consumed is not None:
            if count_of(consumed, "consumed") > len(self):
                raise ValueError(f"consumed: {consumed} of {len(self)} samples")
            place = Place(self._epoch.value, count_of(consumed, "consumed") * self._world_size)
            worker, workers, yielded = 0, 0, 0
        return state_of(digest=self.digest, how=self._how, epoch=place.epoch,
                        begin=place.begin, rank=self._rank, world_size=self._world_size,
                        worker=worker, num_workers=workers, batch_size=self._batch, yielded=yielded)

    def load_state_dict(self, state: Any) -> None:
        """The next pass goes on where the state was saved.

        Arguments:
            state: of state_dict(); or of StatefulDataLoader.state_dict(), for a loader with another
                number of workers; or a list of those of all ranks, for another number of ranks.

        Raises: ValueError, which names the field that does not fit.
        """
        info = get_worker_info()
        place = place_of(state, {"digest": self.digest, **order_of(self._how),
                                 "world_size": self._world_size, "batch_size": self._batch},
                         info.num_workers if info else 0, info.id if info else None)
        self._epoch.value = place.epoch
        self._place = place

    def _next_place(self):
        place = self._place
        if place is not None and place.epoch == self._epoch.value:
            return place
        return Place(self._epoch.value, 0)

    def _order(self, epoch, begin, worker, workers):
        order = Order(self.count, self._how, epoch, begin, self._rank, self._world_size,
                      self._equalize)
        batch = self._batch or (1 if workers > 1 else STRETCH)
        return order, Turns(order.size, batch, worker, workers)

    def _process_client(self, workers):
        if self._own is None or self._own[0] != os.getpid():
            self._own = os.getpid(), client_for(self._client, workers)
            self._ahead = self._passed = None
        return self._own[1]

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 0)
        client = self._process_client(workers)
        place, self._place = self._next_place(), None
        order, turns = self._order(place.epoch, place.begin, worker, max(1, workers))
        # Whoever passes a second time passes again: reads go on into the epoch that is to come.
        step = None if self._passed is None else max(0, place.epoch - self._passed)
        ahead, self._ahead = self._ahead, None
        if ahead is not None and (place.yielded or ahead.key != (place.epoch, place.begin, worker,
                                                                 max(1, workers))):
            ahead.close()
            ahead = None
        self._now = place, worker, workers, place.yielded
        reads = ahead or _Reads(self, client, place, worker, max(1, workers), step)
        return self._samples(reads, order, turns, place, worker, workers)

    def _samples(self, reads, order, turns, place, worker, workers):
        yielded = place.yielded
        try:
            for first, count in turns.batches(yielded):
                for begin in range(first, first + count, STRETCH):
                    rows = order.rows(begin, min(STRETCH, first + count - begin))
                    for sample in reads.take(rows):
                        yielded += 1
                        self._now = place, worker, workers, yielded
                        yield sample
            if reads._step is not None:
                reads.key = place.epoch + reads._step, 0, worker, max(1, workers)
                if self._ahead is None:
                    reads.go_on()
                    self._ahead, reads = reads, None
            self._passed = place.epoch
        finally:
            if reads is not None:
                reads.close()
