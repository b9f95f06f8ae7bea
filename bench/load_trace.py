"""The benchmark `trace`: the reads of torch.load, by checkpoint_reader and by gcsfs.

bench/traces/torch_load.json says which bytes torch asked of a file of 1 GiB, in order;
bench/traces/record_torch.py recorded it. Both replay it as one file object would be read, with
their defaults, from a fresh emulator with 20 ms of round trip and 50 MB/s for each connection.
Requests and bytes are counted there. Over-read: bytes fetched for each byte that torch asked for,
counted once.
"""

import json
import pathlib
import statistics
import subprocess
import urllib.request

import folders
import needs
from report import row

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRACE = ROOT / "bench/traces/torch_load.json"
OBJECT = "model.pt"
LINK = ("--rtt", "20", "--connection-bandwidth", "50000000")
FIGURES = {"requests": "requests", "over-read": "B/B", "wall": "s", "CPU": "s"}


def wanted_bytes(reads):
    """Bytes that are asked for, each counted once."""
    total, end = 0, 0
    for offset, length in sorted(reads):
        total += max(0, offset + length - max(end, offset))
        end = max(end, offset + length)
    return total


def counters(endpoint):
    with urllib.request.urlopen(f"{endpoint}/_emulator/counters") as reply:
        return json.load(reply)


def replay(name, programs, seed, trace, lines):
    """One replay by one program against a server of its own."""
    with folders.Emulator(programs["emulator"], seed, LINK) as server:
        path = f"{folders.BUCKET}/{OBJECT}"
        command = {
            "ours": [programs["ours"], "--endpoint", server.endpoint, "--bucket", folders.BUCKET,
                     "--object", OBJECT],
            "gcsfs": [programs.get("gcsfs"), ROOT / "bench/peers/gcsfs/replay_trace.py",
                      server.endpoint, path],
        }[name]
        before = counters(server.endpoint)
        done = subprocess.run(["taskset", "-c", folders.CLIENT_CORE, *map(str, command)],
                              input=lines, stdout=subprocess.PIPE, text=True, check=True)
        after = counters(server.endpoint)
    cost = json.loads(done.stdout)
    fetched = after["replyBodyBytes"] - before["replyBodyBytes"]
    return {"requests": requests(after) - requests(before),
            "over-read": fetched / wanted_bytes(trace["reads"]), "wall": cost["wall_s"],
            "CPU": cost["cpu_s"]}


def requests(counted):
    return sum(of["count"] for of in counted["requests"] if of["verb"].startswith("objects."))


def measure(options, folder, progress):
    """The rows, and the versions of the programs."""
    programs = {"ours": folder / "bench/macro/bench_trace",
                "emulator": folder / needs.PROGRAMS["dataflux-emulator"]}
    python, pinned = needs.from_pypi("gcsfs")
    versions = {}
    if python is not None:
        programs["gcsfs"] = python
        versions["gcsfs"] = pinned["gcsfs"]
    trace = json.loads(TRACE.read_text())
    lines = "".join(f"{offset} {length}\n" for offset, length in trace["reads"])
    rounds = 1 if options.quick else options.rounds
    order = [name for name in ("ours", "gcsfs") if name in programs]
    costs = {name: [] for name in order}
    with needs.scratch(0) as seed:  # a hole takes no room
        with open(pathlib.Path(seed) / OBJECT, "wb") as file:
            file.truncate(trace["size"])
        for done in range(rounds):
            for name in order:
                progress(f"trace: round {done + 1} of {rounds}, {name}")
                costs[name].append(replay(name, programs, pathlib.Path(seed), trace, lines))
    progress("")
    versions["trace"] = trace["what"]
    return [compare(figure, unit, costs) for figure, unit in FIGURES.items()], versions


def compare(figure, unit, costs):
    ours = [cost[figure] for cost in costs["ours"]]
    theirs = [cost[figure] for cost in costs.get("gcsfs", [])]
    return row(f"torch.load of 1 GiB, {figure}", unit, statistics.median(ours), "gcsfs",
               statistics.median(theirs) if theirs else None,
               [a / b for a, b in zip(ours, theirs)])
