"""save(): torch.save into an object, sent while it is made."""

from __future__ import annotations

import io
import pickle
import types
from typing import TYPE_CHECKING, Any, Callable

import torch
from torch import serialization

from .._client import Client, client_for, given_client
from .._file import WRITE_OPTIONS
from .._lending import Lending
from .._lent import Lent
from .._place import count_of, flag_of, object_place
from .._writer import abort_quietly

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

    from .._file import HowToWrite
    from .._object import Object, Place
    from .._writer import Writer

_LEND = 4 << 20     # what is shorter is copied by the library all the same
_GATHER = 128 << 10  # shorter writes go to the library together


def named_object(url: Place) -> Place:
    """The place of an object that is to be a file, checked."""
    name = object_place(url)[1]
    if name.endswith(b"/"):
        raise ValueError(f"url: {url!r} names a folder, and a checkpoint is one object: leave out the "
                         "slash at its end")
    return url


class Sink:
    """What torch.save writes to: a Writer. Storages of `storages`, by address, are lent to it: they stay
    as they are until lending.settle(), which comes behind the writer's end.

    Around torch.save it is a context: what a write has raised comes out, and not torch's own error
    about it, which says less.
    """

    def __init__(self, writer: Writer, storages: dict[int, Any]) -> None:
        self._writer = writer
        self._storages = storages
        self._gathered = bytearray()
        self.lending = Lending(writer)
        self._failure: BaseException | None = None

    def write(self, data: Buffer) -> int:
        try:
            view = memoryview(data)
            if view.nbytes < _GATHER:
                self._gathered += view
                if len(self._gathered) >= _GATHER:
                    self.finish()
            else:
                self.finish()
                self._write_long(view)
            return view.nbytes
        except BaseException as why:
            self._failure = self._failure or why
            raise

    def position(self) -> int:
        """Bytes that were written, with those that were gathered."""
        return self._writer.tell() + len(self._gathered)

    def _write_long(self, view):
        if view.nbytes >= _LEND:
            owner = self._storages.get(_address(view))
            if owner is not None and owner.nbytes() >= view.nbytes:
                self.lending.write(view, owner)
                return
        self._writer.write(view)

    def finish(self) -> None:
        """Hands over what was gathered."""
        gathered, self._gathered = self._gathered, bytearray()
        if gathered:
            self._writer.write(gathered)

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, kind: object, why: BaseException | None, traceback: object) -> None:
        cause = why if why is None else self._cause(why)
        try:
            if cause is not why:
                raise cause from None
        finally:
            del cause, why, traceback  # they have this frame, by their tracebacks

    def _cause(self, why: BaseException) -> BaseException:
        """What has gone wrong, where torch, which ends its file all the same, says that its position
        is not the expected one."""
        if self._failure is not None:
            return self._failure
        if isinstance(why, RuntimeError) and "unexpected pos" in str(why):
            return why.__context__ or why  # an interrupt that came before the first line of write()
        return why

    def flush(self) -> None:
        pass

    def seek(self, *_: int) -> int:
        # torch.serialization.skip_data() leaves room for data in a file that is there already.
        raise io.UnsupportedOperation("an object has no holes: torch.serialization.skip_data() "
                                      "cannot be used with dataflux.torch.save()")


def _address(view):
    with Lent(view) as lent:
        return lent.address


def noting(storages: dict[int, Any]) -> types.ModuleType:
    """The module pickle, whose pickler notes the long storages of this machine's memory that it comes
    by: their memory may be lent, since it stays as it is until save() returns."""

    class Pickler(pickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, torch.Tensor):
                try:
                    storage = obj.untyped_storage()
                    if storage.device.type == "cpu" and storage.nbytes() >= _LEND:
                        storages[storage.data_ptr()] = storage
                except (RuntimeError, NotImplementedError):
                    pass  # it has none, as sparse ones and some wrappers
            return NotImplemented

    module = types.ModuleType("pickle")
    module.__dict__.update({**pickle.__dict__, "Pickler": Pickler})
    return module


