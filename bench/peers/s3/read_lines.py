#!/usr/bin/env python3
"""Reads the lines of text shards through torch's DataLoader and prints what it cost: read_lines.py CLIENT RUN

RUN is JSON: `url` of the shards, `batch`, `workers`, and how many `lines` there are, with the `total` of their CRC-32.
The server of S3 is that of the environment. Shards are shuffled and shared by the workers. CLIENT:

    dataflux    dataflux.torch.list_files and load_files
    s3fs        its files, line by line, a shard after the other, as TorchData's S3FileLoader feeds readlines()
"""

import io
import json
import os
import pathlib
import random
import sys
import time
import warnings
import zlib

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "dataloader"))
import feed  # noqa: E402


class ByS3fs(IterableDataset):
    def __init__(self, url):
        self.url = url

    def __iter__(self):
        import s3fs

        files = s3fs.S3FileSystem(endpoint_url=os.environ["AWS_ENDPOINT_URL_S3"], skip_instance_cache=True)
        shards = sorted(files.ls(self.url))
        random.Random(1).shuffle(shards)
        worker = get_worker_info()
        for shard in shards if worker is None else shards[worker.id::worker.num_workers]:
            # Its own readline() takes a block of 50 MiB for each line.
            with io.BufferedReader(files.open(shard, "rb"), 1 << 20) as file:
                for line in file:
                    yield line.rstrip(b"\r\n")


def lines_of(client, url):
    if client == "s3fs":
        import s3fs  # noqa: F401  # not to be paid for while the clock runs

        return ByS3fs(url)
    from dataflux.torch import list_files, load_files

    return load_files(list_files([url]).shuffle()).readlines(return_path=False)


def main():
    client, run = sys.argv[1], json.loads(sys.argv[2])
    warnings.filterwarnings("ignore", "This DataLoader will create")
    torch.set_num_threads(1)
    loader = DataLoader(lines_of(client, run["url"]), batch_size=run["batch"], num_workers=run["workers"],
                        collate_fn=list)
    began, before, lines, total, batches = time.monotonic(), feed.cpu(), 0, 0, 0
    for batch in loader:
        lines += len(batch)
        total += sum(map(zlib.crc32, batch))
        batches += 1
    took, used = time.monotonic() - began, feed.cpu() - before
    if (lines, total) != (run["lines"], run["total"]):
        raise SystemExit(f"bench: {lines} lines of {run['lines']}, or other bytes")
    print(json.dumps({"wall_s": took, "cpu_s": used, "batches": batches}), flush=True)
    os._exit(0)  # some clients abort at the interpreter's end, after the work was done


if __name__ == "__main__":
    main()
