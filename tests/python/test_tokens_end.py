"""Tokens that the service refuses in the midst of a call: every road goes on with a fresh one, or
fails with what the credentials have raised as the cause."""

import asyncio
import gc
import io

import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem

MIB = 1 << 20
BIG = bytes(range(256)) * (20 * MIB // 256)
NAMES = [f"d/{number:03}" for number in range(60)]


class Source:
    """Credentials that may have no more than one token."""

    def __init__(self, emulator):
        self.emulator, self.asked, self.broken = emulator, 0, False

    def __call__(self):
        self.asked += 1
        if self.broken and self.asked > 1:
            raise LookupError("the vault is closed")
        return self.emulator.token()


@pytest.fixture
def source(emulator):
    return Source(emulator)


@pytest.fixture
def filled(bucket):
    for name in NAMES:
        bucket.put(name, name.encode())
    bucket.put("big", BIG)
    return bucket


class Place:
    def __init__(self, bucket, folder):
        self.url, self.folder = bucket, folder
        self.fs = None
        (folder / "up").mkdir()
        for name in NAMES[:20]:
            (folder / "up" / name.replace("/", "-")).write_bytes(name.encode())
        (folder / "file").write_bytes(BIG)


@pytest.fixture
def place(filled, tmp_path):
    return Place(filled, tmp_path)


def many(client, place):
    with client.get_many([place.url(name) for name in NAMES]) as batches:
        found = [bytes(item.data) for batch in batches for item in batch]
    assert found == [name.encode() for name in NAMES]


def batches(client, place):
    with client.list_batches(place.url("d/")) as stream:
        assert sorted(name for batch in stream for name in batch.names) == NAMES


def write(client, place):
    with client.writer(place.url("w"), part_size=8 * MIB) as writer:
        for at in range(0, len(BIG), MIB):
            writer.write(BIG[at:at + MIB])
    assert writer.object.size == len(BIG)


def write_file(client, place):
    with client.open(place.url("f"), "wb", part_size=8 * MIB) as file:
        for at in range(0, len(BIG), MIB):
            file.write(BIG[at:at + MIB])


def read_file(client, place):
    with client.open(place.url("big"), "rb") as file:
        found = io.BytesIO()
        while piece := file.read(MIB):
            found.write(piece)
    assert found.getvalue() == BIG


def read_at(client, place):
    with client.reader(place.url("big")) as reader:
        assert reader.get_ranges([(0, MIB), (19 * MIB, MIB)]) == [BIG[:MIB], BIG[19 * MIB:]]


def save_set(client, place):
    owner = client.checkpoint_set(place.url("set"))
    owner.begin()
    records = []
    for name in ("a", "b"):
        with owner.open_member(name) as writer:
            writer.write(name.encode())
        records.append(writer.record)
    owner.commit(records)
    assert owner.open().bytes == 2


def fs_cat(client, place):
    assert place.fs.cat([place.url(name) for name in NAMES]) == {
        f"{place.url.name}/{name}": name.encode() for name in NAMES}


def fs_rm(client, place):
    place.fs.rm(place.url("d"), recursive=True)
    assert place.fs.find(place.url("")) == [f"{place.url.name}/big"]


def fs_cp(client, place):
    place.fs.cp(place.url("d"), place.url("e"), recursive=True)
    assert len(place.fs.find(place.url("e"))) == len(NAMES)


PAGES = {"verb": "objects.list", "action": "short_page", "results": 7, "count": 0}
# By name: at which request tokens end (a verb, its number), and the call.
ROADS = {
    "get_many": ("objects.media", 20, many),
    "list": ("objects.list", 2, lambda c, p: len(c.list(p.url("d/"))) == len(NAMES) or 1 / 0),
    "list_batches": ("objects.list", 2, batches),
    "get": ("objects.media", 2, lambda c, p: c.get(p.url("big")) == BIG or 1 / 0),
    "writer": ("multipart.part", 2, write),
    "open wb": ("multipart.part", 1, write_file),
    "open rb": ("objects.media", 4, read_file),
    "reader": ("objects.media", 2, read_at),
    "upload": ("multipart.part", 1, lambda c, p: c.upload(p.folder / "file", p.url("up"))),
    "commit": ("multipart.complete", 1, write),
    "download": ("objects.media", 2, lambda c, p: c.download(p.url("big"), p.folder / "down")),
    "upload_folder": ("objects.insert", 7, lambda c, p: c.upload_folder(p.folder / "up", p.url("g"))),
    "download_folder": ("objects.media", 7,
                        lambda c, p: c.download_folder(p.url("d/"), p.folder / "here")),
    "copy_tree": ("objects.rewrite", 7, lambda c, p: c.copy_tree(p.url("d/"), p.url("copied"))),
    "remove_prefix": ("objects.delete", 7, lambda c, p: c.remove_prefix(p.url("d/"))),
    "set": ("objects.insert", 2, save_set),
    "fsspec cat": ("objects.media", 20, fs_cat),
    "fsspec rm": ("objects.delete", 20, fs_rm),
    "fsspec cp": ("objects.rewrite", 20, fs_cp),
}


def end_tokens(emulator, verb, number):
    emulator.faults({"verb": verb, "action": "expire_tokens", "from": number}, PAGES)


@pytest.fixture
def client_of(emulator, source, place):
    options = {**emulator.options, "credentials": source, "slice": 4 * MIB}
    place.fs = DatafluxFileSystem(**options, skip_instance_cache=True)
    with dataflux.Client(**options) as client:
        yield client
    place.fs.client.close()


@pytest.mark.parametrize("road", ROADS)
def test_a_call_goes_on_with_a_fresh_token(emulator, source, place, client_of, road):
    verb, number, call = ROADS[road]
    end_tokens(emulator, verb, number)
    call(client_of, place)
    assert source.asked == 2


@pytest.mark.parametrize("road", ROADS)
def test_what_the_credentials_raise_is_the_cause(emulator, source, place, client_of, road):
    verb, number, call = ROADS[road]
    end_tokens(emulator, verb, number)
    source.broken = True
    with pytest.raises(dataflux.UnauthenticatedError) as raised:
        call(client_of, place)
    assert type(raised.value.__cause__) is LookupError
    gc.collect()  # what was left of writers and streams ends, too


async def async_many(client, place):
    found = [bytes(item.data) async for batch in client.get_many([place.url(name) for name in NAMES])
             for item in batch]
    assert found == [name.encode() for name in NAMES]


async def async_batches(client, place):
    assert sorted([name async for batch in client.list_batches(place.url("d/"))
                   for name in batch.names]) == NAMES


async def async_write(client, place):
    async with await client.writer(place.url("w"), part_size=8 * MIB) as writer:
        for at in range(0, len(BIG), MIB):
            await writer.write(BIG[at:at + MIB])
    assert writer.object.size == len(BIG)


async def async_read_file(client, place):
    found = io.BytesIO()
    async with await client.open(place.url("big"), "rb") as file:
        while piece := await file.read(MIB):
            found.write(piece)
    assert found.getvalue() == BIG


async def async_fs_rm(client, place):
    await DatafluxFileSystem(**place.options, asynchronous=True, skip_instance_cache=True)._rm(
        place.url("d"), recursive=True)


ASYNC_ROADS = {
    "get_many": ("objects.media", 20, async_many),
    "list": ("objects.list", 2, lambda c, p: c.list(p.url("d/"))),
    "list_batches": ("objects.list", 2, async_batches),
    "get": ("objects.media", 2, lambda c, p: c.get(p.url("big"))),
    "writer": ("multipart.part", 2, async_write),
    "open rb": ("objects.media", 4, async_read_file),
    "upload": ("multipart.part", 1, lambda c, p: c.upload(p.folder / "file", p.url("up"))),
    "upload_folder": ("objects.insert", 7, lambda c, p: c.upload_folder(p.folder / "up", p.url("g"))),
    "download_folder": ("objects.media", 7,
                        lambda c, p: c.download_folder(p.url("d/"), p.folder / "here")),
    "fsspec rm": ("objects.delete", 20, async_fs_rm),
}


@pytest.mark.parametrize("broken", [False, True], ids=["fresh", "none"])
@pytest.mark.parametrize("road", ASYNC_ROADS)
def test_tasks_fare_alike(emulator, source, place, road, broken):
    verb, number, call = ASYNC_ROADS[road]
    place.options = {**emulator.options, "credentials": source, "slice": 4 * MIB}
    end_tokens(emulator, verb, number)
    source.broken = broken

    async def use():
        async with dataflux.AsyncClient(**place.options) as client:
            await call(client, place)

    if not broken:
        asyncio.run(use())
        assert source.asked == 2
        return
    with pytest.raises(dataflux.UnauthenticatedError) as raised:
        asyncio.run(use())
    assert type(raised.value.__cause__) is LookupError


# ---- timeouts that pass ------------------------------------------------------------------------


LATE = {
    "read_into": ("objects.media", lambda c, p, **how: c.read_into(p.url("d/000"), bytearray(5), **how)),
    "stat": ("objects.get", lambda c, p, **how: c.stat(p.url("d/000"), **how)),
    "list": ("objects.list", lambda c, p, **how: c.list(p.url("d/"), **how)),
}


@pytest.mark.parametrize("road", LATE)
def test_a_timeout_that_passes_tells_what_was_met(emulator, place, client_of, road):
    verb, call = LATE[road]
    # Repeated within a second, and then there is no answer.
    emulator.faults({"verb": verb, "action": "refuse", "status": 503},
                    {"verb": verb, "action": "stall", "count": 0})
    with pytest.raises(dataflux.DeadlineError) as raised:
        call(client_of, place, timeout=4)
    error = raised.value
    assert error.http_status == 503 and error.attempts >= 1
    assert "met: Backend Error" in str(error)


def test_calls_that_a_closed_client_ends_say_so(emulator, place, client_of):
    import threading

    emulator.faults({"verb": "objects.get", "action": "stall", "count": 0})
    raised = []

    def wait():
        try:
            client_of.stat(place.url("d/000"))
        except dataflux.CancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    while client_of.metrics()["connections"]["open"] == 0:
        pass
    client_of.close()
    thread.join()
    assert "the client was closed" in str(raised[0])
