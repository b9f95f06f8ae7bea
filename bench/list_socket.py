"""The benchmark `list_socket`: a listing over a socket, beside page after page and other clients.

1 M names, a service that answers after 20 ms, 48 calls in flight. bench/macro/list_socket.cpp runs
ours, `sequential` (our own, page after page) and `floor`, which receives and decodes the same pages
and does nothing else; bench/peers/listings the clients of others. Client and server have a core
each.
"""

import contextlib
import json
import os
import shutil
import statistics
import subprocess

import needs
from report import row

SHAPES = {"a": "train/%08d.jpg", "d": "md5", "f": "6 deep"}
NAMES, SLOTS, RTT_MS = 1_000_000, 48, 20
PAGE, SMALL_PAGE = 1_000, 250
PAGE_OVERHEAD_B = 80  # of an object in JSON, besides its name
ALLOWED_RATE = 600  # calls a second: a third of what is offered with pages of 250 names
SLOW_CAP_B = 8 << 20
LIMIT_S = 900
CLIENT_CORE = "1"
PEERS = "listings"


def command(folder, mode, shape, names, *more):
    return [folder / "bench/macro/bench_list_socket", mode, shape, str(names), str(SLOTS),
            str(RTT_MS), *map(str, more)]


def measure(folder, mode, shape, names, *more):
    done = subprocess.run(command(folder, mode, shape, names, *more), stdout=subprocess.PIPE,
                          text=True, timeout=LIMIT_S, check=True)
    return json.loads(done.stdout)


def run_first():
    """The command that puts a client before other programs on its core, as ours puts itself."""
    chrt = ["chrt", "-f", "1"]
    allowed = shutil.which("chrt") and subprocess.run([*chrt, "true"], stderr=subprocess.DEVNULL,
                                                      check=False).returncode == 0
    return chrt if allowed else []


