"""What users do at the edges: copies, comparisons, weak references, and what is said of a slip."""

import asyncio
import copy
import gc
import gzip
import logging
import os
import pickle
import subprocess
import sys
import threading
import weakref
from array import array

import pytest

import dataflux


@pytest.fixture
def listed(client, bucket):
    for name in ("in/a", "in/b", "in/c"):
        bucket.put(name, name.encode())
    return client.list(bucket("in/"))


# -- Copies ----------------------------------------------------------------------------------------


def test_a_copy_of_a_file_that_is_let_go_of_closes_nothing(client, bucket):
    bucket.put("x", b"0123456789" * 100)
    file = client.open(bucket("x"))
    file.seek(5)
    for copied in (copy.copy(file), copy.deepcopy(file), pickle.loads(pickle.dumps(file))):
        assert copied.read(5) == b"56789"
        copied.close()
        del copied
        gc.collect()
        assert file.read_at(0, 2) == b"01" and not file.closed
    assert file.read(5) == b"56789"
    reader = client.reader(bucket("x"))
    copied = copy.copy(reader)
    copied.close()
    assert reader.read_at(0, 3) == b"012"


def test_an_emulator_is_not_copied(emulator):
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="endpoint"):
            copied(emulator)
    assert emulator.counters()


def test_what_never_changes_is_its_own_copy(client, listed, tmp_path):
    rows = listed.take([2, 0])
    client.save_manifest(listed, tmp_path / "m")
    for one in (rows, listed, client.open_manifest(tmp_path / "m")):
        assert copy.copy(one) is one and copy.deepcopy(one) is one


# -- Comparisons, weak references, what is shown ---------------------------------------------------


def test_names_are_equal_to_names_alone(listed):
    assert listed.names == ["in/a", "in/b", "in/c"] and listed.names == ("in/a", "in/b", "in/c")
    for others in ([None] * 3, [1, 2, 3], ["in/a", "in/b", None], [object()] * 3):
        assert not listed.names == others and listed.names != others


def test_rows_and_listings_are_compared_by_what_they_have(client, bucket, listed):
    again = client.list(bucket("in/"))
    assert listed == again and listed.take([2, 0]) == again.take([2, 0])
    assert listed.take([2, 0]) != listed.take([0, 2]) and listed.take([0]) != listed.take([0, 0])
    bucket.put("in/a", b"another")
    assert client.list(bucket("in/")).take([0]) != listed.take([0])
    for one in (listed, listed.take([0])):
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)


def test_all_take_weak_references(client, bucket, listed):
    [item] = client.get_many([bucket("in/a")]).items()
    [failed] = client.get_many([bucket("none")], on_error="return").items()
    for one in (listed, listed[0], listed.take([0]), client.stat(bucket("in/a")), item, failed,
                client.bucket(bucket()), dataflux.Sampler(3), client.remove_prefix(bucket("none/"))):
        assert weakref.ref(one)() is one


def test_what_is_shown(client, bucket, listed):
    assert repr(listed).startswith(f"<dataflux.Listing of gs://{bucket.name}/in/: 3 objects")
    assert repr(client.list(bucket())).startswith(f"<dataflux.Listing of gs://{bucket.name}: 3 objects")
    [batch] = client.list_batches(bucket("in/"))
    assert f"gs://{bucket.name}/in/" in repr(batch)
    stream = client.get_many(listed)
    assert repr(stream) == "<dataflux.GetMany: 0 of 3 items, under way>"
    list(stream)
    assert repr(stream) == "<dataflux.GetMany: 3 of 3 items, ended>"
    assert repr(client.get_many(iter([bucket("in/a")]))).startswith("<dataflux.GetMany: 0 items")

    async def main():
        async with dataflux.AsyncClient(**client._options.given) as mine:
            stream = mine.get_many(listed)
            assert repr(stream).startswith("<dataflux.AsyncGetMany: 0 of 3 items")
            stream.close()

    asyncio.run(main())
    from dataflux._listing import RowFeed

    assert repr(RowFeed(listed, [array("Q", [0])])) == f"<dataflux.RowFeed of gs://{bucket.name}: 0 rows so far>"


