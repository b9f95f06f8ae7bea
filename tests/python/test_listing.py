"""Listings: what they have, which rows are chosen of them, and streams of their batches."""

import copy
import fnmatch
import gc
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import dataflux
from service import answering, wait_until

SIZES = {
    "a": 0, "a/": 0, "a/1.bin": 1, "a/2.bin": 20, "a/2.txt": 21, "a/b/": 0, "a/b/3.bin": 300,
    "a/b/c/4.bin": 4000, "b": 5, "z.bin": 6, "ä": 7, "ä/日本": 8, "日本/🎉.bin": 9, "🎉": 10,
    "\uffff": 11, "A": 12, "a b": 13, "a//x": 14, " ": 15, "<i>&amp;": 16,
}


def in_order(names):
    """By their UTF-8, as the service has them."""
    return sorted(names, key=str.encode)


@pytest.fixture
def filled(bucket):
    for name, size in SIZES.items():
        bucket.put(name, b"x" * size)
    return bucket


def marker(name):
    return name.endswith("/") and SIZES[name] == 0


@pytest.mark.parametrize("prefix, options, kept", [
    ("", {}, lambda name: True),
    ("", {"directories": True}, lambda name: True),
    ("a/", {}, lambda name: True),
    ("ä", {}, lambda name: True),
    ("日本/", {}, lambda name: True),
    ("none", {}, lambda name: True),
    ("", {"start": "a/2.txt"}, lambda name: name.encode() >= b"a/2.txt"),
    ("", {"end": "ä/"}, lambda name: name.encode() < "ä/".encode()),
    ("a", {"start": "a/", "end": "a/b"}, lambda name: "a/" <= name < "a/b"),
    ("", {"suffix": ".bin"}, lambda name: name.endswith(".bin")),
    ("", {"regex": r"[0-9]\.(bin|txt)$"}, lambda name: re.search(r"[0-9]\.(bin|txt)$", name)),
    ("", {"glob": "**.txt"}, lambda name: name.endswith(".txt")),
    ("", {"min_size": 20}, lambda name: SIZES[name] >= 20),
    ("", {"storage_classes": ["NEARLINE", "STANDARD"]}, lambda name: True),
    ("", {"storage_classes": ["NEARLINE"]}, lambda name: False),
    ("", {"max_size": 20}, lambda name: SIZES[name] <= 20),
    ("", {"min_size": 9, "max_size": 20, "suffix": ".bin"},
     lambda name: 9 <= SIZES[name] <= 20 and name.endswith(".bin")),
    ("", {"parallelism": 1, "max_calls": 50, "memory_cap": 1 << 20, "timeout": 60.0},
     lambda name: True),
])
def test_each_option_leaves_what_a_plain_loop_would(client, filled, prefix, options, kept):
    wanted = in_order(name for name in SIZES if name.startswith(prefix) and kept(name)
                      and (options.get("directories") or not marker(name)))
    listing = client.list(filled(prefix), **options)
    assert list(listing.names) == wanted
    assert [row.size for row in listing] == [SIZES[name] for name in wanted]
    assert listing.total_bytes == sum(SIZES[name] for name in wanted)
    assert [batch_row for batch in client.list_batches((filled.name, prefix), in_order=True, **options)
            for batch_row in batch] == list(listing)


def test_a_delimiter_folds_names_into_prefixes(client, filled):
    listing = client.list(filled("a"), delimiter="/")
    assert list(listing.names) == ["a", "a b"]
    assert list(listing.prefixes) == ["a/"]
    assert list(client.list(filled("a/"), delimiter="/").prefixes) == ["a//", "a/b/"]
    batches = list(client.list_batches(filled("a/"), delimiter="/"))
    assert sorted(prefix for batch in batches for prefix in batch.prefixes) == ["a//", "a/b/"]
    assert "2 prefixes" in repr(client.list(filled("a/"), delimiter="/"))


def test_a_row_says_what_the_service_does(client, filled):
    row = client.list(filled("a/b/c/"))[0]
    known = client.stat(filled("a/b/c/4.bin"))
    assert (row.bucket, row.name, row.url) == (filled.name, known.name, known.url)
    assert (row.size, row.generation) == (4000, known.generation)
    assert client.stat(row) == known
    assert row.crc32c == int.from_bytes(_crc32c(b"x" * 4000), "big")


