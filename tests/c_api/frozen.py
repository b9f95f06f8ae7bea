#!/usr/bin/env python3
"""Programs of an earlier version go on with the library of today.

    frozen.py --source DIR --compiler CXX --library LIBDATAFLUX.SO --emulator PROGRAM [TEST...]

An older header is made here: today's without the last members of each options struct and without
the functions that older.c can do without. From the first release on the one that c_api/freeze.py has
kept (c_api/abi/VERSION/dataflux.h) is another. What an older header declares is in today's as it was;
structs may be longer at their end. older.c is compiled by it, linked with the library, and run over
the emulator. abidiff, of Debian's abigail-tools, judges by debug information, and knows nothing of
our own reading of headers.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from service import Emulator  # noqa: E402

OLDER = Path(__file__).with_name("older.c")
BUCKET = "bucket"
options = None


def broken(before, today):
    """What a program that was compiled by `before` misses in `today`; both are descriptions."""
    missed = [f"handle {name}" for name in before["handles"] if name not in today["handles"]]
    for name, value in before["constants"].items():
        now = today["constants"].get(name)
        grown = name == "DATAFLUX_ABI_VERSION" and now is not None and now > value
        if now != value and not grown:
            missed.append(f"constant {name}")
    for name, layout in before["structs"].items():
        members = today["structs"].get(name, {"members": []})["members"]
        if members[:len(layout["members"])] != layout["members"]:
            missed.append(f"struct {name}")
    for name, declared in before["functions"].items():
        now = today["functions"].get(name)
        if now is None or types_of(now) != types_of(declared):
            missed.append(f"function {name}")
    return missed


def types_of(function):
    return [function["returns"], *(p["type"] for p in function["parameters"])]


def harmful(report):
    """What of abidiff's report on leaf changes is more than structs that have grown at their end."""
    grown = re.compile(r"^'struct \w+' changed:\n"
                       r"  type size changed from (\d+) to \d+ \(in bits\)\n"
                       r"  \d+ data member insertions?:\n"
                       r"((?:    '.*', at offset \d+ \(in bits\)\n)+)(?! )", re.MULTILINE)

    def judge(match):
        offsets = [int(n) for n in re.findall(r"at offset (\d+) ", match.group(2))]
        return "" if min(offsets) >= int(match.group(1)) else match.group(0)

    return [line for line in grown.sub(judge, report + "\n").splitlines()
            if line and not re.match(r"(Leaf changes|Changed leaf types|Removed/Changed/Added \w+) "
                                     r"summary: ", line)]


