"""PyTorch's datasets on AIStore."""

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
