#!/usr/bin/env python3
"""Types of what the package makes when it is first used, for type checkers; and the table of methods in
docs/python.md.

    python/stubs.py --into FOLDER   writes both files there: CMakeLists.txt does it for the wheel
    python/stubs.py --page          writes the table anew; a test compares

_aio.pyi is of AsyncClient. What it has of Client's mixins are coroutine functions, but for what they
give at once (_plain); what is its own is as it is written. __init__.pyi is of the module: its names,
and the default client's verbs as functions. The sources are read, and not imported.
"""

import ast
import builtins
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "src" / "dataflux"
PAGE = SOURCE.parents[2] / "docs" / "python.md"
_BEGIN, _END = "<!-- methods: by python/stubs.py -->", "<!-- methods: end -->"


class Module:
    """A module of the package.

    bound   each name that it has: what a stub writes to have it, too
    """

    def __init__(self, name):
        self.name = name
        self.tree = ast.parse((SOURCE / f"{name}.py").read_text())
        self.bound = {}
        for node in flat(self.tree.body):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for each in node.names:
                    alone = ast.Import([each]) if isinstance(node, ast.Import) else \
                        ast.ImportFrom(node.module, [each], node.level)
                    self.bound[each.asname or each.name] = ast.unparse(alone)
            elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                self.bound[node.name] = f"from .{name} import {node.name}"
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.bound[node.targets[0].id] = f"from .{name} import {node.targets[0].id}"

    def of_class(self, name):
        return next(node for node in self.tree.body
                    if isinstance(node, ast.ClassDef) and node.name == name)

    def value(self, name, body=None):
        """A literal that a name has."""
        return next(ast.literal_eval(node.value) for node in body or self.tree.body
                    if isinstance(node, ast.Assign) and node.targets[0].id == name)

    def mixins(self, name):
        """(module, class) of each base of a class, and of their bases, but for Core."""
        for base in self.of_class(name).bases:
            if isinstance(base, ast.Name) and base.id != "Core":
                module = Module(re.match(r"from \.(\w+)", self.bound[base.id])[1])
                yield module, module.of_class(base.id)
                yield from module.mixins(base.id)


def flat(body):
    """With what only type checkers see."""
    for node in body:
        yield from flat(node.body) if isinstance(node, ast.If) else [node]


def methods(module, kind):
    """name: (module, functions) of the public ones, and of __special__ ones whose types are written. Overloads
    belong together; the last function is the one with a body."""
    found = {}
    for node in flat(kind.body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
                not node.name.startswith("_") or node.name.startswith("__") and node.returns):
            found.setdefault(node.name, (module, []))[1].append(node)
    return found


def verbs():
    """Those of Client's mixins."""
    client = Module("_client")
    return {name: verb for mixin in client.mixins("Client") for name, verb in methods(*mixin).items()}


def of_async():
    """(methods of AsyncClient, names of those that are verbs of Client as coroutine functions)"""
    aio, client = Module("_aio"), Module("_client")
    kind = aio.of_class("AsyncClient")
    own = methods(client, client.of_class("Core"))
    of_both = {mixin.name for _, mixin in client.mixins("Client")}
    for module, mixin in [*aio.mixins("AsyncClient"), (aio, kind)]:
        if mixin.name not in of_both:
            own.update(methods(module, mixin))
    theirs = {name: verb for name, verb in verbs().items() if name not in own}
    return {**theirs, **own}, theirs.keys() - set(aio.value("_plain", kind.body))


def shown(functions):
    """What type checkers see of a function."""
    return [each for each in functions if each.decorator_list and
            getattr(each.decorator_list[0], "id", "") == "overload"] or functions[-1:]


def declared(function, awaited=False):
    """A function as a stub has it: signature and docstring."""
    kind = ast.AsyncFunctionDef if awaited else type(function)
    told = ast.get_docstring(function, clean=False)
    return kind(function.name, function.args, [ast.Expr(ast.Constant(... if told is None else told))],
                function.decorator_list, function.returns, lineno=0)


def imports(modules, body, names=()):
    """What the text of a stub needs of what those modules have, but for names that it has itself."""
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)} - set(names)
    bound = {}
    for module in modules:
        for name in used & module.bound.keys():
            bound.setdefault(name, module.bound[name])
    return sorted(bound.values())


def text():
    """_aio.pyi"""
    found, awaited = of_async()
    aio = Module("_aio").of_class("AsyncClient")
    body = [ast.Expr(ast.Constant(ast.get_docstring(aio, clean=False)))]
    for name, (_, functions) in found.items():
        body += [declared(each, name in awaited) for each in shown(functions)]
    kind = ast.unparse(ast.ClassDef("AsyncClient", [], [], body, []))
    needed = imports([module for module, _ in found.values()], kind, ["AsyncClient"])
    return "\n".join(['"""Types of AsyncClient, by python/stubs.py of the sources."""', "",
                      "from __future__ import annotations", *needed, "", kind, ""])


class _Builtins(ast.NodeTransformer):
    """Calls builtins of which the module has a function, list for one, by their whole names."""

    def __init__(self, names):
        self.hidden = [name for name in names if hasattr(builtins, name)]

    def visit_Name(self, node):
        return ast.Attribute(ast.Name("_builtins"), node.id) if node.id in self.hidden else node


def text_of_package():
    """__init__.pyi"""
    package, found = Module("__init__"), verbs()
    names, wanted = package.value("_WHERE"), package.value("_VERBS")
    parts = []
    for name in wanted:
        for function in map(declared, shown(found[name][1])):
            function.args.args.pop(0)  # self
            parts.append(ast.unparse(_Builtins(wanted).visit(function)))
    body = "\n\n".join(parts)
    exported = [f"from .{where} import {name} as {name}" for name, where in names.items()]
    needed = imports([found[name][0] for name in wanted], body, [*names, *wanted])
    return "\n".join(['"""Types of the package, by python/stubs.py of its sources."""', "",
                      "import builtins as _builtins", *needed, *exported, "", "__version__: str", "",
                      body, ""])


def write(folder):
    """Both files."""
    (folder / "_aio.pyi").write_text(text())
    (folder / "__init__.pyi").write_text(text_of_package())


def row_of(name, function):
    """A method as a row of the table in docs/python.md: what it takes, and the first sentence about it."""
    taken = [each.arg for each in function.args.args[1:]]
    if function.args.kwonlyargs or function.args.kwarg:
        taken.append("...")
    first = re.split(r"(?<=[.:])\s", " ".join(ast.get_docstring(function).split()) + " ", maxsplit=1)[0]
    return f"| `{name}({', '.join(taken)})` | {first.rstrip(':.').replace('|', chr(92) + '|')} |"


def page():
    """docs/python.md, with the table of what a client does."""
    client = Module("_client")
    core = methods(client, client.of_class("Core"))
    rows = [row_of(name, functions[-1])
            for name, (_, functions) in {**verbs(), "close": core["close"]}.items()]
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    table = "\n".join([_BEGIN, "| method | what it does |", "|---|---|", *rows, _END])
    return before + table + rest.partition(_END)[2]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--into"] and len(sys.argv) == 3:
        Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
        write(Path(sys.argv[2]))
    elif sys.argv[1:] == ["--page"]:
        PAGE.write_text(page())
    else:
        raise SystemExit(__doc__)
