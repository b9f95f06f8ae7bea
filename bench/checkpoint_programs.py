"""The programs that the benchmark `checkpoints` runs: clients of Python, each a process with its ranks
(peers/checkpoints/use_checkpoints.py), and our C++ (macro/checkpoint.cpp). They stay, and do what they are asked."""

import json
import pathlib
import select
import subprocess
import urllib.parse
import urllib.request

import folders
import needs
import python_reads

PROGRAM = needs.CLIENTS / "checkpoints/use_checkpoints.py"
LIMIT_S = 300  # of one answer
LINK = ("--rtt", "20", "--connection-bandwidth", "50000000")


class Failed(Exception):
    """A client cannot do what it was asked."""


class Talk:
    """A process that answers each line with a line of JSON."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self._process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True, env=environment)

    def send(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self):
        if not select.select([self._process.stdout], [], [], LIMIT_S)[0]:
            self.close()
            raise SystemExit(f"bench: {self.name} did not answer within {LIMIT_S} s")
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"bench: {self.name} ended")
        return json.loads(line)

    def close(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


class Python:
    """A client of Python. ask() gives its answer, or raises Failed."""

    def __init__(self, folder, python, client, libraries=None, more=None):
        environment = {**python_reads.environment(folder), "PYTHONWARNINGS": "ignore", **(more or {})}
        if not client.startswith("dataflux"):
            # A package of ours has the original's name; and the original needs an older library.
            environment["PYTHONPATH"] = str(libraries or "")
        # Imports may have all cores; its ranks are on the client's.
        self._talk = Talk(client, [python, PROGRAM, client], environment)

    def ask(self, **command):
        self._talk.send(json.dumps(command))
        answer = self._talk.answer()
        if "failed" in answer:
            raise Failed(answer["failed"])
        return answer

    def world(self, ranks, endpoint, forms, size=0, small=0, tensors=True,
              core=int(folders.CLIENT_CORE)):
        """Forks ranks that have a state, or without `tensors` only know it, and have saved and loaded
        something small in these forms. The state's bytes."""
        self.ask(do="world", ranks=ranks, endpoint=endpoint, bucket=folders.BUCKET, core=core)
        self.ask(do="state", small=8)
        for form in forms:
            self.ask(do="save", form=form, name=f"warm/{self._talk.name}-{form}")
            self.ask(do="load", form=form, name=f"warm/{self._talk.name}-{form}", check=True)
        return self.ask(do="state", bytes=size, small=small, tensors=tensors)["bytes"]

    def close(self):
        self._talk.close()


class Cpp:
    """Our C++, in as many processes as there are ranks."""

    def __init__(self, folder, endpoint, ranks, size):
        command = ["taskset", "-c", folders.CLIENT_CORE, folder / "bench/macro/bench_checkpoint",
                   "--endpoint", endpoint, "--bucket", folders.BUCKET, "--size", size // ranks]
        self._ranks = [Talk("C++", command) for _ in range(ranks)]
        self.ask(do="warm", name="warm/C++")

    def ask(self, do, name, **_):
        for rank, talk in enumerate(self._ranks):
            talk.send(f"{do} {name}/{rank}")
        answers = [talk.answer() for talk in self._ranks]
        return {"wall_s": max(each["wall_s"] for each in answers),
                **{key: sum(each[key] for each in answers) for key in ("cpu_s", "bytes")}}

    def close(self):
        for talk in self._ranks:
            talk.close()


def objects_of(endpoint, prefix):
    names, token = [], ""
    while token is not None:
        query = urllib.parse.urlencode({"prefix": prefix, "pageToken": token})
        with urllib.request.urlopen(f"{endpoint}/storage/v1/b/{folders.BUCKET}/o?{query}") as reply:
            page = json.load(reply)
        names += [each["name"] for each in page.get("items", [])]
        token = page.get("nextPageToken")
    return names


def remove(endpoint, prefix):
    """The memory of what was saved, which the next save needs."""
    for name in objects_of(endpoint, prefix):
        path = urllib.parse.quote(name, safe="")
        urllib.request.urlopen(urllib.request.Request(
            f"{endpoint}/storage/v1/b/{folders.BUCKET}/o/{path}", method="DELETE")).close()


class Counted:
    """What the emulator counts from here on."""

    def __init__(self, endpoint):
        self._endpoint = endpoint
        self._before = self._now()

    def _now(self):
        with urllib.request.urlopen(f"{self._endpoint}/_emulator/counters") as reply:
            known = json.load(reply)
        return sum(of["count"] for of in known["requests"]), known["replyBodyBytes"]

    def read(self):
        """(requests, bytes of replies)"""
        return tuple(now - before for now, before in zip(self._now(), self._before))


def emulator(folder, link):
    return folders.Emulator(folder / needs.PROGRAMS["dataflux-emulator"], None, link)


def available_memory():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0
