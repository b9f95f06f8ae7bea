"""get_many(): what comes, in which order, and what becomes of failures, threads, forks and signals."""

import gc
import itertools
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import zlib

import pytest

import dataflux
from service import wait_until

STALL = {"action": "stall", "where": "before_reply", "count": 0}
LIMIT = 60


def content_of(number):
    return f"{number:05d}|".encode() * (number % 50)


@pytest.fixture
def numbered(client, bucket):
    """100 objects; number 0 and 50 have no bytes."""
    for number in range(100):
        client.put(bucket(f"o/{number:05d}"), content_of(number))
    return [bucket(f"o/{number:05d}") for number in range(100)]


def hits(emulator):
    """How many requests a rule of the script has hit."""
    return json.loads(emulator.ask("GET", "/_emulator/faults"))["hits"]


def in_flight(client):
    return sum(each["in_flight"] for each in client.metrics()["pacing"])


def index_and_bytes(items):
    return [(item.index, bytes(item.data)) for item in items]


ALL = [(number, content_of(number)) for number in range(100)]


def in_turn(first, count):
    """What so many items of itertools.cycle(numbered) are; how many a batch has is the machine's affair."""
    return [(number, content_of(number % 100)) for number in range(first, first + count)]


# -- What comes ------------------------------------------------------------------------------------


def test_items_of_a_listing_come_as_asked(client, bucket, numbered):
    listing = client.list(bucket("o/"))
    with client.get_many(listing) as stream:
        items = list(stream.items())
    assert index_and_bytes(items) == ALL
    for item, row in zip(items, listing):
        assert item.request == row and item.generation == row.generation
        assert item.crc32c == row.crc32c and item.verified is True and item.error is None
        assert item.data.format == "B" and item.data.nbytes == row.size


@pytest.mark.both_services
@pytest.mark.parametrize("chosen", [slice(None, None, -3), slice(10, 11), slice(5, 90, 7)], ids=str)
def test_rows_of_a_listing_are_indexed_by_their_order(client, bucket, numbered, chosen):
    listing = client.list(bucket("o/"))[chosen]
    items = list(client.get_many(listing).items())
    wanted = list(range(100))[chosen]
    assert index_and_bytes(items) == [(i, content_of(number)) for i, number in enumerate(wanted)]
    assert [item.request.name for item in items] == list(listing.names)


@pytest.mark.both_services
def test_a_filtered_listing(client, bucket, numbered):
    listing = client.list(bucket("o/")).filter(lambda row: row.name[-1] == "7")
    items = list(client.get_many(listing).items())
    assert [item.request.name[-2:] for item in items] == [f"{ten}7" for ten in range(10)]
    assert [bytes(item.data) for item in items] == [content_of(n) for n in range(7, 100, 10)]


@pytest.mark.both_services
def test_places_of_every_kind(client, bucket, numbered):
    row = client.list(bucket("o/00012"))[0]
    known = client.stat(numbered[13])
    asked = [numbered[11], (bucket.name, "o/00012"), row, known, (row, 3, 4), (numbered[13], 70, None),
             ((bucket.name, "o/00014"), 80, 9999)]
    items = list(client.get_many(asked).items())
    assert [bytes(item.data) for item in items] == [
        content_of(11), content_of(12), content_of(12), content_of(13), content_of(12)[3:7],
        content_of(13)[70:], content_of(14)[80:]]
    assert all(item.request is request for item, request in zip(items, asked))


def test_ready_brings_each_once(client, numbered):
    items = list(client.get_many(numbered, order="ready").items())
    assert sorted(index_and_bytes(items)) == ALL
    assert all(item.request == numbered[item.index] for item in items)


def test_ready_does_not_wait_for_what_is_slow(client, bucket, emulator, numbered):
    emulator.faults({**STALL, "object": "o/00000"})
    with client.get_many(numbered, order="ready") as stream:
        items = list(itertools.islice(stream.items(), 99))
    assert sorted(item.index for item in items) == list(range(1, 100))


@pytest.mark.parametrize("batch", [1, 3, 1000])
def test_batches_have_at_most_so_many(client, numbered, batch):
    batches = list(client.get_many(numbered, batch=batch))
    assert all(1 <= len(each) <= batch for each in batches)
    assert index_and_bytes(itertools.chain(*batches)) == ALL


