"""The benchmark `fsspec`: the filesystem for fsspec beside gcsfs, which both come with the package fsspec
from PyPI.

10,000 objects of 16 KiB by one cat(), and as a folder by get(); 1 M names by find(), from a service that
answers after 20 ms. One server for each run, fresh, on the server's core; the client on the other. CPU and
wall time are of the call alone. The bytes of cat() are counted, and get()'s files compared.
"""

import json
import pathlib
import statistics
import subprocess
import tempfile

import folders
import list_socket
import needs
import python_reads
from report import row

PEERS = "gcsfs"
PROGRAM = needs.CLIENTS / PEERS / "use_filesystem.py"
CLIENTS = ("dataflux", "gcsfs")
AIM = 0.25  # of gcsfs's CPU
LIMIT_S = 900


def ask(folder, python, *arguments, names="", first=()):
    done = subprocess.run([*first, "taskset", "-c", folders.CLIENT_CORE, python, PROGRAM, *map(str, arguments)],
                          input=names, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT_S,
                          env=python_reads.environment(folder))
    return json.loads(done.stdout)


def read(folder, python, client, action, sources, files):
    with tempfile.TemporaryDirectory(dir=sources.parent.parent, prefix="target-") as scratch, \
            folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], sources.parent) as server:
        source = f"{folders.BUCKET}/{sources.name}"
        names = "".join(f"{source}/{name}\n" for name in files) if action == "cat" else ""
        target = pathlib.Path(scratch) / "copy"
        line = ask(folder, python, client, action, server.endpoint, source, len(files), target, names=names)
        if action == "cat" and line["bytes"] != len(files) * folders.SIZE:
            raise SystemExit(f"bench: {client} read {line['bytes']} bytes")
        if action == "get" and folders.digests_below(target) != files:
            raise SystemExit(f"bench: {client} did not copy what was there")
    return line


def find(folder, python, client, count):
    with list_socket.serving(folder, "a", count) as endpoint:
        return ask(folder, python, client, "find", endpoint, "bench", count, first=list_socket.run_first())


def rows_of(title, lines):
    ours, theirs = (lines[client] for client in CLIENTS)
    rows = []
    for key, word, scale in (("cpu_s", "CPU", 1e6), ("wall_s", "wall", 1e6)):
        mine, other = ([line[key] / line["requests"] * scale for line in found] for found in (ours, theirs))
        rows.append(row(f"{title}, {word}", "us/object", statistics.median(mine), "gcsfs",
                        statistics.median(other), [a / b for a, b in zip(mine, other)]))
    rows.append(row(f"{title}, CPU to the aim", "us/object", rows[0]["ours"], f"{AIM} of gcsfs",
                    AIM * rows[0]["reference_value"]))
    return rows


def measure_all(options, folder, show):
    python, versions = needs.from_pypi(PEERS)
    if python is None:
        raise SystemExit("bench: fsspec needs the package of that name, which could not be installed")
    share = 8 if options.quick else 1
    objects, names = folders.OBJECTS // share, list_socket.NAMES // share
    rows = []
    with needs.scratch(2 * objects * folders.SIZE) as scratch:
        sources = pathlib.Path(scratch) / "seed" / "folder"
        files = folders.make_files(sources, objects)
        for action, title, run in (
                ("cat", f"cat of {objects} x 16 KiB", lambda client: read(folder, python, client, "cat", sources, files)),
                ("get", f"get of {objects} x 16 KiB", lambda client: read(folder, python, client, "get", sources, files)),
                ("find", f"find of {names} names", lambda client: find(folder, python, client, names))):
            lines = {client: [] for client in CLIENTS}
            for done in range(1 if action == "find" else options.rounds):
                for client in CLIENTS[::1 if done % 2 else -1]:
                    show(f"fsspec, {title}: round {done + 1}, {client}")
                    lines[client].append(run(client))
            show("")
            rows += rows_of(title, lines)
    return rows, versions
