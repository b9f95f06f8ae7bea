"""The client in processes that are not plain ones: sub-interpreters, options of the interpreter, pools of
processes, standard streams that are closed."""

import os
import subprocess
import sys

import pytest

LIMIT = 60


def run(program, emulator, bucket, *options, **how):
    how = {"stdin": subprocess.DEVNULL, "capture_output": True} | how
    return subprocess.run([sys.executable, "-X", "dev", "-W", "error", *options, "-c", program,
                           emulator.endpoint, bucket("x")], text=True, timeout=LIMIT, **how)


CREATE = """
import sys
try:
    import _interpreters as them
except ImportError:
    them = __import__("_xxsubinterpreters")
one = them.create(KIND)
program = 'import sys; sys.path[:] = %r; sys.argv = %r' % (sys.path, sys.argv) + '''
try:
    import dataflux
    from service import options_of
    dataflux.Client(**options_of(sys.argv[1])).exists(sys.argv[2])
except ImportError as why:
    print(why, flush=True)
'''
them.run_string(one, program)
them.destroy(one)
"""


@pytest.mark.parametrize("isolated", [False, True], ids=["shared", "isolated"])
def test_a_sub_interpreter_is_refused(isolated, emulator, bucket):
    if sys.version_info >= (3, 13):
        kind = repr("isolated" if isolated else "legacy")
    else:
        kind = f"isolated={isolated}"
    done = run(CREATE.replace("KIND", kind), emulator, bucket)
    assert (done.returncode, done.stderr) == (0, "")
    assert "sub-interpreter" in done.stdout or "subinterpreter" in done.stdout


USE = """
import sys
sys.path[:0] = %r
import dataflux
from service import options_of
with dataflux.Client(**options_of(sys.argv[1])) as client:
    client.put(sys.argv[2], b"1234")
    assert client.get(sys.argv[2]) == b"1234" or sys.exit(3)
    items = list(client.get_many([sys.argv[2]] * 3).items())
    assert [len(item.data) for item in items] == [4] * 3 or sys.exit(4)
    try:
        client.get(sys.argv[2] + "none")
    except dataflux.NotFoundError:
        sys.exit(5)
"""


@pytest.mark.parametrize("options", [["-O"], ["-OO"], ["-I", "-S"], ["-X", "importtime"], ["-b"]],
                         ids=" ".join)
def test_options_of_the_interpreter_change_nothing(options, emulator, bucket):
    done = run(USE % (sys.path,), emulator, bucket, *options)
    assert done.returncode == 5, done.stderr


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr", "all"])
def test_closed_streams_change_nothing(closed, emulator, bucket):
    numbers = [0, 1, 2] if closed == "all" else [("stdin", "stdout", "stderr").index(closed)]
    program = f"import os; [os.close(each) for each in {numbers}]" + USE % (sys.path,)
    assert run(program, emulator, bucket).returncode == 5


def test_a_closed_stderr_loses_no_call_that_shows_a_bar(emulator, bucket):
    bucket.put("x", b"1234")
    done = run("""
import sys, os
import dataflux
from service import options_of
sys.stderr = sys.stdout = None
with dataflux.Client(**options_of(sys.argv[1])) as client:
    assert len(client.list(sys.argv[2], progress=True)) == 1 or os._exit(4)
    assert sum(len(batch) for batch in client.get_many([sys.argv[2]], progress=True)) == 1 or os._exit(5)
os._exit(7)
""", emulator, bucket)
    assert done.returncode == 7


def test_exit_at_once_is_one(emulator, bucket):
    bucket.put("x", b"1234")
    done = run("""
import os, sys, threading
import dataflux
from service import options_of
client = dataflux.Client(**options_of(sys.argv[1]))
threads = [threading.Thread(target=client.get, args=(sys.argv[2],)) for _ in range(8)]
for thread in threads:
    thread.start()
os._exit(9)
""", emulator, bucket)
    assert (done.returncode, done.stderr) == (9, "")


POOL = """
import concurrent.futures, multiprocessing, sys, warnings
import dataflux
from service import options_of
warnings.simplefilter("ignore", DeprecationWarning)  # 3.12: of a fork of a process with threads


def size(client_and_url):
    client, url = client_and_url
    return client.stat(url).size, len(client.get(url)), [len(item.data) for item in
                                                         client.get_many([url] * 2).items()]


def refused(_):
    dataflux.Client(**options_of(sys.argv[1])).get(sys.argv[2] + "none")


if __name__ == "__main__":
    client = dataflux.Client(**options_of(sys.argv[1]))
    client.put(sys.argv[2], b"1234")
    context = multiprocessing.get_context(sys.argv[3])
    with concurrent.futures.ProcessPoolExecutor(2, context) as pool:
        assert list(pool.map(size, [(client, sys.argv[2])] * 8)) == [(4, 4, [4, 4])] * 8
    with context.Pool(2) as pool:
        assert pool.map(size, [(client, sys.argv[2])] * 8) == [(4, 4, [4, 4])] * 8
        try:
            pool.map(refused, [0])
        except dataflux.NotFoundError as why:
            assert why.errno == 2
        else:
            raise AssertionError
    assert client.stat(sys.argv[2]).size == 4
"""


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_pools_of_processes(method, emulator, bucket, tmp_path):
    (tmp_path / "program.py").write_text(POOL)
    done = subprocess.run([sys.executable, "-X", "dev", str(tmp_path / "program.py"), emulator.endpoint,
                           bucket("x"), method], capture_output=True, text=True, timeout=2 * LIMIT,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert (done.returncode, done.stderr) == (0, "")
