#!/usr/bin/env python3
"""Runs one independent judge, under --full only; exit status 77 says that it was not asked.

    judge.py NAME --tools FOLDER --program PROGRAM [--library LIBRARY]

Clients judge the emulator, whose PROGRAM is started for each: google_cloud_storage with access,
settings, signed, retry and transfer_manager, gcsfs, pyarrow, obstore, node_storage; of its S3, plain and
over TLS, s3_boto3, s3_s3fs, s3_obstore, s3_rclone and s3_aws_sdk_go. Servers judge the client:
fake_gcs_server, s3_versitygw (plain and over TLS) and s3_moto, for which PROGRAM is the test. arrow is pyarrow again,
and judges the export of a listing, for which PROGRAM is a library that makes one. webdataset is compared with
dataflux.webdataset, and google-auth with how dataflux signs in (auth), on the emulator; both have LIBRARY.
FOLDER is what install.py has filled. `./dev test --full judge` does both.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cli"))
import s3_servers  # noqa: E402
from service import Emulator, environment, wait_until  # noqa: E402

SKIPPED = 77
# Debian's rclone signs no payload, over plain HTTP neither.
OF_EMULATOR = {"s3_rclone": ["--unsigned-payload", "allowed"]}
# What install.py leaves out where there is no go that builds it.
LEFT_OUT = {"s3_versitygw": "versitygw", "s3_aws_sdk_go": "aws_sdk_go_judge"}


def command_of(name, tools):
    if name == "node_storage":
        return ["node", "--test", HERE / "storage_judge.cjs"]
    if name == "s3_aws_sdk_go":
        return [tools / "bin/aws_sdk_go_judge"]
    venv = "venv-s3fs" if name == "s3_s3fs" else "venv"
    return [tools / venv / "bin/python", "-m", "unittest", "-v", f"{name}_judge"]


def judge_emulator(name, tools, program, library):
    emulator = Emulator(program, "judged")
    ours = {"DATAFLUX_LIBRARY": library, "PYTHONPATH": str(HERE.parents[1] / "python/src")} if library else {}
    try:
        return subprocess.run(
            [str(word) for word in command_of(name, tools)], cwd=HERE,
            env=environment(STORAGE_EMULATOR_HOST=emulator.endpoint, PYTHONDONTWRITEBYTECODE="1",
                            DATAFLUX_JUDGE_MODULES=str(tools / "node"), **ours)).returncode
    finally:
        emulator.close()


def judge_s3(name, tools, program):
    """0 when the judge is content with it plain, and over TLS, where payloads are not signed."""
    with tempfile.TemporaryDirectory() as folder:
        return max(abs(judge_s3_once(name, tools, program, folder, secure)) for secure in ((), ("--https",)))


def judge_s3_once(name, tools, program, folder, secure):
    authority = os.path.join(folder, "authority.pem")
    server = subprocess.Popen([program, "--service", "s3", "--until-input-ends", "--ca-file", authority, *secure,
                               *OF_EMULATOR.get(name, ())],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        found = {}
        while "AWS_ENDPOINT_URL_S3" not in found:
            line = server.stdout.readline()
            if not line:
                sys.exit("the emulator has ended")
            variable, _, value = line.strip().partition("=")
            found[variable] = value
        return subprocess.run(
            [str(word) for word in command_of(name, tools)], cwd=HERE,
            env=environment(**found, AWS_EC2_METADATA_DISABLED="true",
                            AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull,
                            PYTHONDONTWRITEBYTECODE="1", PYTHONWARNINGS="ignore",
                            **({"AWS_CA_BUNDLE": authority} if secure else {}))).returncode
    finally:
        server.stdin.close()
        server.wait(10)
        server.stdout.close()


def judge_s3_client(server, tools, program):
    """0 when the client is content with that server."""
    verdict = 0
    for secure in (False, True) if server == "versitygw" else (False,):
        print(f"{server}, {'over TLS' if secure else 'plain'}", flush=True)
        with s3_servers.serving(server, tools, secure) as found:
            done = subprocess.run([program, *s3_servers.ASKED[server]], env=environment(**found))
            verdict = max(verdict, abs(done.returncode))
    return verdict


def answers(endpoint):
    try:
        with urllib.request.urlopen(endpoint + "/storage/v1/b?project=judges", timeout=5):
            return True
    except urllib.error.URLError:
        return False


def make_bucket(endpoint):
    request = urllib.request.Request(endpoint + "/storage/v1/b?project=judges", b'{"name":"judged"}',
                                     {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=5).close()


def judge_client(tools, program):
    port = s3_servers.free_port()
    endpoint = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [str(tools / "bin/fake-gcs-server"), "-backend", "memory", "-scheme", "http", "-host",
         "127.0.0.1", "-port", str(port), "-public-host", f"127.0.0.1:{port}", "-external-url",
         endpoint], stderr=subprocess.DEVNULL)
    try:
        if not wait_until(lambda: answers(endpoint) or server.poll() is not None):
            sys.exit("fake-gcs-server does not answer")
        make_bucket(endpoint)
        return subprocess.run([program], env=environment(DATAFLUX_JUDGE_ENDPOINT=endpoint)).returncode
    finally:
        server.terminate()
        server.wait(10)


def judge_export(tools, library):
    return subprocess.run(
        [str(word) for word in command_of("arrow", tools)], cwd=HERE,
        env=environment(DATAFLUX_JUDGE_LIBRARY=library, PYTHONDONTWRITEBYTECODE="1")).returncode


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("name")
    arguments.add_argument("--tools", type=Path, required=True)
    arguments.add_argument("--program", required=True)
    arguments.add_argument("--library", type=os.path.abspath)
    options = arguments.parse_args()
    options.tools = options.tools.absolute()
    options.program = os.path.abspath(options.program)
    if not os.environ.get("DATAFLUX_TEST_FULL"):
        sys.exit(SKIPPED)
    if not (options.tools / "stamp").exists():
        sys.exit(f"{options.tools} is not complete: run {HERE}/install.py {options.tools}")
    if options.name == "fake_gcs_server":
        sys.exit(judge_client(options.tools, options.program))
    if options.name == "arrow":
        sys.exit(judge_export(options.tools, options.program))
    if options.name in LEFT_OUT and not (options.tools / "bin" / LEFT_OUT[options.name]).exists():
        print(f"{options.name} is not asked: it needs a newer go than is here")
        sys.exit(SKIPPED)
    if options.name.removeprefix("s3_") in s3_servers.PROGRAMS:
        sys.exit(judge_s3_client(options.name.removeprefix("s3_"), options.tools, options.program))
    if options.name.startswith("s3_"):
        sys.exit(judge_s3(options.name, options.tools, options.program))
    sys.exit(judge_emulator(options.name, options.tools, options.program, options.library))


if __name__ == "__main__":
    main()
