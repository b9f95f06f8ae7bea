#!/usr/bin/env python3
"""Checks the shape of the library: layers, who may see which header, what no header may do.

    tests/style/layers.py [--root DIR] [--list-public]

Folders of include/dataflux are layers. A file includes lower layers and its own folder, never a
sibling and never upward. A header is public or in detail/, which the library alone may include:
examples, the command and the consume tests may not. What is in detail/ is in namespace detail, and
nothing else is, so that a name tells whom it is for. Each third-party library but OpenSSL is seen by
one .ipp. Every .ipp is compiled by src/<layer>.cpp. HACKING.md's picture has the layers of the tree.
Prints one finding a line, `file:line: what`; exit status 1 if there is any. layers_test.py shows
that each rule can fail.
"""

import argparse
import re
import sys
from pathlib import Path

# A layer sees those of lower rank, and never one of equal rank.
RANK = {"core": 0, "codec": 1, "exec": 1, "http": 2, "auth": 3, "store": 4, "service": 5,
        "gcs": 6, "s3": 6, "ais": 6, "transfer": 7, "cache": 7.5, "list": 8, "download": 8, "checkpoint": 8, "folder": 9, "shard": 9,
        "dataset": 10, "simulate": 10}
# Features stand on object_store, whatever service is behind it.
SERVICE_LAYERS = {"http", "auth", "service", "gcs", "s3", "ais"}
FIRST_FEATURE_RANK = RANK["transfer"]

STD_HEADER = re.compile(r"[a-z_]+$")  # <vector>: one word, no extension
SYSTEM_HEADER = re.compile(
    r"(arpa/inet|dirent|fcntl|netdb|netinet/(in|tcp)|poll|pthread|sched|semaphore|signal|spawn|stdlib|"
    r"sys/(epoll|eventfd|ioctl|mman|random|resource|socket|stat|statfs|syscall|timerfd|types|uio|un|wait)|time|unistd|"
    r"immintrin|linux/\w+)\.h$")
THIRD_PARTY = {"curl": r"curl/", "openssl": r"openssl/", "simdjson": r"simdjson",
               "pugixml": r"pugi", "igzip": r"(isa-l/)?igzip_lib", "isa-l": r"(isa-l|crc\.h|crc64\.h)",
               "zstd": r"zstd", "xxhash": r"xxhash"}
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
# Namespaces that users name, besides dataflux itself.
PUBLIC_NAMESPACES = {"gcs", "s3", "ais"}
NAMESPACE = re.compile(r"namespace (?:dataflux::inline DATAFLUX_ABI)?(?:::)?([\w:]*) \{$")
FORWARD = re.compile(r"(template <.*>|(class|struct|enum class) \w+( : [\w:]+)?;|)$")
INCLUDE = re.compile(r"\s*#\s*include\s*([<\"])([^>\"]+)[>\"]")
# What a user may include; and how many of those the front page names.
MOST_PUBLIC_HEADERS = 90
FRONT_PAGE = "dataflux/dataflux.hpp"
FRONT_PAGES = {FRONT_PAGE, "dataflux/testing.hpp"}
MOST_ON_FRONT_PAGE = 20
# Of the lines of all public headers together, without blank ones, includes and conditions.
LEAST_PROSE = 0.4
# Trees outside of include/ that are written as users write.
USER_CODE = ["examples", "programs", "tests/consume", "test_package", "docs", "README.md"]
USER_SUFFIXES = {".hpp", ".cpp", ".md"}
# What the coordinator's base does for all; so often it may be written in the library.
WRITTEN_ONCE = {"deadline_from(": 2, "check_not_forked(": 4, "fork_generation()": 4,
                "std::stop_callback<": 1, "struct stopper": 0, "continue_on<": 2, "step_lost()": 5}
