"""AsyncClient and its event loops: how they begin, end, are interrupted, and live beside each other.
What is about a process's end runs in one of its own, with -X dev -W error, and says nothing."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import weakref
from functools import partial

import pytest

import dataflux
from dataflux import _loop_asyncio

STALL = {"action": "stall", "where": "before_reply", "count": 0}


@pytest.fixture
def opened(emulator):
    """Opens an AsyncClient."""
    return partial(dataflux.AsyncClient, **emulator.options)


def until(true):
    """A coroutine that ends once true() is."""
    async def wait():
        while not true():
            await asyncio.sleep(0.005)
    return asyncio.wait_for(wait(), 30)


def begun(client, number):
    return lambda: len(client._under_way) == number


def ended(client):
    """Waits until nothing is under way; what was left is let go of on a thread."""
    deadline = threading.Event()
    for _ in range(3000):
        gc.collect()
        if not client._under_way:
            return True
        deadline.wait(0.01)
    return False


PROGRAM = """
import asyncio, logging, sys, dataflux
from service import options_of
# How long a callback took is a matter of the machine; what was forgotten is told as an error.
logging.getLogger("asyncio").setLevel(logging.ERROR)
url = sys.argv[1]
client = dataflux.AsyncClient(**options_of(sys.argv[2]))
"""


def start(text, bucket, emulator, *options):
    """A Python program of its own."""
    return subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "error", *options, "-c",
         PROGRAM + textwrap.dedent(text), bucket("x"), emulator.endpoint],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(process):
    try:
        out, told = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, out, told


@pytest.mark.skipif(sys.version_info < (3, 11), reason="TaskGroup is of Python 3.11")
def test_a_task_group_takes_calls_and_cancels_them(opened, bucket, emulator):
    bucket.put("x", b"12345")
    bucket.put("slow")
    emulator.faults({**STALL, "object": "slow"})

    async def main():
        async with opened() as client:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(client.stat(bucket("x"))) for _ in range(5)]
            assert [task.result().size for task in tasks] == [5] * 5
            with pytest.raises(ExceptionGroup) as caught:  # noqa: F821, of 3.11
                async with asyncio.TaskGroup() as group:
                    slow = group.create_task(client.stat(bucket("slow")))
                    await until(begun(client, 1))
                    group.create_task(client.stat(bucket("missing")))
            assert [type(each) for each in caught.value.exceptions] == [dataflux.NotFoundError]
            assert slow.cancelled()

    asyncio.run(main())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout is of Python 3.11")
def test_asyncio_timeout_ends_a_call(opened, bucket, emulator):
    emulator.faults(STALL)

    async def main():
        async with opened() as client:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await client.stat(bucket("x"))
            assert asyncio.current_task().cancelling() == 0

    asyncio.run(main())


def test_wait_for_and_gather_take_calls(opened, bucket, emulator):
    bucket.put("x", b"12345")

    async def main():
        async with opened() as client:
            both = await asyncio.gather(client.stat(bucket("x")), client.stat(bucket("missing")),
                                        return_exceptions=True)
            assert both[0].size == 5 and isinstance(both[1], dataflux.NotFoundError)
            assert (await asyncio.wait_for(client.stat(bucket("x")), 30)).size == 5
            emulator.faults(STALL)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.stat(bucket("x")), 0.05)

    asyncio.run(main())


def test_a_coroutine_is_what_a_call_gives(opened, bucket):
    bucket.put("x", b"12345")
    client = opened()
    assert asyncio.run(client.stat(bucket("x"))).size == 5
    client.close()


def test_cancelled_twice_it_ends_once_and_is_cancelled(opened, bucket, emulator):
    emulator.faults(STALL)

    async def main():
        async with opened() as client:
            task = asyncio.ensure_future(client.stat(bucket("x")))
            await until(begun(client, 1))
            task.cancel()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_cancelled_when_its_record_is_there_it_is_cancelled_and_freed(opened, bucket):
    """Between the record and the task that waits for it."""
    bucket.put("x", b"12345")

    async def main():
        async with opened() as client:
            await client.stat(bucket("x"))
            mine = _loop_asyncio.of(asyncio.get_running_loop())
            woken = mine.wake
            task = None

            def wake(who):
                woken(who)
                task.cancel()

            mine.wake = wake
            task = asyncio.ensure_future(client.stat(bucket("x")))
            with pytest.raises(asyncio.CancelledError):
                await task
            del mine.wake
            assert client._under_way == {} and not mine.came and not mine.left

    asyncio.run(main())


def test_cancelled_when_it_has_succeeded_its_memory_is_lent_no_more(opened, bucket):
    bucket.put("x", b"12345")

    async def main():
        async with opened() as client:
            await client.stat(bucket("x"))
            mine = _loop_asyncio.of(asyncio.get_running_loop())
            woken = mine.wake
            for _ in range(50):
                memory = bytearray(5)

                def wake(who):
                    woken(who)
                    task.cancel()

                task = asyncio.ensure_future(client.read_into(bucket("x"), memory))
                mine.wake = wake
                with pytest.raises(asyncio.CancelledError):
                    await task
                del mine.wake
                memory += b"x"  # BufferError while it is lent
                assert memory == b"12345x"

    asyncio.run(main())


def test_many_event_loops_leave_no_descriptor_behind(opened, bucket):
    bucket.put("x", b"12345")
    client = opened()
    asyncio.run(client.stat(bucket("x")))
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(200):
        assert asyncio.run(client.stat(bucket("x"))).size == 5
    gc.collect()
    # That of the last one may be there still.
    assert len(os.listdir("/proc/self/fd")) <= before + 5
    client.close()


def event_loops():
    """How to make one of each kind that there is."""
    try:
        import uvloop
    except ImportError:
        return [asyncio.new_event_loop]
    return [asyncio.new_event_loop, uvloop.new_event_loop]


@pytest.mark.parametrize("new_loop", event_loops())
@pytest.mark.parametrize("call", ["stat", "get", "get_into"])
def test_a_loop_that_is_closed_with_calls_in_flight_lets_go_of_them(
        opened, bucket, emulator, new_loop, call):
    """It goes with its tasks and their memory, and needs no other loop for that."""
    bucket.put("x", b"12345")
    emulator.faults(STALL)
    client, memory = opened(), bytearray(5)
    begin = {"stat": client.stat, "get": client.get,
             "get_into": partial(client.read_into, buffer=memory)}[call]
    loop = new_loop()
    said = []
    loop.set_exception_handler(lambda _, context: said.append(context["message"]))
    tasks = [loop.create_task(begin(bucket("x"))) for _ in range(5)]
    loop.run_until_complete(until(begun(client, 5)))
    loop.close()
    gone = weakref.ref(tasks[0])
    tasks.clear()
    del loop
    assert ended(client) and gone() is None
    # asyncio says so itself, of any task that is pending then; nothing else is said.
    assert set(said) <= {"Task was destroyed but it is pending!"}
    memory += b"x"  # it is lent no more
    emulator.faults()
    assert asyncio.run(client.stat(bucket("x"))).size == 5
    client.close()


def test_calls_that_end_with_asyncio_run_are_cancelled(opened, bucket, emulator):
    emulator.faults(STALL)
    client = opened()

    async def main():
        tasks = [asyncio.ensure_future(client.stat(bucket("x"))) for _ in range(5)]
        await until(begun(client, 5))
        return tasks

    assert all(task.cancelled() for task in asyncio.run(main()))
    assert ended(client)
    client.close()


def test_event_loops_on_several_threads_share_one_client(opened, bucket):
    for i in range(8):
        bucket.put(str(i), b"x" * i)
    client = opened()
    results = {}

    async def main(i):
        answers = await asyncio.gather(*(client.stat(bucket(str(i))) for _ in range(200)))
        results[i] = {each.size for each in answers}

    threads = [threading.Thread(target=lambda i=i: asyncio.run(main(i))) for i in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert results == {i: {i} for i in range(8)}
    assert client._under_way == {}
    client.close()


def test_closing_from_another_thread_ends_calls(opened, bucket, emulator):
    emulator.faults(STALL)
    client = opened()

    async def main():
        task = asyncio.ensure_future(client.stat(bucket("x")))
        await until(begun(client, 1))
        await asyncio.get_running_loop().run_in_executor(None, client.close)
        with pytest.raises(dataflux.CancelledError):
            await asyncio.wait_for(task, 30)

    asyncio.run(main())


def test_trio_as_a_guest_of_asyncio(opened, bucket):
    trio = pytest.importorskip("trio")
    bucket.put("x", b"12345")
    sizes = []

    async def guest(client):
        for _ in range(5):
            sizes.append((await client.stat(bucket("x"))).size)

    async def main():
        async with opened() as client:
            loop = asyncio.get_running_loop()
            over = loop.create_future()
            trio.lowlevel.start_guest_run(
                guest, client, run_sync_soon_threadsafe=loop.call_soon_threadsafe,
                done_callback=over.set_result)
            while not over.done():
                sizes.append((await client.stat(bucket("x"))).size)
            over.result().unwrap()

    asyncio.run(main())
    assert len(sizes) > 5 and set(sizes) == {5}


def test_a_forked_child_has_an_event_loop_of_its_own(bucket, emulator):
    bucket.put("x", b"12345")
    code, out, told = finished(start("""
        import os, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork with threads
        async def main():
            return (await client.stat(url)).size
        assert asyncio.run(main()) == 5
        for _ in range(20):
            child = os.fork()
            if child == 0:
                assert asyncio.run(main()) == 5
                os._exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert asyncio.run(main()) == 5
        print("done")
        """, bucket, emulator))
    assert (code, out, told) == (0, "done\n", "")


def test_a_child_forked_in_the_midst_leaves_the_parents_calls_alone(bucket, emulator):
    bucket.put("x", b"12345")
    emulator.faults({"action": "delay", "ms": 300, "count": 0})
    code, out, told = finished(start("""
        import os, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        async def main():
            calls = [asyncio.ensure_future(client.stat(url)) for _ in range(16)]
            while len(client._under_way) < 16:
                await asyncio.sleep(0)
            children = []
            for _ in range(10):
                child = os.fork()
                if child == 0:
                    os._exit(0 if client._under_way == {} else 1)
                children.append(child)
            sizes = {(await call).size for call in calls}
            codes = {os.waitpid(child, 0)[1] for child in children}
            return sizes, codes
        print(asyncio.run(main()))
        """, bucket, emulator))
    assert (code, out, told) == (0, "({5}, {0})\n", "")


INTERRUPTED = """
    async def turn():
        while True:  # a signal just before a selector waits does not wake it: so is Python
            await asyncio.sleep(0.1)

    async def main():
        turning = asyncio.ensure_future(turn())
        tasks = [asyncio.ensure_future(client.stat(url)) for _ in range(8)]
        while len(client._under_way) < 8:
            await asyncio.sleep(0)
        print("begun", flush=True)
        await asyncio.gather(*tasks)
    try:
        RUN(main())
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize("how", [
    "asyncio.run", "asyncio.new_event_loop().run_until_complete",
])
def test_ctrl_c_ends_a_program_that_waits(bucket, emulator, how):
    emulator.faults(STALL)
    process = start(INTERRUPTED.replace("RUN", how), bucket, emulator)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    code, out, told = finished(process)
    assert (code, out) == (0, "interrupted\n")
    if how == "asyncio.run":
        assert told == ""


