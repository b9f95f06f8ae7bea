"""AsyncFileWriter: an object as a file that a task writes; and what all files of tasks have."""

from __future__ import annotations

import io

from ._async_writer import abort_quietly
from ._writer import Guard, not_committed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    from typing_extensions import Buffer, Self

    from ._async_writer import AsyncWriter
    from ._object import Object


class AsyncFile:
    """What all files of tasks have: `async with` closes them. They have no descriptor, and belong to
    their process."""

    mode: str

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The same as `url`."""
        return self.url

    @property
    def closed(self) -> bool:
        """It was closed."""
        raise NotImplementedError

    def _check(self):
        if self.closed:
            raise ValueError("I/O operation on closed file.")

    def readable(self) -> bool:
        """Whether it was opened to be read."""
        self._check()
        return self.mode[0] == "r"

    def writable(self) -> bool:
        """Whether it was opened to be written."""
        self._check()
        return self.mode[0] != "r"

    def seekable(self) -> bool:
        """Whether seek() works, as it does where it was opened to be read."""
        return self.readable()

    def isatty(self) -> bool:
        """False."""
        self._check()
        return False

    def fileno(self) -> NoReturn:
        """There is none: io.UnsupportedOperation."""
        raise io.UnsupportedOperation("fileno")

    async def close(self) -> None:
        """Closes it."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """The same as close()."""
        await self.close()

    async def __aenter__(self) -> Self:
        self._check()
        return self

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        await self.close()

    def __reduce__(self):
        raise TypeError("a file of tasks cannot be pickled: carry its url, and open it again")


class AsyncFileWriter(AsyncFile):
    """An object opened for writing, as AsyncClient.open() gives it: methods that are those of a
    binary file and give coroutines. It tells where it is, and cannot seek.

    The object appears when it is closed without an exception, whole and verified, and not before:
    flush() commits nothing. What was there stays

    - where an exception, cancellation for one, leaves its `async with`;
    - where close() is called while an exception passes or is handled that was not when the file was
      opened, as a `finally` does. Then a RuntimeWarning says so, for an `except` that ends well
      would otherwise lose it in silence; commit() commits there, too;
    - where a write failed or was cancelled: close() is an error then;
    - where it is let go of, or open at the interpreter's end: a ResourceWarning says so;
    - by abort().

    What it cannot see: an exception in another task than the one that closes it, and one that has
    been caught before it is closed. One task at a time uses it.
    """

    def __init__(self, writer: AsyncWriter, mode: str = "wb") -> None:
        self.mode = mode
        self._writer = writer
        self._guard = Guard()

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return self._writer.url

    @property
    def object(self) -> Object | None:
        """What is known of the object once it is committed, as stat() gives it; None before."""
        return self._writer.object

    @property
    def generation(self) -> int:
        """Of the object once it is committed; 0 before."""
        return self._writer.generation

    @property
    def closed(self) -> bool:
        """It is committed or aborted."""
        return self._writer.closed

    async def write(self, data: Buffer) -> int:
        """Appends bytes, all of them, and gives their number. Waits for room while all of the
        client's upload_memory is in use."""
        self._check()
        return await self._writer.write(data)

    async def writelines(self, lines: Iterable[Buffer]) -> None:
        """Appends each of them."""
        for line in lines:
            await self.write(line)

    async def flush(self) -> None:
        """Does nothing, since what is written is sent as it comes. Commits nothing."""
        self._check()

    async def tell(self) -> int:
        """Bytes that were written so far."""
        self._check()
        return self._writer.tell()

    async def seek(self, offset: int, whence: int = io.SEEK_SET) -> NoReturn:
        """An object is written in order: io.UnsupportedOperation."""
        self._check()
        raise io.UnsupportedOperation("seek")

    async def commit(self) -> Object:
        """Makes the object, whatever exception is handled, and closes the file; as
        AsyncWriter.commit()."""
        try:
            return await self._writer.commit()
        except BaseException as why:
            await abort_quietly(self._writer, why)
            raise

    async def abort(self) -> None:
        """Closes the file; what was there before stays. After a commit it does nothing.

        Raises: an error that names what could not be removed.
        """
        await self._writer.abort()

    async def close(self) -> None:
        """Commits, or aborts where an exception passes: see the class. Again it does nothing.

        Raises: what commit() does.
        """
        if self.closed or self._writer.forked:
            return
        passing = self._guard.passing()
        if passing is None:
            await self.commit()
        else:
            await abort_quietly(self._writer, passing)
            not_committed(self.url, f"close() was called while {passing!r} was handled")

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            await abort_quietly(self._writer, value)
        elif not self.closed:
            await self.commit()

    def __repr__(self) -> str:
        return (f"<dataflux.{type(self).__name__} {self.url}, {self._writer.tell()} bytes, "
                f"{self._writer._state}>")
