"""The package webdataset, which dataflux.webdataset has the names of: the same samples in the same order, of the
same bytes; and gs:// in the package itself, by register()."""

import gc
import io
import json
import os
import random
import tarfile
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

import numpy
import PIL.Image
import webdataset as theirs
from braceexpand import braceexpand

import dataflux
import dataflux.webdataset as ours
from court import ENDPOINT, make_bucket, noise

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "tar"
warnings.simplefilter("ignore")
# docs/webdataset.md has rows for these.
READ_BETTER = {"gnu_long_then_pax.tar", "gnu_magic_prefix.tar", "plain.tar.zst", "two_members.tgz"}
AN_ERROR_HERE = {"bad_checksum.tar", "concat.tar", "single_zero_inside.tar", "trailing_garbage.tar", "trunc_header.tar",
                 "gnu_sparse_old.tar", "gnu_sparse_pax01.tar", "gnu_sparse_pax10.tar"}


def samples_of(kind, path, **how):
    """Samples, and what ended them."""
    found = []
    try:
        for sample in kind.WebDataset(str(path), shardshuffle=False, empty_check=False, **how):
            found.append(sample)
    except Exception as why:
        return found, why
    return found, None


def write(path, names, salt=0):
    with theirs.TarWriter(str(path), mtime=0) as sink:
        for number, name in enumerate(names):
            sink.write({"__key__": name, "txt": f"text {name}", "cls": number, "json": {"n": number, "s": salt},
                        "bin": noise(number % 7 * 300, number + 1)})


def both(make):
    """What a pipeline gives that is made of either package."""
    random.seed(11)
    expected = list(make(theirs))
    random.seed(11)
    return expected, list(make(ours))


def plain(value):
    """Arrays as lists, so that they compare."""
    if isinstance(value, numpy.ndarray):
        return value.dtype.str, value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    if isinstance(value, PIL.Image.Image):
        return value.mode, value.size, value.tobytes()
    return value


class Shards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = Path(cls.folder.name)
        for shard in range(12):
            write(cls.root / f"{shard:03}.tar", [f"{shard}/{n:04}" for n in range(9)], shard)
        cls.urls = f"{cls.root}/{{000..011}}.tar"

    def check(self, make):
        expected, found = both(make)
        self.assertEqual(plain(expected), plain(found))
        return found


class Reading(Shards):
    def test_archives_of_many_writers(self):
        better, refused = set(), set()
        for path in sorted([*VECTORS.glob("odd/*"), *VECTORS.glob("tools/*")]):
            expected, their_end = samples_of(theirs, path)
            found, our_end = samples_of(ours, path)
            if our_end is None:
                if their_end is not None or expected != found:
                    better.add(path.name)
            elif their_end is None:
                refused.add(path.name)
                self.assertIsInstance(our_end, dataflux.Error, path.name)
                self.assertIn(path.name, str(our_end))
            else:  # neither reads it: what comes before is no less
                self.assertEqual(expected, found[:len(expected)], path.name)
        self.assertEqual((READ_BETTER, AN_ERROR_HERE), (better, refused))

    def test_rules_that_allow_it(self):
        for name, how, count in (("bad_checksum", {"damaged": "end"}, 1), ("trunc_header", {"damaged": "end"}, 1),
                                 ("concat", {"concatenated": "read"}, 2), ("trailing_garbage", {"trailing": "ignore"}, 1)):
            found, end = samples_of(ours, VECTORS / "odd" / f"{name}.tar", **how)
            self.assertEqual((count, None), (len(found), end), name)

    def test_names(self):
        for row in json.loads((VECTORS / "names.json").read_text()):
            path = self.root / "name"
            with tarfile.open(path, "w") as archive:
                archive.addfile(tarfile.TarInfo(row["name"]))
            expected, found = samples_of(theirs, path), samples_of(ours, path)
            self.assertEqual((expected[0], expected[1] is None), (found[0], found[1] is None), row["name"])

    def test_random_archives(self):
        rng = random.Random(7)
        parts = ["a", "b", "A", ".", ".", "/", "_", "__", "txt", "jpg", "\u00c4", "\u0130", " ", "x" * 60, "-1"]
        path = self.root / "random"
        for number in range(400):
            with tarfile.open(path, "w") as archive:
                for _ in range(rng.randint(1, 12)):
                    # tarfile drops a last slash of a regular file, where a pax header has the name
                    info = tarfile.TarInfo("".join(rng.choices(parts, k=rng.randint(1, 6))).rstrip("/") or "a")
                    info.type = rng.choices([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE],
                                            [12, 1, 1, 1])[0]
                    info.size = rng.choice((0, 1, 511, 512, 513, 2000)) if info.isreg() else 0
                    archive.addfile(info, io.BytesIO(noise(info.size, number)))
            for handler in ("reraise_exception", "ignore_and_continue"):
                expected, their_end = samples_of(theirs, path, handler=getattr(theirs, handler))
                found, our_end = samples_of(ours, path, handler=getattr(ours, handler))
                with self.subTest(number=number, handler=handler, theirs=repr(their_end), ours=repr(our_end)):
                    self.assertEqual((expected, type(their_end) is ValueError), (found, isinstance(our_end, ValueError)))

    def test_the_same_samples(self):
        found = self.check(lambda wds: wds.WebDataset(self.urls, shardshuffle=False))
        self.assertEqual(108, len(found))

    def test_members_are_chosen_and_renamed(self):
        for how in ({"select_files": lambda name: name.endswith("txt")},
                    {"rename_files": lambda name: name.replace("/", "_").replace(".cls", ".CLASS")},
                    {"select_files": lambda name: "new" in name,
                     "rename_files": lambda name: name.replace("txt", "new")}):
            self.check(lambda wds: wds.WebDataset(self.urls, shardshuffle=False, **how))


