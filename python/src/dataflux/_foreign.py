"""Others' indexes of tar shards, as parts of ours. The library reads them but for Energon's, which is a
database: what it says goes through files as webshart writes them."""

from __future__ import annotations

import os

from ._calls import checked
from ._errors import InvalidArgumentError
from ._handles import ErrorHandle, handle
from ._library import byref, library

ShardIndexHandle = handle("shard_index")


def imported(options, listing, paths):
    """The handle of an index of what the files say, of the shards of a listing."""
    import ctypes
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="dataflux-") as folder:
        files = [file for path in paths for file in _files_of(path, folder)]
        made, error = ShardIndexHandle(), ErrorHandle()
        checked(library.shard_index_import(byref(options), listing, (ctypes.c_char_p * len(files))(*files),
                                           len(files), byref(made), byref(error)), error)
    return made


def _files_of(path, folder):
    if path.endswith(b".sqlite"):
        return _of_energon(os.fsdecode(path), folder)
    return [path]


def _is_natural(value):
    return isinstance(value, int) and value >= 0


def _of_energon(path, folder):
    """A file for each shard of Energon's database, which is opened to be read, where it lies."""
    import json
    import sqlite3
    from contextlib import closing
    from urllib.request import pathname2url

    if not os.path.exists(path):
        raise FileNotFoundError(f"foreign: {path} is not there")
    beside = os.path.join(os.path.dirname(path), ".info.json")
    try:
        with open(beside, encoding="utf-8") as file:
            names = list(json.load(file)["shard_counts"])
    except (OSError, ValueError, LookupError, TypeError) as why:
        raise InvalidArgumentError(f"foreign: {beside}, which has the names of the shards, cannot be read: "
                                   f"{why}") from None
    shards = {}
    try:
        with closing(sqlite3.connect(f"file:{pathname2url(os.path.abspath(path))}?mode=ro&immutable=1",
                                     uri=True)) as database:
            for row, (shard, key, part, offset, size) in enumerate(database.execute(
                    "SELECT s.tar_file_id, s.sample_key, p.part_name, p.content_byte_offset, p.content_byte_size "
                    "FROM samples s JOIN sample_parts p USING (tar_file_id, sample_index)")):
                if not (_is_natural(shard) and shard < len(names) and _is_natural(offset) and _is_natural(size)
                        and isinstance(key, str) and isinstance(part, str)):
                    raise InvalidArgumentError(
                        f"foreign: {path}, sample part {row}: shard {shard!r} of {len(names)}, key {key!r}, "
                        f"part {part!r}, offset {offset!r} and size {size!r} are no part of a sample")
                shards.setdefault(names[shard], {})[f"{key}.{part}"] = {"offset": offset, "length": size}
    except (sqlite3.Error, LookupError, TypeError) as why:
        raise InvalidArgumentError(f"foreign: {path} is no index of Energon: {why}") from None
    files = []
    for number, (name, members) in enumerate(shards.items()):
        files.append(os.fsencode(os.path.join(folder, f"{number}.json")))
        with open(files[-1], "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump({"path": name, "files": members}, file)
    return files
