"""Builds what bench/run.py runs, and measures building itself (benchmark `build`)."""

import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from report import row

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench/peers"
COLD_LIMIT_S = 360.0
INCLUDE_LIMIT_S = 1.5
REBUILD_LIMIT_S = 30.0
# Changed one at a time; the costliest is reported.
CHANGED = ["codec/impl/json.ipp", "http/impl/http1.ipp", "exec/impl/budget.ipp"]


def programs_folder(build_dir):
    """Builds the benchmark programs and returns their build folder."""
    folder = build_dir or ROOT / "build/release"
    if build_dir is None:
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "dataflux_bench"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    return folder.resolve()


def first_match(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else "unknown"


def pkg_version(name):
    done = subprocess.run(["pkg-config", "--modversion", name], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() or "unknown"


def versions(folder):
    """What the figures depend on."""
    cache = (folder / "CMakeCache.txt").read_text()
    compiler = first_match(r"CMAKE_CXX_COMPILER:\w+=(.*)", cache)
    first_line = subprocess.run([compiler, "--version"], stdout=subprocess.PIPE, text=True,
                                check=True).stdout.splitlines()[0]
    header = (ROOT / "include/dataflux/version.hpp").read_text()
    cpu = first_match(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return {
        "dataflux": first_match(r'define DATAFLUX_VERSION "([^"]+)"', header),
        "libcurl": pkg_version("libcurl"),
        "openssl": pkg_version("openssl"),
        "simdjson": pkg_version("simdjson"),
        "compiler": first_line,
        "linux": platform.release().split("-")[0],
        "cpu": f"{cpu} x {os.cpu_count()}",
    }


def peers():
    """Builds each peer whose tools are there: (name, command, version)."""
    found = []
    if shutil.which("cargo") is None:
        print("bench: no cargo, so object_store is not measured")
    else:
        target = ROOT / "build/peers/object_store"
        subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--target-dir",
                        target], cwd=PEERS / "object_store", check=True)
        lock = (PEERS / "object_store/Cargo.lock").read_text()
        found.append(("object_store", [target / "release/bench-object-store"],
                      first_match(r'name = "object_store"\nversion = "([^"]+)"', lock)))
    if shutil.which("go") is None:
        print("bench: no go, so google-cloud-go is not measured")
    else:
        program = ROOT / "build/peers/bench-google-cloud-go"
        subprocess.run(["go", "build", "-o", program, "."], cwd=PEERS / "google-cloud-go",
                       check=True)
        modules = (PEERS / "google-cloud-go/go.mod").read_text()
        found.append(("google-cloud-go", [program],
                      first_match(r"cloud.google.com/go/storage v(\S+)", modules)))
    return found


def copy_sources(into):
    """The files of this working tree that version control knows or would take."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, into / name)


def timed(command, cwd):
    """Wall seconds of a command, compiler caches off."""
    start = time.monotonic()
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "CCACHE_DISABLE": "1"})
    return time.monotonic() - start


def include_seconds(source_folder, scratch, defines, rounds):
    """Seconds to compile a source that only includes all of the library."""
    source = scratch / "include_all.cpp"
    source.write_text("#include <dataflux/dataflux.hpp>\n")
    command = ["c++", "-std=c++20", "-O2", *defines, f"-I{source_folder}/include", "-c", source,
               "-o", scratch / "include_all.o"]
    return [timed(command, scratch) for _ in range(rounds)]


def limit_row(case, samples, limit):
    return row(case, "s", statistics.median(samples), "limit", limit,
                   [sample / limit for sample in samples])


def measure(options):
    """Times building, in a copy of the sources. `--quick` leaves out the cold build and what
    stands on it."""
    rows = []
    (ROOT / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="bench-sources-") as name:
        scratch = pathlib.Path(name)
        copy = scratch / "sources"
        copy_sources(copy)
        rounds = 1 if options.quick else options.rounds
        compiled = include_seconds(copy, scratch, ["-DDATAFLUX_COMPILED=1"], rounds)
        whole = include_seconds(copy, scratch, [], rounds)
        rows.append(limit_row("include, compiled", compiled, INCLUDE_LIMIT_S))
        rows.append(row("include, header-only", "s", statistics.median(whole), "compiled",
                            statistics.median(compiled),
                            [a / b for a, b in zip(whole, compiled)]))
        if options.quick:
            return rows
        jobs = ["-j", str(os.cpu_count())]
        subprocess.run(["cmake", "--preset", "dev"], cwd=copy, check=True,
                       stdout=subprocess.DEVNULL)
        build = ["cmake", "--build", "build/dev", "--target", "dataflux_tests", *jobs]
        rows.append(limit_row("tests, cold", [timed(build, copy)], COLD_LIMIT_S))
        rebuilds = []
        for changed in CHANGED:
            file = copy / "include/dataflux" / changed
            if file.exists():
                file.write_text(file.read_text() + "\n")
                rebuilds.append(timed(build, copy))
        if rebuilds:
            rows.append(limit_row("tests, one .ipp changed", [max(rebuilds)], REBUILD_LIMIT_S))
    return rows
