"""The benchmark `feed`: batches of dataflux.torch's own loader, beside a DataLoader's and other clients'.

An emulator of 20 ms of round trip on core 0, the whole client on core 1. Six parts:

    bytes     100 KiB samples as they are, no limit but the client's core: time and CPU a sample, beside C++'s
              getter, our own dataset in a DataLoader with 2 workers, and with --peers obstore and gcs-torch-dataflux
              in one
    flat      memory at the end of epochs
    images    JPEGs of 100 KiB decoded by PIL to 224x224, all clients on both cores: samples a second beside decoding
              alone, and CPU beyond that beside what a DataLoader adds; with --peers, which have PIL, and beside SPDL
    link      a link of 200 MB/s: how much of it is used
    trainer   steps of 0.9 of the time that the link needs for a batch: how long they wait
    first     from a manifest to the first batch

It needs torch, as the benchmark `dataloader` does, whose programs it uses. --quick is one round of fewer samples.
"""

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess

import dataloader
import folders
import needs
import python_reads
from dataloader import aimed, half, median
from report import row

JPEGS = needs.CLIENTS / dataloader.PEERS / "feed_jpegs.py"
LINK = 200_000_000  # bytes a second
LINK_CAP = 512 << 20  # memory for reads ahead, of all workers together: a worker's share holds an object of 150 MiB
# By words: bytes, contents that differ, samples of a run, of a batch.
SIZES = {"16 KiB": (16 << 10, 64, 16_384, 64), "100 KiB": (100 << 10, 64, 6_400, 64),
         "3 MiB": (3 << 20, 16, 224, 8), "150 MiB": (150 << 20, 2, 6, 1)}
OURS, GETTER, WORKERS = "batches", "getter", "DataLoader"
# By client: what bench/peers/dataloader/feed.py calls it, samples of a run, and the most that our time may be of its.
BESIDE = {WORKERS: ("iterable", 6_400, 0.33), "obstore": ("obstore", 3_200, 0.2),
          "gcs-torch-dataflux": ("gcs-torch-dataflux-compose", 1_024, 0.1)}
CPU_AIM = 1.25  # of the getter's
EPOCHS, FLAT_AIM = 4, 1.1
IMAGES, CONTENTS, IMAGE_BATCH = 1_600, 64, 64
DECODERS = {OURS: "batches", WORKERS: "iterable", "spdl": "spdl", "decode alone": "nothing"}
ADDED_AIM, SPEED_AIM = 0.15, 0.95
SHARE_AIM, FULL = 0.93, ("100 KiB", "3 MiB", "150 MiB")
TRAIN_BATCH, STEPS, STEP, WAIT_AIM = 32, 120, 0.9, 0.11
FIRST_AIM_S = 0.1
MIB = float(1 << 20)


def turned(names, done):
    """The order of a round."""
    return names[done % len(names):] + names[:done % len(names)]


def by_getter(folder, run):
    done = subprocess.run(["taskset", "-c", folders.CLIENT_CORE, *map(str, [
        folder / "bench/macro/bench_epoch_socket", "--endpoint", run["endpoint"], "--bucket", folders.BUCKET,
        "--objects", run["objects"], "--items", run["samples"], "--bytes", run["size"], "--batch",
        run["batch"], "--memory-cap", run["memory_cap"]])], stdout=subprocess.PIPE, text=True,
        timeout=dataloader.LIMIT_S, check=True)
    line = json.loads(done.stdout)
    return {"wall_s": line["seconds"], "cpu_s": line["cpu_s"], "bytes": run["samples"] * run["size"],
            "samples": run["samples"]}


def ours_of(run):
    """A run of our loader, which has no workers."""
    return {**run, "workers": 0}


