"""Datasets of pairs: two prefixes, whose objects belong together by their names."""

import json
import os
import pickle
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

import dataflux
from dataflux.torch import DecodeError, IterableDataset, MapDataset, tensor

COUNT = 40
pytestmark = [pytest.mark.filterwarnings("ignore:This DataLoader will create"),
              pytest.mark.filterwarnings("ignore:'set_vital'")]


def number(data, row):
    """A pair's number, if its sides are those that belong together."""
    image, label = data
    assert row[0].name.endswith(".jpg") and row[1].name.endswith("_l.txt")
    assert row[0].name[2:-4] == row[1].name[2:-6] and len(image) == row[0].size
    assert bytes(image).rstrip(b".") == b"image " + bytes(label)
    return int(bytes(label))


def picky(data, row):
    if "07" in row[0].name:
        raise LookupError("no seven")
    return int(bytes(data[1]))


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def pairs(bucket):
    objects = {}
    for n in range(COUNT):
        objects[f"i/{n:02}.jpg"] = b"image %d" % n + bytes(300 * n % 700).replace(b"\0", b".")
        objects[f"l/{n:02}_l.txt"] = b"%d" % n
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: bucket.put(*each), objects.items()))
    return [(bucket("i/"), ".jpg"), (bucket("l/"), "_l.txt")]


def iterable(pairs, options, **more):
    return IterableDataset(pairs=pairs, client=options, **{"batch_size": 4, "decode": number, **more})


def read(dataset, workers, **more):
    return [sample for batch in DataLoader(dataset, batch_size=4, num_workers=workers, collate_fn=list, **more)
            for sample in batch]


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_an_epoch_of_pairs_is_the_order_of_a_sampler(pairs, options, start):
    dataset = iterable(pairs, options, seed=3)
    expected = list(dataflux.Sampler(COUNT, seed=3))
    assert dataset.count == len(dataset) == COUNT and dataset.unpaired == (0, 0)
    assert [row.name for row in dataset.row(7)] == ["i/07.jpg", "l/07_l.txt"]
    assert list(dataset) == expected
    for workers in (0, 1, 3) if start == "fork" else (2,):
        more = {"multiprocessing_context": start} if workers else {}
        assert read(dataset, workers, **more) == expected


def test_ranks_epochs_and_workers_that_live_on(pairs, options):
    for world_size in (1, 2, 3, 7):
        seen = []
        for rank in range(world_size):
            dataset = iterable(pairs, options, rank=rank, world_size=world_size, epoch=2)
            seen.append(list(dataset))
        assert len({len(each) for each in seen}) == 1
        together = [sample for turn in zip(*seen) for sample in turn]
        assert together == list(dataflux.Sampler(COUNT, epoch=2))[:len(together)]
    dataset = iterable(pairs, options)
    loader = DataLoader(dataset, batch_size=4, num_workers=2, persistent_workers=True)
    for epoch in (0, 1, 2, 5):
        dataset.set_epoch(epoch)
        expected = list(dataflux.Sampler(COUNT, epoch=epoch))
        assert [each for batch in loader for each in batch.tolist()] == expected


def test_without_decode_a_sample_is_two(pairs, options, bucket):
    plain = iterable(pairs, options, shuffle="none", decode=dataflux.torch.as_bytes)
    assert list(plain)[3] == (bucket.get("i/03.jpg"), b"3")
    made = iterable(pairs, options, shuffle="none", decode=tensor)
    for workers in (0, 2):
        image, label = read(made, workers)[3]
        assert bytes(image.tolist()) == bucket.get("i/03.jpg") and label.tolist() == [ord("3")]


def test_pairs_of_manifests(pairs, options, client, bucket, tmp_path):
    client.save_manifest(client.list(bucket("i/")), str(tmp_path / "i"))
    client.save_manifest(client.list(bucket("l/")), bucket("saved/l"))
    client.save_manifest(client.list(bucket("")), str(tmp_path / "all"))
    expected = list(dataflux.Sampler(COUNT))
    for manifest in ([tmp_path / "i", bucket("saved/l")], tmp_path / "all", [str(tmp_path / "all")]):
        dataset = iterable(pairs, options, manifest=manifest)
        assert list(dataset) == read(dataset, 2) == expected
    with pytest.raises(dataflux.NotFoundError, match="l/: no object below it .* ends in '_l.txt'"):
        iterable(pairs, options, manifest=tmp_path / "i")


