"""Builds the clients in other languages, and measures building itself (benchmark `build`)."""

import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
import time

import needs
from report import row

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLD_LIMIT_S = 360.0
# CPU seconds that the compiler takes for a source that includes the front page, by form; and MiB.
SOURCE_LIMITS = {"compiled": (["-DDATAFLUX_COMPILED=1"], 2.5), "header-only": ([], 25.0)}
SOURCE_LIMIT_MIB = 1024
REBUILD_LIMIT_S = 30.0
SOURCES = ["CMakeLists.txt", "CMakePresets.json", "cmake", "include", "src", "tests", "examples", "programs"]
# Changed one at a time; the costliest is reported.
CHANGED = ["codec/impl/json.ipp", "http/impl/http1.ipp", "exec/impl/budget.ipp"]


def first_match(pattern, text):
    found = re.search(pattern, text)
    return found.group(1) if found else "unknown"


def pkg_version(name):
    if shutil.which("pkg-config") is None:
        return "unknown"
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


def peers(wanted):
    """Builds each of these clients whose tool is there: (name, command, version)."""
    target = ROOT / "build/peers"
    go_program = target / "bench-google-cloud-go"
    ways = {
        "object_store": (["build", "--release", "--locked", "--quiet", "--target-dir",
                          target / "object_store"],
                         [target / "object_store/release/bench-object-store"],
                         "Cargo.lock", r'name = "object_store"\nversion = "([^"]+)"'),
        "google-cloud-go": (["build", "-buildvcs=false", "-o", go_program, "."], [go_program],
                            "go.mod", r"cloud.google.com/go/storage v(\S+)"),
    }
    found = []
    for name in wanted:
        arguments, command, pinned, pattern = ways[name]
        tool = needs.find_tool(name)
        home = needs.CLIENTS / name
        if tool is None:
            continue
        print(f"bench: {tool} builds {name}, which takes minutes the first time", flush=True)
        if subprocess.run([tool, *arguments], cwd=home, check=False).returncode != 0:
            print(f"bench: {name} is not measured: {tool} could not build it")
            continue
        found.append((name, command, first_match(pattern, (home / pinned).read_text())))
    return found


def copy_sources(into):
    """What the tests are built from, whether or not there is version control."""
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, into / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            into.mkdir(exist_ok=True)
            shutil.copy2(source, into / name)


def timed(command, cwd):
    """Wall seconds of a command, compiler caches off."""
    start = time.monotonic()
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "CCACHE_DISABLE": "1"})
    return time.monotonic() - start


def compile_cost(folder, scratch, defines):
    """(CPU seconds, MiB) of compiling an example as a user does who includes the front page."""
    source = scratch / "reads.cpp"
    example = (folder / "examples/07_read.cpp").read_text()
    source.write_text(example.replace("dataflux/gcs/client.hpp", "dataflux/dataflux.hpp"))
    command = ["c++", "-std=c++20", "-O2", *defines, f"-I{folder}/include", "-c", source,
               "-o", scratch / "reads.o"]
    process = subprocess.Popen(command, env={**os.environ, "CCACHE_DISABLE": "1"})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"bench: {source} does not compile")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def source_rows(folder, scratch, rounds):
    """What a user's own source costs to compile, in both forms."""
    rows = []
    for form, (defines, limit) in SOURCE_LIMITS.items():
        samples = [compile_cost(folder, scratch, defines) for _ in range(rounds)]
        seconds, memory = zip(*samples)
        rows.append(limit_row(f"a source, {form}: CPU", seconds, limit))
        rows.append(limit_row(f"a source, {form}: memory", memory, SOURCE_LIMIT_MIB,
                              "MiB"))
    return rows


def limit_row(case, samples, limit, unit="s"):
    return row(case, unit, statistics.median(samples), "limit", limit,
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
        rows += source_rows(copy, scratch, rounds)
        if options.quick:
            return rows
        jobs = ["-j", os.environ.get("JOBS") or str(os.cpu_count())]  # JOBS: ./dev, by memory
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
