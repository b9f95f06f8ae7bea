"""Batches of bytes that are received straight into the memory of the batch."""

import gc
import io
import logging
import os
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.utils.data import DataLoader

import dataflux
from cycles import left_by
from dataflux.torch import IterableDataset, Mix, SizeError, _forming, _loader, _receiving, tensor
from service import wait_until

COUNT, SIZE, LIMIT = 45, 400, 60
ORDER = list(dataflux.Sampler(COUNT))


def content(number):
    return bytes([number]) * SIZE


@pytest.fixture
def make(client, bucket, emulator):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.put(bucket(f"o/{n:03}"), content(n)), range(COUNT)))
    options = dataflux.Client(**emulator.options)
    return lambda **how: IterableDataset(bucket("o/"), client=options, **{"batch_size": 4, **how})


@pytest.fixture
def begun(monkeypatch):
    """One for each stream of rows."""
    made = []

    class Noted(_receiving.RowStream):
        def __init__(self, *given, **how):
            made.append(self)
            super().__init__(*given, **how)

    monkeypatch.setattr(_receiving, "RowStream", Noted)
    return made


def numbers(batches):
    found = []
    for batch in batches:
        assert (batch == batch[:, :1]).all()
        found += batch[:, 0].tolist()
    return found


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.complex64], ids=str)
def test_what_is_good_stays_where_others_have_failed_whichever_type_it_has(make, client, bucket, dtype):
    dataset = make(on_error="skip")
    client.delete(bucket(f"o/{ORDER[1]:03}"))
    expected = [sample[0] for sample in dataset]
    assert numbers(batch.view(torch.uint8) for batch in dataset.batches(dtype=dtype)) == expected
    assert dataset.skipped == 2


def test_nothing_is_copied_and_all_is_as_by_a_data_loader(make, begun, monkeypatch):
    monkeypatch.setattr(_forming.Forming, "batch", None)
    dataset = make(decode=tensor)
    for epoch in range(3):
        dataset.set_epoch(epoch)
        expected = list(DataLoader(dataset, batch_size=4))
        assert len(expected) == 12 and all(map(torch.equal, dataset.batches(), expected))
    assert len(begun) >= 1


SEVERAL = ["prefixes", "pairs", "mix", "mix of pairs", "sizes"]


