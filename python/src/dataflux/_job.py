"""job(): what the processes of a job share: the rate that a bucket takes, an access token, listings."""

from __future__ import annotations

import _thread
import json
import os
from time import monotonic, time
from weakref import WeakSet

from . import _threads
from ._boards import AloneBoard, BucketBoard, FolderBoard, StoreBoard
from ._calls import checked
from ._errors import DeadlineError, PreconditionError, taken
from ._events import log
from ._handles import ErrorHandle, handle
from ._library import byref, library, struct
from ._place import count_of, nanoseconds
from ._ranks import distributed, ranks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ._client import Client
    from ._manifest import Manifest

JobHandle = handle("job")
_Text = handle("text")
_jobs = WeakSet()
_BEATS = 10  # of a lease
_POLL = 0.05
_FIRST_TOKEN = 10.0  # seconds that the first token of a job may take
_GONE = 10.0  # seconds before its end from which on a token is not taken
_APART = 10**9  # ns: ends of two tokens; that of one is computed anew each time, by two clocks
_NONE = b"{}"  # on the board: clients of this job send no token, or one without an end
_RATES = {"gs": (5000.0, 1000.0), "s3": (5500.0, 3500.0), "ais": (1e9, 1e9)}


class Job:
    """One process of a job, and its client. It is a context manager, and lives until close().

    dataflux.job() makes it, and says what is shared. A forked child is no process of the job, and its client starts
    requests as if there was no job.

    Threads: any. A thread of its own does a beat, ten times in a lease.
    """

    def __init__(self, board: Any, client: Client, rank: int, world_size: int, lease: float,
                 rates: tuple[float, float]) -> None:
        from threading import Event

        self._board = board
        self._client = client
        self.rank = rank
        self.world_size = world_size
        self._lease = lease
        self._lock = _thread.RLock()  # of the handle, whose beats come one at a time
        self._over = Event()  # the thread is to end
        self._ended = _thread.allocate_lock()  # held by the thread
        self._closed = False
        self._silent = False
        self._listed: dict[str, int] = {}
        self._expires = 0  # of the newest token of this process, ns since 1970
        self._temporary: Any = None
        made, error = JobHandle(), ErrorHandle()
        options = struct("job_options", rank=rank, processes=world_size, reads=rates[0], writes=rates[1],
                         lease_ns=nanoseconds(lease, "lease"))
        checked(library.job_create(byref(options), byref(made), byref(error)), error)
        self._job = made
        _jobs.add(self)
        self._board.tell(self._beat([]))
        self._first_token()
        _threads.begin(self._beats, lease / _BEATS)

    @property
    def client(self) -> Client:
        """The client that starts requests at this process's share of the rate."""
        return self._client

    def living(self) -> int:
        """How many processes live, with this one. One of which nothing was seen yet counts until a lease has passed.

        Raises: PreconditionError after close(), and in a forked child.
        """
        return self._living()[0]

    def manifest(self, url: str | tuple[str, str], *, start: str | None = None, end: str | None = None,
                 glob: str | None = None, suffix: str | None = None, regex: str | None = None, min_size: int = 0,
                 max_size: int | None = None, storage_classes: Iterable[str] = (), directories: bool = False,
                 composites: bool = False, versions: bool = False, parallelism: int = 0,
                 timeout: float | None = None) -> Manifest:
        """Lists a prefix once for all processes of the job, each of which calls this. With a folder or a store as the
        board one lists, the process with the lowest rank that lives, and the others get its manifest. If it dies, the
        next one lists. With a board in a bucket all list together, by list_shared().

        What was listed is kept as long as the board, and calls with the same arguments are counted: the second one
        lists anew, in all processes.

        Arguments: those of list(). timeout: seconds for all of it, with the time for which this process waits for
            another one; None = no limit.

        Raises: what list() raises, in the process that lists; then the others list by themselves. DeadlineError;
        PreconditionError after close().
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "url", "timeout")}
        given["storage_classes"] = tuple(storage_classes)
        name = self._name_of(url, given)
        limit = None if timeout is None else monotonic() + timeout
        path = os.path.join(self._folder(), name)
        if isinstance(self._board, BucketBoard):
            self._client.list_shared(url, path, board=self._board.listing(name), lease=self._lease, timeout=timeout,
                                     **given)
            return self._client.open_manifest(path)
        if not self._board.shares_files:
            self._list(url, path, given, limit)
            return self._client.open_manifest(path)
        return self._client.open_manifest(self._shared_file(url, name, given, limit))

    def close(self) -> None:
        """Leaves the job: the client's rate is its own again, and after a lease the others take this process's share.
        Closing again does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._over.set()
            opened, error = self._client._opened, ErrorHandle()
            if opened and library.job_leave(self._job, opened, byref(error)):
                taken(error)  # of a client that is closed meanwhile
        with self._ended:  # the thread uses the board
            self._board.close()
        self._job.free()
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            temporary.cleanup()

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("a Job is of its process: make one in each")

    def __repr__(self):
        return f"dataflux.Job(rank={self.rank}, world_size={self.world_size})"

    def _check_open(self):
        if self._closed:
            raise PreconditionError("the job is closed, or of the process that this one was forked from: make another "
                                    "one")

    def _living(self):
        from ctypes import c_uint32

        count, lowest, error = c_uint32(), c_uint32(), ErrorHandle()
        with self._lock:
            self._check_open()
            checked(library.job_living(self._job, byref(count), byref(lowest), byref(error)), error)
        return count.value, lowest.value

    def _beat(self, records):
        from ctypes import c_char_p, string_at

        texts = (c_char_p * max(len(records), 1))(*(bytes(each) for each in records))
        own, error = _Text(), ErrorHandle()
        with self._lock:
            self._check_open()
            checked(library.job_beat(self._job, self._client._handle(), texts, len(records), byref(own), byref(error)),
                    error)
        return string_at(own.value).decode()

    def _beats(self, pause):
        with self._ended:
            while not self._over.wait(pause) and self._look():
                pass

    def _look(self):
        """A beat of the thread. False: no more of them."""
        records, why = [], None
        try:
            records = self._board.records()
        except Exception as failed:
            why = failed
        try:
            own = self._beat(records)
        except PreconditionError:
            return False
        try:
            if why is None:
                self._board.tell(own)
                if self._board.keeps_secrets:
                    self._share_token()
        except Exception as failed:
            why = failed
        if why is not None and not self._silent and not self._closed:
            log("warning", f"the job's board fails: {type(why).__name__}: {why}; this process goes on by itself "
                "meanwhile")
        self._silent = why is not None
        return True

    # Tokens: the newest one is on the board, whoever of them has asked for it.

    def _first_token(self):
        """So that the processes of a job that begins do not all ask at once: the first one does, and they wait."""
        if not self._board.keeps_secrets or self.world_size == 1 or self._client._options.given["anonymous"]:
            return
        asks = self._living()[1] == self.rank
        until = monotonic() + min(_FIRST_TOKEN, self._lease)
        while monotonic() < until:
            if asks:
                if self._put_token():
                    return
            elif self._take_token() or self._board.get("token") == _NONE:
                return
            self._over.wait(_POLL)

    def _share_token(self):
        self._take_token()
        self._put_token()

    def _on_board(self):
        """(token, ns since 1970) on the board, if it is good for a while; else (None, 0)."""
        text = self._board.get("token")
        try:
            told = json.loads(text) if text else {}
            token, expires = told["token"], told["expires_ns"]
            if isinstance(token, str) and isinstance(expires, int) and expires / 1e9 > time() + _GONE:
                return token, expires
        except (ValueError, KeyError, TypeError):
            pass
        return None, 0

    def _take_token(self):
        """Whether the client has the token that is on the board."""
        token, expires = self._on_board()
        if token is None:
            return False
        if expires > self._expires + _APART:
            client = self._client._handle()
            tokens = self._client._tokens()
            if tokens is not None:
                tokens._give(client, token, expires)
            else:
                error = ErrorHandle()
                checked(library.client_set_token(client, token.encode(), expires, byref(error)), error)
            self._expires = expires
        return True

    def _put_token(self):
        """Tells the others of the client's token, if it is newer. False: it has none yet, and has asked for one."""
        from ctypes import c_int64, string_at

        token, expires, error = _Text(), c_int64(), ErrorHandle()
        try:
            checked(library.client_token(self._client._handle(), byref(token), byref(expires), byref(error)), error)
            if not token.value:
                return False
        except PreconditionError:
            pass  # it sends none
        if not expires.value:  # of one without an end nobody knows which is newer
            if self._board.get("token") is None:
                self._board.put("token", _NONE)
            return True
        if expires.value > max(self._expires, self._on_board()[1]) + _APART:
            self._expires = expires.value
            told = {"token": string_at(token.value).decode(), "expires_ns": expires.value}
            self._board.put("token", json.dumps(told).encode())
        return True

    # Listings

    def _name_of(self, url, given):
        from hashlib import sha256

        what = json.dumps([url if isinstance(url, str) else list(url), given], sort_keys=True, default=str)
        digest = sha256(what.encode()).hexdigest()[:16]
        with self._lock:
            self._check_open()
            self._listed[digest] = count = self._listed.get(digest, 0) + 1
        return f"listing-{digest}-{count}"

    def _list(self, url, path, given, limit):
        left = None if limit is None else max(limit - monotonic(), 0.001)
        self._client.save_manifest(self._client.list(url, timeout=left, **given), path)

    def _shared_file(self, url, name, given, limit):
        """The path of the manifest that one process writes."""
        board = self._board
        while True:
            there = board.file(name, self._folder())
            if there is not None:
                return there
            failed = board.get(name + ".failed") is not None
            if failed or self._living()[1] == self.rank:
                path = os.path.join(board.folder(), f"{name}.{os.getpid()}")
                try:
                    self._list(url, path, given, limit)
                    board.put_file(name, path)
                except BaseException:
                    board.put(name + ".failed", b"1")
                    raise
                continue
            if limit is not None and monotonic() >= limit:
                raise DeadlineError("deadline_exceeded: no process of the job has listed it in time")
            self._over.wait(_POLL)
            self._check_open()

    def _folder(self):
        if self._board.shares_files:
            return self._board.folder()
        with self._lock:
            if self._temporary is None:
                from tempfile import TemporaryDirectory

                self._temporary = TemporaryDirectory(prefix="dataflux-job-")
            return self._temporary.name


