"""Writes without a condition, of which the last writer wins: what one failure does to each."""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem

from service import wait_until

# Each hits the first request of its verb. What is reset was not carried out; what is lost or stalls
# was.
FAULTS = {
    "503": {"action": "refuse", "status": 503},
    "500": {"action": "refuse", "status": 500},
    "408": {"action": "refuse", "status": 408},
    "reset": {"action": "cut"},
    "lost": {"action": "lose_reply"},
    "stalled": {"action": "stall"},
}
BEFORE = {"a": b"old", "b": b"new", "d/x": b"1", "d/y": b"2"}


def changed(gone=(), **new):
    return {**{name: data for name, data in BEFORE.items() if name not in gone}, **new}


# A call by its name: the verb that fails, what it does (by a client, an asynchronous client or a
# filesystem), and what is there afterwards.
CLIENT = {
    "put": ("objects.insert", lambda c, at: c.put(at("a"), b"new"), changed(a=b"new")),
    "copy": ("objects.rewrite", lambda c, at: c.copy(at("b"), at("a")), changed(a=b"new")),
    "move": ("objects.move", lambda c, at: c.move(at("b"), at("a")), changed(["b"], a=b"new")),
    "move to a new name": ("objects.move", lambda c, at: c.move(at("b"), at("c")),
                           changed(["b"], c=b"new")),
    "copy to a new name": ("objects.rewrite", lambda c, at: c.copy(at("b"), at("c")),
                           changed(c=b"new")),
    "put to a new name": ("objects.insert", lambda c, at: c.put(at("c"), b"new"),
                          changed(c=b"new")),
    "compose": ("objects.compose", lambda c, at: c.compose([at("b"), at("b")], at("a")),
                changed(a=b"newnew")),
    "append": ("objects.compose", lambda c, at: c.compose([at("a"), at("b")], at("a")),
               changed(a=b"oldnew")),
    "patch": ("objects.patch", lambda c, at: c.patch(at("a"), metadata={"k": "v"}), BEFORE),
    "delete": ("objects.delete", lambda c, at: c.delete(at("a")), changed(["a"])),
}
FILESYSTEM = {
    "pipe": ("objects.insert", lambda f, at: f.pipe({at("a"): b"new", at("c"): b"3"}),
             changed(a=b"new", c=b"3")),
    "pipe_file": ("objects.insert", lambda f, at: f.pipe_file(at("a"), b"new"), changed(a=b"new")),
    "write_bytes": ("objects.insert", lambda f, at: f.write_bytes(at("a"), b"new"),
                    changed(a=b"new")),
    "touch": ("objects.insert", lambda f, at: f.touch(at("a")), changed(a=b"")),
    "mapper[k] = v": ("objects.insert",
                      lambda f, at: f.get_mapper(at()).__setitem__("a", b"new"), changed(a=b"new")),
    "del mapper[k]": ("objects.delete", lambda f, at: f.get_mapper(at()).__delitem__("a"),
                      changed(["a"])),
    "cp": ("objects.rewrite", lambda f, at: f.cp(at("b"), at("a")), changed(a=b"new")),
    "cp -r": ("objects.rewrite", lambda f, at: f.cp(at("d"), at("e"), recursive=True),
              changed(**{"e/x": b"1", "e/y": b"2"})),
    "mv": ("objects.move", lambda f, at: f.mv(at("b"), at("a")), changed(["b"], a=b"new")),
    "mv -r": ("objects.move", lambda f, at: f.mv(at("d"), at("e"), recursive=True),
              changed(["d/x", "d/y"], **{"e/x": b"1", "e/y": b"2"})),
    "rm": ("objects.delete", lambda f, at: f.rm(at("a")), changed(["a"])),
    "rm_file": ("objects.delete", lambda f, at: f.rm_file(at("a")), changed(["a"])),
    "rm -r": ("objects.delete", lambda f, at: f.rm(at("d"), recursive=True),
              changed(["d/x", "d/y"])),
    "merge": ("objects.compose", lambda f, at: f.merge(at("a"), [at("b"), at("b")]),
              changed(a=b"newnew")),
    "setxattrs": ("objects.patch", lambda f, at: f.setxattrs(at("a"), k="v"), BEFORE),
}


