"""Datasets by weights: each in its own order, whatever reads them, and gone on with exactly."""

import collections
import io
import pickle
import random
import tarfile

import pytest
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

import dataflux
from dataflux.torch import DecodeError, IterableDataset, MapDataset, MapMix, Mix, _mix

OBJECTS, PAIRS, SHARDS, SAMPLES = 60, 25, 4, 30
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def of_object(data, row):
    return "o", int(bytes(data))


def of_pair(data, rows):
    assert bytes(data[0]) == bytes(data[1])
    return "p", int(bytes(data[0]))


def of_shard(sample, row):
    return "s", int(bytes(sample["cls"]))


def same(batch):
    return list(batch)


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def sources(client, bucket, tmp_path, options):
    for number in range(OBJECTS):
        client.put(bucket(f"o/{number:03}"), b"%d" % number)
    for number in range(PAIRS):
        for side in "ab":
            client.put(bucket(f"{side}/{number:03}"), b"%d" % number)
    for shard in range(SHARDS):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for number in range(shard * SAMPLES, (shard + 1) * SAMPLES):
                info = tarfile.TarInfo(f"{number:05}.cls")
                info.size = len(b"%d" % number)
                archive.addfile(info, io.BytesIO(b"%d" % number))
        client.put(bucket(f"s/{shard}.tar"), out.getvalue())
    path = str(tmp_path / "train.dfx")
    client.index_shards(bucket("s/"), path)
    return [IterableDataset(bucket("o/"), decode=of_object, seed=1, client=options),
            IterableDataset(pairs=[(bucket("a/"), ""), (bucket("b/"), "")], decode=of_pair, seed=2, client=options),
            IterableDataset(shards=path, decode=of_shard, seed=3, shuffle="blocks", block=4, window=3,
                            client=options)]


KINDS, SIZES = "ops", (OBJECTS, PAIRS, SHARDS * SAMPLES)
HOW = ({"seed": 1}, {"seed": 2}, {"seed": 3, "shuffle": "blocks", "block": 4, "window": 3})


def expected(weights, ended, epoch=0, length=None, sizes=SIZES):
    """What a mix gives, by a Mixer and Samplers alone."""
    mix = dataflux.Mixer(sizes, weights, ended=ended)
    size = sum(sizes) if mix.end is None else mix.end
    size = size if length is None else length if ended == "restart" else min(length, size)
    drawn, numbers = mix.draws(epoch * size if ended == "restart" else 0, size)
    found = []
    for source, number in zip(drawn, numbers):
        of = number // sizes[source] if ended == "restart" else epoch
        order = dataflux.Sampler(sizes[source], epoch=of, **HOW[source])
        found.append((KINDS[source], order[number % sizes[source]]))
    return found


def loaded(dataset, batch_size=8, workers=0, **more):
    return [sample for batch in DataLoader(dataset, batch_size, num_workers=workers, collate_fn=same, **more)
            for sample in batch]


@pytest.mark.parametrize("ended", ["stop", "drop", "restart"])
def test_an_epoch_is_that_of_a_mixer_and_samplers(sources, options, ended):
    for weights in ([1, 1, 2], [0.55, 0.05, 0.4], {0: [1, 0, 1], 50: [0, 1, 3]}):
        mix = Mix(sources, weights, ended=ended, client=options)
        for epoch in (0, 1, 3):
            mix.set_epoch(epoch)
            wanted = expected(weights, ended, epoch)
            assert len(mix) == mix.count == len(wanted) and list(mix) == wanted
            found = collections.Counter(kind for kind, _ in wanted)
            if not (ended == "restart" and epoch):
                assert mix.counts(len(mix)) == [found[kind] for kind in KINDS]


def test_a_length_ends_an_epoch(sources, options):
    mix = Mix(sources, [1, 1, 2], ended="restart", length=70, client=options)
    for epoch in range(5):
        mix.set_epoch(epoch)
        assert list(mix) == expected([1, 1, 2], "restart", epoch, 70)
    assert len(Mix(sources, [1, 1, 2], length=10_000, client=options)) == 102
    assert len(Mix(sources, [1, 1, 2], length=10, client=options)) == 10


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_batches_are_the_same_for_any_number_of_workers(sources, options, start):
    mix = Mix(sources, [2, 1, 4], ended="restart", batch_size=8, client=options)
    wanted = expected([2, 1, 4], "restart")
    for workers in (1, 3) if start == "fork" else (2,):
        assert loaded(mix, 8, workers, multiprocessing_context=start) == wanted


