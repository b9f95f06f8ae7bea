"""torch's and Lightning's checkpoints on dataflux.fsspec, and DataLoaders."""

import csv
import json
import subprocess
import sys

import fsspec
import pytest
import torch
import torch.distributed.checkpoint as dcp
from lightning.fabric.plugins.io import TorchCheckpointIO
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from torch.distributed.checkpoint.fsspec_filesystem import FsspecReader, FsspecWriter

import dataflux.fsspec
from dataflux.fsspec import DatafluxFileSystem


@pytest.fixture(autouse=True)
def fs(emulator, monkeypatch):
    """These programs have URLs alone, and no options: those are fsspec's own, here and in processes."""
    options = {**emulator.options, "credentials": emulator.token()}
    monkeypatch.setitem(fsspec.config.conf, "gs", options)
    monkeypatch.setenv("FSSPEC_GS", json.dumps(options))
    dataflux.fsspec.register("dataflux", "gs")
    DatafluxFileSystem.clear_instance_cache()
    yield fsspec.filesystem("gs")
    DatafluxFileSystem.clear_instance_cache()


def state():
    generator = torch.Generator().manual_seed(1)
    return {f"layer{i}": torch.rand(1000, 100, generator=generator) for i in range(4)}


def test_torch_saves_and_loads_a_file(fs, bucket):
    with fs.open(bucket("x.pt"), "wb") as file:
        torch.save(state(), file)
    with fs.open(bucket("x.pt")) as file:
        found = torch.load(file, weights_only=True)
    assert all(torch.equal(found[name], tensor) for name, tensor in state().items())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("threads, one_file", [(1, True), (3, False)])
def test_a_distributed_checkpoint_is_saved_and_loaded(bucket, threads, one_file):
    url = bucket("step-1")
    dcp.save(state(), storage_writer=FsspecWriter(url, thread_count=threads,
                                                  single_file_per_rank=one_file), no_dist=True)
    assert "step-1/.metadata" in bucket.names()
    assert not any(name.endswith(".tmp") for name in bucket.names())
    loaded = {name: torch.zeros_like(tensor) for name, tensor in state().items()}
    dcp.load(loaded, storage_reader=FsspecReader(url), no_dist=True)
    assert all(torch.equal(loaded[name], tensor) for name, tensor in state().items())
    # Over one that is there.
    dcp.save(state(), storage_writer=FsspecWriter(url), no_dist=True)
    dcp.load(loaded, storage_reader=FsspecReader(url), no_dist=True)


def test_a_save_that_fails_keeps_what_was_there(fs, bucket):
    writer = FsspecWriter(bucket("step-1"))
    bucket.put("step-1/file", b"old")
    with pytest.raises(RuntimeError):
        with writer.fs.create_stream(bucket("step-1/file"), "wb") as stream:
            stream.write(b"new")
            raise RuntimeError
    assert bucket.get("step-1/file") == b"old" and bucket.names() == ["step-1/file"]


def test_lightning_s_checkpoint_appears_whole(emulator, bucket):
    io = TorchCheckpointIO()
    io.save_checkpoint({"state": state()}, bucket("run/a.ckpt"))
    found = io.load_checkpoint(bucket("run/a.ckpt"))
    assert torch.equal(found["state"]["layer3"], state()["layer3"])
    # Lightning's own function passes over a PermissionError.
    emulator.faults({"verb": "objects.insert", "action": "refuse", "status": 400, "count": 0})
    with pytest.raises(dataflux.InvalidArgumentError):
        io.save_checkpoint({"state": 1}, bucket("run/a.ckpt"))
    emulator.faults()
    found = io.load_checkpoint(bucket("run/a.ckpt"))
    assert torch.equal(found["state"]["layer3"], state()["layer3"])
    io.remove_checkpoint(bucket("run/a.ckpt"))
    assert bucket.names() == []


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, number):
        loss = self.layer(batch).square().mean()
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def trainer(callback, **how):
    return Trainer(accelerator="cpu", devices=1, callbacks=[callback], logger=False,
                   enable_progress_bar=False, enable_model_summary=False,
                   default_root_dir=callback.dirpath, **how)


@pytest.mark.filterwarnings("ignore")
def test_lightning_s_model_checkpoint(bucket):
    data = torch.utils.data.DataLoader(torch.rand(32, 4), batch_size=4)
    kept = ModelCheckpoint(dirpath=bucket("run"), filename="{epoch}", monitor="loss",
                           save_top_k=2, save_last=True, mode="min")
    model = Model()
    trainer(kept, max_epochs=4).fit(model, data)
    names = bucket.names()
    assert "run/last.ckpt" in names and len(names) == 3
    assert kept.best_model_path.startswith("gs://")
    again = Model()
    kept = ModelCheckpoint(dirpath=bucket("run"), filename="{epoch}", save_last=True)
    going_on = trainer(kept, max_epochs=5)
    going_on.fit(again, data, ckpt_path=bucket("run/last.ckpt"))
    assert going_on.current_epoch == 5
    assert not torch.equal(again.layer.weight, model.layer.weight)
    assert kept.last_model_path.startswith("gs://")
    with fsspec.open(kept.last_model_path) as file:
        loaded = torch.load(file, weights_only=False)
    assert torch.equal(loaded["state_dict"]["layer.weight"], again.layer.weight)


@pytest.mark.filterwarnings("ignore")
def test_lightning_s_own_logger_appends(fs, bucket):
    # Where TensorBoard is not installed, a Trainer that is told a folder alone has this logger.
    data = torch.utils.data.DataLoader(torch.rand(32, 4), batch_size=4)
    for epochs in (2, 4):
        told = Trainer(accelerator="cpu", devices=1, default_root_dir=bucket("root"), max_epochs=epochs,
                       logger=CSVLogger(bucket("root"), version=epochs, flush_logs_every_n_steps=1),
                       log_every_n_steps=1, enable_progress_bar=False, enable_model_summary=False)
        told.fit(Model(), data)
        with fs.open(bucket(f"root/lightning_logs/version_{epochs}/metrics.csv"), "r",
                     newline="") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["step"]) for row in rows] == list(range(8 * epochs))
    told = Trainer(accelerator="cpu", devices=1, default_root_dir=bucket("plain"), max_epochs=1,
                   log_every_n_steps=1, enable_progress_bar=False, enable_model_summary=False)
    told.fit(Model(), data)
    assert any(name.startswith("plain/") and name.endswith("metrics.csv")
               for name in bucket.names()) or not isinstance(told.logger, CSVLogger)


WORKERS = """
import sys
import fsspec
import torch.utils.data

class Names(torch.utils.data.Dataset):
    def __init__(self, urls):
        self.urls = urls

    def __len__(self):
        return len(self.urls)

    def __getitem__(self, number):
        with fsspec.open(self.urls[number]) as file:
            return type(file).__module__ + " " + file.read().decode()

if __name__ == "__main__":
    import dataflux.fsspec
    dataflux.fsspec.register("gs")
    for method in ("spawn", "fork"):
        loader = torch.utils.data.DataLoader(Names(sys.argv[1:]), batch_size=None, num_workers=2,
                                             multiprocessing_context=method)
        print(*loader)
"""


def test_workers_of_a_dataloader_have_the_registration(bucket, tmp_path):
    for name in "abc":
        bucket.put(name, name.encode())
    program = tmp_path / "program.py"
    program.write_text(WORKERS)
    ended = subprocess.run([sys.executable, str(program), *(bucket(name) for name in "abc")],
                           capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    line = " ".join(f"dataflux.fsspec._files {name}" for name in "abc")
    assert ended.stdout.splitlines() == [line, line]
