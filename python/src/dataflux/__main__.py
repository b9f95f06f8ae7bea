"""python -m dataflux: the command."""

from ._programs import run_command

run_command()
