"""Single objects: what is known of them, and their changes within the service."""

import array
import json
import mmap
import pathlib
import pickle
import threading
from datetime import datetime, timezone

import pytest
from service import wait_until

import dataflux

MIB = 1 << 20


def sent(emulator, call):
    """How many requests it makes."""
    before = emulator.answered()
    call()
    return emulator.answered() - before


def refused(emulator, kind, text, call):
    """It is refused with an exception that names the argument, and nothing is sent."""
    before = emulator.answered()
    with pytest.raises(kind, match=text):
        call()
    assert emulator.answered() == before


def test_put_says_what_is_known(client, bucket):
    made = client.put(bucket("a/ä b"), b"hello", content_type="text/plain", content_encoding="br",
                      content_disposition="inline", content_language="de", cache_control="no-store",
                      storage_class="NEARLINE", metadata={"one": "1", "two": "ü"},
                      custom_time=datetime(2033, 5, 18, 3, 33, 20, tzinfo=timezone.utc))
    assert (made.bucket, made.name, made.url) == (bucket.name, "a/ä b", bucket("a/ä b"))
    assert (made.size, made.crc32c, made.md5_hash) == (5, 0x9A71BB4C, "XUFAKrxLKna5cZ2REBfFkg==")
    assert (made.metageneration, made.content_type, made.content_encoding) == (1, "text/plain", "br")
    assert (made.content_disposition, made.content_language) == ("inline", "de")
    assert (made.cache_control, made.storage_class) == ("no-store", "NEARLINE")
    assert made.metadata == {"one": "1", "two": "ü"}
    assert made.custom_time == datetime(2033, 5, 18, 3, 33, 20, tzinfo=timezone.utc)
    assert made.time_created == made.updated and made.time_created.tzinfo is timezone.utc
    assert made.component_count is None and made.kms_key_name is None and made.etag
    assert made.known["contentType"] == "text/plain"
    assert bucket.get("a/ä b") == b"hello"
    assert client.stat(bucket("a/ä b")) == made


def test_an_object_cannot_be_changed_by_what_it_gives(client, bucket):
    made = client.put(bucket("a"), b"", metadata={"a": "1"})
    made.metadata["a"] = "2"
    made.known["name"] = "b"
    assert made.metadata == {"a": "1"} and made.name == "a"
    with pytest.raises(AttributeError):
        made.size = 1


def test_objects_are_pickled_compared_and_hashed(client, bucket):
    made = client.put(bucket("a"), b"1")
    again = pickle.loads(pickle.dumps(made))
    assert again == made and hash(again) == hash(made) and again is not made
    assert client.put(bucket("a"), b"1") != made
    assert repr(made) == (f"<dataflux.Object gs://{bucket.name}/a, 1 bytes, "
                          f"generation {made.generation}>")


@pytest.mark.both_services
def test_stat_asks_for_fields_alone(client, bucket):
    client.put(bucket("a"), b"123", metadata={"a": "1"}, content_type="text/plain")
    some = client.stat(bucket("a"), fields=("content_type", "size"))
    assert some.content_type == "text/plain" and some.size == 3 and some.crc32c is not None
    assert some.metadata is None and some.etag is None and some.time_created is None
    assert client.stat(bucket("a"), fields=[]).content_type is None
    assert client.stat(bucket("a"), fields=["metadata"]).metadata == {"a": "1"}


@pytest.mark.both_services
def test_no_metadata_is_an_empty_dict_where_it_was_asked_for(client, bucket):
    bucket.put("a")
    assert client.stat(bucket("a")).metadata == {}
    assert client.stat(bucket("a"), fields=["etag"]).metadata is None


def test_an_object_names_its_generation(client, bucket, emulator):
    emulator.add_bucket(bucket.name, versioning=True)
    old = client.put(bucket("a"), b"1")
    new = client.put(old, b"22")  # what is made gets a new generation
    assert client.stat(old).size == 1 and client.stat(bucket("a")).size == 2
    assert client.stat(bucket("a"), generation=old.generation).size == 1
    assert client.copy(old, bucket("b")).size == 1
    assert client.compose([old, new], bucket("c")).size == 3
    client.delete(old)
    assert not client.exists(old) and client.exists(new)


