"""DatafluxFileSystem."""

from __future__ import annotations

import os
import threading
from functools import wraps
from weakref import WeakSet

from fsspec.asyn import AsyncFileSystem, get_loop
from fsspec.spec import AbstractFileSystem

from .._file import _mode_of
from .._writer import abort_quietly
from ._attributes import attributes_of, refuse
from ._changing import Changing
from ._expanding import Expanding
from ._files import (HeldWriter, ObjectWriter, appender_of, block_of, on_top, reader_of,
                     writer_of)
from ._finding import Finding
from ._moving import Moving
from ._options import ACCESS, CONSISTENCY, client_options, names_of, s3_options, without_harmless
from ._paths import PROTOCOLS, Paths, S3Paths
from ._reading import Reading
from ._registry import _register, registered
from ._roads import Awaiting, Blocking
from ._transaction import ThreadTransaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator, NoReturn

    from .. import AsyncClient, AsyncReader, AsyncWriter, Client

# Of the files that are open for writing; held for a moment at a time, by all filesystems.
_writing_lock = threading.RLock()


def _in_child():
    global _writing_lock
    _writing_lock = threading.RLock()  # another thread may have held it


os.register_at_fork(after_in_child=_in_child)


class _Verbs(Paths, Finding, Expanding, Reading, Changing, Moving):
    """All verbs, as coroutines on `_road`; `_fs` is the filesystem."""


class _BlockingVerbs(_Verbs):
    """The verbs for threads."""

    def __init__(self, fs, road):
        self._fs = fs
        self._road = road


class _BlockingS3Verbs(S3Paths, _BlockingVerbs):
    """The same on S3."""


def _blocking(body):
    """The form of a verb for threads. fsspec's own would go by its event loop on another thread."""

    @wraps(body)
    def verb(self, *arguments, **how):
        return self.client._run(body(self._blocking, *arguments, **how))

    verb.__name__ = body.__name__[1:]
    verb.__qualname__ = f"DatafluxFileSystem.{verb.__name__}"
    return verb


