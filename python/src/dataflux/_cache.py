"""Cache: a disk of this machine, which keeps what clients read."""

from __future__ import annotations

import _thread
import os
from weakref import WeakSet

from ._calls import checked
from ._handles import ErrorHandle, handle
from ._library import byref, library, struct, text_at
from ._place import count_of
from ._threads import all_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict

    from ._client import Client
    from ._listing import Listing, Rows

CacheHandle = handle("cache")
_Text = handle("text")
_caches = WeakSet()


class Cache:
    """A folder on a disk of this machine, which keeps what clients read: the next epoch, and the next job, reads it
    there. A folder serves all processes of a user at once, those of a DataLoader among them.

        client = dataflux.Client(cache=dataflux.Cache("/nvme", bytes=500 * 2**30))

    Reads of a known generation are answered from it: those of a listing's rows, of shards, and of what open() has
    opened. What comes from there is compared with its CRC32C each time. Whatever becomes of the files, it gives
    no wrong byte, and the store is asked instead. docs/cache.md says more.

    Arguments:
        folder: it is made where it is missing. What is kept lies in a folder of this user's in it.
        bytes: most of them on the disk; 0 = as many as `min_free` lets.
        min_free: bytes of the file system that stay free; 0 = a twentieth of it.

    Raises: TypeError and ValueError for an argument. The rest when a client is first used with it, or a method is:
    PreconditionError, where the disk is one of several machines (NFS), or where others may write to its own folder;
    NotFoundError, PermissionDeniedError.

    Threads: any. A forked child opens it anew, as an unpickled one does: a pickle has the arguments.
    """

    def __init__(self, folder: str | os.PathLike[str], *, bytes: int = 0, min_free: int = 0) -> None:
        self._arguments = (os.path.abspath(os.fsdecode(folder)), count_of(bytes, "bytes"),
                           count_of(min_free, "min_free"))
        self._begin()

    def _begin(self):
        self._lock = _thread.RLock()
        self._opened = None
        _caches.add(self)

    def _handle(self):
        with self._lock:
            if self._opened is None:
                folder, most, free = self._arguments
                made, error = CacheHandle(), ErrorHandle()
                options = struct("cache_options", bytes=most, min_free=free)
                checked(library.cache_open(os.fsencode(folder), byref(options), byref(made), byref(error)), error)
                self._opened = made
            return self._opened

    def counters(self) -> Dict[str, int]:
        """What it did in this process: "hits", "hit_bytes", "misses" (reads of the store that could have been hits),
        "kept" and "kept_bytes" (of those), "refused" (of those, for want of room or because the disk was slower than
        the network), "evicted" and "evicted_bytes" (segments that made room), "damaged" (found with another checksum, and read from the store), "errors"
        (of the disk)."""
        import json

        text, error = _Text(), ErrorHandle()
        checked(library.cache_counters(self._handle(), byref(text), byref(error)), error)
        counters: Dict[str, int] = json.loads(text_at(text.value))
        return counters

    def warm(self, client: Client, rows: Listing | Rows) -> None:
        """Reads what is not there yet, ahead of a job, as fast as the disk takes it.

        Arguments:
            client: one that was made with this cache; no AsyncClient.
            rows: a listing, or a selection of its rows.

        Raises: ValueError for a client without it; as get_many() does, the first failure of an object.
        """
        if client._options.given["cache"] is not self:
            raise ValueError("client: it was made without this cache")
        # Memory for what waits to be written is limited, and what finds none is not kept.
        for _ in client.get_many(rows, order="ready"):
            self.flush()

    def flush(self) -> None:
        """Waits until what was read before is written."""
        error = ErrorHandle()
        checked(library.cache_flush(self._handle(), byref(error)), error)

    @property
    def folder(self) -> str:
        """As it was given, absolute."""
        return self._arguments[0]

    def __reduce__(self):
        return _again, self._arguments

    def __repr__(self):
        folder, most, free = self._arguments
        return f"dataflux.Cache({folder!r}, bytes={most}, min_free={free})"


def _again(folder, most, free):
    return Cache(folder, bytes=most, min_free=free)


def _in_child():
    for cache in all_of(_caches):
        cache._begin()


os.register_at_fork(after_in_child=_in_child)
