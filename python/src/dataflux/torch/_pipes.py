"""URLs, files and lines as iterables for a DataLoader: what TorchData's S3FileLister and S3FileLoader are for."""

from __future__ import annotations

import hashlib
import json
import os
from copy import copy
from functools import partial
from itertools import islice
from typing import Any, Iterable, Iterator, Sequence, Tuple, TypeVar

from torch.utils.data import IterableDataset as TorchIterable
from torch.utils.data import get_worker_info

from .._client import Client, given_client, service_of
from .._errors import Error, PreconditionError, ResourceExhaustedError, again
from .._passes import Pass
from .._place import count_of, flag_of, url_of
from .._sampler import Sampler
from ._contents import Contents
from ._given import are_rows, source_of
from ._ranks import agree, ranks
from ._rest import Rest, Spot, Start, left, start_of, state_of
from ._samples import TOLERANCE, Maker, as_bytes
from ._share import client_for
from ._shared import Shared
from ._sizes import Sizes

MOST_BYTES = 16 << 20  # of a line
_BUFFER = 10_000       # lines that are shuffled together
_HERE = 2**64 - 1      # a pass of no worker

At = Tuple[int, int, int, int, int]  # what a Spot has, which takes longer to make
Self = TypeVar("Self", bound="Pipe")
OfObjects = TypeVar("OfObjects", bound="_OfObjects")


class _Origin:
    """What all pipes of one listing have together: the objects, the client, and which rank this is."""

    def __init__(self, client: Client, what: dict[str, Any], rank: int | None, world_size: int | None,
                 filters: dict[str, Any]) -> None:
        self.client = client
        self.rank, self.world_size = ranks(rank, world_size)
        self.source = source_of(client, what.get("url"), None, what.get("names"), None, None, "refuse", filters,
                                self.rank, self.world_size)
        agree({"digest": self.source.digest}, self.rank, self.world_size)
        self.shared = Shared(self.source.path)


class _Walk:
    """One pass of one reader."""

    def __init__(self, client: Client, origin: _Origin, sampler: Sampler, rest: Rest, spot: Spot) -> None:
        self.client = client
        self.origin = origin
        self.sampler = sampler
        self.rest = rest
        self.spot = spot

    def contents(self, maker: Maker, read_ahead: int | None) -> Contents:
        """The objects that are not behind it, as streams."""
        done, byte, generation, *_ = self.spot
        rest = self.rest
        if byte and done < len(rest.positions):
            rest = Rest(rest.positions, {**rest.begun, rest.positions[done]: (byte, generation)})
        return Contents(self.client, self.origin.source, self.sampler, rest, done, maker, read_ahead)

    def url_of(self, done: int) -> str:
        """Of the object that so many of the reader's are before."""
        number, row = self.origin.source.part_of(self.sampler[self.rest.positions[done]])
        return url_of(*self.origin.source.parts[number].place(row)[:2])

    def from_spot(self, spot: Spot) -> _Walk:
        return _Walk(self.client, self.origin, self.sampler, self.rest, spot)


