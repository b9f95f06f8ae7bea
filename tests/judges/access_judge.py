"""Who pays and who may, as google-cloud-storage learns of it."""

import tempfile
import unittest
from pathlib import Path

from google.api_core import exceptions
from google.cloud.storage import transfer_manager

from court import MIB, make_bucket, noise, restrict
from google_cloud_storage_judge import Judge


class Access(Judge):
    def test_requester_pays(self):
        name = make_bucket("python-pays", billing={"requesterPays": True})
        with self.assertRaises(exceptions.BadRequest):
            self.client.bucket(name).blob("a").upload_from_string(b"x")
        paid = self.client.bucket(name, user_project="judges")
        self.put("a", b"data", paid)
        self.assertEqual(b"data", paid.blob("a").download_as_bytes())
        self.assertEqual(["a"], [blob.name for blob in paid.list_blobs()])
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "file"
            source.write_bytes(noise(6 * MIB))
            transfer_manager.upload_chunks_concurrently(
                str(source), paid.blob("parts"), chunk_size=5 * MIB,
                worker_type=transfer_manager.THREAD)
        self.assertEqual(6 * MIB, paid.get_blob("parts").size)

    def test_without_permission(self):
        kept = self.put("kept", b"1")
        self.addCleanup(restrict, self.bucket.name, readOnly=False, noDelete=False)
        restrict(self.bucket.name, noDelete=True)
        self.put("new")
        for refused in (kept.delete, lambda: self.put("kept", b"2")):
            with self.assertRaises(exceptions.Forbidden):
                refused()
        restrict(self.bucket.name, readOnly=True)
        self.assertEqual(b"1", kept.download_as_bytes())
        for refused in (kept.patch, lambda: self.put("other")):
            with self.assertRaises(exceptions.Forbidden):
                refused()
        self.assertEqual([], self.bucket.test_iam_permissions(["storage.objects.create"]))

    def test_projection(self):
        self.put("shown")
        self.assertIsNone(self.bucket.get_blob("shown").owner)
        [shown] = self.bucket.list_blobs(prefix="shown", projection="full")
        self.assertTrue(shown.owner["entity"].startswith("user-"))
        shown.reload(projection="full")
        self.assertIsNotNone(shown.owner)


if __name__ == "__main__":
    unittest.main()
