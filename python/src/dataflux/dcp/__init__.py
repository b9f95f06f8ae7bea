"""PyTorch's distributed checkpoints (torch.distributed.checkpoint) on dataflux: complete, or not
there. Importing this imports torch; nothing else of dataflux imports it."""

from ._consolidated import consolidated
from ._reader import StorageReader
from ._writer import StorageWriter

__all__ = ["StorageReader", "StorageWriter", "consolidated"]
