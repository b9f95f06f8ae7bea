"""The samples of the pages about torch, as they stand there, one behind the other."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize("pages, count", [("torch training", 4), ("checkpoints", 5)])
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
