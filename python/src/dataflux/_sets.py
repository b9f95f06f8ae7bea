"""Sets, for threads and for tasks: many objects below one prefix, written by many processes, and committed
together."""

from __future__ import annotations

from . import _abi, _wait
from ._async_files import AsyncFileReader
from ._attributes import MEMBER_ATTRIBUTES, attributes, taken
from ._calls import Call, checked, json_bytes, json_of, taker
from ._errors import Error, PreconditionError
from ._file_reader import READ_AHEAD, FileReader
from ._forms import awaiting, blocking
from ._handles import ErrorHandle, handle
from ._lent import Lent
from ._library import Pointer, addressof, byref, library, struct, text_at
from ._object import Object, known_of, time_of
from ._place import count_of, nanoseconds, one_of, scheme_of, url_of
from ._set_members import AsyncMemberFile, AsyncMemberReader, AsyncMemberWriter, MemberFile, MemberReader, \
    MemberWriter, name_of
from ._set_reports import CommittedSet, Member, RemovedSets, SetInfo, Sets, info_of, removal, removed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Literal

    from typing_extensions import Buffer, Unpack

    from ._attributes import MemberAttributes
    from ._calls import Caller
    from ._object import Place

SetHandle = handle("set")
SetReaderHandle = handle("set_reader")
_take = taker("set_reader", SetReaderHandle)
_UNFINISHED = {"refuse": _abi.UNFINISHED_REFUSE, "replace": _abi.UNFINISHED_REPLACE}


def save_folder(save_id: str) -> str:
    """Where the members of a save over a set lie below its prefix."""
    return f".dataflux-save-{save_id}/"


