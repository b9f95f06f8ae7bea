"""Copying a folder by whole commands (benchmark `cp`): ours, rclone and gcsfs, down and up.

One emulator for each run, fresh, on the server's core; the client on the other. What is compared is
the wall and CPU time of the whole process, from its start to its end, of gcsfs (whose imports alone
take a second) of the copying alone. Files are in memory (/dev/shm) where there is room for them, so
that no disk has a say. What arrived is compared byte by byte, and by MD5 in the bucket.
"""

import base64
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

import needs
from report import row

ROOT = pathlib.Path(__file__).resolve().parent.parent
OBJECTS, SIZE, IN_A_FOLDER = 10_000, 16 << 10, 1_000
SERVER_CORE, CLIENT_CORE = "0", "1"
BUCKET = "bench"
AIM = 5.0
# Listings by prefix instead of by folder, no look at what the target has, no buffers for files that
# fit into one reply; the rest is what it does for everybody: comparing MD5, keeping times. More than
# 32 transfers made it no faster.
RCLONE = ["rclone", "copy", "--config", os.devnull, "--stats", "0", "--gcs-anonymous",
          "--gcs-no-check-bucket", "--gcs-bucket-policy-only", "--transfers", "32", "--checkers",
          "32", "--fast-list", "--no-traverse", "--no-check-dest", "--buffer-size", "0"]
GCSFS_CONCURRENCY = "128"


class Emulator:
    """The program dataflux-emulator on its own core, for one run. It makes the digests of an object when somebody asks
    first, and meanwhile nothing else: so what it is seeded with is asked about before a clock runs."""

    def __init__(self, program, seed=None, more=()):
        command = ["taskset", "-c", SERVER_CORE, program, "--bucket", BUCKET, *map(str, more)]
        self.process = subprocess.Popen(command + (["--seed", seed] if seed else []),
                                        stdout=subprocess.PIPE, text=True)
        found = "STORAGE_EMULATOR_HOST="
        line = next(line for line in self.process.stdout if line.startswith(found))
        self.endpoint = line.strip().removeprefix(found)
        if seed:
            self.digests("")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def digests(self, prefix):
        """{name behind the prefix: base64 of its MD5}."""
        out, token = {}, ""
        while token is not None:
            with urllib.request.urlopen(f"{self.endpoint}/storage/v1/b/{BUCKET}/o?prefix={prefix}"
                                        f"&pageToken={token}") as reply:
                page = json.load(reply)
            out.update((o["name"].removeprefix(prefix), o["md5Hash"]) for o in page.get("items", []))
            token = page.get("nextPageToken")
        return out


def make_files(folder, count):
    """{path below the folder: base64 of its MD5}."""
    out = {}
    source = random.Random(1)
    for i in range(count):
        name = f"shard-{i // IN_A_FOLDER:03}/sample-{i:08}.bin"
        content = source.randbytes(SIZE)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        out[name] = digest(content)
    return out


def digest(content):
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()


def digests_below(folder):
    return {str(path.relative_to(folder)): digest(path.read_bytes())
            for path in folder.rglob("*") if path.is_file()}


def commands(programs, endpoint, direction, source, target):
    """What each program is called with to copy what is in `source` to `target`, new; the one in the
    bucket is a prefix there."""
    down = direction == "down"
    ours = [f"gs://{BUCKET}/{source}/", target] if down else [f"{source}/", f"gs://{BUCKET}/{target}"]
    by_rclone = ([f":gcs:{BUCKET}/{source}", target] if down
                 else [source, f":gcs:{BUCKET}/{target}"])
    by_gcsfs = ([f"{BUCKET}/{source}/", f"{target}/"] if down
                else [f"{source}/", f"{BUCKET}/{target}/"])
    return {
        "ours": [programs["ours"], "--endpoint", endpoint, "cp", "-r", *ours],
        "rclone": [*RCLONE, "--gcs-endpoint", f"{endpoint}/storage/v1/", *by_rclone],
        "gcsfs": [programs.get("gcsfs"), ROOT / "bench/peers/gcsfs/copy_folder.py",
                  "get" if down else "put", endpoint, *by_gcsfs, GCSFS_CONCURRENCY],
    }


