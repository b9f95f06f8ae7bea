#!/usr/bin/env python3
"""`dataflux manifest`, run as a person runs it, against the emulator's program.

    manifests.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import json
import sys

sys.dont_write_bytecode = True
from command_case import BUCKET, Case, main, options  # noqa: E402
from service import Guarded  # noqa: E402


class Manifests(Case):
    OBJECTS = {"m/": b"", "m/a": b"first", "m/d/b": b"second one", "m/z": b"last"}

    def setUp(self):
        super().setUp()
        # Its own service: what one test leaves there, another would list.
        self.service = Guarded(options.emulator, BUCKET)
        self.addCleanup(self.service.close)
        self.environment = self.service.environment
        for name, content in self.OBJECTS.items():
            self.service.put(name, content)

    def lines(self, *arguments):
        return self.ok("manifest", *arguments).decode().splitlines()

    def places(self):
        return ("here.dfl", self.url("saved/manifest"))

    def test_create_show_refresh(self):
        for place in self.places():
            self.assertEqual(["3 objects, 19 bytes", "  1 markers of folders left out"],
                             self.lines("create", self.url("m"), place))
            said = self.lines("show", place)
            self.assertEqual(self.url("m/"), said[0])
            self.assertIn("  objects              3", said)
            self.assertEqual("0 added, 0 removed, 0 changed, 3 unchanged",
                             self.lines("refresh", place)[-1])

    def test_nothing_is_no_manifest(self):
        """As `ls` and `cp -r` have it: what was named is not there."""
        for place in self.places():
            self.fails(3, "manifest", "create", self.url("none"), place, saying=self.url("none/"))
            self.fails(3, "manifest", "create", self.url("m"), place, "--glob", "m/*.jpg", saying="m/*.jpg")
            self.fails(3, "manifest", "show", place)
        self.ok("rm", "-r", self.url())
        self.assertEqual(["0 objects, 0 bytes"], self.lines("create", self.url(), "here.dfl"))

    def test_what_was_left_out_is_told_where_nothing_else_is(self):
        for name in ("folder/", "folder/d/", "dataflux-composed-objects/x", "dataflux-composed-objects/y"):
            self.service.put(name, b"")
        for where, left in (("folder", "2 markers of folders"),
                            ("dataflux-composed-objects", "2 leftovers of composed downloads")):
            said = self.fails(3, "manifest", "create", self.url(where), "here.dfl",
                              saying=f"nothing is below it but {left}, which a manifest leaves out")
            self.assertEqual(1, len(said))
        self.fails(3, "manifest", "create", self.url("folder"), "here.dfl", "--glob", "folder/*/",
                   saying="nothing there has a name like folder/*/ but 1 markers of folders")
        self.assertEqual({}, self.tree())

    def test_show_lists_its_objects(self):
        self.lines("create", self.url("m"), "here.dfl", "--columns", "created,md5")
        shown = self.lines("show", "-l", "here.dfl")
        listed = self.ok("ls", "-l", "-r", self.url("m")).decode().splitlines()
        self.assertEqual(listed[1:4], shown[:3])
        self.assertEqual("total: 3 objects, 19 bytes", shown[-1])
        exact = [json.loads(line) for line in self.lines("show", "--json", "here.dfl")]
        self.assertEqual(["m/a", "m/d/b", "m/z"], [each["name"] for each in exact])

    def test_refresh_tells_what_is_different(self):
        for place in self.places():
            self.lines("create", self.url("m"), place)
            self.service.put("m/new", b"x")
            self.service.put("m/z", b"other")
            self.ok("rm", self.url("m/a"))
            changes = [f"- {self.url('m/a')}", f"+ {self.url('m/new')}", f"~ {self.url('m/z')}"]
            counts = "1 added, 1 removed, 1 changed, 1 unchanged"
            for _ in range(2):
                said = self.lines("refresh", "-l", "--dry-run", place)
                self.assertEqual((changes, counts), (said[:3], said[-1]))
            self.assertEqual(counts, self.lines("refresh", place)[-1])
            self.assertEqual("0 added, 0 removed, 0 changed, 3 unchanged",
                             self.lines("refresh", place)[-1])
            self.ok("rm", self.url("m/new"))
            self.service.put("m/a", b"first")

    def test_glob_and_versions_are_listed_again(self):
        self.lines("create", self.url(), "here.dfl", "--glob", "m/*")
        self.service.put("m/d/unseen", b"")
        self.service.put("m/seen", b"")
        self.assertEqual("1 added, 0 removed, 0 changed, 2 unchanged",
                         self.lines("refresh", "here.dfl")[-1])
        self.service.ask("PATCH", f"/_emulator/buckets/{BUCKET}", b'{"versioning": true}')
        self.lines("create", self.url("m"), "all.dfl", "-a")
        self.service.put("m/a", b"again")
        self.assertEqual("1 added, 0 removed, 0 changed, 5 unchanged",
                         self.lines("refresh", "all.dfl")[-1])

    def test_a_manifest_among_what_it_lists_is_said(self):
        done = self.run_it("manifest", "create", self.url(), self.url("inside"))
        self.assertEqual(0, done.returncode)
        self.assertIn(b"lies in what it lists", done.stderr)

    def test_what_is_wrong_is_named(self):
        for arguments in (("create", "path", "here"), ("create", self.url(), "-"),
                          ("create", self.url(), self.url()), ("show", "s3://b/x"),
                          ("create", self.url(), "here", "--columns", "sha")):
            self.assertEqual(1, len(self.fails(2, "manifest", *arguments)), arguments)
        for arguments in ((), ("create", self.url()), ("show",)):
            self.assertEqual(2, self.run_it("manifest", *arguments).returncode, arguments)
        self.fails(3, "manifest", "show", "missing", saying="missing")
        self.fails(3, "manifest", "show", self.url("missing"), saying="missing")
        self.fails(3, "manifest", "create", "gs://no-such-bucket", "here", saying="no-such-bucket")
        self.fails(3, "manifest", "create", self.url(), "no/such/folder", saying="no/such/folder")
        self.assertEqual({}, self.tree())

    def test_a_damaged_manifest(self):
        self.lines("create", self.url("m"), "here.dfl")
        path = self.folder / "here.dfl"
        whole = path.read_bytes()
        path.write_bytes(whole[:64] + b"\x7f" + whole[65:])
        self.fails(7, "manifest", "refresh", "here.dfl", saying="here.dfl")
        self.fails(7, "manifest", "show", "-l", "here.dfl", saying="here.dfl")
        path.write_bytes(whole[:-1])
        self.fails(7, "manifest", "show", "here.dfl", saying="here.dfl")
        path.write_bytes(b"names\n" * 100)
        self.assertIn("not a manifest", " ".join(self.fails(2, "manifest", "show", "here.dfl")))

    def test_a_listing_that_fails_leaves_the_manifest(self):
        self.lines("create", self.url("m"), "here.dfl")
        before = self.tree()
        self.service.ask("POST", "/_emulator/faults",
                         json.dumps({"action": "refuse", "status": 403}).encode())
        self.fails(4, "manifest", "refresh", "here.dfl")
        self.assertEqual(before, self.tree())


if __name__ == "__main__":
    main(__doc__)
