#!/usr/bin/env python3
"""What a stream of reads takes of the process's memory: never more than its cap, what the reader has
in its hands, and 96 KiB for each connection.

    memory.py --program READ_MEMORY --emulator PROGRAM [TEST...]
"""

import argparse
import json
import os
import pathlib
import random
import ssl
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from service import Emulator, environment  # noqa: E402

KIB, MIB = 1 << 10, 1 << 20
CAP = 32 * MIB
CONNECTIONS = 32
options = argparse.Namespace()


class Memory(unittest.TestCase):
    def folder(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return made.name

    def measure(self, sizes, *more, held_up=False, tls=False):
        """Reads objects of those sizes, `held_up` by the fourth; the program's figures."""
        secure = ()
        if tls:
            folder = self.folder()
            secure = ("--https", "--ca-file", folder + "/ca.pem")
            more = (*more, "--ca", secure[2])
        service = Emulator(options.emulator, "memory", *secure)
        self.addCleanup(service.close)
        if tls:
            service.trusted = ssl.create_default_context(cafile=secure[2])
        data = random.Random(1).randbytes(max(sizes))
        for number, size in enumerate(sizes):
            service.put(f"{number:06}", data[:size])
        if held_up:
            service.ask("POST", "/_emulator/faults", json.dumps(
                {"object": f"{3:06}", "action": "delay", "ms": 900, "count": 1}).encode())
        done = subprocess.run(
            [options.program, "--endpoint", service.endpoint, "--bucket", "memory", "--cap",
             str(CAP), "--connections", str(CONNECTIONS), *more],
            stdout=subprocess.PIPE, env=environment(), timeout=120, check=True)
        return json.loads(done.stdout)

    def bounded(self, sizes, *more, **how):
        seen = self.measure(sizes, *more, **how)
        self.assertEqual(sum(sizes), seen["bytes"])
        self.assertLessEqual(seen["held"], CAP)
        # The reader has one item at a time.
        bound = CAP + max(sizes) + CONNECTIONS * 96 * KIB
        self.assertLessEqual(seen["peak"] - seen["before"], bound, seen)
        return seen

    def test_small_objects_behind_one_that_is_late(self):
        seen = self.bounded([16 * KIB] * 4000, held_up=True)
        self.assertGreater(seen["held"], CAP * 0.9)

    def test_the_same_over_tls(self):
        seen = self.bounded([16 * KIB] * 2500, held_up=True, tls=True)
        self.assertGreater(seen["held"], CAP * 0.9)

    def test_medium_objects_behind_one_that_is_late(self):
        self.assertGreater(self.bounded([100 * KIB] * 800, held_up=True)["held"], CAP * 0.9)
        self.assertGreater(self.bounded([600 * KIB] * 150, held_up=True)["held"], CAP * 0.9)

    def test_sizes_just_above_a_power_of_two(self):
        self.assertGreater(self.bounded([2 * MIB + 100 * KIB] * 60)["held"], CAP * 0.8)

    def test_sizes_that_grow(self):
        self.bounded([int(20_000 * 1.02 ** i) for i in range(270)])

    def test_sizes_of_all_kinds_and_a_slow_reader(self):
        dice = random.Random(2)
        sizes = [dice.choice([1_000, 20_000, 300_000, 2_200_000, 9_000_000]) for _ in range(120)]
        self.bounded(sizes, "--slow")
        self.bounded(sizes, held_up=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True, type=os.path.abspath)
    arguments.add_argument("--emulator", required=True, type=os.path.abspath)
    _, rest = arguments.parse_known_args(namespace=options)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