def timed(name, command):
    """Wall and CPU seconds of a command on the client's core."""
    environment = {k: v for k, v in os.environ.items()
                   if k != "STORAGE_EMULATOR_HOST" and not k.lower().endswith("_proxy")}
    started = time.monotonic()
    child = subprocess.Popen(["taskset", "-c", CLIENT_CORE, *map(str, command)],
                             stdout=subprocess.PIPE, env=environment)
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.monotonic() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    if child.returncode != 0:
        raise SystemExit(f"bench: failed: {' '.join(map(str, command))}")
    if name == "gcsfs":
        return json.loads(said)
    return {"wall_s": wall, "cpu_s": used.ru_utime + used.ru_stime}


def run_once(name, programs, direction, sources, files):
    """One copy by one program, verified."""
    with tempfile.TemporaryDirectory(dir=sources.parent.parent, prefix="target-") as scratch:
        down = direction == "down"
        with Emulator(programs["emulator"], sources.parent if down else None) as server:
            target = pathlib.Path(scratch) / "copy"
            ends = (sources.name, target) if down else (sources, "copy")
            cost = timed(name, commands(programs, server.endpoint, direction, *ends)[name])
            arrived = digests_below(target) if down else server.digests("copy/")
        if arrived != files:
            raise SystemExit(f"bench: {name} did not copy {direction} what was there: "
                             f"{len(arrived)} of {len(files)} files came")
    return cost


def find_programs(folder):
    """Ours, and the others that are found or can be installed: (programs, versions)."""
    programs = {"ours": folder / needs.PROGRAMS["dataflux_command"],
                "emulator": folder / needs.PROGRAMS["dataflux-emulator"]}
    versions = {}
    if shutil.which("rclone") is None:
        print("bench: no rclone, so it is not measured")
    else:
        said = subprocess.run(["rclone", "version"], stdout=subprocess.PIPE, text=True, check=True)
        programs["rclone"] = "rclone"
        versions["rclone"] = re.search(r"v([\d.]+)", said.stdout).group(1)
    python, pinned = needs.from_pypi("gcsfs")
    if python is not None:
        programs["gcsfs"] = python
        versions["gcsfs"] = pinned["gcsfs"]
    return programs, versions


def measure(options, folder, progress):
    """The rows, and the versions of the programs."""
    programs, versions = find_programs(folder)
    count = OBJECTS // (8 if options.quick else 1)
    order = [name for name in ("ours", "rclone", "gcsfs") if name in programs]
    with needs.scratch(2 * count * SIZE) as place:
        sources = pathlib.Path(place) / "seed" / "folder"
        files = make_files(sources, count)
        rows = []
        for direction in ("down", "up"):
            costs = {name: [] for name in order}
            for done in range(options.rounds):
                for name in order:
                    progress(f"cp {direction}: round {done + 1} of {options.rounds}, {name}")
                    costs[name].append(run_once(name, programs, direction, sources, files))
                order = order[1:] + order[:1]
            progress("")
            rows += compare(direction, count, costs)
    return rows, versions


def compare(direction, count, costs):
    """Ours beside each peer, wall and CPU."""
    rows = []
    for key, word in (("wall_s", "wall"), ("cpu_s", "CPU")):
        ours = [cost[key] for cost in costs["ours"]]
        case = f"{count} x {SIZE >> 10} KiB {direction}, {word}"
        for peer in costs:
            if peer == "ours":
                continue
            theirs = [cost[key] for cost in costs[peer]]
            rows.append(row(case, "s", statistics.median(ours), peer, statistics.median(theirs),
                            [a / b for a, b in zip(ours, theirs)]))
    return rows


def summary(rows):
    """One line for each row: how many times the peer's time is ours."""
    lines = []
    for each in rows:
        times = each["reference_value"] / each["ours"]
        verdict = "aim met" if times >= AIM else "below the aim"
        lines.append(f"{each['case']}: {times:.1f} times as fast as {each['reference']} "
                     f"(aim {AIM:.0f}: {verdict})")
    return lines
