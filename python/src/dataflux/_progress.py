"""What `progress=` of a long call means: nothing, a bar, or a callable that is told the counts."""

from __future__ import annotations

import _thread
from time import monotonic

from . import _events, _wait
from ._place import not_async, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Union

    Progress = Union[None, bool, Callable[..., object]]

EVERY = 0.1  # seconds between two tellings


def of(progress: Progress, label: str, unit: str, total: int | None = None) -> Teller | None:
    """What tells how far a call is; None where nobody wants to know.

    Arguments:
        progress: None and False for nobody. True for a bar: tqdm's where tqdm is installed, else one
            of the package's own, in a terminal or a notebook; elsewhere a line on stderr every 10 s
            and at the end. A callable is called with done=, total=, unit= and label=, by the thread
            that made the call, at most ten times a second, and at the end.
        label: what is done, such as "download gs://bucket/data/".
        unit: what is counted: "B", "objects".
        total: how many there are in all; None = not known.

    Raises: TypeError for another progress, before anything is begun.
    """
    if progress is None or progress is False:
        return None
    if progress is True:
        from ._bar import bar

        return Teller(bar(label, unit), unit, label, total)
    if callable(progress):
        not_async(progress, "progress")
        return Teller(progress, unit, label, total)
    raise TypeError("progress: None, a bool or a callable is needed, and not a "
                    f"{type(progress).__name__}")


class Teller:
    """Tells the newest counts, not too often. What the callable raises reaches the caller, and the
    callable is not called again.

    The callable may end what it is told of, and so may a signal's handler or another thread
    meanwhile: nobody waits for it. In a forked child nothing is told: it is the parent's.
    """

    __slots__ = ("_tell", "_unit", "_label", "_done", "_total", "_told", "_next", "_over", "_telling",
                 "_process", "_last")

    def __init__(self, tell, unit, label, total):
        self._tell = tell
        self._unit = unit
        self._label = label
        self._done = 0
        self._total = total
        self._told = None
        self._next = 0.0
        self._over = False
        self._last = None  # the counts of end(), which a late at() of another thread does not change
        self._telling = _thread.allocate_lock()  # whoever has it tells
        self._process = _wait._process

    def at(self, done: int, total: int | None = None, label: str | None = None) -> None:
        """So many are done; `total` where it is known now; `label` where it is another one. Any thread; one at a
        time tells."""
        self._done = done
        if label is not None:
            self._label = label
        if total is not None:
            self._total = total
        if monotonic() >= self._next:
            self._tell_now()

    def end(self, done: int | None = None, total: int | None = None) -> None:
        """Tells the last counts, where they are not told yet, and that no more come. Again it does
        nothing. Put it into a `finally`: a bar's line is ended by it. Where the callable is being
        called just now, that is done when it returns."""
        self._done = self._done if done is None else done
        self._total = self._total if total is None else total
        self._last = self._done if done is None else done, self._total
        self._over = True
        self._tell_now()

    def _tell_now(self):
        if self._process != _wait._process:
            _of_parents.append(self)  # a bar that is let go of would be seen
            return
        # Who comes while another one tells leaves it to that one, who looks again.
        while self._tell is not None and self._telling.acquire(False):
            over, told = self._over, False
            try:
                self._next = monotonic() + EVERY
                self._say()
                told = True
            finally:
                try:
                    if over or self._over and not told:
                        self._finish()
                finally:
                    self._telling.release()
            if over or not self._over:
                return

    def _finish(self):
        tell, self._tell = self._tell, None
        ended = getattr(tell, "_dataflux_end", None)
        if ended is not None:
            ended()

    def _say(self):
        counts = self._last or (self._done, self._total)
        tell = self._tell
        if tell is None or counts == self._told:
            return
        self._told = counts
        try:
            plain(tell(done=counts[0], total=counts[1], unit=self._unit, label=self._label), "progress")
        except BaseException:
            if getattr(tell, "_dataflux_end", None) is None:
                self._tell = None
            raise


_of_parents = []  # of the processes that this one was forked from


class Telling:
    """Progress of a call that the library tells by events. Whoever waits for the call tells the
    callable, so that what that raises reaches its caller. End it in a `finally`."""

    def __init__(self, client, call):
        progress, told = call.watch
        verb, bucket, name = (part.decode("utf-8", "replace") if isinstance(part, bytes)
                              else part or "" for part in told)
        self._teller = of(progress, f"{verb} {client._scheme}://{bucket}/{name}",
                          "objects" if verb in ("listing", "remove", "index", "verify") else "B")
        client._handle()
        self.feed = client._feed
        if self.feed is None:
            client._check_open()
        self._sink, self._tag = _events.Sink(), None
        self._begin, call.begin = call.begin, self._begun
        self.every = EVERY

    def _begun(self, client, queue, tag, out, err):
        self._tag = tag
        self.feed.watch(tag, self._sink)
        return self._begin(client, queue, tag, out, err)

    def tick(self):
        self._teller.at(self._sink.done, self._sink.total)

    def end(self):
        self.feed.forget(self._tag)
        self._teller.end(self._sink.done, self._sink.total)
