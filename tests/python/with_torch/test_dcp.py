"""Distributed checkpoints by ranks: saved, and loaded by any number of them."""

import dataclasses
import logging
import pickle
import warnings
from pathlib import Path

import fsspec
import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import FileSystemWriter

import dataflux
import dataflux.torch
import dcp_ranks
from dcp_ranks import Ranks, full_state, load_here, save_here
from dataflux.dcp import StorageReader, StorageWriter, consolidated

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")


@pytest.fixture(scope="module")
def ranks():
    made = Ranks(4)
    yield made
    made.close()


@pytest.fixture
def options(emulator):
    """A client that travels to ranks."""
    return dataflux.Client(**emulator.options)


@pytest.mark.parametrize("before, after", [(4, 4), (4, 2), (2, 3), (3, 1)])
def test_any_number_of_ranks_loads_what_any_other_has_saved(ranks, options, bucket, before, after):
    url = bucket("run/7/")
    assert ranks.run(dcp_ranks.save, options, url, 7, world=before) == ["saved"] * before
    assert ranks.run(dcp_ranks.load, options, url, world=after) == [7] * after
    assert load_here(options, url) == 7


@pytest.mark.parametrize("writer", [{"thread_count": 3}, {"single_file_per_rank": False},
                                    {"single_file_per_rank": False, "thread_count": 4}])
def test_files_of_a_rank_are_as_it_is_told(ranks, options, bucket, writer):
    assert ranks.run(dcp_ranks.save, options, bucket("r"), 3, world=2, writer=writer) == ["saved"] * 2
    files = [name for name in bucket.names() if name.endswith(".distcp")]
    assert len(files) == 6 if "single_file_per_rank" not in writer else len(files) > 10
    assert ranks.run(dcp_ranks.load, options, bucket("r"), world=4) == [3] * 4


def test_saves_over_a_checkpoint_leave_the_newest_alone(ranks, options, bucket, client):
    for step, world in ((1, 4), (2, 2), (3, 3)):
        assert ranks.run(dcp_ranks.save, options, bucket("latest"), step, world=world) == \
            ["saved"] * world
        assert ranks.run(dcp_ranks.load, options, bucket("latest"), world=2) == [step] * 2
    there = client.list_sets(bucket())
    assert [each.prefix for each in there.complete] == ["latest/"] and not there.unfinished
    assert there.complete[0].members == 3 and len(bucket.names()) == 5


def test_planners_that_cache_their_plans_are_told_of_each_save(ranks, options, bucket):
    for step in (1, 2, 3):
        url = bucket("a" if step < 3 else "b")
        assert ranks.run(dcp_ranks.save, options, url, step, world=3, planner=dcp_ranks.Caching) == \
            ["saved"] * 3
        assert ranks.run(dcp_ranks.load, options, url, world=3) == [step] * 3


def test_plans_of_another_writer_are_not_taken_for_its_own(ranks, options, bucket, tmp_path):
    """Two tiers: often to a folder of this machine, seldom to the bucket, by one planner's class."""
    for step, world in ((1, 2), (2, 2), (3, 2)):
        assert ranks.run(dcp_ranks.save_locally, str(tmp_path / "local"), step, world=world,
                         planner=dcp_ranks.TwoTiers) == ["saved"] * world
        assert ranks.run(dcp_ranks.save, options, bucket(f"r{step % 2}"), step, world=world,
                         planner=dcp_ranks.TwoTiers) == ["saved"] * world
        assert ranks.run(dcp_ranks.load, options, bucket(f"r{step % 2}"), world=world) == [step] * world


@pytest.mark.parametrize("writer", ["ours", "original's"])
def test_plans_of_another_writer_in_one_process(options, bucket, tmp_path, writer):
    from dataflux_pytorch.lightning import GCSDistributedWriter

    class Planner(dcp.DefaultSavePlanner):
        def __init__(self):
            super().__init__(enable_plan_caching=True)
            self._cached_plans_key = f"{writer} of {bucket.name}"

    made = (lambda: StorageWriter(bucket("r"), client=options)) if writer == "ours" else \
        (lambda: GCSDistributedWriter(bucket("r"), "project", options))
    for step in (1, 2):
        dcp.save(full_state(step), checkpoint_id=tmp_path, planner=Planner(), no_dist=True)
        dcp.save(full_state(step), storage_writer=made(), planner=Planner(), no_dist=True)
        assert load_here(options, bucket("r")) == step


