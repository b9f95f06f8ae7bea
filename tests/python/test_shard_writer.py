"""Writers of tar shards: what they write is what tarfile reads, whole or not there, also when processes
are killed."""

import io
import os
import pickle
import random
import signal
import subprocess
import sys
import tarfile
import time
import warnings

import pytest

import dataflux
from loops import run  # noqa: F401, a fixture
from service import wait_until

KILLS = 200 if os.environ.get("DATAFLUX_TEST_FULL") else 20


def sample(number, size=1000):
    return {"__key__": f"train/{number:06d}", "__url__": "left out", "seg.json": '{"ä": 1}',
            "jpg": random.Random(number).randbytes(size), "cls": str(number)}


def expected(samples):
    """The archive of samples, as tarfile writes it, without its padding to 10 KiB."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for each in samples:
            for field in sorted(name for name in each if not name.startswith("__")):
                data = each[field].encode() if isinstance(each[field], str) else bytes(each[field])
                info = tarfile.TarInfo(f"{each['__key__']}.{field}")
                info.size, info.mode, info.mtime = len(data), 0o444, 0
                archive.addfile(info, io.BytesIO(data))
        end = archive.offset
    return made.getvalue()[:end] + bytes(1024)


def as_bytes(read):
    return {name: value if isinstance(value, str) else bytes(value) for name, value in read.items()}


@pytest.mark.both_services
def test_shards_are_those_of_tarfile(client, bucket):
    samples = [sample(i) for i in range(25)]
    with client.shard_writer(bucket("t/%03d.tar"), count=10) as writer:
        for each in samples:
            assert writer.write(each) is None
        assert writer.samples == 25 and not writer.closed and writer.url == bucket("t/%03d.tar")
        made = writer.finish()
        assert writer.closed
    assert bucket.names() == [f"t/00{i}.tar{end}" for i in range(3) for end in ("", ".dfx")]
    for i in range(3):
        assert bucket.get(f"t/00{i}.tar") == expected(samples[10 * i:10 * i + 10])
    assert [(each.name, each.samples, each.ended) for each in made.shards] == [
        ("t/000.tar", 10, "count"), ("t/001.tar", 10, "count"), ("t/002.tar", 5, "finished")]
    assert made.samples == 25 and made.bytes == sum(each.bytes for each in made.shards)
    assert client.stat(made.shards[1]).crc32c == made.shards[1].crc32c
    assert client.stat(made.shards[1]).content_type == "application/x-tar"
    assert pickle.loads(pickle.dumps(made)) == made


@pytest.mark.both_services
def test_samples_are_read_back(client, bucket, tmp_path):
    samples = [sample(i, 50_000 if i % 7 == 0 else 10) for i in range(60)]
    samples += [{"__key__": "n" * 300, "bin": b""}, {"__key__": "\udce9/x", "a.b.c": memoryview(b"1")},
                {"__key__": "ä", ".odd": bytearray(b"2"), "_x": b"3"}]
    with client.shard_writer(bucket("t/%03d.tar"), bytes=200_000) as writer:
        for each in samples:
            writer.write(each)
    assert len(bucket.names()) > 6
    client.index_shards(bucket("t/"), tmp_path / "index")
    index = dataflux.ShardIndex.open(tmp_path / "index")
    read = [as_bytes(each) for each in client.get_samples(index, range(len(index)))]
    assert len(read) == len(samples)
    for each, known in zip(read, samples):
        assert each.pop("__url__").startswith(bucket("t/"))
        known = {name: value.encode() if isinstance(value, str) and name != "__key__" else value
                 for name, value in known.items() if name != "__url__"}
        assert each == known
    assert all(shard.size <= 200_000 for shard in index.shards)


@pytest.mark.both_services
def test_what_is_no_sample_is_refused_and_the_writer_goes_on(client, bucket):
    with client.shard_writer(bucket("%03d.tar"), count=10) as writer:
        writer.write({"__key__": "a", "x": b"1"})
        for bad, kind, text in [
                ({}, ValueError, "__key__"), ([], ValueError, "__key__"), ({"x": b""}, ValueError, "__key__"),
                ({"__key__": b"b", "x": b""}, TypeError, "__key__"),
                ({"__key__": "b", 5: b""}, TypeError, "name is a str"),
                ({"__key__": "b", "x": 7}, TypeError, "x: a bytes-like"),
                ({"__key__": "b", "x": [1]}, TypeError, "encoded before"),
                ({"__key__": "b"}, dataflux.InvalidArgumentError, "has no field"),
                ({"__key__": "b.c", "x": b""}, dataflux.InvalidArgumentError, "other names"),
                ({"__key__": "b", "JPG": b""}, dataflux.InvalidArgumentError, "lower case"),
                ({"__key__": "a", "y": b""}, dataflux.InvalidArgumentError, "sample before")]:
            with pytest.raises(kind, match=text):
                writer.write(bad)
        writer.write({"__key__": "b", "x": b"2"})
    assert bucket.get("000.tar") == expected([{"__key__": "a", "x": b"1"}, {"__key__": "b", "x": b"2"}])


@pytest.mark.both_services
def test_bad_arguments(client, bucket):
    for how in ({}, {"count": 0}, {"count": 1, "rank": 2, "ranks": 2}):
        with pytest.raises(dataflux.InvalidArgumentError):
            client.shard_writer(bucket("%03d.tar"), **how)
    for how in ({"count": -1}, {"count": 1, "ranks": 0}, {"bytes": 1 << 64}):
        with pytest.raises(ValueError):
            client.shard_writer(bucket("%03d.tar"), **how)
    with pytest.raises(TypeError):
        client.shard_writer(bucket("%03d.tar"), count="1")
    for name in ("x.tar", "%d.tar", "%03d-%03d"):
        with pytest.raises(dataflux.InvalidArgumentError, match="%06d"):
            client.shard_writer(bucket(name), count=1)
    assert not bucket.names()


@pytest.mark.both_services
def test_a_shard_that_is_there_stays(client, bucket):
    bucket.put("001.tar", b"other")
    with pytest.raises(dataflux.PreconditionError, match="is there already") as caught:
        with client.shard_writer(bucket("%03d.tar"), count=2) as writer:
            for i in range(6):
                writer.write(sample(i))
    assert caught.value.object == "001.tar"
    assert bucket.names() == ["000.tar", "000.tar.dfx", "001.tar"] and bucket.get("001.tar") == b"other"


@pytest.mark.both_services
def test_an_exception_discards_the_open_shard(client, bucket):
    with pytest.raises(ZeroDivisionError):
        with client.shard_writer(bucket("%03d.tar"), count=2) as writer:
            for i in range(5):
                writer.write(sample(i))
            1 / 0
    assert bucket.names() == ["000.tar", "000.tar.dfx", "001.tar", "001.tar.dfx"]
    with pytest.raises(ValueError, match="aborted"):
        writer.write(sample(7))
    writer.abort()


@pytest.mark.both_services
def test_one_that_is_let_go_of_is_discarded_with_a_warning(client, bucket):
    writer = client.shard_writer(bucket("%03d.tar"), count=2)
    writer.write(sample(1))
    with pytest.warns(ResourceWarning, match="discarded"):
        del writer
    assert not bucket.names()
    with pytest.raises(TypeError, match="pickled"):
        with client.shard_writer(bucket("%03d.tar"), count=2) as writer:
            pickle.dumps(writer)


@pytest.mark.both_services
def test_resumed_it_goes_on_behind_what_is_there(client, bucket):
    with pytest.raises(ZeroDivisionError):
        with client.shard_writer(bucket("%03d.tar"), count=4) as writer:
            for i in range(10):
                writer.write(sample(i))
            1 / 0
    with client.shard_writer(bucket("%03d.tar"), count=4, resume=True) as writer:
        assert writer.resumed == dataflux.ResumedShards(
            shards=2, samples=8, bytes=sum(len(bucket.get(f"00{i}.tar")) for i in range(2)))
        for i in range(writer.resumed.samples, 10):
            writer.write(sample(i))
        made = writer.finish()
    assert made.resumed.samples == 8 and made.samples == 2
    assert bucket.get("002.tar") == expected([sample(8), sample(9)])


@pytest.mark.both_services
def test_after_an_interrupt_it_can_only_be_aborted(client, bucket, monkeypatch):
    with pytest.raises(dataflux.PreconditionError, match="interrupted"):
        with client.shard_writer(bucket("%03d.tar"), count=2) as writer:
            writer.write(sample(1))

            async def interrupted(*what):
                raise KeyboardInterrupt

            monkeypatch.setattr(writer, "_all", interrupted)
            with pytest.raises(KeyboardInterrupt):
                writer.write(sample(2))
            monkeypatch.undo()
            with pytest.raises(dataflux.PreconditionError, match="interrupted"):
                writer.write(sample(2))
    assert writer.closed and not bucket.names()


def test_tasks_write_as_threads_do(run, emulator, bucket):  # noqa: F811
    samples = [sample(i, 300_000) for i in range(40)]

    async def main():
        async with emulator.async_client(upload_memory=32 << 20) as client:
            async with await client.shard_writer(bucket("t/%03d.tar"), bytes=4 << 20) as writer:
                for each in samples:
                    await writer.write(each)
                made = await writer.finish()
            with pytest.raises(ZeroDivisionError):
                async with await client.shard_writer(bucket("u/%03d.tar"), count=7) as writer:
                    await writer.write(samples[0])
                    1 / 0
            return made

    made = run(main)
    assert made.samples == 40 and len(made.shards) == 4
    assert b"".join(bucket.get(each.name)[:-1024] for each in made.shards) == expected(samples)[:-1024]
    assert not [name for name in bucket.names() if name.startswith("u/")]


@pytest.mark.both_services
def test_another_thread_is_refused_and_a_fork_too(client, bucket):
    with client.shard_writer(bucket("%03d.tar"), count=2) as writer:
        writer.write(sample(1))
        with writer._lock, pytest.raises(dataflux.PreconditionError, match="another thread"):
            writer.write(sample(2))
        child = os.fork()
        if child == 0:
            try:
                writer.write(sample(2))
            except dataflux.PreconditionError:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert bucket.get("000.tar") == expected([sample(1)])


@pytest.mark.both_services
def test_a_fault_of_the_service_leaves_nothing_torn(client, emulator, bucket):
    # The third insert is the entry of the second shard.
    emulator.faults({"verb": "objects.insert", "from": 3, "action": "refuse", "status": 403})
    with pytest.raises(dataflux.Error):
        with client.shard_writer(bucket("%03d.tar"), count=2) as writer:
            for i in range(8):
                writer.write(sample(i))
    emulator.faults()
    for name in bucket.names():
        if name.endswith(".tar"):
            number = int(name[:3])
            assert bucket.get(name) == expected([sample(2 * number), sample(2 * number + 1)])


CHILD = """
import random, sys
import dataflux
from service import options_of

