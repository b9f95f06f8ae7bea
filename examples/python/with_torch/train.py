"""Trains a small network on images in a bucket by batches that threads make, without worker processes. It is killed in
the middle of an epoch, and goes on with another number of threads: to the same samples in the same order, and to the
same loss to the last bit.

    ./dev demo --train

It needs PyTorch. The bucket is the emulator's, unless --url names another one; --images are made there.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from torch import nn

import dataflux
from dataflux.torch import IterableDataset

BATCH, EPOCHS, SAVE_EVERY = 32, 3, 20
SIDE, CLASSES = 16, 4
LIMIT = 600  # seconds for a run


def decode(data, row):
    """The label is an image's first byte. The name comes along, so that the log can say what was read."""
    pixels = torch.frombuffer(data, dtype=torch.uint8, offset=1).view(3, SIDE, SIDE)
    return row.name, pixels.float() / 255, data[0]


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.Dropout(0.1), nn.Flatten(),
                         nn.Linear(8 * 7 * 7, CLASSES))


def train(url, checkpoint, threads, log):
    """The job itself: it starts where the checkpoint is, if there is one."""
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    client = dataflux.Client()
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    dataset = IterableDataset(url, batch_size=BATCH, decode=decode, seed=7, equalize="drop")
    batches = dataset.batches(decode_threads=threads)
    epoch = step = 0
    if client.exists(checkpoint):
        with client.open(checkpoint, "rb") as file:
            saved = torch.load(file, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["rng"])
        batches.load_state_dict(saved["data"])
        epoch, step = saved["data"]["epoch"], saved["step"]
        print(f"  goes on in epoch {epoch} behind step {step}, with {threads} decode threads", flush=True)
    for epoch in range(epoch, EPOCHS):
        dataset.set_epoch(epoch)
        for names, images, labels in batches:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            ids = hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
            log.write(f"{step} {ids} {loss.item().hex()}\n")
            show(step, EPOCHS * len(batches), loss.item())
            if step % SAVE_EVERY == 0:
                with client.open(checkpoint, "wb") as file:
                    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                                "rng": torch.get_rng_state(), "step": step,
                                "data": batches.state_dict()}, file)
    print(flush=True)
    print(f"  waited {batches.metrics()['waited']:.0%} of the time for batches", flush=True)


def show(step, steps, loss):
    if sys.stdout.isatty() or step % 20 == 0:
        done = 30 * step // steps
        print(f"\r  step {step}/{steps} [{'#' * done:<30}] loss {loss:.4f}",
              end="" if sys.stdout.isatty() else "\n", flush=True)


def run(url, checkpoint, threads, log, kill_at=None):
    """The job as a process of its own. With kill_at it gets SIGKILL when its log has so many steps."""
    log.touch()
    job = subprocess.Popen([sys.executable, __file__, "--job", url, checkpoint, str(threads), str(log)])
    give_up = time.monotonic() + LIMIT
    while job.poll() is None:
        if kill_at is not None and len(log.read_text().splitlines()) >= kill_at:
            job.kill()
            job.wait()
            print(f"\n  killed at step {kill_at}", flush=True)
            return
        if time.monotonic() > give_up:
            job.kill()
            sys.exit("the job took too long")
        time.sleep(0.01)
    if job.returncode != 0 or kill_at is not None:
        sys.exit(f"the job ended with {job.returncode}")


def steps_of(log):
    """By step: what was read, and the loss. A step that was made again counts as it was made last."""
    return {step: (ids, loss) for step, ids, loss in (line.split() for line in log.read_text().splitlines())}


def make_images(client, url, count):
    """Images whose brightest channel says what they are, more or less."""
    random = torch.Generator().manual_seed(3)

    def put(number):
        name, label, pixels = number
        client.put(f"{url}{name:06}", bytes([label]) + pixels.numpy().tobytes())

    images = []
    for name in range(count):
        label = name % CLASSES
        pixels = torch.randint(0, 160, (3, SIDE, SIDE), generator=random, dtype=torch.uint8)
        pixels[label % 3] += 20 if label < 3 else 0
        images.append((name, label, pixels))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, images))


def compare(url, folder, images):
    client = dataflux.Client()
    data, saved = f"{url}/train/", f"{url}/checkpoints/"
    print(f"{images} images of {3 * SIDE * SIDE + 1} bytes go to {data}")
    make_images(client, data, images)
    whole, broken = folder / "whole", folder / "broken"
    print("a run that nothing interrupts, with 2 decode threads")
    run(data, saved + "whole.pt", 2, whole)
    print("the same with 4 threads, which is killed in the middle of an epoch")
    run(data, saved + "broken.pt", 4, broken, kill_at=len(steps_of(whole)) // 2 + 7)
    print("and goes on without threads of its own")
    run(data, saved + "broken.pt", 0, broken)
    expected, found = steps_of(whole), steps_of(broken)
    if expected != found:
        step = next(step for step in expected if expected[step] != found.get(step))
        sys.exit(f"the runs differ in step {step}: {expected[step]} and {found.get(step)}")
    loss = float.fromhex(expected[str(len(expected))][1])
    print(f"the same samples and the same loss in each of {len(expected)} steps; the last one is {loss:.6f}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--url", help="gs://BUCKET/PREFIX; what is written below it stays")
    arguments.add_argument("--images", type=int, default=2000)
    arguments.add_argument("--job", nargs=4, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.job:
        url, checkpoint, threads, log = options.job
        with open(log, "a", buffering=1) as file:
            train(url, checkpoint, int(threads), file)
        return
    with tempfile.TemporaryDirectory() as folder:
        if options.url:
            return compare(options.url.rstrip("/"), Path(folder), options.images)
        with dataflux.emulator("training") as service:
            os.environ.update(service.environment)
            compare("gs://training/demo", Path(folder), options.images)


if __name__ == "__main__":
    main()
