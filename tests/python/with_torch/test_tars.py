"""Datasets of tar shards: the samples of an index, in the order of a sampler, whatever reads them."""

import io
import pickle
import random
import tarfile

import pytest
import torch
from torch.utils.data import DataLoader

import dataflux
from dataflux.torch import IterableDataset, MapDataset, tensor

SHARDS, SAMPLES = 7, 40
COUNT = SHARDS * SAMPLES
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def tar_of(shard, salt=b""):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for sample in range(SAMPLES):
            number = shard * SAMPLES + sample
            for field, content in (("cls", b"%d" % number), ("jpg", salt + bytes([number % 256]) * (700 + number))):
                info = tarfile.TarInfo(f"{number:06}.{field}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


SIZES = [len(tar_of(shard)) for shard in range(SHARDS)]


def number(sample, row):
    """The sample is whole, and the row is its shard's."""
    found = int(bytes(sample["cls"]))
    assert sample["__key__"] == f"{found:06}"
    assert bytes(sample["jpg"]) == bytes([found % 256]) * (700 + found)
    assert sample["__url__"] == row.url and row.name == f"t/{found // SAMPLES}.tar"
    assert row.size == SIZES[found // SAMPLES] and row.generation > 0 and row.crc32c is not None
    return found


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def index(client, bucket, tmp_path):
    for shard in range(SHARDS):
        client.put(bucket(f"t/{shard}.tar"), tar_of(shard))
    path = str(tmp_path / "train.dfx")
    client.index_shards(bucket("t/"), path)
    return path


def loaded(dataset, batch_size=8, workers=0, **more):
    return [batch.tolist() for batch in DataLoader(dataset, batch_size=batch_size, num_workers=workers, **more)]


@pytest.mark.parametrize("shuffle", [{}, {"shuffle": "window", "block": 5, "window": 3}, {"shuffle": "none"},
                                     {"shuffle": "blocks", "block": 6, "window": 4}])
def test_an_epoch_is_the_order_of_a_sampler(index, options, shuffle):
    dataset = IterableDataset(shards=index, batch_size=8, decode=number, seed=3, client=options, **shuffle)
    assert len(dataset) == dataset.count == COUNT
    dataset.set_epoch(2)
    assert list(dataset) == list(dataflux.Sampler(COUNT, seed=3, epoch=2, **shuffle))
    assert dataset.row(41).name == "t/1.tar"


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_batches_are_the_same_for_any_number_of_workers(index, options, start):
    dataset = IterableDataset(shards=index, batch_size=8, decode=number, client=options)
    expected = loaded(dataset)
    assert sorted(sum(expected, [])) == list(range(COUNT))
    for workers in (1, 3) if start == "fork" else (2,):
        assert loaded(dataset, 8, workers, multiprocessing_context=start) == expected


@pytest.mark.parametrize("shuffle", ["window", "blocks"])
def test_a_window_is_read_by_blocks(index, options, emulator, shuffle):
    how = {"shards": index, "batch_size": 8, "decode": number, "seed": 3, "client": options}
    cost = {}
    for kind, more in (("full", {}), (shuffle, {"block": 10, "window": 8})):
        dataset = IterableDataset(shuffle=kind, **more, **how)
        before = emulator.answered()
        found = list(dataset)
        cost[kind] = emulator.answered() - before
        assert found == list(dataflux.Sampler(COUNT, seed=3, shuffle=kind, **more))
        told = dataset.describe()
        assert told["requests"] * COUNT == pytest.approx(cost[kind], rel=0.3, abs=7)  # shards end blocks
    assert cost["full"] > 0.9 * COUNT and cost[shuffle] < COUNT / 6


def test_blocks_are_read_once_where_a_window_is_a_multiple_of_readers(index, options):
    how = {"shards": index, "batch_size": 4, "decode": number, "shuffle": "blocks", "block": 5, "client": options}
    dataset = IterableDataset(window=8, **how)
    assert sorted(sum(loaded(dataset, 4, 2), [])) == list(range(COUNT))
    assert loaded(dataset, 4, 2) == loaded(dataset, 4)
    assert dataset.describe(2)["readers"] == dataset.describe(2)["bytes_read"] == 1
    assert dataset.describe(4)["readers"] > 1 and dataset.describe(4)["bytes_read"] <= 2
    assert dataset.describe()["same_shard"] < 1 / SHARDS + 0.01


def test_a_block_has_four_mib_unless_it_is_told(index, options):
    dataset = IterableDataset(shards=index, shuffle="blocks", client=options)
    mean = sum(shard.size for shard in dataflux.ShardIndex.open(index).shards) / COUNT
    assert dataset.state_dict()["block"] == int(2**22 / mean)
    assert IterableDataset(shards=index, client=options).describe()["requests"] == 1


def test_a_plan_is_as_large_as_memory_allows(index, emulator, bucket):
    client = dataflux.Client(memory_cap=2**16, **emulator.options)
    how = {"shards": index, "decode": number, "client": client, "shuffle": "window", "block": 40, "window": 3}
    assert list(IterableDataset(**how)) == list(dataflux.Sampler(COUNT, shuffle="window", block=40, window=3))


@pytest.mark.parametrize("shuffle", [{}, {"shuffle": "blocks", "block": 7, "window": 5},
                                     {"shuffle": "window", "block": 6, "window": 4}, {"shuffle": "none"}])
@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_ranks_and_batches_reads_the_order(index, options, shuffle, seed):
    """Each sample once, in the order of the epoch, whoever reads it; what fails shifts nothing."""
    dice, epoch = random.Random(seed), seed
    wanted = list(dataflux.Sampler(COUNT, seed=seed, epoch=epoch, **shuffle))
    served, states = [], None
    while len(served) < COUNT:
        ranks, batch = dice.randint(1, 5), dice.randint(1, 9)
        if COUNT - len(served) < ranks * batch:
            ranks, batch = 1, 1
        steps = dice.randint(0, min(9, (COUNT - len(served)) // (ranks * batch)))
        each, now = [], []
        for rank in range(ranks):
            dataset = IterableDataset(shards=index, batch_size=batch, decode=seldom, on_error="return", seed=seed,
                                      epoch=epoch, rank=rank, world_size=ranks, client=options, **shuffle)
            if states is not None:
                dataset.load_state_dict(states)
            passing = iter(dataset)
            each.append([next(passing) for _ in range(steps * batch)])
            passing.close()
            now.append(dataset.state_dict())
        states = now
        served += [sample for turn in zip(*each) for sample in turn]
    assert [None if isinstance(sample, dataflux.Error) else sample for sample in served] == \
        [None if row % 50 == 0 else row for row in wanted]


def test_a_state_fits_shards_that_were_indexed_again(index, options, client, bucket, tmp_path):
    first = IterableDataset(shards=index, decode=number, client=options)
    passing = iter(first)
    begun = [next(passing) for _ in range(30)]
    again = str(tmp_path / "again.dfx")
    client.index_shards(bucket("t/"), again)
    second = IterableDataset(shards=again, decode=number, client=options)
    second.load_state_dict(first.state_dict())
    assert begun + list(second) == list(dataflux.Sampler(COUNT))
    client.put(bucket("t/3.tar"), tar_of(3))  # the same bytes in another generation
    client.index_shards(bucket("t/"), again)
    with pytest.raises(ValueError, match="digest"):
        IterableDataset(shards=again, client=options).load_state_dict(first.state_dict())


def seldom(sample, row):
    if int(bytes(sample["cls"])) % 50 == 0:
        raise ValueError("it is bad")
    return number(sample, row)


def failing(sample, row):
    found = number(sample, row)
    if 50 <= found < 170:
        raise ValueError("it is bad")
    return found


@pytest.mark.parametrize("on_error", ["return", "skip"])
def test_too_many_failures_in_a_row_end_a_pass(index, options, on_error):
    how = {"shards": index, "decode": failing, "on_error": on_error, "client": options}
    passing, seen = iter(IterableDataset(shuffle="none", **how)), []
    with pytest.raises(dataflux.torch.DecodeError, match="000149.*last of 100 samples in a row.*tolerance"):
        for each in passing:
            seen.append(each)
    assert len(seen) == 149
    assert len(list(IterableDataset(**how))) == COUNT  # in any order but that one
    assert len(list(IterableDataset(shuffle="none", tolerance=None, **how))) == COUNT
    assert len(list(IterableDataset(shuffle="none", tolerance=121, **how))) == COUNT
    by_number = MapDataset(tolerance=3, **how)
    with pytest.raises(dataflux.torch.DecodeError, match="last of 3"):
        by_number.__getitems__([0, 60, 61, 62])
    with pytest.raises(ValueError, match="tolerance"):
        MapDataset(tolerance=0, **how)


def test_no_field_of_an_archive_passes_for_an_error(client, bucket, options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in "a.txt", "b.txt", "b.__error__":
            archive.addfile(tarfile.TarInfo(name))
    client.put(bucket("e/0.tar"), out.getvalue())
    for kind in (MapDataset, IterableDataset):
        dataset = kind(shards=bucket("e/"), on_error="return", client=options)
        found = sorted(map(type, dataset.__getitems__([0, 1]) if kind is MapDataset else dataset), key=str)
        assert found == [dataflux.InvalidArgumentError, dict]


def test_what_indexing_left_out_is_told(client, bucket, tmp_path, options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in "a.txt", "README", "b.txt":
            archive.addfile(tarfile.TarInfo(name))
        link = tarfile.TarInfo("c.txt")
        link.type, link.linkname = tarfile.LNKTYPE, "a.txt"
        archive.addfile(link)
    client.put(bucket("n/0.tar"), out.getvalue())
    dataset = MapDataset(shards=bucket("n/"), client=options)
    assert len(dataset) == 2 and dataset.left_out == {"hard_links": 1, "no_field": 1}
    client.put(bucket("plain/0"), b"")
    assert MapDataset(bucket("plain/"), client=options).left_out == {}


def test_other_ranks_and_workers_go_on_exactly(index, options):
    how = {"shards": index, "batch_size": 8, "decode": number, "seed": 5, "client": options}
    seen, states = [], []
    for rank in range(2):
        dataset = IterableDataset(rank=rank, world_size=2, **how)
        passing = iter(dataset)
        seen += [next(passing) for _ in range(32)]
        states.append(dataset.state_dict())
    for rank in range(3):
        dataset = IterableDataset(rank=rank, world_size=3, **how)
        dataset.load_state_dict(states)
        seen += sum(loaded(dataset, 8, rank), [])
    assert len(seen) == len(set(seen)) and len(seen) >= COUNT - 2


def test_a_sample_is_a_dict_of_its_fields(index, options):
    plain = list(IterableDataset(shards=index, shuffle="none", client=options))
    assert [sample["cls"] for sample in plain] == [b"%d" % each for each in range(COUNT)]
    assert set(plain[0]) == {"__key__", "__url__", "cls", "jpg"}
    tensors = next(iter(IterableDataset(shards=index, shuffle="none", decode=tensor, client=options)))
    assert tensors["jpg"].dtype == torch.uint8 and tensors["jpg"].tolist() == [0] * 700
    batch = next(iter(DataLoader(MapDataset(shards=index, client=options), batch_size=4)))
    assert batch["cls"] == [b"0", b"1", b"2", b"3"]
    dataset = MapDataset(shards=[index], decode=number, client=options)
    assert dataset.__getitems__([279, 0, 41, 41]) == [279, 0, 41, 41]


def test_prefixes_and_listings_are_indexed_first(index, options, client, bucket):
    client.put(bucket("u/0.tar"), tar_of(7))
    for shards in (bucket("t/"), [bucket("t/"), bucket("u/")], client.list(bucket("t/")),
                   dataflux.ShardIndex.open(index)):
        dataset = MapDataset(shards=shards, client=options)
        count = COUNT + SAMPLES if isinstance(shards, list) else COUNT
        assert len(dataset) == count and dataset[count - 1]["cls"] == b"%d" % (count - 1)
    with pytest.raises(ValueError, match="twice"):
        MapDataset(shards=[index, index], client=options)
    with pytest.raises(dataflux.NotFoundError):
        MapDataset(shards=bucket("none/"), client=options)
    with pytest.raises(TypeError, match="shards"):
        MapDataset(bucket("t/"), shards=index, client=options)
    with pytest.raises(ValueError, match="suffix"):
        MapDataset(shards=index, suffix=".tar", client=options)


@pytest.mark.parametrize("kind", [IterableDataset, MapDataset])
def test_a_shard_that_was_written_anew_fails_its_samples(index, options, client, bucket, kind):
    client.put(bucket("t/2.tar"), tar_of(2, b"x"))
    how = {"shards": index, "decode": number, "client": options}
    with pytest.raises(dataflux.NotFoundError, match="t/2.tar"):
        list(kind(**how, **({"shuffle": "none"} if kind is IterableDataset else {})))
    told = kind(**how, on_error="return")
    samples = list(told) if kind is IterableDataset else told.__getitems__(range(COUNT))
    failed = [sample for sample in samples if isinstance(sample, dataflux.Error)]
    assert len(failed) == SAMPLES and all(each.object == "t/2.tar" for each in failed)
    dataset = kind(**how, on_error="skip")
    samples = list(dataset) if kind is IterableDataset else dataset.__getitems__(range(COUNT))
    assert len(samples) == COUNT and dataset.skipped == SAMPLES


def test_an_index_that_was_made_again_is_another_one(index, options, client, bucket):
    dataset = IterableDataset(shards=index, decode=number, client=options)
    state, kept = dataset.state_dict(consumed=8), pickle.dumps(dataset)
    client.put(bucket("t/0.tar"), tar_of(0))
    client.index_shards(bucket("t/"), index)
    with pytest.raises(ValueError, match="digest"):
        IterableDataset(shards=index, decode=number, client=options).load_state_dict(state)
    with pytest.raises(dataflux.PreconditionError, match="another index"):
        list(pickle.loads(kept))


def test_an_index_in_a_bucket_is_read_as_it_is(client, bucket, index, options, emulator):
    client.upload(index, bucket("train.dfx"))
    before = emulator.answered()
    dataset = IterableDataset(shards=bucket("train.dfx"), batch_size=8, decode=number, client=options)
    assert emulator.answered() - before < 4  # no shard was indexed
    assert sorted(dataset) == list(range(COUNT))
    assert sorted(sum(loaded(dataset, workers=2), [])) == list(range(COUNT))
    assert MapDataset(shards=bucket("train.dfx"), decode=number, client=options)[41] == 41
    with pytest.raises(dataflux.NotFoundError, match="none.dfx"):
        IterableDataset(shards=bucket("none.dfx"), client=options)


def test_names_with_braces_are_one_index(bucket, index, options):
    one = MapDataset(shards=bucket("t/{2..0}.tar"), decode=number, client=options)
    several = MapDataset(shards=[bucket("t/2.tar"), bucket("t/{1,0}.tar")], decode=number, client=options)
    expected = [shard * SAMPLES + sample for shard in (2, 1, 0) for sample in range(SAMPLES)]
    assert [one[i] for i in range(len(one))] == [several[i] for i in range(len(several))] == expected
    assert len(MapDataset(shards=bucket("t/[1-3].tar"), client=options)) == 3 * SAMPLES
