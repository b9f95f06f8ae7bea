"""What is changed within the service: pipe, cp, mv, rm, and what stands beside an object."""

from __future__ import annotations

from errno import EISDIR
from fsspec.utils import other_paths
from glob import has_magic

from .._errors import Error, NotFoundError
from ._attributes import attributes_of, condition_of, fixed, refuse
from ._finding import missing

_ONE_REQUEST = 16 << 20  # bytes up to which an object is written by one request
_NO_BUCKETS = ("dataflux makes and removes no buckets: use `gcloud storage buckets create` or "
               "`delete`")
# What gcsfs's verbs take, and what has no meaning here, since all is compared by checksums and sent
# in parts of whatever length is best.
_HARMLESS = ("consistency", "chunksize", "chunk_size", "timeout", "batch_size", "concurrency",
             "max_prefetch_size")


def without_harmless(given):
    return {name: value for name, value in given.items() if name not in _HARMLESS}


def bytes_of(value):
    return len(value) if isinstance(value, (bytes, str)) else memoryview(value).nbytes


def is_folder(path):
    return path.endswith("/")


class Changing:
    """Nothing passes through this machine but what is piped."""

    async def _pipe_file(self, path, value, mode="overwrite", **kwargs):
        """Writes bytes as an object, which appears whole. In a transaction it appears at its end.

        Arguments:
            value: bytes, or anything that has them in one piece.
            mode: "overwrite"; "create" raises FileExistsError where there is an object.
            content_type, metadata (a dict of str), fixed_key_metadata, kms_key_name,
                storage_class: of the object.
        """
        bucket, name = self._target(path)
        how = {**attributes_of(given := without_harmless(kwargs)), **condition_of(mode)}
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
                small.append(((self._target(each), data), how))
        raise_first(await self._road.each("put", small))

    async def _touch(self, path, truncate=True, **kwargs):
        """Makes an empty object.

        Raises: NotImplementedError where there is one that is to stay as it is.
        """
        bucket, name = self._target(path)
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
        await self._road.call("copy", (bucket, name), self._target(path2, "path2"),
                              generation=generation, **how)

    async def _pairs(self, path1, path2, recursive, maxdepth):
        """[(path of an object, path that it is to have)]; and the paths that nobody has asked of."""
        if isinstance(path1, list) and isinstance(path2, list):
            if len(path1) != len(path2):
                raise ValueError(f"path2: there are {len(path2)} for {len(path1)} paths")
            return list(zip(path1, path2))
        is_text = not isinstance(path1, list)
        source = self._strip_protocol(path1)
        found = await self._expanded(source, recursive, maxdepth)
        names = list(found)
        if is_text and (not recursive or maxdepth is not None):
            names = [name for name in names if not is_folder(name) and not (
                found[name]["type"] == "directory" if found[name] else await self._isdir(name))]
        if not names:
            return []
        target = self._strip_protocol(path2)
        into = isinstance(target, str) and (is_folder(target) or await self._isdir(target))
        inside = is_text and ((has_magic(source) and len(names) == 1)
                              or (not has_magic(source) and into and not is_folder(source)))
        targets = other_paths(names, target, exists=inside, flatten=not is_text)
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
        """Copies objects within the service, many at a time; folders with `recursive`.

        Arguments:
            on_error: "raise", or "ignore" what is not there any more; None = "ignore" with
                `recursive`.
        """
        ignored = on_error == "ignore" or on_error is None and recursive
        given = without_harmless(kwargs)
        how = attributes_of(given)
        refuse(given, "copy")
        arguments = []
        for source, target in await self._pairs(path1, path2, recursive, maxdepth):
            bucket, name, generation = self._object(source)
            arguments.append((((bucket, name), self._target(target, "path2")),
                              {"generation": generation, **how}))
        raise_first(await self._road.each("copy", arguments), ignored)

    async def _mv_file(self, path1, path2, **kwargs):
        """Renames an object; into another bucket it is copied and removed."""
        await self._mv([path1], [path2])

    async def _mv(self, path1, path2, recursive=False, maxdepth=None, batch_size=None, **kwargs):
        """Renames objects, many at a time, each in one step; into another bucket they are copied and
        removed."""
        if path1 == path2:
            return
        within, across = [], []
        for source, target in await self._pairs(path1, path2, recursive, maxdepth):
            bucket, name = self._target(source, "path1")
            to = self._target(target, "path2")
            if to != (bucket, name):
                (within if to[0] == bucket else across).append((((bucket, name), to), {}))
        raise_first(await self._road.each("move", within))
        # What is written meanwhile stays.
        known = await self._road.each("stat", [((source,), {"fields": []})
                                               for (source, _), _ in across])
        raise_first(known)
        copied = await self._road.each("copy", [
            ((each, target), {}) for each, ((_, target), _) in zip(known, across)])
        gone = [((source,), {"if_generation_match": each.generation})
                for each, ((source, _), _), outcome in zip(known, across, copied)
                if not isinstance(outcome, Error)]
        raise_first([*copied, *await self._road.each("delete", gone)])

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

    async def _not_a_folder(self, path):
        if await self._isdir(path):
            raise IsADirectoryError(EISDIR, "a folder is there: rm() with recursive=True removes it, and "
                                    "all that is below it", path)

    async def _discarded(self, bucket, name, below=False):
        """Discards the files that are open for writing there. Gives whether there were any."""
        found = self._fs._writers_at(bucket, name, below)
        if found:
            await self._road.aside(_discard_all, found)
        return bool(found)

    async def _rm_files(self, paths):
        """Removes objects, many at a time; those that are not there are passed over."""
        await self._rm(list(paths))

    async def _rm(self, path, recursive=False, maxdepth=None, batch_size=None, **kwargs):
        """Removes objects; with `recursive` folders and all that is below them, while that is listed.

        Of a path that this filesystem has a file open at for writing, that file is discarded, and
        nothing is removed: what was there before stays.

        Raises: FileNotFoundError where nothing is there; IsADirectoryError where that is a folder,
            without `recursive`.
        """
        depth_of_all = recursive and maxdepth is None
        wanted = [path] if not isinstance(path, (list, tuple, set)) else list(path)
        wanted = [self._strip_protocol(each) for each in wanted]
        done, files = 0, {}
        for each in wanted:
            bucket, _, name = each.partition("/")
            self._writable(each)
            if await self._discarded(bucket, name, depth_of_all):
                done += 1
                if not depth_of_all:
                    continue
            if depth_of_all and not has_magic(each):
                if not name:
                    raise NotImplementedError(f"path: {each!r} is a bucket: {_NO_BUCKETS}; "
                                              f"remove_prefix() of a Client empties one")
                done += await self._rm_below(bucket, name.rstrip("/"))
            elif has_magic(each) or recursive:
                files.update(await self._below_pattern(each, recursive, maxdepth))
            else:
                files[each] = None
        arguments = []
        for each in files:
            bucket, name, generation = self._object(each)
            arguments.append((((bucket, name),), {"generation": generation}))
        outcomes = await self._road.each("delete", arguments)
        raise_first(outcomes, True)
        done += sum(not isinstance(outcome, Error) for outcome in outcomes)
        if not done:
            if wanted and not recursive:
                await self._not_a_folder(wanted[0])
            raise missing(wanted[0] if wanted else "")

    async def _below_pattern(self, path, recursive, maxdepth):
        """{path: entry} of the files, and of objects that make folders."""
        try:
            found = await self._expanded(path, recursive, maxdepth)
        except FileNotFoundError:
            return {}
        return {name if not entry or entry["type"] == "file" else name + "/": entry
                for name, entry in found.items()
                if not entry or entry["type"] == "file" or recursive and "generation" in entry}

    async def _rm_below(self, bucket, name):
        report = await self._road.call("remove_prefix", (bucket, name + "/"))
        try:
            await self._road.call("delete", (bucket, name))
        except NotFoundError:
            return report.objects
        return report.objects + 1

    async def _mkdir(self, path, create_parents=True, **kwargs):
        """Nothing: a folder is there as soon as an object is in it.

        Raises: NotImplementedError for a bucket.
        """
        if "/" not in self._strip_protocol(path).rstrip("/"):
            raise NotImplementedError(f"path: {path!r} is a bucket: {_NO_BUCKETS}")

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
        bucket, name = self._target(path)
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
        await self._road.call("compose", [self._target(each, "paths") for each in paths],
                              self._target(path))


def _discard_all(files):
    for file in files:
        file.discard()


def raise_first(outcomes, but_missing=False):
    """Raises the first Error of what calls have ended with."""
    for outcome in outcomes:
        if isinstance(outcome, Error) and not (but_missing and isinstance(outcome, NotFoundError)):
            raise outcome
