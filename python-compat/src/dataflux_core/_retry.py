"""How long a failing request is tried again: by an object of google.api_core's, or by one of its form."""

from __future__ import annotations

from typing import Any

# What dataflux.Client(max_attempts=) takes at most.
MOST_ATTEMPTS = 1000


class Retry:
    """Times of retries, with the names of google.api_core.retry.Retry, so that the defaults here need no
    package of Google's. Immutable.

    Arguments: seconds. initial, multiplier, maximum: of the delays; deadline: of a request with all its
        attempts, None = no limit.
    """

    def __init__(self, initial: float = 1.0, multiplier: float = 2.0, maximum: float = 60.0,
                 deadline: float | None = 120.0) -> None:
        self._initial = initial
        self._multiplier = multiplier
        self._maximum = maximum
        self._deadline = self._timeout = deadline

    @property
    def deadline(self) -> float | None:
        return self._deadline

    timeout = deadline

    def with_deadline(self, deadline: float | None) -> Retry:
        """The same with another deadline."""
        return Retry(self._initial, self._multiplier, self._maximum, deadline)

    with_timeout = with_deadline

    def with_delay(self, initial: float | None = None, maximum: float | None = None,
                   multiplier: float | None = None) -> Retry:
        """The same with other delays; None leaves one as it is."""
        return Retry(self._initial if initial is None else initial,
                     self._multiplier if multiplier is None else multiplier,
                     self._maximum if maximum is None else maximum, self._deadline)

    def __repr__(self) -> str:
        return (f"Retry(initial={self._initial}, multiplier={self._multiplier}, "
                f"maximum={self._maximum}, deadline={self._deadline})")


DEFAULT_RETRY = Retry()
# dataflux_core's, of lists and downloads.
MODIFIED_RETRY = Retry(1.0, 1.2, 45.0, 300.0)


class Times:
    """What a retry object says, as dataflux has it.

    attempts   most of a request: as many as its delays, half of each on an average, leave room for
    limit      seconds of a call for a single object; None = no limit
    """

    __slots__ = ("attempts", "limit")

    def __init__(self, attempts: int, limit: float | None) -> None:
        self.attempts = attempts
        self.limit = limit


def times_of(retry: Any) -> Times:
    """Of a Retry, of google.api_core's, of google.cloud.storage's ConditionalRetryPolicy; None = a single
    attempt.

    Raises: TypeError for anything else; ValueError for times that are none.
    """
    if retry is None:
        return Times(1, None)
    retry = getattr(retry, "retry_policy", retry)
    try:
        initial, multiplier, maximum = (float(getattr(retry, name)) for name in
                                        ("_initial", "_multiplier", "_maximum"))
        found = getattr(retry, "_timeout", None)
        limit = getattr(retry, "_deadline", None) if found is None else found
        limit = None if limit is None else float(limit)
    except (AttributeError, TypeError, ValueError):
        raise TypeError("retry_config: a Retry of google.api_core or None is needed, and not a "
                        f"{type(retry).__name__}") from None
    if initial <= 0 or multiplier < 1 or maximum <= 0 or (limit is not None and limit <= 0):
        raise ValueError(f"retry_config: delays of {initial} to {maximum} s times {multiplier} within "
                         f"{limit} s are none: times are above 0, and they do not become less")
    if limit is None:
        return Times(MOST_ATTEMPTS, None)
    attempts, waited, delay = 1, 0.0, min(initial, maximum)
    while attempts < MOST_ATTEMPTS and waited + delay / 2 <= limit:
        waited += delay / 2
        delay = min(delay * multiplier, maximum)
        attempts += 1
    return Times(attempts, min(limit, 8e9))
