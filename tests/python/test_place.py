"""What names an object, and what does not."""

import os
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath

import pytest

from dataflux._place import lost_url, nanoseconds


@pytest.mark.parametrize("name", ["x", "a//b", "/x", "x/", "ä/日本/🎉", "a?b#c%2F", " ", "gs://x"])
def test_each_form_names_the_same_object(client, bucket, name):
    bucket.put(name, b"12345")
    by_url = client.stat(bucket(name))
    assert (by_url.name, by_url.size) == (name, 5)
    assert client.stat((bucket.name, name)) == by_url
    assert client.stat(by_url) == by_url
    assert client.stat(f"gcs://{bucket.name}/{name}") == by_url


@pytest.mark.parametrize("path", [Path("gs://b/x"), PurePosixPath("gs://b/x")])
def test_a_path_is_refused_since_it_collapses_slashes(client, path):
    with pytest.raises(TypeError, match="url: .*Path makes one slash of two"):
        client.stat(path)


@pytest.mark.parametrize("bad, kind", [
    (3, TypeError), (None, TypeError), (b"gs://b/x", TypeError), (("b", 3), TypeError),
    (("b", "x", "y"), TypeError), ("b/x", ValueError), ("s3://b/x", ValueError),
    ("gs://b", ValueError), ("gs://b/", ValueError), ("gs:///x", ValueError),
    ("gs://b/x\0y", ValueError), ("gs://b/\udcff", ValueError),
])
def test_what_is_no_place_is_told_by_the_argument_without_a_request(client, emulator, bad, kind):
    before = emulator.answered()
    with pytest.raises(kind, match="^url: "):
        client.stat(bad)
    assert emulator.answered() == before


@pytest.mark.parametrize("timeout, kind", [("3", TypeError), (True, TypeError), (0, ValueError),
                                           (-1, ValueError), (float("nan"), ValueError)])
def test_a_bad_timeout_is_told(client, timeout, kind):
    with pytest.raises(kind, match="^timeout: "):
        client.stat("gs://b/x", timeout=timeout)


class Broken:
    def __index__(self):
        raise TypeError("not today")


@pytest.mark.parametrize("bad", [int, Broken(), [1], 1.0, "1", True])
def test_what_is_no_whole_number_is_told_by_the_argument(client, bad):
    with pytest.raises(TypeError, match="^offset: a whole number is needed"):
        client.get("gs://bucket/x", offset=bad)


def test_a_number_that_the_library_would_cut_is_told(emulator):
    for name in ("io_threads", "max_connections_per_host", "max_attempts", "max_concurrency"):
        with pytest.raises(ValueError, match=f"^{name}: .*2\\*\\*32"):
            emulator.client(**{name: 2**32})


@pytest.mark.parametrize("call, argument", [
    (lambda client, bad: client.remove_prefix("gs://bucket", whole_bucket=bad), "whole_bucket"),
    (lambda client, bad: client.remove_prefix("gs://bucket/x", dry_run=bad), "dry_run"),
    (lambda client, bad: client.remove_prefix("gs://bucket/x", for_good=bad), "for_good"),
    (lambda client, bad: client.upload_folder("/tmp", "gs://bucket", delete_extra=bad),
     "delete_extra"),
    (lambda client, bad: client.download("gs://bucket/x", "/tmp/x", resume=bad), "resume"),
    (lambda client, bad: client.download("gs://bucket/x", "/tmp/x", flush=bad), "flush"),
    (lambda client, bad: client.delete("gs://bucket/x", missing_ok=bad), "missing_ok"),
    (lambda client, bad: client.list("gs://bucket", versions=bad), "versions"),
    (lambda client, bad: client.list_batches("gs://bucket", in_order=bad), "in_order"),
    (lambda client, bad: client.get_many([], compose=bad), "compose"),
    (lambda client, bad: type(client)(anonymous=bad), "anonymous"),
])
@pytest.mark.parametrize("bad", ["no", 0, None, []])
def test_a_flag_is_true_or_false_and_nothing_that_passes_for_one(client, emulator, call, argument,
                                                                 bad):
    before = emulator.answered()
    with pytest.raises(TypeError, match=f"^{argument}: True or False is needed"):
        call(client, bad)
    assert emulator.answered() == before


