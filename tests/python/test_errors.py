"""What goes wrong, as exceptions."""

import asyncio
import copy
import errno
import pickle

import pytest

import dataflux
from dataflux import _errors
from service import answering

OF_FILES = {
    dataflux.NotFoundError: (FileNotFoundError, errno.ENOENT),
    dataflux.AlreadyExistsError: (FileExistsError, errno.EEXIST),
    dataflux.PermissionDeniedError: (PermissionError, errno.EACCES),
    dataflux.UnauthenticatedError: (PermissionError, errno.EACCES),
    dataflux.DeadlineError: (TimeoutError, errno.ETIMEDOUT),
    dataflux.UnavailableError: (ConnectionError, errno.EIO),
}
KINDS = sorted({dataflux.Error, *_errors.KINDS.values()}, key=lambda kind: kind.__name__)
FIELDS = {"message": "there is no such object", "verb": "objects.get", "bucket": "b",
          "object": "x/ü", "reason": "notFound", "request_id": "r1", "generation": 7,
          "http_status": 404, "attempts": 2, "retryable": True, "outcome_unknown": True,
          "retry_after": 1.5}


def test_what_the_service_says_is_in_the_fields(emulator, bucket, client):
    with pytest.raises(dataflux.NotFoundError) as raised:
        client.stat(bucket("x/ü"), generation=7)
    error = raised.value
    assert (error.status, error.verb, error.bucket, error.object, error.generation,
            error.http_status, error.attempts, error.retryable, error.outcome_unknown,
            error.retry_after) == \
        ("not_found", "objects.get", bucket.name, "x/ü", 7, 404, 1, False, False, 0.0)
    assert error.reason == "notFound" and error.request_id
    assert error.url == bucket("x/ü") and bucket("x/ü") in str(error)
    assert error.message in str(error)


def test_what_is_missing_is_a_missing_file(bucket, client):
    with pytest.raises(FileNotFoundError) as raised:
        client.stat(bucket("x"))
    error = raised.value
    assert (error.errno, error.filename, error.strerror) == \
        (errno.ENOENT, bucket("x"), error.message)
    assert str(error).startswith("not_found in objects.get of gs://")


def test_a_refusal_is_a_permission_error(emulator, bucket, client):
    emulator.faults({"verb": "objects.get", "bucket": bucket.name, "action": "refuse",
                     "status": 403})
    with pytest.raises(PermissionError) as raised:
        client.stat(bucket("x"))
    assert type(raised.value) is dataflux.PermissionDeniedError
    assert raised.value.errno == errno.EACCES


def test_missing_credentials_are_their_own_permission_error(emulator, bucket, client):
    emulator.faults({"verb": "objects.get", "bucket": bucket.name, "action": "refuse",
                     "status": 401, "count": 0})
    with pytest.raises(dataflux.PermissionDeniedError) as raised:
        client.stat(bucket("x"))
    assert type(raised.value) is dataflux.UnauthenticatedError
    assert raised.value.status == "unauthenticated"


def test_what_was_tried_in_vain_says_what_to_do(emulator, bucket, client):
    """As the command does."""
    emulator.faults({"verb": "objects.get", "bucket": bucket.name, "action": "refuse", "status": 503, "count": 0})
    with emulator.client(max_attempts=2) as few, pytest.raises(dataflux.UnavailableError) as raised:
        few.stat(bucket("x"))
    said = str(raised.value)
    assert "attempts 2" in said and said.endswith("; try again later, or allow more attempts (max_attempts)")


def busy_service():
    """A service that cannot serve for half a minute, as it says."""
    return answering(503, {"Retry-After": "30"})


def test_what_a_short_timeout_has_ended_is_no_matter_of_more_attempts():
    with busy_service() as endpoint, dataflux.Client(endpoint=endpoint, emulator=True) as client:
        with pytest.raises(dataflux.UnavailableError) as raised:
            client.stat("gs://bucket/x", timeout=20)
    assert raised.value.attempts == 1 and raised.value.retry_after == 30
    assert "the call's timeout leaves no time for another attempt" in str(raised.value)
    assert str(raised.value).endswith("; try again later, or allow more time (timeout)")


def test_a_limit_that_passes_is_a_timeout(emulator, bucket, client):
    emulator.faults({"verb": "objects.get", "bucket": bucket.name, "action": "stall",
                     "where": "before_reply", "ms": 60_000, "count": 0})
    with pytest.raises(TimeoutError) as raised:
        client.stat(bucket("x"), timeout=0.05)
    assert type(raised.value) is dataflux.DeadlineError
    assert raised.value.errno == errno.ETIMEDOUT
    assert str(raised.value).endswith("; allow more time (timeout)")


@pytest.mark.parametrize("read", [
    lambda client, bucket, folder: client.get(bucket("x/1")),
    lambda client, bucket, folder: client.download(bucket("x/1"), folder / "one"),
    lambda client, bucket, folder: client.download_folder(bucket("x"), folder)])
