"""What lists objects: list(), and list_batches() for listings that are larger than memory."""

from __future__ import annotations

import _thread

from . import _abi, _wait
from ._batches import Batches
from ._calls import FLAGS, STATUS, Call, calling, checked, failure, json_of, taker
from ._columns import ListingHandle, Table
from ._errors import PreconditionError, after
from ._handles import ErrorHandle, handle
from ._library import Pointer, addressof, byref, library, struct
from ._listing import Listing, text_of
from ._place import bucket_url, count_of, flag_of, nanoseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import Any, Dict, Literal

    from ._progress import Progress

ListerHandle = handle("lister")
_take_listing = taker("listing", ListingHandle)
# Of the arguments of list().
_DEFAULTS = {**dict.fromkeys(("start", "end", "delimiter", "glob", "suffix", "regex", "max_size", "timeout")),
             **dict.fromkeys(("min_size", "parallelism", "max_calls", "memory_cap"), 0),
             **dict.fromkeys(("directories", "composites", "versions"), False),
             "storage_classes": (), "on_error": "raise"}


def _classes(given):
    """Storage classes, as an array of C; None = of all."""
    try:
        names = None if isinstance(given, (str, bytes)) else list(given)
    except TypeError:
        names = None
    if names is None:
        raise TypeError('storage_classes: names in a list are needed, such as ["STANDARD"], and not a '
                        f"{type(given).__name__}")
    if not names:
        return None
    import ctypes

    texts = [text_of(name, f"storage_classes[{at}]") for at, name in enumerate(names)]
    if not all(texts):
        raise ValueError("storage_classes: one of them is empty")
    return (ctypes.c_char_p * len(texts))(*texts)


def list_options(place, given):
    """dataflux_list_options of the arguments of list() and list_batches(), by their names."""
    bucket, prefix = place
    texts = {member: text_of(given[argument], argument) for member, argument in (
        ("start_offset", "start"), ("end_offset", "end"), ("delimiter", "delimiter"),
        ("match_glob", "glob"), ("suffix", "suffix"), ("regex", "regex"))
        if given[argument] is not None}
    max_size = given["max_size"]
    if max_size is not None:
        count_of(max_size, "max_size", 1)
    count_of(given["parallelism"], "parallelism", bits=32)
    if given["on_error"] not in ("raise", "omit"):
        raise ValueError(f'on_error: "raise" or "omit" is needed, and not {given["on_error"]!r}')
    made = struct(
        "list_options", bucket=bucket, prefix=prefix, **texts,
        min_size=count_of(given["min_size"], "min_size"), max_size=max_size,
        keep_markers=flag_of(given["directories"], "directories"),
        keep_composed=flag_of(given["composites"], "composites"),
        versions=flag_of(given["versions"], "versions"), parallelism=given["parallelism"],
        max_calls=count_of(given["max_calls"], "max_calls"),
        memory_cap=count_of(given["memory_cap"], "memory_cap"),
        timeout_ns=nanoseconds(given["timeout"]), partial=given["on_error"] == "omit",
        by_name=flag_of(given.get("in_order", False), "in_order"))
    classes = _classes(given["storage_classes"])
    if classes is not None:
        made.kept = classes
        made.storage_classes, made.storage_class_count = addressof(classes), len(classes)
    return made


def listing_of(place, **given):
    """For `begin`: lists what a prefix has, by arguments of list()."""
    options = list_options(place, {**_DEFAULTS, **given})
    return calling("list", byref(options))


def _closed():
    return PreconditionError("the stream of batches is closed: begin another one")


def _forked():
    return PreconditionError("a stream of batches belongs to the process that began it: begin another "
                             "after a fork")


def _over(why):
    """What makes an exception for each next() after the one that raised `why`."""
    if isinstance(why, StopIteration):
        return StopIteration
    # Whether a batch was lost on the way cannot be told any more.
    return after(why, f"the stream of batches was ended by a {type(why).__name__}: begin another one")


