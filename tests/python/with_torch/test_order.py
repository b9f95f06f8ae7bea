"""Which rows each worker of each rank reads, without a DataLoader: Order and Turns are pure."""

import pytest

import dataflux
from dataflux.torch._order import Order, Turns, stretches

EPOCHS, WORLDS, WORKERS = range(3), range(1, 8), range(6)
HOW = {"seed": 5, "shuffle": "full", "block": None, "window": None}


def batches_of(count, epoch, begin, rank, world_size, workers, batch, equalize):
    """The batches that a DataLoader takes of its workers, in turns, until each has ended."""
    order = Order(count, HOW, epoch, begin, rank, world_size, equalize)
    turns = [Turns(order.size, batch, worker, max(1, workers)) for worker in range(max(1, workers))]
    each = [[list(order.rows(first, some)) for first, some in one.batches(0)] for one in turns]
    for one, found in zip(turns, each):
        rows = [row for some in stretches(order, one, 0) for row in some]
        assert rows == [row for some in found for row in some] and len(rows) == len(one)
    taken = []
    while any(each):
        for found in each:
            if found:
                taken.append(found.pop(0))
    return taken, order.size


@pytest.mark.parametrize("equalize", ["drop", "pad"])
@pytest.mark.parametrize(("count", "batch"), [(103, 4), (60, 5), (5, 4), (1, 1), (0, 3)])
def test_nothing_is_lost_or_repeated_for_any_ranks_and_workers(count, batch, equalize):
    for epoch in EPOCHS:
        whole = list(dataflux.Sampler(count, seed=5, epoch=epoch))
        for world_size in WORLDS:
            expected = whole[:count // world_size * world_size]
            if equalize == "pad" and count:
                expected = [whole[place % count] for place in range(-(-count // world_size) * world_size)]
            for workers in WORKERS:
                ranks = [batches_of(count, epoch, 0, rank, world_size, workers, batch, equalize)
                         for rank in range(world_size)]
                steps = {tuple(map(len, batches)) for batches, _ in ranks}
                assert len(steps) == 1  # as many steps, of the same sizes, on each rank
                assert all(size == batch for size in [*steps][0][:-1])
                rows = [[row for some in batches for row in some] for batches, _ in ranks]
                assert all(len(each) == size for each, (_, size) in zip(rows, ranks))
                assert [row for turn in zip(*rows) for row in turn] == expected


def test_from_any_place_on_other_ranks_and_workers_read_the_rest_once():
    count, batch = 103, 4
    whole = list(dataflux.Sampler(count, seed=5, epoch=1))
    for begin in (1, 24, 100, 102, 103):
        for world_size in WORLDS:
            for workers in (0, 3):
                rows = [[row for some in batches_of(count, 1, begin, rank, world_size, workers, batch, "drop")[0]
                         for row in some] for rank in range(world_size)]
                left = (count - begin) // world_size * world_size
                assert [row for turn in zip(*rows) for row in turn] == whole[begin:begin + left]
