#!/usr/bin/env python3
"""The command `dataflux` against a service that fails as the emulator's fault script says.

    faults.py --dataflux PROGRAM --emulator PROGRAM [TEST...]

After whatever happened: no partial file, nothing temporary, no open upload.
"""

import signal
import sys

sys.dont_write_bytecode = True
from command_case import MIB, Case, SideBySide, main, noise, without_notices  # noqa: E402
from service import SlowRoad, wait_until  # noqa: E402

# Faults that a second request mends, of replies that carry an object's bytes.
BROKEN_READS = {
    "truncated": {"action": "cut", "where": "in_body", "bodyBytes": 5000, "reset": False},
    "reset in the body": {"action": "cut", "where": "in_body", "bodyBytes": 5000},
    "reset in the head": {"action": "cut", "where": "in_head"},
    "reset before the reply": {"action": "cut"},
    "503": {"action": "refuse", "status": 503},
    "429": {"action": "refuse", "status": 429},
    "a proxy's page": {"action": "send", "status": 502, "body": "<html>Bad Gateway</html>",
                       "contentType": "text/html"},
}
BROKEN_WRITES = {
    "reply lost": {"action": "lose_reply"},
    "503": {"action": "refuse", "status": 503},
    "500": {"action": "refuse", "status": 500},
    "408": {"action": "refuse", "status": 408},
    "reset before the body": {"action": "cut", "requestBytes": 0},
    "reset in the body": {"action": "cut", "requestBytes": 3000},
    "reset before the reply": {"action": "cut"},
}


class Downloads(Case):
    def test_what_a_second_request_mends(self):
        content = {"small": noise(16384), "large": noise(20 * MIB)}
        self.put(content)
        for name, expected in content.items():
            for what, rule in BROKEN_READS.items():
                with self.subTest(name=name, what=what):
                    before = self.hits()
                    self.inflict(**rule, verb="objects.media", object=name)
                    self.ok("cp", self.url(name), "x")
                    self.assertEqual({"x": expected}, self.tree())
                    self.assertEqual(before + 1, self.hits())

    def test_a_tree_from_a_bad_service(self):
        files = {f"set/{i:03}": noise(2000 + i, i) for i in range(200)}
        self.put(files)
        for seed, rule in enumerate(BROKEN_READS.values()):
            self.inflict(**rule, verb="objects.media", count=0, probability=0.05, seed=seed + 1)
        self.ok("cp", "-r", self.url("set/"), "t")
        self.assertEqual({k.removeprefix("set/"): v for k, v in files.items()}, self.tree("t"))

    def test_wrong_bytes_are_never_kept(self):
        self.put({"small": noise(16384), "large": noise(20 * MIB)})
        self.inflict("flip_byte", verb="objects.media", count=0, offset=100)
        for name in ("small", "large"):
            said = self.fails(7, "cp", self.url(name), "x", saying=(name, "run the command again"))
            self.assertEqual(1, len(said), said)
            self.assertEqual({}, self.tree())
        self.write("x", b"older")
        self.fails(7, "cp", self.url("small"), "x")
        self.assertEqual({"x": b"older"}, self.tree())

    def test_bytes_that_went_out_are_told(self):
        """Of what fails late, by whatever way it went: nobody can take them back."""
        content = noise(40 * MIB)
        self.put({"large": content})
        failures = (("flip_byte", {"offset": 100}, 7), ("refuse", {"status": 403, "from": 4}, 4))
        for command in (("cat", self.url("large")), ("cat", f"--range=5-{39 * MIB}", self.url("large")),
                        ("cp", self.url("large"), "-"), ("cp", self.url("large"), "/dev/fd/1")):
            for action, rule, status in failures:
                if action == "flip_byte" and "--range" in command[1]:
                    continue  # a range has no checksum
                with self.subTest(command=command, action=action):
                    self.inflict(action, verb="objects.media", count=0, **rule)
                    done = self.run_it(*command)
                    self.emulator.ask("DELETE", "/_emulator/faults")
                    self.assertEqual(status, done.returncode, done.stderr)
                    self.assertGreater(len(done.stdout), 0)
                    self.assertIn(f"; {len(done.stdout)} bytes of it were written before: "
                                  "do not use them\n", done.stderr.decode())
                    self.assertNotIn(b"nothing was kept", done.stderr)

    def test_bytes_that_went_out_before_an_interrupt_are_told(self):
        self.put({"large": noise(40 * MIB)})
        for command in (("cat", self.url("large")), ("cp", self.url("large"), "-")):
            with self.subTest(command=command):
                hits = self.hits()
                self.inflict("delay", ms=60_000, verb="objects.media", count=0, **{"from": 4})
                program = self.start(*command, env=self.environment)
                got = program.stdout.read(MIB)
                self.assertTrue(wait_until(lambda: self.hits() > hits))
                program.send_signal(signal.SIGINT)
                more, said = program.communicate(timeout=60)
                self.emulator.ask("DELETE", "/_emulator/faults")
                self.assertEqual(130, program.returncode, said)
                self.assertIn(f"; {len(got + more)} bytes of it were written before: "
                              "do not use them\n", said.decode())

    def test_one_bad_object_among_good_ones(self):
        self.put({f"some/{i}": noise(1000, i) for i in range(5)})
        self.inflict("flip_byte", verb="objects.media", object="some/3", count=0)
        said = self.fails(5, "cp", "-r", self.url("some/"), "t", saying="some/3")
        self.assertEqual(1, len(said), said)
        self.assertEqual({str(i): noise(1000, i) for i in (0, 1, 2, 4)}, self.tree("t"))

    def test_a_listing_that_breaks_off(self):
        many = {f"page/{i:04}": b"" for i in range(1500)}
        self.put(many)
        self.inflict("refuse", verb="objects.list", status=403, count=0, **{"from": 2})
        self.fails(4, "ls", self.url("page"), saying="403")
        self.emulator.ask("DELETE", "/_emulator/faults")
        self.inflict("refuse", verb="objects.list", status=403, count=0, **{"from": 2})
        self.fails(5, "cp", "-r", self.url("page/"), "t", saying="403")


