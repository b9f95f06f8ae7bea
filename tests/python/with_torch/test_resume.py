"""A job that goes on: the samples are those of a job that was never interrupted."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

import dataflux
from dataflux.torch import IterableDataset

COUNT = 47
pytestmark = [pytest.mark.filterwarnings("ignore:This DataLoader will create"),
              pytest.mark.filterwarnings("ignore:'set_vital'")]


def number(data, row):
    return int(bytes(data))


@pytest.fixture
def make(client, emulator, bucket):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.put(bucket(f"o/{n:03}"), b"%d" % n), range(COUNT)))
    options = dataflux.Client(**emulator.options)
    client.save_manifest(client.list(bucket("o/")), bucket("manifest"))

    def made(**more):
        return IterableDataset(manifest=bucket("manifest"), client=options,
                               **{"batch_size": 4, "decode": number, "seed": 5, "epoch": 1, **more})

    return made


def flat(batches):
    return [sample for batch in batches for sample in batch.tolist()]


def begun(dataset, workers, steps, **more):
    loader = StatefulDataLoader(dataset, batch_size=4, num_workers=workers, **more)
    batches = iter(loader)
    return flat(next(batches) for _ in range(steps)), loader.state_dict()


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
@pytest.mark.parametrize("steps", [1, 2, 5, 11, 12])
def test_a_stateful_loader_goes_on(make, workers, steps):
    head, state = begun(make(), workers, steps)
    loader = StatefulDataLoader(make(epoch=0), batch_size=4, num_workers=workers)
    loader.load_state_dict(state)
    assert head + flat(loader) == list(make())


@pytest.mark.parametrize("workers", [0, 2, 3])
@pytest.mark.parametrize("later", [0, 1, 4])
@pytest.mark.parametrize("every", [1, 3])
def test_it_goes_on_with_another_number_of_workers(make, workers, later, every):
    head, state = begun(make(), workers, 5, snapshot_every_n_steps=every)
    dataset = make(epoch=0)
    dataset.load_state_dict(state)
    dataset.set_epoch(1)  # as loops over epochs do
    assert head + flat(DataLoader(dataset, batch_size=4, num_workers=later)) == list(make())


def test_it_goes_on_twice_and_into_the_next_epoch(make):
    head, state = begun(make(), 2, 3)
    dataset = make(epoch=0)
    dataset.load_state_dict(state)
    middle, state = begun(dataset, 3, 4)
    dataset = make(epoch=0)
    dataset.load_state_dict(state)
    loader = DataLoader(dataset, batch_size=4, num_workers=2, persistent_workers=True)
    assert head + middle + flat(loader) == list(make())
    dataset.set_epoch(2)
    assert flat(loader) == list(make(epoch=2))


@pytest.mark.parametrize("equalize", ["drop", "pad"])
@pytest.mark.parametrize("later", [1, 3, 4])
def test_it_goes_on_with_another_number_of_ranks(make, later, equalize):
    """The rows that the old ranks had not read are read once by the new ones."""
    states, read = [], []
    for rank in range(2):
        head, state = begun(make(rank=rank, world_size=2, equalize=equalize), 2, 3)
        read += head
        states.append(state)
    assert len(read) == 24 and read[::12] == [*dataflux.Sampler(COUNT, seed=5, epoch=1)[0:2]]
    rest = []
    for rank in range(later):
        dataset = make(rank=rank, world_size=later, equalize=equalize, epoch=0)
        dataset.load_state_dict(states)
        rest.append(list(dataset))
    assert len({len(each) for each in rest}) == 1
    together = [row for turn in zip(*rest) for row in turn]
    expected = list(dataflux.Sampler(COUNT, seed=5, epoch=1))[24:]
    assert together[:len(expected)] == expected[:len(together)]
    if equalize == "drop":
        assert len(expected) - later < len(together) <= len(expected)
    else:
        assert len(expected) <= len(together) < len(expected) + later


def test_a_plain_loader_goes_on_by_the_number_of_samples(make):
    whole = list(make())
    for consumed in (0, 1, 12, 46, 47):
        dataset = make(consumed=consumed)
        assert flat(DataLoader(dataset, batch_size=4, num_workers=2)) == whole[consumed:]
    dataset = make()
    dataset.load_state_dict(make().state_dict(consumed=10))
    assert list(dataset) == whole[10:]


def test_what_is_yielded_counts_and_not_what_is_read_ahead(make):
    dataset = make()
    found = iter(dataset)
    head = [next(found) for _ in range(7)]
    state = dataset.state_dict()
    assert state["consumed"] == 7 and {"version", "digest", "seed", "epoch", "world_size",
                                       "num_workers"} < set(state)
    other = make(epoch=0)
    other.load_state_dict(state)
    assert head + list(other) == list(make())


@pytest.mark.parametrize(("more", "word"), [
    ({"seed": 6}, "seed"), ({"batch_size": 5}, "batch_size"), ({"shuffle": "none"}, "shuffle"),
])
def test_a_state_that_does_not_fit_is_refused_by_its_field(make, more, word):
    state = begun(make(), 2, 3)[1]
    with pytest.raises(ValueError, match=f"state: {word} is"):
        make(**more).load_state_dict(state)


def test_another_window_is_refused(make):
    state = make(shuffle="window", block=4, window=2).state_dict(consumed=4)
    make(shuffle="window", block=4, window=2).load_state_dict(state)
    for more, word in (({"block": 5, "window": 2}, "block is 4"), ({"block": 4}, "window is 2")):
        with pytest.raises(ValueError, match=f"state: {word}"):
            make(shuffle="window", **more).load_state_dict(state)


def test_another_manifest_is_refused(make, client, bucket):
    state = begun(make(), 2, 3)[1]
    client.put(bucket("o/new"), b"1")
    client.save_manifest(client.list(bucket("o/")), bucket("manifest"))
    with pytest.raises(ValueError, match="state: the listing differs: digest is .* save one by"):
        make().load_state_dict(state)


def test_another_number_of_workers_is_told_what_to_do(make):
    state = begun(make(), 2, 3)[1]
    workers = state["_snapshot"]["_worker_snapshots"]
    with pytest.raises(ValueError, match="num_workers is 2.*as a whole"):
        make().load_state_dict(workers["worker_0"])


@pytest.mark.parametrize("wrong", [None, {}, [], {"format": "dataflux.torch"}, 5])
def test_what_is_no_state_is_refused(make, wrong):
    with pytest.raises(ValueError, match="state: "):
        make().load_state_dict(wrong)


def test_a_state_that_never_ends_is_refused(make):
    state = {}
    state["a"] = [state]
    with pytest.raises(ValueError, match="nested too deep"):
        make().load_state_dict(state)


def test_ranks_that_do_not_agree_are_refused(make):
    states = [begun(make(rank=rank, world_size=2), 0, 2 + rank)[1] for rank in range(2)]
    with pytest.raises(ValueError, match="different numbers of samples"):
        make().load_state_dict(states)
    with pytest.raises(ValueError, match="world_size is 2.*of all"):
        make().load_state_dict(states[0])


def test_the_same_objects_listed_anew_fit(make, client, bucket):
    head, state = begun(make(), 2, 3)
    client.save_manifest(client.list(bucket("o/")), bucket("manifest"))
    dataset = make(epoch=0)
    dataset.load_state_dict(state)
    assert head + list(dataset) == list(make())
    client.put(bucket("o/003"), b"3")
    client.save_manifest(client.list(bucket("o/")), bucket("manifest"))
    with pytest.raises(ValueError, match="state: the listing differs: digest is .* save one by"):
        make().load_state_dict(state)


@pytest.mark.parametrize("told, real", [(None, 4), (2, 4), (4, 3)])
def test_workers_that_took_other_turns_cannot_be_gone_on_with(make, told, real):
    loader = StatefulDataLoader(make(batch_size=told), batch_size=real, num_workers=2)
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    with pytest.raises(ValueError, match="batch_size .* tell the dataset batch_size="):
        make(batch_size=told).load_state_dict(loader.state_dict())


def test_more_than_an_epoch_was_not_consumed(make):
    with pytest.raises(ValueError, match=f"consumed: {COUNT + 1} of {COUNT}"):
        make().state_dict(consumed=COUNT + 1)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_state_reaches_workers_that_live_already(make, workers):
    dataset = make()
    loader = DataLoader(dataset, batch_size=4, num_workers=workers, persistent_workers=True)
    whole = flat(loader)
    state = make().state_dict(consumed=20)
    for _ in range(2):
        dataset.load_state_dict(state)
        assert flat(loader) == whole[20:]
        assert flat(loader) == whole  # a place is of one pass
    dataset.load_state_dict(state)
    dataset.set_epoch(1)
    assert flat(loader) == whole[20:]
    dataset.load_state_dict(state)
    dataset.set_epoch(2)  # forgets it
    assert flat(loader) == list(make(epoch=2))
    dataset.set_epoch(1)
    assert flat(loader) == whole


def test_a_pass_here_takes_the_place_too(make):
    dataset = make()
    whole = list(dataset)
    dataset.load_state_dict(make().state_dict(consumed=20))
    assert dataset.state_dict()["consumed"] == 20
    assert list(dataset) == whole[20:] and list(dataset) == whole


def test_a_loader_s_own_state_comes_before_that_of_its_dataset(make):
    head, state = begun(make(), 2, 3)
    dataset = make(epoch=0, consumed=40)
    loader = StatefulDataLoader(dataset, batch_size=4, num_workers=2)
    loader.load_state_dict(state)
    assert head + flat(loader) == list(make())


def test_the_main_process_says_that_it_does_not_know_what_workers_have_read(make):
    dataset = make()
    assert dataset.state_dict()["consumed"] == 0
    loader = DataLoader(dataset, batch_size=4, num_workers=2, persistent_workers=True)
    batches = iter(loader)
    head = flat(next(batches) for _ in range(3))
    with pytest.raises(ValueError, match="consumed: workers .* StatefulDataLoader"):
        dataset.state_dict()
    state = dataset.state_dict(consumed=12)
    list(batches)
    with pytest.raises(ValueError, match="consumed: workers"):
        dataset.state_dict()
    later = make(epoch=0)
    later.load_state_dict(state)
    assert later.state_dict()["consumed"] == 12 and head + list(later) == list(make())
    dataset.set_epoch(2)
    assert dataset.state_dict()["consumed"] == 0 and dataset.state_dict()["epoch"] == 2
    list(dataset)
    assert dataset.state_dict()["consumed"] == COUNT


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_a_number_of_samples_needs_the_batch_size_where_workers_take_turns(make, workers):
    dataset = make(batch_size=None, consumed=8)
    loader = DataLoader(dataset, batch_size=4, num_workers=workers)
    if workers < 2:
        assert flat(loader) == list(make())[8:]
        return
    with pytest.raises(ValueError, match="consumed: of 2 workers .* batch_size"):
        next(iter(loader))
    dataset = make(batch_size=None)
    next(iter(DataLoader(dataset, batch_size=4, num_workers=workers)))
    with pytest.raises(ValueError, match="consumed: of 2 workers .* batch_size"):
        dataset.state_dict(consumed=4)
    assert dataset.state_dict(consumed=0)["consumed"] == 0