def test_a_plan_that_is_none_of_this_save_is_an_error(options, bucket):
    class Stubborn(dcp.DefaultSavePlanner):
        def finish_plan(self, new_plan):
            from dataflux.dcp import _writer

            _writer._begun.clear()
            return super().finish_plan(dataclasses.replace(new_plan, storage_data="another's"))

    with pytest.raises(dcp.api.CheckpointException, match="plan of this save, but one of another writer's"):
        dcp.save(full_state(1), storage_writer=StorageWriter(bucket("r"), client=options), planner=Stubborn(),
                 no_dist=True)


@pytest.mark.parametrize("planner", [None, dcp_ranks.TwoTiers])
def test_ranks_that_save_to_different_paths_are_told_both(ranks, options, bucket, client, planner):
    for _ in range(2):
        answers = ranks.run(dcp_ranks.failures, dcp_ranks.save_apart, options, bucket("run"), 1, world=2,
                            planner=planner)
        for answer in answers:
            assert list(answer) == [1]
            why, text = answer[1]
            assert type(why) is ValueError
            assert f"this rank saves to {bucket('run-1')}, and the coordinator to {bucket('run-0')}" in text
        assert not [name for name in bucket.names() if name.startswith("run-1")]
    assert ranks.run(dcp_ranks.save, options, bucket("run-0"), 3, world=2) == ["saved"] * 2
    assert not client.list_sets(bucket()).unfinished


def test_ranks_that_load_from_different_paths_are_told_both(ranks, options, bucket):
    for rank in range(2):
        ranks.run(dcp_ranks.save, options, bucket(f"run-{rank}"), 1, world=2)
    for answer in ranks.run(dcp_ranks.failures, dcp_ranks.load_apart, options, bucket("run"), world=2):
        assert list(answer) == [0]
        why, text = answer[0]
        assert type(why) is ValueError and not getattr(why, "retryable", False)
        assert bucket("run-0/") in text and bucket("run-1/") in text and "all need the same path" in text
    ranks.run(dcp_ranks.save, options, bucket("one"), 4, world=2)
    assert ranks.run(dcp_ranks.load_slashed, options, bucket("one"), world=2) == [4] * 2


def test_ranks_that_save_without_each_other_have_checkpoints_of_their_own(ranks, options, bucket, client):
    for step in (4, 5):
        assert ranks.run(dcp_ranks.save_alone, options, bucket("r"), step, world=3) == ["saved"] * 3
        assert ranks.run(dcp_ranks.load_alone, options, bucket("r"), world=3) == \
            [step * 10 + rank for rank in range(3)]
    assert {each.prefix for each in client.list_sets(bucket()).complete} == \
        {f"r/__{rank}/" for rank in range(3)}
    ranks.run(dcp_ranks.save, options, bucket("both"), 1, world=2)
    refused = ranks.run(dcp_ranks.save_alone, options, bucket("both"), 1, world=2)
    assert all("save those of single ranks to another path" in each for each in refused)


@pytest.fixture(scope="module")
def pair():
    # The process that saves for a rank is begun once, and stays.
    made = Ranks(2)
    yield made
    made.close()


@pytest.mark.parametrize("kind", ["THREAD", "PROCESS"])
@pytest.mark.parametrize("stager", [None, "Default", "Blocking"])
def test_asynchronous_saves(pair, options, bucket, kind, stager):
    answers = pair.run(dcp_ranks.save_async, options, bucket("r"), 6, kind, stager)
    assert answers == ["saved"] * 2
    assert pair.run(dcp_ranks.load, options, bucket("r")) == [6] * 2


@pytest.mark.parametrize("name, failed", [("*.distcp", "__0_0.distcp"), ("*/.metadata", ".metadata"),
                                          (None, "planner")])