class Pipe(TorchIterable):  # type: ignore[misc]
    """What list_files() and load_files() give, and what is made of that: an iterable for a DataLoader, which
    ranks and workers share.

    Each object is one reader's: a rank takes each world_size-th, and of those a worker each num_workers-th. None
    comes twice and none is left out, so readers may have different numbers of items.

    A state says, for each reader, at which byte of which object it goes on. It is for the pipe that it was saved
    of, or one that was made in the same way.

    Threads: one iterates. Processes: fork, spawn and forkserver, persistent workers or not.
    """

    _stage = ""

    def __init__(self, origin: _Origin, order: dict[str, Any]) -> None:
        super().__init__()
        self._origin = origin
        self._order = order
        self._begin()

    def _begin(self):
        self._taken = 0  # of the states that all processes were told, the newest one that is not for a pass here
        self._told: Start | None = None  # what a StatefulDataLoader has said to this worker alone
        self._own: tuple[int, Client] | None = None  # of this process
        self._now: tuple[dict[str, Any], At] | None = None  # where the pass has begun, and where it is

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_own", "_now")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._begin()
        self.__dict__.update(state)

    def __repr__(self) -> str:
        source = self._origin.source
        return f"<dataflux.torch pipe of {self._stage} of {source.told}: {len(source)} objects>"

    @property
    def epoch(self) -> int:
        """Which epoch the next pass is of."""
        return self._origin.shared.epoch

    @property
    def skipped(self) -> int:
        """Objects that were left out, or the rest of them, with on_error="skip", in all processes."""
        return self._origin.shared.skipped

    @property
    def digest(self) -> str:
        """Of what was listed: a state fits a pipe of the same digest."""
        told: str = self._origin.source.digest
        return told

    def set_epoch(self, epoch: int) -> None:
        """Which epoch the next pass is of, in all processes, and for all pipes of this listing. Shuffled
        objects and lines have another order in each."""
        self._origin.shared.set_epoch(count_of(epoch, "epoch"))
        self._origin.shared.readers = 0

    def sharding_filter(self: Self) -> Self:
        """The same pipe: ranks and workers share all of them."""
        return self

    def batch(self, batch_size: int, *, drop_last: bool = False) -> Batches:
        """Lists of so many items. The last one of a reader may be short, unless it is dropped. For a
        DataLoader with batch_size=None."""
        return Batches(self, count_of(batch_size, "batch_size", 1), flag_of(drop_last, "drop_last"))

    def state_dict(self) -> dict[str, Any]:
        """Where this is: for load_state_dict(), and what a StatefulDataLoader asks its workers for. What was
        given is behind it; of a stream all of it is.

        Raises: ValueError where workers of a plain DataLoader read, which are ahead of what you had.
        """
        info, shared = get_worker_info(), self._origin.shared
        if info is None and shared.readers:
            raise ValueError("state_dict: workers of a DataLoader read this, and are ahead of what you had: save the "
                             "state of a torchdata StatefulDataLoader instead")
        now, spot = self._now or (self._next(), None)
        return state_of(self._known(), world_size=self._origin.world_size,
                        **(now if spot is None else {**now, "spot": spot}))

    def load_state_dict(self, state: Any) -> None:
        """The next pass goes on where the state was saved: of this process, of workers that are begun later, and
        of workers that live already. Passes behind that one are whole.

        Arguments:
            state: of state_dict(); or of StatefulDataLoader.state_dict(), for a loader with another number of
                workers; or a list of those of all ranks, for another number of ranks. In the midst of shuffled
                lines only as many readers go on.

        Raises: ValueError, which names the field that does not fit.
        """
        info, shared = get_worker_info(), self._origin.shared
        start = start_of(state, {**self._known(), "world_size": self._origin.world_size},
                         self._reader() if info else None)
        self._now = None
        if info is not None:  # each worker is told its own
            shared.set_epoch(start.epoch)
            self._told, self._taken = start, shared.loaded
            return
        with open(self._path_of(shared.loaded + 1), "w") as file:
            json.dump([self._known(), start.epoch, start.before, start.readers, list(start.spots.items())], file)
        shared.go_on(start.epoch, 0)

    def _path_of(self, loaded):
        return os.path.join(self._origin.source.path, f"pipe-{loaded}")

    def _known(self):
        return {"digest": self.digest, "stage": self._stage, **self._order, "buffer_size": 0, "buffer_seed": 0}

    def _reader(self):
        """(which, of how many)"""
        info, origin = get_worker_info(), self._origin
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        return origin.rank + origin.world_size * worker, origin.world_size * workers

    def _next(self, take=False):
        """Where the next pass begins, which takes what all processes were told."""
        info, shared, (reader, readers) = get_worker_info(), self._origin.shared, self._reader()
        # Workers of a pass have seeds that follow each other, and mostly other ones in the next pass.
        taker = (info.seed - info.id + info.num_workers, info.id) if info else (_HERE, 0)
        told, by_all = self._told, self._taken != shared.loaded
        if by_all:
            told = self._loaded()
            if told is not None and not shared.is_for(*taker):
                told = None
        # What was said of another epoch is not of this one.
        start = told if told is not None and told.epoch == shared.epoch else Start(shared.epoch)
        before, spot = start.of(reader, readers)
        if take and by_all and told is not None:
            shared.take(*taker)
        return {"epoch": start.epoch, "before": before, "reader": reader, "readers": readers, "spot": spot}

    def _loaded(self):
        """What all processes were told; None where that is of another pipe of this listing."""
        with open(self._path_of(self._origin.shared.loaded)) as file:
            known, epoch, before, readers, spots = json.load(file)
        if known != self._known():
            return None
        return Start(epoch, before, readers, {number: Spot(*spot) for number, spot in spots})

    def __iter__(self) -> Iterator[Any]:
        origin, info = self._origin, get_worker_info()
        now = self._next(take=True)
        self._told, self._taken = None, origin.shared.loaded
        origin.shared.readers = info.num_workers if info else 0
        if self._own is None or self._own[0] != os.getpid():
            self._own = os.getpid(), client_for(origin.client, info.num_workers if info else 0)
        rest = left(len(origin.source), now["before"]).of(now["reader"], now["readers"])
        sampler = Sampler(len(origin.source), epoch=now["epoch"], **self._order)
        self._now = now, now["spot"]
        return Pass(self._items(_Walk(self._own[1], origin, sampler, rest, now["spot"]), now))

    def _items(self, walk, now):
        for item, spot in self._walk(walk):
            self._now = now, spot
            yield item

    def _walk(self, walk: _Walk) -> Iterator[tuple[Any, At]]:
        """Items from a walk's spot on, each with what is a Spot behind it."""
        raise NotImplementedError


