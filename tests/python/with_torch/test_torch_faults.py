"""Datasets when things go wrong: each ends with an error that names the object, or goes on."""

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy.random  # noqa: F401, torch's workers do, and Python 3.11 may fail to in a forked child
import pytest
import torch
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

import dataflux
from cycles import left_by
from service import wait_until
from dataflux.torch import DecodeError, IterableDataset, MapDataset, SizeError

COUNT = 40
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def number(data, row):
    return int(bytes(data))


def picky(data, row):
    if row.name == "o/007":
        raise LookupError("no seven")
    return int(bytes(data))


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def url(client, bucket):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.put(bucket(f"o/{n:03}"), b"%d" % n), range(COUNT)))
    return bucket("o/")


def iterable(url, options, **more):
    return IterableDataset(url, client=options, **{"batch_size": 4, "decode": number, **more})


def read(dataset, workers):
    return [sample for batch in DataLoader(dataset, batch_size=4, num_workers=workers, collate_fn=list)
            for sample in batch]


@pytest.mark.parametrize("workers", [0, 2])
def test_decode_that_raises_names_the_object(url, options, bucket, workers):
    with pytest.raises(DecodeError, match=f"gs://{bucket.name}/o/007: LookupError: no seven"):
        read(iterable(url, options, decode=picky), workers)


FIELDS = ("status", "verb", "bucket", "object", "reason", "request_id", "generation", "http_status",
          "attempts", "retryable", "outcome_unknown", "retry_after")


class Ours(torch.utils.data.Dataset):
    """A dataset of the user's own that reads by a client."""

    def __init__(self, client, names):
        self.client, self.names = client, names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, number):
        return self.client.get(self.names[number])


@pytest.mark.parametrize("loader", [DataLoader, StatefulDataLoader])
@pytest.mark.parametrize("status, kind, errno", [
    (404, dataflux.NotFoundError, 2), (403, dataflux.PermissionDeniedError, 13),
    (400, dataflux.InvalidArgumentError, None), (412, dataflux.PreconditionError, None),
    (503, dataflux.UnavailableError, 5)])
def test_an_error_of_a_worker_has_its_fields(emulator, url, bucket, loader, status, kind, errno):
    """torch makes it anew of its class and one text."""
    emulator.faults({"verb": "objects.media", "object": "o/000", "action": "refuse", "status": status, "count": 0})
    client = emulator.client(max_attempts=2)
    told = []
    for workers in (0, 1):
        with pytest.raises(kind) as raised:
            list(loader(Ours(client, [bucket("o/000")]), num_workers=workers, collate_fn=list))
        told.append(raised.value)
    direct, carried = told
    assert "DataLoader worker process 0" in str(carried) and direct.message in str(carried)
    assert {name: getattr(carried, name) for name in FIELDS if name != "request_id"} == \
        {name: getattr(direct, name) for name in FIELDS if name != "request_id"}
    assert carried.message == direct.message and (carried.bucket, carried.object) == (bucket.name, "o/000")
    assert getattr(carried, "errno", None) == errno and type(carried) is type(direct)
    again = pickle.loads(pickle.dumps(carried))
    assert type(again) is type(direct) and vars(again) == vars(carried)


class RowError(dataflux.NotFoundError):
    """A program's own, which is made of something else than a text."""

    def __init__(self, shard, row):
        super().__init__(f"shard {shard} has no row {row}", bucket="b", object=shard)
        self.row = row


class Lacking(torch.utils.data.Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, number):
        raise RowError("x", 7)


@pytest.mark.parametrize("loader", [DataLoader, StatefulDataLoader])
def test_a_program_s_own_error_of_a_worker_is_of_its_class_and_has_its_fields(loader):
    with pytest.raises(RowError, match="DataLoader worker process 0") as raised:
        list(loader(Lacking(), num_workers=1))
    assert "shard x has no row 7" in str(raised.value)
    assert (raised.value.object, raised.value.row, raised.value.errno) == ("x", 7, 2)
    assert type(pickle.loads(pickle.dumps(raised.value))) is RowError


