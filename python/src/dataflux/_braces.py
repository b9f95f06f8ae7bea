"""Texts with braces that stand for many, as shells and WebDataset's users write them."""

from __future__ import annotations

import re
from itertools import product
from math import prod
from string import ascii_lowercase, ascii_uppercase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List

_NUMBERS = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.-?(\d+))?")
_LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.-?(\d+))?")
_MOST = 10_000_000


def braces(pattern: str, argument: str = "urls") -> List[str]:
    """What a pattern stands for: {0..9}, {000..127}, {0..90..10}, {a..f}, {x,y}, one in another, many in a row.
    A brace behind a backslash is itself.

    Raises: ValueError for braces that have no partner, and for more than ten million texts.
    """
    try:
        return [re.sub(r"\\(.)", r"\1", text) for text in _texts(pattern)]
    except ValueError as e:
        raise ValueError(f"{argument}: {pattern!r} {e}") from None


def _texts(pattern):
    """As braces(), with the backslashes."""
    parts: List[List[str]] = []
    depth = start = at = 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            at += 1
        elif letter == "{":
            if depth == 0:
                parts.append([pattern[start:at]])
                start = at + 1
            depth += 1
        elif letter == "}":
            depth -= 1
            if depth == 0:
                parts.append(_alternatives(pattern[start:at]))
                start = at + 1
            elif depth < 0:
                break
        at += 1
    if depth:
        raise ValueError("has a brace without a partner: write \\{ and \\} for those of a name")
    parts.append([pattern[start:]])
    if prod(map(len, parts)) > _MOST:
        raise ValueError(f"stands for more than {_MOST} names")
    return ["".join(each) for each in product(*parts)]


def _alternatives(inside):
    numbers = _NUMBERS.fullmatch(inside)
    if numbers:
        return _numbers(*numbers.groups())
    letters = _LETTERS.fullmatch(inside)
    if letters:
        return _letters(*letters.groups())
    several = _at_commas(inside)
    if len(several) == 1:
        return ["{" + text + "}" for text in _texts(inside)]
    return [text for each in several for text in _texts(each)]


def _numbers(first, last, step):
    padded = any(len(each.lstrip("-")) > 1 and each.lstrip("-").startswith("0") for each in (first, last))
    width = max(len(first), len(last)) if padded else 0
    return [f"{number:0{width}}" if width else str(number) for number in _from_to(int(first), int(last), step)]


def _letters(first, last, step):
    letters = ascii_uppercase + ascii_lowercase
    return [letters[at] for at in _from_to(letters.index(first), letters.index(last), step)]


def _from_to(first, last, step):
    step = int(step or 1) or 1
    if abs(last - first) // step >= _MOST:
        raise ValueError(f"stands for more than {_MOST} names")
    return range(first, last + 1, step) if first < last else range(first, last - 1, -step)


def _at_commas(inside):
    found, depth, start, at = [], 0, 0, 0
    while at < len(inside):
        letter = inside[at]
        if letter == "\\":
            at += 1
        elif letter in "{}":
            depth += 1 if letter == "{" else -1
        elif letter == "," and depth == 0:
            found.append(inside[start:at])
            start = at + 1
        at += 1
    return [*found, inside[start:]]
