"""open() and transactions of dataflux.fsspec."""

import gc
import pickle
import threading

import fsspec
import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem


@pytest.fixture(autouse=True)
def registered():
    """As the entry point of an installed package does it."""
    fsspec.register_implementation("dataflux", DatafluxFileSystem, clobber=True)


@pytest.fixture
def fs(emulator):
    return DatafluxFileSystem(**emulator.options)


def test_open_reads_and_writes_bytes(fs, bucket):
    with fs.open(bucket("x"), "wb") as file:
        assert isinstance(file, dataflux.FileWriter) and file.path == f"{bucket.name}/x"
        file.write(b"content")
        assert bucket.get("x") is None
    assert bucket.get("x") == b"content"
    with fs.open(bucket("x"), block_size=1 << 20, cache_type="readahead",
                 cache_options={"trim": True}, fill_cache=False) as file:
        assert isinstance(file, dataflux.FileReader) and file.size == 7
        assert file.read(3) == b"con" and file.seek(-2, 2) == 5 and file.read() == b"nt"
        assert file.info()["size"] == 7 and file.full_name == f"gs://{bucket.name}/x"
        assert file.fs is fs


def test_readers_have_what_fsspec_s_have(fs, bucket):
    content = b"".join(b"line %d\r\n" % i for i in range(1000))
    bucket.put("x", content)
    with fs.open(bucket("x")) as file:
        for char, blocks in ((b"\n", None), (b"\r\n", 7), (b"9", 3), (b"ine 10\r", 5), (b"none", 64)):
            begin = file.loc
            at = content.find(char, begin)
            end = at + len(char) if at >= 0 else len(content)
            assert file.readuntil(char, blocks) == content[begin:end]
            assert file.loc == file.tell() == end
        assert file.readuntil() == b""
        assert file._fetch_range(3, 9) == content[3:9] and file.loc == len(content)
    with fs.open(bucket("y"), "wb") as file:
        file.write(b"123")
        assert file.loc == 3


def test_open_reads_and_writes_text(fs, bucket):
    with fs.open(bucket("x"), "w", encoding="utf-16", newline="\r\n") as file:
        file.write("\u20ac\n")
    assert bucket.get("x").decode("utf-16") == "\u20ac\r\n"
    with fs.open(bucket("x"), "rt", encoding="utf-16") as file:
        assert file.read() == "\u20ac\n"
    fs.write_text(bucket("y"), "\u20ac")
    assert fs.read_text(bucket("y")) == "\u20ac" and bucket.get("y") == "\u20ac".encode()


@pytest.mark.parametrize("name, compression", [("x.gz", "infer"), ("x", "gzip"), ("x", "bz2")])
def test_open_compresses(fs, bucket, name, compression):
    with fs.open(bucket(name), "wb", compression=compression) as file:
        file.write(b"content" * 1000)
    assert len(bucket.get(name)) < 1000
    with fs.open(bucket(name), "rb", compression=compression) as file:
        assert file.read() == b"content" * 1000
    with fs.open(bucket(name), "r", compression=compression) as file:
        assert file.read(7) == "content"


def test_a_compressed_file_is_discarded_by_an_exception_and_where_it_is_let_go_of(fs, bucket):
    with pytest.warns(RuntimeWarning, match="not committed"), pytest.raises(KeyError):
        with fs.open(bucket("x.gz"), "wb", compression="gzip") as file:
            file.write(b"1")
            raise KeyError
    with pytest.warns(ResourceWarning, match="never closed"):
        file = fs.open(bucket("x.gz"), "wb", compression="gzip")
        file.write(b"1")
        del file
        gc.collect()
    assert bucket.names() == []


def test_fsspec_s_own_open(emulator, fs, bucket):
    how = dict(emulator.options)
    for name, compression in (("x", None), ("x.gz", "infer")):
        url = f"gs://{bucket.name}/{name}".replace("gs", "dataflux")
        with fsspec.open(url, "w", compression=compression, **how) as file:
            file.write("text")
        with fsspec.open(url, "r", compression=compression, **how) as file:
            assert file.read() == "text"
        with pytest.warns(RuntimeWarning, match="not committed"), pytest.raises(KeyError):
            with fsspec.open(url, "wb", **how) as file:
                file.write(b"new")
                raise KeyError
        with fsspec.open(url, "r", compression=compression, **how) as file:
            assert file.read() == "text"


