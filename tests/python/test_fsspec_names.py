"""Names that look like something else, in dataflux.fsspec: like a pattern, like a folder, like both an
object and a folder, and with slashes that follow each other."""

import os

import numpy
import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem


@pytest.fixture
def fs(emulator):
    return DatafluxFileSystem(**emulator.options)


@pytest.fixture
def alike(bucket):
    """Objects whose names are patterns that others match."""
    for name in ("in/img[1].jpg", "in/img1.jpg", "in/s*r", "in/star", "in/wh?t", "in/what"):
        bucket.put(name, name.encode())
    return bucket


PATTERNS = ("in/img[1].jpg", "in/s*r", "in/wh?t")
OTHERS = ("in/img1.jpg", "in/star", "in/what")


@pytest.mark.parametrize("name", PATTERNS)
def test_a_name_that_is_a_pattern_is_read_as_itself(fs, alike, tmp_path, name):
    path, content = f"{alike.name}/{name}", name.encode()
    assert fs.cat(path) == content
    assert fs.cat([path]) == {path: content}
    assert fs.cat(path, recursive=True) == content
    fs.get(path, str(tmp_path / "here"))
    assert (tmp_path / "here").read_bytes() == content
    fs.get([path], f"{tmp_path}/list/")
    assert (tmp_path / "list" / name[3:]).read_bytes() == content
    fs.get(path, str(tmp_path / "all"), recursive=True)
    assert (tmp_path / "all").read_bytes() == content
    assert fs.expand_path(path) == [path]


@pytest.mark.parametrize("name", PATTERNS)
def test_a_name_that_is_a_pattern_is_copied_moved_and_removed_alone(fs, alike, name):
    path, content = f"{alike.name}/{name}", name.encode()
    fs.cp(path, f"{alike.name}/copied")
    assert alike.get("copied") == content
    fs.cp([path], f"{alike.name}/to/")
    assert alike.get("to/" + name[3:]) == content
    fs.mv(path, f"{alike.name}/moved")
    assert alike.get("moved") == content and alike.get(name) is None
    alike.put(name, content)
    before = set(alike.names())
    fs.rm([path])
    assert before - set(alike.names()) == {name}
    alike.put(name, content)
    fs.rm(path)
    assert before - set(alike.names()) == {name}
    alike.put(name, content)
    fs.rm(path, recursive=True)
    assert before - set(alike.names()) == {name}


def test_what_find_gives_is_what_the_verbs_take(fs, alike, tmp_path):
    names = fs.find(f"{alike.name}/in")
    assert fs.cat(names) == {f"{alike.name}/{name}": name.encode() for name in PATTERNS + OTHERS}
    fs.get(names, f"{tmp_path}/")
    assert sorted(os.listdir(tmp_path)) == sorted(name[3:] for name in PATTERNS + OTHERS)
    fs.rm([name for name in names if "*" in name])
    assert alike.get("in/s*r") is None and alike.get("in/star") == b"in/star"


def test_names_that_are_no_patterns_cost_no_request_more(emulator, fs, alike):
    fs.cat(f"{alike.name}/in/star")
    before = emulator.answered()
    fs.cat([f"{alike.name}/in/star", f"{alike.name}/in/what"])
    assert emulator.answered() - before == 2


def test_a_pattern_that_is_no_name_is_one(fs, alike):
    assert fs.cat(f"{alike.name}/in/i*1.jpg") == {f"{alike.name}/in/img1.jpg": b"in/img1.jpg"}
    assert set(fs.expand_path(f"{alike.name}/in/*")) == {
        f"{alike.name}/{name}" for name in PATTERNS + OTHERS}
    assert fs.glob(f"{alike.name}/in/img[1].jpg") == [f"{alike.name}/in/img1.jpg"]


def test_who_may_list_and_not_ask_for_an_object_gets_its_name_too(emulator, fs, alike):
    emulator.faults({"verb": "objects.get", "action": "refuse", "status": 403, "count": 0})
    fs.rm(f"{alike.name}/in/img[1].jpg")
    assert alike.get("in/img[1].jpg") is None
    fs.rm(f"{alike.name}/in/st*")
    assert sorted(alike.names()) == ["in/img1.jpg", "in/s*r", "in/wh?t", "in/what"]