class SetCalls:
    """What a set is in both forms: its place, and its verbs that give no form, each written once."""

    def __init__(self, client, url, timeout=None, over=None):
        self._client = client
        self._bucket, self._prefix = client._prefix_place(url)
        if not self._prefix:
            raise ValueError(f"url: {url!r} names no prefix: a set has one of its own")
        self._timeout = timeout
        self._over = over
        nanoseconds(timeout)
        self._set = None
        self._process = 0
        if over is not None:
            self._usable()

    def _usable(self):
        """The library's set; in a forked child, and after a pickle, made again."""
        if self._process == _wait._process:
            return self._set
        made, error = SetHandle(), ErrorHandle()
        options = struct("set_options", bucket=self._bucket, prefix=self._prefix,
                         timeout_ns=nanoseconds(self._timeout))
        checked(library.set_create(self._client._handle(), byref(options), byref(made),
                                   byref(error)), error)
        if self._over is not None:
            over = SetHandle()
            checked(library.set_over(made, self._over.encode(), byref(over), byref(error)), error)
            made = over
        self._set, self._process = made, _wait._process
        return made

    @property
    def url(self) -> str:
        """gs://bucket/prefix"""
        return url_of(self._bucket.decode(), self._prefix.decode())

    def _object_of(self, member):
        """The name of a member's object."""
        folder = self._prefix + (b"" if self._prefix.endswith(b"/") else b"/")
        if self._over is not None:
            import json

            folder += save_folder(json.loads(self._over)["id"]).encode()
        return folder + member

    async def _begin(self, *, unfinished: Literal["refuse", "replace"] = "refuse") -> RemovedSets:
        """Makes sure that nothing is in the way. One of those who save does it, before all else.

        Arguments:
            unfinished: "refuse": what an earlier save has left is an AlreadyExistsError; "replace":
                it is removed.

        Returns: what was removed.
        Raises: AlreadyExistsError if the set is committed.
        """
        one_of(unfinished, "unfinished", _UNFINISHED)
        found: RemovedSets = await Call(
            lambda client, queue, tag, out, err: library.set_begin(
                self._usable(), _UNFINISHED[unfinished], queue, tag, out, err),
            removal(self._bucket.decode()))
        return found

    async def _commit(self, records: Iterable[str], *, last: str | None = None,
                      data: Buffer = b"", kms_key_name: str | None = None) -> CommittedSet:
        """Commits the set, by its last object.

        Arguments:
            records: those of all members, in any order.
            last: the name of the last object, without a slash; None = ".dataflux-complete".
            data: its bytes; over a set on S3 others than those that are there.
            kms_key_name: by which it and the manifest are encrypted; None = the bucket's default.

        Raises: DataLossError where a member is missing or has changed; AlreadyExistsError where the
            set is committed already. After a failure it is not committed. A task that is cancelled has
            committed all or nothing.
        """
        import ctypes

        texts = []
        if isinstance(records, (str, bytes)):
            raise TypeError("records: the records of all members are needed, as a list, and not a "
                            f"{type(records).__name__}")
        for record in records:
            if not isinstance(record, str):
                raise TypeError(f"records: texts are needed, and not a {type(record).__name__}")
            texts.append(record.encode())
        name = None if last is None else name_of(last, "last")
        array = (ctypes.c_char_p * len(texts))(*texts)
        options = struct("set_commit_options", records=addressof(array), record_count=len(texts), last=name,
                         kms_key_name=None if kms_key_name is None else name_of(kms_key_name, "kms_key_name"))
        bucket = self._bucket.decode()

        def finish(operation, record):
            known = json_of(operation)
            last = Object(known_of(known["last"], scheme_of(self._bucket)))
            return CommittedSet(last=last, manifest=known["manifest"], members=known["members"],
                                bytes=int(known["bytes"]),
                                replaced=removed(bucket, known["replaced"]))

        options.kept = array
        with Lent(data, "data") as lent:
            options.data, options.size = lent.address, lent.size
            lent.call = Call(lambda client, queue, tag, out, err: library.set_commit(
                self._usable(), byref(options), queue, tag, out, err), finish, lent)
            found: CommittedSet = await lent.call
            return found

    async def _begin_over(self) -> str:
        """Begins a save over the set: the same state below the same prefix again, with nothing
        removed before.

        Returns: a text, which goes to all who take part; each works on the set that over() makes of
            it, without begin(). Readers see the old set or the new one, whole.
        Raises: PreconditionError if there are several last objects.
        """
        text: str = await Call(
            lambda client, queue, tag, out, err:
                library.set_begin_over(self._usable(), queue, tag, out, err),
            lambda operation, record: json_bytes(operation).decode())
        return text

    def _open(self, last, kind):
        name = None if last is None else name_of(last, "last")
        return Call(lambda client, queue, tag, out, err: library.set_open(
            self._usable(), name, queue, tag, out, err),
            lambda operation, record: kind(self._client, self._bucket, _take(operation, record)))

    def _of_text(self, text):
        if not isinstance(text, str):
            raise TypeError(f"text: a str is needed, and not a {type(text).__name__}")
        return type(self)(self._client, (self._bucket.decode(), self._prefix.decode()),
                          self._timeout, text)

    def __reduce__(self):
        return type(self), (self._client, (self._bucket.decode(), self._prefix.decode()),
                            self._timeout, self._over)

    def __repr__(self) -> str:
        return (f"<dataflux.{type(self).__name__} {self.url}"
                f"{', over' if self._over is not None else ''}>")


