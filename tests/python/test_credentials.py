"""Where access tokens come from, at an emulator that asks for them."""

import asyncio
import datetime
import functools
import json
import logging
import pickle
import ssl
import threading
import time
import urllib.parse
import urllib.request

import pytest

import dataflux
from dataflux import _credentials, _events
from service import wait_until

LIMIT = 60
NAME = "bucket-of-tokens"
URL = f"gs://{NAME}/x"


class Guarded(dataflux.Emulator):
    """An emulator that refuses requests without a token of its own."""

    def __init__(self, folder):
        self.authority = str(folder / "ca.pem")
        user = folder / "user.json"
        super().__init__(NAME, log=500, arguments=[
            "--https", "--ca-file", self.authority, "--require-token",
            "--authorized-user-file", str(user)])
        self.user = json.loads(user.read_text())
        self.given = []

    def token(self):
        """A new one, by a plain request."""
        form = {name: self.user[name] for name in ("client_id", "client_secret", "refresh_token")}
        body = urllib.parse.urlencode({"grant_type": "refresh_token", **form}).encode()
        with urllib.request.urlopen(
                self.endpoint + "/token", body, timeout=LIMIT,
                context=ssl.create_default_context(cafile=self.authority)) as reply:
            self.given.append(json.load(reply)["access_token"])
        return self.given[-1]

    def client(self, **options):
        return dataflux.Client(endpoint=self.endpoint, ca_file=self.authority, **options)

    def statuses(self):
        return [one["status"] for one in self.log() if one["verb"] == "objects.get"]


@pytest.fixture(scope="module")
def _guarded(tmp_path_factory):
    with Guarded(tmp_path_factory.mktemp("guarded")) as service:
        yield service


@pytest.fixture
def guarded(_guarded):
    _guarded.given.clear()
    _events._told.clear()
    yield _guarded
    _guarded.faults()


def in_an_hour():
    return time.time() + 3600


def test_a_token_as_a_text(guarded):
    with guarded.client(credentials=guarded.token()) as client:
        assert client.exists(URL) is False


def test_a_text_that_is_refused_is_told_at_once(guarded):
    with guarded.client(credentials="ya29.of-somebody-else") as client:
        before = len(guarded.statuses())
        with pytest.raises(PermissionError) as raised:
            client.exists(URL)
        assert type(raised.value) is dataflux.UnauthenticatedError
        assert raised.value.http_status == 401
        assert guarded.statuses()[before:] == [401, 401]


@pytest.mark.parametrize("form", [
    lambda token: token,
    lambda token: (token, None),
    lambda token: (token, in_an_hour()),
    lambda token: (token, int(in_an_hour())),
    lambda token: (token, datetime.datetime.now(datetime.timezone.utc)
                   + datetime.timedelta(hours=1)),
], ids=["token", "None", "float", "int", "datetime"])
def test_a_callable_is_asked_by_the_first_call_and_again_when_a_token_is_refused(guarded, form):
    threads = []

    def give():
        threads.append(threading.get_ident())
        return form(guarded.token())

    with guarded.client(credentials=give) as client:
        assert threads == []
        for _ in range(3):
            assert client.exists(URL) is False
        assert len(threads) == 1
        guarded.revoke_tokens()
        assert client.exists(URL) is False
    assert len(threads) == 2 and threading.get_ident() not in threads


@pytest.fixture
def slow(guarded):
    """A callable that gives a token when it may."""
    go_on = threading.Event()

    def give():
        give.asked += 1
        assert go_on.wait(LIMIT)
        return guarded.token()

    give.asked, give.go_on = 0, go_on
    yield give
    go_on.set()


def test_a_slow_callable_keeps_no_call_beyond_its_timeout(guarded, slow):
    with guarded.client(credentials=slow) as client:
        for _ in range(2):
            with pytest.raises(TimeoutError):
                client.exists(URL, timeout=0.1)
        with pytest.raises(TimeoutError):
            list(client.get_many([URL], timeout=0.1))
        slow.go_on.set()
        assert client.exists(URL) is False
    assert slow.asked == 1


def test_a_slow_callable_keeps_no_call_beyond_the_token_limit(guarded, slow):
    with guarded.client(credentials=slow, token_limit=1) as client:
        with pytest.raises(dataflux.UnauthenticatedError, match="token_limit"):
            client.exists(URL)
        slow.go_on.set()
        assert wait_until(lambda: len(guarded.given) > 0)
        assert client.exists(URL) is False