class _OfObjects(Pipe):
    """A pipe that gives an item for each object."""

    def __len__(self) -> int:
        """Objects of this rank."""
        origin = self._origin
        return len(range(origin.rank, len(origin.source), origin.world_size))

    def shuffle(self: OfObjects, *, seed: int = 0) -> OfObjects:
        """The same objects, in an order that is another one in each epoch: all of them are shuffled."""
        seed = count_of(seed, "seed", 0, 64)
        agree({"seed": seed}, self._origin.rank, self._origin.world_size)
        made = copy(self)
        made._order = {"seed": seed, "shuffle": "full"}
        return made


class Urls(_OfObjects):
    """URLs of objects: what list_files() gives."""

    _stage = "urls"

    def _walk(self, walk: _Walk) -> Iterator[tuple[Any, At]]:
        for part in walk.origin.source.parts:
            part.open(walk.client)
        for done in range(walk.spot.done, len(walk.rest.positions)):
            yield walk.url_of(done), (done + 1, 0, 0, 0, 0)


class Files(_OfObjects):
    """Pairs of an object's URL and its bytes, as a binary file: what load_files() gives."""

    _stage = "files"

    def __init__(self, origin: _Origin, order: dict[str, Any], maker: Maker, read_ahead: int | None) -> None:
        super().__init__(origin, order)
        self._maker = maker
        self._read_ahead = read_ahead

    def readlines(self, *, return_path: bool = True, strip_newline: bool = True,
                  most_bytes: int = MOST_BYTES) -> Lines:
        """The lines of all objects, as bytes: what ends at a line feed, and what is behind the last one.

        Arguments:
            return_path: pairs of URL and line; False = lines alone.
            strip_newline: lines come without their line feed, and a carriage return before it.
            most_bytes: of a line without its line feed. A longer one is a ResourceExhaustedError that names the
                object and the byte at which the line begins.
        """
        return Lines(self, flag_of(return_path, "return_path"), flag_of(strip_newline, "strip_newline"),
                     count_of(most_bytes, "most_bytes", 1, 40))

    def _streams(self, walk: _Walk) -> Iterator[tuple[Any, Any]]:
        """(Content, stream or Error) of each object in turn."""
        contents = walk.contents(self._maker, self._read_ahead)
        try:
            for content in contents:
                stream: Any
                try:
                    stream = contents.stream(content)
                except Error as why:
                    if not self._maker.bears(why):
                        raise
                    stream = again(why)
                yield content, stream
                stream = None
        finally:
            contents.close()

    def _walk(self, walk: _Walk) -> Iterator[tuple[Any, At]]:
        for content, stream in self._streams(walk):
            if isinstance(stream, Error):
                if self._maker.on_error == "skip":
                    continue
            else:
                self._maker.succeeds()
            yield (content.url, stream), (content.done + 1, 0, 0, 0, 0)


