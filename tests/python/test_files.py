"""open(), and the readers and writers under it: what they are as files."""

import gc
import io
import os
import pickle
import random
import shutil
import threading
import weakref

import pytest

import dataflux

CONTENT = random.Random(1).randbytes(3_000_000)


@pytest.fixture
def there(bucket):
    bucket.put("there", CONTENT)
    return bucket("there")


def requests(emulator):
    """Requests of clients so far."""
    return sum(one["count"] for one in emulator.counters()["requests"] if one["verb"] != "control")


# -- Reading ---------------------------------------------------------------------------------------


def test_a_reader_is_a_binary_file(client, there):
    file = client.open(there)
    assert isinstance(file, io.BufferedReader)
    assert (file.readable(), file.writable(), file.seekable(), file.closed) == (True, False, True,
                                                                               False)
    assert (file.name, file.mode, file.url, file.size) == (there, "rb", there, len(CONTENT))
    assert file.generation == client.stat(there).generation
    assert not file.isatty()
    with pytest.raises(io.UnsupportedOperation):
        file.fileno()
    with pytest.raises(io.UnsupportedOperation):
        file.write(b"x")
    assert repr(file) == f"<dataflux.FileReader {there}, at 0 of {len(CONTENT)} bytes>"
    file.close()
    assert repr(file) == f"<dataflux.FileReader {there}, closed>"


def test_reads_of_all_kinds_agree_with_a_file_in_memory(client, there):
    chance = random.Random(2)
    file, memory = client.open(there, block=64 << 10, read_ahead=1 << 20), io.BytesIO(CONTENT)
    for step in range(400):
        what = chance.choice(("read", "read", "read", "seek", "readinto", "read1", "peek",
                              "readline", "ahead"))
        size = chance.choice((0, 1, 10, 1000, 70_000, 200_000, 1_500_000))
        if what == "seek":
            whence = chance.choice((0, 1, 2))
            offset = chance.randrange(len(CONTENT)) - (0, memory.tell(), len(CONTENT))[whence]
            assert file.seek(offset, whence) == memory.seek(offset, whence)
        elif what == "readinto":
            mine, its = bytearray(size), bytearray(size)
            assert file.readinto(mine) == memory.readinto(its)
            assert mine == its
        elif what == "read1":
            got = file.read1(size)
            assert got == memory.read(len(got)) and (got or size == 0 or memory.read(1) == b"")
        elif what == "peek":
            assert file.peek(1)[:1] == memory.getbuffer()[memory.tell():][:1]
        elif what == "readline":
            assert file.readline() == memory.readline()
        elif what == "ahead":
            for _ in range(10):
                assert file.read(50_000) == memory.read(50_000)
        else:
            assert file.read(size) == memory.read(size)
        assert file.tell() == memory.tell(), (step, what)
    file.seek(17)
    assert file.read() == CONTENT[17:] and file.read() == b"" and file.read(5) == b""


@pytest.mark.both_services
def test_lines_come_by_iteration(client, bucket):
    bucket.put("lines", b"one\ntwo\n\nlast")
    with client.open(bucket("lines")) as file:
        assert list(file) == [b"one\n", b"two\n", b"\n", b"last"]
        file.seek(0)
        assert file.readlines(5) == [b"one\n", b"two\n"]


@pytest.mark.both_services
def test_an_empty_object_is_an_empty_file(client, bucket):
    bucket.put("empty")
    with client.open(bucket("empty")) as file:
        assert (file.size, file.read(), file.read(3), file.readinto(bytearray(3))) == (0, b"", b"", 0)
        assert file.read_at(0, 10) == b"" and file.get_ranges([]) == []


def test_behind_the_end_is_nothing(client, there):
    with client.open(there) as file:
        assert file.seek(10, os.SEEK_END) == len(CONTENT) + 10
        assert file.read(1) == b"" and file.read() == b""
        assert file.read_at(len(CONTENT) - 2, 10) == CONTENT[-2:]
        assert file.read_at(1 << 62, 10) == b""
        with pytest.raises(OSError, match="offset"):
            file.seek(-1)


def test_a_closed_reader_says_so(client, there):
    file = client.open(there)
    file.close()
    file.close()
    for call in (file.read, file.tell, file.readable, file.seekable, lambda: file.seek(0),
                 lambda: file.readinto(bytearray(1)), lambda: file.read_at(0, 1),
                 lambda: file.get_ranges([(0, 1)]), lambda: next(file), lambda: pickle.dumps(file)):
        with pytest.raises((ValueError, TypeError)):
            call()


