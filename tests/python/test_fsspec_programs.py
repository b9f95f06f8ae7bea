"""Programs that go by fsspec, on dataflux.fsspec, as their users call them: dask, duckdb, UPath,
TensorBoard, reference files, fsspec's rsync."""

import sys

import fsspec
import fsspec.generic
import numpy
import pandas
import pytest

from dataflux.fsspec import DatafluxFileSystem

if sys.version_info < (3, 11):
    pytest.skip("what is installed here needs Python 3.11", allow_module_level=True)

import upath


@pytest.fixture
def fs(emulator, monkeypatch):
    # As register() does it, for this test alone.
    for name in ("gs", "dataflux"):
        monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, name, DatafluxFileSystem)
    return DatafluxFileSystem(**emulator.options)


@pytest.fixture
def options(fs):
    return dict(fs.storage_options)


@pytest.fixture
def frame():
    return pandas.DataFrame({"number": range(1000), "text": [str(i % 7) for i in range(1000)]})


def test_dask(bucket, options, frame):
    dask = pytest.importorskip("dask")
    pytest.importorskip("dask.bag"), pytest.importorskip("dask.dataframe")
    parts = dask.dataframe.from_pandas(frame, npartitions=3)
    parts.to_parquet(bucket("ds"), storage_options=options)
    assert sorted(bucket.names()) == [f"ds/part.{i}.parquet" for i in range(3)]
    again = dask.dataframe.read_parquet(bucket("ds"), storage_options=options)
    assert again.number.sum().compute() == 499500 and len(again) == 1000
    pandas.testing.assert_frame_equal(again.compute().reset_index(drop=True), frame,
                                      check_dtype=False)
    parts.to_csv(bucket("csv/*.csv"), storage_options=options, index=False)
    read = dask.dataframe.read_csv(bucket("csv/*.csv"), storage_options=options)
    assert len(read) == 1000
    lines = dask.bag.read_text(bucket("csv/*.csv"), storage_options=options)
    assert lines.count().compute(scheduler="threads") == 1003


def test_duckdb(fs, bucket, frame):
    duckdb = pytest.importorskip("duckdb")
    frame.to_parquet(f"{bucket.name}/x.parquet", filesystem=fs)
    with duckdb.connect() as connection:
        connection.register_filesystem(fs)
        for pattern in ("x.parquet", "*.parquet"):
            assert connection.sql(f"SELECT sum(number) FROM '{bucket(pattern)}'").fetchall() == [
                (499500,)]
        connection.sql(f"COPY (SELECT * FROM '{bucket('x.parquet')}' WHERE number < 3) "
                       f"TO '{bucket('out/y.csv')}'")
        assert connection.sql(f"SELECT count(*) FROM '{bucket('out/*.csv')}'").fetchall() == [(3,)]
    assert bucket.get("out/y.csv").startswith(b"number,text")


def test_upath(bucket, options):
    for name in ("con/", "con/x", "con/deep/", "con/deep/y", "con//b", "img[1].jpg"):
        bucket.put(name, b"" if name.endswith("/") else name.encode())
    root = upath.UPath(bucket(), **options)
    assert type(root.fs) is DatafluxFileSystem
    con = root / "con"
    assert sorted(each.name for each in con.iterdir()) == ["deep", "x"]
    assert sorted(each.name for each in root.iterdir()) == ["con", "img[1].jpg"]
    assert [(path.name, folders, files) for path, folders, files in con.walk()] == [
        ("con", ["deep"], ["x"]), ("deep", [], ["y"])]
    assert [each.name for each in con.glob("*")] == ["deep", "x"]
    assert con.is_dir() and not con.is_file() and (con / "x").is_file()
    assert (root / "img[1].jpg").read_bytes() == b"img[1].jpg"
    (root / "new" / "z").write_text("text")
    assert (root / "new" / "z").read_text() == "text" and (root / "new").exists()
    with (root / "new" / "z").open("a") as file:
        file.write("more")
    assert (root / "new" / "z").stat().st_size == 8
    (root / "new" / "z").rename(root / "new" / "w")
    assert bucket.get("new/w") == b"textmore" and bucket.get("new/z") is None
    (root / "new" / "w").unlink()
    assert not (root / "new").exists()


