"""Bodies: coroutines, each written once, that await calls. Two drivers run them: that of threads has each
call made where it stands, that of event loops awaits it."""

from __future__ import annotations

from ._calls import Call


class Body:
    """Steps of a body. A driver makes the call that one gives, and steps with what has come of it."""

    __slots__ = ("_body", "_failed", "value")

    def __init__(self, body):
        self._body = body
        self._failed = []  # not a variable: it has the frame that has it
        self.value = None

    def step(self):
        """What the body awaits next. StopIteration, with what it returns, at its end."""
        if self._failed:
            return self._body.throw(self._failed.pop())
        value, self.value = self.value, None
        return self._body.send(value)

    def fails(self, why):
        """The next step raises this where the body waits. False: the body has ended."""
        if self._body.cr_frame is None:
            return False
        self._failed.append(why)
        return True

    def close(self):
        self._body.close()


async def alone(call):
    """The body of one call."""
    return await call


def left(work):
    """An exception has come out of whatever was to make a call, or to run a body."""
    if isinstance(work, Call):
        work.left()
    else:
        work.close()


# Both keep a failure in a list: a variable would have the frame that has it. Most bodies end at their first
# step or their second, so no Body is made for them.


def run(make, body):
    """Runs a body on this thread, and gives what it returns. make(call) -> its value."""
    try:
        try:
            call = body.send(None)
        except StopIteration as end:
            return end.value
        failed = []
        while True:
            value = None
            try:
                if not isinstance(call, Call):
                    raise RuntimeError("a body has waited for an event loop, and was run without one")
                value = make(call)
            except BaseException as why:  # the body's: it may go on
                failed.append(why)
                if isinstance(call, Call):
                    call.left()
            try:
                call = body.throw(failed.pop()) if failed else body.send(value)
            except StopIteration as end:
                return end.value
    finally:
        body.close()


async def awaited(make, body):
    """Runs a body in a task, and gives what it returns. make(call): a coroutine that gives its value."""
    try:
        try:
            call = body.send(None)
        except StopIteration as end:
            return end.value
        failed = []
        while True:
            value = None
            try:
                value = await (make(call) if isinstance(call, Call) else _Awaited(call))
            except BaseException as why:
                failed.append(why)
                if isinstance(call, Call):
                    call.left()
            try:
                call = body.throw(failed.pop()) if failed else body.send(value)
            except StopIteration as end:
                return end.value
    finally:
        body.close()


class _Awaited:
    """What a body has awaited of the event loop itself."""

    __slots__ = ("_what",)

    def __init__(self, what):
        self._what = what

    def __await__(self):
        return (yield self._what)
