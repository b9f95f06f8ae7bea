"""What dataflux.fsspec says is there. What gcsfs answers is written beside it where it differs."""

import asyncio
from datetime import datetime, timezone
from urllib.parse import quote

import pytest
from fsspec.implementations.memory import MemoryFileSystem

import dataflux
from dataflux.fsspec import DatafluxFileSystem


@pytest.fixture
def fs(emulator):
    return DatafluxFileSystem(**emulator.options, project="mine")


@pytest.fixture
def filled(bucket):
    for name in ("top", "a/x", "a/y/z", "a/y/w", "m/in", "dir/q", "dir-1/q", "same", "same/in",
                 "uml\u00e4ut/\u20ac"):
        bucket.put(name, name.encode())
    for marker in ("m/", "mm/"):
        bucket.put(marker)
    return bucket


def requests_of(emulator, call):
    before = emulator.answered()
    call()
    return emulator.answered() - before


def test_ls_gives_the_names_of_a_folder(fs, filled):
    name = filled.name
    assert fs.ls(f"{name}/a") == [f"{name}/a/x", f"{name}/a/y"]
    assert fs.ls(f"gs://{name}/a/") == fs.ls(f"dataflux://{name}/a") == fs.ls(f"{name}/a")


def test_ls_with_detail_has_size_type_and_checksum(fs, filled):
    name = filled.name
    file, folder = fs.ls(f"{name}/a", detail=True)
    known = fs.info(f"{name}/a/x")
    assert file == {"bucket": name, "name": f"{name}/a/x", "size": 3, "type": "file",
                    "generation": known["generation"], "crc32c": known["crc32c"]}
    assert folder == {"bucket": name, "name": f"{name}/a/y", "size": 0, "type": "directory",
                      "storageClass": "DIRECTORY"}


def test_ls_of_a_file_gives_that_file(fs, filled):
    assert fs.ls(f"{filled.name}/top") == [f"{filled.name}/top"]


def test_ls_of_what_is_not_there_fails(fs, filled):
    for path in (f"{filled.name}/none", f"{filled.name}/none/", "no-such-bucket/x"):
        with pytest.raises(FileNotFoundError):
            fs.ls(path)


def test_ls_of_an_empty_bucket_is_empty_and_of_a_missing_one_fails(fs, bucket):
    assert fs.ls(bucket.name) == []
    with pytest.raises(FileNotFoundError):
        fs.ls("no-such-bucket")


def test_ls_of_a_folder_that_only_an_object_makes_is_empty(fs, filled):
    # gcsfs lists the folder in itself.
    assert fs.ls(f"{filled.name}/mm") == []
    assert fs.ls(f"{filled.name}/m") == [f"{filled.name}/m/in"]


def test_ls_of_the_root_gives_the_buckets(fs, filled):
    assert filled.name in fs.ls("")


def test_versions_are_named_by_their_generations(emulator, fs, bucket):
    emulator.add_bucket(bucket.name, versioning=True)
    for data in (b"1", b"22"):
        fs.pipe(f"{bucket.name}/x", data)
    names = fs.ls(bucket.name, versions=True)
    assert len(names) == 2 and all(name.startswith(f"{bucket.name}/x#") for name in names)
    assert fs.find(bucket.name, versions=True) == names
    aware = DatafluxFileSystem(**emulator.options, version_aware=True)
    assert [aware.cat_file(name) for name in names] == [b"1", b"22"]
    assert aware.cat(names) == dict(zip(names, (b"1", b"22")))
    assert fs.info(f"{bucket.name}/x", generation=names[0].split("#")[1])["size"] == 1
    assert aware.open(names[0]).read() == b"1"
    with pytest.raises(ValueError, match="generation"):
        aware.pipe(names[0], b"3")


def test_info_of_a_file_has_all_that_the_service_says(fs, filled):
    entry = fs.info(f"gs://{filled.name}/top")
    assert entry["name"] == f"{filled.name}/top"
    assert entry["type"] == "file" and entry["size"] == 3 and entry["md5Hash"]
    assert entry["mtime"].tzinfo is timezone.utc and isinstance(entry["ctime"], datetime)
    assert fs.created(f"{filled.name}/top") == entry["ctime"]
    assert fs.modified(f"{filled.name}/top") == entry["mtime"]