class ListStream:
    """Batches of a listing, each a Listing of at most some 65,536 rows, as they arrive: an iterator.

    The listing goes on while a batch is used, as far as `memory_cap` allows. It is a context manager:
    close() ends it early, and so does letting go of it. An exception that next() raises ends it, too,
    KeyboardInterrupt for one: each next() after it fails, so that a part never passes for the whole.

    Threads: any number; what one gets no other does. In a forked child it is PreconditionError.
    """

    def __init__(self, client, options, bucket, prefix=""):
        self._bucket, self._prefix = bucket, prefix
        self._process = _wait._process
        self._lock = _thread.RLock()  # one reads at a time
        self._freeing = _thread.RLock()
        self._over = None  # makes what next() raises when no more comes
        self._closing = False
        self._summary = None
        self._queue = _wait.new_queue()
        self._records = _wait.Records(self._queue)
        self._lister, error = ListerHandle(), ErrorHandle()
        checked(library.list_stream(client._handle_for_stream(self._queue), byref(options), self._queue, 1,
                                    byref(self._lister), byref(error)), error)

    def __iter__(self) -> ListStream:
        return self

    def __next__(self) -> Listing:
        while True:
            batch = self._next(-1)
            if batch is not None:
                return batch

    def _check(self):
        # Before any lock: a thread of the parent may have held it.
        if self._process != _wait._process:
            raise _forked()

    def _next(self, wait_ns):
        """The next batch; None where a signal came first, or none did in that time. A failure ends the
        stream."""
        self._check()
        with self._lock:
            if self._over is not None:
                raise self._over()
            try:
                record = self._records.take(wait_ns)
                if self._over is not None:  # a signal handler has closed it
                    raise self._over()
                if self._closing:  # another thread cancels it, which may be told before it has ended
                    raise _closed()
                return None if record is None else self._batch(record)
            except BaseException as why:
                self._end(_over(why))
                raise

    # For AsyncListStream, which waits in another way.

    @property
    def ended(self) -> bool:
        """No more batches come."""
        return self._over is not None

    @property
    def fd(self) -> int:
        """Readable while taken() may give something."""
        number: int = library.queue_fd(self._queue)
        return number

    def taken(self):
        """A batch that is there now; None."""
        return self._next(0)

    def why(self):
        """What the next step raises when it has ended."""
        return self._over()

    def _batch(self, record):
        """What a record tells of."""
        if record[FLAGS] & _abi.RECORD_END:
            raise failure(self._queue, record) if record[STATUS] else StopIteration
        made, error = ListingHandle(), ErrorHandle()
        checked(library.lister_take(self._lister, byref(made), byref(error)), error)
        return Listing(Table(made, self._bucket, self._prefix))

    def _end(self, over):
        with self._freeing:
            if self._over is None:
                self._over = over
                try:
                    self._summary = self._described()
                finally:
                    self._lister.free()
                    self._queue.free()

    def _described(self):
        import ctypes
        import json

        text, error = Pointer(), ErrorHandle()
        try:
            checked(library.lister_json(self._lister, byref(text), byref(error)), error)
            return json.loads(ctypes.string_at(text.value))
        finally:
            library.text_free(text)

    @property
    def summary(self) -> Dict[str, Any]:
        """What was done so far: what Listing.summary has, but for prefixes, which the batches have.

        Threads: it waits while another thread waits for a batch.
        """
        self._check()
        with self._lock:
            return dict(self._described() if self._over is None else self._summary or {})

    def close(self) -> None:
        """Ends it; next() raises PreconditionError from then on, if batches were still to come.
        Closing again does nothing. Any thread: who waits for a batch is woken. In a forked child it
        does nothing: the stream is the parent's."""
        if self._process != _wait._process:
            return
        with self._freeing:
            if self._over is not None:
                return
            self._closing = True
            library.lister_cancel(self._lister)  # wakes who reads
        with self._lock:
            self._end(_closed)

    def __enter__(self) -> ListStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "under way" if self._over is None else "ended"
        return f"<dataflux.ListStream of {bucket_url(self._bucket)}, {state}>"

    def __reduce__(self):
        raise TypeError("a ListStream belongs to its process, and cannot be pickled")


class AsyncListStream(Batches):
    """Batches of a listing, each a Listing of at most some 65,536 rows, as they arrive: an
    asynchronous iterator.

    The listing goes on while a batch is used, as far as `memory_cap` allows. `async with` closes it;
    so does letting go of it. A failure ends it: each next step fails then, so that a part never
    passes for the whole. One that was cancelled while it waited has lost nothing, and can go on.

    One task at a time takes from it.
    """

    if TYPE_CHECKING:
        async def __anext__(self) -> Listing: ...

    @property
    def summary(self) -> Dict[str, Any]:
        """What was done so far: what Listing.summary has, but for prefixes, which the batches have."""
        return self._stream.summary


class ListVerbs:
    """What a client does with listings."""

    def list(self, url: str | tuple[str, str], *, start: str | None = None, end: str | None = None,
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
        place = self._prefix_place(url)
        options = list_options(place, locals())
        bucket, prefix = place[0].decode(), place[1].decode()
        call = Call(lambda client, queue, tag, out, err:
                    library.list(client, byref(options), queue, tag, out, err),
                    lambda operation, record:
                    Listing(Table(_take_listing(operation, record), bucket, prefix)))
        return self._run(call, progress=progress, told=("listing", bucket, prefix))

    def list_shared(self, url: str | tuple[str, str], target: str | os.PathLike[str] | None, *,
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
        place = self._prefix_place(url)
        options = list_options(place, dict(locals(), delimiter=None, max_calls=0, memory_cap=0,
                                           on_error="raise"))
        bucket, prefix = self._prefix_place(board, "board")
        if not prefix:
            raise ValueError(f"board: {board!r} is a whole bucket; a prefix of one is needed")
        path = None
        if target is not None:
            from ._manifest import manifest_path

            path = manifest_path(target, "a shared listing is written")
        seconds = nanoseconds(lease, "lease")
        return self._run(Call(
            lambda client, queue, tag, out, err:
                library.list_shared(client, byref(options), bucket, prefix, path, seconds, queue,
                                    tag, out, err),
            lambda operation, record: json_of(operation)))

    def list_batches(self, url: str | tuple[str, str], *, start: str | None = None,
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
        place = self._prefix_place(url)
        return ListStream(self, list_options(place, locals()), *(part.decode() for part in place))
