"""The benchmark `job`: 64 ranks begin from cold on a service that takes 5,000 requests a second at first, and twice as
many every 20 minutes, in simulated time.

20 minutes are scaled to 120 s, and the rest is as it is: a beat of 1 s, 256 requests in flight of each rank, 20 ms.
Each rank has the pacing of its client. With a job they share the rate by job_share, else each finds it alone. `rate`
is what the service took of what it would have; `late` is the second half. bench/macro/job_sim.cpp runs it; with
--quick shorter.
"""

import json
import subprocess

import report

ROWS = {
    "shared, first 10 s": ["--length", "10"],
    "each alone, first 10 s": ["--alone", "--length", "10"],
    "shared": [],
    "each alone": ["--alone"],
    "shared, a quarter dies": ["--die", "16"],
    "shared, half are slow": ["--slow", "32", "--slow-rate", "10"],
    "shared, the board goes": ["--board-goes"],
    "shared, told twice the rate": ["--told-reads", "10000"],
    "shared, it takes no more": ["--doubles", "0", "--told-doubles", "120"],
}


def run(folder, options, versions):
    rows = []
    for name, arguments in ROWS.items():
        command = [folder / "bench/macro/bench_job_sim", *arguments]
        if options.quick:
            command += ["--takes", "500", *([] if "--length" in arguments else ["--length", "120"])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        rows.append({"case": "job", "name": name, **json.loads(done.stdout)})
    lines = [("ranks", "rate of what is allowed", "refused", "rate, late", "refused, late")]
    for row in rows:
        lines.append((row["name"], f"{row['rate']:.3f}", f"{row['share_refused']:.2%}", f"{row['rate_late']:.3f}",
                      f"{row['share_refused_late']:.2%}"))
    result = {"bench": "job", "versions": versions, "simulated": rows}
    (report.OUT / "job.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n".join(report.aligned(lines, (0,))), flush=True)
