"""pipe, cp, mv, rm and attributes of dataflux.fsspec."""

import asyncio
import warnings
from datetime import datetime, timezone

import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem


@pytest.fixture
def fs(emulator):
    return DatafluxFileSystem(**emulator.options)


def tree(bucket, folder="a"):
    for name in ("x", "y/z", "y/w"):
        bucket.put(f"{folder}/{name}", name.encode())


def verbs(service, call):
    """How many requests of each verb a call makes."""
    before = {(each["verb"], each["status"]): each["count"] for each in service.counters()["requests"]}
    call()
    made = {}
    for each in service.counters()["requests"]:
        more = each["count"] - before.get((each["verb"], each["status"]), 0)
        if more and each["verb"] != "control":
            made[each["verb"]] = made.get(each["verb"], 0) + more
    return made


def test_pipe_writes_one_and_many(fs, bucket):
    fs.pipe(bucket("one"), b"1")
    fs.pipe({bucket("two"): bytearray(b"2"), f"{bucket.name}/three": memoryview(b"3")})
    assert [bucket.get(name) for name in ("one", "two", "three")] == [b"1", b"2", b"3"]


def test_pipe_of_a_large_value_goes_by_parts(fs, bucket):
    data = bytes(range(256)) * (20 << 12)
    fs.pipe_file(f"{bucket.name}/large", data)
    assert bucket.get("large") == data


def test_pipe_file_creates_only_where_nothing_is(fs, bucket):
    path = f"{bucket.name}/x"
    fs.pipe_file(path, b"1", mode="create")
    for data in (b"2", bytes(17 << 20)):
        with pytest.raises(FileExistsError):
            fs.pipe_file(path, data, mode="create")
    assert bucket.get("x") == b"1"
    with pytest.raises(ValueError, match="mode"):
        fs.pipe_file(path, b"2", mode="append")


def test_pipe_takes_attributes(fs, bucket):
    path = f"{bucket.name}/x"
    fs.pipe_file(path, b"1", content_type="text/plain", metadata={"a": "b"},
                 fixed_key_metadata={"cache_control": "no-store",
                                     "custom_time": "2033-05-18T03:33:20Z"})
    entry = fs.info(path)
    assert entry["contentType"] == "text/plain" and entry["metadata"] == {"a": "b"}
    assert entry["cacheControl"] == "no-store"
    assert entry["customTime"].startswith("2033-05-18T03:33:20")


@pytest.mark.parametrize("how", [{"acl": "publicRead"}, {"what": 1},
                                 {"fixed_key_metadata": {"x": "y"}}])
def test_what_cannot_be_is_refused_by_name(fs, bucket, how):
    with pytest.raises((TypeError, ValueError), match=next(iter(how))):
        fs.pipe_file(f"{bucket.name}/x", b"1", **how)
    assert bucket.names() == []


def test_pipe_of_many_says_which_failed(emulator, fs, bucket):
    emulator.faults({"verb": "objects.insert", "object": "b", "action": "refuse", "status": 403})
    with pytest.raises(PermissionError) as failed:
        fs.pipe({f"{bucket.name}/{name}": b"1" for name in "abc"})
    assert failed.value.object == "b"
    assert sorted(bucket.names()) == ["a", "c"]


def test_touch(fs, bucket):
    path = f"{bucket.name}/x"
    fs.touch(path)
    assert bucket.get("x") == b""
    bucket.put("x", b"1")
    with pytest.raises(NotImplementedError, match="truncate"):
        fs.touch(path, truncate=False)
    assert bucket.get("x") == b"1"
    fs.touch(path)
    assert bucket.get("x") == b""
    fs.touch(f"{bucket.name}/new", truncate=False)
    assert bucket.get("new") == b""


