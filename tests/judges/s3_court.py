"""What the judges of the emulator's S3 share: the emulator under judgement, and what it says of itself."""

import json
import os
import random
import ssl
import urllib.request

ENDPOINT = os.environ["AWS_ENDPOINT_URL_S3"]
AUTHORITY = os.environ.get("AWS_CA_BUNDLE")  # where it speaks TLS
MIB = 1 << 20
TRUSTED = ssl.create_default_context(cafile=AUTHORITY)


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


def ask(method, target, document=None):
    """The emulator's answer as JSON, without any of the judged clients."""
    request = urllib.request.Request(ENDPOINT + target, method=method,
                                     data=None if document is None else json.dumps(document).encode(),
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30, context=TRUSTED) as reply:
        text = reply.read()
    return json.loads(text) if text else None


def make_bucket(name, **settings):
    ask("PATCH", f"/_emulator/buckets/{name}", settings)
    return name


def open_uploads():
    return ask("GET", "/_emulator/counters")["multipartUploadsOpen"]
