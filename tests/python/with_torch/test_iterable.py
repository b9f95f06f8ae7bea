"""IterableDataset: which samples there are, in which order, whatever reads them."""

import copy
import gc
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

import dataflux
from service import wait_until
from dataflux.dcp import StorageReader, StorageWriter
from dataflux.torch import IterableDataset, MapDataset, as_bytes, load, save, tensor

COUNT = 60
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def number(data, row):
    assert row.name == f"o/{int(bytes(data)):03}" and row.size == len(data)
    return int(bytes(data))


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


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


def test_a_copied_manifest_is_opened_no_more_often_than_a_file(client, bucket, url, tmp_path, monkeypatch):
    listing = client.list(url)
    client.save_manifest(listing, tmp_path / "m")
    client.save_manifest(listing, bucket("saved/m"))
    opened = []
    open_it = dataflux.Client.open_manifest
    monkeypatch.setattr(dataflux.Client, "open_manifest",
                        lambda self, *given, **how: opened.append(given) or open_it(self, *given, **how))
    counts = []
    for manifest in (tmp_path / "m", bucket("saved/m")):
        opened.clear()
        IterableDataset(manifest=manifest, client=client)
        counts.append(len(opened))
    assert counts[0] == counts[1] > 0


def test_names_are_read_as_they_are_now(client, bucket, url, options):
    names = [bucket(f"o/{n:03}") for n in (5, 1, 3)]
    dataset = IterableDataset(names=names, shuffle="none", decode=number, client=options)
    client.put(bucket("o/001"), b"1")
    assert list(dataset) == [5, 1, 3] and dataset.row(1).name == "o/001"
    assert sum(loaded(dataset, 1, 2, multiprocessing_context="spawn"), []) == [5, 1, 3]


def shapes(listing):
    """All that has rows of a listing, and how it is given."""
    yield listing, list(range(COUNT))
    yield listing[5:40], list(range(5, 40))
    yield listing.where(suffix="7"), [7, 17, 27, 37, 47, 57]
    yield listing.take([9, 3, 9, 50]), [9, 3, 9, 50]


@pytest.mark.parametrize("how", [lambda rows: {"url": rows}, lambda rows: {"manifest": rows},
                                 lambda rows: {"names": rows}, lambda rows: {"names": list(rows)}],
                         ids=["url", "manifest", "names", "list"])
def test_listings_are_read_in_their_generations(client, bucket, url, options, how):
    listing = client.list(url)
    for rows, expected in shapes(listing):
        dataset = IterableDataset(**how(rows), shuffle="none", batch_size=4, decode=number, client=options)
        assert list(dataset) == sum(loaded(dataset, 4, 2), []) == expected
        assert dataset.row(0) == listing[expected[0]]
        carried = pickle.loads(pickle.dumps(dataset))
        assert list(carried) == expected
    datasets = [kind(**how(rows), on_error="return", client=options)
                for rows, _ in shapes(listing) for kind in (IterableDataset, MapDataset)]
    client.put(bucket("o/037"), b"37")
    for dataset, (_, expected) in zip(datasets[::2], shapes(listing)):
        failed = [each for each in dataset if not isinstance(each, bytes)]
        assert len(failed) == expected.count(37)
        assert all("o/037: generation" in str(each) and "overwritten" in str(each) for each in failed)
    assert isinstance(datasets[1][37], dataflux.NotFoundError) and datasets[1][36] == b"36"


def test_what_is_no_manifest_has_the_name_that_was_given(client, bucket, url, options, tmp_path):
    """It was copied here, under a name that nobody has given."""
    client.put(bucket("no.manifest"), b"not a manifest, " * 100)
    client.save_manifest(client.list(url), tmp_path / "m")
    client.put(bucket("cut.manifest"), (tmp_path / "m").read_bytes()[:-7])
    for name in ("no.manifest", "cut.manifest"):
        for how in ({}, {"pairs": [(url, ".x"), (url, ".y")]}):
            for given in (bucket(name), (bucket.name, name)):
                for kind in (IterableDataset, MapDataset):
                    with pytest.raises(dataflux.Error, match=f"gs://{bucket.name}/{name}'?: ") as raised:
                        kind(manifest=given, client=options, **how)
                    assert (raised.value.bucket, raised.value.object) == (bucket.name, name)
                    assert "/manifest-" not in str(raised.value)


