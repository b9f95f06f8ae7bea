"""What a filesystem of dataflux.fsspec is made with."""

import inspect
import json
import pathlib
import pickle

import fsspec
import pytest

import dataflux
from dataflux._client import Options
from dataflux.fsspec import DatafluxFileSystem
from test_async_types import by_mypy, typed  # noqa: F401, a fixture


def given(**how):
    """The options of the client that a filesystem makes, where they are not its own."""
    fs = DatafluxFileSystem(skip_instance_cache=True, **how)
    own = inspect.signature(dataflux.Client).parameters
    return {name: value for name, value in fs.client._options.given.items()
            if value not in (None, False, 0, (), own[name].default)}


def test_gcsfs_s_arguments_are_taken(monkeypatch):
    monkeypatch.delenv("GCSFS_DEFAULT_PROJECT", raising=False)
    assert given() == {}
    assert given(token="google_default") == {}
    assert given(token="anon") == given(anon=True) == {"anonymous": True}
    assert given(endpoint_url="https://x") == {"endpoint": "https://x"}
    assert given(endpoint_url="http://x:1") == {"endpoint": "http://x:1", "emulator": True}
    assert given(requester_pays="payer") == {"user_project": "payer"}
    assert given(project="p", requester_pays=True) == {"user_project": "p"}
    assert given(requests_timeout=7) == {"stall_timeout": 7, "first_byte_timeout": 7}
    assert given(requests_timeout=7, first_byte_timeout=9) == {"stall_timeout": 7,
                                                               "first_byte_timeout": 9}
    assert given(memory_cap=1 << 28) == {"memory_cap": 1 << 28}
    assert given(project="p", access="full_control", consistency="md5", cache_timeout=-1,
                 use_listings_cache=True, listings_expiry_time=5, max_paths=3, secure_serialize=True,
                 check_connection=None, timeout=30, session_kwargs={}, default_location="EU",
                 batch_size=10, block_size=1 << 20, asynchronous=False, loop=None) == {}


OPTIONS = {"endpoint": "https://x", "emulator": True, "anonymous": True, "credentials": "token",
           "credentials_file": "file", "first_byte_timeout": 7.0, "stall_timeout": 7.0,
           "connect_timeout": 7.0, "token_limit": 7.0, "slice": 1 << 20, "memory_cap": 1 << 28,
           "upload_memory": 1 << 28, "tokens_to_emulator": True, "service": "s3", "addressing": "path",
           "upload_checksum": "composite", "requester_pays": True, "cache": dataflux.Cache("cache"), "resolve": ("host:443:10.0.0.1",),
           "encryption_key": bytes(range(32))}
KEYS = {"access_key_id": "x", "secret_access_key": "y", "session_token": "z"}


@pytest.mark.parametrize("name", [
    name for name in inspect.signature(dataflux.Client).parameters])
def test_all_options_of_a_client_are_taken(name):
    value = OPTIONS.get(name, 7 if name.startswith(("io_", "max_")) else "x")
    options = {name: value}
    for services, names in Options._of.items():
        if name in names and "gcs" not in services:
            options["service"] = services[0]
    if name in KEYS:
        options.update(KEYS)
    assert given(**options) == options


TUNING = {"default_fill_cache": False, "default_cache_type": "first", "default_block_size": 1 << 20,
          "cache_type": "readahead", "cache_options": {}, "cache_size": 7, "retries": 3}


def test_what_tunes_caches_is_harmless_wherever_it_is_given(emulator, bucket):
    bucket.put("x", b"content")
    assert given(**TUNING) == {}
    fs = DatafluxFileSystem(**emulator.options, **TUNING)
    # As kerchunk's examples, pangeo's and dask have it.
    tuning = {**TUNING, "anon": True, "token": "anon", "default_cache": None, "block_size": 1 << 20,
              "fill_cache": False, "s3_block_size": 7}
    with fs.open(bucket("x"), mode="rb", **tuning) as file:
        assert file.read() == b"content"
    with fs.open(bucket("x"), "r", **tuning) as file:
        assert file.read() == "content"
    with fs.open(bucket("y"), "wb", cache_control="no-store", **tuning) as file:
        file.write(b"new")
    assert fs.info(bucket("y"))["cacheControl"] == "no-store"
    fs.pipe_file(bucket("z"), data=b"data", retries=3)
    assert bucket.get("z") == b"data" and fs.isdir(bucket.name, refresh=True)
    assert not fs.isfile(bucket("none"), refresh=True) and fs.exists(bucket("z"), refresh=True)


