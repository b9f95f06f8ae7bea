"""Leftovers: what killed uploads and reads have left in a bucket."""

import pickle
from datetime import timezone

import pytest

import dataflux

TEMPORARY = "dataflux-uploads/0123456789abcdef-data%2Fbig.bin"
FOREIGN = "dataflux-uploads/somebody's"


@pytest.fixture
def left(bucket, emulator):
    """A temporary object, an open upload, and one of somebody else's."""
    bucket.put(TEMPORARY, b"12345")
    bucket.put(FOREIGN, b"123")
    bucket.put("data/good", b"x")
    emulator.ask("POST", f"/{bucket.name}/data/%C3%A4.bin?uploads", b"")
    return bucket


def test_what_there_is(client, left):
    found = client.find_leftovers(left())
    assert (found.stale, found.young, found.foreign, found.failed) == (0, 2, 1, 0)
    rows = {row.name: row for row in found.rows}
    row = rows[TEMPORARY]
    assert (row.kind, row.verdict, row.target) == ("temporary_object", "young", "data/big.bin")
    assert row.whole_target is True and row.size == 5 and row.noncurrent is False
    assert row.generation > 0 and row.upload_id is None and row.error is None
    assert row.began.tzinfo is timezone.utc and row.age >= 0
    assert rows[FOREIGN].verdict == "foreign"
    upload = next(row for row in found.rows if row.kind == "upload")
    assert upload.target == "data/ä.bin" and upload.upload_id and upload.generation is None
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(AttributeError):
        found.stale = 3
    with pytest.raises(AttributeError):
        del row.kind


def test_which_are_asked_for(client, left):
    assert client.find_leftovers(left(), kinds=["composites"]).rows == ()
    uploads = client.find_leftovers(left(), kinds=("uploads", "composites"))
    assert len(uploads.rows) == 3
    some = client.find_leftovers(left("data/b"), kinds=["uploads"])
    assert [row.name for row in some.rows] == [TEMPORARY]
    assert client.find_leftovers(left(), older_than=3600).stale == 0
    every = client.find_leftovers(left(), older_than=0)
    assert (every.stale, every.stale_bytes, every.foreign) == (2, 5, 1)


def test_what_is_stale_goes_and_nothing_else(client, left, emulator):
    assert client.remove_leftovers(left()).stale == 0
    assert left.get(TEMPORARY) == b"12345"
    gone = client.remove_leftovers(left(), older_than=0)
    assert (gone.stale, gone.failed) == (2, 0)
    assert sorted(left.names()) == ["data/good", FOREIGN]
    assert b"<UploadId>" not in emulator.ask("GET", f"/{left.name}?uploads")
    assert client.find_leftovers(left(), older_than=0).stale == 0


def test_one_that_cannot_be_removed_is_a_row(client, left, emulator):
    emulator.faults({"verb": "objects.delete", "action": "refuse", "status": 403, "count": 0})
    gone = client.remove_leftovers(left(), older_than=0)
    assert gone.failed == 1
    row = next(row for row in gone.rows if row.verdict == "failed")
    assert row.name == TEMPORARY and "permission_denied" in row.error


def test_failures(client, emulator, left):
    with pytest.raises(dataflux.NotFoundError):
        client.find_leftovers("gs://there-is-no-such-bucket")
    emulator.faults({"verb": "multipart.list", "action": "refuse", "status": 403, "count": 0},
                    {"verb": "objects.list", "action": "refuse", "status": 403, "count": 0})
    with pytest.raises(PermissionError):
        client.remove_leftovers(left(), older_than=0)


@pytest.mark.parametrize("kind, text, call", [
    (TypeError, "^url: ", lambda c, u: c.find_leftovers(3)),
    (TypeError, "^kinds: names in a list", lambda c, u: c.find_leftovers(u, kinds="uploads")),
    (TypeError, "^kinds: ", lambda c, u: c.find_leftovers(u, kinds=1)),
    (ValueError, "^kinds: 'sets' is none of", lambda c, u: c.remove_leftovers(u, kinds=["sets"])),
    (ValueError, "^kinds: an empty list", lambda c, u: c.remove_leftovers(u, kinds=[])),
    (TypeError, "^older_than: ", lambda c, u: c.remove_leftovers(u, older_than="1h")),
    (TypeError, "^older_than: ", lambda c, u: c.remove_leftovers(u, older_than=False)),
    (ValueError, "^older_than: ", lambda c, u: c.remove_leftovers(u, older_than=-1)),
    (ValueError, "^timeout: ", lambda c, u: c.find_leftovers(u, timeout=-1)),
])
def test_a_wrong_argument_is_named_and_nothing_is_sent(client, bucket, emulator, kind, text, call):
    before = emulator.answered()
    with pytest.raises(kind, match=text):
        call(client, bucket())
    assert emulator.answered() == before