def test_the_token_limit_is_of_the_whole_call(guarded, slow):
    with guarded.client(credentials=slow, token_limit=0.2) as client:
        with pytest.raises(dataflux.UnauthenticatedError, match="within 200 ms") as raised:
            client.exists(URL)
        assert raised.value.attempts == 0
        # Nor does a stream wait for each of its items.
        with client.get_many([f"{URL}{i}" for i in range(400)], on_error="return") as batches:
            errors = [item.error for batch in batches for item in batch]
        assert {error.status for error in errors} == {"unauthenticated"} and len(errors) == 400
        assert {error.attempts for error in errors} == {0}
    assert slow.asked == 1 and not guarded.given


def test_a_slow_callable_after_one_that_failed_keeps_no_call_beyond_its_timeout(guarded, slow):
    def give():
        if not slow.asked:
            slow.asked = 1
            raise OSError
        return slow()

    with guarded.client(credentials=give) as client:
        with pytest.raises(dataflux.UnauthenticatedError):
            client.exists(URL)
        with pytest.raises(TimeoutError):
            client.exists(URL, timeout=0.1)
        slow.go_on.set()
        assert client.exists(URL) is False


@pytest.mark.parametrize("read", [
    lambda client: list(client.get_many([URL])), lambda client: list(client.list_batches(f"gs://{NAME}")),
    lambda client: client.open(URL)], ids=["get_many", "list_batches", "open"])
def test_what_a_callable_raises_is_the_cause_of_a_stream_s_error(guarded, read):
    state = {"broken": True}

    def give():
        if state["broken"]:
            raise OSError
        return guarded.token()

    with guarded.client(credentials=give) as client:
        for _ in range(2):
            with pytest.raises(dataflux.UnauthenticatedError) as raised:
                read(client)
            assert type(raised.value.__cause__) is OSError
        state["broken"] = False
        try:
            read(client)
        except FileNotFoundError:
            pass


def test_a_token_that_ends_soon_is_renewed_while_it_is_used(guarded):
    """The library asks 10 s after it was given such a token."""
    asked = threading.Event()

    def give():
        token = guarded.token()
        if len(guarded.given) == 2:
            asked.set()
        return token, time.time() + (120 if len(guarded.given) == 1 else 3600)

    until = time.monotonic() + LIMIT
    with guarded.client(credentials=give) as client:
        while not asked.wait(0.2) and time.monotonic() < until:
            assert client.exists(URL) is False
        assert asked.is_set()
        assert client.exists(URL) is False
    assert len(guarded.given) == 2


def test_a_callable_that_raises_is_the_cause_at_the_first_call(guarded):
    def give():
        raise LookupError("no secret here")

    with guarded.client(credentials=give) as client:
        for _ in range(2):
            with pytest.raises(dataflux.UnauthenticatedError, match=r"\(LookupError\)") as raised:
                client.exists(URL)
            assert type(raised.value.__cause__) is LookupError
            assert "no secret" not in str(raised.value)


def test_a_callable_that_raises_later_ends_calls_at_once_and_is_the_cause(guarded, caplog):
    state = {"broken": False, "asked": 0}

    def give():
        state["asked"] += 1
        if state["broken"]:
            raise LookupError("the vault is closed")
        return guarded.token()

    with caplog.at_level(logging.DEBUG, "dataflux"), \
            guarded.client(credentials=give, token_limit=10 * LIMIT) as client:
        assert client.exists(URL) is False
        guarded.revoke_tokens()
        state["broken"] = True
        for _ in range(2):
            with pytest.raises(dataflux.UnauthenticatedError, match=r"\(LookupError\)") as raised:
                client.exists(URL, timeout=LIMIT)
            assert type(raised.value.__cause__) is LookupError
            assert "vault" not in str(raised.value)
        state["broken"] = False
        assert client.exists(URL) is False
    told = [record for record in caplog.records if "credentials gave" in record.getMessage()]
    assert f"LookupError, raised by give() in {__file__}, line " in told[0].getMessage()
    assert "vault" not in caplog.text
    for record in caplog.records:
        assert not any(token in record.getMessage() for token in guarded.given)


