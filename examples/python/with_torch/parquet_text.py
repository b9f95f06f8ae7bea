"""Trains on text in parquet files. Row groups are what is shared: over ranks and their workers, in an
order of their own in each epoch, and no process reads more of a file than its row groups.

    python examples/python/with_torch/parquet_text.py [gs://BUCKET/PREFIX] [--workers 2]
    torchrun --nproc-per-node 4 examples/python/with_torch/parquet_text.py gs://BUCKET/PREFIX

It needs PyTorch and pyarrow. Without a bucket it writes files of its own to the emulator.
"""

import argparse
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pyarrow
import pyarrow.parquet as parquet
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

import dataflux

BATCH, EPOCHS, AHEAD = 16, 2, 3  # AHEAD: row groups that a process reads ahead of its samples


class RowGroups(IterableDataset):
    """The texts of all parquet files below a prefix.

    client: each process makes one of its options; so it is carried to workers, whatever starts them.
    """

    def __init__(self, client, url, column="text", seed=0, rank=0, world_size=1):
        self.client, self.column, self.seed, self.epoch = client, column, seed, 0
        self.rank, self.world_size = rank, world_size
        files = client.list(url, suffix=".parquet")
        with ThreadPoolExecutor(16) as pool:  # the end of a file says where its row groups are
            self.footers = dict(zip(files, pool.map(lambda file: self.opened(file).metadata, files)))
        self.groups = [(file, number, footer.row_group(number).num_rows)
                       for file, footer in self.footers.items() for number in range(footer.num_row_groups)]

    def opened(self, file, footer=None):
        # A Row names the generation that was listed: a file that is replaced is an error, not a mixture.
        return parquet.ParquetFile(self.client.open(file, "rb"), metadata=footer, pre_buffer=True)

    def share(self, rank, worker, workers):
        """Numbers of the row groups of one worker of a rank, in their order in this epoch."""
        order = dataflux.Sampler(len(self.groups), seed=self.seed, epoch=self.epoch, rank=rank,
                                 world_size=self.world_size)
        return order[worker::workers]

    def steps(self, batch, workers):
        """Batches of an epoch that every rank has: all know all row groups, so that nobody has to ask."""
        workers = max(1, workers)
        return min(sum(sum(self.groups[number][2] for number in self.share(rank, worker, workers)) // batch
                       for worker in range(workers)) for rank in range(self.world_size))

    def read(self, number):
        file, group, _ = self.groups[number]
        return self.opened(file, self.footers[file]).read_row_group(group, columns=[self.column])[0]

    def __iter__(self):
        info = get_worker_info()
        numbers = iter(self.share(self.rank, info.id if info else 0, info.num_workers if info else 1))
        with ThreadPoolExecutor(AHEAD) as pool:
            ahead = deque((number, pool.submit(self.read, number)) for number in islice(numbers, AHEAD))
            while ahead:
                number, texts = ahead.popleft()
                texts = texts.result()
                ahead.extend((number, pool.submit(self.read, number)) for number in islice(numbers, 1))
                for row in dataflux.Sampler(len(texts), seed=self.seed + number, epoch=self.epoch):
                    yield texts[row].as_py()


def letters(texts):
    """A batch of texts as letters, and the letter behind each."""
    pieces = [torch.tensor(list(text.encode())) for text in texts]
    return torch.cat([piece[:-1] for piece in pieces]), torch.cat([piece[1:] for piece in pieces])


def train(client, url, workers):
    dataset = RowGroups(client, url, rank=int(os.environ.get("RANK", 0)),
                        world_size=int(os.environ.get("WORLD_SIZE", 1)))
    print(f"{len(dataset.groups)} row groups in {len(dataset.footers)} files", flush=True)
    torch.manual_seed(1)
    torch.set_num_threads(1)  # of so small a network
    model = nn.Sequential(nn.Embedding(256, 16), nn.Linear(16, 256))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for dataset.epoch in range(EPOCHS):
        steps, total = dataset.steps(BATCH, workers), 0
        loader = DataLoader(dataset, batch_size=BATCH, num_workers=workers, collate_fn=letters,
                            drop_last=True)
        for before, behind in islice(loader, steps):
            loss = nn.functional.cross_entropy(model(before), behind)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {dataset.epoch}: {steps} steps of {BATCH} texts, loss {total / steps:.3f}", flush=True)


def make_files(client, url, files=4, groups=5, rows=64):
    """Files of a few sentences. Row groups of other files are of other lengths."""
    for file in range(files):
        texts = [f"{file} {group} {row}: the quick brown fox jumps over the lazy dog"
                 for group in range(groups) for row in range(rows + file)]
        with client.open(f"{url}/part-{file}.parquet", "wb") as target:
            parquet.write_table(pyarrow.table({"text": texts}), target, row_group_size=rows + file)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("url", nargs="?", help="gs://BUCKET/PREFIX with *.parquet; texts are in column text")
    arguments.add_argument("--workers", type=int, default=2)
    options = arguments.parse_args()
    if options.url:
        return train(dataflux.Client(), options.url, options.workers)
    with dataflux.emulator("texts") as service:
        client = service.client()
        make_files(client, "gs://texts/foxes")
        train(client, "gs://texts/foxes", options.workers)


if __name__ == "__main__":
    main()
