#!/usr/bin/env python3
"""The command's `mv` and `sync`, and how `cp` writes: conditions, attributes, between buckets.

    moving.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from command_case import BUCKET, MIB, Case, main, noise  # noqa: E402


class Moving(Case):
    def setUp(self):
        super().setUp()
        self.ok("rm", "-r", f"gs://{BUCKET}")

    def listed(self, *arguments):
        return self.ok("ls", "-r", *arguments).decode().split()

    def known(self, name):
        return json.loads(self.emulator.ask("GET", f"/storage/v1/b/{BUCKET}/o/{name.replace('/', '%2F')}"))

    def asked(self, *verbs):
        return sum(each["count"] for each in self.counters()["requests"] if each["verb"] in verbs)

    def files(self, *below):
        return {name: held for name, held in self.tree(*below).items() if held is not None}

    def long_ago(self, *below, hours=3):
        """As if these files had been written some hours before now."""
        for path in self.folder.joinpath(*below).rglob("*"):
            then = path.stat().st_mtime - hours * 3600
            os.utime(path, (then, then))


class Names(Moving):
    def test_one_object_is_renamed_by_the_service(self):
        self.put({"m/a": b"1"})
        before = self.asked("objects.move"), self.asked("objects.rewrite", "objects.media")
        self.assertEqual("1 object moved, 1 byte", self.tells("mv", self.url("m/a"), self.url("m/b")))
        self.assertEqual((before[0] + 1, before[1]),
                         (self.asked("objects.move"), self.asked("objects.rewrite", "objects.media")))
        self.assertEqual([self.url("m/b")], self.listed(self.url()))
        self.ok("mv", self.url("m/b"), self.url("n/"))
        self.assertEqual([self.url("n/b")], self.listed(self.url()))

    def test_folders_and_patterns(self):
        self.put({"m/a.jpg": b"1", "m/d/b.jpg": b"22", "m/c.txt": b"3"})
        self.ok("mv", self.url("m/**.jpg"), self.url("jpg/"))
        self.assertEqual([self.url("jpg/a.jpg"), self.url("jpg/d/b.jpg"), self.url("m/c.txt")],
                         self.listed(self.url()))
        self.ok("mv", "-r", self.url("jpg"), self.url("m/"))
        self.assertEqual([self.url(n) for n in ("m/c.txt", "m/jpg/a.jpg", "m/jpg/d/b.jpg")], self.listed(self.url()))

    def test_to_here_and_back(self):
        large = noise(17 * MIB)
        self.put({"m/a": b"1", "m/d/large": large, "one": b"2"})
        self.assertEqual("2 objects moved, 17.0M bytes", self.tells("mv", "-r", self.url("m/"), "t"))
        self.assertEqual({"a": b"1", "d/large": large}, self.files("t"))
        self.ok("mv", self.url("one"), "here")
        self.assertEqual([], self.listed(self.url()))
        self.assertEqual("2 objects moved, 17.0M bytes", self.tells("mv", "-r", "t/", self.url("back")))
        self.ok("mv", "here", self.url("back/"))
        self.assertEqual([self.url("back/a"), self.url("back/d/large"), self.url("back/here")],
                         self.listed(self.url()))
        self.assertEqual({}, self.files())

    def test_what_could_not_be_copied_stays(self):
        self.put({"m/a": b"1", "m/../x": b"2"})
        self.fails(5, "mv", "-r", self.url("m/"), "t", saying="no file's")
        self.assertEqual([self.url("m/../x")], self.listed(self.url()))
        self.write("src/a", b"1")
        self.write("src/b", b"2")
        self.inflict("refuse", verb="objects.insert", object="up/b", status=403, count=0)
        self.fails(5, "mv", "-r", "src/", self.url("up"), saying="up/b")
        self.assertEqual({"b": b"2"}, self.files("src"))

    def test_nothing_takes_the_place_of_another_one(self):
        self.put({"p/a": b"1", "q/a": b"22", "x/y/a": b"3", "x/y/y/a": b"44"})
        self.write("l/a", b"5")
        self.write("m/a", b"66")
        before = self.listed(self.url())
        for sources in (["p/a", "q/a"], ["p/*", "q/*"], ["p/a", "q/"]):
            self.fails(2, "mv", "-r", *map(self.url, sources), self.url("t/"), saying="last names that differ")
        self.fails(2, "mv", "l/a", "m/a", self.url("t/"), saying="last names that differ")
        self.fails(2, "mv", "-r", self.url("x/y/"), self.url("x/"), saying="the source lies in the target")
        self.assertEqual(before, self.listed(self.url()))
        self.assertEqual({"l/a": b"5", "m/a": b"66"}, self.files())
        self.write("n/b", b"7")
        self.ok("mv", "l/a", "n/b", self.url("t/"))
        self.assertEqual({"m/a": b"66"}, self.files())

    def test_a_link_goes_when_all_is_sent(self):
        self.write("src/a", noise(3 * MIB))
        os.symlink("a", self.folder / "src/z")
        self.ok("mv", "-r", "src/", self.url("up"))
        self.assertEqual([self.url("up/a"), self.url("up/z")], self.listed(self.url()))
        self.assertEqual({}, self.files())

    def test_wrong_uses(self):
        self.fails(2, "mv", "-", self.url("x"), saying="'-' is none")
        self.fails(2, "mv", "a", "b", saying="neither side")
        self.fails(2, "mv", self.url("a"), self.url("b"), "--continue", saying="no such option of mv")
        self.fails(3, "mv", self.url("none"), self.url("b"), saying="does not exist")


class Syncing(Moving):
    def test_up(self):
        files = {"a": b"1", "d/b": b"22", "d/c": b"3"}
        for name, held in files.items():
            self.write(f"src/{name}", held)
        self.long_ago("src")
        self.put({"up/old": b"x", "up2": b"x"})
        self.assertEqual("3 objects copied, 4 bytes", self.tells("sync", "src", self.url("up")))
        read = self.folder / "src/a"
        self.assertEqual("3 objects already there, 4 bytes", self.tells("sync", "src", self.url("up/")))
        self.write("src/d/b", b"33")
        read.unlink()
        told = self.ok("sync", "--delete", "--dry-run", "src", self.url("up")).decode()
        self.assertIn("total: 1 objects, 2 bytes to copy; 2 to remove", told)
        self.assertEqual("1 object copied, 2 bytes; 2 objects removed, 2 bytes; 1 object already there, 1 byte",
                         self.tells("sync", "--delete", "src", self.url("up")))
        self.assertEqual([self.url("up/d/b"), self.url("up/d/c"), self.url("up2")], self.listed(self.url()))
        self.assertEqual(b"33", self.emulator.get("up/d/b"))

    def test_down(self):
        self.put({"down/a": b"1", "down/d/b": b"22"})
        self.ok("sync", self.url("down"), "t")
        self.write("t/extra", b"x")
        before = self.asked("objects.media")
        self.assertEqual("1 object removed, 1 byte; 2 objects already there, 3 bytes",
                         self.tells("sync", "--delete", self.url("down/"), "t"))
        self.assertEqual(before, self.asked("objects.media"))
        self.put({"down/a": b"2"})
        self.assertEqual("1 object copied, 1 byte; 1 object already there, 2 bytes",
                         self.tells("sync", self.url("down"), "t"))
        self.assertEqual({"a": b"2", "d/b": b"22"}, self.files("t"))
        # Times lie, checksums do not.
        self.write("t/a", b"3")
        then = (self.folder / "t/a").stat().st_mtime + 7200
        os.utime(self.folder / "t/a", (then, then))
        self.assertEqual("2 objects already there, 3 bytes", self.tells("sync", self.url("down"), "t"))
        self.tells("sync", "--checksum", self.url("down"), "t")
        self.assertEqual({"a": b"2", "d/b": b"22"}, self.files("t"))

    def test_between_folders_of_a_bucket(self):
        self.put({"s/a": b"1", "s/b": b"22", "t/b": b"33", "t/gone": b"x"})
        self.assertEqual("2 objects copied, 3 bytes; 1 object removed, 1 byte",
                         self.tells("sync", "--delete", self.url("s"), self.url("t")))
        before = self.asked("objects.rewrite")
        self.assertEqual("2 objects already there, 3 bytes", self.tells("sync", self.url("s"), self.url("t")))
        self.assertEqual(before, self.asked("objects.rewrite"))
        self.assertEqual((b"1", b"22", None),
                         tuple(self.emulator.get(f"t/{name}") for name in ("a", "b", "gone")))

    def test_what_changed_meanwhile_is_seen(self):
        self.put({"s/a": b"new", "t/a": b"old", "theirs": b"theirs"})
        self.inflict("delay", verb="objects.rewrite", ms=1500)
        program = self.start("sync", self.url("s"), self.url("t"), env=self.environment)
        self.put({"t/a": b"theirs"})
        _, said = program.communicate(timeout=60)
        self.assertIn(program.returncode, (0, 1))
        if program.returncode:
            self.assertIn(b"changed", said)
            self.assertEqual(b"theirs", self.emulator.get("t/a"))

    def test_filters_and_wrong_uses(self):
        self.put({"s/a.jpg": b"1", "s/b.txt": b"2", "t/c.txt": b"3"})
        self.ok("sync", "--delete", "--include", "*.jpg", self.url("s"), self.url("t"))
        self.assertEqual([self.url("t/a.jpg"), self.url("t/c.txt")], self.listed(self.url("t")))
        self.write("file", b"1")
        self.fails(6, "sync", "file", self.url("x"), saying="is no folder; `cp` copies files")
        self.fails(3, "sync", "missing", self.url("x"), saying="missing")
        self.fails(3, "sync", self.url("none"), "t", saying="nothing is below it")
        self.fails(2, "sync", self.url("s"), self.url("t"), self.url("u"), saying="sync is of one folder")
        self.fails(2, "sync", self.url("s"), self.url("s/"), saying="onto itself")


class Writing(Moving):
    def test_nothing_is_replaced(self):
        self.put({"w/a": b"theirs"})
        self.write("src/a", b"ours")
        self.write("src/b", b"ours")
        self.write("a", b"ours")
        self.assertEqual("1 object already there, 4 bytes", self.tells("cp", "-n", "a", self.url("w/a")))
        self.assertEqual("1 object copied, 4 bytes; 1 object already there, 4 bytes",
                         self.tells("cp", "-r", "--no-clobber", "src/", self.url("w")))
        self.assertEqual((b"theirs", b"ours"), (self.emulator.get("w/a"), self.emulator.get("w/b")))
        self.assertEqual("1 object already there, 6 bytes", self.tells("cp", "-n", self.url("w/a"), "a"))
        self.assertEqual("2 objects already there, 10 bytes",
                         self.tells("cp", "-r", "-n", self.url("w/"), "src"))
        self.assertEqual({"a": b"ours", "src/a": b"ours", "src/b": b"ours"}, self.files())
        self.put({"x/a": b"1"})
        self.ok("cp", "-n", self.url("x/a"), self.url("w/a"))
        self.ok("cp", "-r", "-n", self.url("x/"), self.url("w"))
        self.assertEqual(b"theirs", self.emulator.get("w/a"))

    def test_conditions(self):
        self.write("a", b"ours")
        self.ok("cp", "--if-generation-match", "0", "a", self.url("c/a"))
        self.fails(1, "cp", "--if-generation-match", "0", "a", self.url("c/a"), saying="c/a")
        self.ok("cp", "--if-generation-match", self.known("c/a")["generation"], "a", self.url("c/a"))
        self.fails(2, "cp", "-r", "--if-generation-match", "0", "a", self.url("c/"), saying="for one object")

    def test_attributes(self):
        how = ("--content-type", "text/x-mine", "--cache-control", "no-store", "--metadata", "k=v", "--metadata",
               "l=a=b", "--storage-class", "NEARLINE")
        wanted = ("text/x-mine", "no-store", {"k": "v", "l": "a=b"}, "NEARLINE")

        def of(name):
            known = self.known(name)
            known["metadata"].pop("dataflux-upload", None)  # by which an upload knows its own
            return known["contentType"], known["cacheControl"], known["metadata"], known["storageClass"]

        self.write("src/a", b"1")
        self.ok("cp", *how, "src/a", self.url("at/a"))
        self.ok("cp", "-r", *how, "src/", self.url("at/d"))
        self.ok("cp", *how, "-", self.url("at/s"), input=b"1")
        self.put({"plain": b"1"})
        self.ok("cp", *how, self.url("plain"), self.url("at/p"))
        for name in ("at/a", "at/d/a", "at/s", "at/p"):
            self.assertEqual(wanted, of(name), name)
        self.fails(2, "cp", "--metadata", "k", "src/a", self.url("x"), saying="KEY=VALUE")
        self.fails(2, "cp", "--content-type", "text/plain", self.url("plain"), "x", saying="TARGET is none")

    def test_continuing_between_folders_of_a_bucket(self):
        self.put({"s/a": b"1", "s/b": b"2", "t/a": b"1"})
        self.assertEqual("1 object copied, 1 byte; 1 object already there, 1 byte",
                         self.tells("cp", "-r", "--continue", self.url("s/"), self.url("t")))


class OtherTools(Moving):
    """The table of docs/command.md: each line is run as it stands."""

    def lines(self):
        page = (Path(__file__).parents[2] / "docs/command.md").read_text()
        table = page.split("## For users of other tools")[1].split("##")[0]
        return re.findall(r"\| `dataflux ([^`]*)` \|$", table, re.M)

    def test_each_line(self):
        lines = self.lines()
        self.assertGreater(len(lines), 10)
        for line in lines:
            with self.subTest(line=line):
                self.ok("rm", "-r", f"gs://{BUCKET}")
                self.put({"x": b"1" * 200, "x/a.jpg": b"1", "x/d/b.jpg": b"22"})
                for name in ("f", "d/a", "t/there"):
                    self.write(name, b"1")
                words = shlex.split(line.replace("gs://b/", f"gs://{BUCKET}/"))
                whole = "<" in words
                names = [self.url("x/a.jpg")] if whole else ["a.jpg", "d/b.jpg"]
                self.write("list", "\n".join(names).encode())
                more = {"input": (self.folder / "list").read_bytes()} if whole else {}
                self.ok(*(words[:words.index("<")] if whole else words), **more)
                shutil.rmtree(self.folder)
                self.folder.mkdir()


if __name__ == "__main__":
    main(__doc__)