def test_a_folder_that_is_a_pattern_is_that_folder(fs, bucket, tmp_path):
    for name in ("dir[1]/x", "dir1/y"):
        bucket.put(name, name.encode())
    path = f"{bucket.name}/dir[1]"
    assert fs.cat(path, recursive=True) == {f"{path}/x": b"dir[1]/x"}
    fs.get(path, str(tmp_path / "down"), recursive=True)
    assert os.listdir(tmp_path / "down") == ["x"]
    fs.cp(path, f"{bucket.name}/to", recursive=True)
    assert fs.find(f"{bucket.name}/to") == [f"{bucket.name}/to/x"]
    fs.mv(path, f"{bucket.name}/moved", recursive=True)
    assert sorted(bucket.names()) == ["dir1/y", "moved/x", "to/x"]
    bucket.put("dir[1]/x")
    fs.rm(path, recursive=True)
    assert sorted(bucket.names()) == ["dir1/y", "moved/x", "to/x"]


@pytest.mark.parametrize("element", ["none[1]", "none*", "none"])
def test_an_element_of_a_list_that_is_not_there_is_missing(fs, alike, tmp_path, element):
    there, missing = f"{alike.name}/in/star", f"{alike.name}/{element}"
    for how in ({}, {"recursive": True}):
        with pytest.raises(FileNotFoundError):
            fs.cat([there, missing], **how)
        with pytest.raises(FileNotFoundError):
            fs.get([there, missing], f"{tmp_path}/", **how)
        with pytest.raises(FileNotFoundError):
            fs.cp([there, missing], f"{alike.name}/to/", on_error="raise", **how)
        assert isinstance(fs.cat([there, missing], on_error="return", **how)[missing],
                          FileNotFoundError)
    assert fs.cat([there, missing], on_error="omit") == {there: b"in/star"}
    assert fs.expand_path([there, missing]) == sorted([there, missing])


def test_expand_path_takes_names_literally(emulator, fs, alike):
    path = f"{alike.name}/in/*"
    before = emulator.answered()
    assert fs.expand_path(path, assume_literal=True) == [path]
    assert fs.expand_path([path, f"{alike.name}/in/s*r"], assume_literal=True) == [
        path, f"{alike.name}/in/s*r"]
    assert emulator.answered() == before
    assert fs.expand_path(f"{alike.name}/in/s*r", recursive=True, assume_literal=True) == [
        f"{alike.name}/in/s*r"]


def test_files_here_whose_names_are_patterns_go_up_as_themselves(fs, bucket, tmp_path):
    for name in ("loc[1].txt", "loc1.txt", "s*r", "star"):
        (tmp_path / name).write_bytes(name.encode())
    for name in ("loc[1].txt", "s*r"):
        fs.put(str(tmp_path / name), f"{bucket.name}/one")
        assert bucket.get("one") == name.encode()
        fs.put([str(tmp_path / name)], f"{bucket.name}/list/")
        assert bucket.get(f"list/{name}") == name.encode()
    assert sorted(bucket.names()) == ["list/loc[1].txt", "list/s*r", "one"]
    fs.put(f"{tmp_path}/lo*", f"{bucket.name}/all/")
    assert fs.find(f"{bucket.name}/all") == [f"{bucket.name}/all/loc1.txt",
                                             f"{bucket.name}/all/loc[1].txt"]
    (tmp_path / "dir[1]").mkdir()
    (tmp_path / "dir[1]" / "x").write_bytes(b"x")
    for target, how in (("up", {}), ("up2", {"content_type": "a/b"})):
        fs.put(str(tmp_path / "dir[1]"), f"{bucket.name}/{target}", recursive=True, **how)
        assert bucket.get(f"{target}/x") == b"x"


