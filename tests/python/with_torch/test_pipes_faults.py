"""Pipes when things go wrong: each ends with an error that names the object, or goes on behind it."""

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy.random  # noqa: F401, torch's workers do, and Python 3.11 may fail to in a forked child
import pytest
from torch.utils.data import DataLoader

import dataflux
from cycles import left_by
from dataflux.torch import list_files, load_files

COUNT = 12
LONG = 10_000  # lines of 1,000 bytes
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def url(client, bucket):
    """Short objects, and one behind the eighth of them that is read in parts."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: client.put(bucket(f"o/{number:03}"), b"%d\n" % number * 3), range(COUNT)))
    client.put(bucket("o/007-long"), b"".join(b"%07d%s\n" % (line, b"x" * 992) for line in range(LONG)))
    return bucket("o/")


def files_of(url, options, **more):
    return load_files(list_files(url, client=options), **more)


def lines_of(url, options, **more):
    return files_of(url, options, **more).readlines(return_path=False)


def same(item):
    return item


def read(pipe, workers):
    return list(DataLoader(pipe, batch_size=None, num_workers=workers, collate_fn=same))


def refuse(emulator, name, **more):
    emulator.faults({"verb": "objects.media", "object": name, "action": "refuse", "status": 403, "count": 0, **more},
                    {"verb": "objects.get", "object": name, "action": "refuse", "status": 403, "count": 0, **more})


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", ["o/003", "o/007-long"])
def test_a_failure_names_the_object(url, options, emulator, name, workers):
    refuse(emulator, name)
    for pipe in (files_of(url, options), lines_of(url, options), lines_of(url, options).shuffle(5).batch(2)):
        with pytest.raises(dataflux.PermissionDeniedError, match=name):
            read(pipe, workers)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", ["o/003", "o/007-long"])
def test_a_failure_is_returned_in_place_of_the_object(url, options, emulator, bucket, name, workers):
    refuse(emulator, name)
    [(path, failed)] = [each for each in read(files_of(url, options, on_error="return"), workers)
                        if isinstance(each[1], Exception)]
    assert path == bucket(name) and isinstance(failed, dataflux.PermissionDeniedError)
    lines = read(lines_of(url, options, on_error="return"), workers)
    [failed] = [each for each in lines if isinstance(each, Exception)]
    assert failed.object == name and len(lines) - 1 == 3 * COUNT + LONG - (3 if name == "o/003" else LONG)
    pairs = files_of(url, options, on_error="return").readlines()
    [(path, failed)] = [each for each in read(pairs, workers) if isinstance(each[1], Exception)]
    assert path == bucket(name) and failed.object == name


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", ["o/003", "o/007-long"])
def test_a_failure_is_skipped_and_counted(url, options, emulator, bucket, name, workers):
    refuse(emulator, name)
    files = files_of(url, options, on_error="skip")
    assert len(read(files, workers)) == COUNT and files.skipped == 1
    lines = files.readlines()
    paths = {path for path, _ in read(lines, workers)}
    assert len(paths) == COUNT and bucket(name) not in paths and lines.skipped == 2


def test_lines_before_a_failure_stay_and_the_next_object_follows(url, options, emulator):
    refuse(emulator, "o/007-long", **{"from": 5})
    lines = list(lines_of(url, options, on_error="return", part_size=1 << 20, buffer_size=0))
    [at] = [number for number, each in enumerate(lines) if isinstance(each, Exception)]
    assert 24 < at < 24 + LONG and lines[at - 1].startswith(b"%07d" % (at - 25)) and lines[at + 1] == b"8"
    assert len(lines) - at == 1 + 3 * (COUNT - 8)


@pytest.mark.parametrize("name", ["o/003", "o/007-long"])
def test_a_corrupt_object_is_named(url, options, emulator, name):
    emulator.faults({"verb": "objects.media", "object": name, "action": "flip_byte", "count": 0})
    with pytest.raises(dataflux.DataLossError, match=name):
        list(lines_of(url, options))
    assert lines_skipped(lines_of(url, options, on_error="skip")) == 1


def lines_skipped(lines):
    list(lines)
    return lines.skipped


def test_a_line_that_is_too_long_is_a_failure_of_its_object(url, options, client, bucket):
    client.put(bucket("o/005"), b"5\n" + b"x" * 2000 + b"\n5\n")
    lines = list(files_of(url, options, on_error="return").readlines(return_path=False, most_bytes=999))
    [at] = [number for number, each in enumerate(lines) if isinstance(each, Exception)]
    assert lines[at].object == "o/005" and "byte 2 " in str(lines[at])
    assert (lines[at - 1], lines[at + 1]) == (b"5", b"6")


def test_too_many_failures_in_a_row_end_it(url, options, emulator):
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 403, "count": 0},
                    {"verb": "objects.get", "action": "refuse", "status": 403, "count": 0})
    for pipe in (files_of(url, options, on_error="skip", tolerance=5), lines_of(url, options, on_error="return", tolerance=5)):
        with pytest.raises(dataflux.PermissionDeniedError, match="the last of 5 samples in a row"):
            list(pipe)
    assert list(lines_of(url, options, on_error="skip", tolerance=None)) == []


@pytest.mark.parametrize("name", ["o/003", "o/007-long"])
def test_a_listed_generation_that_is_gone(url, options, client, bucket, name):
    listed = list_files(url, client=options)
    client.put(bucket(name), b"new\n")
    with pytest.raises(dataflux.NotFoundError, match=f"{name}: generation .* which was listed, is gone"):
        list(load_files(listed).readlines())
    found = {path: file.read() for path, file in load_files(listed, overwritten="read")}
    assert found[bucket(name)] == b"new\n" and len(found) == COUNT + 1
    client.delete(bucket(name))
    with pytest.raises(dataflux.NotFoundError, match=name):
        list(load_files(listed, overwritten="read"))


def test_an_object_that_was_never_there(options, bucket, client):
    client.put(bucket("a"), b"1\n")
    pipe = load_files([bucket("a"), bucket("b")], client=options)
    with pytest.raises(dataflux.NotFoundError, match="/b"):
        list(pipe)


@pytest.mark.parametrize("workers", [0, 2])
def test_refusals_for_a_while_and_cut_connections_lose_nothing(url, options, emulator, workers):
    lines = lines_of(url, options)
    whole = sorted(lines)
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 503, "count": 5},
                    {"verb": "objects.media", "action": "cut", "where": "in_body", "bodyBytes": 2, "from": 7, "count": 3})
    assert sorted(read(lines, workers)) == whole


def test_a_pass_that_has_failed_fails_every_time(url, options, emulator):
    refuse(emulator, "o/003")
    items = iter(lines_of(url, options))
    for _ in range(9):
        next(items)
    for _ in range(3):
        with pytest.raises(dataflux.PermissionDeniedError, match="o/003"):
            next(items)


def test_half_read_passes_go_with_what_they_had_under_way(url, options):
    before = None
    for number in range(10):
        for pipe in (files_of(url, options), lines_of(url, options), lines_of(url, options).shuffle(100)):
            for _ in pipe:
                break
        gc.collect()
        if number == 4:
            before = len(os.listdir("/proc/self/task"))
    assert len(os.listdir("/proc/self/task")) <= before + 2


@pytest.mark.parametrize("name", ["o/003", "o/007-long"])
def test_a_failure_leaves_no_cycle(url, options, emulator, name):
    refuse(emulator, name)
    lines = lines_of(url, options)
    assert left_by(lambda: list(lines), dataflux.Error) == 0


OTHERWISE = """
import os, sys, torch.distributed as group, dataflux
from dataflux.torch import list_files, load_files
rank = int(os.environ["RANK"])
group.init_process_group("gloo", init_method=sys.argv[2], rank=rank, world_size=2)
urls = list_files(sys.argv[1])
print(*sorted({path for path, _ in load_files(urls.shuffle(seed=3)).readlines()}))
for bad in (lambda: urls.shuffle(seed=rank), lambda: load_files(list(urls))):
    try:
        bad()
    except dataflux.PreconditionError as why:
        print(str(why).partition(" is ")[0], flush=True)
group.destroy_process_group()
"""


@pytest.mark.without_tokens
def test_ranks_share_objects_and_those_that_differ_are_told(emulator, bucket, url, tmp_path):
    ranks = [subprocess.Popen([sys.executable, "-c", OTHERWISE, url, f"file://{tmp_path}/group"], stdout=subprocess.PIPE,
                              text=True, env={**os.environ, **emulator.environment, "RANK": str(rank)})
             for rank in range(2)]
    told = [rank.communicate(timeout=200)[0].splitlines() for rank in ranks]
    assert [each[1:] for each in told] == [["rank 1: seed", "rank 1: digest"]] * 2
    paths = [path for each in told for path in each[0].split()]
    assert sorted(paths) == [bucket(name) for name in sorted([*(f"o/{n:03}" for n in range(COUNT)), "o/007-long"])]
