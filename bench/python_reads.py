"""Part of the benchmark `languages`: the same reads from Python, by our package and, with --peers,
by the clients that Python programs use. CPU time of the process; the server looks the same to all.

C++ beside it is bench_languages, which reads the same objects with as many in flight. Clients that fail at a case, for one because they refuse the server's certificate, are named
and left out.
"""

import json
import os
import statistics
import subprocess
import sys

import list_socket
import needs
from report import row

PEERS = "reads"
PROGRAM = needs.CLIENTS / PEERS / "read_objects.py"
SCHEMES = {"http": "plain", "https": "TLS 1.3"}
# case of read_objects.py, in words, scheme, count, others in flight, what C++ runs, the floor's case
CASES = [
    ("get16k", "get_many 16 KiB", "http", 40000, 64, ("languages", "many16k-cpp"), "get16k"),
    ("get16k", "get_many 16 KiB", "https", 20000, 64, ("languages", "many16k-cpp"), "get16k"),
    ("get100k", "get_many 100 KiB", "http", 10000, 64, ("languages", "many100k-cpp"), "get100k"),
    ("threads16k", "get_many 16 KiB, 8 threads", "http", 20000, 64, ("languages", "many16k-cpp"),
     None),
    ("one16k", "get 16 KiB, one by one", "http", 4000, 1, None, None),
    ("tasks16k", "AsyncClient.get 16 KiB, 64 tasks", "http", 8000, 64, None, None),
]
PEER_COUNT = 2000  # these cost many times as much
FEWER = {"gcsfs": 4, "google-cloud-storage": 4}
TASKS = {name: ["tasks16k"] for name in ("tensorstore", "opendal")}
CLIENTS = {"obstore": ["get16k", "get100k", "one16k"], "obstore-async": ["get16k", "get100k", "tasks16k"],
           **{name: ["get16k", "get100k", "one16k", *TASKS.get(name, [])]
              for name in ("tensorstore", "opendal", "gcsfs", "google-cloud-storage")}}


def environment(folder):
    """For programs that use our package of this tree, on the library that was built."""
    kept = {name: value for name, value in os.environ.items()
            if name != "STORAGE_EMULATOR_HOST" and not name.lower().endswith("_proxy")}
    return {"DATAFLUX_LIBRARY": str(folder / "libdataflux.so.0"), **kept,
            "PYTHONPATH": str(needs.ROOT / "python/src")}


def cost(line):
    return line["cpu_s"] / line["requests"] * 1e6


def measure_case(case, folder, server, measure, rounds, quick, python, show):
    asked, words, scheme, count, in_flight, cpp, floor = case
    count = max(count // (8 if quick else 1), 4 * in_flight)
    title = f"python {words}, {SCHEMES[scheme]}"
    runs = {"ours": ([sys.executable, PROGRAM, "dataflux"], asked, count)}
    if cpp is not None:
        runs["C++"] = ([folder / f"bench/macro/bench_{cpp[0]}"], cpp[1], count)
    if floor is not None:
        runs["floor"] = ([folder / "bench/macro/bench_floor"], floor, count)
    for name, cases in CLIENTS.items():
        if python is not None and asked in cases:
            runs[name] = ([python, PROGRAM, name], asked, PEER_COUNT // FEWER.get(name, 1))
    costs = {name: [] for name in runs}
    for done in range(rounds):
        show(f"{title}: round {done + 1} of {rounds}")
        for name, (program, what, number) in list(runs.items()):
            try:
                line = measure(program, server, scheme, what, number, in_flight)
            except (SystemExit, subprocess.SubprocessError):
                if name in ("ours", "C++", "floor"):
                    raise
                print(f"bench: {name} cannot do {title}")
                del runs[name], costs[name]
                continue
            costs[name].append(cost(line))
    show("")
    ours = costs.pop("ours")
    if not costs:
        return [row(title, "us/object", statistics.median(ours), "measured only", None)]
    return [row(title, "us/object", statistics.median(ours), name, statistics.median(theirs),
                [a / b for a, b in zip(ours, theirs)]) for name, theirs in costs.items()]


def listing(options, folder, python, show):
    """A bucket of 1 M names as a table of pyarrow, beside the same as Arrow batches in C++ and by
    obstore, which asks for a page after the other."""
    names = list_socket.NAMES // (8 if options.quick else 1)
    first = [*list_socket.run_first(), "taskset", "-c", list_socket.CLIENT_CORE]
    ask = [python, needs.CLIENTS / "listings/list_bucket.py"]
    lines = {"ours": [], "C++": [], "obstore": []}
    with list_socket.serving(folder, "a", names) as endpoint:
        commands = {
            "ours": [*ask, "dataflux", endpoint, "bench"],
            "C++": [folder / "bench/macro/bench_languages", "--endpoint", endpoint, "--case",
                    "list-cpp", "--count", str(names), "--concurrency", str(list_socket.SLOTS)],
            "obstore": [*ask, "obstore-arrow", endpoint, "bench"]}
        for done in range(options.rounds):
            show(f"python list: round {done + 1} of {options.rounds}")
            for name, command in commands.items():
                if name == "obstore" and done > 0:
                    continue
                said = subprocess.run([*first, *command], stdout=subprocess.PIPE, text=True,
                                      timeout=list_socket.LIMIT_S, check=True)
                lines[name].append({"requests": names, **json.loads(said.stdout)})
    show("")
    return [list_socket.compare(f"python list 1 M names to pyarrow, {title}", unit, of,
                                lines["ours"], name, lines[name])
            for name in ("C++", "obstore")
            for title, unit, of in (("plain", "us/object", cost), ("time", "s", list_socket.wall))]


def measure_all(options, folder, server, measure, show):
    python, versions = needs.from_pypi(PEERS) if options.peers else (None, {})
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(environment(folder))
    try:
        rows = []
        for case in CASES:
            rows += measure_case(case, folder, server, measure, options.rounds, options.quick, python,
                                 show)
        if python is not None:
            rows += listing(options, folder, python, show)
    finally:
        os.environ.clear()
        os.environ.update(before)
    return rows, versions
