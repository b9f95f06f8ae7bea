"""The benchmark `scale`: what a process needs for a link, and where one process ends.

Measured: what an object costs a client with 8 I/O threads (get_many, and slices of one large
object), split by thread. The strand of a stream is one of the I/O threads, and does the stream's
own work besides its share of the reads. Reckoned from that: cores, contexts, connections, memory
and descriptors for links of 10, 100 and 400 Gbit/s, with 20 ms to a first byte and 50 MB/s a
connection as in epoch_sim. Simulated: an epoch over the middle one of these links, with CPU for
nothing and with 8 I/O threads that have a core each and pay what was measured.
"""

import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import time

import report

KIB, MIB = 1 << 10, 1 << 20
RTT_S, CONNECTION_RATE = 0.020, 50e6
LINKS = {"10 Gbit/s": 1.25e9, "100 Gbit/s": 12.5e9, "400 Gbit/s": 50e9}
# Bytes; what the client calls it; requests; in flight; items of a simulated consumer's batch.
SIZES = {"16 KiB": (16 * KIB, "get16k", 60_000, 256, 256),
         "100 KiB": (100 * KIB, "get100k", 20_000, 256, 128),
         "8 MiB": (8 * MIB, "one1g", 256, 64, 8)}
SCHEMES = {"http": "plain", "https": "TLS 1.3"}
THREADS = 8
STRAND_BUSY = 0.5  # of a core, beyond which a second context is due
SIMULATED_LINK = "100 Gbit/s"
# Growing from 32 in flight to thousands takes the first seconds.
START_UP_S, SIMULATED_S, QUICK_SIMULATED_S = 0.7, 1.6, 1
LINK_AIM = 0.9
FEW_CONNECTIONS = 32  # beside those of SIZES, for the memory of one
OTHER_DESCRIPTORS = 2 * THREADS + 8  # epoll and wake-up of each thread; files
PORTS = 28_232  # that Linux has by default for connections to one address

began = time.monotonic()


def say(text):
    print(f"scale, {time.monotonic() - began:.0f} s: {text}", flush=True)


def connections(size, rate):
    """Little's law: each request takes a round trip and its bytes."""
    return rate / size * (RTT_S + size / CONNECTION_RATE)


def costs_of(line, size):
    """CPU seconds of an object: all of the process, and its parts."""
    objects = line["bytes"] / size
    busy = sorted(line["threads"], reverse=True)[:THREADS]
    other = statistics.median(busy[1:])  # as much as the strand's thread has for its reads
    return {"whole": line["cpu_s"] / objects, "transfer": THREADS * other / objects,
            "strand": max(busy[0] - other, 0) / objects, "reader": line["reader"] / objects}


def measured(folder, server, measure, scheme, size, options):
    bytes_each, case, count, lanes, _ = SIZES[size]
    count = max(count // (8 if options.quick else 1), 2 * lanes)
    program = [folder / "bench/macro/bench_download", "--threads", str(THREADS)]
    rounds = []
    for done in range(options.rounds):
        line = measure(program, server, scheme, case, count, lanes)
        rounds.append(costs_of(line, bytes_each))
        words = ", ".join(f"{part} {cost * 1e6:.2f}" for part, cost in rounds[-1].items())
        say(f"{size} {SCHEMES[scheme]}, round {done + 1} of {options.rounds}, us an object: "
            f"{words}")
    return {part: statistics.median(each[part] for each in rounds) for part in rounds[0]}


def memory_of_connection(folder, server, measure, scheme):
    """Bytes of the process for each connection that it has, without the objects that pass."""
    size, case, count, lanes, _ = SIZES["16 KiB"]
    program = [folder / "bench/macro/bench_download"]
    many, few = (measure(program, server, scheme, case, count, each)
                 for each in (lanes, FEW_CONNECTIONS))
    grown = (many["max_rss"] - few["max_rss"]) / (many["in_flight"] - few["in_flight"])
    say(f"{SCHEMES[scheme]}: {grown / KIB:.0f} KiB a connection")
    return max(grown - 2 * size, 0)


def needs_of(size, rate, cost, connection_memory):
    each = SIZES[size][0]
    open_at_once, strand = connections(each, rate), rate / each * cost["strand"]
    return {"objects_per_s": rate / each, "cores": rate / each * cost["whole"],
            "strand_busy": strand, "contexts": math.ceil(strand / STRAND_BUSY),
            "reader_busy": rate / each * cost["reader"], "connections": open_at_once,
            # What is being received, and as much again that is ready or with the reader.
            "memory": open_at_once * (2 * each + connection_memory),
            "descriptors": open_at_once + OTHER_DESCRIPTORS}


def bounds(size, cost):
    """Objects a second that each part can do, by name."""
    return {"the link": LINKS[SIMULATED_LINK] / SIZES[size][0],
            "all I/O threads": THREADS / cost["transfer"],
            # It has its share of the reads besides.
            "the strand's thread": 1 / (cost["transfer"] / THREADS + cost["strand"]),
            "the reader": 1 / cost["reader"]}


def simulated(folder, size, cost, quick):
    """`cost`: None if CPU is for nothing."""
    each, _, _, _, batch = SIZES[size]
    link = LINKS[SIMULATED_LINK]
    lanes = round(1.1 * connections(each, link))
    rate = min(bounds(size, cost).values()) if cost else link / each
    # The last ones in flight are pulled before that time, and counted in none.
    objects = round(rate * ((QUICK_SIMULATED_S if quick else SIMULATED_S) - START_UP_S / 3)) + lanes
    epochs = math.ceil(objects / 100_000)
    arguments = {"--objects": math.ceil(objects / epochs), "--epochs": epochs,
                 "--bytes": each, "--batch": batch, "--total-rate": link,
                 "--max-concurrency": lanes, "--memory-cap": 4 * lanes * each,
                 "--start-up": START_UP_S}
    if cost:
        arguments |= {"--threads": THREADS, "--read-cpu": cost["transfer"],
                      "--strand-cpu": cost["strand"], "--step": batch * cost["reader"]}
    done = subprocess.run([folder / "bench/macro/bench_epoch_sim",
                           *(str(word) for pair in arguments.items() for word in pair)],
                          stdout=subprocess.PIPE, text=True, check=True)
    line = json.loads(done.stdout)
    start, end = line["start"], line["last_pulled"]
    if end["seconds"] <= start["seconds"]:
        raise SystemExit(f"bench: {size}: the simulated epoch ends before {START_UP_S} s")
    busy = line.get("busy", [])
    passed = end["seconds"] - start["seconds"]
    return {"link": (end["received"] - start["received"]) / passed / link,
            "strand_thread": busy[0] if busy else None,
            "strand": busy[0] - statistics.median(busy[1:]) if busy else None,
            "other_threads": statistics.median(busy[1:]) if busy else None,
            "bound": min(bounds(size, cost), key=bounds(size, cost).get) if cost else "the link"}


def simulate_all(folder, costs, quick):
    tasks = [(size, None) for size in SIZES] + [(size, scheme) for size, scheme in costs]

    def one(task):
        size, scheme = task
        found = simulated(folder, size, costs.get(task), quick)
        what = SCHEMES[scheme] if scheme else "CPU for nothing"
        say(f"simulated {size}, {what}: {found['link']:.2f} of {SIMULATED_LINK}")
        return {"size": size, "scheme": what, **found}

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, tasks))


