"""Manifests, and what has changed between two listings."""

import gc
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import dataflux

NAMES = [f"{letter}/{number:04}.bin" for letter in ("a", "ä", "日本") for number in range(40)]


@pytest.fixture
def filled(bucket):
    for number, name in enumerate(NAMES):
        bucket.put(name, b"x" * (number % 7))
    return bucket


@pytest.fixture(params=["str", "path", "url", "pair"])
def target(request, tmp_path, bucket):
    """Each form of a place that a manifest is saved to; objects lie in a bucket of their own."""
    bucket.service.add_bucket(bucket.name + "-manifests")
    return {"str": str(tmp_path / "listing.日本"), "path": tmp_path / "listing",
            "url": f"gs://{bucket.name}-manifests/a//ä", "pair": (bucket.name + "-manifests", "x"),
            }[request.param]


def test_a_manifest_has_the_rows_of_the_listing(client, filled, target):
    listing = client.list(filled())
    saved = client.save_manifest(listing, target)
    if "-manifests" in str(target):  # an object
        assert saved == client.stat(target)
    else:
        assert saved is None
    manifest = client.open_manifest(target)
    assert len(manifest) == len(NAMES) and manifest
    assert (manifest.bucket, manifest.prefix) == (filled.name, "")
    assert manifest.summary["rows"] == len(NAMES) and manifest.summary["taken"]
    assert manifest.rows() == listing and list(manifest.rows()) == list(listing)
    assert list(manifest.rows(7, 3)) == list(listing[7:10])
    assert list(manifest.rows(118)) == list(listing[118:])
    assert len(manifest.rows(5, 0)) == len(manifest.rows(len(NAMES))) == 0
    assert manifest.rows(3).total_bytes == listing[3:].total_bytes
    assert [manifest.row(i) for i in range(-len(NAMES), len(NAMES))] == 2 * list(listing)
    assert client.get(manifest.row(-1)) == client.get(listing[-1])
    for index in (len(NAMES), -len(NAMES) - 1):
        with pytest.raises(IndexError, match=f"^row {index} of {len(NAMES)}"):
            manifest.row(index)
    with pytest.raises(TypeError, match="^index: "):
        manifest.row("1")
    assert filled.name in repr(manifest)


def test_rows_outlive_the_manifest_and_its_client(emulator, filled, tmp_path):
    with emulator.client() as client:
        listing = client.list(filled("ä/"))
        client.save_manifest(listing, tmp_path / "m")
        rows = client.open_manifest(tmp_path / "m").rows(1)
    gc.collect()
    assert list(rows) == list(listing[1:])
    assert rows.to_numpy()["size"].tolist() == [row.size for row in listing[1:]]


def test_a_manifest_that_is_saved_again_is_the_new_one(client, filled, target):
    client.save_manifest(client.list(filled("a/")), target)
    client.save_manifest(client.list(filled("ä/")), target)
    assert {row.name[0] for row in client.open_manifest(target).rows()} == {"ä"}
    again = client.open_manifest(target).rows()
    client.save_manifest(again, target)
    assert client.open_manifest(target).rows() == again


def test_only_a_whole_listing_is_saved(client, filled, tmp_path):
    listing = client.list(filled())
    target = tmp_path / "m"
    for part in (listing[1:], listing.where(suffix="7.bin"), listing[::-1]):
        with pytest.raises(ValueError, match="^listing: a whole listing is needed"):
            client.save_manifest(part, target)
    with pytest.raises(TypeError, match="^listing: a Listing is needed, and not a list"):
        client.save_manifest(list(listing), target)
    with pytest.raises(dataflux.InvalidArgumentError, match="without a delimiter"):
        client.save_manifest(client.list(filled(), delimiter="/"), target)
    assert not target.exists()


@pytest.mark.parametrize("bad, kind", [
    (3, TypeError), (None, TypeError), (b"/tmp/x", TypeError), ("", ValueError),
    ("a\0b", ValueError), ("gs://bucket", ValueError), (Path("gs://bucket/x"), TypeError),
    (("bucket", 3), TypeError), (Path("gs://bucket"), TypeError)])
def test_what_is_no_target_is_told(client, bucket, bad, kind):
    listing = client.list(bucket())
    with pytest.raises(kind, match="^target: "):
        client.save_manifest(listing, bad)
    with pytest.raises(kind, match="^target: "):
        client.open_manifest(bad)


def test_what_cannot_be_opened_says_why(client, bucket, filled, tmp_path):
    with pytest.raises(FileNotFoundError):
        client.open_manifest(tmp_path / "none")
    with pytest.raises(dataflux.NotFoundError) as why:
        client.open_manifest(bucket("none"))
    assert why.value.object == "none"
    (tmp_path / "other").write_bytes(b"no manifest" * 1000)
    with pytest.raises(dataflux.InvalidArgumentError):
        client.open_manifest(tmp_path / "other")
    client.save_manifest(client.list(filled()), tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-100])
    with pytest.raises(dataflux.Error):
        client.open_manifest(tmp_path / "cut").rows()
    manifest = client.open_manifest(tmp_path / "m")
    with pytest.raises(ValueError, match="^first: "):
        manifest.rows(-1)
    with pytest.raises(TypeError, match="^count: "):
        manifest.rows(0, "3")
    with pytest.raises(TypeError, match="open_manifest"):
        pickle.dumps(manifest)
    client.close()
    with pytest.raises(dataflux.PreconditionError):
        manifest.rows()


