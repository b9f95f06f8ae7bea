"""Files that are appended to. An object is written as a whole, so what is there is written again with
the new bytes behind it; where it is large, the service puts both together.

Nothing is lost where two do so at once: each commits only over the generation that it has seen.
"""

from __future__ import annotations

import logging
from urllib.parse import quote

from .._attributes import attributes
from .._errors import AlreadyExistsError, Error, NotFoundError, PreconditionError
from .._writer import AsyncWriter, Writer, abort_in_task, abort_quietly, opening
from ._attributes import attributes_of

REWRITTEN = 4 << 20  # bytes up to which an object is read and written again
_KEPT = ("content_type", "content_encoding", "content_disposition", "content_language",
         "cache_control", "storage_class", "custom_time", "metadata")
_log = logging.getLogger("dataflux")


def temporary_name(name):
    """As the library's uploads have it, so that what a killed process leaves is found as theirs is."""
    from os import urandom

    return f"dataflux-uploads/{urandom(8).hex()}-{quote(name, safe='')}"[:480]


def _key_of(there):
    """The key, which is what may be asked for, without its version."""
    name = there.kms_key_name
    return name and name.partition("/cryptoKeyVersions/")[0]


class _Appended:
    """What is appended to, as it was when the file was opened, and what it is to be.

    there   what stat() says; None = nothing is there
    joined  the new bytes are an object of their own until the end
    """

    def __init__(self, road, place, there, given, path):
        self.road, self.place, self.there = road, place, there
        self.joined = there is not None and there.size > REWRITTEN
        if there is None:
            self.how = attributes_of(given, path)
        else:
            known = {name: value for name in _KEPT if (value := getattr(there, name))}
            if key := _key_of(there):
                known["kms_key_name"] = key
            self.how = {**known, **attributes_of(given)}

    @property
    def size(self):
        return self.there.size if self.there is not None else 0

    @property
    def generation(self):
        return self.there.generation if self.there is not None else 0

    def target(self):
        """(place, attributes, if_generation_match) of what is uploaded."""
        if not self.joined:
            return self.place, attributes(**self.how), self.generation
        # Objects of one storage class alone can be put together.
        beside = {name: self.how[name] for name in ("storage_class", "kms_key_name")
                  if name in self.how}
        return (self.place[0], temporary_name(self.place[1])), attributes(**beside), 0

    async def before(self):
        """The bytes that are written again."""
        if self.joined or not self.size:
            return b""
        try:
            return await self.road.call("get", self.place, generation=self.generation)
        except NotFoundError as why:
            raise self.lost(why) from why

    async def join(self, part):
        """Puts the uploaded part behind what is there."""
        try:
            # The source has no generation of its own: the condition says which. Then a second attempt
            # whose first was carried out fails by the condition, and not for want of a source.
            made = await self.road.call("compose", [self.place, part], self.place,
                                        if_generation_match=self.generation, **self.how)
        finally:
            try:
                await self.road.call("delete", part, missing_ok=True)
            except Error as why:
                _log.warning("%s: what was appended to it stays as an object of its own, too, which "
                             "remove_leftovers() removes: %s", part.url, why)
        return made

    def lost(self, why):
        """The error for what somebody else has written meanwhile; else `why`."""
        if not isinstance(why, (PreconditionError, AlreadyExistsError, NotFoundError)) \
                or not why.http_status:
            return why
        bucket, name = self.place
        return PreconditionError(
            f"{bucket}/{name}: somebody has written or removed it since it was opened to append, "
            f"and what was appended here is not in it: open it and append again ({why})",
            bucket=bucket, object=name, http_status=why.http_status, attempts=why.attempts)


class AppendWriter(Writer):
    """A Writer whose bytes come behind what is there. tell() counts those, too."""

    def __init__(self, client, appended, size_hint=0, part_size=0):
        self._appended = appended
        place, beside, generation = appended.target()
        super().__init__(client, place, attributes=beside, if_generation_match=generation,
                         size_hint=size_hint, part_size=part_size)
        self._of = client._object_place(tuple(appended.place))[:2]
        if not appended.joined:
            try:
                self.write(client._run(appended.before()))
            except BaseException:
                abort_quietly(self)
                raise

    def tell(self):
        return self._position + (self._appended.size if self._appended.joined else 0)

    def commit(self):
        try:
            made = super().commit()
            if self._appended.joined:
                self._object, self._state = None, "aborted"
                made = self._client._run(self._appended.join(made))
                self._object, self._state = made, "committed"
            return made
        except Error as why:
            raise self._appended.lost(why)


class AsyncAppendWriter(AsyncWriter):
    """An AppendWriter for tasks."""

    async def _begin(self, appended):
        self._appended = appended
        (bucket, name), beside, generation = appended.target()
        of = self._of
        self._of = self._client._object_place((bucket, name))[:2]
        await self._client._run(self._opened(opening(*self._of, beside, generation, 0, 0, None)))
        self._of = of
        if not appended.joined:
            try:
                await self.write(await appended.before())
            except BaseException as why:
                await abort_in_task(self, why)
                raise
        return self

    def tell(self):
        return self._position + (self._appended.size if self._appended.joined else 0)

    async def commit(self):
        try:
            made = await super().commit()
            if self._appended.joined:
                self._object, self._state = None, "aborted"
                made = await self._appended.join(made)
                self._object, self._state = made, "committed"
            return made
        except Error as why:
            raise self._appended.lost(why)


async def appended_to(road, place, given, path):
    """What is there, of a path that is to be appended to."""
    try:
        there = await road.call("stat", place)
    except NotFoundError:
        there = None
    return _Appended(road, place, there, given, path)


async def async_writer(road, place, given, path):
    """An AsyncAppendWriter, open."""
    appended = await appended_to(road, place, given, path)
    return await AsyncAppendWriter(road.client, place)._begin(appended)
