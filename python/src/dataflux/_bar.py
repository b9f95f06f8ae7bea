"""The bar of progress=True. A bar is decoration: where it cannot be written the call goes on."""

from __future__ import annotations

import sys
from time import monotonic

LINE_EVERY = 10.0  # seconds between two lines where there is no terminal


def bar(label, unit):
    """A callable for _progress.Teller, which shows what it is told."""
    kind = _place()
    if kind is None:
        return _Nothing(label, unit)
    if kind is not _Lines:
        made = _tqdm(label, unit, kind is _Notebook)
        if made is not None:
            return made
    return kind(label, unit)


def _place():
    """Where a bar is to be seen: the class that shows it there."""
    shell = sys.modules.get("IPython")
    if shell is not None:
        shell = shell.get_ipython()
        if shell is not None and "IPKernelApp" in shell.config:
            return _Notebook
    stream = sys.stderr
    try:
        return None if stream is None else _Line if stream.isatty() else _Lines
    except AttributeError:  # a program's own, which writes to a log
        return _Lines
    except ValueError:  # closed
        return None


def _tqdm(label, unit, notebook):
    try:
        # tqdm.auto imports asyncio; outside of notebooks it gives what tqdm itself has.
        if notebook:
            from tqdm.auto import tqdm
        else:
            from tqdm import tqdm
    except ImportError:
        return None
    return _Tqdm(tqdm, label, unit)


def printable(text):
    """Without control characters: an object's name must not steer a terminal."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def amount(number, unit):
    """Such as "12.3 MB", "1,234 objects"."""
    if unit != "B":
        return f"{number:,} {unit}"
    for prefix in ("", "k", "M", "G", "T", "P"):
        if number < 999.5 or prefix == "P":
            break
        number /= 1000
    return f"{number:.0f} B" if not prefix else f"{number:.{2 if number < 9.995 else 1}f} {prefix}B"


def duration(seconds):
    """Such as "3.2 s", "4 min 05 s"."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02} s"
    return f"{minutes // 60} h {minutes % 60:02} min"


class _Bar:
    """Shows by _show(text); a subclass says where."""

    def __init__(self, label, unit):
        self._label = printable(label)
        self._unit = unit
        self._began = monotonic()
        self._broken = False
        self._last = None

    def __call__(self, *, done, total, label=None, **_):
        if label is not None:
            self._label = printable(label)
        self._last = (done, total)
        self._try(self._update, done, total)

    def _dataflux_end(self):
        if self._last is not None:
            self._try(self._finish, *self._last)

    def _try(self, function, *arguments):
        if not self._broken:
            try:
                function(*arguments)
            # A pipe without a reader, a stream that was closed, one that has not all of a stream.
            except (AttributeError, OSError, ValueError):
                self._broken = True

    def _text(self, done, total, ended=False):
        elapsed = monotonic() - self._began
        if not total:
            parts = amount(done, self._unit)
        elif self._unit == "B":
            parts = f"{amount(done, 'B')} of {amount(total, 'B')}"
        else:
            parts = f"{done:,} of {amount(total, self._unit)}"
        rate = done / elapsed if elapsed > 0 else 0
        if rate:
            parts += f", {amount(rate, 'B')}/s" if self._unit == "B" else f", {rate:,.1f}/s"
        if ended:
            parts += f", {duration(elapsed)}"
        elif total and rate and done < total:
            parts += f", {duration((total - done) / rate)} left"
        return parts


class _Nothing(_Bar):
    """Where there is no stderr."""

    def _update(self, done, total):
        pass

    _finish = _update


class _Line(_Bar):
    """One line of a terminal, written anew."""

    _shown = 0

    def _update(self, done, total, ended=False):
        text = self._text(done, total, ended)
        width = _width()
        head = f"{self._label}: "
        if total:
            share = min(1.0, done / total)
            head += f"{share:4.0%} "
            room = min(40, width - len(head) - len(text) - 4)
            if room >= 8:
                full = int(share * room)
                head += "[" + "#" * full + " " * (room - full) + "] "
        line = (head + text)[:width - 1]
        # Spaces rather than an escape: any terminal knows them.
        sys.stderr.write("\r" + line + " " * (self._shown - len(line)))
        sys.stderr.flush()
        self._shown = len(line)

    def _finish(self, done, total):
        self._update(done, total, True)
        sys.stderr.write("\n")
        sys.stderr.flush()


def _width():
    import os

    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return max(20, columns or 80)  # a terminal that does not know its size says 0


class _Lines(_Bar):
    """Lines of a log."""

    def __init__(self, label, unit):
        super().__init__(label, unit)
        self._next = self._began + LINE_EVERY

    def _update(self, done, total):
        now = monotonic()
        if now >= self._next:
            self._next = now + LINE_EVERY
            self._write(self._text(done, total))

    def _finish(self, done, total):
        self._write(self._text(done, total, True))

    def _write(self, text):
        sys.stderr.write(f"{self._label}: {text}\n")
        sys.stderr.flush()


class _Notebook(_Bar):
    """An output of a notebook's cell, shown anew."""

    _shown = None

    def _update(self, done, total, ended=False):
        text = {"text/plain": f"{self._label}: {self._text(done, total, ended)}"}
        if self._shown is None:
            from IPython.display import display

            self._shown = display(text, raw=True, display_id=True)
        else:
            self._shown.update(text, raw=True)

    def _finish(self, done, total):
        self._update(done, total, True)


class _Tqdm(_Bar):
    """tqdm's bar."""

    _shown = None

    def __init__(self, tqdm, label, unit):
        super().__init__(label, unit)
        self._tqdm = tqdm

    def _update(self, done, total):
        if self._shown is None:
            size = self._unit == "B"
            # How often it is told is decided before.
            self._shown = self._tqdm(desc=self._label, total=total, mininterval=0, miniters=0,
                                     unit=self._unit if size else f" {self._unit}",
                                     unit_scale=size)
        if total and total != self._shown.total:
            self._shown.total = total
        if self._label != self._shown.desc:
            self._shown.set_description(self._label, refresh=False)
        self._shown.update(done - self._shown.n)

    def _finish(self, done, total):
        if self._shown is not None:
            self._shown.close()
