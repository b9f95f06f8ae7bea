"""ShardWriter and AsyncShardWriter: samples, written into tar shards by a thread, or by a task."""

from __future__ import annotations

from ctypes import c_int32
from struct import Struct

from . import _abi
from ._calls import Call, checked, json_of, taker
from ._errors import Error
from ._forms import awaiting, blocking
from ._handles import ErrorHandle, handle
from ._lent import Lent
from ._library import byref, library, struct
from ._loops import aside, current
from ._place import count_of, flag_of
from ._reports import ResumedShards, WrittenShard, WrittenShards
from ._writer import Life, abort_in_task, abort_quietly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from ._calls import Caller
    from ._object import Place

ShardWriterHandle = handle("shard_writer")
_take_writer = taker("shard_writer", ShardWriterHandle)
_FIELD = Struct("QQQQ")  # of dataflux_field_bytes, all of whose members have eight bytes
_MOST_NAMES = 4096  # that are kept


def _taken(operation, record):
    found = ResumedShards(**json_of(operation))  # of the writer, as long as it is not taken
    return _take_writer(operation, record), found


def opening(bucket, pattern, count, bytes, first, rank, ranks, resume):
    """The call that opens one: it gives a ShardWriterHandle, and what is there."""
    options = struct("shard_writer_options", bucket=bucket, pattern=pattern,
                     count=count_of(count, "count", 0, 64), bytes=count_of(bytes, "bytes", 0, 64),
                     first=count_of(first, "first", 0, 63), rank=count_of(rank, "rank", 0, 32),
                     ranks=count_of(ranks, "ranks", 1, 32), resume=flag_of(resume, "resume"))
    return Call(lambda client, queue, tag, out, err:
                library.shard_writer_open(client, byref(options), queue, tag, out, err), _taken)


