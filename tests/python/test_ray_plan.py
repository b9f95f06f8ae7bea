"""What dataflux.ray plans, which needs no Ray: which rows each task reads, and what goes to it."""

import pickle
import random
import subprocess
import sys
from array import array

import pytest

from dataflux.ray._plan import REQUEST, Packed, parts_of


def runs(sizes, count):
    made = parts_of(sizes, count)
    assert [row for run in made for row in run] == list(range(len(sizes)))
    assert all(made) and len(made) <= max(count, 1)
    return made


def test_equal_rows_make_equal_runs():
    assert [len(run) for run in runs([1000] * 12, 4)] == [3, 3, 3, 3]
    assert runs([1000] * 12, 1) == [range(12)]


def test_no_rows_make_no_run():
    assert parts_of([], 4) == []


def test_there_is_a_run_for_each_that_was_asked_for():
    # A large row takes the place of several; behind it each row that is left is a run.
    assert len(runs([1 << 40, 1, 1], 3)) == 3
    assert len(runs([1, 1, 1 << 40], 3)) == 3
    assert [len(run) for run in runs([5] * 3, 10)] == [1, 1, 1]


def test_runs_have_about_equal_bytes():
    chance = random.Random(7)
    sizes = [chance.randrange(1 << 20) for _ in range(5000)]
    made = [sum(sizes[run.start:run.stop]) for run in runs(sizes, 40)]
    share = sum(sizes) / 40
    assert len(made) == 40
    assert all(abs(each - share) <= 3 * (1 << 20) for each in made)


def test_empty_objects_are_shared_out():
    # By bytes alone one task would read all of them.
    made = runs([0] * 10_000 + [REQUEST * 10_000], 2)
    assert made == [range(10_000), range(10_000, 10_001)]
    assert max(map(len, runs([0] * 10_000, 10))) == 1000


@pytest.mark.parametrize("seed", range(50))
def test_any_sizes(seed):
    chance = random.Random(seed)
    sizes = [int(chance.paretovariate(0.5)) for _ in range(chance.randrange(1, 300))]
    count = chance.randrange(1, 400)
    assert len(runs(sizes, count)) == min(count, len(sizes))


@pytest.mark.both_services
def test_rows_go_to_a_task_and_are_the_same(client, bucket):
    for number in range(30):
        client.put(bucket(f"t/{number:03}"), b"x" * number)
    listing = client.list(bucket("t/"))
    for chosen in listing, listing[3:17], listing.filter(lambda row: row.size % 3 == 0):
        packed = Packed.of(chosen)
        again = pickle.loads(pickle.dumps(packed))
        assert [(row.url, row.size, row.generation) for row in again] == \
            [(row.url, row.size, row.generation) for row in chosen]
        assert list(again.sizes) == [row.size for row in chosen] and len(again) == len(chosen)
    assert [row.name for row in Packed.of(listing).part(range(4, 6))] == ["t/004", "t/005"]
    assert [item.data.tobytes() for batch in client.get_many(again) for item in batch] == \
        [b"x" * row.size for row in chosen]


def test_a_task_is_small():
    count = 10_000
    names = [f"data/train/part-{number // 100:05}/image-{number:09}.jpg" for number in range(count)]
    chance = random.Random(1)
    packed = Packed("bucket", names, array("Q", [chance.randrange(1 << 20) for _ in names]),
                    array("q", [1_700_000_000_000_000 + chance.randrange(1 << 40) for _ in names]))
    assert len(pickle.dumps(packed)) < 20 * count


def test_nothing_of_ray_is_imported():
    code = "import sys, dataflux.ray._plan; assert not {'ray', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
