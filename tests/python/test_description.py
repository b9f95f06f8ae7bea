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
LEFT = {("dataflux_selection", "name_count"): "Python chooses by patterns, sizes and times",
        ("dataflux_get_many_options", "feed_capacity"): "a feed of Python holds few batches of rows",
        ("dataflux_epoch_reads", "gap"): "what the library takes before it knows the network"}


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
    missing = [name for name in members if not name.startswith("reserved") and (struct, name) not in LEFT
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


def sizes_as_numbers(tree):
    """Lines where the size of a struct is a number, or a name that stands for one: a struct that has grown
    would be passed as the shorter one that it was, in silence."""
    numbers = {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign)
               and isinstance(node.value, ast.Constant) and isinstance(node.value.value, int)
               for target in node.targets if isinstance(target, ast.Name)}
    kinds = {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign) and is_kind(node.value)
             for target in node.targets if isinstance(target, ast.Name)}

    def is_number(node):
        return isinstance(node, ast.Constant) and isinstance(node.value, int) or \
            isinstance(node, ast.Name) and node.id in numbers

    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and is_number(node.value):
            names = [getattr(target, "attr", getattr(target, "id", "")) for target in node.targets]
            if any(name == "struct_size" or name.lower().endswith(("options_size", "record_size",
                                                                   "columns_size", "conditions_size"))
                   for name in names):
                yield node.lineno
        elif isinstance(node, ast.Call):
            # Of a class of structs: its first member is the size.
            made = is_kind(node.func) or isinstance(node.func, ast.Name) and node.func.id in kinds
            given = [each.value for each in node.keywords if each.arg == "struct_size"]
            given += node.args[:1] if made else []
            given += sizes_given(node)
            if any(map(is_number, given)):
                yield node.lineno


def is_kind(node):
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "kind_of"


def sizes_given(call):
    """What a call of a function of the library gives as the size of a struct."""
    of = call.func
    if not (isinstance(of, ast.Attribute) and getattr(of.value, "id", "") == "library"):
        return []
    function = DESCRIPTION["functions"].get("dataflux_" + of.attr)
    before, found = "", []
    for parameter, given in zip(function["parameters"] if function else (), call.args):
        struct = before.removeprefix("const ").removesuffix("*").strip()
        if parameter["type"] == "size_t" and parameter["name"].endswith("size") \
                and struct in DESCRIPTION["structs"]:
            found.append(given)
        before = parameter["type"]
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_size_of_a_struct_is_a_number(path):
    assert list(sizes_as_numbers(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize("text, lines", [
    ("made = kind_of('reader_options')(56, bucket)", [1]),
    ("OPTIONS = 56\nkind = kind_of('reader_options')\nmade = kind(OPTIONS, bucket)", [3]),
    ("OPTIONS_SIZE = 56", [1]), ("made.struct_size = 56", [1]), ("struct('x', struct_size=56)", [1]),
    ("library.queue_next(queue, buffer, 64, 1, -1, number)", [1]),
    ("library.manifest_row(manifest, 5, row, 64, err)", [1]),
    ("library.manifest_row(manifest, 5, row, sizeof(row), err)", []),
    ("made = kind_of('row')()", []), ("made = filled('reader_options', bucket)", [])])
def test_a_size_that_is_a_number_is_found(text, lines):
    assert list(sizes_as_numbers(ast.parse(text))) == lines


def test_a_struct_that_has_grown_says_so(monkeypatch):
    """Each way to make one."""
    import ctypes

    from dataflux import _abi, _library

    before = ctypes.sizeof(_library.kind_of("reader_options"))
    rows = (*_abi.STRUCTS["reader_options"], ("more", "Q"))
    monkeypatch.setitem(_abi.STRUCTS, "reader_options", rows)
    monkeypatch.delitem(_library._structs, "reader_options")
    made = _library.filled("reader_options", b"bucket", b"object"), _library.struct("reader_options", bucket="b")
    monkeypatch.delitem(_library._structs, "reader_options")  # as it was for those who come after
    assert [each.struct_size for each in made] == [before + 8] * 2