def test_what_changes_what_is_read_or_written_is_not(emulator, bucket):
    bucket.put("x", b"content")
    fs = DatafluxFileSystem(**emulator.options)
    for how in ({"what": 1}, {"acl": "publicRead"}, {"cache_control": "no-store"}):
        with pytest.raises((TypeError, ValueError), match=next(iter(how))):
            fs.open(bucket("x"), **how)
    with pytest.raises(TypeError, match="cache_control"):
        DatafluxFileSystem(cache_control="no-store")
    for how in ({}, {"value": b"1", "data": b"2"}):
        with pytest.raises(TypeError, match="value"):
            fs.pipe_file(bucket("y"), **how)
    assert bucket.get("y") is None


def test_positions_are_those_of_gcsfs():
    fs = DatafluxFileSystem("mine", "read_only", "anon")
    assert fs.project == "mine" and fs.access == "read_only"
    assert fs.client._options.given["anonymous"]


def test_the_default_project_is_gcsfs_s(monkeypatch):
    monkeypatch.setenv("GCSFS_DEFAULT_PROJECT", "of-environment")
    assert DatafluxFileSystem(skip_instance_cache=True).project == "of-environment"


def test_tokens(tmp_path):
    path = tmp_path / "account.json"
    path.write_text(json.dumps({"type": "authorized_user"}))
    assert given(token=str(path)) == {"credentials_file": str(path)}
    assert given(token="an-access-token") == {"credentials": "an-access-token"}
    assert given(token=given)["credentials"] is given
    google = given(token={"type": "authorized_user", "client_id": "1", "client_secret": "2",
                          "refresh_token": "3"})["credentials"]
    assert google.refresh_token == "3"
    acting = given(token={
        "type": "impersonated_service_account", "delegates": [], "service_account_impersonation_url":
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b.c:generateAccessToken",
        "source_credentials": {"type": "authorized_user", "client_id": "1", "client_secret": "2",
                               "refresh_token": "3"}})["credentials"]
    assert acting.service_account_email == "a@b.c"
    assert callable(given(token="cloud")["credentials"])


@pytest.mark.parametrize("how, kind", [
    ({"what": 1}, TypeError), ({"session_kwargs": {"trust_env": True}}, ValueError),
    ({"token": "browser"}, ValueError), ({"token": "cache"}, ValueError),
    ({"token": {"type": "other"}}, ValueError), ({"token": 7}, TypeError),
    ({"access": "write"}, ValueError), ({"consistency": "sha"}, ValueError),
    ({"requester_pays": True, "project": ""}, ValueError),
    ({"anon": True, "token": "x"}, ValueError),
    ({"endpoint_url": "https://x", "endpoint": "https://y"}, ValueError),
    ({"token": "x", "credentials": "y"}, ValueError), ({"memory_cap": -1}, ValueError)])
def test_what_has_no_meaning_is_refused_by_name(how, kind):
    with pytest.raises(kind) as refused:
        DatafluxFileSystem(**how)
    named = str(refused.value).partition(":")[0].partition(" ")[0]
    assert named in how


@pytest.mark.parametrize("how, own", [
    ({"requests_timeout": -1}, "first_byte_timeout"),
    ({"requests_timeout": "7"}, "first_byte_timeout"),
    ({"token": 7}, "credentials"), ({"token": "with space"}, "credentials"),
    ({"endpoint_url": 7}, "endpoint"), ({"requester_pays": "a\0b"}, "user_project")])
def test_what_is_refused_has_the_name_that_was_given(how, own):
    with pytest.raises((TypeError, ValueError)) as refused:
        DatafluxFileSystem(**how)
    said = str(refused.value)
    assert said.startswith(f"{next(iter(how))} (dataflux.Client's {own}): ")


def test_a_limit_of_its_own_name_is_refused_by_that():
    with pytest.raises(ValueError, match="^first_byte_timeout: "):
        DatafluxFileSystem(requests_timeout=10, first_byte_timeout=-1)


NO_TOKENS = ('{"type":"secret"}', "secret\n", "a secret", "file:///secret", "gs://secret/x", "/missing/secret.JSON",
             "./secret", "../secret", "~/secret")


@pytest.mark.parametrize("token", NO_TOKENS)
def test_what_can_be_no_token_is_refused(token):
    """It would be sent to the service, and so to whoever reads logs of refused tokens."""
    with pytest.raises((OSError, ValueError), match="^token.*credentials") as refused:
        DatafluxFileSystem(token=token)
    assert "secret" not in str(refused.value) and refused.value.__cause__ is None