def needs_table(found):
    lines = [("size", "", "link", "objects/s", "cores", "strand busy", "contexts", "reader busy",
              "connections", "memory, GiB", "descriptors")]
    for each in found:
        need = each["needs"]
        lines.append((each["size"], each["scheme"], each["link"], f"{need['objects_per_s']:,.0f}",
                      f"{need['cores']:.1f}", f"{need['strand_busy']:.0%}", f"{need['contexts']}",
                      f"{need['reader_busy']:.0%}", f"{need['connections']:,.0f}",
                      f"{need['memory'] / (1 << 30):.2f}", f"{need['descriptors']:,.0f}"))
    return report.aligned(lines, {0, 1, 2})


def simulated_table(found):
    lines = [(f"simulated, {THREADS} I/O threads", "", "of the link", "strand's thread",
              "of it the strand", "other threads", "bound by")]
    for each in found:
        shares = ("-" if each[key] is None else f"{each[key]:.0%}"
                  for key in ("strand_thread", "strand", "other_threads"))
        lines.append((each["size"], each["scheme"], f"{each['link']:.2f}", *shares, each["bound"]))
    return report.aligned(lines, {0, 1, 6})


def ends(size, words, cost):
    """Where one stream, and connections to one address, end, in Gbit/s."""
    each = SIZES[size][0]
    of_connections = PORTS / connections(each, 1)
    half = STRAND_BUSY / cost["strand"] if cost["strand"] > 0 else math.inf
    reader = 1 / cost["reader"] if cost["reader"] > 0 else math.inf
    in_gbit = [f"{rate * each * 8e-9:,.0f}" for rate in (half, reader, of_connections / each)]
    return (size, words, f"{cost['strand'] * 1e6:.2f}", *in_gbit)


def run(folder, options, versions, server, measure):
    costs = {(size, scheme): measured(folder, server, measure, scheme, size, options)
             for size in SIZES for scheme in SCHEMES}
    memory = {scheme: memory_of_connection(folder, server, measure, scheme)
              for scheme in SCHEMES}
    found = [{"size": size, "scheme": SCHEMES[scheme], "link": link, "cost_s": cost,
              "needs": needs_of(size, rate, cost, memory[scheme])}
             for (size, scheme), cost in costs.items() for link, rate in LINKS.items()]
    simulations = simulate_all(folder, costs, options.quick)
    result = {"bench": "scale", "versions": versions, "needs": found,
              "connection_memory": memory, "simulated": simulations}
    (report.OUT / "scale.json").write_text(json.dumps(result, indent=1) + "\n")
    limits = [("one stream ends at, Gbit/s", "", "strand, us", "strand half busy", "one reader",
               "ports to one address")]
    limits += [ends(size, SCHEMES[scheme], cost) for (size, scheme), cost in costs.items()]
    print("\n".join(["", *needs_table(found), "", *report.aligned(limits, {0, 1}), "",
                     *simulated_table(simulations)]))
    free = [each for each in simulations if each["scheme"] == "CPU for nothing"]
    for each in free:
        if each["link"] < LINK_AIM:
            print(f"missed: {each['size']}, CPU for nothing: {each['link']:.2f} of the link, "
                  f"aim {LINK_AIM}")
    print(flush=True)
