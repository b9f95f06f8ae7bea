#!/usr/bin/env python3
"""Checks the shape of the library: layers, who may see which header, what no header may do.

    tests/style/layers.py [--root DIR] [--fix-umbrella]

Folders of include/dataflux are layers. A file includes lower layers and its own folder, never a
sibling and never upward. Each third-party library but OpenSSL is seen by one .ipp. Every .ipp is
compiled by src/<layer>.cpp and every public header is in dataflux.hpp. Prints one finding a line,
`file:line: what`; exit status 1 if there is any. layers_test.py shows that each rule can fail.
"""

import argparse
import re
import sys
from pathlib import Path

# A layer sees those of lower rank, and never one of equal rank.
RANK = {"core": 0, "codec": 1, "exec": 1, "http": 2, "auth": 3, "store": 4, "gcs": 5, "s3": 5,
        "transfer": 6, "list": 7, "download": 7, "checkpoint": 7, "dataset": 8}
# Features stand on object_store, whatever service is behind it.
SERVICE_LAYERS = {"http", "auth", "gcs", "s3"}
FIRST_FEATURE_RANK = RANK["transfer"]

STD_HEADER = re.compile(r"[a-z_]+$")  # <vector>: one word, no extension
SYSTEM_HEADER = re.compile(
    r"(arpa/inet|dirent|fcntl|netdb|netinet/(in|tcp)|poll|pthread|sched|semaphore|signal|stdlib|"
    r"sys/(epoll|eventfd|ioctl|mman|resource|socket|stat|syscall|timerfd|types|uio|un)|time|unistd|"
    r"immintrin|linux/\w+)\.h$")
THIRD_PARTY = {"curl": r"curl/", "openssl": r"openssl/", "simdjson": r"simdjson",
               "pugixml": r"pugi", "isa-l": r"(isa-l|crc\.h|crc64\.h)"}
# Cheap C headers with several unrelated uses: base64, signing, certificates.
SEEN_BY_SEVERAL = {"openssl"}

FORBIDDEN = [
    (r"<(iostream|cstdio|stdio\.h|cassert|assert\.h|syslog\.h|print)>", "a library header that prints or aborts"),
    (r"\b(printf|fprintf|vprintf|vfprintf|puts|fputs|perror)\s*\(", "the library never prints"),
    (r"\bstd::(cout|cerr|clog)\b", "the library never prints"),
    (r"(std|(?<![\w>])):: *(abort|_?[eE]xit|quick_exit|terminate)\s*\(", "the library never ends the process"),
    (r"\bassert\s*\(", "a failed invariant is an error, not an abort"),
    (r"\b(TODO|FIXME|XXX|HACK)\b", "unfinished work belongs into the tracker"),
    (r"\busing namespace\b", "no using-directive in a header"),
]
FORBIDDEN = [(re.compile(pattern), why) for pattern, why in FORBIDDEN]
# Guards that the Arrow specification asks for around its structures.
ALLOWED_MACRO = re.compile(r"DATAFLUX_COMPILED|\bARROW_C_(DATA|STREAM)_INTERFACE\b")
POOR_NAME = re.compile(r"(utils?|common|misc|helpers?)(_|\.|$)")
LINE_LIMIT = {".hpp": 250, ".ipp": 400}
INCLUDE = re.compile(r"\s*#\s*include\s*([<\"])([^>\"]+)[>\"]")
UMBRELLA_HEAD = """#pragma once

/// Every public header of the library; defines nothing. `tests/style/layers.py --fix-umbrella`
/// rewrites it.
"""


class Source:
    def __init__(self, root, path):
        self.name = path.relative_to(root / "include").as_posix()  # dataflux/http/url.hpp
        self.shown = path.relative_to(root).as_posix()
        self.lines = path.read_text(encoding="utf-8").splitlines()
        parts = self.name.split("/")[1:]
        self.layer = parts[0] if len(parts) > 1 and parts[0] not in ("impl", "detail") else "core"
        self.inner = [p for p in parts[:-1] if p in ("impl", "detail")]
        self.suffix = path.suffix
        self.stem = path.stem
        self.includes = [(number, match.group(1), match.group(2))
                         for number, line in enumerate(self.lines, 1)
                         if (match := INCLUDE.match(line))]

        self.targets = {target for _, _, target in self.includes}
        self.ending = self.ending_lines()

    def ending_lines(self):
        """Numbers of the lines between `#if !defined(DATAFLUX_COMPILED)` and `#endif` at the end."""
        start = "#if !defined(DATAFLUX_COMPILED)"
        if self.lines[-1:] != ["#endif"] or start not in self.lines:
            return range(0)
        return range(len(self.lines) - self.lines[::-1].index(start) + 1, len(self.lines))

    @property
    def public(self):
        return self.suffix == ".hpp" and not self.inner


