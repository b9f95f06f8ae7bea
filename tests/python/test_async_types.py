"""AsyncClient has each verb of Client: as a coroutine, in a form of its own, or refused in words; and
type checkers know which."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dataflux

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "c_api" / "python"))

import stubs  # noqa: E402


def test_the_stub_is_that_of_the_sources():
    assert stubs.STUB.read_text() == stubs.text(), "run c_api/python/stubs.py --write"


def test_what_blocks_is_refused_in_words():
    client = dataflux.AsyncClient(emulator=True, endpoint="http://localhost:1")
    for name in stubs.left_out():
        with pytest.raises(AttributeError, match=f"{name}.*block"):
            getattr(client, name)
    client.close()


def test_each_verb_has_the_arguments_of_the_blocking_one():
    for name, function in inspect.getmembers(dataflux.Client, inspect.isfunction):
        if name.startswith("_") or name in stubs.left_out():
            continue
        mine = getattr(dataflux.AsyncClient, name)
        assert list(inspect.signature(mine).parameters) == \
            list(inspect.signature(function).parameters), name


def test_the_stub_has_each_public_name_of_the_class():
    shown = {node.name for top in ast.parse(stubs.STUB.read_text()).body
             if isinstance(top, ast.ClassDef) and top.name == "AsyncClient"
             for node in top.body if hasattr(node, "name")}
    public = {name for name in dir(dataflux.AsyncClient)
              if not name.startswith("_") and hasattr(dataflux.AsyncClient, name)}
    assert public == {name for name in shown if not name.startswith("_")}


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
        figures: str = client.prometheus()
        return [each.size for each in known]
"""
BAD = """
import dataflux


async def main(client: dataflux.AsyncClient) -> None:
    known: dataflux.Object = client.stat("gs://bucket/name")
    await client.stat("gs://bucket/name", timeout="3")
    client.open("gs://bucket/name")
"""


@pytest.mark.parametrize("text, errors", [(GOOD, []), (BAD, ["assignment", "arg-type",
                                                            "attr-defined"])])
def test_a_program_is_checked_by_mypy(tmp_path, text, errors):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(text)
    told = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary",
         "--cache-dir", str(tmp_path / "cache"), str(program)],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={**os.environ, "MYPYPATH": os.path.dirname(os.path.dirname(dataflux.__file__))})
    lines = [line for line in told.stdout.splitlines()
             if line.startswith(str(program)) or "program.py" in line or "_aio" in line]
    found = [line.rsplit("[", 1)[1].rstrip("]") for line in lines if ": error:" in line]
    assert found == errors, told.stdout + told.stderr
