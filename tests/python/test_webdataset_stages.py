"""Stages of dataflux.webdataset's pipelines, decoders and mixes."""

import gzip
import io
import pickle
import random
import sys

import pytest

import dataflux.webdataset as wds
from dataflux.webdataset import tenbin


def pipeline(samples, *stages):
    return list(wds.DataPipeline(tuple(samples), *stages))


def samples(count=5):
    return [{"__key__": str(n), "txt": f"t{n}", "cls": n} for n in range(count)]


# Samples.

def test_rename_of_every_name():
    sample = {"__key__": "k", "jpg": b"1", "json": b"2", "txt": b"3", "cls": b"4"}
    [made] = pipeline([sample], wds.rename(image="jpg;png", data="json", handler="txt", keep="cls"))
    assert made == {"__key__": "k", "image": b"1", "data": b"2", "handler": b"3", "keep": b"4"}
    [made] = wds.FluidWrapper([sample]).rename(data="json", keep=["png", "cls"], handler="txt")
    assert made == {"__key__": "k", "jpg": b"1", "data": b"2", "handler": b"3", "keep": b"4"}
    assert pipeline([sample], wds.rename(data="json", keep=False)) == [{"data": b"2"}]
    with pytest.raises(ValueError, match="none of the fields .'png'"):
        pipeline([sample], wds.rename(image="png"))
    assert pipeline([sample], wds.rename(image="png", handler=wds.ignore_and_continue)) == []


def test_to_tuple():
    assert pipeline(samples(2), wds.to_tuple("txt cls")) == [("t0", 0), ("t1", 1)]
    assert pipeline(samples(1), wds.to_tuple("jpg;txt", ["png", "cls"])) == [("t0", 0)]
    with pytest.raises(ValueError, match="none of the fields"):
        pipeline(samples(1), wds.to_tuple("jpg"))
    assert pipeline(samples(1), wds.to_tuple("jpg", missing_is_error=False)) == [(None,)]
    with pytest.raises(ValueError, match="None"):
        pipeline([{"a": None}], wds.to_tuple("a"))
    with pytest.raises(ValueError, match="';'"):
        pipeline(samples(1), wds.to_tuple("jpg txt", "cls"))


def test_map_keeps_the_key_and_drops_none():
    found = pipeline(samples(4), wds.map(lambda sample: {"n": sample["cls"]} if sample["cls"] % 2 else None))
    assert found == [{"n": 1, "__key__": "1"}, {"n": 3, "__key__": "3"}]


def test_map_dict_and_map_tuple():
    assert pipeline(samples(2), wds.map_dict(cls=float, txt=str.upper), wds.to_tuple("cls", "txt"),
                    wds.map_tuple(None, len)) == [(0.0, 2), (1.0, 2)]
    for wrong in (lambda: wds.map_dict(), lambda: wds.map_dict(cls=3), lambda: wds.map_tuple(3)):
        with pytest.raises((TypeError, ValueError)):
            wrong()


def test_failures_go_to_the_handler():
    def failing(sample):
        return 1 // (sample["cls"] % 2)

    with pytest.raises(ZeroDivisionError):
        pipeline(samples(), wds.map(failing))
    assert pipeline(samples(), wds.map(failing, handler=wds.ignore_and_continue)) == [1, 1]
    assert pipeline(samples(), wds.select(lambda s: s["cls"]), wds.map(failing, handler=wds.ignore_and_stop)) == [1]
    with pytest.warns(UserWarning, match="ZeroDivisionError"):
        assert pipeline(samples(), wds.map(failing, handler=wds.warn_and_stop)) == []


