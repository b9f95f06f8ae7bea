#!/usr/bin/env python3
"""Compiles the README's C++ sample as it stands and runs it against the emulator; and sees that what
the pages of docs/ show in C++ compiles.

    readme.py --source DIR --build DIR --compiler CXX

A fence of a page is the body of a function, which has a `client`, and what a comment before the fence
declares: <!-- given: std::size_t size = 10; -->
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from consume import required  # noqa: E402

OBJECTS = {"train/a.bin": b"first", "train/b.bin": b"the second one", "other": b"not listed"}


def compile_sample(options, folder):
    text = (options.source / "README.md").read_text(encoding="utf-8")
    sample = re.search(r"^```cpp\n(.*?)^```", text, re.MULTILINE | re.DOTALL).group(1)
    (folder / "sample.cpp").write_text(sample)
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *required(options.build)], check=True,
                           text=True, capture_output=True).stdout.split()
    archive = next(options.build.rglob("libdataflux_compiled.a"))
    subprocess.run([options.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-pthread",
                    "-DDATAFLUX_COMPILED=1", f"-I{options.source}/include", "sample.cpp", archive,
                    *flags, "-o", "sample"], cwd=folder, check=True)


def compile_pages(options, folder):
    includes, functions = {"#include <dataflux/dataflux.hpp>", "#include <cassert>"}, []
    for page in sorted((options.source / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for given, body in re.findall(r"(?:^<!-- given: ([^\n]*) -->\n)?^```cpp\n(.*?)^```", text,
                                      re.MULTILINE | re.DOTALL):
            lines = body.splitlines()
            includes.update(line for line in lines if line.startswith("#include"))
            shown = "\n".join(line for line in lines if not line.startswith("#include"))
            functions.append(f"// {page.name}\nvoid fence_{len(functions)}(dataflux::gcs::client* client)"
                             f" {{\n{given}\n{{\n{shown}\n}}\n}}\n")
    if not functions:
        sys.exit("no page of docs/ shows C++")
    (folder / "pages.cpp").write_text("\n".join([*sorted(includes), *functions]))
    subprocess.run([options.compiler, "-std=c++20", "-fsyntax-only", "-DDATAFLUX_COMPILED=1",
                    f"-I{options.source}/include", "pages.cpp"], cwd=folder, check=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--source", "--build"):
        arguments.add_argument(name, type=Path, required=True)
    arguments.add_argument("--compiler", required=True)
    options = arguments.parse_args()
    emulator = options.build / "programs/dataflux-emulator"
    with tempfile.TemporaryDirectory(prefix="dataflux-readme-") as name:
        folder = Path(name)
        compile_pages(options, folder)
        compile_sample(options, folder)
        for object_name, content in OBJECTS.items():
            file = folder / "seed" / object_name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        server = subprocess.Popen([emulator, "--bucket", "my-bucket", "--seed", folder / "seed"],
                                  stdout=subprocess.PIPE, text=True)
        try:
            line = next(l for l in server.stdout if l.startswith("STORAGE_EMULATOR_HOST="))
            variable, endpoint = line.strip().split("=", 1)
            done = subprocess.run([folder / "sample"], env=dict(os.environ, **{variable: endpoint}),
                                  text=True, capture_output=True, timeout=60)
        finally:
            server.terminate()
            server.wait(10)
    expected = "".join(f"{name}: {len(content)} bytes, checked\n"
                       for name, content in OBJECTS.items() if name.startswith("train/"))
    if done.returncode != 0 or done.stdout != expected:
        sys.exit(f"exit status {done.returncode}, said:\n{done.stdout}{done.stderr}"
                 f"expected:\n{expected}")


if __name__ == "__main__":
    main()
