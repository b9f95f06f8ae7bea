"""dataflux.webdataset: shards from anywhere become samples, in webdataset's order; what is damaged is an error.
tests/judges/webdataset_judge.py compares it with the package webdataset."""

import bz2
import gc
import gzip
import io
import lzma
import os
import pickle
import subprocess
import sys
import tarfile
import threading
import time
import warnings
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import dataflux
import dataflux.webdataset as wds
from cycles import in_cycles
from test_async_types import by_mypy, by_pyright, typed  # noqa: F401, a fixture

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "tar"
pytestmark = pytest.mark.filterwarnings("ignore:shardshuffle")


def tar_of(*names, content=b"content of %s"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in names:
            data = content % name.encode() if b"%" in content else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def shard(number, count=4):
    return tar_of(*(f"{number}{n}.{field}" for n in range(count) for field in ("cls", "txt")))


def keys(samples):
    return [sample["__key__"] for sample in samples]


KEYS = [f"{number}{n}" for number in range(3) for n in range(4)]


@pytest.fixture
def folder(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.tar").write_bytes(shard(number))
    return tmp_path


@pytest.fixture
def shards(client, bucket):
    for number in range(3):
        client.put(bucket(f"s/{number}.tar"), shard(number))
    return bucket("s/{0..2}.tar")


# Where shards are.

def test_paths(folder):
    samples = list(wds.WebDataset(f"{folder}/{{0..2}}.tar"))
    assert keys(samples) == KEYS
    path = f"{folder}/0.tar"
    assert samples[0] == {"__key__": "00", "__url__": path, "__local_path__": path, "cls": b"content of 00.cls",
                          "txt": b"content of 00.txt"}
    assert all(type(value) is bytes for name, value in samples[0].items() if name[0] != "_")


def test_objects(shards, client, bucket):
    samples = list(wds.WebDataset(shards, client=client))
    assert keys(samples) == KEYS
    assert samples[0] == {"__key__": "00", "__url__": bucket("s/0.tar"), "cls": b"content of 00.cls",
                          "txt": b"content of 00.txt"}


@pytest.mark.without_tokens
def test_objects_by_the_client_of_the_environment(shards, emulator):
    program = f"import dataflux.webdataset as wds\nprint(len(list(wds.WebDataset({shards!r}, shardshuffle=False))))"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, **emulator.environment}, text=True,
                          capture_output=True, timeout=60)
    assert done.stdout == "12\n", done.stderr


def test_a_large_shard_is_read_in_pieces(client, bucket):
    data = os.urandom(9 << 20)
    client.put(bucket("large.tar"), tar_of("a.bin", "b.bin", content=data.replace(b"%", b"x")))
    first, second = wds.WebDataset(bucket("large.tar"), client=client)
    assert first["bin"] == second["bin"] == data.replace(b"%", b"x")


def test_lists_and_variables(folder, monkeypatch):
    monkeypatch.setenv("WDS_HERE", str(folder))
    assert keys(wds.WebDataset("${HERE}/{2,0}.tar::${HERE}/1.tar")) == KEYS[8:] + KEYS[:8]
    assert keys(wds.WebDataset([folder / "1.tar", f"file:{folder}/0.tar"])) == KEYS[4:8] + KEYS[:4]
    monkeypatch.setenv("GOPEN_REWRITE", f"^http://host/=file:{folder}/")
    assert keys(wds.WebDataset("http://host/1.tar")) == KEYS[4:8]


@pytest.mark.parametrize("urls, why", [
    ("az://b/x.tar", "az: there are ais, file, gs, http, https, pipe, s3"), ("a/{0..3.tar", "without a partner"), ("${NONE}/a", "WDS_NONE"),
    ("some.yaml", "RandomMix"), ("a/folder/", "0000..0127"), ([], "empty list"), ({"datasets": []}, "list of URLs"),
    (7, "list of URLs"), ([b"bytes.tar"], "not bytes"), (None, "urls")])
def test_urls_that_are_none(urls, why):
    with pytest.raises((ValueError, TypeError), match=why):
        list(wds.WebDataset(urls))


def test_a_scheme_of_the_program(folder, monkeypatch):
    asked = []

    def opener(url, mode="rb", bufsize=0):
        asked.append((url, mode))
        return open(folder / url.rpartition("/")[2], mode)

    monkeypatch.setitem(wds.gopen_schemes, "own", opener)
    assert keys(wds.WebDataset("own://any/2.tar")) == KEYS[8:]
    assert asked == [("own://any/2.tar", "rb")]