class Lines(Pipe):
    """Lines of objects: what readlines() gives."""

    _stage = "lines"

    def __init__(self, files: Files, return_path: bool, strip_newline: bool, most_bytes: int) -> None:
        super().__init__(files._origin, files._order)
        self._files = files
        self._return_path = return_path
        self._strip = strip_newline
        self._most = most_bytes
        self._buffer = self._seed = 0

    def shuffle(self, buffer_size: int = _BUFFER, *, seed: int = 0) -> Lines:
        """The same lines; so many that follow each other are shuffled together, and given before the next ones
        are read. The order is another one in each epoch. Shuffle the objects, too, before load_files()."""
        made = copy(self)
        made._buffer, made._seed = count_of(buffer_size, "buffer_size", 1, 40), count_of(seed, "seed", 0, 64)
        return made

    def _known(self):
        return {**super()._known(), "buffer_size": self._buffer, "buffer_seed": self._seed}

    def _walk(self, walk: _Walk) -> Iterator[tuple[Any, At]]:
        return self._shuffled(walk) if self._buffer else self._in_order(walk)

    def _in_order(self, walk, begun=None):
        """Each line, with the spot behind it. `begun` gets each object's position, and its generation."""
        maker = self._files._maker
        for content, stream in self._files._streams(walk):
            error = stream if isinstance(stream, Error) else None
            if error is None:
                if begun is not None:
                    begun.append((walk.rest.positions[content.done], content.generation))
                try:
                    with stream:
                        yield from self._lines(content, stream)
                    maker.succeeds()
                    continue
                except Error as why:
                    if not maker.bears(why):
                        raise
                    error = again(why)
            if maker.on_error == "return":
                yield (content.url, error) if self._return_path else error, (content.done + 1, 0, 0, 0, 0)

    def _lines(self, content, stream):
        done, byte, generation, size, url = content.done, content.byte, content.generation, content.size, content.url
        most, strip, path = self._most, self._strip, self._return_path
        for line in iter(partial(stream.readline, most + 1), b""):
            ends = line.endswith(b"\n")
            if not ends and len(line) > most:
                raise self._too_long(content, byte)
            byte += len(line)
            if ends and strip:
                line = line[:-2] if line.endswith(b"\r\n") else line[:-1]
            yield (url, line) if path else line, (
                (done, byte, generation, 0, 0) if byte < size else (done + 1, 0, 0, 0, 0))

    def _too_long(self, content, byte):
        return ResourceExhaustedError(
            f"{content.url}: the line that begins at byte {byte} has more than {self._most} bytes: raise most_bytes, or "
            "these are no lines", bucket=content.place[0], object=content.place[1], generation=content.generation)

    def _shuffled(self, walk):
        (*begin, given, known), epoch = walk.spot, walk.sampler.epoch
        if begin[0] >= len(walk.rest.positions):
            return
        begun: list[tuple[int, int]] = []
        lines = self._in_order(walk.from_spot(Spot(*begin)), begun)
        while (block := list(islice(lines, self._buffer))) or given:
            behind = block[-1][1] if block else begin
            # By where the block begins, whoever reads it.
            at = f"{self._seed} {walk.rest.positions[begin[0]]} {begin[1]}"
            check = _number_of(f"{at} {len(block)} {behind[:2]} {begun}", 6)
            if given and check != known:
                raise PreconditionError(
                    f"{walk.url_of(begin[0])}: the state goes on in the midst of shuffled lines that begin there, and they "
                    "are not those of the time when it was saved: an object was overwritten since, or could not be "
                    "read at one of the times. Begin the epoch again")
            order = Sampler(len(block), seed=_number_of(at, 8), epoch=epoch).rows(0, len(block))
            for number in range(given, len(block)):
                spot = (*begin, number + 1, check) if number + 1 < len(block) else behind
                yield block[order[number]][0], spot
            begin, given = behind[:3], 0
            del begun[:-1 if behind[1] else None]  # all but one that goes on


