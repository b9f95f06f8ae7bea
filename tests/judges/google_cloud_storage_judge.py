"""google-cloud-storage, Google's own client for Python: JSON API, batches, resumable uploads."""

import base64
import datetime
import gzip
import hashlib
import io
import unittest

import google_crc32c
import requests
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

from court import KIB, MIB, calls, make_bucket, noise, open_uploads


def client():
    return storage.Client(project="judges", credentials=AnonymousCredentials())


def crc32c_of(data):
    return base64.b64encode(google_crc32c.Checksum(data).digest()).decode()


def md5_of(data):
    return base64.b64encode(hashlib.md5(data).digest()).decode()


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = client()
        cls.bucket = cls.client.bucket(make_bucket("python-" + cls.__name__.lower()))

    def put(self, name, data=b"x", bucket=None):
        blob = (bucket or self.bucket).blob(name)
        blob.upload_from_string(data)
        return blob

    def names(self, **which):
        return [blob.name for blob in self.bucket.list_blobs(**which)]


class Buckets(Judge):
    def test_create_read_patch_list_delete(self):
        made = self.client.create_bucket("python-made", location="EU")
        self.assertEqual(("python-made", "EU"), (made.name, made.location))
        with self.assertRaises(exceptions.Conflict):
            self.client.create_bucket("python-made")
        made.labels = {"team": "judges"}
        made.versioning_enabled = True
        made.patch()
        seen = self.client.get_bucket("python-made")
        self.assertEqual({"team": "judges"}, seen.labels)
        self.assertTrue(seen.versioning_enabled)
        self.assertEqual(2, seen.metageneration)
        self.assertIsInstance(seen.time_created, datetime.datetime)
        self.assertIn("python-made", [b.name for b in self.client.list_buckets(page_size=1)])
        self.assertTrue(seen.exists())
        granted = seen.test_iam_permissions(["storage.objects.get", "storage.objects.create"])
        self.assertEqual({"storage.objects.get", "storage.objects.create"}, set(granted))
        self.put("a", bucket=seen)
        with self.assertRaises(exceptions.Conflict):
            seen.delete()
        seen.delete(force=True)
        self.assertFalse(seen.exists())
        with self.assertRaises(exceptions.NotFound):
            self.client.get_bucket("python-made")


