#!/usr/bin/env python3
"""Processes that are killed while they save: the old object or the new one, whole, and strays listed;
and while they fetch: whole files, and none beside them."""

import os
import random
import signal
import subprocess
import time

from command_case import BUCKET, MIB, Case, main, noise, options
from service import Guarded, OnS3, environment, wait_until

KILLS = 200 if os.environ.get("DATAFLUX_TEST_FULL") else 20
SIZE = 40 * MIB  # some parts
ROUND_TRIP_MS = 8  # the time between two requests is worth being killed in, too


class Killed(Case):
    kills = KILLS // 2

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.emulator.close()
        cls.emulator = Guarded(options.emulator, "bucket", "--rtt", str(ROUND_TRIP_MS))
        cls.environment = cls.emulator.environment

    def begin(self, streamed, body):
        if not streamed:
            self.write("file", body)
            return self.start("cp", "file", self.url("model"), env=self.environment)
        with open(self.write("stream", body), "rb") as stream:
            return self.start("cp", "-", self.url("model"), env=self.environment, stdin=stream)

    def save_and_kill(self, streamed, kills):
        dice = random.Random(kills)
        before = b"the old object"
        self.put({"model": before})
        at_first = self.emulator.answered()
        body = noise(SIZE, 0)
        said = self.begin(streamed, body).communicate(timeout=60)
        requests = self.emulator.answered() - at_first
        self.assertEqual(body, self.emulator.get("model"), said)
        before, ended = body, 0
        for i in range(kills):
            body = noise(SIZE - 1000 * i, i + 1)
            # Where it is killed counts in requests, which a busy machine does not change.
            until = self.emulator.answered() + dice.randrange(requests)
            program = self.begin(streamed, body)
            wait_until(lambda: self.emulator.answered() >= until or program.poll() is not None,
                       pause=0.001)
            time.sleep(dice.uniform(0, 2 * ROUND_TRIP_MS / 1000))
            program.send_signal(signal.SIGKILL)
            program.communicate(timeout=60)
            ended += program.returncode == 0
            # What it had sent is carried out all the same.
            time.sleep(10 * ROUND_TRIP_MS / 1000)
            there = self.emulator.get("model")
            self.assertIn(there, (before, body))
            if program.returncode == 0:
                self.assertEqual(body, there)
            before = there
        return ended

    def strays(self):
        """(what the bucket holds beside the object, what the command lists)"""
        there = [name for name in self.emulator.names() if name != "model"]
        listed = self.ok("uploads", "list", self.url()).decode().splitlines()
        return len(there) + len(self.emulator.open_uploads()), listed

    def check(self, streamed):
        ended = self.save_and_kill(streamed, self.kills)
        self.assertLess(ended, self.kills, "every run had ended before it was killed")
        count, listed = self.strays()
        self.assertEqual(count, len(listed), listed)
        for line in listed:
            self.assertTrue(self.url("model") in line or ".dataflux-conditions-" in line, line)
        self.ok("uploads", "abort", "--older-than", "0s", self.url())
        self.assertEqual((0, []), self.strays())
        self.assertEqual(["model"], self.emulator.names())

    def test_a_stream(self):
        self.check(streamed=True)

    def test_a_file(self):
        self.check(streamed=False)


class SeenByCommand:
    """The emulator as S3, and what it holds as the command shows it when none is killed."""

    def __init__(self):
        self.s3 = OnS3(options.emulator, BUCKET, more=("--rtt", str(ROUND_TRIP_MS)))
        self.environment = environment(**self.s3.variables)
        self.close = self.s3.close

    def run(self, *words, **more):
        return subprocess.run([options.dataflux, *words], env=self.environment, capture_output=True, timeout=120,
                              **more)

    def put(self, name, content):
        self.run("cp", "-", f"s3://{BUCKET}/{name}", input=content, check=True)

    def get(self, name):
        done = self.run("cat", f"s3://{BUCKET}/{name}")
        assert done.returncode in (0, 3), done.stderr
        return None if done.returncode else done.stdout

    def names(self):
        listed = self.run("ls", "-r", f"s3://{BUCKET}", check=True).stdout.decode().splitlines()
        return [url.partition(f"s3://{BUCKET}/")[2] for url in listed]

    def open_uploads(self):
        return [None] * self.s3.counters()["multipartUploadsOpen"]

    def answered(self):
        return sum(one["count"] for one in self.s3.counters()["requests"] if one["verb"] != "control")


class KilledOnS3(Killed):
    """An upload appears by its completion, under the object's own name."""

    kills = max(20, KILLS // 2)

    @classmethod
    def setUpClass(cls):
        cls.emulator = SeenByCommand()
        cls.environment = cls.emulator.environment

    def url(self, name=""):
        return f"s3://{BUCKET}/{name}"


class KilledDownloads(Case):
    """(mend 19)"""

    def test_nothing_is_left_of_it(self):
        dice = random.Random(19)
        files = {f"d{i % 2}/{i}": noise(200_000, i) for i in range(60)}
        files |= {f"large{i}": noise(20 * MIB + i, i) for i in range(2)}
        self.put({f"set/{name}": content for name, content in files.items()})
        at_first = self.emulator.answered()
        self.fetch("all").communicate(timeout=60)
        requests = self.emulator.answered() - at_first
        self.assertEqual(files, self.files_of("all"))
        cut = 0
        for i in range(KILLS):
            # Into a folder that is not there, and over the files of a copy that was whole.
            target = "all" if i % 2 else f"new{i}"
            until = self.emulator.answered() + dice.randrange(requests)
            program = self.fetch(target)
            wait_until(lambda: self.emulator.answered() >= until or program.poll() is not None,
                       pause=0.001)
            program.send_signal(signal.SIGKILL)
            program.communicate(timeout=60)
            there = self.files_of(target)
            if self.nameless() and target != "all":
                self.assertEqual([], [name for name in there if ".dataflux-" in name])
                cut += 0 < len(there) < len(files)
            for name, content in there.items():
                self.assertTrue(".dataflux-" in name or content == files[name], name)
        if self.nameless():
            self.assertGreater(cut, 0, "none was killed in the midst")
        # What was killed between the two steps in which a file replaces another goes with the next.
        self.ok("cp", "-r", self.url("set/"), "all", env=self.environment)
        self.assertEqual(files, self.files_of("all"))

    def fetch(self, target):
        return self.start("cp", "-r", self.url("set/"), target, env=self.environment)

    def files_of(self, target):
        return {name: held for name, held in self.tree(target).items() if held is not None}

    def nameless(self):
        """Whether the file system has files without names."""
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_RDWR))
        except OSError:
            return False
        return True


if __name__ == "__main__":
    main(__doc__)