def job(board: Any = None, *, client: Client | None = None, rank: int | None = None, world_size: int | None = None,
        name: str | None = None, reads: float = 0, writes: float = 0, lease: float | None = None) -> Job:
    """Joins the other processes of a job: each of them calls it, with the same arguments but for the rank.

    From then on the processes share what a bucket takes of reads and writes a second, an access token, and listings
    (Job.manifest). A start from cold begins at the rate that the service says a bucket takes, and grows as the service
    asks. docs/job.md says more.

    Arguments:
        board: where the processes tell each other of themselves: a folder of the machine that all of them are on;
            a prefix of a bucket that nobody else writes to, such as "gs://bucket/jobs"; or a store of
            torch.distributed's. None = the one of torch.distributed, where its process group was made.
        client: whose rate is limited; None = dataflux.client().
        rank, world_size: None = those of torch.distributed, of the environment (RANK, WORLD_SIZE), or 0 of 1.
        name: tells jobs of one folder or bucket from each other. None = TORCHELASTIC_RUN_ID or SLURM_JOB_ID of the
            environment. A job that starts again has the same one, and goes on with its listings.
        reads, writes: requests a second that a bucket takes when nobody has used it yet; 0 = as the service says:
            5,000 and 1,000 of Google Cloud Storage, 5,500 and 3,500 of S3, and no limit of AIStore.
        lease: seconds after which a process that says nothing is dead, and the others take its share. None = 10 with
            a folder, 30 with a store, 120 with a bucket.

    Raises: ValueError and TypeError for an argument; PreconditionError for a folder that others may look into, or a
    rank that another process of this machine has; what the board raises when it is first used.
    """
    from ._client import Client, client_for

    if client is None:
        client = client_for(board if isinstance(board, (str, tuple)) else None)
    elif not isinstance(client, Client):
        raise TypeError(f"client: a dataflux.Client is needed, and not a {type(client).__name__}")
    rank, world_size = ranks(rank, world_size)
    rates = []
    for given, usual, what in zip((reads, writes), _RATES[client._scheme], ("reads", "writes")):
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not (given == 0 or 1 <= given <= 1e9):
            raise ValueError(f"{what}: {given!r} is no rate: 1 to 1e9 a second, or 0 for the service's")
        rates.append(float(given or usual))
    made = _board_of(board, client, rank, world_size, name)
    try:
        if lease is None:
            lease = made.lease
        if not 0.05 <= lease <= 86400:
            raise ValueError(f"lease: {lease!r}: 0.05 seconds to a day")
        return Job(made, client, rank, world_size, lease, (rates[0], rates[1]))
    except BaseException:
        made.close()
        raise


