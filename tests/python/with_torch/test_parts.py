"""A part of a dataset may have many samples in an object: what Part asks for is enough to read them."""

import pytest
from torch.utils.data import DataLoader

import dataflux
from dataflux.torch import IterableDataset, MapDataset
from dataflux.torch._named import Named
from dataflux.torch._pairs import Paired
from dataflux.torch._source import Folder, Listed, Part, Source

LINES = 40  # samples of an object


class Line:
    """An item."""

    error = None

    def __init__(self, data, generation):
        self.data, self.generation, self.crc32c = memoryview(data), generation, 0


class Lines:
    """Objects whose lines are samples."""

    def __init__(self, bucket, names):
        self.bucket, self.names = bucket, names
        self.digest = "lines of " + " ".join(names)
        self.read = []  # names of objects, as they were read
        self.kept = None

    def __getstate__(self):
        return {**self.__dict__, "kept": None}

    def open(self, client):
        return self

    def listed(self, number):
        return dataflux.Row(self.bucket, self.names[number // LINES], 0, 0, None)

    def row(self, number, size, generation, crc32c):
        return dataflux.Row(self.bucket, f"{self.names[number // LINES]}#{number % LINES}", size, generation, None)

    def place(self, number):
        return self.bucket, self.names[number // LINES], 0

    def size_error(self, number, sizes):
        return None

    def some(self, client, rows):
        for row in rows:
            name = self.names[row // LINES]
            if self.kept is None or self.kept[0] != name:
                self.read.append(name)
                [item] = client.get_many([(self.bucket, name)], on_error="return").items()
                if item.error is not None:
                    yield item
                    continue
                self.kept = name, bytes(item.data).split(b"\n"), item.generation
            yield Line(self.kept[1][row % LINES], self.kept[2])

    def stream(self, client, stretches):
        return Stream(self.some(client, (row for rows in stretches for row in rows)))


class Stream:
    def __init__(self, items):
        self.items = items

    def __next__(self):
        return [next(self.items)]

    def _fill(self):
        pass

    def close(self):
        self.items.close()


@pytest.fixture
def lines(client, bucket):
    names = [f"shard-{i}" for i in range(6)]
    for name in names:
        bucket.put(name, b"\n".join(f"{name} {i}".encode() for i in range(LINES)))
    part = Lines(bucket.name, names)

    def dataset(kind=IterableDataset, **how):
        made = kind(names=[bucket(name) for name in names], client=client, **how)
        made._source = Source([part], [len(names) * LINES], Folder(), "lines")
        return made

    return part, dataset, [f"{name} {i}".encode() for name in names for i in range(LINES)]


def test_each_object_is_read_once_where_its_rows_follow_each_other(lines):
    part, dataset, wanted = lines
    assert list(dataset(shuffle="none")) == wanted
    assert part.read == part.names


@pytest.mark.parametrize("workers", [0, 2])
def test_each_sample_is_read_once_in_any_order_by_any_workers(lines, workers):
    _, dataset, wanted = lines
    loader = DataLoader(dataset(seed=3, batch_size=7), batch_size=7, num_workers=workers, collate_fn=list)
    found = [sample for batch in loader for sample in batch]
    assert sorted(found) == sorted(wanted) and found != wanted


def test_ranks_share_the_samples_and_a_state_goes_on(lines):
    _, dataset, wanted = lines
    found = []
    for rank in range(2):
        first = dataset(seed=5, rank=rank, world_size=2)
        passing = iter(first)
        found += [next(passing) for _ in range(50)]
        again = dataset(seed=5, rank=rank, world_size=2)
        again.load_state_dict(first.state_dict())
        found += again
    assert sorted(found) == sorted(wanted)


def test_decode_gets_what_the_part_says_of_a_sample(lines):
    _, dataset, _ = lines
    made = dataset(MapDataset, decode=lambda data, row: (bytes(data), row.name))
    assert made[LINES + 2] == (b"shard-1 2", "shard-1#2")
    assert len(made) == 6 * LINES and made.row(LINES + 2).name == "shard-1"


def test_an_object_that_fails_fails_its_samples(lines, bucket):
    part, dataset, wanted = lines
    part.names[2] = "missing"
    found = list(dataset(shuffle="none", on_error="return"))
    failed = found[2 * LINES:3 * LINES]
    assert {type(each) for each in failed} == {dataflux.NotFoundError}
    assert found[:2 * LINES] + found[3 * LINES:] == wanted[:2 * LINES] + wanted[3 * LINES:]


@pytest.mark.parametrize("kind, without", [
    (Listed, ()), (Named, ()), (Lines, ()), (Paired, ("row", "place"))])
def test_the_parts_have_what_a_part_has(kind, without):
    asked = [name for name, value in vars(Part).items() if callable(value) and not name.startswith("_")]
    assert [name for name in asked if not callable(getattr(kind, name, None))] == sorted(without, key=asked.index)
