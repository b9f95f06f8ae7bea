"""AsyncClient's sets: each test runs on all kinds of event loops."""

import gc
import pickle
from functools import partial

import pytest

import dataflux
from loops import at_once, run, until  # noqa: F401, a fixture

anyio = pytest.importorskip("anyio")
MEMBERS = {"rank-0": b"first" * 1000, "rank-1": b"", "deep/ä 2": bytes(range(256)) * 100}


@pytest.fixture
def opened(emulator):
    """Opens an AsyncClient."""
    return partial(dataflux.AsyncClient, **emulator.options)


async def write(saving, members, **commit):
    """Members at once, and the commit."""
    async def one(name, content):
        async with await saving.open_member(name) as member:
            await member.write(content)
        return member.record

    records = await at_once(*(partial(one, *each) for each in members.items()))
    return await saving.commit(records, **commit)


async def content_of(found):
    readers = {member.name: await found.reader(member.name) for member in found.members}
    return {name: await reader.read_at(0, reader.size) for name, reader in readers.items()}


def test_what_was_committed_is_read_as_it_was(run, opened, client, bucket):
    async def main():
        async with opened() as mine:
            saving = mine.checkpoint_set(bucket("run/1"))
            assert (await saving.begin()).objects == 0
            done = await write(saving, MEMBERS, last=".metadata", data=b"the last")
            assert (done.members, done.bytes) == (3, sum(map(len, MEMBERS.values())))
            for found in (await saving.open(), await saving.open(last=".metadata"),
                          await mine.latest_set(bucket("run"))):
                assert [member.name for member in found.members] == sorted(MEMBERS, key=str.encode)
                assert await content_of(found) == MEMBERS
                async with await found.reader(found.last) as last:
                    assert await last.read_at(0, 100) == b"the last"
                assert (found.url, found.bytes) == (bucket("run/1/"), done.bytes)
                with pytest.raises(FileNotFoundError):
                    await found.reader("rank-7")
            assert mine._under_way == {}

    run(main)
    # What tasks have committed is what Client opens.
    there = client.checkpoint_set(bucket("run/1")).open()
    assert {m.name: there.reader(m.name).read_at(0, m.size) for m in there.members} == MEMBERS


def test_an_older_set_is_opened_with_a_warning(run, opened, bucket):
    async def main():
        async with opened() as client:
            for step in (1, 2):
                saving = client.checkpoint_set(bucket(f"run/{step}"))
                await saving.begin()
                await write(saving, {"a": b"whole"})
            bucket.put("run/2/a", b"other")
            with pytest.warns(RuntimeWarning, match="1 newer set is damaged") as told:
                found = await client.latest_set(bucket("run"))
            assert told[0].filename == __file__
            assert [each.prefix for each in found.passed_over] == ["run/2/"]

    run(main)


def test_until_it_is_committed_it_is_not_there(run, opened, bucket):
    async def main():
        async with opened() as client:
            saving = client.checkpoint_set(bucket("run/1"))
            await saving.begin()
            member = await saving.open_member("a")
            await member.write(b"1")
            with pytest.raises(ValueError, match="is not committed"):
                member.record
            await member.commit()
            with pytest.raises(dataflux.PreconditionError):
                await saving.open()
            with pytest.raises(dataflux.NotFoundError):
                await client.latest_set(bucket("run"))
            with pytest.raises(FileExistsError):
                await saving.begin()
            assert (await saving.begin(unfinished="replace")).objects == 1

    run(main)
    assert bucket.names() == []


def test_a_save_over_a_set_replaces_all_of_it_at_once(run, opened, bucket):
    async def main():
        async with opened() as client:
            saving = client.checkpoint_set(bucket("latest"))
            await write(saving, {"a": b"old", "gone": b"old"})
            before = await saving.open()
            text = await saving.begin_over()
            rank = pickle.loads(pickle.dumps(saving)).over(text)
            async with await rank.open_member("a") as member:
                await member.write(b"newer")
            assert await content_of(before) == {"a": b"old", "gone": b"old"}
            done = await saving.over(text).commit([member.record])
            assert done.replaced.objects >= 3
            assert await content_of(await saving.open()) == {"a": b"newer"}
            with pytest.raises(ValueError):
                saving.over("no such text")
            rank._client.close()

    run(main)


