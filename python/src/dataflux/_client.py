"""Client: connections, credentials and limits, shared by all threads of a process."""

from __future__ import annotations

import _thread
import os
from weakref import WeakSet

from . import _abi, _events, _threads
from ._buckets import BucketVerbs
from ._calls import checked, watched
from ._errors import PreconditionError, taken
from ._copying import CopyingVerbs
from ._file import FileVerbs
from ._get_many import GetManyVerbs, first_of
from ._handles import ClientHandle, ErrorHandle
from ._leftovers import LeftoverVerbs
from ._library import addressof, byref, key_bytes, library, struct
from ._verbs_list import ListVerbs
from ._manifest import ManifestVerbs, scheme_of_saved
from ._metrics import MetricsVerbs
from ._verbs_objects import ObjectVerbs
from ._place import SERVICES, count_of, flag_of, nanoseconds, one_of, scheme_of_place
from ._verbs_reads import ReadVerbs
from ._sets import SetVerbs
from ._shard_writer import ShardWriterVerbs
from ._shards import ShardVerbs
from ._signing import SigningVerbs
from ._transfer import TransferVerbs
from ._wait import Blocking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from ._cache import Cache
    from ._credentials import Credentials

_clients = WeakSet()
_SCHEMES = {"gcs": "gs", "s3": "s3", "ais": "ais"}
_WHOSE = {"gcs": "Google Cloud Storage", "s3": "S3", "ais": "AIStore"}


