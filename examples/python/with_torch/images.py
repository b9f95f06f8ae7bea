"""Trains a small network on images and their labels, which lie below two prefixes: images/NAME.ppm is a
picture, labels/NAME.npy says of each of its pixels whether it belongs to the disc.

    python examples/python/with_torch/images.py [gs://BUCKET/PREFIX] [--workers 2]

It needs PyTorch and numpy. Without a bucket it makes pictures and serves them by the emulator.
"""

import argparse
import io
import os

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader

import dataflux
from dataflux.torch import IterableDataset

BATCH, EPOCHS, SIDE, COUNT = 16, 3, 32, 128


def decode(data, rows):
    """In the worker: the bytes of both objects, and what was listed of them, become a sample."""
    picture, label = data
    kind, size, most, pixels = bytes(picture).split(b"\n", 3)  # a PPM has three lines of text first
    width, height = map(int, size.split())
    image = numpy.frombuffer(pixels, numpy.uint8).reshape(height, width, 3)
    mask = numpy.load(io.BytesIO(label))
    return torch.tensor(image).permute(2, 0, 1) / 255, torch.tensor(mask)


def train(url, workers):
    dataset = IterableDataset(pairs=[(f"{url}/images/", ".ppm"), (f"{url}/labels/", ".npy")],
                              unpaired="omit", batch_size=BATCH, decode=decode, seed=7)
    print(f"{dataset.count} pairs; without a partner: {dataset.unpaired[0]} images, "
          f"{dataset.unpaired[1]} labels", flush=True)
    torch.manual_seed(1)
    torch.set_num_threads(1)  # of so small a network
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    # Workers that live on know by set_epoch() which order comes next.
    loader = DataLoader(dataset, batch_size=BATCH, num_workers=workers, persistent_workers=workers > 0)
    for epoch in range(EPOCHS):
        dataset.set_epoch(epoch)
        total = seen = 0
        for images, masks in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(images)[:, 0], masks.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total, seen = total + loss.item() * len(images), seen + len(images)
        print(f"epoch {epoch}: {seen} samples, loss {total / seen:.3f}", flush=True)


def make_pictures(client, url):
    """Noise with a bright disc in it. The last picture has no label yet."""
    chance = numpy.random.default_rng(3)
    rows, columns = numpy.mgrid[:SIDE, :SIDE]
    for number in range(COUNT + 1):
        row, column, radius = chance.integers(8, 24), chance.integers(8, 24), chance.integers(4, 8)
        mask = (rows - row) ** 2 + (columns - column) ** 2 < radius**2
        image = chance.integers(0, 150, (SIDE, SIDE, 3), numpy.uint8)
        image[mask] += 100
        client.put(f"{url}/images/{number:04}.ppm", b"P6\n%d %d\n255\n" % (SIDE, SIDE) + image.tobytes())
        label = io.BytesIO()
        numpy.save(label, mask)
        if number < COUNT:
            client.put(f"{url}/labels/{number:04}.npy", label.getvalue())


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("url", nargs="?", help="gs://BUCKET/PREFIX with images/*.ppm and labels/*.npy")
    arguments.add_argument("--workers", type=int, default=2)
    options = arguments.parse_args()
    if options.url:
        return train(options.url.rstrip("/"), options.workers)
    with dataflux.emulator("pictures") as service:
        os.environ.update(service.environment)
        make_pictures(service.client(), "gs://pictures/discs")
        train("gs://pictures/discs", options.workers)


if __name__ == "__main__":
    main()