def test_standard_input(folder):
    program = "import dataflux.webdataset as wds\nprint(len(list(wds.WebDataset('-', shardshuffle=False))))"
    with open(folder / "0.tar", "rb") as stream:
        done = subprocess.run([sys.executable, "-c", program], stdin=stream, text=True, capture_output=True, timeout=60)
    assert done.stdout == "4\n", done.stderr


def test_pipes(folder):
    assert keys(wds.WebDataset(f"pipe:cat {folder}/{{0,1}}.tar")) == KEYS[:8]
    with pytest.raises(wds.PipeError, match="exit 3.*status 3") as refused:
        list(wds.WebDataset(f"pipe:cat {folder}/0.tar; exit 3"))
    assert isinstance(refused.value, OSError)
    found = []
    with pytest.raises(dataflux.Error, match="head -c 2000"):
        found.extend(wds.WebDataset(f"pipe:head -c 2000 {folder}/0.tar"))
    # One that is left before its end may end as it likes.
    assert keys(wds.WebDataset(f"pipe:cat {folder}/0.tar; yes").slice(2)) == KEYS[:2]


class _Web(BaseHTTPRequestHandler):
    """Files, whose connections break off after some bytes; it knows ranges or not."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):  # noqa: N802
        server = self.server
        server.asked.append((self.path, self.headers.get("Range"), self.headers.get("If-Range")))
        if server.statuses:
            self.send_response(server.statuses.pop(0))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data, begin = server.files.get(self.path), 0
        if data is None:
            self.send_error(404)
            return
        wanted = self.headers.get("Range")
        if wanted and server.ranges and self.headers.get("If-Range") == server.tag:
            begin = int(wanted.removeprefix("bytes=").removesuffix("-"))
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(data) - begin))
        if server.tag:
            self.send_header("ETag", server.tag)
        self.end_headers()
        part = data[begin:]
        if server.cuts:
            part = part[:server.cuts.pop(0)]
            self.close_connection = True
        self.wfile.write(part)

    def log_message(self, *_):
        pass


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Web)
    server.files, server.asked, server.cuts, server.statuses = {"/0.tar": shard(0)}, [], [], []
    server.ranges, server.tag = True, '"1"'
    server.url = f"http://127.0.0.1:{server.server_port}/0.tar"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_web_servers(web):
    assert keys(wds.WebDataset(web.url)) == KEYS[:4]
    assert web.asked == [("/0.tar", None, None)]
    with pytest.raises(dataflux.NotFoundError, match="/no.tar: the server answers 404"):
        list(wds.WebDataset(web.url.replace("0.tar", "no.tar")))
    with pytest.raises(ValueError, match="pipe:"):
        wds.gopen(web.url, "wb")


@pytest.mark.parametrize("ranges", [True, False])
def test_a_web_server_that_breaks_off(web, ranges):
    web.cuts, web.ranges, web.statuses = [1000, 0, 3000], ranges, [503, 429]
    assert keys(wds.WebDataset(web.url)) == KEYS[:4]
    assert len(web.asked) == 6
    assert [each for each in web.asked[3:] if each[1:] == (None, None)] == []


def test_a_web_server_that_goes_on_with_another_version(web):
    class Changing(list):
        def pop(self, *_):
            web.tag = '"2"'
            return super().pop(0)

    web.cuts = Changing([1000])
    web.tag = '"1"'
    # The first reply's head has gone by then.
    with wds.gopen(web.url) as stream, pytest.raises(dataflux.PreconditionError, match="changed while it was read"):
        while stream.read(700):
            pass


def test_a_web_server_that_never_answers(web):
    web.statuses = [500] * 20
    with pytest.raises(dataflux.UnavailableError, match="8 times in a row"):
        list(wds.WebDataset(web.url))


# Damage.

@pytest.mark.parametrize("name, kind, rule", [
    ("bad_checksum", dataflux.DataLossError, {"damaged": "end"}),
    ("trunc_data", dataflux.DataLossError, {"damaged": "end"}),
    ("concat", dataflux.PreconditionError, {"concatenated": "read"}),
    ("trailing_garbage", dataflux.PreconditionError, {"trailing": "ignore"})])
def test_damage_is_an_error(name, kind, rule):
    path = str(VECTORS / "odd" / f"{name}.tar")
    with pytest.raises(kind) as refused:
        list(wds.WebDataset(path))
    assert path in str(refused.value)
    assert list(wds.WebDataset(path, **rule))
    # So it is in a pipeline of stages.
    with pytest.raises(kind):
        list(wds.DataPipeline(wds.SimpleShardList(path), wds.tarfile_to_samples()))


def test_handlers_decide(folder):
    (folder / "1.tar").write_bytes(shard(1)[:3 * 2048 + 700])
    urls = f"{folder}/{{0..2}}.tar"
    before = KEYS[:4] + KEYS[4:7]
    seen = []
    assert keys(wds.WebDataset(urls, handler=lambda why: not seen.append(why))) == before + KEYS[8:]
    assert isinstance(seen[0], dataflux.DataLossError) and len(seen) == 1
    assert keys(wds.WebDataset(urls, handler=wds.ignore_and_continue)) == before + KEYS[8:]
    assert keys(wds.WebDataset(urls, handler=wds.ignore_and_stop)) == before
    with pytest.warns(UserWarning, match="1.tar"):
        assert keys(wds.WebDataset(urls, handler=wds.warn_and_continue)) == before + KEYS[8:]
    with pytest.warns(UserWarning, match="1.tar"):
        assert keys(wds.WebDataset(urls, handler=wds.warn_and_stop)) == before
    with pytest.raises(dataflux.DataLossError):
        list(wds.WebDataset(urls))


def test_objects_that_are_missing(shards, client, bucket):
    urls = bucket("s/{0,7,2}.tar")
    with pytest.raises(dataflux.NotFoundError, match="s/7.tar"):
        list(wds.WebDataset(urls, client=client))
    assert keys(wds.WebDataset(urls, client=client, handler=wds.ignore_and_continue)) == KEYS[:4] + KEYS[8:]


def test_a_url_that_is_wrong_is_told_to_the_handler(shards, client, bucket):
    seen = []
    urls = ["gs://B!/x.tar", bucket("s/1.tar"), "gs://", "no:scheme", bucket("s/2.tar")]
    dataset = wds.WebDataset(urls, client=client, handler=lambda why: not seen.append(why))
    assert keys(dataset) == KEYS[4:]
    assert set(map(str, seen)) and all(isinstance(why, ValueError) for why in seen)


def test_fields_that_come_again(folder):
    (folder / "d.tar").write_bytes(tar_of("a.txt", "b.txt", "b.TXT", "b.cls", "c.txt"))
    path = f"{folder}/d.tar"
    with pytest.raises(ValueError, match="txt"):
        list(wds.WebDataset(path))
    samples = list(wds.WebDataset([path, f"{folder}/0.tar"], handler=wds.ignore_and_continue))
    assert keys(samples) == ["a", "b", "c", *KEYS[:4]]
    assert (samples[1]["txt"], samples[1]["cls"]) == (b"content of b.txt", b"content of b.cls")
    assert list(wds.WebDataset(path, repeated="keep_first"))[1] == samples[1]
    assert [sorted(each) for each in wds.WebDataset(path, keep_case=True)][1] == \
        sorted(["TXT", "__key__", "__local_path__", "__url__", "cls", "txt"])


@pytest.mark.parametrize("name", ["a.__key__", "a.__url__"])
def test_fields_that_would_be_something_else(folder, name):
    (folder / "d.tar").write_bytes(tar_of("a.txt", name, "b.txt"))
    with pytest.raises(ValueError, match="__"):
        list(wds.WebDataset(f"{folder}/d.tar"))
    assert keys(wds.WebDataset(f"{folder}/d.tar", handler=wds.ignore_and_continue)) == ["a", "b"]


def test_what_is_left_out_is_counted(folder):
    dataset = wds.WebDataset(str(VECTORS / "odd" / "links.tar"))
    with pytest.warns(UserWarning, match="2 hard links are in no sample"):
        list(dataset)
    assert dataset.left_out["hard_links"] == 2
    (folder / "o.tar").write_bytes(tar_of("README", "a.txt", "__meta__/x.json", "b.txt"))
    dataset = wds.WebDataset([f"{folder}/0.tar", f"{folder}/o.tar"])
    assert keys(dataset) == [*KEYS[:4], "a", "b"] and dataset.left_out == {"hidden": 1, "no_field": 1}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_shards(folder, pack):
    data = shard(0)
    path = folder / "c.tar"
    for content in pack(data), pack(data[:3000]) + pack(data[3000:]):
        path.write_bytes(content)
        assert keys(wds.WebDataset(str(path))) == KEYS[:4]
    path.write_bytes(pack(os.urandom(100) + data)[:-20])
    with pytest.raises(dataflux.Error, match="c.tar"):
        list(wds.WebDataset(str(path)))
    path.write_bytes(pack(data)[:-9])
    with pytest.raises(dataflux.DataLossError, match="c.tar"):
        list(wds.WebDataset(str(path)))


def test_nothing_found(folder, monkeypatch):
    (folder / "e.tar").write_bytes(bytes(1024))
    with pytest.raises(ValueError, match="fewer shards than ranks"):
        list(wds.WebDataset(f"{folder}/e.tar"))
    assert list(wds.WebDataset(f"{folder}/e.tar", empty_check=False)) == []


def test_streams_are_closed(folder, monkeypatch):
    opened = []

    def opener(url, mode="rb", bufsize=0):
        opened.append(open(folder / "0.tar", mode))
        return opened[-1]

    monkeypatch.setitem(wds.gopen_schemes, "own", opener)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        list(wds.WebDataset(["own:1", "own:2"]))
        passing = iter(wds.WebDataset("own:3"))
        next(passing)
        passing.close()
    assert len(opened) == 3 and all(each.closed for each in opened)


# Reading ahead.

def test_what_comes_before_a_failure_of_the_source_comes_first(shards, client, bucket):
    def source():
        yield {"url": bucket("s/0.tar")}
        yield {"url": bucket("s/1.tar")}
        raise KeyError("of the source")

    found = []
    with pytest.raises(KeyError, match="of the source"):
        for sample in wds.DataPipeline(source, wds.tarfile_to_samples(client=client)):
            found.append(sample["__key__"])
    assert found == KEYS[:8]


def test_a_pass_that_is_left_leaves_nothing(shards, client, bucket):
    large = bucket("large.tar")
    client.put(large, tar_of(*(f"{n}.bin" for n in range(40)), content=bytes(1 << 20)))
    for urls in (shards, [large, large, large]):
        passing = iter(wds.WebDataset(urls, client=client))
        next(passing)
        passing.close()
        for _ in range(1000):  # threads may open shards still
            if not client._under_way:
                break
            time.sleep(0.01)
        assert not client._under_way


def test_shards_are_opened_ahead(client, emulator, bucket):
    for number in range(6):
        client.put(bucket(f"{number}.tar"), shard(number))
    emulator.faults({"verb": "objects.media", "action": "delay", "ms": 150, "count": 0, "object": "*.tar"},
                    {"verb": "objects.get", "action": "delay", "ms": 150, "count": 0, "object": "*.tar"})
    begun = time.monotonic()
    assert len(list(wds.WebDataset(bucket("{0..5}.tar"), client=client))) == 24
    assert time.monotonic() - begun < 6 * 0.3  # which it would take one behind the other


def test_a_pass_of_a_forked_child_is_its_own(shards, client):
    dataset = wds.WebDataset(shards, client=client)
    passing = iter(dataset)
    first = next(passing)["__key__"]
    child = os.fork()
    if child == 0:
        try:
            good = keys(dataset) == KEYS
            try:
                list(passing)
                good = False
            except dataflux.PreconditionError:
                pass
            os._exit(0 if good else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [first, *keys(passing)] == KEYS


def test_requests_that_fail_are_repeated(shards, client, emulator):
    emulator.faults({"verb": "objects.media", "action": "cut", "where": "in_body", "bodyBytes": 900, "count": 2},
                    {"verb": "objects.get", "action": "refuse", "status": 503, "count": 2})
    assert keys(wds.WebDataset(shards, client=client)) == KEYS


def test_a_failed_pass_leaves_no_cycle(shards, client, bucket, only_new):
    dataset = wds.WebDataset([bucket("s/0.tar"), bucket("no.tar")], client=client)
    damaged = wds.WebDataset(str(VECTORS / "odd" / "bad_checksum.tar"))
    for each in dataset, damaged:
        for _ in range(2):
            gc.collect()
            try:
                list(each)
            except dataflux.Error:
                pass
        assert in_cycles() == 0


# The cache.

def test_the_cache_keeps_shards_apart(client, bucket, tmp_path):
    client.put(bucket("x/s.tar"), shard(0))
    client.put(bucket("y/s.tar"), shard(1))
    urls = [bucket("x/s.tar"), bucket("y/s.tar")]
    dataset = wds.WebDataset(urls, client=client, cache_dir=str(tmp_path))
    for _ in range(2):
        samples = list(dataset)
        assert keys(samples) == KEYS[:8]
        assert Path(samples[0]["__local_path__"]).parent == tmp_path and samples[0]["__url__"] == urls[0]
    assert len(list(tmp_path.iterdir())) == 2
    client.put(bucket("x/s.tar"), shard(2))  # written anew, and read anew
    assert keys(dataset) == KEYS[8:] + KEYS[4:8]


def test_the_cache_reads_once_and_has_room(client, emulator, bucket, tmp_path, monkeypatch):
    for number in range(3):
        client.put(bucket(f"{number}.tar"), shard(number))
    monkeypatch.setenv("WDS_CACHE", str(tmp_path))
    monkeypatch.setenv("WDS_CACHE_SIZE", str(2 * len(shard(0))))
    dataset = wds.WebDataset(bucket("{0..2}.tar"), client=client)
    assert keys(dataset) == KEYS
    left = sorted(path.name.rpartition("-")[2] for path in tmp_path.iterdir())
    assert left == ["1.tar", "2.tar"]
    monkeypatch.setenv("WDS_CACHE_SIZE", "0")  # without one
    assert keys(wds.WebDataset(bucket("{0..2}.tar"), client=client)) == KEYS
    assert sorted(path.name.rpartition("-")[2] for path in tmp_path.iterdir()) == left


def test_the_cache_by_names_of_the_program(client, bucket, tmp_path):
    client.put(bucket("0.tar"), shard(0))
    dataset = wds.WebDataset(bucket("0.tar"), client=client, cache_dir=str(tmp_path), url_to_name=lambda url: "name")
    assert keys(dataset) == KEYS[:4] and [path.name for path in tmp_path.iterdir()] == ["name"]
    with pytest.raises(ValueError, match="url_to_name"):
        list(wds.WebDataset(bucket("0.tar"), client=client, cache_dir=str(tmp_path), url_to_name=lambda url: "a/b"))
    with pytest.raises(ValueError, match="no folder"):
        wds.WebDataset(bucket("0.tar"), cache_dir=str(tmp_path / "no"))


def test_the_cache_leaves_nothing_of_a_failure(client, bucket, tmp_path):
    with pytest.raises(dataflux.NotFoundError):
        list(wds.WebDataset(bucket("no.tar"), client=client, cache_dir=str(tmp_path)))
    with pytest.raises(wds.PipeError):
        list(wds.WebDataset("pipe:echo some; exit 2", cache_dir=str(tmp_path)))
    assert list(tmp_path.iterdir()) == []


# What the dataset is told.

def test_warnings_as_there(folder):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        wds.WebDataset(f"{folder}/0.tar")
        wds.WebDataset(f"{folder}/0.tar", shardshuffle=True)
        wds.WebDataset(f"{folder}/0.tar", shardshuffle=3, resampled=True)
        wds.WebDataset(f"{folder}/0.tar", shardshuffle=False)
        wds.WebDataset(f"{folder}/0.tar", shardshuffle=3)
        wds.Dataset(f"{folder}/0.tar")
    assert [Path(each.filename).name for each in told] == ["test_webdataset.py"] * 3


def test_several_ranks_need_a_splitter(folder, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="split_by_node"):
        list(wds.WebDataset(f"{folder}/{{0..2}}.tar"))
    assert keys(wds.WebDataset(f"{folder}/{{0..2}}.tar", nodesplitter=wds.split_by_node)) == KEYS[4:8]
    with pytest.raises(ValueError, match="no sample"):
        list(wds.WebDataset(f"{folder}/0.tar", nodesplitter=wds.split_by_node))


def test_shards_are_selected(folder):
    dataset = wds.Dataset(f"{folder}/{{0..2}}.tar", shard_selection=lambda urls: [
        each for each in urls if not each.endswith("1.tar")])
    assert keys(dataset) == KEYS[:4] + KEYS[8:]


def test_resampled_shards(folder):
    found = keys(wds.WebDataset(f"{folder}/{{0..2}}.tar", resampled=True).with_epoch(100))
    assert len(found) == 100 and set(found) == set(KEYS)
    with pytest.raises(ValueError, match="empty list"):
        wds.ResampledShards([])


def test_the_snippet_of_the_seed(folder):
    image = pytest.importorskip("PIL.Image")
    with wds.TarWriter(f"{folder}/i.tar") as sink:
        for number in range(5):
            sink.write({"__key__": str(number), "png": image.new("RGB", (4, 3), (number, 0, 0)), "json": {"n": number}})
    url = f"{folder}/i.tar"

    def augment(image):
        return image.size, image.getpixel((0, 0))

    dataset = wds.Dataset(url).shuffle(1000).decode("pil").rename(image="jpg;png", data="json") \
        .map_dict(image=augment).to_tuple("image", "data")
    assert sorted(dataset) == [(((4, 3), (number, 0, 0)), {"n": number}) for number in range(5)]


def test_an_old_dataset(folder):
    dataset = wds.Dataset(f"{folder}/{{0..2}}.tar", length=12, epochs=2)
    assert len(dataset) == 12 and keys(dataset) == KEYS + KEYS


def test_a_pipeline_pickles(folder):
    dataset = wds.WebDataset(f"{folder}/{{0..2}}.tar", shardshuffle=2, seed=1).shuffle(5, seed=2) \
        .decode(only="txt").to_tuple("txt")
    copy = pickle.loads(pickle.dumps(dataset))
    assert type(copy) is wds.WebDataset and list(copy) == list(dataset)


def test_arguments_that_there_are_not(folder):
    with pytest.raises(TypeError, match="concat: there is no such argument"):
        wds.WebDataset(f"{folder}/0.tar", concat="read")
    for name in ("LMDBCached", "MultiShardSample", "ddp_equalize"):
        with pytest.raises(AttributeError, match="dataflux.webdataset has no"):
            getattr(wds, name)
    with pytest.raises(AttributeError, match="nothing_of_it"):
        wds.nothing_of_it


def test_nothing_is_imported_for_it():
    program = ("import sys, dataflux.webdataset\n"
               "print([name for name in ('torch', 'numpy', 'PIL', 'asyncio', 'tarfile', 'urllib.request', 'subprocess') "
               "if name in sys.modules])")
    done = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, timeout=60)
    assert done.stdout == "[]\n", done.stderr


def test_all_names_are_there():
    assert sorted(wds.__all__) == list(wds.__all__)
    for name in wds.__all__:
        assert getattr(wds, name) is not None


TYPED = """
import dataflux
import dataflux.webdataset as wds


