#!/usr/bin/env python3
"""The verbs of `dataflux shards` that write, run as a person runs them: shards here and in a bucket.

    shards_writing.py --dataflux PROGRAM --emulator PROGRAM [TEST...]
"""

import io
import os
import resource
import signal
import sys
import tarfile

sys.dont_write_bytecode = True
from command_case import BUCKET, Case, main, options  # noqa: E402
from service import Guarded, wait_until  # noqa: E402


def tar_of(samples):
    """The archive of (key, {field: bytes}) as the command writes it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for key, fields in samples:
            for field in sorted(fields):
                info = tarfile.TarInfo(f"{key}.{field}")
                info.size, info.mode = len(fields[field]), 0o444
                archive.addfile(info, io.BytesIO(fields[field]))
        end = archive.offset
    return out.getvalue()[:end] + bytes(1024)


def samples_of(content):
    """What tarfile reads."""
    samples = []
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            folder, slash, name = member.name.rpartition("/")
            key, _, field = name.partition(".")
            key = folder + slash + key
            if not samples or samples[-1][0] != key:
                samples.append((key, {}))
            samples[-1][1][field] = archive.extractfile(member).read()
    return samples


class Writing(Case):
    SAMPLES = [(f"k{i}", {"cls": str(i % 3).encode(), "bin": bytes([i]) * (i * 100)}) for i in range(10)]

    def setUp(self):
        super().setUp()
        self.service = Guarded(options.emulator, BUCKET)
        self.addCleanup(self.service.close)
        self.environment = self.service.environment
        self.write("in/a.tar", tar_of(self.SAMPLES[:6]))
        self.write("in/b.tar", tar_of(self.SAMPLES[6:]))
        self.service.put("t/a.tar", tar_of(self.SAMPLES[:6]))
        self.service.put("t/b.tar", tar_of(self.SAMPLES[6:]))

    def lines(self, *arguments, **more):
        return self.ok("shards", *arguments, **more).decode().splitlines()

    def here(self, name="out.tar"):
        return (self.folder / name).read_bytes()

    def test_cat_from_anywhere_to_anywhere(self):
        whole = tar_of(self.SAMPLES)
        for number, inputs in enumerate((["in"], ["in/a.tar", "in/b.tar"], [self.url("t")], [self.url("t/")],
                                         [self.url("t/a.tar"), "in/b.tar"])):
            said = self.lines("cat", *inputs, "-o", f"{number}.tar")
            self.assertEqual([f"{number}.tar: 10 samples, {len(whole)} bytes; no more samples",
                              f"1 shards, 10 samples, {len(whole)} bytes"], said)
            self.assertEqual(whole, self.here(f"{number}.tar"))
        self.assertIn(f"{self.url('o.tar')}: 10 samples", self.lines("cat", "in", "-o", self.url("o.tar"))[0])
        self.assertEqual(whole, self.service.get("o.tar"))
        self.assertIsNotNone(self.service.get("o.tar.dfx"))
        with open(self.folder / "in/a.tar", "rb") as stream:
            self.lines("cat", "-", "-o", "piped.tar", stdin=stream)
        self.assertEqual(tar_of(self.SAMPLES[:6]), self.here("piped.tar"))

    def test_what_is_there_is_never_replaced(self):
        self.write("out.tar", b"mine")
        self.service.put("out.tar", b"mine")
        self.fails(1, "shards", "cat", "in", "-o", "out.tar", saying="there already")
        self.fails(1, "shards", "cat", "in", "-o", self.url("out.tar"), saying="there already")
        self.assertEqual((b"mine", b"mine"), (self.here(), self.service.get("out.tar")))
        self.fails(2, "shards", "cat", "in", "-o", "-")

    def test_split_by_what_is_said_alone(self):
        said = self.lines("split", "in", "-o", "s-%03d.tar", "--count", "4", "--first", "7")
        self.assertEqual(["s-007.tar: 4 samples", "s-008.tar: 4 samples", "s-009.tar: 2 samples"],
                         [line.partition(",")[0] for line in said[:-1]])
        self.assertTrue(said[0].endswith("; the next sample would be above --count"), said)
        self.assertEqual(self.SAMPLES, sum((samples_of(self.here(f"s-00{i}.tar")) for i in (7, 8, 9)), []))
        said = self.lines("split", self.url("t"), "-o", self.url("s/%02d.tar"), "--bytes", "6000")
        self.assertTrue(said[0].endswith("; the next sample would be above --bytes"), said)
        got = [self.service.get(f"s/{i:02d}.tar") for i in range(len(said) - 1)]
        self.assertTrue(all(len(each) <= 6000 for each in got))
        self.assertEqual(self.SAMPLES, sum(map(samples_of, got), []))
        self.fails(2, "shards", "split", "in", "-o", "x-%03d.tar", saying="how large")
        self.fails(2, "shards", "split", "in", "-o", "x.tar", "--count", "4", saying="%06d")

    def test_a_choice_of_samples(self):
        self.write("keys", b"k7\nk2\n")
        self.lines("cat", "in", "-o", "out.tar", "--select", "keys", "--fields", "label=none;cls", "--rekey",
                   "n/%04d")
        self.assertEqual(tar_of([("n/0000", {"label": b"2"}), ("n/0001", {"label": b"1"})]), self.here())
        self.lines("cat", "in", "-o", "slice.tar", "--slice", "1:8:3")
        self.assertEqual(tar_of(self.SAMPLES[1:8:3]), self.here("slice.tar"))
        self.write("keys", b"k7\nother\n")
        self.fails(3, "shards", "cat", "in", "-o", "x.tar", "--select", "keys", saying='1 of the keys')
        self.fails(3, "shards", "cat", "in", "-o", "x.tar", "--fields", "png", saying='no field "png"')
        self.fails(2, "shards", "cat", "in", "-o", "x.tar", "--slice", "a:b")
        self.fails(2, "shards", "cat", "in", "-o", "x.tar", "--slice", ":0")
        self.fails(2, "shards", "cat", "in", "-o", "x.tar", "--fields", "=")
        self.fails(2, "shards", "cat", "in", "-o", "x.tar", "--rekey", "same", saying="train/%08d")
        self.fails(2, "shards", "cat", "in", "-o", "x.tar", "--slice", "5", saying="FIRST:END")
        self.fails(2, "shards", "create", "-o", "x.tar", saying="--list")
        self.fails(0, "shards", "cat", "in", "-o", "x.tar", "--slice", "70:80", saying="no sample was chosen")
        self.assertFalse((self.folder / "x.tar").exists())

    def test_shuffle_is_a_permutation_and_the_same_everywhere(self):
        self.lines("shuffle", "in", "-o", "a.tar", "--seed", "7")
        self.lines("shuffle", self.url("t"), "-o", "b.tar", "--seed", "7")
        self.lines("shuffle", "in", "-o", "c.tar")
        self.lines("index", self.url("t"), "t.dfx")
        self.lines("shuffle", "t.dfx", "-o", "d.tar", "--seed", "7")
        self.assertEqual(self.here("a.tar"), self.here("b.tar"))
        self.assertEqual(self.here("a.tar"), self.here("d.tar"))
        for name in ("a.tar", "c.tar"):
            samples = samples_of(self.here(name))
            self.assertNotEqual(self.SAMPLES, samples)
            self.assertEqual(self.SAMPLES, sorted(samples, key=lambda each: each[0]))
        self.assertNotEqual(self.here("a.tar"), self.here("c.tar"))
        self.lines("shuffle", "in", "-o", "e-%02d.tar", "--count", "3", "--seed", "7")
        self.assertEqual(samples_of(self.here("a.tar")),
                         sum((samples_of(self.here(f"e-{i:02d}.tar")) for i in range(4)), []))

    def test_sort_is_stable_and_loses_nothing(self):
        expected = sorted(self.SAMPLES, key=lambda each: each[1]["cls"])
        for number, source in enumerate(("in", self.url("t"))):
            self.lines("sort", source, "-o", f"{number}.tar", "--by", "cls")
            self.assertEqual(tar_of(expected), self.here(f"{number}.tar"))
        self.lines("sort", "0.tar", "-o", "key.tar", "--by", "key")
        self.assertEqual(tar_of(self.SAMPLES), self.here("key.tar"))
        self.fails(3, "shards", "sort", "in", "-o", "x.tar", "--by", "png", saying="no field 'png'")
        self.fails(1, "shards", "sort", "in/a.tar", "in/a.tar", "-o", "x.tar", "--by", "key",
                   saying="the key of the sample before it")
        self.assertFalse((self.folder / "x.tar").exists())

    def test_join_of_two_sets(self):
        right = [(f"k{i}", {"txt": str(i).encode()}) for i in (9, 3, 5, 77)]
        self.write("right/r.tar", tar_of(right))
        self.lines("join", self.url("t"), "right", "-o", "out.tar")
        self.assertEqual(tar_of([(f"k{i}", {**self.SAMPLES[i][1], "txt": str(i).encode()}) for i in (3, 5, 9)]),
                         self.here())
        self.lines("join", "right", "in", "-o", "left.tar", "--left", "--fields", "txt")
        self.assertEqual(tar_of(right), self.here("left.tar"))
        self.lines("join", "in/a.tar", "in", "-o", "both.tar", "--right-prefix", "r.")
        self.assertEqual({"cls", "bin", "r.cls", "r.bin"}, set(samples_of(self.here("both.tar"))[0][1]))
        self.fails(1, "shards", "join", "in", "in", "-o", "x.tar", saying="has that field twice")
        self.write("none/a.tar", tar_of([("other", {"a": b""})]))
        self.fails(0, "shards", "join", "in", "none", "-o", "x.tar", saying="no key of the first is in the second")
        self.write("two/a.tar", tar_of([("k1", {"a": b""}), ("k2", {"a": b""}), ("k1", {"a": b""})]))
        said = self.fails(1, "shards", "join", "in", "two", "-o", "x.tar", saying="again")
        self.assertNotIn("all pairs", said[0])
        self.assertEqual(2, self.run_it("shards", "join", "in", "-o", "x.tar").returncode)

    def test_map_by_a_command(self):
        self.lines("map", "in", "-o", "out.tar", "-c", "tr 0-9 a-j <sample.cls >sample.letter; rm sample.bin;"
                                                       " echo -n $DATAFLUX_KEY >sample.name")
        self.assertEqual(tar_of([(key, {"cls": f["cls"], "letter": bytes([49 + f["cls"][0]]), "name": key.encode()})
                                 for key, f in self.SAMPLES]), self.here())
        said = self.fails(5, "shards", "map", self.url("t"), "-o", "part.tar", "-c",
                          "test $DATAFLUX_KEY != k3", saying="the sample 'k3', which is left out")
        self.assertEqual(1, len(said))
        self.assertEqual(tar_of(self.SAMPLES[:3] + self.SAMPLES[4:]), self.here("part.tar"))

    def test_what_a_command_leaves_that_is_no_sample(self):
        said = self.fails(5, "shards", "map", "in", "-o", "more.tar", "-c", "test $DATAFLUX_KEY != k3 || echo x >other",
                          saying=("1 files", "'other' of the sample 'k3'", "--leave-out"))
        self.assertEqual(1, len(said))
        self.assertEqual(tar_of(self.SAMPLES), self.here("more.tar"))
        self.fails(0, "shards", "map", "in", "-o", "less.tar", "--leave-out", "-c", "mkdir d", saying="10 files")
        said = self.fails(5, "shards", "map", "in", "-o", "part.tar", "-c",
                          "test $DATAFLUX_KEY != k3 || rm sample.*", saying="no field for the sample 'k3', which is left out")
        self.assertEqual(1, len(said))
        self.assertEqual(tar_of(self.SAMPLES[:3] + self.SAMPLES[4:]), self.here("part.tar"))

    def test_create_from_folders_and_prefixes(self):
        for name in ("d/b.jpg", "d/b.cls", "a.d/x.jpg", "a.jpg", "a.cls"):
            self.write("files/" + name, name.encode())
            self.service.put("files/" + name, name.encode())
        expected = tar_of([("a", {"jpg": b"a.jpg", "cls": b"a.cls"}), ("a.d/x", {"jpg": b"a.d/x.jpg"}),
                           ("d/b", {"jpg": b"d/b.jpg", "cls": b"d/b.cls"})])
        self.lines("create", "files", "-o", "out.tar")
        self.lines("create", self.url("files"), "-o", self.url("out.tar"))
        self.assertEqual((expected, expected), (self.here(), self.service.get("out.tar")))
        self.ok("manifest", "create", self.url("files"), "saved")
        self.lines("create", "--manifest", "saved", "-o", "saved.tar")
        self.assertEqual([key for key, _ in samples_of(self.here("saved.tar"))], ["files/a", "files/a.d/x", "files/d/b"])
        (self.folder / "files/link").symlink_to("d")
        self.fails(6, "shards", "create", "files", "-o", "x.tar", saying="files/link")
        (self.folder / "files/link").unlink()
        self.write("files/README", b"no field")
        self.fails(5, "shards", "create", "files", "-o", "more.tar", saying=("1 members are in no sample", "README"))
        self.assertEqual(expected, self.here("more.tar"))
        done = self.run_it("shards", "create", "files", "-o", "less.tar", "--leave-out")
        self.assertEqual(0, done.returncode)
        self.assertIn(b"1 members are in no sample", done.stderr)

    def test_create_from_a_list(self):
        self.write("x", b"of x")
        self.service.put("y", b"of y")
        self.write("list", f"b.jpg x\nb.cls text:two words\na.jpg\tfile:x\na.txt {self.url('y')}\n".encode())
        self.lines("create", "--list", "list", "-o", "out.tar")
        expected = [("b", {"jpg": b"of x", "cls": b"two words"}), ("a", {"jpg": b"of x", "txt": b"of y"})]
        self.assertEqual(tar_of(expected), self.here())
        self.write("list", b"a.txt pipe:printf hi\n")
        self.fails(2, "shards", "create", "--list", "list", "-o", "x.tar", saying="--allow-pipe")
        self.lines("create", "--list", "list", "-o", "pipe.tar", "--allow-pipe")
        self.assertEqual(tar_of([("a", {"txt": b"hi"})]), self.here("pipe.tar"))
        self.write("list", b"a.txt pipe:exit 3\n")
        self.fails(1, "shards", "create", "--list", "list", "-o", "x.tar", "--allow-pipe", saying="exit 3")
        for bad in (b"a.txt\n", b" x\n", b"a.txt none\n"):
            self.write("list", bad)
            self.assertNotEqual(0, self.run_it("shards", "create", "--list", "list", "-o", "x.tar").returncode)
        self.assertFalse((self.folder / "x.tar").exists())

    def test_interrupted_it_leaves_whole_shards_alone(self):
        program = self.start("shards", "map", "in", "-o", "out-%02d.tar", "--count", "2", "-c",
                             "sleep 0.2", env=self.environment)
        wait_until((self.folder / "out-01.tar").exists)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=60)
        self.assertEqual(130, program.returncode, said)
        self.assertIn(b"interrupted; shards that are there are whole", said)
        made = sorted(path.name for path in self.folder.glob("out-*"))
        self.assertLess(len(made), 5)
        for number, name in enumerate(made):
            self.assertEqual(tar_of(self.SAMPLES[2 * number:2 * number + 2]), self.here(name))

    def test_a_signal_ends_the_command_that_runs(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            program = self.start("shards", "map", "in", "-o", "out.tar", "-c", "touch ../begun; exec sleep 600",
                                 env={**self.environment, "TMPDIR": str(self.folder)})
            wait_until((self.folder / "begun").exists)
            program.send_signal(number)
            _, said = program.communicate(timeout=60)
            self.assertEqual(128 + number, program.returncode, said)
            self.assertNotIn(b"left out", said)
            self.assertEqual(["begun", "in"], sorted(path.name for path in self.folder.iterdir()))
            (self.folder / "begun").unlink()

    def test_names_that_end_at_a_nul(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            info = tarfile.TarInfo("x")
            info.pax_headers = {"path": "a.b\0c"}
            archive.addfile(info)
        self.write("nul/a.tar", out.getvalue())
        self.fails(1, "shards", "map", "nul", "-o", "x.tar", "-c", "true", saying="NUL")
        self.assertFalse((self.folder / "x.tar").exists())

    def test_names_of_outputs(self):
        for name in ("out.tar.gz", "out.tgz", "out-%03d.tar.zst", self.url("out.tar.gz")):
            self.fails(2, "shards", "cat", "in", "-o", name, "--count", "5", saying="without compression")
        os.mkfifo(self.folder / "pipe")
        self.fails(1, "shards", "cat", "in", "-o", "pipe", saying="there already")
        self.fails(6, "shards", "index", self.url("t"), "pipe", saying="FIFO")
        self.fails(6, "manifest", "create", self.url("t"), "pipe", saying="FIFO")
        self.ok("shards", "index", self.url("t"), "t.dfx")
        self.assertTrue((self.folder / "pipe").is_fifo())

    def test_numbers_are_numbers(self):
        for number in ("-1", "99999999999999999999999", "0x10", "1.5", "+1"):
            for option in ("--count", "--bytes", "--first"):
                self.fails_to_parse("cat", "in", "-o", "x-%03d.tar", f"{option}={number}")
            self.fails_to_parse("shuffle", "in", "-o", "x.tar", f"--seed={number}")
            self.fails_to_parse("index", self.url("t"), "t.dfx", f"--skip-from={number}")
        self.lines("shuffle", "in", "-o", "most.tar", "--seed", str(2**64 - 1))

    def fails_to_parse(self, *words):
        done = self.run_it("shards", *words)
        self.assertEqual(2, done.returncode, words)
        self.assertIn(b"is no number from 0", done.stderr, words)

    def test_a_full_disk_is_no_fault_of_the_service(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # noqa: E731
        self.fails(6, "shards", "cat", "in", "-o", "x.tar", preexec_fn=limit)
        self.fails(6, "shards", "index", self.url("t"), "t.dfx", preexec_fn=limit)

    def test_loss_is_never_silent(self):
        damaged = bytearray(tar_of(self.SAMPLES))
        damaged[512] ^= 1  # the second header
        self.write("bad/a.tar", damaged)
        self.write("cut/a.tar", tar_of(self.SAMPLES)[:3000])
        self.service.put("bad/a.tar", bytes(damaged))
        for verb in (["cat"], ["shuffle"], ["sort", "--by", "key"]):
            for source in ("bad", "cut", self.url("bad")):
                self.fails(7, "shards", verb[0], source, "-o", "x.tar", *verb[1:], saying="a.tar")
        self.fails(3, "shards", "cat", "none.tar", "-o", "x.tar")
        self.fails(3, "shards", "cat", self.url("none"), "-o", "x.tar")
        self.assertFalse((self.folder / "x.tar").exists())
        self.lines("index", self.url("bad"), "bad.dfx", "--end-at-damage")
        for number, (verb, *more) in enumerate((["cat"], ["split"], ["shuffle"], ["sort", "--by", "key"],
                                                ["map", "-c", "true"])):
            sources = ["bad", self.url("bad")] + ["bad.dfx"] * (verb in ("shuffle", "sort"))
            for kind, source in enumerate(sources):
                name = f"some{number}{kind}.tar"
                done = self.run_it("shards", verb, source, "-o", name, "--end-at-damage", *more)
                self.assertEqual(5, done.returncode, done.stderr)
                self.assertIn(b"  1 damaged shards, read to the damage\n", done.stdout)
                self.assertIn(b"--leave-out", done.stderr)
                self.fails(0, "shards", verb, source, "-o", "x" + name, "--end-at-damage", "--leave-out", *more,
                           saying="1 damaged shards")

    def test_what_is_permitted_is_counted(self):
        whole = tar_of(self.SAMPLES[:6])
        self.write("odd/a.tar", whole + bytes([7]) * 512)
        self.write("odd/b.tar", tar_of(self.SAMPLES[6:8]) + tar_of(self.SAMPLES[8:]))
        said = self.lines("cat", "odd", "-o", "o.tar", "--ignore-trailing", "--read-concatenated")
        self.assertIn("  1 shards with other bytes behind their end", said)
        self.assertIn("  1 archives behind the first one of a shard, read too", said)
        self.fails(1, "shards", "cat", "odd/a.tar", "-o", "x.tar", saying="--ignore-trailing")
        self.fails(1, "shards", "cat", "odd/b.tar", "-o", "x.tar", saying="--read-concatenated")

    def test_the_first_member_in_no_sample_is_named(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("README"), io.BytesIO())
        content = out.getvalue()[:512] + tar_of(self.SAMPLES)
        self.write("more/a.tar", content)
        self.service.put("more/a.tar", content)
        for number, source in enumerate(("more", self.url("more"))):
            for verb in ("cat", "shuffle"):
                said = self.fails(5, "shards", verb, source, "-o", f"{verb}{number}.tar",
                                  saying=("1 members are in no sample", "more/a.tar: README"))
                self.assertEqual(1, len(said))


if __name__ == "__main__":
    main(__doc__)
