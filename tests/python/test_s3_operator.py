"""What an operator gets wrong about S3: each error says what to do, shows no secret, and comes in time."""

import contextlib
import hashlib
import json
import re
import socket
import threading
import time

import pytest

import dataflux

SECRETS = ("HIDDEN-secret-key", "HIDDEN-session-token", "HIDDEN-said-by-a-program")
KEYS = f"aws_access_key_id = AKIDTEST\naws_secret_access_key = {SECRETS[0]}\n"


@pytest.fixture
def which():
    return "s3"


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine without credentials: variables by its setenv(), profiles by its config()."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION",
                 "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.config = lambda text: (tmp_path / "config").write_text(text)
    monkeypatch.folder = tmp_path
    return monkeypatch


def failure(kind=dataflux.Error, within=10, timeout=None, name="o", **options):
    """The text of what a read ends with."""
    options = {"service": "s3", "endpoint": "http://127.0.0.1:9", **options}
    begun = time.monotonic()
    with pytest.raises(kind) as told, dataflux.Client(**options) as client:
        client.get(("bucket", name), timeout=timeout)
    assert time.monotonic() - begun < within, str(told.value)
    assert not any(secret in str(told.value) + repr(told.value) for secret in SECRETS), str(told.value)
    return str(told.value)


