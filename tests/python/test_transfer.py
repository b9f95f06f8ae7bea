"""Files and folders up and down, and the removal of all below a prefix."""

import os
import pickle
from pathlib import PurePosixPath

import pytest

import dataflux

MIB = 1 << 20


def write(path, content=b""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def below(folder):
    """Paths of the files below it, as bytes."""
    found = []
    for where, _, files in os.walk(os.fsencode(folder)):
        found += [os.path.relpath(os.path.join(where, name), os.fsencode(folder)) for name in files]
    return sorted(found)


class Told:
    """A progress callable that keeps what it is told."""

    def __init__(self):
        self.calls = []

    def __call__(self, **told):
        self.calls.append(told)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "here" / "a", b"12345")
    write(tmp_path / "here" / "sub" / "ä b", b"123")
    write(tmp_path / "here" / "sub" / "empty")
    return tmp_path / "here"


# Files

@pytest.mark.parametrize("form", [str, os.fsencode, PurePosixPath])
def test_a_file_goes_up_and_comes_down(client, bucket, tmp_path, form):
    content = os.urandom(3 * MIB + 17)
    write(tmp_path / "up ä", content)
    up = client.upload(form(os.fspath(tmp_path / "up ä")), bucket("ä/a"), content_type="text/plain",
                       metadata={"a": "1"})
    assert up.object == client.stat(bucket("ä/a"))
    assert up.object.content_type == "text/plain" and up.object.metadata == {"a": "1"}
    assert (up.resumed, up.fallback) == (0, "") and up.upload_path and up.commit_mode
    assert bucket.get("ä/a") == content
    down = client.download(bucket("ä/a"), form(os.fspath(tmp_path / "down ä")))
    assert (down.bytes, down.object_size, down.resumed) == (len(content), len(content), 0)
    assert down.generation == up.object.generation and down.verified is True
    assert read(tmp_path / "down ä") == content


@pytest.mark.both_services
def test_an_empty_file(client, bucket, tmp_path):
    write(tmp_path / "up")
    assert client.upload(tmp_path / "up", bucket("a")).object.size == 0
    assert client.download(bucket("a"), tmp_path / "down").bytes == 0
    assert read(tmp_path / "down") == b""


