"""Several datasets as one, by weights."""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections import deque
from typing import Any, Iterator, Mapping, Sequence

from torch.utils.data import Dataset, get_worker_info

from .._client import Client, given_client
from .._mixer import Mixer
from .._place import count_of, one_of
from .._sampler import WINDOWS, Sampler
from ._iterable import IterableDataset
from ._order import STRETCH, Turns
from ._ranks import agree, ranks
from ._reads import Reads
from ._samples import TOLERANCE, Maker, as_bytes
from ._share import client_for, memory_of
from ._shared import Shared
from ._sizes import Sizes
from ._source import Folder, Source
from ._state import Place, _found

# What a position of the mix is: a leaf, its epoch, its position there.
Pick = tuple["Leaf", int, int]


class Leaf:
    """A dataset that is mixed: an order of its own for each epoch of it.

    first    of its rows, among those of all
    parts    its first part among those of all, and the one behind its last
    """

    def __init__(self, dataset: IterableDataset, first: int, part: int) -> None:
        self.size = len(dataset._source)
        self.how = dataset._how
        self.maker = dataset._maker
        self.plans = dataset._plans
        self.source = dataset._source
        self.first = first
        self.parts = part, part + len(dataset._source.parts)
        self._sampler: Sampler | None = None

    def told(self) -> Any:
        return [self.source.digest, {name: value or 0 for name, value in self.how.items()}]

    def picks(self, epoch: int, numbers: Sequence[int]) -> list[Pick]:
        """Of samples numbered through all epochs from that one on."""
        return [(self, epoch + number // self.size, number % self.size) for number in numbers]

    def sampler(self, epoch: int) -> Sampler:
        if self._sampler is None or self._sampler.epoch != epoch:
            self._sampler = Sampler(self.size, epoch=epoch, **self.how)
        return self._sampler


class Blend:
    """Leaves and blends by weights."""

    def __init__(self, children: Sequence[Any], mixer: Mixer, ended: str, length: int | None) -> None:
        self.children = list(children)
        self.mixer = mixer
        self.ended, self.length = ended, length
        self.endless = ended == "restart"
        end = sum(child.size for child in children) if mixer.end is None else mixer.end
        self.size = end if length is None else min(length, end) if not self.endless else length

    def told(self, weights: bool = True) -> Any:
        return [self.ended, self.length, self.mixer.weights if weights else None,
                [child.told() for child in self.children]]

    def picks(self, epoch: int, numbers: Sequence[int], mixer: Mixer | None = None) -> list[Pick]:
        """Of ascending samples, numbered through all epochs from that one on."""
        if self.endless:
            return self._draw(mixer or self.mixer, [epoch * self.size + number for number in numbers], 0)
        if mixer is not None:  # of an epoch that has gone on with other weights
            return self._draw(mixer, list(numbers), epoch)
        found, at = [], 0
        while at < len(numbers):
            passed = numbers[at] // self.size
            some = [number - passed * self.size for number in numbers[at:] if number // self.size == passed]
            found += self._draw(self.mixer, some, epoch + passed)
            at += len(some)
        return found

    def _draw(self, mixer, draws, epoch):
        if not draws:
            return []
        first, last, step = draws[0], draws[-1], draws[1] - draws[0] if len(draws) > 1 else 1
        if step and last - first == step * (len(draws) - 1) and all(
                draw == first + step * n for n, draw in enumerate(draws)):
            sources, numbers = mixer.draws(first, len(draws), step)
        else:
            sources, numbers = mixer.draws(first, last - first + 1)
            sources = [sources[draw - first] for draw in draws]
            numbers = [numbers[draw - first] for draw in draws]
        of: list[list[int]] = [[] for _ in self.children]
        for source, number in zip(sources, numbers):
            of[source].append(number)
        each = [iter(child.picks(epoch, some)) for child, some in zip(self.children, of)]
        return [next(each[source]) for source in sources]


class _Order:
    """The rest of an epoch of a mix for one rank; as Order."""

    def __init__(self, blend, mixer, size, epoch, begin, rank, world_size, equalize):
        left = max(0, size - begin)
        self.size = left // world_size if equalize == "drop" else -(-left // world_size)
        self._blend, self._mixer, self._whole, self._epoch = blend, mixer, size, epoch
        self._first, self._world_size = begin + rank, world_size

    def picks(self, first, count):
        """Of positions first, first + 1, ..., up to the end."""
        count = max(0, min(count, self.size - first))
        places = range(self._first + first * self._world_size, self._first + (first + count) * self._world_size,
                       self._world_size)
        inside = [place for place in places if place < self._whole]
        found = self._blend.picks(self._epoch, inside, self._mixer)
        for place in places[len(inside):]:  # what is added where ranks are made equal comes from the beginning
            found += self._blend.picks(self._epoch, [place % self._whole % self._blend.size])
        return found

    def rows(self, first, count):
        """Rows of all parts together, at those positions."""
        picks = self.picks(first, count)
        positions: dict[Any, array[int]] = {}
        for leaf, epoch, position in picks:
            positions.setdefault((leaf, epoch), array("Q")).append(position)
        each = {(leaf, epoch): iter(leaf.sampler(epoch)._rows_at(some))
                for (leaf, epoch), some in positions.items()}
        return array("Q", [leaf.first + next(each[leaf, epoch]) for leaf, epoch, _ in picks])


class _Maker(Maker):
    """Samples are made as the dataset that they come from was asked to."""

    mixed = True

    def __init__(self, makers: list[Maker], on_error: str, tolerance: int | None) -> None:
        super().__init__(as_bytes, on_error, "raise", Sizes(0, None), tolerance)
        self._makers = makers  # of each part

    @property
    def copies(self) -> bool:
        return all(maker.copies for maker in self._makers)

    def sizes_of(self, part: int) -> Sizes:
        return self._makers[part].sizes

    def _sample(self, client, part, row, item, decode=None):
        number, of_part = part.place_of(row)
        return self._makers[number]._sample(client, part.part(number), of_part, item, decode)


class Mix(IterableDataset):
    """Several datasets as one, by weights: for a DataLoader, read ahead through the whole epoch, shared by
    ranks and workers, and gone on with anywhere, as an IterableDataset is.

        images = IterableDataset("gs://bucket/images/", decode=image, seed=1)
        shards = IterableDataset(shards="train.dfx", decode=sample, seed=2)
        mixed = Mix([images, shards], [0.3, 0.7], batch_size=64, ended="restart")
        for batch in DataLoader(mixed, batch_size=64, num_workers=4):
            ...

    After n samples of all ranks a source of the weight w has given n * w of them, rounded down or up, in its
    own order. Which source each sample is from depends on the weights alone, not on ranks or workers.

    Arguments:
        sources: IterableDatasets, of objects, pairs or shards, or other mixes. Their seed, shuffle, decode,
            sizes and `overwritten` are used, and nothing else of them: a rank or an on_error of their own
            that differs from the mix's is refused.
        weights: a number of each; or a dict of when they begin and the weights, as {0: [1, 1],
            1_000_000: [3, 1]}, in samples of all ranks since the epoch's beginning, with ended="restart"
            since the first one's.
        ended: when a source has given all of its samples: "stop": the epoch ends before the first sample that
            is not there; "drop": the others go on without it, until none is left; "restart": it begins
            again, in its own next epoch. Then epochs of the mix go on where the one before has ended.
        length: samples of an epoch, of all ranks together; None = until the mix ends, and with
            ended="restart" as many as all sources have.
        batch_size, equalize, rank, world_size, epoch, consumed, on_error, tolerance, client: as of an IterableDataset.

    A state fits a mix of the same sources. With other weights than it was saved with, the job goes on with
    those from there on: what each source has given stays. Weights of mixes inside of this one stay.

    Threads: one iterates. Processes: fork, spawn and forkserver, persistent workers or not.
    """

    _reads_over = False  # what follows an epoch may be of other weights

    def __init__(self, sources: Sequence[IterableDataset], weights: Sequence[float] | Mapping[int, Sequence[float]],
                 *, ended: str = "stop", length: int | None = None, batch_size: int | None = None,
                 equalize: str = "drop", rank: int | None = None, world_size: int | None = None, epoch: int = 0,
                 consumed: int = 0, on_error: str = "raise", tolerance: int | None = TOLERANCE,
                 client: Client | None = None) -> None:
        super(IterableDataset, self).__init__()
        self._sources = _sources_of(sources)
        self._ended = one_of(ended, "ended", ("stop", "restart", "drop"))
        self._length = None if length is None else count_of(length, "length", 1)
        self._batch = 0 if batch_size is None else count_of(batch_size, "batch_size", 1)
        self._equalize = one_of(equalize, "equalize", ("drop", "pad"))
        self._rank, self._world_size = ranks(rank, world_size)
        epoch, consumed = count_of(epoch, "epoch"), count_of(consumed, "consumed")
        self._client = given_client(client) or Client(service=_service_of(self._sources))
        _check_services(self._sources, self._client)
        _check_shares(self._sources, self._rank, self._world_size, on_error)
        self._leaves, self._blend = _blend_of(self._sources, weights, ended, self._length)
        self._how = {"seed": 0, "shuffle": "mix", "block": None, "window": None}
        parts = [part for leaf in self._leaves for part in leaf.source.parts]
        sizes = [end - begin for leaf in self._leaves
                 for begin, end in zip(leaf.source.begins, leaf.source.begins[1:])]
        self._source = Source(parts, sizes, Folder(), f"{len(self._sources)} datasets")
        told = self._blend.told(False)  # weights may change
        self._source.digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]
        agree({"digest": self.digest, "weights": self.weights, "equalize": equalize}, self._rank, self._world_size)
        self._plans = any(leaf.plans for leaf in self._leaves)
        self._maker = _Maker([leaf.maker for leaf in self._leaves for _ in leaf.source.parts], on_error, tolerance)
        self._shared = self._maker.shared = Shared(self._source.path)
        self._shared.set_epoch(epoch)
        self._begin()
        if consumed:
            self._shared.go_on(epoch, self._begin_of(consumed), True)

    def __repr__(self) -> str:
        return (f"<dataflux.torch.Mix of {self._source.told}, {len(self)} samples for rank {self._rank} of "
                f"{self._world_size}, epoch {self.epoch}>")

    def __len__(self) -> int:
        """Samples of this rank in a whole epoch. One that has gone on with other weights may have others."""
        size = self._blend.size
        return size // self._world_size if self._equalize == "drop" else -(-size // self._world_size)

    @property
    def count(self) -> int:
        """Samples of an epoch, of all ranks together."""
        return self._blend.size

    @property
    def weights(self) -> dict[int, list[int]]:
        """The weights as whole parts, by where they begin."""
        return self._blend.mixer.weights

    def counts(self, consumed: int) -> list[int]:
        """What each source has given in this epoch, with ended="restart" since the first one, once each rank
        has consumed so many samples of it."""
        base = self.epoch * self._blend.size if self._blend.endless else 0
        mixer = self._mixer_of(self.epoch, None)[0] or self._blend.mixer
        return mixer.counts(base + count_of(consumed, "consumed") * self._world_size)

    def describe(self, num_workers: int = 0) -> dict[str, float]:
        """What an epoch costs, as of an IterableDataset: the means of its sources by their weights at the
        epoch's beginning. Samples of one block go to all processes, whatever its source's shuffle."""
        workers = max(1, count_of(num_workers, "num_workers"))
        memory = memory_of(client_for(self._client, workers))
        counts = [0] * len(self._leaves)
        for leaf, _, _ in self._blend.picks(0, range(min(self._blend.size, 4096))):
            counts[self._leaves.index(leaf)] += 1
        found: dict[str, float] = {}
        for leaf, count in zip(self._leaves, counts):
            share = count / max(1, sum(counts))
            sample, shard = leaf.source.means()
            how = {**leaf.how, "shuffle": "window" if leaf.how["shuffle"] in WINDOWS else leaf.how["shuffle"]}
            cost = Sampler(leaf.size, world_size=self._world_size, equalize="pad", **how)._cost(
                sample_bytes=sample, shard_samples=shard, workers=workers, memory=memory,
                batch=max(1, round(self._batch * share)))
            for name, value in cost.items():
                # Two samples are of one shard if they are of one source.
                weight = share ** 2 if name.startswith("same_shard") else 1 if name == "held" else share
                found[name] = found.get(name, 0) + weight * value
        return found

    def state_dict(self, consumed: int | None = None) -> dict[str, Any]:
        """As of an IterableDataset, with what each source had given when the weights began."""
        state = super().state_dict(consumed)
        return {**state, "mix": self._mixer_of(state["epoch"], state["begin"])[1]}

    def load_state_dict(self, state: Any) -> None:
        """As of an IterableDataset. With other weights than those of the state the mix goes on with its own ones
        from there on."""
        states = _found(state)
        kept = states[0].get("mix") if states else None
        place = self._place_of(state)
        if kept is None:
            raise ValueError("state: mix is missing: it is of another dataset")
        going_on = self._going_on(kept, place)
        self._made_of(going_on)  # for its checks
        # The place of a worker's own state is for that worker; what its mixer is made of is for all, and for those
        # that are begun later.
        path = self._path_of(self._shared.loaded + (1 if get_worker_info() is None else 0))
        own = f"{path}.{os.getpid()}"  # workers write the same, and nobody reads a part
        with open(own, "w") as file:
            json.dump((place.epoch, going_on), file)
        os.replace(own, path)
        self._go_on(place)

    def _path_of(self, loaded):
        """The file of (epoch, what the mixer is made of), of the newest state that was loaded."""
        return os.path.join(self._source.path, f"mix-{loaded}")

    def _made_of(self, kept):
        return Mixer([child.size for child in self._blend.children],
                     {int(begin): parts for begin, parts in kept["weights"].items()}, ended=self._ended,
                     begin=kept["begin"], counts=kept["counts"])

    def _going_on(self, kept, place):
        """What the mixer is made of from a place on."""
        given = _texts(self._blend.mixer.weights)
        if kept["given"] == given:
            return kept
        if place.worker is not None:
            raise ValueError("state: weights are other ones here: to go on with those give the loader's state to the "
                             "dataset's load_state_dict() before the loader is made")
        begin = place.begin + (place.epoch * self._blend.size if self._blend.endless else 0)
        return {"weights": given, "begin": begin, "counts": self._made_of(kept).counts(begin), "given": given}

    def _mixer_of(self, epoch, begin):
        """(mixer, what it was made of, samples of all ranks) in an epoch, from a place of it on, or from anywhere
        in it (None). What was given before the place where other weights began cannot be given again: there all
        of the epoch is by the weights that were told."""
        blend = self._blend
        try:
            with open(self._path_of(self._shared.loaded)) as file:
                begun, kept = json.load(file)
        except FileNotFoundError:  # no state was loaded
            begun, kept = 0, {"begin": 0}
        if blend.endless:
            there = epoch * blend.size + (blend.size if begin is None else begin) >= kept["begin"]
        else:
            there = epoch == begun and (begin is None or begin >= kept["begin"])
        if kept["begin"] and there:
            mixer = self._made_of(kept)
            size = blend.size if blend.endless else mixer.end
            return mixer, kept, size if self._length is None else min(size, self._length)
        given = _texts(blend.mixer.weights)
        return None, {"weights": given, "begin": 0, "counts": [0] * len(blend.children), "given": given}, blend.size

    def _order(self, epoch, begin, worker, workers):
        mixer, _, size = self._mixer_of(epoch, begin)
        order = _Order(self._blend, mixer, size, epoch, begin, self._rank, self._world_size, self._equalize)
        batch = self._batch or (1 if workers > 1 else STRETCH)
        return order, Turns(order.size, batch, worker, workers)

    def _leaf_of(self, number):
        return next(leaf for leaf in self._leaves if leaf.parts[0] <= number < leaf.parts[1])

    def _kept(self, client, number):
        leaf = self._leaf_of(number)
        if not leaf.plans or not hasattr(self._source.parts[number], "in_plans"):
            return 0
        return max(1, leaf.source.kept(client) // sum(each.plans for each in self._leaves))

    def _reads(self, client, place, worker, workers, step):
        return _Reads(self, client, place, worker, workers, step)


def _texts(weights):
    return {str(begin): parts for begin, parts in weights.items()}


_AHEAD = 1 << 16  # positions that are looked at ahead of what is taken


class _Reads(Reads):
    """Reads of a worker of a mix. All parts go through the positions together, some way ahead of the consumer: a
    part of a small weight would look through the whole epoch for what fills its memory."""

    def __init__(self, mix: Mix, client: Client, place: Place, worker: int, workers: int, step: int | None) -> None:
        self._order, turns = mix._order(place.epoch, place.begin, worker, workers)
        self._batches = turns.batches(place.yielded)
        self._begun: tuple[int, int] = (0, 0)  # positions of a batch that are still to be looked at
        self._looked = self._wanted = 0  # positions of this worker
        self._over = False
        self._found: list[deque[tuple[int, int, int]]] = [deque() for _ in mix._source.parts]
        super().__init__(mix, client, place, worker, workers, step)

    def asked(self, rows: array[int]) -> tuple[Any, Sequence[int], Iterator[Any]]:
        self._wanted += len(rows)
        return super().asked(rows)

    def _look(self) -> bool:
        """Looks at some positions more, if that is not too far ahead."""
        if self._over or self._looked >= self._wanted + _AHEAD:
            return False
        first, count = self._begun
        if not count:
            batch = next(self._batches, None)
            self._over = batch is None
            if batch is None:
                return False
            first, count = batch
        some = min(count, STRETCH)
        for leaf, epoch, position in self._order.picks(first, some):
            for part in range(*leaf.parts):
                self._found[part].append((self._looked, epoch, position))
            self._looked += 1
        self._begun = first + some, count - some
        return True

    def _rows_of(self, number: int, place: Place, most: int) -> Iterator[array[int]]:
        leaf, found = self._dataset._leaf_of(number), self._found[number]
        for positions, epoch in self._stretches(leaf, found, most):
            if positions:
                rows = leaf.sampler(epoch)._rows_at(positions)
                yield from leaf.source.of_part(number - leaf.parts[0], [rows], leaf.maker.sizes)
            else:
                yield positions

    def _stretches(self, leaf, found, most):
        """(positions, epoch): where plans are made, each within a window; none where the consumer is to go on
        first."""
        positions, now, end, since = array("Q"), -1, 0, 0
        while True:
            if not found:
                if self._look():
                    continue
                if positions and (self._over or not most or since < self._wanted):
                    yield positions, now
                    positions = array("Q")
                elif self._over:
                    return
                else:
                    yield array("Q"), now
                continue
            at, epoch, position = found.popleft()
            if positions and (epoch != now or len(positions) >= (most or STRETCH) or (most and position >= end)):
                yield positions, now
                positions = array("Q")
            if not positions:
                now, since = epoch, at
                end = leaf.sampler(epoch)._window_end(position) if most else 0
            positions.append(position)


def _sources_of(sources: Any) -> list[IterableDataset]:
    if isinstance(sources, IterableDataset) or not hasattr(sources, "__iter__"):
        raise TypeError(f"sources: a list of datasets is needed, and not a {type(sources).__name__}")
    found = list(sources)
    for source in found:
        if not isinstance(source, IterableDataset):
            raise TypeError("sources: IterableDatasets and mixes of dataflux.torch are mixed, and not a "
                            f"{type(source).__name__}")
    return found


def _service_of(sources):
    return sources[0]._client._options.given["service"] if sources else "gcs"


def _check_services(sources, client):
    """One client reads all."""
    for number, source in enumerate(sources):
        if source._client._scheme != client._scheme:
            raise ValueError(f"sources[{number}]: it is of {source._client._scheme}://, and the mix reads from "
                             f"{client._scheme}://: a mix is of one service, and its client is of that one")


def _check_shares(sources, rank, world_size, on_error):
    """What only the mix decides was not told to a source, which would go by it in vain."""
    for number, source in enumerate(sources):
        if source._world_size > 1 and (source._rank, source._world_size) != (rank, world_size):
            raise ValueError(f"sources[{number}]: it is rank {source._rank} of {source._world_size}, and the mix rank "
                             f"{rank} of {world_size}: ranks share the mix; give rank and world_size to it alone")
        if source._maker.on_error not in ("raise", on_error):
            raise ValueError(f"sources[{number}]: on_error={source._maker.on_error!r}, and the mix has {on_error!r}, "
                             "which is used: give on_error to the mix")


def _blend_of(sources: Sequence[IterableDataset], weights: Any, ended: str,
              length: int | None) -> tuple[list[Leaf], Blend]:
    """All leaves, and the blend of sources."""
    leaves: list[Leaf] = []

    def child(source):
        if isinstance(source, Mix):
            return Blend([child(each) for each in source._sources], source._blend.mixer, source._ended, source._length)
        first = sum(leaf.size for leaf in leaves)
        leaves.append(Leaf(source, first, leaves[-1].parts[1] if leaves else 0))
        return leaves[-1]

    children = [child(source) for source in sources]
    mixer = Mixer([each.size for each in children], weights, ended=ended)
    return leaves, Blend(children, mixer, ended, length)


class MapMix(Dataset):  # type: ignore[misc]
    """Several datasets of one kind or another as one, by weights: of numbers, as a DataLoader's sampler chooses
    them. Number n is the n-th sample of the mix.

        mixed = MapMix([MapDataset("gs://bucket/images/"), MapDataset(shards="train.dfx")], [0.3, 0.7], seed=7)
        for batch in DataLoader(mixed, batch_size=64, num_workers=4):
            ...

    Arguments:
        sources: MapDatasets, or any datasets with a length that are asked by numbers.
        weights, ended, length: as of Mix; weights that change do so at numbers of samples.
        seed: each source is read in an order of its own, of dataflux.Sampler; None = in its own order.
        epoch: the first epoch of all sources.
    """

    def __init__(self, sources: Sequence[Any], weights: Sequence[float] | Mapping[int, Sequence[float]], *,
                 ended: str = "stop", length: int | None = None, seed: int | None = 0, epoch: int = 0) -> None:
        self._sources = list(sources)
        one_of(ended, "ended", ("stop", "restart", "drop"))
        sizes = [len(source) for source in self._sources]
        self._mixer = Mixer(sizes, weights, ended=ended)  # type: ignore[arg-type]
        end = sum(sizes) if self._mixer.end is None else self._mixer.end
        if length is not None:
            length = count_of(length, "length", 1)
            end = length if ended == "restart" else min(length, end)
        self._size = end
        self._how = {"shuffle": "none"} if seed is None else {"seed": count_of(seed, "seed", 0, 64)}
        self._epoch = count_of(epoch, "epoch")

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<dataflux.torch.MapMix of {len(self._sources)} datasets: {self._size} samples>"

    def __getitem__(self, number: int) -> Any:
        return self.__getitems__([number])[0]

    def __getitems__(self, numbers: Sequence[int]) -> list[Any]:
        """Samples of these numbers, in their order: those of a source at once, where it has `__getitems__`."""
        wanted: list[list[int]] = [[] for _ in self._sources]
        chosen = []
        for number in numbers:
            try:
                draw = range(self._size)[number]
            except IndexError:
                raise IndexError(f"sample {number} of {self._size}") from None
            [source], [which] = self._mixer.draws(draw, 1)
            size = len(self._sources[source])
            order = Sampler(size, epoch=self._epoch + which // size, **self._how)  # type: ignore[arg-type]
            wanted[source].append(order[which % size])
            chosen.append(source)
        each = [iter(of.__getitems__(some) if hasattr(of, "__getitems__") else [of[number] for number in some])
                for of, some in zip(self._sources, wanted)]
        return [next(each[source]) for source in chosen]
