"""dataflux.torch.save and load: one file."""

import gc
import io
import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
import time
import types
import weakref
import zipfile

import pytest
import torch

import dataflux
import dataflux.lightning
from dataflux.torch import _save, load, save
from interrupts import interrupted_at
from service import wait_until

MIB = 1 << 20


def state(number=1, mib=20):
    """A checkpoint of which every byte is of one number; more than two parts by default."""
    return {"step": number, "model": {"weight": torch.full((mib * MIB // 4,), float(number)),
                                      "bias": torch.full((1000,), float(number))}}


def number_of(found):
    """The number of a state, all of which is there."""
    values = {found["step"], *found["model"]["weight"].unique().tolist(),
              *found["model"]["bias"].unique().tolist()}
    assert len(values) == 1, values
    return values.pop()


def saved_by_torch(obj, **how):
    file = io.BytesIO()
    torch.save(obj, file, **how)
    return file.getvalue()


# ---- what is saved is what torch would have saved ----------------------------------------------


def everything():
    base = torch.rand(3 * MIB)  # 12 MiB: it is lent
    return {"view": base[10:20], "base": base, "again": base, "odd": base.view(1024, -1).t(),
            "half": torch.rand(1000).to(torch.bfloat16), "whole": torch.arange(5),
            "none": torch.empty(0), "flag": torch.tensor(True),
            "complex": torch.rand(3, dtype=torch.complex64),
            "parameter": torch.nn.Parameter(torch.rand(2 * MIB)), "text": "é" * 300_000,
            "sparse": torch.eye(3).to_sparse(), "list": [1, None, b"bytes"]}


def same(found, wanted):
    for name, value in wanted.items():
        if isinstance(value, torch.Tensor) and value.layout is torch.sparse_coo:
            assert torch.equal(found[name].to_dense(), value.to_dense())
        elif isinstance(value, torch.Tensor):
            assert torch.equal(found[name], value) and found[name].dtype == value.dtype
            assert type(found[name]) is type(value)
        else:
            assert found[name] == value


@pytest.mark.filterwarnings("ignore:Validating sparse tensor")
def test_torch_and_load_read_what_was_saved(client, bucket):
    wanted = everything()
    made = save(wanted, bucket("a.pt"), client=client)
    content = bucket.get("a.pt")
    assert made.size == len(content) and made.name == "a.pt" and made.generation
    for found in (torch.load(io.BytesIO(content), weights_only=True),
                  load(bucket("a.pt"), client=client),
                  load(bucket("a.pt"), client=client, mmap=True)):
        same(found, wanted)
        storages = {found[name].untyped_storage().data_ptr() for name in ("view", "base", "again", "odd")}
        assert len(storages) == 1
    assert client._under_way == {}


def test_with_the_checksums_of_zip_the_bytes_are_those_of_torch(client, bucket):
    wanted = state()
    save(wanted, bucket("a.pt"), client=client, crc32=True)
    save(wanted, bucket("b.pt"), client=client)
    assert bucket.get("a.pt") == saved_by_torch(wanted)
    assert zipfile.ZipFile(io.BytesIO(bucket.get("a.pt"))).testzip() is None
    assert zipfile.ZipFile(io.BytesIO(bucket.get("b.pt"))).testzip() is not None
    assert torch.serialization.get_crc32_options()  # of others nothing has changed


def test_torch_compares_no_record_with_its_checksum():
    """Which is why save() does not compute them: should torch begin to, it must."""
    content = bytearray(saved_by_torch({"a": torch.zeros(100)}))
    at = bytes(content).index(bytes(400))
    content[at] ^= 0xff
    assert torch.load(io.BytesIO(content))["a"][0] != 0


def test_tensors_are_lent_and_let_go_of(client, bucket):
    tensor = torch.rand(8 * MIB)
    storage = weakref.ref(tensor.untyped_storage())
    lent = []

    class Lending(_save.Lending):
        def write(self, buffer, owner=None):
            lent.append(memoryview(buffer).nbytes)
            return super().write(buffer, owner)

    before, _save.Lending = _save.Lending, Lending
    try:
        save([tensor, tensor[:10], torch.rand(10)], bucket("a.pt"), client=client)
    finally:
        _save.Lending = before
    assert lent == [32 * MIB]
    del tensor
    gc.collect()
    assert storage() is None


def test_another_pickle_module_and_protocol(client, bucket):
    other = types.ModuleType("other")
    other.Pickler, other.Unpickler, other.load = pickle.Pickler, pickle.Unpickler, pickle.load
    save(state(), bucket("a.pt"), client=client, pickle_module=other, pickle_protocol=4)
    found = load(bucket("a.pt"), client=client, weights_only=False, pickle_module=other)
    assert number_of(found) == 1
    assert bucket.get("a.pt") != saved_by_torch(state())


def test_options_of_the_object(client, bucket):
    save({}, bucket("a.pt"), client=client, metadata={"step": "7"}, storage_class="NEARLINE")
    there = client.stat(bucket("a.pt"))
    assert there.metadata == {"step": "7"} and there.storage_class == "NEARLINE"
    assert load(there, client=client) == {}
    with pytest.raises(dataflux.AlreadyExistsError):
        save({}, bucket("a.pt"), client=client, if_generation_match=0)


@pytest.mark.without_tokens
def test_the_default_client(emulator, bucket, monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", emulator.endpoint)
    monkeypatch.setattr(dataflux._client, "_defaults", {})
    save({"a": 1}, bucket("a.pt"))
    assert load(bucket("a.pt")) == {"a": 1}
    dataflux.client().close()


class Puts:
    """Somebody else writes the object while it is pickled."""

    def __init__(self, bucket):
        self.bucket = bucket

    def __reduce__(self):
        self.bucket.put("a.pt", b"another's")
        return list, ()


@pytest.mark.parametrize("mib", [0, 20])
@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("by", ["save", "CheckpointIO"])
def test_of_two_saves_at_once_the_other_one_is_told(client, bucket, mib, there, by):
    if there:
        save({}, bucket("a.pt"), client=client)
    going = {**state(1, mib), "meanwhile": Puts(bucket)}
    with pytest.raises(dataflux.PreconditionError, match="do several ranks save to one name"):
        if by == "save":
            save(going, bucket("a.pt"), client=client)
        else:
            dataflux.lightning.CheckpointIO(client).save_checkpoint(going, bucket("a.pt"))
    assert bucket.get("a.pt") == b"another's" and bucket.names() == ["a.pt"]


# ---- what goes wrong while it is saved ---------------------------------------------------------


class Refuses:
    def __reduce__(self):
        raise LookupError("not me")


@pytest.mark.parametrize("old", [True, False])
def test_what_pickling_raises_leaves_what_was_there(client, bucket, old):
    if old:
        save(state(1), bucket("a.pt"), client=client)
    with pytest.raises(LookupError, match="not me"):
        save([state(2), Refuses()], bucket("a.pt"), client=client)
    assert bucket.names() == (["a.pt"] if old else [])
    if old:
        assert number_of(load(bucket("a.pt"), client=client)) == 1


STEPS = ["objects.get", "multipart.initiate", "multipart.part", "multipart.complete", "objects.move",
         "objects.insert"]


@pytest.mark.parametrize("mib", [0, 20])
@pytest.mark.parametrize("verb", STEPS)
def test_a_step_that_is_refused(client, emulator, bucket, verb, mib):
    """Or that has another way: the old one is there, or the new one."""
    save(state(1, mib), bucket("a.pt"), client=client)
    emulator.faults({"verb": verb, "action": "refuse", "status": 403, "count": 0})
    try:
        save(state(2, mib), bucket("a.pt"), client=client)
        wanted = 2
    except (dataflux.PermissionDeniedError, dataflux.AlreadyExistsError) as refused:
        # Who may not look at what is there may not replace it.
        assert refused.http_status in (403, 412) and f"gs://{bucket.name}/a.pt" in str(refused)
        wanted = 1
    emulator.faults()
    assert number_of(load(bucket("a.pt"), client=client)) == wanted
    assert client._under_way == {}


@pytest.mark.parametrize("verb", STEPS)
def test_a_step_that_fails_for_a_while(client, emulator, bucket, verb):
    save(state(1), bucket("a.pt"), client=client)
    emulator.faults({"verb": verb, "action": "refuse", "status": 503, "count": 2})
    save(state(2), bucket("a.pt"), client=client)
    assert number_of(load(bucket("a.pt"), client=client)) == 2 and bucket.names() == ["a.pt"]


def test_what_the_service_says_comes_out_and_not_torch_s_words(client, emulator, bucket):
    emulator.faults({"verb": "multipart.part", "action": "refuse", "status": 403, "count": 0})
    with pytest.raises(dataflux.PermissionDeniedError, match=f"gs://{bucket.name}/a.pt"):
        save([torch.zeros(8 * MIB) for _ in range(6)], bucket("a.pt"), client=client)
    assert bucket.names() == []


def test_an_interrupt_while_it_is_sent(client, emulator, bucket):
    save(state(1), bucket("a.pt"), client=client)
    emulator.faults({"verb": "multipart.part", "action": "stall", "count": 0})
    told = threading.Thread(target=_interrupt_when, args=(emulator, bucket, "multipart.initiate"))
    told.start()
    with pytest.raises(KeyboardInterrupt):
        save(state(2, 200), bucket("a.pt"), client=dataflux.Client(
            **emulator.options, upload_memory=32 * MIB))
    told.join()
    emulator.faults()
    assert number_of(load(bucket("a.pt"), client=client)) == 1


def _interrupt_when(emulator, bucket, verb):
    assert wait_until(lambda: any(row["verb"] == verb and bucket.name in row["target"]
                                  for row in emulator.log()[-20:]))
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_anywhere_is_one(client, bucket):
    """And leaves the old one, or the new one where it came behind the commit."""
    save(state(1, 5), bucket("a.pt"), client=client)
    number = 1
    while interrupted_at(number, lambda: save(state(2, 5), bucket("a.pt"), client=client),
                         ("dataflux/_lending.py", "dataflux/torch/_save.py")):
        number += 11
        if number < 500:
            assert number_of(load(bucket("a.pt"), client=client)) == 1
    assert number > 1000
    assert number_of(load(bucket("a.pt"), client=client)) == 2
    assert len(client._under_way) <= 2  # that of an interrupt right before settle()


def _save_until_killed(options, url, first, started):
    torch.set_num_threads(1)
    client = dataflux.Client(**options)
    for number in range(first, first + 100_000):
        save(state(number), url, client=client)
        started.set()


def test_a_kill_at_any_moment_leaves_a_whole_one(client, emulator, bucket):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "dataflux.torch"])
    options = emulator.options
    moments = random.Random(21)
    newest = 0
    for turn in range(20):
        started = context.Event()
        child = context.Process(target=_save_until_killed,
                                args=(options, bucket("a.pt"), newest + 1, started))
        child.start()
        assert started.wait(120)
        time.sleep(moments.uniform(0, 0.3))
        child.kill()
        child.join()
        found = number_of(load(bucket("a.pt"), client=client))
        assert found > newest
        newest = int(found)
    save(state(newest + 1), bucket("a.pt"), client=client)
    assert number_of(load(bucket("a.pt"), client=client)) == newest + 1


def test_a_save_in_a_forked_child(client, bucket):
    save(state(1), bucket("a.pt"), client=client)
    child = os.fork()
    if child == 0:
        try:
            save({"a": 1}, bucket("b.pt"), client=client)
            os._exit(0 if load(bucket("b.pt"), client=client) == {"a": 1} else 1)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert number_of(load(bucket("a.pt"), client=client)) == 1


def test_two_at_once(client, bucket):
    failed = []

    def one(number):
        try:
            for turn in range(3):
                save(state(number), bucket(f"{number}.pt"), client=client)
                assert number_of(load(bucket(f"{number}.pt"), client=client)) == number
        except BaseException as why:
            failed.append(why)

    threads = [threading.Thread(target=one, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("url, error", [
    ("gs://", ValueError), ("gs://bucket", ValueError), ("gs://bucket/", ValueError),
    ("bucket/name", ValueError), ("/tmp/a.pt", ValueError), ("gs://bucket/folder/", ValueError),
    (7, TypeError), (None, TypeError), (io.BytesIO(), TypeError)])
def test_a_url_that_is_none(client, emulator, url, error):
    before = emulator.answered()
    with pytest.raises(error, match="url"):
        save({}, url, client=client)
    with pytest.raises(error, match="url"):
        load(url, client=client)
    assert emulator.answered() == before


@pytest.mark.parametrize("how, error", [
    ({"pickle_protocol": "2"}, TypeError), ({"pickle_module": 7}, TypeError),
    ({"crc32": "no"}, TypeError), ({"timeout": "1"}, TypeError), ({"part_size": -1}, ValueError)])
def test_an_argument_that_is_none(client, emulator, bucket, how, error):
    before = emulator.answered()
    with pytest.raises(error, match=next(iter(how))):
        save({}, bucket("a.pt"), client=client, **how)
    assert emulator.answered() == before


@pytest.mark.parametrize("how, error", [
    ({"mmap": "no"}, TypeError), ({"generation": -1}, ValueError), ({"read_ahead": "1"}, TypeError),
    ({"timeout": -1}, ValueError)])
def test_an_argument_of_load_that_is_none(client, emulator, bucket, how, error):
    before = emulator.answered()
    with pytest.raises(error, match=next(iter(how))):
        load(bucket("a.pt"), client=client, **how)
    assert emulator.answered() == before


def test_data_that_is_left_out_is_refused(client, bucket):
    with pytest.raises(io.UnsupportedOperation, match="skip_data"):
        with torch.serialization.skip_data():
            save(state(), bucket("a.pt"), client=client)
    assert bucket.names() == []
