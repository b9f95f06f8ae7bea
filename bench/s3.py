"""The benchmark `s3`: what S3 costs beside Google's service, and beside the clients that S3's users have.

    wire         16 KiB objects, ranges of 8 MiB, parts of 32 MiB and get_many, by the load server, which gives the same
                 bytes by both services: CPU beside `gcs`; over TLS, where payloads are not signed, and plain, where
                 they are. Instructions of a GET, where valgrind is there: beside `gcs`, and without signatures
    listing      1 M names in the simulation, whose service knows no end of a range, as S3's listing does
    training     100 KiB objects in a DataLoader with 2 workers: time and CPU a sample
    lines        text shards with lines of 1.6 KB, batches of 512, with 0 and 4 workers: time and CPU a batch
    checkpoints  one file, and torch.distributed.checkpoint with 4 processes, over TLS: wall time and CPU

The last three are on one emulator of S3 each, with a round trip of 20 ms, on core 0; all of a client is on core 1. With
--peers beside s3torchconnector, boto3, obstore and s3fs. They need torch, as the benchmark `dataloader` does.
--quick is one round of less.
"""

import json
import os
import pathlib
import random
import shutil
import ssl
import statistics
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import zlib
from xml.etree import ElementTree

import checkpoint_programs
import folders
import list_sim
import needs
import python_reads
from dataloader import TORCH, aimed
from report import row

PEERS = "s3"
HOME = needs.CLIENTS / PEERS
BUCKET = folders.BUCKET
RTT = ("--rtt", "20")
# What a connection of S3 gives: s3-protocol.md 3.11.
LINK = (*RTT, "--connection-bandwidth", "90000000")
LIMIT_S = 300
GIB, MIB = float(1 << 30), 1 << 20
# A GiB of MD5 takes 1.5 s of the server's one core, and fresh pages up to 2 s: more than a client takes. So ETags are
# those of a bucket with SSE-KMS, and memory that was given back is used again.
LEAN = ("--opaque-etags",)
KEPT_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(16 << 30)}
SCHEMES = {"https": "TLS 1.3", "http": "plain"}
# By case: the program, what it calls the case, requests, in flight, what the cost is divided by, to which unit.
WIRE = {"get16k": ("ours", "get16k", 60_000, 32, "requests", "us/GET", 1e6),
        "range8m": ("ours", "range8m", 256, 4, "bytes", "s/GiB", GIB),
        "put32m": ("ours", "put32m", 64, 4, "bytes", "s/GiB", GIB),
        "get_many 16 KiB": ("download", "get16k", 60_000, 64, "requests", "us/object", 1e6),
        "get_many 100 KiB": ("download", "get100k", 20_000, 64, "requests", "us/object", 1e6)}
WIRE_AIM = 1.1
COUNTED = (500, 1500)  # GETs under valgrind: what is counted is the difference
SPEED_AIM, CALLS_AIM = 35, 1.2
NAMES = 1_000_000
SMALL, BATCH, WORKERS = 100 << 10, 64, 2
CONTENTS, SAMPLES = 64, 6_400
OURS = {"s3-iterable": "IterableDataset", "s3-map": "MapDataset"}
# By client: how many samples it reads.
OTHERS = {"s3torchconnector": 512, "s3torchconnector-iterable": 512, "boto3": 512, "obstore": 3_200, "s3fs": 1_024}
SAMPLE_AIM = {"s3torchconnector": 0.2, "s3torchconnector-iterable": 0.2}
SHARDS, SHARD, LINE, LINES_BATCH, LINE_WORKERS = 16, 16 << 20, 1_600, 512, (0, 4)
LINES_AIM = 0.5
STATE, QUICK_STATE, RANKS = 1 << 30, 112 * MIB, 4
FORMS = {"file": (1, "one file"), "dcp": (RANKS, f"DCP, {RANKS} processes")}
CHECKPOINT_AIM = 0.67