def test_ctrl_c_ends_a_program_of_trio(bucket, emulator):
    pytest.importorskip("trio")
    emulator.faults(STALL)
    process = start("""
        import trio
        async def main():
            async with trio.open_nursery() as group:
                for _ in range(8):
                    group.start_soon(client.stat, url)
                while len(client._under_way) < 8:
                    await trio.sleep(0)
                print("begun", flush=True)
        try:
            trio.run(main)
        except BaseException as why:
            assert "KeyboardInterrupt" in repr(why), repr(why)
            print("interrupted")
        """, bucket, emulator)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    assert finished(process) == (0, "interrupted\n", "")


@pytest.mark.parametrize("end", ["raise SystemExit(3)", "import os; os._exit(3)",
                                 "import threading; threading.Thread(target=print).start(); "
                                 "sys.exit(3)"])
def test_a_program_ends_with_calls_in_flight(bucket, emulator, end):
    emulator.faults(STALL)
    code, _, told = finished(start(f"""
        async def main():
            tasks = [asyncio.ensure_future(client.stat(url)) for _ in range(8)]
            while len(client._under_way) < 8:
                await asyncio.sleep(0)
            {end}
        asyncio.run(main())
        """, bucket, emulator))
    assert (code, told) == (3, "")


def test_an_interrupt_while_records_are_handed_out_loses_none(bucket, emulator):
    """A KeyboardInterrupt comes between two records; whoever waits is told nevertheless."""
    bucket.put("x", b"12345")
    code, out, told = finished(start("""
        ticks = 0
        def tick():
            global ticks
            ticks += 1
            raise KeyboardInterrupt
        loop = asyncio.new_event_loop()
        done = 0
        async def one():
            global done
            for _ in range(20):
                try:
                    assert (await client.stat(url)).size == 5
                except KeyboardInterrupt:
                    pass
            done += 1
        tasks = [loop.create_task(one()) for _ in range(32)]
        over = asyncio.gather(*tasks, return_exceptions=True)
        from dataflux import _loops
        # Each batch is interrupted the first time that it is gone through.
        whole, again = _loops.iter_unpack, False
        def iter_unpack(view):
            global again
            again = not again
            for i, record in enumerate(whole(view)):
                yield record
                if again:
                    tick()
        _loops.iter_unpack = iter_unpack
        while not over.done():
            try:
                loop.run_until_complete(over)
            except KeyboardInterrupt:
                pass
        assert ticks > 3, ticks
        assert done == 32, done
        assert client._under_way == {}
        loop.close()
        print("done")
        """, bucket, emulator))
    assert (code, out, told) == (0, "done\n", "")


def test_importing_it_brings_no_framework():
    told = subprocess.run(
        [sys.executable, "-c", "import sys, dataflux; dataflux.AsyncClient; "
         "print([name for name in ('asyncio', 'trio', 'anyio') if name in sys.modules])"],
        capture_output=True, text=True, timeout=60, check=True).stdout
    assert told == "[]\n"