class DatafluxFileSystem(_Verbs, AsyncFileSystem):
    """A filesystem of fsspec on dataflux.

        fs = fsspec.filesystem("dataflux")
        fs.ls("bucket/folder")

    The plain methods run on the caller's thread. Those that begin with "_" are coroutines for the
    caller's own event loop. With asynchronous=True programs such as zarr use these.

    Arguments of gcsfs:
        project: whose buckets ls("") lists.
        access: "full_control"; "read_only" refuses all that would change something.
        token: None = Application Default Credentials, as "google_default"; "anon"; "cloud" = the
            account of this machine; the path of a credentials file, or its content as a dict; an
            access token; what dataflux.Client takes for `credentials`.
        block_size: bytes that a short read of an open file brings.
        consistency: whatever is given, all that is read and written whole is compared by checksum, and a
            part that is read with nothing: the service has no checksum of parts.
        cache_timeout, use_listings_cache, listings_expiry_time, max_paths: nothing, since no listing
            is kept; nor do others that tune caches and blocks, such as default_cache_type.
        requests_timeout: seconds without a byte, from the request on, after which it is begun anew:
            stall_timeout and first_byte_timeout of dataflux.Client.
        timeout: seconds for a call that carries no bytes.
        requester_pays: True = `project` pays; or the project that does.
        endpoint_url: "https://host[:port]"; "http://..." is an emulator.
        version_aware: paths may end in "#" and a generation.
        asynchronous, loop, batch_size, secure_serialize, check_connection, default_location: for
            compatibility.
        anon: as token="anon".
    All options of dataflux.Client are taken, too, by name.

    It pickles as its options; not with a token or a dict among them, since no secret travels. A
    forked child uses it as it is.
    """

    protocol = PROTOCOLS
    async_impl = True
    mirror_sync_methods = False
    transaction_type = ThreadTransaction
    _verbs_of_threads: type[_BlockingVerbs] = _BlockingVerbs

    def __init__(self, project: str | None = None, access: str = "full_control", token: Any = None,
                 block_size: int | None = None, consistency: str | None = "none",
                 cache_timeout: float | None = None, secure_serialize: bool = True,
                 check_connection: bool | None = None, requests_timeout: float | None = None,
                 requester_pays: bool | str = False, asynchronous: bool = False,
                 session_kwargs: dict[str, Any] | None = None, loop: Any = None,
                 timeout: float | None = None, endpoint_url: str | None = None,
                 default_location: str | None = None, version_aware: bool = False,
                 anon: bool = False, batch_size: int | None = None,
                 use_listings_cache: bool = True, listings_expiry_time: float | None = None,
                 max_paths: int | None = None, **options: Any) -> None:
        if access not in ACCESS:
            raise ValueError(f"access: {access!r} is none of {', '.join(ACCESS)}")
        if consistency not in (None, *CONSISTENCY):
            raise ValueError(f"consistency: {consistency!r} is none of {', '.join(CONSISTENCY)}")
        if session_kwargs:
            raise ValueError("session_kwargs: they are aiohttp's: a proxy is named by the "
                             "environment, such as HTTPS_PROXY, and an authority by ca_file")
        if project is None:
            project = os.environ.get("GCSFS_DEFAULT_PROJECT")
        made, self._secret = client_options(
            options, project=project, token=token, anon=anon, endpoint_url=endpoint_url,
            requester_pays=requester_pays, requests_timeout=requests_timeout)
        self._threads = threading.local()
        # fsspec's own begins an event loop on a thread, which is not needed.
        AbstractFileSystem.__init__(self, use_listings_cache=False)
        self.project = project
        self.access = access
        self.version_aware = version_aware
        self.block_size = block_size
        self.asynchronous = asynchronous
        self.batch_size = batch_size
        self._loop = loop
        self._fs = self
        with names_of({"requests_timeout": requests_timeout, "token": token,
                       "endpoint_url": endpoint_url, "requester_pays": requester_pays or None}, options):
            self._road = Awaiting(made, timeout)
            self._blocking = self._verbs_of_threads(self, Blocking(made, timeout))
        self._writing = {}

    @property
    def loop(self) -> Any:
        """fsspec's event loop, for programs that ask for it; nothing here uses it."""
        return None if self.asynchronous else self._loop or get_loop()

    @property
    def client(self) -> Client:
        """The dataflux.Client that the plain methods use."""
        return self._blocking._road.client

    @property
    def async_client(self) -> AsyncClient:
        """The dataflux.AsyncClient that the coroutines use."""
        return self._road.client

    def close(self) -> None:
        """Ends what is under way. The filesystem cannot be used any more."""
        self.client.close()
        self.async_client.close()
        type(self)._cache.pop(self._fs_token_, None)

    # A transaction is its thread's.

    @property
    def _intrans(self):
        return getattr(self._threads, "intrans", False)

    @_intrans.setter
    def _intrans(self, value):
        self._threads.intrans = value

    @property
    def _transaction(self):
        return getattr(self._threads, "transaction", None)

    @_transaction.setter
    def _transaction(self, value):
        self._threads.transaction = value

    @property
    def _under_transaction(self):
        return self.transaction if self._intrans else None

    def start_transaction(self) -> ThreadTransaction:
        """Begins a transaction, or one within it; end_transaction() ends it."""
        transaction = self.transaction
        transaction.start()
        return transaction

    def end_transaction(self) -> None:
        """Ends what start_transaction() has begun."""
        self.transaction.complete()

    def _each(self, verb, arguments):
        return self.client._run(self._blocking._road.each(verb, arguments))

    def invalidate_cache(self, path: str | None = None) -> None:
        """Nothing: no listing is kept."""

    # Files

    def _remember_writer(self, place, file):
        with _writing_lock:
            for known in [known for known, files in self._writing.items() if not files]:
                del self._writing[known]
            self._writing.setdefault(place, WeakSet()).add(file)

    def _writers_at(self, bucket, name, below=False):
        """The files that are open for writing at a path, and below it."""
        if not self._writing:
            return []
        folder = name.rstrip("/") + "/"
        with _writing_lock:
            return [file for place, files in self._writing.items()
                    if place == (bucket, name) or (below and place[0] == bucket
                                                   and place[1].startswith(folder))
                    for file in list(files)
                    if not file._writer.closed and not file._writer.forked]

    def _open(self, path, mode="rb", block_size=None, autocommit=True, cache_options=None,
              **kwargs):
        """A file of bytes; as open()."""
        path = self._strip_protocol(path)
        if mode == "rb":
            how = {"generation": kwargs.pop("generation", None),
                   "block": block_of(block_size or self.block_size)}
            read_ahead = kwargs.pop("read_ahead", None)
            if kwargs.get("cache_type") == "none":
                read_ahead = 0
            if read_ahead is not None:
                how["read_ahead"] = read_ahead
            given = without_harmless(kwargs)
            given.pop("size", None)  # fsspec's caches know it
            refuse(given, "open")
            return reader_of(self, path, how)
        if mode not in ("wb", "xb", "ab"):
            if "+" in mode:
                mode = mode.replace("a", "w")  # it cannot be changed in place, for one
            _mode_of(mode)
        given = {name: each for name, each in without_harmless(kwargs).items()
                 if name not in ("generation", "size")}
        kind = ObjectWriter if autocommit else HeldWriter
        how = {name: given.pop(name) for name in ("size_hint", "part_size")
               if given.get(name) is not None}
        if mode == "ab":
            return appender_of(self, kind, path, given, how)
        how.update(attributes_of(given, path))
        if given.get("if_generation_match") is not None:
            how["if_generation_match"] = given.pop("if_generation_match")
        refuse(given, "open")
        return writer_of(self, kind, path, mode, how)

    def open(self, path: Any, mode: str = "rb", block_size: int | None = None,
             cache_options: Any = None, compression: str | None = None,
             encoding: str | None = None, errors: str | None = None, newline: str | None = None,
             **kwargs: Any) -> Any:
        """Opens an object as a file.

        Arguments:
            mode: "rb", "wb", "xb" (FileExistsError where there is an object), "ab", and "r", "w",
                "x", "a" with text. "a" appends: up to 4 MiB are read and written again with the new
                bytes; behind a larger object the service puts them, which takes three requests.
            block_size: bytes that a short read brings.
            cache_type: "none" reads nothing ahead. The other names, and whatever else tunes caches
                and blocks, are taken, and change nothing: reads in sequence are read ahead.
            anon, token, retries: nothing; they are said when a filesystem is made.
            compression: as fsspec has it, "infer" for one.
            encoding, errors, newline: of text; None = UTF-8.
            generation: of the object that is read.
            content_type (None = what the name says), metadata, fixed_key_metadata, kms_key_name,
                storage_class: of the object that is written.

        Returns: a dataflux.FileReader or FileWriter, or what is put on top of one. A written object
            appears when the file is closed and no exception passes; in a transaction at its end.
        Raises: FileNotFoundError; ValueError for "+", since objects are written as wholes. close() of
            what "a" has opened raises a PreconditionError where somebody else has written the object
            meanwhile: his bytes stay, and these are not there.
        """
        text = "b" not in mode
        autocommit = kwargs.pop("autocommit", not self._intrans)
        file = self._open(path, mode.replace("t", "") + "b" if text else mode,
                          block_size=block_size, autocommit=autocommit,
                          cache_options=cache_options, **kwargs)
        if not autocommit and self._intrans and isinstance(file, HeldWriter):
            self.transaction.files.append(file)
        try:
            return on_top(file, path, mode, compression, encoding or "utf-8", errors, newline)
        except BaseException:
            if isinstance(file, ObjectWriter):
                abort_quietly(file)
            raise

    # fsspec's own forms of what is not a coroutine there.

    def walk(self, path: Any, maxdepth: int | None = None, topdown: bool = True,
             on_error: Any = "omit", detail: bool = False, **kwargs: Any) -> Iterator[Any]:
        yield from self.client._run(self._blocking._walked(path, maxdepth, topdown, on_error, detail))

    walk.__doc__ = Finding._walk.__doc__

    def url(self, path: Any, generation: int | str | None = None) -> str:
        """The object's URL of HTTP, for whoever has a token."""
        from urllib.parse import quote

        bucket, name, number = self._object(path, generation)
        endpoint = self.client._options.given["endpoint"] or "https://storage.googleapis.com"
        return (f"{endpoint}/download/storage/v1/b/{bucket}/o/{quote(name, safe='')}?alt=media"
                + (f"&generation={number}" if number else ""))

    def sign(self, path: Any, expiration: int = 100, **kwargs: Any) -> NoReturn:
        """Signs nothing.

        Raises: NotImplementedError.
        """
        raise NotImplementedError(f"sign: {self._no_signing}")

    async def open_async(self, path: Any, mode: str = "rb",
                         **kwargs: Any) -> AsyncReader | AsyncWriter:
        """A dataflux.AsyncReader ("rb") or AsyncWriter ("wb", "xb", "ab"), for tasks."""
        if mode == "rb":
            bucket, name, generation = self._object(path, kwargs.pop("generation", None))
            refuse(without_harmless(kwargs), "open_async")
            return await self.async_client.reader((bucket, name), generation=generation)
        if mode not in ("wb", "xb", "ab"):
            raise ValueError(f'mode: "rb", "wb", "xb" or "ab" is needed, and not {mode!r}')
        given = without_harmless(kwargs)
        if mode == "ab":
            from ._appending import async_writer

            return await async_writer(self._road, self._target(path), given, path)
        how = attributes_of(given, path)
        refuse(given, "open_async")
        if mode == "xb":
            how["if_generation_match"] = 0
        return await self.async_client.writer(self._target(path), **how)

    def _not_with_secrets(self):
        if self._secret:
            raise TypeError("token: a filesystem with a token, or with an object that has one, does "
                            "not travel, so that no secret does: name a credentials file, or leave "
                            "it out for Application Default Credentials")

    def to_json(self, **how: Any) -> str:
        """See fsspec. Raises: TypeError where the options have a secret."""
        self._not_with_secrets()
        return super().to_json(**how)

    def to_dict(self, **how: Any) -> dict[str, Any]:
        """See fsspec. Raises: TypeError where the options have a secret."""
        self._not_with_secrets()
        return super().to_dict(**how)

    def __reduce__(self):
        self._not_with_secrets()
        return _again, (type(self), self.storage_args, self.storage_options, registered())

    def __repr__(self):
        return f"<dataflux.fsspec.{type(self).__name__} on {self.client!r}>"


