"""Of a large tensor, what a plan asks for: which bytes, block by block, and where each goes."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any, Callable, Iterator

import torch

from ._fetch import Piece, of_type
from ._layout import Layout

STAGED = 8 << 20  # bytes of a block that is read beside its tensor, and copied
DIRECT = 64 << 20  # of one that is read into it
_RUN = 16 << 10  # bytes in one piece that are worth to be read alone


def bytes_read(size: Any, want: Any, width: int) -> int:
    """How many bytes are read of a stored tensor of that size for a part of the size `want`."""
    all_of: tuple[int, ...] = tuple(size) or (1,)
    part: tuple[int, ...] = tuple(want) or (1,)
    exact, _ = _pieces_of(all_of, part, width)
    return prod(part) * width if exact else part[0] * prod(all_of[1:]) * width


def _pieces_of(size: tuple[int, ...], want: tuple[int, ...], width: int) -> tuple[bool, int]:
    """(nothing else is read, the dimension behind which all are wanted whole: what is of it lies in one
    piece)"""
    whole = max((d for d in range(len(size)) if want[d] != size[d]), default=0)
    return whole == 0 or want[whole] * prod(size[whole + 1:]) * width >= _RUN, whole


def region(at: int, layout: Layout, offsets: Any, lengths: Any, target: torch.Tensor,
           ended: Callable[[], None]) -> Iterator[Piece]:
    """Pieces that fill `target`, of the size `lengths`, with the part of a stored tensor that begins at
    `offsets`. `at` is where the tensor's bytes begin. ended() is called behind each."""
    size, begin, want = tuple(layout.size), tuple(offsets), tuple(lengths)
    if not size:
        size, begin, want, target = (1,), (0,), (1,), target.view(1)
    width = layout.dtype.itemsize
    exact, whole = _pieces_of(size, want, width)
    row = prod(size[1:]) * width  # bytes of a row, one number of the first dimension
    rows, wide = want[0], max(1, prod(want[1:]) * width if exact else row)
    straight = exact and target.dtype == layout.dtype and target.device.type == "cpu" \
        and target.is_contiguous() and not target.is_conj() and not target.is_neg()
    most = max(1, (DIRECT if straight else STAGED) // wide)
    for first in range(0, rows, most):
        count = min(most, rows - first)
        block = target.narrow(0, first, count)
        if exact:
            ranges = _ranges(at, size, (begin[0] + first, *begin[1:]), (count, *want[1:]), whole,
                             width)
        else:
            ranges = [(at + (begin[0] + first) * row, count * row)]
        take = partial(_take, block, not straight, layout.dtype,
                       None if exact else (size, begin, want), ended)
        yield Piece(ranges, block if straight else None, take)


def _ranges(at: int, size: tuple[int, ...], begin: tuple[int, ...], want: tuple[int, ...],
            whole: int, width: int) -> list[tuple[int, int]]:
    strides = [prod(size[d + 1:]) * width for d in range(len(size))]
    run = want[whole] * strides[whole]
    starts = [at + sum(b * s for b, s in zip(begin, strides))]
    for d in range(whole):
        starts = [start + number * strides[d] for start in starts for number in range(want[d])]
    return [(start, run) for start in starts]


def _take(block: torch.Tensor, staged: bool, dtype: torch.dtype, around: Any, ended: Callable[[], None],
          found: torch.Tensor) -> None:
    """`around`: the rows that were read are wider."""
    if staged:
        tensor = of_type(found, dtype)
        if around is None:
            tensor = tensor.view(block.size())
        else:
            size, begin, want = around
            tensor = tensor.view(block.size(0), *size[1:])
            for d in range(1, len(size)):
                tensor = tensor.narrow(d, begin[d], want[d])
        block.copy_(tensor)
    ended()
