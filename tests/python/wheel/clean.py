"""Clean environments, for tests of what is installed."""

import os
import subprocess

LIMIT = 300  # seconds, for what takes some


def bare_environment():
    """Nothing that leads to this tree, nor to what users have installed for themselves."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return kept | {"PYTHONNOUSERSITE": "1"}


def make_environment(python, folder):
    """A new environment that has nothing; returns its Python."""
    subprocess.run([python, "-m", "venv", folder], check=True, env=bare_environment(), timeout=LIMIT)
    return folder / "bin/python"
