"""URLs, files and lines as pipes: what programs of S3FileLister and S3FileLoader do."""

import io
import tarfile
from concurrent.futures import ThreadPoolExecutor

import numpy.random  # noqa: F401, torch's workers do, and Python 3.11 may fail to in a forked child
import pytest
from torch.utils.data import DataLoader
from torch.utils.data.datapipes.iter import IterableWrapper

import dataflux
from dataflux.torch import list_files, load_files

COUNT = 23
pytestmark = [pytest.mark.filterwarnings("ignore:This DataLoader will create"),
              pytest.mark.filterwarnings("ignore:'set_vital'"),
              pytest.mark.filterwarnings("ignore:.*datapipes.*:DeprecationWarning")]


def text_of(number):
    """Lines of an object; some objects are empty, some end without a line feed."""
    lines = [b"%d:%d" % (number, line) for line in range(number % 7)]
    return b"\n".join(lines) + b"\n" * (number % 2 and bool(lines))


LINES = [line for number in range(COUNT) for line in text_of(number).splitlines()]


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options)


@pytest.fixture
def url(client, bucket):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: client.put(bucket(f"o/{number:03}.txt"), text_of(number)), range(COUNT)))
    return bucket("o/")


@pytest.fixture
def urls(bucket):
    return [bucket(f"o/{number:03}.txt") for number in range(COUNT)]


@pytest.fixture
def long(client, bucket):
    """One object of 20 MiB, which is read in parts: lines of 1,000 to 1,100 bytes."""
    lines = [b"%07d" % number + b"x" * (993 + number % 100) for number in range(20_000)]
    client.put(bucket("long"), b"\n".join(lines))
    return bucket("long"), lines


def read(pipe, workers=0, **more):
    return list(DataLoader(pipe, batch_size=None, num_workers=workers, **more))


def of(world_size, workers, make):
    """What all ranks read, each by workers of its own."""
    return [each for rank in range(world_size) for each in read(make(rank=rank, world_size=world_size), workers)]


def test_the_seeds_own_snippet(url, urls, options):
    s3_shard_urls = list_files(IterableWrapper([url]), client=options)
    s3_shards = load_files(s3_shard_urls.shuffle().sharding_filter(), buffer_size=256)
    found = {}
    for path, fd in s3_shards:
        found[path] = fd.read()
    assert found == {url: text_of(number) for number, url in enumerate(urls)} and [*found] != urls
    # text data
    training_data = s3_shards.readlines(return_path=False)
    data_loader = DataLoader(training_data, batch_size=5, num_workers=2)
    for epoch in range(2):
        batches = [*data_loader]
        assert sorted(line for batch in batches for line in batch) == sorted(LINES)
        assert {len(batch) for batch in batches[:4]} == {5}


@pytest.mark.parametrize("world_size, workers", [(1, 0), (1, 1), (1, 3), (2, 0), (2, 3), (30, 0)])
def test_ranks_and_workers_share_each_object_once(url, urls, options, workers, world_size):
    assert sorted(of(world_size, workers, lambda **who: list_files(url, client=options, **who))) == urls
    lines = of(world_size, workers, lambda **who: load_files(
        list_files(url, client=options, **who).shuffle(seed=4)).readlines(return_path=False).shuffle(5))
    assert sorted(lines) == sorted(LINES)


def test_urls_come_in_the_order_of_names_and_files_hold_them(url, urls, options):
    listed = list_files(url, suffix=".txt", client=options)
    assert list(listed) == urls and len(listed) == COUNT
    files = load_files(listed)
    assert [(path, file.read()) for path, file in files] == [(each, text_of(n)) for n, each in enumerate(urls)]
    assert len(files) == COUNT and "23 objects" in repr(files)


