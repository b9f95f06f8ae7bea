"""google-cloud-storage's transfer_manager: many objects at once, and one in chunks, which go up by
the XML API's multipart upload."""

import concurrent.futures
import tempfile
import unittest
from pathlib import Path

from google.api_core import exceptions
from google.cloud.storage import transfer_manager
from google.cloud.storage.exceptions import InvalidResponse

from court import MIB, noise, open_uploads
from google_cloud_storage_judge import Judge, client, crc32c_of


class TransferManager(Judge):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_many_up_and_down(self):
        up, down = self.folder / "up", self.folder / "down"
        wanted = {f"dir/{i:03}.bin": noise(i * 977, i) for i in range(60)}
        for name, data in wanted.items():
            (up / name).parent.mkdir(parents=True, exist_ok=True)
            (up / name).write_bytes(data)
        for workers in (transfer_manager.THREAD, transfer_manager.PROCESS):
            with self.subTest(workers=workers):
                outcome = transfer_manager.upload_many_from_filenames(
                    self.bucket, list(wanted), source_directory=str(up), worker_type=workers,
                    max_workers=4)
                self.assertEqual([None] * len(wanted), outcome)
                outcome = transfer_manager.download_many_to_path(
                    self.bucket, list(wanted), destination_directory=str(down / workers),
                    worker_type=workers, max_workers=4)
                self.assertEqual([None] * len(wanted), outcome)
                for name, data in wanted.items():
                    self.assertEqual(data, (down / workers / name).read_bytes())
        refused = transfer_manager.upload_many(
            [(str(up / name), self.bucket.blob(name)) for name in wanted], skip_if_exists=True,
            worker_type=transfer_manager.THREAD)
        for outcome in refused:
            self.assertIsInstance(outcome, exceptions.PreconditionFailed)

    def test_chunks_up_and_down(self):
        source, target = self.folder / "source", self.folder / "target"
        for size in (1, 5 * MIB, 16 * MIB + 1):
            data = noise(size, size)
            source.write_bytes(data)
            for checksum in ("md5", "crc32c", "auto", None):
                for workers in (transfer_manager.THREAD, transfer_manager.PROCESS):
                    with self.subTest(size=size, checksum=checksum, workers=workers):
                        blob = self.bucket.blob("chunks/\u00e4 +")
                        blob.metadata = {"who": "judge"}
                        blob.cache_control = "no-store"
                        transfer_manager.upload_chunks_concurrently(
                            str(source), blob, content_type="text/x-judge", chunk_size=5 * MIB,
                            worker_type=workers, max_workers=4, checksum=checksum)
                        seen = self.bucket.get_blob(blob.name)
                        self.assertEqual((size, crc32c_of(data), None, "text/x-judge"),
                                         (seen.size, seen.crc32c, seen.md5_hash,
                                          seen.content_type))
                        self.assertEqual({"who": "judge"}, seen.metadata)
                        self.assertEqual("no-store", seen.cache_control)
                        transfer_manager.download_chunks_concurrently(
                            seen, str(target), chunk_size=3 * MIB, worker_type=workers,
                            max_workers=4)
                        self.assertEqual(data, target.read_bytes())
        self.assertEqual(0, open_uploads())

    def test_an_empty_file_in_chunks_is_refused(self):
        source = self.folder / "empty"
        source.write_bytes(b"")
        with self.assertRaises(InvalidResponse):  # it completes an upload of no parts
            transfer_manager.upload_chunks_concurrently(
                str(source), self.bucket.blob("empty"), worker_type=transfer_manager.THREAD)
        self.assertEqual(0, open_uploads())

    def test_many_clients_at_once(self):
        data = noise(MIB)
        self.put("shared", data)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            read = pool.map(lambda _: client().bucket(self.bucket.name).blob("shared")
                            .download_as_bytes(), range(64))
            self.assertTrue(all(got == data for got in read))


if __name__ == "__main__":
    unittest.main()
