"""Writers of shards: one archive, or as many as there are samples for."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict

from ._encode import encoder_of
from ._open import gopen, is_ours, open_gs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Self

    from .._client import Client

_BLOCK = 512
_RECORD = 10_240


def _compression(name, compress):
    """"gz", "bz2", "xz" or ""."""
    if compress is False:
        return ""
    if compress is True:
        return "gz"
    if compress is not None:
        if compress not in ("gz", "bz2", "xz"):
            raise ValueError(f"compress: {compress!r} is none of True, False, gz, bz2 and xz")
        return compress
    return next((each for each in ("gz", "bz2", "xz") if name.endswith(each)), "")


class _Below:
    """What a compressor writes to, which may be gone before it is."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, data: Any) -> int:
        if self.stream is not None:
            self.stream.write(data)
        return len(data)

    def flush(self) -> None:
        pass


def _compressed(stream, kind):
    if kind == "gz":
        import gzip

        return gzip.GzipFile("", "wb", 9, stream, mtime=0)
    if kind == "bz2":
        import bz2

        return bz2.BZ2File(stream, "wb")
    import lzma

    return lzma.LZMAFile(stream, "wb")


class TarWriter:
    """Writes samples into one archive.

        with TarWriter("gs://bucket/train-000.tar") as sink:
            sink.write({"__key__": "0001", "jpg": image, "json": {"label": 3}})

    Fields are sorted by name. Members have no time unless you give one, so that the same samples are the same bytes.
    A file or an object appears when it is closed, whole; an exception in the `with` discards it.

    Arguments:
        fileobj: a URL as of gopen(), or a stream, which is not closed.
        user, group, mode: of members.
        compress: "gz", "bz2" or "xz"; True = gz; None = as the name ends.
        encoder: True = by the table of extensions; False = fields are bytes; a dict is another table; or a function
            of a sample.
        keep_meta: fields that begin with _ are written, too, but for the key.
        mtime: of members, in seconds since 1970; None = 0.
        format: of tarfile, or its name; None = ustar, and pax headers where a name or a size needs them.
        client: that writes gs://; None = the module's.
    """

    def __init__(self, fileobj: Any, user: str = "bigdata", group: str = "bigdata", mode: int = 0o444,
                 compress: bool | str | None = None, encoder: Any = True, keep_meta: bool = False,
                 mtime: float | None = None, format: Any = None, *, client: Client | None = None) -> None:
        self._encode = encoder_of(encoder)
        kind = _compression(fileobj if isinstance(fileobj, str) else "", compress)
        import tarfile

        self._format = getattr(tarfile, format) if isinstance(format, str) else \
            tarfile.PAX_FORMAT if format is None else format
        self._info = tarfile.TarInfo
        self.user, self.group, self.mode, self.mtime = user, group, mode, mtime
        self.keep_meta = keep_meta
        stream = self._opened(fileobj, client) if isinstance(fileobj, str) else fileobj
        self._own = stream if isinstance(fileobj, str) and fileobj != "-" else None
        self._below = _Below(stream)
        self._compressor = _compressed(self._below, kind) if kind else None
        self._put = self._below.stream.write if self._compressor is None else self._compressor.write
        self._size = 0
        self._ended = self._spoiled = False

    def _opened(self, url: str, client: Client | None) -> Any:
        return gopen(url, "wb", client=client)

    def write(self, obj: Dict[str, Any]) -> int:
        """Appends a sample; gives how many bytes its fields have.

        Raises: ValueError without "__key__", and for a field that cannot be encoded; nothing of it was written then.
        """
        if self._ended:
            raise ValueError("write: this archive was closed")
        sample = self._encode(obj)
        key = sample.get("__key__")
        if not isinstance(key, str) or not key:
            raise ValueError(f'write: a sample has its name, a str, in "__key__"; this one has {list(sample)}')
        members = [self._member(key, field, sample[field]) for field in sorted(sample)
                   if field != "__key__" and (self.keep_meta or field[:1] != "_")]
        self._spoiled = True  # until all of it was written
        total = 0
        for header, data in members:
            padding = b"\0" * (-len(data) % _BLOCK)
            for each in (header, data, padding):
                self._put(each)
            self._size += len(header) + len(data) + len(padding)
            total += len(data)
        self._spoiled = False
        return total

    def _member(self, key, field, data):
        """(header, bytes)"""
        if isinstance(data, str):
            data = data.encode("utf-8")
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise ValueError(f"{field}: the field of {key} is a {type(data).__name__}, and no bytes, after encoding")
        data = memoryview(data).cast("B") if isinstance(data, memoryview) else data
        info = self._info(f"{key}.{field}")
        info.size, info.mode, info.uname, info.gname = len(data), self.mode, self.user, self.group
        info.mtime = 0 if self.mtime is None else self.mtime  # type: ignore[assignment]
        return info.tobuf(self._format, "utf-8", "surrogateescape"), data

    def close(self) -> None:
        """Ends the archive, and with it the file or object that it has opened. Again it does nothing."""
        if self._ended:
            return
        self._ended = True
        try:
            if self._spoiled:
                raise ValueError("close: a write has failed, and the archive is not whole: it was discarded")
            self._put(b"\0" * (2 * _BLOCK + -(self._size + 2 * _BLOCK) % _RECORD))
            if self._compressor is not None:
                self._compressor.close()
        except BaseException:
            self._discard()
            raise
        if self._own is not None:
            self._own.close()

    def abort(self) -> None:
        """Discards what was written, where this has opened it; what was there before stays."""
        if not self._ended:
            self._ended = True
            self._discard()

    def _discard(self):
        self._below.stream = None
        if self._own is not None:
            getattr(self._own, "abort", self._own.close)()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class _Shard(TarWriter):
    """In a bucket it is put over nothing that is there."""

    def _opened(self, url: str, client: Client | None) -> Any:
        return open_gs(url, "xb", client=client) if is_ours(url) else super()._opened(url, client)


