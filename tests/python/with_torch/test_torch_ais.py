"""PyTorch's datasets on AIStore."""

import io
import tarfile
from functools import partial

import pytest

import dataflux
from dataflux.torch import IterableDataset, MapDataset


@pytest.fixture
def service(monkeypatch):
    with dataflux.emulator("bkt", service="ais") as service:
        for name, value in service.environment.items():
            monkeypatch.setenv(name, value)
        yield service


def test_datasets_find_their_client(service, tmp_path):
    path = str(tmp_path / "m.dfx")
    with service.client() as client:
        for number in range(20):
            client.put(f"ais://bkt/train/{number:02}", b"." * number)
        client.save_manifest(client.list("ais://bkt/train/"), path)
    for told in ({"url": "ais://bkt/train/"}, {"manifest": path}):
        mapped = MapDataset(**told)
        assert mapped._client._scheme == "ais"
        assert len(mapped) == 20 and len(mapped[3]) == 3
        assert sorted(map(len, IterableDataset(seed=7, **told))) == list(range(20))


def tar_of(samples):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, data in samples.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def test_shards(service, tmp_path):
    expected = {f"{number}{i:02}": b"%d" % (100 * number + i) for number in range(3) for i in range(40)}
    with service.client() as client:
        for number in range(3):
            client.put(f"ais://bkt/s/{number}.tar", tar_of({
                f"{key}.txt": data for key, data in expected.items() if key.startswith(str(number))}))
        client.index_shards("ais://bkt/s/", tmp_path / "index")
        for shards in (str(tmp_path / "index"), "ais://bkt/s/{0..2}.tar"):
            for kind in (partial(IterableDataset, shuffle="blocks", seed=7), MapDataset):
                dataset = kind(shards=shards, client=client)
                samples = list(dataset) if kind is not MapDataset else [dataset[i] for i in range(len(dataset))]
                assert {sample["__key__"]: bytes(sample["txt"]) for sample in samples} == expected
                assert len(samples) == len(expected)
