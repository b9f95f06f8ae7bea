"""What torch.load reads of an object: by which way it comes, which bytes have come, what has failed."""

from __future__ import annotations

import ctypes
import zipfile
from typing import TYPE_CHECKING

import torch

from .._ahead import Ahead
from .._lent import Lent
from ._records import Span, gaps, merged, records_of, size_of
from ._storages import Storages

if TYPE_CHECKING:
    from .._file_reader import FileReader
    from .._reader import Reader

_TAIL = 1 << 20     # of the file: the zip file's directory
_LITTLE = 16 << 20  # what is no storage is held, and what torch has passed over read, if it is no more


class _Held:
    """A span of the file that is in memory, or on its way there."""

    def __init__(self, reader: Reader, span: Span) -> None:
        self.begin, self.end = span
        self._memory = bytearray(self.end - self.begin)
        self._lent = Lent(self._memory, "memory", writable=True)
        self._reading = reader.begin(self.begin, self._lent)
        self.there = False

    def _wait(self):
        if not self.there:
            self._reading.wait()
            self.there = True

    def has(self, word: bytes) -> bool:
        self._wait()
        return word in self._memory

    def copy(self, at: int, end: int, address: int) -> None:
        self._wait()
        ctypes.memmove(address, self._lent.address + at - self.begin, end - at)

    def free(self) -> None:
        self._reading.free()
        self._lent.release()


def _device() -> bytes | None:
    """What the text of a storage's place on a device has, "cuda" for one; None where this torch knows
    none. It looks for no device: that would start its driver, which no fork survives."""
    try:
        device = torch.accelerator.current_accelerator()
    except AttributeError:  # before torch 2.6
        return b"cuda"
    return None if device is None else device.type.encode()


class Served:
    """Serves the reads of one file. A zip file's storages are read ahead into their memory (Storages),
    and all else of it is held; any other file is read ahead as every file is (Ahead).

    failure     what a read has raised: torch's own error about it says less

    One thread at a time uses it.
    """

    def __init__(self, file: FileReader, reader: Reader, most: int) -> None:
        self._file = file
        self._reader = reader
        self.most = most
        self.failure: BaseException | None = None
        self._ahead = Ahead(reader, most)
        self._came: list[Span] = []
        self._held: list[_Held] = []
        self._storages: Storages | None = None
        self._look = False  # where storages were, before the first of them is taken
        self._hold((max(0, reader.size - _TAIL), reader.size))

    def _hold(self, span):
        if span[0] < span[1]:
            self._held.append(_Held(self._reader, span))

    def plan(self, stays: bool | None, at_once: bool) -> None:
        """Reads the zip file's directory and begins to read what torch will want. Does nothing for a
        file that is none.

        Arguments:
            stays: storages remain in the memory that they are read into, so that reading all of them
                takes none beside the state's. None = where they were when they were saved.
            at_once: torch is going to ask for them.
        """
        known = records_of(self._file)
        self._file.seek(0)
        if known is None:
            return
        others, records = known
        tail_at = self._held[0].begin if self._held else 0
        others = merged((begin, min(end, tail_at)) for begin, end in others)
        if size_of(others) <= _LITTLE:
            self._look = stays is None
            for span in others:
                self._hold(span)
        self._storages = Storages(self._reader,
                                  [record for record in records if record.begin < tail_at],
                                  self.most if at_once else 0, None if stays else self.most,
                                  self._held[0] if self._held else None)

    def take(self, name: str, size: int) -> torch.UntypedStorage | None:
        """The storage of a record that was read ahead; None = it is to be read from the file."""
        if self._storages is None:
            return None
        try:
            if self._look:
                self._look = False
                device = _device()
                if device is None or not any(held.has(device) for held in self._held):
                    self._storages.most = None
            return self._storages.take(name, size, self._note)
        except BaseException as why:
            self.failure = self.failure or why
            raise

    def fill(self, offset: int, address: int, size: int, lent: object) -> None:
        """Fills memory; the object does not end before."""
        try:
            at, end = offset, offset + size
            while at < end:
                until = end
                held = None
                for each in self._held:
                    if each.begin <= at < each.end:
                        held, until = each, min(end, each.end)
                        break
                    if at < each.begin < until:
                        until = each.begin
                if held is not None:
                    held.copy(at, until, address + at - offset)
                else:
                    self._ahead.fill(at, address + at - offset, until - at, lent)
                self._note(at, until)
                at = until
        except BaseException as why:
            self.failure = self.failure or why
            raise

    def _note(self, begin, end):
        came = self._came
        if came and came[-1][0] <= begin <= came[-1][1]:
            came[-1] = came[-1][0], max(came[-1][1], end)
        else:
            came.append((begin, end))

    def finish(self, all_of_it: bool = False) -> bool:
        """Reads the little that torch has passed over, so that the whole is compared with its
        checksum. Gives whether it was: not where torch wanted a part only, as with "meta".

        Arguments:
            all_of_it: whatever that costs.

        Raises: DataLossError.
        """
        self._came += [(held.begin, held.end) for held in self._held if held.there]
        self.drop()
        missing = gaps(self._came, self._reader.size)
        if size_of(missing) > _LITTLE:
            if not all_of_it:
                return False
            memory = memoryview(bytearray(_LITTLE))
            for begin, end in missing:
                for at in range(begin, end, _LITTLE):
                    self._reader.read_into_at(at, memory[:min(_LITTLE, end - at)])
        elif missing:
            self._reader.get_ranges([(begin, end - begin) for begin, end in missing])
        if self._reader.size:
            self._reader.read_at(0, 1)  # where what nobody waited for has shown damage, it says so
        return bool(self._reader.size) and self._reader.verified

    def is_as_written(self) -> bool:
        """Whether what torch asks for first, the pickle, is what was written, as far as the zip file's
        own checksum says so."""
        try:
            with zipfile.ZipFile(self._file) as known:
                for name in known.namelist():
                    if name.endswith("/data.pkl"):
                        known.read(name)
                        return True
        except Exception:
            pass
        return False

    def drop(self) -> None:
        """Cancels what is under way."""
        if self._storages is not None:
            self._storages.drop()
        while self._held:
            self._held.pop().free()
        self._ahead.drop()
