"""TarWriter and ShardWriter of dataflux.webdataset: what they write is whole or not there."""

import io
import logging
import os
import subprocess
import sys
import tarfile
import time

import pytest

import dataflux
import dataflux.webdataset as wds
from dataflux.webdataset import _encode

pytestmark = pytest.mark.filterwarnings("ignore:shardshuffle")


def written(*samples, **how):
    out = io.BytesIO()
    with wds.TarWriter(out, **how) as sink:
        for sample in samples:
            sink.write(sample)
    return out.getvalue()


def members(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return [(info.name, archive.extractfile(info).read()) for info in archive]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_archive():
    data = written({"__key__": "a/b", "txt": "t\u00e4", "cls": 5, "json": {"x": [1]}, "bin": memoryview(b"bytes"),
                    "__meta": "left out"}, {"__key__": "c", "seg.txt": b""})
    assert members(data) == [("a/b.bin", b"bytes"), ("a/b.cls", b"5"), ("a/b.json", b'{"x": [1]}'),
                             ("a/b.txt", "t\u00e4".encode()), ("c.seg.txt", b"")]
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        info = archive.getmember("c.seg.txt")
    assert (info.mode, info.mtime, info.uname, info.gname, info.uid) == (0o444, 0, "bigdata", "bigdata", 0)
    assert len(data) == 10_240


def test_options():
    data = written({"__key__": "k", "_m": "meta", "__url__": "u", "txt": "t"}, keep_meta=True, user="u", group="g",
                   mode=0o600, mtime=12.5)
    assert members(data) == [("k.__url__", b"u"), ("k._m", b"meta"), ("k.txt", b"t")]
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        info = archive.getmember("k.txt")
    assert (info.mode, info.mtime, info.uname, info.gname) == (0o600, 12.5, "u", "g")
    assert members(written({"__key__": "k", "x": b"1"}, encoder=False)) == [("k.x", b"1")]
    assert members(written({"__key__": "k", "x": 7}, encoder={"x": lambda value: b"%d" % value})) == [("k.x", b"7")]
    assert members(written({"__key__": "k"}, encoder=lambda sample: {**sample, "n": b"new"})) == [("k.n", b"new")]
    long = "k" * 150
    assert members(written({"__key__": long, "x": b"1"}, format="GNU_FORMAT")) == [(long + ".x", b"1")]
    with pytest.raises(ValueError, match="name is too long"):
        written({"__key__": long, "x": b"1"}, format="USTAR_FORMAT")
    with pytest.raises(TypeError, match="encoder"):
        wds.TarWriter(io.BytesIO(), encoder=3)
    with pytest.raises(ValueError, match="compress"):
        wds.TarWriter(io.BytesIO(), compress="zip")


def test_the_same_samples_are_the_same_bytes(tmp_path):
    sample = {"__key__": "k", "txt": "t", "json": {}, "bin.gz": b"x" * 1000}
    assert written(sample) == written(sample)
    for ending in "tar.gz", "tgz":
        made = []
        for number in range(2):
            path = f"{tmp_path}/{number}.{ending}"
            with wds.TarWriter(path) as sink:
                sink.write(sample)
            made.append((tmp_path / f"{number}.{ending}").read_bytes())
        assert made[0] == made[1]


@pytest.mark.parametrize("sample, why", [
    ({"txt": "t"}, "__key__"), ({"__key__": 5, "txt": "t"}, "__key__"), ({"__key__": "k", "x": 5}, "no encoder for .x"),
    ({"__key__": "k", "txt": 5}, "txt: a str is needed"), ({"__key__": "k", "npz": []}, "dict of arrays"),
    ({"__key__": "k", "_m": 5}, "begins with _"), ({"__key__": "k", "json": {1, 2}}, "json"),
    ({"__key__": "k", "a.jpg": b"1", "b": object()}, "b: there is no encoder")])
def test_samples_that_cannot_be_written(sample, why):
    out = io.BytesIO()
    with wds.TarWriter(out) as sink:
        with pytest.raises(ValueError, match=why):
            sink.write(sample)
        sink.write({"__key__": "good", "txt": "t"})
    assert members(out.getvalue()) == [("good.txt", b"t")]  # nothing of what failed
    with pytest.raises(ValueError, match="closed"):
        sink.write({"__key__": "good", "txt": "t"})


def test_encoders_and_decoders_agree(tmp_path):
    numpy = pytest.importorskip("numpy")
    image = pytest.importorskip("PIL.Image")
    pixels = numpy.arange(27, dtype=numpy.uint8).reshape(3, 3, 3)
    sample = {"__key__": "k", "cls": 3, "id": 4, "txt": "t", "json": [1], "npy": pixels, "npz": {"a": pixels},
              "ten": [pixels], "png": pixels, "ppm": image.fromarray(pixels), "pgm": pixels[:, :, 0], "tiff": pixels,
              "l.png": numpy.full((2, 2, 1), 0.5), "txt.gz": "packed"}
    path = f"{tmp_path}/a.tar"
    with wds.TarWriter(path) as sink:
        sink.write(sample)
    [found] = wds.WebDataset(path).decode("rgb8")
    for name in "cls", "id", "txt", "json", "txt.gz":
        expected = sample[name]
        assert found[name] == expected
    for name in "npy", "png", "ppm", "tiff":
        assert (found[name] == pixels).all(), name
    assert (found["npz"]["a"] == pixels).all() and (found["ten"][0] == pixels).all()
    assert (found["l.png"] == 127).all() and (found["pgm"][:, :, 1] == pixels[:, :, 0]).all()
    jpeg = _encode.imageencoder(pixels, "jpg")
    assert jpeg[:3] == b"\xff\xd8\xff"
    for wrong in (numpy.full((2, 2), 1.5), numpy.zeros((2, 2, 7), "u1"), numpy.zeros(3, "u1")):
        with pytest.raises(ValueError):
            _encode.imageencoder(wrong)
    with pytest.raises(ValueError, match="png: an image"):
        written({"__key__": "k", "png": "no image".split()})
    with pytest.raises(ValueError, match="npy"):
        written({"__key__": "k", "npy": numpy.array([{}], dtype=object)})


# Whole, or not there.

def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "a.tar"
    with wds.TarWriter(str(path)) as sink:
        sink.write({"__key__": "k", "txt": "t"})
        assert not path.exists()
    assert members(path.read_bytes()) == [("k.txt", b"t")] and names(tmp_path) == ["a.tar"]
    before = path.read_bytes()
    for ending in "", ".gz", ".xz", ".bz2":
        with pytest.raises(KeyError), wds.TarWriter(f"{path}{ending}") as sink:
            sink.write({"__key__": "other", "txt": "t" * 100_000})
            raise KeyError
    sink = wds.TarWriter(str(path))
    sink.write({"__key__": "other", "txt": "t"})
    del sink
    assert path.read_bytes() == before and names(tmp_path) == ["a.tar"]


def test_a_link_and_a_device(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with wds.gopen(f"{tmp_path}/link", "wb") as stream:
        stream.write(b"new")
    assert (tmp_path / "real").read_bytes() == b"new" and (tmp_path / "link").is_symlink()
    with wds.TarWriter("/dev/null") as sink:
        sink.write({"__key__": "k", "txt": "t"})
    with pytest.raises(FileNotFoundError):
        wds.TarWriter(f"{tmp_path}/no/a.tar")


def test_a_write_that_fails_is_no_archive(tmp_path):
    path = tmp_path / "a.tar"
    sink = wds.TarWriter(str(path))
    sink.write({"__key__": "k", "txt": "t"})
    sink._put = lambda data: 1 // 0
    with pytest.raises(ZeroDivisionError):
        sink.write({"__key__": "l", "txt": "t"})
    with pytest.raises(ValueError, match="not whole"):
        sink.close()
    assert names(tmp_path) == []


def test_a_pipe(tmp_path):
    with wds.TarWriter(f"pipe:cat > {tmp_path}/a") as sink:
        sink.write({"__key__": "k", "txt": "t"})
    assert members((tmp_path / "a").read_bytes()) == [("k.txt", b"t")]
    with pytest.raises(KeyError), wds.TarWriter(f"pipe:cat > /dev/null; touch {tmp_path}/ended") as sink:
        raise KeyError
    sink = wds.TarWriter(f"pipe:cat > /dev/null; touch {tmp_path}/ended")
    del sink
    time.sleep(0.3)
    assert names(tmp_path) == ["a"]
    sink = wds.TarWriter("pipe:cat > /dev/null; exit 4")
    with pytest.raises(wds.PipeError, match="status 4"):
        sink.close()


def test_standard_output():
    program = ("import dataflux.webdataset as wds\nwith wds.TarWriter('-') as sink:\n"
               "    sink.write({'__key__': 'k', 'txt': 't'})\nprint(end='')")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert members(done.stdout) == [("k.txt", b"t")] and done.stderr == b""


def test_objects(client, bucket):
    with wds.TarWriter(bucket("a.tar"), client=client) as sink:
        sink.write({"__key__": "k", "txt": "t"})
        assert bucket.get("a.tar") is None
    assert members(bucket.get("a.tar")) == [("k.txt", b"t")]
    with pytest.raises(KeyError), wds.TarWriter(bucket("a.tar"), client=client) as sink:
        sink.write({"__key__": "other", "txt": "t"})
        raise KeyError
    assert members(bucket.get("a.tar")) == [("k.txt", b"t")]


# Shards.

def sample(number, size=100):
    return {"__key__": f"{number:04}", "bin": bytes([number]) * size}


def test_shards_by_count_and_size(tmp_path):
    done = []
    with wds.ShardWriter(f"{tmp_path}/%02d.tar", maxcount=4, maxsize=350, post=done.append, start_shard=5) as sink:
        for number in range(9):
            sink.write(sample(number, 10))
        for number in range(9, 15):
            sink.write(sample(number))
        assert done == [f"{tmp_path}/05.tar", f"{tmp_path}/06.tar", f"{tmp_path}/07.tar"]
        assert names(tmp_path)[:3] == ["05.tar", "06.tar", "07.tar"]
    assert names(tmp_path) == ["05.tar", "06.tar", "07.tar", "08.tar"] and len(done) == 4
    counts = [len(members((tmp_path / name).read_bytes())) for name in names(tmp_path)]
    assert counts == [4, 4, 4, 3] and sink.total == 15
    found = list(wds.WebDataset(f"{tmp_path}/{{05..08}}.tar"))
    assert [each["__key__"] for each in found] == [f"{number:04}" for number in range(15)]


def test_a_shard_ends_behind_the_sample_that_passes_the_size(tmp_path):
    with wds.ShardWriter(f"{tmp_path}/%d.tar", maxsize=250) as sink:
        for number in range(7):
            sink.write(sample(number))
    assert [len(members((tmp_path / f"{n}.tar").read_bytes())) for n in range(3)] == [3, 3, 1]


def test_an_exception_discards_the_open_shard(tmp_path):
    with pytest.raises(KeyError), wds.ShardWriter(f"{tmp_path}/%d.tar", maxcount=2) as sink:
        for number in range(5):
            sink.write(sample(number))
        raise KeyError
    assert names(tmp_path) == ["0.tar", "1.tar"]
    with pytest.raises(ValueError, match="closed"):
        sink.write(sample(1))


def test_without_samples_there_is_no_shard(tmp_path):
    with wds.ShardWriter(f"{tmp_path}/%d.tar"):
        pass
    assert names(tmp_path) == []


def test_patterns_and_openers(tmp_path, caplog):
    for wrong in ("a.tar", "%d-%d.tar", "%s %", "%q.tar"):
        with pytest.raises(ValueError, match="pattern"):
            wds.ShardWriter(wrong)
    made = {}

    class Kept(io.BytesIO):
        def close(self):
            made[self.name] = self.getvalue()
            super().close()

    def opener(name):
        stream = Kept()
        stream.name = name
        return stream

    with caplog.at_level(logging.INFO, "dataflux"), \
            wds.ShardWriter("own-%d", maxcount=1, opener=opener, compress=False) as sink:
        sink.write(sample(1))
        sink.write(sample(2))
    assert [members(data)[0][0] for data in made.values()] == ["0001.bin", "0002.bin"] and list(made) == ["own-0", "own-1"]
    assert [record.getMessage() for record in caplog.records] == ["writing own-0, after 0 samples",
                                                                  "writing own-1, after 1 samples"]


def test_shards_of_a_bucket(client, bucket):
    with pytest.raises(KeyError), wds.ShardWriter(bucket("w-%02d.tar"), maxcount=2, client=client) as sink:
        for number in range(5):
            sink.write({**sample(number), "cls": number, "_left": "out"})
        raise KeyError
    assert [name for name in bucket.names() if name.endswith(".tar")] == ["w-00.tar", "w-01.tar"]
    found = list(wds.WebDataset(bucket("w-{00..01}.tar"), client=client).decode())
    assert [(each["bin"], each["cls"]) for each in found] == [(sample(n)["bin"], n) for n in range(4)]
    assert set(found[0]) == {"__key__", "__url__", "bin", "cls"}
    with wds.ShardWriter(bucket("w-%02d.tar"), maxcount=2, start_shard=2, client=client, verbose=0) as sink:
        for number in range(4, 7):
            sink.write(sample(number))
        for wrong, why in (({"txt": "t"}, "__key__"), ({"__key__": "a.b", "x": b""}, "a.b"), ({"__key__": "k", "x": 5}, "x:")):
            with pytest.raises(ValueError, match=why):
                sink.write(wrong)
    assert sink.total == 3 and bucket.names() == [f"w-{n:02}.tar{end}" for n in range(4) for end in ("", ".dfx")]
    with pytest.raises(dataflux.PreconditionError), wds.ShardWriter(bucket("w-%02d.tar"), client=client) as sink:
        sink.write(sample(0))


def test_shards_of_a_bucket_by_tar_writers(client, bucket):
    done = []
    with pytest.raises(KeyError), wds.ShardWriter(bucket("p-%02d.tar"), maxcount=2, post=done.append, client=client) as sink:
        for number in range(5):
            sink.write(sample(number))
        raise KeyError
    assert done == [bucket("p-00.tar"), bucket("p-01.tar")] and bucket.names() == ["p-00.tar", "p-01.tar"]
    with wds.ShardWriter(bucket("c-%d.tar.gz"), maxcount=2, client=client) as sink:
        for number in range(3):
            sink.write(sample(number))
    found = list(wds.WebDataset(bucket("c-{0,1}.tar.gz"), client=client))
    assert [each["bin"] for each in found] == [sample(number)["bin"] for number in range(3)]
    for again in ("c-%d.tar.gz", "p-%d.tar"):
        client.put(bucket("p-1.tar"), b"there")
        with pytest.raises(dataflux.AlreadyExistsError), wds.ShardWriter(bucket(again), start_shard=1, client=client) as sink:
            sink.write(sample(0))
    assert client.get(bucket("p-1.tar")) == b"there"


def test_what_fails_in_post_is_told(tmp_path):
    with pytest.raises(OSError, match="post"), wds.ShardWriter(
            f"{tmp_path}/%d.tar", maxcount=1, post=lambda name: os.stat(f"{name}/post")) as sink:
        sink.write(sample(0))
        sink.write(sample(1))
    assert names(tmp_path) == ["0.tar"]
