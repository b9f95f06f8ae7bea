"""dataset.batches(): the batches of a DataLoader, without one."""

import gc
import io
import tarfile
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
import torch
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

import dataflux
from dataflux.torch import IterableDataset, Mix, SizeError, tensor

COUNT, SHARDS, SAMPLES = 47, 3, 20
THREADS = [0, 1, 4]
pytestmark = [pytest.mark.filterwarnings("ignore:This DataLoader will create"),
              pytest.mark.filterwarnings("ignore:'set_vital'")]


def number(data, row):
    return int(bytes(data))


def of_pair(data, rows):
    assert bytes(data[0]) == bytes(data[1])
    return int(bytes(data[0]))


def of_shard(sample, row):
    return int(bytes(sample["cls"]))


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


def put_all(client, contents):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: client.put(*each), contents))


@pytest.fixture
def url(client, bucket):
    put_all(client, [(bucket(f"o/{n:03}"), b"%d" % n) for n in range(COUNT)])
    return bucket("o/")


@pytest.fixture
def index(client, bucket, tmp_path):
    for shard in range(SHARDS):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for n in range(shard * SAMPLES, (shard + 1) * SAMPLES):
                for field, content in (("cls", b"%d" % n), ("raw", bytes([n]) * 64)):
                    info = tarfile.TarInfo(f"{n:05}.{field}")
                    info.size = len(content)
                    archive.addfile(info, io.BytesIO(content))
        client.put(bucket(f"s/{shard}.tar"), out.getvalue())
    path = str(tmp_path / "train.dfx")
    client.index_shards(bucket("s/"), path)
    return path


@pytest.fixture
def kinds(client, bucket, url, index, options):
    """By name: what makes a dataset."""
    put_all(client, [(bucket(f"{side}/{n:03}"), b"%d" % n) for n in range(COUNT) for side in "ab"])

    def of(*given, **fixed):
        return lambda **how: IterableDataset(*given, client=options, **{**fixed, **how})

    def mix(batch_size=None, epoch=0, **ranks):
        return Mix([of(url, decode=number, seed=1)(), of(shards=index, decode=of_shard, shuffle="blocks", block=4,
                                                        window=3)()], [2, 1], ended="restart", length=70,
                   batch_size=batch_size, epoch=epoch, client=options, **ranks)

    return {"objects": of(url, decode=number), "names": of(names=[bucket(f"o/{n:03}") for n in range(COUNT)],
                                                          decode=number),
            "window": of(url, decode=number, shuffle="window", block=4, window=3),
            "pairs": of(pairs=[(bucket("a/"), ""), (bucket("b/"), "")], decode=of_pair),
            "several": of([bucket("a/"), bucket("b/")], decode=number),
            "shards": of(shards=index, decode=of_shard), "mix": mix,
            "plans": of(shards=index, decode=of_shard, shuffle="window", block=4, window=3)}


def lists(batches):
    return [batch.tolist() for batch in batches]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("kind", ["objects", "names", "window", "pairs", "several", "shards", "plans", "mix"])
def test_batches_are_those_of_a_data_loader(kinds, kind, threads):
    dataset = kinds[kind](batch_size=4)
    for drop_last in (False, True):
        loader = DataLoader(kinds[kind](batch_size=4), batch_size=4, drop_last=drop_last)
        batches = dataset.batches(drop_last=drop_last, decode_threads=threads)
        for epoch in (0, 1, 2, 2):
            dataset.set_epoch(epoch)
            loader.dataset.set_epoch(epoch)
            found = lists(batches)
            assert found == lists(loader) and len(found) == len(batches)


@pytest.mark.parametrize("threads", THREADS)
def test_ranks_and_sizes_are_those_of_a_data_loader(kinds, threads):
    for rank in range(3):
        for size, more in ((5, {}), (64, {}), (1, {"equalize": "pad"})):
            dataset = kinds["objects"](rank=rank, world_size=3, **more)
            assert lists(dataset.batches(size, decode_threads=threads)) == lists(DataLoader(dataset, batch_size=size))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("kind", ["objects", "plans", "mix"])
