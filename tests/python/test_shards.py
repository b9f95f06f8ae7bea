"""Tar shards: their index, and samples by number, compared with what a plain reading by tarfile gives."""

import copy
import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import tarfile
import threading
from array import array
from functools import partial

import pytest

import dataflux
from cycles import in_cycles
from interrupts import interrupted_at
from loops import run  # noqa: F401, a fixture

SHARDS, SAMPLES = 4, 25
COUNT = SHARDS * SAMPLES


def shard(members, form=tarfile.PAX_FORMAT):
    """The bytes of a tar archive of (name, data) pairs; data None is a folder, a str a link's target."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            if data is None:
                info.type = tarfile.DIRTYPE
            elif isinstance(data, str):
                info.type, info.linkname = tarfile.SYMTYPE, data
            else:
                info.size = len(data)
            archive.addfile(info, io.BytesIO(data) if isinstance(data, bytes) else None)
    return made.getvalue()


def members_of(number):
    """Of one shard; keys are as odd as they come."""
    yield "train", None
    for i in range(SAMPLES):
        key = f"train/ä{number}_{i}" + "x" * (150 if i % 5 == 0 else 0)
        yield key + ".jpg", bytes([number]) * (i * 97)
        yield key + ".link", "elsewhere"
        yield key + ".Seg.JSON", b'{"sample": %d}' % i


def read_plainly(url, content):
    """The samples of a shard, as tarfile gives them."""
    samples = []
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            if not member.isreg():
                continue
            folder, slash, name = member.name.rpartition("/")
            key, _, field = name.partition(".")
            key = folder + slash + key
            if not samples or samples[-1]["__key__"] != key:
                samples.append({"__key__": key, "__url__": url})
            samples[-1][field.lower()] = archive.extractfile(member).read()
    return samples


def as_bytes(sample):
    return {name: value if isinstance(value, str) else bytes(value) for name, value in sample.items()}


@pytest.fixture
def filled(bucket):
    """A bucket of shards; its `expected` has all samples."""
    bucket.expected = []
    for number in range(SHARDS):
        name, content = f"s/{number}.tar", shard(members_of(number))
        bucket.put(name, content)
        bucket.expected += read_plainly(bucket(name), content)
    bucket.put("s/README", b"no shard")
    return bucket


@pytest.fixture
def index(client, filled, tmp_path):
    client.index_shards(filled("s/"), tmp_path / "index")
    return dataflux.ShardIndex.open(tmp_path / "index")


@pytest.mark.and_ais
def test_an_index_says_what_was_found(client, filled, tmp_path):
    told = []
    found = client.index_shards(filled("s/"), tmp_path / "index", progress=lambda **counts: told.append(counts))
    assert (found.shards, found.samples, found.members) == (SHARDS, COUNT, 2 * COUNT)
    assert (found.checksummed, found.symlinks, found.directories) == (SHARDS, COUNT, SHARDS)
    assert found.bytes == found.bytes_read > 0 and not found.damaged
    assert found == pickle.loads(pickle.dumps(found))
    assert told[-1]["done"] == told[-1]["total"] == SHARDS and told[-1]["unit"] == "objects"
    index = dataflux.ShardIndex.open(str(tmp_path / "index"))
    assert len(index) == COUNT and index and index.bucket == filled.name
    assert index.path == str(tmp_path / "index")
    assert index.summary["samples"] == COUNT and index.summary["taken"].startswith("20")
    assert dict(index.summary["options"])["damaged"] == "error"
    assert f"{COUNT} samples in {SHARDS} shards" in repr(index)
    listing = client.list(filled("s/"), suffix=".tar")
    assert client.index_shards(listing, os.fsencode(tmp_path / "other")) == found
    other = dataflux.ShardIndex.open(tmp_path / "other")
    assert [known.generation for known in other.shards] == [row.generation for row in listing]


def names_of(index):
    return [known.name for known in index.shards]


@pytest.mark.and_ais
def test_shards_by_names_braces_and_patterns(client, filled, tmp_path):
    filled.put("s/deep/9.tar", shard([("x.txt", b"1")]))
    filled.put("t[1].tar", shard([("y.txt", b"1")]))

    def indexed(shards):
        client.index_shards(shards, tmp_path / "index")
        return names_of(dataflux.ShardIndex.open(tmp_path / "index"))

    assert indexed(filled("s/{0..2}.tar")) == ["s/0.tar", "s/1.tar", "s/2.tar"]
    assert indexed(filled("s/{2..0..2}.tar")) == ["s/2.tar", "s/0.tar"]
    assert indexed(filled("s/[!1].tar")) == ["s/0.tar", "s/2.tar", "s/3.tar"]
    assert indexed(filled("s/*.tar")) == [f"s/{i}.tar" for i in range(SHARDS)]
    assert indexed(filled("s/**.tar"))[-1] == "s/deep/9.tar"
    assert indexed(filled("{s/deep,s}/?.tar")) == ["s/deep/9.tar"] + [f"s/{i}.tar" for i in range(SHARDS)]
    assert indexed([filled("s/3.tar"), filled("s/{0,1}.tar"), filled("**/9.tar")]) == [
        "s/3.tar", "s/0.tar", "s/1.tar", "s/deep/9.tar"]
    assert indexed(filled("t[[]1].tar")) == ["t[1].tar"]
    listing = client.list(filled("s/"))
    assert indexed(listing.where(suffix=".tar", glob="s/?.tar")) == [f"s/{i}.tar" for i in range(SHARDS)]
    assert indexed(listing[:2]) == ["s/0.tar", "s/1.tar"]
    assert indexed(listing[:0]) == []
    before = len(names_of(dataflux.ShardIndex.open(tmp_path / "index")))
    for missing, told in ((filled("s/{0..5}.tar"), "s/4.tar is not there, nor are 1 others"),
                          (filled("s/x*.tar"), f"matches {filled()}/s/x"), ([filled("s/README2")], "README2 is not")):
        with pytest.raises(dataflux.NotFoundError, match=told):
            client.index_shards(missing, tmp_path / "index")
    for wrong, told in ((filled("s/{0,1,0}.tar"), "given twice"), ([filled("s/0.tar"), filled("s/*.tar")], "meant twice"),
                        ([filled("1.tar"), filled("1.tar").replace(filled.name, "other")], "one bucket"), ([], "empty list"),
                        (filled("s/{0..1.tar"), "without a partner"), (filled("s/[a.tar"), "without its"),
                        (filled("s/{0..99999999}.tar"), "more than"), (filled("s/[z-a].tar"), "no pattern")):
        with pytest.raises(ValueError, match=f"^shards: .*{told}"):
            client.index_shards(wrong, tmp_path / "index")
    assert len(names_of(dataflux.ShardIndex.open(tmp_path / "index"))) == before


@pytest.mark.parametrize("text, expected", [
    ("a{0..3}", "a0 a1 a2 a3"), ("{08..11}", "08 09 10 11"), ("{0..10..5}", "0 5 10"), ("{2..0}", "2 1 0"),
    ("{a..e..2}", "a c e"), ("{x,y}{0,1}", "x0 x1 y0 y1"), ("{a,{b,c}d}", "a bd cd"), ("{}{b}", "{}{b}"),
    (r"\{a\}{1,2\,3}", "{a}1 {a}2,3"), ("{,x}y", "y xy"), ("{-2..0}", "-2 -1 0"), ("plain", "plain")])
def test_braces(text, expected):
    """As the package braceexpand has them."""
    from dataflux._braces import braces

    assert braces(text) == expected.split(" ")


@pytest.mark.and_ais
def test_an_index_has_its_shards_and_where_samples_lie(client, filled, index):
    assert len(index.shards) == SHARDS
    known = index.shards[2]
    assert (known.name, known.first_sample, known.samples) == ("s/2.tar", 2 * SAMPLES, SAMPLES)
    assert known.checksummed and known.symlinks == SAMPLES and known.repeated == 0
    assert index.shards[-1] == index.shards[3] and index.shards[1:3] == [index.shards[1], known]
    assert [each.name for each in index.shards] == [f"s/{i}.tar" for i in range(SHARDS)]
    assert client.get(known) == filled.get("s/2.tar")
    for number in (0, 31, COUNT - 1, -1):
        place = index.sample(number)
        content, expected = filled.get(f"s/{place.shard}.tar"), filled.expected[number]
        assert list(place.fields) == ["jpg", "seg.json"]
        for field, (offset, size) in place.fields.items():
            assert content[offset:offset + size] == expected[field]
        assert place.offset % 512 == place.size % 512 == 0 and place.crc32c is not None
    for bad in (COUNT, -COUNT - 1):
        with pytest.raises(IndexError, match=f"^sample {bad} of {COUNT}"):
            index.sample(bad)
    with pytest.raises(TypeError, match="^number: "):
        index.sample("1")
    with pytest.raises(IndexError, match="^shard 4 of 4"):
        index.shards[4]


@pytest.mark.and_ais
@pytest.mark.both_services
def test_samples_are_found_by_key(client, bucket, index, filled, tmp_path):
    for number in (0, 1, COUNT - 1):
        assert index.find(filled.expected[number]["__key__"]) == [number]
    assert index.find("none") == []
    with pytest.raises(TypeError, match="^key: "):
        index.find(b"a")
    for i in range(3):
        bucket.put(f"same/{i}.tar", shard([("a.x", b"1"), ("b.x", b"2")]))
    client.index_shards(bucket("same/"), tmp_path / "same")
    assert dataflux.ShardIndex.open(tmp_path / "same").find("b") == [1, 3, 5]


@pytest.mark.and_ais
@pytest.mark.both_services
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_samples_are_those_that_tarfile_reads(client, bucket, tmp_path, form):
    members = [(f"d/{i}.{field}", os.urandom(i)) for i in range(40) for field in ("a", "b.c", "cls")]
    if form != tarfile.USTAR_FORMAT:
        members += [("n" * 300 + ".long", b"x")]
    content = shard(members, form)
    bucket.put("a.tar", content)
    client.index_shards(bucket(), tmp_path / "index")
    index = dataflux.ShardIndex.open(tmp_path / "index")
    samples = [as_bytes(sample) for sample in client.get_samples(index, range(len(index)))]
    assert samples == read_plainly(bucket("a.tar"), content)


@pytest.mark.and_ais
@pytest.mark.parametrize("numbers", ["array", "list", "range", "iterator", "sampler", "numpy"])
def test_samples_come_in_the_order_of_their_numbers(client, filled, index, numbers):
    order = list(dataflux.Sampler(COUNT, seed=7))
    given = {"array": array("Q", order), "list": order, "range": range(COUNT - 1, -1, -1),
             "iterator": iter(order), "sampler": dataflux.Sampler(COUNT, seed=7), "numpy": order}[numbers]
    if numbers == "numpy":
        given = pytest.importorskip("numpy").array(order)
    wanted = list(range(COUNT - 1, -1, -1)) if numbers == "range" else order
    told = []
    with client.get_samples(index, given, progress=lambda **counts: told.append(counts)) as samples:
        assert [as_bytes(sample) for sample in samples] == [filled.expected[i] for i in wanted]
        assert "GetSamples" in repr(samples) and samples.omitted == 0
        assert next(samples, None) is None
    assert told[-1]["done"] == COUNT
    assert told[-1]["total"] == (None if numbers == "iterator" else COUNT)


@pytest.mark.and_ais
def test_samples_are_views_that_keep_their_memory(client, filled, index):
    order = [3, 3, 77, 0]
    samples = list(client.get_samples(index, order))
    gc.collect()
    for number, sample in zip(order, samples):
        assert isinstance(sample["jpg"], memoryview) and isinstance(sample["__key__"], str)
        assert as_bytes(sample) == filled.expected[number]
    kept = samples[2]["seg.json"]
    del samples, sample
    gc.collect()
    assert bytes(kept) == filled.expected[77]["seg.json"]


@pytest.mark.and_ais
@pytest.mark.both_services
def test_names_that_are_no_utf_8(client, bucket, tmp_path):
    content = shard([("caf\udce9.jpg", b"1")], tarfile.GNU_FORMAT)
    bucket.put("a.tar", content)
    client.index_shards(bucket(), tmp_path / "index")
    index = dataflux.ShardIndex.open(tmp_path / "index")
    assert [sample["__key__"] for sample in client.get_samples(index, [0])] == ["caf\udce9"]
    assert index.find("caf\udce9") == [0]


@pytest.mark.and_ais
@pytest.mark.both_services
def test_a_sample_of_many_fields(client, bucket, tmp_path):
    members = [("k" * 90 + f".{i:03}", b"%d" % i) for i in range(200)]
    bucket.put("a.tar", shard(members))
    client.index_shards(bucket(), tmp_path / "index")
    index = dataflux.ShardIndex.open(tmp_path / "index")
    [sample] = client.get_samples(index, [0])
    assert as_bytes(sample) == read_plainly(bucket("a.tar"), shard(members))[0]
    assert len(index.sample(0).fields) == 200


@pytest.mark.and_ais
@pytest.mark.both_services
def test_rules(client, bucket, tmp_path):
    path = tmp_path / "index"
    plain = shard([("./a.JPG", b"1"), ("./a.jpg", b"2")])
    bucket.put("a.tar", plain)
    with pytest.raises(dataflux.InvalidArgumentError, match="two members"):
        client.index_shards(bucket(), path)
    assert client.index_shards(bucket(), path, repeated="keep_first").repeated == 1
    client.index_shards(bucket(), path, keep_case=True, strip_dot_slash=True)
    [sample] = client.get_samples(dataflux.ShardIndex.open(path), [0])
    assert as_bytes(sample) == {"__key__": "a", "__url__": bucket("a.tar"), "JPG": b"1", "jpg": b"2"}
    one = shard([("a.x", b"1"), ("b.x", b"2")])
    bucket.put("a.tar", one + shard([("c.x", b"3")]))
    with pytest.raises(dataflux.PreconditionError, match="archive"):
        client.index_shards(bucket(), path)
    found = client.index_shards(bucket(), path, concatenated="read")
    assert (found.samples, found.concatenated) == (3, 1)
    bucket.put("a.tar", one + b"x" * 512)
    with pytest.raises(dataflux.PreconditionError, match="trailing"):
        client.index_shards(bucket(), path)
    assert client.index_shards(bucket(), path, trailing="ignore").trailing == 1
    bucket.put("a.tar", one[:1024] + b"X" + one[1025:])
    with pytest.raises(dataflux.DataLossError) as why:
        client.index_shards(bucket(), path)
    assert (why.value.bucket, why.value.object) == (bucket.name, "a.tar")
    found = client.index_shards(bucket(), path, damaged="end", skip_from=100, parallelism=1)
    assert (found.samples, found.damaged) == (1, 1)


@pytest.mark.parametrize("bad, kind", [
    ({"concatenated": "ignore"}, ValueError), ({"trailing": "read"}, ValueError),
    ({"damaged": 1}, TypeError), ({"keep_case": 1}, TypeError), ({"strip_dot_slash": "no"}, TypeError),
    ({"repeated": "error "}, ValueError), ({"skip_from": -1}, ValueError), ({"parallelism": 2**32}, ValueError),
    ({"timeout": 0}, ValueError)])
def test_bad_rules_are_told(client, filled, tmp_path, bad, kind):
    with pytest.raises(kind, match=f"^{next(iter(bad))}: "):
        client.index_shards(filled("s/"), tmp_path / "index", **bad)


def test_bad_arguments_are_told(client, filled, index, tmp_path):
    for bad, kind in ((3, TypeError), ("nothing", ValueError)):
        with pytest.raises(kind, match="^shards: "):
            client.index_shards(bad, tmp_path / "index")
    listing = client.list(filled("s/"))
    for bad, kind in ((3, TypeError), ("", ValueError), ("gs://a/b", ValueError)):
        with pytest.raises(kind, match="^path: "):
            client.index_shards(listing, bad)
        with pytest.raises(kind, match="^path: "):
            dataflux.ShardIndex.open(bad)
    with pytest.raises(TypeError, match="^progress: "):
        client.index_shards(filled("s/"), tmp_path / "index", progress=3)
    with pytest.raises(dataflux.NotFoundError, match="ends in .tar"):
        client.index_shards(filled("none/"), tmp_path / "index")
    with pytest.raises(TypeError, match="^index: a ShardIndex"):
        client.get_samples(index.path, [0])
    for bad, kind in ((3, TypeError), ("12", TypeError), ([-1], ValueError), (["1"], TypeError),
                      ([COUNT], IndexError)):
        with pytest.raises(kind, match="^numbers: "):
            client.get_samples(index, bad)
    with pytest.raises(IndexError, match=f"^numbers: sample {COUNT} of {COUNT}"):
        list(client.get_samples(index, iter([1, COUNT])))
    with pytest.raises(ValueError, match="^order: "):
        client.get_samples(index, [0], order="any")
    assert list(client.get_samples(index, [])) == list(client.get_samples(index, iter(()))) == []


def test_files_that_are_no_index_or_damaged(client, filled, index, tmp_path):
    with pytest.raises(FileNotFoundError):
        dataflux.ShardIndex.open(tmp_path / "none")
    (tmp_path / "other").write_bytes(b"no index" * 1000)
    with pytest.raises(dataflux.InvalidArgumentError):
        dataflux.ShardIndex.open(tmp_path / "other")
    whole = (tmp_path / "index").read_bytes()
    (tmp_path / "cut").write_bytes(whole[:-8])
    with pytest.raises(dataflux.DataLossError):
        dataflux.ShardIndex.open(tmp_path / "cut")
    (tmp_path / "bad").write_bytes(whole.replace(b"s/2.tar", b"s/X.tar"))
    bad = dataflux.ShardIndex.open(tmp_path / "bad")
    for use in (lambda: bad.sample(0), lambda: bad.shards[0], lambda: bad.find("a"),
                lambda: list(client.get_samples(bad, [0]))):
        with pytest.raises(dataflux.DataLossError):
            use()


@pytest.mark.and_ais
def test_a_shard_that_was_written_anew(client, filled, index):
    filled.put("s/1.tar", shard(members_of(9)))
    wanted = [0, SAMPLES, 2 * SAMPLES, SAMPLES + 1]
    samples = client.get_samples(index, wanted)
    for _ in range(2):
        with pytest.raises(dataflux.NotFoundError) as why:
            list(samples)
        assert why.value.object == "s/1.tar"
    samples.close()
    assert list(samples) == []
    with client.get_samples(index, wanted, on_error="omit") as samples:
        assert [as_bytes(sample) for sample in samples] == [filled.expected[i] for i in (0, 2 * SAMPLES)]
        assert samples.omitted == 2
    good, bad, *_ = client.get_samples(index, wanted, on_error="return")
    assert as_bytes(good) == filled.expected[0]
    assert isinstance(bad.pop("__error__"), dataflux.NotFoundError)
    assert bad == {"__url__": filled("s/1.tar"), "__index__": SAMPLES}


@pytest.mark.and_ais
@pytest.mark.parametrize("on_error", ["raise", "return", "omit"])
def test_bytes_of_another_sample_are_not_given(client, filled, index, on_error, monkeypatch):
    from dataflux import _shards

    split = _shards.Splitter.split
    monkeypatch.setattr(_shards.Splitter, "split", lambda self, number, data, sample: split(
        self, number + (number == 2), data, sample))
    samples = client.get_samples(index, range(5), on_error=on_error)
    if on_error == "raise":
        assert [as_bytes(next(samples)) for _ in range(2)] == filled.expected[:2]
        for _ in range(2):
            with pytest.raises(dataflux.DataLossError, match="sample 3: "):
                next(samples)
        return
    found = list(samples)
    if on_error == "return":
        failed = found.pop(2)
        assert isinstance(failed["__error__"], dataflux.DataLossError) and failed["__index__"] == 2
    assert [as_bytes(sample) for sample in found] == filled.expected[:2] + filled.expected[3:5]
    assert samples.omitted == (1 if on_error == "omit" else 0)


@pytest.mark.and_ais
@pytest.mark.parametrize("field", ["__error__", "__Error__"])
def test_no_field_of_an_archive_passes_for_an_error(client, bucket, tmp_path, field):
    bucket.put("e/0.tar", shard([("a.txt", b"1"), ("b.txt", b"2"), (f"b.{field}", b"3"), ("c.__index__", b"4")]))
    client.index_shards(bucket("e/"), tmp_path / "e.dfx")
    index = dataflux.ShardIndex.open(tmp_path / "e.dfx")
    first, bad, last = client.get_samples(index, range(3), on_error="return")
    assert as_bytes(first) == {"__key__": "a", "__url__": bucket("e/0.tar"), "txt": b"1"}
    assert as_bytes(last) == {"__key__": "c", "__url__": bucket("e/0.tar"), "__index__": b"4"}
    error = bad.pop("__error__")
    assert isinstance(error, dataflux.InvalidArgumentError) and error.object == "e/0.tar"
    assert bad == {"__url__": bucket("e/0.tar"), "__index__": 1}
    with pytest.raises(dataflux.InvalidArgumentError, match=r"e/0.tar: the sample 'b' has the field '__error__'.*rename"):
        list(client.get_samples(index, range(3)))
    samples = client.get_samples(index, range(3), on_error="omit")
    assert [sample["__key__"] for sample in samples] == ["a", "c"] and samples.omitted == 1
    offset, size = index.sample(1).fields["__error__"]
    assert client.get(bucket("e/0.tar"), offset=offset, length=size) == b"3"


def test_a_failure_makes_no_cycle(client, filled, index):
    filled.put("s/1.tar", shard(members_of(9)))
    gc.collect()
    gc.disable()
    try:
        for on_error in ("raise", "return"):
            try:
                list(client.get_samples(index, [SAMPLES], on_error=on_error))
            except dataflux.NotFoundError:
                pass
        assert in_cycles() == 0
    finally:
        gc.enable()


@pytest.mark.and_ais
def test_threads_share_samples(client, filled, index):
    found, failed = [], []
    samples = client.get_samples(index, iter([number for _ in range(20) for number in range(COUNT)]))

    def take():
        try:
            for sample in samples:
                found.append(as_bytes(sample))
        except BaseException as why:
            failed.append(why)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and len(found) == 20 * COUNT

    def key(sample):
        return sample["__key__"]

    assert sorted(found, key=key) == sorted(20 * filled.expected, key=key)


@pytest.mark.and_ais
def test_a_pickle_has_the_path(client, filled, index, tmp_path, monkeypatch):
    other = pickle.loads(pickle.dumps(index))
    assert other == index and hash(other) == hash(index) and other.sample(3) == index.sample(3)
    assert copy.copy(index) is copy.deepcopy(index) is index
    monkeypatch.chdir(tmp_path)
    relative = dataflux.ShardIndex.open("index")
    monkeypatch.chdir("/")
    pickled = pickle.dumps(relative)
    assert pickle.loads(pickled) == index
    client.index_shards(client.list(filled("s/0")), tmp_path / "index")
    with pytest.raises(dataflux.PreconditionError, match="made again"):
        pickle.loads(pickled)
    assert len(index) == COUNT and index.sample(COUNT - 1)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(client.get_samples(index, [0]))


@pytest.mark.without_tokens
def test_another_process_reads_samples(client, emulator, index):
    program = ("import dataflux, sys\n"
               "index = dataflux.ShardIndex.open(sys.argv[1])\n"
               "print(*(ascii(sample['__key__']) for sample in dataflux.get_samples(index, [30, 2])))")
    said = subprocess.run([sys.executable, "-c", program, index.path], timeout=60, check=True,
                          env={**os.environ, **emulator.environment}, stdout=subprocess.PIPE,
                          text=True).stdout
    assert said.split() == [ascii(sample["__key__"]) for sample in client.get_samples(index, [30, 2])]


@pytest.mark.and_ais
def test_a_forked_child_uses_it(client, filled, index):
    samples = client.get_samples(index, range(COUNT))
    [first] = client.get_samples(index, [0])
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(60)
            try:
                list(samples)
            except dataflux.PreconditionError as why:
                assert "get_samples" in str(why)
                found = [as_bytes(sample) for sample in client.get_samples(index, [COUNT - 1, 0])]
                assert found == [filled.expected[COUNT - 1], filled.expected[0]] and len(index.shards) == SHARDS
                assert as_bytes(first) == filled.expected[0]
                status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [as_bytes(sample) for sample in samples] == filled.expected


def test_interrupts_lose_nothing(client, filled, index):
    def use():
        with client.get_samples(index, iter([2, 1, 40])) as samples:
            assert [as_bytes(sample) for sample in samples] == [filled.expected[i] for i in (2, 1, 40)]

    use()
    number = 1
    while interrupted_at(number, use, ("_shards.py", "_get_many.py", "_listing.py")):
        number += 23
    assert number > 500
    use()
    gc.collect()
    assert client.metrics()["memory"]["borrowed"] == 0


@pytest.fixture
def opened(emulator):
    """Opens an AsyncClient."""
    return partial(dataflux.AsyncClient, **emulator.options)


@pytest.mark.and_ais
def test_tasks_read_samples(run, opened, filled, tmp_path):
    async def main():
        async with opened() as client:
            told = []
            found = await client.index_shards(filled("s/"), tmp_path / "index",
                                              progress=lambda **counts: told.append(counts))
            assert found.samples == COUNT and told[-1]["done"] == SHARDS
            listing = await client.list(filled("s/"), suffix=".tar")
            assert await client.index_shards(listing, tmp_path / "index") == found
            index = dataflux.ShardIndex.open(tmp_path / "index")
            order = list(dataflux.Sampler(COUNT, seed=7))
            async with client.get_samples(index, iter(order)) as samples:
                taken = [as_bytes(sample) async for sample in samples]
                assert taken == [filled.expected[i] for i in order]
                assert "GetSamples" in repr(samples) and samples.omitted == 0
            early = client.get_samples(index, range(COUNT))
            assert as_bytes(await early.__anext__()) == filled.expected[0]
            await early.aclose()
            assert [sample async for sample in early] == []
            filled.put("s/1.tar", b"other")
            samples = client.get_samples(index, [0, SAMPLES])
            assert as_bytes(await samples.__anext__()) == filled.expected[0]
            for _ in range(2):
                with pytest.raises(dataflux.NotFoundError):
                    await samples.__anext__()
            with pytest.raises(TypeError, match="pickled"):
                pickle.dumps(samples)
            with pytest.raises(dataflux.NotFoundError):
                await client.index_shards(filled("none/"), tmp_path / "index")
            assert client._under_way == {}

    run(main)