class Uploads(Case):
    def tearDown(self):
        self.nothing_open()

    def test_what_a_second_request_mends(self):
        self.write("small", noise(16384))
        for what, rule in BROKEN_WRITES.items():
            with self.subTest(what=what):
                before = self.hits()
                self.inflict(**rule, verb="objects.insert")
                self.ok("cp", "small", self.url(f"up/{what}"))
                self.assertEqual(noise(16384), self.emulator.get(f"up/{what}"))
                self.assertEqual(before + 1, self.hits())

    def test_every_step_of_a_large_file(self):
        content = noise(40 * MIB)
        self.write("large", content)
        for verb in ("multipart.initiate", "multipart.part", "multipart.complete"):
            for what, rule in BROKEN_WRITES.items():
                if "body" in what and verb != "multipart.part":
                    continue
                for way in ("file", "stream"):
                    with self.subTest(verb=verb, what=what, way=way):
                        before = self.hits()
                        self.inflict(**rule, verb=verb, part=2 if verb == "multipart.part" else 0)
                        if way == "file":
                            self.ok("cp", "large", self.url("large"))
                        else:
                            self.ok("cp", "-", self.url("large"), input=content)
                        self.assertEqual(before + 1, self.hits())
                        self.assertEqual(content, self.emulator.get("large"))
                        self.nothing_open()
                        self.emulator.ask("DELETE", "/storage/v1/b/bucket/o/large")

    def test_a_refused_begin_where_uploads_are_not_listed(self):
        content = noise(20 * MIB)
        self.write("large", content)
        self.inflict("refuse", verb="multipart.list", status=404, count=0)
        for what in ("503", "500", "408", "reset before the reply"):
            with self.subTest(what=what):
                self.inflict(**BROKEN_WRITES[what], verb="multipart.initiate")
                done = self.run_it("cp", "large", self.url(f"begun/{what}"))
                self.assertEqual(0, done.returncode, done.stderr)
                self.assertIn(b"an upload may have begun and be left open", done.stderr)
                self.assertEqual(content, self.emulator.get(f"begun/{what}"))
                self.nothing_open()

    def test_a_part_that_never_arrives(self):
        self.write("large", noise(40 * MIB))
        self.inflict("refuse", verb="multipart.part", part=2, status=403, count=0)
        self.fails(4, "cp", "large", self.url("part/never"), saying="part/never")
        self.assertIsNone(self.emulator.get("part/never"))

    def test_wrong_checksums_in_replies(self):
        self.write("small", noise(16384))
        self.write("large", noise(20 * MIB))
        for verb, name in (("objects.insert", "small"), ("multipart.part", "large"),
                           ("multipart.complete", "large")):
            with self.subTest(verb=verb):
                self.inflict("wrong_hash", verb=verb, count=0)
                self.fails(7, "cp", name, self.url("sum"), saying="sum")
                self.emulator.ask("DELETE", "/_emulator/faults")


