"""The emulator as users' tests have it."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

import dataflux


def test_it_serves_buckets_until_it_is_closed():
    with dataflux.emulator("first", "second") as service:
        with service.client() as client:
            for name in ("first", "second"):
                with pytest.raises(FileNotFoundError, match="the object does not exist"):
                    client.stat(f"gs://{name}/x")
        service.add_bucket("third", versioning=True)
        assert service.endpoint in repr(service)
    assert "closed" in repr(service)
    service.close()


def test_it_speaks_s3():
    with dataflux.emulator("of-s3", service="s3") as service:
        assert list(service.environment) == ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION",
                                             "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3"]
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(service.endpoint + "/of-s3", timeout=30)
        assert refused.value.code == 403
        assert b"<Code>AccessDenied</Code>" in refused.value.read()
        service.add_bucket("elsewhere", region="eu-west-1")
        with service.client(max_attempts=2) as client:
            client.put("s3://of-s3/a", b"1")
            assert client.get("s3://of-s3/a") == b"1"
    with dataflux.emulator(service="ais") as service:
        assert service.environment == {"AIS_ENDPOINT": service.endpoint}
        service.add_bucket("of-ais")
        with service.client() as client:
            client.put("ais://of-ais/a", b"1")
            assert client.get("ais://of-ais/a") == b"1"
    with pytest.raises(ValueError, match="^service: "):
        dataflux.emulator("of-s3", service="S3")


def test_faults_are_scripted_and_counted(emulator, bucket, client):
    bucket.put("x", b"1")
    emulator.faults({"verb": "objects.get", "bucket": bucket.name, "action": "refuse",
                     "status": 503, "count": 2})
    before = emulator.answered()
    assert client.stat(bucket("x")).size == 1
    assert emulator.answered() - before == 3
    assert [one["status"] for one in emulator.log()[-4:] if one["verb"] == "objects.get"][-3:] == \
        [503, 503, 200]
    with pytest.raises(ValueError, match="refuses POST /_emulator/faults"):
        emulator.faults({"action": "no such"})
    with pytest.raises(ValueError) as refused:
        emulator.faults({"verb": "objects.read", "action": "delay"})
    said = str(refused.value)
    assert said.startswith("the emulator refuses POST /_emulator/faults: Fault rule: there is no verb "
                           '"objects.read"; it is one of objects.list, objects.get, ')
    assert "{" not in said


@pytest.mark.parametrize("name", ["x", "a b", "", "é--", "Upper", "-abc", "abc-", "a" * 64, "a\nb"])
def test_what_is_no_name_of_a_bucket_is_told_with_the_rule(emulator, name):
    """By the emulator, which has the rule."""
    for call in (dataflux.emulator, emulator.add_bucket):
        with pytest.raises(ValueError, match="(?s)Invalid bucket name: .*3 to 63 characters"):
            call(name)
    with pytest.raises(dataflux.Error, match="did not start: "):
        dataflux.emulator(name)


@pytest.mark.parametrize("name", ["../faults", "a?b=c", "a#b"])
def test_a_name_is_no_path(emulator, name):
    with pytest.raises(ValueError, match="Invalid bucket name"):
        emulator.add_bucket(name)


@pytest.mark.parametrize("how, error", [
    ({"arguments": "--log"}, TypeError), ({"rtt": -1}, ValueError), ({"rtt": "1"}, TypeError),
    ({"log": -1}, ValueError), ({"log": 1.5}, TypeError)], ids=repr)
def test_wrong_options_are_told_before_it_starts(how, error):
    with pytest.raises(error, match=f"^{next(iter(how))}: "):
        dataflux.emulator(**how)


@pytest.mark.parametrize("how", [{"arguments": ["--no-such-option"]}, {"seed": "/no/such/folder"}], ids=repr)
def test_what_the_program_refuses_is_a_bad_argument(how):
    with pytest.raises(dataflux.InvalidArgumentError, match="did not start: .*/?no.such"):
        dataflux.emulator("good-bucket", **how)


def test_what_is_no_bad_argument_is_none(tmp_path):
    with pytest.raises(dataflux.Error, match="Cannot write ") as raised:
        dataflux.emulator(arguments=["--authorized-user-file", str(tmp_path / "no/such/file")])
    assert type(raised.value) is dataflux.Error


@pytest.mark.parametrize("said", ["", "no such option"])
def test_what_a_program_says_that_does_not_start_is_told(monkeypatch, tmp_path, said):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("DATAFLUX_EMULATOR", str(program))
    with pytest.raises(dataflux.Error, match=f"did not start: {said}" if said else "status 3 and said nothing"):
        dataflux.emulator()


def test_it_makes_clients_for_tasks():
    async def main():
        with dataflux.emulator("for-tasks") as service:
            async with service.async_client(max_attempts=1) as client:
                await client.put("gs://for-tasks/x", b"1")
                return await client.get("gs://for-tasks/x")

    assert asyncio.run(main()) == b"1"


def test_wrong_types_are_told():
    with pytest.raises(TypeError, match="^buckets: "):
        dataflux.emulator(3)
    with dataflux.emulator() as service, pytest.raises(TypeError, match="^name: "):
        service.add_bucket(3)


def test_it_ends_with_the_process_that_started_it_however_that_ends():
    program = "import dataflux, time; s = dataflux.emulator(); print(s._process.pid, flush=True); " \
              "time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        pid = int(process.stdout.readline())
        os.kill(pid, 0)
        watch = os.pidfd_open(pid)
        process.send_signal(signal.SIGKILL)
    try:
        import select

        assert select.select([watch], [], [], 60)[0], "it goes on"
    finally:
        os.close(watch)


def test_one_that_is_not_closed_is_told(recwarn):
    service = dataflux.emulator()
    process = service._process
    with pytest.warns(ResourceWarning, match="was not closed"):
        del service
    assert process.poll() is not None


def test_the_fixtures_of_the_plugin(pytester_program):
    done = pytester_program("""
