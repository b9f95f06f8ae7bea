#!/usr/bin/env python3
"""The main job through Python: list a bucket, read every object with its bytes checked, write a
checkpoint while it is being made, and read it back by many ranges at once. Each step has a bar.

    demo.py [--s3] [FOLDER | gs://BUCKET/PREFIX | s3://BUCKET/PREFIX]

With FOLDER (default: /usr/include) an emulator serves the files of it, and each object is compared
with its file; with --s3 an emulator of S3. In a bucket of yours it writes one object, which it removes. Credentials are the
usual ones. ./dev demo --python runs it, and ./dev demo --s3 with --s3.
"""

import os
import sys
import time
import uuid
from contextlib import ExitStack

import dataflux

MIB = 1 << 20
PIECE, PIECES = 4 * MIB, 64


def row(step: str, objects: int, size: int, seconds: float) -> None:
    print(f"  {step:20} {objects:10} {size / MIB:12.1f} {seconds:9.2f} {size / MIB / seconds:11.1f}")


def list_all(client: dataflux.Client, url: str) -> dataflux.Listing:
    begun = time.perf_counter()
    listing = client.list(url, progress=True)
    row("list", len(listing), listing.total_bytes, time.perf_counter() - begun)
    return listing


def read_all(client: dataflux.Client, listing: dataflux.Listing, folder: str | None) -> None:
    """Every object's bytes are compared with its checksum on the way, and with its file, if any."""
    begun, size = time.perf_counter(), 0
    for batch in client.get_many(listing, progress=True):
        for item in batch:
            size += len(item.data)
            if folder is not None:
                with open(os.path.join(folder, listing[item.index].name), "rb") as file:
                    if memoryview(file.read()) != item.data:
                        sys.exit(f"demo: {listing[item.index].url} is not what its file is")
    row("read all", len(listing), size, time.perf_counter() - begun)


def checkpoint(client: dataflux.Client, url: str) -> None:
    """Writes an object while it is being made, and reads it back in 32 ranges."""
    piece = os.urandom(PIECE)
    begun = time.perf_counter()
    with client.open(url, "wb") as file:
        for _ in range(PIECES):
            file.write(piece)
    row("write checkpoint", 1, PIECE * PIECES, time.perf_counter() - begun)
    begun = time.perf_counter()
    step = PIECE * PIECES // 32
    parts = client.get_ranges(url, [(i * step, step) for i in range(32)])
    row("read checkpoint", 1, sum(map(len, parts)), time.perf_counter() - begun)
    if b"".join(parts) != piece * PIECES:
        sys.exit("demo: the checkpoint came back changed")
    client.delete(url)


def main(*arguments: str) -> None:
    in_s3 = "--s3" in arguments
    place = next((each for each in arguments if each != "--s3"), "/usr/include")
    with ExitStack() as stack:
        if place.startswith(("gs://", "s3://")):
            folder, url = None, place.rstrip("/") + "/"
            client = stack.enter_context(dataflux.Client(service="s3" if place.startswith("s3://") else "gcs"))
        else:
            folder, url = place, "s3://demo/" if in_s3 else "gs://demo/"
            service = stack.enter_context(dataflux.emulator("demo", seed=place, service="s3" if in_s3 else "gcs"))
            client = stack.enter_context(service.client())
        print(f"  {url:20} {'objects':>10} {'MiB':>12} {'s':>9} {'MiB/s':>11}")
        listing = list_all(client, url)
        read_all(client, listing, folder)
        checkpoint(client, f"{url}dataflux-demo-{uuid.uuid4()}")
        done = client.metrics()["totals"]
    print(f"  all of it compared; {done['requests_a'] + done['requests_b']} requests, "
          f"{done['retries']} repeated")


if __name__ == "__main__":
    main(*sys.argv[1:3])
