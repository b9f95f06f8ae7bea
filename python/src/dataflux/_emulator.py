"""A Google Cloud Storage, an S3 or an AIStore on this machine, for tests."""

from __future__ import annotations

import os
import sys

from ._errors import Error, InvalidArgumentError
from ._place import count_of, nanoseconds
from ._programs import program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    from ._aio import AsyncClient
    from ._client import Client

_ADDRESSES = {"gcs": "STORAGE_EMULATOR_HOST", "s3": "AWS_ENDPOINT_URL_S3",  # what its last line begins with
              "ais": "AIS_ENDPOINT"}
_REFUSED = {2, *range(100, 126)}  # how the program ends where it refuses a bucket's name, or an option


class Emulator:
    """A process that serves Google's JSON and XML API, or S3, until it is closed. Objects are kept in memory.

    endpoint   its address, such as "http://127.0.0.1:40123": for other clients, with emulator=True

    It is a context manager. It ends with the process that started it, however that ends. Any thread.

    Arguments:
        buckets: that are there at the beginning; more by add_bucket().
        service: "gcs"; "s3" for clients of S3, by `environment`, which has its keys and region; or "ais", an
            AIStore of one gateway and one target.
        seed: a folder whose files become objects of the first bucket.
        rtt: seconds that a round trip takes; 0 = none.
        log: how many of the last requests log() gives.
        arguments: more, as `dataflux-emulator --help` names them, such as "--require-token".

    Raises: TypeError and ValueError for a bad argument, InvalidArgumentError where the program says so;
    FileNotFoundError where the program was not built with the package; Error where it does not start,
    with what it says.
    """

    def __init__(self, *buckets: str, service: str = "gcs", seed: str | os.PathLike[str] | None = None,
                 rtt: float = 0.0, log: int = 0, arguments: Sequence[str] = ()) -> None:
        import subprocess

        self._process = None
        if service not in _ADDRESSES:
            raise ValueError(f'service: "gcs", "s3" or "ais" is needed, and not {service!r}')
        self._owner = os.getpid()
        for name in buckets:
            _check_text(name, "buckets")
        if isinstance(arguments, (str, bytes)):
            raise TypeError(f'arguments: a list of texts is needed, such as ["--require-token"], and not a '
                            f"{type(arguments).__name__}")
        round_trip = 0 if rtt == 0 else nanoseconds(rtt, "rtt") // 1_000_000
        command = [program("dataflux-emulator", "DATAFLUX_EMULATOR"), "--until-input-ends",
                   "--service", service, "--rtt", str(round_trip), "--log", str(count_of(log, "log"))]
        for name in buckets:
            command += [f"--bucket={name}"] if name else ["--bucket", ""]
        if seed is not None:
            command += ["--seed", seed]
        # A session of its own: Ctrl-C is for who uses it.
        self._process = subprocess.Popen([*command, *arguments], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         start_new_session=True)
        found = {}
        for line in self._process.stdout:
            name, _, value = line.decode(errors="replace").strip().partition("=")
            found[name] = value
            if name == _ADDRESSES[service]:
                break
        else:
            said = self._process.stderr.read().decode(errors="replace").strip()
            status = self._process.wait()
            self.close()
            kind = InvalidArgumentError if status in _REFUSED else Error
            raise kind("the emulator did not start: " + (said or f"{command[0]} has ended with status {status} "
                                                         "and said nothing: is it dataflux-emulator?"))
        self._service = service
        self.endpoint: str = found[name]
        variables = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION", name)
        self._environment = {key: found[key] for key in variables if key in found}

    def client(self, **options: Any) -> Client:
        """A new client of it; options as those of Client. Close it, or use it by `with`."""
        from ._client import Client

        return Client(**{**self._options_of(), **options})

    def async_client(self, **options: Any) -> AsyncClient:
        """A new client of it for programs with an event loop; options as those of AsyncClient. Close
        it, or use it by `async with`."""
        from ._aio import AsyncClient

        return AsyncClient(**{**self._options_of(), **options})

    @property
    def environment(self) -> dict[str, str]:
        """What leads other programs to it: variables for their environment."""
        return dict(self._environment)

    def _options_of(self):
        if self._service == "gcs":
            return {"endpoint": self.endpoint, "emulator": True}
        if self._service == "ais":
            return {"service": "ais", "endpoint": self.endpoint}
        return {"service": "s3", "endpoint": self.endpoint,
                "region": self._environment["AWS_REGION"],
                "access_key_id": self._environment["AWS_ACCESS_KEY_ID"],
                "secret_access_key": self._environment["AWS_SECRET_ACCESS_KEY"]}

    def add_bucket(self, name: str, **settings: bool | str) -> None:
        """Makes a bucket, or changes the settings of one: readOnly, noDelete, requesterPays,
        versioning (bool), and layout ("flat", "hierarchical", "zonal"); of S3 region and objectLock (bool), too.

        Raises: ValueError, with what the emulator says, for what is no name of a bucket.
        """
        _check_text(name, "name")
        from urllib.parse import quote

        self._ask("PATCH", f"/_emulator/buckets/{quote(name, safe='')}", settings)

    def faults(self, *rules: dict[str, Any]) -> None:
        """Sets the script of what goes wrong, in place of the one before; none = nothing does.

        A rule is a dict such as {"verb": "objects.media", "object": "data/*", "from": 1, "count": 1,
        "action": "refuse", "status": 503}; docs/testing.md has all of it, and so has
        `dataflux-emulator --help`. ValueError for a verb or a member that there is not.
        """
        self._ask("DELETE", "/_emulator/faults")
        if rules:
            self._ask("POST", "/_emulator/faults", list(rules))

    def counters(self) -> dict[str, Any]:
        """Requests by verb and status, bytes, connections, open uploads."""
        return self._ask("GET", "/_emulator/counters")

    def log(self) -> list[dict[str, Any]]:
        """The last requests: verb, method, target, status. See the argument `log`."""
        return self._ask("GET", "/_emulator/log")

    def revoke_tokens(self) -> None:
        """Refuses all tokens that it has given out."""
        self._ask("POST", "/_emulator/tokens/revoke")

    def expire_uploads(self) -> None:
        """Ends all open resumable uploads."""
        self._ask("POST", "/_emulator/uploads/expire")

    def _ask(self, method, path, body=None):
        import json
        import ssl
        from http.client import HTTPConnection, HTTPSConnection

        scheme, _, host = self.endpoint.partition("://")
        # Its certificate is its own; what is asked here is no secret.
        connection = (HTTPConnection(host, timeout=60) if scheme == "http" else
                      HTTPSConnection(host, timeout=60, context=ssl._create_unverified_context()))
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            reply = connection.getresponse()
            said = reply.read()
        finally:
            connection.close()
        if reply.status >= 300:
            try:
                why = json.loads(said)["error"]["message"]
            except (ValueError, LookupError, TypeError):
                why = said.decode(errors="replace").strip()
            raise ValueError(f"the emulator refuses {method} {path}: {why}")
        return json.loads(said) if said else None

    def close(self) -> None:
        """Ends it, and all that it holds is gone. Closing again does nothing. In a forked child it
        goes on: it is the parent's."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._owner != os.getpid():
            process.returncode = 0  # so that subprocess does not take it for one of this process
            return
        process.kill()
        process.communicate()

    def __enter__(self) -> Emulator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("an Emulator is a process, which is neither copied nor pickled: give others its "
                        "`endpoint`")

    def __repr__(self) -> str:
        state = self.endpoint if self._process is not None else "closed"
        return f"<dataflux.Emulator {state}>"

    def __del__(self) -> None:
        process = getattr(self, "_process", None)
        if process is None or sys is None or sys.is_finalizing():  # then it ends by itself with this process
            return
        if self._owner == os.getpid():
            import warnings

            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self)
        self.close()


def _check_text(name, argument):
    if not isinstance(name, str):
        raise TypeError(f"{argument}: names are str, and not a {type(name).__name__}")


def emulator(*buckets: str, **options: Any) -> Emulator:
    """Starts a Google Cloud Storage on this machine, for tests, an S3 or an AIStore: see Emulator.

        with dataflux.emulator("my-bucket") as service, service.client() as client:
            client.put("gs://my-bucket/x", b"1")
    """
    return Emulator(*buckets, **options)