def test_two_buckets(pairs, options, bucket, emulator):
    other = bucket.name + "-other"
    emulator.add_bucket(other)
    labels = type(bucket)(emulator, other)
    for n in range(COUNT):
        labels.put(f"l/{n:02}_l.txt", b"%d" % n)
    both = [pairs[0], (labels("l/"), "_l.txt")]
    assert list(iterable(both, options)) == list(dataflux.Sampler(COUNT))
    assert MapDataset(pairs=both, decode=number, client=options).__getitems__([5, 1, 5]) == [5, 1, 5]


def test_what_has_no_partner_is_refused_or_counted(pairs, options, bucket):
    bucket.put("i/zz.jpg", b"1")
    bucket.put("i/README", b"1")  # is no image
    with pytest.raises(dataflux.NotFoundError, match=r"1 of 41 .*/i/\*.jpg have no partner, .*/i/zz.jpg"):
        iterable(pairs, options)
    bucket.put("l/a_l.txt", b"1")
    bucket.put("l/-_l.txt", b"1")  # rows of the two listings differ from here on
    dataset = iterable(pairs, options, unpaired="omit")
    assert dataset.unpaired == pickle.loads(pickle.dumps(dataset)).unpaired == (1, 2)
    assert sorted(dataset) == list(range(COUNT))
    assert MapDataset(pairs=pairs, unpaired="omit", client=options).unpaired == (1, 2)
    with pytest.raises(dataflux.NotFoundError, match="have no partner.*compare the prefixes"):
        iterable([(bucket("i/zz"), ".jpg"), pairs[1]], options, unpaired="omit")


@pytest.mark.parametrize("workers", [0, 2, 3])
def test_a_job_goes_on(pairs, options, workers):
    def make():
        return iterable(pairs, options, seed=5, epoch=1)

    loader = StatefulDataLoader(make(), batch_size=4, num_workers=workers)
    batches = iter(loader)
    head = [sample for _ in range(3) for sample in next(batches).tolist()]
    state = loader.state_dict()
    again = StatefulDataLoader(make(), batch_size=4, num_workers=workers)
    again.load_state_dict(state)
    assert head + [sample for batch in again for sample in batch.tolist()] == list(make())
    other = make()
    other.load_state_dict(state)
    assert head + read(other, 1) == list(make())


def test_a_state_fits_the_same_pairs_alone(pairs, options, bucket):
    state = iterable(pairs, options).state_dict(consumed=4)
    iterable(pairs, options).load_state_dict(state)
    for wrong in (iterable(pairs[::-1], options), IterableDataset(pairs[0][0], batch_size=4, client=options)):
        with pytest.raises(ValueError, match="state: the listing differs: digest is"):
            wrong.load_state_dict(state)
    bucket.put("l/05_l.txt", b"5")
    with pytest.raises(ValueError, match="state: the listing differs: digest is"):
        iterable(pairs, options).load_state_dict(state)


def test_a_pickle_has_no_names_and_other_pairs_are_refused(pairs, options):
    dataset = iterable(pairs, options)
    carried = pickle.dumps(dataset)
    assert len(carried) < 4096 and b"i/0" not in carried
    path = dataset._source.parts[0].path
    with open(path, "rb") as file:
        whole = file.read()
    with open(path, "wb") as file:
        file.write(whole[:-5] + bytes(5))
    with pytest.raises(dataflux.PreconditionError, match="other pairs"):
        list(pickle.loads(carried))
    with open(path, "wb") as file:
        file.write(whole[:-1])
    with pytest.raises(dataflux.DataLossError, match="cut off"):
        list(pickle.loads(carried))


