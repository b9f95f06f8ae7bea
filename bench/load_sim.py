"""The part of the benchmark `load` in simulated time: 50 MB/s a connection, 20 ms of round trip.

How much of min(connections, link / 50 MB/s) streams, each as fast as a single one, read_all() and
read() of 2 GiB reach; bench/macro/load_sim.cpp runs it. The median of the seeds. Only read_all()
has an aim: read() by pieces of 16 MiB keeps in flight what the cache holds. And how much of its
own speed a loader of 100 KB objects keeps beside read_all(). Its aim is for where connections
limit, for it gets half of them; a single one cannot be halved, and on a full link long reads
without a pause get more of each connection's time.
"""

import json
import statistics
import subprocess

from report import row

CONNECTION = 50e6
# (connections, bytes a second of the link; 0 = unlimited)
NETWORKS = [(1, 0), (4, 0), (16, 0), (256, 400e6), (256, 1.6e9)]
AIM = 0.9
LOADER_AIM = 0.45


def simulate(folder, connections, link, seed):
    done = subprocess.run([folder / "bench/macro/bench_load_sim", "--connections", str(connections),
                           "--link", str(link), "--seed", str(seed)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def title_of(connections, link):
    return f"{link / 1e6:.0f} MB/s" if link else f"{connections} connections"


def measure(options, folder, progress):
    rows = []
    for connections, link in NETWORKS:
        title = title_of(connections, link)
        progress(f"load simulated: {title}")
        streams = min(connections, link / CONNECTION) if link else connections
        lines = [simulate(folder, connections, link, seed)
                 for seed in range(1, 2 if options.quick else 6)]
        for call, key, aim in (("read_all()", "read_all_s", AIM), ("read()", "read_s", None)):
            reached = [line["one_stream_s"] / line[key] / streams for line in lines]
            rows.append(row(f"{title}, {call}", f"of {streams:.0f} streams",
                            statistics.median(reached), "aim" if aim else "counted only", aim,
                            [each / aim for each in reached] if aim else []))
        if connections > 1:
            share = [line["items_beside"] / line["items_alone"] for line in lines]
            rows.append(row(f"{title}, loader beside read_all()", "of its own speed",
                            statistics.median(share), "counted only" if link else "aim",
                            None if link else LOADER_AIM,
                            [] if link else [each / LOADER_AIM for each in share]))
    progress("")
    return rows
