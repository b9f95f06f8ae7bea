"""Clients of AIStore: reads, listings, whole objects written, what it lacks, and URLs of three services."""

import pickle

import pytest

import dataflux
from dataflux._place import BucketInAis


@pytest.fixture(scope="module")
def service():
    with dataflux.emulator("bkt", service="ais") as service:
        yield service


@pytest.fixture
def client(service):
    with service.client() as client:
        yield client
        for row in client.list("ais://bkt/"):
            client.delete((row.bucket, row.name))


@pytest.fixture
def found(service, monkeypatch):
    """The module's functions find the emulator by the environment."""
    for name, value in service.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("dataflux._client._defaults", {})
    yield
    for each in dataflux._client._defaults.values():
        each.close()


def test_objects_are_written_read_listed_and_removed(client):
    bodies = {f"a/{i}": bytes([i]) * (1000 + i) for i in range(40)}
    for name, body in bodies.items():
        client.put(f"ais://bkt/{name}", body)
    assert client.get("ais://bkt/a/7") == bodies["a/7"]
    assert client.get("ais://bkt/a/7", offset=5, length=10) == bodies["a/7"][5:15]
    assert client.stat("ais://bkt/a/7").size == 1007
    listing = client.list("ais://bkt/a/")
    assert [row.name for row in listing] == sorted(bodies)
    assert {each.request.name: bytes(each.data) for each in client.get_many(listing).items()} == bodies
    assert client.list("ais://bkt/", delimiter="/").prefixes == ("a/",)
    client.delete("ais://bkt/a/7")
    with pytest.raises(dataflux.NotFoundError, match=r"ais://bkt/a/7"):
        client.get("ais://bkt/a/7")
    with client.open("ais://bkt/a/8") as file:
        assert file.read() == bodies["a/8"]


def test_rows_know_their_service(client):
    client.put("ais://bkt/a", b"1")
    [row] = client.list("ais://bkt/")
    again = pickle.loads(pickle.dumps(row))
    assert again.url == "ais://bkt/a" and isinstance(again.bucket, BucketInAis)
    assert client.get(again) == b"1"
    with dataflux.Client(service="s3", endpoint="http://127.0.0.1:9", access_key_id="a",
                         secret_access_key="b") as other:
        with pytest.raises(ValueError, match=r"is of AIStore, and the client is of S3.*service='ais'"):
            other.get(row)
    with pytest.raises(ValueError, match=r"is of S3, and the client is of AIStore"):
        client.get("s3://bkt/a")


def test_the_module_chooses_by_the_url(found):
    dataflux.put("ais://bkt/m", b"module")
    assert dataflux.get("ais://bkt/m") == b"module"
    assert [row.url for row in dataflux.list("ais://bkt/")] == ["ais://bkt/m"]
    assert dataflux._client.service_of("ais://bkt/m") == "ais"
    dataflux.delete("ais://bkt/m")


def test_manifests_find_the_module_s_client(found, tmp_path):
    dataflux.put("ais://bkt/saved", b"module")
    path = str(tmp_path / "m.dfx")
    dataflux.save_manifest(dataflux.list("ais://bkt/"), path)
    manifest = dataflux.open_manifest(path)
    [row] = manifest.rows()
    assert row.url == "ais://bkt/saved" and manifest._client._scheme == "ais"
    assert dataflux.get(row) == b"module"
    assert dataflux._client.in_place_of(dataflux.client(), "ais") is dataflux.client("ais")
    with open(path, "rb") as file:
        dataflux.put("ais://bkt/manifest", file.read())
    assert [row.name for row in dataflux.open_manifest("ais://bkt/manifest").rows()] == ["saved"]
    for name in ("saved", "manifest"):
        dataflux.delete(f"ais://bkt/{name}")


def test_buckets_of_others_are_not_listed(service):
    with service.client(provider="aws") as client, pytest.raises(dataflux.Error, match="list such a bucket by gs://"):
        client.list("ais://bkt/")


def test_what_it_lacks_is_told(client):
    with pytest.raises(dataflux.Error, match="checkpoints go to gs:// or s3://"):
        client.put("ais://bkt/o", b"1", if_generation_match=0)
    with pytest.raises(dataflux.Error, match="gs:// or s3://"):
        with client.writer("ais://bkt/o") as writer:
            writer.write(b"1")
    with pytest.raises(dataflux.Error, match="etl_name"):
        client.get("ais://bkt/o?etl_name=resize")
    assert not client.exists("ais://bkt/o")


@pytest.mark.parametrize("option", [{"region": "r"}, {"emulator": True}, {"user_project": "p"},
                                    {"requester_pays": True}])
def test_options_of_others_are_refused(option):
    with pytest.raises(ValueError, match="and the client is of service='ais'"):
        dataflux.Client(service="ais", **option)


def test_a_provider_is_of_aistore_alone():
    with pytest.raises(ValueError, match="provider: it is of AIStore"):
        dataflux.Client(provider="aws")
    with dataflux.Client(service="ais", endpoint="http://127.0.0.1:9", provider="ftp") as client:
        with pytest.raises(dataflux.InvalidArgumentError, match="provider"):
            client.get("ais://b/o")


def test_tokens_are_sent_and_not_shown():
    token = "SECRET-0123456789"
    with dataflux.emulator("bkt", service="ais", arguments=["--ais-token", token]) as service:
        with service.client(credentials=token) as client:
            client.put("ais://bkt/o", b"1")
            assert client.get("ais://bkt/o") == b"1"
        with service.client(credentials="WRONG-0123456789") as client:
            with pytest.raises(dataflux.UnauthenticatedError) as told:
                client.get("ais://bkt/o")
            assert "WRONG-0123" not in str(told.value)
        with service.client() as client, pytest.raises(dataflux.UnauthenticatedError):
            client.get("ais://bkt/o")