def test_a_token_may_begin_with_a_slash():
    """RFC 6750 2.1 permits it; a path at which a file is names that."""
    token = "/9j+ab~-._/z=="
    fs = DatafluxFileSystem(token=token, skip_instance_cache=True)
    assert fs.client._options.given["credentials"] == token
    with pytest.raises(FileNotFoundError):
        DatafluxFileSystem(token=pathlib.Path(token), skip_instance_cache=True)


def test_a_secret_is_in_no_text():
    fs = DatafluxFileSystem(token="very-secret", skip_instance_cache=True)
    assert "very-secret" not in repr(fs)
    for travel in (lambda: pickle.dumps(fs), fs.to_json, fs.to_dict,
                   lambda: fs.to_json(include_password=False)):
        with pytest.raises(TypeError, match="token") as refused:
            travel()
        assert "very-secret" not in str(refused.value)


@pytest.mark.without_tokens  # which no JSON has
def test_options_travel(emulator, bucket):
    bucket.put("x", b"1")
    fs = DatafluxFileSystem(**emulator.options, version_aware=True)
    for other in (pickle.loads(pickle.dumps(fs)), DatafluxFileSystem.from_json(fs.to_json()),
                  DatafluxFileSystem.from_dict(fs.to_dict())):
        assert other is fs


def test_instances_are_one_for_the_same_options(emulator):
    fs = DatafluxFileSystem(**emulator.options)
    assert DatafluxFileSystem(**emulator.options) is fs
    assert DatafluxFileSystem(**emulator.options, project="x") is not fs
    assert DatafluxFileSystem(**emulator.options, skip_instance_cache=True) is not fs
    assert DatafluxFileSystem.current() is not None


def test_a_closed_filesystem_is_not_given_again(emulator):
    fs = DatafluxFileSystem(**emulator.options, project="closed")
    fs.close()
    with pytest.raises(dataflux.PreconditionError, match="closed"):
        fs.ls("bucket")
    assert DatafluxFileSystem(**emulator.options, project="closed") is not fs


@pytest.mark.without_tokens
def test_the_emulator_of_the_environment_is_used(emulator, bucket, monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", emulator.endpoint)
    bucket.put("x", b"1")
    fs = DatafluxFileSystem(skip_instance_cache=True)
    assert fs.cat(bucket("x")) == b"1"
    fs.close()


def test_timeout_is_of_calls_that_carry_no_bytes(emulator, bucket):
    bucket.put("x", b"1")
    emulator.faults({"verb": "objects.get", "action": "delay", "ms": 600_000},
                    {"verb": "objects.list", "action": "delay", "ms": 600_000})
    fs = DatafluxFileSystem(**emulator.options, timeout=0.2)
    for call in (fs.info, fs.ls):
        with pytest.raises(TimeoutError):
            call(bucket("x"))


def test_requester_pays_buckets(emulator, bucket):
    bucket.put("x", b"1")
    emulator.add_bucket(bucket.name, requesterPays=True)
    with pytest.raises(dataflux.Error):
        DatafluxFileSystem(**emulator.options).cat(bucket("x"))
    payer = DatafluxFileSystem(**emulator.options, requester_pays="payer")
    assert payer.cat(bucket("x")) == b"1"


def test_signing_says_what_to_do():
    with pytest.raises(NotImplementedError, match="gcloud storage sign-url"):
        DatafluxFileSystem(token="anon").sign("bucket/x")


def test_no_thread_of_fsspec_is_begun(emulator, bucket):
    import threading

    before = {thread.name for thread in threading.enumerate()}
    fs = DatafluxFileSystem(**emulator.options)
    fs.pipe(bucket("x"), b"1")
    fs.cat([bucket("x")])
    assert "fsspecIO" not in {thread.name for thread in threading.enumerate()} - before
    assert fs.loop is fsspec.asyn.get_loop()


TYPED = """
import dataflux
from dataflux.fsspec import DatafluxFileSystem, register

register("gs")
fs = DatafluxFileSystem(project="p", token="anon", memory_cap=1 << 28)
plain = DatafluxFileSystem()
with fs.open("b/x") as file:
    file.read()
fs.ls("b", detail=True)
fs.cat(["b/x"])
client: dataflux.Client = fs.client
other: dataflux.AsyncClient = fs.async_client
for path, folders, files in fs.walk("b"):
    pass
text: str = fs.url("b/x")
text = fs.unstrip_protocol("b/x")
fs.sign("b/x")
with fs.start_transaction():
    fs.end_transaction()
fs.invalidate_cache()
fs.to_json()
fs.to_dict()
fs.split_path("b/x")
fs.close()

async def main() -> None:
    await fs.open_async("b/x")
    await fs._cat_file("b/x")
"""


def test_type_checkers_know_the_filesystem(typed, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(TYPED)
    assert by_mypy(typed, tmp_path, program) == []