@pytest.mark.parametrize("call, argument", [
    (lambda client: client.get_many(["gs://bucket/x"], order=[]), "order"),
    (lambda client: client.get_many(["gs://bucket/x"], on_error={}), "on_error"),
    (lambda client: client.get_many(str), "requests"),
    (lambda client: client.get_ranges("gs://bucket/x", 5), "ranges"),
    (lambda client: client.get_ranges("gs://bucket/x", [(0, 1)], into=5), "into"),
    (lambda client: client.find_leftovers("gs://bucket", kinds=[[]]), "kinds"),
    (lambda client: client.checkpoint_set("gs://bucket/x").begin(unfinished=[]), "unfinished"),
])
def test_what_cannot_be_looked_up_or_gone_through_is_told(client, call, argument):
    with pytest.raises(TypeError, match=f"^{argument}: "):
        call(client)


@pytest.mark.parametrize("text, url", [
    ("gs:/b/x", "gs://b/x"), ("/home/me/gs:/b/x", "gs://b/x"), ("./gcs:/b/a/c", "gcs://b/a/c"),
    ("/a/gs:/b", "gs://b"), ("/a/gs:", ""), ("/a/gs:/", ""), ("/a/xgs:/b", ""), ("/a/gs/b", ""), ("", ""),
    ("s3:/b/x", "s3://b/x"), ("https:/b/x", "")])
def test_the_url_that_a_path_of_this_machine_was(text, url):
    assert lost_url(text) == url


@pytest.mark.parametrize("call", [
    lambda c, path: c.download("gs://bucket-of-place/x", path), lambda c, path: c.download_folder("gs://bucket-of-place/x", path),
    lambda c, path: c.upload(path, "gs://bucket-of-place/x"), lambda c, path: c.upload_folder(path, "gs://bucket-of-place/x"),
    lambda c, path: c.save_manifest(c.list("gs://bucket-of-place/x"), path)],
    ids=["download", "download_folder", "upload", "upload_folder", "save"])
def test_what_was_a_url_is_no_path_of_this_machine(client, emulator, tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    emulator.add_bucket("bucket-of-place")
    before = emulator.answered()
    for path in (Path("gs://bucket-of-place/x/y"), Path("gs://bucket-of-place/x/y").absolute(), os.path.abspath("gs://bucket-of-place/x/y")):
        with pytest.raises((ValueError, TypeError), match="gs://bucket-of-place/x/y|one slash of two"):
            call(client, path)
    assert emulator.answered() - before <= 3 and not list(tmp_path.iterdir())


def test_what_was_a_url_is_no_path_of_a_filesystem():
    files = pytest.importorskip("dataflux.fsspec").DatafluxFileSystem
    for path in (Path("gs://bucket/x"), Path("gs://bucket/x").absolute(), PurePosixPath("/a/gcs:/bucket/x")):
        with pytest.raises(ValueError, match="gc?s://bucket/"):
            files._strip_protocol(path)
    assert files._strip_protocol("bucket/a/gs:/b") == "bucket/a/gs:/b"  # a name may have that


@pytest.mark.parametrize("seconds", [3, 3.0, Decimal(3), Fraction(3)])
def test_a_timeout_is_any_number(seconds):
    assert nanoseconds(seconds) == 3_000_000_000


@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "uint8"])
def test_a_timeout_is_a_number_of_numpy_too(kind):
    numpy = pytest.importorskip("numpy")
    assert nanoseconds(getattr(numpy, kind)(3)) == 3_000_000_000
    for none in (numpy.bool_(True), numpy.array([3.0]), timedelta(seconds=3)):
        with pytest.raises(TypeError, match="^timeout: seconds as a number are needed"):
            nanoseconds(none)
