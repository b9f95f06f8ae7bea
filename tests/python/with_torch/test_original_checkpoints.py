"""dataflux_pytorch.lightning: checkpoints of Lightning and of torch.distributed.checkpoint by the original's
names."""

import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed.checkpoint as dist_cp

import google_client
from lightning import LightningModule, Trainer
from lightning.pytorch.plugins.io import CheckpointIO
from torch.utils.data import DataLoader

from dataflux_pytorch.lightning import (
    DatafluxLightningAsyncCheckpoint, DatafluxLightningCheckpoint, GCSDistributedReader, GCSDistributedWriter,
    GCSFileSystem)

PROJECT = "project"
BOTH = pytest.mark.parametrize("kind", [DatafluxLightningCheckpoint, DatafluxLightningAsyncCheckpoint])
pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled", "ignore:.*many workers",
                                        "ignore:.*before the epoch ended", "ignore:TypedStorage",
                                        "ignore:.*LeafSpec")


@pytest.fixture
def storage_client(emulator):
    """A dataflux.Client is one that they take, too, and it gives tokens."""
    return emulator.client()


def test_arguments_are_the_originals():
    def arguments(kind):
        return {name: each.default for name, each in inspect.signature(kind).parameters.items()}

    none = inspect.Parameter.empty
    for kind in (DatafluxLightningCheckpoint, DatafluxLightningAsyncCheckpoint):
        assert arguments(kind) == {"project_name": none, "storage_client": None, "disable_multipart": False}
    for kind in (GCSDistributedWriter, GCSDistributedReader):
        assert list(arguments(kind)) == ["path", "project_name", "storage_client", "debug", "kwargs"]
    assert arguments(GCSFileSystem) == {"project_name": none, "debug": none, "storage_client": None}


@BOTH
@pytest.mark.parametrize("made", [str, Path])
@pytest.mark.parametrize("scheme", ["gs", "gcs"])
def test_a_checkpoint_is_saved_loaded_and_removed(kind, made, scheme, storage_client, bucket):
    plugin = kind(PROJECT, storage_client, disable_multipart=True)
    assert isinstance(plugin, CheckpointIO)
    path = made(f"{scheme}://{bucket.name}/run/checkpoint.ckpt")
    tensor = torch.rand(3, 10, 10)
    plugin.save_checkpoint({"tensor": tensor}, path)
    assert torch.equal(plugin.load_checkpoint(path)["tensor"], tensor)
    assert bucket.names() == ["run/checkpoint.ckpt"]
    plugin.remove_checkpoint(path)
    plugin.teardown()
    assert bucket.names() == []


@BOTH
@pytest.mark.parametrize("path", ["bucket/checkpoint.ckpt", Path("bucket/checkpoint.ckpt"), "gcs://", ""])
def test_paths_of_this_machine_are_refused(kind, path, storage_client, emulator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plugin = kind(PROJECT, storage_client)
    before = emulator.answered()
    for verb in (lambda: plugin.save_checkpoint({}, path), lambda: plugin.load_checkpoint(path),
                 lambda: plugin.remove_checkpoint(path)):
        with pytest.raises(ValueError, match="^path: "):
            verb()
    plugin.teardown()
    assert emulator.answered() == before and not list(tmp_path.iterdir())


@BOTH
def test_a_plugin_pickles_without_secrets(kind, storage_client, bucket):
    plugin = pickle.loads(pickle.dumps(kind(PROJECT, storage_client)))
    plugin.save_checkpoint({"step": 1}, bucket("c"))
    assert plugin.load_checkpoint(bucket("c")) == {"step": 1}
    plugin.teardown()


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch):
        return self.layer(batch).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


@pytest.mark.without_tokens
@BOTH
def test_readme_of_lightning(kind, bucket, emulator, monkeypatch, tmp_path):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", emulator.endpoint)
    checkpoint = f"gcs://{bucket.name}/checkpoints/ckpt.ckpt"
    plugin = kind(project_name=PROJECT)

    def trainer(max_steps):
        return Trainer(plugins=[plugin], max_epochs=5, max_steps=max_steps, accelerator="cpu", logger=False,
                       enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                       default_root_dir=tmp_path)

    loader = DataLoader(torch.ones(8, 4), batch_size=2)
    first, model = trainer(3), Model()
    first.fit(model, loader)
    first.save_checkpoint(checkpoint)
    again = trainer(6)
    again.fit(Model(), loader, ckpt_path=checkpoint)
    plugin.teardown()
    assert again.global_step == 6 and bucket.names() == ["checkpoints/ckpt.ckpt"]


