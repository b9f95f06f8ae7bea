"""The benchmark `dataloader`: datasets of dataflux.torch in torch's DataLoader, beside other clients'.

An emulator of 20 ms of round trip on core 0, the whole client on core 1, however many workers it has.
bench/peers/dataloader/feed.py is every client's program; all make the same tensors, and torch's own
function makes batches of them. Two parts:

    rate      100 KiB, 2 workers, no limit but the clients' core: samples a second, CPU, memory
    first     from a manifest of 1 M and 10 M names to the first batch, and a worker's private memory

It needs torch: that of tests/python/with_torch/requirements.txt, in the user's cache, 5.5 GB. With --peers
the other clients come into an environment below build/ that has the same torch. --quick is one round.
"""

import argparse
import base64
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import urllib.request
import zlib

import folders
import needs
import python_reads
from report import bounds, met, row

PEERS = "dataloader"
PROGRAM = needs.CLIENTS / PEERS / "feed.py"
TORCH = needs.ROOT / "tests/python/with_torch/requirements.txt"
RTT = ("--rtt", "20")
# Memory for reads ahead, of all workers together: of a machine whose share is the least, so that the figures
# are the same on any machine.
RATE_CAP = 256 << 20
WORKERS = 2
LIMIT_S = 240
# By words: bytes, contents that differ, samples of a run, of a batch.
SIZES = {"100 KiB": (100 << 10, 64, 6_400, 64)}
OURS = {"iterable": "IterableDataset", "map": "MapDataset"}
# By client: what it is called, and how many samples it reads.
OTHERS = {"gcs-torch-dataflux": ("gcs-torch-dataflux", 384),
          "gcs-torch-dataflux-compose": ("gcs-torch-dataflux, composing", 1024),
          "gcs-torch-dataflux-iterable": ("gcs-torch-dataflux iterable", 384),
          "gcs-torch-dataflux-iterable-compose": ("gcs-torch-dataflux iterable, composing", 1024),
          "gcsfs": ("gcsfs", 1024), "obstore": ("obstore", 3200)}
ALONE = {"get": ("Client.get one by one", 384), "nothing": ("torch alone", 6_400)}
RIVAL = "gcs-torch-dataflux"
SPEED_AIM, CPU_AIM = 5, 0.2
NAMES = {"1 M": 1_000_000, "10 M": 10_000_000}
FIRST_BATCH, FIRST_CAP = 64, 32 << 20
FIRST_AIM_S, GROWTH_AIM, PRIVATE_AIM_MIB = 1.0, 1.5, 8
MIB = float(1 << 20)


class Content:
    """Folders of objects by their words: few contents under many names."""

    def __init__(self, place, quick, sizes):
        self.place, self.known, self.shapes = pathlib.Path(place), {}, {}
        source = random.Random(1)
        for words, (size, contents, samples, batch) in sizes.items():
            samples = max(samples // 8, 2 * WORKERS * batch) if quick else samples
            folder = self.place / words
            folder.mkdir()
            self.known[words] = []
            for number in range(samples):
                if number < contents:
                    mark = number.to_bytes(8, "little")
                    content = mark + source.randbytes(size - 16) + mark
                    (folder / str(number)).write_bytes(content)
                    self.known[words].append(zlib.crc32(content))
                else:
                    os.link(folder / str(number % contents), folder / str(number))
            self.shapes[words] = (size, samples, batch)

    def run(self, what, words, endpoint, **more):
        """A run of feed.py."""
        size, samples, batch = self.shapes[words]
        return {"what": what, "endpoint": endpoint, "size": size, "objects": samples, "samples": samples,
                "batch": batch, "workers": WORKERS, "known": self.known[words], **more}

    def serve(self, folder, words, link=None):
        more = RTT if link is None else (*RTT, "--bandwidth", link)
        return folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], self.place / words, more)


