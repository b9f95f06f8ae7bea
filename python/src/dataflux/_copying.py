"""Whole folders from one place to another, wherever the two are: copies, moves, and what keeps two alike."""

from __future__ import annotations

import os

from ._attributes import nanoseconds_since_1970
from ._calls import Call, calling
from ._library import addressof, byref, struct
from ._listing import text_of
from ._place import count_of, flag_of, is_url, named, nanoseconds, one_of
from ._reports import CopiedFolder
from ._transfer import _report_of, path_of, wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Iterable, Literal, TypedDict, Union

    from typing_extensions import Unpack

    from ._object import Place
    from ._progress import Progress
    from ._transfer import Path

    class WhichNames(TypedDict, total=False):
        """Which names below a folder are meant."""

        match: Iterable[str]
        include: Iterable[str]
        exclude: Iterable[str]
        min_size: int
        max_size: int | None
        newer_than: datetime | float | None

_TEXTS = {"match": "match_count", "include": "include_count", "exclude": "exclude_count"}
_NAMES = (*_TEXTS, "min_size", "max_size", "newer_than")


def _patterns(given, argument):
    """An array of C, None for no pattern."""
    try:
        texts = None if isinstance(given, (str, bytes)) else list(given)
    except TypeError:
        texts = None
    if texts is None:
        raise TypeError(f'{argument}: patterns in a list are needed, such as ["*.jpg"], and not a '
                        f"{type(given).__name__}")
    made = [text_of(text, f"{argument}[{at}]") for at, text in enumerate(texts)]
    if not all(made):
        raise ValueError(f"{argument}: one of them is empty")
    if not made:
        return None
    import ctypes

    return (ctypes.c_char_p * len(made))(*made)


def _selection(verb, given):
    """dataflux_selection of what was given; None where that is each name."""
    for name in given:
        if name not in _NAMES:
            raise TypeError(f"{verb}() got an unexpected keyword argument {name!r}")
    made = struct("selection", min_size=count_of(given.get("min_size", 0), "min_size"))
    if given.get("max_size") is not None:
        made.max_size = count_of(given["max_size"], "max_size", 1)
    if given.get("newer_than") is not None:
        made.newer_than_ns = nanoseconds_since_1970(given["newer_than"], "newer_than")
    kept = []
    for name, count in _TEXTS.items():
        patterns = _patterns(given.get(name, ()), name)
        if patterns is not None:
            kept.append(patterns)
            setattr(made, name, addressof(patterns))
            setattr(made, count, len(patterns))
    made.kept = kept
    return made if given else None


def _is_place(value):
    """A bucket's, and no path here."""
    if isinstance(value, (str, bytes)):
        return is_url(value)
    return not isinstance(value, os.PathLike)


class CopyingVerbs:
    """What a client does with whole folders, of which at least one is in a bucket of its service."""

    def copy_tree(self, source: Union[Place, Path], target: Union[Place, Path], *, no_clobber: bool = False,
                  move: bool = False, dry_run: bool = False, on_error: Literal["raise", "return"] = "raise",
                  max_failures: int = 100, progress: Progress = None, timeout: float | None = None,
                  **which: Unpack[WhichNames]) -> CopiedFolder:
        """Copies what is below a folder to another one: a folder here, or "gs://bucket/prefix", of which one
        at least is in a bucket.

        Between two buckets the service copies, and no byte passes here. Each file and each object appears
        whole and compared, or not at all. One that fails does not keep the others from being copied.

        Arguments:
            source, target: the folders themselves: the name of the first one is not added to the second.
            no_clobber: replaces nothing: what is there counts as already_there.
            move: between buckets: removes each source when its copy is there.
            dry_run: nothing is changed; the report says what would be.
            match, include, exclude: patterns of names below the source, such as ["**.jpg"]; of `include` and
                `exclude` one without "/" is compared with the last part of a name.
            min_size, max_size: in bytes. newer_than: a datetime with a time zone, or seconds since 1970.
            on_error: "raise" an Error in the end, of the kind of the failures where they are of one, whose
                `report` is this call's; "return" the report only, whose `failed` says how many.
            max_failures: how many the report names; all are counted.
            progress: True for a bar, or a callable; in bytes. timeout: seconds.

        Raises: see on_error; and what would make the rest fail as well. What was done until then stays.
        """
        return self._between(
            "copy_tree", source, target, which, on_error, progress,
            no_clobber=flag_of(no_clobber, "no_clobber"), move=flag_of(move, "move"),
            dry_run=flag_of(dry_run, "dry_run"), max_failures=count_of(max_failures, "max_failures", 1),
            timeout_ns=nanoseconds(timeout))

    def sync(self, source: Union[Place, Path], target: Union[Place, Path], *, delete: bool = False,
             checksum: bool = False, dry_run: bool = False, on_error: Literal["raise", "return"] = "raise",
             max_failures: int = 100, progress: Progress = None, timeout: float | None = None,
             **which: Unpack[WhichNames]) -> CopiedFolder:
        """Makes a folder as another one is: copies only what differs.

        Of a folder here and one in a bucket what has the same size, and was written an hour or more after the
        other side, is taken to be the same; anything else of the same size is compared by CRC32C. Between two
        buckets two listings are compared, and an object that somebody writes meanwhile is not replaced.

        Arguments:
            source, target: as of copy_tree().
            delete: in the end names that only the target has are removed; none is when something failed, or
                the source is empty.
            checksum: compares by CRC32C what sizes and times take to be the same.
            the others: as of copy_tree(); names that are not meant are left alone on both sides.

        Raises: as copy_tree().
        """
        return self._between(
            "sync", source, target, which, on_error, progress, only_changed=1,
            by_time=not flag_of(checksum, "checksum"), delete_extra=flag_of(delete, "delete"),
            dry_run=flag_of(dry_run, "dry_run"), max_failures=count_of(max_failures, "max_failures", 1),
            timeout_ns=nanoseconds(timeout))

    def _between(self, verb, source, target, which, on_error, progress, **how):
        one_of(on_error, "on_error", ("raise", "return"))
        select = _selection(verb, which)
        given = dict(how, progress=wanted(progress))
        up, down = not _is_place(source), not _is_place(target)
        if up and down:
            raise ValueError("source: neither it nor the target is in a bucket")
        if not up and not down:
            given.pop("by_time", None)
            from_bucket, from_prefix = self._prefix_place(source)
            bucket, prefix = self._prefix_place(target)
            options = struct("copy_objects_options", source_bucket=from_bucket, source_prefix=from_prefix,
                             bucket=bucket, prefix=prefix, **given)
            function, label = "copy_objects", "copy"
        else:
            if given.pop("move", 0):
                raise ValueError("move: only between two buckets; upload or download, and remove the source")
            given["resume"] = given.pop("only_changed", 0)
            bucket, prefix = self._prefix_place(target if up else source)
            options = struct("folder_options", path=path_of(source if up else target,
                                                            "source" if up else "target"),
                             bucket=bucket, prefix=prefix, **given)
            function, label = ("upload_folder", "upload") if up else ("download_folder", "download")
        options.kept = select
        options.select = addressof(select) if select is not None else None
        of = named(options.bucket.decode(), self._scheme)
        return self._run(Call(calling(function, byref(options)), _report_of(CopiedFolder, of, on_error)),
                         progress=progress, told=(label, of, options.prefix.decode()))