class Check:
    def __init__(self, root):
        self.root = root
        self.findings = []
        paths = sorted(p for p in (root / "include/dataflux").rglob("*") if p.is_file())
        self.sources = {s.name: s for s in (Source(root, p) for p in paths)}
        self.umbrella = self.sources.pop("dataflux/dataflux.hpp", None)

    def say(self, source, line, what):
        self.findings.append(f"{source.shown}:{line}: {what}")

    def run(self):
        for source in self.sources.values():
            self.check_place(source)
            for number, quote, target in source.includes:
                self.check_include(source, number, quote, target)
            self.check_text(source)
            self.check_pairing(source)
        self.check_third_party()
        self.check_compiled_sources()
        self.check_umbrella()
        return self.findings

    def check_place(self, source):
        if source.suffix not in LINE_LIMIT:
            self.say(source, 1, "only .hpp and .ipp live under include/")
        elif source.layer not in RANK:
            self.say(source, 1, f"'{source.layer}' is no layer")
        elif (source.suffix == ".ipp") != ("impl" in source.inner):
            self.say(source, 1, "definitions live in impl/*.ipp, and nothing else does")
        if POOR_NAME.search(source.name):
            self.say(source, 1, "a name that says nothing")
        limit = LINE_LIMIT.get(source.suffix, 0)
        if limit and len(source.lines) > limit:
            self.say(source, limit + 1, f"{len(source.lines)} lines; at most {limit} read well")
        if source.lines[:1] != ["#pragma once"]:
            self.say(source, 1, "does not begin with #pragma once")

    def check_include(self, source, number, quote, target):
        if quote == '"':
            self.say(source, number, "include by <dataflux/...>, not by quotes")
        elif target.startswith("dataflux/"):
            self.check_own_include(source, number, target)
        elif STD_HEADER.match(target):
            pass
        elif SYSTEM_HEADER.match(target):
            if source.public:
                self.say(source, number, f"<{target}> may be seen by impl/ and detail/ only")
        elif self.library_of(target) is None:
            self.say(source, number, f"<{target}> is of no library that dataflux uses")
        elif source.suffix != ".ipp":
            self.say(source, number, f"<{target}> may be seen by an .ipp only")

    def check_own_include(self, source, number, target):
        seen = self.sources.get(target)
        if seen is None:
            self.say(source, number, f"<{target}> does not exist, or is the umbrella header")
            return
        if seen.layer != source.layer:
            rank, seen_rank = RANK.get(source.layer, 99), RANK.get(seen.layer, 99)
            if seen_rank >= rank:
                self.say(source, number, f"{source.layer} must not see {seen.layer}")
            elif rank >= FIRST_FEATURE_RANK and seen.layer in SERVICE_LAYERS:
                self.say(source, number, f"{source.layer} must reach {seen.layer} through store")
            if seen.inner:
                self.say(source, number, f"<{target}> is private to {seen.layer}")
        if seen.suffix == ".ipp" and source.suffix == ".hpp" and number not in source.ending:
            self.say(source, number, "a header includes an .ipp at its end only, as HACKING.md says")

    def check_text(self, source):
        for number, line in enumerate(source.lines, 1):
            if len(line) > 100:
                self.say(source, number, f"{len(line)} columns")
            code = line.split("//")[0]
            for pattern, why in FORBIDDEN:
                text = line if "TODO" in pattern.pattern else code
                if pattern.search(text):
                    self.say(source, number, why)
            if re.match(r"\s*namespace\s*\{", code):
                self.say(source, number, "no unnamed namespace: it differs per translation unit")
            condition = re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b(.*)", code)
            if condition and source.suffix == ".hpp" and source.name != "dataflux/config.hpp" \
                    and not ALLOWED_MACRO.search(condition.group(2)):
                self.say(source, number, "no macro but DATAFLUX_COMPILED decides what a header says")

    def check_pairing(self, source):
        """In header-only mode some header ends with this .ipp."""
        if source.suffix != ".ipp":
            return
        header_name = source.name.replace("/impl/", "/")[:-len("ipp")] + "hpp"
        if header_name in self.sources and header_name not in source.targets:
            self.say(source, 1, f"does not include <{header_name}>")
        if not any(number in header.ending for header in self.sources.values()
                   for number, _, target in header.includes if target == source.name):
            self.say(source, 1, "no header ends with it, as HACKING.md says")

    @staticmethod
    def library_of(target):
        return next((n for n, p in THIRD_PARTY.items() if re.match(p, target)), None)

    def check_third_party(self):
        users = {}
        for source in self.sources.values():
            for number, _, target in source.includes:
                library = self.library_of(target)
                if library is not None and library not in SEEN_BY_SEVERAL:
                    users.setdefault(library, {}).setdefault(source.name, (source, number))
        for library, places in users.items():
            for source, number in list(places.values())[1:]:
                self.say(source, number, f"{library} is already seen by {next(iter(places))}")

    def check_compiled_sources(self):
        included = {}
        for path in sorted((self.root / "src").glob("*.cpp")):
            text = path.read_text(encoding="utf-8")
            included[path.stem] = set(re.findall(r"#include <(dataflux/\S+\.ipp)>", text))
        for source in self.sources.values():
            if source.suffix == ".ipp" and source.name not in included.get(source.layer, ()):
                self.say(source, 1, f"is not compiled by src/{source.layer}.cpp")
        for layer, names in included.items():
            for name in sorted(names):
                if name not in self.sources or self.sources[name].layer != layer:
                    self.findings.append(f"src/{layer}.cpp:1: <{name}> is not of this layer")

    def umbrella_text(self):
        public = [s.name for s in self.sources.values() if s.public and s.layer in RANK]
        public.sort()
        return UMBRELLA_HEAD + "\n" + "".join(f"#include <{name}>\n" for name in public)

    def check_umbrella(self):
        text = "\n".join(self.umbrella.lines) + "\n" if self.umbrella else ""
        if text != self.umbrella_text():
            self.findings.append("include/dataflux/dataflux.hpp:1: is not what --fix-umbrella writes")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    arguments.add_argument("--fix-umbrella", action="store_true")
    options = arguments.parse_args()
    check = Check(options.root)
    if options.fix_umbrella:
        umbrella = options.root / "include/dataflux/dataflux.hpp"
        umbrella.write_text(check.umbrella_text(), encoding="utf-8")
        check = Check(options.root)
    findings = check.run()
    print("\n".join(findings) if findings else f"layers: {len(check.sources)} files, no finding")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
