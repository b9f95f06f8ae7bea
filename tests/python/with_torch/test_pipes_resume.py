"""Pipes that go on: what a job reads is what one that was never interrupted reads."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy.random  # noqa: F401, torch's workers do, and Python 3.11 may fail to in a forked child
import pytest
import torch
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

import dataflux
from dataflux.torch import list_files, load_files

COUNT = 17
pytestmark = [pytest.mark.filterwarnings("ignore:This DataLoader will create"),
              pytest.mark.filterwarnings("ignore:'set_vital'")]


def lines_of(number):
    return [b"%d:%d" % (number, line) for line in range(number % 5)]


LINES = [line for number in range(COUNT) for line in lines_of(number)]


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def url(client, bucket):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: client.put(bucket(f"o/{number:03}"), b"\n".join(lines_of(number))), range(COUNT)))
    return bucket("o/")


@pytest.fixture
def long(client, bucket):
    """Three objects that are read in parts."""
    for number in range(3):
        lines = (b"%d:%07d%s\n" % (number, line, b"x" * 990) for line in range(9_000))
        client.put(bucket(f"long/{number}"), b"".join(lines))
    return bucket("long/")


KINDS = {"urls": lambda urls: urls,
         "files": lambda urls: load_files(urls),
         "lines": lambda urls: load_files(urls).readlines(),
         "shuffled": lambda urls: load_files(urls).readlines(return_path=False).shuffle(7, seed=3),
         "batches": lambda urls: load_files(urls).readlines(return_path=False).shuffle(7, seed=3).batch(3)}


def pipe_of(kind, url, options, **more):
    return KINDS[kind](list_files(url, client=options, **more).shuffle(seed=8))


def same(item):
    """What torch's own would make a list of."""
    return item


def plain(items):
    """With the bytes of files in their place."""
    return [(item[0], item[1].read()) if isinstance(item, tuple) and hasattr(item[1], "read") else item
            for item in items]


def loader_of(pipe, workers, **more):
    return StatefulDataLoader(pipe, batch_size=None, collate_fn=same, num_workers=workers, **more)


def begun(pipe, workers, steps, **more):
    loader = loader_of(pipe, workers, **more)
    items = iter(loader)
    return plain(next(items) for _ in range(steps)), loader.state_dict()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("steps", [1, 5, 9])
def test_a_stateful_loader_goes_on(url, options, kind, workers, steps):
    whole = pipe_of(kind, url, options)
    whole.set_epoch(2)
    pipe = pipe_of(kind, url, options)
    pipe.set_epoch(2)
    head, state = begun(pipe, workers, steps)
    loader = loader_of(pipe_of(kind, url, options), workers)
    loader.load_state_dict(json.loads(json.dumps(state)) if not workers else state)
    assert head + plain(loader) == plain(loader_of(whole, workers))


@pytest.mark.parametrize("kind", ["urls", "lines"])
@pytest.mark.parametrize("workers", [0, 2, 3])
@pytest.mark.parametrize("later", [0, 1, 2, 5])
def test_it_goes_on_with_another_number_of_workers(url, options, kind, workers, later):
    head, state = begun(pipe_of(kind, url, options), workers, 8)
    pipe = pipe_of(kind, url, options)
    pipe.load_state_dict(state)
    pipe.set_epoch(0)  # as loops over epochs do
    rest = list(DataLoader(pipe, batch_size=None, collate_fn=same, num_workers=later))
    assert sorted(head + rest) == sorted(pipe_of(kind, url, options))
    pipe.set_epoch(1)
    assert sorted(DataLoader(pipe, batch_size=None, collate_fn=same, num_workers=later)) == sorted(head + rest)


def test_it_goes_on_twice_in_the_midst_of_objects(long, options):
    def make():
        return load_files(list_files(long, client=options)).readlines(return_path=False).batch(500)

    head, state = begun(make(), 2, 10)
    assert {each[1] > 0 for each in spots(state)} == {True}
    pipe = make()
    pipe.load_state_dict(state)
    middle, state = begun(pipe, 3, 20)
    pipe = make()
    pipe.load_state_dict(state)
    last, state = begun(pipe, 0, 1)
    pipe = make()
    pipe.load_state_dict(state)
    read = [line for batch in head + middle + last + list(pipe) for line in batch]
    assert len(head + middle) == 30 and sorted(read) == [line for batch in make() for line in batch]


def spots(state):
    if isinstance(state, dict):
        if "spot" in state:
            return [state["spot"]]
        return [spot for value in state.values() for spot in spots(value)]
    return []


def test_a_state_names_object_and_byte_and_goes_on_from_there(long, options, emulator):
    lines = load_files(list_files(long, client=options)).readlines(return_path=False)
    items = iter(lines)
    head = [next(items) for _ in range(9_000 + 8_999)]
    state = lines.state_dict()
    assert state["spot"][:2] == [1, 8_999 * 1_000]
    items.close()
    lines = load_files(list_files(long, client=options), buffer_size=0).readlines(return_path=False)
    lines.load_state_dict(json.loads(json.dumps(state)))
    items = iter(lines)
    before = emulator.answered()
    assert next(items) == b"1:0008999" + b"x" * 990
    assert lines.state_dict()["spot"] == [2, 0, 0, 0, 0]
    assert emulator.answered() - before <= 8  # of objects of 9 MB, in blocks of 1 MiB
    assert len(head) + 1 + sum(1 for _ in items) == 27_000