class CheckpointSet(SetCalls):
    """Many objects below one prefix that are committed together: complete, or not there.

    One of those who save begins the set; each opens, writes and commits its member, and sends the
    member's record, a text, to the one who commits the set. Who loads opens the set, which is
    refused unless every member is as it was written.

    Made by Client.checkpoint_set(), which sends nothing. Threads: any. A pickle carries client and
    prefix.
    """

    def __init__(self, client: Caller, url: Place, timeout: float | None = None,
                 over: str | None = None) -> None:
        super().__init__(client, url, timeout, over)

    begin = blocking(SetCalls._begin)
    commit = blocking(SetCalls._commit)
    begin_over = blocking(SetCalls._begin_over)

    def open_member(self, name: str, *, size_hint: int = 0, part_size: int = 0,
                    timeout: float | None = None, **how: Unpack[MemberAttributes]) -> MemberWriter:
        """Opens the writer of a member, which is created and never replaced.

        Arguments:
            name: within the set.
            content_type, metadata, storage_class, kms_key_name, custom_time: of the object.
            size_hint: bytes, as far as is known.
            part_size: bytes that are sent at a time; 0 = a sixteenth of upload_memory, 8 to 32 MiB.
            timeout: seconds from here to the end of its commit; None = no limit.

        Raises: AlreadyExistsError, by its commit, where a member of this name is there.
        """
        taken(how, "open_member", MEMBER_ATTRIBUTES)
        return MemberWriter(self, name, attributes(**how), size_hint, part_size, timeout)

    def open_file(self, name: str, *, size_hint: int = 0, part_size: int = 0,
                  timeout: float | None = None, **how: Unpack[MemberAttributes]) -> MemberFile:
        """Opens a member as a file that is written, as Client.open() gives one with mode "wb": for
        whatever saves into files, such as torch.save and numpy.save.

            with saving.open_file("rank-0") as file:
                torch.save(state, file)
            send(file.record)

        Arguments: as of open_member(); `timeout` goes from here to the end of close().

        Raises: AlreadyExistsError, when it is closed, where a member of this name is there.
        """
        taken(how, "open_file", MEMBER_ATTRIBUTES)
        return MemberFile(self.open_member(name, size_hint=size_hint, part_size=part_size, timeout=timeout,
                                           **how))

    def open(self, *, last: str | None = None) -> SetReader:
        """Checks whether the set is complete, and opens it.

        Arguments:
            last: the last object's name; None = the one that is there.

        Raises: PreconditionError where it is not committed; DataLossError says what is missing or
            has changed.
        """
        return self._client._run(self._open(last, SetReader))

    def over(self, text: str) -> CheckpointSet:
        """The same set, whose members and commit are those of a save over it.

        Arguments:
            text: what begin_over() gave, here or in another process.

        Raises: ValueError for another text.
        """
        return self._of_text(text)


class AsyncCheckpointSet(SetCalls):
    """Many objects below one prefix that are committed together: complete, or not there. It is what
    CheckpointSet is, and its methods give coroutines, but for over().

    Made by AsyncClient.checkpoint_set(), which sends nothing. A pickle carries client and prefix.
    """

    def __init__(self, client: Caller, url: Place, timeout: float | None = None,
                 over: str | None = None) -> None:
        super().__init__(client, url, timeout, over)

    begin = awaiting(SetCalls._begin)
    commit = awaiting(SetCalls._commit)
    begin_over = awaiting(SetCalls._begin_over)

    async def open_member(self, name: str, *, size_hint: int = 0, part_size: int = 0,
                          timeout: float | None = None, **how: Unpack[MemberAttributes]) -> AsyncMemberWriter:
        """Opens the writer of a member, which is created and never replaced.

            async with await saving.open_member("rank-0") as member:
                await member.write(b"state")

        Arguments, Raises: as of CheckpointSet.open_member().
        """
        taken(how, "open_member", MEMBER_ATTRIBUTES)
        made = AsyncMemberWriter(self, name, attributes(**how), size_hint, part_size, timeout)
        await self._client._run(made._opened(made._call))
        return made

    async def open_file(self, name: str, *, size_hint: int = 0, part_size: int = 0,
                        timeout: float | None = None, **how: Unpack[MemberAttributes]) -> AsyncMemberFile:
        """Opens a member as a file that is written, as AsyncClient.open() gives one with mode "wb".

        Arguments, Raises: as of CheckpointSet.open_file().
        """
        taken(how, "open_file", MEMBER_ATTRIBUTES)
        return AsyncMemberFile(await self.open_member(name, size_hint=size_hint, part_size=part_size,
                                                      timeout=timeout, **how))

    async def open(self, *, last: str | None = None) -> AsyncSetReader:
        """Checks whether the set is complete, and opens it.

        Arguments, Raises: as of CheckpointSet.open().
        """
        found: AsyncSetReader = await self._client._run(self._open(last, AsyncSetReader))
        return found

    def over(self, text: str) -> AsyncCheckpointSet:
        """The same set, whose members and commit are those of a save over it. Sends nothing.

        Arguments, Raises: as of CheckpointSet.over().
        """
        return self._of_text(text)