class Objects(Judge):
    def test_simple_upload_and_download(self):
        for checksum in ("crc32c", "md5", "auto", None):
            for size in (0, 1, 100_000):
                with self.subTest(checksum=checksum, size=size):
                    data = noise(size, size)
                    blob = self.bucket.blob(f"simple/\u00e4 #?%2F+{size}")
                    blob.upload_from_string(data, "text/x-judge", checksum=checksum)
                    self.assertEqual(size, blob.size)
                    self.assertEqual(crc32c_of(data), blob.crc32c)
                    self.assertEqual(md5_of(data), blob.md5_hash)
                    again = self.bucket.get_blob(blob.name)
                    self.assertEqual("text/x-judge", again.content_type)
                    self.assertEqual("STANDARD", again.storage_class)
                    self.assertEqual(blob.generation, again.generation)
                    self.assertEqual(data, again.download_as_bytes(checksum=checksum))

    def test_ranges(self):
        data = noise(10_000)
        blob = self.put("ranges", data)
        self.assertEqual(data[10:21], blob.download_as_bytes(start=10, end=20))
        self.assertEqual(data[9_990:], blob.download_as_bytes(start=9_990))
        self.assertEqual(data[:1], blob.download_as_bytes(start=0, end=0))
        self.assertEqual(data[9_000:], blob.download_as_bytes(start=9_000, end=99_999))
        self.assertEqual(data, blob.download_as_bytes(raw_download=True))
        with self.assertRaises(exceptions.RequestRangeNotSatisfiable):
            blob.download_as_bytes(start=10_000)

    def test_download_in_chunks(self):
        data = noise(MIB + 17)
        self.put("chunked", data)
        for checksum in ("crc32c", "md5"):
            blob = self.bucket.blob("chunked", chunk_size=256 * KIB)
            into = io.BytesIO()
            blob.download_to_file(into, checksum=checksum)
            self.assertEqual(data, into.getvalue())
        with self.bucket.blob("chunked").open("rb", chunk_size=100_000) as stream:
            stream.seek(MIB - 5)
            self.assertEqual(data[MIB - 5:], stream.read())
            stream.seek(3)
            self.assertEqual(data[3:300_000], stream.read(299_997))

    def test_resumable_upload(self):
        for checksum in ("crc32c", "md5", "auto", None):
            for size in (0, 256 * KIB, MIB, MIB + 1):
                with self.subTest(checksum=checksum, size=size):
                    data = noise(size, size)
                    blob = self.bucket.blob("resumable", chunk_size=256 * KIB)
                    blob.metadata = {"who": "judge"}
                    blob.cache_control = "no-store"
                    blob.upload_from_file(io.BytesIO(data), size=size, checksum=checksum,
                                          content_type="text/x-judge")
                    self.assertEqual((size, crc32c_of(data)), (blob.size, blob.crc32c))
                    self.assertEqual({"who": "judge"}, blob.metadata)
                    self.assertEqual("no-store", blob.cache_control)
                    self.assertEqual(data, blob.download_as_bytes())
        self.assertEqual(0, open_uploads())

    def test_stream_of_unknown_length(self):
        for size in (0, 100, 256 * KIB, 512 * KIB, 600_000):
            with self.subTest(size=size):
                data = noise(size, size)
                with self.bucket.blob("stream").open("wb", chunk_size=256 * KIB) as stream:
                    for at in range(0, size, 70_000):
                        stream.write(data[at:at + 70_000])
                self.assertEqual(data, self.bucket.blob("stream").download_as_bytes())
        self.assertEqual(0, open_uploads())

    def test_resumable_session_of_ones_own(self):
        blob = self.bucket.blob("session")
        address = blob.create_resumable_upload_session("text/x-judge", size=10)
        done = requests.put(address, data=b"0123456789", timeout=30)
        self.assertEqual(200, done.status_code)
        self.assertEqual(b"0123456789", blob.download_as_bytes())
        self.assertEqual("text/x-judge", self.bucket.get_blob("session").content_type)

    def test_metadata_is_patched(self):
        blob = self.put("patched", b"data")
        blob.metadata = {"a": "1", "b": "2"}
        blob.content_type = "text/x-other"
        blob.content_language = "de"
        blob.custom_time = datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)
        blob.patch(if_metageneration_match=1)
        seen = self.bucket.get_blob("patched")
        self.assertEqual({"a": "1", "b": "2"}, seen.metadata)
        self.assertEqual(("text/x-other", "de", 2),
                         (seen.content_type, seen.content_language, seen.metageneration))
        self.assertEqual(2024, seen.custom_time.year)
        seen.metadata = {"a": None, "b": "3"}
        seen.patch()
        self.assertEqual({"b": "3"}, self.bucket.get_blob("patched").metadata)
        with self.assertRaises(exceptions.PreconditionFailed):
            seen.patch(if_metageneration_match=1)
        seen.content_disposition = "attachment"
        seen.update()
        seen.update_storage_class("NEARLINE")
        again = self.bucket.get_blob("patched")
        self.assertEqual(("NEARLINE", "attachment"),
                         (again.storage_class, again.content_disposition))
        self.assertEqual(b"data", again.download_as_bytes())

    def test_generation_preconditions(self):
        blob = self.bucket.blob("guarded")
        blob.upload_from_string(b"one", if_generation_match=0)
        first = blob.generation
        with self.assertRaises(exceptions.PreconditionFailed):
            self.bucket.blob("guarded").upload_from_string(b"two", if_generation_match=0)
        with self.assertRaises(exceptions.PreconditionFailed):
            self.bucket.blob("guarded", chunk_size=256 * KIB).upload_from_file(
                io.BytesIO(noise(MIB)), if_generation_match=0)
        self.assertEqual(b"one", blob.download_as_bytes(if_generation_match=first))
        with self.assertRaises(exceptions.PreconditionFailed):
            blob.download_as_bytes(if_generation_match=first + 1)
        with self.assertRaises(exceptions.PreconditionFailed):
            blob.delete(if_generation_match=first + 1)
        with self.assertRaises(exceptions.PreconditionFailed):
            blob.reload(if_metageneration_match=7)
        with self.assertRaises(exceptions.NotModified):
            blob.reload(if_generation_not_match=first)
        blob.upload_from_string(b"two", if_generation_match=first)
        self.assertGreater(blob.generation, first)
        self.assertFalse(self.bucket.blob("guarded", generation=first).exists())
        blob.delete(if_generation_match=blob.generation)
        self.assertFalse(self.bucket.blob("guarded").exists())
        with self.assertRaises(exceptions.NotFound):
            blob.delete()
        with self.assertRaises(exceptions.NotFound):
            self.bucket.blob("guarded").download_as_bytes()
        self.assertIsNone(self.bucket.get_blob("guarded"))

    def test_gzip_is_transcoded_unless_asked_raw(self):
        plain = b"much the same " * 1000
        blob = self.bucket.blob("packed")
        blob.content_encoding = "gzip"
        blob.upload_from_string(gzip.compress(plain), "text/plain")
        self.assertEqual(plain, blob.download_as_bytes())
        self.assertEqual(plain, gzip.decompress(blob.download_as_bytes(raw_download=True)))

    def test_a_wrong_checksum_is_refused(self):
        blob = self.bucket.blob("wrong")
        blob.crc32c = "AAAAAA=="
        with self.assertRaises(exceptions.BadRequest):
            blob.upload_from_string(b"data", checksum=None)
        self.assertIsNone(self.bucket.get_blob("wrong"))