def _crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "big")


def test_all_generations_are_listed_and_each_row_names_its_own(client, emulator, bucket):
    emulator.add_bucket(bucket.name, versioning=True)
    for content in (b"1", b"22", b"333"):
        bucket.put("x", content)
    bucket.put("y", b"4444")
    assert [row.size for row in client.list(bucket())] == [3, 4]
    rows = client.list(bucket(), versions=True)
    assert [(row.name, row.size) for row in rows] == [("x", 1), ("x", 2), ("x", 3), ("y", 4)]
    assert rows.names.count("x") == rows.count("x") == 3
    assert rows.index(rows[1]) == 1 and rows.count(rows[1]) == 1
    assert rows.index("x", 2) == 2 and rows[::-1].index("x") == 1
    assert [client.stat(row).size for row in rows] == [1, 2, 3, 4]


@pytest.mark.both_services
def test_an_empty_listing_is_one(client, bucket):
    pyarrow = pytest.importorskip("pyarrow")
    listing = client.list(bucket())
    assert len(listing) == 0 and not listing and list(listing) == [] and list(listing.names) == []
    assert listing[:] == listing == listing[5:9]
    assert "x" not in listing and listing.total_bytes == 0 and listing.count("x") == 0
    assert pyarrow.table(listing).num_rows == listing[1:].to_arrow().num_rows == 0
    assert pyarrow.table(listing).schema.names == ["name", "size", "generation", "crc32c"]
    assert {name: len(column) for name, column in listing.to_numpy().items()} == {
        "name": 0, "size": 0, "generation": 0, "crc32c": 0}
    assert "0 objects" in listing._repr_html_()
    with pytest.raises(IndexError):
        listing[0]
    assert list(client.list_batches(bucket())) == []


SLICES = [slice(None), slice(3), slice(3, None), slice(2, 11), slice(-3, None), slice(None, -3),
          slice(None, None, 2), slice(1, None, 3), slice(None, None, -1), slice(9, 2, -2),
          slice(5, 5), slice(99, None), slice(-99, 99), slice(None, None, -7), slice(0, 99, 5)]


def is_like(listing, model):
    """Whether a listing has what a list of its rows has."""
    assert len(listing) == len(model)
    assert list(listing) == model
    assert list(reversed(listing)) == model[::-1]
    assert [listing[index] for index in range(-len(model), len(model))] == model + model
    assert list(listing.names) == [row.name for row in model]
    assert [listing.names[index] for index in range(len(model))] == [row.name for row in model]
    assert listing.total_bytes == sum(row.size for row in model)
    assert [listing.index(row) for row in model] == list(range(len(model)))
    assert [listing.index(row.name) for row in model] == list(range(len(model)))
    for index in (len(model), -len(model) - 1):
        with pytest.raises(IndexError):
            listing[index]
    return True


@pytest.fixture(scope="module")
def many(_service):
    """A listing of several chunks."""
    _service.add_bucket("many-names")
    with _service.client() as client:
        for number in range(2500):
            _service.ask("POST", "/upload/storage/v1/b/many-names/o?uploadType=media&name="
                         f"{'%C3%A4' if number % 500 == 0 else 'n'}/{number:05}",
                         b"x" * (number % 11))
        return client.list("gs://many-names")


@pytest.mark.parametrize("cut", SLICES)
def test_slices_of_slices_are_those_of_a_list(client, filled, cut):
    listing = client.list(filled())
    model = list(listing)
    assert is_like(listing[cut], model[cut])
    for again in SLICES:
        assert list(listing[cut][again]) == model[cut][again]


@pytest.mark.parametrize("cut", [slice(None), slice(990, 1010), slice(None, None, 7),
                                 slice(None, None, -1), slice(2400, 100, -333), slice(5, None, 999)])
def test_slices_and_filters_cross_chunks(many, cut):
    assert library_chunks(many) > 1
    model = list(many)
    assert is_like(many[cut], model[cut])
    kept = many[cut].filter(lambda row: row.size % 3 == 0)
    assert is_like(kept, [row for row in model[cut] if row.size % 3 == 0])
    assert is_like(kept[::-1][1::2], [row for row in model[cut] if row.size % 3 == 0][::-1][1::2])


