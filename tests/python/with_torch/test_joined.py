"""Datasets of two sets of shards that are joined by key."""

import io
import pickle
import tarfile
import time
from array import array
from itertools import count, islice

import pytest
from torch.utils.data import DataLoader

import dataflux
from dataflux.torch import IterableDataset, MapDataset, Mix

LEFT, RIGHT = range(0, 60), range(20, 90)  # keys
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def put(client, url, keys, field, of_shard=15):
    for shard in range(0, len(keys), of_shard):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            for key in keys[shard:shard + of_shard]:
                info = tarfile.TarInfo(f"{key:04}.{field}")
                content = b"%s %d" % (field.encode(), key)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        client.put(f"{url}{shard:03}.tar", out.getvalue())


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def sides(client, bucket, tmp_path):
    put(client, bucket("l/"), list(LEFT), "jpg")
    put(client, bucket("r/"), list(reversed(RIGHT)), "txt", 11)
    paths = [str(tmp_path / f"{side}.dfx") for side in "lr"]
    for side, path in zip("lr", paths):
        client.index_shards(bucket(f"{side}/"), path)
    return [dataflux.ShardIndex.open(path) for path in paths]


def told(sample, row):
    key = int(sample["__key__"])
    assert bytes(sample["jpg"]) == b"jpg %d" % key and sample["__url__"] == row.url
    assert "txt" not in sample or bytes(sample["txt"]) == b"txt %d" % key
    return key if "txt" in sample else -key - 1


def same(batch):
    return list(batch)


def loaded(dataset, workers=0):
    return [sample for batch in DataLoader(dataset, 8, num_workers=workers, collate_fn=same) for sample in batch]


def test_rows_are_of_both_sides(sides):
    left, right = sides
    join = left.join(right)
    assert len(join) == 40 and (join.left_alone, join.right_alone) == (20, 30)
    assert [join[number][0] for number in range(40)] == list(range(20, 60))
    assert [join[number][1] for number in range(40)] == [right.find(f"{key:04}")[0] for key in range(20, 60)]
    outer = left.join(right, kind="left")
    assert len(outer) == 60 and outer[0] == (0, None) and outer[-1] == join[-1] and "60 rows" in repr(outer)
    again = pickle.loads(pickle.dumps(outer))
    assert [*again] == [*outer]
    with pytest.raises(IndexError, match="row 60 of 60"):
        outer[60]
    for bad, word in (({"other": 5}, "other"), ({"other": right, "kind": "outer"}, "kind"),
                      ({"other": right, "repeated": "no"}, "repeated"), ({"other": right, "prefix": 5}, "prefix")):
        with pytest.raises((TypeError, ValueError), match=word):
            left.join(**bad)


@pytest.mark.parametrize("shuffle", [{}, {"shuffle": "blocks", "block": 5, "window": 8},
                                     {"shuffle": "window", "block": 5, "window": 3}, {"shuffle": "none"}])
def test_a_sample_has_the_fields_of_both(sides, options, shuffle):
    join = sides[0].join(sides[1])
    dataset = IterableDataset(shards=join, decode=told, seed=3, batch_size=8, client=options, **shuffle)
    assert len(dataset) == 40
    wanted = [20 + row for row in dataflux.Sampler(40, seed=3, **shuffle)]
    assert list(dataset) == wanted == loaded(dataset, 2)
    outer = IterableDataset(shards=sides[0].join(sides[1], kind="left"), decode=told, seed=3, client=options, **shuffle)
    assert list(outer) == [row if row >= 20 else -row - 1 for row in dataflux.Sampler(60, seed=3, **shuffle)]
    assert outer.digest != dataset.digest and "join" in repr(dataset)


def test_it_goes_on_and_is_mixed(sides, options):
    join = sides[0].join(sides[1], kind="left")
    dataset = IterableDataset(shards=join, decode=told, seed=5, client=options)
    whole, passing = list(dataset), iter(dataset)
    begun = [next(passing) for _ in range(17)]
    other = IterableDataset(shards=sides[0].join(sides[1], kind="left"), decode=told, seed=5, client=options)
    other.load_state_dict(dataset.state_dict())
    assert begun + list(other) == whole
    mix = Mix([dataset, IterableDataset(shards=sides[0], decode=told, client=options)], [2, 1], ended="drop",
              batch_size=8, client=options)
    assert len(loaded(mix, 2)) == 120
    by_number = MapDataset(shards=join, decode=told, client=options)
    assert by_number.__getitems__([59, 0, 30]) == [59, -1, 30]
    assert dataset.row(30).name == "l/030.tar"


def test_a_field_of_both_sides_is_an_error_without_a_prefix(sides, options):
    left = sides[0]
    with pytest.raises(dataflux.InvalidArgumentError, match="'jpg' on both sides.*prefix"):
        next(iter(IterableDataset(shards=left.join(left), client=options)))
    sample = next(iter(IterableDataset(shards=left.join(left, prefix="r."), client=options)))
    assert sample["jpg"] == sample["r.jpg"] and set(sample) == {"__key__", "__url__", "jpg", "r.jpg"}


def test_rows_without_a_partner_are_passed_over_at_once(sides, options, tmp_path, monkeypatch):
    from dataflux import _get_many
    from dataflux.torch._joined import Joined

    monkeypatch.setattr(_get_many, "_AGAIN", 5_000_000_000)  # what a stream waits for where it had nothing to ask for
    joined = Joined.write(sides[0].join(sides[1], kind="left"), str(tmp_path / "join"))
    rows = [0, 1, 2, 25, 3, 4, 59]
    began = time.monotonic()
    found = list(joined.stream(options, iter([array("Q", [row]) for row in rows])).items())
    assert time.monotonic() - began < 5
    assert [(int(item.data["__key__"]), "txt" in item.data) for item in found] == [(row, row >= 20) for row in rows]


def test_no_side_is_ahead_of_the_other_one(sides, options, tmp_path):
    from dataflux.torch._joined import Joined

    joined = Joined.write(sides[0].join(sides[1], kind="left"), str(tmp_path / "join"))
    asked = count()
    stream = joined.stream(options, (array("Q", [row % 20]) for row in asked))  # none has a partner
    stream._fill()
    assert [int(item.data["__key__"]) for item in islice(stream.items(), 50)] == [*range(20), *range(20), *range(10)]
    stream._fill()
    assert next(asked) < 10_000
    stream.close()


def test_keys_that_come_again(client, bucket, sides, tmp_path, options):
    put(client, bucket("d/"), [30, 31, 30, 98, 99], "txt")
    client.index_shards(bucket("d/"), tmp_path / "d.dfx")
    twice = dataflux.ShardIndex.open(tmp_path / "d.dfx")
    with pytest.raises(dataflux.PreconditionError, match="sample 2 of the right side"):
        sides[0].join(twice)
    join = sides[0].join(twice, repeated="all_pairs")
    assert [*join] == [(30, 0), (30, 2), (31, 1)] and join.right_alone == 2
    assert [told(sample, dataflux.Row(sides[0].bucket, sample["__url__"].split("/", 3)[3], 0, 0, None))
            for sample in IterableDataset(shards=join, shuffle="none", client=options)] == [30, 30, 31]


def test_a_side_that_fails_fails_the_sample(client, bucket, sides, options):
    join = sides[0].join(sides[1])
    client.delete(bucket("r/033.tar"))
    dataset = IterableDataset(shards=join, decode=told, shuffle="none", on_error="return", client=options)
    found = list(dataset)
    gone = set(range(46, 57))  # the keys of that shard
    assert [isinstance(each, dataflux.NotFoundError) for each in found] == [key in gone for key in range(20, 60)]
