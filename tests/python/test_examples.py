"""The numbered examples and the main job, as a reader runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.without_tokens  # they have the clients of the environment

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "python"


@pytest.fixture
def run(emulator, bucket):
    for name, content in (("train/a", b"first"), ("train/b", b"the second one")):
        bucket.put(name, content)

    def run(name, *arguments):
        done = subprocess.run([sys.executable, FOLDER / name, *arguments], text=True, timeout=240,
                              capture_output=True, env={**os.environ, **emulator.environment})
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    return run


def test_every_example_is_tested_and_short():
    for source in FOLDER.glob("[0-9]*.py"):
        assert f"test_{source.stem}" in globals(), source.name
        assert len(source.read_text().splitlines()) <= 40, source.name


def test_03_list(run, bucket):
    assert run("03_list.py", bucket("train/")) == \
        "           5  train/a\n          14  train/b\n2 objects, 19 bytes\n"


def test_01_load(run, bucket):
    assert run("01_load.py", bucket("train/")) == \
        "train/a: 5 bytes, b'first'\ntrain/b: 14 bytes, b'the seco'\n"


def test_04_files(run, bucket):
    assert run("04_files.py", bucket("x.zip")) == (
        "something went wrong in the midst: the object is as it was\n"
        "['first.txt', 'second.txt'] b'22'\n")


def test_02_checkpoint_set(run, bucket):
    assert run("02_checkpoint_set.py", bucket("run/1")) == (
        "[('rank-0', 1000000), ('rank-1', 1000000), ('rank-2', 1000000), ('rank-3', 1000000)]\n"
        "b'\\x03\\x03\\x03\\x03'\n")


def test_05_async(run, bucket):
    assert run("05_async.py", bucket("train/")) == "train/a: 5 bytes\ntrain/b: 14 bytes\n"


def test_the_main_job(run, tmp_path):
    for i in range(300):
        (tmp_path / f"file-{i}").write_bytes(os.urandom(i * 37))
    said = run("demo.py", tmp_path)
    for step in ("list", "read all", "write checkpoint", "read checkpoint"):
        assert f"  {step} " in said, said
    assert "all of it compared" in said


def test_the_main_job_on_s3(run, tmp_path):
    (tmp_path / "file").write_bytes(b"1")
    said = run("demo.py", "--s3", tmp_path)
    assert "  s3://demo/ " in said and "  read checkpoint " in said and "all of it compared" in said, said


def test_the_main_job_in_a_notebook(run, tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(FOLDER / "demo.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3",
                            resources={"metadata": {"path": tmp_path}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output["output_type"] == "error"]
    text = "".join(output.get("text", "") for output in shown)
    assert "read back, and equal" in text, text
    tables = [output["data"]["text/html"] for output in shown
              if "text/html" in output.get("data", {})]
    assert any("train/0003" in table for table in tables), "the listing was not shown as a table"