def test_an_asynchronous_save_that_fails_and_is_not_asked_is_logged(options, bucket, emulator, caplog, name,
                                                                    failed):
    class Fails(dcp.DefaultSavePlanner):
        def resolve_data(self, write_item):
            raise LookupError("the planner has had enough")

    if name:
        emulator.faults({"verb": "objects.insert", "object": name, "action": "refuse", "status": 403, "count": 0})
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        with caplog.at_level(logging.ERROR, "dataflux"):
            saving = dcp.async_save(full_state(1), storage_writer=StorageWriter(bucket("r"), client=options),
                                    planner=None if name else Fails())
            saving.exception()
            text, = [each.getMessage() for each in caplog.records if each.name == "dataflux"]
            assert f"the save to {bucket('r')} has failed" in text and failed in text
            caplog.clear()
            # One that raises where it is called is not told twice.
            with pytest.raises(dcp.api.CheckpointException):
                dcp.save(full_state(1), storage_writer=StorageWriter(bucket("r"), client=options),
                         planner=None if name else Fails())
            assert not [each for each in caplog.records if each.name == "dataflux"]
    finally:
        torch.distributed.destroy_process_group()


def test_a_rank_that_raises_fails_the_save_of_all(ranks, options, bucket, client):
    ranks.run(dcp_ranks.save, options, bucket("r"), 1, world=3)
    failed = ranks.run(dcp_ranks.save, options, bucket("r"), 2, world=3, planner=dcp_ranks.Failing)
    assert all("rank 1 has had enough" in each for each in failed)
    assert load_here(options, bucket("r")) == 1
    assert ranks.run(dcp_ranks.save, options, bucket("r"), 3, world=2) == ["saved"] * 2
    assert load_here(options, bucket("r")) == 3 and not client.list_sets(bucket()).unfinished


def test_a_file_that_fails_fails_the_save(options, bucket, emulator):
    save_here(options, bucket("r"), 1)
    emulator.faults({"verb": "objects.insert", "object": "*__0_1.distcp", "action": "refuse",
                     "status": 403, "count": 0})
    with pytest.raises(dcp.api.CheckpointException, match="__0_1.distcp"):
        save_here(options, bucket("r"), 2, thread_count=3)
    emulator.faults()
    assert load_here(options, bucket("r")) == 1


def test_what_torch_has_written_is_read(ranks, options, bucket, emulator, tmp_path, monkeypatch):
    monkeypatch.setitem(fsspec.config.conf, "gs", emulator.options)
    assert ranks.run(dcp_ranks.save_by_torch, emulator.options, bucket("fsspec"), 5, world=2) == \
        ["saved"] * 2
    dcp.save(full_state(6), storage_writer=FileSystemWriter(tmp_path / "local"), no_dist=True)
    for path in (tmp_path / "local").iterdir():
        bucket.put("local/" + path.name, path.read_bytes())
    assert ranks.run(dcp_ranks.load, options, bucket("fsspec"), world=3) == [5] * 3
    assert load_here(options, bucket("local")) == 6
    with pytest.raises(dcp.api.CheckpointException, match="which is no set: another program"):
        save_here(options, bucket("fsspec"), 7)


@pytest.mark.parametrize("saves", [1, 2])
def test_torch_reads_what_is_written(ranks, options, bucket, emulator, saves):
    for step in range(saves):
        ranks.run(dcp_ranks.save, options, bucket("r"), step, world=3)
    assert ranks.run(dcp_ranks.load_by_torch, emulator.options, bucket("r"), world=2) == \
        [saves - 1] * 2


def test_extensions_transform_what_is_stored(options, bucket):
    from torch.distributed.checkpoint._extension import ExtensionRegistry

    state = {"a": torch.arange(2_000_000), "b": "words"}
    dcp.save(state, storage_writer=StorageWriter(bucket("r"), client=options,
                                                 extensions=[dcp_ranks.Flipped()]), no_dist=True)
    registry = ExtensionRegistry()
    registry.register(dcp_ranks.Flipped)
    found = {"a": torch.zeros(2_000_000, dtype=torch.int64), "b": ""}
    dcp.load(found, storage_reader=StorageReader(bucket("r"), client=options,
                                                 extension_registry=registry), no_dist=True)
    assert torch.equal(found["a"], state["a"]) and found["b"] == "words"


