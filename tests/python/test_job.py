"""Processes of a job: what they share by each board, and what becomes of those that die."""

import gc
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from fractions import Fraction

import pytest

import dataflux
from service import token_of, wait_until

READS = 1000.0
ALL = 0.98 * READS
LEASE = 1.0

# A process that has joined, does a request, and waits to be killed or told to end.
MEMBER = """
import sys
import dataflux
from service import options_of
client = dataflux.Client(**options_of(sys.argv[1]))
with dataflux.job(sys.argv[2], client=client, rank=int(sys.argv[3]), world_size=2, name="j", lease=1.0) as job:
    print("joined", flush=True)
    if sys.argv[4:]:
        print(len(job.manifest(sys.argv[4]).rows()), flush=True)
    sys.stdin.read()
"""


class Asked:
    """Credentials that count how often they are asked."""

    def __init__(self, emulator):
        self._emulator, self.count = emulator, 0

    def __call__(self):
        self.count += 1
        return token_of(self._emulator.endpoint, os.environ.get("DATAFLUX_TEST_CA")), time.time() + 3600


class Store:
    """What a store of torch.distributed's does here; `down`: its process is gone."""

    def __init__(self):
        self.values, self.down = {}, False

    def _up(self):
        if self.down:
            raise RuntimeError("Connection reset by peer")

    def set(self, key, value):
        self._up()
        self.values[key] = value.encode() if isinstance(value, str) else bytes(value)

    def check(self, keys):
        self._up()
        return all(key in self.values for key in keys)

    def get(self, key):
        self._up()
        return self.values[key]

    def multi_get(self, keys):
        return [self.get(key) for key in keys]

    def compare_set(self, key, expected, desired):
        assert expected == ""
        return self.values.setdefault(key, desired.encode())


@pytest.fixture
def stack():
    with ExitStack() as opened:
        yield opened


@pytest.fixture
def join(emulator, stack, tmp_path):
    """Joins a job by a client of its own."""

    def joined(rank, board=tmp_path, of=2, **more):
        credentials = {"credentials": more.pop("credentials")} if "credentials" in more else {}
        client = stack.enter_context(emulator.client(**credentials))
        more = {"name": "j", "lease": LEASE, "reads": READS, **more}
        return stack.enter_context(dataflux.job(board, client=client, rank=rank, world_size=of, **more))

    return joined


def rates(job):
    return {lane["kind"]: lane["rate"] for lane in job.client.metrics()["pacing"]}


def folder_of(tmp_path, name="j"):
    return tmp_path / f"dataflux-job-{name}"


def test_a_rate_is_shared_from_the_first_request_on(join, bucket):
    bucket.put("o")
    jobs = [join(rank, of=4, lease=3600) for rank in (0, 1)]
    for job in jobs:
        job.client.stat(bucket("o"))
        assert rates(job)["metadata"] <= ALL / 4 * 1.01
    assert jobs[0].living() == 4


def test_what_one_leaves_is_of_the_other_and_a_job_that_is_left_limits_no_more(join, bucket):
    bucket.put("o")
    first, second = join(0), join(1)

    def busy(job):
        job.client.stat(bucket("o"))
        return rates(job)["metadata"]

    busy(second)
    assert busy(first) <= ALL * 0.6
    second.close()
    second.close()
    assert rates(second)["metadata"] == 0
    assert wait_until(lambda: first.living() == 1 and busy(first) > ALL * 0.9)
    with pytest.raises(dataflux.PreconditionError, match="closed"):
        second.living()


