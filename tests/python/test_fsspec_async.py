"""The coroutines of dataflux.fsspec, in the caller's own event loop."""

import asyncio
import threading

import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem


@pytest.fixture
def options(emulator):
    return emulator.options


def run(options, body):
    """Runs body(fs) in an event loop; nothing of it may go to another one."""
    async def main():
        fs = DatafluxFileSystem(**options, asynchronous=True)
        return await body(fs)

    before = {thread.name for thread in threading.enumerate()}
    result = asyncio.run(main())
    assert "fsspecIO" not in {thread.name for thread in threading.enumerate()} - before
    return result


def test_whole_objects_and_ranges(options, bucket):
    async def body(fs):
        await fs._pipe({bucket("a"): b"0123456789", bucket("b"): b"b"})
        await fs._pipe_file(bucket("large"), bytes(17 << 20))
        assert await fs._cat_file(bucket("a"), 2, -2) == b"234567"
        assert await fs._cat_file(bucket("a"), start=-3) == b"789"
        assert await fs._cat([bucket("a"), bucket("b")]) == {
            f"{bucket.name}/a": b"0123456789", f"{bucket.name}/b": b"b"}
        found = await fs._cat_ranges([bucket("a"), bucket("none"), bucket("a")], [0, 0, -1],
                                     [1, 1, None])
        assert found[0] == b"0" and found[2] == b"9"
        assert isinstance(found[1], FileNotFoundError)
        assert (await fs._info(bucket("large")))["size"] == 17 << 20

    run(options, body)


def test_names(options, bucket):
    async def body(fs):
        await fs._pipe({f"{bucket.name}/{name}": b"1" for name in ("x", "a/y", "a/b/z")})
        name = bucket.name
        assert await fs._ls(name) == [f"{name}/a", f"{name}/x"]
        assert await fs._find(name) == [f"{name}/a/b/z", f"{name}/a/y", f"{name}/x"]
        assert await fs._glob(f"{name}/a/*") == [f"{name}/a/b", f"{name}/a/y"]
        assert await fs._du(name) == 3
        assert [each async for each in fs._walk(f"{name}/a")] == [
            (f"{name}/a", ["b"], ["y"]), (f"{name}/a/b", [], ["z"])]
        assert await fs._isdir(f"{name}/a") and await fs._isfile(f"{name}/x")
        assert not await fs._exists(f"{name}/none")
        assert await fs._sizes([f"{name}/x"]) == [1]

    run(options, body)


def test_changes_and_folders(options, bucket, tmp_path):
    async def body(fs):
        name = bucket.name
        (tmp_path / "up" / "sub").mkdir(parents=True)
        (tmp_path / "up" / "sub" / "x").write_bytes(b"content")
        await fs._put(str(tmp_path / "up"), f"{name}/a", recursive=True)
        await fs._copy(f"{name}/a", f"{name}/b", recursive=True)
        await fs._mv(f"{name}/b", f"{name}/c", recursive=True)
        await fs._get(f"{name}/c", str(tmp_path / "down"), recursive=True)
        assert (tmp_path / "down" / "sub" / "x").read_bytes() == b"content"
        await fs._rm(f"{name}/a", recursive=True)
        assert await fs._find(name) == [f"{name}/c/sub/x"]
        assert await fs._setxattrs(f"{name}/c/sub/x", a="b") == {"a": "b"}
        await fs._get_file(f"{name}/c/sub/x", str(tmp_path / "one"))
        await fs._put_file(str(tmp_path / "one"), f"{name}/one")
        await fs._cp_file(f"{name}/one", f"{name}/two")
        await fs._rm([f"{name}/one", f"{name}/two"])
        with pytest.raises(FileNotFoundError):
            await fs._rm_file(f"{name}/one")
        with pytest.raises(PermissionError):
            await DatafluxFileSystem(**options, asynchronous=True,
                                     access="read_only")._rm(f"{name}/c", recursive=True)

    run(options, body)


def test_streams(options, bucket):
    async def body(fs):
        async with await fs.open_async(bucket("x"), "wb") as writer:
            await writer.write(b"content")
        async with await fs.open_async(bucket("x")) as reader:
            assert await reader.read_at(3, 4) == b"tent"
        with pytest.raises(FileExistsError):
            async with await fs.open_async(bucket("x"), "xb") as writer:
                await writer.write(b"new")
        with pytest.raises(ValueError, match="mode"):
            await fs.open_async(bucket("x"), "r")

    run(options, body)
    assert bucket.get("x") == b"content"