@pytest.mark.parametrize("later", [1, 3])
def test_it_goes_on_with_another_number_of_ranks(url, options, later):
    states, read = [], []
    for rank in range(2):
        head, state = begun(pipe_of("lines", url, options, rank=rank, world_size=2), 2, 7)
        read += head
        states.append(state)
    for rank in range(later):
        pipe = pipe_of("lines", url, options, rank=rank, world_size=later)
        with pytest.raises(ValueError, match="state: world_size is 2, and here it is"):
            pipe.load_state_dict(states[0])
        pipe.load_state_dict(states)
        read += DataLoader(pipe, batch_size=None, collate_fn=same, num_workers=rank)
    assert sorted(read) == sorted(pipe_of("lines", url, options))


def test_each_rank_goes_on_by_its_own_state(url, options):
    read = []
    for rank in range(2):
        pipe = pipe_of("shuffled", url, options, rank=rank, world_size=2)
        head, state = begun(pipe, 2, 7)
        pipe = pipe_of("shuffled", url, options, rank=rank, world_size=2)
        pipe.load_state_dict(state)
        read += head + list(DataLoader(pipe, batch_size=None, collate_fn=same, num_workers=2))
    assert sorted(read) == sorted(LINES)


def test_persistent_workers_go_on_and_then_begin_the_next_epoch(url, options):
    head, state = begun(pipe_of("lines", url, options), 2, 9)
    pipe = pipe_of("lines", url, options)
    pipe.load_state_dict(state)
    loader = DataLoader(pipe, batch_size=None, collate_fn=same, num_workers=2, persistent_workers=True)
    whole = sorted(pipe_of("lines", url, options))
    assert sorted(head + list(loader)) == whole
    pipe.set_epoch(1)
    assert sorted(loader) == whole
    pipe.load_state_dict(state)
    assert sorted(head + list(loader)) == whole


@pytest.mark.parametrize("workers", [(2, 2, 2), (2, 3, 0), (0, 2, 0), (1, 0, 1), (3, 1, 2)])
@pytest.mark.parametrize("seed", [None, 5])
def test_a_state_is_for_one_pass_of_new_workers(url, options, seed, workers):
    """Whoever makes it; also without set_epoch(), and where each pass has the same random numbers."""
    head, state = begun(pipe_of("lines", url, options), 0, 9)
    pipe = pipe_of("lines", url, options)

    def passed(workers):
        if seed is not None:
            torch.manual_seed(seed)
        return sorted(DataLoader(pipe, batch_size=None, collate_fn=same, num_workers=workers))

    whole = passed(0)
    for _ in range(2):
        pipe.load_state_dict(state)
        assert sorted(head + passed(workers[0])) == whole
        for later in workers[1:]:
            assert passed(later) == whole
    pipe.set_epoch(0)
    assert 0 in workers or not any(pipe.state_dict()["spot"])


def test_a_state_is_not_taken_by_another_pipe_of_the_listing(url, options):
    listed = list_files(url, client=options)
    lines, urls = load_files(listed).readlines(), list(listed)
    items = iter(lines)
    head, state = [next(items) for _ in range(9)], lines.state_dict()
    items.close()
    lines.load_state_dict(state)
    assert sorted(DataLoader(listed, batch_size=None, num_workers=2)) == urls
    listed.set_epoch(0)
    assert lines.state_dict() == state
    assert sorted(head + list(DataLoader(lines, batch_size=None, collate_fn=same, num_workers=2))) == sorted(
        load_files(listed).readlines())


def test_in_the_midst_of_shuffled_lines_as_many_readers_go_on(url, options):
    head, state = begun(pipe_of("shuffled", url, options), 2, 3)
    pipe = pipe_of("shuffled", url, options)
    pipe.load_state_dict(state)
    with pytest.raises(ValueError, match="state: its lines are shuffled, and only 2 readers"):
        list(pipe)
    rest = list(DataLoader(pipe, batch_size=None, collate_fn=same, num_workers=2))
    assert sorted(head + rest) == sorted(LINES)


