"""Where the processes of a job tell each other of themselves: a folder of one machine, the store of
torch.distributed, or a prefix of a bucket.

A board has records, one of each process, and in the first two things by name that one process puts there for all:
bytes that are secret, and files.
"""

from __future__ import annotations

import _thread
import errno
import fcntl
import os
from contextlib import suppress
from urllib.parse import quote

from ._errors import Error, PreconditionError
from ._ranks import distributed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PIECE = 4 << 20  # bytes of a value of a store
_STORE_LIMIT = 5.0  # seconds that a call of a store may wait
_BUCKET_LIMIT = 20.0  # seconds that a call of a bucket may take
_LAST_LIMIT = 5.0  # and the last one, which close() waits for


def _beat_of(record):
    """(rank, beat) of a record, as the library writes it."""
    fields = record.split(";", 3)
    try:
        return int(fields[1]), int(fields[2])
    except (IndexError, ValueError):
        return None


def token_in(text, after):
    """(token, ns since 1970) of what job() has put as "token", if it ends later than that; else (None, 0)."""
    import json

    try:
        told = json.loads(text) if text else {}
        token, expires = told["token"], told["expires_ns"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, 0
    good = type(token) is str and token and token.isascii() and token.isprintable()
    if not good or type(expires) is not int or not after < expires < 1 << 63:
        return None, 0
    return token, expires


class Temporary:
    """A folder of this process, made when it is wanted. It goes at close() or with the process, and not with a forked
    child of it."""

    def __init__(self):
        self._lock = _thread.allocate_lock()
        self._made = None

    def path(self):
        with self._lock:
            if self._made is None:
                import atexit
                from tempfile import mkdtemp

                self._made = mkdtemp(prefix="dataflux-job-"), os.getpid()
                atexit.register(self.close)
            return self._made[0]

    def close(self):
        made = self._made
        if made is not None and made[1] == os.getpid():
            import atexit
            from shutil import rmtree

            rmtree(made[0], ignore_errors=True)
            self._made = None
            atexit.unregister(self.close)


class Board:
    """What all boards do."""

    lease = 10.0
    keeps_secrets = False
    shares_files = False

    def close(self):
        pass


class AloneBoard(Board):
    """Of a job of one process."""

    def tell(self, record):
        pass

    def records(self):
        return []


def _make(folder):
    """A folder, and those that it lies in, for this user alone."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass
    except FileNotFoundError:
        _make(os.path.dirname(folder))
        _make(folder)


class _Folder:
    """A folder that is open, and the lock of a rank in it: whoever puts another folder in its place sees nothing.
    What is written has first a name with the rank, so that the next process of the rank finds what a killed one left.
    """

    def __init__(self, path, rank):
        self._fd = self._lock = -1
        self._pid = os.getpid()
        self._path = path
        refused = PreconditionError(f"board: {path} is not a folder that this user alone may look into: remove it, or "
                                    "give another folder or name")
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as why:
            if why.errno in (errno.ELOOP, errno.ENOTDIR):
                raise refused from None
            raise
        there = os.fstat(self._fd)
        if there.st_uid != os.geteuid() or there.st_mode & 0o077:
            raise refused
        self._lock = os.open(f"rank-{rank}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600,
                             dir_fd=self._fd)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PreconditionError(f"board: rank {rank} of the job in {path} is another process, which lives: give "
                                    "each process its rank, and each job its name") from None
        self._rank = rank
        self._are = self._numbers(there), self._numbers(os.fstat(self._lock))

    @staticmethod
    def _numbers(there):
        return there.st_dev, there.st_ino

    def is_there(self):
        """Whether it has its name still, and the lock, too: else another process could have the rank."""
        try:
            lock = os.stat(f"rank-{self._rank}.lock", dir_fd=self._fd, follow_symlinks=False)
            return self._are == (self._numbers(os.lstat(self._path)), self._numbers(lock))
        except FileNotFoundError:
            return False

    def sweep(self):
        for name in os.listdir(self._fd):
            if name.startswith(f"new-{self._rank}-"):
                self.remove(name)

    def new_name(self):
        return f"new-{self._rank}-{os.urandom(8).hex()}"

    def put(self, name, data):
        new = self.new_name()
        opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600,
                         dir_fd=self._fd)
        try:
            with open(opened, "wb") as file:
                file.write(data)
            os.replace(new, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except BaseException:
            self.remove(new)
            raise

    def put_first(self, name, new):
        with suppress(FileExistsError):
            os.link(new, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def get(self, name, most):
        """What the file has; None where there is no file."""
        from stat import S_ISREG

        try:
            opened = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=self._fd)
        except OSError as why:
            if why.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
                return None
            raise
        try:
            return os.read(opened, most) if S_ISREG(os.fstat(opened).st_mode) else None
        finally:
            os.close(opened)

    def has(self, name):
        try:
            os.stat(name, dir_fd=self._fd)
            return True
        except FileNotFoundError:
            return False

    def remove(self, name):
        with suppress(OSError):  # it is gone, or with the folder
            os.unlink(name, dir_fd=self._fd)

    def unlock(self):
        lock, self._lock = self._lock, -1
        if lock >= 0:
            if self._pid == os.getpid():
                fcntl.flock(lock, fcntl.LOCK_UN)  # a forked child may have it open
            os.close(lock)

    def __del__(self):
        # Not before: a thread may use it.
        if os is not None:
            self.unlock()
            if self._fd >= 0:
                os.close(self._fd)


class FolderBoard(Board):
    """A folder of one machine, which this user alone may look into. A process holds a lock as long as it lives."""

    keeps_secrets = True
    shares_files = True

    def __init__(self, folder, name, rank, world_size):
        around = os.path.realpath(os.fsdecode(folder))
        self._path = os.path.join(around, "dataflux-job-" + quote(name, safe=""))
        self._rank = rank
        self._world_size = world_size
        self._closed = False
        _make(around)
        mode = os.stat(around).st_mode
        if mode & 0o022 and not mode & 0o1000:  # the sticky bit: nobody renames what is of others
            raise PreconditionError(f"board: others may change what lies in {around}: take that permission away (chmod "
                                    "go-w), or give another folder")
        _make(self._path)
        self._at = _Folder(self._path, rank)
        self._at.sweep()

    def tell(self, record):
        self._at.put(f"rank-{self._rank}", record.encode())

    def records(self):
        if not self._closed and not self._at.is_there():
            self._at = _Folder(self._path, self._rank)
        found = []
        for rank in range(self._world_size):
            try:
                found.append(self._at.get(f"rank-{rank}", 4096))
            except OSError:  # whatever that is, it is no record
                continue
        return [text for text in found if text is not None]

    def put(self, name, data):
        self._at.put(name, data)

    def get(self, name):
        return self._at.get(name, 1 << 20)

    def new_file(self):
        """Where a file may be written that put_file() is given."""
        return os.path.join(self._path, self._at.new_name())

    def put_file(self, name, path):
        """What new_file() gave becomes the file of that name for all, unless there is one."""
        self._at.put_first(name, os.path.basename(path))

    def file(self, name):
        """The path of that file, or None where it is not there yet."""
        return os.path.join(self._path, name) if self._at.has(name) else None

    def close(self):
        self._closed = True
        self._at.unlock()  # another process has the rank from here on: its record stays


class StoreBoard(Board):
    """A store of torch.distributed's: a TCPStore, for one. Whoever reaches it is trusted, by torch itself."""

    lease = 30.0
    keeps_secrets = True
    shares_files = True

    def __init__(self, store, name, rank, world_size):
        # A store waits with its lock held: another connection, where there may be one.
        clone = getattr(store, "clone", None)
        if clone is not None:
            try:
                store = clone()
            except Exception:  # of a kind of store that has none
                pass
            else:
                from datetime import timedelta

                store.set_timeout(timedelta(seconds=_STORE_LIMIT))
        self._store = store
        self._prefix = f"dataflux/job/{name}/"
        self._rank = rank
        self._unseen = {other for other in range(world_size) if other != rank}
        self._seen = []
        self._temporary = Temporary()

    def tell(self, record):
        self._store.set(self._prefix + f"rank-{self._rank}", record)

    def records(self):
        # A store waits for what is not there: so it is asked for what is.
        for other in sorted(self._unseen):
            key = self._prefix + f"rank-{other}"
            if self._store.check([key]):
                self._unseen.discard(other)
                self._seen.append(key)
        if not self._seen:
            return []
        try:
            return list(self._store.multi_get(self._seen))
        except (AttributeError, NotImplementedError, RuntimeError) as why:
            if isinstance(why, RuntimeError) and "upport" not in str(why):
                raise
            return [self._store.get(key) for key in self._seen]

    def put(self, name, data):
        self._store.set(self._prefix + name, data)

    def get(self, name):
        key = self._prefix + name
        return self._store.get(key) if self._store.check([key]) else None

    def new_file(self):
        return os.path.join(self._temporary.path(), os.urandom(8).hex())

    def put_file(self, name, path):
        # Pieces of its own, and then whose they are: the first one to say so.
        mine = f"{name}.{os.urandom(8).hex()}"
        pieces = 0
        with open(path, "rb") as file:
            while piece := file.read(_PIECE):
                self.put(f"{mine}.{pieces}", piece)
                pieces += 1
        self._store.compare_set(self._prefix + name, "", f"{mine} {pieces}")

    def file(self, name):
        there = os.path.join(self._temporary.path(), name)
        if os.path.exists(there):
            return there
        told = self.get(name)
        if told is None:
            return None
        pieces, count = told.decode().split()
        new = self.new_file()
        with open(new, "wb") as file:
            for piece in range(int(count)):
                file.write(self._store.get(f"{self._prefix}{pieces}.{piece}"))
        os.replace(new, there)
        return there

    def close(self):
        self._temporary.close()


class BucketBoard(Board):
    """A prefix of a bucket. A record is the name of an empty object, so that one call for a listing reads all of them.
    Nothing secret lies there, for others may read the bucket; and a listing is shared by list_shared()."""

    lease = 120.0

    def __init__(self, client, board, name, rank):
        bucket, prefix = (part.decode() for part in client._prefix_place(board, "board"))
        self._client = client
        self._bucket = bucket
        self._prefix = f"{prefix.rstrip('/')}/{quote(name, safe='')}/" if prefix else f"{quote(name, safe='')}/"
        self._mine = f"{self._prefix}beat/{rank}/"
        self._last = None
        for left in self._names(self._mine):
            self._remove(left)  # of a process that had this rank before

    def _names(self, prefix):
        return [row.name for row in self._client.list((self._bucket, prefix), timeout=_BUCKET_LIMIT)]

    def _remove(self, name, limit=_BUCKET_LIMIT):
        self._client.delete((self._bucket, name), missing_ok=True, timeout=limit)

    def tell(self, record):
        name = self._mine + record
        self._client.put((self._bucket, name), b"", timeout=_BUCKET_LIMIT)
        last, self._last = self._last, name
        if last is not None:
            self._remove(last)

    def records(self):
        newest: dict[Any, Any] = {}
        for name in self._names(self._prefix + "beat/"):
            record = name.rsplit("/", 1)[-1]
            of = _beat_of(record)
            # Of a process that was killed between two calls both are there.
            if of is not None and of[1] >= newest.get(of[0], (-1,))[0]:
                newest[of[0]] = (of[1], record)
        return [record.encode() for _, record in newest.values()]

    def listing(self, name):
        """The prefix where processes share that listing."""
        return self._bucket, f"{self._prefix}{name}/"

    def close(self):
        last, self._last = self._last, None
        if last is not None:
            with suppress(Error):  # after a lease it says no more
                self._remove(last, _LAST_LIMIT)


def board_of(board, client, rank, world_size, name):
    """The board that job() is given, or that there is."""
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
    return FolderBoard(board, name, rank, world_size)