def test_what_may_be_given(url, urls, options, bucket, client):
    listing = client.list(url)
    for given in (url, [url], (bucket.name, "o/"), iter([url]), listing, [listing]):
        assert list(list_files(given, client=options)) == urls
    for given in (urls, tuple(urls), iter(urls), listing, listing[:], list(listing)):
        assert [path for path, _ in load_files(given, client=options)] == urls
    assert [path for path, _ in load_files(tuple(urls[3:5]), client=options)] == urls[3:5]
    for given in (urls[7], listing[7], (bucket.name, "o/007.txt")):
        assert [path for path, _ in load_files(given, client=options)] == [urls[7]]
    twice = load_files([urls[1], urls[1]], client=options)
    assert [file.read() for _, file in twice] == [text_of(1)] * 2


@pytest.mark.parametrize("call, kind, text", [
    (lambda url, c: list_files([], client=c), ValueError, "urls: it is empty"),
    (lambda url, c: list_files(7, client=c), TypeError, "urls: an iterable of URLs"),
    (lambda url, c: list_files(url + "none", client=c), dataflux.NotFoundError, "there is no object below it"),
    (lambda url, c: list_files([url, url], client=c), ValueError, "was given twice"),
    (lambda url, c: list_files("http://x/y", client=c), ValueError, "http://x/y"),
    (lambda url, c: list_files(url, region="us-east-1", client=c), ValueError, "region: "),
    (lambda url, c: list_files(url, rank=2, world_size=2, client=c), ValueError, "rank: "),
    (lambda url, c: load_files(url, buffer_size=-1, client=c), ValueError, "buffer_size: "),
    (lambda url, c: load_files(url, part_size=0, client=c), ValueError, "part_size: "),
    (lambda url, c: load_files(url, connections="4", client=c), TypeError, "connections: "),
    (lambda url, c: load_files(url, timeout=0, client=c), ValueError, "timeout: "),
    (lambda url, c: load_files(url, on_error="bear", client=c), ValueError, "on_error: "),
    (lambda url, c: load_files(list_files(url, client=c), rank=0), TypeError, "rank: what list_files"),
    (lambda url, c: load_files(list_files(url, client=c), client=c), TypeError, "client: what list_files"),
    (lambda url, c: load_files(list_files(url, client=c)).readlines(most_bytes=0), ValueError, "most_bytes: "),
    (lambda url, c: load_files(list_files(url, client=c)).readlines().shuffle(0), ValueError, "buffer_size: "),
    (lambda url, c: load_files(list_files(url, client=c)).batch(0), ValueError, "batch_size: "),
])
def test_bad_arguments_are_named(url, options, call, kind, text):
    with pytest.raises(kind, match=text):
        call(url, options)


def test_the_tunables_are_the_clients(url, options):
    files = load_files(list_files(url, connections=3, client=options), buffer_size=1 << 20, part_size=2 << 20,
                       connections=5, timeout=7)
    given = files._origin.client._options.given
    assert (given["max_connections_per_host"], given["slice"]) == (5, 2 << 20)
    assert given["first_byte_timeout"] == given["stall_timeout"] == 7
    assert sum(1 for _ in files) == COUNT


@pytest.mark.parametrize("strip", [True, False])
@pytest.mark.parametrize("path", [True, False])
def test_lines_of_short_objects(url, urls, options, strip, path):
    lines = load_files(list_files(url, client=options)).readlines(return_path=path, strip_newline=strip)
    wanted = [(each, line.rstrip(b"\n") if strip else line) for number, each in enumerate(urls)
              for line in text_of(number).splitlines(keepends=True)]
    assert list(lines) == (wanted if path else [line for _, line in wanted])


def test_only_a_line_feed_ends_a_line(client, bucket, options):
    client.put(bucket("x"), b"a\n\n\x0bb\x85c\rd\n\ne\r")
    assert list(load_files(bucket("x"), client=options).readlines(return_path=False)) == \
        [b"a", b"", b"\x0bb\x85c\rd", b"", b"e\r"]


def test_a_carriage_return_goes_with_the_line_feed(client, bucket, options):
    """As in TorchData: lines of files that Windows has written."""
    client.put(bucket("x"), b"a\r\n\r\nb\r\r\n\nc\r\n")
    files = load_files(bucket("x"), client=options)
    assert list(files.readlines(return_path=False)) == [b"a", b"", b"b\r", b"", b"c"]
    assert list(files.readlines(return_path=False, strip_newline=False)) == \
        [b"a\r\n", b"\r\n", b"b\r\r\n", b"\n", b"c\r\n"]