def test_what_is_damaged_says_what_to_do(emulator, bucket, client, tmp_path, read):
    bucket.put("x/1", b"12345")
    bucket.put("x/2", b"12345")
    emulator.faults({"verb": "objects.media", "object": "x/1", "action": "flip_byte", "count": 0})
    with pytest.raises(dataflux.DataLossError) as raised:
        read(client, bucket, tmp_path)
    assert raised.value.bucket == bucket.name and bucket("x/1") in str(raised.value)
    assert str(raised.value).endswith("; read it again, and where it stays so write the object anew")


def test_failures_of_several_kinds_are_of_none(emulator, bucket, client, tmp_path):
    """Whoever passes over what is missing passes over nothing else."""
    for name in "12":
        bucket.put("x/" + name, b"12345")
    emulator.faults({"verb": "objects.media", "object": "x/1", "action": "refuse", "status": 404,
                     "count": 0},
                    {"verb": "objects.media", "object": "x/2", "action": "refuse", "status": 403,
                     "count": 0})
    for most in (1, 2):
        with pytest.raises(dataflux.Error) as raised:
            client.download_folder(bucket("x"), tmp_path, max_failures=most)
        assert type(raised.value) is dataflux.Error and raised.value.report.failed == 2


def written(client, place):
    with client.open(place, "wb", timeout=2) as file:
        file.write(b"1")


CALLS = {
    "get": lambda client, place: client.get(place, timeout=2),
    "get_many": lambda client, place: list(client.get_many([place], timeout=2)),
    "get_many, told": lambda client, place: list(
        client.get_many([place], timeout=2, on_error="return")),
    "get_ranges": lambda client, place: client.get_ranges(place, [(0, 2), (2, 2)], timeout=2),
    "read_into": lambda client, place: client.read_into(place, bytearray(6), timeout=2),
    "stat": lambda client, place: client.stat(place, timeout=2),
    "list": lambda client, place: client.list(place, timeout=2),
    "put": lambda client, place: client.put(place, b"1", timeout=2),
    "upload": lambda client, place: client.upload(__file__, place, timeout=2),
    "open to write": written,
    "download": lambda client, place: client.download(place, "never", timeout=2),
    "open to read": lambda client, place: client.open(place, "rb", timeout=2).read(),
}


def folder_up(client, place, folder):
    folder.mkdir()
    folder.joinpath("x").write_bytes(b"1")
    client.upload_folder(folder, place, timeout=2)


def folder_down(client, place, folder):
    client.download_folder(place, folder, timeout=2)


# By the verb that the service does not serve.
FOLDERS = {
    "objects.insert": folder_up,
    "objects.media": folder_down,
    "objects.list": folder_down,
}


def met_until(emulator, bucket):
    """One refusal, and no reply after it."""
    bucket.put("x", b"123456")
    verbs = {"bucket": bucket.name}
    emulator.faults({**verbs, "action": "refuse", "status": 503},
                    {**verbs, "action": "stall", "where": "before_reply", "count": 0})


def check_met(why, bucket):
    assert type(why) is dataflux.DeadlineError
    assert why.http_status == 503 and why.attempts == 2 and why.bucket == bucket.name
    assert "timeout has passed" in str(why) and "attempt 2 met: " in str(why)


@pytest.mark.parametrize("call", CALLS)
def test_a_limit_that_passes_tells_what_was_met(emulator, bucket, client, call):
    met_until(emulator, bucket)
    with pytest.raises(dataflux.DeadlineError) as raised:
        CALLS[call](client, bucket("x"))
    check_met(raised.value, bucket)
    if call != "list":
        assert raised.value.object == "x"


@pytest.mark.parametrize("verb", FOLDERS)
def test_the_limit_of_a_folder_tells_what_was_met(emulator, bucket, client, tmp_path, verb):
    bucket.put("p/x", b"123456")
    rule = {"bucket": bucket.name, "verb": verb}
    emulator.faults({**rule, "action": "refuse", "status": 503},
                    {**rule, "action": "stall", "where": "before_reply", "count": 0})
    with pytest.raises(dataflux.DeadlineError) as raised:
        FOLDERS[verb](client, bucket("p"), tmp_path / "t")
    check_met(raised.value, bucket)


def test_the_limit_of_composed_reads_tells_what_was_met(emulator, bucket, client):
    for number in range(20):
        bucket.put(f"o/{number}", b"123456")
    rows = client.list(bucket("o/"))
    rule = {"bucket": bucket.name, "verb": "objects.media"}
    emulator.faults({**rule, "action": "refuse", "status": 503},
                    {**rule, "action": "stall", "where": "before_reply", "count": 0})
    with pytest.raises(dataflux.DeadlineError) as raised:
        list(client.get_many(rows, compose=True, timeout=2))
    check_met(raised.value, bucket)


@pytest.mark.parametrize("many", [False, True])
def test_a_limit_that_passes_in_an_event_loop_tells_what_was_met(emulator, bucket, many):
    met_until(emulator, bucket)

    async def main():
        async with dataflux.AsyncClient(**emulator.options) as client:
            with pytest.raises(dataflux.DeadlineError) as raised:
                if many:
                    async for _ in client.get_many([bucket("x")], timeout=2):
                        pass
                else:
                    await client.get(bucket("x"), timeout=2)
        check_met(raised.value, bucket)

    asyncio.run(main())


