"""The benchmark `save`: a checkpoint_writer beside the raw upload of the same bytes, and beside others.

2 GiB from memory, staged and verified, against the load server: CPU and wall time beside the floor,
which sends the same parts of the same memory and does nothing else. Then a stream of 256 MiB, 2 GiB
and 8 GiB, whose resident memory is looked at; a producer beside a link in simulated time; and with
--peers the same object by other clients, from a process each to an emulator. save.png shows how far
the stream is and what memory it has over time.
"""

import json
import os
import statistics
import subprocess

import folders
import list_socket
import needs
import report
from png import SCALE, Canvas
from report import row

MIB, GIB = 1 << 20, 1 << 30
PART = 32 * MIB  # of the floor
PARTS = 2 * GIB // PART
IN_FLIGHT = 8
STREAMS = {"256 MiB": 8, "2 GiB": 64, "8 GiB": 256}
MEMORY = 32 * MIB  # transfer_options::upload_memory of the streams
SPARE = 16 * MIB
PEER_BYTES = 512 * MIB
PEERS = needs.CLIENTS / "saves/save_object.py"
WORDS = {"http": "plain", "https": "TLS 1.3"}


def beside_the_floor(folder, server, measure, rounds, others, show):
    rows = []
    programs = {"floor": ([folder / "bench/macro/bench_floor"], "save"),
                "save": ([folder / "bench/macro/bench_upload"], "save"),
                "save-borrowed": ([folder / "bench/macro/bench_upload"], "save-borrowed"),
                **{name: (command, "put32m") for name, command in others.items()}}
    for scheme, words in WORDS.items():
        lines = {name: [] for name in programs}
        order = list(programs)
        for done in range(rounds):
            show(f"save {words}: round {done + 1} of {rounds}")
            for name in order:
                command, case = programs[name]
                lines[name].append(measure(command, server, scheme, case, PARTS, IN_FLIGHT))
            order = order[1:] + order[:1]
        show("")
        for name in ("save", "save-borrowed"):
            for key, unit in (("cpu_s", "CPU s/GiB"), ("wall_s", "wall s/GiB")):
                ours = [line[key] / line["bytes"] * GIB for line in lines[name]]
                for reference in ["floor", *others]:
                    theirs = [line[key] / line["bytes"] * GIB for line in lines[reference]]
                    rows.append(row(f"{name} {words}", unit, statistics.median(ours), reference,
                                    statistics.median(theirs),
                                    [a / b for a, b in zip(ours, theirs)]))
    return rows


def memory_of_streams(folder, server, measure):
    rows, samples = [], []
    for title, parts in STREAMS.items():
        line = measure([folder / "bench/macro/bench_upload"], server, "http", "stream", parts,
                       IN_FLIGHT)
        rows.append(row(f"resident memory, stream of {title}", "MiB", line["peak"] / MIB,
                        "baseline, parts and 16 MiB", (line["base"] + MEMORY + SPARE) / MIB))
        if title == "2 GiB":
            samples = line["samples"]
    peaks = [each["ours"] for each in rows]
    rows.append(row("spread of the three", "MiB", max(peaks) - min(peaks), "aim", 8))
    return rows, samples


def overlap(folder):
    done = subprocess.run([folder / "bench/macro/bench_save_sim"], stdout=subprocess.PIPE,
                          text=True, check=True)
    line = json.loads(done.stdout)
    aim = 2 * line["part"] / 400e6 + 4 * 0.02
    return [row("committed after the last byte: 300 MB/s made, link of 400", "s",
                line["after_last_byte_s"], "2 parts, 4 round trips", aim)]


def peers(folder, python, rounds, scratch, show):
    """Wall and CPU time of the saving alone; each says it itself."""
    ours = [folder / "bench/macro/bench_upload"]
    programs = {"ours": None, **{name: [python, PEERS, name] for name in
                                 ("transfer_manager threads", "transfer_manager processes",
                                  "gcsfs")}}
    found = {name: [] for name in programs}
    for done in range(rounds):
        for name, command in programs.items():
            show(f"save, peers: round {done + 1} of {rounds}, {name}")
            with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"]) as emulator:
                arguments = ([*ours, "--endpoint", emulator.endpoint, "--case", "save", "--count",
                              PEER_BYTES // PART] if command is None
                             else [*command, emulator.endpoint, PEER_BYTES, scratch])
                environment = {k: v for k, v in os.environ.items()
                               if k != "STORAGE_EMULATOR_HOST" and not k.endswith("_proxy")}
                said = subprocess.run(["taskset", "-c", "1", *map(str, arguments)], check=True,
                                      stdout=subprocess.PIPE, text=True, env=environment)
                found[name].append(json.loads(said.stdout.splitlines()[-1]))
    show("")
    rows = []
    for key, unit in (("cpu_s", "CPU s/GiB"), ("wall_s", "wall s/GiB")):
        value = {name: [line[key] / PEER_BYTES * GIB for line in lines]
                 for name, lines in found.items()}
        rows += [row("save, emulator", unit, statistics.median(value["ours"]), name,
                     statistics.median(value[name]),
                     [a / b for a, b in zip(value["ours"], value[name])])
                 for name in value if name != "ours"]
    return rows


def draw(samples, path):
    """Bytes a second, above, and resident memory, below, over time."""
    width, height, left = 900, 200, 90
    canvas = Canvas(left + width + 10, 2 * height + 60)
    end = samples[-1][0]
    step = max(end / 150, 0.04)
    rates, at = [], 0
    for i in range(1, len(samples)):
        if samples[i][0] - samples[at][0] >= step:
            rates.append((samples[at][0], samples[i][0], (samples[i][1] - samples[at][1])
                          / (samples[i][0] - samples[at][0])))
            at = i
    memory = [(a[0], b[0], b[2]) for a, b in zip(samples, samples[1:])]
    for top, bars, colour, unit, name in ((20, rates, (40, 90, 200), 1e9, "gb/s sent"),
                                          (height + 50, memory, (200, 90, 40), MIB, "mib memory")):
        most = max(value for _, _, value in bars) or 1
        for start, stop, value in bars:
            canvas.fill(left + start / end * width, top + height * (1 - value / most),
                        left + max(stop / end * width, start / end * width + 1), top + height, colour)
        canvas.text(4, top, f"{most / unit:.2f}")
        canvas.text(4, top - 7 * SCALE + height, "0")
        canvas.text(left, top - 7 * SCALE, f"{name} over {end:.2f} s")
    canvas.save(path)


def measure_all(options, folder, server, measure, programs, show):
    others = {name: command for name, command in programs.items() if name == "object_store"}
    rows = beside_the_floor(folder, server, measure, options.rounds, others, show)
    more, samples = memory_of_streams(folder, server, measure)
    draw(samples, report.OUT / "save.png")
    rows += more + overlap(folder)
    python, versions = needs.from_pypi(list_socket.PEERS) if options.peers else (None, {})
    if python is not None:
        with needs.scratch(PEER_BYTES) as scratch:
            rows += peers(folder, python, max(options.rounds // 2, 1), scratch, show)
    return rows, versions
