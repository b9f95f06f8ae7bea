#!/usr/bin/env python3
"""Whether each header of include/ can be included alone, and twice, without a warning.

    tests/headers/alone.py BUILD_DIR [-j N] [--changed]

It is asked as a user's source would, by the compiler and the options with which BUILD_DIR compiles
the library; that compiler is a clang. There are two modes: `compiled`, for all headers, and
`dataflux`, header-only, for those that are not in a detail/ folder. --changed: only headers that
differ from the last commit but one, or include what does.

Parsing the same headers again would be most of the work. So a header is compiled on top of one that
it includes by itself and that was found good: what that one brings, the header brings, too. Only the
largest one of those counts.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests/style"))
from tidy import changed_files, closure, included  # noqa: E402

# Templates are instantiated in the header that asks for them, not in each that stands on it.
KEPT = ["-x", "c++-header", "-fpch-instantiate-templates"]


class Header:
    def __init__(self, name):
        self.name = name
        # One that comes back to this header has it inside, and would prove nothing.
        self.bases = [base for base in included(name)
                      if base.endswith(".hpp") and name not in closure(base)]
        self.is_base = False
        self.precompiled = None  # a file, once this header was found good
        self.size = 0  # of that file and of all on which it stands


def library_command(build_dir):
    """By what one source of the library is compiled: the compiler and its options."""
    commands = json.loads((build_dir / "compile_commands.json").read_text())
    command = next(c["command"] for c in commands if c["file"].endswith("/src/core.cpp"))
    words = shlex.split(re.sub(r" (-o|-c|-MT|-MF) \S+| -MD", "", command))
    return [*(words[1:] if "ccache" in words[0] else words), "-fno-crash-diagnostics"]


def check(header, found, command, folder):
    """What the compiler said, when the header is not good alone."""
    source = folder / re.sub(r"\W", "_", header.name)
    source.write_text(f"#include <{header.name.removeprefix('include/')}>\n" * 2)
    base = max((found[name] for name in header.bases if name in found and found[name].precompiled),
               key=lambda base: base.size, default=None)
    made = source.with_suffix(".pch")
    kind = [*KEPT, "-o", made] if header.is_base else ["-x", "c++", "-fsyntax-only"]
    done = None
    if base:
        done = subprocess.run([*command, "-include-pch", base.precompiled, *kind, source],
                              capture_output=True)
    # clang 14 does not get to the end of every header that stands on others.
    if done is None or done.returncode != 0:
        base = None
        done = subprocess.run([*command, *kind, source], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr
    if header.is_base:
        header.precompiled = made
        header.size = made.stat().st_size + (base.size if base else 0)
    return ""


def check_all(names, command, folder, jobs):
    """[(header, what was said)] of those that are not good; what a header includes comes first."""
    found = {name: Header(name) for name in names}
    for header in found.values():
        for base in header.bases:
            if base in found:
                found[base].is_base = True
    bad, running, left = [], {}, dict(found)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while left or running:
            waits = set(left) | {header.name for header in running.values()}
            for header in [h for h in left.values() if not waits & set(h.bases)]:
                running[pool.submit(check, header, found, command, folder)] = left.pop(header.name)
            for done in concurrent.futures.wait(running, return_when="FIRST_COMPLETED").done:
                header = running.pop(done)
                if done.result():
                    bad.append((header.name, done.result()))
    return bad


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build_dir", type=Path)
    arguments.add_argument("-j", type=int, default=os.cpu_count())
    arguments.add_argument("--changed", action="store_true")
    options = arguments.parse_args()
    names = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "include").rglob("*.hpp"))
    if options.changed:
        changed = changed_files()
        names = [name for name in names if closure(name) & changed]
    compiled = library_command(options.build_dir)
    modes = {"compiled": (names, compiled),
             "dataflux": ([name for name in names if "/detail/" not in name],
                          [word for word in compiled if word != "-DDATAFLUX_COMPILED=1"])}
    failed = 0
    for mode, (chosen, command) in modes.items():
        with tempfile.TemporaryDirectory(prefix="dataflux-headers-") as folder:
            bad = check_all(chosen, command, Path(folder), options.j)
        failed += len(bad)
        for name, said in bad:
            print(f"{name}, mode {mode}:\n{said}")
        print(f"headers alone, {mode}: {len(chosen)} checked, {len(bad)} with findings", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
