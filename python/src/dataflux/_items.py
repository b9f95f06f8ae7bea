"""What one request of get_many() gives: the bytes of an object or of a range of one, or an error."""

from __future__ import annotations

from ._errors import again
from ._listing import Listing, Rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, Tuple, Union

    from ._errors import Error
    from ._object import Place

    # An object; or a range of one: the place, the offset, and the length or None for its end; or a member of an
    # archive: its URL and the member's name.
    Request = Union[Place, Tuple[Place, int, Union[int, None]]]


class Item:
    """The bytes of a request.

    index        which request it answers, from 0 in their order
    data         a memoryview of bytes. It keeps its memory as long as it is there, or a slice of it,
                 or an array on it. It may be written to: nobody else has this memory. Where the
                 request failed, asking for it raises the error
    generation   of the object
    crc32c       of the bytes, as they came
    verified     they are a whole object, and were compared with its checksum
    error        None; an Error where the request failed, with on_error="return"
    """

    __slots__ = ("index", "data", "generation", "crc32c", "verified", "_of", "__weakref__")

    error: Error | None = None

    def __init__(self, index: int, data: memoryview, generation: int, crc32c: int, verified: bool,
                 of: Listing | Rows | Request) -> None:
        self.index = index
        self.data = data
        self.generation = generation
        self.crc32c = crc32c
        self.verified = verified
        self._of = of

    @property
    def request(self) -> Request:
        """What was asked for: a Row, or what the iterable gave."""
        of = self._of
        return of[self.index] if isinstance(of, (Listing, Rows)) else of

    @property
    def row(self) -> int | None:
        """The number of its row in the whole listing; None where no listing was asked for."""
        of = self._of
        if isinstance(of, int):  # of a RowFeed
            return of
        return of._numbers()[self.index] if isinstance(of, (Listing, Rows)) else None

    def __repr__(self) -> str:
        return f"<dataflux.Item {self.index}, {len(self.data)} bytes>"


class FailedItem(Item):
    """An Item without bytes."""

    __slots__ = ("error",)

    def __init__(self, index: int, generation: int, of: Listing | Rows | Request, error: Error) -> None:
        self.index = index
        self.generation = generation
        self.crc32c = 0
        self.verified = False
        self._of = of
        self.error = error

    @property
    def data(self) -> NoReturn:
        raise again(self.error)

    def __repr__(self) -> str:
        return f"<dataflux.Item {self.index}, {self.error.status}>"
