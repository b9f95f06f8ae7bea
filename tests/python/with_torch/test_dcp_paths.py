"""Where a distributed checkpoint may be, and what is refused."""

from pathlib import Path

import pytest
import torch
import torch.distributed.checkpoint as dcp

from dataflux.dcp import StorageReader, StorageWriter
from dcp_ranks import load_here, save_here

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


@pytest.mark.parametrize("shape", [
    lambda name: f"gs://{name}/a/b", lambda name: f"gcs://{name}/a/b", lambda name: f"gs://{name}/a/b/",
    lambda name: Path(f"gs://{name}/a/b"), lambda name: Path(f"gcs://{name}/a/b/")])
def test_forms_of_one_place(client, bucket, shape):
    save_here(client, shape(bucket.name), 1)
    assert load_here(client, bucket("a/b")) == 1
    assert {name.split("/.")[0] for name in bucket.names()} == {"a/b"}


def test_two_slashes_stay_two(client, bucket):
    save_here(client, bucket("a//b"), 1)
    assert all(name.startswith("a//b/") for name in bucket.names())
    assert load_here(client, bucket("a//b")) == 1


@pytest.mark.parametrize("path, why", [
    ("gs://", "names no bucket"), ("gs:///a", "names no bucket"), ("gs://b", "names no folder"),
    ("gs://b/", "names no folder"), ("/tmp/x", "FileSystemWriter"), (Path("/tmp/x"), "FileSystemWriter"),
    ("az://b/x", "FileSystemWriter"), ("", "FileSystemWriter"), ("gs://b/\0", "NUL")])
@pytest.mark.parametrize("kind", [StorageWriter, StorageReader])
def test_no_place_for_a_checkpoint(kind, path, why):
    with pytest.raises(ValueError, match=f"path: .*{why}"):
        kind(path)
    assert not kind.validate_checkpoint_id(path)
    assert kind.validate_checkpoint_id("gs://b/x") and kind.validate_checkpoint_id(Path("gs://b/x"))


@pytest.mark.parametrize("options, argument", [
    ({"path": 3}, "path"), ({"path": b"gs://b/x"}, "path"), ({"thread_count": 0}, "thread_count"),
    ({"thread_count": 1.5}, "thread_count"), ({"single_file_per_rank": "no"}, "single_file_per_rank"),
    ({"overwrite": 2}, "overwrite"), ({"extensions": ["zstd"]}, "extensions")])
def test_bad_arguments_are_named(options, argument):
    with pytest.raises((TypeError, ValueError), match=f"^{argument}: "):
        StorageWriter(**{"path": "gs://b/x", **options})


def test_a_tensor_of_another_size_is_an_error(client, bucket):
    for rows in (10, 2_000_000):
        dcp.save({"a": torch.ones(rows)}, storage_writer=StorageWriter(bucket("r"), client=client),
                 no_dist=True)
        with pytest.raises(dcp.api.CheckpointException, match="a"):
            dcp.load({"a": torch.ones(rows + 1)}, no_dist=True,
                     storage_reader=StorageReader(bucket("r"), client=client))
