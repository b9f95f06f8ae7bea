"""The two forms of verbs that are written once, as bodies: for threads, and for tasks. An object that has
them has `_client`."""

from __future__ import annotations

from functools import wraps
from types import FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any, Concatenate, ParamSpec, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")


def named(body, kind, name):
    """The same function by the name of its form, which Python tells where an argument is mistyped."""
    made = FunctionType(body.__code__, body.__globals__, name, body.__defaults__, body.__closure__)
    made.__qualname__ = f"{kind.__qualname__}.{name}"
    made.__module__ = kind.__module__
    made.__kwdefaults__ = body.__kwdefaults__
    made.__annotations__ = body.__annotations__
    made.__doc__ = body.__doc__
    return made


class _Form:
    """In the place of a verb until its class is made."""

    def __init__(self, body):
        self._body = body

    def __set_name__(self, kind, name):
        setattr(kind, name, self.of(named(self._body, kind, name)))


class _Blocking(_Form):
    def of(self, body):
        @wraps(body)
        def verb(self, *arguments, **how):
            return self._client._run(body(self, *arguments, **how))

        return verb


class _Awaiting(_Form):
    def of(self, body):
        @wraps(body)
        async def verb(self, *arguments, **how):
            return await self._client._run(body(self, *arguments, **how))

        return verb


if TYPE_CHECKING:
    def blocking(body: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]
                 ) -> Callable[Concatenate[Any, P], T]:
        """The form of a body for threads, in a class's body."""
        ...

    def awaiting(body: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]
                 ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
        """The form for tasks: a coroutine function."""
        ...
else:
    blocking, awaiting = _Blocking, _Awaiting
