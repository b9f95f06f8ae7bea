"""Packages that some fields need, and dataflux does not."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(name: str, what: str, package: str = "") -> Any:
    """A module of another package.

    Raises: ModuleNotFoundError, which says what it is needed for and how to get it.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as why:
        if (why.name or "").partition(".")[0] != name.partition(".")[0]:
            raise  # it is there, and lacks something itself
        raise ModuleNotFoundError(f"{what}: they need the package {package or name}: pip install "
                                  f"{package or name.partition('.')[0]}", name=why.name) from None
