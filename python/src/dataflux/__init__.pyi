"""Types of the package, by python/stubs.py of its sources."""

import builtins as _builtins
from ._attributes import Attributes, Conditions, HowToCompose, HowToCopy, HowToMove, HowToPatch, HowToPut, HowToUpload
from ._file import HowToRead, HowToWrite
from ._items import Request
from ._lent import Bytes
from ._manifest import Target
from ._object import Place
from ._progress import Progress
from ._transfer import Path
from collections.abc import Sequence
import io
import os
from types import EllipsisType
from typing import Any, Dict, FrozenSet, Iterable, List, Literal, overload
from typing_extensions import Buffer, Unpack

from ._aio import AsyncClient as AsyncClient
from ._async_files import AsyncFileReader as AsyncFileReader
from ._async_files import AsyncFileWriter as AsyncFileWriter
from ._async_files import AsyncTextFileReader as AsyncTextFileReader
from ._async_files import AsyncTextFileWriter as AsyncTextFileWriter
from ._buckets import Bucket as Bucket
from ._client import Client as Client
from ._client import client as client
from ._emulator import Emulator as Emulator
from ._emulator import emulator as emulator
from ._errors import AlreadyExistsError as AlreadyExistsError
from ._errors import CancelledError as CancelledError
from ._errors import DataLossError as DataLossError
from ._errors import DeadlineError as DeadlineError
from ._errors import Error as Error
from ._errors import InvalidArgumentError as InvalidArgumentError
from ._errors import NotFoundError as NotFoundError
from ._errors import PermissionDeniedError as PermissionDeniedError
from ._errors import PreconditionError as PreconditionError
from ._errors import ResourceExhaustedError as ResourceExhaustedError
from ._errors import UnauthenticatedError as UnauthenticatedError
from ._errors import UnavailableError as UnavailableError
from ._file_reader import FileReader as FileReader
from ._file_writer import FileWriter as FileWriter
from ._get_many import AsyncGetMany as AsyncGetMany
from ._get_many import GetMany as GetMany
from ._items import Item as Item
from ._listing import Listing as Listing
from ._listing import Row as Row
from ._listing import RowFeed as RowFeed
from ._listing import Rows as Rows
from ._manifest import AsyncManifest as AsyncManifest
from ._manifest import Changes as Changes
from ._manifest import Manifest as Manifest
from ._manifest import compare as compare
from ._object import Object as Object
from ._reader import AsyncReader as AsyncReader
from ._reader import Reader as Reader
from ._reports import CopiedFolder as CopiedFolder
from ._reports import DownloadedFile as DownloadedFile
from ._reports import Leftover as Leftover
from ._reports import Leftovers as Leftovers
from ._reports import RemovedObjects as RemovedObjects
from ._reports import UploadedFile as UploadedFile
from ._sampler import Sampler as Sampler
from ._set_members import AsyncMemberFile as AsyncMemberFile
from ._set_members import AsyncMemberReader as AsyncMemberReader
from ._set_members import AsyncMemberWriter as AsyncMemberWriter
from ._set_members import MemberFile as MemberFile
from ._set_members import MemberReader as MemberReader
from ._set_members import MemberWriter as MemberWriter
from ._set_reports import CommittedSet as CommittedSet
from ._set_reports import Member as Member
from ._set_reports import RemovedSets as RemovedSets
from ._set_reports import SetInfo as SetInfo
from ._set_reports import Sets as Sets
from ._sets import AsyncCheckpointSet as AsyncCheckpointSet
from ._sets import AsyncSetReader as AsyncSetReader
from ._sets import CheckpointSet as CheckpointSet
from ._sets import SetReader as SetReader
from ._text_file_writer import TextFileWriter as TextFileWriter
from ._verbs_list import AsyncListStream as AsyncListStream
from ._verbs_list import ListStream as ListStream
from ._writer import AsyncWriter as AsyncWriter
from ._writer import Writer as Writer

__version__: str


def stat(url: Place, *, fields: Iterable[str] | None = None, generation: int = 0,
         timeout: float | None = None, **how: Unpack[Conditions]) -> Object:
    """Asks what is known of an object.

    Arguments:
        url: "gs://bucket/name", (bucket, name), a listing's row or an Object.
        fields: names of Object's properties; the others are not asked for and are None. None =
            all; [] = size, generation and crc32c, which come always.
        generation: of the object; 0 = that of the row, or the live one.
        if_...: see ObjectVerbs. timeout: seconds.

    Raises: NotFoundError; PreconditionError.
    """


