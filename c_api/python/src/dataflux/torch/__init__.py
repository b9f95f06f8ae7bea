"""Datasets for PyTorch on dataflux: what a DataLoader reads from Google Cloud Storage. Importing this
imports torch; nothing else of dataflux does."""

from ._iterable import IterableDataset
from ._map import MapDataset
from ._samples import DecodeError, as_bytes, tensor
from ._sizes import SizeError

__all__ = ["DecodeError", "IterableDataset", "MapDataset", "SizeError", "as_bytes", "tensor"]
