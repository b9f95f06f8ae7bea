"""One pass over what may fail on the way."""

import threading

import pytest

import dataflux
from cycles import left_by
from dataflux import DataLossError
from dataflux._passes import Pass
from dataflux._tar_streams import ShardStream

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


class TwoArgumentsError(ValueError):
    def __init__(self, what, where):
        super().__init__(f"{what} of {where}")


def decoded(cause):
    """As a decode of one that fails: the frames of its cause have those that wait for it."""
    def decode():
        raise cause() from KeyError("first")

    try:
        decode()
    except ValueError as why:
        raise DataLossError("damaged", object="x") from why


def from_map(cause):
    return map(lambda _: decoded(cause), range(3))


def from_a_generator(cause):
    for _ in range(3):
        yield decoded(cause)


@pytest.mark.parametrize("steps", [from_map, from_a_generator])
@pytest.mark.parametrize("over", [Pass, ShardStream])
@pytest.mark.parametrize("cause", [lambda: ValueError("odd"), lambda: TwoArgumentsError("odd", "here")],
                         ids=["plain", "of two arguments"])
def test_what_it_keeps_of_a_failure_is_no_cycle(only_new, over, steps, cause):
    assert left_by(lambda: list(over(steps(cause))), DataLossError) == 0


@pytest.mark.parametrize("over", [Pass, ShardStream])
def test_what_it_fails_with_again_says_what_it_was_raised_from(over):
    samples = over(from_a_generator(lambda: ValueError("odd")))
    seen = []
    for _ in range(3):
        with pytest.raises(DataLossError, match="damaged") as raised:
            next(samples)
        seen.append(raised.value)
    for why in seen:
        assert why.object == "x" and type(why.__cause__) is ValueError and str(why.__cause__) == "odd"
        assert repr(why.__cause__.__cause__) == "KeyError('first')"
    assert len(set(map(id, seen))) == 3 and seen[0].__cause__.__traceback__ is not None


def test_an_error_of_pieces_comes_again_whatever_its_class_is_made_of():
    def pieces():
        raise TwoArgumentsError("odd", "here")
        yield

    samples = ShardStream(pieces())
    for _ in range(2):
        with pytest.raises(TwoArgumentsError, match="odd of here"):
            next(samples)


def test_causes_that_lead_to_each_other_end():
    def fails():
        one, other = ValueError("one"), ValueError("other")
        one.__cause__, other.__cause__ = other, one
        yield 0
        raise DataLossError("damaged") from one

    samples = Pass(fails())
    next(samples)
    for _ in range(2):
        with pytest.raises(DataLossError, match="damaged"):
            next(samples)
