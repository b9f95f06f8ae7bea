"""What the library tells comes by logging."""

import json
import logging
import subprocess
import sys
import threading

import pytest

import dataflux
from dataflux import _events

LIMIT = 60


class Kept(logging.Handler):
    """Records, and who waits for them."""

    def __init__(self):
        super().__init__()
        self.records = []
        self.came = threading.Condition()

    def emit(self, record):
        with self.came:
            self.records.append(record)
            self.came.notify_all()

    def wait(self, number):
        with self.came:
            assert self.came.wait_for(lambda: len(self.records) >= number, LIMIT)
            return self.records


@pytest.fixture
def kept():
    handler, logger = Kept(), logging.getLogger("dataflux")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    _events._told.clear()
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


def fail_twice(emulator, bucket, name="x"):
    bucket.put(name, b"1")
    emulator.faults({"verb": "objects.get", "bucket": bucket.name, "object": name, "action": "refuse",
                     "status": 503, "count": 2})


def test_retries_are_told_a_warning_once(emulator, bucket, client, kept):
    fail_twice(emulator, bucket)
    client.stat(bucket("x"))
    first, second = kept.wait(2)
    assert (first.levelname, second.levelname) == ("WARNING", "INFO")
    assert (first.name, first.verb, first.bucket, first.object, first.attempt) == \
        ("dataflux", "objects.get", bucket.name, "x", 1)
    assert second.attempt == 2 and first.delay >= 0
    assert first.getMessage().startswith("attempt 1 failed, the next one comes ")
    assert "HTTP 503" in first.getMessage()


def test_another_bucket_s_retries_are_a_warning_of_their_own(emulator, bucket, client, kept):
    fail_twice(emulator, bucket)
    client.stat(bucket("x"))
    kept.wait(2)
    emulator.add_bucket(bucket.name + "-2")
    other = type(bucket)(emulator, bucket.name + "-2")
    fail_twice(emulator, other)
    client.stat(other("x"))
    assert [record.levelname for record in kept.wait(4)] == ["WARNING", "INFO"] * 2


def test_one_that_filters_by_raising_loses_no_other_line(emulator, bucket, client, kept,
                                                         monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda told: seen.append(told.exc_type))

    def refuse(record):
        if not seen:
            raise KeyError("a fault of the program's own")
        return True

    logger = logging.getLogger("dataflux")
    logger.addFilter(refuse)
    try:
        fail_twice(emulator, bucket)
        client.stat(bucket("x"))
        record, = kept.wait(1)
    finally:
        logger.removeFilter(refuse)
    assert seen == [KeyError] and record.attempt == 2


def test_a_handler_may_use_the_client(emulator, bucket, client):
    class Stating(Kept):
        def emit(self, record):
            self.found = client.stat(bucket("y")).size
            super().emit(record)

    bucket.put("y", b"22")
    fail_twice(emulator, bucket)
    handler, logger = Stating(), logging.getLogger("dataflux")
    logger.addHandler(handler)
    _events._told.clear()
    try:
        client.stat(bucket("x"))
        handler.wait(1)
    finally:
        logger.removeHandler(handler)
    assert handler.found == 2


def test_what_is_dropped_is_counted(emulator, bucket, kept, monkeypatch):
    monkeypatch.setattr(_events, "CAPACITY", 2)
    blocked, go_on = threading.Event(), threading.Event()

    def block(record):
        blocked.set()
        assert go_on.wait(LIMIT)
        return True

    logger = logging.getLogger("dataflux")
    with emulator.client(max_attempts=20) as client:
        logger.addFilter(block)
        try:
            fail_twice(emulator, bucket)
            client.stat(bucket("x"))
            assert blocked.wait(LIMIT)
            for _ in range(5):
                fail_twice(emulator, bucket)
                client.stat(bucket("x"))
        finally:
            go_on.set()
            logger.removeFilter(block)
        with kept.came:
            assert kept.came.wait_for(lambda: any("were dropped" in record.getMessage()
                                                  for record in kept.records), LIMIT)
    told = [record for record in kept.records if "were dropped" in record.getMessage()]
    dropped = sum(int(record.getMessage().split()[0]) for record in told)
    # Whether the second of the first two is taken with the first is the thread's luck.
    assert dropped in (8, 9, 10)
    assert {record.levelname for record in told} == {"WARNING"}


def test_levels_of_lines_and_warnings_once(kept):
    _events.log("warning", "the disk is slow")
    _events.log("warning", "the disk is slow")
    _events.log("error", "it fails")
    _events.log("error", "it fails")
    _events.log("info", "it works")
    assert [record.levelname for record in kept.records] == \
        ["WARNING", "INFO", "ERROR", "ERROR", "INFO"]
    assert {(record.verb, record.attempt, record.delay) for record in kept.records} == {("", 0, 0.0)}


def test_what_keeps_lines_from_being_logged_is_told_once(kept, monkeypatch):
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda told: seen.append(told.exc_type))

    def refuse(level, text, event=None):
        raise ModuleNotFoundError("No module named 'logging'") if text == "a" else KeyError(text)

    monkeypatch.setattr(_events, "log", refuse)
    state = _events._State(None, threading.current_thread(), None)
    lines = [{"kind": "log", "level": "info", "text": text} for text in "aaab"]
    state.go_through(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert seen == [ModuleNotFoundError, KeyError]


def test_what_later_versions_may_tell_is_passed_over(kept):
    state = _events._State(None, threading.current_thread(), None)
    lines = [{"kind": "weather", "text": "rain"}, {"kind": "log", "level": "notice", "text": "new"}]
    state.go_through(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert [(record.levelname, record.getMessage()) for record in kept.records] == [("INFO", "new")]


PROGRAM = """
import sys
import dataflux
from service import options_of
client = dataflux.Client(**options_of(sys.argv[1]))
client.stat(sys.argv[2])
client._feed.catch_up(60)
print("logging" in sys.modules)
"""


@pytest.mark.parametrize("before", ["", "import logging; logging.basicConfig()"])
def test_nothing_is_printed_unless_logging_is_set_up(emulator, bucket, before):
    fail_twice(emulator, bucket)
    done = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", before + PROGRAM,
                           emulator.endpoint, bucket("x")], capture_output=True, text=True,
                          timeout=LIMIT)
    assert (done.returncode, done.stdout) == (0, "True\n")
    lines = done.stderr.splitlines()
    assert [line.split(" failed")[0] for line in lines] == \
        (["WARNING:dataflux:attempt 1"] if before else [])


def test_logging_is_imported_when_there_is_something_to_tell(emulator, bucket):
    bucket.put("x", b"1")
    done = subprocess.run([sys.executable, "-c", PROGRAM, emulator.endpoint, bucket("x")],
                          capture_output=True, text=True, timeout=LIMIT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False\n", "")
