"""A KeyboardInterrupt between any two bytecodes, as a signal's handler raises it."""

import sys


def _in_destructor(frame, names):
    while frame is not None:
        if frame.f_code.co_name in names:
            return True
        frame = frame.f_back
    return False


def interrupted_at(number, function, files, destructors=("__del__",)):
    """Calls a function, and raises KeyboardInterrupt in front of its bytecode of that number among
    those in `files`, or, where that is one of a destructor, which would swallow it, of the next.

    Returns: whether there are so many. An interrupt that does not come out of the function is an
    AssertionError.
    """
    left, raised_in = number, None

    def trace(frame, event, argument):
        nonlocal left, raised_in
        if not frame.f_code.co_filename.endswith(files):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and raised_in is None:
            left -= 1
            if left == 0:
                # No signal comes where a frame cleans up.
                if _in_destructor(frame, destructors) or frame.f_lineno is None:
                    left = 1
                else:
                    raised_in = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                    raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        function()
    except KeyboardInterrupt:
        return True
    except Exception as why:
        sys.settrace(None)
        if raised_in is not None:
            raise AssertionError(f"an interrupt at {raised_in} became {why!r}") from why
        raise
    finally:
        sys.settrace(None)
    assert raised_in is None, f"an interrupt at {raised_in} was lost"
    return False