class Cell:
    """A bucket with what was there before, and the fault that one verb meets in it."""

    def __init__(self, emulator, bucket_of, verb, fault):
        self.bucket = bucket_of()
        for name, data in BEFORE.items():
            self.bucket.put(name, data)
        self.rule = {"verb": verb, "bucket": self.bucket.name, **fault}

    def at(self, name=""):
        return self.bucket(name)

    def found(self):
        return {name: self.bucket.get(name) for name in self.bucket.names()}

    def metadata(self):
        return json.loads(self.bucket.service.ask(
            "GET", f"/storage/v1/b/{self.bucket.name}/o/a")).get("metadata")


@pytest.fixture
def bucket_of(emulator, request):
    from conftest import Bucket

    numbers = iter(range(10000))

    def one():
        name = f"last-{abs(hash(request.node.nodeid)) % 10**12}-{next(numbers)}"
        emulator.add_bucket(name)
        return Bucket(emulator, name)

    return one


def failing(emulator, bucket_of, calls, run, but=()):
    """Runs each call under each fault, side by side, and gives those that did not do their work."""
    # A copy's first byte may take minutes: the service says nothing while it copies.
    cells = {(name, fault): Cell(emulator, bucket_of, verb, rule)
             for name, (verb, _, _) in calls.items() for fault, rule in FAULTS.items()
             if (verb, fault) != ("objects.rewrite", "stalled") and fault not in but}
    emulator.faults(*(cell.rule for cell in cells.values()))
    time.sleep(1.5)  # what was there before is older than the call, by a clock that says seconds

    def outcome(key):
        cell = cells[key]
        name = key[0]
        try:
            run(calls[name][1], cell.at)
        except (Exception, dataflux.Error) as error:  # noqa: BLE001
            return f"{type(error).__name__}: {error}"
        if cell.found() != calls[name][2]:
            return f"left {cell.found()}"
        if calls[name][0] == "objects.patch" and cell.metadata() != {"k": "v"}:
            return f"metadata {cell.metadata()}"
        return None

    with ThreadPoolExecutor(24) as pool:
        outcomes = dict(zip(cells, pool.map(outcome, cells)))
    hits = json.loads(emulator.ask("GET", "/_emulator/faults"))["hits"]
    assert hits == len(cells), "a fault hit nothing"
    return {key: why for key, why in outcomes.items() if why}


@pytest.fixture
def impatient(emulator):
    with dataflux.Client(**emulator.options, first_byte_timeout=3) as made:
        yield made


def test_every_change_survives_one_failure(emulator, bucket_of, impatient):
    assert failing(emulator, bucket_of, CLIENT, lambda call, at: call(impatient, at)) == {}


def test_every_change_of_an_asynchronous_client_survives_one_failure(emulator, bucket_of):
    async def changes(call, at):
        async with dataflux.AsyncClient(**emulator.options, first_byte_timeout=3) as client:
            await call(client, at)

    assert failing(emulator, bucket_of, CLIENT,
                   lambda call, at: asyncio.run(changes(call, at))) == {}


def test_every_change_of_a_filesystem_survives_one_failure(emulator, bucket_of):
    fs = DatafluxFileSystem(**emulator.options)
    assert failing(emulator, bucket_of, FILESYSTEM, lambda call, at: call(fs, at),
                   but=("stalled",)) == {}


def test_every_change_survives_many_failures(emulator, bucket_of, impatient):
    calls = {f"{name} {count}": call for name, call in CLIENT.items() for count in (2, 3)}
    cells = {}
    for name, (verb, _, _) in calls.items():
        cells[name] = Cell(emulator, bucket_of, verb, {"action": "cut", "count": int(name[-1])})
    emulator.faults(*(cell.rule for cell in cells.values()))
    time.sleep(1.5)
    with ThreadPoolExecutor(len(cells)) as pool:
        for name, ended in [(name, pool.submit(calls[name][1], impatient, cell.at))
                            for name, cell in cells.items()]:
            ended.result()
            assert cells[name].found() == calls[name][2], name


def test_what_the_same_client_has_just_made_is_no_other_writers(emulator, bucket_of, impatient):
    for name, (verb, call, after) in CLIENT.items():
        cell = Cell(emulator, bucket_of, verb, FAULTS["reset"])
        for key, data in BEFORE.items():
            if key == "d/y":
                time.sleep(0.01)  # no two in the last millisecond, which is the service's unit
            impatient.put(cell.at(key), data)
        emulator.faults(cell.rule)
        call(impatient, cell.at)
        assert cell.found() == after, name


