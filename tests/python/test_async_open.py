"""AsyncClient.open(): files of tasks. Each test runs on all kinds of event loops, and what it reads
is compared with what the blocking file gives."""

import gc
import io
import os
import random
import subprocess
import sys
import weakref
from functools import partial

import pytest

import dataflux
from loops import at_once, run, until  # noqa: F401, a fixture
from test_async_files import open_uploads

anyio = pytest.importorskip("anyio")
CONTENT = random.Random(3).randbytes(3_000_000)


@pytest.fixture
def opened(emulator):
    """Opens an AsyncClient."""
    return partial(dataflux.AsyncClient, **emulator.options)


async def nothing_left(client):
    await until(lambda: client._under_way == {})


def test_a_file_reads_as_the_blocking_one(run, opened, client, bucket):
    bucket.put("x", CONTENT)
    chance = random.Random(7)
    steps = []
    for _ in range(300):
        steps.append(chance.choice([
            ("read", chance.choice([0, 1, 1000, 70_000, 200_000])),
            ("readinto", chance.choice([1, 1000, 200_000])), ("readline",), ("readline", 7),
            ("read1", 5000), ("tell",),
            ("seek", chance.randrange(len(CONTENT) + 1000)), ("seek", -1000, io.SEEK_END)]))
    steps += [("seek", 5), ("readlines", 100_000), ("tell",), ("read",), ("read",), ("tell",),
              ("seek", 0), ("read", None)]
    with client.open(bucket("x")) as file:
        wanted = []
        for name, *arguments in steps:
            if name == "read1":  # how much comes at once is the file's affair
                name = "read"
            if name == "readinto":
                memory = bytearray(arguments[0])
                wanted.append((file.readinto(memory), memory))
            else:
                wanted.append(getattr(file, name)(*arguments))

    async def main():
        async with opened() as client, await client.open(bucket("x")) as file:
            for (name, *arguments), right in zip(steps, wanted):
                if name == "readinto":
                    memory = bytearray(arguments[0])
                    assert (await file.readinto(memory), memory) == right
                    memory += b"x"  # it is lent no more
                elif name == "read1":
                    part = await file.read1(*arguments)
                    assert part == right[:len(part)] and (part or not right)
                    await file.seek(len(right) - len(part), io.SEEK_CUR)
                else:
                    assert await getattr(file, name)(*arguments) == right, name

    run(main)


def test_a_file_tells_what_it_is(run, opened, bucket):
    bucket.put("x", b"one\ntwo\n\nlast")

    async def main():
        async with opened() as client:
            async with await client.open(bucket("x")) as file:
                assert (file.name, file.url, file.mode) == (bucket("x"), bucket("x"), "rb")
                assert file.generation == (await client.stat(bucket("x"))).generation
                assert (file.readable(), file.writable(), file.seekable()) == (True, False, True)
                assert file.size == 13 and not file.closed and not file.isatty()
                assert [line async for line in file] == [b"one\n", b"two\n", b"\n", b"last"]
                with pytest.raises(io.UnsupportedOperation):
                    file.fileno()
                assert await file.read_at(4, 3) == b"two"
                assert await file.get_ranges([(0, 3), (9, 4)]) == [b"one", b"last"]
                memory = bytearray(3)
                assert await file.read_into_at(4, memory) == 3 and memory == b"two"
                with pytest.raises(ValueError, match="^whence: "):
                    await file.seek(0, 3)
                with pytest.raises(OSError, match="offset: "):
                    await file.seek(-1)
                with pytest.raises(TypeError, match="^buffer: "):
                    await file.readinto(b"12345")
            assert file.closed
            await file.aclose()
            for call in (file.read, file.tell, file.readline, partial(file.seek, 0), file.__anext__):
                with pytest.raises(ValueError, match="closed"):
                    await call()
            with pytest.raises(ValueError, match="closed"):
                file.readable()
            with pytest.raises(FileNotFoundError):
                await client.open(bucket("missing"))

    run(main)


def test_a_small_object_costs_two_requests(run, opened, bucket, emulator):
    bucket.put("small", bytes(16_384))

    async def main():
        async with opened() as client:
            costs = []
            for _ in range(10):
                before = emulator.answered()
                async with await client.open(bucket("small")) as file:
                    assert len(await file.read()) == 16_384
                costs.append(emulator.answered() - before)
            assert min(costs) == 2  # a machine that is busy may ask once more

    run(main)


