"""What the tests of the Python package share: an emulator for each process of pytest, a bucket of
its own for each test, and a client."""

import gc
import json
import os
import signal
import ssl
import sys
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from itertools import count
from pathlib import Path

import pytest

import dataflux

# What the script tests of programs share, a slow road for one; and so for processes begun by tests.
SHARED = str(Path(__file__).resolve().parent.parent / "cli")
sys.path.append(SHARED)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), SHARED)))

from ais import AisBucket, AisService  # noqa: E402
from s3 import S3Bucket, S3Service  # noqa: E402
from service import options_of, token_of  # noqa: E402

_numbers = count(1)

# A shell's background job ignores Ctrl-C, and so would the programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN and \
        threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Service(dataflux.Emulator):
    """The emulator, which asks for tokens, and plain requests to it, so that a test's own look owes
    nothing to the client. DATAFLUX_TEST_TLS in the environment: it speaks TLS.

    options   what a client of it is made with
    """

    asks = True

    def __init__(self, *buckets, **more):
        arguments = ["--require-token"] if self.asks else []
        self._context, tls = None, self.asks and bool(os.environ.get("DATAFLUX_TEST_TLS"))
        with tempfile.TemporaryDirectory() as folder:
            if tls:
                arguments += ["--https", "--ca-file", f"{folder}/ca.pem"]
            super().__init__(*buckets, arguments=arguments, **more)
            if tls:
                self._trust(Path(folder, "ca.pem").read_bytes())
        if self.asks:
            self._new_token()

    def _trust(self, authority):
        with tempfile.NamedTemporaryFile(suffix=".pem", delete=False) as file:
            file.write(authority)
        self._context = ssl.create_default_context(cafile=file.name)
        os.environ["DATAFLUX_TEST_CA"] = file.name  # for processes begun by tests, too

    def close(self):
        if getattr(self, "_context", None) is not None:
            Path(os.environ.pop("DATAFLUX_TEST_CA")).unlink()
            self._context = None
        super().close()

    @property
    def options(self):
        if self.asks:
            return options_of(self.endpoint)
        return {"endpoint": self.endpoint, "emulator": True}

    def token(self):
        """A new one."""
        return token_of(self.endpoint, os.environ.get("DATAFLUX_TEST_CA"))

    def _new_token(self):
        """For the fixture's own requests, and the first one of clients, also in other processes."""
        os.environ["DATAFLUX_TEST_TOKEN"] = self._token = self.token()

    def client(self, **options):
        return dataflux.Client(**{**self.options, **options})

    def async_client(self, **options):
        return dataflux.AsyncClient(**{**self.options, **options})

    def answered(self, verb=None):
        """How many requests of clients it has answered: of this verb, or all but those for tokens."""
        return sum(one["count"] for one in self.counters()["requests"]
                   if (one["verb"] == verb if verb else one["verb"] not in ("control", "token")))

    def ask(self, method, target, body=None, **headers):
        for again in (True, False):
            bearer = {"Authorization": f"Bearer {self._token}"} if self.asks else {}
            request = urllib.request.Request(self.endpoint + target, data=body, method=method,
                                             headers={**bearer, **headers})
            try:
                with urllib.request.urlopen(request, timeout=60, context=self._context) as reply:
                    return reply.read()
            except urllib.error.HTTPError as refused:
                if refused.code != 401 or not again:
                    raise
                self._new_token()  # a test has ended the one before


class ServiceWithoutTokens(Service):
    """The emulator as its users have it, which asks for none, as the environment leads to it."""

    asks = False


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


@pytest.fixture
def only_new():
    """gc.collect() looks at what the test makes, and not at all that was there before: for tests that
    collect again and again, which would take minutes."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="session")
def _service():
    with Service(log=200) as service:
        yield service


@pytest.fixture(scope="session")
def _service_without_tokens():
    with ServiceWithoutTokens(log=200) as service:
        yield service


@pytest.fixture(scope="session")
def _service_of_s3():
    with S3Service(log=200) as service:
        yield service


@pytest.fixture(scope="session")
def _service_of_ais():
    with AisService(log=200) as service:
        yield service


@pytest.fixture
def which():
    """The service: "gs". A test with the mark `both_services` runs with "s3", too, and one with `and_ais` with "ais"."""
    return "gs"


def pytest_generate_tests(metafunc):
    others = [scheme for mark, scheme in (("both_services", "s3"), ("and_ais", "ais"))
              if metafunc.definition.get_closest_marker(mark) is not None]
    if others:
        metafunc.parametrize("which", ["gs", *others])


@pytest.fixture
def emulator(request, which):
    """Clients give it tokens. Where a test is about clients that have none, as those that the
    environment makes, its mark says so: pytest.mark.without_tokens."""
    open_to_all = request.node.get_closest_marker("without_tokens") is not None
    service = request.getfixturevalue({"s3": "_service_of_s3", "ais": "_service_of_ais"}.get(which) or (
        "_service_without_tokens" if open_to_all else "_service"))
    yield service
    service.faults()


def pytest_configure(config):
    config.addinivalue_line("markers", "without_tokens: its emulator asks for no token")
    config.addinivalue_line("markers", "both_services: it runs on Google Cloud Storage and on S3")
    config.addinivalue_line("markers", "and_ais: it runs on AIStore, too")


@pytest.fixture
def bucket(emulator):
    name = f"bucket-{os.getpid()}-{next(_numbers)}"
    emulator.add_bucket(name)
    kind = {S3Service: S3Bucket, AisService: AisBucket}.get(type(emulator), Bucket)
    return kind(emulator, name)


@pytest.fixture
def client(emulator):
    with emulator.client() as made:
        yield made


def pytest_collection_modifyitems(items):
    """What without_lock/refused.txt names is skipped where there is no lock."""
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        return
    lines = Path(__file__).with_name("without_lock").joinpath("refused.txt").read_text().splitlines()
    refused = dict(line.split("\t") for line in lines if not line.startswith("#"))
    for item in items:
        reason = refused.get(item.nodeid.rsplit("/")[-1])
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_make_parametrize_id(config, val, argname):
    """Without addresses: the processes of pytest-xdist must agree on the names of the tests."""
    return type(val).__name__ if " at 0x" in repr(val) else None
