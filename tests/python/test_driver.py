"""Bodies: coroutines that await calls, run by a thread and by event loops."""

import asyncio
import gc
import traceback

import pytest

import dataflux
from cycles import left_by
from dataflux._calls import Call, json_of
from dataflux._lent import Lent
from dataflux._library import byref, library
from dataflux._object import object_options
from interrupts import interrupted_at
from loops import RUNNERS, limited, run, until  # noqa: F401, a fixture

anyio = pytest.importorskip("anyio")
STALL = {"action": "stall", "where": "before_reply", "count": 0}


def asking(bucket, name, lent=None):
    """A call that gives an object's size."""
    options = object_options((bucket.name.encode(), name.encode(), 0))
    return Call(lambda client, queue, tag, out, err:
                library.stat(client, byref(options), queue, tag, out, err),
                lambda operation, record: int(json_of(operation)["size"]), lent)


@pytest.fixture(params=["thread", *RUNNERS])
def drive(request, emulator):
    """drive(body) on a thread, and on each kind of event loop: what the body returns."""
    if request.param == "thread":
        with emulator.client() as client:
            yield client._run
        return

    def driven(body):
        async def main():
            async with emulator.async_client() as client:
                return await client._run(body)
        return limited(RUNNERS[request.param])(main)

    yield driven


def test_a_body_gets_the_value_of_each_call(drive, bucket):
    bucket.put("a", b"1")
    bucket.put("b", b"22")

    async def inner(name):
        return await asking(bucket, name)

    async def body():
        return await inner("a"), await asking(bucket, "b"), await inner("b")

    assert drive(body()) == (1, 2, 2)


def test_a_failure_is_raised_where_the_call_is_awaited(drive, bucket):
    bucket.put("a", b"1")

    async def body():
        try:
            await asking(bucket, "missing")
        except dataflux.NotFoundError as error:
            first = error.url
        return first, await asking(bucket, "a")

    assert drive(body()) == (bucket("missing"), 1)


def test_a_failure_that_a_body_does_not_take_is_its_callers(drive, bucket):
    ended = []

    async def body():
        try:
            await asking(bucket, "missing")
        finally:
            ended.append(True)

    with pytest.raises(dataflux.NotFoundError) as caught:
        drive(body())
    assert ended == [True] and caught.value.__context__ is None


def test_a_failure_that_was_taken_is_nothing_that_a_later_one_came_of(drive, bucket):
    async def body():
        try:
            await asking(bucket, "first")
        except dataflux.NotFoundError:
            pass
        await asking(bucket, "second")

    with pytest.raises(dataflux.NotFoundError) as caught:
        drive(body())
    assert caught.value.url == bucket("second") and caught.value.__context__ is None


def test_a_body_that_awaits_nothing_is_run(drive):
    async def body():
        return 7

    assert drive(body()) == 7


def test_a_body_that_raises_stop_iteration_has_not_returned(drive):
    async def body():
        raise StopIteration(7)

    with pytest.raises(RuntimeError, match="StopIteration"):
        drive(body())


def test_a_stop_iteration_of_what_makes_a_call_is_no_end_of_the_body(drive, bucket):
    bucket.put("a", b"1")

    def begun(client, queue, tag, out, err):
        raise StopIteration("of the caller")

    async def body():
        await Call(begun, lambda operation, record: None)
        return "the end"

    with pytest.raises(RuntimeError, match="StopIteration"):
        drive(body())


def test_a_body_is_closed_where_the_client_is(emulator, bucket):
    client = emulator.client()
    client.close()
    body = asking_later(bucket)
    with pytest.raises(dataflux.PreconditionError):
        client._run(body)
    assert body.cr_frame is None


async def asking_later(bucket):
    return await asking(bucket, "x")


def test_a_body_that_waits_for_an_event_loop_cannot_be_run_without_one(client):
    async def body():
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="without one"):
        client._run(body())


def test_a_body_may_await_the_event_loop_and_verbs_of_the_client(run, emulator, bucket):
    bucket.put("x", b"123")

    async def main():
        async with emulator.async_client() as client:
            async def body():
                await anyio.sleep(0.001)
                first = await asking(bucket, "x")
                with anyio.move_on_after(0.001):
                    await anyio.sleep(30)
                return first, (await client.stat(bucket("x"))).size

            return await client._run(body())

    assert run(main) == (3, 3)


