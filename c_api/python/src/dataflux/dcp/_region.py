"""Of a large tensor, what a plan asks for: which bytes, block by block, and where each goes."""

from __future__ import annotations

from math import prod
from typing import Any, Callable, Iterator

import torch

from .._reader import Reader
from ._fetch import Blocks, Job, memory_of
from ._layout import Layout

STAGED = 8 << 20  # bytes of a block that is read beside its tensor, and copied
DIRECT = 64 << 20  # of one that is read into it
_RUN = 16 << 10  # bytes in one piece that are worth to be read alone


def region_jobs(reader: Reader, at: int, layout: Layout, offsets: Any, lengths: Any,
                target: torch.Tensor, blocks: Blocks, ended: Callable[[], None]) -> Iterator[Job]:
    """Jobs that fill `target`, of the size `lengths`, with the part of a stored tensor that begins at
    `offsets`. `at` is where the tensor's bytes begin. ended() is called behind the last one, which
    may come before others: it counts them."""
    size, begin, want = tuple(layout.size), tuple(offsets), tuple(lengths)
    if not size:
        size, begin, want, target = (1,), (0,), (1,), target.view(1)
    width = layout.dtype.itemsize
    # Dimensions behind this one are wanted whole: what is of it lies in one piece.
    whole = max((d for d in range(len(size)) if want[d] != size[d]), default=0)
    run = want[whole] * prod(size[whole + 1:]) * width
    row = prod(size[1:]) * width  # bytes of a row, one number of the first dimension
    exact = whole == 0 or run >= _RUN
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
        yield _job(reader, ranges, block, None if straight else blocks, layout.dtype,
                   None if exact else (size, begin, want), ended)


def _ranges(at: int, size: tuple[int, ...], begin: tuple[int, ...], want: tuple[int, ...],
            whole: int, width: int) -> list[tuple[int, int]]:
    strides = [prod(size[d + 1:]) * width for d in range(len(size))]
    run = want[whole] * strides[whole]
    starts = [at + sum(b * s for b, s in zip(begin, strides))]
    for d in range(whole):
        starts = [start + number * strides[d] for start in starts for number in range(want[d])]
    return [(start, run) for start in starts]


def _job(reader: Reader, ranges: list[tuple[int, int]], block: torch.Tensor, blocks: Blocks | None,
         dtype: torch.dtype, around: Any, ended: Callable[[], None]) -> Job:
    """`blocks`: None reads straight into `block`. `around`: the rows that are read are wider."""
    total = sum(size for _, size in ranges)

    def read() -> torch.Tensor:
        into = block if blocks is None else blocks.take(total)
        view, pieces, done = memoryview(memory_of(into)), [], 0
        for _, size in ranges:
            pieces.append(view[done:done + size])
            done += size
        reader.get_ranges(ranges, pieces)
        return into

    def take(found: torch.Tensor) -> None:
        if blocks is not None:
            tensor = found[:total].view(dtype)
            if around is None:
                tensor = tensor.view(block.size())
            else:
                size, begin, want = around
                tensor = tensor.view(block.size(0), *size[1:])
                for d in range(1, len(size)):
                    tensor = tensor.narrow(d, begin[d], want[d])
            block.copy_(tensor)
            blocks.give(found)
        ended()

    return Job(read, take)
