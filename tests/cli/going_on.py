#!/usr/bin/env python3
"""`dataflux cp --continue` and `--dry-run`, against the emulator's program.

    going_on.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from command_case import BUCKET, MIB, Case, main, noise, options, without_notices  # noqa: E402
from service import Emulator, SlowRoad, environment, wait_until  # noqa: E402

PART = ".dataflux-part-"
LARGE = 40 * MIB + 5
SLICE = 8 * MIB


class GoingOn(Case):
    def asked(self, verb, *command, **more):
        """How many requests of `verb` a command costs that must succeed."""
        before = self.count(verb)
        self.ok(*command, **more)
        return self.count(verb) - before

    def count(self, verb):
        return sum(each["count"] for each in self.counters()["requests"] if each["verb"] == verb)


class Downloads(GoingOn):
    def test_what_is_there_and_right_is_not_read(self):
        files = {f"d{i % 3}/{i}": noise(1000 + i, i) for i in range(30)}
        files["large"] = noise(LARGE)
        files["empty"] = b""
        self.put({f"there/{k}": v for k, v in files.items()})
        url = self.url("there/")
        self.assertGreaterEqual(self.asked("objects.media", "cp", "-r", "--continue", url, "t"), 36)
        self.assertEqual(0, self.asked("objects.media", "cp", "-r", "--continue", url, "t"))
        # Shorter, longer, damaged, missing, and a large one that is damaged.
        self.write("t/d0/0", noise(999))
        self.write("t/d1/1", noise(1002, 1))
        self.write("t/d2/2", bytes(1002))
        (self.folder / "t/d0/3").unlink()
        self.write("t/large", files["large"][:-1] + b"!")
        self.assertEqual(4 + 6, self.asked("objects.media", "cp", "-r", "--continue", url, "t"))
        self.assertEqual(files, {k: v for k, v in self.tree("t").items() if v is not None})
        self.assertEqual(0, self.asked("objects.media", "cp", "--continue", self.url("there/large"),
                                       "t/large"))

    def break_off(self, number):
        """Interrupts a copy of a large object, some slices of which are there."""
        self.put({"broken/large": noise(LARGE)})
        self.inflict("stall", verb="objects.media", count=0, **{"from": 3})
        program = self.start("cp", "-r", "--continue", self.url("broken/"), "t",
                             env=self.environment)
        # What is there: the journal lies behind the bytes.
        self.assertTrue(wait_until(lambda: self.slices_there() >= 2))
        program.send_signal(number)
        _, said = program.communicate(timeout=60)
        self.emulator.ask("DELETE", "/_emulator/faults")
        return program.returncode, without_notices(said)

    def slices_there(self):
        content = noise(LARGE)
        for name, held in self.tree("t").items():
            if PART in name:
                return sum(held[at:at + SLICE] == content[at:at + SLICE]
                           for at in range(0, LARGE, SLICE))
        return 0

    def test_an_interrupted_copy_goes_on(self):
        status, said = self.break_off(signal.SIGINT)
        self.assertEqual((130, b"dataflux: interrupted; the same command goes on from here\n"),
                         (status, said))
        self.assertEqual(1, len(self.tree("t")), self.tree("t").keys())
        there = self.slices_there()
        read = self.asked("objects.media", "cp", "-r", "--continue", self.url("broken/"), "t")
        self.assertEqual(6 - there, read)
        self.assertEqual({"large": noise(LARGE)}, self.tree("t"))

    def test_a_killed_copy_goes_on(self):
        self.assertEqual((-signal.SIGKILL, b""), self.break_off(signal.SIGKILL))
        read = self.asked("objects.media", "cp", "-r", "--continue", self.url("broken/"), "t")
        self.assertLessEqual(read, 4)
        self.assertEqual({"large": noise(LARGE)}, self.tree("t"))

    def test_what_was_damaged_meanwhile_is_read_again(self):
        self.break_off(signal.SIGINT)
        there = self.slices_there()
        [name] = self.tree("t")
        part = self.folder / "t" / name
        with part.open("r+b") as file:
            content = noise(LARGE)
            held = file.read(LARGE)
            first = next(at for at in range(0, LARGE, SLICE)
                         if held[at:at + SLICE] == content[at:at + SLICE])
            file.seek(first + 1000)
            file.write(b"damage")
        read = self.asked("objects.media", "cp", "-r", "--continue", self.url("broken/"), "t")
        self.assertEqual(6 - there + 1, read)
        self.assertEqual({"large": noise(LARGE)}, self.tree("t"))

    def test_an_object_that_was_replaced_begins_anew(self):
        self.break_off(signal.SIGINT)
        self.put({"broken/large": noise(LARGE, 2)})
        self.assertEqual(6, self.asked("objects.media", "cp", "-r", "--continue",
                                       self.url("broken/"), "t"))
        self.assertEqual({"large": noise(LARGE, 2)}, self.tree("t"))

    def test_a_service_that_dies_in_the_midst(self):
        data = self.folder / "service"
        mortal = Emulator(options.emulator, BUCKET, "--data", str(data))
        self.addCleanup(mortal.close)
        files = {f"{i:02}": noise(100_000, i) for i in range(40)} | {"00large": noise(LARGE)}
        for name, content in files.items():
            mortal.put(f"set/{name}", content)
        road = SlowRoad(mortal.endpoint, 8 * MIB)
        self.addCleanup(road.close)
        program = self.start("cp", "-r", "--continue", self.url("set/"), "t",
                             env=environment(STORAGE_EMULATOR_HOST=road.endpoint))
        self.assertTrue(wait_until(lambda: any(SLICE <= len(v or b"") for v in
                                               self.tree("t").values())))
        road.close()
        mortal.close()
        _, said = program.communicate(timeout=200)
        self.assertEqual(8, program.returncode, said)
        again = Emulator(options.emulator, BUCKET, "--data", str(data))
        self.addCleanup(again.close)
        self.ok("cp", "-r", "--continue", self.url("set/"), "t",
                env=environment(STORAGE_EMULATOR_HOST=again.endpoint))
        self.assertEqual(files, self.tree("t"))

    def test_without_it_nothing_stays(self):
        self.put({"gone/large": noise(LARGE)})
        self.inflict("refuse", verb="objects.media", status=403, count=0, **{"from": 4})
        self.fails(4, "cp", self.url("gone/large"), "x", saying="403")
        self.assertEqual({}, self.tree())
        self.fails(4, "cp", "--continue", self.url("gone/large"), "x", saying="403")

    def test_a_target_folder_that_is_removed_meanwhile(self):
        self.put({"away/large": noise(LARGE)})
        for more in ([], ["--continue"]):
            self.inflict("stall", verb="objects.media", object="away/large", ms=1500, **{"from": 3})
            (self.folder / "t").mkdir()
            program = self.start("cp", *more, self.url("away/large"), "t/x", env=self.environment)
            self.assertTrue(wait_until(lambda: self.tree("t")))
            shutil.rmtree(self.folder / "t")
            _, said = program.communicate(timeout=60)
            self.assertEqual(3, program.returncode, said)
            self.assertIn(b"t/x", said)
            self.assertEqual({}, self.tree())

    def test_a_full_disk(self):
        small = self.folder / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(small)],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("mounting needs root")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=True)
        self.put({"full/large": noise(LARGE), "full/middle": noise(10 * MIB)})
        for more in ([], ["--continue"]):
            said = self.fails(6, "cp", *more, self.url("full/large"), "small/x",
                              saying=("No space left", "small/x", "make room"))
            self.assertEqual(1, len(said), said)
            self.assertEqual({}, self.tree("small"))
        self.ok("cp", "--continue", self.url("full/middle"), "small/x")

    def test_links_are_no_copies(self):
        self.put({"links/x": b"bytes"})
        outside = self.write("outside", b"bytes")
        (self.folder / "t").mkdir()
        (self.folder / "t/x").symlink_to(outside)
        self.ok("cp", "-r", "--continue", self.url("links/"), "t")
        self.assertFalse((self.folder / "t/x").is_symlink())

    def test_it_is_for_files(self):
        self.fails(2, "cp", "--continue", self.url("x"), "-", saying="--continue")
        self.fails(2, "cp", "--continue", "-", self.url("x"), saying="--continue")


class Uploads(GoingOn):
    def test_what_is_there_and_right_is_not_sent(self):
        files = {f"d{i % 3}/{i}": noise(1000 + i, i) for i in range(30)}
        files["large"] = noise(20 * MIB)
        for name, content in files.items():
            self.write(f"src/{name}", content)
        (self.folder / "src/linked").symlink_to("d0/0")
        command = ("cp", "-r", "--continue", "src/", self.url("sent"))
        self.assertEqual(31, self.asked("objects.insert", *command))
        self.assertEqual((0, 0), (self.asked("objects.insert", *command),
                                  self.asked("multipart.initiate", *command)))
        self.write("src/d0/0", noise(1000, 99))
        self.write("src/new", b"new")
        self.emulator.ask("DELETE", f"/storage/v1/b/{BUCKET}/o/sent%2Flarge")
        self.assertEqual(3, self.asked("objects.insert", *command))  # and the link to d0/0
        self.assertEqual(noise(1000, 99), self.emulator.get("sent/d0/0"))
        self.assertEqual(noise(20 * MIB), self.emulator.get("sent/large"))
        self.assertEqual(0, self.asked("objects.insert", "cp", "--continue", "src/new",
                                       self.url("sent/new")))

    def test_many(self):
        for i in range(700):
            self.write(f"src/{i}", noise(i % 30, i))
        command = ("cp", "-r", "--continue", "src/", self.url("many"))
        self.assertEqual(700, self.asked("objects.insert", *command))
        self.assertEqual(0, self.asked("objects.insert", *command))


class DryRun(GoingOn):
    def test_a_download_reads_and_writes_nothing(self):
        self.put({"dry/a": b"12345", "dry/d/b": b"", "dry/../x": b"evil", "dry/e/": b""})
        before = self.count("objects.media")
        done = self.run_it("cp", "-r", "--dry-run", self.url("dry/"), "t")
        self.assertEqual(5, done.returncode)
        self.assertEqual([f"              5  {self.url('dry/a')} -> t/a",
                          f"              0  {self.url('dry/d/b')} -> t/d/b",
                          "total: 2 objects, 5 bytes to copy"], done.stdout.decode().splitlines())
        self.assertIn(b"dry/../x", done.stderr)
        self.assertEqual({}, self.tree())
        self.assertEqual(before, self.count("objects.media"))
        missing = self.run_it("cp", "-r", "--dry-run", "gs://no-such-bucket", "t")
        self.assertEqual((3, b""), (missing.returncode, missing.stdout))
        one = self.ok("cp", "--dry-run", self.url("dry/a"), "x").decode().splitlines()
        self.assertEqual([f"              5  {self.url('dry/a')} -> x",
                          "total: 1 objects, 5 bytes to copy"], one)
        self.assertEqual({}, self.tree())

    def test_with_continue_it_tells_what_is_missing(self):
        self.put({f"rest/{i}": noise(100, i) for i in range(5)})
        self.write("t/3", noise(100, 3))
        self.write("t/4", noise(100, 5))
        before = self.tree()
        said = self.ok("cp", "-r", "--dry-run", "--continue", self.url("rest/"), "t").decode()
        self.assertEqual("total: 4 objects, 400 bytes to copy", said.splitlines()[-1])
        self.assertNotIn("t/3", said)
        self.assertEqual(before, self.tree())

    def test_an_upload_sends_nothing(self):
        self.write("src/a", b"123")
        self.write("src/d/b", noise(20 * MIB))
        self.put({"up/a": b"123"})
        said = self.ok("cp", "-r", "--dry-run", "src/", self.url("up")).decode().splitlines()
        self.assertEqual("total: 2 objects, 20971523 bytes to copy", said[-1])
        self.assertIn(f"              3  src/a -> {self.url('up/a')}", said)
        said = self.ok("cp", "-r", "--dry-run", "--continue", "src/", self.url("up")).decode()
        self.assertEqual([f"       20971520  src/d/b -> {self.url('up/d/b')}",
                          "total: 1 objects, 20971520 bytes to copy"], said.splitlines())
        self.assertIsNone(self.emulator.get("up/d/b"))
        self.nothing_open()


if __name__ == "__main__":
    main(__doc__)
