"""dataflux.torch.load: whatever torch.save has written, by whatever way it came."""

import io
import os
import pickle
import zipfile

import pytest
import torch

import dataflux
from dataflux.torch import load, save
from dataflux.torch._records import gaps, merged, pieces, spans_of

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
    with pytest.raises(RuntimeError, match=f"gs://{bucket.name}/b.pt.*mmap can only be used"):
        load(bucket("b.pt"), client=client, mmap=True)
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
    save(tensors(8), bucket("a.pt"), client=client)
    emulator.faults({"verb": "objects.media", "action": "flip_byte", "offset": offset, "count": 0})
    for mmap in (False, True):
        with pytest.raises(dataflux.DataLossError, match="a.pt"):
            load(bucket("a.pt"), client=client, mmap=mmap)


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


def test_another_one_is_written_while_it_is_loaded(client, bucket):
    wanted = tensors()
    save(wanted, bucket("a.pt"), client=client)
    written = []

    def place(storage, location):
        if not written:
            written.append(save({"a": 1}, bucket("a.pt"), client=client))

    try:
        assert same(load(bucket("a.pt"), client=client, map_location=place), wanted)
    except dataflux.Error as gone:
        assert "a.pt" in str(gone)
    assert load(bucket("a.pt"), client=client) == {"a": 1}


# ---- in which order ----------------------------------------------------------------------------


def test_the_spans_of_a_file_are_in_torch_s_order():
    wanted = {f"t{number}": torch.full((100,), float(number)) for number in range(12)}
    content = in_order_of_texts(wanted)
    spans = spans_of(io.BytesIO(content), len(content))
    assert len(spans) == 3  # to 1, 2 to 9, 10 and 11
    order = [number for begin, end in spans for number in range(12)
             if begin <= content.index(torch.full((100,), float(number)).numpy().tobytes()) < end]
    assert order == list(range(12))
    content = saved(wanted)
    (begin, end), = spans_of(io.BytesIO(content), len(content))
    assert begin == 0 and content.rindex(torch.full((100,), 11.0).numpy().tobytes()) < end
    assert spans_of(io.BytesIO(b"no zip file"), 11) == [(0, 11)]


def test_spans():
    assert merged([(0, 3), (3, 5), (5, 5), (7, 9)]) == [(0, 5), (7, 9)]
    assert gaps([(7, 9), (0, 3), (2, 5)], 10) == [(5, 7), (9, 10)]
    assert gaps([], 3) == [(0, 3)] and gaps([], 0) == []
    assert list(pieces([(0, 5), (8, 9)], 2)) == [(0, 2), (2, 4), (4, 5), (8, 9)]
