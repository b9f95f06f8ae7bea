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
from dataflux.lightning import AsyncCheckpointIO, CheckpointIO, _async_io, resumable
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
    for local in ("x", "gs", "az://b/x", Path("/tmp"), "/a/gs:x/b", "/a/gs/b"):
        assert url_of(local) is None
    # What became a path of this machine out of gs://b/x would be saved here, in silence.
    for lost in ("/gs:/b/x", "./gs:/b/x", Path("gs://b/x").absolute(), Path("gcs://b/x").absolute(),
                 os.path.realpath(Path("gs://b/x"))):
        with pytest.raises(ValueError, match="pathlib.Path.*gc?s://b/x is meant.*a str"):
            url_of(lost)


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


@pytest.fixture
def gate(monkeypatch):
    """Nothing is sent until it is set."""
    opened, send = threading.Event(), _async_io.send

    def late(*arguments):
        assert opened.wait(200), "a save was waited for before it could be sent"
        return send(*arguments)

    monkeypatch.setattr(_async_io, "send", late)
    yield opened
    opened.set()


def of_step(step, number, mib=20):
    return {**state(number, mib), "global_step": step}


def test_saves_of_one_step_go_one_behind_the_other(one, gate, bucket):
    going = {**of_step(7, 1), "callbacks": {"last_model_path": ""}}
    one.save_checkpoint(going, bucket("a.ckpt"))
    going["callbacks"]["last_model_path"] = bucket("last.ckpt")
    one.save_checkpoint(going, bucket("last.ckpt"))
    going["weight"].fill_(2)  # what has changed all the same
    going["step"] = 2
    one.save_checkpoint(going, bucket("third.ckpt"))
    first, second, third = [each._save.args[0] for each in one._saves.jobs]
    assert first is one._staging and first.own > 20 * MIB
    assert second.size > 20 * MIB > 4 * MIB > second.own and third.own == third.size
    assert bucket.names() == []
    gate.set()
    one.wait()
    assert bucket.names() == ["a.ckpt", "last.ckpt", "third.ckpt"]
    found = {name: one.load_checkpoint(bucket(name)) for name in bucket.names()}
    assert [number_of(each) for each in found.values()] == [1, 1, 2]
    assert [each["callbacks"]["last_model_path"] for each in found.values()] == \
        ["", bucket("last.ckpt"), bucket("last.ckpt")]
    # One of a later step waits for them, and has the memory of the first.
    one.save_checkpoint(of_step(8, 3), bucket("b.ckpt"))
    assert one._saves.jobs[0]._save.args[0] is one._staging
    one.save_checkpoint(of_step(9, 4), bucket("c.ckpt"))
    assert "b.ckpt" in bucket.names()
    assert number_of(one.load_checkpoint(bucket("c.ckpt"))) == 4


def test_each_failure_of_one_step_s_saves_is_told_once(one, gate, emulator, bucket, caplog):
    refuse(emulator)
    for name in ("a", "b", "c"):
        one.save_checkpoint(of_step(1, 1), bucket(f"{name}.ckpt"))
    gate.set()
    one._saves.join()
    emulator.faults()
    with pytest.raises(dataflux.PermissionDeniedError, match="a.ckpt"):
        one.save_checkpoint(of_step(2, 2), bucket("d.ckpt"))
    with pytest.raises(dataflux.PermissionDeniedError, match="b.ckpt"), caplog.at_level(logging.ERROR, "dataflux"):
        one.teardown()
    text, = told(caplog)
    assert bucket("c.ckpt") in text and "nobody has asked" in text
    one.teardown()
    one.save_checkpoint(of_step(3, 3), bucket("e.ckpt"))
    one.wait()
    assert bucket.names() == ["e.ckpt"]


def test_one_that_has_failed_ends_its_step_s_saves(one, emulator, bucket):
    refuse(emulator)
    one.save_checkpoint(of_step(1, 1), bucket("a.ckpt"))
    one.save_checkpoint(of_step(1, 1), bucket("b.ckpt"))
    one._saves.join()
    for name in ("a.ckpt", "b.ckpt"):
        with pytest.raises(dataflux.PermissionDeniedError, match=name):
            one.save_checkpoint(of_step(1, 1), bucket("c.ckpt"))
    one.wait()


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


