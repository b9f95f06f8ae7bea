"""A dataset of which a DataLoader's sampler says what is read."""

from __future__ import annotations

import os
from array import array
from typing import Any, Sequence

from torch.utils.data import Dataset, get_worker_info

from .._client import Client
from ._iterable import of_parts
from ._ranks import ranks
from ._samples import Decode, Maker, as_bytes
from ._share import client_for
from ._sizes import sizes_of
from ._source import source_of


class MapDataset(Dataset):  # type: ignore[misc]
    """The objects below a prefix, of a manifest, or of names, or pairs of objects, by their numbers in the
    order of names. A batch is read at once, by as many requests as pay; what comes in which order is for the
    DataLoader's sampler to say, such as a dataflux.Sampler.

        dataset = MapDataset("gs://bucket/train/")
        order = dataflux.Sampler(len(dataset), seed=7, epoch=3, rank=rank, world_size=world_size)
        for batch in DataLoader(dataset, batch_size=64, sampler=order, num_workers=4):
            ...

    An IterableDataset reads ahead over the ends of batches, and is faster.

    Arguments: as of IterableDataset. With on_error="skip" another sample of the batch stands in; a single
        one, dataset[i], raises.

    Threads: any may read. Processes: fork, spawn and forkserver.
    """

    def __init__(self, url: Any = None, *, manifest: Any = None, names: Sequence[Any] | None = None,
                 pairs: Any = None, unpaired: str = "refuse", decode: Decode = as_bytes,
                 on_error: str = "raise", overwritten: str = "raise", min_size: int = 0,
                 max_size: int | None = None, wrong_size: str = "omit", suffix: str | None = None,
                 client: Client | None = None) -> None:
        sizes, filters = sizes_of(min_size, max_size, wrong_size, suffix)
        self._maker = Maker(decode, on_error, overwritten, sizes)
        self._client = Client() if client is None else client
        self._own: tuple[int, Client] | None = None
        self._source = source_of(self._client, url, manifest, names, pairs, unpaired, filters,
                                 *ranks(None, None))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_own": None}

    @property
    def skipped(self) -> int:
        """Objects that gave no sample, with on_error="skip": of this process."""
        return self._maker.skipped

    @property
    def digest(self) -> str:
        """Of what was listed."""
        return self._source.digest

    @property
    def unpaired(self) -> tuple[int, int]:
        """How many objects of each side have no partner, with unpaired="omit"."""
        return self._source.unpaired

    def row(self, number: int) -> Any:
        """The object of a number, as a Row: its name, and where it was listed its size and generation. Of a
        pair, a tuple of both."""
        return self._source.row(self._client, number)

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, number: int) -> Any:
        return self.__getitems__([number])[0]

    def __getitems__(self, numbers: Sequence[int]) -> list[Any]:
        """Samples of these numbers, in their order."""
        size = len(self)
        wanted = array("Q", [range(size)[number] for number in numbers])
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