@pytest.mark.both_services
def test_a_small_object_costs_two_requests(client, bucket, emulator):
    bucket.put("small", bytes(16_384))
    costs = []
    for _ in range(10):
        before = requests(emulator)
        with client.open(bucket("small")) as file:
            assert len(file.read()) == 16_384
        costs.append(requests(emulator) - before)
    assert min(costs) == 2  # a machine that is busy may ask once more


def test_small_reads_share_a_request(client, there, emulator):
    with client.open(there) as file:
        before = requests(emulator)
        for at in range(0, 1_000_000, 1000):
            file.seek(at)
            assert file.read(10) == CONTENT[at:at + 10]
        # A block of 1 MiB, and as little more as sequential reading brings of these 3 MB.
        assert requests(emulator) - before <= 4


def test_a_long_read_fills_one_bytes_object(client, there):
    with client.open(there) as file:
        whole = file.read()
        assert type(whole) is bytes and whole == CONTENT


@pytest.mark.parametrize("read", [
    lambda file: file.read_at(-1, 1), lambda file: file.read_at(0, -1),
    lambda file: file.get_ranges([(-1, 2)])])
def test_a_negative_range_is_a_value_error(client, there, read):
    with client.open(there) as file:
        with pytest.raises(ValueError, match="^(offset|size|ranges): "):
            read(file)


def test_read_into_needs_memory_that_can_be_written(client, there):
    with client.open(there) as file:
        for bad in (b"1234", memoryview(bytearray(8))[::2], "text", 5):
            with pytest.raises(TypeError, match="^buffer: "):
                file.read_into_at(0, bad)
        memory = bytearray(10)
        assert file.read_into_at(5, memoryview(memory)[2:6]) == 4
        assert memory == bytes(2) + CONTENT[5:9] + bytes(4)
        memory.extend(b"free again")  # nobody holds it any more


def test_ranges_come_in_their_order(client, there):
    ranges = [(2_000_000, 10), (0, 5), (3, 1_200_000), (77, 0)]
    with client.reader(there) as reader:
        assert reader.get_ranges(ranges) == [CONTENT[a:a + n] for a, n in ranges]
        into = [bytearray(n) for _, n in ranges]
        assert reader.get_ranges(ranges, into=into) is None
        assert into == [CONTENT[a:a + n] for a, n in ranges]
        with pytest.raises(ValueError, match="^into: "):
            reader.get_ranges(ranges, into=into[:-1])
        with pytest.raises(dataflux.Error) as why:
            reader.get_ranges([(0, 1), (len(CONTENT), 1)])
        assert why.value.status == "out_of_range"


def test_threads_read_at_once(client, there):
    wrong = []
    with client.open(there) as file:
        def work(seed):
            chance = random.Random(seed)
            for _ in range(60):
                at, size = chance.randrange(len(CONTENT)), chance.randrange(100_000)
                if file.read_at(at, size) != CONTENT[at:at + size]:
                    wrong.append((at, size))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()
    assert not wrong


@pytest.mark.both_services
def test_a_reader_has_one_generation(client, bucket):
    bucket.put("twice", b"first")
    with client.open(bucket("twice")) as file:
        bucket.put("twice", b"second")
        with pytest.raises(dataflux.Error) as why:
            file.read()
        assert why.value.retryable and why.value.status == "aborted"


def test_a_reader_pickles_with_its_place_and_generation(client, there):
    with client.open(there) as file:
        file.seek(1000)
        again = pickle.loads(pickle.dumps(file))
        with again:
            assert (again.tell(), again.generation, again.url) == (1000, file.generation, there)
            assert again.read(50) == CONTENT[1000:1050]
    with client.reader(there) as reader:
        again = pickle.loads(pickle.dumps(reader))
        assert again.size == len(CONTENT) and again.read_at(9, 9) == CONTENT[9:18]
    with pytest.raises(TypeError, match="closed"):
        pickle.dumps(reader)


@pytest.mark.both_services
def test_what_is_not_there_is_file_not_found(client, bucket):
    with pytest.raises(FileNotFoundError) as why:
        client.open(bucket("nowhere"))
    assert isinstance(why.value, dataflux.NotFoundError)
    assert why.value.filename == bucket("nowhere")