def feed(folder, python, client, runs):
    """The lines of one process of feed.py."""
    done = subprocess.run(["taskset", "-c", folders.CLIENT_CORE, python, PROGRAM, client,
                           json.dumps(runs)], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S,
                          check=False, env=python_reads.environment(folder))
    if done.returncode != 0:
        raise SystemExit(f"bench: {client}: failed")
    return [json.loads(line) for line in done.stdout.splitlines()]


def aimed(of, least=None, most=None):
    """A row whose ratio, or whose value where the reference has none, has an aim."""
    return {**of, "aim": {"least": least, "most": most}}


def median(lines, key):
    return statistics.median(line[key] for line in lines)


def half(rounds):
    """Rounds of what takes long."""
    return max(1, rounds // 2)


# ---- rate ----


def rates(folder, content, python, options, peers, show):
    found = {name: [] for name in (*OURS, *ALONE, *peers)}
    words, others = "100 KiB", {**ALONE, **peers}
    _, whole, batch = content.shapes[words]
    for done in range(options.rounds):
        order = list(found) if done < half(options.rounds) else list(OURS)
        for name in order[done % 2:] + order[:done % 2]:
            show(f"dataloader, rate: round {done + 1} of {options.rounds}, {name}")
            samples = whole
            if name in others:
                share = others[name][1] // (4 if options.quick else 1)
                samples = min(whole, max(2 * WORKERS * batch, share))
            with content.serve(folder, words) as server:
                run = content.run("rate", words, server.endpoint, look_at_memory=True,
                                  memory_cap=RATE_CAP // WORKERS)
                run["samples"] = samples
                try:
                    found[name] += feed(folder, python, name, [run])
                except (SystemExit, subprocess.SubprocessError):
                    if name not in peers:
                        raise
                    print(f"bench: {name} cannot do it")
    show("")
    return [each for mine, called in OURS.items()
            for each in rate_rows(called, found[mine],
                                  {others[name]: found[name] for name in others if found[name]})]


def rate_rows(called, mine, others):
    for line in (*mine, *(line for lines in others.values() for line in lines)):
        line["per_s"] = line["samples"] / line["wall_s"]
        line["us"] = line["cpu_s"] / line["samples"] * 1e6
        line["mib"] = line["memory"] / MIB
    rows = []
    for key, what, unit in (("per_s", "samples", "1/s"), ("us", "CPU", "us/sample"),
                            ("mib", "memory", "MiB")):
        for (name, _), lines in others.items():
            each = row(f"{called} 100 KiB, {what}", unit, median(mine, key), name, median(lines, key),
                       [a[key] / b[key] for a, b in zip(mine, lines)] if key != "mib" else ())
            if name.startswith(RIVAL) and key != "mib":
                each = aimed(each, SPEED_AIM, None) if key == "per_s" else aimed(each, None, CPU_AIM)
            rows.append(each)
    alone = median(others.pop(ALONE["nothing"]), "us")
    return rows + [row(f"{called} 100 KiB, CPU less torch's own", "us/sample",
                       median(mine, "us") - alone, name, median(lines, "us") - alone)
                   for (name, _), lines in others.items()]


# ---- first ----


def serve_one_for_all(endpoint, size):
    """Every read gives the same content from now on. Returns the object's metadata."""
    body = "x" * size
    base = f"{endpoint}/upload/storage/v1/b/{folders.BUCKET}/o?uploadType=media&name=one"
    with urllib.request.urlopen(urllib.request.Request(base, body.encode(), {
            "Content-Type": "text/plain"})) as reply:
        known = json.load(reply)
    rule = {"verb": "objects.media", "action": "send", "status": 200, "count": 0, "body": body,
            "headers": {"x-goog-generation": known["generation"],
                        "x-goog-hash": f"crc32c={known['crc32c']}",
                        "x-goog-stored-content-encoding": "identity",
                        "x-goog-stored-content-length": str(size)}}
    with urllib.request.urlopen(urllib.request.Request(
            f"{endpoint}/_emulator/faults", json.dumps(rule).encode(),
            {"Content-Type": "application/json"})):
        return known


def first_batches(folder, scratch, python, client, run, options, show):
    """Lines of a client's runs by the words of NAMES: from a manifest to the first batch."""
    size = SIZES["100 KiB"][0]
    found = {words: [] for words in NAMES}
    with folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], None, RTT) as server:
        known = serve_one_for_all(server.endpoint, size)
        crc32c = int.from_bytes(base64.b64decode(known["crc32c"]), "big")
        for words, names in NAMES.items():
            show(f"first batch: a manifest of {words} names")
            subprocess.run([folder / "bench/macro/bench_manifest", pathlib.Path(scratch) / words,
                            *map(str, (names, size, known["generation"], crc32c))], check=True)
        for done in range(half(options.rounds)):
            for words in NAMES:
                show(f"first batch: round {done + 1}, {words}")
                found[words] += feed(folder, python, client, [
                    {"what": "first", "endpoint": server.endpoint, "size": size, "batch": FIRST_BATCH,
                     "manifest": str(pathlib.Path(scratch) / words), **run}])
    show("")
    return found