def exists(url: Place, *, generation: int = 0, timeout: float | None = None) -> bool:
    """Whether there is such an object: one request. False where there is no such bucket, too.

    Arguments: as of stat().

    Raises: PermissionDeniedError and others, which do not say whether there is one.
    """


def put(url: Place, data: Bytes, *, timeout: float | None = None,
        **how: Unpack[HowToPut]) -> Object:
    """Writes an object by one request. It appears whole and compared by its checksum.

    Arguments:
        url: of the object; one that is there is replaced.
        data: bytes, or any buffer in one piece, which is read in place, without a copy. It must
            not be changed until the call has ended. A str is none: encode() it.
        content_type: such as "image/png"; None = application/octet-stream.
        content_encoding: of the bytes as they are, such as "gzip".
        content_disposition, content_language, cache_control: as of HTTP.
        storage_class, kms_key_name: None = the bucket's.
        custom_time: a datetime with a time zone, or seconds since 1970.
        metadata: a dict of str to str.
        if_...: see ObjectVerbs. timeout: seconds.

    Returns: what is known of the new object.
    Raises: NotFoundError where there is no such bucket; AlreadyExistsError; PreconditionError.
    """


def delete(url: Place, *, missing_ok: bool = False, generation: int = 0,
           timeout: float | None = None, **how: Unpack[Conditions]) -> None:
    """Removes an object.

    Arguments:
        url: of the object. A row or an Object removes that generation.
        missing_ok: no NotFoundError where there is none.
        generation: which; 0 = that of the row, or the live one. In a bucket with versioning a
            removal without a generation keeps the object as a noncurrent version.
        if_...: see ObjectVerbs. timeout: seconds.

    Raises: NotFoundError; PreconditionError.
    """


def copy(source: Place, target: Place, *, generation: int = 0,
         timeout: float | None = None, **how: Unpack[HowToCopy]) -> Object:
    """Copies an object within the service, however large: to another name, bucket, storage class
    or key.

    Arguments:
        source: the object; a row or an Object copies that generation.
        target: what it is to be.
        generation: of the source; 0 = that of the row, or the live one.
        content_type, ..., metadata: as of put(). With none of them the copy has the source's;
            with any it has exactly those. kms_key_name alone does not count.
        if_...: of the target; source_if_...: of the source; see ObjectVerbs.
        timeout: seconds.

    Returns: what is known of the copy.
    Raises: NotFoundError; AlreadyExistsError; PreconditionError.
    """


def move(source: Place, target: Place, *, timeout: float | None = None,
         **how: Unpack[HowToMove]) -> Object:
    """Renames the live object within its bucket, in one step.

    Where the reply is lost, the move is known by this: the source is gone, and what has the new
    name is not older than the call. The service's clock tells seconds. So a move passes for done
    if its request is lost, another removes the source meanwhile, and another has written the new
    name less than a second before the call. What this client has made or looked at under the new
    name is never taken for the moved object.

    Arguments:
        source: the object. A row or an Object stands for source_if_generation_match, too: if
            that generation is no longer live, nothing is moved.
        target: its new name, in the same bucket.
        if_...: of the target; source_if_...: of the source; see ObjectVerbs.
        timeout: seconds.

    Returns: what is known of the object under its new name.
    Raises: NotFoundError; AlreadyExistsError; PreconditionError.
    """


def compose(sources: Iterable[Place], target: Place, *, timeout: float | None = None,
            **how: Unpack[HowToCompose]) -> Object:
    """Puts objects together into one, in their order, within the service. They stay.

    Arguments:
        sources: 1 to 32 places in the target's bucket; of a row or an Object that generation.
        target: what they are to be; it may be one of them.
        content_type, ..., metadata: as of put().
        if_generation_match, if_metageneration_match: of the target; see ObjectVerbs. The service
            knows no others here.
        timeout: seconds.

    Returns: what is known of the new object, which has no md5_hash.
    Raises: NotFoundError; AlreadyExistsError; PreconditionError.
    """


