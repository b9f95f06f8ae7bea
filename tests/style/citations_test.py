#!/usr/bin/env python3
"""Shows that each rule of citations.py can fail: small trees, each with one thing wrong."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import citations  # noqa: E402

S3_SHEET = "# Facts\n### 2.9 keys\n"
SHEET = "# Facts\n# 1. Calls\n## 1.1 list\n## 1.2 get\n### gzip\n## 1.10 errors\n# 2. XML\n"


def look(text, name="include/dataflux/a.hpp", sheet=SHEET):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, content in {"docs/protocol.md": sheet, "docs/s3-protocol.md": S3_SHEET, name: text}.items():
            if content is None:
                continue
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content, encoding="utf-8")
        return citations.findings_of(root)


class Citations(unittest.TestCase):
    def refused(self, text, *expected, **options):
        findings, _ = look(text, **options)
        self.assertEqual(len(findings), len(expected), findings)
        for finding, part in zip(findings, expected):
            self.assertIn(part, finding)

    def test_good_ones(self):
        for text in ["/// x (protocol.md 1.1).\n", "/// (protocol.md 1.2, 1.10): y, 7.7\n",
                     "/// protocol.md 1 and 2: z\n", "/// protocol.md 1.1 to 1.10\n",
                     "/// (protocol.md\n/// 1.10), z\n", "// protocol.md 1.2 \"gzip\".\n",
                     "/// protocol.md 1.1 lists it without 500\n", "# (protocol.md 2)\n", "see [protocol.md](protocol.md) 1.1\n"]:
            with self.subTest(text):
                self.assertEqual(look(text), ([], 1))
        self.assertEqual(look("/// what it knows is protocol.md.\n"), ([], 0))

    def test_a_section_that_is_not_there(self):
        self.refused("//\n/// x (protocol.md 1.3).\n", "include/dataflux/a.hpp:2: docs/protocol.md has no section 1.3")
        self.refused("/// (protocol.md 1.1, 1.20)\n", "no section 1.20")
        self.refused("/// (protocol.md 3 and 4)\n", "no section 3", "no section 4")
        self.refused("/// (protocol.md\n///   9.9)\n", "a.hpp:1: docs/protocol.md has no section 9.9")
        self.refused("# (protocol.md 1.20)\n", "no section 1.20", name="tests/a/b.py")
        self.refused("see [protocol.md](docs/protocol.md) 5\n", "no section 5")
        self.refused("see protocol.md 5\n", "HACKING.md:1:", name="HACKING.md")

    def test_each_sheet_has_its_own_sections(self):
        self.assertEqual(look("/// (s3-protocol.md 2.9)\n"), ([], 1))
        self.refused("/// (protocol.md 2.9)\n", "docs/protocol.md has no section 2.9")
        self.refused("/// (s3-protocol.md 1.1)\n", "docs/s3-protocol.md has no section 1.1")

    def test_a_heading_that_is_not_there(self):
        self.refused("// protocol.md 1.2 \"zip\".\n", "no heading \"zip\"")

    def test_the_sheet_itself(self):
        self.refused("", "does not exist", sheet=None)
        self.refused("", "section 1.1 stands there twice", sheet=SHEET + "## 1.1 again\n")


if __name__ == "__main__":
    unittest.main()