def test_exists_is_one_request(client, bucket, emulator):
    bucket.put("a")
    client.exists(bucket("a"))
    assert sent(emulator, lambda: client.exists(bucket("a"))) == 1
    assert sent(emulator, lambda: client.exists(bucket("b"))) == 1
    assert client.exists(bucket("a")) is True and client.exists(bucket("b")) is False
    assert client.exists("gs://there-is-no-such-bucket/a") is False
    emulator.faults({"verb": "objects.get", "action": "refuse", "status": 403, "count": 0})
    with pytest.raises(PermissionError):
        client.exists(bucket("a"))


def test_delete_and_what_is_not_there(client, bucket):
    bucket.put("a")
    assert client.delete(bucket("a")) is None
    assert bucket.names() == []
    assert client.delete(bucket("a"), missing_ok=True) is None
    with pytest.raises(FileNotFoundError) as caught:
        client.delete(bucket("a"))
    error = caught.value
    assert isinstance(error, dataflux.NotFoundError)
    assert (error.verb, error.bucket, error.object) == ("objects.delete", bucket.name, "a")
    assert (error.http_status, error.filename, error.retryable) == (404, bucket("a"), False)


@pytest.mark.both_services
def test_errors_are_pickled_whole(client, bucket):
    with pytest.raises(dataflux.NotFoundError) as caught:
        client.stat(bucket("a"))
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is dataflux.NotFoundError and str(again) == str(caught.value)
    assert vars(again) == vars(caught.value)
    assert type(caught.value)(str(caught.value)).args == caught.value.args


@pytest.mark.parametrize("verb", ["stat", "put", "delete", "patch", "copy", "move", "compose"])
def test_conditions_that_do_not_hold(client, bucket, verb):
    there = client.put(bucket("a"), b"1")
    bucket.put("b", b"2")
    call = {"stat": lambda **c: client.stat(bucket("a"), **c),
            "put": lambda **c: client.put(bucket("a"), b"x", **c),
            "delete": lambda **c: client.delete(bucket("a"), **c),
            "patch": lambda **c: client.patch(bucket("a"), metadata={"a": "1"}, **c),
            "copy": lambda **c: client.copy(bucket("b"), bucket("a"), **c),
            "move": lambda **c: client.move(bucket("b"), bucket("a"), **c),
            "compose": lambda **c: client.compose([bucket("b")], bucket("a"), **c)}[verb]
    wrong = [{"if_generation_match": there.generation + 1}, {"if_metageneration_match": 7},
             {"if_generation_not_match": there.generation}, {"if_metageneration_not_match": 1}]
    for each in wrong[:2] if verb == "compose" else wrong:  # the service has but two for it
        with pytest.raises(dataflux.PreconditionError):
            call(**each)
    assert bucket.get("a") == b"1" and bucket.get("b") == b"2"
    assert client.stat(bucket("a")) == there
    call(if_generation_match=there.generation, if_metageneration_match=1)


@pytest.mark.parametrize("verb", ["copy", "move"])
def test_conditions_of_the_source(client, bucket, verb):
    there = client.put(bucket("a"), b"1")
    for wrong in ({"source_if_generation_match": 1}, {"source_if_metageneration_match": 7},
                  {"source_if_generation_not_match": there.generation},
                  {"source_if_metageneration_not_match": 1}):
        with pytest.raises(dataflux.PreconditionError):
            getattr(client, verb)(bucket("a"), bucket("b"), **wrong)
    assert bucket.names() == ["a"]
    getattr(client, verb)(bucket("a"), bucket("b"), source_if_generation_match=there.generation)


@pytest.mark.both_services
def test_create_only(client, bucket):
    client.put(bucket("a"), b"1", if_generation_match=0)
    with pytest.raises(FileExistsError) as caught:
        client.put(bucket("a"), b"2", if_generation_match=0)
    assert isinstance(caught.value, dataflux.AlreadyExistsError)
    assert bucket.get("a") == b"1"


