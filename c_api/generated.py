"""What the generators of bindings have in common: the description of the C ABI, and their command
line.

    GENERATOR             prints the file that it makes
    GENERATOR --write     writes it
    GENERATOR --check     fails where the file that is there differs
"""

import json
import sys
from pathlib import Path

DESCRIPTION = Path(__file__).resolve().parent / "abi" / "dataflux.json"


def description():
    return json.loads(DESCRIPTION.read_text())


def main(text, path):
    """Carries out the command line of a generator, whose file `path` is to be `text`."""
    asked = sys.argv[1:]
    if asked == ["--write"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    elif asked == ["--check"]:
        if not path.exists() or path.read_text() != text:
            sys.exit(f"{path} differs from the description: run {sys.argv[0]} --write")
    elif asked:
        sys.exit(f"{sys.argv[0]} [--write | --check]")
    else:
        sys.stdout.write(text)