def library_chunks(listing):
    from dataflux._library import library

    return library.listing_chunks(listing._handle)


@pytest.mark.parametrize("options, kept", [
    ({}, lambda row: True),
    ({"min_size": 9}, lambda row: row.size >= 9),
    ({"max_size": 0}, lambda row: row.size == 0),
    ({"min_size": 3, "max_size": 5}, lambda row: 3 <= row.size <= 5),
    ({"prefix": "ä/"}, lambda row: row.name.startswith("ä/")),
    ({"suffix": "7"}, lambda row: row.name.endswith("7")),
    ({"glob": "n/*[13]"}, lambda row: fnmatch.fnmatchcase(row.name, "n/*[13]")),
    ({"prefix": "n/01", "suffix": "5", "min_size": 4, "glob": "*2*"},
     lambda row: row.name.startswith("n/01") and row.name.endswith("5") and row.size >= 4
     and "2" in row.name),
    ({"prefix": "none"}, lambda row: False),
    ({"prefix": "n/024"}, lambda row: row.name.startswith("n/024")),
    ({"prefix": "\U0010ffff"}, lambda row: False),
])
def test_where_keeps_what_a_plain_loop_would(many, options, kept):
    assert list(many.where(**options)) == [row for row in many if kept(row)]
    for cut in (slice(None, None, -3), slice(1000, 2450), slice(2450, None)):
        assert list(many[cut].where(**options)) == [row for row in many[cut] if kept(row)]


def test_filter_takes_masks_of_any_library(many):
    numpy, pyarrow = pytest.importorskip("numpy"), pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    import pyarrow.compute

    mask = [row.size > 5 for row in many]
    wanted = [row for row in many if row.size > 5]
    assert list(many.filter(mask)) == wanted
    assert list(many.filter(tuple(mask))) == wanted
    assert list(many.filter(numpy.array(mask))) == wanted
    assert list(many.filter(pandas.Series(mask))) == wanted
    table = pyarrow.table(many)
    assert list(many.filter(pyarrow.compute.greater(table["size"], 5))) == wanted
    assert list(many[:3].filter([False, True, True])) == list(many[1:3])


@pytest.mark.parametrize("keep, kind", [
    (3, TypeError), ("xx", TypeError), (None, TypeError), ([True], ValueError),
    (iter([True, False]), TypeError), ([0, 1], TypeError)])
def test_a_filter_that_is_none_is_told(client, bucket, keep, kind):
    bucket.put("x")
    bucket.put("y")
    with pytest.raises(kind, match="^keep: "):
        client.list(bucket()).filter(keep)


@pytest.mark.parametrize("options, argument", [
    ({"min_size": -1}, "min_size"), ({"max_size": "9"}, "max_size"), ({"prefix": 3}, "prefix"),
    ({"suffix": b"x"}, "suffix"), ({"glob": Path("x")}, "glob")])
def test_a_condition_that_is_none_is_told(many, options, argument):
    with pytest.raises((TypeError, ValueError), match=f"^{argument}: "):
        many.where(**options)


def test_a_name_or_a_row_is_found(client, filled):
    listing = client.list(filled())
    view = listing.where(suffix=".bin")
    assert "🎉" in listing and "🎉" in listing.names and "🎉" not in view
    assert "z.bin" in view and view[0] in listing and listing[-1] not in view
    for absent in ("", "zz", "\udcff", 3, None, b"b", dataflux.Row("other", "b", 5, 1, None)):
        assert absent not in listing and listing.count(absent) == 0
        with pytest.raises(ValueError, match="is not there"):
            listing.index(absent)
    anew = copy.copy(listing[3])
    anew.generation += 1
    assert anew not in listing


