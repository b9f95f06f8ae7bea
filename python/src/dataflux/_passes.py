"""One pass over what may fail on the way."""

from __future__ import annotations

import _thread

from ._errors import after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Generator, Iterator


class Pass:
    """What a generator gives. What it has failed with it fails with again: a generator that has raised
    would end, and a part pass for the whole. One thread at a time is in it; another one gets a ValueError,
    which spoils nothing: free-threaded Python itself would crash."""

    def __init__(self, made: Generator[Any, None, None]) -> None:
        self._made = made
        self._one = _thread.allocate_lock()
        self._over: Callable[[], BaseException] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._over is not None:
            raise self._over()
        return self._alone(self._made.__next__)

    def _alone(self, step):
        entered = []  # by one call of C: an interrupt may come between two bytecodes
        try:
            try:
                entered.extend(map(self._one.acquire, (False,)))
                if not entered[0]:
                    raise ValueError("another thread is in this pass: one at a time is")
                return step()
            finally:
                if any(entered):
                    self._one.release()
        except StopIteration:
            raise
        except BaseException as why:
            if any(entered):
                self._over = after(why, f"the pass was ended by a {type(why).__name__}: begin another one")
            raise

    def close(self) -> None:
        """Ends what the generator has under way."""
        self._alone(self._made.close)
