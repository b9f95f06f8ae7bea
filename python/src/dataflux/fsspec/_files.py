"""Objects as files, as fsspec's users know them: dataflux's own, with the names that fsspec's have
beside them."""

from __future__ import annotations

from errno import EIO

from .._errors import PreconditionError
from .._file import FileReader, FileWriter, TextFileWriter
from .._reader import Reader
from .._writer import Writer, abort_quietly
from ._attributes import refuse

_BLOCKS = (64 << 10, 16 << 20)  # least and most bytes that a short read brings


def block_of(block_size):
    """What a reader's `block` is to be: fsspec's block_size, where it can be."""
    return max(_BLOCKS[0], min(int(block_size), _BLOCKS[1])) if block_size else 0


class _Named:
    """What fsspec's files say of themselves."""

    fs = path = None

    @property
    def loc(self):
        """Where it is, as tell() says."""
        return self.tell()

    @property
    def full_name(self):
        return self.fs.unstrip_protocol(self.path)

    def info(self):
        """What is known of the object, as DatafluxFileSystem.info() gives it."""
        return self.fs.info(self.path)

    details = property(info)


class ObjectReader(_Named, FileReader):
    """A FileReader that knows its filesystem. It pickles as that and the path, with the generation
    that it reads."""

    def __init__(self, fs, path, reader, how):
        # Before all else: a destructor may look for them.
        self.fs, self.path, self._how = fs, path, how
        self.blocksize = how.get("block") or 1 << 20
        read_ahead = how.get("read_ahead")
        if read_ahead is None:
            super().__init__(reader)
        else:
            super().__init__(reader, read_ahead)

    @property
    def closed(self):
        return super().closed

    @closed.setter
    def closed(self, value):
        """Nothing: a cache of fsspec's says so of what it has closed."""

    @property
    def cache(self):
        """The cache of fsspec's that it reads by way of, such as blockcache sets; None = none."""
        ahead = self.raw.ahead
        return ahead.cache if isinstance(ahead, _Cached) else None

    @cache.setter
    def cache(self, cache):
        self.raw.ahead.drop()
        self.raw.ahead = _Cached(cache, self.path)

    def _fetch_range(self, start, end):
        """The bytes from `start` to before `end`, as fsspec's caches ask for them."""
        return self.read_at(start, end - start)

    def readuntil(self, char=b"\n", blocks=None):
        """Reads to the first occurrence of some bytes, with them; where there is none, to the end.

        Arguments:
            blocks: bytes that are read at a time; None = `blocksize`.
        """
        begin, found = self.tell(), bytearray()
        while part := self.read(blocks or self.blocksize):
            behind = max(0, len(found) - len(char) + 1)
            found += part
            at = found.find(char, behind)
            if at >= 0:
                del found[at + len(char):]
                self.seek(begin + len(found))
                break
        return bytes(found)

    def info(self):
        return self.fs.info(self.path, generation=self.generation)

    details = property(info)

    def __reduce__(self):
        return _open_again, (self.fs, self.path, self.generation, self._how, self.tell())