def test_mine(dataflux_emulator, dataflux_client):
    dataflux_emulator.add_bucket("mine")
    try:
        dataflux_client.stat("gs://mine/x")
    except FileNotFoundError:
        return
    raise AssertionError("there was an object")


def test_tasks(dataflux_emulator, dataflux_async_client, dataflux_client):
    import asyncio

    asyncio.run(dataflux_async_client.put("gs://emulator/x", b"1"))
    assert dataflux_client.get("gs://emulator/x") == b"1"
""")
    assert "2 passed" in done


@pytest.fixture
def pytester_program(tmp_path):
    """Runs pytest on a text with the plugin, as it runs where the package is installed."""
    def run(text):
        (tmp_path / "test_mine.py").write_text(text)
        done = subprocess.run([sys.executable, "-m", "pytest", "-p", "dataflux.pytest_plugin", "-q",
                               "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path],
                              capture_output=True, text=True, timeout=120)
        return done.stdout + done.stderr

    return run


def test_the_command_takes_this_process_s_arguments():
    if not os.environ.get("DATAFLUX_COMMAND"):
        pytest.skip("DATAFLUX_COMMAND names no command")
    done = subprocess.run([sys.executable, "-m", "dataflux", "--version"], capture_output=True,
                          text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert dataflux.__version__ in done.stdout


@pytest.mark.parametrize("end", ["close", "let go of"])
def test_a_forked_child_does_not_end_its_parents_emulator(end):
    with dataflux.emulator("of-the-parent") as service, service.client() as client:
        client.put("gs://of-the-parent/x", b"1")
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                if end == "close":
                    service.close()
                else:
                    service.__del__()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert client.get("gs://of-the-parent/x", timeout=30) == b"1"


def test_an_emulator_that_is_there_when_the_interpreter_ends_prints_no_traceback(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import builtins, dataflux\n"
                       "builtins.kept = dataflux.emulator('kept')\n")
    ended = subprocess.run([sys.executable, str(program)], stderr=subprocess.PIPE, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")
