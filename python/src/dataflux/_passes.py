"""One pass over what may fail on the way."""

from __future__ import annotations

from ._errors import after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Generator, Iterator


class Pass:
    """What a generator gives. What it has failed with it fails with again: a generator that has raised
    would end, and a part pass for the whole. One thread at a time is in it; another one gets a ValueError,
    which spoils nothing."""

    def __init__(self, made: Generator[Any, None, None]) -> None:
        self._made = made
        self._over: Callable[[], BaseException] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._over is not None:
            raise self._over()
        try:
            return next(self._made)
        except StopIteration:
            raise
        except BaseException as why:
            if isinstance(why, ValueError) and getattr(why.__traceback__, "tb_next", None) is None:
                raise  # not out of the generator: another thread is in it, and goes on
            self._over = after(why, f"the pass was ended by a {type(why).__name__}: begin another one")
            raise

    def close(self) -> None:
        """Ends what the generator has under way."""
        self._made.close()
