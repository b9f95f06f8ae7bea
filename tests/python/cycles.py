"""What a call that fails leaves in reference cycles."""

import gc


def left_by(call, kinds):
    """How many objects in cycles a call leaves, once it has failed by one of those exceptions. The second
    one counts: the first imports, and makes classes."""
    for _ in range(2):
        gc.collect()
        gc.disable()
        try:
            try:
                call()
            except kinds:
                pass
            else:
                raise AssertionError("it has not failed")
            found = gc.collect()
        finally:
            gc.enable()
    return found
