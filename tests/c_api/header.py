#!/usr/bin/env python3
"""Looks at the C ABI from outside: its header, what the library shows, and what is written of both.

    header.py --source DIR --compiler CXX --library LIBDATAFLUX.SO [TEST...]

The header compiles alone as C89, C11, C++11 and C++20 without a warning. The library shows what the
header declares and nothing else. c_api/abi/dataflux.json says what the header says, and a compiler
agrees with its offsets.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
options = None


def compile_text(text, *flags):
    """What the compiler says of it; empty if nothing."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [options.compiler, "-I", options.source / "c_api/include", "-Wall", "-Wextra",
             "-pedantic", "-Werror", *flags, "-c", "-", "-o", Path(folder) / "out.o"],
            input=text, text=True, capture_output=True, check=False)
        return done.stderr if done.returncode else ""


class Header(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(options.source / "c_api"))
        import describe
        cls.describe = describe
        cls.written = json.loads(describe.DESCRIPTION.read_text())

    def test_compiles_alone_in_every_language(self):
        for language, standard in [("c", "c89"), ("c", "c11"), ("c++", "c++11"), ("c++", "c++20")]:
            said = compile_text("#include <dataflux.h>\n#include <dataflux.h>\nint unused;\n",
                                "-x", language, f"-std={standard}")
            self.assertEqual("", said, standard)

    def test_a_warning_would_be_seen(self):
        self.assertIn("error", compile_text("#include <dataflux.h>\nint f(int x) { return 0; }\n",
                                            "-x", "c", "-std=c89"))

    def test_description_is_the_headers(self):
        self.assertEqual(self.written, json.loads(self.describe.text()),
                         "run c_api/describe.py --write")

    def test_a_compiler_agrees_with_offsets_and_sizes(self):
        checks = []
        for struct, layout in self.written["structs"].items():
            checks.append(f"sizeof({struct}) == {layout['size']}")
            for m in layout["members"]:
                checks.append(f"offsetof({struct}, {m['name']}) == {m['offset']}")
                checks.append(f"sizeof((({struct} *)0)->{m['name']}) == {m['size']}")
        text = "#include <dataflux.h>\n" + "".join(
            f"_Static_assert({check}, \"{check}\");\n" for check in checks)
        self.assertEqual("", compile_text(text, "-x", "c", "-std=c11"))
        self.assertIn("static assertion", compile_text(
            "#include <dataflux.h>\n_Static_assert(sizeof(dataflux_record) == 72, \"\");\n",
            "-x", "c", "-std=c11"))

    def test_records_are_64_bytes(self):
        self.assertEqual(64, self.written["structs"]["dataflux_record"]["size"])

    def test_options_begin_with_their_size_and_have_an_init(self):
        for struct, layout in self.written["structs"].items():
            if struct in ("dataflux_record", "dataflux_chunk", "dataflux_changed_rows",
                          "dataflux_row", "dataflux_shard_index_info", "dataflux_indexed_shard",
                          "dataflux_order_cost", "dataflux_epoch_forecast", "dataflux_join_rows",
                          "dataflux_streamed_sample"):
                continue  # filled by the library, which is told their size
            if struct in ("dataflux_sample_field", "dataflux_field_bytes", "dataflux_form_condition"):
                continue  # which never grow
            self.assertEqual(("struct_size", "size_t"),
                             (layout["members"][0]["name"], layout["members"][0]["type"]), struct)
            init = self.written["functions"][f"{struct}_init"]
            self.assertEqual([f"{struct} *", "size_t"], [p["type"] for p in init["parameters"]])

    def test_fields_of_a_stat_are_those_of_the_library(self):
        text = (options.source / "include/dataflux/store/object_metadata.hpp").read_text()
        body = re.search(r"enum class metadata_fields [^{]*\{(.*?)\};", text, re.DOTALL).group(1)
        bits = [1 << int(n) for n in re.findall(r"= 1U << (\d+)U", body)]
        self.assertGreater(len(bits), 10)
        fields = [value for name, value in self.written["constants"].items()
                  if name.startswith("DATAFLUX_FIELD_")]
        self.assertEqual(sorted(bits), sorted(fields))

    def test_each_constant_is_described(self):
        code = re.sub(r"/\*.*?\*/", " ", self.describe.HEADER.read_text(), flags=re.DOTALL)
        named = re.findall(r"\bDATAFLUX_(?!API\b|H\b)[A-Z0-9_]+", code)
        self.assertEqual(sorted(set(named)), sorted(self.written["constants"]))

    def test_handles_have_a_free(self):
        for handle in self.written["handles"]:
            self.assertIn(f"{handle}_free", self.written["functions"])

    def test_the_library_shows_this_and_nothing_else(self):
        said = subprocess.run(["nm", "-D", "--defined-only", options.library], text=True,
                              capture_output=True, check=True).stdout
        shown = {line.split()[-1].split("@")[0] for line in said.splitlines()
                 if line.split()[-2] != "A"}
        self.assertEqual(set(self.written["functions"]), shown)

    def test_a_signal_is_played_in_every_function_that_waits(self):
        waiting = {name for name, function in self.written["functions"].items()
                   if any(p["name"] in ("timeout_ns", "wait") for p in function["parameters"])}
        # It waits as the write before it, by the same code, and only where that one did not.
        waiting.remove("dataflux_shard_writer_end")
        for played in ["interrupted.c", "interrupted_test.cpp"]:
            text = (options.source / "tests/c_api" / played).read_text()
            self.assertEqual(waiting, set(re.findall(r'"(dataflux_\w+)"', text)), played)

    def test_the_library_stays_in_memory(self):
        said = subprocess.run(["readelf", "-d", options.library], text=True, capture_output=True,
                              check=True).stdout
        self.assertIn("NODELETE", said)


def main():
    global options
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--library", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=1)


if __name__ == "__main__":
    main()
