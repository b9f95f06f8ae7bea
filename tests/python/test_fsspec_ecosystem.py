"""What stands on fsspec, on dataflux.fsspec: pandas, pyarrow, polars, zarr."""

import fsspec
import numpy
import pandas
import pyarrow
import pyarrow.dataset
import pyarrow.fs
import pyarrow.parquet
import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem


@pytest.fixture
def fs(emulator):
    # As the entry point of an installed package does it.
    fsspec.register_implementation("dataflux", DatafluxFileSystem, clobber=True)
    return DatafluxFileSystem(**emulator.options)


@pytest.fixture
def options(fs):
    return dict(fs.storage_options)


@pytest.fixture
def url(bucket):
    return f"dataflux://{bucket.name}"


@pytest.fixture
def table():
    return pyarrow.table({"number": range(10_000), "text": [str(i % 7) for i in range(10_000)]})


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.parquet", "x.pickle"])
def test_pandas(options, url, table, name):
    frame = table.to_pandas()
    kind = name.split(".")[1]
    write = getattr(frame, f"to_{kind}")
    write(f"{url}/{name}", storage_options=options, **({"index": False} if kind == "csv" else {}))
    read = getattr(pandas, f"read_{kind}")
    again = read(f"{url}/{name}", storage_options=options,
                 **({"dtype": {"text": "str"}} if kind == "csv" else {}))
    pandas.testing.assert_frame_equal(again, frame)


def test_pyarrow_reads_row_groups_by_ranges(emulator, fs, bucket, table):
    wide = pyarrow.table({f"c{i}": numpy.random.default_rng(i).random(100_000) for i in range(8)})
    handler = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(fs))
    pyarrow.parquet.write_table(wide, f"{bucket.name}/x.parquet", filesystem=handler,
                                row_group_size=10_000)
    size = fs.size(f"{bucket.name}/x.parquet")
    assert size > 6_000_000

    def read():
        before = emulator.counters()["replyBodyBytes"]
        with pyarrow.parquet.ParquetFile(f"{bucket.name}/x.parquet", filesystem=handler) as file:
            group = file.read_row_group(7, columns=["c3"])
        return group, emulator.counters()["replyBodyBytes"] - before

    group, read_bytes = read()
    assert group.equals(wide.select(["c3"]).slice(70_000, 10_000))
    assert read_bytes < size / 2


def test_pyarrow_s_filesystem(fs, bucket, table):
    handler = pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(fs))
    pyarrow.dataset.write_dataset(table, f"{bucket.name}/set", filesystem=handler, format="parquet",
                                  partitioning=["text"])
    found = pyarrow.dataset.dataset(f"{bucket.name}/set", filesystem=handler, format="parquet",
                                    partitioning=["text"])
    assert found.count_rows() == 10_000
    assert found.to_table(filter=pyarrow.dataset.field("text") == 3).num_rows == 1429
    infos = handler.get_file_info(pyarrow.fs.FileSelector(f"{bucket.name}/set", recursive=True))
    assert sum(info.type == pyarrow.fs.FileType.File for info in infos) == 7
    assert handler.get_file_info(f"{bucket.name}/none").type == pyarrow.fs.FileType.NotFound
    handler.copy_file(f"{bucket.name}/set/0/part-0.parquet", f"{bucket.name}/copy")
    handler.move(f"{bucket.name}/copy", f"{bucket.name}/moved")
    handler.delete_file(f"{bucket.name}/moved")
    handler.delete_dir(f"{bucket.name}/set")
    assert bucket.names() == []
    for data in (b"1", b"2"):
        with handler.open_append_stream(f"{bucket.name}/x") as stream:
            stream.write(data)
    assert bucket.get("x") == b"12"


def test_polars(fs, options, url, table):
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(table)
    with fs.open(f"{url}/x.parquet", "wb") as file:
        frame.write_parquet(file)
    with fs.open(f"{url}/x.parquet") as file:
        assert polars.read_parquet(file).equals(frame)
    with fs.open(f"{url}/x.csv", "wb") as file:
        frame.write_csv(file)
    with fsspec.open(f"{url}/x.csv", **options) as file:
        assert polars.read_csv(file, schema_overrides={"text": polars.String}).equals(frame)
    found = pyarrow.dataset.dataset(f"{url.partition('//')[2]}/x.parquet", filesystem=fs)
    assert polars.scan_pyarrow_dataset(found).filter(polars.col("number") < 5).collect().equals(
        frame.head(5))


