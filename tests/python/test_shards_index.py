"""Indexes of tar shards: gone on with, made together, of parts, verified, and kept as objects."""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import dataflux
from loops import run  # noqa: F401, a fixture
from test_shards import COUNT, SAMPLES, SHARDS, as_bytes, filled, index, members_of, opened, shard  # noqa: F401

# One process: its client, and then what is called, as Python.
PROGRAM = """
import sys, dataflux
from service import options_of
endpoint, call = sys.argv[1:]
with dataflux.Client(**options_of(endpoint)) as client:
    print("begun", flush=True)
    done = eval(call)
    print(done.shards, done.samples, done.taken_over)
"""
ROUNDS = 200 if os.environ.get("DATAFLUX_TEST_FULL") else 25


def process(bucket, call):
    return subprocess.Popen([sys.executable, "-c", PROGRAM, bucket.service.endpoint, call],
                            stdout=subprocess.PIPE, text=True)


def journals(folder):
    return sorted(path for path in folder.iterdir() if path.name.startswith(".dataflux-index-"))


@pytest.fixture
def many(bucket):
    """A bucket of 60 shards, of which reads are slow."""
    for number in range(60):
        bucket.put(f"s/{number:02}.tar", shard(members_of(number % SHARDS)))
    return bucket


def test_what_was_killed_is_gone_on_with(client, many, tmp_path, emulator):
    whole = client.index_shards(many("s/"), tmp_path / "whole")
    assert (whole.shards, whole.taken_over) == (60, 0)
    digest = dataflux.ShardIndex.open(tmp_path / "whole").digest
    emulator.faults({"verb": "objects.media", "action": "delay", "ms": 5, "count": 0})
    chance, resumed = random.Random(7), 0
    call = f"client.index_shards({many('s/')!r}, {str(tmp_path / 'index')!r}, parallelism=2)"
    for _ in range(ROUNDS):
        for _ in range(2):
            child = process(many, call)
            assert child.stdout.readline() == "begun\n"
            time.sleep(chance.random() * 0.3)
            child.send_signal(signal.SIGKILL)
            child.communicate()
        done = client.index_shards(many("s/"), tmp_path / "index", parallelism=2)
        resumed += done.taken_over
        assert (done.shards, done.samples) == (60, whole.samples)
        assert dataflux.ShardIndex.open(tmp_path / "index").digest == digest
        assert not journals(tmp_path)
        if chance.random() < 0.7:
            (tmp_path / "index").unlink()
    assert resumed > ROUNDS


@pytest.mark.and_ais
def test_a_failure_is_gone_on_with(client, filled, tmp_path):
    filled.put("s/1.tar", b"no archive")
    with pytest.raises(dataflux.DataLossError, match=r"s/1\.tar"):
        client.index_shards(filled("s/"), tmp_path / "index", parallelism=1)
    assert len(journals(tmp_path)) == 1
    filled.put("s/1.tar", shard(members_of(1)))
    done = client.index_shards(filled("s/"), tmp_path / "index")
    assert (done.taken_over, done.samples) == (1, COUNT) and not journals(tmp_path)


def test_processes_make_one_index(client, filled, tmp_path):
    client.index_shards(filled("s/"), tmp_path / "alone")
    board = f"gs://{filled.name}/jobs/7/"
    calls = [f"client.index_shards({filled('s/')!r}, {path!r}, board={board!r})"
             for path in (str(tmp_path / "one"), None, str(tmp_path / "two"))]
    for child in [process(filled, call) for call in calls]:
        said, _ = child.communicate(timeout=60)
        assert child.returncode == 0 and said.split()[:3] == ["begun", str(SHARDS), str(COUNT)]
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    alone = dataflux.ShardIndex.open(tmp_path / "alone")
    assert dataflux.ShardIndex.open(tmp_path / "one") == alone
    with pytest.raises(dataflux.InvalidArgumentError, match="keep_case"):
        client.index_shards(filled("s/"), None, board=board, keep_case=True)
    with pytest.raises(ValueError, match="whole bucket"):
        client.index_shards(filled("s/"), None, board=f"gs://{filled.name}")
    with pytest.raises(TypeError, match="path"):
        client.index_shards(filled("s/"), None)


@pytest.mark.and_ais
def test_an_index_without_its_shard_is_passed_over(client, filled, index, tmp_path):
    filled.put("s/1.tar", shard(members_of(3)))
    filled.put("s/1.5.tar.dfx", b"of a killed writer")
    for what in (filled("s/"), client.list(filled("s/1"))):
        done = client.index_shards(what, tmp_path / "again")
        assert (done.orphans, done.shards) == (1, len(dataflux.ShardIndex.open(tmp_path / "again").shards))


@pytest.mark.and_ais
def test_a_sample_with_a_flipped_bit_is_read_once_more(client, emulator, index):
    flip = {"verb": "objects.media", "action": "flip_byte", "offset": 5}
    emulator.faults({**flip, "count": 1})
    assert len(list(client.get_samples(index, range(4)))) == 4
    emulator.faults({**flip, "count": 0})
    with pytest.raises(dataflux.DataLossError, match="read twice; `dataflux shards verify`"):
        list(client.get_samples(index, [0]))


