"""The demo of training: a job that was killed ends as one that was not."""

import os
import subprocess
import sys
from pathlib import Path

TRAIN = Path(__file__).resolve().parents[3] / "examples/python/with_torch/train.py"


def test_a_killed_job_ends_with_the_same_samples_and_loss(emulator, bucket):
    done = subprocess.run([sys.executable, "-W", "ignore", TRAIN, "--url", bucket("demo"), "--images", "500"],
                          text=True, timeout=280, capture_output=True,
                          env={**os.environ, **emulator.environment})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "killed at step" in done.stdout and "goes on in epoch" in done.stdout
    assert "the same samples and the same loss in each of 48 steps" in done.stdout
