#!/usr/bin/env python3
"""Shows that each rule of prose.py can fail, and where it must not."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import prose  # noqa: E402

LONG = "word " * 40 + "word."
HALF = "word " * 30 + "word."


def look(text, name="page.md"):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        return list(prose.findings(name, prose.Prose(path)))


class Refused(unittest.TestCase):
    def refused(self, text, *expected, name="page.md"):
        found = look(text, name)
        self.assertEqual(len(found), len(expected), found)
        for finding, part in zip(found, expected):
            self.assertIn(part, finding)

    def test_a_long_sentence(self):
        self.refused(LONG, "page.md:1: a sentence of 41 words")
        self.refused(f"# Page\n\nShort.\n{LONG}\n", "page.md:4: a sentence")
        self.refused(f"- one\n- {LONG}\n", "page.md:2: a sentence")
        self.refused(f"| a | {LONG} |\n", "page.md:1: a sentence")
        self.refused("/// " + LONG.replace("word word", "word\n/// word", 1) + "\nint f();\n",
                     "a.hpp:1: a sentence", name="a.hpp")
        self.refused(f"int a;  ///< {LONG}\n", "a.hpp:1: a sentence", name="a.hpp")
        self.refused(f"/* Short.\n *\n * {LONG} */\nint f(void);\n", "a.h:3: a sentence", name="a.h")
        self.refused(f"int a; /* {LONG} */\n", "a.h:1: a sentence", name="a.h")

    def test_a_phrase(self):
        for text in ("Whoever calls it.", "It is told of each.", "There is none.", "It lets go.",
                     "bytes that the object has not.", "It is begun anew.", "See to it.",
                     "It belongs to nobody's client.", "It grows by and by.", "A client of one's own."):
            with self.subTest(text):
                self.refused(text, "page.md:1: \"")
        self.refused("Good.\n\nIt is\ntold of each.\n", "page.md:3: \"is told\"")
        self.refused("/// It is\n/// told.\n", "a.hpp:1: \"is told\"", name="a.hpp")

    def test_a_torn_list(self):
        self.refused("/// - one says; they\n/// are\n///   good.\n", "a.hpp:2: a torn list", name="a.hpp")
        self.refused("- one says; they\nare good.\n", "page.md:2: a torn list")


class Allowed(unittest.TestCase):
    def test_good_ones(self):
        for text in (
                f"{HALF} {HALF}",
                f"- {HALF}\n- {HALF}\n",
                f"- {HALF}\n\n  {HALF}\n",
                f"| {HALF} | {HALF} |\n",
                f"```\n{LONG} whoever\n```\n",
                f"    {LONG} whoever\n",
                f"Code: `{LONG}` and `whoever`.",
                f"# {LONG}\n",
                "[A page](https://example.org/whoever).",
                "It has not ended. The caller told it so.",
                "- one\n  is good.\n- two\n\nA paragraph.\n"):
            with self.subTest(text):
                self.assertEqual(look(text), [])

    def test_what_is_code_in_a_header(self):
        self.assertEqual(look(f"/// Good.\n///\n///     whoever(); // {LONG}\nint whoever();\n", "a.hpp"), [])
        self.assertEqual(look(f"/// {HALF}\nint a;\n/// {HALF}\nint b;\n", "a.hpp"), [])
        self.assertEqual(look(f"/* {HALF} */\nint a; /* {HALF} */\n", "a.h"), [])


class Pages(unittest.TestCase):
    def test_which_files_are_read(self):
        root = Path(__file__).resolve().parents[2]
        names = {str(path.relative_to(root)) for path in prose.pages(root)}
        self.assertTrue({"README.md", "HACKING.md", "docs/python.md", "c_api/include/dataflux.h",
                         "include/dataflux/gcs/client.hpp"} <= names)
        self.assertFalse({"docs/protocol.md", "include/dataflux/store/detail/coordinator.hpp"} & names)


if __name__ == "__main__":
    unittest.main()