class Emulator:
    """The emulator's S3 on its own core. It carries out calls without a signature, and takes payloads without one,
    as s3torchconnector sends them over plain HTTP, too. With `ca`, a path for its authority, it speaks TLS."""

    def __init__(self, folder, seed=None, more=(), ca=None):
        command = ["taskset", "-c", folders.SERVER_CORE, folder / needs.PROGRAMS["dataflux-emulator"],
                   "--service", "s3", "--anonymous", "--unsigned-payload", "allowed", "--bucket", BUCKET, *more,
                   *(["--seed", seed] if seed else []), *(["--https", "--ca-file", ca] if ca else [])]
        self._process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True,
                                         env={**os.environ, **KEPT_MEMORY})
        self.environment = {}
        while "AWS_ENDPOINT_URL_S3" not in self.environment:
            line = self._process.stdout.readline()
            if not line:
                raise SystemExit("bench: the emulator did not start")
            name, _, value = line.strip().partition("=")
            if name.startswith("AWS_"):
                self.environment[name] = value
        self.endpoint = self.environment["AWS_ENDPOINT_URL_S3"]
        self.environment["AWS_EC2_METADATA_DISABLED"] = "true"
        self._trusts = None
        if ca:
            self._trusts = ssl.create_default_context(cafile=ca)
            # The second one is s3torchconnector's, which has no setting of its own.
            self.environment |= dict.fromkeys(("AWS_CA_BUNDLE", "SSL_CERT_FILE"), str(ca))
        if seed:
            self.names("")  # as folders.Emulator asks for digests

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def names(self, prefix):
        """Of all objects. Their ETags are made for it."""
        found, query = [], {"list-type": 2, "prefix": prefix}
        while True:
            url = f"{self.endpoint}/{BUCKET}?{urllib.parse.urlencode(query)}"
            with urllib.request.urlopen(url, context=self._trusts) as reply:
                page = ElementTree.fromstring(reply.read())
            found += [key.text for key in page.iterfind(".//{*}Key")]
            query["continuation-token"] = page.findtext("{*}NextContinuationToken")
            if query["continuation-token"] is None:
                return found

    def remove(self, prefix):
        """The memory of what was saved, which the next save needs."""
        for name in self.names(prefix):
            one = f"{self.endpoint}/{BUCKET}/{urllib.parse.quote(name)}"
            urllib.request.urlopen(urllib.request.Request(one, method="DELETE"), context=self._trusts).close()


def run_python(folder, python, program, server, *arguments):
    """The last line that a program of peers/s3 prints."""
    done = subprocess.run(["taskset", "-c", folders.CLIENT_CORE, python, program, *arguments], stdout=subprocess.PIPE,
                          text=True, timeout=LIMIT_S, check=False,
                          env={**python_reads.environment(folder), **server.environment})
    if done.returncode != 0:
        raise SystemExit(f"bench: {arguments[0]}: failed")
    return json.loads(done.stdout.splitlines()[-1])


def beside(title, unit, mine, others, aims):
    """A row for each of the others; figures of each round."""
    others = {name: figures for name, figures in others.items() if figures}
    if not others:
        return [row(title, unit, statistics.median(mine), "measured only", None)]
    return [row(title, unit, statistics.median(mine), name, statistics.median(theirs),
                [a / b for a, b in zip(mine, theirs)], aims.get(name)) for name, theirs in others.items()]


# ---- wire ----


def program_of(folder, name, service):
    return [folder / f"bench/macro/bench_{name}", "--service", service]