@pytest.mark.both_services
def test_names_beyond_ascii(client, bucket):
    names = ["ü", "日本/語", "a b%2F", "😀", "x" * 1024]
    for name in names:
        bucket.put(name, name.encode())
    for requests in ([bucket(name) for name in names], [(bucket.name, name) for name in names],
                     client.list(bucket())):
        items = list(client.get_many(requests).items())
        assert sorted(bytes(item.data).decode() for item in items) == sorted(names)


@pytest.mark.both_services
def test_objects_without_bytes(client, bucket):
    bucket.put("empty")
    items = list(client.get_many([bucket("empty")] * 3).items())
    assert [bytes(item.data) for item in items] == [b""] * 3
    assert items[0].data.format == "B" and items[0].verified


def test_long_objects_are_each_in_one_view(client, bucket):
    long = os.urandom(9 << 20)
    client.put(bucket("long"), long)
    client.put(bucket("short"), b"1")
    items = list(client.get_many([bucket("short"), bucket("long"), bucket("short")]).items())
    assert [bytes(item.data) for item in items] == [b"1", long, b"1"]
    assert items[1].verified


def test_items_can_be_written_to_each_alone(client, numbered):
    first, second = client.get_many([numbered[7], numbered[7]]).items()
    first.data[:] = b"x" * len(first.data)
    assert bytes(second.data) == content_of(7)


def test_composed_runs_bring_the_same(client, bucket, emulator, numbered):
    items = list(client.get_many(client.list(bucket("o/")), compose=True).items())
    assert index_and_bytes(items) == ALL
    verbs = {one["verb"] for one in client.metrics()["verbs"]}
    assert "objects.compose" in verbs


@pytest.mark.parametrize("nothing", [list, tuple, lambda: iter(())], ids=["list", "tuple", "iterator"])
def test_no_requests_are_no_items(client, emulator, nothing):
    before = emulator.answered()
    assert list(client.get_many(nothing())) == []
    assert emulator.answered() == before


@pytest.mark.both_services
def test_an_empty_listing_and_an_empty_filter(client, bucket, numbered):
    assert list(client.get_many(client.list(bucket("none/")))) == []
    assert list(client.get_many(client.list(bucket("o/")).filter(lambda row: False))) == []


@pytest.mark.both_services
def test_an_item_says_what_it_is(client, bucket):
    bucket.put("x", b"123")
    ok, failed = client.get_many([bucket("x"), bucket("none")], on_error="return").items()
    assert repr(ok) == "<dataflux.Item 0, 3 bytes>"
    assert repr(failed) == "<dataflux.Item 1, not_found>"


# -- An iterable without an end --------------------------------------------------------------------


def test_a_generator_is_asked_only_for_what_is_soon_wanted(client, numbered):
    taken = itertools.count()

    def endless():
        for url in itertools.cycle(numbered):
            next(taken)
            yield url

    with client.get_many(endless()) as stream:
        for number, item in zip(range(20_000), stream.items()):
            assert item.index == number and bytes(item.data) == content_of(number % 100)
    assert 20_000 <= next(taken) <= 20_000 + 4096 + 256


def test_the_first_requests_go_out_before_the_rest_is_known(client, emulator, numbered):
    def asked():
        yield from numbered[:40]
        # Those before are read while this one is made.
        assert wait_until(lambda: emulator.answered() >= before + 16)
        yield numbered[40]

    before = emulator.answered()
    assert len(list(client.get_many(asked()).items())) == 41


def test_what_the_iterable_raises_comes_out_and_ends_it(client, bucket, numbered):
    class Mine(Exception):
        pass

    def asked():
        yield from numbered
        raise Mine

    stream = client.get_many(asked())
    with pytest.raises(Mine):
        for _ in stream:
            pass
    with pytest.raises(dataflux.PreconditionError, match="lost by a Mine"):
        list(stream)