@pytest.mark.both_services
def test_reading_in_sequence_reads_ahead(client, bucket):
    bucket.put("long", bytes(24 << 20))
    with client.open(bucket("long")) as file:
        for _ in range(4):
            file.read(256 << 10)
        # 1 MiB was asked for; what is behind it is on its way although nobody asks.
        chunks = list(file.raw.ahead._chunks)
        for chunk in chunks:
            chunk.reading.wait()
        assert file.tell() == 1 << 20 and chunks[-1].end >= 4 << 20
        file.seek(0)  # elsewhere: it is let go of
        file.read(1)
        assert not file.raw.ahead._chunks
    with client.open(bucket("long"), read_ahead=0) as file:
        for _ in range(8):
            file.read(256 << 10)
        assert not file.raw.ahead._chunks


@pytest.mark.both_services
def test_copying_a_long_object_reads_each_byte_once(client, bucket, emulator):
    content = random.Random(5).randbytes(1 << 20) * 40
    bucket.put("long", content)
    with client.open(bucket("long")) as file:
        before = emulator.counters()
        out = io.BytesIO()
        shutil.copyfileobj(file, out, 64 << 10)
        assert out.getvalue() == content
        sent = emulator.counters()["replyBodyBytes"] - before["replyBodyBytes"]
        # A machine that is busy may ask for some of it once more.
        assert len(content) <= sent < len(content) * 1.3


@pytest.mark.both_services
def test_a_step_over_a_header_is_in_sequence(client, bucket):
    bucket.put("long", bytes(24 << 20))
    with client.open(bucket("long")) as file:
        for _ in range(3):
            file.read(256 << 10)
            file.seek(200_000, os.SEEK_CUR)
        assert file.raw.ahead._chunks
    with client.open(bucket("long")) as file:
        for _ in range(3):
            file.read(256 << 10)
            file.seek(3 << 20, os.SEEK_CUR)
        assert not file.raw.ahead._chunks


@pytest.mark.both_services
def test_what_follows_a_long_read_is_on_its_way(client, bucket):
    bucket.put("long", bytes(40 << 20))
    with client.open(bucket("long")) as file:
        for _ in range(3):
            file.read(300_000)
        assert len(file.read(25 << 20)) == 25 << 20
        chunks = file.raw.ahead._chunks
        assert chunks and chunks[0].start <= file.raw.tell() < chunks[-1].end


@pytest.mark.both_services
def test_long_pieces_with_headers_between_are_read_once(client, bucket, emulator):
    content = random.Random(6).randbytes(1 << 20) * 60
    bucket.put("model", content)
    chance = random.Random(7)
    with client.open(bucket("model")) as file:
        before = emulator.counters()
        while file.tell() < len(content):
            size = chance.choice((4096, 12_288, 700_000, 5_000_000, 17_000_000))
            at = file.tell()
            assert file.read(30) == content[at:at + 30]
            file.seek(46, os.SEEK_CUR)
            memory = bytearray(size)
            got = file.readinto(memory)
            assert memory[:got] == content[at + 76:at + 76 + size]
        sent = emulator.counters()["replyBodyBytes"] - before["replyBodyBytes"]
        assert sent < len(content) * 1.3


# -- Writing ---------------------------------------------------------------------------------------


@pytest.mark.both_services
def test_a_writer_is_a_binary_file(client, bucket):
    url = bucket("new")
    with client.open(url, "wb") as file:
        assert isinstance(file, io.BufferedWriter)
        assert (file.readable(), file.writable(), file.seekable(), file.closed) == (
            False, True, False, False)
        assert (file.mode, file.url) == ("wb", url)
        # pandas 2 takes the name of a BufferedWriter for a place that it writes to by itself.
        assert not hasattr(file, "name")
        assert file.write(b"12") == 2 and file.tell() == 2
        assert file.write(memoryview(CONTENT)) == len(CONTENT)
        file.writelines([b"a", b"b"])
        assert file.tell() == len(CONTENT) + 4 and file.object is None and file.generation == 0
        for call in (file.read, lambda: file.seek(0), file.fileno, lambda: file.truncate(5)):
            with pytest.raises(io.UnsupportedOperation):
                call()
        with pytest.raises(TypeError):
            file.write("text")
        file.flush()
        assert bucket.names() == []
    assert file.closed and bucket.get("new") == b"12" + CONTENT + b"ab"
    assert file.object.size == len(CONTENT) + 4
    assert file.generation == file.object.generation == client.stat(url).generation
    assert repr(file).endswith(f"{len(CONTENT) + 4} bytes, committed>")


