"""Batches that are copied to a device: a stand-in for torch.cuda says when its copies are over."""

import pytest
import torch

import dataflux
from dataflux.torch import IterableDataset, _copies


class Event:
    def __init__(self, cuda):
        self.cuda, self.over = cuda, False

    def record(self, stream):
        assert stream is self.cuda.beside
        self.cuda.events.append(self)

    def query(self):
        return self.over

    def synchronize(self):
        self.over = True
        self.cuda.waited += 1


class Stream:
    def wait_event(self, event):
        self.events.append(event)

    def __init__(self):
        self.events = []


class Cuda:
    """What is used of torch.cuda. No copy is over before somebody says so."""

    def __init__(self):
        self.events, self.waited, self.inside = [], 0, 0
        self.current, self.beside = Stream(), None

    def Stream(self, device):  # noqa: N802, torch's name
        self.beside = Stream()  # of another loader
        return self.beside

    def Event(self):  # noqa: N802
        return Event(self)

    def current_stream(self, device):
        return self.current

    def stream(self, stream):
        assert stream is self.beside
        return self

    def __enter__(self):
        self.inside += 1

    def __exit__(self, *_):
        self.inside -= 1


@pytest.fixture
def cuda(monkeypatch):
    made = Cuda()
    monkeypatch.setattr(_copies, "cuda", made)
    monkeypatch.setattr(_copies, "_WITH_STREAMS", ("cpu",))
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda tensor, stream: made.current is stream or 1 / 0)
    return made


@pytest.fixture
def make(client, bucket, emulator):
    for n in range(24):
        client.put(bucket(f"o/{n:03}"), bytes([n]) * 1000)
    options = dataflux.Client(**emulator.options)
    return lambda **how: IterableDataset(bucket("o/"), client=options, **{"batch_size": 2, "shuffle": "none", **how})


@pytest.mark.parametrize("threads", [0, 3])
def test_copies_go_ahead_on_a_stream_of_their_own(make, cuda, threads):
    batches = make().batches(device="cpu", decode_threads=threads, ahead=2)
    found = []
    for at, batch in enumerate(batches):
        assert batch.tolist() == [[2 * at] * 1000, [2 * at + 1] * 1000]
        assert cuda.current.events[-1] is cuda.events[at] and len(cuda.current.events) == at + 1
        if threads == 0:  # two are copied that the step does not have yet
            assert len(cuda.events) == min(at + 3, 12)
        found.append(batch)
        for event in cuda.events:
            event.over = True
    assert len(found) == 12 and cuda.inside == 0


def test_memory_is_used_again_only_behind_the_event_of_its_copy(make, cuda, monkeypatch):
    sources, moved = [], _copies.Copies._moved

    def noted(self, tensor):
        sources.append(tensor.data_ptr())
        return moved(self, tensor)

    monkeypatch.setattr(_copies.Copies, "_moved", noted)
    dataset = make(decode=lambda data, row: torch.frombuffer(data, dtype=torch.uint8))
    given = iter(dataset.batches(device="cpu", ahead=2))
    for at in range(4):
        next(given)
    assert len(sources) == 6 and len(set(sources)) == 6 and cuda.waited == 0
    for event in cuda.events:
        event.over = True
    next(given)
    next(given)
    assert len(set(sources)) < len(sources)
    for _ in given:  # nobody says that copies are over: it waits for the oldest one, and memory stays bounded
        pass
    assert cuda.waited and len(set(sources)) <= 8
    assert all(event.over for event in cuda.events)


@pytest.mark.parametrize("threads", [0, 2])
def test_a_device_out_of_memory_fails_behind_the_batches_before_it(make, cuda, monkeypatch, threads):
    moved, count = _copies.Copies._moved, []

    def full(self, tensor):
        count.append(1)
        if len(count) == 5:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return moved(self, tensor)

    monkeypatch.setattr(_copies.Copies, "_moved", full)
    batches = make().batches(device="cpu", decode_threads=threads)
    seen = []
    with pytest.raises(torch.OutOfMemoryError):
        for batch in batches:
            seen.append(batch[0, 0].item())
    assert seen == [0, 2, 4, 6] and batches.state_dict()["yielded"] == 8
    assert all(event.over for event in cuda.events)  # memory is not used again before
    later = make().batches(device="cpu")
    later.load_state_dict(batches.state_dict())
    monkeypatch.setattr(_copies.Copies, "_moved", moved)
    assert [batch[0, 0].item() for batch in later] == [8, 10, 12, 14, 16, 18, 20, 22]


def test_batches_of_several_tensors_are_copied_whole(make, cuda):
    def decode(data, row):
        return {"x": torch.frombuffer(data, dtype=torch.uint8)[:3], "name": row.name, "y": (data[0], 1.5)}

    for at, batch in enumerate(make(decode=decode).batches(device="cpu")):
        assert batch["x"].tolist() == [[2 * at] * 3, [2 * at + 1] * 3]
        assert batch["y"][0].tolist() == [2 * at, 2 * at + 1]
        assert batch["name"] == [f"o/{2 * at:03}", f"o/{2 * at + 1:03}"]


def test_a_device_without_streams_has_plain_copies(make):
    assert [batch.device.type for batch in make().batches(8, device="meta")] == ["meta"] * 3
