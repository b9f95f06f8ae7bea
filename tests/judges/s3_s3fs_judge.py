"""s3fs, the file system of the Python data world, on the emulator's S3: aiobotocore over aiohttp."""

import asyncio
import os
import unittest

import s3fs

from s3_court import ENDPOINT, MIB, make_bucket, noise, open_uploads

KIB = 1 << 10


def file_system(**more):
    return s3fs.S3FileSystem(endpoint_url=ENDPOINT, key=os.environ["AWS_ACCESS_KEY_ID"],
                             secret=os.environ["AWS_SECRET_ACCESS_KEY"],
                             client_kwargs={"region_name": os.environ["AWS_REGION"]},
                             use_listings_cache=False, skip_instance_cache=True, **more)


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fs = file_system()
        cls.bucket = make_bucket("s3fs-" + cls.__name__.lower())

    def at(self, name):
        return f"{self.bucket}/{name}"


class Reading(Judge):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = {"a": noise(10, 1), "d/b": noise(MIB, 2), "d/e/c \u00e4#?+%": noise(100, 3), "d/empty": b""}
        for name, data in cls.data.items():
            cls.fs.pipe_file(f"{cls.bucket}/{name}", data)

    def test_ls_and_find(self):
        self.assertEqual({self.at("a"), self.at("d")}, set(self.fs.ls(self.bucket)))
        self.assertEqual({self.at("d/b"), self.at("d/e"), self.at("d/empty")}, set(self.fs.ls(self.at("d"))))
        self.assertEqual({self.at(name) for name in self.data}, set(self.fs.find(self.bucket)))
        self.assertEqual({self.at("d/b")}, set(self.fs.glob(self.at("d/b*"))))
        self.assertIn(self.bucket, self.fs.ls(""))
        with self.assertRaises(FileNotFoundError):
            self.fs.ls(self.at("none"))

    def test_info_exists_du(self):
        seen = self.fs.info(self.at("d/b"))
        self.assertEqual((MIB, "file"), (seen["size"], seen["type"]))
        self.assertEqual("directory", self.fs.info(self.at("d"))["type"])
        self.assertTrue(self.fs.exists(self.at("a")))
        self.assertFalse(self.fs.exists(self.at("none")))
        self.assertTrue(self.fs.isdir(self.at("d")))
        self.assertEqual(sum(map(len, self.data.values())), self.fs.du(self.bucket))

    def test_cat(self):
        for name, data in self.data.items():
            self.assertEqual(data, self.fs.cat_file(self.at(name)))
        b = self.data["d/b"]
        self.assertEqual(b[5:9], self.fs.cat_file(self.at("d/b"), start=5, end=9))
        self.assertEqual(b[-7:], self.fs.cat_file(self.at("d/b"), start=-7))
        self.assertEqual([b[0:1], b[10:20], b[MIB - 1:MIB]],
                         self.fs.cat_ranges([self.at("d/b")] * 3, [0, 10, MIB - 1], [1, 20, MIB]))
        with self.assertRaises(FileNotFoundError):
            self.fs.cat_file(self.at("none"))
        with self.fs.open(self.at("d/b"), "rb", block_size=100 * KIB) as stream:
            stream.seek(MIB - 100_000)
            self.assertEqual(b[MIB - 100_000:], stream.read())
            stream.seek(1)
            self.assertEqual(b[1:300_000], stream.read(299_999))

    def test_many_at_once(self):
        paths = [self.at("d/b")] * 200
        got = self.fs.cat_ranges(paths, [i * 100 for i in range(200)], [i * 100 + 100 for i in range(200)])
        self.assertEqual(self.data["d/b"][:20_000], b"".join(got))


class Writing(Judge):
    def test_blocks(self):
        data = noise(17 * MIB, 5)
        with self.fs.open(self.at("blocks"), "wb", block_size=5 * MIB) as stream:
            for start in range(0, len(data), MIB):
                stream.write(data[start:start + MIB])
        self.assertEqual(data, self.fs.cat_file(self.at("blocks")))
        self.assertEqual(0, open_uploads())

    def test_append(self):
        for size in (10, 6 * MIB):
            with self.subTest(size=size):
                self.fs.pipe_file(self.at("log"), noise(size))
                with self.fs.open(self.at("log"), "ab") as stream:
                    stream.write(b"more")
                self.assertEqual(noise(size) + b"more", self.fs.cat_file(self.at("log")))

    def test_abandoned(self):
        stream = self.fs.open(self.at("abandoned"), "wb", block_size=5 * MIB)
        stream.write(noise(6 * MIB))
        stream.discard()
        stream.closed = True  # else it would be flushed at its end
        self.assertFalse(self.fs.exists(self.at("abandoned")))
        self.assertEqual(0, open_uploads())

    def test_create_only(self):
        self.fs.pipe_file(self.at("once"), b"1", mode="create")
        with self.assertRaisesRegex(OSError, "pre-conditions"):
            self.fs.pipe_file(self.at("once"), b"2", mode="create")
        self.assertEqual(b"1", self.fs.cat_file(self.at("once")))

    def test_copy_move_remove(self):
        self.fs.pipe_file(self.at("from \u00e4"), b"data")
        self.fs.cp_file(self.at("from \u00e4"), self.at("copy"))
        self.fs.mv(self.at("copy"), self.at("to"))
        self.assertEqual(b"data", self.fs.cat_file(self.at("to")))
        self.assertFalse(self.fs.exists(self.at("copy")))
        self.fs.pipe({self.at(f"many/{i:04}"): b"x" for i in range(1100)})
        self.assertEqual(1100, len(self.fs.find(self.at("many"))))
        self.fs.rm(self.at("many"), recursive=True)
        self.assertEqual([], self.fs.find(self.at("many")))

    def test_large_copy(self):
        data = noise(12 * MIB, 9)
        self.fs.pipe_file(self.at("large"), data)
        path = self.at("large copy")
        asyncio.run(self._copied_in_parts(self.at("large"), path, len(data)))
        self.assertEqual(data, self.fs.cat_file(path))

    async def _copied_in_parts(self, source, target, size):
        fs = file_system(asynchronous=True)
        session = await fs.set_session()
        await fs._copy_managed(source, target, size=size, block=6 * MIB)
        await session.close()

    def test_metadata(self):
        self.fs.pipe_file(self.at("m"), b"x", ContentType="text/x-judge", Metadata={"who": "judge"})
        self.assertEqual("judge", self.fs.getxattr(self.at("m"), "who"))
        self.assertEqual("text/x-judge", self.fs.info(self.at("m"))["ContentType"])


if __name__ == "__main__":
    unittest.main()