def test_cp_and_mv_carry_no_byte(emulator, fs, bucket):
    tree(bucket)
    made = verbs(emulator, lambda: fs.cp(f"{bucket.name}/a", f"{bucket.name}/b", recursive=True))
    assert made.pop("objects.list") and made.pop("objects.get") == 1
    assert made == {"objects.rewrite": 3}
    assert fs.find(f"{bucket.name}/b") == [f"{bucket.name}/b/x", f"{bucket.name}/b/y/w",
                                           f"{bucket.name}/b/y/z"]
    made = verbs(emulator, lambda: fs.mv(f"{bucket.name}/b", f"{bucket.name}/c", recursive=True))
    assert made.pop("objects.list") and made.pop("objects.get") == 1
    assert made == {"objects.move": 3}
    assert not fs.exists(f"{bucket.name}/b") and bucket.get("c/y/z") == b"y/z"


def test_a_folder_without_recursive_is_told(fs, bucket, tmp_path):
    """fsspec's cp, get and put do nothing with it, and its mv fails."""
    tree(bucket)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "x").write_bytes(b"x")
    folder, pattern, to = f"{bucket.name}/a", f"{bucket.name}/a/y*", f"{bucket.name}/b"
    for source in (folder, folder + "/", pattern):
        with pytest.raises(IsADirectoryError, match="recursive=True"):
            fs.mv(source, to)
        with pytest.raises(IsADirectoryError, match="recursive=True"):
            asyncio.run(DatafluxFileSystem(**fs.storage_options)._mv(source, to))
        for copy, target in ((fs.cp, to), (fs.get, str(tmp_path / "there"))):
            with pytest.warns(UserWarning, match="recursive=True"):
                copy(source, target)
    with pytest.warns(UserWarning, match="recursive=True"):
        fs.put(str(tmp_path / "here"), to)
    with pytest.raises(IsADirectoryError, match="recursive=True"):
        fs.rm(folder)
    with pytest.raises(IsADirectoryError, match="recursive=True"):
        fs.mv([folder], [to])
    with pytest.raises(IsADirectoryError, match="recursive=True"):
        fs.mv_file(folder, to)
    assert sorted(bucket.names()) == ["a/x", "a/y/w", "a/y/z"]
    assert not (tmp_path / "there").exists()
    fs.mv(f"{bucket.name}/a/*", to)  # what a shell's `cp` does with a pattern: files alone
    assert sorted(bucket.names()) == ["a/y/w", "a/y/z", "b/x"]


def test_the_line_that_has_called_is_told_of_a_folder_without_recursive(fs, bucket, tmp_path):
    bucket.put("a/x", b"1")
    folder, target = f"{bucket.name}/a", f"{bucket.name}/b"
    (tmp_path / "here").mkdir()

    async def copies():
        await DatafluxFileSystem(**fs.storage_options)._copy(folder, target)

    for call in (lambda: fs.cp(folder, target), lambda: fs.copy(folder, target), lambda: asyncio.run(copies()),
                 lambda: fs.get(folder, str(tmp_path / "there")), lambda: fs.download(folder, str(tmp_path / "there")),
                 lambda: fs.put(str(tmp_path / "here"), target)):
        with pytest.warns(UserWarning, match="recursive=True") as told:
            call()
        assert [each.filename for each in told] == [__file__]


def test_no_paths_to_no_paths_is_nothing_to_do(fs, emulator):
    def nothing():
        for verb in (fs.cp, fs.copy, fs.mv, fs.get, fs.put):
            for none in (list, tuple, lambda: iter(())):
                for recursive in (False, True):
                    assert verb(none(), none(), recursive=recursive) is None

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert verbs(emulator, nothing) == {}


def test_cp_and_mv_of_one_file(fs, bucket):
    tree(bucket)
    fs.cp_file(f"{bucket.name}/a/x", f"{bucket.name}/x2")
    fs.mv_file(f"{bucket.name}/x2", f"{bucket.name}/x3")
    fs.mv(f"{bucket.name}/x3", f"{bucket.name}/a/")
    assert sorted(bucket.names()) == ["a/x", "a/x3", "a/y/w", "a/y/z"]
    fs.mv(f"{bucket.name}/a/x", f"{bucket.name}/a/x")
    assert bucket.get("a/x") == b"x"
    for verb in (fs.cp, fs.mv, fs.cp_file, fs.mv_file):
        with pytest.raises(FileNotFoundError):
            verb(f"{bucket.name}/none", f"{bucket.name}/other")


