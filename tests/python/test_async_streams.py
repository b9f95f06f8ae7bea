"""AsyncClient's streams, of listings and of reads: each test runs on all kinds of event loops."""

import gc
from functools import partial

import pytest

import dataflux
from loops import run, until  # noqa: F401, a fixture

anyio = pytest.importorskip("anyio")


@pytest.fixture
def opened(emulator):
    """Opens an AsyncClient."""
    return partial(dataflux.AsyncClient, **emulator.options)


@pytest.fixture
def names(bucket):
    names = [f"data/{i:03}" for i in range(60)]
    for i, name in enumerate(names):
        bucket.put(name, b"x" * i)
    return names


def test_a_listing_comes_batch_by_batch(run, opened, bucket, names):
    async def main():
        async with opened() as client:
            found = []
            async with client.list_batches(bucket("data/"), in_order=True) as stream:
                async for batch in stream:
                    found += [row.name for row in batch]
            assert found == names == [row.name for row in await client.list(bucket("data/"))]
            assert stream.summary
            with pytest.raises(StopAsyncIteration):
                await stream.__anext__()

    run(main)


def test_a_listing_that_fails_or_was_closed_says_so(run, opened, bucket, names):
    async def main():
        async with opened() as client:
            with pytest.raises(dataflux.NotFoundError):
                async for _ in client.list_batches("gs://no-such-bucket/x"):
                    pass
            stream = client.list_batches(bucket("data/"))
            await stream.aclose()
            with pytest.raises(dataflux.PreconditionError):
                await stream.__anext__()

    run(main)


def test_a_cancelled_wait_for_a_batch_loses_nothing(run, opened, bucket, names, emulator):
    emulator.faults({"verb": "objects.list", "action": "delay", "ms": 300})

    async def main():
        async with opened() as client:
            stream = client.list_batches(bucket("data/"))
            before = emulator.answered()
            async with anyio.create_task_group() as group:
                group.start_soon(stream.__anext__)
                await anyio.sleep(0)
                group.cancel_scope.cancel()
            assert emulator.answered() >= before
            rows = 0
            async for batch in stream:
                rows += len(batch)
            assert rows == len(names)

    run(main)


def test_many_objects_are_read(run, opened, bucket, names):
    async def main():
        async with opened() as client:
            listing = await client.list(bucket("data/"))
            sizes = []
            async for batch in client.get_many(listing, batch=7):
                assert 1 <= len(batch) <= 7
                sizes += [len(item.data) for item in batch]
            assert sizes == list(range(60))
            places = (bucket(name) for name in names)
            async with client.get_many(places) as stream:
                views = [item.data async for item in stream.items()]
            del stream
            gc.collect()
            # A view keeps its memory, whatever becomes of the stream.
            assert [bytes(each) for each in views] == [b"x" * i for i in range(60)]

    run(main)


def test_a_read_of_many_that_fails_ends_them_or_is_told(run, opened, bucket, names):
    wanted = [bucket("data/001"), bucket("missing"), bucket("data/002")]

    async def main():
        async with opened() as client:
            with pytest.raises(dataflux.NotFoundError):
                async for _ in client.get_many(wanted):
                    pass
            items = client.get_many(wanted).items()
            for _ in range(2):
                with pytest.raises(dataflux.NotFoundError):
                    async for _ in items:
                        pass
            found = [item async for item in client.get_many(wanted, on_error="return").items()]
            assert [item.error is None for item in found] == [True, False, True]
            stream = client.get_many(wanted, on_error="omit")
            assert [item.index async for item in stream.items()] == [0, 2]
            assert stream.omitted == 1
            with pytest.raises(TypeError, match="^requests"):
                client.get_many(3)

    run(main)


def test_many_reads_that_have_failed_fail_every_time_until_they_are_closed(run, opened, bucket, names):
    wanted = [bucket("data/001"), bucket("missing"), bucket("data/002")]

    async def main():
        client = opened()
        stream = client.get_many(wanted)
        for _ in range(3):
            with pytest.raises(dataflux.NotFoundError, match="missing"):
                async for _ in stream:
                    pass
        stream.close()
        assert [batch async for batch in stream] == []
        stream = client.get_many([bucket(names[0])] * 5000)
        await stream.__anext__()
        await client.aclose()
        for _ in range(2):
            with pytest.raises(dataflux.CancelledError):
                async for _ in stream:
                    pass

    run(main)


