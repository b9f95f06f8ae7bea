"""Trains a sharded network in four processes that save while they go on. One is killed in the middle of a
save; two processes go on from the newest complete checkpoint, and end with the loss of a run that nothing
interrupted.

    ./dev demo --checkpoints

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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader

import dataflux
from dataflux.dcp import StorageReader, StorageWriter
from dataflux.torch import IterableDataset

SAMPLES, BATCH = 640, 32  # of all ranks together
STEPS, SAVE_EVERY, KILL_AT = SAMPLES // BATCH, 4, 12
WIDTH, CLASSES = 48, 4
LIMIT = 300  # seconds for a run


def decode(data, row):
    return torch.frombuffer(data, dtype=torch.uint8, offset=1).double() / 255, data[0]


def sharded_network(ranks):
    """In double precision: what one rank sums another number of ranks sums in another order."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(WIDTH, 256), nn.ReLU(), nn.Linear(256, CLASSES)).double()
    mesh = init_device_mesh("cpu", (ranks,))
    for layer in network:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    return fully_shard(network, mesh=mesh)


def newest(client, run):
    """The newest complete checkpoint, or None: the same one in all ranks."""
    found = [None]
    if dist.get_rank() == 0:
        try:
            found = [client.latest_set(run).url]
        except dataflux.NotFoundError:
            pass  # the first run
    dist.broadcast_object_list(found)
    return found[0]


def train(run, rank, ranks, kill_at, log):
    client = dataflux.Client()
    network = sharded_network(ranks)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    dataset = IterableDataset(f"{run}/samples/", decode=decode, seed=7, equalize="drop")
    saves = dist.new_group()  # a save talks while the training does, so not by the same group
    step = 0
    checkpoint = newest(client, f"{run}/checkpoints")
    if checkpoint:
        model_state, optimizer_state = get_state_dict(network, optimizer)
        state = {"model": model_state, "optimizer": optimizer_state}
        dcp.load(state, storage_reader=StorageReader(checkpoint, client=client))
        set_state_dict(network, optimizer, model_state_dict=state["model"],
                       optim_state_dict=state["optimizer"])
        job = torch.load(client.latest_set(checkpoint).open("job.pt"), weights_only=True)
        dataset.load_state_dict(job["data"])
        step = job["step"]
        if rank == 0:
            print(f"  {ranks} processes go on from {checkpoint} at step {step}", flush=True)
    saving = None
    for features, labels in DataLoader(dataset, batch_size=BATCH // ranks):
        loss = nn.functional.cross_entropy(network(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        mean = loss.detach() / ranks
        dist.all_reduce(mean)
        if rank == 0:
            print(f"  step {step}/{STEPS} loss {mean.item():.6f}", flush=True)
            log.write_text(str(mean.item()))
        if step % SAVE_EVERY == 0:
            saving and saving.result()  # one save at a time; what went wrong is raised here
            places = [None] * ranks
            dist.all_gather_object(places, dataset.state_dict(consumed=step * BATCH // ranks))
            model_state, optimizer_state = get_state_dict(network, optimizer)
            saving = dcp.async_save(
                {"model": model_state, "optimizer": optimizer_state},
                process_group=saves,
                storage_writer=StorageWriter(f"{run}/checkpoints/step-{step:03}", client=client,
                                             files={"job.pt": {"step": step, "data": places}}))
            if step == kill_at and rank == ranks - 1:
                while saves_begun(client, run) < step // SAVE_EVERY:
                    time.sleep(0.001)
                os.kill(os.getpid(), signal.SIGKILL)
    if saving:
        saving.result()


def saves_begun(client, run):
    sets = client.list_sets(f"{run}/checkpoints")
    return len(sets.complete) + len(sets.unfinished)


def job(run, rank, ranks, kill_at, folder):
    """One process of a job."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{folder}/ranks", rank=rank, world_size=ranks)
    train(run, rank, ranks, kill_at, Path(folder) / "loss")
    dist.destroy_process_group()


def start(run, ranks, kill_at=0):
    """A job of so many processes. Gives its last loss; None where a process was killed, and then all were, as
    a scheduler does it."""
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for rank in range(ranks):
            with open(f"{folder}/errors-{rank}", "wb") as errors:
                processes.append(subprocess.Popen([sys.executable, __file__, "--job", run, str(rank),
                                                   str(ranks), str(kill_at), folder], stderr=errors))
        give_up = time.monotonic() + LIMIT
        try:
            while any(process.poll() is None for process in processes):
                ended = [process.returncode for process in processes if process.poll() is not None]
                if kill_at and -signal.SIGKILL in ended:
                    print(f"  one of {ranks} processes was killed, which saved step {kill_at}", flush=True)
                    return None
                if any(ended) or time.monotonic() > give_up:
                    break
                time.sleep(0.02)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        codes = [process.returncode for process in processes]
        if kill_at or any(codes):
            for rank in range(ranks):
                print(Path(f"{folder}/errors-{rank}").read_text(), file=sys.stderr)
            sys.exit(f"the job's processes ended with {codes}")
        return float((Path(folder) / "loss").read_text())


def make_samples(client, run):
    random = torch.Generator().manual_seed(3)
    samples = []
    for number in range(SAMPLES):
        values = torch.randint(0, 160, (WIDTH,), generator=random, dtype=torch.uint8)
        values[number % CLASSES::CLASSES] += 40
        samples.append((f"{run}/samples/{number:06}", bytes([number % CLASSES]) + values.numpy().tobytes()))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda sample: client.put(*sample), samples))


def names_of(sets):
    return ", ".join(each.prefix for each in sets) or "none"


def compare(url):
    client = dataflux.Client()
    losses = {}
    print(f"{SAMPLES} samples go to {url}")
    for name in ("whole", "broken"):
        make_samples(client, f"{url}/{name}")
    print("four processes that nothing interrupts")
    losses["whole"] = start(f"{url}/whole", 4)
    print("four processes, one of which is killed in the middle of a save")
    start(f"{url}/broken", 4, KILL_AT)
    sets = client.list_sets(f"{url}/broken/checkpoints")
    print(f"  complete: {names_of(sets.complete)}; unfinished: {names_of(sets.unfinished)}")
    print("two processes go on")
    losses["broken"] = start(f"{url}/broken", 2)
    client.keep_last_sets(f"{url}/broken/checkpoints", 2)
    sets = client.list_sets(f"{url}/broken/checkpoints")
    print(f"  kept: {names_of(sets.complete)}; unfinished: {names_of(sets.unfinished)}")
    if abs(losses["whole"] - losses["broken"]) > 1e-9:
        sys.exit(f"the losses differ: {losses}")
    print(f"the same loss: {losses['whole']:.12f} of four, {losses['broken']:.12f} of four and then two")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--url", help="gs://BUCKET/PREFIX; what is written below it stays")
    arguments.add_argument("--job", nargs=5, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.job:
        run, rank, ranks, kill_at, folder = options.job
        return job(run, int(rank), int(ranks), int(kill_at), folder)
    if options.url:  # a folder of its own, for a run goes on where it finds a checkpoint
        return compare(f"{options.url.rstrip('/')}/{time.time_ns()}")
    with dataflux.emulator("training", rtt=0.02) as service:
        os.environ.update(service.environment)
        compare("gs://training/demo")


if __name__ == "__main__":
    main()
