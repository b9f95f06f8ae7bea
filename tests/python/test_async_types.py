"""AsyncClient has each verb of Client, as a coroutine or in a form of its own, and type checkers know
which. They know what the module has, too."""

import ast
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dataflux

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

import stubs  # noqa: E402


@pytest.fixture(scope="session")
def typed(tmp_path_factory):
    """A folder with the package and the stubs, as the wheel has both."""
    folder = tmp_path_factory.mktemp("typed")
    package = folder / "dataflux"
    shutil.copytree(Path(dataflux.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    stubs.write(package)
    return folder


def test_the_table_of_methods_is_that_of_the_sources():
    assert stubs.PAGE.read_text() == stubs.page(), "run python/stubs.py --page"


def test_no_stub_is_kept_beside_the_sources():
    assert list(stubs.SOURCE.rglob("*.pyi")) == []


def test_each_verb_has_the_arguments_of_the_blocking_one():
    for name, function in inspect.getmembers(dataflux.Client, inspect.isfunction):
        if name.startswith("_"):
            continue
        mine = getattr(dataflux.AsyncClient, name)
        assert list(inspect.signature(mine).parameters) == \
            list(inspect.signature(function).parameters), name


def functions_of_the_stub():
    kind = next(top for top in ast.parse(stubs.text()).body if isinstance(top, ast.ClassDef))
    return {node.name: node for node in kind.body if hasattr(node, "name")}


def test_the_stub_has_each_public_name_of_the_class():
    public = {name for name in dir(dataflux.AsyncClient)
              if not name.startswith("_") and hasattr(dataflux.AsyncClient, name)}
    assert public == {name for name in functions_of_the_stub() if not name.startswith("_")}


def test_the_stub_says_which_functions_give_coroutines():
    for name, node in functions_of_the_stub().items():
        assert isinstance(node, ast.AsyncFunctionDef) == \
            inspect.iscoroutinefunction(getattr(dataflux.AsyncClient, name)), name


def test_the_stub_of_the_module_has_each_of_its_names():
    known = ast.parse(stubs.text_of_package()).body
    shown = {each.asname for node in known if isinstance(node, ast.ImportFrom) for each in node.names}
    shown |= {node.name for node in known if isinstance(node, ast.FunctionDef)}
    assert shown - {None} == set(dataflux._WHERE) | set(dataflux._VERBS)


GOOD = """
import asyncio
import dataflux


async def sizes(urls: list[str]) -> list[int]:
    async with dataflux.AsyncClient(io_threads=1) as client:
        known: list[dataflux.Object] = await asyncio.gather(*(client.stat(url) for url in urls))
        task: asyncio.Task[bool] = asyncio.create_task(client.exists(("bucket", "name")))
        assert await task
        written = await client.put("gs://bucket/name", b"bytes", if_generation_match=0)
        await client.delete(written)
        content: bytes = await client.get("gs://bucket/name", length=5)
        async for batch in client.get_many(await client.list("gs://bucket/data/")):
            first: memoryview = batch[0].data
        async for rows in client.list_batches("gs://bucket/data/"):
            name: str = rows[0].name
        async with await client.reader("gs://bucket/name") as reader:
            content = await reader.read_at(0, 10)
        async with await client.writer("gs://bucket/name") as writer:
            number: int = await writer.write(content)
            ranges: list[bytes] = await reader.get_ranges([(0, 1)])
        async with await client.open("gs://bucket/name", read_ahead=0) as file:
            at: int = await file.seek(5)
            lines: list[bytes] = [line async for line in file]
        async with await client.open("gs://bucket/name", "xb", metadata={"a": "b"}) as target:
            await target.write(content)
        known_now: dataflux.Object | None = target.object
        async with await client.open("gs://bucket/name", "r", encoding="utf-8") as text:
            words: list[str] = [line async for line in text]
        saving = client.checkpoint_set("gs://bucket/run/1")
        async with await saving.open_member("rank-0") as member:
            await member.write(content)
        await saving.commit([member.record])
        saved: dataflux.AsyncSetReader = await client.latest_set("gs://bucket/run")
        async with await saved.reader("rank-0") as reader:
            content = await reader.read_at(0, 10)
        saved_rows: dataflux.Listing = await (await client.open_manifest("manifest")).rows()
        figures: str = client.prometheus()
        return [each.size for each in known]
"""
GOOD_BLOCKING = """
import dataflux


def main(client: dataflux.Client) -> list[str]:
    saving = client.checkpoint_set("gs://bucket/run/1")
    with saving.open_file("m") as file:
        file.write(b"bytes")
    with saving.open_member("n") as member:
        member.write(b"bytes")
    with client.open("gs://bucket/name", "wb") as writing:
        made: dataflux.FileWriter = writing
    return [file.record, member.record, made.url]
"""
BAD = """
import dataflux


async def main(client: dataflux.AsyncClient) -> None:
    known: dataflux.Object = client.stat("gs://bucket/name")
    await client.stat("gs://bucket/name", timeout="3")
    (await client.open("gs://bucket/name", "wb")).read()
    client.fileno()
    rows: int = dataflux.list("gs://bucket/data/")
    dataflux.get("gs://bucket/name", ofset=3)
"""


def by_mypy(typed, folder, *programs):
    """The errors that it finds in them and in the stubs."""
    pytest.importorskip("mypy")
    told = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context",
         "--cache-dir", str(folder.parent / "mypy"), *map(str, programs)],
        capture_output=True, text=True, timeout=300, cwd=folder, env={**os.environ, "MYPYPATH": str(typed)})
    assert told.stderr == ""
    names = [Path(program).name for program in programs] + ["_aio.pyi", "__init__.pyi"]
    return [line for line in told.stdout.splitlines()
            if ": error:" in line and Path(line.split(":")[0]).name in names]


