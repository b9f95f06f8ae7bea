"""What becomes of the bytes of an object: a sample, or a failure."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, Sequence

import torch
from torch.utils.data import get_worker_info

from .._errors import Error, NotFoundError, ResourceExhaustedError, again
from .._items import Item
from .._listing import Row
from .._place import count_of, one_of, url_of
from ._share import memory_of
from ._shared import Shared
from ._sizes import Sizes

# (memoryview, Row) -> sample; of pairs, two tuples of two; of a sample of a shard, (dict, Row of the shard)
Decode = Callable[[Any, Any], Any]
ON_ERROR = ("raise", "return", "skip")
TOLERANCE = 100


class DecodeError(Error):
    """`decode` has raised, which this comes from; its text names the object.

    bucket, object   which one; of a pair, the first one
    """


def as_bytes(data: Any, row: Row) -> Any:
    """The bytes of the object, copied: what a dataset gives unless it is told otherwise. Of a sample of a
    shard a dict, with a copy of each field."""
    return _of_fields(as_bytes, data) if isinstance(data, dict) else bytes(data)


def _of_fields(decode, data):
    return {name: decode(value, None) if isinstance(value, memoryview) else value for name, value in data.items()}


def _size_of(data):
    """Bytes of an object, or of all fields of a sample."""
    if not isinstance(data, dict):
        return len(data)
    return sum(len(value) for value in data.values() if isinstance(value, memoryview))


def tensor(data: Any, row: Row) -> Any:
    """The bytes of the object as a tensor of uint8, on the memory that they have come into. From a
    worker it goes through shared memory. Of a sample of a shard a dict, with a tensor for each field."""
    if isinstance(data, dict):
        return _of_fields(tensor, data)
    if not data:
        return torch.empty(0, dtype=torch.uint8, device="cpu")
    return torch.frombuffer(data, dtype=torch.uint8)


def gone(bucket: str, name: str, generation: int, error: Error) -> NotFoundError:
    """Of an object whose listed generation is not there any more."""
    return NotFoundError(
        f"{url_of(bucket, name)}: generation {generation}, which was listed, is gone: the object was "
        'overwritten or deleted since. List anew, or set overwritten="read"', bucket=bucket,
        object=name, generation=generation, http_status=error.http_status, attempts=error.attempts)


class Failed:
    """Stands where a sample would: why there is none."""

    __slots__ = ("error",)

    def __init__(self, error: Error) -> None:
        self.error = error


class Maker:
    """Makes samples of items as a dataset was asked to.

    shared   counts objects that gave no sample, with on_error="skip"
    """

    shared: Shared
    mixed = False  # whether each part has a maker of its own

    def __init__(self, decode: Decode, on_error: str, overwritten: str, sizes: Sizes,
                 tolerance: int | None = TOLERANCE) -> None:
        if not callable(decode):
            raise TypeError(f"decode: a callable is needed, and not a {type(decode).__name__}")
        self.decode = decode
        self.on_error = one_of(on_error, "on_error", ON_ERROR)
        self.overwritten = one_of(overwritten, "overwritten", ("raise", "read"))
        self.sizes = sizes
        self.tolerance = None if tolerance is None else count_of(tolerance, "tolerance", 1)
        self._failed = 0  # in a row, in this process
        self._last: list[Any] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last": [], "_failed": 0}

    @property
    def copies(self) -> bool:
        """Samples are the bytes as they are, and nobody looks at the row."""
        return self.decode is as_bytes or self.decode is tensor

    def sizes_of(self, part: int) -> Sizes:
        """Which sizes objects of a part may have."""
        return self.sizes

    def samples(self, client: Any, part: Any, rows: Sequence[int],
                items: Iterator[Item]) -> Iterator[Any]:
        """One for each row of a batch, as they come."""
        return self.settled(self.outcome(client, part, row, item) for row, item in zip(rows, items))

    def outcome(self, client: Any, part: Any, row: int, item: Item, decode: Decode | None = None) -> Any:
        """A sample, or what is Failed. `decode` is used in place of one that only copies."""
        try:
            return self._sample(client, part, row, item, decode)
        except Error as failed:
            return Failed(failed)

    def settled(self, outcomes: Iterable[Any]) -> Iterator[Any]:
        """The samples of a batch, of samples and what is Failed. With "skip" the sample before it stands in for
        what gave none, or else the next one, or else one of an earlier batch: so every batch, step and state stays
        what it is."""
        good: list[Any] = []  # the newest one of this batch
        lacking = 0  # how many wait for the first one
        why: Error | None = None
        for made in outcomes:
            if type(made) is Failed:
                failed, made = made.error, None
                try:
                    if not self.bears(failed):
                        raise failed
                    if self.on_error == "skip" and not good:
                        why, lacking = why or again(failed), lacking + 1
                        continue
                    made = good[0] if self.on_error == "skip" else failed
                finally:
                    del failed  # which has this frame, where it is raised
                yield made
                continue
            self.succeeds()
            if self.on_error == "skip":
                self._last = good = [made]
                for _ in range(lacking):
                    yield made
                lacking = 0
            yield made
        if why is not None and lacking and not self._last:
            told = (f'{why} (on_error="skip": none of the {lacking} objects that this process has read first gave a '
                    "sample that could stand in for the others)")
            raise type(why)(told, **why.__reduce__()[1][2]) from why
        for _ in range(lacking):
            yield self._last[0]

    def stands_in(self, made: Any) -> None:
        """A batch of which nothing has failed ends with this sample: as settled() does of each."""
        self.succeeds()
        self._last = [made]

    def bears(self, failed: Error) -> bool:
        """Whether the pass goes on behind a failure, which is counted then.

        Raises: it, in other words, where too many have come in a row.
        """
        if self.on_error == "raise":
            return False
        self._failed += 1
        if self._failed == self.tolerance:
            raise self._too_many(failed) from failed
        if self.on_error == "skip":
            self.shared.skip()
        return True

    def succeeds(self) -> None:
        """Failures in a row are over."""
        self._failed = 0

    def _too_many(self, failed):
        """What ends a pass of which nothing can be read any more."""
        self._failed = 0  # of the pass that is next
        told = (f"{failed} (it was the last of {self.tolerance} samples in a row that have failed in this process: "
                "tolerance=None bears any number)")
        return type(failed)(told, **failed.__reduce__()[1][2])

    def _sample(self, client, part, row, item, decode=None):
        pair = isinstance(item, tuple)
        if pair:
            data, known = zip(*[self._read(client, side, number, each)
                                for (side, number), each in zip(part.sides(row), item)])
        else:
            data, known = self._read(client, part, row, item)
        if self.copies:
            decode = decode or self.decode
            return tuple([decode(each, None) for each in data]) if pair else decode(data, None)
        try:
            return self.decode(data, known)
        except Exception as why:
            rows = known if pair else (known,)
            names = " and ".join(each.url for each in rows)
            if isinstance(data, dict):
                names += f", sample {data['__key__']!r}"
            raise DecodeError(f"decode of {names}: {type(why).__name__}: {why}", bucket=rows[0].bucket,
                              object=rows[0].name) from why

    def content(self, client: Any, part: Any, row: int, item: Item) -> tuple[Any, int, int]:
        """(bytes, generation, crc32c) of an object, or of what is there in place of a generation that is gone."""
        error = item.error
        if isinstance(error, NotFoundError):
            return self._anew(client, part, row, error)
        if isinstance(error, ResourceExhaustedError) and not error.attempts:
            raise self._too_large(client, part, row, error)
        if error is not None:
            raise again(error)  # the items, which this frame has, have their own
        return item.data, item.generation, item.crc32c

    def _read(self, client, part, row, item):
        """(bytes, Row) of an object; None for the row, where nobody looks at it."""
        data, generation, crc32c = self.content(client, part, row, item)
        if self.sizes:
            bucket, name, _ = part.place(row)
            error = self.sizes.error(bucket, name, _size_of(data))
            if error is not None:
                raise again(error)
        if self.copies:
            return data, None
        known = getattr(item, "known", None)
        return data, part.row(row, len(data), generation, crc32c) if known is None else known

    def _too_large(self, client, part, row, error):
        """Of an object that memory for reads ahead has no room for."""
        bucket, name, generation = part.place(row)
        # Of a name alone only the library knows the size, and says it first.
        size = part.listed(row).size or error.message.partition(" ")[0]
        info = get_worker_info()
        whose = f"this worker, one of {info.num_workers}," if info else "this process"
        return ResourceExhaustedError(
            f"{url_of(bucket, name)}: it has {size} bytes, and {whose} has {memory_of(client)} bytes for reads: "
            "raise memory_cap, as in client=dataflux.Client(memory_cap=...)"
            + ", or use fewer workers" * bool(info), bucket=bucket, object=name, generation=generation)

    def _anew(self, client, part, row, error):
        """What is there now of an object whose listed generation is gone."""
        bucket, name, generation = part.place(row)
        if not generation:
            raise again(error)
        if self.overwritten == "raise":
            raise gone(bucket, name, generation, error) from error
        for item in client.get_many([(bucket, name)], on_error="return").items():
            if item.error is not None:
                raise again(item.error)
            return item.data, item.generation, item.crc32c
        raise again(error)
