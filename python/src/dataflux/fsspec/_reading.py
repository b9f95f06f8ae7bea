"""Whole objects and ranges of them: cat, cat_file, cat_ranges, head, tail."""

from __future__ import annotations

from .._errors import Error, again
from .._listing import Row
from .._place import named, url_of
from ._expanding import listed
from ._paths import is_text

_UNKNOWN = 2**64 - 1  # of an object's size


def is_behind(error):
    """The range begins where the object ends, or behind: no bytes, as with a slice."""
    return error.status == "out_of_range"


def place_of(scheme, bucket, name, generation):
    bucket = named(bucket, scheme)
    return Row(bucket, name, _UNKNOWN, generation, None) if generation else url_of(bucket, name)


def one_each(value, count, argument):
    """As many as there are paths, of one value or of a list."""
    if value is None or not hasattr(value, "__iter__"):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise ValueError(f"{argument}: there are {len(values)} for {count} paths")
    return values


class Reading:
    """What is read in one call comes by one window of reads, however many paths there are."""

    async def _ranges(self, paths, starts, ends, on_error="raise"):
        """(offset, length) of each slice; None where it is empty. Those that count from an object's
        end cost a request each."""
        sizes = {path: None for path, start, end in zip(paths, starts, ends)
                 if (start or 0) < 0 or (end or 0) < 0}
        places = [self._object(path) for path in sizes]
        found = await self._road.each("stat", [
            (((bucket, name),), {"fields": [], "generation": generation})
            for bucket, name, generation in places])
        sizes = dict(zip(sizes, found))
        ranges = []
        for path, start, end in zip(paths, starts, ends):
            size = sizes.get(path)
            if isinstance(size, Error):
                if on_error == "raise":
                    raise again(size)
                ranges.append(size)
                continue
            if size is not None:
                start, end, _ = slice(start, end).indices(size.size)
            start = start or 0
            if end is None:
                ranges.append((start, None))
            else:
                ranges.append((start, end - start) if end > start else None)
        return ranges

    async def _cat_file(self, path, start=None, end=None, generation=None, **kwargs):
        """The bytes of an object, or of a slice of it: `start` and `end` are as those of a slice. A whole
        object is compared with its checksum, and a slice with nothing.

        Raises: FileNotFoundError.
        """
        bucket, name, generation = self._object(path, generation)
        (wanted,) = await self._ranges([path], [start], [end])
        if wanted is None:
            return b""
        try:
            return await self._road.call("get", (bucket, name), offset=wanted[0], length=wanted[1],
                                         generation=generation)
        except Error as error:
            if is_behind(error):
                return b""
            raise

    async def _read_all(self, paths, ranges, on_error):
        """What each path, and each range, has: bytes, or an Error where `on_error` is not "raise"."""
        outcomes = [b""] * len(paths)
        by_bucket = {}
        for number, (path, wanted) in enumerate(zip(paths, ranges)):
            if isinstance(wanted, Error):
                outcomes[number] = wanted
                continue
            try:
                bucket, name, generation = self._object(path)
            except OSError as why:
                if on_error == "raise":
                    raise
                outcomes[number] = why
                continue
            if wanted is not None:
                place = place_of(self._scheme, bucket, name, generation)
                numbers, requests = by_bucket.setdefault(bucket, ([], []))
                numbers.append(number)
                requests.append(place if wanted == (0, None) else (place, *wanted))
        for numbers, requests in by_bucket.values():

            def take(item, numbers=numbers):
                error = item.error
                if error is None:
                    outcomes[numbers[item.index]] = bytes(item.data)
                elif not is_behind(error):
                    if on_error == "raise":
                        raise again(error)  # this frame has the item, which has its own
                    outcomes[numbers[item.index]] = error

            await self._road.read(requests, "return", take)
        return outcomes

    async def _cat_ranges(self, paths, starts, ends, max_gap=None, batch_size=None,
                          on_error="return", **kwargs):
        """The bytes of many slices, of one object or of many, in the order of `paths`. They are compared
        with no checksum.

        Arguments:
            paths: several; starts, ends: as many, or one for all; None = the object's ends.
            max_gap: None; what lies close together is read together as it is.
            on_error: "return" puts the error in the place of the bytes; "raise" raises the first.
        """
        if max_gap is not None:
            raise NotImplementedError("max_gap: ranges are not merged: leave it out")
        if is_text(paths):
            raise TypeError(f"paths: a list is needed, and not a {type(paths).__name__}")
        paths = list(paths)
        if on_error not in ("raise", "return"):
            raise ValueError(f'on_error: "raise" or "return" is needed, and not {on_error!r}')
        starts = one_each(starts, len(paths), "starts")
        ends = one_each(ends, len(paths), "ends")
        ranges = await self._ranges(paths, starts, ends, on_error)
        return await self._read_all(paths, ranges, on_error)

    async def _cat(self, path, recursive=False, on_error="raise", batch_size=None, **kwargs):
        """The bytes of an object; of several, of a folder with `recursive`, and of a pattern
        {path: bytes}.

        Arguments:
            on_error: "raise"; "return" puts the error in the place of the bytes; "omit" leaves the
                path out.
        """
        if on_error not in ("raise", "return", "omit"):
            raise ValueError(f'on_error: "raise", "return" or "omit" is needed, and not '
                             f"{on_error!r}")
        path = listed(path)
        found = await self._expanded(path, recursive)
        paths = [each for each, entry in found.items()
                 if entry is None or entry["type"] == "file"]
        if is_text(path) and paths == [self._strip_protocol(path)]:
            try:
                return await self._cat_file(paths[0], **kwargs)
            except (Error, OSError) as error:
                if on_error == "raise":
                    raise
                return error
        count = len(paths)
        ranges = await self._ranges(paths, [kwargs.get("start")] * count,
                                    [kwargs.get("end")] * count, on_error)
        outcomes = await self._read_all(paths, ranges, on_error)
        return {each: outcome for each, outcome in zip(paths, outcomes)
                if on_error != "omit" or not isinstance(outcome, Exception)}

    async def _head(self, path, size=1024):
        """The first bytes of an object."""
        return await self._cat_file(path, 0, size)

    async def _tail(self, path, size=1024):
        """The last bytes of an object."""
        return await self._cat_file(path, -size) if size else b""
