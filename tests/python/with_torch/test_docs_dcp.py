"""The samples of docs/dcp.md, as they stand there, one behind the other."""

import os
import re
import subprocess
import sys
from pathlib import Path
import pytest

pytestmark = pytest.mark.without_tokens  # the samples have the clients of the environment

PAGE = Path(__file__).resolve().parents[3] / "docs/dcp.md"


def test_samples_run_as_they_stand(emulator, tmp_path):
    samples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(samples) == 5
    emulator.add_bucket("my-bucket-dcp")
    program = "\n".join(samples).replace("my-bucket", "my-bucket-dcp")
    # No port is sure to be free.
    program = program.replace("tcp://127.0.0.1:29400", (tmp_path / "group").as_uri())
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], text=True, timeout=200,
                          cwd=tmp_path, capture_output=True, env={**os.environ, **emulator.environment})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("run/step-") == 3
