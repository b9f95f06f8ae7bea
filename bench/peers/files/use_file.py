#!/usr/bin/env python3
"""Uses objects as Python's files, by CLIENT, and prints what it cost.

    use_file.py CLIENT ACTION ENDPOINT BUCKET CONTENT

CLIENT: dataflux, gcsfs, google-cloud-storage, each with its defaults; or nothing, a file that
passes over whatever is long, which tells what torch costs by itself. CONTENT is a file that has what
the object "model.pt" holds, or is to hold as "saved.pt". ACTION:

    load, save      by torch, the model of bench/traces/torch_model.py
    read, write     as torch did once: "OFFSET LENGTH" a line on standard input
    each            objects by their names on standard input: opened, read whole and closed, one
                    after the other
    make            no client: writes CONTENT by torch.save

The line is that of bench/macro/measure.hpp. What was read is compared after the clock has stopped.
Imports are not counted. All is done once before the clock runs, as in a program that saves again and
again; of `each` an eighth.
"""

import io
import json
import mmap
import os
import pathlib
import resource
import sys
import time

LONG = 128 << 10


class Dataflux:
    def __init__(self, endpoint, bucket):
        import dataflux

        self.client = dataflux.Client(endpoint=endpoint, emulator=True)
        self.bucket = bucket

    def open(self, name, mode):
        return self.client.open(f"gs://{self.bucket}/{name}", mode)


class Gcsfs:
    def __init__(self, endpoint, bucket):
        # Else it asks by gRPC first what kind of bucket this is, which only the service answers.
        os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
        import gcsfs

        self.files = gcsfs.GCSFileSystem(token="anon", endpoint_url=endpoint)
        self.bucket = bucket

    def open(self, name, mode):
        return self.files.open(f"{self.bucket}/{name}", mode)


class GoogleCloudStorage:
    def __init__(self, endpoint, bucket):
        from google.auth.credentials import AnonymousCredentials
        from google.cloud import storage

        os.environ["STORAGE_EMULATOR_HOST"] = endpoint
        self.bucket = storage.Client("project", AnonymousCredentials()).bucket(bucket)

    def open(self, name, mode):
        # torch.save flushes, which this file cannot do and is to pass over.
        more = {"ignore_flush": True} if mode == "wb" else {}
        return self.bucket.blob(name).open(mode, **more)


class Passing(io.RawIOBase):
    """A file of the content's bytes, but for long reads, which leave their memory as it is, and for
    what is written, which is lost."""

    def __init__(self, path, mode):
        super().__init__()
        self.file = open(path, "rb") if mode == "rb" else None
        self.size = os.path.getsize(path)
        self.at = 0

    def readable(self):
        return self.file is not None

    def writable(self):
        return self.file is None

    def seekable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=io.SEEK_SET):
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def readinto(self, memory):
        size = min(len(memory), self.size - self.at)
        if size < LONG:
            self.file.seek(self.at)
            size = self.file.readinto(memory)
        self.at += size
        return size

    def write(self, data):
        size = len(data)
        self.at += size
        return size

    def close(self):
        if self.file is not None:
            self.file.close()
        super().close()


class Nothing:
    def __init__(self, content):
        self.content = content

    def open(self, name, mode):
        return Passing(self.content, mode)


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Clock:
    def __init__(self):
        self.wall, self.cpu = time.monotonic(), cpu()

    def stop(self, requests, size):
        return {"requests": requests, "bytes": size, "items": 0,
                "wall_s": time.monotonic() - self.wall, "cpu_s": cpu() - self.cpu, "allocations": -1,
                "max_rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def model():
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "traces"))
    import torch_model

    return torch_model


def make(content):
    import torch

    with open(content, "wb") as file:
        torch.save(model().model(), file)


def timed(work, requests, size):
    """The line of doing it, which was done before, and what it gave."""
    work()
    clock = Clock()
    given = work()
    return clock.stop(requests, size), given


def load(client, content):
    import torch

    of = model()

    def work():
        with client.open("model.pt", "rb") as file:
            return torch.load(file, weights_only=True)

    line, loaded = timed(work, 1, os.path.getsize(content))
    if not isinstance(client, Nothing) and not of.is_model(loaded):
        raise SystemExit("bench: torch.load gave another model")
    return line


def save(client, content):
    import torch

    state = model().model()

    def work():
        with client.open("saved.pt", "wb") as file:
            torch.save(state, file)

    return timed(work, 1, os.path.getsize(content))[0]


def trace():
    return [tuple(map(int, line.split())) for line in sys.stdin]


def read(client, content):
    reads, size = trace(), os.path.getsize(content)

    def work():
        view = memoryview(mmap.mmap(-1, size))  # not touched before
        with client.open("model.pt", "rb") as file:
            for offset, length in reads:
                file.seek(offset)
                if file.readinto(view[offset:offset + length]) != length:
                    raise SystemExit("bench: a read was short")
        return view

    line, view = timed(work, len(reads), sum(length for _, length in reads))
    with open(content, "rb") as wanted:
        for offset, length in reads:
            wanted.seek(offset)
            if wanted.read(length) != view[offset:offset + length]:
                raise SystemExit("bench: other bytes than the file's")
    return line


def write(client, content):
    writes = trace()
    with open(content, "rb") as file:
        view = memoryview(file.read())

    def work():
        with client.open("saved.pt", "wb") as file:
            for offset, length in writes:
                if file.write(view[offset:offset + length]) != length:
                    raise SystemExit("bench: a write was short")

    return timed(work, len(writes), len(view))[0]


def each(client, content):
    names = sys.stdin.read().splitlines()
    folder = pathlib.Path(content)

    def read_all(some):
        total = 0
        for name in some:
            with client.open(name, "rb") as file:
                total += len(file.read())
        return total

    read_all(names[:len(names) // 8])
    clock = Clock()
    size = read_all(names)
    line = clock.stop(len(names), size)
    for name in names[::100]:
        with client.open(name, "rb") as file:
            if file.read() != (folder / name).read_bytes():
                raise SystemExit(f"bench: other bytes than those of {name}")
    return line


CLIENTS = {"dataflux": Dataflux, "gcsfs": Gcsfs, "google-cloud-storage": GoogleCloudStorage}
ACTIONS = {"load": load, "save": save, "read": read, "write": write, "each": each}


def main():
    name, action, endpoint, bucket, content = sys.argv[1:]
    if action == "make":
        make(content)
        return
    client = Nothing(content) if name == "nothing" else CLIENTS[name](endpoint, bucket)
    print(json.dumps(ACTIONS[action](client, content)), flush=True)
    os._exit(0)  # some clients abort at the interpreter's end, after the work was done


if __name__ == "__main__":
    main()