def test_reading_in_sequence_reads_ahead_and_each_byte_once(run, opened, bucket, emulator):
    content = CONTENT * 13
    bucket.put("long", content)

    async def main():
        costs = []
        while len(costs) < 5 and min(costs, default=len(content) * 2) > len(content) * 1.3:
            async with opened() as client, await client.open(bucket("long")) as file:
                before = emulator.counters()["replyBodyBytes"]
                read = bytearray()
                while part := await file.read(256 << 10):
                    read += part
                    if len(read) == 1 << 20:  # what is behind it is on its way although nobody asks
                        assert file._ahead._chunks[-1].end >= 4 << 20
                assert read == content
                costs.append(emulator.counters()["replyBodyBytes"] - before)
                await nothing_left(client)
        # A machine that is busy may ask for some of it once more.
        assert len(content) <= min(costs) < len(content) * 1.3

    run(main)


def test_read_ahead_ends_with_the_file_and_elsewhere(run, opened, bucket):
    bucket.put("long", bytes(24 << 20))

    async def main():
        async with opened() as client:
            async def begun(**how):
                file = await client.open(bucket("long"), **how)
                for _ in range(4):
                    await file.read(256 << 10)
                return file

            file = await begun()
            assert client._under_way
            await file.seek(0)
            await file.read(1)
            assert not file._ahead._chunks
            await nothing_left(client)
            file = await begun()
            await file.close()
            await nothing_left(client)
            file = await begun()
            del file
            gc.collect()
            await nothing_left(client)
            file = await begun(read_ahead=0)
            assert not file._ahead._chunks
            await file.close()

    run(main)


def test_a_cancelled_read_leaves_the_file_where_it_was(run, opened, bucket, emulator):
    content = CONTENT * 12
    bucket.put("x", content)

    async def main():
        async with opened() as client, await client.open(bucket("x"), read_ahead=4 << 20) as file:
            for in_sequence in (False, True):
                for _ in range(8 if in_sequence else 1):
                    await file.read(1 << 20)
                at = await file.tell()
                emulator.faults({"action": "stall", "where": "in_body", "bodyBytes": 10, "count": 0})
                memory = bytearray(16 << 20)
                for read in (partial(file.readinto, memory), file.read):
                    before = emulator.answered()
                    async with anyio.create_task_group() as group:
                        group.start_soon(read)
                        await until(lambda: emulator.answered() > before)
                        group.cancel_scope.cancel()
                memory += b"x"  # BufferError while it is lent
                await nothing_left(client)
                emulator.faults()
                assert await file.tell() == at
                assert await file.read(1000) == content[at:at + 1000]

    run(main)


def test_a_file_is_of_one_task_at_a_time_and_of_any_number_for_ranges(run, opened, bucket, emulator):
    bucket.put("x", CONTENT)

    async def main():
        async with opened() as client, await client.open(bucket("x")) as file:
            refused = []

            async def read():
                try:
                    assert await file.read(1_000_000) == CONTENT[:1_000_000]
                except dataflux.PreconditionError as why:
                    refused.append(why)

            await at_once(read, read)
            assert len(refused) == 1 and "another task" in str(refused[0])
            assert await file.tell() == 1_000_000
            parts = await at_once(*(partial(file.read_at, i * 1000, 1000) for i in range(50)))
            assert b"".join(parts) == CONTENT[:50_000]

    run(main)


@pytest.mark.parametrize("mode", ["rb", "r"])
def test_closing_a_file_ends_the_read_of_another_task(run, opened, bucket, emulator, mode):
    """One that waits for what is read ahead, and one that waits for itself."""
    bucket.put("x", bytes(32 << 20))

    async def main():
        async with opened() as client:
            for ahead in (True, False):
                file = await client.open(bucket("x"), mode)
                stalled, failures = [], []

                def stall():
                    emulator.faults({"action": "stall", "where": "in_body", "bodyBytes": 10,
                                     "count": 0})
                    stalled.append(emulator.answered())

                async def read():
                    try:
                        while await file.read(1 << 20):
                            if file._ahead._chunks and not stalled:
                                stall()
                    except Exception as why:
                        failures.append(why)

                if not ahead:
                    stall()
                async with anyio.create_task_group() as group:
                    group.start_soon(read)
                    await until(lambda: stalled and emulator.answered() > stalled[0])
                    await file.close()
                # As a file of threads says it.
                assert [(type(why), str(why)) for why in failures] == \
                    [(ValueError, "I/O operation on closed file.")]
                emulator.faults()
                await nothing_left(client)

    run(main)