class Options:
    """What a client was made with: plain values, which a pickle or a forked child makes it of again."""

    _texts = ("endpoint", "credentials_file", "user_project", "quota_project", "user_agent", "ca_file", "region",
              "access_key_id", "secret_access_key", "session_token", "provider", "client_certificate_file",
              "client_key_file", "client_key_password", "proxy", "no_proxy", "proxy_ca_file", "host", "token_cache")
    _counts = ("io_threads", "max_connections_per_host", "max_attempts", "max_concurrency",
               "memory_cap", "upload_memory", "slice")
    _short = ("io_threads", "max_connections_per_host", "max_attempts", "max_concurrency")
    _flags = ("emulator", "anonymous", "tokens_to_emulator", "requester_pays")
    _names = {"service": ("gcs", "s3", "ais"), "addressing": ("automatic", "virtual_hosted", "path"),
              "upload_checksum": ("full_object", "composite", "none")}
    # Options that some services alone have.
    _of = {("s3",): ("region", "addressing", "access_key_id", "secret_access_key", "session_token", "requester_pays",
                     "upload_checksum"),
           ("gcs",): ("emulator", "credentials_file", "user_project", "quota_project", "tokens_to_emulator", "host",
                      "token_cache"),
           ("gcs", "ais"): ("credentials", "token_limit"),
           ("gcs", "s3"): ("encryption_key",), ("ais",): ("provider",)}
    _secret = ("secret_access_key", "session_token", "encryption_key", "client_key_password")
    _paths = ("token_cache",)
    _times = ("connect_timeout", "first_byte_timeout", "stall_timeout", "token_limit")

    def __init__(self, given):
        given = dict(given)
        for name in self._texts:
            value = given[name]
            if value is not None and not isinstance(value, str):
                given[name] = value = os.fspath(value) if name.endswith("_file") or name in self._paths else value
                if not isinstance(value, str):
                    raise TypeError(f"{name}: a str is needed, and not a {type(value).__name__}")
            if value is not None and "\0" in value:
                raise ValueError(f"{name}: it has a NUL")
        for name in self._counts:
            count_of(given[name], name, bits=32 if name in self._short else 63)
        for name in self._flags:
            flag_of(given[name], name)
        for name in self._times:
            nanoseconds(given[name], name)
        given["resolve"] = _words_of(given["resolve"])
        if given["cache"] is not None:
            from ._cache import Cache

            if not isinstance(given["cache"], Cache):
                raise TypeError(f"cache: a dataflux.Cache is needed, and not a {type(given['cache']).__name__}")
        for name, names in self._names.items():
            one_of(given[name], name, names)
        if given["encryption_key"] is not None:
            from ._attributes import encryption_key

            given["encryption_key"] = encryption_key(given["encryption_key"], "encryption_key")
            if given["cache"] is not None:
                raise ValueError("cache: what is under an encryption_key comes onto no disk: leave out one of them")
        self._check_service(given)
        self.source = None
        if given["credentials"] is not None:
            from ._credentials import source_of

            self.source = source_of(given["credentials"])
        ways = [name for name in ("anonymous", "credentials", "credentials_file")
                if given[name] not in (None, False)]
        if len(ways) > 1:
            raise ValueError(f"{ways[0]}: it does not go with {ways[1]}, for each says who asks")
        self.given = given

    def _check_service(self, given):
        service = given["service"]
        for services, names in self._of.items():
            for name in names if service not in services else ():
                if given[name] not in (None, False, "automatic", "full_object"):
                    whose = " and ".join(_WHOSE[each] for each in services)
                    raise ValueError(f"{name}: it is of {whose}, and the client is of service={service!r}")
        if (given["access_key_id"] is None) != (given["secret_access_key"] is None):
            raise ValueError("access_key_id: it goes with secret_access_key, and neither stands alone")
        if given["session_token"] is not None and given["access_key_id"] is None:
            raise ValueError("session_token: it goes with access_key_id and secret_access_key")
        if given["anonymous"] and given["access_key_id"] is not None:
            raise ValueError("anonymous: it does not go with access_key_id, for each says who asks")

    @property
    def scheme(self):
        """What the URLs of its objects begin with."""
        return _SCHEMES[self.given["service"]]

    def carry_secret(self):
        """A pickle would have one."""
        return getattr(self.source, "secret", False) or any(self.given[name] for name in self._secret) or \
            "@" in (self.given["proxy"] or "")

    def struct(self):
        given = self.given
        made = struct("client_options", **{name: given[name] for name in self._texts + self._counts})
        for name in self._times:
            setattr(made, name + "_ns", nanoseconds(given[name], name))
        made.emulator = bool(given["emulator"])
        for name in ("tokens_to_emulator", "requester_pays"):
            setattr(made, name, bool(given[name]))
        for name, names in self._names.items():
            setattr(made, name, names.index(given[name]))
        made.resolve = " ".join(given["resolve"]).encode() or None
        made.event_capacity = _events.CAPACITY
        if given["cache"] is not None:
            made.cache = given["cache"]._handle().value
        if given["encryption_key"] is not None:
            made.kept = held = key_bytes(given["encryption_key"])
            made.encryption_key = addressof(held)
        if given["anonymous"] or getattr(self.source, "anonymous", False):
            made.credentials = _abi.CREDENTIALS_ANONYMOUS
        elif self.source is not None:
            made.credentials = _abi.CREDENTIALS_TOKEN
            if given["quota_project"] is None:
                project = getattr(self.source, "quota_project", None)
                made.quota_project = None if project is None else project.encode()
        elif given["credentials_file"] is not None:
            made.credentials = _abi.CREDENTIALS_FILE
        return made

    def tokens(self):
        """New Tokens; None where the library has its own, or sends none, as to most emulators."""
        if self.source is None or getattr(self.source, "anonymous", False):
            return None
        at_emulator = self.given["emulator"] or (self.given["endpoint"] is None
                                                 and os.environ.get("STORAGE_EMULATOR_HOST"))
        if at_emulator and not self.given["tokens_to_emulator"]:
            return None
        from ._credentials import Tokens

        return Tokens(self.source)


def _words_of(resolve):
    """The entries of `resolve`, which may be one."""
    if resolve is None:
        return ()
    if not isinstance(resolve, str) and not hasattr(resolve, "__iter__"):
        raise TypeError(f"resolve: a str, or several, are needed, and not a {type(resolve).__name__}")
    entries = (resolve,) if isinstance(resolve, str) else tuple(resolve)
    for each in entries:
        if not isinstance(each, str):
            raise TypeError(f"resolve: a str, or several, are needed, and not a {type(each).__name__}")
        if not each or any(c.isspace() or c == "\0" for c in each):
            raise ValueError(f'resolve: {each!r} is not of the form "host:port:address[,address...]"')
    return entries


