"""WebDataset: shards, read one behind the other, or by an index in any order."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, Iterable, Iterator

from . import _stages
from ._cache import Cache
from ._handlers import Handler, reraise_exception
from ._pipeline import DataPipeline, FluidInterface, seed_of
from ._read import ReadShards
from ._shards import ResampledShards, Selected, SimpleShardList, single_node_only, split_by_worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

    from .._client import Client
    from .._shards import ShardIndex


def _some(samples: Iterable[Any]) -> Iterator[Any]:
    """What comes, which must not be nothing."""
    some = False
    for sample in samples:
        some = True
        yield sample
    if not some:
        raise ValueError("no sample was found; perhaps there are fewer shards than ranks and workers. Give the dataset "
                         "empty_check=False where some may have none")


class WebDataset(FluidInterface, DataPipeline):
    """Samples of tar shards, as the package webdataset gives them: dicts of "__key__", "__url__", and of each
    field its bytes; of files here "__local_path__", too.

        import dataflux.webdataset as wds

        dataset = wds.WebDataset("gs://bucket/train-{000..127}.tar", shardshuffle=100).shuffle(1000).decode("rgb")
        for image, label in dataset.to_tuple("jpg;png", "cls"):
            ...

    With an index (`index=`) samples come in a true order of an epoch, shared by ranks and workers, and go on
    exactly where a job was: see Indexed.

    Arguments:
        urls: shards: a text with braces, "::" and ${X}, or a list. gs://, paths, file:, http:, https:, pipe:, "-".
        handler: of a shard that cannot be read: it gets the exception, see reraise_exception and others.
        mode: "resampled" is resampled=True.
        resampled: shards are drawn with replacement, without an end.
        repeat: passes have no end, as of repeat().
        shardshuffle: how many shards are shuffled at a time; False or 0 = none.
        cache_size, cache_dir: a folder that keeps shards, and most bytes of it; also WDS_CACHE and WDS_CACHE_SIZE of
            the environment.
        url_to_name: names of the copies in it; by default by a digest of the whole URL.
        detshuffle: shards come in another order in each pass, by seed + pass.
        nodesplitter: what ranks read: by default there is one; split_by_node parts shards; None: all read all.
        workersplitter: what workers of a DataLoader read.
        select_files, rename_files: which members, and by which names.
        empty_check: a pass without a sample is a ValueError.
        verbose: webdataset's, and of no use.
        seed: of shardshuffle; else WDS_SEED of the environment, else by chance.
        shard_selection: a function of the list of URLs that gives those of this worker, in place of workersplitter.
        index: a ShardIndex, or its path; `urls` may then be left out.
        client: that reads gs://; None = the module's.
        concatenated, trailing, damaged, keep_case, strip_dot_slash, repeated: as of Client.index_shards().
    """

    def __new__(cls, *args: Any, index: Any = None, **kw: Any) -> Self:
        if index is not None and cls is WebDataset:
            from ._indexed import Indexed

            return super().__new__(Indexed)  # type: ignore[return-value]
        return super().__new__(cls)

    def __init__(self, urls: Any = None, handler: Handler = reraise_exception, mode: str | None = None,
                 resampled: bool = False, repeat: bool = False, shardshuffle: Any = None, cache_size: int = -1,
                 cache_dir: str | None = None, url_to_name: Callable[[str], str] | None = None,
                 detshuffle: bool = False, nodesplitter: Any = single_node_only,
                 workersplitter: Any = split_by_worker, select_files: Callable[[str], Any] | None = None,
                 rename_files: Callable[[str], str] | None = None, empty_check: bool = True,
                 verbose: bool = False, seed: Any = None, *,
                 shard_selection: Callable[[Any], Iterable[str]] | None = None,
                 index: ShardIndex | str | None = None, client: Client | None = None, **rules: Any) -> None:
        super().__init__()
        if index is not None:
            raise TypeError(f"index: a {type(self).__name__} has none: give it to WebDataset itself")
        if urls is None:
            raise TypeError("urls: name the shards, or give an index")
        resampled = resampled or mode == "resampled"
        self.seed = seed_of(seed)
        shardshuffle = _shuffled(shardshuffle, resampled)
        self.append(ResampledShards(urls) if resampled else SimpleShardList(urls))
        if shard_selection is not None:
            workersplitter = Selected(shard_selection)
        self.pipeline += [each for each in (nodesplitter, workersplitter) if each]
        if shardshuffle:
            self.append(_stages.detshuffle(shardshuffle, seed=int(self.seed)) if detshuffle else
                        _stages.shuffle(shardshuffle, seed=self.seed))
        self.append(ReadShards(handler, select_files, rename_files, rules, client,
                               _cache_of(cache_dir, cache_size, url_to_name, client), local_paths=True))
        if empty_check:
            self.append(_some)
        if repeat:
            self.repeat()

    @property
    def left_out(self) -> Dict[str, int]:
        """How many members of the shards that were read to their ends are in no sample, by reason, such as
        "hard_links", "no_field" and "hidden": see ShardCounts. Of this process, in all passes."""
        return next((dict(stage.left_out) for stage in self.pipeline if isinstance(stage, ReadShards)), {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _shuffled(shardshuffle, resampled):
    """How many shards; with webdataset's warnings."""
    if resampled:
        if shardshuffle not in (False, None):
            warnings.warn("shardshuffle: it is of no use with resampled=True, which draws shards by chance", stacklevel=3)
            return 0
    elif shardshuffle is None:
        warnings.warn("shardshuffle: shards are not shuffled: say so by shardshuffle=False, or how many are",
                      stacklevel=3)
    if shardshuffle is True:
        warnings.warn("shardshuffle: True is 100: give a number, or False", stacklevel=3)
        return 100
    return shardshuffle or 0


def _cache_of(folder, size, url_to_name, client):
    folder = os.environ.get("WDS_CACHE", folder)
    size = int(os.environ.get("WDS_CACHE_SIZE", size))
    return None if folder is None or size == 0 else Cache(folder, size, url_to_name, client)


class Dataset(WebDataset):
    """WebDataset by its old name, with its old arguments: shards are not shuffled unless told.

    Arguments:
        urls, handler, shard_selection, and others: as of WebDataset.
        shuffle: how many shards are shuffled; True = 100.
        length: what len() gives.
        epochs: how often a pass goes through the shards.
    """

    def __init__(self, urls: Any = None, *, length: int | None = None, epochs: int = 1, shuffle: Any = False,
                 handler: Handler = reraise_exception, **kw: Any) -> None:
        kw.setdefault("shardshuffle", 100 if shuffle is True else shuffle)
        super().__init__(urls, handler, **kw)
        if length is not None:
            self.with_length(length, silent=True)
        if epochs != 1:
            self.repeat(epochs)
