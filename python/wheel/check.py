#!/usr/bin/env python3
"""Checks what a portable wheel holds: build.py does it after each build.

    python/wheel/check.py WHEEL      prints a line for each fault; exit status 1 if there is any

It runs in the environment of requirements.txt, whose pyelftools reads programs.
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from email.parser import Parser
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

HERE = Path(__file__).resolve().parent
HEADER = HERE.parents[1] / "c_api/include/dataflux.h"
MODULES = HERE.parent / "src"
LIBRARY = "dataflux/lib/libdataflux.so.0"
PROGRAMS = ("dataflux/bin/dataflux", "dataflux/bin/dataflux-emulator")
INSIDE = {"openssl", "curl", "simdjson", "pugixml", "libisal", "xxhash", "boost", "cli11", "zig", "libc++"}
# What every glibc has; each other library must be inside.
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1",
          "ld-linux-x86-64.so.2"}
NEWEST_GLIBC = (2, 28)
LARGEST = 12_000_000


def sections(path, kind):
    with path.open("rb") as file:
        yield from (part for part in ELFFile(file).iter_sections() if isinstance(part, kind))


def needed(path):
    return {tag.needed for part in sections(path, DynamicSection) for tag in part.iter_tags()
            if tag.entry.d_tag == "DT_NEEDED"}


def run_paths(path):
    return {tag.entry.d_tag for part in sections(path, DynamicSection) for tag in part.iter_tags()
            if tag.entry.d_tag in ("DT_RPATH", "DT_RUNPATH", "DT_TEXTREL")}


def versions(path):
    return {version.name for part in sections(path, GNUVerNeedSection)
            for _, each in part.iter_versions() for version in each}


def exported(path):
    with path.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        return {symbol.name for symbol in symbols
                if symbol.entry.st_shndx not in ("SHN_UNDEF", "SHN_ABS")
                and symbol.entry.st_info.bind != "STB_LOCAL"}


def declared():
    """The functions of the header."""
    return set(re.findall(r"\b(dataflux_\w+)\s*\(", re.sub(r"/\*.*?\*/|//[^\n]*", "", HEADER.read_text(),
                                                          flags=re.DOTALL)))


def faults_of_program(path, name):
    strangers = needed(path) - SYSTEM
    if strangers:
        yield f"{name} needs {', '.join(sorted(strangers))}"
    for tag in run_paths(path):
        yield f"{name} has {tag}"
    for version in versions(path):
        number = re.fullmatch(r"GLIBC_([0-9.]+)", version)
        if number is None or tuple(map(int, number[1].split("."))) > NEWEST_GLIBC:
            yield f"{name} needs {version}"
    if name in PROGRAMS and not path.stat().st_mode & 0o100:
        yield f"{name} cannot be executed"


def faults(wheel):
    if wheel.stat().st_size > LARGEST:
        yield f"it has {wheel.stat().st_size} bytes, more than {LARGEST}"
    if not wheel.name.endswith("-py3-none-manylinux_2_28_x86_64.whl"):
        yield f"its name is {wheel.name}"
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        folder = Path(folder)
        for entry in archive.infolist():
            made = Path(archive.extract(entry, folder))
            made.chmod(entry.external_attr >> 16 & 0o777 or 0o644)
        files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        modules = {str(path.relative_to(MODULES)) for path in MODULES.rglob("*")
                   if path.is_file() and "__pycache__" not in path.parts}
        information = next(name.split("/")[0] for name in files if ".dist-info/" in name)
        wanted = modules | {LIBRARY, *PROGRAMS}
        held = {name for name in files if not name.startswith(information)}
        for name in sorted(wanted - held):
            yield f"{name} is missing"
        for name in sorted(held - wanted):
            yield f"{name} is there, and nobody knows why"
        for name in (LIBRARY, *PROGRAMS):
            if name in files:
                yield from faults_of_program(folder / name, name)
        if LIBRARY in files:
            shown = exported(folder / LIBRARY)
            for name in sorted(shown ^ declared()):
                yield f"{name} is {'exported' if name in shown else 'not exported'} by {LIBRARY}"
        yield from faults_of_licences(folder / information)
    told = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True,
                          text=True)
    tag = re.search(r'platform\s+tag:\s+"manylinux_2_(\d+)_x86_64"', told.stdout)
    if tag is None or int(tag[1]) > NEWEST_GLIBC[1]:
        yield f"auditwheel: {told.stdout}{told.stderr}"


def faults_of_licences(information):
    described = Parser().parsestr((information / "METADATA").read_text())
    named = described.get_all("License-File", [])
    for name in named:
        if not (information / "licenses" / name).stat().st_size:
            yield f"the licence {name} is empty"
    if "LICENSE" not in named:
        yield "our own licence is missing"
    for library in sorted(INSIDE):
        if not any(name.startswith(f"LICENSE.{library}") for name in named):
            yield f"the licence of {library} is missing"
    if " AND " not in described["License-Expression"]:
        yield "the licences of what is inside are not named"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wheel = Path(sys.argv[1])
    found = list(faults(wheel))
    for fault in found:
        print(f"{wheel.name}: {fault}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
