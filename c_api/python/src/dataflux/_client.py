"""Client: connections, credentials and limits, shared by all threads of a process."""

from __future__ import annotations

import _thread
import os
from weakref import WeakSet

from . import _abi
from ._calls import Call, checked
from ._errors import PreconditionError
from ._file import FileVerbs
from ._handles import ClientHandle, ErrorHandle
from ._library import byref, library, struct
from ._objects import ObjectVerbs
from ._place import count_of, nanoseconds
from ._wait import run

_clients = WeakSet()


class Options:
    """What a client was made with: plain values, which a pickle or a forked child makes it of again."""

    _texts = ("endpoint", "credentials_file", "user_project", "quota_project", "user_agent", "ca_file")
    _counts = ("io_threads", "max_connections_per_host", "max_attempts", "max_concurrency",
               "memory_cap", "upload_memory", "slice")
    _times = ("connect_timeout", "stall_timeout", "token_limit")

    def __init__(self, given):
        for name in self._texts:
            value = given[name]
            if value is not None and not isinstance(value, str):
                value = os.fspath(value) if name.endswith("_file") else value
                if not isinstance(value, str):
                    raise TypeError(f"{name}: a str is needed, and not a {type(value).__name__}")
            if value is not None and "\0" in value:
                raise ValueError(f"{name}: it has a NUL")
        for name in self._counts:
            count_of(given[name], name)
        for name in self._times:
            nanoseconds(given[name], name)
        if given["anonymous"] and (given["credentials_file"] is not None):
            raise ValueError("anonymous: it goes with no credentials")
        self.given = given

    def struct(self):
        given = self.given
        made = struct("client_options", **{name: given[name] for name in self._texts + self._counts})
        for name in self._times:
            setattr(made, name + "_ns", nanoseconds(given[name], name))
        made.emulator = bool(given["emulator"])
        if given["anonymous"]:
            made.credentials = _abi.CREDENTIALS_ANONYMOUS
        elif given["credentials_file"] is not None:
            made.credentials = _abi.CREDENTIALS_FILE
        return made


class Core:
    """A client of Google Cloud Storage. One is enough for a process; any number of threads use it.

    It is a context manager, and closes what is under way at the end. A forked child has a client of
    its own, made of the same options when it is first used. A pickle carries the options.

    Arguments, all by name:
        endpoint: "https://host[:port]"; by default the service, or the emulator that the
            environment's STORAGE_EMULATOR_HOST names.
        emulator: `endpoint` is an emulator: plain HTTP is fine, and no credentials are sent.
        anonymous: no credentials, for public buckets. By default Application Default Credentials.
        credentials_file: a JSON file of a service account or an authorized user.
        user_project: who pays at requester-pays buckets.
        quota_project: whose quota requests count against.
        user_agent: put before the library's own, such as "trainer/2.1".
        ca_file: a PEM file of authorities; by default SSL_CERT_FILE, SSL_CERT_DIR, the system's.
        io_threads: 0 = one for four processors.
        max_connections_per_host: 0 = 256.
        max_attempts: of a request, with the first; 0 = the library's default.
        max_concurrency: most reads in flight; 0 = found by measuring.
        memory_cap: bytes of all reads ahead; 0 = 256 MiB.
        upload_memory: bytes of all uploads; 0 = 256 MiB.
        slice: bytes of the longest single read; 0 = 8 MiB.
        connect_timeout: seconds; None = 10.
        stall_timeout: seconds without a byte after which a request is begun anew; None = 30.
        token_limit: seconds that calls wait for a token; None = 60.

    Raises: TypeError and ValueError for a bad argument at once. Credentials are looked for when the
    client is first used.
    """

    def __init__(self, *, endpoint: str | None = None, emulator: bool = False,
                 anonymous: bool = False, credentials_file: str | None = None,
                 user_project: str | None = None, quota_project: str | None = None,
                 user_agent: str | None = None, ca_file: str | None = None, io_threads: int = 0,
                 max_connections_per_host: int = 0, max_attempts: int = 0,
                 max_concurrency: int = 0, memory_cap: int = 0, upload_memory: int = 0,
                 slice: int = 0, connect_timeout: float | None = None,
                 stall_timeout: float | None = None, token_limit: float | None = None) -> None:
        given = dict(locals())
        del given["self"]
        self._options = Options(given)
        self._begin()

    def _begin(self):
        self._lock = _thread.allocate_lock()
        self._opened = None
        self._closed = False
        self._under_way = {}
        _clients.add(self)

    def _handle(self):
        """The library's client, made when it is first wanted, in a forked child again."""
        return self._opened or self._open()

    def _open(self):
        with self._lock:
            if self._closed:
                raise PreconditionError("the client is closed: make another one")
            if self._opened is None:
                made, error = ClientHandle(), ErrorHandle()
                checked(library.client_create(byref(self._options.struct()), byref(made),
                                              byref(error)), error)
                self._opened = made
            return self._opened

    def close(self) -> None:
        """Ends what is under way, on all threads, with CancelledError. Closing again does nothing."""
        with self._lock:
            self._closed = True
            opened, self._opened = self._opened, None
        if opened:
            library.client_close(opened)

    def __reduce__(self):
        return _again, (type(self), self._options.given)

    def __repr__(self):
        given = ", ".join(f"{name}={value!r}" for name, value in self._options.given.items() if value)
        return f"dataflux.{type(self).__name__}({given})"


class Client(
    Core,
    ObjectVerbs,
    FileVerbs,
):
    __doc__ = Core.__doc__

    def _run(self, call: Call, **how):
        return run(self, call, **how)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _again(kind, given):
    return kind(**given)


def _in_child():
    for client in list(_clients):
        if not client._closed:
            client._begin()


os.register_at_fork(after_in_child=_in_child)


def _at_exit():
    """Memory that calls of other threads have lent must outlive them."""
    for client in list(_clients):
        under_way = list(client._under_way.values())
        client.close()
        for operation, _ in under_way:
            while operation and library.operation_wait(operation, 5_000_000_000, None) == \
                    _abi.INTERRUPTED:
                pass


def _register():
    import atexit

    atexit.register(_at_exit)


_register()
_default = None
_default_lock = _thread.allocate_lock()


def client() -> Client:
    """The client of the module's functions: one for the process, with default options."""
    global _default
    with _default_lock:
        if _default is None or _default._closed:
            _default = Client()
        return _default