@pytest.mark.parametrize("element", ["none[1]", "none*", "none"])
def test_a_file_here_that_is_not_there_is_missing(fs, bucket, tmp_path, element):
    (tmp_path / "x").write_bytes(b"x")
    for how in ({}, {"recursive": True}):
        for wanted in ([str(tmp_path / "x"), str(tmp_path / element)], str(tmp_path / element)):
            with pytest.raises(FileNotFoundError):
                fs.put(wanted, f"{bucket.name}/up/", **how)


# An object and a folder of one name

@pytest.fixture
def both(bucket):
    for name in ("same", "same/x", "same.txt"):
        bucket.put(name, name.encode())
    return bucket


def test_a_name_that_is_both_is_found_as_both(fs, both):
    name = f"{both.name}/same"
    assert fs.find(name) == [name, f"{name}/x"]
    assert fs.find(name, maxdepth=1) == [name, f"{name}/x"]
    assert list(fs.find(name, detail=True)) == [name, f"{name}/x"]
    assert fs.find(name, detail=True)[name]["type"] == "file"
    assert fs.find(name + "/") == [f"{name}/x"]
    assert fs.du(name) == 10 == sum(fs.du(name, total=False).values())
    assert fs.du(name + "/") == 6
    assert fs.expand_path(name, recursive=True) == [name, f"{name}/x"]


def test_a_name_that_is_both_is_told_as_one_thing(fs, both):
    name = f"{both.name}/same"
    assert fs.info(name)["type"] == "file" and fs.isfile(name) and not fs.isdir(name)
    assert fs.info(name + "/")["type"] == "directory" and fs.isdir(name + "/")
    assert not fs.isfile(name + "/")


def test_a_name_that_is_both_loses_nothing(fs, both):
    name = f"{both.name}/same"
    assert fs.cat(name, recursive=True) == {name: b"same", f"{name}/x": b"same/x"}
    fs.cp(name, f"{both.name}/kept", recursive=True)
    assert both.get("kept") == b"same" and both.get("kept/x") == b"same/x"
    fs.mv(f"{both.name}/kept", f"{both.name}/moved", recursive=True)
    assert both.get("moved") == b"same" and both.get("moved/x") == b"same/x"
    fs.cp(name + "/", f"{both.name}/below", recursive=True)
    assert both.get("below") is None and both.get("below/x") == b"same/x"
    fs.rm(name, recursive=True)
    assert sorted(both.names()) == ["below/x", "moved", "moved/x", "same.txt"]


def test_a_pattern_that_matches_a_name_that_is_both_loses_nothing(fs, both):
    pattern = f"{both.name}/sa*e"
    assert fs.glob(pattern) == fs.glob(pattern + "/") == [f"{both.name}/same"]
    assert fs.glob(pattern + "/", detail=True)[f"{both.name}/same"]["type"] == "directory"
    assert fs.cat(pattern, recursive=True) == {f"{both.name}/same": b"same",
                                               f"{both.name}/same/x": b"same/x"}
    fs.cp(pattern, f"{both.name}/kept/", recursive=True)
    assert both.get("kept") == b"same" and both.get("kept/x") == b"same/x"
    fs.rm(pattern, recursive=True)
    assert not any(name.startswith("same") for name in both.names() if name != "same.txt")


def test_rm_of_what_lies_below_leaves_the_object_of_that_name(fs, both):
    fs.rm(f"{both.name}/same/", recursive=True)
    assert sorted(both.names()) == ["same", "same.txt"]


def test_a_name_that_is_both_cannot_be_both_here_and_get_says_so(fs, both, tmp_path):
    name = f"{both.name}/same"
    with pytest.raises(dataflux.Error, match="same") as failed:
        fs.get(name, str(tmp_path / "down"), recursive=True)
    assert failed.value.report.failed == 1 and failed.value.report.copied == 1
    assert failed.value.report.failures[0].object == "same"
    assert (tmp_path / "down" / "x").read_bytes() == b"same/x"
    fs.get(name + "/", str(tmp_path / "other"), recursive=True)
    assert os.listdir(tmp_path / "other") == ["x"]
    fs.get(name, str(tmp_path / "alone"))
    assert (tmp_path / "alone").read_bytes() == b"same"