def test_everything_public_says_what_it_is():
    import inspect

    silent = []
    for name in dataflux.__all__:
        kind = getattr(dataflux, name) if name in dataflux._WHERE else None
        if not inspect.isclass(kind):
            continue
        for member, value in vars(kind).items():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                if not getattr(value, "__doc__", None):
                    silent.append(f"{name}.{member}")
    assert silent == []


# -- A Row by hand ---------------------------------------------------------------------------------


BAD_ROWS = [(("bkt", "x\0y", 5, 0, None), ValueError), (("bkt", "x\ud800", 5, 0, None), ValueError),
            (("b\0kt", "x", 5, 0, None), ValueError), ((None, "x", 5, 0, None), TypeError),
            (("bkt", None, 5, 0, None), TypeError), (("bkt", b"x", 5, 0, None), TypeError),
            (("bkt", "x", 5, -1, None), ValueError), (("bkt", "x", 5, 2**64, None), ValueError),
            (("bkt", "x", 5, "7", None), TypeError), (("bkt", "", 5, 0, None), ValueError)]


@pytest.mark.parametrize("of, error", BAD_ROWS, ids=repr)
def test_a_row_by_hand_is_checked_before_any_request(client, emulator, of, error):
    before = emulator.answered()
    row = dataflux.Row(*of)
    for call in (client.delete, client.get, client.stat, client.reader,
                 lambda row: client.get_many([row]), lambda row: client.get_ranges(row, [(0, 1)])):
        with pytest.raises(error, match="^(url|requests): "):
            call(row)
    with pytest.raises(error, match=r"^sources\[0\]: "):
        client.compose([row], "gs://bkt/y")
    assert emulator.answered() == before


@pytest.mark.parametrize("size, error", [(None, TypeError), (-1, ValueError), ("5", TypeError), (2**64, ValueError)])
def test_a_wrong_size_of_a_row_by_hand_is_named(client, size, error):
    row = dataflux.Row("bkt", "x", size, 7, None)
    with pytest.raises(error, match="^requests: its size: "):
        list(client.get_many([row, row]))
    if size is not None:  # None = get() asks for it
        with pytest.raises(error, match="^url: its size: "):
            client.get(row)


# -- Slips -----------------------------------------------------------------------------------------


def test_what_gzip_leaves_open_is_logged(client, bucket, caplog):
    with caplog.at_level(logging.WARNING, "dataflux"), pytest.warns(ResourceWarning):
        with gzip.open(client.open(bucket("x.gz"), "wb"), "wt") as file:
            file.write("lost")
        del file
        gc.collect()
    assert [line for line in caplog.messages if bucket("x.gz") in line and "never closed" in line]
    assert bucket.get("x.gz") is None


def test_a_prefix_for_get_many_is_told_of_list(client, bucket):
    with pytest.raises(TypeError, match=r"client\.list\(url\)"):
        client.get_many(bucket("in/"))


@pytest.mark.parametrize("name", ["remove", "rm", "unlink"])
def test_remove_says_delete(client, name):
    for one in (client, dataflux.AsyncClient):
        with pytest.raises(AttributeError, match=r"delete\(\)" if one is client else name):
            getattr(one, name)
    with pytest.raises(AttributeError, match="'Client' object has no attribute 'stats'"):
        client.stats


def test_a_client_that_is_entered_twice_is_closed_by_the_outer_with(emulator):
    with emulator.client() as client:
        with client:
            pass
        assert client.exists("gs://bkt/x") is False
    for _ in range(2):
        with pytest.raises(dataflux.PreconditionError, match="closed"):
            with client:
                pass

    async def main():
        async with emulator.async_client() as client:
            async with client:
                pass
            assert await client.exists("gs://bkt/x") is False
        with pytest.raises(dataflux.PreconditionError, match="closed"):
            async with client:
                pass

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["r", "w", "x"])
@pytest.mark.parametrize("how, error", [
    ({"newline": "bad"}, ValueError), ({"encoding": "nope"}, LookupError), ({"errors": "nope"}, LookupError)], ids=repr)
def test_open_checks_how_text_is_before_any_request(client, emulator, mode, how, error):
    before = emulator.answered()
    with pytest.raises(error):
        client.open("gs://bkt/none", mode, **how)
    with pytest.raises(error):
        asyncio.run(async_open(emulator, "gs://bkt/none", mode, how))
    assert emulator.answered() == before


