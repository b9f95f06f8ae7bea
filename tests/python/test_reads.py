"""get(), read_into() and get_ranges(): single objects, whole and in parts."""

import array
import os
import threading

import pytest

import dataflux
from service import wait_until

TEXT = bytes(range(256)) * 40
LONG = os.urandom(21 << 20)


@pytest.fixture
def url(client, bucket):
    client.put(bucket("x"), TEXT)
    return bucket("x")


@pytest.fixture
def long_url(client, bucket):
    client.put(bucket("long"), LONG)
    return bucket("long")


def a_row(client, url):
    return client.list(url)[0]


def requests_of(client):
    return client.metrics()["totals"]["requests_b"]


def nothing_borrowed(client):
    """A read's own memory is let go of by the library's threads, after its end was told."""
    return wait_until(lambda: client.metrics()["memory"]["borrowed"] == 0)


# -- get -------------------------------------------------------------------------------------------


def test_get_gives_all_bytes(client, bucket, url):
    for place in (url, (bucket.name, "x"), a_row(client, url), client.stat(url)):
        found = client.get(place)
        assert type(found) is bytes and found == TEXT
    assert nothing_borrowed(client)


def test_get_of_a_short_object_is_one_request(client, url):
    costs = []
    for _ in range(10):
        before = requests_of(client)
        client.get(url)
        costs.append(requests_of(client) - before)
    assert min(costs) == 1  # a machine that is busy may ask once more


@pytest.mark.parametrize("offset, length", [(0, 1), (0, 10), (7, 100), (7, None), (10_239, None),
                                            (10_239, 5), (0, 10_240), (0, 10_241), (100, 99_999)])
@pytest.mark.parametrize("known", [False, True], ids=["by name", "by row"])
def test_get_of_a_range(client, url, offset, length, known):
    place = a_row(client, url) if known else url
    end = None if length is None else offset + length
    assert client.get(place, offset=offset, length=length) == TEXT[offset:end]


@pytest.mark.parametrize("known", [False, True], ids=["by name", "by row"])
def test_get_of_a_long_object(client, long_url, known):
    place = a_row(client, long_url) if known else long_url
    assert client.get(place) == LONG
    assert client.get(place, offset=5 << 20, length=9 << 20) == LONG[5 << 20:14 << 20]
    assert client.get(place, offset=(20 << 20) + 1) == LONG[(20 << 20) + 1:]
    assert nothing_borrowed(client)


@pytest.mark.parametrize("known", [False, True], ids=["by name", "by row"])
def test_get_of_more_than_the_cap(emulator, long_url, known):
    with emulator.client(memory_cap=8 << 20) as client:
        place = a_row(client, long_url) if known else long_url
        assert client.get(place) == LONG
        assert client.get(place, offset=1) == LONG[1:]


@pytest.mark.both_services
@pytest.mark.parametrize("known", [False, True], ids=["by name", "by row"])
def test_get_of_an_object_without_bytes(client, bucket, known):
    bucket.put("empty")
    place = a_row(client, bucket("empty")) if known else bucket("empty")
    assert client.get(place) == b""
    assert client.get(place, length=10) == b""


@pytest.mark.both_services
def test_get_of_no_bytes_asks_whether_it_is_there(client, bucket, url):
    assert client.get(url, length=0) == b""
    with pytest.raises(dataflux.NotFoundError):
        client.get(bucket("none"), length=0)


@pytest.mark.parametrize("known", [False, True], ids=["by name", "by row"])
@pytest.mark.parametrize("offset", [10_240, 10_241, 5 << 30])
def test_get_from_behind_the_end_is_out_of_range(client, url, offset, known):
    place = a_row(client, url) if known else url
    for length in (None, 10):
        with pytest.raises(dataflux.Error) as why:
            client.get(place, offset=offset, length=length)
        assert why.value.status == "out_of_range" and why.value.object == "x"


def test_get_of_a_generation(client, bucket, emulator):
    emulator.add_bucket(bucket.name, versioning=True)
    old = client.put(bucket("x"), b"old")
    new = client.put(bucket("x"), b"newer")
    assert client.get(bucket("x")) == b"newer"
    assert client.get(bucket("x"), generation=old.generation) == b"old"
    assert client.get(old) == b"old" and client.get(old, offset=1) == b"ld"
    assert client.get(old, generation=new.generation) == b"newer"


def test_get_of_a_row_that_was_written_anew_is_not_found(client, bucket, url):
    row = a_row(client, url)
    client.put(url, b"other")
    with pytest.raises(dataflux.NotFoundError):
        client.get(row)
    assert client.get((row.bucket, row.name)) == b"other"


@pytest.mark.parametrize("name", ["ü/日本語", "a b?c#d%2F&e=f", "//", "😀", " ", "x" * 1024])
def test_get_of_any_name(client, bucket, name):
    client.put((bucket.name, name), name.encode())
    assert client.get((bucket.name, name)) == name.encode()
    assert client.get(bucket(name)) == name.encode()


