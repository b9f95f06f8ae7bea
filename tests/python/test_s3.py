"""Clients of S3: their options, URLs of both services, and the module's functions, which choose by the URL.
What is the same on both services is tested with the mark `both_services`."""

import asyncio
import pickle
from array import array

import pytest

import dataflux
from dataflux._place import BucketInS3


@pytest.fixture
def which():
    return "s3"


@pytest.fixture
def found(emulator, monkeypatch):
    """The module's functions find the emulator by the environment."""
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(dataflux._client, "_defaults", {})
    yield
    for each in dataflux._client._defaults.values():
        each.close()


def refused(emulator, kind, text, call):
    before = emulator.answered()
    with pytest.raises(kind, match=text):
        call()
    assert emulator.answered() == before


@pytest.mark.parametrize("call", [
    lambda client, url: client.get(url), lambda client, url: client.put(url, b""),
    lambda client, url: client.stat(url), lambda client, url: client.exists(url),
    lambda client, url: client.delete(url), lambda client, url: client.copy(url, url),
    lambda client, url: client.copy(("b", "o"), url),
    lambda client, url: client.move(url, url), lambda client, url: client.compose([url], url),
    lambda client, url: client.patch(url, metadata={"a": "b"}), lambda client, url: client.read_into(url, bytearray(1)),
    lambda client, url: client.get_ranges(url, [(0, 1)]), lambda client, url: client.get_many([url]),
    lambda client, url: client.get_many([("b", "o", 0, 1)] and [(url, 0, 1)]),
    lambda client, url: client.open(url), lambda client, url: client.open(url, "w"),
    lambda client, url: client.open(url, "x"), lambda client, url: client.reader(url),
    lambda client, url: client.writer(url), lambda client, url: client.list(url),
    lambda client, url: client.list_batches(url), lambda client, url: client.list_shared(url, "f", board=("b", "p")),
    lambda client, url: client.list_shared(("b", "x"), "f", board=url),
    lambda client, url: client.open_manifest(url), lambda client, url: client.index_shards(url, "f"),
    lambda client, url: client.index_shards(url + "-{0..3}.tar", "f"),
    lambda client, url: client.open_shard_index(url, "f"), lambda client, url: client.shard_writer(url, count=1),
    lambda client, url: client.checkpoint_set(url), lambda client, url: client.latest_set(url),
    lambda client, url: client.list_sets(url), lambda client, url: client.keep_last_sets(url, 1),
    lambda client, url: client.remove_sets(url), lambda client, url: client.upload(__file__, url),
    lambda client, url: client.download(url, "f"), lambda client, url: client.upload_folder(".", url),
    lambda client, url: client.download_folder(url, "f"), lambda client, url: client.remove_prefix(url),
    lambda client, url: client.find_leftovers(url), lambda client, url: client.remove_leftovers(url),
    lambda client, url: client.bucket(url), lambda client, url: client.permissions(url, ["a"]),
    lambda client, url: client.bulk_restore(url)])