def patch(url: Place, *, generation: int = 0, timeout: float | None = None,
          **how: Unpack[HowToPatch]) -> Object:
    """Changes what stands beside an object's bytes. Its generation stays, its metageneration does
    not. storage_class and kms_key_name are changed by copy().

    Arguments:
        url: of the object; a row or an Object changes that generation.
        content_type, ..., cache_control: None leaves it as it is, "" removes it.
        custom_time: as of put(); None leaves it as it is. Once set it cannot be removed, and the
            service lets it be moved forward only.
        metadata: names that are not in it stay, and one whose value is None is removed.
        generation: which; 0 = that of the row, or the live one.
        if_...: see ObjectVerbs; if_metageneration_match makes it safe to repeat.
        timeout: seconds.

    Returns: what is known of the object now.
    Raises: ValueError where nothing is to be changed; NotFoundError; PreconditionError.
    """


def get(url: Place, *, offset: int = 0, length: int | None = None, generation: int = 0,
        timeout: float | None = None) -> bytes:
    """Reads an object, or a range of it, into new bytes. They are compared with the object's
    checksum where all of it is read, and a part of it with nothing: there is no checksum of parts.

    Arguments:
        url: "gs://bucket/name", (bucket, name), or a listing's row, whose size is known: then
            the bytes come straight to their place.
        offset: of the first byte.
        length: bytes; fewer come where the object ends before. None = to the end. 0 only asks
            whether it is there.
        generation: of the object; 0 = that of the row, or the live one.
        timeout: seconds for the whole call, with all its retries; None = no limit.

    Raises: NotFoundError; Error with status "out_of_range" where `offset` is the object's end or
        behind it, but for an empty object; DataLossError for a checksum.
    """


def read_into(url: Place, buffer: Buffer, *, offset: int = 0, generation: int = 0,
              timeout: float | None = None) -> int:
    """Fills memory with as many bytes of an object as it has room for, without a copy, by ranges
    in parallel where that is long.

    Arguments:
        url: "gs://bucket/name", (bucket, name), or a listing's row.
        buffer: anything whose memory can be written and is contiguous: a bytearray, a
            memoryview, an array of numpy. It cannot change its size until the call has ended.
        offset: of the first byte.
        generation: of the object; 0 = that of the row, or the live one.
        timeout: seconds for the whole call; None = no limit.

    Returns: the number of bytes, always all of the buffer.
    Raises: Error with status "out_of_range" where the object ends before. After a failure the
        content of the buffer is undefined.
    """


@overload
def get_ranges(url: Place, ranges: Iterable[tuple[int, int]], *, into: None = None,
               generation: int = 0, timeout: float | None = None) -> _builtins.list[bytes]: ...


@overload
def get_ranges(url: Place, ranges: Iterable[tuple[int, int]], *,
               into: Sequence[Buffer], generation: int = 0,
               timeout: float | None = None) -> None: ...


def get_many(requests: Listing | Rows | RowFeed | Iterable[Request | EllipsisType],
             *, order: Literal["asked", "ready"] = "asked",
             on_error: Literal["raise", "return", "omit"] = "raise", compose: bool = False,
             batch: int = 256, timeout: float | None = None, progress: Progress = None) -> GetMany:
    """Reads many objects, as fast as the service and this machine can.

        for batch in client.get_many(client.list("gs://bucket/train/")):
            for item in batch:
                use(item.data)

    Arguments:
        requests: a Listing, whose names never pass through Python; or an iterable, which may
            have no end, of places ("gs://bucket/name", (bucket, name), rows), or of (place,
            offset, length), length None = to the end. All are of one bucket. An iterable is
            asked for some thousands of requests ahead of their items, by whoever asks for a
            batch: one that waits holds that batch back. Where requests come of earlier items,
            or of other threads, it gives `...` while it has none: it is gone on with when the
            next batch is asked for, or after 0.1 s.
        order: "asked": items come in the order of the requests; "ready": as they are there.
        on_error: "raise": the first request that fails ends all with its error; "return": its
            item has the error, and no data; "omit": it has no item, and is counted.
        compose: runs of small whole objects are composed within the service, and read as one:
            fewer requests, which cost writes.
        batch: most items of a batch.
        timeout: seconds for all of it; None = no limit.
        progress: True for a bar, or a callable.

    Raises: TypeError and ValueError for a bad argument. With on_error="raise" what a request has
        failed with; in any case what ends all: CancelledError, DeadlineError.
    """


