#!/usr/bin/env python3
"""`dataflux cp --continue` and `--dry-run`, against the emulator's program.

    going_on.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import concurrent.futures
import contextlib
import json
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
from command_case import BUCKET, MIB, Case, main, noise, options, without_notices  # noqa: E402
from service import ENDPOINT, Guarded, SlowRoad, wait_until  # noqa: E402

PART = ".dataflux-part-"
LARGE = 40 * MIB + 5
SLICE = 8 * MIB
# The journal behind the content, in bytes (download/detail/part_file.hpp).
HEAD, RECORD = 56, 8


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
        # One is enough: where the machine is busy, the second request may hedge the first.
        self.assertTrue(wait_until(lambda: self.slices_there() >= 1))
        program.send_signal(number)
        _, said = program.communicate(timeout=60)
        self.emulator.ask("DELETE", "/_emulator/faults")
        return program.returncode, without_notices(said)

    def slices_there(self):
        """How many slices lie in the part file with their bytes and their record in the journal."""
        content = noise(LARGE)
        for name, held in self.tree("t").items():
            if PART in name:
                return sum(held[at:at + SLICE] == content[at:at + SLICE] and
                           any(held[LARGE + HEAD + RECORD * i:][:RECORD])
                           for i, at in enumerate(range(0, LARGE, SLICE)))
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

    def test_it_goes_on_in_the_same_place_mend_17(self):
        self.put({"place/in/a": b"1", "place/b": b"2"})
        wanted = {"in": None, "in/a": b"1", "b": b"2"}
        self.ok("cp", "-r", "--continue", self.url("place"), "new")
        self.assertEqual(wanted, self.tree("new"))
        self.ok("cp", "-r", "--continue", self.url("place"), "new")
        self.assertEqual(wanted, self.tree("new"))
        # A slash says that the source's own name comes below, now as later.
        for _ in range(2):
            self.ok("cp", "-r", "--continue", self.url("place"), "above/")
            self.assertEqual({"place": None} | {f"place/{k}": v for k, v in wanted.items()},
                             self.tree("above"))

    def test_a_killed_copy_goes_on(self):
        self.assertEqual((-signal.SIGKILL, b""), self.break_off(signal.SIGKILL))
        there = self.slices_there()
        read = self.asked("objects.media", "cp", "-r", "--continue", self.url("broken/"), "t")
        self.assertEqual(6 - there, read)
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
            file.seek(first + 2)
            file.write(bytes([content[first + 2] ^ 1]))
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
        mortal = Guarded(options.emulator, BUCKET, "--data", str(data))
        self.addCleanup(mortal.close)
        files = {f"{i:02}": noise(100_000, i) for i in range(40)} | {"00large": noise(LARGE)}
        for name, content in files.items():
            mortal.put(f"set/{name}", content)
        road = SlowRoad(mortal.endpoint, 8 * MIB)
        self.addCleanup(road.close)
        program = self.start("cp", "-r", "--continue", self.url("set/"), "t",
                             env={**mortal.environment, ENDPOINT: road.endpoint})
        self.assertTrue(wait_until(lambda: any(SLICE <= len(v or b"") for v in
                                               self.tree("t").values())))
        road.close()
        mortal.close()
        _, said = program.communicate(timeout=200)
        self.assertEqual(8, program.returncode, said)
        again = Guarded(options.emulator, BUCKET, "--data", str(data))
        self.addCleanup(again.close)
        self.ok("cp", "-r", "--continue", self.url("set/"), "t",
                env=again.environment)
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
            before = self.count("objects.media")
            program = self.start("cp", *more, self.url("away/large"), "t/x", env=self.environment)
            self.assertTrue(wait_until(lambda: self.count("objects.media") >= before + 3))
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

    def test_a_target_of_several_pages(self):
        """(mend 17) Files are met in the order in which the target's names come, page after page."""
        own = Guarded(options.emulator, BUCKET)
        self.addCleanup(own.close)
        more = {"env": own.environment}
        # As files and as folders these sort differently: '-' and '.' come before '/', '0' behind it.
        names = ["a-b", "a/b", "a0", "a.b/c", "a.c", "a/b-c", "a0b/x", "A", "\u00e9", "z/\U0001f600",
                 "z\uffee", ".hidden", "a b", "deep/er/a", "deep/er-a", "deep/er0", "deep.txt"]
        names += [f"many/{i:04}{'/x' if i % 2 else '-x'}" for i in range(1200)]
        for i, name in enumerate(names):
            self.write(f"src/{name}", noise(i % 7, i))
        command = ("cp", "-r", "--continue", "src/", self.url("pages"))
        self.ok(*command, **more)
        # Beside them others, between and around, so that there are more pages than ours.
        with concurrent.futures.ThreadPoolExecutor(16) as hands:
            others = [f"pages/many/{i:04}.other" for i in range(1200)] + ["pages/", "pages/a", "pages0"]
            list(hands.map(lambda name: own.put(name, b"theirs"), others))
        inserted = lambda: sum(each["count"] for each in json.loads(
            own.ask("GET", "/_emulator/counters"))["requests"] if each["verb"] == "objects.insert")
        before = inserted()
        self.ok(*command, **more)
        self.assertEqual(before, inserted())
        changed = ["a-b", "a/b", "a.b/c", "z\uffee", "many/0001/x", "many/1198-x"]
        for name in changed:
            self.write(f"src/{name}", noise(50, 7))
        self.write("src/many/0600", b"new")
        self.ok(*command, **more)
        self.assertEqual(before + len(changed) + 1, inserted())
        for name in [*changed, "many/0600"]:
            self.assertEqual((self.folder / "src" / name).read_bytes(), own.get(f"pages/{name}"))

    def test_large_files_are_compared_side_by_side(self):
        for i in range(10):  # more than are under way at once
            self.write(f"src/{i}", noise(17 * MIB, i))
        command = ("cp", "-r", "--continue", "src/", self.url("large"))
        self.assertEqual(10, self.asked("multipart.complete", *command))
        self.write("src/3", noise(17 * MIB, 33))
        self.assertEqual(1, self.asked("multipart.complete", *command))
        self.assertEqual(noise(17 * MIB, 33), self.emulator.get("large/3"))

    def test_many(self):
        for i in range(700):
            self.write(f"src/{i}", noise(i % 30, i))
        command = ("cp", "-r", "--continue", "src/", self.url("many"))
        self.assertEqual(700, self.asked("objects.insert", *command))
        self.assertEqual(0, self.asked("objects.insert", *command))


