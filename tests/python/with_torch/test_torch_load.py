"""dataflux.torch.load: whatever torch.save has written, by whatever way it came."""

import io
import os
import pickle
import random
import zipfile

import pytest
import torch

import dataflux
from dataflux.torch import load, save
from dataflux.torch import _storages
from dataflux.torch._records import Record, batches, data_at, gaps, merged, records_of, size_of
from dataflux.torch._storages import Storages

MIB = 1 << 20


def tensors(count=40, mib=1):
    return {f"layer{number}": torch.full((mib * MIB // 4 + number,), float(number))
            for number in range(count)}


def same(found, wanted):
    return list(found) == list(wanted) and all(torch.equal(found[name], wanted[name])
                                               for name in wanted)


def saved(obj, **how):
    file = io.BytesIO()
    torch.save(obj, file, **how)
    return file.getvalue()


def in_order_of_texts(obj):
    """A file as torch up to 2.6 writes it: storages in the order 0, 1, 10, 11, 2."""
    with zipfile.ZipFile(io.BytesIO(saved(obj))) as source:
        names = [info.filename.partition("/")[2] for info in source.infolist()]
        out = io.BytesIO()
        writer = torch._C.PyTorchFileWriter(out)
        for name in ["data.pkl", "byteorder",
                     *sorted(name for name in names if name.startswith("data/"))]:
            content = source.read("archive/" + name)
            writer.write_record(name, content, len(content))
        writer.write_end_of_file()
    return out.getvalue()


def media(emulator):
    """How many reads there were."""
    return sum(row["count"] for row in emulator.counters()["requests"]
               if row["verb"] == "objects.media")


FORMS = {"zip": saved, "old zip": in_order_of_texts,
         "legacy": lambda obj: saved(obj, _use_new_zipfile_serialization=False)}


@pytest.mark.parametrize("read_ahead", [None, 0, 4 * MIB, 9 * MIB])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_file(client, emulator, bucket, form, read_ahead):
    wanted = {**tensors(), "large": torch.rand(6 * MIB), "last": torch.rand(3)}
    content = FORMS[form](wanted)
    bucket.put("a.pt", content)
    before = media(emulator)
    how = {} if read_ahead is None else {"read_ahead": read_ahead}
    assert same(load(bucket("a.pt"), client=client, **how), wanted)
    if read_ahead is None:
        assert media(emulator) - before <= len(content) / MIB
    assert client._under_way == {}


def test_many_small_tensors_cost_no_request_each(client, emulator, bucket):
    wanted = {f"t{number}": torch.full((1024,), float(number)) for number in range(2000)}
    save(wanted, bucket("a.pt"), client=client)
    before = media(emulator)
    assert same(load(bucket("a.pt"), client=client), wanted)
    assert media(emulator) - before <= 8


def test_a_form_that_is_mapped(client, bucket, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    wanted = tensors(3)
    bucket.put("a.pt", saved(wanted))
    found = load(bucket("a.pt"), client=client, mmap=True)
    assert os.listdir(tmp_path) == [] and same(found, wanted)
    found["layer1"].add_(1)  # it is this process's own
    assert same(load(bucket("a.pt"), client=client, mmap=True), wanted)
    bucket.put("b.pt", FORMS["legacy"](wanted))
    with pytest.raises(RuntimeError, match=f"gs://{bucket.name}/b.pt.*mmap can only be used") as told:
        load(bucket("b.pt"), client=client, mmap=True)
    assert "dataflux-load-" not in str(told.value)  # a file that is gone by now
    assert os.listdir(tmp_path) == []


def test_map_location(client, emulator, bucket):
    wanted = tensors()
    save(wanted, bucket("a.pt"), client=client)
    asked = []
    load(bucket("a.pt"), client=client, map_location=lambda storage, place: asked.append(place))
    assert asked == ["cpu"] * len(wanted)
    before = media(emulator)
    found = load(bucket("a.pt"), client=client, map_location="meta")
    assert found["layer7"].device.type == "meta" and media(emulator) - before <= 3


def test_another_default_device(client, bucket):
    wanted = tensors()
    save(wanted, bucket("a.pt"), client=client)
    with torch.device("meta"):
        found = load(bucket("a.pt"), client=client)
    assert same(found, wanted)


def test_weights_only(client, bucket):
    save({"a": zipfile.ZipFile}, bucket("a.pt"), client=client)
    with pytest.raises(pickle.UnpicklingError, match=f"gs://{bucket.name}/a.pt: Weights only"):
        load(bucket("a.pt"), client=client)
    with pytest.raises(pickle.UnpicklingError):
        load(bucket("a.pt"), client=client, weights_only=None)
    assert load(bucket("a.pt"), client=client, weights_only=False) == {"a": zipfile.ZipFile}


def test_a_generation(client, bucket):
    first = save({"a": 1}, bucket("a.pt"), client=client)
    save({"a": 2}, bucket("a.pt"), client=client)
    row = client.list(bucket())[0]
    save({"a": 3}, bucket("a.pt"), client=client)
    assert load(bucket("a.pt"), client=client) == {"a": 3}
    for gone in (row, first):
        with pytest.raises(dataflux.NotFoundError, match="a.pt"):
            load(gone, client=client)
    with pytest.raises(FileNotFoundError):
        load(bucket("none.pt"), client=client)


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("keep", [0, 3, 10, 0.1, 0.5, 0.9, -1])
@pytest.mark.parametrize("form", ["zip", "legacy"])
def test_a_file_that_is_cut_is_named(client, bucket, form, keep, mmap):
    content = FORMS[form](tensors(4))
    bucket.put("a.pt", content[:int(len(content) * keep) if isinstance(keep, float) else keep])
    with pytest.raises(Exception, match=f"gs://{bucket.name}/a.pt"):
        load(bucket("a.pt"), client=client, mmap=mmap)


def test_what_is_no_checkpoint_is_named(client, bucket):
    for content in (b"hello", b"PK\3\4" + bytes(2000), os.urandom(100_000), bytes(3 * MIB)):
        bucket.put("a.pt", content)
        with pytest.raises(Exception, match=f"gs://{bucket.name}/a.pt"):
            load(bucket("a.pt"), client=client)


@pytest.mark.parametrize("offset", [0, 100, 3 * MIB])
def test_bytes_that_are_not_those_that_were_written(client, emulator, bucket, offset):
    """In every reply, for ever: else the read is repeated."""
    save(tensors(3, 5), bucket("a.pt"), client=client)  # longer than a request
    emulator.faults({"verb": "objects.media", "action": "flip_byte", "offset": offset, "count": 0})
    for mmap in (False, True):
        with pytest.raises(dataflux.DataLossError, match="a.pt"):
            load(bucket("a.pt"), client=client, mmap=mmap)


@pytest.mark.parametrize("seed", range(12))
def test_wrong_bytes_now_and_then_never_give_wrong_tensors(client, emulator, bucket, seed):
    """The end of the file is read twice: for its directory, and into the tensors."""
    dice = random.Random(seed)
    wanted = tensors(12, dice.choice([1, 3]))
    save(wanted, bucket("a.pt"), client=client)
    emulator.faults(*({"verb": "objects.media", "action": "flip_byte", "from": number, "count": 1,
                       "offset": dice.randrange(4 * MIB)}
                      for number in range(1, 40) if dice.random() < 0.1))
    try:
        found = load(bucket("a.pt"), client=client,
                     read_ahead=dice.choice([None, None, 0, 4 * MIB]))
    except dataflux.DataLossError as loss:
        assert "a.pt" in str(loss)
    else:
        assert same(found, wanted)


def test_no_reply_can_make_tensors_wrong(client, emulator, bucket):
    wanted = tensors(3, 5)
    save(wanted, bucket("a.pt"), client=client)
    replies = media(emulator)
    assert same(load(bucket("a.pt"), client=client), wanted)
    replies = media(emulator) - replies
    for number in range(1, replies + 1):
        for offset in (200_000, 500_000, 1_000_000):
            emulator.faults({"verb": "objects.media", "action": "flip_byte", "from": number,
                             "offset": offset, "count": 1})
            try:
                assert same(load(bucket("a.pt"), client=client), wanted)
            except dataflux.DataLossError:
                pass


@pytest.mark.parametrize("offset", [150, 700])
def test_a_wrong_byte_in_the_pickle_of_a_long_file(client, emulator, bucket, offset):
    """torch's own error recommends to trust it. What comes first of the file is the pickle."""
    save(tensors(20), bucket("a.pt"), client=client)
    emulator.faults({"verb": "objects.media", "action": "flip_byte", "offset": offset, "from": 2,
                     "count": 0})
    with pytest.raises(dataflux.DataLossError, match="a.pt"):
        load(bucket("a.pt"), client=client)
    emulator.faults()
    refused = {"a": zipfile.ZipFile, **tensors(20)}
    save(refused, bucket("b.pt"), client=client)
    with pytest.raises(pickle.UnpicklingError, match="b.pt: Weights only"):
        load(bucket("b.pt"), client=client)
    save(refused, bucket("b.pt"), client=client, crc32=True)
    before = media(emulator)
    with pytest.raises(pickle.UnpicklingError, match="b.pt: Weights only"):
        load(bucket("b.pt"), client=client, read_ahead=0)
    assert media(emulator) - before <= 4  # the zip file's own checksum says that it is right


def test_requests_that_fail(client, emulator, bucket):
    wanted = tensors()
    save(wanted, bucket("a.pt"), client=client)
    for number in (1, 2, 5):
        emulator.faults({"verb": "objects.media", "action": "refuse", "status": 403, "from": number,
                         "count": 0})
        with pytest.raises(dataflux.PermissionDeniedError, match="a.pt") as refused:
            load(bucket("a.pt"), client=client)
        assert refused.value.http_status == 403
        emulator.faults({"verb": "objects.media", "action": "refuse", "status": 503, "from": number,
                         "count": 2})
        assert same(load(bucket("a.pt"), client=client), wanted)
        emulator.faults({"verb": "objects.media", "action": "cut", "where": "in_body", "from": number,
                         "count": 2})
        assert same(load(bucket("a.pt"), client=client), wanted)
    assert client._under_way == {}


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("times", [1, 3])
def test_another_one_is_written_while_it_is_loaded(client, emulator, bucket, mmap, times, monkeypatch):
    """It is loaded anew, from the one that is there now, as long as no generation was asked for."""
    first = save(tensors(), bucket("a.pt"), client=client)
    left = list(range(times))
    open_reader, download = dataflux.Client.reader, dataflux.Client.download

    def replaced(begin):
        def begun(self, *where, **how):
            made = begin(self, *where, **how)
            if left:
                left.pop()
                save({"a": torch.tensor(float(len(left)))}, bucket("a.pt"), client=client)
            return made
        return begun

    monkeypatch.setattr(dataflux.Client, "reader", replaced(open_reader))
    if mmap:  # in the midst of it
        def gone(self, *where, **how):
            if left:
                left.pop()
                save({"a": torch.tensor(float(len(left)))}, bucket("a.pt"), client=client)
                raise dataflux.Error("the object was replaced", status="aborted", retryable=True)
            return download(self, *where, **how)
        monkeypatch.setattr(dataflux.Client, "download", gone)
    assert load(bucket("a.pt"), client=client, mmap=mmap) == {"a": torch.tensor(0.0)}
    assert not left
    with pytest.raises(dataflux.NotFoundError, match="a.pt"):
        load(first, client=client, mmap=mmap)


def test_one_that_is_replaced_again_and_again_is_told(client, bucket, monkeypatch):
    save(tensors(), bucket("a.pt"), client=client)
    open_reader = dataflux.Client.reader

    def replaced(self, *where, **how):
        made = open_reader(self, *where, **how)
        save(tensors(2), bucket("a.pt"), client=client)
        return made

    monkeypatch.setattr(dataflux.Client, "reader", replaced)
    with pytest.raises(dataflux.Error, match="a.pt.*replaced") as why:
        load(bucket("a.pt"), client=client)
    assert why.value.status == "aborted" and why.value.retryable


# ---- into the tensors' memory ----------------------------------------------------------------------


@pytest.fixture
def taken(monkeypatch):
    """The names of the storages that torch has had of those read ahead; and how far ahead, at last."""
    class Names(list):
        most = 0

    names = Names()
    take = Storages.take

    def noting(self, name, size, came):
        found = take(self, name, size, came)
        if found is not None:
            names.append(name)
        names.most = self.most
        return found

    monkeypatch.setattr(Storages, "take", noting)
    return names


def test_storages_come_into_their_own_memory(client, emulator, bucket, taken):
    whole = torch.arange(3 * MIB, dtype=torch.float32)
    wanted = {"whole": whole, "part": whole[5:9], "turned": whole.view(3, MIB).t(), "few": torch.ones(3),
              "half": torch.ones(2 * MIB, dtype=torch.bfloat16), "none": torch.empty(0, 7), "flag": True,
              "index": torch.tensor([1, 2])}
    save({**wanted, "tied": wanted["half"]}, bucket("a.pt"), client=client)
    before = media(emulator)
    found = load(bucket("a.pt"), client=client)
    assert media(emulator) - before <= 8
    assert found.pop("tied").data_ptr() == found["half"].data_ptr()
    assert same({name: each for name, each in found.items() if name != "flag"},
                {name: each for name, each in wanted.items() if name != "flag"})
    assert taken == ["data/0", "data/1", "data/2"]  # the others are in the file's end, which was read before
    for name in ("whole", "half"):
        storage = found[name].untyped_storage()
        assert storage.nbytes() == wanted[name].untyped_storage().nbytes()
        assert storage.data_ptr() % 64 == 0
    assert found["part"].data_ptr() == found["whole"].data_ptr() + 5 * 4
    again = io.BytesIO()
    torch.save(found["half"], again)
    assert again.tell() < 5 * MIB
    moved = found["whole"].share_memory_()
    assert torch.equal(moved, whole)


def test_all_is_read_and_no_byte_twice(client, emulator, bucket, taken):
    """But for one storage, which is partly in the file's end."""
    wanted = tensors(24)
    content = saved(wanted)
    bucket.put("a.pt", content)
    before = emulator.counters()["replyBodyBytes"]
    assert same(load(bucket("a.pt"), client=client), wanted)
    assert emulator.counters()["replyBodyBytes"] - before <= len(content) + MIB + 100_000
    assert len(taken) == 24


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("map_location", [None, "cpu", torch.device("cpu"), {"cpu": "cpu"},
                                          lambda storage, place: storage])
def test_every_place_gets_them(client, bucket, taken, map_location, weights_only):
    wanted = tensors(70)
    save(wanted, bucket("a.pt"), client=client)
    assert same(load(bucket("a.pt"), client=client, map_location=map_location,
                     weights_only=weights_only), wanted)
    assert len(taken) == 70 and client._under_way == {}


@pytest.mark.parametrize("how, most", [
    ({}, None), ({"map_location": "cpu"}, None), ({"map_location": torch.device("cpu")}, None),
    ({"map_location": {"cpu": "cpu"}}, 64 * MIB),
    ({"map_location": lambda storage, place: None}, 64 * MIB),
    ({"map_location": "cpu", "read_ahead": 9 * MIB}, 9 * MIB), ({"read_ahead": 0}, 0)])
def test_what_stays_is_read_at_once(client, bucket, taken, how, most):
    wanted = tensors(4)
    save(wanted, bucket("a.pt"), client=client)
    assert same(load(bucket("a.pt"), client=client, **how), wanted)
    assert len(taken) == 4 and taken.most == most


@pytest.mark.parametrize("device, most", [("cuda", 64 * MIB), ("xpu", None), (None, None)])
def test_what_may_have_been_on_a_device_is_read_bit_by_bit(client, bucket, taken, monkeypatch, device,
                                                           most):
    """It was, if its place is in the pickle; this one only says so."""
    monkeypatch.setattr(torch.accelerator, "current_accelerator",
                        lambda: device and torch.device(device))
    save({**tensors(4), "place": "cuda:0"}, bucket("a.pt"), client=client)
    load(bucket("a.pt"), client=client)
    assert len(taken) == 4 and taken.most == most


def test_empty_tensors_bring_no_blocks(client, emulator, bucket, taken):
    wanted = {f"{kind}{number}": made for number in range(6)
              for kind, made in (("long", torch.rand(MIB)), ("empty", torch.empty(0, number)))}
    made = save(wanted, bucket("a.pt"), client=client)
    before = emulator.counters()["replyBodyBytes"]
    found = load(bucket("a.pt"), client=client)
    assert same(found, wanted) and found["empty3"].untyped_storage().data_ptr() == 0
    assert emulator.counters()["replyBodyBytes"] - before <= made.size + MIB + 100_000
    assert len(taken) == 11  # the last one is in the file's end


def test_a_torch_load_that_was_replaced_reads_the_file(client, bucket, taken, monkeypatch):
    wanted = tensors(9)
    save(wanted, bucket("a.pt"), client=client)
    plain = torch.load
    monkeypatch.setattr(torch, "load", lambda *args, **how: plain(*args, **how))
    assert same(load(bucket("a.pt"), client=client), wanted)
    assert taken == []


def test_what_is_not_asked_for_is_let_go_of(client, emulator, bucket):
    """torch.serialization.skip_data: no storage; a pickle that fails: none, or some."""
    wanted = tensors(90)
    save(wanted, bucket("a.pt"), client=client)
    before = emulator.counters()["replyBodyBytes"]
    with torch.serialization.skip_data():
        found = load(bucket("a.pt"), client=client)
    assert found["layer7"].shape == wanted["layer7"].shape and client._under_way == {}
    assert emulator.counters()["replyBodyBytes"] - before <= 70 * MIB
    save({**wanted, "a": zipfile.ZipFile}, bucket("b.pt"), client=client)
    with pytest.raises(pickle.UnpicklingError, match="b.pt"):
        load(bucket("b.pt"), client=client)
    assert client._under_way == {}


def test_a_record_that_is_not_where_the_file_says_is_torch_s_to_judge(client, bucket, taken):
    good = saved(tensors(3))
    begin = records_of(io.BytesIO(good))[1][1].begin
    shifted, no_record = bytearray(good), bytearray(good)
    shifted[begin + 26] += 200  # the length of its name
    no_record[begin] = 0
    bucket.put("a.pt", bytes(shifted))
    assert same(load(bucket("a.pt"), client=client), torch.load(io.BytesIO(shifted)))
    assert taken == ["data/0", "data/2"]
    bucket.put("b.pt", bytes(no_record))
    with pytest.raises(RuntimeError) as by_torch:
        torch.load(io.BytesIO(no_record))
    with pytest.raises(RuntimeError, match=f"gs://{bucket.name}/b.pt") as by_us:
        load(bucket("b.pt"), client=client)
    assert str(by_torch.value) in str(by_us.value)


# ---- how far ahead ---------------------------------------------------------------------------------


class _Ended:
    """A reading whose bytes are there at once."""

    def __init__(self, freed):
        self.wait, self.free = (lambda: None), (lambda: freed.append(self))


class _Counting:
    """What a Storages needs of a reader. begun: bytes."""

    def __init__(self):
        self.begun, self.calls, self.freed = 0, 0, []

    def begin_ranges(self, rows, into, lent):
        self.begun += sum(size for _, size in rows)
        self.calls += 1
        return _Ended(self.freed)


@pytest.fixture
def headers(monkeypatch):
    """Headers that are always good: nothing is read."""
    monkeypatch.setattr(_storages, "data_at", lambda header, record: 64)


@pytest.mark.parametrize("each, most", [(MIB, 64 * MIB), (5 * MIB, 64 * MIB), (16 << 10, 8 * MIB),
                                        (100 * MIB, 64 * MIB), (3 * MIB, 0)])
def test_no_more_is_ahead_than_may_be(headers, each, most):
    records = [Record(f"data/{number}", number * each, (number + 1) * each, each - 80)
               for number in range(60)]
    reader, came = _Counting(), []
    storages = Storages(reader, records, most, most)
    for number, record in enumerate(records):
        assert reader.begun - number * each <= max(most, MIB)
        assert storages.take(record.name, record.size, lambda *span: came.append(span)) is not None
        # At least so much is under way while torch has what it has asked for.
        ahead = reader.begun - (number + 1) * each
        assert ahead <= max(most, MIB) and (ahead >= most - 8 * MIB - each
                                            or reader.begun == 60 * each)
    assert reader.begun == 60 * each and len(reader.freed) == reader.calls
    assert came == [(record.begin, record.end) for record in records]


def test_all_is_ahead_once_torch_has_asked(headers):
    records = [Record(f"data/{number}", number * MIB, (number + 1) * MIB, MIB - 80)
               for number in range(100)]
    reader = _Counting()
    storages = Storages(reader, records, 16 * MIB, None)
    assert reader.begun == 16 * MIB
    assert storages.take("data/3", MIB, print) is None  # another size than the file has
    assert reader.begun == 16 * MIB
    assert storages.take("data/3", MIB - 80, lambda *_: None).nbytes() == MIB - 80
    assert reader.begun == 100 * MIB
    assert storages.take("data/3", MIB - 80, print) is None and storages.take("data/x", 1, print) is None
    storages.drop()
    assert len(reader.freed) == reader.calls


def test_those_that_are_asked_for_out_of_order_come(headers):
    records = [Record(f"data/{number}", number * MIB, (number + 1) * MIB, MIB - 80)
               for number in range(100)]
    reader = _Counting()
    storages = Storages(reader, records, 0, 16 * MIB)
    for record in reversed(records):
        assert storages.take(record.name, record.size, lambda *_: None) is not None
    assert reader.begun == 100 * MIB


# ---- what a file consists of -----------------------------------------------------------------------


def test_storages_are_in_torch_s_order():
    wanted = {f"t{number}": torch.full((100,), float(number)) for number in range(12)}
    for content in (in_order_of_texts(wanted), saved(wanted)):
        others, storages = records_of(io.BytesIO(content))
        assert [record.name for record in storages] == [f"data/{number}" for number in range(12)]
        for number, record in enumerate(storages):
            at = record.begin + data_at(content[record.begin:record.begin + 30], record)
            assert content[at:at + record.size] == \
                torch.full((100,), float(number)).numpy().tobytes()
        spans = others + [(record.begin, record.end) for record in storages]
        end = zipfile.ZipFile(io.BytesIO(content)).start_dir
        assert gaps(spans, end) == [] and size_of(spans) == end
    assert records_of(io.BytesIO(b"no zip file")) is None
    assert records_of(io.BytesIO()) is None


def test_records_that_are_no_storages():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name in ("a/data.pkl", "a/data/0", "a/data/01", "a/data/-1", "a/data/x", "a/b/data/2", "data/3",
                     "a/data/\u0663", "a/data/" + "9" * 30):
            made.writestr(name, b"1234")
        made.writestr("a/data/4", bytes(5000), compress_type=zipfile.ZIP_DEFLATED)
    others, storages = records_of(file)
    assert [record.name for record in storages] == ["data/0"]
    assert size_of(others) + storages[0].end - storages[0].begin == zipfile.ZipFile(file).start_dir


def test_where_a_record_s_bytes_are():
    header = b"PK\3\4" + bytes(22) + b"\5\0" + b"\7\0"
    assert data_at(header, Record("data/0", 100, 145, 3)) == 42
    assert data_at(header, Record("data/0", 100, 144, 3)) is None
    assert data_at(b"PK\1\2" + header[4:], Record("data/0", 100, 145, 3)) is None


def test_batches():
    records = [Record(f"data/{number}", begin, end, 1)
               for number, (begin, end) in enumerate([(0, 3), (3, 5), (5, 15), (15, 16)])]
    assert batches(records, 5) == [records[:2], records[2:3], records[3:]]
    assert batches(records, 1) == [[record] for record in records]
    assert batches([], 5) == []


def test_spans():
    assert merged([(0, 3), (3, 5), (5, 5), (7, 9)]) == [(0, 5), (7, 9)]
    assert gaps([(7, 9), (0, 3), (2, 5)], 10) == [(5, 7), (9, 10)]
    assert gaps([], 3) == [(0, 3)] and gaps([], 0) == []
    assert size_of([(0, 3), (5, 9)]) == 7 and size_of([]) == 0
