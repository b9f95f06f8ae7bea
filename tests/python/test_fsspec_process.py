"""dataflux.fsspec in other processes: forked, spawned, and those that begin with an installed
package."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem, _filesystem

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 120


def program(text, *arguments, path=()):
    """What a Python of its own prints."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), environment["PYTHONPATH"]])
    ended = subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", text, *arguments],
                           capture_output=True, text=True, timeout=LIMIT, env=environment)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    return ended.stdout


@pytest.fixture
def script(tmp_path, emulator, bucket):
    """Runs a program from a file, as spawn needs it, with `url` and the emulator's endpoint."""
    bucket.put("x", b"content")

    def run(text):
        path = tmp_path / "program.py"
        path.write_text(text)
        ended = subprocess.run([sys.executable, str(path), emulator.endpoint, f"gs://{bucket.name}/x"],
                               capture_output=True, text=True, timeout=LIMIT)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.split()

    return run


def test_the_protocol_is_found_by_its_entry_point(tmp_path, emulator, bucket):
    bucket.put("x", b"content")
    points = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"][
        "entry-points"]["fsspec.specs"]
    installed = tmp_path / "libdataflux-1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: libdataflux\nVersion: 1\n")
    (installed / "entry_points.txt").write_text("[fsspec.specs]\n" + "".join(
        f"{name} = {value}\n" for name, value in points.items()))
    assert program("""
import sys, fsspec
from service import options_of
assert "dataflux" not in sys.modules
with fsspec.open("dataflux://" + sys.argv[2], **options_of(sys.argv[1])) as file:
    print(type(file.fs).__module__, file.read())
assert type(fsspec.filesystem("dataflux")).__name__ == "DatafluxFileSystem"
""", emulator.endpoint, f"{bucket.name}/x", path=[tmp_path]).split() == [
        "dataflux.fsspec._filesystem", "b'content'"]


def test_register_makes_gs_ours_and_only_then(emulator, bucket):
    bucket.put("x", b"content")
    assert program("""
import sys, fsspec
import dataflux.fsspec
from service import options_of
assert "gs" not in fsspec.registry
dataflux.fsspec.register("gs")
with fsspec.open("gs://" + sys.argv[2], **options_of(sys.argv[1])) as file:
    print(file.read())
assert "gcs" not in fsspec.registry
dataflux.fsspec.register()
assert fsspec.get_filesystem_class("gcs") is dataflux.fsspec.DatafluxFileSystem
""", emulator.endpoint, f"{bucket.name}/x").split() == ["b'content'"]


def test_register_warns_of_what_goes_past_it():
    told = program("""
import sys, warnings
import dataflux.fsspec
warnings.simplefilter("always")
for modules, names in (((), ("gs",)), (("pandas",), ("dataflux",)), ((), ("gs", "gcs")), ((), ("gs", "s3a")),
                       ((), ("s3",)), ((), ("s3",))):
    with warnings.catch_warnings(record=True) as seen:
        for name in modules:
            __import__(name)
        del seen[:]
        dataflux.fsspec.register(*names)
        print([(str(w.message)[21:26], "storage_options={}" in str(w.message), w.filename)
               for w in seen if issubclass(w.category, UserWarning) and "parquet" in str(w.message)])
""").splitlines()
    # Once for each service, and of the caller's line.
    assert told == ["[]", "[('gs://', True, '<string>')]", "[]", "[]", "[('s3://', True, '<string>')]", "[]"]


def test_register_takes_names_that_it_knows():
    for names, kind in ((("az",), ValueError), ((7,), TypeError)):
        with pytest.raises(kind, match="protocols"):
            dataflux.fsspec.register(*names)


SPAWNED = """
import multiprocessing, sys

def read(url, endpoint, depth):
    import fsspec
    from service import options_of
    with fsspec.open(url, **options_of(endpoint)) as file:
        print(type(file).__module__, file.read().decode(), flush=True)
    if depth:
        start("spawn", url, endpoint, depth - 1)

def start(method, *arguments):
    child = multiprocessing.get_context(method).Process(target=read, args=arguments)
    child.start()
    child.join()
    assert child.exitcode == 0

if __name__ == "__main__":
    import dataflux.fsspec
    dataflux.fsspec.register("gs", "gcs")
    start("%s", sys.argv[2], sys.argv[1], 1)
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_a_registration_holds_in_processes_that_are_started(script, method):
    assert script(SPAWNED % method) == ["dataflux.fsspec._files", "content"] * 2


def test_a_registration_holds_in_pools(script):
    assert script("""
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor

