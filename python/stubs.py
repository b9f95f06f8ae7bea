#!/usr/bin/env python3
"""Types of what the package makes when it is first used, for type checkers.

    python/stubs.py             prints them
    python/stubs.py --write     writes them; a test compares

src/dataflux/_aio.pyi is of AsyncClient, whose verbs are those of Client but give awaitables. A verb
that ends in `return self._run(...)` is written once, in a mixin of Client, and serves both clients:
here it becomes `async def`. All else of the mixins is blocking, and AsyncClient has it only where
_aio.py or a mixin of its own has another form; `left_out()` names the others, of which there are
none.

src/dataflux/__init__.pyi is of the module: its names, and the default client's verbs as functions. docs/python.md has a
table of all verbs.
"""

import ast
import builtins
import re
import sys
import textwrap
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "src" / "dataflux"
STUB = SOURCE / "_aio.pyi"
PACKAGE = SOURCE / "__init__.pyi"
PAGE = SOURCE.parents[2] / "docs" / "python.md"
_BEGIN, _END = "<!-- methods: by python/stubs.py -->", "<!-- methods: end -->"


class Module:
    """A module of the package, read and not imported."""

    def __init__(self, name):
        self.name = name
        source = (SOURCE / f"{name}.py").read_text()
        self.tree = ast.parse(source)
        self.lines = source.splitlines()
        self.imports = {}  # a name: (module, name there), or (module, None) for the module itself
        self.own = set()
        for node in self._top(self.tree.body):
            if isinstance(node, ast.ImportFrom):
                for each in node.names:
                    self.imports[each.asname or each.name] = (
                        "." * node.level + (node.module or ""), each.name)
            elif isinstance(node, ast.Import):
                for each in node.names:
                    self.imports[each.asname or each.name] = (each.name, None)
            elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                self.own.add(node.name)
            elif isinstance(node, ast.Assign):
                self.own.update(t.id for t in node.targets if isinstance(t, ast.Name))

    def _top(self, body):
        """What is at the top, and what only type checkers see."""
        for node in body:
            if isinstance(node, ast.If):
                yield from self._top(node.body)
            else:
                yield node

    def of_class(self, name):
        return next(node for node in self.tree.body
                    if isinstance(node, ast.ClassDef) and node.name == name)


def is_one_call(function, helpers):
    """It ends in `return self._run(...)`, or in several of them, and calls that nowhere else; or in
    one of the methods of its class, by their names, of which that is true."""
    runs = {node for node in ast.walk(function) if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name) and node.value.id == "self"
            and (node.attr == "_run" or node.attr in helpers
                 and is_one_call(helpers[node.attr], {}))}
    given = {node.value.func for node in ast.walk(function)
             if isinstance(node, ast.Return) and isinstance(node.value, ast.Call)}
    return bool(runs) and runs <= given


def is_overload(function):
    return any(isinstance(each, ast.Name) and each.id == "overload"
               for each in function.decorator_list)


def methods(body):
    """The public ones, with the overloads that only type checkers see, and __special__ ones."""
    for node in body:
        if isinstance(node, ast.If):
            yield from methods(node.body)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and \
                (not node.name.startswith("_") or node.name.startswith("__")):
            yield node


def verbs():
    """(module, name, functions, whether it is one call) of each verb of Client's mixins; overloads
    belong together, and the last function is the one with a body."""
    client = Module("_client")
    for base in client.of_class("Verbs").bases:
        module = Module(client.imports[base.id][0].lstrip("."))
        found = {}
        mixin = module.of_class(base.id)
        for function in methods(mixin.body):
            found.setdefault(function.name, []).append(function)
        helpers = {node.name: node for node in mixin.body if isinstance(node, ast.FunctionDef)
                   and node.name.startswith("_") and node.name != "_run"}
        for name, functions in found.items():
            yield module, name, functions, is_one_call(functions[-1], helpers)


def of_async():
    """The modules and methods of AsyncClient that are its own: those of _aio.py and its mixins, by
    name: (module, functions), overloads among them."""
    module = Module("_aio")
    node = module.of_class("AsyncClient")
    found = {}
    parts = [(module, node)]
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id not in ("Core", "Verbs"):
            mixin = Module(module.imports[base.id][0].lstrip("."))
            parts.append((mixin, mixin.of_class(base.id)))
    for source, part in parts:
        mine = {}
        for function in methods(part.body):
            mine.setdefault(function.name, (source, []))[1].append(function)
        found = {**mine, **found}
    return found


def plain():
    """Verbs that are the same for both clients, since they do not wait."""
    return next(ast.literal_eval(node.value) for node in Module("_aio").of_class("AsyncClient").body
                if isinstance(node, ast.Assign) and node.targets[0].id == "_plain")


def left_out():
    """Verbs of Client that AsyncClient has no form of."""
    own = of_async()
    return sorted(name for _, name, _, one in verbs()
                  if name not in own and name not in plain() and not one)


def shown(functions):
    """What type checkers see of a function."""
    return [each for each in functions if is_overload(each)] or functions


class Needed:
    """The imports that the annotations need."""

    def __init__(self):
        self.lines = {}
        self.known = set()  # one module may take a name from typing, another from collections.abc

    def names_of(self, module, function):
        used = [each.annotation for each in ast.walk(function.args) if isinstance(each, ast.arg)]
        used += [function.returns, *function.decorator_list]
        for annotation in filter(None, used):
            if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
                annotation = ast.parse(annotation.value)
            for node in ast.walk(annotation):
                if isinstance(node, ast.Name):
                    self.add(module, node.id)

    def add(self, module, name):
        if name in module.own:
            if module.name != "_aio":
                self.lines.setdefault("." + module.name, set()).add(name)
        elif name in module.imports and name not in self.known:
            self.known.add(name)
            source, there = module.imports[name]
            if there is None:
                self.lines.setdefault(source, set())
            else:
                self.lines.setdefault(source, set()).add(
                    there if there == name else f"{there} as {name}")

    def text(self):
        lines = []
        for source, names in sorted(self.lines.items()):
            listed = ", ".join(sorted(names))
            lines.append(f"from {source} import {listed}" if names else f"import {source}")
        return "\n".join(lines)


