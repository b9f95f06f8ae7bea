"""The samples of docs/ray.md, as they stand there, one behind the other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.without_tokens  # the samples have the clients of the environment

PAGE = Path(__file__).resolve().parents[3] / "docs/ray.md"


def test_samples_run_as_they_stand(emulator, tmp_path):
    samples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(samples) == 2
    emulator.add_bucket("my-bucket-ray")
    program = "import local_ray\nlocal_ray.begin()\n" + "\n".join(samples).replace("my-bucket", "my-bucket-ray")
    folders = os.pathsep.join((str(Path(__file__).parent), os.environ["PYTHONPATH"]))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], text=True, timeout=580, cwd=tmp_path,
                          capture_output=True, env={**os.environ, **emulator.environment, "PYTHONPATH": folders})
    assert done.returncode == 0, done.stdout + done.stderr
