"""Batches of samples, and samples of batches."""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, List

from ._optional import optional
from ._stages import Stage


def _combined(values, combine_tensors, combine_scalars):
    first = values[0]
    if isinstance(first, (int, float)):
        return optional("numpy", "batches of numbers").array(values) if combine_scalars else values
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")  # who has made one has imported it
    of_torch = torch is not None and isinstance(first, torch.Tensor)
    if not of_torch and (numpy is None or not isinstance(first, numpy.ndarray)):
        return list(values)
    if not combine_tensors:
        return values
    shapes = {tuple(each.shape) for each in values}
    if len(shapes) > 1:
        raise ValueError(f"batched: shapes differ, {sorted(shapes)}: bring samples to one shape, or give a "
                         "collation_fn")
    return torch.stack(list(values)) if of_torch else numpy.array(values)


def default_collation_fn(samples: List[Any], combine_tensors: bool = True, combine_scalars: bool = True) -> Any:
    """A batch of samples: of tuples a tuple, of dicts a dict, of what is in each one of its elements.
    Numbers become a numpy array, arrays and tensors one of them, all else a list."""
    rows: List[Dict[Any, Any]] = [each if isinstance(each, dict) else dict(enumerate(each)) for each in samples]
    keys = rows[0].keys()
    for row in rows:
        if row.keys() != keys:
            raise ValueError(f"batched: samples have different fields, {sorted(map(str, keys))} and "
                             f"{sorted(map(str, row))}: choose some by to_tuple()")
    made = {key: _combined([row[key] for row in rows], combine_tensors, combine_scalars) for key in keys}
    return tuple(made.values()) if isinstance(samples[0], (list, tuple)) else made


def _batched(src, size, collation_fn, partial):
    held: List[Any] = []
    for sample in src:
        held.append(sample)
        if len(held) >= size:
            # Before the next one is asked for, so that a state has nothing that was not given.
            yield held if collation_fn is None else collation_fn(held)
            held = []
    if held and partial:
        yield held if collation_fn is None else collation_fn(held)


def batched(batchsize: int = 20, collation_fn: Callable[[List[Any]], Any] | None = default_collation_fn,
            partial: bool = True) -> Stage:
    """Batches of so many samples.

    Arguments:
        collation_fn: makes a batch of a list; None leaves it a list.
        partial: the last batch may have fewer; else they are left out.
    """
    return Stage(_batched, batchsize, collation_fn, partial)


def _unbatched(src):
    for batch in src:
        if isinstance(batch, (list, tuple)):
            for at in range(len(batch[0])):
                yield tuple([each[at] for each in batch])
        elif isinstance(batch, dict):
            sizes = {len(each) for each in batch.values()}
            if len(sizes) != 1:
                raise ValueError(f"unbatched: fields have different numbers of elements, {sorted(sizes)}")
            for at in range(sizes.pop()):
                yield {name: each[at] for name, each in batch.items()}
        else:
            raise ValueError(f"unbatched: a {type(batch).__name__} is no batch")


def unbatched() -> Stage:
    """Samples of batches."""
    return Stage(_unbatched)


def _unlisted(src):
    for batch in src:
        yield from batch


def unlisted() -> Stage:
    """Samples of lists."""
    return Stage(_unlisted)
