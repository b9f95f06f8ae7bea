"""The filesystem with credentials, at an emulator that asks for tokens and takes its time."""

import pytest

import dataflux
from dataflux.fsspec import DatafluxFileSystem
from test_credentials import NAME, _guarded, guarded  # noqa: F401  (fixtures)

SLOW = {"action": "delay", "ms": 400, "count": 0}  # longer than any step of a wait may be
BOTH = [f"{NAME}/{name}" for name in ("x", "y")]


@pytest.fixture
def made(guarded):
    """A filesystem of a callable, which tests change."""
    def give():
        if give.broken:
            raise LookupError("the vault is closed")
        return guarded.token()

    give.broken = False
    fs = DatafluxFileSystem(endpoint=guarded.endpoint, ca_file=guarded.authority, token=give)
    fs.pipe({path: path.encode() for path in BOTH})
    yield fs, give


OF_MANY = {
    "cat": lambda fs, folder: fs.cat(BOTH),
    "cat_ranges": lambda fs, folder: fs.cat_ranges(BOTH, [-2, -2], [None, None],
                                                     on_error="raise"),
    "cp": lambda fs, folder: fs.cp(BOTH, [path + "2" for path in BOTH]),
    "get": lambda fs, folder: fs.get(BOTH, [str(folder / name) for name in ("x", "y")]),
    "mv": lambda fs, folder: fs.mv(BOTH, [path + "3" for path in BOTH]),
    "pipe": lambda fs, folder: fs.pipe(dict.fromkeys(BOTH, b"new")),
    "put": lambda fs, folder: fs.put([__file__, __file__], BOTH),
    "rm": lambda fs, folder: fs.rm(BOTH),
    "sizes": lambda fs, folder: fs.sizes(BOTH),
}


@pytest.mark.parametrize("verb", OF_MANY)
def test_a_call_for_many_that_takes_long(guarded, made, tmp_path, verb):
    guarded.faults(SLOW)
    OF_MANY[verb](made[0], tmp_path)


@pytest.mark.parametrize("verb", OF_MANY)
def test_what_the_callable_raises_is_the_cause_of_a_call_for_many(guarded, made, tmp_path, verb):
    fs, give = made
    guarded.revoke_tokens()
    give.broken = True
    with pytest.raises(dataflux.UnauthenticatedError) as raised:
        OF_MANY[verb](fs, tmp_path)
    assert type(raised.value.__cause__) is LookupError
