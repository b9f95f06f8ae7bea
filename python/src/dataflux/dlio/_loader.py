"""DLIO's loader without worker processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Iterator

from dlio_benchmark.common.enumerations import DatasetType, DataLoaderType, Shuffle
from dlio_benchmark.data_loader.base_data_loader import BaseDataLoader

from .._client import Client, client_for
from .._errors import NotFoundError, PreconditionError
from .._place import SERVICES, scheme_of_url
from ._reader import Reader

if TYPE_CHECKING:
    from ..torch._loader import Batches

_THREADS = 16  # most that batches() takes
_CAP = 256 << 20  # bytes, of a client that is told nothing


class Loader(BaseDataLoader):  # type: ignore[misc]
    """The `data_loader_classname` of workloads of PyTorch, whose files are objects of one sample.

    It is IterableDataset.batches() of dataflux.torch: `read_threads` are threads that decode, `prefetch_size` batches
    ahead. Ranks share an epoch, and each object is read once in it, in the generation that was listed; a rest that is
    no whole batch for all ranks is left out, as DLIO does. `file_shuffle` or `sample_shuffle` shuffle all of it, by
    `seed`, in each epoch anew. Needs `data_loader_sampler: none`: DLIO makes no list of samples then.

    Raises: while it reads, what reading or decoding has failed with.
    """

    def __init__(self, format_type: Any, dataset_type: Any, epoch_number: int) -> None:
        super().__init__(format_type, dataset_type, epoch_number, DataLoaderType.CUSTOM)
        self._batches: Batches | None = None

    def read(self) -> None:
        """Makes the dataset; DLIO calls it once, before the first epoch."""
        from ..torch import IterableDataset

        args = self._args
        train = self.dataset_type is DatasetType.TRAIN
        rows = _rows_of(args.file_list_train if train else args.file_list_eval)
        if args.num_samples_per_file != 1:
            raise ValueError(f"num_samples_per_file: {args.num_samples_per_file}, and Loader has one sample of each "
                             "object: make it 1, or give dataflux.dlio.Reader to DLIO's own loader")
        reader = (args.reader_class or Reader)(self.dataset_type, 0, self.epoch_number)
        if not isinstance(reader, Reader):
            raise TypeError(f"reader_classname: {type(reader).__name__} reads files: with Loader it is "
                            "dataflux.dlio.Reader, or a class that is made of it")
        threads = min(args.read_threads, _THREADS)
        cap = 2 * (threads + 1) * max(row.size for row in rows)  # each decodes one, and as many are on their way
        client = Client(service=SERVICES[scheme_of_url(rows[0].url)], memory_cap=cap if cap > _CAP else 0)
        shuffled = any(each not in (Shuffle.OFF, "off", False) for each in (args.file_shuffle, args.sample_shuffle))
        dataset = IterableDataset(
            names=rows, batch_size=self.batch_size, decode=reader.sample, seed=args.seed, client=client,
            shuffle="full" if shuffled else "none", rank=args.my_rank, world_size=args.comm_size)
        self._batches = dataset.batches(drop_last=True, decode_threads=threads, ahead=max(1, args.prefetch_size))

    def next(self) -> Iterator[Any]:
        """The batches of an epoch."""
        if self._batches is None:
            raise PreconditionError("next: read() comes before it")
        self._batches.dataset.set_epoch(self.epoch_number if self._args.seed_change_epoch else 0)
        self.epoch_number += 1
        yield from self._batches

    def finalize(self) -> None:
        """DLIO calls it after each epoch."""


def _rows_of(urls):
    """The objects that DLIO has listed, in its order, with their generations and sizes."""
    if not urls or not scheme_of_url(urls[0]):
        raise ValueError("storage_root: Loader reads from a bucket: tell a URL, such as gs://bucket/prefix, and run "
                         "python -m dataflux.dlio in place of dlio_benchmark")
    listed = client_for(urls[0]).list(os.path.commonprefix(urls))
    known = {row.url: row for row in listed}
    for url in urls:
        if url not in known:
            raise NotFoundError(f"{url}: it was there when DLIO listed the data, and is no more")
    return [known[url] for url in urls]