# Folders do not list themselves

@pytest.fixture
def consoles(bucket):
    """Folders as the Cloud Console makes them."""
    for name in ("con/", "con/x", "con/deep/", "con/deep/er/", "alone/", "a//b", "a/c", "/first"):
        bucket.put(name, b"" if name.endswith("/") else b"1")
    return bucket


def test_a_folder_does_not_list_itself(fs, consoles):
    name = consoles.name
    assert fs.ls(f"{name}/con") == [f"{name}/con/deep", f"{name}/con/x"]
    assert fs.ls(f"{name}/alone") == [] == fs.ls(f"{name}/alone/")
    assert fs.find(f"{name}/con", withdirs=True) == [
        f"{name}/con", f"{name}/con/deep", f"{name}/con/deep/er", f"{name}/con/x"]
    assert fs.find(f"{name}/con", withdirs=True, maxdepth=1) == [
        f"{name}/con", f"{name}/con/deep", f"{name}/con/x"]
    assert list(fs.walk(f"{name}/alone")) == [(f"{name}/alone", [], [])]
    assert list(fs.walk(f"{name}/alone", maxdepth=1)) == [(f"{name}/alone", [], [])]


def test_going_down_by_ls_ends(fs, consoles):
    seen = []

    def down(path, depth=0):
        assert depth < 10
        for entry in fs.ls(path, detail=True):
            seen.append(entry["name"])
            if entry["type"] == "directory":
                down(entry["name"], depth + 1)

    down(consoles.name)
    assert len(seen) == len(set(seen))
    assert f"{consoles.name}/con/deep/er" in seen and f"{consoles.name}/a/c" in seen


def test_slashes_that_follow_each_other_are_reached_by_their_own_path(fs, consoles):
    name = consoles.name
    assert fs.ls(f"{name}/a") == fs.ls(f"{name}/a/") == [f"{name}/a/c"]
    assert fs.ls(f"{name}/a//") == [f"{name}/a//b"] == fs.find(f"{name}/a//")
    assert fs.ls(f"{name}//") == [f"{name}//first"] == fs.find(f"{name}//")
    assert fs.find(f"{name}/a") == [f"{name}/a//b", f"{name}/a/c"]
    assert fs.isdir(f"{name}/a//") and fs.info(f"{name}/a//")["type"] == "directory"
    assert not fs.exists(f"{name}/con//")
    assert fs.cat(f"{name}/a//b") == b"1" and fs.cat_file(f"{name}//first") == b"1"
    files = {f"{path}/{each}" for path, _, found in fs.walk(name) for each in found}
    assert {f"{name}/a//b", f"{name}/a/c", f"{name}//first"} <= files


def test_rm_of_slashes_removes_what_they_name_and_no_more(fs, consoles):
    fs.rm(f"{consoles.name}/a//", recursive=True)
    assert consoles.get("a/c") == b"1" and consoles.get("a//b") is None
    with pytest.raises(FileNotFoundError):
        fs.rm(f"{consoles.name}/con//", recursive=True)
    fs.rm(f"{consoles.name}//", recursive=True)
    assert consoles.get("/first") is None and consoles.get("a/c") == b"1"


def test_cp_and_mv_of_folders_keep_slashes(fs, consoles):
    name = consoles.name
    fs.cp(f"{name}/a", f"{name}/to", recursive=True)
    assert fs.find(f"{name}/to") == [f"{name}/to//b", f"{name}/to/c"]
    fs.mv(f"{name}/con", f"{name}/moved", recursive=True)
    assert [each for each in consoles.names() if each.startswith("moved")] == [
        "moved/", "moved/deep/", "moved/deep/er/", "moved/x"]
    assert not fs.exists(f"{name}/con")


# Paths of any kind

@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, dict.fromkeys, numpy.array,
                                  lambda paths: dict.fromkeys(paths).keys(), iter])
