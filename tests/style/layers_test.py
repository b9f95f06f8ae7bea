#!/usr/bin/env python3
"""Shows that each rule of layers.py can fail: small trees, each with one thing wrong."""

import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import layers  # noqa: E402

ENDING = "#if !defined(DATAFLUX_COMPILED)\n#include <{}>\n#endif\n"
GOOD = {
    "include/dataflux/dataflux.hpp": "#pragma once\n#include <dataflux/error.hpp>\n",
    "include/dataflux/error.hpp": "#pragma once\n#include <string>\n",
    "include/dataflux/prose.hpp": "#pragma once\n" + "/// A contract.\n" * 60,
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
    "HACKING.md": """## The picture

```
L6  list/    listings   download/   plans
L4  store/  verbs
L2  http/  messages
L1  codec/    pure functions    exec/  time and threads
L0  .   error
```
""",
}


def findings(changes):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in (GOOD | changes).items():
            if text is None:
                continue
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return layers.Check(root).run()


class Layers(unittest.TestCase):
    def refused(self, changes, file, what):
        found = findings(changes)
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

    def test_virtual_functions_are_declared_inline(self):
        name = "include/dataflux/exec/scheduler.hpp"
        for line in ["struct a : b { void f(int,\n int) override; };", "struct a { virtual ~a(); };",
                     "struct a : b {\npublic:\n int f() const final; };"]:
            self.refused(self.with_line(name, line), name, "declared DATAFLUX_INLINE")
        for line in ["struct a : b { DATAFLUX_INLINE void f() override; };",
                     "struct a { virtual ~a() = default; virtual void f() = 0; };",
                     "struct a : b { void f() override { g(); } };", "return kind::final;"]:
            self.assertEqual(findings(self.with_line(name, line)), [])

    def test_what_is_in_detail_is_in_namespace_detail(self):
        inner, public = "include/dataflux/http/detail/characters.hpp", "include/dataflux/exec/scheduler.hpp"
        self.refused({inner: "#pragma once\n// DATAFLUX_ABI\n"}, inner, "defines DATAFLUX_ABI")
        opened = "#include <dataflux/error.hpp>\nnamespace dataflux::inline DATAFLUX_ABI{} {{\n{}\n}}"
        for name, space, text, what in [
            (inner, "", "class a {};", "not in namespace detail"),
            (inner, "::http", "void a();", "not in namespace detail"),
            (public, "::detail", "void a();", "detail is not"),
            (public, "::http", "void a();", "http is not"),
            (public, "", "\n}\nnamespace detail {\nclass a {\n};", "defines a type"),
        ]:
            self.refused(self.with_line(name, opened.format(space, text)), name, what)
        for name, space, text in [
            (inner, "::detail::http", "class a {};"), (inner, "", "class a;\nstruct b;"),
            (public, "", "class a {};"), (public, "::gcs", "class a {};"),
            (public, "::detail::http", "class a;"), (public, "", "\n}\nnamespace detail {\nvoid a();"),
        ]:
            self.assertEqual(findings(self.with_line(name, opened.format(space, text))), [])

    def test_a_feature_reaches_the_service_through_store(self):
        name = "include/dataflux/list/fast_list.hpp"
        changes = self.with_line(name, "#include <dataflux/http/url.hpp>")
        changes["include/dataflux/http/url.hpp"] = "#pragma once\n"
        self.refused(changes, name, "through store")

    def test_a_detail_header_is_for_its_layer_and_those_above(self):
        line = "#include <dataflux/http/detail/characters.hpp>"
        self.assertEqual(findings(self.with_line("include/dataflux/store/object_store.hpp", line)), [])
        name = "include/dataflux/codec/json.hpp"
        self.refused(self.with_line(name, line), name, "codec must not see http")

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

    def test_the_front_page_names_public_headers_and_few(self):
        page = "include/dataflux/dataflux.hpp"
        self.refused({page: "#pragma once\n#include <dataflux/http/detail/characters.hpp>\n"}, page,
                     "is not public")
        name = "include/dataflux/error.hpp"
        self.refused(self.with_line(name, "#include <dataflux/dataflux.hpp>"), name, "for users")
        many = {f"include/dataflux/n{i}.hpp": "#pragma once\n" for i in range(21)}
        lines = "".join(f"#include <dataflux/n{i}.hpp>\n" for i in range(21))
        self.refused(many | {page: "#pragma once\n" + lines}, page, "21 includes")

    def test_public_headers_are_few(self):
        many = {f"include/dataflux/n{i}.hpp": "#pragma once\n" for i in range(layers.MOST_PUBLIC_HEADERS)}
        self.refused(many, "include/dataflux:1", "public headers; at most")
        twin = {"include/dataflux/http/characters.hpp": "#pragma once\n"}
        self.refused(twin, "include/dataflux/http/characters.hpp", "of this name, too")

    def test_public_headers_are_contracts(self):
        name = "include/dataflux/download/plan.hpp"
        bare = "#pragma once\n" + "int f();\n" * 6
        without = {"include/dataflux/prose.hpp": None}
        self.refused(without | {name: bare}, "include/dataflux:1", "0 % of the public headers is prose")
        self.assertEqual(findings(without | {name: bare + "/// What it does.\n" * 4}), [])

    def test_users_see_public_headers_alone(self):
        hidden = "#include <dataflux/http/detail/characters.hpp>\n"
        for name in ["programs/command/cp.cpp", "tests/consume/main.cpp", "README.md", "docs/reading.md"]:
            self.refused({name: hidden}, name, "no public header")
            self.refused({name: "#include <dataflux/gone.hpp>\n"}, name, "no public header")
            self.assertEqual(findings({name: "#include <dataflux/error.hpp>\n"}), [])
        self.assertEqual(findings({"tests/unit/http/characters_test.cpp": hidden}), [])

    def test_what_the_base_does_is_written_once(self):
        name = "include/dataflux/download/plan.hpp"
        with unittest.mock.patch.dict(layers.WRITTEN_ONCE, {"deadline_from(": 1}):
            once = self.with_line(name, "inline int a = deadline_from(1);  // deadline_from(2)")
            self.assertEqual(findings(once), [])
            twice = self.with_line(name, "inline int a = deadline_from(1);\ninline int b = deadline_from(1);")
            self.refused(twice, name + ":3", "at most 1")

    def test_the_picture_is_of_the_tree(self):
        picture = GOOD["HACKING.md"]
        self.refused({"HACKING.md": picture.replace("list/", "lists")}, "HACKING.md", "lacks list/")
        self.refused({"HACKING.md": picture.replace("L0  .", "    utils/   all\nL0  .")}, "HACKING.md", "no layer")
        upside_down = picture.replace("L4  store/  verbs\n", "").replace("L6  list/", "L9  store/\nL6  list/")
        found = findings({"HACKING.md": upside_down})
        self.assertEqual(found, [f"HACKING.md:1: store/ is drawn above {high}/, which sees it"
                                 for high in ("download", "list")])
        self.refused({"HACKING.md": "# Working on it\n"}, "HACKING.md", "no picture")


if __name__ == "__main__":
    unittest.main()
