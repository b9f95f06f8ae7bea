"""Samples of several datasets."""

from __future__ import annotations

import random
from bisect import bisect_left
from itertools import accumulate
from typing import Any, Iterator, List, Sequence

from ._iterable import IterableDataset


class RoundRobin(IterableDataset):
    """A sample of each dataset in turn.

    Arguments:
        longest: until all have ended; else until the first one has.
    """

    def __init__(self, datasets: Sequence[Any], longest: bool = False) -> None:
        self.datasets, self.longest = datasets, longest

    def __iter__(self) -> Iterator[Any]:
        sources = [iter(each) for each in self.datasets]
        at = 0
        while sources:
            at %= len(sources)
            try:
                sample = next(sources[at])
            except StopIteration:
                if not self.longest:
                    return
                del sources[at]
                continue
            at += 1
            yield sample


class RandomMix(IterableDataset):
    """Samples of several datasets, each drawn by chance, by the generator of the module `random`.

    Arguments:
        probs: how often which one, to one another; None = all the same.
        longest: until all have ended; else until the first one that is drawn has.
    """

    def __init__(self, datasets: Sequence[Any], probs: Sequence[float] | None = None, longest: bool = False) -> None:
        if probs is not None and len(probs) != len(datasets):
            raise ValueError(f"probs: {len(probs)} of {len(datasets)} datasets")
        self.datasets, self.probs, self.longest = datasets, probs, longest

    def __iter__(self) -> Iterator[Any]:
        sources = [iter(each) for each in self.datasets]
        probs: List[float] = list(self.probs or [1] * len(sources))
        while sources:
            total = sum(probs)
            at = bisect_left(list(accumulate(each / total for each in probs)), random.random())
            at = min(at, len(sources) - 1)  # the sum may be rounded down
            try:
                sample = next(sources[at])
            except StopIteration:
                if not self.longest:
                    return
                del sources[at], probs[at]
                continue
            yield sample


class MockDataset(IterableDataset):
    """One sample again and again, for tests and measurements."""

    def __init__(self, sample: Any, length: int) -> None:
        self.sample, self.length = sample, length

    def __iter__(self) -> Iterator[Any]:
        return (self.sample for _ in range(self.length))