class _Body(Life):
    """What both writers are.

    written  what finish() has returned; None before
    _state   opening, open, broken (it can only be aborted), committed (finished), aborted
    """

    written: WrittenShards | None = None
    _wait = 1
    _samples = 0

    def _of_shards(self, client, url):
        bucket, pattern, _ = client._object_place(url)
        self._of_client(client, bucket, pattern)
        self._names = {}  # of fields: their bytes, which stay where they are
        self._room = bytearray(16 * _FIELD.size)
        self._resumed = ResumedShards(shards=0, samples=0, bytes=0)

    async def _opened_behind(self, call):
        self._writer, self._resumed = await call
        return self._is_open()

    @property
    def resumed(self) -> ResumedShards:
        """What was there when it was opened, with resume=True: go on with the sample of number
        `resumed.samples`."""
        return self._resumed

    @property
    def samples(self) -> int:
        """Samples that were written so far, without those of before."""
        return self._samples

    def _aborting(self, *where):
        return library.shard_writer_abort(self._writer, *where)

    def _name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"the name of a field is a str, and not a {type(name).__name__}")
        known = self._names.get(name)
        if known is None:
            if len(self._names) >= _MOST_NAMES:
                self._names.clear()
            known = self._names[name] = Lent(name.encode("utf-8", "surrogateescape"), "name")
        return known

    def _lent(self, sample, lent):
        """The key, and the fields in `_room`; their memory goes into `lent`."""
        try:
            key = sample["__key__"]
        except (KeyError, TypeError, IndexError):
            raise ValueError("sample: a dict with a \"__key__\" is needed") from None
        if not isinstance(key, str):
            raise TypeError(f"\"__key__\" is a str, and not a {type(key).__name__}")
        fields = []
        for name, value in sample.items():
            if not isinstance(name, str):
                raise TypeError(f"a field's name is a str, and not a {type(name).__name__}: {name!r}")
            if name[:2] == "__" == name[-2:]:
                continue
            known = self._name(name)
            if isinstance(value, str):
                value = value.encode()
            try:
                memory = Lent(value, name)
            except TypeError as why:
                raise TypeError(f"{why}; what is no bytes is to be encoded before") from None
            lent.append(memory)
            lent.append(known)  # kept where _names forgets it
            fields += known.address, known.size, memory.address or 0, memory.size
        if len(self._room) < 8 * len(fields):
            self._room = bytearray(16 * len(fields))
        Struct(f"{len(fields)}Q").pack_into(self._room, 0, *fields)
        return key.encode("utf-8", "surrogateescape"), len(fields) // 4

    async def _write(self, sample: Mapping[str, object]) -> None:
        """Appends a sample, a dict: "__key__", and of each field its bytes, or a str, which is
        written as UTF-8. Other names that begin and end with "__", such as "__url__", are left
        out. Waits for room while all of the client's `upload_memory` is in use.

        Raises: TypeError and ValueError for what is no such dict, and InvalidArgumentError for what
            would not be read back as it is: a key with a dot in its last component, a field with
            capitals, the key of the sample before. Nothing is written then. Any other error ends the
            writer: PreconditionError where the shard is there already, or somebody else writes it;
            what a part has failed with. So does a KeyboardInterrupt or a cancellation of a write
            that waits: then it can only be aborted.
        """
        with self._entered():
            self._usable()
            lent, cut = [], False  # cut: it was left while the core may hold the memory of the sample
            try:
                key, count = self._lent(sample, lent)
                with Lent(self._room) as fields:
                    cut = True
                    await self._all(library.shard_writer_write, key, len(key), fields.address, count)
                self._samples += 1
                cut = False
            except Error:
                cut = False  # nothing was taken, or the core has ended the writer
                raise
            finally:
                if cut and self._state == "open":
                    self._state, self._why = "broken", "a write was interrupted"
                for memory in lent[::2]:
                    memory.release()

    async def _all(self, call, *what):
        """Calls until all is done."""
        done = c_int32()
        while True:
            error = ErrorHandle()
            status = call(self._writer, *what, self._wait, byref(done), byref(error))
            if status and status != _abi.INTERRUPTED:
                self._client._checked(status, error)
            if done.value:
                return
            await self._until_room()

    async def _until_room(self):
        """Waits until it can go on."""

    async def _finish(self) -> WrittenShards:
        """Makes the last shard appear. Leaving the `with` does so, too.

        Returns: which shards were written, and what made each end: `written` from then on.
        Raises: what the writer has failed with; then the open shard is discarded.
        """
        with self._entered():
            self._usable()
            end = "aborted"  # it is over, whatever comes of it
            try:
                await self._all(library.shard_writer_end)
                written = await Call(
                    lambda client, queue, tag, out, err:
                        library.shard_writer_finish(self._writer, queue, tag, out, err), self._written)
                end = "committed"
                self.written = written
                return written
            finally:
                self._end(end)

    def _written(self, operation, record):
        known = json_of(operation)
        shards = [WrittenShard(bucket=self._of[0].decode(), **each) for each in known["shards"]]
        return WrittenShards(shards=tuple(shards), samples=known["samples"], bytes=known["bytes"],
                             resumed=ResumedShards(**known["resumed"]))

    def __repr__(self) -> str:
        return f"<dataflux.{type(self).__name__} {self.url}, {self._samples} samples, {self._state}>"


