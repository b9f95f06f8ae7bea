"""Decode threads of dataset.batches(): what fails, blocks, or is interrupted."""

import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.utils.data import DataLoader

import dataflux
from cycles import left_by
from interrupts import interrupted_at
from dataflux import _threads
from dataflux.torch import DecodeError, IterableDataset, _decoding
from service import wait_until

COUNT, LIMIT = 40, 60


def number(data, row):
    return int(bytes(data))


def picky(data, row):
    if row.name == "o/007":
        raise LookupError("no seven")
    return int(bytes(data))


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def url(client, bucket):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.put(bucket(f"o/{n:03}"), b"%d" % n), range(COUNT)))
    return bucket("o/")


@pytest.fixture
def make(url, options):
    return lambda **how: IterableDataset(url, client=options, **{"batch_size": 4, "decode": number, **how})


ORDER = list(dataflux.Sampler(COUNT))


def flat(batches):
    return [sample for batch in batches for sample in batch.tolist()]


def running():
    """Decode threads of all passes that are kept."""
    return sum(len(making.threads) for making in list(_decoding._all))


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_decode_that_raises_names_object_and_thread_and_has_the_traceback(make, bucket, threads):
    seen, batches = [], make(decode=picky).batches(decode_threads=threads)
    given = iter(batches)
    with pytest.raises(DecodeError, match=f"gs://{bucket.name}/o/007: LookupError: no seven") as raised:
        for batch in given:
            seen += batch.tolist()
    assert seen == ORDER[:ORDER.index(7) // 4 * 4]  # all that comes before it
    assert (raised.value.bucket, raised.value.object) == (bucket.name, "o/007")
    assert ("decode thread " in str(raised.value)) == bool(threads)
    assert isinstance(raised.value.__cause__, LookupError)
    assert "in picky" in "".join(traceback.format_exception(raised.value.__cause__))
    for _ in range(2):  # and fails every time
        with pytest.raises(DecodeError, match="no seven"):
            next(given)
    assert batches.state_dict()["yielded"] == len(seen)


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_failures_may_be_samples_or_be_stood_in_for(make, client, bucket, threads):
    returning, skipping = make(on_error="return", decode=picky), make(on_error="skip", decode=picky)
    client.delete(bucket("o/005"))
    found = [each for batch in returning.batches(collate_fn=list, decode_threads=threads) for each in batch]
    assert [each if isinstance(each, int) else type(each) for each in found] == \
        [{5: dataflux.NotFoundError, 7: DecodeError}.get(n, n) for n in ORDER]
    found = flat(skipping.batches(decode_threads=threads))
    assert skipping.skipped == 2 and len(found) == COUNT
    assert found == flat(DataLoader(make(on_error="skip", decode=picky, overwritten="raise"), batch_size=4)) \
        or set(found) == set(range(COUNT)) - {5, 7}
    assert [a for a, b in zip(found, ORDER) if b not in (5, 7)] == [b for b in ORDER if b not in (5, 7)]


@pytest.mark.parametrize("threads", [0, 3])
def test_stand_ins_are_those_of_a_data_loader(make, threads):
    def decode(data, row):
        if int(bytes(data)) in ORDER[4:8] + ORDER[9:12] + ORDER[36:37]:
            raise LookupError
        return torch.full((3,), int(bytes(data)))

    expected = list(DataLoader(make(on_error="skip", decode=decode), batch_size=4))
    dataset, found = make(on_error="skip", decode=decode), []
    for batch in dataset.batches(decode_threads=threads):
        found.append(batch.clone())
        batch.zero_()  # the batch is its owner's, and what stands in later is not
    assert torch.equal(torch.cat(found), torch.cat(expected)) and dataset.skipped == 8


@pytest.mark.parametrize("threads", [0, 3])
def test_too_many_failures_in_a_row_end_the_pass(make, threads):
    def decode(data, row):
        if int(bytes(data)) in ORDER[8:14]:
            raise LookupError("none")
        return int(bytes(data))

    with pytest.raises(DecodeError, match="the last of 5 samples in a row"):
        list(make(on_error="skip", tolerance=5, decode=decode).batches(decode_threads=threads))
    assert len(list(make(on_error="skip", tolerance=7, decode=decode).batches(decode_threads=threads))) == 10


@pytest.mark.parametrize("threads", [1, 4])
def test_an_object_that_was_deleted_fails_in_its_turn(make, client, bucket, threads):
    dataset = make()
    client.delete(bucket("o/005"))
    seen = []
    with pytest.raises(dataflux.NotFoundError, match="o/005: generation .* overwritten or deleted"):
        for batch in dataset.batches(decode_threads=threads):
            seen += batch.tolist()
    assert seen == ORDER[:ORDER.index(5) // 4 * 4]


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError])
def test_what_is_no_failure_of_a_sample_ends_the_pass(make, threads, kind):
    def decode(data, row):
        if row.name == "o/007":
            raise kind
        return 1

    given = iter(make(decode=decode).batches(decode_threads=threads))
    with pytest.raises(DecodeError if kind is MemoryError else kind):
        list(given)
    with pytest.raises(dataflux.Error):
        next(given)


