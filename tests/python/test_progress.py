"""How far a call is: callables, bars, and what is printed."""

import io
import os
import pty
import subprocess
import sys
import threading

import pytest

import dataflux
from dataflux import _bar, _progress
from dataflux._calls import Call, json_of
from dataflux._library import byref, library, struct

LIMIT = 60
SIZE = 16 << 20


def upload(client, bucket, path, progress, name="big"):
    """A call that the library tells the progress of, as each verb of files makes one."""
    options = struct("upload_file_options", bucket=bucket.name, object=name, path=str(path), progress=1)
    return client._run(Call(lambda handle, queue, tag, out, err:
                            library.upload_file(handle, byref(options), queue, tag, out, err),
                            lambda operation, record: json_of(operation)),
                       progress=progress, told=("upload", bucket.name, name))


@pytest.fixture
def big(tmp_path):
    path = tmp_path / "big"
    path.write_bytes(bytes(SIZE))
    return path


def test_a_callable_is_told_by_the_thread_that_waits_and_told_all_at_the_end(client, bucket, big):
    told = []

    def tell(*, done, total, unit, label):
        told.append((done, total, unit, label, threading.get_ident()))

    upload(client, bucket, big, tell)
    assert told[-1] == (SIZE, SIZE, "B", f"upload gs://{bucket.name}/big", threading.get_ident())
    assert [done for done, *_ in told] == sorted(done for done, *_ in told)
    assert client._feed._state.sinks == {}


def test_what_a_callable_raises_reaches_the_caller_and_ends_the_call(emulator, client, bucket, big):
    emulator.faults({"bucket": bucket.name, "action": "stall", "where": "before_reply",
                     "ms": 600_000, "count": 0})
    told = []

    def tell(**counts):
        told.append(counts)
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        upload(client, bucket, big, tell)
    assert len(told) == 1
    assert client._under_way == {} and client._feed._state.sinks == {}
    emulator.faults()
    assert upload(client, bucket, big, None)["object"]["size"] in (SIZE, str(SIZE))


def test_a_call_that_fails_tells_how_far_it_came(client, bucket, tmp_path):
    told = []
    with pytest.raises(dataflux.Error):
        upload(client, bucket, tmp_path / "none", lambda **counts: told.append(counts["done"]))
    assert told == [0]


