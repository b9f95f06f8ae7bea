"""dataflux_core: the original's names for listing and downloading. Each test says what the original promises,
or what differs on purpose."""

import inspect
import os
import pickle
import queue
import subprocess
import sys
from pathlib import Path

import pytest

import dataflux
import dataflux_core
import google_client
from dataflux_core import download, fast_list, user_agent
from dataflux_core._clients import client_of
from dataflux_core._objects import Name, requests_of
from dataflux_core._retry import DEFAULT_RETRY, MODIFIED_RETRY, Retry, times_of

COUNT = 40
PROJECT = "project"
Params = download.DataFluxDownloadOptimizationParams
COMPOSED = download.COMPOSED_PREFIX


def content(number):
    return b"%03d" % number * 10


@pytest.fixture
def storage_client(emulator):
    """A dataflux.Client is one that they take, too, and it gives tokens."""
    return emulator.client()


@pytest.fixture
def objects(client, bucket):
    """[(name, size)] of COUNT objects of 30 bytes below "d/"."""
    for number in range(COUNT):
        client.put(bucket(f"d/{number:03}"), content(number))
    return [(f"d/{number:03}", 30) for number in range(COUNT)]


def listed(storage_client, bucket, **options):
    lister = fast_list.ListingController(4, PROJECT, bucket.name, **options)
    lister.client = storage_client
    return lister.run()


def counts(emulator):
    """Requests by verb."""
    told = {}
    for one in emulator.counters()["requests"]:
        told[one["verb"]] = told.get(one["verb"], 0) + one["count"]
    return told


def asked(emulator, before, verb):
    return counts(emulator).get(verb, 0) - before.get(verb, 0)


def test_defaults_are_the_originals():
    def defaults(function):
        return {name: each.default for name, each in inspect.signature(function).parameters.items()
                if each.default is not inspect.Parameter.empty}

    assert defaults(fast_list.ListingController) == {
        "sort_results": False, "skip_compose": True, "prefix": "", "allowed_storage_classes": ["STANDARD"],
        "retry_config": MODIFIED_RETRY}
    assert (MODIFIED_RETRY._deadline, MODIFIED_RETRY._initial, MODIFIED_RETRY._multiplier,
            MODIFIED_RETRY._maximum) == (300.0, 1.0, 1.2, 45.0)
    assert list(inspect.signature(download.dataflux_download).parameters) == [
        "project_name", "bucket_name", "objects", "storage_client", "dataflux_download_optimization_params",
        "threading_enabled", "retry_config"]
    assert defaults(download.dataflux_download_threaded)["threads"] == 1
    assert defaults(download.dataflux_download_parallel)["parallelization"] == 1
    assert list(inspect.signature(download.download_single).parameters) == [
        "storage_client", "bucket_name", "object_name", "retry_config"]
    assert (download.MAX_NUM_OBJECTS_TO_COMPOSE, COMPOSED) == (32, "dataflux-composed-objects/")
    assert user_agent.user_agent_string == "dataflux/1.0"


def test_the_package_goes_with_its_own_version_of_dataflux():
    assert dataflux_core.__version__ == dataflux.__version__
    project = Path(dataflux_core.__file__).parents[2] / "pyproject.toml"
    if project.exists():  # the source tree
        assert f'"libdataflux=={dataflux.__version__}"' in project.read_text()


def test_importing_it_imports_nothing_of_torchs_or_googles():
    program = ("import sys, dataflux_core, dataflux_pytorch, dataflux_pytorch.dataflux_checkpoint, "
               "dataflux_pytorch.multipart_upload.multipart, dataflux_pytorch.lightning.path_utils\n"
               "assert not {'torch', 'lightning', 'numpy', 'google'} & set(sys.modules)")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.without_tokens