def test_a_line_lies_across_parts(long, options):
    there, lines = long
    pipe = load_files(there, buffer_size=6 << 20, part_size=1 << 20, client=options).readlines(return_path=False)
    assert list(pipe) == lines


def test_a_line_that_is_too_long_names_object_and_byte(long, client, bucket, options):
    client.put(bucket("x"), b"12345\n123456\n7")
    assert list(load_files(bucket("x"), client=options).readlines(return_path=False, most_bytes=6)) == \
        [b"12345", b"123456", b"7"]
    longest = sum(len(line) + 1 for line in long[1][:99])
    for there, most, at in ((bucket("x"), 5, 6), (long[0], 1098, longest), (long[0], 100, 0)):
        with pytest.raises(dataflux.ResourceExhaustedError, match=f"{there}: .* byte {at} has more than {most}") as why:
            list(load_files(there, client=options).readlines(most_bytes=most))
        assert why.value.object == there.rpartition("/")[2]


def test_an_archive_is_read_from_a_stream(client, bucket, options):
    with io.BytesIO() as memory:
        with tarfile.open(fileobj=memory, mode="w") as archive:
            for number in range(3):
                member = tarfile.TarInfo(f"{number}.bin")
                member.size = 4 << 20
                archive.addfile(member, io.BytesIO(bytes([number]) * member.size))
        client.put(bucket("t.tar"), memory.getvalue())
    [(path, file)] = load_files([bucket("t.tar")], client=options)
    with file, tarfile.open(fileobj=file) as archive:
        assert [archive.extractfile(member).read(1) for member in archive] == [b"\0", b"\1", b"\2"]


def test_a_shuffled_pipe_has_another_order_in_each_epoch(url, options):
    def make():
        files = load_files(list_files(url, client=options).shuffle(seed=3))
        return files.readlines(return_path=False).shuffle(20, seed=2)

    pipe, orders = make(), []
    for epoch in range(3):
        pipe.set_epoch(epoch)
        orders.append(list(pipe))
        assert list(pipe) == orders[-1] and sorted(orders[-1]) == sorted(LINES) and pipe.epoch == epoch
    assert len(set(map(tuple, orders))) == 3
    other = make()
    other.set_epoch(2)
    assert list(other) == orders[2]


def test_batches(url, options):
    lines = load_files(list_files(url, client=options)).readlines(return_path=False)
    batches = list(lines.batch(9))
    assert [line for batch in batches for line in batch] == LINES
    assert {len(batch) for batch in batches[:-1]} == {9} and 0 < len(batches[-1]) < 9
    assert list(lines.batch(9, drop_last=True)) == batches[:-1]
    assert list(list_files(url, client=options).batch(20))[1] == list(list_files(url, client=options))[20:]


@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
def test_kinds_of_processes(url, options, context):
    pipe = load_files(list_files(url, client=options)).readlines(return_path=False).batch(4)
    loader = DataLoader(pipe, batch_size=None, num_workers=2, multiprocessing_context=context, persistent_workers=True)
    for epoch in range(2):
        pipe.set_epoch(epoch)
        assert sorted(line for batch in loader for line in batch) == sorted(LINES)


def test_files_come_from_workers(url, urls, long, options):
    files = load_files([*urls, long[0]], client=options)
    found = {path: file.read() for path, file in DataLoader(files, batch_size=None, num_workers=2)}
    assert found == {**{url: text_of(number) for number, url in enumerate(urls)}, long[0]: b"\n".join(long[1])}


def test_small_objects_are_read_many_at_a_time(client, bucket, emulator, options):
    """Each by one request; and they are not opened one after the other."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: client.put(bucket(f"s/{number:03}"), b"line\n" * 10), range(200)))
    pipe = load_files(list_files(bucket("s/"), client=options)).readlines(return_path=False)
    before = emulator.answered()
    assert sum(1 for _ in pipe) == 2000
    assert emulator.answered() - before <= 202
