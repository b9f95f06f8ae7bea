"""What a failed call leaves: no reference cycle, for that would keep all that its callers have until a
collection comes, and no memory of the caller's pinned."""

import asyncio
import ctypes
import gc

import pytest

import dataflux
from cycles import left_by
from dataflux import Error

pytestmark = pytest.mark.usefixtures("only_new")

MISSING = "gs://nobody-has-it/x"
# Types of arrays of C, which calls make of them: one that nobody keeps is a cycle without a frame.
KEPT = [kind * count for kind in (ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p) for count in range(4)]


FAILURES = (Error, OSError, TypeError, ValueError)

# Of a client, of a folder that is empty, of a file that is there, and of the URL of no object.
CALLS = {
    "stat": lambda c, folder, file: c.stat(MISSING),
    "get": lambda c, folder, file: c.get(MISSING),
    "get length 0": lambda c, folder, file: c.get(MISSING, length=0),
    "get row": lambda c, folder, file: c.get(dataflux.Row("nobody-has-it", "x", 5, 7, None)),
    "read_into": lambda c, folder, file: c.read_into(MISSING, bytearray(5)),
    "get_ranges": lambda c, folder, file: c.get_ranges(MISSING, [(0, 5)]),
    "put": lambda c, folder, file: c.put(MISSING, b"x"),
    "sign_url": lambda c, folder, file: c.sign_url(MISSING),
    "sign_form": lambda c, folder, file: c.sign_form(MISSING),
    "delete": lambda c, folder, file: c.delete(MISSING),
    "copy": lambda c, folder, file: c.copy(MISSING, MISSING + "y"),
    "move": lambda c, folder, file: c.move(MISSING, MISSING + "y"),
    "compose": lambda c, folder, file: c.compose([MISSING, MISSING + "y"], MISSING),
    "patch": lambda c, folder, file: c.patch(MISSING, content_type="text/plain"),
    "upload": lambda c, folder, file: c.upload(file, MISSING),
    "download": lambda c, folder, file: c.download(MISSING, folder / "x"),
    "upload_folder": lambda c, folder, file: c.upload_folder(file.parent, MISSING),
    "download_folder": lambda c, folder, file: c.download_folder(MISSING, folder),
    "copy_tree": lambda c, folder, file: c.copy_tree(MISSING, MISSING + "y"),
    "sync": lambda c, folder, file: c.sync(file.parent, MISSING),
    "remove_prefix": lambda c, folder, file: c.remove_prefix(MISSING),
    "list": lambda c, folder, file: c.list(MISSING),
    "list_shared": lambda c, folder, file: c.list_shared(MISSING, folder / "m",
                                                         board="gs://nobody-has-it/board/"),
    "open_manifest": lambda c, folder, file: c.open_manifest(folder / "none"),
    "open_manifest of an object": lambda c, folder, file: c.open_manifest(MISSING),
    "index_shards": lambda c, folder, file: c.index_shards(MISSING, folder / "x"),
    "open_shard_index": lambda c, folder, file: c.open_shard_index(MISSING, folder / "x"),
    "shard_writer": lambda c, folder, file: c.shard_writer(MISSING + "-%03d.tar", count=1, resume=True),
    "list_sets": lambda c, folder, file: c.list_sets(MISSING),
    "latest_set": lambda c, folder, file: c.latest_set(MISSING),
    "keep_last_sets": lambda c, folder, file: c.keep_last_sets(MISSING, 1),
    "remove_sets": lambda c, folder, file: c.remove_sets(MISSING),
    "bucket": lambda c, folder, file: c.bucket("nobody-has-it"),
    "permissions": lambda c, folder, file: c.permissions("nobody-has-it", ["storage.objects.get"]),
    "bulk_restore": lambda c, folder, file: c.bulk_restore("nobody-has-it"),
    "find_leftovers": lambda c, folder, file: c.find_leftovers(MISSING),
    "reader": lambda c, folder, file: c.reader(MISSING),
    "writer": lambda c, folder, file: c.writer("gs://x"),
    "open rb": lambda c, folder, file: c.open(MISSING),
    "open r": lambda c, folder, file: c.open(MISSING, "r"),
    "open wb": lambda c, folder, file: c.open("gs://x", "wb"),
    "set begin": lambda c, folder, file: c.checkpoint_set(MISSING).begin(),
    "set open": lambda c, folder, file: c.checkpoint_set(MISSING).open(),
    "set begin_over": lambda c, folder, file: c.checkpoint_set(MISSING).begin_over(),
}


