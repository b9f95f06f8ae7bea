"""The benchmark `scale`: what a process needs for a link, and where one process ends.

Measured here: what an object costs the whole process (get_many, and slices of one large object),
and what it costs the strand of its stream, which is one of 8 I/O threads and does the stream's own
work besides its share of the reads. Reckoned from that: cores, connections, memory and descriptors
for links of 10, 100 and 400 Gbit/s, with 20 ms to a first byte and 50 MB/s a connection as in
epoch_sim. Simulated: whether the stream fills such a link where CPU is no bound.
"""

import json
import statistics
import subprocess

import report

KIB, MIB = 1 << 10, 1 << 20
RTT_S, CONNECTION_RATE = 0.020, 50e6
LINKS = {"10 Gbit/s": 1.25e9, "100 Gbit/s": 12.5e9, "400 Gbit/s": 50e9}
# Bytes; what the client calls it; requests; in flight.
SIZES = {"16 KiB": (16 * KIB, "get16k", 60_000, 64), "100 KiB": (100 * KIB, "get100k", 20_000, 64),
         "8 MiB": (8 * MIB, "one1g", 256, 16)}
SCHEMES = {"http": "plain", "https": "TLS 1.3"}
THREADS = 8
STRAND_BUSY = 0.5  # of one core, beyond which a second stream with a context of its own is due
SIMULATED_LINK = "100 Gbit/s"
SIMULATED_S = 2.0
LINK_AIM = 0.9
OTHER_DESCRIPTORS = 3 * THREADS + 8  # epoll, wake-up and timer of each thread; files


def connections(size, rate):
    """Little's law: each request takes a round trip and its bytes."""
    return rate / size * (RTT_S + size / CONNECTION_RATE)


def measured(folder, server, measure, scheme, size, rounds):
    """CPU seconds an object or slice: of the process, and of the stream's strand alone."""
    bytes_each, case, count, lanes = SIZES[size]
    whole, strand = [], []
    for _ in range(rounds):
        line = measure([folder / "bench/macro/bench_download"], server, scheme, case, count, lanes)
        whole.append(line["cpu_s"] / (line["bytes"] / bytes_each))
        line = measure([folder / "bench/macro/bench_download", "--threads", str(THREADS)], server,
                       scheme, case, count, lanes)
        busy = sorted(line["threads"], reverse=True)[:THREADS + 1]  # the reader's, too
        strand.append((busy[0] - statistics.median(busy)) / (line["bytes"] / bytes_each))
    return statistics.median(whole), max(statistics.median(strand), 0.0)


def needs_of(size, rate, cost, strand):
    each = SIZES[size][0]
    open_at_once = connections(each, rate)
    return {"objects_per_s": rate / each, "cores": rate / each * cost,
            "strand_busy": rate / each * strand, "connections": open_at_once,
            # What is being received, and as much again that is ready or with the reader.
            "memory": 2 * open_at_once * each, "descriptors": open_at_once + OTHER_DESCRIPTORS}


def simulated(folder, size):
    each, rate = SIZES[size][0], LINKS[SIMULATED_LINK]
    lanes = round(1.1 * connections(each, rate))
    objects = round(rate * (SIMULATED_S + 1) / each)
    done = subprocess.run(
        [folder / "bench/macro/bench_epoch_sim", "--objects", str(min(objects, 100_000)),
         "--epochs", str(max(1, round(objects / 100_000))), "--bytes", str(each), "--batch", "256",
         "--total-rate", str(rate), "--max-concurrency", str(lanes), "--memory-cap",
         str(round(4 * lanes * each))], stdout=subprocess.PIPE, text=True, check=True)
    line = json.loads(done.stdout)
    start = line["start"]
    return (line["received"] - start["received"]) / (line["seconds"] - start["seconds"]) / rate


def table(found):
    head = ("size", "", "link", "objects/s", "cores", "strand busy", "connections", "memory, GiB",
            "descriptors")
    lines = [head]
    for each in found:
        need = each["needs"]
        lines.append((each["size"], each["scheme"], each["link"], f"{need['objects_per_s']:,.0f}",
                      f"{need['cores']:.1f}", f"{need['strand_busy']:.0%}",
                      f"{need['connections']:,.0f}", f"{need['memory'] / (1 << 30):.2f}",
                      f"{need['descriptors']:,.0f}"))
    return report.aligned(lines, {0, 1, 2})


def run(folder, options, versions, server, measure):
    found = []
    for size in SIZES:
        for scheme, words in SCHEMES.items():
            cost, strand = measured(folder, server, measure, scheme, size, options.rounds)
            found += [{"size": size, "scheme": words, "link": link, "cost_s": cost,
                       "strand_s": strand, "needs": needs_of(size, rate, cost, strand)}
                      for link, rate in LINKS.items()]
    links = {size: simulated(folder, size) for size in SIZES}
    result = {"bench": "scale", "versions": versions, "needs": found, "simulated": links}
    (report.OUT / "scale.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n".join(table(found)))
    for each in found[::len(LINKS)]:
        most = STRAND_BUSY / each["strand_s"] if each["strand_s"] > 0 else float("inf")
        print(f"one stream, {each['size']} {each['scheme']}: {each['strand_s'] * 1e6:.2f} us of "
              f"its strand, half busy at {most:,.0f} a second, "
              f"{most * SIZES[each['size']][0] * 8e-9:.0f} Gbit/s")
    for size, share in links.items():
        print(f"simulated, {size}, {SIMULATED_LINK}: {share:.2f} of the link (aim {LINK_AIM})")
    print(flush=True)
