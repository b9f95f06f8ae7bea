"""Pipelines: a source, and stages behind it."""

from __future__ import annotations

import copy
import os
import random
import sys
import warnings
from itertools import islice
from typing import Any, Callable, Iterator, List

from . import _batches, _stages
from ._decode import decoder_of
from ._handlers import Handler, reraise_exception
from ._iterable import IterableDataset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self


def _passed(stage, *src):
    """What a stage makes of what comes, or a source of nothing."""
    run = getattr(stage, "run", None)
    if not src and run is None and hasattr(stage, "__iter__"):
        return iter(stage)
    if run is None and not callable(stage):
        raise TypeError(f"{stage!r} is no stage of a pipeline: a source is an iterable, and a stage a function of an "
                        "iterator")
    return (stage if run is None else run)(*src)


class DataPipeline(IterableDataset):
    """A source, such as SimpleShardList, and stages: functions that make an iterator of one.

        DataPipeline(SimpleShardList(urls), split_by_worker, tarfile_to_samples(), decode("rgb"), batched(16))

    compose(), and the methods of FluidInterface, give a longer pipeline, and leave this one. A list among
    the arguments is several stages; None is none.
    """

    def __init__(self, *args: Any) -> None:
        self.pipeline: List[Any] = []
        self.repetitions = 1
        self.nsamples = -1
        self.size: int | None = None
        for each in args:
            self.pipeline.extend(each if isinstance(each, list) else [] if each is None else [each])

    def close(self) -> None:
        """Closes the stages that can be closed, and takes them out."""
        stages, self.pipeline = self.pipeline, []
        for stage in stages:
            if hasattr(stage, "close"):
                stage.close()

    def iterator1(self) -> Iterator[Any]:
        """One pass."""
        if not self.pipeline:
            raise ValueError("the pipeline has no source, or was closed")
        samples: Any = _passed(self.pipeline[0])
        for stage in self.pipeline[1:]:
            samples = _passed(stage, samples)
        return iter(samples)

    def iterator(self) -> Iterator[Any]:
        """So many passes as repeat() has said, or until one gives nothing."""
        passes = 0
        while passes < self.repetitions:
            some = False
            for sample in self.iterator1():
                some = True
                yield sample
            if not some:
                return
            passes += 1

    def __iter__(self) -> Iterator[Any]:
        if self.repetitions != 1 and self.nsamples > 0:
            return islice(self.iterator(), self.nsamples)
        return self.iterator()

    def stage(self, i: int) -> Any:
        """A stage by its number; the source is 0."""
        return self.pipeline[i]

    def append(self, f: Any) -> None:
        """Adds a stage to this pipeline."""
        self.pipeline.append(f)

    def compose(self, *args: Any) -> Self:
        """A copy with more stages."""
        made = copy.copy(self)
        made.pipeline = [*self.pipeline, *args]
        return made

    def with_length(self, n: int, silent: bool = False) -> Self:
        """Says what len() gives, and changes nothing else."""
        if not silent:
            warnings.warn("with_length() says what len() gives, and does not change how many samples there are: "
                          "with_epoch() does", stacklevel=2)
        self.size = n
        return self

    def __len__(self) -> int:
        if self.size is None:
            raise TypeError("how many samples there are nobody knows: say so by with_length()")
        return self.size

    def __bool__(self) -> bool:
        return True

    def with_epoch(self, nsamples: int = -1, nbatches: int = -1) -> Self:
        """A pass has so many samples, or batches: the source begins again where it has fewer. Each worker of a
        DataLoader counts for itself."""
        self.repetitions = sys.maxsize
        self.nsamples = max(nsamples, nbatches)
        return self

    def repeat(self, nepochs: int = -1, nbatches: int = -1) -> Self:
        """A pass goes so many times through the source, or without an end; and has at most nbatches."""
        self.repetitions = nepochs if nepochs > 0 else sys.maxsize
        self.nsamples = nbatches
        return self


