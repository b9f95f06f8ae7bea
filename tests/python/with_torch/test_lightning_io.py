"""dataflux.lightning: CheckpointIO and AsyncCheckpointIO, by themselves and in a Trainer."""

import logging
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import fsspec
import lightning.pytorch
import pytest
import pytorch_lightning
import torch
from lightning.fabric import Fabric
from lightning.pytorch.callbacks import ModelCheckpoint

import dataflux
import dataflux.fsspec
from dataflux.fsspec import DatafluxFileSystem
from dataflux.lightning import AsyncCheckpointIO, CheckpointIO, resumable
from dataflux.lightning._paths import url_of
from service import wait_until

MIB = 1 << 20
BOTH = pytest.mark.parametrize("kind", [CheckpointIO, AsyncCheckpointIO])


def state(number=1, mib=20):
    return {"step": number, "weight": torch.full((mib * MIB // 4,), float(number))}


def number_of(found):
    values = {found["step"], *found["weight"].unique().tolist()}
    assert len(values) == 1, values
    return values.pop()


@pytest.fixture(autouse=True)
def threads_end():
    yield
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("save of")]


@pytest.fixture
def one(client):
    io = AsyncCheckpointIO(client)
    yield io
    io.teardown()


def refuse(emulator):
    emulator.faults({"verb": "multipart.part", "action": "refuse", "status": 403, "count": 0})


# ---- both --------------------------------------------------------------------------------------


@BOTH
def test_it_is_of_both_names(kind, client):
    io = kind(client)
    assert isinstance(io, lightning.pytorch.plugins.CheckpointIO)
    assert isinstance(io, pytorch_lightning.plugins.CheckpointIO)
    for trainer in (lightning.pytorch.Trainer, pytorch_lightning.Trainer):
        made = trainer(accelerator="cpu", plugins=[io], logger=False, enable_checkpointing=False)
        assert made.strategy.checkpoint_io is io


@BOTH
@pytest.mark.parametrize("form", [
    str, Path, lambda url: url.replace("gs://", "gcs://"), lambda url: Path(url.replace("gs", "gcs", 1)),
    lambda url: os.path.normpath(url), lambda url: url + "/"])
def test_a_checkpoint_is_saved_loaded_and_removed(kind, client, bucket, form):
    io, path = kind(client), form(bucket("run/a.ckpt"))
    io.save_checkpoint(state(), path)
    assert number_of(io.load_checkpoint(path)) == 1
    assert bucket.names() == ["run/a.ckpt"]
    io.remove_checkpoint(path)
    io.teardown()
    assert bucket.names() == []
    io.remove_checkpoint(path)  # there is none to remove
    with pytest.raises(FileNotFoundError):
        io.load_checkpoint(path)


@BOTH
def test_a_sharded_checkpoint_is_removed_last_object_first(kind, client, emulator, bucket):
    io = kind(client)
    for name in (".metadata", "__0_0.distcp", "__1_0.distcp"):
        bucket.put(f"run/step-1/{name}", b"x")
    bucket.put("run/step-10/.metadata", b"another one")
    emulator.faults({"verb": "objects.delete", "object": "run/step-1/__*", "action": "refuse",
                     "status": 403, "count": 0})
    with pytest.raises(dataflux.Error, match="permission_denied.*run/step-1/__0_0"):
        io.remove_checkpoint(Path(bucket("run/step-1")))
    assert "run/step-1/.metadata" not in bucket.names()
    emulator.faults()
    io.remove_checkpoint(bucket("run/step-1"))
    assert bucket.names() == ["run/step-10/.metadata"]


@BOTH
def test_a_set_is_removed(kind, client, bucket):
    saving = client.checkpoint_set(bucket("run/step-1"))
    saving.begin()
    with saving.open_member("rank-0") as member:
        member.write(b"state")
    saving.commit([member.record], last=".metadata")
    kind(client).remove_checkpoint(bucket("run/step-1"))
    assert bucket.names() == []


@BOTH
def test_what_is_of_this_machine_is_lightning_s(kind, client, emulator, tmp_path):
    io, path = kind(client), tmp_path / "folder" / "a.ckpt"
    before = emulator.answered()
    io.save_checkpoint(state(), path)
    assert number_of(torch.load(path)) == 1 and number_of(io.load_checkpoint(str(path))) == 1
    with pytest.raises(TypeError, match="storage_options"):
        io.save_checkpoint(state(), path, storage_options={"storage_class": "NEARLINE"})
    io.remove_checkpoint(path)
    assert not path.exists() and emulator.answered() == before


@BOTH
def test_options(kind, client, bucket):
    io = kind(client)
    io.save_checkpoint({}, bucket("a.ckpt"), storage_options={"storage_class": "NEARLINE",
                                                               "metadata": {"step": "7"}})
    io.teardown()
    there = client.stat(bucket("a.ckpt"))
    assert there.storage_class == "NEARLINE" and there.metadata == {"step": "7"}


@BOTH
@pytest.mark.parametrize("path, options, error, named", [
    ("gs://bucket", None, ValueError, "path"), ("gs://", None, ValueError, "path"),
    (Path("gs://bucket/"), None, ValueError, "path"), (7, None, TypeError, "int"),
    (b"gs://bucket/name", None, TypeError, "path"),
    ("gs://bucket/name", {"colour": 1}, TypeError, "storage_options: 'colour'"),
    ("gs://bucket/name", "NEARLINE", TypeError, "storage_options"),
    ("gs://bucket/name", {"client": 1}, TypeError, "storage_options: 'client'")])
def test_bad_input(kind, client, emulator, path, options, error, named):
    io, before = kind(client), emulator.answered()
    with pytest.raises(error, match=named):
        io.save_checkpoint({}, path, storage_options=options)
    assert emulator.answered() == before
    with pytest.raises(TypeError, match="client"):
        kind("gs://bucket")


@BOTH
def test_it_pickles_as_its_client_s_options(kind, client, bucket):
    io = kind(client)
    io.save_checkpoint(state(), bucket("a.ckpt"))
    again = pickle.loads(pickle.dumps(io))
    io.teardown()
    assert type(again) is kind and number_of(again.load_checkpoint(bucket("a.ckpt"))) == 1


def test_fabric(client, bucket):
    fabric = Fabric(accelerator="cpu", devices=1, plugins=[CheckpointIO(client)])
    fabric.save(bucket("a.ckpt"), state(3))
    assert number_of(fabric.load(bucket("a.ckpt"))) == 3


def test_paths():
    assert url_of("gs://b/x") == url_of(Path("gs://b/x")) == url_of("gs:/b/x") == "gs://b/x"
    assert url_of("gs://b/a//b") == "gs://b/a//b" and url_of(Path("gcs://b/a")) == "gcs://b/a"
    for local in ("/gs:/b/x", "x", "gs", "./gs:/b/x", "s3://b/x", Path("/tmp")):
        assert url_of(local) is None


# ---- while training goes on --------------------------------------------------------------------


def test_the_state_is_that_of_the_call(one, bucket):
    going = state(1)
    one.save_checkpoint(going, bucket("a.ckpt"))
    going["weight"].fill_(2)
    going["step"] = 2
    one.wait()
    assert number_of(one.load_checkpoint(bucket("a.ckpt"))) == 1


def test_one_save_at_a_time_by_the_same_memory(one, emulator, bucket):
    emulator.faults({"verb": "multipart.part", "action": "delay", "ms": 200, "count": 0})
    one.save_checkpoint(state(1), bucket("1.ckpt"))
    chunks = [id(chunk) for chunk in one._staging._chunks]
    one.save_checkpoint(state(2), bucket("2.ckpt"))
    assert "1.ckpt" in bucket.names()  # the second has waited for the first
    one.wait()
    assert [id(chunk) for chunk in one._staging._chunks] == chunks and len(chunks) == 1
    for number in (1, 2):
        assert number_of(one.load_checkpoint(bucket(f"{number}.ckpt"))) == number
    one.save_checkpoint(state(3, 1), bucket("3.ckpt"))  # a smaller one in the same memory
    assert number_of(one.load_checkpoint(bucket("3.ckpt"))) == 3
    one.teardown()
    assert one._staging._chunks == []
    one.save_checkpoint(state(4), bucket("4.ckpt"))  # it can be used again
    assert number_of(one.load_checkpoint(bucket("4.ckpt"))) == 4


@pytest.mark.parametrize("asked", ["save", "wait", "teardown"])
def test_a_failure_raises_once(one, emulator, bucket, asked):
    refuse(emulator)
    one.save_checkpoint(state(1), bucket("a.ckpt"))
    one._saves.join()
    emulator.faults()
    with pytest.raises(dataflux.PermissionDeniedError, match="a.ckpt"):
        {"save": lambda: one.save_checkpoint(state(2), bucket("b.ckpt")), "wait": one.wait,
         "teardown": one.teardown}[asked]()
    one.wait()
    one.teardown()
    assert bucket.names() == []
    one.save_checkpoint(state(3), bucket("c.ckpt"))
    one.teardown()
    assert bucket.names() == ["c.ckpt"]


class Refuses:
    def __reduce__(self):
        raise LookupError("not me")


def test_what_pickling_raises_comes_at_once(one, bucket):
    with pytest.raises(LookupError, match="not me"):
        one.save_checkpoint([state(), Refuses()], bucket("a.ckpt"))
    one.save_checkpoint(state(), bucket("b.ckpt"))
    one.wait()
    assert bucket.names() == ["b.ckpt"]


def test_a_checkpoint_is_removed_when_the_one_behind_it_is_there(one, emulator, bucket):
    one.save_checkpoint(state(1), bucket("1.ckpt"))
    one.wait()
    emulator.faults({"verb": "multipart.complete", "action": "delay", "ms": 500})
    one.save_checkpoint(state(2), bucket("2.ckpt"))
    one.remove_checkpoint(bucket("1.ckpt"))
    assert "1.ckpt" in bucket.names() or "2.ckpt" in bucket.names()
    one.wait()
    assert bucket.names() == ["2.ckpt"]
    one.remove_checkpoint(bucket("2.ckpt"))
    assert bucket.names() == []


@pytest.mark.parametrize("failed_before", [False, True])
def test_a_checkpoint_stays_where_the_one_behind_it_fails(one, emulator, bucket, caplog,
                                                          failed_before):
    one.save_checkpoint(state(1), bucket("1.ckpt"))
    one.wait()
    refuse(emulator)
    one.save_checkpoint(state(2), bucket("2.ckpt"))
    if failed_before:
        one._saves.join()
    with caplog.at_level(logging.WARNING, "dataflux"):
        one.remove_checkpoint(bucket("1.ckpt"))
        with pytest.raises(dataflux.PermissionDeniedError):
            one.wait()
    assert bucket.names() == ["1.ckpt"]
    assert f"{bucket('1.ckpt')} stays" in caplog.text


def test_a_removal_that_fails_is_told(one, emulator, bucket):
    bucket.put("old.ckpt", b"x")
    emulator.faults({"verb": "multipart.complete", "action": "delay", "ms": 500},
                    {"verb": "objects.delete", "object": "old.ckpt", "action": "refuse",
                     "status": 403, "count": 0})
    one.save_checkpoint(state(2), bucket("2.ckpt"))
    with pytest.raises(dataflux.PermissionDeniedError, match="old.ckpt"):
        one.remove_checkpoint(bucket("old.ckpt"))
        one.wait()
    assert number_of(one.load_checkpoint(bucket("2.ckpt"))) == 2


def test_a_forked_child_has_none_of_its_parent_s_saves(one, emulator, bucket):
    emulator.faults({"verb": "multipart.part", "action": "delay", "ms": 300, "count": 0})
    second = state(2)  # torch's own threads are not there in the child
    one.save_checkpoint(state(1), bucket("a.ckpt"))
    child = os.fork()
    if child == 0:
        try:
            one.wait()
            one.save_checkpoint(second, bucket("b.ckpt"))
            one.teardown()
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    one.wait()
    for name, number in (("a.ckpt", 1), ("b.ckpt", 2)):
        assert number_of(one.load_checkpoint(bucket(name))) == number


ENDS = """
import sys
import threading
import torch
from dataflux.lightning import AsyncCheckpointIO, _async_io

if sys.argv[2] != "later":
    send = _async_io.send

    def when_main_has_ended(*arguments, **how):
        threading.main_thread().join()
        return send(*arguments, **how)

    _async_io.send = when_main_has_ended

io = AsyncCheckpointIO()
io.save_checkpoint({"step": 1, "weight": torch.full((5 << 20,), 1.0)}, sys.argv[1])
if sys.argv[2] == "raise":
    raise LookupError("the end")
if sys.argv[2] == "exit":
    sys.exit(3)
if sys.argv[2] == "later":
    io._saves.join()
"""


@pytest.mark.parametrize("how, refused", [("end", False), ("raise", False), ("exit", False),
                                          ("end", True), ("later", True)])
def test_the_interpreter_s_end_with_a_save_under_way(emulator, bucket, client, how, refused):
    if refused:
        refuse(emulator)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", ENDS, bucket("a.ckpt"), how],
                          text=True, capture_output=True, timeout=240,
                          env={**os.environ, **emulator.environment})
    assert done.returncode == {"end": 0, "raise": 1, "exit": 3, "later": 0}[how], done.stderr
    emulator.faults()
    if refused:
        assert f"the save of {bucket('a.ckpt')} has failed, and nobody has asked" in done.stderr
        assert bucket.names() == []
    else:
        assert "the interpreter's end has waited" in done.stderr
        assert number_of(CheckpointIO(client).load_checkpoint(bucket("a.ckpt"))) == 1


# ---- in a Trainer ------------------------------------------------------------------------------


@pytest.fixture
def gs(emulator, monkeypatch):
    """fsspec's gs://, which ModelCheckpoint looks with."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", emulator.endpoint)
    dataflux.fsspec.register("gs")
    DatafluxFileSystem.clear_instance_cache()
    yield fsspec.filesystem("gs")
    DatafluxFileSystem.clear_instance_cache()


def model_of(pl):
    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, number):
            loss = self.layer(batch).square().mean()
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=0.1)

    torch.manual_seed(7)
    return Model()


def data():
    rows = torch.rand(32, 4, generator=torch.Generator().manual_seed(1))
    return torch.utils.data.DataLoader(rows, batch_size=4)


def fit(pl, io, dirpath, epochs, ckpt_path=None, **how):
    kept = resumable(pl.callbacks.ModelCheckpoint(dirpath=dirpath, filename="{epoch}", monitor="loss",
                                                  save_top_k=2, save_last=True, mode="min", **how))
    trainer = pl.Trainer(accelerator="cpu", devices=1, callbacks=[kept], logger=False, plugins=[io],
                         enable_progress_bar=False, enable_model_summary=False, max_epochs=epochs)
    model = model_of(pl)
    trainer.fit(model, data(), ckpt_path=ckpt_path)
    return trainer, model, kept


NAMES = pytest.mark.parametrize("pl", [lightning.pytorch, pytorch_lightning],
                                ids=["lightning", "pytorch_lightning"])


@pytest.mark.filterwarnings("ignore")
@BOTH
@NAMES
def test_top_k_last_and_resume(gs, client, bucket, kind, pl):
    unbroken, wanted, _ = fit(pl, kind(client), bucket("whole"), 5)
    _, _, kept = fit(pl, kind(client), bucket("run"), 3)
    names = [name for name in bucket.names() if name.startswith("run/")]
    assert "run/last.ckpt" in names and len(names) == 3
    assert set(kept.best_k_models) == {bucket(name) for name in names} - {bucket("run/last.ckpt")}
    for path in ("last", bucket("run/last.ckpt")):
        trainer, model, kept = fit(pl, kind(client), bucket("run"), 5, path)
        assert trainer.current_epoch == 5 and trainer.global_step == unbroken.global_step
        assert torch.equal(model.layer.weight, wanted.layer.weight)
        assert kept.last_model_path == bucket("run/last.ckpt")


@pytest.mark.filterwarnings("ignore")
@NAMES
def test_last_where_there_is_none_begins_anew(gs, client, bucket, tmp_path, pl):
    trainer, _, _ = fit(pl, CheckpointIO(client), bucket("run"), 1, "last")
    assert trainer.current_epoch == 1 and "run/last.ckpt" in bucket.names()
    # What is of this machine is found as Lightning finds it.
    fit(pl, CheckpointIO(client), tmp_path, 1)
    trainer, _, _ = fit(pl, CheckpointIO(client), tmp_path, 2, "last")
    assert trainer.current_epoch == 2


@pytest.mark.filterwarnings("ignore")
@BOTH
def test_a_save_that_fails_ends_the_training_and_keeps_what_was_there(gs, client, emulator, bucket,
                                                                       kind):
    fit(lightning.pytorch, CheckpointIO(client), bucket("run"), 2)
    before = {name: bucket.get(name) for name in bucket.names()}
    emulator.faults({"verb": "objects.insert", "action": "refuse", "status": 403, "count": 0})
    with pytest.raises(dataflux.PermissionDeniedError, match="run/"):
        fit(lightning.pytorch, kind(client), bucket("run"), 4, "last")
    emulator.faults()
    assert {name: bucket.get(name) for name in bucket.names()} == before


def test_resumable_is_for_a_model_checkpoint():
    with pytest.raises(TypeError, match="ModelCheckpoint"):
        resumable("gs://bucket/run")
    callback = ModelCheckpoint(dirpath="/tmp")
    assert resumable(callback) is callback
    assert pickle.loads(pickle.dumps(callback)).dirpath == callback.dirpath
