"""boto3: AWS's own client for Python, on the emulator's S3; plain, or over TLS with AWS_CA_BUNDLE."""

import base64
import datetime
import hashlib
import io
import os
import socket
import threading
import unittest
import unittest.mock
import urllib.error
import urllib.request
import zlib

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

from s3_court import ENDPOINT, MIB, TRUSTED, ask, noise

NAMES = ["plain", "dir/a b", "plus+and&=?#%", "ä/ö/日本", "a//b", "a/./b", "a/../b", "tilde~!*'()", "dot.",
         " blank ", "new\nline", "control\x01", ".", "x" * 1024]


def client(**more):
    settings = {"retries": {"total_max_attempts": 1}, **more.pop("config", {})}
    return boto3.client("s3", endpoint_url=ENDPOINT, config=Config(**settings), **more)


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.s3 = client()
        cls.bucket = "boto3-" + cls.__name__.lower()
        cls.s3.create_bucket(Bucket=cls.bucket)

    def refused(self, code, call, *, status=None, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        answer = caught.exception.response
        self.assertEqual(code, answer["Error"]["Code"], answer["Error"].get("Message"))
        if status:
            self.assertEqual(status, answer["ResponseMetadata"]["HTTPStatusCode"])
        return answer

    def put(self, key, body=b"", **more):
        return self.s3.put_object(Bucket=self.bucket, Key=key, Body=body, **more)

    def read(self, key, **more):
        return self.s3.get_object(Bucket=self.bucket, Key=key, **more)["Body"].read()


class Objects(Judge):
    def test_names(self):
        for name in NAMES:
            with self.subTest(name=name):
                self.put(name, name.encode())
                self.assertEqual(name.encode(), self.read(name))
                self.s3.head_object(Bucket=self.bucket, Key=name)
                self.s3.delete_object(Bucket=self.bucket, Key=name)
                self.refused("404", self.s3.head_object, Bucket=self.bucket, Key=name)

    def test_metadata(self):
        self.put("m", b"x", ContentType="text/x", CacheControl="no-store", ContentLanguage="de",
                 ContentDisposition="inline", ContentEncoding="gzip", Metadata={"Step": "7"}, Tagging="a=b&c=d",
                 StorageClass="STANDARD_IA")
        got = self.s3.head_object(Bucket=self.bucket, Key="m")
        self.assertEqual(("text/x", "no-store", "de", "inline", "gzip", {"step": "7"}, "STANDARD_IA", 2),
                         tuple(got[name] for name in ("ContentType", "CacheControl", "ContentLanguage",
                                                      "ContentDisposition", "ContentEncoding", "Metadata",
                                                      "StorageClass", "TagCount")))
        tags = self.s3.get_object_tagging(Bucket=self.bucket, Key="m")["TagSet"]
        self.assertEqual([{"Key": "a", "Value": "b"}, {"Key": "c", "Value": "d"}], tags)
        self.s3.put_object_tagging(Bucket=self.bucket, Key="m", Tagging={"TagSet": [{"Key": "k", "Value": "v"}]})
        self.assertEqual(1, self.s3.head_object(Bucket=self.bucket, Key="m")["TagCount"])

    def test_etag_is_md5(self):
        self.assertEqual('"' + hashlib.md5(b"abc").hexdigest() + '"', self.put("e", b"abc")["ETag"])

    def test_ranges(self):
        self.put("r", b"0123456789")
        self.assertEqual(b"234", self.read("r", Range="bytes=2-4"))
        self.assertEqual(b"89", self.read("r", Range="bytes=-2"))
        self.assertEqual(b"789", self.read("r", Range="bytes=7-100"))
        self.refused("InvalidRange", self.s3.get_object, Bucket=self.bucket, Key="r", Range="bytes=10-", status=416)
        self.put("r0")
        self.refused("InvalidRange", self.s3.get_object, Bucket=self.bucket, Key="r0", Range="bytes=0-", status=416)

    def test_read_conditions(self):
        etag = self.put("c", b"x")["ETag"]
        self.assertEqual(b"x", self.read("c", IfMatch=etag))
        self.assertEqual(b"x", self.read("c", IfNoneMatch='"other"'))
        self.refused("PreconditionFailed", self.s3.get_object, Bucket=self.bucket, Key="c", IfMatch='"other"')
        self.refused("304", self.s3.get_object, Bucket=self.bucket, Key="c", IfNoneMatch=etag)
        then = datetime.datetime(2100, 1, 1)
        self.refused("304", self.s3.get_object, Bucket=self.bucket, Key="c", IfModifiedSince=then)

    def test_write_conditions(self):
        etag = self.put("w", b"1", IfNoneMatch="*")["ETag"]
        self.refused("PreconditionFailed", self.s3.put_object, Bucket=self.bucket, Key="w", IfNoneMatch="*", status=412)
        self.refused("PreconditionFailed", self.s3.put_object, Bucket=self.bucket, Key="w", IfMatch='"x"', status=412)
        self.put("w", b"2", IfMatch=etag)
        self.refused("NoSuchKey", self.s3.put_object, Bucket=self.bucket, Key="none", IfMatch=etag, status=404)
        self.refused("PreconditionFailed", self.s3.delete_object, Bucket=self.bucket, Key="w", IfMatch=etag)
        self.s3.delete_object(Bucket=self.bucket, Key="w", IfMatch="*")
        self.s3.delete_object(Bucket=self.bucket, Key="w")

    def test_checksums(self):
        for name in ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"):
            with self.subTest(name=name):
                put = self.put("s", b"123456789", ChecksumAlgorithm=name)
                got = self.s3.get_object(Bucket=self.bucket, Key="s", ChecksumMode="ENABLED")
                self.assertEqual(b"123456789", got["Body"].read())
                self.assertEqual(put["Checksum" + name], got["Checksum" + name])
                self.assertEqual("FULL_OBJECT", got["ChecksumType"])
        wrong = base64.b64encode(zlib.crc32(b"other").to_bytes(4, "big")).decode()
        self.refused("BadDigest", self.s3.put_object, Bucket=self.bucket, Key="s", Body=b"x", ChecksumCRC32=wrong)
        wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()
        self.refused("BadDigest", self.s3.put_object, Bucket=self.bucket, Key="s", Body=b"x", ContentMD5=wrong)
        self.refused("InvalidDigest", self.s3.put_object, Bucket=self.bucket, Key="s", Body=b"x", ContentMD5="abc=")

    def test_copy(self):
        self.put("from", b"copied", Metadata={"a": "1"}, Tagging="t=1", StorageClass="STANDARD_IA")
        source = {"Bucket": self.bucket, "Key": "from"}
        etag = self.s3.head_object(**source)["ETag"]
        self.s3.copy_object(Bucket=self.bucket, Key="to ä+", CopySource=source, CopySourceIfMatch=etag)
        got = self.s3.head_object(Bucket=self.bucket, Key="to ä+")
        self.assertEqual(({"a": "1"}, None, 1), (got["Metadata"], got.get("StorageClass"), got["TagCount"]))
        self.refused("PreconditionFailed", self.s3.copy_object, Bucket=self.bucket, Key="x", CopySource=source,
                     CopySourceIfMatch='"x"')
        self.refused("PreconditionFailed", self.s3.copy_object, Bucket=self.bucket, Key="x", CopySource=source,
                     CopySourceIfNoneMatch=etag)
        self.refused("PreconditionFailed", self.s3.copy_object, Bucket=self.bucket, Key="to ä+", CopySource=source,
                     IfNoneMatch="*")
        self.refused("InvalidRequest", self.s3.copy_object, Bucket=self.bucket, Key="from", CopySource=source)
        self.s3.copy_object(Bucket=self.bucket, Key="from", CopySource=source, MetadataDirective="REPLACE",
                            Metadata={"b": "2"})
        self.assertEqual({"b": "2"}, self.s3.head_object(**source)["Metadata"])

    def test_delete_many(self):
        names = [name for name in NAMES if name not in ("control\x01",)]
        for name in names:
            self.put(name)
        listed = {"Objects": [{"Key": name} for name in names + ["none"]]}
        gone = self.s3.delete_objects(Bucket=self.bucket, Delete=listed)
        self.assertEqual(len(names) + 1, len(gone["Deleted"]))
        for name in names:
            self.refused("404", self.s3.head_object, Bucket=self.bucket, Key=name)
        self.put("kept", b"1")
        gone = self.s3.delete_objects(Bucket=self.bucket, Delete={"Quiet": True, "Objects": [
            {"Key": "kept", "ETag": '"other"'}, {"Key": "none"}]})
        self.assertEqual(("kept", "PreconditionFailed"), (gone["Errors"][0]["Key"], gone["Errors"][0]["Code"]))
        self.assertNotIn("Deleted", gone)

    def test_archived(self):
        self.put("cold", b"x", StorageClass="GLACIER")
        answer = self.refused("InvalidObjectState", self.s3.get_object, Bucket=self.bucket, Key="cold", status=403)
        self.assertEqual("GLACIER", answer["Error"]["StorageClass"])
        self.assertEqual("GLACIER", self.s3.head_object(Bucket=self.bucket, Key="cold")["StorageClass"])
        self.s3.restore_object(Bucket=self.bucket, Key="cold", RestoreRequest={"Days": 1})
        self.assertEqual(b"x", self.read("cold"))
        self.assertIn('ongoing-request="false"', self.s3.head_object(Bucket=self.bucket, Key="cold")["Restore"])

    def test_encryption(self):
        kms = self.put("kms", b"abc", ServerSideEncryption="aws:kms", SSEKMSKeyId="k")
        self.assertNotEqual(hashlib.md5(b"abc").hexdigest(), kms["ETag"].strip('"'))
        self.assertEqual(("aws:kms", "k"), (kms["ServerSideEncryption"], kms["SSEKMSKeyId"]))
        self.assertEqual(b"abc", self.read("kms"))

    def test_override(self):
        self.put("o", b"x")
        got = self.s3.get_object(Bucket=self.bucket, Key="o", ResponseContentType="text/y")
        self.assertEqual("text/y", got["ContentType"])


class Uploads(Judge):
    def begin(self, key="key", **more):
        return {"Bucket": self.bucket, "Key": key,
                "UploadId": self.s3.create_multipart_upload(Bucket=self.bucket, Key=key, **more)["UploadId"]}

    def test_transfer_manager(self):
        config = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB, max_concurrency=4)
        data = noise(17 * MIB)
        self.s3.upload_fileobj(io.BytesIO(data), self.bucket, "big", Config=config)
        got = io.BytesIO()
        self.s3.download_fileobj(self.bucket, "big", got, Config=config)
        self.assertEqual(data, got.getvalue())
        head = self.s3.head_object(Bucket=self.bucket, Key="big", PartNumber=2)
        self.assertEqual((4, 5 * MIB), (head["PartsCount"], head["ContentLength"]))
        self.s3.copy({"Bucket": self.bucket, "Key": "big"}, self.bucket, "copied", Config=config)
        self.assertEqual(data, self.read("copied"))

    def test_checksum_types(self):
        for name, kind in (("CRC32C", "FULL_OBJECT"), ("CRC32C", "COMPOSITE"), ("CRC32", "FULL_OBJECT"),
                           ("CRC64NVME", "FULL_OBJECT"), ("SHA256", "COMPOSITE")):
            with self.subTest(name=name, kind=kind):
                upload = self.begin(ChecksumAlgorithm=name, ChecksumType=kind)
                parts = []
                for number, size in ((1, 5 * MIB), (2, 100)):
                    part = self.s3.upload_part(**upload, PartNumber=number, Body=noise(size), ChecksumAlgorithm=name)
                    parts.append({"PartNumber": number, "ETag": part["ETag"], "Checksum" + name: part["Checksum" + name]})
                listed = self.s3.list_parts(**upload)["Parts"]
                self.assertEqual([part["Checksum" + name] for part in parts],
                                 [part["Checksum" + name] for part in listed])
                self.refused("InvalidRequest", self.s3.complete_multipart_upload, **upload,
                             MultipartUpload={"Parts": parts}, MpuObjectSize=7)
                done = self.s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts},
                                                         MpuObjectSize=5 * MIB + 100)
                got = self.s3.get_object(Bucket=self.bucket, Key="key", ChecksumMode="ENABLED")
                self.assertEqual(noise(5 * MIB) + noise(100), got["Body"].read())
                self.assertEqual((done["Checksum" + name], kind), (got["Checksum" + name], got["ChecksumType"]))
                again = self.s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
                self.assertEqual(done["ETag"], again["ETag"])

    def test_conditions_and_errors(self):
        upload = self.begin("cond")
        etag = self.s3.upload_part(**upload, PartNumber=1, Body=b"1")["ETag"]
        parts = {"Parts": [{"PartNumber": 1, "ETag": etag}]}
        self.put("cond", b"there")
        complete = self.s3.complete_multipart_upload
        self.refused("PreconditionFailed", complete, **upload, MultipartUpload=parts, IfNoneMatch="*")
        self.refused("InvalidPart", complete, **upload,
                     MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": '"x"'}]})
        there = self.s3.head_object(Bucket=self.bucket, Key="cond")["ETag"]
        complete(**upload, MultipartUpload=parts, IfMatch=there)
        self.assertEqual(b"1", self.read("cond"))
        self.refused("NoSuchUpload", self.s3.upload_part, **{**upload, "UploadId": "no"}, PartNumber=1, Body=b"")
        self.s3.abort_multipart_upload(**self.begin("gone"))

    def test_copied_parts(self):
        self.put("source", noise(6 * MIB))
        upload = self.begin("joined")
        source = {"Bucket": self.bucket, "Key": "source"}
        parts = []
        for number, span in ((1, f"bytes=0-{5 * MIB - 1}"), (2, f"bytes={5 * MIB}-{6 * MIB - 1}")):
            part = self.s3.upload_part_copy(**upload, PartNumber=number, CopySource=source, CopySourceRange=span)
            parts.append({"PartNumber": number, "ETag": part["CopyPartResult"]["ETag"]})
        self.refused("InvalidArgument", self.s3.upload_part_copy, **upload, PartNumber=3, CopySource=source,
                     CopySourceRange="bytes=5-")
        self.s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
        self.assertEqual(noise(6 * MIB), self.read("joined"))

    def test_lists(self):
        uploads = [self.begin(key) for key in ("l/a", "l/b", "l/b", "l/c/d")]
        pages = self.s3.get_paginator("list_multipart_uploads").paginate(
            Bucket=self.bucket, Prefix="l/", PaginationConfig={"PageSize": 1})
        found = [upload["UploadId"] for page in pages for upload in page.get("Uploads", [])]
        self.assertEqual([upload["UploadId"] for upload in uploads], found)
        page = self.s3.list_multipart_uploads(Bucket=self.bucket, Prefix="l/", Delimiter="/")
        self.assertEqual([{"Prefix": "l/c/"}], page["CommonPrefixes"])
        for upload in uploads:
            self.s3.abort_multipart_upload(**upload)

    def test_race(self):
        for turn in range(10):
            won = []

            def write(number, key=f"race{turn}"):
                try:
                    client().put_object(Bucket=self.bucket, Key=key, Body=b"%d" % number, IfNoneMatch="*")
                    won.append(number)
                except ClientError as refused:
                    self.assertEqual("PreconditionFailed", refused.response["Error"]["Code"])

            threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(1, len(won))


class Listings(Judge):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.names = sorted(NAMES + [f"n/{number:04}" for number in range(1200)], key=str.encode)
        for name in cls.names:
            cls.s3.put_object(Bucket=cls.bucket, Key=name, Body=b"")

    def keys(self, **more):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, **more)
        return [each["Key"] for page in pages for each in page.get("Contents", [])]

    def test_all(self):
        self.assertEqual(self.names, self.keys())
        self.assertEqual(self.names, self.keys(PaginationConfig={"PageSize": 7}))
        pages = self.s3.get_paginator("list_objects").paginate(Bucket=self.bucket, PaginationConfig={"PageSize": 100})
        self.assertEqual(self.names, [each["Key"] for page in pages for each in page["Contents"]])

    def test_start_after(self):
        for name in self.names[::97] + NAMES:
            self.assertEqual(self.names[self.names.index(name) + 1:], self.keys(StartAfter=name))

    def test_delimiter(self):
        page = self.s3.list_objects_v2(Bucket=self.bucket, Delimiter="/", FetchOwner=True)
        folded = [each["Prefix"] for each in page["CommonPrefixes"]]
        self.assertEqual(["a/", "dir/", "n/", "ä/"], folded)
        self.assertIn("Owner", page["Contents"][0])
        for after in ("n/", "n/0005"):
            page = self.s3.list_objects_v2(Bucket=self.bucket, Delimiter="/", StartAfter=after)
            self.assertEqual(["ä/"], [each["Prefix"] for each in page["CommonPrefixes"]])
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Delimiter="/",
                                                                  PaginationConfig={"PageSize": 1})
        self.assertEqual(folded, [each["Prefix"] for page in pages for each in page.get("CommonPrefixes", [])])

    def test_limits(self):
        self.assertEqual(1000, self.s3.list_objects_v2(Bucket=self.bucket, MaxKeys=5000)["KeyCount"])
        self.assertFalse(self.s3.list_objects_v2(Bucket=self.bucket, MaxKeys=0)["IsTruncated"])
        self.refused("InvalidArgument", self.s3.list_objects_v2, Bucket=self.bucket, ContinuationToken="x")

    def test_long_page(self):
        ask("POST", "/_emulator/faults", {"verb": "objects.list", "action": "short_page", "results": 1203})
        page = self.s3.list_objects_v2(Bucket=self.bucket)
        self.assertEqual((1203, True), (len(page["Contents"]), page["IsTruncated"]))
        ask("DELETE", "/_emulator/faults")