@pytest.mark.parametrize("ended", ["stop", "drop", "restart"])
def test_a_chain_of_ranks_and_workers_goes_on_exactly(sources, options, ended):
    dice = random.Random(7)
    weights = [3, 1, 5]
    for epoch in (0, 2):
        wanted, served, states = expected(weights, ended, epoch), [], None
        while len(served) < len(wanted):
            ranks, batch = dice.randint(1, 4), dice.randint(1, 6)
            steps = dice.randint(0, 6)
            left = len(wanted) - len(served)
            steps = min(steps, left // (ranks * batch))
            if left < ranks * batch:
                ranks, batch, steps = 1, 1, left
            each = []
            loaders = []
            for rank in range(ranks):
                mix = Mix(sources, weights, ended=ended, batch_size=batch, rank=rank, world_size=ranks, epoch=epoch,
                          client=options)
                if states is not None:
                    mix.load_state_dict(states)
                loader = StatefulDataLoader(mix, batch, num_workers=0, collate_fn=same)
                passing = iter(loader)
                each.append([sample for _ in range(steps) for sample in next(passing)])
                loaders.append(mix.state_dict())
            states = loaders
            served += [sample for turn in zip(*each) for sample in turn]
        assert served == wanted


def test_no_source_looks_through_the_whole_epoch(sources, options, bucket, monkeypatch):
    """Not a few names either, behind whose end there is nothing of theirs."""
    monkeypatch.setattr(_mix, "_AHEAD", 16)
    look, ahead = _mix._Reads._look, []

    def looked(reads, *more):
        going_on = look(reads, *more)
        ahead.append(reads._looked - reads._wanted)
        return going_on

    monkeypatch.setattr(_mix._Reads, "_look", looked)
    names = IterableDataset(names=[bucket(f"o/{number:03}") for number in range(3)], decode=of_object, seed=1,
                            client=options)
    for ended, weights in (("drop", [1, 1]), ("restart", [1, 50])):
        mix = Mix([names, sources[2]], weights, ended=ended, batch_size=4, client=options)
        found = list(mix)
        assert found == list(mix) and collections.Counter(kind for kind, _ in found)["o"] >= 2
        assert 0 < max(ahead) <= 16 + 4
        passing = iter(mix)
        assert [next(passing) for _ in range(5)] == found[:5]
        passing.close()
        assert max(ahead) <= 16 + 4


def test_a_loader_with_workers_goes_on_with_others(sources, options):
    how = {"weights": [3, 1, 5], "ended": "restart", "batch_size": 4, "client": options}
    loader = StatefulDataLoader(Mix(sources, **how), 4, num_workers=2, collate_fn=same)
    passing = iter(loader)
    seen = [sample for _ in range(9) for sample in next(passing)]
    state = loader.state_dict()
    again = StatefulDataLoader(Mix(sources, **how), 4, num_workers=2, collate_fn=same)
    again.load_state_dict(state)
    wanted = expected([3, 1, 5], "restart")
    assert seen == wanted[:36]
    assert [sample for batch in again for sample in batch] == wanted[36:]
    other = Mix(sources, **how)
    other.load_state_dict(state)
    assert loaded(other, 4, 3) == wanted[36:]


@pytest.mark.parametrize("ended", ["stop", "drop", "restart"])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_job_goes_on_with_other_weights(sources, options, ended, workers):
    old, new = [3, 1, 5], [1, 0, 1]
    first = Mix(sources, old, ended=ended, batch_size=4, client=options)
    passing = iter(first)
    seen = [next(passing) for _ in range(40)]
    state = first.state_dict()
    second = Mix(sources, new, ended=ended, batch_size=4, client=options)
    second.load_state_dict(pickle.loads(pickle.dumps(state)))
    wanted = expected({0: old, 40: new}, ended)
    assert seen + loaded(second, 4, workers) == wanted
    # The counts stay, however often it goes on.
    second.load_state_dict(state)
    passing = iter(second)
    for _ in range(7):
        next(passing)
    third = Mix(sources, new, ended=ended, batch_size=4, rank=0, world_size=1, client=options)
    third.load_state_dict([second.state_dict()])
    assert list(third) == wanted[47:]
    second.set_epoch(1)
    assert len(list(second)) == len(second)


def test_other_weights_stay_where_a_loader_took_its_own_state(sources, options):
    """In the epochs that follow, too, whose workers are other ones."""
    old, new, how = [3, 1, 5], [1, 0, 1], {"ended": "restart", "batch_size": 4, "client": options}
    first = Mix(sources, old, **how)
    passing = iter(first)
    for _ in range(40):
        next(passing)
    second = Mix(sources, new, **how)
    second.load_state_dict(first.state_dict())
    loader = StatefulDataLoader(second, 4, num_workers=2, collate_fn=same)
    passing = iter(loader)
    seen = [sample for _ in range(5) for sample in next(passing)]
    state = loader.state_dict()
    wanted = [expected({0: old, 40: new}, "restart", epoch) for epoch in range(3)]
    for before in (None, second.state_dict(consumed=44)):  # that the dataset has loaded
        third = Mix(sources, new, **how)
        if before is not None:
            third.load_state_dict(before)
        loader = StatefulDataLoader(third, 4, num_workers=2, collate_fn=same)
        loader.load_state_dict(state)
        assert seen + [sample for batch in loader for sample in batch] == wanted[0][40:]
        for epoch in (1, 2):
            third.set_epoch(epoch)
            assert [sample for batch in loader for sample in batch] == wanted[epoch]
        found = collections.Counter(kind for epoch in wanted for kind, _ in epoch)
        assert third.counts(len(third)) == [found[kind] for kind in KINDS]
        assert [sample for batch in StatefulDataLoader(third, 4, num_workers=1, collate_fn=same)
                for sample in batch] == wanted[2]
        third.set_epoch(0)  # all of it: not where other weights began, but by those that are given
        for _ in range(2):
            assert [sample for batch in loader for sample in batch] == list(third) == expected(new, "restart")


def test_a_state_that_does_not_fit_changes_nothing(sources, options):
    first = Mix(sources, [3, 1, 5], batch_size=4, client=options)
    passing = iter(first)
    for _ in range(12):
        next(passing)
    state, second = first.state_dict(), Mix(sources, [1, 1, 1], batch_size=4, client=options)
    without = {name: value for name, value in state.items() if name != "mix"}
    for bad in (without, {**state, "mix": {**state["mix"], "counts": [1]}}):
        with pytest.raises(ValueError, match="mix|counts"):
            second.load_state_dict(bad)
        assert second.state_dict()["consumed"] == 0 and second.counts(9) == [3, 3, 3]
    assert list(second) == expected([1, 1, 1], "stop")
    second.load_state_dict(state)
    assert second.state_dict()["consumed"] == 12 and second.counts(12) == first.counts(12)


def test_a_worker_refuses_other_weights(sources, options):
    loader = StatefulDataLoader(Mix(sources, [1, 1, 1], batch_size=4, client=options), 4, num_workers=1,
                                collate_fn=same)
    passing = iter(loader)
    next(passing)
    other = StatefulDataLoader(Mix(sources, [1, 2, 1], batch_size=4, client=options), 4, num_workers=1,
                               collate_fn=same)
    other.load_state_dict(loader.state_dict())
    with pytest.raises(ValueError, match="weights"):
        next(iter(other))


def test_a_mix_of_mixes(sources, options):
    inner = Mix(sources[:2], [1, 2], ended="restart", client=options)
    outer = Mix([inner, sources[2]], [1, 1], ended="restart", batch_size=4, client=options)
    found = list(outer)
    assert len(found) == len(outer) == sum(SIZES)
    of_inner = dataflux.Mixer(SIZES[:2], [1, 2], ended="restart")
    drawn, numbers = of_inner.draws(0, 200)
    wanted = [(KINDS[source], dataflux.Sampler(SIZES[source], epoch=number // SIZES[source],
                                               **HOW[source])[number % SIZES[source]])
              for source, number in zip(drawn, numbers)]
    some = [sample for sample in found if sample[0] != "s"]
    assert some == wanted[:len(some)]
    assert loaded(outer, 4, 2) == found
    half = Mix([inner, sources[2]], [1, 1], ended="restart", batch_size=4, client=options)
    passing = iter(half)
    begun = [next(passing) for _ in range(30)]
    state = half.state_dict()
    other = Mix([inner, sources[2]], [1, 1], ended="restart", client=options)
    other.load_state_dict(state)
    assert begun + list(other) == found
    third = Mix([inner, sources[2]], [1, 1], ended="stop", client=options)
    assert list(third) == found[:len(third)] and len(third) == 170


def test_ranks_are_made_equal(sources, options):
    for equalize, size in (("drop", 33), ("pad", 34)):
        each = [list(Mix(sources, [1, 1, 2], length=100, equalize=equalize, rank=rank, world_size=3, client=options))
                for rank in range(3)]
        assert [len(one) for one in each] == [size] * 3
        wanted = expected([1, 1, 2], "stop")[:100]
        assert [sample for turn in zip(*each) for sample in turn] == (wanted * 2)[:3 * size]


def refusing(data, row):
    number = int(bytes(data))
    if number % 7 == 0:
        raise ValueError("a seventh")
    return "o", number


def test_what_fails_is_as_of_its_source(sources, options, bucket):
    bad = IterableDataset(bucket("o/"), decode=refusing, shuffle="none", client=options)
    with pytest.raises(DecodeError, match="a seventh"):
        list(Mix([bad, sources[2]], [1, 1], client=options))
    mix = Mix([bad, sources[2]], [1, 1], on_error="return", client=options)
    assert sum(isinstance(sample, DecodeError) for sample in mix) == 9
    mix = Mix([sources[2], bad], [1, 1], on_error="skip", batch_size=8, client=options)
    assert len(list(mix)) == len(mix) == 121 and mix.skipped == 9


def test_sizes_are_those_of_its_source(sources, options, bucket):
    small = IterableDataset(bucket("o/"), decode=of_object, max_size=1, wrong_size="error", client=options)
    mix = Mix([small, sources[2]], [1, 1], on_error="return", client=options)
    assert sum(isinstance(sample, dataflux.Error) for sample in mix) == 50


def test_what_an_epoch_costs(sources, options):
    mix = Mix(sources, [1, 1, 2], ended="restart", batch_size=8, client=options)
    told = mix.describe(2)
    assert 0.5 < told["requests"] <= 1 and told["bytes_read"] <= 2 and 0 < told["same_shard"] < 0.25


def test_bad_arguments_are_refused_by_name(sources, options):
    for given, word in (((sources, [1, 1]), "weights"), (([], []), "sources"), ((sources[0], [1]), "sources"),
                        (([[1, 2]], [1]), "sources")):
        with pytest.raises((ValueError, TypeError), match=word):
            Mix(*given, client=options)
    with pytest.raises(ValueError, match="ended"):
        Mix(sources, [1, 1, 1], ended="never", client=options)
    state = Mix(sources, [1, 1, 1], client=options).state_dict()
    for other in (Mix(sources[:2], [1, 1], client=options), Mix(sources, [1, 1, 1], ended="drop", client=options),
                  Mix(sources, [1, 1, 1], length=9, client=options)):
        with pytest.raises(ValueError, match="digest"):
            other.load_state_dict(state)


def test_what_the_mix_decides_is_told_to_it_alone(client, bucket, options):
    for number in range(2):
        client.put(bucket(f"o/{number}"), b"%d" % number)
    how = {"decode": of_object, "client": options}
    ranked = IterableDataset(bucket("o/"), rank=1, world_size=2, **how)
    skipping = IterableDataset(bucket("o/"), on_error="skip", **how)
    for mixed in (lambda **more: Mix([ranked], [1], client=options, **more),
                  lambda **more: Mix([Mix([ranked], [1], rank=1, world_size=2, client=options)], [1], client=options, **more)):
        with pytest.raises(ValueError, match=r"sources\[0\]: it is rank 1 of 2, and the mix rank 0 of 1"):
            mixed()
        assert mixed(rank=1, world_size=2)
    with pytest.raises(ValueError, match=r"sources\[0\]: on_error='skip', and the mix has 'raise'"):
        Mix([skipping], [1], client=options)
    assert Mix([skipping], [1], on_error="skip", client=options)


def test_a_mix_by_numbers(bucket, options, sources, tmp_path):
    some = [MapDataset(bucket("o/"), decode=of_object, client=options), list(range(10))]
    mix = MapMix(some, [1, 1], ended="restart", seed=5)
    assert len(mix) == OBJECTS + 10
    batch = mix.__getitems__(list(range(len(mix))))
    assert batch == [mix[number] for number in range(len(mix))] and mix[-1] == batch[-1]
    assert [each for each in batch if isinstance(each, int)][:10] == list(dataflux.Sampler(10, seed=5))
    assert loaded(mix, 8, 2) == batch
    assert [each for each in MapMix(some, [1, 1], seed=None).__getitems__(range(20)) if isinstance(each, int)] == \
        list(range(10))
    with pytest.raises(IndexError, match="sample 70 of 70"):
        mix[70]