def test_a_move_of_a_row_moves_that_generation(client, bucket):
    old = client.put(bucket("a"), b"1")
    new = client.put(bucket("a"), b"2")
    with pytest.raises(dataflux.PreconditionError):
        client.move(old, bucket("b"))
    assert client.move(new, bucket("b")).name == "b"
    assert bucket.names() == ["b"] and bucket.get("b") == b"2"


def test_copies_keep_or_replace_attributes(client, bucket, emulator):
    emulator.add_bucket(bucket.name + "-2")
    client.put(bucket("a"), b"1", content_type="text/plain", metadata={"a": "1"})
    same = client.copy(bucket("a"), (bucket.name + "-2", "b"))
    assert same.content_type == "text/plain" and same.metadata == {"a": "1"}
    other = client.copy(bucket("a"), bucket("c"), content_type="image/png")
    assert other.content_type == "image/png" and other.metadata == {}
    with pytest.raises(dataflux.NotFoundError):
        client.copy(bucket("none"), bucket("d"))


@pytest.mark.both_services
def test_patch_says_that_a_custom_time_cannot_be_removed(client, emulator, bucket):
    before = emulator.answered()
    with pytest.raises(ValueError, match="^custom_time: one that is set cannot be removed"):
        client.patch(bucket("x"), custom_time="")
    assert emulator.answered() == before


def test_patch_changes_leaves_and_removes(client, bucket):
    client.put(bucket("a"), b"1", content_type="text/plain", cache_control="no-store",
               metadata={"a": "1", "b": "2"})
    now = client.patch(bucket("a"), cache_control="", content_language="de",
                       metadata={"a": None, "c": "3"})
    assert now.metageneration == 2 and now.content_type == "text/plain"
    assert now.cache_control is None and now.content_language == "de"
    assert now.metadata == {"b": "2", "c": "3"}
    assert client.stat(bucket("a")) == now
    with pytest.raises(dataflux.NotFoundError):
        client.patch(bucket("none"), metadata={"a": "1"})


def test_compose_keeps_order_and_sources(client, bucket):
    parts = [bucket(f"part {i}") for i in range(32)]
    for i, part in enumerate(parts):
        client.put(part, b"%d;" % i)
    made = client.compose(iter(parts), bucket("all"), content_type="text/plain")
    assert made.component_count == 32 and made.md5_hash is None
    assert made.content_type == "text/plain"
    assert bucket.get("all") == b"".join(b"%d;" % i for i in range(32))
    assert len(bucket.names()) == 33


@pytest.mark.parametrize("data", [
    b"", bytearray(), b"bytes", bytearray(b"array"), memoryview(b"xviewx")[1:-1],
    array.array("d", [1.5, 2.5]), memoryview(b"12345678").cast("I")], ids=lambda d: type(d).__name__)
def test_put_takes_any_buffer(client, bucket, data):
    assert client.put(bucket("a"), data).size == memoryview(data).nbytes
    assert bucket.get("a") == bytes(memoryview(data).cast("B") if len(data) else b"")


@pytest.mark.both_services
def test_put_takes_a_map_and_numpy(client, bucket):
    numpy = pytest.importorskip("numpy")
    with mmap.mmap(-1, 5000) as mapped:
        mapped[:] = bytes(range(250)) * 20
        client.put(bucket("map"), mapped)
        assert bucket.get("map") == mapped[:]
    table = numpy.arange(12, dtype="<u2").reshape(3, 4)
    table.flags.writeable = False
    client.put(bucket("array"), table)
    assert bucket.get("array") == table.tobytes()


