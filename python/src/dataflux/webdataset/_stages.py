"""Stages of a pipeline: each makes an iterator of another one."""

from __future__ import annotations

import builtins
import functools
import os
import random
import sys
import time
from fnmatch import fnmatch
from itertools import islice
from typing import Any, Callable, Dict, Iterable, Iterator, List

from ._handlers import Handler, reraise_exception

Samples = Iterable[Any]


class PipelineStage:
    """A stage that is a class: run() gets what comes, and gives what goes on."""

    def run(self, src: Samples) -> Iterator[Any]:
        raise NotImplementedError


class Stage:
    """A stage that is a function with its arguments. It pickles, where they do."""

    def __init__(self, function: Callable[..., Any], *args: Any, **kw: Any) -> None:
        self.function, self.args, self.kw = function, args, kw

    def __call__(self, src: Samples) -> Any:
        return self.function(iter(src), *self.args, **self.kw)

    def __repr__(self) -> str:
        return f"<{getattr(self.function, '__name__', self.function)} {self.args} {self.kw}>"


def pipelinefilter(f: Callable[..., Any]) -> Callable[..., Stage]:
    """Makes of a function of (samples, arguments...) one of the arguments, which gives a stage."""
    return functools.wraps(f)(functools.partial(Stage, f))


def _each(src, function, handler):
    """function(sample) of each; of one that fails what the handler says."""
    for sample in src:
        try:
            made = function(sample)
        except Exception as why:
            if handler(why):
                continue
            return
        yield made


# Order.

def _pick(held, rng):
    at = rng.randint(0, len(held) - 1)
    held[at], held[-1] = held[-1], held[at]
    return held.pop()


def _shuffle(src, size, initial, rng, seed):
    if seed is not None:
        rng = random.Random(seed)
    elif rng is None:
        rng = random.Random(int((os.getpid() + time.time()) * 1e9))
    initial = min(initial, size)
    held: List[Any] = []
    for sample in src:
        held.append(sample)
        if len(held) < size:
            held.extend(islice(src, 1))
        if len(held) >= initial:
            yield _pick(held, rng)
    while held:
        yield _pick(held, rng)


def shuffle(bufsize: int = 1000, initial: int = 100, rng: Any = None, seed: Any = None,
            handler: Handler | None = None) -> Stage:
    """Holds samples back, and gives one of them at random for each that comes.

    Arguments:
        bufsize: how many are held.
        initial: how many are held before the first one is given.
        rng: a random.Random, or seed: the same order in each pass. By default others each time.
        handler: webdataset's, and of no use.
    """
    if rng is not None and seed is not None:
        raise ValueError("rng, seed: give one of them")
    return Stage(_shuffle, bufsize, initial, rng, seed)


class detshuffle(PipelineStage):  # noqa: N801, webdataset's name
    """As shuffle(), by seed + epoch, where the epoch is how often this object was passed before."""

    def __init__(self, bufsize: int = 1000, initial: int = 100, seed: int = 0, epoch: int = -1) -> None:
        self.bufsize, self.initial, self.seed, self.epoch = bufsize, initial, seed, epoch

    def run(self, src: Samples) -> Iterator[Any]:
        self.epoch += 1
        made: Iterator[Any] = _shuffle(iter(src), self.bufsize, self.initial, None, self.seed + self.epoch)
        return made


def _resampled(src, count):
    held = list(src)
    while held and count > 0:
        yield random.choice(held)
        count -= 1


def resampled(n: int = sys.maxsize) -> Stage:
    """Draws of all that comes, with replacement."""
    return Stage(_resampled, n)


def _rsample(src, p):
    return (sample for sample in src if random.uniform(0.0, 1.0) < p)


