"""The programs that come with the package: the command `dataflux`, and the emulator."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def program(name, variable):
    """The path of a program: `variable` of the environment says which; else the one that was
    installed with the package; else the one that PATH finds."""
    named = os.environ.get(variable)
    if named:
        return named
    shipped = os.path.join(os.path.dirname(__file__), "bin", name)
    if os.access(shipped, os.X_OK):
        return shipped
    from shutil import which

    # Not a script of an environment, which would be this package again.
    found = which(name) if name != "dataflux" else None
    if found is None:
        raise FileNotFoundError(f"{name} was not built with this package: let {variable} name it, or "
                                "install a wheel of libdataflux")
    return found


def run_command() -> NoReturn:
    """Becomes the command `dataflux`, with the arguments of this process."""
    import sys

    path = None
    try:
        path = program("dataflux", "DATAFLUX_COMMAND")
        os.execv(path, ["dataflux", *sys.argv[1:]])
    except OSError as why:
        named = path is not None and os.environ.get("DATAFLUX_COMMAND") == path
        sys.exit(f"dataflux: {why}" if path is None else
                 f"dataflux: {path}: {why.strerror}" + ", which DATAFLUX_COMMAND names" * named)