class Core:
    """A client of Google Cloud Storage, of S3, or of AIStore. One is enough for a process and service; any number of
    threads use it.

    It is a context manager, and closes what is under way at the end of the outermost `with`. A forked child has a client of
    its own, made of the same options when it is first used. A pickle carries the options.

    Arguments, all by name:
        service: "gcs", Google Cloud Storage; "s3", Amazon S3 and what speaks like it; or "ais", AIStore by its
            own API. It takes URLs of that service alone.
        endpoint: "https://host[:port]"; by default the service, or the emulator that the
            environment's STORAGE_EMULATOR_HOST names. Of S3 the environment's AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL
            are looked at, and http:// will do. Of AIStore AIS_ENDPOINT is; a token needs https, or a gateway here.
        emulator: `endpoint` is an emulator: plain HTTP is fine, and no credentials are sent.
        anonymous: no credentials, for public buckets. By default Application Default Credentials; of S3 what
            AWS's own tools would find; of AIStore AIS_AUTHN_TOKEN, or the file that AIS_AUTHN_TOKEN_FILE names.
        credentials: an access token; or a callable, on any thread, that gives one, or (token,
            expiry) with a datetime or seconds since 1970; or credentials of google.auth. They are
            asked on a thread of their own, never twice at once: when the client is first used,
            before a token's expiry, and when the service has refused it. Calls wait for a token as
            long as their `timeout` and `token_limit` allow. An emulator gets none unless
            `tokens_to_emulator` is set.
        credentials_file: a JSON file of any kind of credentials that docs/credentials.md lists.
        user_project: who pays at requester-pays buckets.
        quota_project: whose quota requests count against.
        user_agent: put before the library's own, such as "trainer/2.1".
        ca_file: a PEM file of authorities; by default SSL_CERT_FILE, SSL_CERT_DIR, the system's.
        io_threads: 0 = one for four processors.
        max_connections_per_host: 0 = 256.
        max_attempts: of a request, with the first; 0 = the library's default.
        max_concurrency: most reads in flight; 0 = found by measuring.
        memory_cap: bytes of all reads ahead; 0 = 256 MiB.
        upload_memory: bytes of all uploads; 0 = 256 MiB. Each writer and written file that is open
            has a part of it to itself, so that none waits for another one's producer: with 256 MiB
            at least 12 are open at a time, and 32 of `part_size` 8 MiB.
        slice: bytes of the longest single read; 0 = 8 MiB.
        connect_timeout: seconds; None = 10.
        first_byte_timeout: seconds from a request to its reply's first byte, after which it is begun
            anew; None = 60.
        stall_timeout: seconds without a byte after which a request is begun anew; None = 30.
        token_limit: seconds that calls wait for a token; None = 60. Where `credentials` fails they
            end at once.
        tokens_to_emulator: an emulator gets the tokens of `credentials` or `credentials_file`, too: for
            tests of what is done with tokens. Over plain HTTP only at a loopback address: else InvalidArgumentError
            when the client is first used.
        region: of S3; None = AWS_REGION, AWS_DEFAULT_REGION, that of a profile whose keys are found, "us-east-1".
            A bucket elsewhere is found by itself.
        access_key_id, secret_access_key, session_token: of S3, in place of those that would be found. They
            are never shown, nor pickled.
        addressing: of S3: "virtual_hosted" (BUCKET.HOST), "path" (HOST/BUCKET), or "automatic": the first on
            AWS, the other elsewhere.
        requester_pays: of S3: this account pays at buckets whose requester pays.
        upload_checksum: what the server compares of uploads in parts: "full_object" (AWS, and most others),
            "composite" (Cloudflare's R2) or "none".
        provider: of AIStore, whose buckets are meant: "ais", the default; behind it "aws" (or "s3"), "gcp" ("gs"),
            "azure" or "oci", whose buckets are read and written, and not listed.
        client_certificate_file, client_key_file, client_key_password: for mutual TLS, PEM: a certificate, with those
            behind it that lead to its authority; its key, and the password that it may have, which is never shown nor
            pickled. Of Google Cloud Storage those of GOOGLE_API_USE_CLIENT_CERTIFICATE, by default; with one, and without
            `endpoint`, the client goes to storage.mtls.googleapis.com unless GOOGLE_API_USE_MTLS_ENDPOINT says "never".
        proxy: "http[s]://[user[:password]@]host:port"; by default the environment's https_proxy, http_proxy,
            all_proxy and no_proxy say. One with a user is never pickled.
        no_proxy: hosts that are reached without one: "*", names with what is below them, addresses, networks, with
            commas between them.
        proxy_ca_file: a PEM file of the authorities of an https `proxy`.
        resolve: "host:port:address[,address...]", or several: no name server is asked for these hosts.
        host: "host[:port]" that requests and certificates name, while connections go to `endpoint`: of Private Service
            Connect, of restricted.googleapis.com.
        token_cache: a folder of this machine by which processes share tokens, so that one asks for all; by default what
            DATAFLUX_TOKEN_CACHE names. docs/private-endpoints.md says more of all these.
        encryption_key: a key of your own, by which the service encrypts all objects that this client reads and
            writes, and which it does not keep: 32 bytes, or their Base64 as gcloud takes it. Objects under no key or
            another one are refused, but for copy(). Not of AIStore, and not with a cache. It is never shown, nor
            pickled.
        cache: a Cache, which answers reads of a known generation from a disk of this machine. Several
            clients may have one.

    Raises: TypeError and ValueError for a bad argument at once. Credentials are looked for when the
    client is first used; UnauthenticatedError then, where they give no token.
    """

    _may_wait = False  # whether a call may keep its thread until credentials have answered

    def __init__(self, *, endpoint: str | None = None, emulator: bool = False,
                 anonymous: bool = False, credentials: Credentials | None = None,
                 credentials_file: str | os.PathLike[str] | None = None,
                 user_project: str | None = None, quota_project: str | None = None,
                 user_agent: str | None = None, ca_file: str | None = None, io_threads: int = 0,
                 max_connections_per_host: int = 0, max_attempts: int = 0,
                 max_concurrency: int = 0, memory_cap: int = 0, upload_memory: int = 0,
                 slice: int = 0, connect_timeout: float | None = None,
                 stall_timeout: float | None = None, token_limit: float | None = None,
                 first_byte_timeout: float | None = None,
                 tokens_to_emulator: bool = False, service: Literal["gcs", "s3", "ais"] = "gcs",
                 region: str | None = None, access_key_id: str | None = None,
                 secret_access_key: str | None = None, session_token: str | None = None,
                 addressing: Literal["automatic", "virtual_hosted", "path"] = "automatic",
                 requester_pays: bool = False,
                 upload_checksum: Literal["full_object", "composite", "none"] = "full_object",
                 provider: str | None = None, cache: Cache | None = None,
                 client_certificate_file: str | os.PathLike[str] | None = None,
                 client_key_file: str | os.PathLike[str] | None = None, client_key_password: str | None = None,
                 proxy: str | None = None, no_proxy: str | None = None,
                 proxy_ca_file: str | os.PathLike[str] | None = None, resolve: str | Iterable[str] | None = None,
                 host: str | None = None, token_cache: str | os.PathLike[str] | None = None,
                 encryption_key: bytes | str | None = None) -> None:
        given = dict(locals())
        del given["self"]
        self._options = Options(given)
        self._scheme = self._options.scheme
        self._entered = 0
        self._begin()

    def _begin(self):
        # A signal's handler may use the client while its thread opens it.
        self._lock = _thread.RLock()
        self._opened = None
        self._feed = None
        self._closed = False
        self._under_way = {}
        _clients.add(self)

    def _handle(self):
        """The library's client, made when it is first wanted, in a forked child again."""
        return self._opened or self._open()

    def _open(self):
        with self._lock:
            self._check_open()
            if self._opened is None:
                made, error = ClientHandle(), ErrorHandle()
                checked(library.client_create(byref(self._options.struct()), byref(made),
                                              byref(error)), error)
                tokens = self._options.tokens()
                feed = _events.Feed(made, tokens)
                if tokens is not None and not feed.runs:
                    tokens.at_once(made)
                # What was called may have used the client, or closed it.
                self._check_open()
                if self._opened is None:
                    self._feed = feed
                    self._opened = made
            return self._opened

    def _handle_for_stream(self, queue):
        """The library's client, for a stream whose records come to `queue`: see failure()."""
        handle = self._handle()
        queue.tokens = tokens = self._tokens()
        if tokens is not None and self._may_wait:
            tokens.again(handle)
        return handle

    def _tokens(self):
        """What gives tokens to the client that _handle() has given; None where the library does."""
        feed = self._feed
        return None if feed is None else feed.tokens

    def _telling(self, call):
        from ._progress import Telling

        return Telling(self, call)

    def _checked(self, status, error):
        """Raises what `error`, an ErrorHandle, says where the status is not OK, with what gives tokens
        as the cause where it came of that."""
        if status:
            tokens, why = self._tokens(), taken(error)
            if tokens is not None:
                tokens.explain(why)
            try:
                raise why
            finally:
                del why  # else the frames of its traceback would be kept by one of them

    def _enter(self):
        with self._lock:
            self._check_open()
            self._entered += 1

    def _left(self):
        """Whether that was the outermost `with`."""
        with self._lock:
            self._entered -= 1
            return self._entered <= 0

    def _check_open(self):
        if self._closed:
            raise PreconditionError("the client is closed: make another one")

    def close(self) -> None:
        """Ends what is under way, on all threads, with CancelledError. Closing again does nothing."""
        with self._lock:
            self._closed = True
            opened, self._opened = self._opened, None
            feed, self._feed = self._feed, None
        if opened:
            library.client_close(opened)
        if feed is not None:
            feed.end()

    def __reduce__(self):
        if self._options.carry_secret():
            raise TypeError("credentials: a client with a token, a key or an object that has one cannot be "
                            "pickled, so that no secret travels: give a callable, which is pickled "
                            "by its name, or Application Default Credentials; of S3 what AWS's tools find")
        return _again, (type(self), self._options.given)

    def __repr__(self):
        hidden = ("credentials", "access_key_id", "proxy", *Options._secret)
        given = ", ".join(f"{name}={'...' if name in hidden else repr(value)}"
                          for name, value in self._options.given.items()
                          if value and value not in ("gcs", "automatic", "full_object"))
        return f"dataflux.{type(self).__name__}({given})"


