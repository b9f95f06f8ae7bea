"""gcsfs, the file system of the Python data world: JSON API over aiohttp, simple and resumable."""

import asyncio
import os
import unittest

# Otherwise it asks for the kind of a bucket over gRPC, by TLS, and waits a minute for no answer.
os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
import gcsfs  # noqa: E402

from court import KIB, MIB, ENDPOINT, ask, make_bucket, names_in, noise, open_uploads


def file_system(**more):
    return gcsfs.GCSFileSystem(token="anon", endpoint_url=ENDPOINT, project="judges",
                               use_listings_cache=False, skip_instance_cache=True, **more)


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fs = file_system()
        cls.bucket = make_bucket("gcsfs-" + cls.__name__.lower())

    def at(self, name):
        return f"{self.bucket}/{name}"


class Reading(Judge):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = {"a": noise(10, 1), "d/b": noise(MIB, 2), "d/e/c \u00e4#?+%": noise(100, 3),
                    "d/empty": b""}
        for name, data in cls.data.items():
            cls.fs.pipe_file(f"{cls.bucket}/{name}", data)

    def test_ls_and_find(self):
        self.assertEqual({self.at("a"), self.at("d")}, set(self.fs.ls(self.bucket)))
        self.assertEqual({self.at("d/b"), self.at("d/e"), self.at("d/empty")},
                         set(self.fs.ls(self.at("d"))))
        sizes = {entry["name"]: (entry["type"], entry["size"])
                 for entry in self.fs.ls(self.at("d"), detail=True)}
        self.assertEqual(("file", MIB), sizes[self.at("d/b")])
        self.assertEqual("directory", sizes[self.at("d/e")][0])
        self.assertEqual({self.at(name) for name in self.data}, set(self.fs.find(self.bucket)))
        self.assertEqual({self.at("d/b")}, set(self.fs.glob(self.at("d/b*"))))
        self.assertEqual({self.at("d/e/c \u00e4#?+%")}, set(self.fs.glob(self.at("d/**/c*"))))
        self.assertIn(self.bucket, [name.rstrip("/") for name in self.fs.ls("")])
        with self.assertRaises(FileNotFoundError):
            self.fs.ls(self.at("none"))

    def test_info_exists_du(self):
        seen = self.fs.info(self.at("d/b"))
        self.assertEqual((MIB, "file"), (seen["size"], seen["type"]))
        self.assertIn("crc32c", seen)
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
        paths = [self.at("d/b")] * 3
        self.assertEqual([b[0:1], b[10:20], b[MIB - 1:MIB]],
                         self.fs.cat_ranges(paths, [0, 10, MIB - 1], [1, 20, MIB]))
        with self.assertRaises(FileNotFoundError):
            self.fs.cat_file(self.at("none"))
        with self.fs.open(self.at("d/b"), "rb", block_size=100 * KIB) as stream:
            stream.seek(MIB - 100_000)
            self.assertEqual(b[MIB - 100_000:], stream.read())
            stream.seek(1)
            self.assertEqual(b[1:300_000], stream.read(299_999))

    def test_many_at_once(self):
        async def read_all():
            fs = file_system(asynchronous=True)
            session = await fs._set_session()
            try:
                await asyncio.gather(*(fs._pipe_file(self.at(f"many/{i:03}"), noise(i * 100, i))
                                       for i in range(200)))
                return await fs._cat([self.at(f"many/{i:03}") for i in range(200)])
            finally:
                await session.close()

        got = asyncio.run(read_all())
        self.assertEqual({self.at(f"many/{i:03}"): noise(i * 100, i) for i in range(200)}, got)
        self.fs.rm(self.at("many"), recursive=True)