class Order(Shards):
    def test_shards_and_samples_are_shuffled_alike(self):
        for seed in range(5):
            for shards in (2, 5, 100):
                self.check(lambda wds: wds.WebDataset(self.urls, shardshuffle=shards, seed=seed)
                           .shuffle(20 * seed, initial=5, seed=seed + 1))

    def test_passes_of_detshuffle(self):
        def passes(wds):
            dataset = wds.WebDataset(self.urls, shardshuffle=7, seed=3, detshuffle=True)
            return [[sample["__key__"] for sample in dataset] for _ in range(3)]

        found = self.check(passes)
        self.assertNotEqual(found[0], found[1])

    def test_seed_of_the_environment(self):
        with mock.patch.dict(os.environ, WDS_SEED="17"):
            self.check(lambda wds: wds.WebDataset(self.urls, shardshuffle=7))

    def test_nodes_and_workers(self):
        for rank in range(3):
            for worker in range(2):
                with mock.patch.dict(os.environ, RANK=str(rank), WORLD_SIZE="3", WORKER=str(worker), NUM_WORKERS="2"):
                    self.check(lambda wds: wds.WebDataset(self.urls, shardshuffle=4, seed=1,
                                                          nodesplitter=wds.split_by_node))

    def test_resampled_shards(self):
        for worker in range(3):
            with mock.patch.dict(os.environ, WORKER=str(worker), NUM_WORKERS="3"):
                def passes(wds):
                    shards = wds.ResampledShards(self.urls, nshards=30, seed=5, deterministic=True)
                    return [[shard["url"] for shard in shards] for _ in range(3)]

                self.check(passes)

    def test_lists_of_shards(self):
        self.check(lambda wds: wds.SimpleShardList(self.urls, seed=9))
        with mock.patch.dict(os.environ, WDS_ROOT=str(self.root)):
            self.check(lambda wds: wds.SimpleShardList("${ROOT}/{000..002}.tar::b::${ROOT}/x"))

    def test_braces(self):
        texts = ["a{0..3}b", "{000..3}", "{00..10..5}", "{3..0}", "{a..e}{x,y}", "{,a}b", "{}", "{b}", "a{b{1..2},c}d",
                 r"\{a\}{1,2}", "{-2..2}", "{-02..1}", "{Z..W}", "{X..c}", "{a..e..2}", "{1..0..0}", "{{1,2},{3..4}}",
                 "x{1..2}y{1..2}z", "{a,b{c,d}", "a}b", "{a.,b}", "{1..2", "{01..1}", "{e..a..2}"]
        for text in texts:
            with self.subTest(text=text):
                try:
                    expected = list(braceexpand(text))
                except ValueError:
                    self.assertRaises(ValueError, ours.expand_urls, text)
                else:
                    self.assertEqual(expected, ours.expand_urls(text))

    def test_mixes(self):
        for longest in (False, True):
            self.check(lambda wds: wds.RandomMix([range(20), range(100, 140), range(200, 205)], [3, 2, 1], longest))
            self.check(lambda wds: wds.RandomMix([range(20), range(100, 140)], longest=longest))
            self.check(lambda wds: wds.RoundRobin([range(20), range(100, 140), range(200, 205)], longest))

    def test_epochs(self):
        self.check(lambda wds: wds.WebDataset(self.urls, shardshuffle=False).with_epoch(250))
        self.check(lambda wds: wds.WebDataset(self.urls, shardshuffle=False).repeat(2).batched(7))
        self.check(lambda wds: wds.WebDataset(self.urls, shardshuffle=3, seed=4).slice(5, 60, 3))