for _name in ("info", "exists", "isfile", "isdir", "size", "sizes", "created", "modified",
              "checksum", "ukey", "ls", "find", "glob", "du", "expand_path", "cat_file",
              "cat_ranges", "cat", "head", "tail", "pipe_file", "pipe", "touch", "cp_file", "copy",
              "mv_file", "mv", "rm_file", "rm_files", "rm", "mkdir", "makedirs", "rmdir",
              "setxattrs", "getxattr", "merge", "get_file", "get", "put_file", "put"):
    setattr(DatafluxFileSystem, _name, _blocking(getattr(_Verbs, "_" + _name)))
del _name


class DatafluxS3FileSystem(S3Paths, DatafluxFileSystem):
    """The same filesystem on S3, and on what speaks like it.

        fs = DatafluxS3FileSystem(client_kwargs={"region_name": "eu-west-1"})
        fs.ls("bucket/folder")

    Arguments of s3fs:
        anon: nothing is signed, for public buckets.
        key, secret, token: the access key, in place of what AWS's own tools would find.
        endpoint_url: "http[s]://host[:port]" of another server than AWS's.
        client_kwargs: of boto's, region_name, endpoint_url, aws_access_key_id, aws_secret_access_key and
            aws_session_token.
        requester_pays: this account pays at buckets whose requester pays.
        default_block_size: bytes that a short read of an open file brings.
    All options of dataflux.Client for S3 are taken, too, by name, such as addressing, and of
    DatafluxFileSystem access, requests_timeout, timeout and asynchronous.

    What S3 lacks raises an Error whose status is "unimplemented": setxattrs(), and ls("") of all buckets.
    mv() copies and removes.
    """

    _verbs_of_threads = _BlockingS3Verbs

    def __init__(self, anon: bool = False, endpoint_url: str | None = None, key: str | None = None,
                 secret: str | None = None, token: str | None = None,
                 client_kwargs: dict[str, Any] | None = None, requester_pays: bool = False,
                 default_block_size: int | None = None, **options: Any) -> None:
        if options.get("version_aware"):
            raise ValueError("version_aware: a version of S3 has an id and no generation, by which dataflux could "
                             "read it; use AWS's own tools")
        super().__init__(anon=anon, requester_pays=requester_pays, **s3_options(
            options, key, secret, token, endpoint_url, client_kwargs, default_block_size))

    def url(self, path: Any, generation: int | str | None = None) -> NoReturn:
        """Gives none.

        Raises: NotImplementedError.
        """
        raise NotImplementedError(f"url: {self._no_signing}")


def _again(kind, arguments, options, protocols):
    if protocols:
        _register(protocols)
    return kind(*arguments, **options)
