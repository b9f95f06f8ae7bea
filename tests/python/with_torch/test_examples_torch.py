"""The examples that need PyTorch, as a reader runs them."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

pytestmark = pytest.mark.without_tokens  # they have the clients of the environment

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "examples/python/with_torch"


def run(emulator, *command, **more):
    environment = {**os.environ, **emulator.environment, **more}
    done = subprocess.run([sys.executable, "-W", "ignore", *command], text=True, timeout=280,
                          capture_output=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_every_example_is_tested():
    here = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    assert {path.name for path in FOLDER.glob("*.py") if path.name not in here} == set()


def test_images(emulator):
    said = run(emulator, FOLDER / "images.py", "--workers", "2").splitlines()
    assert said[0] == "128 pairs; without a partner: 1 images, 0 labels"
    losses = [float(re.fullmatch(r"epoch \d: 128 samples, loss (\S+)", line)[1]) for line in said[1:]]
    assert len(losses) == 3 and losses[0] > losses[1] > losses[2]


def test_images_of_a_bucket(emulator, bucket):
    for number in range(20):
        bucket.put(f"x/images/{number}.ppm", b"P6\n8 8\n255\n" + bytes(range(192)))
        label = io.BytesIO()
        numpy.save(label, numpy.eye(8, dtype=bool))
        bucket.put(f"x/labels/{number}.npy", label.getvalue())
    said = run(emulator, FOLDER / "images.py", bucket("x/"), "--workers", "0")
    assert said.startswith("20 pairs; without a partner: 0 images, 0 labels\nepoch 0: 20 samples")


@pytest.fixture(scope="module")
def arrow():
    """PYTHONPATH with pyarrow, which the environment with torch lacks."""
    sys.path.insert(0, str(ROOT / "tests/python"))
    import venv  # venv.py of that folder

    sys.path.pop(0)
    sys.modules.pop("venv")
    python = venv.make(lock=Path(__file__).parent / "parquet/requirements.txt")
    [packages] = python.parents[1].glob("lib/python*/site-packages")
    return {"PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(packages)]).lstrip(os.pathsep)}


def test_parquet_text(emulator, arrow):
    said = run(emulator, FOLDER / "parquet_text.py", "--workers", "2", **arrow).splitlines()
    assert said[0] == "20 row groups in 4 files"
    found = [re.fullmatch(r"epoch \d: (\d+) steps of 16 texts, loss (\S+)", line).groups() for line in said[1:]]
    assert [steps for steps, _ in found] == ["81"] * 2  # of 1,310 texts, without what workers have left
    assert float(found[1][1]) < float(found[0][1])


SHARED = """
import json, sys, dataflux
from torch.utils.data import DataLoader
sys.path.insert(0, sys.argv[1])
import parquet_text
if __name__ == "__main__":
    client, url, found = dataflux.Client(), sys.argv[2], []
    parquet_text.make_files(client, url, rows=7)
    for rank in range(3):
        dataset = parquet_text.RowGroups(client, url, rank=rank, world_size=3)
        whole = [text for texts in DataLoader(dataset, batch_size=4, num_workers=2, collate_fn=list) for text in texts]
        batches = list(DataLoader(dataset, batch_size=4, num_workers=2, collate_fn=list, drop_last=True))
        found.append([whole, len(batches), dataset.steps(4, 2)])
    dataset.epoch = 1
    found.append([list(dataset), 0, dataset.steps(4, 0)])
    print(json.dumps(found))
"""


def test_row_groups_are_shared_by_ranks_and_workers(emulator, bucket, arrow):
    *ranks, later = json.loads(run(emulator, "-c", SHARED, FOLDER, bucket("x"), **arrow))
    whole = [text for texts, _, _ in ranks for text in texts]
    groups = {" ".join(text.split()[:2]) for text in whole}
    # 20 row groups for 3 ranks: two of them wait for another epoch; of the others each text once.
    assert len(groups) == 18 and len(whole) == len(set(whole)) == sum(7 + int(group[0]) for group in groups)
    assert len({steps for _, _, steps in ranks}) == 1
    assert min(batches for _, batches, _ in ranks) == ranks[0][2]
    assert set(later[0]) != set(ranks[2][0])
