#!/usr/bin/env python3
"""Feeds a loop by torch's DataLoader, or by our loader, by CLIENT, and prints what it cost: a JSON line for each run.

    feed.py CLIENT RUNS

RUNS is JSON, a list of objects: `what`, `endpoint`, `size`, `samples`, `batch`, `workers`, and what the
functions below ask for besides. Objects are "0", "1", ... of the bucket bench; the first and the last
8 bytes of each are the number of its content, whose CRC-32 is in `known`. CLIENT:

    batches                 dataflux.torch's own loader, without a DataLoader
    iterable, map           dataflux.torch's datasets
    get                     dataflux.Client.get, one object after the other
    gcs-torch-dataflux      its map dataset without composing; with "-compose" with it; with "-iterable"
                            its other dataset
    gcsfs, obstore          a batch at once, by 64 requests in flight at most
    nothing                 content that is there already: what torch costs by itself

All make a tensor of uint8 of the bytes, and torch's own function makes a batch of those. Every batch is
looked at: its length, and both numbers. Of the first ones of each worker the CRC-32 is compared, before
the clock runs.
"""

import functools
import json
import multiprocessing
import os
import pathlib
import resource
import statistics
import sys
import time
import warnings
import zlib

import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data import IterableDataset as TorchIterable

BUCKET, PROJECT = "bench", "project"
IN_FLIGHT = 64
CALM, CALM_BYTES, CALM_LIMIT = 8, 1 << 20, 60  # turns in which a worker grows by less; at most so many
TICKS = os.sysconf("SC_CLK_TCK")
MEMORY_BATCHES, MEMORY_PAUSE_S, MEMORY_LIMIT_S = 8, 0.1, 3


def as_tensor(data):
    return torch.frombuffer(data, dtype=torch.uint8)


# ---- what each client's dataset is ----


def client_of(run):
    import dataflux

    options = {"memory_cap": run["memory_cap"]} if "memory_cap" in run else {}
    return dataflux.Client(endpoint=run["endpoint"], emulator=True, **options)


def ours(run, kind):
    from dataflux.torch import IterableDataset, MapDataset, tensor

    where = {"manifest": run["manifest"]} if "manifest" in run else {"url": f"gs://{BUCKET}/"}
    if kind == "map":
        return MapDataset(**where, decode=tensor, client=client_of(run))
    return IterableDataset(**where, decode=tensor, batch_size=run["batch"], seed=1,
                           client=client_of(run))


class Getting(Dataset):
    """One object after the other."""

    def __init__(self, run):
        self.client = client_of(run)
        self.size = run["objects"]

    def __len__(self):
        return self.size

    def __getitem__(self, number):
        return as_tensor(self.client.get(f"gs://{BUCKET}/{number}"))


class Gcsfs(Getting):
    def __init__(self, run):
        self.size, self.endpoint, self.files = run["objects"], run["endpoint"], None

    def __getitems__(self, numbers):
        if self.files is None:  # in the worker: its loop's thread would not survive a fork
            import gcsfs

            self.files = gcsfs.GCSFileSystem(token="anon", endpoint_url=self.endpoint,
                                             batch_size=IN_FLIGHT, skip_instance_cache=True)
        found = self.files.cat([f"{BUCKET}/{number}" for number in numbers])
        return [as_tensor(found[f"{BUCKET}/{number}"]) for number in numbers]


class Obstore(Getting):
    def __init__(self, run):
        self.size, self.endpoint, self.store = run["objects"], run["endpoint"], None

    def __getitems__(self, numbers):
        import asyncio

        import obstore

        if self.store is None:
            self.store = obstore.store.GCSStore(
                BUCKET, config={"skip_signature": True, "google_base_url": self.endpoint},
                client_options={"allow_http": True})

        async def one(number):
            found = await obstore.get_async(self.store, str(number))
            return as_tensor(await found.bytes_async())

        async def all_of_them():
            return await asyncio.gather(*map(one, numbers))

        return asyncio.run(all_of_them())