def test_paths_may_come_in_anything(fs, bucket, tmp_path, kind):
    fs.pipe({f"{bucket.name}/{each}": each.encode() for each in "ab"})
    paths = [f"{bucket.name}/a", f"{bucket.name}/b"]
    assert fs.cat(kind(paths)) == dict(zip(paths, (b"a", b"b")))
    assert fs.expand_path(kind(paths)) == paths
    assert sorted(fs.sizes(kind(paths))) == [1, 1]
    fs.cp(kind(paths), f"{bucket.name}/c/")
    fs.mv(kind([f"{bucket.name}/c/a", f"{bucket.name}/c/b"]), f"{bucket.name}/d/")
    fs.get(kind(paths), f"{tmp_path}/down/")
    fs.put(kind([f"{tmp_path}/down/a", f"{tmp_path}/down/b"]), f"{bucket.name}/e/")
    assert sorted(bucket.names()) == ["a", "b", "d/a", "d/b", "e/a", "e/b"]
    fs.rm(kind([f"{bucket.name}/d/a", f"{bucket.name}/d/b"]))
    fs.rm_files(kind([f"{bucket.name}/e/a", f"{bucket.name}/e/b"]))
    assert sorted(bucket.names()) == ["a", "b"]


def test_two_kinds_of_paths_go_pair_by_pair(fs, bucket, tmp_path):
    fs.pipe({f"{bucket.name}/{each}": each.encode() for each in "ab"})
    paths = f"{bucket.name}/a", f"{bucket.name}/b"
    fs.cp(paths, numpy.array([f"{bucket.name}/c", f"{bucket.name}/d"]))
    fs.mv([f"{bucket.name}/c", f"{bucket.name}/d"], (f"{bucket.name}/e", f"{bucket.name}/f"))
    assert sorted(bucket.names()) == ["a", "b", "e", "f"] and bucket.get("f") == b"b"
    fs.get(paths, (tmp_path / "1", str(tmp_path / "2")))
    fs.put((tmp_path / "1", str(tmp_path / "2")), (f"{bucket.name}/g", f"{bucket.name}/h"))
    assert bucket.get("h") == b"b"
    assert fs.cat_ranges(paths, numpy.array([0, 0]), numpy.array([1, 1])) == [b"a", b"b"]
    assert fs.cat_ranges(numpy.array(paths), (0, 0), 1) == [b"a", b"b"]
    fs.merge(f"{bucket.name}/all", paths)
    assert bucket.get("all") == b"ab"


def test_no_path_at_all(fs, bucket, tmp_path):
    for call in (lambda: fs.cat([]), lambda: fs.cp([], f"{bucket.name}/x/"),
                 lambda: fs.mv([], f"{bucket.name}/x/"), lambda: fs.rm([]),
                 lambda: fs.get([], str(tmp_path)), lambda: fs.put([], f"{bucket.name}/x/"),
                 lambda: fs.expand_path([])):
        with pytest.raises(FileNotFoundError, match="no path"):  # as fsspec's own do
            call()
    fs.rm_files([])
    for path in (7, b"bucket/x", None):
        with pytest.raises(TypeError, match="path"):
            fs.cat(path)


# A path that ends in "/" is a folder's

def test_files_are_not_written_as_folders(fs, bucket, tmp_path):
    bucket.put("x", b"1")
    (tmp_path / "f").write_bytes(b"1")
    folder = f"{bucket.name}/dir/"
    for call in (lambda: fs.put_file(str(tmp_path / "f"), folder),
                 lambda: fs.cp_file(f"{bucket.name}/x", folder),
                 lambda: fs.mv_file(f"{bucket.name}/x", folder),
                 lambda: fs.cp([f"{bucket.name}/x"], [folder]),
                 lambda: fs.put([str(tmp_path / "f")], [folder]),
                 lambda: fs.pipe_file(folder, b"1"), lambda: fs.pipe({folder: b"1"}),
                 lambda: fs.open(folder, "wb"), lambda: fs.open(folder, "w")):
        with pytest.raises(IsADirectoryError, match="dir/"):
            call()
    assert bucket.names() == ["x"]
    fs.pipe_file(folder, b"")  # an object that makes a folder
    fs.cp_file(folder, f"{bucket.name}/other/")
    fs.mv_file(f"{bucket.name}/other/", f"{bucket.name}/third/")
    fs.touch(f"{bucket.name}/fourth/")
    assert sorted(bucket.names()) == ["dir/", "fourth/", "third/", "x"]


