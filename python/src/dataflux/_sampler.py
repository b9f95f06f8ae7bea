"""In which order a job reads the rows of a listing."""

from __future__ import annotations

from _collections_abc import Sequence
from array import array

from . import _abi
from ._calls import checked
from ._handles import ErrorHandle
from ._library import byref, kind_of, library, struct
from ._place import count_of, flag_of, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, overload

_SHUFFLE = {"full": _abi.SHUFFLE_FULL, "window": _abi.SHUFFLE_WINDOW, "none": _abi.SHUFFLE_NONE,
            "blocks": _abi.SHUFFLE_BLOCKS}
WINDOWS = ("window", "blocks")  # the kinds that have them
_EQUALIZE = {"drop": _abi.EQUALIZE_DROP, "pad": _abi.EQUALIZE_PAD}


class Sampler(Sequence["int"]):
    """The rows that a rank reads in an epoch, in their order: an immutable sequence of numbers.

    It is a pure function of its arguments, the same on every machine and in every version. Nothing is
    stored, and any position is found at once, of 100 million rows as of ten: some 25 ns each, by
    slices and rows(). So a job goes on anywhere, without going through what it has read.

    It never changes, so it has no set_epoch(), as torch's DistributedSampler has: with_epoch() gives
    the order of another epoch, for a DataLoader of that epoch.

    An epoch has one order for all ranks, who take turns: position p of rank r is position
    p * world_size + r of it. So a job that goes on with another number of ranks goes on there.

    Arguments:
        count: rows there are, as len(listing) tells; at most 2**62.
        seed, epoch: 0 to 2**64 - 1. Each pair of them has an order of its own.
        shuffle: "full": each order is as likely as any other. "window": blocks of `block` consecutive
            rows are shuffled, `window` of them are taken together, and the rows of those are
            shuffled: for rows that are ranges of few large objects, or for a cache. "blocks": such
            blocks, each in an order of its own, take turns, `window` of them at a time: for samples of
            tar shards, which many processes read. "none".
        block, window: with shuffle="window" or "blocks"; None = 1,024 rows and 64 blocks.
        rank, world_size: which of how many, from 0.
        equalize: all ranks have the same number of rows. What does not go around is left out
            ("drop": other rows in each epoch), or the first ones come again at the end ("pad").

    Raises: TypeError and ValueError, which name the argument.

    Threads: any. It is pickled by its arguments.
    """

    __slots__ = ("_arguments", "_options", "_size", "__weakref__")

    def __init__(self, count: int, *, seed: int = 0, epoch: int = 0,
                 shuffle: Literal["full", "window", "none", "blocks"] = "full",
                 block: int | None = None, window: int | None = None, rank: int = 0,
                 world_size: int = 1, equalize: Literal["drop", "pad"] = "drop") -> None:
        one_of(shuffle, "shuffle", _SHUFFLE)
        one_of(equalize, "equalize", _EQUALIZE)
        for value, argument in ((block, "block"), (window, "window")):
            if value is not None:
                count_of(value, argument, 1, 62)
                if shuffle not in WINDOWS:
                    raise ValueError(f'{argument}: only with shuffle="window" or "blocks"')
        count = count_of(count, "count")
        if count > 2**62:
            raise ValueError("count: at most 2**62 rows")
        world_size = count_of(world_size, "world_size", 1, 32)
        rank = count_of(rank, "rank", 0, 32)
        if rank >= world_size:
            raise ValueError(f"rank: {rank} of {world_size}: ranks are counted from 0")
        self._arguments = {"count": count, "seed": count_of(seed, "seed", 0, 64),
                           "epoch": count_of(epoch, "epoch", 0, 64), "shuffle": shuffle,
                           "block": block, "window": window, "rank": rank,
                           "world_size": world_size, "equalize": equalize}
        self._options = struct("sampler_options", **{
            **self._arguments, "shuffle": _SHUFFLE[shuffle], "equalize": _EQUALIZE[equalize]})
        size = array("Q", [0])
        error = ErrorHandle()
        checked(library.sampler_size(byref(self._options), size.buffer_info()[0], byref(error)), error)
        self._size = size[0]

    @property
    def seed(self) -> int:
        """Which order it is of: the same seed and epoch give the same one."""
        return self._arguments["seed"]

    @property
    def epoch(self) -> int:
        """Which epoch it is of."""
        return self._arguments["epoch"]

    @property
    def rank(self) -> int:
        """Whose rows these are, from 0."""
        return self._arguments["rank"]

    @property
    def world_size(self) -> int:
        """How many ranks share the rows."""
        return self._arguments["world_size"]

    if not TYPE_CHECKING:
        def __getattr__(self, name):
            if name == "set_epoch":
                raise AttributeError("a Sampler never changes, and has no set_epoch(): sampler.with_epoch(3) is that "
                                     "of epoch 3, for a DataLoader of that epoch")
            raise AttributeError(f"'Sampler' object has no attribute {name!r}")

    def with_epoch(self, epoch: int) -> Sampler:
        """The same of another epoch."""
        return Sampler(**{**self._arguments, "epoch": epoch})

    def steps(self, batch_size: int, drop_last: bool = False) -> int:
        """How many batches each rank has; the last one may be short, unless it is dropped."""
        batch_size = count_of(batch_size, "batch_size", 1)
        whole, left = divmod(self._size, batch_size)
        return whole + (1 if left and not flag_of(drop_last, "drop_last") else 0)

    def rows(self, first: int, count: int) -> array[int]:
        """The rows at `count` positions from `first` on, at most to the end, as array("Q"): for
        Listing.take(), and without a copy for numpy.asarray() and torch.from_numpy()."""
        first = count_of(first, "first")
        count = max(0, min(count_of(count, "count"), self._size - first))
        rows = array("Q", bytes(8 * count))
        error = ErrorHandle()
        checked(library.sampler_rows(byref(self._options), min(first, self._size),
                                     rows.buffer_info()[0], count, byref(error)), error)
        return rows

    def _rows_at(self, positions):
        """The row of each position, in its place: of an array("Q") of positions that lie apart."""
        error = ErrorHandle()
        checked(library.sampler_rows_at(byref(self._options), positions.buffer_info()[0], len(positions),
                                        byref(error)), error)
        return positions

    def _window_end(self, position):
        """The first position behind the window of one: rows up to there are read by their numbers."""
        end, error = array("Q", [0]), ErrorHandle()
        checked(library.sampler_window_end(byref(self._options), position, end.buffer_info()[0],
                                           byref(error)), error)
        return end[0]

    def _cost(self, **reads):
        """What the library tells of this order, as a dict."""
        import ctypes

        raw, error = kind_of("order_cost")(), ErrorHandle()
        checked(library.sampler_cost(byref(self._options), byref(struct("epoch_reads", **reads)), byref(raw),
                                     ctypes.sizeof(raw), byref(error)), error)
        return {name: getattr(raw, name) for name, _ in _abi.STRUCTS["order_cost"]}

    def __len__(self) -> int:
        """How many rows this rank has; every rank has as many."""
        return self._size

    if TYPE_CHECKING:
        @overload
        def __getitem__(self, index: int) -> int: ...
        @overload
        def __getitem__(self, index: slice) -> array[int]: ...

    def __getitem__(self, index: Any) -> Any:
        """The row at a position; by a slice an array("Q") of rows."""
        if isinstance(index, slice):
            start, stop, step = index.indices(self._size)
            if step == 1:
                return self.rows(start, max(0, stop - start))
            return array("Q", [self[position] for position in range(start, stop, step)])
        try:
            position = range(self._size)[index]
        except IndexError:
            raise IndexError(f"position {index} of {self._size}") from None
        return self.rows(position, 1)[0]

    def __iter__(self):
        for first in range(0, self._size, 4096):
            yield from self.rows(first, 4096)

    def __eq__(self, other: object) -> bool:
        return self._arguments == other._arguments if isinstance(other, Sampler) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._arguments.values()))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._arguments.items()
                          if name != "count" and value is not None)
        return f"dataflux.Sampler({self._arguments['count']}, {given})"

    def __reduce__(self):
        return _made, (self._arguments,)


def _made(arguments):
    return Sampler(**arguments)
