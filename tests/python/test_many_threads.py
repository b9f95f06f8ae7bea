"""What several threads do at once needs no lock of the interpreter's: free-threaded Python has none."""

import gc
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest
from interrupts import interrupted_at

import dataflux
from dataflux import _events, _lending, _wait

LIMIT = 60
THREADS = 8


def at_once(work):
    """What work(number) gives on each of some threads that begin together."""
    ready = threading.Barrier(THREADS)

    def begin(number):
        ready.wait(LIMIT)
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


@pytest.mark.parametrize("tags", [_wait.tags, _wait.Tags()], ids=["as they are", "without the lock"])
def test_tags_are_given_once(tags):
    given = at_once(lambda _: [next(tags) for _ in range(5000)])
    assert len(set().union(*given)) == THREADS * 5000


def test_an_interrupt_leaves_the_lock_of_tags_to_others():
    tags = _wait.Tags()
    for number in count(1):
        if not interrupted_at(number, lambda: next(tags), ("_wait.py",)):
            break
        assert not tags._lock.locked()
    assert number > 3


def test_a_warning_is_new_once():
    given = at_once(lambda _: [number for number in range(3000) if _events.is_new(("many threads", number))])
    assert sorted(number for numbers in given for number in numbers) == list(range(3000))


def test_streams_end_while_other_threads_let_go_of_their_items(client, bucket):
    for number in range(20):
        client.put(bucket(f"{number:02d}"), bytes([number]) * 1000)
    listing = client.list(bucket())
    held = [[] for _ in range(THREADS)]

    def work(number):
        for turn in range(30):
            with client.get_many(listing, batch=3) as stream:
                for batch in stream:
                    assert all(item.data == bytes([item.index]) * 1000 for item in batch)
                    # The next thread lets go of them, whenever it comes to that.
                    held[(number + turn) % THREADS].append(batch)
                    del batch
            held[number].clear()

    at_once(work)
    held.clear()
    gc.collect()
    assert client.metrics()["memory"]["borrowed"] == 0


def test_verbs_of_one_client(client, bucket):
    def work(number):
        for turn in range(20):
            place = bucket(f"{number}/{turn}")
            client.put(place, place.encode())
            assert client.get(place) == place.encode()
            assert [row.name for row in client.list(place)] == [f"{number}/{turn}"]
        return [row.name for row in client.list(bucket(f"{number}/"))]

    assert at_once(work) == [sorted(f"{number}/{turn}" for turn in range(20)) for number in range(THREADS)]


def test_a_client_is_closed_while_others_begin_calls(emulator, bucket):
    bucket.put("x", b"x")
    for _ in range(10):
        client = emulator.client()

        def work(number, client=client):
            if number == 0:
                client.close()
                return "closed"
            try:
                return client.get(bucket("x"))
            except Exception as error:
                return type(error).__name__

        assert set(at_once(work)) <= {"closed", b"x", "CancelledError", "PreconditionError"}


class _Late:
    """A writer's lock, which another thread takes between a look at it and the `with`."""

    def __init__(self, lock, meanwhile):
        self._lock, self._meanwhile = lock, [meanwhile]

    def locked(self):
        return False

    def __enter__(self):
        if self._meanwhile:
            self._meanwhile.pop()()
        self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()


@pytest.mark.parametrize("ended", ["commit", "abort"])
@pytest.mark.parametrize("use", ["write", "lend", "commit", "abort"])
def test_a_writer_that_another_thread_ends_before_this_one_has_it(client, bucket, use, ended):
    writer = client.writer(bucket("x"))
    writer.write(b"abc")
    writer._lock = _Late(writer._lock, getattr(writer, ended))
    lending = _lending.Lending(writer)
    uses = {"write": lambda: writer.write(b"more"), "lend": lambda: lending.write(b"more"),
            "commit": writer.commit, "abort": writer.abort}
    if use == "abort":
        uses[use]()
    else:
        with pytest.raises(ValueError, match="the writer is (committed|aborted)"):
            uses[use]()
    assert writer._state == {"commit": "committed", "abort": "aborted"}[ended]
    assert bucket.get("x") == (b"abc" if ended == "commit" else None)


