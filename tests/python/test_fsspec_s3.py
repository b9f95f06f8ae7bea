"""dataflux.fsspec on S3: s3fs's arguments, which URLs are ours, and what S3 lacks."""

import pickle
import subprocess
import sys

import fsspec
import pytest

import dataflux
import dataflux.fsspec
from dataflux.fsspec import DatafluxFileSystem, DatafluxS3FileSystem


@pytest.fixture
def which():
    return "s3"


def made(emulator, **how):
    return DatafluxS3FileSystem(key=emulator.key, secret=emulator.secret, endpoint_url=emulator.endpoint,
                                client_kwargs={"region_name": emulator.region},
                                skip_instance_cache=True, **how)


@pytest.fixture
def fs(emulator):
    found = made(emulator)
    yield found
    found.close()


@pytest.fixture
def ours():
    """s3:// is ours until the test's end."""
    from fsspec.registry import _registry

    before = dict(_registry)
    dataflux.fsspec.register("s3")
    yield
    _registry.clear()
    _registry.update(before)


def test_what_is_there(fs, bucket):
    fs.pipe(f"{bucket.name}/a/x", b"123")
    fs.pipe({f"s3://{bucket.name}/a/y": b"4", f"s3a://{bucket.name}/z": b""})
    assert fs.ls(bucket.name) == [f"{bucket.name}/a", f"{bucket.name}/z"]
    assert fs.find(f"s3://{bucket.name}") == [f"{bucket.name}/a/x", f"{bucket.name}/a/y", f"{bucket.name}/z"]
    assert fs.glob(f"{bucket.name}/a/*") == [f"{bucket.name}/a/x", f"{bucket.name}/a/y"]
    assert fs.isdir(f"{bucket.name}/a") and fs.isfile(bucket("a/x")) and not fs.exists(f"{bucket.name}/b")
    assert fs.info(f"{bucket.name}/a/x")["size"] == 3 and fs.isdir(bucket.name)
    assert fs.cat([f"{bucket.name}/a/x", f"{bucket.name}/a/y"]) == {f"{bucket.name}/a/x": b"123", f"{bucket.name}/a/y": b"4"}
    assert fs.cat_ranges([f"{bucket.name}/a/x"] * 2, [0, 1], [1, 3]) == [b"1", b"23"]
    assert fs.unstrip_protocol(f"{bucket.name}/z") == bucket("z")
    with pytest.raises(FileNotFoundError, match=f"s3://{bucket.name}/none"):
        fs.cat_file(f"{bucket.name}/none")


def test_files(fs, bucket):
    with fs.open(bucket("f"), "w") as file:
        file.write("one\n")
    with fs.open(bucket("f"), "a") as file:
        file.write("two\n")
    assert bucket.get("f") == b"one\ntwo\n"
    with fs.open(f"{bucket.name}/f") as file:
        assert file.read(3) == b"one" and file.seek(4) == 4 and file.read() == b"two\n"
    with pytest.raises(FileExistsError):
        fs.open(f"{bucket.name}/f", "x")


def test_changes(fs, bucket, tmp_path):
    for name in ("d/a", "d/b/c"):
        bucket.put(name, name.encode())
    fs.mv(f"{bucket.name}/d", f"{bucket.name}/e", recursive=True)
    assert bucket.names() == ["e/a", "e/b/c"]
    fs.cp(bucket("e/a"), bucket("f"))
    fs.get(bucket("e"), str(tmp_path / "e"), recursive=True)
    assert (tmp_path / "e" / "b" / "c").read_bytes() == b"d/b/c"
    fs.put(str(tmp_path / "e"), f"{bucket.name}/g", recursive=True)
    fs.rm(f"{bucket.name}/e", recursive=True)
    assert bucket.names() == ["f", "g/a", "g/b/c"]


def test_large_objects_are_appended_to_and_joined(fs, bucket):
    bucket.put("large", b"." * (5 << 20))
    fs.merge(f"{bucket.name}/m", [f"{bucket.name}/large", f"{bucket.name}/large"])
    assert bucket.get("m") == b"." * (10 << 20)
    with fs.open(bucket("m"), "ab") as file:
        file.write(b"more")
    assert bucket.get("m") == b"." * (10 << 20) + b"more" and bucket.names() == ["large", "m"]