@pytest.fixture
def several(make, client, bucket, emulator):
    """By name: what makes a dataset of more than one listing, of the objects of `make` and of others."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: client.put(bucket(f"p/{n:03}"), content(100 + n)), range(COUNT)))
    options = dataflux.Client(**emulator.options)

    def of(*given, **fixed):
        return lambda **how: IterableDataset(*given, client=options, **{**fixed, **how})

    both = [(bucket("o/"), ""), (bucket("p/"), "")]
    left, right = of(bucket("o/"), seed=1), of(bucket("p/"), seed=2, decode=tensor)
    pairs = [of(pairs=both, seed=seed) for seed in (3, 4)]

    def mix(sources, how):
        length = how.pop("length", 80)
        return Mix([each() for each in sources], [2, 1], ended="restart", length=length, client=options,
                   **{"batch_size": 4, **how})

    return {"prefixes": of([bucket("o/"), bucket("p/")], batch_size=4),
            "pairs": of(pairs=both, batch_size=4),
            "mix": lambda **how: mix([left, right], how), "mix of pairs": lambda **how: mix(pairs, how),
            "sizes": of([bucket("o/"), bucket("p/")], batch_size=4, min_size=1, wrong_size="error")}


def firsts(batches):
    """The first byte of each sample; of a pair, of both."""
    found = []
    for batch in batches:
        columns = batch if isinstance(batch, (list, tuple)) else [batch]
        assert all((column == column[:, :1]).all() for column in columns)
        found += zip(*[column[:, 0].tolist() for column in columns])
    return found


def by_loader(dataset):
    """The same of the samples that a DataLoader would join."""
    return [tuple(each[0] for each in (sample if isinstance(sample, tuple) else (sample,))) for sample in dataset]


@pytest.mark.parametrize("name", SEVERAL)
def test_what_is_of_several_listings_is_received_in_the_order_of_a_data_loader(several, begun, monkeypatch, name):
    dataset = several[name]()
    expected = []
    for epoch in range(3):
        dataset.set_epoch(epoch)
        expected.append(by_loader(dataset))
    monkeypatch.setattr(_forming.Forming, "put", None)  # nothing is put together
    dataset = several[name]()
    batches = dataset.batches(5, ahead=3)
    for epoch in range(3):
        dataset.set_epoch(epoch)
        assert firsts(batches) == expected[epoch]
    assert len(begun) >= 2


@pytest.mark.parametrize("name", SEVERAL)
def test_a_pass_of_several_listings_goes_on_behind_the_batch_that_was_given_last(several, name):
    whole = firsts(several[name]().batches())
    batches = several[name]().batches(ahead=5)
    given = iter(batches)
    head = firsts(next(given) for _ in range(3))
    later = several[name]().batches(3)
    later.load_state_dict(batches.state_dict())
    assert head + firsts(later) == whole


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("gone", ["o/007", "p/011"])
def test_what_is_gone_of_several_listings_fails_as_by_a_data_loader(several, client, bucket, name, gone):
    raising, skipping = several[name](), several[name](on_error="skip", tolerance=None)
    client.delete(bucket(gone))
    expected = []
    with pytest.raises(dataflux.NotFoundError, match=gone) as by_dataset:
        for sample in raising:
            expected.append(sample)
    given = []
    with pytest.raises(dataflux.NotFoundError, match=gone) as raised:
        for batch in raising.batches():
            given += firsts([batch])
    assert len(given) == len(expected) // 4 * 4 and str(raised.value) == str(by_dataset.value)
    expected = by_loader(skipping)
    skipped = skipping.skipped
    assert firsts(skipping.batches()) == expected and skipping.skipped == 2 * skipped


def test_one_side_of_a_pair_may_be_read_anew(several, client, bucket):
    dataset = several["pairs"](overwritten="read", shuffle="none")
    client.put(bucket("p/003"), content(77))
    assert firsts(dataset.batches()) == [(n, 77 if n == 3 else 100 + n) for n in range(COUNT)]


def test_wrong_sizes_are_found_before_anything_is_read(make, client, bucket, emulator):
    client.put(bucket("o/900"), b"long" * 1000)
    client.put(bucket("o/901"), b"")
    dataset = make(min_size=SIZE, max_size=SIZE, wrong_size="error", on_error="skip")
    expected = [each[0] for each in dataset]
    emulator.faults({"verb": "objects.media", "object": "o/900", "action": "stall", "where": "before_reply", "count": 0},
                    {"verb": "objects.media", "object": "o/901", "action": "stall", "where": "before_reply", "count": 0})
    assert numbers(dataset.batches()) == expected and dataset.skipped == 4
    with pytest.raises(SizeError, match="o/90[01]: it has (4000|0) bytes, and m.._size is 400"):
        numbers(make(min_size=SIZE, max_size=SIZE, wrong_size="error").batches())


def test_pairs_of_several_sizes_are_padded_and_packed_side_by_side(client, bucket, emulator):
    for n in range(1, 4):
        client.put(bucket(f"x/{n}"), bytes([n]) * n)
        client.put(bucket(f"y/{n}"), bytes([n]) * 2 * n)
    dataset = IterableDataset(pairs=[(bucket("x/"), ""), (bucket("y/"), "")], shuffle="none", batch_size=3,
                              client=dataflux.Client(**emulator.options))
    [[(left, lengths), (right, more)]] = dataset.batches(pad=True)
    assert left.tolist() == [[1, 0, 0], [2, 2, 0], [3, 3, 3]] and lengths.tolist() == [1, 2, 3]
    assert right.shape == (3, 6) and more.tolist() == [2, 4, 6]
    [[(flat, begins), _]] = dataset.batches(packed=True)
    assert flat.tolist() == [1, 2, 2, 3, 3, 3] and begins.tolist() == [0, 1, 3, 6]
    with pytest.raises(SizeError, match="x/2: it has 2 bytes, and .*x/1 of the same batch has 1"):
        list(dataset.batches())
    # The object of the side whose sizes differ is named, received or put together.
    for n in range(1, 4):
        client.put(bucket(f"x/{n}"), b"x")
        client.put(bucket(f"z/{n}"), b"z" * (1 + n // 3))
    for how in ({}, {"decode": lambda data, rows: tuple(data)}):
        with pytest.raises(SizeError, match="z/3: it has 2 bytes, and .*z/1 of the same batch has 1"):
            list(IterableDataset(pairs=[(bucket("x/"), ""), (bucket("z/"), "")], shuffle="none", batch_size=3,
                                 client=dataflux.Client(**emulator.options), **how).batches())


def tar(numbers, fields):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for n in numbers:
            for name, data in fields(n).items():
                info = tarfile.TarInfo(f"{n:04}.{name}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def of_one_size(n):
    return {"raw": bytes([n]) * 96, "cls": b"%03d" % n}


@pytest.fixture
def shards(client, bucket, emulator, tmp_path):
    """Makes an index of three shards of ten samples, and a dataset of it."""
    options = dataflux.Client(**emulator.options)

    def made(fields=of_one_size, folder="s", **how):
        for shard in range(3):
            client.put(bucket(f"{folder}/{shard}.tar"), tar(range(10 * shard, 10 * shard + 10), fields))
        path = str(tmp_path / f"{folder}.dfx")
        client.index_shards(bucket(f"{folder}/"), path)
        return IterableDataset(shards=path, client=options, **{"batch_size": 4, **how})

    return made


def joined(dataset):
    """The batches of a DataLoader, whose samples become tensors."""
    return list(DataLoader(dataset, batch_size=4, collate_fn=lambda samples: {
        name: torch.stack([torch.frombuffer(bytearray(each[name]), dtype=torch.uint8) for each in samples])
        if not name.startswith("__") else [each[name] for each in samples] for name in samples[0]}))


def same(batch, other):
    return batch.keys() == other.keys() and all(
        torch.equal(each, other[name]) if isinstance(each, torch.Tensor) else each == other[name]
        for name, each in batch.items())


def test_samples_of_shards_with_fields_of_one_size_are_views_of_what_was_received(shards, begun, monkeypatch):
    dataset = shards()
    expected = []
    for epoch in range(3):
        dataset.set_epoch(epoch)
        expected.append(joined(dataset))
    monkeypatch.setattr(_forming.Forming, "put", None)
    batches = dataset.batches()
    for epoch in range(3):
        dataset.set_epoch(epoch)
        found = list(batches)
        assert len(found) == 8 and all(map(same, found, expected[epoch]))
    begin = found[0]["raw"].data_ptr()
    assert found[0]["cls"].data_ptr() - begin == 1024 and found[0]["raw"].stride() == (2048, 1) and begun
    there = list(dataset.batches(device="cpu"))
    assert all(map(same, there, expected[2])) and there[0]["raw"].is_contiguous()


def test_fields_of_shards_have_a_type_and_a_shape(shards):
    dataset = shards(lambda n: {"raw": bytes([n]) * 96})
    batch = next(iter(dataset.batches(dtype=torch.int16, shape=(6, 8))))
    expected = joined(dataset)[0]
    assert batch["raw"].dtype == torch.int16 and batch["raw"].shape == (4, 6, 8)
    assert batch["raw"].flatten(1).contiguous().view(torch.uint8).equal(expected["raw"])
    assert batch["__key__"] == expected["__key__"]
    with pytest.raises(SizeError, match="it has 96 bytes"):
        next(iter(dataset.batches(shape=95)))


def test_shards_of_several_indexes_and_samples_of_other_fields_are_put_together(shards, client, emulator):
    def other(n):
        return {"raw": bytes([n]) * 96, "cls": b"%03d" % n, **({} if n % 10 else {"more": b"x"})}

    options = dataflux.Client(**emulator.options)
    one, two = shards(), shards(folder="two")
    both = IterableDataset(shards=[one._source.parts[0].path, two._source.parts[0].path], client=options, batch_size=4)
    assert all(map(same, both.batches(), joined(both)))
    mixed = Mix([one, two], [1, 1], batch_size=4, client=options)
    assert all(map(same, mixed.batches(), joined(mixed)))
    alone = Mix([one], [1], batch_size=4, client=options)
    assert all(map(same, alone.batches(), joined(alone)))
    uneven = shards(other, "three", shuffle="none", batch_size=1)
    found = [set(batch) - {"__key__", "__url__"} for batch in uneven.batches()]
    assert found == [{"raw", "cls", "more"} if n % 10 == 0 else {"raw", "cls"} for n in range(30)]


def test_a_shard_that_is_gone_fails_in_its_turn_or_is_stood_in_for(shards, client, bucket):
    raising, skipping = shards(shuffle="none"), shards(folder="t", on_error="skip", tolerance=None)
    client.delete(bucket("s/1.tar"))
    client.delete(bucket("t/1.tar"))
    with pytest.raises(dataflux.NotFoundError, match="s/1.tar") as by_dataset:
        list(raising)
    found = []
    with pytest.raises(dataflux.NotFoundError, match="s/1.tar") as raised:
        for batch in raising.batches():
            found += batch["__key__"]
    assert found == [f"{n:04}" for n in range(8)]
    # The text ends with the number of a request.
    assert str(raised.value)[:-9] == str(by_dataset.value)[:-9]
    expected = [bytes(sample["cls"]) for sample in skipping]
    skipped = skipping.skipped
    assert [bytes(row.tolist()) for batch in skipping.batches() for row in batch["cls"]] == expected
    assert skipped == 10 and skipping.skipped == 20


def test_a_pass_of_shards_goes_on_behind_the_batch_that_was_given_last(shards):
    dataset = shards()
    whole = [key for batch in dataset.batches() for key in batch["__key__"]]
    batches = dataset.batches(ahead=4)
    given = iter(batches)
    head = [key for _ in range(3) for key in next(given)["__key__"]]
    later = IterableDataset(shards=dataset._source.parts[0].path, client=dataset._client, batch_size=4).batches(5)
    later.load_state_dict(batches.state_dict())
    assert head + [key for batch in later for key in batch["__key__"]] == whole


def test_one_stream_goes_through_all_epochs(make, begun, emulator):
    dataset = make()
    for drop_last in (False, True):
        begun.clear()
        batches = dataset.batches(drop_last=drop_last, ahead=3)
        for epoch in range(5):
            dataset.set_epoch(epoch)
            found = numbers(batches)
            assert found == list(dataflux.Sampler(COUNT, epoch=epoch))[:44 if drop_last else COUNT]
        assert len(begun) == 2  # whoever passes a second time passes again
    dataset.set_epoch(9)  # a jump begins anew
    assert numbers(batches) == list(dataflux.Sampler(COUNT, epoch=9))[:44]
    assert numbers(dataset.batches(5)) == list(dataflux.Sampler(COUNT, epoch=9))  # so do other batches


def test_a_pass_goes_on_behind_the_batch_that_was_given_last(make):
    for steps in (0, 1, 7, 12):
        batches = make().batches(ahead=5)
        given = iter(batches)
        head = numbers(next(given) for _ in range(steps))
        later = make().batches(3)
        later.load_state_dict(batches.state_dict())
        assert head + numbers(later) == ORDER


def test_an_object_that_is_gone_fails_in_its_turn_or_is_stood_in_for(make, client, bucket):
    raising, skipping, anew = make(), make(on_error="skip"), make(overwritten="read")
    client.put(bucket("o/007"), bytes([200]) * SIZE)
    seen = []
    with pytest.raises(dataflux.NotFoundError, match="o/007: generation .* overwritten or deleted") as raised:
        for batch in raising.batches():
            seen += numbers([batch])
    assert seen == ORDER[:ORDER.index(7) // 4 * 4] and raised.value.object == "o/007"
    expected = [each[0] for each in skipping]
    assert numbers(skipping.batches()) == expected and skipping.skipped == 2
    assert numbers(anew.batches()) == [200 if n == 7 else n for n in ORDER]
    client.put(bucket("o/007"), b"short")
    with pytest.raises(dataflux.Error, match="o/007: it has 5 bytes"):
        numbers(anew.batches(shape=SIZE))


def test_memory_is_used_again_once_nobody_has_a_view_of_it(make, monkeypatch):
    monkeypatch.setattr(_receiving, "ROWS", 0)
    monkeypatch.setattr(_receiving, "BYTES", 0)
    batches = make().batches(ahead=2)
    seen = {batch.data_ptr() for _ in range(3) for batch in batches}
    assert len(seen) <= 5 and all(each % 64 == 0 for each in seen)
    kept = []
    for batch in batches:
        kept.append((batch[1:].numpy(), batch[1:].tolist()))
    assert all(each.tolist() == content for each, content in kept)


def test_a_corrupt_object_is_named(make, emulator):
    emulator.faults({"verb": "objects.media", "object": "o/011", "action": "flip_byte", "count": 0})
    with pytest.raises(dataflux.DataLossError, match="o/011"):
        numbers(make().batches())


def test_no_cycle_is_left(make, client, bucket):
    dataset = make()
    client.delete(bucket("o/005"))
    assert left_by(lambda: numbers(dataset.batches()), dataflux.NotFoundError) == 0


def test_a_pass_that_is_left_gives_all_memory_back(make, begun):
    batches = make().batches(ahead=4)
    for _ in range(5):
        for _ in batches:
            break
    gc.collect()
    assert all(stream._closed for stream in begun) and len(begun) == 5
    assert numbers(batches) == ORDER


def test_a_child_of_a_fork_is_refused_and_may_begin_anew(make):
    batches = make().batches()
    given = iter(batches)
    next(given)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                next(given)
            except dataflux.PreconditionError as why:
                code = 0 if "forked child" in str(why) and numbers(batches) == ORDER else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert numbers(given) == ORDER[4:]


def test_bytes_ahead_are_bounded(client, bucket, emulator):
    for n in range(12):
        client.put(bucket(f"b/{n:02}"), bytes(300_000))
    dataset = IterableDataset(bucket("b/"), batch_size=2, client=dataflux.Client(**emulator.options, memory_cap=1 << 20))
    batches = dataset.batches(ahead=100)
    given = iter(batches)
    next(given)
    assert 1_200_000 >= batches.metrics()["bytes_ahead"] >= 600_000 and batches.metrics()["batches_ahead"] <= 2
    assert len(list(given)) == 5


def test_objects_without_bytes_are_rows(client, bucket, emulator):
    for n in range(6):
        client.put(bucket(f"e/{n}"), b"")
    options = dataflux.Client(**emulator.options)
    assert [batch.shape for batch in IterableDataset(bucket("e/"), client=options).batches(4)] == [(4, 0), (2, 0)]
    [(batch, lengths)] = IterableDataset(bucket("e/"), client=options).batches(6, pad=True)
    assert batch.shape == (6, 0) and lengths.tolist() == [0] * 6


def until_stopped(given):
    with pytest.raises(dataflux.PreconditionError):
        next(given)


@pytest.mark.parametrize("how", [{}, {"packed": True}])
@pytest.mark.parametrize("stalled, told", [([2], "{}"), ([1, 2], "{} and 1 more")])
def test_a_watchdog_names_what_a_batch_lacks(make, caplog, emulator, how, stalled, told):
    caplog.set_level(logging.WARNING, "dataflux")
    batches = make().batches(warn_after=0.2, **how)
    urls = [batches.dataset.row(row).url for row in ORDER[:4]]
    emulator.faults(*[{"verb": "objects.media", "object": f"o/{ORDER[n]:03}", "action": "stall",
                       "where": "before_reply", "count": 0} for n in stalled])
    waiting = threading.Thread(target=until_stopped, args=(iter(batches),), daemon=True)
    waiting.start()
    assert wait_until(lambda: "batch 0 has been waited for" in caplog.text)
    making = batches._told.making
    assert wait_until(lambda: making._pushed[0].lacking() == stalled)
    text = _loader.Watchdog(making, 1)._text(0, 0)
    assert f"the thread of the loop has waited for the bytes of {told.format(urls[stalled[0]])} of batch 0" in text
    making.close()
    waiting.join(LIMIT)
    assert not waiting.is_alive()
