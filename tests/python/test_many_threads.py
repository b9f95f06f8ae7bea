"""What several threads do at once needs no lock of the interpreter's: free-threaded Python has none."""

import gc
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dataflux import _events, _wait

THREADS = 8


def at_once(work):
    """What work(number) gives on each of some threads that begin together."""
    ready = threading.Barrier(THREADS)

    def begin(number):
        ready.wait(60)
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


@pytest.mark.parametrize("tags", [_wait.tags, _wait.Tags()], ids=["as they are", "without the lock"])
def test_tags_are_given_once(tags):
    given = at_once(lambda _: [next(tags) for _ in range(5000)])
    assert len(set().union(*given)) == THREADS * 5000


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


@pytest.mark.parametrize("has_lock, tried, said", [
    (False, None, "PYTHON_GIL=1"), (False, "1", "imported"), (True, None, "imported")])
def test_a_python_without_the_lock_is_refused_unless_it_is_to_be_tried(has_lock, tried, said):
    environment = {name: value for name, value in os.environ.items() if name != "DATAFLUX_FREE_THREADED"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    if tried:
        environment["DATAFLUX_FREE_THREADED"] = tried
    program = f"""
import sys
sys._is_gil_enabled = lambda: {has_lock}
try:
    import dataflux
    dataflux.Client
    print("imported")
except ImportError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True,
                         timeout=60)
    assert said in ran.stdout and ran.stderr == ""
