"""The columns of a listing, as views of the library's memory. Each view keeps the listing alive, so
that nothing dangles; none can be written."""

from __future__ import annotations

import ctypes
from array import array
from bisect import bisect_right

from ._calls import checked
from ._handles import ErrorHandle, handle
from ._library import Pointer, byref, kind_of, library
from ._place import bucket_url, url_of

ListingHandle = handle("listing")
_bytes_of = {}


def view(owner, address, size, letter="B"):
    """`size` bytes at an address as elements of the struct module's letter; `owner` lives as long as
    a view of them does."""
    if not size:
        return memoryview(b"").cast(letter)
    # A type for each size is dear to make. One of a power of two covers more than is there, which
    # nobody sees.
    kind = _bytes_of.get(size.bit_length())
    if kind is None:
        kind = _bytes_of[size.bit_length()] = ctypes.c_char * (1 << size.bit_length())
    exporter = kind.from_address(address)
    exporter.owner = owner
    return memoryview(exporter).cast("B")[:size].cast(letter).toreadonly()


class Chunk:
    """A run of rows whose columns lie in one piece. Rows are numbered from 0 here; where several are
    asked for they are a range, or a list of any order.

    first, end   the listing's rows that it has
    """

    __slots__ = ("first", "end", "_raw", "offsets", "_names", "sizes", "generations", "_crc32c",
                 "_valid", "_first_bit")

    def __init__(self, raw):
        self._raw = raw
        self.first = raw.first_row
        self.end = raw.first_row + raw.rows

    def opened(self, owner):
        """Itself, with its columns."""
        raw = self._raw
        if raw is not None:
            count = self.end - self.first
            self.sizes = view(owner, raw.sizes, count * 8, "Q")
            self.generations = view(owner, raw.generations, count * 8, "q")
            self._crc32c = view(owner, raw.crc32c, count * 4, "I")
            self._first_bit = raw.first_bit
            # Set once: a thread that came first may use it already.
            self._valid = view(owner, raw.crc32c_valid, (raw.first_bit + count + 7) // 8) if raw.crc32c_valid else None
            self.offsets = view(owner, raw.name_offsets, count * 4 + 4, "i")
            # `names` is declared a text, which ctypes would copy up to a NUL that is not there.
            address = Pointer.from_buffer(raw, type(raw).names.offset).value
            self._names = view(owner, address, self.offsets[count])
            self._raw = None  # the last step: another thread sees all of it or none
        return self

    def name_bytes(self, row):
        return self._names[self.offsets[row]:self.offsets[row + 1]].tobytes()

    def name(self, row):
        return str(self._names[self.offsets[row]:self.offsets[row + 1]], "utf-8")

    def names(self, rows):
        """Their names, as a list of str."""
        if isinstance(rows, range) and rows.step == 1:
            offsets = self.offsets[rows.start:rows.stop + 1].tolist()
            from_first = offsets[0]
            text = self._names[from_first:offsets[-1]].tobytes()
            pairs = zip(offsets, offsets[1:])
            if text.isascii():  # then a byte is a character: it is decoded once
                text = text.decode("ascii")
                return [text[a - from_first:b - from_first] for a, b in pairs]
            return [text[a - from_first:b - from_first].decode() for a, b in pairs]
        offsets, names = self.offsets, self._names
        return [str(names[offsets[row]:offsets[row + 1]], "utf-8") for row in rows]

    def has_crc32c(self, row):
        valid = self._valid
        bit = row + self._first_bit
        return valid is None or valid[bit >> 3] >> (bit & 7) & 1 == 1

    def crc32c(self, row):
        return self._crc32c[row] if self.has_crc32c(row) else None

    def crc32cs(self, rows):
        """Their checksums, None where the service gave none."""
        if self._valid is None:
            return chosen(self._crc32c, rows)
        column, has = self._crc32c, self.has_crc32c
        return [column[row] if has(row) else None for row in rows]

    def crc32c_column(self):
        """All of them, with anything for those that the service gave none of; and whether it gave
        all."""
        rows = range(self.end - self.first)
        return self._crc32c, self._valid is None or all(map(self.has_crc32c, rows))


def chosen(column, rows):
    """Those rows of a view, or of an array of numpy's."""
    if isinstance(rows, range):
        # A stop of -1 would count from the end.
        return column[rows.start:rows.stop if rows.stop >= 0 else None:rows.step]
    return column[rows] if not isinstance(column, memoryview) else [column[row] for row in rows]


class Table:
    """All rows of a listing's handle, and what is known beside them. Immutable; any thread, and the
    child of a fork, too: it is plain memory."""

    __slots__ = ("handle", "bucket", "url", "size", "_chunks", "_json")

    def __init__(self, handle, bucket, prefix=""):
        self.handle = handle
        self.bucket = bucket
        self.url = url_of(bucket, prefix) if prefix else bucket_url(bucket)  # of what was listed
        self.size = library.listing_size(handle)
        self._chunks = None
        self._json = None

    def _load(self):
        kind = kind_of("chunk")
        size = ctypes.sizeof(kind)
        chunks = []
        for number in range(library.listing_chunks(self.handle)):
            raw, error = kind(), ErrorHandle()
            checked(library.listing_chunk(self.handle, number, byref(raw), size, byref(error)),
                    error)
            chunks.append(Chunk(raw))
        self._chunks = chunks, [chunk.first for chunk in chunks]
        return self._chunks

    def chunk(self, row):
        """The one that has a row of the listing."""
        chunks, firsts = self._chunks or self._load()
        return chunks[bisect_right(firsts, row) - 1].opened(self.handle)

    def runs(self, rows):
        """Chunks, each with those of its rows that come one behind the other in `rows`: None for
        all, a range, or an array."""
        if rows is None:
            for chunk in (self._chunks or self._load())[0]:
                yield chunk.opened(self.handle), range(chunk.end - chunk.first)
            return
        at, count = 0, len(rows)
        step = rows.step if isinstance(rows, range) else 0
        while at < count:
            row = rows[at]
            chunk = self.chunk(row)
            first = chunk.first
            if step > 0:
                some = rows[at:at + (chunk.end - 1 - row) // step + 1]
            elif step < 0:
                some = rows[at:at + (row - first) // -step + 1]
            else:
                until, end = at + 1, chunk.end
                while until < count and first <= rows[until] < end:
                    until += 1
                yield chunk, [each - first for each in rows[at:until]]
                at = until
                continue
            yield chunk, range(some.start - first, some.stop - first, step)
            at += len(some)

    def sizes(self, rows):
        """Bytes of rows, which are numbers in any order, as an array."""
        found, first, end, sizes = array("Q"), 0, 0, None
        for row in rows:
            if not first <= row < end:
                chunk = self.chunk(row)
                first, end, sizes = chunk.first, chunk.end, chunk.sizes
            found.append(sizes[row - first])
        return found

    def of_name(self, name):
        """The rows of that name, which lie together: names are in order of their UTF-8."""
        try:
            wanted = name.encode()
        except UnicodeEncodeError:
            return range(0)
        least = self.lower_bound(wanted)
        end = least
        while end < self.size:  # several generations, where it has them
            chunk = self.chunk(end)
            if chunk.name_bytes(end - chunk.first) != wanted:
                break
            end += 1
        return range(least, end)

    def of_prefix(self, prefix):
        """The first row whose name begins so, and the one behind the last."""
        wanted = prefix.encode()
        # No byte of UTF-8 is the last one, so the next one is a byte, too.
        return (self.lower_bound(wanted),
                self.lower_bound(wanted[:-1] + bytes((wanted[-1] + 1,))))

    def lower_bound(self, wanted):
        """The first row whose name, as bytes, is not less."""
        low, high = 0, self.size
        while low < high:
            middle = (low + high) // 2
            chunk = self.chunk(middle)
            if chunk.name_bytes(middle - chunk.first) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def json(self):
        if self._json is None:
            import json

            text, error = Pointer(), ErrorHandle()
            checked(library.listing_json(self.handle, byref(text), byref(error)), error)
            self._json = json.loads(ctypes.string_at(text.value))
        return self._json