def wire(options, folder, server, measure, show):
    rows = []
    for scheme, words in SCHEMES.items():
        for name, (program, case, count, in_flight, per, unit, scale) in WIRE.items():
            count = max(count // (8 if options.quick else 1), 2 * in_flight)
            found = {"s3": [], "gcs": []}
            for done in range(options.rounds):
                show(f"s3, {name} {words}: round {done + 1} of {options.rounds}")
                for service in list(found)[::1 if done % 2 else -1]:
                    line = measure(program_of(folder, program, service), server, scheme, case, count, in_flight)
                    found[service].append(line["cpu_s"] / line[per] * scale)
            rows += beside(f"{name} {words}", unit, found["s3"], {"gcs": found["gcs"]},
                           {"gcs": WIRE_AIM} if scheme == "https" else {})
    show("")
    return rows


def instructions(folder, server, service, scheme):
    """Of one GET of 16 KiB, by the difference of two runs."""
    counts = []
    for count in COUNTED:
        with tempfile.NamedTemporaryFile(prefix="bench-") as kept:
            subprocess.run(
                ["valgrind", "--tool=callgrind", f"--callgrind-out-file={kept.name}",
                 *map(str, program_of(folder, "ours", service)), "--endpoint", server.endpoint(scheme),
                 "--ca", server.ca, "--case", "get16k", "--count", str(count), "--concurrency", "1", "--threads", "1"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT_S, check=True)
            said = pathlib.Path(kept.name).read_text()
        counts.append(int(next(line for line in said.splitlines() if line.startswith("totals:")).split()[1]))
    return (counts[1] - counts[0]) / (COUNTED[1] - COUNTED[0])


def signing(folder, server, show):
    if shutil.which("valgrind") is None:
        print("bench: no valgrind, so no instructions are counted")
        return []
    rows = []
    for scheme, words in SCHEMES.items():
        show(f"s3, instructions of a GET, {words}")
        of = {service: instructions(folder, server, service, scheme) for service in ("s3", "gcs", "s3-unsigned")}
        title = f"get16k {words}, instructions"
        rows += beside(title, "1/GET", [of["s3"]], {"gcs": [of["gcs"]], "s3, not signed": [of["s3-unsigned"]]},
                       {"gcs": WIRE_AIM} if scheme == "https" else {})
    show("")
    return rows


# ---- listing ----


def listing(options, folder):
    rows = []
    for line in list_sim.simulate(folder, "--s3", "--sizes", NAMES, "--seeds", 2 if options.quick else 16):
        speeds = [run["speedup"] for run in line["runs"]]
        calls = [run["calls"] for run in line["runs"]]
        title = f"list 1 M names, {line['title']}"
        rows.append(aimed(row(title, "speed", statistics.median(speeds), "one stream", 1.0, speeds), SPEED_AIM, None))
        rows.append(row(f"{title}, calls", "calls", statistics.median(calls), "pages", line["pages"],
                        [each / line["pages"] for each in calls], CALLS_AIM))
    return rows


# ---- training ----


def write_objects(place, samples):
    """Files whose first and last 8 bytes are the number of their content. Gives the contents' CRC-32."""
    place.mkdir()
    source, known = random.Random(1), []
    for number in range(samples):
        if number < CONTENTS:
            mark = number.to_bytes(8, "little")
            content = mark + source.randbytes(SMALL - 16) + mark
            (place / str(number)).write_bytes(content)
            known.append(zlib.crc32(content))
        else:
            (place / str(number)).hardlink_to(place / str(number % CONTENTS))
    return known


def training(options, folder, scratch, python, peers, show):
    samples = SAMPLES // (8 if options.quick else 1)
    place = scratch / "objects"
    known = write_objects(place, samples)
    found = {name: [] for name in (*OURS, *peers)}
    with Emulator(folder, place, RTT) as server:
        run = {"what": "rate", "endpoint": server.endpoint, "size": SMALL, "objects": samples, "batch": BATCH,
               "workers": WORKERS, "known": known, "region": server.environment["AWS_REGION"]}
        for done in range(options.rounds):
            order = list(found)
            for name in order[done % 2:] + order[:done % 2]:
                show(f"s3, training: round {done + 1} of {options.rounds}, {name}")
                share = OTHERS.get(name, samples) // (2 if options.quick else 1)
                run["samples"] = max(2 * WORKERS * BATCH, min(samples, share))
                try:
                    found[name].append(run_python(folder, python, HOME / "feed_s3.py", server, name, json.dumps([run])))
                except (SystemExit, subprocess.SubprocessError):
                    if name in OURS:
                        raise
                    print(f"bench: {name} cannot do it")
    show("")
    rows = []
    for name, called in OURS.items():
        for key, what, aims in (("wall_s", "time", SAMPLE_AIM), ("cpu_s", "CPU", {})):
            costs = {each: [line[key] / line["samples"] * 1e3 for line in lines] for each, lines in found.items()}
            rows += beside(f"{called}, 100 KiB, {what}", "ms/sample", costs[name],
                           {each: costs[each] for each in peers}, aims)
    return rows


# ---- lines ----


def write_shards(place, shards):
    """Text of lines of LINE bytes and their end. Gives their number, and the sum of their CRC-32."""
    place.mkdir()
    lines = SHARD // (LINE + 1)
    total = 0
    for shard in range(shards):
        source = random.Random(shard)
        with (place / f"{shard:03}.txt").open("wb") as out:
            for _ in range(lines):
                line = source.randbytes(LINE // 2).hex().encode()
                total += zlib.crc32(line)
                out.write(line + b"\n")
    return shards * lines, total


def text_lines(options, folder, scratch, python, peers, show):
    place = scratch / "lines"
    lines, total = write_shards(place, SHARDS // (4 if options.quick else 1))
    found = {(name, workers): [] for workers in LINE_WORKERS for name in ("dataflux", *peers)}
    with Emulator(folder, place, LINK) as server:
        for done in range(options.rounds):
            order = list(found)
            for name, workers in order[done % 2:] + order[:done % 2]:
                show(f"s3, lines: round {done + 1} of {options.rounds}, {name}, {workers} workers")
                run = {"url": f"s3://{BUCKET}/", "batch": LINES_BATCH, "workers": workers, "lines": lines,
                       "total": total}
                found[name, workers].append(run_python(folder, python, HOME / "read_lines.py", server, name,
                                                       json.dumps(run)))
    show("")
    rows = []
    for workers in LINE_WORKERS:
        for key, what, aims in (("wall_s", "time", {"s3fs": LINES_AIM}), ("cpu_s", "CPU", {})):
            costs = {name: [line[key] / line["batches"] * 1e3 for line in found[name, workers]]
                     for name in ("dataflux", *peers)}
            mine = costs.pop("dataflux")
            rows += beside(f"lines of 1.6 KB, {workers} workers, {what}", "ms/batch", mine, costs, aims)
    return rows


# ---- checkpoints ----


def checkpoints(options, folder, scratch, python, peers, show):
    names = ["dataflux-s3", *(["s3torchconnector-s3"] if peers else [])]
    size = QUICK_STATE if options.quick else STATE
    rows = []
    for form, (ranks, words) in FORMS.items():
        found = {(name, do): [] for do in ("save", "load") for name in names}
        with Emulator(folder, None, (*LINK, *LEAN), scratch / "ca.pem") as server:
            clients = {}
            for name in names:
                show(f"s3, {words}: {name} makes its state")
                clients[name] = checkpoint_programs.Python(folder, python, name, more=server.environment)
                clients[name].world(ranks, server.endpoint, [form], size)
            # In round 0, which does not count, the server's memory is fresh, and what was loaded is compared.
            for done in range(options.rounds + 1):
                for name in names[::1 if done % 2 else -1]:
                    show(f"s3, {words}: round {done} of {options.rounds}, {name}")
                    server.remove(name)
                    for do in ("save", "load"):
                        more = {"check": done == 0} if do == "load" else {}
                        line = clients[name].ask(do=do, form=form, name=f"{name}-{form}", **more)
                        found[name, do] += [line] if done > 0 else []
            for client in clients.values():
                client.close()
        for do in ("save", "load"):
            for figure, what in (("wall_s", "time"), ("cpu_s", "CPU")):
                costs = {name: [line[figure] / line["bytes"] * GIB for line in found[name, do]] for name in names}
                mine = costs.pop("dataflux-s3")
                rows += beside(f"{words}, {do}, {what}", "s/GiB", mine,
                               {"s3torchconnector": theirs for theirs in costs.values()},
                               {"s3torchconnector": CHECKPOINT_AIM} if figure == "wall_s" else {})
    show("")
    return rows


def measure_all(options, folder, server, measure, show):
    rows = wire(options, folder, server, measure, show) + signing(folder, server, show) + listing(options, folder)
    done = subprocess.run([sys.executable, needs.ROOT / "tests/python/venv.py", TORCH],
                          stdout=subprocess.PIPE, text=True, check=True)
    python, peers, versions = done.stdout.strip(), False, {}
    if options.peers:
        with_peers, versions = needs.from_pypi(PEERS, beside=python)
        if with_peers is not None:
            python, peers = with_peers, True
    options.rounds = 1 if options.quick else options.rounds
    with needs.scratch(CONTENTS * SMALL + SHARDS * SHARD) as scratch:
        scratch = pathlib.Path(scratch)
        rows += training(options, folder, scratch, python, OTHERS if peers else {}, show)
        rows += text_lines(options, folder, scratch, python, ["s3fs"] if peers else [], show)
        try:
            rows += checkpoints(options, folder, scratch, python, peers, show)
        except checkpoint_programs.Failed as why:
            raise SystemExit(f"bench: s3, checkpoints: {why}") from None
    return rows, versions
