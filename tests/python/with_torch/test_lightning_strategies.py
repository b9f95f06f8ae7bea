"""dataflux.lightning's FSDPStrategy and ModelParallelStrategy in real Trainers of two ranks, on the processor
over gloo."""

import os
import subprocess
import sys


import fsspec
import pytest
import torch

import dataflux
import dataflux.fsspec
import strategy_ranks
from dataflux.fsspec import DatafluxFileSystem
from dataflux.lightning import CheckpointIO, FSDPStrategy, ModelParallelStrategy, consolidated
from dcp_ranks import Ranks

KINDS = pytest.mark.parametrize("kind", ["FSDP", "ModelParallel"])
_unbroken = {}


@pytest.fixture(scope="module")
def two(_service):
    ranks = Ranks(2)
    try:
        assert ranks.run(strategy_ranks.begin, _service.options) == ["ready", "ready"]
        yield ranks
    finally:
        ranks.close()


@pytest.fixture
def run(two, client):
    """Calls a function of strategy_ranks by both, and gives what rank 0 has. Both raise, or none."""
    def call(function, *arguments, fails=None, **how):
        found = two.run(function, *arguments, **how)
        raised = [isinstance(each, str) and each.startswith("Traceback") for each in found]
        assert raised == [fails is not None] * 2, found
        if fails is not None:
            assert all(fails in each for each in found), found
        return found[0]

    return call