@pytest.mark.both_services
def test_an_empty_file_is_an_object(client, bucket):
    client.open(bucket("empty"), "wb").close()
    assert bucket.get("empty") == b""


@pytest.mark.both_services
@pytest.mark.parametrize("memory", [
    b"bytes", bytearray(b"bytes"), memoryview(b"bytes"), memoryview(b"0bytes1")[1:-1]])
def test_anything_with_memory_is_written(client, bucket, memory):
    with client.writer(bucket("new")) as writer:
        assert writer.write(memory) == 5
    assert bucket.get("new") == b"bytes"


@pytest.mark.both_services
@pytest.mark.parametrize("bad", ["text", 5, None, memoryview(b"12345678")[::2]])
def test_other_things_are_a_type_error_that_spoils_nothing(client, bucket, bad):
    with client.writer(bucket("new")) as writer:
        with pytest.raises(TypeError, match="^buffer: "):
            writer.write(bad)
        writer.write(b"good")
    assert bucket.get("new") == b"good"


def test_attributes_go_with_the_object(client, bucket):
    with client.open(bucket("new"), "wb", content_type="text/csv", metadata={"a": "1"},
                     cache_control="no-store") as file:
        file.write(b"x")
    known = file.object._known
    assert (known["contentType"], known["metadata"], known["cacheControl"]) == (
        "text/csv", {"a": "1"}, "no-store")


@pytest.mark.both_services
def test_a_closed_writer_says_so(client, bucket):
    file = client.open(bucket("new"), "wb")
    file.close()
    generation = file.generation
    file.close()
    file.abort()
    for call in (lambda: file.write(b"1"), file.flush, file.tell, file.writable,
                 lambda: file.writelines([b"1"]), file.__enter__, file.commit):
        with pytest.raises(ValueError):
            call()
    assert client.stat(bucket("new")).generation == generation == file.generation


def test_x_refuses_what_is_there_when_it_is_opened(client, there):
    with pytest.raises(FileExistsError) as why:
        client.open(there, "xb")
    assert isinstance(why.value, dataflux.AlreadyExistsError) and why.value.filename == there


@pytest.mark.both_services
def test_x_refuses_at_the_end_what_came_between(client, bucket):
    file = client.open(bucket("new"), "xb")
    file.write(b"late")
    bucket.put("new", b"early")
    with pytest.raises(FileExistsError):
        file.close()
    assert file.closed and bucket.get("new") == b"early"


@pytest.mark.both_services
def test_w_refuses_at_the_end_what_came_between(client, bucket):
    bucket.put("new", b"old")
    file = client.open(bucket("new"), "wb")
    file.write(b"late")
    bucket.put("new", b"early")
    with pytest.raises(dataflux.PreconditionError):
        file.close()
    assert file.closed and bucket.get("new") == b"early"


@pytest.mark.both_services
def test_w_takes_a_generation(client, bucket):
    bucket.put("new", b"old")
    generation = client.stat(bucket("new")).generation
    with client.open(bucket("new"), "wb", if_generation_match=generation) as file:
        file.write(b"new")
    assert bucket.get("new") == b"new"
    with pytest.raises(dataflux.PreconditionError):
        with client.open(bucket("new"), "wb", if_generation_match=generation) as file:
            file.write(b"newer")
    assert bucket.get("new") == b"new"


@pytest.mark.both_services
def test_writer_and_reader_are_what_open_stands_on(client, bucket):
    with client.writer(bucket("new"), size_hint=10) as writer:
        assert writer.write(b"0123456789") == 10 and writer.tell() == 10
        assert repr(writer) == f"<dataflux.Writer {bucket('new')}, 10 bytes, open>"
        made = writer.commit()
    assert (made.size, writer.generation, writer.closed) == (10, made.generation, True)
    with client.reader(bucket("new")) as reader:
        assert (reader.size, reader.generation, reader.url) == (10, made.generation, bucket("new"))
        assert reader.read_at(2, 3) == b"234"
    with pytest.raises(ValueError):
        reader.read_at(0, 1)