def test_a_listing_is_the_same_source_as_its_prefix_or_its_manifest(client, bucket, url, options, tmp_path):
    listing = client.list(url)
    client.save_manifest(listing, tmp_path / "m")
    saved = client.open_manifest(tmp_path / "m")
    digests = {IterableDataset(each, client=options).digest for each in (url, listing, saved)}
    digests |= {IterableDataset(manifest=each, client=options).digest for each in (listing, saved, tmp_path / "m")}
    assert len(digests) == 1
    assert IterableDataset(listing[1:], client=options).digest not in digests
    folded = client.list(bucket(), delimiter="/")
    client.put(bucket("top"), b"1")
    folded = client.list(bucket(), delimiter="/")
    assert list(IterableDataset(folded, client=options)) == [b"1"]
    assert list(IterableDataset(saved.rows(3, 2), shuffle="none", client=options)) == [b"3", b"4"]


def test_listings_that_cannot_be_read_are_refused(client, bucket, url, options, tmp_path):
    listing = client.list(url)
    client.save_manifest(listing, tmp_path / "m")
    for wrong, kind, said in (
            ({"url": listing, "suffix": "7"}, ValueError, "suffix: .* url alone.*where"),
            ({"url": [listing, url]}, TypeError, "url: its elements are all listings, or none"),
            ({"url": [listing, listing]}, ValueError, "url: the same listing was given twice"),
            ({"manifest": [tmp_path / "m", str(tmp_path / "m")]}, ValueError, "manifest: .* twice"),
            ({"names": listing[5:5]}, dataflux.NotFoundError, "it has no object"),
            ({"pairs": [(url, ""), (bucket("p/"), "")], "manifest": listing[1:]}, ValueError, "whole listing")):
        for each in (IterableDataset, MapDataset):
            with pytest.raises(kind, match=said):
                each(**wrong, client=options)


def test_pairs_of_a_listing(client, bucket, options):
    for name in ("a/1.x", "a/2.x", "b/1.y", "b/2.y"):
        client.put(bucket(name), name.encode())
    paired = IterableDataset(pairs=[(bucket("a/"), ".x"), (bucket("b/"), ".y")], manifest=client.list(bucket()),
                             shuffle="none", client=options)
    assert list(paired) == [(b"a/1.x", b"b/1.y"), (b"a/2.x", b"b/2.y")]
    assert repr(paired) == (f"<dataflux.torch.IterableDataset of {bucket('a/*.x')} and {bucket('b/*.y')}: 2 pairs, "
                            "2 samples for rank 0 of 1, epoch 0>")


def test_a_dataset_says_what_it_is(client, bucket, url, options, tmp_path):
    client.save_manifest(client.list(url), tmp_path / "m")
    two = IterableDataset([bucket("o/00"), bucket("o/01")], rank=1, world_size=3, client=options)
    two.set_epoch(4)
    assert repr(two) == (f"<dataflux.torch.IterableDataset of {bucket('o/00')} and 1 more: 20 objects, "
                         "6 samples for rank 1 of 3, epoch 4>")
    for more, said in (({"manifest": tmp_path / "m"}, f"{tmp_path}/m: 60 objects"),
                       ({"url": (bucket.name, "o/")}, f"{url}: 60 objects"),
                       ({"url": client.list(url)}, f"a listing of {bucket()}: 60 objects"),
                       ({"names": [bucket("o/001")]}, f"names of {bucket()}: 1 objects")):
        assert repr(MapDataset(**more, client=options)) == f"<dataflux.torch.MapDataset of {said}>"


def test_the_epoch_can_be_read(url, options):
    dataset = IterableDataset(url, batch_size=4, epoch=3, client=options)
    assert dataset.epoch == 3
    dataset.set_epoch(5)
    assert dataset.epoch == pickle.loads(pickle.dumps(dataset)).epoch == 5
    later = IterableDataset(url, batch_size=4, client=options)
    later.load_state_dict(dataset.state_dict())
    assert later.epoch == 5