def main(client: dataflux.Client, url: str) -> list[object]:
    dataset: wds.WebDataset = wds.WebDataset(url, shardshuffle=100, seed=3, client=client, damaged="end")
    shorter: wds.WebDataset = dataset.shuffle(10).decode("rgb", only="jpg cls").rename(data="json").slice(5)
    with wds.TarWriter("a.tar", client=client) as sink:
        size: int = sink.write({"__key__": "k", "txt": "t"})
    with wds.ShardWriter("%d.tar", maxcount=size) as shards:
        shards.write({"__key__": "k", "txt": "t"})
    pipeline = wds.DataPipeline(wds.SimpleShardList(url), wds.tarfile_to_samples(handler=wds.warn_and_continue),
                                wds.shuffle(100, seed=1), wds.map(len), wds.batched(10))
    wds.register(client)
    return [*shorter, *pipeline, *wds.RandomMix([dataset, pipeline], [1, 2.5]), wds.expand_urls(url)[0]]
"""


def test_type_checkers_know_the_names(typed, tmp_path):  # noqa: F811
    program = tmp_path / "program.py"
    program.write_text(TYPED)
    assert by_mypy(typed, tmp_path, program) == []
    assert [told for told in by_pyright(typed, tmp_path, program) if told[0] == "error"] == []


def test_register_needs_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "webdataset", None)
    with pytest.raises(ModuleNotFoundError, match="pip install webdataset"):
        wds.register()


def test_register_puts_an_opener_there(monkeypatch, client, shards, bucket):
    class Package:
        gopen_schemes = {}

    monkeypatch.setitem(sys.modules, "webdataset", Package)
    wds.register(client)
    stream = Package.gopen_schemes["gs"](bucket("s/0.tar"), "rb", 8192)
    assert stream.read(512) + stream.read() == shard(0)
    stream.close()
    with Package.gopen_schemes["gs"](bucket("out.tar"), mode="wb") as stream:
        stream.write(b"bytes")
    assert client.get(bucket("out.tar")) == b"bytes"
    with pytest.raises(TypeError, match="client"):
        wds.register("no client")