def test_a_checkpoint_of_ranks_as_one_state(ranks, options, bucket):
    ranks.run(dcp_ranks.save, options, bucket("r"), 5, world=3)
    for path in (bucket("r"), Path(bucket("r"))):
        found = consolidated(path, client=options)
        want = dcp_ranks.flat(full_state(5))
        assert dcp_ranks.flat(found).keys() == want.keys()
        for name, have in dcp_ranks.flat(found).items():
            assert torch.equal(have, want[name]) if isinstance(have, torch.Tensor) else have == want[name], name
    with pytest.raises(dcp.api.CheckpointException, match="no checkpoint is there"):
        consolidated(bucket("none"), client=options)
    with pytest.raises(ValueError, match="path"):
        consolidated("/tmp/x")


def test_what_the_objects_of_a_checkpoint_have(options, bucket, client):
    key = "projects/p/locations/l/keyRings/r/cryptoKeys/k"
    save_here(options, bucket("r"), 1, files={"meta.pt": 1}, storage_class="NEARLINE", kms_key_name=key,
              custom_time=1e9, metadata={"run": "seven"})
    found = {name.rpartition("/")[2]: client.stat(bucket(name)) for name in bucket.names()}
    for name in ("__0_0.distcp", "meta.pt"):
        there = found.pop(name)
        assert there.storage_class == "NEARLINE" and there.metadata["run"] == "seven"
        assert there.custom_time.timestamp() == 1e9
        assert there.kms_key_name.startswith(key)
    assert len(found) == 2 and all(each.kms_key_name.startswith(key) for each in found.values())
    assert load_here(options, bucket("r")) == 1
    for how in ({"storage_class": 7}, {"metadata": {"a": 1}}, {"kms_key_name": b"k"}, {"custom_time": "now"}):
        with pytest.raises((TypeError, ValueError), match=next(iter(how))):
            StorageWriter(bucket("r"), client=options, **how)


def test_one_file_is_asked_for_and_a_sharded_checkpoint_is_there(options, bucket, emulator):
    save_here(options, bucket("r"), 1)
    for mmap in (False, True):
        before = emulator.answered()
        with pytest.raises(dataflux.NotFoundError, match="a sharded checkpoint is there.*StorageReader") as told:
            dataflux.torch.load(bucket("r"), client=options, mmap=mmap)
        assert told.value.object == "r" and emulator.answered() - before <= 3
        with pytest.raises(dataflux.NotFoundError) as told:
            dataflux.torch.load(bucket("none"), client=options, mmap=mmap)
        assert "sharded" not in str(told.value)


def test_more_files_are_of_the_same_commit(options, bucket, client):
    writer = save_here(options, bucket("r"), 1, files={"meta.pt": {"epoch": 3}})
    found = client.checkpoint_set(bucket("r")).open()
    assert "meta.pt" in [each.name for each in found.members]
    assert writer.committed.members == 2 and load_here(options, bucket("r")) == 1
    reader = StorageReader(bucket("r"), client=options)
    assert reader.load_file("meta.pt") == {"epoch": 3}
    for name in ("none.pt", ".metadata.pt"):
        with pytest.raises(dataflux.NotFoundError, match=name):
            reader.load_file(name)
    save_here(options, bucket("r"), 2, files={"meta.pt": {"epoch": 4}})
    with pytest.raises(dataflux.Error, match="replaced") as told:  # not that of another commit
        reader.load_file("meta.pt")
    assert told.value.status == "aborted"


def test_a_file_beside_what_torch_has_written(options, bucket, tmp_path):
    dcp.save({"a": torch.ones(2)}, storage_writer=dcp.FileSystemWriter(tmp_path), no_dist=True)
    torch.save({"epoch": 3}, tmp_path / "meta.pt")
    for path in tmp_path.iterdir():
        bucket.put("r/" + path.name, path.read_bytes())
    assert StorageReader(bucket("r"), client=options).load_file("meta.pt") == {"epoch": 3}


def test_an_empty_state_is_a_checkpoint(options, bucket):
    for state in ({}, {"nothing": torch.empty(0)}):
        dcp.save(dict(state), storage_writer=StorageWriter(bucket("r"), client=options), no_dist=True)
        dcp.load(dict(state), storage_reader=StorageReader(bucket("r"), client=options), no_dist=True)


