"""Two writers of one name: the one that commits first stays, and the other is told so, whether something was
there before or not."""

import asyncio

import pytest

import dataflux

MIB = 1 << 20
TOLD = r"another writer has written it since this save began \(do several ranks save to one name\?\)"


def by_writer(emulator, client, url, content, meanwhile):
    with client.writer(url) as writer:
        writer.write(content)
        meanwhile()


def by_open(emulator, client, url, content, meanwhile):
    with client.open(url, "wb") as file:
        file.write(content)
        meanwhile()


def by_text(emulator, client, url, content, meanwhile):
    with client.open(url, "w") as file:
        file.write(content.decode())
        meanwhile()


def by_task(emulator, client, url, content, meanwhile):
    async def write():
        async with dataflux.AsyncClient(**emulator.options) as own:
            async with await own.writer(url) as writer:
                await writer.write(content)
                meanwhile()

    asyncio.run(write())


def by_fsspec(emulator, client, url, content, meanwhile):
    fsspec = pytest.importorskip("dataflux.fsspec")
    files = fsspec.DatafluxFileSystem(**emulator.options, skip_instance_cache=True)
    with files.open(url, "wb") as file:
        file.write(content)
        meanwhile()


@pytest.mark.parametrize("by", [by_writer, by_open, by_text, by_task, by_fsspec])
@pytest.mark.parametrize("size", [1, 20 * MIB], ids=["small", "in parts"])
@pytest.mark.parametrize("there", [False, True])
def test_the_one_that_is_overtaken_is_told(emulator, client, bucket, by, size, there):
    if there:
        bucket.put("x", b"before")
    with pytest.raises(dataflux.PreconditionError, match=TOLD) as told:
        by(emulator, client, bucket("x"), b"m" * size, lambda: bucket.put("x", b"another's"))
    assert told.value.object == "x" and not isinstance(told.value, FileExistsError)
    assert bucket.get("x") == b"another's" and not client.find_leftovers(bucket()).rows


@pytest.mark.parametrize("size", [1, 20 * MIB], ids=["small", "in parts"])
def test_who_asks_for_nothing_to_be_there_is_told_that_something_is(client, bucket, size):
    with pytest.raises(dataflux.AlreadyExistsError):
        with client.writer(bucket("x"), if_generation_match=0) as writer:
            writer.write(b"m" * size)
            bucket.put("x", b"another's")
    assert bucket.get("x") == b"another's"