class _Cached:
    """A cache of fsspec's, in the place of what is read ahead. It asks the reader's _fetch_range() for
    what it lacks, so that all is of the reader's generation."""

    most = 0

    def __init__(self, cache, path):
        self.cache, self.path = cache, path
        if getattr(cache, "multi_fetcher", None) is not None:
            cache.multi_fetcher = None  # it would read whatever is live then

    def fill(self, at, address, size, lent):
        from ctypes import memmove

        blocks, missing = getattr(self.cache, "blocks", None), ()
        if blocks is not None:
            length = self.cache.blocksize
            missing = [each for each in range(at // length, (at + size) // length + 1)
                       if each not in blocks]
        try:
            data = self.cache._fetch(at, at + size)
        except BaseException:
            if missing:  # it notes blocks before it has them
                blocks.difference_update(missing)
            raise
        if len(data) != size:
            raise OSError(EIO, f"the cache gave {len(data)} bytes of {size} at {at}", self.path)
        memmove(address, bytes(data), size)

    def drop(self):
        pass


def _open_again(fs, path, generation, how, at):
    made = reader_of(fs, path, {**how, "generation": generation})
    made.seek(at)
    return made


def reader_of(fs, path, how):
    how = dict(how)
    bucket, name, generation = fs._object(path, how.pop("generation", None))
    reader = Reader(fs.client, (bucket, name), generation=generation, block=how.get("block", 0),
                    timeout=fs._blocking._road.limit)
    try:
        return ObjectReader(fs, path, reader, how)
    except BaseException:
        reader.close()
        raise


class ObjectWriter(_Named, FileWriter):
    """A FileWriter that knows its filesystem."""

    def __init__(self, fs, path, writer, mode):
        self.fs, self.path = fs, path
        super().__init__(writer, mode)

    def discard(self):
        """Closes it; what was there before stays."""
        self.abort()


class HeldWriter(ObjectWriter):
    """A file of a transaction: closing it sends all its bytes, and commit() makes the object."""

    _whole = False

    def _ended(self):
        self.flush()
        self._whole = True
        self.raw.ended()  # closed for whoever writes; the library's writer stays

    def check(self):
        """Raises where it cannot be committed."""
        if not self._whole:
            what = "was discarded" if self._writer.closed else "was not closed before the end"
            raise PreconditionError(f"{self.url} {what}, so nothing of its transaction is committed")
        self._writer._usable()

    def commit(self):
        """Makes the object.

        Raises: PreconditionError where the file was discarded, or is not closed yet.
        """
        self.check()
        try:
            return self._writer.commit()
        except BaseException:
            abort_quietly(self._writer)
            raise


class HeldText(TextFileWriter):
    """Text on a HeldWriter."""

    def commit(self):
        """Sends all that was written; the file below it is what makes the object."""
        self._flushed(self._file._ended)


def writer_of(fs, kind, path, mode, how):
    """An ObjectWriter or a HeldWriter; rm() of the path finds it."""
    place = fs._target(path)
    client = fs.client
    if mode[0] == "x":
        client._refuse_existing(place, how)
    return _remembered(fs, kind, path, client.writer(place, **how), mode, place)


def appender_of(fs, kind, path, given, how):
    """The same, of what is appended to."""
    from ._appending import AppendWriter, appended_to

    place = fs._target(path)
    appended = fs.client._run(appended_to(fs._blocking._road, place, given, path))
    refuse(given, "open")
    return _remembered(fs, kind, path, AppendWriter(fs.client, appended, **how), "ab", place)


def _remembered(fs, kind, path, writer, mode, place):
    made = kind(fs, path, writer, mode)
    fs._remember_writer(place, made)
    return made


def on_top(file, path, mode, compression, encoding, errors, newline):
    """What a file of text, and a compressed one, is."""
    made = file
    if compression is not None:
        from fsspec.compression import compr
        from fsspec.core import get_compression

        name = get_compression(path, compression)
        if name is not None:
            made = compr[name](file, mode=mode[0])
            _close_both(made, file)
    if "b" in mode:
        return made
    if made is file and isinstance(file, ObjectWriter):
        kind = HeldText if isinstance(file, HeldWriter) else TextFileWriter
        made = kind(file, encoding, errors, newline)
    else:
        from io import TextIOWrapper

        made = TextIOWrapper(made, encoding, errors, newline)
    made.mode = mode
    return made


def _close_both(made, file):
    """Makes close() of what compresses close the file below, as most do not by themselves. What is
    let go of without that does not: then the file is discarded."""
    from weakref import ref

    upper = ref(made)

    def close():
        top = upper()
        if top is None:
            return
        type(top).close(top)
        if not getattr(top, "_finalizing", False):
            file.close()

    try:
        made.close = close
    except AttributeError:  # of a type that has no room for it
        pass
