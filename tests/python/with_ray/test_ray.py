"""dataflux.ray on a local Ray of two workers: what is read and written is exact, also where a worker is killed."""

import io
import os
import signal
import sys
import tarfile
from pathlib import Path

import numpy
import pytest
import ray

import dataflux
import dataflux.ray as dr
from dataflux.webdataset import tenbin
from local_ray import begin

COUNT = 60


@pytest.fixture(scope="module", autouse=True)
def cluster(_service):
    # Workers have the environment that the local Ray is begun with.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # which they cannot import
    begin()
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    yield
    ray.shutdown()


def content(number):
    return bytes([number % 251]) * (1000 + 100 * number)


@pytest.fixture
def objects(client, bucket):
    for number in range(COUNT):
        client.put(bucket(f"in/{number:03}"), content(number))
    return bucket("in/")


def tar_of(numbers, **more):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for number in numbers:
            fields = {"cls": b"%d" % number, "bin": content(number)} | (more if number % 2 else {})
            for field, data in fields.items():
                info = tarfile.TarInfo(f"{number:04}.{field}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture
def shards(client, bucket):
    for shard in range(3):
        client.put(bucket(f"t/{shard}.tar"), tar_of(range(20 * shard, 20 * shard + 20), txt=b"odd"))
    return bucket("t/")


def kill_once(row, mark):
    """Kills the worker of one row, the first time."""
    if row["name"].endswith("031"):
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return row
        os.kill(os.getpid(), signal.SIGKILL)
    return row


# Reading objects.

def test_objects_in_order(client, objects):
    dataset = dr.read_objects(objects, client=client, include_paths=True, override_num_blocks=5)
    rows = dataset.take_all()
    listing = client.list(objects)
    assert [row["name"] for row in rows] == list(listing.names)
    assert [row["bytes"] for row in rows] == [content(number) for number in range(COUNT)]
    assert [(row["size"], row["generation"], row["path"]) for row in rows] == \
        [(row.size, row.generation, row.url) for row in listing]
    assert dataset.materialize().num_blocks() == 5


def test_columns_and_sources(client, objects, tmp_path):
    manifest = str(tmp_path / "m")
    listing = client.list(objects)
    client.save_manifest(listing, manifest)
    before = client.metrics()
    for source in manifest, client.open_manifest(manifest), listing:
        rows = dr.read_objects(source, client=client, columns=["size", "name"]).take_all()
        assert rows == [{"size": row.size, "name": row.name} for row in listing]
    assert before is not None
    assert dr.read_objects(listing[7:9], client=client, columns=["bytes"]).take_all() == \
        [{"bytes": content(7)}, {"bytes": content(8)}]
    with pytest.raises(ValueError, match="columns: 'etag' is none of name"):
        dr.read_objects(listing, client=client, columns=["etag"])


def test_what_is_gone_is_named_or_left_out(client, objects):
    listing = client.list(objects)
    client.delete(listing[11])
    client.put(listing[12].url, b"another")
    with pytest.raises(Exception, match=r"gs://[^ ]*/in/011|in/011"):
        dr.read_objects(listing, client=client).take_all()
    left = dr.read_objects(listing, client=client, on_error="omit", columns=["name", "bytes"]).take_all()
    assert [row["name"] for row in left] == [name for at, name in enumerate(listing.names) if at not in (11, 12)]


def test_a_worker_is_killed(client, objects, tmp_path):
    mark = str(tmp_path / "killed")
    dataset = dr.read_objects(objects, client=client, override_num_blocks=6).map(kill_once, fn_args=[mark])
    rows = dataset.take_all()
    assert os.path.exists(mark)
    assert [row["bytes"] for row in rows] == [content(number) for number in range(COUNT)]


def test_several_trainers(client, objects):
    dataset = dr.read_objects(objects, client=client, override_num_blocks=6)

    @ray.remote(num_cpus=0)
    def train(part):
        return [name for batch in part.iter_batches(batch_size=7) for name in batch["name"]]

    parts = ray.get([train.remote(part) for part in dataset.streaming_split(2, equal=True)])
    assert len(parts[0]) == len(parts[1]) == COUNT // 2
    assert sorted(parts[0] + parts[1]) == list(client.list(objects).names)


# Reading shards.

def test_samples(client, shards, bucket, tmp_path):
    path = str(tmp_path / "t.dfx")
    client.index_shards(shards, path)
    client.upload(path, bucket("t.dfx"))
    wanted = [(f"{n:04}", b"%d" % n, content(n), b"odd" if n % 2 else None) for n in range(COUNT)]
    for source in path, dataflux.ShardIndex.open(path), bucket("t.dfx"), shards:
        rows = dr.read_shards(source, client=client, override_num_blocks=4).take_all()
        assert [(row["__key__"], row["cls"], row["bin"], row.get("txt")) for row in rows] == wanted
    # Files may go once a dataset is there.
    dataset = dr.read_shards(path, client=client, columns=["__key__", "txt"], include_paths=True)
    Path(path).unlink()
    assert [tuple(row.values()) for row in dataset.take_all()] == \
        [(key, txt, bucket(f"t/{int(key) // 20}.tar")) for key, _, _, txt in wanted]


def test_a_shard_that_was_written_anew(client, shards, bucket, tmp_path):
    path = str(tmp_path / "t.dfx")
    client.index_shards(shards, path)
    client.put(bucket("t/1.tar"), b"another")
    with pytest.raises(Exception, match=r"t/1\.tar"):
        dr.read_shards(path, client=client).take_all()
    rows = dr.read_shards(path, client=client, on_error="omit").take_all()
    assert [int(row["__key__"]) for row in rows] == [*range(20), *range(40, 60)]


# Writing objects.

def test_objects_written(client, objects, bucket, tmp_path):
    mark, manifest = str(tmp_path / "killed"), bucket("out.manifest")
    dataset = dr.read_objects(objects, client=client, columns=["name", "bytes"], override_num_blocks=6)
    dataset = dataset.map(lambda row: {"name": row["name"][3:] + ".bin", "data": row["bytes"]})
    dr.write_objects(dataset, bucket("out"), manifest=manifest, bytes="data", client=client)
    found = client.open_manifest(manifest).rows()
    assert list(found.names) == [f"out/{number:03}.bin" for number in range(COUNT)]
    assert [client.get(row) for row in found] == [content(number) for number in range(COUNT)]
    assert not os.path.exists(mark)
    with pytest.raises(dataflux.AlreadyExistsError, match="out/000.bin lies below the prefix"):
        dr.write_objects(dataset, bucket("out"), manifest=manifest, bytes="data", client=client)
    with pytest.raises(ValueError, match="lies below"):
        dr.write_objects(dataset, bucket("new"), manifest=bucket("new/m"), client=client)


def test_a_repeated_task_writes_nothing_twice(client, bucket, tmp_path):
    mark, manifest = str(tmp_path / "killed"), str(tmp_path / "m")
    rows = [{"name": f"{number:03}", "bytes": content(number)} for number in range(COUNT)]
    # In one task with what kills it: rows before were written already.
    dataset = ray.data.from_items(rows, override_num_blocks=2).map_batches(
        lambda batch: batch, batch_size=4).map(kill_once, fn_args=[mark])
    dr.write_objects(dataset, bucket("out/"), manifest=manifest, client=client)
    assert os.path.exists(mark)
    found = client.open_manifest(manifest).rows()
    assert [client.get(row) for row in found] == [content(number) for number in range(COUNT)]
    assert len(client.list(bucket("out/"), versions=True)) == COUNT


def test_what_is_there_already_is_compared(client, bucket):
    from dataflux.ray._clients import carried
    from dataflux.ray._write import ObjectsDatasink

    sink = ObjectsDatasink(carried(client), bucket.name, "out/", "m", "name", "bytes")
    first = sink._put(client, {"name": "a", "bytes": b"one"})
    assert sink._put(client, {"name": "a", "bytes": b"one"}) == first
    with pytest.raises(dataflux.AlreadyExistsError, match="out/a is there with other bytes"):
        sink._put(client, {"name": "a", "bytes": b"two"})


def fail(row):
    if row["name"] == "031":
        raise RuntimeError("no such row")
    return row


def test_a_failure_leaves_nothing(client, bucket, tmp_path):
    manifest = tmp_path / "m"
    rows = [{"name": f"{number:03}", "bytes": content(number)} for number in range(COUNT)]
    dataset = ray.data.from_items(rows, override_num_blocks=4).map(fail)
    with pytest.raises(Exception, match="no such row"):
        dr.write_objects(dataset, bucket("out/"), manifest=manifest, client=client)
    assert not manifest.exists() and not bucket.names()


# Writing shards.

def test_shards_written(client, bucket, tmp_path):
    mark = str(tmp_path / "killed")
    rows = [{"name": f"{number:03}", "number": number} for number in range(COUNT)]

    def sample(row):
        array = numpy.arange(row["number"], dtype="int32")
        return {"__key__": row["name"], "cls": row["number"], "txt": "text" if row["number"] % 2 else None,
                "ten": bytes(tenbin.encode_buffer([array]))}

    dataset = ray.data.from_items(rows, override_num_blocks=6).map(kill_once, fn_args=[mark]).map(sample)
    dr.write_shards(dataset, bucket("out"), index=bucket("out.dfx"), count=20, client=client)
    assert os.path.exists(mark)
    index = client.open_shard_index(bucket("out.dfx"), str(tmp_path / "out.dfx"))
    assert len(index) == COUNT
    assert sorted(client.list(bucket("out/"), suffix=".tar").names) == [shard.name for shard in index.shards]

    found = dr.read_shards(bucket("out.dfx"), client=client).map(
        lambda row: {"key": row["__key__"], "cls": int(row["cls"]), "txt": row.get("txt"),
                     "sum": int(tenbin.decode_buffer(row["ten"])[0].sum())}).take_all()
    assert [row["key"] for row in found] == [f"{number:03}" for number in range(COUNT)]
    assert [row["cls"] for row in found] == list(range(COUNT))
    assert [row["txt"] for row in found] == [b"text" if number % 2 else None for number in range(COUNT)]
    assert [row["sum"] for row in found] == [sum(range(number)) for number in range(COUNT)]


def test_leftovers_of_an_attempt_go(client, bucket, tmp_path):
    from dataflux.ray._clients import carried
    from dataflux.ray._write import ShardsDatasink

    class Context:
        task_idx = 3

    import pyarrow

    sink = ShardsDatasink(carried(client), bucket.name, "out/", str(tmp_path / "i"), 2, 0)
    block = pyarrow.table({"__key__": ["a", "b", "c"], "cls": [1, 2, 3]})
    sink.write([block], Context)  # its worker was lost with what it has returned
    second = sink.write([block], Context)

    class Result:
        write_returns = [second]

    sink.on_write_complete(Result)
    index = dataflux.ShardIndex.open(str(tmp_path / "i"))
    assert [shard.name for shard in index.shards] == [name for name, _ in second] and len(index) == 3
    assert len(bucket.names()) == 4  # two shards, and their entries


def test_shards_that_fail_leave_nothing(client, bucket, tmp_path):
    rows = [{"name": f"{number:03}", "__key__": f"{number:03}", "bin": content(number)} for number in range(COUNT)]
    with pytest.raises(Exception, match="no such row"):
        dr.write_shards(ray.data.from_items(rows, override_num_blocks=4).map(fail), bucket("out/"),
                        index=tmp_path / "i", count=5, client=client)
    assert not bucket.names() and not (tmp_path / "i").exists()
    with pytest.raises(Exception, match="has no row"):
        dr.write_shards(ray.data.from_items(rows).filter(lambda row: False), bucket("out/"), index=tmp_path / "i",
                        count=5, client=client)
    with pytest.raises(ValueError, match="one of them is needed"):
        dr.write_shards(ray.data.from_items(rows), bucket("out/"), index=tmp_path / "i", client=client)
