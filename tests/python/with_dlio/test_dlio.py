"""DLIO's own workloads on an emulator, scaled down, in two ranks: what is generated, read and refused."""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy
import pytest
from PIL import Image

pytestmark = pytest.mark.without_tokens  # each rank has a client of the environment

ROOT = Path(__file__).resolve().parents[3]
UNET3D = ("workload=unet3d_h100", "++workload.dataset.num_files_train=30", "++workload.dataset.record_length=20000",
          "++workload.dataset.record_length_stdev=6000", "++workload.dataset.record_length_resize=4096",
          "++workload.train.computation_time=0.001", "++workload.train.epochs=2",
          "++workload.checkpoint.checkpoint_after_epoch=1", "++workload.checkpoint.model_size=1000")
RESNET50 = ("workload=resnet50_h100", "++workload.framework=pytorch", "++workload.reader.data_loader=pytorch",
            "++workload.dataset.format=jpeg", "++workload.dataset.num_samples_per_file=1",
            "++workload.dataset.num_files_train=24", "++workload.dataset.num_subfolders_train=3",
            "++workload.dataset.record_length=4000", "++workload.dataset.record_length_resize=1024",
            "++workload.reader.batch_size=4", "++workload.train.computation_time=0.001", "++workload.train.epochs=2")
LOADER = ("++workload.reader.data_loader_classname=dataflux.dlio.Loader",
          "++workload.reader.data_loader_sampler=none")
GENERATE = ("++workload.workflow.generate_data=True", "++workload.workflow.train=False")
COUNTING = "++workload.reader.reader_classname=counting.Reader"


@pytest.fixture
def dlio(emulator, bucket, tmp_path):
    """Runs it on the bucket, and gives its process when it has ended; with `ranks=0` without mpiexec."""
    (tmp_path / "counted").mkdir()
    environment = {**os.environ, **emulator.environment, "COUNTING": str(tmp_path / "counted"),
                   "PYTHONPATH": os.pathsep.join((str(Path(__file__).parent), os.environ["PYTHONPATH"]))}
    begin = [Path(sys.executable).parent / "mpiexec", "-n"]

    def run(*arguments, ranks=2):
        command = [sys.executable, "-m", "dataflux.dlio", "hydra.run.dir=out",
                   f"++workload.storage.storage_root={bucket('mlperf')}", *arguments]
        return subprocess.run([*begin, str(ranks), *command] if ranks else command, env=environment, cwd=tmp_path,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500)

    return run


def good(done):
    assert done.returncode == 0, done.stdout
    return done


def counted(folder):
    """What readers have decoded since the last time: how often."""
    files = list((folder / "counted").iterdir())
    lines = Counter(line for file in files for line in file.read_text().splitlines())
    for file in files:
        file.unlink()
    return lines


def digest(array):
    return f"{array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"


def test_unet3d(dlio, bucket, client, tmp_path):
    good(dlio(*UNET3D, *GENERATE))
    listed = client.list(bucket("mlperf/data/unet3d/train/"))
    assert len(listed) == 30 and all(row.name.endswith(".npz") for row in listed)
    assert len({row.size for row in listed}) > 5  # record_length_stdev
    wanted = {f"train {row.url} {digest(numpy.load(io.BytesIO(client.get(row)))['x'])}": 2 for row in listed}

    # Ours: 30 objects are 2 steps of 7 for 2 ranks; two are left out, which the order of an epoch says.
    good(dlio(*UNET3D, *LOADER, COUNTING))
    found = counted(tmp_path)
    assert found.keys() <= wanted.keys() and sum(found.values()) == 2 * 28 and max(found.values()) == 2
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert summary["num_accelerators"] == 2 and summary["metric"]["train_throughput_mean_samples_per_second"] > 0
    told = json.loads((tmp_path / "out/per_epoch_stats.json").read_text())
    assert told.keys() == {"1", "2"} and "ckpt1" in told["1"]
    assert [len(json.loads((tmp_path / f"out/{rank}_output.json").read_text())[epoch]["proc"]["block1"])
            for rank in (0, 1) for epoch in ("1", "2")] == [2, 2, 2, 2]

    # DLIO's own loader, whose workers have our reader: all that it takes of an epoch are its first batches.
    good(dlio(*UNET3D, COUNTING, "++workload.dataset.num_files_train=28"))
    assert counted(tmp_path) == dict(list(wanted.items())[:28])


