#!/usr/bin/env python3
"""Checks that each test source has a namespace of its own, named as the file.

    tests/style/tests.py

Several sources are one translation unit (DATAFLUX_UNITY), so names of one must not meet another's.
The name may begin with the folder's, as s3_objects_test, where two folders of a suite share a noun.
Exit status 1, with the files' names, where one has none.
"""

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
FOLDERS = ("unit", "integration", "thread", "cli")


def main():
    sources = [path for folder in FOLDERS for path in sorted((TESTS / folder).rglob("*_test.cpp"))]
    bare = [path for path in sources
            if not re.search(rf"^namespace (?:{path.parent.name}_)?{path.stem} {{$", path.read_text(), re.MULTILINE)]
    for path in bare:
        print(f"{path.relative_to(TESTS.parent)}: what it defines is not in `namespace {path.stem}`")
    if not sources:
        sys.exit("no test source was found")
    sys.exit(1 if bare else 0)


if __name__ == "__main__":
    main()
