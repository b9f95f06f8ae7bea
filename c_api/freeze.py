#!/usr/bin/env python3
"""Keeps dataflux.h as programs of this version are compiled by it.

    c_api/freeze.py     into c_api/abi/VERSION, in place of what was frozen before

VERSION is that of CHANGELOG's first section, such as 0.1. tests/c_api/frozen.py holds the header of
today, and the library, against it. README.md says when to run it.
"""

import re
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import describe  # noqa: E402

ABI = describe.DESCRIPTION.parent
CHANGELOG = describe.HERE.parent / "CHANGELOG.md"


def version():
    return re.search(r"^## (\d+\.\d+)\.", CHANGELOG.read_text(), re.MULTILINE).group(1)


def frozen():
    """The folder of the one version that is kept."""
    folder, = (path for path in ABI.iterdir() if path.is_dir())
    return folder


def main():
    for folder in [path for path in ABI.iterdir() if path.is_dir()]:
        shutil.rmtree(folder)
    folder = ABI / version()
    folder.mkdir()
    shutil.copyfile(describe.HEADER, folder / describe.HEADER.name)


if __name__ == "__main__":
    main()