def _number_of(text, size):
    """Of so many bytes: another one for another text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size], "little")


class Batches(Pipe):
    """Lists of items: what batch() gives."""

    def __init__(self, items: Pipe, batch_size: int, drop_last: bool) -> None:
        super().__init__(items._origin, items._order)
        self._of = items
        self._size = batch_size
        self._drop = drop_last
        self._stage = items._stage

    def _known(self):
        return self._of._known()

    def _walk(self, walk: _Walk) -> Iterator[tuple[Any, At]]:
        items = self._of._walk(walk)
        while some := list(islice(items, self._size)):
            if len(some) < self._size and self._drop:
                return
            yield [item for item, _ in some], some[-1][1]


def list_files(urls: Any, *, suffix: str | None = None, connections: int | None = None, region: str | None = None,
               timeout: float | None = None, rank: int | None = None, world_size: int | None = None,
               client: Client | None = None) -> Urls:
    """The URLs of all objects below prefixes, in the order of names, shared by ranks and workers: what
    S3FileLister is for.

        files = load_files(list_files(["gs://bucket/train/"]).shuffle(seed=7))
        lines = files.readlines(return_path=False).shuffle(10_000)
        for epoch in range(3):
            lines.set_epoch(epoch)
            for batch in DataLoader(lines, batch_size=512, num_workers=4):
                ...

    Listing ends before this returns; its generations are those that load_files() reads.

    Arguments:
        urls: "gs://bucket/prefix", or an iterable of those; or a Listing. As `url` of an IterableDataset: rank 0
            lists for all, a prefix with nothing below it is an error, and none may be below another one.
        suffix: what names end with.
        connections, region, timeout: as of load_files().
        rank, world_size: by default those of torch.distributed, else RANK and WORLD_SIZE.
        client: whose options are used; by default a Client of the service that the first URL names.

    Raises: NotFoundError for a prefix without objects; PreconditionError where ranks have other objects; TypeError
        and ValueError, which name the argument.
    """
    given = _several(urls)
    using = _tuned(_client_of(client, given), None, connections, region, timeout)
    origin = _Origin(using, {"url": given}, rank, world_size, {"suffix": suffix} if suffix else {})
    return Urls(origin, {"seed": 0, "shuffle": "none"})


def load_files(urls: Any, *, buffer_size: int | None = None, part_size: int | None = None,
               connections: int | None = None, region: str | None = None, timeout: float | None = None,
               on_error: str = "raise", tolerance: int | None = TOLERANCE, overwritten: str = "raise",
               rank: int | None = None, world_size: int | None = None, client: Client | None = None) -> Files:
    """Pairs of URL and binary file, for each object in turn: what S3FileLoader is for. Objects are read ahead,
    and compared with their checksums, as by Client.open(): one that is read from its first byte to its end.

    Arguments:
        urls: what list_files() gives, or a Listing; or an iterable of URLs of objects of one bucket, of which the
            newest generations are read. All ranks are given the same: do not give them what list_files() has
            shared already.
        buffer_size: bytes of an object that are read ahead; None = 32 MiB. Objects of up to 8 MiB, and with None of up
            to an eighth of the client's memory_cap, are read as a whole, many at a time, as far as that goes.
        part_size: most bytes of one request, as Client(slice=...).
        connections: to the service, as Client(max_connections_per_host=...). They are of each process.
        region: of the bucket, as Client(region=...): of S3.
        timeout: seconds that the service may say nothing before a request is begun anew, as
            Client(first_byte_timeout=..., stall_timeout=...).
        on_error: of an object that cannot be read: "raise"; "return" gives the error in place of the file, or in
            place of the rest of its lines; "skip" leaves that out, and counts it (`skipped`). What a file itself
            raises while you read it is yours.
        tolerance: with "return" and "skip", how many objects in a row may fail in a process; the last one's error
            is raised then. None = any number.
        overwritten: where the listed generation is gone: "raise" a NotFoundError that says so, or "read" what is
            there now.
        rank, world_size, client: as of list_files(), whose own are used for what that has given.

    Raises: as list_files(); in a pass, what the service says.
    """
    maker = Maker(as_bytes, on_error, overwritten, Sizes(0, None), tolerance)
    read_ahead = None if buffer_size is None else count_of(buffer_size, "buffer_size")
    order = {"seed": 0, "shuffle": "none"}
    if isinstance(urls, Urls):
        for name, value in (("rank", rank), ("world_size", world_size), ("client", client)):
            if value is not None:
                raise TypeError(f"{name}: what list_files() gives has its own: tell it that")
        origin, order = copy(urls._origin), urls._order
        origin.client = _tuned(origin.client, part_size, connections, region, timeout)
    else:
        given = _several(urls)
        using = _tuned(_client_of(client, given), part_size, connections, region, timeout)
        origin = _Origin(using, {"url" if are_rows(given) else "names": given}, rank, world_size, {})
    maker.shared = origin.shared
    return Files(origin, order, maker, read_ahead)


def _several(urls):
    """A list of places; or a listing."""
    if are_rows(urls):
        return urls
    pair = isinstance(urls, tuple) and len(urls) == 2 and "://" not in str(urls[0])
    if isinstance(urls, (str, os.PathLike)) or pair or hasattr(urls, "_place"):
        return [urls]
    if not isinstance(urls, Iterable):
        raise TypeError(f"urls: an iterable of URLs is needed, and not a {type(urls).__name__}")
    found = list(urls)
    if not found:
        raise ValueError("urls: it is empty, and there is nothing to read")
    return found


def _client_of(client: Client | None, given: Any) -> Client:
    """What was given, else one of the service that places are of."""
    return given_client(client) or Client(service=service_of(given))


def _tuned(client: Client, part_size: int | None, connections: int | None, region: str | None,
           timeout: float | None) -> Client:
    """A client with those options, where any is given; else the same."""
    options: Sequence[tuple[str, str, Any]] = (
        ("part_size", "slice", part_size), ("connections", "max_connections_per_host", connections),
        ("region", "region", region), ("timeout", "first_byte_timeout", timeout), ("timeout", "stall_timeout", timeout))
    given = client._options.given
    told = {}
    for argument, option, value in options:
        if value is None:
            continue
        if option == "region" and client._scheme != "s3":
            raise ValueError(f"{argument}: a bucket of {client._scheme}:// is found by its name alone: leave it out")
        if option.endswith("_timeout"):
            told[option] = value
        else:
            told[option] = count_of(value, argument, 1) if option != "region" else value
    return Client(**{**given, **told}) if told else client