def of_workers(run):
    """A run of workers, which have as much memory together."""
    return {**run, "memory_cap": run["memory_cap"] // run["workers"]}


def by_python(folder, python, name, runs):
    """The lines of a client of Python."""
    if name == OURS:
        return dataloader.feed(folder, python, OURS, [ours_of(run) for run in runs])
    return dataloader.feed(folder, python, BESIDE[name][0], [of_workers(run) for run in runs])


# ---- bytes ----


def plain_bytes(folder, content, python, options, peers, show):
    words = "100 KiB"
    _, whole, batch = content.shapes[words]
    found = {name: [] for name in (OURS, GETTER, WORKERS, *peers)}
    for done in range(options.rounds):
        for name in turned(list(found), done):
            show(f"feed, bytes: round {done + 1} of {options.rounds}, {name}")
            with content.serve(folder, words) as server:
                run = content.run("rate", words, server.endpoint, memory_cap=dataloader.RATE_CAP)
                if name in peers:
                    most = BESIDE[name][1] // (4 if options.quick else 1)
                    run["samples"] = min(whole, max(2 * run["workers"] * batch, most))
                try:
                    found[name] += [by_getter(folder, run)] if name == GETTER else \
                        by_python(folder, python, name, [run])
                except (SystemExit, subprocess.SubprocessError):
                    if name not in peers:
                        raise
                    print(f"bench: {name} cannot do it")
    show("")
    rows = []
    for key, what, aims in (("wall_s", "time", {name: aim for name, (_, _, aim) in BESIDE.items()}),
                            ("cpu_s", "CPU", {GETTER: CPU_AIM})):
        costs = {name: [line[key] / line["samples"] * 1e6 for line in lines] for name, lines in found.items()}
        mine = costs.pop(OURS)
        rows += [row(f"100 KiB as they are, {what}", "us/sample", statistics.median(mine), name,
                     statistics.median(theirs), [a / b for a, b in zip(mine, theirs)], aims.get(name))
                 for name, theirs in costs.items() if theirs]
    return rows


def flat(folder, content, python, options, show):
    show("feed, memory over epochs")
    with content.serve(folder, "100 KiB") as server:
        run = content.run("flat", "100 KiB", server.endpoint, memory_cap=dataloader.RATE_CAP, epochs=EPOCHS)
        line, = by_python(folder, python, OURS, [run])
    show("")
    first, last = line["memory"][0] / MIB, line["memory"][-1] / MIB
    return [row(f"memory at the end of epoch {EPOCHS}", "MiB", last, "epoch 1", first, [last / first], FLAT_AIM)]


# ---- images ----


def images(folder, scratch, python, options, show):
    samples = IMAGES // (4 if options.quick else 1)
    place = pathlib.Path(scratch) / "images"
    place.mkdir()
    show("feed, images: they are made")
    # Two programs decode, and the server has a core of them.
    command = [python, JPEGS]
    made = subprocess.run([*command, "make", place, json.dumps({"contents": CONTENTS, "samples": samples})],
                          stdout=subprocess.PIPE, text=True, timeout=dataloader.LIMIT_S, check=True)
    found = {name: [] for name in DECODERS}
    with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], place, dataloader.RTT) as server:
        run = {"endpoint": server.endpoint, "objects": samples, "batch": IMAGE_BATCH, "contents": str(place),
               "known": json.loads(made.stdout)}
        for done in range(options.rounds):
            for name in turned(list(found), done):
                show(f"feed, images: round {done + 1} of {options.rounds}, {name}")
                line = subprocess.run([*command, DECODERS[name], json.dumps(run)], stdout=subprocess.PIPE, text=True,
                                      timeout=dataloader.LIMIT_S, check=True, env=python_reads.environment(folder))
                found[name].append(json.loads(line.stdout.splitlines()[-1]))
    show("")
    return image_rows(found)


def image_rows(found):
    for lines in found.values():
        for line in lines:
            line["per_s"], line["cpu_ms"] = line["samples"] / line["wall_s"], line["cpu_s"] / line["samples"] * 1e3
    mine, alone, rows = found[OURS], found["decode alone"], []
    for key, what, unit in (("per_s", "samples", "1/s"), ("cpu_ms", "CPU", "ms/sample")):
        for name, lines in found.items():
            if name != OURS:
                each = row(f"JPEG to 224x224, {what}", unit, median(mine, key), name, median(lines, key),
                           [a[key] / b[key] for a, b in zip(mine, lines)])
                rows.append(aimed(each, SPEED_AIM) if key == "per_s" and lines is alone else each)
    added = {name: [line["cpu_ms"] - least["cpu_ms"] for line, least in zip(lines, alone)]
             for name, lines in found.items()}
    for name in (WORKERS, "spdl"):
        rows.append(row("JPEG, CPU beyond decoding", "ms/sample", statistics.median(added[OURS]), name,
                        statistics.median(added[name]), [a / b for a, b in zip(added[OURS], added[name])],
                        ADDED_AIM if name == WORKERS else None))
    return rows


