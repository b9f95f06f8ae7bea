"""The benchmark `index_sim`: an index of very large shards, in simulated time.

5,000 shards of 8 GB with members of 1 MiB, whose bodies are skipped by ranges: how many of their bytes are read, and
how long it takes with a round trip of 20 ms, beside reading everything by a link of 10 Gbit/s. It takes ten
minutes; with --quick there are 64 shards. bench/macro/index_sim.cpp runs it.
"""

import json
import subprocess
import tempfile
from pathlib import Path

from report import row

MEMBERS, MEMBER = 8192, 1 << 20
LINK = 1.25e9
AIM = 0.002


def measure_all(options, folder, show):
    shards = 64 if options.quick else 5000
    show(f"index_sim: {shards:,} shards")
    with tempfile.TemporaryDirectory() as scratch:
        command = [folder / "bench/macro/bench_index_sim", "--shards", shards, "--members", MEMBERS, "--size", MEMBER,
                   "--rate", LINK, "--path", Path(scratch) / "index"]
        said = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True)
    show("")
    found = json.loads(said.stdout)
    whole = found["bytes"] / LINK
    case = f"index of {shards:,} shards of 8 GB"
    return [row(case, "bytes read, GB", found["read"] / 1e9, "all bytes", found["bytes"] / 1e9, aim=AIM),
            row(case, "simulated s", found["seconds"], "all bytes by the link", whole)], {}
