"""What a save of a distributed checkpoint needs beside the state: memory is lent, and not copied."""

import gc
import weakref
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
import torch.distributed.checkpoint as dcp

import dataflux
import dcp_ranks
from dataflux.dcp import StorageReader, StorageWriter
from dataflux.torch import _save

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
MIB = 1 << 20


@contextmanager
def lending():
    """The bytes of each piece of memory that is lent."""
    lent = []

    class Lending(_save.Lending):
        def write(self, buffer, owner=None):
            lent.append(memoryview(buffer).nbytes)
            return super().write(buffer, owner)

    before, _save.Lending = _save.Lending, Lending
    try:
        yield lent
    finally:
        _save.Lending = before


def saved(client, url, state, **options):
    planner = options.pop("planner", None)
    dcp.save(dict(state), storage_writer=StorageWriter(url, client=client, **options), planner=planner,
             no_dist=True)
    found = {name: torch.zeros_like(value) for name, value in state.items()}
    dcp.load(found, storage_reader=StorageReader(url, client=client), no_dist=True)
    return all(torch.equal(found[name], value) for name, value in state.items())


@pytest.mark.parametrize("threads", [1, 3])
def test_tensors_of_the_state_are_lent_and_let_go_of(client, bucket, threads):
    everything = torch.rand(10 * MIB)
    state = {"whole": torch.rand(8 * MIB), "part": everything[MIB:3 * MIB], "half": torch.rand(3 * MIB).half(),
             "short": torch.rand(1000)}
    kept = [weakref.ref(value.untyped_storage()) for value in state.values()]
    with lending() as lent:
        assert saved(client, bucket("r"), state, thread_count=threads)
    assert sorted(lent) == [6 * MIB, 8 * MIB, 32 * MIB]
    del state, everything
    gc.collect()
    assert [storage() for storage in kept] == [None] * 4


def test_more_files_of_the_commit_are_lent(client, bucket):
    with lending() as lent:
        assert saved(client, bucket("r"), {"a": torch.ones(3)}, files={"meta.pt": [torch.ones(2 * MIB)]})
    assert lent == [8 * MIB]
    with client.latest_set(bucket("r")).open("meta.pt") as file:
        assert torch.load(file)[0].sum() == 2 * MIB


class Reusing(dcp.DefaultSavePlanner):
    """Gives all items in the same memory."""

    def __init__(self):
        super().__init__()
        self.memory = torch.empty(4 * MIB)

    def transform_object(self, write_item, object):
        return self.memory.copy_(object) if isinstance(object, torch.Tensor) else \
            super().transform_object(write_item, object)


def test_what_is_made_for_the_save_is_copied(client, bucket):
    """A planner may use its memory again, and of temporary tensors there is one at a time."""
    state = {f"w{number}": torch.full((4 * MIB,), float(number)) for number in range(6)}
    with lending() as lent:
        assert saved(client, bucket("r"), state, planner=Reusing())
        assert saved(client, bucket("t"), {"columns": torch.rand(2000, 2000)[:, :1000]})
        dcp.save({"a": torch.ones(2 * MIB)}, no_dist=True, storage_writer=StorageWriter(
            bucket("x"), client=client, extensions=[dcp_ranks.Flipped()]))
    assert lent == []


def resident(key):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) << 10
    raise KeyError(key)


def test_memory_beside_the_state_is_bounded(emulator, bucket):
    state = {f"w{number}": torch.full((6 * MIB,), float(number)) for number in range(16)}  # 384 MiB
    with dataflux.Client(**emulator.options, upload_memory=32 * MIB) as client:
        dcp.save({"a": torch.ones(3)}, storage_writer=StorageWriter(bucket("warm"), client=client),
                 no_dist=True)
        gc.collect()
        before = resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins again
        dcp.save(state, storage_writer=StorageWriter(bucket("r"), client=client, thread_count=2),
                 no_dist=True)
        assert resident("VmHWM") - before <= (32 + 64) * MIB


def test_after_a_failure_the_memory_is_the_states_again(client, emulator, bucket):
    emulator.faults({"verb": "multipart.part", "action": "refuse", "status": 403, "from": 2, "count": 0})
    with pytest.raises(dcp.api.CheckpointException, match="__0_"), lending() as lent:
        dcp.save({f"w{number}": torch.ones(8 * MIB) for number in range(4)}, no_dist=True,
                 storage_writer=StorageWriter(bucket("r"), client=client, thread_count=2))
    assert lent and not client._under_way
