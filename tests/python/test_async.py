"""AsyncClient: each test runs on all kinds of event loops."""

import ctypes
import json
import pickle
from contextlib import closing
from functools import partial

import pytest

import dataflux
from dataflux._calls import Call
from dataflux._library import Pointer, addressof, byref, library
from dataflux._object import object_options
from loops import at_once, run, until  # noqa: F401, a fixture

anyio = pytest.importorskip("anyio")
STALL = {"action": "stall", "where": "before_reply", "count": 0}


@pytest.fixture
def opened(emulator):
    """Opens an AsyncClient."""
    return partial(dataflux.AsyncClient, **emulator.options)


def metrics(client):
    text = Pointer()
    assert library.client_metrics(client._handle(), byref(text), None) == 0
    try:
        return json.loads(ctypes.string_at(text.value))
    finally:
        library.text_free(text)


def in_flight(client):
    return sum(each["in_flight"] for each in metrics(client)["pacing"])


def reading(bucket, name, memory):
    """A call that reads into a bytearray, which it is lent."""
    options = object_options((bucket.name.encode(), name.encode(), 0))
    lent = (ctypes.c_char * len(memory)).from_buffer(memory)
    return Call(lambda client, queue, tag, out, err: library.get_one(
        client, byref(options), 0, addressof(lent), len(memory), queue, tag, out, err), None, lent)


def test_a_verb_gives_what_the_blocking_one_does(run, opened, client, bucket):
    bucket.put("x", b"12345")

    async def main():
        async with opened() as mine:
            return await mine.stat(bucket("x"))

    assert run(main) == client.stat(bucket("x"))


def test_a_failure_is_raised_where_it_is_awaited(run, opened, bucket):
    async def main():
        async with opened() as client:
            with pytest.raises(dataflux.NotFoundError) as caught:
                await client.stat(bucket("missing"))
            return caught.value

    assert run(main).url == bucket("missing")


def test_a_bad_argument_is_told_and_nothing_is_left(run, opened, bucket):
    async def main():
        async with opened() as client:
            for bad, kind in ((3, TypeError), ("gs://b", ValueError)):
                with pytest.raises(kind, match="^url: "):
                    await client.stat(bad)
            with pytest.raises(dataflux.InvalidArgumentError):
                # What the library refuses at once: options that are missing.
                await client._run(Call(lambda client, queue, tag, out, err:
                                       library.stat(client, None, queue, tag, out, err)))
            assert client._under_way == {}

    run(main)


def test_a_thousand_at_once_each_get_their_own_answer(run, opened, bucket):
    for i in range(10):
        bucket.put(str(i), b"x" * i)

    async def main():
        async with opened() as client:
            answers = await at_once(*(partial(client.stat, bucket(str(i % 10)))
                                      for i in range(1000)))
            assert client._under_way == {}
            return answers

    assert [each.size for each in run(main)] == [i % 10 for i in range(1000)]


def test_a_call_is_begun_when_it_is_awaited_and_not_before(run, opened, bucket, emulator):
    bucket.put("x")

    async def main():
        async with opened() as client:
            await client.stat(bucket("x"))
            before = emulator.answered()
            made = client.stat(bucket("x"))
            made.close()
            assert client._under_way == {}
            await client.stat(bucket("x"))
            return emulator.answered() - before

    assert run(main) == 1


def test_cancelling_gives_up_the_connection_at_once(run, opened, bucket, emulator):
    bucket.put("x")

    async def main():
        async with opened() as client:
            emulator.faults(STALL)
            async with anyio.create_task_group() as group:
                group.start_soon(client.stat, bucket("x"))
                await until(lambda: in_flight(client) == 1)
                group.cancel_scope.cancel()
            # Nobody awaits it, and the next call takes in its record.
            emulator.faults()
            await client.stat(bucket("x"))
            await until(lambda: in_flight(client) == 0)
            assert metrics(client)["totals"]["failed"] == 1
            await client.stat(bucket("x"))
            assert client._under_way == {}

    run(main)


def test_cancelling_ends_when_lent_memory_is_the_callers_again(run, opened, bucket, emulator):
    bucket.put("x", b"x" * 100_000)

    async def main():
        async with opened() as client:
            memory = bytearray(100_000)
            emulator.faults({"action": "stall", "where": "in_body", "bodyBytes": 50_000})

            async def read():
                await client._run(reading(bucket, "x", memory))

            async with anyio.create_task_group() as group:
                group.start_soon(read)
                await until(lambda: in_flight(client) == 1)
                group.cancel_scope.cancel()
            # Before any other await: the operation has ended, and let go of its memory.
            assert client._under_way == {}
            assert in_flight(client) == 0

    run(main)


