"""Distributed checkpoints when things go wrong: the old one or the new one is there, whole."""

import io
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
import torch
import torch.distributed.checkpoint as dcp

import dataflux
import dcp_ranks
from dataflux.dcp import StorageReader, StorageWriter
from dataflux.dcp._metadata import parsed
from dcp_ranks import Ranks, emptied, full_state, load_here, save_here
from service import wait_until

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
KILLS = 200 if os.environ.get("DATAFLUX_TEST_FULL") else 6  # each of one rank, and of all


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


def member(bucket, number=0):
    return next(name for name in bucket.names() if name.endswith(f"_{number}.distcp"))


@pytest.mark.parametrize("whom", [(1,), ()], ids=["one", "all"])
def test_killed_at_any_moment_the_old_one_or_the_new_one_is_there(options, bucket, client, whom):
    url, last = bucket("run/latest"), 0
    save_here(options, url, 0)
    for attempt in range(1, KILLS + 1):
        ranks = Ranks(2)
        try:
            ranks.run(dcp_ranks.ready)
            ranks.begin(dcp_ranks.save, options, url, attempt)
            time.sleep(random.random() * 0.08)
            ranks.kill(*whom)
            if not whom:
                for process in ranks.processes:
                    process.join()
        finally:
            ranks.close()
        there = load_here(options, url)
        assert there in (last, attempt)
        last = there
    save_here(options, url, 1000)
    assert load_here(options, url) == 1000
    there = client.list_sets(bucket())
    assert len(there.complete) == 1 and not there.damaged and not there.unfinished
    assert len(bucket.names()) == 3 and not client.find_leftovers(bucket()).rows


def test_processes_that_save_asynchronously_are_killed(options, bucket, client, emulator):
    """torch begins no others in their place: what follows is saved without."""
    inserts = lambda: sum(row["verb"] == "objects.insert" and bucket.name in row["target"]  # noqa: E731
                          for row in emulator.log())
    ranks, processes = Ranks(2), []
    try:
        assert ranks.run(dcp_ranks.save, options, bucket("r"), 1) == ["saved"] * 2
        before = inserts()
        emulator.faults({"verb": "objects.insert", "object": "r/*.distcp", "action": "stall", "count": 0})
        processes = ranks.run(dcp_ranks.begin_async, options, bucket("r"), 2)
        assert wait_until(lambda: inserts() == before + 2)
        for process in processes:
            os.kill(process, signal.SIGKILL)
        assert ranks.run(dcp_ranks.end_async) == ["RuntimeError"] * 2
        emulator.faults()
        assert ranks.run(dcp_ranks.load, options, bucket("r")) == [1] * 2
        assert ranks.run(dcp_ranks.save, options, bucket("r"), 3) == ["saved"] * 2
    finally:
        ranks.close()
        for process in processes:
            with suppress(ProcessLookupError, TypeError):
                os.kill(process, signal.SIGKILL)
    assert load_here(options, bucket("r")) == 3
    assert len(bucket.names()) == 4 and not client.list_sets(bucket()).unfinished
    assert not client.find_leftovers(bucket()).rows


WIDE = 200_000  # columns: 70 MiB, of which each rank sends its file in parts


def killed_while_parts_go_up(options, bucket, emulator, step, name="r"):
    """A save of two ranks that leaves two uploads open."""
    before = opened_below(options, bucket, name)
    emulator.faults({"verb": "multipart.part", "action": "stall", "count": 0})
    ranks = Ranks(2)
    try:
        ranks.begin(dcp_ranks.save, options, bucket(name), step, wide=WIDE)
        assert wait_until(lambda: opened_below(options, bucket, name) == before + 2)
        ranks.kill()
        for process in ranks.processes:
            process.join()
    finally:
        ranks.close()
        emulator.faults()


def opened_below(client, bucket, name):
    return sum(each.uploads for each in client.list_sets(bucket(name)).unfinished)


