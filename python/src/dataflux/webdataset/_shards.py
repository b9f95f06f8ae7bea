"""Which shards are read, and by whom."""

from __future__ import annotations

import os
import random
import sys
import time
from itertools import islice
from typing import Any, Callable, Dict, Iterable, Iterator, List

from ._iterable import IterableDataset, world
from ._urls import urls_of

Shard = Dict[str, Any]  # {"url": ...}


class SimpleShardList(IterableDataset):
    """Shards in the order in which they are named.

    Arguments:
        urls: a text with braces, "::" and ${X}, or a list of URLs.
        seed: they are shuffled, in the same way in each pass; True = by the clock, None = not at all.
    """

    def __init__(self, urls: Any, seed: Any = None) -> None:
        self.urls = urls_of(urls)
        self.seed = time.time() if seed is True else seed

    def __len__(self) -> int:
        return len(self.urls)

    def __iter__(self) -> Iterator[Shard]:
        urls = list(self.urls)
        if self.seed is not None:
            random.Random(self.seed).shuffle(urls)
        return ({"url": url} for url in urls)


def _seed_of(*parts):
    """As webdataset makes one number of several."""
    seed = 0
    for part in parts:
        seed = (seed * 31 + hash(part)) & 0x7FFFFFFF
    return seed


def _worker_seed():
    rank, _, worker, _ = world()
    return rank * 1000 + worker


class ResampledShards(IterableDataset):
    """Shards drawn with replacement, without an end. with_epoch() says how long an epoch is.

    Arguments:
        urls: as of SimpleShardList.
        nshards: how many are drawn in a pass.
        seed: with deterministic=True, which ones; each pass and each worker has others.
        worker_seed: a function that gives another number in each worker.
        deterministic: the same ones in every run.
        max_urls: of an iterable, how many are looked at.
        empty_check: an empty list is an error always; the argument is webdataset's.
    """

    def __init__(self, urls: Any, nshards: int = sys.maxsize, seed: int = 0,
                 worker_seed: Callable[[], int] | None = None, deterministic: bool = False,
                 max_urls: int = 1_000_000, empty_check: bool = True) -> None:
        self.urls = urls_of(urls if isinstance(urls, (str, list)) else islice(urls, max_urls))
        self.nshards = nshards
        self.seed = seed
        self.worker_seed = worker_seed or _worker_seed
        self.deterministic = deterministic
        self.epoch = -1

    def __iter__(self) -> Iterator[Shard]:
        self.epoch += 1
        more = () if self.deterministic else (os.getpid(), time.time_ns(), os.urandom(4))
        draw = random.Random(_seed_of(self.worker_seed(), self.epoch, self.seed, *more)).randint
        last = len(self.urls) - 1
        return ({"url": self.urls[draw(0, last)]} for _ in range(self.nshards))


def split_by_node(src: Iterable[Any], group: Any = None) -> Iterator[Any]:
    """Each rank has every world-size-th of what comes. What a WebDataset takes as nodesplitter."""
    rank, ranks, _, _ = world()
    return islice(src, rank, None, ranks)


def single_node_only(src: Iterable[Any], group: Any = None) -> Iterator[Any]:
    """All of it, where there is one rank: without a nodesplitter each of several would read the same."""
    _, ranks, _, _ = world()
    if ranks > 1:
        raise ValueError(f"nodesplitter: there are {ranks} ranks, and all of them would read all shards: add an "
                         "explicit one, as in WebDataset(..., nodesplitter=wds.split_by_node); or draw shards by "
                         "resampled=True with nodesplitter=None")
    return iter(src)


def split_by_worker(src: Iterable[Any]) -> Iterator[Any]:
    """Each worker of a DataLoader has its part of what comes."""
    _, _, worker, workers = world()
    return islice(src, worker, None, workers)


def non_empty(src: Iterable[Any]) -> Iterator[Any]:
    """What comes, which must not be nothing."""
    some = False
    for each in src:
        some = True
        yield each
    if not some:
        raise ValueError("a stage of the pipeline got nothing at all: there are fewer shards than ranks and workers, "
                         "or no shard")


class Selected:
    """A stage: shards that a function chooses of the list of their URLs."""

    def __init__(self, choose: Callable[[List[str]], Iterable[str]]) -> None:
        self.choose = choose

    def __call__(self, src: Iterable[Shard]) -> Iterator[Shard]:
        return ({"url": url} for url in self.choose([each["url"] for each in src]))


def shardspec(spec: str) -> SimpleShardList:
    """A list of shards by a text: the same as SimpleShardList."""
    return SimpleShardList(spec)