class OpenSet:
    """What an open set is for the blocking client and for the asynchronous one."""

    def __init__(self, client, bucket, made):
        import json

        self._client = client
        self._bucket = bucket
        self._set = made
        self._process = _wait._process
        text, error = Pointer(), ErrorHandle()
        checked(library.set_reader_json(made, byref(text), byref(error)), error)
        self._known = json.loads(text_at(text.value))
        self._members = None

    def _usable(self):
        if self._process != _wait._process:
            raise PreconditionError(f"{self.url}: a set that is open belongs to its process, and "
                                    "this is a forked child of it: open the set again")
        return self._set

    @property
    def url(self) -> str:
        """gs://bucket/prefix"""
        return url_of(self._bucket.decode(), self._known["prefix"])

    @property
    def last(self) -> str:
        """The name of its last object."""
        return self._known["last"]

    def _object_of(self, name):
        """The name of the object that a member is, or the last one."""
        known = self._known
        last = name == known["last"] and all(row["name"] != name for row in known["members"])
        return (known["prefix"] if last else known["members_folder"]).encode() + name.encode()

    @property
    def committed(self) -> datetime:
        """When it was committed, by the service's clock."""
        return time_of(self._known["committed"])

    @property
    def bytes(self) -> int:
        """Of all members."""
        return int(self._known["bytes"])

    @property
    def members(self) -> tuple[Member, ...]:
        """In order of names."""
        if self._members is None:
            import base64

            self._members = tuple(
                Member(name=row["name"], size=int(row["size"]), generation=int(row["generation"]),
                       crc32c=int.from_bytes(base64.b64decode(row["crc32c"]), "big"))
                for row in self._known["members"])
        return self._members

    @property
    def passed_over(self) -> tuple[SetInfo, ...]:
        """Newer sets that latest_set() found damaged, the newest first, each with its `why`."""
        return tuple(info_of(row, self._bucket.decode()) for row in self._known.get("passed_over", ()))

    def __reduce__(self):
        raise TypeError("a set that is open belongs to its process, and is not pickled: carry its url, and open it "
                        "there again by client.checkpoint_set(url).open()")

    def __repr__(self) -> str:
        return (f"<dataflux.{type(self).__name__} {self.url}, {len(self._known['members'])} members, "
                f"{self.bytes} bytes>")


class SetReader(OpenSet):
    """A complete set as it was when it was opened. Threads: any."""

    def reader(self, name: str, *, block: int = 0, cache: int = 0,
               timeout: float | None = None) -> MemberReader:
        """Opens a member, or the last object, for reads.

        Arguments:
            name: of the member, or `last`.
            block, cache, timeout: as of Client.reader().

        Raises: NotFoundError for a name of neither.
        """
        return MemberReader(self, name, block, cache, timeout)

    def open(self, name: str, *, block: int = 0, cache: int = 0, read_ahead: int = READ_AHEAD,
             timeout: float | None = None) -> FileReader:
        """Opens a member, or the last object, as a file that is read, as Client.open() gives one with
        mode "rb": for whatever loads from files, such as torch.load and numpy.load.

        Arguments:
            name: of the member, or `last`.
            block, cache, read_ahead, timeout: as of Client.open().

        Raises: NotFoundError for a name of neither.
        """
        ahead = count_of(read_ahead, "read_ahead")
        return FileReader(self.reader(name, block=block, cache=cache, timeout=timeout), ahead)


class AsyncSetReader(OpenSet):
    """A complete set as it was when it was opened. Any number of tasks use it."""

    async def reader(self, name: str, *, block: int = 0, cache: int = 0,
                     timeout: float | None = None) -> AsyncMemberReader:
        """Opens a member, or the last object, for reads.

        Arguments, Raises: as of SetReader.reader().
        """
        made = AsyncMemberReader(self, name, block, cache, timeout)
        await self._client._run(made._opened())
        return made

    async def open(self, name: str, *, block: int = 0, cache: int = 0, read_ahead: int = READ_AHEAD,
                   timeout: float | None = None) -> AsyncFileReader:
        """Opens a member, or the last object, as a file that is read, as AsyncClient.open() gives one
        with mode "rb".

        Arguments, Raises: as of SetReader.open().
        """
        ahead = count_of(read_ahead, "read_ahead")
        return AsyncFileReader(await self.reader(name, block=block, cache=cache, timeout=timeout), ahead)