def same(one, other):
    """Of two states, whatever they are made of."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):  # of a full checkpoint torch makes a list of betas
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def trained(state):
    return {key: state[key] for key in ("weights", "optimizer", "step", "epoch")}


def refuse_rank_1(emulator):
    emulator.faults({"verb": "objects.insert", "object": "*/__1_0.distcp", "action": "refuse", "status": 403,
                     "count": 0})


def folders(bucket):
    """Names of checkpoints, and of what else is there."""
    return sorted({name.partition(".ckpt")[0] for name in bucket.names()})


# ---- save and resume ---------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "full"])
@pytest.mark.parametrize("use_async", [False, True], ids=["waits", "async"])
def test_what_goes_on_from_a_checkpoint_ends_as_an_unbroken_run(run, client, bucket, kind, sharded,
                                                                 use_async):
    how = {"sharded": sharded, "use_async": use_async, "idle": True}
    if kind not in _unbroken:
        _unbroken[kind] = run(strategy_ranks.fit, kind, client, bucket("whole"), 4, idle=True)
    first = run(strategy_ranks.fit, kind, client, bucket("run"), 3, **how)
    assert {name for name in folders(bucket) if name.startswith("run/")} == {
        "run/last", *(url[len(bucket("x")) - 1:-len(".ckpt")] for url in first["best"])}
    assert len(first["best"]) == 2 and ("run/last.ckpt" in bucket.names()) != sharded
    path = "last" if use_async else bucket("run/last.ckpt")
    went_on = run(strategy_ranks.resume, kind, client, bucket("run"), 4, ckpt_path=path, **how)
    assert same(trained(went_on), trained(_unbroken[kind]))
    assert not client.find_leftovers(bucket()).rows
    assert not client.list_sets(bucket()).unfinished


def test_the_original_s_strategy_goes_on(run, client, bucket):
    for epochs in (1, 2):
        done = run(strategy_ranks.fit, "original", client, bucket("run"), epochs, ckpt_path="last",
                   use_async=True, top=1)
    assert done["step"] == 8 and "run/last.ckpt/.metadata" in bucket.names()


@KINDS
@pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "full"])
@pytest.mark.parametrize("where", ["slash", "root"])
def test_last_is_found_whatever_names_the_folder(run, client, bucket, kind, sharded, where):
    folder, how = (bucket("run/"), {}) if where == "slash" else (None, {"root": bucket("run")})
    for epochs in (1, 2):
        done = run(strategy_ranks.fit, kind, client, folder, epochs, ckpt_path="last", top=0, sharded=sharded,
                   **how)
        # One that begins anew would save a last-v1.
        assert done["step"] == epochs * 4
        assert folders(bucket) == ["run/last" if where == "slash" else "run/checkpoints/last"]


@KINDS
@pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "full"])
@pytest.mark.parametrize("use_async", [False, True], ids=["waits", "async"])
def test_the_checkpoint_that_a_run_has_come_from_stays(run, client, bucket, kind, sharded, use_async):
    how = {"sharded": sharded, "use_async": use_async, "top": 1, "monitor": None, "last": False}
    run(strategy_ranks.fit, kind, client, bucket("run1"), 1, **how)
    first = bucket.names()
    assert folders(bucket) == ["run1/epoch=0"]
    run(strategy_ranks.resume, kind, client, bucket("run2"), 3, ckpt_path=bucket("run1/epoch=0.ckpt"), **how)
    assert folders(bucket) == ["run1/epoch=0", "run2/epoch=2"] and set(first) < set(bucket.names())


@pytest.mark.parametrize("one, sharded, other", [
    ("FSDP", True, "ModelParallel"), ("ModelParallel", True, "FSDP"), ("FSDP", False, "ModelParallel"),
    ("ModelParallel", False, "FSDP")])
def test_one_strategy_loads_what_another_has_saved(run, client, bucket, one, sharded, other):
    was = run(strategy_ranks.fit, one, client, bucket("run"), 2, sharded=sharded)
    # It has no epoch to train, and so nothing changes.
    now = run(strategy_ranks.resume, other, client, bucket("other"), 2, ckpt_path=bucket("run/last.ckpt"),
              sharded=not sharded)
    assert same(now["weights"], was["weights"]) and now["step"] == was["step"]
    for name, state in was["optimizer"]["state"].items():
        assert same(now["optimizer"]["state"][name], state), name


@KINDS
def test_the_newer_one_counts_where_a_path_has_one_of_each_kind(run, client, bucket, kind):
    for number, sharded in enumerate((True, False, True), 1):
        was = run(strategy_ranks.keep, kind, client, bucket("run"), number, sharded=sharded, top=0)
        run(strategy_ranks.save, bucket("a.ckpt"))
        found = run(strategy_ranks.tested, kind, client, bucket("x"), 1, ckpt_path=bucket("a.ckpt"))
        assert same(found, was["weights"])
    run(strategy_ranks.remove, bucket("a.ckpt"))
    run(strategy_ranks.tested, kind, client, bucket("x"), 1, ckpt_path=bucket("a.ckpt"),
        fails="no checkpoint is there")


@KINDS
def test_paths_of_this_machine_are_lightnings_and_what_it_saved_there_is_loaded(
        run, client, bucket, emulator, tmp_path, kind):
    before = emulator.answered()
    was = run(strategy_ranks.fit, kind, client, tmp_path, 1, use_async=True)
    assert (tmp_path / "last.ckpt" / "meta.pt").is_file()
    found = run(strategy_ranks.tested, kind, client, tmp_path, 1, ckpt_path=str(tmp_path / "last.ckpt"))
    assert same(found, was["weights"]) and emulator.answered() == before
    for path in (tmp_path / "last.ckpt").iterdir():
        bucket.put(f"copied.ckpt/{path.name}", path.read_bytes())
    now = run(strategy_ranks.resume, kind, client, bucket("x"), 1, ckpt_path=bucket("copied.ckpt"), top=0)
    assert same(trained(now), trained(was))
    whole = consolidated(bucket("copied.ckpt"), client=client)
    assert same(dict(whole["state_dict"]), was["weights"]) and whole["global_step"] == was["step"]


# ---- what is there -----------------------------------------------------------------------------


@KINDS
def test_one_commit_covers_all_and_each_byte_is_read_once(run, client, emulator, bucket, kind):
    was = run(strategy_ranks.fit, kind, client, bucket("run"), 1, top=0)
    opened = client.checkpoint_set(bucket("run/last.ckpt")).open(last=".metadata")
    assert [each.name for each in opened.members] == ["__0_0.distcp", "__1_0.distcp", "meta.pt"]
    assert torch.load(opened.open("meta.pt"))["global_step"] == was["step"]
    sharded = sum(each.size for each in opened.members)
    weights = sum(each.nbytes for each in was["weights"].values())

    def bytes_of(function):
        before = emulator.counters()["replyBodyBytes"]
        run(function, kind, client, bucket("run"), 1, ckpt_path=bucket("run/last.ckpt"), top=0)
        return emulator.counters()["replyBodyBytes"] - before

    # The model is a third of it, and the optimizer's two moments the rest. Nothing is trained or saved.
    assert bytes_of(strategy_ranks.resume) < 1.4 * sharded
    assert bytes_of(strategy_ranks.tested) < weights + 0.4 * sharded


@KINDS
def test_consolidated(run, client, bucket, monkeypatch, emulator, kind):
    was = run(strategy_ranks.fit, kind, client, bucket("run"), 1, top=0)
    whole = consolidated(bucket("run/last.ckpt"), client=client)
    assert same(dict(whole["state_dict"]), was["weights"]) and whole["global_step"] == was["step"]
    state = whole["optimizer_states"][0]["state"]["wide.weight"]
    assert same(state, was["optimizer"]["state"]["wide.weight"])
    dataflux.torch.save(whole, bucket("whole.ckpt"), client=client)
    monkeypatch.setitem(fsspec.config.conf, "gs", emulator.options)
    dataflux.fsspec.register("gs")
    DatafluxFileSystem.clear_instance_cache()
    model = strategy_ranks.Model.load_from_checkpoint(bucket("whole.ckpt"))
    DatafluxFileSystem.clear_instance_cache()
    assert same(dict(model.state_dict()), was["weights"])
    again = run(strategy_ranks.resume, kind, client, bucket("x"), 1, ckpt_path=bucket("whole.ckpt"))
    assert same(again["optimizer"]["state"]["wide.weight"], state)


@KINDS
@pytest.mark.parametrize("use_async", [False, True], ids=["waits", "async"])
def test_options_of_a_sharded_checkpoint(run, client, bucket, kind, use_async):
    run(strategy_ranks.keep, kind, client, bucket("run"), 1, use_async=use_async, top=0)
    run(strategy_ranks.save, bucket("a.ckpt"), storage_options={"storage_class": "NEARLINE",
                                                                "metadata": {"run": "seven"}})
    assert run(strategy_ranks.each_failure, [None]) == [""]
    files = [client.stat(bucket(name)) for name in bucket.names()
             if name.startswith("a.ckpt/") and name.endswith((".distcp", ".pt"))]
    assert len(files) == 3
    assert all(each.storage_class == "NEARLINE" and each.metadata["run"] == "seven" for each in files)


@KINDS
def test_saves_of_one_step_go_one_behind_the_other(run, client, emulator, bucket, kind):
    run(strategy_ranks.keep, kind, client, bucket("run"), 1, use_async=True, top=0)
    # Both are copied before any of them is sent, and the second takes the memory of the first.
    assert run(strategy_ranks.save_two_at_once, bucket("a.ckpt"), bucket("b.ckpt")) == "shared"
    assert folders(bucket) == ["a", "b", "run/last"]
    one, other = (consolidated(bucket(name), client=client) for name in ("a.ckpt", "b.ckpt"))
    assert same(dict(one["state_dict"]), dict(other["state_dict"]))
    refuse_rank_1(emulator)
    told = run(strategy_ranks.each_failure, [bucket("c.ckpt"), bucket("d.ckpt"), None, None])
    emulator.faults()
    assert sum("permission_denied" in each for each in told) in (1, 2)
    assert "permission_denied" in told[2] or "permission_denied" in told[1]
    assert told[3] == "" and folders(bucket) == ["a", "b", "run/last"]


# ---- failures ----------------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("use_async", [False, True], ids=["waits", "async"])
def test_a_rank_that_fails_fails_all_and_what_was_there_stays(run, client, emulator, bucket, kind,
                                                               use_async):
    run(strategy_ranks.fit, kind, client, bucket("run"), 1, use_async=use_async, top=1)
    before = bucket.names()
    refuse_rank_1(emulator)
    run(strategy_ranks.resume, kind, client, bucket("run"), 3, ckpt_path="last", use_async=use_async, top=1,
        fails="permission_denied")
    assert bucket.names() == before and not client.find_leftovers(bucket()).rows
    emulator.faults()
    went_on = run(strategy_ranks.resume, kind, client, bucket("run"), 3, ckpt_path="last",
                  use_async=use_async, top=1)
    assert went_on["epoch"] == 3 and len(folders(bucket)) == 2


@pytest.mark.parametrize("use_async", [False, True], ids=["waits", "async"])
@pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "full"])
def test_what_rank_0_cannot_pickle_fails_all_at_once(run, client, bucket, use_async, sharded):
    run(strategy_ranks.keep, "ModelParallel", client, bucket("run"), 1, use_async=use_async, sharded=sharded,
        top=0)
    run(strategy_ranks.save_what_does_not_pickle, bucket("a.ckpt"), fails="not me")
    run(strategy_ranks.save, bucket("b.ckpt"))
    assert run(strategy_ranks.each_failure, [None]) == [""]
    assert folders(bucket) == ["b", "run/last"]


def test_a_full_save_that_fails_fails_all(run, client, emulator, bucket):
    emulator.faults({"verb": "objects.insert", "action": "refuse", "status": 403, "count": 0})
    run(strategy_ranks.fit, "ModelParallel", client, bucket("run"), 1, sharded=False,
        fails="permission_denied")
    assert bucket.names() == []


@KINDS
@pytest.mark.parametrize("asked", ["save", "end"])
def test_a_failure_raises_once(run, client, emulator, bucket, kind, asked):
    run(strategy_ranks.keep, kind, client, bucket("run"), 1, use_async=True, top=0)
    refuse_rank_1(emulator)
    run(strategy_ranks.save_and_join, bucket("failed.ckpt"))
    emulator.faults()
    asks = [bucket("refused.ckpt")] if asked == "save" else [None]
    told = run(strategy_ranks.each_failure, [*asks, bucket("good.ckpt"), None, None])
    assert "permission_denied" in told[0] and "__1_0.distcp" in told[0] and told[1:] == ["", "", ""]
    assert folders(bucket) == ["good", "run/last"]


@KINDS
def test_the_state_is_that_of_the_call(run, client, bucket, kind):
    run(strategy_ranks.keep, kind, client, bucket("run"), 1, use_async=True, top=0)
    before = run(strategy_ranks.save_while_all_changes, bucket("a.ckpt"))
    found = consolidated(bucket("a.ckpt"), client=client)
    assert same(dict(found["state_dict"]), before["weights"]) and found["words"] == ["before"]
    for name, state in found["optimizer_states"][0]["state"].items():
        assert same(state, before["optimizer"]["state"][name]), name


@KINDS
@pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "full"])
def test_weights_alone_are_not_gone_on_from(run, client, bucket, kind, sharded):
    was = run(strategy_ranks.keep, kind, client, bucket("run"), 1, sharded=sharded, top=0)
    run(strategy_ranks.save, bucket("w.ckpt"), weights_only=True)
    run(strategy_ranks.resume, kind, client, bucket("run"), 2, ckpt_path=bucket("w.ckpt"), top=0,
        fails="save_weights_only")
    found = run(strategy_ranks.tested, kind, client, bucket("x"), 1, ckpt_path=bucket("w.ckpt"))
    assert same(found, was["weights"])


@KINDS
@pytest.mark.parametrize("sharded", [True, False], ids=["sharded", "full"])
def test_what_the_model_has_and_the_checkpoint_lacks(run, client, bucket, kind, sharded):
    was = run(strategy_ranks.fit, kind, client, bucket("run"), 1, sharded=sharded, top=0)
    how = {"ckpt_path": bucket("run/last.ckpt"), "idle": True}
    run(strategy_ranks.tested, kind, client, bucket("x"), 1, fails="idle.", **how)
    found = run(strategy_ranks.tested, kind, client, bucket("x"), 1, strict=False, **how)
    assert same(found, was["weights"])


@KINDS
def test_what_is_no_checkpoint_fails_all(run, client, bucket, kind):
    dataflux.torch.save([1, 2], bucket("a.ckpt"), client=client)
    run(strategy_ranks.tested, kind, client, bucket("x"), 1, ckpt_path=bucket("a.ckpt"),
        fails="no state_dict")
    dataflux.torch.save({"step": 1}, bucket("b.ckpt/.metadata"), client=client)
    run(strategy_ranks.tested, kind, client, bucket("x"), 1, ckpt_path=bucket("b.ckpt"), fails="no metadata")


ENDS = """
import sys
import threading
import torch.distributed as dist
import strategy_ranks
from dataflux.lightning import _sharded

