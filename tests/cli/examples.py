#!/usr/bin/env python3
"""Runs the numbered examples, C++ and C, against the emulator's program and looks at what they say.

    examples.py --programs DIR --emulator PROGRAM [TEST...]
"""

import argparse
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
from service import Emulator, environment  # noqa: E402

BUCKET = "bucket"
options = None


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.emulator = Emulator(options.emulator, BUCKET)
        cls.emulator.put("train/a", b"first")
        cls.emulator.put("train/b", b"the second one")
        cls.emulator.put("large", b"0123456789" * 100_000)

    @classmethod
    def tearDownClass(cls):
        cls.emulator.close()

    def run_it(self, name, *arguments, status=0, env=None, typed=None):
        env = env or environment(STORAGE_EMULATOR_HOST=self.emulator.endpoint)
        done = subprocess.run([options.programs / f"example_{name}", *arguments], env=env, text=True,
                              capture_output=True, timeout=120, check=False, input=typed)
        self.assertEqual(status, done.returncode, done.stdout + done.stderr)
        self.said_aside = done.stderr
        return done.stdout

    def test_every_example_is_here_and_short(self):
        folder = Path(__file__).resolve().parents[2] / "examples"
        for source in [*sorted(folder.glob("[0-9]*.cpp")), *sorted(folder.glob("c/[0-9]*.c"))]:
            language = "c_" if source.suffix == ".c" else ""
            self.assertTrue(hasattr(self, f"test_{language}{source.stem}"), source.name)
            self.assertLessEqual(len(source.read_text().splitlines()), 80, source.name)

    def test_05_list(self):
        self.assertEqual("           5  train/a\n          14  train/b\n2 objects, 19 bytes\n",
                         self.run_it("05_list", BUCKET, "train/"))
        self.assertEqual("", self.run_it("05_list", "no-such-bucket", status=1))
        self.assertIn("not_found", self.said_aside)

    def test_06_manifest(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = (BUCKET, "train/", str(Path(folder, "train.dfl")))
            self.assertEqual("2 objects saved\n", self.run_it("06_manifest", *arguments))
            self.assertEqual("0 added, 0 removed, 0 changed\n",
                             self.run_it("06_manifest", *arguments))
            self.run_it("06_manifest", BUCKET, "train/", folder, status=1)

    def test_01_load(self):
        self.assertEqual("train/a: 5 bytes, checked\ntrain/b: 14 bytes, checked\n",
                         self.run_it("01_load", BUCKET, "train/"))
        self.run_it("01_load", "no-such-bucket", "", status=1)

    def test_04_one(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "large")
            said = self.run_it("04_one", BUCKET, "large", str(path))
            self.assertEqual("1000000 bytes in memory by 1 requests, checked\n"
                             f"1000000 bytes in {path}, 0 of them from an earlier run\n", said)
            self.assertEqual(b"0123456789" * 100_000, path.read_bytes())
            self.run_it("04_one", BUCKET, "large", folder + "/missing/large", status=1)

    def test_02_checkpoint(self):
        said = self.run_it("02_checkpoint", BUCKET, "model")
        self.assertEqual("saved 41943040 bytes, 3 parts, multipart\ntensor 7 restored\n"
                         "all of it verified\n", said)
        self.assertEqual(b"9" * (4 << 20), self.emulator.get("model")[-(4 << 20):])

    def test_03_checkpoint_set(self):
        said = self.run_it("03_checkpoint_set", BUCKET, "run")
        self.assertEqual("not there yet\n4 members, 4194304 bytes\n" * 2
                         + "rank-2 restored\nremoved run/step-9/\n", said)
        self.assertIsNone(self.emulator.get("run/step-9/rank-0"))
        self.assertEqual(b"d" * (1 << 20), self.emulator.get("run/step-10/rank-3"))
        self.run_it("03_checkpoint_set", BUCKET, "run", status=1)
        self.assertIn("already_exists", self.said_aside)

    def test_07_read(self):
        self.assertEqual("train/a: 5 bytes, checked\ntrain/b: 14 bytes, checked\n",
                         self.run_it("07_read", BUCKET, "train/a", "train/b"))
        self.run_it("07_read", BUCKET, "missing", status=1)

    def test_08_ranges(self):
        self.assertEqual("16 ranges, 1000000 bytes, checksum right\n",
                         self.run_it("08_ranges", BUCKET, "large", "65536"))

    def test_09_write(self):
        self.assertEqual("created\ncreated again: already_exists\nchanged: a new generation\n"
                         "removed\n", self.run_it("09_write", BUCKET, "written"))
        self.assertIsNone(self.emulator.get("written"))

    def test_10_resumable(self):
        said = self.run_it("10_resumable", BUCKET, "stream", "5")
        self.assertEqual("broken off at 2097152 bytes, taken up again there\n"
                         "5242880 bytes, checked\n", said)
        self.assertEqual(bytes(i * 7 % 251 for i in range(5 << 20)), self.emulator.get("stream"))

    def test_11_multipart(self):
        self.assertEqual("3 parts, 17825792 bytes\n", self.run_it("11_multipart", BUCKET, "m", "17"))
        self.assertEqual(bytes([42]) * (17 << 20), self.emulator.get("m"))
        self.assertEqual([], self.emulator.open_uploads())

    def test_12_credentials(self):
        with tempfile.TemporaryDirectory() as folder:
            key, authority = f"{folder}/key.json", f"{folder}/ca.pem"
            secure = Emulator(options.emulator, BUCKET, "--https", "--require-token", "--ca-file",
                              authority, "--service-account-file", key)
            try:
                env = environment(ENDPOINT=secure.endpoint, CA_FILE=authority)
                said = self.run_it("12_credentials", BUCKET, "file", key, env=env)
                self.assertIn("service_account credentials from " + key, said)
                self.assertIn("allowed: 0 object", said)
                env["GOOGLE_APPLICATION_CREDENTIALS"] = key
                self.assertEqual(said, self.run_it("12_credentials", BUCKET, "default", env=env))
                self.run_it("12_credentials", BUCKET, "anonymous", status=1, env=env)
                self.assertIn("unauthenticated", self.said_aside)
            finally:
                secure.close()

    def test_13_events(self):
        said = self.run_it("13_events", BUCKET, "train/a")
        self.assertRegex(said, re.compile(
            r"request objects\.media train/a: HTTP 20[06], attempt 1, \d+ bytes came\n"
            r"class B 1, retries 0, failed calls 0\n"))
        self.assertIn("failed: not_found", self.run_it("13_events", BUCKET, "missing", status=1))

    def test_c_03_list(self):
        self.assertEqual("           5  train/a\n          14  train/b\n2 objects, 19 bytes\n",
                         self.run_it("c_03_list", BUCKET, "train/"))
        self.assertEqual("", self.run_it("c_03_list", "no-such-bucket", status=1))
        self.assertIn("not_found", self.said_aside)

    def test_c_01_load(self):
        self.assertEqual("row 0: 5 bytes, checked\nrow 1: 14 bytes, checked\n",
                         self.run_it("c_01_load", BUCKET, "train/"))
        self.run_it("c_01_load", "no-such-bucket", "", status=1)

    def test_c_04_event_loop(self):
        said = self.run_it("c_04_event_loop", BUCKET, typed="train/a\nmissing\ntrain/b\n")
        self.assertEqual({"line 1: 5 bytes, crc32c 8a3ea150", "line 2: not_found",
                          "line 3: 14 bytes, crc32c e449570b"}, set(said.splitlines()))
        self.assertIn("missing", self.said_aside)

    def test_c_02_checkpoint(self):
        self.assertEqual("64 MiB, the same\n", self.run_it("c_02_checkpoint", BUCKET, "run/state"))
        self.assertEqual("failed\n", self.run_it("c_02_checkpoint", "no-such-bucket", "o", status=1))
        self.assertIn("not_found", self.said_aside)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--programs", type=Path, required=True)
    arguments.add_argument("--emulator", required=True)
    options, rest = arguments.parse_known_args()
    options.programs = options.programs.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
