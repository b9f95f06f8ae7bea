"""Clients that show a certificate, go another way than names say, and share their tokens."""

import json
import pickle
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request

import pytest

import dataflux

NAME = "private-bucket"
URL = f"gs://{NAME}/x"


class Demanding(dataflux.Emulator):
    """An emulator that refuses clients without a certificate, and requests without a token."""

    def __init__(self, folder):
        self.folder = folder
        user = folder / "user.json"
        super().__init__(NAME, log=100, arguments=[
            "--ca-file", str(folder / "ca.pem"), "--client-certificate-file", str(folder / "client.pem"),
            "--client-key-file", str(folder / "client.key"), "--require-token", "--authorized-user-file", str(user)])
        given = json.loads(user.read_text())
        given["token_uri"] = self.endpoint + "/token"
        user.write_text(json.dumps(given))
        self.port = self.endpoint.rpartition(":")[2]

    def tokens_given(self):
        """What it counts, asked for with its certificate."""
        context = ssl.create_default_context(cafile=self.folder / "ca.pem")
        context.load_cert_chain(self.folder / "client.pem", self.folder / "client.key")
        with urllib.request.urlopen(self.endpoint + "/_emulator/counters", timeout=60, context=context) as reply:
            return sum(each["count"] for each in json.load(reply)["requests"] if each["verb"] == "token")

    def options(self, **more):
        return {"endpoint": self.endpoint, "ca_file": self.folder / "ca.pem",
                "credentials_file": self.folder / "user.json", "client_certificate_file": self.folder / "client.pem",
                "client_key_file": self.folder / "client.key", "max_attempts": 1, **more}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Demanding(tmp_path_factory.mktemp("demanding")) as made:
        yield made


class Proxy:
    """A proxy that makes tunnels, and keeps what it was asked for."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.asked = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                taken, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(taken,), daemon=True).start()

    def _serve(self, taken):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = taken.recv(4096)
            if not piece:
                return
            head += piece
        self.asked.append(head.decode())
        host, _, port = head.split()[1].decode().rpartition(":")
        there = socket.create_connection((host, int(port)))
        taken.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=self._copy, args=(there, taken), daemon=True).start()
        self._copy(taken, there)

    @staticmethod
    def _copy(source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self._listener.close()


@pytest.fixture
def proxy():
    made = Proxy()
    yield made
    made.close()


def test_a_certificate_is_shown(service):
    with dataflux.Client(**service.options()) as client:
        assert client.exists(URL) is False
    without = service.options(client_certificate_file=None, client_key_file=None)
    with dataflux.Client(**without) as client, pytest.raises(dataflux.Error):
        client.exists(URL)


def test_a_host_and_an_address_lead_to_it(service):
    with dataflux.Client(**service.options(host="localhost")) as client:
        assert client.exists(URL) is False
    there = f"localhost:{service.port}"
    for resolve in (f"{there}:127.0.0.1", ["other.invalid:1:10.0.0.1", f"{there}:127.0.0.1"]):
        with dataflux.Client(**service.options(endpoint=f"https://{there}", resolve=resolve)) as client:
            assert client.exists(URL) is False


def test_a_proxy_of_its_own(service, proxy):
    url = f"http://me:s3cret@127.0.0.1:{proxy.port}"
    with dataflux.Client(**service.options(proxy=url)) as client:
        assert client.exists(URL) is False
        assert "s3cret" not in repr(client)
        assert proxy.asked and all("Proxy-Authorization: Basic " in each for each in proxy.asked)
        with pytest.raises(TypeError):
            pickle.dumps(client)
    count = len(proxy.asked)
    with dataflux.Client(**service.options(proxy=url, no_proxy="127.0.0.1")) as client:
        assert client.exists(URL) is False
    assert len(proxy.asked) == count
    proxy.close()
    with dataflux.Client(**service.options(proxy="http://me:s3cret@127.0.0.1:9")) as client:
        with pytest.raises(dataflux.Error, match="proxy: http://127.0.0.1:9") as failed:
            client.exists(URL)
        assert "s3cret" not in str(failed.value)


def test_processes_share_a_token(service, tmp_path):
    before = service.tokens_given()
    script = ("import sys, json, dataflux\n"
              "options = json.loads(sys.argv[1])\n"
              "with dataflux.Client(**options) as client:\n"
              f"    assert client.exists({URL!r}) is False\n")
    options = {name: value if isinstance(value, int) else str(value)
               for name, value in service.options(token_cache=tmp_path).items()}
    running = [subprocess.Popen([sys.executable, "-c", script, json.dumps(options)]) for _ in range(6)]
    assert [each.wait(timeout=100) for each in running] == [0] * 6
    assert service.tokens_given() - before == 1


def test_the_variable_names_the_folder(service, tmp_path, monkeypatch):
    monkeypatch.setenv("DATAFLUX_TOKEN_CACHE", str(tmp_path))
    with dataflux.Client(**service.options()) as client:
        assert client.exists(URL) is False
    assert [each.suffix for each in sorted(next(tmp_path.iterdir()).iterdir())] == [".lock", ".token"]


@pytest.mark.parametrize(("options", "error", "words"), [
    ({"resolve": 7}, TypeError, "resolve"),
    ({"resolve": ["a:1:10.0.0.1 b"]}, ValueError, "resolve"),
    ({"proxy": 7}, TypeError, "proxy"),
    ({"host": b"x"}, TypeError, "host"),
    ({"service": "s3", "host": "x"}, ValueError, "host"),
    ({"service": "ais", "token_cache": "x"}, ValueError, "token_cache"),
])
def test_bad_options_are_told_at_once(options, error, words):
    with pytest.raises(error, match=words):
        dataflux.Client(**options)


@pytest.mark.parametrize(("options", "words"), [
    ({"resolve": "a:1"}, "resolve: "),
    ({"proxy": "http://u:s3cret@p"}, "proxy: "),
    ({"proxy_ca_file": "/dev/null"}, "proxy_ca_file: "),
    ({"host": "a/b"}, "host: "),
    ({"client_key_file": None}, "a client certificate needs its key"),
    ({"token_cache": "/dev/null"}, "the cache of tokens: "),
])
def test_the_library_refuses_the_rest(service, options, words):
    with dataflux.Client(**service.options(**options)) as client:
        with pytest.raises(dataflux.Error, match=words) as failed:
            client.exists(URL)
        assert "s3cret" not in str(failed.value)