@pytest.mark.without_tokens
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
    monkeypatch.setitem(fsspec.config.conf, "gs", emulator.options)
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


class Opens(lightning.pytorch.Callback):
    """Nothing is sent before the batch behind that of the saves has begun."""

    def __init__(self, gate):
        self.gate = gate

    def on_train_batch_start(self, trainer, module, batch, number):
        if trainer.global_step == 4:
            self.gate.set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("callbacks", [1, 2])
def test_training_goes_on_while_all_saves_of_a_step_are_sent(gs, gate, client, emulator, bucket, callbacks):
    kept = [ModelCheckpoint(dirpath=bucket(f"run{number}"), filename="{step}", every_n_train_steps=4,
                            save_last=True, save_top_k=1, monitor=None if number else "loss",
                            save_on_train_epoch_end=False)
            for number in range(callbacks)]
    trainer = lightning.pytorch.Trainer(
        accelerator="cpu", devices=1, callbacks=[*kept, Opens(gate)], logger=False,
        plugins=[AsyncCheckpointIO(client)], enable_progress_bar=False, enable_model_summary=False, max_steps=6)
    trainer.fit(model_of(lightning.pytorch), data())
    assert trainer.global_step == 6
    for number in range(callbacks):
        names = [name for name in bucket.names() if name.startswith(f"run{number}/")]
        assert names == [f"run{number}/last.ckpt", f"run{number}/step=4.ckpt"]
        assert CheckpointIO(client).load_checkpoint(bucket(names[1]))["global_step"] == 4


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


def trained(callbacks, epochs, client, **how):
    return lightning.pytorch.Trainer(
        accelerator="cpu", devices=1, callbacks=callbacks, plugins=[CheckpointIO(client)], max_epochs=epochs,
        enable_progress_bar=False, enable_model_summary=False, **{"logger": False, **how})


FOLDERS = {
    "dirpath": (lambda url: {"dirpath": url}, {}, "run/last.ckpt"),
    "slash": (lambda url: {"dirpath": url + "/"}, {}, "run/last.ckpt"),
    "path": (lambda url: {"dirpath": Path(url)}, {}, "run/last.ckpt"),
    "path of this folder": (lambda url: {"dirpath": Path(url).absolute()}, {}, "run/last.ckpt"),
    "root": (lambda url: {}, {"default_root_dir": str}, "run/checkpoints/last.ckpt"),
    "root slash": (lambda url: {}, {"default_root_dir": lambda url: url + "/"}, "run/checkpoints/last.ckpt"),
    "root path": (lambda url: {}, {"default_root_dir": Path}, "run/checkpoints/last.ckpt"),
    "logger": (lambda url: {}, {"logger": lambda url: Logger(url)}, "run/named/version_3/checkpoints/last.ckpt"),
}


