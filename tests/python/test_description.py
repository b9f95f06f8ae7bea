"""What the C ABI has reaches Python: a member or a function that is new fails here until it does."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/src/dataflux"
DESCRIPTION = json.loads((ROOT / "c_api/abi/dataflux.json").read_text())
OPTIONS = [name for name, layout in DESCRIPTION["structs"].items()
           if layout["members"][0]["name"] == "struct_size"]
# Members that Python leaves at their default, and why.
LEFT = {("dataflux_get_many_options", "feed_capacity"): "a feed of Python holds few batches of rows"}


def sources():
    return [path.read_text() for path in PACKAGE.rglob("*.py") if path.name != "_abi.py"]


def set_names(source):
    """Of keywords, attributes that are assigned, and texts, by which members are set."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.fixture(scope="module")
def named():
    return {name for source in sources() for name in set_names(source)}


@pytest.mark.parametrize("struct", OPTIONS)
def test_each_member_of_options_is_set_by_python(struct, named):
    members = [m["name"] for m in DESCRIPTION["structs"][struct]["members"][1:]]
    # Times are given in seconds, by names without their unit.
    missing = [name for name in members if name != "reserved" and (struct, name) not in LEFT
               and not {name, name.removesuffix("_ns")} & named]
    assert missing == []


def test_each_function_is_used_by_python():
    text = "\n".join(sources())
    # These are made of a kind's name.
    made = re.compile(r"dataflux_(\w+_(free|init)|error_\w+|operation_take_\w+)")
    missing = [name for name in DESCRIPTION["functions"] if not made.fullmatch(name)
               and not re.search(rf"\b{name.removeprefix('dataflux_')}\b", text)]
    # What Python asks of its library in another way: by its name, and by the slab of each item.
    assert sorted(missing) == ["dataflux_abi_version", "dataflux_slab_memory"]