def test_what_does_not_fit_is_named(url, options, client, bucket):
    head, state = begun(pipe_of("lines", url, options), 0, 3)
    inner = next(iter(found(state)))
    lines = load_files(list_files(url, client=options).shuffle(seed=8)).readlines()
    listed, fewer = list_files(url, client=options), list_files(bucket("o/00"), client=options)
    for pipe, text in ((load_files(listed.shuffle(seed=9)).readlines(), "seed is 8"),
                       (load_files(listed).readlines(), "seed is 8"),
                       (lines.shuffle(3), "buffer_size is 0"),
                       (load_files(listed.shuffle(seed=8)), "stage is lines"),
                       (load_files(fewer.shuffle(seed=8)).readlines(), "listing differs")):
        with pytest.raises(ValueError, match=text):
            pipe.load_state_dict(state)
    for change, text in (({"version": 2}, "version is 2"), ({"epoch": -1}, "state: epoch"),
                         ({"spot": [-1, 0, 0, 0, 0]}, "spot"), ({"spot": [0] * 6}, "spot"), ({"before": 3}, "before"),
                         ({"reader": 1}, "reader is 1 of 1"), ({"readers": "x"}, "state: readers"),
                         ({"format": "another"}, "no state of")):
        with pytest.raises((ValueError, TypeError), match=text):
            lines.load_state_dict({**inner, **change})
    for name in inner:
        if name != "format":
            with pytest.raises(ValueError, match=f"{name} is missing"):
                lines.load_state_dict({key: value for key, value in inner.items() if key != name})
    with pytest.raises(ValueError, match="snapshot_every_n_steps"):
        lines.load_state_dict(begun(pipe_of("lines", url, options), 2, 4, snapshot_every_n_steps=3)[1])
    lines.load_state_dict(inner)
    assert head + list(lines) == list(pipe_of("lines", url, options))


def found(state):
    if isinstance(state, dict):
        return [state] if "spot" in state else [each for value in state.values() for each in found(value)]
    return []


def test_a_plain_loader_s_workers_are_ahead(url, options):
    pipe = pipe_of("lines", url, options)
    items = iter(DataLoader(pipe, batch_size=None, collate_fn=same, num_workers=2))
    next(items)
    with pytest.raises(ValueError, match="StatefulDataLoader"):
        pipe.state_dict()


def test_a_state_before_the_first_item_and_behind_the_last_one(url, options):
    pipe = pipe_of("lines", url, options)
    whole = list(pipe)
    last = pipe.state_dict()
    pipe.load_state_dict(pipe_of("lines", url, options).state_dict())
    assert list(pipe) == whole
    pipe.load_state_dict(last)
    assert pipe.state_dict() == last
    assert list(pipe) == []
    pipe.set_epoch(1)
    assert sorted(pipe) == sorted(whole)


def test_it_goes_on_in_the_generation_that_it_has_begun(long, options, client, bucket):
    """Of names alone, too: the state has the generation."""
    lines = load_files([bucket("long/0")], client=options).readlines(return_path=False)
    items = iter(lines)
    for _ in range(3):
        next(items)
    state = lines.state_dict()
    items.close()
    client.put(bucket("long/0"), b"other\n" * 10_000)
    lines.load_state_dict(state)
    with pytest.raises(dataflux.NotFoundError, match="of which 3000 bytes were read before the state was saved, is"):
        list(lines)


@pytest.mark.parametrize("change", [
    lambda client, url: client.put(url("o/002"), b"2:1\n2:0"), lambda client, url: client.put(url("o/001"), b"x:x"),
    lambda client, url: client.put(url("o/002"), b"2:0\n2:1\n2:2"), lambda client, url: client.put(url("o/002"), b""),
    lambda client, url: client.delete(url("o/002")), lambda client, url: client.put(url("o/000"), b"0:0"),
    lambda client, url: [client.delete(url(f"o/{number:03}")) for number in range(5)]])
@pytest.mark.parametrize("steps", [1, 9])
def test_a_block_of_shuffled_lines_is_gone_on_with_where_it_is_the_same(url, options, client, bucket, change, steps):
    """Of names alone, whose newest generations are read."""
    urls = [bucket(f"o/{number:03}") for number in range(5)]

    def make():
        return load_files(urls, on_error="skip", client=options).readlines(return_path=False).shuffle(10, seed=3)

    head, state = begun(make(), 0, steps)
    pipe = make()
    pipe.load_state_dict(state)
    assert sorted(head + list(pipe)) == sorted(line for number in range(5) for line in lines_of(number))
    change(client, bucket)
    pipe.load_state_dict(state)
    with pytest.raises(dataflux.PreconditionError, match="o/000: the state goes on in the midst of shuffled lines"):
        list(pipe)


def test_blocks_of_shuffled_lines_go_on_from_within_objects(long, options):
    """Blocks that begin and end there, and read over empty and short ones."""
    def make():
        return load_files(list_files(long, client=options)).readlines(return_path=False).shuffle(4_000, seed=3)

    pipe, spots = make(), []
    items = iter(pipe)
    whole = []
    for number, line in enumerate(items, 1):
        whole.append(line)
        if number % 2_900 == 0:
            spots.append((number, pipe.state_dict()))
    for number, state in spots:
        pipe.load_state_dict(state)
        assert list(pipe) == whole[number:]


def test_one_that_is_gone_on_with_is_not_larger_than_it_was(client, bucket, options):
    client.put(bucket("x"), b"a\nb\n")
    lines = load_files([bucket("x")], client=options).readlines()
    state = {**lines.state_dict(), "spot": [0, 5, 0, 0, 0]}
    lines.load_state_dict(state)
    with pytest.raises(dataflux.PreconditionError, match="it has 4 bytes, and the state goes on behind 5"):
        list(lines)
