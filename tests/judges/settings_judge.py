"""google-cloud-storage on what stands beside objects' bytes: settings of buckets, access, keys,
notifications, retention and contexts."""

import datetime
import unittest

import requests
from google.api_core import exceptions
from google.cloud.storage import constants
from google.cloud.storage.bucket import LifecycleRuleDelete

from court import ENDPOINT, ask, make_bucket
from google_cloud_storage_judge import client

USER = "judge@example.com"


class Judge(unittest.TestCase):
    def setUp(self):
        self.client = client()
        self.bucket = self.client.bucket(make_bucket("settings-" + self.id().split(".")[-1]
                                                     .replace("_", "-")))

    def again(self, bucket=None):
        return self.client.get_bucket((bucket or self.bucket).name)

    def put(self, name, bucket=None, **more):
        blob = (bucket or self.bucket).blob(name)
        blob.upload_from_string(b"x", **more)
        return blob


class Settings(Judge):
    def test_sections(self):
        made = self.bucket
        made.add_lifecycle_delete_rule(age=30, matches_prefix=["tmp/"])
        made.cors = [{"origin": ["*"], "method": ["GET"], "maxAgeSeconds": 60}]
        made.configure_website("index.html", "404.html")
        made.enable_logging("logs", "prefix")
        made.default_kms_key_name = "projects/p/locations/l/keyRings/r/cryptoKeys/k"
        made.autoclass_enabled = True
        made.rpo = "ASYNC_TURBO"
        made.requester_pays = False
        made.patch()
        seen = self.again()
        self.assertEqual([LifecycleRuleDelete(age=30, matches_prefix=["tmp/"])],
                         list(seen.lifecycle_rules))
        self.assertEqual(made.cors, seen.cors)
        self.assertEqual({"mainPageSuffix": "index.html", "notFoundPage": "404.html"},
                         seen._properties["website"])
        self.assertEqual({"logBucket": "logs", "logObjectPrefix": "prefix"}, seen.get_logging())
        self.assertEqual(made.default_kms_key_name, seen.default_kms_key_name)
        self.assertTrue(seen.autoclass_enabled)
        self.assertIsInstance(seen.autoclass_toggle_time, datetime.datetime)
        self.assertEqual("NEARLINE", seen.autoclass_terminal_storage_class)
        self.assertEqual("ASYNC_TURBO", seen.rpo)
        self.assertEqual(2, seen.metageneration)
        self.assertEqual(made.default_kms_key_name, self.put("a").kms_key_name)
        seen.clear_lifecycle_rules()
        seen.cors = []
        seen.disable_website()
        seen.disable_logging()
        seen.default_kms_key_name = None
        seen.autoclass_enabled = False
        seen.patch(if_metageneration_match=2)
        last = self.again()
        self.assertEqual([], list(last.lifecycle_rules))
        self.assertEqual([], last.cors)
        self.assertIsNone(last.get_logging())
        self.assertIsNone(last.default_kms_key_name)
        self.assertFalse(last.autoclass_enabled)
        with self.assertRaises(exceptions.PreconditionFailed):
            last.patch(if_metageneration_match=2)

    def test_update_replaces(self):
        self.bucket.add_lifecycle_delete_rule(age=30)
        self.bucket.labels = {"a": "b"}
        self.bucket.patch()
        seen = self.again()
        del seen._properties["lifecycle"]
        seen.update()
        last = self.again()
        self.assertEqual(([], {"a": "b"}), (list(last.lifecycle_rules), last.labels))

    def test_storage_class_of_the_bucket(self):
        bucket = self.client.bucket("settings-nearline")
        bucket.storage_class = "NEARLINE"
        bucket.create()
        self.assertEqual("NEARLINE", self.put("a", bucket).storage_class)

    def test_retention_policy_is_locked(self):
        self.bucket.retention_period = 10
        self.bucket.patch()
        seen = self.again()
        self.assertFalse(seen.retention_policy_locked)
        seen.lock_retention_policy()
        self.assertTrue(self.again().retention_policy_locked)
        seen.retention_period = None
        with self.assertRaises(exceptions.Forbidden):
            seen.patch()

    def test_notifications(self):
        bucket = self.bucket
        self.assertEqual([], list(bucket.list_notifications()))
        made = bucket.notification("topic", event_types=["OBJECT_FINALIZE"],
                                   custom_attributes={"a": "1"}, blob_name_prefix="x/",
                                   payload_format="JSON_API_V1")
        made.create()
        self.assertTrue(made.exists())
        [seen] = bucket.list_notifications()
        self.assertEqual(("topic", ["OBJECT_FINALIZE"], {"a": "1"}, "x/", "JSON_API_V1"),
                         (seen.topic_name, seen.event_types, seen.custom_attributes,
                          seen.blob_name_prefix, seen.payload_format))
        self.assertEqual(made.notification_id,
                         bucket.get_notification(made.notification_id).notification_id)
        made.delete()
        self.assertFalse(made.exists())


