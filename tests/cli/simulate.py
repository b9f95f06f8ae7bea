#!/usr/bin/env python3
"""`dataflux simulate`, run as a person runs it, without a service; manifests are made at the emulator's program.

    simulate.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import json
import sys

sys.dont_write_bytecode = True
from command_case import Case, main  # noqa: E402

GIVEN = ("--objects", 2000, "--size", "1MiB", "--link", "200MB/s", "--batch", 32)


class Simulating(Case):
    def told(self, *arguments):
        return json.loads(self.ok("simulate", "--json", *arguments))

    def test_a_full_link(self):
        told = self.told(*GIVEN)
        self.assertEqual("link", told["bound"])
        self.assertGreater(told["link_share"], 0.95)
        self.assertEqual((2000, 2000 << 20), (told["samples"], told["bytes"]))
        self.assertEqual(told, self.told(*GIVEN))
        self.assertEqual(told, self.told("--objects", 2000, "--size", 1 << 20, "--link", "1.6Gbit/s", "--batch", 32))

    def test_a_table_for_people(self):
        said = self.ok("simulate", *GIVEN, "--step", "400ms", "--list", "--price-gib", 1).decode()
        for part in ("2,000, 1.95 GiB", "training waits", "2 of class A", "$1.95", "\n\nThe training step bounds:"):
            self.assertIn(part, said)
        self.assertNotIn("were simulated", said)
        self.assertIn("were simulated", self.ok("simulate", *GIVEN, "--epochs", 1000).decode())

    def test_several_sizes(self):
        told = self.told("--objects", 1000, "--size", "1KB:9,1MB:1", "--link", "1GB/s")
        self.assertEqual(900 * 1000 + 100 * 1000 * 1000, told["bytes"])

    def test_each_option_counts(self):
        plain = self.told(*GIVEN)
        for change in (("--connection", "300kB/s"), ("--rtt", "2s"), ("--spread", 0), ("--connecting", 9),
                       ("--memory", "2MiB"), ("--in-flight", 1), ("--request-time", "20ms"), ("--byte-ns", 50),
                       ("--decode", "10ms"), ("--workers", 3), ("--as-ready",), ("--step", "1s"), ("--epochs", 2),
                       ("--price-a", 7, "--list"), ("--price-b", 7), ("--price-gib", 7), ("--seed", 2)):
            self.assertNotEqual(plain, self.told(*GIVEN, *change), change)
        slow = self.told(*GIVEN, "--decode", "10ms")["seconds"]
        self.assertLess(self.told(*GIVEN, "--decode", "10ms", "--decode-threads", 4)["seconds"], slow / 1.5)
        self.assertGreater(self.told(*GIVEN, "--decode", "10ms", "--decode-threads", 4, "--processors", 1)["seconds"],
                           slow * 0.9)

    def test_a_manifest(self):
        self.put({f"m/{number}": b"x" * 1000 * number for number in range(10)})
        self.ok("manifest", "create", self.url("m"), "here.dfl")
        told = self.told("--manifest", "here.dfl", "--link", "1MB/s")
        self.assertEqual((10, 45_000), (told["samples"], told["bytes"]))
        self.fails(3, "simulate", "--manifest", "missing", "--link", "1MB/s", saying="missing")
        (self.folder / "here.dfl").write_bytes(b"names\n" * 100)
        self.fails(2, "simulate", "--manifest", "here.dfl", "--link", "1MB/s", saying="not a manifest")

    def test_what_makes_no_sense(self):
        for change, saying in ((("--link", "fast"), "--link fast"), (("--link", 0), "link"), (("--rtt", 20), "--rtt 20"),
                               (("--rtt", "3h"), "round_trip"), (("--size", "big"), "--size big"),
                               (("--size", "1KB:0"), "--size"), (("--size", "300MiB"), "memory"),
                               (("--objects", 0), "--objects"), (("--batch", 2**40), "batch"),
                               (("--step", "1 fortnight"), "--step"), (("--memory", "x"), "--memory x"),
                               (("--workers", 9999), "workers"), (("--spread", 9), "spread")):
            given = dict(zip(GIVEN[::2], GIVEN[1::2])) | {change[0]: change[1]}
            self.fails(2, "simulate", *(word for pair in given.items() for word in pair), saying=saying)
        self.assertEqual(2, self.run_it("simulate", *GIVEN[:4]).returncode)  # without a link
        self.assertEqual(2, self.run_it("simulate", *GIVEN, "--manifest", "here").returncode)


if __name__ == "__main__":
    main(__doc__)
