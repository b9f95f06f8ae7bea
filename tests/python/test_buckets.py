"""Buckets: what is known of them, and what may be done there."""

import pickle
from datetime import timezone

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
])
def test_a_wrong_argument_is_named_and_nothing_is_sent(client, bucket, emulator, kind, text, call):
    before = emulator.answered()
    with pytest.raises(kind, match=text):
        call(client, bucket())
    assert emulator.answered() == before
