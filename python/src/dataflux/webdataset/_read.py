"""Samples of shards: opened, taken apart and grouped, one shard behind the other."""

from __future__ import annotations

import re
import warnings
from io import BufferedReader
from typing import Any, Callable, Dict, Iterable, Iterator

from .._errors import DataLossError, Error, InvalidArgumentError, of_status
from .._reports import SHARD_COUNTS
from .._tar_streams import ShardStream
from ._ahead import Opening, Pieces, opened_ahead
from ._cache import Cache
from ._handlers import Handler, reraise_exception
from ._open import Pipe, gopen, is_ours, path_of
from ._shards import Shard
from ._stages import PipelineStage
from ._unpack import unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._client import Client

Sample = Dict[str, Any]

_PIECE = 1 << 20  # bytes that are asked for at once
_NAME = re.compile(r"((?:.*/|)[^.]+)[.]([^/]*)", re.DOTALL)
_LEFT_OUT = tuple(reason for reason in SHARD_COUNTS if reason not in ("concatenated", "missing_ends"))
_RULES = ("concatenated", "trailing", "damaged", "keep_case", "strip_dot_slash", "repeated")


def rules_of(rules: Dict[str, Any]) -> Dict[str, Any]:
    """What was told of shards, as Client.index_shards() takes it. Raises: TypeError for another name."""
    for name in rules:
        if name not in _RULES:
            raise TypeError(f"{name}: there is no such argument; of shards there are {', '.join(_RULES)}")
    return rules


def _pieces(stream):
    """The bytes of a stream. Each piece is there until the next one is asked for."""
    if isinstance(stream, BufferedReader):
        memory = bytearray(_PIECE)
        while size := stream.readinto(memory):
            yield memoryview(memory)[:size]
        return
    take = getattr(stream, "read1", stream.read) if isinstance(stream, Pipe) else stream.read
    while piece := take(_PIECE):
        yield piece


def _of_shard(url, why):
    """A failure of the reader, which does not know what it reads."""
    if not isinstance(why, Error) or url in str(why):
        return why
    fields = {name: value for name, value in vars(why).items() if name in ("reason", "generation", "retryable")}
    return of_status(why.status, f"{url}: {why}", **fields)