def test_what_is_not_there_cannot_be_moved_onto_itself(fs, bucket):
    for source in (bucket("none"), f"{bucket.name}/none"):
        with pytest.raises(FileNotFoundError):
            fs.mv(source, f"{bucket.name}/none")
    bucket.put("x", b"1")
    for source in (bucket("x"), f"{bucket.name}/x"):
        fs.mv(source, f"{bucket.name}/x")
    assert bucket.get("x") == b"1"


def test_a_folder_is_copied_into_a_bucket_that_is_not_there_with_an_error(fs, bucket):
    bucket.put("a/x", b"1")
    for verb in (fs.cp, fs.mv):
        with pytest.raises(FileNotFoundError):
            verb(f"{bucket.name}/a", "no-such-bucket/b", recursive=True)
    assert bucket.get("a/x") == b"1"


# One object needs no permission to list

def refused(emulator, *verbs):
    emulator.faults(*({"verb": verb, "action": "refuse", "status": 403, "count": 0}
                      for verb in verbs))


def test_who_may_not_list_reads_copies_and_moves_one_object(emulator, fs, bucket, tmp_path):
    bucket.put("a/x", b"1")
    refused(emulator, "objects.list")
    source = f"{bucket.name}/a/x"
    fs.get(source, str(tmp_path / "f"))
    assert (tmp_path / "f").read_bytes() == b"1"
    fs.put(str(tmp_path / "f"), f"{bucket.name}/y")
    fs.cp(source, f"{bucket.name}/z")
    fs.mv(f"{bucket.name}/z", f"{bucket.name}/w")
    assert not fs.isdir(source) and fs.isfile(source) and fs.exists(source)
    fs.download(source, str(tmp_path / "g"))
    fs.upload(str(tmp_path / "g"), f"{bucket.name}/v")
    assert fs.cat(source) == b"1"
    emulator.faults()
    assert sorted(bucket.names()) == ["a/x", "v", "w", "y"]


def test_who_may_only_create_puts_one_object(emulator, fs, bucket, tmp_path):
    (tmp_path / "f").write_bytes(b"1")
    refused(emulator, "objects.list", "objects.get", "objects.media", "objects.delete",
            "buckets.get")
    fs.put(str(tmp_path / "f"), f"{bucket.name}/y")
    fs.put([str(tmp_path / "f")], f"{bucket.name}/dir/")
    fs.pipe(f"{bucket.name}/z", b"2")
    emulator.faults()
    assert sorted(bucket.names()) == ["dir/f", "y", "z"]


def test_what_is_missing_is_told_so_to_those_who_may_not_list(emulator, fs, bucket, tmp_path):
    refused(emulator, "objects.list")
    for call in (lambda: fs.get(f"{bucket.name}/none", str(tmp_path / "f")),
                 lambda: fs.get_file(f"{bucket.name}/none", str(tmp_path / "f")),
                 lambda: fs.cp(f"{bucket.name}/none", f"{bucket.name}/y"),
                 lambda: fs.rm_file(f"{bucket.name}/none")):
        with pytest.raises(FileNotFoundError):
            call()
    # Whether something lies below it, nobody says.
    with pytest.raises(PermissionError):
        fs.isdir(f"{bucket.name}/none")


def test_no_credentials_are_no_answer(emulator, fs, bucket, tmp_path):
    bucket.put("x", b"1")
    emulator.faults({"verb": "objects.list", "action": "refuse", "status": 401, "count": 0})
    (tmp_path / "f").write_bytes(b"1")
    for call in (lambda: fs.put(str(tmp_path / "f"), f"{bucket.name}/y"),
                 lambda: fs.cp(f"{bucket.name}/x", f"{bucket.name}/y")):
        with pytest.raises(dataflux.UnauthenticatedError):
            call()
