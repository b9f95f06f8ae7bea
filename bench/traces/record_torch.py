#!/usr/bin/env python3
"""Records which bytes torch asks of a file, and gives it, for the benchmarks `trace` and `pyfile`.

    record_torch.py load|save OUT.json

Saves the model of torch_model.py by torch.save, as a zip file in a temporary folder, and loads it,
through a file object that notes every read or write. Needs torch from PyPI; its version is in the
output.
"""

import io
import json
import sys
import tempfile

import torch
import torch_model


class Recorder(io.RawIOBase):
    """A file that notes [offset, length] of each read, what was got and not what was asked for, and
    of each write."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.reads, self.writes = [], []

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=io.SEEK_SET):
        return self.file.seek(offset, whence)

    def tell(self):
        return self.file.tell()

    def write(self, data):
        at = self.file.tell()
        got = self.file.write(data)
        self.writes.append([at, got])
        return got

    def readinto(self, memory):
        at = self.file.tell()
        got = self.file.readinto(memory)
        self.reads.append([at, got])
        return got

    def read(self, size=-1):
        at = self.file.tell()
        got = self.file.read(size)
        self.reads.append([at, len(got)])
        return got


def main():
    what, path = sys.argv[1:]
    with tempfile.TemporaryFile() as file:
        recorder = Recorder(file)
        torch.save(torch_model.model(), recorder)
        size = file.tell()
        file.seek(0)
        if not torch_model.is_model(torch.load(recorder, weights_only=True)):
            raise SystemExit("not all was loaded")
    result = {"what": f"torch.{what}, torch {torch.__version__}", "size": size,
              **({"reads": recorder.reads} if what == "load" else {"writes": recorder.writes})}
    with open(path, "w", encoding="ascii") as out:
        json.dump(result, out, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
