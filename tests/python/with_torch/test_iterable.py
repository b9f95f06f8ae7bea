"""IterableDataset: which samples there are, in which order, whatever reads them."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.utils.data import DataLoader

import dataflux
from service import wait_until
from dataflux.torch import IterableDataset, MapDataset, as_bytes, tensor

COUNT = 60
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def number(data, row):
    assert row.name == f"o/{int(bytes(data)):03}" and row.size == len(data)
    return int(bytes(data))


@pytest.fixture
def options(emulator):
    return dataflux.Client(endpoint=emulator.endpoint, emulator=True)


@pytest.fixture
def url(client, bucket):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.put(bucket(f"o/{n:03}"), b"%d" % n), range(COUNT)))
    return bucket("o/")


def loaded(dataset, batch_size=4, workers=0, **more):
    return [batch.tolist() for batch in
            DataLoader(dataset, batch_size=batch_size, num_workers=workers, **more)]


def test_an_epoch_is_the_order_of_a_sampler(url, options):
    dataset = IterableDataset(url, batch_size=4, decode=number, seed=3, client=options)
    assert len(dataset) == dataset.count == COUNT
    dataset.set_epoch(2)
    assert list(dataset) == list(dataflux.Sampler(COUNT, seed=3, epoch=2))
    assert dataset.row(7) == options.list(url)[7]


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_batches_are_the_same_for_any_number_of_workers(url, options, start):
    dataset = IterableDataset(url, batch_size=4, decode=number, client=options)
    expected = loaded(dataset)
    assert sorted(sum(expected, [])) == list(range(COUNT))
    for workers in (1, 2, 3, 5) if start == "fork" else (2,):
        assert loaded(dataset, 4, workers, multiprocessing_context=start) == expected


def test_nothing_is_lost_or_repeated_at_one_to_seven_ranks_and_any_workers(url, options):
    for world_size in range(1, 8):
        workers = world_size % 4
        for epoch in range(3):
            seen, steps = [], set()
            for rank in range(world_size):
                dataset = IterableDataset(url, batch_size=4, decode=number, epoch=epoch, rank=rank,
                                          world_size=world_size, client=options)
                batches = loaded(dataset, 4, workers if rank == 0 else 0)
                steps.add(len(batches))
                seen += sum(batches, [])
            assert len(steps) == 1
            assert len(seen) == len(set(seen)) == COUNT // world_size * world_size


def test_without_a_batch_size_the_samples_are_the_same_ones(url, options):
    dataset = IterableDataset(url, decode=number, client=options)
    for workers in (0, 1, 3):
        assert sorted(sum(loaded(dataset, 7, workers), [])) == list(range(COUNT))


def test_set_epoch_reaches_workers_that_live_on(url, options):
    dataset = IterableDataset(url, batch_size=4, decode=number, client=options)
    loader = DataLoader(dataset, batch_size=4, num_workers=2, persistent_workers=True)
    for epoch in (0, 1, 2, 5, 5, 3):
        dataset.set_epoch(epoch)
        expected = list(dataflux.Sampler(COUNT, epoch=epoch))
        assert [row for batch in loader for row in batch.tolist()] == expected


def test_reads_go_on_over_the_end_of_an_epoch(url, options, emulator):
    dataset = IterableDataset(url, batch_size=4, decode=number, client=options)
    before = emulator.answered()
    for epoch in range(2):
        dataset.set_epoch(epoch)
        list(dataset)
    # Of an epoch that nobody has asked for yet.
    assert wait_until(lambda: emulator.answered() - before > 2 * COUNT)
    dataset.set_epoch(2)
    assert list(dataset) == list(dataflux.Sampler(COUNT, epoch=2))
    dataset.set_epoch(9)  # a jump begins anew
    assert list(dataset) == list(dataflux.Sampler(COUNT, epoch=9))


def test_bytes_and_tensors(client, bucket, options):
    for name, content in (("o/a", b"\0\1\2"), ("o/b", b""), ("o/c", bytes(100_000))):
        client.put(bucket(name), content)
    plain = IterableDataset(bucket("o/"), shuffle="none", client=options)
    assert list(plain) == [b"\0\1\2", b"", bytes(100_000)] and plain._maker.decode is as_bytes
    made = IterableDataset(bucket("o/"), shuffle="none", decode=tensor, client=options)
    for workers in (0, 2):
        found = [each for (each,) in DataLoader(made, batch_size=1, num_workers=workers,
                                                collate_fn=tuple)]
        assert [each.tolist() for each in found[:2]] == [[0, 1, 2], []]
        assert all(each.dtype == torch.uint8 for each in found) and len(found[2]) == 100_000


def test_many_prefixes_are_one_sequence(client, bucket, options):
    for n in range(30):
        client.put(bucket(f"o/{n:03}"), b"%d" % n)
    urls = [bucket("o/02"), bucket("o/00")]
    dataset = IterableDataset(urls, batch_size=3, decode=number, seed=1, client=options)
    numbers = [*range(20, 30), *range(10)]
    expected = [numbers[row] for row in dataflux.Sampler(20, seed=1)]
    assert list(dataset) == expected
    assert [row for batch in loaded(dataset, 3, 2) for row in batch] == expected
    assert [dataset.row(n).name for n in (0, 10)] == ["o/020", "o/000"]


def test_what_the_listing_narrows_is_no_sample(client, bucket, options):
    for n in range(12):
        client.put(bucket(f"o/{n:03}"), b"%d" % n)
    client.put(bucket("o/empty"), b"")
    assert sorted(IterableDataset(bucket("o/"), decode=number, min_size=2, client=options)) == [10, 11]
    assert sorted(IterableDataset(bucket("o/"), decode=number, min_size=1, max_size=1, suffix="7",
                                  client=options)) == [7]


def test_a_manifest_is_read_as_it_is(client, bucket, url, options, tmp_path):
    listing = client.list(url)
    client.save_manifest(listing, str(tmp_path / "m"))
    client.save_manifest(listing, bucket("saved/m"))
    expected = list(dataflux.Sampler(COUNT))
    for manifest in (tmp_path / "m", str(tmp_path / "m"), bucket("saved/m")):
        dataset = IterableDataset(manifest=manifest, batch_size=4, decode=number, client=options)
        assert list(dataset) == expected
        assert sum(loaded(dataset, 4, 2), []) == expected


def test_names_are_read_as_they_are_now(client, bucket, url, options):
    names = [bucket(f"o/{n:03}") for n in (5, 1, 3)]
    dataset = IterableDataset(names=names, shuffle="none", decode=number, client=options)
    client.put(bucket("o/001"), b"1")
    assert list(dataset) == [5, 1, 3] and dataset.row(1).name == "o/001"
    assert sum(loaded(dataset, 1, 2, multiprocessing_context="spawn"), []) == [5, 1, 3]


def test_a_pickle_has_no_names(url, options):
    dataset = IterableDataset(names=[f"gs://bucket/{n:090}" for n in range(20_000)], client=options)
    assert len(pickle.dumps(dataset)) < 4096
    dataset = IterableDataset(url, decode=number, client=options)
    assert list(pickle.loads(pickle.dumps(dataset))) == list(dataset)


def test_the_files_of_a_dataset_go_with_it(url, options):
    dataset = IterableDataset(url, client=options)
    folder = dataset._source.path
    assert os.listdir(folder)
    del dataset
    assert not os.path.exists(folder)


def test_a_process_that_ends_leaves_no_files(url, emulator, tmp_path):
    program = ("import dataflux, sys\nfrom dataflux.torch import IterableDataset\n"
               "kept = IterableDataset(sys.argv[1])\nprint(len(kept))\n")
    done = subprocess.run([sys.executable, "-c", program, url], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **emulator.environment, "TMPDIR": str(tmp_path)})
    assert done.stdout.split() == [str(COUNT)] and not os.listdir(tmp_path), done.stderr


def test_fewer_objects_than_ranks_or_workers(client, bucket, options):
    client.put(bucket("o/000"), b"0")
    client.put(bucket("o/001"), b"1")
    dataset = IterableDataset(bucket("o/"), batch_size=1, decode=number, client=options)
    assert sorted(sum(loaded(dataset, 1, 5), [])) == [0, 1]
    for rank in range(3):
        few = IterableDataset(bucket("o/"), decode=number, rank=rank, world_size=3, client=options)
        assert list(few) == [] and len(few) == 0
        padded = IterableDataset(bucket("o/"), decode=number, rank=rank, world_size=3, equalize="pad",
                                 client=options)
        assert len(list(padded)) == len(padded) == 1
    nothing = IterableDataset(names=[], client=options)
    assert list(nothing) == [] and list(DataLoader(nothing, num_workers=2)) == []


def test_a_prefix_without_objects_is_an_error(client, bucket, url, options, tmp_path):
    wrong = [(bucket("none/"), {}, "none/: there is no object below it"),
             ([url, bucket("none/")], {}, "none/: there is no object"),
             (url, {"min_size": 5, "suffix": "x"}, "that min_size=5, suffix='x' leaves")]
    for where, more, said in wrong:
        for kind in (IterableDataset, MapDataset):
            with pytest.raises(dataflux.NotFoundError, match=said):
                kind(where, client=options, **more)
    client.save_manifest(client.list(bucket("none/")), str(tmp_path / "m"))
    with pytest.raises(dataflux.NotFoundError, match="manifest: .*m has no object"):
        IterableDataset(manifest=tmp_path / "m", client=options)


def test_ranks_come_from_the_environment(url, options, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    dataset = IterableDataset(url, decode=number, client=options)
    assert list(dataset) == list(dataflux.Sampler(COUNT, rank=1, world_size=2))
    monkeypatch.delenv("WORLD_SIZE")
    with pytest.raises(ValueError, match="WORLD_SIZE"):
        IterableDataset(url, client=options)


DISTRIBUTED = """
import os, sys, torch.distributed as group, dataflux
from dataflux.torch import IterableDataset
group.init_process_group("gloo", init_method=sys.argv[2], rank=int(os.environ["RANK"]), world_size=3)
try:
    dataset = IterableDataset(sys.argv[1])
    print(len(list(dataset)), dataset.digest, flush=True)