class Writing(Judge):
    def test_files_of_several_blocks(self):
        for size in (0, 10, 256 * KIB, MIB, 2 * MIB + 17):
            with self.subTest(size=size):
                data = noise(size, size)
                with self.fs.open(self.at("written"), "wb", block_size=512 * KIB,
                                  content_type="text/x-judge", metadata={"who": "judge"}) as out:
                    for start in range(0, size, 70_000):
                        out.write(data[start:start + 70_000])
                self.assertEqual(data, self.fs.cat_file(self.at("written")))
                seen = self.fs.info(self.at("written"))
                self.assertEqual(("text/x-judge", {"who": "judge"}),
                                 (seen["contentType"], seen["metadata"]))
        self.assertEqual(0, open_uploads())

    def test_pipe_in_chunks_with_a_checksum(self):
        for check in ("md5", "size", "none"):
            fs = file_system(consistency=check)
            with self.subTest(consistency=check):
                for size in (100, MIB + 1):
                    data = noise(size, size)
                    fs.pipe_file(self.at("piped"), data, chunksize=256 * KIB)
                    self.assertEqual(data, fs.cat_file(self.at("piped")))

    def test_create_only(self):
        self.fs.pipe_file(self.at("once"), b"1", mode="create")
        with self.assertRaises(FileExistsError):
            self.fs.pipe_file(self.at("once"), b"2", mode="create")
        self.assertEqual(b"1", self.fs.cat_file(self.at("once")))

    def test_an_abandoned_file_leaves_nothing(self):
        out = self.fs.open(self.at("abandoned"), "wb", block_size=256 * KIB)
        out.write(noise(MIB))
        out.discard()
        self.assertFalse(self.fs.exists(self.at("abandoned")))
        self.assertEqual(0, open_uploads())

    def test_copy_move_remove(self):
        for name in ("t/a", "t/b/c", "t/b/\u00e4 #"):
            self.fs.pipe_file(self.at(name), name.encode())
        self.fs.copy(self.at("t/a"), self.at("copy"))
        self.assertEqual(b"t/a", self.fs.cat_file(self.at("copy")))
        self.fs.copy(self.at("t") + "/", self.at("u") + "/", recursive=True)
        self.assertEqual(3, len(self.fs.find(self.at("u"))))
        self.fs.mv(self.at("copy"), self.at("moved"))
        self.assertFalse(self.fs.exists(self.at("copy")))
        self.assertEqual(b"t/a", self.fs.cat_file(self.at("moved")))
        self.fs.mv(self.at("u"), self.at("v"), recursive=True)
        self.assertEqual({self.at("v/a"), self.at("v/b/c"), self.at("v/b/\u00e4 #")},
                         set(self.fs.find(self.at("v"))))
        self.fs.rm(self.at("t"), recursive=True)
        self.fs.rm([self.at("v/a"), self.at("v/b/c")])
        self.assertEqual(["moved", "v/b/\u00e4 #"],
                         [n for n in names_in(self.bucket) if n.startswith(("m", "t", "v"))])
        with self.assertRaises(FileNotFoundError):
            self.fs.rm(self.at("none"))

    def test_attributes_and_merge(self):
        self.fs.pipe_file(self.at("x"), b"1")
        self.fs.pipe_file(self.at("y"), b"2")
        self.fs.setxattrs(self.at("x"), content_type="text/x-other", k="v")
        self.assertEqual("v", self.fs.getxattr(self.at("x"), "k"))
        self.assertEqual("text/x-other", self.fs.info(self.at("x"))["contentType"])
        self.fs.merge(self.at("xy"), [self.at("x"), self.at("y")])
        self.assertEqual(b"12", self.fs.cat_file(self.at("xy")))

    def test_buckets(self):
        self.fs.mkdir("gcsfs-made")
        self.assertTrue(self.fs.exists("gcsfs-made"))
        self.fs.rmdir("gcsfs-made")
        self.assertNotIn("gcsfs-made",
                         [b["name"] for b in ask("GET", "/storage/v1/b?project=judges")["items"]])


if __name__ == "__main__":
    unittest.main()