class ReadShards(PipelineStage):
    """Samples of shards, as dicts with bytes.

    Arguments:
        handler: of a shard that cannot be opened or is damaged, and of a field that comes again. Where it goes
            on, the samples before stay, and the next shard follows; of such a field the first one stays.
        select_files: which members, by name.
        rename_files: gives members other names, by which they are grouped.
        rules: concatenated, trailing, damaged, keep_case, strip_dot_slash, repeated: as of
            Client.index_shards().
        local_paths: samples of files here have "__local_path__".

    left_out   how many members of whole shards are in no sample, by reason: of this process
    """

    def __init__(self, handler: Handler = reraise_exception,
                 select_files: Callable[[str], Any] | None = None,
                 rename_files: Callable[[str], str] | None = None, rules: Dict[str, Any] | None = None,
                 client: Client | None = None, cache: Cache | None = None, local_paths: bool = False) -> None:
        self._handler = handler
        self._select, self._rename = select_files, rename_files
        self._rules = rules_of(rules or {})
        self._client, self._cache = client, cache
        self._local_paths = local_paths
        self.left_out: Dict[str, int] = {}

    def run(self, src: Iterable[Shard]) -> Iterator[Sample]:
        urls = (shard["url"] if isinstance(shard, dict) else shard for shard in src)
        for url, opening in opened_ahead(urls, self._opening):
            given, rules = 0, self._rules
            again = True
            while again:
                samples, skip, again = self._samples(url, opening, rules), given, False
                opening = None
                try:
                    while True:
                        try:
                            sample = next(samples)
                        except StopIteration:
                            break
                        except Exception as why:
                            if not self._handler(why):
                                return
                            again = isinstance(why, InvalidArgumentError) and rules.get("repeated") != "keep_first" \
                                and url != "-"
                            rules = {**self._rules, "repeated": "keep_first"}
                            break
                        if skip:  # given already, before the shard was opened again
                            skip -= 1
                        else:
                            given += 1
                            yield sample
                finally:
                    samples.close()

    def _opening(self, url):
        """Of what the client reads, and is opened ahead; else None."""
        if self._cache is not None or not is_ours(url):
            return None
        if self._client is None:
            from .._client import client_for

            return Opening(client_for(url), url)
        return Opening(self._client, url)

    def _stream(self, url, opening):
        """(pieces, what closes them, the path of a file here)"""
        if opening is not None:
            pieces = opening.opened()
            return pieces, pieces.close, None
        path = self._cache.file(url) if self._cache is not None else path_of(url)
        stream = gopen(url if path is None else path, client=self._client)
        return _pieces(stream), getattr(stream, "close", None) if url != "-" else None, path

    def _samples(self, url, opening, rules):
        close, pieces = None if opening is None else opening.close, None
        try:
            pieces, close, path = self._stream(url, opening)
            own = {"__url__": url}
            if path is not None and self._local_paths:
                own["__local_path__"] = path
            renamed = self._select is not None or self._rename is not None
            shard = ShardStream(unpacked(pieces), **({**rules, "keep_case": True} if renamed else rules))
            for key, fields in self._chosen(shard, rules) if renamed else shard:
                yield _sample_of(key, fields, own, rules)
            self._count(url, shard.counts)
        except Error as why:
            if isinstance(why, DataLossError) and isinstance(pieces, Pieces):
                pieces.forget()
            raise _of_shard(url, why) from why.__cause__
        finally:
            if close is not None:
                close()

    def _count(self, url, counts):
        for reason in _LEFT_OUT:
            if counts.get(reason):
                self.left_out[reason] = self.left_out.get(reason, 0) + counts[reason]
        if counts.get("hard_links"):
            warnings.warn(f"{url}: {counts['hard_links']} hard links are in no sample: tar has stored a second name of a "
                          "file, without its bytes. Make the shard anew, by tar --hard-dereference", stacklevel=2)

    def _chosen(self, samples, rules):
        """(key, fields) of members that are chosen, and grouped by their new names."""
        held: Dict[str, Any] = {}
        last = None
        for key, fields in samples:
            for field, data in fields.items():
                name = f"{key}.{field}"
                if self._rename is not None:
                    name = self._rename(name)
                found = _NAME.fullmatch(name)
                if found is None or self._select is not None and not self._select(name):
                    continue
                field = found[2] if rules.get("keep_case") else found[2].lower()
                if found[1] != last:
                    if held:
                        yield last, held
                    last, held = found[1], {}
                if field not in held:
                    held[field] = data
                elif rules.get("repeated", "error") == "error":
                    raise _repeated(last, field)
        if held:
            yield last, held


def _repeated(key, field):
    return of_status("invalid_argument", f"the field {field} comes again in the sample {key}: give "
                     'repeated="keep_first" to read the first one')


def _sample_of(key, fields, own, rules):
    sample = {"__key__": key, **own}
    for field, data in fields.items():
        if not field.isascii() and not rules.get("keep_case"):
            field = field.lower()
        if field in sample:
            if rules.get("repeated", "error") == "error":
                raise _repeated(key, field)
            continue
        sample[field] = data
    return sample


def tarfile_to_samples(handler: Handler = reraise_exception, select_files: Callable[[str], Any] | None = None,
                       rename_files: Callable[[str], str] | None = None, *, client: Client | None = None,
                       **rules: Any) -> ReadShards:
    """A stage that reads the shards that come, as in DataPipeline(SimpleShardList(urls), tarfile_to_samples())."""
    return ReadShards(handler, select_files, rename_files, rules, client)


def tarfile_samples(src: Iterable[Shard], handler: Handler = reraise_exception,
                    select_files: Callable[[str], Any] | None = None,
                    rename_files: Callable[[str], str] | None = None) -> Iterator[Sample]:
    """Samples of the shards that an iterable names as {"url": ...}."""
    return ReadShards(handler, select_files, rename_files).run(src)
