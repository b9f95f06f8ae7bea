"""A test of the command `dataflux`: a folder, an emulator and what to expect of a run."""

import argparse
import concurrent.futures
import contextlib
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from service import ENDPOINT, Guarded

MIB = 1 << 20
BUCKET = "bucket"
options = argparse.Namespace()


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


LAST_LINE = re.compile(rb"dataflux: (nothing done; |[^;]* objects? (copied|moved|removed|already there), ).*"
                       rb"\d\.\d s(; \d+ retr(y|ies))?\n")


def without_notices(said):
    """Standard error without the lines that tell of retries, which a busy machine may cause, and
    without the last one, which has counts."""
    return b"".join(line for line in said.splitlines(keepends=True)
                    if not line.startswith(b"dataflux: retrying: ") and not LAST_LINE.fullmatch(line))


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.emulator = Guarded(options.emulator, BUCKET)
        cls.environment = cls.emulator.environment

    @classmethod
    def tearDownClass(cls):
        cls.emulator.close()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="dataflux-cli-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def along(self, road):
        """The environment of a command that goes to the service by a SlowRoad."""
        return {**self.environment, ENDPOINT: road.endpoint}

    @staticmethod
    def command(arguments, env):
        """The command's words; the address of its service is an option."""
        where = ["--endpoint", env[ENDPOINT]] if ENDPOINT in (env or {}) else []
        return [options.dataflux, *where, *map(str, arguments)]

    def run_it(self, *arguments, **more):
        more.setdefault("env", self.environment)
        more.setdefault("stdin", subprocess.DEVNULL) if "input" not in more else None
        return subprocess.run(self.command(arguments, more["env"]), cwd=self.folder,
                              capture_output=True, timeout=120, **more)

    def ok(self, *arguments, **more):
        """Its standard output; it must succeed and say nothing else."""
        done = self.run_it(*arguments, **more)
        self.assertEqual((0, b""), (done.returncode, without_notices(done.stderr)), arguments)
        return done.stdout

    def tells(self, *arguments, **more):
        """Its last line without the time; it must succeed."""
        done = self.run_it(*arguments, **more)
        self.assertEqual(0, done.returncode, (arguments, done.stderr))
        last = done.stderr.decode().splitlines()[-1].removeprefix("dataflux: ")
        return re.sub(r"; \d+\.\d s.*$", "", last)

    def fails(self, status, *arguments, saying=(), **more):
        """Its lines on standard error; each begins with the program's name."""
        done = self.run_it(*arguments, **more)
        said = without_notices(done.stderr).decode(errors="replace")
        self.assertEqual(status, done.returncode, f"{arguments}: {said}")
        for line in said.splitlines():
            self.assertTrue(line.startswith("dataflux: "), said)
        for part in [saying] if isinstance(saying, str) else saying:
            self.assertIn(part, said)
        return said.splitlines()

    def start(self, *arguments, **more):
        program = subprocess.Popen(self.command(arguments, more.get("env")), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.addCleanup(self.end, program)
        return program

    @staticmethod
    def end(program):
        """A test that failed leaves nothing running that the next one would meet."""
        if program.poll() is None:
            program.kill()
            program.communicate()

    def together(self, status, *commands, saying, **more):
        """Runs all at once, since those that wait in vain take long; each fails with one line."""
        more.setdefault("env", self.environment)
        programs = [self.start(*command, stdin=subprocess.DEVNULL, **more) for command in commands]
        for command, program in zip(commands, programs):
            _, said = program.communicate(timeout=200)
            said = without_notices(said)
            self.assertEqual(status, program.returncode, (command, said))
            self.assertEqual(1, said.count(b"\n"), (command, said))
            self.assertIn(saying, said, command)

    def interrupt(self, program, number=signal.SIGINT):
        program.send_signal(number)
        _, said = program.communicate(timeout=60)
        self.assertEqual(128 + number, program.returncode, said)
        self.assertEqual(b"dataflux: interrupted, and cleaned up\n", without_notices(said))

    def tree(self, *below):
        """{path: bytes}, None for a folder, of everything below, hidden files included. What a
        running program takes away meanwhile is not there."""
        top = self.folder.joinpath(*below)
        found = {}
        for path in top.rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                found[str(path.relative_to(top))] = None if path.is_dir() else path.read_bytes()
        return found

    def write(self, name, content=b""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def url(self, name=""):
        return f"gs://{BUCKET}/{name}"

    def put(self, objects):
        for name, content in objects.items():
            self.emulator.put(name, content)

    def inflict(self, action, **rule):
        """Adds a fault rule to the emulator's script; a test's rules go with the test."""
        self.addCleanup(self.emulator.ask, "DELETE", "/_emulator/faults")
        self.emulator.ask("POST", "/_emulator/faults",
                          json.dumps({"action": action, **rule}).encode())

    def hits(self):
        return json.loads(self.emulator.ask("GET", "/_emulator/faults"))["hits"]

    def counters(self):
        return json.loads(self.emulator.ask("GET", "/_emulator/counters"))

    def nothing_open(self):
        seen = self.counters()
        self.assertEqual((0, 0), (seen["multipartUploadsOpen"], seen["resumableUploadsOpen"]))


class SideBySide:
    """Runs the classes of a script at once: each has an emulator of its own, and those whose
    commands try again and again do nothing but wait."""

    def run(self, suite):
        def run_one(tests):
            said = io.StringIO()
            return unittest.TextTestRunner(stream=said).run(tests), said.getvalue()

        whole = unittest.TestResult()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for result, said in pool.map(run_one, suite):
                print(said, end="", file=sys.stderr)
                whole.testsRun += result.testsRun
                whole.failures += result.failures
                whole.errors += result.errors
                whole.skipped += result.skipped
        return whole


def main(doc, runner=None):
    """The tests of the calling script; its options name the programs."""
    arguments = argparse.ArgumentParser(description=doc.splitlines()[0])
    arguments.add_argument("--dataflux", required=True, type=os.path.abspath)
    arguments.add_argument("--emulator", required=True, type=os.path.abspath)
    _, rest = arguments.parse_known_args(namespace=options)
    # A shell's background jobs ignore it, and so would, rightly, the commands begun here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unittest.main(argv=[sys.argv[0], *rest], testRunner=runner)
