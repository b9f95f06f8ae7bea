"""open() of AsyncClient."""

from __future__ import annotations

from ._file import UNSEEN, asked, exists, only_new
from ._file_reader import READ_AHEAD
from ._place import count_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, overload

    from typing_extensions import Unpack

    from ._async_file import AsyncFileWriter
    from ._async_file_reader import AsyncFileReader
    from ._async_text import AsyncTextFileReader, AsyncTextFileWriter
    from ._file import HowToRead, HowToWrite
    from ._object import Place


class AsyncFileVerbs:
    """Objects as files of tasks."""

    if TYPE_CHECKING:
        @overload
        async def open(self, url: Place, mode: Literal["rb"] = "rb",
                       **how: Unpack[HowToRead]) -> AsyncFileReader: ...
        @overload
        async def open(self, url: Place, mode: Literal["wb", "xb"],
                       **how: Unpack[HowToWrite]) -> AsyncFileWriter: ...
        @overload
        async def open(self, url: Place, mode: Literal["r", "rt"], *, encoding: str | None = None,
                       errors: str | None = None, newline: str | None = None,
                       **how: Unpack[HowToRead]) -> AsyncTextFileReader: ...
        @overload
        async def open(self, url: Place, mode: Literal["w", "wt", "x", "xt"], *,
                       encoding: str | None = None, errors: str | None = None,
                       newline: str | None = None,
                       **how: Unpack[HowToWrite]) -> AsyncTextFileWriter: ...
        @overload
        async def open(self, url: Place, mode: str, *, encoding: str | None = None,
                       errors: str | None = None, newline: str | None = None, **how: Any
                       ) -> (AsyncFileReader | AsyncFileWriter | AsyncTextFileReader
                             | AsyncTextFileWriter): ...

    async def open(self, url: Place, mode: str = "rb", *, encoding: str | None = None,
                   errors: str | None = None, newline: str | None = None, **how: Any
                   ) -> (AsyncFileReader | AsyncFileWriter | AsyncTextFileReader
                         | AsyncTextFileWriter):
        """Opens an object as a file, whose methods give coroutines.

            async with await client.open("gs://bucket/name", "r") as file:
                async for line in file:
                    ...

        Arguments, Raises, Requests: as of Client.open().

        Returns: an AsyncFileReader; an AsyncFileWriter, which commits when it is closed and no
            exception passes; for text an AsyncTextFileReader or an AsyncTextFileWriter.
        """
        known = asked(mode, encoding, errors, newline, how)
        text = None
        if not known.endswith("b"):
            from ._async_text import AsyncTextFileReader, AsyncTextFileWriter, TextKind

            text = TextKind(encoding, errors, newline)
        if known[0] == "r":
            from ._async_file_reader import AsyncFileReader

            read_ahead = count_of(how.pop("read_ahead", READ_AHEAD), "read_ahead")
            file = AsyncFileReader(await self.reader(url, **how), read_ahead)
            return file if text is None else AsyncTextFileReader(file, text, mode)
        from ._async_file import AsyncFileWriter

        if known[0] == "x":
            await self._refuse_existing(url, how)
        file = AsyncFileWriter(await self.writer(url, **how), known)
        return file if text is None else AsyncTextFileWriter(file, text, mode)

    async def _refuse_existing(self, url, how):
        only_new(url, how)
        try:
            there = await self.stat(url, timeout=how.get("timeout"))
        except UNSEEN:
            return
        raise exists(there)
