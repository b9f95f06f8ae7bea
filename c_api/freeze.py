#!/usr/bin/env python3
"""Keeps dataflux.h as programs of a release are compiled by it. Run it with each release, the first
one (0.1.0) too; before that nothing is kept.

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


def frozen(abi=ABI):
    """The folder of the one version that is kept; None before the first release."""
    folders = [path for path in abi.iterdir() if path.is_dir()]
    if len(folders) > 1:
        raise ValueError(f"{abi} has several versions")
    return folders[0] if folders else None


def freeze(abi=ABI):
    before = frozen(abi)
    if before is not None:
        shutil.rmtree(before)
    folder = abi / version()
    folder.mkdir()
    shutil.copyfile(describe.HEADER, folder / describe.HEADER.name)


if __name__ == "__main__":
    freeze()
