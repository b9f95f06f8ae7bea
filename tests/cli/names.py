#!/usr/bin/env python3
"""Which names the command `dataflux` takes: patterns, several sources, lists, manifests, filters.

    names.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import os
import sys

sys.dont_write_bytecode = True
from command_case import BUCKET, Case, main  # noqa: E402

OBJECTS = {"n/a.jpg": b"1", "n/b.txt": b"22", "n/d/c.jpg": b"333", "n/d/e/f.jpg": b"4444", "n/dd/g.txt": b"",
           "n/odd[1].txt": b"odd", "other": b"x"}


class Names(Case):
    def setUp(self):
        super().setUp()
        self.ok("rm", "-r", f"gs://{BUCKET}")
        self.put(OBJECTS)

    def urls(self, *names):
        return [self.url(name) for name in names]

    def listed(self, *arguments):
        return self.ok("ls", *arguments).decode().split()

    def files(self, *below):
        return {name: held for name, held in self.tree(*below).items() if held is not None}


class Listing(Names):
    def test_patterns(self):
        for pattern, names in (("n/*.jpg", ["n/a.jpg"]), ("n/**.jpg", ["n/a.jpg", "n/d/c.jpg", "n/d/e/f.jpg"]),
                               ("n/d*", ["n/d/", "n/dd/"]), ("n/[ab].*", ["n/a.jpg", "n/b.txt"]),
                               ("n/{a,b}.{jpg,txt}", ["n/a.jpg", "n/b.txt"]), ("n/?.jpg", ["n/a.jpg"]),
                               ("n/d*/*", ["n/d/c.jpg", "n/d/e/", "n/dd/g.txt"]), ("*/d/c.jpg", ["n/d/c.jpg"]),
                               ("*", ["n/", "other"]), ("n/d*/", ["n/d/", "n/dd/"]), ("o*", ["other"])):
            with self.subTest(pattern=pattern):
                self.assertEqual(self.urls(*names), self.listed(self.url(pattern)))
        self.assertEqual(self.urls("n/d/c.jpg", "n/d/e/f.jpg", "n/dd/g.txt"), self.listed("-r", self.url("n/d*")))

    def test_a_pattern_asks_for_no_more_than_what_begins_as_it_does(self):
        self.put({f"n/zz/{i:04}": b"" for i in range(1200)})
        before = self.counters()
        self.listed(self.url("n/a*"))
        self.listed(self.url("n/d*/*.jpg"))
        asked = sum(each["count"] for each in self.counters()["requests"] if each["verb"] == "objects.list")
        was = sum(each["count"] for each in before["requests"] if each["verb"] == "objects.list")
        self.assertLessEqual(asked - was, 2)

    def test_names_as_they_are(self):
        self.fails(3, "cat", self.url("n/odd[1].txt"),
                   saying=f"gs://{BUCKET}/n/: no object below it has a name like odd[1].txt; for one of that very "
                          "name give --no-glob")
        self.assertEqual(b"odd", self.ok("cat", "--no-glob", self.url("n/odd[1].txt")))
        self.assertEqual(b"odd", self.ok("cat", self.url("n/odd\\[1\\].txt")))
        self.assertEqual(self.urls("n/odd[1].txt"), self.listed("--no-glob", self.url("n/odd[1].txt")))
        self.fails(3, "ls", "--no-glob", self.url("n/*"), saying="no object and nothing below it")

    def test_several_and_filters(self):
        self.assertEqual(self.urls("n/a.jpg", "other"), self.listed(self.url("n/a.jpg"), self.url("oth*")))
        self.assertEqual(self.urls("n/a.jpg", "n/d/c.jpg"),
                         self.listed("-r", "--include", "*.jpg", "--exclude", "d/e/**", self.url("n/")))
        self.assertEqual(self.urls("n/d/c.jpg", "n/d/e/f.jpg", "n/odd[1].txt"),
                         self.listed("-r", "--min-size", "3", self.url("n")))
        self.assertEqual(len(OBJECTS), len(self.listed("-r", "--newer-than", "1h", self.url())))
        self.fails(3, "ls", "-r", "--newer-than", "2100-01-01", self.url("n"), saying="nothing below it is selected")
        self.fails(5, "ls", self.url("n/a.jpg"), self.url("x*"), saying="a name like x*")
        for option, text in (("--min-size", "big"), ("--newer-than", "soon")):
            self.fails(2, "ls", option, text, self.url("n"), saying=(option, text))

    def test_a_list(self):
        self.write("list", f"{self.url('n/a.jpg')}\n\n{self.url('n/odd[1].txt')}\r\n".encode())
        self.assertEqual(self.urls("n/a.jpg", "n/odd[1].txt"), self.listed("--files-from", "list"))
        self.assertEqual(b"1odd", self.ok("cat", "--files-from", "-", input=(self.folder / "list").read_bytes()))
        self.fails(3, "ls", "--files-from", "missing", saying="missing")
        self.write("empty")
        self.fails(2, "ls", "--files-from", "empty", saying="no name is in it")

    def test_others(self):
        self.assertEqual(b"1333", self.ok("cat", self.url("n/a.jpg"), self.url("n/d/*")))
        self.assertEqual(3, self.ok("stat", self.url("n/**.jpg")).decode().count("crc32c"))
        self.fails(3, "stat", self.url("n/x*"), saying="a name like x*")


class Copying(Names):
    def test_a_pattern_keeps_what_is_below_its_folder(self):
        self.ok("cp", self.url("n/*.jpg"), "one/")
        self.assertEqual({"a.jpg": b"1"}, self.files("one"))
        self.ok("cp", self.url("n/**.jpg"), "all/")
        self.assertEqual({"a.jpg": b"1", "d/c.jpg": b"333", "d/e/f.jpg": b"4444"}, self.files("all"))
        self.ok("cp", "-r", self.url("n/d*"), "folders")
        self.assertEqual({"d/c.jpg": b"333", "d/e/f.jpg": b"4444", "dd/g.txt": b""}, self.files("folders"))
        self.fails(2, "cp", self.url("n/*.jpg"), "nowhere", saying="end it with '/'")
        self.fails(3, "cp", self.url("n/*.png"), "one/", saying="a name like *.png")
        self.fails(3, "cp", self.url("n/d*"), "one/", saying="a name like d*")

    def test_patterns_of_files(self):
        for name, content in OBJECTS.items():
            self.write(name, content)
        self.ok("cp", "n/*.jpg", self.url("up/"))
        self.ok("cp", "-r", "n/d*", self.url("up"))
        self.ok("cp", "n/odd[1].txt", self.url("up/"))
        self.assertEqual(self.urls("up/a.jpg", "up/d/c.jpg", "up/d/e/f.jpg", "up/dd/g.txt", "up/odd[1].txt"),
                         self.listed("-r", self.url("up")))
        self.fails(3, "cp", "n/*.png", self.url("up/"), saying="no file below it has a name like *.png")
        self.ok("cp", "*her", self.url("top/"))
        self.assertEqual(b"x", self.emulator.get("top/other"))

    def test_several_sources(self):
        self.write("a", b"1")
        self.write("b", b"2")
        self.write("d/c", b"3")
        self.assertEqual("3 objects copied, 3 bytes", self.tells("cp", "-r", "a", "b", "d", self.url("some/")))
        self.assertEqual(self.urls("some/a", "some/b", "some/d/c"), self.listed("-r", self.url("some")))
        self.fails(2, "cp", "a", "b", self.url("some/x"), saying="would take several names: end it with '/'")
        self.fails(5, "cp", "a", "missing", self.url("some/"), saying="missing")
        (self.folder / "t").mkdir()
        self.ok("cp", self.url("some/a"), self.url("n/*.txt"), "t")
        self.assertEqual({"a": b"1", "b.txt": b"22", "odd[1].txt": b"odd"}, self.files("t"))
        self.fails(2, "cp", "a", self.url("some/a"), self.url("x/"), saying="all in buckets, or all here")
        self.fails(2, "cp", "a", saying="SOURCE and TARGET")

    def test_filters(self):
        self.ok("cp", "-r", "--include", "*.jpg", "--min-size", "2", self.url("n/"), "t")
        self.assertEqual({"d/c.jpg": b"333", "d/e/f.jpg": b"4444"}, self.files("t"))
        self.write("t/d/new", b"new")
        self.write("t/x.txt", b"x")
        self.ok("cp", "-r", "--exclude", "*.jpg", "t/", self.url("f"))
        self.assertEqual(self.urls("f/d/new", "f/x.txt"), self.listed("-r", self.url("f")))
        # What is left out is no extra name.
        self.ok("cp", "-r", "--continue", "--delete-extra", "--exclude", "*.txt", self.url("n/"), "t")
        self.assertEqual({"a.jpg", "d/c.jpg", "d/e/f.jpg", "x.txt"}, set(self.files("t")))
        os.utime(self.folder / "t/x.txt", (0, 0))
        self.ok("cp", "-r", "--newer-than", "1d", "t/", self.url("g"))
        self.assertIsNone(self.emulator.get("g/x.txt"))
        self.assertEqual(b"1", self.emulator.get("g/a.jpg"))
        self.fails(2, "cp", "--include", "*", self.url("other"), "t/", saying="give -r")
        self.fails(3, "cp", "-r", "--include", "*.png", "t/", self.url("h"), saying="nothing below it is selected")

    def test_names_below_a_source(self):
        self.write("list", b"a.jpg\nd/e/f.jpg\nmissing\n")
        lines = self.fails(5, "cp", "--files-from", "list", self.url("n"), "t")
        self.assertEqual([f"dataflux: {self.url('n/missing')}: the object does not exist; `dataflux ls "
                          f"{self.url('n/')}` shows what is there"], lines)
        self.assertEqual({"a.jpg": b"1", "d/e/f.jpg": b"4444"}, self.files("t"))
        lines = self.fails(5, "cp", "--files-from", "list", "t", self.url("back"))
        self.assertEqual(["dataflux: t/missing: No such file or directory"], lines)
        lines = self.fails(5, "cp", "--files-from", "list", self.url("n/"), self.url("between/"))
        self.assertEqual(1, len(lines))
        for folder in ("back", "between"):
            self.assertEqual(self.urls(f"{folder}/a.jpg", f"{folder}/d/e/f.jpg"),
                             self.listed("-r", self.url(folder)))
        self.write("whole", f"{self.url('n/a.jpg')}\n{self.url('other')}\n".encode())
        self.ok("cp", "--files-from", "whole", "flat/")
        self.assertEqual({"a.jpg": b"1", "other": b"x"}, self.files("flat"))

    def test_manifests(self):
        self.ok("manifest", "create", self.url("n"), "n.dfl")
        self.put({"n/later": b"x"})
        before = self.counters()
        self.ok("cp", "--files-from", "n.dfl", "t/")
        lists = [sum(each["count"] for each in seen["requests"] if each["verb"] == "objects.list")
                 for seen in (before, self.counters())]
        self.assertEqual(lists[0], lists[1])
        wanted = {name.removeprefix("n/"): held for name, held in OBJECTS.items() if name.startswith("n/")}
        self.assertEqual(wanted, self.files("t"))
        self.ok("cp", "--files-from", "n.dfl", self.url("copy/"))
        self.assertEqual(len(wanted), len(self.listed("-r", self.url("copy"))))
        self.ok("cp", "n.dfl", self.url("n.dfl"))
        self.assertEqual(len(wanted), len(self.listed("--files-from", self.url("n.dfl"))))
        self.ok("rm", "--files-from", "n.dfl")
        self.assertEqual(self.urls("n/later"), self.listed("-r", self.url("n/")))

    def test_between_buckets(self):
        self.ok("cp", self.url("n/*.jpg"), self.url("b1/"))
        self.ok("cp", "-r", "--exclude", "*.txt", self.url("n/d*"), self.url("b2"))
        self.assertEqual(self.urls("b1/a.jpg"), self.listed("-r", self.url("b1")))
        self.assertEqual(self.urls("b2/d/c.jpg", "b2/d/e/f.jpg"), self.listed("-r", self.url("b2")))
        self.fails(3, "cp", self.url("n/*.png"), self.url("b3/"), saying="a name like *.png")


class Removing(Names):
    def test_patterns(self):
        self.assertEqual("1 object removed, 1 byte", self.tells("rm", self.url("n/*.jpg")))
        self.fails(3, "rm", self.url("n/*.jpg"), saying="a name like *.jpg")
        self.fails(3, "rm", self.url("n/d*"), saying="a name like d*")
        self.assertEqual("3 objects removed, 7 bytes", self.tells("rm", "-r", self.url("n/d*")))
        self.assertEqual(self.urls("n/b.txt", "n/odd[1].txt", "other"), self.listed("-r", self.url()))
        self.ok("rm", "-r", "--exclude", "odd*", self.url("n"))
        self.assertEqual(self.urls("n/odd[1].txt", "other"), self.listed("-r", self.url()))
        self.ok("rm", "--no-glob", self.url("n/odd[1].txt"))
        self.fails(2, "rm", self.url("other"), "no*url")
        self.assertEqual(b"x", self.emulator.get("other"))


if __name__ == "__main__":
    main(__doc__)