@contextlib.contextmanager
def serving(folder, shape, names):
    """The endpoint of a server of its own."""
    with subprocess.Popen(command(folder, "serve", shape, names), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as server:
        yield f"http://127.0.0.1:{json.loads(server.stdout.readline())['port']}"
        server.stdin.close()


def measure_peer(folder, python, peer, shape, names):
    """The same listing by another client, from a server of its own."""
    with serving(folder, shape, names) as endpoint:
        environment = {k: v for k, v in os.environ.items()
                       if k != "STORAGE_EMULATOR_HOST" and not k.lower().endswith("_proxy")}
        done = subprocess.run([*run_first(), "taskset", "-c", CLIENT_CORE,
                               python, needs.CLIENTS / PEERS / "list_bucket.py", peer, endpoint,
                               "bench"],
                              stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True,
                              env=environment)
    line = json.loads(done.stdout)
    if line["items"] != names:
        raise SystemExit(f"bench: {peer} listed {line['items']} of {names} names")
    return line


def cpu(line):
    return line["cpu_s"] / line["items"] * 1e6


def wall(line):
    return line["wall_s"]


def peak(line):
    """Bytes of memory for each object at the peak, above what the process had before."""
    return (line["max_rss"] - line["base_rss"]) / line["items"]


def pages(line, kept_too):
    """Bytes of the pages in flight: as JSON, and as columns."""
    name = line["name_bytes"] / line["items"]
    return SLOTS * PAGE * (PAGE_OVERHEAD_B + name + (24 + name if kept_too else 0))


def needed(line):
    """Bytes of memory for each object, by arithmetic: the result and the pages in flight."""
    return 24 + (line["name_bytes"] + pages(line, kept_too=True)) / line["items"]


def compare(title, unit, of, ours, name, theirs):
    """A row of medians, with the ratios round by round."""
    return row(title, unit, statistics.median(map(of, ours)), name,
               statistics.median(map(of, theirs)), [of(a) / of(b) for a, b in zip(ours, theirs)])


def rows_of_shape(folder, shape, names, rounds, python, peers):
    runs = {mode: [] for mode in ("fast", "sequential", "floor")}
    for _ in range(rounds):
        for mode, lines in runs.items():
            lines.append(measure(folder, mode, shape, names))
    fast = runs["fast"]
    title = f"{shape} ({SHAPES[shape]})"
    rows = [
        compare(f"{title}, wall", "s", wall, fast, "sequential", runs["sequential"]),
        compare(f"{title}, CPU", "us/object", cpu, fast, "floor", runs["floor"]),
        row(f"{title}, CPU of the server's core", "s",
            statistics.median(line["server_cpu_s"] for line in fast), "wall",
            statistics.median(map(wall, fast))),
        row(f"{title}, calls", "calls", statistics.median(line["requests"] for line in fast),
            "pages", -(-names // PAGE)),
        row(f"{title}, kept", "B/object", fast[-1]["kept_bytes"] / names, "24 B + name",
            24 + fast[-1]["name_bytes"] / names),
        row(f"{title}, peak", "B/object", statistics.median(map(peak, fast)),
            "24 B + name + pages in flight", needed(fast[-1])),
    ]
    for peer in peers:
        line = [measure_peer(folder, python, peer, shape, names)]
        rows += [compare(f"{title}, wall", "s", wall, fast, peer, line),
                 compare(f"{title}, CPU", "us/object", cpu, fast, peer, line)]
    return rows


def rows_of_streams(folder, names, rounds):
    """In the order of names, each page dropped."""
    ordered = [measure(folder, "ordered", "a", names) for _ in range(rounds)]
    sequential = [measure(folder, "sequential", "a", names) for _ in range(rounds)]
    slow = [measure(folder, "slow", "a", names) for _ in range(rounds)]
    return [
        compare("stream by name, wall", "s", wall, ordered, "sequential", sequential),
        row("stream by name that nobody reads, held", "MiB",
            statistics.median(line["held_rss"] - line["base_rss"] for line in slow) / (1 << 20),
            "memory_cap + buffers of pages", (SLOW_CAP_B + pages(slow[-1], kept_too=False)) / (1 << 20)),
    ]


def rows_under_limit(folder, names, rounds):
    """The service accepts a third of the rate offered, and answers 429 to the rest."""
    free = [measure(folder, "small", "a", names) for _ in range(rounds)]
    held = [measure(folder, "small", "a", names, ALLOWED_RATE) for _ in range(rounds)]

    def used(line):
        return line["accepted"] / line["wall_s"]

    def rejected(line):
        return line["rejected"] / (line["accepted"] + line["rejected"])

    return [
        row("429: rate without a limit", "calls/s", statistics.median(map(used, free)), "allowed",
            ALLOWED_RATE),
        row("429: rate used (aim 0.9)", "calls/s", statistics.median(map(used, held)), "allowed",
            ALLOWED_RATE, [used(line) / ALLOWED_RATE for line in held]),
        row("429: share rejected", "", statistics.median(map(rejected, held)), "aim", 0.1,
            [rejected(line) / 0.1 for line in held]),
    ]


def measure_all(options, folder):
    """The rows, and the versions of the peers."""
    names = NAMES // (8 if options.quick else 1)
    rounds = max(1, options.rounds // 2)
    python, peers = needs.from_pypi(PEERS)
    rows = [each for shape in SHAPES
            for each in rows_of_shape(folder, shape, names, rounds, python, peers)]
    rows += rows_of_streams(folder, names, rounds)
    rows += rows_under_limit(folder, names, rounds)
    return rows, peers


def languages(options, folder):
    """The listing to Arrow batches by our C ABI, beside the same in C++."""
    names = NAMES // (8 if options.quick else 1)
    program = [*run_first(), "taskset", "-c", CLIENT_CORE, folder / "bench/macro/bench_languages"]
    runs = {"c": [], "cpp": []}
    with serving(folder, "a", names) as endpoint:
        for done in range(options.rounds):
            for language in sorted(runs, reverse=done % 2 == 1):
                line = subprocess.run([*program, "--endpoint", endpoint, "--case",
                                       f"list-{language}", "--count", str(names),
                                       "--concurrency", str(SLOTS)],
                                      stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True)
                runs[language].append(json.loads(line.stdout))
    return [compare(f"list1m_c {title}", unit, of, runs["c"], "C++", runs["cpp"])
            for title, unit, of in [("plain", "us/object", by_request), ("time", "s", wall)]]


def by_request(line):
    return line["cpu_s"] / line["requests"] * 1e6