def test_get_is_compared_with_the_checksum(client, bucket, emulator, url):
    row = a_row(client, url)
    emulator.faults({"verb": "objects.media", "action": "flip_byte", "count": 0})
    for place in (url, row):
        with pytest.raises(dataflux.DataLossError):
            client.get(place)
    assert nothing_borrowed(client)


def test_get_is_tried_again(client, emulator, url):
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 503, "count": 1},
                    {"verb": "objects.media", "action": "cut", "where": "in_body", "bodyBytes": 99,
                     "from": 2, "count": 1})
    assert client.get(url) == TEXT


def test_get_has_a_time_limit(client, emulator, url):
    emulator.faults({"action": "stall", "where": "before_reply", "count": 0})
    with pytest.raises(dataflux.DeadlineError) as why:
        client.get(url, timeout=0.2)
    assert isinstance(why.value, TimeoutError)


def test_get_by_many_threads(client, url, long_url):
    wrong = []

    def work():
        for number in range(50):
            if client.get(url, offset=number) != TEXT[number:]:
                wrong.append(number)
        if client.get(long_url) != LONG:
            wrong.append("long")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert wrong == []


# -- read_into -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    bytearray, lambda n: memoryview(bytearray(n)), lambda n: memoryview(bytearray(n + 9))[4:n + 4],
    lambda n: array.array("B", bytes(n)), lambda n: pytest.importorskip("numpy").zeros(n, "uint8"),
    lambda n: pytest.importorskip("numpy").zeros((n // 10, 10), "uint8"),
    lambda n: pytest.importorskip("numpy").zeros(n // 8, "float64"),
], ids=["bytearray", "memoryview", "a slice", "array", "numpy", "2 dimensions", "float64"])
def test_read_into_memory_of_any_kind(client, url, make):
    memory = make(10_000)
    assert client.read_into(url, memory) == 10_000
    assert bytes(memory) == TEXT[:10_000]
    assert client.read_into(url, memory, offset=240) == 10_000
    assert bytes(memory) == TEXT[240:]


def test_read_into_of_a_long_object(client, long_url):
    memory = bytearray(len(LONG))
    assert client.read_into(long_url, memory) == len(LONG)
    assert memory == LONG


def test_read_into_a_part_leaves_the_rest(client, url):
    memory = bytearray(b"\xff" * 30)
    client.read_into(url, memoryview(memory)[10:20], offset=100)
    assert memory == b"\xff" * 10 + TEXT[100:110] + b"\xff" * 10


@pytest.mark.both_services
def test_read_into_lends_the_memory_only_while_it_reads(client, url, bucket):
    memory = bytearray(100)
    client.read_into(url, memory)
    memory.append(1)
    with pytest.raises(dataflux.NotFoundError):
        client.read_into(bucket("none"), memory)
    memory.append(1)
    with pytest.raises(TypeError):
        client.read_into(7, memory)
    memory.append(1)


@pytest.mark.parametrize("size", [10_241, 1 << 20, 9 << 20])
def test_read_into_more_than_the_object_has_is_out_of_range(client, url, size):
    with pytest.raises(dataflux.Error) as why:
        client.read_into(url, bytearray(size))
    assert why.value.status == "out_of_range"


@pytest.mark.both_services
def test_read_into_no_room_asks_whether_it_is_there(client, bucket, url):
    assert client.read_into(url, bytearray()) == 0
    with pytest.raises(dataflux.NotFoundError):
        client.read_into(bucket("none"), bytearray())


@pytest.mark.parametrize("bad, error", [
    (b"123", TypeError), (memoryview(b"123"), TypeError), ("123", TypeError), (7, TypeError),
    (None, TypeError), ([1, 2], TypeError), (memoryview(bytearray(9))[::2], TypeError)],
    ids=["bytes", "read only", "str", "int", "None", "list", "in pieces"])
def test_read_into_names_memory_that_will_not_do(client, emulator, url, bad, error):
    before = emulator.answered()
    with pytest.raises(error, match="^buffer: "):
        client.read_into(url, bad)
    assert emulator.answered() == before


# -- get_ranges ------------------------------------------------------------------------------------


def test_get_ranges_in_any_order_overlapping_or_empty(client, url):
    ranges = [(5000, 100), (0, 10), (5050, 100), (10_239, 1), (7, 0), (0, 10_240), (0, 10)]
    found = client.get_ranges(url, ranges)
    assert found == [TEXT[offset:offset + size] for offset, size in ranges]
    assert all(type(each) is bytes for each in found)


def test_get_ranges_of_a_long_object(client, long_url):
    ranges = [(number * 20_000, 300 + number) for number in range(1000)]
    assert client.get_ranges(long_url, iter(ranges)) == [LONG[o:o + n] for o, n in ranges]


def test_get_ranges_that_lie_together_go_by_few_requests(client, url):
    before = requests_of(client)
    client.get_ranges(url, [(number * 10, 10) for number in range(1000)])
    assert requests_of(client) <= before + 9  # each may be asked for twice more by a machine that is busy


def test_get_ranges_into_memory_of_the_callers(client, url):
    memory = [bytearray(10), memoryview(bytearray(20)), array.array("B", bytes(5))]
    assert client.get_ranges(url, [(0, 10), (1000, 20), (77, 5)], into=memory) is None
    assert [bytes(each) for each in memory] == [TEXT[:10], TEXT[1000:1020], TEXT[77:82]]
    memory[0].append(1)  # it is lent no more


@pytest.mark.both_services
def test_get_ranges_of_nothing(client, bucket, url):
    assert client.get_ranges(url, []) == []
    bucket.put("empty")
    assert client.get_ranges(bucket("empty"), [(0, 0)]) == [b""]


@pytest.mark.parametrize("ranges", [[(10_240, 1)], [(0, 10), (10_000, 241)], [(5 << 30, 10)],
                                    [(0, 10), (0, 1 << 50)], [(1 << 40, 1 << 50)]], ids=str)
def test_get_ranges_behind_the_end_are_out_of_range(client, url, ranges):
    """Also where no memory would be enough for them."""
    with pytest.raises(dataflux.Error) as why:
        client.get_ranges(url, ranges)
    assert why.value.status == "out_of_range" and why.value.object
    with client.reader(url) as reader, pytest.raises(dataflux.Error) as why:
        reader.get_ranges(ranges)
    assert why.value.status == "out_of_range"


@pytest.mark.both_services
def test_get_ranges_of_an_object_that_is_not_there(client, bucket):
    with pytest.raises(dataflux.NotFoundError):
        client.get_ranges(bucket("none"), [(0, 1)])


@pytest.mark.parametrize("ranges, into, error, named", [
    ([7], None, TypeError, "ranges"), ([(1,)], None, TypeError, "ranges"),
    ([("0", 1)], None, TypeError, "ranges"), ([(0, -1)], None, ValueError, "ranges"),
    ([(0, 1)], [b"1"], TypeError, r"into\[0\]"), ([(0, 1)], [bytearray(2)], ValueError, "into"),
    ([(0, 1)], [], ValueError, "into"), ([(0, 1)], ["1"], TypeError, r"into\[0\]")], ids=repr)
def test_get_ranges_names_bad_arguments(client, emulator, url, ranges, into, error, named):
    before = emulator.answered()
    with pytest.raises(error, match=f"^{named}: "):
        client.get_ranges(url, ranges, into=into)
    assert emulator.answered() == before


# -- Arguments of all ------------------------------------------------------------------------------

CALLS = {
    "get": lambda client, place, **options: client.get(place, **options),
    "read_into": lambda client, place, **options: client.read_into(place, bytearray(1), **options),
    "get_ranges": lambda client, place, **options: client.get_ranges(place, [(0, 1)], **options),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("place, error", [
    (7, TypeError), (None, TypeError), (b"gs://b/x", TypeError), ("x", ValueError),
    ("gs://bucket", ValueError), ("gs://bucket/", ValueError), ("s3://bucket/x", ValueError),
    ("gs://bucket/a\0b", ValueError), (("bucket", 7), TypeError), (["bucket", "x"], TypeError)],
    ids=repr)
def test_bad_places_are_named_before_any_request(client, emulator, call, place, error):
    before = emulator.answered()
    with pytest.raises(error, match="^url: "):
        CALLS[call](client, place)
    assert emulator.answered() == before


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("options, error", [
    ({"generation": "1"}, TypeError), ({"generation": -1}, ValueError), ({"timeout": "1"}, TypeError),
    ({"timeout": 0}, ValueError), ({"timeout": True}, TypeError), ({"offset": -1}, ValueError),
    ({"offset": 1.0}, TypeError), ({"offset": True}, TypeError), ({"offset": 1 << 63}, ValueError),
    ({"offset": (1 << 63) - 1}, ValueError)],
    ids=repr)
def test_bad_options_are_named_before_any_request(client, emulator, call, options, error):
    if call == "get_ranges" and "offset" in options:
        pytest.skip("it has no offset")
    before = emulator.answered()
    if call == "get":
        options = {"length": 1, **options}
    named = "offset|length" if options.get("offset") == (1 << 63) - 1 else list(options)[-1]
    with pytest.raises(error, match=f"^({named}): "):
        CALLS[call](client, "gs://bucket/x", **options)
    assert emulator.answered() == before


@pytest.mark.parametrize("call", CALLS)
def test_a_closed_client_says_so(emulator, call):
    client = emulator.client()
    client.close()
    with pytest.raises(dataflux.PreconditionError, match="closed"):
        CALLS[call](client, "gs://bucket/x")


@pytest.mark.both_services
@pytest.mark.parametrize("call", CALLS)
def test_what_is_not_there_is_a_file_not_found(client, bucket, call):
    with pytest.raises(FileNotFoundError) as why:
        CALLS[call](client, bucket("none"))
    assert why.value.filename == bucket("none")


@pytest.mark.both_services
def test_a_reply_that_does_not_begin_is_given_up_in_time(emulator, bucket):
    bucket.put("x", b"12345")
    emulator.faults({"action": "stall", "where": "before_reply"})
    # The limit of the call is less than the default of the other.
    with emulator.client(first_byte_timeout=0.05) as client:
        assert client.get(bucket("x"), timeout=40) == b"12345"
