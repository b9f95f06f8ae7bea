"""AsyncClient's readers and writers: each test runs on all kinds of event loops."""

import gc
from functools import partial

import pytest

import dataflux
from loops import at_once, run, until  # noqa: F401, a fixture

anyio = pytest.importorskip("anyio")
CONTENT = bytes(range(256)) * 4096  # 1 MiB


@pytest.fixture
def opened(emulator):
    """Opens an AsyncClient."""
    return partial(dataflux.AsyncClient, **emulator.options)


def open_uploads(emulator):
    """Those of all tests that use this emulator."""
    counters = emulator.counters()
    return counters["multipartUploadsOpen"] + counters["resumableUploadsOpen"]


def test_a_reader_reads_anywhere(run, opened, bucket):
    bucket.put("x", CONTENT)

    async def main():
        async with opened() as client, await client.reader(bucket("x")) as reader:
            assert (reader.size, reader.url) == (len(CONTENT), bucket("x"))
            assert reader.generation == (await client.stat(bucket("x"))).generation
            assert await reader.read_at(0, 10) == CONTENT[:10]
            assert await reader.read_at(len(CONTENT) - 5, 10) == CONTENT[-5:]
            assert await reader.read_at(len(CONTENT), 10) == b""
            assert await reader.read_at(0, len(CONTENT)) == CONTENT
            memory = bytearray(1000)
            assert await reader.read_into_at(300, memory) == 1000
            assert memory == CONTENT[300:1300]
            memory += b"x"  # it is lent no more
            parts = await at_once(*(partial(reader.read_at, i * 1000, 1000) for i in range(100)))
            assert b"".join(parts) == CONTENT[:100_000]
            assert client._under_way == {}

    run(main)


def test_a_reader_reads_many_ranges(run, opened, bucket):
    bucket.put("x", CONTENT)

    async def main():
        async with opened() as client, await client.reader(bucket("x")) as reader:
            ranges = [(5000, 10), (0, 3), (900_000, 70_000), (4990, 30)]
            assert await reader.get_ranges(ranges) == [CONTENT[a:a + n] for a, n in ranges]
            into = [bytearray(n) for _, n in ranges]
            assert await reader.get_ranges(ranges, into) is None
            assert into == [CONTENT[a:a + n] for a, n in ranges]
            into[0] += b"x"  # it is lent no more
            with pytest.raises(dataflux.Error) as caught:
                await reader.get_ranges([(0, 1), (len(CONTENT), 1)])
            assert caught.value.status == "out_of_range"
            with pytest.raises(ValueError, match="^into: "):
                await reader.get_ranges([(0, 1)], [bytearray(2)])
            assert client._under_way == {}

    run(main)


def test_a_cancelled_read_lends_the_memory_no_more(run, opened, bucket, emulator):
    bucket.put("x", CONTENT)

    async def main():
        async with opened() as client, await client.reader(bucket("x")) as reader:
            emulator.faults({"action": "stall", "where": "in_body", "bodyBytes": 10, "count": 0})
            before = emulator.answered()
            memory = bytearray(len(CONTENT))
            into = [bytearray(10), bytearray(10)]
            async with anyio.create_task_group() as group:
                group.start_soon(reader.read_into_at, 0, memory)
                group.start_soon(reader.get_ranges, [(0, 10), (900_000, 10)], into)
                await until(lambda: emulator.answered() > before)
                group.cancel_scope.cancel()
            memory += b"x"  # BufferError while it is lent
            into[0] += b"x"
            into[1] += b"x"
            assert client._under_way == {}

    run(main)


@pytest.mark.parametrize("verb", ["read_into_at", "get_ranges", "read_into"])
def test_a_coroutine_that_is_closed_lends_its_memory_until_the_read_has_ended(opened, bucket, emulator, verb):
    """It cannot wait for that."""
    import asyncio

    bucket.put("x", CONTENT)

    async def main():
        async with opened() as client, await client.reader(bucket("x")) as reader:
            # So that the end of what is cancelled waits for the file's bytes.
            emulator.faults({"action": "stall", "where": "in_body", "bodyBytes": 10, "count": 0})
            before, memory = emulator.answered(), bytearray(len(CONTENT))
            reading = {"read_into_at": lambda: reader.read_into_at(0, memory),
                       "get_ranges": lambda: reader.get_ranges([(0, len(CONTENT))], [memory]),
                       "read_into": lambda: client.read_into(bucket("x"), memory)}[verb]()
            reading.send(None)
            await until(lambda: emulator.answered() > before)
            reading.close()
            with pytest.raises(BufferError):
                memory += b"x"
            await until(lambda: not client._under_way)
            memory += b"x"

    asyncio.run(main())


def test_a_reader_that_is_closed_or_of_nothing_says_so(run, opened, bucket):
    bucket.put("x", b"12345")

    async def main():
        async with opened() as client:
            with pytest.raises(dataflux.NotFoundError):
                await client.reader(bucket("missing"))
            reader = await client.reader(bucket("x"))
            reader.close()
            reader.close()
            with pytest.raises(ValueError, match="closed"):
                await reader.read_at(0, 1)
            with pytest.raises(TypeError, match="^offset: "):
                await reader.read_at("0", 1)

    run(main)


