"""The portable wheel, built of this tree, does its work where nothing of this tree is: in clean
environments of each Python, and in a bare system."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from clean import LIMIT, bare_environment, make_environment

ROOT = Path(__file__).resolve().parents[3]
SMOKE = Path(__file__).with_name("smoke.py")
BUILD = ROOT / "python/wheel/build.py"


@pytest.fixture(scope="session")
def wheel():
    """DATAFLUX_WHEEL names one that is built already, and then it is that one which is tested."""
    if os.environ.get("DATAFLUX_WHEEL"):
        return Path(os.environ["DATAFLUX_WHEEL"])
    built = subprocess.run([sys.executable, BUILD], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True)
    assert built.returncode == 0, built.stdout[-8000:]
    return Path(built.stdout.splitlines()[-1])


def interpreter(version):
    """A Python of that version which runs, or None: a shim of pyenv may be there and not run."""
    folders = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin"))
    named = [folder / "python3" for folder in folders]
    on_path = shutil.which(f"python{version}")
    for program in [*named, *([on_path] if on_path else [])]:
        asked = subprocess.run([program, "-c", "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"],
                               capture_output=True, text=True)
        if asked.stdout.strip() == version:
            return program
    return None


def install(python, wheel, folder):
    """A new environment that has the wheel alone; returns its Python."""
    made = make_environment(python, folder)
    subprocess.run([made, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-index",
                    "--no-deps", wheel], check=True, env=bare_environment(), timeout=LIMIT)
    return made


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_it_works_in_a_clean_environment(wheel, version, tmp_path):
    program = interpreter(version)
    if program is None:
        pytest.skip(f"this machine has no Python {version}")
    python = install(program, wheel, tmp_path / "environment")
    ran = subprocess.run([python, "-I", SMOKE, "--portable"], capture_output=True, text=True,
                         cwd=tmp_path, env=bare_environment(), timeout=LIMIT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == "all is well"


def test_its_command_is_the_one_inside(wheel, tmp_path):
    python = install(sys.executable, wheel, tmp_path / "environment")
    for command in ([python.with_name("dataflux")], [python, "-I", "-m", "dataflux"]):
        told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True,
                              env=bare_environment(), timeout=LIMIT)
        assert wheel.name.split("-")[1] in told.stdout


def test_it_tells_type_checkers_that_it_has_types(wheel):
    assert "dataflux/py.typed" in zipfile.ZipFile(wheel).namelist()


def test_it_works_in_a_bare_system(wheel):
    if os.geteuid() != 0:
        pytest.skip("a bare system is made by root")
    steps = ("apt-get -q update", "apt-get -q -y --no-install-recommends install python3-venv",
             "! ldconfig -p | grep -E 'libcurl|libsimdjson|libpugixml|libisal'",
             "cd /", "python3 -m venv /environment",
             f"/environment/bin/pip install --no-index /home/dataflux/given/{wheel.name}",
             "/environment/bin/python -I /home/dataflux/tree/tests/python/wheel/smoke.py --portable")
    ran = subprocess.run([ROOT / "tests/bare/run", "--with", wheel, "bookworm", " && ".join(steps)],
                         capture_output=True, text=True, timeout=4 * LIMIT)
    if "runs in place" in ran.stderr:
        pytest.skip(ran.stderr.strip().splitlines()[0])
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]
    assert ran.stdout.splitlines()[-1] == "all is well"
