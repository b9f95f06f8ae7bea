"""The benchmark `pyfile`: objects as Python's files, by open(), beside C++ and other clients' files.

What torch.save and torch.load do to a file with a model of 1 GiB (bench/traces: they were recorded)
is done again by open() and, in C++, by checkpoint_writer and checkpoint_reader; and 10,000 objects
of 16 KiB are opened, read whole and closed, one after the other. That needs nothing but Python. The
reads and writes are done over a link of 20 ms and 50 MB/s a connection, too, where time counts. With
--peers torch itself saves and loads the model, through open(), gcsfs and google-cloud-storage, and
the objects are read by these, too; then torch is installed below build/, 5.5 GB.

Each run has a fresh emulator on core 0 and the client on core 1. Content is in memory. What was
read is compared, and what was written by its checksum in the bucket. CPU and wall time are of the
work alone, without imports, the second time that it is done. "torch alone" is torch with a file that
passes over whatever is long.
"""

import json
import pathlib
import random
import statistics
import subprocess
import sys
import urllib.request

import folders
import load_trace
import needs
import python_reads
from report import row

PEERS = "files"
PROGRAM = needs.CLIENTS / PEERS / "use_file.py"
TRACES = needs.ROOT / "bench/traces"
GIB = 1 << 30
OTHERS = ("gcsfs", "google-cloud-storage")
PEER_OBJECTS = 1250  # they cost many times as much
FIGURES = (("cpu_s", "CPU"), ("wall_s", "wall"))
ALONE, BOTH = "torch alone", "C++ and torch alone"


class Content:
    """The scratch folder: model.pt, which is the bucket's object of that name, and small objects."""

    def __init__(self, folder, python, objects):
        self.folder = pathlib.Path(folder) / "seed"
        self.model = self.folder / "model.pt"
        self.traces = {what: json.loads((TRACES / f"torch_{what}.json").read_text())
                       for what in ("load", "save")}
        self.names = sorted(folders.make_files(self.folder, objects))
        size = self.traces["load"]["size"]
        if python is None:
            source = random.Random(1)
            with open(self.model, "wb") as file:
                for at in range(0, size, 16 << 20):
                    file.write(source.randbytes(min(16 << 20, size - at)))
        else:
            subprocess.run([python, PROGRAM, "nothing", "make", "", "", self.model], check=True)
        if self.model.stat().st_size != size:
            raise SystemExit("bench: torch saves the model otherwise than recorded; "
                             "bench/traces/record_torch.py records it")

    def lines(self, action, count):
        """The standard input of an action."""
        if action == "each":
            return "".join(f"{name}\n" for name in self.names[:count])
        moves = self.traces["load"]["reads"] if action == "read" else self.traces["save"]["writes"]
        return "".join(f"{offset} {length}\n" for offset, length in moves)


def checksum(endpoint, name):
    with urllib.request.urlopen(f"{endpoint}/storage/v1/b/{folders.BUCKET}/o/{name}") as reply:
        known = json.load(reply)
    return known["size"], known["crc32c"]


def run_once(folder, content, program, action, count, link=()):
    """One run of one program, whose saved object is compared with the content."""
    client, python = program
    with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], content.folder,
                          link) as server:
        if client == "C++":
            command = [folder / "bench/macro/bench_trace", "--endpoint", server.endpoint,
                       "--bucket", folders.BUCKET, "--what", action]
            if action != "each":
                name = "model.pt" if action == "read" else "saved.pt"
                command += ["--object", name, "--content", content.model, "--twice"]
        else:
            source = content.folder if action == "each" else content.model
            command = [python, PROGRAM, client, action, server.endpoint, folders.BUCKET, source]
        lines = "" if action in ("load", "save") else content.lines(action, count)
        done = subprocess.run(["taskset", "-c", folders.CLIENT_CORE, *map(str, command)],
                              input=lines, stdout=subprocess.PIPE, text=True, check=True,
                              env=python_reads.environment(folder))
        if action in ("save", "write") and client != "nothing":
            if checksum(server.endpoint, "saved.pt") != checksum(server.endpoint, "model.pt"):
                raise SystemExit(f"bench: {client} saved something else")
    return json.loads(done.stdout)


def measure_case(folder, content, programs, rounds, title, counts, show, link=()):
    """programs: {name: (what it is run with, action)}; link: arguments of the emulator. Gives
    {name: [line]}."""
    found = {name: [] for name in programs}
    order = list(programs)
    for done in range(rounds):
        for name in order:
            show(f"pyfile, {title}: round {done + 1} of {rounds}, {name}")
            program, action = programs[name]
            found[name].append(run_once(folder, content, program, action,
                                        counts.get(name, counts["ours"]), link))
        order = order[1:] + order[:1]
    show("")
    return found


def compare(title, found, per):
    """Rows of ours beside each other program. per: the lines' key that a cost is divided by, its
    scale and its unit."""
    key, scale, unit = per
    rows = []
    for figure, word in FIGURES:
        cost = {name: [line[figure] / line[key] * scale for line in lines]
                for name, lines in found.items()}
        if ALONE in cost:
            cost[BOTH] = [a + b for a, b in zip(cost["C++"], cost[ALONE])]
        rows += [row(f"{title}, {word}", unit, statistics.median(cost["ours"]), name,
                     statistics.median(of), [a / b for a, b in zip(cost["ours"], of)])
                 for name, of in cost.items() if name != "ours"]
    return rows


def measure_all(options, folder, show):
    python, versions = needs.from_pypi(PEERS) if options.peers else (None, {})
    objects = folders.OBJECTS // (8 if options.quick else 1)
    cpp, ours = ("C++", None), ("dataflux", python or sys.executable)
    others = {name: (name, python) for name in OTHERS} if python is not None else {}
    size = json.loads((TRACES / "torch_load.json").read_text())["size"]
    rows = []
    with needs.scratch(size + 2 * objects * folders.SIZE) as scratch:
        content = Content(scratch, python, objects)
        a_gib, an_object = ("bytes", GIB, "s/GiB"), ("requests", 1e6, "us/object")
        for action, words in (("read", "torch.load's reads"), ("write", "torch.save's writes")):
            programs = {"ours": (ours, action), "C++": (cpp, action)}
            if python is not None:
                # The same by torch itself, whose moves are those that C++ makes.
                saved = {"read": "load", "write": "save"}[action]
                with_torch = {"ours": (ours, saved), "C++": (cpp, action),
                              ALONE: (("nothing", python), saved),
                              **{name: (program, saved) for name, program in others.items()}}
                rows += compare(f"torch.{saved} of 1 GiB", measure_case(
                    folder, content, with_torch, options.rounds, f"torch.{saved}", {"ours": 0},
                    show), a_gib)
            for link, more in (((), ""), (load_trace.LINK, ", 20 ms, 50 MB/s a connection")):
                rows += compare(f"{words}, 1 GiB{more}", measure_case(
                    folder, content, programs, options.rounds, f"{words}{more}", {"ours": 0}, show,
                    link), a_gib)
        programs = {"ours": (ours, "each"), "C++": (cpp, "each"),
                    **{name: (program, "each") for name, program in others.items()}}
        counts = {"ours": objects, **{name: min(objects, PEER_OBJECTS) for name in others}}
        title = f"open and read {objects} x {folders.SIZE >> 10} KiB"
        rows += compare(title, measure_case(folder, content, programs, options.rounds, title, counts,
                                            show), an_object)
    return rows, versions
