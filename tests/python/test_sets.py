"""Sets: complete, or not there."""

import os
import pickle
import subprocess
import sys
from datetime import datetime, timezone

import pytest

import dataflux
from service import wait_until

MIB = 1 << 20


def save(client, url, members, **commit):
    """A whole save; members: {name: bytes}."""
    saving = client.checkpoint_set(url)
    saving.begin()
    return write(saving, members, **commit)


def write(saving, members, **commit):
    records = []
    for name, content in members.items():
        with saving.open_member(name) as member:
            member.write(content)
        records.append(member.record)
    return saving.commit(records, **commit)


def content_of(found):
    return {member.name: found.reader(member.name).read_at(0, member.size)
            for member in found.members}


MEMBERS = {"rank-0": b"first" * 1000, "rank-1": b"", "deep/ä 2": bytes(range(256)) * 100}


@pytest.mark.both_services
def test_what_was_committed_is_read_as_it_was(client, bucket):
    done = save(client, bucket("run/1"), MEMBERS, last=".metadata", data=b"the last")
    assert (done.members, done.bytes) == (3, sum(map(len, MEMBERS.values())))
    assert done.last.name == "run/1/.metadata" and done.replaced.objects == 0
    found = client.checkpoint_set(bucket("run/1/")).open()
    assert [member.name for member in found.members] == sorted(MEMBERS, key=str.encode)
    assert [member.size for member in found.members] == \
        [len(MEMBERS[member.name]) for member in found.members]
    assert content_of(found) == MEMBERS
    assert found.reader(found.last).read_at(0, 100) == b"the last"
    assert found.url == bucket("run/1/") and found.bytes == done.bytes
    assert abs(found.committed - datetime.now(timezone.utc)).days == 0
    with pytest.raises(FileNotFoundError):
        found.reader("rank-7")


@pytest.mark.both_services
def test_members_are_files(client, bucket):
    numpy = pytest.importorskip("numpy")
    table, state = numpy.arange(100_000.0).reshape(100, 1000), {"step": 7, "names": ["ä"] * 1000}
    saving = client.checkpoint_set(bucket("run/1"))
    saving.begin()
    with saving.open_file("table", content_type="a/b", metadata={"k": "v"}) as array, \
            saving.open_file("state") as pickled:
        numpy.save(array, table)
        pickle.dump(state, pickled)
        with pytest.raises(ValueError, match="not committed"):
            array.record
    assert isinstance(array, dataflux.FileWriter) and client.stat(array.object).content_type == "a/b"
    with pytest.raises(KeyError):
        with saving.open_file("spoiled") as spoiled:
            spoiled.write(b"half")
            raise KeyError
    saving.commit([array.record, pickled.record])
    found = saving.open()
    assert [member.name for member in found.members] == ["state", "table"]
    with found.open("table") as file:
        assert isinstance(file, dataflux.FileReader) and file.mode == "rb"
        assert numpy.array_equal(numpy.load(file), table)
    with found.open("state", read_ahead=0) as file:
        assert pickle.load(file) == state
    with pytest.raises(FileNotFoundError):
        found.open("none")
    with pytest.raises(ValueError, match="^read_ahead: "):
        found.open("table", read_ahead=-1)
    with pytest.raises(FileExistsError):
        with saving.open_file("table") as again:
            again.write(b"1")


@pytest.mark.both_services
def test_until_it_is_committed_it_is_not_there(client, bucket):
    saving = client.checkpoint_set(bucket("run/1"))
    saving.begin()
    with saving.open_member("a") as member:
        member.write(b"1")
    with pytest.raises(dataflux.PreconditionError):
        saving.open()
    with pytest.raises(dataflux.NotFoundError):
        client.latest_set(bucket("run"))
    there = client.list_sets(bucket("run"))
    assert there.complete == there.damaged == ()
    assert [(each.prefix, each.members, each.bytes, each.last) for each in there.unfinished] == \
        [("run/1/", 1, 1, None)]
    with pytest.raises(FileExistsError):
        saving.begin()
    assert saving.begin(unfinished="replace").objects == 1
    assert bucket.names() == []


@pytest.mark.both_services
def test_a_member_that_is_gone_or_changed_refuses_the_set(client, bucket):
    save(client, bucket("run/1"), MEMBERS)
    bucket.put("run/1/rank-0", b"somebody else's")
    with pytest.raises(dataflux.DataLossError, match="rank-0"):
        client.checkpoint_set(bucket("run/1")).open()
    assert [each.prefix for each in client.list_sets(bucket()).damaged] == ["run/1/"]
    assert "rank-0" in str(client.list_sets(bucket()).damaged[0].why)


