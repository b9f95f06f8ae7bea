#!/usr/bin/env python3
"""The command `dataflux`, run as a person runs it, against the emulator's program.

    commands.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import fcntl
import json
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import termios
import urllib.error
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
from command_case import BUCKET, MIB, Case, main, noise, options, without_notices  # noqa: E402
from service import Emulator, SlowRoad, environment, wait_until  # noqa: E402


class Reading(Case):
    OBJECTS = {"r/a": b"first", "r/d/b": b"second one", "r/d/e/c": b"", "r/z": b"last"}

    def setUp(self):
        super().setUp()
        self.put(self.OBJECTS)

    def names(self, *arguments):
        return self.ok("ls", *arguments).decode().split()

    def test_ls_folds_folders_unless_recursive(self):
        self.assertEqual([self.url(n) for n in ("r/a", "r/d/", "r/z")], self.names(self.url("r")))
        self.assertEqual(self.names(self.url("r")), self.names(self.url("r/")))
        self.assertEqual([self.url(n) for n in self.OBJECTS], self.names("-r", self.url("r")))
        self.assertIn(self.url("r/"), self.names(f"gs://{BUCKET}"))
        self.assertEqual([self.url("r/a")], self.names(self.url("r/a")))

    def test_folders_and_buckets_are_told_apart_from_objects(self):
        for line in (["cat"], ["stat"], ["cp", "TARGET"]):
            more = [str(self.folder / "t")] if line[1:] else []
            said = "`cp -r` copies it" if more else "`ls` shows what is in it"
            self.assertEqual([f"dataflux: {self.url('r/d')} is a folder; {said}"],
                             self.fails(3, line[0], self.url("r/d"), *more))
            self.fails(3, line[0], self.url("r/none"), *more,
                       saying=f"{self.url('r/none')}: the object does not exist; `dataflux ls {self.url('r/')}` shows")
        self.fails(3, "rm", self.url("r/d"), saying="is a folder; `rm -r` removes all in it")
        self.fails(2, "stat", f"gs://{BUCKET}", saying="is a bucket; `ls` lists it")
        self.fails(2, "cat", f"gs://{BUCKET}/", saying="is a bucket; `ls` lists it")

    def test_what_is_no_subcommand_is_named(self):
        self.fails(2, "nonsense", "-h", f"gs://{BUCKET}", saying="'nonsense': no such subcommand; there are ls")
        self.fails(2, "manifest", "list", "m", saying="'list': no such subcommand; there are create")
        self.fails(2, "lss", saying="'lss': no such subcommand; the nearest is ls; there are ls")
        self.fails(2, "delete", self.url("x"), saying="the nearest is rm")
        said = "'--recursiv': no such option of cp; the nearest is --recursive; `dataflux cp --help` shows how"
        self.assertEqual([f"dataflux: {said}"], self.fails(2, "cp", "--recursiv", self.url("a"), "b"))
        self.fails(2, "rm", saying="give gs://bucket/name")
        self.fails(2, "cp", saying="cp: PLACE is required; `dataflux cp --help` shows how")

    def test_messages_are_for_people(self):
        """No code, no verb, no prefix that is empty: those are of logs."""
        missing = ["dataflux: gs://no-such-bucket: the bucket does not exist: check its name and the endpoint"]
        for arguments in (("ls",), ("cat",), ("rm", "-r")):
            self.assertEqual(missing, self.fails(3, *arguments, "gs://no-such-bucket/x"))
        self.assertEqual([f"dataflux: {self.url('none')}: no object and nothing below it; "
                          f"`dataflux ls {self.url()}` shows what is there"], self.fails(3, "ls", self.url("none")))
        self.inflict("refuse", verb="objects.list", status=403, count=0)
        [line] = self.fails(4, "ls", f"gs://{BUCKET}")
        self.assertTrue(line.startswith(f"dataflux: gs://{BUCKET}: "), line)
        for word in ("permission_denied", "objects.list", "listing prefix"):
            self.assertNotIn(word, line)
        self.assertIn("(HTTP 403)", line)

    def opened(self, url, method="GET", body=None, **headers):
        """The status and body of a request that has no other credentials."""
        asked = urllib.request.Request(url, data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(asked, timeout=30, context=self.emulator.trusted) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read()

    def test_signurl_prints_urls_that_open_by_themselves(self):
        first, second = self.ok("signurl", self.url("r/a"), self.url("r/d/b")).decode().split()
        self.assertEqual((200, b"first"), self.opened(first))
        self.assertEqual((200, b"second one"), self.opened(second))
        self.assertEqual(401, self.opened(first.partition("?")[0])[0])
        put = self.ok("signurl", "-m", "PUT", "-d", "30m", "--header", "x-goog-meta-k: v", "--query",
                      "userProject=p", self.url("r/new")).decode().strip()
        self.assertIn("X-Goog-Expires=1800&", put)
        self.assertEqual(403, self.opened(put, "PUT", b"new")[0])
        kind = {"x-goog-meta-k": "v", "Content-Type": "text/x"}
        self.assertEqual(200, self.opened(put, "PUT", b"new", **kind)[0])
        self.assertEqual(b"new", self.ok("cat", self.url("r/new")))
        bound = self.ok("signurl", "--style", "bucket_bound", "--host", "h.example", "--scheme", "http",
                        self.url("r/a")).decode()
        self.assertTrue(bound.startswith("http://h.example/r/a?X-Goog-Algorithm="), bound)

    def test_signurl_refuses_what_cannot_be_signed(self):
        url = self.url("r/a")
        for words, told in ((["-d", "8d"], "7 days"), (["-d", "soon"], "--duration soon"), (["-m", "get"], "method"),
                            (["--header", "x"], "NAME: VALUE"), (["--query", "x"], "NAME=VALUE"),
                            (["--style", "odd"], "--style odd"), (["--account", "odd"], "account")):
            self.assertNotEqual(0, self.run_it("signurl", *words, url).returncode)
            self.assertIn(told, self.run_it("signurl", *words, url).stderr.decode())

    def test_a_file_that_is_missing_is_no_bucket(self):
        lines = self.fails(3, "manifest", "show", str(self.folder / "none"), saying="none")
        self.assertNotIn("bucket", "".join(lines or ()))

    def test_ls_of_many_pages(self):
        many = {f"pages/{i:04}": b"" for i in range(1005)}
        self.put(many)
        self.assertEqual([self.url(n) for n in many], self.names(self.url("pages")))

    def test_ls_details_and_total(self):
        lines = self.ok("ls", "-l", "-r", self.url("r")).decode().splitlines()
        size, time, name = lines[0].split()
        self.assertEqual(("5", self.url("r/a")), (size, name))
        self.assertRegex(time, r"^20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\dZ$")
        one = self.ok("ls", "-l", self.url("r/a")).decode().splitlines()
        self.assertEqual([lines[0], "total: 1 objects, 5 bytes"], one)
        folded = self.ok("ls", "-l", self.url("r")).decode().splitlines()
        self.assertEqual(folded[0].index("gs://"), folded[1].index("gs://"))
        self.assertEqual("total: 4 objects, 19 bytes", lines[-1])

    def test_ls_of_all_versions(self):
        self.emulator.ask("PATCH", f"/_emulator/buckets/{BUCKET}", b'{"versioning": true}')
        self.put({"v/a": b"1"})
        self.put({"v/a": b"22", "v/b": b"x"})
        self.emulator.ask("PATCH", f"/_emulator/buckets/{BUCKET}", b'{"versioning": false}')
        self.assertEqual([self.url("v/a"), self.url("v/b")], self.names(self.url("v/")))
        names, generations = zip(*(n.split("#") for n in self.names("-a", self.url("v/"))))
        self.assertEqual((self.url("v/a"), self.url("v/a"), self.url("v/b")), names)
        self.assertLess(int(generations[0]), int(generations[1]))
        self.assertEqual([f"{n}#{g}" for n, g in zip(names, generations)][:2],
                         self.names("-a", self.url("v/a")))

    def test_what_ls_shows_of_a_version_is_taken_by_others_mend_17(self):
        self.emulator.ask("PATCH", f"/_emulator/buckets/{BUCKET}", b'{"versioning": true}')
        self.put({"v/old": b"1"})
        self.put({"v/old": b"22"})
        first, second = self.names("-a", self.url("v/old"))
        self.assertEqual((b"1", b"22"), (self.ok("cat", first), self.ok("cat", second)))
        self.assertIn(first.split("#")[1], self.ok("stat", first).decode())
        (self.folder / "there").mkdir()
        self.ok("cp", first, "there/")
        self.assertEqual({"there": None, "there/old": b"1"}, self.tree())
        self.ok("rm", first)
        self.assertEqual([second], self.names("-a", self.url("v/old")))
        # An object whose very name ends like that is itself.
        self.put({"v/old#1234567890": b"own"})
        self.assertEqual(b"own", self.ok("cat", self.url("v/old#1234567890")))
        self.fails(3, "cat", self.url("v/old#1234567891"), saying="1234567891")
        self.emulator.ask("PATCH", f"/_emulator/buckets/{BUCKET}", b'{"versioning": false}')

    def test_ls_with_sizes_for_people_mend_17(self):
        self.put({"sizes/a": b"x" * 1536, "sizes/b": b"x" * 100})
        self.assertEqual(self.ok("ls", "-lh", self.url("sizes/")), self.ok("ls", "-h", self.url("sizes/")))
        lines = self.ok("ls", "-lh", self.url("sizes/")).decode().splitlines()
        self.assertEqual(["1.5K", "100"], [line.split()[0] for line in lines[:2]])
        self.assertEqual("total: 2 objects, 1.6K bytes", lines[2])

    def test_ls_json_keeps_names_exact_and_lines_escape_them(self):
        self.put({"odd/\x1b[31m\u00e4\"": b"x"})
        [line] = self.ok("ls", "--json", self.url("odd")).splitlines()
        said = json.loads(line)
        self.assertEqual((BUCKET, "odd/\x1b[31m\u00e4\"", 1),
                         (said["bucket"], said["name"], said["size"]))
        self.assertRegex(said["created"], r"^20\d\d-.*Z$")
        self.assertEqual({"bucket": BUCKET, "prefix": "r/d/"},
                         json.loads(self.ok("ls", "--json", self.url("r")).splitlines()[1]))
        self.assertIn(b"\\x1b[31m", self.ok("ls", self.url("odd")))
        self.assertNotIn(b"\x1b", self.ok("ls", self.url("odd")))

    def test_stat(self):
        said = self.ok("stat", self.url("r/a"), self.url("r/z")).decode()
        for part in (self.url("r/a"), "size                 5", "crc32c", "created", self.url("r/z")):
            self.assertIn(part, said)

    def test_cat_and_ranges(self):
        self.assertEqual(b"firstlast", self.ok("cat", self.url("r/a"), self.url("r/z")))
        self.assertEqual(b"", self.ok("cat", self.url("r/d/e/c")))
        for text, expected in (("0-0", b"f"), ("1-2", b"ir"), ("3-", b"st"), ("-2", b"st"),
                               ("2-100", b"rst"), ("-100", b"first")):
            self.assertEqual(expected, self.ok("cat", f"--range={text}", self.url("r/a")), text)
        for text in ("x", "5", "3-1", "-0", "-", "1-2-3", "99999999999999999999-"):
            self.fails(2, "cat", f"--range={text}", self.url("r/a"), saying="FIRST-LAST")
        self.fails(1, "cat", "--range=5-9", self.url("r/a"), saying="behind the object's end")

    def test_cat_of_a_large_object_is_in_order(self):
        content = noise(40 * MIB + 7)
        self.put({"large": content})
        self.assertEqual(content, self.ok("cat", self.url("large")))
        self.assertEqual(content[MIB:30 * MIB],
                         self.ok("cat", f"--range={MIB}-{30 * MIB - 1}", self.url("large")))

    def test_cat_of_wrong_bytes_never_ends_as_if_it_were_right_mend_21(self):
        content = noise(20 * MIB)
        self.put({"wrong": content, "small": b"right"})
        self.assertEqual(content, self.ok("cat", "--checked", self.url("wrong")))
        for more, least in (((), 1), (("--checked",), 0)):
            self.inflict("flip_byte", verb="objects.media", count=1, offset=1000)
            done = self.run_it("cat", *more, self.url("wrong"))
            self.emulator.ask("DELETE", "/_emulator/faults")
            self.assertEqual(7, done.returncode, done.stderr)
            self.assertIn(b"CRC32C", done.stderr)
            self.assertLess(len(done.stdout), len(content))
            self.assertGreaterEqual(len(done.stdout), least)
            if more:
                self.assertEqual(b"", done.stdout)
        self.assertEqual(b"right", self.ok("cat", "--checked", self.url("small")))
        self.fails(2, "cat", "--checked", "--range", "0-3", self.url("small"), saying="--checked")

    def test_a_closed_pipe_ends_it_without_a_word(self):
        self.put({"large": noise(40 * MIB)})
        program = self.start("cat", self.url("large"), env=self.environment)
        self.assertEqual(10, len(program.stdout.read(10)))
        program.stdout.close()
        self.assertEqual((-signal.SIGPIPE, b""), (program.wait(30), program.stderr.read()))
        program.stderr.close()

    def test_a_closed_pipe_is_quiet_where_a_parent_ignores_its_signal_too(self):
        self.put({"large": noise(20 * MIB)})
        for arguments in (("cat", self.url("large")), ("ls", "-r", self.url()), ("stat", self.url("large"))):
            near, far = os.pipe()
            os.close(near)
            program = subprocess.run(self.command(arguments, self.environment), env=self.environment, stdout=far,
                                     stderr=subprocess.PIPE, timeout=60, check=False, restore_signals=False)
            os.close(far)
            self.assertEqual((-signal.SIGPIPE, b""), (program.returncode, without_notices(program.stderr)))

    def test_bytes_that_were_compared_are_not_called_unusable(self):
        self.put({"large": noise(20 * MIB), "small": noise(MIB)})

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        for arguments, right in ((("small",), True), (("small", "--range=0-999999"), False), (("large",), False)):
            name, *more = arguments
            with open(self.folder / "short", "wb") as output:
                done = subprocess.run(self.command(("cat", *more, self.url(name)), self.environment), stdout=output,
                                      env=self.environment, stderr=subprocess.PIPE, timeout=60, check=False,
                                      preexec_fn=limit)
            self.assertEqual(6, done.returncode)
            said = without_notices(done.stderr).decode()
            self.assertIn("File too large", said, arguments)
            self.assertEqual(right, "written before: they are right, but there may be more" in said, said)
            self.assertEqual(not right, "do not use them" in said, said)

    def test_a_full_output_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(self.command(("ls", self.url("r")), self.environment), env=self.environment,
                                  stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(6, done.returncode, done.stderr)
            done = subprocess.run(self.command(("cat", self.url("r/a")), self.environment), env=self.environment,
                                  stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
            self.assertEqual(6, done.returncode, done.stderr)
            self.assertIn(b"No space left", done.stderr)

    def test_what_is_missing_is_named(self):
        for command in ("ls", "stat", "cat", "rm"):
            said = self.fails(3, command, self.url("missing"), saying=self.url("missing"))
            self.assertEqual(1, len(said))
            self.fails(3, command, "gs://no-such-bucket/x", saying="no-such-bucket")
        self.fails(3, "cp", self.url("missing"), "here")
        self.fails(3, "cp", "-r", self.url("missing/"), "here")
        self.fails(3, "cp", "-r", self.url("missing"), "here")
        self.fails(3, "cp", self.write("file"), "gs://no-such-bucket/x")
        self.fails(5, "cat", self.url("r/a"), self.url("missing"), saying="missing")
        self.assertEqual({"file": b""}, self.tree())

    def test_a_missing_bucket_leaves_the_others_to_be_done(self):
        nowhere = "gs://no-such-bucket/x"
        self.put({"m/a": b"1", "m/b": b"2"})
        self.fails(5, "cat", self.url("m/a"), nowhere, self.url("m/b"), saying="no-such-bucket")
        self.fails(5, "rm", self.url("m/a"), nowhere, self.url("m/b"), saying="no-such-bucket")
        self.fails(3, "stat", self.url("m/a"), saying="m/a")
        self.fails(3, "stat", self.url("m/b"), saying="m/b")

    def test_a_missing_bucket_ends_a_copy_of_a_folder(self):
        for i in range(1500):
            self.write(f"many/{i}", b"x")
        self.write("many/large", noise(17 * MIB))

        def inserts():
            return sum(each["count"] for each in self.counters()["requests"]
                       if each["verb"] == "objects.insert" and each["status"] == 404)

        before = inserts()
        said = self.fails(3, "cp", "-r", "many", "gs://no-such-bucket/x", saying="bucket does not exist")
        self.assertEqual(1, len(said), said)
        self.assertNotIn("dataflux ls", said[0])  # which shows nothing there
        self.assertLess(inserts() - before, 750)

    def test_wrong_command_lines(self):
        for arguments in ((), ("ls",), ("nonsense",), ("ls", "--nonsense", self.url())):
            self.assertEqual(2, self.run_it(*arguments).returncode, arguments)
        for arguments in (("ls", "path"), ("ls", "gs://"), ("ls", "gs://B_/x"), ("stat", "s3://b/x"), ("stat", "s4://bucket/x"),
                          ("cp", "a", "b"),
                          ("cp", "-r", self.url(), "-"), ("cp", "-", self.url()),
                          ("cp", self.url(), "x"), ("rm", self.url())):
            self.assertEqual(1, len(self.fails(2, *arguments)), arguments)

    def test_help_and_version(self):
        self.assertIn(b"Exit status", self.ok("--help"))
        self.assertIn(b"-r,--recursive", self.ok("cp", "--help"))
        self.assertRegex(self.ok("--version"), rb"\d+\.\d+\.\d+")


class Copying(Case):
    SIZES = (0, 1, 16384, 16 * MIB, 16 * MIB + 1, 40 * MIB + 3)

    def test_one_file_there_and_back(self):
        for size in self.SIZES:
            content = noise(size, size)
            self.write("f", content)
            self.ok("cp", "f", self.url("one/f"))
            self.assertEqual(content, self.emulator.get("one/f"), size)
            self.ok("cp", self.url("one/f"), "back")
            self.assertEqual({"f": content, "back": content}, self.tree(), size)
        self.assertEqual([], self.emulator.open_uploads())

    def test_standard_streams(self):
        for size in self.SIZES:
            content = noise(size, size)
            self.ok("cp", "-", self.url("stream"), input=content)
            self.assertEqual(content, self.emulator.get("stream"), size)
            self.assertEqual(content, self.ok("cp", self.url("stream"), "-"), size)
        self.assertEqual([], self.emulator.open_uploads())

    def test_a_device_is_written_to_and_not_replaced(self):
        self.put({"x": b"bytes"})
        before = os.stat("/dev/null").st_rdev
        self.ok("cp", self.url("x"), "/dev/null")
        self.assertEqual(before, os.stat("/dev/null").st_rdev)

    def test_where_one_object_goes(self):
        self.put({"w/a": b"1"})
        (self.folder / "there").mkdir()
        self.ok("cp", self.url("w/a"), "there")
        self.ok("cp", self.url("w/a"), "there/b")
        self.ok("cp", self.url("w/a"), ".")
        self.assertEqual({"there": None, "there/a": b"1", "there/b": b"1", "a": b"1"}, self.tree())
        self.fails(3, "cp", self.url("w/a"), "missing/b", saying="No such file")
        self.write("f", b"2")
        self.ok("cp", "f", self.url("in/"))
        self.ok("cp", "f", f"gs://{BUCKET}")
        self.assertEqual((b"2", b"2"), (self.emulator.get("in/f"), self.emulator.get("f")))

    def test_content_types_follow_the_name(self):
        for name, expected in (("a.json", b"application/json"), ("b.TXT", b"text/plain"),
                               ("noext", b"application/octet-stream")):
            self.write(name, b"x")
            self.ok("cp", name, self.url("types/"))
            self.assertIn(expected, self.ok("stat", self.url(f"types/{name}")))

    def test_trees_there_and_back(self):
        files = {"a": b"1", "d/b": noise(300), "d/e/c": b"", "d/large": noise(20 * MIB),
                 "d/\u00e4 b?#%+": b"odd", ".hidden": b"h"}
        for name, content in files.items():
            self.write(f"src/{name}", content)
        for source, target, prefix in (("src", "t1", "t1/"), ("src", "t2/", "t2/src/"),
                                       ("src/", "t3", "t3/"), ("src/", "t4/", "t4/"),
                                       ("src/.", "t5", "t5/")):
            self.ok("cp", "-r", source, self.url(target))
            for name, content in files.items():
                self.assertEqual(content, self.emulator.get(prefix + name), (source, target, name))
        self.ok("cp", "-r", "src", f"gs://{BUCKET}")
        self.assertEqual(b"1", self.emulator.get("src/a"))
        (self.folder / "there").mkdir()
        for source, target, result in (("t1", "new1", "new1"), ("t1", "there", "there/t1"),
                                       ("t1/", "there", "there"), ("t1/", "new2/", "new2"),
                                       ("t1", "new3/", "new3/t1"), ("t1/", "new4/x/y", "new4/x/y")):
            self.ok("cp", "-r", self.url(source), target)
            got = {k: v for k, v in self.tree(result).items()
                   if v is not None and not k.startswith("t1/")}
            self.assertEqual(files, got, (source, target))
        self.assertEqual([], self.emulator.open_uploads())

    def test_many_small_objects(self):
        files = {f"d{i % 7}/{i}": noise(i % 50, i) for i in range(2500)}
        for name, content in files.items():
            self.write(f"src/{name}", content)
        self.ok("cp", "-r", "src/", self.url("many"))
        self.ok("cp", "-r", self.url("many/"), "back")
        back = {k: v for k, v in self.tree("back").items() if v is not None}
        self.assertEqual(files, back)

    def test_a_copy_replaces_files_and_keeps_none_of_its_own(self):
        self.put({"p/a": b"new", "p/b": b"new"})
        self.write("t/a", b"older and longer")
        outside = self.write("outside", b"untouched")
        (self.folder / "t/b").symlink_to(outside)
        self.ok("cp", "-r", self.url("p/"), "t")
        self.assertEqual({"a": b"new", "b": b"new"}, self.tree("t"))
        self.assertEqual(b"untouched", outside.read_bytes())

    def test_an_endpoint_by_option(self):
        plain = Emulator(options.emulator, BUCKET)  # which asks for no token
        self.addCleanup(plain.close)
        plain.put("x", b"bytes")
        self.assertEqual(b"bytes", self.ok("cat", self.url("x"), "--endpoint", plain.endpoint,
                                           env=environment()))
        led = environment(STORAGE_EMULATOR_HOST=plain.endpoint)
        self.assertEqual(b"bytes", self.ok("cat", self.url("x"), env=led))
        self.assertEqual(b"bytes", self.ok("--anonymous", "cat", self.url("x"), env=led))

    def on_terminal(self, columns, *command):
        """What the command draws on a terminal of that width, line by line."""
        road = SlowRoad(self.emulator.endpoint, 8 * MIB)
        self.addCleanup(road.close)
        near, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        there = self.along(road)
        program = subprocess.Popen(self.command(command, there), cwd=self.folder, stderr=far,
                                   env=there)
        os.close(far)
        said = b""
        try:
            while chunk := os.read(near, 4096):
                said += chunk
        except OSError:
            pass  # how a terminal ends
        os.close(near)
        self.assertEqual(0, program.wait(60))
        return [line.strip("\r\n") for line in said.decode().split("\x1b[K")]

    def test_progress_is_for_terminals(self):
        """(mend 17)"""
        self.put({"large": noise(24 * MIB)})
        lines = self.on_terminal(100, "cp", self.url("large"), "x")
        self.assertRegex("\n".join(lines),
                         r"downloading  \[[#.]+\]  [\d.]+/24.0 MiB  wire [\d.]+ MiB  [\d.]+ MiB/s")
        # One object moves before a slice of it is there, and is not counted.
        self.assertTrue([line for line in lines if re.search(r" 0\.0/24\.0 MiB  wire (?!0\.0)", line)],
                        lines)
        self.assertFalse([line for line in lines if "objects" in line], lines)

    def test_progress_never_wraps(self):
        """(mend 17)"""
        self.put({f"wide/{'n' * 60}{i}": noise(8 * MIB, i) for i in range(4)})
        for columns in (12, 40, 50):
            lines = self.on_terminal(columns, "cp", "-r", self.url("wide/"), f"t{columns}")
            lines = [line for line in lines if not line.startswith("dataflux: ")]
            self.assertLess(max(map(len, lines)), columns, lines)
        self.assertTrue([line for line in lines if "/4 objects" in line], lines)


class Telling(Case):
    """What standard error says of what was done."""

    def test_the_last_line(self):
        self.write("src/a", b"12345")
        self.write("src/b", b"1" * 2048)
        self.assertEqual("2 objects copied, 2.0K bytes", self.tells("cp", "-r", "src/", self.url("told")))
        self.assertEqual("2 objects already there, 2.0K bytes",
                         self.tells("cp", "-r", "--continue", "src/", self.url("told")))
        self.write("src/b", b"2")
        self.assertEqual("1 object copied, 1 byte; 1 object already there, 5 bytes",
                         self.tells("cp", "-r", "--continue", "src/", self.url("told")))
        self.assertEqual("1 object copied, 5 bytes", self.tells("cp", self.url("told/a"), self.url("told/c")))
        self.assertEqual("1 object copied, 5 bytes", self.tells("cp", self.url("told/a"), "here"))
        self.assertEqual("1 object copied, 3 bytes", self.tells("cp", "-", self.url("told/d"), input=b"abc"))
        self.assertEqual("4 objects removed, 14 bytes", self.tells("rm", "-r", self.url("told")))
        done = self.run_it("cp", "-r", "src/", self.url("told"))
        self.assertRegex(done.stderr, rb"^dataflux: 2 objects copied, 6 bytes; \d+\.\d s\n$")

    def test_it_says_what_failed_and_what_was_sent_again(self):
        self.put({"some/../x": b"1", "some/a": b"1"})
        self.inflict("refuse", verb="objects.media", status=503)
        done = self.run_it("cp", "-r", self.url("some/"), "t")
        last = done.stderr.decode().splitlines()[-1]
        self.assertEqual(5, done.returncode)
        self.assertRegex(last, r"^dataflux: 1 object copied, 1 byte; 1 failed; \d+\.\d s; 1 retry$")

    def test_quiet_and_verbose(self):
        self.put({"v/a": b"12345", "v/b\x01": b""})
        self.assertEqual(b"", self.run_it("cp", "-q", "-r", self.url("v/"), "t").stderr)
        said = self.run_it("rm", "-v", "-r", self.url("v/")).stderr.decode().splitlines()
        self.assertEqual([f"dataflux: removed {self.url('v/a')}, 5", f"dataflux: removed {self.url('v/b')}\\x01, 0"],
                         sorted(said[:2]))
        self.write("src/a", b"1")
        said = self.run_it("cp", "-r", "src/", self.url("w"), "--verbose").stderr.decode().splitlines()
        self.assertEqual(f"dataflux: copied src/a -> {self.url('w/a')}, 1", said[0])
        self.fails(2, "cp", "-q", "-v", "src/a", self.url("w"), saying="--verbose")
        self.fails(3, "cat", "-q", self.url("none"), saying="none")
        self.assertEqual(b"", self.run_it("cp", self.url("w/a"), "-").stderr)


class Meanwhile(Case):
    def test_a_small_file_takes_the_place_of_what_was_there_alone_mend_17(self):
        self.write("src/a", b"new a")
        self.write("src/b", b"new b")
        self.put({"up/a": b"old a"})
        self.ok("cp", "-r", "src/", self.url("up/"))
        self.assertEqual((b"new a", b"new b"), (self.emulator.get("up/a"), self.emulator.get("up/b")))
        # Somebody writes while the insert is tried again and again.
        self.put({"other": b"of another"})
        self.inflict("refuse", verb="objects.insert", status=503, count=0)
        program = self.start("cp", "src/b", self.url("up/late"), env=self.environment)
        self.assertTrue(wait_until(lambda: self.hits() > 0))
        self.emulator.ask("POST", f"/storage/v1/b/{BUCKET}/o/other/rewriteTo/b/{BUCKET}/o/up%2Flate",
                          b"{}", **{"Content-Type": "application/json"})
        self.emulator.ask("DELETE", "/_emulator/faults")
        program.communicate(timeout=100)
        self.assertEqual(b"of another", self.emulator.get("up/late"))


class BadNames(Case):
    BAD = ["../x", "../../x", "/x", "/etc/x", "a/../../x", "a/../b", "a//b", "./x", "a/./b", "x/",
           "..", "a/..", "nul\x00byte", "n" * 300]

    def test_names_that_are_no_files_are_reported_and_the_rest_is_copied(self):
        stored = []
        for name in self.BAD:
            self.put({f"bad/{name}": b"evil"})
            stored.append(name)
        self.put({"bad/good": b"1", "bad/z/good": b"2"})
        said = self.fails(5, "cp", "-r", self.url("bad/"), "a/b/target")
        self.assertEqual(len(stored), len(said), said)
        self.assertEqual({"a": None, "a/b": None, "a/b/target": None, "a/b/target/good": b"1",
                          "a/b/target/z": None, "a/b/target/z/good": b"2"}, self.tree())

    def test_control_characters_go_both_ways_mend_20(self):
        names = ["tab\t", "esc\x1b[2J", "del\x7f", "\x01", "bell\x07/in"]
        for name in names:
            self.write(f"src/{name}", name.encode())
        self.ok("cp", "-r", "src/", self.url("control/"))
        self.ok("cp", "-r", self.url("control/"), "back")
        self.assertEqual(self.tree("src"), self.tree("back"))
        shown = self.ok("ls", "-r", self.url("control/")).decode()
        self.assertIn("esc\\x1b[2J", shown)
        self.assertNotIn("\x1b", shown)

    def test_only_bad_names(self):
        self.put({"only/../x": b"evil"})
        self.fails(6, "cp", "-r", self.url("only/"), "t", saying="no file's")
        self.assertEqual({"t": None}, self.tree())

    def test_one_object_of_a_bad_name(self):
        self.put({"one/..": b"evil", "slash/": b"evil"})
        (self.folder / "t").mkdir()
        self.fails(6, "cp", self.url("one/.."), "t/")
        self.fails(6, "cp", self.url("slash/"), "t/")
        self.assertEqual({"t": None}, self.tree())
        self.ok("cp", self.url("one/.."), "t/chosen")

    def test_empty_objects_that_stand_for_folders(self):
        self.put({"marked/": b"", "marked/d/": b"", "marked/e/": b"", "marked/e/x": b"1"})
        self.ok("cp", "-r", self.url("marked/"), "t")
        self.assertEqual({"d": None, "e": None, "e/x": b"1"}, self.tree("t"))

    def test_links_in_the_target_are_not_followed(self):
        self.put({"l/in/x": b"1", "l/ok": b"2"})
        (self.folder / "outside").mkdir()
        (self.folder / "t").mkdir()
        (self.folder / "t/in").symlink_to(self.folder / "outside")
        self.fails(5, "cp", "-r", self.url("l/"), "t", saying="symbolic link")
        self.assertEqual([], list((self.folder / "outside").iterdir()))
        self.assertEqual(b"2", (self.folder / "t/ok").read_bytes())

    def test_a_file_where_a_folder_must_be_and_the_reverse(self):
        self.put({"c/f/x": b"1", "c/g": b"2", "c/h": b"3"})
        self.write("t/f", b"file")
        self.write("t/g/inner", b"folder")
        said = self.fails(5, "cp", "-r", self.url("c/"), "t", saying=("t/f", "t/g"))
        self.assertEqual(2, len(said))
        self.assertEqual({"f": b"file", "g": None, "g/inner": b"folder", "h": b"3"}, self.tree("t"))
        self.write("file", b"x")
        self.fails(6, "cp", "-r", self.url("c/"), "file")

    def test_a_name_that_is_file_and_folder_at_once(self):
        self.put({"both/a": b"1", "both/a/b": b"2", "both/c": b"3"})
        self.fails(5, "cp", "-r", self.url("both/"), "t", saying="folder")
        got = self.tree("t")
        self.assertEqual(b"3", got["c"])
        self.assertTrue(got["a"] in (b"1", None), got)
        self.assertFalse([n for n in got if ".dataflux-" in n], got)

    def test_local_files_that_cannot_be_sent(self):
        self.write("src/good", b"1")
        os.mkfifo(self.folder / "src/pipe")
        (self.folder / "src/broken").symlink_to("nowhere")
        (self.folder / "other").mkdir()
        (self.folder / "src/linked").symlink_to(self.folder / "other")
        (self.folder / "src/to-file").symlink_to("good")
        said = self.fails(5, "cp", "-r", "src/", self.url("sent"))
        self.assertEqual(3, len(said), said)
        self.assertEqual((b"1", b"1"),
                         (self.emulator.get("sent/good"), self.emulator.get("sent/to-file")))
        self.fails(3, "cp", "missing", self.url("sent/x"), saying="missing")
        self.fails(6, "cp", "src", self.url("sent/x"), saying="cp -r")

    def test_a_file_name_that_is_no_utf8(self):
        self.write("src/good", b"1")
        (Path(os.fsdecode(os.fsencode(self.folder) + b"/src/\xff\xfe"))).write_bytes(b"2")
        self.fails(5, "cp", "-r", "src/", self.url("utf8"))
        self.assertEqual(b"1", self.emulator.get("utf8/good"))


class Removing(Case):
    def test_rm(self):
        self.put({"m/a": b"", "m/b": b"", "m/c/d": b"", "m-other": b"", "m": b""})
        self.ok("rm", self.url("m/a"), self.url("m/b"))
        self.assertIsNone(self.emulator.get("m/a"))
        self.fails(5, "rm", self.url("m/a"), self.url("m/c/d"), saying="m/a")
        self.put({"m/c/d": b"", "m/e": b""})
        self.ok("rm", "-r", self.url("m"))
        self.assertEqual((None, None, None, b""),
                         tuple(self.emulator.get(n) for n in ("m", "m/e", "m/c/d", "m-other")))
        self.fails(3, "rm", "-r", self.url("m"))

    def test_interrupted_it_does_not_say_that_it_cleaned_up_mend_17(self):
        self.put({f"half/{i}": b"" for i in range(20)})
        self.inflict("stall", verb="objects.delete", count=0, **{"from": 3})
        program = self.start("rm", "-r", self.url("half/"), env=self.environment)
        self.assertTrue(wait_until(lambda: self.emulator.get("half/0") is None))
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=60)
        self.assertEqual(130, program.returncode, said)
        self.assertIn(b"what was removed is gone, the rest is there", said)

    def test_a_half_wrong_command_removes_nothing(self):
        self.put({"keep": b"1"})
        self.fails(2, "rm", self.url("keep"), "no-url")
        self.assertEqual(b"1", self.emulator.get("keep"))


class Uploads(Case):
    def begin(self, name):
        self.emulator.ask("POST", f"/{BUCKET}/{name}?uploads", b"")

    def test_list_and_abort_by_age(self):
        for name in ("up/a", "up/b", "other"):
            self.begin(name)
        said = self.ok("uploads", "list", self.url()).decode()
        self.assertEqual(3, len(said.splitlines()))
        for name in ("up/a", "up/b", "other"):
            self.assertIn(self.url(name), said)
        self.assertEqual(2, len(self.ok("uploads", "list", self.url("up/")).splitlines()))
        self.assertEqual(b"", self.ok("uploads", "list", "--older-than", "1h", self.url()))
        self.ok("uploads", "abort", "--older-than=1d", self.url())
        self.assertEqual(3, len(self.emulator.open_uploads()))
        self.ok("uploads", "abort", "--older-than=0s", self.url("up/"))
        self.assertEqual(1, len(self.emulator.open_uploads()))
        self.ok("uploads", "abort", "--older-than=0s", self.url())
        self.assertEqual([], self.emulator.open_uploads())

    def test_many_pages(self):
        for i in range(1010):
            self.begin(f"many/{i}")
        self.assertEqual(1010, len(self.ok("uploads", "list", self.url("many")).splitlines()))
        self.ok("uploads", "abort", "--older-than=0s", self.url("many"))
        self.assertEqual([], self.emulator.open_uploads())

    def test_noncurrent_temporaries_are_shown_and_removed(self):  # mend 6
        name = f"dataflux-uploads/{1:016x}-up%2Fa"
        self.emulator.ask("PATCH", f"/_emulator/buckets/{BUCKET}", b'{"versioning": true}')
        self.put({name: b"12345"})
        self.put({name: b"1"})
        said = self.ok("uploads", "list", self.url()).decode().splitlines()
        self.assertEqual([f"noncurrent object {name}, 5 bytes", f"object {name}, 1 bytes"],
                         [line.split(self.url("up/a"))[1].strip() for line in said])
        self.ok("rm", self.url(name))
        said = self.ok("uploads", "list", self.url("up/")).decode().splitlines()
        self.assertEqual(2, sum("noncurrent" in line for line in said))
        self.ok("uploads", "abort", "--older-than=0s", self.url())
        self.emulator.ask("PATCH", f"/_emulator/buckets/{BUCKET}", b'{"versioning": false}')
        self.assertEqual(b"", self.ok("uploads", "list", self.url()))
        self.assertNotIn(b"uploads", self.ok("ls", "-a", "-r", self.url()))

    def test_what_has_not_its_name_yet_is_shown_with_it(self):
        def temporary(number, target):
            return f"dataflux-uploads/{number:016x}-{target}"

        long_name = temporary(3, "up%2F" + "x" * 500)[:480]
        self.put({temporary(1, "up%2Fa"): b"12345", temporary(2, "other"): b"",
                  long_name: b"", "dataflux-uploads/somebody's": b"",
                  "dataflux-uploads/up%2Fb": b""})
        self.begin(temporary(4, "up%252Fb"))
        self.begin("up/c")
        self.begin("direct")
        said = self.ok("uploads", "list", self.url("up/")).decode().splitlines()
        self.assertEqual([self.url("up/a"), self.url("up/b"), self.url("up/c"),
                          self.url("up/" + "x" * (480 - 39) + "...")],
                         [line.split()[1] for line in said])
        self.assertTrue(said[0].endswith(f"object {temporary(1, 'up%2Fa')}, 5 bytes"), said[0])
        self.assertRegex(said[1], f" upload [^ ]+ as {temporary(4, 'up%2Fb')}$")
        self.assertRegex(said[2], " upload [^ ]+$")
        self.assertEqual(6, len(self.ok("uploads", "list", self.url()).splitlines()))
        self.assertEqual(4, len(self.ok("uploads", "list",
                                        self.url("dataflux-uploads/")).splitlines()))
        self.assertEqual(b"", self.ok("uploads", "list", "--older-than", "1h", self.url()))
        self.ok("uploads", "abort", "--older-than=1h", self.url())
        self.assertEqual(6, len(self.ok("uploads", "list", self.url()).splitlines()))
        self.ok("uploads", "abort", "--older-than=0s", self.url("up/"))
        said = self.ok("uploads", "list", self.url()).decode().splitlines()
        self.assertEqual([self.url("direct"), self.url("other")],
                         [line.split()[1] for line in said])
        self.ok("uploads", "abort", "--older-than=0s", self.url())
        self.assertEqual(b"", self.ok("uploads", "list", self.url()))
        self.assertEqual([], self.emulator.open_uploads())
        self.assertEqual(2, len(self.ok("ls", self.url("dataflux-uploads")).splitlines()))

    def test_wrong_uses(self):
        self.assertEqual(2, self.run_it("uploads", "abort", self.url()).returncode)
        self.assertEqual(2, self.run_it("uploads").returncode)
        self.fails(2, "uploads", "list", "--older-than", "soon", self.url(), saying="12h")
        self.fails(3, "uploads", "list", "gs://no-such-bucket")


class Interrupted(Case):
    def setUp(self):
        super().setUp()
        self.slow_road()

    def slow_road(self):
        """A road of its own for each program: what comes back on it, this program has asked for."""
        self.road = SlowRoad(self.emulator.endpoint, 256 << 10)
        self.addCleanup(self.road.close)
        self.slow = self.along(self.road)

    def test_download(self):
        self.put({"large": noise(48 * MIB)})
        for number in (signal.SIGINT, signal.SIGTERM):
            self.slow_road()
            program = self.start("cp", self.url("large"), "x", env=self.slow)
            self.assertTrue(wait_until(lambda: self.road.brought > 100_000))
            self.interrupt(program, number)
            self.assertEqual({}, self.tree())

    def test_download_of_many(self):
        self.put({f"set/{i}": noise(100_000) for i in range(300)})
        program = self.start("cp", "-r", self.url("set/"), "t", env=self.slow)
        self.assertTrue(wait_until(lambda: len(self.tree()) > 3))
        self.interrupt(program)
        got = self.tree("t")
        self.assertLess(len(got), 300)
        self.assertTrue(all(content == noise(100_000) for content in got.values()))

    def test_upload(self):
        self.write("large", noise(48 * MIB))
        program = self.start("cp", "large", self.url("broken-up"), env=self.slow)
        self.assertTrue(wait_until(self.emulator.open_uploads))
        self.interrupt(program)
        self.assertEqual([], self.emulator.open_uploads())
        self.assertIsNone(self.emulator.get("broken-up"))

    def test_upload_from_a_stream(self):
        program = self.start("cp", "-", self.url("broken-stream"), env=self.environment,
                             stdin=subprocess.PIPE)
        program.stdin.write(noise(20 * MIB))
        program.stdin.flush()
        self.assertTrue(wait_until(self.emulator.open_uploads))
        # It waits for more input, and its end must not come before the signal is seen.
        program.stdin, kept = None, program.stdin
        self.addCleanup(kept.close)
        self.interrupt(program)
        self.assertEqual([], self.emulator.open_uploads())
        self.assertIsNone(self.emulator.get("broken-stream"))


class Failing(Case):
    def limit_file_size(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (10 * MIB, 10 * MIB))

    def test_a_file_that_is_too_large_leaves_nothing(self):
        self.put({"full/a": b"1", "full/large": noise(30 * MIB), "full/medium": noise(12 * MIB)})
        for name in ("large", "medium"):
            said = self.fails(6, "cp", self.url(f"full/{name}"), "x",
                              preexec_fn=self.limit_file_size)
            self.assertEqual(1, len(said), said)
            self.assertEqual({}, self.tree())
        said = self.fails(5, "cp", "-r", self.url("full/"), "t", preexec_fn=self.limit_file_size)
        self.assertEqual(2, len(said), said)
        self.assertEqual({"a": b"1"}, self.tree("t"))

    def test_a_small_file_system(self):
        small = self.folder / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(small)],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("mounting needs root")
        self.addCleanup(subprocess.run, ["umount", str(small)], check=True)
        self.put({"tmp/large": noise(30 * MIB)})
        said = self.fails(6, "cp", self.url("tmp/large"), "small/x", saying="No space left")
        self.assertEqual(1, len(said), said)
        self.assertEqual({}, self.tree("small"))
        self.put({f"tmp/{i}": noise(100_000) for i in range(100)})
        said = self.fails(6, "cp", "-r", self.url("tmp/"), "small/t", saying="No space left")
        self.assertEqual(1, len(said), said)
        for name, content in self.tree("small/t").items():
            self.assertEqual(noise(100_000), content, name)

    def test_leftovers_are_no_content_mend_17(self):
        for name in (".dataflux-part-0123456789abcdef", ".dataflux-1234-5", ".dataflux-notes", "x",
                     ".dataflux-00ff00ff00ff00ff-12", ".dataflux-upload-0123456789abcdef"):
            self.write(f"src/{name}", b"1")
        self.ok("cp", "-r", "src/", self.url("clean/"))
        listed = self.ok("ls", "-r", self.url("clean/")).decode().split()
        self.assertEqual([self.url("clean/.dataflux-notes"), self.url("clean/x")], listed)

    @staticmethod
    def limit_descriptors():
        resource.setrlimit(resource.RLIMIT_NOFILE, (480, 480))

    def test_more_folders_than_descriptors_mend_17(self):
        self.put({f"wide/{i}/x": str(i).encode() for i in range(700)})
        self.ok("cp", "-r", self.url("wide/"), "t", preexec_fn=self.limit_descriptors)
        for i in range(700):
            self.assertEqual(str(i).encode(), (self.folder / f"t/{i}/x").read_bytes())

    def test_a_folder_that_takes_no_files(self):
        self.put({"x": b"1", "large": noise(20 * MIB)})
        for name in ("x", "large"):
            # Where not even root may make a file.
            self.fails(6, "cp", self.url(name), "/dev/pts/dataflux-test", saying="/dev/pts/dataflux")
        if os.geteuid() != 0:
            (self.folder / "closed").mkdir(mode=0o500)
            self.fails(6, "cp", self.url("x"), "closed/x", saying="Permission denied")

    def test_a_dead_endpoint(self):
        gone = Emulator(options.emulator, BUCKET)
        gone.close()
        dead = environment(STORAGE_EMULATOR_HOST=gone.endpoint)
        self.write("src/a", b"1")
        self.write("src/b", b"2")
        programs = [self.start(*what, env=dead)
                    for what in (("ls", self.url("x")), ("cp", "-r", "src", self.url("x")),
                                 ("cp", "-r", self.url("x/"), "t"))]
        for program in programs:
            _, said = program.communicate(timeout=200)
            self.assertEqual(8, program.returncode, said)
            self.assertNotIn(b"retrying", said)  # an address that was named is not waited for
            [line] = said.splitlines()
            self.assertIn(gone.endpoint.encode(), line)
            self.assertIn(b"--endpoint", line)

    def test_wrong_credentials(self):
        self.fails(4, "ls", self.url(), saying="missing.json",
                   env=environment(GOOGLE_APPLICATION_CREDENTIALS="missing.json"))
        self.write("broken.json", b"{")
        done = self.run_it("ls", self.url(),
                           env=environment(GOOGLE_APPLICATION_CREDENTIALS="broken.json"))
        self.assertIn(done.returncode, (2, 4), done.stderr)
        self.assertIn(b"broken.json", done.stderr)
        self.fails(2, "ls", self.url(), "--endpoint", "ftp://x", env=environment())


if __name__ == "__main__":
    main(__doc__)