@pytest.mark.without_tokens
def test_another_process_opens_what_was_saved(client, emulator, filled, tmp_path):
    client.save_manifest(client.list(filled()), tmp_path / "m")
    program = ("import dataflux, sys\n"
               "rows = dataflux.open_manifest(sys.argv[1]).rows(119)\n"
               "print(ascii(rows[0].name), rows[0].generation)")
    said = subprocess.run([sys.executable, "-c", program, tmp_path / "m"], timeout=60, check=True,
                          env={**os.environ, **emulator.environment}, stdout=subprocess.PIPE,
                          text=True).stdout
    last = client.list(filled())[-1]
    assert said.split() == [ascii(last.name), str(last.generation)]


def changed(bucket):
    """Changes what is there, and says how: names added, removed, written anew."""
    for name in ("a/0007.bin", "日本/0003.bin"):
        bucket.service.ask("DELETE", f"/storage/v1/b/{bucket.name}/o/" + quoted(name))
    for name in ("a/0001.bin", "ä/0039.bin", "日本/0000.bin"):
        bucket.put(name, b"anew")
    for name in ("0", "ä/5", "🎉"):
        bucket.put(name, b"added")
    return ["0", "ä/5", "🎉"], ["a/0007.bin", "日本/0003.bin"], ["a/0001.bin", "ä/0039.bin",
                                                              "日本/0000.bin"]


def quoted(name):
    from urllib.parse import quote

    return quote(name, safe="")


def is_change(changes, before, after, names):
    added, removed, anew = names
    assert list(changes.added.names) == added
    assert list(changes.removed.names) == removed
    assert [(old.name, new.name) for old, new in changes.changed] == [(name, name) for name in anew]
    assert all(old in before and new in after for old, new in changes.changed)
    assert all(row in after and row.name not in before for row in changes.added)
    assert all(row in before and row.name not in after for row in changes.removed)
    assert changes.listing == after
    assert changes.unchanged_count == len(before) - len(removed) - len(anew)
    assert changes and f"{len(added)} added" in repr(changes)
    return True


def test_compare_says_what_became_of_each_object(client, filled):
    before = client.list(filled())
    names = changed(filled)
    after = client.list(filled())
    changes = dataflux.compare(before, after)
    assert is_change(changes, before, after, names)
    pair = changes.changed[-1]
    assert pair[0].size == 80 % 7 and pair[1].size == 4 and len(changes.changed[1:]) == 2
    assert list(changes.changed.before.names) == list(changes.changed.after.names)
    same = dataflux.compare(after, after)
    assert not same and same.unchanged_count == len(after) and len(same.changed) == 0


def test_refresh_lists_again_and_its_listing_is_saved(client, filled, target):
    before = client.list(filled())
    client.save_manifest(before, target)
    manifest = client.open_manifest(target)
    assert not manifest.refresh() and manifest.refresh(parallelism=1).unchanged_count == len(NAMES)
    names = changed(filled)
    changes = manifest.refresh(timeout=60.0)
    del manifest
    gc.collect()
    assert is_change(changes, before, client.list(filled()), names)
    client.save_manifest(changes.listing, target)
    assert not client.open_manifest(target).refresh()


def test_refresh_lists_by_the_options_of_the_first_listing(client, filled, tmp_path):
    client.save_manifest(client.list(filled("a/"), suffix="7.bin", end="a/0020.bin"), tmp_path / "m")
    filled.put("b/7.bin")
    filled.put("a/0013-7.bin")
    filled.put("a/0030-7.bin")
    changes = client.open_manifest(tmp_path / "m").refresh()
    assert list(changes.added.names) == ["a/0013-7.bin"] and changes.unchanged_count == 2
    for bad in (-1, 2**32, "x"):
        with pytest.raises((TypeError, ValueError), match="^parallelism: "):
            client.open_manifest(tmp_path / "m").refresh(parallelism=bad)


def test_what_cannot_be_compared_is_told(client, emulator, bucket):
    bucket.put("x")
    listing = client.list(bucket())
    for before, after, argument in ((listing[:0], listing, "before"), (listing, listing[:0], "after")):
        with pytest.raises(ValueError, match=f"^{argument}: a whole listing"):
            dataflux.compare(before, after)
    with pytest.raises(TypeError, match="^after: "):
        dataflux.compare(listing, [])
    with pytest.raises(dataflux.InvalidArgumentError, match="generations"):
        dataflux.compare(listing, client.list(bucket(), versions=True))
    emulator.add_bucket("another-bucket")
    with pytest.raises(ValueError, match="^after: .*another-bucket"):
        dataflux.compare(listing, client.list("gs://another-bucket"))


def test_generations_are_compared_each_by_itself(client, emulator, bucket):
    emulator.add_bucket(bucket.name, versioning=True)
    bucket.put("x", b"1")
    bucket.put("y", b"1")
    before = client.list(bucket(), versions=True)
    bucket.put("x", b"22")
    changes = dataflux.compare(before, client.list(bucket(), versions=True))
    assert [row.size for row in changes.added] == [2]
    assert len(changes.removed) == len(changes.changed) == 0 and changes.unchanged_count == 2


def test_a_forked_child_uses_what_was_opened(client, filled, tmp_path):
    client.save_manifest(client.list(filled()), tmp_path / "m")
    manifest = client.open_manifest(tmp_path / "m")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert len(manifest) == len(NAMES)
            assert manifest.rows(3, 2)[1].name == "a/0004.bin"
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(manifest.rows()) == len(NAMES)