def test_calls_for_one_place_see_each_its_own_counts(emulator, client, bucket, tmp_path):
    """Also while the other one tells of itself all the time."""
    emulator.add_bucket(bucket.name, versioning=True)
    made = {size: client.put(bucket("it"), bytes(size)) for size in (1 << 20, SIZE)}
    told = {size: [] for size in made}

    def work(size):
        client.download(bucket("it"), tmp_path / str(size), generation=made[size].generation,
                        progress=lambda **counts: told[size].append(counts))

    threads = [threading.Thread(target=work, args=(size,)) for size in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    for size, counts in told.items():
        assert counts[-1] == {"done": size, "total": size, "unit": "B", "label": f"download {bucket('it')}"}
        assert all(each["done"] <= size and each["total"] in (None, size) for each in counts)
    assert client._feed._state.sinks == {}


@pytest.mark.parametrize("bad", [0, 1, "bar", [print]])
def test_what_is_no_progress_is_told_before_any_request(emulator, client, bucket, big, bad):
    before = emulator.answered()
    with pytest.raises(TypeError, match="^progress: "):
        upload(client, bucket, big, bad)
    assert emulator.answered() == before


@pytest.mark.parametrize("nobody", [None, False])
def test_nobody_is_told_nothing(client, bucket, big, nobody, capfd):
    upload(client, bucket, big, nobody)
    assert _progress.of(nobody, "label", "B") is None
    assert capfd.readouterr() == ("", "")


class Clock:
    def __init__(self, monkeypatch):
        self.now = 100.0
        for module in (_progress, _bar):
            monkeypatch.setattr(module, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_counts_are_told_ten_times_a_second_and_at_the_end(clock):
    told = []
    teller = _progress.of(lambda **counts: told.append(counts), "label", "objects", 50)
    for done in range(40):
        teller.at(done)
        clock.now += 0.03125
    teller.at(40)
    teller.end()
    teller.end()
    assert [counts["done"] for counts in told] == [*range(0, 40, 4), 40]
    assert told[-1] == {"done": 40, "total": 50, "unit": "objects", "label": "label"}


def test_a_total_may_become_known_and_stays_so(clock):
    told = []
    teller = _progress.of(lambda **counts: told.append((counts["done"], counts["total"])), "l", "B")
    teller.at(1)
    clock.now += 1
    teller.at(2, 9)
    clock.now += 1
    teller.at(3)
    teller.end()
    assert told == [(1, None), (2, 9), (3, 9)]


def test_a_callable_that_raised_is_not_called_at_the_end(clock):
    told = []

    def tell(**counts):
        told.append(counts["done"])
        raise LookupError

    teller = _progress.of(tell, "label", "B")
    with pytest.raises(LookupError):
        teller.at(1)
    teller.end()
    assert told == [1]


def test_a_callable_that_is_told_by_another_thread_is_not_told_by_this_one(clock):
    inside, go_on, told = threading.Event(), threading.Event(), []

    def tell(**counts):
        told.append(counts["done"])
        inside.set()
        assert go_on.wait(LIMIT)

    teller = _progress.of(tell, "label", "B")
    thread = threading.Thread(target=teller.at, args=(1,))
    thread.start()
    assert inside.wait(LIMIT)
    clock.now += 1
    teller.at(2)
    assert told == [1]
    go_on.set()
    thread.join(LIMIT)
    teller.end()
    assert told == [1, 2]


def test_a_log_has_a_line_every_ten_seconds_and_one_at_the_end(clock, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    teller = _progress.of(True, "download gs://b/a\x1b[2J\nb", "B")
    for done in range(0, 24):
        teller.at(done * 1_000_000, 24_000_000)
        clock.now += 1
    teller.at(24_000_000)
    teller.end()
    assert stream.getvalue().splitlines() == [
        r"download gs://b/a\x1b[2J\nb: 10.0 MB of 24.0 MB, 1.00 MB/s, 14.0 s left",
        r"download gs://b/a\x1b[2J\nb: 20.0 MB of 24.0 MB, 1.00 MB/s, 4.0 s left",
        r"download gs://b/a\x1b[2J\nb: 24.0 MB of 24.0 MB, 1.00 MB/s, 24.0 s"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_without_tqdm_has_one_line(clock, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    teller = _progress.of(True, "remove gs://b/", "objects")
    teller.at(0)
    clock.now += 1
    teller.at(1500, 3000)
    clock.now += 1
    teller.at(3000)
    teller.end()
    *shown, last = stream.getvalue().split("\r")[1:]
    assert all(len(line) < 80 for line in shown)
    assert shown[1].startswith("remove gs://b/:  50% [####") and "1,500 of 3,000 objects" in shown[1]
    assert last.startswith("remove gs://b/: 100% [####") and last.endswith(", 2.0 s\n")


@pytest.mark.parametrize("tqdm", [True, False])
def test_a_bar_in_a_real_terminal(emulator, bucket, tqdm):
    pytest.importorskip("tqdm")
    for number in range(3):
        bucket.put(f"x{number}")
    program = f"""
import sys
if not {tqdm}:
    sys.modules["tqdm"] = None
import dataflux
from service import options_of
with dataflux.Client(**options_of(sys.argv[1])) as client:
    client.list(sys.argv[2], progress=True)
"""
    ours, theirs = pty.openpty()
    import fcntl
    import struct as packed
    import termios

    fcntl.ioctl(theirs, termios.TIOCSWINSZ, packed.pack("HHHH", 24, 100, 0, 0))
    process = subprocess.Popen([sys.executable, "-c", program, emulator.endpoint, bucket()],
                               stderr=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.communicate(timeout=LIMIT)[0] == b"" and process.returncode == 0
    text = shown.decode()
    assert f"listing gs://{bucket.name}/" in text and "3" in text and text.endswith("\n")
    assert ("\u2588" in text or "3/3" in text or "3 objects" in text) if tqdm else "objects" in text


def test_a_bar_that_cannot_be_written_ends_no_call(clock, monkeypatch):
    class Broken(Terminal):
        def write(self, text):
            raise BrokenPipeError

    for stream in (Broken(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setitem(sys.modules, "tqdm", None)
        teller = _progress.of(True, "label", "B")
        teller.at(1)
        clock.now += 1
        teller.at(2)
        teller.end()


def test_a_notebook_without_tqdm_has_an_output_that_changes(clock, monkeypatch):
    display = pytest.importorskip("IPython.display")
    import IPython

    shown = []

    class Handle:
        def update(self, text, raw):
            shown.append(("update", text["text/plain"]))

    def show(text, raw, display_id):
        shown.append(("display", text["text/plain"]))
        return Handle()

    class Shell:
        config = {"IPKernelApp": {}}

    monkeypatch.setattr(IPython, "get_ipython", Shell)
    monkeypatch.setattr(display, "display", show)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    teller = _progress.of(True, "label", "objects")
    teller.at(1)
    clock.now += 1
    teller.at(2, 2)
    teller.end()
    assert [kind for kind, _ in shown] == ["display", "update", "update"]
    assert shown[-1][1] == "label: 2 of 2 objects, 2.0/s, 1.0 s"


@pytest.mark.parametrize("number, unit, text", [
    (0, "B", "0 B"), (999, "B", "999 B"), (1000, "B", "1.00 kB"), (999_999, "B", "1.00 MB"),
    (12_340_000, "B", "12.3 MB"), (5e18, "B", "5000.0 PB"), (1234, "objects", "1,234 objects")])
def test_amounts(number, unit, text):
    assert _bar.amount(number, unit) == text


@pytest.mark.parametrize("seconds, text", [
    (0, "0.0 s"), (59.94, "59.9 s"), (59.96, "1 min 00 s"), (3599.9, "1 h 00 min"),
    (7260, "2 h 01 min")])
def test_durations(seconds, text):
    assert _bar.duration(seconds) == text


def test_items_that_an_exception_of_the_callable_has_lost_are_told_by_each_later_batch(client,
                                                                                      bucket):
    for i in range(3):
        bucket.put(f"many/{i}", b"x")

    def tell(**counts):
        raise RuntimeError("mine")

    reads = client.get_many([bucket(f"many/{i}") for i in range(3)], progress=tell)
    with pytest.raises(RuntimeError, match="mine"):
        for _ in reads:
            pass
    for _ in range(2):
        with pytest.raises(dataflux.PreconditionError, match="items were lost by a RuntimeError"):
            next(reads)


def test_what_would_have_to_be_awaited_is_no_progress(emulator, client, bucket):
    async def tell(**counts):
        pass

    before = emulator.answered()
    with pytest.raises(TypeError, match="^progress: a plain function is needed"):
        client.list(bucket(), progress=tell)
    assert emulator.answered() == before
    with pytest.raises(TypeError, match="^progress: .* returns what has to be awaited"):
        client.list(bucket(), progress=lambda **counts: tell())
