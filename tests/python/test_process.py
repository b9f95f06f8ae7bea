"""The client and its process: exit with work in flight, forks, signals, threads, the collector."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import dataflux

TIMES = 500 if os.environ.get("DATAFLUX_TEST_FULL") else 8
LIMIT = 60  # seconds, of what takes a fraction of one

# What programs below begin with: `client`, `url`, and in_flight(n), which waits until n requests have
# been sent and not answered. Requests for objects under stalled/ are not answered.
BEGIN = """
import sys, threading, _thread, time
import dataflux
from service import options_of
client = dataflux.Client(**options_of(sys.argv[1]))
url = sys.argv[2]
lent = bytearray(1 << 20)

def in_flight(number):
    while True:
        now = client.metrics()["connections"]
        if now["open"] - now["idle"] >= number:
            return
        time.sleep(0.001)

def stat():
    client.stat(url + "/stalled/x")

def put():
    client.put(url + "/stalled/y", lent)
"""

EXITS = {
    "of a program without work": "client.stat(url + '/there')",
    "of a program that closes": "client.stat(url + '/there'); client.close()",
    "with calls in daemon threads": """
for target in (stat, put, stat):
    threading.Thread(target=target, daemon=True).start()
in_flight(3)
""",
    "with calls in raw threads": """
_thread.start_new_thread(stat, ())
_thread.start_new_thread(put, ())
in_flight(2)
sys.exit(0)
""",
    "with a call in a daemon thread, and a client that is gone": """
def other():
    dataflux.Client(**options_of(sys.argv[1])).stat(url + "/stalled/x")

threading.Thread(target=other, daemon=True).start()
threading.Thread(target=stat, daemon=True).start()
in_flight(1)
del client, stat, put, lent
""",
    "with daemon threads that go on making calls": """
def again():
    while True:
        client.stat(url + "/there")

for _ in range(4):
    threading.Thread(target=again, daemon=True).start()
client.stat(url + "/there")
""",
    "while a thread that is waited for makes its first call": """
def late():
    threading.main_thread().join()
    other = dataflux.Client(**options_of(sys.argv[1]))
    assert other.stat(url + "/there").size == 4
    assert client.stat(url + "/there").size == 4

threading.Thread(target=late).start()
""",
    "with calls in functions of atexit": """
import atexit

def after():
    other = dataflux.Client(**options_of(sys.argv[1]))
    assert other.stat(url + "/there").size == 4
    assert client.stat(url + "/there").size == 4

atexit.register(after)
threading.Thread(target=stat, daemon=True).start()
in_flight(1)
""",
    "that closes in a function of atexit": """
import atexit

def ended():
    try:
        stat()
    except dataflux.CancelledError:
        pass

atexit.register(client.close)
threading.Thread(target=ended, daemon=True).start()
in_flight(1)
""",
    "within an import": """
import types
exec(compile('''
threading.Thread(target=stat, daemon=True).start()
in_flight(1)
sys.exit()
''', "imported", "exec"), globals())
""",
    "with a view alive": """
view = memoryview(lent)[5:]
reader = client.reader(url + "/there")
threading.Thread(target=put, daemon=True).start()
in_flight(1)
""",
    "with threads that have not begun": """
from dataflux import _loops

def more():
    for _ in range(20):
        _loops.aside(int)

client._handle()
threading.Thread(target=more, daemon=True).start()
more()
""",
    "with a listing that is half read": """
batches = client.list_batches(url)
next(batches)
threading.Thread(target=stat, daemon=True).start()
in_flight(1)
""",
}

# Functions of atexit that are registered before the package is imported run after its own.
BEFORE = """
import atexit, sys

def late():
    assert client.stat(url + "/there").size == 4

atexit.register(late)
"""


def run(program, emulator, bucket, *options, limit=LIMIT):
    return subprocess.run([sys.executable, "-X", "dev", "-W", "error", *options, "-c", program,
                           emulator.endpoint, bucket()], capture_output=True, text=True,
                          timeout=limit, stdin=subprocess.DEVNULL)


@pytest.fixture
def stalled(emulator, bucket):
    bucket.put("there", b"1234")
    emulator.faults(*({"verb": verb, "bucket": bucket.name, "object": "stalled/*", "count": 0,
                       "action": "stall", "where": "before_reply", "ms": 600_000}
                      for verb in ("objects.get", "objects.insert")))
    return bucket


@pytest.mark.parametrize("name", EXITS)
@pytest.mark.parametrize("before", ["", BEFORE], ids=["", "and a late function of atexit"])
def test_an_exit_is_silent_and_well(name, before, emulator, stalled):
    if before and ("del client" in EXITS[name] or "client.close" in EXITS[name]):
        pytest.skip("the client is gone by then")
    # Behind the package's own end no thread asks for a token any more: the client has one by then.
    first = "client.stat(url + '/there')\n" if before else ""
    program = before + BEGIN + first + EXITS[name]
    times = TIMES if not before else max(1, TIMES // 10)
    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(lambda _: run(program, emulator, stalled), range(times)):
            assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_a_call_that_is_interrupted_ends_and_the_client_goes_on(emulator, stalled):
    program = BEGIN + """