def test_batches():
    numpy = pytest.importorskip("numpy")
    ours = wds.FluidWrapper(samples(5)).to_tuple("cls", "txt")
    first, second = ours.batched(3)
    assert isinstance(first, tuple) and isinstance(first[0], numpy.ndarray)
    assert (first[0].tolist(), first[1], second[1]) == ([0, 1, 2], ["t0", "t1", "t2"], ["t3", "t4"])
    assert len(list(ours.batched(3, partial=False))) == 1
    assert list(ours.batched(3).unbatched()) == list(ours)
    assert [len(each) for each in ours.listed(2)] == [2, 2, 1] and list(ours.listed(2).unlisted()) == list(ours)
    of_dicts = list(wds.FluidWrapper(samples(4)).batched(2))
    assert of_dicts[1]["txt"] == ["t2", "t3"] and list(of_dicts[1]) == ["__key__", "txt", "cls"]
    assert list(wds.FluidWrapper(samples(4)).batched(2).unbatched()) == samples(4)
    arrays = [(numpy.full((2, 2), n),) for n in range(3)]
    [(made,)] = pipeline(arrays, wds.batched(5))
    assert made.shape == (3, 2, 2)
    with pytest.raises(ValueError, match="shapes differ"):
        pipeline([(numpy.zeros(2),), (numpy.zeros(3),)], wds.batched(2))
    with pytest.raises(ValueError, match="different fields"):
        pipeline([{"a": "1"}, {"b": "1"}], wds.batched(2))
    for wrong in ([3], [{"a": [1], "b": [1, 2]}]):
        with pytest.raises(ValueError, match="unbatched"):
            pipeline(wrong, wds.unbatched())


def test_a_batch_is_given_before_the_next_sample_is_asked_for():
    asked = []

    def source():
        for sample in samples(4):
            asked.append(sample["cls"])
            yield (sample["txt"],)

    passing = iter(wds.DataPipeline(source, wds.batched(2)))
    assert next(passing) == (["t0", "t1"],) and asked == [0, 1]


def test_shuffle_is_a_permutation_that_a_seed_repeats():
    whole = list(range(300))
    stage = wds.shuffle(50, initial=20, seed=3)
    first, again = pipeline(whole, stage), pipeline(whole, stage)
    assert first == again != whole and sorted(first) == whole
    assert first[:5] == pipeline(whole, wds.shuffle(50, initial=20, rng=random.Random(3)))[:5]
    assert sorted(pipeline(whole, wds.shuffle(50))) == whole
    assert max(first[:10]) < 50
    assert list(wds.FluidWrapper(whole).shuffle(0)) == whole
    stage = wds.detshuffle(50, seed=3)
    passes = [pipeline(whole, stage) for _ in range(2)]
    assert passes[0] != passes[1] == pipeline(whole, wds.detshuffle(50, seed=3, epoch=0))
    with pytest.raises(ValueError, match="rng, seed"):
        wds.shuffle(rng=random.Random(), seed=3)


def test_epochs_and_lengths():
    ours = wds.DataPipeline((1, 2, 3))
    with pytest.raises(TypeError, match="with_length"):
        len(ours)
    assert bool(ours)
    with pytest.warns(UserWarning, match="with_epoch"):
        assert len(ours.with_length(7)) == 7 and list(ours) == [1, 2, 3]
    assert list(wds.DataPipeline((1, 2, 3)).with_epoch(7)) == [1, 2, 3, 1, 2, 3, 1]
    assert list(wds.DataPipeline((1, 2)).repeat(2)) == [1, 2, 1, 2]
    assert list(wds.DataPipeline((1, 2)).repeat(nbatches=3)) == [1, 2, 1]
    assert list(wds.DataPipeline(()).with_epoch(7)) == []


def test_a_pipeline_is_put_together():
    def doubled(numbers):
        return (2 * number for number in numbers)

    class More(wds.PipelineStage):
        def run(self, src):
            return (number + 1 for number in src)

    ours = wds.DataPipeline((1, 2), None, [doubled, More()])
    assert list(ours) == [3, 5] and ours.stage(1) is doubled
    longer = ours.compose(doubled)
    assert list(longer) == [6, 10] and len(ours.pipeline) == 3
    assert list(wds.DataPipeline(ours, doubled)) == [6, 10]
    for wrong in (3, "a stage"):
        with pytest.raises(TypeError, match="no stage"):
            list(wds.DataPipeline((1,), wrong))
    ours.close()
    with pytest.raises(ValueError, match="closed"):
        list(ours)

    added = wds.pipelinefilter(lambda src, more: (each + more for each in src))
    assert list(wds.DataPipeline((1, 2), added(5))) == [6, 7]