def test_a_writer_commits_when_its_block_ends(run, opened, bucket):
    async def main():
        async with opened() as client:
            async with await client.writer(bucket("x"), content_type="text/plain") as writer:
                assert await writer.write(b"one ") == 4
                assert await writer.write(memoryview(b"two")) == 3
                assert writer.tell() == 7
                assert bucket.get("x") is None
            assert writer.closed and writer.object.content_type == "text/plain"
            assert writer.generation == (await client.stat(bucket("x"))).generation
            with pytest.raises(ValueError, match="committed"):
                await writer.write(b"more")
            await writer.abort()
            assert client._under_way == {}

    run(main)
    assert bucket.get("x") == b"one two"


def test_a_writer_waits_for_room_and_others_go_on(run, opened, bucket):
    """All of upload_memory is in use while it writes."""
    part = b"x" * (1 << 20)

    async def main():
        async with opened(upload_memory=24 << 20) as client:
            async with await client.writer(bucket("big"), part_size=8 << 20) as writer:
                for _ in range(64):
                    await writer.write(part)
            async with await client.writer(bucket("whole"), part_size=8 << 20) as writer:
                assert await writer.write(part * 64) == 64 << 20
            assert (await client.stat(bucket("big"))).size == 64 << 20
            assert (await client.stat(bucket("whole"))).size == 64 << 20

    run(main)


def test_an_exception_aborts_a_writer(run, opened, bucket, emulator):
    bucket.put("x", b"before")
    left = open_uploads(emulator)

    async def main():
        async with opened() as client:
            with pytest.raises(KeyError):
                async with await client.writer(bucket("x"), part_size=8 << 20) as writer:
                    await writer.write(b"x" * (20 << 20))
                    raise KeyError
            assert writer.closed
            with pytest.raises(ValueError, match="aborted"):
                await writer.write(b"more")
            with pytest.raises(ValueError, match="aborted"):
                await writer.commit()

    run(main)
    assert bucket.get("x") == b"before"
    assert open_uploads(emulator) == left


def test_cancelling_aborts_a_writer(run, opened, bucket, emulator):
    bucket.put("x", b"before")

    async def main():
        async with opened(upload_memory=16 << 20) as client:
            emulator.faults({"verb": "objects.insert", "action": "stall", "where": "before_reply",
                             "requestBytes": 1, "count": 0},
                            {"verb": "multipart.part", "action": "stall", "where": "before_reply",
                             "count": 0})
            written = []

            async def write():
                async with await client.writer(bucket("x"), part_size=8 << 20) as writer:
                    for _ in range(100):
                        await writer.write(b"x" * (1 << 20))
                        written.append(writer)

            async with anyio.create_task_group() as group:
                group.start_soon(write)
                await until(lambda: len(written) >= 8)
                emulator.faults()
                group.cancel_scope.cancel()
            assert written[0].closed and written[0].object is None

    run(main)
    assert bucket.get("x") == b"before"


def test_a_cancelled_commit_is_over_and_whole_or_not_at_all(run, opened, bucket, emulator):
    async def main():
        async with opened() as client:
            emulator.faults({"verb": "objects.insert", "action": "stall", "where": "before_reply",
                             "count": 0})
            writers = []

            async def write():
                async with await client.writer(bucket("x"), if_generation_match=0) as writer:
                    writers.append(writer)
                    await writer.write(b"12345")

            before = emulator.answered()
            async with anyio.create_task_group() as group:
                group.start_soon(write)
                await until(lambda: emulator.answered() > before)
                emulator.faults()
                group.cancel_scope.cancel()
            assert writers[0].closed
            with pytest.raises(ValueError):
                await writers[0].commit()
            await client.aclose()
            assert client._under_way == {}

    run(main)
    assert bucket.get("x") in (None, b"12345")


def test_a_writer_is_of_one_task_at_a_time(run, opened, bucket):
    async def main():
        async with opened() as client:
            async with await client.writer(bucket("x")) as writer:
                failures = []

                async def write():
                    try:
                        await writer.write(b"x" * (16 << 20))
                    except dataflux.PreconditionError as why:
                        failures.append(why)

                await at_once(write, write)
                assert len(failures) == 1 and "another task" in str(failures[0])
                assert writer.tell() == 16 << 20

    run(main)


def test_a_writer_that_is_let_go_of_is_aborted_with_a_warning(run, opened, bucket):
    async def main():
        async with opened() as client:
            writer = await client.writer(bucket("x"))
            await writer.write(b"12345")
            with pytest.warns(ResourceWarning, match="never closed"):
                del writer
                gc.collect()

    run(main)
    assert bucket.get("x") is None


def test_a_writer_refuses_what_is_no_bytes_and_what_it_may_not_replace(run, opened, bucket):
    bucket.put("x", b"before")

    async def main():
        async with opened() as client:
            with pytest.raises(TypeError, match="^metadata"):
                await client.writer(bucket("x"), metadata=3)
            writer = await client.writer(bucket("x"), if_generation_match=0)
            with pytest.raises(TypeError, match="^buffer: "):
                await writer.write("text")
            await writer.write(b"it spoils nothing")
            with pytest.raises((dataflux.PreconditionError, dataflux.AlreadyExistsError)):
                await writer.commit()
            assert writer.closed

    run(main)
    assert bucket.get("x") == b"before"
