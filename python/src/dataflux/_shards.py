"""Samples of tar shards in WebDataset's convention: their index, and reading them by number."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from itertools import islice
from operator import index as whole_number
from struct import Struct

from . import _abi, _errors
from ._calls import Call, calling, checked, forget, json_of, taker, watched
from ._columns import ListingHandle, Table
from ._errors import PreconditionError, after
from ._get_many import AsyncGetMany, GetMany
from ._handles import ErrorHandle, handle
from ._library import Pointer, Size, byref, kind_of, library, struct
from ._listing import Listing, RowFeed, numbers_of
from ._place import count_of, cut_bucket, flag_of, named, nanoseconds, one_of, scheme_of_told, url_of
from ._reports import (SHARD_COUNTS, IndexedSample, IndexedShard, IndexedShards, VerifiedShards,
                       WrongShard)
from ._shard_lists import ShardNames, shards_of
from ._transfer import path_of, wanted
from ._verbs_list import listing_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from typing import Any, Dict, List, Literal, Union

    from ._object import Place
    from ._progress import Progress
    from ._reports import UploadedFile
    from ._shard_join import ShardJoin
    from ._transfer import Path

    # "__key__", "__url__", and of each field its bytes; of one that failed "__error__".
    Sample = Dict[str, Any]
    Numbers = Union[Sequence[int], Iterable[int], "array[int]"]

ShardIndexHandle = handle("shard_index")
_take_listing = taker("listing", ListingHandle)
_FIELD = Struct("".join(letter for _, letter in _abi.STRUCTS["sample_field"]).replace("s", "Q"))
_MOST_NAMES = 4096  # that are kept
_SOME = 256  # numbers that are taken from an iterable at once


def reading_rules(concatenated, trailing, damaged, keep_case, strip_dot_slash, repeated):
    """How shards are read, as members of the structs that say so."""
    return {"read_concatenated": one_of(concatenated, "concatenated", ("error", "read")) == "read",
            "ignore_trailing": one_of(trailing, "trailing", ("error", "ignore")) == "ignore",
            "end_at_damage": one_of(damaged, "damaged", ("error", "end")) == "end",
            "keep_case": flag_of(keep_case, "keep_case"),
            "strip_dot_slash": flag_of(strip_dot_slash, "strip_dot_slash"),
            "keep_first": one_of(repeated, "repeated", ("error", "keep_first")) == "keep_first"}


def _room(size):
    """Memory, and how the library is told of it."""
    import ctypes

    memory = bytearray(size)
    return memory, byref(ctypes.c_char.from_buffer(memory))


class _Shards(Sequence["IndexedShard"]):
    """The shards of an index, as they were indexed."""

    __slots__ = ("_index", "_count")

    def __init__(self, index, count):
        self._index = index
        self._count = count

    def __len__(self):
        return self._count

    def __getitem__(self, number):
        if isinstance(number, slice):
            return [self._index._shard(each) for each in range(self._count)[number]]
        try:
            place = range(self._count)[number]
        except IndexError:
            raise IndexError(f"shard {number} of {self._count}") from None
        return self._index._shard(place)

    def __repr__(self):
        return f"<{self._count} shards of {self._index.bucket}>"


class ShardIndex:
    """Where the samples of a data set of tar shards lie: a file, which index_shards() makes.

        index = dataflux.ShardIndex.open("train.dfx")
        for sample in client.get_samples(index, dataflux.Sampler(len(index), seed=7)):
            use(sample["__key__"], sample["jpg"])

    Its length is the number of samples. The file must stay as it is while it is in use; making the
    index again replaces it. Immutable; any thread, and a forked child, too. A pickle has the path, and
    opens it where it is read; it refuses an index that was made again meanwhile.
    """

    __slots__ = ("_path", "_handle", "_info", "_names", "__weakref__")
    _scheme = scheme_of_told

    def __init__(self, path: str, handle: Any, info: Dict[str, Any]) -> None:
        self._path = path
        self._handle = handle
        self._info = info
        self._names: Dict[Any, str] = {}

    @classmethod
    def open(cls, path: Path) -> ShardIndex:
        """Opens an index: maps the file, and reads its end.

        Raises: FileNotFoundError and other OSErrors; InvalidArgumentError for what is no index;
        DataLossError for one that is damaged. What is damaged inside is told when it is used.
        """
        return _opened(os.path.abspath(path_of(path)))

    @property
    def path(self) -> str:
        """Where its file is."""
        return self._path

    @property
    def bucket(self) -> str:
        """Where the shards are."""
        bucket: str = self._info["bucket"]
        return bucket

    @property
    def digest(self) -> int:
        """The same number for the same index, and others for others, even of the same shards."""
        digest: int = self._info["digest"]
        return digest

    @property
    def summary(self) -> Dict[str, Any]:
        """What was indexed, how, and when: "scheme" (of the service: "gs" or "s3"), "bucket", "taken" (a time
        by RFC 3339), "options" (pairs of name and value), "shards", "samples", "digest", and "bytes", which
        the index has itself."""
        return dict(self._info)

    @property
    def shards(self) -> Sequence[IndexedShard]:
        """The shards, in the order in which their samples are numbered."""
        return _Shards(self, self._info["shards"])

    def __len__(self) -> int:
        samples: int = self._info["samples"]
        return samples

    def __bool__(self) -> bool:
        return True

    def sample(self, number: int) -> IndexedSample:
        """Where a sample lies.

        Arguments:
            number: from 0; below 0 it is counted from the end, as of any sequence.

        Raises: IndexError; DataLossError where the file is damaged there.
        """
        try:
            asked = whole_number(number)
        except TypeError:
            raise TypeError(f"number: a whole number is needed, and not a {type(number).__name__}") \
                from None
        if not -len(self) <= asked < len(self):
            raise IndexError(f"sample {asked} of {len(self)}")
        asked %= len(self)
        columns = {name: array(letter, [0]) for name, letter in
                   (("shards", "Q"), ("offsets", "Q"), ("sizes", "Q"), ("crc32c", "I"), ("has_crc32c", "B"))}
        self._columns(array("Q", [asked]), columns)
        shard, offset, size, crc32c, known = (column[0] for column in columns.values())
        return IndexedSample(shard=shard, offset=offset, size=size, crc32c=crc32c if known else None,
                             fields=self._fields(asked))

    def find(self, key: str) -> List[int]:
        """The numbers of the samples that have a key, which may come again: none, one or more.

        Raises: DataLossError where the file is damaged.
        """
        if not isinstance(key, str):
            raise TypeError(f"key: a str is needed, and not a {type(key).__name__}")
        text = key.encode("utf-8", "surrogateescape")
        room = 1
        while True:
            numbers, count, error = array("Q", bytes(8 * room)), Size(), ErrorHandle()
            checked(library.shard_index_find(self._handle, text, len(text), numbers.buffer_info()[0], room,
                                             byref(count), byref(error)), error)
            if count.value <= room:
                return numbers[:count.value].tolist()
            room = count.value

    def join(self, other: ShardIndex, *, kind: Literal["inner", "left"] = "inner",
             repeated: Literal["refuse", "all_pairs"] = "refuse", prefix: str | None = None) -> ShardJoin:
        """Which samples of this index and of another one have the same key. Reads no sample: some 100 ns each,
        and 17 bytes for each sample of the other one while it runs.

        Arguments:
            kind: "inner": samples whose key both have; "left": all of this index, without the other's
                fields where it has none.
            repeated: a key that both have, and one of them more than once: "refuse" it, or give
                "all_pairs" of its samples.
            prefix: what stands before the other's fields in a sample. None = nothing: then a field that
                both have is an error of the sample.

        Raises: PreconditionError for a key that comes again; DataLossError where an index is damaged.
        """
        from ._shard_join import joined

        return joined(self, other, kind, repeated, prefix)

    def _columns(self, numbers, columns):
        """Fills columns, which are arrays, of samples."""
        made = struct("sample_columns", **{name: column.buffer_info()[0]
                                           for name, column in columns.items()})
        error = ErrorHandle()
        checked(library.shard_index_samples(self._handle, numbers.buffer_info()[0], len(numbers),
                                            byref(made), byref(error)), error)

    def _fields(self, number):
        room = 16
        while True:
            (memory, at), count, error = _room(room * _FIELD.size), Size(), ErrorHandle()
            checked(library.shard_index_fields(self._handle, number, at, room, byref(count),
                                               byref(error)), error)
            if count.value <= room:
                return {name: (offset, size) for name, offset, size in self._named(memory, count.value)}
            room = count.value

    def _named(self, fields, count):
        """(name, offset, size) of fields as the library gives them."""
        names = self._names
        for address, length, offset, size in _FIELD.iter_unpack(memoryview(fields)[:count * _FIELD.size]):
            name = names.get((address, length))
            if name is None:
                import ctypes

                name = ctypes.string_at(address, length).decode("utf-8", "surrogateescape")
                if len(names) >= _MOST_NAMES:
                    names.clear()
                names[address, length] = name
            yield name, offset, size

    def _shard(self, number):
        import ctypes

        raw, error = kind_of("indexed_shard")(), ErrorHandle()
        checked(library.shard_index_shard(self._handle, number, byref(raw), ctypes.sizeof(raw),
                                          byref(error)), error)
        # `name` is declared a text, which ctypes would copy up to a NUL that is not there.
        address = Pointer.from_buffer(raw, type(raw).name.offset).value
        return IndexedShard(
            bucket=self.bucket, name=ctypes.string_at(address, raw.name_size).decode(), size=raw.size,
            generation=raw.generation, crc32c=raw.crc32c if raw.has_crc32c else None,
            first_sample=raw.first_sample, samples=raw.samples, checksummed=bool(raw.checksummed),
            **{name: getattr(raw, name) for name in SHARD_COUNTS})

    def energon_index(self, shard: int) -> bytes:
        """What Energon has in "NAME.tar.idx" beside a shard: where its samples begin, and the last ends.

        Arguments:
            shard: its number.

        Raises: IndexError; DataLossError where the file is damaged there.
        """
        row = self.shards[shard]
        offsets, sizes = (array("Q", bytes(8 * row.samples)) for _ in range(2))
        self._columns(array("Q", range(row.first_sample, row.first_sample + row.samples)),
                      {"offsets": offsets, "sizes": sizes})
        offsets.append(offsets[-1] + sizes[-1] if row.samples else 0)
        return offsets.tobytes()  # no machine of the other byte order has an index

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, ShardIndex) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (f"<dataflux.ShardIndex of {self.bucket}: {len(self)} samples in {len(self.shards)} "
                f"shards, indexed {self._info['taken']}>")

    def __copy__(self):
        return self  # immutable

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _again, (self._path, self.digest)


def _opened(path):
    """The index of a path, as bytes."""
    import ctypes
    import json

    made, raw, error = ShardIndexHandle(), kind_of("shard_index_info")(), ErrorHandle()
    checked(library.shard_index_open(path, byref(made), byref(error)), error)
    checked(library.shard_index_describe(made, byref(raw), ctypes.sizeof(raw), byref(error)), error)
    told = json.loads(raw.json)
    info = {"bucket": named(raw.bucket.decode(), told["scheme"]), "shards": raw.shards, "samples": raw.samples,
            "bytes": raw.bytes, "digest": raw.digest, **told}
    return ShardIndex(os.fsdecode(path), made, info)


def _again(path, digest):
    made = ShardIndex.open(path)
    if made.digest != digest:
        raise PreconditionError(f"{path}: the index was made again since it was pickled: pickle the new one")
    return made


class SampleFeed(RowFeed):
    """Numbers of samples for a stream, from an array, or from an iterable that may have no end."""

    def __init__(self, index, numbers):
        self._index = index
        if isinstance(numbers, (str, bytes)) or not hasattr(numbers, "__iter__"):
            raise TypeError(f"numbers: numbers of samples are needed, and not a {type(numbers).__name__}")
        at_once = isinstance(numbers, (list, tuple, array)) or hasattr(numbers, "tolist")
        self._begin(index.bucket, [_checked(numbers, index)] if at_once else _stretches(numbers, index))
        self.total = len(numbers) if hasattr(numbers, "__len__") else None

    _handle = None

    def _push(self, getter, *where):
        return library.getter_push_samples(getter, self._index._handle, *where)


def _checked(numbers, index):
    return numbers_of(numbers, len(index), "numbers", "sample")


def _stretches(numbers, index):
    """Arrays of the numbers that an iterable gives."""
    numbers = iter(numbers)
    while some := list(islice(numbers, _SOME)):
        yield _checked(some, index)


class _Batches(GetMany):
    """Batches of samples: what get_many() gives of their bytes, taken apart."""

    _verb, _unit, _shown_as = "get_samples", "samples", "GetSamples"

    def __init__(self, client, index, numbers, **how):
        self._index = _index_of(index)
        self._urls = {}  # by shard
        self._numbers = {}  # of shards, by URL
        feed = numbers if isinstance(numbers, SampleFeed) else SampleFeed(index, numbers)
        super().__init__(client, feed, compose=False, batch=256, **how)

    def _items(self, taken, exporters):
        items = super()._items(taken, exporters)
        if not items:
            return items
        numbers = array("Q", [item.row for item in items])
        shards = array("Q", bytes(8 * len(numbers)))
        self._index._columns(numbers, {"shards": shards})
        made, splitter = [], Splitter(self._index)
        for item, number, shard in zip(items, numbers, shards):
            sample = {"__key__": None, "__url__": self._urls.get(shard) or self._url(shard)}
            error = item.error
            if error is None and (error := splitter.split(number, item.data, sample)) is not None:
                splitter.forget(self._client, number, error)
            if error is None:
                made.append(sample)
            elif self._on_error == "return":
                made.append({"__url__": sample["__url__"], "__index__": number, "__error__": error})
            elif self._on_error == "omit":
                with self._counting:
                    self._omitted += 1
            else:
                self._over = after(error, "")  # in place of what came behind it, and failed, too
                self._end()
                break
        return made

    def _url(self, shard):
        url = self._urls[shard] = url_of(self._index.bucket, self._index._shard(shard).name)
        self._numbers[url] = shard
        return url

    def shard_of(self, url):
        """That of a sample which was given."""
        return self._index._shard(self._numbers[url])


class Splitter:
    """Takes bytes of samples apart, with room for what it is told of them."""

    __slots__ = ("_index", "_fields", "_key", "_field_count", "_key_size", "_where")

    def __init__(self, index):
        self._index = index
        self._field_count, self._key_size = Size(), Size()
        self._make_room(32, 256)

    def _make_room(self, fields, key):
        self._fields, fields_at = _room(fields * _FIELD.size)
        self._key, key_at = _room(key)
        self._where = (fields_at, fields, byref(self._field_count), key_at, key, byref(self._key_size))

    def told(self, number, at, size):
        """(key, what the library tells of the fields) of a sample whose bytes are there; the Error of bytes that are of
        no such one. The same is told of fields with the same names and places."""
        error = ErrorHandle()
        while True:
            if library.shard_index_split(self._index._handle, number, at, size, *self._where, byref(error)):
                return _errors.taken(error)
            fields, key = self._field_count.value * _FIELD.size, self._key_size.value
            if fields <= len(self._fields) and key <= len(self._key):
                return self._key[:key].decode("utf-8", "surrogateescape"), self._fields[:fields]
            self._make_room(fields // _FIELD.size, key)

    def places(self, fields):
        """(name, begin, length) of the fields that were told of."""
        return self._index._named(fields, len(fields) // _FIELD.size)

    def split(self, number, data, sample):
        """Puts key and fields into the sample. Gives the Error of bytes that are of no such one."""
        import ctypes

        told = self.told(number, byref(ctypes.c_char.from_buffer(data)), len(data))
        if not isinstance(told, tuple):
            return told
        sample["__key__"], fields = told
        for name, begin, length in self.places(fields):
            sample[name] = data[begin:begin + length]
        return self._passing_for_error(sample) if "__error__" in sample else None

    def forget(self, client, number, why):
        """split() has failed: where the bytes were of no such sample, no cache is to give them again."""
        if why.status != "data_loss":
            return
        of = self._index._shard(self._index.sample(number).shard)
        forget(client, self._index.bucket.encode(), of.name.encode(), of.generation)

    def _passing_for_error(self, sample):
        """Whoever looks for "__error__" takes the sample for one that has failed: so it does."""
        url = sample["__url__"]
        return _errors.of_status(
            "invalid_argument", f"{url}: the sample {sample['__key__']!r} has the field '__error__', by which samples "
            "that have failed are told: rename the member", bucket=self._index.bucket,
            object=cut_bucket(url.partition("://")[2])[2])


class GetSamples:
    """Samples, one by one: an iterator of dicts.

    "__key__"   the archive's name of the sample
    "__url__"   its shard
    others      of each field the bytes, as a memoryview: what Item.data is

    Reads go ahead of the consumer within the client's `memory_cap`, as those of get_many(). It is a
    context manager: close() ends what is under way, and so does letting go of it. Once it has failed
    every next step fails, too, until close().

    Threads: any number take samples from it, each another one. In a forked child it is
    PreconditionError.
    """

    def __init__(self, batches: Any) -> None:
        self._batches = batches
        self._each = batches.items()

    @property
    def omitted(self) -> int:
        """How many samples have failed and were left out, with on_error="omit"."""
        omitted: int = self._batches.omitted
        return omitted

    def __iter__(self) -> Iterator[Sample]:
        return self

    def __next__(self) -> Sample:
        sample: Sample = next(self._each)
        return sample

    def close(self) -> None:
        """Ends what is under way; no more samples come, nor what it has failed with. Again it does
        nothing. Any thread."""
        self._each = iter(())
        self._batches.close()

    def __enter__(self) -> GetSamples:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._batches)

    def __reduce__(self):
        return self._batches.__reduce__()


class _NoMore:
    def __aiter__(self):
        return self

    async def __anext__(self):
        raise StopAsyncIteration


class AsyncGetSamples:
    """Samples, one by one: an asynchronous iterator of dicts.

    "__key__"   the archive's name of the sample
    "__url__"   its shard
    others      of each field the bytes, as a memoryview: what Item.data is

    Reads go ahead of the consumer within the client's `memory_cap`, as those of get_many(). `async with`
    ends what is under way; so does letting go of it. Once it has failed every next step fails, too. One
    that was cancelled while it waited has lost nothing, and can go on.

    One task at a time takes from it. In a forked child it is PreconditionError.
    """

    def __init__(self, batches: Any) -> None:
        self._batches = AsyncGetMany(batches)
        self._each: AsyncIterator[Any] = self._batches.items()

    @property
    def omitted(self) -> int:
        """How many samples have failed and were left out, with on_error="omit"."""
        return self._batches.omitted

    def __aiter__(self) -> AsyncIterator[Sample]:
        return self

    async def __anext__(self) -> Sample:
        sample: Sample = await self._each.__anext__()
        return sample

    def close(self) -> None:
        """Ends what is under way; no more samples come, nor what it has failed with. Again it does
        nothing."""
        self._each = _NoMore()
        self._batches.close()

    async def aclose(self) -> None:
        """The same as close(), which does not wait."""
        self.close()

    async def __aenter__(self) -> AsyncGetSamples:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._batches)

    def __reduce__(self):
        return self._batches.__reduce__()


def sample_batches(client, index, numbers, **how):
    """Batches of samples, as get_many() gives batches of items."""
    return _Batches(client, index, numbers, **how)


_SHARD_NAMES = r"\.tar(\.dfx)?$"  # and the indexes that a writer has put beside them


def _verified(index, on_error):
    """For `finish`: what was found; an Error for what is wrong, if so wanted."""

    def finish(operation, record):
        known = json_of(operation)
        known["wrong"] = tuple(
            WrongShard(shard=row["shard"], name=row["name"], fault=row["fault"],
                       error=_errors.of_status(library.status_name(row["status"]).decode(), row["text"],
                                               bucket=index.bucket, object=row["name"]))
            for row in known["wrong"])
        report = VerifiedShards(**known)
        if report.wrong and on_error != "return":
            first = report.wrong[0].error
            raise _errors.of_status(
                first.status, f"{report.wrong_count} of {report.shards} shards are not what the index says: "
                f"see the `report` of this error. The first: {first}", bucket=index.bucket,
                object=report.wrong[0].name, report=report) from first
        return report

    return finish


def _index_of(index, argument="index"):
    if not isinstance(index, ShardIndex):
        raise TypeError(f"{argument}: a ShardIndex is needed, and not a {type(index).__name__}")
    return index


async def _fetched(place, path, timeout, progress):
    """Reads an index from an object into a file, and opens it."""
    bucket, name, generation = place
    options = struct("download_file_options", bucket=bucket, object=name, path=path, generation=generation,
                     timeout_ns=nanoseconds(timeout), progress=wanted(progress))
    await watched(Call(calling("download_file", byref(options)), None), progress, "download",
                  bucket.decode(), name.decode())
    return _opened(os.path.abspath(path))


def _indexed(operation, record):
    known = json_of(operation)
    return IndexedShards(**known.pop("counts"), **known)


class ShardVerbs:
    """What a client does with tar shards."""

    def index_shards(self, shards: str | tuple[str, str] | List[str] | Listing, path: Path | None, *,
                     concatenated: Literal["error", "read"] = "error",
                     trailing: Literal["error", "ignore"] = "error",
                     damaged: Literal["error", "end"] = "error", keep_case: bool = False,
                     strip_dot_slash: bool = False,
                     repeated: Literal["error", "keep_first"] = "error", skip_from: int = 0,
                     parts: Iterable[ShardIndex] = (), foreign: Iterable[Path] = (), board: str | tuple[str, str] | None = None,
                     lease: float = 300, parallelism: int = 0, timeout: float | None = None,
                     progress: Progress = None) -> IndexedShards:
        """Finds the samples of tar shards, and writes where each lies into a file: the index, which is
        there whole or not at all, and replaces what was there.

            client.index_shards("gs://bucket/train/", "train.dfx")
            index = dataflux.ShardIndex.open("train.dfx")

        Members become samples as in WebDataset. What most readers lose in silence is an error. What was
        indexed before a failure, or a kill, is kept beside the file, ".dataflux-index-...": a later call
        with the same path and rules goes on from there.

        Arguments:
            shards: "gs://bucket/prefix", of which all objects are indexed whose names end in ".tar"; or
                names with braces or patterns, "gs://bucket/train-{0000..0127}.tar" and
                "gs://bucket/**/train-*.tar", alone or in a list, in that order; or a Listing, in its
                order. "*" and "?" stop at a slash.
            path: the index.
            concatenated: another archive behind the end of one is an "error", or is "read".
            trailing: other bytes behind the end are an "error", or "ignore" them.
            damaged: damage is an "error", or the "end" of its shard.
            keep_case: fields keep their case; else ASCII becomes lower case.
            strip_dot_slash: a leading "./" is no part of the key.
            repeated: a field that comes again in a sample is an "error", or "keep_first".
            skip_from: data of at least so many bytes are not read, and then the samples of their shard
                have no checksums; 0 = 1 MiB.
            parts: indexes that know some of the shards, by name, size and generation: those are not
                read. So an index is made again after some shards were added.
            foreign: paths of others' indexes, which say where members lie: AIStore's, DALI's, webshart's,
                and Energon's "index.sqlite". Shards that they know are not read, and have no checksums;
                samples are compared with their headers when they are read. With those of wids names and
                sizes are compared.
            board: a prefix that all processes write to and nobody else does, such as
                "gs://bucket/jobs/7/index/": as many as call this with the same shards, rules and board
                make one index together. `path` may be None then: this process helps only. What is there
                stays: remove_prefix() it when all have returned. With the same board again it goes on.
            lease: seconds that a task of another process may take; then its shards are read once more.
            parallelism: shards that are read at the same time; 0 = 64.
            timeout: seconds for all of it; None = no limit.
            progress: True for a bar, or a callable: see Progress. It counts shards.

        Returns: how many there are of what, and what was left out.

        Raises: what the first shard has failed with, which it names: DataLossError for damage, and for
        bytes without the service's checksum; PreconditionError for what an argument could allow;
        InvalidArgumentError for a field that comes again; NotFoundError where there are no shards, or
        one was written anew since it was listed; Error for sparse files and compressed shards, and what fails in the file
        system.
        """
        options = struct(
            "index_shards_options", path=None if path is None and board is not None else path_of(path),
            **reading_rules(concatenated, trailing, damaged, keep_case, strip_dot_slash, repeated),
            skip_from=count_of(skip_from, "skip_from", 0, 64),
            parallelism=count_of(parallelism, "parallelism", 0, 32), timeout_ns=nanoseconds(timeout),
            progress=wanted(progress))
        if board is not None:
            options.board_bucket, options.board_prefix = self._prefix_place(board, "board")
            if not options.board_prefix:
                raise ValueError(f"board: {board!r} is a whole bucket; a prefix of one is needed")
            options.lease_ns = nanoseconds(lease, "lease")
        if isinstance(parts, ShardIndex) or not hasattr(parts, "__iter__"):
            raise TypeError(f"parts: a list of ShardIndex is needed, and not a {type(parts).__name__}")
        known = [_index_of(part, "parts")._handle for part in parts]
        if isinstance(foreign, (str, bytes, os.PathLike)) or not hasattr(foreign, "__iter__"):
            raise TypeError(f"foreign: a list of paths is needed, and not {foreign!r}")
        paths = [path_of(each, "foreign") for each in foreign]
        if not isinstance(shards, Listing):
            names = shards_of(shards)
            if names is not None:
                self._own_bucket(names.told, "shards", names.place[0])
            shards = names or self._prefix_place(shards, "shards")
        else:
            self._own_bucket(shards, "shards", shards.bucket.encode())
        return self._run(_indexing(shards, options, known, paths, timeout, progress))

    def verify_shards(self, index: ShardIndex, path: Path | None = None, *,
                      on_error: Literal["raise", "return"] = "raise", parallelism: int = 0,
                      timeout: float | None = None, progress: Progress = None) -> VerifiedShards:
        """Reads all shards again, and compares headers, samples and checksums with the index.

            client.verify_shards(index, index.path)  # and gives all samples their checksums

        Arguments:
            index: what they are compared with; each block of it is checked, too.
            path: where the index is written with the checksums of all samples, if all shards are right.
                None: nothing is written.
            on_error: "raise" an Error in the end, whose `report` has all that is wrong; or "return" the
                report.
            parallelism: shards that are read at the same time; 0 = 64.
            timeout: seconds for all of it; None = no limit.
            progress: True for a bar, or a callable: see Progress. It counts shards.

        Raises: of the first wrong shard: PreconditionError for one that another object has replaced,
            NotFoundError for one that is gone, DataLossError for damage and for other samples. What fails
            in reading and in the file system. DataLossError for a damaged index.
        """
        one_of(on_error, "on_error", ("raise", "return"))
        options = struct(
            "verify_shards_options", path=None if path is None else path_of(path), return_wrong=1,
            parallelism=count_of(parallelism, "parallelism", 0, 32), timeout_ns=nanoseconds(timeout),
            progress=wanted(progress))
        self._own_bucket(_index_of(index), "index", index.bucket.encode())
        return self._run(watched(
            Call(lambda client, queue, tag, out, err: library.verify_shards(
                client, index._handle, byref(options), queue, tag, out, err), _verified(index, on_error)),
            progress, "verify", index.bucket, ""))

    def save_shard_index(self, index: ShardIndex, url: Place, *, timeout: float | None = None,
                         progress: Progress = None) -> UploadedFile:
        """Writes the file of an index as an object, as upload() does: whole and compared, or not at all.

        Arguments:
            index: its file.
            url: of the object.
            timeout, progress: as of upload().
        """
        return self.upload(_index_of(index).path, url, timeout=timeout, progress=progress)

    def open_shard_index(self, url: Place, path: Path, *, timeout: float | None = None,
                         progress: Progress = None) -> ShardIndex:
        """Reads an index from an object into a file, as download() does, and opens it. Processes of one
        machine open that file by ShardIndex.open() then.

        Arguments:
            url: of the object.
            path: of the file, which is replaced.
            timeout, progress: as of download().

        Raises: NotFoundError; DataLossError; InvalidArgumentError for what is no index.
        """
        return self._run(_fetched(self._object_place(url), path_of(path), timeout, progress))

    def get_samples(self, index: ShardIndex, numbers: Numbers, *,
                    order: Literal["asked", "ready"] = "asked",
                    on_error: Literal["raise", "return", "omit"] = "raise",
                    timeout: float | None = None, progress: Progress = None) -> GetSamples:
        """Reads samples of tar shards by number, as fast as the service and this machine can.

            for sample in client.get_samples(index, dataflux.Sampler(len(index), seed=7)):
                use(sample["__key__"], sample["jpg"])

        Each is a dict, as in WebDataset: "__key__", "__url__", and of each field its bytes. They are
        read in the generation that was indexed, and compared with the sample's checksum, where there is
        one; key, fields and places are compared always. Samples that lie near one another, and are asked
        for one behind the other, are read together.

        Arguments:
            index: where they lie.
            numbers: of the samples, in this order: a sequence, an array, or an iterable, which may have
                no end, and is asked for some thousands of numbers ahead.
            order: "asked": samples come in the order of the numbers; "ready": as they are there.
            on_error: "raise": the first sample that fails ends all with its error; "return": its dict
                has "__error__", "__index__" (the number) and "__url__" alone; "omit": it is left out,
                and counted.
            timeout: seconds for all of it; None = no limit.
            progress: True for a bar, or a callable.

        Raises: IndexError for a number that the index has not; TypeError and ValueError for a bad
            argument. With on_error="raise" what a sample has failed with: NotFoundError where its shard
            was written anew, DataLossError for other bytes, InvalidArgumentError for the field
            "__error__". What ends all: CancelledError, DeadlineError.
        """
        return GetSamples(sample_batches(self, index, numbers, order=order, on_error=on_error,
                                         timeout=timeout, progress=progress))


async def _indexing(shards, options, known, foreign, timeout, progress):
    """Lists the shards, where that is still to be done, and indexes them."""
    if isinstance(shards, Listing):
        table, rows, bucket, prefix = shards._handle, shards._rows, shards.bucket, ""
        if rows is not None and not isinstance(rows, array):
            rows = array("Q", rows)
    else:
        place, given = ((shards.place, shards.given) if isinstance(shards, ShardNames)
                        else (shards, {"regex": _SHARD_NAMES}))
        bucket, prefix = (part.decode() for part in place)
        table = await Call(listing_of(place, timeout=timeout, **given), _take_listing)
        rows = shards.rows(Listing(Table(table, bucket)).names) if isinstance(shards, ShardNames) else None
        if rows is None and not library.listing_size(table):
            raise _errors.of_status("not_found", f"no object below {url_of(bucket, prefix)} ends in .tar: give "
                                    "names, a pattern, or a listing of the shards, if they are called otherwise")
    options.bucket = bucket.encode()
    if rows is not None:
        chosen = rows or array("Q", [0])  # an empty one has no address, which would mean all
        options.rows, options.row_count = chosen.buffer_info()[0], len(rows)
    if foreign:
        from ._foreign import imported

        known.append(imported(options, table, foreign))
    if known:
        handles = array("Q", [each.value for each in known])
        options.parts, options.part_count = handles.buffer_info()
    return await watched(Call(calling("index_shards", byref(options), table), _indexed),
                         progress, "index", bucket, prefix)
