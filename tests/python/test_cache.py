"""A disk that keeps what was read: who answers what, and what becomes of damage and of killed processes."""

import io
import os
import pickle
import random
import signal
import subprocess
import sys
import tarfile
import time

import pytest

import dataflux

TIMES = 60 if os.environ.get("DATAFLUX_TEST_FULL") else 6

# A process that reads all objects again and again, compares them, and adds some that are its own.
READER = """
import hashlib, random, sys
import dataflux
from service import options_of
client = dataflux.Client(cache=dataflux.Cache(sys.argv[3]), **options_of(sys.argv[1]))
listing = client.list(sys.argv[2] + "/")
dice = random.Random(int(sys.argv[4]))
print("begun", flush=True)
while True:
    rows = list(listing)
    dice.shuffle(rows)
    for item in client.get_many(rows).items():
        name = rows[item.index].name
        assert hashlib.sha256(item.data).hexdigest() == name.rsplit("/")[-1], name
"""


@pytest.fixture
def cache(tmp_path):
    return dataflux.Cache(tmp_path / "cache", bytes=64 << 20)


@pytest.fixture
def cached(emulator, cache):
    with emulator.client(cache=cache) as made:
        yield made


def segments(folder):
    [own] = os.listdir(folder)
    own = os.path.join(folder, own)
    return [os.path.join(own, name) for name in sorted(os.listdir(own)) if name != "1-index"]


def requests(client):
    totals = client.metrics()["totals"]
    return totals["requests_a"] + totals["requests_b"]


def asked(client, work):
    """What the work gives, and how many requests it sent."""
    before = requests(client)
    return work(), requests(client) - before


@pytest.mark.both_services
def test_a_second_epoch_asks_for_nothing(cached, cache, bucket):
    content = {f"train/{n}": os.urandom(n * 1000) for n in range(1, 40)}
    for name, data in content.items():
        bucket.put(name, data)
    listing = cached.list(bucket("train/"))

    def epoch():
        return {listing[item.index].name: bytes(item.data) for item in cached.get_many(listing).items()}

    first, sent = asked(cached, epoch)
    assert first == content and sent == len(content)
    cache.flush()
    second, sent = asked(cached, epoch)
    assert second == content and sent == 0
    counters = cache.counters()
    assert (counters["hits"], counters["misses"], counters["kept"]) == (39, 39, 39)
    assert counters["hit_bytes"] == sum(map(len, content.values()))


def test_large_objects_and_ranges_come_from_it(emulator, cache, bucket):
    data = os.urandom(5 << 20)
    bucket.put("large", data)
    with emulator.client(cache=cache, slice=1 << 20) as client:
        [row] = client.list(bucket("large"))

        def read():
            into = bytearray(len(data))
            client.read_into(row, into)
            assert into == data
            assert client.get(row) == data
            assert client.get(row, offset=1000, length=3000) == data[1000:4000]
            assert client.get_ranges(row, [(5, 10), (4 << 20, 1000)]) == [data[5:15], data[4 << 20:(4 << 20) + 1000]]

        read()
        cache.flush()
        assert asked(client, read) == (None, 1)  # the metadata, for get_ranges()


def test_an_object_that_is_replaced_is_read(cached, cache, bucket):
    for data in b"old", b"newer":
        bucket.put("a", data)
        [row] = cached.list(bucket("a"))
        for _ in range(2):
            assert cached.get(row) == data
            cache.flush()
    assert cache.counters()["hits"] == 2


def test_what_open_reads_comes_from_it(cached, cache, bucket):
    bucket.put("a", b"bytes" * 100)

    def read():
        with cached.open(bucket("a"), "rb") as file:
            return file.read()

    assert read() == b"bytes" * 100
    cache.flush()
    again, sent = asked(cached, read)
    assert again == b"bytes" * 100 and sent == 1  # the object's metadata
    assert cache.counters()["hits"] == 1


def test_files_of_fsspec_come_from_it(emulator, cache, bucket):
    pytest.importorskip("fsspec")
    from dataflux.fsspec import DatafluxFileSystem

    bucket.put("a", b"bytes" * 100)
    fs = DatafluxFileSystem(**emulator.options, cache=cache, skip_instance_cache=True)
    for _ in range(2):
        with fs.open(bucket("a"), "rb") as file:
            assert file.read() == b"bytes" * 100
        cache.flush()
    assert cache.counters()["hits"] == 1


def test_a_cache_is_warmed_ahead(cached, cache, bucket, emulator):
    for n in range(300):
        bucket.put(f"w/{n}", b"x" * (n * 500))
    listing = cached.list(bucket("w/"))
    cache.warm(cached, listing)
    assert cache.counters()["kept"] == 299 and cache.counters()["refused"] == 0
    assert asked(cached, lambda: sum(len(item.data) for item in cached.get_many(listing).items())) == \
        (sum(n * 500 for n in range(300)), 0)
    with emulator.client() as other, pytest.raises(ValueError, match="without this cache"):
        cache.warm(other, listing)


def test_damage_is_found(cached, cache, bucket):
    data = os.urandom(100_000)
    bucket.put("a", data)
    [row] = cached.list(bucket("a"))
    assert cached.get(row) == data
    cache.flush()
    [segment] = segments(cache.folder)
    with open(segment, "r+b") as file:
        file.seek(5000)
        byte = file.read(1)[0]
        file.seek(5000)
        file.write(bytes([byte ^ 1]))
    assert cached.get(row) == data
    assert cache.counters()["damaged"] == 1


def flipped(emulator, name, offset):
    """One byte of the next reply."""
    emulator.faults({"verb": "objects.media", "object": name, "action": "flip_byte", "offset": offset, "count": 1})