def test_zarr(options, url):
    zarr = pytest.importorskip("zarr")
    data = numpy.random.default_rng(1).random((100, 100))
    array = zarr.create_array(f"{url}/array.zarr", shape=data.shape, chunks=(10, 10),
                              shards=(50, 50), dtype=data.dtype, storage_options=options)
    array[:] = data
    again = zarr.open_array(f"{url}/array.zarr", mode="r", storage_options=options)
    assert numpy.array_equal(again[:], data) and again[42, 17] == data[42, 17]


def test_zarr_s_groups(options, url):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(f"{url}/group.zarr", mode="w", storage_options=options)
    for name in ("a", "b"):
        group.create_array(name, shape=(10,), chunks=(5,), dtype="i4")[:] = numpy.arange(10)
    group.attrs["what"] = "numbers"
    again = zarr.open_group(f"{url}/group.zarr", mode="r", storage_options=options)
    assert sorted(again.array_keys()) == ["a", "b"] and dict(again.attrs) == {"what": "numbers"}
    assert again["b"][3:7].tolist() == [3, 4, 5, 6]
    group = zarr.open_group(f"{url}/group.zarr", mode="a", storage_options=options)
    del group["a"]
    assert sorted(zarr.open_group(f"{url}/group.zarr", mode="r", storage_options=options,
                                  use_consolidated=False).array_keys()) == ["b"]


def media(emulator):
    return sum(each["count"] for each in emulator.counters()["requests"]
               if each["verb"] == "objects.media")


@pytest.fixture
def blockcached(options, bucket, tmp_path):
    """A file of some MiB, and what opens it by way of blocks that are kept here."""
    content = numpy.random.default_rng(1).bytes(5_000_000)
    bucket.put("x", content)

    def opened(path=f"dataflux://{bucket.name}/x"):
        return fsspec.open(f"blockcache::{path}", dataflux=options,
                           blockcache={"cache_storage": str(tmp_path), "check_files": True}).open()

    return content, opened


def test_fsspec_s_blockcache(emulator, blockcached):
    content, opened = blockcached
    with opened() as file:
        assert file.read(1000) == content[:1000]
        file.seek(3_000_000)
        assert file.read(100) == content[3_000_000:3_000_100]
    before = media(emulator)
    with opened() as file:
        assert file.read(1000) == content[:1000]
        file.seek(3_000_000)
        assert file.read(100) == content[3_000_000:3_000_100]
    assert media(emulator) == before
    with opened() as file:
        assert file.read() == content
    assert media(emulator) > before


def test_a_blockcache_keeps_no_block_that_failed(emulator, blockcached):
    content, opened = blockcached
    file = opened()
    assert file.read(10) == content[:10]
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 403, "count": 0})
    file.seek(4_000_000)
    with pytest.raises(PermissionError):
        file.read(10)
    emulator.faults()
    assert file.read(10) == content[4_000_000:4_000_010]
    file.close()
    with opened() as again:
        assert again.read() == content


def test_a_blockcache_has_one_generation(bucket, blockcached):
    content, opened = blockcached
    with opened() as file:
        assert file.read(10) == content[:10]
        bucket.put("x", bytes(len(content)))
        file.seek(4_000_000)
        with pytest.raises(dataflux.Error):  # and no bytes of the other one
            file.read(10)


def test_a_cache_of_fsspec_s_own_on_top(emulator, options, bucket, tmp_path):
    bucket.put("x", b"content")
    cached = fsspec.filesystem("filecache", target_protocol="dataflux", target_options=options,
                               cache_storage=str(tmp_path))
    for _ in range(2):
        with cached.open(f"{bucket.name}/x") as file:
            assert file.read() == b"content"
    with fsspec.open(f"simplecache::dataflux://{bucket.name}/x", dataflux=options) as file:
        assert file.read() == b"content"
