"""Shards that are read in sequence: the samples are those of a plain reading by tarfile, in any cuts."""

import bz2
import gc
import gzip
import weakref

import pytest

import dataflux
from dataflux._tar_streams import ShardStream
from test_shards import members_of, read_plainly, shard


def cut(content, size):
    return (content[at:at + size] for at in range(0, len(content), size))


def expected(content):
    return [(sample["__key__"], {name: bytes(data) for name, data in sample.items() if name[:2] != "__"})
            for sample in read_plainly("", content)]


@pytest.mark.parametrize("size", [1, 511, 10240, 1 << 20])
def test_samples(size):
    content = shard(members_of(3))
    assert len(expected(content)) == 25
    for make in (bytes, bytearray, memoryview):
        stream = ShardStream(map(make, cut(content, size)))
        assert list(stream) == expected(content)
    assert stream.counts["symlinks"] == 25
    assert stream.counts["directories"] == 1
    assert next(stream, None) is None


def test_pieces_of_one_buffer():
    """A buffer that is filled again, as by readinto()."""
    content = shard(members_of(1))
    buffer = bytearray(1000)

    def pieces():
        for piece in cut(content, 1000):
            buffer[:len(piece)] = piece
            yield memoryview(buffer)[:len(piece)]

    assert list(ShardStream(pieces())) == expected(content)
    assert list(ShardStream(memoryview(piece).toreadonly() for piece in cut(content, 1000))) == expected(content)


def test_compressed():
    content = shard(members_of(2))
    packed = gzip.compress(content[:5000]) + gzip.compress(content[5000:])
    for size in (1, 4000, len(packed)):
        assert list(ShardStream(cut(packed, size))) == expected(content)
    with pytest.raises(dataflux.Error, match="bzip2"):
        list(ShardStream([bz2.compress(content)]))


def test_a_stream_goes_with_its_last_reference():
    """And what its pieces hold, such as a connection: at once, and not with the next collection."""
    content = shard(members_of(3))
    for take in (lambda stream: None, next, list):
        stream = ShardStream(cut(content, 700))
        take(stream)
        gone = weakref.ref(stream)
        gc.disable()
        try:
            del stream
            assert gone() is None
        finally:
            gc.enable()


def test_damage_stays():
    content = shard([("a.txt", b"1"), ("b.txt", b"2"), ("c.txt", b"3")])
    broken = content[:2048] + b"x" * 512 + content[2560:]
    stream = ShardStream(cut(broken, 700))
    assert next(stream) == ("a", {"txt": b"1"})
    for _ in range(3):
        with pytest.raises(dataflux.DataLossError, match="2048"):
            next(stream)
    stream = ShardStream([broken], damaged="end")
    assert list(stream) == [("a", {"txt": b"1"}), ("b", {"txt": b"2"})]
    assert stream.counts["damaged"] == 1


def test_what_pieces_raise_stays():
    content = shard([("a.txt", b"1"), ("b.txt", b"2")])

    def pieces():
        yield content[:1600]
        raise OSError("gone")

    stream = ShardStream(pieces())
    assert next(stream) == ("a", {"txt": b"1"})
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            next(stream)


def test_rules():
    twice = shard([("./a.TXT", b"1"), ("./a.txt", b"2")])
    with pytest.raises(dataflux.InvalidArgumentError, match="txt"):
        list(ShardStream([twice]))
    assert list(ShardStream([twice], repeated="keep_first", strip_dot_slash=True)) == [("a", {"txt": b"1"})]
    assert list(ShardStream([twice], keep_case=True)) == [("./a", {"TXT": b"1", "txt": b"2"})]
    with pytest.raises(dataflux.PreconditionError):
        list(ShardStream([twice + twice], keep_case=True))
    assert len(list(ShardStream([twice + shard([("b.txt", b"3")])], keep_case=True, concatenated="read"))) == 2
    with pytest.raises(dataflux.Error, match="most_bytes"):
        list(ShardStream([shard([("a.txt", bytes(100))])], most_bytes=99))
    for wrong in ({"damaged": "yes"}, {"most_bytes": -1}, {"keep_case": "no"}):
        with pytest.raises((ValueError, TypeError)):
            ShardStream([], **wrong)
    with pytest.raises(dataflux.DataLossError):
        list(ShardStream([]))
    with pytest.raises(TypeError):
        list(ShardStream(["text"]))