class ShardWriter(_Body):
    """Samples that are being written into tar shards, as WebDataset reads them.

        with client.shard_writer("gs://bucket/train-%06d.tar", count=10_000, bytes=1 << 30) as shards:
            for key, image, label in ...:
                shards.write({"__key__": key, "jpg": image, "cls": str(label)})

    A shard appears whole, with its index entry beside it (NAME.dfx), and is never put over one that is
    there. Leaving the `with` makes the last one appear; an exception that passes discards the shard that
    is open, and so does letting go of the writer, with a ResourceWarning. The same samples give the same
    bytes. `written` is what finish() has returned, behind the `with`, too.

    Made by Client.shard_writer(). Threads: one at a time uses a writer.
    """

    def __init__(self, client: Caller, url: Place, *, count: int = 0, bytes: int = 0, first: int = 0,
                 rank: int = 0, ranks: int = 1, resume: bool = False) -> None:
        self._of_shards(client, url)
        client._run(self._opened_behind(opening(*self._of, count, bytes, first, rank, ranks, resume)))

    def _free(self):
        self._writer.free()

    def _give_up(self):
        abort_quietly(self)

    write = blocking(_Body._write)
    finish = blocking(_Body._finish)
    abort = blocking(_Body._abort)

    def __enter__(self) -> Self:
        self._usable()
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        if kind is not None:
            abort_quietly(self)
        elif not self.closed:
            try:
                self.finish()
            except BaseException:
                abort_quietly(self)
                raise

    def __del__(self):
        if self._state in ("open", "broken") and not self.forked:
            self.left_open(self)
            abort_quietly(self)


class AsyncShardWriter(_Body):
    """Samples that are being written into tar shards, as WebDataset reads them.

        async with await client.shard_writer("gs://bucket/train-%06d.tar", count=10_000) as shards:
            await shards.write({"__key__": key, "jpg": image})

    As ShardWriter: leaving the `async with` makes the last shard appear; an exception that passes,
    cancellation for one, discards the one that is open. After a write that was cancelled it can only be
    aborted. Made by AsyncClient.shard_writer(). One task at a time uses it.
    """

    _who, _wait = "task", 0

    def __init__(self, client: Caller, url: Place) -> None:
        self._of_shards(client, url)

    def _free(self):
        # That of a writer whose last call was cancelled may wait.
        aside(self._writer.moved().free)

    def _give_up(self):
        self._state = "aborted"  # at the interpreter's end no thread would be waited for
        self._writer.free()

    write = awaiting(_Body._write)
    finish = awaiting(_Body._finish)
    abort = awaiting(_Body._abort)

    async def _until_room(self):
        await current().told(self._notify)

    def _notify(self, queue, tag):
        error = ErrorHandle()
        checked(library.shard_writer_notify(self._writer, queue, tag, byref(error)), error)

    async def __aenter__(self) -> Self:
        self._usable()
        return self

    async def __aexit__(self, kind: object, value: object, traceback: object) -> None:
        if self.closed:
            return
        if kind is None:
            await self.finish()
        else:
            await abort_in_task(self, value)

    def __del__(self):
        if self._state in ("open", "broken") and not self.forked:
            self.left_open(self)
            self._end("aborted")


class ShardWriterVerbs:
    """What a client does to write tar shards."""

    def shard_writer(self, url: Place, *, count: int = 0, bytes: int = 0, first: int = 0, rank: int = 0,
                     ranks: int = 1, resume: bool = False) -> ShardWriter:
        """Opens a writer of tar shards.

            with client.shard_writer("gs://bucket/train-%06d.tar", count=10_000) as shards:
                shards.write({"__key__": "0001", "jpg": image, "cls": "7"})

        Arguments:
            url: "gs://bucket/pattern", with one number with leading zeros, such as %06d.
            count: most samples of a shard; 0 = no such limit.
            bytes: most bytes of its archive; 0 = no such limit. One of the two is needed; a shard ends
                before the sample that would pass one. A sample that is larger is a shard by itself.
            first: the first number.
            rank, ranks: of several writers each has its rank, and writes the numbers first + rank, first
                + rank + ranks and so on: they need not know of each other.
            resume: go on behind the shards of this rank that are there. `resumed` tells how many samples
                those have; write again from behind them, and the shards are those of one run.

        Raises: ValueError and InvalidArgumentError for a bad argument, before any request. When
            resuming: PreconditionError where a shard lacks its index entry, or one is missing before
            another.
        """
        return ShardWriter(self, url, count=count, bytes=bytes, first=first, rank=rank, ranks=ranks,
                           resume=resume)