def test_other_manifests_than_those_that_were_paired_are_refused(pairs, options, client, bucket, tmp_path):
    client.save_manifest(client.list(bucket("")), str(tmp_path / "m"))
    dataset = iterable(pairs, options, manifest=tmp_path / "m")
    carried = pickle.dumps(dataset)
    assert list(pickle.loads(carried)) == list(dataflux.Sampler(COUNT))
    bucket.put("a", b"")  # the numbers of all rows are others
    client.save_manifest(client.list(bucket("")), str(tmp_path / "m"))
    with pytest.raises(dataflux.PreconditionError, match="replaced"):
        list(pickle.loads(carried))
    dataset = iterable(pairs, options, manifest=tmp_path / "m")
    part = dataset._source.parts[0]
    part._rows = None  # as in a rank whose manifest is another one than rank 0's
    part._sides[1].digest = "x"
    with pytest.raises(dataflux.PreconditionError, match="all ranks have to be given the same"):
        part.open(client)


@pytest.mark.parametrize("workers", [0, 2])
def test_failures_of_either_side(pairs, options, client, bucket, workers):
    dataset = iterable(pairs, options, decode=picky, on_error="return")
    skipping = iterable(pairs, options, decode=picky, on_error="skip")
    raising = iterable(pairs, options)
    client.delete(bucket("i/05.jpg"))
    client.delete(bucket("l/06_l.txt"))
    found = read(dataset, workers)
    order = list(dataflux.Sampler(COUNT))
    kinds = {5: dataflux.NotFoundError, 6: dataflux.NotFoundError, 7: DecodeError}
    assert [type(each) if row in kinds else each for row, each in zip(order, found)] == \
        [kinds.get(row, row) for row in order]
    told = {row: str(each) for row, each in zip(order, found) if row in kinds}
    assert "i/05.jpg" in told[5] and "l/06_l.txt" in told[6]
    assert "i/07.jpg and gs://" in told[7] and "l/07_l.txt: LookupError" in told[7]
    found = read(skipping, workers)
    assert len(found) == COUNT and set(found) == set(range(COUNT)) - set(kinds)
    with pytest.raises(dataflux.NotFoundError, match="generation .* overwritten or deleted"):
        read(raising, workers)


def test_an_overwritten_label_is_read_anew(pairs, options, bucket):
    anew = iterable(pairs, options, overwritten="read", decode=picky)
    raising = iterable(pairs, options)
    bucket.put("l/05_l.txt", b"500")
    with pytest.raises(dataflux.NotFoundError, match="05_l.txt"):
        list(raising)
    expected = set(range(COUNT)) - {5, 7} | {500}
    skipping = iterable(pairs, options, overwritten="read", decode=picky, on_error="skip")
    bucket.put("l/05_l.txt", b"500")
    assert set(skipping) == expected
    with pytest.raises(DecodeError):
        list(anew)


def test_both_sides_share_little_memory(bucket, emulator):
    """Whoever waits for one side does not hold back the other one."""
    for n in range(12):
        bucket.put(f"i/{n:02}", bytes(300_000) + b"%d" % n)
        bucket.put(f"l/{n:02}", bytes(200_000) + b"%d" % n)
    little = dataflux.Client(**emulator.options, memory_cap=1 << 20)
    dataset = IterableDataset(pairs=[(bucket("i/"), ""), (bucket("l/"), "")], client=little,
                              decode=lambda data, rows: tuple(int(bytes(each).lstrip(b"\0")) for each in data))
    for epoch in range(3):
        dataset.set_epoch(epoch)
        assert list(dataset) == [(n, n) for n in dataflux.Sampler(12, epoch=epoch)]


def test_half_read_iterators_go_with_what_they_had_under_way(pairs, options):
    dataset = iterable(pairs, options)
    for _ in range(10):
        for _ in dataset:
            break
    assert list(dataset) == list(dataflux.Sampler(COUNT))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_map_of_pairs(pairs, options, workers):
    dataset = MapDataset(pairs=pairs, decode=number, client=options)
    assert len(dataset) == COUNT and dataset[3] == 3 and dataset[-1] == COUNT - 1
    assert dataset.__getitems__([5, 1, 5]) == [5, 1, 5] and dataset.row(2)[1].name == "l/02_l.txt"
    order = dataflux.Sampler(COUNT, seed=1)
    assert read(dataset, workers, sampler=order) == list(order)