def rsample(p: float = 0.5) -> Stage:
    """Keeps each sample with a probability."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p: {p} is no probability")
    return Stage(_rsample, p)


def slice(*args: Any) -> Stage:
    """A part of what comes, as of itertools.islice."""
    return Stage(islice, *args)


# Which samples.

def _select(src, predicate):
    return (sample for sample in src if predicate(sample))


def select(predicate: Callable[[Any], Any]) -> Stage:
    """Keeps samples of which a function says so."""
    return Stage(_select, predicate)


# What is in a sample.

def _map(src, function, handler):
    for sample in src:
        try:
            made = function(sample)
        except Exception as why:
            if handler(why):
                continue
            return
        if made is None:
            continue
        if isinstance(sample, dict) and isinstance(made, dict):
            made["__key__"] = sample.get("__key__")
        yield made


def map(f: Callable[[Any], Any], handler: Handler = reraise_exception) -> Stage:
    """A function of each sample. Of one that it gives None for nothing goes on. A dict keeps the key."""
    return Stage(_map, f, handler)


def getfirst(a: Dict[Any, Any], keys: Any, default: Any = None, missing_is_error: bool = True) -> Any:
    """The first field that is there, of "jpg;png" or a list.

    Raises: ValueError where none is.
    """
    if isinstance(keys, str):
        if " " in keys:
            raise ValueError(f"{keys!r}: alternatives are parted by ';', and not by spaces")
        keys = keys.split(";")
    for key in keys:
        if key in a:
            return a[key]
    if missing_is_error:
        raise ValueError(f"none of the fields {keys} is in {list(a)}")
    return default


def _named(sample, keep, fields):
    taken = {each for value in fields.values() for each in (value.split(";") if isinstance(value, str) else value)}
    made = {name: value for name, value in sample.items() if name not in taken} if keep else {}
    made.update((name, getfirst(sample, value)) for name, value in fields.items())
    return made


def _rename(src, handler, keep, fields):
    return _each(src, lambda sample: _named(sample, keep, fields), handler)


def rename(*, handler: Any = reraise_exception, keep: Any = True, **kw: Any) -> Stage:
    """Fields by new names, as in rename(image="jpg;png", data="json"). Others stay, unless keep=False.

    `handler` and `keep` are names of fields, too, where they are given a str or a list.
    """
    if isinstance(handler, (str, list, tuple)):
        kw["handler"], handler = handler, reraise_exception
    if isinstance(keep, (str, list, tuple)):
        kw["keep"], keep = keep, True
    return Stage(_rename, handler, keep, kw)


def _renamed_keys(sample, pairs, keep_unselected, must_match, duplicate_is_error):
    made: Dict[Any, Any] = {}
    matched = dict.fromkeys((pattern for pattern, _ in pairs), False)
    for path, value in sample.items():
        name = path.rpartition("/")[2].lower()
        found = next(((pattern, new) for pattern, new in reversed(pairs) if fnmatch(name, pattern)), None)
        if found is None:
            if keep_unselected:
                made[path] = value
            continue
        matched[found[0]] = True
        if found[1] not in made:
            made[found[1]] = value
        elif duplicate_is_error:
            raise ValueError(f"{found[1]}: several fields of {list(sample)} would have this name")
    if must_match and not all(matched.values()):
        missing = [pattern for pattern, found in matched.items() if not found]
        raise ValueError(f"no field of {list(sample)} is one of {missing}")
    return made


def _rename_keys(src, pairs, how):
    return (_renamed_keys(sample, pairs, *how) for sample in src)


def rename_keys(*args: Any, keep_unselected: bool = False, must_match: bool = True,
                duplicate_is_error: bool = True, **kw: str) -> Stage:
    """Fields by new names, of patterns: ("image", "*.jpg") or image="*.jpg". Others go, the key too."""
    pairs = [(pattern, name) for name, pattern in (*args, *kw.items())]
    return Stage(_rename_keys, pairs, (keep_unselected, must_match, duplicate_is_error))


def _extracted(sample, patterns, duplicate_is_error, ignore_missing):
    made = []
    for pattern in patterns:
        several = pattern.split(";") if isinstance(pattern, str) else pattern
        found = [name for name in sample
                 if any(fnmatch("." + name, each) or fnmatch(name, each) for each in several)]
        if not found and not ignore_missing:
            raise ValueError(f"no field of {list(sample)} is one of {several}")
        if len(found) > 1 and duplicate_is_error:
            raise ValueError(f"{found}: several fields are one of {several}")
        made += [sample[found[0]]] if found else []
    return tuple(made)


def _extract_keys(src, patterns, how):
    return (_extracted(sample, patterns, *how) for sample in src)


def extract_keys(*patterns: Any, duplicate_is_error: bool = True, ignore_missing: bool = False) -> Stage:
    """Tuples of the fields whose names are as patterns say, as in extract_keys("*.jpg;*.png", "*.json")."""
    return Stage(_extract_keys, patterns, (duplicate_is_error, ignore_missing))


def _associate(src, associator):
    for sample in src:
        key = sample["__key__"]
        sample.update(associator(key) if callable(associator) else associator.get(key, {}))
        yield sample


def associate(associator: Any) -> Stage:
    """Adds to each sample what a function, or a dict, has for its key."""
    return Stage(_associate, associator)


def _map_dict(src, handler, functions):
    def mapped(sample):
        for name, function in functions.items():
            sample[name] = function(sample[name])
        return sample

    return _each(src, mapped, handler)


def map_dict(*, handler: Handler = reraise_exception, **kw: Callable[[Any], Any]) -> Stage:
    """Functions of fields, as in map_dict(image=augment)."""
    if not kw:
        raise ValueError("map_dict: name at least one field")
    for name, function in kw.items():
        if not callable(function):
            raise TypeError(f"{name}: a callable is needed, and not a {type(function).__name__}")
    return Stage(_map_dict, handler, kw)


def _to_tuple(src, fields, handler, missing_is_error, none_is_error):
    def made_of(sample):
        made = tuple([getfirst(sample, each, missing_is_error=missing_is_error) for each in fields])
        if none_is_error and any(value is None for value in made):
            raise ValueError(f"to_tuple: of {fields} one is None; the sample has {list(sample)}")
        return made

    return _each(src, made_of, handler)


def to_tuple(*args: Any, handler: Handler = reraise_exception, missing_is_error: bool = True,
             none_is_error: bool | None = None) -> Stage:
    """Tuples of fields: to_tuple("jpg;png", "json") or to_tuple("jpg;png json").

    Raises: in the pass ValueError for a field that is missing, unless missing_is_error=False.
    """
    if len(args) == 1 and isinstance(args[0], str) and " " in args[0]:
        args = tuple(args[0].split())
    return Stage(_to_tuple, args, handler, missing_is_error,
                 missing_is_error if none_is_error is None else none_is_error)


def _map_tuple(src, functions, handler):
    def mapped(sample):
        made = list(sample)
        for at, function in enumerate(functions[:len(made)]):
            if function is not None:
                made[at] = function(made[at])
        return tuple(made)

    return _each(src, mapped, handler)


def map_tuple(*args: Callable[[Any], Any] | None, handler: Handler = reraise_exception) -> Stage:
    """Functions of the elements of tuples; None leaves one as it is."""
    for function in args:
        if function is not None and not callable(function):
            raise TypeError(f"map_tuple: a callable is needed, and not a {type(function).__name__}")
    return Stage(_map_tuple, args, handler)


def transform_with(sample: Any, transformers: Any) -> Any:
    """Functions of the elements of one tuple, as a list."""
    made = list(sample)
    if len(transformers or ()) > len(made):
        raise ValueError(f"{len(transformers)} transformers of {len(made)} elements")
    for at, function in enumerate(transformers or ()):
        made[at] = made[at] if function is None else function(made[at])
    return made if transformers else sample


# Looking at them.

def _info(src, fmt, n, every, width, stream, name):
    for number, sample in enumerate(src):
        if number < n or (every > 0 and (number + 1) % every == 0):
            lines = [fmt.format(**sample)] if fmt is not None else \
                [f"--- {name}", *(f"{key} {repr(value)[:width]}" for key, value in sample.items())]
            print("\n".join(lines), file=stream or sys.stderr)
        yield sample


def info(fmt: str | None = None, n: int = 3, every: int = -1, width: int = 50, stream: Any = None,
         name: str = "") -> Stage:
    """Prints the first samples, and then every so many, to standard error."""
    return Stage(_info, fmt, n, every, width, stream, name)


def _log_keys(src, logfile):
    if not logfile:
        yield from src
        return
    with open(logfile, "ab", buffering=0) as file:  # one write a line, so that processes do not mix theirs
        for number, sample in enumerate(src):
            told = [number, *(sample.get(name) for name in ("__worker__", "__rank__", "__key__"))]
            file.write(("\t".join(builtins.map(str, told)) + "\n").encode("utf-8", "surrogateescape"))
            yield sample


def log_keys(logfile: str | None = None) -> Stage:
    """Appends the key of each sample to a file."""
    return Stage(_log_keys, logfile)


class Cached(PipelineStage):
    """Keeps all samples in memory after the first whole pass."""

    def __init__(self) -> None:
        self.cached: List[Any] | None = None

    def run(self, src: Samples) -> Iterator[Any]:
        if self.cached is not None:
            yield from self.cached
            return
        kept = []
        for sample in src:
            kept.append(sample)
            yield sample
        self.cached = kept


def _xdecoder_of(path, decoders):
    name = path.rpartition("/")[2].lower()
    return next((f for pattern, f in reversed(decoders) if fnmatch(name, pattern) or fnmatch("." + name, pattern)),
                None)


def _xdecode(src, decoders, must_decode):
    import io

    for sample in src:
        made = {}
        for path, data in sample.items():
            function = False if path.startswith("__") else _xdecoder_of(path, decoders)
            if function is None and must_decode:
                raise ValueError(f"no decoder for the field {path}: name one, or give must_decode=False")
            made[path] = function(io.BytesIO(data) if isinstance(data, bytes) else data) if function else data
        yield made


def _read_all(stream):
    return stream.read()


def _read_text(stream):
    return stream.read().decode("utf-8")


def xdecode(*args: Any, must_decode: bool = True, defaults: Any = None, **kw: Any) -> Stage:
    """Decodes fields by functions of a stream: ("*.jpg", f) or jpg=f. False leaves a field as it is. By
    default "*.bin" is bytes, and "*.txt" a str; pickles are decoded by no default."""
    known = list([("*.bin", _read_all), ("*.txt", _read_text)] if defaults is None else defaults)
    known += [*args, *(("*." + name, f) for name, f in kw.items())]
    return Stage(_xdecode, known, must_decode)
