"""A dataset of which a DataLoader's sampler says what is read."""

from __future__ import annotations

import os
from array import array
from typing import Any, Sequence

from torch.utils.data import Dataset, get_worker_info

from .._client import Client
from ._given import client_of, source_of
from ._objects import Objects
from ._ranks import ranks
from ._reads import of_parts
from ._samples import TOLERANCE, Decode, Maker, as_bytes
from ._share import client_for
from ._shared import Shared
from ._sizes import sizes_of


class MapDataset(Objects, Dataset):  # type: ignore[misc]
    """The objects below a prefix, of a manifest, or of names, or pairs of objects, by their numbers in the
    order of names. A batch is read at once, by as many requests as pay; what comes in which order is for the
    DataLoader's sampler to say, such as a dataflux.Sampler.

        dataset = MapDataset("gs://bucket/train/")
        order = dataflux.Sampler(len(dataset), seed=7, rank=rank, world_size=world_size)
        for epoch in range(90):
            for batch in DataLoader(dataset, batch_size=64, sampler=order.with_epoch(epoch), num_workers=4):
                ...

    An IterableDataset reads ahead over the ends of batches, and is faster.

    Arguments: as of IterableDataset. With on_error="skip" another sample of the batch stands in, or the last one
        of an earlier batch of the same process. Where there is none, as for dataset[i] at the beginning, or for a
        batch of which nothing can be read, the first failure is raised.

    Threads: any may read. Processes: fork, spawn and forkserver.
    """

    def __init__(self, url: Any = None, *, manifest: Any = None, names: Sequence[Any] | None = None,
                 pairs: Any = None, shards: Any = None, unpaired: str = "refuse", decode: Decode = as_bytes,
                 on_error: str = "raise", tolerance: int | None = TOLERANCE, overwritten: str = "raise",
                 min_size: int = 0, max_size: int | None = None, wrong_size: str = "omit", suffix: str | None = None,
                 client: Client | None = None) -> None:
        sizes, filters = sizes_of(min_size, max_size, wrong_size, suffix)
        self._maker = Maker(decode, on_error, overwritten, sizes, tolerance)
        self._client = client_of(client, url, manifest, names, pairs, shards)
        self._own: tuple[int, Client] | None = None
        self._source = source_of(self._client, url, manifest, names, pairs, shards, unpaired, filters,
                                 *ranks(None, None))
        self._shared = self._maker.shared = Shared(self._source.path)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_own": None}

    def __repr__(self) -> str:
        return f"<{self._told()}>"

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, number: int) -> Any:
        return self.__getitems__([number])[0]

    def __getitems__(self, numbers: Sequence[int]) -> list[Any]:
        """Samples of these numbers, in their order."""
        wanted = array("Q", map(self._source.number_of, numbers))
        client = self._process_client()
        found: dict[int, Any] = {}
        for part in sorted({self._source.part_of(row)[0] for row in wanted}):
            of = self._source.parts[part]
            of.open(client)
            rows = self._source.of_part(part, [wanted], self._maker.sizes)
            found[part] = of.some(client, [row for some in rows for row in some])
        return list(of_parts(self._source, self._maker, client, wanted, lambda part: next(found[part])))

    def _process_client(self):
        if self._own is None or self._own[0] != os.getpid():
            info = get_worker_info()
            self._own = os.getpid(), client_for(self._client, info.num_workers if info else 0)
        return self._own[1]