def test_a_listing_is_a_sequence_and_its_parts_are_values(client, filled):
    listing = client.list(filled())
    assert isinstance(listing, Sequence) and isinstance(listing.names, Sequence)
    match listing:
        case [first, *_]:
            assert first == listing[0]
    assert listing == client.list(filled()) and listing[1:] != listing[:-1]
    assert listing[1:3] == listing[1:4][:2] and listing != list(listing)
    assert listing.names[1:3] == [listing[1].name, listing[2].name]
    row = listing[2]
    assert pickle.loads(pickle.dumps(row)) == row and len({row, listing[2]}) == 1
    assert pickle.loads(pickle.dumps(listing.names)) == list(listing.names)
    assert copy.copy(listing) is listing and copy.deepcopy([listing])[0] is listing
    with pytest.raises(TypeError, match="save_manifest"):
        pickle.dumps(listing)
    with pytest.raises(TypeError):
        hash(listing)
    with pytest.raises(TypeError, match="numbers and slices"):
        listing["x"]
    assert filled.name in repr(listing) and f"{len(listing)} objects" in repr(listing)
    assert "<td>&lt;i&gt;&amp;amp;</td>" in listing._repr_html_()


def test_arrow_has_the_rows_and_outlives_client_and_listing(emulator, filled):
    pyarrow = pytest.importorskip("pyarrow")
    from dataflux import _arrow

    with emulator.client() as client:
        listing = client.list(filled())
        wanted = [(row.name, row.size, row.generation, row.crc32c) for row in listing]
        views = [(pyarrow.table(listing[cut]), wanted[cut])
                 for cut in (slice(None), slice(2, 7), slice(None, None, -3), slice(4, 4))]
        views.append((listing.where(suffix=".bin").to_arrow(),
                      [row for row in wanted if row[0].endswith(".bin")]))
        capsules = [listing.__arrow_c_stream__() for _ in range(3)]
    del listing
    gc.collect()
    del capsules
    gc.collect()
    assert not _arrow._streams
    for table, rows in views:
        table.validate(full=True)
        assert [tuple(row.values()) for row in table.to_pylist()] == rows
        assert [str(kind) for kind in table.schema.types] == ["string", "uint64", "int64", "uint32"]


def test_a_whole_listing_goes_to_arrow_without_pyarrow_and_a_view_says_what_it_needs(
        client, filled, monkeypatch):
    listing = client.list(filled())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "arrow_array_stream" in repr(listing.__arrow_c_stream__())
    with pytest.raises(ImportError, match="pyarrow, which is not installed"):
        listing[1:].__arrow_c_stream__()


def test_numpy_has_the_rows_and_the_memory_lives_as_long_as_an_array(emulator, filled, many):
    numpy = pytest.importorskip("numpy")
    with emulator.client() as client:
        listing = client.list(filled())
    model = list(listing)
    for each, rows in ((listing, model), (listing[::-2], model[::-2]), (many, list(many)),
                       (listing.where(min_size=9), [row for row in model if row.size >= 9])):
        arrays = each.to_numpy()
        assert list(arrays["name"]) == [row.name for row in rows]
        assert arrays["size"].tolist() == [row.size for row in rows]
        assert arrays["generation"].tolist() == [row.generation for row in rows]
        assert arrays["crc32c"].tolist() == [row.crc32c for row in rows]
        assert [str(arrays[name].dtype) for name in arrays] == ["object", "uint64", "int64", "uint32"]
    one = listing.to_numpy()["size"]
    assert numpy.shares_memory(one, listing.to_numpy()["size"])
    with pytest.raises(ValueError):
        one[0] = 3
    wanted = one.tolist()
    del listing, each, arrays
    gc.collect()
    assert one.tolist() == wanted
    frame = many.to_pandas()
    assert list(frame.columns) == ["name", "size", "generation", "crc32c"] and len(frame) == 2500


def listing_service(items):
    """A service that knows one page of a listing."""
    return answering(200, {"Content-Type": "application/json"}, json.dumps({"items": items}).encode())


def test_a_checksum_that_the_service_does_not_give_is_none():
    numpy, pyarrow = pytest.importorskip("numpy"), pytest.importorskip("pyarrow")
    items = [{"name": f"{number:03}", "size": str(2**40 + number), "generation": str(number + 1),
              **({"crc32c": "AAAABQ=="} if number % 3 else {})} for number in range(100)]
    with listing_service(items) as endpoint, \
            dataflux.Client(endpoint=endpoint, emulator=True) as client:
        listing = client.list("gs://any")
    wanted = [5 if number % 3 else None for number in range(100)]
    assert [row.crc32c for row in listing] == [listing[k].crc32c for k in range(100)] == wanted
    assert [row.crc32c for row in listing[50:2:-1]] == wanted[50:2:-1]
    assert pyarrow.table(listing)["crc32c"].to_pylist() == wanted
    assert listing.to_numpy()["crc32c"].tolist() == wanted
    assert isinstance(listing.to_numpy()["crc32c"], numpy.ma.MaskedArray)
    assert listing.where(suffix="9").to_numpy()["crc32c"].tolist() == wanted[9::10]
    assert listing[99].size == 2**40 + 99 and listing.total_bytes == 100 * 2**40 + 4950
    assert "None" not in listing._repr_html_()


