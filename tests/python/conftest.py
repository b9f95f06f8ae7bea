"""What the tests of the Python package share: an emulator for each process of pytest, a bucket of
its own for each test, and a client."""

import json
import os
import sys
from itertools import count
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from service import Emulator  # noqa: E402

import dataflux  # noqa: E402

_numbers = count(1)


class Service(Emulator):
    """The emulator, with what tests ask of it beside the service."""

    def add_bucket(self, name, **settings):
        """Makes it; settings: see tests/emulator/control_api.hpp."""
        self.ask("PATCH", f"/_emulator/buckets/{name}", json.dumps(settings).encode())

    def faults(self, *rules):
        """In place of all others; none forgets them. See tests/emulator/fault_json.hpp."""
        self.ask("DELETE", "/_emulator/faults")
        if rules:
            self.ask("POST", "/_emulator/faults", json.dumps(rules).encode())

    def counters(self):
        return json.loads(self.ask("GET", "/_emulator/counters"))

    def log(self):
        return json.loads(self.ask("GET", "/_emulator/log"))


class Bucket:
    """A bucket, and what it holds, by plain requests."""

    def __init__(self, service, name):
        self.service, self.name = service, name

    def __call__(self, name=""):
        """The URL of an object, or of the bucket."""
        return f"gs://{self.name}/{name}" if name else f"gs://{self.name}"

    def _there(self, call, *arguments):
        before, self.service.bucket = self.service.bucket, self.name
        try:
            return call(*arguments)
        finally:
            self.service.bucket = before

    def put(self, name, content=b""):
        self._there(self.service.put, name, content)

    def get(self, name):
        return self._there(self.service.get, name)

    def names(self):
        return self._there(self.service.names)


@pytest.fixture(scope="session")
def _service():
    service = Service(os.environ["DATAFLUX_EMULATOR"], "first-bucket")
    yield service
    service.close()


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
