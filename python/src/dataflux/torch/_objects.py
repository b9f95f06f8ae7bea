"""What both datasets say of the objects that they read."""

from __future__ import annotations

from typing import Any

from .._client import Client
from ._samples import Maker
from ._shared import Shared
from ._source import Source


class Objects:
    """The part of a dataset that knows its objects."""

    _client: Client
    _maker: Maker
    _shared: Shared
    _source: Source

    @property
    def skipped(self) -> int:
        """Objects that gave no sample, with on_error="skip": of all processes, and of all passes. Workers
        count what they have read, which is ahead of what the loader has given."""
        return self._shared.skipped

    @property
    def left_out(self) -> dict[str, int]:
        """Of datasets of tar shards: what indexing has met that is in no sample, by reason, such as
        "hard_links" and "no_field"; and samples of a join without a partner, "left_alone" and "right_alone"."""
        found: dict[str, int] = {}
        for part in self._source.parts:
            for name, count in getattr(part, "left_out", dict)().items():
                found[name] = found.get(name, 0) + count
        return found

    @property
    def digest(self) -> str:
        """Of what was listed: a state fits a dataset of the same digest."""
        return self._source.digest

    @property
    def unpaired(self) -> tuple[int, int]:
        """How many objects of each side have no partner, with unpaired="omit"."""
        return self._source.unpaired

    def row(self, number: int) -> Any:
        """The object of a number as a Row: its name, and where it was listed its size and generation. Of a
        pair, a tuple of both.

        Raises: IndexError for a number that is not there.
        """
        return self._source.row(self._client, number)

    def _told(self) -> str:
        return f"dataflux.torch.{type(self).__name__} of {self._source.told}: {len(self._source)} " \
               f"{'pairs' if self._source.pairs else 'objects'}"
