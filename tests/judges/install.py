#!/usr/bin/env python3
"""Puts the judges that tests/judges names, by exact version, into a folder; the network is needed.

    install.py FOLDER

    FOLDER/venv    the clients for Python, moto   FOLDER/node       the client for Node
    FOLDER/bin     fake-gcs-server, versitygw,    FOLDER/venv-s3fs  s3fs, which wants another botocore
                   aws_sdk_go_judge               FOLDER/stamp      what is in there

What is in there already, and still as asked, is left alone. What needs a newer go than is here is left out, which
is said: Debian 12 has 1.19, which builds the first of the three in bin.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The newest that the go of Debian 12 (1.19) builds.
FAKE_GCS_SERVER = "github.com/fsouza/fake-gcs-server@v1.47.3"
VERSITYGW = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
LATER_GO = (1, 25)  # of versitygw and of the program of aws_sdk_go
NEEDED = {"node": "nodejs", "npm": "npm", "go": "golang-go", "rclone": "rclone"}


def missing():
    """Debian's names of the packages whose programs are not here."""
    out = [package for program, package in NEEDED.items() if shutil.which(program) is None]
    try:
        import ensurepip  # noqa: F401
    except ImportError:
        out.append("python3-venv")
    return out


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\ninstall.py: failed: {' '.join(map(str, command))}")


def install_python(folder, requirements):
    venv.create(folder, with_pip=True, clear=True, symlinks=True)
    run(folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--only-binary", ":all:", "-r", requirements)


def install_node(folder):
    folder.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder)
    run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=folder)


def go_version():
    """(1, 26) for go 1.26.8; of one that fetches what a module asks for, what it would fetch."""
    said = subprocess.run(["go", "version"], cwd=HERE / "aws_sdk_go", stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    found = re.search(r"go(\d+)\.(\d+)", said.stdout)
    return tuple(map(int, found.groups())) if found else (0, 0)


def install_go(folder):
    run("go", "install", FAKE_GCS_SERVER, env=os.environ | {"GOBIN": str(folder)})
    if go_version() < LATER_GO:
        wanted_go = ".".join(map(str, LATER_GO))
        print(f"install.py: go {wanted_go} is not here: versitygw and aws-sdk-go are not asked")
        return
    run("go", "install", VERSITYGW, env=os.environ | {"GOBIN": str(folder)})
    run("go", "build", "-mod=readonly", "-o", folder / "aws_sdk_go_judge", ".", cwd=HERE / "aws_sdk_go")


def wanted():
    go = "later go" if go_version() >= LATER_GO else ""
    digest = hashlib.sha256("".join((sys.version, FAKE_GCS_SERVER, VERSITYGW, go)).encode())
    asked = ("requirements.txt", "requirements-s3fs.txt", "package-lock.json", "aws_sdk_go/go.mod",
             "aws_sdk_go/main.go")
    for name in asked:
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    folder = arguments.parse_args().folder.resolve()
    stamp = folder / "stamp"
    if packages := missing():
        sys.exit("install.py: needed, by the names of Debian's packages: " + " ".join(packages))
    if stamp.exists() and stamp.read_text() == wanted():
        return
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    for name in ("", "-s3fs"):
        install_python(folder / f"venv{name}", HERE / f"requirements{name}.txt")
    install_node(folder / "node")
    install_go(folder / "bin")
    stamp.write_text(wanted())


if __name__ == "__main__":
    main()
