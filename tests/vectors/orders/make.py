#!/usr/bin/env python3
"""Writes orders.json: orders of epochs that no later version may change, by the library in DATAFLUX_LIBRARY. The hash
is FNV-1a of all rows, 8 bytes each."""

import json
from pathlib import Path

from dataflux import Sampler


def hash_of(rows):
    value = 0xCBF29CE484222325
    for byte in rows.tobytes():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


found = []
for shuffle in ("full", "window", "none", "blocks"):
    for seed, epoch in ((0, 0), (7, 3), (2**64 - 1, 2**64 - 1)):
        for count, block, window in ((1, 3, 2), (100, 7, 3), (1003, 10, 8), (1003, 64, 4)):
            more = {"block": block, "window": window} if shuffle in ("window", "blocks") else {}
            rows = Sampler(count, seed=seed, epoch=epoch, shuffle=shuffle, **more)[:]
            found.append({"shuffle": shuffle, "seed": seed, "epoch": epoch, "count": count,
                          "block": more.get("block", 0), "window": more.get("window", 0),
                          "first": rows[:16].tolist(), "hash": hash_of(rows)})
text = ",\n".join(json.dumps(each) for each in found)
(Path(__file__).parent / "orders.json").write_text('{"orders": [\n' + text + "\n]}\n")