# A member function that may be overridden and is defined elsewhere.
VIRTUAL = re.compile(r"[^;{}]*(?:(?<!::)\b(?:override|final)|\bvirtual\b[^;{}=]*\)[^;{}=]*);")
PICTURE = re.compile(r"^## The picture$.*?^```$(.*?)^```$", re.MULTILINE | re.DOTALL)
PICTURE_LEVEL = re.compile(r"^L(\d+)  ")
PICTURE_LAYER = re.compile(r"(?:^|(?<=\s\s))([a-z0-9_]+)/(?=\s|$)")


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

    def say(self, source, line, what):
        self.findings.append(f"{source.shown}:{line}: {what}")

    def public_headers(self):
        return [s for s in self.sources.values() if s.public]

    def run(self):
        for source in self.sources.values():
            self.check_place(source)
            for number, quote, target in source.includes:
                self.check_include(source, number, quote, target)
            self.check_text(source)
            self.check_pairing(source)
            self.check_virtual(source)
            self.check_namespaces(source)
        self.check_third_party()
        self.check_compiled_sources()
        self.check_public_headers()
        self.check_users()
        self.check_written_once()
        self.check_picture()
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
        if target.startswith("dataflux/needs-"):
            return  # meant to be missing: ends the compiler behind an #error (detail/config.hpp)
        seen = self.sources.get(target)
        if seen is None:
            self.say(source, number, f"<{target}> does not exist")
            return
        if target in FRONT_PAGES:
            self.say(source, number, "a front page is for users, who want all of it")
            return
        if source.name in FRONT_PAGES:
            if not seen.public:
                self.say(source, number, f"<{target}> is not public")
            return
        if seen.layer != source.layer:
            rank, seen_rank = RANK.get(source.layer, 99), RANK.get(seen.layer, 99)
            if seen_rank >= rank:
                self.say(source, number, f"{source.layer} must not see {seen.layer}")
            elif rank >= FIRST_FEATURE_RANK and seen.layer in SERVICE_LAYERS:
                self.say(source, number, f"{source.layer} must reach {seen.layer} through store")
            if "impl" in seen.inner:
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
            if condition and source.suffix == ".hpp" and source.name != "dataflux/detail/config.hpp" \
                    and not ALLOWED_MACRO.search(condition.group(2)):
                self.say(source, number, "no macro but DATAFLUX_COMPILED decides what a header says")

    def check_pairing(self, source):
        """In header-only mode some header ends with this .ipp."""
        if source.suffix != ".ipp":
            return
        for folder in ("/", "/detail/"):
            header_name = source.name.replace("/impl/", folder)[:-len("ipp")] + "hpp"
            if header_name in self.sources and header_name not in source.targets:
                self.say(source, 1, f"does not include <{header_name}>")
        if not any(number in header.ending for header in self.sources.values()
                   for number, _, target in header.includes if target == source.name):
            self.say(source, 1, "no header ends with it, as HACKING.md says")

    def check_virtual(self, source):
        """Declared inline in header-only mode: g++ emits the vtable of a class whose first virtual
        function is not, and all that it calls, into each source that includes the header."""
        code = "\n".join(line.split("//")[0] for line in source.lines)
        for match in VIRTUAL.finditer(code):
            if "DATAFLUX_INLINE" not in match.group():
                self.say(source, code.count("\n", 0, match.end()) + 1,
                         "a virtual function is declared DATAFLUX_INLINE, as it is defined")

    def check_namespaces(self, source):
        """Blocks of forward declarations may be of any namespace."""
        if source.suffix != ".hpp":
            return
        if "DATAFLUX_ABI" in "\n".join(source.lines) and source.name != "dataflux/detail/config.hpp" and \
                not any(name.startswith("dataflux/") for name in source.targets):
            self.say(source, 1, "nothing that it includes defines DATAFLUX_ABI")
        for number, line in enumerate(source.lines):
            match = NAMESPACE.match(line)
            if not match:
                continue
            block = source.lines[number + 1:]
            block = block[:next((n for n, text in enumerate(block) if text.startswith("}")), 0)]
            if all(FORWARD.match(text) for text in block):
                continue
            names = match.group(1).split("::")
            if not line.startswith("namespace dataflux"):  # within another one
                if source.public and names[0] == "detail" and \
                        any(re.match(r"(class|struct|enum) .*[^;]$", text) for text in block):
                    self.say(source, number + 1, "defines a type in namespace detail: a header in detail/ does")
            elif source.public and names[0] not in {"", *PUBLIC_NAMESPACES}:
                self.say(source, number + 1, f"is public, and namespace {match.group(1)} is not")
            elif source.inner and names[0] != "detail":
                self.say(source, number + 1, "is in detail/ but not in namespace detail")

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

    def check_public_headers(self):
        public = self.public_headers()
        if len(public) > MOST_PUBLIC_HEADERS:
            self.findings.append(f"include/dataflux:1: {len(public)} public headers; at most "
                                 f"{MOST_PUBLIC_HEADERS}: what users do not call goes into detail/")
        for source in public:
            if (twin := source.name.rsplit("/", 1)) and "/detail/".join(twin) in self.sources:
                self.say(source, 1, "detail/ has a header of this name, too")
        self.check_prose(public)
        page = self.sources.get(FRONT_PAGE)
        if page is not None and len(page.includes) > MOST_ON_FRONT_PAGE:
            self.say(page, 1, f"{len(page.includes)} includes; a front page has at most "
                     f"{MOST_ON_FRONT_PAGE}")

    def check_prose(self, public):
        lines = [line.strip() for source in public for line in source.lines
                 if line.strip() and not line.lstrip().startswith("#")]
        prose = sum(line.startswith("//") or "///<" in line for line in lines)
        if lines and prose < LEAST_PROSE * len(lines):
            self.findings.append(f"include/dataflux:1: {100 * prose / len(lines):.0f} % of the public "
                                 f"headers is prose; contracts have at least {100 * LEAST_PROSE:.0f} %")

    def check_users(self):
        """What is outside of the library includes public headers, and such that exist."""
        for place in USER_CODE:
            start = self.root / place
            paths = sorted(start.rglob("*")) if start.is_dir() else [start] if start.exists() else []
            for path in paths:
                if path.suffix not in USER_SUFFIXES:
                    continue
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                    match = INCLUDE.match(line)
                    if not match or not match.group(2).startswith("dataflux/"):
                        continue
                    seen = self.sources.get(match.group(2))
                    if seen is None or not seen.public:
                        self.findings.append(f"{path.relative_to(self.root)}:{number}: "
                                             f"<{match.group(2)}> is no public header")

    def check_written_once(self):
        for text, most in WRITTEN_ONCE.items():
            places = [(source, number) for source in self.sources.values()
                      for number, line in enumerate(source.lines, 1) if text in line.split("//")[0]]
            for source, number in places[most:]:
                self.say(source, number, f"'{text}' is written {len(places)} times, at most {most}: "
                         "store/detail/coordinator.hpp does it for all")

    def check_picture(self):
        """The picture in HACKING.md has every layer of the tree, each above those that it sees."""
        page = self.root / "HACKING.md"
        match = PICTURE.search(page.read_text(encoding="utf-8")) if page.exists() else None
        if match is None:
            self.findings.append("HACKING.md:1: has no picture of the layers")
            return
        level, drawn = None, {}
        for line in match.group(1).splitlines():
            found = PICTURE_LEVEL.match(line)
            level = int(found.group(1)) if found else level
            for name in PICTURE_LAYER.findall(line[4:]):
                drawn.setdefault(name, level)
        there = {s.layer for s in self.sources.values() if s.layer in RANK} - {"core"}
        for name in sorted(there - drawn.keys()):
            self.findings.append(f"HACKING.md:1: the picture lacks {name}/")
        for name in sorted(drawn.keys() - RANK.keys()):
            self.findings.append(f"HACKING.md:1: the picture has {name}/, which is no layer")
        known = sorted(there & drawn.keys())
        for low in known:
            for high in known:
                if RANK[low] < RANK[high] and drawn[low] > drawn[high]:
                    self.findings.append(f"HACKING.md:1: {low}/ is drawn above {high}/, which sees it")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    arguments.add_argument("--list-public", action="store_true", help="print the public headers")
    options = arguments.parse_args()
    check = Check(options.root)
    if options.list_public:
        print("\n".join(source.name for source in check.public_headers()))
        return
    findings = check.run()
    print("\n".join(findings) if findings else
          f"layers: {len(check.sources)} files, {len(check.public_headers())} public headers, no finding")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