class Nothing(Getting):
    def __init__(self, run):
        self.size, bytes_of = run["objects"], run["size"]
        self.content = [torch.zeros(bytes_of, dtype=torch.uint8) for _ in run["known"]]
        for number, each in enumerate(self.content):
            each[0] = each[-8] = number

    def __getitem__(self, number):
        return self.content[number % len(self.content)]


def gcs_torch_dataflux(run, client):
    from dataflux_pytorch import dataflux_iterable_dataset, dataflux_mapstyle_dataset

    iterable = "-iterable" in client
    module = dataflux_iterable_dataset if iterable else dataflux_mapstyle_dataset
    kind = module.DataFluxIterableDataset if iterable else module.DataFluxMapStyleDataset
    config = module.Config(sort_listing_results=True, disable_compose="-compose" not in client)
    return kind(project_name=PROJECT, bucket_name=BUCKET, config=config, data_format_fn=as_tensor)


DATASETS = {"get": Getting, "gcsfs": Gcsfs, "obstore": Obstore, "nothing": Nothing,
            **{name: functools.partial(ours, kind=name) for name in ("batches", "iterable", "map")},
            **{name: functools.partial(gcs_torch_dataflux, client=name) for name in (
                "gcs-torch-dataflux", "gcs-torch-dataflux-compose", "gcs-torch-dataflux-iterable",
                "gcs-torch-dataflux-iterable-compose")}}


def dataset_of(client, run):
    return DATASETS[client](run)


def loader_of(client, run):
    dataset, order = dataset_of(client, run), None
    if client == "batches":
        loader = dataset.batches()
        loader.gate = multiprocessing.Barrier(1)
        return loader
    if not isinstance(dataset, TorchIterable):
        order = torch.randperm(run["objects"],
                               generator=torch.Generator().manual_seed(1))[:run["samples"]].tolist()
    gate = multiprocessing.Barrier(run["workers"] + 1)
    loader = DataLoader(dataset, batch_size=run["batch"], num_workers=run["workers"], sampler=order,
                        worker_init_fn=lambda worker: gate.wait())
    loader.gate = gate
    return loader


def begin(loader):
    """A pass, whose workers are there, and have read nothing yet."""
    batches = iter(loader)
    loader.gate.wait()
    return batches


# ---- what is looked at ----


def tree():
    """The pids of this process and of all below it."""
    found = [os.getpid()]
    for pid in found:
        for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                found += map(int, task.read_text().split())
            except OSError:
                pass  # it has ended
    return found


def cpu():
    """CPU seconds of all processes, those that have ended among them."""
    own, ended, ticks = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN), 0
    for pid in tree()[1:]:
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))  # of itself, and of its children that have ended
    return own + ended.ru_utime + ended.ru_stime + ticks / TICKS


def memory():
    """Bytes of all processes, what they share counted once."""
    total = 0
    for pid in tree():
        try:
            lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total << 10


def private_memory(pid, without):
    """Bytes that a process has alone, but for pages of a file."""
    total, counted = 0, True
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        first, _, rest = line.partition(" ")
        if not first.endswith(":"):  # a mapping begins
            counted = not line.endswith(without)
        elif counted and first in ("Private_Clean:", "Private_Dirty:", "Private_Hugetlb:"):
            total += int(rest.split()[0])
    return total << 10


def look_at(batch, run):
    """Gives the numbers of its contents."""
    if batch.dtype != torch.uint8 or batch.shape[1:] != (run["size"],):
        raise SystemExit(f"bench: a batch of {batch.dtype}, {tuple(batch.shape)}")
    first, last = batch[:, :8].tolist(), batch[:, -8:].tolist()
    if first != last:
        raise SystemExit("bench: samples that are not whole")
    return [int.from_bytes(bytes(each), "little") for each in first]


def warm_up(loader, run):
    for done, batch in enumerate(begin(loader), 1):
        for sample, number in zip(batch, look_at(batch, run)):
            if zlib.crc32(memoryview(sample.numpy())) != run["known"][number]:
                raise SystemExit("bench: other bytes than the object's")
        if done >= max(1, run["workers"]):
            break


