"""Files and folders of this machine: get, put."""

from __future__ import annotations

import os
from errno import ENOENT

from fsspec.callbacks import DEFAULT_CALLBACK, NoOpCallback
from fsspec.implementations.local import LocalFileSystem, make_path_posix, trailing_sep
from fsspec.utils import check_contained, isfilelike, other_paths
from glob import has_magic

from .._errors import Error, NotFoundError
from .._place import cut_bucket
from .._reports import CopiedFolder
from ._attributes import attributes_of, condition_of, refuse
from ._changing import raise_first
from ._expanding import listed, no_path, passed_over
from ._options import without_harmless
from ._paths import is_folder, is_text, prefix_of

_FILES_AT_ONCE = 16


def telling(callback):
    """What tells a callback of fsspec the counts of a call; None where nobody listens."""
    if callback is None or isinstance(callback, NoOpCallback):
        return None

    def tell(*, done, total, unit, label):
        if total is not None and callback.size != total:
            callback.set_size(total)
        callback.absolute_update(done)

    return tell


def ended(callback, size):
    """Tells a callback that so many bytes are all."""
    if callback is not None and not isinstance(callback, NoOpCallback):
        callback.set_size(size)
        callback.absolute_update(size)


def _is_pattern(path):
    return has_magic(path) and not os.path.lexists(path)


def _expanded_here(paths, recursive, maxdepth):
    """The files and folders that paths and patterns of this machine mean, in order; a path of what is
    there is no pattern, which fsspec's own takes it for."""
    local = LocalFileSystem()
    if not paths:
        raise no_path("lpath")
    found = set()
    for path in map(local._strip_protocol, paths):
        matched, deeper = [path], maxdepth
        if _is_pattern(path):
            matched, deeper = local.glob(path, maxdepth=maxdepth), maxdepth and maxdepth - 1
        if not matched:
            raise FileNotFoundError(ENOENT, "no file matches it", path)
        found.update(matched)
        for each in matched if recursive and deeper != 0 else ():
            found.update(local.find(each, maxdepth=deeper, withdirs=True))
    return sorted(found)


def _two_of_one_name(own, target, report):
    """The Error of a folder that came here without the object of its own name."""
    bucket, _, name = cut_bucket(own["name"])
    text = (f"{own['name']}: an object has the name of the folder, and no file here can: "
            f"{target} has what lies below it; get_file() brings the object under another name")
    failure = Error(text, bucket=bucket, object=name)
    error = Error(text, bucket=bucket, object=name)
    error.report = CopiedFolder(**{
        **report._values(), "found": report.found + 1, "failed": report.failed + 1,
        "failures": (*report.failures, failure)})
    return error


def target_of(base, source, exists):
    """Where a folder goes: into one that exists, under its own name."""
    base = base.rstrip("/")
    return f"{base}/{source.rstrip('/').rpartition('/')[2]}" if exists else base


