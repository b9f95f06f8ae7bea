"""AsyncClient's manifests: each test runs on all kinds of event loops."""

from functools import partial

import pytest

import dataflux
from loops import run, until  # noqa: F401, a fixture

anyio = pytest.importorskip("anyio")


@pytest.fixture
def opened(emulator):
    """Opens an AsyncClient."""
    return partial(dataflux.AsyncClient, **emulator.options)


@pytest.mark.parametrize("to_object", [False, True])
def test_a_manifest_has_the_rows_of_the_listing(run, opened, bucket, emulator, tmp_path, to_object):
    for i in range(20):
        bucket.put(f"a/{i}", b"x" * i)

    async def main():
        async with opened() as client:
            listing = await client.list(bucket("a/"))
            target = bucket("the manifest") if to_object else tmp_path / "m"
            await client.save_manifest(listing, target)
            manifest = await client.open_manifest(target)
            assert len(manifest) == 20 and manifest.prefix == "a/"
            assert repr(manifest).startswith("<dataflux.AsyncManifest of gs://")
            assert await manifest.rows() == listing
            assert list(await manifest.rows(7, 3)) == list(listing[7:10])
            with pytest.raises(ValueError, match="^first: "):
                await manifest.rows(-1)
            assert client._under_way == {}

    run(main)


def test_a_manifest_is_refreshed(run, opened, bucket, tmp_path):
    for i in range(20):
        bucket.put(f"a/{i}", b"x" * i)

    async def main():
        async with opened() as client:
            before = await client.list(bucket("a/"))
            await client.save_manifest(before, tmp_path / "m")
            manifest = await client.open_manifest(tmp_path / "m")
            told = []
            same = await manifest.refresh(progress=lambda **counts: told.append(counts))
            assert not same and same.unchanged_count == 20 and told[-1]["done"] == 20
            bucket.put("a/new", b"1")
            bucket.put("a/3", b"other")
            await client.delete(bucket("a/7"))
            changes = await manifest.refresh(parallelism=2)
            assert [row.name for row in changes.added] == ["a/new"]
            assert [row.name for row in changes.removed] == ["a/7"]
            assert [(a.name, a.size, b.size) for a, b in changes.changed] == [("a/3", 3, 5)]
            assert changes.removed[0] == next(row for row in before if row.name == "a/7")
            assert changes.listing == await client.list(bucket("a/"))
            with pytest.raises(ValueError, match="^parallelism: "):
                await manifest.refresh(parallelism=2**32)
            assert client._under_way == {}

    run(main)


def test_a_refresh_that_is_cancelled_leaves_nothing(run, opened, bucket, emulator, tmp_path):
    bucket.put("a", b"1")

    async def main():
        async with opened() as client:
            await client.save_manifest(await client.list(bucket()), tmp_path / "m")
            manifest = await client.open_manifest(tmp_path / "m")
            emulator.faults({"action": "stall", "where": "before_reply", "count": 0})
            before = emulator.answered()
            async with anyio.create_task_group() as group:
                group.start_soon(manifest.refresh)
                await until(lambda: emulator.answered() > before)
                group.cancel_scope.cancel()
            emulator.faults()
            assert not await manifest.refresh()
            await client.aclose()
            assert client._under_way == {}

    run(main)


def test_what_is_no_manifest_is_refused(run, opened, bucket, tmp_path):
    (tmp_path / "other").write_bytes(b"no manifest" * 1000)

    async def main():
        async with opened() as client:
            for missing in (tmp_path / "none", bucket("none")):
                with pytest.raises(FileNotFoundError):
                    await client.open_manifest(missing)
            with pytest.raises(dataflux.InvalidArgumentError):
                await client.open_manifest(tmp_path / "other")
            with pytest.raises(TypeError, match="^target: "):
                await client.open_manifest(3)

    run(main)


def test_tasks_list_a_prefix_together(run, opened, bucket, tmp_path):
    bucket.service.add_bucket(bucket.name + "-jobs")
    for i in range(20):
        bucket.put(f"a/{i:02}", b"x" * i)

    async def main():
        async with opened() as client:
            done = await client.list_shared(bucket("a/"), tmp_path / "m",
                                            board=f"gs://{bucket.name}-jobs/7/")
            assert done["objects"] == 20
            joined = await client.open_manifest(tmp_path / "m")
            assert await joined.rows() == await client.list(bucket("a/"))

    run(main)
