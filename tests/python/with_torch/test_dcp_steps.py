"""Distributed checkpoints by two ranks when the service refuses one step: each rank is told, nothing is half
done, and the next save works."""

import sys

import pytest

import dataflux
import dcp_ranks
from dcp_ranks import Ranks, load_here, save_here

pytestmark = pytest.mark.filterwarnings("ignore:torch.distributed is disabled")
SMALL, LARGE = 11, 60_000  # columns: 15 KiB and 20 MiB, of which a rank's file is sent in parts
SAVING = [
    ("objects.list", "", SMALL), ("objects.insert", "*.distcp", SMALL),
    ("objects.insert", "*/__1_0.distcp", SMALL), ("objects.insert", "*/.dataflux-set-*", SMALL),
    ("objects.insert", "*/.metadata", SMALL), ("multipart.part", "", LARGE), ("multipart.complete", "", LARGE)]
LOADING = [("objects.list", ""), ("objects.get", "*/.metadata"), ("objects.media", "*/.metadata"),
           ("objects.media", "*/.dataflux-set-*"), ("objects.get", "*.distcp"), ("objects.media", "*.distcp"),
           ("objects.media", "*/__1_0.distcp")]


@pytest.fixture(scope="module")
def pair():
    made = Ranks(2)
    yield made
    made.close()


@pytest.fixture
def options(emulator):
    return dataflux.Client(**emulator.options, max_attempts=2)


def refused(emulator, verb, name, status):
    emulator.faults({"verb": verb, "action": "refuse", "status": status, "count": 0,
                     **({"object": name} if name else {})})


def check_told(answers, verb, status, bucket):
    """Each rank knows the same of each that failed."""
    assert all(isinstance(each, dict) and each for each in answers), answers
    assert [list(each) for each in answers] == [list(answers[0])] * 2
    for answer in answers:
        for why, text in answer.values():
            assert isinstance(why, dataflux.Error) and str(why) in text
            assert (why.verb, why.http_status) == (verb, status)
            assert why.attempts == (1 if status == 403 else 2) and why.bucket == bucket.name
            for word in (verb, f"gs://{bucket.name}", f"HTTP {status}", f"attempts {why.attempts}"):
                assert word in text
            assert why.retryable == (status == 503)
            assert status != 403 or "the account may not do this here" in text


@pytest.mark.parametrize("status", [403, 503])
@pytest.mark.parametrize("verb, name, wide", SAVING)
def test_a_save_that_is_refused(pair, options, bucket, client, emulator, verb, name, wide, status):
    save_here(client, bucket("r"), 1)
    refused(emulator, verb, name, status)
    answers = pair.run(dcp_ranks.failures, dcp_ranks.save, options, bucket("r"), 2, wide=wide)
    emulator.faults()
    check_told(answers, verb, status, bucket)
    if sys.version_info >= (3, 11):
        for why, text in answers[0].values():
            note = "a load of gs://" if why.outcome_unknown and why.object.endswith(".metadata") else \
                "is not committed: what was there before stays"
            assert note in text and "the next save there removes what this one has left" in text
            assert ("may succeed: try again" in text) == (status == 503)
    assert load_here(client, bucket("r")) == 1
    assert pair.run(dcp_ranks.save, options, bucket("r"), 3) == ["saved"] * 2
    assert pair.run(dcp_ranks.load, options, bucket("r")) == [3] * 2
    there = client.list_sets(bucket())
    assert len(there.complete) == 1 and not there.damaged and not there.unfinished
    assert len(bucket.names()) == 4 and not client.find_leftovers(bucket()).rows


@pytest.mark.parametrize("status", [403, 503])
@pytest.mark.parametrize("verb, name", LOADING)
def test_a_load_that_is_refused(pair, options, bucket, emulator, verb, name, status):
    assert pair.run(dcp_ranks.save, options, bucket("r"), 1) == ["saved"] * 2
    refused(emulator, verb, name, status)
    answers = pair.run(dcp_ranks.failures, dcp_ranks.load, options, bucket("r"))
    emulator.faults()
    if name.endswith(".distcp"):
        check_told(answers, verb, status, bucket)
        assert sys.version_info < (3, 11) or all(
            "load again before the state is used" in text for _, text in answers[0].values())
    else:  # torch makes an AssertionError of what read_metadata() raises, with its text
        for why, text in answers[0].values():
            assert f" in {verb} of gs://{bucket.name}" in str(why) and f"HTTP {status}" in str(why)
            assert f"attempts {1 if status == 403 else 2}," in str(why) and str(why) in text
        assert [list(each) for each in answers] == [[0, 1]] * 2
    assert pair.run(dcp_ranks.load, options, bucket("r")) == [1] * 2
