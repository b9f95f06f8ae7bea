"""The benchmark `epoch_sim`: epochs over many objects, through the real getter, in simulated time.

A round trip of 20 ms and 50 MB/s a connection, each with jitter, 10 Gbit/s in all, 256 connections
at most, a memory cap of 256 MiB. One consumer takes as fast as it can; one takes a step of fixed
length for each batch, 1/0.95 of what the network needs for it. Other ways are simulated by the
requests that they make. bench/macro/epoch_sim.cpp runs it; NOTES.md says what the figures mean.
"""

import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess

import folders
import needs
import png
import report

RTT_S, CONNECTION_RATE, LINK, CONNECTIONS = 0.020, 50e6, 1.25e9, 256
# Objects, bytes of each, times over, items of a batch.
CASES = {"10 KB": (11_098, 10_000, 10, 256), "100 KiB": (50_000, 100 << 10, 1, 128),
         "500 KiB": (10_000, 500 << 10, 1, 64), "3 MiB": (2_000, 3 << 20, 1, 16),
         "150 MiB": (40, 150 << 20, 1, 1)}
COMPOSE_S = 0.8  # what the original's own table implies: NOTES.md
COMPOSITE_LIMIT = 32 << 20
STEP_SHARE = 0.95
SMALL_AIM, NETWORK_AIM, WAITED_AIM = 0.9, 0.95, 0.05
CAP = 256 << 20
START_UP_S = 1
# Where composing pays.
SIZES = {"1 KB": 1_000, "10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000}
ROUND_TRIPS_MS, ALLOWED = (2, 20, 100), (16, 64, 256)
PRICE_RATIO = 12.5  # class A to class B
# Over a socket: a quarter of the sizes, of the slice, of each connection's rate and of their number,
# and so a sixteenth of the link and of the memory. Items, bytes, batch.
SOCKET_SCALE, SOCKET_OBJECTS, CLIENT_CORE = 4, 8, "1"
SOCKET_CASES = {"2.5 KB": (10_000, 2_500, 64), "25 KiB": (12_500, 25 << 10, 32),
                "125 KiB": (2_500, 125 << 10, 16), "768 KiB": (500, 768 << 10, 4),
                "37.5 MiB": (10, 75 << 19, 1)}
SOCKET_LINK, SOCKET_CAP = LINK / SOCKET_SCALE ** 2, CAP // SOCKET_SCALE ** 2
SOCKET_LARGE_CAP = CAP // SOCKET_SCALE  # for an object that is larger than SOCKET_CAP
COLOURS = ((31, 119, 180), (44, 160, 44), (214, 39, 40))
WIDTH, HEIGHT, LEFT, TOP = 300, 90, 70, 40


def figure(name, values, aim, most=True):
    """The median of all seeds beside its aim, which is a least value where not `most`."""
    median = statistics.median(values)
    return {"figure": name, "median": median, "least": min(values), "most": max(values), "aim": aim,
            "met": median <= aim if most else median >= aim}


def judged(found):
    lines = [("figure", "median", "least", "most", "aim", "")]
    for each in found:
        lines.append((each["figure"], *(f"{each[key]:.4f}" for key in ("median", "least", "most")),
                      f"{each['aim']:.4g}", "" if each["met"] else "missed"))
    return report.aligned(lines, (0, 5))


def network_rate(size):
    """Bytes a second of all connections without a pause between two requests."""
    return min(LINK, CONNECTIONS * size / (RTT_S + size / CONNECTION_RATE))


def simulate(folder, *arguments):
    done = subprocess.run([folder / "bench/macro/bench_epoch_sim", *map(str, arguments)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def ways(size, batch):
    """The arguments of each way but ours."""
    original = ("--way", "original", "--workers", 48, "--items-per-job", batch)
    composed = {"ours, composed in a round trip": ("--compose",),
                f"ours, composed in {COMPOSE_S} s": ("--compose", "--compose-seconds", COMPOSE_S)}
    return {"64 plain reads": ("--way", "plain", "--workers", 64),
            "128 plain reads": ("--way", "plain", "--workers", 128),
            "original, compose in a round trip": original,
            f"original, compose in {COMPOSE_S} s": (*original, "--compose-seconds", COMPOSE_S),
            **(composed if 12 * size <= COMPOSITE_LIMIT else {})}


def row(case, way, consumer, line):
    objects, size, epochs, batch = CASES[case]
    start, bytes_all = line["start"], objects * epochs * size
    later = max(line["seconds"] - start["seconds"], 1e-9)
    after = (line["received"] - start["received"]) / later / size
    return {"case": case, "way": way, "consumer": consumer, "seconds": line["seconds"],
            "link": bytes_all / line["seconds"] / LINK, "link_after": after * size / LINK,
            "network_after": after * size / network_rate(size), "rate_after": after,
            "waited": line["waited"] / line["seconds"],
            "waited_after": (line["waited"] - start["waited"]) / later,
            "class_a": line["class_a"], "class_b": line["class_b"],
            "peak_held": line.get("peak_held"), "limit": line.get("limit"), "batch": batch}


def measure(folder, case, way, consumer, arguments):
    objects, size, epochs, batch = CASES[case]
    step = batch * size / network_rate(size) / STEP_SHARE if consumer == "steps" else 0
    line = simulate(folder, "--objects", objects, "--bytes", size, "--epochs", epochs,
                    "--batch", batch, "--step", step, "--start-up", START_UP_S, *arguments)
    return row(case, way, consumer, line), line.get("samples")


def measure_all(folder):
    """The rows, and what happened over time in ours."""
    tasks = [(case, way, consumer, arguments)
             for case, (_, size, _, batch) in CASES.items()
             for way, arguments in {"ours": ("--samples",), **ways(size, batch)}.items()
             for consumer in ("fast", "steps")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(lambda task: measure(folder, *task), tasks))
    rows = [each for each, _ in done]
    samples = {(each["case"], each["consumer"]): over_time for each, over_time in done if over_time}
    return rows, samples


def judgements(folder, seeds):
    """Each figure of ours with its aim, and whether it is met: the median of several seeds."""
    tasks = [(case, consumer, seed) for case in CASES for consumer in ("fast", "steps")
             for seed in range(1, seeds + 1)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        lines = dict(zip(tasks, pool.map(
            lambda t: measure(folder, t[0], "ours", t[1], ("--seed", t[2]))[0], tasks)))
    line = simulate(folder, "--way", "plain", "--objects", 1_000, "--bytes", 10_000, "--batch", 1)
    one_by_one = line["items"] / line["seconds"]

    def all_of(case, consumer, key):
        return [lines[case, consumer, seed][key] for seed in range(1, seeds + 1)]

    found = [figure("10 KB: times one by one, after the first second",
                         [rate / one_by_one for rate in all_of("10 KB", "fast", "rate_after")],
                         SMALL_AIM * CONNECTIONS, most=False)]
    for case in CASES:
        found += [
            figure(f"{case}: share of the network used, after the first second",
                        all_of(case, "fast", "network_after"), NETWORK_AIM, most=False),
            figure(f"{case}: share of the time that the consumer waited",
                        all_of(case, "steps", "waited"), WAITED_AIM),
            figure(f"{case}: bytes held at most, of the cap",
                        [held / CAP for held in all_of(case, "steps", "peak_held")], 1)]
    return found


def compose_table(folder):
    """How many times as fast as plain reads composites are, by round trip, size and connections."""
    def ratio(rtt_ms, size, allowed, compose_s):
        common = ("--bytes", size, "--round-trip", rtt_ms / 1000, "--batch", 32, "--workers", allowed)
        plain = simulate(folder, "--way", "plain", "--objects", 32 * allowed, *common)
        composed = simulate(folder, "--way", "composed", "--objects", 32 * 4 * allowed,
                            "--items-per-job", 32, "--compose-seconds", compose_s, *common)
        return (composed["items"] / composed["seconds"]) / (plain["items"] / plain["seconds"])

    keys = [(rtt, size, allowed, compose) for rtt in ROUND_TRIPS_MS for size in SIZES
            for allowed in ALLOWED for compose in (0, COMPOSE_S)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        values = pool.map(lambda key: ratio(key[0], SIZES[key[1]], *key[2:]), keys)
    return [dict(zip(("rtt_ms", "size", "connections", "compose_s", "times"), (*key, value)))
            for key, value in zip(keys, values)]


def compose_text(entries):
    by = {(e["rtt_ms"], e["size"], e["connections"], e["compose_s"]): e["times"] for e in entries}
    lines = [("RTT", "connections", *(f"{size}" for size in SIZES))]
    for rtt in ROUND_TRIPS_MS:
        for allowed in ALLOWED:
            lines.append((f"{rtt} ms", str(allowed),
                          *(" / ".join(f"{by[rtt, size, allowed, compose]:.2g}"
                                       for compose in (0, COMPOSE_S)) for size in SIZES)))
    fewest = next(n for n in range(2, 33) if PRICE_RATIO + 1 < n)
    return [f"composites of 32, times as fast as plain reads (compose in a round trip / in {COMPOSE_S} s)",
            *report.aligned(lines, ()),
            f"operations: class A + class B for a group instead of class B an object; at {PRICE_RATIO} "
            f"class B for one class A cheaper from {fewest} objects a group on, 0.42 of it at 32"]


def table(rows):
    lines = [("case", "way", "consumer", "s", "link", "after 1 s", "of network", "waited",
              "after 1 s", "held", "A", "B")]
    for each in rows:
        held = "-" if each["peak_held"] is None else f"{each['peak_held'] / (1 << 20):.0f} MiB"
        lines.append((each["case"], each["way"], each["consumer"], f"{each['seconds']:.2f}",
                      *(f"{each[key]:.1%}" for key in ("link", "link_after", "network_after",
                                                       "waited", "waited_after")),
                      held, f"{each['class_a']:,}", f"{each['class_b']:,}"))
    return report.aligned(lines, (0, 1, 2))


def over_socket(folder, case, step, objects):
    """The epoch over a socket, from the emulator with these objects, and the same one in simulated
    time."""
    items, size, batch = SOCKET_CASES[case]
    cap = SOCKET_CAP if size <= SOCKET_CAP else SOCKET_LARGE_CAP
    common = ("--bytes", size, "--batch", batch, "--step", step, "--memory-cap", cap, "--slice",
              (8 << 20) // SOCKET_SCALE, "--max-concurrency", CONNECTIONS // SOCKET_SCALE)
    network = ("--rtt", int(RTT_S * 1000), "--connection-bandwidth",
               int(CONNECTION_RATE / SOCKET_SCALE), "--bandwidth", int(SOCKET_LINK))
    with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], objects, network) as server:
        done = subprocess.run(
            ["taskset", "-c", CLIENT_CORE, folder / "bench/macro/bench_epoch_socket",
             "--endpoint", server.endpoint, "--bucket", folders.BUCKET, "--items", str(items),
             "--objects", str(SOCKET_OBJECTS), *map(str, common)],
            stdout=subprocess.PIPE, text=True, check=True)
    simulated = simulate(folder, "--objects", items, "--total-rate", SOCKET_LINK,
                         "--connection-rate", CONNECTION_RATE / SOCKET_SCALE, *common)
    return json.loads(done.stdout), simulated


def make_objects(place, case):
    objects = pathlib.Path(place) / case
    objects.mkdir()
    for i in range(SOCKET_OBJECTS):
        (objects / str(i)).write_bytes(bytes(SOCKET_CASES[case][1]))
    return objects


def measure_socket(folder):
    room = SOCKET_OBJECTS * sum(size for _, size, _ in SOCKET_CASES.values())
    with needs.scratch(room) as place:
        return socket_rows(folder, place)


def socket_rows(folder, place):
    rows = []
    for case, (items, size, batch) in SOCKET_CASES.items():
        objects = make_objects(place, case)
        rate = network_rate(size * SOCKET_SCALE) / SOCKET_SCALE ** 2
        for consumer, step in (("fast", 0), ("steps", batch * size / rate / STEP_SHARE)):
            line, simulated = over_socket(folder, case, step, objects)
            rows.append({"case": case, "consumer": consumer,
                         "link": items * size / line["seconds"] / SOCKET_LINK,
                         "link_simulated": items * size / simulated["seconds"] / SOCKET_LINK,
                         "waited": line["waited"] / line["seconds"],
                         "waited_simulated": simulated["waited"] / simulated["seconds"],
                         "peak_held": line["peak_held"], "limit": line["limit"],
                         "limit_simulated": simulated["limit"], "cpu": line["cpu_s"] / line["seconds"],
                         "asked": line["asked"]})
    return rows


def socket_table(rows):
    lines = [("over a socket", "consumer", "link", "simulated", "waited", "simulated", "in flight",
              "simulated", "held", "CPU", "asked again")]
    for each in rows:
        lines.append((each["case"], each["consumer"],
                      *(f"{each[key]:.1%}" for key in ("link", "link_simulated", "waited",
                                                       "waited_simulated")),
                      str(each["limit"]), str(each["limit_simulated"]),
                      f"{each['peak_held'] / (1 << 20):.0f} MiB", f"{each['cpu']:.0%}",
                      str(each["asked"])))
    return report.aligned(lines, (0, 1))


def panel(canvas, left, top, points, most, colour, title):
    """Values in [0, most] over time, as columns; `points` are (from, to, value), times in shares."""
    for begin, end, value in points:
        canvas.fill(left + begin * WIDTH, top + HEIGHT * (1 - min(value / most, 1)),
                    left + end * WIDTH, top + HEIGHT, colour)
    canvas.fill(left, top + HEIGHT, left + WIDTH, top + HEIGHT + 1, (128, 128, 128))
    canvas.text(left, top - 14, title)


def picture(samples):
    """Rate, bytes held, and waiting over time: a row for each epoch."""
    canvas = png.Canvas(3 * (LEFT + WIDTH) + 20, len(samples) * (HEIGHT + TOP) + 10)
    for i, ((case, consumer), points) in enumerate(samples.items()):
        top = i * (HEIGHT + TOP) + TOP - 10
        every = max(1, len(points) // 100)
        points = [*points[:-1:every], points[-1]]
        total = points[-1][0]
        spans = [(a[0] / total, b[0] / total, a, b, max(b[0] - a[0], 1e-9))
                 for a, b in zip(points, points[1:])]
        panel(canvas, LEFT, top, [(s, e, (b[1] - a[1]) / d / LINK) for s, e, a, b, d in spans], 1,
              COLOURS[0], f"{case}, {consumer}: rate, of the link, {total:.1f} s")
        panel(canvas, 2 * LEFT + WIDTH, top, [(s, e, b[4] / CAP) for s, e, _, b, _ in spans], 1,
              COLOURS[1], "bytes held, of the cap")
        panel(canvas, 3 * LEFT + 2 * WIDTH, top, [(s, e, (b[3] - a[3]) / d) for s, e, a, b, d in spans],
              1, COLOURS[2], "consumer waiting")
    return canvas


def run(folder, options, versions):
    rows, samples = measure_all(folder)
    found = judgements(folder, 1 if options.quick else 5)
    compose = [] if options.quick else compose_table(folder)
    socket = measure_socket(folder) if options.socket else []
    picture(samples).save(report.OUT / "epoch_sim.png")
    result = {"bench": "epoch_sim", "versions": versions, "simulated": rows, "judged": found,
              "composing": compose, "socket": socket}
    (report.OUT / "epoch_sim.json").write_text(json.dumps(result, indent=1) + "\n")
    print("\n".join([*table(rows), "", *judged(found), "",
                     *(compose_text(compose) if compose else []),
                     *(["", *socket_table(socket)] if socket else [])]))
    print(f"rate, bytes held and waiting over time: {report.OUT / 'epoch_sim.png'}\n", flush=True)