import os, signal

def interrupt():
    in_flight(1)
    os.kill(os.getpid(), signal.SIGINT)

for call in (stat, put):
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        call()
    except KeyboardInterrupt:
        print("interrupted")
    thread.join()
    assert not client._under_way
    lent.append(1)  # nobody has it
    assert client.stat(url + "/there").size == 4
"""
    done = run(program, emulator, stalled)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "interrupted\ninterrupted\n")


def test_a_handler_that_returns_lets_the_call_go_on(emulator, stalled):
    program = BEGIN + """
import os, signal
seen = []

def handle(*_):
    seen.append(client.stat(url + "/there").size)  # on the thread that waits

signal.signal(signal.SIGUSR1, handle)

def send():
    in_flight(1)
    for _ in range(20):
        number = len(seen)
        os.kill(os.getpid(), signal.SIGUSR1)
        while len(seen) == number:
            time.sleep(0.001)
    client.close()

thread = threading.Thread(target=send)
thread.start()
try:
    stat()
except dataflux.CancelledError:
    print(seen == [4] * 20)
thread.join()
"""
    done = run(program, emulator, stalled)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "True\n")


def test_a_handler_uses_the_client_while_its_thread_opens_it(emulator, stalled):
    program = BEGIN + """
from dataflux import _client
create = _client.Options.struct

def struct(self):
    if not seen:
        seen.append(0)
        seen.append(client.stat(url + "/there").size)  # as a signal's handler would
    return create(self)

seen = []
_client.Options.struct = struct
assert client.stat(url + "/there").size == 4
assert seen == [0, 4]
"""
    done = run(program, emulator, stalled)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


FORK = BEGIN + """
import os, signal
if hasattr(os, "register_at_fork"):
    import warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # 3.12: of any fork of a process with threads

view = memoryview(lent)
for _ in range(16):
    threading.Thread(target=stat, daemon=True).start()
in_flight(16)
for number in range(TIMES):
    child = os.fork()
    if child == 0:
        assert client._under_way == {}
        if number % 4:
            assert client.stat(url + "/there").size == 4
        if number % 3 == 0:
            client.close()
        if number % 2:
            os._exit(0)
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    if number % 16 == 0:
        assert client.stat(url + "/there").size == 4
assert len(view) == 1 << 20
"""


def test_forks_with_requests_open_have_clients_of_their_own(emulator, stalled):
    done = run(FORK.replace("TIMES", str(2 * TIMES)), emulator, stalled, limit=LIMIT + TIMES)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_a_child_of_a_fork_while_another_thread_opens_a_client_opens_its_own(emulator, stalled):
    program = BEGIN + """
import os, warnings
from dataflux import _client
warnings.simplefilter("ignore", DeprecationWarning)
inside, go_on = threading.Event(), threading.Event()
create = _client.Options.struct

def struct(self):
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        go_on.wait()
    return create(self)