class Edits(Judge):
    def test_compose(self):
        parts = [self.put(f"part {i}", noise(1000 + i, i)) for i in range(32)]
        whole = self.bucket.blob("whole")
        whole.content_type = "text/x-judge"
        whole.compose(parts, if_generation_match=0)
        data = b"".join(noise(1000 + i, i) for i in range(32))
        self.assertEqual(data, whole.download_as_bytes())
        whole.reload()
        self.assertEqual((32, "text/x-judge", None, crc32c_of(data)),
                         (whole.component_count, whole.content_type, whole.md5_hash,
                          whole.crc32c))
        with self.assertRaises(exceptions.PreconditionFailed):
            whole.compose(parts[:2], if_generation_match=0)
        with self.assertRaises(exceptions.BadRequest):
            whole.compose(parts + parts[:1])
        with self.assertRaises(exceptions.NotFound):
            whole.compose([parts[0], self.bucket.blob("none")])
        generations = [part.generation for part in parts[:2]]
        whole.compose(parts[:2], if_source_generation_match=generations)
        with self.assertRaises(exceptions.PreconditionFailed):
            whole.compose(parts[:2], if_source_generation_match=[generations[0], 1])
        whole.compose([whole, parts[2]])
        self.assertEqual(data[:1000 + 1001 + 1002], whole.download_as_bytes())

    def test_compose_deletes_its_sources(self):
        parts = [self.put(f"gone {i}", b"x" * i) for i in (1, 2)]
        whole = self.bucket.blob("stays")
        whole.compose(parts, delete_source_objects=True)
        self.assertEqual(b"xxx", whole.download_as_bytes())
        self.assertEqual([], self.names(prefix="gone"))

    def test_copy_and_rename(self):
        elsewhere = self.client.bucket(make_bucket("python-elsewhere"))
        source = self.put("source/\u00e4", b"data")
        source.metadata = {"k": "v"}
        source.patch()
        copy = self.bucket.copy_blob(source, elsewhere, "copy/\u00f6")
        self.assertEqual(b"data", copy.download_as_bytes())
        self.assertEqual({"k": "v"}, elsewhere.get_blob("copy/\u00f6").metadata)
        with self.assertRaises(exceptions.PreconditionFailed):
            self.bucket.copy_blob(source, elsewhere, "copy/\u00f6", if_generation_match=0)
        with self.assertRaises(exceptions.NotFound):
            self.bucket.copy_blob(self.bucket.blob("none"), elsewhere)
        renamed = self.bucket.rename_blob(source, "renamed")
        self.assertEqual(b"data", renamed.download_as_bytes())
        self.assertEqual(["renamed"], self.names(prefix="renamed"))
        self.assertFalse(self.bucket.blob("source/\u00e4").exists())

    def test_rewrite(self):
        source = self.put("rewritten from", noise(100_000))
        target = self.bucket.blob("rewritten")
        target.storage_class = "COLDLINE"
        token, written, total = target.rewrite(source)
        while token is not None:
            token, written, total = target.rewrite(source, token=token)
        self.assertEqual((100_000, 100_000), (written, total))
        self.assertEqual("COLDLINE", self.bucket.get_blob("rewritten").storage_class)
        with self.assertRaises(exceptions.PreconditionFailed):
            target.rewrite(source, if_source_generation_match=source.generation + 1)
        with self.assertRaises(exceptions.PreconditionFailed):
            target.rewrite(source, if_generation_match=0)

    def test_move(self):
        source = self.put("moved from", b"data")
        self.put("taken", b"other")
        with self.assertRaises(exceptions.PreconditionFailed):
            self.bucket.move_blob(source, "taken", if_generation_match=0)
        with self.assertRaises(exceptions.PreconditionFailed):
            self.bucket.move_blob(source, "to", if_source_generation_match=1)
        moved = self.bucket.move_blob(source, "moved/to \u00e4")
        self.assertEqual("moved/to \u00e4", moved.name)
        self.assertEqual(b"data", moved.download_as_bytes())
        self.assertFalse(self.bucket.blob("moved from").exists())

    def test_batches(self):
        blobs = [self.put(f"batch {i:03}/\u00e4") for i in range(120)]
        with self.client.batch():
            for blob in blobs[:90]:
                blob.metadata = {"batched": "yes"}
                blob.patch()
        self.assertEqual({"batched": "yes"}, self.bucket.get_blob(blobs[89].name).metadata)
        with self.client.batch():
            for blob in blobs[:90]:
                blob.delete()
        self.assertEqual(30, len(self.names(prefix="batch")))
        with self.assertRaises(exceptions.NotFound):
            with self.client.batch():
                blobs[100].delete()
                self.bucket.blob("none").delete()
        self.bucket.delete_blobs(blobs, on_error=lambda blob: None)
        self.assertEqual([], self.names(prefix="batch"))


