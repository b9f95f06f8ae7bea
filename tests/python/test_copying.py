"""Whole folders from one place to another: copy_tree() and sync()."""

import asyncio
import os
import pickle
import time

import pytest

import dataflux


def write(path, content=b""):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    path.write_bytes(content)


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def tree(tmp_path):
    folder = tmp_path / "tree"
    for name, content in (("a.jpg", b"1"), ("b.txt", b"22"), ("d/c.jpg", b"333")):
        write(folder / name, content)
    return folder


@pytest.mark.both_services
def test_a_tree_goes_up_across_and_down(client, bucket, tree, tmp_path):
    up = client.copy_tree(tree, bucket("up"))
    assert (up.found, up.copied, up.bytes, up.failed) == (3, 3, 6, 0)
    across = client.copy_tree(bucket("up"), bucket("across/"))
    assert (across.copied, across.bytes) == (3, 6)
    down = client.copy_tree(bucket("across"), os.fsencode(tmp_path / "down"))
    assert down.copied == 3
    assert files(tmp_path / "down") == files(tree)
    assert pickle.loads(pickle.dumps(across)) == across


@pytest.mark.both_services
def test_only_names_that_are_meant(client, bucket, tree, tmp_path):
    assert client.copy_tree(tree, bucket("up"), include=["*.jpg"], exclude=["d/**"]).copied == 1
    assert bucket.names() == ["up/a.jpg"]
    client.copy_tree(tree, bucket("up"))
    assert client.copy_tree(bucket("up"), bucket("m"), match=["*", "d/*"], min_size=2, max_size=2).copied == 1
    later = time.time() + 86_400
    assert client.copy_tree(bucket("up"), tmp_path / "none", newer_than=later).found == 0
    assert client.copy_tree(bucket("up"), tmp_path / "all", newer_than=later - 2 * 86_400).copied == 3


def test_a_move_within_a_bucket(client, bucket, tree):
    client.copy_tree(tree, bucket("s"))
    assert client.copy_tree(bucket("s"), bucket("t"), move=True).copied == 3
    assert sorted(bucket.names()) == ["t/a.jpg", "t/b.txt", "t/d/c.jpg"]


def test_nothing_is_replaced(client, bucket, tree, tmp_path):
    bucket.put("p/a.jpg", b"theirs")
    up = client.copy_tree(tree, bucket("p"), no_clobber=True)
    assert (up.copied, up.already_there) == (2, 1)
    assert bucket.get("p/a.jpg") == b"theirs"
    assert client.copy_tree(bucket("p"), tree, no_clobber=True).already_there == 3
    assert files(tree)["a.jpg"] == b"1"
    across = client.copy_tree(bucket("p"), bucket("p2"), no_clobber=True)
    assert (across.copied, client.copy_tree(bucket("p"), bucket("p2"), no_clobber=True).already_there) == (3, 3)


def test_sync_copies_what_differs(client, bucket, tree):
    bucket.put("p/old", b"x")
    first = client.sync(tree, bucket("p"))
    assert (first.copied, first.removed) == (3, 0)
    write(tree / "a.jpg", b"2")
    dry = client.sync(tree, bucket("p"), delete=True, dry_run=True)
    assert (dry.copied, dry.removed, bucket.get("p/a.jpg")) == (1, 1, b"1")
    second = client.sync(tree, bucket("p"), delete=True)
    assert (second.copied, second.already_there, second.removed) == (1, 2, 1)
    assert sorted(bucket.names()) == ["p/a.jpg", "p/b.txt", "p/d/c.jpg"]


def test_sync_down_and_across(client, bucket, tree, tmp_path):
    client.sync(tree, bucket("s"))
    assert client.sync(bucket("s"), bucket("t")).copied == 3
    assert client.sync(bucket("s"), bucket("t"), delete=True).already_there == 3
    here = tmp_path / "here"
    assert client.sync(bucket("s"), here).copied == 3
    # What was written here clearly later is not read.
    (here / "a.jpg").write_bytes(b"x")
    later = time.time() + 7200
    os.utime(here / "a.jpg", (later, later))
    assert client.sync(bucket("s"), here).already_there == 3
    assert client.sync(bucket("s"), here, checksum=True).copied == 1
    assert files(here) == files(tree)


def test_failures_are_raised_with_the_report(client, bucket, emulator, tree):
    client.copy_tree(tree, bucket("s"))
    emulator.faults({"verb": "objects.rewrite", "object": "t/a.jpg", "action": "refuse", "status": 403, "count": 0})
    with pytest.raises(dataflux.PermissionDeniedError) as failed:
        client.copy_tree(bucket("s"), bucket("t"))
    assert (failed.value.report.copied, failed.value.report.failed) == (2, 1)
    assert client.copy_tree(bucket("s"), bucket("t"), on_error="return").failures[0].object == "t/a.jpg"


def test_tasks(emulator, bucket, tree):
    async def body():
        async with emulator.async_client() as client:
            assert (await client.copy_tree(tree, bucket("s"))).copied == 3
            assert (await client.sync(bucket("s"), bucket("t"))).copied == 3

    asyncio.run(body())


@pytest.mark.parametrize("kind, text, call", [
    (ValueError, "^source: neither", lambda c, u, f: c.copy_tree(f, f)),
    (ValueError, "^move: ", lambda c, u, f: c.copy_tree(f, u, move=True)),
    (TypeError, "^include: patterns in a list", lambda c, u, f: c.copy_tree(f, u, include="*.jpg")),
    (ValueError, "^match: one of them is empty", lambda c, u, f: c.sync(f, u, match=[""])),
    (TypeError, "unexpected keyword argument 'exlude'", lambda c, u, f: c.sync(f, u, exlude=["*"])),
    (ValueError, "^max_size: ", lambda c, u, f: c.sync(f, u, max_size=0)),
    (TypeError, "^newer_than: ", lambda c, u, f: c.sync(f, u, newer_than="today")),
    (TypeError, "^delete: ", lambda c, u, f: c.sync(f, u, delete="yes")),
    (ValueError, "^on_error: ", lambda c, u, f: c.sync(f, u, on_error="omit")),
    (dataflux.InvalidArgumentError, "onto itself", lambda c, u, f: c.copy_tree(u, u + "/")),
])
def test_wrong_uses(client, bucket, tmp_path, kind, text, call):
    with pytest.raises(kind, match=text):
        call(client, bucket("x"), tmp_path)