def reader(url: Place, *, generation: int = 0, block: int = 0, cache: int = 0,
           timeout: float | None = None) -> Reader:
    """Opens an object to be read from anywhere in it. That is one request; each read is more.

    Arguments:
        url: "gs://bucket/name", (bucket, name), or a listing's row.
        generation: of the object; 0 = that of the row, or the live one.
        block: bytes that a short read brings, for those behind it; 0 = 1 MiB.
        cache: most bytes of such blocks; 0 = 64 MiB.
        timeout: seconds for the opening; None = no limit.

    Raises: NotFoundError; TypeError and ValueError for a bad argument before any request.
    """


def writer(url: Place, *, if_generation_match: int | None = None, size_hint: int = 0,
           part_size: int = 0, timeout: float | None = None,
           **how: Unpack[Attributes]) -> Writer:
    """Opens an object to be written while its bytes are being made.

    Arguments:
        url: "gs://bucket/name" or (bucket, name).
        content_type, content_encoding, content_disposition, content_language, cache_control,
            storage_class, kms_key_name: of the object; None = the service's default.
        custom_time: a datetime with a time zone, or seconds since 1970.
        metadata: a dict of str to str.
        if_generation_match: what must be there at the end; 0 = nothing. None = what is there
            now, which costs a request.
        size_hint: how many bytes there will be, as far as is known; 0 = not at all.
        part_size: bytes that are sent at a time; 0 = found by measuring, 8 to 32 MiB.
        timeout: seconds from here to the end of commit(); None = no limit.

    Raises: TypeError and ValueError for a bad argument before any request;
        ResourceExhaustedError where there are more writers than the client's upload_memory has
        parts for: commit some first, raise it, or lower part_size. put() writes what is small.
    """


@overload
def open(url: Place, mode: Literal["rb"] = "rb",
         **how: Unpack[HowToRead]) -> FileReader: ...


@overload
def open(url: Place, mode: Literal["wb", "xb"],
         **how: Unpack[HowToWrite]) -> FileWriter: ...


@overload
def open(url: Place, mode: Literal["r", "rt"], *, encoding: str | None = None,
         errors: str | None = None, newline: str | None = None,
         **how: Unpack[HowToRead]) -> io.TextIOWrapper: ...


@overload
def open(url: Place, mode: Literal["w", "wt", "x", "xt"], *,
         encoding: str | None = None, errors: str | None = None,
         newline: str | None = None,
         **how: Unpack[HowToWrite]) -> TextFileWriter: ...


@overload
def open(url: Place, mode: str, *, encoding: str | None = None,
         errors: str | None = None, newline: str | None = None,
         **how: Any) -> FileReader | FileWriter | io.TextIOWrapper: ...


def upload(path: Path, url: Place, *, resume: bool = False, progress: Progress = None,
           timeout: float | None = None, **how: Unpack[HowToUpload]) -> UploadedFile:
    """Writes a file as an object, which appears whole and compared by its checksum, or not at
    all.

    It replaces what was there when the call began, and fails where that has changed meanwhile.

    Arguments:
        path: of a regular file.
        url: of the object.
        resume: a journal beside the file, ".dataflux-upload-...", tells what the service has:
            after a failure, or a kill, the next call goes on from there.
        progress: see TransferVerbs; in bytes.
        content_type, ..., metadata: as of put().
        if_generation_match: the generation to replace; 0 = create only.
        timeout: seconds.

    Raises: AlreadyExistsError; PreconditionError; DataLossError; Error with the status "aborted"
        where the file was changed meanwhile.
    """


def download(url: Place, path: Path, *, generation: int = 0, offset: int = 0,
             length: int | None = None, resume: bool = False, flush: bool = True,
             progress: Progress = None, timeout: float | None = None) -> DownloadedFile:
    """Reads an object, or a range of it, into a file by ranges in parallel.

    The file gets its name when all of it is there and was compared with the object's checksum;
    until then what had the name has it.

    Arguments:
        url: of the object; a row or an Object names its generation, too.
        path: of the file; one that is there is replaced, a folder is not.
        generation: of the object; 0 = that of the row, or the live one.
        offset, length: bytes wanted; None = to the end.
        resume: after a failure, or a kill, a part stays beside the file,
            ".dataflux-part-...", and the next call goes on with it.
        flush: the bytes are forced to the disk before the file has its name; without it a loss
            of power may leave a torn file.
        progress: see TransferVerbs; in bytes. timeout: seconds.

    Raises: NotFoundError; DataLossError; Error with the status "out_of_range" where the object
        ends before `offset`.
    """


