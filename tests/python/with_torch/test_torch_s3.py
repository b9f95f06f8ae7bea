"""PyTorch's datasets, files, Lightning's checkpoints and distributed ones on S3."""

import io
import pathlib
import tarfile

import pytest
import torch

import dataflux
import dcp_ranks
from dcp_ranks import Ranks, load_here, save_here
from dataflux.torch import IterableDataset, MapDataset, Mix, list_files, load, load_files, save


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


def of_google(name, path):
    """A manifest of a bucket of Google's, with the same names, in a file."""
    with dataflux.Emulator(name) as service, service.client() as gcs:
        for number in range(20):
            gcs.put(f"gs://{name}/train/{number:02}", b"." * number)
        gcs.save_manifest(gcs.list(f"gs://{name}/train/"), path)
    return str(path)


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


@pytest.fixture
def gcs():
    with dataflux.Client(endpoint="http://127.0.0.1:9", emulator=True, max_attempts=1) as client:
        yield client


@pytest.mark.parametrize("make", [
    lambda url, client: IterableDataset(url, client=client), lambda url, client: MapDataset(names=[url], client=client),
    lambda url, client: IterableDataset(names=[("b", "o"), url], client=client),
    lambda url, client: IterableDataset(pairs=[(("b", "x"), ".a"), (url, ".b")], client=client),
    lambda url, client: IterableDataset(pairs=[(url, ".a"), (("b", "x"), ".b")], manifest="m", client=client),
    lambda url, client: IterableDataset(manifest=url, client=client),
    lambda url, client: IterableDataset(shards=url, client=client),
    lambda url, client: load_files([url], client=client), lambda url, client: load_files([("b", "o"), url], client=client),
    lambda url, client: list_files(url, client=client), lambda url, client: list_files([("b", "x"), url], client=client)])
def test_a_url_of_the_other_service_is_refused_before_any_request(emulator, client, gcs, make):
    before = emulator.answered()
    with pytest.raises(ValueError, match="'gs://b/o.*' is of Google Cloud Storage, and the client is of S3"):
        make("gs://b/o", client)
    with pytest.raises(ValueError, match="'s3://b/o.*' is of S3, and the client is of Google Cloud Storage"):
        make("s3://b/o", gcs)
    assert emulator.answered() == before


def test_listings_of_the_other_service_are_refused(emulator, client, gcs, bucket, objects, tmp_path):
    client.save_manifest(client.list(objects), tmp_path / "m")
    ours, theirs = client.open_manifest(tmp_path / "m"), client.open_manifest(of_google(bucket.name, tmp_path / "g"))
    assert len(theirs) == 20
    for of, given in ((client, theirs), (gcs, ours)):
        for rows in (given, given.rows(), given.rows()[:2], given.rows().take([1, 0])):
            for make in (lambda: IterableDataset(rows, client=of), lambda: MapDataset(manifest=rows, client=of),
                         lambda: MapDataset([rows], client=of), lambda: list_files(rows, client=of),
                         lambda: load_files(rows, client=of), lambda: load_files(list(rows.rows() if rows is given else rows),
                                                                                 client=of),
                         lambda: MapDataset(names=rows.rows() if rows is given else rows, client=of)):
                with pytest.raises(ValueError, match="and the client is of"):
                    make()
        with pytest.raises(ValueError, match="and the client is of"):
            MapDataset(pairs=[((bucket.name, "train/0"), ""), ((bucket.name, "train/1"), "")], manifest=given, client=of)
    assert len(IterableDataset(ours, client=client)) == len(MapDataset(ours.rows()[:20], client=client)) == 20


def test_names_without_a_scheme_are_of_the_clients_service(client, bucket, objects):
    name = f"{objects}03".rpartition("/")[2]
    files = load_files([(bucket.name, f"train/{name}"), bucket("train/04")], client=client)
    assert [(path, file.read()) for path, file in files] == [(bucket("train/03"), b"..."), (bucket("train/04"), b"....")]
    assert list(list_files((bucket.name, "train/"), client=client)) == [bucket(f"train/{each:02}") for each in range(20)]
    assert bucket("train/") in repr(IterableDataset((bucket.name, "train/"), client=client))
    names = tuple((bucket.name, f"train/{each:02}") for each in range(3))
    dataset = MapDataset(names=names, client=client, decode=lambda view, row: row.url)
    assert [dataset[each] for each in range(3)] == [bucket(f"train/{each:02}") for each in range(3)]
    assert bucket() in repr(dataset)


def test_rows_of_shards_and_pairs_know_their_service(client, bucket, tmp_path):
    for side in "ab":
        bucket.put(f"{side}.tar", tar_of({f"{i}.{side}": b"1" for i in range(3)}))
        client.index_shards(bucket(f"{side}.tar"), tmp_path / side)
    left, right = (dataflux.ShardIndex.open(tmp_path / side) for side in "ab")
    for shards in (left, str(tmp_path / "a"), left.join(right)):
        dataset = IterableDataset(shards=shards, client=client, decode=lambda fields, row: row)
        assert {row.url for row in dataset} == {dataset.row(0).url} == {bucket("a.tar")}
        assert client.get(dataset.row(0)) == bucket.get("a.tar")
        assert Mix([dataset], [1])._client._scheme == "s3"
    for name in ("x/a.i", "x/b.i", "y/a.t", "y/b.t"):
        bucket.put(name, b"1")
    pairs = IterableDataset(pairs=[((bucket.name, "x/"), ".i"), (bucket("y/"), ".t")], client=client)
    assert {row.url for row in pairs.row(0)} == {bucket("x/a.i"), bucket("y/a.t")}
    assert Mix([pairs], [1])._client._scheme == "s3"


