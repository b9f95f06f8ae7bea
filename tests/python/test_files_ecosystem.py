"""Files of open() under what reads and writes Python's files."""

import gzip
import io
import json
import pickle
import random
import shutil
import tarfile
import zipfile

import pytest

CONTENT = random.Random(3).randbytes(700_000)


def test_a_buffered_reader_on_top(client, bucket):
    bucket.put("it", CONTENT)
    with io.BufferedReader(client.open(bucket("it")), 1000) as file:
        assert file.read(10) == CONTENT[:10] and file.read() == CONTENT[10:]
        assert file.seek(-5, 2) == len(CONTENT) - 5 and file.read() == CONTENT[-5:]


def test_a_buffered_writer_on_top(client, bucket):
    inner = client.open(bucket("it"), "wb")
    with io.BufferedWriter(inner, 1000) as file:
        for at in range(0, len(CONTENT), 777):
            file.write(CONTENT[at:at + 777])
    assert inner.closed and bucket.get("it") == CONTENT


def test_a_text_wrapper_on_top(client, bucket):
    with io.TextIOWrapper(client.open(bucket("it"), "wb"), "utf-8") as file:
        file.write("eins\nzwei\n")
    assert bucket.get("it") == b"eins\nzwei\n"
    with io.TextIOWrapper(client.open(bucket("it")), "utf-8") as file:
        assert file.readlines() == ["eins\n", "zwei\n"]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zipfile(client, bucket, compression):
    with client.open(bucket("it.zip"), "wb") as file:
        with zipfile.ZipFile(file, "w", compression) as archive:
            for i in range(50):
                archive.writestr(f"member-{i}", CONTENT[i * 100:i * 1000])
            with archive.open("streamed", "w") as member:
                shutil.copyfileobj(io.BytesIO(CONTENT), member)
    with client.open(bucket("it.zip")) as file, zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None and len(archive.namelist()) == 51
        assert archive.read("streamed") == CONTENT and archive.read("member-7") == CONTENT[700:7000]


@pytest.mark.parametrize("write, read", [("w", "r"), ("w:gz", "r:gz"), ("w|", "r|"),
                                         ("w|gz", "r|gz"), ("w:xz", "r:xz")])
def test_tarfile(client, bucket, write, read):
    with client.open(bucket("it.tar"), "wb") as file:
        with tarfile.open(fileobj=file, mode=write) as archive:
            for i in range(5):
                row = tarfile.TarInfo(f"member-{i}")
                row.size = 1000 * i
                archive.addfile(row, io.BytesIO(CONTENT))
    with client.open(bucket("it.tar")) as file, tarfile.open(fileobj=file, mode=read) as archive:
        assert {row.name: archive.extractfile(row).read() for row in archive} == {
            f"member-{i}": CONTENT[:1000 * i] for i in range(5)}


def test_gzip(client, bucket):
    with client.open(bucket("it.gz"), "wb") as file, gzip.open(file, "wb") as packed:
        packed.write(CONTENT)
    assert gzip.decompress(bucket.get("it.gz")) == CONTENT
    with client.open(bucket("it.gz")) as file, gzip.open(file) as packed:
        assert packed.read() == CONTENT


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(client, bucket, protocol):
    value = {"numbers": list(range(10_000)), "bytes": CONTENT, "text": "ä" * 1000}
    with client.open(bucket("it"), "wb") as file:
        pickle.dump(value, file, protocol)
        pickle.dump("a second one", file, protocol)
    with client.open(bucket("it")) as file:
        assert pickle.load(file) == value and pickle.load(file) == "a second one"


def test_json(client, bucket):
    with client.open(bucket("it"), "w") as file:
        json.dump({"ä": [1, 2, 3]}, file)
    with client.open(bucket("it"), "r") as file:
        assert json.load(file) == {"ä": [1, 2, 3]}


