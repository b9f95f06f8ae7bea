"""What is there: ls, find, glob, walk, du, and what is known of one path."""

from __future__ import annotations

from fsspec.asyn import AsyncFileSystem

from .._errors import (Error, NotFoundError, PermissionDeniedError, ResourceExhaustedError,
                       UnauthenticatedError)
from .._place import cut_bucket
from ._entries import (Tree, entry_of_bucket, entry_of_folder, entry_of_object, entry_of_row,
                       folders_above, is_marker)
from ._paths import in_bucket, is_folder, prefix_of, without_slash


def missing(path):
    bucket, _, name = cut_bucket(path)
    return NotFoundError(f"{path}: there is no such object and no such folder", bucket=bucket,
                         object=name)


def is_denied(error):
    """This account may not, whoever it is; of one that is not known at all that says nothing."""
    return isinstance(error, PermissionDeniedError) and not isinstance(error, UnauthenticatedError)


def depth_of(maxdepth):
    if maxdepth is not None and maxdepth < 1:
        raise ValueError("maxdepth must be at least 1")
    return maxdepth


class _Seen:
    """What fsspec's glob() asks; it notes which paths are folders, also where files have them."""

    def __init__(self, verbs):
        self._verbs = verbs
        self.folders = set()

    def __getattr__(self, name):
        return getattr(self._verbs, name)

    async def _find(self, path, maxdepth=None, withdirs=False, detail=True, prefix="",
                    versions=False, **kwargs):
        found = await self._verbs._found(path, maxdepth, withdirs, prefix, versions)
        self.folders.update(entry["name"] for entry in found if entry["type"] == "directory")
        return {entry["name"]: entry for entry in found}


