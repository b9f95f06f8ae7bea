"""The samples of the pages about torch, as they stand there, one behind the other."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dataflux
import dataflux.torch

pytestmark = pytest.mark.without_tokens  # the samples have the clients of the environment

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize("pages, count", [("torch training", 11), ("checkpoints", 6), ("webdataset", 2),
                                          ("migrating-s3-pipes", 3)])
def test_samples_run_as_they_stand(emulator, tmp_path, pages, count):
    text = "\n".join((DOCS / f"{page}.md").read_text() for page in pages.split())
    samples = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert len(samples) == count
    bucket = f"my-bucket-{pages.split()[0]}"
    emulator.add_bucket(bucket)
    program = "\n".join(samples).replace("my-bucket", bucket)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], text=True, timeout=200,
                          cwd=tmp_path, capture_output=True, env={**os.environ, **emulator.environment})
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_samples_of_readme_run_as_they_stand(emulator, tmp_path):
    samples = re.findall(r"^```python\n(.*?)^```$", (DOCS.parent / "README.md").read_text(), re.M | re.S)
    emulator.add_bucket("my-bucket-readme")
    with emulator.client() as client:
        for number in range(130):
            client.put(f"gs://my-bucket-readme/train/{number:03}", b"%d" % number)
        job = tmp_path / "train.py"
        job.write_text("\n".join(samples).replace("my-bucket", "my-bucket-readme"))
        done = subprocess.run([sys.executable, "-W", "ignore", job], text=True, timeout=200, cwd=tmp_path,
                              capture_output=True, env={**os.environ, **emulator.environment})
        assert done.returncode == 0, done.stdout + done.stderr
        told = done.stdout.splitlines()
        assert told[:2] == ["train/000 1", "train/001 1"] and len(told) == 133
        assert told[130:] == ["64 samples", "64 samples", "2 samples"]
        assert dataflux.torch.load("gs://my-bucket-readme/run/step-1.pt", client=client) == {"step": 1}


def test_the_whole_job_goes_on_after_a_kill(emulator, bucket, tmp_path):
    """It is killed while it saves: in the midst of an epoch, and at its end."""
    for number in range(1000):
        bucket.put(f"train/{number:04}", b"%d" % number)
    [program] = re.findall(r"^```python\n(# train.py\n.*?)^```$", (DOCS / "torch.md").read_text(), re.M | re.S)
    job = tmp_path / "train.py"
    job.write_text(program.replace("my-bucket", bucket.name))
    how = {"args": [sys.executable, "-W", "ignore", job], "text": True, "stdout": subprocess.PIPE,
           "env": {**os.environ, **emulator.environment, "PYTHONUNBUFFERED": "1"}}
    whole = subprocess.run(**how, timeout=200, check=True).stdout.splitlines()
    assert len(whole) == 40
    for save in (3, 4):
        dataflux.Client(**emulator.options).delete(bucket("run/last.pt"))
        emulator.faults({"verb": "objects.insert", "object": "run/last.pt", "from": save, "action": "stall",
                         "where": "before_reply", "ms": 0})
        killed = subprocess.Popen(**how, start_new_session=True)
        begun = [killed.stdout.readline().rstrip("\n") for _ in range(5 * save)]
        assert begun == whole[:5 * save]
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate(timeout=60)
        emulator.faults()
        rest = subprocess.run(**how, timeout=200, check=True).stdout.splitlines()
        # The object that was under way when it was killed may be there all the same.
        assert rest in (whole[5 * save - 5:], whole[5 * save:])
