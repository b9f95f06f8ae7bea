"""The benchmark `shards`: samples of tar shards, beside other readers of them, and beside plain objects.

An emulator of 20 ms of round trip on core 0, the client on core 1, however many workers it has. Two parts:

    training  100 KiB images in a DataLoader, with 8 workers and with none: time and CPU a sample of an epoch, whose
              workers begin with it, and memory over epochs. With --peers beside webdataset (its own opener, and
              ours) and litData
    reads     in C++: samples of 16 KiB in sequence beside the same bytes as whole objects, and in random order
              beside get_many of as many objects: CPU

Writing them is the benchmark `shards_write`. It needs torch, as the benchmark `dataloader` does. --quick is one round of
fewer samples.
"""

import io
import json
import pathlib
import statistics
import subprocess
import sys
import tarfile

import folders
import needs
import python_reads
from dataloader import TORCH, aimed
from report import row

PEERS = "shards"
PROGRAM = needs.CLIENTS / PEERS / "feed_shards.py"
RTT = ("--rtt", "20")
LIMIT_S = 300
IMAGE, IN_A_SHARD, IMAGES, CONTENTS, BATCH = 100 << 10, 100, 12_800, 64, 64
SMALL, SMALL_IN_A_SHARD, SMALLS, IN_ANY_ORDER = 16 << 10, 4000, 96_000, 16_000
WORKERS = (8, 0)
EPOCHS = 4
OURS = {"full": 'shards, shuffle="full"', "blocks": 'shards, shuffle="blocks"'}
OTHERS = {"webdataset": "webdataset", "webdataset-dataflux": "webdataset by our opener", "litdata": "litdata"}
TIME_AIM = {"webdataset": 0.5, "webdataset-dataflux": 0.5, "litdata": 0.67}
CPU_AIM = {"webdataset": 0.5, "webdataset-dataflux": 0.5}
FLAT_AIM, SEQUENCE_AIM, RANDOM_AIM = 1.1, 1.15, 1.1
MIB = float(1 << 20)


def write_tars(folder, samples, size, in_a_shard):
    """Tars below t/, whose samples have one field. Gives the names."""
    (folder / "t").mkdir(parents=True)
    names = []
    for first in range(0, samples, in_a_shard):
        names.append(f"t/{first // in_a_shard:04}.tar")
        with tarfile.open(folder / names[-1], "w") as archive:
            for number in range(first, min(samples, first + in_a_shard)):
                info = tarfile.TarInfo(f"{number:07}.img")
                info.size = size
                mark = (number % CONTENTS).to_bytes(8, "little")
                archive.addfile(info, io.BytesIO(mark + bytes(size - 16) + mark))
    return names


def program_of(folder, endpoint, what, **more):
    command = ["taskset", "-c", folders.CLIENT_CORE, folder / "bench/macro/bench_shards", "--endpoint", endpoint,
               "--bucket", folders.BUCKET, "--case", what]
    for name, value in more.items():
        command += [f"--{name}", value]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True)
    return json.loads(done.stdout)


def feed(folder, python, client, run):
    done = subprocess.run(["taskset", "-c", folders.CLIENT_CORE, python, PROGRAM, client, json.dumps([run])],
                          stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False,
                          env=python_reads.environment(folder))
    if done.returncode != 0:
        raise SystemExit(f"bench: {client}: failed")
    return json.loads(done.stdout.splitlines()[-1])


# ---- training ----


