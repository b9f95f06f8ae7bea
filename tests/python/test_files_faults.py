"""Files never commit by accident, and never hang: exceptions, garbage, exits, forks, signals."""

import contextlib
import gc
import gzip
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import tarfile
import threading
import warnings
import zipfile

import pytest

import dataflux
from service import SlowRoad, wait_until

LONG = bytes(24 << 20)  # several parts, which are sent while it is written


class Passing(Exception):
    pass


def uploads(emulator, bucket):
    """How many are open in the bucket."""
    return emulator.ask("GET", f"/{bucket.name}?uploads").count(b"<UploadId>")


@contextlib.contextmanager
def nothing_committed(bucket, emulator, leftovers=0):
    """What was there stays, and what was sent is removed but for `leftovers` uploads."""
    bucket.put("it", b"as it was")
    yield bucket("it")
    gc.collect()
    assert bucket.names() == ["it"] and bucket.get("it") == b"as it was"
    assert uploads(emulator, bucket) <= leftovers


# -- Exceptions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"short", LONG], ids=["short", "long"])
@pytest.mark.parametrize("kind", [Passing, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_that_leaves_with_aborts(client, bucket, emulator, kind, content):
    with nothing_committed(bucket, emulator) as url:
        with pytest.raises(kind):
            with client.open(url, "wb") as file:
                file.write(content)
                file.flush()
                raise kind
        assert file.closed and file.object is None


def test_an_exception_aborts_a_writer_and_text(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        with pytest.raises(Passing):
            with client.writer(url) as writer:
                writer.write(b"half")
                raise Passing
        with pytest.raises(Passing):
            with client.open(url, "w") as file:
                file.write("half")
                raise Passing
        assert writer.closed and file.closed


def by_finally(file):
    try:
        raise Passing
    finally:
        file.close()


def by_exit_stack(file):
    with contextlib.ExitStack() as stack:
        stack.callback(file.close)
        raise Passing


def by_closing(file):
    with contextlib.closing(file):
        raise Passing


def by_a_generator(file):
    def lines():
        try:
            yield 1
        finally:
            file.close()

    for _ in lines():
        raise Passing


def by_a_buffered_writer(file):
    with io.BufferedWriter(file) as over:
        over.write(b"more")
        raise Passing


def by_a_text_wrapper(file):
    with io.TextIOWrapper(file) as over:
        over.write("more")
        raise Passing


def by_a_python_file(file):
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.PythonFile(file, "w") as over:
        over.write(b"more")
        raise Passing


@pytest.mark.parametrize("way", [by_finally, by_exit_stack, by_closing, by_a_buffered_writer,
                                 by_a_text_wrapper, by_a_python_file])
def test_close_while_an_exception_passes_aborts_and_says_so(client, bucket, emulator, way):
    with nothing_committed(bucket, emulator) as url:
        file = client.open(url, "wb")
        file.write(b"half")
        with pytest.warns(RuntimeWarning, match=f"{url} was not committed: .*Passing"):
            with pytest.raises(Passing):
                way(file)
        assert file.closed and file.object is None


def test_close_by_a_generator_that_is_given_up_aborts(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        file = client.open(url, "wb")
        file.write(b"half")
        with pytest.warns(RuntimeWarning, match="was not committed"):
            with pytest.raises(Passing):
                by_a_generator(file)
            gc.collect()
        assert file.closed


def in_zipfile(file):
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("whole", b"1")
        raise Passing


def in_a_member_of_zipfile(file):
    with zipfile.ZipFile(file, "w") as archive, archive.open("half", "w") as member:
        member.write(b"1")
        raise Passing


def in_tarfile(file):
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("whole"))
        raise Passing


def in_a_tar_stream(file):
    with tarfile.open(fileobj=file, mode="w|gz") as archive:
        archive.addfile(tarfile.TarInfo("whole"))
        raise Passing


def in_gzip(file):
    with gzip.open(file, "wb") as packed:
        packed.write(b"1")
        raise Passing


def in_pickle(file):
    class Bad:
        def __reduce__(self):
            raise Passing

    pickle.dump([b"1" * 100_000, Bad()], file)


@pytest.mark.parametrize("inside", [in_zipfile, in_a_member_of_zipfile, in_tarfile, in_a_tar_stream,
                                    in_gzip, in_pickle])
def test_an_exception_in_what_is_on_top_aborts(client, bucket, emulator, inside):
    with nothing_committed(bucket, emulator) as url:
        with pytest.raises(Passing):
            with client.open(url, "wb") as file:
                inside(file)
        assert file.closed and file.object is None


@pytest.mark.parametrize("inside", [in_zipfile, in_tarfile, in_gzip])
def test_an_exception_where_nobody_closes_aborts(client, bucket, emulator, inside):
    with nothing_committed(bucket, emulator) as url:
        with pytest.warns(ResourceWarning, match=url):
            with pytest.raises(Passing) as why:
                inside(client.open(url, "wb"))
            del why
            gc.collect()


def test_a_with_inside_an_except_commits(client, bucket):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            raise Passing
        except Passing:
            with client.open(bucket("with"), "wb") as file:
                file.write(b"1")
            file = client.open(bucket("close"), "wb")
            file.write(b"2")
            file.close()
            with io.TextIOWrapper(client.open(bucket("text"), "wb")) as over:
                over.write("3")
            try:
                raise KeyError
            except KeyError:
                file = client.open(bucket("nested"), "wb")
            file.close()
    assert bucket.names() == ["close", "nested", "text", "with"]


def test_close_in_a_later_except_aborts_and_commit_commits(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        file = client.open(url, "wb")
        text = client.open(url, "w")
        try:
            raise Passing
        except Passing:
            with pytest.warns(RuntimeWarning, match=f"{url} was not committed.*commit"):
                file.close()
            with pytest.warns(RuntimeWarning, match=f"{url} was not committed.*commit"):
                text.close()
    file = client.open(bucket("it"), "wb")
    file.write(b"new")
    try:
        raise Passing
    except Passing:
        assert file.commit().size == 3
    assert file.closed and bucket.get("it") == b"new"


def test_an_exception_that_is_over_commits(client, bucket):
    file = client.open(bucket("it"), "wb")
    try:
        raise Passing
    except Passing:
        file.write(b"1")
    file.close()
    assert bucket.get("it") == b"1"


def test_abort_is_quiet_and_final(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        for file in (client.open(url, "wb"), client.open(url, "w"), client.writer(url)):
            file.write("text" if hasattr(file, "encoding") else LONG)
            file.abort()
            assert file.closed
            file.abort()
            with pytest.raises(ValueError):
                file.write("text" if hasattr(file, "encoding") else b"1")
        file = client.open(url, "wb")
        with file:
            file.abort()


# -- Failures of the service -----------------------------------------------------------------------


def refuse(emulator, bucket):
    """Everything, from now on."""
    emulator.faults({"bucket": bucket.name, "action": "refuse", "status": 403, "count": 0})


def test_a_write_that_failed_cannot_be_committed(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        file = client.open(url, "wb")
        refuse(emulator, bucket)
        with pytest.raises(PermissionError):
            for _ in range(20):
                file.write(LONG)
            file.flush()
        with pytest.raises(dataflux.PreconditionError, match="a write failed"):
            file.close()
        assert file.closed and file.object is None
        emulator.faults()


def test_a_commit_that_failed_is_an_error_of_close_and_with(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        for open_ in (lambda: client.open(url, "wb"), lambda: client.open(url, "w"),
                      lambda: client.writer(url)):
            for end in ("close", "commit", "__exit__"):
                file = open_()
                if not hasattr(file, end):
                    file.abort()
                    continue
                file.write("1" if hasattr(file, "encoding") else b"1")
                refuse(emulator, bucket)
                with pytest.raises(PermissionError):
                    getattr(file, end)(*([None] * 3 if end == "__exit__" else ()))
                emulator.faults()
                assert file.closed and file.object is None


def test_an_error_of_a_wrappers_flush_aborts(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        file = client.open(url, "wb")
        over = io.TextIOWrapper(file, "utf-8")
        over.write("kept back")
        refuse(emulator, bucket)
        with pytest.raises(PermissionError):
            over.close()
        assert file.closed
        emulator.faults()


def test_so_many_files_are_written_at_a_time_and_more_are_refused(client, bucket):
    files = [client.open(bucket(f"usual/{number}"), "wb") for number in range(12)]
    for file in files:
        file.write(b"1")
        file.close()
    files = [client.open(bucket(f"small/{number}"), "wb", part_size=8 << 20) for number in range(32)]
    with pytest.raises(dataflux.ResourceExhaustedError, match="end some of them.*raise upload_memory"):
        client.open(bucket("more"), "wb", part_size=8 << 20)
    files.pop().close()
    files.append(client.open(bucket("more"), "wb", part_size=8 << 20))
    for file in files:
        file.write(b"1")
    for file in files:
        file.close()
    assert len(bucket.names()) == 12 + 33 and bucket.get("small/0") == b"1"


@pytest.mark.parametrize("mode", ["wb", "w"])
def test_the_time_limit_of_a_written_file_is_of_all_of_it(client, bucket, emulator, mode):
    with nothing_committed(bucket, emulator, leftovers=1) as url:
        emulator.faults({"verb": "objects.insert", "bucket": bucket.name, "action": "stall",
                         "where": "before_reply", "requestBytes": 1, "count": 0, "ms": 600_000})
        file = client.open(url, mode, timeout=2)
        file.write("1" if mode == "w" else b"1")
        with pytest.raises(TimeoutError):
            file.close()
        assert file.closed
        emulator.faults()


def test_a_read_of_a_file_has_the_limits_of_the_client(bucket, emulator):
    bucket.put("it", bytes(9 << 20))
    with emulator.client(stall_timeout=1, first_byte_timeout=1, max_attempts=2) as client, \
            client.open(bucket("it"), timeout=120) as file:
        emulator.faults({"verb": "objects.media", "bucket": bucket.name, "action": "stall",
                         "where": "before_reply", "count": 0, "ms": 600_000})
        with pytest.raises(dataflux.Error) as why:
            file.read()
        assert why.value.retryable and why.value.attempts == 2
        emulator.faults()
        assert file.read() == bytes(9 << 20)  # from where it was


def test_a_closed_client_is_an_error_and_commits_nothing(emulator, bucket):
    with nothing_committed(bucket, emulator) as url:
        with dataflux.Client(**emulator.options) as client:
            file, reader = client.open(url, "wb"), client.open(url)
            file.write(b"1")
        with pytest.raises(dataflux.Error):
            file.close()
        assert file.closed
        with pytest.raises(dataflux.Error):
            reader.read()
        reader.close()


# -- Nobody closes it ------------------------------------------------------------------------------


def in_a_cycle(file):
    ring = [file]
    ring.append(ring)


@pytest.mark.parametrize("leave", [
    lambda file: None, in_a_cycle, lambda file: io.BufferedWriter(file).write(b"more"),
    lambda file: io.TextIOWrapper(file).write("more"), lambda file: in_a_cycle(io.TextIOWrapper(file)),
    lambda file: gzip.GzipFile(fileobj=file, mode="wb").write(b"more"),
    lambda file: zipfile.ZipFile(file, "w").writestr("more", b"more")],
    ids=["file", "cycle", "BufferedWriter", "TextIOWrapper", "cycle of a TextIOWrapper", "GzipFile",
         "ZipFile"])
def test_what_is_let_go_of_aborts_with_a_warning(client, bucket, emulator, leave):
    with nothing_committed(bucket, emulator) as url:
        with pytest.warns(ResourceWarning, match=f"{url} was written and never closed"):
            file = client.open(url, "wb")
            file.write(LONG)
            leave(file)
            del file
            gc.collect()


def test_a_writer_and_text_that_are_let_go_of_abort_with_a_warning(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        for make in (lambda: client.writer(url), lambda: client.open(url, "w")):
            with pytest.warns(ResourceWarning, match=f"{url} was written and never closed"):
                file = make()
                file.write("half" if hasattr(file, "encoding") else b"half")
                del file
                gc.collect()


def test_a_raw_file_never_commits(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        file = client.open(url, "wb")
        file.write(b"half")
        raw = file.detach()
        raw.close()
        assert raw.closed


def program(emulator, bucket, body, *, flags=("-X", "dev"), **more):
    """A Python of its own that runs `body` with `client`, `url` and `LONG`."""
    head = (f"import dataflux, io, os, signal, sys, threading, time\n"
            f"from service import options_of\n"
            f"options = options_of({emulator.endpoint!r})\n"
            f"options['endpoint'] = {more.pop('endpoint', emulator.endpoint)!r}\n"
            f"client = dataflux.Client(**options{more.pop('options', '')})\n"
            f"url = {bucket('it')!r}\nLONG = bytes(24 << 20)\n")
    return subprocess.Popen([sys.executable, *flags, "-c", head + body], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE,
                            env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)), **more)


AT_EXIT = {
    "global": "file = client.open(url, 'wb'); file.write(LONG)",
    "text": "file = client.open(url, 'w'); file.write('half')",
    "writer": "file = client.writer(url); file.write(LONG)",
    "on top": "file = io.TextIOWrapper(client.open(url, 'wb')); file.write('half')",
    "client closed": "file = client.open(url, 'wb'); file.write(b'1'); keep = [file]; keep.append(keep)",
    "function": "def main():\n  file = client.open(url, 'wb'); file.write(b'1'); sys.exit(0)\nmain()",
    "thread": "def main():\n  global file\n  file = client.open(url, 'wb'); file.write(LONG)\n"
              "t = threading.Thread(target=main); t.start(); t.join()",
    "daemon": "there = threading.Event()\ndef main():\n  file = client.open(url, 'wb')\n"
              "  while True:\n    file.write(LONG); there.set()\n"
              "threading.Thread(target=main, daemon=True).start(); there.wait()",
}


@pytest.mark.parametrize("how", AT_EXIT)
def test_what_is_open_at_the_interpreters_end_aborts_with_a_warning(emulator, bucket, how):
    # Nobody may abort a writer that a daemon thread is inside of: what it sent is a leftover.
    with nothing_committed(bucket, emulator, leftovers=how == "daemon") as url:
        child = program(emulator, bucket, AT_EXIT[how])
        _, errors = child.communicate(timeout=120)
        assert child.returncode == 0, errors
        assert errors.count(f"ResourceWarning: {url} was written and never closed") == 1, errors
        assert "Exception ignored" not in errors, errors
        assert "Traceback" not in errors, errors


def test_without_dev_mode_an_exit_is_silent_and_commits_nothing(emulator, bucket):
    with nothing_committed(bucket, emulator):
        child = program(emulator, bucket, AT_EXIT["global"], flags=())
        assert child.communicate(timeout=120) == ("", "") and child.returncode == 0


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_killed_has_committed_nothing(emulator, bucket, sig):
    bucket.put("it", b"as it was")
    child = program(emulator, bucket, "file = client.open(url, 'wb')\nfile.write(LONG)\n"
                                      "print('written', flush=True)\nsys.stdin.read()\n")
    assert child.stdout.readline() == "written\n"
    child.send_signal(sig)
    child.communicate(timeout=60)
    assert child.returncode == -sig
    assert bucket.get("it") == b"as it was"


# -- Signals ---------------------------------------------------------------------------------------

SLOW = {
    "write": ("file = client.open(url, 'wb'); room = 2",
              "told()\n    while True: file.write(LONG); room -= 1"),
    "close": ("file = client.open(url, 'wb'); file.write(LONG)", "told(); file.close()"),
    "read": ("file = client.open(url)", "told(); file.read()"),
    "read ahead": ("file = client.open(url)", "told()\n    while file.read(300_000): pass"),
    "ranges": ("file = client.reader(url)", "told(); file.get_ranges([(0, 20 << 20), (1, 1)])"),
}


# Where a thread waits for the library.
WAITS = {("_wait.py", "_record"), ("_writer.py", "_write"), ("_reader.py", "wait")}


@pytest.mark.parametrize("what", SLOW)
def test_ctrl_c_ends_what_waits(emulator, bucket, what):
    bucket.put("it", LONG)
    road = SlowRoad(emulator.endpoint, 200_000)
    before, body = SLOW[what]
    try:
        child = program(
            emulator, bucket, f"""
room = 0  # how many writes do not wait
def waits(frame):
    while frame and (os.path.basename(frame.f_code.co_filename), frame.f_code.co_name) not in {WAITS}:
        frame = frame.f_back
    return frame
def tell(thread):
    while room or not waits(sys._current_frames()[thread]):
        time.sleep(0.01)
    print("waits", flush=True)
def told():
    threading.Thread(target=tell, args=(threading.get_ident(),), daemon=True).start()
{before}
try:
    {body}
except KeyboardInterrupt:
    print("interrupted", flush=True)
try:
    file.close()
except dataflux.PreconditionError as why:
    print("refused", flush=True)
""", endpoint=road.endpoint, options=", upload_memory=64 << 20", flags=())
        assert child.stdout.readline() == "waits\n"
        # What is under way takes the road minutes.
        if what in ("write", "close"):
            assert wait_until(lambda: uploads(emulator, bucket) > 0)
        else:
            assert wait_until(lambda: road.brought > 100_000)
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=60)
        assert output == ("interrupted\nrefused\n" if what == "write" else "interrupted\n"), errors
        assert child.returncode == 0, errors
    finally:
        road.close()
    assert bucket.get("it") == LONG and uploads(emulator, bucket) == 0


# -- Forks -----------------------------------------------------------------------------------------


def in_child(work):
    """What `work` gives in a forked child, as text."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = work()
        except BaseException as why:
            text = f"{type(why).__name__}: {why}"
        os.write(into, text.encode()[:4000])
        os._exit(0)
    os.close(into)
    with open(out, "rb") as pipe:
        text = pipe.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return text


def test_a_reader_opens_again_in_a_forked_child(client, bucket):
    content = os.urandom(3 << 20)
    bucket.put("it", content)
    with client.open(bucket("it")) as file, client.reader(bucket("it")) as reader:
        for _ in range(4):
            file.read(200_000)  # something is under way
        at = file.tell()

        def work():
            ok = file.read() == content[at:] and reader.read_at(5, 5) == content[5:10]
            return f"{ok} {file.generation}"

        assert in_child(work) == f"True {file.generation}"
        assert file.read() == content[at:]


def test_a_writer_is_an_error_in_a_forked_child_which_spoils_nothing(client, bucket):
    file, text = client.open(bucket("it"), "wb"), client.open(bucket("text"), "w")
    file.write(b"by the parent")

    def work():
        told = []
        for call in (lambda: file.write(b"short"), lambda: text.write("short"),
                     lambda: file.write(b"child" * 100_000), file.flush, file.commit):
            try:
                call()
                told.append("nothing")
            except dataflux.PreconditionError as why:
                told.append("child of it" if "forked child" in str(why) else str(why))
        file.abort()
        file.close()
        text.close()
        return " ".join(told)

    assert in_child(work) == " ".join(["child of it"] * 5)
    assert in_child(lambda: gc.collect() and "" or "left") == "left"
    file.close()
    text.close()
    assert bucket.get("it") == b"by the parent" and bucket.get("text") == b""


def test_a_forked_child_that_exits_leaves_the_parents_file_alone(emulator, bucket):
    child = program(emulator, bucket, """
file = client.open(url, 'wb'); text = client.open(url + "-text", 'w')
file.write(b'parent'); text.write('parent')
if os.fork() == 0:
    sys.exit(0)
os.wait()
file.close(); text.close()
""")
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 0 and "never closed" not in errors, errors
    assert (bucket.get("it"), bucket.get("it-text")) == (b"parent", b"parent")


# -- Threads, pickles, offsets ---------------------------------------------------------------------


def test_a_writer_refuses_a_second_thread_at_once(client, bucket):
    writer = client.writer(bucket("it"))
    writer._lock.acquire()  # as a write of another thread has it
    try:
        for call in (lambda: writer.write(b"1"), writer.commit, writer.abort):
            with pytest.raises(dataflux.PreconditionError, match="another thread"):
                call()
    finally:
        writer._lock.release()
    writer.write(b"1")
    assert writer.commit().size == 1


def test_a_file_is_written_by_threads_one_after_another(client, bucket):
    with client.open(bucket("it"), "wb") as file:
        def work(letter):
            for _ in range(200):
                file.write(letter * 5000)

        threads = [threading.Thread(target=work, args=(letter,)) for letter in (b"a", b"b", b"c")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()
    content = bucket.get("it")
    assert len(content) == 3_000_000
    assert all(content[at:at + 5000] == content[at:at + 1] * 5000
               for at in range(0, len(content), 5000))


def test_what_is_written_cannot_be_pickled(client, bucket, emulator):
    with nothing_committed(bucket, emulator) as url:
        for file in (client.open(url, "wb"), client.open(url, "w"), client.writer(url)):
            with pytest.raises(TypeError):
                pickle.dumps(file)
            file.abort()


def test_offsets_past_4_gib(client, bucket, emulator):
    def compose(name, names):
        emulator.ask("POST", f"/storage/v1/b/{bucket.name}/o/{name}/compose",
                     json.dumps({"sourceObjects": [{"name": one} for one in names]}).encode())

    bucket.put("piece", bytes(4 << 20))
    bucket.put("end", b"0123456789")
    compose("row", ["piece"] * 32)  # 128 MiB, which share their memory
    compose("most", ["row"] * 31 + ["end"])
    compose("long", ["most", "row", "row", "end"])  # the second end is past 4 GiB
    size = 33 * (128 << 20) + 20
    with client.open(bucket("long")) as file:
        assert file.size == size and size > 4 << 30
        assert file.seek(-12, os.SEEK_END) == size - 12
        assert file.read() == b"\0\0" + b"0123456789"
        assert file.read_at(size - 5, 100) == b"56789"
        assert file.get_ranges([(size - 3, 3), (0, 2)]) == [b"789", b"\0\0"]
        file.seek(5 << 30)
        assert file.read() == b""
        assert pickle.loads(pickle.dumps(file)).tell() == 5 << 30
