"""PyTorch on dataflux: datasets that a DataLoader reads from Google Cloud Storage, and checkpoints.
Importing this imports torch; nothing else of dataflux does but what says so."""

from ._iterable import IterableDataset
from ._load import load
from ._map import MapDataset
from ._mix import MapMix, Mix
from ._pipes import list_files, load_files
from ._samples import DecodeError, as_bytes, tensor
from ._save import save
from ._sizes import SizeError

__all__ = ["DecodeError", "IterableDataset", "MapDataset", "MapMix", "Mix", "SizeError", "as_bytes", "list_files",
           "load", "load_files", "save", "tensor"]
