#!/usr/bin/env python3
"""Shows that each rule of layers.py can fail: small trees, each with one thing wrong."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import layers  # noqa: E402

ENDING = "#if !defined(DATAFLUX_COMPILED)\n#include <{}>\n#endif\n"
GOOD = {
    "include/dataflux/error.hpp": "#pragma once\n#include <string>\n",
    "include/dataflux/codec/json.hpp":
        "#pragma once\n#include <dataflux/error.hpp>\n" + ENDING.format("dataflux/codec/impl/json.ipp"),
    "include/dataflux/codec/impl/json.ipp":
        "#pragma once\n#include <dataflux/codec/json.hpp>\n#include <simdjson.h>\n",
    "include/dataflux/exec/scheduler.hpp": "#pragma once\n#include <dataflux/error.hpp>\n",
    "include/dataflux/http/detail/characters.hpp": "#pragma once\n#include <array>\n",
    "include/dataflux/store/object_store.hpp": "#pragma once\n#include <dataflux/codec/json.hpp>\n",
    "include/dataflux/list/fast_list.hpp": "#pragma once\n#include <dataflux/store/object_store.hpp>\n",
    "include/dataflux/download/plan.hpp": "#pragma once\n",
    "src/codec.cpp": "#include <dataflux/codec/impl/json.ipp>\n",
}


def findings(changes, fix_umbrella=True):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in (GOOD | changes).items():
            if text is None:
                continue
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if fix_umbrella:
            umbrella = root / "include/dataflux/dataflux.hpp"
            umbrella.write_text(layers.Check(root).umbrella_text())
        return layers.Check(root).run()


class Layers(unittest.TestCase):
    def refused(self, changes, file, what, **options):
        found = findings(changes, **options)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(file), found)
        self.assertIn(what, found[0])

    def with_line(self, name, line):
        return {name: "#pragma once\n" + line + "\n" + GOOD[name].split("\n", 1)[1]}

    def test_a_good_tree_passes(self):
        self.assertEqual(findings({}), [])

    def test_upward_and_sideways_includes(self):
        for name, line, what in [
            ("include/dataflux/error.hpp", "#include <dataflux/codec/json.hpp>", "core must not see codec"),
            ("include/dataflux/codec/json.hpp", "#include <dataflux/exec/scheduler.hpp>", "codec must not see exec"),
            ("include/dataflux/list/fast_list.hpp", "#include <dataflux/download/plan.hpp>", "must not see download"),
        ]:
            self.refused(self.with_line(name, line), name, what)

    def test_a_feature_reaches_the_service_through_store(self):
        name = "include/dataflux/list/fast_list.hpp"
        changes = self.with_line(name, "#include <dataflux/http/url.hpp>")
        changes["include/dataflux/http/url.hpp"] = "#pragma once\n"
        self.refused(changes, name, "through store")

    def test_a_private_header_stays_in_its_layer(self):
        name = "include/dataflux/store/object_store.hpp"
        line = "#include <dataflux/http/detail/characters.hpp>"
        self.refused(self.with_line(name, line), name, "private to http")

    def test_an_ipp_ends_headers_of_its_own_layer(self):
        ipp = "#include <dataflux/codec/impl/json.ipp>"
        name = "include/dataflux/list/fast_list.hpp"
        self.assertIn("private to codec", findings(self.with_line(name, ipp))[0])
        name = "include/dataflux/codec/json.hpp"
        self.refused(self.with_line(name, ipp), name, "at its end only")

    def test_third_party_headers(self):
        header = "include/dataflux/store/object_store.hpp"
        self.refused(self.with_line(header, "#include <curl/curl.h>"), header, "an .ipp only")
        ipp = "include/dataflux/codec/impl/json.ipp"
        self.refused(self.with_line(ipp, "#include <boost/asio.hpp>"), ipp, "no library")
        self.refused(self.with_line(header, "#include <unistd.h>"), header, "detail/ only")
        second = {
            "include/dataflux/codec/xml.hpp": "#pragma once\n" + ENDING.format("dataflux/codec/impl/xml.ipp"),
            "include/dataflux/codec/impl/xml.ipp":
                "#pragma once\n#include <dataflux/codec/xml.hpp>\n#include <simdjson.h>\n",
            "src/codec.cpp": GOOD["src/codec.cpp"] + "#include <dataflux/codec/impl/xml.ipp>\n",
        }
        self.refused(second, "include/dataflux/codec/impl/xml.ipp", "already seen")

    def test_forbidden_words(self):
        name = "include/dataflux/download/plan.hpp"
        for line in ["#include <iostream>", "inline void f() { std::cerr << 1; }",
                     "inline void f() { std::abort(); }", "inline void f() { std::exit(1); }",
                     "inline void f() { ::_exit(1); }",
                     "inline void f() { printf(\"x\"); }", "// TODO: finish", "using namespace std;",
                     "namespace {", "#ifdef NDEBUG", "#include \"plan.hpp\"", "//" + "x" * 100]:
            with self.subTest(line):
                self.assertEqual(len(findings(self.with_line(name, line))), 1, line)
        for line in ["inline int f(char* p) { return std::snprintf(p, 1, \"\"); }",
                     "inline void f() { on_exit_code(1); }",
                     "#ifndef ARROW_C_DATA_INTERFACE", "#ifndef ARROW_C_STREAM_INTERFACE",
                     "inline void f(upload& u) { u.abort(); }", "inline void upload::abort() {}", "// never calls abort()"]:
            with self.subTest(line):
                self.assertEqual(findings(self.with_line(name, line)), [], line)

    def test_place_size_and_name(self):
        name = "include/dataflux/download/plan.hpp"
        self.refused({name: "#include <string>\n"}, name, "#pragma once")
        self.refused({name: "#pragma once\n" + "\n" * 250}, name, "lines")
        self.refused({"include/dataflux/codec/utils.hpp": "#pragma once\n"},
                     "include/dataflux/codec/utils.hpp", "says nothing")
        self.refused({"include/dataflux/codec/x.cpp": "#pragma once\n"},
                     "include/dataflux/codec/x.cpp", "only .hpp and .ipp")
        self.refused({"include/dataflux/other/x.hpp": "#pragma once\n"},
                     "include/dataflux/other/x.hpp", "no layer")

    def test_an_ipp_is_compiled_and_paired(self):
        ipp = "include/dataflux/codec/impl/json.ipp"
        self.refused({"src/codec.cpp": "\n"}, ipp, "not compiled by src/codec.cpp")
        header = "include/dataflux/codec/json.hpp"
        self.refused({header: "#pragma once\n"}, ipp, "no header ends with it")
        self.refused({ipp: "#pragma once\n"}, ipp, "does not include")
        self.refused({"src/http.cpp": GOOD["src/codec.cpp"]}, "src/http.cpp", "not of this layer")

    def test_the_umbrella_is_complete(self):
        self.refused({"include/dataflux/dataflux.hpp": "#pragma once\n"},
                     "include/dataflux/dataflux.hpp", "--fix-umbrella", fix_umbrella=False)


if __name__ == "__main__":
    unittest.main()
