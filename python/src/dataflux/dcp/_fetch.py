"""Reads that go on by threads while the thread that wants them takes what has come. Small ones of a file
go together."""

from __future__ import annotations

import ctypes
import threading
from itertools import accumulate
from queue import SimpleQueue
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import torch

from .._reader import Reader

_BLOCK = 9 << 20  # bytes
TOGETHER = 8 << 20  # bytes that one job reads, unless a piece alone has more
_ALIGNED = 64
THREADS = 8  # reads at a time; each is split and spread by the library


class Job:
    """read() is called by a thread, take() by the one that wants it, after that."""

    def __init__(self, read: Callable[[], Any], take: Callable[[Any], None]) -> None:
        self.read, self.take = read, take


def carry_out(jobs: Iterable[Job], threads: int = THREADS) -> None:
    """Reads all, some at a time, and takes each as it comes: no more are read than a thread each, or
    wait to be taken, so that this bounds the memory. The first failure ends it; then nothing reads
    any more.
    """
    waiting: Iterator[Job] = iter(jobs)
    asked: SimpleQueue[Job | None] = SimpleQueue()
    come: SimpleQueue[tuple[Job, Any, BaseException | None]] = SimpleQueue()

    def work() -> None:
        while (job := asked.get()) is not None:
            try:
                come.put((job, job.read(), None))
            except BaseException as why:
                come.put((job, None, why))

    workers: list[threading.Thread] = []
    under_way = 0
    try:
        more = True
        while more or under_way:
            while more and under_way < threads:
                job = next(waiting, None)
                if job is None:
                    more = False
                    break
                if len(workers) <= under_way:
                    workers.append(threading.Thread(target=work, name="dataflux-dcp", daemon=True))
                    workers[-1].start()
                asked.put(job)
                under_way += 1
            if under_way:
                job, value, why = come.get()
                under_way -= 1
                if why is not None:
                    try:
                        raise why
                    finally:
                        del why  # it has this frame, by its traceback
                job.take(value)
    finally:
        for _ in workers:
            asked.put(None)
        for worker in workers:
            worker.join()


def memory_of(tensor: torch.Tensor) -> Any:
    """The memory of a contiguous tensor of the processor, to be read into. It keeps the tensor."""
    memory = (ctypes.c_char * tensor.nbytes).from_address(tensor.data_ptr())
    memory.tensor = tensor  # type: ignore[attr-defined]
    return memory


def of_type(memory: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Bytes as numbers; copied where they lie at an address that is none for such."""
    return (memory.clone() if memory.data_ptr() % dtype.itemsize else memory).view(dtype)


class Blocks:
    """Memory that is read into beside the tensors, and used again: what is freed by another thread than
    that which made it stays with the process for long. Any thread."""

    def __init__(self) -> None:
        self._idle: list[torch.Tensor] = []

    def take(self, size: int) -> torch.Tensor:
        """At least so many bytes, whose content is not set."""
        if size > _BLOCK:
            return torch.empty(size, dtype=torch.uint8, device="cpu")
        try:
            return self._idle.pop()
        except IndexError:
            return torch.empty(_BLOCK, dtype=torch.uint8, device="cpu")

    def give(self, memory: torch.Tensor) -> None:
        """Nobody uses it any more."""
        if memory.numel() == _BLOCK:
            self._idle.append(memory)


class Piece(NamedTuple):
    """Some bytes of a file that belong together.

    ranges   (offset, size) of each stretch
    into     contiguous memory of the processor that they fill; None = memory beside, which take() is
             given
    """

    ranges: list[tuple[int, int]]
    into: torch.Tensor | None
    take: Callable[[torch.Tensor], None]

    @property
    def bytes(self) -> int:
        return sum(size for _, size in self.ranges)


def jobs_of(reader: Reader, pieces: Iterable[Piece], blocks: Blocks) -> Iterator[Job]:
    """Jobs that read a file's pieces: long ones alone, the others many at a time."""
    together: list[Piece] = []
    total = 0
    for piece in pieces:
        size = piece.bytes
        if size > TOGETHER // 2:
            yield _job(reader, [piece], blocks)
            continue
        if total + size > TOGETHER:
            yield _job(reader, together, blocks)
            together, total = [], 0
        together.append(piece)
        total += size
    if together:
        yield _job(reader, together, blocks)


def _job(reader: Reader, pieces: list[Piece], blocks: Blocks) -> Job:
    # What lies side by side in the file does so in memory, and is read as one range.
    ranges: list[tuple[int, int]] = []  # of what is read into memory beside
    starts: list[int] = []  # there, of each range
    places: list[int] = []  # there, of each piece
    total = 0
    for piece in pieces:
        if piece.into is not None:
            places.append(0)
            continue
        beside = bool(ranges) and sum(ranges[-1]) == piece.ranges[0][0]
        if not beside:
            total = -(-total // _ALIGNED) * _ALIGNED
        places.append(total)
        for offset, size in piece.ranges:
            if ranges and sum(ranges[-1]) == offset and starts[-1] + ranges[-1][1] == total:
                ranges[-1] = ranges[-1][0], ranges[-1][1] + size
            else:
                ranges.append((offset, size))
                starts.append(total)
            total += size

    def read() -> torch.Tensor | None:
        memory = blocks.take(total) if ranges else None
        wanted = list(ranges)
        views = _split(memory, starts, [size for _, size in ranges])
        for piece in pieces:
            if piece.into is not None:
                sizes = [size for _, size in piece.ranges]
                wanted += piece.ranges
                views += _split(piece.into, accumulate([0, *sizes[:-1]]), sizes)
        reader.get_ranges(wanted, views)
        return memory

    def take(memory: torch.Tensor | None) -> None:
        for piece, place in zip(pieces, places):
            if piece.into is not None:
                piece.take(piece.into)
            elif memory is not None:
                piece.take(memory[place:place + piece.bytes])
        if memory is not None:
            blocks.give(memory)

    return Job(read, take)


def _split(memory: torch.Tensor | None, starts: Iterable[int], sizes: list[int]) -> list[memoryview]:
    if memory is None:
        return []
    view = memoryview(memory_of(memory))
    return [view[start:start + size] for start, size in zip(starts, sizes)]