class Finding:
    """Folders are what names imply: "bucket/a" is one where an object's name begins with "a/". An
    empty object "a/" makes one, too. Where a file and a folder have one name, the path is the file's.

    Nothing is remembered: each call asks the service.
    """

    async def _list(self, bucket, prefix, **how):
        return await self._road.call("list", (bucket, prefix), **how)

    async def _below(self, bucket, folder):
        """Whether an object lies below the folder, which ends in "/": one short request."""
        # All names between fold into one, that of the folder.
        found = await self._list(bucket, folder[:-1], start=folder, end=folder[:-1] + "0",
                                 delimiter="/", parallelism=1)
        return bool(found.prefixes)

    async def _glob(self, path, maxdepth=None, **kwargs):
        """What a pattern matches; with "/" at its end folders alone.

        Arguments:
            maxdepth: of "**"; None = all.
            detail: {name: dict}, and no list.
        """
        detail = kwargs.pop("detail", False)
        found, folders = await self._globbed(path, maxdepth, **kwargs)
        if is_folder(self._strip_protocol(path)):
            found = {name: entry if entry["type"] == "directory" else entry_of_folder(name)
                     for name, entry in found.items() if name in folders}
        return found if detail else list(found)

    async def _globbed(self, path, maxdepth, **kwargs):
        """({path: entry} of what a pattern matches, paths of the folders among them). Of a name that
        is a file and a folder the entry is the file's."""
        seen = _Seen(self)
        path = self._strip_protocol(path)
        found = await AsyncFileSystem._glob(seen, path.rstrip("/") if is_folder(path) else path,
                                            maxdepth=maxdepth, detail=True, **kwargs)
        return found, seen.folders.union(
            name for name, entry in found.items() if entry["type"] == "directory")

    async def _bucket_entry(self, bucket):
        try:
            return entry_of_bucket(await self._road.call("bucket", (bucket, "")))
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
        path = self._strip_protocol(path)
        folder = without_slash(path)
        if not folder:
            return {"name": "", "size": 0, "type": "directory"}
        if not in_bucket(folder):
            return await self._bucket_entry(folder)
        if not is_folder(path):
            bucket, name, generation = self._object(path, generation)
            try:
                return entry_of_object(await self._road.call("stat", (bucket, name),
                                                             generation=generation))
            except NotFoundError:
                if generation:
                    raise
        if await self._below(*prefix_of(path)):
            return entry_of_folder(path if is_folder(folder) else folder)
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

    async def _isfile(self, path, **kwargs):
        """Whether it is an object."""
        path = self._strip_protocol(path)
        if is_folder(path) or not in_bucket(path):
            return False
        bucket, name, generation = self._object(path)
        return await self._road.call("exists", (bucket, name), generation=generation)

    async def _isdir(self, path, **kwargs):
        """Whether it is a bucket, or something lies below it and it is no object itself. With "/" at
        its end it names no object.

        Raises: what does not say so. Who may not list learns it of objects alone.
        """
        path = self._strip_protocol(path)
        if not in_bucket(without_slash(path)):
            return await self._exists(path)
        try:
            below = await self._below(*prefix_of(path))
        except NotFoundError:
            return False
        except PermissionDeniedError as why:
            if is_denied(why) and await self._is_known_file(path):
                return False
            raise
        return below and not await self._is_known_file(path)

    async def _is_known_file(self, path):
        """Whether it is an object, and this account may know it."""
        try:
            return await self._isfile(path)
        except PermissionDeniedError as why:
            if is_denied(why):
                return False
            raise

    async def _is_known_folder(self, path):
        """As isdir(), for what goes into a folder, or on: who may not list works with objects."""
        try:
            return await self._isdir(path)
        except PermissionDeniedError as why:
            if is_denied(why):
                return False
            raise

    async def _is_no_file(self, path, entry):
        """Whether what is to be read is a folder. A file is asked for first: that takes no
        permission to list."""
        if entry:
            return entry["type"] == "directory"
        return is_folder(path) or (not await self._is_known_file(path)
                                   and await self._is_known_folder(path))

    async def _size(self, path):
        """Bytes of an object; 0 of a folder."""
        return (await self._info(path))["size"]

    async def _sizes(self, paths, batch_size=None):
        """Bytes of each."""
        paths = list(paths)
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
        path = self._strip_protocol(path)
        folder = without_slash(path)
        if folder:
            found, itself = await self._one_level(path, prefix, versions)
        else:
            found, itself = await self._buckets(prefix), None
        if not found and itself is None and in_bucket(folder) and not prefix:
            found = [await self._file(folder)]
        found.sort(key=lambda entry: entry["name"])
        return found if detail else [entry["name"] for entry in found]

    async def _file(self, path):
        if is_folder(path):
            raise missing(path)
        bucket, name, generation = self._object(path)
        try:
            return entry_of_object(await self._road.call("stat", (bucket, name),
                                                         generation=generation))
        except NotFoundError:
            raise missing(path) from None

    async def _own_file(self, path, below=False):
        """The entry of an object that has the path of a folder, or None; below: something lies below
        it."""
        if not in_bucket(without_slash(path)) or below and is_folder(path):
            return None
        try:
            return await self._file(without_slash(path))
        except NotFoundError:
            return None
        except PermissionDeniedError as why:
            if below and is_denied(why):  # who may only list
                return None
            raise

    async def _one_level(self, path, prefix, versions):
        """Entries of a folder, and the row of the object that makes it, or None.

        Behind "a//b" lies a folder without a name. It is none of them: what goes down by names would
        come to the folder above again.
        """
        bucket, below = prefix_of(path)
        found = await self._list(bucket, below + prefix, delimiter="/", directories=True,
                                 versions=versions)
        folders = dict.fromkeys(f"{bucket}/{each[:-1]}" for each in found.prefixes)
        entries, itself = [], None
        for row in found:
            if not is_marker(row):
                entries.append(entry_of_row(row, versions))
            elif row.name == below:
                itself = row
            else:
                folders[f"{bucket}/{row.name[:-1]}"] = row
        entries.extend(entry_of_folder(name, row) for name, row in folders.items()
                       if not is_folder(name))
        return entries, itself

    async def _find(self, path, maxdepth=None, withdirs=False, detail=False, prefix="",
                    versions=False, **kwargs):
        """All files below a path, and the file that has this path, by a listing of many calls at a
        time, in order of names; of a path that is not there, []. A path with "/" at its end is a
        folder's, and takes no request to look for a file.

        Arguments:
            maxdepth: how many levels; None = all.
            withdirs: folders, too, and the path itself.
            detail: {name: dict} as of ls(), and no list of names.
            prefix: which names behind the path and "/" begin with.
            versions: all generations, "name#generation" each.
        """
        if not (detail or withdirs or versions or maxdepth is not None) \
                and (path := self._strip_protocol(path)):
            names = await self._names(path, prefix)
            own = None if prefix else await self._own_file(path, bool(names))
            return [own["name"], *names] if own else names
        found = await self._found(path, maxdepth, withdirs, prefix, versions)
        if detail:
            return {entry["name"]: entry for entry in found}
        return list(dict.fromkeys(entry["name"] for entry in found))

    async def _names(self, path, prefix):
        """Those of all files below a path."""
        bucket, below = prefix_of(path)
        listing = await self._list(bucket, below + prefix)
        return list(map(f"{bucket}/".__add__, listing.names))

    async def _found(self, path, maxdepth, withdirs, prefix="", versions=False, both=True):
        """Entries in order of names; a folder comes before the file that has its name. both: that of
        the path is one of them where something lies below it, too."""
        path = self._strip_protocol(path)
        folder = without_slash(path)
        depth_of(maxdepth)
        if not folder:
            found = await self._find_in_buckets(maxdepth, withdirs, prefix, versions)
        elif maxdepth == 1:
            level, itself = await self._one_level(path, prefix, versions)
            found = [entry for entry in level if withdirs or entry["type"] == "file"]
            if withdirs and (level or itself) and in_bucket(folder) and not prefix:
                found.append(entry_of_folder(folder, itself))
        else:
            found = await self._all_below(path, withdirs, prefix, versions)
            if maxdepth is not None:
                most = folder.count("/") + maxdepth
                found = [entry for entry in found if entry["name"].count("/") <= most]
        if not prefix and (both or not found):
            own = await self._own_file(path, bool(found))
            if own:
                found.append(own)
        found.sort(key=lambda entry: (entry["name"], entry["type"] == "file"))
        return found

    async def _all_below(self, path, withdirs, prefix, versions):
        bucket, below = prefix_of(path)
        folder = without_slash(path)
        listing = await self._list(bucket, below + prefix, directories=withdirs, versions=versions)
        found, markers = [], {}
        for row in listing:
            if is_marker(row):
                markers[f"{bucket}/{row.name[:-1]}"] = row
            else:
                found.append(entry_of_row(row, versions))
        if withdirs:
            folders = folders_above(map(f"{bucket}/".__add__, listing.names), folder,
                                    f"{folder}/{prefix}" if prefix else "")
            # One without a name is there where an object makes it: cp() and mv() take that along.
            found.extend(entry_of_folder(each, markers.get(each)) for each in folders
                         if each in markers or each == folder or not is_folder(each))
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
        path = self._strip_protocol(path)
        if total and maxdepth is None and without_slash(path):
            listing = await self._list(*prefix_of(path))
            own = await self._own_file(path, len(listing) > 0)
            return listing.total_bytes + (own["size"] if own else 0)
        found = await self._find(path, maxdepth, withdirs, True)
        sizes = {name: entry["size"] for name, entry in found.items()}
        return sum(sizes.values()) if total else sizes

    async def _tree(self, path, maxdepth):
        """A Tree of what lies below a path. Of a file it has that one, without a name."""
        root = without_slash(path)
        tree = Tree(root)
        if maxdepth == 1:
            found = await self._ls(path, detail=True)
        else:
            found = await self._found(path, maxdepth, True, both=False)
            if not found and in_bucket(root):
                raise missing(path)
        for entry in found:
            if entry["name"] == root:
                if entry["type"] == "file":
                    tree.files[root][""] = entry
            elif entry["type"] == "directory":
                tree.add_folder(entry["name"])
            else:
                tree.add_file(entry)
        return tree

    async def _walked(self, path, maxdepth, topdown, on_error, detail):
        """What walk() goes through: an iterator."""
        given = self._strip_protocol(path)
        path = without_slash(given)
        depth_of(maxdepth)
        try:
            tree = await self._tree(given, maxdepth)
        except FileNotFoundError as error:
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
            on_error: where the path, or its bucket, is not there: "omit" gives the path with nothing
                in it; "raise" is FileNotFoundError; a callable is called with it.
            detail: dicts of {name: dict}, and no lists.

        Raises: every other Error, whatever `on_error` is, PermissionError for one: half a tree would
            pass for the whole.
        """
        for each in await self._walked(path, maxdepth, topdown, on_error, detail):
            yield each