async def async_open(emulator, url, mode, how):
    async with emulator.async_client() as client:
        await client.open(url, mode, **how)


@pytest.mark.parametrize("how", [{"content_type": 5}, {"part_size": -1}, {"size_hint": "x"}, {"timeout": "x"},
                                 {"metadata": 7}, {"if_generation_match": 7}], ids=repr)
def test_open_for_what_is_new_checks_all_before_any_request(client, emulator, how):
    before = emulator.answered()
    with pytest.raises((TypeError, ValueError), match=f"^{next(iter(how))}"):
        client.open("gs://bkt/none", "xb", **how)
    with pytest.raises((TypeError, ValueError), match=f"^{next(iter(how))}"):
        asyncio.run(async_open(emulator, "gs://bkt/none", "xb", how))
    assert emulator.answered() == before


@pytest.mark.parametrize("what", ["a view in pieces", "an array in pieces", "an array of objects", "a str"])
def test_what_is_no_bytes_in_one_piece_does_not_break_a_file(client, bucket, what):
    numpy = pytest.importorskip("numpy")
    bad = {"a view in pieces": memoryview(b"0123456789")[::2],
           "an array in pieces": numpy.arange(20, dtype="uint8").reshape(4, 5)[:, 1],
           "an array of objects": numpy.array([object(), None]), "a str": "text"}[what]
    with client.open(bucket("x"), "wb") as file:
        file.write(b"before ")
        with pytest.raises(TypeError, match="^data: "):
            file.write(bad)
        file.write(b"after")
    assert bucket.get("x") == b"before after"

    async def main():
        async with client_of(client) as mine:
            async with await mine.open(bucket("y"), "wb") as file:
                await file.write(b"before ")
                with pytest.raises(TypeError):
                    await file.write(bad)
                await file.write(b"after")

    asyncio.run(main())
    assert bucket.get("y") == b"before after"


def client_of(client):
    return dataflux.AsyncClient(**client._options.given)


@pytest.mark.parametrize("call", [
    lambda client, path: client.save_manifest(client.list("gs://bkt"), path),
    lambda client, path: client.open_manifest(path),
    lambda client, path: client.list_shared("gs://bkt/x", path, board="gs://bkt/board/")],
    ids=["save", "open", "list_shared"])
def test_a_path_that_no_file_can_have_is_named(client, emulator, call):
    emulator.add_bucket("bkt")
    with pytest.raises(ValueError, match="^target: .* what no name of a file can have"):
        call(client, "\ud800")




def test_a_bar_goes_to_a_stderr_that_only_writes(client, listed, tmp_path, monkeypatch):
    class Writes:
        def __init__(self):
            self.text = ""

        def write(self, text):
            self.text += text

    log = Writes()
    monkeypatch.setattr(sys, "stderr", log)
    client.download_folder(f"gs://{listed.bucket}/in/", tmp_path, progress=True)
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]
    assert "download" in log.text


def test_a_library_of_others_is_an_import_error(tmp_path):
    import ctypes.util

    other = ctypes.util.find_library("z") or ctypes.util.find_library("c")
    done = subprocess.run([sys.executable, "-c", "import dataflux; dataflux.Client().exists('gs://bkt/x')"],
                          env={**os.environ, "DATAFLUX_LIBRARY": other}, capture_output=True, text=True, timeout=60)
    assert "ImportError" in done.stderr and "another library" in done.stderr and other in done.stderr


