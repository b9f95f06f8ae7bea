"""Keys of the caller's own, by which the service encrypts objects."""

import base64
import pickle

import pytest

import dataflux

KEY, OTHER = b"SECRET-of-customer-0123456789abc", b"another-key-of-customer-01234567"


@pytest.fixture
def keyed(emulator):
    with emulator.client(encryption_key=KEY) as made:
        yield made


@pytest.fixture
def other(emulator):
    with emulator.client(encryption_key=base64.b64encode(OTHER).decode()) as made:
        yield made


@pytest.mark.both_services
def test_what_is_written_by_a_key_is_read_by_it(client, keyed, other, bucket):
    made = keyed.put(bucket("a"), b"bytes")
    assert keyed.get(bucket("a")) == b"bytes"
    assert keyed.stat(bucket("a")).generation == made.generation
    for without in (client, other):
        with pytest.raises((dataflux.InvalidArgumentError, dataflux.PermissionDeniedError)):
            without.get(bucket("a"))
    client.put(bucket("plain"), b"1")
    with pytest.raises(dataflux.InvalidArgumentError):
        keyed.get(bucket("plain"))


@pytest.mark.both_services
def test_all_ways_of_reading_and_writing(keyed, client, bucket, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(range(256)) * 40_000)  # 10 MB
    keyed.upload(file, bucket("d/file"))
    keyed.put(bucket("d/small"), b"12345")
    with keyed.open(bucket("d/written"), "wb") as writing:
        writing.write(b"written")
    rows = keyed.list(bucket("d/"))
    found = {rows[item.index].name: bytes(item.data) for item in keyed.get_many(rows).items()}
    assert found == {"d/file": file.read_bytes(), "d/small": b"12345", "d/written": b"written"}
    assert keyed.get_ranges(bucket("d/small"), [(1, 2)])[0] == b"23"
    keyed.download(bucket("d/file"), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == file.read_bytes()
    with keyed.open(bucket("d/small")) as reading:
        assert reading.read() == b"12345"
    assert keyed.compose([bucket("d/small"), bucket("d/written")], bucket("d/both")).size == 12
    assert keyed.get(bucket("d/both")) == b"12345written"
    with pytest.raises(dataflux.InvalidArgumentError):
        client.get(bucket("d/both"))
    keyed.delete(bucket("d/both"))


@pytest.mark.both_services
def test_copies_change_the_key(client, keyed, other, bucket):
    client.put(bucket("plain"), b"bytes")
    keyed.copy(bucket("plain"), bucket("a"), source_encryption_key=b"")
    assert keyed.get(bucket("a")) == b"bytes"
    keyed.copy(bucket("a"), bucket("b"))
    assert keyed.get(bucket("b")) == b"bytes"
    keyed.copy(bucket("a"), bucket("b"), encryption_key=OTHER)
    assert other.get(bucket("b")) == b"bytes"
    client.copy(bucket("b"), bucket("c"), source_encryption_key=OTHER, encryption_key=base64.b64encode(KEY).decode())
    assert keyed.get(bucket("c")) == b"bytes"
    keyed.copy(bucket("a"), bucket("b"), encryption_key=b"")
    assert client.get(bucket("b")) == b"bytes"


@pytest.mark.parametrize("kind, given", [
    (ValueError, b"short"), (ValueError, b""), (ValueError, "no base64"), (ValueError, base64.b64encode(b"x" * 31).decode()),
    (TypeError, 32), (TypeError, ["k"])])
def test_what_is_no_key_is_refused(client, bucket, kind, given):
    with pytest.raises(kind, match="^encryption_key: "):
        dataflux.Client(encryption_key=given)
    if given != b"":
        with pytest.raises(kind, match="^source_encryption_key: "):
            client.copy(bucket("a"), bucket("b"), source_encryption_key=given)


def test_a_key_is_not_shown_nor_pickled(keyed, bucket, tmp_path):
    assert "SECRET" not in repr(keyed) and "encryption_key=..." in repr(keyed)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(keyed)
    with pytest.raises(ValueError, match="^cache: "):
        dataflux.Client(encryption_key=KEY, cache=dataflux.Cache(tmp_path / "cache"))
    with pytest.raises(ValueError, match="^encryption_key: it is of Google Cloud Storage and S3"):
        dataflux.Client(encryption_key=KEY, service="ais")
    with pytest.raises(dataflux.InvalidArgumentError, match="plain HTTP") as told:
        dataflux.Client(encryption_key=KEY, endpoint="http://192.0.2.1:80", emulator=True).get(bucket("a"))
    assert "SECRET" not in str(told.value) and base64.b64encode(KEY).decode() not in str(told.value)
    with pytest.raises(dataflux.InvalidArgumentError, match="kms_key_name"):
        keyed.put(bucket("a"), b"", kms_key_name="projects/p/locations/l/keyRings/r/cryptoKeys/k")