@contextlib.contextmanager
def server(reply):
    """The address of one that answers each request so; None: never."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        open_ones = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection = listening.accept()[0]
                    open_ones.append(connection)
                    if reply is not None:
                        connection.recv(65536)
                        connection.sendall(reply)
                        connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
        for each in open_ones:
            each.close()


@pytest.mark.parametrize("endpoint, text", [
    ("localhost:9000", "must begin with http:// or https://"), ("ftp://host", "must begin with http:// or https://"),
    ("http:/host", "must begin with http:// or https://"), (" https://host", "must begin with http:// or https://"),
    ("https://me:HIDDEN-secret-key@host", "user info is not allowed"),
    ("https://host:port", "the port must be a number"),
    ("https://host/base?x=1", "must not have a query"), ("https://ho st", "not a host name"),
    ("https://", "has no host"), ("https://host\n", "not a host name|control")])
def test_endpoints_that_are_none(machine, endpoint, text):
    how = {"access_key_id": "AKIDTEST", "secret_access_key": SECRETS[0]}
    assert re.search(text, failure(dataflux.InvalidArgumentError, endpoint=endpoint, **how))
    machine.setenv("AWS_ENDPOINT_URL_S3", endpoint)
    assert re.search(text, failure(dataflux.InvalidArgumentError, endpoint=None, **how))
    machine.delenv("AWS_ENDPOINT_URL_S3")
    machine.config(f"[default]\n{KEYS}endpoint_url = {endpoint.strip()}\n")
    if endpoint == endpoint.strip():
        assert re.search(text, failure(dataflux.InvalidArgumentError, endpoint=None))


def test_the_endpoint_of_a_profile(machine, emulator, bucket):
    bucket.put("o", b"there")
    machine.config(f"[profile job]\naws_access_key_id = {emulator.key}\naws_secret_access_key = {emulator.secret}\n"
                   f"region = {emulator.region}\nservices = own\n"
                   f"[services own]\ns3 =\n  endpoint_url = {emulator.endpoint}\n")
    machine.setenv("AWS_PROFILE", "job")
    with dataflux.Client(service="s3") as client:
        assert client.get(bucket("o")) == b"there"


@pytest.mark.parametrize("region", ["US-EAST-1", "us east 1", "us-east-1\n", "-", "eu_west", "us-east-1.evil.test"])
def test_regions_that_are_none(machine, region):
    how = {"access_key_id": "AKIDTEST", "secret_access_key": SECRETS[0]}
    assert "region" in failure(dataflux.InvalidArgumentError, region=region, **how)
    machine.setenv("AWS_REGION", region)
    assert "region" in failure(dataflux.InvalidArgumentError, **how)


@pytest.mark.parametrize("key", ["HIDDEN-secret-key ", "HIDDEN-secret-key\n", "HIDDEN secret", "HIDDEN-\xe9",
                                 "HIDDEN\tx"])
def test_keys_with_blanks(machine, key):
    for which in ("secret_access_key", "session_token", "access_key_id"):
        given = {"access_key_id": "AKIDTEST", "secret_access_key": "s", which: key}
        text = failure(dataflux.InvalidArgumentError, **given)
        assert "copy it again" in text and "HIDDEN" not in text
        for name, value in given.items():
            machine.setenv("AWS_" + name.upper(), value)
        text = failure(dataflux.InvalidArgumentError)
        assert "copy it again" in text and "HIDDEN" not in text
        for name in given:
            machine.delenv("AWS_" + name.upper())


def test_half_of_a_pair(machine):
    assert "neither stands alone" in failure(ValueError, access_key_id="AKIDTEST")
    assert "neither stands alone" in failure(ValueError, secret_access_key=SECRETS[0])
    machine.setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
    assert "set both, or neither" in failure(dataflux.InvalidArgumentError)


def test_a_profile_that_is_nowhere(machine):
    machine.setenv("AWS_PROFILE", "job")
    assert 'there is no profile "job" in /dev/null and' in failure(dataflux.InvalidArgumentError)
    machine.config(f"[profile job]\n{KEYS}")
    assert "127.0.0.1:9" in failure(timeout=1, within=5)  # by its keys, of a server that is not there
    machine.setenv("AWS_SHARED_CREDENTIALS_FILE", str(machine.folder / "none"))
    assert "127.0.0.1:9" in failure(timeout=1, within=5)


def test_profiles_that_need_each_other(machine):
    machine.config("[profile a]\nrole_arn = arn:aws:iam::1:role/a\nsource_profile = b\n"
                   "[profile b]\nrole_arn = arn:aws:iam::1:role/b\nsource_profile = a\n")
    machine.setenv("AWS_PROFILE", "a")
    assert "a -> b -> a" in failure(dataflux.InvalidArgumentError)
    machine.config("[profile a]\nrole_arn = arn:aws:iam::1:role/a\nsource_profile = a\n")
    assert "source_profile is itself: it has no keys" in failure(dataflux.InvalidArgumentError)


@pytest.mark.parametrize("program, text", [
    ("exit 1", "exit status 1: run it by hand"), ("echo HIDDEN-said-by-a-program", "not valid JSON"),
    ("echo HIDDEN-said-by-a-program >&2; exit 3", "exit status 3: run it by hand"), ("echo '{}'", '"Version" is not 1'),
    ("echo '{\"Version\": 1, \"AccessKeyId\": \"A\"}'", "the secret access key is empty"), ("kill -9 $$", "signal 9"),
    ("head -c 100000 /dev/zero", "wrote more than 64 KiB"),
    ("echo '{\"Version\": 1, \"AccessKeyId\": \"A\", \"SecretAccessKey\": \"HIDDEN-secret-key\", "
     "\"Expiration\": \"2020-01-01T00:00:00Z\"}'", "gave keys that had expired")])
def test_programs_that_fail(machine, program, text):
    script = machine.folder / "keys.sh"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    machine.config(f"[default]\ncredential_process = {script}\n")
    assert text in failure()


def test_programs_that_are_not_there(machine):
    machine.config("[default]\ncredential_process = /nowhere/keys\n")
    assert "cannot be started: No such file" in failure()


def test_a_program_that_hangs(machine):
    machine.config("[default]\ncredential_process = sleep 5\n")
    assert "while it waited for credentials" in failure(dataflux.DeadlineError, within=8, timeout=1)


def test_logins_that_are_over(machine):
    machine.config("[default]\nsso_session = own\nsso_account_id = 1\nsso_role_name = r\n"
                   "[sso-session own]\nsso_region = us-east-1\nsso_start_url = https://own.awsapps.com/start\n")
    assert "run 'aws sso login --profile default'" in failure()
    cache = machine.folder / ".aws/sso/cache"
    cache.mkdir(parents=True)
    login = cache / f"{hashlib.sha1(b'own').hexdigest()}.json"
    login.write_text(json.dumps({"accessToken": SECRETS[1], "expiresAt": "2020-01-01T00:00:00Z"}))
    assert "the login has expired; run 'aws sso login" in failure()
    for text in ("", "{", json.dumps({"accessToken": 7, "expiresAt": "x"})):
        login.write_text(text)
        assert "run 'aws sso login" in failure()


def test_a_metadata_service_that_hangs(machine):
    machine.delenv("AWS_EC2_METADATA_DISABLED")
    with server(None) as address:
        machine.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", address)
        text = failure(within=40, max_attempts=1)
        assert f"this try's timeout has passed before the first byte of the reply ({address})" in text
        assert "while it waited for credentials" in failure(dataflux.DeadlineError, within=8, timeout=1)


def test_no_credentials_at_all(machine):
    text = failure()
    assert "AWS_ACCESS_KEY_ID is not set" in text and "run 'aws configure'" in text


@pytest.mark.parametrize("reply, text", [
    (b"HTTP/1.1 302 Found\r\nLocation: http://169.254.0.1/keys\r\nContent-Length: 0\r\n\r\n",
     "redirects, and no secret follows it"),
    (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 24\r\n\r\nHIDDEN-said-by-a-program", "refuses to give keys"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\nHIDDEN-said-by-a-program", "not valid JSON"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n" + b"x" * 70000, "longer than 64 KiB")])
def test_a_containers_endpoint_that_fails(machine, reply, text):
    with server(reply) as address:
        machine.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", address + "/keys")
        machine.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", SECRETS[1])
        assert text in failure(within=20)


def test_a_containers_endpoint_that_hangs(machine):
    with server(None) as address:
        machine.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", address + "/keys")
        assert "while it waited for credentials" in failure(dataflux.DeadlineError, within=8, timeout=1)
    machine.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://keys.evil.test/")
    assert "keys are taken by https" in failure(dataflux.InvalidArgumentError)


def test_what_a_server_says_of_keys(emulator, bucket):
    bucket.put("o", b"o")
    own = {**emulator.options, "service": "s3"}
    for options, text in (({"secret_access_key": SECRETS[0]}, "check the keys"),
                          ({"access_key_id": "AKIDOTHER"}, "check the keys")):
        with dataflux.Client(**{**own, **options}) as client, \
                pytest.raises(dataflux.UnauthenticatedError, match=text) as told:
            client.get(bucket("o"))
        assert SECRETS[0] not in str(told.value) and emulator.secret not in str(told.value)


def test_the_wrong_scheme(emulator, bucket):
    secure = emulator.endpoint.replace("http://", "https://")
    text = failure(within=30, timeout=5, **{**emulator.options, "endpoint": secure})
    assert "TLS" in text or "SSL" in text
