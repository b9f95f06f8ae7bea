#!/usr/bin/env python3
"""Plays the table of behaviour through the driver of one language, and compares what it answers.

    run.py --emulator PROGRAM --language NAME [--library FILE] [-k PART] [--junitxml=FILE] DRIVER...

DRIVER is its command line. With --library it is one of Python, of the package in this tree. Each line
of the table is a test case of its own, named by what it is about; -k reports those whose names have
PART in them. As of pytest the report is JUnit's, and the exit status 1 if anything differs, 5 if -k
names none.
"""

import argparse
import json
import os
import queue
import re
import subprocess
import sys
import threading
import urllib.parse
import xml.etree.ElementTree as ET
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "cli"))
from pattern import combined, crc32c, pattern  # noqa: E402
from service import Emulator, token_of  # noqa: E402

LIMIT = 60  # seconds for one call; nothing here takes more than a few
CHANGES = {"put", "write", "abandon", "overtaken", "remove", "copy", "move", "compose", "commit_set"}
LANGUAGES = {"cpp", "c", "python", "python_async", "rust"}


def languages_of(words, number):
    languages = words.replace(",", " ").split()
    for language in languages:
        if language not in LANGUAGES:
            raise SystemExit(f"table.txt:{number}: {language!r} is no language")
    return languages


class Case:
    """A line of the table: a call with what it has to answer, or a line for the service."""

    def __init__(self, number, section, line):
        self.number = number
        self.call, arrow, expected = (" ".join(part.split()) for part in line.partition("=>"))
        if not arrow and not line.startswith("!"):
            raise SystemExit(f"table.txt:{number}: no answer behind '=>'")
        self.for_service = self.call.startswith("!")
        self.name = f"{section}: {self.call}"
        self.expected, *others = expected.split(" | ")
        self.by_language = {}
        for other in others:
            languages, _, answer = other.partition(": ")
            self.by_language.update(dict.fromkeys(languages_of(languages, number), answer))

    def answer(self, language):
        """What the language has to answer, with checksums in the place of @."""
        words = self.by_language.get(language, self.expected).split()
        for i, word in enumerate(words):
            if word.startswith("@"):
                words[i] = f"{checksum(word[1:] or '0:' + words[i - 1]):08x}"
        return " ".join(words)


def read_table(path, language):
    section, left_out = "", False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("## "):
            section, _, without = line[3:].partition(" without ")
            left_out = language in languages_of(without, number)
        elif line.strip() and not line.startswith("#") and not left_out:
            yield Case(number, section, line)


known = {}


def checksum(pieces):
    """Of pieces of the pattern: OFFSET:LENGTH, or OFFSET:LENGTHxTIMES, with "+" between."""
    crc = 0
    for piece in pieces.split("+"):
        offset, length, times = map(int, re.fullmatch(r"(\d+):(\d+)(?:x(\d+))?", piece).groups("1"))
        place = offset % 251, length
        if place not in known:
            known[place] = crc32c(pattern(length, offset))
        crc = combined(crc, known[place], length, times)
    return crc


class Driver:
    """The program of a language: a line goes in, a line comes out."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.answers = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put(None)

    def ask(self, line):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
            came = self.answers.get(timeout=LIMIT)
        except queue.Empty:
            self.process.kill()
            return f"(no answer within {LIMIT} s)"
        except BrokenPipeError:
            came = None
        return "(the driver has ended)" if came is None else came.decode(errors="replace").strip()

    def end(self):
        """Its exit status once it has read all; None where it did not end."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            return self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