def written(client, folder, file):
    with client.open(MISSING, "wb") as writing:
        writing.write(b"x")


def batches(client, folder, file):
    list(client.list_batches(MISSING))


def many(client, folder, file):
    list(client.get_many([MISSING]))


def failed_item(client, folder, file):
    for item in client.get_many([MISSING], on_error="return").items():
        item.data


def closed(client, folder, file):
    client.close()
    client.get(MISSING)


STREAMS = (written, batches, many, failed_item, closed)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "from").mkdir()
    made = tmp_path / "from" / "file"
    made.write_bytes(b"x")
    return made


@pytest.mark.parametrize("verb", CALLS)
def test_a_failed_call_leaves_no_cycle(client, tmp_path, file, verb):
    assert left_by(lambda: CALLS[verb](client, tmp_path, file), FAILURES) == 0


@pytest.mark.parametrize("use", STREAMS, ids=lambda use: use.__name__)
def test_a_failed_stream_leaves_no_cycle(client, tmp_path, file, use):
    assert left_by(lambda: use(client, tmp_path, file), FAILURES) == 0


def test_each_verb_was_tried():
    verbs = {name for name in dir(dataflux.Client) if not name.startswith("_")}
    tried = {name.split()[0] for name in CALLS} | {"list_batches", "get_many", "get_samples"}
    # These fail by no name of an object, or make no request.
    others = {"buckets", "checkpoint_set", "close", "exists", "metrics", "prometheus",
              "remove_leftovers", "save_manifest", "save_shard_index", "shard_writer", "verify_shards"}
    assert verbs - tried - others == set()


@pytest.mark.parametrize("verb", CALLS)
def test_a_failed_call_of_a_task_leaves_no_cycle(emulator, tmp_path, file, verb):
    async def main():
        async with emulator.async_client() as client:
            found = []
            for _ in range(2):
                gc.collect()
                gc.disable()
                try:
                    try:
                        await CALLS[verb](client, tmp_path, file)
                    except FAILURES:
                        pass
                    else:
                        raise AssertionError("it has not failed")
                    found.append(gc.collect())
                finally:
                    gc.enable()
            return found[1]

    assert asyncio.run(main()) == 0


async def async_written(client):
    async with await client.open(MISSING, "wb") as writing:
        await writing.write(b"x")


async def async_batches(client):
    async for _ in client.list_batches(MISSING):
        pass


async def async_many(client):
    async for _ in client.get_many([MISSING]):
        pass


async def async_failed_item(client):
    async for item in client.get_many([MISSING], on_error="return").items():
        item.data


@pytest.mark.parametrize("use", [async_written, async_batches, async_many, async_failed_item],
                         ids=lambda use: use.__name__)
def test_a_failed_stream_of_a_task_leaves_no_cycle(emulator, use):
    async def main():
        async with emulator.async_client() as client:
            found = []
            for _ in range(2):
                gc.collect()
                gc.disable()
                try:
                    with pytest.raises(Error):
                        await use(client)
                    found.append(gc.collect())
                finally:
                    gc.enable()
            return found[1]

    assert asyncio.run(main()) == 0


