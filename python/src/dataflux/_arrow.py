"""A listing's columns for Arrow libraries, numpy and pandas."""

from __future__ import annotations

import ctypes

from ._calls import checked
from ._columns import chosen
from ._handles import ErrorHandle
from ._library import library

_NAME = b"arrow_array_stream"
_api = ctypes.pythonapi
# Addresses, and not objects: in its destructor a capsule may not be referred to any more.
_pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api))
_destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Stream(ctypes.Structure):
    """struct ArrowArrayStream, which its reader moves away, and marks by a release of NULL."""

    _fields_ = [(name, ctypes.c_void_p) for name in
                ("get_schema", "get_next", "get_last_error", "release", "private_data")]


_streams = {}  # those of capsules, by address


def _destroy(capsule, pointer_of=_pointer_of, streams=_streams, name=_NAME, release=_release):
    # Nothing is looked up in this module, which may be taken apart by then.
    address = pointer_of(capsule, name)
    stream = streams.pop(address)
    if stream.release:
        release(stream.release)(address)


_destroyed = _destructor(_destroy)
_api.Py_IncRef(ctypes.py_object(_destroyed))  # a capsule may outlive this module
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _destructor)(
    ("PyCapsule_New", _api))


def _whole_stream(handle):
    """All rows of the library's listing, as a capsule."""
    stream, error = _Stream(), ErrorHandle()
    address = ctypes.addressof(stream)
    _streams[address] = stream
    try:
        checked(library.listing_arrow(handle, address, ctypes.byref(error)), error)
        return _new_capsule(address, _NAME, _destroyed)
    except BaseException:
        del _streams[address]
        if stream.release:
            _release(stream.release)(address)
        raise


class _Whole:
    """What pyarrow asks for all rows of a handle."""

    def __init__(self, handle):
        self.handle = handle

    def __arrow_c_stream__(self, requested_schema=None):
        return _whole_stream(self.handle)


def stream_of(listing, requested_schema):
    if listing._rows is None:
        # That another schema is wanted may be passed over, by the protocol: who asks casts then.
        return _whole_stream(listing._handle)
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError("some rows of a listing go to Arrow by pyarrow, which is not installed; "
                          "a whole listing needs nothing") from None
    return table_of(listing).__arrow_c_stream__(requested_schema)


def table_of(listing):
    import pyarrow

    whole = pyarrow.table(_Whole(listing._handle))
    if listing._rows is None:
        return whole
    first, batch_from = 0, {}  # a batch for each chunk
    for batch in whole.to_batches():
        batch_from[first] = batch
        first += batch.num_rows
    some = []
    for chunk, rows in listing._table.runs(listing._rows):
        batch = batch_from[chunk.first]
        if isinstance(rows, range) and rows.step == 1:
            some.append(batch.slice(rows.start, len(rows)))
        else:
            some.append(batch.take(pyarrow.array(rows, pyarrow.uint64())))
    return pyarrow.Table.from_batches(some, whole.schema)


def arrays_of(listing):
    import numpy

    parts = {"size": [], "generation": [], "crc32c": []}
    known = []
    for chunk, rows in listing._table.runs(listing._rows):
        checksums, complete = chunk.crc32c_column()
        for name, column in (("size", chunk.sizes), ("generation", chunk.generations),
                             ("crc32c", checksums)):
            parts[name].append(chosen(numpy.frombuffer(column, column.format), rows))
        known.append(None if complete else numpy.array([chunk.has_crc32c(row) for row in rows]))
    kinds = {"size": numpy.uint64, "generation": numpy.int64, "crc32c": numpy.uint32}
    arrays = {"name": numpy.array(list(listing.names), dtype=object)}
    for name, pieces in parts.items():
        arrays[name] = (pieces[0] if len(pieces) == 1 else
                        numpy.concatenate(pieces) if pieces else numpy.empty(0, kinds[name]))
    if any(each is not None for each in known):
        missing = [numpy.zeros(len(piece), bool) if each is None else ~each
                   for piece, each in zip(parts["crc32c"], known)]
        arrays["crc32c"] = numpy.ma.masked_array(arrays["crc32c"], numpy.concatenate(missing))
    return arrays
