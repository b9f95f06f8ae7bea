"""The samples of docs/torch.md and docs/training.md, as they stand there, one behind the other."""

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = ("torch.md", "training.md")


def test_samples_run_as_they_stand(emulator, tmp_path):
    text = "\n".join((DOCS / page).read_text() for page in PAGES)
    samples = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert len(samples) == 4
    emulator.add_bucket("my-bucket-torch")
    program = "\n".join(samples).replace("my-bucket", "my-bucket-torch")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], text=True, timeout=200,
                          cwd=tmp_path, capture_output=True, env={**os.environ, **emulator.environment})
    assert done.returncode == 0, done.stdout + done.stderr