def test_cp_keeps_what_stands_beside_the_bytes(fs, bucket):
    fs.pipe_file(f"{bucket.name}/x", b"1", content_type="text/plain", metadata={"a": "b"})
    fs.cp(f"{bucket.name}/x", f"{bucket.name}/y")
    assert fs.info(f"{bucket.name}/y")["metadata"] == {"a": "b"}
    assert fs.info(f"{bucket.name}/y")["contentType"] == "text/plain"


def test_a_whole_bucket_is_copied_with_its_folders(emulator, fs, bucket):
    tree(bucket)
    emulator.add_bucket(bucket.name + "-b")
    fs.cp(bucket.name, bucket.name + "-b/all", recursive=True)
    assert fs.find(bucket.name + "-b") == [f"{bucket.name}-b/all/a/{name}"
                                           for name in ("x", "y/w", "y/z")]


def test_mv_into_another_bucket_copies_and_removes(emulator, fs, bucket):
    tree(bucket)
    emulator.add_bucket(bucket.name + "-b")
    fs.mv(f"{bucket.name}/a", bucket.name + "-b/a", recursive=True)
    assert bucket.names() == [] and len(fs.find(bucket.name + "-b")) == 3
    assert fs.cat_file(f"{bucket.name}-b/a/x") == b"x"


def test_mv_into_another_bucket_keeps_what_was_written_meanwhile(emulator, fs, bucket):
    emulator.add_bucket(bucket.name + "-b")
    bucket.put("x", b"old")
    real = fs._blocking._road.each

    async def each(verb, arguments, *rest):
        if verb == "delete":
            bucket.put("x", b"new")
        return await real(verb, arguments, *rest)

    fs._blocking._road.each = each
    try:
        with pytest.raises(dataflux.PreconditionError):
            fs.mv(f"{bucket.name}/x", f"{bucket.name}-b/x")
    finally:
        del fs._blocking._road.each
    assert bucket.get("x") == b"new" and fs.cat_file(f"{bucket.name}-b/x") == b"old"


def test_a_folder_that_an_object_makes_moves_as_a_whole(fs, bucket):
    for name in ("m/", "m/n/", "m/x"):
        bucket.put(name)
    fs.mv(f"{bucket.name}/m", f"{bucket.name}/to", recursive=True)
    assert sorted(bucket.names()) == ["to/", "to/n/", "to/x"]


def test_rm_of_files(fs, bucket):
    tree(bucket)
    fs.rm(f"{bucket.name}/a/x")
    fs.rm_file(bucket("a/y/z"))
    assert bucket.names() == ["a/y/w"]
    for path in (f"{bucket.name}/a/x", f"{bucket.name}/none*"):
        with pytest.raises(FileNotFoundError):
            fs.rm(path)
    assert bucket.names() == ["a/y/w"]


def test_rm_of_many(fs, bucket):
    names = [f"{bucket.name}/{i:03}" for i in range(200)]
    fs.pipe(dict.fromkeys(names, b"1"))
    fs.rm(names[:100])
    fs.rm(f"{bucket.name}/1[0-7]*")
    fs.rm_files(names[180:])
    assert fs.find(bucket.name) == []


def test_rm_recursive_removes_all_below_and_nothing_else(fs, bucket):
    tree(bucket)
    for name in ("a", "ab", "a/", "b/x"):
        bucket.put(name)
    fs.rm(f"{bucket.name}/a", recursive=True)
    assert sorted(bucket.names()) == ["ab", "b/x"]
    with pytest.raises(FileNotFoundError):
        fs.rm(f"{bucket.name}/a", recursive=True)
    fs.rm(f"{bucket.name}/ab", recursive=True)
    assert bucket.names() == ["b/x"]


def test_rm_recursive_of_a_pattern_and_to_a_depth(fs, bucket):
    tree(bucket, "a1")
    tree(bucket, "a2")
    fs.rm(f"{bucket.name}/a1", recursive=True, maxdepth=1)
    assert fs.find(f"{bucket.name}/a1") == [f"{bucket.name}/a1/y/w", f"{bucket.name}/a1/y/z"]
    fs.rm(f"{bucket.name}/a*", recursive=True)
    assert bucket.names() == []