class FluidInterface:
    """Stages as methods: each gives a longer pipeline, as compose() does."""

    if TYPE_CHECKING:
        def compose(self, *args: Any) -> Self: ...

    def batched(self, batchsize: int, collation_fn: Any = _batches.default_collation_fn, partial: bool = True) -> Self:
        return self.compose(_batches.batched(batchsize, collation_fn, partial))

    def unbatched(self) -> Self:
        return self.compose(_batches.unbatched())

    def listed(self, batchsize: int, partial: bool = True) -> Self:
        return self.compose(_batches.batched(batchsize, None, partial))

    def unlisted(self) -> Self:
        return self.compose(_batches.unlisted())

    def log_keys(self, logfile: str | None = None) -> Self:
        return self.compose(_stages.log_keys(logfile))

    def shuffle(self, size: int, **kw: Any) -> Self:
        return self.compose(_stages.shuffle(size, **kw)) if size >= 1 else self

    def map(self, f: Callable[[Any], Any], handler: Handler = reraise_exception) -> Self:
        return self.compose(_stages.map(f, handler))

    def decode(self, *args: Any, pre: Any = None, post: Any = None, only: Any = None, partial: bool = False,
               pickles: bool = False, handler: Handler = reraise_exception) -> Self:
        return self.compose(decode(*args, pre=pre, post=post, only=only, partial=partial, pickles=pickles,
                                   handler=handler))

    def map_dict(self, *, handler: Handler = reraise_exception, **kw: Any) -> Self:
        return self.compose(_stages.map_dict(handler=handler, **kw))

    def select(self, predicate: Callable[[Any], Any]) -> Self:
        return self.compose(_stages.select(predicate))

    def to_tuple(self, *args: Any, **kw: Any) -> Self:
        return self.compose(_stages.to_tuple(*args, **kw))

    def map_tuple(self, *args: Any, handler: Handler = reraise_exception) -> Self:
        return self.compose(_stages.map_tuple(*args, handler=handler))

    def slice(self, *args: Any) -> Self:
        return self.compose(_stages.slice(*args))

    def rename(self, **kw: Any) -> Self:
        return self.compose(_stages.rename(**kw))

    def rename_keys(self, *args: Any, **kw: Any) -> Self:
        return self.compose(_stages.rename_keys(*args, **kw))

    def extract_keys(self, *args: Any, **kw: Any) -> Self:
        return self.compose(_stages.extract_keys(*args, **kw))

    def rsample(self, p: float = 0.5) -> Self:
        return self.compose(_stages.rsample(p))

    def associate(self, associator: Any) -> Self:
        return self.compose(_stages.associate(associator))

    def xdecode(self, *args: Any, **kw: Any) -> Self:
        return self.compose(_stages.xdecode(*args, **kw))

    def mcached(self) -> Self:
        return self.compose(_stages.Cached())


def decode(*args: Any, pre: Any = None, post: Any = None, only: Any = None, partial: bool = False,
           pickles: bool = False, handler: Handler = reraise_exception) -> _stages.Stage:
    """Decodes fields by their names.

    Arguments:
        args: names of images, such as "rgb" or "pil", and functions of (".field", bytes) that give None for what
            is not theirs.
        pre, post: functions before them and behind them; None = gzfilter, and the table of extensions.
        only: fields that are decoded, as "jpg json"; None = all.
        partial: fields that are no bytes stay as they are.
        pickles: pkl, pickle, pyd and pth are decoded, too, which runs code of whoever made them.
        handler: of a field that cannot be decoded.
    """
    return _stages.map(decoder_of(args, pre=pre, post=post, only=only, partial=partial, pickles=pickles), handler)


class FluidWrapper(FluidInterface, DataPipeline):
    """A pipeline of one source, to which stages are added by methods."""

    def __init__(self, initial: Any) -> None:
        super().__init__()
        self.append(initial)


class WebLoader(FluidInterface, DataPipeline):
    """A DataLoader, of its arguments, to which stages are added by methods, as in
    WebLoader(dataset, batch_size=16, num_workers=4).unbatched().shuffle(1000).batched(64)."""

    def __init__(self, *args: Any, **kw: Any) -> None:
        from ._optional import optional

        loaders = optional("torch.utils.data", "a WebLoader", "torch")
        if args:
            kw["dataset"], args = args[0], args[1:]
        if hasattr(kw.get("dataset"), "_in_turns"):  # of an index
            kw["dataset"] = kw["dataset"]._in_turns(args[0] if args else kw.get("batch_size", 1))
        super().__init__(loaders.DataLoader(kw.pop("dataset"), *args, **kw))


def seed_of(seed: Any) -> Any:
    """Of what was told; else WDS_SEED of the environment, as a text, as webdataset uses it; else by chance."""
    if seed is None:
        return os.environ.get("WDS_SEED", random.randint(0, 1_000_000))
    return seed