@pytest.mark.parametrize("options, argument, kind", [
    ({"start": 3}, "start", TypeError), ({"end": b"x"}, "end", TypeError),
    ({"delimiter": "\0"}, "delimiter", ValueError), ({"glob": Path("x")}, "glob", TypeError),
    ({"suffix": "\udcff"}, "suffix", ValueError), ({"regex": re.compile("x")}, "regex", TypeError),
    ({"min_size": -1}, "min_size", ValueError), ({"max_size": 1.5}, "max_size", TypeError),
    ({"max_size": 0}, "max_size", ValueError), ({"parallelism": 2**32}, "parallelism", ValueError),
    ({"storage_classes": "STANDARD"}, "storage_classes", TypeError),
    ({"storage_classes": [1]}, r"storage_classes\[0\]", TypeError),
    ({"storage_classes": [""]}, "storage_classes", ValueError),
    ({"max_calls": True}, "max_calls", TypeError), ({"memory_cap": "1"}, "memory_cap", TypeError),
    ({"on_error": "return"}, "on_error", ValueError), ({"timeout": 0}, "timeout", ValueError),
])
def test_a_bad_argument_is_told_by_its_name_without_a_request(client, emulator, options, argument,
                                                              kind):
    before = emulator.answered()
    for verb in (client.list, client.list_batches):
        with pytest.raises(kind, match=f"^{argument}: "):
            verb("gs://bucket", **options)
    assert emulator.answered() == before


@pytest.mark.parametrize("bad, kind", [(3, TypeError), (Path("gs://b/x"), TypeError),
                                       ("b/x", ValueError), ("gs://", ValueError)])
def test_what_is_no_prefix_is_told(client, bad, kind):
    for verb in (client.list, client.list_batches):
        with pytest.raises(kind, match="^url: "):
            verb(bad)


def test_a_regex_that_is_none_and_a_bucket_that_is_not_there_fail(client):
    with pytest.raises(dataflux.InvalidArgumentError, match="regex"):
        client.list("gs://no-such-bucket", regex="(")
    with pytest.raises(dataflux.NotFoundError) as why:
        client.list("gs://no-such-bucket/x")
    assert why.value.bucket == "no-such-bucket"
    stream = client.list_batches("gs://no-such-bucket")
    for _ in range(2):
        with pytest.raises(dataflux.NotFoundError):
            next(stream)
    with pytest.raises(dataflux.InvalidArgumentError, match="regex"):
        next(client.list_batches("gs://no-such-bucket", regex="("))


def test_what_cannot_be_listed_is_left_out_where_that_was_asked_for(client, emulator, filled):
    emulator.faults({"verb": "objects.list", "count": 0, "action": "refuse", "status": 403})
    with pytest.raises(dataflux.PermissionDeniedError):
        client.list(filled())
    listing = client.list(filled(), on_error="omit")
    assert len(listing) == 0 and listing.summary["missing"] and "403" in listing.summary["cause"]
    assert "INCOMPLETE" in repr(listing)
    with client.list_batches(filled(), on_error="omit") as stream:
        assert list(stream) == [] and stream.summary["missing"]


@pytest.mark.without_tokens
def test_the_module_lists_by_its_default_client(emulator, filled):
    program = ("import dataflux, sys\n"
               "print(len(dataflux.list(sys.argv[1])),"
               "      sum(map(len, dataflux.list_batches(sys.argv[1]))))")
    said = subprocess.run([sys.executable, "-c", program, filled()], timeout=60, check=True,
                          env={**os.environ, **emulator.environment}, stdout=subprocess.PIPE).stdout
    whole = len(SIZES) - 2  # but for directories
    assert said.split() == [b"%d" % whole] * 2