@pytest.mark.both_services
def test_requests_may_come_of_earlier_items(client, bucket):
    """A crawl of a tree: each object names its children."""
    for number in range(1, 64):
        bucket.put(f"{number}", f"{2 * number} {2 * number + 1}".encode())
    for number in range(64, 128):
        bucket.put(f"{number}")
    known, expected = ["1"], 1

    def asked():
        while expected:
            yield bucket(known.pop()) if known else ...

    found = set()
    for item in client.get_many(asked()).items():
        children = bytes(item.data).decode().split()
        known += children
        expected += len(children) - 1
        found.add(item.request.rpartition("/")[2])
    assert found == {str(number) for number in range(1, 128)}


def test_requests_may_come_of_another_thread(client, numbered):
    made, ended = [], threading.Event()

    def asked():
        while made or not ended.is_set():
            yield made.pop(0) if made else ...

    made.append(numbered[0])
    stream = client.get_many(asked())
    items = iter(stream.items())
    assert bytes(next(items).data) == content_of(0)

    def work():
        made.extend(numbered[1:])
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert [bytes(item.data) for item in items] == [content_of(n) for n in range(1, 100)]
    thread.join(LIMIT)


def test_items_do_not_wait_for_a_slow_iterable(client, emulator, numbered):
    taken = 0

    def asked():
        nonlocal taken
        for url in numbered:
            taken += 1
            # Those before are answered, and their replies taken in, while this one is made.
            assert wait_until(lambda: emulator.answered() >= before + (taken > 1) and not in_flight(client))
            yield url

    before = emulator.answered()
    stream = client.get_many(asked())
    next(stream)
    assert taken < len(numbered)
    assert sum(map(len, stream)) < len(numbered)


def test_many_threads_take_one_batch_each(client, numbered):
    """More of them wait than there are requests ahead of them: somebody has to push for the last."""
    stream = client.get_many(itertools.cycle(numbered), batch=2000)
    sizes = []
    in_threads(12, lambda: sizes.append(len(next(stream))))
    assert len(sizes) == 12 and min(sizes) >= 1
    stream.close()


def test_an_iterable_that_uses_the_client(client, bucket, numbered):
    def asked():
        for url in numbered:
            yield (url, 0, client.stat(url).size) if url.endswith("7") else url

    assert index_and_bytes(client.get_many(asked()).items()) == ALL


def test_the_first_request_names_the_bucket(client, emulator):
    before = emulator.answered()
    with pytest.raises(ValueError, match="^requests: the first is"):
        client.get_many([..., "gs://bucket/x"])
    assert emulator.answered() == before


# -- Failures --------------------------------------------------------------------------------------


@pytest.mark.both_services
def test_raise_ends_with_the_first_failure_after_the_items_before_it(client, bucket, numbered):
    asked = [*numbered[:30], bucket("none"), *numbered[30:]]
    stream = client.get_many(asked)
    items = []
    with pytest.raises(dataflux.NotFoundError) as why:
        for item in stream.items():
            items.append(item)
    assert why.value.object == "none" and why.value.http_status == 404
    assert index_and_bytes(items) == ALL[:30]


@pytest.mark.both_services
def test_what_has_failed_fails_every_time_until_it_is_closed(client, bucket, numbered):
    stream = client.get_many([*numbered[:30], bucket("none"), *numbered[30:]])
    told = []
    for _ in range(3):
        with pytest.raises(dataflux.NotFoundError, match="none") as why:
            list(stream)
        told.append(why.value)
    assert len(set(map(id, told))) == 3 and len({str(each) for each in told}) == 1
    assert told[2].object == "none" and told[2].http_status == 404
    with pytest.raises(dataflux.NotFoundError):
        list(stream.items())
    stream.close()
    assert list(stream) == []


@pytest.mark.both_services
def test_what_has_failed_fails_every_loop_over_the_items(client, bucket, numbered):
    requests = [*numbered[:5], bucket("none"), *numbered[5:]]
    stream = client.get_many(requests)
    items, got = stream.items(), []
    for _ in range(3):
        with pytest.raises(dataflux.NotFoundError, match="none"):
            got.extend(items)
    with pytest.raises(dataflux.NotFoundError, match="none"):
        next(stream.items())
    assert index_and_bytes(got) == ALL[:5]
    stream.close()
    assert list(items) == []


