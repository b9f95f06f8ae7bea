"""CheckpointIO: Lightning's checkpoints as objects of Google Cloud Storage."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping

from .._client import Client, client_for, given_client
from .._client import client as default_client
from .._errors import NotFoundError, again
from .._file import WRITE_OPTIONS
from ..torch import load, save
from ._bases import Base, Local
from ._origins import Origins
from ._paths import LAST_OBJECT, url_of

if TYPE_CHECKING:
    from typing import Union

    Path = Union[str, "os.PathLike[str]"]

_OPTIONS = (*WRITE_OPTIONS, "crc32")


class CheckpointIO(Base):  # type: ignore[misc]
    """Saves and loads Lightning's checkpoints on Google Cloud Storage by dataflux.torch.save() and
    load(): each appears whole or not at all, is sent while it is pickled, and read ahead of torch.

        Trainer(plugins=[CheckpointIO()], callbacks=[ModelCheckpoint(dirpath="gs://bucket/run")])

    Paths: "gs://bucket/name" and "gcs://bucket/name", as a str or as a pathlib.Path, whose lost slash
    is given back. All others are of this machine, and go to Lightning's own TorchCheckpointIO.

    Arguments:
        client: None = that of dataflux's functions.

    Threads: any. Processes: it pickles as its client's options.
    """

    def __init__(self, client: Client | None = None) -> None:
        super().__init__()
        self._given = given_client(client)
        self._local = Local()
        self._origins = Origins()

    @property
    def client(self) -> Client:
        """By which it saves and loads what is on Google Cloud Storage."""
        return self._given or default_client()

    def _client_of(self, url: str) -> Client:
        return self._given or client_for(url)

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Path,
                        storage_options: Mapping[str, Any] | None = None) -> None:
        """Saves a checkpoint.

        Arguments:
            checkpoint: what Lightning has collected.
            path: of the object.
            storage_options: options of dataflux.torch.save(), such as {"storage_class": "NEARLINE"}.

        Raises: what save() does. TypeError and ValueError for a bad argument before any request.
        """
        url = url_of(path)
        if url is None:
            self._local.save_checkpoint(checkpoint, path, storage_options=storage_options)
            return
        save(checkpoint, url, client=self._client_of(url), **checked_options(storage_options))
        self._origins.saved(url)

    def load_checkpoint(self, path: Path, map_location: Any = "cpu",
                        weights_only: bool | None = None) -> dict[str, Any]:
        """Loads a checkpoint.

        Arguments:
            path: of the object.
            map_location: as of torch.load.
            weights_only: as of torch.load; None = its default.

        Raises: what load() does; FileNotFoundError is its NotFoundError.
        """
        url = url_of(path)
        if url is None:
            how = {} if weights_only is None else {"weights_only": weights_only}
            found: dict[str, Any] = self._local.load_checkpoint(path, map_location=map_location, **how)
            return found
        if url.endswith(LAST_OBJECT):  # as resumable() names it
            raise ValueError(f"{url.removesuffix(LAST_OBJECT)}: a sharded checkpoint, and this Trainer loads "
                             "files: dataflux.lightning's FSDPStrategy and ModelParallelStrategy load it, and "
                             "dataflux.lightning.consolidated() makes one state of it")
        found = load(url, map_location=map_location, weights_only=weights_only, client=self._client_of(url))
        self._origins.loaded(url)
        return found

    def remove_checkpoint(self, path: Path) -> None:
        """Removes a checkpoint: an object, or all objects of one that is sharded, the last object
        first, so that no moment shows half of it as a whole. One that is not there is none to remove. One
        that was loaded, and not saved, by this object stays, with a warning: a run does not take away
        what it has come from.

        Raises: Error with the first of what could not be removed.
        """
        if not self._origins.keeps(path):
            self._remove_now(path)

    def _remove_now(self, path: Path) -> None:
        url = url_of(path)
        if url is None:
            self._local.remove_checkpoint(path)
            return
        if not removed(self._client_of(url), url):  # what is below is only looked for where there is no file
            remove_folder(self._client_of(url), url)


def checked_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Lightning's storage_options."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError("storage_options: a dict of save()'s options is needed, and not a "
                        f"{type(options).__name__}")
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"storage_options: {name!r} is none of {', '.join(_OPTIONS)}")
    return dict(options)


def removed(client: Client, url: str) -> bool:
    """Removes an object. False where there is none."""
    try:
        client.delete(url)
    except NotFoundError:
        return False
    return True


def remove_folder(client: Client, url: str) -> None:
    """Removes a sharded checkpoint of DCP's, whoever wrote it, if there is one."""
    removed(client, url + LAST_OBJECT)
    report = client.remove_sets(url + "/")
    for failure in report.failures:
        raise again(failure)
