#!/usr/bin/env python3
"""Keeps the worst English out of what users and newcomers read.

    tests/style/prose.py [--root DIR] [FILE...]

It reads README.md, HACKING.md and the pages beside parts of the tree, docs/*.md but the two sheets of facts,
dataflux.h and the public headers, or the files that are named. A finding is a sentence of more than 40 words, a phrase of AVOIDED, or a torn
list: a line of an item that does not stand below its text, as a formatter leaves it. Code and
headings are no prose; an item of a list and a cell of a table are paragraphs of their own. It prints
one finding a line, `file:line: what`; exit status 1 if there is any. A reader decides the rest.
prose_test.py shows that each rule can fail.
"""

import argparse
import re
import sys
from pathlib import Path

MOST_WORDS = 40
# Phrases in place of the field's nouns and verbs, and what to write.
AVOIDED = {
    r"who(?:m)?ever": "name the caller, the thread, the process",
    r"(?:is|are|was|were|be|been) told": "say what gets, receives, returns or reports it",
    r"(?:is|are) none": "say what is missing",
    r"lets? go|letting go": "frees, returns, releases",
    r"has not(?=[.,;:)])": "lacks; or say what lies beyond",
    r"nobody's": "without an owner",
    r"by and by|in the midst of": "gradually; in the middle of",
    r"(?:made|begun|written|begins?|began) anew": "again; starts over",
    r"sees? to (?:it|that)": "handles, ensures",
    r"in his turn|of one's own": "use a noun",
}
PAGES = ("README.md", "HACKING.md", ".ci/README.md", "c_api/README.md", "python/HACKING.md",
         "python/README.md", "python-compat/README.md", "tests/README.md")
PHRASE = re.compile(r"\b(?:" + "|".join(AVOIDED) + r")(?!\w)", re.IGNORECASE)
ITEM = re.compile(r"(\s*)(?:([-*])|\d{1,2}\.) +")
SPACE = re.compile(r"\s")


class Prose:
    """The paragraphs of a file, as (line of the first word, text), and the lines of torn lists."""

    def __init__(self, path):
        self.paragraphs, self.torn, self.paragraph = [], [], None
        lines = path.read_text(encoding="utf-8").splitlines()
        if path.suffix == ".md":
            self.markdown(lines, 1)
        else:
            for first, run in comments(lines):
                self.markdown(run, first, 2)

    def end(self):
        if self.paragraph:
            self.paragraphs.append((self.paragraph[0], "\n".join(self.paragraph[1])))
        self.paragraph = None

    def begin(self, number, text):
        self.end()
        self.paragraph = (number, [text])

    def markdown(self, lines, first, code_indent=4):
        fenced, item = False, None
        for number, line in enumerate(lines, first):
            bare = line.strip()
            indent = len(line) - len(line.lstrip())
            if bare.startswith("```"):
                fenced = not fenced
            started = ITEM.match(line)
            if started and not started.group(2) and self.paragraph and item is None:
                started = None  # a number at the beginning of a line
            if fenced or not bare or bare.startswith(("```", "#", "<!--")):
                self.end()
                item = item if not bare else None
            elif bare.startswith("|"):
                for cell in re.split(r"(?<!\\)\|", bare):
                    self.begin(number, cell)
                self.end()
            elif started and (self.paragraph is None or item is not None or indent < code_indent):
                self.begin(number, line[started.end():])
                item = indent
            elif self.paragraph:
                if item is not None and indent <= item:
                    self.torn.append(number)
                self.paragraph[1].append(bare)
            elif indent < code_indent or (item is not None and indent <= item + 4):
                if item is not None and indent <= item:
                    item = None
                self.begin(number, bare)
        self.end()


def comments(lines):
    """Runs of a comment's lines, as (number of the first one, lines); one behind code is by itself."""
    run, first, inside = [], 0, False
    for number, line in enumerate([*lines, ""], 1):
        if inside:
            text, closed, _ = line.partition("*/")
            run.append(re.sub(r"^\s*\*? ?", "", text))
            inside = not closed
            if closed:
                yield first, run
                run = []
            continue
        found = re.match(r"\s*///?(?!<)(?: (.*)|)$", line)
        if found:
            first = first if run else number
            run.append(found.group(1) or "")
            continue
        if run:
            yield first, run
            run = []
        behind = re.search(r"(?:///<|/\*) ?(.*)$", line)
        if behind and "/*" in behind[0] and "*/" not in behind[0]:
            run, first, inside = [behind.group(1)], number, True
        elif behind:
            yield number, [behind.group(1).partition("*/")[0]]


def plain(text):
    """The same length, but code is one word and links have no address."""
    text = re.sub(r"`[^`]*`", lambda m: re.sub(r"[^\n]", "x", m[0]), text)
    return re.sub(r"\]\([^)]*\)", lambda m: "]" + " " * (len(m[0]) - 1), text)


def findings(name, prose):
    for first, text in prose.paragraphs:
        text, begin = plain(text), 0
        for end in re.finditer(r"[.!?][\"')\]*]*(?=\s|$)|$", text):
            sentence = text[begin:end.end()]
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if len(words) > MOST_WORDS:
                number = first + text[:begin + len(sentence) - len(sentence.lstrip())].count("\n")
                yield f"{name}:{number}: a sentence of {len(words)} words: {' '.join(words[:6])} ..."
            begin = end.end()
        for found in PHRASE.finditer(SPACE.sub(" ", text)):
            advice = next(advice for phrase, advice in AVOIDED.items()
                          if re.match(phrase, found[0] + text[found.end():found.end() + 1], re.IGNORECASE))
            yield f"{name}:{first + text[:found.start()].count(chr(10))}: \"{found[0]}\": {advice}"
    for number in prose.torn:
        yield f"{name}:{number}: a torn list: the line does not stand below its item's text"


def pages(root):
    yield from (root / name for name in PAGES)
    yield from (page for page in sorted((root / "docs").glob("*.md")) if not page.name.endswith("protocol.md"))
    yield root / "c_api/include/dataflux.h"
    for header in sorted((root / "include/dataflux").rglob("*.hpp")):
        if not {"detail", "impl"} & set(header.parts):
            yield header


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    arguments.add_argument("files", nargs="*", type=Path)
    options = arguments.parse_args()
    files = options.files or list(pages(options.root))
    found = [line for path in files for line in findings(
        path.relative_to(options.root) if path.is_relative_to(options.root) else path, Prose(path))]
    print("\n".join(found) if found else f"prose: {len(files)} files, no finding")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