@pytest.mark.parametrize("there", [False, True])
def test_what_killed_saves_have_open_is_shown_and_goes_with_the_next_save(options, bucket, emulator, there):
    opened = lambda: emulator.counters()["multipartUploadsOpen"]  # noqa: E731
    before = opened()
    if there:
        save_here(options, bucket("r"), 1)
    for number in (1, 2):
        killed_while_parts_go_up(options, bucket, emulator, number)
        assert opened() == before + 2 * number
    unfinished = options.list_sets(bucket()).unfinished
    assert [each.uploads for each in unfinished] == [2, 2] and not any(each.bytes for each in unfinished)
    writer = save_here(options, bucket("r"), 3)
    assert opened() == before and not options.list_sets(bucket()).unfinished
    assert writer.committed.replaced.uploads == 4 and load_here(options, bucket("r")) == 3


@pytest.mark.parametrize("how", ["keep_last", "remove"])
def test_what_a_killed_save_has_open_goes_without_another(options, bucket, emulator, how):
    opened = lambda: emulator.counters()["multipartUploadsOpen"]  # noqa: E731
    before = opened()
    save_here(options, bucket("run/1"), 1)
    killed_while_parts_go_up(options, bucket, emulator, 2, "run/2")
    if how == "keep_last":
        assert options.keep_last_sets(bucket("run"), 1, remove_unfinished_older_than=86400).uploads == 0
        assert opened() == before + 2
        # The service tells whole seconds.
        assert wait_until(lambda: options.keep_last_sets(
            bucket("run"), 1, remove_unfinished_older_than=0.1).uploads == 2)
    else:
        assert options.remove_sets(bucket("run/2")).uploads == 2
    assert opened() == before and load_here(options, bucket("run/1")) == 1


def test_a_save_that_is_abandoned_leaves_nothing_open(options, bucket, emulator):
    before = emulator.counters()["multipartUploadsOpen"]
    writer = StorageWriter(bucket("r"), client=options)
    emulator.faults({"verb": "multipart.abort", "action": "refuse", "status": 403, "from": 1, "count": 1},
                    {"verb": "multipart.complete", "action": "refuse", "status": 403, "count": 0})
    with pytest.raises(dcp.api.CheckpointException):
        dcp.save({"a": torch.ones(5 << 20)}, storage_writer=writer, no_dist=True)
    emulator.faults()
    assert emulator.counters()["multipartUploadsOpen"] == before + 1
    writer.abandon()
    assert emulator.counters()["multipartUploadsOpen"] == before and bucket.names() == []


STEPS = ["objects.list", "objects.insert", "objects.get", "objects.media"]


@pytest.mark.parametrize("verb", STEPS)
@pytest.mark.parametrize("number", [1, 2, 3])
def test_what_is_refused_at_any_step_is_an_error_and_leaves_the_old_one(options, bucket, emulator, verb,
                                                                        number):
    save_here(options, bucket("r"), 1)
    emulator.faults({"verb": verb, "from": number, "count": 0, "action": "refuse", "status": 403})
    failed = None
    try:
        save_here(options, bucket("r"), 2)
    except dcp.api.CheckpointException as why:
        failed = why
        assert isinstance(why.failures[0][0], dataflux.PermissionDeniedError)
    seen = None
    try:
        seen = load_here(options, bucket("r"))
    except dcp.api.CheckpointException:
        pass
    emulator.faults()
    there = load_here(options, bucket("r"))
    assert there == (1 if failed else 2) and seen in (None, there)


@pytest.mark.parametrize("verb", STEPS)
def test_a_service_that_is_busy_for_a_while_delays_it(options, bucket, emulator, verb):
    emulator.faults({"verb": verb, "from": 1, "count": 2, "action": "refuse", "status": 503})
    save_here(options, bucket("r"), 1)
    assert load_here(options, bucket("r")) == 1


@pytest.mark.parametrize("name, left", [("*/meta.pt", False), ("*/.metadata", True)])
def test_what_a_save_that_failed_has_left_can_be_removed(options, bucket, emulator, name, left):
    """Not once the commit was begun: it may have come about."""
    save_here(options, bucket("r"), 1)
    before = bucket.names()
    emulator.faults({"verb": "objects.insert", "object": name, "action": "refuse", "status": 403,
                     "count": 0})
    writer = StorageWriter(bucket("r"), client=options, files={"meta.pt": 2})
    writer.abandon()  # there is no save
    with pytest.raises(dcp.api.CheckpointException):
        dcp.save(full_state(2), storage_writer=writer, no_dist=True)
    assert len(bucket.names()) > len(before)
    writer.abandon()
    assert (bucket.names() != before) == left
    emulator.faults()
    assert load_here(options, bucket("r")) == 1


