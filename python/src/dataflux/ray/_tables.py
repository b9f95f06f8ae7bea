"""Tables of what is read: rows are gathered until they are a block."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List

import pyarrow

_BLOCK = 32 << 20  # bytes; Ray joins blocks up to its own size




def tables_of(rows: Iterable[Dict[str, Any]], kinds: Dict[str, Any], other: Any = None) -> Iterator[Any]:
    """Tables of rows, which are dicts.

    Arguments:
        kinds: of columns, in their order. These are in each table.
        other: of columns that only some rows have, by whose first one they come; None = there are none.
    """
    gathered: List[Dict[str, Any]] = []
    size = 0
    for row in rows:
        gathered.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, (bytes, memoryview)))
        if size >= _BLOCK:
            yield _table(gathered, kinds, other)
            gathered, size = [], 0
    if gathered:
        yield _table(gathered, kinds, other)


def _table(rows, kinds, other):
    kinds = dict(kinds)
    if other is not None:
        for row in rows:
            for name in row:
                kinds.setdefault(name, other)
    return pyarrow.table({name: pyarrow.array([row.get(name) for row in rows], kind)
                          for name, kind in kinds.items()})
