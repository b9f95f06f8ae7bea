"""google-cloud-storage's signed URLs, V4 and V2, and its signed forms."""

import datetime
import unittest
from unittest import mock

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.cloud import storage
from google.oauth2 import service_account

from court import ENDPOINT, ask, make_bucket

EMAIL = "signer@judges.iam.gserviceaccount.com"
MINUTE = datetime.timedelta(minutes=1)


def credentials(email):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                            serialization.NoEncryption()).decode()
    info = {"client_email": email, "private_key": pem, "token_uri": "http://127.0.0.1/token"}
    return info, service_account.Credentials.from_service_account_info(info)


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        info, known = credentials(EMAIL)
        ask("POST", "/_emulator/service-accounts", info)
        _, cls.forger = credentials(EMAIL)
        _, cls.stranger = credentials("stranger@judges.iam.gserviceaccount.com")
        cls.client = storage.Client(project="judges", credentials=known)
        cls.bucket = cls.client.bucket(make_bucket("signed-" + cls.__name__.lower()))

    def url(self, name, version="v4", method="GET", **more):
        more.setdefault("expiration", MINUTE)
        return self.bucket.blob(name).generate_signed_url(
            version=version, method=method, api_access_endpoint=ENDPOINT, **more)


class Urls(Judge):
    def test_write_and_read(self):
        for version in ("v4", "v2"):
            with self.subTest(version=version):
                name = f"{version}/\u00e4 #+%"
                there = self.url(name, version, "PUT", content_type="text/x-judge",
                                 headers={"x-goog-meta-who": "judge"})
                done = requests.put(there, b"bytes", timeout=30,
                                    headers={"Content-Type": "text/x-judge",
                                             "x-goog-meta-who": "judge"})
                self.assertEqual(200, done.status_code, done.text)
                back = requests.get(self.url(name, version), timeout=30)
                self.assertEqual(b"bytes", back.content)
                self.assertEqual("judge", back.headers["x-goog-meta-who"])
                # V2 does not say how parameters are signed, and clients differ.
                more = {"a": "b c", "z": ""} if version == "v4" else None
                odd = requests.get(self.url(name, version, response_type="text/plain",
                                            query_parameters=more), timeout=30)
                self.assertEqual(200, odd.status_code, odd.text)
                self.assertEqual(204, requests.delete(self.url(name, version, "DELETE"),
                                                      timeout=30).status_code)

    def test_what_is_not_signed_so(self):
        for version in ("v4", "v2"):
            with self.subTest(version=version):
                there = self.url("kept", version, "PUT", headers={"x-goog-meta-who": "judge"})
                other = requests.put(there, b"x", timeout=30, headers={"x-goog-meta-who": "other"})
                self.assertEqual(403, other.status_code)
                self.assertIn("<Code>SignatureDoesNotMatch</Code>", other.text)
                self.assertEqual(403, requests.get(there, timeout=30).status_code)
                moved = there.replace("/kept?", "/moved?")
                self.assertEqual(403, requests.put(moved, b"x", timeout=30, headers={
                    "x-goog-meta-who": "judge"}).status_code)
                forged = self.url("kept", version, credentials=self.forger)
                self.assertEqual(403, requests.get(forged, timeout=30).status_code)

    def test_expired(self):
        long_ago = datetime.datetime(2001, 1, 1)
        with mock.patch("google.cloud.storage._signing._NOW",
                        lambda zone: long_ago.replace(tzinfo=zone)):
            v4 = self.url("a")
        v2 = self.url("a", "v2", expiration=long_ago)
        for url in (v4, v2, v4.replace(EMAIL.replace("@", "%40"), "stranger%40x.y")):
            refused = requests.get(url, timeout=30)
            self.assertEqual(400, refused.status_code)
            self.assertIn("<Code>ExpiredToken</Code>", refused.text)

    def test_a_stranger_is_judged_by_dates_alone(self):
        for version in ("v4", "v2"):
            url = self.url("none", version, credentials=self.stranger)
            self.assertEqual(404, requests.get(url, timeout=30).status_code)

    def test_resumable(self):
        begun = requests.post(self.url("resumed", method="RESUMABLE"), timeout=30,
                              headers={"x-goog-resumable": "start"})
        self.assertEqual(201, begun.status_code, begun.text)
        self.assertEqual(200, requests.put(begun.headers["Location"], b"bytes",
                                           timeout=30).status_code)
        self.assertEqual(b"bytes", requests.get(self.url("resumed"), timeout=30).content)


class Forms(Judge):
    def post(self, policy, data=b"bytes", **more):
        fields = {name: (None, value) for name, value in (policy["fields"] | more).items()}
        return requests.post(f"{ENDPOINT}/{self.bucket.name}/", timeout=30,
                             files=fields | {"file": ("file.txt", data, "text/plain")})

    def policy(self, name, **more):
        return self.client.generate_signed_post_policy_v4(self.bucket.name, name, MINUTE, **more)

    def test_upload(self):
        done = self.post(self.policy("a\u00e9$", fields={"x-goog-meta-who": "judge",
                                                          "content-type": "text/x-judge"}))
        self.assertEqual(204, done.status_code, done.text)
        back = requests.get(self.url("a\u00e9$"), timeout=30)
        self.assertEqual((b"bytes", "text/x-judge", "judge"),
                         (back.content, back.headers["Content-Type"],
                          back.headers["x-goog-meta-who"]))
        made = self.post(self.policy("b", fields={"success_action_status": "201"}))
        self.assertEqual(201, made.status_code, made.text)

    def test_conditions(self):
        ranged = self.policy("c", conditions=[["content-length-range", 2, 4]])
        self.assertEqual(204, self.post(ranged, b"abc").status_code)
        self.assertIn("EntityTooLarge", self.post(ranged, b"abcde").text)
        other = self.post(self.policy("d"), key="e")
        self.assertEqual(400, other.status_code)
        self.assertIn("<Code>InvalidPolicyDocument</Code>", other.text)
        self.assertIn("<Code>InvalidPolicyDocument</Code>",
                      self.post(self.policy("d"), **{"cache-control": "no-store"}).text)
        forged = self.policy("d", credentials=self.forger)
        self.assertIn("<Code>SignatureDoesNotMatch</Code>", self.post(forged).text)


if __name__ == "__main__":
    unittest.main()
