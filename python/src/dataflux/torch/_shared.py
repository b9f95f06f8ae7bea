"""What all processes of a dataset know together."""

from __future__ import annotations

import mmap
import os

from .._errors import PreconditionError

_NUMBERS = 7  # of 8 bytes, at the beginning of the file; behind them a byte for each object that was skipped
_EPOCH, _BEGIN, _COUNTED, _LOADED, _READERS, _TAKEN, _TAKER = range(_NUMBERS)


class Shared:
    """Numbers that all processes of a dataset see, workers that live on among them: in a file of the
    dataset's folder, which each of them maps. They are set between passes.

    epoch     of the next pass
    begin     places of that epoch's order, of all ranks, that are behind it already
    loaded    how often a place was set by go_on(): each process takes it for its next pass once
    counted   the place is of a number of samples that the user has counted
    readers   workers of the DataLoader that reads; 0 = none has begun since the place was set
    """

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "shared")
        with open(self._path, "wb") as file:
            file.write(bytes(8 * _NUMBERS))
        self._open()

    def _open(self):
        self._file = open(self._path, "a+b", buffering=0)
        self._numbers = memoryview(mmap.mmap(self._file.fileno(), 8 * _NUMBERS)).cast("Q")

    def __getstate__(self) -> str:
        return self._path

    def __setstate__(self, path: str) -> None:
        if not os.path.exists(path):
            raise PreconditionError(
                f"{path}: the dataset that this was pickled of is gone, and its files with it. A pickle is for "
                "processes of its machine, while it lives: keep it until they are done, or make the dataset "
                "anew there")
        self._path = path
        self._open()

    @property
    def epoch(self) -> int:
        return self._numbers[_EPOCH]

    @property
    def begin(self) -> int:
        return self._numbers[_BEGIN]

    @property
    def counted(self) -> bool:
        return bool(self._numbers[_COUNTED])

    @property
    def loaded(self) -> int:
        return self._numbers[_LOADED]

    @property
    def readers(self) -> int:
        return self._numbers[_READERS]

    @readers.setter
    def readers(self, workers: int) -> None:
        self._numbers[_READERS] = workers

    def is_for(self, taker: int, reader: int) -> bool:
        """Whether the place that was set last is for a reader of a pass, of any process: for each reader of the first
        pass that takes it, once. A pass has a number of its own, mostly: where two have the same, the later one's
        readers find that they had it."""
        numbers = self._numbers
        if numbers[_TAKEN] != self.loaded:
            return True
        return numbers[_TAKER] == taker and not os.path.exists(self._mark(reader))

    def take(self, taker: int, reader: int) -> None:
        """What is_for() has said is done."""
        numbers = self._numbers
        if numbers[_TAKEN] != self.loaded:
            numbers[_TAKER] = taker  # before the next one, by which others see it
            numbers[_TAKEN] = self.loaded
        open(self._mark(reader), "wb").close()

    def _mark(self, reader):
        return f"{self._path}-{self.loaded}-{reader}"

    def set_epoch(self, epoch: int) -> None:
        """Of another epoch nothing is behind the next pass."""
        if epoch != self.epoch:
            self._numbers[_BEGIN] = self._numbers[_COUNTED] = 0
        self._numbers[_EPOCH] = epoch

    def go_on(self, epoch: int, begin: int, counted: bool = False) -> None:
        """The next pass of every process begins there."""
        self._numbers[_EPOCH], self._numbers[_BEGIN], self._numbers[_COUNTED] = epoch, begin, counted
        self._numbers[_READERS] = 0
        self._numbers[_LOADED] += 1

    @property
    def skipped(self) -> int:
        """How many objects gave no sample, in all processes."""
        return os.fstat(self._file.fileno()).st_size - 8 * _NUMBERS

    def skip(self) -> None:
        """Counts one, of any process: an append, which no other one overwrites."""
        self._file.write(b"\0")
