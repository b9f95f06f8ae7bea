"""Objects that are empty, or too large, for a job."""

from __future__ import annotations

from typing import Any

from .._errors import Error
from .._place import count_of, one_of, url_of


class SizeError(Error):
    """An object is smaller than min_size or larger than max_size, with wrong_size="error".

    bucket, object   which one
    """


def size_error(row: Any, told: str) -> SizeError:
    """That of a row's object."""
    return SizeError(f"{row.url}: {told}", bucket=row.bucket, object=row.name)


class Sizes:
    """Which sizes objects may have. It is false where they may have any.

    Arguments:
        least, most: bytes, both within; None = no bound.
    """

    def __init__(self, least: int, most: int | None) -> None:
        self._least = least
        self._most = most

    def __bool__(self) -> bool:
        return bool(self._least) or self._most is not None

    def wrong(self, size: int) -> bool:
        """An object of so many bytes is not wanted."""
        return size < self._least or (self._most is not None and size > self._most)

    def error(self, bucket: str, name: str, size: int) -> SizeError | None:
        """What is wrong with an object of so many bytes."""
        if size < self._least:
            told = f"min_size is {self._least}"
        elif self._most is not None and size > self._most:
            told = f"max_size is {self._most}"
        else:
            return None
        return SizeError(f"{url_of(bucket, name)}: it has {size} bytes, and {told}", bucket=bucket,
                         object=name)


def sizes_of(min_size: int, max_size: int | None, wrong_size: str,
             suffix: str | None) -> tuple[Sizes, dict[str, object]]:
    """What is looked at object by object, and what narrows the listing."""
    least = count_of(min_size, "min_size")
    most = None if max_size is None else count_of(max_size, "max_size", least)
    if one_of(wrong_size, "wrong_size", ("omit", "error")) == "error":
        return Sizes(least, most), {"suffix": suffix} if suffix else {}
    filters = {"min_size": least, "max_size": most, "suffix": suffix}
    return Sizes(0, None), {name: value for name, value in filters.items() if value}