def test_a_token_is_asked_for_once(join, emulator, bucket, tmp_path):
    bucket.put("o")
    sources = [Asked(emulator) for _ in range(3)]
    jobs = [join(rank, of=3, credentials=source) for rank, source in enumerate(sources)]
    for job in jobs:
        job.client.stat(bucket("o"))
    assert [source.count for source in sources] == [1, 0, 0]
    folder = folder_of(tmp_path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # Where it is not good any more each asks by itself, and tells the others.
    emulator.revoke_tokens()
    jobs[2].client.stat(bucket("o"))
    assert sources[2].count == 1


def test_a_token_that_nobody_else_has_is_not_waited_for_long(join, emulator, bucket):
    bucket.put("o")
    alone = Asked(emulator)
    job = join(1, credentials=alone)  # rank 0 never comes
    job.client.stat(bucket("o"))
    assert alone.count == 1


@pytest.mark.without_tokens
def test_clients_without_tokens_share_none(join, bucket, tmp_path):
    bucket.put("o")
    for rank in (0, 1):
        join(rank).client.stat(bucket("o"))
    assert json.loads((folder_of(tmp_path) / "token").read_bytes()) == {}


@pytest.mark.parametrize("content", [b"", b"nonsense", b"[]", b'{"token":1,"expires_ns":2}',
                                     b'{"token":"t","expires_ns":5}',
                                     b"[" * 200000, b'{"token":"","expires_ns":9e18}',
                                     b'{"token":"\\ud800","expires_ns":9000000000000000000}',
                                     b'{"token":"a\\nb","expires_ns":9000000000000000000}',
                                     b'{"token":"t","expires_ns":90000000000000000000}',
                                     b'{"token":"t","expires_ns":true}',
                                     b'{"token":"t","expires_ns":1' + b"0" * 400 + b"}"],
                         ids=range(12))
def test_a_token_that_is_damaged_or_old_is_not_taken(join, emulator, bucket, tmp_path, content):
    bucket.put("o")
    source = Asked(emulator)
    job = join(0, credentials=source)
    (folder_of(tmp_path) / "token").write_bytes(content)
    (folder_of(tmp_path) / "rank-1").write_bytes(content)
    other = Asked(emulator)
    again = join(1, credentials=other)
    again.client.stat(bucket("o"))
    job.client.stat(bucket("o"))
    assert source.count == 1


@pytest.mark.parametrize("board", ["folder", "store"])
def test_a_prefix_is_listed_once(join, emulator, bucket, tmp_path, board):
    for number in range(5):
        bucket.put(f"o/{number}.bin", b"x" * number)
    bucket.put("o/other")
    where = tmp_path if board == "folder" else Store()
    jobs = [join(rank, where, of=3) for rank in range(3)]
    before = emulator.answered("objects.list")
    with ThreadPoolExecutor(3) as pool:
        manifests = list(pool.map(lambda job: job.manifest(bucket("o/"), suffix=".bin"), jobs))
        assert emulator.answered("objects.list") - before == 1
        for manifest in manifests:
            assert [row.size for row in manifest.rows()] == [0, 1, 2, 3, 4]
        # Once more is anew; other arguments are another one.
        bucket.put("o/5.bin")
        again = list(pool.map(lambda job: job.manifest(bucket("o/"), suffix=".bin"), jobs))
        assert [len(manifest.rows()) for manifest in again] == [6] * 3
        assert emulator.answered("objects.list") - before == 2
        assert [len(each.rows()) for each in pool.map(lambda job: job.manifest(bucket("o/")), jobs)] == [7] * 3
    # Those that are open live on.
    for job in jobs:
        job.close()
    assert len(manifests[1].rows()) == 5


def test_a_listing_that_fails_raises_where_it_was_made_and_the_others_list(join, emulator, bucket):
    bucket.put("o")
    jobs = [join(rank) for rank in (0, 1)]
    with pytest.raises(dataflux.NotFoundError):
        jobs[0].manifest("gs://no-such-bucket/")
    with pytest.raises(dataflux.NotFoundError):
        jobs[1].manifest("gs://no-such-bucket/")


def test_where_the_first_one_does_not_come_the_next_one_lists(join, bucket):
    bucket.put("o")
    job = join(1)
    with pytest.raises(dataflux.DeadlineError, match="no process of the job"):
        job.manifest(bucket(), timeout=0.01)
    # The second listing of that prefix: none has been made of either.
    assert len(job.manifest(bucket()).rows()) == 1
    assert job.living() == 1


def during_list(monkeypatch, job, does):
    """Calls `does` when the job has listed, before others see that."""
    listed = job._list

    def late(*given):
        listed(*given)
        monkeypatch.setattr(job, "_list", listed)
        does()

    monkeypatch.setattr(job, "_list", late)


def sizes(manifest):
    return [row.size for row in manifest.rows()]


@pytest.mark.parametrize("board", ["folder", "store"])
def test_the_first_listing_holds_for_all(join, bucket, tmp_path, monkeypatch, board):
    bucket.put("o/1", b"x")
    where = tmp_path if board == "folder" else Store()
    first, second, third = (join(rank, where, of=3, lease=3600) for rank in range(3))
    lowest = second._living
    monkeypatch.setattr(second, "_living", lambda: (lowest()[0], 1))  # it thinks the first one dead, which is slow
    seen = []

    def meanwhile():
        bucket.put("o/2", b"yy")
        seen.append(sizes(second.manifest(bucket("o/"))))

    during_list(monkeypatch, first, meanwhile)
    seen += [sizes(job.manifest(bucket("o/"))) for job in (first, third, second)]
    assert seen == [[1, 2]] * 3 + [[1, 2]]
    if board == "folder":
        assert not [path for path in folder_of(tmp_path).iterdir() if path.name.startswith("new-")]


class Stopped(BaseException):
    """As Ctrl-C is."""


@pytest.mark.parametrize("why", [Stopped(), KeyboardInterrupt(), dataflux.DeadlineError("late"), ValueError()])
@pytest.mark.parametrize("of", [1, 2])
def test_a_call_that_fails_is_not_counted(join, bucket, tmp_path, monkeypatch, why, of):
    bucket.put("o/1", b"x")
    jobs = [join(rank, of=2, lease=3600) for rank in range(of)]

    def fails():
        raise why

    during_list(monkeypatch, jobs[0], fails)
    with pytest.raises(type(why)):
        jobs[0].manifest(bucket("o/"), timeout=60)
    told = (folder_of(tmp_path) / "failed-0").read_bytes()
    assert bool(told) == isinstance(why, ValueError)
    assert [sizes(job.manifest(bucket("o/"), timeout=60)) for job in jobs] == [[1]] * of
    assert (folder_of(tmp_path) / "failed-0").read_bytes() == b""
    bucket.put("o/2", b"yy")
    assert [sizes(job.manifest(bucket("o/"), timeout=60)) for job in jobs] == [[1, 2]] * of


def test_one_that_waits_in_vain_asks_for_the_same_listing_again(join, bucket):
    bucket.put("o/1", b"x")
    first, second = join(0, lease=3600), join(1, lease=3600)
    with pytest.raises(dataflux.DeadlineError, match="no process of the job"):
        second.manifest(bucket("o/"), timeout=0.01)
    first.manifest(bucket("o/"))
    bucket.put("o/2", b"yy")
    assert sizes(second.manifest(bucket("o/"), timeout=60)) == [1]


def test_what_failed_in_another_run_is_not_of_this_one(join, tmp_path):
    for _ in range(2):
        with join(0, lease=3600) as job, pytest.raises(dataflux.NotFoundError):
            assert (folder_of(tmp_path) / "failed-0").read_bytes() == b""
            job.manifest("gs://no-such-bucket/")
        assert (folder_of(tmp_path) / "failed-0").read_bytes().startswith(b"listing-")


@pytest.mark.parametrize("when", ["board", "first_token", "thread"])
def test_a_job_that_cannot_begin_limits_nothing(join, emulator, bucket, stack, monkeypatch, when):
    bucket.put("o")
    client = stack.enter_context(emulator.client())
    store = Store()

    def fails(*_):
        raise RuntimeError("no more")

    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="no more"):
        if when == "board":
            patched.setattr(store, "set", fails)
        else:
            patched.setattr(*{"first_token": (dataflux._job.Job, "_first_token"),
                              "thread": (dataflux._threads, "begin")}[when], fails)
        dataflux.job(store, client=client, rank=0, world_size=1000, name="j", reads=1000)
    client.stat(bucket("o"))
    assert [lane["rate"] for lane in client.metrics()["pacing"]] == [0]
    with dataflux.job(Store(), client=client, rank=0, world_size=2, name="j", lease=3600, reads=READS) as job:
        client.stat(bucket("o"))
        assert 0 < rates(job)["metadata"] < ALL