@pytest.mark.both_services
def test_the_last_n_are_kept_and_the_newest_is_opened(client, bucket):
    for step in range(4):
        save(client, bucket(f"run/{step}"), {"a": bytes([step]) * 10})
    assert [each.prefix for each in client.list_sets(bucket("run")).complete] == \
        [f"run/{step}/" for step in range(4)]
    assert client.latest_set(bucket("run")).reader("a").read_at(0, 1) == b"\3"
    removed = client.keep_last_sets(bucket("run"), 2)
    assert removed.sets == ("run/0/", "run/1/") and removed.failures == ()
    assert [each.prefix for each in client.list_sets(bucket("run")).complete] == ["run/2/", "run/3/"]
    assert client.remove_sets(bucket("run")).sets == ("run/2/", "run/3/")
    assert bucket.names() == []


@pytest.mark.both_services
def test_an_older_set_is_opened_with_a_warning_and_none_if_all_are_damaged(client, bucket):
    for step in (1, 2):
        save(client, bucket(f"run/{step}"), {"a": b"whole"})
    assert client.latest_set(bucket("run")).passed_over == ()
    bucket.put("run/2/a", b"other")
    says = 'is not the newest: 1 newer set is damaged.*run/2/: .*"a" has changed'
    with pytest.warns(RuntimeWarning, match=says) as told:
        found = client.latest_set(bucket("run"))
    assert told[0].filename == __file__
    assert found.url == bucket("run/1/") and content_of(found) == {"a": b"whole"}
    [damaged] = found.passed_over
    assert damaged.prefix == "run/2/" and isinstance(damaged.why, dataflux.Error)
    bucket.put("run/1/a", b"other")
    with pytest.raises(dataflux.DataLossError, match="2 are damaged, of which the newest is run/2/"):
        client.latest_set(bucket("run"))
    with pytest.raises(dataflux.NotFoundError):
        client.latest_set(bucket("elsewhere"))


def test_a_save_over_a_set_replaces_all_of_it_at_once(client, bucket):
    save(client, bucket("latest"), {"a": b"old", "gone": b"old"})
    before = client.checkpoint_set(bucket("latest")).open()
    saving = client.checkpoint_set(bucket("latest"))
    text = saving.begin_over()
    rank = pickle.loads(pickle.dumps(saving)).over(text)
    with rank.open_member("a") as member:
        member.write(b"newer")
    assert content_of(before) == {"a": b"old", "gone": b"old"}
    done = saving.over(text).commit([member.record])
    assert done.replaced.objects >= 3
    assert content_of(client.checkpoint_set(bucket("latest")).open()) == {"a": b"newer"}
    with pytest.raises(ValueError):
        saving.over("no such text")


@pytest.mark.both_services
def test_the_loser_of_two_saves_at_once_is_told_so(client, bucket):
    saving = client.checkpoint_set(bucket("latest"))
    slow, fast = saving.over(saving.begin_over()), saving.over(saving.begin_over())
    member = slow.open_member("rank-0")
    member.write(bytes(40 * MIB))
    assert wait_until(lambda: any(each.uploads for each in client.list_sets(bucket()).unfinished))
    write(fast, {"rank-0": b"fast"})
    with pytest.raises(dataflux.Error, match="another save of this set was committed meanwhile") as told:
        member.write(bytes(40 * MIB))
        member.commit()
    assert told.value.status == "aborted" and told.value.object.endswith("/rank-0")
    assert content_of(saving.open()) == {"rank-0": b"fast"}


@pytest.mark.without_tokens
def test_ranks_are_processes_and_records_are_texts(client, emulator, bucket):
    client.checkpoint_set(bucket("run/1")).begin()
    program = ("import sys, dataflux\n"
               "with dataflux.Client() as client:\n"
               "    with client.checkpoint_set(sys.argv[1]).open_member(sys.argv[2]) as member:\n"
               "        member.write(sys.argv[2].encode() * 100_000)\n"
               "    print(member.record)\n")
    ranks = [subprocess.Popen([sys.executable, "-c", program, bucket("run/1"), name], text=True,
                              stdout=subprocess.PIPE, env={**os.environ, **emulator.environment})
             for name in ("r0", "r1", "r2")]
    records = [rank.communicate(timeout=120)[0].strip() for rank in ranks]
    assert client.checkpoint_set(bucket("run/1")).commit(records).members == 3
    assert client.latest_set(bucket()).reader("r2").read_at(199_998, 100) == b"r2"


@pytest.mark.both_services
def test_a_member_that_failed_is_not_committed(client, bucket):
    saving = client.checkpoint_set(bucket("run/1"))
    saving.begin()
    with pytest.raises(RuntimeError, match="stop"), saving.open_member("a") as member:
        member.write(b"half of")
        raise RuntimeError("stop")
    with pytest.raises(ValueError, match="is not committed"):
        member.record
    assert bucket.names() == []