def test_an_object_is_appended_to_at_once(emulator, bucket_of, impatient):
    cell = Cell(emulator, bucket_of, "objects.compose", {"action": "refuse", "from": 2, "count": 3})
    emulator.faults(cell.rule)
    for _ in range(3):
        impatient.compose([cell.at("a"), cell.at("b")], cell.at("a"))
    assert cell.found() == changed(a=b"oldnewnewnew")


def while_it_stalls(emulator, cell, call, meanwhile):
    """What `call` ends with, when its request is carried out, gets no reply, and `meanwhile` comes."""
    emulator.faults(cell.rule)
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(call)
        assert wait_until(lambda: json.loads(emulator.ask("GET", "/_emulator/faults"))["hits"] == 1)
        time.sleep(0.5)
        meanwhile()
        return ended


@pytest.mark.parametrize("name", ["put", "compose", "append"])
def test_what_another_has_written_since_stays(emulator, bucket_of, impatient, name):
    verb, call, _ = CLIENT[name]
    cell = Cell(emulator, bucket_of, verb, FAULTS["stalled"])
    ended = while_it_stalls(emulator, cell, lambda: call(impatient, cell.at),
                            lambda: cell.bucket.put("a", b"another's"))
    with pytest.raises(dataflux.Error, match="another writer") as caught:
        ended.result()
    assert caught.value.status == "aborted" and caught.value.outcome_unknown
    assert not caught.value.retryable and caught.value.bucket == cell.bucket.name
    assert cell.found() == changed(a=b"another's")


def test_what_another_has_changed_since_stays(emulator, bucket_of, impatient):
    verb, call, _ = CLIENT["patch"]
    cell = Cell(emulator, bucket_of, verb, FAULTS["stalled"])

    def meanwhile():
        emulator.ask("PATCH", f"/storage/v1/b/{cell.bucket.name}/o/a",
                     json.dumps({"metadata": {"k": "another's"}}).encode(),
                     **{"Content-Type": "application/json"})

    ended = while_it_stalls(emulator, cell, lambda: call(impatient, cell.at), meanwhile)
    with pytest.raises(dataflux.Error, match="another writer"):
        ended.result()
    assert cell.metadata() == {"k": "another's"}


def test_what_is_put_where_something_was_removed_stays(emulator, bucket_of, impatient):
    cell = Cell(emulator, bucket_of, "objects.delete", FAULTS["stalled"])
    ended = while_it_stalls(emulator, cell, lambda: impatient.delete(cell.at("a")),
                            lambda: cell.bucket.put("a", b"another's"))
    ended.result()
    assert cell.found() == changed(a=b"another's")


def test_what_is_put_where_something_was_moved_from_stays(emulator, bucket_of, impatient):
    cell = Cell(emulator, bucket_of, "objects.move", FAULTS["stalled"])
    ended = while_it_stalls(emulator, cell, lambda: impatient.move(cell.at("b"), cell.at("a")),
                            lambda: cell.bucket.put("b", b"another's"))
    assert ended.result().size == 3
    assert cell.found() == changed(a=b"new", b=b"another's")


def test_a_move_under_a_condition_of_its_target_is_known_again(emulator, bucket_of, impatient):
    cell = Cell(emulator, bucket_of, "objects.move", FAULTS["lost"])
    emulator.faults(cell.rule)
    made = impatient.move(cell.at("b"), cell.at("c"), if_generation_match=0)
    assert made.name == "c" and cell.found() == changed(["b"], c=b"new")


def test_a_condition_keeps_its_rules(emulator, bucket_of, impatient):
    cell = Cell(emulator, bucket_of, "objects.insert", FAULTS["503"])
    emulator.faults(cell.rule)
    # What does not make it safe to repeat: it is sent once.
    with pytest.raises(dataflux.UnavailableError) as caught:
        impatient.put(cell.at("a"), b"new", if_generation_not_match=1)
    assert caught.value.attempts == 1 and cell.found() == BEFORE
    emulator.faults(cell.rule)
    with pytest.raises(dataflux.AlreadyExistsError):
        impatient.put(cell.at("a"), b"new", if_generation_match=0)
    assert cell.found() == BEFORE


def test_a_deletion_of_what_is_not_there_says_so(emulator, bucket_of, impatient):
    cell = Cell(emulator, bucket_of, "objects.delete", FAULTS["503"])
    with pytest.raises(dataflux.NotFoundError):
        impatient.delete(cell.at("none"))
    # Whether a refused one was carried out nobody knows.
    emulator.faults(cell.rule)
    impatient.delete(cell.at("none"))