class Listings(Judge):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.all = sorted(["a", "a/b", "a/b/c.txt", "a/d.bin", "b/", "b/x", "c-1", "c-2",
                          "\u00e4/\u00f6"], key=str.encode)
        for name in cls.all:
            cls.bucket.blob(name).upload_from_string(name.encode())

    def test_names_in_order_and_paged(self):
        self.assertEqual(self.all, self.names())
        for page_size in (1, 2, 3, 100):
            before = calls("objects.list")
            self.assertEqual(self.all, self.names(page_size=page_size))
            self.assertEqual(-(-len(self.all) // page_size), calls("objects.list") - before)
        self.assertEqual(self.all[:4], self.names(max_results=4))
        self.assertEqual(["c-1", "c-2"], self.names(prefix="c-"))
        self.assertEqual(["b/x", "c-1"], self.names(start_offset="b/x", end_offset="c-2"))

    def test_delimiter(self):
        for page_size in (1, 2, None):
            pages = self.bucket.list_blobs(delimiter="/", page_size=page_size)
            self.assertEqual(["a", "c-1", "c-2"], [blob.name for blob in pages])
            self.assertEqual({"a/", "b/", "\u00e4/"}, pages.prefixes)
        below = self.bucket.list_blobs(prefix="a/", delimiter="/")
        self.assertEqual(["a/b", "a/d.bin"], [blob.name for blob in below])
        self.assertEqual({"a/b/"}, below.prefixes)
        self.assertEqual(["a", "b/", "c-1", "c-2"],
                         self.names(delimiter="/", include_trailing_delimiter=True))

    def test_glob_and_fields(self):
        self.assertEqual(["a/b/c.txt"], self.names(match_glob="**.txt"))
        self.assertEqual(["a/b", "a/d.bin"], self.names(match_glob="a/*"))
        self.assertEqual(["c-1", "c-2"], self.names(match_glob="c-{1,2}"))
        self.assertEqual(["c-2"], self.names(match_glob="c-[2-9]"))
        seen = list(self.bucket.list_blobs(prefix="c-", fields="items(name,size),nextPageToken",
                                           page_size=1))
        self.assertEqual([("c-1", 3, None), ("c-2", 3, None)],
                         [(blob.name, blob.size, blob.crc32c) for blob in seen])

    def test_versions(self):
        bucket = self.client.bucket(make_bucket("python-versions", versioning={"enabled": True}))
        generations = []
        for text in (b"one", b"two", b"three"):
            generations.append(self.put("a", text, bucket).generation)
        listed = list(bucket.list_blobs(versions=True))
        self.assertEqual(generations, [blob.generation for blob in listed])
        self.assertEqual([True, True, False], [blob.time_deleted is not None for blob in listed])
        old = bucket.blob("a", generation=generations[0])
        self.assertEqual(b"one", old.download_as_bytes())
        bucket.copy_blob(bucket.blob("a"), bucket, "a", source_generation=generations[1])
        self.assertEqual(b"two", bucket.blob("a").download_as_bytes())
        bucket.blob("a").delete()
        self.assertFalse(bucket.blob("a").exists())
        self.assertEqual(4, len(list(bucket.list_blobs(versions=True, page_size=1))))
        old.delete()
        self.assertEqual(3, len(list(bucket.list_blobs(versions=True))))
        self.assertEqual([], list(bucket.list_blobs()))


if __name__ == "__main__":
    unittest.main()
