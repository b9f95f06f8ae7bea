"""What is said of paths: a dict for each, with gcsfs's names, and the folders that names imply."""

from __future__ import annotations

from binascii import b2a_base64

from .._object import time_of
from .._place import cut_bucket
from ._paths import in_bucket


def entry_of_object(known):
    """Of what stat() gives: all that the service knows."""
    entry = dict(known.known)
    entry["name"] = f"{known.bucket}/{known.name}"
    entry["size"] = known.size
    entry["type"] = "file"
    if "updated" in entry:
        entry["mtime"] = time_of(entry["updated"])
    if "timeCreated" in entry:
        entry["ctime"] = time_of(entry["timeCreated"])
    return entry


def entry_of_row(row, versions=False):
    """Of a row of a listing: what a fast listing has, in the service's forms."""
    name = f"{row.bucket}/{row.name}"
    entry = {"bucket": row.bucket, "name": f"{name}#{row.generation}" if versions else name,
             "size": row.size, "type": "file", "generation": str(row.generation)}
    if row.crc32c is not None:
        entry["crc32c"] = b2a_base64(row.crc32c.to_bytes(4, "big"), newline=False).decode()
    return entry


def entry_of_folder(path, marker=None):
    """Of a folder, which is nothing but names; "generation" where an empty object makes it."""
    entry = {"bucket": cut_bucket(path)[0], "name": path, "size": 0, "type": "directory",
             "storageClass": "DIRECTORY"}
    if marker is not None:
        entry["generation"] = str(marker.generation)
    return entry


def entry_of_bucket(bucket):
    return {**bucket.known, "name": bucket.name, "size": 0, "type": "directory"}


def is_marker(row):
    """An empty object "x/" stands for the folder x."""
    return row.size == 0 and row.name.endswith("/")


def folders_above(paths, root, begins=""):
    """All folders of paths in their order, at `root` or below it, and that begin with `begins`. The
    bucket is none."""
    found = {}
    last = None
    least = len(root)
    for path in paths:
        folder = path.rpartition("/")[0]
        if folder == last:
            continue
        last = folder
        while (len(folder) >= least and folder not in found and in_bucket(folder)
               and folder.startswith(begins)):
            found[folder] = None
            folder = folder.rpartition("/")[0]
    return found


class Tree:
    """Folders and files below a path, as walk() goes through them.

    folders   by path: {last part: path} of the folders in it
    files     by path: {last part: entry} of the files in it
    """

    def __init__(self, root):
        self.root = root
        self.folders = {root: {}}
        self.files = {root: {}}

    def add_folder(self, path):
        missing = []
        while path not in self.folders:
            missing.append(path)
            path = path.rpartition("/")[0]
        for path in reversed(missing):
            above, _, last = path.rpartition("/")
            self.folders[above][last] = path
            self.folders[path], self.files[path] = {}, {}

    def add_file(self, entry):
        folder, _, last = entry["name"].rpartition("/")
        if folder not in self.folders:
            self.add_folder(folder)
        self.files[folder][last] = entry

    def walk(self, path, maxdepth, topdown, detail):
        """(path, folders, files) of each folder. What is taken out of `folders` is passed over."""
        paths = self.folders[path]
        folders = {last: entry_of_folder(below) for last, below in paths.items()}
        files = self.files[path]
        shown = (path, folders, files) if detail else (path, list(folders), list(files))
        if topdown:
            yield shown
        if maxdepth is None or maxdepth > 1:
            deeper = None if maxdepth is None else maxdepth - 1
            for last in list(shown[1] if topdown else folders):
                if last in paths:
                    yield from self.walk(paths[last], deeper, topdown, detail)
        if not topdown:
            yield shown
