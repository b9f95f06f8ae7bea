"""Files of dataflux.fsspec that are appended to."""

import asyncio
import csv
import os
import signal
import subprocess
import sys

import fsspec
import pandas
import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem, DatafluxS3FileSystem, _appending

LARGE = _appending.REWRITTEN + 1000


@pytest.fixture
def fs(emulator, which):
    return (DatafluxS3FileSystem if which == "s3" else DatafluxFileSystem)(**emulator.options)


@pytest.fixture
def rare(which):
    """A storage class that is not the usual one."""
    return "STANDARD_IA" if which == "s3" else "NEARLINE"


@pytest.fixture(params=[0, 3, LARGE], ids=["empty", "small", "large"])
def there(request, fs, bucket, rare):
    """The bytes of an object "x"."""
    content = os.urandom(request.param)
    fs.pipe_file(f"{bucket.name}/x", content, content_type="a/b", metadata={"k": "v"},
                 storage_class=rare, fixed_key_metadata={"cache_control": "no-store"})
    return content


@pytest.mark.both_services
def test_new_bytes_come_behind_what_is_there(fs, bucket, there):
    with fs.open(bucket("x"), "ab") as file:
        assert file.tell() == len(there) and file.writable() and file.mode == "ab"
        assert file.write(b"one") == 3 and file.tell() == len(there) + 3
        file.flush()
        assert bucket.get("x") == there
        file.write(b"two")
    assert bucket.get("x") == there + b"onetwo" and bucket.names() == ["x"]
    assert file.object.size == len(there) + 6 and file.generation == file.object.generation
    with fs.open(bucket("x"), "ab") as file:
        file.write(b"three")
    assert bucket.get("x") == there + b"onetwothree" and bucket.names() == ["x"]


@pytest.mark.both_services
def test_what_stands_beside_the_bytes_stays(fs, bucket, there, rare):
    with fs.open(bucket("x"), "ab") as file:
        file.write(b"1")
    known = fs.info(bucket("x"))
    assert (known["contentType"], known["metadata"], known["cacheControl"], known["storageClass"]) \
        == ("a/b", {"k": "v"}, "no-store", rare)
    with fs.open(bucket("x"), "ab", content_type="c/d", metadata={"n": "m"}) as file:
        file.write(b"1")
    known = fs.info(bucket("x"))
    assert (known["contentType"], known["metadata"]) == ("c/d", {"n": "m"})


@pytest.mark.both_services
def test_nothing_there_is_a_new_object(fs, bucket):
    with fs.open(bucket("new.json"), "ab") as file:
        assert file.tell() == 0
        file.write(b"{}")
    assert bucket.get("new.json") == b"{}"
    assert fs.info(bucket("new.json"))["contentType"] == "application/json"
    with fs.open(bucket("empty"), "a"):
        pass
    assert bucket.get("empty") == b""


@pytest.mark.both_services
def test_text(fs, bucket):
    for line in ("\u20ac\n", "2\n"):
        with fs.open(bucket("x"), "a", encoding="utf-16", newline="\r\n") as file:
            file.write(line)
    assert bucket.get("x").decode("utf-16") == "\u20ac\r\n2\r\n"
    for name in ("x.gz", "x.xz"):
        for line in ("1\n", "2\n"):
            with fs.open(bucket(name), "at", compression="infer") as file:
                file.write(line)
        with fs.open(bucket(name), "r", compression="infer") as file:
            assert file.read() == "1\n2\n"


@pytest.mark.both_services
def test_many_bytes_are_appended_part_by_part(fs, bucket, there):
    data = os.urandom(20 << 20)
    with fs.open(bucket("x"), "ab", part_size=8 << 20) as file:
        file.write(data)
    assert bucket.get("x") == there + data and bucket.names() == ["x"]


@pytest.mark.both_services
def test_an_exception_leaves_what_was_there(fs, bucket, there):
    with pytest.raises(KeyError):
        with fs.open(bucket("x"), "ab") as file:
            file.write(b"new")
            raise KeyError
    with fs.open(bucket("x"), "ab") as file:
        file.write(b"new")
        file.discard()
    file = fs.open(bucket("x"), "ab")
    file.write(b"new")
    fs.rm(bucket("x"))  # of what is being written: that alone
    assert bucket.get("x") == there and bucket.names() == ["x"]


