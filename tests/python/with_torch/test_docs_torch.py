"""The samples of docs/torch.md and docs/checkpoints.md, as they stand there, one behind the other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize("page, count", [("torch", 2), ("checkpoints", 3)])
def test_samples_run_as_they_stand(emulator, tmp_path, page, count):
    samples = re.findall(r"^```python\n(.*?)^```$", (DOCS / f"{page}.md").read_text(), re.M | re.S)
    assert len(samples) == count
    emulator.add_bucket(f"my-bucket-{page}")
    program = "\n".join(samples).replace("my-bucket", f"my-bucket-{page}")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], text=True, timeout=200,
                          cwd=tmp_path, capture_output=True, env={**os.environ, **emulator.environment})
    assert done.returncode == 0, done.stdout + done.stderr