def test_a_closed_client_lists_no_more_and_its_streams_end(emulator, many):
    emulator.faults({"verb": "objects.list", "from": 2, "count": 0, "action": "delay", "ms": 600_000})
    client = emulator.client()
    stream = client.list_batches("gs://many-names", parallelism=1)
    first = next(stream)
    client.close()
    with pytest.raises(dataflux.PreconditionError):
        client.list("gs://many-names")
    with pytest.raises(dataflux.PreconditionError):
        client.list_batches("gs://many-names")
    with pytest.raises(dataflux.CancelledError):
        list(stream)
    assert len(first) == len(list(first)) > 0


def test_batches_have_each_row_once_and_say_what_was_done(client, many):
    stream = client.list_batches("gs://many-names", parallelism=2)
    batches = list(stream)
    assert in_order(name for batch in batches for name in batch.names) == list(many.names)
    assert all(list(batch.names) == in_order(batch.names) for batch in batches)
    assert stream.summary["objects"] == 2500 and stream.summary["missing"] == []
    with pytest.raises(StopIteration):
        next(stream)
    stream.close()
    with pytest.raises(StopIteration):
        next(stream)
    ordered = client.list_batches("gs://many-names", in_order=True)
    assert [name for batch in ordered for name in batch.names] == list(many.names)


def test_a_closed_stream_gives_nothing_and_says_so(client, many):
    with client.list_batches("gs://many-names", parallelism=1) as stream:
        assert iter(stream) is stream
        next(stream)
        assert stream.summary["calls"] >= 1
    for _ in range(2):
        with pytest.raises(dataflux.PreconditionError, match="closed"):
            next(stream)
    stream.close()
    assert stream.summary["objects"] >= 1 and "ended" in repr(stream)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(stream)


def test_half_read_streams_leave_nothing_open(client, many):
    def half_read():
        for _ in client.list_batches("gs://many-names", parallelism=1):
            break
        next(client.list_batches("gs://many-names"))
        client.list_batches("gs://many-names")

    def descriptors():
        """All but connections, whose number is the client's own affair."""
        kinds = [os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")
                 if os.path.lexists(f"/proc/self/fd/{each}")]
        return sum(not kind.startswith("socket:") for kind in kinds)

    half_read()
    gc.collect()
    before = descriptors()
    for _ in range(30):
        half_read()
    gc.collect()
    assert wait_until(lambda: descriptors() <= before)
    assert len(client.list("gs://many-names")) == 2500


def test_threads_share_a_stream_and_none_gets_what_another_has(client, many):
    stream, seen, ended = client.list_batches("gs://many-names", parallelism=1), [], []

    def read():
        for batch in stream:
            seen.extend(batch.names)
        ended.append(True)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(ended) == 4 and in_order(seen) == list(many.names)


def test_threads_read_one_listing(client, many):
    for _ in range(5):
        listing, read = client.list("gs://many-names"), []  # nobody has looked at its chunks yet
        threads = [threading.Thread(target=lambda: read.append(list(listing) == list(many)))
                   for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert read == [True] * 6


def test_close_wakes_a_thread_that_waits_for_a_batch(client, emulator, many):
    emulator.faults({"verb": "objects.list", "count": 0, "action": "delay", "ms": 600_000})
    stream, raised = client.list_batches("gs://many-names"), []

    def read():
        try:
            next(stream)
        except dataflux.Error as why:
            raised.append(why)

    thread = threading.Thread(target=read)
    thread.start()
    wait_for_fault(emulator)
    stream.close()
    thread.join(60)
    assert [type(why) for why in raised] == [dataflux.PreconditionError] and "closed" in str(raised[0])


def wait_for_fault(emulator):
    limit = time.monotonic() + 60
    while not json.loads(emulator.ask("GET", "/_emulator/faults"))["hits"]:
        assert time.monotonic() < limit, "no request has come"


INTERRUPTED = """
import dataflux, sys, threading, time
from service import options_of
def tell_when_it_waits(waits):
    while not waits():
        time.sleep(0.01)
    print("ready", flush=True)
with dataflux.Client(**options_of(sys.argv[1])) as client:
    if sys.argv[2] == "list":
        act, waits = lambda: client.list("gs://many-names"), lambda: client._under_way
    else:
        stream = client.list_batches("gs://many-names")
        act = lambda: next(stream)
        def waits():
            if not stream._lock.acquire(False):
                return True
            stream._lock.release()
    try:
        threading.Thread(target=tell_when_it_waits, args=(waits,), daemon=True).start()
        act()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    if sys.argv[2] != "list":
        try:
            next(stream)
        except dataflux.PreconditionError as why:
            print(why, flush=True)
    print(sys.stdin.readline().strip(), len(client.list("gs://many-names")))
"""


@pytest.mark.parametrize("verb", ["list", "list_batches"])
def test_ctrl_c_ends_a_listing_and_the_client_goes_on(emulator, many, verb):
    emulator.faults({"verb": "objects.list", "count": 0, "action": "delay", "ms": 600_000})
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED, emulator.endpoint, verb], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            wait_for_fault(emulator)
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted\n"
            if verb == "list_batches":
                assert "ended by a KeyboardInterrupt" in child.stdout.readline()
            emulator.faults()
            said, _ = child.communicate("now\n", timeout=60)
            assert said == "now 2500\n" and child.returncode == 0
        finally:
            child.kill()