def by_pyright(typed, folder, *programs):
    """What basedpyright in strict mode says of them: (severity, message) of each."""
    pytest.importorskip("basedpyright")
    (folder / "pyrightconfig.json").write_text(json.dumps({
        "typeCheckingMode": "strict", "pythonVersion": "3.10",
        "extraPaths": [str(typed)]}))
    told = subprocess.run([sys.executable, "-m", "basedpyright", "--outputjson", *map(str, programs)],
                          capture_output=True, text=True, timeout=300, cwd=folder)
    return [(each["severity"], each["message"])
            for each in json.loads(told.stdout)["generalDiagnostics"]]


@pytest.mark.parametrize("text, errors", [
    (GOOD, []), (GOOD_BLOCKING, []),
    (BAD, ["assignment", "arg-type", "attr-defined", "attr-defined", "assignment", "call-arg"])])
def test_a_program_is_checked_by_mypy(typed, tmp_path, text, errors):
    program = tmp_path / "program.py"
    program.write_text(text)
    told = by_mypy(typed, tmp_path, program)
    assert [line.rsplit("[", 1)[1].rstrip("]") for line in told] == errors, told


@pytest.fixture
def every_name(tmp_path):
    """A program that asks for the type of each public name."""
    program = tmp_path / "names.py"
    program.write_text("import dataflux\n" + "".join(
        f"reveal_type(dataflux.{name})\n" for name in dir(dataflux)))
    return program


def test_pyright_knows_the_type_of_each_name(typed, tmp_path, every_name):
    told = by_pyright(typed, tmp_path, every_name)
    assert len(told) == len(dir(dataflux)) and {severity for severity, _ in told} == {"information"}
    assert not [message for _, message in told if "Unknown" in message]


def test_mypy_knows_the_type_of_each_name(typed, tmp_path, every_name):
    assert by_mypy(typed, tmp_path, every_name) == []


def test_the_examples_have_types(typed, tmp_path):
    """They are copied, since two folders may not have one program's name."""
    programs = []
    for source in (ROOT / "examples" / "python").glob("*.py"):
        programs.append(tmp_path / f"example_{source.name}")
        programs[-1].write_text(source.read_text())
    assert by_mypy(typed, tmp_path, *programs) == []
    assert by_pyright(typed, tmp_path, *programs) == []
