"""The benchmark `cache`: a second epoch from a cache on a disk, beside plain files.

`files` opens, reads and sums a file for each object; ours is a getter with its defaults, whose reads are all
hits. All of it is in the system's memory, below build/: what counts is CPU, and a disk adds the same to both.
Processes that read one folder at once are beside as many as there are cores, since more share those.
"""

import json
import os
import statistics
import subprocess
import tempfile

import needs
from report import row

MIB, GIB = 1 << 20, 1 << 30
OBJECTS = {"16 KiB": (16 << 10, 16384), "100 KiB": (100 << 10, 4096), "8 MiB": (8 << 20, 48)}  # bytes, how many
SHARED = "100 KiB"  # what processes read at once
PROCESSES = 8
SECONDS = 1.0  # of a run, about
LIMIT_S = 300
AIM_OF_FILES, AIM_OF_HIT_US, AIM_OF_SHARE = 1.3, 15, 1 / 0.9
CORE = "1"


class Run:
    """One process, which has read everything once."""

    def __init__(self, program, case, folder, title, count, epochs, core=CORE):
        size = OBJECTS[title][0]
        pin = ["taskset", "-c", core] if core else []
        command = [*pin, program, "--case", case, "--folder", folder, "--object", size, "--count", count,
                   "--epochs", epochs]
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def wait_until_ready(self):
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("bench: cache: a process failed")

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        said, _ = self.process.communicate(timeout=LIMIT_S)
        if self.process.returncode != 0:
            raise SystemExit("bench: cache: a process failed")
        return json.loads(said)


def together(processes, *arguments):
    """CPU seconds a GiB of so many processes at once, and GiB a second of all of them."""
    runs = [Run(*arguments, core=None) for _ in range(processes)]
    for run in runs:
        run.wait_until_ready()
    for run in runs:
        run.go()
    lines = [run.end() for run in runs]
    size = sum(line["bytes"] for line in lines) / GIB
    return sum(line["cpu_s"] for line in lines) / size, size / max(line["wall_s"] for line in lines)


def alone(*arguments):
    run = Run(*arguments)
    run.wait_until_ready()
    run.go()
    return run.end()


def alternated(cases, rounds, show, title, measure):
    """What measure(case) gives, a list for each, in turns."""
    got = {case: [] for case in cases}
    for done in range(rounds):
        for case in cases if done % 2 else cases[::-1]:
            show(f"cache, {title}: round {done + 1} of {rounds}, {case}")
            got[case].append(measure(case))
    show("")
    return got


def ratios(ours, theirs):
    return [a / b for a, b in zip(ours, theirs)]


def epochs_rows(program, folder, title, count, options, show):
    """The second epoch, from the cache and from files; and what a hit costs."""
    epochs = max(1, round(SECONDS / (count * OBJECTS[title][0] / GIB * 0.2)))
    cases = ["cache", "engine", "files"]
    lines = alternated(cases, options.rounds, show, title,
                       lambda case: alone(program, case, folder, title, count, 1 if options.quick else epochs))
    cost = {case: [line["cpu_s"] / line["bytes"] * GIB for line in lines[case]] for case in cases}
    files = statistics.median(cost["files"])
    rows = [row(f"second epoch, {title}", "CPU s/GiB", statistics.median(cost["cache"]), "files", files,
                ratios(cost["cache"], cost["files"]), AIM_OF_FILES),
            row(f"second epoch, {title}, one read after the other", "CPU s/GiB", statistics.median(cost["engine"]),
                "files", files, ratios(cost["engine"], cost["files"]), AIM_OF_FILES)]
    if title == "16 KiB":
        for case, how in (("cache", "of get_many"), ("engine", "one after the other")):
            each = [line["cpu_s"] / line["requests"] * 1e6 for line in lines[case]]
            rows.append(row(f"hit of {title}, {how}", "CPU us", statistics.median(each), "aim", AIM_OF_HIT_US,
                            [took / AIM_OF_HIT_US for took in each], 1))
    return rows


def shared_rows(program, folder, title, count, options, show):
    """Processes on one folder: the CPU of each, and the rate of all."""
    cores = len(os.sched_getaffinity(0))
    epochs = 1 if options.quick else max(1, round(SECONDS / (count * OBJECTS[title][0] / GIB * 0.2)))
    got = alternated([1, cores, PROCESSES], options.rounds, show, "processes",
                     lambda n: together(n, program, "cache", folder, title, count, epochs))
    cpu, rate = ({n: [each[i] for each in got[n]] for n in got} for i in (0, 1))
    return [row(f"{PROCESSES} processes, {title}, each", "CPU s/GiB", statistics.median(cpu[PROCESSES]), "1 process",
                statistics.median(cpu[1]), ratios(cpu[PROCESSES], cpu[1]), AIM_OF_SHARE),
            row(f"{PROCESSES} processes, {title}, all", "s/GiB", statistics.median(1 / r for r in rate[PROCESSES]),
                f"{cores} processes", statistics.median(1 / r for r in rate[cores]),
                ratios(rate[cores], rate[PROCESSES]), AIM_OF_SHARE)]


def measure_all(options, folder, show):
    program = folder / needs.PROGRAMS["dataflux_bench"].replace("load_server", "cache")
    rows = []
    for title, (size, most) in OBJECTS.items():
        count = max(most // (8 if options.quick else 1), 1)
        (needs.ROOT / "build").mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=needs.ROOT / "build", prefix="bench-cache-") as scratch:
            subprocess.run([program, "--case", "fill", "--folder", scratch, "--object", str(size), "--count",
                            str(count)], check=True, timeout=LIMIT_S)
            rows += epochs_rows(program, scratch, title, count, options, show)
            if title == SHARED:
                rows += shared_rows(program, scratch, title, count, options, show)
    return rows, {}
