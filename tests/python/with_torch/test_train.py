"""The demos of training: a job that was killed ends as one that was not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.without_tokens  # it has the client of the environment

EXAMPLES = Path(__file__).resolve().parents[3] / "examples/python/with_torch"


def run(emulator, program, *arguments):
    done = subprocess.run([sys.executable, "-W", "ignore", EXAMPLES / program, *arguments],
                          text=True, timeout=280, capture_output=True,
                          env={**os.environ, **emulator.environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_killed_job_ends_with_the_same_samples_and_loss(emulator, bucket):
    told = run(emulator, "train.py", "--url", bucket("demo"), "--images", "500")
    assert "killed at step" in told and "goes on in epoch" in told
    assert "the same samples and the same loss in each of 48 steps" in told


def test_a_sharded_job_goes_on_from_the_newest_complete_checkpoint(emulator, bucket):
    told = run(emulator, "sharded.py", "--url", bucket("demo"))
    assert "one of 4 processes was killed, which saved step 12" in told
    assert "2 processes go on from " in told and "the same loss: " in told
    assert re.search("kept: [^ ]*/step-016/, [^ ]*/step-020/; unfinished: none", told)


def test_a_mix_of_shards_goes_on_with_other_ranks_and_workers(emulator, bucket):
    told = run(emulator, "shards.py", "--url", bucket("demo"))
    assert "one of 2 ranks was killed at step 27" in told and "4 ranks with 2 workers go on at step 24" in told
    assert "drawn of each set: 960 photos, 320 drawings" in told
    assert "the same samples and the same loss in each of 40 steps" in told