@pytest.mark.parametrize("steps", [0, 1, 5, 11])
def test_a_pass_goes_on_behind_the_batch_that_was_given_last(kinds, kind, threads, steps):
    batches = kinds[kind](batch_size=4, epoch=1).batches(decode_threads=threads, ahead=3)
    given = iter(batches)
    head = [next(given).tolist() for _ in range(steps)]
    state = batches.state_dict()
    assert state == batches.dataset.state_dict() and state["yielded"] == 4 * steps
    whole = lists(kinds[kind](batch_size=4, epoch=1).batches())
    later = kinds[kind](batch_size=4).batches(decode_threads=2)
    later.load_state_dict(state)
    assert head + lists(later) == whole
    other = kinds[kind](batch_size=4)
    loader = StatefulDataLoader(other, batch_size=4)
    other.load_state_dict(state)
    assert head + lists(loader) == whole
    sizes = kinds[kind]().batches(3)
    sizes.load_state_dict(state)
    assert sum(head, []) + sum(lists(sizes), []) == sum(whole, [])


def test_the_state_of_a_data_loader_goes_on_here_and_twice(kinds):
    make = kinds["objects"]
    loader = StatefulDataLoader(make(batch_size=4), batch_size=4, num_workers=2)
    batches = iter(loader)
    head = [next(batches).tolist() for _ in range(3)]
    here = make(batch_size=4).batches(decode_threads=3)
    here.load_state_dict(loader.state_dict())
    for _, batch in zip(range(4), here):
        head.append(batch.tolist())
    ranks = [make(batch_size=4, rank=rank, world_size=2).batches(decode_threads=2) for rank in range(2)]
    rest = make(batch_size=4).batches()
    rest.load_state_dict(here.state_dict())
    assert head + lists(rest) == lists(make(batch_size=4).batches())
    for each in ranks:
        each.load_state_dict(here.state_dict())
    found = [sum(lists(each), []) for each in ranks]
    assert [one for both in zip(*found) for one in both] == sum(lists(make(batch_size=4).batches()), [])[28:-1]


def test_the_end_of_a_pass_is_its_state(kinds):
    for drop_last in (False, True):
        batches = kinds["objects"](batch_size=4).batches(drop_last=drop_last, decode_threads=2)
        assert len(lists(batches)) == len(batches) == (11 if drop_last else 12)
        later = kinds["objects"](batch_size=4).batches()
        later.load_state_dict(batches.state_dict())
        assert lists(later) == []


def test_reads_go_on_over_the_end_of_an_epoch(kinds, monkeypatch):
    for drop_last in (False, True):
        dataset = kinds["objects"](batch_size=4)
        begun, stream = [], type(dataset._source.parts[0]).stream
        monkeypatch.setattr(type(dataset._source.parts[0]), "stream", lambda *given: begun.append(1) or stream(*given))
        batches = dataset.batches(drop_last=drop_last, decode_threads=2)
        for epoch in range(4):
            dataset.set_epoch(epoch)
            lists(batches)
        assert len(begun) == 2  # whoever passes a second time passes again
        monkeypatch.undo()


# What becomes of samples.

@pytest.fixture
def sized(client, bucket, options):
    """Objects of one size, 256 bytes, by name from 0."""
    put_all(client, [(bucket(f"f/{n:03}"), bytes([n]) * 256) for n in range(20)])
    return lambda **how: IterableDataset(bucket("f/"), client=options, seed=2, **{"batch_size": 6, **how})


@pytest.fixture
def odd(client, bucket, options):
    """Objects of 0 to 9 times 4 bytes."""
    put_all(client, [(bucket(f"v/{n:03}"), bytes([n + 1]) * 4 * n) for n in range(10)])
    return lambda **how: IterableDataset(bucket("v/"), client=options, **{"batch_size": 4, "shuffle": "none", **how})


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("decode", [None, tensor])
def test_bytes_of_one_size_are_rows(sized, threads, decode):
    dataset = sized() if decode is None else sized(decode=decode)
    order = list(dataflux.Sampler(20, seed=2))
    found = list(dataset.batches(decode_threads=threads))
    assert [batch.shape for batch in found] == [(6, 256)] * 3 + [(2, 256)]
    assert torch.cat(found).tolist() == [[n] * 256 for n in order]
    assert all(batch.dtype == torch.uint8 and batch.data_ptr() % 64 == 0 for batch in found)
    shaped = list(dataset.batches(shape=(8, 8), dtype=torch.float32, decode_threads=threads))
    assert [batch.shape for batch in shaped] == [(6, 8, 8)] * 3 + [(2, 8, 8)]
    assert torch.equal(torch.cat(shaped).view(torch.uint8).reshape(20, 256), torch.cat(found))


