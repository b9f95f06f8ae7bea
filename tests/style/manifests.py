#!/usr/bin/env python3
"""Checks that both vcpkg.json have the version of version.hpp and the same dependencies.

    tests/style/manifests.py

(CMake and conanfile.py read the version there.) The port's has vcpkg's own tools besides. Prints
what differs; exit status 1 if anything does.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PORT = "cmake/vcpkg/ports/dataflux/vcpkg.json"


def manifest(name):
    read = json.loads((ROOT / name).read_text())
    read["dependencies"] = [d for d in read["dependencies"] if not (
        isinstance(d, dict) and d.get("host"))]
    return read


def main():
    header = (ROOT / "include/dataflux/version.hpp").read_text()
    version = re.search(r'DATAFLUX_VERSION "([^"]+)"', header).group(1)
    failed = False
    for name in ("vcpkg.json", PORT):
        if (said := manifest(name)["version"]) != version:
            print(f"{name}: version {said}, in version.hpp {version}")
            failed = True
    if manifest("vcpkg.json") != manifest(PORT):
        print(f"vcpkg.json and {PORT} differ in more than vcpkg's tools and their form")
        failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