def test_half_read_streams_end_what_is_under_way(run, opened, bucket, names, emulator):
    async def main():
        async with opened() as client:
            emulator.faults({"verb": "objects.media", "action": "stall", "where": "before_reply",
                             "from": 5, "count": 0})
            for close in (True, False):
                stream = client.get_many([bucket(name) for name in names], order="ready")
                assert await stream.__anext__()
                if close:
                    await stream.aclose()
                    await until(lambda: stream._stream.ended)
                    with pytest.raises(StopAsyncIteration):
                        await stream.__anext__()
                del stream
                gc.collect()
                await until(lambda: sum(each["in_flight"]
                                        for each in client.metrics()["pacing"]) == 0)
                emulator.faults({"verb": "objects.media", "action": "stall",
                                 "where": "before_reply", "from": 5, "count": 0})

    run(main)


def test_progress_is_told_of_calls_and_streams(run, opened, bucket, names):
    async def main():
        async with opened() as client:
            told = []
            listing = await client.list(bucket("data/"), progress=lambda **how: told.append(how))
            assert told[-1]["done"] == len(listing) == 60
            told.clear()
            async for _ in client.get_many(listing, progress=lambda **how: told.append(how)):
                pass
            assert told[-1]["done"] == told[-1]["total"] == 60
            with pytest.raises(TypeError, match="^progress"):
                await client.list(bucket("data/"), progress=3)

    run(main)


def test_what_progress_raises_reaches_the_caller(run, opened, bucket, names, emulator):
    emulator.faults({"verb": "objects.list", "action": "delay", "ms": 400, "count": 0})

    async def main():
        async with opened() as client:
            def tell(**how):
                raise KeyError("mine")

            with pytest.raises(KeyError, match="mine"):
                await client.list(bucket("data/"), progress=tell)

    run(main)


def test_requests_may_come_of_earlier_items_of_a_task(run, opened, bucket, names):
    async def main():
        async with opened() as client:
            ahead, sizes = [bucket("data/001")], []

            def asked():
                while len(sizes) < 20:
                    yield ahead.pop() if ahead else ...

            async for item in client.get_many(asked()).items():
                sizes.append(len(item.data))
                ahead.append(bucket(f"data/{len(item.data) + 1:03}"))
            assert sizes == list(range(1, 21))

    run(main)


def test_a_cancelled_wait_for_items_loses_none(run, opened, bucket, names, emulator):
    emulator.faults({"verb": "objects.media", "action": "delay", "ms": 300, "object": "data/000"})

    async def main():
        async with opened() as client:
            stream = client.get_many([bucket(name) for name in names])
            async with anyio.create_task_group() as group:
                group.start_soon(stream.__anext__)
                await anyio.sleep(0)
                group.cancel_scope.cancel()
            assert [len(item.data) async for item in stream.items()] == list(range(60))

    run(main)


def test_one_task_at_a_time_takes_items(run, opened, bucket, names, emulator):
    emulator.faults({"verb": "objects.media", "action": "stall", "where": "before_reply",
                     "count": 0})

    async def main():
        async with opened() as client:
            stream = client.get_many([bucket(name) for name in names])
            async with anyio.create_task_group() as group:
                group.start_soon(stream.__anext__)
                await until(lambda: stream._busy)
                with pytest.raises(dataflux.PreconditionError, match="another task"):
                    await stream.__anext__()
                group.cancel_scope.cancel()
            await stream.aclose()

    run(main)


def test_memory_of_items_goes_back(run, opened, bucket, names):
    def borrowed(client):
        return client.metrics()["memory"]["borrowed"]

    async def main():
        async with opened() as client:
            items = [item async for item in client.get_many([bucket(name) for name in names]).items()]
            assert borrowed(client) >= sum(len(item.data) for item in items)
            items.clear()
            await until(lambda: borrowed(client) == 0)
            # Of one that is left in the midst, too.
            stream = client.get_many([bucket(name) for name in names], batch=3)
            batch = await stream.__anext__()
            del stream, batch
            gc.collect()
            await until(lambda: borrowed(client) == 0)

    run(main)


def test_what_the_requests_raise_reaches_the_task(run, opened, bucket, names):
    def asked():
        yield bucket(names[0])
        raise KeyError("mine")

    async def main():
        async with opened() as client:
            stream = client.get_many(asked())
            with pytest.raises(KeyError, match="mine"):
                async for _ in stream:
                    pass
            with pytest.raises(dataflux.PreconditionError, match="lost by a KeyError"):
                await stream.__anext__()

    run(main)
