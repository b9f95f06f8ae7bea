"""What the script tests of programs share: an emulator of their own, requests to it, a slow road."""

import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


class Emulator:
    """The program dataflux-emulator with one bucket, until close()."""

    def __init__(self, program, bucket, *more):
        self.bucket = bucket
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


class SlowRoad:
    """A port of this machine that leads to another one, so slowly that a large transfer never ends
    by itself: `rate` bytes a second in each direction of each connection. `brought`: bytes that came
    back to those who use it."""

    def __init__(self, endpoint, rate):
        host, port = endpoint.removeprefix("http://").split(":")
        self.target, self.rate = (host, int(port)), rate
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.endpoint = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
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
