"""Lists of shards as WebDataset's users write them: braces, "::", and variables of the environment."""

from __future__ import annotations

import os
import re
from typing import Any, Iterable, List

from .._braces import braces

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_NESTED = 10  # times that a variable may stand in another one


def scheme_of(url: str) -> str:
    """What stands before the colon of a URL, in lower case; "" of a path."""
    found = _SCHEME.match(url)
    return found[1].lower() if found else ""


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
