"""Sets for tasks: many objects below one prefix, written by many processes, and committed
together."""

from __future__ import annotations

from ._async_files import AsyncFileReader, AsyncFileWriter
from ._async_reader import AsyncReader
from ._async_writer import AsyncWriter
from ._attributes import attributes as attributes_of
from ._file_reader import READ_AHEAD
from ._place import count_of, nanoseconds
from ._set_members import MemberWriting, name_of, opening_member
from ._sets import OpenSet, SetCalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from typing import Literal

    from typing_extensions import Buffer

    from ._aio import AsyncClient
    from ._object import Place
    from ._set_reports import CommittedSet, RemovedSets


class AsyncMemberWriter(MemberWriting, AsyncWriter):
    """The writer of a set's member: an AsyncWriter. Once it is committed `record` is what the commit
    of the set needs."""

    def __init__(self, owner, name, attributes, size_hint, part_size, timeout):
        bucket, whole, self._call = self._opening(owner, name, attributes, size_hint, part_size,
                                                  timeout)
        self._of_client(owner._client, bucket, whole)
        self._busy = False


class AsyncMemberFile(AsyncFileWriter):
    """A set's member as a file that is written: an AsyncFileWriter. Once it is closed `record` is what
    the commit of the set needs."""

    def __init__(self, writer: AsyncMemberWriter) -> None:
        super().__init__(writer)
        self._member = writer

    @property
    def record(self) -> str:
        """As of AsyncMemberWriter."""
        return self._member.record


class AsyncMemberReader(AsyncReader):
    """A member of a complete set, or its last object: an AsyncReader, each of whose ranges is
    compared with what was committed."""

    def __init__(self, owner: AsyncSetReader, name: str, block: int, cache: int,
                 timeout: float | None) -> None:
        self._set = owner
        self._name = name_of(name)
        self._of = owner._bucket, owner._object_of(name)
        self._client = owner._client
        self._options = (0, count_of(block, "block"), count_of(cache, "cache"), nanoseconds(timeout))
        self._closed = False
        self._process = 0

    def _opening(self):
        return opening_member(self._set, self._name, self._options)


class AsyncCheckpointSet(SetCalls):
    """Many objects below one prefix that are committed together: complete, or not there. It is what
    CheckpointSet is, and its methods give coroutines, but for over().

    Made by AsyncClient.checkpoint_set(), which sends nothing. A pickle carries client and prefix.
    """

    def __init__(self, client: AsyncClient, url: Place, timeout: float | None = None,
                 over: str | None = None) -> None:
        super().__init__(client, url, timeout, over)

    async def begin(self, *, unfinished: Literal["refuse", "replace"] = "refuse") -> RemovedSets:
        """Makes sure that nothing is in the way. One of those who save does it, before all else.

        Arguments, Returns, Raises: as of CheckpointSet.begin().
        """
        found: RemovedSets = await self._client._run(self._begin(unfinished))
        return found

    async def open_member(self, name: str, *, content_type: str | None = None,
                          metadata: Mapping[str, str] | None = None,
                          storage_class: str | None = None, kms_key_name: str | None = None,
                          custom_time: datetime | float | None = None, size_hint: int = 0,
                          part_size: int = 0, timeout: float | None = None) -> AsyncMemberWriter:
        """Opens the writer of a member, which is created and never replaced.

            async with await saving.open_member("rank-0") as member:
                await member.write(b"state")

        Arguments, Raises: as of CheckpointSet.open_member().
        """
        made = AsyncMemberWriter(self, name, attributes_of(
            content_type=content_type, metadata=metadata, storage_class=storage_class,
            kms_key_name=kms_key_name, custom_time=custom_time), size_hint, part_size, timeout)
        await made._opened(made._call)
        return made

    async def open_file(self, name: str, *, content_type: str | None = None,
                        metadata: Mapping[str, str] | None = None, storage_class: str | None = None,
                        kms_key_name: str | None = None, custom_time: datetime | float | None = None,
                        size_hint: int = 0, part_size: int = 0,
                        timeout: float | None = None) -> AsyncMemberFile:
        """Opens a member as a file that is written, as AsyncClient.open() gives one with mode "wb".

        Arguments, Raises: as of CheckpointSet.open_file().
        """
        return AsyncMemberFile(await self.open_member(
            name, content_type=content_type, metadata=metadata, storage_class=storage_class,
            kms_key_name=kms_key_name, custom_time=custom_time, size_hint=size_hint,
            part_size=part_size, timeout=timeout))

    async def commit(self, records: Iterable[str], *, last: str | None = None,
                     data: Buffer = b"", kms_key_name: str | None = None) -> CommittedSet:
        """Commits the set, by its last object. Cancelled, it has committed all or nothing.

        Arguments, Raises: as of CheckpointSet.commit().
        """
        found: CommittedSet = await self._client._run(self._commit(records, last, data, kms_key_name))
        return found

    async def open(self, *, last: str | None = None) -> AsyncSetReader:
        """Checks whether the set is complete, and opens it.

        Arguments, Raises: as of CheckpointSet.open().
        """
        found: AsyncSetReader = await self._client._run(self._open(last, AsyncSetReader))
        return found

    async def begin_over(self) -> str:
        """Begins a save over the set: the same state below the same prefix again, with nothing
        removed before.

        Returns, Raises: as of CheckpointSet.begin_over().
        """
        text: str = await self._client._run(self._begin_over())
        return text

    def over(self, text: str) -> AsyncCheckpointSet:
        """The same set, whose members and commit are those of a save over it. Sends nothing.

        Arguments, Raises: as of CheckpointSet.over().
        """
        return self._of_text(text)


class AsyncSetReader(OpenSet):
    """A complete set as it was when it was opened. Any number of tasks use it."""

    async def reader(self, name: str, *, block: int = 0, cache: int = 0,
                     timeout: float | None = None) -> AsyncMemberReader:
        """Opens a member, or the last object, for reads.

        Arguments, Raises: as of SetReader.reader().
        """
        made = AsyncMemberReader(self, name, block, cache, timeout)
        await made._handle()
        return made

    async def open(self, name: str, *, block: int = 0, cache: int = 0, read_ahead: int = READ_AHEAD,
                   timeout: float | None = None) -> AsyncFileReader:
        """Opens a member, or the last object, as a file that is read, as AsyncClient.open() gives one
        with mode "rb".

        Arguments, Raises: as of SetReader.open().
        """
        ahead = count_of(read_ahead, "read_ahead")
        return AsyncFileReader(await self.reader(name, block=block, cache=cache, timeout=timeout), ahead)