class Play:
    def __init__(self, emulator, driver, language):
        self.emulator, self.driver, self.language = emulator, driver, language
        self.generations = {}

    def bucket(self, name):
        """Each language has buckets of its own, though the emulator is, too."""
        return name if name == '""' else f"{name}-{self.language.replace('_', '-')}"

    def line(self, call):
        """What the driver reads: the bucket, and the call with its generations."""
        bucket = "bucket"
        if call.startswith("in "):
            _, bucket, call = call.split(" ", 2)
        for name, generation in self.generations.items():
            call = call.replace(f"=${name}", f"={generation}")
        return f"{self.bucket(bucket)} {call}"

    def serve(self, words):
        """Carries out a line for the service; gives why that is a failure, or None."""
        what = words[0]
        if what == "fault":
            self.emulator.ask("DELETE", "/_emulator/faults")
            if len(words) > 1:
                self.emulator.ask("POST", "/_emulator/faults", " ".join(words[1:]).encode())
        elif what == "bucket":
            settings = dict.fromkeys(words[2:], True)
            self.emulator.ask("PATCH", f"/_emulator/buckets/{self.bucket(words[1])}",
                              json.dumps(settings).encode())
        elif what == "keep":
            name = urllib.parse.quote(words[1], safe="")
            self.generations[words[1]] = json.loads(self.emulator.ask(
                "GET", f"/storage/v1/b/{self.bucket('bucket')}/o/{name}"))["generation"]
        elif what == "leftovers":
            uploads = len(self.emulator.open_uploads())
            temporary = sum(name.startswith("dataflux-") for name in self.emulator.names())
            if uploads + temporary != int(words[1]):
                return f"{uploads} uploads are open, {temporary} temporary objects are there"
        else:
            return f"the service knows no '{what}'"
        return None

    def case(self, case):
        """Why it has failed, as lines; none where it has not."""
        if case.for_service:
            why = self.serve(case.call.removeprefix("!").split())
            return [why] if why else []
        wanted = case.answer(self.language)
        line = self.line(case.call)
        answer, _, said = self.driver.ask(line).partition(" # ")
        answer = answer.strip()
        if line.split()[1] not in CHANGES or answer.startswith("error deadline_exceeded"):
            answer = answer.removesuffix(" maybe")
        if answer == wanted:
            return []
        return [f"wanted {wanted!r}, and {self.language} answers {answer!r}",
                *([f"it says: {said}"] if said else [])]


def write_report(path, results):
    suite = ET.Element("testsuite", name="behaviour", tests=str(len(results)),
                       failures=str(sum(1 for _, why in results if why)))
    for case, why in results:
        told = ET.SubElement(suite, "testcase", classname=f"table.txt:{case.number}", name=case.name)
        if why:
            ET.SubElement(told, "failure", message="\n".join(why))
    ET.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def environment_of(library):
    environment = dict(os.environ)
    if library:
        environment["DATAFLUX_LIBRARY"] = library
        environment["PYTHONPATH"] = str(HERE.parents[1] / "python/src")
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return environment


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--emulator", required=True)
    arguments.add_argument("--language", required=True, choices=sorted(LANGUAGES))
    arguments.add_argument("--library")
    arguments.add_argument("-k", dest="part", default="")
    arguments.add_argument("--junitxml", type=Path)
    arguments.add_argument("driver", nargs="+")
    options = arguments.parse_args()

    cases = list(read_table(HERE / "table.txt", options.language))
    emulator = Emulator(options.emulator, f"bucket-{options.language.replace('_', '-')}",
                        "--require-token")
    try:
        driver = Driver([*options.driver, emulator.endpoint, token_of(emulator.endpoint)],
                        environment_of(options.library))
        play = Play(emulator, driver, options.language)
        results = [(case, play.case(case)) for case in cases]
        status = driver.end()
    finally:
        emulator.close()
    if status != 0:
        results[-1][1].append("the driver did not end" if status is None
                              else f"the driver's exit status is {status}")
    results = [(case, why) for case, why in results if options.part in case.name or status != 0]
    if options.junitxml:
        write_report(options.junitxml, results)
    for case, why in results:
        if why:
            print(f"table.txt:{case.number}: {case.name}", *why, sep="\n    ")
    failed = sum(1 for _, why in results if why)
    print(f"{len(results) - failed} of {len(results)} lines as the table says")
    sys.exit(5 if not results else 1 if failed else 0)


if __name__ == "__main__":
    main()
