"""Buckets: what is known of them, and what may be done there."""

import asyncio
import pickle
from datetime import datetime, timezone

import pytest

import dataflux


def test_what_is_known_of_a_bucket(client, bucket, emulator):
    emulator.add_bucket(bucket.name, versioning=True)
    found = client.bucket(bucket())
    assert (found.name, found.url) == (bucket.name, bucket())
    assert found.versioning is True and found.hierarchical is False
    assert found.requester_pays is False and found.default_event_based_hold is False
    assert found.location and found.location_type and found.storage_class == "STANDARD"
    assert found.metageneration >= 1 and found.project_number == 1
    assert found.time_created.tzinfo is timezone.utc
    assert found.retention_seconds is None
    assert found.known["name"] == bucket.name
    assert repr(found) == f"<dataflux.Bucket gs://{bucket.name}, {found.location}>"
    assert client.bucket(bucket() + "/") == found and client.bucket(found) == found


def test_settings_that_the_service_gives():
    known = {"name": "b", "hierarchicalNamespace": {"enabled": True},
             "billing": {"requesterPays": True}, "defaultEventBasedHold": True,
             "iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}},
             "softDeletePolicy": {"retentionDurationSeconds": "604800"},
             "retentionPolicy": {"retentionPeriod": "60"}}
    found = dataflux.Bucket(known)
    assert found.hierarchical and found.requester_pays and found.default_event_based_hold
    assert found.uniform_access
    assert (found.soft_delete_seconds, found.retention_seconds) == (604800, 60)
    assert found.location is None and found.time_created is None and found.project_number is None
    assert pickle.loads(pickle.dumps(found)) == found
    assert not dataflux.Bucket({"name": "b"}).uniform_access


def test_a_bucket_that_there_is_not(client):
    with pytest.raises(FileNotFoundError) as caught:
        client.bucket("gs://there-is-no-such-bucket")
    assert caught.value.bucket == "there-is-no-such-bucket"
    with pytest.raises(dataflux.NotFoundError):
        client.permissions("gs://there-is-no-such-bucket", ["storage.objects.get"])


def test_buckets_of_a_project(client, bucket, emulator):
    names = [f"{bucket.name}-{i}" for i in range(3)]
    for name in reversed(names):
        emulator.add_bucket(name)
    found = client.buckets("project", bucket.name + "-")
    assert [each.name for each in found] == names
    assert client.buckets("project", prefix="there-is-no-such") == []
    assert bucket.name in [each.name for each in client.buckets("project")]


def test_buckets_need_a_project(client):
    with pytest.raises(dataflux.Error) as caught:
        client.buckets()
    assert caught.value.status in ("invalid_argument", "failed_precondition")
    assert "project" in str(caught.value)


def test_permissions(client, bucket, emulator):
    asked = ("storage.objects.get", "storage.objects.delete")
    assert client.permissions(bucket(), asked) == frozenset(asked)
    emulator.add_bucket(bucket.name, noDelete=True)
    assert client.permissions(bucket(), iter(asked)) == {"storage.objects.get"}
    emulator.add_bucket(bucket.name, readOnly=True)
    assert client.permissions(bucket(), ["storage.objects.create"]) == frozenset()


def soft_delete(emulator, name):
    emulator.ask("PATCH", f"/storage/v1/b/{name}",
                 b'{"softDeletePolicy": {"retentionDurationSeconds": "3600"}}')


def test_bulk_restore(client, bucket, emulator):
    with pytest.raises(dataflux.InvalidArgumentError, match="soft delete policy"):
        client.bulk_restore(bucket())
    soft_delete(emulator, bucket.name)
    for name in ("a/one", "a/two", "b"):
        client.put(bucket(name), name.encode())
        client.delete(bucket(name))
    done = client.bulk_restore(bucket(), ["a/*"], deleted_after=1.0)
    assert (done.restored, done.skipped, done.failed) == (2, 1, 0) and done.operation
    assert client.get(bucket("a/one")) == b"a/one"
    assert not client.exists(bucket("b"))
    client.put(bucket("b"), b"live")
    assert client.bulk_restore(bucket(), iter(["b"])).restored == 0
    assert client.get(bucket("b")) == b"live"
    assert client.bulk_restore(bucket(), ["b"], overwrite=True).restored == 1
    assert client.get(bucket("b")) == b"b"
    assert client.bulk_restore(bucket(), deleted_before=datetime(2001, 1, 1, tzinfo=timezone.utc)
                               ).restored == 0
    assert pickle.loads(pickle.dumps(done)) == done


def test_bulk_restore_is_awaited(bucket, emulator):
    soft_delete(emulator, bucket.name)

    async def restored():
        async with emulator.async_client() as client:
            await client.put(bucket("x"), b"x")
            await client.delete(bucket("x"))
            return await client.bulk_restore(bucket())

    assert asyncio.run(restored()).restored == 1


def test_failures_and_repeats(client, bucket, emulator):
    emulator.faults({"verb": "buckets.get", "action": "refuse", "count": 1})
    assert client.bucket(bucket()).name == bucket.name
    for verb, call in (("buckets.get", lambda: client.bucket(bucket())),
                       ("buckets.list", lambda: client.buckets("project")),
                       ("buckets.testPermissions",
                        lambda: client.permissions(bucket(), ["storage.objects.get"]))):
        emulator.faults({"verb": verb, "action": "refuse", "status": 403, "count": 0})
        with pytest.raises(PermissionError):
            call()


@pytest.mark.parametrize("kind, text, call", [
    (TypeError, "^url: ", lambda c, u: c.bucket(None)),
    (ValueError, "^url: ", lambda c, u: c.bucket("bucket")),
    (ValueError, "^url: .*names something in a bucket", lambda c, u: c.bucket(u + "/name")),
    (TypeError, "^timeout: ", lambda c, u: c.bucket(u, timeout=True)),
    (TypeError, "^project: ", lambda c, u: c.buckets(1)),
    (ValueError, "^project: it has a NUL", lambda c, u: c.buckets("a\0b")),
    (TypeError, "^prefix: ", lambda c, u: c.buckets("project", b"b")),
    (TypeError, "^names: ", lambda c, u: c.permissions(u, "storage.objects.get")),
    (TypeError, "^names: ", lambda c, u: c.permissions(u, 1)),
    (TypeError, r"^names\[1\]: ", lambda c, u: c.permissions(u, ["a", 1])),
    (ValueError, "^names: 1 to 100", lambda c, u: c.permissions(u, [])),
    (ValueError, "^names: 1 to 100", lambda c, u: c.permissions(u, ["a"] * 101)),
    (TypeError, "^globs: ", lambda c, u: c.bulk_restore(u, "a*")),
    (TypeError, r"^globs\[0\]: ", lambda c, u: c.bulk_restore(u, [b"a*"])),
    (ValueError, "^deleted_after: .*time zone",
     lambda c, u: c.bulk_restore(u, deleted_after=datetime(2026, 1, 1))),
    (ValueError, "^url: .*names something", lambda c, u: c.bulk_restore(u + "/a")),
])
def test_a_wrong_argument_is_named_and_nothing_is_sent(client, bucket, emulator, kind, text, call):
    before = emulator.answered()
    with pytest.raises(kind, match=text):
        call(client, bucket())
    assert emulator.answered() == before