class LargeUploads(GoingOn):
    PARTS = 4
    SIZE = (PARTS - 1) * 16 * MIB + 5

    def journals(self):
        return [path for path in self.folder.rglob(".dataflux-upload-*")]

    def parts_noted(self):
        return sum(path.read_bytes().count(b"\npart ") for path in self.journals())

    def break_off(self, number, *command):
        """Ends a copy of a large file when the service has some parts of it."""
        self.write("src/large", noise(self.SIZE))
        self.write("src/small", b"small")
        self.inflict("stall", verb="multipart.part", count=0, **{"from": 3})
        program = self.start("cp", *command, env=self.environment)
        self.assertTrue(wait_until(lambda: self.parts_noted() >= 2))
        program.send_signal(number)
        _, said = program.communicate(timeout=60)
        self.emulator.ask("DELETE", "/_emulator/faults")
        return program.returncode, without_notices(said)

    def check_end(self, name):
        self.assertEqual(noise(self.SIZE), self.emulator.get(name))
        self.assertEqual([], self.journals())
        self.nothing_open()
        self.assertEqual(b"", self.ok("uploads", "list", self.url()))

    def test_an_interrupted_copy_goes_on(self):
        command = ("-r", "--continue", "src/", self.url("up"))
        self.assertEqual((130, b"dataflux: interrupted; the same command goes on from here\n"),
                         self.break_off(signal.SIGINT, *command))
        self.assertEqual(1, len(self.emulator.open_uploads()))
        self.assertIsNone(self.emulator.get("up/large"))
        self.assertIn(self.url("up/large"), self.ok("uploads", "list", self.url()).decode())
        self.assertEqual(self.PARTS - 2, self.asked("multipart.part", "cp", *command))
        self.check_end("up/large")
        # The journal is nothing that is copied.
        self.assertEqual([self.url("up/large"), self.url("up/small")],
                         self.ok("ls", "-r", self.url("up")).decode().split())

    def test_a_killed_copy_goes_on(self):
        command = ("--continue", "src/large", self.url("killed"))
        self.put({"killed": b"before"})
        self.assertEqual(-signal.SIGKILL, self.break_off(signal.SIGKILL, *command)[0])
        self.assertEqual(b"before", self.emulator.get("killed"))
        self.assertLessEqual(self.asked("multipart.part", "cp", *command), self.PARTS - 2)
        self.check_end("killed")

    def test_a_file_that_was_changed_begins_anew(self):
        command = ("--continue", "src/large", self.url("changed"))
        self.break_off(signal.SIGKILL, *command)
        self.write("src/large", noise(self.SIZE, 2))
        self.assertEqual(self.PARTS, self.asked("multipart.part", "cp", *command))
        self.assertEqual(noise(self.SIZE, 2), self.emulator.get("changed"))
        self.assertEqual([], self.journals())
        self.nothing_open()

    def test_an_upload_that_was_removed_meanwhile_begins_anew(self):
        command = ("--continue", "src/large", self.url("gone"))
        self.break_off(signal.SIGKILL, *command)
        self.ok("uploads", "abort", "--older-than=0s", self.url("gone"))
        self.nothing_open()
        self.assertEqual(self.PARTS, self.asked("multipart.part", "cp", *command))
        self.check_end("gone")

    def test_a_second_copy_at_once_is_refused(self):
        self.write("large", noise(self.SIZE))
        self.inflict("stall", verb="multipart.part", count=0)
        program = self.start("cp", "--continue", "large", self.url("twice"), env=self.environment)
        self.assertTrue(wait_until(self.emulator.open_uploads))
        self.fails(6, "cp", "--continue", "large", self.url("twice"), saying="at work")
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=60)
        self.emulator.ask("DELETE", "/_emulator/faults")
        self.assertEqual([], self.journals())  # no part was there
        self.nothing_open()

    def test_without_it_nothing_stays(self):
        self.write("large", noise(self.SIZE))
        self.inflict("stall", verb="multipart.part", count=0, **{"from": 3})
        before = self.count("multipart.part")
        program = self.start("cp", "large", self.url("without"), env=self.environment)
        self.assertTrue(wait_until(lambda: self.count("multipart.part") >= before + 2))
        self.interrupt(program)
        self.assertEqual([], self.journals())
        self.nothing_open()

    def test_no_room_for_the_journal(self):
        small = self.folder / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(small)],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("mounting needs root")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=True)
        self.write("small/large", noise(self.SIZE))
        with (small / "rest").open("wb", buffering=0) as rest, contextlib.suppress(OSError):
            while True:
                rest.write(bytes(4096))
        before = self.count("multipart.initiate")
        self.fails(6, "cp", "--continue", "small/large", self.url("no-room"),
                   saying=("No space left", "journal"))
        self.assertEqual(before, self.count("multipart.initiate"))
        self.ok("cp", "small/large", self.url("no-room"))

    def test_a_folder_that_takes_no_journal(self):
        self.write("src/large", noise(self.SIZE))
        closed = self.folder / "closed"
        closed.mkdir()
        mounted = subprocess.run(["mount", "--bind", "-o", "ro", str(self.folder / "src"),
                                  str(closed)], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("mounting needs root")
        self.addCleanup(subprocess.run, ["umount", str(closed)], check=True)
        done = self.run_it("cp", "--continue", "closed/large", self.url("closed"))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(b"begins anew", done.stderr)
        self.check_end("closed")

    def test_a_target_that_another_writes_meanwhile(self):
        self.write("large", noise(self.SIZE))
        self.inflict("delay", verb="multipart.part", count=0, ms=1500)
        program = self.start("cp", "large", self.url("theirs"), env=self.environment)
        self.assertTrue(wait_until(self.emulator.open_uploads))
        self.put({"theirs": b"another's"})
        _, said = program.communicate(timeout=60)
        self.assertEqual(1, program.returncode, said)
        self.assertIn(b"run the command again", said)
        self.assertEqual(b"another's", self.emulator.get("theirs"))
        self.nothing_open()
        self.assertEqual(b"", self.ok("uploads", "list", self.url()))


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


class DeleteExtra(GoingOn):
    def test_a_download_removes_files_that_no_object_stands_for(self):
        self.put({"mirror/a": b"1", "mirror/d/b": b"2"})
        self.write("t/a", b"old")
        self.write("t/d/c", b"extra")
        self.write("t/e/f", b"extra")
        command = ("cp", "-r", "--continue", "--delete-extra", self.url("mirror/"), "t")
        said = self.ok(*command, "--dry-run").decode().splitlines()
        self.assertEqual("total: 2 objects, 2 bytes to copy; 2 to remove", said[-1])
        self.assertIn("              5  t/d/c is extra", said)
        self.assertEqual(b"extra", (self.folder / "t/e/f").read_bytes())
        self.ok(*command)
        self.assertEqual({"a": b"1", "d": None, "d/b": b"2", "e": None}, self.tree("t"))
        # A name that was written wrongly is no empty source.
        self.fails(3, "cp", "-r", "--continue", "--delete-extra", self.url("mirrow/"), "t")
        self.assertEqual(b"1", (self.folder / "t/a").read_bytes())

    def test_an_upload_removes_objects_that_no_file_stands_for(self):
        self.write("src/a", b"1")
        self.put({"mirrored/a": b"old", "mirrored/b": b"x", "mirrored/d/": b"", "mirrored2": b"x"})
        command = ("cp", "-r", "--delete-extra", "src/", self.url("mirrored"))
        self.assertIn(f"              1  {self.url('mirrored/b')} is extra",
                      self.ok(*command, "--dry-run").decode().splitlines())
        self.ok(*command)
        self.assertEqual((b"1", None, b"", b"x"),
                         tuple(self.emulator.get(name) for name in
                               ("mirrored/a", "mirrored/b", "mirrored/d/", "mirrored2")))
        (self.folder / "src/a").unlink()
        self.fails(1, *command, saying="nothing was removed")
        self.assertEqual(b"1", self.emulator.get("mirrored/a"))
        self.fails(2, "cp", "--delete-extra", "src/a", self.url("mirrored/a"), saying="-r")


if __name__ == "__main__":
    main(__doc__)