def test_half_of_many_cancelled_leaves_the_other_half(run, opened, bucket, emulator):
    bucket.put("slow")
    bucket.put("x", b"12345")

    async def main():
        async with opened() as client:
            emulator.faults({**STALL, "object": "slow"})
            done = []

            async def good():
                done.append((await client.stat(bucket("x"))).size)

            async with anyio.create_task_group() as outer:
                async with anyio.create_task_group() as group:
                    for _ in range(20):
                        group.start_soon(client.stat, bucket("slow"))
                        outer.start_soon(good)
                    await until(lambda: len(done) == 20)
                    group.cancel_scope.cancel()
            assert done == [5] * 20
            client.close()
            await client.aclose()
            assert client._under_way == {}

    run(main)


def test_a_timeout_of_the_event_loop_ends_a_call(run, opened, bucket, emulator):
    bucket.put("x")

    async def main():
        async with opened() as client:
            await client.stat(bucket("x"))
            emulator.faults(STALL)
            with pytest.raises(TimeoutError):
                with anyio.fail_after(0.05):
                    await client.stat(bucket("x"))
            emulator.faults()
            assert (await client.stat(bucket("x"))).name == "x"

    run(main)


def test_an_exception_in_one_task_cancels_the_others_calls(run, opened, bucket, emulator):
    bucket.put("slow")
    emulator.faults({**STALL, "object": "slow"})

    async def main():
        async with opened() as client:
            async def fails():
                await until(lambda: in_flight(client) == 3)
                raise KeyError("mine")

            with pytest.raises(BaseException) as caught:
                async with anyio.create_task_group() as group:
                    for _ in range(3):
                        group.start_soon(client.stat, bucket("slow"))
                    group.start_soon(fails)
            assert "mine" in repr(getattr(caught.value, "exceptions", caught.value))
            await until(lambda: in_flight(client) == 0)

    run(main)


def test_closing_ends_calls_of_other_tasks(run, opened, bucket, emulator):
    bucket.put("slow")
    emulator.faults({**STALL, "object": "slow"})

    async def main():
        client = opened()
        ended = []

        async def one():
            try:
                await client.stat(bucket("slow"))
            except dataflux.CancelledError as why:
                ended.append(why)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(one)
            await until(lambda: in_flight(client) == 5)
            await client.aclose()
            await client.aclose()
        assert len(ended) == 5
        assert client._under_way == {}
        with pytest.raises(dataflux.PreconditionError, match="closed"):
            await client.stat(bucket("slow"))
        assert client._under_way == {}

    run(main)


def test_aclose_waits_for_what_was_cancelled(run, opened, bucket, emulator):
    bucket.put("x")
    emulator.faults(STALL)

    async def main():
        client = opened()
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(client.stat, bucket("x"))
            await until(lambda: in_flight(client) == 5)
            group.cancel_scope.cancel()
        await client.aclose()
        assert client._under_way == {}

    run(main)


def test_the_waiter_who_watches_may_be_cancelled_first(run, opened, bucket, emulator):
    """Whoever came first may do something for the others, who must not be left behind."""
    bucket.put("slow")
    bucket.put("x", b"12345")
    emulator.faults({**STALL, "object": "slow"})

    async def main():
        async with opened() as client:
            sizes = []

            async def good():
                sizes.append((await client.stat(bucket("x"))).size)

            for _ in range(20):
                async with anyio.create_task_group() as group:
                    first = anyio.CancelScope()

                    async def slow():
                        with first:
                            await client.stat(bucket("slow"))

                    group.start_soon(slow)
                    await until(lambda: in_flight(client) == 1)
                    group.start_soon(good)
                    group.start_soon(good)
                    await anyio.sleep(0)
                    first.cancel()
                await until(lambda: in_flight(client) == 0)
            assert sizes == [5] * 40

    run(main)


def test_it_pickles_by_its_options(run, opened, bucket):
    bucket.put("x", b"12345")
    client = pickle.loads(pickle.dumps(opened()))
    assert type(client) is dataflux.AsyncClient

    async def main():
        async with client:
            return (await client.stat(bucket("x"))).size

    assert run(main) == 5


def test_it_serves_one_event_loop_after_another(run, opened, bucket):
    bucket.put("x", b"12345")
    client = opened()

    async def main():
        return (await client.stat(bucket("x"))).size

    assert [run(main) for _ in range(5)] == [5] * 5
    client.close()
    assert client._under_way == {}


@pytest.mark.both_services
def test_without_an_event_loop_it_says_so(opened, bucket):
    with closing(opened()) as client:
        made = client.stat(bucket("x"))
        with pytest.raises(RuntimeError, match="event loop"):
            made.send(None)
