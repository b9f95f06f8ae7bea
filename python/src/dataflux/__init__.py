"""Feeds training jobs from Google Cloud Storage and S3, and saves their checkpoints there.

    most programs need                      when you need more
    ------------------                      ------------------
    Client(...)       connections, limits   AsyncClient; emulator() for tests
    list(url)         lists a prefix        list_batches, list_shared; save_manifest, open_manifest
    get_many(...)     reads many objects    Listing.take, RowFeed
    get_samples(...)  samples of tar shards index_shards, verify_shards, ShardIndex
    shard_writer(url) writes tar shards     ShardWriter, AsyncShardWriter
    get(url)          reads one object      read_into, get_ranges, reader, download
    open(url, "wb")   saves, loads          writer, put, upload; checkpoint_set, latest_set
    upload_folder     copies folders        remove_prefix, find_leftovers, remove_leftovers
    download_folder
    Sampler           the order of an epoch   Mixer: several sources by weights
    Cache(folder)     what was read, on a disk   Client(cache=...)
    job(board)        what processes share    Job
    simulate(...)     what an epoch would be  Forecast
    Error             what failed, and why  NotFoundError and other kinds; metrics, prometheus

The functions are those of a default client, of the service that the URL is of: dataflux.get(url) is
dataflux.client().get(url), of s3:// dataflux.client("s3").get(url), and of ais:// dataflux.client("ais").get(url).
help(dataflux.Client) has every option. dataflux.torch has datasets and checkpoints for PyTorch,
dataflux.dcp and dataflux.lightning those of torch.distributed.checkpoint and Lightning,
dataflux.fsspec a filesystem for gs:// and s3:// URLs, dataflux.webdataset the names of the package webdataset,
dataflux.ray datasets of Ray Data, dataflux.dlio the benchmark DLIO.
"""

from __future__ import annotations

__version__ = "0.1.0"

# Where each name is: it is imported when it is first used, so that importing the package costs
# next to nothing. Type checkers read __init__.pyi, which ../../stubs.py makes of what is here when the
# package is built.
_WHERE = {
    "Client": "_client", "client": "_client",
    "AsyncClient": "_aio",
    "AsyncFileReader": "_async_files", "AsyncFileWriter": "_async_files",
    "AsyncTextFileReader": "_async_files", "AsyncTextFileWriter": "_async_files",
    "AsyncGetMany": "_get_many", "AsyncListStream": "_verbs_list",
    "AsyncReader": "_reader", "AsyncWriter": "_writer",
    "AsyncManifest": "_manifest",
    "AsyncCheckpointSet": "_sets", "AsyncSetReader": "_sets",
    "AsyncMemberFile": "_set_members", "AsyncMemberReader": "_set_members",
    "AsyncMemberWriter": "_set_members",
    "Object": "_object",
    "GetMany": "_get_many", "Item": "_items",
    "Emulator": "_emulator", "emulator": "_emulator",
    "FileReader": "_file_reader", "FileWriter": "_file_writer",
    "TextFileWriter": "_text_file_writer",
    "ListStream": "_verbs_list",
    "Listing": "_listing", "Row": "_listing", "RowFeed": "_listing", "Rows": "_listing",
    "Cache": "_cache", "Mixer": "_mixer", "Sampler": "_sampler",
    "Forecast": "_simulate", "simulate": "_simulate",
    "Job": "_job", "job": "_job",
    "ShardIndex": "_shards", "ShardJoin": "_shard_join", "GetSamples": "_shards", "AsyncGetSamples": "_shards",
    "ShardWriter": "_shard_writer", "AsyncShardWriter": "_shard_writer", "ResumedShards": "_reports",
    "WrittenShard": "_reports", "WrittenShards": "_reports",
    "IndexedSample": "_reports", "IndexedShard": "_reports", "IndexedShards": "_reports",
    "VerifiedShards": "_reports", "WrongShard": "_reports",
    "Changes": "_manifest", "Manifest": "_manifest", "compare": "_manifest",
    "Reader": "_reader",
    "Writer": "_writer",
    "CheckpointSet": "_sets", "SetReader": "_sets",
    "CommittedSet": "_set_reports", "Member": "_set_reports", "RemovedSets": "_set_reports",
    "SetInfo": "_set_reports", "Sets": "_set_reports",
    "MemberFile": "_set_members", "MemberReader": "_set_members", "MemberWriter": "_set_members",
    "Bucket": "_buckets",
    "CopiedFolder": "_reports", "DownloadedFile": "_reports", "Leftover": "_reports",
    "Leftovers": "_reports", "RemovedObjects": "_reports", "RestoredObjects": "_reports",
    "UploadedFile": "_reports",
    "Error": "_errors",
    "NotFoundError": "_errors",
    "AlreadyExistsError": "_errors",
    "PermissionDeniedError": "_errors",
    "DeadlineError": "_errors",
    "InvalidArgumentError": "_errors",
    "PreconditionError": "_errors",
    "DataLossError": "_errors",
    "ResourceExhaustedError": "_errors",
    "UnauthenticatedError": "_errors",
    "UnavailableError": "_errors",
    "CancelledError": "_errors",
}
# Methods of the default client.
_VERBS = (
    "stat", "exists", "put", "delete", "copy", "move", "compose", "patch",
    "get", "read_into", "get_ranges", "get_many",
    "open", "reader", "writer",
    "list", "list_batches", "list_shared", "open_manifest", "save_manifest",
    "index_shards", "verify_shards", "save_shard_index", "open_shard_index", "get_samples",
    "shard_writer",
    "checkpoint_set", "latest_set", "list_sets", "keep_last_sets", "remove_sets",
    "upload", "download", "upload_folder", "download_folder", "copy_tree", "sync", "remove_prefix",
    "find_leftovers", "remove_leftovers",
    "bucket", "buckets", "permissions", "bulk_restore",
    "sign_url", "sign_form",
    "metrics", "prometheus",
)

# What help() shows. A star import is to leave list() and open() of the builtins alone.
__all__ = [*_WHERE, *(verb for verb in _VERBS if verb not in ("list", "open"))]


def __getattr__(name: str) -> object:
    if name in _WHERE:
        from importlib import import_module

        value = getattr(import_module("." + _WHERE[name], __name__), name)
        globals()[name] = value
        return value
    if name in _VERBS:
        from ._client import chosen

        globals()[name] = value = chosen(name)
        return value
    raise AttributeError(f"module 'dataflux' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_WHERE, *_VERBS, "__version__"])
