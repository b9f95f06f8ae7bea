"""What the script tests of programs share: an emulator of their own, requests to it, tokens that it
accepts, a slow road."""

import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


USER = {"client_id": "emulator-client", "client_secret": "emulator-secret",
        "refresh_token": "emulator-refresh-token"}  # whom an emulator knows unless it is told another one


def token_of(endpoint, ca_file=None):
    """A new access token of an emulator."""
    body = urllib.parse.urlencode({"grant_type": "refresh_token", **USER}).encode()
    context = ssl.create_default_context(cafile=ca_file) if ca_file else None
    with urllib.request.urlopen(endpoint + "/token", body, timeout=60, context=context) as reply:
        return json.load(reply)["access_token"]


class Tokens:
    """Credentials of a client of an emulator that asks for tokens: a callable, in any process. The
    first one may be there already, so that faults of all requests hit none for tokens."""

    def __init__(self, endpoint, ca_file=None, token=None):
        self.endpoint, self.ca_file, self.token = endpoint, ca_file, token

    def __call__(self):
        token, self.token = self.token, None
        return token or token_of(self.endpoint, self.ca_file)

    def __repr__(self):
        return f"Tokens({self.endpoint!r})"

    def __eq__(self, other):
        return isinstance(other, Tokens) and self.endpoint == other.endpoint

    def __hash__(self):
        return hash(self.endpoint)


class Refreshed:
    """The same in the shape of google.auth's credentials."""

    def __init__(self, endpoint, ca_file=None):
        self.token = self.expiry = None
        self._tokens = Tokens(endpoint, ca_file)

    def refresh(self, request):
        self.token = self._tokens()


def options_of(endpoint):
    """What a dataflux.Client of an emulator that asks for tokens is made with. The variable
    DATAFLUX_TEST_TOKEN may have one of them; over TLS DATAFLUX_TEST_CA names the file of its
    authority."""
    token = os.environ.get("DATAFLUX_TEST_TOKEN")
    if endpoint.startswith("https://"):
        ca_file = os.environ["DATAFLUX_TEST_CA"]
        return {"endpoint": endpoint, "ca_file": ca_file,
                "credentials": Tokens(endpoint, ca_file, token)}
    return {"endpoint": endpoint, "emulator": True, "tokens_to_emulator": True,
            "credentials": Tokens(endpoint, token=token)}


class Emulator:
    """The program dataflux-emulator with one bucket, until close(). With "--require-token" its own
    requests have tokens."""

    def __init__(self, program, bucket, *more):
        self.bucket = bucket
        self.asks, self.ca_file, self.token = "--require-token" in more, None, None
        self.trusted = None  # the context of an emulator that speaks TLS
        self.process = subprocess.Popen([program, "--bucket", bucket, *more],
                                        stdout=subprocess.PIPE, text=True)
        line = next(l for l in self.process.stdout if l.startswith("STORAGE_EMULATOR_HOST="))
        self.endpoint = line.strip().split("=", 1)[1]

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()

    def ask(self, method, target, body=None, **headers):
        if self.asks:
            self.token = self.token or token_of(self.endpoint, self.ca_file)
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.endpoint + target, data=body, method=method,
                                         headers=headers)
        with urllib.request.urlopen(request, timeout=30, context=self.trusted) as reply:
            return reply.read()

    def put(self, name, content):
        self.ask("POST", f"/upload/storage/v1/b/{self.bucket}/o?uploadType=media&name="
                 + urllib.parse.quote(name, safe=""), content,
                 **{"Content-Type": "application/octet-stream"})

    def get(self, name):
        """The object's bytes, None when there is none."""
        try:
            return self.ask("GET", f"/storage/v1/b/{self.bucket}/o/"
                            f"{urllib.parse.quote(name, safe='')}?alt=media")
        except urllib.error.HTTPError as refused:
            if refused.code != 404:
                raise
            return None

    def names(self):
        """Of all objects, as long as they fit into a page."""
        page = json.loads(self.ask("GET", f"/storage/v1/b/{self.bucket}/o"))
        return [item["name"] for item in page.get("items", [])]

    def answered(self):
        """How many requests of clients it has answered."""
        counters = json.loads(self.ask("GET", "/_emulator/counters"))
        return sum(one["count"] for one in counters["requests"] if one["verb"] != "control")

    def open_uploads(self):
        return re.findall(rb"<UploadId>", self.ask("GET", f"/{self.bucket}?uploads"))