def read(url, endpoint):
    import fsspec
    from service import options_of
    with fsspec.open(url, **options_of(endpoint)) as file:
        return type(file).__module__ + " " + file.read().decode()

if __name__ == "__main__":
    import dataflux.fsspec
    dataflux.fsspec.register("gs")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        print(pool.submit(read, sys.argv[2], sys.argv[1]).result(timeout=100))
""") == ["dataflux.fsspec._files", "content"]


def test_a_pickled_filesystem_brings_its_registration(emulator, bucket):
    bucket.put("x", b"content")
    pickled = program("""
import sys, pickle, dataflux.fsspec
from service import options_of
dataflux.fsspec.register("gs")
print(pickle.dumps(dataflux.fsspec.DatafluxFileSystem(**options_of(sys.argv[1]))).hex())
""", emulator.endpoint).strip()
    assert program("""
import sys, pickle
fs = pickle.loads(bytes.fromhex(sys.argv[1]))
import fsspec
assert fsspec.get_filesystem_class("gs") is type(fs)
print(fs.cat(sys.argv[2]))
""", pickled, bucket("x")).split() == ["b'content'"]


def in_child(function):
    """What a forked child's function gives, or the error it ends with."""
    ours, theirs = multiprocessing.get_context("fork").Pipe()
    child = os.fork()
    if child == 0:
        try:
            theirs.send(function())
        except BaseException as error:  # noqa: BLE001 - it is told
            theirs.send(repr(error))
        finally:
            os._exit(0)
    assert ours.poll(LIMIT)
    told = ours.recv()
    os.waitpid(child, 0)
    return told


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_uses_it_as_it_is(emulator, bucket):
    bucket.put("x", b"content")
    fs = DatafluxFileSystem(**emulator.options)
    reader = fs.open(bucket("x"))
    assert fs.cat(bucket("x")) == b"content" and reader.read(2) == b"co"

    def child():
        import asyncio

        fs.pipe(bucket("child"), b"1")
        return (fs.cat([bucket("x")]), fs.ls(bucket.name), reader.read(),
                DatafluxFileSystem(**emulator.options).cat(bucket("x")),
                asyncio.run(fs._cat_file(bucket("x"))), fs.loop is not None)

    name = bucket.name
    assert in_child(child) == ({f"{name}/x": b"content"}, [f"{name}/child", f"{name}/x"], b"ntent",
                               b"content", b"content", True)
    assert fs.cat(bucket("child")) == b"1"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_leaves_its_parent_s_files_alone(emulator, bucket):
    fs = DatafluxFileSystem(**emulator.options)
    file = fs.open(bucket("x"), "wb")
    file.write(b"content")

    def child():
        try:
            fs.rm(bucket("x"))
        except FileNotFoundError:
            return "not there"

    assert in_child(child) == "not there"
    file.close()
    assert bucket.get("x") == b"content"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_that_is_forked_while_a_thread_opens_a_file_opens_others(emulator, bucket,
                                                                        monkeypatch):
    fs = DatafluxFileSystem(**emulator.options)
    parent, inside, go_on = os.getpid(), threading.Event(), threading.Event()

    class Files(_filesystem.WeakSet):
        def add(self, file):
            if os.getpid() == parent:
                inside.set()
                assert go_on.wait(LIMIT)
            super().add(file)

    monkeypatch.setattr(_filesystem, "WeakSet", Files)
    thread = threading.Thread(target=lambda: fs.open(bucket("parent"), "wb").close())
    thread.start()
    assert inside.wait(LIMIT)

    def child():
        signal.alarm(LIMIT // 4)  # it would wait for ever
        with fs.open(bucket("child"), "wb") as file:
            file.write(b"1")
        fs.rm(bucket("child"))
        return "done"

    try:
        assert in_child(child) == "done"
    finally:
        go_on.set()
        thread.join()
    assert bucket.names() == ["parent"]


def test_importing_dataflux_imports_no_fsspec():
    assert program("import sys, dataflux; dataflux.Client; "
                   "print('fsspec' in sys.modules)").split() == ["False"]
