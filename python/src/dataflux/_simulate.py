"""What an epoch would be, before a machine is rented."""

from __future__ import annotations

from array import array

from . import _abi
from ._calls import checked
from ._handles import ErrorHandle
from ._library import byref, kind_of, library, struct
from ._listing import Listing, Row, Rows
from ._place import count_of, flag_of, nanoseconds, number_of, one_of
from ._reports import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, Literal

_ORDERS = {"asked": _abi.ORDER_AS_ASKED, "ready": _abi.ORDER_AS_READY}
_BOUNDS = ("step", "link", "processors", "decoding", "memory", "concurrency", "start")


class Forecast(Report):
    """What simulate() tells: of all epochs together. Shares are from 0 to 1.

    seconds, first_batch: how long it takes, and until the first batch.
    samples_per_second, bytes_per_second: means.
    link_share, processors_share: what is used of the link, by samples, and of all processors, by requests, bytes and
        decoding.
    waited: share of the time that the training waits.
    price: US dollars of requests, and of bytes where they cost something.
    in_flight: reads, on the average.
    samples, bytes: all of them.
    class_a, class_b, hedged: requests by how they are billed; those of class B that ask again for what is late.
    peak_memory: bytes read ahead or being read, of all processes.
    bound: what there is not enough of: "step", "link", "processors", "decoding", "memory", "concurrency" (the round
        trip by the reads that may be in flight), or "start" (the epoch is too short).
    advice: a sentence that says so, and what helps.
    simulated: share of the samples that were simulated; the rest is reckoned to go on as these ended.
    """

    __slots__ = ("seconds", "first_batch", "samples_per_second", "bytes_per_second", "link_share",
                 "processors_share", "waited", "price", "in_flight", "samples", "bytes", "class_a",
                 "class_b", "hedged", "peak_memory", "bound", "advice", "simulated")

    seconds: float
    first_batch: float
    samples_per_second: float
    bytes_per_second: float
    link_share: float
    processors_share: float
    waited: float
    price: float
    in_flight: float
    samples: int
    bytes: int
    class_a: int
    class_b: int
    hedged: int
    peak_memory: int
    bound: str
    advice: str
    simulated: float


def _objects(objects, size):
    """Members of the model that name the objects, and what they borrow."""
    if isinstance(objects, int) and not isinstance(objects, bool):
        if size is None:
            raise TypeError("size: bytes of an object are needed beside a number of objects")
        held = array("Q", [count_of(size, "size"), count_of(objects, "objects")])
        at = held.buffer_info()[0]
        return {"sizes": at, "counts": at + 8, "size_count": 1}, held
    if size is not None:
        raise TypeError("size: only beside a number of objects")
    if isinstance(objects, Listing) and objects._rows is None:
        return {"listing": objects._handle}, objects
    held = array("Q", [count_of(each.size if isinstance(each, Row) else each, "objects") for each in objects])
    return {"sizes": held.buffer_info()[0], "size_count": len(held)}, held


def _amount(value, argument, needed):
    """A number that is not below 0; None is 0, which is the library's default."""
    if value is None:
        return 0.0
    number = number_of(value, argument, needed)
    if not number >= 0:
        raise ValueError(f"{argument}: {value!r} is below 0, or no number")
    return number


def _free(value, argument, needed):
    """The same, where 0 is none of it, for which the library has a number below 0."""
    return 0.0 if value is None else _amount(value, argument, needed) or -1.0


def _time(value, argument):
    """Nanoseconds; 0 of None and 0."""
    return 0 if value is None or value == 0 else nanoseconds(value, argument)