def library_of(folder, declared):
    """A library with debug information that has what a header in `folder` declares, and does nothing."""
    lines = ["#include <dataflux.h>"]
    for name, function in declared["functions"].items():
        parameters = ", ".join(f"{p['type']} {p['name']}" for p in function["parameters"]) or "void"
        does = "" if function["returns"] == "void" else "return 0; "
        lines.append(f"{function['returns']} ({name})({parameters}) {{ {does}}}")
    done = subprocess.run([options.compiler, "-x", "c", "-g", "-shared", "-fPIC", "-I", folder, "-",
                           "-o", folder / "library.so"],
                          input="\n".join(lines) + "\n", text=True, capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return folder / "library.so"


def cut(pattern, by, code, what):
    code, gone = re.subn(pattern, by, code)
    if gone != 1:
        raise AssertionError(f"{what} is there {gone} times")
    return code


def shortened(code, declared):
    """Today's header, without comments, as it was when no options struct had its last 8 bytes, and of
    the functions only those were there that older.c calls."""
    for name, layout in declared["structs"].items():
        # Of these an older one could do nothing, or they have been so from the beginning.
        if name == "dataflux_range_columns" or layout["members"][0]["name"] != "struct_size":
            continue
        for member in layout["members"][1:]:
            if member["offset"] >= layout["size"] - 8:
                code = cut(rf"(typedef struct {name} {{[^}}]*;)[^;}}]*\b{member['name']};", r"\1", code,
                           f"{name}.{member['name']}")
    calls = OLDER.read_text()
    for name in declared["functions"]:
        if name not in calls and not name.endswith("_init"):
            code = cut(rf"DATAFLUX_API [^;()]*\b{name}\([^;]*;", "", code, name)
    return code


class Program:
    """A program in C by the header in `folder`, linked with the library of today."""

    def __init__(self, source, folder, out):
        self.path = out
        library = Path(options.library)
        done = subprocess.run(
            [options.compiler, "-x", "c", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", folder,
             source, "-x", "none", library, f"-Wl,-rpath,{library.parent}", "-o", out],
            text=True, capture_output=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr)

    def run(self, *arguments):
        return subprocess.run([self.path, *arguments], text=True, capture_output=True, timeout=300,
                              check=False)


class Headers(unittest.TestCase):
    """Older headers, that of today, and what was changed of it."""

    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(options.source / "c_api"))
        import describe
        import freeze
        cls.describe, cls.freeze = staticmethod(describe.describe), freeze
        # Without comments it is easier to change.
        cls.header = re.sub(r"/\*.*?\*/", " ", describe.HEADER.read_text(), flags=re.DOTALL)
        cls.today = describe.describe(cls.header)
        cls.older = {"shortened": shortened(cls.header, cls.today)}
        if kept := freeze.frozen():
            cls.older[kept.name] = (kept / "dataflux.h").read_text()
        cls.folder = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def folder_of(self, name, text):
        """One with the header `text`."""
        folder = Path(self.folder.name) / name
        folder.mkdir()
        (folder / "dataflux.h").write_text(text)
        return folder

    def changed(self, pattern, by):
        text, changes = re.subn(pattern, by, self.header, count=1, flags=re.DOTALL)
        self.assertEqual(1, changes, pattern)
        return text

    def grown(self):
        """Today's header with something of each kind that may be added."""
        text = self.header
        for old, new in [
                ("} dataflux_set_options;", "int64_t more; } dataflux_set_options;"),
                ("} dataflux_record;", "int64_t more; } dataflux_record;"),
                ("  DATAFLUX_OK = 0,", "  DATAFLUX_OK = 0,\n  DATAFLUX_NEW = 7,"),
                ("#define DATAFLUX_ABI_VERSION ", "#define DATAFLUX_ABI_VERSION 1"),
                ("DATAFLUX_API uint32_t dataflux_abi_version(void);",
                 "DATAFLUX_API uint32_t dataflux_abi_version(void);\n"
                 "DATAFLUX_API uint32_t dataflux_new(void);")]:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text