class ShardWriter:
    """Writes samples into shards, one behind the other.

        with ShardWriter("gs://bucket/train-%06d.tar", maxcount=10_000) as sink:
            for sample in samples:
                sink.write(sample)

    A shard appears whole, when the next one begins or this is closed. An exception in the `with` discards the one
    that is open; those before it stay. Without samples there is no shard.

    Of gs:// and s3:// no shard is put over one that is there. They are written by Client.shard_writer(): each shard has
    its index entry beside it, and ends before the sample that would pass maxsize, which counts headers, too. What that cannot do
    (post, opener, compression, names without leading zeros, and arguments of TarWriter but encoder and client) is done by
    a TarWriter for each shard, as with files: without an index entry.

    Arguments:
        pattern: of URLs, with one number, as %06d.
        maxcount: samples of a shard.
        maxsize: bytes of its fields: the shard whose size passes it is the last sample's.
        post: is called with the name of each shard that is there.
        start_shard: the first number.
        verbose: webdataset's: names of shards go to the logger "dataflux".
        opener: makes a stream of a name; None = gopen().
        kw: of TarWriter.
    """

    def __init__(self, pattern: str, maxcount: int = 100_000, maxsize: float = 3e9,
                 post: Callable[[str], Any] | None = None, start_shard: int = 0, verbose: int = 1,
                 opener: Callable[[str], Any] | None = None, **kw: Any) -> None:
        try:
            if pattern % 0 == pattern % 1:
                raise TypeError("no number")
        except (TypeError, ValueError) as why:
            raise ValueError(f"pattern: {pattern!r}: it has one number, as train-%06d.tar ({why})") from None
        self.pattern, self.maxcount, self.maxsize = pattern, maxcount, maxsize
        self.post, self.shard, self.verbose, self.opener = post, start_shard, verbose, opener
        self.total = self.count = self.size = 0
        self.fname: str | None = None
        self._kw = kw
        self._of_bucket: Any = self._opened_in_bucket() if opener is None and post is None else None
        self._sink: TarWriter | None = None
        self._stream: Any = None
        self._closed = False

    def write(self, obj: Dict[str, Any]) -> None:
        """Appends a sample, to a new shard where the open one is full."""
        if self._closed:
            raise ValueError("write: this writer was closed")
        if self._of_bucket is not None:
            self._of_bucket.write(self._of_bytes(obj))
            self.total += 1
            return
        sink = self._sink
        if sink is None or self.count >= self.maxcount or self.size >= self.maxsize:
            sink = self.next_stream()
        self.size += sink.write(obj)
        self.count += 1
        self.total += 1

    def _opened_in_bucket(self):
        """A dataflux.ShardWriter, where that does all that was asked for; else None."""
        if not is_ours(self.pattern) or set(self._kw) - {"encoder", "client"} or _compression(self.pattern, None) \
                or not re.search(r"%0[0-9]+d", self.pattern):
            return None
        from .._client import client_for

        self._encode = encoder_of(self._kw.get("encoder", True))
        client = self._kw.get("client") or client_for(self.pattern)
        return client.shard_writer(self.pattern, count=self.maxcount, bytes=int(self.maxsize), first=self.shard)

    def _of_bytes(self, obj):
        sample = self._encode(obj)
        for field, data in sample.items():
            if field[:1] != "_" and not isinstance(data, (bytes, bytearray, memoryview, str)):
                raise ValueError(f"{field}: the field is a {type(data).__name__}, and no bytes, after encoding")
        return {field: data for field, data in sample.items() if field[:1] != "_" or field == "__key__"}

    def next_stream(self) -> TarWriter:
        """Ends the open shard, and begins the next one, which it gives."""
        if self._of_bucket is not None:
            raise ValueError("next_stream: in a bucket shards end by maxcount and maxsize; give post or opener for others")
        self.finish()
        self.fname = self.pattern % self.shard
        if self.verbose:
            from logging import getLogger

            getLogger("dataflux").info("writing %s, after %d samples", self.fname, self.total)
        self._stream = None if self.opener is None else self.opener(self.fname)
        self._sink = sink = _Shard(self.fname if self._stream is None else self._stream, **self._kw)
        self.shard += 1
        self.count = self.size = 0
        return sink

    def finish(self) -> None:
        """Ends the open shard, where there is one."""
        sink, self._sink = self._sink, None
        stream, self._stream = self._stream, None
        if sink is None:
            return
        sink.close()
        if stream is not None:
            stream.close()
        if self.post is not None:
            self.post(self.fname or "")

    def close(self) -> None:
        """Ends the open shard, and this. Again it does nothing."""
        if self._of_bucket is not None and not self._closed:
            self._of_bucket.finish()
        self._closed = True
        self.finish()

    def abort(self) -> None:
        """Discards the open shard, and ends this."""
        if self._of_bucket is not None and not self._closed:
            self._of_bucket.abort()
        self._closed = True
        sink, self._sink = self._sink, None
        stream, self._stream = self._stream, None
        if sink is not None:
            sink.abort()
        if stream is not None:
            getattr(stream, "abort", stream.close)()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()