class Hopeless(Case):
    def test_a_service_that_never_mends(self):
        self.put({"small": noise(30_000), "large": noise(20 * MIB)})
        self.write("small-file", noise(3000))
        self.write("large-file", noise(20 * MIB))
        for verb in ("objects.media", "objects.insert", "multipart.part"):
            self.inflict("refuse", verb=verb, status=503, count=0)
        before = self.tree()
        self.together(8, ("cp", self.url("large"), "x"), ("cp", self.url("small"), "y"),
                      ("cp", "-r", self.url("small"), "t"), ("cat", self.url("large")),
                      ("cp", "small-file", self.url("never")), ("cp", "-", self.url("never")),
                      ("cp", "large-file", self.url("never")), saying=b"try again later")
        self.assertEqual(before, self.tree())
        self.nothing_open()
        self.emulator.ask("DELETE", "/_emulator/faults")
        self.assertIsNone(self.emulator.get("never"))


class Dying(Case):
    def test_a_service_that_dies_on_the_way(self):
        road = SlowRoad(self.emulator.endpoint, MIB // 8)
        self.addCleanup(road.close)
        there = self.along(road)
        self.put({f"set/{i}": noise(200_000, i) for i in range(300)})
        self.write("large", noise(20 * MIB))
        down = self.start("cp", "-r", self.url("set/"), "t", env=there)
        up = self.start("cp", "large", self.url("up"), env=there)
        self.assertTrue(wait_until(lambda: self.emulator.open_uploads() and len(self.tree()) > 3))
        road.close()
        for program in (down, up):
            _, said = program.communicate(timeout=200)
            self.assertEqual(8, program.returncode, said)
            self.assertIn(b"--endpoint", without_notices(said).splitlines()[-1])
        self.assertIn(b"`dataflux uploads list gs://bucket`", said)  # what nobody can mend
        self.ok("uploads", "abort", "--older-than=0s", self.url("up"))
        for name, content in self.tree("t").items():
            self.assertEqual(noise(200_000, int(name)), content)


class Interrupted(Case):
    def test_while_it_tries_again(self):
        self.put({"small": noise(1000)})
        self.write("small-file", noise(1000))
        before = self.tree()
        for verb, *what in (("objects.media", self.url("small"), "x"),
                            ("objects.insert", "small-file", self.url("never")),
                            ("objects.get", self.url("small"), "x")):
            with self.subTest(verb=verb):
                hits = self.hits()
                self.inflict("refuse", verb=verb, status=503, count=0)
                program = self.start("cp", *what, env=self.environment)
                self.assertTrue(wait_until(lambda: self.hits() > hits))
                self.interrupt(program)
                self.assertEqual(before, self.tree())
                self.emulator.ask("DELETE", "/_emulator/faults")

    def test_while_an_upload_begins(self):
        self.write("large", noise(20 * MIB))
        for rule in ({"action": "delay", "ms": 1500}, {"action": "lose_reply"}):
            with self.subTest(rule=rule):
                self.inflict(**rule, verb="multipart.initiate")
                self.inflict("delay", ms=1500, verb="multipart.list")
                program = self.start("cp", "large", self.url("begun"), env=self.environment)
                self.assertTrue(wait_until(lambda: self.hits() > 0))
                self.interrupt(program)
                self.nothing_open()
                self.assertIsNone(self.emulator.get("begun"))
                self.emulator.ask("DELETE", "/_emulator/faults")

    def test_many_small_uploads(self):
        for i in range(300):
            self.write(f"src/{i}", noise(5000, i))
        self.inflict("delay", ms=2000, verb="objects.insert", count=0)
        program = self.start("cp", "-r", "src", self.url("sent"), env=self.environment)
        self.assertTrue(wait_until(lambda: self.hits() > 10))
        self.interrupt(program, signal.SIGTERM)
        self.assertLess(len(self.ok("ls", self.url("sent"), "-r").splitlines()), 300)


class Removing(Case):
    def test_a_lost_reply_is_no_failure_and_removes_nothing_newer(self):
        self.put({"gone": b"1"})
        self.inflict("lose_reply", verb="objects.delete")
        self.ok("rm", self.url("gone"))
        self.assertIsNone(self.emulator.get("gone"))

    def test_what_a_second_request_mends(self):
        for what, rule in BROKEN_WRITES.items():
            if "body" in what:
                continue
            with self.subTest(what=what):
                self.put({"one": b"1", "some/a": b"2", "some/b": b"3"})
                for command in (("rm", self.url("one")), ("rm", "-r", self.url("some/"))):
                    before = self.hits()
                    self.inflict(**rule, verb="objects.delete")
                    self.ok(*command)
                    self.assertEqual(before + 1, self.hits())
                self.assertEqual(b"", self.ok("ls", self.url(), "-r"))

    def test_uploads_that_are_aborted_by_a_bad_service(self):
        self.emulator.ask("POST", "/bucket/left?uploads", b"")
        self.inflict("lose_reply", verb="multipart.abort")
        self.ok("uploads", "abort", "--older-than=0s", self.url())
        self.nothing_open()


if __name__ == "__main__":
    main(__doc__, SideBySide())
