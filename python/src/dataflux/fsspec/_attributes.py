"""What stands beside an object's bytes, by the names that gcsfs has for it."""

from __future__ import annotations

from .._attributes import ATTRIBUTES

_FIXED = ("cache_control", "content_disposition", "content_encoding", "content_language",
          "custom_time")


def fixed(given):
    """What gcsfs's `fixed_key_metadata` means, as keyword arguments of a client's verbs."""
    made = {}
    for name, value in (given or {}).items():
        if name not in _FIXED:
            raise ValueError(f"fixed_key_metadata: {name!r} is none of {', '.join(_FIXED)}")
        if name == "custom_time" and isinstance(value, str):
            from datetime import datetime

            # Python 3.10 does not know the letter.
            value = datetime.fromisoformat(value.replace("Z", "+00:00"))
        made[name] = value
    return made


def attributes_of(given, path=None):
    """Takes those that are to stand beside an object out of keyword arguments. Of a path the type is
    guessed by its name, where none is given."""
    made = fixed(given.pop("fixed_key_metadata", None))
    for name in ATTRIBUTES:
        value = given.pop(name, None)
        if value is not None:
            made[name] = value
    if given.pop("acl", None) is not None:
        raise ValueError("acl: dataflux sets no access lists: the bucket's own hold")
    if path is not None and "content_type" not in made:
        from mimetypes import guess_type

        guessed = guess_type(path)[0]
        if guessed is not None:
            made["content_type"] = guessed
    return made


def refuse(given, verb):
    """What is left of keyword arguments is none that the verb has."""
    for name in given:
        raise TypeError(f"{name}: {verb}() takes no such argument")


def condition_of(mode):
    """Keyword arguments for fsspec's `mode` of whole files."""
    if mode == "overwrite":
        return {}
    if mode == "create":
        return {"if_generation_match": 0}
    raise ValueError(f'mode: "overwrite" or "create" is needed, and not {mode!r}')
