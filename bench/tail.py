"""The benchmark `tail`: requests that are slow to answer, in simulated time.

The network of epoch_sim; 1 % of all requests stall 5 s before their first byte, whichever ask again
included. Two oracles read beside it: the same getter, but whatever stalls is answered as if it had
been asked again, at no cost, at the threshold: once, or as often as it takes. And a service of which 10 % of the requests become
slow by 3 times: nothing is to be asked again for that. bench/macro/tail.cpp runs it.
"""

import concurrent.futures
import json
import os
import statistics
import subprocess

import report

ORACLES = {"none": (), "once": ("--oracle-once",), "always": ()}
THRESHOLD_S = 1.0  # the floor; twice the 95th percentile is far below it here
STALLS = ("--share", 0.01, "--delay", 5)
# Arguments of each stream; what is judged of it.
STREAMS = {
    "10 KB, any order": (("--objects", 20_000, "--epochs", 5, "--as-ready"), ("goodput", "p99.9")),
    "10 KB, in order": (("--objects", 20_000, "--epochs", 5), ("goodput",)),
    "100 KiB, any order": (("--objects", 20_000, "--epochs", 3, "--bytes", 100 << 10, "--batch", 128,
                            "--as-ready"), ("goodput", "p99.9")),
    "10 KB in order, 5,000 a second": (("--objects", 20_000, "--epochs", 10, "--step", 256 / 5_000),
                                       ("waited",)),
    "100 KiB in order, 1,000 a second": (("--objects", 20_000, "--epochs", 3, "--bytes", 100 << 10,
                                          "--batch", 128, "--step", 0.128), ("waited",)),
}
GOODPUT_AIM, SHARE_AIM = 0.95, 0.05
SLOW_ROUND_TRIPS_S = (0.02, 0.1, 0.4, 0.6)
SLOW_READS, STEADY_READS = 40_000, 10_000


def simulate(folder, *arguments):
    done = subprocess.run([folder / "bench/macro/bench_tail", *map(str, arguments)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def figure(name, values, aim, most=True):
    """The median of all seeds beside its aim, which is a least value where not `most`."""
    median = statistics.median(values)
    return {"figure": name, "median": median, "least": min(values), "most": max(values), "aim": aim,
            "met": median <= aim if most else median >= aim}


def useful(line, arguments):
    given = dict(zip(arguments, arguments[1:]))
    return line["items"] * given.get("--bytes", 10_000)


def figures_of_stream(name, runs, arguments, judged):
    """`runs` are lines by oracle, of all seeds."""
    ours = runs["none"]
    found = []

    def waited(lines):
        return [line["waited"] / line["seconds"] for line in lines]

    if "goodput" in judged:
        for oracle, words in (("once", "once"), ("always", "as often as it takes")):
            found.append(figure(f"{name}: goodput, of an oracle's that asks again {words}",
                                [b["seconds"] / a["seconds"] for a, b in zip(ours, runs[oracle])],
                                GOODPUT_AIM, most=False))
    if "waited" in judged:
        found += [figure(f"{name}: share of the time that the consumer waited", waited(ours),
                         SHARE_AIM),
                  figure(f"{name}: the same, an oracle that asks again once", waited(runs["once"]),
                         SHARE_AIM),
                  figure(f"{name}: the same, as often as it takes", waited(runs["always"]),
                         SHARE_AIM)]
    if "p99.9" in judged:
        found.append(figure(f"{name}: p99.9 of completion, s", [line["p999"] for line in ours],
                            THRESHOLD_S + 3 * statistics.median(line["p50"] for line in ours)))
    found.append(figure(f"{name}: extra requests",
                        [(line["requests"] - line["reads"]) / line["reads"] for line in ours],
                        SHARE_AIM))
    found.append(figure(f"{name}: wasted bytes",
                        [line["received"] / useful(line, arguments) - 1 for line in ours], SHARE_AIM))
    return found


def measure_stalls(folder, seeds):
    tasks = [(name, seed, oracle) for name in STREAMS for seed in range(1, seeds + 1)
             for oracle in ORACLES]

    def measure(task):
        name, seed, oracle = task
        return simulate(folder, *STREAMS[name][0], *STALLS, "--seed", seed, *ORACLES[oracle],
                        "--oracle", 0 if oracle == "none" else THRESHOLD_S)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = dict(zip(tasks, pool.map(measure, tasks)))
    found = []
    for name, (arguments, judged) in STREAMS.items():
        runs = {oracle: [lines[name, seed, oracle] for seed in range(1, seeds + 1)]
                for oracle in ORACLES}
        found += figures_of_stream(name, runs, arguments, judged)
    return found


def measure_slow(folder):
    found = []
    for trip in SLOW_ROUND_TRIPS_S:
        line = simulate(folder, "--objects", SLOW_READS + STEADY_READS, "--as-ready", "--share", 0.1,
                        "--delay", 2 * trip, "--round-trip", trip, "--after", STEADY_READS)
        found.append(figure(f"10 % become slow by 3, round trip {trip * 1000:.0f} ms: extra requests",
                            [line["asked"] / SLOW_READS], SHARE_AIM))
    return found


def table(found):
    lines = [("figure", "median", "least", "most", "aim", "")]
    for each in found:
        lines.append((each["figure"], *(f"{each[key]:.4f}" for key in ("median", "least", "most")),
                      f"{each['aim']:.4g}", "" if each["met"] else "missed"))
    return report.aligned(lines, (0, 5))


def run(folder, options, versions):
    found = measure_stalls(folder, 1 if options.quick else 5) + measure_slow(folder)
    result = {"bench": "tail", "versions": versions, "judged": found}
    (report.OUT / "tail.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n".join(table(found)), end="\n\n", flush=True)