def upload_folder(path: Path, url: Place, *, resume: bool = False, dry_run: bool = False,
                  delete_extra: bool = False,
                  on_error: Literal["raise", "return"] = "raise", max_failures: int = 100,
                  progress: Progress = None, timeout: float | None = None) -> CopiedFolder:
    """Copies the files below a folder into objects, of which each appears whole and compared, or
    not at all.

    Regular files are copied, and links to some; links to folders, broken links, devices and
    sockets fail. One that fails does not keep the others from being copied.

    Arguments:
        path: the folder.
        url: "gs://bucket/prefix"; an object is called as that, "/", and the path below the
            folder. "gs://bucket" = the path alone.
        resume: what the target has, of the same size and checksum, is left out.
        dry_run: nothing is changed; the report says what would be.
        delete_extra: in the end objects that no file stands for are removed; none is when
            something failed, or the source is empty.
        on_error: "raise" an Error in the end, whose `report` is this call's; "return" the report
            only, whose `failed` says how many.
        max_failures: how many the report names; all are counted.
        progress: see TransferVerbs; in bytes. timeout: seconds.

    Raises: see on_error; and what would make the rest fail as well, such as no credentials. What
        was done until then stays.
    """


def download_folder(url: Place, path: Path, *, resume: bool = False,
                    dry_run: bool = False, delete_extra: bool = False,
                    on_error: Literal["raise", "return"] = "raise", max_failures: int = 100,
                    progress: Progress = None, timeout: float | None = None) -> CopiedFolder:
    """Copies the objects below a prefix into files, of which each appears whole and compared, or
    not at all. Nothing is forced to the disk.

    An empty object "x/" makes the folder x. Names that can be no path below the folder fail, such
    as those with ".." in them. Links below the folder are never followed. One that fails does
    not keep the others from being copied.

    Arguments:
        url: "gs://bucket/prefix", which stands for a folder: what is below "prefix/" is meant.
        path: the folder.
        delete_extra: in the end files and links that no object stands for are removed; none is
            when something failed, or the source is empty. Folders stay.
        the others: as of upload_folder().

    Raises: as upload_folder().
    """


def remove_prefix(url: Place, *, older_than: float | None = None, for_good: bool = False,
                  dry_run: bool = False, whole_bucket: bool = False,
                  on_error: Literal["raise", "return"] = "raise", max_failures: int = 100, progress: Progress = None,
                  timeout: float | None = None) -> RemovedObjects:
    """Removes all objects whose names begin with a prefix, while they are listed.

    Each goes by the generation that was seen: what is written meanwhile stays, and its name
    fails. One that fails does not keep the others from being removed.

    Arguments:
        url: "gs://bucket/prefix": "tmp" is "tmpfoo", too; end it with "/" for a folder.
        older_than: only objects of this age in seconds, by the service's clock; None = of any.
        for_good: leaves no noncurrent version in a bucket that keeps those.
        dry_run: nothing is removed; the report says what would be.
        whole_bucket: the prefix may be empty. Without it that is a ValueError, since an empty
            variable would remove everything.
        on_error: "raise" an Error in the end, whose `report` is this call's; "return" the report
            only, whose `failed` says how many.
        max_failures: how many the report names; all are counted.
        progress: see TransferVerbs; in objects. timeout: seconds.

    Raises: see on_error; and what would make the rest fail as well. What is gone until then
        stays gone.
    """


def list(url: str | tuple[str, str], *, start: str | None = None, end: str | None = None,
         delimiter: str | None = None, glob: str | None = None, suffix: str | None = None,
         regex: str | None = None, min_size: int = 0, max_size: int | None = None,
         storage_classes: Iterable[str] = (), directories: bool = False,
         composites: bool = False, versions: bool = False, parallelism: int = 0,
         max_calls: int = 0, memory_cap: int = 0,
         on_error: Literal["raise", "omit"] = "raise", timeout: float | None = None,
         progress: Progress = None) -> Listing:
    """Lists objects, by many calls at a time. What it gives is proved complete, or it fails.

    Arguments:
        url: "gs://bucket/prefix", "gs://bucket", or (bucket, prefix).
        start, end: names from `start` on, and before `end`.
        delimiter: names that have it after the prefix are folded into `prefixes`; usually "/".
        glob: the service's pattern of the whole name, such as "data/**.tar".
        suffix: of the name. Like what follows, it is checked here, of all names that come.
        regex: an ECMAScript pattern that is found somewhere in the name.
        min_size, max_size: bytes; both are within. None = no bound.
        storage_classes: of the objects, such as ["STANDARD"]; none = all.
        directories: objects of no bytes whose names end in "/" are listed, too.
        composites: this library's temporary objects are listed, too.
        versions: all generations, and not the live ones alone.
        parallelism: calls in flight; 0 = found by measuring.
        max_calls: most calls of the service; 0 = no bound.
        memory_cap: bytes of all rows; 0 = no bound.
        on_error: "raise", or "omit": ranges of names that cannot be listed are left out, and
            summary["missing"] says which.
        timeout: seconds for all of it; None = no limit.
        progress: True for a bar, or a callable: see Progress. It counts entries.

    Raises: NotFoundError for a bucket that is not there; InvalidArgumentError for a regex or a
    glob that is none; ResourceExhaustedError at `max_calls` or `memory_cap`; TypeError and
    ValueError for a bad argument before any request.
    """