class Versions(Judge):
    def setUp(self):
        self.bucket = "boto3-" + self.id().split("_")[-1]
        self.s3.create_bucket(Bucket=self.bucket)
        self.s3.put_bucket_versioning(Bucket=self.bucket, VersioningConfiguration={"Status": "Enabled"})

    def all(self, **more):
        page = self.s3.list_object_versions(Bucket=self.bucket, **more)
        return page.get("Versions", []), page.get("DeleteMarkers", [])

    def test_history(self):
        one, two = (self.put("k", body)["VersionId"] for body in (b"1", b"2"))
        self.assertEqual((b"2", b"1"), (self.read("k"), self.read("k", VersionId=one)))
        marker = self.s3.delete_object(Bucket=self.bucket, Key="k")
        self.assertTrue(marker["DeleteMarker"])
        answer = self.refused("NoSuchKey", self.s3.get_object, Bucket=self.bucket, Key="k", status=404)
        self.assertEqual("true", answer["ResponseMetadata"]["HTTPHeaders"]["x-amz-delete-marker"])
        self.refused("MethodNotAllowed", self.s3.get_object, Bucket=self.bucket, Key="k",
                     VersionId=marker["VersionId"], status=405)
        versions, markers = self.all()
        self.assertEqual([(two, False), (one, False)], [(each["VersionId"], each["IsLatest"]) for each in versions])
        self.assertEqual([(marker["VersionId"], True)], [(each["VersionId"], each["IsLatest"]) for each in markers])
        self.s3.delete_object(Bucket=self.bucket, Key="k", VersionId=marker["VersionId"])
        self.assertEqual(b"2", self.read("k"))
        self.s3.delete_object(Bucket=self.bucket, Key="k", VersionId=two)
        self.assertEqual(b"1", self.read("k"))

    def test_conditions(self):
        self.put("k", b"1")
        self.s3.delete_object(Bucket=self.bucket, Key="k")
        self.put("k", b"2", IfNoneMatch="*")

    def test_suspended(self):
        first = self.put("k", b"1")["VersionId"]
        self.s3.put_bucket_versioning(Bucket=self.bucket, VersioningConfiguration={"Status": "Suspended"})
        self.assertEqual("Suspended", self.s3.get_bucket_versioning(Bucket=self.bucket)["Status"])
        self.put("k", b"2")
        self.put("k", b"3")
        versions, _ = self.all()
        self.assertEqual(["null", first], [each["VersionId"] for each in versions])
        self.s3.delete_object(Bucket=self.bucket, Key="k")
        versions, markers = self.all()
        self.assertEqual([[first], ["null"]], [[each["VersionId"] for each in group] for group in (versions, markers)])

    def test_pages(self):
        for turn in range(3):
            for key in ("a", "b/c", "d"):
                self.put(key, b"%d" % turn)
        pages = self.s3.get_paginator("list_object_versions").paginate(Bucket=self.bucket,
                                                                       PaginationConfig={"PageSize": 2})
        self.assertEqual(["a"] * 3 + ["b/c"] * 3 + ["d"] * 3,
                         [each["Key"] for page in pages for each in page["Versions"]])
        page = self.s3.list_object_versions(Bucket=self.bucket, Delimiter="/")
        self.assertEqual([{"Prefix": "b/"}], page["CommonPrefixes"])

    def test_lock(self):
        bucket = self.bucket = "boto3-locked"
        self.s3.create_bucket(Bucket=bucket, ObjectLockEnabledForBucket=True)
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
        kept = self.put("k", b"1", ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=until)["VersionId"]
        self.assertEqual("GOVERNANCE", self.s3.head_object(Bucket=bucket, Key="k")["ObjectLockMode"])
        self.refused("AccessDenied", self.s3.delete_object, Bucket=bucket, Key="k", VersionId=kept)
        self.s3.delete_object(Bucket=bucket, Key="k")
        self.s3.delete_object(Bucket=bucket, Key="k", VersionId=kept, BypassGovernanceRetention=True)