def test_members_are_files(run, opened, bucket):
    async def main():
        async with opened() as client:
            saving = client.checkpoint_set(bucket("run/1"))
            await saving.begin()
            async with await saving.open_file("lines") as file:
                await file.write(b"one\ntwo\n")
                await file.write(b"three\n")
            assert isinstance(file, dataflux.AsyncFileWriter)
            await saving.commit([file.record])
            found = await saving.open()
            async with await found.open("lines") as file:
                assert isinstance(file, dataflux.AsyncFileReader)
                assert [line async for line in file] == [b"one\n", b"two\n", b"three\n"]
            with pytest.raises(FileNotFoundError):
                await found.open("none")

    run(main)


def test_a_member_of_a_block_that_fails_or_is_cancelled_is_not_committed(run, opened, bucket,
                                                                        emulator):
    async def main():
        async with opened(upload_memory=16 << 20) as client:
            saving = client.checkpoint_set(bucket("run/1"))
            with pytest.raises(KeyError):
                async with await saving.open_member("a") as member:
                    await member.write(b"half of")
                    raise KeyError
            assert member.closed and member.object is None
            emulator.faults({"verb": "multipart.part", "action": "stall", "where": "before_reply",
                             "count": 0})
            members = []

            async def write():
                async with await saving.open_member("b", part_size=8 << 20) as member:
                    members.append(member)
                    await member.write(bytes(100 << 20))

            async with anyio.create_task_group() as group:
                group.start_soon(write)
                await until(lambda: members and members[0].tell() >= 8 << 20)
                emulator.faults()
                group.cancel_scope.cancel()
            assert members[0].closed
            with pytest.raises(ValueError, match="is not committed"):
                members[0].record

    run(main)
    assert bucket.names() == []


def test_a_member_that_is_let_go_of_is_aborted_with_a_warning(run, opened, bucket):
    async def main():
        async with opened() as client:
            member = await client.checkpoint_set(bucket("run/1")).open_member("a")
            await member.write(b"12345")
            with pytest.warns(ResourceWarning, match="run/1/a was written and never closed"):
                del member
                gc.collect()

    run(main)


def test_cancelling_a_commit_commits_all_or_nothing(run, opened, bucket, emulator):
    async def main():
        async with opened() as client:
            saving = client.checkpoint_set(bucket("run/1"))
            async with await saving.open_member("a") as member:
                await member.write(b"12345")
            emulator.faults({"action": "stall", "where": "before_reply", "count": 0})
            data, before = bytearray(b"last"), emulator.answered()
            async with anyio.create_task_group() as group:
                group.start_soon(partial(saving.commit, [member.record], data=data))
                await until(lambda: emulator.answered() > before)
                emulator.faults()
                group.cancel_scope.cancel()
            data += b"x"  # BufferError while it is lent
            await until(lambda: client._under_way == {})
            try:
                assert await content_of(await saving.open()) == {"a": b"12345"}
            except dataflux.PreconditionError:
                pass

    run(main)


@pytest.mark.parametrize("call, argument", [
    (lambda c: c.checkpoint_set("gs://bucket").begin(), "url"),
    (lambda c: c.checkpoint_set(3).begin(), "url"),
    (lambda c: c.checkpoint_set("gs://b/p", timeout="1").begin(), "timeout"),
    (lambda c: c.checkpoint_set("gs://b/p").begin(unfinished="no"), "unfinished"),
    (lambda c: c.checkpoint_set("gs://b/p").open_member(3), "name"),
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
    (lambda c: c.checkpoint_set("gs://b/p").over(3).begin(), "text"),
    (lambda c: c.latest_set(3), "url"),
])
def test_bad_input_is_told_by_its_argument_without_a_request(run, opened, emulator, call, argument):
    async def main():
        async with opened() as client:
            before = emulator.answered()
            with pytest.raises((TypeError, ValueError), match=f"^{argument}"):
                await call(client)
            assert emulator.answered() == before

    run(main)