@pytest.mark.parametrize("threads", THREADS)
def test_bytes_of_several_sizes_are_padded_or_packed(odd, threads):
    def contents(n):
        return [n + 1] * 4 * n

    given = list(odd().batches(pad=True, decode_threads=threads))
    assert [batch.shape for batch, _ in given] == [(4, 12), (4, 28), (2, 36)]
    for begin, (batch, lengths) in zip((0, 4, 8), given):
        assert lengths.tolist() == [4 * n for n in range(begin, begin + len(batch))]
        for n, row, length in zip(range(begin, 10), batch.tolist(), lengths.tolist()):
            assert row == contents(n) + [0] * (len(row) - length)
    fixed = list(odd().batches(pad=9, dtype=torch.int32, decode_threads=threads))
    assert [batch.shape for batch, _ in fixed] == [(4, 9), (4, 9), (2, 9)]
    assert torch.cat([lengths for _, lengths in fixed]).tolist() == list(range(10))
    for begin, (flat, offsets) in zip((0, 4, 8), odd().batches(packed=True, decode_threads=threads)):
        offsets = offsets.tolist()
        parts = [flat[a:b].tolist() for a, b in zip(offsets, offsets[1:])]
        assert parts == [contents(n) for n in range(begin, begin + len(parts))] and len(flat) == offsets[-1]
    flat, offsets = next(iter(odd().batches(10, packed=True, dtype=torch.int16)))
    assert offsets.tolist() == [n * (n - 1) for n in range(11)] and flat.dtype == torch.int16


@pytest.mark.parametrize("threads", THREADS)
def test_sizes_that_differ_are_told_of_by_name(odd, bucket, threads):
    batches = odd().batches(decode_threads=threads)
    told = "v/001: it has 4 bytes, and .*v/000 of the same batch has 0.*pad=True"
    with pytest.raises(SizeError, match=told) as raised:
        next(iter(batches))
    assert (raised.value.bucket, raised.value.object) == (bucket.name, "v/001")
    with pytest.raises(SizeError, match=r"v/000: it has 0 bytes, and shape=\(2,\) of torch.int16 has 4"):
        list(odd().batches(shape=2, dtype=torch.int16, decode_threads=threads))
    with pytest.raises(SizeError, match="v/001: it has 4 bytes, which is no multiple of the 8 of torch.int64"):
        list(odd().batches(pad=True, dtype=torch.int64, decode_threads=threads))
    with pytest.raises(SizeError, match="v/009: it has 36 elements, and pad=35"):
        list(odd().batches(pad=35, decode_threads=threads))
    skipping = odd(on_error="skip")
    [batch] = skipping.batches(10, shape=8, decode_threads=threads)
    assert batch.tolist() == [[3] * 8] * 10 and skipping.skipped == 9


def test_fields_of_shards_are_batches_of_their_own(index, options):
    dataset = IterableDataset(shards=index, batch_size=8, shuffle="none", client=options)
    for at, batch in enumerate(dataset.batches(pad=True, decode_threads=2)):
        numbers = list(range(8 * at, min(8 * at + 8, SHARDS * SAMPLES)))
        assert batch["__key__"] == [f"{n:05}" for n in numbers]
        assert batch["raw"][0].tolist() == [[n] * 64 for n in numbers]
        rows, lengths = batch["cls"]
        assert [int(bytes(row[:length].tolist())) for row, length in zip(rows, lengths)] == numbers


def test_a_pair_is_two(client, bucket, options):
    put_all(client, [(bucket(f"{side}/{n}"), side.encode() * 8) for n in range(4) for side in "ab"])
    dataset = IterableDataset(pairs=[(bucket("a/"), ""), (bucket("b/"), "")], batch_size=4, client=options)
    [(first, second)] = dataset.batches()
    assert first.tolist() == [[97] * 8] * 4 and second.tolist() == [[98] * 8] * 4


SHAPES = {
    "array": lambda n: numpy.full((3, 5), n, numpy.float32),
    "tensor": lambda n: torch.full((3, 5), n, dtype=torch.int16),
    "of no order in memory": lambda n: torch.arange(15).reshape(3, 5).T + n,
    "read-only": lambda n: numpy.frombuffer(bytes([n]) * 4, numpy.uint8),
    "scalars": lambda n: (torch.tensor(n), numpy.float64(n)),
    "bfloat16": lambda n: torch.full((2,), n, dtype=torch.bfloat16),
    "image and label": lambda n: (numpy.full((2, 2), n, numpy.uint8), n),
    "dict": lambda n: {"x": torch.full((4,), float(n)), "name": str(n), "y": numpy.arange(n, n + 3)},
    "nested": lambda n: {"x": [torch.tensor([n]), n], "y": (n, n / 2)},
    "flags": lambda n: numpy.array([n % 2 == 0, True]),
    "gradient": lambda n: torch.full((2,), float(n), requires_grad=True),
    "empty": lambda n: numpy.empty((0, 3)),
    "other types": lambda n: (torch.full((2,), n, dtype=torch.int32 if n % 2 else torch.int64), numpy.zeros(2)),
}


