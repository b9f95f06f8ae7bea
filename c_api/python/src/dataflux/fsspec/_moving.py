"""Files and folders of this machine: get, put."""

from __future__ import annotations

import os

from fsspec.callbacks import DEFAULT_CALLBACK, NoOpCallback
from fsspec.implementations.local import LocalFileSystem, make_path_posix, trailing_sep
from fsspec.utils import check_contained, isfilelike, other_paths
from glob import has_magic

from .._errors import Error, NotFoundError
from ._attributes import attributes_of, condition_of, refuse
from ._changing import raise_first, without_harmless
from ._finding import missing

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
            if generation or not await self._isdir(rpath):
                raise
            os.makedirs(lpath, exist_ok=True)
        else:
            ended(callback, report.bytes)

    async def _get(self, rpath, lpath, recursive=False, callback=DEFAULT_CALLBACK, maxdepth=None,
                   resume=False, flush=False, **kwargs):
        """Copies objects into files: one, a list, those that a pattern matches; a folder with
        `recursive`.

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
        if isinstance(rpath, list) and isinstance(lpath, list):
            if len(rpath) != len(lpath):
                raise ValueError(f"lpath: there are {len(lpath)} for {len(rpath)} paths")
            found = dict.fromkeys(self._strip_protocol(rpath))
            return await self._get_all(self._strip_protocol(rpath), lpath, found, callback, resume,
                                       flush)
        is_text = not isinstance(rpath, list)
        source = self._strip_protocol(rpath)
        lpath = make_path_posix(lpath) if isinstance(lpath, (str, os.PathLike)) else lpath
        into = isinstance(lpath, str) and (trailing_sep(lpath) or os.path.isdir(lpath))
        if is_text and recursive and maxdepth is None and isinstance(lpath, str) \
                and not has_magic(source):
            below = into and not source.endswith("/")
            if await self._get_folder(source, target_of(lpath, source, below), callback, resume):
                return
        found = await self._expanded(rpath, recursive, maxdepth)
        names = list(found)
        if is_text and (not recursive or maxdepth is not None):
            names = [name for name in names if not name.endswith("/") and not (
                found[name]["type"] == "directory" if found[name] else await self._isdir(name))]
            if not names:
                return
        inside = is_text and ((has_magic(source) and len(names) == 1)
                              or (not has_magic(source) and into and not source.endswith("/")))
        targets = other_paths(names, lpath, exists=inside, flatten=not is_text)
        if isinstance(lpath, str):
            check_contained(lpath, targets)
        await self._get_all(names, targets, found, callback, resume, flush)

    async def _get_folder(self, source, target, callback, resume):
        """Gives whether something was found below `source`."""
        bucket, _, name = source.rstrip("/").partition("/")
        report = await self._road.call("download_folder", (bucket, name), target, resume=resume,
                                       progress=telling(callback))
        if report.found:
            ended(callback, report.bytes)
        return bool(report.found)

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
        `recursive`.

        Arguments:
            callback: of a folder it is told bytes; of several files how many, and of each its bytes.
            resume: of a folder, objects of the same size and checksum are left out; of files as of
                put_file().
            the others: as of put_file(). With any of them a folder goes file by file.

        Raises: an Error at the end for files that could not be copied; its `report` says which.
        """
        self._writable(rpath, "rpath")
        if isinstance(lpath, list) and isinstance(rpath, list):
            if len(lpath) != len(rpath):
                raise ValueError(f"rpath: there are {len(rpath)} for {len(lpath)} paths")
            return await self._put_all(lpath, rpath, callback, resume, kwargs)
        is_text = not isinstance(lpath, list)
        if is_text:
            lpath = make_path_posix(lpath)
        target = self._strip_protocol(rpath)
        into = isinstance(target, str) and (trailing_sep(target) or await self._isdir(target))
        if (is_text and recursive and maxdepth is None and not without_harmless(kwargs)
                and isinstance(target, str) and os.path.isdir(lpath) and not has_magic(lpath)
                and not self._fs._intrans):
            bucket, _, name = target_of(target, lpath, into and not trailing_sep(lpath)).partition(
                "/")
            report = await self._road.call("upload_folder", lpath, (bucket, name), resume=resume,
                                           progress=telling(callback))
            return ended(callback, report.bytes)
        local = LocalFileSystem()
        names = local.expand_path(lpath, recursive=recursive, maxdepth=maxdepth)
        if is_text and (not recursive or maxdepth is not None):
            names = [name for name in names if not (trailing_sep(name) or os.path.isdir(name))]
            if not names:
                return
        inside = is_text and ((has_magic(lpath) and len(names) == 1)
                              or (not has_magic(lpath) and into and not trailing_sep(lpath)))
        targets = other_paths(names, target, exists=inside, flatten=not is_text)
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
