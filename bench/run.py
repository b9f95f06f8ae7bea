#!/usr/bin/env python3
"""Runs the benchmarks: `bench/run.py [NAME...] [--peers] [--rounds N] [--quick]`.

`./dev bench` calls it, once it has installed and built what needs.py says. Exit status: 0, 1 when
something is missing or fails, 2 for wrong arguments.

Macro benchmarks pin the load server and the client under measurement to different cores and
alternate our client with every reference, so that a change of the machine's mood meets all alike.
What is compared is CPU time of all threads. NOTES.md says how to read the figures.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import builds
import cache
import checkpoints
import dataloader
import epoch_sim
import feed
import filesystem
import folders
import index_sim
import job
import list_sim
import list_socket
import load_sim
import needs
import python_reads
import report
import rust_reads
import s3
import save
import share_sim
import shards
import shards_write
import simulate
from report import row

ROOT = pathlib.Path(__file__).resolve().parent.parent
GIB = float(1 << 30)
SERVER_CORE, CLIENT_CORE = "0", "1"
CLIENT_LIMIT_S = 300

# count: requests of one round; per: what the cost is divided by; scale: to the unit; variants: a
# program, another way in which it does the same, and what that is called; not_by: programs that cannot do it;
# asked: what the clients call it, if not so; ours: the program that is ours; wall: its time counts, too.
CASES = {
    "get16k": {"count": 60000, "concurrency": 32, "unit": "us/GET", "per": "requests",
               "scale": 1e6, "schemes": ["http", "https"]},
    "range8m": {"count": 256, "concurrency": 4, "unit": "s/GiB", "per": "bytes",
                "scale": GIB, "schemes": ["http", "https"],
                "variants": [("object_store", "range8m-stream", "object_store, streamed")]},
    "listpage": {"count": 4000, "concurrency": 4, "unit": "us/object", "per": "items",
                 "scale": 1e6, "schemes": ["http"]},
    "put32m": {"count": 64, "concurrency": 4, "unit": "s/GiB", "per": "bytes",
               "scale": GIB, "schemes": ["http", "https"], "not_by": ["google-cloud-go"]},
    **{name: {"count": 60000, "concurrency": 32, "unit": "us/call", "per": "requests",
              "scale": 1e6, "schemes": ["http"],
              "not_by": ["object_store", "google-cloud-go"]}
       for name in ("stat", "delete", "insert")},
}
DOWNLOAD = {"ours": "download", "schemes": ["http", "https"],
            "not_by": ["libcurl", "google-cloud-go"]}
CASES["many16k"] = {**DOWNLOAD, "asked": "get16k", "count": 60000, "concurrency": 64,
                    "unit": "us/object", "per": "requests", "scale": 1e6,
                    "variants": [("ours", "get16k-single", "get_many, one by one")]}
CASES["many100k"] = {**DOWNLOAD, "asked": "get100k", "count": 20000, "concurrency": 64,
                     "unit": "us/object", "per": "requests", "scale": 1e6}
CASES["one1g"] = {**DOWNLOAD, "count": 256, "concurrency": 16, "unit": "s/GiB", "per": "bytes",
                  "scale": GIB, "wall": True, "not_by": [*DOWNLOAD["not_by"], "object_store"]}
CASES["file1g"] = CASES["one1g"]
CASES["load"] = {**DOWNLOAD, "ours": "load", "asked": "one1g", "count": 512, "concurrency": 16,
                 "schemes": ["http"], "unit": "s/GiB", "per": "bytes", "scale": GIB, "wall": True,
                 "not_by": [*DOWNLOAD["not_by"], "object_store"],
                 "variants": [("ours", "one1g-read", "read() in sequence")]}
# Ours by the C ABI, beside the same in C++.
for name, count in [("many16k", 60000), ("one16k", 40000)]:
    CASES[f"{name}_c"] = {**DOWNLOAD, "ours": "languages", "asked": f"{name}-c", "count": count,
                          "concurrency": 64, "unit": "us/object", "per": "requests", "scale": 1e6,
                          "schemes": ["http"],
                          "not_by": [*DOWNLOAD["not_by"], "floor", "object_store"],
                          "variants": [("ours", f"{name}-cpp", "C++")]}
GROUPS = {"languages": ["many16k_c", "one16k_c"], "get_many": ["many16k", "many100k"], "get_one": ["one1g", "file1g"],
          "verbs": ["stat", "delete", "insert"]}
SCHEME_WORDS = {"http": "plain", "https": "TLS 1.3"}
SIMULATIONS = {"list_sim": list_sim, "share_sim": share_sim, "epoch_sim": epoch_sim, "job": job}
SUMMARIES = {"cp": folders.summary, "dataloader": dataloader.summary, "feed": dataloader.summary,
             "s3": dataloader.summary, "shards": dataloader.summary, "simulate": dataloader.summary}  # lines below the table
FILE_BYTES = 2 << 30  # of file1g: the new file beside the last one
# What one function measures: of (options, folder, how progress is shown), rows and versions.
WHOLE = {"cp": folders.measure, "fsspec": filesystem.measure_all, "dataloader": dataloader.measure_all,
         "feed": feed.measure_all, "checkpoints": checkpoints.measure_all, "shards": shards.measure_all,
         "cache": cache.measure_all, "shards_write": shards_write.measure_all, "index_sim": index_sim.measure_all,
         "simulate": simulate.measure_all}
NAMES = [*CASES, *GROUPS, "build", "save", "s3", *WHOLE, "list_socket", *SIMULATIONS]


class LoadServer:
    """The load server on its own core; it ends with its standard input."""

    def __init__(self, program, folder):
        self.folder = folder
        self.ca = str(pathlib.Path(folder) / "ca.pem")
        self.process = subprocess.Popen(
            ["taskset", "-c", SERVER_CORE, program, "--ca", self.ca],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ports = json.loads(self.process.stdout.readline())

    def endpoint(self, scheme):
        return f"{scheme}://localhost:{self.ports[scheme]}"

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def measure(program, server, scheme, name, count, concurrency):
    """One run of a client; its JSON line."""
    command = ["taskset", "-c", CLIENT_CORE, *program, "--endpoint", server.endpoint(scheme),
               "--ca", server.ca, "--case", name, "--count", str(count),
               "--concurrency", str(concurrency)]
    done = subprocess.run(command, cwd=server.folder, stdout=subprocess.PIPE, text=True,
                          timeout=CLIENT_LIMIT_S, check=False)
    if done.returncode != 0:
        raise SystemExit(f"bench: failed: {' '.join(map(str, command))}")
    return json.loads(done.stdout)


def alternate(programs, server, scheme, name, rounds, count):
    """CPU costs and times by program, one per round, and the last line of each. The order turns with
    the rounds."""
    case = CASES[name]
    programs = {program: command for program, command in programs.items()
                if program not in case.get("not_by", [])}
    asked = {program: case.get("asked", name) for program in programs}
    for program, variant, label in case.get("variants", []):
        if program in programs:
            programs = {**programs, label: programs[program]}
            asked[label] = variant
    costs = {program: [] for program in programs}
    walls = {program: [] for program in programs}
    lines = {}
    order = list(programs)
    for done in range(rounds):
        show_progress(f"{name} {SCHEME_WORDS[scheme]}: round {done + 1} of {rounds}")
        for program in order:
            line = measure(programs[program], server, scheme, asked[program], count,
                           case["concurrency"])
            costs[program].append(line["cpu_s"] / line[case["per"]] * case["scale"])
            walls[program].append(line["wall_s"] / line[case["per"]] * case["scale"])
            lines[program] = line
        order = order[1:] + order[:1]
    show_progress("")
    return costs, walls, lines


def show_progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def compared(title, unit, costs):
    """A row for each reference."""
    ours = costs.get("ours", [])
    median = statistics.median(ours) if ours else None
    return [row(title, unit, median, reference, statistics.median(costs[reference]),
                [mine / other for mine, other in zip(ours, costs[reference])])
            for reference in costs if reference != "ours"]


def run_case(name, programs, server, options):
    case = CASES[name]
    count = max(case["count"] // (8 if options.quick else 1), 2 * case["concurrency"])
    rows = []
    if "ours" in case and "ours" in programs:
        ours = programs["ours"][0]
        programs = {**programs, "ours": [ours.with_name(f"bench_{case['ours']}")]}
    for scheme in case["schemes"]:
        costs, walls, lines = alternate(programs, server, scheme, name, options.rounds, count)
        title = f"{name} {SCHEME_WORDS[scheme]}"
        rows += compared(title, case["unit"], costs)
        if case.get("wall"):
            rows += compared(f"{title}, time", case["unit"], walls)
        if "ours" in lines:
            rows += counted_rows(title, name, lines["ours"])
    return rows


def counted_rows(title, name, line):
    """What our client counts besides CPU time: these do not vary from round to round."""
    rows = []
    if line["allocations"] >= 0:
        aim = ("aim", 0) if name in ("get16k", "range8m", *GROUPS["get_many"]) else \
            ("counted only", None)
        what = "new/object" if name in GROUPS["get_many"] else "new/request"
        rows.append(row(f"{title}, heap", what, line["allocations"] / line["requests"],
                        *aim))
    if name == "listpage" and "memory_per_item" in line:
        rows.append(row(f"{title}, memory", "B/object", line["memory_per_item"], "24 B + name",
                        24 + line["name_bytes_per_item"]))
    return rows


def cases_of(names):
    return [case for name in names for case in GROUPS.get(name, [name])]


def peers_of(options):
    """The clients in other languages that these benchmarks measure."""
    if not options.peers:
        return []
    cases = [{"not_by": ["google-cloud-go"]} if name == "save" else CASES[name]
             for name in cases_of(options.names) if name in CASES or name == "save"]
    return [peer for peer in needs.PEER_TOOLS
            if any(peer not in case.get("not_by", []) for case in cases)]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}; "
                        "default: the verbs'")
    parser.add_argument("--peers", action="store_true",
                        help="also measure clients in other languages, where their tools are there")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="an eighth of the requests")
    parser.add_argument("--socket", action="store_true",
                        help="epoch_sim also over a socket, scaled down")
    parser.add_argument("--build-dir", type=pathlib.Path,
                        help="a configured build folder to use instead of the release preset's")
    parser.add_argument("--packages", action="store_true",
                        help="only print the Debian packages that these need beyond the usual")
    parser.add_argument("--targets", action="store_true",
                        help="only print the CMake targets that these need")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(NAMES)}")
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    names = options.names or [name for name in CASES if "ours" not in CASES[name]]
    options.names = names
    return options


def main():
    options = parse_arguments()
    if options.packages or options.targets:
        found = needs.packages(options, peers_of(options)) if options.packages else []
        found += needs.targets(options) if options.targets else []
        print("".join(f"{each}\n" for each in found), end="")
        return
    folder = (options.build_dir or ROOT / "build/release").resolve()
    needs.check(options, folder)
    report.OUT.mkdir(exist_ok=True)
    programs = {name: [folder / f"bench/macro/bench_{name}"] for name in ("ours", "floor", "libcurl")}
    programs = {name: command for name, command in programs.items() if command[0].exists()}
    versions = builds.versions(folder)
    for name, command, version in builds.peers(peers_of(options)):
        programs[name] = command
        versions[name] = version
    room = FILE_BYTES if "file1g" in cases_of(options.names) else 0
    with needs.scratch(room) as scratch, \
            LoadServer(folder / "bench/macro/bench_load_server", scratch) as server:
        for name in options.names:
            if name in SIMULATIONS:
                SIMULATIONS[name].run(folder, options, versions)
                continue
            if name == "build":
                rows = builds.measure(options)
            elif name in WHOLE:
                rows, more = WHOLE[name](options, folder, show_progress)
                versions = {**versions, **more}
            elif name == "save":
                rows, more = save.measure_all(options, folder, server, measure, programs,
                                              show_progress)
                versions = {**versions, **more}
            elif name == "s3":
                rows, more = s3.measure_all(options, folder, server, measure, show_progress)
                versions = {**versions, **more}
            elif name == "list_socket":
                rows, more = list_socket.measure_all(options, folder)
                versions = {**versions, **more}
            else:
                rows = [row for each in cases_of([name])
                        for row in run_case(each, programs, server, options)]
            if name == "languages":
                rows += list_socket.languages(options, folder)
                rows += rust_reads.measure_all(options, folder, server, measure, programs, show_progress)
                more_rows, more = python_reads.measure_all(options, folder, server, measure,
                                                           show_progress)
                rows += more_rows
                versions = {**versions, **more}
            if name == "load":
                rows += load_sim.measure(options, folder, show_progress)
            result = {"bench": name, "versions": versions, "rows": rows}
            (report.OUT / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
            lines = report.table(result)
            if name in SUMMARIES:
                lines += SUMMARIES[name](rows)
            print("\n".join(lines), end="\n\n", flush=True)


if __name__ == "__main__":
    try:
        main()
    except subprocess.SubprocessError as failed:  # a status other than 0, or a time limit
        raise SystemExit(f"bench: failed: {failed}") from None
