#!/usr/bin/env python3
"""What a stream of reads takes of the process's memory: never more than its cap, what the reader has
in its hands, and 96 KiB for each connection. And of the heap: nothing for an object, in a steady
stream.

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
from service import S3_ENDPOINT, Emulator, OnS3, environment  # noqa: E402

KIB, MIB = 1 << 10, 1 << 20
CAP = 32 * MIB
CONNECTIONS = 32
# Allocations an object: what is allocated once for each object would be 1. A busy machine lets more
# pile up than ever before now and then, and the memory for that is taken once.
A_NEW_PEAK = 0.1
options = argparse.Namespace()


class Memory(unittest.TestCase):
    def folder(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return made.name

    def run_program(self, endpoint, *more, **variables):
        done = subprocess.run(
            [options.program, "--endpoint", endpoint, "--bucket", "memory", "--cap",
             str(CAP), "--connections", str(CONNECTIONS), *more],
            stdout=subprocess.PIPE, env=environment(**variables), timeout=120, check=True)
        return json.loads(done.stdout)

    def measure_s3(self, sizes, *more, tls=False):
        """As measure(), of an S3."""
        seed, folder = pathlib.Path(self.folder()), self.folder()
        for number, size in enumerate(sizes):
            (seed / f"{number:06}").write_bytes(bytes(size))
        secure = ("--https", "--ca-file", folder + "/ca.pem") if tls else ()
        service = OnS3(options.emulator, "memory", more=("--seed", seed, *secure))
        self.addCleanup(service.close)
        trusted = ("--ca", secure[2]) if tls else ()
        return self.run_program(service.variables[S3_ENDPOINT], "--s3", *trusted, *more, **service.variables)

    def measure(self, sizes, *more, held_up=0, tls=False):
        """Reads objects of those sizes, the fourth of them `held_up` by so many ms; the program's figures."""
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
                {"object": f"{3:06}", "action": "delay", "ms": held_up, "count": 1}).encode())
        return self.run_program(service.endpoint, *more)

    def bounded(self, sizes, *more, **how):
        seen = self.measure(sizes, *more, **how)
        self.assertEqual(sum(sizes), seen["bytes"])
        self.assertLessEqual(seen["held"], CAP)
        # The reader has one item at a time.
        bound = CAP + max(sizes) + CONNECTIONS * 96 * KIB
        self.assertLessEqual(seen["peak"] - seen["before"], bound, seen)
        return seen

    def fills(self, sizes, **how):
        """What comes behind an object that is late takes nearly all the memory there is. A busy machine
        needs a later one for that."""
        held = []
        for late in (900, 4_000, 20_000):
            held.append(self.bounded(sizes, held_up=late, **how)["held"])
            if held[-1] > CAP * 0.9:
                return
        self.fail(f"held at most: {held}")

    def test_small_objects_behind_one_that_is_late(self):
        self.fills([16 * KIB] * 4000)

    def test_the_same_over_tls(self):
        self.fills([16 * KIB] * 2500, tls=True)

    def test_medium_objects_behind_one_that_is_late(self):
        self.fills([100 * KIB] * 800)
        self.fills([600 * KIB] * 150)

    def test_sizes_just_above_a_power_of_two(self):
        self.assertGreater(self.bounded([2 * MIB + 100 * KIB] * 60)["held"], CAP * 0.8)

    def test_sizes_that_grow(self):
        self.bounded([int(20_000 * 1.02 ** i) for i in range(270)])

    def test_large_objects_begin_with_the_memory_that_is_left(self):
        self.assertGreater(self.bounded([20 * MIB] * 16)["held"], CAP * 0.95)
        self.bounded([20 * MIB] * 12, "--slow")
        dice = random.Random(4)
        self.bounded([dice.choice([9, 12, 17, 25, 32]) * MIB - dice.randrange(100_000)
                      for _ in range(24)])

    def test_sizes_of_all_kinds_and_a_slow_reader(self):
        dice = random.Random(2)
        sizes = [dice.choice([1_000, 20_000, 300_000, 2_200_000, 9_000_000]) for _ in range(120)]
        self.bounded(sizes, "--slow")
        self.bounded(sizes, held_up=900)

    def steady(self, size, *more, s3=False, **how):
        """Allocations an object, and a batch. There is room for so few objects, and so few
        connections, that their number is soon at its highest."""
        measure = self.measure_s3 if s3 else self.measure
        seen = measure([size] * 4000, "--cap", str(64 * size), "--per-host", "6", *more, **how)
        self.assertGreater(seen["steady_items"], 1800)
        return (seen["steady_allocations"] / seen["steady_items"],
                seen["steady_allocations"] / max(seen["steady_batches"], 1))

    def test_a_steady_stream_takes_nothing_from_the_heap(self):
        self.assertLess(self.steady(16 * KIB)[0], A_NEW_PEAK)
        self.assertLess(self.steady(100 * KIB)[0], A_NEW_PEAK)
        self.assertLess(self.steady(16 * KIB, tls=True)[0], A_NEW_PEAK)

    def test_nor_does_one_of_an_s3(self):
        self.assertLess(self.steady(16 * KIB, s3=True)[0], A_NEW_PEAK)
        self.assertLess(self.steady(16 * KIB, s3=True, tls=True)[0], A_NEW_PEAK)

    def test_nor_does_one_that_arrives_on_other_threads(self):
        self.assertLess(self.steady(16 * KIB, "--io-threads", "3")[0], A_NEW_PEAK)

    def test_nor_does_one_that_a_cache_answers(self):
        seen = self.measure([16 * KIB] * 2000, "--cap", str(MIB), "--cache", self.folder())
        self.assertGreater(seen["hits"], 1900)
        self.assertLess(seen["steady_allocations"] / seen["steady_items"], A_NEW_PEAK)

    def test_a_batch_is_one_allocation(self):
        self.assertLess(self.steady(16 * KIB, "--batch", "64")[1], 1.5)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", required=True, type=os.path.abspath)
    arguments.add_argument("--emulator", required=True, type=os.path.abspath)
    _, rest = arguments.parse_known_args(namespace=options)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
