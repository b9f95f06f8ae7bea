"""Objects as pairs of a name and a size."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Sequence

from dataflux import Row

Found = tuple[str, int]


class Name(str):
    """The name of an object that was listed: a str that knows the generation, too.

    generation   of the object's content
    """

    __slots__ = ("generation",)

    generation: int

    def __new__(cls, text: str, generation: int) -> Name:
        made = super().__new__(cls, text)
        made.generation = generation
        return made

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]
        return str(self), self.generation


def pairs_of(rows: Iterable[Row]) -> list[Found]:
    """[(name, size)] of a listing."""
    return [(Name(row.name, row.generation), row.size) for row in rows]


def requests_of(bucket: str, objects: Sequence[Found], most: int) -> Iterator[Any]:
    """What get_many(compose=most > 0) is asked for, so that no composite has more than `most` bytes.

    What may be composed is a row with its generation. An object that would carry the bytes since the last
    one that was not past `most` is asked for by its name, and so is one whose generation is not known: the
    service composes runs of rows alone.
    """
    sum_of_run = 0
    for each in objects:
        name, size = each
        generation = getattr(name, "generation", 0)
        if generation and size and sum_of_run + size <= most:
            sum_of_run += size
            yield Row(bucket, name, size, generation, None)
        else:
            sum_of_run = 0
            yield bucket, str(name)
