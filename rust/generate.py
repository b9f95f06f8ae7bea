#!/usr/bin/env python3
"""Declares the C ABI for Rust, from its description.

    rust/generate.py             prints dataflux-sys/src/abi.rs
    rust/generate.py --write     writes it; a test compares (--check, too)

Structs get their layout as assertions that the compiler checks. A struct whose first member is its
size has a Default that sets it, which is what dataflux_KIND_init() does in C.
"""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "c_api"))
from generated import description, main  # noqa: E402

MODULE = HERE / "dataflux-sys" / "src" / "abi.rs"
BASES = {"void": "c_void", "char": "c_char", "int": "c_int", "size_t": "usize", "double": "f64",
         "int8_t": "i8", "uint8_t": "u8", "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64",
         "uint64_t": "u64", "struct ArrowArrayStream": "ArrowArrayStream"}
KEYWORDS = {"as", "box", "const", "fn", "in", "let", "match", "move", "ref", "type", "use", "where"}
FIRST_STATUS = "DATAFLUX_STATUS_IS_SIGNED"  # the constants from here on are of a dataflux_status


def rust_type(kind):
    """`const char *const *` as `*const *const c_char`."""
    words = re.fullmatch(r"(const )?((?:struct )?\w+) ?((?:\*(?:const)? ?)*)", kind)
    if words is None:
        raise ValueError(f"a type that is not of the ABI: {kind}")
    constant, base, stars = words.groups()
    made = BASES.get(base, base)
    if made == base and not base.startswith("dataflux_"):
        raise ValueError(f"a type that is not of the ABI: {kind}")
    for star in re.findall(r"\*(?:const)?", stars):
        made = f"*{'const' if constant else 'mut'} {made}"
        constant = star.endswith("const")
    return made


def name_of(name):
    return f"r#{name}" if name in KEYWORDS else name


def handle(name):
    return (f"#[repr(C)]\npub struct {name} {{\n    _private: [u8; 0],\n"
            "    _marker: PhantomData<(*mut u8, PhantomPinned)>,\n}\n")


def struct(name, layout):
    members = layout["members"]
    sized = members[0]["name"] == "struct_size"
    zero = "unsafe { core::mem::zeroed() }"  # integers, numbers and pointers alone
    default = (f"        Self {{ struct_size: size_of::<Self>(), ..{zero} }}\n" if sized
               else f"        {zero}\n")
    checks = "".join(f"    assert!(offset_of!({name}, {name_of(m['name'])}) == {m['offset']});\n" for m in members)
    return (f"#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct {name} {{\n"
            + "".join(f"    pub {name_of(m['name'])}: {rust_type(m['type'])},\n" for m in members)
            + f"}}\nimpl Default for {name} {{\n    fn default() -> Self {{\n{default}    }}\n}}\n"
            f"const _: () = {{\n    assert!(size_of::<{name}>() == {layout['size']});\n"
            f"    assert!(align_of::<{name}>() == 8);\n{checks}}};\n")


def function(name, declared):
    parameters = ", ".join(f"{name_of(p['name'])}: {rust_type(p['type'])}" for p in declared["parameters"])
    returns = "" if declared["returns"] == "void" else f" -> {rust_type(declared['returns'])}"
    return f"    pub fn {name}({parameters}){returns};\n"


def constants(of):
    kind = "u32"
    for name, value in of.items():
        if name == FIRST_STATUS:
            kind = "dataflux_status"
        yield f"pub const {name}: {kind} = {value};\n"


def text():
    abi = description()
    return ("// By rust/generate.py from c_api/abi/dataflux.json: change the header, not this.\n"
            "use core::ffi::{c_char, c_int, c_void};\nuse core::marker::{PhantomData, PhantomPinned};\n"
            "use core::mem::offset_of;\n\n"
            "pub type dataflux_status = i32;\n\n"
            + "".join(constants(abi["constants"])) + "\n"
            + "".join(map(handle, ["ArrowArrayStream", *abi["handles"]])) + "\n"
            + "".join(struct(*each) for each in abi["structs"].items())
            + "\nunsafe extern \"C\" {\n" + "".join(function(*each) for each in abi["functions"].items()) + "}\n")


if __name__ == "__main__":
    main(text(), MODULE)
