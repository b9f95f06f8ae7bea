#!/usr/bin/env python3
"""An environment with the packages of a lock file, in the user's cache.

    tests/python/venv.py [--python PROGRAM] [LOCK]      prints the path of the environment's Python

LOCK is tests/python/requirements.txt unless another one is named. The environment's name holds a digest
of the lock and the version of Python: it is made once, whoever asks first, and is made anew when either
changes. It is complete or it is not there.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = Path(__file__).resolve().parent / "requirements.txt"
KEPT = 4  # environments of one lock that are kept: others' trees may use older ones
KEPT_LARGE = 1  # of those with torch, of 5.5 GB each


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dataflux"


def describe(python):
    """What an environment of that Python depends on, and the program itself."""
    told = subprocess.run([python, "-c", "import os, sys; print(sys.version); "
                           "print(os.path.realpath(sys.base_prefix)); print(sys.executable)"],
                          check=True, capture_output=True, text=True).stdout
    version, _, program = told.rstrip("\n").rpartition("\n")
    return version, program


def fill(python, folder, lock):
    made = subprocess.run([python, "-m", "venv", folder], capture_output=True, text=True)
    if made.returncode != 0:
        raise SystemExit(f"no environment could be made (python3-venv?):\n{made.stdout}{made.stderr}")
    pip = [folder / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "-q",
           "--only-binary", ":all:", "-r", lock]
    if "--no-deps" in lock.read_text().partition("\n\n")[0]:  # some ask for what nobody needs
        pip.append("--no-deps")
    done = subprocess.run(pip, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit(f"what {lock.name} names could not be installed:\n{done.stdout[-4000:]}")


def make(python=sys.executable, lock=LOCK):
    """The path of the environment's Python. Two may ask at once: one makes it, the other waits."""
    lock = Path(lock).resolve()
    version, program = describe(python)
    digest = hashlib.sha256(lock.read_bytes() + version.encode()).hexdigest()[:16]
    base = cache()
    base.mkdir(parents=True, exist_ok=True)
    name = f"venv-{lock.parent.name}-"
    final = base / (name + digest)
    with open(base / f".{name}{digest}.lock", "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (final / "complete").exists():
            # An environment cannot be moved, so it is made in place, and a mark says that it is whole.
            shutil.rmtree(final, ignore_errors=True)
            fill(program, final, lock)
            (final / "complete").touch()
        os.utime(final / "complete")
    forget_old(base, name, final)
    return final / "bin/python"


def packages_of(python):
    """Where an environment has its packages."""
    [folder] = python.parent.parent.glob("lib/python*/site-packages")
    return folder


def forget_old(base, name, used):
    def when(folder):
        try:
            return (folder / "complete").stat().st_mtime
        except FileNotFoundError:
            return float("inf")  # somebody makes it now

    others = sorted((p for p in base.glob(name + "*") if p != used), key=when, reverse=True)
    kept = KEPT if not any(used.glob("lib/python*/site-packages/torch")) else KEPT_LARGE
    for folder in others[kept - 1:]:
        if when(folder) != float("inf"):
            with tempfile.TemporaryDirectory(dir=base) as away:
                folder.rename(Path(away) / "old")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("lock", nargs="?", type=Path, default=LOCK)
    arguments.add_argument("--python", default=sys.executable)
    options = arguments.parse_args()
    print(make(options.python, options.lock))


if __name__ == "__main__":
    main()
