"""Several sources as one, by weights: which source each draw is from."""

from __future__ import annotations

from array import array

from . import _abi
from ._calls import checked
from ._handles import ErrorHandle, handle
from ._library import Size, byref, library, struct
from ._place import count_of, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Dict, List, Literal, Tuple, Union

    Weights = Union[Sequence[float], Mapping[int, Sequence[float]]]

_ENDED = {"stop": _abi.ENDED_STOP, "restart": _abi.ENDED_RESTART, "drop": _abi.ENDED_DROP}
_PARTS = 65536  # the most that the library takes, of all sources together
_ENDLESS = 2**64 - 1

MixerHandle = handle("mixer")


class Mixer:
    """Several sources of samples as one, by weights: which source each draw is from, as a pure function
    of its arguments. Any draw is found at once.

        mix = dataflux.Mixer([1_000_000, 20_000], [0.9, 0.1], ended="restart")
        sources, numbers = mix.draws(0, 1000)  # 900 of source 0, and 100 of source 1

    After n draws a source of the weight w has given n * w samples, rounded down or up: never is the
    error 1 or more. It begins anew where weights change and where a source was dropped. Ranks take
    turns: rank r of w has the draws r, r + w, ... So a job goes on with other ranks, and with other
    weights by `begin` and `counts`.

    Arguments:
        sizes: samples of each source, of one epoch of it; 1 to 256 sources.
        weights: one number of each; or a dict of the draw at which they begin and the weights, as
            {0: [1, 1], 100_000: [3, 1]}. They are made whole parts of at most 65,536 together:
            `weights` tells them.
        ended: when a source has given all of its samples: "stop": the mix ends before the first draw
            that has none; "restart": it begins again, in its own next epoch, and the mix has no end;
            "drop": the others go on without it, until none is left.
        begin, counts: the draw at which the first weights begin, and what each source had given
            before, as counts() told.

    Raises: TypeError and ValueError, which name the argument.

    Threads: any. It is pickled by its arguments.
    """

    __slots__ = ("_arguments", "_handle", "_sources", "_end", "__weakref__")

    def __init__(self, sizes: Sequence[int], weights: Weights, *,
                 ended: Literal["stop", "restart", "drop"] = "stop", begin: int = 0,
                 counts: Sequence[int] | None = None) -> None:
        sizes = [count_of(size, "sizes", 0, 62) for size in sizes]
        begin = count_of(begin, "begin", 0, 63)
        if not 1 <= len(sizes) <= 256:
            raise ValueError(f"sources: 1 to 256 are mixed, and not {len(sizes)}")
        stages = _stages_of(weights, len(sizes), begin)
        before = None if counts is None else [count_of(count, "counts", 0, 62) for count in counts]
        if before is not None and len(before) != len(sizes):
            raise ValueError(f"counts: {len(before)} of them, and {len(sizes)} sources")
        self._arguments = {"sizes": sizes, "weights": stages, "ended": one_of(ended, "ended", _ENDED),
                           "begin": begin, "counts": before}
        self._sources = len(sizes)
        froms, parts = array("Q", stages), array("I", [part for each in stages.values() for part in each])
        columns = {"sizes": array("Q", sizes), "froms": froms, "parts": parts}
        if before is not None:
            columns["counts"] = array("Q", before)
        made, error = MixerHandle(), ErrorHandle()
        options = struct("mixer_options", sources=len(sizes), stages=len(stages), ended=_ENDED[ended],
                         **{name: column.buffer_info()[0] for name, column in columns.items()})
        checked(library.mixer_create(byref(options), byref(made), byref(error)), error)
        self._handle = made
        end = array("Q", [0])
        checked(library.mixer_end(made, end.buffer_info()[0], byref(error)), error)
        self._end = end[0]

    @property
    def end(self) -> int | None:
        """How many draws there are; None = the mix has no end."""
        return None if self._end == _ENDLESS else self._end

    @property
    def weights(self) -> Dict[int, List[int]]:
        """The weights as whole parts, by the draws at which they begin."""
        return {begin: list(parts) for begin, parts in self._arguments["weights"].items()}

    def draws(self, first: int, count: int, step: int = 1) -> Tuple[array[int], array[int]]:
        """The draws first, first + step, ..., `count` of them, and at most to the end: the source of
        each, as array("I"), and which of its samples, as array("Q"), from 0 and through all of its
        epochs."""
        first, step = count_of(first, "first", 0, 64), count_of(step, "step", 1, 64)
        if first < self._arguments["begin"]:
            raise ValueError(f"first: {first}, and the first weights begin at {self._arguments['begin']}")
        count = count_of(count, "count")
        if first >= self._end:
            count = 0
        elif self._end != _ENDLESS:
            count = min(count, -(-(self._end - first) // step))
        sources, numbers = array("I", bytes(4 * count)), array("Q", bytes(8 * count))
        taken, error = Size(), ErrorHandle()
        checked(library.mixer_draws(self._handle, first, step, sources.buffer_info()[0],
                                    numbers.buffer_info()[0], count, byref(taken), byref(error)), error)
        return sources[:taken.value], numbers[:taken.value]

    def counts(self, draw: int) -> List[int]:
        """What each source has given once the draws before `draw` are over."""
        counts, error = array("Q", bytes(8 * self._sources)), ErrorHandle()
        checked(library.mixer_counts(self._handle, count_of(draw, "draw", 0, 64), counts.buffer_info()[0],
                                     byref(error)), error)
        return counts.tolist()

    def __eq__(self, other: object) -> bool:
        return self._arguments == other._arguments if isinstance(other, Mixer) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self._arguments))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._arguments.items() if value)
        return f"dataflux.Mixer({given})"

    def __reduce__(self):
        return _made, (self._arguments,)


