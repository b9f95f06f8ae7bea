"""05: many calls at once on an event loop; cancelling a task cancels its call.

    05_async.py gs://BUCKET/PREFIX
"""

import asyncio
import sys

import dataflux


async def main(url: str) -> None:
    async with dataflux.AsyncClient() as client:
        listing = await client.list(url)
        found = await asyncio.gather(*(client.get(row) for row in listing))
        for row, data in zip(listing, found):
            print(f"{row.name}: {len(data)} bytes")


asyncio.run(main(sys.argv[1]))