def test_rm_discards_files_that_are_open(options, bucket):
    bucket.put("x", b"old")

    async def body(fs):
        file = fs.open(bucket("x"), "wb")
        await fs._rm(bucket("x"))
        assert file.closed

    run(options, body)
    assert bucket.get("x") == b"old"


def test_a_transaction_holds_coroutines_too(options, bucket):
    async def body(fs):
        with fs.transaction:
            await fs._pipe_file(bucket("x"), b"1")
            assert bucket.names() == []

    run(options, body)
    assert bucket.names() == ["x"]


def test_many_calls_go_at_once_and_fail_one_by_one(emulator, options, bucket):
    emulator.faults({"verb": "objects.insert", "object": "13", "action": "refuse", "status": 403,
                     "count": 0})

    async def body(fs):
        with pytest.raises(PermissionError):
            await fs._pipe({f"{bucket.name}/{i}": b"1" for i in range(100)})

    run(options, body)
    assert len(bucket.names()) == 99


def test_a_cancelled_task_ends_what_it_has_begun(emulator, options, bucket):
    emulator.faults({"verb": "objects.media", "action": "delay", "ms": 600_000, "count": 0})
    for i in range(3):
        bucket.put(str(i), b"1")

    async def in_flight(client):
        while True:
            now = client.metrics()["connections"]
            if now["open"] > now["idle"]:
                return
            await asyncio.sleep(0.001)

    async def body(fs):
        for call in (lambda: fs._cat([bucket(str(i)) for i in range(3)]),
                     lambda: fs._cat_file(bucket("0"))):
            task = asyncio.ensure_future(call())
            await asyncio.wait_for(in_flight(fs.async_client), 60)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 60)

    run(options, body)


def test_one_filesystem_serves_threads_and_loops(options, bucket):
    bucket.put("x", b"content")
    fs = DatafluxFileSystem(**options)

    async def body():
        assert await fs._cat_file(bucket("x")) == b"content"
        assert fs.cat_file(bucket("x")) == b"content"
        return await asyncio.gather(*(fs._cat_file(bucket("x"), i, i + 1) for i in range(7)))

    for _ in range(2):  # an event loop after another
        assert b"".join(asyncio.run(body())) == b"content"
    assert isinstance(fs.client, dataflux.Client)
    assert isinstance(fs.async_client, dataflux.AsyncClient)


def test_names_that_look_like_something_else(options, bucket, tmp_path):
    async def body(fs):
        name = bucket.name
        await fs._pipe({f"{name}/{each}": each.encode() for each in (
            "in/img[1].jpg", "in/img1.jpg", "same", "same/x")})
        assert await fs._cat(f"{name}/in/img[1].jpg") == b"in/img[1].jpg"
        assert await fs._expand_path([f"{name}/in/*"], assume_literal=True) == [f"{name}/in/*"]
        with pytest.raises(FileNotFoundError):
            await fs._cat([f"{name}/same", f"{name}/none[1]"])
        assert await fs._find(f"{name}/same") == [f"{name}/same", f"{name}/same/x"]
        await fs._copy((f"{name}/in/img[1].jpg",), (f"{name}/copied",))
        await fs._mv(f"{name}/same", f"{name}/moved", recursive=True)
        assert sorted(bucket.names()) == ["copied", "in/img1.jpg", "in/img[1].jpg", "moved", "moved/x"]
        with pytest.raises(dataflux.Error, match="moved"):
            await fs._get(f"{name}/moved", str(tmp_path / "down"), recursive=True)
        (tmp_path / "loc[1]").write_bytes(b"1")
        await fs._put({str(tmp_path / "loc[1]")}, f"{name}/up/")
        assert await fs._glob(f"{name}/*/") == [f"{name}/in", f"{name}/moved", f"{name}/up"]
        await fs._rm(f"{name}/in/img[1].jpg")
        assert sorted(bucket.names()) == ["copied", "in/img1.jpg", "moved", "moved/x", "up/loc[1]"]

    run(options, body)


def test_who_may_not_list_copies_one_object(emulator, options, bucket):
    bucket.put("x", b"1")
    emulator.faults({"verb": "objects.list", "action": "refuse", "status": 403, "count": 0})

    async def body(fs):
        await fs._copy(f"{bucket.name}/x", f"{bucket.name}/y")
        assert not await fs._isdir(f"{bucket.name}/x", refresh=True)
        await fs._pipe_file(f"{bucket.name}/z", data=b"2")

    run(options, body)
    emulator.faults()
    assert bucket.names() == ["x", "y", "z"]
