"""The benchmark `share_sim`: how fast processes that share a listing (list_shared) list it, in simulated
time.

64 processes have twelve tasks at a time, each with four calls in flight. A full page takes 1.1, a call for
the board 0.1. Ideal is all calls in flight being full pages all the time. 10^9 names, some five minutes a
shape; with --quick 10^7. bench/macro/share_sim.cpp runs it.
"""

import json
import subprocess

import report

SHAPES = "bdhi"


def run(folder, options, versions):
    size = 10_000_000 if options.quick else 1_000_000_000
    rows = []
    for shape in SHAPES:
        done = subprocess.run([folder / "bench/macro/bench_share_sim", "--shapes", shape, "--size", str(size)],
                              stdout=subprocess.PIPE, text=True, check=True)
        rows.append(json.loads(done.stdout))
    lines = [("names", "shape", "", "time", "to ideal", "calls a page", "board's a page", "tasks",
              "largest share to mean")]
    for row in rows:
        lines.append((f"{row['names']:,}", row["shape"], row["title"], f"{row['time']:.1f}",
                      f"{row['time'] / row['ideal']:.2f}", f"{row['calls'] / row['pages']:.2f}",
                      f"{row['board_calls'] / row['pages']:.2f}", f"{row['tasks']:,}",
                      f"{row['most'] * row['ranks'] / row['names']:.2f}"))
    result = {"bench": "share_sim", "versions": versions, "simulated": rows}
    (report.OUT / "share_sim.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n".join(report.aligned(lines, (1, 2))), flush=True)
