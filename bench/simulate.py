"""The benchmark `simulate`: what `dataflux simulate` foretells, beside epochs that were measured.

The emulator with a round trip and a link on core 0, C++'s getter (bench/macro/epoch_socket.cpp) on core 1. What a
request and a byte cost that core, and how long a request takes alone, is measured first and told to the simulator, as
a user would. Then each shape is run and foretold: the ratio is of times, the aim within 10 %. Shapes are such that
the link, the round trip, memory or the step bounds them: with smaller objects or faster links the emulator's own core
would. --quick: one round.
"""

import json
import pathlib
import statistics
import subprocess

import folders
import needs
from report import row

KIB, MIB = 1 << 10, 1 << 20
LINK = 200_000_000
LIMIT_S = 300
AIM = {"least": 0.9, "most": 1.1}
FILES = {16 * KIB: 64, 100 * KIB: 32, 3 * MIB: 8, 150 * MIB: 1}  # by bytes: how many differ
# Bytes, milliseconds, link, batch, samples; then: step as a share of what the link needs for a batch, memory, reads
# in flight, processes.
SHAPES = [
    (16 * KIB, 20, LINK // 4, 64, 12_000, {}),
    (16 * KIB, 20, LINK, 64, 12_000, {"in_flight": 64}),
    (16 * KIB, 5, LINK // 4, 64, 12_000, {"step": 1.2}),
    (100 * KIB, 20, LINK, 64, 8_000, {}),
    (100 * KIB, 20, LINK, 32, 8_000, {"step": 0.9}),
    (100 * KIB, 5, LINK // 2, 32, 4_000, {"step": 1.3}),
    (100 * KIB, 20, LINK, 64, 8_000, {"processes": 2}),
    (3 * MIB, 20, LINK, 8, 256, {}),
    (3 * MIB, 20, LINK, 8, 128, {"memory": 7 * MIB}),
    (3 * MIB, 5, LINK // 2, 8, 128, {"step": 0.9}),
    (150 * MIB, 20, LINK, 1, 8, {"memory": 512 * MIB}),
    (150 * MIB, 5, LINK, 1, 6, {"memory": 512 * MIB, "step": 1.2}),
]
MEMORY, IN_FLIGHT = 256 * MIB, 256


def files(place, bytes_of_each):
    """A folder of objects of one size."""
    folder = pathlib.Path(place) / str(bytes_of_each)
    folder.mkdir()
    for number in range(FILES[bytes_of_each]):
        (folder / str(number)).write_bytes(number.to_bytes(8, "little") * (bytes_of_each // 8))
    return folder


def start(folder, endpoint, size, batch, samples, step_s=0.0, how=None):
    how = how or {}
    return subprocess.Popen(
        ["taskset", "-c", folders.CLIENT_CORE, *map(str, [
            folder / "bench/macro/bench_epoch_socket", "--endpoint", endpoint, "--bucket", folders.BUCKET,
            "--objects", FILES[size], "--items", samples, "--bytes", size, "--batch", batch, "--step", step_s,
            "--memory-cap", how.get("memory", MEMORY), "--max-concurrency", how.get("in_flight", IN_FLIGHT)])],
        stdout=subprocess.PIPE, text=True)


def ended(process):
    said, _ = process.communicate(timeout=LIMIT_S)
    if process.returncode != 0:
        raise SystemExit("bench: epoch_socket failed")
    return json.loads(said)


def step_of(shape):
    size, _, link, batch, _, how = shape
    return how.get("step", 0) * batch * size / link


def measured(folder, place, shape):
    """Seconds of an epoch, and the share of them that the consumer waits."""
    size, trip, link, batch, samples, how = shape
    processes = how.get("processes", 1)
    with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], place[size],
                          ("--rtt", trip, "--bandwidth", link)) as server:
        all_of_them = [start(folder, server.endpoint, size, batch, samples // processes, step_of(shape), how)
                       for _ in range(processes)]
        lines = [ended(each) for each in all_of_them]
    seconds = max(line["seconds"] for line in lines)
    return seconds, lines[0]["waited"] / lines[0]["seconds"]


def costs(folder, place):
    """Seconds of the client's core for a request, and nanoseconds for a byte."""
    found = {}
    for size, samples in ((16 * KIB, 12_000), (3 * MIB, 256)):
        with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], place[size], ("--rtt", 1)) as server:
            line = ended(start(folder, server.endpoint, size, 64 if size < MIB else 8, samples))
        found[size] = line["cpu_s"] / samples
    byte = (found[3 * MIB] - found[16 * KIB]) / (3 * MIB - 16 * KIB)
    return max(found[16 * KIB] - 16 * KIB * byte, 1e-6), max(byte * 1e9, 0.01)


def round_trip(folder, place, trip):
    """Seconds that one request takes at the emulator, its timers and the machine's threads included."""
    samples = 100
    with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], place[16 * KIB], ("--rtt", trip)) as server:
        line = ended(start(folder, server.endpoint, 16 * KIB, 1, samples, how={"in_flight": 1}))
    return line["seconds"] / (samples + 1)  # the first one connects


def foretold(folder, shape, trip_s, request_s, byte_ns):
    size, _, link, batch, samples, how = shape
    command = [folder / needs.PROGRAMS["dataflux_command"], "simulate", "--json", "--objects", samples, "--size", size,
               "--link", link, "--connection", link, "--rtt", f"{trip_s:.9f}s", "--spread", 0, "--connecting", 1,
               "--processors", 1, "--batch", batch, "--step", f"{step_of(shape):.9f}s",
               "--memory", how.get("memory", MEMORY), "--in-flight", how.get("in_flight", IN_FLIGHT),
               "--request-time", f"{request_s:.9f}s", "--byte-ns", byte_ns, "--workers", how.get("processes", 0)]
    if how.get("processes", 1) == 1:
        command[-1] = 0
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT_S)
    return json.loads(done.stdout)


