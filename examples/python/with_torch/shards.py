"""Writes images as tar shards, indexes them and trains on a mix of two sets of them. The job is killed in the
middle of an epoch, and goes on with other ranks and other workers: to the same samples and the same loss.

    ./dev demo --shards

It needs PyTorch. The bucket is the emulator's, unless --url names another one.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader

import dataflux
from dataflux.torch import IterableDataset, Mix

SETS = {"photos": 700, "drawings": 150}  # images of each
WEIGHTS = [3, 1]
BATCH, STEPS, EPOCHS, SAVE_EVERY = 32, 20, 2, 4  # a batch is of all ranks together
SIDE, CLASSES = 12, 3
LIMIT = 300  # seconds for a run


def decode(sample, row):
    pixels = torch.frombuffer(sample["rgb"], dtype=torch.uint8).view(3, SIDE, SIDE)
    return sample["__key__"], pixels.double() / 255, int(bytes(sample["cls"]))


def write_shards(client, url, folder):
    """Images whose brightest channel says what they are. Shards appear whole; then they are indexed."""
    random = torch.Generator().manual_seed(3)
    for name, count in SETS.items():
        with client.shard_writer(f"{url}/{name}/%03d.tar", count=100) as writer:
            for number in range(count):
                pixels = torch.randint(0, 160, (3, SIDE, SIDE), generator=random, dtype=torch.uint8)
                pixels[number % CLASSES] += 30
                writer.write({"__key__": f"{name}/{number:05}", "rgb": pixels.numpy().tobytes(),
                              "cls": b"%d" % (number % CLASSES)})
        client.index_shards(f"{url}/{name}/", f"{folder}/{name}.dfx")


def mix_of(indexes, rank, ranks):
    """Three photos for each drawing. Drawings are few, and begin again."""
    sources = [IterableDataset(shards=f"{indexes}/{name}.dfx", decode=decode, seed=seed, shuffle="blocks", block=10,
                               window=8) for seed, name in enumerate(SETS)]
    return Mix(sources, WEIGHTS, ended="restart", length=STEPS * BATCH, batch_size=BATCH // ranks, rank=rank,
               world_size=ranks)


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(3, 6, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(6 * 5 * 5, CLASSES)).double()


def train(indexes, checkpoint, rank, ranks, workers, kill_at, log):
    """One rank of the job: it starts where the checkpoint is, if there is one."""
    client = dataflux.Client()
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    mix = mix_of(indexes, rank, ranks)
    step = 0
    if client.exists(checkpoint):
        with client.open(checkpoint, "rb") as file:
            saved = torch.load(file, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        mix.load_state_dict(saved["data"])
        step = saved["step"]
        if rank == 0:
            print(f"  {ranks} ranks with {workers} workers go on at step {step}", flush=True)
    elif rank == 0:
        told = mix.describe(workers)
        print(f"  {told['requests']:.2f} requests a sample, {told['bytes_read']:.2f} bytes for each that is used",
              flush=True)
    for epoch in range(step // STEPS, EPOCHS):
        mix.set_epoch(epoch)
        for names, images, labels in DataLoader(mix, batch_size=BATCH // ranks, num_workers=workers):
            loss = nn.functional.cross_entropy(model(images), labels) / ranks
            optimizer.zero_grad()
            loss.backward()
            mean = loss.detach().clone()
            for each in [mean, *[parameter.grad for parameter in model.parameters()]]:
                dist.all_reduce(each)
            optimizer.step()
            step += 1
            of_all = [None] * ranks
            dist.all_gather_object(of_all, list(names))
            states = [None] * ranks
            if step % SAVE_EVERY == 0:
                dist.all_gather_object(states, mix.state_dict(consumed=(step - epoch * STEPS) * BATCH // ranks))
            if rank == 0:
                names = " ".join(sorted(name for names in of_all for name in names))
                log.write(f"{step} {mean.item()!r} {names}\n")
                if step % 10 == 0:
                    print(f"  step {step}/{EPOCHS * STEPS} loss {mean.item():.6f}", flush=True)
                if step % SAVE_EVERY == 0:
                    with client.open(checkpoint, "wb") as file:
                        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step,
                                    "data": states}, file)
            if step == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
    if rank == 0:
        print("  drawn of each set: " + ", ".join(
            f"{count} {name}" for name, count in zip(SETS, mix.counts(STEPS * BATCH // ranks))), flush=True)


def job(indexes, folder, checkpoint, log, rank, ranks, workers, kill_at):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{folder}/ranks", rank=rank, world_size=ranks)
    with open(log, "a", buffering=1) as file:
        train(indexes, checkpoint, rank, ranks, workers, kill_at, file)
    dist.destroy_process_group()


def start(indexes, checkpoint, log, ranks, workers, kill_at=0):
    """A job of so many ranks. With kill_at its last rank gets SIGKILL there, and then the others, as a
    scheduler does it."""
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for rank in range(ranks):
            with open(f"{folder}/errors-{rank}", "wb") as errors:
                processes.append(subprocess.Popen(
                    [sys.executable, __file__, "--job", str(indexes), folder, checkpoint, str(log), str(rank), str(ranks),
                     str(workers), str(kill_at if rank == ranks - 1 else 0)], stderr=errors, start_new_session=True))
        give_up = time.monotonic() + LIMIT
        while any(process.poll() is None for process in processes):
            if any(process.poll() for process in processes) or time.monotonic() > give_up:
                break
            time.sleep(0.02)
        codes = [process.poll() for process in processes]
        for process in processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # its workers, too
            except ProcessLookupError:
                pass
            process.wait()
        if kill_at and codes[-1] == -signal.SIGKILL:
            print(f"  one of {ranks} ranks was killed at step {kill_at}", flush=True)
        elif kill_at or any(code != 0 for code in codes):
            for rank in range(ranks):
                print(Path(f"{folder}/errors-{rank}").read_text(), file=sys.stderr)
            sys.exit(f"the job's processes ended with {codes}")


def steps_of(log):
    """By step: the loss, and what was read. A step that was made again counts as it was made last."""
    lines = [line.split(" ", 2) for line in log.read_text().splitlines()]
    return {int(step): (float(loss), names) for step, loss, names in lines}


def compare(url, folder):
    client = dataflux.Client()
    print(f"{' and '.join(f'{count} {name}' for name, count in SETS.items())} go to {url} as tar shards")
    write_shards(client, url, folder)
    whole, broken = folder / "whole", folder / "broken"
    print("two ranks with one worker, which nothing interrupts")
    start(folder, f"{url}/whole.pt", whole, 2, 1)
    print("the same, killed in the middle of the second epoch")
    start(folder, f"{url}/broken.pt", broken, 2, 1, STEPS + 7)
    print("and gone on with four ranks, and two workers each")
    start(folder, f"{url}/broken.pt", broken, 4, 2)
    expected, found = steps_of(whole), steps_of(broken)
    for step, (loss, names) in expected.items():
        if found[step][1] != names or abs(found[step][0] - loss) > 1e-9:
            sys.exit(f"the runs differ in step {step}: {loss} and {found[step][0]}")
    last = max(expected)
    print(f"the same samples and the same loss in each of {last} steps; the last one is {expected[last][0]:.6f}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--url", help="gs://BUCKET/PREFIX; what is written below it stays")
    arguments.add_argument("--job", nargs=8, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.job:
        return job(*options.job[:4], *map(int, options.job[4:]))
    with tempfile.TemporaryDirectory() as folder:
        if options.url:
            return compare(f"{options.url.rstrip('/')}/{time.time_ns()}", Path(folder))
        with dataflux.emulator("training", rtt=0.02) as service:
            os.environ.update(service.environment)
            compare("gs://training/demo", Path(folder))


if __name__ == "__main__":
    main()
