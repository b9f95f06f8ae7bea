"""Others' indexes of tar shards."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import dataflux

VECTORS = Path(__file__).parent.parent / "vectors" / "index"
NAMES = ("s0.tar", "s1.tar", "s2.tar")


@pytest.fixture
def energon(bucket):
    for name in NAMES:
        bucket.put("e/" + name, (VECTORS / "energon" / name).read_bytes())
    return bucket


def samples(client, path):
    index = dataflux.ShardIndex.open(path)
    return [{name: value if isinstance(value, str) else bytes(value) for name, value in sample.items()}
            for sample in client.get_samples(index, range(len(index)))]


def test_what_others_know_is_not_read(client, energon, tmp_path):
    whole = client.index_shards(energon("e/"), tmp_path / "whole")
    assert (whole.samples, whole.taken_over) == (15, 0)
    expected = samples(client, tmp_path / "whole")
    shutil.copy(VECTORS / "dali" / "s0.idx", tmp_path / "s1.tar.idx2")
    for files, count in (([VECTORS / "energon" / ".nv-meta" / "index.sqlite"], 3),
                         ([VECTORS / "webshart" / "s0.json"], 1),
                         ([VECTORS / "aistore" / "s0.tar.aisidx", VECTORS / "wids" / "shardindex.json"], 1),
                         ([VECTORS / "wids" / "shardindex.json"], 0)):
        made = client.index_shards(energon("e/"), tmp_path / "made", foreign=files)
        assert (made.samples, made.taken_over, made.checksummed) == (15, count, 3 - count)
        assert samples(client, tmp_path / "made") == expected
    index = dataflux.ShardIndex.open(tmp_path / "made")
    assert client.verify_shards(index, index.path).filled == 0
    client.index_shards(energon("e/"), tmp_path / "made", foreign=[VECTORS / "webshart" / "s0.json"])
    index = dataflux.ShardIndex.open(tmp_path / "made")
    assert client.verify_shards(index, index.path).filled == 1
    assert dataflux.ShardIndex.open(index.path) == dataflux.ShardIndex.open(tmp_path / "whole")


def test_a_stale_index_gives_no_wrong_sample(client, energon, tmp_path):
    energon.put("e/s0.tar", (VECTORS / "energon" / "s1.tar").read_bytes())  # of the same layout
    client.index_shards(energon("e/"), tmp_path / "made", foreign=[VECTORS / "webshart" / "s0.json"])
    with pytest.raises(dataflux.DataLossError, match="sample 0"):
        samples(client, tmp_path / "made")
    index = dataflux.ShardIndex.open(tmp_path / "made")
    assert [each.fault for each in client.verify_shards(index, on_error="return").wrong] == ["samples"]


@pytest.mark.parametrize("change", ["p.content_byte_offset = 1.5", "p.content_byte_size = -1", "s.tar_file_id = -1",
                                    "s.tar_file_id = 3", "s.sample_key = x'00' WHERE rowid = 1"])
def test_rows_of_a_database_that_cannot_be(client, energon, tmp_path, change):
    shutil.copytree(VECTORS / "energon" / ".nv-meta", tmp_path / "meta")
    table, _, value = change.partition(".")
    with closing(sqlite3.connect(tmp_path / "meta" / "index.sqlite")) as database, database:
        database.execute(f"UPDATE {dict(p='sample_parts', s='samples')[table]} SET {value}")
        if "tar_file_id" in value:
            database.execute(f"UPDATE sample_parts SET {value}")
    with pytest.raises(dataflux.InvalidArgumentError, match=r"index.sqlite, sample part \d+: .* no part of a sample"):
        client.index_shards(energon("e/"), tmp_path / "index", foreign=[tmp_path / "meta" / "index.sqlite"])
    assert not (tmp_path / "index").exists()


def test_what_is_written_for_energon(client, energon, tmp_path):
    client.index_shards(energon("e/"), tmp_path / "index")
    index = dataflux.ShardIndex.open(tmp_path / "index")
    for number, name in enumerate(NAMES):
        assert index.energon_index(number) == (VECTORS / "energon" / (name + ".idx")).read_bytes()
    with pytest.raises(IndexError):
        index.energon_index(3)


def test_files_that_are_no_index(client, energon, tmp_path):
    def refused(kind, match, *files):
        with pytest.raises(kind, match=match):
            client.index_shards(energon("e/"), tmp_path / "index", foreign=files)
        assert not (tmp_path / "index").exists()

    (tmp_path / "x.sqlite").write_bytes(b"no database, but long enough for it" * 40)
    refused(dataflux.InvalidArgumentError, "shard_counts|info.json", tmp_path / "x.sqlite")
    shutil.copy(VECTORS / "energon" / ".nv-meta" / ".info.json", tmp_path / ".info.json")
    refused(dataflux.InvalidArgumentError, "no index of Energon", tmp_path / "x.sqlite")
    refused(FileNotFoundError, "none", tmp_path / "none.sqlite")
    refused(dataflux.InvalidArgumentError, "sqlite", VECTORS / "energon" / "s0.tar.idx")
    refused(dataflux.InvalidArgumentError, "no index of", VECTORS / "energon" / "s0.tar")
    refused(dataflux.NotFoundError, "none", tmp_path / "none")
    refused(dataflux.NotFoundError, "no shard of the listing", VECTORS / "webshart" / "dirs.json")
    with pytest.raises(TypeError, match="list"):
        client.index_shards(energon("e/"), tmp_path / "index", foreign="one")