def list_shared(url: str | tuple[str, str], target: str | os.PathLike[str] | None, *,
                board: str | tuple[str, str], lease: float = 300, start: str | None = None,
                end: str | None = None, glob: str | None = None, suffix: str | None = None,
                regex: str | None = None, min_size: int = 0, max_size: int | None = None,
                storage_classes: Iterable[str] = (), directories: bool = False,
                composites: bool = False, versions: bool = False, parallelism: int = 0,
                timeout: float | None = None) -> Dict[str, int]:
    """Lists a prefix together with other processes: as many as call this with the same prefix,
    filters and board, such as the ranks of a job. Each takes ranges of the names in turns, so
    that names may lie as unevenly as they like. It returns when all is listed.

    Arguments:
        url: "gs://bucket/prefix", "gs://bucket", or (bucket, prefix).
        target: the path of the manifest that is written of the whole; open_manifest() opens it.
            None: this process helps only. Most often rank 0 has one.
        board: a prefix that all processes write to and nobody else does, such as
            "gs://bucket/jobs/7/listing/". It may not lie in what is listed. What is there stays:
            remove_prefix() it when all have returned. With the same board again what was listed
            is not listed again; a new listing needs a new one.
        lease: seconds that a task of another process may take; then that one is thought dead,
            and its task is listed once more. No name is twice there, even if it is slow only.
        start, end, glob, suffix, regex, min_size, max_size, storage_classes, directories,
            composites, versions: as of list().
        parallelism: calls in flight; 0 = 48.
        timeout: seconds for all of it; None = no limit.

    Returns: "objects" and "tasks" of the whole; "own_objects", "own_tasks" and "calls" of this
    process.

    Raises: InvalidArgumentError for a board that is of another listing, with the argument that
    differs; DataLossError for one that is damaged; what list() raises, and Error for what fails
    in writing to the board or the file. The target stays as it was then; the other processes go
    on.
    """


def list_batches(url: str | tuple[str, str], *, start: str | None = None,
                 end: str | None = None, delimiter: str | None = None, glob: str | None = None,
                 suffix: str | None = None, regex: str | None = None, min_size: int = 0,
                 max_size: int | None = None, storage_classes: Iterable[str] = (),
                 directories: bool = False, composites: bool = False, versions: bool = False,
                 parallelism: int = 0, max_calls: int = 0, memory_cap: int = 0,
                 on_error: Literal["raise", "omit"] = "raise",
                 timeout: float | None = None, in_order: bool = False) -> ListStream:
    """Lists objects batch by batch, each a Listing, while later ones are under way: for listings
    that are larger than memory, and to begin early.

    The arguments are those of list(), and:
        memory_cap: bytes of batches that wait; 0 = 256 MiB. Who takes none stops the network.
        in_order: of all batches together the names are in order. Within each they always are.

    Raises: what list() raises; what fails in the service comes from the iterator, behind the
    batches that are good in any case.
    """


def save_manifest(listing: Listing, target: Target, *,
                  timeout: float | None = None) -> Object | None:
    """Saves a listing, so that other processes open it instead of listing again. It is there
    whole or not at all, and replaces what was there.

    Arguments:
        listing: a whole one, by list() without a delimiter, by a manifest's rows() or refresh().
        target: "gs://bucket/name" or (bucket, name) for an object; any other str, or a path, for
            a file.
        timeout: seconds for an object's requests; None = no limit.

    Returns: what is known of the object; None for a file.

    Raises: ValueError for a slice, a filtered listing, one with a delimiter, or one of which
    something is missing; Error for what fails in the service or the file system.
    """