@pytest.mark.parametrize("use", [
    lambda fs: fs.info(MISSING), lambda fs: fs.cat(MISSING), lambda fs: fs.cat_file(MISSING),
    lambda fs: fs.open(MISSING), lambda fs: fs.rm(MISSING), lambda fs: fs.ls(MISSING),
    lambda fs: fs.cp_file(MISSING, MISSING + "y"), lambda fs: fs.mv_file(MISSING, MISSING + "y"),
    lambda fs: fs.pipe(MISSING, b"x"), lambda fs: fs.pipe({MISSING: b"x", MISSING + "y": b"y"}),
    lambda fs: fs.cat_ranges([MISSING], [0], [5], on_error="raise"),
    lambda fs: fs.cat_ranges([MISSING] * 2, [0, 0], [-1, -1], on_error="raise"),
    lambda fs: fs.cat([MISSING, MISSING + "y"]),
    lambda fs: fs.modified(MISSING), lambda fs: fs.size(MISSING), lambda fs: fs.touch(MISSING),
    lambda fs: fs.setxattrs(MISSING, content_type="x/y")], ids=range(17))
def test_a_failed_call_of_the_filesystem_leaves_no_cycle(emulator, use):
    filesystem = pytest.importorskip("dataflux.fsspec").DatafluxFileSystem(
        **emulator.options, skip_instance_cache=True)
    assert left_by(lambda: use(filesystem), FAILURES) == 0


# -- Memory that was lent --------------------------------------------------------------------------


def free(memory):
    """Whether nobody has it pinned."""
    memory.append(1)
    memory.pop()
    return True


LENT = {
    "read_into": lambda client, memory, url: client.read_into(url, memory),
    "put": lambda client, memory, url: client.put(url, memory),
    "get_ranges": lambda client, memory, url: client.get_ranges(url, [(0, 10)], into=[memory]),
}


@pytest.mark.parametrize("verb", LENT)
def test_lent_memory_is_free_when_a_call_has_failed(client, verb):
    memory = bytearray(10)
    with pytest.raises(Error) as kept:
        LENT[verb](client, memory, MISSING)
    assert free(memory)
    client.close()
    with pytest.raises(Error) as closed:
        LENT[verb](client, memory, MISSING)
    assert free(memory) and kept and closed


@pytest.mark.parametrize("verb", LENT)
def test_lent_memory_is_free_when_a_client_without_a_token_has_failed(bucket, verb):
    client = dataflux.Client(endpoint="https://127.0.0.1:1", credentials=lambda: "token")
    client.close()
    memory = bytearray(10)
    with pytest.raises(Error) as kept:
        LENT[verb](client, memory, MISSING)
    assert free(memory) and kept


@pytest.mark.parametrize("verb", LENT)
def test_lent_memory_is_free_when_a_call_of_a_task_has_failed(emulator, verb):
    async def main():
        memory = bytearray(10)
        async with emulator.async_client() as client:
            with pytest.raises(Error) as kept:
                await LENT[verb](client, memory, MISSING)
            assert free(memory)
        with pytest.raises(Error) as closed:
            await LENT[verb](client, memory, MISSING)
        assert free(memory) and kept and closed

    asyncio.run(main())


@pytest.mark.parametrize("verb", LENT)
@pytest.mark.parametrize("opened", [True, False])
def test_lent_memory_is_free_when_a_call_of_a_task_was_cancelled(emulator, bucket, verb, opened):
    bucket.put("x", bytes(10))
    emulator.faults({"verb": "objects.media", "action": "delay", "ms": 20, "count": 0},
                    {"verb": "objects.get", "action": "delay", "ms": 20, "count": 0},
                    {"verb": "objects.insert", "action": "delay", "ms": 20, "count": 0})

    async def main():
        for turns in range(30):
            client = emulator.async_client()
            if opened:
                await client.exists(bucket("x"))
            memory = bytearray(10)

            async def call():
                try:
                    await LENT[verb](client, memory, bucket("x"))
                finally:
                    free(memory)

            task = asyncio.ensure_future(call())
            for _ in range(turns):
                await asyncio.sleep(0.001 if turns > 10 else 0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
                raise asyncio.CancelledError  # it was faster
            assert free(memory)
            await client.aclose()

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize("verb", LENT)
def test_a_call_that_nobody_awaits_pins_nothing(emulator, verb):
    client = emulator.async_client()
    memory = bytearray(10)
    call = LENT[verb](client, memory, MISSING)
    assert free(memory)
    call.close()
    assert free(memory)
    client.close()