def test_open_for_creation(fs, bucket):
    with fs.open(bucket("x"), "xb") as file:
        file.write(b"1")
    for mode in ("xb", "x"):
        with pytest.raises(FileExistsError):
            fs.open(bucket("x"), mode)
    assert bucket.get("x") == b"1"


@pytest.mark.parametrize("mode", ["a+b", "r+b", "w+", "rw"])
def test_what_an_object_cannot_is_refused(fs, bucket, mode):
    bucket.put("x", b"1")
    with pytest.raises(ValueError, match="mode"):
        fs.open(bucket("x"), mode)
    assert bucket.get("x") == b"1"


def test_open_of_what_is_not_there(fs, bucket):
    with pytest.raises(FileNotFoundError):
        fs.open(bucket("none"))
    with pytest.raises(IsADirectoryError):
        fs.open(bucket.name)
    with pytest.raises(TypeError, match="what"):
        fs.open(bucket("x"), "wb", what=1)


def test_a_written_file_has_the_type_that_its_name_says(fs, bucket):
    for name, how, kind in (("x.json", {}, "application/json"), ("y", {"content_type": "a/b"}, "a/b")):
        with fs.open(bucket(name), "wb", metadata={"k": "v"}, **how):
            pass
        assert fs.info(bucket(name))["contentType"] == kind
        assert fs.getxattr(bucket(name), "k") == "v"


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_an_exception_discards_what_was_written(fs, bucket, mode):
    bucket.put("x", b"old")
    with pytest.raises(RuntimeError):
        with fs.open(bucket("x"), mode) as file:
            file.write("new" if mode == "w" else b"new")
            raise RuntimeError
    assert bucket.get("x") == b"old"


def test_a_reader_pickles_as_filesystem_path_and_generation(fs, bucket):
    bucket.put("x", b"content")
    with fs.open(bucket("x")) as file:
        file.read(3)
        with pickle.loads(pickle.dumps(file)) as again:
            assert again.fs is fs and again.read() == b"tent"
        bucket.put("x", b"changed")
        with pytest.raises(dataflux.NotFoundError):  # that generation is gone
            pickle.loads(pickle.dumps(file))


def test_rm_of_a_path_that_is_being_written_discards_that_and_nothing_else(fs, bucket):
    # As torch's FsspecWriter does when a save fails.
    bucket.put("x", b"old")
    with pytest.raises(RuntimeError):
        with fs.open(bucket("x"), "wb") as file:
            file.write(b"new")
            try:
                raise RuntimeError
            except RuntimeError:
                fs.rm(bucket("x"))
                raise
    assert file.closed and bucket.get("x") == b"old"
    fs.rm(bucket("x"))
    assert bucket.get("x") is None


def test_rm_file_and_rm_recursive_discard_open_files(fs, bucket):
    file = fs.open(bucket("a/x"), "wb")
    fs.rm_file(bucket("a/x"))
    assert file.closed
    bucket.put("a/old")
    file, other = fs.open(bucket("a/x"), "wb"), fs.open(bucket("ab"), "wb")
    fs.rm(f"{bucket.name}/a", recursive=True)
    assert file.closed and not other.closed and bucket.names() == []
    other.close()
    assert bucket.names() == ["ab"]
    fs.rm(bucket("ab"))
    assert bucket.names() == []


def test_a_transaction_shows_all_at_its_end(fs, bucket, tmp_path):
    (tmp_path / "file").write_bytes(b"3")
    with fs.transaction:
        with fs.open(bucket("1"), "wb") as file:
            file.write(b"1")
        assert file.closed
        with fs.open(bucket("2"), "w") as file:
            file.write("2")
        fs.put_file(str(tmp_path / "file"), bucket("3"))
        fs.pipe({bucket("4"): b"4", bucket("5"): b"5"})
        with fs.open(bucket("6.gz"), "wb", compression="infer") as file:
            file.write(b"6")
        assert bucket.names() == []
    assert [bucket.get(name) for name in "12345"] == [b"1", b"2", b"3", b"4", b"5"]
    with fs.open(bucket("6.gz"), compression="infer") as file:
        assert file.read() == b"6"
    fs.pipe(bucket("after"), b"1")
    assert bucket.get("after") == b"1"


def test_a_transaction_that_fails_leaves_nothing(fs, bucket):
    bucket.put("1", b"old")
    with pytest.raises(RuntimeError):
        with fs.transaction:
            with fs.open(bucket("1"), "wb") as file:
                file.write(b"new")
            fs.pipe(bucket("2"), b"2")
            raise RuntimeError
    assert bucket.names() == ["1"] and bucket.get("1") == b"old"
    assert fs.client.find_leftovers(bucket()).rows == ()
    fs.pipe(bucket("after"), b"1")
    assert bucket.get("after") == b"1"


