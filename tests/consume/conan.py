#!/usr/bin/env python3
"""Has Conan make the package as a user does, header-only and compiled, under --full only.

    conan.py --source DIR --emulator PROGRAM --compiler CXX --tools FOLDER

Conan itself comes from PyPI into FOLDER, once. What the recipe requires are stubs with the names,
versions and CMake targets of Conan Center, with this system's libraries behind them; so nothing
else is fetched. `conan create` runs test_package, here against the emulator. Exit status 77: not
asked for, or Conan cannot be had.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "cli"), str(HERE.parent / "judges")]
from install import install_python  # noqa: E402
from service import Emulator, environment  # noqa: E402

SKIPPED = 77
# As in Conan Center in August 2026, in the order in which they need each other.
STUBS = {"openssl": "3.6.3", "libcurl": "8.21.0", "simdjson": "4.6.4", "pugixml": "1.16",
         "isa-l": "2.30.0", "xxhash": "0.8.3"}
TARGETS = ["CURL::libcurl", "OpenSSL::SSL", "OpenSSL::Crypto", "simdjson::simdjson",
           "pugixml::pugixml"]
OBJECTS = {"train/a": b"first", "train/b": os.urandom(8).hex().encode()}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def install(folder):
    """Puts Conan into a virtual environment; left alone when it is there as asked."""
    requirements = HERE / "requirements.txt"
    wanted = sys.version + requirements.read_text()
    stamp = folder / "stamp"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    if importlib.util.find_spec("ensurepip") is None:
        skip("Debian's package python3-venv is not here")
    try:
        install_python(folder, requirements)
    except SystemExit as failed:
        skip(f"Conan does not come from PyPI: {failed}")
    stamp.write_text(wanted)


def fail(why, log):
    shown = [line for line in log.splitlines() if not line.startswith("-- Installing:")]
    sys.exit("\n".join([*shown, f"conan.py: {why}"]))


class Conan:
    """Conan with a home of its own, and no server to ask."""

    def __init__(self, options, folder):
        self.source, self.folder = options.source, folder
        self.program = options.tools / "bin/conan"
        self.environment = environment(CONAN_HOME=str(folder / "home"), CXX=options.compiler,
                                       PYTHONDONTWRITEBYTECODE="1")
        self.call("profile", "detect")
        self.call("remote", "remove", "*")
        self.settings = ["-s", "build_type=Debug", "-s", "compiler.cppstd=20"]
        cmake = "tools.cmake.cmaketoolchain"
        flags = {"CMAKE_CXX_FLAGS_DEBUG": {"value": "-O0", "cache": True, "type": "STRING",
                                           "docstring": "no -g, for what is run but once"},
                 "CMAKE_UNITY_BUILD": {"value": "ON", "cache": True, "type": "BOOL",
                                       "docstring": "headers are parsed once for several sources"}}
        conf = [f"{cmake}:generator=Ninja", f"{cmake}:extra_variables={flags}",
                # The source tree stays as it is.
                f"{cmake}:user_presets=",
                f"tools.cmake.cmake_layout:test_folder={folder}/test_package"]
        self.conf = [word for line in conf for word in ("-c", line)]

    def call(self, *command):
        """(standard output, what it said meanwhile)"""
        done = subprocess.run([self.program, *map(str, command)], env=self.environment,
                              cwd=self.folder, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True)
        if done.returncode != 0:
            fail(f"failed: conan {' '.join(map(str, command))}", done.stdout + done.stderr)
        return done.stdout, done.stderr

    def create(self, compiled):
        """(what making the package said, what testing it said, the package's folder and type)"""
        graph, log = self.call("create", self.source, "--format=json", *self.settings, *self.conf,
                               "-o", f"dataflux/*:compiled={compiled}")
        nodes = json.loads(graph)["graph"]["nodes"].values()
        made = next(n for n in nodes if n["name"] == "dataflux" and n["package_folder"])
        making, testing = log.split("======== Launching test_package ========")
        return making, testing, Path(made["package_folder"]), made["package_type"]


def check(conan, compiled):
    making, testing, package, kind = conan.create(compiled)
    # CMakeDeps says this of a target that it has made; one of the system's is found in silence.
    for target in TARGETS:
        if f"arget declared '{target}'" not in making:
            fail(f"dataflux was made with a {target} that is not Conan's", making)
    # Of ISA-L, which is asked for QUIET, it says nothing; but then pkg-config is not asked.
    if "Checking for module" in making:
        fail("dataflux was made with an ISA-L that is not Conan's", making)
    for target in [*TARGETS, "isa-l::isa-l"]:
        if f"arget declared '{target}'" not in testing:
            fail(f"a user's program was made with a {target} that is not Conan's", testing)
    for name, content in OBJECTS.items():
        if f"{name}: {content.decode()}\n" not in testing:
            fail(f"test_package has not read {name} from the emulator", testing)
    # As a user runs it, with nothing to ask: the bucket is one in memory.
    program = next((conan.folder / "test_package").rglob("test_package"))
    said = subprocess.run([program], env=environment(), capture_output=True, text=True)
    if said.returncode != 0 or "train/b: the second one\n" not in said.stdout:
        fail("test_package fails without an emulator", said.stdout + said.stderr)
    form, expected = (("compiled", "static-library") if compiled else
                      ("header-only", "header-library"))
    if f", {form}: 2 objects listed, 2 read and checked\n" not in testing:
        fail(f"test_package was not {form}", testing)
    if kind != expected:
        fail(f"the package is a {kind}, not a {expected}", making)
    files = {str(f.relative_to(package)) for f in package.rglob("*") if f.is_file()}
    there = {f for f in files if not f.startswith(("include/dataflux/", "conan"))}
    archive = {"lib/libdataflux_compiled.a"} if compiled else set()
    if there != {"licenses/LICENSE"} | archive:
        fail(f"besides headers the package holds {sorted(there)}", making)
    if "include/dataflux/dataflux.hpp" not in files:
        fail("the package has no headers", making)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--source", type=Path, required=True)
    arguments.add_argument("--emulator", required=True)
    arguments.add_argument("--compiler", required=True)
    arguments.add_argument("--tools", type=Path, required=True)
    options = arguments.parse_args()
    if os.environ.get("DATAFLUX_TEST_FULL") != "1":
        skip("run under --full only")
    install(options.tools)
    emulator = Emulator(options.emulator, "bucket")
    try:
        for name, content in OBJECTS.items():
            emulator.put(name, content)
        with tempfile.TemporaryDirectory(prefix="dataflux-conan-") as folder:
            conan = Conan(options, Path(folder))
            for name, version in STUBS.items():
                conan.call("create", HERE / "conan_stub", "--name", name, "--version", version,
                           *conan.settings)
            conan.environment |= {"STORAGE_EMULATOR_HOST": emulator.endpoint,
                                  "DATAFLUX_TEST_BUCKET": "bucket"}
            for compiled in (False, True):
                check(conan, compiled)
    finally:
        emulator.close()


if __name__ == "__main__":
    main()
