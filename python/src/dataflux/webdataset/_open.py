"""URLs as streams, by their schemes."""

from __future__ import annotations

import io
import os
import re
import sys
from typing import Any, Callable, Dict
from urllib.parse import unquote, urlsplit

from .._errors import Error
from ._urls import scheme_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

    from .._client import Client

_PATIENCE = 10.0  # seconds that a command may take to end, once nobody reads it


class PipeError(Error, OSError):
    """A command of a "pipe:" URL that has failed."""


class Pipe:
    """A command of a shell: what it writes is read, or what is written it reads.

    Raises: PipeError where it has failed, once its output was read to the end, or close() is called after
        writing. A command that is closed before its end may fail as it likes.
    """

    def __init__(self, command: str, mode: str) -> None:
        import subprocess

        self.command = command
        self._reads = mode == "rb"
        where = {"stdout" if self._reads else "stdin": subprocess.PIPE}
        self._process = subprocess.Popen(command, shell=True, **where)  # type: ignore[call-overload]
        self._stream = self._process.stdout if self._reads else self._process.stdin

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        return data or (b"" if size == 0 else self._ended())

    def read1(self, size: int = -1) -> bytes:
        """What is there, as soon as something is."""
        data: bytes = self._stream.read1(size)
        return data or (b"" if size == 0 else self._ended())

    def _ended(self):
        self._check(self._process.wait())
        return b""

    def _check(self, status):
        if status:
            raise PipeError(f"pipe:{self.command}: the command has ended with status {status}: what it wrote is not all")

    def write(self, data: Any) -> int:
        written: int = self._stream.write(data)
        return written

    def flush(self) -> None:
        self._stream.flush()

    def close(self) -> None:
        if self._stream.closed:
            return
        try:
            self._stream.close()
        finally:
            status = self._wait()
        if not self._reads:
            self._check(status)

    def _wait(self):
        import subprocess

        try:
            return self._process.wait(_PATIENCE if self._reads else None)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def abort(self) -> None:
        """Ends the command: what it was given is not all."""
        if not self._stream.closed:
            self._process.kill()
            try:
                self._stream.close()
            except OSError:
                pass
            self._wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def __del__(self) -> None:
        if "_stream" in self.__dict__ and not self._stream.closed:
            if not self._reads:
                self._process.kill()  # else it would take the end of what it was given for the whole
            try:
                self._stream.close()
            except OSError:
                pass
            self._process.poll()


class WholeFile(io.BufferedWriter):
    """A file that is written beside its place, and is there whole once it is closed. What was there stays where
    an exception leaves its `with`, and where it is let go of."""

    def __init__(self, path: str) -> None:
        path = os.path.realpath(path)
        beside = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.part"
        super().__init__(io.FileIO(beside, "xb"), 1 << 20)
        self.path, self._beside = path, beside

    def close(self) -> None:
        if self.closed:
            return
        try:
            super().close()
            os.replace(self._beside, self.path)
        except BaseException:
            self._remove()
            raise

    def abort(self) -> None:
        """Closes it; what was there before stays."""
        if not self.closed:
            try:
                super().close()
            finally:
                self._remove()

    def _remove(self):
        try:
            os.unlink(self._beside)
        except FileNotFoundError:
            pass

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def __del__(self) -> None:
        if "_beside" in self.__dict__:
            self.abort()


def _local(path, mode):
    if mode == "rb":
        return open(path, "rb")
    if os.path.exists(path) and not os.path.isfile(path):
        return open(path, "wb")  # such as /dev/null
    return WholeFile(path)


def open_gs(url: str, mode: str = "rb", bufsize: int = -1, *, client: Client | None = None, **kw: Any) -> Any:
    """An object of Google Cloud Storage or S3: read ahead, or written whole."""
    if client is None:
        from .._client import client_for

        client = client_for(url)
    return client.open(url, mode, **kw)


def open_pipe(url: str, mode: str = "rb", bufsize: int = -1, **kw: Any) -> Pipe:
    """What a shell makes of the text behind "pipe:". It runs any command: take such URLs from nobody."""
    return Pipe(url[len("pipe:"):], mode)