def training(folder, scratch, python, peers, options, show):
    samples = IMAGES // (4 if options.quick else 1)
    place = scratch / "images"
    names = write_tars(place, samples, IMAGE, IN_A_SHARD)
    if "litdata" in peers:
        show("shards: litData writes its format")
        subprocess.run([python, PROGRAM, "optimize", place / "lit", json.dumps(
            {"size": IMAGE, "samples": samples, "contents": CONTENTS})], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=LIMIT_S, cwd=scratch)
    found = {(name, workers): [] for workers in WORKERS for name in (*OURS, *peers)}
    with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], place, RTT) as server:
        index = scratch / "images.dfx"
        program_of(folder, server.endpoint, "sequence", count=1, index=index)
        run = {"endpoint": server.endpoint, "size": IMAGE, "samples": samples, "batch": BATCH, "index": str(index),
               "shards": names, "cache": str(scratch / "cache")}
        for done in range(options.rounds):
            order = list(found)
            for name, workers in order[done % 2:] + order[:done % 2]:
                show(f"shards, training: round {done + 1} of {options.rounds}, {name}, {workers} workers")
                try:
                    found[name, workers].append(feed(folder, python, name, {**run, "workers": workers}))
                except (SystemExit, subprocess.SubprocessError):
                    if name in OURS:
                        raise
                    print(f"bench: {name} cannot do it")
        show("shards, training: memory over epochs")
        flat = feed(folder, python, "blocks", {**run, "workers": 2, "epochs": EPOCHS})["memory"]
    show("")
    rows = []
    for workers in WORKERS:
        for name, called in OURS.items():
            for key, what, unit, aims in (("wall_s", "time", "ms/sample", TIME_AIM), ("cpu_s", "CPU", "ms/sample",
                                                                                      CPU_AIM)):
                rows += beside(f"{called}, {workers} workers, {what}", unit, key, found[name, workers],
                               {each: found[each, workers] for each in peers}, aims)
    rows.append(aimed(row("memory at the end of epoch 4", "MiB", flat[-1] / MIB, "epoch 1", flat[0] / MIB), None,
                      FLAT_AIM))
    return rows


def beside(title, unit, key, mine, others, aims):
    def costs(lines):
        return [line[key] / line["samples"] * 1e3 for line in lines]

    ours = costs(mine)
    if not any(others.values()):
        return [row(title, unit, statistics.median(ours), "measured only", None)]
    rows = {name: row(title, unit, statistics.median(ours), OTHERS[name], statistics.median(costs(lines)),
                      [a / b for a, b in zip(ours, costs(lines))])
            for name, lines in others.items() if lines}
    return [aimed(each, None, aims[name]) if name in aims else each for name, each in rows.items()]


# ---- reads ----


def reads(folder, scratch, options, show):
    share = 4 if options.quick else 1
    samples, few = SMALLS // share, IN_ANY_ORDER // share
    place = scratch / "small"
    write_tars(place, samples, SMALL, SMALL_IN_A_SHARD)
    (place / "o").mkdir()
    for number in range(few):
        (place / "o" / f"{number:07}").write_bytes(bytes(SMALL))
    cases = {"sequence": {"count": samples}, "object": {}, "random": {"count": few}, "get_many": {"count": few}}
    items = {"sequence": samples, "object": samples, "random": few, "get_many": few}
    found = {name: [] for name in cases}
    with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], place, RTT) as server:
        index = scratch / "small.dfx"
        program_of(folder, server.endpoint, "sequence", count=1, index=index)
        for done in range(options.rounds):
            order = list(cases)
            for name in order[done % 4:] + order[:done % 4]:
                show(f"shards, reads: round {done + 1} of {options.rounds}, {name}")
                more = {"index": index} if name in ("sequence", "random") else {}
                line = program_of(folder, server.endpoint, name, **cases[name], **more)
                found[name].append(line["cpu_s"] / items[name] * 1e6)
    show("")
    return [aimed(row(f"samples of 16 KiB, {words}", "us/sample", statistics.median(found[name]), reference,
                      statistics.median(found[of]), [a / b for a, b in zip(found[name], found[of])]), None, aim)
            for name, words, of, reference, aim in (
                ("sequence", "in sequence", "object", "one object", SEQUENCE_AIM),
                ("random", "in random order", "get_many", "get_many", RANDOM_AIM))]


def measure_all(options, folder, show):
    done = subprocess.run([sys.executable, needs.ROOT / "tests/python/venv.py", TORCH],
                          stdout=subprocess.PIPE, text=True, check=True)
    python, peers, versions = done.stdout.strip(), {}, {}
    if options.peers:
        with_peers, versions = needs.from_pypi(PEERS, beside=python)
        if with_peers is not None:
            python, peers = with_peers, OTHERS
    options.rounds = 1 if options.quick else options.rounds
    room = 3 * IMAGES * IMAGE + 2 * SMALLS * SMALL
    with needs.scratch(room) as scratch:
        scratch = pathlib.Path(scratch)
        rows = training(folder, scratch, python, peers, options, show)
        rows += reads(folder, scratch, options, show)
    return rows, versions
