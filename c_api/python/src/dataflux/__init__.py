"""dataflux: reads from Google Cloud Storage and writes to it, for training jobs."""

from __future__ import annotations

__version__ = "0.1.0"

# Where each name is: it is imported when it is first used, so that importing the package costs
# next to nothing.
_WHERE = {
    "Client": "_client", "client": "_client",
    "AsyncClient": "_aio",
    "Object": "_object",
    "Emulator": "_emulator", "emulator": "_emulator",
    "FileReader": "_file", "FileWriter": "_file", "TextFileWriter": "_file",
    "Reader": "_reader",
    "Writer": "_writer",
    "Error": "_errors",
    "NotFoundError": "_errors",
    "AlreadyExistsError": "_errors",
    "PermissionDeniedError": "_errors",
    "DeadlineError": "_errors",
    "InvalidArgumentError": "_errors",
    "PreconditionError": "_errors",
    "DataLossError": "_errors",
    "ResourceExhaustedError": "_errors",
    "CancelledError": "_errors",
}
# Methods of the default client.
_VERBS = (
    "stat", "exists", "put", "delete", "copy", "move", "compose", "patch",
    "open", "reader", "writer",
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._aio import AsyncClient as AsyncClient
    from ._client import Client as Client, client as client
    from ._emulator import Emulator as Emulator, emulator as emulator
    from ._errors import (
        AlreadyExistsError as AlreadyExistsError,
        CancelledError as CancelledError,
        DataLossError as DataLossError,
        DeadlineError as DeadlineError,
        Error as Error,
        InvalidArgumentError as InvalidArgumentError,
        NotFoundError as NotFoundError,
        PermissionDeniedError as PermissionDeniedError,
        PreconditionError as PreconditionError,
        ResourceExhaustedError as ResourceExhaustedError,
    )
    from ._file import (
        FileReader as FileReader,
        FileWriter as FileWriter,
        TextFileWriter as TextFileWriter,
    )
    from ._object import Object as Object
    from ._reader import Reader as Reader
    from ._writer import Writer as Writer

    _default: Client
    stat = _default.stat
    exists = _default.exists
    put = _default.put
    delete = _default.delete
    copy = _default.copy
    move = _default.move
    compose = _default.compose
    patch = _default.patch
    open = _default.open
    reader = _default.reader
    writer = _default.writer


def __getattr__(name: str) -> object:
    if name in _WHERE:
        from importlib import import_module

        value = getattr(import_module("." + _WHERE[name], __name__), name)
        globals()[name] = value
        return value
    if name in _VERBS:
        from ._client import client

        return getattr(client(), name)
    raise AttributeError(f"module 'dataflux' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*_WHERE, *_VERBS, "__version__"])