def test_a_view_is_saved_without_the_rest_of_its_storage(options, bucket):
    everything = torch.arange(1_000_000)
    state = {"part": everything[10:20], "columns": everything.view(1000, 1000)[:, 3:5]}
    writer = StorageWriter(bucket("r"), client=options)
    dcp.save(state, storage_writer=writer, no_dist=True)
    assert writer.committed.bytes < 40_000
    found = {"part": torch.zeros(10, dtype=torch.int64), "columns": torch.zeros(1000, 2, dtype=torch.int64)}
    dcp.load(found, storage_reader=StorageReader(bucket("r"), client=options), no_dist=True)
    assert all(torch.equal(found[name], state[name]) for name in state)


@pytest.mark.parametrize("target", [
    lambda shape: torch.zeros(shape), lambda shape: torch.zeros(shape, dtype=torch.float64),
    lambda shape: torch.zeros(shape[::-1]).t()])
def test_large_tensors_go_where_they_belong(options, bucket, target):
    state = {"straight": torch.randn(3000, 700), "turned": torch.randn(700, 3000).t(),
             "deep": torch.randn(2, 1_100_000)}
    dcp.save(state, storage_writer=StorageWriter(bucket("r"), client=options), no_dist=True)
    found = {name: target(value.shape) for name, value in state.items()}
    dcp.load(found, storage_reader=StorageReader(bucket("r"), client=options), no_dist=True)
    assert all(torch.equal(found[name].float(), state[name]) for name in state)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_parts_of_large_tensors(ranks, options, bucket, dim):
    assert ranks.run(dcp_ranks.save_block, options, bucket("r"), (30, 40, 3000), dim, world=2) == \
        ["saved"] * 2
    for to in range(3):
        answers = ranks.run(dcp_ranks.load_block, options, bucket("r"), (30, 40, 3000), to, world=3)
        assert answers == ["same"] * 3


@pytest.fixture(scope="module")
def eight():
    made = Ranks(8)
    yield made
    made.close()


@pytest.mark.parametrize("before, after", [(4, 4), (4, 2), (2, 8)])
def test_not_much_more_is_read_than_the_plans_ask_for(eight, options, bucket, emulator, before, after):
    assert eight.run(dcp_ranks.save_model, options, bucket("r"), world=before) == ["saved"] * before
    was = emulator.counters()["replyBodyBytes"]
    asked = eight.run(dcp_ranks.load_model, options, bucket("r"), world=after)
    assert all(isinstance(each, int) for each in asked), asked
    assert emulator.counters()["replyBodyBytes"] - was <= 1.05 * sum(asked)


@pytest.mark.parametrize("count, numbers", [(10_000, 20), (2000, 4096), (300, 75_000)])
def test_small_tensors_come_many_at_a_time(options, bucket, emulator, count, numbers):
    state = {f"layer.{n}": torch.full((numbers,), float(n)) for n in range(count)}
    writer = StorageWriter(bucket("r"), client=options)
    dcp.save(state, storage_writer=writer, no_dist=True)
    found = {name: torch.zeros(numbers) for name in state}
    was = emulator.answered()
    dcp.load(found, storage_reader=StorageReader(bucket("r"), client=options), no_dist=True)
    assert emulator.answered() - was <= writer.committed.bytes >> 20
    assert all(torch.equal(found[name], state[name]) for name in state)


def test_writers_and_readers_are_pickled_as_what_they_were_told(options, bucket):
    writer = pickle.loads(pickle.dumps(StorageWriter(bucket("r"), client=options, thread_count=2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save(full_state(4), storage_writer=writer, no_dist=True)
    assert pickle.loads(pickle.dumps(writer)).committed is None
    reader = pickle.loads(pickle.dumps(StorageReader(bucket("r"), client=options)))
    state = dcp_ranks.emptied(full_state(0))
    dcp.load(state, storage_reader=reader, no_dist=True)
    assert state["step"] == 4


def test_one_writer_saves_to_many_paths(options, bucket):
    writer, reader = (kind(bucket("r"), client=options) for kind in (StorageWriter, StorageReader))
    for step in (1, 2):
        dcp.save(full_state(step), storage_writer=writer, checkpoint_id=bucket(f"s/{step}"), no_dist=True)
    assert writer.checkpoint_id == bucket("s/2")
    for step in (1, 2):
        state = dcp_ranks.emptied(full_state(0))
        dcp.load(state, storage_reader=reader, checkpoint_id=bucket(f"s/{step}"), no_dist=True)
        assert state["step"] == step