def test_the_rest():
    assert pipeline(samples(3), wds.associate({"1": {"more": 5}}), wds.select(lambda s: "more" in s)) == \
        [{"__key__": "1", "txt": "t1", "cls": 1, "more": 5}]
    assert pipeline(samples(1), wds.associate(lambda key: {"of": key}))[0]["of"] == "0"
    assert pipeline(samples(5), wds.slice(1, 4, 2)) == samples()[1:4:2]
    assert pipeline(samples(5), wds.rsample(0.0)) == [] and len(pipeline(samples(5), wds.rsample(1.0))) == 5
    assert set(pipeline([1, 2, 3], wds.resampled(50))) == {1, 2, 3}
    assert wds.transform_with((1, 2), [str, None]) == ["1", 2]
    assert wds.getfirst({"b": 2}, "a;b") == 2 and wds.getfirst({}, "a", 7, missing_is_error=False) == 7
    with pytest.raises(ValueError, match="nothing at all"):
        pipeline([], wds.non_empty)
    assert pipeline([1], wds.non_empty) == [1]
    cached = wds.DataPipeline(lambda: iter([1, 2]), wds.Cached())
    assert list(cached) == list(cached) == [1, 2]


def test_patterns_of_names():
    [sample] = samples(1)
    assert pipeline([sample], wds.extract_keys("*.jpg;*.txt", "c*")) == [("t0", 0)]
    with pytest.raises(ValueError, match="no field"):
        pipeline([sample], wds.extract_keys("*.jpg"))
    with pytest.raises(ValueError, match="several"):
        pipeline([sample], wds.extract_keys("*"))
    assert pipeline([sample], wds.extract_keys("*.jpg", "cls", ignore_missing=True)) == [(0,)]
    assert pipeline([sample], wds.rename_keys(("data", "t*"), label="cls")) == [{"data": "t0", "label": 0}]
    with pytest.raises(ValueError, match="no field"):
        pipeline([sample], wds.rename_keys(data="png"))
    with pytest.raises(ValueError, match="several"):
        pipeline([sample], wds.rename_keys(data="*"))


def test_looking_at_samples(tmp_path):
    out = io.StringIO()
    pipeline(samples(9), wds.info(n=1, every=4, stream=out, name="here"))
    assert out.getvalue().count("--- here") == 3 and "txt 't7'" in out.getvalue()
    pipeline(samples(2), wds.log_keys(str(tmp_path / "log")))
    assert (tmp_path / "log").read_text() == "0\tNone\tNone\t0\n1\tNone\tNone\t1\n"
    assert pipeline(samples(2), wds.log_keys()) == samples(2)


# Mixes.

def test_mixes():
    assert list(wds.RoundRobin([[1, 2, 3], [10]])) == [1, 10, 2]
    assert list(wds.RoundRobin([[1, 2, 3], [10]], longest=True)) == [1, 10, 2, 3]
    found = list(wds.RandomMix([[0] * 2000, [1] * 2000], [3, 1], longest=True))
    assert sorted(found) == [0] * 2000 + [1] * 2000 and 350 < sum(found[:1600]) < 450
    assert list(wds.RandomMix([[0] * 5], [1])) == [0] * 5
    with pytest.raises(ValueError, match="probs: 1 of 2"):
        wds.RandomMix([[1], [2]], [1])
    assert list(wds.MockDataset("s", 2)) == ["s", "s"]


def test_resampled_shards_of_workers(monkeypatch):
    def drawn(worker, **how):
        monkeypatch.setenv("WORKER", str(worker))
        monkeypatch.setenv("NUM_WORKERS", "2")
        return [each["url"] for each in wds.ResampledShards("{0..99}", nshards=20, **how)]

    assert drawn(0, deterministic=True) == drawn(0, deterministic=True) != drawn(1, deterministic=True)
    assert drawn(0) != drawn(0)


# Decoders.