def spoilt(state):
    """What a load that failed has put into it."""
    return [name for name, value in dcp_ranks.flat(state).items()
            if isinstance(value, torch.Tensor) and value.numel() and not (value == -1).all()]


@pytest.mark.parametrize("how", ["deleted", "overwritten", "shorter"])
@pytest.mark.parametrize("writer", ["ours", "torch's"])
def test_a_member_that_is_not_as_it_was_is_named_before_a_tensor_is_touched(
        options, bucket, client, tmp_path, how, writer):
    if writer == "ours":
        save_here(options, bucket("r"), 1, thread_count=2)
    else:
        dcp.save(full_state(1), storage_writer=dcp.FileSystemWriter(tmp_path, thread_count=2),
                 no_dist=True)
        for path in tmp_path.iterdir():
            bucket.put("r/" + path.name, path.read_bytes())
    name = member(bucket, 1)
    if how == "deleted":
        client.delete(bucket(name))
    elif how == "shorter" or writer == "ours":
        bucket.put(name, bucket.get(name)[:100] if how == "shorter" else b"another" * 5000)
    else:
        pytest.skip("nobody knows what torch has written there")
    state = emptied(full_state(0))
    with pytest.raises(dcp.api.CheckpointException, match="__0_1.distcp"):
        dcp.load(state, storage_reader=StorageReader(bucket("r"), client=options), no_dist=True)
    assert spoilt(state) == []


def test_a_tensor_that_is_stored_with_another_size_is_named(options, bucket, tmp_path):
    """Its file has the length that it had."""
    dcp.save({"a": torch.ones(3000, 700)}, storage_writer=dcp.FileSystemWriter(tmp_path), no_dist=True)
    other = io.BytesIO()
    torch.save(torch.ones(700, 3000), other)
    (tmp_path / "__0_0.distcp").write_bytes(other.getvalue())
    for path in tmp_path.iterdir():
        bucket.put("r/" + path.name, path.read_bytes())
    state = {"a": torch.full((3000, 700), -1.0)}
    with pytest.raises(dcp.api.CheckpointException, match="__0_0.distcp.*has the size .700, 3000."):
        dcp.load(state, storage_reader=StorageReader(bucket("r"), client=options), no_dist=True)
    assert spoilt(state) == []


def test_a_checkpoint_that_is_damaged_is_not_passed_over(options, bucket):
    """torch looks for that of a single rank when there is none of all together."""
    save_here(options, bucket("r"), 1)
    name = member(bucket)
    bucket.put(name, b"x")
    with pytest.raises(dcp.api.CheckpointException, match="rank local metadata read failed: data_loss"):
        load_here(options, bucket("r"))


@pytest.mark.parametrize("size", [100, 3_000_000], ids=["small", "large"])
def test_bytes_that_are_not_those_that_were_written_are_an_error(options, bucket, emulator, size):
    dcp.save({"a": torch.ones(size)}, storage_writer=StorageWriter(bucket("r"), client=options),
             no_dist=True)
    emulator.faults({"verb": "objects.media", "object": "*.distcp", "action": "flip_byte", "count": 0,
                     "offset": 720})
    with pytest.raises(dcp.api.CheckpointException, match="__0_0.distcp") as told:
        dcp.load({"a": torch.zeros(size)}, no_dist=True,
                 storage_reader=StorageReader(bucket("r"), client=options))
    assert isinstance(told.value.failures[0][0], dataflux.DataLossError)


