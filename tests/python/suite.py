#!/usr/bin/env python3
"""Runs pytest in the environment that venv.py makes.

    tests/python/suite.py [--library FILE] [--emulator FILE] [--command FILE] [--lock FILE] [--beside FILE]
        [--free-threaded] PYTEST_ARGUMENT...

The packages are taken from the source tree, with the library and the programs that are named. --lock
is another list of packages than requirements.txt of this folder; what --beside lists is found behind
that, from an environment that others use, too. --free-threaded: by the Python that free_threaded.py builds,
without the interpreter's lock. With --full-only it ends with 77, which means skipped, unless
DATAFLUX_TEST_FULL is set.
"""

import argparse
import os
import sys
from pathlib import Path

import venv  # venv.py of this folder

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("python/src", "python-compat/src")
NAMES = {"library": "DATAFLUX_LIBRARY", "emulator": "DATAFLUX_EMULATOR", "command": "DATAFLUX_COMMAND"}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in NAMES:
        arguments.add_argument(f"--{name}")
    arguments.add_argument("--lock", type=Path, default=venv.LOCK)
    arguments.add_argument("--beside", type=Path)
    arguments.add_argument("--free-threaded", action="store_true")
    arguments.add_argument("--full-only", action="store_true")
    options, rest = arguments.parse_known_args()
    if options.full_only and not os.environ.get("DATAFLUX_TEST_FULL"):
        sys.exit(77)
    environment = dict(os.environ)
    for name, variable in NAMES.items():
        if getattr(options, name):
            environment[variable] = getattr(options, name)
    if options.library:
        environment["PYTHONPATH"] = os.pathsep.join(str(ROOT / folder) for folder in SOURCES)
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    base = sys.executable
    if options.free_threaded:
        import free_threaded

        base = free_threaded.make()
        environment["PYTHON_GIL"] = "0"  # a package that asks for the lock gets none
    python = str(venv.make(base, options.lock))
    if options.beside:
        folders = [venv.packages_of(Path(python)), venv.packages_of(venv.make(lock=options.beside))]
        environment["PYTHONPATH"] = os.pathsep.join((environment.get("PYTHONPATH", ""), *map(str, folders)))
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers",
               "--rootdir", str(ROOT / "tests/python"), *rest]
    os.chdir(ROOT)
    os.execve(python, command, environment)


if __name__ == "__main__":
    main()
