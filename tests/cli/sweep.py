#!/usr/bin/env python3
"""The command `dataflux sweep` against the emulator's program.

    sweep.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import json
import sys

sys.dont_write_bytecode = True
from command_case import BUCKET, Case, main  # noqa: E402

PREFIX = "dataflux-composed-objects/"
BOUNDARY = "b0undary"


def label(expires="2026-11-21T13:00:00Z"):
    return {"dataflux-creator": "dataflux/0.1.0", "dataflux-created": "2026-11-21T12:00:00Z",
            "dataflux-expires": expires}


class Sweep(Case):
    def put_labelled(self, name, metadata, content=b"12345"):
        """An object as a killed job leaves it."""
        parts = (f"--{BOUNDARY}\r\nContent-Type: application/json\r\n\r\n"
                 + json.dumps({"name": name, "metadata": metadata})
                 + f"\r\n--{BOUNDARY}\r\nContent-Type: text/plain\r\n\r\n").encode()
        self.emulator.ask("POST", f"/upload/storage/v1/b/{BUCKET}/o?uploadType=multipart",
                          parts + content + f"\r\n--{BOUNDARY}--\r\n".encode(),
                          **{"Content-Type": f"multipart/related; boundary={BOUNDARY}"})

    def setUp(self):
        super().setUp()
        self.over, self.young, self.strange = (PREFIX + d * 32 for d in "a1f")
        self.put_labelled(self.over, label(expires="2026-11-21T12:00:00Z"))
        self.put_labelled(self.young, label())
        self.put_labelled(self.strange, {"dataflux-creator": "somebody"})
        self.put({PREFIX + "readme": b"x", "data": b"x"})
        self.addCleanup(self.run_it, "rm", "-r", f"gs://{BUCKET}")

    def left(self):
        return self.ok("ls", "-r", f"gs://{BUCKET}").decode().split()

    def swept(self, *arguments):
        lines = self.ok("sweep", f"gs://{BUCKET}", *arguments).decode().splitlines()
        said = {}
        for line in lines[:-1]:
            time, url, verdict = line.split(maxsplit=2)
            self.assertRegex(time, r"^20\d\d-.*Z$")
            said[url.removeprefix(f"gs://{BUCKET}/")] = verdict
        return said, lines[-1]

    def test_what_has_had_its_time_goes(self):
        before = self.left()
        kept = {self.young: "kept, may be in use", self.strange: "kept, no leftover of ours",
                PREFIX + "readme": "kept, no leftover of ours"}
        said, total = self.swept("--dry-run")
        self.assertEqual({self.over: "would be removed", **kept}, said)
        self.assertEqual("total: 1 to be removed, 5 bytes; 3 kept", total)
        self.assertEqual(before, self.left())

        said, total = self.swept()
        self.assertEqual({self.over: "removed", **kept}, said)
        self.assertEqual("total: 1 removed, 5 bytes; 3 kept", total)
        self.assertEqual([url for url in before if url != self.url(self.over)], self.left())
        self.assertEqual("total: 0 removed, 0 bytes; 3 kept", self.swept()[1])

    def test_by_age(self):
        self.assertEqual("total: 0 removed, 0 bytes; 4 kept", self.swept("--older-than", "1h")[1])
        self.assertEqual("total: 2 removed, 10 bytes; 2 kept", self.swept("--older-than=0s")[1])
        self.assertEqual([self.url("data"), self.url(self.strange), self.url(PREFIX + "readme")],
                         self.left())

    def test_the_clock_is_the_services(self):
        # Created "now" by the emulator's clock; the label's own times are years away from it.
        self.put_labelled(PREFIX + "2" * 32, {**label("1999-01-01T00:00:01Z"),
                                              "dataflux-created": "1999-01-01T00:00:00Z"})
        self.put_labelled(PREFIX + "3" * 32, {**label("2199-01-01T01:00:00Z"),
                                              "dataflux-created": "2199-01-01T01:00:00Z"})
        said, _ = self.swept("--older-than", "1h")
        self.assertEqual("kept, may be in use", said[PREFIX + "2" * 32])
        said, _ = self.swept()
        self.assertEqual("removed", said[PREFIX + "3" * 32])

    def test_an_empty_bucket(self):
        self.ok("rm", "-r", f"gs://{BUCKET}")
        self.assertEqual(({}, "total: 0 removed, 0 bytes; 0 kept"), self.swept())

    def test_what_cannot_be_removed_is_told(self):
        self.inflict("refuse", verb="objects.delete", count=0, status=403)
        [line] = self.fails(4, "sweep", f"gs://{BUCKET}", saying=self.over)
        self.assertIn(self.url(self.over), self.left())
        self.assertIn("dataflux: ", line)

    def test_command_lines_that_make_no_sense(self):
        self.fails(2, "sweep", self.url("data"), saying="a whole bucket")
        self.fails(2, "sweep", "here", saying="gs://")
        self.fails(2, "sweep", f"gs://{BUCKET}", "--older-than", "soon", saying="30m, 12h or 7d")
        self.fails(3, "sweep", "gs://missing", saying="missing")


if __name__ == "__main__":
    main(__doc__)