def test_a_callable_that_raises_ends_the_calls_of_a_loop_and_heals(guarded):
    state = {"broken": True}

    def give():
        if state["broken"]:
            raise LookupError("the vault is closed")
        return guarded.token()

    async def use():
        options = {"endpoint": guarded.endpoint, "ca_file": guarded.authority}
        async with dataflux.AsyncClient(credentials=give, token_limit=10 * LIMIT,
                                        **options) as client:
            ended = await asyncio.gather(*(client.exists(URL, timeout=LIMIT) for _ in range(8)),
                                         return_exceptions=True)
            assert {type(error) for error in ended} == {dataflux.UnauthenticatedError}
            assert {type(error.__cause__) for error in ended} == {LookupError}
            state["broken"] = False
            assert await client.exists(URL, timeout=LIMIT) is False
            guarded.revoke_tokens()
            state["broken"] = True
            with pytest.raises(dataflux.UnauthenticatedError):
                await client.exists(URL, timeout=LIMIT)
            state["broken"] = False
            assert await client.exists(URL, timeout=LIMIT) is False

    asyncio.run(use())


def test_a_callable_that_raises_ends_the_items_of_a_stream(guarded):
    state = {"broken": False}

    def give():
        if state["broken"]:
            raise LookupError("the vault is closed")
        return guarded.token()

    with guarded.client(credentials=give, token_limit=10 * LIMIT) as client:
        assert client.exists(URL) is False
        guarded.revoke_tokens()
        state["broken"] = True
        with client.get_many([f"{URL}{i}" for i in range(40)], on_error="return",
                             timeout=LIMIT) as items:
            statuses = {item.error.status for batch in items for item in batch}
        assert statuses == {"unauthenticated"}
        state["broken"] = False
        assert client.exists(URL) is False


def test_a_filter_that_raises_keeps_no_call_waiting(guarded):
    class Closed(Exception):  # of no other test: it is a warning once
        pass

    def give():
        if guarded.given:
            raise Closed("the vault is closed")
        return guarded.token()

    def filtered(record):
        raise ValueError("of the filter")

    told, logger = [], logging.getLogger("dataflux")
    with pytest.MonkeyPatch.context() as patch, \
            guarded.client(credentials=give, token_limit=10 * LIMIT) as client:
        assert client.exists(URL) is False
        guarded.revoke_tokens()
        patch.setattr(threading, "excepthook", told.append)
        logger.addFilter(filtered)
        try:
            with pytest.raises(dataflux.UnauthenticatedError, match="Closed"):
                client.exists(URL, timeout=LIMIT)
            assert {one.exc_type for one in told} == {ValueError}
        finally:
            logger.removeFilter(filtered)


def test_a_callable_that_is_slow_does_not_hold_the_logs(guarded, caplog):
    wanted, go_on = threading.Event(), threading.Event()

    def give():
        if guarded.given:
            wanted.set()
            assert go_on.wait(LIMIT)
        return guarded.token()

    with guarded.client(credentials=give) as client:
        assert client.exists(URL) is False
        guarded.revoke_tokens()
        thread = threading.Thread(target=client.exists, args=(URL,))
        thread.start()
        assert wanted.wait(LIMIT)
        assert wait_until(lambda: not client._feed.behind())  # while the callable is asked
        go_on.set()
        thread.join(LIMIT)


def test_a_client_that_nobody_has_lets_go_of_its_callable(guarded):
    import gc
    import weakref

    class Source:
        def __call__(self):
            return guarded.token()

    source = Source()
    gone = weakref.ref(source)
    client = guarded.client(credentials=source)
    client.exists(URL)
    ended = client._feed._ended
    del source, client
    gc.collect()
    assert ended.acquire(timeout=LIMIT)
    gc.collect()
    assert gone() is None


class Duck:
    """What google.auth's credentials have."""

    def __init__(self, service, expiry=None):
        self.token, self.expiry, self.refreshed, self._service = None, expiry, [], service

    @property
    def valid(self):
        return self.token is not None

    def refresh(self, request):
        self.refreshed.append(request)
        self.token = self._service.token()


def test_an_object_with_refresh(guarded):
    source = Duck(guarded)
    with guarded.client(credentials=source) as client:
        assert client.exists(URL) is False
        assert len(source.refreshed) == 1
        guarded.revoke_tokens()
        assert client.exists(URL) is False
    assert len(source.refreshed) == 2


def test_a_good_token_of_an_object_is_used_first(guarded):
    source = Duck(guarded, in_an_hour())
    source.token = guarded.token()
    with guarded.client(credentials=source) as client:
        assert client.exists(URL) is False
    assert source.refreshed == []
    source.expiry = time.time() + 60
    with pytest.MonkeyPatch.context() as patch, guarded.client(credentials=source) as client:
        patch.setattr(source, "refresh", lambda request: setattr(source, "expiry", in_an_hour()))
        assert client.exists(URL) is False
    assert source.expiry > time.time() + 3000