@pytest.mark.parametrize("threads", [0, 2])
def test_collate_that_raises_fails_in_its_turn(make, threads):
    def collate(samples):
        if 7 in samples:
            raise LookupError("no seven")
        return samples

    seen = []
    with pytest.raises(LookupError, match="no seven"):
        seen.extend(make().batches(collate_fn=collate, decode_threads=threads))
    assert sum(seen, []) == ORDER[:ORDER.index(7) // 4 * 4]


def test_threads_decode_at_the_same_time_and_are_no_further_ahead_than_said(make):
    inside, most, made = [], [], []
    lock = threading.Lock()

    def decode(data, row):
        with lock:
            inside.append(1)
            most.append(len(inside))
            made.append(row.name)
        time.sleep(0.002)
        with lock:
            inside.pop()
        return int(bytes(data))

    given = iter(make(decode=decode).batches(decode_threads=4, ahead=1))
    next(given)
    assert wait_until(lambda: len(made) == 12)  # the one that is given, the next one, and one ahead
    time.sleep(0.1)
    assert len(made) == 12 and 1 < max(most) <= 4
    assert len(flat(given)) == COUNT - 4 and len(made) == COUNT


def test_bytes_ahead_are_bounded(client, bucket, emulator):
    for n in range(12):
        client.put(bucket(f"b/{n:02}"), bytes(300_000))
    made = []

    def decode(data, row):
        made.append(row.name)
        return torch.frombuffer(data, dtype=torch.uint8).clone()

    dataset = IterableDataset(bucket("b/"), batch_size=2, decode=decode,
                              client=dataflux.Client(**emulator.options, memory_cap=1 << 20))
    batches = dataset.batches(decode_threads=2, ahead=100)
    given = iter(batches)
    next(given)
    assert wait_until(lambda: len(made) >= 6)
    time.sleep(0.1)
    assert len(made) <= 8
    assert len(list(given)) == 5


def test_a_pass_that_is_left_ends_its_threads(make):
    before = running()
    for _ in range(5):
        for _ in make().batches(decode_threads=3):
            break
    assert wait_until(lambda: running() == before)
    given = iter(make().batches(decode_threads=3))
    next(given)
    given.close()
    with pytest.raises(StopIteration):
        next(given)
    assert wait_until(lambda: running() == before)


def test_decode_that_blocks_is_left_behind(make):
    go_on = threading.Event()

    def decode(data, row):
        assert go_on.wait(LIMIT)
        return 1

    given = iter(make(decode=decode).batches(decode_threads=2))
    waiting = threading.Thread(target=lambda: next(given, None), daemon=True)
    waiting.start()
    assert wait_until(lambda: running() >= 2)
    assert flat(make().batches(decode_threads=2)) == ORDER  # another pass is not held up
    go_on.set()
    waiting.join(LIMIT)
    assert not waiting.is_alive()


def test_no_more_threads_is_an_error_or_fewer(make, monkeypatch):
    use, count = _threads.use, []

    def few(*given):
        count.append(1)
        if len(count) > 1:
            raise RuntimeError("can't start new thread")
        return use(*given)

    monkeypatch.setattr(_threads, "use", few)
    assert flat(make().batches(decode_threads=4)) == ORDER
    with pytest.raises(RuntimeError, match="can't start new thread"):
        next(iter(make().batches(decode_threads=4)))


def test_a_pass_that_has_failed_leaves_no_cycle(make, client, bucket):
    dataset, skipping = make(), make(on_error="skip", tolerance=1)
    client.delete(bucket("o/005"))
    for threads in (0, 2):
        def failed(dataset):
            list(dataset.batches(decode_threads=threads))
            return None

        for each in (dataset, skipping, make(decode=picky)):
            found = left_by(lambda: failed(each), dataflux.Error)
            assert found == 0


def test_a_child_of_a_fork_is_refused_and_may_begin_anew(make):
    dataset = make()
    batches = dataset.batches(decode_threads=2)
    given = iter(batches)
    next(given)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                next(given)
            except dataflux.PreconditionError as why:
                code = 0 if "forked child" in str(why) and flat(batches) == ORDER else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(flat(given)) == COUNT - 4


@pytest.mark.parametrize("threads", [0, 2])
def test_an_interrupt_between_any_two_bytecodes_comes_out(make, threads):
    dataset = make(decode=lambda data, row: torch.tensor([int(bytes(data))]))
    batches = dataset.batches(10, decode_threads=threads, warn_after=LIMIT)
    files = ("_loader.py", "_decoding.py", "_forming.py")
    before, number = running(), 1
    while interrupted_at(number, lambda: list(batches), files):
        number += 1 + number // 4
        assert batches.state_dict()["yielded"] % 10 == 0
    assert number > 500
    assert torch.cat(list(batches)).flatten().tolist() == ORDER
    gc.collect()
    assert wait_until(lambda: running() == before)


# Programs of their own: signals, and the interpreter's end.

PROGRAM = """
import os, signal, sys, threading, time
import dataflux
from dataflux.torch import IterableDataset
from service import options_of
STATE, THREADS = sys.argv[3], int(sys.argv[4])

def decode(data, row):
    if STATE == "decode":
        print("decoding", flush=True)
        time.sleep(1000)
    if STATE == "python":
        print("decoding", flush=True)
        while True:
            pass
    return int(bytes(data))

dataset = IterableDataset(sys.argv[2], batch_size=4, decode=decode, client=dataflux.Client(**options_of(sys.argv[1])))
batches = dataset.batches(decode_threads=THREADS)
"""


def begun(emulator, url, state, threads, program):
    return subprocess.Popen([sys.executable, "-X", "dev", "-c", PROGRAM + program, emulator.endpoint, url, state,
                             str(threads)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("state", ["decode", "python", "ahead", "between", "reads"])
def test_the_interpreter_ends_in_each_state(emulator, url, state, threads):
    if state == "reads":
        emulator.faults({"verb": "objects.media", "action": "stall", "where": "before_reply", "count": 0})
    done = begun(emulator, url, state, threads, """
given = iter(batches)
if STATE in ("decode", "python", "reads"):
    threading.Thread(target=lambda: next(given), daemon=True).start()
    time.sleep(1)
else:
    next(given)
    if STATE == "ahead":
        time.sleep(0.5)
print("ends", flush=True)
""")
    out, err = done.communicate(timeout=LIMIT)
    assert done.returncode == 0 and out.endswith("ends\n"), out + err
    assert "Traceback" not in err and "Fatal" not in err, err


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("state", ["decode", "reads"])
def test_ctrl_c_ends_a_wait(emulator, url, state, threads):
    if state == "reads":
        emulator.faults({"verb": "objects.media", "action": "stall", "where": "before_reply", "count": 0})
    done = begun(emulator, url, state, threads, """
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
given = iter(batches)
try:
    next(given)
except KeyboardInterrupt:
    print("interrupted", flush=True)
try:
    next(given)
except dataflux.PreconditionError as why:
    print("KeyboardInterrupt" in str(why), flush=True)
""")
    out, err = done.communicate(timeout=LIMIT)
    assert done.returncode == 0 and out.endswith("interrupted\nTrue\n"), out + err
    assert "Traceback" not in err, err


# What a loader tells.

def test_metrics_tell_what_the_step_waited_for(make, bucket):
    def decode(data, row):
        if row.name == "o/007":
            time.sleep(1)
        return int(bytes(data))

    batches = make(decode=decode).batches(decode_threads=2, ahead=1)
    before = batches.metrics()
    assert before["batches"] == before["samples"] == 0 and before["waited"] == 0 and before["slowest"] is None
    given = iter(batches)
    next(given)
    assert wait_until(lambda: batches.metrics()["batches_ahead"] == 2)
    assert wait_until(lambda: batches.metrics()["decoding"] == 0)
    assert batches.metrics()["bytes_ahead"] >= 0
    list(given)
    now = batches.metrics()
    assert (now["batches"], now["samples"], now["batches_ahead"], now["decoding"]) == (10, COUNT, 0, 0)
    assert 0 < now["waited_ns"] <= now["elapsed_ns"] and 0 < now["waited"] <= 1
    assert now["decode_ns"] >= 1e9 * 0.9 and now["slowest"]["url"] == bucket("o/007")
    assert now["slowest"]["decode_ns"] >= 1e9 * 0.9
    lines = batches.prometheus().splitlines()
    assert "# TYPE dataflux_loader_samples_total counter" in lines
    assert f"dataflux_loader_samples_total {COUNT}" in lines


@pytest.mark.parametrize("threads", [0, 2])
def test_a_watchdog_names_who_holds_a_batch_up(make, bucket, caplog, emulator, threads):
    go_on = threading.Event()

    def decode(data, row):
        if row.name == "o/007":
            go_on.wait(LIMIT)
        return int(bytes(data))

    caplog.set_level(logging.WARNING, "dataflux")
    given = iter(make(decode=decode).batches(decode_threads=threads, warn_after=0.2))
    found = []
    waiting = threading.Thread(target=lambda: found.extend(flat(given)))
    waiting.start()
    assert wait_until(lambda: "has been waited for" in caplog.text)
    go_on.set()
    waiting.join(LIMIT)
    assert found == ORDER
    [text] = [record.getMessage() for record in caplog.records if "has been waited" in record.getMessage()]
    whose = "decode thread" if threads else "the thread of the loop"
    assert f"batch {ORDER.index(7) // 4} has been waited for" in text and whose in text
    assert f"in decode of {bucket('o/007')}" in text and "threading.py:" in text


def test_a_watchdog_names_bytes_that_do_not_come(make, bucket, caplog, emulator):
    caplog.set_level(logging.WARNING, "dataflux")
    dataset = make()
    emulator.faults({"verb": "objects.media", "object": f"o/{ORDER[0]:03}", "action": "stall",
                     "where": "before_reply", "count": 0})
    given = iter(dataset.batches(decode_threads=2, warn_after=0.2))
    threading.Thread(target=lambda: next(given, None), daemon=True).start()
    assert wait_until(lambda: "has been waited for" in caplog.text)
    assert f"waited for the bytes of {bucket(f'o/{ORDER[0]:03}')} of batch 0" in caplog.text
    emulator.faults()
    gc.collect()


def test_progress_counts_samples_and_tells_the_wait(make):
    told = []
    list(make().batches(decode_threads=2, progress=lambda **how: told.append(how)))
    assert told[-1]["done"] == told[-1]["total"] == COUNT and told[-1]["unit"] == "samples"
    assert told[-1]["label"].startswith("epoch 0, waited ") and told[-1]["label"].endswith("%")