def test_datasets_of_a_file_are_of_its_service(emulator, client, gcs, bucket, objects, monkeypatch, tmp_path):
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    client.save_manifest(client.list(objects), tmp_path / "m")
    for side in "ab":
        bucket.put(f"{side}.tar", tar_of({f"{i}.{side}": b"1" for i in range(3)}))
        client.index_shards(bucket(f"{side}.tar"), tmp_path / side)
    left, right = (dataflux.ShardIndex.open(tmp_path / side) for side in "ab")
    for told in ({"manifest": str(tmp_path / "m")}, {"manifest": [tmp_path / "m"]}, {"shards": str(tmp_path / "a")},
                 {"shards": [tmp_path / "a", tmp_path / "b"]}, {"shards": left}, {"shards": left.join(right)}):
        dataset = MapDataset(**told)
        assert dataset._client._scheme == "s3" and dataset[0] is not None
        with pytest.raises(ValueError, match="is of S3, and the client is of Google"):
            IterableDataset(**told, client=gcs)
    with pytest.raises(ValueError, match="is of Google Cloud Storage, and the client is of S3"):
        MapDataset(manifest=of_google("bucket", tmp_path / "g"), client=client)


def test_a_mix_is_of_one_service(client, objects, gcs, tmp_path):
    dataset = IterableDataset(objects, client=client)
    other = IterableDataset(manifest=of_google("bucket", tmp_path / "m"), client=gcs)
    for sources, more in (([dataset], {"client": gcs}), ([dataset, other], {}), ([other, dataset], {})):
        with pytest.raises(ValueError, match=r"sources\[[01]\]: it is of "):
            Mix(sources, [1] * len(sources), **more)


def test_pipes_without_a_client_are_of_the_urls_service(emulator, bucket, objects, monkeypatch):
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    urls = [bucket(f"train/{each:02}") for each in range(20)]
    for given in (objects, [objects], iter([objects]), (each for each in [objects])):
        assert list(list_files(given)) == urls
    for given in (urls[3], urls[3:4], iter(urls[3:4]), list_files(objects)):
        assert (urls[3], b"...") in [(url, file.read()) for url, file in load_files(given)]
    files = load_files(list_files(objects, region="us-east-1"), connections=2, region="us-east-1")
    given = files._origin.client._options.given
    assert (given["service"], given["region"], given["max_connections_per_host"]) == ("s3", "us-east-1", 2)
    loader = torch.utils.data.DataLoader(files.readlines(return_path=False), batch_size=None, num_workers=2)
    assert sorted(map(len, loader)) == list(range(1, 20))
    with pytest.raises(ValueError, match="'gs://b/o' is of Google Cloud Storage, and the client is of S3"):
        load_files([urls[0], "gs://b/o"])


def test_files(client, bucket):
    state = {"w": torch.arange(2_000_000, dtype=torch.float32), "step": 3}
    save(state, bucket("run/state.pt"), client=client)
    again = load(bucket("run/state.pt"), client=client)
    assert torch.equal(again["w"], state["w"]) and again["step"] == 3
    with pytest.raises(ValueError, match="the client is of S3"):
        save(state, "gs://bucket/x", client=client)
    with pytest.raises(dataflux.NotFoundError, match=bucket("none")):
        load(bucket("none"), client=client)


def test_distributed_checkpoints(client, bucket):
    for step in (1, 2, 3):
        made = save_here(client, bucket("latest"), step)
        assert load_here(client, bucket("latest")) == step and made.committed.replaced.failures == ()
        save_here(client, bucket(f"run/{step}"), step)
    assert len(bucket.names("latest/")) == 3
    there = client.list_sets(bucket("run"))
    assert [each.prefix for each in there.complete] == ["run/1/", "run/2/", "run/3/"] and not there.unfinished
    assert client.latest_set(bucket("run")).url == bucket("run/3/")
    assert client.keep_last_sets(bucket("run"), 1).sets == ("run/1/", "run/2/")
    assert load_here(client, bucket("run/3")) == 3


def test_distributed_checkpoints_of_several_ranks(emulator, bucket, monkeypatch):
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    options = dataflux.Client(service="s3")  # with keys of its own it does not travel
    ranks = Ranks(2)
    try:
        ranks.run(dcp_ranks.know, dict(emulator.environment))
        for step in (1, 2):
            assert ranks.run(dcp_ranks.save, options, bucket("r"), step, wide=60_000) == ["saved"] * 2
            assert ranks.run(dcp_ranks.load, options, bucket("r"), wide=60_000) == [step] * 2
    finally:
        ranks.close()
    with emulator.client() as client:
        there = client.list_sets(bucket())
        assert [each.members for each in there.complete] == [2] and not there.unfinished
        assert len(bucket.names()) == 4


def test_checkpoints_of_lightning(client, bucket):
    pytest.importorskip("lightning")
    from dataflux.lightning import CheckpointIO

    io_of = CheckpointIO(client)
    io_of.save_checkpoint({"step": 1}, pathlib.PurePosixPath(bucket("run/1.ckpt")))
    assert io_of.load_checkpoint(bucket("run/1.ckpt")) == {"step": 1}
    io_of.remove_checkpoint(bucket("run/1.ckpt"))
    assert bucket.names() == []