def test_an_end_of_one_call_ends_no_later_one(opened, bucket, emulator):
    """What a thread's call has used, its next call uses again, be that of another file."""
    import asyncio

    from dataflux._handles import cancel

    bucket.put("x", CONTENT)

    async def main():
        async with opened() as client:
            one, other = [await client.open(bucket("x")) for _ in range(2)]
            emulator.faults({"action": "delay", "ms": 100, "count": 0})
            reading = asyncio.ensure_future(one.read())
            await until(lambda: one._client._under_way)
            entries = list(one._client._under_way.values())  # so far whoever ends it has come
            await reading
            reading = asyncio.ensure_future(other.read())
            await until(lambda: other._client._under_way)
            for entry in entries:
                cancel(*entry)
            assert await reading == CONTENT

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["rb", "r"])
def test_short_reads_of_what_is_there_begin_no_thread(run, opened, bucket, monkeypatch, mode):
    bucket.put("x", b"line ends\n" * 50_000)

    def text(content):
        return content.decode() if mode == "r" else content

    async def main():
        async with opened() as client, await client.open(bucket("x"), mode) as file:
            assert await file.read(10) == text(b"line ends\n")
            with monkeypatch.context() as without:
                without.delattr("dataflux._threads.use")
                for _ in range(1000):
                    assert await file.read(4) == text(b"line")
                    assert await file.readline(3) == text(b" en")
                    assert await file.readline() == text(b"ds\n")
                    assert await file.__anext__() == text(b"line ends\n")
                place = await file.tell()
                assert await file.seek(place) == place
                if mode == "rb":
                    memory = bytearray(5)
                    assert (await file.readinto(memory), memory) == (5, b"line ")
                    assert b"ends\nline".startswith((await file.read1(9))[:9])
                await file.seek(5)
                assert await file.readline() == text(b"ends\n")
            await file.seek(0)
            lines = [line async for line in file]
            assert len(lines) == 50_000 and set(lines) == {text(b"line ends\n")}

    run(main)


@pytest.mark.parametrize("mode", ["rb", "r"])
def test_a_place_between_lines_reads_no_line_again_and_asks_nobody(run, opened, client, bucket, mode):
    content = "".join(f"line {i}\n" * (1 + i % 3) for i in range(2000)).encode()
    bucket.put("x", content)
    with client.open(bucket("x"), mode) as file:
        places = [file.tell() for _ in iter(file.readline, content[:0] if mode == "rb" else "")]

    async def main():
        async with opened() as client, await client.open(bucket("x"), mode) as file:
            read, plain = 0, file._file.readline

            def readline(*arguments):
                nonlocal read
                read += 1
                return plain(*arguments)

            file._file.readline = readline
            found = []
            async for _ in file:
                found.append(await file.tell())
            assert found == places
            assert read <= 3 * len(places)
            # Where few are asked for, those between are read once more at most.
            await file.seek(0)
            read, number = 0, 0
            async for _ in file:
                number += 1
                if number % 700 == 0:
                    assert await file.tell() == places[number - 1]
            assert read <= 3 * len(places)
            # What was read is kept: the object may be gone.
            await file.seek(0)
            for _ in range(10):
                await file.__anext__()
            await client.delete(bucket("x"))
            assert await file.tell() == places[9]

    run(main)


