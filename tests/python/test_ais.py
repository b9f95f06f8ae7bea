"""Clients of AIStore: reads, listings, whole objects written, what it lacks, and URLs of three services."""

import io
import pickle
import tarfile

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
    assert [row.name for row in client.list("ais://bkt/", glob="a/?")] == [f"a/{i}" for i in range(10)]
    client.delete("ais://bkt/a/7")
    with pytest.raises(dataflux.NotFoundError, match=r"ais://bkt/a/7"):
        client.get("ais://bkt/a/7")
    with client.open("ais://bkt/a/8") as file:
        assert file.read() == bodies["a/8"]


def archive(members):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def test_members_of_archives(client):
    members = {"dir/a.jpg": b"first", "ä b+&.cls": b"2", "empty": b"", "large": bytes(3_000_000)}
    client.put("ais://bkt/x.tgz", archive(members))
    for name, body in members.items():
        assert client.get("ais://bkt/x.tgz", member=name) == body
    with pytest.raises(dataflux.NotFoundError, match=r"ais://bkt/x\.tgz.*member dir/b\.jpg: ") as why:
        client.get("ais://bkt/x.tgz", member="dir/b.jpg")
    assert why.value.object == "x.tgz"
    client.put("ais://bkt/plain", b"plain")
    asked = [("ais://bkt/x.tgz", "large"), "ais://bkt/plain", ("ais://bkt/x.tgz", "none"), (("bkt", "plain"), 1, 3),
             ("bkt", "plain"), ("ais://bkt/x.tgz", "dir/a.jpg")]
    found = list(client.get_many(asked, on_error="return").items())
    assert [item.request for item in found] == asked
    assert isinstance(found.pop(2).error, dataflux.NotFoundError)
    assert [bytes(item.data) for item in found] == [members["large"], b"plain", b"lai", b"plain", b"first"]
    assert [item.verified for item in found] == [False, True, False, True, False]


def test_what_no_member_can_be_asked_for(client):
    client.put("ais://bkt/x.tgz", archive({"a": b"1"}))
    for how in ({"offset": 1}, {"length": 1}, {"generation": 7}):
        with pytest.raises(dataflux.InvalidArgumentError, match="member"):
            client.get("ais://bkt/x.tgz", member="a", **how)
    [row] = client.list("ais://bkt/")
    with pytest.raises(dataflux.InvalidArgumentError, match="a URL instead of a row"):
        client.get(row, member="a")
    for wrong, kind in ((b"a", TypeError), ("", ValueError), ("a\0", ValueError)):
        with pytest.raises(kind, match="^member: "):
            client.get("ais://bkt/x.tgz", member=wrong)
    with pytest.raises(ValueError, match="^requests: a member: "):
        list(client.get_many([("ais://bkt/x.tgz", "")]))


@pytest.mark.parametrize("other", ["gcs", "s3"])
def test_members_are_of_aistore_alone(other):
    with dataflux.emulator("bkt", service=other) as service, service.client() as client:
        url = f"{'gs' if other == 'gcs' else other}://bkt/x.tar"
        client.put(url, archive({"a": b"1"}))
        before = sum(one["count"] for one in service.counters()["requests"] if one["verb"] != "control")
        with pytest.raises(dataflux.Error, match="takes no archives apart") as why:
            client.get(url, member="a")
        assert why.value.status == "unimplemented"
        [item] = client.get_many([(url, "a")], on_error="return").items()
        assert item.error.status == "unimplemented"
        assert before == sum(one["count"] for one in service.counters()["requests"] if one["verb"] != "control")


def test_shards_are_read_in_sequence(client):
    from dataflux.webdataset import WebDataset

    for number in range(3):
        client.put(f"ais://bkt/s/{number}.tgz", archive({f"{number}{i}.txt": b"%d" % i for i in range(5)}))
    samples = list(WebDataset("ais://bkt/s/{0..2}.tgz", shardshuffle=False, client=client))
    assert [sample["__key__"] for sample in samples] == [f"{number}{i}" for number in range(3) for i in range(5)]
    assert {bytes(sample["txt"]) for sample in samples} == {b"0", b"1", b"2", b"3", b"4"}
    client.put("ais://bkt/s/1.tgz", b"no archive")
    with pytest.raises(Exception, match=r"s/1\.tgz"):
        list(WebDataset("ais://bkt/s/{0..2}.tgz", shardshuffle=False, client=client))


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
    assert not client.exists("ais://bkt/o")
    with pytest.raises(dataflux.Error, match="gs:// or s3://"):
        with client.shard_writer("ais://bkt/s-%04d.tar", count=2) as writer:
            writer.write({"__key__": "a", "txt": b"1"})
    assert not client.list("ais://bkt/")


@pytest.mark.parametrize("url", ["ais://bkt/o?etl_name=resize", "ais://bkt/o?provider=ais&etl_name=resize"])
def test_etl_is_refused_wherever_it_is_said(client, url):
    for use in (lambda: client.get(url), lambda: client.get(url, offset=1, length=1), lambda: client.stat(url),
                lambda: client.put(url, b"1"), lambda: client.delete(url), lambda: client.list(url),
                lambda: client.read_into(url, bytearray(1)), lambda: client.get(url, member="a"),
                lambda: client.open(url).read(), lambda: list(client.get_many([url])),
                lambda: list(client.get_many([url] * 100))):
        with pytest.raises(dataflux.Error, match="etl_name: ") as why:
            use()
        assert why.value.status == "unimplemented"
    with pytest.raises(TypeError, match="etl_name"):
        dataflux.Client(service="ais", etl_name="resize")
    with dataflux.Client(service="ais", endpoint="http://127.0.0.1:9?etl_name=resize") as other:
        with pytest.raises(dataflux.InvalidArgumentError, match="endpoint"):
            other.get("ais://bkt/o")


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


def test_a_set_is_refused_at_its_beginning(client):
    with pytest.raises(dataflux.PreconditionError, match=r"ais://bkt/run/1/.*go to gs:// or s3://"):
        client.checkpoint_set("ais://bkt/run/1").begin()


def test_what_was_compared_is_told(client, tmp_path):
    client.put("ais://bkt/empty", b"")
    client.put("ais://bkt/small", b"one")
    assert [item.verified for item in client.get_many(client.list("ais://bkt/")).items()] == [True, True]
    for name in ("empty", "small"):
        assert client.download(f"ais://bkt/{name}", tmp_path / name).verified
    with pytest.raises(dataflux.PreconditionError, match="ais://bkt/a"):
        client.upload(tmp_path / "small", "ais://bkt/a")