def test_a_number_that_is_not_there_is_named(url, options):
    dataset = MapDataset(url, client=options)
    for wrong, kind, said in ((COUNT, IndexError, f"object {COUNT} of {COUNT}"),
                              (-COUNT - 1, IndexError, "object -61 of"),
                              ("a", TypeError, "whole numbers, and not by a str"),
                              (slice(2), TypeError, "and not by a slice")):
        for call in (dataset.__getitem__, dataset.row, IterableDataset(url, client=options).row):
            with pytest.raises(kind, match=said):
                call(wrong)


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


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_outlives_its_original(url, options, copied):
    for kind in (IterableDataset, MapDataset):
        dataset = kind(url, decode=number, client=options)
        folder, another = dataset._source.path, copied(dataset)
        del dataset
        gc.collect()
        samples = [another[i] for i in range(COUNT)] if kind is MapDataset else list(another)
        assert sorted(samples) == list(range(COUNT))
        del another
        gc.collect()
        assert not os.path.exists(folder)


def test_a_pickle_of_what_is_gone_says_so(url, options):
    dataset = IterableDataset(url, decode=number, client=options)
    text = pickle.dumps(dataset)
    del dataset
    gc.collect()
    with pytest.raises(dataflux.PreconditionError, match="the dataset that this was pickled of is gone"):
        pickle.loads(text)


@pytest.mark.without_tokens
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
        with pytest.warns(UserWarning, match='2 objects for 3 ranks: with equalize="drop" no rank'):
            few = IterableDataset(bucket("o/"), decode=number, rank=rank, world_size=3, client=options)
        assert list(few) == [] and len(few) == 0
        padded = IterableDataset(bucket("o/"), decode=number, rank=rank, world_size=3, equalize="pad",
                                 client=options)
        assert len(list(padded)) == len(padded) == 1