_client.Options.struct = struct
thread = threading.Thread(target=client.stat, args=(url + "/there",))
thread.start()
inside.wait()  # it has the client's lock
child = os.fork()
if child == 0:
    assert client.stat(url + "/there").size == 4
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
go_on.set()
thread.join()
"""
    done = run(program, emulator, stalled)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def waits(client, number):
    """Until so many calls are under way."""
    while len(client._under_way) < number or \
            (now := client.metrics()["connections"])["open"] - now["idle"] < number:
        pass


def test_close_ends_the_calls_of_other_threads(emulator, stalled):
    with emulator.client() as client, ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(client.stat, stalled("stalled/x")) for _ in range(4)]
        waits(client, 4)
        client.close()
        for call in calls:
            assert type(call.exception(timeout=LIMIT)) is dataflux.CancelledError
        assert client._under_way == {}


def test_closing_twice_does_nothing_and_a_closed_client_says_so(emulator, bucket):
    client = emulator.client()
    client.close()
    with emulator.client() as client:
        client.exists(bucket("x"))
        client.close()
    client.close()
    for again in (client.stat, client.exists):
        with pytest.raises(dataflux.PreconditionError, match="the client is closed"):
            again(bucket("x"))
    assert dataflux.Client(anonymous=True).close() is None  # it was never opened


def test_close_and_open_from_many_threads(emulator, bucket):
    bucket.put("x", b"1")
    for _ in range(20):
        client = emulator.client()
        start = threading.Barrier(8)

        def use(number, client=client, start=start):
            start.wait(LIMIT)
            if number == 0:
                client.close()
                return None
            try:
                return client.stat(bucket("x")).size
            except (dataflux.PreconditionError, dataflux.CancelledError):
                return 1

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(use, range(8))) == [None] + [1] * 7
        assert client._under_way == {} and client._opened is None


def test_one_client_is_opened_once_by_many_threads(emulator, bucket):
    bucket.put("x", b"1")
    with emulator.client() as client:
        start = threading.Barrier(8)

        def use(_):
            start.wait(LIMIT)
            return [client.stat(bucket("x")).size for _ in range(50)], client._handle().value

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(use, range(8)))
        assert [sizes for sizes, _ in found] == [[1] * 50] * 8
        assert len({handle for _, handle in found}) == 1
        assert client.metrics()["totals"]["requests_b"] == 400


def test_a_client_that_nobody_has_ends_with_its_thread(emulator, bucket):
    client = emulator.client()
    client.exists(bucket("x"))
    gone, ended, handle = weakref.ref(client), client._feed._ended, weakref.ref(client._opened)
    assert ended.locked()
    del client
    gc.collect()
    assert gone() is None and handle() is None
    assert ended.acquire(timeout=LIMIT)


def test_a_client_lives_as_long_as_calls_of_other_threads(emulator, stalled):
    client = emulator.client()
    gone = weakref.ref(client)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(client.stat, stalled("stalled/x"))
        waits(client, 1)
        del client
        gc.collect()
        gone().close()
        assert type(call.exception(timeout=LIMIT)) is dataflux.CancelledError
    del call
    gc.collect()
    assert gone() is None


def test_a_pickle_carries_the_options(emulator, bucket):
    bucket.put("x", b"1")
    with emulator.client(max_attempts=3) as client:
        client.stat(bucket("x"))
        with pickle.loads(pickle.dumps(client)) as same:
            assert same._options.given == client._options.given
            assert same._handle().value != client._handle().value
            assert same.stat(bucket("x")).size == 1
        assert client.stat(bucket("x")).size == 1
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(client._handle())


def test_calls_of_a_thread_that_ends_leave_nothing(emulator, client, bucket):
    """Each thread has a queue, which has a descriptor."""
    bucket.put("x", b"1")

    def once():
        thread = threading.Thread(target=client.stat, args=(bucket("x"),))
        thread.start()
        thread.join(LIMIT)

    once()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        once()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) <= before + 5


class Fake:
    """In the place of the library."""

    def __init__(self, freed):
        self._freed = freed

    def fake_free(self, handle):
        value = getattr(handle, "value", handle)
        if value is not None:
            self._freed.append(value)

    def when_loaded(self, function):
        function()


def test_a_handle_is_freed_once_however_many_let_go_of_it():
    from dataflux import _handles, _library

    freed = []

    real, _handles.library = _handles.library, Fake(freed)
    try:
        kind = _handles.handle("fake")
        for _ in range(50):
            one = kind(7)
            start = threading.Barrier(4)

            def free(one=one, start=start):
                start.wait(LIMIT)
                one.free()

            threads = [threading.Thread(target=free) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(LIMIT)
    finally:
        _handles.library = real
    assert freed == [7] * 50
    assert _library.library is real


def test_an_operation_is_freed_before_what_was_lent_to_it(emulator, stalled):
    """Also where an interrupt comes just before the operation would have been freed."""
    from dataflux import _wait

    order = []

    class Lent:
        def __del__(self):
            order.append("lent")

    class Operation(_wait.OperationHandle):
        def free(self):
            if not order and interrupted:
                interrupted.pop()
                raise KeyboardInterrupt
            if self.value:
                order.append("operation")
            super().free()

        def __del__(self):
            self.free()

    interrupted = [True]
    _wait._mine.ready().clear()
    real, _wait.OperationHandle = _wait.OperationHandle, Operation
    try:
        with emulator.client() as client:
            call = call_of_stat(stalled, Lent())

            def stop():
                raise ValueError

            with pytest.raises(KeyboardInterrupt):
                _wait.run(client, call, tick=stop, every=0.01)
            del call
            gc.collect()
            assert client._under_way == {}
    finally:
        _wait.OperationHandle = real
        _wait._mine.ready().clear()
    assert order == ["operation", "lent"]


def call_of_stat(stalled, lent):
    from dataflux._calls import Call
    from dataflux._library import byref, library, struct

    options = struct("object_options", bucket=stalled.name, object="stalled/x")
    return Call(lambda handle, queue, tag, out, err:
                library.stat(handle, byref(options), queue, tag, out, err), lent=lent)


def test_items_and_lent_memory_go_without_bytecode_where_an_interrupt_would_be_lost(client, bucket):
    import sys

    for i in range(50):
        bucket.put(f"many/{i}", b"x" * 100)
    bucket.put("large", bytes(9 << 20))
    ran = []

    def calls():
        client.get(bucket("many/0"))
        client.read_into(bucket("many/0"), bytearray(100))
        client.put(bucket("new"), bytearray(1000))
        client.metrics()
        with pytest.raises(dataflux.NotFoundError):
            client.get(bucket("missing"))
        with client.open(bucket("large")) as file:
            assert sum(map(len, iter(lambda: file.read(300_000), b""))) == 9 << 20
        with client.get_many([bucket("large")] * 3) as stream:
            assert [len(item.data) for item in stream.items()] == [9 << 20] * 3
        items = list(client.get_many([bucket(f"many/{i}") for i in range(50)]).items())
        sizes = [len(item.data) for item in items]
        del items[:]  # where no stream is open any more
        return sizes

    calls()
    sys.setprofile(lambda frame, event, argument: ran.append(
        (os.path.basename(frame.f_code.co_filename), frame.f_code.co_name))
                   if event == "call" else None)
    try:
        assert calls() == [100] * 50
    finally:
        sys.setprofile(None)
    assert ("_wait.py", "_run_one") in ran  # it was looked at
    assert ("_lent.py", "__del__") not in ran
    assert ("_handles.py", "free") in ran and ("_handles.py", "__del__") not in ran
    assert ("_slabs.py", "lend") in ran
    assert {name for file, name in ran if file == "_slabs.py"} <= {"lend", "lent"}
    assert ("_reader.py", "begin") in ran and ("_reader.py", "__del__") not in ran


def queues():
    """How many of the descriptors may be a queue's: connections come and go as they like."""
    found = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            found += "eventfd" in os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:
            pass
    return found