def test_google_auth_s_credentials_of_a_user(guarded):
    credentials = pytest.importorskip("google.oauth2.credentials")
    source = credentials.Credentials(
        None, refresh_token=guarded.user["refresh_token"], client_id=guarded.user["client_id"],
        client_secret=guarded.user["client_secret"], token_uri=guarded.endpoint + "/token")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REQUESTS_CA_BUNDLE", guarded.authority)
        with guarded.client(credentials=source) as client:
            assert client.exists(URL) is False
            first = source.token
            guarded.revoke_tokens()
            assert client.exists(URL) is False
    assert first and source.token != first


def test_google_auth_s_anonymous_credentials_send_none(guarded):
    credentials = pytest.importorskip("google.auth.credentials")
    with guarded.client(credentials=credentials.AnonymousCredentials()) as client:
        with pytest.raises(dataflux.UnauthenticatedError) as raised:
            client.exists(URL)
    assert raised.value.http_status == 401


def test_the_quota_project_and_the_scopes_of_an_object(guarded):
    class Scoped(Duck):
        requires_scopes, quota_project_id, scopes = True, "billed", None

        def with_scopes(self, scopes):
            made = Scoped(guarded)
            made.requires_scopes, made.scopes = False, scopes
            return made

    with guarded.client(credentials=Scoped(guarded)) as client:
        assert client._options.struct().quota_project == b"billed"
        assert client._options.source._credentials.scopes == [_credentials._SCOPE]
        assert client.exists(URL) is False
    with guarded.client(credentials=Scoped(guarded), quota_project="mine") as client:
        assert client._options.struct().quota_project == b"mine"


@pytest.mark.without_tokens
def test_an_emulator_gets_no_token(emulator, bucket):
    def give():
        raise AssertionError("it was asked")

    bucket.put("x", b"1")
    with emulator.client(credentials=give) as client:
        assert client.stat(bucket("x")).size == 1
    with emulator.client(credentials="ya29.x") as client, pytest.MonkeyPatch.context() as patch:
        assert client.stat(bucket("x")).size == 1
        patch.setenv("STORAGE_EMULATOR_HOST", emulator.endpoint)
        with dataflux.Client(credentials=give) as other:
            assert other.stat(bucket("x")).size == 1


def test_an_emulator_gets_tokens_where_that_is_asked_for():
    with dataflux.Emulator(NAME, arguments=["--require-token"]) as service:
        body = urllib.parse.urlencode({
            "grant_type": "refresh_token", "client_id": "emulator-client",
            "client_secret": "emulator-secret", "refresh_token": "emulator-refresh-token"}).encode()
        with urllib.request.urlopen(service.endpoint + "/token", body, timeout=LIMIT) as reply:
            token = json.load(reply)["access_token"]
        with service.client(credentials=token, tokens_to_emulator=True) as client:
            assert client.exists(URL) is False
        with service.client(credentials=token) as client:
            with pytest.raises(dataflux.UnauthenticatedError) as raised:
                client.exists(URL)
            assert raised.value.http_status == 401


@pytest.mark.parametrize("endpoint", ["http://192.0.2.1", "http://storage.example:9000"])
def test_no_token_goes_to_an_emulator_elsewhere_without_tls(endpoint):
    def give():
        raise AssertionError("it was asked")

    with dataflux.Client(endpoint=endpoint, emulator=True, tokens_to_emulator=True,
                         credentials=give) as client:
        with pytest.raises(dataflux.InvalidArgumentError, match="tokens_to_emulator"):
            client.exists(URL)


@pytest.mark.parametrize("bad, kind", [
    (3, TypeError), (b"ya29.x", TypeError), (("ya29.x", 1), TypeError), (Duck, TypeError),
    ("", ValueError), ("Bearer ya29.x", ValueError), ("ya29.x\r\nX: y", ValueError),
    ("ya29.\0", ValueError), ("ya29.ü", ValueError)])
def test_what_is_none_is_told_at_once_and_not_shown(bad, kind):
    with pytest.raises(kind, match="^credentials: ") as raised:
        dataflux.Client(credentials=bad)
    assert "ya29" not in str(raised.value)


@pytest.mark.parametrize("file", [
    "{}/ya29", "/missing/ya29.json", "ya29.json", "./ya29", "../ya29", "~/ya29", "C:\\ya29.JSON", "file:///ya29", "gs://x/ya29",
    '{{"type":"ya29"}}'])
