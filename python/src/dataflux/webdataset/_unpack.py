"""Shards in compressions that Python has and the library has not: bzip2 and xz."""

from __future__ import annotations

from itertools import chain
from typing import Any, Iterator

from .._errors import of_status

_HEAD = 6        # bytes that tell which
_MOST = 4 << 20  # bytes that are decompressed at once


def _decoder_of(head):
    """What makes a decompressor, by the first bytes; else None."""
    if head.startswith(b"BZh"):
        from bz2 import BZ2Decompressor

        return BZ2Decompressor
    if head.startswith(b"\xfd7zXZ\0"):
        from lzma import LZMADecompressor

        return LZMADecompressor
    return None


def unpacked(pieces: Iterator[Any]) -> Iterator[Any]:
    """Pieces of a shard, decompressed if they are bzip2 or xz; else as they are.

    Raises: DataLossError where the compressed bytes are damaged, or end before they should.
    """
    first: Any = next(pieces, b"")
    while 0 < len(first) < _HEAD:
        more = bytes(first)
        first = next(pieces, None)
        if first is None:
            first = more
            break
        first = more + first
    make = _decoder_of(bytes(first[:_HEAD]))
    pieces = chain((first,), pieces)
    return pieces if make is None else _unpacked(pieces, make)


def _unpacked(pieces, make):
    decoder: Any = None
    for piece in pieces:
        while piece:
            if decoder is None:
                piece = bytes(piece).lstrip(b"\0")  # xz may be padded between its streams
                if not piece:
                    break
                decoder = make()
            yield _step(decoder, piece)
            while not decoder.eof and not decoder.needs_input:
                yield _step(decoder, b"")
            piece, decoder = (decoder.unused_data, None) if decoder.eof else (b"", decoder)
    if decoder is not None:
        raise of_status("data_loss", "the compressed bytes end before they should")


def _step(decoder, piece):
    try:
        return decoder.decompress(piece, _MOST)
    except Exception as why:  # OSError, EOFError, lzma.LZMAError
        raise of_status("data_loss", f"the compressed bytes are damaged: {why}") from None
