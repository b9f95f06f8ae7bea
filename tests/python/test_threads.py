"""Threads that the package starts, and the end of the interpreter."""

import subprocess
import sys
import threading
from weakref import WeakSet

import pytest

from dataflux import _threads

LIMIT = 60


def run(program):
    return subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", program],
                          capture_output=True, text=True, timeout=LIMIT)


def test_a_thread_calls_the_function_and_is_noted_until_it_has_begun():
    seen, called = [], threading.Event()

    def function(*arguments):
        seen.extend((arguments, dict(_threads._beginning)))
        called.set()

    _threads.begin(function, 1, "two")
    assert called.wait(LIMIT)
    assert seen == [(1, "two"), {}]


def test_a_thread_that_cannot_be_started_is_not_waited_for(monkeypatch):
    def refused(*_):
        assert len(_threads._beginning) == 1
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_threads._thread, "start_new_thread", refused)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        _threads.begin(print)
    assert _threads._beginning == {}


def test_the_end_waits_for_threads_that_were_started_and_starts_none_after_that():
    done = run("""
from dataflux import _threads
import threading

real, inside, go_on, order = _threads._thread.start_new_thread, threading.Event(), threading.Event(), []

def slow(function, arguments):  # as the system may be
    def late():
        go_on.wait()
        order.append("begun")
        function(*arguments)
    return real(late, ())

_threads._thread.start_new_thread = slow
_threads.begin(int)

def ends():
    inside.set()
    _threads.no_more()
    order.append("ended")

thread = threading.Thread(target=ends)
_threads._thread.start_new_thread = real
thread.start()
inside.wait()
assert order == []
go_on.set()
thread.join()
assert order == ["begun", "ended"], order
try:
    _threads.begin(print)
except RuntimeError as why:
    assert "shutdown" in str(why)
else:
    raise AssertionError

from dataflux import _loops
called = []
_loops.aside(called.append, threading.get_ident())
assert called == [threading.get_ident()]  # at once
""")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_child_of_a_fork_does_not_wait_for_threads_of_its_parent():
    done = run("""
import os, time, warnings
from dataflux import _threads
warnings.simplefilter("ignore", DeprecationWarning)
never = _threads._thread.allocate_lock()
never.acquire()
_threads._beginning[id(never)] = never
child = os.fork()
if child == 0:
    _threads.no_more()
    os._exit(0 if _threads._beginning == {} else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
_threads._beginning.clear()
""")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_a_weak_set_has_is_found_while_others_put_something_into_it():
    there = [type("Thing", (), {})() for _ in range(3)]

    class Growing(WeakSet):
        def __iter__(self):
            for each in super().__iter__():
                self.add(there[-1])  # as another thread does
                yield each

    found = _threads.all_of(Growing(there[:2]))
    assert len(found) == 3 and set(found) == set(there)


@pytest.mark.without_tokens
def test_what_outlives_the_packages_modules_says_nothing(emulator, bucket, tmp_path):
    """As a program's globals do in free-threaded Python, whose __main__ goes last."""
    for number in range(20):
        bucket.put(f"many/{number}", bytes(1 << 20))
    ran = run(f"""
import asyncio, builtins, sys, types, warnings
first = sys.modules["first"] = types.ModuleType("first")  # the last of all that is taken apart
import dataflux
from dataflux import _rows
warnings.simplefilter("ignore")

how = {{"endpoint": {emulator.endpoint!r}, "emulator": True}}
client = dataflux.Client(cache=dataflux.Cache({str(tmp_path)!r}), **how)
listing = client.list({bucket("many/")!r})
stream = client.get_many(listing, progress=lambda **_: None, batch=1)
next(stream)
rows = _rows.RowStream(client, None, listing)
batches = client.list_batches({bucket()!r})
reader, file = client.reader({bucket("many/0")!r}), client.open({bucket("many/0")!r}, "rb")
file.read(100)
job = dataflux.job({str(tmp_path / "job")!r}, client=client, rank=0, world_size=1, name="x")

async def opened():
    tasks = dataflux.AsyncClient(**how)
    file = await tasks.open({bucket("many/0")!r})
    await file.read(100)
    many = tasks.get_many(listing, batch=1)
    await many.__anext__()
    writer = await tasks.writer({bucket("written")!r})
    await writer.write(b"x")
    return tasks, file, many, writer, asyncio.get_running_loop()

writers = client.writer({bucket("one")!r}), client.open({bucket("two")!r}, "wb"), client.open({bucket("3")!r}, "w")
shards = client.shard_writer({bucket("shards-%06d.tar")!r}, count=10)
first.kept = dataflux.Emulator("bucket"), client, listing, stream, rows, batches, reader, file, job, writers, shards, asyncio.run(opened())
builtins.kept = list(sys.modules.values())
""")
    assert ran.returncode == 0 and "Error" not in ran.stderr and "Exception ignored" not in ran.stderr, ran.stderr