endpoint, url, count = sys.argv[1], sys.argv[2], int(sys.argv[3])

def sample(number):
    return {"__key__": f"k{number:04d}", "bin": random.Random(number).randbytes(1 << 19), "cls": str(number)}

with dataflux.Client(**options_of(endpoint)) as client:
    with client.shard_writer(url, bytes=10 << 20, resume=True) as writer:
        for number in range(writer.resumed.samples, count):
            writer.write(sample(number))
"""
COUNT = 50  # of half a MiB each: three shards, each of several parts


def test_killed_it_leaves_whole_shards_and_resumed_the_same(emulator, bucket, tmp_path):
    (tmp_path / "child.py").write_text(CHILD)

    def begin():
        return subprocess.Popen([sys.executable, tmp_path / "child.py", emulator.endpoint,
                                 bucket("t/%03d.tar"), str(COUNT)], stderr=subprocess.PIPE)

    def objects():
        return {name: bucket.get(name) for name in bucket.names() if name.startswith("t/")}

    def remove():
        for name in objects():
            emulator.ask("DELETE", f"/storage/v1/b/{bucket.name}/o/{name.replace('/', '%2F')}")

    before = emulator.answered()
    whole = begin()
    assert (whole.communicate()[1], whole.returncode) == (b"", 0)
    requests = emulator.answered() - before
    unbroken = objects()
    assert len(unbroken) == 6
    dice, kills = random.Random(7), 0
    while kills < KILLS:
        remove()
        ended = False
        while not ended:
            until = emulator.answered() + dice.randrange(requests)
            child = begin()
            wait_until(lambda: emulator.answered() >= until or child.poll() is not None, pause=0.001)
            time.sleep(dice.uniform(0, 0.01))
            child.send_signal(signal.SIGKILL)
            said = child.communicate()[1]
            ended = child.returncode == 0
            assert ended or child.returncode == -signal.SIGKILL, said
            kills += not ended
            time.sleep(0.05)  # what it had sent is carried out all the same
            there = objects()
            shards = sorted(name for name in there if name.endswith(".tar"))
            assert shards == [f"t/{i:03d}.tar" for i in range(len(shards))]
            for name in shards:
                assert there[name] == unbroken[name], f"{name} is torn"
                assert there[name + ".dfx"] == unbroken[name + ".dfx"]
        assert objects() == unbroken


@pytest.mark.both_services
def test_no_warning_at_the_end_of_a_finished_one(client, bucket):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with client.shard_writer(bucket("%03d.tar"), count=2) as writer:
            writer.write(sample(1))
        del writer
