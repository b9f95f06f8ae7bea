"""rclone: Debian's, by AWS's client for Go, on the emulator's S3."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from s3_court import AUTHORITY, ENDPOINT, MIB, make_bucket, noise, open_uploads

REMOTE = {"RCLONE_CONFIG_TO_TYPE": "s3", "RCLONE_CONFIG_TO_PROVIDER": "Other", "RCLONE_CONFIG_TO_ENDPOINT": ENDPOINT,
          "RCLONE_CONFIG_TO_ENV_AUTH": "true", "RCLONE_CONFIG_TO_REGION": os.environ["AWS_REGION"],
          "RCLONE_CONFIG": os.devnull}


def rclone(*arguments, more=()):
    trusted = ["--ca-cert", AUTHORITY] if AUTHORITY else []
    # Its transport cannot take the authority from AWS's variable.
    around = {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"}
    done = subprocess.run(["rclone", *map(str, arguments), "--retries", "1", *trusted, *more],
                          env={**around, **REMOTE}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode(errors="replace"))
    return done.stdout


class Rclone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bucket = make_bucket("rclone")
        cls.folder = tempfile.TemporaryDirectory()
        cls.files = {"a": noise(10, 1), "d/b \u00e4+": noise(MIB, 2), "d/e/large": noise(23 * MIB, 3), "d/empty": b""}
        for name, content in cls.files.items():
            path = pathlib.Path(cls.folder.name) / "from" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def at(self, name):
        return f"to:{self.bucket}/{name}"

    def test_folder_there_and_back(self):
        source, back = (pathlib.Path(self.folder.name) / name for name in ("from", "back"))
        parts = ["--s3-upload-cutoff", "10M", "--s3-chunk-size", "5M"]
        rclone("copy", source, self.at("up"), more=parts)
        self.assertEqual(0, open_uploads())
        rclone("check", source, self.at("up"))  # by MD5
        rclone("copy", self.at("up"), back)
        for name, content in self.files.items():
            self.assertEqual(content, (back / name).read_bytes())
        listed = json.loads(rclone("lsjson", "-R", "--files-only", "--hash", self.at("up")))
        self.assertEqual({name: len(content) for name, content in self.files.items()},
                         {entry["Path"]: entry["Size"] for entry in listed})
        # Times are kept in metadata, so nothing is to be done again.
        again = rclone("sync", "--use-json-log", "--stats", "0", "--dry-run", source, self.at("up"), more=parts)
        self.assertEqual(b"", again)

    def test_parts_of_an_object(self):
        content = noise(10_000)
        path = pathlib.Path(self.folder.name) / "ranges"
        path.write_bytes(content)
        rclone("copyto", path, self.at("ranges"))
        self.assertEqual(content[100:150], rclone("cat", "--offset", "100", "--count", "50", self.at("ranges")))
        self.assertEqual(content[-7:], rclone("cat", "--tail", "7", self.at("ranges")))

    def test_copies_by_the_server(self):
        content = noise(12 * MIB, 4)
        path = pathlib.Path(self.folder.name) / "large"
        path.write_bytes(content)
        rclone("copyto", path, self.at("from"))
        rclone("copyto", self.at("from"), self.at("copy"))
        rclone("copyto", self.at("from"), self.at("in parts"), more=["--s3-copy-cutoff", "5M"])
        rclone("moveto", self.at("copy"), self.at("moved \u00e4"))
        for name in ("moved \u00e4", "in parts"):
            self.assertEqual(content, rclone("cat", self.at(name)))
        self.assertNotIn("copy\n", rclone("lsf", self.at("")).decode())

    def test_many_are_listed_and_deleted(self):
        source = pathlib.Path(self.folder.name) / "many"
        source.mkdir()
        for number in range(1100):
            (source / f"{number:04}").write_bytes(b"x")
        rclone("copy", source, self.at("many"), more=["--transfers", "32"])
        self.assertEqual(1100, len(rclone("lsf", self.at("many")).splitlines()))
        self.assertEqual(b"1100", rclone("size", "--json", self.at("many")).split(b'"count":')[1].split(b",")[0])
        rclone("purge", self.at("many"))
        self.assertEqual(b"", rclone("lsf", "-R", self.at("many")))


if __name__ == "__main__":
    unittest.main()
