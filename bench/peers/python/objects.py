#!/usr/bin/env python3
"""Python clients of `bench/run.py languages`: our package, and those of others.

    objects.py CLIENT --endpoint URL --ca FILE --case NAME --count N --concurrency N

Cases: many16k, many100k (very many objects, `concurrency` in flight), threads16k (the same, by 8
threads that share one client), one16k (one read after the other), tasks16k (`concurrency` tasks of
asyncio, each one read after the other), list (a bucket of `count` names as a table of pyarrow). The
line that is printed is that of bench/macro/measure.hpp. Imports and the first eighth are not
counted.
"""

import argparse
import asyncio
import collections
import itertools
import json
import os
import resource
import sys
import threading
import time

BUCKET = "bench"
NAMES = {"16k": ("small/n01440764/n01440764_10026.JPEG", 16 << 10),
         "100k": ("medium/n01440764/n01440764_10026.JPEG", 100 << 10)}
THREADS = 8


class Client:
    """What a client can do; a case that it has no method for is not measured."""

    def __init__(self, endpoint, ca, concurrency):
        self.endpoint, self.ca, self.concurrency = endpoint, ca, concurrency

    def one(self, name):
        """The number of bytes of one object."""
        raise NotImplementedError

    def many(self, name, count, in_flight):
        """The bytes of so many reads; by threads, where a client has no other way."""
        return by_threads(count, in_flight, lambda share: sum(
            self.one(name) for _ in range(share)))

    def threads(self, name, count):
        return by_threads(count, THREADS, lambda share: self.many(
            name, share, self.concurrency // THREADS))

    async def task(self, name):
        raise NotImplementedError

    async def tasks(self, name, count):
        async def reads(share):
            return sum([await self.task(name) for _ in range(share)])

        return sum(await asyncio.gather(*map(reads, shares(count, self.concurrency))))


def shares(count, parts):
    return [count // parts + (part < count % parts) for part in range(parts)]


def by_threads(count, threads, work):
    done = []
    running = [threading.Thread(target=lambda share=share: done.append(work(share)))
               for share in shares(count, threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return sum(done)


class Dataflux(Client):
    def __init__(self, *given):
        super().__init__(*given)
        import dataflux

        options = {"endpoint": self.endpoint, "emulator": True, "max_concurrency": self.concurrency,
                   "ca_file": self.ca if self.endpoint.startswith("https") else None}
        self.client = dataflux.Client(**options)
        self.asynchronous = dataflux.AsyncClient(**options)

    def one(self, name):
        return len(self.client.get(f"gs://{BUCKET}/{name}"))

    def many(self, name, count, in_flight):
        done = 0
        for batch in self.client.get_many(itertools.repeat(f"gs://{BUCKET}/{name}", count)):
            for item in batch:
                done += len(item.data)
        return done

    async def task(self, name):
        return len(await self.asynchronous.get(f"gs://{BUCKET}/{name}"))

    def list(self):
        import pyarrow

        # The calls in flight are the listing's own limit.
        listing = self.client.list(f"gs://{BUCKET}", parallelism=self.concurrency)
        return pyarrow.table(listing).num_rows


class Obstore(Client):
    def __init__(self, *given):
        super().__init__(*given)
        import obstore
        from obstore.store import GCSStore

        os.environ["SSL_CERT_FILE"] = self.ca
        account = json.dumps({"gcs_base_url": self.endpoint, "disable_oauth": True,
                              "client_email": "", "private_key": "", "private_key_id": ""})
        self.obstore = obstore
        self.store = GCSStore(BUCKET, service_account_key=account,
                              client_options={"allow_http": True})

    def one(self, name):
        return len(self.obstore.get(self.store, name).bytes())

    async def task(self, name):
        return len(await (await self.obstore.get_async(self.store, name)).bytes_async())

    def list(self):
        import pyarrow

        pages = self.obstore.list(self.store, chunk_size=1000, return_arrow=True)
        return pyarrow.Table.from_batches(map(pyarrow.record_batch, pages)).num_rows


class ObstoreTasks(Obstore):
    """The same by tasks."""

    def many(self, name, count, in_flight):
        return asyncio.run(self.tasks(name, count))


class Tensorstore(Client):
    def __init__(self, *given):
        super().__init__(*given)
        os.environ["TENSORSTORE_GCS_HTTP_URL"] = self.endpoint
        os.environ["TENSORSTORE_CA_BUNDLE"] = self.ca
        import tensorstore

        self.store = tensorstore.KvStore.open(
            {"driver": "gcs", "bucket": BUCKET, "context": {
                "gcs_request_concurrency": {"limit": self.concurrency}}}).result()

    def one(self, name):
        return len(self.store.read(name).result().value)

    def many(self, name, count, in_flight):
        done, reads = 0, collections.deque()
        for _ in range(count):
            if len(reads) == in_flight:
                done += len(reads.popleft().result().value)
            reads.append(self.store.read(name))
        return done + sum(len(read.result().value) for read in reads)

    async def task(self, name):
        return len((await self.store.read(name)).value)


class Opendal(Client):
    def __init__(self, *given):
        super().__init__(*given)
        import opendal

        options = {"bucket": BUCKET, "endpoint": self.endpoint, "allow_anonymous": "true",
                   "disable_vm_metadata": "true", "disable_config_load": "true"}
        self.store = opendal.Operator("gcs", **options)
        self.asynchronous = opendal.AsyncOperator("gcs", **options)

    def one(self, name):
        return len(self.store.read(name))

    async def task(self, name):
        return len(await self.asynchronous.read(name))


class Gcsfs(Client):
    def __init__(self, *given):
        super().__init__(*given)
        # Else it asks by gRPC first what kind of bucket this is, which only the service answers.
        os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
        import gcsfs

        options = {"token": "anon", "endpoint_url": self.endpoint, "project": "bench",
                   "skip_instance_cache": True}
        self.files = gcsfs.GCSFileSystem(**options)
        self.asynchronous = gcsfs.GCSFileSystem(asynchronous=True, **options)

    def one(self, name):
        return len(self.files.cat_file(f"{BUCKET}/{name}"))

    def many(self, name, count, in_flight):
        # One path cannot be asked for twice by cat(), so this is what cat() does.
        import fsspec.asyn

        async def all_of_them():
            reads = [self.files._cat_file(f"{BUCKET}/{name}") for _ in range(count)]
            got = await fsspec.asyn._run_coros_in_chunks(reads, batch_size=in_flight)
            return sum(map(len, got))

        return fsspec.asyn.sync(self.files.loop, all_of_them)

    async def task(self, name):
        return len(await self.asynchronous._cat_file(f"{BUCKET}/{name}"))


class GoogleCloudStorage(Client):
    def __init__(self, *given):
        super().__init__(*given)
        import requests
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import storage

        session = requests.Session()
        session.verify = self.ca
        adapter = requests.adapters.HTTPAdapter(pool_connections=self.concurrency,
                                                pool_maxsize=self.concurrency)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        client = storage.Client(project="bench", credentials=AnonymousCredentials(), _http=session,
                                client_options={"api_endpoint": self.endpoint})
        self.bucket = client.bucket(BUCKET)

    def one(self, name):
        return len(self.bucket.blob(name).download_as_bytes())


CLIENTS = {"dataflux": Dataflux, "obstore": Obstore, "obstore-tasks": ObstoreTasks,
           "tensorstore": Tensorstore, "opendal": Opendal, "gcsfs": Gcsfs,
           "google-cloud-storage": GoogleCloudStorage}


async def timed_tasks(client, name, count):
    await client.tasks(name, count // 8)
    before = clocks()
    done = await client.tasks(name, count)
    return before, clocks(), done


def clocks():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.monotonic(), used.ru_utime + used.ru_stime


def timed(work, count):
    """What the clocks were before and after, and what the work gave."""
    work(count // 8)
    before = clocks()
    done = work(count)
    return before, clocks(), done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("client", choices=CLIENTS)
    for name in ("endpoint", "ca", "case"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("count", "concurrency"):
        parser.add_argument(f"--{name}", type=int, required=True)
    given = parser.parse_args()
    client = CLIENTS[given.client](given.endpoint, given.ca, given.concurrency)
    what = given.case.rstrip("0123456789k")
    count, size = given.count, 0
    if what == "list":
        before, after, done = timed(lambda _: client.list(), count)
        wanted = count
    else:
        name, size = NAMES[given.case[len(what):]]
        works = {"many": lambda some: client.many(name, some, client.concurrency),
                 "threads": lambda some: client.threads(name, some),
                 "one": lambda some: sum(client.one(name) for _ in range(some))}
        before, after, done = asyncio.run(timed_tasks(client, name, count)) if what == "tasks" \
            else timed(works[what], count)
        wanted = count * size
    if done != wanted:
        sys.exit(f"{given.client}: {done} of {wanted}")
    print(json.dumps({"requests": count, "bytes": count * size, "items": 0,
                      "wall_s": after[0] - before[0], "cpu_s": after[1] - before[1],
                      "allocations": -1}), flush=True)
    # What clients do at the interpreter's end is not measured, and some abort then.
    os._exit(0)


if __name__ == "__main__":
    main()
