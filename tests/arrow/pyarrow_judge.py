#!/usr/bin/env python3
"""Lets pyarrow read what store/arrow_stream.hpp exports: the judge that is not of our making.

    tests/arrow/pyarrow_judge.py --library LIBRARY --build DIR

Runs under DATAFLUX_TEST_FULL=1 only. pyarrow is installed from PyPI into a virtual environment in
DIR, which stays; exit status 77 (skipped) where that fails.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import unittest
from pathlib import Path

SKIPPED = 77
STREAM_BYTES = 5 * ctypes.sizeof(ctypes.c_void_p)
library = None


def expected(i):
    """Row i of arrow/listing.cpp."""
    extra = i // 1000 % 2 == 1
    return {
        "name": f"n/{i}\u00e4",
        "size": i * 3,
        "generation": i,
        "crc32c": None if i % 11 == 0 else i * 2654435761 % 2**32,
        "md5": bytes([i % 256] * 16) if extra and i % 2 == 0 else None,
        "created": None,
        "updated": 1_000_000_007 * i if extra and i % 3 == 0 else None,
        "content_type": "text/plain" if extra and i % 5 == 0 else None,
        "storage_class": None,
        "metadata": f'{{"k":"{i}"}}' if extra and i % 7 == 0 else None,
    }


class PyArrow(unittest.TestCase):
    def read(self, rows, first, count):
        import pyarrow
        memory = ctypes.create_string_buffer(STREAM_BYTES)
        library.make_listing(memory, *map(ctypes.c_size_t, (rows, first, count)))
        reader = pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(memory))
        return reader, reader.read_all()

    def check(self, rows, first, count):
        import pyarrow
        reader, table = self.read(rows, first, count)
        del reader
        table.validate(full=True)
        self.assertEqual(table.num_rows, max(0, min(count, rows - first)))
        columns = table.set_column(table.schema.get_field_index("updated"), "updated",
                                   table["updated"].cast(pyarrow.int64())).to_pydict() \
            if "updated" in table.column_names else table.to_pydict()
        for name, values in columns.items():
            want = [expected(i)[name] for i in range(first, first + table.num_rows)]
            self.assertEqual(values, want, name)
        return table

    def test_whole_and_slices(self):
        for first, count in [(0, 5000), (1, 4999), (3, 17), (1013, 900), (1001, 1), (4999, 1)]:
            with self.subTest(first=first, count=count):
                self.check(5000, first, count)

    def test_types(self):
        import pyarrow as pa
        table = self.check(1500, 0, 1500)
        self.assertEqual(table.schema, pa.schema([
            pa.field("name", pa.utf8(), nullable=False),
            pa.field("size", pa.uint64(), nullable=False),
            pa.field("generation", pa.int64(), nullable=False),
            pa.field("crc32c", pa.uint32()),
            pa.field("md5", pa.binary(16)),
            pa.field("created", pa.timestamp("ns", "UTC")),
            pa.field("updated", pa.timestamp("ns", "UTC")),
            pa.field("content_type", pa.utf8()),
            pa.field("storage_class", pa.utf8()),
            pa.field("metadata", pa.utf8())]))

    def test_no_rows(self):
        self.assertEqual(self.check(1500, 1500, 5).num_rows, 0)

    def test_a_column_outlives_its_table(self):
        _, table = self.read(5000, 0, 5000)
        names = table["name"]
        del table
        self.assertEqual(names[4999].as_py(), expected(4999)["name"])

    def test_a_stream_may_be_dropped_half_read(self):
        import pyarrow
        memory = ctypes.create_string_buffer(STREAM_BYTES)
        library.make_listing(memory, *map(ctypes.c_size_t, (5000, 0, 5000)))
        reader = pyarrow.RecordBatchReader._import_from_c(ctypes.addressof(memory))
        batch = reader.read_next_batch()
        del reader
        self.assertEqual(batch.column("name")[0].as_py(), expected(0)["name"])


def python_with_pyarrow(build):
    """The virtual environment's Python; None where it cannot be made."""
    folder = Path(build) / "pyarrow-venv"
    python = folder / "bin/python"
    probe = [str(python), "-c", "import pyarrow"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}
    if python.exists() and subprocess.run(probe, **quiet).returncode == 0:
        return python
    for command in ([sys.executable, "-m", "venv", str(folder)],
                    [str(python), "-m", "pip", "install", "--quiet", "pyarrow"]):
        if subprocess.run(command, **quiet).returncode != 0:
            return None
    return python


def main():
    global library
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--inside", action="store_true", help="this is the environment's Python")
    options = parser.parse_args()
    if os.environ.get("DATAFLUX_TEST_FULL") != "1":
        print("pyarrow_judge: only with DATAFLUX_TEST_FULL=1 (./dev test --full)")
        sys.exit(SKIPPED)
    if not options.inside:
        python = python_with_pyarrow(options.build)
        if python is None:
            print("pyarrow_judge: pyarrow cannot be installed")
            sys.exit(SKIPPED)
        os.execv(python, [str(python), __file__, *sys.argv[1:], "--inside"])
    library = ctypes.CDLL(options.library)
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
