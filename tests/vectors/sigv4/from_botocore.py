#!/usr/bin/env python3
"""Writes botocore.json: requests that botocore has signed (needs botocore from PyPI).

    tests/vectors/sigv4/from_botocore.py > tests/vectors/sigv4/botocore.json
"""

import datetime
import json
import random
from unittest import mock
from urllib.parse import quote, urlsplit

import botocore
import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

NAMES = ["a", "a b", "a+b", "a//b", "a/./b/../c", "ä/日本", "x=y&z", "%41", "~._-", "a\x01b", "long/" * 20, "*'()!", "@:,;$"]
FIELDS = [("Range", "bytes=5-99"), ("If-Match", '"abc"'), ("Content-Type", "text/plain;  charset=utf-8"),
          ("x-amz-meta-b", " two  blanks "), ("x-amz-meta-a", "v"), ("X-Amz-Storage-Class", "GLACIER"),
          ("If-None-Match", "*"), ("Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="), ("x-amz-copy-source", "/b/k%20k")]
QUERY = [("prefix", "a/b c+d"), ("list-type", "2"), ("uploads", ""), ("partNumber", "7"), ("uploadId", "A~b=="),
         ("start-after", "ü"), ("start", "x"), ("delimiter", "/"), ("Prefix", "upper")]


def one(chance, number):
    keys = Credentials("AKID%d" % number, "secret/%d+x=" % number,
                       chance.choice([None, "session/token+%d==" % number]))
    when = datetime.datetime(2013, 5, 24, tzinfo=datetime.timezone.utc) + datetime.timedelta(
        seconds=chance.randrange(10**9))
    region = chance.choice(["us-east-1", "eu-central-1", "auto"])
    path = "/" + quote(chance.choice(NAMES), safe="/~")
    query = "&".join(quote(k, safe="~") + "=" + quote(v, safe="~")
                     for k, v in chance.sample(QUERY, chance.randrange(5)))
    host = chance.choice(["b.s3.amazonaws.com", "s3.example.com:9000", "127.0.0.1:8014"])
    target = path + ("?" + query if query else "")
    fields = chance.sample(FIELDS, chance.randrange(6))
    life = chance.choice([0, 0, 300])
    method = "GET" if life else chance.choice(["GET", "PUT", "HEAD", "DELETE", "POST"])
    body = b"body %d" % number if method in ("PUT", "POST") else b""
    scheme = chance.choice(["http", "https"])
    request = AWSRequest(method=method, url=f"{scheme}://{host}{target}", headers=dict(fields), data=body)
    case = {"id": keys.access_key, "secret": keys.secret_key, "token": keys.token or "", "time": int(when.timestamp()),
            "region": region, "method": method, "host": host, "target": target, "headers": [list(f) for f in fields],
            "tls": scheme == "https"}
    with mock.patch("botocore.auth.get_current_datetime", return_value=when.replace(tzinfo=None)):
        if life:
            signer = botocore.auth.S3SigV4QueryAuth(keys, "s3", region, expires=life)
        else:
            signer = botocore.auth.S3SigV4Auth(keys, "s3", region)
        signer.add_auth(request)
    if life:
        parts = urlsplit(request.url)
        case.update(life=life, query=sorted(parts.query.split("&")))
    else:
        case.update(payload=request.headers["X-Amz-Content-SHA256"], authorization=request.headers["Authorization"])
    return case


def main():
    chance = random.Random(4)
    print(json.dumps({"botocore": botocore.__version__, "cases": [one(chance, n) for n in range(80)]}, indent=0,
                     ensure_ascii=True))


if __name__ == "__main__":
    main()
