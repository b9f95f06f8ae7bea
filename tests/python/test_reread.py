"""Bytes that come a second time are compared with those that came first."""

import os
import random

import pytest

import dataflux

MIB = 1 << 20
SIZE = 9 * MIB + 12_345


@pytest.fixture(scope="module")
def content():
    return os.urandom(SIZE)


def flips(dice, share):
    """A bit of some of the next replies is wrong."""
    return [{"verb": "objects.media", "action": "flip_byte", "offset": dice.randrange(2 * MIB),
             "from": number, "count": 1} for number in range(1, 60) if dice.random() < share]


def some_range(dice):
    begin = dice.randrange(SIZE)
    return begin, dice.choice([1, 300, 70_000, 2 * MIB, 5 * MIB, SIZE])


def verdict(reader, content):
    """Whether all of it can be had, and is right."""
    try:
        assert reader.read_at(0, SIZE) == content
        return True
    except dataflux.DataLossError as why:
        assert "a.bin" in str(why)
        return False


@pytest.mark.parametrize("seed", range(20))
def test_a_wrong_byte_never_ends_in_success(client, emulator, bucket, content, seed):
    bucket.put("a.bin", content)
    dice = random.Random(seed)
    with client.reader(bucket("a.bin"), cache=1) as reader:
        emulator.faults(*flips(dice, 0.1))
        wrong = 0
        for _ in range(12):
            ranges = [some_range(dice) for _ in range(dice.choice([1, 1, 1, 4]))]
            ranges = [(begin, min(size, SIZE - begin)) for begin, size in ranges]
            try:
                found = ([reader.read_at(*ranges[0])] if len(ranges) == 1
                         else reader.get_ranges(ranges))
            except dataflux.DataLossError:
                continue
            wrong += any(piece != content[begin:begin + size]
                         for piece, (begin, size) in zip(found, ranges))
        assert not (wrong and reader.verified)
        emulator.faults()
        right = verdict(reader, content)
        assert not (wrong and right)
        if right:
            assert reader.verified


@pytest.mark.parametrize("seed", range(12))
def test_of_a_file_that_is_read_by_seeking(client, emulator, bucket, content, seed):
    bucket.put("a.bin", content)
    dice = random.Random(seed)
    with client.open(bucket("a.bin"), "rb") as file:
        emulator.faults(*flips(dice, 0.1))
        wrong = 0
        try:
            for begin in (SIZE // 2, 1, 0):
                file.seek(begin)
                wrong += file.read() != content[begin:]
        except dataflux.DataLossError:
            return
        assert not wrong


def test_the_second_copy_is_compared(client, emulator, bucket, content):
    bucket.put("a.bin", content)
    with client.reader(bucket("a.bin"), cache=1) as reader:
        assert reader.read_at(MIB, 6 * MIB) == content[MIB:7 * MIB]
        emulator.faults({"verb": "objects.media", "action": "flip_byte", "offset": 100_000,
                         "count": 0})
        with pytest.raises(dataflux.DataLossError, match="a.bin.* bytes from "):
            reader.read_at(2 * MIB + 7, 4 * MIB)
