"""A KeyboardInterrupt that comes between any two bytecodes of a file stays one, though C code calls
them; and nothing appears but what was written."""

import gc

import pytest

from interrupts import interrupted_at

LONG = bytes(range(256)) * 1000  # longer than a buffer
CONTENT = b"short" + LONG
SOURCES = ("_file.py", "_file_reader.py", "_file_writer.py", "_text_file_writer.py", "_writer.py",
           "_ahead.py", "_reader.py")

# A file that was let go of before anybody had it says so, as it should.
pytestmark = [pytest.mark.usefixtures("only_new"), pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning")]


def interrupted_everywhere(work, look, least):
    """Once at each third bytecode; look() after each."""
    number = 1
    while interrupted_at(number, work, SOURCES):
        gc.collect()
        look()
        number += 3
    assert number > least


def test_an_interrupt_of_a_file_that_is_written_stays_one(client, bucket):
    def write():
        with client.open(bucket("it"), "wb", if_generation_match=0) as file:
            file.write(b"short")
            file.write(LONG)
            assert file.tell() == len(CONTENT)
            file.flush()

    def look():
        assert bucket.get("it") in (None, CONTENT)  # the commit may have been over
        client.delete(bucket("it"), missing_ok=True)

    interrupted_everywhere(write, look, 500)
    assert bucket.get("it") == CONTENT


def test_an_interrupt_of_a_text_that_is_written_stays_one(client, bucket):
    text = "line\n" * 50_000

    def write():
        with client.open(bucket("it"), "w", if_generation_match=0) as file:
            file.write("one\n")
            file.write(text)

    def look():
        assert bucket.get("it") in (None, b"one\n" + text.encode())
        client.delete(bucket("it"), missing_ok=True)

    interrupted_everywhere(write, look, 500)


def test_an_interrupt_of_a_file_that_is_read_stays_one(client, bucket):
    bucket.put("it", CONTENT * 5)

    def read():
        with client.open(bucket("it")) as file:
            assert file.read(5) == b"short"
            file.seek(len(CONTENT))
            assert file.read(5) == b"short"
            for _ in range(5):
                assert len(file.read(100_000)) == 100_000
            assert file.readinto(bytearray(200_000)) == 200_000
            assert file.read()[-5:] == CONTENT[-5:]

    interrupted_everywhere(read, lambda: None, 500)
