#!/usr/bin/env python3
"""clang-tidy over the compile commands of a build tree, several at a time.

    tests/style/tidy.py BUILD_DIR --program CLANG_TIDY [-j N] [--changed] [--minutes M]

The library comes first (src/*.cpp include every .ipp), then what differs from the last commit but
one, then the rest until M minutes have passed since the beginning; sources left out are counted, not
failed. --changed: only sources that differ, and those of the library that include what does.
"""

import argparse
import concurrent.futures
import functools
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r"^#include <(dataflux/[^>]+)>", re.MULTILINE)
NOISE = re.compile(r"^\d+ warnings? (generated|treated)|^Suppressed \d+ warn|^Use -header-filter")


def changed_files():
    """Not committed yet, or part of the last commit; names relative to the root."""
    base = subprocess.run(["git", "rev-parse", "-q", "--verify", "HEAD~1"], cwd=ROOT,
                          capture_output=True, text=True).stdout.strip() or "HEAD"
    names = subprocess.run(["git", "diff", "--name-only", base], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout
    names += subprocess.run(["git", "ls-files", "-o", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout
    return set(names.split("\n"))


@functools.cache
def included(file):
    names = INCLUDE.findall((ROOT / file).read_text())
    return [f"include/{name}" for name in names if (ROOT / "include" / name).is_file()]


def closure(file):
    """All files of include/ that `file` includes, directly or not, and itself; relative names."""
    found, left = {file}, [file]
    while left:
        new = set(included(left.pop())) - found
        found |= new
        left += new
    return found


def sources(build_dir, only_changed):
    commands = json.loads((build_dir / "compile_commands.json").read_text())
    files = {Path(c["directory"], c["file"]).resolve() for c in commands}
    files = {str(f.relative_to(ROOT)) for f in files
             if f.is_relative_to(ROOT) and not f.is_relative_to(build_dir.resolve())}
    changed = changed_files()
    library = sorted(f for f in files if f.startswith("src/"))
    if only_changed and ".clang-tidy" not in changed:
        library = [file for file in library if closure(file) & changed]
    first = sorted((files & changed) - set(library))
    rest = [] if only_changed else sorted(files - changed - set(library))
    return library + first, rest


def check(program, build_dir, file):
    started = time.monotonic()
    done = subprocess.run([program, "-p", build_dir, "--quiet", file], cwd=ROOT, text=True,
                          capture_output=True)
    said = "\n".join(line for line in (done.stdout + done.stderr).splitlines()
                     if line.strip() and not NOISE.match(line))
    return file, done.returncode, said, time.monotonic() - started


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build_dir", type=Path)
    arguments.add_argument("--program", default="clang-tidy")
    arguments.add_argument("-j", type=int, default=2)
    arguments.add_argument("--changed", action="store_true")
    arguments.add_argument("--minutes", type=float, default=6)
    options = arguments.parse_args()
    if shutil.which(options.program) is None:
        sys.exit(f"{options.program} is not installed")
    deadline = time.monotonic() + options.minutes * 60
    left_out, findings, checked = [], 0, 0

    wanted, rest = sources(options.build_dir, options.changed)

    def task(file):
        if file in rest and time.monotonic() >= deadline:
            return file, None, "", 0
        return check(options.program, options.build_dir, file)

    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for file, status, said, took in pool.map(task, wanted + rest):
            if status is None:
                left_out.append(file)
                continue
            checked += 1
            print(f"{took:6.1f} s  {file}", flush=True)
            if status != 0:
                findings += 1
                print(said, flush=True)
    print(f"clang-tidy: {checked} sources checked, {findings} with findings, "
          f"{len(left_out)} left out for want of time")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
