"""Reads that go on by threads while the thread that wants them takes what has come."""

from __future__ import annotations

import ctypes
import threading
from queue import SimpleQueue
from typing import Any, Callable, Iterable, Iterator

import torch

_BLOCK = 9 << 20  # bytes
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
                    raise why
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


class Blocks:
    """Memory that is read into beside the tensors, and used again: what is freed by another thread than
    that which made it stays with the process for long. Any thread."""

    def __init__(self) -> None:
        self._idle: list[torch.Tensor] = []

    def take(self, size: int) -> torch.Tensor:
        """At least so many bytes, whose content is not set."""
        if size > _BLOCK:
            return torch.empty(size, dtype=torch.uint8)
        try:
            return self._idle.pop()
        except IndexError:
            return torch.empty(_BLOCK, dtype=torch.uint8)

    def give(self, memory: torch.Tensor) -> None:
        """Nobody uses it any more."""
        if memory.numel() == _BLOCK:
            self._idle.append(memory)