def test_the_command_that_is_not_there_is_named():
    done = subprocess.run([sys.executable, "-m", "dataflux"], env={**os.environ, "DATAFLUX_COMMAND": "/nowhere/x"},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "/nowhere/x" in done.stderr and "DATAFLUX_COMMAND" in done.stderr


# -- Members of sets -------------------------------------------------------------------------------


def member_urls(client, saving, name):
    with saving.open_member(name) as member:
        member.write(b"member")
        before, shown = member.url, repr(member)
    assert before in shown
    with saving.open_file(name + "-file") as file:
        file.write(b"file")
    assert client.get(file.url) == b"file" and file.url in repr(file)
    return before, [member.record, file.record]


def test_the_url_of_a_member_names_its_object(client, bucket):
    saving = client.checkpoint_set(bucket("run"))
    saving.begin()
    url, records = member_urls(client, saving, "m")
    assert client.get(url) == b"member"
    saving.commit(records, last="last", data=b"the last")
    read_members(client, saving)
    # And those of a save over it.
    over = saving.over(saving.begin_over())
    url, records = member_urls(client, over, "m")
    assert client.get(url) == b"member" and ".dataflux-save-" in url
    over.commit(records, last="last", data=b"the last")
    read_members(client, saving)


def read_members(client, saving):
    found = saving.open()
    for name, content in (("m", b"member"), ("m-file", b"file"), ("last", b"the last")):
        reader, file = found.reader(name), found.open(name)
        assert client.get(reader.url) == content and file.url == file.name == reader.url
        assert reader.url in repr(reader)

    async def main():
        async with client_of(client) as mine:
            found = await mine.checkpoint_set(saving.url).open()
            for name, content in (("m", b"member"), ("last", b"the last")):
                reader = await found.reader(name)
                assert await mine.get(reader.url) == content and reader.url in repr(reader)

    asyncio.run(main())
    with pytest.raises(TypeError, match=r"checkpoint_set\(url\)\.open\(\)"):
        pickle.dumps(found)


def test_the_url_of_a_member_that_a_task_writes_names_its_object(client, bucket):
    async def main():
        async with client_of(client) as mine:
            saving = mine.checkpoint_set(bucket("run"))
            await saving.begin()
            for _ in range(2):
                async with await saving.open_member("m") as member:
                    await member.write(b"member")
                assert await mine.get(member.url) == b"member"
                await saving.commit([member.record])
                saving = saving.over(await saving.begin_over())

    asyncio.run(main())


# -- What comes later ------------------------------------------------------------------------------


def test_verbs_of_tasks_are_coroutine_functions():
    import inspect
    from unittest.mock import create_autospec

    mocked = create_autospec(dataflux.AsyncClient, instance=True)
    asyncio.run(mocked.get("gs://bkt/x"))
    for verb in ("get", "stat", "exists", "put", "delete", "copy", "move", "compose", "patch", "read_into", "upload",
                 "download", "upload_folder", "download_folder", "copy_tree", "sync", "remove_prefix", "list", "list_shared",
                 "save_manifest", "list_sets", "keep_last_sets", "remove_sets", "find_leftovers",
                 "remove_leftovers", "bucket", "buckets", "permissions"):
        assert inspect.iscoroutinefunction(getattr(dataflux.AsyncClient, verb)), verb


@pytest.mark.xfail(strict=True, reason="AsyncGetMany is closed on another thread, which tells the progress there")
def test_progress_of_a_task_is_told_by_its_thread(client, listed):
    told = []

    async def main():
        async with client_of(client) as mine:
            async with mine.get_many(listed, progress=lambda **known: told.append(threading.get_ident())) as stream:
                pass
            while stream._stream._teller is not None:
                await asyncio.sleep(0.01)

    asyncio.run(main())
    assert set(told) == {threading.get_ident()}


@pytest.mark.xfail(strict=True, reason="AsyncListStream frees its lister on the event loop")
def test_a_listing_of_a_task_is_closed_aside(client, listed):
    freed = []

    async def main():
        async with client_of(client) as mine:
            stream = mine.list_batches(f"gs://{listed.bucket}")
            lister = stream._stream._lister
            free = type(lister).free
            type(lister).free = lambda self: (freed.append(threading.get_ident()), free(self))
            try:
                await stream.aclose()
                while not freed:
                    await asyncio.sleep(0.01)
            finally:
                type(lister).free = free

    asyncio.run(main())
    assert threading.get_ident() not in freed


def test_readlines_of_a_task_end_where_those_of_files_do(client, bucket):
    bucket.put("x", b"123\n456\n789\n")

    async def main():
        async with client_of(client) as mine:
            async with await mine.open(bucket("x")) as file:
                return await file.readlines(4)

    with client.open(bucket("x")) as file:
        wanted = file.readlines(4)
    assert asyncio.run(main()) == wanted