class Logger(lightning.pytorch.loggers.logger.DummyLogger):
    """One that has a folder."""

    def __init__(self, folder, version=3):
        super().__init__()
        self.save_dir, self._version = folder, version

    save_dir = None
    name = "named"

    @property
    def version(self):
        return self._version


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", ["fit", "validate", "test", "predict"])
@pytest.mark.parametrize("folder", list(FOLDERS))
def test_last_is_found_whatever_names_the_folder(gs, client, bucket, folder, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    callback, trainer, name = FOLDERS[folder]

    def made(epochs):
        kept = resumable(ModelCheckpoint(save_last=True, **callback(bucket("run"))))
        return trained([kept], epochs, client, **{key: of(bucket("run")) for key, of in trainer.items()})

    first = made(1)
    first.fit(model_of(lightning.pytorch), data())
    assert name in bucket.names() and not list(tmp_path.rglob("*.ckpt"))
    again = made(2)
    found = []
    monkeypatch.setattr(CheckpointIO, "load_checkpoint", lambda self, path, *rest, of=CheckpointIO.load_checkpoint,
                        **how: found.append(path) or of(self, path, *rest, **how))
    model = model_of(lightning.pytorch)
    model.validation_step = model.test_step = model.training_step
    model.predict_step = lambda batch: batch
    getattr(again, what)(model, data(), ckpt_path="last")
    assert found == [bucket(name)]
    assert what != "fit" or again.current_epoch == 2
    assert not list(tmp_path.rglob("*.ckpt"))


@pytest.mark.filterwarnings("ignore")
def test_the_newest_last_of_all_callbacks_is_found(gs, client, bucket):
    """Versions, a name of one's own, and a callback that was not made resumable."""
    class Named(ModelCheckpoint):
        CHECKPOINT_NAME_LAST = "{epoch}-final"

    for epochs in (1, 2, 3):
        callbacks = [resumable(ModelCheckpoint(dirpath=bucket("a"), monitor="loss")),
                     Named(dirpath=bucket("b/"), save_last=True)]
        trainer = trained(callbacks, epochs, client)
        trainer.fit(model_of(lightning.pytorch), data(), ckpt_path="last")
        assert trainer.current_epoch == epochs
        assert (trainer.ckpt_path is None) == (epochs == 1)
    # A last of another run's, and newer.
    for _ in range(2):
        trained([ModelCheckpoint(dirpath=bucket("b"), save_last=True)], 1, client).fit(
            model_of(lightning.pytorch), data())
    other = trained([resumable(ModelCheckpoint(dirpath=bucket("b"), save_last=True))], 2, client)
    other.fit(model_of(lightning.pytorch), data(), ckpt_path="last")
    assert other.ckpt_path == bucket("b/last-v1.ckpt") and "b/last.ckpt" in bucket.names()


def told(caplog):
    """What was logged, without retries, which a busy machine may cause."""
    lines = [record.getMessage() for record in caplog.records if record.name == "dataflux"]
    return [line for line in lines if " failed, the next one comes in " not in line]


@pytest.mark.filterwarnings("ignore")
def test_where_there_is_no_last_it_says_why(gs, client, bucket, caplog):
    trained([resumable(ModelCheckpoint(dirpath=bucket("run")))], 1, client).fit(
        model_of(lightning.pytorch), data(), ckpt_path="last")
    assert told(caplog) == [f'ckpt_path="last": nothing is below {bucket("run")}: training begins anew']
    caplog.clear()
    there = next(name for name in bucket.names() if name.startswith("run/"))
    trained([resumable(ModelCheckpoint(dirpath=bucket("run/")))], 1, client).fit(
        model_of(lightning.pytorch), data(), ckpt_path="last")
    text, = told(caplog)
    assert f"{bucket('run')} has {there[4:]}" in text and "none whose name begins with 'last'" in text
    assert "save_last=True" in text and f'ckpt_path="{bucket(there)}"' in text
    caplog.clear()
    # A save that was not committed.
    bucket.put("half/last.ckpt/.dataflux-save-0123456789abcdef/__0_0.distcp", b"x")
    trained([resumable(ModelCheckpoint(dirpath=bucket("half")))], 1, client).fit(
        model_of(lightning.pytorch), data(), ckpt_path="last")
    text, = told(caplog)
    assert f"{bucket('half/last.ckpt')} is a sharded checkpoint that was not committed" in text


@pytest.mark.filterwarnings("ignore")
@BOTH
def test_a_last_one_that_is_sharded_is_told_to_who_loads_files(gs, client, bucket, kind):
    saving = client.checkpoint_set(bucket("run/last.ckpt"))
    saving.begin()
    with saving.open_member("__0_0.distcp") as member:
        member.write(b"state")
    saving.commit([member.record], last=".metadata")
    with pytest.raises(ValueError, match=f"{bucket('run/last.ckpt')}: a sharded checkpoint.*consolidated"):
        fit(lightning.pytorch, kind(client), bucket("run"), 1, "last")
    with pytest.raises(FileNotFoundError, match="a sharded checkpoint is there.*consolidated"):
        fit(lightning.pytorch, kind(client), bucket("run"), 1, bucket("run/last.ckpt"))


@pytest.mark.filterwarnings("ignore")
def test_a_logger_that_begins_a_new_version_is_told(gs, client, bucket, caplog):
    for version in (0, 1):
        caplog.clear()
        trained([resumable(ModelCheckpoint(save_last=True))], 1, client,
                logger=Logger(bucket("run"), version)).fit(
            model_of(lightning.pytorch), data(), ckpt_path="last")
    text, = told(caplog)
    assert f"{bucket('run/named')} has version_0, and this run's logger has begun version_1" in text
    assert "dirpath" in text


@pytest.mark.filterwarnings("ignore")
@BOTH
@pytest.mark.parametrize("how", ["url", "last"])
def test_the_checkpoint_that_a_run_has_come_from_stays(gs, client, bucket, kind, how, caplog):
    def run(folder, epochs, ckpt_path):
        kept = resumable(ModelCheckpoint(dirpath=folder, save_top_k=1, save_last=how == "last"))
        trainer = lightning.pytorch.Trainer(
            accelerator="cpu", devices=1, callbacks=[kept], logger=False, plugins=[kind(client)],
            enable_progress_bar=False, enable_model_summary=False, max_epochs=epochs)
        trainer.fit(model_of(lightning.pytorch), data(), ckpt_path=ckpt_path)

    run(bucket("run1"), 1, None)
    first = {name: bucket.get(name) for name in bucket.names()}
    if how == "url":
        run(bucket("run2"), 3, bucket(next(iter(first))))
        assert {name: bucket.get(name) for name in first} == first
        assert f"{bucket(next(iter(first)))} stays: this run has come from it" in caplog.text
    else:  # its own folder: what a run saves anew is its own
        run(bucket("run1"), 3, "last")
        assert len(bucket.names()) == 2 and "run1/last.ckpt" in bucket.names()
        assert bucket.get("run1/last.ckpt") != first["run1/last.ckpt"]
    # What a run has saved itself goes, whoever has read it meanwhile.
    assert len([name for name in bucket.names() if name.startswith("run2/")]) == (how == "url")


@BOTH
def test_what_it_has_saved_itself_may_go_though_it_was_read(kind, client, bucket):
    io = kind(client)
    io.save_checkpoint(state(1), bucket("a.ckpt"))
    assert number_of(io.load_checkpoint(bucket("a.ckpt"))) == 1
    io.remove_checkpoint(bucket("a.ckpt"))
    assert bucket.names() == []
    # And so may one that it has written anew.
    CheckpointIO(client).save_checkpoint(state(2), bucket("b.ckpt"))
    io.load_checkpoint(Path(bucket("b.ckpt")))
    io.remove_checkpoint(bucket("b.ckpt") + "/")
    assert bucket.names() == ["b.ckpt"]
    io.save_checkpoint(state(3), bucket("b.ckpt"))
    io.remove_checkpoint(bucket("b.ckpt"))
    io.teardown()
    assert bucket.names() == []


@pytest.mark.filterwarnings("ignore")
@BOTH
def test_a_path_of_this_machine_that_was_a_url_is_refused(gs, client, bucket, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = ModelCheckpoint(dirpath=Path(bucket("run")))
    trainer = lightning.pytorch.Trainer(
        accelerator="cpu", devices=1, callbacks=[kept], logger=False, plugins=[kind(client)],
        enable_progress_bar=False, enable_model_summary=False, max_epochs=1)
    with pytest.raises(ValueError, match="pathlib.Path"):
        trainer.fit(model_of(lightning.pytorch), data())
    assert bucket.names() == [] and not list(tmp_path.rglob("*.ckpt"))


def test_resumable_is_for_a_model_checkpoint():
    with pytest.raises(TypeError, match="ModelCheckpoint"):
        resumable("gs://bucket/run")
    callback = ModelCheckpoint(dirpath="/tmp")
    assert resumable(callback) is callback
    assert pickle.loads(pickle.dumps(callback)).dirpath == callback.dirpath
