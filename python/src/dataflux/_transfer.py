"""Files and folders, up and down, and the removal of all below a prefix."""

from __future__ import annotations

import os
from functools import partial

from ._attributes import ATTRIBUTES, CONDITIONS, attributes, taken
from ._calls import Call, calling, json_of
from ._errors import Error, advised, of_status
from ._library import addressof, byref, library, struct
from ._object import Object, conditions, known_of
from ._place import check_local, count_of, flag_of, is_url, named, nanoseconds, one_of
from ._reports import CopiedFolder, DownloadedFile, RemovedObjects, UploadedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Union

    from typing_extensions import Unpack

    from ._attributes import HowToUpload
    from ._object import Place
    from ._progress import Progress

    Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def path_of(value, argument="path"):
    """A path here, as the bytes that the system has."""
    try:
        path = os.fsencode(value)
    except TypeError:
        raise TypeError(f"{argument}: a str, bytes or os.PathLike is needed, and not a "
                        f"{type(value).__name__}") from None
    except UnicodeEncodeError:
        raise ValueError(f"{argument}: {value!r} has what no name of a file can have") from None
    if not path or b"\0" in path:
        raise ValueError(f"{argument}: {value!r} names no file")
    if is_url(path):
        raise ValueError(f"{argument}: {value!r} is an object of the service, and a path here is "
                         "needed: the source comes first, then the target")
    if not os.path.exists(path):  # what is there already may be brought to where it was meant to go
        check_local(os.fsdecode(path), argument)
    return path


def wanted(progress):
    return 0 if progress is None or progress is False else 1


def _uploaded(scheme, operation, record):
    known = json_of(operation)
    known_of(known["object"], scheme)
    known["object"].setdefault("metadata", {})
    return UploadedFile(**{**known, "object": Object(known["object"])})


def _downloaded(operation, record):
    return DownloadedFile(**json_of(operation))


def _failure(bucket, known):
    """The Error of a row of "failures"."""
    name = library.status_name(known["status"]).decode()
    fields = {"bucket": bucket, "object": known["object"]} if known["object"] else {}
    if "path_base64" in known:
        from base64 import b64decode

        fields["path"] = os.fsdecode(b64decode(known["path_base64"]))
    elif "path" in known:
        fields["path"] = known["path"]
    return of_status(name, advised(known["text"], name), **fields)


def _report_of(kind, bucket, on_error):
    """For `finish`: the report of a call for many names; an Error for all that failed, if so
    wanted."""

    def finish(operation, record):
        known = json_of(operation)
        known["failures"] = tuple(_failure(bucket, row) for row in known["failures"])
        report = kind(**known)
        if report.failed and on_error != "return":
            first = report.failures[0]
            many = "1 name has" if report.failed == 1 else f"{report.failed} names have"
            text = (f"{many} failed, and the others are done: see the `report` of this error. The first: "
                    f"{first}")
            # Whoever passes over one kind passes over none of another.
            alike = report.failed == len(report.failures) == [
                each.status for each in report.failures].count(first.status)
            fields = {"status": first.status, "bucket": bucket, "report": report}
            if report.failed == 1:
                fields.update(object=first.object, path=first.path)
            raise (type(first) if alike else Error)(text, **fields) from first
        return report

    return finish


def _folder_options(client, path, url, resume, dry_run, delete_extra, on_error, max_failures, progress,
                    timeout):
    bucket, prefix = client._prefix_place(url)
    one_of(on_error, "on_error", ("raise", "return"))
    return struct(
        "folder_options", path=path_of(path), bucket=bucket, prefix=prefix,
        max_failures=count_of(max_failures, "max_failures", 1), timeout_ns=nanoseconds(timeout),
        resume=flag_of(resume, "resume"), dry_run=flag_of(dry_run, "dry_run"),
        delete_extra=flag_of(delete_extra, "delete_extra"), progress=wanted(progress))


