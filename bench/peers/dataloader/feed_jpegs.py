#!/usr/bin/env python3
"""Feeds a loop with JPEGs, decoded by PIL to 224x224, by CLIENT, and prints what it cost: a JSON line.

    feed_jpegs.py CLIENT RUN
    feed_jpegs.py make FOLDER JSON      writes JPEGs of about 100 KiB: "0", "1", ... by `samples` and `contents`

RUN is as of feed.py, which this stands on; `known` are the pixels in the middle of all contents. CLIENT:

    batches      dataflux.torch's own loader with two decode threads
    iterable     the same dataset in torch's DataLoader with two workers
    spdl         SPDL's pipeline with two threads, whose reads are obstore's, 64 at most
    nothing      two threads that decode what is there already: what decoding costs by itself
"""

import json
import multiprocessing
import os
import pathlib
import sys
import threading
import time
import warnings
from io import BytesIO

import feed
import torch
from PIL import Image
from torch.utils.data import DataLoader

SIDE, MIDDLE = 224, 112
WIDTH, HEIGHT, COARSE, LEAST = 500, 375, 24, 100 << 10
THREADS = 2


def decode(data, row=None):
    import numpy

    image = Image.open(BytesIO(data)).convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    return torch.from_numpy(numpy.array(image))


def middle(image):
    return image[..., MIDDLE, MIDDLE, :].tolist()


def make(folder, told):
    """Prints the pixels in the middle of all contents."""
    known = []
    for number in range(told["contents"]):
        torch.manual_seed(number)
        coarse = torch.nn.functional.interpolate(torch.rand(1, 3, HEIGHT // COARSE, WIDTH // COARSE),
                                                 size=(HEIGHT, WIDTH), mode="bicubic")[0]
        pixels = ((coarse * 0.7 + torch.rand(3, HEIGHT, WIDTH) * 0.3).clamp(0, 1) * 255).to(torch.uint8)
        image = Image.fromarray(pixels.permute(1, 2, 0).contiguous().numpy())
        for quality in range(60, 100):
            out = BytesIO()
            image.save(out, "JPEG", quality=quality)
            if out.tell() >= LEAST:
                break
        (folder / str(number)).write_bytes(out.getvalue())
        known.append(middle(decode(out.getvalue())))
    for number in range(told["contents"], told["samples"]):
        (folder / str(number)).hardlink_to(folder / str(number % told["contents"]))
    print(json.dumps(known))


# ---- the clients: batches of an epoch ----


def dataset_of(run):
    from dataflux.torch import IterableDataset

    return IterableDataset(f"gs://{feed.BUCKET}/", decode=decode, batch_size=run["batch"], seed=1,
                           client=feed.client_of(run))


def by_batches(run):
    return dataset_of(run).batches(decode_threads=THREADS)


def by_workers(run):
    """Of workers that are there, and have read nothing yet."""
    gate = multiprocessing.Barrier(THREADS + 1)
    batches = iter(DataLoader(dataset_of(run), batch_size=run["batch"], num_workers=THREADS,
                              worker_init_fn=lambda worker: gate.wait()))
    gate.wait()
    return batches


def by_spdl(run):
    from obstore.store import GCSStore
    from spdl.pipeline import PipelineBuilder

    store = GCSStore(feed.BUCKET, config={"skip_signature": True, "google_base_url": run["endpoint"]},
                     client_options={"allow_http": True})

    async def read(name):
        return await (await store.get_async(name)).bytes_async()

    order = torch.randperm(run["objects"], generator=torch.Generator().manual_seed(1)).tolist()
    pipeline = (PipelineBuilder().add_source(map(str, order)).pipe(read, concurrency=feed.IN_FLIGHT)
                .pipe(decode, concurrency=THREADS).aggregate(run["batch"]).pipe(torch.stack).add_sink(3)
                .build(num_threads=THREADS))
    with pipeline.auto_stop():
        yield from pipeline


def by_nothing(run):
    contents = [path.read_bytes() for path in sorted(pathlib.Path(run["contents"]).iterdir())]

    numbers, done = iter(range(run["objects"])), []

    def some():
        for number in numbers:
            decode(contents[number % len(contents)])
            done.append(number)

    threads = [threading.Thread(target=some) for _ in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    yield done


def main():
    if sys.argv[1] == "make":
        return make(pathlib.Path(sys.argv[2]), json.loads(sys.argv[3]))
    client, run = sys.argv[1], json.loads(sys.argv[2])
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    batches = {"batches": by_batches, "iterable": by_workers, "spdl": by_spdl, "nothing": by_nothing}[client](run)
    known, done = run["known"], 0
    began, before = time.monotonic(), feed.cpu()
    for batch in batches:
        if client == "nothing":
            done += len(batch)
            continue
        if batch.shape[1:] != (SIDE, SIDE, 3) or not all(each in known for each in middle(batch)):
            raise SystemExit(f"bench: other images than the bucket's: {tuple(batch.shape)}")
        done += len(batch)
    line = {"wall_s": time.monotonic() - began, "cpu_s": feed.cpu() - before, "samples": done}
    if done != run["objects"]:
        raise SystemExit(f"bench: {done} samples of {run['objects']}")
    print(json.dumps(line), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