def _missing(client, name):
    # Only of what there is not.
    if name in ("remove", "rm", "delete_object", "unlink"):
        raise AttributeError(f"{type(client).__name__!r} object has no attribute {name!r}: delete() removes an "
                             "object, and remove_prefix() all below a prefix")
    raise AttributeError(f"{type(client).__name__!r} object has no attribute {name!r}", name=name, obj=client)


# By setattr(), so that type checkers go on to tell what there is not.
setattr(Core, "__getattr__", _missing)


class Verbs(
    ObjectVerbs,
    ReadVerbs,
    GetManyVerbs,
    FileVerbs,
    TransferVerbs,
    CopyingVerbs,
    ListVerbs,
    ManifestVerbs,
    ShardVerbs,
    ShardWriterVerbs,
    SetVerbs,
    LeftoverVerbs,
    BucketVerbs,
    SigningVerbs,
    MetricsVerbs,
):
    """What a client does. Here a verb gives its call, or its body, for a body that awaits it; a client's
    _run() makes it."""

    def _run(self, work, progress=None, told=None):
        return work if told is None else watched(work, progress, *told)


class Client(Core, Blocking, Verbs):
    __doc__ = Core.__doc__

    _may_wait = True

    def __enter__(self) -> Client:
        self._enter()
        return self

    def __exit__(self, *_: object) -> None:
        if self._left():
            self.close()


