"""What is there: ls, find, glob, walk, du, and what is known of one path."""

from __future__ import annotations

from fsspec.asyn import AsyncFileSystem
from glob import has_magic

from .._errors import Error, NotFoundError, PermissionDeniedError, ResourceExhaustedError
from ._entries import (Tree, entry_of_bucket, entry_of_folder, entry_of_object, entry_of_row,
                       folders_above, is_marker)


def missing(path):
    bucket, _, name = path.partition("/")
    return NotFoundError(f"{path}: there is no such object and no such folder", bucket=bucket,
                         object=name)


def depth_of(maxdepth):
    if maxdepth is not None and maxdepth < 1:
        raise ValueError("maxdepth must be at least 1")
    return maxdepth


class Finding:
    """Folders are what names imply: "bucket/a" is one where an object's name begins with "a/". An
    empty object "a/" makes one, too. Where a file and a folder have one name, the path is the file's.

    Nothing is remembered: each call asks the service.
    """

    _glob = AsyncFileSystem._glob

    async def _list(self, bucket, prefix, **how):
        return await self._road.call("list", (bucket, prefix), **how)

    async def _below(self, bucket, folder):
        """Whether an object lies below the folder, which ends in "/": one short request."""
        # All names between fold into one, that of the folder.
        found = await self._list(bucket, folder[:-1], start=folder, end=folder[:-1] + "0",
                                 delimiter="/", parallelism=1)
        return bool(found.prefixes)

    async def _bucket_entry(self, bucket):
        try:
            return entry_of_bucket(await self._road.call("bucket", f"gs://{bucket}"))
        except PermissionDeniedError:
            # Who may read the objects often may not ask for the bucket.
            try:
                await self._list(bucket, "", delimiter="/", parallelism=1, max_calls=1)
            except ResourceExhaustedError as error:
                if error.http_status:
                    raise
            return entry_of_folder(bucket)

    async def _info(self, path, generation=None, **kwargs):
        """What is known of a path, as a dict: "name", "size", "type" ("file" or "directory"), "mtime",
        "ctime", and all that the service says of an object.

        Raises: FileNotFoundError.
        """
        stripped = self._strip_protocol(path)
        path = stripped.rstrip("/")
        if not path:
            return {"name": "", "size": 0, "type": "directory"}
        if "/" not in path:
            return await self._bucket_entry(path)
        bucket, name, generation = self._object(path, generation)
        if not stripped.endswith("/"):
            try:
                return entry_of_object(await self._road.call("stat", (bucket, name),
                                                             generation=generation))
            except NotFoundError:
                if generation:
                    raise
        if await self._below(bucket, name + "/"):
            return entry_of_folder(path)
        raise missing(path)

    async def _exists(self, path, **kwargs):
        """Whether there is such an object, folder or bucket.

        Raises: what does not say so, such as PermissionError.
        """
        try:
            await self._info(path, **kwargs)
            return True
        except FileNotFoundError:
            return False

    async def _isfile(self, path):
        """Whether it is an object."""
        path = self._strip_protocol(path)
        if path.endswith("/") or "/" not in path:
            return False
        bucket, name, generation = self._object(path)
        return await self._road.call("exists", (bucket, name), generation=generation)

    async def _isdir(self, path):
        """Whether it is a bucket, or something lies below it and it is no object itself."""
        path = self._strip_protocol(path).rstrip("/")
        if "/" in path:
            bucket, _, name = path.partition("/")
            try:
                return await self._below(bucket, name + "/") and not await self._isfile(path)
            except NotFoundError:
                return False
        return await self._exists(path)

    async def _size(self, path):
        """Bytes of an object; 0 of a folder."""
        return (await self._info(path))["size"]

    async def _sizes(self, paths, batch_size=None):
        """Bytes of each."""
        places = [self._object(path) for path in paths]
        found = await self._road.each("stat", [
            (((bucket, name),), {"fields": [], "generation": generation})
            for bucket, name, generation in places])
        return [outcome.size if not isinstance(outcome, Error) else await self._size(path)
                for path, outcome in zip(paths, found)]

    async def _created(self, path):
        """When this generation of the object was made: a datetime in UTC."""
        return await self._time(path, "ctime")

    async def _modified(self, path):
        """When the object, or what stands beside it, was last changed: a datetime in UTC."""
        return await self._time(path, "mtime")

    async def _time(self, path, name):
        entry = await self._info(path)
        if name not in entry:
            raise IsADirectoryError(f"path: {path!r} is a folder, which has no times")
        return entry[name]

    async def _checksum(self, path):
        """A number that is another one when the content is: the object's generation."""
        bucket, name, generation = self._object(path)
        return (await self._road.call("stat", (bucket, name), fields=[],
                                      generation=generation)).generation

    async def _ukey(self, path):
        """A text that is another one when the content is."""
        bucket, name, _ = self._object(path)
        return f"{bucket}/{name}#{await self._checksum(path)}"

    async def _buckets(self, prefix=""):
        found = await self._road.call("buckets", self._fs.project or None, prefix or None)
        return [entry_of_bucket(bucket) for bucket in found]

    async def _ls(self, path, detail=False, prefix="", versions=False, refresh=False, **kwargs):
        """What lies in a folder, in order of names; of a path that is a file, that file; of "", the
        buckets of the project.

        Arguments:
            detail: dicts, and not names alone. Of files they have "name", "size", "type",
                "generation" and "crc32c"; info() has all the rest.
            prefix: which the last part of the names begins with.
            versions: all generations, "name#generation" each.
            refresh: changes nothing, since nothing is remembered.

        Raises: FileNotFoundError where nothing is, but for a bucket without objects, which is [].
        """
        path = self._strip_protocol(path).rstrip("/")
        found = await (self._one_level(path, prefix, versions) if path else self._buckets(prefix))
        if not found and "/" in path and not prefix:
            found = [await self._file(path)]
        found.sort(key=lambda entry: entry["name"])
        return found if detail else [entry["name"] for entry in found]

    async def _file(self, path):
        bucket, name, generation = self._object(path)
        try:
            return entry_of_object(await self._road.call("stat", (bucket, name),
                                                         generation=generation))
        except NotFoundError:
            raise missing(path) from None

    async def _one_level(self, path, prefix, versions):
        """Entries of a folder; itself is one where an object makes it."""
        bucket, _, name = path.partition("/")
        found = await self._list(bucket, (name + "/" if name else "") + prefix, delimiter="/",
                                 directories=True, versions=versions)
        folders = dict.fromkeys(f"{bucket}/{each.rstrip('/')}" for each in found.prefixes)
        entries = []
        for row in found:
            if is_marker(row):
                folders[f"{bucket}/{row.name[:-1]}"] = row
            else:
                entries.append(entry_of_row(row, versions))
        entries.extend(map(entry_of_folder, folders, folders.values()))
        return entries

    async def _find(self, path, maxdepth=None, withdirs=False, detail=False, prefix="",
                    versions=False, **kwargs):
        """All files below a path, by a listing of many calls at a time, in order of names; of a path
        that is a file, that file; of one that is not there, [].

        Arguments:
            maxdepth: how many levels; None = all.
            withdirs: folders, too, and the path itself.
            detail: {name: dict} as of ls(), and no list of names.
            prefix: which names behind the path and "/" begin with.
            versions: all generations, "name#generation" each.
        """
        if not (detail or withdirs or versions) and maxdepth is None:
            names = await self._names(path, prefix)
            if names:
                return names
        found = await self._found(path, maxdepth, withdirs, prefix, versions)
        if detail:
            return {entry["name"]: entry for entry in found}
        return list(dict.fromkeys(entry["name"] for entry in found))

    async def _names(self, path, prefix):
        """Those of all files below a path."""
        bucket, _, name = self._strip_protocol(path).rstrip("/").partition("/")
        if not bucket:
            return []
        listing = await self._list(bucket, (name + "/" if name else "") + prefix)
        return list(map(f"{bucket}/".__add__, listing.names))

    async def _found(self, path, maxdepth, withdirs, prefix="", versions=False):
        """Entries in order of names; a folder comes before the file that has its name."""
        path = self._strip_protocol(path).rstrip("/")
        depth_of(maxdepth)
        if not path:
            found = await self._find_in_buckets(maxdepth, withdirs, prefix, versions)
        elif maxdepth == 1:
            found = [entry for entry in await self._one_level(path, prefix, versions)
                     if withdirs or entry["type"] == "file"]
            if withdirs and found and "/" in path and not prefix:
                found.insert(0, entry_of_folder(path))
        else:
            bucket, _, name = path.partition("/")
            listing = await self._list(bucket, (name + "/" if name else "") + prefix,
                                       directories=withdirs, versions=versions)
            found, markers = [], {}
            for row in listing:
                if is_marker(row):
                    markers[f"{bucket}/{row.name[:-1]}"] = row
                else:
                    found.append(entry_of_row(row, versions))
            if withdirs:
                folders = folders_above(map(f"{bucket}/".__add__, listing.names), path,
                                        f"{path}/{prefix}" if prefix else "")
                found.extend(entry_of_folder(folder, markers.get(folder)) for folder in folders)
            if maxdepth is not None:
                most = path.count("/") + maxdepth
                found = [entry for entry in found if entry["name"].count("/") <= most]
        if not found and "/" in path and not prefix:
            try:
                found = [await self._file(path)]
            except NotFoundError:
                pass
        found.sort(key=lambda entry: (entry["name"], entry["type"] == "file"))
        return found

    async def _find_in_buckets(self, maxdepth, withdirs, prefix, versions):
        found = []
        for entry in await self._buckets(prefix):
            if withdirs:
                found.append(entry)
            if maxdepth != 1:
                found += await self._found(entry["name"], maxdepth and maxdepth - 1, withdirs, "",
                                           versions)
        return found

    async def _du(self, path, total=True, maxdepth=None, withdirs=False, **kwargs):
        """Bytes of all files below a path together; with total=False {path: bytes}."""
        path = self._strip_protocol(path).rstrip("/")
        if total and maxdepth is None and path:
            bucket, _, name = path.partition("/")
            listing = await self._list(bucket, name + "/" if name else "")
            if len(listing):
                return listing.total_bytes
        found = await self._find(path, maxdepth, withdirs, True)
        sizes = {name: entry["size"] for name, entry in found.items()}
        return sum(sizes.values()) if total else sizes

    async def _tree(self, path, maxdepth):
        """A Tree of what lies below a path. Of a file it has that one, without a name."""
        tree = Tree(path)
        if maxdepth == 1:
            found = await self._ls(path, detail=True)
        else:
            found = await self._found(path, maxdepth, True)
            if not found and "/" in path:
                raise missing(path)
        for entry in found:
            if entry["name"] == path:
                if entry["type"] == "file":
                    tree.files[path][""] = entry
            elif entry["type"] == "directory":
                tree.add_folder(entry["name"])
            else:
                tree.add_file(entry)
        return tree

    async def _walked(self, path, maxdepth, topdown, on_error, detail):
        """What walk() goes through: an iterator."""
        path = self._strip_protocol(path).rstrip("/")
        depth_of(maxdepth)
        try:
            tree = await self._tree(path, maxdepth)
        except OSError as error:
            if on_error == "raise":
                raise
            if callable(on_error):
                on_error(error)
            return iter([(path, {}, {}) if detail else (path, [], [])])
        return tree.walk(path, maxdepth, topdown, detail)

    async def _walk(self, path, maxdepth=None, topdown=True, on_error="omit", detail=False,
                    **kwargs):
        """Goes through folders like os.walk(): (path, folders, files) of each, by one listing of all
        that is below the path. Folders that are taken out of the list are passed over.

        Arguments:
            maxdepth: how many levels; None = all. 1 lists this level alone.
            topdown: a folder comes before what is in it.
            on_error: of the listing: "omit" gives the path with nothing in it; "raise"; a callable
                is called with the error.
            detail: dicts of {name: dict}, and no lists.
        """
        for each in await self._walked(path, maxdepth, topdown, on_error, detail):
            yield each

    async def _expanded(self, path, recursive=False, maxdepth=None):
        """{path: entry} of what paths and patterns mean; an entry is None where nobody asked.

        Raises: FileNotFoundError where that is nothing.
        """
        depth_of(maxdepth)
        wanted = [path] if not isinstance(path, (list, tuple, set)) else path
        found = {}
        for each in map(self._strip_protocol, wanted):
            if has_magic(each):
                matched = await self._glob(each, maxdepth=maxdepth, detail=True)
                found.update(matched)
                below = maxdepth and maxdepth - 1
                if recursive and below != 0:
                    for name, entry in matched.items():
                        if entry["type"] == "directory":
                            found.update(await self._find(name, below, True, True))
            elif not recursive:
                found.setdefault(each, None)
            else:
                below = await self._find(each, maxdepth, True, True)
                found.update(below)
                root = each.rstrip("/")
                if root not in found and (below or await self._exists(root)):
                    found[root] = entry_of_folder(root)
        if not found:
            raise missing(str(path))
        return {name: found[name] for name in sorted(found)}

    async def _expand_path(self, path, recursive=False, maxdepth=None, **kwargs):
        """The paths that paths and patterns mean, in order.

        Raises: FileNotFoundError where there are none.
        """
        return list(await self._expanded(path, recursive, maxdepth))
