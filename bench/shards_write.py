"""The benchmark `shards_write`: samples into tar shards, beside the same bytes into one object.

512 MiB of samples from memory, by a shard_writer and by a checkpoint_writer, from a process each to an
emulator of its own on another core. CPU time of all threads of the client counts.
"""

import json
import statistics
import subprocess

import folders
import needs
from report import row

MIB, GIB = 1 << 20, 1 << 30
SIZE = 512 * MIB
SAMPLES = {"16 KiB": 16 << 10, "100 KiB": 100 << 10, "1 MiB": 1 << 20}
AIM = 1.2
CLIENT_CORE = "1"


def run(folder, case, sample):
    with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"]) as emulator:
        command = ["taskset", "-c", CLIENT_CORE, folder / "bench/macro/bench_shards_write", "--endpoint",
                   emulator.endpoint, "--bucket", folders.BUCKET, "--case", case, "--size", SIZE,
                   "--sample", sample]
        said = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(said.stdout.splitlines()[-1])


def measure_all(options, folder, show):
    rows = []
    for title, sample in SAMPLES.items():
        lines = {"shards": [], "object": []}
        for done in range(options.rounds):
            for case in list(lines)[::1 if done % 2 else -1]:
                show(f"shards_write, {title}: round {done + 1} of {options.rounds}, {case}")
                lines[case].append(run(folder, case, sample))
        show("")
        for key, unit, aim in (("cpu_s", "CPU s/GiB", AIM), ("wall_s", "wall s/GiB", None)):
            ours, theirs = ([line[key] / SIZE * GIB for line in lines[case]] for case in lines)
            rows.append(row(f"samples of {title} into shards", unit, statistics.median(ours),
                            "checkpoint_writer", statistics.median(theirs),
                            [a / b for a, b in zip(ours, theirs)], aim))
    return rows, {}
