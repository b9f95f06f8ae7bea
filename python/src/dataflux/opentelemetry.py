"""Metrics of clients, and of loaders of dataflux.torch, for OpenTelemetry, where opentelemetry-api is installed.

    import dataflux.opentelemetry
    dataflux.opentelemetry.instrument(client)
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from opentelemetry.metrics import Observation, get_meter_provider

from . import __version__
from ._errors import Error
from ._metrics import OF_LOADERS, of_loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping

    from opentelemetry.metrics import MeterProvider

    from ._client import Core
    from .torch._loader import Batches

_SECOND = 1e9


def _requests(now):
    for kind in ("a", "b", "free"):
        yield now["totals"]["requests_" + kind], {"class": kind}


def _total(name):
    return lambda now: ((now["totals"][name], {}),)


def _bytes(now):
    yield now["totals"]["bytes_sent"], {"direction": "sent"}
    yield now["totals"]["bytes_received"], {"direction": "received"}


def _attempts(now):
    for verb in now["verbs"]:
        yield verb["first_byte"]["count"], {"verb": verb["verb"]}


def _attempt_time(now):
    for verb in now["verbs"]:
        for phase in ("queued", "first_byte", "body"):
            yield verb[phase]["sum_ns"] / _SECOND, {"verb": verb["verb"], "phase": phase}


def _connections(now):
    for state in ("open", "idle", "connecting"):
        yield now["connections"][state], {"state": state}


def _memory(now):
    for use in ("held", "borrowed", "upload_held"):
        yield now["memory"][use], {"use": use}


def _of_cache(*values):
    """values: (name of a counter, attributes); nothing of a client that has no cache."""
    def of(now):
        if now["cache"] is not None:
            for name, attributes in values:
                yield now["cache"][name], attributes

    return of


def _paced(name):
    def of(now):
        for one in now["pacing"]:
            yield one[name], {"bucket": one["bucket"], "kind": one["kind"]}

    return of


# name, instrument, unit, description, (value, attributes) of what metrics() gives
_INSTRUMENTS = (
    ("requests", "counter", "{request}", "Requests answered, by the class they are billed as",
     _requests),
    ("retries", "counter", "{attempt}", "Attempts that followed a failure", _total("retries")),
    ("paced", "counter", "{request}", "Requests refused for their rate", _total("paced")),
    ("failed_calls", "counter", "{call}", "Calls that ended with an error", _total("failed")),
    ("io", "counter", "By", "Bytes of bodies", _bytes),
    ("attempts", "counter", "{attempt}", "Attempts, by verb", _attempts),
    ("attempt.time", "counter", "s", "Time of attempts, by verb and phase", _attempt_time),
    ("connections", "gauge", "{connection}", "Connections, by what they do", _connections),
    ("memory", "gauge", "By", "Memory of transfers, by who has it", _memory),
    ("pacing.in_flight", "gauge", "{request}", "Requests in flight, by bucket", _paced("in_flight")),
    ("pacing.waiting", "gauge", "{call}", "Calls in line for their turn, by bucket",
     _paced("waiting")),
    ("cache.reads", "counter", "{read}", "Reads that a cache on a disk may answer, by whether it did",
     _of_cache(("hits", {"result": "hit"}), ("misses", {"result": "miss"}))),
    ("cache.records", "counter", "{record}", "What was read past it, by what became of it",
     _of_cache(("kept", {"result": "kept"}), ("refused", {"result": "refused"}))),
    ("cache.io", "counter", "By", "Bytes of bodies from and to the cache",
     _of_cache(("hit_bytes", {"direction": "read"}), ("kept_bytes", {"direction": "written"}))),
    ("cache.evictions", "counter", "{segment}", "Segments that made room for others", _of_cache(("evicted", {}))),
    ("cache.evicted", "counter", "By", "Bytes of these segments", _of_cache(("evicted_bytes", {}))),
    ("cache.damaged", "counter", "{record}", "Records that were found to be damaged", _of_cache(("damaged", {}))),
    ("cache.errors", "counter", "{error}", "Errors of the cache's file system", _of_cache(("errors", {}))),
)


def _of_loader(name):
    return lambda now: ((of_loader(now, name), {}),)


_OF_LOADERS = tuple((f"loader.{called}", "counter" if counted.endswith("_total") else "gauge", unit, text,
                     _of_loader(name)) for name, unit, text, called, counted in OF_LOADERS)

_of_provider: WeakKeyDictionary[Any, dict[bool, WeakKeyDictionary[Any, dict[str, Any]]]] = WeakKeyDictionary()


def instrument(client: Core | Batches, meter_provider: MeterProvider | None = None, *,
               attributes: Mapping[str, str] | None = None) -> None:
    """Gives the metrics of a client or a loader to OpenTelemetry, by instruments whose names begin with "dataflux.",
    and with "dataflux.loader.".

    They are read when they are exported, and cost nothing between. A client that is closed, that
    was not used yet, or that nobody has any more is left out. Doing it again changes the attributes.

    Arguments:
        client: a Client or an AsyncClient; or what batches() of a dataset of dataflux.torch gives.
        meter_provider: None = the global one.
        attributes: put to each value, such as {"client": "checkpoints"}, which tells one client from
            another.

    Raises: TypeError for what is no client. ImportError, of the module, without opentelemetry-api.
    """
    from ._client import Core

    loads = getattr(client, "_loads", False)
    if not loads and not isinstance(client, Core):
        raise TypeError(f"client: a Client is needed, and not a {type(client).__name__}")
    provider = get_meter_provider() if meter_provider is None else meter_provider
    kinds = _of_provider.setdefault(provider, {})
    clients = kinds.get(loads)
    if clients is None:
        clients = kinds[loads] = WeakKeyDictionary()
        meter = provider.get_meter("dataflux", __version__)
        for name, kind, unit, text, values in _OF_LOADERS if loads else _INSTRUMENTS:
            getattr(meter, f"create_observable_{kind}")(
                f"dataflux.{name}", [_callback(clients, values)], unit=unit, description=text)
    clients[client] = dict(attributes or {})


def _callback(clients, values):
    def observe(options):
        found = []
        for client, attributes in list(clients.items()):
            if getattr(client, "_opened", client) is None:
                continue
            try:
                now = client.metrics()
            except Error:  # closed meanwhile
                continue
            found += [Observation(value, {**attributes, **of}) for value, of in values(now)]
        return found

    return observe