class TransferVerbs:
    """What a client does with files and folders here, and with all objects below a prefix.

    Paths are str, bytes or os.PathLike, and need not be UTF-8. What fails here is an Error as well:
    NotFoundError, PermissionDeniedError, ResourceExhaustedError (no room), InvalidArgumentError (no
    regular file); its text names the path, and its `bucket` is "".

    progress: True for a bar, or a callable that gets done=, total=, unit= and label=.
    timeout: seconds for the whole call, with all its retries; None = no limit. DeadlineError.

    All verbs raise TypeError and ValueError, which name the argument, before any request.
    """

    def upload(self, path: Path, url: Place, *, resume: bool = False, progress: Progress = None,
               timeout: float | None = None, **how: Unpack[HowToUpload]) -> UploadedFile:
        """Writes a file as an object, which appears whole and compared by its checksum, or not at
        all.

        It replaces what was there when the call began, and fails where that has changed meanwhile.

        Arguments:
            path: of a regular file.
            url: of the object.
            resume: a journal beside the file, ".dataflux-upload-...", tells what the service has:
                after a failure, or a kill, the next call goes on from there.
            progress: see TransferVerbs; in bytes.
            content_type, ..., metadata: as of put().
            if_generation_match: the generation to replace; 0 = create only.
            timeout: seconds.

        Raises: AlreadyExistsError; PreconditionError; DataLossError; Error with the status "aborted"
            where the file was changed meanwhile.
        """
        taken(how, "upload", ATTRIBUTES, CONDITIONS[:1])
        bucket, name, _ = self._object_place(url)
        options = struct("upload_file_options", bucket=bucket, object=name, path=path_of(path),
                         timeout_ns=nanoseconds(timeout), resume=flag_of(resume, "resume"),
                         progress=wanted(progress))
        beside = attributes(**how)
        when = conditions(how)
        options.kept = beside, when
        options.attributes = addressof(beside) if beside is not None else None
        options.conditions = addressof(when) if when is not None else None
        return self._run(Call(calling("upload_file", byref(options)), partial(_uploaded, self._scheme)),
                         progress=progress, told=("upload", bucket.decode(), name.decode()))

    def download(self, url: Place, path: Path, *, generation: int = 0, offset: int = 0,
                 length: int | None = None, resume: bool = False, flush: bool = True,
                 progress: Progress = None, timeout: float | None = None) -> DownloadedFile:
        """Reads an object, or a range of it, into a file by ranges in parallel.

        The file gets its name when all of it is there and was compared with the object's checksum;
        until then what had the name has it.

        Arguments:
            url: of the object; a row or an Object names its generation, too.
            path: of the file; one that is there is replaced, a folder is not.
            generation: of the object; 0 = that of the row, or the live one.
            offset, length: bytes wanted; None = to the end.
            resume: after a failure, or a kill, a part stays beside the file,
                ".dataflux-part-...", and the next call goes on with it.
            flush: the bytes are forced to the disk before the file has its name; without it a loss
                of power may leave a torn file.
            progress: see TransferVerbs; in bytes. timeout: seconds.

        Raises: NotFoundError; DataLossError; Error with the status "out_of_range" where the object
            ends before `offset`.
        """
        bucket, name, of_place = self._object_place(url)
        options = struct(
            "download_file_options", bucket=bucket, object=name, path=path_of(path),
            generation=count_of(generation, "generation") or of_place,
            offset=count_of(offset, "offset"),
            length=None if length is None else count_of(length, "length", 1),
            timeout_ns=nanoseconds(timeout), resume=flag_of(resume, "resume"),
            no_flush=not flag_of(flush, "flush"),
            progress=wanted(progress))
        return self._run(Call(calling("download_file", byref(options)), _downloaded), progress=progress,
                         told=("download", bucket.decode(), name.decode()))

    def upload_folder(self, path: Path, url: Place, *, resume: bool = False, dry_run: bool = False,
                      delete_extra: bool = False,
                      on_error: Literal["raise", "return"] = "raise", max_failures: int = 100,
                      progress: Progress = None, timeout: float | None = None) -> CopiedFolder:
        """Copies the files below a folder into objects, of which each appears whole and compared, or
        not at all.

        Regular files are copied, and links to some; links to folders, broken links, devices and
        sockets fail. One that fails does not keep the others from being copied.

        Arguments:
            path: the folder.
            url: "gs://bucket/prefix"; an object is called as that, "/", and the path below the
                folder. "gs://bucket" = the path alone.
            resume: what the target has, of the same size and checksum, is left out.
            dry_run: nothing is changed; the report says what would be.
            delete_extra: in the end objects that no file stands for are removed; none is when
                something failed, or the source is empty.
            on_error: "raise" an Error in the end, of the kind of the failures where they are of one, whose
                `report` is this call's; "return" the report only, whose `failed` says how many.
            max_failures: how many the report names; all are counted.
            progress: see TransferVerbs; in bytes. timeout: seconds.

        Raises: see on_error; and what would make the rest fail as well, such as no credentials. What
            was done until then stays.
        """
        options = _folder_options(self, path, url, resume, dry_run, delete_extra, on_error, max_failures,
                                  progress, timeout)
        bucket = named(options.bucket.decode(), self._scheme)
        call = Call(calling("upload_folder", byref(options)), _report_of(CopiedFolder, bucket, on_error))
        return self._run(call, progress=progress, told=("upload", bucket, options.prefix.decode()))

    def download_folder(self, url: Place, path: Path, *, resume: bool = False,
                        dry_run: bool = False, delete_extra: bool = False,
                        on_error: Literal["raise", "return"] = "raise", max_failures: int = 100,
                        progress: Progress = None, timeout: float | None = None) -> CopiedFolder:
        """Copies the objects below a prefix into files, of which each appears whole and compared, or
        not at all. Nothing is forced to the disk.

        An empty object "x/" makes the folder x. Names that can be no path below the folder fail, such
        as those with ".." in them. Links below the folder are never followed. One that fails does
        not keep the others from being copied.

        Arguments:
            url: "gs://bucket/prefix", which stands for a folder: what is below "prefix/" is meant.
            path: the folder.
            delete_extra: in the end files and links that no object stands for are removed; none is
                when something failed, or the source is empty. Folders stay.
            the others: as of upload_folder().

        Raises: as upload_folder().
        """
        options = _folder_options(self, path, url, resume, dry_run, delete_extra, on_error, max_failures,
                                  progress, timeout)
        bucket = named(options.bucket.decode(), self._scheme)
        call = Call(calling("download_folder", byref(options)), _report_of(CopiedFolder, bucket, on_error))
        return self._run(call, progress=progress, told=("download", bucket, options.prefix.decode()))

    def remove_prefix(self, url: Place, *, older_than: float | None = None, for_good: bool = False,
                      dry_run: bool = False, whole_bucket: bool = False,
                      on_error: Literal["raise", "return"] = "raise", max_failures: int = 100, progress: Progress = None,
                      timeout: float | None = None) -> RemovedObjects:
        """Removes all objects whose names begin with a prefix, while they are listed.

        Each goes by the generation that was seen: what is written meanwhile stays, and its name
        fails. One that fails does not keep the others from being removed.

        Arguments:
            url: "gs://bucket/prefix": "tmp" is "tmpfoo", too; end it with "/" for a folder.
            older_than: only objects of this age in seconds, by the service's clock; None = of any.
            for_good: leaves no noncurrent version in a bucket that keeps those.
            dry_run: nothing is removed; the report says what would be.
            whole_bucket: the prefix may be empty. Without it that is a ValueError, since an empty
                variable would remove everything.
            on_error: "raise" an Error in the end, of the kind of the failures where they are of one, whose
                `report` is this call's; "return" the report only, whose `failed` says how many.
            max_failures: how many the report names; all are counted.
            progress: see TransferVerbs; in objects. timeout: seconds.

        Raises: see on_error; and what would make the rest fail as well. What is gone until then
            stays gone.
        """
        bucket, prefix = self._prefix_place(url)
        if not flag_of(whole_bucket, "whole_bucket") and not prefix:
            raise ValueError(f"url: {url!r} is the whole bucket: whole_bucket=True removes that")
        one_of(on_error, "on_error", ("raise", "return"))
        options = struct(
            "remove_prefix_options", bucket=bucket, prefix=prefix,
            older_than_ns=nanoseconds(older_than, "older_than"),
            max_failures=count_of(max_failures, "max_failures", 1),
            timeout_ns=nanoseconds(timeout), for_good=flag_of(for_good, "for_good"),
            dry_run=flag_of(dry_run, "dry_run"), progress=wanted(progress))
        call = Call(calling("remove_prefix", byref(options)),
                    _report_of(RemovedObjects, bucket.decode(), on_error))
        return self._run(call, progress=progress, told=("remove", bucket.decode(), prefix.decode()))