class _ZipChecksums:
    """Whether torch computes the CRC-32 of each record, for this thread."""

    def __init__(self, wanted):
        self._wanted = wanted

    def __enter__(self):
        if self._wanted is not None:
            self._before = serialization.get_crc32_options()
            serialization.set_crc32_options(self._wanted)

    def __exit__(self, *_):
        if self._wanted is not None:
            serialization.set_crc32_options(self._before)


def serialize(obj: object, file: Any, pickle_module: Any, pickle_protocol: int, crc32: bool) -> None:
    """torch.save into a file object."""
    # Versions of torch that have no such option compute it always.
    known = hasattr(serialization, "set_crc32_options")
    with _ZipChecksums(crc32 if known else None):
        torch.save(obj, file, pickle_module=pickle_module, pickle_protocol=pickle_protocol)


def send(writer: Writer, produce: Callable[[Writer, Callable[[Lending], None]], None]) -> Object:
    """Lets `produce(writer, lends)` fill a writer, and commits; what it raises aborts. It calls
    lends(lending) with what it lends memory by: that is settled at the end."""
    lending: list[Lending] = []
    try:
        produce(writer, lending.append)
        return writer.commit()
    except BaseException:
        abort_quietly(writer)
        raise
    finally:
        for each in lending:
            each.settle()


def save(obj: object, url: Place, *, client: Client | None = None, pickle_module: Any = pickle,
         pickle_protocol: int = serialization.DEFAULT_PROTOCOL, crc32: bool = False,
         **how: Unpack[HowToWrite]) -> Object:
    """Saves an object to Google Cloud Storage as torch.save does to a file, while it is pickled.
    torch.load reads it, and so does load().

    Nothing appears, and what was there stays, unless all of it has been sent and compared: an
    exception, a KeyboardInterrupt or a kill leaves no half of it.

    Long tensors in this machine's memory are sent from where they are, without a copy: they must
    stay as they are until the call returns, in other threads, too. Those of a device come one by one.
    Memory beside: the client's upload_memory.

    Arguments:
        obj: whatever torch.save takes.
        url: "gs://bucket/name" or (bucket, name).
        client: None = that of the module's functions.
        pickle_module, pickle_protocol: as of torch.save. With another module tensors are copied.
        crc32: True = the CRC-32 that a zip file has for each record is computed, too, for programs
            that read the object as a zip file and check it. torch.load checks none, it takes longer
            than all else that a save computes, and the object as a whole is compared by its CRC32C.
            Without it `unzip -t` and Python's zipfile call the records bad.
        how: those of Client.writer(): metadata, storage_class, if_generation_match, timeout, ...

    Returns: what stat() gives of the object, its generation for one.
    Raises: what pickling raises; PreconditionError where somebody else has written the object since
        the call began; AlreadyExistsError where if_generation_match is 0, and something is there; what
        the service says. TypeError and ValueError for a bad argument before any
        request.
    Threads: any, each its own object.
    """
    url = named_object(url)
    pickle_protocol = count_of(pickle_protocol, "pickle_protocol")
    if not hasattr(pickle_module, "Pickler"):
        raise TypeError("pickle_module: a module with a Pickler is needed, and not a "
                        f"{type(pickle_module).__name__}")
    crc32 = flag_of(crc32, "crc32")
    given_client(client)
    for name in how:
        if name not in WRITE_OPTIONS:
            raise TypeError(f"save() got an unexpected keyword argument {name!r}: beside its own it takes "
                            f"{', '.join(WRITE_OPTIONS)}")
    storages: dict[int, Any] = {}
    module = noting(storages) if pickle_module is pickle else pickle_module

    def produce(writer: Writer, lends: Callable[[Lending], None]) -> None:
        sink = Sink(writer, storages)
        lends(sink.lending)
        with sink:
            serialize(obj, sink, module, pickle_protocol, crc32)
            sink.finish()

    return send((client or client_for(url)).writer(url, **how), produce)
