#!/usr/bin/env python3
"""Builds the crates without features, and a program of theirs, by rustc alone.

    rust/by_rustc.py --library FOLDER --out FOLDER NAME SOURCE      prints the program's path

Cargo asks its registry for optional dependencies, too, which nobody uses here. So the tests, the demo
and the benchmark need no network.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

CRATES = Path(__file__).resolve().parent
OLDEST = (1, 85)  # Debian 13's, and Debian 12's by its package rustc-web


def why_not():
    """Why no crate can be built here; None where one can."""
    try:
        said = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "there is no rustc; Debian has one: rustc-web in 12, rustc in 13"
    found = tuple(map(int, re.match(r"rustc (\d+)\.(\d+)", said).groups()))
    if found < OLDEST:
        return f"{said.strip()} is older than 1.85; Debian 12's package rustc-web is new enough"
    return None


class Builder:
    """`library` is the folder with libdataflux.so; `flags` are rustc's, such as -O."""

    def __init__(self, library, folder, *flags):
        self.library, self.folder, self.flags = Path(library).resolve(), Path(folder), flags
        self.folder.mkdir(parents=True, exist_ok=True)
        manifest = (CRATES / "Cargo.toml").read_text()
        self.environment = dict(os.environ, CARGO_PKG_VERSION=re.search(r'^version = "(.+)"', manifest,
                                                                        re.MULTILINE).group(1))

    def compile(self, name, source, kind, *more):
        """Gives the file that is made; its warnings are errors."""
        out = self.folder / {"rlib": f"lib{name}.rlib", "cdylib": f"lib{name}.so"}.get(kind, name)
        crate = ["--test"] if kind == "test" else ["--crate-type", kind]
        command = ["rustc", "--edition", "2024", "-D", "warnings", *self.flags, *crate,
                   "--crate-name", name, "-L", self.folder, "-L", f"native={self.library}", *more,
                   source, "-o", out]
        subprocess.run([str(word) for word in command], check=True, env=self.environment)
        return out

    @staticmethod
    def of_crate():
        """What cargo tells the compiler of the crate; features, so that a misspelled one is found."""
        manifest = (CRATES / "dataflux/Cargo.toml").read_text()
        names = re.findall(r"^(\w+) = \[", manifest.partition("[features]")[2], re.MULTILINE)
        return ["--extern", "dataflux_sys", "--check-cfg", "cfg(test, doctest)",
                "--check-cfg", "cfg(feature, values(" + ", ".join(f'"{name}"' for name in names) + "))"]

    def crates(self):
        self.compile("dataflux_sys", CRATES / "dataflux-sys/src/lib.rs", "rlib", "-l", "dylib=dataflux")
        self.compile("dataflux", CRATES / "dataflux/src/lib.rs", "rlib", *self.of_crate())

    def program(self, name, source, kind="bin"):
        return self.compile(name, source, kind, "--extern", "dataflux")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--library", required=True)
    arguments.add_argument("--out", required=True)
    arguments.add_argument("name")
    arguments.add_argument("source")
    options = arguments.parse_args()
    why = why_not()
    if why is not None:
        sys.exit(f"rust/by_rustc.py: {why}")
    # It finds the library where it is now.
    builder = Builder(options.library, options.out, "-O", "-C",
                      f"link-arg=-Wl,-rpath,{Path(options.library).resolve()}")
    builder.crates()
    print(builder.program(options.name, options.source))


if __name__ == "__main__":
    main()
