"""What names an object, and what does not."""

from pathlib import Path, PurePosixPath

import pytest


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
