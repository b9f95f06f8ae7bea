"""An object of a web server as a stream, which goes on where a connection has broken off."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any

from .._errors import of_status

_TIMEOUT = 30.0   # seconds for a connection, and for each read
_ATTEMPTS = 8     # in a row, without a byte
_STATUSES = {401: "unauthenticated", 403: "permission_denied", 404: "not_found", 410: "not_found",
             412: "failed_precondition", 416: "failed_precondition"}


def _text_of(why):
    if isinstance(why, urllib.error.URLError):
        why = why.reason
    return f"{type(why).__name__}: {why}" if isinstance(why, BaseException) else str(why)


class HttpReader:
    """What stands behind a URL, from the beginning to the end: read(n), and close().

    Where a connection fails or ends before all that was announced has come, another one goes on there,
    by a range of the same version.

    Raises: NotFoundError and other Errors of the server's answer; UnavailableError after 8 attempts in a
        row; PreconditionError where the object has changed meanwhile.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._at = 0
        self._size: int | None = None
        self._version: str | None = None
        self._failed = 0
        self._reply: Any = None
        self._connect()

    def _connect(self):
        while self._reply is None:
            headers = {"Range": f"bytes={self._at}-"} if self._at else {}
            if self._at and self._version:
                headers["If-Range"] = self._version
            try:
                reply = urllib.request.urlopen(urllib.request.Request(self._url, headers=headers), timeout=_TIMEOUT)
            except urllib.error.HTTPError as refused:
                with refused:
                    status = refused.code
                if status not in (408, 429) and status < 500:
                    raise of_status(_STATUSES.get(status, "unknown"), f"{self._url}: the server answers {status} "
                                    f"{refused.reason}", http_status=status) from None
                self._wait(f"the server answers {status} {refused.reason}", status)
            except (OSError, HTTPException) as why:
                self._wait(_text_of(why))
            else:
                self._begin(reply)

    def _begin(self, reply):
        # A weak tag is good for nothing here: the bytes may differ.
        tag = reply.headers.get("ETag", "W/")
        version = tag if not tag.startswith("W/") else reply.headers.get("Last-Modified")
        length = reply.headers.get("Content-Length", "")
        total = int(length) if length.isdecimal() else None
        whole = None if total is None else total + (self._at if reply.status == 206 else 0)
        if self._at and (version != self._version or whole != self._size):
            reply.close()
            raise of_status("failed_precondition", f"{self._url}: it changed while it was read, at byte {self._at}: read it "
                            "again")
        skip = 0
        if not self._at:
            self._version, self._size = version, whole
        elif reply.status != 206:
            skip = self._at
        self._reply = reply
        while skip:  # a server without ranges: it has sent the beginning again
            data = reply.read(min(skip, 1 << 20))
            if not data:
                break
            skip -= len(data)

    def _wait(self, why, status=0):
        self._failed += 1
        if self._failed >= _ATTEMPTS:
            raise of_status("unavailable", f"{self._url}: {why}, {self._failed} times in a row, at byte {self._at}: try "
                            "again later", http_status=status, attempts=self._failed, retryable=True)
        time.sleep(min(8.0, 0.25 * 2 ** self._failed))

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most so many; none at the end."""
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        while size:
            try:
                self._connect()
                data: bytes = self._reply.read(size)
            except (OSError, HTTPException) as why:
                if hasattr(why, "status"):  # ours
                    raise
                self._drop()
                self._wait(_text_of(why))
                continue
            if data:
                self._at += len(data)
                self._failed = 0
                return data
            if self._size is None or self._at >= self._size:
                return b""
            self._drop()
            self._wait(f"the connection ended at byte {self._at} of {self._size}")
        return b""

    def _drop(self):
        if self._reply is not None:
            self._reply.close()
            self._reply = None

    def close(self) -> None:
        self._size = self._at
        self._drop()

    def __enter__(self) -> HttpReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
