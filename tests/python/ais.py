"""An AIStore of our own for tests, and plain requests to it, which owe nothing to the client: as its gateway sends
them on to a target."""

import http.client
import json
import urllib.parse

import dataflux


class AisService(dataflux.Emulator):
    """The emulator as AIStore."""

    def __init__(self, *buckets, **more):
        super().__init__(*buckets, service="ais", **more)

    @property
    def options(self):
        return {"service": "ais", "endpoint": self.endpoint}

    def answered(self):
        """How many requests of clients it has answered."""
        return sum(one["count"] for one in self.counters()["requests"] if one["verb"] != "control")

    def ask(self, method, path, body=b"", **query):
        """(status, body)"""
        connection = http.client.HTTPConnection(self.endpoint.partition("://")[2], timeout=60)
        try:
            connection.request(method, path + "?" + urllib.parse.urlencode({"provider": "ais", "pid": "p", **query}),
                               body)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()


class AisBucket:
    """A bucket, and what it holds, by plain requests."""

    def __init__(self, service, name):
        self.service, self.name = service, name

    def __call__(self, name=""):
        """The URL of an object, or of the bucket."""
        return f"ais://{self.name}/{name}" if name else f"ais://{self.name}"

    def _ask(self, method, name, body=b""):
        return self.service.ask(method, f"/v1/objects/{self.name}/{urllib.parse.quote(name)}", body)

    def put(self, name, content=b""):
        status, said = self._ask("PUT", name, content)
        assert status == 200, said

    def get(self, name):
        """The object's bytes, None when there is none."""
        status, said = self._ask("GET", name)
        assert status in (200, 404), said
        return said if status == 200 else None

    def names(self, prefix=""):
        """Of all objects, as long as they fit into a page."""
        how = {"action": "list", "value": {"prefix": prefix, "props": "name"}}
        status, said = self.service.ask("GET", f"/v1/buckets/{self.name}", json.dumps(how).encode())
        assert status == 200, said
        return [entry["name"] for entry in json.loads(said)["entries"]]
