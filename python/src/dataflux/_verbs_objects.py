"""Single objects: their metadata, and changes of them within the service. Their bytes: _verbs_reads.py."""

from __future__ import annotations

from ._attributes import ATTRIBUTES, CONDITIONS, SOURCE_CONDITIONS, attributes, encryption_key, taken
from ._calls import Call, calling, json_of
from ._errors import NotFoundError
from ._lent import Lent
from ._library import addressof, byref, key_bytes, library
from ._object import Object, conditions, fields_of, known_of, object_options
from ._place import Places, flag_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable

    from typing_extensions import Unpack

    from ._attributes import Conditions, HowToCompose, HowToCopy, HowToMove, HowToPatch, HowToPut
    from ._lent import Bytes
    from ._object import Place


def object_of(scheme):
    """For `finish`: the Object."""
    def finish(operation, record):
        known = known_of(json_of(operation), scheme)
        known.setdefault("metadata", {})
        return Object(known)

    return finish


def _asked(bits, scheme):
    """For `finish`: an object of which those fields were asked for."""
    return object_of(scheme) if bits == 0 or bits & _METADATA else lambda operation, record: Object(
        known_of(json_of(operation), scheme))


_METADATA = fields_of(["metadata"]) & ~fields_of([])


def _target(client, url, timeout, when, argument="target"):
    """Options for what a call makes: it has a generation of its own."""
    bucket, name, _ = client._object_place(url, argument)
    return object_options((bucket, name, 0), 0, timeout, when)


async def _unless_missing(call, value):
    """What a call gives, and that value where there is no such object."""
    try:
        return await call
    except NotFoundError:
        return value


async def _put(options, data, beside, finish):
    with Lent(data, "data") as lent:
        lent.call = Call(calling("put", byref(options), lent.address, lent.size, beside), finish, lent)
        return await lent.call


# Of copy(): that of the target, and of the source.
KEYS = ("encryption_key", "source_encryption_key")


def _set_key(options, key, argument):
    if key is None:
        return
    held = encryption_key(key, argument, may_be_none=True)
    if held:
        options.kept_key = made = key_bytes(held)
        options.encryption_key = addressof(made)
    else:
        options.no_encryption_key = 1


# Of ATTRIBUTES what patch() changes.
_CHANGED = tuple(name for name in ATTRIBUTES if name not in ("storage_class", "kms_key_name"))