def test_info_of_folders_and_buckets(fs, filled):
    name = filled.name
    assert fs.info(f"{name}/a")["type"] == "directory"
    assert fs.info(f"{name}/a/")["name"] == f"{name}/a"
    assert fs.info(name)["type"] == "directory" and fs.info(name)["name"] == name
    for path in (f"{name}/none", "no-such-bucket", "no-such-bucket/x"):
        with pytest.raises(FileNotFoundError):
            fs.info(path)


def test_a_folder_has_no_times(fs, filled):
    with pytest.raises(IsADirectoryError):
        fs.modified(f"{filled.name}/a")


def test_exists_isfile_isdir(fs, filled):
    name = filled.name
    told = {path: (fs.exists(path), fs.isfile(path), fs.isdir(path)) for path in (
        f"{name}/top", f"{name}/a", f"{name}/a/", f"{name}/mm", f"{name}/same", name,
        f"{name}/none", f"{name}/to", "no-such-bucket", "no-such-bucket/x")}
    assert list(told.values()) == [
        (True, True, False), (True, False, True), (True, False, True), (True, False, True),
        (True, True, False), (True, False, True), (False, False, False), (False, False, False),
        (False, False, False), (False, False, False)]


def test_exists_does_not_hide_other_failures(emulator, fs, filled):
    emulator.faults({"verb": "objects.get", "action": "refuse", "status": 403})
    with pytest.raises(PermissionError):
        fs.exists(f"{filled.name}/top")


def test_a_bucket_is_there_for_those_who_may_only_list_it(emulator, fs, filled):
    emulator.faults({"verb": "buckets.get", "action": "refuse", "status": 403})
    assert fs.isdir(filled.name) and fs.info(filled.name)["type"] == "directory"


def test_a_folder_is_found_by_one_short_request(emulator, fs, filled):
    fs.isdir(filled.name)  # the connection
    assert requests_of(emulator, lambda: fs.isdir(f"{filled.name}/none")) == 1
    assert requests_of(emulator, lambda: fs.isfile(f"{filled.name}/none")) == 1
    assert requests_of(emulator, lambda: fs.exists(f"{filled.name}/top")) == 1
    assert requests_of(emulator, lambda: fs.info(f"{filled.name}/a")) == 2


def test_find_gives_all_files_below(fs, filled):
    name = filled.name
    assert fs.find(f"{name}/a") == [f"{name}/a/x", f"{name}/a/y/w", f"{name}/a/y/z"]
    assert fs.find(f"{name}/dir") == [f"{name}/dir/q"]
    assert fs.find(f"{name}/top") == [f"{name}/top"]
    assert fs.find(f"{name}/none") == []
    assert fs.find(f"{name}/uml\u00e4ut") == [f"{name}/uml\u00e4ut/\u20ac"]
    with pytest.raises(FileNotFoundError):
        fs.find("no-such-bucket")


def test_find_gives_no_objects_that_only_make_folders(fs, filled):
    # gcsfs gives "m/" as a file.
    name = filled.name
    assert fs.find(f"{name}/m") == [f"{name}/m/in"]
    assert fs.find(f"{name}/mm") == []
    assert fs.find(f"{name}/mm", withdirs=True) == [f"{name}/mm"]


def test_find_with_folders_and_depth(fs, filled):
    name = filled.name
    assert fs.find(f"{name}/a", withdirs=True) == [
        f"{name}/a", f"{name}/a/x", f"{name}/a/y", f"{name}/a/y/w", f"{name}/a/y/z"]
    assert fs.find(f"{name}/a", maxdepth=1) == [f"{name}/a/x"]
    assert fs.find(f"{name}/a", maxdepth=1, withdirs=True) == [
        f"{name}/a", f"{name}/a/x", f"{name}/a/y"]
    assert fs.find(name, maxdepth=2, withdirs=True, prefix="a") == [
        f"{name}/a", f"{name}/a/x", f"{name}/a/y"]
    with pytest.raises(ValueError, match="maxdepth"):
        fs.find(name, maxdepth=0)


