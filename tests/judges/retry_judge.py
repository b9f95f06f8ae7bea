"""The scenarios of Google's conformance tests for retries (docs/protocol.md 3.5), played by
google-cloud-storage over the emulator's /retry_test."""

import io
import unittest
from unittest import mock

import requests
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

from court import ENDPOINT, MIB, ask, noise

REPEATED = (["return-503", "return-503"],
            ["return-reset-connection", "return-reset-connection"],
            ["return-reset-connection", "return-503"])
ONCE = (["return-503"], ["return-reset-connection"])
FINAL = (["return-400"], ["return-401"])
MIXED = (["return-503", "return-400"], ["return-reset-connection", "return-401"])
LARGE = noise(9 * MIB)


class Stage:
    """What a call finds there: a bucket, an object, a notification and a key, made anew."""

    def __init__(self, number):
        self.client = storage.Client(project="judges", credentials=AnonymousCredentials())
        self.bucket = self.client.create_bucket(f"retry-{number}")
        self.blob = self.bucket.blob("object")
        self.blob.upload_from_string(b"0123456789" * 100_000)
        self.bucket.reload()
        self.notification = self.bucket.notification("topic", payload_format="NONE")
        self.notification.create()
        self.key, _ = self.client.create_hmac_key("a@b.c")

    def inactive_key(self):
        self.key.state = "INACTIVE"
        self.key.update()
        return self.key


def patch_blob(stage, **more):
    stage.blob.metadata = {"a": "b"}
    stage.blob.patch(**more)


def patch_bucket(stage, **more):
    stage.bucket.storage_class = "COLDLINE"
    stage.bucket.patch(**more)


def set_policy(stage, with_etag):
    policy = stage.bucket.get_iam_policy()
    if not with_etag:
        policy.etag = None
    stage.bucket.set_iam_policy(policy)


def update_key(stage):
    stage.key.state = "INACTIVE"
    stage.key.update()


def notify(stage):
    stage.bucket.notification("topic", payload_format="NONE").create()


def streamed(stage, **more):
    stage.bucket.blob("streamed", chunk_size=MIB).upload_from_file(
        io.BytesIO(LARGE), size=len(LARGE), if_generation_match=0, **more)


def downloaded(stage):
    assert stage.blob.download_as_bytes() == b"0123456789" * 100_000


# By method: what is done, and what makes it safe to repeat.
ALWAYS = {
    "bucket_acl.list": lambda s: s.bucket.acl.reload(),
    "buckets.delete": lambda s: s.client.create_bucket(s.bucket.name + "-x").delete(),
    "buckets.get": lambda s: s.client.get_bucket(s.bucket.name),
    "buckets.getIamPolicy": lambda s: s.bucket.get_iam_policy(),
    "buckets.insert": lambda s: s.client.create_bucket(s.bucket.name + "-y"),
    "buckets.list": lambda s: list(s.client.list_buckets()),
    "buckets.testIamPermissions":
        lambda s: s.bucket.test_iam_permissions(["storage.objects.get"]),
    "default_object_acl.list": lambda s: s.bucket.default_object_acl.reload(),
    "hmacKey.get": lambda s: s.client.get_hmac_key_metadata(s.key.access_id),
    "hmacKey.list": lambda s: list(s.client.list_hmac_keys()),
    "notifications.get": lambda s: s.bucket.get_notification(s.notification.notification_id),
    "notifications.list": lambda s: list(s.bucket.list_notifications()),
    "notifications.delete": lambda s: s.notification.delete(),
    "object_acl.list": lambda s: s.blob.acl.reload(),
    "objects.get": downloaded,
    "objects.list": lambda s: list(s.bucket.list_blobs()),
    "serviceaccount.get": lambda s: s.client.get_service_account_email(),
}
ON_CONDITION = {
    "buckets.patch": (
        patch_bucket,
        lambda s: patch_bucket(s, if_metageneration_match=s.bucket.metageneration)),
    "buckets.update": (
        lambda s: s.bucket.update(),
        lambda s: s.bucket.update(if_metageneration_match=s.bucket.metageneration)),
    "buckets.setIamPolicy": (lambda s: set_policy(s, False), lambda s: set_policy(s, True)),
    "objects.compose": (
        lambda s: s.bucket.blob("all").compose([s.blob]),
        lambda s: s.bucket.blob("all").compose([s.blob], if_generation_match=0)),
    "objects.copy": (
        lambda s: s.bucket.copy_blob(s.blob, s.bucket, "copy"),
        lambda s: s.bucket.copy_blob(s.blob, s.bucket, "copy", if_generation_match=0)),
    "objects.rewrite": (
        lambda s: s.bucket.blob("copy").rewrite(s.blob),
        lambda s: s.bucket.blob("copy").rewrite(s.blob, if_generation_match=0)),
    "objects.update": (
        lambda s: s.blob.update(),
        lambda s: s.blob.update(if_metageneration_match=s.blob.metageneration)),
}
NEVER = {
    "hmacKey.create": lambda s: s.client.create_hmac_key("a@b.c"),
    "hmacKey.update": update_key,  # this client does not count its etag for a condition
    "notifications.insert": notify,
}


