#!/usr/bin/env python3
"""Tests the Rust crates of rust/ against the library of a build tree and its emulator.

    rust.py core|features|behaviour --library FILE --emulator PROGRAM [-k PART] [--junitxml FILE]

core: without features, by rustc and rustdoc alone, since cargo asks its registry for dependencies that
nobody uses. Tests of the crate, samples of its documentation, a library of another version, and exits
with work in flight. features: by cargo, with dependencies; under --full only. behaviour: the table that
all languages have in common. Exit status 77: not asked for, or no Rust of at least 1.85 is here.
"""

import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CRATES = ROOT / "rust"
CORE = ("faults", "objects", "services", "streams", "training")  # tests of the crate that need no feature
LEAVES = 500 if os.environ.get("DATAFLUX_TEST_FULL") else 25
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "cli"), str(CRATES)]
from by_rustc import Builder, why_not  # noqa: E402
from service import Emulator  # noqa: E402


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


class Tests(Builder):
    """What is built and run, and how each case ended."""

    def __init__(self, options):
        library = Path(options.library).resolve().parent
        super().__init__(library, library / f"rust-{options.what}", "-C", "debuginfo=1")
        self.emulator, self.part = options.emulator, options.part
        self.cases = []  # (name, why it failed or None)
        paths = filter(None, [str(library), os.environ.get("LD_LIBRARY_PATH")])
        self.environment.update(DATAFLUX_LIB_DIR=str(library), DATAFLUX_EMULATOR=self.emulator,
                                LD_LIBRARY_PATH=":".join(paths))

    def test(self, name, command, choice=()):
        """Runs a program of Rust's test harness and takes in its cases. `choice`: before a part of a name."""
        print(f"-- {name}", flush=True)
        chosen = [*choice, self.part] if self.part else []
        ended = subprocess.run([str(word) for word in (*command, *chosen)], env=self.environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=CRATES / "dataflux")
        print(ended.stdout, flush=True)
        told = re.findall(r"^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED)", ended.stdout, re.MULTILINE)
        self.cases += [(f"{name}: {case}", None if how == "ok" else ended.stdout[-4000:])
                       for case, how in told]
        if ended.returncode != 0 and all(how == "ok" for _, how in told):
            self.cases.append((name, f"exit status {ended.returncode}"))

    def case(self, name, function):
        """One of our own; `function` gives why it failed, or None."""
        if not self.part or self.part in name:
            why = function()
            self.cases.append((name, why))
            print(f"-- {name}: {why or 'ok'}", flush=True)

    def end(self, report):
        if report:
            failures = sum(1 for _, why in self.cases if why)
            suite = ET.Element("testsuite", name="rust", tests=str(len(self.cases)), failures=str(failures))
            for name, why in self.cases:
                told = ET.SubElement(suite, "testcase", classname="rust", name=name)
                if why:
                    ET.SubElement(told, "failure", message=why)
            ET.ElementTree(suite).write(report, encoding="utf-8", xml_declaration=True)
        failed = [name for name, why in self.cases if why]
        print(f"{len(self.cases) - len(failed)} of {len(self.cases)} cases passed", *failed, sep="\n    ")
        sys.exit(5 if not self.cases else 1 if failed else 0)


@contextmanager
def samples(tests):
    """An emulator with what the samples of the documentation read, as their clients find it."""
    emulator = Emulator(tests.emulator, "training")
    try:
        emulator.ask("PATCH", "/_emulator/buckets/checkpoints", b"{}")
        for name in ("a.jpg", "b.jpg", "config.json", "images/1.jpg", "a/b"):
            emulator.put(name, b"content")
        tests.environment["STORAGE_EMULATOR_HOST"] = emulator.endpoint
        yield
    finally:
        tests.environment.pop("STORAGE_EMULATOR_HOST", None)
        emulator.close()


