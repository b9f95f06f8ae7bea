#!/usr/bin/env python3
"""Describes the C ABI for machines: what dataflux.h declares, as JSON.

    c_api/describe.py [HEADER]    prints it; of another header of this style, such as a frozen one
    c_api/describe.py --write     into c_api/abi/dataflux.json, which a test compares

For generators of bindings, and for tests that a binding's own declarations agree with the header.
Types are as the header writes them, without its line breaks. Offsets and sizes, in bytes, are those
of 64-bit Linux; the test has a C compiler check them.

    {"abi_version": 1,
     "constants": {"DATAFLUX_OK": 0, ...},
     "handles": ["dataflux_client", ...],
     "structs": {"dataflux_record": {"size": 64, "members": [
         {"name": "tag", "type": "uint64_t", "offset": 0, "size": 8}, ...]}, ...},
     "functions": {"dataflux_queue_next": {"returns": "dataflux_status", "parameters": [
         {"name": "queue", "type": "dataflux_queue *"}, ...]}, ...}}

Each entry is one line, so that a change to the interface is a line of the diff.

It reads this header's own style and nothing else: what it does not understand is an error.
"""

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HEADER = HERE / "include" / "dataflux.h"
DESCRIPTION = HERE / "abi" / "dataflux.json"

SIZES = {"int8_t": 1, "uint8_t": 1, "int32_t": 4, "uint32_t": 4, "int": 4, "dataflux_status": 4,
         "int64_t": 8, "uint64_t": 8, "size_t": 8, "double": 8}


def size_of(kind):
    if kind.endswith("*") or kind.endswith("*const"):
        return 8
    if kind not in SIZES:
        raise ValueError(f"a type that is not of the ABI: {kind}")
    return SIZES[kind]


def declarator(text):
    """(type, name) of `const char *name`."""
    text = " ".join(text.split())
    match = re.fullmatch(r"(.*?[\s*])(\w+)", text)
    if match is None:
        raise ValueError(f"not understood: {text}")
    kind = re.sub(r"\s*\*\s*", " *", match.group(1).strip())
    return re.sub(r"\* \*", "**", kind).replace("*const *", "*const *"), match.group(2)


def members_of(body):
    offset, members = 0, []
    for line in filter(None, (part.strip() for part in body.split(";"))):
        kind, name = declarator(line)
        size = size_of(kind)
        if offset % size:
            raise ValueError(f"{name} leaves a gap before it: order by size, or say `reserved`")
        members.append({"name": name, "type": kind, "offset": offset, "size": size})
        offset += size
    if offset % 8:
        raise ValueError(f"a gap at the end, behind {members[-1]['name']}")
    return {"size": offset, "members": members}


def value_of(text):
    return int(text.rstrip("uUlL"), 0)


def describe(header):
    code = re.sub(r"/\*.*?\*/", " ", header, flags=re.DOTALL).replace("\\\n", " ")
    constants = {name: value_of(value) for name, value in
                 re.findall(r"^#define (DATAFLUX_\w+) +(-?\w+)\s*$", code, re.MULTILINE)}

    def take_enum(match):
        for each in filter(None, (part.strip() for part in match.group(1).split(","))):
            name, value = re.fullmatch(r"(DATAFLUX_\w+) = (-?\w+)", each).groups()
            constants[name] = value_of(value)
        return ""

    code = re.sub(r"^enum \{(.*?)\};", take_enum, code, flags=re.DOTALL | re.MULTILINE)
    code = re.sub(r"^#.*$", "", code, flags=re.MULTILINE)
    code = code.replace('extern "C" {', "")
    structs = {}

    def take_struct(match):
        if match.group(1) != match.group(3):
            raise ValueError(f"struct {match.group(1)} is called {match.group(3)}")
        structs[match.group(1)] = members_of(match.group(2))
        return ""

    code = re.sub(r"typedef struct (\w+) \{(.*?)\} (\w+);", take_struct, code, flags=re.DOTALL)
    handles, functions = [], {}
    for statement in filter(None, (" ".join(part.split()) for part in code.split(";"))):
        handle = re.fullmatch(r"typedef struct (\w+) \1", statement)
        function = re.fullmatch(r"DATAFLUX_API (.*?[\s*])(\w+)\((.*)\)", statement)
        if handle:
            handles.append(handle.group(1))
        elif function:
            inside = function.group(3)
            parameters = [] if inside == "void" else [declarator(p) for p in inside.split(",")]
            functions[function.group(2)] = {
                "returns": function.group(1).strip(),
                "parameters": [{"name": name, "type": kind} for kind, name in parameters]}
        elif statement not in ("typedef int32_t dataflux_status", "struct ArrowArrayStream", "}"):
            raise ValueError(f"not understood: {statement}")
    return {"abi_version": constants["DATAFLUX_ABI_VERSION"], "constants": constants,
            "handles": handles, "structs": structs, "functions": functions}


def lines_of(entries):
    """The members of an object or an array as JSON, one a line."""
    if isinstance(entries, dict):
        all_lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in entries.items()]
        return "{\n" + ",\n".join(all_lines) + "\n}"
    return "[\n" + ",\n".join(map(json.dumps, entries)) + "\n]"


def text(header=HEADER):
    sections = (f"{json.dumps(name)}: {value if isinstance(value, int) else lines_of(value)}"
                for name, value in describe(header.read_text()).items())
    return "{\n" + ",\n".join(sections) + "\n}\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        DESCRIPTION.parent.mkdir(exist_ok=True)
        DESCRIPTION.write_text(text())
    else:
        sys.stdout.write(text(*map(Path, sys.argv[1:])))