def test_a_file_that_was_discarded_takes_its_transaction_with_it(fs, bucket):
    with pytest.raises(dataflux.PreconditionError, match="discarded"):
        with fs.transaction:
            fs.pipe(bucket("1"), b"1")
            try:
                with fs.open(bucket("2"), "wb") as file:
                    file.write(b"half")
                    raise RuntimeError
            except RuntimeError:
                pass
    assert bucket.names() == []


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_a_file_that_is_still_open_at_the_end_is_not_committed(fs, bucket, mode):
    with pytest.raises(dataflux.PreconditionError, match="not closed"):
        with fs.transaction:
            fs.pipe(bucket("1"), b"1")
            file = fs.open(bucket("2"), mode)
            file.write("half" if mode == "w" else b"half")
    assert bucket.names() == []
    del file
    gc.collect()


def test_where_one_fails_at_the_end_the_others_are_taken_back(emulator, fs, bucket):
    emulator.faults({"verb": "objects.insert", "object": "2*", "action": "refuse", "status": 403, "count": 0},
                    {"verb": "objects.compose", "object": "2*", "action": "refuse", "status": 403, "count": 0},
                    {"verb": "objects.move", "object": "2*", "action": "refuse", "status": 403, "count": 0})
    with pytest.raises(PermissionError):
        with fs.transaction:
            for name in "123":
                fs.pipe(bucket(name), b"new")
    assert bucket.names() == []
    bucket.put("1", b"old")
    with pytest.raises(dataflux.Error, match=r"could not be taken back: gs://\S+/1\."):
        with fs.transaction:
            for name in "123":
                fs.pipe(bucket(name), b"new")
    assert bucket.names() == ["1"] and bucket.get("1") == b"new"


def test_two_transactions_of_two_threads_do_not_meet(fs, bucket):
    begun, ended = threading.Event(), threading.Event()

    def other():
        with fs.transaction:
            fs.pipe(bucket("other"), b"1")
            begun.set()
            assert ended.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert begun.wait(60)
    with fs.transaction:
        fs.pipe(bucket("mine"), b"1")
    fs.pipe(bucket("plain"), b"1")
    assert sorted(bucket.names()) == ["mine", "plain"]
    ended.set()
    thread.join()
    assert sorted(bucket.names()) == ["mine", "other", "plain"]


def test_a_transaction_within_another_is_a_part_of_it(fs, bucket):
    with fs.transaction:
        fs.pipe(bucket("1"), b"1")
        with fs.transaction:
            fs.pipe(bucket("2"), b"2")
        assert bucket.names() == []
        fs.pipe(bucket("3"), b"3")
        fs.start_transaction()
        fs.pipe(bucket("4"), b"4")
        fs.end_transaction()
        assert bucket.names() == []
    assert sorted(bucket.names()) == ["1", "2", "3", "4"]
    fs.pipe(bucket("after"), b"1")
    assert bucket.get("after") == b"1"


def test_one_within_another_that_fails_discards_its_own_files(fs, bucket):
    with fs.transaction:
        fs.pipe(bucket("1"), b"1")
        with pytest.raises(RuntimeError):
            with fs.transaction:
                fs.pipe(bucket("2"), b"2")
                fs.open(bucket("3"), "wb").write(b"half")
                raise RuntimeError
        fs.pipe(bucket("4"), b"4")
    assert sorted(bucket.names()) == ["1", "4"]
    with pytest.raises(RuntimeError):
        with fs.transaction:
            with fs.transaction:
                fs.pipe(bucket("5"), b"5")
            raise RuntimeError
    assert sorted(bucket.names()) == ["1", "4"]
    assert fs.client.find_leftovers(bucket()).rows == ()


def test_start_and_end_of_a_transaction_without_with(fs, bucket):
    fs.start_transaction()
    fs.pipe(bucket("1"), b"1")
    assert bucket.names() == []
    fs.end_transaction()
    assert bucket.names() == ["1"]


def test_a_file_without_autocommit_is_its_caller_s(fs, bucket):
    file = fs.open(bucket("1"), "wb", autocommit=False)
    file.write(b"1")
    file.close()
    assert bucket.names() == []
    file.commit()
    assert bucket.get("1") == b"1"
    file = fs.open(bucket("2"), "wb", autocommit=False)
    file.discard()
    assert bucket.names() == ["1"]