class Stages(Shards):
    def test_pipelines(self):
        for make in (
                lambda wds: wds.DataPipeline(wds.SimpleShardList(self.urls), wds.shuffle(5, seed=1), wds.split_by_worker,
                                             wds.tarfile_to_samples(), wds.shuffle(10, seed=2), wds.decode(),
                                             wds.to_tuple("txt", "cls"), wds.batched(16)),
                lambda wds: self.of(wds).to_tuple("jpg;txt json cls"),
                lambda wds: self.of(wds).to_tuple("jpg", "cls", missing_is_error=False),
                lambda wds: self.of(wds).rename(image="jpg;txt", label="cls"),
                lambda wds: self.of(wds).rename_keys(("text", "t*"), number="cls"),
                lambda wds: self.of(wds).rename_keys(text="t*", keep_unselected=True),
                lambda wds: self.of(wds).extract_keys("*.txt;*.text", "c*"),
                lambda wds: self.of(wds).map(lambda s: {"n": s["cls"]} if s["cls"] % 3 else None),
                lambda wds: self.of(wds).map_dict(txt=str.upper, cls=float),
                lambda wds: self.of(wds).to_tuple("txt", "cls").map_tuple(str.upper, None),
                lambda wds: self.of(wds).to_tuple("txt", "cls").map_tuple(None, float).batched(10, partial=False),
                lambda wds: self.of(wds).batched(10), lambda wds: self.of(wds).listed(10),
                lambda wds: self.of(wds).to_tuple("cls", "txt").batched(10).unbatched(),
                lambda wds: self.of(wds).listed(10).unlisted(),
                lambda wds: self.of(wds).select(lambda s: s["cls"] > 4).rsample(0.5),
                lambda wds: wds.WebDataset(self.urls, shardshuffle=False).xdecode(
                    ("*.cls", lambda stream: int(stream.read())), must_decode=False, json=False),
                lambda wds: self.of(wds).compose(wds.associate({"3/0003": {"more": 1}})),
                lambda wds: wds.FluidWrapper(self.of(wds)).to_tuple("cls"),
                lambda wds: wds.MockDataset({"a": 1}, 5)):
            self.check(make)

    def of(self, wds):
        return wds.WebDataset(self.urls, shardshuffle=False).decode()

    def test_failures_of_samples(self):
        def failing(sample):
            return 1 // (sample["cls"] % 3)

        for handler in ("ignore_and_continue", "ignore_and_stop"):
            self.check(lambda wds: self.of(wds).map(failing, handler=getattr(wds, handler)))
            self.check(lambda wds: self.of(wds).map_dict(cls=lambda n: 1 // (n % 3), handler=getattr(wds, handler)))

    def test_a_missing_shard(self):
        urls = [f"{self.root}/000.tar", f"{self.root}/no.tar", f"{self.root}/001.tar"]
        for handler in ("ignore_and_continue", "ignore_and_stop"):
            self.check(lambda wds: wds.WebDataset(urls, shardshuffle=False, handler=getattr(wds, handler)))

    def test_fields_are_decoded_alike(self):
        out = io.BytesIO()
        pixels = numpy.arange(5 * 7 * 3, dtype=numpy.uint8).reshape(5, 7, 3)
        PIL.Image.fromarray(pixels).save(out, "png")
        arrays = [numpy.arange(6.0).reshape(2, 3), numpy.arange(3, dtype="i4")]
        sample = {"__key__": "k", "png": pixels, "seg.png": pixels[:, :, 0], "npy": arrays[0],
                  "npz": {"a": arrays[0], "b": arrays[1]}, "ten": arrays, "json": {"a": [1, None]}, "cls": 3, "id": 4,
                  "txt": "\u00e4", "txt.gz": "compressed", "bin": b"\0\1", "transcript": "t"}
        path = self.root / "fields"
        with theirs.TarWriter(str(path)) as sink:
            sink.write(sample)
        for spec in (None, "pil", "pill", "pilrgb", "pilrgba", "l8", "rgb8", "rgba8", "l", "rgb", "rgba"):
            self.check(lambda wds: wds.WebDataset(str(path), shardshuffle=False).decode(*filter(None, [spec])))
        self.check(lambda wds: wds.WebDataset(str(path), shardshuffle=False).decode("rgb8", only="png json"))
        self.check(lambda wds: wds.WebDataset(str(path), shardshuffle=False).decode(only="txt").decode(partial=True))
        self.check(lambda wds: wds.WebDataset(str(path), shardshuffle=False).decode(
            wds.handle_extension("seg.png", len), wds.handle_extension("png bin", lambda data: data[:4])))

    def test_tenbin(self):
        arrays = [numpy.arange(24, dtype="f4").reshape(2, 3, 4), numpy.zeros((0, 2), "i8"), numpy.array([5], "u1")]
        made = ours.tenbin.encode_buffer(arrays)
        self.assertEqual(bytes(theirs.tenbin.encode_buffer(arrays)), bytes(made))
        self.assertEqual(plain(theirs.tenbin.decode_buffer(made)), plain(ours.tenbin.decode_buffer(made)))


class Writing(Shards):
    SAMPLE = {"__key__": "a/b", "jpg": numpy.full((4, 4, 3), 0.5), "png": numpy.zeros((3, 3), "u1"), "cls": 5, "txt": "t",
              "json": {"x": 1}, "npy": numpy.arange(4), "bin": b"bytes", "html": "<p>", "ppm": numpy.zeros((2, 2, 3), "u1"),
              "tiff": numpy.zeros((2, 2, 3), "u1"), "ten": [numpy.arange(3)], "__meta": "m", "_own": "o"}

    def test_the_same_bytes(self):
        long = {"__key__": "k" * 150 + "\u00e4", "txt": "long"}
        for how in ({}, {"keep_meta": True}, {"user": "u", "group": "g", "mode": 0o600}, {"mtime": 12.5}):
            made = []
            for wds in (theirs, ours):
                out = io.BytesIO()
                with wds.TarWriter(out, **{"mtime": 0, **how}) as sink:
                    sink.write(self.SAMPLE)
                    sink.write(long)
                made.append(out.getvalue())
            self.assertEqual(*made)

    def test_compressed(self):
        for ending in ("gz", "bz2", "xz"):
            for writer, reader in ((theirs, ours), (ours, theirs), (ours, ours)):
                path = str(self.root / f"c.tar.{ending}")
                with writer.TarWriter(path) as sink:
                    sink.write(self.SAMPLE)
                [sample] = reader.WebDataset(path, shardshuffle=False)
                self.assertEqual(b"bytes", sample["bin"])

    def test_shards(self):
        made = []
        for wds in (theirs, ours):
            with tempfile.TemporaryDirectory() as folder:
                with wds.ShardWriter(f"{folder}/%03d.tar", maxcount=4, maxsize=2000, mtime=0, verbose=0,
                                     start_shard=3) as sink:
                    for number in range(21):
                        sink.write({"__key__": str(number), "bin": noise(number * 60, number)})
                made.append({path.name: path.read_bytes() for path in Path(folder).iterdir()})
        self.assertEqual(*made)


class Registered(unittest.TestCase):
    """gs:// in the package itself."""

    @classmethod
    def setUpClass(cls):
        cls.bucket = make_bucket("webdataset")
        cls.client = dataflux.Client(endpoint=ENDPOINT, emulator=True)
        cls.addClassCleanup(cls.client.close)
        ours.register(cls.client)

    def test_the_package_writes_and_reads(self):
        with theirs.ShardWriter(f"gs://{self.bucket}/w-%02d.tar", maxcount=10, verbose=0) as sink:
            for number in range(35):
                sink.write({"__key__": f"{number:03}", "cls": number, "bin": noise(50_000, number)})
        urls = f"gs://{self.bucket}/w-{{00..03}}.tar"
        with warnings.catch_warnings():
            warnings.simplefilter("error", ResourceWarning)
            found = list(theirs.WebDataset(urls, shardshuffle=False).decode())
        self.assertEqual(list(range(35)), [sample["cls"] for sample in found])
        self.assertEqual([noise(50_000, number) for number in range(35)], [sample["bin"] for sample in found])
        self.assertEqual(found, list(ours.WebDataset(urls, shardshuffle=False, client=self.client).decode()))
        gc.collect()
        self.assertFalse(self.client._under_way)  # the package closes no stream

    def test_the_cache_of_the_package(self):
        self.client.put(f"gs://{self.bucket}/c.tar", (VECTORS / "odd" / "plain.tar").read_bytes())
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                found = list(theirs.WebDataset(f"gs://{self.bucket}/c.tar", shardshuffle=False, cache_dir=folder))
                self.assertTrue(found)

    def test_a_missing_shard(self):
        with self.assertRaises(FileNotFoundError):
            list(theirs.WebDataset(f"gs://{self.bucket}/no.tar", shardshuffle=False))


if __name__ == "__main__":
    unittest.main()