def test_many_files_that_are_read_at_once_share_a_few_threads(bucket, emulator):
    bucket.put("x", CONTENT)
    program = """
import asyncio, resource, sys, dataflux
from service import options_of
async def main():
    async with dataflux.AsyncClient(**options_of(sys.argv[2]), max_connections_per_host=16,
                                    io_threads=1) as client:
        files = [await client.open(sys.argv[1]) for _ in range(400)]
        parts = await asyncio.gather(*[file.read(10) for file in files])
        print(len(parts), set(map(len, parts)))
        reading = [asyncio.ensure_future(file.read()) for file in files]
        await asyncio.sleep(0)
        for read in reading[::2]:
            read.cancel()
        ends = await asyncio.gather(*reading, return_exceptions=True)
        print({type(end).__name__ for end in ends[::2]}, {len(end) for end in ends[1::2]})
        for file in files:
            await file.close()
        await client.aclose()
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", program, bucket("x"),
                           emulator.endpoint], capture_output=True, text=True, timeout=120)
    assert done.stdout == "400 {10}\n" f"{{'CancelledError'}} {{{len(CONTENT) - 10}}}\n", done.stderr


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize("mode", ["rb", "r"])
def test_an_interrupt_leaves_a_file_of_tasks_where_it_was(opened, bucket, mode, only_new, monkeypatch):
    """Wherever between two bytecodes it comes, as where run_until_complete() runs the task."""
    import asyncio

    from dataflux import _threads
    from interrupts import interrupted_at

    use, kept = _threads.use, []

    def kept_by_the_thread(*call):
        kept.append(call)
        use(*call)

    monkeypatch.setattr(_threads, "use", kept_by_the_thread)

    every = [b"line %3d\n" % i for i in range(200)]
    content = b"".join(every)
    bucket.put("x", content)
    loop, client = asyncio.new_event_loop(), opened()

    async def lines(file):
        return [await file.__anext__() for _ in range(3)]

    async def whole(file):
        if work is goes_by_lines:
            line = await file.readline()
            assert await file.tell() == 9 * (1 + every.index(line if mode == "rb" else line.encode()))
        await file.seek(0)
        return await file.read()

    goes_by_lines = partial(lines)
    for work in (goes_by_lines, lambda file: file.read(50), lambda file: file.readline()):
        number, came = 1, True
        while came:
            file = loop.run_until_complete(client.open(bucket("x"), mode))
            came = interrupted_at(number, lambda: loop.run_until_complete(work(file)),
                                  ("_async_files.py", "_loops.py"))
            # The task has its exception, and that has the task's frames.
            loop.run_until_complete(asyncio.sleep(0))
            gc.collect()
            read = loop.run_until_complete(whole(file))
            assert read == (content if mode == "rb" else content.decode()), number
            loop.run_until_complete(file.close())
            loop.run_until_complete(nothing_left(client))
            kept.clear()
            number += 1
        assert number > 100
    client.close()
    loop.close()


def test_answers_in_place_let_other_tasks_go_on(run, opened, bucket):
    bucket.put("x", b"a line\n" * 1000)

    async def endless(file, some):
        for _ in range(300_000):  # far more than there is time for
            await file.seek(0)
            await some(file)

    async def main():
        async with opened() as client, await client.open(bucket("x")) as file:
            for some in (lambda file: file.readline(), lambda file: file.read(3), lambda file: file.__anext__()):
                await file.read()
                with anyio.move_on_after(0.1) as passed:
                    await endless(file, some)
                assert passed.cancelled_caught
                await file.seek(0)
                assert await file.readline() == b"a line\n"

    run(main)


def test_a_thread_keeps_nothing_of_a_call_that_has_ended(run, opened, bucket):
    class Memory(bytearray):
        pass  # it can be referred to weakly

    bucket.put("x", CONTENT)

    async def main():
        async with opened() as client:
            memory = Memory(len(CONTENT))
            async with await client.open(bucket("x")) as file:
                assert await file.readinto(memory) == len(CONTENT)
            kept = weakref.ref(memory)
            del memory, file
            for _ in range(3):  # by threads that are used again
                async with await client.open(bucket("x")) as file:
                    await file.read()
            gc.collect()
            assert kept() is None

    run(main)


def test_a_file_goes_on_in_another_event_loop(opened, bucket):
    import asyncio

    content = CONTENT * 8
    bucket.put("x", content)
    client = opened()

    async def first():
        file = await client.open(bucket("x"))
        for _ in range(8):
            await file.read(1 << 20)
        return file

    async def second(file):
        assert await file.read() == content[8 << 20:]
        await file.close()

    file = asyncio.run(first())
    assert file._ahead._chunks
    asyncio.run(second(file))
    client.close()


def test_a_forked_child_reads_on(bucket, emulator):
    bucket.put("x", CONTENT * 8)
    program = """
import asyncio, logging, os, sys, warnings, dataflux
from service import options_of
logging.getLogger("asyncio").setLevel(logging.ERROR)  # how long a callback took is no matter
warnings.simplefilter("ignore", DeprecationWarning)  # of fork with threads
client = dataflux.AsyncClient(**options_of(sys.argv[2]))
async def first():
    file = await client.open(sys.argv[1])
    for _ in range(8):
        await file.read(1 << 20)
    return file
async def rest(file):
    return len(await file.read())
file = asyncio.run(first())
child = os.fork()
number = asyncio.run(rest(file))
if child == 0:
    os._exit(0 if number == 24_000_000 - (8 << 20) else 1)
print(number, os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", program, bucket("x"),
                           emulator.endpoint], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (f"{24_000_000 - (8 << 20)} 0\n", "")


@pytest.mark.parametrize("mode", ["rb", "r"])
def test_lines_and_other_calls_follow_each_other(run, opened, client, bucket, mode):
    """Lines are read many at a time; what is asked for between them goes on behind the last that was
    given."""
    bucket.put("x", "".join(f"line {i} ä\n" * (1 + i % 3) for i in range(20_000)).encode())
    chance = random.Random(11)
    steps = [(chance.choice([0, 1, 2, 700, 9000]), chance.choice(["tell", "readline", "read", "back"]))
             for _ in range(12)]
    with client.open(bucket("x"), mode) as file:
        wanted = []
        for lines, then in steps:
            wanted.append([file.readline() for _ in range(lines)])
            if then == "back":
                file.seek(file.tell())
            wanted.append(file.read(100) if then == "read" else file.readline())
        wanted.append(file.read())

    async def main():
        async with opened() as client, await client.open(bucket("x"), mode) as file:
            got = []
            for lines, then in steps:
                some = []
                while len(some) < lines:
                    try:
                        some.append(await file.__anext__())
                    except StopAsyncIteration:
                        some += [await file.readline()] * (lines - len(some))
                got.append(some)
                if then == "back":
                    await file.seek(await file.tell())
                elif then == "tell":
                    await file.tell()
                got.append(await (file.read(100) if then == "read" else file.readline()))
            got.append(await file.read())
            assert got == wanted

    run(main)