def test_handles_that_nobody_freed_go_without_bytecode(client, bucket):
    from dataflux._handles import ErrorHandle, OperationHandle, QueueHandle
    from dataflux._library import byref, library, struct

    bucket.put("x", b"1")
    options = struct("object_options", bucket=bucket.name, object="x")
    ran = []

    def made():
        queue, operation, error = QueueHandle(), OperationHandle(), ErrorHandle()
        library.queue_create(byref(queue), byref(error))
        library.stat(client._handle(), byref(options), queue, 1, byref(operation), byref(error))
        missing = ErrorHandle()
        library.stat(client._handle(), None, queue, 1, byref(OperationHandle()), byref(missing))
        assert queue and operation and missing and not error

    made()
    before = queues()
    sys.setprofile(lambda frame, event, argument: ran.append(frame.f_code.co_name)
                   if event == "call" else None)
    try:
        for _ in range(20):
            made()
    finally:
        sys.setprofile(None)
    assert ran.count("made") == 20 and set(ran) <= {"made", "_handle"}
    assert queues() <= before


def test_a_handle_in_a_cycle_is_freed_once_though_others_free_it_while_it_is_collected():
    import gc

    from dataflux import _handles

    freed = []

    class Keeper:
        def __del__(self):
            self.handle.free()

    real, _handles.library = _handles.library, Fake(freed)
    try:
        kind = _handles.handle("fake")
        for order in range(4):
            parts = [kind(7), Keeper()] if order % 2 else [Keeper(), kind(7)]
            handle, keeper = parts if order % 2 else parts[::-1]
            keeper.handle, handle.keeper, keeper.me = handle, keeper, keeper
            del parts, handle, keeper
            gc.collect()
    finally:
        _handles.library = real
    assert freed == [7] * 4
