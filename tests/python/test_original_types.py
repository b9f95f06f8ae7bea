"""A program on dataflux_core and dataflux_pytorch is checked with the types of both."""

import json
import os
import subprocess
import sys

import pytest

import dataflux_core
from test_async_types import typed  # noqa: F401, a fixture

PROGRAM = """
import io
from typing import Iterator
from dataflux_core import download, fast_list
from dataflux_pytorch.dataflux_checkpoint import DatafluxCheckpoint
from dataflux_pytorch.lightning.path_utils import parse_gcs_path
from dataflux_pytorch.multipart_upload.multipart import upload_chunks_concurrently_from_bytesio

found: list[tuple[str, int]] = fast_list.ListingController(2, "p", "b", prefix="x/").run()
params = download.DataFluxDownloadOptimizationParams(max_composite_object_size=0)
contents: list[bytes] = download.dataflux_download("p", "b", found, None, params)
one_by_one: Iterator[bytes] = download.dataflux_download_lazy("p", "b", found)
one: bytes = download.download_single(None, "b", "n")
place: tuple[str, str] = parse_gcs_path("gs://b/n")
with DatafluxCheckpoint("p", "b").writer("n") as file:
    file.write(b"1")
upload_chunks_concurrently_from_bytesio(io.BytesIO(b"1"), object(), deadline=5)
"""
WRONG = """
text: str = fast_list.ListingController(2, "p", "b").run()
DatafluxCheckpoint("p")
"""


@pytest.fixture(scope="session")
def sources(typed):
    return [str(typed), os.path.dirname(os.path.dirname(dataflux_core.__file__))]


def test_mypy_checks_a_program(sources, tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM + WRONG)
    told = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context",
         "--cache-dir", str(tmp_path / "mypy"), str(program)], capture_output=True, text=True, timeout=300,
        cwd=tmp_path, env={**os.environ, "MYPYPATH": os.pathsep.join(sources)})
    assert told.stderr == ""
    found = [line.rsplit("[", 1)[1] for line in told.stdout.splitlines()
             if line.startswith("program.py") and ": error:" in line]
    assert found == ["assignment]", "call-arg]"], told.stdout


def test_pyright_checks_a_program(sources, tmp_path):
    pytest.importorskip("basedpyright")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({
        "typeCheckingMode": "strict", "pythonVersion": "3.10", "extraPaths": sources}))
    told = subprocess.run([sys.executable, "-m", "basedpyright", "--outputjson", str(program)],
                          capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert json.loads(told.stdout)["generalDiagnostics"] == []