def test_resnet50_of_images(dlio, bucket, client, tmp_path):
    good(dlio(*RESNET50, *LOADER, COUNTING, "++workload.workflow.generate_data=True",
              "++workload.workflow.evaluation=True", "++workload.dataset.num_files_eval=8",
              "++workload.reader.batch_size_eval=2"))
    train, valid = (client.list(bucket(f"mlperf/data/resnet50/{part}/")) for part in ("train", "valid"))
    assert len(train) == 24 and len(valid) == 8
    assert {row.name.split("/")[4] for row in train} == {"0", "1", "2"}
    assert counted(tmp_path) == {
        f"{part} {row.url} {digest(numpy.asarray(Image.open(io.BytesIO(client.get(row)))))}": 2
        for part, rows in (("train", train), ("valid", valid)) for row in rows}


def test_what_fails_ends_all_ranks(dlio, bucket, emulator, client):
    good(dlio(*UNET3D, *GENERATE))
    [url] = [row.url for row in client.list(bucket("mlperf/")) if "_13_" in row.name]
    name = url.partition(f"{bucket.name}/")[2]

    # Of 28 objects: nothing is left out.
    less = "++workload.dataset.num_files_train=28"
    emulator.faults({"verb": "objects.media", "object": name, "count": 0, "action": "refuse", "status": 403})
    done = dlio(*UNET3D, *LOADER, less)
    assert done.returncode != 0 and re.search(rf"PermissionDeniedError.*{re.escape(name)}", done.stdout), done.stdout
    done = dlio(*UNET3D, "++workload.reader.reader_classname=dataflux.dlio.Reader", less)
    assert done.returncode != 0 and re.search(rf"PermissionDeniedError.*{re.escape(name)}", done.stdout), done.stdout

    emulator.faults()
    done = dlio(*UNET3D, *LOADER, less, "++workload.reader.reader_classname=counting.Killed")
    assert done.returncode != 0, done.stdout

    bucket.put(name, b"no archive")
    done = dlio(*UNET3D, *LOADER, less)
    assert done.returncode != 0 and re.search(rf"DecodeError.*{re.escape(name)}", done.stdout), done.stdout


@pytest.mark.parametrize("arguments, error", [
    (["++workload.dataset.num_files_train=3"], "Not enough training dataset"),
    (["++workload.dataset.num_samples_per_file=2"], "num_samples_per_file: 2, and Loader has one sample"),
    (["++workload.reader.reader_classname=dlio_benchmark.reader.npz_reader.NPZReader"],
     "reader_classname: NPZReader reads files"),
    (["++workload.dataset.format=csv", "++workload.dataset.num_files_train=1"], "format: csv is not read"),
    (["++workload.storage.storage_root=."], "storage_root: Loader reads from a bucket"),
])
def test_what_does_not_go(dlio, bucket, tmp_path, arguments, error):
    content = io.BytesIO()
    numpy.savez(content, x=numpy.zeros((4, 4, 1), "uint8"))
    for name in "1.npz", "2.npz", "1.csv":
        bucket.put(f"mlperf/data/unet3d/train/{name}", content.getvalue())
        path = tmp_path / "data/unet3d/train" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.getvalue())
    (tmp_path / "data/unet3d/valid").mkdir()
    done = dlio(*UNET3D, *LOADER, "++workload.dataset.num_files_train=2", "++workload.reader.batch_size=1", *arguments,
                ranks=0)
    assert done.returncode == 1 and error in done.stdout, done.stdout