def test_bytes_that_were_damaged_once_are_not_read_again_from_a_cache(emulator, bucket, tmp_path):
    cache = dataflux.Cache(tmp_path)
    client = emulator.client(cache=cache)
    dcp.save({"a": torch.ones(1000), "b": torch.ones(100_000)},
             storage_writer=StorageWriter(bucket("r"), client=client), no_dist=True)
    emulator.faults({"verb": "objects.media", "object": "*.distcp", "action": "flip_byte", "count": 1, "offset": 720})

    def load():
        state = {"a": torch.zeros(1000)}
        dcp.load(state, no_dist=True, storage_reader=StorageReader(bucket("r"), client=client))
        cache.flush()
        return state["a"]

    with pytest.raises(dcp.api.CheckpointException, match="__0_0.distcp"):
        load()
    assert load().sum() == 1000
    client.close()


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


class Attribute:
    """Pickled as early versions of Python 3.11 pickle a member of an Enum."""

    def __init__(self, *of):
        self.of = of

    def __reduce__(self):
        return getattr, self.of


def test_an_attribute_in_metadata_is_a_member_of_an_enum_and_nothing_else():
    kinds = dcp.metadata._MEM_FORMAT_ENCODING
    good = dcp.metadata.Metadata({}, storage_data={}, planner_data=Attribute(kinds, "TORCH_CONTIGUOUS_FORMAT"))
    assert parsed(pickle.dumps(good), "gs://b/x").planner_data is kinds.TORCH_CONTIGUOUS_FORMAT
    for of in ((kinds, "__class__"), (dcp.metadata.Metadata, "__init__"), (dict, "fromkeys")):
        bad = dcp.metadata.Metadata({}, storage_data={}, planner_data=Attribute(*of))
        with pytest.raises(dataflux.DataLossError, match="something else than an Enum"):
            parsed(pickle.dumps(bad), "gs://b/x")


def test_metadata_runs_nothing(options, bucket, tmp_path):
    target = tmp_path / "made"
    metadata = dcp.metadata.Metadata({}, storage_data={}, planner_data=Evil(str(target)))
    bucket.put("r/.metadata", pickle.dumps(metadata))
    for content in (pickle.dumps(metadata), b"no pickle", pickle.dumps([1]), b""):
        bucket.put("r/.metadata", content)
        with pytest.raises(dcp.api.CheckpointException, match="no metadata of a checkpoint"):
            load_here(options, bucket("r"))
    assert not target.exists()


def test_classes_that_are_trusted_are_read(options, bucket):
    dcp.save({"a": torch.ones(2)}, no_dist=True, planner=Noting(),
             storage_writer=StorageWriter(bucket("r"), client=options))
    state = {"a": torch.zeros(2)}
    with pytest.raises(dcp.api.CheckpointException, match="add_safe_globals"):
        dcp.load(state, storage_reader=StorageReader(bucket("r"), client=options), no_dist=True)
    with torch.serialization.safe_globals([Note]):
        dcp.load(state, storage_reader=StorageReader(bucket("r"), client=options), no_dist=True)
    assert state["a"].sum() == 2


class Note:
    pass


class Noting(dcp.DefaultSavePlanner):
    def create_global_plan(self, all_plans):
        plans, metadata = super().create_global_plan(all_plans)
        metadata.planner_data["note"] = Note()
        return plans, metadata


def test_of_two_jobs_that_save_to_one_path_one_fails(options, bucket):
    """The second one begins and ends while the first one writes."""
    for before in (False, True):
        if before:
            save_here(options, bucket("r"), 1)
        inner = Between(lambda: save_here(options, bucket("r"), 2))
        with pytest.raises(dcp.api.CheckpointException) as told:
            dcp.save(full_state(3), storage_writer=StorageWriter(bucket("r"), client=options),
                     planner=inner, no_dist=True)
        why = told.value.failures[0][0]
        assert isinstance(why, dataflux.Error) and why.status in ("aborted", "already_exists")
        assert load_here(options, bucket("r")) == 2


class Between(dcp.DefaultSavePlanner):
    """Does something before the first item is written."""

    def __init__(self, what):
        super().__init__()
        self.what = what

    def resolve_data(self, write_item):
        what, self.what = self.what, lambda: None
        what()
        return super().resolve_data(write_item)