class Moving:
    """Files appear whole and compared with their checksums, or not at all. A folder goes by one call,
    as `dataflux cp -r` does it."""

    async def _get_file(self, rpath, lpath, callback=DEFAULT_CALLBACK, outfile=None, resume=False,
                        flush=False, **kwargs):
        """Copies an object into a file, which gets its name when all is there.

        Arguments:
            lpath: of the file, or a file that is open for writing; a path that is a folder here, or
                there, makes a folder.
            callback: is told bytes.
            resume: after a failure a part stays, and the next call goes on with it.
            flush: the bytes are forced to the disk.
        """
        refuse(without_harmless(kwargs), "get_file")
        outfile = outfile if outfile is not None else lpath if isfilelike(lpath) else None
        if outfile is not None:
            bucket, name, generation = self._object(rpath)
            await self._road.read_out((bucket, name), generation, callback.set_size,
                                      lambda data: callback.relative_update(
                                          outfile.write(data) or len(data)))
            return
        if os.path.isdir(lpath):
            return
        if self._strip_protocol(rpath).endswith("/") or not self.split_path(rpath)[1]:
            os.makedirs(lpath, exist_ok=True)
            return
        bucket, name, generation = self._object(rpath)
        os.makedirs(os.path.dirname(os.path.abspath(lpath)), exist_ok=True)
        try:
            report = await self._road.call("download", (bucket, name), lpath, generation=generation,
                                           resume=resume, flush=flush, progress=telling(callback))
        except NotFoundError:
            if generation or not await self._is_known_folder(rpath):
                raise
            os.makedirs(lpath, exist_ok=True)
        else:
            ended(callback, report.bytes)

    async def _get(self, rpath, lpath, recursive=False, callback=DEFAULT_CALLBACK, maxdepth=None,
                   resume=False, flush=False, **kwargs):
        """Copies objects into files: one, a list, those that a pattern matches; a folder with
        `recursive`, and else a UserWarning says that nothing was done.

        Arguments:
            callback: of a folder it is told bytes; of several files how many, and of each its bytes.
            resume: of a folder, what is there with the same size and checksum is left out; of files
                as of get_file().
            flush: as of get_file(); of a folder nothing is.

        Raises: an Error at the end for names that could not be copied, such as those that no file
            here can have; its `report` says which. The others are there.
        """
        given = without_harmless(kwargs)
        refuse(given, "get")
        rpath, lpath = listed(rpath), listed(lpath)
        source = self._strip_protocol(rpath)
        one = is_text(source)
        if not one and not is_text(lpath):
            if len(source) != len(lpath):
                raise ValueError(f"lpath: there are {len(lpath)} for {len(source)} paths")
            return await self._get_all(source, [os.fspath(each) for each in lpath],
                                       dict.fromkeys(source), callback, resume, flush)
        named = await self._named(self._wanted(source, "rpath"), recursive)
        pattern = one and has_magic(source) and source not in named
        lpath = make_path_posix(lpath) if is_text(lpath) else lpath
        into = is_text(lpath) and (trailing_sep(lpath) or os.path.isdir(lpath))
        if one and recursive and maxdepth is None and is_text(lpath) and not pattern:
            below = into and not is_folder(source)
            if await self._get_folder(source, target_of(lpath, source, below), callback, resume):
                return
        found = await self._expanded(source, recursive, maxdepth, named)
        names = list(found)
        if one and (not recursive or maxdepth is not None):
            names = [name for name in names if not await self._is_no_file(name, found[name])]
            if not names:
                return None if recursive else passed_over("get", rpath)
        inside = one and (len(names) == 1 if pattern else into and not is_folder(source))
        targets = other_paths(names, lpath, exists=inside, flatten=not one)
        if is_text(lpath):
            check_contained(lpath, targets)
        await self._get_all(names, targets, found, callback, resume, flush)

    async def _get_folder(self, source, target, callback, resume):
        """Gives whether something was found below `source`."""
        report = await self._road.call("download_folder", prefix_of(source), target, resume=resume,
                                       progress=telling(callback))
        if not report.found:
            return False
        ended(callback, report.bytes)
        own = await self._own_file(source, below=True)
        if own:
            raise _two_of_one_name(own, target, report)
        return True

    async def _get_all(self, names, targets, found, callback, resume, flush):
        callback.set_size(len(names))
        pairs = []
        for name, target in zip(names, targets):
            if found[name] and found[name]["type"] == "directory" or os.path.isdir(target):
                os.makedirs(target, exist_ok=True)
                callback.relative_update()
                continue
            os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
            pairs.append((name, target))
        if len(pairs) == 1:
            with callback.branched(*pairs[0]) as child:
                await self._get_file(*pairs[0], callback=child, resume=resume, flush=flush)
            callback.relative_update()
            return

        def tell(number, outcome):
            with callback.branched(*pairs[number]) as child:
                if not isinstance(outcome, Error):
                    ended(child, outcome.bytes)
            callback.relative_update()

        places = [self._object(name) for name, _ in pairs]
        raise_first(await self._road.each("download", [
            (((bucket, name), target), {"generation": generation, "resume": resume, "flush": flush})
            for (bucket, name, generation), (_, target) in zip(places, pairs)],
            tell, _FILES_AT_ONCE))

    async def _put_file(self, lpath, rpath, callback=DEFAULT_CALLBACK, mode="overwrite",
                        resume=False, **kwargs):
        """Copies a file into an object, which appears whole; of a folder it does nothing.

        Arguments:
            callback: is told bytes.
            mode: "overwrite"; "create" raises FileExistsError where there is an object.
            resume: after a failure the next call goes on where this one was.
            content_type (None = what the name says), metadata, fixed_key_metadata, kms_key_name,
                storage_class: of the object.
        """
        if os.path.isdir(lpath):
            return
        place = self._target(rpath, "rpath")
        given = without_harmless(kwargs)
        how = {**attributes_of(given, os.fspath(lpath)), **condition_of(mode)}
        refuse(given, "put_file")
        transaction = self._fs._under_transaction
        if transaction is not None:
            size = await self._road.aside(transaction.put, place, lpath, how)
        else:
            report = await self._road.call("upload", lpath, place, resume=resume,
                                           progress=telling(callback), **how)
            size = report.object.size
        ended(callback, size)

    async def _put(self, lpath, rpath, recursive=False, callback=DEFAULT_CALLBACK, maxdepth=None,
                   batch_size=None, resume=False, **kwargs):
        """Copies files into objects: one, a list, those that a pattern matches; a folder with
        `recursive`, and else a UserWarning says that nothing was done.

        Arguments:
            callback: of a folder it is told bytes; of several files how many, and of each its bytes.
            resume: of a folder, objects of the same size and checksum are left out; of files as of
                put_file().
            the others: as of put_file(). With any of them a folder goes file by file.

        Raises: an Error at the end for files that could not be copied; its `report` says which.
        """
        self._writable(rpath, "rpath")
        lpath, rpath = listed(lpath), listed(rpath)
        one, target = is_text(lpath), self._strip_protocol(rpath)
        if not one and not is_text(target):
            if len(lpath) != len(target):
                raise ValueError(f"rpath: there are {len(target)} for {len(lpath)} paths")
            return await self._put_all([os.fspath(each) for each in lpath], target, callback, resume,
                                       kwargs)
        if one:
            lpath = make_path_posix(lpath)
        pattern = one and _is_pattern(lpath)
        into = is_text(target) and (is_folder(target) or await self._is_known_folder(target))
        if (one and recursive and maxdepth is None and not without_harmless(kwargs)
                and is_text(target) and os.path.isdir(lpath) and not self._fs._intrans):
            place = prefix_of(target_of(target, lpath, into and not trailing_sep(lpath)))
            report = await self._road.call("upload_folder", lpath, place, resume=resume,
                                           progress=telling(callback))
            return ended(callback, report.bytes)
        names = _expanded_here([lpath] if one else lpath, recursive, maxdepth)
        if one and (not recursive or maxdepth is not None):
            names = [name for name in names if not (trailing_sep(name) or os.path.isdir(name))]
            if not names:
                return None if recursive else passed_over("put", lpath)
        inside = one and (len(names) == 1 if pattern else into and not trailing_sep(lpath))
        targets = other_paths(names, target, exists=inside, flatten=not one)
        await self._put_all(names, targets, callback, resume, kwargs)

    async def _put_all(self, names, targets, callback, resume, kwargs):
        pairs = [(name, target) for name, target in zip(names, targets) if not os.path.isdir(name)]
        callback.set_size(len(pairs))
        if len(pairs) == 1 or self._fs._intrans:
            for name, target in pairs:
                with callback.branched(name, target) as child:
                    await self._put_file(name, target, callback=child, resume=resume, **kwargs)
                callback.relative_update()
            return

        def tell(number, outcome):
            with callback.branched(*pairs[number]) as child:
                if not isinstance(outcome, Error):
                    ended(child, outcome.object.size)
            callback.relative_update()

        arguments = []
        for name, target in pairs:
            given = without_harmless(kwargs)
            how = {**condition_of(given.pop("mode", "overwrite")),
                   **attributes_of(given, os.fspath(name)), "resume": resume}
            refuse(given, "put")
            arguments.append(((name, self._target(target, "rpath")), how))
        raise_first(await self._road.each("upload", arguments, tell, _FILES_AT_ONCE))
