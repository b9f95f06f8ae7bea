"""Single objects: their metadata, their bytes, and changes of them within the service."""

from __future__ import annotations

from . import _abi
from ._calls import CRC32C, FLAGS, GENERATION, SIZE, Call, json_of
from ._errors import NotFoundError
from ._library import byref, kind_of, library
from ._place import nanoseconds, object_place, url_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Tuple, Union

    from ._listing import Row

    Place = Union[str, Tuple[str, str], "Row", "Object"]


class Object:
    """What is known of an object. What was not asked for is None. Immutable."""

    __slots__ = ("_known",)

    def __init__(self, known: dict[str, Any]) -> None:
        self._known = known

    @property
    def bucket(self) -> str:
        return self._known["bucket"]

    @property
    def name(self) -> str:
        return self._known["name"]

    @property
    def url(self) -> str:
        """gs://bucket/name"""
        return url_of(self.bucket, self.name)

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self._known["size"])

    @property
    def generation(self) -> int:
        """Of its content: what is written anew has another one."""
        return int(self._known["generation"])

    def _place(self):
        return self.bucket.encode(), self.name.encode(), self.generation

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and self._known == other._known

    def __hash__(self) -> int:
        return hash((self.bucket, self.name, self.generation))

    def __repr__(self) -> str:
        return f"<dataflux.Object {self.url}, {self.size} bytes, generation {self.generation}>"

    def __reduce__(self):
        return Object, (self._known,)


def object_options(place, generation=0, timeout=None, conditions=None, fields=0):
    """dataflux_object_options; `conditions` is a struct or None, and kept by what is made."""
    kind = kind_of("object_options")
    bucket, name, of_place = place
    made = kind(_OPTIONS_SIZE, bucket, name, generation or of_place, nanoseconds(timeout))
    if conditions is not None:
        import ctypes

        made.conditions = ctypes.addressof(conditions)
        made.kept = conditions
    if fields:
        made.fields = fields
    return made


_OPTIONS_SIZE = 56


def _object(operation, record):
    return Object(json_of(operation))


class ObjectVerbs:
    """What a client does with single objects."""

    def stat(self, url: Place, *, generation: int = 0, timeout: float | None = None) -> Object:
        """Asks what is known of an object.

        Arguments:
            url: "gs://bucket/name", (bucket, name), or a listing's row.
            generation: of the object; 0 = that of the row, or the live one.
            timeout: seconds for the whole call, with all its retries; None = no limit.

        Raises: NotFoundError; TypeError and ValueError for a bad argument before any request.
        """
        options = object_options(object_place(url), generation, timeout)
        return self._run(Call(
            lambda client, queue, tag, out, err:
                library.stat(client, byref(options), queue, tag, out, err), _object))
