"""The samples of docs/torch.md, as they stand there, one behind the other."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/torch.md"


def test_samples_run_as_they_stand(emulator, tmp_path):
    samples = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(samples) == 2
    emulator.add_bucket("my-bucket-torch")
    program = "\n".join(samples).replace("my-bucket", "my-bucket-torch")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], text=True, timeout=200,
                          cwd=tmp_path, capture_output=True, env={**os.environ, **emulator.environment})
    assert done.returncode == 0, done.stdout + done.stderr
