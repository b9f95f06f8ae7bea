"""get and put of dataflux.fsspec: files and folders of this machine."""

import io
import os

import pytest
from fsspec.callbacks import Callback

import dataflux
from dataflux.fsspec import DatafluxFileSystem


@pytest.fixture
def fs(emulator):
    return DatafluxFileSystem(**emulator.options)


@pytest.fixture
def folder(tmp_path):
    """A folder with files here."""
    made = tmp_path / "folder"
    (made / "sub").mkdir(parents=True)
    (made / "a").write_bytes(b"a" * 100)
    (made / "sub" / "b").write_bytes(b"b" * 200)
    return made


def content(path):
    """{path below: bytes} of a folder here."""
    return {str(each.relative_to(path)): each.read_bytes() for each in sorted(path.rglob("*"))
            if each.is_file()}


class Told(Callback):
    """What a callback was told last, and of each file."""

    def __init__(self):
        super().__init__()
        self.children = {}

    def branched(self, path_1, path_2, **kwargs):
        self.children[path_1, path_2] = child = Told()
        return child


def test_a_folder_goes_up_and_down(fs, bucket, folder, tmp_path):
    fs.put(str(folder), f"{bucket.name}/up", recursive=True)
    assert sorted(bucket.names()) == ["up/a", "up/sub/b"]
    fs.get(f"{bucket.name}/up", str(tmp_path / "down"), recursive=True)
    assert content(tmp_path / "down") == content(folder)


def test_a_folder_goes_into_one_that_is_there(fs, bucket, folder, tmp_path):
    bucket.put("up/other")
    fs.put(str(folder), f"{bucket.name}/up", recursive=True)
    fs.put(str(folder), f"{bucket.name}/new/", recursive=True)
    fs.put(f"{folder}/", f"{bucket.name}/up", recursive=True)
    assert sorted(bucket.names()) == ["new/folder/a", "new/folder/sub/b", "up/a", "up/folder/a",
                                      "up/folder/sub/b", "up/other", "up/sub/b"]
    down = tmp_path / "down"
    down.mkdir()
    fs.get(f"{bucket.name}/new/folder", str(down), recursive=True)
    assert content(down / "folder") == content(folder)
    fs.get(f"{bucket.name}/new/folder/", str(down), recursive=True)
    assert (down / "a").read_bytes() == b"a" * 100


def test_a_bucket_goes_down(fs, bucket, tmp_path):
    bucket.put("x/y", b"1")
    fs.get(bucket.name, str(tmp_path / "all"), recursive=True)
    assert content(tmp_path / "all") == {"x/y": b"1"}


def test_one_file_goes_up_and_down(fs, bucket, folder, tmp_path):
    fs.put(str(folder / "a"), f"{bucket.name}/one.txt")
    fs.put_file(folder / "a", f"{bucket.name}/two", content_type="a/b", metadata={"k": "v"})
    assert fs.info(f"{bucket.name}/one.txt")["size"] == 100
    assert fs.info(f"{bucket.name}/two")["contentType"] == "a/b"
    fs.get(f"{bucket.name}/one.txt", str(tmp_path / "new" / "one"))
    fs.get(f"{bucket.name}/one.txt", f"{tmp_path}/")
    fs.get_file(f"{bucket.name}/one.txt", tmp_path / "two")
    fs.get(f"{bucket.name}/one.txt", str(tmp_path / "three"), recursive=True)
    for name in ("new/one", "one.txt", "two", "three"):
        assert (tmp_path / name).read_bytes() == b"a" * 100


def test_a_file_s_type_is_what_its_name_says(fs, bucket, tmp_path):
    (tmp_path / "x.json").write_bytes(b"{}")
    fs.put(str(tmp_path / "x.json"), f"{bucket.name}/x.json")
    assert fs.info(f"{bucket.name}/x.json")["contentType"] == "application/json"


def test_put_creates_only_where_nothing_is(fs, bucket, folder):
    bucket.put("x", b"old")
    with pytest.raises(FileExistsError):
        fs.put_file(str(folder / "a"), f"{bucket.name}/x", mode="create")
    assert bucket.get("x") == b"old"


def test_lists_and_patterns(fs, bucket, folder, tmp_path):
    names = [f"{bucket.name}/{name}" for name in ("1", "2")]
    fs.put([str(folder / "a"), str(folder / "sub" / "b")], names)
    assert bucket.get("1") == b"a" * 100 and bucket.get("2") == b"b" * 200
    fs.get(names, [str(tmp_path / "x"), str(tmp_path / "deep" / "y")])
    assert (tmp_path / "deep" / "y").read_bytes() == b"b" * 200
    fs.get(f"{bucket.name}/[12]", f"{tmp_path}/matched/")
    assert content(tmp_path / "matched") == {"1": b"a" * 100, "2": b"b" * 200}
    fs.put(f"{folder}/*", f"{bucket.name}/up/")
    assert bucket.get("up/a") == b"a" * 100 and bucket.get("up/sub/b") is None
    for verb in (fs.get, fs.put):
        with pytest.raises(ValueError, match="2 paths"):
            verb([str(folder / "a")] * 2, ["x"])


