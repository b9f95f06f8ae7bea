"""Samples put together to batches: arrays and bytes straight into the memory of the batch, all else by torch."""

from __future__ import annotations

import _thread
from array import array
from collections import deque
from functools import partial
from itertools import accumulate
from math import prod
from typing import Any, Callable, Sequence

import torch
from torch.utils.data import default_collate

from .._place import count_of
from .._slabs import exporter_at
from ._sizes import size_error

_PAGE = 4096


class Blocks:
    """Memory of batches, aligned to 64 bytes at least. A block is used again once the last view of it is gone.

    Arguments:
        pinned: it is page-locked, for copies to a device.
    """

    def __init__(self, pinned: bool = False) -> None:
        self._pinned = pinned
        self._free: dict[Any, deque[torch.Tensor]] = {}  # by what a batch keeps there

    def tensor(self, key: Any, dtype: torch.dtype, shape: Sequence[int]) -> torch.Tensor:
        """Memory as a tensor, with whatever it holds. `key` says what it is for: blocks of one are used for the
        same again. Any thread."""
        count = prod(shape)
        if not count:
            return torch.empty(tuple(shape), dtype=dtype)
        size = count * dtype.itemsize
        free = self._free.setdefault(key, deque())
        owner = self._taken(free, size)
        exporter = exporter_at(owner.data_ptr())
        exporter.back = partial(free.append, owner)
        return torch.frombuffer(memoryview(exporter).cast("B")[:size], dtype=dtype).view(tuple(shape))

    def _taken(self, free, size):
        while True:  # one that is too small goes: what is needed has grown
            try:
                owner = free.popleft()
            except IndexError:
                return torch.empty(-(-size // _PAGE) * _PAGE, dtype=torch.uint8, pin_memory=self._pinned)
            if owner.numel() >= size:
                return owner


def bytes_of(made: torch.Tensor) -> memoryview:
    """The memory of a tensor that lies in one piece."""
    return memoryview(made.view(-1).view(torch.uint8).numpy())


class Rules:
    """What becomes of samples that are bytes.

    dtype    of their elements; None = uint8
    shape    of each; None = as many elements as they have
    pad      they are filled up with zeros: True = to the longest one of the batch, or to so many elements
    packed   one lies behind the other
    """

    def __init__(self, dtype: Any = None, shape: Any = None, pad: Any = None, packed: bool = False) -> None:
        if dtype is not None and not isinstance(dtype, torch.dtype):
            raise TypeError(f"dtype: a torch.dtype is needed, and not a {type(dtype).__name__}")
        self.dtype = dtype or torch.uint8
        self.shape = None if shape is None else tuple(count_of(each, "shape", 1) for each in
                                                      (shape if isinstance(shape, (tuple, list)) else (shape,)))
        self.pad: Any = bool(pad) if pad is None or isinstance(pad, bool) else count_of(pad, "pad", 1)
        self.packed = bool(packed)
        if sum(map(bool, (self.shape, self.pad, self.packed))) > 1:
            raise ValueError("shape, pad, packed: samples of one shape are not padded, and what is packed is neither")
        self.given = dtype is not None or bool(self.shape or self.pad or self.packed)
        self.size = self.dtype.itemsize * prod(self.shape) if self.shape else None  # what each sample has

    def wrong(self, size: int) -> str | None:
        """What is wrong with a sample of so many bytes, whichever others there are."""
        if self.size is not None and size != self.size:
            return f"it has {size} bytes, and shape={self.shape} of {self.dtype} has {self.size}"
        if size % self.dtype.itemsize:
            return f"it has {size} bytes, which is no multiple of the {self.dtype.itemsize} of {self.dtype}"
        if self.pad and self.pad is not True and size > self.pad * self.dtype.itemsize:
            return f"it has {size // self.dtype.itemsize} elements, and pad={self.pad}"
        return None


class Layout:
    """Where bytes of several samples lie in the memory of their batch.

    begins   of each one
    shape    of the memory, in elements
    odd      the place of one that has another size than the first, where none may; else None
    """

    def __init__(self, rules: Rules, sizes: Sequence[int]) -> None:
        item, count = rules.dtype.itemsize, len(sizes)
        self.odd: int | None = None
        self._sizes = sizes
        self._packed = rules.packed
        self._beside: Any = None  # lengths, or offsets
        if rules.packed:
            ends = array("Q", accumulate(sizes, initial=0))
            self.shape: tuple[int, ...] = (ends.pop() // item,)
            self.begins = ends
            self._beside = [end // item for end in ends] + [self.shape[0]]
            return
        most = max(sizes) if rules.pad is True else rules.pad * item if rules.pad else sizes[0]
        if rules.pad:
            self._beside = [size // item for size in sizes]
        else:
            self.odd = next((at for at, size in enumerate(sizes) if size != most), None)
        self.begins = array("Q", range(0, most * count, most) if most else bytes(8 * count))
        self.shape = count, *(rules.shape or (most // item,))

    def told(self, first: str) -> str:
        """What is wrong with the odd one; `first` is the URL of the first one."""
        return (f"it has {self._sizes[self.odd or 0]} bytes, and {first} of the same batch has {self._sizes[0]}: "
                "batches(pad=True) fills them up, and packed=True puts one behind the other")

    def cleared(self, made: torch.Tensor) -> memoryview:
        """The memory as bytes, with zeros where no sample will be."""
        if not made.numel():
            return memoryview(bytearray())
        room = bytes_of(made)
        if self._beside is not None and not self._packed:
            for begin, size, behind in zip(self.begins, self._sizes, [*self.begins[1:], len(room)]):
                if begin + size < behind:
                    room[begin + size:behind] = bytes(behind - begin - size)
        return room

    def batch(self, made: torch.Tensor) -> Any:
        """What the loader gives of it."""
        return made if self._beside is None else (made, torch.tensor(self._beside))


class _Rows:
    """The memory of a batch for arrays of one shape, a row for each sample."""

    def __init__(self, blocks, key, count, value, array, dtype):
        self.tensor = blocks.tensor(key, dtype, (count, *array.shape))
        self.array = self.tensor.numpy()
        self._kind = type(value)

    def put(self, at, value, array):
        if type(value) is not self._kind or array.dtype != self.array.dtype or array.shape != self.array.shape[1:]:
            return False
        self.array[at] = array  # without the interpreter's lock, and by this thread alone
        return True

    def value(self, at):
        """A copy of what was put there."""
        return self.tensor[at].clone() if self._kind is torch.Tensor else self.array[at].copy()


class _Placed:
    """Stands where a sample was that lies in its row."""


_PLACED = _Placed()
_dtypes: dict[Any, torch.dtype | None] = {}  # by numpy's


def _dtype_of(array):
    """torch's; None where it has none."""
    try:
        return _dtypes[array.dtype]
    except KeyError:
        try:
            found = torch.from_numpy(type(array)(0, array.dtype)).dtype
        except (TypeError, ValueError):
            found = None
        return _dtypes.setdefault(array.dtype, found)


def _array_of(value):
    """A numpy array on the memory of what may lie in a row; else None."""
    if type(value) is torch.Tensor:
        try:
            return value.numpy()
        except (RuntimeError, TypeError):  # of another device, with a gradient, or of what numpy does not know
            return None
    return value if type(value).__module__ == "numpy" and type(value).__name__ == "ndarray" else None


class Forming:
    """A batch on its way. Each of its places is put once, by any thread.

    Arguments:
        count: how many samples.
        row_of: the Row of the object at a place, of this side of a pair.
        collate: makes the batch of a list of samples; None = as default_collate() of torch.
    """

    def __init__(self, count: int, rules: Rules, blocks: Blocks, row_of: Callable[..., Any],
                 collate: Callable[[list[Any]], Any] | None) -> None:
        self.samples: list[Any] = [None] * count
        self.bytes = 0
        self._count = count
        self._rules = rules
        self._blocks = blocks
        self._row_of = row_of
        self._collate = collate
        self._rows: dict[Any, _Rows] = {}  # by where in a sample
        self._lock = _thread.allocate_lock()

    def put(self, at: int, sample: Any) -> int:
        """Gives how many bytes it keeps, as far as they are known. Raises: SizeError."""
        if self._collate is not None:
            self.samples[at] = sample
            return 0
        kept = [0]
        if type(sample) is tuple:
            sample = tuple([self._leaf(name, at, each, kept) for name, each in enumerate(sample)])
        elif type(sample) is dict:
            sample = {name: self._leaf(name, at, each, kept) for name, each in sample.items()}
        else:
            sample = self._leaf(None, at, sample, kept)
        self.samples[at] = sample
        return kept[0]

    def _leaf(self, key, at, value, kept):
        if type(value) is memoryview:
            told = self._rules.wrong(len(value))
            if told is not None:
                raise size_error(self._row_of(at, key), told)
            kept[0] += len(value)
            return value
        array = _array_of(value)
        if array is None:
            return value
        kept[0] += array.nbytes
        rows = self._rows.get(key) or self._begun(key, value, array)
        return _PLACED if rows is not None and rows.put(at, value, array) else value

    def _begun(self, key, value, array):
        """The rows of a leaf, by whichever sample is the first; None where there are none."""
        dtype = _dtype_of(array)
        if dtype is None:
            return None
        with self._lock:
            rows = self._rows.get(key)
            if rows is None:
                rows = self._rows[key] = _Rows(self._blocks, key, self._count, value, array, dtype)
            return rows

    def sample(self, at: int) -> Any:
        """One as it was put; what lies in a row is copied, for the batch is its owner's."""
        made = self.samples[at]
        if type(made) is tuple:
            return tuple([self._whole(name, at, each) for name, each in enumerate(made)])
        if type(made) is dict:
            return {name: self._whole(name, at, each) for name, each in made.items()}
        return self._whole(None, at, made)

    def _whole(self, key, at, value):
        return self._rows[key].value(at) if value is _PLACED else value

    def batch(self) -> Any:
        """The batch, once all places are put: as torch's default_collate() makes it, or what was given for that."""
        samples = self.samples
        if self._collate is not None:
            return self._collate(samples)
        first = samples[0]
        kind = type(first)
        if kind is tuple and all(type(each) is tuple and len(each) == len(first) for each in samples):
            return [self._column(name, list(each)) for name, each in enumerate(zip(*samples))]
        if kind is dict and all(type(each) is dict and each.keys() == first.keys() for each in samples):
            return {name: self._column(name, [each[name] for each in samples]) for name in first}
        if any(type(each) in (tuple, dict) for each in samples):  # they differ: torch says how
            return default_collate([self.sample(at) for at in range(self._count)])
        return self._column(None, samples)

    def _column(self, key, values):
        placed = sum(value is _PLACED for value in values)
        if placed == len(values):
            return self._rows[key].tensor
        if all(type(value) is memoryview for value in values):
            return self._of_bytes(key, values)
        if placed:
            values = [self._whole(key, at, value) for at, value in enumerate(values)]
        return default_collate(values)

    def _of_bytes(self, key, views):
        layout = Layout(self._rules, list(map(len, views)))
        if layout.odd is not None:
            raise size_error(self._row_of(layout.odd, key), layout.told(self._row_of(0, key).url))
        made = self._blocks.tensor(key, self._rules.dtype, layout.shape)
        room = layout.cleared(made)
        for begin, view in zip(layout.begins, views):
            room[begin:begin + len(view)] = view
        return layout.batch(made)
