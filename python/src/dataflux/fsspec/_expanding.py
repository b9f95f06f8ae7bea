"""What paths mean that may be names, patterns, or several of both."""

from __future__ import annotations

import os
from errno import ENOENT
from glob import has_magic

import fsspec

from .._errors import Error, NotFoundError
from .._place import cut_bucket
from ._entries import entry_of_folder, entry_of_object, entry_of_row
from ._finding import depth_of, is_denied, missing
from ._paths import in_bucket, is_folder, is_text, prefix_of, without_slash

# The folders of whoever is between a caller and a verb.
_OURS = tuple(os.path.join(os.path.dirname(path), "") for path in (os.path.dirname(__file__), fsspec.__file__))


def listed(path):
    """One path as it is, several as a list: they may come in anything, once."""
    return path if is_text(path) else list(path)


def folder_told(verb, path):
    """The text of a folder to which a verb has done nothing, for want of `recursive`."""
    return f"{path}: a folder is there: {verb}() with recursive=True takes it, and all that is below it"


def passed_over(verb, path):
    """Tells of a folder that a verb leaves alone without `recursive`, as fsspec has it; at the line that
    has called, outside of this package and of fsspec."""
    import sys
    import warnings

    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        level, frame = level + 1, frame.f_back
    warnings.warn(f"nothing was done: {folder_told(verb, path)}", UserWarning, stacklevel=level)


def no_path(argument="path"):
    return FileNotFoundError(ENOENT, f"{argument}: there is no path in it")


class Expanding:
    """A name is a name: a path that names an object means that object, also where it could be a
    pattern. To know that costs a request, for paths with "*", "?" or "[" alone."""

    def _wanted(self, path, argument="path"):
        """The paths that were given: one, or several in anything."""
        wanted = [self._strip_protocol(each) for each in ([path] if is_text(path) else path)]
        if not wanted:
            raise no_path(argument)
        return wanted

    async def _named(self, paths, recursive=False):
        """{path: entry} of those that have what patterns have, and name an object; with `recursive` a
        folder, too. An object's name means that object, whatever else it would match."""
        paths = [path for path in paths if has_magic(path) and in_bucket(without_slash(path))
                 and not has_magic(cut_bucket(path)[0])]
        files = [path for path in paths if not is_folder(path)]
        places = [self._object(path) for path in files]
        outcomes = await self._road.each("stat", [
            (((bucket, name),), {"generation": generation}) for bucket, name, generation in places])
        named = {}
        for path, (bucket, name, _), outcome in zip(files, places, outcomes):
            if is_denied(outcome):  # who may only list
                for row in await self._list(bucket, name, end=name + "\1", parallelism=1):
                    if row.name == name:
                        named[path] = entry_of_row(row)
            elif not isinstance(outcome, Error):
                named[path] = entry_of_object(outcome)
            elif not isinstance(outcome, NotFoundError):
                raise outcome
        for path in paths if recursive else ():
            if path not in named and await self._below(*prefix_of(path)):
                named[path] = entry_of_folder(without_slash(path))
        return named

    async def _expanded(self, path, recursive=False, maxdepth=None, named=None):
        """{path: entry} of what paths and patterns mean; an entry is None where nobody asked. Of
        several, one that matches nothing stays as it is, so that whoever uses it finds it missing.

        Arguments:
            named: what _named() has found; None = it is asked.

        Raises: FileNotFoundError where that is nothing.
        """
        depth_of(maxdepth)
        wanted = self._wanted(path)
        if named is None:
            named = await self._named(wanted, recursive)
        found = {}
        for each in wanted:
            if has_magic(each) and each not in named:
                matched = await self._matched(each, recursive, maxdepth)
            elif recursive:
                matched = await self._with_below(each, maxdepth)
            else:
                matched = {each: named.get(each)}
            if not matched and not is_text(path):
                matched = {each: None}
            found.update((name, entry) for name, entry in matched.items()
                         if entry is not None or name not in found)
        if not found:
            raise missing(str(path))
        return {name: found[name] for name in sorted(found)}

    async def _matched(self, pattern, recursive, maxdepth):
        matched, folders = await self._globbed(pattern, maxdepth)
        if is_folder(pattern):
            matched = {name: entry for name, entry in matched.items() if name in folders}
        found = dict(matched)
        below = maxdepth and maxdepth - 1
        if recursive and below != 0:
            for name in matched:
                if name in folders:
                    lies = await self._find(name + "/", below, True, True)
                    found.update((each, entry) for each, entry in lies.items()
                                 if each not in found or found[each]["type"] == "directory")
        return found

    async def _with_below(self, path, maxdepth):
        found = await self._find(path, maxdepth, True, True)
        root = without_slash(path)
        if root not in found and (found or await self._exists(path)):
            found[root] = entry_of_folder(root)
        return found

    async def _expand_path(self, path, recursive=False, maxdepth=None, assume_literal=False,
                           **kwargs):
        """The paths that paths and patterns mean, in order. A path that names an object is no pattern.

        Arguments:
            assume_literal: none is.

        Raises: FileNotFoundError where there are none.
        """
        if not is_text(path):
            path = list(path)
        named = dict.fromkeys(self._wanted(path)) if assume_literal else None
        return list(await self._expanded(path, recursive, maxdepth, named))