def test_an_error_that_a_worker_returns_is_of_its_own_class(url, options):
    dataset = iterable(url, options, decode=picky, on_error="return")
    failed = [sample for sample in read(dataset, 2) if not isinstance(sample, int)]
    assert [(type(each), each.object) for each in failed] == [(DecodeError, "o/007")]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_dataset_s_error_of_a_worker_names_its_object(url, options, bucket, workers):
    for kind, how in ((iterable, {}), (lambda *given, **how: MapDataset(given[0], client=given[1], **how), {})):
        with pytest.raises(DecodeError) as raised:
            read(kind(url, options, decode=picky, **how), workers)
        assert type(raised.value) is DecodeError
        assert (raised.value.bucket, raised.value.object) == (bucket.name, "o/007")


@pytest.mark.parametrize("workers", [0, 1])
def test_a_pass_that_has_failed_fails_every_time(url, options, workers):
    batches = iter(DataLoader(iterable(url, options, decode=picky), batch_size=4, num_workers=workers))
    seen = 0
    with pytest.raises(DecodeError):
        for _ in batches:
            seen += 1
    assert seen < COUNT // 4
    for _ in range(2):
        with pytest.raises(DecodeError, match="no seven"):
            next(batches)


def test_a_pass_that_was_interrupted_is_never_taken_for_a_whole_one(url, options):
    def interrupted(data, row):
        raise KeyboardInterrupt

    samples = iter(iterable(url, options, decode=interrupted))
    with pytest.raises(KeyboardInterrupt):
        next(samples)
    with pytest.raises(dataflux.PreconditionError, match="KeyboardInterrupt"):
        next(samples)


def test_a_pass_that_has_failed_leaves_no_cycle(url, options, client, bucket):
    dataset, few = iterable(url, options), MapDataset(url, client=options, decode=number)
    missing = MapDataset(names=[bucket("none"), bucket("o/001")], client=options)
    client.delete(bucket("o/005"))
    assert left_by(lambda: list(dataset), dataflux.NotFoundError) == 0
    assert left_by(lambda: few[5], dataflux.NotFoundError) == 0
    assert left_by(lambda: missing[0], dataflux.NotFoundError) == 0
    assert left_by(lambda: list(iterable(url, options, decode=picky)), dataflux.Error) == 0


def test_what_ranks_do_together_leaves_no_cycle():
    from dataflux.lightning._ranks import agreed

    def fails():
        raise dataflux.NotFoundError("mine")

    assert left_by(lambda: agreed(fails), dataflux.NotFoundError) == 0


@pytest.mark.parametrize("workers", [0, 2])
def test_an_object_that_was_deleted_says_that_it_was_listed(url, options, client, bucket, workers):
    dataset = iterable(url, options)
    client.delete(bucket("o/005"))
    with pytest.raises(dataflux.NotFoundError, match="o/005: generation .* overwritten or deleted"):
        read(dataset, workers)


def test_an_object_that_was_overwritten_is_an_error_or_is_read_anew(url, options, client, bucket):
    dataset, anew = iterable(url, options), iterable(url, options, overwritten="read")
    client.put(bucket("o/005"), b"500")
    with pytest.raises(dataflux.NotFoundError, match="overwritten"):
        read(dataset, 0)
    assert sorted(read(anew, 2)) == sorted([*(set(range(COUNT)) - {5}), 500])
    client.delete(bucket("o/006"))
    with pytest.raises(dataflux.NotFoundError, match="o/006"):
        read(anew, 0)


@pytest.mark.parametrize("workers", [0, 2])
def test_failures_may_be_samples(url, options, client, bucket, workers):
    dataset = iterable(url, options, on_error="return", decode=picky)
    client.delete(bucket("o/005"))
    found = read(dataset, workers)
    assert sorted(each for each in found if isinstance(each, int)) == \
        sorted(set(range(COUNT)) - {5, 7})
    assert {type(each) for each in found if not isinstance(each, int)} == \
        {dataflux.NotFoundError, DecodeError}


@pytest.mark.parametrize("workers", [0, 3])
def test_what_is_skipped_is_stood_in_for(url, options, client, bucket, workers):
    dataset = iterable(url, options, on_error="skip", decode=picky)
    client.delete(bucket("o/005"))
    found = read(dataset, workers)
    assert len(found) == COUNT and set(found) == set(range(COUNT)) - {5, 7}
    order = list(dataflux.Sampler(COUNT))
    assert [a for a, b in zip(found, order) if b not in (5, 7)] == [b for b in order if b not in (5, 7)]
    assert dataset.skipped == 2  # whoever has read them


