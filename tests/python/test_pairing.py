"""Rows of two listings that belong together: in every order that suffixes make of names."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

import dataflux
from dataflux import _pairing
from dataflux._pairing import PairedRows, Side, write_pairs


@pytest.fixture
def listed(client, bucket):
    def listed(names):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda name: bucket.put(name, b"x"), names))
        return client.list(bucket(""))

    return listed


def paired(listing, first, second, path):
    """Pairs of names, and the sides, after they were written and read again."""
    sides = Side(listing, *first), Side(listing, *second)
    write_pairs(str(path), *sides)
    rows = PairedRows(str(path))
    assert len(rows.first) == len(rows.second) == len(rows)
    names = list(listing.names)
    return [(names[a], names[b]) for a, b in zip(rows.first, rows.second)], rows, sides


def expected(names, first, second):
    """The same by a plain dictionary."""
    def keys(prefix, suffix):
        return {name[len(prefix):len(name) - len(suffix)]: name for name in sorted(names)
                if name.startswith(prefix) and name.endswith(suffix)
                and len(name) >= len(prefix) + len(suffix)}

    one, two = keys(*first), keys(*second)
    common = [key for key in one if key in two]
    return [(one[key], two[key]) for key in common], (len(one) - len(common), len(two) - len(common))


@pytest.mark.parametrize("batch", [1, 3, 8192])
@pytest.mark.parametrize("suffixes", [("", ""), (".jpg", ".jpg"), (".jpg", ""), ("", "_l.png"),
                                      (".jpg", "_l.png"), ("\u00e4", "z")])
def test_pairs_are_those_of_a_dictionary(listed, tmp_path, monkeypatch, batch, suffixes):
    monkeypatch.setattr(_pairing, "BATCH", batch)
    chance = random.Random(5)
    letters = ["", "-", ".", "0", "_", "a", "z", "\u00e4", "\U0001f600", "a-", "a.", ".jpg", "_l.png"]
    names = set()
    for _ in range(150):
        key = "".join(chance.choices(letters, k=3))
        for prefix, suffix in zip(("i/", "l/"), suffixes):
            if chance.random() < 0.8:
                names.add(prefix + key + suffix)
    names |= {"a", "i0", "z", "k/a.jpg"}
    first, second = zip(("i/", "l/"), suffixes)
    found, rows, sides = paired(listed(names), first, second, tmp_path / "pairs")
    wanted, alone = expected(names, first, second)
    assert found == wanted and rows.unpaired == alone and wanted and all(alone)
    assert all(side.alone in names for side in sides)
    assert {side.alone for side in sides}.isdisjoint(name for pair in wanted for name in pair)


def test_two_kinds_below_one_prefix(listed, tmp_path):
    names = {"d/a.jpg", "d/a.json", "d/b.jpg", "d/b.json", "d/c.txt"}
    found, rows, _ = paired(listed(names), ("d/", ".jpg"), ("d/", ".json"), tmp_path / "pairs")
    assert found == [("d/a.jpg", "d/a.json"), ("d/b.jpg", "d/b.json")] and rows.unpaired == (0, 0)


def test_what_waits_is_bounded(listed, tmp_path, monkeypatch):
    """Where one side has much that the other one lacks."""
    monkeypatch.setattr(_pairing, "BATCH", 4)
    most = []
    let_go = Side.let_go

    def looked_at(self, other):
        most.append(len(self.waiting))
        let_go(self, other)

    monkeypatch.setattr(Side, "let_go", looked_at)
    names = {f"i/{n:04}" for n in range(600)} | {"l/0599"}
    found, rows, _ = paired(listed(names), ("i/", ""), ("l/", ""), tmp_path / "pairs")
    assert found == [("i/0599", "l/0599")] and rows.unpaired == (599, 0)
    assert max(most) <= 5 * 4


def test_a_file_that_was_cut_off_is_refused(listed, tmp_path):
    path = tmp_path / "pairs"
    paired(listed({"i/a", "l/a"}), ("i/", ""), ("l/", ""), path)
    whole = path.read_bytes()
    for cut in (b"", whole[:-1], whole[1:], whole[:60]):
        path.write_bytes(cut)
        with pytest.raises(dataflux.DataLossError, match="no file of pairs"):
            PairedRows(str(path))