def firsts(folder, scratch, python, options, show):
    small, large = first_batches(folder, scratch, python, "iterable", {"workers": WORKERS, "memory_cap": FIRST_CAP},
                                 options, show).values()
    private = [line["private"] / MIB for line in large], [line["private"] / MIB for line in small]
    return [
        aimed(row("first batch, 1 M names", "s", median(small, "first_s"), "aim", FIRST_AIM_S,
                  [line["first_s"] / FIRST_AIM_S for line in small]), None, 1),
        aimed(row("first batch, 10 M names", "s", median(large, "first_s"), "1 M names",
                  median(small, "first_s"),
                  [a["first_s"] / b["first_s"] for a, b in zip(large, small)]), None, GROWTH_AIM),
        row("a worker's private memory, 10 M names", "MiB", statistics.median(private[0]), "1 M names",
            statistics.median(private[1])),
        aimed(row("the difference", "MiB", abs(statistics.median(private[0])
                                               - statistics.median(private[1])), "aim",
                  PRIVATE_AIM_MIB), None, 1)]


def summary(rows):
    """A line for each row that has an aim."""
    lines = []
    for each in rows:
        if each.get("aim") is None:
            continue
        least, most = bounds(each)
        wanted = f"{least:g} or more" if most is None else f"{most:g} or less"
        lines.append(f"{'met   ' if met(each) else 'MISSED'}  {each['case']} beside {each['reference']}: "
                     f"{each['ratio']:.3g} times, aim {wanted}")
    return lines


def environment(options):
    """Python with torch, that of the others where they are there, and versions."""
    done = subprocess.run([sys.executable, needs.ROOT / "tests/python/venv.py", TORCH],
                          stdout=subprocess.PIPE, text=True, check=True)
    python, others, versions = done.stdout.strip(), None, {}
    if options.peers:
        others, versions = needs.from_pypi(PEERS, beside=python)
    torch = re.search(r"^torch==(.*)$", TORCH.read_text(), re.MULTILINE).group(1)
    return others or python, others is not None, {"torch": torch, **versions}


def room_of(sizes):
    return sum(size * contents for size, contents, _, _ in sizes.values())


def measure_all(options, folder, show):
    python, with_peers, versions = environment(options)
    options = argparse.Namespace(**{**vars(options), "rounds": 1 if options.quick else options.rounds})
    with needs.scratch(room_of(SIZES) + 45 * sum(NAMES.values())) as scratch:
        content = Content(scratch, options.quick, SIZES)
        rows = rates(folder, content, python, options, OTHERS if with_peers else {}, show)
        rows += firsts(folder, scratch, python, options, show)
    return rows, versions