@pytest.mark.both_services
def test_a_path_that_is_no_utf8(client, bucket, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe"
    write(path, b"1")
    client.upload(path, bucket("a"))
    client.upload(os.fsdecode(path), bucket("b"))  # as surrogates
    client.download(bucket("a"), os.fsdecode(path) + "-2")
    assert read(path + b"-2") == b"1" and bucket.get("b") == b"1"


def test_a_range_and_a_generation(client, bucket, emulator, tmp_path):
    emulator.add_bucket(bucket.name, versioning=True)
    old = client.put(bucket("a"), b"0123456789")
    bucket.put("a", b"new")
    some = client.download(old, tmp_path / "a", offset=2, length=3, flush=False)
    assert (some.bytes, some.object_size, some.generation) == (3, 10, old.generation)
    assert read(tmp_path / "a") == b"234" and some.verified is False
    client.download(bucket("a"), tmp_path / "a", generation=old.generation, offset=7)
    assert read(tmp_path / "a") == b"789"
    with pytest.raises(dataflux.Error) as caught:
        client.download(bucket("a"), tmp_path / "a", offset=100)
    assert caught.value.status == "out_of_range" and read(tmp_path / "a") == b"789"


@pytest.mark.both_services
def test_an_upload_replaces_what_it_names_only(client, bucket, tmp_path):
    write(tmp_path / "a", b"new")
    first = client.upload(tmp_path / "a", bucket("a"), if_generation_match=0).object
    with pytest.raises(FileExistsError):
        client.upload(tmp_path / "a", bucket("a"), if_generation_match=0)
    with pytest.raises(dataflux.PreconditionError):
        client.upload(tmp_path / "a", bucket("a"), if_generation_match=first.generation + 1)
    client.upload(tmp_path / "a", bucket("a"), if_generation_match=first.generation)


@pytest.mark.both_services
def test_files_that_are_not_there(client, bucket, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        client.upload(tmp_path / "none", bucket("a"))
    assert caught.value.bucket == "" and str(tmp_path / "none") in str(caught.value)
    with pytest.raises(dataflux.InvalidArgumentError):
        client.upload(tmp_path, bucket("a"))
    with pytest.raises(FileNotFoundError) as caught:
        client.download(bucket("none"), tmp_path / "a")
    assert caught.value.object == "none" and os.listdir(tmp_path) == []


@pytest.mark.both_services
def test_refusals_and_repeats_of_a_file(client, bucket, emulator, tmp_path):
    write(tmp_path / "a", b"1")
    bucket.put("a", b"2")
    emulator.faults({"action": "refuse", "count": 1})
    client.download(bucket("a"), tmp_path / "b")
    assert read(tmp_path / "b") == b"2"
    emulator.faults({"action": "refuse", "status": 403, "count": 0})
    with pytest.raises(PermissionError):
        client.upload(tmp_path / "a", bucket("b"))
    with pytest.raises(PermissionError):
        client.download(bucket("a"), tmp_path / "c")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_download_goes_on_where_it_failed(emulator, bucket, tmp_path):
    content = os.urandom(20 * MIB)
    bucket.put("a", content)
    emulator.faults({"verb": "objects.media", "from": 3, "action": "refuse", "status": 403,
                     "count": 0})
    with dataflux.Client(**emulator.options, slice=MIB,
                         max_concurrency=1) as client:
        with pytest.raises(PermissionError):
            client.download(bucket("a"), tmp_path / "a", resume=True)
        assert not (tmp_path / "a").exists() and len(os.listdir(tmp_path)) == 1
        emulator.faults()
        down = client.download(bucket("a"), tmp_path / "a", resume=True)
    assert 0 < down.resumed < len(content) and down.verified
    assert os.listdir(tmp_path) == ["a"] and read(tmp_path / "a") == content


@pytest.mark.both_services
def test_an_upload_goes_on_where_it_failed(emulator, bucket, tmp_path):
    content = os.urandom(80 * MIB)
    write(tmp_path / "a", content)
    emulator.faults({"verb": "multipart.part", "from": 3, "action": "refuse", "status": 403,
                     "count": 0})
    with emulator.client(max_concurrency=1) as client:
        with pytest.raises(PermissionError):
            client.upload(tmp_path / "a", bucket("a"), resume=True)
        assert len(os.listdir(tmp_path)) == 2 and bucket.get("a") is None
        emulator.faults()
        up = client.upload(tmp_path / "a", bucket("a"), resume=True)
    assert 0 < up.resumed < len(content)
    assert os.listdir(tmp_path) == ["a"] and bucket.get("a") == content


def test_progress_of_a_file(client, bucket, tmp_path):
    content = os.urandom(9 * MIB)
    write(tmp_path / "a", content)
    told = Told()
    client.upload(tmp_path / "a", bucket("a"), progress=told)
    last = told.calls[-1]
    assert (last["done"], last["total"], last["unit"]) == (len(content), len(content), "B")
    assert last["label"] == f"upload {bucket('a')}"
    told = Told()
    client.download(bucket("a"), tmp_path / "b", progress=told)
    last = told.calls[-1]
    assert (last["done"], last["total"]) == (len(content), len(content))
    assert [call["done"] for call in told.calls] == sorted(call["done"] for call in told.calls)


@pytest.mark.both_services
def test_what_a_progress_callable_raises_reaches_the_caller(client, bucket, tmp_path):
    write(tmp_path / "a", b"1")

    def broken(**_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        client.upload(tmp_path / "a", bucket("a"), progress=broken)


# Folders

@pytest.mark.both_services
def test_a_folder_goes_up_and_comes_down(client, bucket, folder, tmp_path):
    up = client.upload_folder(folder, bucket("p"))
    assert (up.found, up.copied, up.bytes, up.failed, up.failures) == (3, 3, 8, 0, ())
    assert (up.already_there, up.removed) == (0, 0)
    assert sorted(bucket.names()) == ["p/a", "p/sub/empty", "p/sub/ä b"]
    down = client.download_folder(bucket("p/"), os.fsencode(tmp_path / "there"))
    assert (down.found, down.copied, down.bytes) == (3, 3, 8)
    assert below(tmp_path / "there") == below(folder)
    assert read(tmp_path / "there" / "sub" / "ä b") == b"123"
    assert pickle.loads(pickle.dumps(down)) == down
    assert repr(down).startswith("dataflux.CopiedFolder(found=3, copied=3, ")


@pytest.mark.both_services
def test_a_whole_bucket_is_a_folder(client, bucket, folder, tmp_path):
    client.upload_folder(folder, bucket())
    assert sorted(bucket.names()) == ["a", "sub/empty", "sub/ä b"]
    assert client.download_folder(bucket(), tmp_path / "there").copied == 3


def test_what_is_there_is_left_out(client, bucket, folder):
    client.upload_folder(folder, bucket("p"))
    write(folder / "a", b"54321")
    again = client.upload_folder(folder, bucket("p"), resume=True)
    assert (again.found, again.copied, again.already_there) == (3, 1, 2)
    assert bucket.get("p/a") == b"54321"


@pytest.mark.both_services
def test_a_folder_over_what_is_there_with_requests_that_are_refused(client, emulator, bucket, tmp_path):
    """What a second attempt meets is another's as surely as what the first one meets."""
    for number in range(40):
        (tmp_path / f"{number}").write_bytes(b"new %d" % number)
        bucket.put(f"p/{number}", b"old")
    client.put(bucket("p/0"), b"old", if_generation_match=client.stat(bucket("p/0")).generation)  # S3 is asked for it once
    emulator.faults({"verb": "objects.insert", "action": "refuse", "status": 503, "count": 30})
    assert client.upload_folder(tmp_path, bucket("p")).copied == 40
    assert all(bucket.get(f"p/{number}") == b"new %d" % number for number in range(40))


@pytest.mark.both_services
def test_a_dry_run_changes_nothing(client, bucket, folder, tmp_path):
    assert client.upload_folder(folder, bucket("p"), dry_run=True).copied == 3
    assert bucket.names() == []
    bucket.put("p/a", b"1")
    assert client.download_folder(bucket("p"), tmp_path / "there", dry_run=True).copied == 1
    assert not (tmp_path / "there" / "a").exists()
    assert client.remove_prefix(bucket("p/"), dry_run=True).objects == 1
    assert bucket.names() == ["p/a"]


@pytest.mark.both_services
def test_what_is_extra_is_removed_where_that_is_asked_for(client, bucket, folder, tmp_path):
    bucket.put("p/old", b"1")
    bucket.put("q/other", b"1")
    assert client.upload_folder(folder, bucket("p")).removed == 0
    up = client.upload_folder(folder, bucket("p"), delete_extra=True)
    assert (up.removed, up.not_removed) == (1, "")
    assert "p/old" not in bucket.names() and "q/other" in bucket.names()
    write(tmp_path / "there" / "extra", b"1")
    assert client.download_folder(bucket("p"), tmp_path / "there", delete_extra=True).removed == 1
    assert below(tmp_path / "there") == below(folder)


@pytest.mark.both_services
def test_nothing_is_removed_where_the_source_is_empty(client, bucket, tmp_path):
    (tmp_path / "empty").mkdir()
    bucket.put("p/old", b"1")
    up = client.upload_folder(tmp_path / "empty", bucket("p"), delete_extra=True)
    assert up.removed == 0 and up.not_removed
    assert bucket.names() == ["p/old"]


@pytest.mark.both_services
def test_one_that_fails_does_not_keep_the_others(client, bucket, folder):
    (folder / "broken").symlink_to("nowhere")
    with open(os.fsencode(folder) + b"/\xff", "wb"):
        pass
    with pytest.raises(dataflux.Error, match="^2 names have failed, and the others are done") as caught:
        client.upload_folder(folder, bucket("p"))
    assert sorted(bucket.names()) == ["p/a", "p/sub/empty", "p/sub/ä b"]
    report = caught.value.report
    assert (report.copied, report.failed, len(report.failures)) == (3, 2, 2)
    first = next(each for each in report.failures if "broken" in str(each))
    assert first.status == "not_found" and isinstance(first, FileNotFoundError)
    assert first.bucket == "" and str(folder / "broken") in str(first)
    assert first.path == first.filename == str(folder / "broken")
    name = next(each for each in report.failures if "broken" not in str(each))
    assert name.status == "invalid_argument" and name.object == "p/\ufffd"
    assert os.fsencode(name.path) == os.fsencode(folder) + b"/\xff"
    assert caught.value.__cause__ is report.failures[0]
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.report.failed == 2 and str(again.report.failures[0]) == str(report.failures[0])
    assert {each.path for each in again.report.failures} == {first.path, name.path}


@pytest.mark.both_services
def test_failures_are_returned_where_that_is_asked_for(client, bucket, tmp_path):
    bucket.put("p/../up", b"1")
    bucket.put("p/a", b"1")
    down = client.download_folder(bucket("p"), tmp_path / "there", on_error="return")
    assert (down.copied, down.failed) == (1, 1) and below(tmp_path / "there") == [b"a"]
    assert bucket("p/../up") in str(down.failures[0])
    assert not (tmp_path / "up").exists()


@pytest.mark.both_services
def test_as_many_failures_are_named_as_are_asked_for(client, bucket, emulator):
    for i in range(7):
        bucket.put(f"p/{i}")
    emulator.faults(*({"verb": verb, "action": "refuse", "status": 403, "count": 0}
                      for verb in ("objects.delete", "objects.deleteMany")))
    gone = client.remove_prefix(bucket("p/"), on_error="return", max_failures=3)
    assert (gone.objects, gone.failed, len(gone.failures)) == (0, 7, 3)
    assert all(isinstance(each, dataflux.PermissionDeniedError) for each in gone.failures)
    assert gone.failures[0].url.startswith(bucket("p/"))


def test_a_folder_that_is_not_there(client, bucket, tmp_path):
    with pytest.raises(FileNotFoundError):
        client.upload_folder(tmp_path / "none", bucket("p"))
    with pytest.raises(dataflux.NotFoundError):
        client.download_folder("gs://there-is-no-such-bucket/p", tmp_path / "there")
    assert client.download_folder(bucket("none"), tmp_path / "there").found == 0


def test_a_folder_goes_on_where_it_failed(client, bucket, folder, emulator):
    emulator.faults({"verb": "objects.insert", "object": "p/sub/*", "action": "refuse",
                     "status": 412, "count": 0})
    up = client.upload_folder(folder, bucket("p"), on_error="return")
    assert (up.copied, up.failed) == (1, 2)
    emulator.faults()
    up = client.upload_folder(folder, bucket("p"), resume=True)
    assert (up.copied, up.already_there, up.failed) == (2, 1, 0)


@pytest.mark.both_services
def test_progress_of_folders(client, bucket, folder, tmp_path):
    for call in (lambda told: client.upload_folder(folder, bucket("p"), progress=told),
                 lambda told: client.download_folder(bucket("p"), tmp_path / "b", progress=told)):
        told = Told()
        call(told)
        assert told.calls[-1]["done"] == 8 and told.calls[-1]["unit"] == "B"
    told = Told()
    client.remove_prefix(bucket("p/"), progress=told)
    assert (told.calls[-1]["done"], told.calls[-1]["unit"]) == (3, "objects")


def test_an_asynchronous_client_has_the_same_verbs(emulator, bucket, folder, tmp_path):
    import asyncio

    async def main():
        async with dataflux.AsyncClient(**emulator.options) as client:
            told = Told()
            assert (await client.upload_folder(folder, bucket("p"), progress=told)).copied == 3
            assert told.calls[-1]["done"] == 8
            assert (await client.download_folder(bucket("p"), tmp_path / "there")).bytes == 8
            up = await client.upload(folder / "a", bucket("b"))
            assert (await client.download(bucket("b"), tmp_path / "b")).verified
            assert await client.exists(up.object) and not await client.exists(bucket("c"))
            assert await client.delete(bucket("c"), missing_ok=True) is None
            assert (await client.put(bucket("d"), bytearray(9 * MIB))).size == 9 * MIB
            assert (await client.bucket(bucket())).name == bucket.name
            assert (await client.find_leftovers(bucket())).rows == ()
            bucket.put("p/../up")
            with pytest.raises(dataflux.Error) as caught:
                await client.download_folder(bucket("p"), tmp_path / "there", on_error="raise")
            assert caught.value.report.failed == 1
            assert (await client.remove_prefix(bucket("p/"))).objects == 4

    asyncio.run(main())


# Removal

@pytest.mark.both_services
def test_all_below_a_prefix_is_removed(client, bucket):
    for name in ("tmp/a", "tmp/b", "tmpfoo", "other"):
        bucket.put(name, b"12")
    gone = client.remove_prefix(bucket("tmp/"))
    assert (gone.objects, gone.bytes, gone.young, gone.failed) == (2, 4, 0, 0)
    assert client.remove_prefix(bucket("tmp")).objects == 1
    assert bucket.names() == ["other"]
    assert client.remove_prefix(bucket("tmp")).objects == 0


@pytest.mark.both_services
def test_a_whole_bucket_is_not_removed_by_an_empty_variable(client, bucket, emulator):
    bucket.put("a")
    before = emulator.answered()
    for url in (bucket(), bucket() + "/", (bucket.name, "")):
        with pytest.raises(ValueError, match="^url: .*whole_bucket=True"):
            client.remove_prefix(url)
    assert emulator.answered() == before
    assert client.remove_prefix(bucket(), whole_bucket=True).objects == 1


@pytest.mark.both_services
def test_what_is_young_stays(client, bucket):
    bucket.put("p/a")
    gone = client.remove_prefix(bucket("p/"), older_than=3600)
    assert (gone.objects, gone.young) == (0, 1) and bucket.names() == ["p/a"]


def test_for_good_leaves_no_version(client, bucket, emulator):
    emulator.add_bucket(bucket.name, versioning=True)
    old = client.put(bucket("p/a"), b"1")
    client.remove_prefix(bucket("p/"))
    assert client.exists(old)
    old = client.put(bucket("p/b"), b"1")
    client.remove_prefix(bucket("p/"), for_good=True)
    assert not client.exists(old)


@pytest.mark.parametrize("kind, text, call", [
    (TypeError, "^path: ", lambda c, u: c.upload(1, u)),
    (ValueError, "^path: ", lambda c, u: c.upload("", u)),
    (ValueError, "^path: ", lambda c, u: c.upload("a\0b", u)),
    (ValueError, "^path: .*the source comes first", lambda c, u: c.upload(u, u)),
    (TypeError, "^url: a PurePosixPath", lambda c, u: c.upload("a", PurePosixPath("/b/k"))),
    (ValueError, "^url: ", lambda c, u: c.download("/a", "/b")),
    (TypeError, "^path: ", lambda c, u: c.download(u, None)),
    (TypeError, "^offset: ", lambda c, u: c.download(u, "a", offset=1.0)),
    (ValueError, "^length: ", lambda c, u: c.download(u, "a", length=0)),
    (TypeError, "^generation: ", lambda c, u: c.download(u, "a", generation="1")),
    (TypeError, "^timeout: ", lambda c, u: c.download(u, "a", timeout="1")),
    (TypeError, "^content_type: ", lambda c, u: c.upload("a", u, content_type=1)),
    (TypeError, "^if_generation_match: ", lambda c, u: c.upload("a", u, if_generation_match="0")),
    (TypeError, "^progress: ", lambda c, u: c.upload("a", u, progress=1)),
    (TypeError, "^progress: ", lambda c, u: c.download_folder(u, "a", progress="bar")),
    (TypeError, "^path: ", lambda c, u: c.upload_folder(None, u)),
    (ValueError, "^on_error: 'omit' is none of", lambda c, u: c.upload_folder("a", u, on_error="omit")),
    (TypeError, "^on_error: ", lambda c, u: c.remove_prefix(u, on_error=None)),
    (ValueError, "^max_failures: ", lambda c, u: c.download_folder(u, "a", max_failures=0)),
    (TypeError, "^older_than: ", lambda c, u: c.remove_prefix(u, older_than="1h")),
    (ValueError, "^older_than: ", lambda c, u: c.remove_prefix(u, older_than=-1)),
    (TypeError, "^url: ", lambda c, u: c.remove_prefix(None)),
])
def test_a_wrong_argument_is_named_and_nothing_is_sent(client, bucket, emulator, kind, text, call):
    before = emulator.answered()
    with pytest.raises(kind, match=text):
        call(client, bucket("a"))
    assert emulator.answered() == before