class Signatures(Judge):
    def fetch(self, url, method="GET", **more):
        try:
            request = urllib.request.Request(url, method=method, **more)
            with urllib.request.urlopen(request, timeout=30, context=TRUSTED) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()

    def test_presigned(self):
        self.put("ä b+c", b"signed")
        place = {"Bucket": self.bucket, "Key": "ä b+c"}
        url = client(config={"signature_version": "s3v4"}).generate_presigned_url("get_object", Params=place)
        self.assertEqual((200, b"signed"), self.fetch(url))
        status, text = self.fetch(url.replace("X-Amz-Expires=3600", "X-Amz-Expires=3601"))
        self.assertEqual(403, status)
        self.assertIn(b"<Code>SignatureDoesNotMatch</Code>", text)
        url = client(config={"signature_version": "s3v4"}).generate_presigned_url("put_object", Params=place)
        self.assertEqual(200, self.fetch(url, "PUT", data=b"other")[0])
        self.assertEqual(b"other", self.read("ä b+c"))

    def test_anonymous(self):
        status, text = self.fetch(f"{ENDPOINT}/{self.bucket}")
        self.assertEqual(403, status)
        self.assertIn(b"<Code>AccessDenied</Code>", text)

    def test_wrong_keys(self):
        other = client(aws_access_key_id="nobody", aws_secret_access_key="x")
        self.refused("InvalidAccessKeyId", other.list_buckets, status=403)
        other = client(aws_access_key_id=os.environ["AWS_ACCESS_KEY_ID"], aws_secret_access_key="x")
        self.refused("SignatureDoesNotMatch", other.list_buckets, status=403)

    def test_session(self):
        def session(lifetime):
            key = ask("POST", "/_emulator/keys", {"lifetime": lifetime})
            return client(aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"],
                          aws_session_token=key["Token"]), key

        good, key = session(3600)
        good.list_buckets()
        self.refused("ExpiredToken", session(-1)[0].list_buckets, status=400)
        other = client(aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"],
                       aws_session_token="other")
        self.refused("InvalidToken", other.list_buckets)
        ask("POST", "/_emulator/faults", {"verb": "buckets.list", "action": "expire_tokens"})
        self.refused("ExpiredToken", good.list_buckets)
        self.refused("ExpiredToken", good.list_buckets)

    def test_skew(self):
        ask("POST", "/_emulator/faults", {"verb": "buckets.list", "action": "skew", "ms": 3_600_000})
        answer = self.refused("RequestTimeTooSkewed", self.s3.list_buckets, status=403)
        self.assertEqual("900000", answer["Error"]["MaxAllowedSkewMilliseconds"])

    def test_regions(self):
        ask("PATCH", "/_emulator/buckets/boto3-far", {"region": "eu-west-1"})
        self.s3.put_object(Bucket="boto3-far", Key="x", Body=b"1")  # goes on to the region that it is told
        self.assertEqual("eu-west-1", self.s3.head_bucket(Bucket="boto3-far")["BucketRegion"])
        self.assertEqual("eu-west-1", self.s3.get_bucket_location(Bucket="boto3-far")["LocationConstraint"])
        wrong = client(region_name="us-west-2")
        answer = self.refused("AuthorizationHeaderMalformed", wrong.list_buckets, status=400)
        self.assertEqual("us-east-1", answer["Error"]["Region"])

    def test_addressing(self):
        port = ENDPOINT.rpartition(":")[2]
        if ENDPOINT.startswith("https"):
            self.skipTest("its certificate is of one host")
        virtual = boto3.client("s3", endpoint_url=f"http://localhost:{port}",
                               config=Config(s3={"addressing_style": "virtual"}))
        found = socket.getaddrinfo
        with unittest.mock.patch("socket.getaddrinfo", lambda host, *more, **named: found(
                "127.0.0.1" if host.endswith(".localhost") else host, *more, **named)):
            virtual.put_object(Bucket=self.bucket, Key="v/w", Body=b"virtual")
        self.assertEqual(b"virtual", self.read("v/w"))

    def test_requester_pays(self):
        ask("PATCH", "/_emulator/buckets/boto3-pays", {"requesterPays": True})
        self.refused("AccessDenied", self.s3.put_object, Bucket="boto3-pays", Key="x", Body=b"")
        put = self.s3.put_object(Bucket="boto3-pays", Key="x", Body=b"", RequestPayer="requester")
        self.assertEqual("requester", put["RequestCharged"])