def test_a_prefix_without_objects_is_an_error(client, bucket, url, options, tmp_path):
    client.put(bucket("marked/"), b"")
    client.put(bucket("marked/d/"), b"")
    client.put(bucket("dataflux-composed-objects/x"), b"1")
    wrong = [(bucket("none/"), {}, "none/: there is no object below it$"),
             (bucket("marked/"), {}, "there is no object below it but 2 markers of folders, which no dataset reads$"),
             (bucket("dataflux-composed-objects/"), {"suffix": "x"},
              "that suffix='x' leaves but 1 leftovers of composed downloads, which no dataset reads$"),
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


OTHERWISE = """
import os, sys, torch.distributed as group, dataflux
from dataflux.torch import IterableDataset
rank = int(os.environ["RANK"])
group.init_process_group("gloo", init_method=sys.argv[2], rank=rank, world_size=3)
for how in {"seed": rank // 2}, {"names": [f"{sys.argv[1]}{number}" for number in range(3 + rank % 2)]}:
    try:
        IterableDataset(**{"url": None if "names" in how else sys.argv[1], **how})
    except dataflux.PreconditionError as why:
        print(str(why).partition(" is ")[0], flush=True)
group.destroy_process_group()
"""


@pytest.mark.without_tokens
def test_ranks_that_differ_are_told_before_the_first_step(emulator, bucket, url, tmp_path):
    ranks = [subprocess.Popen([sys.executable, "-c", OTHERWISE, url, f"file://{tmp_path}/group"], stdout=subprocess.PIPE,
                              text=True, env={**os.environ, **emulator.environment, "RANK": str(rank)})
             for rank in range(3)]
    assert {rank.communicate(timeout=200)[0] for rank in ranks} == {"rank 2: seed\nrank 1: digest\n"}


@pytest.mark.without_tokens
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


NAME = ["gs://bucket/x"]


def test_a_mistyped_option_names_what_was_called():
    for call, name in ((lambda: dataflux.Client(memory_kap=1), "Client.__init__() "),
                       (lambda: dataflux.AsyncClient(memory_kap=1), "AsyncClient.__init__() "),
                       (lambda: IterableDataset("gs://b/x", memory_kap=1), "IterableDataset.__init__() "),
                       (lambda: MapDataset("gs://b/x", memory_kap=1), "MapDataset.__init__() "),
                       (lambda: save({}, "gs://b/x", memory_kap=1), "save() ")):
        with pytest.raises(TypeError) as raised:
            call()
        assert str(raised.value).startswith(f"{name}got an unexpected keyword argument 'memory_kap'")


@pytest.mark.parametrize("wrong", ["x", 5, dataflux.AsyncClient()])
def test_what_is_no_client_is_named(wrong):
    told = f"client: a dataflux.Client is needed, and not a {type(wrong).__name__}"
    for call in (lambda: IterableDataset("gs://b/x", client=wrong), lambda: MapDataset("gs://b/x", client=wrong),
                 lambda: save({}, "gs://b/x", client=wrong), lambda: load("gs://b/x", client=wrong),
                 lambda: StorageWriter("gs://b/x", client=wrong), lambda: StorageReader("gs://b/x", client=wrong)):
        with pytest.raises(TypeError, match=told):
            call()


@pytest.mark.parametrize(("wrong", "kind", "word"), [
    ({}, TypeError, "give one of them, .* none was given"),
    ({"url": "gs://b", "names": NAME}, TypeError, "url and names were given"),
    ({"url": []}, ValueError, "url"), ({"url": 5}, TypeError, "url"), ({"names": "gs://b/x"}, TypeError, "names"),
    ({"names": ["gs://bucket-a/x", "gs://bucket-b/x"]}, ValueError, "one bucket"),
    ({"names": NAME, "min_size": 5}, ValueError, "min_size"),
    ({"names": NAME, "batch_size": 0}, ValueError, "batch_size"), ({"names": NAME, "decode": 5}, TypeError, "decode"),
    ({"names": NAME, "on_error": "omit"}, ValueError, "on_error"),
    ({"names": NAME, "overwritten": "no"}, ValueError, "overwritten"),
    ({"names": NAME, "shuffle": "some"}, ValueError, "shuffle"), ({"names": NAME, "seed": -1}, ValueError, "seed"),
    ({"names": NAME, "rank": 1}, ValueError, "rank"), ({"names": NAME, "rank": 2, "world_size": 2}, ValueError, "rank"),
    ({"names": NAME, "consumed": 5}, ValueError, "consumed"), ({"names": NAME, "equalize": "x"}, ValueError, "equalize"),
    ({"names": NAME, "max_size": 4, "min_size": 5}, ValueError, "max_size"),
    ({"names": NAME, "wrong_size": "skip"}, ValueError, "wrong_size"),
    ({"names": []}, ValueError, "names: it is empty"), ({"names": iter(())}, ValueError, "names: it is empty"),
    ({"names": NAME, "unpaired": "omit"}, ValueError, "unpaired: it goes with pairs"),
    ({"url": ["gs://b/x/", "gs://b/x/"]}, ValueError, "gs://b/x/ was given twice"),
    ({"url": ["gs://b/x/", "gs://c/x", ("b", "x/")]}, ValueError, "gs://b/x/ was given twice"),
    ({"url": ["gs://b/x-more/", "gs://b/y", "gs://b/x"]}, ValueError, "gs://b/x has all .* below gs://b/x-more/"),
    ({"url": Path("gs://b/x")}, TypeError, "one slash of two"),
    ({"manifest": Path("gs://b/x")}, TypeError, "manifest: a PosixPath makes one slash of two"),
    ({"manifest": "gs:/b/x"}, ValueError, "manifest: 'gs:/b/x' is no gs://bucket/name"),
    ({"manifest": 5}, TypeError, "manifest: "), ({"names": [Path("gs://b/x")]}, TypeError, "one slash of two"),
    ({"names": NAME, "seeds": 5}, TypeError, r"IterableDataset.__init__\(\) got .* 'seeds'"),
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
    set_by_hand = dataflux.Client(**{**given, "memory_cap": 5 << 20})
    assert client_for(set_by_hand, 4)._options.given["memory_cap"] == 5 << 20
    dataset = IterableDataset(url, batch_size=4, decode=number, client=options)
    assert loaded(dataset, 4, 2) == loaded(dataset)