def _made(arguments: Dict[str, Any]) -> Mixer:
    return Mixer(**arguments)


def _stages_of(weights: Any, sources: int, begin: int) -> Dict[int, List[int]]:
    """Parts by the draws at which they begin, ascending, from `begin` on."""
    if not hasattr(weights, "items"):
        return {begin: parts_of(weights, sources)}
    found = {count_of(draw, "weights", 0, 63): parts_of(each, sources) for draw, each in weights.items()}
    stages = dict(sorted(found.items()))
    if not stages or min(stages) > begin:
        raise ValueError(f"weights: the first ones begin at {min(stages, default='no draw')}, and not at {begin}")
    first = max(draw for draw in stages if draw <= begin)
    return {max(draw, begin): parts for draw, parts in stages.items() if draw >= first}


def parts_of(weights: Any, sources: int) -> List[int]:
    """Weights as whole parts of their sum: exact where 65,536 parts suffice.

    Raises: TypeError and ValueError, which name the argument.
    """
    from fractions import Fraction
    from math import gcd, isfinite, lcm

    if isinstance(weights, (str, bytes)) or not hasattr(weights, "__iter__"):
        raise TypeError(f"weights: a number of each source is needed, and not a {type(weights).__name__}")
    given = list(weights)
    if len(given) != sources:
        raise ValueError(f"weights: {len(given)} of them, and {sources} sources")
    exact = []
    for weight in given:
        if not isinstance(weight, (int, float, Fraction)) or weight < 0 or isinstance(weight, float) and not isfinite(weight):
            raise ValueError(f"weights: numbers of 0 and more are needed, and not {weight!r}")
        # A float is what it is written as: 0.1 is a tenth.
        exact.append(Fraction(float.__repr__(weight)) if isinstance(weight, float) else Fraction(weight))
    total = sum(exact)
    if not total:
        raise ValueError("weights: one source has a weight at least")
    common = lcm(*[weight.denominator for weight in exact])
    parts = [int(weight * common) for weight in exact]
    least = gcd(*parts)
    parts = [part // least for part in parts]
    if sum(parts) <= _PARTS:
        return parts
    # Rounded down, and the largest remainders up; whoever has a weight has a part.
    shares = [weight * _PARTS / total for weight in exact]
    parts = [max(int(share), 1) if share else 0 for share in shares]
    by_rest = sorted(range(sources), key=lambda n: (int(shares[n]) - shares[n], n))
    for n in by_rest[:max(0, _PARTS - sum(parts))]:
        parts[n] += 1
    while sum(parts) > _PARTS:
        parts[max(range(sources), key=parts.__getitem__)] -= 1
    return parts