def test_numpy(client, bucket):
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(300_000, dtype="f4").reshape(300, 1000)
    with client.open(bucket("it.npy"), "wb") as file:
        numpy.save(file, array)
    with client.open(bucket("it.npy")) as file:
        assert (numpy.load(file) == array).all()
    with client.open(bucket("it.npz"), "wb") as file:
        numpy.savez_compressed(file, a=array, b=array[::2])
    with client.open(bucket("it.npz")) as file, numpy.load(file) as both:
        assert (both["b"] == array[::2]).all() and (both["a"] == array).all()


def test_memory_of_numpy_is_read_and_written_in_place(client, bucket):
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(600_000, dtype="i8").reshape(600, 1000)
    array.flags.writeable = False
    with client.writer(bucket("it")) as writer:
        assert writer.write(array) == array.nbytes
        with pytest.raises(TypeError, match="^buffer: "):
            writer.write(array[:, ::2])
    into = numpy.zeros_like(array, shape=(600, 1000))
    with client.open(bucket("it")) as file:
        assert file.readinto(into) == array.nbytes and (into == array).all()
        assert file.read_into_at(8, into[5:6]) == 8000 and (into[5] == numpy.arange(1, 1001)).all()


def test_pandas(client, bucket):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": range(1000), "b": [f"row {i}" for i in range(1000)]})
    with client.open(bucket("it.csv"), "wb") as file:
        frame.to_csv(file, index=False)
    with client.open(bucket("it.csv")) as file:
        assert pandas.read_csv(file).equals(frame)
    with client.open(bucket("it.csv"), "w") as file:
        frame.to_csv(file, index=False)
    with client.open(bucket("it.csv"), "r") as file:
        assert pandas.read_csv(file).equals(frame)


def test_pandas_parquet(client, bucket):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": range(1000), "b": [f"row {i}" for i in range(1000)]})
    with client.open(bucket("it.parquet"), "wb") as file:
        frame.to_parquet(file)
    with client.open(bucket("it.parquet")) as file:
        assert pandas.read_parquet(file).equals(frame)


def test_pyarrow(client, bucket):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"a": range(100_000), "b": ["x"] * 100_000})
    with client.open(bucket("it.parquet"), "wb") as file:
        with pyarrow.PythonFile(file, "w") as sink:
            parquet.write_table(table, sink, row_group_size=10_000)
    with client.open(bucket("it.parquet")) as file:
        with pyarrow.PythonFile(file, "r") as source:
            assert parquet.read_table(source, columns=["a"]).equals(table.select(["a"]))
    with client.open(bucket("it.arrow"), "wb") as file:
        with pyarrow.ipc.new_file(file, table.schema) as sink:
            sink.write_table(table)
    with client.open(bucket("it.arrow")) as file:
        assert pyarrow.ipc.open_file(file).read_all().equals(table)


def test_h5py(client, bucket, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "it.h5", "w") as made:
        made["group/values"] = list(range(50_000))
        made.create_dataset("packed", data=list(range(50_000)), compression="gzip", chunks=(1000,))
    bucket.put("it.h5", (tmp_path / "it.h5").read_bytes())
    with client.open(bucket("it.h5")) as file, h5py.File(file, "r") as read:
        assert list(read["group/values"][40_000:40_003]) == [40_000, 40_001, 40_002]
        assert read["packed"][:].sum() == sum(range(50_000))


def test_torch(client, bucket):
    torch = pytest.importorskip("torch")
    state = {"weights": torch.arange(500_000, dtype=torch.float32), "step": 7}
    with client.open(bucket("it.pt"), "wb") as file:
        torch.save(state, file)
    with client.open(bucket("it.pt")) as file:
        read = torch.load(file)
    assert read["step"] == 7 and torch.equal(read["weights"], state["weights"])


def test_what_is_no_zip_file(client, bucket):
    bucket.put("short", b"hello")
    with client.open(bucket("short")) as file:
        assert not zipfile.is_zipfile(file)
        with pytest.raises(zipfile.BadZipFile):
            zipfile.ZipFile(file)
        with pytest.raises(OSError, match="before the first byte"):
            file.seek(-6, 2)
