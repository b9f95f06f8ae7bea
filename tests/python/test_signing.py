"""Signed URLs and forms, used by plain requests that have no credentials."""

import http.client
import json
import os
import ssl
import urllib.parse
from datetime import timedelta

import pytest
from loops import run  # noqa: F401, a fixture

import dataflux


def sent(url, method="GET", body=None, headers=None):
    """(status, body)"""
    to = urllib.parse.urlsplit(url)
    if to.scheme == "https":
        trusted = ssl.create_default_context(cafile=os.environ.get("DATAFLUX_TEST_CA"))
        connection = http.client.HTTPSConnection(to.netloc, timeout=60, context=trusted)
    else:
        connection = http.client.HTTPConnection(to.netloc, timeout=60)
    try:
        connection.request(method, f"{to.path}?{to.query}" if to.query else to.path, body, headers or {})
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def sent_form(url, fields, file):
    body = b"".join(f'--B\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
                    for name, value in fields.items())
    body += b'--B\r\nContent-Disposition: form-data; name="file"; filename="f.txt"\r\n\r\n' + file + b"\r\n--B--\r\n"
    return sent(url, "POST", body, {"Content-Type": "multipart/form-data; boundary=B"})


@pytest.fixture
def key(emulator):
    """An HMAC key of a service account."""
    made = json.loads(emulator.ask("POST", "/storage/v1/projects/p/hmacKeys?serviceAccountEmail="
                                   "robot%40p.iam.gserviceaccount.com", b""))
    return {"access_key_id": made["metadata"]["accessId"], "secret_access_key": made["secret"]}


@pytest.fixture
def robot(tmp_path):
    """An emulator that asks for tokens, and what a client of it is made with: its own account's key."""
    file = tmp_path / "key.json"
    with dataflux.Emulator("bucket", arguments=["--require-token", "--service-account-file", str(file)]) as service:
        yield {"endpoint": service.endpoint, "emulator": True, "tokens_to_emulator": True, "credentials_file": file}


def test_an_hmac_key_signs(client, bucket, key):
    bucket.put("a/ä b", b"bytes")
    url = client.sign_url(bucket("a/ä b"), **key)
    assert sent(url) == (200, b"bytes")
    assert sent(url.replace("a/", "b/"))[0] == 403
    assert sent(client.sign_url(bucket("a/ä b"), **{**key, "secret_access_key": "x"}))[0] == 403
    assert "X-Goog-Expires=60&" in client.sign_url(bucket("a"), expires=timedelta(minutes=1), **key)
    assert b"<Key>a/" in sent(client.sign_url(bucket(), query={"prefix": "a/"}, **key))[1]


def test_what_is_signed_must_be_sent(client, bucket, key):
    url = client.sign_url(bucket("new"), method="PUT", headers={"content-type": "text/x"}, **key)
    assert sent(url, "PUT", b"1")[0] == 403
    assert sent(url, "PUT", b"1", {"content-type": "text/x"})[0] == 200
    assert bucket.get("new") == b"1"


def test_a_row_means_its_generation(client, bucket, key):
    bucket.put("a", b"1")
    row = client.list(bucket())[0]
    url = client.sign_url(row, **key)
    assert f"generation={row.generation}" in url and sent(url) == (200, b"1")
    bucket.put("a", b"2")
    assert sent(url)[0] == 404
    assert sent(client.sign_url(bucket("a"), **key)) == (200, b"2")


def test_the_key_of_the_account_signs_and_asks_nobody(robot):
    with dataflux.Client(**robot) as client:
        client.put("gs://bucket/a", b"1")
        url = client.sign_url("gs://bucket/a")
        assert sent(url) == (200, b"1") and sent(url.partition("?")[0])[0] == 401
        with pytest.raises(dataflux.PreconditionError, match="HMAC key"):
            dataflux.Client(endpoint=robot["endpoint"], emulator=True).sign_url("gs://bucket/a")


def test_a_form_uploads_what_it_may(client, bucket, key):
    url, fields = client.sign_form(bucket("in/${filename}"), fields={"content-type": "text/x"}, conditions=[
        ("content-length-range", 1, 4), ["starts-with", "$x-goog-meta-by", "a"], ("eq", "acl", "private")], **key)
    assert fields["key"] == "in/${filename}" and fields["content-type"] == "text/x"
    mine = {**fields, "x-goog-meta-by": "anna", "acl": "private"}
    assert sent_form(url, mine, b"1234")[0] == 204
    assert bucket.get("in/f.txt") == b"1234"
    assert b"EntityTooLarge" in sent_form(url, mine, b"12345")[1]
    assert b"InvalidPolicyDocument" in sent_form(url, {**mine, "x-goog-meta-by": "berta"}, b"1")[1]