# ---- link ----


def links(folder, content, python, options, show):
    order = [OURS, GETTER, WORKERS]
    found = {(words, name): [] for words in SIZES for name in order}
    with contextlib.ExitStack() as servers:
        runs = [content.run("rate", words, servers.enter_context(content.serve(folder, words, LINK)).endpoint,
                            memory_cap=LINK_CAP) for words in SIZES]
        for done in range(half(options.rounds)):
            for name in turned(order, done):
                show(f"feed, link: round {done + 1}, {name}")
                lines = [by_getter(folder, run) for run in runs] if name == GETTER else \
                    by_python(folder, python, name, runs)
                for words, line in zip(SIZES, lines):
                    line["share"] = line["bytes"] / line["wall_s"] / LINK
                    found[words, name].append(line)
    show("")
    rows = []
    for words in SIZES:
        mine, title = found[words, OURS], f"{words}, share of 200 MB/s"
        for name in order[1:]:
            theirs = found[words, name]
            rows.append(row(title, "", median(mine, "share"), name, median(theirs, "share"),
                            [a["share"] / b["share"] for a, b in zip(mine, theirs)]))
        if words in FULL:
            rows.append(aimed(row(title, "", median(mine, "share"), "aim", SHARE_AIM,
                                  [line["share"] / SHARE_AIM for line in mine]), 1))
    return rows


# ---- trainer ----


def trainers(folder, content, python, options, show):
    found = {OURS: [], WORKERS: []}
    size, most, _ = content.shapes["100 KiB"]
    steps = STEPS // (4 if options.quick else 1)
    with content.serve(folder, "100 KiB", LINK) as server:
        run = content.run("train", "100 KiB", server.endpoint, batch=TRAIN_BATCH, memory_cap=LINK_CAP,
                          samples=min(steps * TRAIN_BATCH, most), step_s=STEP * TRAIN_BATCH * size / LINK)
        for done in range(half(options.rounds)):
            for name in turned(list(found), done):
                show(f"feed, trainer: round {done + 1}, {name}")
                found[name] += by_python(folder, python, name, [run])
    show("")
    mine, theirs = found[OURS], found[WORKERS]
    title = "a trainer with steps of 0.9 of the link's time: waits"
    return [aimed(row(title, "", median(mine, "waited"), "aim", WAIT_AIM,
                      [line["waited"] / WAIT_AIM for line in mine]), None, 1),
            row(title, "", median(mine, "waited"), WORKERS, median(theirs, "waited"),
                [a["waited"] / b["waited"] for a, b in zip(mine, theirs)])]


def firsts(folder, scratch, python, options, show):
    found = dataloader.first_batches(folder, scratch, python, OURS, {"workers": 0, "memory_cap": dataloader.FIRST_CAP},
                                     options, show)
    small, large = found.values()
    return [aimed(row("first batch, 1 M names", "s", median(small, "first_s"), "aim", FIRST_AIM_S,
                      [line["first_s"] / FIRST_AIM_S for line in small]), None, 1),
            row("first batch, 10 M names", "s", median(large, "first_s"), "measured only", None)]


def measure_all(options, folder, show):
    python, with_peers, versions = dataloader.environment(options)
    options = argparse.Namespace(**{**vars(options), "rounds": 1 if options.quick else options.rounds})
    peers = [name for name in BESIDE if name != WORKERS] if with_peers else []
    with needs.scratch(dataloader.room_of(SIZES) + CONTENTS * SIZES["100 KiB"][0]
                       + 45 * sum(dataloader.NAMES.values())) as scratch:
        content = dataloader.Content(scratch, options.quick, SIZES)
        rows = plain_bytes(folder, content, python, options, peers, show)
        rows += flat(folder, content, python, options, show)
        if with_peers:
            rows += images(folder, scratch, python, options, show)
        else:
            print("bench: no PIL without --peers, so no images are decoded")
        rows += links(folder, content, python, options, show)
        rows += trainers(folder, content, python, options, show)
        rows += firsts(folder, scratch, python, options, show)
    return rows, versions
