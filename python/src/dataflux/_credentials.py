"""What `credentials=` of a client means: where access tokens come from, and when new ones are asked
for."""

from __future__ import annotations

import _thread
import os
from time import time

from . import _threads
from ._abi import UNAUTHENTICATED
from ._calls import checked
from ._errors import UnauthenticatedError
from ._events import log, report
from ._handles import ErrorHandle
from ._library import byref, library
from ._place import not_async, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, Callable, Protocol, Tuple, Union

    class Refreshable(Protocol):
        """google.auth.credentials.Credentials, for one."""

        token: Any
        expiry: Any

        def refresh(self, request: Any, /) -> Any: ...

    Token = Union[str, Tuple[str, Union[datetime, float, None]]]
    Credentials = Union[str, Callable[[], Token], Refreshable]

_NEVER = float("inf")
_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
_STALE = 225.0  # seconds before its end from which on the library wants another one
_GONE = 10.0  # seconds before its end from which on the library does not use it
_REMEMBERED = 1.0  # seconds for which calls end by a failure that came before them


def source_of(credentials: Credentials) -> Any:
    """What gives tokens: an object with get(renew) -> (token, ns since 1970 or 0).

    Raises: TypeError and ValueError that name `credentials`, and never what is in it.
    """
    if isinstance(credentials, str):
        return _Fixed(credentials)
    if not isinstance(credentials, type):
        if callable(getattr(credentials, "refresh", None)) and hasattr(credentials, "token"):
            return _Refreshed(credentials)
        if callable(credentials):
            not_async(credentials, "credentials")
            return _Called(credentials)
    elif not hasattr(credentials, "refresh"):
        return _Called(credentials)
    what = f"the class {credentials.__name__}" if isinstance(credentials, type) else \
        f"a {type(credentials).__name__}"
    raise TypeError("credentials: an access token as a str, a callable that gives one, or "
                    f"credentials of google.auth are needed, and not {what}")


def _checked_token(token):
    if not isinstance(token, str):
        raise TypeError(f"credentials: an access token is a str, and not a {type(token).__name__}")
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("credentials: an access token is letters, digits and signs, without "
                         "spaces, and without \"Bearer\" before it")
    return token


def _is_of_a_file(token):
    """As the library has it for every token. Base64 may begin with a slash: then a file has to be there."""
    if token.startswith(("{", "file:", "./", "../", "~/")) or token.lower().endswith(".json") or "://" in token:
        return True
    return token.startswith("/") and os.path.exists(token)


def _expires_ns(expiry):
    """Nanoseconds since 1970; 0 for None, which is never."""
    if expiry is None:
        return 0
    if hasattr(expiry, "timestamp"):
        if expiry.tzinfo is None:
            raise ValueError("credentials: an expiry has a time zone, such as datetime.timezone.utc")
        expiry = expiry.timestamp()
    if isinstance(expiry, bool) or not isinstance(expiry, (int, float)):
        raise TypeError("credentials: an expiry is a datetime, or seconds since 1970, and not a "
                        f"{type(expiry).__name__}")
    if not 0 < expiry < 9e9:
        raise ValueError(f"credentials: an expiry of {expiry!r} is not in seconds since 1970")
    return int(expiry * 1e9)


class _Fixed:
    """One token. Where the service refuses it, it is said so to the caller, since there is no
    other."""

    secret = True

    def __init__(self, token):
        self._token = _checked_token(token)
        if _is_of_a_file(token):
            raise ValueError("credentials: a file's path or content is no access token: name a file that "
                             "is there by credentials_file")

    def get(self, renew):
        return self._token, 0


class _Called:
    """Those of a callable."""

    secret = False  # the callable is carried by a pickle, and what it gave is not

    def __init__(self, function):
        self._function = function

    def get(self, renew):
        given = plain(self._function(), "credentials")
        if isinstance(given, tuple):
            if len(given) != 2:
                raise TypeError("credentials: the callable gives a token or (token, expiry), and not "
                                f"a tuple of {len(given)}")
            return _checked_token(given[0]), _expires_ns(given[1])
        return _checked_token(given), 0


class _Refreshed:
    """Those of google.auth, and whatever has its methods."""

    secret = True

    def __init__(self, credentials):
        if getattr(credentials, "requires_scopes", False) is True:
            credentials = credentials.with_scopes([_SCOPE])
        self._credentials = credentials
        self.quota_project = getattr(credentials, "quota_project_id", None)

    @property
    def anonymous(self):
        """google.auth's AnonymousCredentials: good, and without a token."""
        return self._credentials.token is None and \
            getattr(self._credentials, "valid", False) is True

    def get(self, renew):
        credentials = self._credentials
        if renew or not credentials.token or self._ends() < time() + _STALE:
            credentials.refresh(_request())
        ends = self._ends()
        return _checked_token(credentials.token), 0 if ends == _NEVER else _expires_ns(ends)

    def _ends(self):
        expiry = getattr(self._credentials, "expiry", None)
        if expiry is None:
            return _NEVER
        if hasattr(expiry, "timestamp"):
            if expiry.tzinfo is None:  # google.auth's are of UTC, and do not say so
                from datetime import timezone

                expiry = expiry.replace(tzinfo=timezone.utc)
            return expiry.timestamp()
        return expiry


