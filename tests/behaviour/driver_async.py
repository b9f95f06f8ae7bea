#!/usr/bin/env python3
"""Plays calls of the table of behaviour (table.txt, which says what they are) by the Python package's
AsyncClient.

    driver_async.py ENDPOINT TOKEN       calls from standard input, answers to standard output
"""

import asyncio
import sys
from urllib.parse import quote

import dataflux
import driver
from driver import known, length_of, of_object, sizes_of, text
from pattern import pattern


async def write_all(writer, sizes):
    at = 0
    for size in sizes:
        await writer.write(pattern(size, at))
        at += size


class Driver:
    """A method for each verb. `how` are the call's options, by the names that the package has."""

    def __init__(self, client):
        self.client = client
        self.bucket = ""

    def url(self, word):
        return f"gs://{self.bucket}/{text(word)}"

    def urls(self, word):
        return [self.url(name) for name in word.split(",")]

    async def put(self, name, size, **how):
        return of_object(await self.client.put(self.url(name), pattern(int(size)), **how))

    async def get(self, name, offset, length, **how):
        return known(await self.client.get(self.url(name), offset=int(offset),
                                           length=length_of(length), **how))

    async def into(self, name, offset, size, **how):
        memory = bytearray(int(size))
        await self.client.read_into(self.url(name), memory, offset=int(offset), **how)
        return known(memory)

    async def ranges(self, name, ranges, **how):
        pairs = [tuple(map(int, pair.split(":"))) for pair in ranges.split(",")]
        async with await self.client.reader(self.url(name), **how) as reader:
            return " ".join(map(known, await reader.get_ranges(pairs)))

    async def many(self, requests, stop=False, **how):
        wanted = driver.requests_of(self, requests)
        batches = self.client.get_many(wanted, on_error="raise" if stop else "return", **how)
        return " ".join([driver.of_item(item) async for batch in batches for item in batch])

    async def stat(self, name, **how):
        return of_object(await self.client.stat(self.url(name), **how))

    async def remove(self, name, **how):
        await self.client.delete(self.url(name), **how)

    async def copy(self, source, target, **how):
        return of_object(await self.client.copy(self.url(source), self.url(target), **how))

    async def move(self, source, target, **how):
        return of_object(await self.client.move(self.url(source), self.url(target), **how))

    async def compose(self, target, sources, **how):
        return of_object(await self.client.compose(self.urls(sources), self.url(target), **how))

    async def list(self, prefix, **how):
        return " ".join(quote(name) for name in (await self.client.list(self.url(prefix), **how)).names)

    async def write(self, name, sizes, **how):
        async with await self.client.writer(self.url(name), **how) as writer:
            await write_all(writer, sizes_of(sizes))
        return of_object(writer.object)

    async def abandon(self, name, sizes, **how):
        writer = await self.client.writer(self.url(name), **how)
        await write_all(writer, sizes_of(sizes))
        await writer.abort()

    async def overtaken(self, name, sizes, **how):
        async with await self.client.writer(self.url(name), **how) as writer:
            await self.client.put(self.url(name), b"\0")
            await write_all(writer, sizes_of(sizes))
        return of_object(writer.object)

    async def commit_set(self, prefix, members):
        owner = self.client.checkpoint_set(self.url(prefix))
        await owner.begin()
        records = []
        for member in members.split(","):
            name, size = member.split(":")
            async with await owner.open_member(text(name)) as writer:
                await writer.write(pattern(int(size)))
            records.append(writer.record)
        return str((await owner.commit(records)).bytes)

    async def open_set(self, prefix):
        return str((await self.client.checkpoint_set(self.url(prefix)).open()).bytes)

    async def cancel(self, name):
        """Here that is to cancel the task."""
        read = asyncio.create_task(self.client.get(self.url(name)))
        await asyncio.sleep(0)  # it has begun
        read.cancel()
        return known(await read)


async def answer(player, line):
    play, words, how = driver.call_of(player, line)
    if play is None:
        return "none"
    try:
        return driver.good(await play(*words, **how))
    except asyncio.CancelledError:
        return "error cancelled 0"
    except (dataflux.Error, ValueError) as error:
        return driver.bad(error)


async def main():
    endpoint, token = sys.argv[1:]
    async with dataflux.AsyncClient(endpoint=endpoint, emulator=True, tokens_to_emulator=True,
                                    credentials=lambda: token) as client:
        player = Driver(client)
        for line in sys.stdin:  # nothing else is under way
            print(await answer(player, line), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
