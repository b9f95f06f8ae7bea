"""Many processes list one prefix together."""

import os
import signal
import subprocess
import sys
import time

import pytest

import dataflux

NAMES = sorted([f"train/large/{i:06}" for i in range(2300)] +
               [f"train/{name}" for name in ("", "/", "a//b", "ä", "日本/x", "\x01", "~", "0/1/2")])

# One process: its client, and then what is called, as Python.
PROGRAM = """
import sys, dataflux
from service import options_of
endpoint, call = sys.argv[1:]
with dataflux.Client(**options_of(endpoint)) as client:
    print(eval(call)["own_objects"])
"""


@pytest.fixture
def filled(bucket, client):
    bucket.service.add_bucket(bucket.name + "-jobs")
    for name in NAMES:
        client.put(bucket(name), b"x" * (len(name) % 5))
    return bucket


def board_of(bucket, name="7/"):
    return f"gs://{bucket.name}-jobs/{name}"


def process(bucket, target, **options):
    call = (f"client.list_shared({bucket('train/')!r}, {target!r}, "
            f"board={board_of(bucket)!r}, **{options!r})")
    return subprocess.Popen([sys.executable, "-c", PROGRAM, bucket.service.endpoint, call],
                            stdout=subprocess.PIPE, text=True)


def check_whole(client, bucket, path, **options):
    expected = client.list(bucket("train/"), **options)
    assert client.open_manifest(path).rows() == expected


def test_one_process(client, filled, tmp_path):
    done = client.list_shared(filled("train/"), tmp_path / "m", board=board_of(filled))
    listed = client.list(filled("train/"))
    assert done["objects"] == done["own_objects"] == len(listed) > 2300
    assert done["tasks"] == done["own_tasks"] > 1
    check_whole(client, filled, tmp_path / "m")
    assert len(client.open_manifest(tmp_path / "m").refresh().added) == 0


def test_a_board_that_is_whole_is_joined_again(client, filled, tmp_path):
    assert client.list_shared(filled("train/"), None, board=board_of(filled))["calls"] > 0
    again = client.list_shared(filled("train/"), str(tmp_path / "m"), board=board_of(filled))
    assert again["calls"] == again["own_tasks"] == 0
    check_whole(client, filled, tmp_path / "m")


def test_processes_at_once(client, filled, tmp_path):
    targets = [str(tmp_path / "0"), str(tmp_path / "1"), None, None]
    running = [process(filled, target) for target in targets]
    own = [int(each.communicate()[0]) for each in running]
    assert [each.returncode for each in running] == [0] * 4
    assert sum(own) == len(client.list(filled("train/")))
    check_whole(client, filled, targets[0])
    check_whole(client, filled, targets[1])


@pytest.mark.parametrize("name", ["crew-", "part-", "done-"])
def test_a_request_that_comes_twice_meets_its_own(client, filled, tmp_path, emulator, name):
    emulator.faults({"verb": "objects.insert", "object": f"7/{name}*", "action": "execute_twice",
                     "count": 0})
    assert client.list_shared(filled("train/"), tmp_path / "m", board=board_of(filled))["objects"]
    assert any(row.name.startswith(f"7/{name}") for row in client.list(board_of(filled)))
    emulator.faults()
    check_whole(client, filled, tmp_path / "m")


def test_a_process_that_is_killed_is_replaced(client, filled, tmp_path, emulator):
    # All that it lists of the names stands still: it has a claim, and no more.
    emulator.faults({"action": "stall", "where": "before_reply", "count": 0,
                     "bucket": filled.name})
    killed = process(filled, None)
    try:
        while not any("claim-" in row.name for row in client.list(board_of(filled))):
            assert killed.poll() is None
            time.sleep(0.01)
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    emulator.faults()
    done = client.list_shared(filled("train/"), tmp_path / "m", board=board_of(filled), lease=0.2)
    assert done["own_objects"] == done["objects"]
    check_whole(client, filled, tmp_path / "m")


def test_filters_and_offsets(client, filled, tmp_path):
    options = {"start": "train/0", "end": "train/large/002000", "suffix": "7"}
    client.list_shared(filled("train/"), tmp_path / "m", board=board_of(filled), **options)
    check_whole(client, filled, tmp_path / "m", **options)


def test_an_empty_prefix(client, filled, tmp_path):
    done = client.list_shared(filled("none/"), tmp_path / "m", board=board_of(filled))
    assert done["objects"] == 0
    assert len(client.open_manifest(tmp_path / "m")) == 0


@pytest.mark.parametrize("option", [{"suffix": "7"}, {"start": "train/1"}, {"versions": True},
                                    {"directories": True}])
def test_a_board_of_another_listing(client, bucket, tmp_path, option):
    bucket.service.add_bucket(bucket.name + "-jobs")
    client.list_shared(bucket("train/"), None, board=board_of(bucket))
    with pytest.raises(dataflux.InvalidArgumentError, match="another listing"):
        client.list_shared(bucket("train/"), tmp_path / "m", board=board_of(bucket), **option)
    assert not os.path.exists(tmp_path / "m")


def test_bad_arguments(client, bucket, tmp_path):
    for error, word, arguments in (
            (ValueError, "target", {"target": "gs://bucket/name"}),
            (TypeError, "target", {"target": 3}),
            (ValueError, "board", {"board": "gs://bucket"}),
            (ValueError, "lease", {"lease": 0}),
            (dataflux.InvalidArgumentError, "lies in", {"board": bucket("train/board/")})):
        given = {"target": tmp_path / "m", "board": board_of(bucket), **arguments}
        with pytest.raises(error, match=word):
            client.list_shared(bucket("train/"), given.pop("target"), **given)
    assert not os.path.exists(tmp_path / "m")