def open_manifest(target: Target, *, timeout: float | None = None) -> Manifest:
    """Opens a manifest: maps a file, or reads an object into memory.

    Arguments:
        target: what save_manifest() was given.
        timeout: seconds for an object's requests; None = no limit.

    Raises: NotFoundError; InvalidArgumentError for what is no manifest; DataLossError for one
    that is damaged.
    """


def checkpoint_set(url: Place, *, timeout: float | None = None) -> CheckpointSet:
    """A set below a prefix, to be saved or opened. Sends nothing.

    Arguments:
        url: "gs://bucket/prefix", or (bucket, prefix): a folder, with or without its slash.
        timeout: seconds for each call but those of members; None = no limit.
    """


def latest_set(url: Place, *, timeout: float | None = None) -> SetReader:
    """Opens the newest complete set below a prefix, by the time of its commit.

    Raises: NotFoundError when there is none.
    """


def list_sets(url: Place, *, timeout: float | None = None) -> Sets:
    """The sets below a prefix, which may be a whole bucket; and what saves over sets have open, which is
    billed without being an object."""


def keep_last_sets(url: Place, count: int, *,
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


def remove_sets(url: Place, *, timeout: float | None = None) -> RemovedSets:
    """Removes all that lies below a prefix, which is not empty, last objects first, and aborts what
    uploads are open there. What could not be removed is among the `failures`."""


def find_leftovers(url: Place, *, kinds: Iterable[str] | None = None,
                   older_than: float | None = None, timeout: float | None = None) -> Leftovers:
    """Finds what killed uploads and reads have left in a bucket. Removes nothing.

    Arguments:
        url: "gs://bucket", or "gs://bucket/prefix" of the names that the uploads were for.
        kinds: which: "uploads" (open ones, and temporary objects of uploads), "composites" (of
            reads; looked for where no prefix is given); None = both.
        older_than: the age from which one is stale, in seconds; 0 = all are. None = composites
            whose own time has passed, and nothing else.
        timeout: seconds for the whole call, with all its retries; None = no limit.

    Raises: NotFoundError where there is no such bucket; PermissionDeniedError.
    """


def remove_leftovers(url: Place, *, kinds: Iterable[str] | None = None,
                     older_than: float | None = None,
                     timeout: float | None = None) -> Leftovers:
    """Finds them, and removes what is stale.

    An upload that somebody is at work on fails then: choose an age that none takes. One that
    could not be removed is a row with the verdict "failed", and no exception.

    Arguments: as of find_leftovers().
    Raises: NotFoundError where there is no such bucket; PermissionDeniedError.
    """


def bucket(url: str | Bucket, *, timeout: float | None = None) -> Bucket:
    """Asks what is known of a bucket.

    Arguments:
        url: "gs://name".
        timeout: seconds for the whole call, with all its retries; None = no limit.

    Raises: NotFoundError; PermissionDeniedError.
    """


def buckets(project: str | None = None, prefix: str | None = None, *,
            timeout: float | None = None) -> List[Bucket]:
    """Lists the buckets of a project, in order of names.

    Arguments:
        project: its id; None = that of the credentials.
        prefix: which the names begin with; None = all.
        timeout: seconds for the whole call, with all its retries; None = no limit.

    Raises: PermissionDeniedError; InvalidArgumentError where no project is known.
    """


def permissions(url: str | Bucket, names: Iterable[str], *,
                timeout: float | None = None) -> FrozenSet[str]:
    """Asks which of some permissions the account has on a bucket.

    Arguments:
        url: "gs://name".
        names: 1 to 100, such as ["storage.objects.create", "storage.objects.delete"].
        timeout: seconds for the whole call, with all its retries; None = no limit.

    Raises: NotFoundError; InvalidArgumentError for one that there is not.
    """


def metrics() -> dict[str, Any]:
    """What the client does now and has done.

    Returns: "totals" (requests, bytes, retries), "connections" and "memory", which are dicts;
        "verbs" (times of attempts) and "pacing" (by bucket), which are lists of dicts. Sizes are
        bytes; times, whose names end in _ns, are nanoseconds. Counters begin at 0 with the
        client, and in a forked child.

    Raises: PreconditionError after close().
    """


def prometheus() -> str:
    """The same in Prometheus' text format, version 0.0.4, for an endpoint that it asks. Names
    begin with "dataflux_", times are seconds.

    Raises: PreconditionError after close().
    """
