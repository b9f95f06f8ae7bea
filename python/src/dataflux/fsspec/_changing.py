"""What is changed within the service: pipe, cp, mv, rm, and what stands beside an object."""

from __future__ import annotations

from errno import EISDIR
from fsspec.utils import other_paths
from glob import has_magic

from .._errors import Error, NotFoundError, again
from .._place import cut_bucket
from ._attributes import attributes_of, condition_of, fixed, refuse
from ._expanding import folder_told, listed, passed_over
from ._finding import missing
from ._options import without_harmless
from ._paths import in_bucket, is_folder, is_text, prefix_of

_ONE_REQUEST = 16 << 20  # bytes up to which an object is written by one request


def bytes_of(value):
    return len(value) if isinstance(value, (bytes, str)) else memoryview(value).nbytes


class Changing:
    """Nothing passes through this machine but what is piped."""

    async def _pipe_file(self, path, value=None, mode="overwrite", **kwargs):
        """Writes bytes as an object, which appears whole. In a transaction it appears at its end.

        Arguments:
            value: bytes, or anything that has them in one piece; `data` is another name of it.
            mode: "overwrite"; "create" raises FileExistsError where there is an object.
            content_type, metadata (a dict of str), fixed_key_metadata, kms_key_name,
                storage_class: of the object.
        """
        given = without_harmless(kwargs)
        value = _only_one(value, given.pop("data", None))
        bucket, name = self._target(path, as_folder=not bytes_of(value))
        how = {**attributes_of(given), **condition_of(mode)}
        refuse(given, "pipe_file")
        transaction = self._fs._under_transaction
        if transaction is not None:
            await self._road.aside(transaction.pipe, (bucket, name), value, how)
        elif bytes_of(value) <= _ONE_REQUEST:
            await self._road.call("put", (bucket, name), value, **how)
        else:
            await self._road.write((bucket, name), value, size_hint=bytes_of(value), **how)

    async def _pipe(self, path, value=None, batch_size=None, **kwargs):
        """Writes one object, or {path: bytes}, many at a time."""
        if isinstance(path, str):
            path = {path: value}
        elif not isinstance(path, dict):
            raise TypeError(f"path: a str or a dict is needed, and not a {type(path).__name__}")
        mode = kwargs.get("mode", "overwrite")
        beside = {name: each for name, each in without_harmless(kwargs).items() if name != "mode"}
        how = {**attributes_of(beside), **condition_of(mode)}
        refuse(beside, "pipe")
        small = []
        for each, data in path.items():
            if self._fs._intrans or bytes_of(data) > _ONE_REQUEST:
                await self._pipe_file(each, data, **kwargs)
            else:
                small.append(((self._target(each, as_folder=not bytes_of(data)), data), how))
        raise_first(await self._road.each("put", small))

    async def _touch(self, path, truncate=True, **kwargs):
        """Makes an empty object.

        Raises: NotImplementedError where there is one that is to stay as it is.
        """
        bucket, name = self._target(path, as_folder=True)
        how = attributes_of(given := without_harmless(kwargs))
        refuse(given, "touch")
        if not truncate:
            how["if_generation_match"] = 0
        try:
            await self._road.call("put", (bucket, name), b"", **how)
        except FileExistsError:
            raise NotImplementedError("truncate=False: an object's times cannot be set: "
                                      "setxattrs() with custom_time says one more") from None

    async def _cp_file(self, path1, path2, acl=None, **kwargs):
        """Copies an object within the service, with what stands beside it."""
        given = without_harmless({**kwargs, "acl": acl})
        how = attributes_of(given)
        refuse(given, "cp_file")
        bucket, name, generation = self._object(path1)
        await self._road.call("copy", (bucket, name), self._target(path2, "path2", is_folder(name)),
                              generation=generation, **how)

    async def _pairs(self, path1, path2, recursive, maxdepth):
        """[(path of an object, path that it is to have)]"""
        source, target = self._strip_protocol(path1), self._strip_protocol(path2)
        one = is_text(source)
        if not one and not is_text(target):
            if len(source) != len(target):
                raise ValueError(f"path2: there are {len(target)} for {len(source)} paths")
            return list(zip(source, target))
        named = await self._named(self._wanted(source, "path1"), recursive)
        pattern = one and has_magic(source) and source not in named
        found = await self._expanded(source, recursive, maxdepth, named)
        names = list(found)
        if one and (not recursive or maxdepth is not None):
            names = [name for name in names if not await self._is_no_file(name, found[name])]
        if not names:
            return []
        into = is_text(target) and (is_folder(target) or await self._is_known_folder(target))
        inside = one and (len(names) == 1 if pattern else into and not is_folder(source))
        targets = other_paths(names, target, exists=inside, flatten=not one)
        pairs = []
        for name, to in zip(names, targets):
            entry = found[name]
            if not entry or entry["type"] == "file":
                pairs.append((name, to))
            elif "generation" in entry:  # a folder that an object makes
                pairs.append((name + "/", to + "/"))
        return pairs

    async def _copy(self, path1, path2, recursive=False, on_error=None, maxdepth=None,
                    batch_size=None, **kwargs):
        """Copies objects within the service, many at a time; folders with `recursive`, and else a
        UserWarning says that nothing was done.

        Arguments:
            on_error: "raise", or "ignore" what is not there any more; None = "ignore" with
                `recursive`.
        """
        ignored = on_error == "ignore" or on_error is None and recursive
        given = without_harmless(kwargs)
        how = attributes_of(given)
        refuse(given, "copy")
        arguments = []
        path1, path2 = listed(path1), listed(path2)
        pairs = await self._pairs(path1, path2, recursive, maxdepth)
        if not pairs and not recursive and path1 != []:
            passed_over("cp", path1)
        for source, target in pairs:
            bucket, name, generation = self._object(source)
            arguments.append((((bucket, name), self._target(target, "path2", is_folder(name))),
                              {"generation": generation, **how}))
        outcomes = await self._road.each("copy", arguments)
        raise_first(outcomes, ignored)
        await self._raise_where_there_is_a_source(arguments, outcomes)

    async def _raise_where_there_is_a_source(self, arguments, outcomes):
        """What is not there any more may be passed over; a bucket that is not there may not."""
        missed = [(((source,), {"generation": how["generation"]}), outcome)
                  for ((source, _), how), outcome in zip(arguments, outcomes)
                  if isinstance(outcome, NotFoundError)]
        there = await self._road.each("exists", [asked for asked, _ in missed])
        raise_first([outcome for (_, outcome), known in zip(missed, there) if known is not False])

    async def _mv_file(self, path1, path2, **kwargs):
        """Renames an object; into another bucket it is copied and removed."""
        await self._mv([path1], [path2])

    async def _mv(self, path1, path2, recursive=False, maxdepth=None, batch_size=None, **kwargs):
        """Renames objects, many at a time, each in one step; folders with `recursive`. Into another
        bucket they are copied and removed.

        Raises: FileNotFoundError; IsADirectoryError where a folder is there, without `recursive`.
        """
        within, across = [], []
        path1, path2 = listed(path1), listed(path2)
        pairs = await self._pairs(path1, path2, recursive, maxdepth)
        if not pairs and not recursive and path1 != []:
            raise IsADirectoryError(EISDIR, folder_told("mv", path1))
        for source, target in pairs:
            bucket, name = self._target(source, "path1", as_folder=True)
            to = self._target(target, "path2", is_folder(name))
            if to != (bucket, name):
                # S3 renames nothing.
                (within if to[0] == bucket and self._scheme == "gs" else across).append((((bucket, name), to), {}))
            elif not await self._exists(source):
                raise missing(source)
        await self._raise_moves(within, await self._road.each("move", within))
        # What is written meanwhile stays.
        known = await self._road.each("stat", [((source,), {"fields": []})
                                               for (source, _), _ in across])
        await self._raise_moves(across, known)
        copied = await self._road.each("copy", [
            ((each, target), {}) for each, ((_, target), _) in zip(known, across)])
        gone = [((source,), {"if_generation_match": each.generation})
                for each, ((source, _), _), outcome in zip(known, across, copied)
                if not isinstance(outcome, Error)]
        raise_first([*copied, *await self._road.each("delete", gone)])

    async def _raise_moves(self, moves, outcomes):
        """raise_first() of moves, of which the first path that names no object may be a folder's."""
        raise_first(outcomes, True)
        for ((source, _), _), outcome in zip(moves, outcomes):
            if isinstance(outcome, NotFoundError):
                await self._not_a_folder("/".join(source), "mv")
                raise_first([outcome])

    async def _rm_file(self, path, **kwargs):
        """Removes an object; see rm()."""
        self._writable(path)
        bucket, name, generation = self._object(path)
        if generation or not await self._discarded(bucket, name):
            try:
                await self._road.call("delete", (bucket, name), generation=generation)
            except NotFoundError:
                await self._not_a_folder(self._strip_protocol(path))
                raise

    async def _not_a_folder(self, path, verb="rm"):
        if await self._is_known_folder(path):
            raise IsADirectoryError(EISDIR, folder_told(verb, path))

    async def _discarded(self, bucket, name, below=False):
        """Discards the files that are open for writing there. Gives whether there were any."""
        found = self._fs._writers_at(bucket, name, below)
        if found:
            await self._road.aside(_discard_all, found)
        return bool(found)

    async def _rm_files(self, paths):
        """Removes objects, many at a time; those that are not there are passed over."""
        arguments = []
        for path in paths:
            self._writable(path)
            bucket, name, generation = self._object(path)
            if generation or not await self._discarded(bucket, name):
                arguments.append((((bucket, name),), {"generation": generation}))
        raise_first(await self._road.each("delete", arguments), True)

    async def _rm(self, path, recursive=False, maxdepth=None, batch_size=None, **kwargs):
        """Removes objects; with `recursive` folders and all that is below them, while that is listed.

        Of a path that this filesystem has a file open at for writing, that file is discarded, and
        nothing is removed: what was there before stays.

        Raises: FileNotFoundError where nothing is there; IsADirectoryError where that is a folder,
            without `recursive`.
        """
        depth_of_all = recursive and maxdepth is None
        wanted = self._wanted(path)
        for each in wanted:
            self._writable(each)
        named = await self._named(wanted, recursive)
        done, files = 0, {}
        for each in wanted:
            bucket, _, name = cut_bucket(each)
            pattern = has_magic(each) and each not in named
            if await self._discarded(bucket, name, depth_of_all):
                done += 1
                if not depth_of_all:
                    continue
            if depth_of_all and not pattern:
                done += await self._rm_below(each)
            elif pattern or recursive:
                files.update(await self._below_pattern(each, recursive, maxdepth, named))
            else:
                files[each] = None
        arguments = []
        for each in files:
            bucket, name, generation = self._object(each)
            arguments.append((((bucket, name),), {"generation": generation}))
        outcomes = await self._road.each("delete", arguments)
        raise_first(outcomes, True)
        for each, outcome in zip(files, outcomes):
            if isinstance(outcome, NotFoundError) and not recursive and files[each] is None:
                await self._not_a_folder(each)
        done += sum(not isinstance(outcome, Error) for outcome in outcomes)
        if not done:
            raise missing(wanted[0])

    async def _below_pattern(self, path, recursive, maxdepth, named):
        """{path: entry} of the files, and of objects that make folders."""
        try:
            found = await self._expanded(path, recursive, maxdepth, named)
        except FileNotFoundError:
            return {}
        return {name if not entry or entry["type"] == "file" else name + "/": entry
                for name, entry in found.items()
                if not entry or entry["type"] == "file" or recursive and "generation" in entry}

    async def _rm_below(self, path):
        """Removes all below a path, and the object that has it. Gives how many."""
        bucket, below = prefix_of(path)
        if not below:
            raise NotImplementedError(f"path: {path!r} is a bucket: {self._no_buckets}; "
                                      f"remove_prefix() of a Client empties one")
        removed = (await self._road.call("remove_prefix", (bucket, below))).objects
        if is_folder(path):
            return removed
        try:
            await self._road.call("delete", (bucket, below[:-1]))
        except NotFoundError:
            return removed
        return removed + 1

    async def _mkdir(self, path, create_parents=True, **kwargs):
        """Nothing: a folder is there as soon as an object is in it.

        Raises: NotImplementedError for a bucket.
        """
        if not in_bucket(self._strip_protocol(path).rstrip("/")):
            raise NotImplementedError(f"path: {path!r} is a bucket: {self._no_buckets}")

    async def _makedirs(self, path, exist_ok=False):
        """Nothing; see mkdir()."""
        if not exist_ok:
            await self._mkdir(path)

    async def _rmdir(self, path):
        """Nothing; see mkdir(). rm() with `recursive` removes what is in a folder."""
        await self._mkdir(path)

    async def _setxattrs(self, path, content_type=None, content_encoding=None,
                         fixed_key_metadata=None, **kwargs):
        """Changes what stands beside an object's bytes.

        Arguments:
            content_type, content_encoding: None = as they are.
            fixed_key_metadata: a dict of cache_control, content_disposition, content_encoding,
                content_language, custom_time.
            others: metadata: a str, or None to remove it.

        Returns: all metadata, as a dict.
        """
        bucket, name = self._target(path, as_folder=True)
        changes = fixed(fixed_key_metadata)
        for key, value in (("content_type", content_type), ("content_encoding", content_encoding)):
            if value is not None:
                changes[key] = value
        if kwargs:
            changes["metadata"] = kwargs
        if changes:
            known = await self._road.call("patch", (bucket, name), **changes)
        else:
            known = await self._road.call("stat", (bucket, name), fields=["metadata"])
        return known.metadata or {}

    async def _getxattr(self, path, attr):
        """One of an object's metadata.

        Raises: KeyError.
        """
        bucket, name, generation = self._object(path)
        known = await self._road.call("stat", (bucket, name), fields=["metadata"],
                                      generation=generation)
        return (known.metadata or {})[attr]

    async def _merge(self, path, paths, acl=None):
        """Puts at most 32 objects of one bucket together into one, within the service."""
        attributes_of({"acl": acl})
        await self._road.call("compose", [self._target(each, "paths", as_folder=True) for each in paths],
                              self._target(path))


def _discard_all(files):
    for file in files:
        file.discard()


def _only_one(value, data):
    if (value is None) == (data is None):
        raise TypeError("value: the bytes are needed, as `value` or as `data`")
    return data if value is None else value


def raise_first(outcomes, but_missing=False):
    """Raises the first Error of what calls have ended with."""
    for outcome in outcomes:
        if isinstance(outcome, Error) and not (but_missing and isinstance(outcome, NotFoundError)):
            raise again(outcome)  # whose traceback has the frames that have the outcomes
