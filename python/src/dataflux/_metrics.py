"""What a client does now and has done, in figures."""

from __future__ import annotations

from ._calls import checked
from ._handles import ErrorHandle, handle
from ._library import byref, library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_Text = handle("text")

# Of what metrics() of a loader gives: name, unit, text, and what OpenTelemetry and Prometheus call it. Nanoseconds are
# told as seconds.
OF_LOADERS = (
    ("batches", "{batch}", "Batches given", "batches", "batches_total"),
    ("samples", "{sample}", "Samples given", "samples", "samples_total"),
    ("elapsed_ns", "s", "Time of passes", "elapsed", "elapsed_seconds_total"),
    ("waited_ns", "s", "Time that the step waited for batches", "waited", "waited_seconds_total"),
    ("read_ns", "s", "Time that threads waited for bytes", "read", "read_seconds_total"),
    ("decode_ns", "s", "Time in decode, of all threads", "decode", "decode_seconds_total"),
    ("bytes_ahead", "By", "Bytes that were read and are in no batch that was given", "ahead", "ahead_bytes"),
    ("batches_ahead", "{batch}", "Batches that are begun", "ahead.batches", "ahead_batches"),
    ("decoding", "{sample}", "Samples that are in decode", "decoding", "decoding"),
)


def of_loader(now, name):
    """A value of what metrics() of a loader gives."""
    return now[name] / 1e9 if name.endswith("_ns") else now[name]


def loader_in_prometheus(now):
    """What metrics() of a loader gives, in Prometheus' text format."""
    told = []
    for name, _, text, _, called in OF_LOADERS:
        kind = "counter" if called.endswith("_total") else "gauge"
        told.append(f"# HELP dataflux_loader_{called} {text}\n# TYPE dataflux_loader_{called} {kind}\n"
                    f"dataflux_loader_{called} {of_loader(now, name)}\n")
    return "".join(told)


class MetricsVerbs:
    """What a client tells of itself. Plain methods, of AsyncClient too: they send nothing."""

    def metrics(self) -> dict[str, Any]:
        """What the client does now and has done.

        Returns: "totals" (requests, bytes, retries), "connections" and "memory", which are dicts;
            "verbs" (times of attempts) and "pacing" (by bucket), which are lists of dicts; "cache",
            which is what Cache.counters() gives, or None where the client has none. Sizes are
            bytes; times, whose names end in _ns, are nanoseconds. Counters begin at 0 with the
            client, and in a forked child.

        Raises: PreconditionError after close().
        """
        import json

        metrics: dict[str, Any] = json.loads(self._metrics_text("client_metrics"))
        return metrics

    def prometheus(self) -> str:
        """The same in Prometheus' text format, version 0.0.4, for an endpoint that it asks. Names
        begin with "dataflux_", times are seconds.

        Raises: PreconditionError after close().
        """
        return self._metrics_text("client_prometheus").decode("utf-8", "replace")

    def _metrics_text(self, function):
        import ctypes

        text, error = _Text(), ErrorHandle()
        checked(getattr(library, function)(self._handle(), byref(text), byref(error)), error)
        return ctypes.string_at(text.value)