def test_what_is_of_a_file_is_sent_as_no_token(guarded, tmp_path, file):
    """It would be in the service's logs of refused tokens."""
    (tmp_path / "ya29").write_text("{}")
    file = file.format(tmp_path)
    asked = len(guarded.statuses())
    with pytest.raises(ValueError, match="^credentials: .*credentials_file") as raised:
        dataflux.Client(credentials=file)
    assert "ya29" not in str(raised.value)
    with guarded.client(credentials=lambda: file) as client:
        with pytest.raises(dataflux.UnauthenticatedError) as raised:
            client.exists(URL)
    assert isinstance(raised.value.__cause__, ValueError)
    assert "a credentials file" in str(raised.value.__cause__)
    assert "ya29" not in str(raised.value.__cause__) + str(raised.value)
    assert len(guarded.statuses()) == asked


def test_a_credentials_file_is_a_path_and_no_content(tmp_path, guarded):
    key = '{"type":"service_account","private_key":"ya29"}'
    (tmp_path / "key").write_text(key)
    for given in (tmp_path / "key", str(tmp_path / "key"), key):
        with pytest.raises(dataflux.Error) as raised, guarded.client(credentials_file=given) as client:
            client.exists(URL)
        assert "ya29" not in str(raised.value)
        assert ("is its content" in str(raised.value)) == (given is key)


@pytest.mark.parametrize("token", ["/9j+ab~-._/z==", "/ya29", "ya29.a/b~/c.json="])
def test_a_token_may_begin_with_a_slash(guarded, token):
    """RFC 6750 2.1 permits it. The service says whether it knows it."""
    for given in (token, lambda: token):
        with guarded.client(credentials=given) as client:
            with pytest.raises(dataflux.UnauthenticatedError) as raised:
                client.exists(URL)
        assert raised.value.http_status == 401


async def later():
    return "ya29.x"


class Later:
    async def __call__(self):
        return "ya29.x"


@pytest.mark.parametrize("given", [later, Later(), functools.partial(later)])
def test_an_async_function_is_refused_at_once(given):
    for kind in (dataflux.Client, dataflux.AsyncClient):
        with pytest.raises(TypeError, match="^credentials: a plain function is needed"):
            kind(credentials=given)


def test_a_function_that_returns_what_has_to_be_awaited_is_told(guarded):
    with guarded.client(credentials=lambda: later()) as client:
        with pytest.raises(dataflux.UnauthenticatedError) as raised:
            client.exists(URL)
    assert type(raised.value.__cause__) is TypeError and "awaited" in str(raised.value.__cause__)


@pytest.mark.parametrize("given", [
    3, None, b"ya29.x", ("ya29.x",), ("ya29.x", 1, 2), ("ya29.x", "tomorrow"), ("ya29.x", True),
    ("ya29.x", -1), ("ya29.x", float("nan")), ("ya29.x", time.time() * 1000),
    ("ya29.x", datetime.datetime(2030, 1, 1)), (None, 7), ""])
def test_what_a_callable_gives_is_looked_at(guarded, given):
    with guarded.client(credentials=lambda: given) as client:
        with pytest.raises(dataflux.UnauthenticatedError) as raised:
            client.exists(URL)
    cause = raised.value.__cause__
    assert isinstance(cause, (TypeError, ValueError)) and str(cause).startswith("credentials: ")
    assert "ya29" not in str(cause) + str(raised.value)


def test_a_token_that_has_ended_is_told(guarded):
    with guarded.client(credentials=lambda: (guarded.token(), time.time() - 10)) as client:
        with pytest.raises(dataflux.Error) as raised:
            client.exists(URL)
    assert guarded.given[0] not in str(raised.value)


@pytest.mark.parametrize("ways", [
    {"credentials": "ya29.x", "anonymous": True},
    {"credentials": "ya29.x", "credentials_file": "f.json"},
    {"anonymous": True, "credentials_file": "f.json"}])
def test_two_ways_at_once_are_told(ways):
    with pytest.raises(ValueError, match="^(anonymous|credentials): it does not go with "):
        dataflux.Client(**ways)


def of_a_module():
    return "ya29.secret"


def test_a_pickle_carries_a_callable_and_no_secret():
    with dataflux.Client(credentials=of_a_module) as client:
        data = pickle.dumps(client)
        assert b"ya29" not in data and b"of_a_module" in data
        with pickle.loads(data) as same:
            assert same._options.given["credentials"] is of_a_module
    for secret in ("ya29.secret", Duck(None)):
        with dataflux.Client(credentials=secret) as client:
            with pytest.raises(TypeError, match="^credentials: .*give a callable"):
                pickle.dumps(client)
            assert "ya29" not in repr(client) and "Duck" not in repr(client)
            assert "credentials=..." in repr(client)