except dataflux.Error as why:
    print(type(why).__name__, flush=True)
group.destroy_process_group()
"""


@pytest.mark.parametrize("there", [True, False])
def test_rank_0_lists_for_all(emulator, bucket, url, there, tmp_path):
    if not there:
        emulator.faults({"verb": "objects.list", "action": "refuse", "status": 403, "count": 0})
    environment = {**os.environ, **emulator.environment}
    def lists():
        return sum(one["count"] for one in emulator.counters()["requests"] if one["verb"] == "objects.list")

    before = lists()
    ranks = [subprocess.Popen([sys.executable, "-c", DISTRIBUTED, url, f"file://{tmp_path}/group"],
                              stdout=subprocess.PIPE, text=True, env={**environment, "RANK": str(rank)})
             for rank in range(3)]
    said = {rank.communicate(timeout=200)[0].strip() for rank in ranks}
    assert len(said) == 1, said
    if there:
        assert said.pop().startswith(f"{COUNT // 3} ") and lists() - before < 10
    else:
        assert said == {"PermissionDeniedError"}


@pytest.mark.parametrize(("wrong", "kind", "word"), [
    ({}, TypeError, "url"), ({"url": "gs://b", "names": []}, TypeError, "url and names"),
    ({"url": []}, ValueError, "url"), ({"url": 5}, TypeError, "url"), ({"names": "gs://b/x"}, TypeError, "names"),
    ({"names": ["gs://bucket-a/x", "gs://bucket-b/x"]}, ValueError, "one bucket"),
    ({"names": [], "min_size": 5}, ValueError, "min_size"),
    ({"names": [], "batch_size": 0}, ValueError, "batch_size"), ({"names": [], "decode": 5}, TypeError, "decode"),
    ({"names": [], "on_error": "omit"}, ValueError, "on_error"),
    ({"names": [], "overwritten": "no"}, ValueError, "overwritten"),
    ({"names": [], "shuffle": "some"}, ValueError, "shuffle"), ({"names": [], "seed": -1}, ValueError, "seed"),
    ({"names": [], "rank": 1}, ValueError, "rank"), ({"names": [], "rank": 2, "world_size": 2}, ValueError, "rank"),
    ({"names": [], "consumed": 5}, ValueError, "consumed"), ({"names": [], "equalize": "x"}, ValueError, "equalize"),
    ({"names": [], "max_size": 4, "min_size": 5}, ValueError, "max_size"),
    ({"names": [], "wrong_size": "skip"}, ValueError, "wrong_size"),
])
def test_wrong_arguments_are_named(options, wrong, kind, word):
    with pytest.raises(kind, match=word):
        IterableDataset(**wrong, client=options)


def test_workers_read_with_the_share_of_the_machine(url, options, monkeypatch):
    from dataflux.torch._share import LEAST_CONNECTIONS, LEAST_MEMORY, client_for

    assert client_for(options, 0) is client_for(options, 1) is options
    given = client_for(options, 4)._options.given
    assert given["endpoint"] == options._options.given["endpoint"]
    assert given["max_connections_per_host"] == 64 and given["memory_cap"] >= 64 << 20
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "8")
    fewer = client_for(options, 4)._options.given
    assert fewer["max_connections_per_host"] == 8 and fewer["memory_cap"] == \
        max(LEAST_MEMORY, given["memory_cap"] // 8)
    least = client_for(options, 10_000)._options.given
    assert (least["memory_cap"], least["max_connections_per_host"], least["io_threads"]) == \
        (LEAST_MEMORY, LEAST_CONNECTIONS, 1)
    set_by_hand = dataflux.Client(endpoint=given["endpoint"], emulator=True, memory_cap=5 << 20)
    assert client_for(set_by_hand, 4)._options.given["memory_cap"] == 5 << 20
    dataset = IterableDataset(url, batch_size=4, decode=number, client=options)
    assert loaded(dataset, 4, 2) == loaded(dataset)