def test_a_batch_of_which_nothing_is_left_is_an_error_at_the_beginning(url, options, client, bucket):
    dataset = iterable(url, options, on_error="skip")
    for n in range(COUNT):
        client.delete(bucket(f"o/{n:03}"))
    with pytest.raises(dataflux.NotFoundError):
        list(dataset)


def test_a_first_batch_of_which_nothing_is_left_says_so(url, options, client, bucket):
    dataset = MapDataset(url, decode=number, on_error="skip", client=options)
    client.delete(bucket("o/004"))
    client.delete(bucket("o/005"))
    with pytest.raises(dataflux.NotFoundError, match='o/004: .*none of the 2 objects .* could stand in') as raised:
        dataset.__getitems__([4, 5])
    assert raised.value.object == "o/004" and raised.value.http_status == 404 and dataset.skipped == 2
    assert dataset.__getitems__([6, 7]) == [6, 7] and dataset.__getitems__([4, 5]) == [6 + 1] * 2


@pytest.mark.parametrize("workers", [0, 2])
def test_an_object_that_memory_has_no_room_for_is_named(client, bucket, emulator, workers):
    client.put(bucket("big/a"), bytes(3 << 20))
    small = dataflux.Client(**emulator.options, memory_cap=2 << 20)
    whose = "this worker, one of 2," if workers else "this process"
    for more in ({"url": bucket("big/")}, {"names": [bucket("big/a")]}):
        for kind in (IterableDataset, MapDataset):
            with pytest.raises(dataflux.ResourceExhaustedError) as raised:
                read(kind(client=small, **more), workers)
            assert f"{bucket('big/a')}: it has {3 << 20} bytes, and {whose} has {2 << 20} bytes" in str(raised.value)
            assert "raise memory_cap" in str(raised.value)
            assert ("fewer workers" in str(raised.value)) == bool(workers)
    client.put(bucket("small"), b"")
    failed, _ = IterableDataset([bucket("big/"), bucket("small")], client=small, shuffle="none", on_error="return")
    assert failed.object == "big/a" and failed.bucket == bucket.name


def test_a_corrupt_object_is_named(url, options, emulator, bucket):
    emulator.faults({"verb": "objects.media", "object": "o/011", "action": "flip_byte", "count": 0})
    with pytest.raises(dataflux.DataLossError, match="o/011"):
        read(iterable(url, options), 2)


def test_too_many_requests_for_a_while_delay_and_lose_nothing(url, options, emulator):
    dataset = iterable(url, options)
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 429, "count": 30})
    assert read(dataset, 2) == list(dataflux.Sampler(COUNT))


def test_connections_that_are_cut_in_mid_epoch_lose_nothing(url, options, emulator):
    dataset = iterable(url, options)
    emulator.faults({"verb": "objects.media", "action": "cut", "where": "before_reply", "from": 5, "count": 20})
    assert read(dataset, 2) == list(dataflux.Sampler(COUNT))