def declared(module, function, awaited):
    """A method as a stub has it: signature and docstring, as they are written."""
    first = min(each.lineno for each in [function, *function.decorator_list])
    lines = module.lines[first - 1:function.body[0].lineno - 1]
    at = function.lineno - first
    if isinstance(function.body[0], ast.Expr) and function.body[0].lineno == function.lineno:
        lines, rest = module.lines[first - 1:function.lineno], []  # all in one line
    elif ast.get_docstring(function) is not None:
        rest = module.lines[function.body[0].lineno - 1:function.body[0].end_lineno]
    elif is_overload(function):  # its dots stand behind the signature
        lines, rest = module.lines[first - 1:function.end_lineno], []
    else:
        rest = ["        ..."]
    if awaited and not isinstance(function, ast.AsyncFunctionDef):
        lines[at] = lines[at].replace("def ", "async def ", 1)
        lines[at + 1:] = ["      " + line for line in lines[at + 1:]]
    return textwrap.indent(textwrap.dedent("\n".join(lines + rest)), "    ")


def text():
    """_aio.pyi"""
    needed, parts = Needed(), []
    own, same, without = of_async(), plain(), left_out()
    for module, name, functions, _ in verbs():
        if name in own or name in without:
            continue
        for function in shown(functions):
            needed.names_of(module, function)
            parts.append(declared(module, function, awaited=name not in same))
    for module, functions in own.values():
        for function in shown(functions):
            needed.names_of(module, function)
            parts.append(declared(module, function, awaited=False))
    core = Module("_client")
    for function in methods(core.of_class("Core").body):
        if function.name not in own and (function.returns is not None):
            needed.names_of(core, function)
            parts.append(declared(core, function, awaited=False))
    aio = Module("_aio").of_class("AsyncClient")
    documented = '    """' + ast.get_docstring(aio, clean=False) + '"""'
    return ('"""Types of AsyncClient, by python/stubs.py of the sources of Client\'s verbs."""\n\n'
            + needed.text() + "\n\n\nclass AsyncClient:\n" + documented + "\n\n"
            + "\n\n".join(parts) + "\n")


def of_module(name):
    """A value that __init__.py has as a literal."""
    return next(ast.literal_eval(node.value) for node in Module("__init__").tree.body
                if isinstance(node, ast.Assign) and node.targets[0].id == name)


def function_of(module, function, hidden):
    """A verb of the default client as a function of the module. Builtins of which there is a
    function, list for one, are called by their whole names."""
    lines = textwrap.dedent(declared(module, function, awaited=False)).split("\n")
    for i, line in enumerate(lines):
        if '"""' in line:
            break
        line = re.sub(r"\(self(, )?", "(", line, count=1)
        lines[i] = re.sub(rf"(?<![\w.])({'|'.join(hidden)})\[", r"_builtins.\1[", line)
    return "\n".join(lines)


def text_of_package():
    """__init__.pyi"""
    names, wanted = of_module("_WHERE"), of_module("_VERBS")
    needed, parts, met = Needed(), [], set()
    hidden = [name for name in wanted if hasattr(builtins, name)]
    for module, name, functions, _ in verbs():
        if name in wanted:
            met.add(name)
            for function in shown(functions):
                needed.names_of(module, function)
                parts.append(function_of(module, function, hidden))
    if met != set(wanted):
        raise SystemExit(f"no verbs of Client: {set(wanted) - met}")
    for module in [module for module in needed.lines if module.startswith(".")]:
        needed.lines[module] -= names.keys()  # they are there, exported
        if not needed.lines[module]:
            del needed.lines[module]
    exported = "\n".join(f"from .{where} import {name} as {name}"
                         for name, where in sorted(names.items(), key=lambda each: each[::-1]))
    return ('"""Types of the package, by python/stubs.py of its sources."""\n\n'
            "import builtins as _builtins\n" + needed.text() + "\n\n" + exported
            + "\n\n__version__: str\n\n\n" + "\n\n\n".join(parts) + "\n")


def row_of(name, function):
    """A method as a row of the table in docs/python.md: what it takes, and the first sentence about it."""
    taken = [each.arg for each in function.args.args[1:]]
    if function.args.kwonlyargs or function.args.kwarg:
        taken.append("...")
    first = re.split(r"(?<=[.:])\s", " ".join(ast.get_docstring(function).split()) + " ", maxsplit=1)[0]
    return f"| `{name}({', '.join(taken)})` | {first.rstrip(':.').replace('|', chr(92) + '|')} |"


def page():
    """docs/python.md, with the table of what a client does."""
    rows = [row_of(name, functions[-1]) for _, name, functions, _ in verbs()]
    close = next(each for each in Module("_client").of_class("Core").body
                 if isinstance(each, ast.FunctionDef) and each.name == "close")
    table = "\n".join(["| method | what it does |", "|---|---|", *rows, row_of("close", close)])
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    _, _, behind = rest.partition(_END)
    return f"{before}{_BEGIN}\n{table}\n{_END}{behind}"


def stubs():
    """The files, and what is in them."""
    return {STUB: text(), PACKAGE: text_of_package(), PAGE: page()}


if __name__ == "__main__":
    for path, content in stubs().items():
        if sys.argv[1:] == ["--write"]:
            path.write_text(content)
        else:
            sys.stdout.write(content)
