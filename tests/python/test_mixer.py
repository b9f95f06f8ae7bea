"""Mixer: which source each draw is from, and what weights become."""

import json
import pickle
from array import array
from fractions import Fraction
from pathlib import Path

import pytest

from dataflux import Mixer, Sampler

ORDERS = json.loads((Path(__file__).parent.parent / "vectors" / "orders" / "orders.json").read_text())["orders"]


@pytest.mark.parametrize("order", ORDERS, ids=lambda o: "-".join(str(o[n]) for n in ("shuffle", "count", "seed")))
def test_orders_are_as_they_were_written(order):
    given = {name: order[name] for name in ("seed", "epoch", "shuffle")}
    given.update({name: order[name] for name in ("block", "window") if order[name]})
    rows = Sampler(order["count"], **given)[:]
    assert rows[:len(order["first"])].tolist() == order["first"]
    value = 0xCBF29CE484222325
    for byte in rows.tobytes():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    assert value == order["hash"]


def test_draws_are_those_of_c_plus_plus_in_every_version():
    mix = Mixer([1000] * 3, [0.7, 0.2, 0.1])
    sources, numbers = mix.draws(0, 10)
    assert sources.tolist() == [0, 0, 0, 1, 0, 0, 1, 0, 0, 2]
    assert numbers.tolist() == [0, 1, 2, 0, 3, 4, 1, 5, 6, 0]
    assert (sources.typecode, numbers.typecode) == ("I", "Q")
    assert mix.counts(1000) == [700, 200, 100] and mix.weights == {0: [7, 2, 1]}


@pytest.mark.parametrize("ended", ["stop", "restart", "drop"])
def test_counts_are_within_one_of_the_weights(ended):
    weights = [0.5, 0.31, 0.19]
    mix = Mixer([10_000] * 3, weights, ended=ended)
    for n in (0, 1, 2, 3, 17, 999, 5000):
        assert all(abs(count - n * weight) < 1 for count, weight in zip(mix.counts(n), weights))


def test_ranks_take_turns():
    mix = Mixer([50, 20, 7], [3, 2, 1], ended="drop")
    sources, numbers = mix.draws(0, 1000)
    assert mix.end == len(sources) == 77 and mix.counts(77) == [50, 20, 7]
    for first, step in ((0, 2), (5, 3), (76, 9), (77, 1), (2**63, 2**63)):
        some = mix.draws(first, 100, step)
        assert (some[0].tolist(), some[1].tolist()) == (sources[first::step].tolist(), numbers[first::step].tolist())


def test_what_happens_at_the_end_of_a_source():
    assert Mixer([5, 5], [1, 1]).end == 10
    assert Mixer([5, 500], [1, 1]).end == 10
    assert Mixer([5, 500], [1, 1], ended="drop").end == 505
    mix = Mixer([5, 500], [1, 1], ended="restart")
    assert mix.end is None
    sources, numbers = mix.draws(0, 40)
    assert [number for source, number in zip(sources, numbers) if source == 0] == list(range(20))


def test_weights_that_change_and_a_job_that_goes_on():
    schedule = {0: [1, 1], 100: [3, 1], 250: [0, 1]}
    whole = Mixer([400, 400], schedule, ended="restart")
    assert whole.counts(100) == [50, 50] and whole.counts(200) == [125, 75] and whole.counts(350)[0] == 163
    for begin in (1, 100, 133, 250, 300):
        start = max(draw for draw in schedule if draw <= begin)
        resumed = Mixer([400, 400], schedule, ended="restart", begin=start, counts=whole.counts(start))
        assert resumed.draws(begin, 500) == whole.draws(begin, 500)
    changed = Mixer([400, 400], [1, 9], ended="restart", begin=37, counts=whole.counts(37))
    assert changed.draws(37, 1)[1][0] in whole.counts(37) and changed.counts(137) == [29, 108]
    with pytest.raises(ValueError, match="first: 36"):
        changed.draws(36, 1)


def test_weights_are_whole_parts():
    parts = lambda weights: Mixer([9] * len(weights), weights).weights[0]
    assert parts([0.1, 0.2, 0.7]) == [1, 2, 7]
    assert parts([10, 20]) == [1, 2]
    assert parts([Fraction(1, 3), Fraction(2, 3)]) == [1, 2]
    assert parts([1, 0]) == [1, 0]
    for weights in ([3.14159265, 2.71828182], [1e-9, 1], [1e300, 1e-300, 1], [1 / 3] * 255 + [1e-7]):
        found = parts(weights)
        assert sum(found) <= 65536 and min(found) >= 1
        assert all(abs(part / sum(found) - weight / sum(weights)) < 260 / 65536
                   for part, weight in zip(found, weights))


def test_floats_of_numpy_are_what_they_are_written_as():
    numpy = pytest.importorskip("numpy")
    assert Mixer([9, 9], numpy.array([0.1, 0.9])).weights == Mixer([9, 9], [0.1, 0.9]).weights == {0: [1, 9]}


def test_it_is_a_value():
    mix = Mixer([5, 6], [1, 2], ended="drop")
    again = pickle.loads(pickle.dumps(mix))
    assert again == mix and hash(again) == hash(mix) and again.draws(0, 9) == mix.draws(0, 9)
    assert mix != Mixer([5, 6], [2, 1], ended="drop") and "drop" in repr(mix)
    assert mix.draws(0, 0) == (array("I"), array("Q"))


@pytest.mark.parametrize("arguments, word", [
    (([], []), "sources"), (([1], []), "weights"), (([1], [0]), "weights"), (([1], [-1]), "weights"),
    (([1], ["a"]), "weights"), (([1], [float("nan")]), "weights"), (([2**63], [1]), "sizes"),
    (([1] * 257, [1] * 257), "sources"), (([1], {5: [1]}), "weights"), (([1], {}), "weights"), (([1], {0: [1], -5: [1]}), "weights")])
def test_what_it_cannot_do_is_refused_by_name(arguments, word):
    with pytest.raises(ValueError, match=word):
        Mixer(*arguments)


def test_other_kinds_are_refused_by_name():
    with pytest.raises(ValueError, match="ended"):
        Mixer([1], [1], ended="loop")
    with pytest.raises(ValueError, match="counts"):
        Mixer([1], [1], counts=[1, 2])
    for wrong in ("1", {0: [1], "x": [1]}):
        with pytest.raises(TypeError, match="weights"):
            Mixer([1], wrong)
    assert Mixer([1, 1], [10**400, 1]).weights[0][1] == 1
    with pytest.raises(ValueError, match="sizes"):
        Mixer([0], [1], ended="restart")