def test_without_overwrite_what_is_there_is_an_error(options, bucket):
    save_here(options, bucket("r"), 1, overwrite=False)
    with pytest.raises(dcp.api.CheckpointException, match="overwrite=False"):
        save_here(options, bucket("r"), 2, overwrite=False)
    assert load_here(options, bucket("r")) == 1


def test_loads_while_saves_run_have_one_or_the_other(options, bucket, client):
    save_here(options, bucket("r"), 0)
    ranks = Ranks(3)
    done = threading.Event()

    def saves():
        for step in range(1, 16):
            save_here(options, bucket("r"), step)
        done.set()

    saving = threading.Thread(target=saves)
    try:
        ranks.run(dcp_ranks.ready)
        saving.start()
        loaded, steps = 0, []
        while not done.is_set() or not loaded:
            answers = ranks.run(dcp_ranks.load, options, bucket("r"))
            if isinstance(answers[0], int):
                assert answers == answers[:1] * 3
                loaded, steps = loaded + 1, [*steps, answers[0]]
            else:
                assert all("load it again" in each for each in answers), answers
        assert steps == sorted(steps)
    finally:
        saving.join()
        ranks.close()
    assert load_here(options, bucket("r")) == 15


def seen_by(reader):
    """What a rank has made of the checkpoint that is there now: (its state, its planner, its plan)."""
    state, planner = emptied(full_state(0)), dcp.DefaultLoadPlanner()
    metadata = reader.read_metadata()
    planner.set_up_planner(state, metadata, False)
    reader.set_up_storage_reader(metadata, False)
    return state, planner, reader.prepare_local_plan(planner.create_local_plan())


@pytest.mark.parametrize("newer", ["alike", "other", "newest"])
def test_ranks_that_have_seen_two_checkpoints_load_one(options, bucket, newer):
    readers = [StorageReader(bucket("r"), client=options) for _ in range(2)]
    save_here(options, bucket("r"), 1)
    ranks = [seen_by(readers[0])]
    if newer == "other":
        state = {**full_state(2), "more": torch.ones(3)}
        dcp.save(state, storage_writer=StorageWriter(bucket("r"), client=options), no_dist=True)
    else:
        save_here(options, bucket("r"), 2)
    ranks.append(seen_by(readers[1]))
    plans = readers[0].prepare_global_plan([plan for _, _, plan in ranks])
    if newer == "newest":
        save_here(options, bucket("r"), 3)
    for (state, planner, _), plan, reader in zip(ranks, plans, readers):
        reading = lambda: reader.read_data(planner.finish_plan(plan), planner)  # noqa: E731
        if newer == "alike" or (newer == "other" and reader is readers[1]):
            reading()
            assert state["step"] == 2 and torch.equal(state["model"]["rows"], full_state(2)["model"]["rows"])
        else:
            with pytest.raises(dataflux.Error, match="load it again") as told:
                reading()
            assert told.value.status == "aborted" and told.value.retryable and spoilt(state) == []


EXITING = """
import sys, torch, torch.distributed as dist, torch.distributed.checkpoint as dcp
from dataflux.dcp import StorageWriter
from dataflux.dcp._metadata import parsed
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=0, world_size=1)
state = {f"w{n}": torch.full((1000,), float(n)) for n in range(20)}
dcp.async_save(state, storage_writer=StorageWriter(sys.argv[1], thread_count=3))
"""


@pytest.mark.without_tokens
def test_an_asynchronous_save_goes_on_to_its_end_at_the_interpreters(options, bucket, emulator, tmp_path):
    subprocess.run([sys.executable, "-W", "ignore", "-c", EXITING, bucket("r"), str(tmp_path / "group")],
                   check=True, timeout=100, env={**os.environ, **emulator.environment})
    state = {f"w{n}": torch.zeros(1000) for n in range(20)}
    dcp.load(state, storage_reader=StorageReader(bucket("r"), client=options), no_dist=True)
    assert all((state[f"w{n}"] == n).all() for n in range(20))


def test_nothing_there_says_so(options, bucket):
    bucket.put("r/__0_0.distcp", b"1")
    with pytest.raises(dcp.api.CheckpointException, match="no checkpoint is there"):
        load_here(options, bucket("r"))
