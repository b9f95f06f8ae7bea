#!/usr/bin/env python3
"""A Python without the interpreter's lock, built of Debian's source package into the user's cache.

    tests/python/free_threaded.py      prints the path of the program

No Debian has a package of one. What is built depends on how (the digest of this file) and on the system
whose libraries it uses: both are in the folder's name. It is complete or it is not there.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import venv  # venv.py of this folder

SERIES = "3.13"
PACKAGE = f"python{SERIES}"
SUITE = "trixie"  # the newest stable one
OPTIONS = ("--disable-gil", "--disable-test-modules", "--with-ensurepip=no")
# What is changed in the source, by file: (before, after).
CHANGES = {
    # Debian's patch forgets the t in the name of an environment's folder.
    "Lib/site.py": ('"python%d.%d" % sys.version_info[:2]', '"python%d.%d" % sys.version_info[:2] + abi_thread'),
    # Who waits for a lock gives up its turn 40 times before it sleeps; and close() of a file waits for one that it
    # has itself. Where others use all processors that takes seconds each time.
    "Python/lock.c": ("MAX_SPIN_COUNT = 40", "MAX_SPIN_COUNT = 0"),
}
# What the tests import of Python's own modules that a build leaves out where a library is missing.
NEEDED = ("ctypes", "ssl", "zlib", "bz2", "lzma", "sqlite3")

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python/wheel"))
from sources import Archive  # noqa: E402


def run(*command, where):
    done = subprocess.run([str(word) for word in command], cwd=where, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nin {where}:\n{done.stdout[-4000:]}")


def build(prefix, work):
    Archive(work / "apt", (SUITE,)).source(PACKAGE, SERIES, work / "source")
    for name, (before, after) in CHANGES.items():
        file = work / "source" / name
        text = file.read_text()
        if before not in text:
            raise SystemExit(f"{name} of {PACKAGE} has no {before!r} any more: see what became of it")
        file.write_text(text.replace(before, after))
    made = work / "build"
    made.mkdir()
    run(work / "source/configure", f"--prefix={prefix}", *OPTIONS, where=made)
    run("make", f"-j{os.cpu_count()}", where=made)
    run("make", "install", where=made)
    run(prefix / f"bin/python{SERIES}t", "-c",
        f"import sys, {', '.join(NEEDED)}; assert not sys._is_gil_enabled()", where=work)


def make():
    """The path of the program. Two may ask at once: one builds, the other waits."""
    told = Path(__file__).read_bytes() + "".join(platform.libc_ver()).encode()
    name = f"python{SERIES}t-{hashlib.sha256(told).hexdigest()[:16]}"
    base = venv.cache()
    base.mkdir(parents=True, exist_ok=True)
    prefix = base / name
    with open(base / f".{name}.lock", "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (prefix / "complete").exists():
            # A Python knows where it lies, so it is built in place, and a mark says that it is whole.
            shutil.rmtree(prefix, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix="python-", dir=base) as work:
                build(prefix, Path(work))
            (prefix / "complete").touch()
    return prefix / f"bin/python{SERIES}t"


if __name__ == "__main__":
    print(make())
