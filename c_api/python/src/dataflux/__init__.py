"""dataflux: reads from Google Cloud Storage and writes to it, for training jobs."""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._client import Client as Client, client as client
    from ._errors import *

# Where each name is: it is imported when it is first used, so that importing the package costs
# next to nothing.
_WHERE = {
    "Client": "_client", "client": "_client", "Object": "_object",
    "Bucket": "_buckets",
    **dict.fromkeys(("UploadedFile", "DownloadedFile", "CopiedFolder", "RemovedObjects", "Leftover",
                     "Leftovers"), "_reports"),
    **dict.fromkeys(("Error", "NotFoundError", "AlreadyExistsError", "PermissionDeniedError",
                     "DeadlineError", "InvalidArgumentError", "PreconditionError", "DataLossError",
                     "ResourceExhaustedError", "CancelledError"), "_errors"),
}
# Methods of the default client.
_VERBS = ("stat", "exists", "put", "delete", "copy", "move", "compose", "patch",
          "bucket", "buckets", "permissions", "upload", "download", "upload_folder",
          "download_folder", "remove_prefix", "find_leftovers", "remove_leftovers")


def __getattr__(name):
    if name in _WHERE:
        from importlib import import_module

        value = getattr(import_module("." + _WHERE[name], __name__), name)
        globals()[name] = value
        return value
    if name in _VERBS:
        from ._client import client

        return getattr(client(), name)
    raise AttributeError(f"module 'dataflux' has no attribute {name!r}")


def __dir__():
    return sorted([*_WHERE, *_VERBS, "__version__"])
