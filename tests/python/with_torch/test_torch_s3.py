"""PyTorch's datasets, files and Lightning's checkpoints on S3."""

import io
import pathlib
import tarfile

import pytest
import torch

import dataflux
from dataflux.torch import IterableDataset, MapDataset, Mix, load, save


@pytest.fixture
def which():
    return "s3"


@pytest.fixture
def objects(bucket):
    for number in range(20):
        bucket.put(f"train/{number:02}", b"." * number)
    return bucket("train/")


def tar_of(samples):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, data in samples.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def test_datasets_of_a_url(client, objects):
    for kind in (IterableDataset, MapDataset):
        dataset = kind(objects, client=client)
        assert dataset._client._scheme == "s3" and objects in repr(dataset)
    assert sorted(map(len, IterableDataset(objects, seed=7, client=client))) == list(range(20))
    mapped = MapDataset(objects, client=client)
    assert len(mapped) == 20 and len(mapped[3]) == 3 and [len(each) for each in mapped.__getitems__([5, 4])] == [5, 4]
    mix = Mix([IterableDataset(objects, client=client)], [1.0], length=10, client=client)
    assert len(list(mix)) == 10


def test_names_manifests_and_pairs(client, bucket, objects, tmp_path):
    assert len(list(IterableDataset(names=[f"{objects}03", f"{objects}04"], client=client))) == 2
    client.save_manifest(client.list(objects), tmp_path / "m")
    client.save_manifest(client.list(objects), bucket("m"))
    for manifest in (str(tmp_path / "m"), bucket("m"), client.list(objects)):
        assert len(list(IterableDataset(manifest=manifest, client=client))) == 20
    for name in ("a", "b"):
        bucket.put(f"x/{name}.img", b"1")
        bucket.put(f"y/{name}.txt", b"22")
    pairs = IterableDataset(pairs=[(bucket("x/"), ".img"), (bucket("y/"), ".txt")], client=client)
    assert [tuple(map(len, pair)) for pair in pairs] == [(1, 2)] * 2


def test_shards(client, bucket):
    for number in range(2):
        bucket.put(f"s/{number}.tar", tar_of({f"{number}{i}.txt": b"%d" % i for i in range(4)}))
    samples = list(IterableDataset(shards=bucket("s/"), client=client))
    assert sorted(sample["__key__"] for sample in samples) == ["00", "01", "02", "03", "10", "11", "12", "13"]
    assert {sample["__url__"] for sample in samples} == {bucket("s/0.tar"), bucket("s/1.tar")}


def test_without_a_client_the_url_chooses(emulator, objects, monkeypatch):
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    dataset = IterableDataset(objects)
    assert len(list(torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2))) == 20
    with pytest.raises(ValueError, match="the client is of S3"):
        IterableDataset("gs://bucket/x", client=dataset._client)


def test_files(client, bucket):
    state = {"w": torch.arange(2_000_000, dtype=torch.float32), "step": 3}
    save(state, bucket("run/state.pt"), client=client)
    again = load(bucket("run/state.pt"), client=client)
    assert torch.equal(again["w"], state["w"]) and again["step"] == 3
    with pytest.raises(ValueError, match="the client is of S3"):
        save(state, "gs://bucket/x", client=client)
    with pytest.raises(dataflux.NotFoundError, match=bucket("none")):
        load(bucket("none"), client=client)


def test_checkpoints_of_lightning(client, bucket):
    pytest.importorskip("lightning")
    from dataflux.lightning import CheckpointIO

    io_of = CheckpointIO(client)
    io_of.save_checkpoint({"step": 1}, pathlib.PurePosixPath(bucket("run/1.ckpt")))
    assert io_of.load_checkpoint(bucket("run/1.ckpt")) == {"step": 1}
    io_of.remove_checkpoint(bucket("run/1.ckpt"))
    assert bucket.names() == []
