"""A WebDataset that reads by an index: in a true order, and from anywhere in it."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List

from .._errors import Error
from . import _batches, _stages
from ._handlers import Handler, reraise_exception
from ._optional import optional
from ._pipeline import DataPipeline
from ._urls import urls_of
from ._webdataset import WebDataset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

    from .._client import Client

# Stages that have given on all that they have taken, whenever they are asked.
_EXACT = (_stages._map, _stages._rename, _stages._map_dict, _stages._to_tuple, _stages._map_tuple,
          _stages._associate, _stages._rename_keys, _stages._extract_keys, _stages._xdecode, _stages._info,
          _stages._log_keys, _stages._select, _stages._rsample, _batches._batched)
_DROPPING = (_stages._select, _stages._rsample)


class _Source:
    """Samples of a dataflux.torch.IterableDataset, made of its arguments."""

    def __init__(self, arguments: Dict[str, Any], handler: Handler) -> None:
        self.arguments, self.handler = arguments, handler
        datasets = optional("dataflux.torch", "index=", "torch")
        self.dataset = datasets.IterableDataset(**arguments)

    def changed(self, **arguments: Any) -> _Source:
        return _Source({**self.arguments, **arguments}, self.handler)

    def __iter__(self) -> Iterator[Any]:
        # At once, and not with the first sample: a worker says where it is before.
        return self._passed(iter(self.dataset))

    def _passed(self, samples):
        for sample in samples:
            if not isinstance(sample, Error):
                yield sample
            elif not self.handler(sample):
                return


class Indexed(WebDataset):
    """A WebDataset that was given an index: its samples come in the order of dataflux.torch.IterableDataset.

        dataset = wds.WebDataset(index="train.dfx", seed=7).shuffle(1000).decode("rgb").to_tuple("jpg", "cls")
        for epoch in range(90):
            dataset.set_epoch(epoch)
            ...

    shuffle(), and shardshuffle, shuffle all samples, by seed and epoch; without them samples come as they lie. Ranks
    and workers share the samples, so that there are no splitters. len() is known, and an epoch is all samples, in
    equal numbers for all ranks. What shards, generations and checksums are read is as of the index.

    Arguments:
        urls: the shards of the index, which is checked; or None.
        handler: of a sample that cannot be read.
        index: a ShardIndex, or its path; or what else IterableDataset takes as `shards` without indexing it first.
        shardshuffle: whether samples are shuffled; shuffle() says the same.
        seed: of the order.
        shuffle: how they are, as of dataflux.Sampler: "full", or "blocks" or "window", which read neighbours by few
            requests. None = not at all until shuffle() or shardshuffle says so, and then "full".
        block, window: of "blocks" and "window".
        batch_size: that of the DataLoader, if there are no batches in the pipeline: see IterableDataset.
        client: that reads; None = Client().
        nodesplitter, workersplitter, detshuffle, empty_check, verbose: of no use here.
    """

    def __init__(self, urls: Any = None, handler: Handler = reraise_exception, *, index: Any,
                 shardshuffle: Any = None, seed: int = 0, shuffle: str | None = None, block: int | None = None,
                 window: int | None = None, batch_size: int | None = None, client: Client | None = None,
                 nodesplitter: Any = None, workersplitter: Any = None, detshuffle: bool = True,
                 empty_check: bool = True, verbose: bool = False, **other: Any) -> None:
        DataPipeline.__init__(self)
        for name in other:
            raise TypeError(f"{name}: a dataset with an index takes no such argument")
        if isinstance(index, str) and "://" in index:
            raise ValueError(f"index: {index}: a file here is needed: make one of a prefix by client.index_shards(), or "
                             "download it")
        self._shuffled = {"shuffle": shuffle or "full", "block": block, "window": window}
        self.append(_Source({"shards": index, "seed": seed, "shuffle": "none", "batch_size": batch_size,
                             "client": client, "on_error": "return"}, handler))
        if urls is not None:
            self._check(urls)
        if shardshuffle or shuffle is not None:
            self._shuffle()

    def __iter__(self) -> Iterator[Any]:
        return self.iterator1()

    @property
    def _dataset(self):
        return self.pipeline[0].dataset

    def _check(self, urls):
        """The shards that were named are those of the index."""
        given = set(urls_of(urls))
        known = set()
        for part in self._dataset._source.parts:
            index = part.open(self._dataset._client)
            scheme = self._dataset._client._scheme
            known |= {f"{scheme}://{shard.bucket}/{shard.name}" for shard in index.shards}
        for missing, where in ((given - known, "the index has not"), (known - given, "the index has beside them")):
            if missing:
                raise ValueError(f"urls: {len(missing)} of them {where}, such as {min(missing)}: index the shards that are "
                                 "to be read, or leave urls out")

    def _shuffle(self):
        self.pipeline[0] = self.pipeline[0].changed(**self._shuffled)

    def _inexact(self) -> List[Any]:
        """Stages of which nobody knows what they have taken, and not given."""
        return [stage for stage in self.pipeline[1:] if getattr(stage, "function", None) not in _EXACT]

    def shuffle(self, size: int, **kw: Any) -> Self:
        """All samples are shuffled, by the order of the index. Behind batches, and stages of the program, it is
        webdataset's."""
        batched = any(stage.function is _batches._batched for stage in self.pipeline[1:] if hasattr(stage, "function"))
        if size < 1 or batched or self._inexact():
            return super().shuffle(size, **kw)
        made = self.compose()
        made._shuffle()
        return made

    def batched(self, batchsize: int, collation_fn: Any = _batches.default_collation_fn, partial: bool = True) -> Self:
        """Batches; workers take turns by them."""
        return self._in_turns(batchsize).compose(_batches.batched(batchsize, collation_fn, partial))

    def listed(self, batchsize: int, partial: bool = True) -> Self:
        """Batches as lists."""
        return self.batched(batchsize, None, partial)

    def _in_turns(self, batch_size):
        """Workers take turns by batches of that size, unless something else was told."""
        made = self.compose()
        if made.pipeline[0].arguments["batch_size"] is None:
            made.pipeline[0] = made.pipeline[0].changed(batch_size=batch_size)
        return made

    def with_epoch(self, nsamples: int = -1, nbatches: int = -1) -> Self:
        """Is an error: an epoch is all samples, which all ranks share evenly."""
        raise ValueError("with_epoch: with an index an epoch is all samples, in equal numbers for all ranks: call "
                         "set_epoch() before each pass")

    def repeat(self, nepochs: int = -1, nbatches: int = -1) -> Self:
        """Is an error: each pass has an epoch of its own."""
        raise ValueError("repeat: with an index call set_epoch() before each pass, which then has an order of its own")

    def __len__(self) -> int:
        """Samples of this rank, or batches, as far as no stage leaves some out."""
        if self.size is not None or self._inexact() or any(
                getattr(stage, "function", None) in _DROPPING for stage in self.pipeline[1:]):
            return super().__len__()
        count = len(self._dataset)
        for stage in self.pipeline[1:]:
            if stage.function is _batches._batched:
                size, _, partial = stage.args
                count = -(-count // size) if partial else count // size
        return count

    @property
    def epoch(self) -> int:
        """Which one the next pass is of."""
        epoch: int = self._dataset.epoch
        return epoch

    def set_epoch(self, epoch: int) -> None:
        """Which epoch the next pass is of, in all processes that have this dataset."""
        self._dataset.set_epoch(epoch)

    def _exact(self):
        stages = self._inexact()
        if stages:
            raise ValueError(f"state: behind {stages[0]!r} nobody knows which samples were given: leave shuffle() to the "
                             "index, before batches, and put such stages behind the loader")
        return self._dataset

    def state_dict(self, consumed: int | None = None) -> Dict[str, Any]:
        """Where this is: as of dataflux.torch.IterableDataset. `consumed` counts samples of the index.

        Raises: ValueError for a pipeline that holds samples back; and where `consumed` is needed.
        """
        state: Dict[str, Any] = self._exact().state_dict(consumed)
        return state

    def load_state_dict(self, state: Any) -> None:
        """The next pass goes on where the state was saved, whatever the number of ranks and workers."""
        self._exact().load_state_dict(state)