def name_of(shape):
    size, trip, link, _, _, how = shape
    text = f"{size // KIB} KiB" if size < MIB else f"{size // MIB} MiB"
    more = "".join(f", {word} {value >> 20} MiB" if word == "memory" else f", {word.replace('_', ' ')} {value}"
                   for word, value in how.items())
    return f"{text}, {trip} ms, {link // 1_000_000} MB/s{more}"


def measure_all(options, folder, show):
    rounds = 1 if options.quick else max(1, options.rounds // 2)
    rows = []
    with needs.scratch(sum(size * count for size, count in FILES.items())) as scratch:
        place = {size: files(scratch, size) for size in FILES}
        show("simulate: what a request and a byte cost")
        request_s, byte_ns = costs(folder, place)
        print(f"bench: a request costs {request_s * 1e6:.1f} us, a byte {byte_ns:.3f} ns")
        trips = {trip: round_trip(folder, place, trip) for trip in sorted({shape[1] for shape in SHAPES})}
        print("bench: a round trip takes " + ", ".join(f"{each * 1e3:.2f} ms" for each in trips.values()))
        for shape in SHAPES:
            told, found = foretold(folder, shape, trips[shape[1]], request_s, byte_ns), []
            for done in range(rounds):
                show(f"simulate: {name_of(shape)}, round {done + 1} of {rounds}")
                found.append(measured(folder, place, shape))
            seconds = [each for each, _ in found]
            rows.append(row(f"{name_of(shape)}: {told['bound']}", "s", told["seconds"], "measured",
                            statistics.median(seconds), [told["seconds"] / each for each in seconds], AIM))
            if step_of(shape) > 0:
                rows.append(row(f"{name_of(shape)}: waits", "", told["waited"], "measured, of time",
                                statistics.median(share for _, share in found)))
    show("")
    return rows, {}