class Guarded(Emulator):
    """One that speaks TLS and asks for tokens.

    environment   what a command is begun with: a service account that it knows, its authority, and
                  under ENDPOINT its address, which is an option of the command
    """

    def __init__(self, program, bucket, *more):
        self.folder = tempfile.TemporaryDirectory(prefix="dataflux-guarded-")
        ca_file, key = f"{self.folder.name}/ca.pem", f"{self.folder.name}/key.json"
        super().__init__(program, bucket, "--https", "--require-token", "--ca-file", ca_file,
                         "--service-account-file", key, *more)
        self.ca_file, self.trusted = ca_file, ssl.create_default_context(cafile=ca_file)
        self.environment = environment(SSL_CERT_FILE=ca_file, GOOGLE_APPLICATION_CREDENTIALS=key,
                                       **{ENDPOINT: self.endpoint})

    def close(self):
        super().close()
        self.folder.cleanup()


class OnS3:
    """The program as S3, whose variables lead the command to it."""

    def __init__(self, program, *buckets, more=()):
        wanted = [word for bucket in buckets for word in ("--bucket", bucket)]
        self.process = subprocess.Popen([program, "--service", "s3", *wanted, *more], stdout=subprocess.PIPE, text=True)
        self.variables = {}
        for line in self.process.stdout:
            name, _, value = line.strip().partition("=")
            self.variables[name] = value
            if name == S3_ENDPOINT:
                break

    def faults(self, *rules):
        """The script of faults: these alone."""
        for method, body in (("DELETE", None), *(("POST", json.dumps(rule).encode()) for rule in rules)):
            self.ask(method, "/_emulator/faults", body)

    def ask(self, method, target, body=None):
        """Of the emulator itself."""
        request = urllib.request.Request(self.variables[S3_ENDPOINT] + target, body, method=method)
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.read()

    def counters(self):
        return json.loads(self.ask("GET", "/_emulator/counters"))

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()


ENDPOINT = "DATAFLUX_TEST_ENDPOINT"
S3_ENDPOINT = "AWS_ENDPOINT_URL_S3"


class SlowRoad:
    """A port of this machine that leads to another one, so slowly that a large transfer never ends
    by itself: `rate` bytes a second in each direction of each connection. `brought`: bytes that came
    back to those who use it."""

    def __init__(self, endpoint, rate):
        scheme, _, address = endpoint.partition("://")
        host, port = address.split(":")
        self.target, self.rate = (host, int(port)), rate
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.endpoint = f"{scheme}://127.0.0.1:{self.listener.getsockname()[1]}"
        self.sockets = []
        self.brought = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self.target)
            except OSError:  # nobody is there any more
                near.close()
                continue
            self.sockets += [near, far]
            for source, sink in ((near, far), (far, near)):
                source.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
                threading.Thread(target=self.carry, args=(source, sink, near), daemon=True).start()

    def carry(self, source, sink, near):
        try:
            while data := source.recv(16384):
                sink.sendall(data)
                if sink is near:
                    self.brought += len(data)
                time.sleep(len(data) / self.rate)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()
        for one in self.sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()


def wait_until(true, limit=60, pause=0.05):
    """True once true() is, asked every `pause` seconds; False when `limit` seconds have passed."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(pause)
    return False


def environment(**changes):
    """This process's environment without what leads to a service; None removes a variable."""
    out = {k: v for k, v in os.environ.items()
           if k not in ("STORAGE_EMULATOR_HOST", "GOOGLE_APPLICATION_CREDENTIALS")
           and not k.lower().endswith("_proxy")}
    out.update(changes)
    return out


@contextmanager
def answering(status, headers, body=b""):
    """The address of a service that gives every GET that answer."""

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
