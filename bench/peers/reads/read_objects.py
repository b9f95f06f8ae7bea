#!/usr/bin/env python3
"""Reads an object very many times from Python, by CLIENT, and prints what it cost.

    read_objects.py CLIENT --endpoint http[s]://HOST:PORT --ca FILE --case CASE --count N
                    --concurrency N

CLIENT: dataflux, obstore, obstore-async, tensorstore, opendal, gcsfs, google-cloud-storage. CASE:

    get16k, get100k   many at once, as the client does that best, `concurrency` in flight
    one16k            one after the other, into new bytes
    threads16k        dataflux alone: 8 threads, which share a client, take the items of one stream
    tasks16k          `concurrency` tasks of asyncio, each of which reads one after the other

The line is that of bench/macro/measure.hpp. Every object's length is looked at. A warm-up of an
eighth comes before the timed part, on the same connections; imports are not counted.
"""

import argparse
import asyncio
import json
import os
import resource
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

BUCKET = "bench"
OBJECTS = {"16k": ("small/n01440764/n01440764_10026.JPEG", 16 << 10),
           "100k": ("medium/n01440764/n01440764_10026.JPEG", 100 << 10)}


class Client:
    """many(count), ones(count) and tasks(count) read the object so often."""

    def __init__(self, given, name, size):
        self.given, self.name, self.size = given, name, size

    def check(self, data):
        if len(data) != self.size:
            raise SystemExit(f"bench: {len(data)} bytes of {self.size}")

    def tasks(self, count):
        """With read(), a coroutine that reads it once."""
        left = iter(range(count))

        async def lane():
            for _ in left:
                self.check(await self.read())

        async def all_lanes():
            await asyncio.gather(*(lane() for _ in range(self.given.concurrency)))

        asyncio.run(all_lanes())


