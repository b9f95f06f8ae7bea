"""What the judges in Python share: the emulator under judgement, and what it says of itself."""

import json
import os
import random
import urllib.error
import urllib.request

ENDPOINT = os.environ["STORAGE_EMULATOR_HOST"]
KIB, MIB = 1 << 10, 1 << 20


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


def ask(method, target, document=None):
    """The emulator's answer as JSON, without any of the judged clients."""
    body = None if document is None else json.dumps(document).encode()
    request = urllib.request.Request(ENDPOINT + target, data=body, method=method,
                                     headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        text = reply.read()
    return json.loads(text) if text else None


def make_bucket(name, **more):
    ask("POST", "/storage/v1/b?project=judges", {"name": name, **more})
    return name


def restrict(bucket, **how):
    ask("PATCH", f"/_emulator/buckets/{bucket}", how)


def names_in(bucket):
    page = ask("GET", f"/storage/v1/b/{bucket}/o?fields=items(name)")
    return [item["name"] for item in page.get("items", [])]


def open_uploads():
    """Uploads begun and not ended, over JSON and XML."""
    seen = ask("GET", "/_emulator/counters")
    return seen["multipartUploadsOpen"] + seen["resumableUploadsOpen"]


def calls(verb):
    """How often the emulator has carried out that verb."""
    return sum(line["count"] for line in ask("GET", "/_emulator/counters")["requests"]
               if line["verb"] == verb)
