#!/usr/bin/env python3
"""The command `dataflux` on AIStore, against the emulator's program.

    ais.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import io
import subprocess
import sys
import tarfile
import urllib.request

sys.dont_write_bytecode = True
from command_case import BUCKET, Case, main, noise, options, without_notices  # noqa: E402
from service import environment  # noqa: E402

ADDRESS = "AIS_ENDPOINT"


class Ais(Case):
    @classmethod
    def setUpClass(cls):
        cls.process = subprocess.Popen([options.emulator, "--service", "ais", "--bucket", BUCKET],
                                       stdout=subprocess.PIPE, text=True)
        cls.endpoint = ""
        while not cls.endpoint:
            name, _, value = cls.process.stdout.readline().strip().partition("=")
            cls.endpoint = value if name == ADDRESS else ""
        cls.environment = environment(**{ADDRESS: cls.endpoint})

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        cls.process.wait(10)
        cls.process.stdout.close()

    def setUp(self):
        super().setUp()
        self.addCleanup(self.run_it, "rm", "-r", self.url())

    @staticmethod
    def url(name=""):
        return f"ais://{BUCKET}/{name}"

    def store(self, name, content):
        """As the gateway sends it to the target."""
        request = urllib.request.Request(f"{self.endpoint}/v1/objects/{BUCKET}/{name}?provider=ais&pid=p", content,
                                         method="PUT")
        urllib.request.urlopen(request, timeout=30).close()

    def test_objects_are_listed_read_copied_and_removed(self):
        bodies = {f"here/{i}": noise(1000 + i) for i in range(30)}
        for name, body in bodies.items():
            self.store(name, body)
        self.store("other/x", b"one")
        self.assertEqual(f"{self.url('here/')}\n{self.url('other/')}\n".encode(), self.ok("ls", self.url()))
        self.assertEqual(b"one", self.ok("cat", self.url("other/x")))
        self.assertEqual(b"ne", self.ok("cat", "--range", "1-", self.url("other/x")))
        self.assertIn(f"{self.url('other/x')}\n".encode(), self.ok("stat", self.url("other/x")))
        self.ok("cp", "-r", self.url("here"), "there")
        self.assertEqual(sorted(bodies), sorted(f"here/{name}" for name in self.tree("there")))
        self.ok("rm", "-r", self.url("here"))
        self.assertEqual(f"{self.url('other/')}\n".encode(), self.ok("ls", self.url()))
        self.ok("rm", self.url("other/x"))
        self.fails(3, "cat", self.url("other/x"), saying=f"{self.url('other/x')}: ")

    def test_members_of_archives_are_read(self):
        memory = io.BytesIO()
        with tarfile.open(fileobj=memory, mode="w") as archive:
            for name, body in (("dir/a.jpg", b"first"), ("b", noise(3_000_000))):
                member = tarfile.TarInfo(name)
                member.size = len(body)
                archive.addfile(member, io.BytesIO(body))
        self.store("x.tar", memory.getvalue())
        self.assertEqual(b"first", self.ok("cat", self.url("x.tar"), "--member", "dir/a.jpg"))
        self.assertEqual(noise(3_000_000), self.ok("cat", self.url("x.tar"), "--member", "b"))
        self.fails(3, "cat", self.url("x.tar"), "--member", "c", saying="member c: ")
        self.fails(2, "cat", self.url("x.tar"), "--member", "b", "--range", "0-1", saying="--range")
        self.fails(2, "cat", self.url("x.tar"), "--member", "b", "--checked", saying="--checked")

    def test_uploads_go_elsewhere(self):
        self.write("d/a", b"one")
        self.write("d/b", b"two")
        for words in (["d/a", self.url("a")], ["-r", "d", self.url()], ["-", self.url("a")],
                      ["s3://bucket/x", self.url()], [self.url("a"), self.url("b")]):
            [said] = self.fails(2, "cp", *words, saying=[self.url(), "dataflux.put(url, data)"])
            self.assertNotIn("gs://", said)
        self.assertEqual(b"", self.ok("ls", self.url()))

    def test_what_was_compared_is_not_told_otherwise(self):
        self.store("d/empty", b"")
        self.store("d/small", b"one")
        self.ok("cp", "-r", self.url("d"), "d")
        self.ok("cp", self.url("d/small"), "small")
        self.store("large", noise(9_000_000))
        done = self.run_it("cp", self.url("large"), "large")
        self.assertEqual((0, b"dataflux: large: compared with nothing, since the service has no CRC32C of it\n"),
                         (done.returncode, without_notices(done.stderr)))

    def test_cat_compares_before_it_writes(self):
        self.store("empty", b"")
        self.store("small", b"one")
        self.store("large", noise(9_000_000))
        self.assertEqual(b"one", self.ok("cat", "--checked", self.url("empty"), self.url("small")))
        self.fails(1, "cat", "--checked", self.url("large"), saying=["no CRC32C", "8388608 bytes"])

    def test_another_provider_has_other_buckets(self):
        self.fails(2, "--provider", "ftp", "ls", self.url(), saying="provider")

    def test_options_and_advice_are_its_own(self):
        self.fails(2, "--user-project", "p", "ls", self.url(), saying="--user-project is of gs://")
        self.fails(2, "--region", "r", "ls", self.url(), saying="--region is of s3://")
        self.fails(8, "--endpoint", "http://127.0.0.1:1", "ls", self.url(), saying="AIS_ENDPOINT")


if __name__ == "__main__":
    main(__doc__)
