#!/usr/bin/env python3
"""Builds the portable wheel: all that it needs is inside, for x86_64 with glibc 2.28 or later.

    python/wheel/build.py [--out DIR] [--fresh] [--jobs N]      prints the wheel's path

It needs Debian's packages nasm, perl, make and dpkg-dev; the compiler (zig), CMake and the rest come
from PyPI. The libraries inside are built once for each recipe, and kept in the user's cache, as the
compiled code is for each state of the C++ sources. --fresh builds the libraries anew, with what Debian
has mended since: do so before a release. The wheel is made of the sdist, which proves that one, too.

Other processors are not built: nasm's code in ISA-L and the tests are for x86_64.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent
ROOT = PACKAGE.parent
sys.path[:0] = [str(HERE), str(ROOT / "tests/python")]


import venv  # noqa: E402  (tests/python/venv.py)
from dependencies import Tools, cache, dependencies  # noqa: E402

TAG = "py3-none-manylinux_2_28_x86_64"
# What is inside, as SPDX says it: Apache-2.0 (ours, OpenSSL, simdjson), BSD-3-Clause (ISA-L, CLI11),
# BSD-2-Clause (xxhash), BSL-1.0 (Boost), curl, MIT (pugixml, zig), and LLVM's (its C++ library).
LICENCE = ("Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND BSL-1.0 AND curl AND MIT AND "
           "Apache-2.0 WITH LLVM-exception")
KEPT = 2  # states of the C++ sources whose compiled code is kept
NEEDED = {"nasm": "nasm", "perl": "perl", "make": "make", "dpkg-source": "dpkg-dev", "apt-get": "apt"}


def make_sdist(tools, python, folder):
    tools.run(python, "-m", "build", "--sdist", "--no-isolation", "-o", folder, PACKAGE, where=folder)
    return next(folder.glob("*.tar.gz"))


def digest_of(tools, source, prefix):
    """Of all that the compiled code depends on: Python modules are not."""
    told = hashlib.sha256(repr(cmake_arguments(tools, prefix)).encode())
    told.update((prefix / "versions.json").read_bytes())
    for path in [source / "CMakeLists.txt", *sorted((source / "library").rglob("*"))]:
        if path.is_file():
            told.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes())
    return told.hexdigest()[:16]


def name_licences(tools, source, prefix):
    """Of a portable wheel alone: another one has nobody else's code inside."""
    for path in (prefix / "licences").iterdir():
        shutil.copy(path, source / f"LICENSE.{path.name}")
    for library, path in tools.licences.items():
        shutil.copy(path, source / f"LICENSE.{library}.txt")
    described = source / "pyproject.toml"
    text = described.read_text()
    if text.count('license = "Apache-2.0"') != 1:
        raise SystemExit("pyproject.toml names its licence in another way than build.py knows")
    described.write_text(text.replace('license = "Apache-2.0"', f'license = "{LICENCE}"'))


def cmake_arguments(tools, prefix):
    options = [option for option in tools.cmake_options(prefix)
               if not option.startswith("-DCMAKE_BUILD_TYPE=")]
    linked = "-s -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now"
    options += [f"-DCMAKE_SHARED_LINKER_FLAGS={linked}", f"-DCMAKE_EXE_LINKER_FLAGS=-pie {linked}",
                f"-DOPENSSL_ROOT_DIR={prefix}", "-DOPENSSL_USE_STATIC_LIBS=ON", "-DDATAFLUX_PROGRAMS=ON",
                "-DDATAFLUX_ZSTD=OFF"]
    # In Debian's folder for this processor, of which CMake knows by its own compiler alone.
    options.append(f"-DBoost_DIR={next(prefix.glob('usr/lib/*/cmake/Boost-*'))}")
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    return options


def build_wheel(tools, python, prefix, out):
    """Builds below the cache, in a folder of its own for each state of the C++ sources."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        with tarfile.open(make_sdist(tools, python, folder)) as archive:
            # An archive of our own; the filter came with Python 3.11.4, and Debian 12 has 3.11.2.
            archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        unpacked = next(path for path in folder.iterdir() if path.is_dir())
        kept = cache() / f"wheel-build-{digest_of(tools, unpacked, prefix)}"
        source = kept / "source"
        shutil.rmtree(source, ignore_errors=True)
        # An sdist's files have one date, so that what was compiled of equal ones is not compiled again.
        shutil.copytree(unpacked, source)
        name_licences(tools, source, prefix)
        made = folder / "wheel"
        settings = [f"-Cbuild-dir={kept / 'build'}", f"-Cwheel.tags={TAG}",
                    *(f"-Ccmake.args={option}" for option in cmake_arguments(tools, prefix))]
        tools.run(python, "-m", "build", "--wheel", "--no-isolation", "-o", made, *settings, source,
                  where=folder, CMAKE_BUILD_PARALLEL_LEVEL=str(tools.jobs),
                  CCACHE_COMPILERTYPE="clang", CCACHE_COMPILERCHECK="content",
                  CCACHE_BASEDIR=str(kept), CCACHE_NOHASHDIR="1")
        wheel = next(made.glob("*.whl"))
        out.mkdir(parents=True, exist_ok=True)
        final = out / wheel.name
        shutil.move(wheel, final)
    os.utime(kept)
    for old in sorted(cache().glob("wheel-build-*"), key=lambda p: p.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old)
    return final


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=Path, default=ROOT / "build/wheel")
    arguments.add_argument("--fresh", action="store_true")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    options = arguments.parse_args()
    missing = [package for program, package in NEEDED.items() if shutil.which(program) is None]
    if missing:
        sys.exit(f"needed, by their Debian names: {' '.join(missing)}")
    python = venv.make(lock=HERE / "requirements.txt")
    with open(cache() / ".wheel.lock", "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        tools = Tools(python.parents[1], options.jobs)
        prefix = dependencies(tools, options.fresh)
        wheel = build_wheel(tools, python, prefix, options.out.resolve())
    if subprocess.run([python, HERE / "check.py", wheel], stdout=sys.stderr).returncode != 0:
        sys.exit(1)
    print(wheel)


if __name__ == "__main__":
    main()