# -- Text ------------------------------------------------------------------------------------------


@pytest.mark.both_services
def test_text_is_utf8_and_lines(client, bucket):
    with client.open(bucket("text"), "w") as file:
        assert (file.name, file.mode) == (bucket("text"), "w")
        file.write("größer\n")
        print("zwei", file=file)
    assert bucket.get("text") == "größer\nzwei\n".encode() and file.generation == file.object.generation
    with client.open(bucket("text"), "r") as file:
        assert file.mode == "r" and list(file) == ["größer\n", "zwei\n"]
        file.seek(0)
        assert file.readline() == "größer\n"


@pytest.mark.both_services
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_text_begins_with_the_mark_of_its_encoding(client, bucket, encoding):
    with client.open(bucket("text"), "w", encoding=encoding) as file:
        file.write("größer\n")
        assert file.tell() == len("größer\n".encode(encoding)) and not file.seekable()
        file.write("zwei")
        with pytest.raises(io.UnsupportedOperation):
            file.seek(0)
    assert bucket.get("text") == "größer\nzwei".encode(encoding)
    with client.open(bucket("text"), "r", encoding=encoding) as file:
        assert file.readlines() == ["größer\n", "zwei"]


@pytest.mark.both_services
def test_text_takes_encoding_errors_and_newline(client, bucket):
    with client.open(bucket("text"), "wt", encoding="latin-1", errors="replace",
                     newline="\r\n") as file:
        file.write("ä€\n")
    assert bucket.get("text") == b"\xe4?\r\n"
    with client.open(bucket("text"), "rt", encoding="latin-1", newline="") as file:
        assert file.read() == "ä?\r\n"


# -- Bad input, before any request -----------------------------------------------------------------


@pytest.mark.parametrize("mode, how, kind, text", [
    ("ab", {}, ValueError, "mode: .*appended"), ("a", {}, ValueError, "mode: .*appended"),
    ("r+b", {}, ValueError, "mode: .*in place"), ("w+", {}, ValueError, "mode: .*in place"),
    ("", {}, ValueError, "mode: "), ("U", {}, ValueError, "mode: "), (5, {}, TypeError, "mode: "),
    ("rb", {"encoding": "utf-8"}, ValueError, "encoding: "),
    ("wb", {"newline": ""}, ValueError, "newline: "),
    ("rb", {"metadata": {}}, TypeError, "metadata: "),
    ("wb", {"generation": 1}, TypeError, "generation: "),
    ("wb", {"generatoin": 1}, TypeError, "generatoin: "),
    ("rb", {"block": "big"}, TypeError, "block: "), ("rb", {"cache": -1}, ValueError, "cache: "),
    ("rb", {"read_ahead": -1}, ValueError, "read_ahead: "),
    ("rb", {"timeout": 0}, ValueError, "timeout: "),
    ("wb", {"timeout": "1"}, TypeError, "timeout: "),
    ("wb", {"part_size": 1.5}, TypeError, "part_size: "),
    ("wb", {"size_hint": None}, TypeError, "size_hint: "),
    ("wb", {"if_generation_match": -1}, ValueError, "if_generation_match: "),
    ("xb", {"if_generation_match": 7}, ValueError, "if_generation_match: "),
    ("wb", {"content_type": 7}, TypeError, "content_type: ")])
def test_bad_arguments_are_named_before_any_request(client, bucket, emulator, mode, how, kind, text):
    before = requests(emulator)
    with pytest.raises(kind, match="^" + text):
        client.open(bucket("any"), mode, **how)
    assert requests(emulator) == before


@pytest.mark.both_services
def test_a_text_mode_with_an_unknown_encoding_leaves_nothing_open(client, bucket):
    with pytest.raises(LookupError):
        client.open(bucket("new"), "w", encoding="no-such-encoding")
    gc.collect()
    assert bucket.names() == []


@pytest.mark.both_services
def test_files_that_are_let_go_of_are_freed(client, there, bucket):
    file = client.open(there)
    file.read(10)
    gone = weakref.ref(file._reader)
    del file
    gc.collect()
    assert gone() is None
    with client.open(bucket("new"), "wb") as file:
        gone = weakref.ref(file._writer)
    del file
    gc.collect()
    assert gone() is None and not client._under_way