def open_http(url: str, mode: str = "rb", bufsize: int = -1, **kw: Any) -> Any:
    """An object of a web server, which is read alone."""
    if mode != "rb":
        raise ValueError(f"{url}: web servers are read from, and not written to: write gs:// or a file, or pipe: to a "
                         "command that uploads")
    from ._http import HttpReader

    return HttpReader(url)


def _unknown(url, *_, **__):
    known = ", ".join(sorted({*gopen_schemes, "file"} - {"__default__"}))
    raise ValueError(f"{url}: no stream is known for {scheme_of(url)}: there are {known}, paths, and '-'; add a function of "
                     "(url, mode, bufsize) to dataflux.webdataset.gopen_schemes, or use pipe: and a command")


# By scheme a function of (url, mode, bufsize), to which programs add theirs.
gopen_schemes: Dict[str, Callable[..., Any]] = {
    "__default__": _unknown, "gs": open_gs, "s3": open_gs, "ais": open_gs,
    "http": open_http, "https": open_http, "pipe": open_pipe}


def _rewritten(url):
    """As GOPEN_REWRITE says: "pattern=text;..." of which the first that matches the beginning is used."""
    for rule in filter(None, os.environ.get("GOPEN_REWRITE", "").split(";")):
        pattern, _, text = rule.partition("=")
        made = re.sub("^" + pattern, text, url)
        if made != url:
            return made
    return url


def path_of(url: str) -> str | None:
    """The path of a URL that means a file here; else None."""
    scheme = scheme_of(url)
    if scheme == "file":
        return unquote(urlsplit(url).path)
    return None if scheme or url == "-" else url


def is_ours(url: str) -> bool:
    """Whether it is an object that the client reads."""
    return scheme_of(url) in ("gs", "s3", "ais") and gopen_schemes.get(scheme_of(url)) is open_gs and _rewritten(url) == url


def gopen(url: str, mode: str = "rb", bufsize: int = -1, *, client: Client | None = None, **kw: Any) -> Any:
    """A URL as a binary stream that is read or written in order.

    Arguments:
        url: "gs://...", a path, "file:...", "http://...", "https://...", "pipe:COMMAND", "-" for standard input
            or output; others by gopen_schemes.
        mode: "rb" or "wb". Files and objects that are written appear whole, when they are closed.
        bufsize, kw: for the functions of gopen_schemes.
        client: that reads and writes gs://; None = the module's.

    Raises: ValueError for another mode, and for a scheme that nobody knows; what the stream's kind raises.
    """
    if mode not in ("rb", "wb"):
        raise ValueError(f"mode: {mode!r} is none of rb and wb")
    if url == "-":
        return (sys.stdin if mode == "rb" else sys.stdout).buffer
    url = _rewritten(url)
    path = path_of(url)
    if path is not None:
        return _local(path, mode)
    function = gopen_schemes.get(scheme_of(url), gopen_schemes["__default__"])
    return function(url, mode, bufsize, **kw) if function is not open_gs else open_gs(url, mode, client=client, **kw)


class Opener:
    """What register() puts into webdataset: it pickles, as far as the client does."""

    def __init__(self, client: Client | None) -> None:
        self.client = client

    def __call__(self, url: str, mode: str = "rb", bufsize: int = -1, **kw: Any) -> Any:
        if mode != "rb":
            return open_gs(url, mode, client=self.client)
        from .._client import client_for
        from ._ahead import InSequence

        return io.BufferedReader(InSequence(self.client or client_for(url), url), 1 << 20)


def register(client: Client | None = None) -> None:
    """Makes the package webdataset read and write gs:// by dataflux, in this process and in those that are
    forked from it.

        import dataflux.webdataset, webdataset

        dataflux.webdataset.register()
        for sample in webdataset.WebDataset("gs://bucket/train-{000..127}.tar", shardshuffle=100):
            ...

    Arguments:
        client: None = the module's, of dataflux.client().

    Raises: ModuleNotFoundError where webdataset is not installed; TypeError for what is no client.
    """
    from .._client import given_client
    from ._optional import optional

    optional("webdataset", "register()").gopen_schemes["gs"] = Opener(given_client(client))