class Access(Judge):
    def test_lists(self):
        acl = self.bucket.acl
        acl.reload()
        before = list(acl)
        acl.user(USER).grant_read()
        acl.save()
        self.assertIn({"entity": "user-" + USER, "role": "READER"}, list(self.again().acl))
        acl.reload()
        acl.user(USER).revoke_read()
        acl.save()
        self.assertCountEqual(before, list(self.again().acl))
        self.bucket.default_object_acl.all().grant_read()
        self.bucket.default_object_acl.save()
        blob = self.put("a")
        self.assertIn({"entity": "allUsers", "role": "READER"}, list(blob.acl))
        blob.make_private()
        self.assertNotIn("allUsers", [entry["entity"] for entry in blob.acl])
        blob.make_public()
        blob.acl.reload()
        self.assertTrue(blob.acl.has_entity("allUsers"))
        blob.reload(projection="full")
        self.assertTrue(blob.owner["entity"].startswith("user-"))
        private = self.put("b", predefined_acl="private")
        private.acl.reload()
        self.assertEqual(["OWNER"], [entry["role"] for entry in private.acl])
        self.bucket.acl.save_predefined("publicRead")
        self.assertIn({"entity": "allUsers", "role": "READER"}, list(self.again().acl))

    def test_uniform_access(self):
        self.put("a").acl.reload()
        before = list(self.bucket.acl)
        self.bucket.iam_configuration.uniform_bucket_level_access_enabled = True
        self.bucket.patch()
        self.assertIsInstance(self.bucket.iam_configuration.uniform_bucket_level_access_locked_time,
                              datetime.datetime)
        for acl in (self.bucket.acl, self.bucket.blob("a").acl):
            with self.assertRaises(exceptions.BadRequest):
                acl.reload()
            acl.loaded = True
            acl.group("group@example.com").grant_read()
            with self.assertRaises(exceptions.BadRequest):
                acl.save()
        self.put("b")
        self.bucket.iam_configuration.uniform_bucket_level_access_enabled = False
        self.bucket.patch()
        self.bucket.acl.reload()
        self.assertEqual(before, list(self.bucket.acl))

    def test_public_access_prevention(self):
        configuration = self.bucket.iam_configuration
        configuration.public_access_prevention = constants.PUBLIC_ACCESS_PREVENTION_ENFORCED
        self.bucket.patch()
        self.assertEqual("enforced", self.again().iam_configuration.public_access_prevention)
        blob = self.put("a")
        for make_public in (self.bucket.make_public, blob.make_public):
            with self.assertRaises(exceptions.PreconditionFailed):
                make_public()
        configuration.public_access_prevention = "unexpected value"
        with self.assertRaises(exceptions.BadRequest):
            self.bucket.patch()

    def test_policies(self):
        policy = self.bucket.get_iam_policy(requested_policy_version=3)
        self.assertEqual(1, policy.version)
        binding = {"role": "roles/storage.objectViewer", "members": {"user:" + USER},
                   "condition": {"title": "always", "expression": "true"}}
        policy.bindings.append(binding)
        with self.assertRaises(exceptions.PreconditionFailed):
            self.bucket.set_iam_policy(policy)
        self.bucket.iam_configuration.uniform_bucket_level_access_enabled = True
        self.bucket.patch()
        policy = self.bucket.get_iam_policy(requested_policy_version=3)
        policy.bindings.append(binding)
        with self.assertRaises(exceptions.BadRequest):
            self.bucket.set_iam_policy(policy)
        policy.version = 3
        self.assertEqual(3, self.bucket.set_iam_policy(policy).version)
        with self.assertRaises(exceptions.PreconditionFailed):  # its etag is an old one
            self.bucket.set_iam_policy(policy)
        seen = self.bucket.get_iam_policy(requested_policy_version=3)
        self.assertIn(binding, [dict(each, members=set(each["members"])) for each in seen.bindings])


class Keys(Judge):
    def test_hmac_keys(self):
        metadata, secret = self.client.create_hmac_key(USER)
        self.assertEqual(40, len(secret))
        self.assertIn(metadata, list(self.client.list_hmac_keys()))
        seen = self.client.get_hmac_key_metadata(metadata.access_id)
        self.assertEqual(metadata._properties, seen._properties)
        with self.assertRaises(exceptions.BadRequest):
            metadata.delete()
        metadata.state = "INACTIVE"
        metadata.update()
        metadata.delete()
        self.assertNotIn(metadata, list(self.client.list_hmac_keys()))
        self.assertIn(metadata.access_id,
                      [key.access_id for key in self.client.list_hmac_keys(show_deleted_keys=True)])

    def test_service_account(self):
        self.assertIn("@", self.client.get_service_account_email())


class Retention(Judge):
    def test_of_an_object(self):
        bucket = self.client.create_bucket("settings-object-retention",
                                           enable_object_retention=True)
        self.assertEqual("Enabled", bucket.object_retention_mode)
        blob = bucket.blob("a")
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
        blob.retention.mode = "Unlocked"
        blob.retention.retain_until_time = until.replace(tzinfo=None)
        blob.upload_from_string(b"x")
        blob.reload()
        self.assertEqual("Unlocked", blob.retention.mode)
        with self.assertRaises(exceptions.Forbidden):
            blob.delete()
        with self.assertRaises(exceptions.Forbidden):
            self.put("a", bucket)
        blob.retention.mode = None
        blob.retention.retain_until_time = None
        with self.assertRaises(exceptions.Forbidden):
            blob.patch()
        blob.patch(override_unlocked_retention=True)
        self.assertIsNone(blob.retention.mode)
        blob.delete()

    def test_contexts_of_an_object(self):
        self.put("a")
        at = f"/storage/v1/b/{self.bucket.name}/o/a"
        ask("PATCH", at, {"contexts": {"custom": {"k": {"value": "v"}}}})
        seen = self.bucket.get_blob("a")._properties["contexts"]["custom"]["k"]
        self.assertEqual("v", seen["value"])
        self.assertIn("createTime", seen)

    def test_what_is_not_modelled_ends_at_once(self):
        reply = requests.get(f"{ENDPOINT}/storage/v1/b/{self.bucket.name}/folders", timeout=30)
        self.assertEqual((400, "notImplemented"),
                         (reply.status_code, reply.json()["error"]["errors"][0]["reason"]))


if __name__ == "__main__":
    unittest.main()
