"""Samples of two sets of tar shards that have the same key."""

from __future__ import annotations

from ._calls import checked
from ._handles import ErrorHandle, handle
from ._library import byref, kind_of, library, struct
from ._place import one_of
from ._shards import ShardIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

JoinHandle = handle("shard_join")
NOBODY = 2**64 - 1


class ShardJoin:
    """Which samples of two indexes have the same key, as ShardIndex.join() found them: rows of two numbers, in
    the order of the left side. `shards=` of dataflux.torch's datasets takes it: a sample has the fields of both.

        join = images.join(captions)
        dataset = dataflux.torch.IterableDataset(shards=join)

    Immutable; any thread.

    left, right     the two indexes
    left_alone, right_alone     how many samples of each side have no partner
    """

    __slots__ = ("left", "right", "left_alone", "right_alone", "_prefix", "_how", "_handle", "_rows", "__weakref__")

    @property
    def _scheme(self):
        return self.left._scheme

    def __init__(self, left: ShardIndex, right: ShardIndex, kind: str, repeated: str, prefix: str | None) -> None:
        import ctypes

        self.left = left
        self.right = right
        self._prefix = prefix
        self._how = kind, repeated
        options = struct("join_options", left_outer=kind == "left", all_pairs=repeated == "all_pairs")
        made, error = JoinHandle(), ErrorHandle()
        checked(library.shard_index_join(left._handle, right._handle, byref(options), byref(made), byref(error)),
                error)
        rows = kind_of("join_rows")()
        checked(library.shard_join_rows(made, byref(rows), ctypes.sizeof(rows), byref(error)), error)
        self._handle = made
        self._rows = rows
        self.left_alone: int = rows.left_alone
        self.right_alone: int = rows.right_alone

    @property
    def prefix(self) -> str | None:
        """What stands before the right side's fields in a sample."""
        return self._prefix

    def __len__(self) -> int:
        rows: int = self._rows.rows
        return rows

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, number: int) -> tuple[int, int | None]:
        """The numbers of both samples of a row; None where the right side has none."""
        try:
            at = range(len(self))[number]
        except IndexError:
            raise IndexError(f"row {number} of {len(self)}") from None
        left, right = self._columns()
        return left[at], None if right[at] == NOBODY else right[at]

    def _columns(self):
        """Views of uint64, of the library's memory."""
        import ctypes

        count, rows = len(self), self._rows
        if not count:
            return memoryview(b"").cast("Q"), memoryview(b"").cast("Q")
        views = []
        for address in (rows.left, rows.right):
            column = (ctypes.c_uint64 * count).from_address(address)
            column.owner = self._handle
            views.append(memoryview(column).cast("B").cast("Q"))
        return tuple(views)

    def __repr__(self) -> str:
        return (f"<dataflux.ShardJoin of {self.left.bucket} and {self.right.bucket}: {len(self)} rows>")

    def __copy__(self):
        return self  # immutable

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _again, (self.left, self.right, *self._how, self._prefix)


def _again(left, right, kind, repeated, prefix):
    return ShardJoin(left, right, kind, repeated, prefix)


def joined(left: Any, right: Any, kind: Literal["inner", "left"], repeated: Literal["refuse", "all_pairs"],
           prefix: str | None) -> ShardJoin:
    if not isinstance(right, ShardIndex):
        raise TypeError(f"other: a ShardIndex is needed, and not a {type(right).__name__}")
    if prefix is not None and not isinstance(prefix, str):
        raise TypeError(f"prefix: a str is needed, and not a {type(prefix).__name__}")
    return ShardJoin(left, right, one_of(kind, "kind", ("inner", "left")),
                     one_of(repeated, "repeated", ("refuse", "all_pairs")), prefix)