@pytest.mark.both_services
def test_of_two_that_append_none_is_lost_in_silence(fs, bucket, there):
    first, second = fs.open(bucket("x"), "ab"), fs.open(bucket("x"), "a")
    first.write(b"first")
    second.write("second")
    first.close()
    with pytest.raises(dataflux.PreconditionError, match="append again") as lost:
        second.close()
    assert lost.value.object == "x" and bucket.names() == ["x"]
    assert bucket.get("x") == there + b"first"
    with fs.open(bucket("x"), "a") as again:
        again.write("second")
    assert bucket.get("x") == there + b"firstsecond"


@pytest.mark.both_services
def test_of_two_that_begin_an_object_none_is_lost_in_silence(fs, bucket):
    first, second = fs.open(bucket("x"), "ab"), fs.open(bucket("x"), "ab")
    first.write(b"first")
    second.write(b"second")
    first.close()
    with pytest.raises(dataflux.PreconditionError, match="append again"):
        second.close()
    assert bucket.get("x") == b"first"


@pytest.mark.both_services
def test_what_was_removed_meanwhile_is_told(fs, bucket, there):
    file = fs.open(bucket("x"), "ab")
    file.write(b"new")
    fs.client.delete(bucket("x"))
    with pytest.raises(dataflux.PreconditionError, match="append again"):
        file.close()
    assert bucket.names() == []


@pytest.mark.both_services
def test_in_a_transaction(fs, bucket, there):
    with fs.transaction:
        with fs.open(bucket("x"), "ab") as file:
            file.write(b"1")
        with fs.open(bucket("y"), "a") as file:
            file.write("2")
        assert bucket.get("x") == there and bucket.get("y") is None
    assert bucket.get("x") == there + b"1" and bucket.get("y") == b"2"
    with pytest.raises(KeyError):
        with fs.transaction:
            with fs.open(bucket("x"), "ab") as file:
                file.write(b"3")
            raise KeyError
    assert bucket.get("x") == there + b"1" and sorted(bucket.names()) == ["x", "y"]


@pytest.mark.both_services
def test_for_tasks(fs, bucket, there):
    async def body():
        async with await fs.open_async(bucket("x"), "ab") as file:
            assert file.tell() == len(there)
            await file.write(b"one")
        assert bucket.get("x") == there + b"one" and bucket.names() == ["x"]
        first = await fs.open_async(bucket("x"), "ab")
        second = await fs.open_async(bucket("x"), "ab")
        for file in (first, second):
            await file.write(b"two")
        await first.commit()
        with pytest.raises(dataflux.PreconditionError, match="append again"):
            await second.commit()
        assert bucket.get("x") == there + b"onetwo" and bucket.names() == ["x"]
        with pytest.raises(KeyError):
            async with await fs.open_async(bucket("x"), "ab") as file:
                await file.write(b"three")
                raise KeyError
        assert bucket.get("x") == there + b"onetwo" and bucket.names() == ["x"]

    asyncio.run(body())


def test_what_cannot_be_read_again_is_not_appended_to(emulator, fs, bucket, recwarn):
    bucket.put("x", b"1")
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 403, "count": 0})

    async def body():
        await fs.open_async(bucket("x"), "ab")

    for opened in (lambda: fs.open(bucket("x"), "ab"), lambda: asyncio.run(body())):
        with pytest.raises(PermissionError):
            opened()
    assert not [each for each in recwarn if each.category is ResourceWarning]
    emulator.faults()
    assert bucket.get("x") == b"1" and bucket.names() == ["x"]


def test_what_cannot_be_is_refused(emulator, fs, bucket):
    bucket.put("x", b"1")
    for mode in ("a+", "ab+", "r+b", "wa"):
        with pytest.raises(ValueError, match="mode"):
            fs.open(bucket("x"), mode)
    for how in ({"what": 1}, {"if_generation_match": 7}):
        with pytest.raises(TypeError, match=next(iter(how))):
            fs.open(bucket("x"), "ab", **how)
    reading = DatafluxFileSystem(**emulator.options, access="read_only")
    with pytest.raises(PermissionError, match="read_only"):
        reading.open(bucket("x"), "ab")
    with pytest.raises(ValueError, match="append"):
        fs.client.open(bucket("x"), "ab")
    assert bucket.get("x") == b"1"