DISTRIBUTED = """
import json, sys, torch.distributed as group, dataflux
from dataflux.torch import IterableDataset
group.init_process_group("gloo")
url, manifest, unpaired = sys.argv[1:]
try:
    dataset = IterableDataset(pairs=[(url + "i/", ".jpg"), (url + "l/", "_l.txt")], manifest=manifest or None,
                              unpaired=unpaired, decode=lambda data, row: int(bytes(data[1])))
    print(json.dumps([list(dataset), dataset.digest, dataset.unpaired]), flush=True)
except dataflux.Error as why:
    print(json.dumps(type(why).__name__), flush=True)
group.destroy_process_group()
"""


@pytest.mark.without_tokens
@pytest.mark.parametrize("kind", ["listed", "manifest", "refused"])
def test_rank_0_pairs_for_all(pairs, emulator, bucket, client, kind):
    bucket.put("l/zz_l.txt", b"1")
    client.save_manifest(client.list(bucket("")), bucket("m"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, **emulator.environment, "MASTER_ADDR": "127.0.0.1", "WORLD_SIZE": "2",
                   "MASTER_PORT": str(port)}
    arguments = [bucket("") + "/", bucket("m") if kind == "manifest" else "",
                 "refuse" if kind == "refused" else "omit"]
    ranks = [subprocess.Popen([sys.executable, "-c", DISTRIBUTED, *arguments], stdout=subprocess.PIPE, text=True,
                              env={**environment, "RANK": str(rank)}) for rank in range(2)]
    said = [json.loads(rank.communicate(timeout=200)[0]) for rank in ranks]
    if kind == "refused":
        assert said == ["NotFoundError"] * 2
        return
    assert [sample for turn in zip(said[0][0], said[1][0]) for sample in turn] == list(dataflux.Sampler(COUNT))
    assert said[0][1:] == said[1][1:] and said[0][2] == [0, 1]


@pytest.mark.parametrize(("wrong", "kind", "word"), [
    ({"pairs": 5}, TypeError, "pairs"), ({"pairs": ["gs://b/i", "gs://b/l"]}, TypeError, "pairs"),
    ({"pairs": [("gs://b/i", 5), ("gs://b/l", "")]}, TypeError, "pairs"),
    ({"pairs": [("b/i", ""), ("gs://b/l", "")]}, ValueError, "pairs"),
    ({"pairs": [("gs://b/i", ".x"), ("gs://b/i", ".x")]}, ValueError, "its own partner"),
    ({"pairs": [("gs://b/i", ""), ("gs://b/l", "")], "url": "gs://b"}, TypeError, "url and pairs"),
    ({"pairs": [("gs://b/i", ""), ("gs://b/l", "")], "suffix": "x"}, ValueError, "suffix"),
    ({"pairs": [("gs://b/i", ""), ("gs://b/l", "")], "min_size": 1}, ValueError, "min_size"),
    ({"pairs": [("gs://b/i", ""), ("gs://b/l", "")], "unpaired": "skip"}, ValueError, "unpaired"),
    ({"pairs": [("gs://b/i", ""), ("gs://b/l", "")], "manifest": ["a", "b", "c"]}, dataflux.Error, "a"),
])
def test_wrong_arguments_are_named(options, wrong, kind, word):
    for dataset in (IterableDataset, MapDataset):
        with pytest.raises(kind, match=word):
            dataset(**wrong, client=options)


def test_a_manifest_that_does_not_fit_is_refused(pairs, options, client, bucket, emulator, tmp_path):
    client.save_manifest(client.list(bucket(""), versions=True), str(tmp_path / "versions"))
    with pytest.raises(ValueError, match="all generations"):
        iterable(pairs, options, manifest=tmp_path / "versions")
    client.save_manifest(client.list(bucket("")), str(tmp_path / "m"))
    with pytest.raises(ValueError, match=f"manifest: it is of gs://{bucket.name}, and pairs are of gs://other"):
        iterable([("gs://other/i/", ""), pairs[1]], options, manifest=tmp_path / "m")
    with pytest.raises(ValueError, match="not 3"):
        iterable(pairs, options, manifest=[tmp_path / "m"] * 3)