class Judge(unittest.TestCase):
    number = 0

    def setUp(self):
        sleep = mock.patch("time.sleep", lambda seconds: None)
        sleep.start()
        self.addCleanup(sleep.stop)

    def play(self, method, instructions, call, succeeds):
        with self.subTest(method=method, instructions=instructions):
            Judge.number += 1
            stage = Stage(Judge.number)
            name = "storage." + method
            test = ask("POST", "/retry_test", {"instructions": {name: instructions}})["id"]
            headers = stage.client._http.headers
            headers["x-retry-test-id"] = test
            try:
                call(stage)
                succeeded = True
            except Exception as failed:  # whatever it is, the call has failed
                succeeded, why = False, failed
            self.assertEqual(succeeds, succeeded, "" if succeeded else repr(why))
            state = ask("GET", f"/retry_test/{test}")
            self.assertTrue(state["completed"], state)
            requests.delete(f"{ENDPOINT}/retry_test/{test}", timeout=30)

    def test_1_always_repeated(self):
        for method, call in ALWAYS.items():
            for instructions in REPEATED:
                self.play(method, instructions, call, True)
        for instructions in REPEATED:
            self.play("hmacKey.delete", instructions, lambda s: s.inactive_key().delete(), True)

    def test_2_repeated_on_a_condition(self):
        for method, (_, call) in ON_CONDITION.items():
            for instructions in REPEATED:
                self.play(method, instructions, call, True)

    def test_3_not_repeated_without_a_condition(self):
        for method, (call, _) in ON_CONDITION.items():
            for instructions in ONCE:
                self.play(method, instructions, call, False)

    def test_4_never_repeated(self):
        for method, call in NEVER.items():
            for instructions in ONCE:
                self.play(method, instructions, call, False)

    def test_5_final_errors(self):
        for method, call in (ALWAYS | NEVER | {name: with_one for name, (_, with_one)
                                               in ON_CONDITION.items()}).items():
            for instructions in FINAL:
                self.play(method, instructions, call, False)

    def test_6_one_repetition_and_an_end(self):
        for method, call in (ALWAYS | {name: with_one for name, (_, with_one)
                                       in ON_CONDITION.items()}).items():
            for instructions in MIXED:
                self.play(method, instructions, call, False)

    def test_7_resumable_uploads(self):
        for instructions in (["return-reset-connection", "return-503"], ["return-408"],
                             ["return-503-after-256K"],
                             ["return-503-after-8192K", "return-408"]):
            self.play("objects.insert", instructions, streamed, True)

    def test_8_downloads(self):
        for instructions in (["return-broken-stream", "return-broken-stream"],
                             ["return-broken-stream-after-256K"]):
            self.play("objects.get", instructions, downloaded, True)


if __name__ == "__main__":
    unittest.main()