def simulate(objects: int | Listing | Rows | Iterable[int], *, size: int | None = None, link: float,
             epochs: int = 1, listed: bool = False, connection_rate: float | None = None,
             round_trip: float | None = None, spread: float | None = None,
             connecting_trips: int | None = None, processors: int | None = None, workers: int = 0,
             memory: int | None = None, concurrency: int | None = None,
             request_time: float | None = None, byte_nanoseconds: float | None = None,
             decode: float = 0, decode_threads: int = 1,
             order: Literal["asked", "ready"] = "asked", batch: int = 1, step: float = 0,
             class_a_price: float | None = None, class_b_price: float | None = None,
             gib_price: float = 0, seed: int = 1) -> Forecast:
    """How long an epoch would take, what would bound it, and what it would cost.

    The library's own reader runs over a simulated bucket and network, in at most a few seconds, without a
    client. Equal arguments give equal forecasts. docs/simulate.md says how near that comes to measured epochs.

        told = dataflux.simulate(10_000_000, size=100 << 10, link=1.25e9, round_trip=0.02, batch=256, step=0.05)
        print(told.samples_per_second, told.waited, told.price, told.advice)

    Arguments, of which None is the default that is named:
        objects, size: how many there are, and bytes of each; or a Listing (of a manifest: its rows()), rows of
            one, or the bytes of each object. One object is one sample, and none is larger than `memory`.
        link: bytes a second of the machine.
        epochs: times that all objects are read.
        listed: the bucket is listed first, whose requests cost something; else there is a manifest in a file.
        connection_rate: bytes a second of one connection; 50e6.
        round_trip: seconds from a request to its reply's first byte; 0.02.
        spread: sigma of the logarithm of a request's round trip, and of its rate; 0.2.
        connecting_trips: round trips before the first request of a connection; 2, which is TLS 1.3.
        processors: of the machine; 4.
        workers: processes that make batches in turns, each with two of them ahead; 0: this one reads.
        memory: bytes that each process has for reads; 256 MiB.
        concurrency: most reads of each process in flight; 256.
        request_time, byte_nanoseconds: what a processor takes for a request, in seconds, and for a byte; 20e-6
            and 0.65, which is TLS by OpenSSL 3.0. It is 0.2 by OpenSSL 3.5, and 0.1 without TLS.
        decode, decode_threads: seconds of a processor for each sample, and threads of each process that decode.
        order: "asked", or "ready" for samples in the order in which they arrive.
        batch, step: samples of a batch, and seconds that the training takes for one.
        class_a_price, class_b_price, gib_price: US dollars of a million operations of a class, and of a GiB that
            leaves the region; 5, 0.4 and 0, as Google's STANDARD class and S3 have it in the United States.
        seed: of the dice.

    Raises: TypeError, ValueError and InvalidArgumentError, which name the argument.
    """
    given, held = _objects(objects, size)
    rate, dollars = "bytes a second are needed", "US dollars are needed"
    model = struct(
        "epoch_model", **given, epochs=count_of(epochs, "epochs", 1, 62),
        listed=int(flag_of(listed, "listed")), link=_amount(link, "link", rate),
        connection_rate=_amount(connection_rate, "connection_rate", rate),
        round_trip_ns=_time(round_trip, "round_trip"), spread=_free(spread, "spread", "a number is needed"),
        connecting_trips=_count(connecting_trips, "connecting_trips"),
        processors=_count(processors, "processors"), workers=count_of(workers, "workers"),
        memory=None if memory is None else count_of(memory, "memory", 1),
        concurrency=_count(concurrency, "concurrency"), request_ns=_time(request_time, "request_time"),
        byte_ns=_amount(byte_nanoseconds, "byte_nanoseconds", "nanoseconds are needed"),
        decode_ns=_time(decode, "decode"), decode_threads=count_of(decode_threads, "decode_threads", 1, 32),
        order=_ORDERS[one_of(order, "order", _ORDERS)], batch=count_of(batch, "batch", 1),
        step_ns=_time(step, "step"), class_a_price=_free(class_a_price, "class_a_price", dollars),
        class_b_price=_free(class_b_price, "class_b_price", dollars),
        gib_price=_amount(gib_price, "gib_price", dollars), seed=count_of(seed, "seed", 1, 64))
    raw, error = kind_of("epoch_forecast")(), ErrorHandle()
    import ctypes

    checked(library.simulate_epoch(byref(model), byref(raw), ctypes.sizeof(raw), byref(error)), error)
    del held
    values = {name: getattr(raw, name) for name, _ in _abi.STRUCTS["epoch_forecast"]}
    return Forecast(**{**values, "bound": _BOUNDS[raw.bound],
                       "advice": library.epoch_bound_text(raw.bound).decode()})


def _count(value, argument):
    return None if value is None else count_of(value, argument, 1, 32)