def test_put_pins_its_data_until_the_end(client, bucket, emulator):
    data = bytearray(bytes(range(256)) * (9 * MIB // 256))
    whole = bytes(data)
    emulator.faults({"verb": "objects.insert", "action": "stall", "where": "before_reply"})
    ended = []

    def put():
        with pytest.raises(dataflux.CancelledError):
            client.put(bucket("a"), data)
        ended.append(True)

    thread = threading.Thread(target=put)
    thread.start()
    assert wait_until(lambda: json.loads(emulator.ask("GET", "/_emulator/faults"))["hits"] == 1)
    with pytest.raises(BufferError):
        data.append(1)
    client.close()
    thread.join(60)
    assert ended and data == whole
    data.append(1)  # it is the caller's again


@pytest.mark.both_services
def test_what_was_lent_is_free_within_the_handler(client, bucket, emulator):
    data = bytearray(b"1")
    emulator.faults({"verb": "objects.insert", "action": "refuse", "status": 403})
    try:
        client.put(bucket("a"), data)
    except PermissionError:
        data.append(1)  # though the traceback still has the call
    assert data == b"1\x01"


@pytest.mark.both_services
def test_a_large_put_is_whole(client, bucket):
    data = memoryview(bytes(range(251)) * (20 * MIB // 251))
    made = client.put(bucket("a"), data)
    assert made.size == len(data) and bucket.get("a") == data


def test_a_refusal_is_a_permission_error(client, bucket, emulator):
    emulator.faults({"action": "refuse", "status": 403, "count": 0})
    bucket_url = bucket("a")
    for call in (lambda: client.stat(bucket_url), lambda: client.put(bucket_url, b""),
                 lambda: client.delete(bucket_url, missing_ok=True),
                 lambda: client.copy(bucket_url, bucket("b")),
                 lambda: client.move(bucket_url, bucket("b")),
                 lambda: client.compose([bucket_url], bucket("b")),
                 lambda: client.patch(bucket_url, content_type="")):
        with pytest.raises(PermissionError) as caught:
            call()
        assert isinstance(caught.value, dataflux.PermissionDeniedError)
        assert caught.value.http_status == 403


@pytest.mark.both_services
def test_what_may_be_repeated_is(client, bucket, emulator):
    bucket.put("a", b"1")
    emulator.faults({"verb": "objects.get", "action": "refuse", "count": 2},
                    {"verb": "objects.insert", "action": "refuse", "count": 2})
    assert client.stat(bucket("a")).size == 1
    client.put(bucket("b"), b"2", if_generation_match=0)
    assert bucket.get("b") == b"2"


def test_an_outcome_that_nobody_knows_is_said(client, bucket, emulator):
    bucket.put("a", b"1")
    emulator.faults({"verb": "objects.move", "action": "lose_reply"},
                    {"verb": "objects.get", "action": "refuse", "status": 403})
    with pytest.raises(dataflux.Error) as caught:
        client.move(bucket("a"), bucket("b"))
    assert caught.value.outcome_unknown and caught.value.attempts == 1
    assert pickle.loads(pickle.dumps(caught.value)).outcome_unknown
    assert bucket.names() == ["b"]  # it was carried out


def test_a_change_whose_reply_is_lost_is_made_once(client, bucket, emulator):
    bucket.put("a", b"1")
    emulator.faults({"verb": "objects.patch", "action": "lose_reply"})
    assert client.patch(bucket("a"), metadata={"a": "1"}).metageneration == 2


@pytest.mark.parametrize("verb", [
    lambda client, source, to: client.copy(source, to),
    lambda client, source, to: client.move(source, to),
    lambda client, source, to: client.compose([to, source], to)], ids=["copy", "move", "compose"])
def test_a_source_that_is_not_there_is_what_the_error_names(client, bucket, verb):
    bucket.put("to", b"1")
    with pytest.raises(FileNotFoundError) as caught:
        verb(client, bucket("none"), bucket("to"))
    assert (caught.value.object, caught.value.filename) == ("none", bucket("none"))
    assert str(caught.value).startswith("not_found in objects.") and bucket("none") in str(caught.value)


def test_of_the_buckets_of_a_copy_that_are_not_there_none_is_blamed(client, bucket):
    bucket.put("x", b"1")
    for source, to in (("gs://none-such/x", bucket("y")), (bucket("x"), "gs://none-such/y")):
        with pytest.raises(FileNotFoundError, match=f"buckets .*{bucket.name}.* one does not exist"):
            client.copy(source, to)


@pytest.mark.both_services
def test_a_time_limit(client, bucket, emulator):
    emulator.faults({"verb": "objects.get", "action": "stall", "where": "before_reply", "count": 0})
    with pytest.raises(TimeoutError) as caught:
        client.stat(bucket("a"), timeout=0.05)
    assert isinstance(caught.value, dataflux.DeadlineError)


@pytest.mark.parametrize("kind, text, call", [
    (TypeError, "^url: ", lambda c, u: c.stat(1)),
    (TypeError, "^url: a PosixPath", lambda c, u: c.stat(pathlib.Path("/b/k"))),
    (ValueError, "^url: ", lambda c, u: c.exists("gs://bucket")),
    (TypeError, "^fields: names in a list", lambda c, u: c.stat(u, fields="etag")),
    (TypeError, "^fields: ", lambda c, u: c.stat(u, fields=3)),
    (ValueError, "^fields: 'eTag' is none of", lambda c, u: c.stat(u, fields=["eTag"])),
    (TypeError, "^generation: ", lambda c, u: c.stat(u, generation="1")),
    (ValueError, "^generation: ", lambda c, u: c.delete(u, generation=-1)),
    (TypeError, "^timeout: ", lambda c, u: c.stat(u, timeout="1")),
    (ValueError, "^timeout: ", lambda c, u: c.put(u, b"", timeout=0)),
    (TypeError, r"^data: .*encode\(\)", lambda c, u: c.put(u, "text")),
    (TypeError, "^data: ", lambda c, u: c.put(u, None)),
    (TypeError, "^data: ", lambda c, u: c.put(u, 5)),
    (TypeError, "^data: .*contiguous", lambda c, u: c.put(u, memoryview(b"1234")[::2])),
    (TypeError, "^url: ", lambda c, u: c.put(None, b"")),
    (TypeError, "^content_type: ", lambda c, u: c.put(u, b"", content_type=b"text/plain")),
    (TypeError, "^metadata: ", lambda c, u: c.put(u, b"", metadata=["a"])),
    (TypeError, r"^metadata\['a'\]: ", lambda c, u: c.put(u, b"", metadata={"a": None})),
    (ValueError, "^custom_time: ", lambda c, u: c.put(u, b"", custom_time=datetime(2033, 1, 1))),
    (TypeError, "^if_generation_match: ", lambda c, u: c.put(u, b"", if_generation_match=True)),
    (ValueError, "^if_generation_match: ", lambda c, u: c.put(u, b"", if_generation_match=-1)),
    (TypeError, "^if_metageneration_not_match: ",
     lambda c, u: c.delete(u, if_metageneration_not_match="1")),
    (TypeError, "^source: ", lambda c, u: c.copy(1, u)),
    (TypeError, "^target: ", lambda c, u: c.copy(u, 1)),
    (TypeError, "^source_if_generation_match: ",
     lambda c, u: c.copy(u, u, source_if_generation_match=1.5)),
    (ValueError, "^target: a move stays in its bucket", lambda c, u: c.move(u, "gs://other/a")),
    (TypeError, "^sources: places in a list", lambda c, u: c.compose(u, u)),
    (TypeError, "^sources: ", lambda c, u: c.compose(7, u)),
    (ValueError, "^sources: 1 to 32", lambda c, u: c.compose([], u)),
    (ValueError, "^sources: 1 to 32", lambda c, u: c.compose([u] * 33, u)),
    (TypeError, r"^sources\[1\]: ", lambda c, u: c.compose([u, 1], u)),
    (ValueError, r"^sources\[1\]: it is in the bucket", lambda c, u: c.compose([u, "gs://o/a"], u)),
    (ValueError, r"^patch\(\) changes nothing", lambda c, u: c.patch(u)),
    (ValueError, r"^patch\(\) changes nothing", lambda c, u: c.patch(u, metadata={})),
    (TypeError, r"^metadata\['a'\]: ", lambda c, u: c.patch(u, metadata={"a": 1})),
])
def test_a_wrong_argument_is_named_and_nothing_is_sent(client, bucket, emulator, kind, text, call):
    refused(emulator, kind, text, lambda: call(client, bucket("a")))


@pytest.mark.both_services
def test_references_are_no_bytes(client, bucket, emulator):
    numpy = pytest.importorskip("numpy")
    refused(emulator, TypeError, "^data: it holds Python objects",
            lambda: client.put(bucket("a"), numpy.array([object()])))


@pytest.mark.both_services
def test_names_of_fields_are_no_references(client, bucket):
    numpy = pytest.importorskip("numpy")
    table = numpy.array([(1, 2.0)], dtype=[("Order", "<i4"), ("Offset", "<f8")])
    assert client.put(bucket("a"), table).size == table.nbytes


def test_verbs_of_the_module_are_those_of_the_default_client():
    for name in ("stat", "put", "upload_folder", "find_leftovers", "permissions"):
        assert name in dir(dataflux)


@pytest.mark.both_services
def test_a_length_beyond_the_object_and_the_memory_for_reads_gives_what_is_there(emulator, bucket):
    bucket.put("short", b"hello")
    bucket.put("empty")
    with emulator.client(memory_cap=MIB) as client:
        assert client.get(bucket("short"), length=2**40) == b"hello"
        assert client.get(bucket("short"), offset=2, length=2**62) == b"llo"
        assert client.get(bucket("empty"), length=2**40) == b""
        with pytest.raises(dataflux.Error) as told:
            client.get(bucket("short"), offset=9, length=2**40)
    assert told.value.status == "out_of_range"


# -- Replies that leave out what has its default ---------------------------------------------------


def test_an_object_without_bytes_may_lack_its_size(client, bucket, emulator, tmp_path):
    """As servers write it that make JSON of protocol buffers: what has its default is left out."""
    row = client.put(bucket("empty"), b"")
    one = {"name": "empty", "bucket": bucket.name, "generation": str(row.generation),
           "crc32c": "AAAAAA=="}
    emulator.faults(
        {"verb": "objects.get", "bucket": bucket.name, "action": "send", "status": 200, "count": 0,
         "contentType": "application/json", "body": json.dumps(one)},
        {"verb": "objects.list", "bucket": bucket.name, "action": "send", "status": 200, "count": 0,
         "contentType": "application/json", "body": json.dumps({"items": [one]})})
    found = client.stat(bucket("empty"))
    assert (found.size, found.crc32c, found.metageneration) == (0, 0, None)
    assert client.get(bucket("empty")) == b"" == client.get(found)
    listed = client.list(bucket(""))
    assert [(each.name, each.size) for each in listed] == [("empty", 0)]
    with client.get_many(listed) as stream:
        assert [bytes(item.data) for item in stream.items()] == [b""]
    client.download(bucket("empty"), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b""
    with client.open(bucket("empty"), "rb") as file:
        assert file.read() == b""


@pytest.mark.parametrize("lacks", ["generation", "size", "name"])
def test_a_reply_without_which_there_is_no_way_on_is_told(bucket, emulator, lacks):
    one = {"name": "x", "bucket": bucket.name, "generation": "1", "size": "1", "crc32c": "SZYC0g=="}
    del one[lacks]
    emulator.faults(
        {"verb": "objects.get", "bucket": bucket.name, "action": "send", "status": 200, "count": 0,
         "contentType": "application/json", "body": json.dumps(one)},
        {"verb": "objects.list", "bucket": bucket.name, "action": "send", "status": 200, "count": 0,
         "contentType": "application/json", "body": json.dumps({"items": [one]})})
    with emulator.client(max_attempts=2) as brief:  # a page that cannot be read is asked for again
        for call in (brief.stat, brief.list):
            with pytest.raises(dataflux.Error, match=lacks) as why:
                call(bucket("x"))
            assert why.value.status == "internal" and why.value.bucket == bucket.name