def other_version(tests, driver):
    """A library whose interface is not known is refused before anything else is called."""
    tests.compile("other_version", HERE / "other_version.rs", "cdylib")
    environment = dict(tests.environment, LD_PRELOAD=str(tests.folder / "libother_version.so"))
    ended = subprocess.run([driver, "http://127.0.0.1:1", "token"], env=environment, text=True,
                           capture_output=True, stdin=subprocess.DEVNULL)
    said = ended.stderr
    return None if ended.returncode == 1 and "has the interface 2001" in said else f"it says: {said}"


def leaving(tests):
    """A program that ends with work in flight ends well, each time."""
    program = tests.program("leaving", HERE / "leaving.rs")
    emulator = Emulator(tests.emulator, "bucket")
    try:
        emulator.put("big", bytes(1 << 20))
        for number in range(LEAVES):
            ended = subprocess.run([program, emulator.endpoint, str(number)], env=tests.environment,
                                   timeout=60, text=True, capture_output=True)
            if ended.returncode != 0:
                return f"run {number} ended with {ended.returncode}: {ended.stderr}"
    finally:
        emulator.close()
    return None


def core(tests):
    tests.crates()
    for name in CORE:
        tests.test(name, [tests.program(name, CRATES / f"dataflux/tests/{name}.rs", "test")])
    tests.test("units", [tests.compile("units", CRATES / "dataflux/src/lib.rs", "test",
                                       *tests.of_crate())])
    with samples(tests):
        tests.test("samples", ["rustdoc", "--test", "--edition", "2024", "--crate-name", "dataflux",
                               *tests.of_crate(), "-L", tests.folder, "-L", f"native={tests.library}",
                               "--extern", f"dataflux={tests.folder}/libdataflux.rlib",
                               CRATES / "dataflux/src/lib.rs"], ["--test-args"])
    driver = tests.program("driver", ROOT / "tests/behaviour/driver.rs")
    tests.case("a library of another version is refused", lambda: other_version(tests, driver))
    tests.case("a program leaves with work in flight", lambda: leaving(tests))


def features(tests):
    """All of it by cargo: lints, tests, samples, and the documentation without a broken link."""
    all_of_it = ["--locked", "--features", "arrow,bytes,object_store,tokio"]
    cargo = ["cargo", "--config", f"build.target-dir='{tests.folder}'"]
    for name, command in (("format", ["fmt", "--check"]),
                          ("lint", ["clippy", *all_of_it, "--all-targets", "--", "-D", "warnings"]),
                          ("documentation", ["doc", "--no-deps", *all_of_it])):
        environment = dict(tests.environment, RUSTDOCFLAGS="-D warnings")
        tests.case(name, lambda: None if subprocess.run(
            [*cargo, *command], cwd=CRATES, env=environment).returncode == 0 else "see above")
    with samples(tests):
        tests.test("cargo", [*cargo, "test", "--no-fail-fast", *all_of_it, "--"])


def behaviour(tests, report):
    tests.crates()
    driver = tests.program("driver", ROOT / "tests/behaviour/driver.rs")
    more = [*(["-k", tests.part] if tests.part else []), *([f"--junitxml={report}"] if report else [])]
    sys.exit(subprocess.run([sys.executable, ROOT / "tests/behaviour/run.py", "--emulator", tests.emulator,
                             "--language", "rust", *more, driver], env=tests.environment).returncode)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("what", choices=("core", "features", "behaviour"))
    arguments.add_argument("--library", required=True)
    arguments.add_argument("--emulator", required=True)
    arguments.add_argument("-k", dest="part", default="")
    arguments.add_argument("--junitxml")
    options = arguments.parse_args()
    if options.what == "features" and not os.environ.get("DATAFLUX_TEST_FULL"):
        skip("it needs crates of others: under --full only")
    why = why_not()
    if why is not None:
        skip(why)
    tests = Tests(options)
    if options.what == "behaviour":
        behaviour(tests, options.junitxml)
    (core if options.what == "core" else features)(tests)
    tests.end(options.junitxml)


if __name__ == "__main__":
    main()