def test_lines_before_one_that_fails_are_given(run, opened, bucket):
    bucket.put("x", b"good\n" * 30_000 + b"\xff bad\n")

    async def main():
        async with opened() as client, await client.open(bucket("x"), "r") as file:
            lines = []
            for _ in range(2):
                with pytest.raises(UnicodeDecodeError):
                    async for line in file:
                        lines.append(line)
            place = await file.tell()
            assert place == 5 * len(lines) and set(lines) == {"good\n"}
            # What is decoded at a time is some KiB: what stands in those with the bad byte is not given.
            assert 30_000 - len(lines) < 5000

    run(main)


def test_behind_a_byte_that_is_no_text_a_file_goes_elsewhere(run, opened, bucket):
    """A block of lines ends where one fails; what is read at a time from within the block has the byte."""
    bucket.put("x", b"good\n" * 2000 + b"\xff bad\n")

    async def main():
        async with opened() as client, await client.open(bucket("x"), "r") as file:
            for number in (1, 100, 1100, 1600):
                for place in ((0, io.SEEK_END), (0,)):
                    for _ in range(number):
                        assert await file.__anext__() == "good\n"
                    await file.seek(*place)
                    assert await file.tell() == (0 if place == (0,) else 10_006)
                    await file.seek(0)

    run(main)


def test_a_coroutine_that_is_closed_in_a_read_stops_it(opened, bucket, emulator):
    """It cannot wait for its end; what is asked for next does."""
    import asyncio

    bucket.put("x", CONTENT)

    async def main():
        async with opened() as client, await client.open(bucket("x")) as file:
            emulator.faults({"action": "stall", "where": "in_body", "bodyBytes": 10, "count": 0})
            before, memory = emulator.answered(), bytearray(1 << 20)
            reading = file.readinto(memory)
            reading.send(None)
            await until(lambda: emulator.answered() > before)
            reading.close()
            await nothing_left(client)
            emulator.faults()
            assert await file.read(1000) == CONTENT[:1000]
            memory += b"x"  # BufferError while it is lent

    asyncio.run(main())


def test_a_file_that_is_read_is_let_go_of_with_its_event_loop(opened, bucket, emulator):
    import asyncio

    bucket.put("x", CONTENT)
    client = opened()

    async def read():
        file = await client.open(bucket("x"))
        emulator.faults({"action": "stall", "where": "in_body", "bodyBytes": 10, "count": 0})
        before.append(emulator.answered())
        await file.read()

    before = []
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)  # it says that a task was pending
    task = loop.create_task(read())
    loop.run_until_complete(until(lambda: before and emulator.answered() > before[0]))
    loop.close()
    del task, loop
    gc.collect()
    asyncio.run(nothing_left(client))
    client.close()


# -- Writing ---------------------------------------------------------------------------------------


def test_a_file_commits_when_its_block_ends_and_not_before(run, opened, bucket):
    async def main():
        async with opened() as client:
            async with await client.open(bucket("x"), "wb", content_type="text/csv") as file:
                assert (file.readable(), file.writable(), file.seekable(), file.mode) == (
                    False, True, False, "wb")
                assert await file.write(b"12") == 2 and await file.tell() == 2
                assert await file.write(memoryview(CONTENT)) == len(CONTENT)
                await file.writelines([b"a", b"b"])
                assert await file.tell() == len(CONTENT) + 4
                assert file.object is None and file.generation == 0
                await file.flush()
                assert bucket.get("x") is None
                with pytest.raises(io.UnsupportedOperation):
                    await file.seek(0)
                with pytest.raises(io.UnsupportedOperation):
                    file.fileno()
                with pytest.raises(TypeError, match="^buffer: "):
                    await file.write("text")  # which spoils nothing
            assert file.closed and file.object.content_type == "text/csv"
            assert file.generation == (await client.stat(bucket("x"))).generation
            await file.close()
            await file.abort()
            for call in (partial(file.write, b"1"), file.flush, file.tell, file.commit,
                         file.__aenter__):
                with pytest.raises(ValueError):
                    await call()
            assert client._under_way == {}

    run(main)
    assert bucket.get("x") == b"12" + CONTENT + b"ab"


def test_close_commits_and_so_does_commit(run, opened, bucket):
    async def main():
        async with opened() as client:
            file = await client.open(bucket("x"), "wb")
            await file.write(b"1")
            await file.close()
            assert file.object.size == 1
            file = await client.open(bucket("y"), "wb")
            assert (await file.commit()).size == 0 and file.closed

    run(main)
    assert (bucket.get("x"), bucket.get("y")) == (b"1", b"")