def _request():
    """What google.auth sends requests by."""
    try:
        import google.auth  # noqa: F401
    except ImportError:
        return None  # then what is refreshed is none of its
    try:
        from google.auth.transport.requests import Request
    except ImportError:
        try:
            import urllib3
            from google.auth.transport.urllib3 import Request as Other
        except ImportError:
            raise ImportError("credentials: google.auth sends requests by the package requests, "
                              "which is not installed: pip install requests") from None
        return Other(urllib3.PoolManager())
    return Request()


class Tokens:
    """Asks a source for tokens and gives them to a client of the library, on a thread of its own, for
    a source may take long: calls wait for it in the library, as long as their own limits say, and
    logs do not wait. Where the source fails, calls that wait end by that, at once."""

    def __init__(self, source):
        self._source = source
        self._asking = _thread.RLock()  # the source is not asked twice at once
        self._lock = _thread.allocate_lock()
        self._asked = self._runs = False
        self._over = None  # a threading.Event, of the attempt that is under way, or about to be
        self._ended = False
        self._attempts = 0
        self.why = None  # the exception that the newest attempt ended with
        self._good_until = 0.0  # time(): of the token that the library has

    def at_once(self, client):
        """On the caller's thread, where no other one begins any more. Raises what tells him why there
        is no token."""
        with self._asking:
            try:
                self._attempts += 1
                token = self._source.get(False)
            except Exception as why:
                self.why = why
                raise UnauthenticatedError(f"unauthenticated: {_no_token(why)}") from why
            self._give(client, *token)

    def lacking(self):
        """Whether the newest attempt has failed, and the library has no good token."""
        return self.why is not None and time() > self._good_until

    def again(self, client):
        """Before a call: where a token is lacking one is asked for anew. The library ends calls by
        the last failure for a second, and this waits for the outcome no longer."""
        if not self.lacking():
            return
        from threading import Event

        with self._lock:
            over, begun = self._over, self._over is not None
            if not begun:
                over = self._over = Event()
        if not begun:
            self.needed(lambda: client)
        over.wait(_REMEMBERED)

    def explain(self, error):
        """Says why there is no token, in an error that came of it."""
        if isinstance(error, UnauthenticatedError) and error.__cause__ is None:
            error.__cause__ = self.why

    def _give(self, client, token, expires_ns):
        with self._lock:
            self._asked = False  # whoever has asked until now gets this one
        error = ErrorHandle()
        checked(library.client_set_token(client, token.encode(), expires_ns, byref(error)), error)
        self._good_until = (expires_ns / 1e9 or _NEVER) - _GONE
        self.why = None

    def needed(self, client):
        """A token is needed by the client that `client()` gives, None where there is none any more."""
        with self._lock:
            self._asked = True
            if time() + _STALE < self._good_until:
                self._good_until = 0.0  # it does not end yet: the service has refused it
            if self._runs:
                return
            self._runs = True
        try:
            _threads.begin(self._renew, client)
        except RuntimeError:  # no thread any more: logs wait
            self._renew(client)

    def end(self):
        """No more attempts."""
        self._ended = True

    def _renew(self, client):
        from threading import Event

        while True:
            with self._lock:
                if not self._asked or self._ended:
                    self._runs = False
                    if self._over is not None:
                        self._over.set()
                    return
                self._asked = False
                if self._over is None:
                    self._over = Event()
            self._attempt(client)

    def _attempt(self, client):
        """One. The library asks again while it has a good token still, and for calls that want one
        a second after this has failed."""
        over = None
        try:
            try:
                with self._asking:
                    self._attempts += 1
                    token = self._source.get(self._attempts > 1)
            finally:
                # Before anybody is told: who comes after that wants another one.
                with self._lock:
                    over, self._over = self._over, None
            handle = client()
            if handle is not None:
                self._give(handle, *token)
        except BaseException as why:
            self.why = why
            handle = client()
            if self._ended or handle is None:
                return
            try:
                log("warning", f"credentials gave no token: {type(why).__name__}, raised "
                    f"{_where(why)}")
            except Exception:  # a filter of logging's, for one
                report()
            error = ErrorHandle()
            library.client_fail_token(handle, UNAUTHENTICATED, _no_token(why).encode(),
                                      byref(error))
        finally:
            if over is not None:
                over.set()


def _where(why):
    """Where an exception was raised. Its text, and lines of its source, may hold a secret."""
    at = why.__traceback__
    while at.tb_next is not None:
        at = at.tb_next
    code = at.tb_frame.f_code
    return f"by {code.co_name}() in {code.co_filename}, line {at.tb_lineno}"


def _no_token(why):
    # The text of what it raised is not ours, and may hold a secret: it is chained.
    return f"credentials gave no token ({type(why).__name__}): see what this was raised from; the " \
        "log says where"