@pytest.mark.and_ais
def test_shards_that_were_added(client, filled, index, tmp_path):
    filled.put("s/9.tar", shard(members_of(3)))
    done = client.index_shards(filled("s/"), tmp_path / "index", parts=[index])
    assert (done.shards, done.taken_over, done.samples) == (SHARDS + 1, SHARDS, COUNT + SAMPLES)
    with pytest.raises(TypeError, match="parts"):
        client.index_shards(filled("s/"), tmp_path / "index", parts=["index"])
    with pytest.raises(TypeError, match="parts: a list of ShardIndex"):
        client.index_shards(filled("s/"), tmp_path / "index", parts=index)
    with pytest.raises(dataflux.InvalidArgumentError, match="grouping"):
        client.index_shards(filled("s/"), tmp_path / "index", parts=[index], keep_case=True)


@pytest.mark.and_ais
def test_what_is_as_it_was_indexed(client, filled, index):
    told = []
    found = client.verify_shards(index, progress=lambda **counts: told.append(counts))
    assert (found.shards, found.samples, found.filled, found.wrong) == (SHARDS, COUNT, 0, ())
    assert told[-1]["done"] == told[-1]["total"] == SHARDS and told[-1]["unit"] == "objects"


@pytest.mark.and_ais
def test_checksums_are_filled_in(client, bucket, tmp_path):
    bucket.put("s/0.tar", shard([("a.bin", os.urandom(3 << 20)), ("a.txt", b"x")]))
    client.index_shards(bucket("s/"), tmp_path / "index", skip_from=1 << 20)
    index = dataflux.ShardIndex.open(tmp_path / "index")
    assert index.sample(0).crc32c is None and not index.shards[0].checksummed
    assert client.verify_shards(index, index.path).filled == 1
    assert dataflux.ShardIndex.open(tmp_path / "index").sample(0).crc32c is not None


@pytest.mark.and_ais
def test_all_that_is_wrong_is_told(client, filled, index, tmp_path):
    filled.put("s/1.tar", shard(members_of(2)))
    client.delete(filled("s/3.tar"))
    found = client.verify_shards(index, tmp_path / "new", on_error="return")
    assert [(each.shard, each.name, each.fault) for each in found.wrong] == [
        (1, "s/1.tar", "changed"), (3, "s/3.tar", "deleted")]
    assert (found.wrong_count, found.samples) == (2, COUNT - 2 * SAMPLES)
    assert isinstance(found.wrong[1].error, dataflux.NotFoundError)
    assert not (tmp_path / "new").exists()
    with pytest.raises(dataflux.PreconditionError, match="2 of 4 shards") as caught:
        client.verify_shards(index)
    assert caught.value.report.wrong_count == 2 and caught.value.object == "s/1.tar"


def test_an_index_is_kept_as_an_object(client, filled, index, tmp_path):
    made = client.save_shard_index(index, filled("index.dfx"))
    assert made.object.size == index.summary["bytes"]
    again = client.open_shard_index(filled("index.dfx"), tmp_path / "copy")
    assert again == index and again.path == str(tmp_path / "copy")
    with pytest.raises(dataflux.NotFoundError):
        client.open_shard_index(filled("none.dfx"), tmp_path / "none")
    with pytest.raises(dataflux.InvalidArgumentError):
        client.open_shard_index(filled("s/0.tar"), tmp_path / "none")
    with pytest.raises(TypeError, match="ShardIndex"):
        client.save_shard_index(index.path, filled("index.dfx"))


def test_an_index_of_aistore_is_a_file_here(tmp_path):
    with dataflux.emulator("bkt", service="ais") as service, service.client() as client:
        client.put("ais://bkt/s/0.tar", shard(members_of(0)))
        client.index_shards("ais://bkt/s/", tmp_path / "index")
        index = dataflux.ShardIndex.open(tmp_path / "index")
        with pytest.raises(dataflux.Error, match="gs:// or s3://"):
            client.save_shard_index(index, "ais://bkt/index.dfx")
        with pytest.raises(dataflux.Error, match="gs:// or s3://"):
            client.index_shards("ais://bkt/s/", None, board="ais://bkt/board/")
        assert [row.name for row in client.list("ais://bkt/")] == ["s/0.tar"]
        client.put("ais://bkt/index.dfx", (tmp_path / "index").read_bytes())
        assert client.open_shard_index("ais://bkt/index.dfx", tmp_path / "copy") == index


def test_tasks_verify_and_keep_an_index(run, opened, filled, tmp_path):
    async def main():
        async with opened() as client:
            await client.index_shards(filled("s/"), tmp_path / "index")
            index = dataflux.ShardIndex.open(tmp_path / "index")
            assert (await client.verify_shards(index)).samples == COUNT
            await client.save_shard_index(index, filled("index.dfx"))
            assert await client.open_shard_index(filled("index.dfx"), tmp_path / "copy") == index

    run(main)


@pytest.mark.and_ais
def test_a_storm_of_refusals(client, filled, tmp_path, emulator):
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 429, "count": 3})
    assert client.index_shards(filled("s/"), tmp_path / "index").samples == COUNT
    index = dataflux.ShardIndex.open(tmp_path / "index")
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 429, "count": 3})
    assert client.verify_shards(index).wrong_count == 0


@pytest.mark.and_ais
def test_two_calls_for_one_path(client, many, tmp_path, emulator):
    emulator.faults({"verb": "objects.media", "action": "delay", "ms": 30, "count": 0})
    outcomes = []

    def make():
        try:
            outcomes.append(client.index_shards(many("s/"), tmp_path / "index", parallelism=2))
        except dataflux.PreconditionError as why:
            outcomes.append(why)

    threads = [threading.Thread(target=make) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(type(each).__name__ for each in outcomes) == ["IndexedShards", "PreconditionError"]