def test_one_level_does_not_list_what_lies_deeper(emulator, fs, bucket):
    fs.pipe({f"{bucket.name}/deep/{i:04}": b"" for i in range(1500)}
            | {f"{bucket.name}/file": b"1"})
    for call in (lambda: fs.ls(bucket.name), lambda: fs.find(bucket.name, maxdepth=1),
                 lambda: list(fs.walk(bucket.name, maxdepth=1)),
                 lambda: fs.glob(f"{bucket.name}/f*")):
        assert requests_of(emulator, call) == 1


def test_find_with_detail_and_a_file_and_a_folder_of_one_name(fs, filled):
    found = fs.find(filled.name, withdirs=True, detail=True)
    assert found[f"{filled.name}/same"]["type"] == "file"
    assert found[f"{filled.name}/same/in"]["size"] == 7
    assert list(found) == sorted(found)


def test_walk_gives_folders_and_files(fs, filled):
    name = filled.name
    assert list(fs.walk(f"{name}/a")) == [(f"{name}/a", ["y"], ["x"]), (f"{name}/a/y", [], ["w", "z"])]
    assert list(fs.walk(f"{name}/a", topdown=False)) == list(fs.walk(f"{name}/a"))[::-1]
    path, folders, files = next(fs.walk(name))
    assert path == name and "same" in folders and "same" in files
    assert list(fs.walk(f"{name}/top")) == [(f"{name}/top", [], [""])]


def test_walk_passes_over_folders_that_were_taken_out(fs, filled):
    seen = []
    for path, folders, files in fs.walk(filled.name):
        seen.append(path)
        folders[:] = [folder for folder in folders if folder == "a"]
    assert seen == [filled.name, f"{filled.name}/a"]


def test_walk_of_what_is_not_there(fs, filled):
    path = f"{filled.name}/none"
    assert list(fs.walk(path)) == [(path, [], [])]
    errors = []
    list(fs.walk(path, on_error=errors.append))
    assert isinstance(errors[0], FileNotFoundError)
    with pytest.raises(FileNotFoundError):
        list(fs.walk(path, on_error="raise"))


FAILURES = [{"action": "refuse", "status": status} for status in (401, 403, 408, 500, 503)]
FAILURES += [{"action": "refuse", "status": 400}, {"action": "cut"}]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: str(list(failure.values())[-1]))
@pytest.mark.parametrize("depth", [None, 1])
def test_walk_hides_no_failure(emulator, filled, failure, depth):
    fs = DatafluxFileSystem(**emulator.options, max_attempts=1)
    emulator.faults({"verb": "objects.list", "count": 0, **failure})
    told = []
    for on_error in ("omit", "raise", told.append):
        with pytest.raises(dataflux.Error):
            list(fs.walk(filled.name, maxdepth=depth, on_error=on_error))

    async def walked():
        return [each async for each in fs._walk(filled.name, maxdepth=depth)]

    with pytest.raises(dataflux.Error):
        asyncio.run(walked())
    assert told == []


def test_walk_hides_no_missing_permission_of_one_file(emulator, fs, filled):
    emulator.faults({"verb": "objects.get", "action": "refuse", "status": 403, "count": 0})
    with pytest.raises(PermissionError):
        list(fs.walk(f"{filled.name}/top"))


def test_walk_of_a_bucket_that_is_not_there(fs, filled):
    assert list(fs.walk("no-such-bucket")) == [("no-such-bucket", [], [])]
    with pytest.raises(FileNotFoundError):
        list(fs.walk("no-such-bucket", on_error="raise"))


def test_walk_is_one_listing(emulator, fs, bucket):
    fs.pipe({f"{bucket.name}/{i}/{j}/x": b"" for i in range(10) for j in range(10)})
    assert requests_of(emulator, lambda: list(fs.walk(bucket.name))) < 10


