"""What a client does now and has done, in figures."""

from __future__ import annotations

from ._calls import checked
from ._handles import ErrorHandle, handle
from ._library import byref, library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_Text = handle("text")


class MetricsVerbs:
    """What a client tells of itself. Plain methods, of AsyncClient too: they send nothing."""

    def metrics(self) -> dict[str, Any]:
        """What the client does now and has done.

        Returns: "totals" (requests, bytes, retries), "connections" and "memory", which are dicts;
            "verbs" (times of attempts) and "pacing" (by bucket), which are lists of dicts. Sizes are
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
