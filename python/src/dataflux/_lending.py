"""Lending: a Writer that sends from the caller's memory, without a copy."""

from __future__ import annotations

from . import _abi
from ._calls import TAG
from ._handles import ErrorHandle
from ._lent import Lent
from ._library import Size, byref, library
from ._wait import Records, new_queue, tags

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ._writer import Writer


class Lending:
    """Appends to a writer memory that stays as it is until the library gives it back. What is less
    than half a part (4 MiB) is copied all the same.

    Call settle() when the writer has been committed or aborted: before that the memory may be in
    use. What was never settled is kept as long as the client is there.

    Threads: that of the writer.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._under_way = writer._client._under_way
        self._queue = new_queue()
        self._records = Records(self._queue)
        self._out = {}  # by tag: how many bytes the call has taken

    def write(self, buffer: Buffer, owner: object = None) -> int:
        """Appends bytes. Waits for room while all of the client's upload_memory is in use.

        Arguments:
            buffer: contiguous memory, which stays as it is until settle() has returned.
            owner: what is kept until then, for memory that `buffer` itself does not keep.

        Returns, Raises: as Writer.write().
        """
        writer = self._writer
        with writer._entered():
            writer._usable()
            lent = Lent(buffer, "buffer")
            written, whole = 0, False
            try:
                while written < lent.size:
                    written += self._lend(lent, written, owner)
                whole = True
            finally:
                writer._position += written
                if not whole:
                    writer.spoil("a write failed or was interrupted")
            self._take_back(0)
            return lent.size

    def _lend(self, lent, at, owner):
        tag, taken, error = next(tags), Size(), ErrorHandle()
        # Before the call, since the library may have the memory when an interrupt comes behind it.
        self._under_way[tag] = lent, owner
        self._out[tag] = taken
        status = library.writer_lend(self._writer._writer, lent.address + at, lent.size - at, -1,
                                     byref(taken), self._queue, tag, byref(error))
        if not taken.value:
            self._returned(tag)
        if status and status != _abi.INTERRUPTED:
            self._writer._client._checked(status, error)
        return taken.value

    def _returned(self, tag):
        self._under_way.pop(tag, None)
        self._out.pop(tag, None)

    def _take_back(self, timeout_ns):
        """Waits for one piece, and lets go of it."""
        if not self._hand_back():
            self._records.take(timeout_ns)
            self._hand_back()

    def _hand_back(self):
        """Lets go of what the record names, where there is one. An interrupt may have left it."""
        record = self._records.left()
        if record is not None:
            self._returned(record[TAG])
            self._records.forget()
        return record is not None

    def settle(self) -> None:
        """Waits until all memory is the caller's again."""
        try:
            self._wait()
        except BaseException:
            self._wait()  # it will not be long: the writer has ended
            raise

    def _wait(self):
        for tag, taken in list(self._out.items()):
            if not taken.value:  # an interrupt came before the call
                self._returned(tag)
        self._hand_back()
        while self._out:
            self._take_back(-1)
