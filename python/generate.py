#!/usr/bin/env python3
"""Declares the C ABI for ctypes, from its description.

    python/generate.py             prints src/dataflux/_abi.py
    python/generate.py --write     writes it; a test compares (--check, too)

The module it makes has tables and no classes: _library.py makes a function, or a struct, of its row
when that is first used, so that importing the package costs nothing for what a program leaves alone.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "c_api"))
from generated import description, main  # noqa: E402

MODULE = HERE / "src" / "dataflux" / "_abi.py"

# A letter for each type, as _library.py reads it. All pointers are addresses but texts that are
# given by the library and live in a handle: ctypes copies those at once.
LETTERS = {"void": "v", "int": "i", "dataflux_status": "i", "int32_t": "i", "uint32_t": "I",
           "int64_t": "q", "uint64_t": "Q", "size_t": "Q", "double": "d", "const char *": "s"}


def letter(kind, of_member=False):
    kind = kind.replace("char*", "char *")
    if kind in LETTERS:
        # A member must keep what it points to alive: the text is kept by whoever fills the struct.
        return LETTERS[kind]
    if kind.endswith("*"):
        return "P"
    if of_member and kind.endswith("*const"):
        return "P"
    raise ValueError(f"a type that is not of the ABI: {kind}")


def rows(of):
    return "".join(f"    {name!r}: {value!r},\n" for name, value in of)


def text():
    abi = description()
    functions = [(name.removeprefix("dataflux_"),
                  letter(f["returns"]) + "".join(letter(p["type"]) for p in f["parameters"]))
                 for name, f in abi["functions"].items()]
    structs = [(name.removeprefix("dataflux_"),
                tuple((m["name"], letter(m["type"], of_member=True)) for m in s["members"]))
               for name, s in abi["structs"].items()]
    constants = [(name.removeprefix("DATAFLUX_"), value) for name, value in
                 abi["constants"].items()]
    return ('"""The C ABI, by python/generate.py from c_api/abi/dataflux.json. Letters are those of\n'
            'the struct module; s is a text, P an address, v nothing; a function\'s first is its result."""\n\n'
            "FUNCTIONS = {\n" + rows(functions) + "}\n"
            "STRUCTS = {\n" + rows(structs) + "}\n"
            + "".join(f"{name} = {value}\n" for name, value in constants))


if __name__ == "__main__":
    main(text(), MODULE)
