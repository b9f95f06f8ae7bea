#!/usr/bin/env python3
"""Records which bytes torch.load asks of a file, for the benchmark `trace`.

    record_torch_load.py OUT.json

Saves a model of about 1 GiB (a decoder of 20 layers, in float32, with names as such models have) by
torch.save, as a zip file in a temporary folder, and loads it through a file object that notes every
read. Needs torch from PyPI; its version is in the output. What is saved are zeros: only the places
count.
"""

import io
import json
import sys
import tempfile

import torch

LAYERS, WIDTH, WORDS = 20, 1024, 16_384


class Recorder(io.RawIOBase):
    """A file that notes [offset, length] of each read; what was got, not what was asked for."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.reads = []

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=io.SEEK_SET):
        return self.file.seek(offset, whence)

    def tell(self):
        return self.file.tell()

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


def model():
    out = {"model.embed.weight": torch.zeros(WORDS, WIDTH)}
    shapes = {"ln_1.weight": [WIDTH], "ln_1.bias": [WIDTH], "attn.qkv.weight": [3 * WIDTH, WIDTH],
              "attn.qkv.bias": [3 * WIDTH], "attn.out.weight": [WIDTH, WIDTH], "attn.out.bias": [WIDTH],
              "ln_2.weight": [WIDTH], "ln_2.bias": [WIDTH], "mlp.up.weight": [4 * WIDTH, WIDTH],
              "mlp.up.bias": [4 * WIDTH], "mlp.down.weight": [WIDTH, 4 * WIDTH],
              "mlp.down.bias": [WIDTH]}
    for layer in range(LAYERS):
        for name, shape in shapes.items():
            out[f"model.layers.{layer}.{name}"] = torch.zeros(shape)
    out["model.ln_f.weight"] = torch.zeros(WIDTH)
    out["model.ln_f.bias"] = torch.zeros(WIDTH)
    return out


def main():
    with tempfile.TemporaryFile() as file:
        torch.save(model(), file)
        size = file.tell()
        file.seek(0)
        recorder = Recorder(file)
        loaded = torch.load(recorder, weights_only=True)
    if len(loaded) != 12 * LAYERS + 3:
        raise SystemExit("not all was loaded")
    result = {"what": f"torch.load, torch {torch.__version__}", "size": size,
              "reads": recorder.reads}
    with open(sys.argv[1], "w", encoding="ascii") as out:
        json.dump(result, out, separators=(",", ":"))
        out.write("\n")


if __name__ == "__main__":
    main()
