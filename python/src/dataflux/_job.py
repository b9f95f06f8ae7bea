"""job(): what the processes of a job share: the rate that a bucket takes, an access token, listings."""

from __future__ import annotations

import _thread
import json
import os
from contextlib import ExitStack, suppress
from time import monotonic, time
from weakref import WeakSet

from . import _threads
from ._boards import AloneBoard, BucketBoard, FolderBoard, Temporary, board_of, token_in
from ._calls import checked
from ._errors import DeadlineError, Error, PreconditionError, taken
from ._events import log
from ._handles import ErrorHandle, handle
from ._library import byref, library, struct
from ._place import nanoseconds, number_of
from ._ranks import ranks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ._client import Client
    from ._manifest import Manifest

JobHandle = handle("job")
_Text = handle("text")
_jobs = WeakSet()
_joining = _thread.allocate_lock()  # of two jobs of one client one is refused
_BEATS = 10  # of a lease
_SLOW = 5  # beats that a board may take; after that they go on without it
_LEAVING = 5.0  # seconds that close() waits for the board
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

    Threads: any. A thread of its own does a beat, ten times in a lease, and a second one where the board is slow.
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
        self._over = Event()  # the threads are to end
        self._looks = _thread.allocate_lock()  # held by the thread that uses the board
        self._looked = monotonic()
        self._closing = _thread.RLock()
        self._closed = self._left = False
        self._silent = False
        self._listed: dict[str, set[int]] = {}  # the numbers of calls that were made, and have not failed
        self._failed: set[str] = set()  # listings, of which the others know
        self._expires = 0  # of the newest token of this process, ns since 1970
        self._temporary = Temporary()
        made, error = JobHandle(), ErrorHandle()
        options = struct("job_options", rank=rank, processes=world_size, reads=rates[0], writes=rates[1],
                         lease_ns=nanoseconds(lease, "lease"))
        checked(library.job_create(byref(options), byref(made), byref(error)), error)
        self._job = made
        with _joining:
            if any(each._client is client and not each._left for each in _threads.all_of(_jobs)):
                raise PreconditionError("client: it is of another job, which is not closed: close that one before, or "
                                        "give another client")
            _jobs.add(self)
        try:
            self._board.tell(self._beat([]))
            if self._board.shares_files:
                self._tell_failed()  # of the process that had this rank before
            self._first_token()
            self._looked = monotonic()
            _threads.begin(self._look_often, lease / _BEATS)
            _threads.begin(self._beat_alone, lease / _BEATS)
        except BaseException:
            with suppress(Exception):  # the first one is told
                self.close()
            raise

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

        What was listed first is the listing of all, and is kept as long as the board. Calls with the same arguments
        are counted: the second one lists anew, in all processes. One that fails, or is interrupted, does not count.

        Arguments: those of list(). timeout: seconds for all of it, with the time for which this process waits for
            another one; None = no limit.

        Raises: what list() raises, in the process that lists; then the others list by themselves. DeadlineError, after
        which the others wait for the next call; PreconditionError after close().
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "url", "timeout")}
        given["storage_classes"] = tuple(storage_classes)
        limit = None if timeout is None else monotonic() + timeout
        digest, number = self._call_of(url, given)
        try:
            return self._shared(url, f"listing-{digest}-{number}", given, limit)
        except BaseException:
            self._listed[digest].discard(number)  # the next call is for the same listing
            raise

    def close(self) -> None:
        """Leaves the job: the client's rate is its own again, and after a lease the others take this process's share.
        It waits some seconds for a board that does not answer. Closing again does nothing, or what an interrupt has
        left to do."""
        with self._closing, ExitStack() as then:  # all of it, whatever fails or interrupts
            self._closed = True
            self._over.set()
            then.callback(self._free)
            then.callback(self._temporary.close)
            then.callback(self._board.close)
            then.callback(self._wait)
            self._leave()

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

    def _leave(self):
        opened, error = self._client._opened, ErrorHandle()
        with self._lock:  # no beat is after this
            if opened and not self._left and library.job_leave(self._job, opened, byref(error)):
                taken(error)  # of a client that is closed meanwhile
        self._left = True

    def _wait(self):
        if self._looks.acquire(timeout=_LEAVING):
            self._looks.release()

    def _free(self):
        if self._left:
            self._job.free()

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

    def _look_often(self, pause):
        with self._looks:
            while not self._over.wait(pause) and self._look():
                self._looked = monotonic()

    def _beat_alone(self, pause):
        """While the board does not answer, the others seem dead after a lease, as if they were."""
        while not self._over.wait(pause):
            if monotonic() > self._looked + _SLOW * pause:
                try:
                    self._beat([])
                except PreconditionError:
                    return
                except Exception as failed:
                    self._warn(failed)
                else:
                    self._warn(DeadlineError("deadline_exceeded: it does not answer"))

    def _look(self):
        """A beat of the thread. False: no more of them."""
        records, why = [], None
        try:
            records = self._board.records()
        except Exception as failed:
            why = failed
        try:
            own = self._beat(records)
            if why is None:
                self._board.tell(own)
                if self._board.keeps_secrets:
                    self._share_token()
        except Exception as failed:
            if self._closed or self._client._closed:
                return False
            why = failed
        if why is None:
            self._silent = False
        else:
            self._warn(why)
        return True

    def _warn(self, why):
        if not self._silent and not self._closed:
            log("warning", f"the job's board fails: {type(why).__name__}: {why}; this process goes on by itself "
                "meanwhile")
        self._silent = True

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
        return token_in(self._board.get("token"), int((time() + _GONE) * 1e9))

    def _take_token(self):
        """Whether the client has the token that is on the board."""
        token, expires = self._on_board()
        if token is None:
            return False
        if expires > self._expires + _APART:
            client = self._client._handle()
            tokens = self._client._tokens()
            try:
                if tokens is not None:
                    tokens._give(client, token, expires)
                else:
                    error = ErrorHandle()
                    checked(library.client_set_token(client, token.encode(), expires, byref(error)), error)
            except Error:  # what the library refuses is none
                return False
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
        least = expires.value - _APART
        if least > self._expires and least > self._on_board()[1]:  # the board is asked for a newer one alone
            self._expires = expires.value
            told = {"token": string_at(token.value).decode(), "expires_ns": expires.value}
            self._board.put("token", json.dumps(told).encode())
        return True

    # Listings

    def _call_of(self, url, given):
        """(what is listed, the number of this call for it)"""
        from hashlib import sha256

        what = json.dumps([url if isinstance(url, str) else list(url), given], sort_keys=True, default=str)
        digest = sha256(what.encode()).hexdigest()[:16]
        number = 1
        with self._lock:
            self._check_open()
            made = self._listed.setdefault(digest, set())
            while number in made:
                number += 1
            made.add(number)
        return digest, number

    def _shared(self, url, name, given, limit):
        if self._board.shares_files:
            return self._client.open_manifest(self._shared_file(url, name, given, limit))
        path = os.path.join(self._temporary.path(), name)
        if isinstance(self._board, BucketBoard):
            left = None if limit is None else max(limit - monotonic(), 0.001)
            self._client.list_shared(url, path, board=self._board.listing(name), lease=self._lease, timeout=left,
                                     **given)
        else:
            self._list(url, path, given, limit)
        return self._client.open_manifest(path)

    def _list(self, url, path, given, limit):
        left = None if limit is None else max(limit - monotonic(), 0.001)
        self._client.save_manifest(self._client.list(url, timeout=left, **given), path)

    def _shared_file(self, url, name, given, limit):
        """The path of the manifest that the first process to have listed it has put on the board."""
        while True:
            there = self._board.file(name)
            if there is not None:
                return there
            lowest = self._living()[1]
            if lowest == self.rank or self._has_failed(lowest, name):
                self._list_for_all(url, name, given, limit)
                continue
            if limit is not None and monotonic() >= limit:
                raise DeadlineError("deadline_exceeded: no process of the job has listed it in time")
            self._over.wait(_POLL)
            self._check_open()

    def _list_for_all(self, url, name, given, limit):
        path = self._board.new_file()
        try:
            self._list(url, path, given, limit)
            self._board.put_file(name, path)
        except Exception as why:
            # After its own limit, and after Ctrl-C, it may call again: the others wait for that.
            if limit is None or not isinstance(why, DeadlineError):
                self._failed.add(name)
                with suppress(Exception):  # the first one is told
                    self._tell_failed()
            raise
        finally:
            with suppress(FileNotFoundError):
                os.unlink(path)
        if name in self._failed:
            self._failed.discard(name)
            self._tell_failed()

    def _tell_failed(self):
        self._board.put(f"failed-{self.rank}", " ".join(sorted(self._failed)).encode())

    def _has_failed(self, rank, name):
        told = self._board.get(f"failed-{rank}")
        return told is not None and name.encode() in told.split()


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

    Raises: ValueError and TypeError for an argument; PreconditionError for a folder that others may look into or
    replace, a rank that another process of this machine has, or a client that is of another job; what the board raises
    when it is first used, after which the client's rate is its own.
    """
    from ._client import Client, client_for

    if client is None:
        client = client_for(board if isinstance(board, (str, tuple)) else None)
    elif not isinstance(client, Client):
        raise TypeError(f"client: a dataflux.Client is needed, and not a {type(client).__name__}")
    rank, world_size = ranks(rank, world_size)
    rates = []
    for given, usual, what in zip((reads, writes), _RATES[client._scheme], ("reads", "writes")):
        rate = number_of(given, what, "a number is needed")
        if not (rate == 0 or 1 <= rate <= 1e9):
            raise ValueError(f"{what}: {given!r} is no rate: 1 to 1e9 a second, or 0 for the service's")
        rates.append(rate or usual)
    made = board_of(board, client, rank, world_size, name)
    try:
        lease = made.lease if lease is None else number_of(lease, "lease")
        if not 0.05 <= lease <= 86400:
            raise ValueError(f"lease: {lease!r}: 0.05 seconds to a day")
        return Job(made, client, rank, world_size, lease, (rates[0], rates[1]))
    except BaseException:
        made.close()
        raise


def _in_child():
    # The locks, the threads and the board are the parent's.
    global _joining
    _joining = _thread.allocate_lock()
    for each in _threads.all_of(_jobs):
        each._lock, each._closing = _thread.RLock(), _thread.RLock()
        each._over, each._looks = type(each._over)(), _thread.allocate_lock()
        each._closed = each._left = True
        if isinstance(each._board, FolderBoard):
            each._board.close()  # else it has the lock after its parent's death
        each._board = AloneBoard()


os.register_at_fork(after_in_child=_in_child)