def test_an_exception_keeps_what_was_there(run, opened, bucket, emulator):
    bucket.put("x", b"before")
    left = open_uploads(emulator)

    async def main():
        async with opened() as client:
            with pytest.raises(KeyError):
                async with await client.open(bucket("x"), "wb", part_size=8 << 20) as file:
                    await file.write(bytes(20 << 20))
                    raise KeyError
            assert file.closed and file.object is None
            file = await client.open(bucket("x"), "wb")
            with pytest.warns(RuntimeWarning, match="not committed: .*KeyError"), \
                    pytest.raises(KeyError):
                try:
                    await file.write(b"half")
                    raise KeyError
                finally:
                    await file.close()
            assert file.closed and file.object is None
            file = await client.open(bucket("x"), "wb")
            await file.write(b"half")
            await file.abort()
            await file.close()
            assert client._under_way == {}

    run(main)
    assert bucket.get("x") == b"before"
    assert open_uploads(emulator) == left


def test_an_exception_that_was_handled_before_it_was_opened_is_no_reason(run, opened, bucket):
    async def main():
        async with opened() as client:
            try:
                raise KeyError
            except KeyError:
                file = await client.open(bucket("x"), "w")
                await file.write("whole")
                await file.close()
            try:
                file = await client.open(bucket("y"), "wb")
                raise KeyError
            except KeyError:
                await file.write(b"whole")
                await file.commit()

    run(main)
    assert (bucket.get("x"), bucket.get("y")) == (b"whole", b"whole")


@pytest.mark.parametrize("mode, part", [("wb", bytes(1 << 20)), ("w", "x" * (1 << 20))])
def test_a_cancelled_task_keeps_what_was_there(run, opened, bucket, emulator, mode, part):
    bucket.put("x", b"before")

    async def main():
        async with opened(upload_memory=16 << 20) as client:
            emulator.faults({"verb": "objects.insert", "action": "stall", "where": "before_reply",
                             "requestBytes": 1, "count": 0},
                            {"verb": "multipart.part", "action": "stall", "where": "before_reply",
                             "count": 0})
            written = []

            async def write():
                async with await client.open(bucket("x"), mode, part_size=8 << 20) as file:
                    for _ in range(100):
                        await file.write(part)
                        written.append(file)

            async with anyio.create_task_group() as group:
                group.start_soon(write)
                await until(lambda: len(written) >= 8)
                emulator.faults()
                group.cancel_scope.cancel()
            assert written[0].closed and written[0].object is None

    run(main)
    assert bucket.get("x") == b"before"


def test_a_cancelled_write_spoils_the_file(run, opened, bucket, emulator):
    bucket.put("x", b"before")

    async def main():
        async with opened(upload_memory=16 << 20) as client:
            emulator.faults({"verb": "multipart.part", "action": "stall", "where": "before_reply",
                             "count": 0})
            file = await client.open(bucket("x"), "wb", part_size=8 << 20)
            async with anyio.create_task_group() as group:
                group.start_soon(file.write, bytes(100 << 20))
                await until(lambda: file._writer.tell() >= 8 << 20)
                group.cancel_scope.cancel()
            emulator.faults()
            with pytest.raises(dataflux.PreconditionError, match="cannot be committed"):
                await file.close()
            assert file.closed

    run(main)
    assert bucket.get("x") == b"before"


@pytest.mark.parametrize("mode, part", [("wb", b"12345"), ("w", "12345")])
def test_a_file_that_is_let_go_of_is_aborted_with_a_warning(run, opened, bucket, mode, part):
    async def main():
        async with opened() as client:
            file = await client.open(bucket("x"), mode)
            await file.write(part)
            with pytest.warns(ResourceWarning, match="never closed"):
                del file
                gc.collect()

    run(main)
    assert bucket.get("x") is None


