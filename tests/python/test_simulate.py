"""simulate(): what an epoch would be."""

import pickle
from array import array

import pytest

import dataflux
from dataflux import Forecast, InvalidArgumentError, simulate

GIVEN = {"objects": 2000, "size": 1 << 20, "link": 200e6, "batch": 32}


def test_a_full_link_bounds():
    told = simulate(**GIVEN)
    assert told.bound == "link" and "link" in told.advice
    assert told.link_share > 0.95 and told.waited > 0.9
    assert told.samples == 2000 and told.bytes == 2000 << 20 and told.simulated == 1
    assert told.class_a == 0 and told.class_b >= 2000
    assert told.price == pytest.approx(told.class_b * 0.4e-6)
    assert simulate(**GIVEN) == told == pickle.loads(pickle.dumps(told))
    assert repr(told).startswith("dataflux.Forecast(seconds=")


def test_a_step_bounds_and_does_not_wait():
    told = simulate(**{**GIVEN, "step": 0.4})
    assert told.bound == "step" and told.waited < 0.1


def test_a_hundred_million_objects_are_no_more_work():
    told = simulate(100_000_000, size=1000, link=1e9, listed=True, epochs=2, class_b_price=0)
    assert 0 < told.simulated < 0.01
    assert told.samples == told.class_b - told.hedged == 200_000_000
    assert told.class_a == 100_000 and told.price == pytest.approx(0.5)


def test_sizes_one_by_one():
    told = simulate(iter([1000, 2000, 3000]), link=1e6)
    assert told.samples == 3 and told.bytes == 6000 and told.bound == "start"
    assert simulate(array("Q", [1000] * 10), link=1e6).bytes == 10_000


def test_a_listing(client, bucket):
    for number in range(5):
        client.put(bucket(f"{number}"), b"x" * 1000 * number)
    listing = client.list(bucket())
    told = simulate(listing, link=1e6)
    assert told.samples == 5 and told.bytes == 10_000
    assert simulate(listing.take([4, 4]), link=1e6).bytes == 8000


@pytest.mark.parametrize("wrong, kind", [
    ({"link": 0}, InvalidArgumentError), ({"link": -1}, ValueError), ({"link": "1GB"}, TypeError),
    ({"link": float("nan")}, ValueError), ({"objects": 0}, InvalidArgumentError),
    ({"objects": -1}, ValueError), ({"size": None}, TypeError), ({"objects": [1]}, TypeError),
    ({"size": 300 << 20}, InvalidArgumentError), ({"batch": 0}, ValueError),
    ({"round_trip": -1}, ValueError), ({"order": "any"}, ValueError), ({"listed": 1}, TypeError),
    ({"workers": 2**40}, ValueError), ({"workers": 2**20}, InvalidArgumentError),
    ({"spread": -1}, ValueError), ({"memory": 0}, ValueError), ({"epochs": 0}, ValueError)])
def test_bad_input(wrong, kind):
    with pytest.raises(kind):
        simulate(**{**GIVEN, **wrong})


def test_spread_of_nothing_is_none():
    told = simulate(100, size=1000, link=1e9, round_trip=0.1, spread=0, connecting_trips=1)
    assert told.first_batch == pytest.approx(0.2, rel=0.01)
    assert isinstance(told, Forecast) and dataflux.simulate is simulate
