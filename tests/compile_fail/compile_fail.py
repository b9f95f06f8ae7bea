#!/usr/bin/env python3
"""Compiles each *.cpp beside it twice: as it is, which must work, and with -DWRONG, which must fail
with the message of its `// expect:` line (a regular expression).

    compile_fail.py --source DIR --compiler CXX
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def compile_source(options, file, *flags):
    return subprocess.run([options.compiler, "-std=c++20", "-fsyntax-only", "-Werror=unused-result",
                           "-DDATAFLUX_COMPILED=1", f"-I{options.source}/include", *flags, file],
                          capture_output=True, text=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--source", type=Path, required=True)
    arguments.add_argument("--compiler", required=True)
    options = arguments.parse_args()
    problems = []
    files = sorted(HERE.glob("*.cpp"))
    for file in files:
        expected = re.search(r"^// expect: (.+)$", file.read_text(), re.MULTILINE).group(1)
        right, wrong = compile_source(options, file), compile_source(options, file, "-DWRONG")
        if right.returncode != 0:
            problems.append(f"{file.name} should compile:\n{right.stderr}")
        if wrong.returncode == 0:
            problems.append(f"{file.name} should not compile with -DWRONG")
        elif not re.search(expected, wrong.stderr):
            problems.append(f"{file.name} fails, but not with '{expected}':\n{wrong.stderr}")
    if not files or problems:
        sys.exit("\n".join(problems) or "no source to compile")


if __name__ == "__main__":
    main()