def test_cancelling_a_task_ends_its_body_where_it_waits(run, emulator, bucket):
    bucket.put("x")
    ended = []

    async def main():
        async with emulator.async_client() as client:
            emulator.faults(STALL)

            async def body():
                try:
                    await asking(bucket, "x")
                finally:
                    ended.append(True)

            async with anyio.create_task_group() as group:
                group.start_soon(client._run, body())
                await until(lambda: client._under_way)
                group.cancel_scope.cancel()
            emulator.faults()
            await client._run(asking(bucket, "x"))
            await until(lambda: not client._under_way)

    run(main)
    assert ended == [True]


def free(memory):
    """Whether nobody has it pinned."""
    memory.append(1)
    memory.pop()
    return True


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_an_interrupt_between_any_two_bytecodes_ends_a_body_and_lends_nothing_on(client, bucket, only_new):
    bucket.put("x", b"1")
    memory = bytearray(10)
    ended, begun = [], []

    async def body():
        begun.append(True)
        try:
            first = await asking(bucket, "x", Lent(memory))
            return first + await asking(bucket, "x", Lent(memory))
        finally:
            ended.append(True)

    number, came = 1, True
    while came:
        came = interrupted_at(number, lambda: client._run(body()),
                              ("_wait.py", "_calls.py", "_client.py"),
                              ("__del__", "_run_one"))  # test_memory.py looks at that one
        gc.collect()
        assert ended == begun, number
        assert free(memory), number
        assert client._under_way == {}, number
        begun.clear()
        ended.clear()
        number += 1
    assert number > 100


LENDING = {
    "read_into_at": lambda client, url, memory: client.reader(url).read_into_at(0, memory),
    "get_ranges": lambda client, url, memory: client.reader(url).get_ranges([(0, 10)], [memory]),
    "read_into": lambda client, url, memory: client.read_into(url, memory),
    "get_ranges of a client": lambda client, url, memory: client.get_ranges(url, [(0, 10)], into=[memory]),
    "put": lambda client, url, memory: client.put(url, memory),
}


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize("verb", LENDING.values(), ids=LENDING)
def test_an_interrupt_that_is_kept_keeps_no_memory_of_the_callers(client, bucket, verb):
    """As a debugger or a test's report keeps one, and with it all frames that it came through."""
    url = bucket("x")
    bucket.put("x", bytes(10))
    kept = []

    def call():
        try:
            verb(client, url, memory)
        except KeyboardInterrupt as why:
            kept.append(why)
            raise

    number, came = 1, True
    while came:
        memory = bytearray(10)
        came = interrupted_at(number, call, ("_wait.py", "_calls.py", "_driver.py", "_forms.py", "_reader.py",
                                             "_verbs_reads.py", "_verbs_objects.py", "_ranges.py"))
        assert free(memory), number
        kept.clear()
        number += 1
    assert number > 100


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited", "ignore::ResourceWarning")
def test_an_interrupt_that_is_kept_keeps_no_writer_in_use(client, bucket):
    kept = []

    def write():
        try:
            writer.write(b"123")
        except KeyboardInterrupt as why:
            kept.append(why)
            raise

    number, came = 1, True
    while came:
        writer = client.writer(bucket("x"))
        came = interrupted_at(number, write, ("_writer.py", "_wait.py", "_driver.py", "_forms.py"))
        if writer._lock.locked():
            # A `with` has steps of its own, between which the interpreter looks for no signal.
            at = traceback.extract_tb(kept[0].__traceback__)[-2]
            assert at.line.startswith(("with ", "try:")), at
        else:
            writer.abort()
            assert writer.closed
        kept.clear()
        number += 1
    assert number > 50


def test_a_body_that_fails_leaves_no_cycle(client, bucket):
    async def body():
        try:
            await asking(bucket, "missing")
        finally:
            asked.append(True)

    asked = []
    assert left_by(lambda: client._run(body()), dataflux.NotFoundError) == 0


def test_a_body_of_a_task_that_fails_leaves_no_cycle(emulator, bucket):
    async def main():
        found = []
        async with emulator.async_client() as client:
            for _ in range(2):
                gc.collect()
                gc.disable()
                try:
                    try:
                        await client._run(asking_later(bucket))
                    except dataflux.NotFoundError:
                        pass
                    found.append(gc.collect())
                finally:
                    gc.enable()
        return found[1]

    assert asyncio.run(main()) == 0


def test_a_call_of_a_body_tells_how_far_it_is(drive, bucket, tmp_path):
    """As the one verb does whose first call is long, and whose second is not."""
    bucket.put("x", b"1")
    told = []

    async def body():
        call = asking(bucket, "x")
        call.watch = lambda **counts: told.append(counts["label"]), ("listing", bucket.name, "x")
        return await call, await asking(bucket, "x")

    assert drive(body()) == (1, 1)
    assert set(told) <= {f"listing {bucket('x')}"} and told
