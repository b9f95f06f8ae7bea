"""What a call that fails leaves in reference cycles."""

import gc


def in_cycles():
    """How many objects nothing reaches but cycles that they are in, or between two of those; they are freed.
    Without the interpreter's lock a collection finds more: what only waits for its thread to wake and free it."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
    finally:
        gc.set_debug(0)
    numbers = {id(found): number for number, found in enumerate(gc.garbage)}
    left = {number: {numbers[id(of)] for of in gc.get_referents(found) if id(of) in numbers}
            for number, found in enumerate(gc.garbage)}
    gc.garbage.clear()
    while True:  # what leads to none of the others, or has none that leads to it, is in no cycle
        led_to = set().union(*left.values())
        out = [number for number, leads_to in left.items() if number not in led_to or leads_to.isdisjoint(left)]
        if not out:
            return len(left)
        for number in out:
            del left[number]


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
            found = in_cycles()
        finally:
            gc.enable()
    return found
