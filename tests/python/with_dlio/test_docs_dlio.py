"""The commands of docs/dlio.md, as they stand there, one behind the other, with less data."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.without_tokens  # each rank has a client of the environment

PAGE = Path(__file__).resolve().parents[3] / "docs/dlio.md"
LESS = (" ++workload.dataset.num_files_train=16 ++workload.dataset.record_length=4000"
        " ++workload.dataset.record_length_stdev=0 ++workload.dataset.record_length_resize=1024"
        " ++workload.reader.batch_size=2 ++workload.train.computation_time=0.001 ++workload.train.epochs=1"
        " ++workload.checkpoint.model_size=1000")


def test_commands_run_as_they_stand(emulator, tmp_path):
    commands = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(commands) == 3
    emulator.add_bucket("my-bucket-dlio")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    for command in commands:
        command = command.rstrip().replace("my-bucket", "my-bucket-dlio") + LESS
        done = subprocess.run(["bash", "-c", command], text=True, timeout=580, cwd=tmp_path, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, **emulator.environment, "PATH": path})
        assert done.returncode == 0, command + done.stdout
        assert ("Training Throughput" in done.stdout) == ("train=False" not in command)