@pytest.mark.parametrize("ended", ["finish", "abort"])
@pytest.mark.parametrize("use", ["write", "finish", "abort"])
def test_a_writer_of_shards_that_another_thread_ends_before_this_one_has_it(client, bucket, use, ended):
    writer = client.shard_writer(bucket("x-%06d.tar"), count=10)
    writer.write({"__key__": "a", "txt": b"abc"})
    writer._lock = _Late(writer._lock, getattr(writer, ended))
    if use == "abort":
        writer.abort()
    else:
        with pytest.raises(ValueError, match="the writer is (committed|aborted)"):
            getattr(writer, use)(*([{"__key__": "b", "txt": b"more"}] if use == "write" else []))
    assert writer._state == {"finish": "committed", "abort": "aborted"}[ended]
    assert "x-000000.tar" in bucket.names() or ended == "abort"


def test_one_writer_of_many_threads_has_what_each_was_told_of(client, bucket):
    with client.writer(bucket("x")) as writer:
        def work(number):
            written = 0
            for _ in range(200):
                try:
                    written += writer.write(bytes([number]) * 100)
                except dataflux.PreconditionError:  # another one uses it
                    pass
            return written

        written = at_once(work)
    content = client.get(bucket("x"))
    assert [content.count(number) for number in range(THREADS)] == written


def test_a_reader_is_closed_while_others_read(client, bucket):
    content = os.urandom(1 << 20)
    bucket.put("x", content)
    for _ in range(10):
        reader = client.reader(bucket("x"))

        def work(number, reader=reader):
            if number == 0:
                reader.close()
                return "closed"
            try:
                for turn in range(1000):
                    at = (number * 7919 + turn * 104729) % (len(content) - 100)
                    assert reader.read_at(at, 100) == content[at:at + 100]
            except ValueError as error:
                return str(error)
            return "read"

        assert set(at_once(work)) <= {"closed", "read", "I/O operation on closed file."}


def test_a_stream_of_a_listing_goes_to_each_of_them_once(client, bucket):
    for number in range(300):
        bucket.put(f"{number:03d}", b"")
    stream = client.list_batches(bucket(), parallelism=4)
    rows = at_once(lambda _: [row.name for batch in stream for row in batch])
    assert sorted(name for names in rows for name in names) == [f"{number:03d}" for number in range(300)]


def test_a_pass_goes_to_each_of_them_once_and_is_told_of(client, bucket):
    for number in range(200):
        bucket.put(f"{number:03d}", bytes([number]) * 5000)
    rows = client.list(bucket()).take(list(range(200)) * 5)
    told = []
    stream = client.get_many(rows, order="ready", batch=7,
                             progress=lambda done, total, unit, label: told.append((done, total)))
    items = stream.items()

    def work(_):
        taken = []
        for item in items:
            assert item.data == bytes([item.row]) * 5000
            taken.append(item.index)
        return taken

    assert sorted(index for indexes in at_once(work) for index in indexes) == list(range(1000))
    assert told[-1] == (1000, 1000)


def test_a_pass_is_closed_while_others_take_from_it(client, bucket):
    for number in range(100):
        bucket.put(f"{number:03d}", bytes([number]) * 5000)
    rows = client.list(bucket()).take(list(range(100)) * 20)
    for turn in range(10):
        stream = client.get_many(rows, batch=3, progress=lambda **_: None)

        def work(number, stream=stream, turn=turn):
            for taken, batch in enumerate(stream):
                assert all(item.data == bytes([item.row]) * 5000 for item in batch)
                del batch
                if number == 0 and taken == turn:
                    stream.close()
            return stream.ended

        assert all(at_once(work))


def test_first_looks_at_a_listing_come_at_once(client, bucket):
    for number in range(100):
        bucket.put(f"{number:03d}", bytes([number]))
    rows = [(f"{number:03d}", 1) for number in range(100)]
    for _ in range(20):
        listing = client.list(bucket())

        def work(number, listing=listing):
            if number % 2:
                assert all(row.crc32c is not None for row in listing)
            assert listing.total_bytes == 100 and f"{number:03d}" in listing.names
            return [(row.name, row.size) for row in listing]

        assert at_once(work) == [rows] * THREADS


