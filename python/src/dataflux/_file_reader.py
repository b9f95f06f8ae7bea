"""FileReader: a Reader as one of Python's binary files."""

from __future__ import annotations

import io
from errno import EINVAL

from ._ahead import Ahead
from ._lent import Lent, new_bytes
from ._reader import OfReader, Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer

# Reads that are shorter than it cost one call of the library together.
BUFFER = 128 << 10
READ_AHEAD = 32 << 20


class RawReader(io.RawIOBase):
    """A Reader with a position."""

    mode = "rb"
    ahead = None

    def __init__(self, reader, read_ahead):
        self.reader = reader
        self.ahead = Ahead(reader, read_ahead)
        self._at = 0
        # A BufferedReader asks when it is made, and passes over what is raised then, which may be a
        # KeyboardInterrupt: until it is there, no bytecode answers.
        self.tell = (0).__index__

    @property
    def name(self):
        return self.reader.url

    def readable(self):
        self._checkClosed()
        return True

    def seekable(self):
        self._checkClosed()
        return True

    def tell(self):
        self._checkClosed()
        return self._at

    def seek(self, offset, whence=io.SEEK_SET):
        self._checkClosed()
        offset = offset.__index__()
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError(f"whence: {whence!r} is none of 0, 1 and 2")
        at = offset + (0, self._at, self.reader.size)[whence]
        if at < 0:
            # What a file of a disk raises, which zipfile counts on.
            raise OSError(EINVAL, f"offset: {offset} is before the first byte", self.reader.url)
        self._at = at
        return at

    def readinto(self, buffer):
        self._checkClosed()
        with Lent(buffer, "buffer", writable=True) as lent:
            size = min(lent.size, self.reader.size - self._at)
            return self._filled(lent.address, size, lent) if size > 0 else 0

    def readall(self):
        self._checkClosed()
        size = self.reader.size - self._at
        if size <= 0:
            return b""
        memory, done = new_bytes(size), 0
        with Lent(memory, "memory") as lent:
            while done < size:
                done += self._filled(lent.address + done, size - done, lent)
        return memory

    def _filled(self, address, size, lent):
        """Reads on into memory, `size` bytes, which there are, or fewer; gives how many."""
        self.ahead.fill(self._at, address, size, lent)
        self._at += size
        return size

    def close(self):
        if not self.closed:
            try:
                if self.ahead is not None:  # an interrupt may have come while it was made
                    self.ahead.drop()
                    self.reader.close()
            finally:
                super().close()


class FileReader(OfReader, io.BufferedReader):
    """An object opened for reading, as open() gives it: whatever reads a binary file reads this.

    It has one generation of the object. Reads in sequence are read ahead; long ones go straight into
    the caller's memory. It pickles, and works in a forked child, which opens that generation again.

    Threads: any; read_at() and get_ranges() at once, the others one after another. But lines, and text,
    are for one thread at a time: io.BufferedReader, which makes lines, looks for them without its lock.
    """

    _raw_kind = RawReader

    def __init__(self, reader: Reader, read_ahead: int = READ_AHEAD) -> None:
        raw = self._raw_kind(reader, read_ahead)
        super().__init__(raw, max(1, min(reader.size, BUFFER)))
        del raw.tell
        self._reader = reader

    @property
    def size(self) -> int:
        """Bytes of the object."""
        return self._reader.size

    def read_at(self, offset: int, size: int) -> bytes:
        """Reads a range, wherever the file is; as Reader.read_at()."""
        return self._reader.read_at(offset, size)

    def read_into_at(self, offset: int, buffer: Buffer) -> int:
        """Fills memory, wherever the file is; as Reader.read_into_at()."""
        return self._reader.read_into_at(offset, buffer)

    def get_ranges(self, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
        """Reads many ranges at once, wherever the file is; as Reader.get_ranges()."""
        return self._reader.get_ranges(ranges)

    def __reduce__(self):
        at = self.tell()  # a ValueError once it is closed
        # A reader of its own: a copy that is let go of closes it.
        return _read_again, (type(self), self._reader.__reduce__(), self.raw.ahead.most, at)

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"at {self.tell()} of {self.size} bytes"
        return f"<dataflux.FileReader {self.url}, {state}>"


def _read_again(kind, reader, read_ahead, at):
    make, arguments = reader
    made = kind(make(*arguments), read_ahead)
    made.seek(at)
    return made
