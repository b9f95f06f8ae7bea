"""load(): torch.load of an object, which is read ahead of it."""

from __future__ import annotations

import os
import pickle
import tempfile
from typing import TYPE_CHECKING, Any

import torch

from .._client import Client, client_for, given_client
from .._errors import DataLossError, Error
from .._file_reader import FileReader
from .._place import count_of, flag_of, url_of
from ._save import named_object
from ._served import Served
from ._shards import telling_of_shards
from ._storages import torch_load

if TYPE_CHECKING:
    from .._object import Place

READ_AHEAD = 64 << 20
_TIMES = 10  # an object that is replaced while it is loaded is loaded anew


def load(url: Place, *, map_location: Any = None, weights_only: bool | None = True,
         mmap: bool = False, pickle_module: Any = None, client: Client | None = None,
         generation: int = 0, read_ahead: int | None = None, timeout: float | None = None,
         **pickle_load_args: Any) -> Any:
    """Loads what save() or torch.save has written, whatever brought it to Google Cloud Storage; files
    of before torch 1.6, too.

    Tensors are read straight into their memory, by as many requests at a time as the link rewards.
    Memory beside the state: some MiB; 200 bytes a tensor. Where tensors go on to a device, `read_ahead`
    beside the longest of them.

    When all of the object was read it is compared with its checksum; not where torch wants a part
    only, as with map_location="meta". What is read twice is compared with what came first.

    An object that is replaced meanwhile is loaded anew, up to ten times: functions for map_location
    and pickle_module are called again then. Not where a generation was asked for.

    Arguments:
        url: "gs://bucket/name", (bucket, name), or a listing's row.
        map_location, weights_only, pickle_module, pickle_load_args: as of torch.load.
        mmap: the tensors are a file of this machine that is mapped, so that only what is used takes
            memory. The object is downloaded by ranges in parallel into the folder for temporary files
            (TMPDIR), compared with its checksum, and has no name there any more on return: it goes
            with the last tensor.
        client: None = that of the module's functions.
        generation: of the object; 0 = that of the row, or the live one.
        read_ahead: most bytes that are read before torch asks for them. None = all that stay in this
            machine's memory, else 64 MiB: all that were on the CPU when they were saved, or with
            map_location="cpu". With a function or a dict for map_location it is 64 MiB.
        timeout: seconds for the opening, with mmap for the download; None = no limit.

    Raises: NotFoundError; DataLossError where bytes are not those that were written; Error with status
        "aborted", retryable, for an object that is replaced again and again; what torch.load raises,
        such as pickle.UnpicklingError, or RuntimeError for a file that is cut, with the object's name
        in its text. Before the file is blamed it is read to its end, unless the zip file's own checksum
        shows that its pickle is what was written. TypeError and ValueError for a bad argument before
        any request.
    Threads: any.
    """
    named_object(url)
    client = given_client(client) or client_for(url)
    how = dict(pickle_load_args, map_location=map_location, weights_only=weights_only,
               pickle_module=pickle_module)
    bucket, name, of_place = client._object_place(url)
    told = url_of(bucket.decode(), name.decode())
    generation = count_of(generation, "generation") or of_place
    if flag_of(mmap, "mmap"):
        def once():
            with telling_of_shards(client, bucket.decode(), name.decode()):
                return _mapped(client, url, told, generation, timeout, how)
    else:
        stays = _stays(map_location) if read_ahead is None else False
        most = READ_AHEAD if read_ahead is None else count_of(read_ahead, "read_ahead")

        def once():
            with telling_of_shards(client, bucket.decode(), name.decode()):
                reader = client.reader(url, generation=generation, timeout=timeout)
            return _read(reader, told, stays, most, map_location, how)
    for left in reversed(range(1 if generation else _TIMES)):
        try:
            return once()
        except Error as why:
            if why.status != "aborted" or not left:
                raise


def _read(reader, told, stays, most, map_location, how):
    with FileReader(reader, 0) as file:
        served = Served(file, reader, most)
        file.raw.ahead = served
        try:
            served.plan(stays, str(map_location) != "meta")  # that asks for no tensor
            value = torch_load(served.take)(file, mmap=False, **how)
            served.finish()
            return value
        except Exception as why:
            failure = served.failure or _loss(served, why)
            if failure is not None:
                raise failure from (None if failure is why else why)
            raise _named(why, told) from why.__cause__


def _stays(map_location):
    """Whether every storage stays in the memory of this machine that it is read into; None = where it
    was when it was saved."""
    if map_location is None:
        return None
    return isinstance(map_location, (str, torch.device)) and str(map_location) == "cpu"


def _mapped(client, url, told, generation, timeout, how):
    with tempfile.TemporaryDirectory(prefix="dataflux-load-") as folder:
        path = os.path.join(folder, "checkpoint")
        client.download(url, path, generation=generation, flush=False, timeout=timeout)
        try:
            return torch.load(path, mmap=True, **how)
        except Exception as why:
            raise _named(why, told, path) from why.__cause__


def _loss(served, why):
    """Why torch could not read it, where what has come is not what was written."""
    try:
        # What the pickle says is what the file says. Of all else torch's reader of zip files complains.
        served.finish("PytorchStreamReader" in str(why) or not served.is_as_written())
    except DataLossError as loss:
        return loss
    except Exception:
        pass
    return None


# Their text is all that they have.
_PLAIN = (RuntimeError, ValueError, TypeError, EOFError, KeyError, IndexError, OverflowError,
          AssertionError, pickle.UnpicklingError)


def _named(why: Exception, url: str, path: str = "") -> Exception:
    """The same exception, whose text names the object. `path`: of a file that stood for it."""
    if type(why) in _PLAIN:
        kind: Any = type(why)
        text = str(why) or "there is less of it than torch.load needs"
        text = text.replace(path, "the file") if path else text
        return kind(f"{url}: {text}").with_traceback(why.__traceback__)  # type: ignore[no-any-return]
    if hasattr(why, "add_note"):
        why.add_note(f"while {url} was loaded")
    return why
