"""Reading the storages of a file ahead of torch.load, into the memory that they will have."""

from __future__ import annotations

import ctypes
import types
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Callable, Sequence, Union

import torch

from ._records import HEADER_SIZE, Record, batches, data_at

if TYPE_CHECKING:
    from .._reader import Reader, Reading
    from ._served import _Held

Take = Callable[[str, int], Union[torch.UntypedStorage, None]]  # of a record's name and size

_BATCH = 8 << 20   # bytes; what is read by one call of the library, and waited for at once
_SHORT = 1 << 20   # no batch is shorter: small tensors are to cost no request each
_ALIGNMENT = 64    # of tensors in memory, and in files of torch.save's


class _Batch:
    """Storages that are read together. Each has memory of its own, for all of its record: its bytes
    lie there as they do in the file, behind the record's header. What of them lies in the file's tail
    is copied of that."""

    def __init__(self, records: Sequence[Record], tail: _Held | None) -> None:
        self.records = records
        self._tail = tail
        self.size = sum(record.end - record.begin for record in records)
        self._memory: dict[str, tuple[Record, torch.UntypedStorage]] = {}
        self._reading: Reading | None = None

    def begin(self, reader: Reader) -> None:
        for record in self.records:
            made = torch.UntypedStorage(record.end - record.begin + _ALIGNMENT)
            self._memory[record.name] = record, made
        self._reading = reader.begin_ranges(
            [(record.begin, self._tail_of(record) - record.begin) for record in self.records],
            [made.data_ptr() + record.begin % _ALIGNMENT for record, made in self._memory.values()],
            list(self._memory.values()))

    def _tail_of(self, record):
        return record.end if self._tail is None else min(record.end, self._tail.begin)

    def wait(self) -> None:
        """Until all are there."""
        if self._reading is not None:
            self._reading.wait()
            for record, made in self._memory.values():
                at = self._tail_of(record)
                if self._tail is not None and at < record.end:
                    self._tail.copy(at, record.end,
                                    made.data_ptr() + record.begin % _ALIGNMENT + at - record.begin)
            self.free()

    def take(self, name: str) -> torch.UntypedStorage | None:
        """One of them, once; None if it is not where the file says."""
        record, made = self._memory.pop(name)
        start = record.begin % _ALIGNMENT
        at = data_at(ctypes.string_at(made.data_ptr() + start, HEADER_SIZE), record)
        if at is None:
            return None
        if record.size == 0:
            return torch.UntypedStorage(0)  # without an address, as torch's own
        found: torch.UntypedStorage = made[start + at:start + at + record.size]
        return found

    def free(self) -> None:
        """Cancels what has not ended."""
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.free()


class Storages:
    """Storages of a file that are read in the order in which torch asks for them.

    at_first    bytes that are begun to be read at once
    most        bytes that may be under way, or there, before torch asks for them; None = all. It may be
                changed
    tail        the end of the file, which was read before; no record begins in it

    Memory: each storage's own, and some 200 bytes. One thread at a time uses it.
    """

    def __init__(self, reader: Reader, records: Sequence[Record], at_first: int,
                 most: int | None, tail: _Held | None = None) -> None:
        self._reader = reader
        self._tail = tail
        self.most = most
        self._batches = batches(records, _BATCH if most is None else max(_SHORT, min(_BATCH, most // 4)))
        self._batch_of = {record.name: (number, record)
                          for number, batch in enumerate(self._batches) for record in batch}
        self._begun: dict[int, _Batch] = {}
        self._next = 0
        self._ahead = 0  # bytes
        self._go_on(at_first)

    def _go_on(self, most):
        while self._next < len(self._batches):
            size = sum(record.end - record.begin for record in self._batches[self._next])
            if most is not None and self._ahead + size > most:
                return
            self._begin(self._next)

    def _begin(self, number):
        batch = self._begun[number] = _Batch(self._batches[number], self._tail)
        self._ahead += batch.size
        self._next = max(self._next, number + 1)
        batch.begin(self._reader)

    def take(self, name: str, size: int,
             came: Callable[[int, int], None]) -> torch.UntypedStorage | None:
        """The storage of a record, with its bytes; None where it is none of these, or was taken.
        Tells of what has come: came(begin, end)."""
        number, record = self._batch_of.get(name, (-1, None))
        if record is None or record.size != size:
            return None
        del self._batch_of[name]
        if number not in self._begun:
            self._begin(number)  # it is larger than what may be ahead, or comes out of order
        self._ahead -= record.end - record.begin
        self._go_on(self.most)  # while this one is waited for
        batch = self._begun[number]
        batch.wait()
        came(record.begin, record.end)
        return batch.take(name)

    def drop(self) -> None:
        """Cancels what is under way, and lets go of what was not taken."""
        self._next = len(self._batches)
        self._batch_of.clear()
        while self._begun:
            self._begun.popitem()[1].free()


class _Opened(torch._C.PyTorchFileReader):
    """The zip file that torch.load reads. A storage is taken where it has been read ahead."""

    def __init__(self, file: Any, take: Take) -> None:
        super().__init__(file)
        self._take = take

    def get_storage_from_record(self, name: str, numel: int, dtype: Any) -> torch.Tensor:
        found = self._take(name, numel) if dtype is torch.UntypedStorage else None
        if found is None:
            return super().get_storage_from_record(name, numel, dtype)
        return torch.empty(0, dtype=torch.uint8, device="cpu").set_(found)


def torch_load(take: Take) -> Callable[..., Any]:
    """torch.load that asks take(name, bytes) for storages first. torch has no place to say so: it opens
    the file by a function of its module, which is another one here. Where that is not so, as where
    somebody has replaced torch.load, it is torch.load, and reads all from the file."""
    load: Any = torch.load
    code = getattr(load, "__code__", None)
    if code is None or "_open_zipfile_reader" not in code.co_names:
        return load  # type: ignore[no-any-return]
    names = {**load.__globals__,
             "_open_zipfile_reader": lambda file: nullcontext(_Opened(file, take))}
    made = types.FunctionType(code, names, load.__name__, load.__defaults__, load.__closure__)
    made.__kwdefaults__ = load.__kwdefaults__
    return made