def test_a_client_is_of_one_job(client, tmp_path):
    with dataflux.job(tmp_path, client=client, rank=0, world_size=1, name="a"):
        with pytest.raises(dataflux.PreconditionError, match="of another job"):
            dataflux.job(tmp_path, client=client, rank=0, world_size=1, name="b")
    dataflux.job(tmp_path, client=client, rank=0, world_size=1, name="b").close()


def member(emulator, board, rank, *more):
    process = subprocess.Popen([sys.executable, "-c", MEMBER, emulator.endpoint, str(board), str(rank), *more],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "joined\n"
    return process


def test_a_process_that_is_killed_loses_nothing_for_the_others(join, emulator, bucket, tmp_path):
    bucket.put("o")
    other = member(emulator, tmp_path, 0)
    job = join(1, reads=0)
    with pytest.raises(dataflux.PreconditionError, match="rank 0 of the job in"):
        join(0)
    other.send_signal(signal.SIGSTOP)  # slow, too, is thought dead
    assert wait_until(lambda: job.living() == 1)
    other.send_signal(signal.SIGCONT)
    assert wait_until(lambda: job.living() == 2)
    other.kill()
    other.wait()
    assert wait_until(lambda: job.living() == 1)
    assert len(job.manifest(bucket()).rows()) == 1
    # One that starts again takes part again, and finds what was listed.
    again = member(emulator, tmp_path, 0, bucket())
    assert again.stdout.readline() == "1\n"
    assert wait_until(lambda: job.living() == 2)
    again.communicate("")
    assert again.returncode == 0


@pytest.mark.parametrize("board", ["folder", "store"])
def test_without_the_board_each_goes_on(join, bucket, tmp_path, caplog, board):
    bucket.put("o")
    where = tmp_path if board == "folder" else Store()
    job, other = join(0, where), join(1, where)
    assert wait_until(lambda: job.living() == 2)
    if board == "folder":
        folder_of(tmp_path).rename(tmp_path / "away")
    else:
        where.down = True
    assert wait_until(lambda: job.living() == 1 and other.living() == 1)
    job.client.stat(bucket("o"))
    assert any("the job's board fails" in record.getMessage() for record in caplog.records)
    if board == "folder":
        (tmp_path / "away").rename(folder_of(tmp_path))
    else:
        where.down = False
    assert wait_until(lambda: job.living() == 2 and other.living() == 2)
    if board == "folder":
        with pytest.raises(dataflux.PreconditionError, match="rank 0 of the job"):
            join(0)


def test_two_jobs_share_a_folder_and_nothing_else(join, bucket, tmp_path):
    bucket.put("o")
    jobs = [join(0, name=name) for name in ("a", "b/../c")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dataflux-job-a", "dataflux-job-b%2F..%2Fc"]
    assert wait_until(lambda: all(job.living() == 1 for job in jobs))


def test_a_folder_that_others_may_look_into_is_refused(join, tmp_path):
    folder_of(tmp_path).mkdir(mode=0o755)
    with pytest.raises(dataflux.PreconditionError, match="this user alone"):
        join(0)
    folder_of(tmp_path).rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder_of(tmp_path).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(dataflux.PreconditionError, match="this user alone"):
        join(0)


def test_a_folder_whose_parent_others_may_change_is_refused(join, tmp_path):
    (tmp_path / "all").mkdir()
    (tmp_path / "all").chmod(0o777)
    with pytest.raises(dataflux.PreconditionError, match="others may change"):
        join(0, tmp_path / "all")
    (tmp_path / "all").chmod(0o1777)
    join(0, tmp_path / "all")


def test_folders_that_a_job_makes_are_of_this_user_alone(join, tmp_path):
    before = os.umask(0)
    try:
        join(0, tmp_path / "a" / "b")
    finally:
        os.umask(before)
    for path in (tmp_path / "a", tmp_path / "a" / "b", folder_of(tmp_path / "a" / "b")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_another_folder_in_its_place_gets_nothing(join, tmp_path):
    job = join(0, lease=3600)
    folder_of(tmp_path).rename(tmp_path / "away")
    folder_of(tmp_path).mkdir(mode=0o777)
    folder_of(tmp_path).chmod(0o777)
    job._board.put("token", b"secret")
    assert (tmp_path / "away" / "token").read_bytes() == b"secret"
    with pytest.raises(dataflux.PreconditionError, match="this user alone"):
        job._board.records()
    assert not list(folder_of(tmp_path).iterdir())
    # One of this user's is taken, with its lock.
    folder_of(tmp_path).chmod(0o700)
    job._board.records()
    with pytest.raises(dataflux.PreconditionError, match="rank 0 of the job"):
        join(0)


def test_a_lock_that_is_removed_is_made_again(join, tmp_path):
    job = join(0, lease=3600)
    (folder_of(tmp_path) / "rank-0.lock").unlink()
    job._board.records()
    with pytest.raises(dataflux.PreconditionError, match="rank 0 of the job"):
        join(0)


def test_by_a_link_it_is_the_same_folder(join, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    join(0)
    with pytest.raises(dataflux.PreconditionError, match="rank 0 of the job"):
        join(0, tmp_path / "link")


def test_what_a_killed_process_left_is_removed_by_the_next_of_its_rank(join, tmp_path):
    join(0, lease=3600).close()
    for name in ("new-0-1", "new-0-2.part", "new-1-1"):
        (folder_of(tmp_path) / name).write_bytes(b"x")
    join(0, lease=3600)
    assert [path.name for path in folder_of(tmp_path).glob("new-*")] == ["new-1-1"]


def test_what_is_written_in_part_is_not_seen(join, tmp_path, monkeypatch):
    job = join(0, lease=3600)
    job._board.put("token", b"whole")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space"):
            job._board.put("token", b"x" * 10)
    assert job._board.get("token") == b"whole"
    assert not list(folder_of(tmp_path).glob("new-*"))


@pytest.mark.parametrize("strange", ["folder", "link", "fifo", "big"])
def test_a_strange_entry_is_passed_over(join, tmp_path, strange):
    jobs = [join(rank, of=3, lease=3600) for rank in (0, 1)]
    for name in ("rank-2", "rank-7"):
        path = folder_of(tmp_path) / name
        {"folder": path.mkdir, "link": lambda: path.symlink_to("/etc/passwd"), "fifo": lambda: os.mkfifo(path),
         "big": lambda: path.write_bytes(b"\0\xff" * 500000)}[strange]()
    for job in jobs:
        assert len([text for text in job._board.records() if text.startswith(b"1;")]) == 2
        assert job._look() and not job._silent


def hang(job, monkeypatch, of="records"):
    """From now on the board answers when that is set."""
    inside, on = threading.Event(), threading.Event()

    def hangs(*_):
        inside.set()
        on.wait(300)
        raise RuntimeError("Connection reset by peer")

    monkeypatch.setattr(job._board, of, hangs)
    assert inside.wait(300)
    return on


@pytest.mark.parametrize("what", ["records", "tell"])
def test_a_board_that_hangs_stops_nothing(join, bucket, monkeypatch, what):
    bucket.put("o")
    store = Store()
    job, other = join(0, store), join(1, store)
    assert wait_until(lambda: job.living() == 2)
    on = hang(job, monkeypatch, what)
    try:
        assert wait_until(lambda: job.living() == 1 and other.living() == 1)
        assert wait_until(lambda: job._silent)  # it has warned
        monkeypatch.setattr(dataflux._job, "_LEAVING", 0.01)
        job.close()
        job.client.stat(bucket("o"))
        assert rates(job)["metadata"] == 0
    finally:
        on.set()


def test_a_beat_that_fails_is_not_the_last_one(join, monkeypatch):
    job = join(0)
    beat, beats = job._beat, []

    def fails(records):
        beats.append(records)
        if len(beats) == 1:
            raise MemoryError
        return beat(records)

    monkeypatch.setattr(job, "_beat", fails)
    assert wait_until(lambda: len(beats) > 2 and not job._silent)


@pytest.mark.parametrize("where", ["_leave", "board", "temporary"])
def test_an_interrupted_close_goes_on(join, bucket, tmp_path, monkeypatch, where):
    bucket.put("o")
    job = join(0)

    def interrupted():
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(*{"_leave": (job, "_leave"), "board": (job._board, "close"),
                          "temporary": (job._temporary, "close")}[where], interrupted)
        job.close()
    job.close()
    job.client.stat(bucket("o"))
    assert rates(job)["metadata"] == 0
    join(0).close()  # the rank is free


def test_a_forked_child_takes_nothing_of_its_parent(join, emulator, bucket, tmp_path):
    bucket.put("o/1", b"x")
    jobs = [join(0, bucket("jobs"), of=1), join(0, Store(), of=1), join(0, of=1)]
    manifests = [job.manifest(bucket("o/")) for job in jobs]
    temporary = [jobs[0]._temporary, jobs[1]._board._temporary]
    more, on = os.pipe()
    read, ready = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(on)
        for each in [*jobs, *temporary]:  # as at the interpreter's end
            each.close()
        os.write(ready, b"1")
        os.read(more, 1)
        os._exit(0)
    os.close(ready)
    assert os.read(read, 1) == b"1"
    with pytest.raises(dataflux.PreconditionError, match="rank 0 of the job"):
        join(0, of=1)
    jobs[2]._board._at._pid = 0  # as if it was killed: the lock is closed, and not unlocked
    jobs[2].close()
    join(0, of=1).close()
    os.close(on)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for each in (more, read):
        os.close(each)
    assert all(os.path.isdir(each.path()) for each in temporary)
    assert [sizes(manifest) for manifest in manifests] == [[1]] * 3
    assert any(name.startswith("jobs/j/beat/0/") for name in bucket.names())


def test_a_forked_child_is_no_process_of_the_job(join, bucket, emulator):
    bucket.put("o")
    job = join(0)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            job.client.stat(bucket("o"))
            job.close()
            try:
                job.living()
            except dataflux.PreconditionError:
                code = 0 if rates(job) == {"metadata": 0} else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert job.living() == 2


@pytest.mark.both_services
def test_a_bucket_is_a_board(join, emulator, bucket, client):
    bucket.put("data/o")
    board = bucket("jobs/7")
    jobs = [join(rank, board) for rank in (0, 1)]
    for job in jobs:
        job.client.stat(bucket("data/o"))
    assert wait_until(lambda: all(len(job._board.records()) == 2 for job in jobs))
    for _ in range(2):  # each process has one record, whenever one looks between two beats of its
        names = [name for name in bucket.names() if name.startswith("jobs/7/j/beat/")]
        assert 2 <= len(names) <= 4
    with ThreadPoolExecutor(2) as pool:
        manifests = list(pool.map(lambda job: job.manifest(bucket("data/")), jobs))
    assert [[row.name for row in manifest.rows()] for manifest in manifests] == [["data/o"]] * 2
    assert not any("token" in name for name in bucket.names())
    jobs[1].close()
    assert wait_until(lambda: not any(name.startswith("jobs/7/j/beat/1/") for name in bucket.names()))
    assert wait_until(lambda: jobs[0].living() == 1)


def test_a_job_of_one_process_needs_no_board(client, bucket):
    bucket.put("o")
    with dataflux.job(client=client, reads=READS) as job:
        assert (job.rank, job.world_size, job.living()) == (0, 1, 1)
        assert repr(job) == "dataflux.Job(rank=0, world_size=1)"
        assert len(job.manifest(bucket()).rows()) == 1
        with pytest.raises(TypeError, match="make one in each"):
            job.__reduce__()


def test_a_closed_client_ends_the_beats(join):
    job = join(0)
    job.client.close()
    job.close()
    gc.collect()


@pytest.mark.parametrize("given, what", [
    ({"reads": -1}, "reads"), ({"writes": 0.5}, "writes"), ({"lease": 0}, "lease"),
    ({"lease": 1e9}, "lease"), ({"name": ""}, "name"), ({"rank": 2}, "rank"), ({"rank": None}, "rank"),
    ({"name": None}, "TORCHELASTIC_RUN_ID")])
def test_a_bad_argument_is_a_value_error(client, tmp_path, monkeypatch, given, what):
    monkeypatch.delenv("TORCHELASTIC_RUN_ID", raising=False)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(ValueError, match=what):
        dataflux.job(tmp_path, client=client, **{"rank": 0, "world_size": 2, "name": "j", **given})


@pytest.mark.parametrize("given", [{"reads": "5"}, {"reads": True}, {"writes": [5.0]}, {"lease": "1"}, {"lease": True}])
def test_what_is_no_number_is_a_type_error(client, tmp_path, given):
    with pytest.raises(TypeError, match=f"{next(iter(given))}: .*number .* needed"):
        dataflux.job(tmp_path, client=client, rank=0, world_size=1, name="j", **given)


def test_any_number_will_do(client, tmp_path):
    with dataflux.job(tmp_path, client=client, rank=0, world_size=1, name="j", reads=Fraction(1000), lease=Fraction(1)):
        pass


def test_a_board_is_needed_and_has_to_be_one(client, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="board: give a folder"):
        dataflux.job(client=client, rank=0, world_size=2)
    with pytest.raises(TypeError, match="board"):
        dataflux.job(7, client=client, rank=0, world_size=2, name="j")
    with pytest.raises(TypeError, match="client"):
        dataflux.job(tmp_path, client=7, rank=0, world_size=2, name="j")
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    with dataflux.job(tmp_path, client=client, rank=0, world_size=2, lease=0.1):
        assert folder_of(tmp_path, "4711").is_dir()
