"""The samples of docs/python*.md, docs/cache.md, docs/job.md, docs/sampling.md, docs/shards.md, docs/simulate.md and README.md, as they stand there; and the pictures of docs/. Those that
need torch are in with_torch/test_docs_torch.py."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dataflux

pytestmark = pytest.mark.without_tokens  # the samples have the clients of the environment

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["cache.md", "job.md", "sampling.md", "shards.md", "simulate.md",
                                  *sorted(page.name for page in DOCS.glob("python*.md"))])
def test_samples_run_as_they_stand(page, emulator, tmp_path):
    samples = re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
    assert samples
    # A bucket of its own name for each page: they are read one after the other.
    name = f"my-bucket-{page.removesuffix('.md')}"
    emulator.add_bucket(name)
    program = "\n".join(samples).replace("my-bucket", name)
    done = subprocess.run([sys.executable, "-c", program], text=True, timeout=240, cwd=tmp_path,
                          capture_output=True, env={**os.environ, **emulator.environment})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("which", ["s3"])
def test_samples_of_s3_run_as_they_stand(emulator, tmp_path):
    samples = re.findall(r"^```python\n(.*?)^```$", (DOCS / "s3.md").read_text(), re.M | re.S)
    assert len(samples) == 2
    emulator.add_bucket("my-bucket")
    done = subprocess.run([sys.executable, "-c", "\n".join(samples)], text=True, timeout=240, cwd=tmp_path,
                          capture_output=True, env={**os.environ, **emulator.environment})
    assert done.returncode == 0, done.stdout + done.stderr


def test_samples_of_aistore_run_as_they_stand(tmp_path):
    samples = re.findall(r"^```python\n(.*?)^```$", (DOCS / "aistore.md").read_text(), re.M | re.S)
    assert len(samples) == 2
    with dataflux.emulator("my-bucket", service="ais") as service:
        done = subprocess.run([sys.executable, "-c", "\n".join(samples)], text=True, timeout=240, cwd=tmp_path,
                              capture_output=True, env={**os.environ, **service.environment})
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_sample_of_readme_runs_as_it_stands(emulator, tmp_path):
    sample, _ = re.findall(r"^```python\n(.*?)^```$", (DOCS.parent / "README.md").read_text(), re.M | re.S)
    emulator.add_bucket("my-bucket-readme")
    with emulator.client() as client:
        for number in range(3):
            client.put(f"gs://my-bucket-readme/train/{number}", b"." * number)
        client.put("gs://my-bucket-readme/other", b"is not listed")
    done = subprocess.run([sys.executable, "-c", sample.replace("my-bucket", "my-bucket-readme")], text=True,
                          timeout=60, cwd=tmp_path, capture_output=True,
                          env={**os.environ, **emulator.environment})
    assert (done.returncode, done.stdout) == (0, "train/0 0\ntrain/1 1\ntrain/2 2\n"), done.stderr


def test_index_leads_to_every_page():
    named = set(re.findall(r"\]\(([\w.-]+\.md)\)", (DOCS / "index.md").read_text()))
    assert named == {page.name for page in DOCS.glob("*.md")} - {"index.md"}


def test_help_names_what_there_is():
    table = re.findall(r"^    (.*)$", dataflux.__doc__, re.M)[2:]
    named = {line.split("(")[0].split()[0] for line in table}
    named |= set(re.findall(r"\b([a-z]+_[a-z_]+|[A-Z]\w+)\b", "\n".join(table)))
    assert len(named) > 20 and not named - set(dir(dataflux))


def test_pictures_are_those_of_the_script(tmp_path):
    subprocess.run([sys.executable, DOCS / "pictures.py", tmp_path], check=True, timeout=60)
    drawn = {path.name: path.read_text() for path in tmp_path.glob("*.svg")}
    assert drawn and drawn == {path.name: path.read_text() for path in DOCS.glob("*.svg")}
