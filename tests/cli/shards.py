#!/usr/bin/env python3
"""`dataflux shards`, run as a person runs it, against the emulator's program.

    shards.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import io
import json
import sys
import tarfile

sys.dont_write_bytecode = True
from command_case import BUCKET, Case, main, options  # noqa: E402
from service import Guarded  # noqa: E402


def tar_of(members, damaged=False):
    """(name, bytes), or (name, None) for a directory."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content or b"")
            info.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            archive.addfile(info, io.BytesIO(content or b""))
    told = bytearray(out.getvalue())
    if damaged:
        told[1024] ^= 1
    return bytes(told)


class Shards(Case):
    FIRST = [("dir", None), ("dir/0.JPG", b"picture"), ("dir/0.cls", b"7"), ("README", b"text"),
             ("1.jpg", b"other"), ("1.cls", b"8")]
    SECOND = [("1.jpg", b"again"), ("2.jpg", b"last")]

    def setUp(self):
        super().setUp()
        self.service = Guarded(options.emulator, BUCKET)
        self.addCleanup(self.service.close)
        self.environment = self.service.environment
        self.service.put("t/a.tar", tar_of(self.FIRST))
        self.service.put("t/b.tar", tar_of(self.SECOND))
        self.service.put("t/notes.txt", b"no shard")

    def lines(self, *arguments):
        return self.ok("shards", *arguments).decode().splitlines()

    def index(self, *more):
        return self.lines("index", self.url("t"), "here.dfx", *more)

    def test_index_show_get(self):
        said = self.index()
        self.assertEqual("2 shards, 4 samples, 6 members, 20480 bytes, 20480 of them read", said[0])
        self.assertEqual(["  2 shards whose samples have checksums", "  1 directories left out",
                          "  1 members without a field left out"], said[1:])
        shown = self.lines("show", "here.dfx")
        self.assertEqual(f"{self.url()}: 2 shards, 4 samples, 20480 bytes", shown[0])
        self.assertEqual(said[1:], shown[1:4])
        self.assertIn("  damaged              error", shown)
        self.assertEqual([f"0 {self.url('t/a.tar')}@512 2048 jpg:7 cls:1",
                          f"1 {self.url('t/a.tar')}@3584 2048 jpg:5 cls:1",
                          f"2 {self.url('t/b.tar')}@0 1024 jpg:5",
                          f"3 {self.url('t/b.tar')}@1024 1024 jpg:4"], self.lines("show", "-l", "here.dfx"))
        self.assertEqual(b"picture", self.ok("shards", "get", "here.dfx", "dir/0", "jpg"))
        self.assertEqual(["7          jpg", "1          cls"], self.lines("get", "here.dfx", "dir/0"))
        self.fails(3, "shards", "get", "here.dfx", "none", saying="no sample has the key 'none'")
        self.fails(3, "shards", "get", "here.dfx", "2", "cls", saying="it has jpg")

    def test_an_index_that_is_an_object(self):
        self.index()
        said = self.lines("index", self.url("t"), self.url("all.dfx"))
        self.assertEqual("2 shards, 4 samples, 6 members, 20480 bytes, 20480 of them read", said[0])
        self.assertEqual(self.lines("show", "-l", "here.dfx"), self.lines("show", "-l", self.url("all.dfx")))
        self.assertEqual(b"picture", self.ok("shards", "get", self.url("all.dfx"), "dir/0", "jpg"))
        self.assertIn("4 samples as they were indexed", self.lines("verify", self.url("all.dfx"))[0])
        self.fails(3, "shards", "show", self.url("none.dfx"), saying="none.dfx")
        self.fails(2, "shards", "verify", "--fill", self.url("all.dfx"), saying="--fill")

    def test_verify(self):
        self.service.put("t/c.tar", tar_of([("3.bin", b"x" * (3 << 20))]))
        self.index()
        self.assertEqual("3 shards, 5 samples as they were indexed, 3174400 bytes read",
                         self.lines("verify", "here.dfx")[0])
        self.assertIn("  1 shards whose samples have got checksums", self.lines("verify", "--fill", "here.dfx"))
        shown = self.lines("show", "here.dfx")
        self.assertIn("  3 shards whose samples have checksums", shown)
        self.assertIn("  skip_from            none", shown)
        self.service.put("t/b.tar", tar_of(self.FIRST))
        self.fails(1, "shards", "verify", "here.dfx", saying="1 of 3 shards are not what the index says; index them again")
        self.assertIn(f"changed {self.url('t/b.tar')}".encode(), self.run_it("shards", "verify", "here.dfx").stdout)

    def test_ls(self):
        self.index()
        self.assertEqual([f"           2 samples            4 members          10240 bytes  {self.url('t/a.tar')}",
                          f"           2 samples            2 members          10240 bytes  {self.url('t/b.tar')}",
                          "  cls                  2 members, 2 bytes",
                          "  jpg                  4 members, 21 bytes"], self.lines("ls", "here.dfx"))
        self.assertEqual(self.lines("show", "-l", "here.dfx"), self.lines("ls", "--samples", "here.dfx"))
        self.assertEqual(f"0 {self.url('t/a.tar')}@1024 7 jpg", self.lines("ls", "--members", "here.dfx")[0])
        (self.folder / "x.tar").write_bytes(tar_of(self.FIRST))
        for tar in (self.url("t/a.tar"), "x.tar"):
            self.assertEqual(["2 samples, 4 members", "  cls                  2 members, 2 bytes",
                              "  jpg                  2 members, 12 bytes",
                              "  2 members in no sample"], self.lines("ls", tar))
            self.assertEqual(["dir/0 jpg:7 cls:1", "1 jpg:5 cls:1"], self.lines("ls", "--samples", tar))
            self.assertEqual("7 dir/0 jpg", self.lines("ls", "--members", tar)[0])
        (self.folder / "y.tar").write_bytes(tar_of(self.SECOND, damaged=True))
        self.fails(7, "shards", "ls", "y.tar", saying=("y.tar: ", "--end-at-damage of `shards index`"))

    def test_parts_and_boards(self):
        self.index()
        self.service.put("t/c.tar", tar_of([("3.txt", b"x")]))
        said = self.lines("index", self.url("t"), "new.dfx", "--part", "here.dfx")
        self.assertEqual("  2 shards not read again", said[1])
        self.lines("index", self.url("t"), "shared.dfx", "--board", self.url("board/7"))
        self.assertEqual(self.lines("ls", "--members", "new.dfx"), self.lines("ls", "--members", "shared.dfx"))

    def test_the_index_of_another_program(self):
        (self.folder / "b.json").write_text('{"path": "b.tar", "filesize": 10240, "files": {"1.jpg": {"offset": 512, '
                                            '"length": 5}, "2.jpg": {"offset": 1536, "length": 4}}}')
        said = self.lines("index", self.url("t"), "here.dfx", "--from", "b.json")
        self.assertIn("  1 shards not read again", said)
        self.assertEqual(b"last", self.ok("shards", "get", "here.dfx", "2", "jpg"))
        (self.folder / "c.json").write_text((self.folder / "b.json").read_text().replace("10240", "10241"))
        self.fails(1, "shards", "index", self.url("t"), "here.dfx", "--from", "c.json", saying="another size")

    def test_an_index_without_its_shard(self):
        self.service.put("t/0.tar.dfx", b"of a killed writer")
        said = self.index()
        self.assertTrue(said[0].startswith("2 shards, 4 samples"), said)
        self.assertIn("  1 indexes NAME.dfx without their shard passed over", said)
        self.assertTrue(self.index("--glob", "t/*.tar*")[0].startswith("2 shards"))
        self.service.put("alone/0.tar.dfx", b"of a killed writer")
        self.fails(3, "shards", "index", self.url("alone"), "x.dfx", saying="no object below it ends with .tar")

    def test_a_list_of_urls_and_an_index_that_is_called_after_its_shard(self):
        (self.folder / "list.json").write_text(
            '{"shardlist": [{"url": "gs://elsewhere/x/t/a.tar", "filesize": 10240}, {"url": "/t/b.tar"}]}')
        self.index("--from", "list.json")
        (self.folder / "b.idx").write_text("v1.2 2\njpg 512 5 1.jpg\njpg 1536 4 2.jpg\n")
        self.assertIn("  1 shards not read again", self.index("--from", "b.idx"))
        (self.folder / "c.json").write_text('{"shardlist": [{"url": "gs://bucket/t/c.tar"}]}')
        self.fails(3, "shards", "index", self.url("t"), "x.dfx", "--from", "c.json",
                   saying=("c.json", "t/c.tar", "no shard of the listing has that name"))

    def test_bytes_that_changed_on_their_way_are_read_again(self):
        self.index()
        flip = {"action": "flip_byte", "verb": "objects.media", "object": "t/a.tar", "offset": 600}
        self.service.ask("POST", "/_emulator/faults", json.dumps({**flip, "count": 1}).encode())
        self.assertEqual(b"picture", self.ok("shards", "get", "here.dfx", "dir/0", "jpg"))
        self.service.ask("POST", "/_emulator/faults", json.dumps({**flip, "count": 0}).encode())
        said = self.fails(7, "shards", "get", "here.dfx", "dir/0", "jpg",
                          saying=(self.url("t/a.tar"), "bytes 512-2559", "twice", "dataflux shards verify"))
        self.assertNotIn("run the command again", said[0])

    def test_a_sample_by_number(self):
        self.index()
        self.assertEqual(["dir/0", "7          jpg", "1          cls"],
                         self.lines("get", "here.dfx", "--sample", "0"))
        self.fails(2, "shards", "get", "here.dfx", saying="KEY")
        self.fails(2, "shards", "get", "here.dfx", "--sample", "4", saying="4 samples")
        self.fails(2, "shards", "get", "here.dfx", "--sample", "x", saying="--sample x")

    def test_a_key_that_comes_again(self):
        self.index()
        self.fails(2, "shards", "get", "here.dfx", "1", "jpg", saying="2 samples have the key '1': 1, 2")
        self.assertEqual(b"other", self.ok("shards", "get", "here.dfx", "1", "jpg", "--sample", "1"))
        self.assertEqual(b"again", self.ok("shards", "get", "here.dfx", "1", "jpg", "--sample", "2"))

    def test_what_is_damaged_or_changed_is_told(self):
        self.index()
        self.service.put("t/b.tar", tar_of(self.SECOND, damaged=True))
        self.fails(3, "shards", "get", "here.dfx", "2", "jpg", saying=self.url("t/b.tar"))
        said = self.fails(7, "shards", "index", self.url("t"), "here.dfx",
                          saying=(self.url("t/b.tar"), "--end-at-damage"))
        self.assertNotIn("run the command again", said[0])
        self.assertIn("  2 shards whose samples have checksums", self.lines("show", "here.dfx"))
        self.assertIn("  1 damaged shards, read to the damage", self.index("--end-at-damage"))

    def test_rules_and_names(self):
        self.service.put("t/c.tar", tar_of([("3.jpg", b"a"), ("3.JPG", b"b")]))
        self.fails(1, "shards", "index", self.url("t"), "here.dfx", saying="--keep-first")
        self.assertIn("  1 members whose field came twice left out", self.index("--keep-first"))
        self.assertTrue(self.index("--keep-case")[0].startswith("3 shards, 5 samples, 8 members"))
        self.assertTrue(self.index("--glob", "t/[ab].tar")[0].startswith("2 shards"))
        self.fails(3, "shards", "index", self.url("none"), "here.dfx", saying="no object below it ends with .tar")
        self.fails(3, "shards", "show", "no.dfx")
        self.service.put("t/c.tar", b"")
        self.fails(7, "shards", "index", self.url("t"), "here.dfx", saying=self.url("t/c.tar"))


if __name__ == "__main__":
    main(__doc__)