@pytest.mark.both_services
def test_threads_share_the_items_and_their_failure(client, bucket, numbered):
    with client.get_many([*numbered, bucket("none")], batch=7) as stream:
        items, got, failures = stream.items(), [], []

        def take():
            try:
                for item in items:
                    got.append(item)
            except Exception as why:
                failures.append(type(why))

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == [dataflux.NotFoundError] * 4
        assert sorted(index_and_bytes(got)) == ALL


@pytest.mark.both_services
def test_return_gives_an_item_for_each_failure(client, bucket, numbered):
    asked = [bucket("none/1"), *numbered[:5], bucket("none/2")]
    items = list(client.get_many(asked, on_error="return").items())
    assert [item.index for item in items] == list(range(7))
    assert [type(item.error) for item in items] == [
        dataflux.NotFoundError, *[type(None)] * 5, dataflux.NotFoundError]
    assert [item.error.object for item in (items[0], items[6])] == ["none/1", "none/2"]
    assert items[6].request == bucket("none/2") and not items[6].verified
    with pytest.raises(dataflux.NotFoundError, match="none/1"):
        items[0].data


@pytest.mark.both_services
def test_omit_leaves_failures_out_and_counts_them(client, bucket, numbered):
    asked = [bucket("none/1"), *numbered[:5], bucket("none/2")]
    stream = client.get_many(asked, on_error="omit")
    assert [item.index for item in stream.items()] == [1, 2, 3, 4, 5]
    assert stream.omitted == 2


@pytest.mark.both_services
def test_omit_of_everything_is_no_item(client, bucket):
    stream = client.get_many([bucket(f"none/{i}") for i in range(600)], on_error="omit")
    assert list(stream) == [] and stream.omitted == 600


@pytest.mark.both_services
def test_an_object_that_was_changed_since_it_was_listed_fails(client, bucket):
    bucket.put("x", b"old")
    bucket.put("y", b"old")
    listing = client.list(bucket())
    bucket.put("x", b"new")
    with pytest.raises(dataflux.NotFoundError, match="/x"):
        list(client.get_many(listing))


def test_passing_failures_of_the_service_are_tried_again(client, emulator, numbered):
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 503, "count": 5},
                    {"verb": "objects.media", "action": "cut", "where": "in_body", "bodyBytes": 5,
                     "from": 9, "count": 5})
    assert index_and_bytes(client.get_many(numbered).items()) == ALL
    assert hits(emulator) == 10


def test_bytes_that_differ_from_the_checksum_are_data_loss(client, bucket, emulator):
    bucket.put("x", b"1234567")
    emulator.faults({"verb": "objects.media", "action": "flip_byte", "count": 0})
    [item] = client.get_many([bucket("x")], on_error="return").items()
    assert isinstance(item.error, dataflux.DataLossError)


def test_the_time_limit_is_of_all_of_it(client, bucket, emulator, numbered):
    emulator.faults({**STALL, "object": "o/00042"})
    items = []
    with pytest.raises(dataflux.DeadlineError):
        for item in client.get_many(numbered, timeout=1.0).items():
            items.append(item)
    assert index_and_bytes(items) == ALL[:len(items)] and len(items) <= 42


def test_closing_the_client_ends_it(client, emulator, numbered):
    emulator.faults({**STALL, "object": "o/00042"})
    stream = client.get_many(numbered)
    with pytest.raises(dataflux.CancelledError):
        for item in stream.items():
            if item.index == 41:
                client.close()
    for _ in range(2):
        with pytest.raises(dataflux.CancelledError):
            next(stream)
    stream.close()
    assert list(stream) == []


# -- Arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("requests, error", [
    (None, TypeError), (7, TypeError), ("gs://bucket/x", TypeError), (b"gs://bucket/x", TypeError),
    ([7], TypeError), ([pathlib.PurePosixPath("gs://bucket/x")], TypeError), (["x"], ValueError),
    (["gs://bucket"], ValueError), ([("bucket", "x", 1, 2)], TypeError),
    ([("gs://bucket/x", "1", 2)], TypeError), ([("gs://bucket/x", -1, 2)], ValueError),
    ([("gs://bucket/x", 0, 1.5)], TypeError), (["gs://bucket/a\0b"], ValueError),
    (["gs://bucket/\ud800"], ValueError)], ids=repr)
