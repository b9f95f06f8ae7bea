"""dataflux: reads from Google Cloud Storage and writes to it, for training jobs."""

from __future__ import annotations

import os as _os
import sys as _sys

__version__ = "0.1.0"

# Nobody has run the tests by a Python without the lock yet; who does so sets the variable.
if not getattr(_sys, "_is_gil_enabled", lambda: True)() \
        and not _os.environ.get("DATAFLUX_FREE_THREADED"):
    raise ImportError("dataflux does not run in free-threaded Python without the global lock yet: set "
                      "PYTHON_GIL=1, or start it as python -X gil=1")

# Where each name is: it is imported when it is first used, so that importing the package costs
# next to nothing.
_WHERE = {
    "Client": "_client", "client": "_client",
    "AsyncClient": "_aio",
    "Object": "_object",
    "GetMany": "_get_many", "Item": "_get_many",
    "Emulator": "_emulator", "emulator": "_emulator",
    "FileReader": "_file_reader", "FileWriter": "_file_writer",
    "TextFileWriter": "_text_file_writer",
    "ListStream": "_list",
    "Listing": "_listing", "Row": "_listing",
    "Changes": "_manifest", "Manifest": "_manifest", "compare": "_manifest",
    "Reader": "_reader",
    "Writer": "_writer",
    "CheckpointSet": "_sets", "SetReader": "_sets",
    "CommittedSet": "_set_reports", "Member": "_set_reports", "RemovedSets": "_set_reports",
    "SetInfo": "_set_reports", "Sets": "_set_reports",
    "MemberReader": "_set_members", "MemberWriter": "_set_members",
    "Bucket": "_buckets",
    "CopiedFolder": "_reports", "DownloadedFile": "_reports", "Leftover": "_reports",
    "Leftovers": "_reports", "RemovedObjects": "_reports", "UploadedFile": "_reports",
    "Error": "_errors",
    "NotFoundError": "_errors",
    "AlreadyExistsError": "_errors",
    "PermissionDeniedError": "_errors",
    "DeadlineError": "_errors",
    "InvalidArgumentError": "_errors",
    "PreconditionError": "_errors",
    "DataLossError": "_errors",
    "ResourceExhaustedError": "_errors",
    "UnauthenticatedError": "_errors",
    "UnavailableError": "_errors",
    "CancelledError": "_errors",
}
# Methods of the default client.
_VERBS = (
    "stat", "exists", "put", "delete", "copy", "move", "compose", "patch",
    "get", "read_into", "get_ranges", "get_many",
    "open", "reader", "writer",
    "list", "list_batches", "open_manifest", "save_manifest",
    "checkpoint_set", "latest_set", "list_sets", "keep_last_sets", "remove_sets",
    "upload", "download", "upload_folder", "download_folder", "remove_prefix",
    "find_leftovers", "remove_leftovers",
    "bucket", "buckets", "permissions",
    "metrics", "prometheus",
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._aio import AsyncClient as AsyncClient
    from ._client import Client as Client, client as client
    from ._emulator import Emulator as Emulator, emulator as emulator
    from ._errors import (
        AlreadyExistsError as AlreadyExistsError,
        CancelledError as CancelledError,
        DataLossError as DataLossError,
        DeadlineError as DeadlineError,
        Error as Error,
        InvalidArgumentError as InvalidArgumentError,
        NotFoundError as NotFoundError,
        PermissionDeniedError as PermissionDeniedError,
        PreconditionError as PreconditionError,
        ResourceExhaustedError as ResourceExhaustedError,
        UnauthenticatedError as UnauthenticatedError,
        UnavailableError as UnavailableError,
    )
    from ._file_reader import FileReader as FileReader
    from ._file_writer import FileWriter as FileWriter
    from ._list import ListStream as ListStream
    from ._listing import Listing as Listing, Row as Row
    from ._manifest import Changes as Changes, Manifest as Manifest, compare as compare
    from ._get_many import GetMany as GetMany, Item as Item
    from ._buckets import Bucket as Bucket
    from ._object import Object as Object
    from ._reader import Reader as Reader
    from ._reports import (
        CopiedFolder as CopiedFolder,
        DownloadedFile as DownloadedFile,
        Leftover as Leftover,
        Leftovers as Leftovers,
        RemovedObjects as RemovedObjects,
        UploadedFile as UploadedFile,
    )
    from ._set_members import MemberReader as MemberReader, MemberWriter as MemberWriter
    from ._set_reports import (
        CommittedSet as CommittedSet,
        Member as Member,
        RemovedSets as RemovedSets,
        SetInfo as SetInfo,
        Sets as Sets,
    )
    from ._sets import CheckpointSet as CheckpointSet, SetReader as SetReader
    from ._text_file_writer import TextFileWriter as TextFileWriter
    from ._writer import Writer as Writer

    _default: Client
    stat = _default.stat
    exists = _default.exists
    put = _default.put
    delete = _default.delete
    copy = _default.copy
    move = _default.move
    compose = _default.compose
    patch = _default.patch
    get = _default.get
    read_into = _default.read_into
    get_ranges = _default.get_ranges
    get_many = _default.get_many
    open = _default.open
    reader = _default.reader
    writer = _default.writer
    list = _default.list
    list_batches = _default.list_batches
    open_manifest = _default.open_manifest
    save_manifest = _default.save_manifest
    checkpoint_set = _default.checkpoint_set
    latest_set = _default.latest_set
    list_sets = _default.list_sets
    keep_last_sets = _default.keep_last_sets
    remove_sets = _default.remove_sets
    upload = _default.upload
    download = _default.download
    upload_folder = _default.upload_folder
    download_folder = _default.download_folder
    remove_prefix = _default.remove_prefix
    find_leftovers = _default.find_leftovers
    remove_leftovers = _default.remove_leftovers
    bucket = _default.bucket
    buckets = _default.buckets
    permissions = _default.permissions
    metrics = _default.metrics
    prometheus = _default.prometheus


def __getattr__(name: str) -> object:
    if name in _WHERE:
        from importlib import import_module

        value = getattr(import_module("." + _WHERE[name], __name__), name)
        globals()[name] = value
        return value
    if name in _VERBS:
        from ._client import client

        return getattr(client(), name)
    raise AttributeError(f"module 'dataflux' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_WHERE, *_VERBS, "__version__"])