def test_readme_of_the_client_lists_and_downloads(bucket, objects, emulator, monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", emulator.endpoint)
    list_result = fast_list.ListingController(
        max_parallelism=20, project=PROJECT, bucket=bucket.name, prefix="d/").run()
    assert list_result == objects and isinstance(list_result, list)
    result = download.dataflux_download(
        project_name=PROJECT, bucket_name=bucket.name, objects=list_result,
        dataflux_download_optimization_params=Params(10000000))
    assert result == [content(number) for number in range(COUNT)]


def test_a_listing_leaves_out_markers_and_composites(client, bucket, storage_client, objects):
    for name in ("d/marker/", "d/marker-with-bytes/", f"{COMPOSED}x"):
        client.put(bucket(name), b"1" if "bytes" in name else b"")
    assert listed(storage_client, bucket) == objects
    assert listed(storage_client, bucket, prefix=None, sort_results=True) == objects
    assert (f"{COMPOSED}x", 0) in listed(storage_client, bucket, skip_compose=False)
    assert listed(storage_client, bucket, prefix="e/") == []


def test_classes_are_left_out_where_that_is_asked_for(client, bucket, storage_client, emulator):
    for name, kind in (("a", None), ("b", "NEARLINE"), ("c", "ARCHIVE")):
        client.put(bucket(name), b"1", storage_class=kind)
    assert [name for name, _ in listed(storage_client, bucket)] == ["a", "b", "c"]
    for classes, expected in ((["STANDARD"], ["a"]), (["STANDARD", "ARCHIVE"], ["a", "c"]), ([], [])):
        found = listed(storage_client, bucket, allowed_storage_classes=classes)
        assert [name for name, _ in found] == expected
    before = emulator.answered()
    with pytest.raises(TypeError, match="^allowed_storage_classes: "):
        listed(storage_client, bucket, allowed_storage_classes="STANDARD")
    assert emulator.answered() == before


@pytest.mark.parametrize("wrong, kind", [(-1, ValueError), ("4", TypeError), (None, TypeError)])
def test_a_parallelism_that_is_none(storage_client, bucket, wrong, kind):
    lister = fast_list.ListingController(wrong, PROJECT, bucket.name)
    lister.client = storage_client
    with pytest.raises(kind, match="^max_parallelism: "):
        lister.run()


def test_a_bucket_that_is_not_there_fails_the_listing(storage_client):
    lister = fast_list.ListingController(4, PROJECT, "there-is-no-such-bucket")
    lister.client = storage_client
    with pytest.raises(FileNotFoundError):
        lister.run()


@pytest.mark.parametrize("download_all", [
    download.dataflux_download,
    lambda *given: download.dataflux_download_threaded(*given, threads=5),
    lambda *given: download.dataflux_download_parallel(*given, parallelization=3),
    lambda *given: list(download.dataflux_download_lazy(*given))])
def test_every_way_of_downloading_gives_all_bytes_in_order(bucket, objects, storage_client, download_all):
    found = listed(storage_client, bucket)[::-1]
    expected = [content(number) for number in reversed(range(COUNT))]
    for params in (None, Params(0), Params(100), Params(100000000)):
        assert download_all(PROJECT, bucket.name, found, storage_client, params) == expected
    assert download_all(PROJECT, bucket.name, [], storage_client, Params(0)) == []


def test_the_threads_body_puts_one_list_on_its_queue(bucket, objects, storage_client):
    results = queue.Queue()
    download.df_download_thread(results, PROJECT, bucket.name, objects[:2], storage_client, Params(0))
    assert results.get_nowait() == [content(0), content(1)] and results.empty()


def test_composites_are_made_of_small_objects_and_removed(bucket, objects, storage_client, emulator):
    before = counts(emulator)
    found = listed(storage_client, bucket)
    download.dataflux_download(PROJECT, bucket.name, found, storage_client, Params(100000000))
    assert asked(emulator, before, "objects.compose") >= 1
    assert asked(emulator, before, "objects.media") < COUNT
    assert bucket.names() == [name for name, _ in objects]


@pytest.mark.parametrize("params", [None, Params(0)])
def test_without_composing_nothing_is_written(bucket, client, objects, storage_client, emulator, params):
    """The original composed empty objects even then."""
    for name in ("d/empty-0", "d/empty-1"):
        client.put(bucket(name), b"")
    before = counts(emulator)
    found = listed(storage_client, bucket)
    download.dataflux_download(PROJECT, bucket.name, found, storage_client, params)
    assert asked(emulator, before, "objects.compose") == 0


def runs(requests):
    """Sizes of what may be composed together."""
    found = [[]]
    for each in requests:
        if isinstance(each, tuple):
            found.append([])
        else:
            found[-1].append(each.size)
    return [each for each in found if each]


@pytest.mark.parametrize("sizes, most, expected", [
    ([10] * 5, 100, [[10] * 5]),
    ([10] * 5, 30, [[10] * 3, [10]]),
    ([1, 1000, 1, 1], 100, [[1], [1, 1]]),  # the original took in any object behind a small one
    ([100], 100, [[100]]), ([101], 100, []),
    ([0, 5, 0, 5], 100, [[5], [5]]),
    ([0, 0], 0, []), ([5], 0, [])])
def test_a_composite_is_never_larger_than_it_may_be(sizes, most, expected):
    objects = [(Name(f"o{number}", 1), size) for number, size in enumerate(sizes)]
    requests = list(requests_of("bucket", objects, most))
    assert runs(requests) == expected
    assert [each[1] if isinstance(each, tuple) else each.name for each in requests] == \
        [name for name, _ in objects]


def test_names_that_a_program_has_made_are_never_composed():
    assert list(requests_of("bucket", [("a", 1), ("b", 1)], 100)) == [("bucket", "a"), ("bucket", "b")]


def test_a_name_is_a_str_and_keeps_its_generation_in_a_pickle(bucket, objects, storage_client):
    found = listed(storage_client, bucket)
    assert found == objects and sorted(found[::-1]) == found and dict(found)["d/000"] == 30
    again = pickle.loads(pickle.dumps(found))
    assert again == found and [name.generation for name, _ in again] == [name.generation for name, _ in found]
    assert all(name.generation for name, _ in found)


def test_what_was_overwritten_since_it_was_listed_is_read_as_it_is_now(bucket, client, objects,
                                                                      storage_client):
    """The original shifted all bytes of a composite behind it."""
    found = listed(storage_client, bucket)
    client.put(bucket("d/005"), b"another length")
    expected = [content(number) for number in range(COUNT)]
    expected[5] = b"another length"
    for most in (0, 100000000):
        assert download.dataflux_download(PROJECT, bucket.name, found, storage_client,
                                          Params(most)) == expected
    assert not [name for name in bucket.names() if name.startswith(COMPOSED)]


@pytest.mark.parametrize("most", [0, 100000000])
def test_an_object_that_fails_fails_the_call(bucket, client, objects, storage_client, most):
    """The original's threaded download gave a shorter list."""
    found = listed(storage_client, bucket)
    client.delete(bucket("d/007"))
    with pytest.raises(FileNotFoundError, match="d/007"):
        download.dataflux_download_threaded(PROJECT, bucket.name, found, storage_client, Params(most),
                                            threads=4)
    assert not [name for name in bucket.names() if name.startswith(COMPOSED)]


@pytest.mark.parametrize("most", [0, 100000000])
def test_a_lazy_download_that_has_failed_fails_every_time(bucket, client, objects, storage_client, most):
    """A second loop would end at once, as if all had come."""
    found = listed(storage_client, bucket)
    client.delete(bucket("d/007"))
    reads = download.dataflux_download_lazy(PROJECT, bucket.name, found, storage_client, Params(most))
    told = []
    for _ in range(3):
        with pytest.raises(dataflux.NotFoundError, match="d/007") as raised:
            list(reads)
        told.append(raised.value)
    assert len(set(map(id, told))) == 3 and {each.object for each in told} == {"d/007"}
    reads.close()
    with pytest.raises(dataflux.NotFoundError):
        next(reads)


def test_a_generator_that_is_closed_early_leaves_nothing(bucket, objects, storage_client):
    reads = download.dataflux_download_lazy(PROJECT, bucket.name, listed(storage_client, bucket),
                                            storage_client, Params(100000000))
    assert next(reads) == content(0)
    reads.close()
    assert bucket.names() == [name for name, _ in objects]


def test_compose_and_decompose(bucket, client, objects, storage_client):
    made = download.compose(PROJECT, bucket.name, "target", objects[:3], storage_client)
    assert made.name == "target" and bucket.get("target") == b"".join(map(content, range(3)))
    parts = download.decompose(PROJECT, bucket.name, "target", objects[:3], storage_client)
    assert parts == [content(number) for number in range(3)]
    with pytest.raises(dataflux.DataLossError, match="90 bytes"):
        download.decompose(PROJECT, bucket.name, "target", objects[:2], storage_client)
    again = download.compose(PROJECT, bucket.name, "target", objects[:2], storage_client)
    made.delete()  # which is not there any more
    assert bucket.get("target") is not None
    again.delete(retry=DEFAULT_RETRY)
    assert bucket.get("target") is None
    with pytest.raises(ValueError, match="at most 32"):
        download.compose(PROJECT, bucket.name, "target", objects[:33], storage_client)


def test_composing_goes_on_after_a_failure_of_the_service(bucket, objects, storage_client, emulator):
    emulator.faults({"verb": "objects.compose", "action": "refuse", "status": 503, "count": 1})
    download.compose(PROJECT, bucket.name, "target", objects[:2], storage_client)
    assert bucket.get("target") == content(0) + content(1)


@pytest.mark.parametrize("agent, expected", [
    (None, "dataflux/1.0"), ("", "dataflux/1.0"), ("mine/2", "dataflux/1.0 mine/2")])
def test_the_user_agent_is_set_once(agent, expected):
    client = google_client.Client("http://127.0.0.1:1")
    client._connection._client_info = None if agent is None else google_client.ClientInfo(agent)
    for _ in range(2):
        user_agent.add_dataflux_user_agent(client)
        assert client._connection._client_info.user_agent == expected
    client._connection = None
    user_agent.add_dataflux_user_agent(client)
    user_agent.add_dataflux_user_agent(None)


@pytest.mark.without_tokens
def test_a_clients_endpoint_credentials_and_agent_are_used(emulator):
    given = google_client.Client(emulator.endpoint)
    options = client_of(given, MODIFIED_RETRY)._options.given
    assert options["endpoint"] == emulator.endpoint and options["emulator"]
    assert options["user_agent"] == "dataflux/1.0 gcloud-python/3.17.1"
    service = google_client.Client("https://storage.googleapis.com", credentials=Renewed(lambda: "t"))
    options = client_of(service, MODIFIED_RETRY)._options
    assert options.given["endpoint"] == "https://storage.googleapis.com"
    assert not options.given["emulator"] and options.given["credentials"] is service._credentials
    anonymous = client_of(google_client.Client("https://storage.googleapis.com"), MODIFIED_RETRY)
    assert anonymous._options.source.anonymous


class Renewed:
    """google.auth.credentials.Credentials as google.oauth2's are."""

    token = expiry = quota_project_id = None
    valid = False

    def __init__(self, ask):
        self._ask = ask

    def refresh(self, request):
        self.token = self._ask()


def test_a_clients_credentials_are_asked_for_tokens(tmp_path, monkeypatch):
    import test_credentials

    with test_credentials.Guarded(tmp_path) as guarded:
        monkeypatch.setenv("SSL_CERT_FILE", guarded.authority)
        given = google_client.Client(guarded.endpoint, credentials=Renewed(guarded.token))
        client_of(given, None).put(f"gs://{test_credentials.NAME}/a", b"1")
        assert download.download_single(given, test_credentials.NAME, "a") == b"1"
        assert guarded.given == [given._credentials.token]


@pytest.mark.without_tokens
def test_one_client_is_made_for_each_that_is_given(emulator, monkeypatch):
    given = google_client.Client(emulator.endpoint)
    made = client_of(given, MODIFIED_RETRY)
    assert client_of(given, MODIFIED_RETRY) is made
    assert client_of(given, None) is not made
    assert client_of(google_client.Client(emulator.endpoint), MODIFIED_RETRY) is not made
    assert client_of(None, MODIFIED_RETRY) is client_of(None, MODIFIED_RETRY)
    own = dataflux.Client(**emulator.options)
    assert client_of(own, MODIFIED_RETRY) is own
    for wrong in ("client", 3, object()):
        with pytest.raises(TypeError, match="^storage_client: "):
            client_of(wrong, MODIFIED_RETRY)


@pytest.mark.parametrize("retry, attempts, limit", [
    (None, 1, None),
    # Waits of 0.5, 1, 2, 4, 8, 16, 30, 30 s on an average.
    (google_client.Retry(1.0, 2.0, 60.0, 120.0), 9, 120.0),
    (google_client.ConditionalRetryPolicy(google_client.Retry(1.0, 2.0, 60.0, 120.0)), 9, 120.0),
    (google_client.Retry(1.0, 1.5, 30.0, 100000.0), 1000, 100000.0),
    (google_client.Retry(10.0, 2.0, 60.0, 4.0), 1, 4.0),
    (google_client.Retry(1.0, 2.0, 60.0, None), 1000, None)])
def test_a_retry_object_gives_its_times(retry, attempts, limit):
    times = times_of(retry)
    assert (times.attempts, times.limit) == (attempts, limit)


def test_our_retry_has_the_names_of_googles():
    changed = DEFAULT_RETRY.with_deadline(7.0).with_delay(initial=1.5, maximum=3.0)
    assert (changed._initial, changed._multiplier, changed._maximum, changed.deadline) == (1.5, 2.0, 3.0, 7.0)
    assert DEFAULT_RETRY.with_timeout(5.0).timeout == 5.0 and DEFAULT_RETRY.deadline == 120.0
    for wrong, kind in ((3, TypeError), ("x", TypeError), (Retry(initial=0.0), ValueError),
                        (Retry(deadline=-1.0), ValueError), (Retry(multiplier=0.5), ValueError)):
        with pytest.raises(kind, match="^retry_config: "):
            times_of(wrong)


def test_a_client_of_dataflux_keeps_its_attempts_and_what_is_no_retry_is_refused(bucket, client, emulator):
    with pytest.raises(TypeError, match="^retry_config: "):
        listed(client, bucket, retry_config=3)
    emulator.faults({"verb": "objects.list", "action": "refuse", "status": 503, "count": 0})
    with emulator.client(max_attempts=2) as own, pytest.raises(dataflux.UnavailableError) as raised:
        listed(own, bucket, retry_config=None)
    assert raised.value.attempts == 2


@pytest.mark.without_tokens
def test_as_many_attempts_are_made_as_the_retry_says(bucket, objects, emulator):
    storage_client = google_client.Client(emulator.endpoint)
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 503, "count": 0})
    before = counts(emulator)
    with pytest.raises(dataflux.UnavailableError) as raised:
        download.download_single(storage_client, bucket.name, "d/000", retry_config=None)
    assert raised.value.attempts == 1 and asked(emulator, before, "objects.media") == 1
    few = Retry(0.01, 1.0, 0.01, 0.012)  # two waits of 0.005 s on an average
    with pytest.raises(dataflux.Error) as raised:
        download.dataflux_download(PROJECT, bucket.name, objects[:1], storage_client, None,
                                   retry_config=few)
    assert raised.value.attempts == 3


@pytest.mark.without_tokens
def test_it_runs_where_no_process_may_be_started(bucket, objects, emulator):
    """In daemonic processes, as a DataLoader's workers are."""
    program = (
        "import multiprocessing, sys\n"
        "from dataflux_core import download, fast_list\n"
        "def work(answer):\n"
        "    found = fast_list.ListingController(2, 'p', sys.argv[1]).run()\n"
        "    got = download.dataflux_download_parallel('p', sys.argv[1], found, None,\n"
        "        download.DataFluxDownloadOptimizationParams(0), parallelization=2)\n"
        "    answer.put(len(got))\n"
        "if __name__ == '__main__':\n"
        "    answer = multiprocessing.Queue()\n"
        "    made = multiprocessing.Process(target=work, args=(answer,), daemon=True)\n"
        "    made.start()\n"
        "    assert answer.get(timeout=60) == 40\n"
        "    made.join()\n")
    subprocess.run([sys.executable, "-c", program, bucket.name], check=True, timeout=120,
                   env={**os.environ, **emulator.environment})