class Dataflux(Client):
    def __init__(self, *arguments):
        import dataflux

        super().__init__(*arguments)
        given = self.given
        options = {"endpoint": given.endpoint, "emulator": True,
                   "max_concurrency": given.concurrency,
                   "ca_file": given.ca if given.endpoint.startswith("https") else None}
        self.client = dataflux.Client(**options)
        self.late = dataflux.AsyncClient(**options)
        self.url = f"gs://{BUCKET}/{self.name}"

    def take(self, stream):
        size, done = self.size, 0
        for batch in stream:
            for item in batch:
                if item.data.nbytes != size or not item.verified:
                    raise SystemExit("bench: an item")
            done += len(batch)
        return done

    def many(self, count):
        if self.take(self.client.get_many(repeat(self.url, count))) != count:
            raise SystemExit("bench: items are missing")

    def ones(self, count):
        for _ in range(count):
            self.check(self.client.get(self.url))

    def read(self):
        return self.late.get(self.url)

    def threads(self, count):
        stream, done = self.client.get_many(repeat(self.url, count)), []
        threads = [threading.Thread(target=lambda: done.append(self.take(stream))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if sum(done) != count:
            raise SystemExit("bench: items are missing")


class Obstore(Client):
    def __init__(self, *arguments):
        import obstore

        super().__init__(*arguments)
        self.obstore = obstore
        self.store = obstore.store.GCSStore(
            BUCKET, config={"skip_signature": True, "google_base_url": self.given.endpoint},
            client_options={"allow_http": True})

    def ones(self, count):
        for _ in range(count):
            self.check(self.obstore.get(self.store, self.name).bytes())

    def many(self, count):
        with ThreadPoolExecutor(self.given.concurrency) as pool:
            def work(some):
                self.ones(some)
            lanes = self.given.concurrency
            list(pool.map(work, [count // lanes + (lane < count % lanes) for lane in range(lanes)]))


class ObstoreAsync(Obstore):
    async def read(self):
        found = await self.obstore.get_async(self.store, self.name)
        return await found.bytes_async()

    many = Client.tasks

class Tensorstore(Client):
    def __init__(self, *arguments):
        import tensorstore

        super().__init__(*arguments)
        os.environ["TENSORSTORE_GCS_HTTP_URL"] = self.given.endpoint
        os.environ["TENSORSTORE_CA_BUNDLE"] = self.given.ca
        os.environ["GOOGLE_AUTH_TOKEN_FOR_TESTING"] = "abc"
        concurrency = {"limit": self.given.concurrency}
        self.store = tensorstore.KvStore.open(
            {"driver": "gcs", "bucket": BUCKET},
            context=tensorstore.Context({"gcs_request_concurrency": concurrency})).result()

    def ones(self, count):
        for _ in range(count):
            self.check(self.store.read(self.name).result().value)

    async def read(self):
        return (await self.store.read(self.name)).value

    def many(self, count):
        ahead = []
        for number in range(count):
            ahead.append(self.store.read(self.name))
            if len(ahead) > 2 * self.given.concurrency:
                for each in ahead[:self.given.concurrency]:
                    self.check(each.result().value)
                del ahead[:self.given.concurrency]
        for each in ahead:
            self.check(each.result().value)


class Opendal(Client):
    def __init__(self, *arguments):
        import opendal

        super().__init__(*arguments)
        how = {"bucket": BUCKET, "endpoint": self.given.endpoint, "allow_anonymous": "true",
               "disable_vm_metadata": "true", "disable_config_load": "true"}
        self.plain, self.late = opendal.Operator("gcs", **how), opendal.AsyncOperator("gcs", **how)

    def ones(self, count):
        for _ in range(count):
            self.check(self.plain.read(self.name))

    def read(self):
        return self.late.read(self.name)

    many = Client.tasks


class Gcsfs(Client):
    def __init__(self, *arguments):
        # Else it asks by gRPC first what kind of bucket this is, which only the service answers.
        os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
        import gcsfs

        super().__init__(*arguments)
        self.files = gcsfs.GCSFileSystem(token="anon", endpoint_url=self.given.endpoint)
        self.path = f"{BUCKET}/{self.name}"

    def ones(self, count):
        for _ in range(count):
            self.check(self.files.cat_file(self.path))

    def many(self, count):
        from fsspec.asyn import sync

        left = iter(range(count))

        async def lane():
            for _ in left:
                self.check(await self.files._cat_file(self.path))

        async def all_lanes():
            await asyncio.gather(*(lane() for _ in range(self.given.concurrency)))

        sync(self.files.loop, all_lanes)


class GoogleCloudStorage(Client):
    def __init__(self, *arguments):
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import storage

        super().__init__(*arguments)
        os.environ["STORAGE_EMULATOR_HOST"] = self.given.endpoint
        self.bucket = storage.Client("project", AnonymousCredentials()).bucket(BUCKET)
        from requests.adapters import HTTPAdapter

        self.bucket.client._http.mount(self.given.endpoint.partition("://")[0] + "://",
                                       HTTPAdapter(pool_maxsize=self.given.concurrency))

    def ones(self, count):
        for _ in range(count):
            self.check(self.bucket.blob(self.name).download_as_bytes())

    many = Obstore.many


CLIENTS = {"dataflux": Dataflux, "obstore": Obstore, "obstore-async": ObstoreAsync,
           "tensorstore": Tensorstore, "opendal": Opendal, "gcsfs": Gcsfs,
           "google-cloud-storage": GoogleCloudStorage}


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=CLIENTS)
    for name, kind in (("endpoint", str), ("ca", str), ("case", str), ("count", int),
                       ("concurrency", int)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    given = parser.parse_args()
    # How most of them learn whom to trust.
    os.environ.update(SSL_CERT_FILE=given.ca, REQUESTS_CA_BUNDLE=given.ca)
    how, size = {"get16k": ("many", "16k"), "get100k": ("many", "100k"), "one16k": ("ones", "16k"),
                 "threads16k": ("threads", "16k"), "tasks16k": ("tasks", "16k")}[given.case]
    client = CLIENTS[given.client](given, *OBJECTS[size])
    run = getattr(client, how)
    run(max(given.count // 8, 4 * given.concurrency))
    wall, before = time.monotonic(), cpu()
    run(given.count)
    print(json.dumps({"requests": given.count, "bytes": given.count * client.size, "items": 0,
                      "wall_s": time.monotonic() - wall, "cpu_s": cpu() - before,
                      "allocations": -1,
                      "max_rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}),
          flush=True)
    os._exit(0)  # some clients abort at the interpreter's end, after the work was done


if __name__ == "__main__":
    main()
