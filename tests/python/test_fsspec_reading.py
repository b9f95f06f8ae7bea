"""cat, cat_file and cat_ranges of dataflux.fsspec."""

import os

import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem


@pytest.fixture
def fs(emulator):
    return DatafluxFileSystem(**emulator.options)


@pytest.fixture
def windows(monkeypatch):
    """How many windows of reads were opened."""
    opened = []
    real = dataflux.Client.get_many
    monkeypatch.setattr(dataflux.Client, "get_many",
                        lambda *given, **how: opened.append(1) or real(*given, **how))
    return opened


def test_cat_of_one_file_gives_bytes(fs, bucket):
    bucket.put("x", b"content")
    assert fs.cat(bucket("x")) == fs.cat_file(f"{bucket.name}/x") == b"content"


def test_cat_file_takes_slices(fs, bucket):
    data = os.urandom(1000)
    bucket.put("x", data)
    for start, end in ((None, None), (0, 10), (10, None), (-10, None), (None, -990), (-20, -10),
                       (5, 2), (7, 7), (0, 5000), (999, 1000), (1000, 1001), (5000, None),
                       (-5000, 3), (0, 0)):
        assert fs.cat_file(f"{bucket.name}/x", start, end) == data[start:end], (start, end)
    assert fs.head(f"{bucket.name}/x", 5) == data[:5] and fs.tail(f"{bucket.name}/x", 5) == data[-5:]
    assert fs.tail(f"{bucket.name}/x", 0) == b""
    assert fs.read_block(f"{bucket.name}/x", 3, 4) == data[3:7]


def test_cat_of_an_empty_object(fs, bucket):
    bucket.put("x")
    assert fs.cat(bucket("x")) == fs.cat_file(bucket("x"), 0, 10) == b""
    assert fs.cat([bucket("x")]) == {f"{bucket.name}/x": b""}


def test_cat_of_many_is_one_window(fs, bucket, windows):
    content = {f"{bucket.name}/{i:03}": str(i).encode() for i in range(300)}
    fs.pipe(content)
    assert fs.cat(list(content)) == content
    assert len(windows) == 1
    assert fs.cat(bucket.name, recursive=True) == content
    assert fs.cat(f"{bucket.name}/00*") == {path: data for path, data in content.items()
                                            if "/00" in path}
    assert len(windows) == 3


def test_cat_of_many_buckets(emulator, fs, bucket):
    emulator.add_bucket(bucket.name + "-b")
    paths = [f"{bucket.name}-b/x", f"{bucket.name}/x"]
    fs.pipe({paths[0]: b"b", paths[1]: b"a"})
    assert fs.cat(paths) == {paths[0]: b"b", paths[1]: b"a"}


def test_cat_of_what_is_not_there(fs, bucket):
    bucket.put("x", b"1")
    there, none = f"{bucket.name}/x", f"{bucket.name}/none"
    with pytest.raises(FileNotFoundError):
        fs.cat(none)
    with pytest.raises(FileNotFoundError) as failed:
        fs.cat([there, none])
    assert failed.value.object == "none"
    assert fs.cat([there, none], on_error="omit") == {there: b"1"}
    found = fs.cat([there, none], on_error="return")
    assert found[there] == b"1" and isinstance(found[none], dataflux.NotFoundError)
    with pytest.raises(ValueError, match="on_error"):
        fs.cat([there], on_error="ignore")


def test_cat_of_a_pattern_that_nothing_matches(fs, bucket):
    with pytest.raises(FileNotFoundError):
        fs.cat(f"{bucket.name}/none*")


def test_cat_ranges_is_one_window(fs, bucket, windows):
    data = {name: os.urandom(100) for name in "abc"}
    for name, content in data.items():
        bucket.put(name, content)
    wanted = [(name, start, start + 7) for name in "cab" for start in (50, 0, 93, 98)]
    found = fs.cat_ranges([f"{bucket.name}/{name}" for name, _, _ in wanted],
                          [start for _, start, _ in wanted], [end for _, _, end in wanted])
    assert found == [data[name][start:end] for name, start, end in wanted]
    assert len(windows) == 1
    assert fs.cat_ranges([f"{bucket.name}/a"] * 2, 3, None) == [data["a"][3:]] * 2


def test_cat_ranges_has_slices_from_the_end(fs, bucket):
    bucket.put("x", b"0123456789")
    path = f"{bucket.name}/x"
    assert fs.cat_ranges([path] * 5, [-3, None, -5, 20, 4], [None, -7, -4, None, 2]) == [
        b"789", b"012", b"5", b"", b""]


def test_cat_ranges_gives_errors_or_raises(fs, bucket):
    bucket.put("x", b"0123456789")
    paths = [f"{bucket.name}/none", f"{bucket.name}/x", f"{bucket.name}/none"]
    first, second, third = fs.cat_ranges(paths, [0, 1, -1], [1, 2, None])
    assert isinstance(first, FileNotFoundError) and second == b"1"
    assert isinstance(third, FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        fs.cat_ranges(paths, 0, 1, on_error="raise")
    with pytest.raises(FileNotFoundError):
        fs.cat_ranges(paths, -1, None, on_error="raise")


def test_cat_ranges_refuses_what_does_not_fit(fs, bucket):
    with pytest.raises(ValueError, match="starts"):
        fs.cat_ranges([f"{bucket.name}/x"], [0, 1], [1])
    with pytest.raises(TypeError, match="paths"):
        fs.cat_ranges(f"{bucket.name}/x", 0, 1)
    with pytest.raises(NotImplementedError, match="max_gap"):
        fs.cat_ranges([f"{bucket.name}/x"], 0, 1, max_gap=5)


def test_a_read_that_is_refused_for_a_while_succeeds(emulator, fs, bucket):
    bucket.put("x", b"content")
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 503, "count": 2})
    assert fs.cat([bucket("x")]) == {f"{bucket.name}/x": b"content"}


def test_bytes_that_are_not_those_that_were_written_are_an_error(emulator, fs, bucket):
    bucket.put("x", b"content" * 100)
    emulator.faults({"verb": "objects.media", "action": "flip_byte", "count": 0})
    with pytest.raises(dataflux.DataLossError):
        fs.cat([bucket("x")])


def test_a_mapper_is_a_dict_of_a_folder(fs, bucket):
    mapper = fs.get_mapper(f"{bucket.name}/m")
    mapper["a"] = b"1"
    mapper.setitems({"b/c": b"2", "d": b"3"})
    assert dict(mapper) == {"a": b"1", "b/c": b"2", "d": b"3"} and len(mapper) == 3
    assert mapper.getitems(["a", "none"], on_error="omit") == {"a": b"1"}
    del mapper["a"]
    assert "a" not in mapper
    with pytest.raises(KeyError):
        mapper["a"]
