"""dataflux_pytorch's datasets: what the original promises, and what differs on purpose."""

import copy
import inspect
import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

import dataflux
import google_client
from dataflux_core._objects import Name
from dataflux_pytorch import dataflux_iterable_dataset, dataflux_mapstyle_dataset
from dataflux_pytorch.dataflux_iterable_dataset import DataFluxIterableDataset
from dataflux_pytorch.dataflux_mapstyle_dataset import DataFluxMapStyleDataset

COUNT = 40
PROJECT = "project"
BOTH = pytest.mark.parametrize("kind, module", [(DataFluxMapStyleDataset, dataflux_mapstyle_dataset),
                                                (DataFluxIterableDataset, dataflux_iterable_dataset)],
                               ids=["map", "iterable"])
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def number(content):
    return int(content)


def process(content):
    return os.getpid()


@pytest.fixture
def objects(client, bucket):
    for each in range(COUNT):
        client.put(bucket(f"d/{each:03}"), b"%03d" % each)
    client.put(bucket("e/0"), b"0")
    return [(f"d/{each:03}", 3) for each in range(COUNT)]


@pytest.fixture
def storage_client(emulator):
    """A dataflux.Client is one that they take, too, and it gives tokens."""
    return emulator.client()


@pytest.fixture
def none(emulator, monkeypatch):
    """No client is given: the environment says where the service is."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", emulator.endpoint)


def loaded(dataset, workers, batch_size=4, **more):
    return torch.cat(list(DataLoader(dataset, batch_size=batch_size, num_workers=workers, **more))).tolist()


def test_defaults_are_the_originals():
    beside = {"threads_per_process": 1}
    for module in (dataflux_mapstyle_dataset, dataflux_iterable_dataset):
        config = module.Config()
        assert {name: value for name, value in vars(config).items() if not name.endswith("retry_config")} == {
            "sort_listing_results": False, "max_composite_object_size": 100000000,
            "num_processes": os.cpu_count(), "prefix": None, "max_listing_retries": 3, **beside}
        for retry in (config.list_retry_config, config.download_retry_config, module.MODIFIED_RETRY):
            assert (retry._deadline, retry._initial, retry._multiplier, retry._maximum) == \
                (100000.0, 1.0, 1.5, 30.0)
        assert module.Config(disable_compose=True).max_composite_object_size == 0
        assert module.Config(max_composite_object_size=5).max_composite_object_size == 5
        assert module.data_format_default(b"1") == b"1"
        beside = {}
    assert list(inspect.signature(dataflux_mapstyle_dataset.Config).parameters) == [
        "sort_listing_results", "max_composite_object_size", "num_processes", "prefix",
        "max_listing_retries", "threads_per_process", "disable_compose", "list_retry_config",
        "download_retry_config"]
    for kind in (DataFluxMapStyleDataset, DataFluxIterableDataset):
        assert list(inspect.signature(kind).parameters) == [
            "project_name", "bucket_name", "config", "data_format_fn", "storage_client"]


@pytest.mark.without_tokens
def test_readme_of_data_loading(bucket, objects, none):
    map_dataset = dataflux_mapstyle_dataset.DataFluxMapStyleDataset(
        project_name=PROJECT, bucket_name=bucket.name,
        config=dataflux_mapstyle_dataset.Config(prefix="d/"))
    name, size = map_dataset.objects[0]
    assert (name, size) == ("d/000", 3) and isinstance(map_dataset.objects, list)
    assert map_dataset.objects == objects and len(map_dataset) == COUNT
    assert [each for each in map_dataset] == [b"%03d" % each for each in range(COUNT)]
    iterable_dataset = dataflux_iterable_dataset.DataFluxIterableDataset(
        project_name=PROJECT, bucket_name=bucket.name,
        config=dataflux_mapstyle_dataset.Config(prefix="d/"), data_format_fn=lambda content: int(content))
    assert list(iterable_dataset) == list(range(COUNT))
    assert not hasattr(iterable_dataset, "__len__")


@pytest.mark.without_tokens
def test_our_readme_as_it_stands(bucket, client, emulator):
    client.put(bucket("train/0"), b"twelve bytes")
    page = Path(__file__).resolve().parents[3] / "python-compat/README.md"
    (sample,) = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)
    done = subprocess.run([sys.executable, "-c", sample.replace("my-bucket", bucket.name)], text=True,
                          timeout=200, capture_output=True, env={**os.environ, **emulator.environment})
    assert (done.returncode, done.stdout) == (0, "12\n"), done.stderr


def test_readme_of_limits(bucket, objects, storage_client, emulator):
    """With the retry objects and without composing, as the original advises for large jobs."""
    dataset = DataFluxMapStyleDataset(
        PROJECT, bucket.name, storage_client=storage_client,
        config=dataflux_mapstyle_dataset.Config(
            prefix="d/", max_composite_object_size=0, disable_compose=True,
            list_retry_config=google_client.Retry(1.0, 1.2, 45.0, 300.0),
            download_retry_config=google_client.Retry(1.0, 1.5, 90.0, 600.0)))
    before = emulator.counters()["requests"]
    assert dataset.__getitems__([3, 1]) == [b"003", b"001"]
    verbs = {one["verb"] for one in emulator.counters()["requests"] if one not in before}
    assert verbs <= {"objects.media", "control"}


def test_items_by_their_numbers(bucket, objects, storage_client):
    dataset = DataFluxMapStyleDataset(PROJECT, bucket.name, dataflux_mapstyle_dataset.Config(prefix="d/"),
                                      number, storage_client)
    assert dataset[7] == 7 and dataset[-1] == COUNT - 1
    assert dataset.__getitems__([5, 5, 0, -2]) == [5, 5, 0, COUNT - 2]
    assert dataset.__getitems__([]) == []
    with pytest.raises(IndexError):
        dataset[COUNT]
    with pytest.raises(IndexError):
        dataset.__getitems__([0, COUNT])


def given(kind, bucket, storage_client, data_format_fn=number, **config):
    module = dataflux_mapstyle_dataset if kind is DataFluxMapStyleDataset else dataflux_iterable_dataset
    return kind(PROJECT, bucket.name, module.Config(prefix="d/", **config), data_format_fn, storage_client)


@pytest.mark.parametrize("kind, start", [
    (DataFluxMapStyleDataset, "fork"), (DataFluxIterableDataset, "fork"),
    (DataFluxMapStyleDataset, "spawn"), (DataFluxIterableDataset, "forkserver")])
def test_workers_read_with_a_client_that_was_given(bucket, objects, storage_client, kind, start):
    """The original fails where processes are spawned, or forgets the client."""
    dataset = given(kind, bucket, storage_client)
    assert next(iter(dataset)) == 0  # so that its client is open when a process is forked
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = loaded(dataset, 2, multiprocessing_context=start)
    assert sorted(found) == list(range(COUNT))


@pytest.mark.without_tokens
@pytest.mark.parametrize("kind, start", [
    (DataFluxMapStyleDataset, "fork"), (DataFluxIterableDataset, "fork"), (DataFluxIterableDataset, "spawn")])
def test_workers_read_without_a_client(bucket, objects, none, kind, start):
    dataset = given(kind, bucket, None)
    assert next(iter(dataset)) == 0
    assert sorted(loaded(dataset, 2, multiprocessing_context=start)) == list(range(COUNT))


@BOTH
def test_samples_are_made_in_the_worker(bucket, objects, storage_client, kind, module):
    processes = set(loaded(given(kind, bucket, storage_client, process), 2))
    assert len(processes) == 2 and os.getpid() not in processes


class Secret:
    """Credentials of google.auth that have a token."""

    token, expiry, quota_project_id, valid = "very-secret", None, None, True

    def refresh(self, request):
        pass


@BOTH
def test_a_pickle_carries_no_secret_and_says_so(bucket, objects, storage_client, kind, module):
    dataset = given(kind, bucket, storage_client)
    dataset.storage_client = google_client.Client("https://storage.googleapis.com", Secret())
    with pytest.warns(UserWarning, match="do not travel"):
        carried = pickle.dumps(dataset)
    assert b"very-secret" not in carried
    options = pickle.loads(carried).storage_client._options.given
    assert options["endpoint"] == "https://storage.googleapis.com" and options["credentials"] is None
    dataset.storage_client = google_client.Client("https://storage.googleapis.com")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(dataset)).storage_client._options.given["anonymous"] is True


@BOTH
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_in_this_process_keeps_its_client(bucket, objects, storage_client, kind, module, copied):
    storage_client._credentials = Secret()
    dataset = given(kind, bucket, storage_client)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        another = copied(dataset)
    assert another.storage_client is storage_client and another is not dataset
    assert sorted(loaded(another, 0)) == sorted(loaded(dataset, 0))


@BOTH
def test_a_pickle_has_the_list_and_its_generations(bucket, objects, storage_client, kind, module):
    again = pickle.loads(pickle.dumps(given(kind, bucket, storage_client)))
    assert again.objects == objects and all(isinstance(name, Name) for name, _ in again.objects)
    assert list(again) == list(range(COUNT))


@pytest.mark.parametrize("workers", [1, 3, 7])
def test_a_worker_has_a_block_of_the_list(bucket, objects, storage_client, workers):
    dataset = given(DataFluxIterableDataset, bucket, storage_client)
    each = -(-COUNT // workers)
    loader = DataLoader(dataset, batch_size=None, num_workers=workers)
    expected = []
    for turn in range(each):
        expected += [worker * each + turn for worker in range(workers)
                     if worker * each + turn < min(COUNT, (worker + 1) * each)]
    assert list(loader) == expected


def test_a_pass_that_has_failed_fails_every_time(bucket, objects, client, storage_client):
    dataset = DataFluxIterableDataset(PROJECT, bucket.name, dataflux_iterable_dataset.Config(disable_compose=True),
                                              storage_client=storage_client)
    client.remove_prefix(bucket(), whole_bucket=True)
    samples = iter(dataset)
    for _ in range(3):
        with pytest.raises(dataflux.NotFoundError):
            list(samples)


def test_a_pass_whose_format_has_failed_fails_every_time(bucket, objects, storage_client):
    def broken(content):
        raise LookupError("no format")

    samples = iter(DataFluxIterableDataset(PROJECT, bucket.name, dataflux_iterable_dataset.Config(disable_compose=True),
                                                   broken, storage_client))
    with pytest.raises(LookupError):
        list(samples)
    for _ in range(2):
        with pytest.raises(dataflux.PreconditionError, match="LookupError"):
            list(samples)


def test_more_workers_than_objects(bucket, client, storage_client):
    client.put(bucket("d/0"), b"0")
    assert loaded(given(DataFluxIterableDataset, bucket, storage_client), 3) == [0]


@pytest.mark.without_tokens
def test_permissions_are_asked_for_where_composing_is_on(bucket, objects, emulator, storage_client, none):
    emulator.add_bucket(bucket.name, readOnly=True)
    for kind, client in ((DataFluxMapStyleDataset, storage_client), (DataFluxIterableDataset, storage_client),
                         (DataFluxIterableDataset, None)):
        with pytest.raises(PermissionError, match="storage.objects.create.*disable_compose=True"):
            given(kind, bucket, client)
        assert len(list(given(kind, bucket, client, disable_compose=True))) == COUNT
    # The original asks for nobody else. What may not be composed is read object by object.
    dataset = given(DataFluxMapStyleDataset, bucket, None)
    assert dataset.__getitems__(range(COUNT)) == list(range(COUNT))


@BOTH
def test_an_object_that_is_gone_fails_the_batch(bucket, objects, client, storage_client, kind, module):
    dataset = given(kind, bucket, storage_client)
    client.delete(bucket("d/009"))
    with pytest.raises(FileNotFoundError, match="d/009"):
        loaded(dataset, 0)
    with pytest.raises(FileNotFoundError, match="d/009"):
        loaded(dataset, 2)


@BOTH
def test_what_data_format_fn_raises_comes_out(bucket, objects, storage_client, kind, module):
    def refuse(content):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        next(iter(given(kind, bucket, storage_client, refuse)))


@BOTH
def test_bad_arguments_are_named_before_any_request(bucket, emulator, kind, module):
    before = emulator.answered()
    for name, arguments in (("data_format_fn", {"data_format_fn": "x"}),
                            ("config", {"config": {"prefix": "d/"}}),
                            ("storage_client", {"storage_client": "x"})):
        with pytest.raises(TypeError, match=f"^{name}: "):
            kind(PROJECT, bucket.name, **arguments)
    with pytest.raises(TypeError, match="^retry_config: "):
        kind(PROJECT, bucket.name, module.Config(list_retry_config=3))
    assert emulator.answered() == before


def test_a_pass_that_is_broken_off_leaves_nothing(bucket, objects, storage_client):
    for sample in given(DataFluxIterableDataset, bucket, storage_client):
        if sample == 2:
            break
    assert [name for name in bucket.names() if not name.startswith("d/")] == ["e/0"]


@BOTH
def test_a_listing_is_begun_anew_where_that_may_help(bucket, objects, emulator, kind, module):
    storage_client = emulator.client(max_attempts=1)
    emulator.faults({"verb": "objects.list", "action": "refuse", "status": 503, "count": 2})
    dataset = given(kind, bucket, storage_client, list_retry_config=None)
    assert len(dataset.objects) == COUNT
    emulator.faults({"verb": "objects.list", "action": "refuse", "status": 503, "count": 0})
    with pytest.raises(dataflux.UnavailableError):
        given(kind, bucket, storage_client, list_retry_config=None, max_listing_retries=2)
    emulator.faults({"verb": "objects.list", "action": "refuse", "status": 403, "count": 1})
    with pytest.raises(PermissionError):
        given(kind, bucket, storage_client)


def test_a_worker_has_its_share_of_the_machine(bucket, objects, storage_client):
    assert set(loaded(Spied(given(DataFluxMapStyleDataset, bucket, storage_client)), 2)) == {128}


class Spied(torch.utils.data.Dataset):
    """How many connections a worker's client may have."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return self.dataset._client()._options.given["max_connections_per_host"]
