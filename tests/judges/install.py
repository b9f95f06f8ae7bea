#!/usr/bin/env python3
"""Puts the judges that tests/judges names, by exact version, into a folder; the network is needed.

    install.py FOLDER

    FOLDER/venv    the clients for Python        FOLDER/node    the client for Node
    FOLDER/bin     fake-gcs-server               FOLDER/stamp   what is in there

What is in there already, and still as asked, is left alone.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The newest that the go of Debian 12 (1.19) builds.
FAKE_GCS_SERVER = "github.com/fsouza/fake-gcs-server@v1.47.3"
NEEDED = {"node": "nodejs", "npm": "npm", "go": "golang-go"}


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


def install_fake_gcs_server(folder):
    run("go", "install", FAKE_GCS_SERVER, env=os.environ | {"GOBIN": str(folder)})


def wanted():
    digest = hashlib.sha256(sys.version.encode() + FAKE_GCS_SERVER.encode())
    for name in ("requirements.txt", "package-lock.json"):
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", type=Path)
    folder = arguments.parse_args().folder.resolve()
    stamp = folder / "stamp"
    if stamp.exists() and stamp.read_text() == wanted():
        return
    if packages := missing():
        sys.exit("install.py: needed, by the names of Debian's packages: " + " ".join(packages))
    folder.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    install_python(folder / "venv", HERE / "requirements.txt")
    install_node(folder / "node")
    install_fake_gcs_server(folder / "bin")
    stamp.write_text(wanted())


if __name__ == "__main__":
    main()
