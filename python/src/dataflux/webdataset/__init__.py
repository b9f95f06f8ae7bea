"""The names that programs use of the package webdataset, on dataflux: tar shards as samples, pipelines of
stages, and writers of shards. `import dataflux.webdataset as wds` in place of `import webdataset as wds` is
all that most programs change.

    import dataflux.webdataset as wds

    dataset = wds.WebDataset("gs://bucket/train-{000..127}.tar", shardshuffle=100, nodesplitter=wds.split_by_node)
    for image, label in dataset.shuffle(1000).decode("rgb").to_tuple("jpg;png", "cls"):
        ...

Nothing of webdataset is needed, and nothing is imported before it is used: torch, numpy and Pillow are for those who have
fields of theirs. docs/webdataset.md has what differs. register() is for the package webdataset itself: it makes it
read gs:// by dataflux.
"""

from __future__ import annotations

from typing import Any

from . import tenbin
from ._batches import batched, default_collation_fn, unbatched, unlisted
from ._decode import (
    Continue,
    Decoder,
    DecodingError,
    ImageHandler,
    gzfilter,
    handle_extension,
    imagehandler,
    pytorch_weights_only,
    torch_audio,
    torch_loads,
    torch_video,
)
from ._encode import imageencoder, numpy_dumps, torch_dumps
from ._handlers import ignore_and_continue, ignore_and_stop, reraise_exception, warn_and_continue, warn_and_stop
from ._mix import MockDataset, RandomMix, RoundRobin
from ._open import PipeError, gopen, gopen_schemes, register
from ._pipeline import DataPipeline, FluidInterface, FluidWrapper, WebLoader, decode
from ._read import tarfile_samples, tarfile_to_samples
from ._shards import (
    ResampledShards,
    SimpleShardList,
    non_empty,
    shardspec,
    single_node_only,
    split_by_node,
    split_by_worker,
)
from ._stages import (
    Cached,
    PipelineStage,
    associate,
    detshuffle,
    extract_keys,
    getfirst,
    info,
    log_keys,
    map,
    map_dict,
    map_tuple,
    pipelinefilter,
    rename,
    rename_keys,
    resampled,
    rsample,
    select,
    shuffle,
    slice,
    to_tuple,
    transform_with,
    xdecode,
)
from ._urls import expand_urls
from ._webdataset import Dataset, WebDataset
from ._writers import ShardWriter, TarWriter

__all__ = [
    "Cached", "Continue", "DataPipeline", "Dataset", "Decoder", "DecodingError", "FluidInterface", "FluidWrapper",
    "ImageHandler", "MockDataset", "PipeError", "PipelineStage", "RandomMix", "ResampledShards", "RoundRobin",
    "ShardWriter", "SimpleShardList", "TarWriter", "WebDataset", "WebLoader", "associate", "batched", "decode",
    "default_collation_fn", "detshuffle", "expand_urls", "extract_keys", "getfirst", "gopen", "gopen_schemes",
    "gzfilter", "handle_extension", "ignore_and_continue", "ignore_and_stop", "imageencoder", "imagehandler", "info",
    "log_keys", "map", "map_dict", "map_tuple", "non_empty", "numpy_dumps", "pipelinefilter",
    "pytorch_weights_only", "register", "rename", "rename_keys", "reraise_exception", "resampled", "rsample",
    "select", "shardspec", "shuffle", "single_node_only", "slice", "split_by_node", "split_by_worker",
    "tarfile_samples", "tarfile_to_samples", "tenbin", "to_tuple", "torch_audio", "torch_dumps", "torch_loads",
    "torch_video", "transform_with", "unbatched", "unlisted", "warn_and_continue", "warn_and_stop", "xdecode",
]

# Names of webdataset, of this version or of older ones, and what does their work.
_GONE = {
    "LMDBCached": "cache_dir= keeps shards, and Cached keeps samples in memory",
    "LRUCleanup": "cache_size= bounds the folder of cache_dir=",
    "MultiDataset": "RandomMix mixes datasets, and WebLoader reads by several workers",
    "MultiShardSample": "RandomMix mixes datasets",
    "ddp_equalize": "index= shares samples evenly, and with_epoch() bounds a pass",
    "pipe_cleaner": "names in cache_dir= are of the whole URL",
    "repeatedly": "DataPipeline.repeat() and with_epoch() do it",
    "with_epoch": "it is a method of pipelines",
    "with_length": "it is a method of pipelines",
}


def __getattr__(name: str) -> Any:
    if name in _GONE:
        raise AttributeError(f"dataflux.webdataset has no {name}: {_GONE[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