def named_init(kind):
    """Gives a class an __init__ of its own name, which is Core's: Python names a mistyped option's function by it."""
    made = type(Core.__init__)(Core.__init__.__code__, globals(), "__init__")
    made.__kwdefaults__ = Core.__init__.__kwdefaults__
    made.__annotations__ = Core.__init__.__annotations__
    made.__qualname__ = f"{kind.__qualname__}.__init__"
    kind.__init__ = made


named_init(Client)


def _again(kind, given):
    return kind(**given)


def _in_child():
    global _default_lock
    _default_lock = _thread.RLock()
    for client in _threads.all_of(_clients):
        if not client._closed:
            client._begin()


os.register_at_fork(after_in_child=_in_child)


def _at_exit():
    """Ends the threads that run Python. Calls of other threads are left as they are, so that none of
    them wakes at the end of the interpreter, and what they lent is kept for ever. Functions of atexit
    that come after this may use clients."""
    import ctypes

    _threads.no_more()
    keep = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))
    clients = _threads.all_of(_clients)
    for client in clients:
        for entry in list(client._under_way.values()):
            keep(entry)
    feeds = [feed for feed in (client._feed for client in clients) if feed is not None]
    for feed in feeds:
        feed.end()
    for feed in feeds:
        feed.end(wait=1.0)