def test_a_url_of_the_other_service_is_refused_before_any_request(emulator, client, call, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    told = r"'gs://b/o.*' is of Google Cloud Storage, and the client is of S3.*service='gcs'"
    refused(emulator, ValueError, told, lambda: call(client, "gs://b/o"))
    with dataflux.Client(endpoint="http://127.0.0.1:9", emulator=True, max_attempts=1) as other:
        with pytest.raises(ValueError, match=r"'s3://b/o.*' is of S3, and the client is of Google.*service='s3'"):
            call(other, "s3://b/o")


def test_rows_know_their_service(emulator, client, bucket):
    bucket.put("a", b"1")
    listing = client.list(bucket())
    row = pickle.loads(pickle.dumps(listing[0]))
    assert row.url == bucket("a") and row == listing[0] and row.bucket == bucket.name
    assert repr(row).startswith(f"<dataflux.Row s3://{bucket.name}/a, ")
    assert client.get(row) == b"1"
    with dataflux.Client(endpoint="http://127.0.0.1:9", emulator=True, max_attempts=1) as other:
        for call in (other.get, other.stat, lambda row: other.get_many([row]), lambda row: other.get_many(listing)):
            with pytest.raises(ValueError, match="is of S3, and the client is of Google"):
                call(row)
    assert pickle.loads(pickle.dumps(client.stat(bucket("a")))).url == bucket("a")
    assert str(row.bucket).__class__ is str and isinstance(row.bucket, BucketInS3)


def test_rows_of_google_are_refused(emulator, client, bucket, found, tmp_path):
    bucket.put("o", b"here")
    with dataflux.Emulator(bucket.name, "other") as service, service.client() as gcs:
        told = gcs.put(f"gs://{bucket.name}/o", b"there")
        gcs.put("gs://other/o", b"there")
        listing, theirs = gcs.list(f"gs://{bucket.name}/"), gcs.bucket(f"gs://{bucket.name}")
        gcs.save_manifest(listing, tmp_path / "m")
        manifest = gcs.open_manifest(tmp_path / "m")
        whole = [listing, manifest.rows(), listing[:], listing.take([0])]
        feed = dataflux.RowFeed(listing, [array("Q", [0])])
    row = listing[0]
    assert (row.bucket, row.generation) != (bucket.name, client.list(bucket())[0].generation)
    text = "is of Google Cloud Storage, and the client is of S3"
    for place in (told, row, manifest.row(0), pickle.loads(pickle.dumps(row)), pickle.loads(pickle.dumps(told)),
                  dataflux.Row(bucket.name, "o", 4, 1, None)):
        for call in (client.get, client.stat, client.open, lambda place: client.get_many([place]),
                     lambda place: client.copy(place, bucket("x")), lambda place: client.get_many([(place, 0, 1)])):
            refused(emulator, ValueError, f"'gs://{bucket.name}/o' {text}", lambda: call(place))
    for each in (*whole, feed):
        refused(emulator, ValueError, f"requests: 'gs://{bucket.name}/' {text}", lambda: client.get_many(each))
    refused(emulator, ValueError, text, lambda: client.index_shards(listing, tmp_path / "i"))
    refused(emulator, ValueError, text, lambda: client.list(theirs))
    refused(emulator, ValueError, f"target: .*{bucket.name}/x. is of S3, and", lambda: dataflux.copy(row, bucket("x")))
    assert {dataflux._client.service_of(each) for each in (told, row, manifest, theirs, *whole, feed)} == {"gcs"}
    # What has no scheme is of the client's own.
    assert client.get((row.bucket, row.name)) == b"here"
    with pytest.raises(ValueError, match="after: a listing of gs://"):
        dataflux.compare(listing, client.list(bucket()))


def test_manifests_and_indexes_know_their_service(emulator, client, bucket, found, tmp_path):
    with client.shard_writer(bucket("s/%02d.tar"), count=1) as writer:
        writer.write({"__key__": "a", "txt": b"1"})
        writer.finish()
    client.index_shards(bucket("s/"), tmp_path / "i")
    client.save_manifest(client.list(bucket()), tmp_path / "m")
    client.save_manifest(client.list(bucket()), bucket("m"))
    index = dataflux.ShardIndex.open(tmp_path / "i")
    assert index.summary["scheme"] == "s3" and dataflux._client.service_of(index.shards[0]) == "s3"
    # The module's functions choose by the file.
    for target in (tmp_path / "m", str(tmp_path / "m"), bucket("m")):
        manifest = dataflux.open_manifest(target)
        assert manifest.summary["scheme"] == "s3" and manifest.row(0).url == bucket("s/00.tar")
        assert [row.name for row in manifest.refresh().added] == ["m"]
    assert [sample["txt"] for sample in dataflux.get_samples(index, [0])] == [b"1"]
    assert [sample["__url__"] for sample in dataflux.get_samples(index, [0])] == [bucket("s/00.tar")]
    assert dataflux.verify_shards(index).shards == 1
    assert set(dataflux._client._defaults) == {"s3"}
    # A client of the other service takes none of it.
    with dataflux.Client(endpoint="http://127.0.0.1:9", emulator=True, max_attempts=1) as other:
        for call in (lambda: other.open_manifest(tmp_path / "m").refresh(), lambda: other.get_samples(index, [0]),
                     lambda: other.verify_shards(index), lambda: other.get_many(other.open_manifest(tmp_path / "m").rows())):
            refused(emulator, ValueError, "is of S3, and the client is of Google", call)


def test_files_about_google_are_refused(emulator, client, bucket, found, tmp_path):
    with dataflux.Emulator(bucket.name) as service, service.client() as gcs:
        with gcs.shard_writer(f"gs://{bucket.name}/%02d.tar", count=1) as writer:
            writer.write({"__key__": "a", "txt": b"1"})
            writer.finish()
        gcs.index_shards(f"gs://{bucket.name}/", tmp_path / "i")
        gcs.save_manifest(gcs.list(f"gs://{bucket.name}/"), tmp_path / "m")
    index = dataflux.ShardIndex.open(tmp_path / "i")
    assert index.summary["scheme"] == "gs" and type(index.bucket) is str
    for call in (lambda: client.open_manifest(tmp_path / "m").refresh(), lambda: client.get_samples(index, [0]),
                 lambda: client.verify_shards(index)):
        refused(emulator, ValueError, "is of Google Cloud Storage, and the client is of S3", call)


def test_a_manifest_in_a_bucket_of_the_other_service(client, bucket, found, monkeypatch, tmp_path):
    bucket.put("o", b"1")
    client.save_manifest(client.list(bucket()), tmp_path / "m")
    with dataflux.Emulator("elsewhere") as service:
        for name, value in service.environment.items():
            monkeypatch.setenv(name, value)
        dataflux.upload(tmp_path / "m", "gs://elsewhere/m")
        assert len(dataflux.open_manifest("gs://elsewhere/m").refresh().listing) == 1


@pytest.mark.parametrize("content", [
    b"", b"x" * 200, b"\x89dflist\n", b"\x89dflist\n" + b"\xff" * 120, b"\x89dfshrd\n" + bytes(56) + b"7" + bytes(63)])
def test_a_file_that_is_neither_says_nothing(content, tmp_path):
    (tmp_path / "f").write_bytes(content)
    assert dataflux._manifest.scheme_in_file(tmp_path / "f") == ""
    assert dataflux._manifest.scheme_in_file(tmp_path) == dataflux._manifest.scheme_in_file(tmp_path / "none") == ""


def test_an_access_point_by_its_arn(emulator, client):
    arn = "arn:aws:s3:eu-west-1:123456789012:accesspoint/p"
    assert dataflux._place.object_place(f"s3://{arn}/a/b")[:2] == (arn.encode(), b"a/b")
    assert dataflux._place.prefix_place(f"s3://{arn}")[:2] == (arn.encode(), b"")
    # Here it is another server's.
    for place in (f"s3://{arn}/a", (arn, "a")):
        refused(emulator, dataflux.InvalidArgumentError, "stands for a host of AWS", lambda: client.get(place))
    several = "arn:aws:s3::123456789012:accesspoint/m.mrap"
    refused(emulator, dataflux.Error, "of several regions", lambda: client.get((several, "a")))


@pytest.mark.parametrize("service", ["gcs", "ais"])
def test_no_other_service_has_an_arn(service):
    arn, scheme = "arn:aws:s3:eu-west-1:123456789012:accesspoint/p", {"gcs": "gs"}.get(service, service)
    nowhere = {"endpoint": "http://127.0.0.1:9"}  # where nobody answers
    with dataflux.Client(service=service, **nowhere, **({"emulator": True} if service == "gcs" else {})) as client:
        for call in (lambda: client.get(f"{scheme}://{arn}/a"), lambda: client.get((arn, "a")),
                     lambda: client.list(f"{scheme}://{arn}"), lambda: client.put(f"{scheme}://{arn}/a", b"")):
            with pytest.raises(dataflux.InvalidArgumentError, match="begin the URL with s3://"):
                call()


def test_globs_and_versions(emulator, client, bucket):
    for name in ("a/1.tar", "a/2.txt", "a/b/3.tar", "c.tar"):
        bucket.put(name)
    assert [row.name for row in client.list(bucket(), glob="a/**.tar")] == ["a/1.tar", "a/b/3.tar"]
    assert [row.name for row in client.list(bucket("a/"), glob="**/*.tar")] == ["a/1.tar", "a/b/3.tar"]
    refused(emulator, dataflux.Error, "ListObjectVersions", lambda: client.list(bucket(), versions=True))
    refused(emulator, dataflux.Error, "leave out the delimiter",
            lambda: client.list(bucket(), glob="*", delimiter="/"))


def test_what_s3_has_told_of_is_taken(client, bucket, found, tmp_path):
    with client.shard_writer(bucket("s/%02d.tar"), count=1) as writer:
        writer.write({"__key__": "a", "txt": b"1"})
        [shard] = writer.finish().shards
    (tmp_path / "f").write_bytes(b"4")
    sent = client.upload(tmp_path / "f", bucket("f")).object
    client.index_shards(client.list(bucket("s/")), tmp_path / "i")
    index = dataflux.ShardIndex.open(tmp_path / "i")
    for place in (shard, index.shards[0], client.stat(bucket("s/00.tar")), client.list(bucket("s/"))[0]):
        assert client.get(place) == bucket.get(shard.name)
    assert client.get(sent) == dataflux.get(sent) == b"4" and dataflux.get(shard) == client.get(shard)
    items = client.get_many([sent, client.stat(bucket("s/00.tar"))]).items()
    assert [item.data for item in items] == [b"4", bucket.get(shard.name)]
    assert [sample["txt"] for sample in client.get_samples(index, [0])] == [b"1"]
    assert [row.name for row in dataflux.list(client.bucket(bucket()))] == ["f", shard.name, f"{shard.name}.dfx"]


def test_errors_name_s3(client, bucket):
    with pytest.raises(dataflux.NotFoundError) as told:
        client.get(bucket("none"))
    assert told.value.url == bucket("none") == told.value.filename
    assert f" of {bucket('none')}: " in str(told.value)
    again = pickle.loads(pickle.dumps(told.value))
    assert again.url == bucket("none") and str(again) == str(told.value)


def test_the_modules_functions_choose_by_the_url(found, bucket, tmp_path):
    dataflux.put(bucket("a"), b"123")
    assert dataflux.get(bucket("a")) == b"123" and dataflux.exists((BucketInS3(bucket.name), "a"))
    assert dataflux.stat(dataflux.list(bucket())[0]).size == 3
    assert [item.data for batch in dataflux.get_many([bucket("a")]) for item in batch] == [b"123"]
    with dataflux.open(bucket("b"), "w") as file:
        file.write("text")
    (tmp_path / "f").write_bytes(b"4")
    dataflux.upload(tmp_path / "f", bucket("f"))
    dataflux.download(bucket("f"), path=tmp_path / "g")
    assert (tmp_path / "g").read_bytes() == b"4"
    dataflux.client("s3").close()  # another one is found by the environment
    assert dataflux.get(bucket("a")) == b"123" and dataflux.client("s3") is dataflux.client("s3")
    with dataflux.writer(bucket("w")) as writer:
        writer.write(b"5")
    assert bucket.get("w") == b"5"
    with pytest.raises(ValueError, match="the client is of S3"):
        dataflux.copy(bucket("a"), "gs://b/o")


def test_the_first_request_of_an_iterable_chooses(found, bucket):
    for name in "abc":
        bucket.put(name, name.encode())
    urls, taken = [bucket(name) for name in "abc"], []

    def asked():
        for url in urls:
            taken.append(url)
            yield url, 0, 1

    class Once:
        def __iter__(self):
            return asked()

    for requests in (iter(urls), asked(), Once(), dict.fromkeys(urls), map(str, urls), tuple(urls), dataflux.list(bucket()),
                     iter(dataflux.list(bucket()))):
        assert [bytes(item.data) for item in dataflux.get_many(requests).items()] == [b"a", b"b", b"c"]
    assert taken == urls * 2
    assert [item.data for item in dataflux.get_many(requests=iter(urls[:1]), order="ready").items()] == [b"a"]
    assert list(dataflux.get_many(iter([]))) == []
    with pytest.raises(ValueError, match="the first is ..., and has to name the bucket"):
        dataflux.get_many(iter([..., urls[0]]))
    with pytest.raises(TypeError, match="requests: a Listing, Rows or an iterable"):
        dataflux.get_many(7)


def test_options_of_s3(emulator):
    for wrong, text in (({"service": "s4"}, "service: 's4' is none of"), ({"region": 7}, "region: a str"),
                        ({"addressing": "dns"}, "addressing: 'dns' is none"),
                        ({"upload_checksum": "md5"}, "upload_checksum"), ({"emulator": True}, "emulator: it is of Google"),
                        ({"credentials": "t"}, "credentials: it is of Google"),
                        ({"user_project": "p"}, "user_project: it is of Google"),
                        ({"anonymous": True}, "anonymous: it does not go with access_key_id"),
                        ({"secret_access_key": None}, "access_key_id: it goes with"),
                        ({"access_key_id": None, "secret_access_key": None, "session_token": "t"}, "session_token: it goes"),
                        ({"requester_pays": "yes"}, "requester_pays: True or False")):
        with pytest.raises((TypeError, ValueError), match=text):
            dataflux.Client(**{**emulator.options, **wrong})
    for name, value in (("region", "r"), ("access_key_id", "k"), ("requester_pays", True), ("addressing", "path"),
                        ("upload_checksum", "none")):
        with pytest.raises(ValueError, match=f"{name}: it is of S3"):
            dataflux.Client(**{name: value})


def test_keys_are_never_shown(emulator):
    client = dataflux.Client(**emulator.options, session_token="the token")
    assert not any(each in repr(client) for each in (emulator.secret, "the token", emulator.key))
    with pytest.raises(TypeError, match="so that no secret travels"):
        pickle.dumps(client)
    with dataflux.Client(**{**emulator.options, "secret_access_key": "x" * 40}) as wrong:
        with pytest.raises(dataflux.PermissionDeniedError) as told:
            wrong.get("s3://bucket/o")
        assert "x" * 40 not in str(told.value)


def test_clients_that_find_their_keys_are_pickled(emulator, bucket, monkeypatch):
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    bucket.put("a", b"1")
    with pickle.loads(pickle.dumps(dataflux.Client(service="s3"))) as client:
        assert client.get(bucket("a")) == b"1"


def test_anonymous_requests_are_not_signed(emulator, bucket):
    with dataflux.Client(service="s3", endpoint=emulator.endpoint, anonymous=True) as client:
        with pytest.raises(dataflux.PermissionDeniedError):
            client.get(bucket("a"))


def test_what_s3_lacks_says_so(client, bucket):
    for call in (lambda: client.buckets(), lambda: client.permissions(bucket(), ["storage.objects.get"]),
                 lambda: client.patch(bucket("a"), metadata={"a": "b"}),
                 lambda: client.move(bucket("a"), bucket("b"))):
        with pytest.raises(dataflux.Error, match="S3") as told:
            call()
        assert told.value.status == "unimplemented"


def test_objects_are_joined(client, bucket):
    bodies = [bytes([number]) * size for number, size in enumerate((6 << 20, 3, 0, 7 << 20))]
    for number, body in enumerate(bodies):
        bucket.put(f"part-{number}", body)
    made = client.compose([bucket(f"part-{number}") for number in range(4)], bucket("whole"), if_generation_match=0)
    assert made.size == sum(map(len, bodies)) and bucket.get("whole") == b"".join(bodies)
    with pytest.raises(FileExistsError):
        client.compose([bucket("part-0")], bucket("whole"), if_generation_match=0)


def save(saving, members, **last):
    records = []
    for name, content in members.items():
        with saving.open_member(name) as member:
            member.write(content)
        records.append(member.record)
    return saving.commit(records, **last)


def content_of(found):
    return {member.name: found.reader(member.name).read_at(0, member.size) for member in found.members}


def test_of_two_saves_over_a_set_one_is_committed(client, bucket):
    for step in range(3):
        saving = client.checkpoint_set(bucket("latest"))
        slow, fast = saving.over(saving.begin_over()), saving.over(saving.begin_over())
        save(fast, {"a": b"%d" % step, "large": bytes(17 << 20)})
        # Its members are as it has written them, whatever the other one has removed.
        with pytest.raises(dataflux.Error, match="another save was committed here") as told:
            save(slow, {"a": b"the same", "large": b""})
        assert told.value.status == "aborted"
        assert content_of(saving.open()) == {"a": b"%d" % step, "large": bytes(17 << 20)}
    # Bytes of the caller's say which save they are of.
    save(saving.over(saving.begin_over()), {"a": b"x"}, data=b"run 7, step 1")
    again = saving.over(saving.begin_over())
    with pytest.raises(ValueError, match="put something of this save into them"):
        save(again, {"a": b"y"}, data=b"run 7, step 1")
    assert content_of(saving.open()) == {"a": b"x"}
    save(saving.over(saving.begin_over()), {"a": b"y"}, data=b"run 7, step 2")
    found = saving.open()
    assert content_of(found) == {"a": b"y"} and found.reader(found.last).read_at(0, 100) == b"run 7, step 2"


def test_where_conditions_are_ignored_nothing_is_saved(emulator, bucket):
    with emulator.client() as client:
        emulator.faults({"action": "ignore_conditions", "count": 0})
        for call in (lambda: client.put(bucket("run/a"), b"1", if_generation_match=0),
                     lambda: save(client.checkpoint_set(bucket("run")), {"a": b"1"})):
            with pytest.raises(dataflux.PreconditionError, match="save to a server that keeps If-None-Match") as told:
                call()
            assert told.value.object == "run/a"
        client.put(bucket("b"), b"1")  # no condition
        assert bucket.names() == ["b"]


def test_tasks(emulator, bucket):
    import asyncio

    async def main():
        async with emulator.async_client() as client:
            await client.put(bucket("a"), b"1")
            with pytest.raises(ValueError, match="the client is of S3"):
                await client.get("gs://b/a")
            return [row.url async for rows in client.list_batches(bucket()) for row in rows], await client.get(bucket("a"))

    assert asyncio.run(main()) == ([bucket("a")], b"1")


def whole_reads(client, url, row):
    """Every way to all of an object."""
    size = row.size

    def into():
        buffer = bytearray(size)
        client.read_into(url, buffer)
        return bytes(buffer)

    def many(asked):
        return [bytes(item.data) for batch in client.get_many([asked]) for item in batch][0]

    return [lambda: client.get(url), lambda: client.get(row), into, lambda: many(url), lambda: many(row)]


@pytest.mark.parametrize("ours", [True, False])
@pytest.mark.parametrize("size", [100, 3 << 20, 20 << 20])
def test_whole_reads_are_compared(emulator, client, bucket, size, ours, tmp_path):
    """Objects of ours have a CRC32C, those of others what S3 makes itself, a CRC64NVME."""
    content = bytes(range(256)) * (size // 256 + 1)
    if ours:
        with client.open(bucket("o"), "wb") as file:
            file.write(content)
    else:
        bucket.put("o", content)
    (row,) = client.list(bucket())
    reads = whole_reads(client, bucket("o"), row)
    for read in reads:
        assert read() == content
    assert client.download(bucket("o"), tmp_path / "f").verified
    assert (tmp_path / "f").read_bytes() == content
    emulator.faults({"action": "flip_byte", "verb": "objects.media", "offset": 7, "count": 0})
    for read in reads:
        with pytest.raises(dataflux.DataLossError):
            read()
    with pytest.raises(dataflux.DataLossError):
        client.download(bucket("o"), tmp_path / "f")


def test_small_sources_of_a_join_are_compared(emulator, client, bucket):
    bucket.put("a", b"0123456789")
    client.put(bucket("b"), b"9876543210")
    client.compose([bucket("a"), bucket("b")], bucket("all"))
    assert client.get(bucket("all")) == b"01234567899876543210"
    emulator.faults({"action": "flip_byte", "verb": "objects.media", "offset": 7, "count": 0})
    for name in "ab":
        with pytest.raises(dataflux.DataLossError):
            client.compose([bucket(name)] * 2, bucket("joined"))


def test_whole_reads_of_event_loops_and_file_systems_are_compared(emulator, client, bucket):
    fsspec = pytest.importorskip("dataflux.fsspec")
    fs = fsspec.DatafluxS3FileSystem(key=emulator.key, secret=emulator.secret, endpoint_url=emulator.endpoint,
                                     client_kwargs={"region_name": emulator.region}, skip_instance_cache=True)

    async def got():
        async with dataflux.AsyncClient(**emulator.options) as other:
            return await other.get(bucket("o"))

    client.put(bucket("o"), b"0123456789")
    assert asyncio.run(got()) == fs.cat(bucket("o")) == b"0123456789"
    emulator.faults({"action": "flip_byte", "verb": "objects.media", "offset": 7, "count": 0})
    for read in (lambda: asyncio.run(got()), lambda: fs.cat(bucket("o")), lambda: fs.cat_file(bucket("o"))):
        with pytest.raises((dataflux.DataLossError, OSError)):
            read()
    fs.close()