def test_the_verbs_of_tasks(run, emulator, bucket, key):  # noqa: F811
    bucket.put("a", b"1")

    async def main():
        async with emulator.async_client() as client:
            url, fields = await client.sign_form(bucket("b"), **key)
            return await client.sign_url(bucket("a"), **key), url, fields

    url, form, fields = run(main)
    assert sent(url) == (200, b"1") and sent_form(form, fields, b"2")[0] == 204


@pytest.mark.parametrize("kind, text, call", [
    (ValueError, "^expires: ", lambda c, u: c.sign_url(u, expires=0)),
    (TypeError, "^expires: ", lambda c, u: c.sign_url(u, expires="1h")),
    (TypeError, "^expires: ", lambda c, u: c.sign_url(u, expires=None)),
    (dataflux.InvalidArgumentError, "7 days", lambda c, u: c.sign_url(u, expires=timedelta(days=8))),
    (dataflux.InvalidArgumentError, "method 'PATCH'", lambda c, u: c.sign_url(u, method="PATCH")),
    (TypeError, "^headers: ", lambda c, u: c.sign_url(u, headers="a: b")),
    (TypeError, "^headers: a name", lambda c, u: c.sign_url(u, headers={b"a": "b"})),
    (TypeError, r"^headers\['a'\]", lambda c, u: c.sign_url(u, headers={"a": 1})),
    (dataflux.InvalidArgumentError, "belongs to the connection", lambda c, u: c.sign_url(u, headers={"Host": "h"})),
    (ValueError, "^style: ", lambda c, u: c.sign_url(u, style="odd")),
    (TypeError, r"sign_url\(\) got an unexpected", lambda c, u: c.sign_url(u, colour="red")),
    (dataflux.InvalidArgumentError, "account 'nobody'", lambda c, u: c.sign_url(u, account="nobody")),
    (ValueError, "^url: .* names no object", lambda c, u: c.sign_form(u.rpartition("/")[0])),
    (ValueError, "^conditions: ", lambda c, u: c.sign_form(u, conditions=[("like", "a", "b")])),
    (ValueError, "^conditions: ", lambda c, u: c.sign_form(u, conditions=[("eq", "a")])),
    (TypeError, "^conditions: ", lambda c, u: c.sign_form(u, conditions=[3])),
    (TypeError, r"sign_form\(\) got an unexpected", lambda c, u: c.sign_form(u, method="GET")),
    (dataflux.InvalidArgumentError, "form's own", lambda c, u: c.sign_form(u, fields={"policy": "x"}))])
def test_a_bad_argument_is_named_before_any_request(client, bucket, emulator, kind, text, call):
    before = emulator.answered()
    with pytest.raises(kind, match=text):
        call(client, bucket("a"))
    assert emulator.answered() == before


def test_no_secret_is_shown(client, bucket):
    with pytest.raises(dataflux.InvalidArgumentError) as told:
        client.sign_url(bucket("a"), access_key_id="a/b", secret_access_key="SECRET", headers={"a": "SECRET"})
    assert "SECRET" not in str(told.value)


@pytest.mark.parametrize("which", ["s3"])
def test_the_keys_of_s3_sign(client, bucket, which):
    bucket.put("a b", b"1")
    assert sent(client.sign_url(bucket("a b"))) == (200, b"1")
    row = client.list(bucket())[0]
    assert sent(client.sign_url(row)) == (200, b"1")
    url = client.sign_url(bucket("new"), method="PUT", headers={"content-type": "text/x"})
    assert sent(url, "PUT", b"2")[0] == 403 and sent(url, "PUT", b"2", {"content-type": "text/x"})[0] == 200
    assert client.get(bucket("new")) == b"2"
    for given in ({"style": "virtual_hosted"}, {"host": "h"}, {"scheme": "http"}, {"account": "a@b"},
                  {"generation": 1}, {"access_key_id": "a", "secret_access_key": "b"}):
        with pytest.raises(dataflux.InvalidArgumentError, match="Google's URLs alone"):
            client.sign_url(bucket("a"), **given)
    with pytest.raises(dataflux.Error, match="S3 has no such call"):
        client.sign_form(bucket("a"))
