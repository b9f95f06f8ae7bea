"""The benchmark `list_socket`: a listing over a socket, beside page after page.

1 M names, a service that answers after 20 ms, 48 calls in flight. bench/macro/list_socket.cpp runs
it: client and server on a core each. `floor` receives and decodes the same pages and does nothing
else.
"""

import json
import statistics
import subprocess

import report
from report import row

SHAPES = {"a": "train/%08d.jpg", "d": "md5", "f": "6 deep"}
NAMES, SLOTS, RTT_MS = 1_000_000, 48, 20
LIMIT_S = 600


def measure(folder, mode, shape, names):
    command = [folder / "bench/macro/bench_list_socket", mode, shape, str(names), str(SLOTS),
               str(RTT_MS)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True)
    return json.loads(done.stdout)


def rows_of(folder, shape, title, options):
    names = NAMES // (8 if options.quick else 1)
    runs = {mode: [] for mode in ("fast", "sequential", "floor")}
    for _ in range(max(1, options.rounds // 2)):
        for mode, lines in runs.items():
            lines.append(measure(folder, mode, shape, names))

    def median(mode, of):
        return statistics.median(of(line) for line in runs[mode])

    def cpu(line):
        return line["cpu_s"] / line["items"] * 1e6

    fast = runs["fast"][-1]
    title = f"{shape} ({title})"
    walls = [a["wall_s"] / b["wall_s"] for a, b in zip(runs["fast"], runs["sequential"])]
    costs = [cpu(a) / cpu(b) for a, b in zip(runs["fast"], runs["floor"])]
    return [
        row(f"{title}, wall", "s", median("fast", lambda line: line["wall_s"]), "sequential",
            median("sequential", lambda line: line["wall_s"]), walls),
        row(f"{title}, CPU", "us/object", median("fast", cpu), "floor", median("floor", cpu), costs),
        row(f"{title}, calls", "calls", median("fast", lambda line: line["requests"]), "pages",
            -(-names // 1000)),
        row(f"{title}, kept", "B/object", fast["kept_bytes"] / fast["items"], "24 B + name",
            24 + fast["name_bytes"] / fast["items"]),
        row(f"{title}, peak of the process", "B/object", fast["max_rss"] / fast["items"],
            "sequential", runs["sequential"][-1]["max_rss"] / fast["items"]),
    ]


def measure_all(options, folder):
    return [each for shape, title in SHAPES.items()
            for each in rows_of(folder, shape, title, options)]