def test_what_open_has_found_damaged_is_read_anew(emulator, cache, bucket):
    data = os.urandom(3 << 20)
    bucket.put("a", data)
    flipped(emulator, "a", 1000)

    def read():
        with client.open(bucket("a"), "rb") as file:
            return file.read()

    with emulator.client(cache=cache, slice=1 << 20) as client:
        with pytest.raises(dataflux.DataLossError):
            read()
        cache.flush()
        again, sent = asked(client, read)
        assert again == data and sent > 1  # its metadata, and what was forgotten
        cache.flush()
        assert asked(client, read) == (data, 1)


def test_a_shard_that_came_damaged_is_read_anew(cached, emulator, cache, bucket):
    import dataflux.webdataset as wds

    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for n in range(6):
            member = tarfile.TarInfo(f"{n:02}.bin")
            member.size = 1_000_000  # all of them are more than is read at once
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    bucket.put("0.tar", out.getvalue())
    flipped(emulator, "0.tar", 3)  # of the first member's name

    def read():
        return [sample["__key__"] for sample in wds.WebDataset(bucket("0.tar"), shardshuffle=False, client=cached)]

    with pytest.raises(dataflux.DataLossError):
        read()
    cache.flush()
    assert read() == [f"{n:02}" for n in range(6)]


def test_a_client_that_is_pickled_or_forked_uses_it(emulator, cache, bucket):
    bucket.put("a", b"bytes")
    client = emulator.client(cache=cache)
    [row] = client.list(bucket("a"))
    assert client.get(row) == b"bytes"
    cache.flush()
    again = pickle.loads(pickle.dumps(cache))
    assert again.folder == cache.folder and repr(again) == repr(cache)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            same = client.get(row) == b"bytes"
            status = 0 if same and cache.counters()["hits"] == 1 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    client.close()


def test_processes_that_are_killed_leave_no_wrong_byte(emulator, bucket, tmp_path):
    import hashlib

    dice = random.Random(1)
    for _ in range(150):
        data = dice.randbytes(dice.choice([10, 1000, 30_000, 300_000]))
        bucket.put("x/" + hashlib.sha256(data).hexdigest(), data)
    folder = tmp_path / "cache"

    def begin(seed):
        return subprocess.Popen([sys.executable, "-c", READER, emulator.endpoint, bucket("x"), str(folder), str(seed)],
                                stdout=subprocess.PIPE, text=True)

    running = [begin(seed) for seed in range(8)]
    for one in running:
        assert one.stdout.readline() == "begun\n"
    try:
        for kill in range(TIMES):
            time.sleep(dice.random() / 4)
            which = kill % 8
            assert running[which].poll() is None, "a reader found a wrong byte"
            running[which].send_signal(signal.SIGKILL)
            running[which].wait()
            running[which].stdout.close()
            running[which] = begin(100 + kill)
            assert running[which].stdout.readline() == "begun\n"
        assert [one.poll() for one in running] == [None] * 8
    finally:
        for one in running:
            one.kill()
            one.wait()
            one.stdout.close()
    with emulator.client(cache=dataflux.Cache(folder)) as client:
        listing = client.list(bucket("x/"))
        for item in client.get_many(listing).items():
            assert hashlib.sha256(item.data).hexdigest() == listing[item.index].name.rsplit("/")[-1]


def command(*arguments):
    done = subprocess.run([os.environ["DATAFLUX_COMMAND"], "cache", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_the_command_lists_compares_and_clears(cached, cache, bucket, tmp_path):
    for n in range(1, 4):
        bucket.put(f"o/{n}", b"x" * n * 1000)
    listing = cached.list(bucket("o/"))
    cache.warm(cached, listing)
    status, told, _ = command("list", cache.folder)
    lines = told.splitlines()
    assert status == 0 and len(lines) == 4
    assert {line.split()[0] for line in lines[:3]} == {"1000", "2000", "3000"}
    assert f"{bucket.name}/o/1#{listing[0].generation}" in told
    assert lines[3].startswith("3 bodies, 6000 bytes, in 1 segments of ")
    assert command("verify", cache.folder)[0] == 0
    [segment] = segments(cache.folder)
    with open(segment, "r+b") as file:
        file.seek(500)
        file.write(b"y")
    status, told, _ = command("verify", cache.folder)
    assert status == 7 and told.count("damaged") == 2
    status, told, _ = command("clear", cache.folder)
    assert status == 0 and told.startswith("removed 1 segments of ")
    assert segments(cache.folder) == []
    assert command("list", str(tmp_path / "none"))[0] == 3
    rows = [bytes(item.data) for item in cached.get_many(listing).items()]
    assert rows == [b"x" * n * 1000 for n in range(1, 4)]


def test_what_is_no_cache_is_refused(emulator, tmp_path):
    with pytest.raises(TypeError, match="cache: a dataflux.Cache is needed"):
        dataflux.Client(cache=str(tmp_path))
    with pytest.raises(ValueError, match="bytes"):
        dataflux.Cache(tmp_path, bytes=-1)
    with pytest.raises(TypeError, match="min_free"):
        dataflux.Cache(tmp_path, min_free="1")
    client = emulator.client(cache=dataflux.Cache(tmp_path / "no" / "such"))
    with pytest.raises(dataflux.NotFoundError, match="no/such"):
        client.list("gs://bucket/")
    client.close()
    with pytest.raises(dataflux.InvalidArgumentError, match="16 MiB"):
        dataflux.Cache(tmp_path, bytes=1).counters()
    dataflux.Cache(tmp_path).flush()
    [own] = os.listdir(tmp_path)
    os.chmod(tmp_path / own, 0o777)
    with pytest.raises(dataflux.PreconditionError, match="others may write"):
        dataflux.Cache(tmp_path).counters()