@pytest.mark.both_services
def test_what_is_open_for_an_unfinished_set_is_counted(client, bucket, emulator):
    # On S3 the first write by condition asks whether conditions hold, by an upload of its own.
    client.put(bucket("asked"), b"", if_generation_match=0)
    saving = client.checkpoint_set(bucket("run/1"))
    member = saving.over(saving.begin_over()).open_member("rank-0")
    member.write(bytes(40 * MIB))
    assert wait_until(lambda: [each.uploads for each in client.list_sets(bucket()).unfinished] == [1])
    unfinished, = client.list_sets(bucket("run")).unfinished
    assert unfinished.prefix.startswith("run/1/.dataflux-save-") and unfinished.members == unfinished.bytes == 0
    report = client.remove_sets(bucket("run"))
    assert report.uploads == 1 and report.sets == (unfinished.prefix,) and report.objects == 0
    with pytest.raises(dataflux.Error):
        member.commit()
    # Who may not list them is told.
    emulator.faults({"verb": "multipart.list", "action": "refuse", "status": 403, "count": 0})
    found = client.list_sets(bucket())
    assert "permission_denied" in str(found.uploads_unknown) and not found.unfinished
    emulator.faults()
    assert client.list_sets(bucket()).uploads_unknown is None


def test_members_and_the_last_object_have_what_they_are_given(client, bucket):
    key = "projects/p/locations/l/keyRings/r/cryptoKeys/k"
    saving = client.checkpoint_set(bucket("run/1"))
    with saving.open_member("rank-0", custom_time=1e9, kms_key_name=key) as member:
        member.write(b"x")
    made = saving.commit([member.record], kms_key_name=key)
    for name in (made.last.name, made.manifest, "run/1/rank-0"):
        assert client.stat(bucket(name)).kms_key_name.startswith(key)
    assert client.stat(bucket("run/1/rank-0")).custom_time.timestamp() == 1e9
    for bad, error in ((7, TypeError), ("", ValueError), ("a\0", ValueError)):
        with pytest.raises(error, match="kms_key_name"):
            saving.commit([], kms_key_name=bad)


@pytest.mark.parametrize("call, argument", [
    (lambda c: c.checkpoint_set("gs://bucket"), "url"),
    (lambda c: c.checkpoint_set(3), "url"),
    (lambda c: c.checkpoint_set("gs://b/p", timeout="1"), "timeout"),
    (lambda c: c.checkpoint_set("gs://b/p").begin(unfinished="no"), "unfinished"),
    (lambda c: c.checkpoint_set("gs://b/p").open_member(3), "name"),
    (lambda c: c.checkpoint_set("gs://b/p").open_member(""), "name"),
    (lambda c: c.checkpoint_set("gs://b/p").open_member("a", size_hint="1"), "size_hint"),
    (lambda c: c.checkpoint_set("gs://b/p").open_member("a", metadata=3), "metadata"),
    (lambda c: c.checkpoint_set("gs://b/p").open_member("a", content_encoding="x"),
     r"open_member\(\) got .*'content_encoding'"),
    (lambda c: c.checkpoint_set("gs://b/p").open_file("a", cache_control="x"),
     r"open_file\(\) got .*'cache_control'"),
    (lambda c: c.checkpoint_set("gs://b/p").commit([b"x"]), "records"),
    (lambda c: c.checkpoint_set("gs://b/p").commit([], data="x"), "data"),
    (lambda c: c.checkpoint_set("gs://b/p").commit([], last=3), "last"),
    (lambda c: c.checkpoint_set("gs://b/p").open(last="\0"), "last"),
    (lambda c: c.checkpoint_set("gs://b/p").over(3), "text"),
    (lambda c: c.keep_last_sets("gs://b", 1), "url"),
    (lambda c: c.keep_last_sets("gs://b/p", 0), "count"),
    (lambda c: c.remove_sets("gs://b"), "url"),
])
def test_bad_input_is_told_by_its_argument_without_a_request(client, emulator, call, argument):
    before = emulator.answered()
    with pytest.raises((TypeError, ValueError), match=f"^{argument}"):
        call(client)
    assert emulator.answered() == before


@pytest.mark.both_services
def test_what_is_open_belongs_to_its_process(client, bucket):
    save(client, bucket("run/1"), MEMBERS)
    found = client.checkpoint_set(bucket("run/1")).open()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            try:
                found.reader("rank-0")
            except dataflux.PreconditionError:
                again = client.checkpoint_set(bucket("run/1")).open()
                status = 0 if content_of(again) == MEMBERS else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert content_of(found) == MEMBERS