def test_rm_of_a_bucket_says_what_to_do(fs, bucket):
    bucket.put("x")
    with pytest.raises(NotImplementedError, match="bucket"):
        fs.rm(bucket.name, recursive=True)
    assert bucket.names() == ["x"]


def test_rm_goes_on_where_one_fails(emulator, fs, bucket):
    fs.pipe({f"{bucket.name}/{name}": b"1" for name in "abc"})
    emulator.faults({"verb": "objects.delete", "object": "b", "action": "refuse", "status": 403})
    with pytest.raises(PermissionError):
        fs.rm([f"{bucket.name}/{name}" for name in "abc"])
    assert bucket.names() == ["b"]


def test_folders_are_nothing_but_names(emulator, fs, bucket):
    before = emulator.answered()
    fs.mkdir(f"{bucket.name}/a")
    fs.makedirs(f"{bucket.name}/a/b")
    fs.makedirs(f"{bucket.name}", exist_ok=True)
    fs.rmdir(f"{bucket.name}/a")
    assert emulator.answered() == before
    for verb in (fs.mkdir, fs.rmdir, fs.makedirs):
        with pytest.raises(NotImplementedError, match="gcloud"):
            verb("new-bucket")


def test_setxattrs_and_getxattr(fs, bucket):
    path = f"{bucket.name}/x"
    bucket.put("x", b"1")
    assert fs.setxattrs(path, content_type="text/plain", a="1", b="2") == {"a": "1", "b": "2"}
    assert fs.setxattrs(path, a=None) == {"b": "2"}
    assert fs.setxattrs(path) == {"b": "2"}
    assert fs.getxattr(path, "b") == "2"
    with pytest.raises(KeyError):
        fs.getxattr(path, "a")
    fs.setxattrs(path, fixed_key_metadata={
        "content_language": "de", "custom_time": datetime(2033, 1, 1, tzinfo=timezone.utc)})
    entry = fs.info(path)
    assert entry["contentType"] == "text/plain" and entry["contentLanguage"] == "de"


def test_merge_puts_objects_together(fs, bucket):
    bucket.put("a", b"1")
    bucket.put("b", b"2")
    fs.merge(f"{bucket.name}/c", [f"{bucket.name}/a", f"{bucket.name}/b"])
    assert bucket.get("c") == b"12"


def test_a_filesystem_for_reading_changes_nothing(emulator, bucket, tmp_path):
    bucket.put("x", b"1")
    fs = DatafluxFileSystem(**emulator.options, access="read_only")
    (tmp_path / "file").write_bytes(b"2")
    path, other = f"{bucket.name}/x", f"{bucket.name}/y"
    for change in (lambda: fs.pipe(path, b"2"), lambda: fs.rm(path), lambda: fs.rm_file(path),
                   lambda: fs.rm(bucket.name + "/", recursive=True), lambda: fs.open(path, "wb"),
                   lambda: fs.cp(path, other), lambda: fs.mv(path, other),
                   lambda: fs.mv(other, path), lambda: fs.touch(path),
                   lambda: fs.setxattrs(path, a="b"), lambda: fs.merge(path, [path]),
                   lambda: fs.put(tmp_path / "file", path),
                   lambda: fs.put(tmp_path, other, recursive=True)):
        with pytest.raises(PermissionError, match="read_only"):
            change()
    assert fs.cat(path) == b"1" and bucket.names() == ["x"]


def test_rm_of_a_folder_says_how_to_remove_it(fs, bucket):
    bucket.put("folder/x", b"1")
    for path in (bucket("folder"), bucket("folder/"), [bucket("folder")]):
        with pytest.raises(IsADirectoryError, match="recursive=True"):
            fs.rm(path)
    with pytest.raises(IsADirectoryError, match="recursive=True"):
        fs.rm_file(bucket("folder"))
    with pytest.raises(FileNotFoundError):
        fs.rm(bucket("folder/none"))
    assert bucket.names() == ["folder/x"]
