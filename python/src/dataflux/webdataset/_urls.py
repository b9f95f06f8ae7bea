"""Lists of shards as WebDataset's users write them: braces, "::", and variables of the environment."""

from __future__ import annotations

import os
import re
from itertools import product
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Iterable, List

_NUMBERS = re.compile(r"(-?\d+)\.\.(-?\d+)(?:\.\.-?(\d+))?")
_LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.-?(\d+))?")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_NESTED = 10  # times that a variable may stand in another one


def scheme_of(url: str) -> str:
    """What stands before the colon of a URL, in lower case; "" of a path."""
    found = _SCHEME.match(url)
    return found[1].lower() if found else ""


def braces(pattern: str) -> List[str]:
    """What a pattern stands for: {0..9}, {000..127}, {0..90..10}, {a..f}, {x,y}, one in another, many in a row.
    A brace behind a backslash is itself.

    Raises: ValueError for braces that have no partner.
    """
    return [re.sub(r"\\(.)", r"\1", text) for text in _texts(pattern)]


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
        raise ValueError(f"urls: a brace of {pattern!r} has no partner: write \\{{ and \\}} for those of a name")
    parts.append([pattern[start:]])
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


def _variable(found):
    name = "WDS_" + found[1]
    if name not in os.environ:
        raise ValueError(f"urls: ${{{found[1]}}} is {name} of the environment, which is not set")
    return os.environ[name]


def expand_urls(urls: str) -> List[str]:
    """All URLs of a text: parts between "::", with ${X} from WDS_X of the environment, and braces."""
    found = []
    for each in urls.split("::"):
        for _ in range(_NESTED):
            each, before = _VARIABLE.sub(_variable, each), each
            if each == before:
                break
        found.extend(braces(each))
    return found


def urls_of(urls: Any, argument: str = "urls") -> List[str]:
    """URLs as they were given: of a text all that it stands for; of a list each as it is.

    Raises: TypeError and ValueError, which name the argument.
    """
    if isinstance(urls, (str, os.PathLike)):
        text = os.fspath(urls)
        _refuse(text, argument)
        found = expand_urls(text)
    elif isinstance(urls, dict) or not isinstance(urls, Iterable):
        raise TypeError(f"{argument}: a text or a list of URLs is needed, and not a {type(urls).__name__}")
    else:
        found = [os.fspath(each) for each in urls]
    if not found:
        raise ValueError(f"{argument}: an empty list names nothing")
    for each in found:
        if not isinstance(each, str):
            raise TypeError(f"{argument}: URLs are str, and not {type(each).__name__}")
    return found


def _refuse(text, argument):
    """What webdataset takes for something else than shards."""
    if text.endswith((".yaml", ".yml", ".json")):
        raise ValueError(f"{argument}: {text} is a list of sources, which is not read: give the shards' URLs, and mix "
                         "sources by RandomMix")
    if text.endswith("/"):
        raise ValueError(f"{argument}: {text} is a folder: give its shards, as in {text}{{0000..0127}}.tar")
