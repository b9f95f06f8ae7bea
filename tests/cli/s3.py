#!/usr/bin/env python3
"""The command `dataflux` on S3, and between both services, against the emulator's program.

    s3.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import json
import re
import sys

sys.dont_write_bytecode = True
from command_case import BUCKET, MIB, Case, main, noise, options  # noqa: E402
from service import Emulator, OnS3, environment  # noqa: E402


class S3(Case):
    @classmethod
    def setUpClass(cls):
        cls.emulator = Emulator(options.emulator, BUCKET)
        cls.s3 = OnS3(options.emulator, BUCKET, "other")
        cls.environment = environment(STORAGE_EMULATOR_HOST=cls.emulator.endpoint, **cls.s3.variables)

    @classmethod
    def tearDownClass(cls):
        cls.s3.close()
        cls.emulator.close()

    def setUp(self):
        super().setUp()
        self.addCleanup(self.run_it, "rm", "-r", f"s3://{BUCKET}")
        self.addCleanup(self.run_it, "rm", "-r", f"gs://{BUCKET}")

    @staticmethod
    def s3_url(name=""):
        return f"s3://{BUCKET}/{name}"

    def cp(self, *arguments):
        return self.ok("cp", *arguments)

    def test_up_and_down(self):
        self.write("here/a", b"one")
        self.write("here/b/c", noise(20 * MIB))
        self.cp("-r", "here", self.s3_url())
        self.assertEqual(f"{self.s3_url('here/a')}\n{self.s3_url('here/b/')}\n".encode(),
                         self.ok("ls", self.s3_url("here")))
        self.assertEqual(b"one", self.ok("cat", self.s3_url("here/a")))
        self.assertEqual(b"ne", self.ok("cat", "--range", "1-", self.s3_url("here/a")))
        self.cp("-r", self.s3_url("here"), "there")
        self.assertEqual(self.tree("here"), self.tree("there"))
        self.assertIn(f"{self.s3_url('here/a')}\n".encode(), self.ok("stat", self.s3_url("here/a")))
        self.ok("rm", "-r", self.s3_url("here"))
        self.fails(3, "cat", self.s3_url("here/a"), saying=f"{self.s3_url('here/a')}: ")

    def test_streams(self):
        self.ok("cp", "-", self.s3_url("o"), input=b"from a pipe")
        self.assertEqual(b"from a pipe", self.cp(self.s3_url("o"), "-"))

    def test_a_server_that_ignores_conditions_gets_no_checked_upload(self):
        self.write("a", noise(20 * MIB))
        self.addCleanup(self.s3.faults)
        self.s3.faults({"action": "ignore_conditions", "count": 0})
        self.fails(1, "cp", "a", self.s3_url("a"), saying="If-None-Match")
        self.fails(3, "stat", self.s3_url("a"))

    def test_between_the_services(self):
        self.write("d/a", b"one")
        self.write("d/b/c", noise(20 * MIB, 2))
        self.cp("-r", "d", self.s3_url())
        self.cp("-r", self.s3_url("d"), f"gs://{BUCKET}/e")
        self.assertEqual(["e/a", "e/b/c"], self.emulator.names())
        self.assertEqual(noise(20 * MIB, 2), self.emulator.get("e/b/c"))
        self.cp(f"gs://{BUCKET}/e/b/c", self.s3_url("back/"))
        self.assertEqual(noise(20 * MIB, 2), self.ok("cat", self.s3_url("back/c")))
        shown = self.ok("cp", "-r", "--dry-run", self.s3_url("d"), f"gs://{BUCKET}/f").decode()
        self.assertIn(f"{self.s3_url('d/a')} -> gs://{BUCKET}/f/a", shown)
        self.assertEqual(["e/a", "e/b/c"], self.emulator.names())

    def test_damage_on_the_way_leaves_nothing(self):
        self.emulator.put("damaged", noise(20 * MIB, 3))
        self.inflict("flip_byte", verb="objects.media", offset=5, count=0)
        self.fails(7, "cp", f"gs://{BUCKET}/damaged", self.s3_url("damaged"),
                   saying=f"gs://{BUCKET}/damaged")
        self.fails(3, "stat", self.s3_url("damaged"))

    def test_within_a_service_it_copies(self):
        self.write("a", noise(3 * MIB, 4))
        self.cp("a", self.s3_url("x/a"))
        self.cp(self.s3_url("x/a"), "s3://other/b")
        self.assertEqual(noise(3 * MIB, 4), self.ok("cat", "s3://other/b"))
        self.cp("-r", self.s3_url("x"), "s3://other")
        self.assertEqual(b"s3://other/b\ns3://other/x/a\n", self.ok("ls", "-r", "s3://other"))
        self.emulator.put("y/a", b"1")
        self.ok("cp", "-r", f"gs://{BUCKET}/y/", f"gs://{BUCKET}/z")
        self.assertEqual(["y/a", "z/a"], self.emulator.names())
        self.fails(2, "cp", self.s3_url("x/a"), self.s3_url("x/"), saying="onto itself")
        self.fails(3, "cp", self.s3_url("none"), self.s3_url("b"), saying=self.s3_url("none"))

    def test_names_with_line_breaks(self):
        for name in ("d/0", "d/nl\nx", "d/1", "d/cr\rx"):
            self.ok("cp", "-", self.s3_url(name), input=name.encode())
        self.assertEqual(b"d/nl\nx", self.ok("cat", self.s3_url("d/nl\nx")))
        self.ok("cp", "-r", self.s3_url("d"), "here")
        self.assertEqual({"0", "1", "nl\nx", "cr\rx"}, set(self.tree("here")))
        self.fails(5, "cp", "-r", self.s3_url("d"), f"gs://{BUCKET}/d", saying="CR or LF")
        self.assertEqual(["d/0", "d/1"], self.emulator.names())
        for words in (["stat", f"gs://{BUCKET}/a\nb"], ["cp", "-", f"gs://{BUCKET}/a\rb"]):
            self.fails(2, *words, saying="CR or LF", input=b"x")
        self.ok("rm", self.s3_url("d/cr\rx"))
        self.ok("rm", "-r", self.s3_url("d"))
        self.assertEqual(b"", self.ok("ls", self.s3_url()))

    def test_two_services_are_kept_alike(self):
        for name, content in (("a", b"1"), ("d/b", b"22"), ("c.txt", b"3")):
            self.write(f"src/{name}", content)
        self.cp("-r", "src/", f"gs://{BUCKET}/s")
        self.cp("src/a", self.s3_url("t/extra"))
        self.cp("src/a", self.s3_url("t/keep.txt"))
        told = self.ok("sync", "--delete", "--dry-run", "--exclude", "*.txt", f"gs://{BUCKET}/s", self.s3_url("t"))
        self.assertIn(b"total: 2 objects, 3 bytes to copy; 1 to remove", told)
        self.assertEqual("2 objects copied, 3 bytes; 1 object removed, 1 byte",
                         self.tells("sync", "--delete", "--exclude", "*.txt", f"gs://{BUCKET}/s", self.s3_url("t")))
        self.assertEqual([self.s3_url(f"t/{name}") for name in ("a", "d/b", "keep.txt")],
                         self.ok("ls", "-r", self.s3_url("t")).decode().split())
        self.ok("mv", "-r", self.s3_url("t/"), f"gs://{BUCKET}/moved")
        self.assertEqual(b"22", self.emulator.get("moved/d/b"))
        self.assertEqual(b"", self.ok("ls", "-r", self.s3_url()))

    def test_metadata_between_the_services(self):
        for name, metadata in (("good", {"Split": "train"}), ("odd", {"Größe": "1"}), ("twice", {"a": "1", "A": "2"})):
            self.emulator.put(name, b"x")
            self.emulator.ask("PATCH", f"/storage/v1/b/{BUCKET}/o/{name}", json.dumps({"metadata": metadata}).encode(),
                              **{"Content-Type": "application/json"})
        self.cp(f"gs://{BUCKET}/good", self.s3_url("good"))
        self.assertIn("metadata split       train", self.ok("stat", self.s3_url("good")).decode())
        for name, key in (("odd", "gr\\xc3\\xb6\\xc3\\x9fe"), ("twice", "'a'")):
            self.fails(1, "cp", f"gs://{BUCKET}/{name}", self.s3_url(name),
                       saying=[key, self.s3_url(name), "change it at the source"])

    def test_columns_that_a_listing_has(self):
        self.ok("cp", "-", self.s3_url("d/a"), input=b"x")
        for column in ("md5", "content-type", "metadata"):
            self.fails(2, "manifest", "create", self.s3_url("d"), "m", "--columns", column,
                       saying=[f"--columns {column}", "s3://", "storage-class"])
        self.ok("manifest", "create", self.s3_url("d"), "m", "--columns", "created,updated,storage-class")
        [row] = self.ok("manifest", "show", "--json", "m").splitlines()
        row = json.loads(row)
        self.assertEqual(("d/a", "STANDARD"), (row["name"], row["storage_class"]))
        self.assertIn("created", row)
        self.assertIn("updated", row)
        self.assertEqual("STANDARD", json.loads(self.ok("ls", "--json", self.s3_url("d/a")))["storage_class"])
        self.assertNotIn(b"metageneration", self.ok("stat", self.s3_url("d/a")))

    def test_options_and_advice_are_its_own(self):
        self.fails(2, "--user-project", "p", "ls", self.s3_url(), saying="it is --requester-pays")
        self.fails(2, "--provider", "aws", "ls", self.s3_url(), saying="--provider is of ais://")
        self.fails(2, "--region", "r", "ls", f"gs://{BUCKET}", saying="--region is of s3://")
        self.fails(8, "--endpoint", "http://127.0.0.1:1", "ls", self.s3_url(), saying="AWS_ENDPOINT_URL_S3")
        self.addCleanup(self.s3.faults)
        self.s3.faults({"action": "send", "status": 403, "count": 0, "contentType": "application/xml",
                        "body": "<Error><Code>AccessDenied</Code><Message>no</Message></Error>"})
        self.fails(4, "ls", self.s3_url(), saying="--requester-pays")

    def test_removals_of_a_server_that_ignores_conditions(self):
        self.ok("cp", "-", self.s3_url("a"), input=b"x")
        self.addCleanup(self.s3.faults)
        self.s3.faults({"action": "ignore_conditions", "count": 0, "verb": "objects.delete"})
        said = self.fails(1, "rm", self.s3_url("a"), saying="as delete(url) does in Python")
        self.assertNotIn("save", said[0])

    def test_no_secret_is_told(self):
        """Whatever goes wrong, and though the service repeats them and the log says all."""
        token = "SECRET-session/token+4711=="
        secrets = [token, self.s3.variables["AWS_SECRET_ACCESS_KEY"]]
        talkative = {**self.environment, "AWS_SESSION_TOKEN": token, "DATAFLUX_LOG": "debug"}
        self.write("a", noise(1000))
        self.addCleanup(self.s3.faults)
        said = b""
        for message in (f"not {token}", f"GET /o?X-Amz-Security-Token={token}&amp;X-Amz-Signature=0a1b2c"):
            body = f"<Error><Code>InvalidToken</Code><Message>{message}</Message></Error>"
            self.s3.faults({"action": "send", "status": 403, "body": body, "count": 0,
                            "contentType": "application/xml"})
            for words in (["ls", self.s3_url()], ["cp", "a", self.s3_url("a")], ["rm", self.s3_url("a")],
                          ["cat", self.s3_url("a")], ["stat", self.s3_url("a")]):
                ran = self.run_it(*words, env=talkative)
                self.assertNotEqual(0, ran.returncode, words)
                said += ran.stderr + ran.stdout
        self.assertIn(b"renew them", said)
        for secret in (*secrets, "0a1b2c"):
            self.assertNotIn(secret.encode(), said)

    def test_what_is_refused(self):
        self.fails(2, "rm", self.s3_url("a"), f"gs://{BUCKET}/a", saying="only `cp` is of two services")
        self.fails(3, "sync", "--delete", self.s3_url("a"), f"gs://{BUCKET}/a", saying="nothing is below it")
        self.fails(2, "--endpoint", "http://127.0.0.1:9", "cp", self.s3_url("a"), f"gs://{BUCKET}/a",
                   saying="AWS_ENDPOINT_URL_S3")
        self.fails(2, "stat", "s4://bucket/x", saying="gs://bucket/name (s3://, ais://)")

    def test_a_url_written_together_with_its_option(self):
        self.write("d/a.txt", b"1")
        for number, output in enumerate(("--output=", "-o")):
            url = self.s3_url(f"{number}.tar")
            self.ok("shards", "create", "d", output + url)
            self.assertIn(url.encode(), self.ok("ls", url))
        self.assertEqual([], self.emulator.names())
        self.fails(2, "shards", "index", self.s3_url(), "idx", f"--board=gs://{BUCKET}/p",
                   saying="only `cp` is of two services")

    def test_a_file_about_a_bucket_of_s3(self):
        self.write("a", b"1")
        self.cp("a", self.s3_url("d/a"))
        self.ok("manifest", "create", self.s3_url("d"), "m")
        self.cp("a", self.s3_url("d/b"))
        self.assertIn(b"1 added", self.ok("manifest", "refresh", "m"))
        self.assertIn(self.s3_url("d/").encode(), self.ok("manifest", "show", "m"))
        self.assertIn(self.s3_url("d/b").encode(), self.ok("manifest", "show", "-l", "m"))
        # Where it lies in a bucket of the other service, nothing is asked for.
        self.cp("m", f"gs://{BUCKET}/m")
        self.assertIn(self.s3_url("d/").encode(), self.ok("manifest", "show", f"gs://{BUCKET}/m"))
        self.fails(2, "manifest", "refresh", f"gs://{BUCKET}/m", saying="is of s3://, and this command is of gs://")

    def test_an_index_about_a_bucket_of_s3(self):
        self.write("d/a.txt", b"1")
        self.ok("shards", "create", "d", "--output", self.s3_url("s/0.tar"))
        self.ok("shards", "index", self.s3_url("s"), "idx.dfx")
        self.assertIn(f"s3://{BUCKET}/: 1 shards".encode(), self.ok("shards", "show", "idx.dfx"))
        self.assertIn(self.s3_url("s/0.tar").encode(), self.ok("shards", "ls", "idx.dfx"))
        self.assertEqual(b"1", self.ok("shards", "get", "idx.dfx", "a", "txt"))
        self.ok("shards", "verify", "idx.dfx")
        self.ok("shards", "shuffle", "idx.dfx", "--output", "out.tar")
        self.cp("idx.dfx", f"gs://{BUCKET}/idx")
        for words in (("verify", f"gs://{BUCKET}/idx"), ("get", f"gs://{BUCKET}/idx", "a")):
            self.fails(2, "shards", *words, saying="is of s3://, and this command is of gs://")

    def test_a_list_says_of_which_service_its_sources_are(self):
        self.write("a", b"1")
        self.cp("a", self.s3_url("d/a"))
        self.write("list", f"k.txt {self.s3_url('d/a')}\n".encode())
        self.ok("shards", "create", "--list", "list", "-o", "out.tar")
        self.assertIn(b"k", self.ok("shards", "ls", "--samples", "out.tar"))

    def test_a_generation_comes_back_over_its_name(self):
        self.emulator.put("y/a", b"1")
        shown = self.ok("stat", f"gs://{BUCKET}/y/a").decode()
        generation = re.search(r"generation:? +(\d+)", shown).group(1)
        self.ok("cp", f"gs://{BUCKET}/y/a#{generation}", f"gs://{BUCKET}/y/a")
        self.assertNotIn(generation, self.ok("stat", f"gs://{BUCKET}/y/a").decode())

    def test_manifests(self):
        self.write("a", b"1")
        self.cp("a", self.s3_url("d/a"))
        self.ok("manifest", "create", self.s3_url("d"), "m")
        self.assertIn(b"objects", self.ok("manifest", "show", "m"))
        self.ok("manifest", "create", self.s3_url("d"), self.s3_url("m"))
        self.assertIn(self.s3_url("d/").encode(), self.ok("manifest", "show", self.s3_url("m")))


if __name__ == "__main__":
    main(__doc__)