class Frozen(Headers):
    def program(self, name, text, source=None):
        """A program by the header `text`."""
        folder = self.folder_of(name, text)
        if source is None:
            return Program(OLDER, folder, folder / "program")
        (folder / "program.c").write_text(source)
        return Program(folder / "program.c", folder, folder / "program")

    def run_older(self, name, text):
        emulator = Emulator(options.emulator, BUCKET)
        self.addCleanup(emulator.close)
        done = self.program(name, text).run(emulator.endpoint, BUCKET)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(b"what was saved\0", emulator.get("saved"))

    def test_one_version_is_kept_of_a_release(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(self.freeze.frozen(Path(folder)))
            (Path(folder) / "0.0").mkdir()
            self.freeze.freeze(Path(folder))
            made = self.freeze.frozen(Path(folder))
            self.assertEqual(["dataflux.h"], [path.name for path in made.iterdir()])
            kept = self.freeze.frozen() or made
            self.assertEqual(self.freeze.version(), kept.name,
                             "a new section of CHANGELOG.md: run c_api/freeze.py")

    def test_today_has_all_that_older_ones_have(self):
        for name, text in self.older.items():
            self.assertEqual([], broken(self.describe(text), self.today),
                             f"{name}: c_api/README.md says what to do")

    def test_what_breaks_is_found(self):
        for kind, pattern, by in [
                ("handle dataflux_lister", r"typedef struct dataflux_lister dataflux_lister;", ""),
                ("constant DATAFLUX_OK", r"  DATAFLUX_OK = 0,", "  DATAFLUX_OK = 1,"),
                ("constant DATAFLUX_OK", r"  DATAFLUX_OK = 0,", ""),
                ("constant DATAFLUX_ABI_VERSION", r"(DATAFLUX_ABI_VERSION) \d+", r"\1 0"),
                ("struct dataflux_record", r"uint64_t tag;.*?uint64_t index;",
                 "uint64_t index; uint64_t tag;"),
                ("struct dataflux_record", r"int64_t generation;", "uint64_t generation;"),
                ("struct dataflux_set_options", r"(const char\* prefix;[^;]*)int64_t timeout_ns;"
                 r"([^;]*\} dataflux_set_options;)", r"\1\2"),
                ("function dataflux_stat", r"DATAFLUX_API dataflux_status dataflux_stat\([^;]*;", ""),
                ("function dataflux_queue_fd", r"int (dataflux_queue_fd)", r"int64_t \1"),
                ("function dataflux_queue_fd", r"(queue_fd\()[^)]*", r"\1void")]:
            today = self.describe(self.changed(pattern, by))
            self.assertEqual([kind], broken(self.today, today), pattern)

    def test_what_is_added_breaks_nothing(self):
        today = self.describe(self.grown())
        self.assertNotEqual(self.today, today)
        self.assertEqual([], broken(self.today, today))

    def test_programs_that_were_compiled_by_older_ones_run(self):
        missed = broken(self.today, self.describe(self.older["shortened"]))
        for what in "struct dataflux_client_options", "function dataflux_manifest_row":
            self.assertIn(what, missed)
        for name, text in self.older.items():
            self.run_older(name, text)

    def test_nothing_behind_a_shorter_struct_is_touched(self):
        text = self.older["shortened"]
        checks = "".join(
            f"  {{\n    struct {{ {name} o; unsigned char behind[64]; }} x;\n"
            f"    memset(&x, 0x5a, sizeof x);\n    {name}_init(&x.o, sizeof x.o);\n"
            f"    if (x.o.struct_size != sizeof x.o || !good(&x, sizeof x.o)) puts(\"{name}\");\n"
            f"  }}\n" for name in self.today["structs"] if f"{name}_init" in self.today["functions"])
        done = self.program("inits", text, """#include <dataflux.h>
#include <stdio.h>
#include <string.h>
static int good(const void* at, size_t size) {
  const unsigned char* const bytes = at;
  size_t i;
  for (i = sizeof(size_t); i < size + 64; ++i) {
    if (bytes[i] != (i < size ? 0 : 0x5a)) return 0;
  }
  return 1;
}
int main(void) {
""" + checks + "  return 0;\n}\n").run()
        self.assertGreater(checks.count("memset"), 20)
        self.assertEqual((0, ""), (done.returncode, done.stdout))


# In CI it is not missing.
@unittest.skipUnless(shutil.which("abidiff") or os.environ.get("CI"), "needs abigail-tools")
class Abidiff(Headers):
    def compare(self, before, after):
        """What abidiff finds harmful between two headers."""
        libraries = []
        for text in [before, after]:
            folder = self.folder_of(str(len(list(Path(self.folder.name).iterdir()))), text)
            libraries.append(library_of(folder, self.describe(text)))
        done = subprocess.run(["abidiff", "--no-added-syms", "--leaf-changes-only", "--no-show-locs",
                               *libraries], text=True, capture_output=True, check=False)
        self.assertEqual(0, done.returncode & 3, done.stderr)  # it could compare
        found = harmful(done.stdout)
        self.assertTrue(done.returncode or not found, done.stdout)
        return found

    def test_today_has_all_that_older_ones_have(self):
        for name, text in self.older.items():
            self.assertEqual([], self.compare(text, self.header), name)

    def test_what_is_added_breaks_nothing(self):
        self.assertEqual([], self.compare(self.header, self.grown()))

    def test_what_breaks_is_found(self):
        for names, pattern, by in [
                ("tag", r"uint64_t tag;(.*?)uint64_t index;", r"uint64_t index;\1uint64_t tag;"),
                ("generation", r"int64_t generation;", "uint64_t generation;"),
                ("between", r"(const char\* prefix;)([^;]*;[^;]*\} dataflux_set_options;)",
                 r"\1 int64_t between;\2"),
                ("timeout_ns", r"int64_t timeout_ns;([^;]*\} dataflux_set_options;)", r"\1"),
                ("dataflux_queue_fd", r"DATAFLUX_API int dataflux_queue_fd\([^;]*;", ""),
                ("dataflux_queue_fd", r"(queue_fd\()[^)]*", r"\1void"),
                ("dataflux_queue_fd", r"int (dataflux_queue_fd)", r"int64_t \1")]:
            found = self.compare(self.header, self.changed(pattern, by))
            self.assertIn(names, "\n".join(found), pattern)


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--emulator", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=1)


if __name__ == "__main__":
    main()
