"""dataflux_pytorch without torch: checkpoints as files, uploads from memory, paths and the filesystem."""

import io
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

import pytest

import dataflux
import google_client
from dataflux_pytorch import dataflux_checkpoint
from dataflux_pytorch.lightning._filesystem import GCSFileSystem
from dataflux_pytorch.lightning.path_utils import parse_gcs_path, process_input_path
from dataflux_pytorch.multipart_upload import multipart

PROJECT = "project"
upload = multipart.upload_chunks_concurrently_from_bytesio


@pytest.fixture
def storage_client(emulator):
    """A dataflux.Client is one that they take, too, and it gives tokens."""
    return emulator.client()


@pytest.fixture
def blobs(emulator):
    """Google's, for blobs. It sends an emulator no tokens."""
    return google_client.Client(emulator.endpoint)


@pytest.fixture
def checkpoint(storage_client, bucket):
    return dataflux_checkpoint.DatafluxCheckpoint(project_name=PROJECT, bucket_name=bucket.name,
                                                  storage_client=storage_client)


@pytest.fixture
def files(storage_client):
    return GCSFileSystem(project_name=PROJECT, debug=True, storage_client=storage_client)


def test_a_checkpoint_is_written_and_read(checkpoint, bucket):
    with checkpoint.writer("run/epoch0.ckpt") as writer:
        pickle.dump({"step": 3}, writer)
        assert bucket.get("run/epoch0.ckpt") is None
    with checkpoint.reader("run/epoch0.ckpt") as reader:
        assert reader.seekable() and reader.seek(0, io.SEEK_END) == len(bucket.get("run/epoch0.ckpt"))
        reader.seek(0)
        assert pickle.load(reader) == {"step": 3}


def test_an_exception_commits_nothing(checkpoint, bucket):
    """The original put what was written so far in place of the good checkpoint."""
    bucket.put("x", b"good")
    with pytest.raises(RuntimeError):
        with checkpoint.writer("x") as writer:
            writer.write(b"half")
            raise RuntimeError
    assert bucket.get("x") == b"good"


def test_a_writer_that_is_let_go_of_commits_nothing(checkpoint, bucket):
    writer = checkpoint.writer("x")
    writer.write(b"half")
    with pytest.warns(ResourceWarning):
        del writer
    assert bucket.get("x") is None


def test_closing_twice_is_fine(checkpoint, bucket):
    writer = checkpoint.writer("x")
    writer.write(b"all")
    writer.close()
    writer.close()
    assert bucket.get("x") == b"all"


def test_a_checkpoint_that_is_not_there(checkpoint):
    with pytest.raises(FileNotFoundError):
        checkpoint.reader("missing")


def test_saving_on_a_thread_of_an_executor(checkpoint, bucket):
    """The original's demo of asynchronous checkpoints, whose futures tell what failed."""
    def save(name, content):
        with checkpoint.writer(name) as writer:
            writer.write(content)

    with ThreadPoolExecutor(max_workers=1) as executor:
        saves = [executor.submit(save, f"checkpoint_{epoch}.pth", b"%d" % epoch) for epoch in range(3)]
        for each in saves:
            each.result()
    assert bucket.get("checkpoint_2.pth") == b"2"


@pytest.mark.without_tokens
@pytest.mark.parametrize("size", [0, 5, 11 << 20])
def test_an_upload_from_memory(blobs, bucket, client, size):
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    memory = io.BytesIO(content)
    blob = blobs.bucket(bucket.name).blob("up")
    blob._patch_property("metadata", {"run": "7"})
    blob._patch_property("cacheControl", "no-store")
    blob._patch_property("contentType", "text/plain")
    assert upload(memory, blob, chunk_size=5 << 20, deadline=60) is None
    assert bucket.get("up") == content
    there = client.stat(bucket("up"))
    assert (there.metadata, there.cache_control, there.content_type) == ({"run": "7"}, "no-store",
                                                                         "text/plain")
    upload(memory, blob, "image/png", retry=None)
    assert client.stat(bucket("up")).content_type == "image/png"
    memory.write(b"")  # it is the caller's again


@pytest.mark.without_tokens
def test_what_an_upload_refuses(blobs, bucket, emulator):
    blob = blobs.bucket(bucket.name).blob("up")
    before = emulator.answered()
    with pytest.raises(ValueError, match="^checksum: "):
        upload(io.BytesIO(b"1"), blob, checksum="sha1")
    with pytest.raises(TypeError, match="^retry_config: "):
        upload(io.BytesIO(b"1"), blob, retry=3)
    blob._encryption_key = b"0" * 32
    with pytest.raises(ValueError, match="^blob: "):
        upload(io.BytesIO(b"1"), blob)
    assert emulator.answered() == before


