"""FileWriter: a Writer as one of Python's binary files."""

from __future__ import annotations

import io
from weakref import ref

from ._lent import Lent
from ._writer import Guard, OfWriter, Writer, abort_quietly, not_committed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer, Self

    from ._object import Object

# Writes that are shorter than it cost one call of the library together.
_BUFFER = 128 << 10


class _RawWriter(io.RawIOBase):
    """A Writer as a file without a buffer. Closing it never commits."""

    def __init__(self, writer, mode):
        self.writer = writer
        self.mode = mode
        self.asked_by_text = False
        writer._over = ref(self)
        # As of a RawReader: a BufferedWriter asks when it is made, and passes over what is raised.
        self.tell = (0).__index__

    def ended(self):
        # `closed` is a flag of the base, and no property: what a signal's handler raises in one that
        # BufferedWriter asks for becomes a ValueError.
        super().close()

    def writable(self):
        self._checkClosed()
        return True

    def seekable(self):
        self._checkClosed()
        return self.asked_by_text

    def tell(self):
        self._checkClosed()
        return self.writer.tell()

    def write(self, data):
        self._checkClosed()
        return self.writer.write(data)

    def close(self):
        abort_quietly(self.writer)


class FileWriter(OfWriter, io.BufferedWriter):
    """An object opened for writing, as open() gives it: whatever writes a binary file in order
    writes this. It tells where it is, and cannot seek.

    The object appears when it is closed without an exception, whole and verified, and not before:
    flush() sends, and commits nothing. What was there stays

    - where an exception leaves its `with`;
    - where close() is called while an exception passes or is handled that was not when the file was
      opened, as a `finally` does, an ExitStack, and the files of the standard library that were put
      on top of it. Then a RuntimeWarning says so, for an `except` that ends well would otherwise
      lose it in silence; commit() commits there, too;
    - where a write or a flush failed or was interrupted: close() is an error then;
    - where it is let go of, itself or what was put on top of it, or open at the interpreter's end:
      a ResourceWarning says so;
    - by abort().

    What it cannot see: an exception in another thread than the one that closes it, and one that has
    been caught before it is closed.

    It has no `name`: pandas 2 would write Parquet to what has that name by a way of its own, and then
    this file, which is empty, would replace it.
    """

    def __init__(self, writer: Writer, mode: str = "wb") -> None:
        self._writer = writer
        self._let_go = False
        self._guard = Guard()
        raw = _RawWriter(writer, mode)
        super().__init__(raw, _BUFFER)
        del raw.tell

    def write(self, data: Buffer) -> int:
        """Appends bytes, all of them, and gives their number. Waits for room while all of the
        client's upload_memory is in use."""
        if self._writer.forked:
            self._writer._usable()  # a forked child's buffer would be lost when it closes the file
        # What is no bytes in one piece is refused here: nothing was written then.
        Lent(data).release()
        try:
            return super().write(data)
        except BaseException:
            self._writer.spoil("a write failed or was interrupted")
            raise

    def flush(self) -> None:
        """Hands what was written to the library, which sends it. Commits nothing."""
        try:
            super().flush()
        except BaseException:
            self._writer.spoil("a flush failed or was interrupted")
            raise

    def commit(self) -> Object:
        """Makes the object, whatever exception is handled, and closes the file; as
        Writer.commit()."""
        try:
            self.flush()
            return self._writer.commit()
        except BaseException:
            abort_quietly(self._writer)
            raise

    def abort(self) -> None:
        """Closes the file; what was there before stays. After a commit it does nothing.

        Raises: an error that names what could not be removed.
        """
        self._writer.abort()

    def close(self) -> None:
        """Commits, or aborts where an exception passes: see the class. Again it does nothing.

        Raises: what commit() does.
        """
        if self.closed or self._writer.forked:
            return
        passing = self._guard.passing()
        if self._let_go:
            abort_quietly(self._writer)
        elif passing is not None:
            abort_quietly(self._writer)
            not_committed(self.url, f"close() was called while {passing!r} was handled")
        else:
            self._ended()

    def __enter__(self) -> Self:
        self._checkClosed()
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            abort_quietly(self._writer)
        elif not self.closed:
            self._ended()

    def _ended(self):
        """It was closed, and is whole."""
        self.commit()

    def _dealloc_warn(self, source):
        # What was put on top of it is collected, and will call close().
        self._let_go = True
        self._writer.left_open(source)

    def __del__(self):
        writer = self.__dict__.get("_writer")
        if writer is not None and not writer.closed:
            writer.left_open(self)
            abort_quietly(writer)

    def __reduce_ex__(self, protocol):
        raise TypeError("a file that is being written belongs to its process, and cannot be pickled")

    def __repr__(self) -> str:
        return f"<dataflux.FileWriter {self.url}, {self._writer.tell()} bytes, {self._writer._state}>"