@pytest.mark.parametrize("end", ["pass", "raise SystemExit(0)"])
def test_a_file_that_is_open_at_the_end_is_aborted_with_a_warning(bucket, emulator, end):
    left = open_uploads(emulator)
    program = f"""
import asyncio, logging, sys, dataflux
from service import options_of
logging.getLogger("asyncio").setLevel(logging.ERROR)
client = dataflux.AsyncClient(**options_of(sys.argv[2]))
async def main():
    global file
    file = await client.open(sys.argv[1], "wb", part_size=8 << 20)
    await file.write(bytes(20 << 20))
asyncio.run(main())
{end}
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program, bucket("x"),
                           emulator.endpoint], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and bucket.get("x") is None
    assert done.stderr.count("never closed") == done.stderr.count("ResourceWarning: gs://") == 1
    assert open_uploads(emulator) == left


def test_a_generator_that_is_closed_in_the_block_aborts(run, opened, bucket):
    bucket.put("x", b"before")

    async def main():
        async with opened() as client:
            async def writing():
                async with await client.open(bucket("x"), "wb") as file:
                    await file.write(b"half")
                    yield file

            generator = writing()
            file = await generator.__anext__()
            await generator.aclose()
            assert file.closed and file.object is None
            await client.aclose()

    run(main)
    assert bucket.get("x") == b"before"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_block_that_ends_with_its_closed_event_loop_aborts(opened, bucket):
    """Its coroutine is closed, where nothing can be waited for."""
    import asyncio

    bucket.put("x", b"before")
    client, files = opened(), []

    async def write():
        async with await client.open(bucket("x"), "wb") as file:
            await file.write(b"half")
            files.append(file)
            await asyncio.Event().wait()

    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)  # it says that a task was pending
    task = loop.create_task(write())
    loop.run_until_complete(until(lambda: files))
    loop.close()
    del task, loop
    gc.collect()
    assert files[0].closed and files[0].object is None
    client.close()
    assert bucket.get("x") == b"before"


def test_x_writes_where_nothing_is(run, opened, bucket):
    bucket.put("x", b"before")

    async def main():
        async with opened() as client:
            for mode in ("x", "xb"):
                with pytest.raises(FileExistsError) as why:
                    await client.open(bucket("x"), mode)
                assert why.value.filename == bucket("x")
            async with await client.open(bucket("y"), "xb") as file:
                await file.write(b"new")
            file = await client.open(bucket("late"), "x")
            await file.write("late")
            bucket.put("late", b"early")
            with pytest.raises(FileExistsError):
                await file.close()
            assert file.closed
            bucket.put("w", b"old")
            file = await client.open(bucket("w"), "wb")
            bucket.put("w", b"early")
            with pytest.raises(dataflux.PreconditionError):
                await file.close()
            assert file.closed

    run(main)
    assert [bucket.get(name) for name in ("x", "y", "late", "w")] == \
        [b"before", b"new", b"early", b"early"]


@pytest.mark.parametrize("mode, how, kind, text", [
    ("ab", {}, ValueError, "mode: .*appended"), ("r+b", {}, ValueError, "mode: .*in place"),
    ("", {}, ValueError, "mode: "), (5, {}, TypeError, "mode: "),
    ("rb", {"encoding": "utf-8"}, ValueError, "encoding: "),
    ("wb", {"newline": ""}, ValueError, "newline: "),
    ("rb", {"metadata": {}}, TypeError, "metadata: "),
    ("wb", {"generation": 1}, TypeError, "generation: "),
    ("rb", {"block": "big"}, TypeError, "block: "),
    ("rb", {"read_ahead": -1}, ValueError, "read_ahead: "),
    ("wb", {"timeout": "1"}, TypeError, "timeout: "),
    ("wb", {"part_size": 1.5}, TypeError, "part_size: "),
    ("xb", {"if_generation_match": 7}, ValueError, "if_generation_match: "),
    ("r", {"encoding": "no-such-encoding"}, LookupError, ""),
    ("w", {"encoding": "no-such-encoding"}, LookupError, ""),
    ("w", {"newline": "x"}, ValueError, ""),
    ("wb", {"content_type": 7}, TypeError, "content_type: ")])
def test_bad_arguments_are_named_before_any_request(run, opened, bucket, emulator, mode, how, kind,
                                                    text):
    async def main():
        async with opened() as client:
            before = emulator.answered()
            with pytest.raises(kind, match="^" + text):
                await client.open(bucket("any"), mode, **how)
            assert emulator.answered() == before

    run(main)


# -- Text ------------------------------------------------------------------------------------------


SAMPLE = "größer\nzwei\r\ndrei\rvier\n\n€\U0001F600 fünf\r\n" + "long " * 5000 + "\r\nlast\r"


@pytest.mark.parametrize("newline", [None, "", "\n", "\r", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-8-sig", "latin-1"])
def test_text_reads_as_the_blocking_file(opened, client, bucket, encoding, newline):
    import asyncio

    content = (SAMPLE * 3).encode(encoding, "replace")
    bucket.put("text", content)
    how = {"encoding": encoding, "newline": newline}
    chance = random.Random(5)
    steps = [chance.choice([("read", 1), ("read", 7), ("read", 9000), ("readline",),
                            ("readline", 3), ("readlines", 50)]) for _ in range(40)]
    steps += [("read",), ("read",)]
    with client.open(bucket("text"), "r", **how) as file:
        wanted = [getattr(file, name)(*arguments) for name, *arguments in steps]
        file.seek(0)
        lines = list(file)

    async def main():
        async with opened() as client, await client.open(bucket("text"), "r", **how) as file:
            assert (file.mode, file.encoding, file.url) == ("r", encoding, bucket("text"))
            places = []
            for (name, *arguments), right in zip(steps, wanted):
                places.append(await file.tell())
                assert await getattr(file, name)(*arguments) == right
            # Each place is found again, from anywhere.
            order = list(enumerate(places))
            chance.shuffle(order)
            for i, place in order:
                assert await file.seek(place) == place
                assert await file.tell() == place
                name, *arguments = steps[i]
                assert await getattr(file, name)(*arguments) == wanted[i]
            await file.seek(0)
            assert [line async for line in file] == lines
            assert await file.seek(0, io.SEEK_END) == len(content)
            assert await file.read() == ""
            with pytest.raises(io.UnsupportedOperation):
                await file.seek(1, io.SEEK_CUR)

    asyncio.run(main())


def test_text_in_places_of_bytes(run, opened, bucket):
    """In UTF-8 a place between lines is the number of the byte, as of the blocking file."""
    bucket.put("text", "größer\nzwei\n".encode())

    async def main():
        async with opened() as client, await client.open(bucket("text"), "r") as file:
            assert await file.tell() == 0
            assert await file.readline() == "größer\n"
            assert await file.tell() == len("größer\n".encode())
            assert [line async for line in file] == ["zwei\n"]
            assert file.newlines == "\n"

    run(main)


@pytest.mark.parametrize("how, text", [
    ({}, "größer\n"), ({"encoding": "utf-16"}, "größer\n"), ({"encoding": "utf-8-sig"}, "größer\n"),
    ({"encoding": "latin-1", "errors": "replace", "newline": "\r\n"}, "ä€\n")])
def test_text_is_written_as_by_the_blocking_file(run, opened, client, bucket, how, text):
    with client.open(bucket("right"), "w", **how) as file:
        file.write(text)
        file.write("zwei")

    async def main():
        async with opened() as client:
            async with await client.open(bucket("text"), "w", **how) as file:
                assert await file.write(text) == len(text)
                assert await file.tell() == len(bucket.get("right")) - len("zwei".encode(
                    how.get("encoding", "utf-8").removesuffix("-sig").replace("16", "16-le")))
                await file.writelines(["zwei"])
                with pytest.raises(TypeError):
                    await file.write(b"bytes")
                with pytest.raises(io.UnsupportedOperation):
                    await file.seek(0)
            assert file.closed and file.object.size == len(bucket.get("right"))

    run(main)
    assert bucket.get("text") == bucket.get("right")


def test_text_that_is_none_of_its_encoding_leaves_the_file_where_it_was(run, opened, bucket):
    bucket.put("text", b"good\n" * 2000 + b"\xff bad")

    async def main():
        async with opened() as client, await client.open(bucket("text"), "r") as file:
            for _ in range(3):
                with pytest.raises(UnicodeDecodeError):
                    await file.read()
                assert await file.tell() == 0
            assert await file.readline() == "good\n"
            with pytest.raises(UnicodeDecodeError):
                await file.readlines()
            assert await file.tell() == 5
            async with await client.open(bucket("new"), "w", encoding="ascii") as other:
                with pytest.raises(UnicodeEncodeError):
                    await other.write("ä")
                await other.write("a")

    run(main)
    assert bucket.get("new") == b"a"


def test_a_cancelled_read_of_text_leaves_the_file_where_it_was(run, opened, bucket, emulator):
    content = ("ä" * 50 + "\n") * 40_000
    bucket.put("text", content.encode())

    async def main():
        async with opened() as client, await client.open(bucket("text"), "r") as file:
            assert await file.readline() == "ä" * 50 + "\n"
            emulator.faults({"action": "stall", "where": "in_body", "bodyBytes": 10, "count": 0})
            for read in (file.read, file.readlines):
                before = emulator.answered()
                async with anyio.create_task_group() as group:
                    group.start_soon(read)
                    await until(lambda: emulator.answered() > before)
                    group.cancel_scope.cancel()
            emulator.faults()
            assert await file.tell() == 101
            assert await file.read() == content[51:]
            await nothing_left(client)

    run(main)


def test_the_interpreter_ends_while_a_task_reads_a_file(emulator, bucket):
    bucket.put("x", bytes(1 << 20))
    program = """
import asyncio, sys
import dataflux
from service import options_of
async def main():
    client = dataflux.AsyncClient(**options_of(sys.argv[2]))
    file = await client.open(sys.argv[1], "rb")
    read = asyncio.ensure_future(file.read())
    await asyncio.sleep(0.2)
    print("leaves", flush=True)
    global kept
    kept = client, file, read
loop = asyncio.new_event_loop()
loop.run_until_complete(main())
"""
    emulator.faults({"verb": "objects.media", "action": "stall", "where": "in_body", "bodyBytes": 10,
                     "count": 0})
    done = subprocess.run([sys.executable, "-c", program, bucket("x"), emulator.endpoint],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "leaves\n", done.stderr
