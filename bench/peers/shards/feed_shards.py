#!/usr/bin/env python3
"""Feeds a loop by torch's DataLoader with samples of tar shards, by CLIENT, and prints what it cost: a JSON line for
each run.

    feed_shards.py CLIENT RUNS
    feed_shards.py optimize FOLDER JSON      writes litData's own format of the same samples

RUNS is as of dataloader/feed.py, which this stands on. Samples are the field "img" of the tars below t/ of the
bucket bench, or what litData has made of them below lit/. CLIENT:

    full, blocks            dataflux.torch.IterableDataset(shards=), by the index `index`
    webdataset              by its own opener of http, curl
    webdataset-dataflux     by ours, registered for gs://
    litdata                 its StreamingDataset, with a cache that is empty at first
"""

import json
import os
import pathlib
import shutil
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "dataloader"))

import feed  # noqa: E402
import torch  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402


def image(sample, row=None):
    return feed.as_tensor(sample["img"])


def writable(sample):
    return feed.as_tensor(bytearray(sample["img"]))


def dataset_of(client, run):
    if client in ("full", "blocks"):
        from dataflux.torch import IterableDataset

        more = {"window": max(1, run["workers"]) * run["batch"], "block": 8} if client == "blocks" else {}
        return IterableDataset(shards=run["index"], decode=image, batch_size=run["batch"], seed=1, shuffle=client,
                               client=feed.client_of(run), **more)
    if client == "litdata":
        import litdata

        return litdata.StreamingDataset(f"gs://{feed.BUCKET}/lit", shuffle=True, transform=writable,
                                        cache_dir=run["cache"])
    import webdataset

    scheme = "gs://" if client == "webdataset-dataflux" else run["endpoint"] + "/"
    if client == "webdataset-dataflux":
        import dataflux.webdataset

        dataflux.webdataset.register(client=feed.client_of(run))
    urls = [f"{scheme}{feed.BUCKET}/{name}" for name in run["shards"]]
    return webdataset.WebDataset(urls, shardshuffle=len(urls), seed=1).shuffle(1000, seed=1).map(writable)


def lead_litdata(endpoint):
    """Its store of obstore knows no emulator: the same one, led there without credentials."""
    from litdata.streaming import downloader
    from obstore.store import GCSStore

    def store_of(self, bucket):
        return downloader._cached_obstore_store(self, lambda: GCSStore(
            bucket, config={"skip_signature": True, "google_base_url": endpoint}, client_options={"allow_http": True}))

    downloader.GCPDownloader._get_store = store_of


def loader_of(client, run):
    if client == "litdata":
        lead_litdata(run["endpoint"])
        shutil.rmtree(run["cache"], ignore_errors=True)
        os.makedirs(run["cache"])
        import litdata

        loader = litdata.StreamingDataLoader(dataset_of(client, run), batch_size=run["batch"],
                                             num_workers=run["workers"])
        return loader
    return DataLoader(dataset_of(client, run), batch_size=run["batch"], num_workers=run["workers"])


def rate(client, run):
    """An epoch: time and CPU from its begin on, with workers that begin then, for they are a part of what an epoch
    costs here; and with `epochs` the memory of all processes at the end of each."""
    loader, line = loader_of(client, run), {"memory": []}
    base = feed.memory()
    began, before, done = time.monotonic(), feed.cpu(), 0
    for epoch in range(run.get("epochs", 1)):
        if hasattr(loader.dataset, "set_epoch"):
            loader.dataset.set_epoch(epoch)
        for number, batch in enumerate(loader):
            done += len(feed.look_at(batch, run))
            if number % 8 == 0 and "epochs" in run:
                last = feed.memory() - base
        if epoch == 0:
            line.update(wall_s=time.monotonic() - began, cpu_s=feed.cpu() - before, samples=done)
        if "epochs" in run:
            line["memory"].append(last)
    if line["samples"] < 0.9 * run["samples"]:  # some leave out what does not go around
        raise SystemExit(f"bench: {line['samples']} samples of {run['samples']}")
    return line


def optimize(folder, told):
    import litdata

    litdata.optimize(_Content(told), list(range(told["samples"])), str(folder), chunk_bytes="16MB", num_workers=1)


class _Content:
    def __init__(self, told):
        self.size, self.contents = told["size"], told["contents"]

    def __call__(self, number):
        mark = (number % self.contents).to_bytes(8, "little")
        return {"img": mark + bytes(self.size - 16) + mark}


def main():
    if sys.argv[1] == "optimize":
        return optimize(pathlib.Path(sys.argv[2]), json.loads(sys.argv[3]))
    client, runs = sys.argv[1], json.loads(sys.argv[2])
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for run in runs:
        os.environ.update(STORAGE_EMULATOR_HOST=run["endpoint"], GOOGLE_CLOUD_PROJECT=feed.PROJECT)
        print(json.dumps(rate(client, run)), flush=True)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