def test_failures_on_the_way_leave_what_was_there(emulator, fs, bucket, there):
    for verb in ("objects.insert", "objects.compose"):
        emulator.faults({"verb": verb, "action": "refuse", "status": 403, "count": 0})
        file = fs.open(bucket("x"), "ab")
        file.write(b"new")
        try:
            file.close()
        except PermissionError:
            assert bucket.get("x") == there and bucket.names() == ["x"]
        else:  # the other way does without
            assert bucket.get("x") == there + b"new"
            fs.pipe(bucket("x"), there)
        emulator.faults()


@pytest.mark.parametrize("verb", ["objects.insert", "objects.compose"])
@pytest.mark.parametrize("fault", [{"action": "lose_reply"}, {"action": "refuse", "status": 503}],
                         ids=["lost", "503"])
def test_a_lost_reply_appends_once(emulator, fs, bucket, there, verb, fault):
    emulator.faults({"verb": verb, **fault})
    with fs.open(bucket("x"), "ab") as file:
        file.write(b"new")
    assert bucket.get("x") == there + b"new" and bucket.names() == ["x"]


def test_what_was_appended_stays_where_its_own_object_cannot_be_removed(emulator, fs, bucket, caplog):
    content = os.urandom(LARGE)
    bucket.put("x", content)
    emulator.faults({"verb": "objects.delete", "action": "refuse", "status": 403, "count": 0})
    with fs.open(bucket("x"), "ab") as file:
        file.write(b"new")
    emulator.faults()
    assert bucket.get("x") == content + b"new" and "remove_leftovers" in caplog.text
    left = fs.client.find_leftovers(bucket(), older_than=0)
    assert [(row.kind, row.target, row.whole_target) for row in left.rows] == [
        ("temporary_object", "x", True)]
    fs.client.remove_leftovers(bucket(), older_than=0)
    assert bucket.names() == ["x"]


KILLED = """
import sys, dataflux.fsspec
from service import options_of
fs = dataflux.fsspec.DatafluxFileSystem(**options_of(sys.argv[1]), max_attempts=1000)
file = fs.open(sys.argv[2], "ab")
file.write(b"new")
print("writing", flush=True)
file.close()
"""


def test_what_a_killed_append_leaves_is_a_leftover(emulator, fs, bucket):
    name = "folder/\u20ac x"
    content = os.urandom(LARGE)
    bucket.put(name, content)
    # It tries again until it is killed, and nothing of that is carried out.
    emulator.faults({"verb": "objects.compose", "action": "refuse", "status": 503, "count": 0})
    child = subprocess.Popen([sys.executable, "-c", KILLED, emulator.endpoint, bucket(name)],
                             stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"writing\n"
    while not any(each.startswith("dataflux-uploads/") for each in bucket.names()):
        assert child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert bucket.get(name) == content
    (left,) = fs.client.find_leftovers(bucket("folder/"), older_than=0).rows
    assert (left.kind, left.target, left.whole_target) == ("temporary_object", name, True)
    fs.client.remove_leftovers(bucket(), older_than=0)
    assert bucket.names() == [name]


@pytest.mark.both_services
def test_csv_as_lightning_s_logger_writes_it(fs, bucket):
    # Its first flush writes, the others append.
    path = bucket("logs/metrics.csv")
    for step in range(4):
        with fs.open(path, "a" if step else "w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=["step", "loss"])
            if not step:
                writer.writeheader()
            writer.writerow({"step": step, "loss": 1 / (step + 1)})
    with fs.open(path, "r", newline="") as file:
        assert [row["step"] for row in csv.DictReader(file)] == ["0", "1", "2", "3"]


def test_pandas_appends(fs, bucket):
    fsspec.register_implementation("dataflux", DatafluxFileSystem, clobber=True)
    frame = pandas.DataFrame({"number": [1, 2]})
    options = dict(fs.storage_options)
    for mode in ("w", "a"):
        frame.to_csv(f"dataflux://{bucket.name}/x.csv", mode=mode, header=mode == "w", index=False,
                     storage_options=options)
    assert bucket.get("x.csv") == b"number\n1\n2\n1\n2\n"
