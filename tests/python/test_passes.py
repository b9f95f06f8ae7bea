"""One pass over what may fail on the way."""

import threading

import pytest

import dataflux
from dataflux._passes import Pass

LIMIT = 60


def test_a_second_thread_in_it_spoils_nothing():
    inside, go_on = threading.Event(), threading.Event()

    def numbers():
        for number in range(3):
            if number == 1:
                inside.set()
                assert go_on.wait(LIMIT)
            yield number

    samples = Pass(numbers())
    assert next(samples) == 0
    got = []
    thread = threading.Thread(target=lambda: got.append(next(samples)))
    thread.start()
    try:
        assert inside.wait(LIMIT)
        for _ in range(2):
            with pytest.raises(ValueError, match="another thread"):
                next(samples)
    finally:
        go_on.set()
        thread.join(LIMIT)
    assert got == [1] and list(samples) == [2]


@pytest.mark.parametrize("why, again", [
    (ValueError("of its own"), dataflux.PreconditionError), (KeyboardInterrupt(), dataflux.PreconditionError),
    (dataflux.NotFoundError("gone"), dataflux.NotFoundError)])
def test_what_it_has_failed_with_it_fails_with_again(why, again):
    def fails():
        yield 0
        raise why

    samples = Pass(fails())
    assert next(samples) == 0
    with pytest.raises(type(why)):
        next(samples)
    for _ in range(2):
        with pytest.raises(again):
            next(samples)
