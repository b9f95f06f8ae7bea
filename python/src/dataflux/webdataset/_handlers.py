"""What is done about a failure of a shard or a sample: what stages take as `handler`.

A handler gets the exception. True goes on with what comes next, False ends the pass, and what it raises
goes to the caller."""

from __future__ import annotations

import warnings
from typing import Callable

Handler = Callable[[Exception], bool]


def reraise_exception(exn: Exception) -> bool:
    """Raises it: what all stages do unless they are told otherwise."""
    try:
        raise exn
    finally:
        del exn  # which has this frame


def ignore_and_continue(exn: Exception) -> bool:
    """Goes on without a word."""
    return True


def warn_and_continue(exn: Exception) -> bool:
    """Warns, and goes on."""
    warnings.warn(repr(exn), stacklevel=2)
    return True


def ignore_and_stop(exn: Exception) -> bool:
    """Ends the pass without a word."""
    return False


def warn_and_stop(exn: Exception) -> bool:
    """Warns, and ends the pass."""
    warnings.warn(repr(exn), stacklevel=2)
    return False
