"""obstore: the Rust crate object_store on the emulator's S3."""

import asyncio
import os
import unittest

import obstore
from obstore.exceptions import AlreadyExistsError, NotModifiedError, PreconditionError
from obstore.store import S3Store

from s3_court import AUTHORITY, ENDPOINT, MIB, make_bucket, noise, open_uploads


def store_of(bucket):
    return S3Store(bucket, endpoint=ENDPOINT, region=os.environ["AWS_REGION"],
                   access_key_id=os.environ["AWS_ACCESS_KEY_ID"],
                   secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"], virtual_hosted_style_request=False,
                   client_options={"allow_http": True}, retry_config={"max_retries": 0})


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bucket = make_bucket("obstore-" + cls.__name__.lower())
        cls.store = store_of(cls.bucket)

    def read(self, name):
        return bytes(obstore.get(self.store, name).bytes())


class Objects(Judge):
    def test_put_and_get(self):
        for size in (0, 1, 100_000):
            with self.subTest(size=size):
                data = noise(size, size)
                name = f"dir/\u00e4 +&={size}"
                put = obstore.put(self.store, name, data, use_multipart=False,
                                  attributes={"Content-Type": "text/x-judge", "Cache-Control": "no-store",
                                              "who": "judge"})
                got = obstore.get(self.store, name)
                self.assertEqual(data, bytes(got.bytes()))
                self.assertEqual((size, put["e_tag"]), (got.meta["size"], got.meta["e_tag"]))
                self.assertEqual("text/x-judge", got.attributes["Content-Type"])
                self.assertEqual("no-store", got.attributes["Cache-Control"])
                head = obstore.head(self.store, name)
                self.assertEqual((size, name, put["e_tag"]), (head["size"], head["path"], head["e_tag"]))

    def test_multipart(self):
        for size in (5 * MIB, 5 * MIB + 1, 17 * MIB):
            with self.subTest(size=size):
                data = noise(size, size)
                obstore.put(self.store, "parts", data, use_multipart=True, chunk_size=5 * MIB,
                            attributes={"Content-Type": "text/x-judge"})
                got = obstore.get(self.store, "parts")
                self.assertEqual(data, bytes(got.bytes()))
                self.assertEqual("text/x-judge", got.attributes["Content-Type"])
        with obstore.open_writer(self.store, "writer", buffer_size=6 * MIB) as out:
            for start in range(0, 17 * MIB, MIB):
                out.write(data[start:start + MIB])
        self.assertEqual(data, self.read("writer"))
        self.assertEqual(0, open_uploads())

    def test_an_empty_multipart_upload(self):
        obstore.put(self.store, "empty", b"", use_multipart=True)
        self.assertEqual(b"", self.read("empty"))
        self.assertEqual(0, open_uploads())

    def test_ranges(self):
        data = noise(10_000)
        obstore.put(self.store, "ranges", data)
        self.assertEqual(data[5:9], bytes(obstore.get_range(self.store, "ranges", start=5, end=9)))
        several = obstore.get_ranges(self.store, "ranges", starts=[0, 9_000, 5], ends=[1, 9_999, 8])
        self.assertEqual([data[0:1], data[9_000:9_999], data[5:8]], [bytes(r) for r in several])
        suffix = obstore.get(self.store, "ranges", options={"range": {"suffix": 7}})
        self.assertEqual(data[-7:], bytes(suffix.bytes()))
        rest = obstore.get(self.store, "ranges", options={"range": {"offset": 9_990}})
        self.assertEqual(data[9_990:], bytes(rest.bytes()))

    def test_conditional_get(self):
        put = obstore.put(self.store, "conditional", b"data")
        got = obstore.get(self.store, "conditional", options={"if_match": put["e_tag"]})
        self.assertEqual(b"data", bytes(got.bytes()))
        with self.assertRaises(PreconditionError):
            obstore.get(self.store, "conditional", options={"if_match": '"other"'})
        with self.assertRaises(NotModifiedError):
            obstore.get(self.store, "conditional", options={"if_none_match": put["e_tag"]})

    def test_conditional_put(self):
        first = obstore.put(self.store, "once", b"1", mode="create", use_multipart=False)
        with self.assertRaises(AlreadyExistsError):
            obstore.put(self.store, "once", b"2", mode="create", use_multipart=False)
        obstore.put(self.store, "once", b"2", mode={"e_tag": first["e_tag"]}, use_multipart=False)
        with self.assertRaises(PreconditionError):
            obstore.put(self.store, "once", b"3", mode={"e_tag": first["e_tag"]}, use_multipart=False)
        self.assertEqual(b"2", self.read("once"))

    def test_copy_rename_delete(self):
        obstore.put(self.store, "from \u00e4", b"data", attributes={"Content-Type": "text/x-j"})
        obstore.copy(self.store, "from \u00e4", "copy")
        self.assertEqual("text/x-j", obstore.get(self.store, "copy").attributes["Content-Type"])
        obstore.rename(self.store, "from \u00e4", "to")
        self.assertEqual(b"data", self.read("to"))
        for call in (obstore.get, obstore.head):
            with self.assertRaises(FileNotFoundError):
                call(self.store, "from \u00e4")
        with self.assertRaises(FileNotFoundError):
            obstore.copy(self.store, "from \u00e4", "again")
        obstore.delete(self.store, ["to", "copy"])
        left = [entry["path"] for page in obstore.list(self.store) for entry in page]
        self.assertFalse({"to", "copy"} & set(left))


class Listings(Judge):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.all = sorted(["a", "a/b", "a/c/d", "b/\u00e4 +", "c-1"], key=str.encode)
        for name in cls.all:
            obstore.put(cls.store, name, name.encode())

    def names(self, *arguments, **more):
        return [entry["path"] for page in obstore.list(self.store, *arguments, **more) for entry in page]

    def test_list(self):
        self.assertEqual(self.all, self.names())
        self.assertEqual(["a/b", "a/c/d"], self.names("a"))
        self.assertEqual(["b/\u00e4 +", "c-1"], self.names(offset="a/c/d"))
        sizes = {e["path"]: e["size"] for page in obstore.list(self.store) for e in page}
        self.assertEqual({name: len(name.encode()) for name in self.all}, sizes)

    def test_list_with_delimiter(self):
        top = obstore.list_with_delimiter(self.store)
        self.assertEqual(["a", "b"], sorted(top["common_prefixes"]))
        self.assertEqual(["a", "c-1"], [entry["path"] for entry in top["objects"]])
        below = obstore.list_with_delimiter(self.store, "a")
        self.assertEqual(["a/c"], below["common_prefixes"])
        self.assertEqual(["a/b"], [entry["path"] for entry in below["objects"]])

    def test_many_at_once(self):
        store = store_of(make_bucket("obstore-many"))

        async def work():
            names = [f"n{i:04}" for i in range(1200)]
            await asyncio.gather(*(obstore.put_async(store, n, n.encode()) for n in names))
            got = await asyncio.gather(*(obstore.get_async(store, n) for n in names))
            return [bytes(await one.bytes_async()) for one in got]

        self.assertEqual([f"n{i:04}".encode() for i in range(1200)], asyncio.run(work()))
        listed = [e["path"] for page in obstore.list(store, chunk_size=100) for e in page]
        self.assertEqual([f"n{i:04}" for i in range(1200)], listed)
        obstore.delete(store, listed)  # by requests for many
        self.assertEqual([], [e for page in obstore.list(store) for e in page])


# It trusts what the system's store and this variable name.
if AUTHORITY:
    os.environ["SSL_CERT_FILE"] = AUTHORITY

if __name__ == "__main__":
    unittest.main()
