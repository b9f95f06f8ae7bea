"""Which shards are meant: names, braces and patterns, found in one listing."""

from __future__ import annotations

import os
import re
from array import array

from ._braces import braces
from ._errors import of_status
from ._place import prefix_place, scheme_of, url_of

_MAGIC = re.compile(r"[*?\[]")


def shards_of(shards, argument="shards"):
    """ShardNames of a text with braces or a pattern, and of a list of texts; None for others."""
    if isinstance(shards, (str, os.PathLike)):
        text = os.fspath(shards)
        if not isinstance(text, str) or not ("{" in text or _MAGIC.search(text)):
            return None
        return ShardNames(braces(text, argument) if "{" in text else [text], argument, text)
    if isinstance(shards, list) and all(isinstance(each, (str, os.PathLike)) for each in shards):
        if not shards:
            raise ValueError(f"{argument}: an empty list names no shard")
        texts = [text for each in map(os.fspath, shards)
                 for text in (braces(each, argument) if "{" in each else (each,))]
        return ShardNames(texts, argument, texts[0])
    return None


def is_saved_index(given: object) -> bool:
    """It names an index that was written to a bucket, and no shard's entry."""
    name = os.fspath(given) if isinstance(given, (str, os.PathLike)) else ""
    return "://" in name and name.endswith(".dfx") and not name.endswith(".tar.dfx")


class ShardNames:
    """Shards of one bucket, in the order of the names and patterns that they were given by.

    place    (bucket, what all names begin with)
    given    arguments of the listing that has them all
    """

    def __init__(self, texts, argument, told):
        self.told = told
        self._argument = argument
        self._exact = {}  # the number of each name
        self._patterns = []  # (number, what matches it, as it was given)
        self._count = len(texts)
        places = [tuple(part.decode() for part in prefix_place(text, argument)) for text in texts]
        self._bucket = places[0][0]
        begins = []
        for number, (text, (bucket, name)) in enumerate(zip(texts, places)):
            if bucket != self._bucket or scheme_of(bucket) != scheme_of(self._bucket):
                raise ValueError(f"{argument}: shards of one index are in one bucket, and {texts[0]} and {text} are in "
                                 "two: make an index of each")
            magic = _MAGIC.search(name)
            begins.append(name[:magic.start()] if magic else name)
            if magic:
                self._patterns.append((number, _matcher(name, text, argument), text))
            elif not name:
                raise ValueError(f"{argument}: {text!r} names no object")
            elif name in self._exact:
                raise ValueError(f"{argument}: {text} was given twice, and its samples would come twice")
            else:
                self._exact[name] = number
        self.place = self._bucket.encode(), os.path.commonprefix(begins).encode()
        self.given = {"start": min(begins)}
        if not self._patterns:
            self.given["end"] = max(begins) + "\1"

    def rows(self, names):
        """The numbers of the rows, of the names of the listing's rows.

        Raises: NotFoundError for a name and a pattern that nothing has.
        """
        found = [[] for _ in range(self._count)]
        for row, name in enumerate(names):
            places = [number for number, matches, _ in self._patterns if matches(name)]
            if name in self._exact:
                places.append(self._exact[name])
            if len(places) > 1:
                raise ValueError(f"{self._argument}: {url_of(self._bucket, name)} is meant twice, and its samples "
                                 "would come twice")
            for number in places:
                found[number].append(row)
        for number, _, text in self._patterns:
            if not found[number]:
                raise of_status("not_found", f"no object has a name that matches {text}")
        missing = [name for name, number in self._exact.items() if not found[number]]
        if missing:
            raise of_status("not_found", f"{url_of(self._bucket, missing[0])} is not there"
                            + f", nor are {len(missing) - 1} others of {self.told}" * (len(missing) > 1))
        return array("Q", [row for each in found for row in each])


def _matcher(name, text, argument):
    """What matches a pattern: "*" and "?" stop at a slash, "**" does not, "[a-z]" and "[!a-z]" are letters."""
    parts, at = [], 0
    while at < len(name):
        letter = name[at]
        at += 1
        if name.startswith("**", at - 1):
            parts.append(".*")
            at += 1
        elif letter in "*?":
            parts.append("[^/]*" if letter == "*" else "[^/]")
        elif letter == "[":
            end = name.find("]", at + 1 + (name[at:at + 1] in ("!", "^")))
            if end < 0:
                raise ValueError(f"{argument}: {text!r} has a [ without its ]: write [[] for one of a name")
            inside = name[at:end].replace("\\", "\\\\")
            parts.append("[" + ("^" + inside[1:] if inside[0] in "!^" else inside).replace("[", "\\[") + "]")
            at = end + 1
        else:
            parts.append(re.escape(letter))
    try:
        return re.compile("".join(parts), re.DOTALL).fullmatch
    except re.error as e:
        raise ValueError(f"{argument}: {text!r} is no pattern: {e}") from None
