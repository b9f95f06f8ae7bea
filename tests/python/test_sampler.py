"""Sampler: which rows a rank reads, in which order; and take(), which gives them to get_many()."""

import collections.abc
import pickle
import threading
from array import array

import pytest

import dataflux
from dataflux import Sampler

KINDS = [{}, {"shuffle": "window", "block": 7, "window": 3}, {"shuffle": "none"},
         {"shuffle": "blocks", "block": 7, "window": 3}]


def test_the_order_is_that_of_c_plus_plus_in_every_version():
    assert list(Sampler(10, seed=1)) == [1, 4, 7, 5, 6, 8, 2, 0, 9, 3]
    assert list(Sampler(10, seed=1, epoch=1)) == [1, 0, 8, 3, 4, 5, 7, 9, 6, 2]


@pytest.mark.parametrize("kind", KINDS, ids=["full", "window", "none", "blocks"])
def test_three_epochs_at_one_to_seven_ranks_lose_nothing(kind):
    for count in (0, 1, 5, 60, 101):
        for ranks in range(1, 8):
            for epoch in range(3):
                shares = [Sampler(count, epoch=epoch, rank=rank, world_size=ranks, **kind)
                          for rank in range(ranks)]
                assert {len(share) for share in shares} == {count // ranks}
                rows = [row for share in shares for row in share]
                assert len(set(rows)) == len(rows) == count // ranks * ranks
                padded = [row for rank in range(ranks)
                          for row in Sampler(count, epoch=epoch, rank=rank, world_size=ranks,
                                             equalize="pad", **kind)]
                assert set(padded) == set(range(count))


def test_it_is_a_sequence():
    order = Sampler(100_000, seed=3)
    rows = list(order)
    assert isinstance(order, collections.abc.Sequence) and sorted(rows) == list(range(100_000))
    assert (order[0], order[-1], order[99_999]) == (rows[0], rows[-1], rows[-1])
    for cut in (slice(5, 9), slice(None), slice(-3, None), slice(9, 5), slice(0, 50, 7), slice(9, 2, -1)):
        assert list(order[cut]) == rows[cut] and order[cut].typecode == "Q"
    assert order.rows(99_990, 100).tolist() == rows[99_990:]
    assert order.rows(100_000, 5).tolist() == order.rows(2**40, 5).tolist() == []
    assert list(reversed(Sampler(5, shuffle="none"))) == [4, 3, 2, 1, 0]
    with pytest.raises(IndexError, match="position 100000 of 100000"):
        order[100_000]
    with pytest.raises(TypeError):
        order["a"]


def test_it_says_what_it_is():
    order = Sampler(10, seed=4, epoch=2, rank=1, world_size=3, equalize="pad")
    assert (len(order), order.seed, order.epoch, order.rank, order.world_size) == (4, 4, 2, 1, 3)
    assert order.with_epoch(5) == Sampler(10, seed=4, epoch=5, rank=1, world_size=3, equalize="pad")
    assert order != order.with_epoch(5) and order.epoch == 2
    with pytest.raises(AttributeError, match=r"never changes.*with_epoch\(3\)"):
        order.set_epoch(5)
    assert not hasattr(order, "set_epoch") and not hasattr(order, "other")
    again = pickle.loads(pickle.dumps(order))
    assert again == order and hash(again) == hash(order) and list(again) == list(order)
    assert eval(repr(order), {"dataflux": dataflux}) == order
    assert order.steps(3) == 2 and order.steps(3, drop_last=True) == 1 and order.steps(4, True) == 1


def test_a_hundred_million_rows_cost_nothing_to_begin_with():
    order = Sampler(100_000_000, seed=1)
    assert len({order[position] for position in range(0, 100_000_000, 999_999)}) == 101


@pytest.mark.parametrize(("wrong", "kind", "word"), [
    ({"count": -1}, ValueError, "count"), ({"count": 2**62 + 1}, ValueError, "count"),
    ({"count": "5"}, TypeError, "count"), ({"count": True}, TypeError, "count"),
    ({"seed": -1}, ValueError, "seed"), ({"seed": 2**64}, ValueError, "seed"),
    ({"epoch": 1.0}, TypeError, "epoch"), ({"shuffle": True}, TypeError, "shuffle"),
    ({"shuffle": "some"}, ValueError, "shuffle"), ({"block": 4}, ValueError, "block"),
    ({"window": 0, "shuffle": "window"}, ValueError, "window"),
    ({"block": 2**61, "window": 4, "shuffle": "window"}, ValueError, "block"),
    ({"rank": 1}, ValueError, "rank"), ({"world_size": 0}, ValueError, "world_size"),
    ({"equalize": "both"}, ValueError, "equalize"), ({"equalize": None}, TypeError, "equalize"),
])
def test_wrong_arguments_are_named(wrong, kind, word):
    with pytest.raises(kind, match=word):
        Sampler(**{"count": 5, **wrong})


def test_many_threads_may_ask_one():
    order = Sampler(20_000, seed=9)
    expected, found = list(order), []
    threads = [threading.Thread(target=lambda: found.append(order.rows(0, 20_000).tolist()))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


@pytest.fixture
def listing(client, bucket):
    for number in range(20):
        client.put(bucket(f"o/{number:02d}"), b"%d" % number)
    return client.list(bucket("o/"))


def test_take_reads_rows_in_the_order_of_their_numbers(client, listing):
    chosen = Sampler(20, seed=2).rows(0, 20)
    taken = listing.take(chosen)
    items = list(client.get_many(taken).items())
    assert [int(item.data.tobytes()) for item in items] == chosen.tolist()
    assert [item.row for item in items] == chosen.tolist()
    assert [item.request for item in items] == [listing[row] for row in chosen]


def test_take_gives_rows_as_often_as_they_are_named(client, listing):
    taken = listing.take([3, 3, 0])
    assert [row.name for row in taken] == ["o/03", "o/03", "o/00"]
    assert [bytes(item.data) for item in client.get_many(taken).items()] == [b"3", b"3", b"0"]
    assert taken[1:].numbers.tolist() == [3, 0] and len(taken) == 3 and taken[-1] == listing[0]
    assert taken.count(listing[3]) == 2 and listing[3] in taken and listing[5] not in taken
    assert repr(taken).endswith("3 of 20>")
    assert list(client.get_many(listing.take([]))) == []


def test_numbers_are_those_of_the_listing_that_was_asked(client, listing):
    cut = listing[10:]
    taken = cut.take([0, 9])
    assert [row.name for row in taken] == ["o/10", "o/19"] and taken.numbers.tolist() == [10, 19]
    assert [item.row for item in client.get_many(cut).items()] == list(range(10, 20))
    with pytest.raises(IndexError, match="row 10 of 10"):
        cut.take([10])


def test_a_request_that_is_no_row_has_no_number(client, listing, bucket):
    assert [item.row for item in client.get_many([bucket("o/01")]).items()] == [None]


def test_rows_that_failed_say_which_they_are(client, listing, bucket):
    client.delete(bucket("o/07"))
    items = list(client.get_many(listing.take([1, 7]), on_error="return").items())
    assert [(item.row, item.error is None) for item in items] == [(1, True), (7, False)]
    assert items[1].request.name == "o/07"


def test_arrays_of_any_library_are_numbers(listing):
    import numpy

    for rows in (numpy.array([2, 1], dtype="u8"), numpy.array([2, 1]), array("Q", [2, 1]), (2, 1),
                 numpy.array([9, 2, 1], dtype="u8")[1:], range(2, 0, -1), iter([2, 1]),
                 numpy.array([2, 9, 1], dtype="u8")[::2], memoryview(array("Q", [2, 1]))):
        assert listing.take(rows).numbers.tolist() == [2, 1]


@pytest.mark.parametrize(("rows", "kind"), [
    ([20], IndexError), ([2**64 - 1], ValueError), ([-1], ValueError), ([1.5], TypeError), (5, TypeError),
    ("12", TypeError), (b"12", TypeError), (["1"], TypeError), ([True], TypeError), (None, TypeError),
])
def test_take_refuses_what_is_no_number_of_a_row(listing, rows, kind):
    with pytest.raises(kind, match="rows"):
        listing.take(rows)


def test_rows_are_not_pickled(listing):
    with pytest.raises(TypeError, match="save_manifest"):
        pickle.dumps(listing.take([1]))


def test_rows_keep_their_listing(client, bucket):
    client.put(bucket("x"), b"here")
    taken = client.list(bucket("x")).take([0])
    assert bytes(next(client.get_many(taken).items()).data) == b"here"
