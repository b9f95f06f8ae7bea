"""`pip install ./python` builds the package by the system's compiler and libraries, and what it has
built does its work in an environment of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from clean import LIMIT, bare_environment, make_environment

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "python"
SMOKE = Path(__file__).with_name("smoke.py")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """(Python of an environment that has the package, the folder where it was compiled, pip's words)"""
    folder = tmp_path_factory.mktemp("install")
    python = make_environment(sys.executable, folder / "environment")
    environment = bare_environment() | {
        name: os.environ[name] for name in os.environ
        if name.startswith(("CCACHE_", "PIP_")) or name in ("http_proxy", "https_proxy")}
    if shutil.which("ccache"):
        environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    done = subprocess.run([python, "-m", "pip", "-v", "--disable-pip-version-check", "install",
                           f"--config-settings=build-dir={folder / 'build'}", PACKAGE],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                          env=environment, timeout=6 * LIMIT)
    assert done.returncode == 0, done.stdout[-8000:]
    return python, folder / "build", done.stdout


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=bare_environment(),
                          timeout=LIMIT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_what_pip_builds_does_its_work(built):
    assert run(built[0], "-I", SMOKE).splitlines()[-1] == "all is well"


def test_its_command_tells_the_version_of_the_package(built):
    python = built[0]
    version = run(python, "-I", "-c", "import dataflux; print(dataflux.__version__)")
    assert run(python, "-I", "-m", "dataflux", "--version").split()[-1] == version
    assert run(python.with_name("dataflux"), "--version").split()[-1] == version


def test_type_checkers_find_what_they_read(built):
    folder = run(built[0], "-I", "-c", "import dataflux, os; print(os.path.dirname(dataflux.__file__))")
    for name in ("__init__.pyi", "_aio.pyi", "py.typed"):
        assert Path(folder, name).is_file()
    assert "class AsyncClient" in Path(folder, "_aio.pyi").read_text()


def test_nothing_is_compiled_but_the_library_and_the_programs(built):
    targets = {path.relative_to(built[1]).as_posix().split("CMakeFiles/")[1].split("/")[0]
               for path in built[1].rglob("*.o")}
    assert targets == {f"{name}.dir" for name in (
        "dataflux_compiled", "dataflux_c", "dataflux_command", "dataflux_cli", "dataflux_terminal",
        "dataflux-emulator", "dataflux_emulator")}


def test_no_more_compilers_run_than_there_are_cores(built):
    told = re.search(r"Compilers at a time: (\d+)$", built[2], re.MULTILINE)
    assert 1 <= int(told[1]) <= len(os.sched_getaffinity(0))
    rules = (built[1] / "build.ninja").read_text()
    pools = (built[1] / "CMakeFiles/rules.ninja").read_text() + rules  # by CMake's version
    assert re.search(rf"^pool compilers\n +depth = {told[1]}$", pools, re.MULTILINE)
    assert rules.count("pool = compilers") == len(re.findall(r": C(?:XX)?_COMPILER__", rules))


def configure(folder, *options):
    return subprocess.run(["cmake", "-G", "Ninja", "-S", PACKAGE, "-B", folder, *options],
                          capture_output=True, text=True, env=bare_environment(), timeout=LIMIT)


def absent(*names):
    return [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in names]


def packages(text):
    """What an `apt-get install` in the text names."""
    return re.search(r"apt-get install((?:[ \\\n]+[a-z0-9+.-]+)+)", text)[1].replace("\\", " ").split()


def test_all_that_is_missing_is_named_at_once_with_its_package(tmp_path):
    refused = configure(tmp_path, *absent("simdjson", "CLI11"))
    assert refused.returncode != 0
    assert packages(refused.stderr) == ["libsimdjson-dev", "libcli11-dev"]
    assert "--config-settings=cmake.define.DATAFLUX_PROGRAMS=OFF" in refused.stderr


def test_without_the_programs_their_packages_are_not_asked_for(tmp_path):
    allowed = configure(tmp_path, *absent("Boost", "CLI11"), "-DDATAFLUX_PROGRAMS=OFF")
    assert allowed.returncode == 0, allowed.stderr


def test_a_missing_compiler_is_named_with_its_package(tmp_path):
    refused = configure(tmp_path, "-DCMAKE_PROGRAM_PATH=/nowhere", "-DCMAKE_CXX_COMPILER=")
    assert refused.returncode != 0
    assert packages(refused.stderr) == ["g++"]


def test_the_readme_names_the_packages_that_the_build_asks_for():
    asked = re.findall(r'^ *needed\("[^"]+" (\S+)', (PACKAGE / "needed.cmake").read_text(), re.MULTILINE)
    for page in (PACKAGE / "README.md", PACKAGE.parent / "docs/python.md"):
        assert sorted(packages(page.read_text())) == sorted([*asked, "python3-venv"])