# ---- the runs ----


def rate(client, run):
    """Samples until `samples` have come, from the moment on when the workers are there; then, with
    `look_at_memory`, of a loop that is slower than the reads, how much memory all processes have more
    than before."""
    loader = loader_of(client, run)
    if client != "nothing":
        warm_up(loader, run)
    base = memory()
    batches = begin(loader)
    began, before, done = time.monotonic(), cpu(), 0
    for batch in batches:
        done += len(look_at(batch, run))
        if done >= run["samples"]:
            break
    line = {"wall_s": time.monotonic() - began, "cpu_s": cpu() - before, "samples": done,
            "bytes": done * run["size"]}
    if done < run["samples"]:
        raise SystemExit(f"bench: {done} samples of {run['samples']}")
    del batches
    if run.get("look_at_memory"):
        most, began = 0, time.monotonic()
        for number, _ in enumerate(begin(loader)):
            time.sleep(MEMORY_PAUSE_S)
            most = max(most, memory())
            if number == MEMORY_BATCHES or time.monotonic() - began > MEMORY_LIMIT_S:
                break
        line["memory"] = most - base
    return line


def train(client, run):
    """Steps that take `step_s` each. It sleeps, as a host does whose accelerator computes: that leaves
    its core to the workers. The clock runs from the first batch on."""
    loader = loader_of(client, run)
    batches = begin(loader)
    asked = time.monotonic()
    look_at(next(batches), run)
    began = time.monotonic()
    waited, steps = 0.0, 1
    time.sleep(run["step_s"])
    while steps < run["samples"] // run["batch"]:
        before = time.monotonic()
        look_at(next(batches), run)
        waited += time.monotonic() - before
        steps += 1
        time.sleep(run["step_s"])
    return {"waited": waited / (time.monotonic() - began), "first_s": began - asked, "steps": steps}


def first(client, run):
    """From a manifest to the first batch, in a process that has imported what it needs; then the private
    memory of a worker, once it has read ahead as far as it may, and grows no more."""
    import dataflux.torch  # noqa: F401

    began = time.monotonic()
    batches = begin(loader_of(client, run))
    batch = next(batches)
    took = time.monotonic() - began
    look_at(batch, run)
    if not run["workers"]:
        return {"first_s": took}
    most, seen = 0, []  # since it grew last
    for _ in range(CALM_LIMIT):
        look_at(next(batches), run)
        time.sleep(MEMORY_PAUSE_S)
        workers = multiprocessing.active_children()
        now = sum(private_memory(child.pid, run["manifest"]) for child in workers) / len(workers)
        seen = [now] if now >= most + CALM_BYTES else [*seen, now]
        most = max(most, now)
        if len(seen) > CALM:
            break
    return {"first_s": took, "private": statistics.median(seen)}


def flat(client, run):
    """The memory at the end of each of `epochs`."""
    loader, line = loader_of(client, run), {"memory": []}
    warm_up(loader, run)
    base = memory()
    for epoch in range(run["epochs"]):
        loader.dataset.set_epoch(epoch)
        for batch in begin(loader):
            look_at(batch, run)
        line["memory"].append(memory() - base)
    return line


def main():
    client, runs = sys.argv[1], json.loads(sys.argv[2])
    for expected in ("The given buffer is not writable", "This DataLoader will create"):
        warnings.filterwarnings("ignore", expected)
    torch.set_num_threads(1)
    for run in runs:
        os.environ.update(STORAGE_EMULATOR_HOST=run["endpoint"], GOOGLE_CLOUD_PROJECT=PROJECT,
                          GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT="false")
        print(json.dumps({"rate": rate, "train": train, "first": first, "flat": flat}[run["what"]](client, run)),
              flush=True)
    os._exit(0)  # some clients abort at the interpreter's end, after the work was done


if __name__ == "__main__":
    main()