def test_a_service_that_cannot_serve_is_a_connection_error(emulator, bucket):
    emulator.faults({"verb": "objects.get", "bucket": bucket.name, "action": "refuse",
                     "status": 503, "count": 0})
    with emulator.client(max_attempts=2) as client, pytest.raises(ConnectionError) as raised:
        client.stat(bucket("x"))
    assert type(raised.value) is dataflux.UnavailableError
    assert (raised.value.retryable, raised.value.attempts) == (True, 2)


def test_what_is_there_already_is_an_existing_file(bucket, client):
    client.put(bucket("x"), b"1")
    with pytest.raises(dataflux.Error) as raised:
        client.put(bucket("x"), b"2", if_generation_match=0)
    assert isinstance(raised.value, (FileExistsError, dataflux.PreconditionError))
    assert bucket.get("x") == b"1"


def test_each_status_has_its_kind():
    for status in ("cancelled", "unknown", "invalid_argument", "deadline_exceeded", "not_found",
                   "already_exists", "permission_denied", "resource_exhausted",
                   "failed_precondition", "aborted", "out_of_range", "unimplemented", "internal",
                   "unavailable", "data_loss", "unauthenticated"):
        error = _errors.of_status(status, "text")
        assert error.status == status
        assert type(error) is _errors.KINDS.get(status, dataflux.Error)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_it_is_made_of_one_text(kind):
    for error in (kind("what went wrong"), kind(message="what went wrong")):
        assert str(error) == "what went wrong" == error.message
        assert error.args == ("what went wrong",)
        assert repr(error) == f"{kind.__name__}('what went wrong')"
        assert error.url == ""
        if kind in OF_FILES:
            of_files, number = OF_FILES[kind]
            assert isinstance(error, of_files)
            assert (error.errno, error.strerror, error.filename) == (number, "what went wrong", None)
        else:
            assert not isinstance(error, OSError)
    # torch's DataLoader asks the class for this, and takes it for one whose text goes by name.
    assert not getattr(kind, "message", None)
    assert str(kind()) == ""


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("how", [
    copy.copy, copy.deepcopy,
    *(lambda error, protocol=protocol: pickle.loads(pickle.dumps(error, protocol))
      for protocol in range(pickle.HIGHEST_PROTOCOL + 1))])
def test_a_copy_and_a_pickle_have_all(kind, how):
    error = kind("the text", **FIELDS)
    error.rank = 3
    if hasattr(error, "add_note"):
        error.add_note("while loading shard 3")
    same = how(error)
    assert type(same) is kind and str(same) == "the text" and same.args == error.args
    for name, value in FIELDS.items():
        assert getattr(same, name) == value, name
    assert same.rank == 3
    assert getattr(same, "__notes__", None) == getattr(error, "__notes__", None)
    if kind in OF_FILES:
        assert (same.errno, same.strerror, same.filename) == \
            (OF_FILES[kind][1], FIELDS["message"], "gs://b/x/ü")


class RowError(dataflux.NotFoundError):
    """A program's own, which is made of something else than a text."""

    def __init__(self, shard, row):
        super().__init__(f"shard {shard} has no row {row}", bucket="b", object=shard)
        self.row = row


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, _errors.again,
                                 lambda error: pickle.loads(pickle.dumps(error)),
                                 lambda error: _errors.after(error, "")()])
def test_a_copy_and_a_pickle_of_a_program_s_own_kind_have_all(how):
    same = how(RowError("x", 7))
    assert type(same) is RowError and str(same) == "shard x has no row 7" and same.args == (str(same),)
    assert (same.bucket, same.object, same.row, same.errno, same.filename) == ("b", "x", 7, errno.ENOENT, "gs://b/x")


class Unmade(dataflux.NotFoundError):
    def __init__(self, number):  # which leaves out that of its base
        self.number = number


class MadeOfTwo(dataflux.Error):
    def __new__(cls, first, second):
        return super().__new__(cls, first, second)

    def __init__(self, first, second):
        super().__init__("two")
        self.both = first + second


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_a_kind_is_copied_however_it_is_made(how):
    same = how(Unmade(5))
    assert type(same) is Unmade and str(same) == str(Unmade(5)) and same.number == 5 and same.bucket == ""
    same = how(MadeOfTwo(1, 2))
    assert type(same) is MadeOfTwo and str(same) == "two" and same.both == 3


def test_an_unknown_field_is_told():
    with pytest.raises(TypeError, match="no field 'objekt'"):
        dataflux.Error("text", objekt="x")


def test_a_cancelled_call_does_not_cancel_a_task_of_asyncio():
    assert not issubclass(dataflux.CancelledError, asyncio.CancelledError)
    assert issubclass(dataflux.CancelledError, Exception)


def test_bad_input_is_a_value_error(bucket, client):
    assert issubclass(dataflux.InvalidArgumentError, ValueError)
    with pytest.raises(ValueError):
        client.stat((bucket.name, "x" * 2000))
