"""What the tests of the Python package share: an emulator for each process of pytest, a bucket of
its own for each test, and a client."""

import json
import os
import signal
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from itertools import count
from pathlib import Path

import pytest

import dataflux

# What the script tests of programs share, a slow road for one.
sys.path.append(str(Path(__file__).resolve().parent.parent / "cli"))

_numbers = count(1)

# A shell's background job ignores Ctrl-C, and so would the programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and \
        threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Service(dataflux.Emulator):
    """The emulator, and plain requests to it, so that a test's own look owes nothing to the client."""

    def answered(self):
        """How many requests of clients it has answered."""
        return sum(one["count"] for one in self.counters()["requests"] if one["verb"] != "control")

    def ask(self, method, target, body=None, **headers):
        request = urllib.request.Request(self.endpoint + target, data=body, method=method,
                                         headers=headers)
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.read()


class Bucket:
    """A bucket, and what it holds, by plain requests."""

    def __init__(self, service, name):
        self.service, self.name = service, name

    def __call__(self, name=""):
        """The URL of an object, or of the bucket."""
        return f"gs://{self.name}/{name}" if name else f"gs://{self.name}"

    def put(self, name, content=b""):
        self.service.ask("POST", f"/upload/storage/v1/b/{self.name}/o?uploadType=media&name="
                         + urllib.parse.quote(name, safe=""), content)

    def get(self, name):
        """The object's bytes, None when there is none."""
        try:
            return self.service.ask("GET", f"/storage/v1/b/{self.name}/o/"
                                    f"{urllib.parse.quote(name, safe='')}?alt=media")
        except urllib.error.HTTPError as refused:
            if refused.code != 404:
                raise
            return None

    def names(self):
        """Of all objects, as long as they fit into a page."""
        page = json.loads(self.service.ask("GET", f"/storage/v1/b/{self.name}/o"))
        return [item["name"] for item in page.get("items", [])]


@pytest.fixture(scope="session")
def _service():
    with Service(log=200) as service:
        yield service


@pytest.fixture
def emulator(_service):
    yield _service
    _service.faults()


@pytest.fixture
def bucket(emulator):
    name = f"bucket-{os.getpid()}-{next(_numbers)}"
    emulator.add_bucket(name)
    return Bucket(emulator, name)


@pytest.fixture
def client(emulator):
    with dataflux.Client(endpoint=emulator.endpoint, emulator=True) as made:
        yield made


def pytest_make_parametrize_id(config, val, argname):
    """Without addresses: the processes of pytest-xdist must agree on the names of the tests."""
    return type(val).__name__ if " at 0x" in repr(val) else None