def test_an_access_point_by_its_arn(fs, tmp_path):
    arn = "arn:aws:s3:eu-west-1:123456789012:accesspoint/p"
    path = f"s3://{arn}/a/b"
    for given in (path, f"s3a://{arn}/a/b", f"{arn}/a/b"):
        assert fs.split_path(given) == (arn, "a/b", None)
    assert [fs._parent(each) for each in (path, f"{arn}/a", f"s3://{arn}/", arn)] == [f"{arn}/a", arn, "", ""]
    assert fs.unstrip_protocol(f"{arn}/a") == f"s3://{arn}/a"
    (tmp_path / "f").write_bytes(b"f")
    calls = [lambda: fs.cat(path), lambda: fs.info(path), lambda: fs.info(arn), lambda: fs.exists(path),
             lambda: fs.isfile(path), lambda: fs.isdir(path), lambda: fs.isdir(arn), lambda: fs.ls(f"s3://{arn}"),
             lambda: fs.ls(path), lambda: fs.find(arn, withdirs=True), lambda: fs.glob(f"{arn}/*/b"),
             lambda: fs.du(path), lambda: fs.rm(path), lambda: fs.rm(f"{arn}/a", recursive=True),
             lambda: fs.pipe(path, b""), lambda: fs.put(str(tmp_path / "f"), path),
             lambda: fs.get(path, str(tmp_path / "g")), lambda: list(fs.walk(arn)), lambda: fs.open(path)]
    for number, call in enumerate(calls):  # here it is another server's
        with pytest.raises(dataflux.InvalidArgumentError, match="stands for a host of AWS") as told:
            call()
        assert told.value.bucket == arn, number
        assert told.value.object in ("", "a/b", None), number
    with pytest.raises(NotImplementedError, match="is a bucket"):
        fs.mkdir(arn)
    with pytest.raises(NotImplementedError, match="is a bucket"):
        fs.rm(f"s3://{arn}/", recursive=True)


def test_what_s3_lacks(fs, bucket):
    bucket.put("large", b".")
    for call in (lambda: fs.ls(""), lambda: fs.setxattrs(f"{bucket.name}/large", a="b")):
        with pytest.raises(dataflux.Error, match="S3") as told:
            call()
        assert told.value.status == "unimplemented"
    for call in (lambda: fs.url(f"{bucket.name}/large"), lambda: fs.sign(f"{bucket.name}/large"),
                 lambda: fs.mkdir("another-bucket"), lambda: fs.rmdir(bucket.name),
                 lambda: fs.rm(bucket.name, recursive=True)):
        with pytest.raises(NotImplementedError, match="aws s3") as told:
            call()
        assert "gcloud" not in str(told.value)


def test_what_s3_lacks_is_refused_when_a_filesystem_is_made(emulator):
    with pytest.raises(ValueError, match="version_aware: a version of S3 has an id"):
        made(emulator, version_aware=True)
    made(emulator, version_aware=False).close()


def test_names_with_line_breaks(fs, bucket):
    names = [f"{bucket.name}/d/{name}" for name in ("0", "1", "a\nb", "a\rb")]
    fs.pipe({name: name.encode() for name in names})
    assert fs.find(f"{bucket.name}/d") == names
    assert fs.cat(names) == {name: name.encode() for name in names}
    fs.cp(names[2], f"{bucket.name}/copied\n")
    assert fs.cat(f"{bucket.name}/copied\n") == names[2].encode()
    fs.rm(f"{bucket.name}/d", recursive=True)
    assert fs.find(bucket.name) == [f"{bucket.name}/copied\n"]


def test_arguments(emulator):
    options = made(emulator, requester_pays=True, token="t").client._options.given
    assert (options["service"], options["region"], options["endpoint"]) == ("s3", emulator.region, emulator.endpoint)
    assert options["requester_pays"] and options["session_token"] == "t" and not options["emulator"]
    again = DatafluxS3FileSystem(anon=True, client_kwargs={"endpoint_url": emulator.endpoint}, default_block_size=1 << 20,
                                 skip_instance_cache=True)
    assert again.client._options.given["anonymous"] and again.block_size == 1 << 20
    assert again.client._options.given["endpoint"] == emulator.endpoint
    assert type(pickle.loads(pickle.dumps(again))) is DatafluxS3FileSystem
    with pytest.raises(TypeError, match="client_kwargs: verify is boto's"):
        DatafluxS3FileSystem(client_kwargs={"verify": False})
    with pytest.raises(ValueError, match="key: it does not go with access_key_id"):
        DatafluxS3FileSystem(key="k", access_key_id="k")
    with pytest.raises(TypeError, match="config_kwargs: there is no such option"):
        DatafluxS3FileSystem(config_kwargs={})
    with pytest.raises(TypeError, match="so that no secret does"):
        pickle.dumps(made(emulator))


def test_registered_on_request(emulator, bucket, ours):
    assert fsspec.get_filesystem_class("s3") is DatafluxS3FileSystem
    assert fsspec.get_filesystem_class("dataflux") is DatafluxFileSystem
    bucket.put("a", b"1")
    with fsspec.open(bucket("a"), key=emulator.key, secret=emulator.secret, endpoint_url=emulator.endpoint,
                     client_kwargs={"region_name": emulator.region}) as file:
        assert file.read() == b"1"


def test_importing_registers_nothing():
    program = ("import fsspec, dataflux.fsspec; from fsspec.registry import _registry; "
               "assert 's3' not in _registry and 'gs' not in _registry")
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_tasks(emulator, bucket):
    import asyncio

    async def main():
        fs = made(emulator, asynchronous=True)
        await fs._pipe_file(f"{bucket.name}/a", b"1")
        return await fs._cat_file(bucket("a")), await fs._ls(bucket.name, detail=False)

    assert asyncio.run(main()) == (b"1", [f"{bucket.name}/a"])