LEFT = """
import dataflux, sys, threading
from service import options_of
client = dataflux.Client(**options_of(sys.argv[1]))
listing = client.list("gs://many-names")
capsule, part, names = listing.__arrow_c_stream__(), listing[::2], iter(listing.names)
half = client.list_batches("gs://many-names")
next(half), next(names)
print("ready", flush=True)
sys.stdin.readline()
waits = client.list_batches("gs://many-names")
def wait():
    try:
        next(waits)
    except dataflux.Error:
        pass
threading.Thread(target=wait, daemon=True).start()
print("waits", flush=True)
sys.stdin.readline()
"""


def test_an_interpreter_ends_well_with_streams_and_views_alive(emulator, many):
    for _ in range(5):
        emulator.faults()
        with subprocess.Popen([sys.executable, "-X", "dev", "-W", "error", "-c", LEFT,
                               emulator.endpoint], text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            try:
                assert child.stdout.readline() == "ready\n", child.stderr.read()
                emulator.faults({"verb": "objects.list", "count": 0, "action": "delay",
                                 "ms": 600_000})
                child.stdin.write("go\n")
                child.stdin.flush()
                assert child.stdout.readline() == "waits\n"
                wait_for_fault(emulator)
                assert child.communicate("end\n", timeout=60) == ("", "")
                assert child.returncode == 0
            finally:
                child.kill()


def test_a_forked_child_has_the_rows_and_a_client_of_its_own(client, many):
    listing, stream = client.list("gs://many-names"), client.list_batches("gs://many-names")
    wanted = list(listing)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            assert list(listing) == wanted and listing[7:9].names[1] == wanted[8].name
            assert client.list("gs://many-names") == listing
            try:
                next(stream)
            except dataflux.PreconditionError:
                status = 0
            del stream, listing
            gc.collect()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sum(map(len, stream)) == 2500


@pytest.mark.both_services
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_a_thread_of_the_parent(client, bucket, emulator):
    emulator.faults({"verb": "objects.list", "action": "stall", "where": "before_reply", "count": 0})
    stream = client.list_batches(bucket())
    waiting = threading.Thread(target=lambda: pytest.raises(dataflux.PreconditionError, next, stream))
    waiting.start()
    # Whoever reads has the lock.
    assert wait_until(lambda: not stream._lock.acquire(False) or stream._lock.release())
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(30)
            with stream:
                for use in (lambda: next(stream), lambda: stream.summary):
                    with pytest.raises(dataflux.PreconditionError, match="after a fork"):
                        use()
            stream.close()
            status = 0
        finally:
            os._exit(status)
    try:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stream.close()
        waiting.join(30)


def test_progress_is_told_by_its_name(client, many):
    with pytest.raises(TypeError, match="^progress: "):
        client.list("gs://many-names", progress=3)
    told = []
    client.list("gs://many-names", progress=lambda **counts: told.append(counts))
    assert told[-1]["done"] == 2500 and told[-1]["unit"] == "objects"