@pytest.mark.parametrize("made", [str, Path])
def test_a_distributed_checkpoint(made, storage_client, bucket):
    path = made(bucket("run/10"))
    writer = GCSDistributedWriter(path, PROJECT, storage_client, thread_count=2, sync_files=False,
                                  per_thread_copy_ahead=1, single_file_per_rank=True)
    reader = GCSDistributedReader(path, PROJECT, storage_client)
    state = {f"tensor_{each}": torch.rand(30, 5) for each in range(4)}
    dist_cp.save(state, checkpoint_id=path, storage_writer=writer)
    found = {name: torch.zeros(30, 5) for name in state}
    dist_cp.load(found, checkpoint_id=path, storage_reader=reader)
    assert all(torch.equal(found[name], state[name]) for name in state)
    assert reader.fs.exists(f"{bucket('run/10')}/.metadata")
    with reader.fs.create_stream(Path(bucket("run/10")) / "meta.pt", "wb") as file:
        torch.save({"epoch": 3}, file)
    with reader.fs.create_stream(Path(bucket("run/10")) / "meta.pt", "rb") as file:
        assert torch.load(file) == {"epoch": 3}


def test_writers_and_readers_pickle(storage_client, bucket):
    state = {"tensor": torch.ones(3)}
    writer = pickle.loads(pickle.dumps(GCSDistributedWriter(bucket("r"), PROJECT, storage_client)))
    reader = pickle.loads(pickle.dumps(GCSDistributedReader(bucket("r"), PROJECT, storage_client)))
    dist_cp.save(state, storage_writer=writer)
    found = {"tensor": torch.zeros(3)}
    dist_cp.load(found, storage_reader=reader)
    assert torch.equal(found["tensor"], state["tensor"])


def test_options_that_there_are_not(storage_client, bucket):
    with pytest.raises(TypeError, match="threads"):
        GCSDistributedWriter(bucket("r"), PROJECT, storage_client, threads=2)
    for path in ("bucket/r", Path("bucket/r")):
        with pytest.raises(ValueError, match="^path: "):
            GCSDistributedWriter(path, PROJECT, storage_client)


# The simulated checkpoint, and the README's asynchronous one: arguments are rank, ranks, group's file, path.
RANK = """
import os, sys
import torch, torch.distributed as dist, torch.distributed.checkpoint as dist_cp
from torch.distributed.checkpoint import async_save
from dataflux_pytorch.lightning.gcs_filesystem import GCSDistributedReader, GCSDistributedWriter

rank, world_size = int(sys.argv[1]), int(sys.argv[2])
dist.init_process_group("gloo", init_method="file://" + sys.argv[3], rank=rank, world_size=world_size)
path = sys.argv[4]
writer = GCSDistributedWriter(path, "project", None)
reader = GCSDistributedReader(path, "project", None)
state_dict = {f"dummy_tensor_{i}": torch.full((10, 1000), float(i)) for i in range(6)
              if i % world_size == rank}
for i in range(2):
    checkpoint_path = os.path.join(path, f"checkpoints/ckpt_{i}.ckpt")
    dist.barrier()
    dist_cp.save(state_dict=state_dict, checkpoint_id=checkpoint_path, storage_writer=writer)
for i in range(2):
    checkpoint_path = os.path.join(path, f"checkpoints/ckpt_{i}.ckpt")
    template = {name: torch.empty(10, 1000) for name in state_dict}
    dist.barrier()
    dist_cp.load(state_dict=template, checkpoint_id=checkpoint_path, storage_reader=reader)
    assert all(torch.equal(template[name], state_dict[name]) for name in state_dict)

checkpoint_group = dist.new_group(list(range(dist.get_world_size())), backend="gloo")
checkpoint_future = None
for epoch in range(2):
    if checkpoint_future is not None:
        checkpoint_future.result()
    state_dict = {name: tensor + 1 for name, tensor in state_dict.items()}
    checkpoint_future = async_save(state_dict, checkpoint_id=path + "/async", storage_writer=writer,
                                   process_group=checkpoint_group)
checkpoint_future.result()
dist_cp.load(state_dict=template, checkpoint_id=path + "/async", storage_reader=reader)
assert all(torch.equal(template[name], state_dict[name]) for name in state_dict)
dist.destroy_process_group()
"""


@pytest.mark.without_tokens
def test_the_simulated_checkpoint_and_the_readmes_asynchronous_one(emulator, bucket, tmp_path):
    ranks = [subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", RANK, str(rank), "2", str(tmp_path / "group"), bucket("jobs")],
        stderr=subprocess.PIPE, text=True, env={**os.environ, **emulator.environment}) for rank in range(2)]
    said = [rank.communicate(timeout=240)[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], said
    found = set(bucket.names())
    assert {f"jobs/checkpoints/ckpt_{each}.ckpt/.metadata" for each in range(2)} < found
    assert "jobs/async/.metadata" in found


def test_the_strategy_of_the_demo(storage_client):
    pytest.importorskip("dataflux.lightning")
    from dataflux_core._clients import client_of
    from dataflux_core._retry import DEFAULT_RETRY
    from dataflux_pytorch.lightning.strategies import DatafluxFSDPStrategy

    made = DatafluxFSDPStrategy(project_name=PROJECT, storage_client=storage_client, use_async=True,
                                state_dict_type="sharded")
    assert made.storage_client is storage_client and made.project_name == PROJECT
    assert client_of(storage_client, DEFAULT_RETRY) in vars(made).values()
    assert list(inspect.signature(DatafluxFSDPStrategy).parameters)[:3] == [
        "project_name", "storage_client", "use_async"]
