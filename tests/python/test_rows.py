"""Batches of rows in memory of the caller's: what comes, failures, interrupts, forks, and the end."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from array import array

import pytest

import dataflux
from dataflux._rows import RowStream
from interrupts import interrupted_at
from service import wait_until

COUNT, SIZE = 60, 1000
STALL = {"action": "stall", "where": "before_reply", "verb": "objects.media", "count": 0}


def content_of(number):
    return f"{number:05d}|".encode() * 200


def packed_content(number):
    return content_of(number)[:number * 10]


@pytest.fixture
def listing(client, bucket):
    for number in range(COUNT):
        client.put(bucket(f"o/{number:05d}"), content_of(number)[:SIZE])
    return client.list(bucket("o/"))


def memory_of(size):
    memory = bytearray(b"#" * size)
    return memory, address_of(memory)


def address_of(memory):
    import ctypes

    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def rows(*numbers):
    return array("Q", numbers)


def push(stream, numbers):
    """A batch of memory of its own, which it gives."""
    memory, address = memory_of(SIZE * len(numbers))
    stream.push(array("Q", numbers), address, len(memory), owner=memory)
    return memory


def joined(numbers):
    return b"".join(content_of(number)[:SIZE] for number in numbers)


# -- What comes ------------------------------------------------------------------------------------


@pytest.mark.both_services
def test_batches_come_in_the_order_of_the_pushes(client, listing):
    order = [list(range(begin, begin + 15)) for begin in (30, 0, 45, 15)]
    with RowStream(client, None, listing) as stream:
        memories = [push(stream, numbers) for numbers in order]
        stream.finish()
        for number, memory in enumerate(memories):
            batch = stream.next()
            assert batch.number == number and batch.failures == [] and batch.verified is True
            assert batch.sizes == array("Q", [SIZE] * 15)
            assert bytes(memory) == joined(order[number])
        assert stream.next() is None and stream.next() is None


def test_packed_and_padded_rows(client, bucket):
    for number in range(20):
        client.put(bucket(f"p/{number:05d}"), packed_content(number))
    listing = client.list(bucket("p/"))
    wanted = [7, 0, 19, 3]
    with RowStream(client, listing.bucket, listing) as stream:
        memory, address = memory_of(400)
        offsets = array("Q", [0, 70, 70, 260])
        assert stream.push(rows(*wanted), address, len(memory), offsets) == 0
        batch = stream.next()
        assert batch.sizes == array("Q", [70, 0, 190, 30])
        assert bytes(memory) == b"".join(map(packed_content, wanted)) + b"#" * 110
        padded, address = memory_of(800)
        assert stream.push(memoryview(rows(*wanted)), address, len(padded), stride=200) == 1
        assert stream.next().sizes == batch.sizes
        assert bytes(padded) == b"".join(packed_content(number).ljust(200, b"#") for number in wanted)


def test_samples_of_an_index(client, bucket, tmp_path):
    import io
    import tarfile

    shard = io.BytesIO()
    with tarfile.open(fileobj=shard, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for number in range(10):
            info = tarfile.TarInfo(f"{number}.bin")
            info.size = 300
            tar.addfile(info, io.BytesIO(content_of(number)[:300]))
    client.put(bucket("s/0.tar"), shard.getvalue())
    client.index_shards(bucket("s/"), tmp_path / "index")
    index = dataflux.ShardIndex.open(tmp_path / "index")
    with RowStream(client, None, index) as stream:
        memory, address = memory_of(3 * 1024)
        stream.push(rows(8, 2, 3), address, len(memory))
        batch = stream.next()
        assert batch.verified is True and batch.sizes == array("Q", [1024] * 3)
        for place, number in enumerate((8, 2, 3)):
            assert bytes(memory[place * 1024 + 512:place * 1024 + 812]) == content_of(number)[:300]
        with pytest.raises(dataflux.Error):
            stream.push(rows(10), address, len(memory))


def test_many_batches_through_few_memories(client, listing):
    numbers = [[(turn * 7 + place) % COUNT for place in range(16)] for turn in range(200)]
    memories = [memory_of(SIZE * 16) for _ in range(4)]
    with RowStream(client, None, listing) as stream:
        for turn, each in enumerate(numbers[:4]):
            stream.push(array("Q", each), memories[turn][1], SIZE * 16)
        for turn, each in enumerate(numbers):
            batch = stream.next()
            assert batch.number == turn and not batch.failures
            assert bytes(memories[turn % 4][0]) == joined(each)
            if turn + 4 < len(numbers):
                stream.push(array("Q", numbers[turn + 4]), memories[turn % 4][1], SIZE * 16)
        stream.finish()
        assert stream.next() is None


# -- Failures --------------------------------------------------------------------------------------


def test_a_failed_row_is_told_by_its_batch(client, bucket, listing):
    client.delete(bucket("o/00003"))
    client.put(bucket("o/00005"), b"other")
    with RowStream(client, None, listing) as stream:
        memory = push(stream, [0, 1, 2, 3, 4, 5, COUNT])
        after = push(stream, [7, 8])
        batch = stream.next()
        failed = dict(batch.failures)
        assert set(failed) == {3, 5, 6}
        assert isinstance(failed[3], dataflux.NotFoundError) and failed[3].url == bucket("o/00003")
        assert isinstance(failed[6], dataflux.Error) and batch.sizes[6] == 0
        assert bytes(memory[:3 * SIZE]) == joined([0, 1, 2])
        assert bytes(memory[4 * SIZE:5 * SIZE]) == joined([4])
        assert stream.next().failures == [] and bytes(after) == joined([7, 8])


def test_a_row_without_room_is_told_and_not_read(client, listing, emulator):
    with RowStream(client, None, listing) as stream:
        memory, address = memory_of(SIZE + 10)
        before = emulator.answered()
        stream.push(rows(0, 1), address, len(memory), array("Q", [0, 10]))
        batch = stream.next()
        [(place, error)] = batch.failures
        assert place == 0 and "1000 bytes are to be read, the row has 10" in str(error)
        assert bytes(memory) == b"#" * 10 + joined([1]) and batch.sizes == array("Q", [0, SIZE])
        assert emulator.answered() == before + 1


def test_raise_ends_the_stream_with_the_row(client, bucket, listing):
    client.delete(bucket("o/00020"))
    with RowStream(client, None, listing, on_error="raise") as stream:
        push(stream, range(10))
        assert stream.next().number == 0
        push(stream, range(15, 25))
        for _ in range(2):
            with pytest.raises(dataflux.NotFoundError, match="o/00020"):
                stream.next()
        with pytest.raises(dataflux.NotFoundError):
            push(stream, [1])


def test_a_timeout_of_next_loses_nothing(client, bucket, emulator, listing):
    with RowStream(client, None, listing) as stream:
        with pytest.raises(TimeoutError, match="no batch is complete within 0.05 seconds"):
            stream.next(timeout=0.05)
        with pytest.raises(TimeoutError):
            stream.next(timeout=0)
        memory = push(stream, range(10))
        assert stream.next(timeout=60).number == 0
        assert bytes(memory) == joined(range(10))


def test_the_time_of_the_stream(client, emulator, listing):
    emulator.faults(STALL)
    with RowStream(client, None, listing, timeout=0.2) as stream:
        push(stream, range(10))
        with pytest.raises(dataflux.DeadlineError):
            stream.next()


def test_bad_arguments(client, listing):
    with pytest.raises(ValueError, match="on_error"):
        RowStream(client, None, listing, on_error="omit")
    stream = RowStream(client, None, listing)
    memory, address = memory_of(100)
    with pytest.raises(dataflux.InvalidArgumentError, match="descend"):
        stream.push(rows(0, 1), address, 100, array("Q", [50, 0]))
    with pytest.raises(dataflux.InvalidArgumentError, match="row 1 begins at 101"):
        stream.push(rows(0, 1), address, 100, array("Q", [0, 101]))
    with pytest.raises(dataflux.InvalidArgumentError, match="apart"):
        stream.push(rows(0, 1), address, 100, stride=200)
    with pytest.raises(ValueError, match="offsets: 1 for 2"):
        stream.push(rows(0, 1), address, 100, array("Q", [0]))
    for bad in ([1, 2], array("I", [1]), memoryview(b"12345678")):
        with pytest.raises(TypeError):
            stream.push(bad, address, 100)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(stream)
    stream.finish()
    with pytest.raises(dataflux.PreconditionError):
        stream.push(rows(0), address, 100)
    assert stream.next() is None
    assert "0 batches" in repr(stream)
    stream.close()
    stream.close()
    for call in (stream.next, stream.finish, lambda: stream.push(rows(0), address, 100)):
        with pytest.raises(dataflux.PreconditionError, match="closed"):
            call()
    assert bytes(memory) == b"#" * 100


# -- The end ---------------------------------------------------------------------------------------


def test_close_ends_what_is_under_way_and_lets_go_of_memory(client, emulator, listing):
    class Owner:
        pass

    emulator.faults({**STALL, "object": "o/00003"})
    stream = RowStream(client, None, listing)
    memory, address = memory_of(SIZE * 10)
    owner = Owner()
    gone = weakref.ref(owner)
    stream.push(array("Q", range(10)), address, len(memory), owner=owner)
    del owner
    wait_until(lambda: bytes(memory[4 * SIZE:5 * SIZE]) == joined([4]))
    assert gone() is not None
    stream.close()
    assert gone() is None
    assert not client._under_way


def test_letting_go_of_it_closes_it(client, emulator, listing):
    emulator.faults(STALL)
    stream = RowStream(client, None, listing)
    memory = push(stream, range(10))
    gone = weakref.ref(stream)
    del stream
    gc.collect()
    assert gone() is None and not client._under_way
    assert bytes(memory) == b"#" * len(memory)


def test_close_by_another_thread_wakes_who_waits(client, emulator, listing):
    emulator.faults(STALL)
    stream = RowStream(client, None, listing)
    push(stream, range(10))
    thread = threading.Timer(0.1, stream.close)
    thread.start()
    with pytest.raises(dataflux.PreconditionError, match="closed"):
        stream.next()
    thread.join()


def test_the_end_of_its_client_is_told(client, emulator, listing):
    emulator.faults(STALL)
    mine = emulator.client()
    stream = RowStream(mine, None, listing)
    push(stream, range(10))
    mine.close()
    with pytest.raises(dataflux.CancelledError):
        stream.next()
    stream.close()


def test_an_interrupt_while_it_waits_loses_nothing(client, emulator, listing):
    emulator.faults({"action": "delay", "ms": 400, "object": "o/00003", "count": 1})
    with RowStream(client, None, listing) as stream:
        memory = push(stream, range(10))
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            stream.next()
        timer.join()
        assert stream.next().number == 0
        assert bytes(memory) == joined(range(10))


def test_an_interrupt_anywhere_leaves_memory_that_nobody_writes_to(client, listing):
    """Between any two bytecodes of a push, a next and a close."""
    def use():
        stream = RowStream(client, None, listing)
        try:
            push(stream, [1, 2])
            push(stream, [COUNT, 3])
            assert stream.next().number == 0
            assert len(stream.next().failures) == 1
        finally:
            stream.close()

    number = 1
    while interrupted_at(number, use, ("_rows.py",)):
        gc.collect()
        assert not client._under_way or all(not getter for getter, _ in client._under_way.values())
        client._under_way.clear()
        number += 17  # a prime, so that many places are met over versions of Python
    assert number > 100


def test_a_forked_child_is_refused(client, listing):
    stream = RowStream(client, None, listing)
    memory = push(stream, range(10))
    pid = os.fork()
    if not pid:
        code = 1
        try:
            for call in (stream.next, stream.finish, lambda: push(stream, [1])):
                with pytest.raises(dataflux.PreconditionError, match="forked"):
                    call()
            stream.close()
            del stream
            gc.collect()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    assert stream.next().number == 0
    assert bytes(memory) == joined(range(10))


PROGRAM = """
import sys, ctypes
from array import array
import dataflux
from dataflux._rows import RowStream
from service import options_of
client = dataflux.Client(**options_of(sys.argv[1]))
listing = client.list(sys.argv[2])
stream = RowStream(client, None, listing)
memory = bytearray(1000 * 60)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
stream.push(array("Q", range(60)), address, len(memory), owner=memory)
if sys.argv[3] == "waits":
    import threading
    threading.Thread(target=stream.next, daemon=True).start()
elif sys.argv[3] == "cycle":
    stream.me = stream
    del stream, memory
elif sys.argv[3] == "raises":
    raise SystemExit(0)
"""


@pytest.mark.parametrize("way", ["plain", "waits", "cycle", "raises"])
def test_the_interpreter_may_end_in_the_midst(emulator, bucket, listing, way):
    emulator.faults(STALL if way != "plain" else {"action": "delay", "ms": 20, "verb": "objects.media", "count": 0})
    subprocess.run([sys.executable, "-c", PROGRAM, emulator.endpoint, bucket("o/"), way], check=True, timeout=60)