def decoded(field, data, *args, **how):
    [made] = pipeline([{"__key__": "k", "__url__": "u", field: data}], wds.decode(*args, **how))
    assert (made["__key__"], made["__url__"]) == ("k", "u")
    return made[field]


@pytest.mark.parametrize("field, data, value", [
    ("txt", "\u00e4".encode(), "\u00e4"), ("a.text", b"t", "t"), ("transcript", b"t", "t"), ("cls", b"5\n", 5),
    ("cls2", b"-5", -5), ("index", b"1", 1), ("inx", b"1", 1), ("id", b"1", 1), ("json", b'{"a": [1]}', {"a": [1]}),
    ("jsn", b"1", 1), ("bin", b"\0", b"\0"), ("", b"x", b"x"), ("count", b"1", b"1"), ("txt.gz", gzip.compress(b"t", mtime=0), "t"),
    ("bin.gz", gzip.compress(b"t", mtime=0), b"t")])
def test_fields(field, data, value):
    assert decoded(field, data) == value


def test_arrays():
    numpy = pytest.importorskip("numpy")
    out = io.BytesIO()
    numpy.save(out, numpy.arange(3))
    assert decoded("npy", out.getvalue()).tolist() == [0, 1, 2]
    out = io.BytesIO()
    numpy.savez(out, a=numpy.arange(3))
    assert decoded("npz", out.getvalue())["a"].tolist() == [0, 1, 2]
    out = io.BytesIO()
    numpy.save(out, numpy.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(wds.DecodingError, match="npy"):
        decoded("npy", out.getvalue())
    [array] = decoded("ten", bytes(tenbin.encode_buffer([numpy.arange(3)])))
    assert array.tolist() == [0, 1, 2]


@pytest.mark.parametrize("field", ["pkl", "pyd", "pickle", "a.pyd"])
def test_pickles_are_refused(field):
    data = pickle.dumps([1])
    with pytest.raises(wds.DecodingError, match="pickles=True"):
        decoded(field, data)
    assert decoded(field, data, pickles=True) == [1]
    assert decoded(field, data, only="txt") == data
    assert decoded(field, data, wds.handle_extension(field, len)) == len(data)


def test_pth_is_refused():
    with pytest.raises(wds.DecodingError, match="pickles=True"):
        decoded("pth", b"")


@pytest.mark.parametrize("module, field, package", [
    ("msgpack", "mp", "msgpack"), ("cbor2", "cbor", "cbor2"), ("torch", "pth", "torch"), ("numpy", "npy", "numpy")])
def test_a_package_that_is_missing(monkeypatch, module, field, package):
    monkeypatch.setitem(sys.modules, module, None)
    if module == "cbor2":
        monkeypatch.setitem(sys.modules, "cbor", None)
    with pytest.raises(wds.DecodingError, match=f"pip install {package}") as refused:
        decoded(field, b"x", pickles=True)
    assert isinstance(refused.value.__cause__, ModuleNotFoundError)


def test_what_fails_is_named():
    with pytest.raises(wds.DecodingError, match="u: the field cls of the sample k was not decoded: ValueError") as refused:
        decoded("cls", b"none")
    assert (refused.value.url, refused.value.key, refused.value.k) == ("u", "k", "cls")
    assert str(wds.DecodingError("text")) == "text"
    [made] = pipeline([{"cls": b"x"}, {"cls": b"1"}], wds.decode(handler=wds.ignore_and_continue))
    assert made["cls"] == 1
    with pytest.raises(TypeError, match="to_tuple"):
        pipeline([(b"x",)], wds.decode())
    with pytest.raises(wds.DecodingError, match="partial=True"):
        decoded("cls", 5)
    assert decoded("cls", 5, partial=True) == 5


def test_a_bomb_is_an_error(monkeypatch):
    monkeypatch.setattr("dataflux.webdataset._decode._MOST", 1000)
    with pytest.raises(wds.DecodingError, match="more than 1000 bytes"):
        decoded("txt.gz", gzip.compress(bytes(1001)))


def test_own_decoders():
    def upper(key, data):
        return data.upper() if key == ".seg.txt" else None

    assert decoded("seg.txt", b"t", upper) == b"T" and decoded("txt", b"t", upper) == "t"
    assert decoded("seg.txt", b"t", wds.handle_extension("x.txt SEG.txt", len)) == 1
    assert decoded("txt", b"t", post=[lambda key, data: key]) == ".txt"
    assert decoded("a.z", b"t", pre=[lambda key, data: wds.Continue(".cls", b"7") if key == ".a.z" else None]) == 7
    with pytest.raises(TypeError, match="callable"):
        wds.decode(3)
    with pytest.raises(ValueError, match="torchrgb8"):
        wds.decode("rbg")


def test_images():
    image, numpy = pytest.importorskip("PIL.Image"), pytest.importorskip("numpy")
    pixels = numpy.arange(2 * 3 * 3, dtype=numpy.uint8).reshape(2, 3, 3)
    out = io.BytesIO()
    image.fromarray(pixels).save(out, "png")
    data = out.getvalue()
    assert decoded("png", data, "rgb8").tolist() == pixels.tolist()
    assert decoded("a.PNG", data, "rgb").tolist() == (pixels.astype("f4") / 255.0).tolist()
    assert decoded("png", data, "rgba8").shape == (2, 3, 4) and decoded("png", data, "l8").shape == (2, 3)
    assert decoded("png", data, "pil").mode == "RGB" and decoded("png", data, "pill").mode == "L"
    assert decoded("png", data) == data and decoded("txt", b"t", "pil") == "t"
    with pytest.raises(wds.DecodingError, match="png"):
        decoded("png", data[:30], "pil")


def test_streams_of_fields():
    found = pipeline([{"__key__": "k", "txt": b"t", "bin": b"b", "jpg": b"j"}],
                     wds.xdecode(("*.jpg", lambda stream: stream.read() + b"!")))
    assert found == [{"__key__": "k", "txt": "t", "bin": b"b", "jpg": b"j!"}]
    assert pipeline([{"txt": b"t", "x": 1}], wds.xdecode(txt=False, must_decode=False)) == [{"txt": b"t", "x": 1}]
    for name in ("png", "pyd"):
        with pytest.raises(ValueError, match="no decoder"):
            pipeline([{name: b""}], wds.xdecode())


# tenbin.

def test_tenbin(tmp_path):
    numpy = pytest.importorskip("numpy")
    arrays = [numpy.arange(6, dtype=kind).reshape(2, 3) for kind in ("f2", "f4", "f8", "i1", "i8", "u1", "u4", "u8")]
    data = tenbin.encode_buffer(arrays, [f"a{n}" for n in range(8)])
    found, infos = tenbin.decode_buffer(data, infos=True)
    assert [each.dtype for each in found] == [each.dtype for each in arrays] and infos[3] == "a3"
    assert all((one == two).all() for one, two in zip(arrays, found))
    path = str(tmp_path / "a.ten")
    tenbin.save(path, *arrays)
    assert len(tenbin.load(path)) == 8
    with pytest.raises(ValueError, match="end in .ten"):
        tenbin.load("a.bin")
    for wrong in (lambda: tenbin.encode_buffer(arrays[0]), lambda: tenbin.encode_buffer([numpy.array(["a"])]),
                  lambda: tenbin.encode_buffer(arrays, ["a"]), lambda: tenbin.encode_buffer(arrays[:1], ["too long a text"])):
        with pytest.raises((TypeError, ValueError)):
            wrong()


def test_tenbin_of_damaged_bytes():
    numpy = pytest.importorskip("numpy")
    data = bytes(tenbin.encode_buffer([numpy.arange(6.0).reshape(2, 3), numpy.arange(2)]))
    tenbin.decode_buffer(data)
    for end in range(len(data)):
        try:
            assert len(tenbin.decode_buffer(data[:end])) < 2 or end > len(data) - 64
        except ValueError:
            pass
    rng = random.Random(5)
    for _ in range(3000):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            broken[rng.randrange(len(data))] = rng.choice((0, 1, 0x7f, 0xff, rng.randrange(256)))
        try:
            tenbin.decode_buffer(bytes(broken))
        except ValueError:
            pass


