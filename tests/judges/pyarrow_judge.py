"""pyarrow.fs.GcsFileSystem: Google's own client for C++ inside Apache Arrow."""

import unittest

import pyarrow
from pyarrow import fs, parquet

from court import KIB, MIB, ENDPOINT, ask, make_bucket, names_in, noise, open_uploads


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fs = fs.GcsFileSystem(anonymous=True, scheme="http", project_id="judges",
                                  endpoint_override=ENDPOINT.removeprefix("http://"))
        cls.bucket = make_bucket("pyarrow-" + cls.__name__.lower())

    def at(self, name):
        return f"{self.bucket}/{name}"

    def write(self, name, data=b"x", **more):
        with self.fs.open_output_stream(self.at(name), **more) as out:
            for start in range(0, len(data), 300_000):
                out.write(data[start:start + 300_000])

    def read(self, name):
        with self.fs.open_input_stream(self.at(name)) as stream:
            return stream.read()


class Files(Judge):
    def test_write_and_read(self):
        for size in (0, 1, 100_000, 256 * KIB, MIB, 9 * MIB + 1):
            with self.subTest(size=size):
                data = noise(size, size)
                self.write("f \u00e4#?+%", data, metadata={"who": "judge",
                                                           "Content-Type": "text/x-judge"})
                self.assertEqual(data, self.read("f \u00e4#?+%"))
                info = self.fs.get_file_info(self.at("f \u00e4#?+%"))
                self.assertEqual((fs.FileType.File, size), (info.type, info.size))
        with self.fs.open_input_stream(self.at("f \u00e4#?+%")) as stream:
            self.assertEqual(b"judge", stream.metadata()["metadata.who"])
            self.assertEqual(b"text/x-judge", stream.metadata()["Content-Type"])
        self.assertEqual(0, open_uploads())

    def test_random_access(self):
        data = noise(3 * MIB)
        self.write("random", data)
        with self.fs.open_input_file(self.at("random")) as file:
            self.assertEqual(3 * MIB, file.size())
            self.assertEqual(data[10:20], file.read_at(10, 10))
            self.assertEqual(data[-5:], file.read_at(100, 3 * MIB - 5))
            file.seek(MIB)
            self.assertEqual(data[MIB:MIB + 100], file.read(100))

    def test_a_missing_file(self):
        self.assertEqual(fs.FileType.NotFound, self.fs.get_file_info(self.at("none")).type)
        with self.assertRaises(FileNotFoundError):
            self.fs.open_input_stream(self.at("none"))
        with self.assertRaises(FileNotFoundError):
            self.fs.delete_file(self.at("none"))

    def test_copy_move_delete(self):
        self.write("from", b"data")
        self.fs.copy_file(self.at("from"), self.at("copy/\u00e4"))
        self.assertEqual(b"data", self.read("copy/\u00e4"))
        self.fs.move(self.at("from"), self.at("moved"))
        self.assertEqual(fs.FileType.NotFound, self.fs.get_file_info(self.at("from")).type)
        self.assertEqual(b"data", self.read("moved"))
        self.fs.delete_file(self.at("moved"))
        self.assertNotIn("moved", names_in(self.bucket))

    def test_parquet(self):
        table = pyarrow.table({"n": list(range(100_000)), "s": ["x" * 20] * 100_000})
        parquet.write_table(table, self.at("data.parquet"), filesystem=self.fs)
        again = parquet.read_table(self.at("data.parquet"), filesystem=self.fs, columns=["n"])
        self.assertEqual(table.column("n"), again.column("n"))


class Folders(Judge):
    def test_list_and_delete(self):
        self.fs.create_dir(self.at("d/b"))  # it lists no folder that has no object of its own
        self.fs.create_dir(self.at("d/made"))
        for name in ("d/a", "d/b/c", "d/b/e/f", "other"):
            self.write(name, name.encode())
        flat = self.fs.get_file_info(fs.FileSelector(self.at("d")))
        self.assertEqual({self.at("d/a"): fs.FileType.File,
                          self.at("d/b"): fs.FileType.Directory,
                          self.at("d/made"): fs.FileType.Directory},
                         {info.path: info.type for info in flat})
        deep = self.fs.get_file_info(fs.FileSelector(self.at("d"), recursive=True))
        self.assertLessEqual({self.at("d/a"), self.at("d/b/c"), self.at("d/b/e/f")},
                             {info.path for info in deep if info.is_file})
        self.fs.delete_dir_contents(self.at("d/b"))
        self.assertFalse([n for n in names_in(self.bucket) if n.startswith("d/b/e")])
        self.fs.delete_dir(self.at("d"))
        self.assertEqual(["other"], names_in(self.bucket))
        with self.assertRaisesRegex(OSError, "No such file or directory"):
            self.fs.get_file_info(fs.FileSelector(self.at("none")))

    def test_more_than_a_page(self):
        self.fs.create_dir(self.at("many"))
        for i in range(1100):
            ask("POST", f"/upload/storage/v1/b/{self.bucket}/o?uploadType=media&name=many/{i:04}")
        seen = self.fs.get_file_info(fs.FileSelector(self.at("many")))
        self.assertEqual([self.at(f"many/{i:04}") for i in range(1100)],
                         sorted(info.path for info in seen))
        self.fs.delete_dir(self.at("many"))

    def test_buckets(self):
        self.fs.create_dir("pyarrow-made")
        self.assertEqual(fs.FileType.Directory, self.fs.get_file_info("pyarrow-made").type)
        ask("DELETE", "/storage/v1/b/pyarrow-made")  # it does not delete buckets that are empty
        self.assertEqual(fs.FileType.NotFound, self.fs.get_file_info("pyarrow-made").type)


if __name__ == "__main__":
    unittest.main()
