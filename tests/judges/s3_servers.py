"""Servers of S3 by other people, for judge.py: each is started for one run of the client's test, with buckets."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from service import wait_until

HERE = Path(__file__).resolve().parent
KEYS = {"AWS_ACCESS_KEY_ID": "testkey", "AWS_SECRET_ACCESS_KEY": "testsecret", "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1"}
# What only a server that judges signatures, regions, checksums and races can be asked; who gives keys of roles; who
# takes conditions without effect.
ASKED = {"versitygw": ["~[sts]~[lenient]"], "moto": ["~[strict]"]}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
        return True
    return False


def versitygw(tools, port, folder, certificate):
    for name in ("data", "versions"):
        (folder / name).mkdir()
    more = ["--cert", certificate[0], "--key", certificate[1]] if certificate else []
    return [tools / "bin/versitygw", "--access", KEYS["AWS_ACCESS_KEY_ID"], "--secret",
            KEYS["AWS_SECRET_ACCESS_KEY"], "--region", KEYS["AWS_REGION"], "--port", f"127.0.0.1:{port}", "--quiet",
            *more, "posix", "--versioning-dir", folder / "versions", folder / "data"]


def moto(tools, port, folder, certificate):
    return [tools / "venv/bin/moto_server", "-H", "127.0.0.1", "-p", str(port)]


PROGRAMS = {"versitygw": versitygw, "moto": moto}


@contextlib.contextmanager
def serving(name, tools, secure):
    """The environment in which a client of the running server finds it."""
    # Its files have attributes, which not every file system in memory knows.
    with tempfile.TemporaryDirectory(dir=tools, prefix=f"{name}-") as place:
        folder, port = Path(place), free_port()
        setup = [tools / "venv/bin/python", HERE / "s3_setup.py"]
        certificate = None
        if secure:
            certificate = folder / "certificate.pem", folder / "key.pem"
            subprocess.run([*setup, "certificate", *certificate], check=True)
        with (folder / "said").open("w") as said:
            server = subprocess.Popen(list(map(str, PROGRAMS[name](tools, port, folder, certificate))),
                                      stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: listens(port) or server.poll() is not None)
            if server.poll() is not None or not listens(port):
                sys.exit(f"{name} does not answer: {(folder / 'said').read_text()}")
            found = {**KEYS, "AWS_ENDPOINT_URL_S3": f"http{'s' * secure}://localhost:{port}",
                     "DATAFLUX_JUDGE_SERVER": name, "DATAFLUX_JUDGE_CA": str(certificate[0]) if secure else "",
                     "AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.devnull,
                     "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
            trusted = {"AWS_CA_BUNDLE": str(certificate[0])} if secure else {}
            subprocess.run([*setup, "buckets"], check=True, env={**os.environ, **found, **trusted})
            yield found
        finally:
            server.kill()  # moto does not end otherwise while connections are open
            server.wait(10)
