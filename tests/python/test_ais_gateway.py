"""A client of AIStore before a gateway that lies, leads astray, and falls silent: a server of ours in front of the
emulator, which changes what passes."""

import http.client
import io
import os
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import dataflux
from ais import AisBucket, AisService

BODIES = {f"o/{i:03}": os.urandom(100 + i) for i in range(64)}
MEMBERS = {"dir/a.jpg": b"first", "empty": b"", "some": os.urandom(70_000), "large": os.urandom(5_000_000)}


def tar_of(members):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def members_of(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as read:
        return [(each.name, read.extractfile(each).read()) for each in read]


class Gateway(ThreadingHTTPServer):
    """Sends each request on, as a gateway's target would have it.

    before   of a request: (status, headers, body) in place of an answer, or None
    after    of a request and (status, headers, body): what is sent instead
    seen     the requests: (method, target, headers)
    """

    daemon_threads = True

    def __init__(self, service, host="127.0.0.1"):
        super().__init__((host, 0), _Passing)
        self.service, self.seen = service, []
        self.before = lambda target: None
        self.after = lambda target, reply: reply
        self.port = self.server_address[1]
        self.endpoint = f"http://{host}:{self.port}"

    def handle_error(self, *_):
        pass  # clients leave when they please

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class _Passing(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _pass(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path, dict(self.headers)))
        reply = self.server.before(self.path)
        if reply is None:
            connection = http.client.HTTPConnection(self.server.service.endpoint.partition("://")[2], timeout=60)
            passed = {name: value for name, value in self.headers.items() if name.lower().startswith(("range", "ais-"))}
            connection.request(self.command, self.path + ("" if "pid=" in self.path else "&pid=p"), body, passed)
            came = connection.getresponse()
            kept = {name: value for name, value in came.getheaders()
                    if name.lower().startswith(("ais-", "content-"))}
            reply = self.server.after(self.path, (came.status, kept, came.read()))
            connection.close()
        status, headers, body = reply
        headers = dict(headers)
        chunked = headers.get("Transfer-Encoding") == "chunked"
        closes = headers.get("Connection") == "close"
        if not chunked and not closes and self.command != "HEAD":
            headers.setdefault("Content-Length", str(len(body)))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if chunked:
            for at in range(0, len(body), 50_000):
                part = body[at:at + 50_000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.wfile.write(body)
        self.close_connection = self.close_connection or closes

    do_GET = do_HEAD = do_PUT = do_DELETE = _pass

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def service():
    with AisService("bkt") as service:
        bucket = AisBucket(service, "bkt")
        for name, body in BODIES.items():
            bucket.put(name, body)
        bucket.put("x.tar", tar_of(MEMBERS.items()))
        yield service


@pytest.fixture
def gateway(service):
    with Gateway(service) as gateway:
        yield gateway


@pytest.fixture
def client(gateway):
    with dataflux.Client(service="ais", endpoint=gateway.endpoint, max_attempts=4) as client:
        yield client


def is_batch(target):
    return target.startswith("/v1/ml/moss")


def chunked(target, reply):
    status, headers, body = reply
    return status, {"Transfer-Encoding": "chunked"} if "archpath" in target and status == 200 else headers, body


def test_members_of_unknown_length_are_read_whole(gateway, client):
    gateway.after = chunked
    for name, body in MEMBERS.items():
        assert client.get("ais://bkt/x.tar", member=name) == body
    asked = [("ais://bkt/x.tar", name) for _ in range(20) for name in MEMBERS]
    assert [bytes(item.data) for item in client.get_many(iter(asked)).items()] == 20 * list(MEMBERS.values())


def test_a_member_that_only_the_connection_ends_is_refused(gateway, client):
    gateway.after = lambda target, reply: (reply[0], {"Connection": "close"}, reply[2])
    with pytest.raises(dataflux.Error, match="ends with its connection"):
        client.get("ais://bkt/x.tar", member="some")


def test_a_member_that_is_cut_is_read_anew_or_told(gateway, client):
    cut = [2]

    def after(target, reply):
        status, headers, body = reply
        if "archpath" not in target or not cut[0]:
            return reply
        cut[0] -= 1
        return status, {"Content-Length": str(len(body)), "Connection": "close"}, body[:len(body) // 2]

    gateway.after = after
    assert client.get("ais://bkt/x.tar", member="large") == MEMBERS["large"]
    cut[0] = 1_000_000
    with pytest.raises(dataflux.Error, match="member large: "):
        client.get("ais://bkt/x.tar", member="large", timeout=20)


def test_a_part_in_place_of_a_member_is_refused(gateway, client):
    gateway.after = lambda target, reply: (206, {"Content-Range": "bytes 0-4/70000"}, reply[2][:5])
    with pytest.raises(dataflux.Error, match="status 206"):
        client.get("ais://bkt/x.tar", member="some")


def test_redirects_that_do_not_end(gateway, client):
    gateway.before = lambda target: (301, {"Location": f"{gateway.endpoint}{target}&again=1"}, b"")
    with pytest.raises(dataflux.Error, match="redirects"):
        client.get("ais://bkt/o/001")
    assert len(gateway.seen) <= 8
    gateway.before = lambda target: (307, {"Location": "no URL at all"}, b"")
    with pytest.raises(dataflux.Error, match="redirects"):
        client.get("ais://bkt/o/001")
    gateway.before = lambda target: (307, {}, b"")
    with pytest.raises(dataflux.Error, match="redirects to nowhere"):
        client.stat("ais://bkt/o/001")


def own_address():
    """Of this machine, and not of its loopback; None where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith("127.") else address


def test_a_token_does_not_follow_to_another_machine(service, gateway):
    address = own_address()
    if address is None:
        pytest.skip("this machine has no address but its loopback")
    with Gateway(service, address) as target, \
            dataflux.Client(service="ais", endpoint=gateway.endpoint, credentials="SECRET-0123456789") as client:
        gateway.before = lambda path: (301, {"Location": f"{target.endpoint}{path}&pid=p"}, b"")
        assert client.get("ais://bkt/o/001") == BODIES["o/001"]
        assert client.get("ais://bkt/x.tar", member="dir/a.jpg") == b"first"
        assert all("SECRET" not in str(headers) for _, _, headers in target.seen) and len(target.seen) == 2
        assert all(headers["Authorization"] == "Bearer SECRET-0123456789" for _, _, headers in gateway.seen)


def test_a_map_that_changes_between_redirect_and_read(gateway, client):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{closed.getsockname()[1]}"
    left = [2]

    def before(target):
        if "pid=" in target:
            return None
        left[0] -= 1
        return 307, {"Location": f"{gone if left[0] >= 0 else gateway.endpoint}{target}&pid=p"}, b""

    gateway.before = before
    assert client.get("ais://bkt/o/001") == BODIES["o/001"]
    left[0] = 1
    listing = client.list("ais://bkt/o/")
    assert {item.request.name: bytes(item.data) for item in client.get_many(listing).items()} == BODIES


def other_names(members):
    return [("o/000", data) for _, data in members]


def swapped(members):
    return [members[1], members[0], *members[2:]]


def of_swapped_bytes(members):
    names = [name for name, _ in members]
    return list(zip(names, [data for _, data in reversed(members)]))


def flipped(members):
    return [(name, bytes([data[0] ^ 1]) + data[1:]) for name, data in members]


LIES = {
    "short": lambda tar: tar_of(members_of(tar)[:3]),
    "long": lambda tar: tar_of([*members_of(tar), ("o/001", b"x" * 300), ("y", b"y")]),
    "a gigabyte": lambda tar: tar_of([*members_of(tar)[:20], ("z", bytes(40_000_000))]),
    "swapped": lambda tar: tar_of(swapped(members_of(tar))),
    "bytes of others": lambda tar: tar_of(of_swapped_bytes(members_of(tar))),
    "flipped": lambda tar: tar_of(flipped(members_of(tar))),
    "names of others": lambda tar: tar_of(other_names(members_of(tar))),
    "all missing": lambda tar: tar_of([("__404__/" + name, b"") for name, _ in members_of(tar)]),
    "shorter sizes": lambda tar: tar_of([(name, data[:-1]) for name, data in members_of(tar)]),
    "longer sizes": lambda tar: tar_of([(name, data + b"x") for name, data in members_of(tar)]),
    "size of the header": lambda tar: tar[:124] + b"77777777777\0" + tar[136:],
    "no archive": lambda tar: b"<html>hello</html>",
    "nothing": lambda tar: b"",
    "cut": lambda tar: tar[:len(tar) // 2 + 100],
    "zeros": lambda tar: bytes(len(tar)),
    "other shape": lambda tar: tar_of([("../../etc/passwd", b"x"), *members_of(tar)]),
}


@pytest.mark.parametrize("lie", LIES)
def test_batches_that_lie_cost_requests_and_no_byte(gateway, client, lie):
    listing = client.list("ais://bkt/o/")
    gateway.after = lambda target, reply: (reply[0], {}, LIES[lie](reply[2])) if is_batch(target) else reply
    for _ in range(2):
        found = list(client.get_many(listing).items())
        assert [bytes(item.data) for item in found] == list(BODIES.values())
        assert all(item.verified for item in found)
    assert any(is_batch(target) for _, target, _ in gateway.seen)


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_batches_that_are_refused(gateway, client, status):
    listing = client.list("ais://bkt/o/")
    gateway.before = lambda target: (status, {}, b'{"tcode":"ErrFailedTo","message":"no"}') if is_batch(target) else None
    assert [bytes(item.data) for item in client.get_many(listing).items()] == list(BODIES.values())


def test_batches_of_samples_that_lie(gateway, client, service, tmp_path):
    bucket = AisBucket(service, "bkt")
    samples = [os.urandom(2_000 + i) for i in range(100)]
    for number in range(4):
        bucket.put(f"s/{number}.tar", tar_of([(f"{i:03}.bin", samples[i]) for i in range(number, 100, 4)]))
    client.index_shards("ais://bkt/s/", tmp_path / "index")
    index = dataflux.ShardIndex.open(tmp_path / "index")
    order = list(dataflux.Sampler(100, seed=5))
    expected = [samples[i % 25 * 4 + i // 25] for i in order]

    def read():
        return [bytes(sample["bin"]) for sample in client.get_samples(index, order)]

    assert read() == expected
    assert any(is_batch(target) for _, target, _ in gateway.seen)
    for lie in ("short", "swapped", "bytes of others", "flipped", "names of others", "longer sizes", "zeros"):
        gateway.after = lambda target, reply, how=LIES[lie]: (
            (reply[0], {}, how(reply[2])) if is_batch(target) else reply)
        assert read() == expected
    gateway.after = lambda target, reply: (reply[0], reply[1], bytes(len(reply[2]))) if "s/" in target else reply
    with pytest.raises(dataflux.DataLossError):
        read()


def test_many_members_of_one_archive(gateway, client, service):
    AisBucket(service, "bkt").put("many.tar", tar_of([(f"{i}", b"%d" % i) for i in range(1_000)]))
    asked = [("ais://bkt/many.tar", str(i)) for i in range(0, 1_000, 2)] + [("ais://bkt/many.tar", "none")]
    found = list(client.get_many(asked, on_error="return").items())
    assert [bytes(item.data) for item in found[:-1]] == [b"%d" % i for i in range(0, 1_000, 2)]
    assert isinstance(found[-1].error, dataflux.NotFoundError) and found[-1].request == asked[-1]
    assert not any(item.verified for item in found)


PROGRAM = """
import sys, dataflux
with dataflux.Client(service="ais", endpoint=sys.argv[1]) as client:
    print("begun", flush=True)
    while True:
        for item in client.get_many([("ais://bkt/x.tar", name) for name in ("some", "large") * 50]).items():
            assert len(item.data) in (70_000, 5_000_000)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_reader_of_members_that_is_ended(gateway, how):
    child = subprocess.Popen([sys.executable, "-c", PROGRAM, gateway.endpoint], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    time.sleep(0.5)
    child.send_signal(how)
    _, said = child.communicate(timeout=60)
    assert child.returncode == -how
    assert ("KeyboardInterrupt" in said) == (how == signal.SIGINT)


def test_a_forked_child_reads_by_itself(client):
    assert client.get("ais://bkt/x.tar", member="dir/a.jpg") == b"first"
    child = os.fork()
    if child == 0:
        status = 1
        try:
            listing = client.list("ais://bkt/o/")
            good = client.get("ais://bkt/x.tar", member="some") == MEMBERS["some"]
            good = good and [bytes(item.data) for item in client.get_many(listing).items()] == list(BODIES.values())
            status = 0 if good else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert client.get("ais://bkt/x.tar", member="some") == MEMBERS["some"]