def with_warning(found):
    """The set; warns the caller of latest_set() where newer ones are damaged."""
    damaged = found.passed_over
    if damaged:
        import warnings

        warnings.warn(f"{found.url} was opened, and is not the newest: {len(damaged)} newer "
                      f"{'set is' if len(damaged) == 1 else 'sets are'} damaged, the newest of them "
                      f"{damaged[0].prefix}: {damaged[0].why}", RuntimeWarning, stacklevel=3)
    return found


def opening_latest(client, url, timeout, kind):
    """The call that opens the newest complete set below a prefix."""
    options, bucket = _set_options(client, url, timeout)
    return Call(lambda handle, queue, tag, out, err:
                library.latest_set(handle, byref(options), queue, tag, out, err),
                lambda operation, record: kind(client, bucket, _take(operation, record)))


class SetVerbs:
    """What a client does with sets."""

    def checkpoint_set(self, url: Place, *, timeout: float | None = None) -> CheckpointSet:
        """A set below a prefix, to be saved or opened. Sends nothing.

        Arguments:
            url: "gs://bucket/prefix", or (bucket, prefix): a folder, with or without its slash.
            timeout: seconds for each call but those of members; None = no limit.
        """
        return CheckpointSet(self, url, timeout)

    def latest_set(self, url: Place, *, timeout: float | None = None) -> SetReader:
        """Opens the newest complete set below a prefix, by the time of its commit. Where newer sets are
        damaged it warns (RuntimeWarning), and the set's `passed_over` has them.

        Raises: NotFoundError when there is no set; DataLossError when all sets are damaged.
        """
        return with_warning(self._run(opening_latest(self, url, timeout, SetReader)))

    def list_sets(self, url: Place, *, timeout: float | None = None) -> Sets:
        """The sets below a prefix, which may be a whole bucket; and what saves over sets have open, which is
        billed without being an object."""
        options, bucket = _set_options(self, url, timeout)
        name = bucket.decode()

        def finish(operation, record):
            known = json_of(operation)
            why = known.get("uploads_unknown")
            return Sets(**{kind: tuple(info_of(row, name) for row in known[kind])
                           for kind in ("complete", "damaged", "unfinished")},
                        uploads_unknown=why and Error(why, bucket=name))

        return self._run(Call(
            lambda client, queue, tag, out, err:
                library.list_sets(client, byref(options), queue, tag, out, err), finish))

    def keep_last_sets(self, url: Place, count: int, *,
                       remove_unfinished_older_than: float | None = None,
                       timeout: float | None = None) -> RemovedSets:
        """Removes the oldest complete sets below a prefix, by the time of their commits. Killed at
        any moment, it leaves a set whole or no set.

        Arguments:
            url: "gs://bucket/prefix"; the prefix is not empty.
            count: complete sets that stay, the newest.
            remove_unfinished_older_than: seconds: unfinished sets for which nothing was written for
                longer go, with what is open for them; more than a save takes. None = they stay.
            timeout: seconds for the whole call; None = no limit.
        """
        bucket, prefix = _named(self, url)
        options = struct("keep_last_options", bucket=bucket, prefix=prefix,
                         count=count_of(count, "count", 1), timeout_ns=nanoseconds(timeout),
                         remove_unfinished_older_than_ns=nanoseconds(
                             remove_unfinished_older_than, "remove_unfinished_older_than"))
        return self._run(Call(
            lambda client, queue, tag, out, err:
                library.keep_last_sets(client, byref(options), queue, tag, out, err),
            removal(bucket.decode())))

    def remove_sets(self, url: Place, *, timeout: float | None = None) -> RemovedSets:
        """Removes all that lies below a prefix, which is not empty, last objects first, and aborts what
        uploads are open there. What could not be removed is among the `failures`."""
        _named(self, url)
        options, bucket = _set_options(self, url, timeout)
        return self._run(Call(
            lambda client, queue, tag, out, err:
                library.remove_sets(client, byref(options), queue, tag, out, err),
            removal(bucket.decode())))


def _named(client, url):
    bucket, prefix = client._prefix_place(url)
    if not prefix:
        raise ValueError(f"url: {url!r} names no prefix: it has the form gs://bucket/prefix")
    return bucket, prefix


def _set_options(client, url, timeout):
    bucket, prefix = client._prefix_place(url)
    return struct("set_options", bucket=bucket, prefix=prefix,
                  timeout_ns=nanoseconds(timeout)), bucket