def test_reference_files(fs, bucket, options):
    # As kerchunk and virtualizarr write them: chunks of an array are ranges of other files.
    data = numpy.arange(100, dtype="<i4")
    bucket.put("file", b"head" + data.tobytes() + b"tail")
    references = {"version": 1, "refs": {
        ".zgroup": '{"zarr_format": 2}', "a/.zattrs": "{}",
        "a/.zarray": '{"zarr_format": 2, "shape": [100], "chunks": [50], "dtype": "<i4", '
                     '"compressor": null, "filters": null, "fill_value": 0, "order": "C"}',
        "a/0": [bucket("file"), 4, 200], "a/1": [bucket("file"), 204, 200]}}
    how = {"fo": references, "remote_protocol": "gs"}
    seen = fsspec.filesystem("reference", remote_options=options, **how)
    assert seen.cat(["a/0", "a/1"]) == {"a/0": data[:50].tobytes(), "a/1": data[50:].tobytes()}
    # What is noted down is read by others, too.
    assert fs.unstrip_protocol(f"{bucket.name}/file") == bucket("file")
    zarr = pytest.importorskip("zarr")
    store = zarr.storage.FsspecStore(
        fsspec.filesystem("reference", remote_options={**options, "asynchronous": True},
                          asynchronous=True, **how), read_only=True, path="")
    array = zarr.open_group(store, mode="r", zarr_format=2)["a"]
    assert numpy.array_equal(array[:], data) and array[70] == 70


def test_rsync(fs, bucket, emulator, tmp_path):
    fsspec.generic.set_generic_fs("gs", **fs.storage_options)
    generic = fsspec.generic.GenericFileSystem(default_method="generic")
    how = {"fs": generic, "inst_kwargs": {"default_method": "generic"}}
    for name in ("from/x", "from/deep/y"):
        bucket.put(name, name.encode())
    fsspec.generic.rsync(bucket("from"), bucket("to"), **how)
    assert [name for name in bucket.names() if name.startswith("to")] == ["to/deep/y", "to/x"]
    fsspec.generic.set_generic_fs("file")
    fsspec.generic.rsync(bucket("from"), f"file://{tmp_path}/down", **how)
    assert (tmp_path / "down" / "deep" / "y").read_bytes() == b"from/deep/y"
    fsspec.generic.rsync(f"file://{tmp_path}/down", bucket("up"), **how)
    assert bucket.get("up/deep/y") == b"from/deep/y"
    assert sorted(generic.find(bucket("up"))) == [bucket("up/deep/y"), bucket("up/x")]


def test_tensorboard_s_writer(fs, bucket, emulator, monkeypatch):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    # It makes filesystems without options.
    for name in ("gs", "dataflux"):
        monkeypatch.setitem(fsspec.config.conf, name, emulator.options)
    DatafluxFileSystem.clear_instance_cache()
    try:
        writer = EventFileWriter(bucket("runs/1"))
        for step in range(1, 6):
            writer.add_event(Event(step=step))
            writer.flush()  # each of them appends
        writer.close()
        (path,) = fs.find(f"{bucket.name}/runs/1")
        assert [event.step for event in EventFileLoader(f"gs://{path}").Load()] == [0, 1, 2, 3, 4, 5]
    finally:
        DatafluxFileSystem.clear_instance_cache()


def test_pandas_s_parquet_goes_by_dataflux_without_options(bucket, frame, fs, emulator, monkeypatch):
    for name in ("gs", "dataflux"):
        monkeypatch.setitem(fsspec.config.conf, name, emulator.options)
    DatafluxFileSystem.clear_instance_cache()
    try:
        url = f"dataflux://{bucket.name}/x.parquet"
        frame.to_parquet(url)
        pandas.testing.assert_frame_equal(pandas.read_parquet(url), frame)
    finally:
        DatafluxFileSystem.clear_instance_cache()