class Faults(Judge):
    def tearDown(self):
        ask("DELETE", "/_emulator/faults")

    def script(self, **rule):
        ask("POST", "/_emulator/faults", rule)

    def test_late_error(self):
        self.put("from", b"1")
        source = {"Bucket": self.bucket, "Key": "from"}
        self.script(verb="objects.copy", action="late_answer", code="InternalError", spaces=3)
        self.refused("InternalError", self.s3.copy_object, Bucket=self.bucket, Key="to", CopySource=source)
        self.refused("404", self.s3.head_object, Bucket=self.bucket, Key="to")

    def test_slow_down(self):
        self.script(verb="objects.insert", action="refuse", status=503)
        self.refused("SlowDown", self.s3.put_object, Bucket=self.bucket, Key="x", Body=b"", status=503)
        self.put("x", b"")

    def test_ignored_conditions(self):
        self.put("i", b"1")
        self.script(verb="objects.insert", action="ignore_conditions")
        self.put("i", b"2", IfNoneMatch="*")
        self.assertEqual(b"2", self.read("i"))


class Buckets(Judge):
    def test_life(self):
        self.s3.create_bucket(Bucket="boto3-life", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        self.refused("BucketAlreadyOwnedByYou", self.s3.create_bucket, Bucket="boto3-life",
                     CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        found = {each["Name"]: each["BucketRegion"] for each in self.s3.list_buckets(Prefix="boto3-l")["Buckets"]}
        self.assertEqual({"boto3-life": "eu-west-1"},
                         {name: region for name, region in found.items() if name == "boto3-life"})
        europe = client(region_name="eu-west-1")
        europe.put_object(Bucket="boto3-life", Key="x", Body=b"")
        self.refused("BucketNotEmpty", europe.delete_bucket, Bucket="boto3-life", status=409)
        europe.delete_object(Bucket="boto3-life", Key="x")
        europe.delete_bucket(Bucket="boto3-life")
        self.refused("NoSuchBucket", self.s3.list_objects_v2, Bucket="boto3-life", status=404)

    def test_default_kms(self):
        rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "k"}}
        self.s3.put_bucket_encryption(Bucket=self.bucket, ServerSideEncryptionConfiguration={"Rules": [rule]})
        self.assertEqual("aws:kms", self.put("x", b"abc")["ServerSideEncryption"])
        self.s3.delete_bucket_encryption(Bucket=self.bucket)

    def test_owner(self):
        self.refused("403", self.s3.head_bucket, Bucket=self.bucket, ExpectedBucketOwner="999999999999")


if __name__ == "__main__":
    unittest.main()
