"""TextFileWriter: text on a FileWriter."""

from __future__ import annotations

import io

from ._file_writer import FileWriter
from ._writer import OfWriter, abort_quietly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._object import Object


class TextFileWriter(OfWriter, io.TextIOWrapper):
    """An object opened for writing text. It commits and aborts as FileWriter does."""

    def __init__(self, file: FileWriter, encoding: str | None, errors: str | None,
                 newline: str | None) -> None:
        self._file, self._writer = file, file._writer
        # A TextIOWrapper tells where it is, and begins UTF-16 and UTF-32 with their mark, only where
        # it finds that it could seek.
        file.raw.asked_by_text = True
        super().__init__(file, encoding, errors, newline)
        file.raw.asked_by_text = False

    @property
    def name(self) -> str:
        """gs://bucket/name"""
        return self.url

    def write(self, text: str) -> int:
        """Appends characters, and gives their number."""
        if self._writer.forked:
            self._writer._usable()  # a forked child's buffer would be lost when it closes the file
        return super().write(text)

    def commit(self) -> Object:
        """As FileWriter.commit()."""
        return self._flushed(self._file.commit)

    def _flushed(self, end):
        try:
            self.flush()
        except BaseException:
            abort_quietly(self._file)
            raise
        return end()

    def abort(self) -> None:
        """As FileWriter.abort()."""
        self._file.abort()

    def close(self) -> None:
        """As FileWriter.close()."""
        if self.closed or self._writer.forked:
            return
        if self._file._guard.passing() is None:
            self.commit()
        else:
            self._file.close()

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            abort_quietly(self._file)
        elif not self.closed:
            self.commit()

    def __del__(self):
        pass  # not close(): the file warns and aborts, as nobody else has it
