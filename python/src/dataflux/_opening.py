"""What another thread opens before its turn comes."""

from __future__ import annotations

from ._errors import again
from ._threads import use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class Opening:
    """Something that another thread opens.

    Arguments:
        make: opens it, by the arguments that follow; what it gives has a close().
    """

    def __init__(self, make: Callable[..., Any], *arguments: Any) -> None:
        from _queue import SimpleQueue

        self._made: Any = SimpleQueue()
        self._closed = False
        try:
            use(self._open, make, arguments)
        except RuntimeError:  # there are no more threads
            self._open(make, arguments)

    def _open(self, make, arguments):
        made: Any = None
        try:
            made = make(*arguments)
        except BaseException as why:
            made = again(why) if isinstance(why, Exception) else why
        self._made.put(made)
        made = None
        if self._closed:
            self._drop()

    def opened(self) -> Any:
        """Waits for it; once. Raises: what opening it has failed with."""
        made = self._made.get()
        try:
            if isinstance(made, BaseException):
                raise made
            return made
        finally:
            del made

    def close(self) -> None:
        """It is not wanted any more. Does not wait."""
        self._closed = True
        self._drop()

    def _drop(self):
        from _queue import Empty

        try:
            made = self._made.get_nowait()
        except Empty:
            return
        if not isinstance(made, BaseException):
            made.close()
