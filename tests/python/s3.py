"""An S3 of our own for tests, and plain requests to it, which owe nothing to the client: signed here as AWS
describes it."""

import hashlib
import hmac
import http.client
import urllib.parse
from datetime import datetime, timezone
from xml.etree import ElementTree

import dataflux


def signature(secret, day, region, text):
    key = f"AWS4{secret}".encode()
    for part in (day, region, "s3", "aws4_request", text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


class S3Service(dataflux.Emulator):
    """The emulator as S3."""

    def __init__(self, *buckets, **more):
        super().__init__(*buckets, service="s3", **more)
        self.region = self.environment["AWS_REGION"]
        self.key = self.environment["AWS_ACCESS_KEY_ID"]
        self.secret = self.environment["AWS_SECRET_ACCESS_KEY"]

    @property
    def options(self):
        return {"service": "s3", "endpoint": self.endpoint, "region": self.region, "access_key_id": self.key,
                "secret_access_key": self.secret}

    def answered(self):
        """How many requests of clients it has answered."""
        return sum(one["count"] for one in self.counters()["requests"] if one["verb"] != "control")

    def ask(self, method, path, query="", body=b""):
        """(status, body)"""
        host = self.endpoint.partition("://")[2]
        time = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        digest = hashlib.sha256(body).hexdigest()
        headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": time}
        names = ";".join(headers)
        path = urllib.parse.quote(path, safe="/-_.~")
        canonical = "\n".join([method, path, query, *(f"{name}:{value}" for name, value in headers.items()), "",
                               names, digest])
        scope = f"{time[:8]}/{self.region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", time, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={self.key}/{scope}, SignedHeaders={names}, "
                                    f"Signature={signature(self.secret, time[:8], self.region, text)}")
        connection = http.client.HTTPConnection(host, timeout=60)
        try:
            connection.request(method, path + ("?" + query if query else ""), body, headers)
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()


class S3Bucket:
    """A bucket, and what it holds, by plain requests."""

    def __init__(self, service, name):
        self.service, self.name = service, name

    def __call__(self, name=""):
        """The URL of an object, or of the bucket."""
        return f"s3://{self.name}/{name}" if name else f"s3://{self.name}"

    def put(self, name, content=b""):
        status, said = self.service.ask("PUT", f"/{self.name}/{name}", body=content)
        assert status == 200, said

    def get(self, name):
        """The object's bytes, None when there is none."""
        status, said = self.service.ask("GET", f"/{self.name}/{name}")
        assert status in (200, 404), said
        return said if status == 200 else None

    def names(self, prefix=""):
        """Of all objects, as long as they fit into a page."""
        status, said = self.service.ask("GET", f"/{self.name}", "list-type=2&prefix=" + urllib.parse.quote(prefix, safe=""))
        assert status == 200, said
        return [each.text for each in ElementTree.fromstring(said).iter() if each.tag.endswith("Key")]