def test_glob(fs, filled):
    name = filled.name
    assert fs.glob(f"{name}/a/*") == [f"{name}/a/x", f"{name}/a/y"]
    assert fs.glob(f"{name}/a/**") == [f"{name}/a", f"{name}/a/x", f"{name}/a/y", f"{name}/a/y/w",
                                       f"{name}/a/y/z"]
    assert fs.glob(f"{name}/dir*/q") == [f"{name}/dir-1/q", f"{name}/dir/q"]
    assert fs.glob(f"{name}/**/[zw]") == [f"{name}/a/y/w", f"{name}/a/y/z"]
    assert fs.glob(f"{name}/top") == [f"{name}/top"]
    assert fs.glob(f"{name}/none*") == fs.glob(f"{name}/none") == []
    assert name in fs.glob(f"{name[:-1]}*")


@pytest.mark.parametrize("pattern", [
    "*/", "a/*/", "**/", "a/**/", "a/", "a", "top/", "a/x/", "none/", "*/*/", "[am]/", "?*/",
    "**/y/", "a/*", "**", "no*/"])
@pytest.mark.parametrize("depth", [None, 1])
def test_a_pattern_with_a_slash_at_its_end_finds_folders_as_in_memory(fs, filled, pattern, depth):
    memory = MemoryFileSystem()
    root = f"/{filled.name}"
    for name in ("top", "a/x", "a/y/z", "a/y/w", "m/in", "dir/q", "dir-1/q", "mm/"):
        if name.endswith("/"):
            memory.mkdir(f"{root}/{name}")
        else:
            memory.pipe(f"{root}/{name}", b"1")
    expected = [name[1:] for name in memory.glob(f"{root}/{pattern}", maxdepth=depth)
                if not pattern.endswith("/") or memory.isdir(name)]
    for name in ("same", "same/in", "uml\u00e4ut/\u20ac"):
        filled.service.ask("DELETE", f"/storage/v1/b/{filled.name}/o/{quote(name, safe='')}")
    # The bucket is no entry of itself.
    expected = [name for name in expected if name != filled.name]
    assert fs.glob(f"{filled.name}/{pattern}", maxdepth=depth) == expected
    detail = fs.glob(f"{filled.name}/{pattern}", maxdepth=depth, detail=True)
    assert list(detail) == expected and all(entry["name"] == name for name, entry in detail.items())


def test_du(fs, filled):
    name = filled.name
    assert fs.du(f"{name}/a") == 13 and fs.du(f"{name}/top") == 3 and fs.du(f"{name}/none") == 0
    assert fs.du(f"{name}/a", total=False) == {f"{name}/a/x": 3, f"{name}/a/y/w": 5,
                                               f"{name}/a/y/z": 5}
    assert fs.du(f"{name}/a", maxdepth=1) == 3
    assert fs.size(f"{name}/a/x") == 3
    assert fs.sizes([f"{name}/a/x", f"{name}/a/y/w", f"{name}/a"]) == [3, 5, 0]


def test_checksum_and_ukey_change_with_the_content(fs, filled):
    path = f"{filled.name}/top"
    before = fs.checksum(path), fs.ukey(path)
    assert before == (fs.checksum(path), fs.ukey(path))
    fs.pipe(path, b"top")
    assert fs.checksum(path) != before[0] and fs.ukey(path) != before[1]


def test_what_others_write_is_seen_at_once(fs, bucket):
    assert fs.ls(bucket.name) == []
    bucket.put("new")
    assert fs.ls(bucket.name) == fs.find(bucket.name) == [f"{bucket.name}/new"]


def test_paths(fs, bucket):
    assert fs._strip_protocol(["gs://b/x/", "gcs://b", "/b/x", "dataflux://b/y"]) == [
        "b/x/", "b", "b/x", "b/y"]
    assert fs._parent("gs://b/x/y") == "b/x" and fs._parent("b") == ""
    # So that others can read what is written down.
    for path in ("b/x", "gs://b/x", "gcs://b/x", "dataflux://b/x"):
        assert fs.unstrip_protocol(path) == "gs://b/x"
    with pytest.raises(ValueError, match="lost a slash"):
        fs.info("gs:/bucket/x")
    with pytest.raises(TypeError, match="path"):
        fs.info(7)
    with pytest.raises(IsADirectoryError):
        fs.cat_file(bucket.name)
    assert fs.url("b/x y") == f"{fs.client._options.given['endpoint']}/download/storage/v1/b/b/o/x%20y?alt=media"
