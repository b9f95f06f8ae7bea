"""What a client tells of itself in figures."""

import gc
import weakref

import pytest

import dataflux


def test_metrics_count_requests_and_bytes(bucket, client):
    bucket.put("x", b"123")
    assert client.metrics()["totals"]["requests_b"] == 0
    for _ in range(3):
        client.stat(bucket("x"))
    now = client.metrics()
    assert now["totals"]["requests_b"] == 3
    assert now["totals"]["bytes_received"] > 0
    assert [(one["verb"], one["first_byte"]["count"]) for one in now["verbs"]] == [("objects.get", 3)]
    assert {"connections", "pacing", "memory"} < set(now)


def test_prometheus_text_has_the_same_counts(bucket, client):
    bucket.put("x", b"123")
    client.stat(bucket("x"))
    lines = client.prometheus().splitlines()
    assert 'dataflux_requests_total{class="b"} 1' in lines
    assert "# TYPE dataflux_requests_total counter" in lines


def test_metrics_of_a_closed_client_say_so(emulator):
    client = emulator.client()
    client.metrics()
    client.close()
    for function in (client.metrics, client.prometheus):
        with pytest.raises(dataflux.PreconditionError, match="closed"):
            function()


@pytest.fixture
def reader():
    metrics = pytest.importorskip("opentelemetry.sdk.metrics")
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    made = InMemoryMetricReader()
    provider = metrics.MeterProvider([made])
    made.provider = provider
    yield made
    provider.shutdown()


def points(reader, name):
    """{attributes: value} of an instrument."""
    data = reader.get_metrics_data()
    return {} if data is None else {
        tuple(sorted(point.attributes.items())): point.value
        for of in data.resource_metrics for scope in of.scope_metrics for metric in scope.metrics
        if metric.name == name for point in metric.data.data_points}


def test_opentelemetry_gets_the_counts_of_each_client(emulator, bucket, client, reader):
    from dataflux.opentelemetry import instrument

    bucket.put("x", b"123")
    with emulator.client() as other:
        instrument(client, reader.provider, attributes={"client": "one"})
        instrument(other, reader.provider, attributes={"client": "other"})
        client.stat(bucket("x"))
        for _ in range(2):
            other.stat(bucket("x"))
        assert points(reader, "dataflux.attempts") == {
            (("client", "one"), ("verb", "objects.get")): 1,
            (("client", "other"), ("verb", "objects.get")): 2}
        assert points(reader, "dataflux.requests")[(("class", "b"), ("client", "other"))] == 2
        assert points(reader, "dataflux.connections")[(("client", "one"), ("state", "open"))] == 1
    assert list(points(reader, "dataflux.attempts")) == \
        [(("client", "one"), ("verb", "objects.get"))]


def test_every_instrument_has_values(emulator, bucket, reader, tmp_path):
    from dataflux import opentelemetry

    bucket.put("x", b"123")
    with emulator.client(cache=dataflux.Cache(tmp_path)) as client:
        client.stat(bucket("x"))
        opentelemetry.instrument(client, reader.provider)
        for name, *_ in opentelemetry._INSTRUMENTS:
            assert points(reader, f"dataflux.{name}"), name


def test_what_a_cache_did_is_told_by_its_clients(emulator, bucket, client, reader, tmp_path):
    from dataflux.opentelemetry import instrument

    bucket.put("x", b"123")
    cache = dataflux.Cache(tmp_path)
    with emulator.client(cache=cache) as cached:
        [row] = cached.list(bucket("x"))
        for _ in range(3):
            cached.get(row)
            cache.flush()
        told = cached.metrics()["cache"]
        assert told == cache.counters()
        assert (told["hits"], told["hit_bytes"], told["misses"], told["kept"]) == (2, 6, 1, 1)
        assert told["evicted"] == told["damaged"] == told["errors"] == 0
        text = cached.prometheus().splitlines()
        assert 'dataflux_cache_reads_total{result="hit"} 2' in text
        assert 'dataflux_cache_body_bytes_total{direction="read"} 6' in text
        assert "dataflux_cache_evictions_total 0" in text
        instrument(client, reader.provider, attributes={"client": "without"})
        instrument(cached, reader.provider, attributes={"client": "with"})
        assert points(reader, "dataflux.cache.reads") == {
            (("client", "with"), ("result", "hit")): 2, (("client", "with"), ("result", "miss")): 1}
        assert points(reader, "dataflux.cache.damaged") == {(("client", "with"),): 0}
    assert client.metrics()["cache"] is None
    assert "dataflux_cache" not in client.prometheus()


class Loader:
    """What dataflux.torch gives, without torch."""

    _loads = True

    def metrics(self):
        return {"batches": 3, "samples": 12, "elapsed_ns": 4_000_000_000, "waited_ns": 1_000_000_000, "read_ns": 5,
                "decode_ns": 6, "bytes_ahead": 700, "batches_ahead": 2, "decoding": 1}


def test_opentelemetry_gets_what_a_loader_waits_for(reader):
    from dataflux import opentelemetry

    loader = Loader()
    opentelemetry.instrument(loader, reader.provider, attributes={"loader": "train"})
    names = [name for name, *_ in opentelemetry._OF_LOADERS]
    found = {name: points(reader, f"dataflux.{name}") for name in names}
    assert all(list(each) == [(("loader", "train"),)] for each in found.values())
    assert [value for each in found.values() for value in each.values()] == [3, 12, 4.0, 1.0, 5e-9, 6e-9, 700, 2, 1]
    del loader
    gc.collect()
    assert points(reader, "dataflux.loader.batches") == {}


def test_opentelemetry_opens_no_client_and_keeps_none(emulator, reader):
    from dataflux.opentelemetry import instrument

    client = emulator.client()
    instrument(client, reader.provider)
    assert points(reader, "dataflux.requests") == {}
    assert client._opened is None
    gone = weakref.ref(client)
    del client
    gc.collect()
    assert gone() is None


def test_what_is_no_client_is_told():
    pytest.importorskip("opentelemetry.metrics")
    from dataflux.opentelemetry import instrument

    with pytest.raises(TypeError, match="^client: "):
        instrument(3)