@pytest.mark.without_tokens
def test_an_upload_past_its_deadline_is_a_timeout(blobs, bucket, emulator):
    # The look at what became of it, too, which may be in time.
    emulator.faults(*({"verb": verb, "action": "stall", "where": "before_reply", "ms": 60000, "count": 0}
                      for verb in ("objects.insert", "objects.get")))
    blob = blobs.bucket(bucket.name).blob("up")
    with pytest.raises(TimeoutError):
        upload(io.BytesIO(b"1"), blob, deadline=0.2)


@pytest.mark.without_tokens
def test_an_upload_names_who_pays(blobs, bucket, emulator):
    emulator.add_bucket(bucket.name, requesterPays=True)
    upload(io.BytesIO(b"1"), blobs.bucket(bucket.name, user_project=PROJECT).blob("up"))
    with pytest.raises(dataflux.Error, match="user.?[pP]roject"):
        upload(io.BytesIO(b"1"), blobs.bucket(bucket.name).blob("up"))


@pytest.mark.parametrize("path, expected", [
    ("gs://bucket/a/b", ("bucket", "a/b")), ("gcs://bucket/a", ("bucket", "a")),
    (Path("gs://bucket/a"), ("bucket", "a")), (PurePosixPath("gcs://bucket/a/b"), ("bucket", "a/b")),
    ("gs://bucket/a//b", ("bucket", "a//b")), ("gs://bucket/a:/b", ("bucket", "a:/b")),
    (Path("gs://bucket/a:/b"), ("bucket", "a:/b")),  # the original failed to unpack it
    (Path("gs://bucket") / "a" / ".metadata", ("bucket", "a/.metadata")),
    ("gs://bucket", ("bucket", "")), ("gs://bucket/", ("bucket", ""))])
def test_paths(path, expected):
    assert parse_gcs_path(path) == expected


@pytest.mark.parametrize("path, kind", [
    ("", ValueError), ("bucket/a", ValueError), (Path("bucket/a"), ValueError), ("gcs://", ValueError),
    ("gs:///a", ValueError), ("s3://bucket/a", ValueError), ("gs:/bucket/a", ValueError), (3, TypeError),
    (None, TypeError), (b"gs://bucket/a", TypeError)])
def test_paths_that_are_none(path, kind):
    with pytest.raises(kind, match="^path: "):
        parse_gcs_path(path)
    assert GCSFileSystem.validate_checkpoint_id(path) is False


def test_a_path_gets_its_slash_back():
    assert process_input_path(Path("gs://bucket/a")) == "gs://bucket/a"
    assert process_input_path("gs://bucket/a//b") == "gs://bucket/a//b"


@pytest.mark.parametrize("made", [str, Path])
def test_the_filesystems_verbs(files, bucket, made):
    path = made(bucket("run/.metadata.tmp"))
    with files.create_stream(path, "wb") as stream:
        stream.write(b"content")
    assert files.exists(path)
    files.rename(path, made(bucket("run/.metadata")))
    assert not files.exists(path) and bucket.get("run/.metadata") == b"content"
    with files.create_stream(files.concat_path(made(bucket("run")), ".metadata"), "rb") as stream:
        assert stream.read() == b"content"
    files.mkdir(made(bucket("run")))
    files.rm_file(made(bucket("run/.metadata")))
    assert bucket.names() == []
    assert files.init_path(path) == Path(path) and GCSFileSystem.validate_checkpoint_id(path)


def test_what_the_filesystem_refuses(files, bucket, emulator):
    before = emulator.answered()
    for mode in ("r", "w", "ab", "invalid_mode"):
        with pytest.raises(ValueError, match="^mode: "):
            with files.create_stream(bucket("x"), mode):
                pass
    with pytest.raises(ValueError, match="^new_path: "):
        files.rename(bucket("x"), "gs://another-bucket/x")
    assert files.exists(bucket()) is False
    for verb in (files.exists, files.rm_file, lambda path: files.rename(path, bucket("y"))):
        with pytest.raises(ValueError, match="^path: "):
            verb("bucket/x")
    assert emulator.answered() == before
    with pytest.raises(FileNotFoundError):
        files.rm_file(bucket("missing"))


def test_a_stream_that_ends_by_an_exception_commits_nothing(files, bucket):
    with pytest.raises(RuntimeError):
        with files.create_stream(bucket("x"), "wb") as stream:
            stream.write(b"half")
            raise RuntimeError
    assert bucket.get("x") is None