dist.init_process_group("gloo", init_method=sys.argv[2], rank=0, world_size=1)
strategy_ranks.begin({"endpoint": sys.argv[3], "emulator": True}, world=1)
strategy_ranks.keep("ModelParallel", None, sys.argv[4], 1, world=1, use_async=True, top=0)
send = _sharded.save

def when_main_has_ended(*arguments):
    threading.main_thread().join()
    send(*arguments)

_sharded.save = when_main_has_ended
strategy_ranks.save(sys.argv[1], world=1)
"""


@pytest.mark.without_tokens
def test_the_interpreter_s_end_with_a_save_under_way(emulator, bucket, client, tmp_path):
    here = os.path.dirname(__file__)
    environment = {**os.environ, **emulator.environment, "GLOO_SOCKET_IFNAME": "lo",
                   "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ENDS, bucket("a.ckpt"), (tmp_path / "group").as_uri(),
         emulator.endpoint, str(tmp_path)], text=True, capture_output=True, timeout=240, env=environment)
    assert done.returncode == 0, done.stderr
    assert f"has waited for the save of {bucket('a.ckpt')}, which has ended well" in done.stderr
    assert consolidated(bucket("a.ckpt"), client=client)["global_step"] == 8


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [FSDPStrategy, ModelParallelStrategy])
def test_bad_input(emulator, client, bucket, kind):
    before = emulator.answered()
    for how, named in (({"client": "gs://bucket"}, "client"), ({"use_async": 1}, "use_async")):
        with pytest.raises(TypeError, match=named):
            kind(**how)
    with pytest.raises(ValueError, match="state_dict_type: 'full' or 'sharded'"):
        FSDPStrategy(state_dict_type="half")
    made = kind(client=client, **({"state_dict_type": "sharded"} if kind is FSDPStrategy else {}))
    for path in ("gs://bucket", "gs://"):
        with pytest.raises(ValueError, match="path"):
            made.save_checkpoint({"state_dict": {}}, path)
        with pytest.raises(ValueError, match="path"):
            made.load_checkpoint(path)
    with pytest.raises(TypeError, match="storage_options"):
        made.save_checkpoint({"state_dict": {}}, bucket("a.ckpt"), storage_options={"crc32": True})
    with pytest.raises(ValueError, match="path.*of this machine"):
        consolidated("/tmp/a.ckpt")
    with pytest.raises(TypeError, match="client"):
        consolidated(bucket("a.ckpt"), client="gs://bucket")
    assert emulator.answered() == before
    assert type(made.checkpoint_io) is CheckpointIO
