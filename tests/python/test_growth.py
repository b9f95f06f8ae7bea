"""Verbs that are made again and again leave nothing: no object of Python's, no memory, no handle of
the library's, no descriptor, no thread."""

import asyncio
import gc
import itertools
import logging
import os
import sys
import tracemalloc

import pytest

import dataflux
from dataflux import _handles
from service import wait_until

pytestmark = pytest.mark.usefixtures("only_new")

TIMES = 1000 if os.environ.get("DATAFLUX_TEST_FULL") else 40
ROUNDS = 10
SIZE = 20_000


def state():
    gc.collect()
    objects = gc.get_objects()
    return {
        "objects": len(objects),
        # A ctypes object that has a __dict__ is the collector's.
        "handles": sum(isinstance(each, _handles.Handle) and bool(each) for each in objects),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
        "bytes": tracemalloc.get_traced_memory()[0],
    }


# So many of each in one call are a leak. What is less comes of one call in four, or of none.
LEAST = {"objects": 0.25, "handles": 0.25, "descriptors": 0.25, "threads": 0.25, "bytes": 8}


def grown(function, times=TIMES):
    """What there is more of after so many calls than before; {} is what it should be. Caches of
    Python's own fill for a while, and what leaks grows for ever: so it is what grows in each of ten
    rounds."""
    logging.disable()  # pytest keeps records; asyncio has some to tell where the machine is slow
    for _ in range(4):
        function()
    tracemalloc.start()
    try:
        function()
        found = dict(LEAST)
        after = state()
        for _ in range(ROUNDS):
            before = after
            for _ in range(times):
                function()
            after = state()
            found = {name: after[name] - before[name] for name in found
                     if after[name] - before[name] >= LEAST[name] * times}
            if not found:
                break
    finally:
        tracemalloc.stop()
        logging.disable(logging.NOTSET)
    return found


@pytest.fixture
def there(bucket):
    bucket.put("x", b"x" * SIZE)
    for number in range(20):
        bucket.put(f"many/{number:02d}", bytes([number]) * 1000)
    return bucket


def stat(client, bucket):
    assert client.stat(bucket("x")).size == SIZE


def missing(client, bucket):
    with pytest.raises(dataflux.NotFoundError):
        client.get(bucket("none"))


def wrong(client, bucket):
    with pytest.raises(TypeError):
        client.get(5)
    with pytest.raises(ValueError):
        client.get("https://x")


def get(client, bucket):
    assert len(client.get(bucket("x"))) == SIZE


def get_ranges(client, bucket):
    client.get_ranges(bucket("x"), [(0, 10), (100, 10)])


def read_into(client, bucket):
    client.read_into(bucket("x"), bytearray(SIZE))


def put_and_delete(client, bucket):
    client.put(bucket("new"), b"y" * 5000)
    client.delete(bucket("new"))


def copy_and_patch(client, bucket):
    client.copy(bucket("x"), bucket("copy"))
    client.patch(bucket("copy"), metadata={"a": "b"})


def listing(client, bucket):
    found = client.list(bucket("many/"))
    assert [row.size for row in found] == [1000] * 20 and len(found[3:9]) == 6


def half_a_listing(client, bucket):
    with client.list_batches(bucket()) as batches:
        next(iter(batches))


def get_many(client, bucket):
    urls = [bucket(f"many/{number:02d}") for number in range(20)]
    assert sum(len(item.data) for item in client.get_many(urls).items()) == 20_000


def half_of_get_many(client, bucket):
    urls = itertools.cycle([bucket(f"many/{number:02d}") for number in range(20)])
    next(client.get_many(urls, batch=4))


def failed_items(client, bucket):
    [batch] = client.get_many([bucket("none")], on_error="return")
    assert batch[0].error.status == "not_found"


def reader(client, bucket):
    with client.reader(bucket("x")) as opened:
        assert len(opened.read_at(5, 100)) == 100


def reader_that_nobody_closes(client, bucket):
    client.reader(bucket("x")).read_at(0, 5)


def writer(client, bucket):
    with client.writer(bucket("written")) as opened:
        opened.write(b"z" * 10_000)


def writer_that_aborts(client, bucket):
    with pytest.raises(ZeroDivisionError), client.writer(bucket("aborted")) as opened:
        opened.write(b"z")
        1 / 0


def file(client, bucket):
    with client.open(bucket("file"), "wb") as opened:
        opened.write(b"line\n" * 100)
    with client.open(bucket("file"), "r") as opened:
        assert len(opened.readlines()) == 100


def progress(client, bucket):
    client.list(bucket("many/"), progress=lambda **counts: None)


def metrics(client, bucket):
    client.metrics()
    client.prometheus()


@pytest.mark.parametrize("verb", [
    stat, missing, wrong, get, get_ranges, read_into, put_and_delete, copy_and_patch, listing,
    half_a_listing, get_many, half_of_get_many, failed_items, reader, reader_that_nobody_closes, writer,
    writer_that_aborts, file, progress, metrics], ids=lambda verb: verb.__name__)
def test_a_verb_leaves_nothing(verb, client, there):
    assert grown(lambda: verb(client, there)) == {}
    assert client._under_way == {}
    # What one read alone has is let go of by the library's threads, after its end was told.
    assert wait_until(lambda: client.metrics()["memory"]["borrowed"] == 0)


def test_a_client_leaves_nothing(emulator, there):
    def once():
        with emulator.client() as client:
            client.stat(there("x"))

    assert grown(once, TIMES // 4) == {}


def test_a_client_that_nobody_closes_leaves_nothing(emulator, there):
    def once():
        client = emulator.client()
        client.stat(there("x"))
        ended = client._feed._ended
        del client
        gc.collect()
        assert ended.acquire(timeout=60)

    assert grown(once, TIMES // 4) == {}


def test_verbs_of_event_loops_leave_nothing(emulator, there):
    async def cancelled(client):
        task = asyncio.ensure_future(client.get(there("x")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def once(client):
        await client.stat(there("x"))
        await asyncio.gather(*(client.get(there("x")) for _ in range(4)))
        with pytest.raises(dataflux.NotFoundError):
            await client.stat(there("none"))
        await cancelled(client)
        async with await client.reader(there("x")) as opened:
            await opened.read_at(0, 9)
        async with await client.writer(there("written")) as opened:
            await opened.write(b"1")
        async for batch in client.get_many([there("x")] * 5):
            del batch
        async for batch in client.list_batches(there()):
            del batch

    with asyncio.Runner() if sys.version_info >= (3, 11) else Runner() as runner:
        client = dataflux.AsyncClient(**emulator.options)
        left = grown(lambda: runner.run(once(client)), TIMES // 4)
        left.pop("bytes", None)  # an event loop makes names as it goes, which fill a cache of Python's
        assert left == {}
        runner.run(client.aclose())


class Runner:
    """asyncio.Runner, which 3.10 lacks."""

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        self.run = self.loop.run_until_complete
        return self

    def __exit__(self, *_):
        self.loop.close()


@pytest.mark.parametrize("keeps", ["objects", "handles", "descriptors", "bytes"])
def test_what_would_grow_is_found(keeps, client, there):
    """The measure itself."""
    kept = []

    def leaks():
        if keeps == "objects":
            kept.append([])
        elif keeps == "bytes":
            kept.append(bytes(100))
        elif keeps == "handles":
            kept.append(_handles.Handle(1))
        else:
            kept.append(os.open(os.devnull, os.O_RDONLY))

    try:
        assert keeps in grown(leaks, 10)
    finally:
        if keeps == "descriptors":
            for number in kept:
                os.close(number)