def test_a_worker_that_is_killed_is_named(url, options):
    # Lists, since what a dead worker shares of tensors is gone with it.
    loader = DataLoader(iterable(url, options), batch_size=4, num_workers=2, collate_fn=list)
    batches = iter(loader)
    next(batches)
    os.kill(batches._workers[0].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid"):
        for _ in range(COUNT):
            next(batches)


def test_half_read_iterators_go_with_what_they_had_under_way(url, options, emulator):
    dataset = iterable(url, options)
    for _ in range(20):
        for _ in dataset:
            break
        for _ in DataLoader(dataset, batch_size=4):
            break
    kept = [iter(dataset) for _ in range(5)]
    assert {next(each) for each in kept} == {dataflux.Sampler(COUNT)[0]}
    del kept
    gc.collect()
    assert list(dataset) == list(dataflux.Sampler(COUNT))


def test_a_client_that_was_used_before_the_fork_serves_the_workers(url, client):
    client.list(url)
    dataset = iterable(url, client)
    assert list(dataset) == read(dataset, 2) == list(dataset)


def test_a_manifest_that_was_replaced_or_damaged_is_refused(url, options, client, bucket, tmp_path):
    path = tmp_path / "m"
    client.save_manifest(client.list(url), str(path))
    dataset = IterableDataset(manifest=path, batch_size=4, decode=number, client=options)
    carried = pickle.dumps(dataset)
    client.put(bucket("o/more"), b"1")
    client.save_manifest(client.list(url), str(path))
    with pytest.raises(dataflux.PreconditionError, match="replaced"):
        list(pickle.loads(carried))
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" + whole[101:])
    with pytest.raises(dataflux.DataLossError):
        IterableDataset(manifest=path, client=options)
    path.write_bytes(whole[:-30])
    with pytest.raises(dataflux.Error):
        IterableDataset(manifest=path, client=options)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_wrong_size_is_a_failure_or_no_sample(url, options, client, bucket, emulator, workers):
    client.put(bucket("o/008"), b"")
    client.put(bucket("o/009"), b"9" * 1000)
    more = {"min_size": 1, "max_size": 10, "wrong_size": "error"}
    order = list(dataflux.Sampler(COUNT))
    with pytest.raises(SizeError, match="o/00(8: it has 0 bytes, and min_size is 1|9: it has 1000 bytes, .* 10)"):
        read(iterable(url, options, **more), workers)
    names = IterableDataset(names=[bucket(f"o/{n:03}") for n in range(COUNT)], batch_size=4, client=options,
                            on_error="return", decode=number, **more)
    said = sorted(str(each) for each in read(names, workers) if not isinstance(each, int))
    assert len(said) == 2 and "o/008: it has 0 bytes" in said[0] and "o/009: it has 1000 bytes" in said[1]
    assert sorted(read(iterable(url, options, min_size=1, max_size=10), workers)) == \
        sorted(set(range(COUNT)) - {8, 9})
    # Where its size was listed, an object is not asked for.
    emulator.faults({"verb": "objects.media", "object": "o/008", "action": "refuse", "status": 403, "count": 0},
                    {"verb": "objects.media", "object": "o/009", "action": "refuse", "status": 403, "count": 0})
    found = read(iterable(url, options, on_error="return", **more), workers)
    assert [type(each) if row in (8, 9) else each for row, each in zip(order, found)] == \
        [SizeError if row in (8, 9) else row for row in order]
    skipping = iterable(url, options, on_error="skip", **more)
    assert set(read(skipping, workers)) == set(range(COUNT)) - {8, 9}
    assert skipping.skipped == 2
    assert not was_hit(emulator)


def test_wrong_sizes_of_maps_pairs_and_of_everything(url, options, client, bucket):
    client.put(bucket("o/008"), b"")
    more = {"min_size": 1, "wrong_size": "error"}
    found = MapDataset(url, decode=number, client=options, on_error="return", **more).__getitems__([7, 8, 9])
    assert found[::2] == [7, 9] and isinstance(found[1], SizeError)
    assert MapDataset(url, decode=number, client=options, on_error="skip", **more).__getitems__([7, 8]) == [7, 7]
    for n in range(COUNT):
        client.put(bucket(f"p/{n:03}"), b"%d" % n)
    two = {"pairs": [(bucket("o/"), ""), (bucket("p/"), "")], "client": options, "on_error": "return", **more}
    found = MapDataset(**two).__getitems__([7, 8, 9])
    assert found[::2] == [(b"7", b"7"), (b"9", b"9")] and "o/008" in str(found[1])
    assert [type(each) for each in IterableDataset(shuffle="none", **two)][7:10] == [tuple, SizeError, tuple]
    # In all epochs nothing is worth reading: each of them ends, and so does what reads ahead.
    none = iterable(url, options, on_error="return", min_size=9, wrong_size="error", tolerance=None)
    for _ in range(3):
        assert [type(each) for each in none] == [SizeError] * COUNT


def test_one_corrupt_of_a_thousand(client, bucket, options, emulator):
    names = [f"o/{n:03}" for n in range(1000)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: bucket.put(name, b"%d" % int(name[2:])), names))
    emulator.faults({"verb": "objects.media", "object": "o/777", "action": "flip_byte", "count": 0})
    found = read(iterable(bucket("o/"), options, on_error="return"), 2)
    wrong = [each for each in found if not isinstance(each, int)]
    assert sorted(each for each in found if isinstance(each, int)) == [n for n in range(1000) if n != 777]
    assert len(wrong) == 1 and isinstance(wrong[0], dataflux.DataLossError) and "o/777" in str(wrong[0])


