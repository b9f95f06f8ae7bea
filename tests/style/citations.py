#!/usr/bin/env python3
"""Checks that what comments cite of docs/protocol.md and docs/s3-protocol.md exists.

    tests/style/citations.py [--root DIR]

A citation is "protocol.md" or "s3-protocol.md" and one or more numbers of sections: "protocol.md 3.4", "protocol.md 1.2,
1.10", "protocol.md 1.5 to 1.7"; it may go on in the next line of a comment, and a text in quotes
after it is a heading. Prints one finding a line, `file:line: what`; exit status 1 if there is any.
citations_test.py shows that each rule can fail.
"""

import argparse
import re
import sys
from pathlib import Path

SHEETS = ("docs/protocol.md", "docs/s3-protocol.md")
FOLDERS = ("include", "src", "tests", "examples", "programs", "python", "bench", "docs", "cmake")
SUFFIXES = {".hpp", ".ipp", ".cpp", ".h", ".c", ".py", ".md", ".cmake", ".txt"}
# They have citations as examples.
EXEMPT = {"docs/protocol.md", "tests/style/citations.py", "tests/style/citations_test.py"}

NUMBER = r"\d+(?:\.\d+)?"
GAP = r"\s+(?:(?:///?|#)\s*)?"  # a space, or the end of a line of a comment
CITATION = re.compile(rf"(?<![\w-])((?:s3-)?protocol\.md)(?:\]\([\w/.]*\))?((?:(?:,|;|{GAP}and|{GAP}to)?{GAP}{NUMBER}(?![\w%]))+)"
                      rf"(?:{GAP}\"([^\"\n]+)\")?")
HEADING = re.compile(rf"^#+ (?:({NUMBER})\.? )?(.*)$", re.MULTILINE)


def headings_of(root):
    """Of each sheet: the numbers of its sections, and its titles."""
    findings, known = [], {}
    for sheet in SHEETS:
        if not (root / sheet).is_file():
            findings.append(f"{sheet}:1: does not exist, but is cited")
            continue
        headings = HEADING.findall((root / sheet).read_text(encoding="utf-8"))
        numbers = [number for number, _ in headings if number]
        findings += [f"{sheet}:1: section {number} stands there twice"
                     for number in sorted(set(numbers)) if numbers.count(number) > 1]
        known[sheet] = numbers, {title for _, title in headings}
    return findings, known


def findings_of(root):
    findings, known = headings_of(root)
    count = 0
    paths = [path for folder in FOLDERS for path in (root / folder).rglob("*")]
    for path in sorted(paths + list(root.glob("*.md"))):
        name = path.relative_to(root).as_posix()
        if path.suffix not in SUFFIXES or name in EXEMPT or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        for match in CITATION.finditer(text):
            where = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            count += 1
            sheet = "docs/" + match.group(1)
            if sheet not in known:
                continue
            numbers, titles = known[sheet]
            for number in re.findall(NUMBER, match.group(2)):
                if number not in numbers:
                    findings.append(f"{where}: {sheet} has no section {number}")
            if match.group(3) and match.group(3) not in titles:
                findings.append(f"{where}: {sheet} has no heading \"{match.group(3)}\"")
    return findings, count


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    findings, count = findings_of(arguments.parse_args().root)
    print("\n".join(findings) if findings else f"citations: {count} of {' and '.join(SHEETS)}, no finding")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