def _board_of(board, client, rank, world_size, name):
    if name is not None and (not isinstance(name, str) or not name):
        raise ValueError("name: a str that is not empty")
    if board is None:
        group = distributed()
        if world_size == 1:
            return AloneBoard()
        if group is None or group.get_world_size() != world_size:
            raise ValueError("board: give a folder, a prefix of a bucket or a store, or call "
                             "torch.distributed.init_process_group() before")
        board = group.distributed_c10d._get_default_store()
    if hasattr(board, "check") and hasattr(board, "set"):
        return StoreBoard(board, name or "job", rank, world_size)
    if name is None:
        told = (os.environ.get(each) for each in ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID"))
        name = next((each for each in told if each and each != "none"), None)
        if name is None:
            raise ValueError("name: give one, for there is neither TORCHELASTIC_RUN_ID nor SLURM_JOB_ID in the "
                             "environment to tell this job from others")
    if isinstance(board, tuple) or (isinstance(board, str) and "://" in board):
        return BucketBoard(client, board, name, rank)
    if not isinstance(board, (str, bytes, os.PathLike)):
        raise TypeError(f"board: a folder, a prefix of a bucket or a store is needed, and not a {type(board).__name__}")
    return FolderBoard(board, name, rank)


def _in_child():
    # The locks, the thread and the board are the parent's.
    for each in list(_jobs):
        each._lock = _thread.RLock()
        each._closed = True


os.register_at_fork(after_in_child=_in_child)