def test_bad_requests_are_named_before_any_is_sent(client, emulator, requests, error):
    before = emulator.answered()
    with pytest.raises(error, match="^requests: "):
        client.get_many(requests)
    assert emulator.answered() == before


@pytest.mark.parametrize("bad", ["gs://bucket-of-another/x", 7, None, "gs://{}/", "gs://{}/a\0b"])
def test_a_bad_request_among_good_ones_ends_it(client, bucket, numbered, bad):
    bad = bad.format(bucket.name) if isinstance(bad, str) else bad
    with pytest.raises((TypeError, ValueError), match="^requests: "):
        list(client.get_many([*numbered, bad]))


@pytest.mark.parametrize("options, error", [
    ({"order": "any"}, ValueError), ({"order": None}, TypeError), ({"on_error": "ignore"}, ValueError),
    ({"batch": 0}, ValueError), ({"batch": 1.5}, TypeError), ({"timeout": "1"}, TypeError),
    ({"timeout": -1}, ValueError), ({"progress": 7}, TypeError)], ids=repr)
def test_bad_options_are_named(client, options, error):
    with pytest.raises(error, match=f"^{next(iter(options))}: "):
        client.get_many(["gs://bucket/x"], **options)


def test_it_is_not_pickled(client, numbered):
    with client.get_many(numbered) as stream:
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(stream)


# -- The end ---------------------------------------------------------------------------------------


def test_closing_in_the_midst_ends_it_and_leaves_the_items(client, bucket, numbered):
    stream = client.get_many(itertools.cycle(numbered))
    batch = next(stream)
    stream.close()
    stream.close()
    assert list(stream) == []
    assert index_and_bytes(batch) == in_turn(0, len(batch))


def test_one_that_is_half_read_is_collected(client, numbered):
    stream = client.get_many(itertools.cycle(numbered))
    batch = next(stream)
    stream.self = stream  # in a cycle
    del stream
    gc.collect()
    assert index_and_bytes(batch) == in_turn(0, len(batch))
    assert client.get(numbered[1]) == content_of(1)


def test_items_outlive_stream_and_client(emulator, client, bucket, numbered):
    with emulator.client() as another:
        items = list(another.get_many(numbered).items())
    del another
    gc.collect()
    assert index_and_bytes(items) == ALL


@pytest.mark.both_services
def test_progress_is_told_to_the_end(client, bucket, numbered):
    told = []
    list(client.get_many(client.list(bucket("o/")), progress=lambda **known: told.append(known)))
    assert told[-1] == {"done": 100, "total": 100, "unit": "objects", "label": "get_many"}


def test_what_progress_raises_comes_out(client, numbered):
    def told(**known):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(client.get_many(numbered, progress=told))


def test_progress_may_close_it(client, numbered):
    told = []

    def tell(**known):
        told.append(known["done"])
        stream.close()

    stream = client.get_many(itertools.cycle(numbered), progress=tell)
    assert in_threads(1, lambda: told.append(list(stream))) == []
    assert told[-1] == []


def test_another_thread_may_close_it_while_progress_is_told(client, numbered):
    def tell(**known):
        assert in_threads(1, stream.close) == []

    stream = client.get_many(itertools.cycle(numbered), progress=tell)
    assert in_threads(1, lambda: list(stream)) == []


def test_a_handler_may_close_it_while_progress_is_told(emulator, numbered):
    ended = subprocess.run([sys.executable, "-c", f"""if True:
        import itertools, os, signal, dataflux
        from service import options_of

        def tell(**known):
            os.kill(os.getpid(), signal.SIGUSR1)
            for _ in range(10):
                pass

        client = dataflux.Client(**options_of({emulator.endpoint!r}))
        stream = client.get_many(itertools.cycle({numbered!r}), progress=tell)
        signal.signal(signal.SIGUSR1, lambda *_: stream.close())
        print(len(list(stream)))
    """], capture_output=True, text=True, timeout=LIMIT)
    assert (ended.stdout, ended.stderr) == ("0\n", "")


# -- Threads, forks, signals -----------------------------------------------------------------------