def same(one, other):
    if isinstance(one, torch.Tensor):
        return type(other) is torch.Tensor and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return type(other) is dict and one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_what_decode_gives_becomes_the_same_as_by_torch(kinds, shape, threads):
    dataset = kinds["objects"](batch_size=6, decode=lambda data, row: SHAPES[shape](int(bytes(data))))
    expected = list(DataLoader(dataset, batch_size=6))
    found = list(dataset.batches(decode_threads=threads))
    assert len(found) == len(expected) and all(map(same, expected, found))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("odd_one", [lambda: numpy.zeros(5, numpy.float32), lambda: torch.zeros(3, 1), lambda: "text",
                                     lambda: (numpy.zeros(4), 1), lambda: None])
def test_another_shape_fails_as_by_torch(kinds, threads, odd_one):
    def decode(data, row):
        return odd_one() if row.name == "o/020" else numpy.zeros(4, numpy.float32)

    dataset = kinds["objects"](batch_size=6, decode=decode)
    with pytest.raises(Exception) as expected:
        list(DataLoader(dataset, batch_size=6))
    with pytest.raises(type(expected.value)) as raised:
        list(dataset.batches(decode_threads=threads))
    assert str(raised.value) == str(expected.value)


@pytest.mark.parametrize("threads", THREADS)
def test_a_collate_fn_has_the_samples_as_they_are(kinds, threads):
    dataset = kinds["objects"](batch_size=6)
    order = list(dataflux.Sampler(COUNT))
    found = list(dataset.batches(collate_fn=list, decode_threads=threads))
    assert found == [order[begin:begin + 6] for begin in range(0, COUNT, 6)]


@pytest.mark.parametrize("threads", THREADS)
def test_memory_is_used_again_once_nobody_has_a_view_of_it(sized, threads):
    dataset = sized(batch_size=2, decode=lambda data, row: torch.frombuffer(data, dtype=torch.uint8))
    batches = dataset.batches(decode_threads=threads, ahead=2)
    seen = set()
    for _ in range(4):
        for batch in batches:
            seen.add(batch.data_ptr())
    # Of 96. Alive are one here, the next one, two ahead, what each thread begins, and leavings of the pass before.
    assert len(seen) <= 12
    kept = []
    for batch in batches:
        kept.append((batch[0].numpy(), batch[0].tolist()))
        assert len({each.ctypes.data for each, _ in kept}) == len(kept)
    assert all(each.tolist() == content for each, content in kept)
    owned = {each.ctypes.data for each, _ in kept} | {batch.data_ptr()}
    del kept, batch
    gc.collect()
    assert len({batch.data_ptr() for batch in batches} - owned - seen) <= 3  # those that were ahead meanwhile


def test_arguments_that_do_not_fit_are_named(kinds, sized):
    make = kinds["objects"]
    for how, kind, told in (
            ({}, ValueError, "batch_size: tell it here"), ({"batch_size": 0}, ValueError, "batch_size"),
            ({"batch_size": 4, "decode_threads": -1}, ValueError, "decode_threads"),
            ({"batch_size": 4, "ahead": 0}, ValueError, "ahead"),
            ({"batch_size": 4, "collate_fn": 3}, TypeError, "collate_fn"),
            ({"batch_size": 4, "collate_fn": list, "pad": True}, ValueError, "collate_fn does here"),
            ({"batch_size": 4, "dtype": "uint8"}, TypeError, "dtype: a torch.dtype"),
            ({"batch_size": 4, "shape": (2, -1)}, ValueError, "shape"),
            ({"batch_size": 4, "pad": True, "packed": True}, ValueError, "packed"),
            ({"batch_size": 4, "pad": 0}, ValueError, "pad"),
            ({"batch_size": 4, "warn_after": 0}, ValueError, "warn_after"),
            ({"batch_size": 4, "device": "nowhere"}, RuntimeError, "nowhere")):
        with pytest.raises(kind, match=told):
            make().batches(**how)
    with pytest.raises(ValueError, match='on_error="return".*collate_fn'):
        make(on_error="return").batches(4)


class OfALoader(torch.utils.data.IterableDataset):
    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return iter(self.batches)


def test_a_worker_of_a_data_loader_refuses_it(kinds):
    with pytest.raises(dataflux.PreconditionError, match="a loader by itself"):
        list(DataLoader(OfALoader(kinds["objects"]().batches(4)), batch_size=None, num_workers=1))