class ObjectVerbs(Places):
    """What a client does with single objects.

    Places are "gs://bucket/name" or "s3://bucket/name", (bucket, name), a listing's row or an Object. Rows and Objects
    name a generation, too, which is the one that is meant; what a call makes gets a new one.

    Conditions hold when the call is carried out, or nothing is changed and PreconditionError says
    so:
        if_generation_match: the live generation is this one; 0 = there is no object, and
            AlreadyExistsError where there is one.
        if_generation_not_match: it is another one.
        if_metageneration_match: its metageneration is this one.
        if_metageneration_not_match: it is another one.

    Attributes stand beside the bytes: content_type, content_encoding, content_disposition,
    content_language, cache_control, storage_class, kms_key_name, custom_time, metadata; see put().

    Of a change without a condition the last writer wins. After a refusal (408, 5xx) it is sent
    again. When its reply is lost, the object is looked at: what this call has made or removed is
    success; what is older than the call is replaced; what is newer is another writer's and stays,
    and the call ends in an Error whose status is "aborted" (a deletion ends well). Where nothing
    tells, and with a condition that does not make a change safe to repeat, the failure is raised,
    and its outcome_unknown is true.

    timeout: seconds for the whole call, with all its retries; None = no limit. DeadlineError.

    All verbs raise TypeError and ValueError, which name the argument, before any request.
    """

    def stat(self, url: Place, *, fields: Iterable[str] | None = None, generation: int = 0,
             timeout: float | None = None, **how: Unpack[Conditions]) -> Object:
        """Asks what is known of an object.

        Arguments:
            url: "gs://bucket/name", (bucket, name), a listing's row or an Object.
            fields: names of Object's properties; the others are not asked for and are None. None =
                all; [] = size, generation and crc32c, which come always.
            generation: of the object; 0 = that of the row, or the live one.
            if_...: see ObjectVerbs. timeout: seconds.

        Raises: NotFoundError; PreconditionError.
        """
        taken(how, "stat", CONDITIONS)
        bits = fields_of(fields)
        when = conditions(how)
        options = object_options(self._object_place(url), generation, timeout, when, bits)
        return self._run(Call(calling("stat", byref(options)), _asked(bits, self._scheme)))

    def exists(self, url: Place, *, generation: int = 0, timeout: float | None = None) -> bool:
        """Whether there is such an object: one request. False where there is no such bucket, too.

        Arguments: as of stat().

        Raises: PermissionDeniedError and others, which do not say whether there is one.
        """
        options = object_options(self._object_place(url), generation, timeout, None, fields_of([]))
        there = Call(calling("stat", byref(options)), lambda operation, record: True)
        return self._run(_unless_missing(there, False))

    def put(self, url: Place, data: Bytes, *, timeout: float | None = None,
            **how: Unpack[HowToPut]) -> Object:
        """Writes an object by one request. It appears whole and compared by its checksum.

        Arguments:
            url: of the object; one that is there is replaced.
            data: bytes, or any buffer in one piece, which is read in place, without a copy. It must
                not be changed until the call has ended. A str is none: encode() it.
            content_type: such as "image/png"; None = application/octet-stream.
            content_encoding: of the bytes as they are, such as "gzip".
            content_disposition, content_language, cache_control: as of HTTP.
            storage_class, kms_key_name: None = the bucket's.
            custom_time: a datetime with a time zone, or seconds since 1970.
            metadata: a dict of str to str.
            if_...: see ObjectVerbs. timeout: seconds.

        Returns: what is known of the new object.
        Raises: NotFoundError where there is no such bucket; AlreadyExistsError; PreconditionError.
        """
        taken(how, "put", ATTRIBUTES, CONDITIONS)
        when = conditions(how)
        options = _target(self, url, timeout, when, "url")
        beside = attributes(**how)
        return self._run(_put(options, data, beside and byref(beside), object_of(self._scheme)))

    def delete(self, url: Place, *, missing_ok: bool = False, generation: int = 0,
               timeout: float | None = None, **how: Unpack[Conditions]) -> None:
        """Removes an object.

        Arguments:
            url: of the object. A row or an Object removes that generation.
            missing_ok: no NotFoundError where there is none.
            generation: which; 0 = that of the row, or the live one. In a bucket with versioning a
                removal without a generation keeps the object as a noncurrent version.
            if_...: see ObjectVerbs. timeout: seconds.

        Raises: NotFoundError; PreconditionError.
        """
        taken(how, "delete", CONDITIONS)
        none_is_fine = flag_of(missing_ok, "missing_ok")
        when = conditions(how)
        options = object_options(self._object_place(url), generation, timeout, when)
        call = Call(calling("remove", byref(options)))
        return self._run(_unless_missing(call, None) if none_is_fine else call)

    def copy(self, source: Place, target: Place, *, generation: int = 0,
             timeout: float | None = None, **how: Unpack[HowToCopy]) -> Object:
        """Copies an object within the service, however large: to another name, bucket, storage class
        or key.

        Arguments:
            source: the object; a row or an Object copies that generation.
            target: what it is to be.
            generation: of the source; 0 = that of the row, or the live one.
            content_type, ..., metadata: as of put(). With none of them the copy has the source's;
                with any it has exactly those. kms_key_name alone does not count.
            encryption_key, source_encryption_key: of the copy and of the source, where it is not the
                client's: 32 bytes or their Base64, and b"" for none.
            if_...: of the target; source_if_...: of the source; see ObjectVerbs.
            timeout: seconds.

        Returns: what is known of the copy.
        Raises: NotFoundError; AlreadyExistsError; PreconditionError.
        """
        taken(how, "copy", ATTRIBUTES, CONDITIONS, SOURCE_CONDITIONS, KEYS)
        of_source = conditions(how, before="source_if_")
        when = conditions(how)
        beside = attributes(**how)
        given = object_options(self._object_place(source, "source"), generation, None, of_source)
        options = _target(self, target, timeout, when)
        for side, name in zip((options, given), KEYS):
            _set_key(side, how.get(name), name)
        return self._run(Call(calling("copy", byref(given), byref(options),
                                      beside and byref(beside)), object_of(self._scheme)))

    def move(self, source: Place, target: Place, *, timeout: float | None = None,
             **how: Unpack[HowToMove]) -> Object:
        """Renames the live object within its bucket, in one step.

        Where the reply is lost, the move is known by this: the source is gone, and what has the new
        name is not older than the call. The service's clock tells seconds. So a move passes for done
        if its request is lost, another removes the source meanwhile, and another has written the new
        name less than a second before the call. What this client has made or looked at under the new
        name is never taken for the moved object.

        Arguments:
            source: the object. A row or an Object stands for source_if_generation_match, too: if
                that generation is no longer live, nothing is moved.
            target: its new name, in the same bucket.
            if_...: of the target; source_if_...: of the source; see ObjectVerbs.
            timeout: seconds.

        Returns: what is known of the object under its new name.
        Raises: NotFoundError; AlreadyExistsError; PreconditionError.
        """
        taken(how, "move", CONDITIONS, SOURCE_CONDITIONS)
        bucket, name, generation = self._object_place(source, "source")
        if generation and how.get("source_if_generation_match") is None:
            how["source_if_generation_match"] = generation
        of_source = conditions(how, before="source_if_")
        when = conditions(how)
        given = object_options((bucket, name, 0), 0, None, of_source)
        options = _target(self, target, timeout, when)
        if options.bucket != bucket:
            raise ValueError("target: a move stays in its bucket: copy(), then delete() the source")
        return self._run(Call(calling("move", byref(given), byref(options)), object_of(self._scheme)))

    def compose(self, sources: Iterable[Place], target: Place, *, timeout: float | None = None,
                **how: Unpack[HowToCompose]) -> Object:
        """Puts objects together into one, in their order, within the service. They stay.

        Arguments:
            sources: 1 to 32 places in the target's bucket; of a row or an Object that generation.
            target: what they are to be; it may be one of them.
            content_type, ..., metadata: as of put().
            if_generation_match, if_metageneration_match: of the target; see ObjectVerbs. The service
                knows no others here.
            timeout: seconds.

        Returns: what is known of the new object, which has no md5_hash.
        Raises: NotFoundError; AlreadyExistsError; PreconditionError.
        """
        taken(how, "compose", ATTRIBUTES, CONDITIONS[::2])
        when = conditions(how)
        options = _target(self, target, timeout, when)
        beside = attributes(**how)
        names, generations = _parts_of(self, sources, options.bucket)
        return self._run(Call(calling("compose", byref(options), byref(names), byref(generations),
                                      len(names), beside and byref(beside)), object_of(self._scheme)))

    def patch(self, url: Place, *, generation: int = 0, timeout: float | None = None,
              **how: Unpack[HowToPatch]) -> Object:
        """Changes what stands beside an object's bytes. Its generation stays, its metageneration does
        not. storage_class and kms_key_name are changed by copy().

        Arguments:
            url: of the object; a row or an Object changes that generation.
            content_type, ..., cache_control: None leaves it as it is, "" removes it.
            custom_time: as of put(); None leaves it as it is. Once set it cannot be removed, and the
                service lets it be moved forward only.
            metadata: names that are not in it stay, and one whose value is None is removed.
            generation: which; 0 = that of the row, or the live one.
            if_...: see ObjectVerbs; if_metageneration_match makes it safe to repeat.
            timeout: seconds.

        Returns: what is known of the object now.
        Raises: ValueError where nothing is to be changed; NotFoundError; PreconditionError.
        """
        taken(how, "patch", _CHANGED, CONDITIONS)
        when = conditions(how)
        options = object_options(self._object_place(url), generation, timeout, when)
        changes = attributes(**{**how, "metadata": how.get("metadata") or None},
                             removable=True)
        if changes is None:
            raise ValueError("patch() changes nothing: name what is to be changed, such as metadata")
        return self._run(Call(calling("patch", byref(options), byref(changes)), object_of(self._scheme)))


def _parts_of(client, sources, bucket):
    """Names and generations of what is to be put together, as arrays of C."""
    import ctypes

    try:
        places = None if isinstance(sources, (str, bytes)) else list(sources)
    except TypeError:
        places = None
    if places is None:
        raise TypeError(f"sources: places in a list are needed, and not a {type(sources).__name__}")
    if not 1 <= len(places) <= 32:
        raise ValueError(f"sources: 1 to 32 objects can be put together at once, not {len(places)}")
    parts = [client._object_place(place, f"sources[{i}]") for i, place in enumerate(places)]
    for i, (of, _, _) in enumerate(parts):
        if of != bucket:
            raise ValueError(f"sources[{i}]: it is in the bucket {of.decode()!r}, and the target is "
                             f"in {bucket.decode()!r}: copy() it there first")
    return ((ctypes.c_char_p * len(parts))(*(name for _, name, _ in parts)),
            (ctypes.c_int64 * len(parts))(*(generation for _, _, generation in parts)))