def _register():
    import atexit

    atexit.register(_at_exit)


_register()
_defaults = {}
_default_lock = _thread.RLock()


def given_client(client: Client | None) -> Client | None:
    """What was given as an argument of that name. Raises: TypeError for what is no Client."""
    if client is not None and not isinstance(client, Client):
        raise TypeError(f"client: a dataflux.Client is needed, and not a {type(client).__name__}")
    return client


def client(service: Literal["gcs", "s3", "ais"] = "gcs") -> Client:
    """The client of the module's functions: one for the process and service, with default options."""
    with _default_lock:
        known = _defaults.get(service)
        if known is None or known._closed:
            known = _defaults[service] = Client(service=service)
        return known


def service_of(*places: object) -> Literal["gcs", "s3", "ais"]:
    """Of the first place that tells one; "gcs" where none does."""
    return SERVICES[next(filter(None, map(scheme_of_place, places)), "gs")]


def client_for(*places: object) -> Client:
    """The module's client of the service that places are of."""
    return client(service_of(*places))


def client_for_saved(given: object) -> Client:
    """The same of what may be a path of a manifest or an index, too."""
    return client(SERVICES.get(scheme_of_saved(given) or "gs", "gcs"))


def in_place_of(given, scheme):
    """The module's client of that service for another one of the module's; any other client itself."""
    if given._scheme != scheme and any(given is each for each in _defaults.values()):
        return client(SERVICES.get(scheme or "gs", "gcs"))
    return given


def chosen(name):
    """A method of the module's client of the service that the arguments are of."""
    from functools import update_wrapper
    from types import MethodType

    def verb(*arguments, **how):
        return getattr(client_for(*arguments, *how.values()), name)(*arguments, **how)

    def by_first(requests, *arguments, **how):
        first, requests = first_of(requests)
        return getattr(client_for(*first), name)(requests, *arguments, **how)

    def by_file(target, *arguments, **how):
        return getattr(client_for_saved(target), name)(target, *arguments, **how)

    verb = {"get_many": by_first, "open_manifest": by_file}.get(name, verb)
    method = getattr(Client, name)
    update_wrapper(verb, method)
    verb.__module__, verb.__qualname__ = "dataflux", name
    verb.__wrapped__ = MethodType(method, Client)  # its signature is without the client
    return verb