INTERRUPTED = """
import os, sys, dataflux
from torch.utils.data import DataLoader
from dataflux.torch import IterableDataset
if __name__ == "__main__":
    loader = DataLoader(IterableDataset(sys.argv[1], batch_size=2), batch_size=2, num_workers=int(sys.argv[2]))
    try:
        for batch in loader:
            print("batch", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def was_hit(emulator):
    return json.loads(emulator.ask("GET", "/_emulator/faults"))["hits"] > 0


@pytest.mark.without_tokens
@pytest.mark.parametrize("workers", [0, 2])
def test_ctrl_c_in_mid_batch_ends_it(url, emulator, workers):
    late = dataflux.Sampler(COUNT)[30]
    emulator.faults({"verb": "objects.media", "object": f"o/{late:03}", "action": "stall",
                     "where": "before_reply", "count": 0, "ms": 600_000})
    program = subprocess.Popen([sys.executable, "-c", INTERRUPTED, url, str(workers)], text=True,
                               stdout=subprocess.PIPE, start_new_session=True,
                               env={**os.environ, **emulator.environment})
    assert program.stdout.readline() == "batch\n"
    assert wait_until(lambda: was_hit(emulator))
    os.killpg(program.pid, signal.SIGINT)
    said = program.communicate(timeout=60)[0]
    assert said.endswith("interrupted\n") and program.returncode == 0


def test_the_server_dies_in_mid_epoch_and_returns(tmp_path):
    folder = tmp_path / "objects"
    (folder / "o").mkdir(parents=True)
    for n in range(COUNT):
        (folder / f"o/{n:03}").write_bytes(b"%d" % n + bytes(300_000))
    with dataflux.emulator("bkt", seed=folder) as first:
        port = first.endpoint.rsplit(":", 1)[1]
        dataset = IterableDataset("gs://bkt/o/", batch_size=4, overwritten="read",
                                  decode=lambda data, row: int(bytes(data[:4]).rstrip(b"\0")),
                                  client=first.client(memory_cap=1 << 20))
        found = iter(dataset)
        head = [next(found)]
    back = threading.Timer(1.5, lambda: again.append(dataflux.emulator(
        "bkt", seed=folder, arguments=["--port", port])))
    again = []
    back.start()
    try:
        assert head + list(found) == list(dataflux.Sampler(COUNT))
    finally:
        back.join()
        for service in again:
            service.close()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_map_reads_batches_by_number(url, options, workers):
    dataset = MapDataset(url, decode=number, client=options)
    assert len(dataset) == COUNT and dataset[3] == 3 and dataset[-1] == COUNT - 1
    assert dataset.__getitems__([5, 1, 5]) == [5, 1, 5] and dataset.row(2).name == "o/002"
    order = dataflux.Sampler(COUNT, seed=1)
    found = [sample for batch in DataLoader(dataset, batch_size=7, sampler=order, num_workers=workers)
             for sample in batch.tolist()]
    assert found == list(order)
    shuffled = [sample for batch in DataLoader(dataset, batch_size=7, shuffle=True, num_workers=workers)
                for sample in batch.tolist()]
    assert sorted(shuffled) == list(range(COUNT))
    with pytest.raises(IndexError):
        dataset[COUNT]


def test_a_map_of_several_prefixes_and_of_names(url, options, bucket):
    two = MapDataset([bucket("o/03"), bucket("o/00")], decode=number, client=options)
    assert two.__getitems__([0, 19, 10]) == [30, 9, 0]
    names = MapDataset(names=[bucket("o/009"), bucket("o/001")], decode=number, client=options)
    assert names.__getitems__([1, 0]) == [1, 9]


def test_a_map_skips_and_returns(url, options, client, bucket):
    skipping = MapDataset(url, decode=number, on_error="skip", client=options)
    returning = MapDataset(url, decode=picky, on_error="return", client=options)
    client.delete(bucket("o/005"))
    assert skipping.__getitems__([4, 5, 6]) == [4, 4, 6] and skipping.skipped == 1
    assert [type(each) for each in returning.__getitems__([5, 7, 9])] == \
        [dataflux.NotFoundError, DecodeError, int]
    fresh = MapDataset(url, decode=picky, on_error="skip", client=options)
    with pytest.raises(DecodeError, match="o/007"):
        fresh[6]  # of what is there now; nothing stands in for a single one
