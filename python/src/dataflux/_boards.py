"""Where the processes of a job tell each other of themselves: a folder of one machine, the store of
torch.distributed, or a prefix of a bucket.

A board has records, one of each process, and in the first two things by name that one process puts there for all:
bytes that are secret, and files.
"""

from __future__ import annotations

import os
from urllib.parse import quote

from ._errors import NotFoundError, PreconditionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PIECE = 4 << 20  # bytes of a value of a store
_STORE_LIMIT = 5.0  # seconds that a call of a store may take


def _beat_of(record):
    """(rank, beat) of a record, as the library writes it."""
    fields = record.split(";", 3)
    try:
        return int(fields[1]), int(fields[2])
    except (IndexError, ValueError):
        return None


class AloneBoard:
    """Of a job of one process."""

    lease = 10.0
    keeps_secrets = False
    shares_files = False

    def tell(self, record):
        pass

    def records(self):
        return []

    def close(self):
        pass


class FolderBoard:
    """A folder of one machine, which this user alone may look into. A process holds a lock as long as it lives."""

    lease = 10.0
    keeps_secrets = True
    shares_files = True

    _taken = set()  # of this process, in which a lock of fcntl refuses nobody

    def __init__(self, folder, name, rank):
        self._folder = os.path.join(os.path.abspath(os.fsdecode(folder)), "dataflux-job-" + quote(name, safe=""))
        self._record = os.path.join(self._folder, f"rank-{rank}")
        self._lock = None
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        there = os.lstat(self._folder)
        if there.st_uid != os.geteuid() or there.st_mode & 0o077 or not os.path.isdir(self._folder) \
                or os.path.islink(self._folder):
            raise PreconditionError(f"board: {self._folder} is not a folder that this user alone may look into: remove "
                                    "it, or give another folder or name")
        self._take(rank)

    def _take(self, rank):
        import fcntl

        path = self._record + ".lock"
        if path in self._taken:
            raise self._another(rank)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise self._another(rank) from None
        self._lock = lock
        self._taken.add(path)

    def _another(self, rank):
        return PreconditionError(f"board: rank {rank} of the job in {self._folder} is another process, which lives: "
                                 "give each process its rank, and each job its name")

    def tell(self, record):
        self._put(self._record, record.encode())

    def records(self):
        found = []
        with os.scandir(self._folder) as entries:
            names = [entry.name for entry in entries if entry.name.startswith("rank-") and "." not in entry.name]
        for name in names:
            text = self._read(os.path.join(self._folder, name), 4096)
            if text is not None:
                found.append(text)
        return found

    def put(self, name, data):
        self._put(os.path.join(self._folder, name), data)

    def get(self, name):
        return self._read(os.path.join(self._folder, name), 1 << 20)

    def put_file(self, name, path):
        """`path` lies in folder(); it is moved."""
        os.replace(path, os.path.join(self._folder, name))

    def file(self, name, path):
        """The path of that file, or None where it is not there yet. `path` is not needed here."""
        there = os.path.join(self._folder, name)
        return there if os.path.exists(there) else None

    def folder(self):
        return self._folder

    def _put(self, path, data):
        # Of a name of its own: who is killed leaves no half of it, and who reads finds the old one or the new one.
        other = f"{path}.{os.getpid()}"
        opened = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(opened, data)
        finally:
            os.close(opened)
        os.replace(other, path)

    @staticmethod
    def _read(path, most):
        try:
            opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        try:
            return os.read(opened, most)
        finally:
            os.close(opened)

    def close(self):
        if self._lock is None:
            return
        lock, self._lock = self._lock, None
        self._taken.discard(self._record + ".lock")
        os.close(lock)  # another process has the rank from here on: its record stays


class StoreBoard:
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
        self._temporary = None

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

    def put_file(self, name, path):
        pieces = 0
        with open(path, "rb") as file:
            while piece := file.read(_PIECE):
                self.put(f"{name}.{pieces}", piece)
                pieces += 1
        self.put(name, str(pieces).encode())
        os.replace(path, os.path.join(self.folder(), name))

    def file(self, name, path):
        mine = os.path.join(self.folder(), name)
        if os.path.exists(mine):
            return mine
        pieces = self.get(name)
        if pieces is None:
            return None
        with open(mine + ".part", "wb") as file:
            for piece in range(int(pieces)):
                file.write(self._store.get(f"{self._prefix}{name}.{piece}"))
        os.replace(mine + ".part", mine)
        return mine

    def folder(self):
        if self._temporary is None:
            from tempfile import TemporaryDirectory

            self._temporary = TemporaryDirectory(prefix="dataflux-job-")
        return self._temporary.name

    def close(self):
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            temporary.cleanup()


class BucketBoard:
    """A prefix of a bucket. A record is the name of an empty object, so that one call for a listing reads all of them.
    Nothing secret lies there, for others may read the bucket; and a listing is shared by list_shared()."""

    lease = 120.0
    keeps_secrets = False
    shares_files = False

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
        return [row.name for row in self._client.list((self._bucket, prefix))]

    def _remove(self, name):
        try:
            self._client.delete((self._bucket, name))
        except NotFoundError:
            pass

    def tell(self, record):
        name = self._mine + record
        self._client.put((self._bucket, name), b"")
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
        if self._last is not None:
            self._remove(self._last)
            self._last = None
