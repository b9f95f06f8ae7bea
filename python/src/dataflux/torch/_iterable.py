"""A dataset that reads ahead through the whole epoch."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from torch.utils.data import IterableDataset as TorchIterable
from torch.utils.data import get_worker_info

from .._client import Client
from .._passes import Pass
from .._place import count_of, one_of
from .._sampler import WINDOWS
from ._given import client_of, source_of
from ._loader import Batches
from ._objects import Objects
from ._order import STRETCH, Order, Turns, plans, stretches
from ._ranks import agree, ranks
from ._reads import Reads
from ._samples import TOLERANCE, Decode, Maker, as_bytes
from ._share import client_for, memory_of
from ._shared import Shared
from ._sizes import sizes_of
from ._state import Place, order_of, place_of, state_of
from ._tars import BLOCK

if TYPE_CHECKING:
    from .._progress import Progress


class IterableDataset(Objects, TorchIterable):  # type: ignore[misc]
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
            gives it to all. A prefix with no object below it is a NotFoundError. Ranks that have other samples,
            or another order of them, are a PreconditionError that names one.
            A Listing, or Rows of one, is read as it is, in its generations; so is a list of those. Nothing
            may come twice: of two prefixes none has what is below the other one.
        manifest: instead, a saved listing: the path of a file, or "gs://bucket/name"; or a Listing.
        names: instead, a sequence of objects of one bucket. Of a name alone the newest generation is read; of a
            row of a listing, and of what stat() gives, that one. A name that is there twice is read twice.
        pairs: instead, two of ("gs://bucket/prefix", "suffix"). Objects whose names have the same
            between prefix and suffix are one sample, and row and decode get tuples of two. Both prefixes
            are listed; with `manifest`, which may be a list of two, that is where they are looked up.
        shards: instead, samples of tar shards: the path of an index that Client.index_shards() made, or a
            ShardIndex; or a ShardJoin, of whose two sides a sample has the fields; or "gs://bucket/prefix",
            names with braces or patterns ("gs://bucket/{00..99}.tar"), or a Listing of shards, which are
            indexed first, as by Client.index_shards(); or a list of those. A sample is a dict: "__key__",
            "__url__", and of each field its bytes. `decode` is given that, with memoryviews, and the shard's
            Row.
        unpaired: of an object without a partner: "refuse" it by a NotFoundError that names it, or
            "omit" it and count it (`unpaired`). With `pairs` alone.
        batch_size: that of the DataLoader; None = the samples of a batch depend on the number of
            workers, but not which samples there are.
        decode: makes a sample of (memoryview of the bytes, Row), in the worker; of a pair, of ((view,
            view), (Row, Row)). By default as_bytes; `tensor` gives uint8 tensors. A view keeps its memory
            while it is there.
        seed, shuffle, block, window: as of dataflux.Sampler. With `shards`, block=None is as many samples as
            4 MiB hold; windows are read by blocks, and describe() tells what that costs.
        equalize: "drop" or "pad", as of dataflux.Sampler: all ranks make the same number of steps.
        rank, world_size: by default those of torch.distributed, else RANK and WORLD_SIZE.
        epoch: the first one; set_epoch() sets later ones, also in workers that live on.
        consumed: how many samples of the epoch this rank has consumed already, for a job that goes on
            with a plain DataLoader: they are left out of the first pass. Several workers need batch_size, too.
        on_error: of an object that cannot be read or decoded: "raise"; "return" gives the error in place
            of the sample; "skip" lets another sample of its batch stand in for it, or one of an earlier batch,
            and counts it (`skipped`), so that batches, steps and states stay what they are. Where a process
            begins with a batch of which nothing can be read, the first failure is raised.
        tolerance: with "return" and "skip", how many samples in a row may fail in a process; the last one's error
            is raised then. None = any number.
        overwritten: where the listed generation is gone: "raise" a NotFoundError that says so, or "read"
            what is there now.
        min_size, max_size, suffix: with `url`, as of Client.list(): what they leave out is no sample.
        wrong_size: "error" makes of an object outside of min_size and max_size, which then go with any
            source, a failure that on_error decides about, a SizeError; it is not read where its size was
            listed. "omit" leaves it out of the listing.
        client: whose options are used; by default a Client() of the service that what is read is of. Each
            process has its own; in a worker its memory, connections and threads are the machine's share,
            unless the options say more.

    A pickle carries the place of the names and their digest, and no names.

    Threads: one iterates. Processes: fork, spawn and forkserver, persistent workers or not.
    """

    _reads_over = True  # reads go on into the next epoch

    def __init__(self, url: Any = None, *, manifest: Any = None, names: Sequence[Any] | None = None,
                 pairs: Any = None, shards: Any = None, unpaired: str = "refuse", batch_size: int | None = None,
                 decode: Decode = as_bytes, seed: int = 0, shuffle: str = "full",
                 block: int | None = None, window: int | None = None, equalize: str = "drop",
                 rank: int | None = None, world_size: int | None = None, epoch: int = 0,
                 consumed: int = 0, on_error: str = "raise", tolerance: int | None = TOLERANCE,
                 overwritten: str = "raise", min_size: int = 0, max_size: int | None = None,
                 wrong_size: str = "omit", suffix: str | None = None, client: Client | None = None) -> None:
        super().__init__()
        self._batch = 0 if batch_size is None else count_of(batch_size, "batch_size", 1)
        sizes, filters = sizes_of(min_size, max_size, wrong_size, suffix)
        self._maker = Maker(decode, on_error, overwritten, sizes, tolerance)
        self._equalize = one_of(equalize, "equalize", ("drop", "pad"))
        self._how = {"seed": seed, "shuffle": shuffle, "block": block, "window": window}
        self._rank, self._world_size = ranks(rank, world_size)
        epoch, consumed = count_of(epoch, "epoch"), count_of(consumed, "consumed")
        Order(0, self._how, epoch, 0, self._rank, self._world_size, equalize)  # for its checks
        self._client = client_of(client, url, manifest, names, pairs, shards)
        self._source = source_of(self._client, url, manifest, names, pairs, shards, unpaired, filters,
                                 self._rank, self._world_size)
        self._plans = shuffle in WINDOWS
        size, _ = self._source.means()
        if self._plans and block is None and size:
            self._how["block"] = max(1, int(BLOCK / size))
        agree({"digest": self.digest, **order_of(self._how), "equalize": equalize}, self._rank, self._world_size)
        if equalize == "drop" and 0 < len(self._source) < self._world_size:
            warnings.warn(f"{len(self._source)} objects for {self._world_size} ranks: with equalize=\"drop\" no rank "
                          "has any of them, and an epoch is empty; equalize=\"pad\" gives some to several ranks",
                          UserWarning, stacklevel=2)
        self._shared = self._maker.shared = Shared(self._source.path)
        self._shared.set_epoch(epoch)
        self._begin()
        if consumed:
            self._shared.go_on(epoch, self._begin_of(consumed), True)

    def _begin(self):
        self._taken = 0  # of the places that all processes were told, the newest one that a pass here began at
        self._place: Place | None = None  # what a StatefulDataLoader has said to this worker alone
        self._own: tuple[int, Client] | None = None  # of this process
        self._ahead: Reads | None = None  # reads that have gone on behind the last pass
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

    def __repr__(self) -> str:
        return (f"<{self._told()}, {len(self)} samples for rank {self._rank} of {self._world_size}, "
                f"epoch {self.epoch}>")

    @property
    def count(self) -> int:
        """Objects, or pairs, of all ranks together."""
        return len(self._source)

    def __len__(self) -> int:
        """Samples of this rank in a whole epoch."""
        return self._order(0, 0, 0, 1)[0].size

    @property
    def epoch(self) -> int:
        """Which epoch the next pass is of, as set_epoch() or load_state_dict() has said last. During a pass
        that is the pass's own, unless one of them was called since."""
        return self._shared.epoch

    def set_epoch(self, epoch: int) -> None:
        """Which epoch the next pass is of, in all processes that have this dataset. Call it before each
        pass. What load_state_dict() has said of that epoch stays; of another one it is forgotten."""
        self._shared.set_epoch(count_of(epoch, "epoch"))
        self._shared.readers = 0

    def state_dict(self, consumed: int | None = None) -> dict[str, Any]:
        """Where this is: for load_state_dict(), and what a StatefulDataLoader asks its workers for.

        Arguments:
            consumed: samples of the epoch that this rank has consumed, since the epoch's beginning. It is
                needed where workers of a DataLoader read, and this is the main process: they are ahead of
                what you had. None = what was yielded here.

        Raises: ValueError where it is needed, or is more than the epoch has; and where workers read without
        `batch_size`, since what they have read first is no beginning of the order then.
        """
        readers = self._shared.readers if get_worker_info() is None else 0
        if consumed is None and readers:
            raise ValueError(
                "consumed: workers of a DataLoader read this dataset, and are ahead of what you had. Tell it how many "
                "samples of the epoch this rank has consumed, as in state_dict(consumed=steps * batch_size), or save "
                "the state of a torchdata StatefulDataLoader instead")
        place, worker, workers, yielded = self._now or (self._next_place(), 0, 0, 0)
        if consumed is not None:
            place = Place(self.epoch, self._begin_of(consumed))
            self._check_counted(consumed, readers)
            worker, workers, yielded = 0, 0, 0
        return state_of(digest=self.digest, how=self._how, epoch=place.epoch,
                        begin=place.begin, rank=self._rank, world_size=self._world_size,
                        worker=worker, num_workers=workers, batch_size=self._batch, yielded=yielded)

    def load_state_dict(self, state: Any) -> None:
        """The next pass goes on where the state was saved: of this process, of workers that are begun later,
        and of workers that live already. Call it between passes: a worker looks when it begins one.

        Arguments:
            state: of state_dict(); or of StatefulDataLoader.state_dict(), for a loader with another
                number of workers; or a list of those of all ranks, for another number of ranks.

        Raises: ValueError, which names the field that does not fit.
        """
        self._go_on(self._place_of(state))

    def _place_of(self, state):
        info = get_worker_info()
        return place_of(state, {"digest": self.digest, **order_of(self._how),
                                "world_size": self._world_size, "batch_size": self._batch},
                        info.num_workers if info else 0, info.id if info else None)

    def _go_on(self, place):
        self._now = None
        if get_worker_info() is None:
            self._shared.go_on(place.epoch, place.begin)
        else:  # each worker is told its own
            self._shared.set_epoch(place.epoch)
            self._place, self._taken = place, self._shared.loaded

    def batches(self, batch_size: int | None = None, *, drop_last: bool = False, decode_threads: int = 0,
                collate_fn: Callable[[list[Any]], Any] | None = None, dtype: Any = None, shape: Any = None,
                pad: bool | int | None = None, packed: bool = False, device: Any = None, ahead: int = 2,
                warn_after: float | None = None, progress: Progress = None) -> Batches:
        """A loader by itself, without a DataLoader and its processes: an iterable whose passes give the same
        samples in the same batches as a DataLoader without workers.

            for batch in dataset.batches(64, decode_threads=8):
                ...

        Samples that are arrays or tensors of one shape, by themselves or in a tuple or dict, are put straight into
        the rows of the batch; all else becomes a batch as by default_collate() of torch. Without `decode`, and
        of fields that `decode` leaves memoryviews, bytes of one size become a tensor of (samples, size). The memory
        of a batch is used again once nobody has a view of it.

        Arguments:
            batch_size: None = the dataset's.
            drop_last: a rest that is no whole batch is left out.
            decode_threads: threads of this process that run `decode` and put batches together, ahead of the
                step; `decode` has to be safe in several threads. 0 = whoever takes a batch does it.
            collate_fn: makes a batch of a list of samples, in those threads, in place of all that.
            dtype, shape: of bytes: the elements, in this machine's byte order, and the shape of each sample. One
                of another size is a failure, a SizeError, which on_error decides about.
            pad: True fills bytes up with zeros to the longest of a batch; a number to so many elements, and a
                longer one is a SizeError. Such a batch is (tensor, lengths).
            packed: bytes lie one behind the other: such a batch is (flat tensor, offsets), which has one offset more
                than samples.
            device: where batches are copied, ahead of the step; on CUDA from pinned memory, on a stream of
                their own.
            ahead: how many batches are made before they are wanted, at most, beside the one that is wanted; they
                have memory_cap bytes together, and one may have more.
            warn_after: seconds that a batch is waited for before a warning of logging's "dataflux" names the objects
                and threads that hold it up; None = never.
            progress: True for a bar, or a callable, of each pass.

        Its state_dict() and load_state_dict() are those of the dataset, whose place is behind the batch that was given
        last; set_epoch() is told to the dataset. metrics() tells what the step waits for.

        Raises: ValueError and TypeError for arguments that do not fit. In a pass, what a dataset's does: a failure
            comes behind all batches before it.
        """
        return Batches(self, batch_size, drop_last=drop_last, decode_threads=decode_threads, collate_fn=collate_fn,
                       dtype=dtype, shape=shape, pad=pad, packed=packed, device=device, ahead=ahead,
                       warn_after=warn_after, progress=progress)

    def describe(self, num_workers: int = 0) -> dict[str, float]:
        """What an epoch costs in this order, and how well it mixes, before anything is read: estimates, which
        docs/sampling.md derives.

        Arguments:
            num_workers: of the DataLoader.

        Returns: "requests" for each sample; "bytes_read" for each byte that is used, 2 at most; "readers" of
        each block, where there are blocks; "held", bytes that a process keeps until their turn comes;
        "lag_correlation" of the numbers of a sample and the next one of this rank, from 0 (mixed) to 1;
        "same_shard", how likely two samples of a batch are of one shard, and "same_shard_of_full", the same
        with shuffle="full".
        """
        workers = max(1, count_of(num_workers, "num_workers"))
        sample, shard = self._source.means()
        order, _ = self._order(0, 0, 0, 1)
        return order.cost(sample_bytes=sample, shard_samples=shard, batch=self._batch, workers=workers,
                          memory=memory_of(client_for(self._client, workers)))

    def _begin_of(self, consumed):
        """Places of the epoch's order that are behind whoever has consumed so many samples."""
        if count_of(consumed, "consumed") > len(self):
            raise ValueError(f"consumed: {consumed} of {len(self)} samples")
        return consumed * self._world_size

    def _check_counted(self, consumed, workers):
        if consumed and workers > 1 and not self._batch:
            raise ValueError(f"consumed: of {workers} workers it says what was read only where they take turns by "
                             "batches: tell the dataset the DataLoader's batch_size, as in IterableDataset(..., "
                             "batch_size=64)")

    def _next_place(self):
        shared = self._shared
        if self._taken != shared.loaded:
            return Place(shared.epoch, shared.begin)
        place = self._place
        if place is not None and place.epoch == shared.epoch:
            return place
        return Place(shared.epoch, 0)

    def _order(self, epoch, begin, worker, workers):
        order = Order(self.count, self._how, epoch, begin, self._rank, self._world_size,
                      self._equalize)
        batch = self._batch or (1 if workers > 1 else STRETCH)
        return order, Turns(order.size, batch, worker, workers)

    def _kept(self, client, number):
        """Samples of a plan of a part; 0 where none is made."""
        return self._source.kept(client) if self._plans and hasattr(self._source.parts[number], "in_plans") else 0

    def _rows_of(self, number, order, turns, done, most):
        """Stretches of the rows of a part, by its own numbers, behind the first `done` of a worker's turns."""
        rows = plans(order, turns, done, most) if most else stretches(order, turns, done)
        return self._source.of_part(number, rows, self._maker.sizes)

    def _process_client(self, workers):
        if self._own is None or self._own[0] != os.getpid():
            self._own = os.getpid(), client_for(self._client, workers)
            self._ahead = self._passed = None
        return self._own[1]

    def __iter__(self) -> Iterator[Any]:
        return Pass(self._samples(*self._pass()))

    def _pass(self, made=None, of=None):
        """Begins one: (reads, order, turns, place, worker, workers). `made` makes the reads of `of`, if they are not
        samples one by one."""
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 0)
        client = self._process_client(workers)
        place, shared = self._next_place(), self._shared
        if place.begin and shared.counted and self._taken != shared.loaded:
            self._check_counted(place.begin, workers)
        self._place, self._taken, shared.readers = None, shared.loaded, workers
        order, turns = self._order(place.epoch, place.begin, worker, max(1, workers))
        # Whoever passes a second time passes again: reads go on into the epoch that is to come.
        step = None if self._passed is None or not self._reads_over else max(0, place.epoch - self._passed)
        ahead, self._ahead = self._ahead, None
        if ahead is not None and (place.yielded or ahead.of is not of or ahead.key != (
                place.epoch, place.begin, worker, max(1, workers))):
            ahead.close()
            ahead = None
        self._now = place, worker, workers, place.yielded
        reads = ahead
        if reads is None:
            reads = made(client, place, step) if made else self._reads(client, place, worker, max(1, workers), step)
        return reads, order, turns, place, worker, workers

    def _reads(self, client, place, worker, workers, step):
        return Reads(self, client, place, worker, workers, step)

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
            reads = self._passed_by(reads, place, worker, workers)
        finally:
            if reads is not None:
                reads.close()

    def _passed_by(self, reads, place, worker, workers):
        """A pass was whole. Reads that go on into the next epoch are kept for that; else they are given back."""
        self._passed = place.epoch
        if reads._step is None:
            return reads
        reads.key = place.epoch + reads._step, 0, worker, max(1, workers)
        if self._ahead is not None:
            return reads
        reads.go_on()
        self._ahead = reads
        return None