def test_all_of_a_client_at_once(emulator, bucket, tmp_path):
    contents = {f"many/{number:03d}": os.urandom(3000 + number) for number in range(120)}
    for name, content in contents.items():
        bucket.put(name, content)
    large = os.urandom(3 << 20)
    bucket.put("large", large)
    # Retries, which are told by events, and a disk that others read meanwhile.
    emulator.faults({"verb": "objects.get", "action": "refuse", "status": 503, "from": 50, "count": 20})
    cache = dataflux.Cache(tmp_path / "cache", bytes=64 << 20)
    with emulator.client(cache=cache) as client:
        listing = client.list(bucket("many/"))
        sampler = dataflux.Sampler(len(listing), seed=3)
        mixer = dataflux.Mixer([100, 200, 300], weights=[1, 2, 3])
        drawn, orders = mixer.draws(0, 500), [list(sampler.with_epoch(epoch)) for epoch in range(5)]
        assert all(sorted(order) == list(range(len(listing))) for order in orders)

        def passes(_):
            for epoch in range(5):
                rows = listing.take(sampler.with_epoch(epoch))
                with client.get_many(rows, progress=lambda **_: None) as stream:
                    for item in stream.items():
                        assert item.data == contents[listing[orders[epoch][item.index]].name]

        def writes(number):
            for turn in range(5):
                with client.writer(bucket(f"written/{number}/{turn}")) as writer:
                    for _ in range(10):
                        writer.write(large[turn * 1000:turn * 1000 + 50_000])

        with client.reader(bucket("large")) as reader, client.open(bucket("large"), "rb") as file:
            def reads(number):
                for turn in range(40):
                    at = (number * 7919 + turn * 104729) % len(large)
                    assert reader.read_at(at, 50_000) == file.read_at(at, 50_000) == large[at:at + 50_000]

            def looks(number):
                for epoch in range(5):
                    assert list(sampler.with_epoch(epoch)) == orders[epoch]
                    assert mixer.draws(0, 500) == drawn
                    assert client.metrics()["totals"]["requests_a"] > 0 and client.prometheus()
                    assert cache.counters()["damaged"] == 0

            roles = [passes, writes, reads, looks]
            at_once(lambda number: roles[number % len(roles)](number))
        written = client.list(bucket("written/"))
        assert len(written) == 10 and written.total_bytes == 10 * 500_000
        for row in written:
            turn = int(row.name.rsplit("/")[-1])
            assert client.get(row) == large[turn * 1000:turn * 1000 + 50_000] * 10


def run(program):
    """What a process of its own prints, whose Python is this one."""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=LIMIT,
                         env={name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
                         | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert ran.stderr == ""
    return ran.stdout


def test_the_library_is_whole_for_the_second_thread_that_wants_it():
    assert run("""
import threading
from dataflux._library import library
first, begun, whole = threading.Event(), threading.Event(), []

def last():
    first.set()
    assert begun.wait(60)
    for _ in range(100_000):
        pass  # the other one is about to use it, or does
    whole.append(True)

library.when_loaded(last)
thread = threading.Thread(target=lambda: library.abi_version())
thread.start()
assert first.wait(60)
begun.set()
library.abi_version()
print(whole)
thread.join()
""") == "[True]\n"


def test_a_free_threaded_python_stays_so():
    assert run("""
import sys
has_lock = getattr(sys, "_is_gil_enabled", lambda: True)
before = has_lock()
import dataflux
for name in dataflux.__all__:
    getattr(dataflux, name)
import dataflux.pytest_plugin, dataflux.webdataset
with dataflux.Emulator("bucket") as service:
    client = dataflux.Client(endpoint=service.endpoint, emulator=True)
    client.put("gs://bucket/x", b"x")
    assert client.get("gs://bucket/x") == b"x"
print(has_lock() == before)
""") == "True\n"