def in_threads(number, function):
    failures = []

    def guarded():
        try:
            function()
        except BaseException as why:
            failures.append(why)

    threads = [threading.Thread(target=guarded) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
        assert not thread.is_alive()
    return failures


@pytest.mark.both_services
@pytest.mark.parametrize("by", ["a listing", "an iterable"])
def test_threads_share_a_stream(client, bucket, numbered, by):
    requests = client.list(bucket("o/")) if by == "a listing" else iter(numbered * 50)
    stream = client.get_many(requests, batch=7)
    seen = []
    assert in_threads(8, lambda: seen.extend(
        (item.index, zlib.crc32(item.data), item.request) for item in stream.items())) == []
    wanted = [(number, zlib.crc32(content_of(number % 100))) for number in range(len(seen))]
    assert len(seen) == (100 if by == "a listing" else 5000)
    assert sorted(each[:2] for each in seen) == wanted


@pytest.mark.both_services
def test_a_failure_goes_to_every_thread(client, bucket, numbered):
    stream = client.get_many([*numbered, bucket("none"), *numbered])
    failures = in_threads(4, lambda: list(stream))
    assert [type(each) for each in failures] == [dataflux.NotFoundError] * 4
    assert len(set(map(id, failures))) == 4


def test_an_interrupt_that_ends_it_fails_every_time(client, numbered):
    def asked():
        yield from numbered
        raise KeyboardInterrupt

    stream = client.get_many(asked())
    with pytest.raises(KeyboardInterrupt):
        list(stream)
    for _ in range(2):
        with pytest.raises(dataflux.PreconditionError, match="KeyboardInterrupt"):
            next(stream)
    stream.close()
    assert list(stream) == []


def test_close_on_another_thread_ends_a_wait(client, emulator, numbered):
    emulator.faults({**STALL, "object": "o/00000"})
    stream = client.get_many(numbered)
    seen = []
    waiting = threading.Thread(target=lambda: seen.append(list(stream)))
    waiting.start()
    assert wait_until(lambda: hits(emulator) == 1)
    stream.close()
    waiting.join(LIMIT)
    assert seen == [[]]


def in_a_child(function):
    """What `function` gives in the child of a fork, as JSON."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as said:
        text = said.read()
    os.waitpid(child, 0)
    return json.loads(text)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_the_items_and_not_the_stream(client, numbered):
    stream = client.get_many(itertools.cycle(numbered))
    batch = next(stream)

    def child():
        try:
            next(stream)
        except dataflux.PreconditionError as why:
            said = str(why)
        stream.close()
        items = [bytes(item.data).decode() for item in batch]
        batch.clear()
        gc.collect()
        # A stream of its own, by the same client.
        own = [bytes(item.data).decode() for item in client.get_many(numbered).items()]
        return [said, items, own]

    said, items, own = in_a_child(child)
    assert "forked child" in said
    assert items == [content.decode() for _, content in in_turn(0, len(batch))]
    assert own == [content.decode() for _, content in ALL]
    # The parent goes on.
    after = next(stream)
    assert index_and_bytes(after) == in_turn(len(batch), len(after))
    stream.close()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_none_of_the_items_that_were_not_taken(client, numbered):
    stream = client.get_many(numbered)
    items = stream.items()
    first = next(items)

    def child():
        try:
            return next(items).index
        except dataflux.PreconditionError as why:
            return str(why)

    assert "forked child" in in_a_child(child)
    assert index_and_bytes([first, *items]) == in_turn(0, len(ALL))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_tells_no_progress_of_the_parent(client, numbered):
    told, inside, go_on = [], threading.Event(), threading.Event()

    def tell(**known):
        told.append(os.getpid())
        inside.set()
        assert go_on.wait(LIMIT)

    stream = client.get_many(itertools.cycle(numbered), progress=tell)
    consumer = threading.Thread(target=lambda: next(stream))
    consumer.start()
    assert inside.wait(LIMIT)
    try:
        def child():
            signal.alarm(LIMIT)  # one that hangs says nothing, and no JSON is an error
            stream.close()
            return set(told) == {os.getppid()}

        assert in_a_child(child) is True
    finally:
        go_on.set()
        consumer.join(LIMIT)
        stream.close()


def program(emulator, bucket, body):
    head = (f"import dataflux, itertools, gc, json\n"
            f"from service import options_of\n"
            f"client = dataflux.Client(**options_of({emulator.endpoint!r}), stall_timeout=1)\n"
            f"urls = ['{bucket('o')}/%05d' % number for number in range(100)]\n")
    return subprocess.Popen([sys.executable, "-X", "dev", "-c", head + body], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE,
                            env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)))


def test_ctrl_c_ends_a_wait_and_the_stream_goes_on(emulator, bucket, numbered):
    emulator.faults({**STALL, "where": "in_body", "bodyBytes": 5, "object": "o/00003"})
    child = program(emulator, bucket, """
items = client.get_many(urls).items
seen = list(itertools.islice(items(), 3))
try:
    print("waits", flush=True)
    next(items())
except KeyboardInterrupt:
    print("interrupted", flush=True)
seen += items()
print(json.dumps([bytes(item.data).decode() for item in seen]))
""")
    assert child.stdout.readline() == "waits\n"
    assert wait_until(lambda: hits(emulator) >= 1)
    child.send_signal(signal.SIGINT)
    assert child.stdout.readline() == "interrupted\n"
    emulator.faults()  # what stalls is asked for again
    said, complained = child.communicate(timeout=LIMIT)
    assert complained == ""
    assert json.loads(said) == [content.decode() for _, content in ALL]


def test_ctrl_c_in_a_loop_ends_cleanly(emulator, bucket, numbered):
    child = program(emulator, bucket, """
def read(stream):  # Python 3.13 leaves out of a `try` where a loop that ends its block jumps back
    for count, item in enumerate(stream.items()):
        if count == 1000:
            print("reads", flush=True)

try:
    with client.get_many(itertools.cycle(urls)) as stream:
        read(stream)
except KeyboardInterrupt:
    print("interrupted", flush=True)
gc.collect()
print(client.metrics()["memory"]["borrowed"], list(stream), flush=True)
""")
    assert child.stdout.readline() == "reads\n"
    child.send_signal(signal.SIGINT)
    said, complained = child.communicate(timeout=LIMIT)
    assert child.returncode == 0 and complained == ""
    assert said == "interrupted\n0 []\n"


@pytest.mark.parametrize("body", [
    "stream = client.get_many(itertools.cycle(urls)); keep = next(stream)",
    "stream = client.get_many(itertools.cycle(urls)); keep = next(stream)[0].data; del stream",
    "keep = list(client.get_many(urls)); keep.append(keep)",
    "import atexit\nstream = client.get_many(itertools.cycle(urls))\natexit.register(next, stream)",
    "import threading\nstream = client.get_many(itertools.cycle(urls))\n"
    "there = threading.Event()\ndef main():\n  for _ in stream: there.set()\n"
    "threading.Thread(target=main, daemon=True).start(); there.wait()",
], ids=["half read", "a view", "a cycle", "atexit", "a daemon thread"])
def test_the_interpreter_ends_with_reads_under_way(emulator, bucket, numbered, body):
    child = program(emulator, bucket, body)
    said, complained = child.communicate(timeout=LIMIT)
    assert (child.returncode, said, complained) == (0, "", "")


@pytest.mark.parametrize("read", [
    lambda client, url, limit: client.get(url, timeout=limit),
    lambda client, url, limit: list(client.get_many([url], timeout=limit)),
    lambda client, url, limit: list(client.get_many(client.list(url), timeout=limit)),
], ids=["get", "get_many", "rows"])
def test_a_limit_that_comes_among_attempts_tells_what_they_have_met(client, emulator, bucket, read):
    client.put(bucket("o"), b"here")
    emulator.faults({"verb": "objects.media", "action": "refuse", "status": 503, "count": 0})
    for limit in (1, 10, 60):  # until the machine gets an attempt done within it
        with pytest.raises((dataflux.UnavailableError, dataflux.DeadlineError)) as raised:
            read(client, bucket("o"), limit)
        if hits(emulator):
            break
    assert type(raised.value) is dataflux.UnavailableError and "503" in str(raised.value)
    assert raised.value.http_status == 503 and raised.value.attempts >= 1
    assert (raised.value.bucket, raised.value.object) == (bucket.name, "o")