def test_what_is_not_there_fails_and_makes_nothing(fs, bucket, tmp_path):
    for how in ({}, {"recursive": True}):
        with pytest.raises(FileNotFoundError):
            fs.get(f"{bucket.name}/none", str(tmp_path / "new"), **how)
        with pytest.raises(FileNotFoundError):
            fs.put(str(tmp_path / "none"), f"{bucket.name}/x", **how)
    assert list(tmp_path.iterdir()) == [] and bucket.names() == []


def test_a_file_that_could_not_be_read_keeps_its_old_content(emulator, fs, bucket, tmp_path):
    bucket.put("x", b"new")
    (tmp_path / "x").write_bytes(b"old")
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 403},
                    {"verb": "objects.get", "action": "refuse", "status": 403})
    with pytest.raises(PermissionError):
        fs.get_file(f"{bucket.name}/x", str(tmp_path / "x"))
    assert os.listdir(tmp_path) == ["x"] and (tmp_path / "x").read_bytes() == b"old"


def test_names_that_lead_elsewhere_are_reported(fs, bucket, tmp_path):
    bucket.put("in/good", b"1")
    bucket.put("in/../../evil", b"2")
    with pytest.raises(dataflux.Error) as failed:
        fs.get(f"{bucket.name}/in", str(tmp_path / "down"), recursive=True)
    assert failed.value.report.failed == 1
    assert content(tmp_path) == {"down/good": b"1"}
    with pytest.raises(ValueError, match="outside"):
        fs.get(f"{bucket.name}/in", f"{tmp_path}/down", recursive=True, maxdepth=9)
    assert not (tmp_path / "evil").exists()


def test_a_folder_goes_on_where_it_was(emulator, fs, bucket, folder, tmp_path):
    fs.put(str(folder), f"{bucket.name}/up", recursive=True)

    def sent(call):
        before = emulator.counters()["requests"]
        call()
        return sum(each["count"] for each in emulator.counters()["requests"]
                   if each["verb"] in ("objects.insert", "objects.media")) - sum(
            each["count"] for each in before if each["verb"] in ("objects.insert", "objects.media"))

    (folder / "new").write_bytes(b"3")
    assert sent(lambda: fs.put(f"{folder}/", f"{bucket.name}/up", recursive=True, resume=True)) == 1
    fs.get(f"{bucket.name}/up/", str(tmp_path / "down"), recursive=True)
    (tmp_path / "down" / "new").unlink()
    assert sent(lambda: fs.get(f"{bucket.name}/up/", str(tmp_path / "down"), recursive=True,
                               resume=True)) == 1
    assert content(tmp_path / "down") == content(folder)


def test_callbacks_are_told(fs, bucket, folder, tmp_path):
    path = f"{bucket.name}/one"
    told = Told()
    fs.put_file(str(folder / "a"), path, callback=told)
    assert (told.size, told.value) == (100, 100)
    told = Told()
    fs.get_file(path, str(tmp_path / "one"), callback=told)
    assert (told.size, told.value) == (100, 100)
    told = Told()
    fs.put(str(folder), f"{bucket.name}/up", recursive=True, callback=told)
    assert (told.size, told.value) == (300, 300)
    told = Told()
    fs.get(f"{bucket.name}/up", str(tmp_path / "down"), recursive=True, callback=told)
    assert (told.size, told.value) == (300, 300)
    told = Told()
    fs.get([path, f"{bucket.name}/up/sub/b"], f"{tmp_path}/many/", callback=told)
    assert (told.size, told.value) == (2, 2)
    assert sorted((child.size, child.value) for child in told.children.values()) == [
        (100, 100), (200, 200)]


def test_get_file_writes_into_an_open_file(fs, bucket):
    data = os.urandom(9 << 20)
    bucket.put("x", data)
    target, told = io.BytesIO(), Told()
    fs.get_file(f"{bucket.name}/x", target, callback=told)
    assert target.getvalue() == data and (told.size, told.value) == (len(data), len(data))


def test_get_file_of_a_folder_makes_one(fs, bucket, tmp_path):
    bucket.put("in/x")
    fs.get_file(f"{bucket.name}/in", str(tmp_path / "made"))
    assert (tmp_path / "made").is_dir()


def test_folders_with_attributes_go_file_by_file(fs, bucket, folder):
    fs.put(str(folder), f"{bucket.name}/up", recursive=True, metadata={"k": "v"})
    assert fs.getxattr(f"{bucket.name}/up/sub/b", "k") == "v"


def test_unknown_arguments_are_refused_before_anything_is_sent(emulator, fs, bucket, folder):
    fs.exists(bucket.name)
    before = emulator.answered()
    for call in (lambda: fs.get_file(f"{bucket.name}/x", "/tmp/none", what=1),
                 lambda: fs.put_file(str(folder / "a"), f"{bucket.name}/x", what=1)):
        with pytest.raises(TypeError, match="what"):
            call()
    assert emulator.answered() == before
