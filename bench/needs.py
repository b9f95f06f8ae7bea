"""What benchmarks need: Debian packages, built programs, other people's clients, room for files.

TABLE holds what a benchmark needs beyond what all are built with (`test_packages` of ./dev, the
target dataflux_bench). `bench/run.py --packages` and `--targets` print it for ./dev.
"""

import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLIENTS = ROOT / "bench/peers"
FROM_PYPI = ["python3-venv", "ca-certificates"]
# By benchmark, and by the option with which alone it needs this: Debian packages, CMake targets.
TABLE = {
    ("cp", None): (["rclone", *FROM_PYPI], ["dataflux_command", "dataflux-emulator"]),
    ("dataloader", None): (FROM_PYPI, ["dataflux-emulator"]),
    ("feed", None): (FROM_PYPI, ["dataflux-emulator"]),
    ("shards", None): (["curl", *FROM_PYPI], ["dataflux-emulator"]),
    ("fsspec", None): (FROM_PYPI, ["dataflux-emulator"]),
    ("checkpoints", None): (FROM_PYPI, ["dataflux-emulator"]),
    ("shards_write", None): ([], ["dataflux-emulator"]),
    ("list_socket", None): (FROM_PYPI, []),
    ("languages", "peers"): (FROM_PYPI, []),
    ("s3", None): (["valgrind", *FROM_PYPI], ["dataflux-emulator"]),
    ("save", "peers"): (FROM_PYPI, ["dataflux-emulator"]),
    ("epoch_sim", "socket"): ([], ["dataflux-emulator"]),
    ("simulate", None): ([], ["dataflux_command", "dataflux-emulator"]),
}
# By client that --peers measures: what builds it, how its manifest says the least version of that,
# the manifest, the Debian package that will do, and from which release of Debian on. The package
# cargo is too old in Debian 12 and 13; go 1.21 and newer fetches the go that go.mod asks for.
PEER_TOOLS = {
    "object_store": ("cargo", r'rust-version = "([\d.]+)"', "Cargo.toml", "cargo-web", 12),
    "google-cloud-go": ("go", r"^go ([\d.]+)$", "go.mod", "golang-go", 13),
}
PROGRAMS = {"dataflux_bench": "bench/macro/bench_load_server",
            "dataflux_command": "programs/dataflux",
            "dataflux-emulator": "programs/dataflux-emulator"}
CORES = {0, 1}  # the server's and the client's
SPARE = 16 << 20  # for folders, and for what is beside the files


def rows_of(options):
    """The rows of TABLE that count for the names and options given."""
    return [row for (name, option), row in TABLE.items()
            if name in options.names and (option is None or getattr(options, option))]


def debian_release():
    """12, 13 and so on; what has no number is newer; 0: not Debian."""
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return 0
    if system["ID"] != "debian":
        return 0
    return int(system.get("VERSION_ID", sys.maxsize))


def packages(options, peers):
    """`peers`: clients in other languages that are to be built. Whoever has a tool for one keeps
    it: cargo-web would replace cargo."""
    wanted = [package for packages_of_row, _ in rows_of(options) for package in packages_of_row]
    for peer in peers:
        tool, _, _, package, since = PEER_TOOLS[peer]
        if shutil.which(tool) is None and debian_release() >= since:
            wanted += [package, "ca-certificates"]
    return list(dict.fromkeys(wanted))


def targets(options):
    wanted = ["dataflux_bench"]
    wanted += [target for _, targets_of_row in rows_of(options) for target in targets_of_row]
    return list(dict.fromkeys(wanted))


def check(options, folder):
    """Ends the program if something is not there without which nothing is measured."""
    if shutil.which("taskset") is None:
        raise SystemExit("bench: needs taskset (package util-linux)")
    if not CORES <= os.sched_getaffinity(0):
        raise SystemExit("bench: needs two cores, 0 for the server and 1 for the client; this "
                         f"process may use {sorted(os.sched_getaffinity(0))}")
    missing = [target for target in targets(options) if not (folder / PROGRAMS[target]).exists()]
    if missing:
        raise SystemExit(f"bench: {', '.join(missing)}: not built in {folder}; ./dev bench builds")


def version_of(text):
    """(1, 88) for "1.88"; () where no version is in the text."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else ()


def find_tool(peer):
    """The program that builds this peer; nothing where it is missing or too old, which is said."""
    tool, pattern, manifest, package, since = PEER_TOOLS[peer]
    home = CLIENTS / peer
    least = re.search(pattern, (home / manifest).read_text(), re.MULTILINE).group(1)
    there = "there is none"
    if shutil.which(tool) is not None:
        # Asked in the client's folder, where rustup and go choose the one that will build it.
        done = subprocess.run([tool, "version" if tool == "go" else "--version"], cwd=home,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode == 0 and version_of(done.stdout) >= version_of(least):
            return tool
        there = f'the one here says "{" ".join(done.stdout.split())}"'
    print(f"bench: {peer} is not measured: it needs {tool} {least} or newer, and {there} "
          f"(Debian {since} and newer: package {package}; else from {tool}'s makers)")
    return None


def packages_of(python):
    """The folder of an environment's packages."""
    done = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(done.stdout.strip())


def from_pypi(name, beside=None):
    """What bench/peers/NAME/requirements.txt pins, in a virtual environment below build/: its
    python, and {client: version}. Nothing where that cannot be had, which is said. `beside`: the
    python of another environment, whose packages are there, too."""
    wanted, home = CLIENTS / name / "requirements.txt", ROOT / "build/peers" / name
    python = home / "bin/python3"
    pinned = dict(re.findall(r"^([\w-]+)==(.*)$", wanted.read_text(), re.MULTILINE))
    done = subprocess.run([sys.executable, "-m", "venv", home], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    why = "python3 -m venv fails (package python3-venv)"
    if done.returncode == 0:
        if beside is not None:
            (packages_of(python) / "beside.pth").write_text(f"{packages_of(beside)}\n")
        done = subprocess.run([python, "-m", "pip", "install", "--quiet",
                               "--disable-pip-version-check", "--only-binary", ":all:", "-r",
                               wanted], check=False)
        why = "pip cannot install them from PyPI"
    if done.returncode != 0:
        print(f"bench: the clients of bench/peers/{name} are not measured: {why}")
        return None, {}
    return python, pinned


def scratch(room):
    """A temporary folder with room for so many bytes: in memory, where no disk has a say, or else
    below build/, which is said."""
    memory, disk = pathlib.Path("/dev/shm"), ROOT / "build"
    room += SPARE
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= room:
        return tempfile.TemporaryDirectory(dir=memory, prefix="bench-")
    disk.mkdir(exist_ok=True)
    if shutil.disk_usage(disk).free < room:
        raise SystemExit(f"bench: needs {room >> 20} MiB free in {memory} or in {disk}")
    print(f"bench: {memory} has no {room >> 20} MiB free, so files are in {disk}, and the disk "
          "has a say in the figures")
    return tempfile.TemporaryDirectory(dir=disk, prefix="bench-")
